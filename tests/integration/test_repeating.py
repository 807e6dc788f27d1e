"""Tasks that repeat, and tasks that wait: at the command line, on two machines, and undone."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.importers.rules import rule_read
from adapters.usecases.repeating import next_days
from domain.journal.repeat import DAYS, checked_rule
from domain.journal.repeat import told as in_words
from domain.journal.task import Task
from tests.support.cli import done, proved, refused, told
from tests.support.terminal import on_terminal


def tasks(home: Path) -> list[tuple[str, str, str | None]]:
    return [(one["title"], one["status"], one["due_date"]) for one in told(["list"], home)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    done(["add", "Water", "--due", "2027-01-01", "--repeat", "every 3 days", "--label", "plants",
          "--category", "Garden", "--priority", "p1", "--estimate", "10", "--wait-until",
          "2026-12-31", "--item", "Fill the can", "--item", "Roses",
          "--description", "Not too much. " * 40], home)  # fmt: skip
    done(["task", "check", "Water", "1"], home)
    done(["note", "Water", "The can leaks."], home)
    return home


def test_done_makes_the_next_one_with_all_it_had_and_its_items_open(home: Path) -> None:
    assert '  Next: "Water" (' in done(["done", "Water"], home)
    first, made = told(["list"], home)
    shown: Any = told(["show", made["id"]], home)
    assert (made["due_date"], made["wait_until"]) == ("2027-01-04", "2027-01-03")
    same = ("title", "labels", "category", "priority", "estimate_minutes", "repeat")
    assert [first[name] for name in same] == [made[name] for name in same]
    assert [(one["title"], one["checked"]) for one in shown["items"]] == [
        ("Fill the can", False), ("Roses", False),
    ]  # fmt: skip
    assert shown["description"] == told(["show", first["id"]], home)["description"]
    assert shown["notes"] == []
    assert [one["relation"] for one in shown["links"]] == ["follows_up_on"]
    assert proved(home)


def test_undo_takes_both_back_and_done_again_brings_the_same_next_one(home: Path) -> None:
    before = tasks(home)
    done(["done", "Water"], home)
    done(["undo", "--yes"], home)
    assert tasks(home) == before
    done(["done", "Water"], home)
    assert [status for _, status, _ in tasks(home)] == ["DONE", "OPEN"]
    assert len(tasks(home)) == 2  # the same one, back
    assert proved(home)


def test_a_next_one_that_was_touched_stays_and_so_does_what_made_it(home: Path) -> None:
    done(["done", "Water"], home)
    (deed,) = [one["ref"] for one in told(["undo", "--list"], home)["deeds"][:1]]
    done(["edit", "Water", "--title", "Water them"], home)
    assert "[stale]" in refused(["undo", deed, "--yes"], home)
    assert [status for _, status, _ in tasks(home)] == ["DONE", "OPEN"]


def test_rejecting_skips_one_and_all_of_it_ends_the_series(home: Path) -> None:
    done(["edit", "Water", "--status", "rejected"], home)
    assert tasks(home)[1:] == [("Water", "OPEN", "2027-01-04")]
    done(["edit", "Water", "--status", "rejected", "--all"], home)
    assert [status for _, status, _ in tasks(home)] == ["REJECTED", "REJECTED"]


def test_what_is_reopened_and_done_again_has_one_next(home: Path) -> None:
    first = told(["list"], home)[0]["id"]
    for status in ("done", "open", "done"):
        done(["edit", first, "--status", status], home)
    assert tasks(home)[1:] == [("Water", "OPEN", "2027-01-04")]


def test_its_agent_gets_an_heir(home: Path) -> None:
    done(["agent", "create", "--all"], home)
    done(["done", "Water"], home)
    assert len(told(["agent", "list"], home)) == 2


def test_two_machines_that_tick_one_make_one_next_and_the_earlier_day_stands(
    home: Path, tmp_path: Path
) -> None:
    done(["edit", "Water", "--repeat", "every 3 days when done"], home)
    other, shared = tmp_path / "other", str(tmp_path / "shared")
    laptop = {"env": {"WAKELOG_REPLICA": "r2", "WAKELOG_NOW": "2027-01-02T09:00:00Z"}}
    done(["sync", shared], home)
    done(["sync", shared], other, **laptop)
    done(["done", "Water"], home)
    done(["done", "Water"], other, **laptop)
    for _ in range(2):
        done(["sync", shared], home)
        done(["sync", shared], other, **laptop)
    for machine, more in ((home, {}), (other, laptop)):
        assert [one["due_date"] for one in told(["list"], machine, **more)] == [
            "2027-01-01", "2027-01-04",
        ]  # fmt: skip
        assert told(["conflicts"], machine, **more) == []
        assert told(["prove"], machine, **more)["ok"]


def ticked(home: Path, file: Path, text: str) -> list[tuple[str, str, str | None]]:
    """The tasks after a file, whose task repeats here, says something else."""
    file.write_text("- [ ] Water due:2027-01-01\n", encoding="utf-8")
    done(["import", str(file)], home)
    done(["edit", "Water", "--repeat", "every 3 days"], home)
    done(["agent", "create", "--all"], home)
    file.write_text(text, encoding="utf-8")
    done(["import", str(file)], home)
    return tasks(home)


def test_a_tick_in_a_file_makes_the_next_one_with_an_agent_and_is_undone(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    first, made = ticked(home, file, "- [x] Water due:2027-01-01\n")
    assert (first[1], made) == ("DONE", ("Water", "OPEN", "2027-01-04"))
    assert len(told(["agent", "list"], home)) == 2
    done(["import", str(file)], home)
    assert len(tasks(home)) == 2
    assert proved(home)
    done(["import", str(file), "--undo"], home)
    assert [one for one in tasks(home) if one[1] == "OPEN"] == [("Water", "OPEN", "2027-01-01")]


def test_a_tick_in_a_file_that_has_the_next_line_makes_none(tmp_path: Path) -> None:
    text = "- [ ] Water due:2027-01-04\n- [x] Water due:2027-01-01\n"
    found = ticked(tmp_path / "home", tmp_path / "TODO.md", text)
    assert sorted(found) == [("Water", "DONE", "2027-01-01"), ("Water", "OPEN", "2027-01-04")]


def test_what_only_waits_comes_again_without_a_due_date(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for title, rule in (("Sweep", "weekly"), ("Rest", "weekly when done")):
        done(["add", title, "--wait-until", "2026-12-30", "--repeat", rule], home)
        done(["done", title], home)
    shown = [(one["due_date"], one["wait_until"]) for one in told(["list", "--waiting"], home)]
    assert shown == [(None, "2027-01-06"), (None, "2027-01-08")]


def test_what_is_on_hold_until_a_day_comes_back_by_itself(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["add", "Call Ann", "--due", "2026-12-30"], home)
    done(["add", "Mow", "--status", "on-hold", "--reason", "Winter", "--wait-until", "+1d"], home)
    done(["edit", "Ann", "--status", "on hold", "--until", "sunday"], home)
    ann = told(["show", "Ann"], home)
    assert (ann["status"], ann["wait_until"]) == ("ON HOLD", "2027-01-03")
    assert ann["history"][-1]["reason"] == "until 2027-01-03"
    assert told(["today"], home) == told(["list", "--overdue"], home) == []
    then = {"WAKELOG_NOW": "2027-01-03T08:00:00Z"}
    assert [one["title"] for one in told(["today"], home, env=then)] == ["Call Ann", "Mow"]
    shown = done(["today"], home, env=then)
    assert "Call Ann (back since 2027-01-03)" in shown
    assert "Mow (back since 2027-01-02)" in shown
    assert "Mow (back since" in done(["list"], home, env=then)
    assert told(["show", "Ann"], home, env=then)["history"] == ann["history"]
    done(["undo"], home)  # both at once
    before = told(["show", "Ann"], home)
    assert (before["status"], before["wait_until"]) == ("OPEN", None)
    until = ["--until", "sunday"]
    for more in ([], ["--status", "done"], ["--status", "on-hold", "--wait-until", "monday"]):
        assert "--wait-until DAY" in refused(["edit", "Ann", *until, *more], home)
    assert proved(home)


def test_what_waits_is_hidden_until_its_day(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["add", "Later", "--wait-until", "2027-01-03"], home)
    done(["add", "Now"], home)
    assert [one["title"] for one in told(["list", "--waiting"], home)] == ["Later"]
    for day, hidden in (("02", True), ("03", False)):
        with on_terminal(home, "list", env={"WAKELOG_NOW": f"2027-01-{day}T09:00:00Z"}) as shown:
            assert ("Later" not in shown.ended()[1]) is hidden


# ----------------------------------------------------------------------------------- rules in words


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("daily", "FREQ=DAILY"),
        ("every other day", "FREQ=DAILY;INTERVAL=2"),
        ("every 2 weeks on mon, thu", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"),
        ("every Monday", "FREQ=WEEKLY;BYDAY=MO"),
        ("every weekday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("monthly when done", "FREQ=MONTHLY;FROM=DONE"),
        ("every month on the 31st", "FREQ=MONTHLY;BYMONTHDAY=31"),
        ("alle 2 wochen", "FREQ=WEEKLY;INTERVAL=2"),
        ("jeden montag", "FREQ=WEEKLY;BYDAY=MO"),
        ("FREQ=YEARLY", "FREQ=YEARLY"),
    ],
)
def test_a_rule_is_read_and_told_in_words_that_are_read_alike(words: str, rule: str) -> None:
    assert rule_read(words) == rule == rule_read(in_words(rule)) == checked_rule(rule)


@pytest.mark.parametrize(
    "words",
    ["often", "every 0 days", "every month on the 32nd", "FREQ=HOURLY", "FREQ=DAILY;BYDAY=MO",
     "every moonday", ""],
)  # fmt: skip
def test_what_is_no_rule_is_refused(words: str, tmp_path: Path) -> None:
    assert "[invalid_value]" in refused(["add", "x", "--repeat", words or " "], tmp_path / "home")


RULES = st.one_of(
    st.builds("FREQ=DAILY;INTERVAL={}".format, st.integers(2, 40)),
    st.builds(
        lambda n, days: f"FREQ=WEEKLY;INTERVAL={n};BYDAY={','.join(d for d in DAYS if d in days)}",
        st.integers(2, 5), st.sets(st.sampled_from(DAYS), min_size=1),
    ),
    st.builds("FREQ=MONTHLY;BYMONTHDAY={}".format, st.integers(1, 31)),
)  # fmt: skip
SOME_DAY = st.dates(date(2026, 1, 1), date(2029, 12, 31))


def fits(rule: str, base: date, day: date) -> bool:
    """Whether a day is one of a rule, by counting."""
    said = dict(part.split("=") for part in rule.split(";"))
    n = int(said.get("INTERVAL", "1"))
    if said["FREQ"] == "DAILY":
        return (day - base).days % n == 0
    if said["FREQ"] == "WEEKLY":
        weeks = (day - timedelta(day.weekday()) - base + timedelta(base.weekday())).days // 7
        return weeks % n == 0 and DAYS[day.weekday()] in said["BYDAY"]
    last = (day.replace(day=28) + timedelta(4)).replace(day=1) - timedelta(1)
    return day.day == min(int(said["BYMONTHDAY"]), last.day)


@given(rule=RULES, due=SOME_DAY, late=st.integers(-20, 80))
def test_the_next_day_is_the_first_one_of_the_rule_that_is_not_over(
    rule: str, due: date, late: int
) -> None:
    today = due + timedelta(late)
    task = Task("t", due=due.isoformat(), repeat=rule)
    found = date.fromisoformat(next_days(task, today.isoformat())[0])
    after = max(due, today - timedelta(1))
    assert found > after
    assert fits(rule, due, found)
    between = (after + timedelta(n) for n in range(1, (found - after).days))
    assert not any(fits(rule, due, day) for day in between)
