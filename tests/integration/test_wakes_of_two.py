"""Two machines that woke under one run key, apart from each other: each wake has a line, a page and
a name, on both machines (ADR 75)."""

from pathlib import Path

import pytest

from tests.support.machines import NAMES, Machine
from tests.support.pages import text_of, visiting

pytestmark = pytest.mark.slow

TASK = "Book the flight"


@pytest.fixture
def both(tmp_path: Path) -> list[Machine]:
    """The laptop took the lead of a change that the desk woke for, too."""
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", TASK)
    desk.said("agent", "create", "--task", TASK, "--mode", "autonomous")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
        one.said("replicas", "name", f"{one.home.name} 2.0")
    desk.sync()
    desk.said("task", "set", TASK, "--title", f"{TASK} to Rome")
    for one in desk, laptop:
        one.sync()
    laptop.said("replicas", "lead")
    for one in laptop, desk:
        one.said("wake")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def test_each_wake_has_a_line_and_a_name_that_every_door_takes(both: list[Machine]) -> None:
    for one in both:
        lines = one.told("wakes")
        first, second = (line for line in lines if line["reason"] == "subscription")
        key, at, replica = second["run_key"].partition("@")
        assert (key, at) == (first["run_key"], "@")
        assert first["state"] == second["state"] == "ended"
        other = "desk" if replica == "laptop" else "laptop"
        assert f"{key[:8]}@{replica} 2.0" in one.said("wakes")
        for name in f"{key[:8]}@{replica} 2.0", f"{key[:8]}@{replica}":
            assert one.told("show", name)["run_key"] == second["run_key"]
            assert one.told("replay", name)["run_key"] == second["run_key"]
        for name in key[:8], f"{key[:8]}@{other}", f"{key[:8]}@{other} 2.0":
            assert one.told("show", name)["run_key"] == key
        steps = [step["n"] for step in one.told("show", f"{key}@{replica}")["steps"]]
        assert steps != [step["n"] for step in one.told("show", key)["steps"]]
        at_step = one.told("at", f"{key[:8]}@{replica} 2.0.{steps[1]}")
        assert at_step["run_key"] == key
        assert "it ran on" in one.refused("show", f"{key[:8]}@phone")
        mine = key if one.home.name == other else second["run_key"]
        assert mine in [line["run_key"] for line in one.told("why", TASK)]
        assert {line["run_key"] for line in one.told("agent", "show", TASK)["last_wakes"]} >= {
            first["run_key"],
            second["run_key"],
        }
        assert "Proved" in one.said("prove")


def test_the_page_lists_both_and_shows_each(both: list[Machine]) -> None:
    desk = both[0]
    names = [line["run_key"] for line in desk.told("wakes")[:2]]
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        listed = visitor.page("/wakes")
        for name in names:
            assert f'href="/wakes/{name}"' in listed
            shown = visitor.page(f"/wakes/{name}")
            assert name in text_of(shown)
            for part in "at", "proof", "what-if":
                assert f"{name[:8]}" in visitor.page(f"/wakes/{name}/{part}")
            assert visitor.json(f"/wakes/{name}")["run_key"] == name


def test_a_wake_that_only_one_machine_has_keeps_its_name(both: list[Machine]) -> None:
    creation = both[1].told("wakes")[-1]
    assert (creation["reason"], "@" in creation["run_key"]) == ("creation", False)
    same = both[1].told("show", f"{creation['run_key']}@desk 2.0")
    assert same["run_key"] == creation["run_key"]


def test_a_wake_is_rated_on_a_machine_that_did_not_run_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", TASK)
    desk.said("template", "create", "Calm", "--general", "slowly")
    desk.said("agent", "create", "--task", TASK, "--template", "Calm")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
    (wake,) = laptop.told("wakes")
    laptop.said("rate", f"{wake['run_key'][:8]}@desk", "4")
    for one in laptop, desk:
        one.sync()
        assert one.told("rate", wake["run_key"], "4")["unchanged"]
        assert "Proved" in one.said("prove")
