"""Timers that ask only where something moved: on the command line, on the page, in forks."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, told
from tests.support.machines import pair
from tests.support.pages import text_of, visiting

DAILY = ["agent", "timer", "Fix the tap", "set", "every day 07:00"]
NOTHING_NEW = "nothing new since the wake before"


def on(day: int) -> dict[str, str]:
    return {"WAKELOG_NOW": f"2027-01-{day:02d}T09:00:00Z"}


def wake(home: Path, day: int) -> str:
    return done(["wake"], home, env=on(day))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tap whose date comes near, and a timer that rings daily: on five of six days in vain."""
    home = tmp_path_factory.mktemp("home")
    done(["add", "Fix the tap", "--category", "Home", "--due", "2027-01-12"], home)
    done(["agent", "create", "Fix the tap"], home)
    done(DAILY, home)
    for day in range(1, 7):
        wake(home, day)
    return home


def runs(home: Path) -> list[Any]:
    """Its wakes, the oldest first."""
    found: list[Any] = told(["wakes", "--limit", "50"], home)
    return found[::-1]


def test_a_timer_asks_where_its_date_came_near_and_else_costs_nothing(home: Path) -> None:
    found = runs(home)
    assert [one["outcome"] for one in found] == [
        "completed", "skipped", "skipped", "skipped", "completed", "skipped",
    ]  # fmt: skip
    assert {one["error_code"] for one in found} == {None, "unchanged"}
    assert [one["turns"] for one in found if one["outcome"] == "skipped"] == [0] * 4
    assert proved(home) > 0
    assert told(["agent", "list"], home)[0]["stale"] is False


def test_show_why_and_wakes_say_what_moved_or_that_nothing_did(home: Path) -> None:
    *_, quiet, asked, last = runs(home)
    assert "asked: due later -> in-7" in done(["show", asked["run_key"]], home)
    before = told(["show", last["run_key"]], home)["before"]
    assert (before["run_key"], before["moved"]) == (asked["run_key"], [])
    since = "nothing new since the wake of 2027-01-01 09:00"
    assert since in done(["show", quiet["run_key"]], home)
    why = done(["why", "Fix the tap"], home)
    assert "a timer ticked, due later -> in-7" in why
    assert why.count(NOTHING_NEW) == 4
    folded = done(["wakes"], home)
    assert "3 timer wakes met nothing new" in folded
    assert quiet["run_key"][:8] not in folded
    assert quiet["run_key"][:8] in done(["wakes", "--all"], home)
    skipped = "SELECT wakes, begun, noop FROM wake_reasons WHERE reason = 'timer'"
    assert told(["sql", skipped], home) == [{"wakes": 5, "begun": 1, "noop": 0}]


def test_the_page_folds_them_too_and_sets_either_kind_of_timer(home: Path) -> None:
    *_, quiet, asked, _ = runs(home)
    with visiting(home, env=on(6)) as visitor:
        assert "timer wakes met nothing new" not in text_of(visitor.page("/wakes?all=yes"))
        assert "met nothing new" in text_of(visitor.page("/wakes"))
        assert "due later -&gt; in-7" in text_of(visitor.page(f"/wakes/{asked['run_key']}"))
        assert "nothing had moved since" in text_of(visitor.page(f"/wakes/{quiet['run_key']}"))
        page = f"/agents/{asked['agent_id']}"
        for given, always in (("every hour", "yes"), ("every weekday 07:00", "")):
            form = visitor.form(page, f"{page}/timer", schedule="")
            visitor.send(form, schedule=given, always=always)
        shown = text_of(visitor.page(page))
    assert "every hour (UTC)" in shown
    assert (shown.count("asks always"), shown.count("asks where something moved")) == (1, 2)


def test_a_person_who_wakes_it_is_always_answered(tmp_path: Path) -> None:
    done(["add", "Fix the tap", "--category", "Home"], tmp_path)
    done(["agent", "create", "Fix the tap"], tmp_path)
    done(DAILY, tmp_path)
    wake(tmp_path, 1)
    assert NOTHING_NEW in wake(tmp_path, 2)
    assert "completed" in done(["wake", "Fix the tap"], tmp_path, env=on(2))
    assert NOTHING_NEW in wake(tmp_path, 4)
    done(["edit", "Fix the tap", "--priority", "P0"], tmp_path, env=on(4))
    assert "completed" in wake(tmp_path, 5)


def test_which_timers_ask_is_set_by_home_and_by_timer(tmp_path: Path) -> None:
    done(["add", "Fix the tap", "--category", "Home"], tmp_path)
    done(["agent", "create", "Fix the tap"], tmp_path)
    listed = ["agent", "timer", "Fix the tap", "list"]
    done([*DAILY, "--always"], tmp_path)
    assert [one["always"] for one in told(listed, tmp_path)] == [True]
    assert "Nothing to change" in done(DAILY, tmp_path)
    done([*DAILY, "--changed"], tmp_path)
    assert "where something moved" in done(listed, tmp_path)
    done([*DAILY[:-1], "once 2027-02-01 07:00", "--changed"], tmp_path)
    assert [one["always"] for one in told(listed, tmp_path)] == [False, True]
    done(["settings", "set", "agents.timers", "always"], tmp_path)
    assert "Nothing to change" in done(DAILY, tmp_path), "it stays as it was set"
    done([*DAILY[:-1], "every hour"], tmp_path)
    assert [one["always"] for one in told(listed, tmp_path)] == [False, True, True]
    wrong = refused(["settings", "set", "agents.timers", "never"], tmp_path)
    assert "use one of changed, always" in wrong


def test_a_fork_of_a_timers_wake_asks_and_one_over_another_verdict_skips_what_it_skipped(
    tmp_path: Path,
) -> None:
    done(["add", "Fix the tap", "--category", "Home", "--due", "2027-01-11"], tmp_path)
    done(["note", "Fix the tap", "We need to buy a part."], tmp_path)
    done(["agent", "create", "Fix the tap"], tmp_path)
    done(DAILY, tmp_path)
    wake(tmp_path, 1)
    done(["reject", "1.1"], tmp_path, env=on(1))
    for day in (2, 3, 4):
        wake(tmp_path, day)
    *_, skipped, asked = runs(tmp_path)
    assert (skipped["error_code"], asked["reason"]) == ("unchanged", "timer")
    for options in ([], ["--verdict", "1.1=confirm", "--model", "rules"]):
        document = told(["fork", asked["run_key"], *options], tmp_path)
        branch = Path(document["home"])
        assert (document["stopped"], document["left_out"]) == (None, 0)
        assert runs(branch)[-2]["error_code"] == "unchanged"
        assert proved(branch) > 0


def test_where_another_machine_leads_from_now_on_it_knows_what_the_first_one_met(
    tmp_path: Path,
) -> None:
    desk, laptop = pair(tmp_path)
    desk.more |= on(1)
    desk.said("add", "Fix the tap", "--category", "Home")
    desk.said("agent", "create", "Fix the tap")
    desk.said(*DAILY)
    desk.said("wake")
    desk.more |= on(2)
    assert NOTHING_NEW in desk.said("wake")
    desk.sync()
    laptop.more |= on(3)
    laptop.sync()
    laptop.said("replicas", "lead")
    assert NOTHING_NEW in laptop.said("wake")
    laptop.said("edit", "Fix the tap", "--priority", "P0")
    laptop.more |= on(4)
    assert "completed" in laptop.said("wake")
    laptop.sync()
    desk.sync()
    assert {one.told("prove")["ok"] for one in (desk, laptop)} == {True}
