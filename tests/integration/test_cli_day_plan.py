"""`wakelog day plan`: an agent that plans days, from a fresh home, without a key; and every command
that looks at agents, wakes and proposals, at one without a task (ADR 103)."""

from pathlib import Path

import pytest

from adapters.analytics.database import connect
from adapters.analytics.queries import run_query
from tests.integration.test_documents import Fitting
from tests.support.cli import done, proved, refused, run, told

MONDAY = "2027-01-04"
ENV = {"WAKELOG_NOW": f"{MONDAY}T07:10:00Z", "WAKELOG_TIMEZONE": "Europe/Berlin"}
TASKS = (
    ("Write the report", "Work", "--due", "today", "--estimate", "180", "--priority", "P1"),
    ("Fix the tap", "House", "--due", "tomorrow", "--estimate", "90"),
    ("Paint the fence", "House", "--due", "friday", "--estimate", "240"),
    ("屋根を直す", "House", "--estimate", "60"),
    ("Call Ann", "House", "--estimate", "30", "--priority", "P3"),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for title, category, *more in TASKS:
        done(["add", title, "--category", category, *more], home, env=ENV)
    done(["day", "put", "--title", "Lunch", "12-13"], home, env=ENV)
    return home


def proposals(home: Path, *args: str) -> list[str]:
    day = told(["day", *args], home, env=ENV)
    return [one["summary"].partition(" ")[2] for one in day["proposals"]]


PLAN = """\
Made the agent "Day": it reads House, Work; every day 07:00, Europe/Berlin [rules].
Plan for Mon 2027-01-04: 7 h free, 5 h 30 min planned. Does not fit: 屋根を直す; Call Ann.
"""


def test_a_day_is_planned_from_a_fresh_home_without_a_key(home: Path) -> None:
    """The transcript of the plan: made, proposed, decided, beside the time that was spent."""
    shown = done(["day", "plan"], home, env=ENV)
    assert shown.startswith(PLAN), shown
    rows = [one.split("\t") for one in shown.splitlines()[3:]]
    assert rows == [
        ["1.1", "09:00-11:00", "Write the report", "due that day, 3h left"],
        ["", "12:00-13:00", "Lunch", "yours"],
        ["1.2", "13:00-14:30", "Fix the tap", "due the day after, 1h30m left"],
        ["1.3", "14:30-16:30", "Paint the fence", "due 2027-01-08, 4h left"],
    ]
    done(["confirm", "1.1", "--edit", "start=09:30", "end=11:30"], home, env=ENV)
    done(["reject", "1.2", "--reason", "not today"], home, env=ENV)
    assert told(["inbox"], home, env=ENV)[0]["subject"] == {
        "kind": "day", "id": MONDAY, "title": f"Plan for Mon {MONDAY}",
    }  # fmt: skip
    assert "Plan for Mon 2027-01-04" in done(["inbox"], home, env=ENV)
    report = told(["list", "report"], home, env=ENV)[0]["id"]
    times = "--start 2027-01-04 09:40 --end 2027-01-04 11:10".split()
    span = [times[0], " ".join(times[1:3]), times[3], " ".join(times[4:])]
    later = {**ENV, "WAKELOG_NOW": f"{MONDAY}T12:00:00Z"}
    done(["task", "time", report, *span], home, env=later)
    told_now = done(["day"], home, env=later)
    assert "09:30-11:30\tWrite the report\t2h\t1h30m (09:40-11:10)\tagent" in told_now
    assert proved(home)


def test_a_plan_again_asks_nothing_twice_and_leaves_what_was_declined(home: Path) -> None:
    done(["day", "plan"], home, env=ENV)
    first = proposals(home)
    done(["day", "plan"], home, env=ENV)
    assert proposals(home) == first
    done(["confirm", "1.1"], home, env=ENV)
    done(["reject", "1.2"], home, env=ENV)
    done(["day", "plan"], home, env=ENV)
    assert not any("Fix the tap" in one for one in proposals(home))
    rest = [one for one in proposals(home) if "Write the report" in one]
    assert len(rest) == 1, "two of three hours are planned"
    done(["undo"], home, env=ENV)
    assert proved(home)


def test_the_person_names_the_day_the_categories_and_their_hours(home: Path) -> None:
    no = refused(["day", "plan", "2027-03-01"], home, env=ENV)
    assert "2027-03-01 is not today, nor within the next 7 days" in no
    assert told(["agent", "list"], home, env=ENV) == []
    shown = done(["day", "plan", "wed", "--category", "House", "--no-timer"], home, env=ENV)
    assert "it reads House; when you ask [rules]" in shown
    assert told(["agent", "show", "Day"], home, env=ENV)["timers"] == []
    day = told(["day", "2027-01-06"], home, env=ENV)
    assert len(day["proposals"]) == 4
    assert proposals(home) == []
    hours = ["--prefer", "hours=14:00-16:00", "--prefer", "pause=15:00-15:30"]
    done(["agent", "set", "Day", *hours], home, env=ENV)
    again = run(["day", "plan", "wed"], home, env=ENV)
    assert "It may not read Work: " in again.stderr
    day = told(["day", "2027-01-06"], home, env=ENV)
    assert day["free_minutes"] == 90
    times = [(one["arguments"]["start"], one["arguments"]["end"]) for one in day["proposals"]]
    assert times == [("14:00", "15:00")]
    assert proved(home)


def test_in_the_evening_tomorrow_is_planned(home: Path) -> None:
    evening = {**ENV, "WAKELOG_NOW": f"{MONDAY}T17:30:00Z"}
    said = run(["day", "plan"], home, env=evening).output
    assert "Plan for Tue 2027-01-05" in said
    assert "confirm 1 --all`" in said


def test_nothing_is_there_to_plan_in_an_empty_home(tmp_path: Path) -> None:
    no = refused(["day", "plan"], tmp_path / "home", env=ENV)
    assert "there is no task yet" in no
    assert "add a task first" in no


@pytest.mark.slow
def test_every_document_and_table_is_there_of_an_agent_without_a_task(
    home: Path, tmp_path: Path
) -> None:
    """All that tells of agents, wakes, proposals and moments, of a home with all kinds."""
    done(["agent", "create", "Fix the tap"], home, env=ENV)
    done(["wake"], home, env=ENV)
    fits = Fitting(home)
    fits.env = ENV
    fits("day", "day", "plan")
    fits("verdicts", "confirm", "2.1")
    fits("verdicts", "reject", "2.2", "--reason", "No")
    fits("answer", "agent", "ask", "Day", "What is today for?")
    (of_day,) = [one["id"] for one in fits("agents", "agent", "list") if one["name"] == "Day"]
    mine = [one for one in fits("wakes", "wakes") if one["agent_id"] == of_day]
    runs = [one["run_key"] for one in mine if one["outcome"] == "completed"]
    for name, *args in (
        ("agent", "agent", "show", "Day"),
        ("agents", "agent", "list"),
        ("run", "show", runs[0]),
        ("prompt", "show", runs[0], "--prompt"),
        ("report", "report", "Day"),
        ("journal", "journal", "Day"),
        ("memory", "memory", "Day"),
        ("messages", "messages", "Day"),
        ("why", "why", "Day"),
        ("replay", "replay", runs[-1]),
        ("moment", "at", runs[0]),
        ("moment", "at", MONDAY),
        ("request", "at", runs[0], "--prompt"),
        ("diff", "diff", runs[0], runs[1]),
        ("bisect", "bisect", "Day", "--python", "len(wakes) >= 0"),
        ("policy-preview", "policy", "try", "Day"),
        ("inbox", "inbox", "--all"),
        ("lessons", "lessons"),
        ("status", "status"),
        ("doctor", "doctor"),
        ("metrics", "metrics"),
        ("rehearsal", "rehearse", "--all", "--show"),
        ("fork", "fork", runs[-1], "--model", "rules", "--out", str(tmp_path / "fork")),
        ("backup", "backup", str(tmp_path / "backup")),
        ("exported-history", "export-history", runs[0], "--out", str(tmp_path / "a.jsonl")),
        ("exported-tables", "export", "--parquet", str(tmp_path / "tables")),
        ("proof", "prove"),
        ("rebuilt", "rebuild"),
    ):
        assert fits(name, *args) is not None, args
    assert run(["doctor"], home, env=ENV).exit_code == 0, "no orphan is told of"
    subjects = {(one["kind"], one["subject"]) for one in told(["agent", "list"], home, env=ENV)}
    assert subjects == {("day_agent", "home"), ("task_agent", None)}
    assert "Plans:      your days" in done(["agent", "show", "Day"], home, env=ENV)
    names = {one["name"] for one in fits("rows", "sql", "SHOW TABLES")}
    assert {"agents", "wakes", "blocks"} <= names
    with connect(home, ENV) as tables:
        for name in names:
            list(run_query(tables, f"SELECT * FROM {name} LIMIT 5").documents())
    assert proved(home)


# ------------------------------------------------------------------ two machines, models, timers

LAPTOP = {**ENV, "WAKELOG_REPLICA": "r2"}


def meet(home: Path, other: Path, shared: str) -> None:
    for _ in range(2):
        done(["sync", shared], home, env=ENV)
        done(["sync", shared], other, env=LAPTOP)


def test_two_machines_make_one_agent_and_one_block_of_what_both_confirm(
    home: Path, tmp_path: Path
) -> None:
    other, shared = tmp_path / "other", str(tmp_path / "shared")
    meet(home, other, shared)
    done(["day", "plan"], home, env=ENV)
    meet(home, other, shared)
    (waiting,) = told(["inbox"], other, env=LAPTOP)
    assert waiting["subject"]["title"] == f"Plan for Mon {MONDAY}"
    ref = waiting["items"][0]["ref"]
    done(["confirm", "1.1"], home, env=ENV)
    done(["confirm", ref], other, env=LAPTOP)
    meet(home, other, shared)
    days = [told(["day"], home, env=ENV), told(["day"], other, env=LAPTOP)]
    days = [{**one, "proposals": [item["summary"] for item in one["proposals"]]} for one in days]
    assert days[0] == days[1], "law 7: homes of one digest tell the same day"
    titles = [one["title"] for one in days[0]["blocks"]]
    assert titles == ["Write the report", "Lunch"]
    done(["day", "plan"], other, env=LAPTOP)
    meet(home, other, shared)
    agents = [one for one in told(["agent", "list"], home, env=ENV) if one["kind"] == "day_agent"]
    assert len(agents) == 1
    for machine, env in ((home, ENV), (other, LAPTOP)):
        assert told(["prove"], machine, env=env)["ok"]


def test_a_timer_plans_the_morning(home: Path) -> None:
    done(["day", "plan", "--no-timer"], home, env=ENV)
    done(["agent", "timer", "Day", "set", "every day 07:00"], home, env=ENV)
    tuesday = {**ENV, "WAKELOG_NOW": "2027-01-05T06:00:30Z"}
    done(["wake"], home, env=tuesday)
    titles = [one["subject"]["title"] for one in told(["inbox"], home, env=tuesday)]
    assert titles == ["Plan for Tue 2027-01-05"], "Monday's expired with it"
    wakes = [one["reason"] for one in told(["wakes"], home, env=tuesday)]
    assert wakes[0] == "timer"
    assert proved(home)


def test_a_model_elsewhere_is_sent_no_day_before_it_is_agreed_to(home: Path) -> None:
    """A receipt for agents of tasks is none for one that plans days (notice 2)."""
    no = refused(["day", "plan", "--model", "gemini"], home, env=ENV)
    assert "GEMINI_API_KEY is not set" in no
    assert told(["agent", "list"], home, env=ENV) == [], "nothing is made that cannot be asked"
    key = {**ENV, "GEMINI_API_KEY": "a-key"}
    result = run(["day", "plan", "--model", "gemini"], home, env=key)
    assert result.exit_code == 3, result.output
    assert "wakelog policy allow" in result.stderr
    wake = told(["wakes"], home, env=key)[0]
    assert wake["waits_for"] == "consent"
