"""A position of any machine's chain is a moment on all of them: what that machine knew then. A time
is a moment of the machine that is asked (ADR 70, 75)."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.timetravel import at_document
from adapters.usecases.time_travel import find_moment
from adapters.wiring import open_home
from domain.errors import Refused
from tests.support import cli
from tests.support.machines import NAMES, Machine
from tests.support.pages import text_of, visiting

pytestmark = pytest.mark.slow

WALK, SWIM = "Walk", "Swim"


@pytest.fixture
def both(tmp_path: Path) -> list[Machine]:
    """The desk walked, and both swam apart; then the laptop renamed what it had heard of."""
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", WALK)
    desk.said("agent", "create", "--task", WALK, "--mode", "autonomous")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
        one.said("replicas", "name", f"my {one.home.name}")
        one.said("task", "add", f"{SWIM} at the {one.home.name}")
    for one in desk, laptop:
        one.sync()
    laptop.said("task", "set", WALK, "--title", "Run")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def titles(moment: Any) -> list[str]:
    return sorted(one["title"] for one in moment["tasks"])


def ran(machine: Machine, *words: str) -> Any:
    env = {"WAKELOG_REPLICA": machine.home.name, "WAKELOG_TIMEZONE": "UTC"}
    return cli.run([*words], machine.home, env=env)


def numbers(machine: Machine) -> list[int]:
    """The numbers of the appends of a machine's journal, asked on itself."""
    name = machine.home.name
    last = int(machine.told("at", "2099-01-01")["journal"].rpartition(":")[2])
    found = [ran(machine, "at", f"journal:{name}:{n}") for n in range(1, last + 1)]
    return [n for n, one in enumerate(found, start=1) if one.exit_code == 0]


def test_a_position_is_what_its_machine_knew_on_whichever_machine_it_is_asked(
    both: list[Machine],
) -> None:
    desk, laptop = both
    seen = set()
    for of in both:
        name = of.home.name
        for n in numbers(of):
            here = desk.told("at", f"journal:{name}:{n}", "--all")
            found = ran(laptop, "--json", "at", f"journal:my {name}:{n}", "--all")
            if found.exit_code and n == numbers(of)[-1]:
                continue  # only that it heard of the laptop, which does not travel by itself
            there = json.loads(found.stdout)
            assert here | {"where": ""} == there | {"where": ""}
            assert here["journal"] == f"journal:{name}:{n}"
            seen.add((name, *titles(here)))
    assert ("desk", WALK) in seen
    assert ("desk", f"{SWIM} at the desk", WALK) in seen  # it had not heard of the other
    assert ("laptop", f"{SWIM} at the laptop", WALK) in seen
    assert ("laptop", "Run", f"{SWIM} at the desk", f"{SWIM} at the laptop") in seen
    assert "its last is" in desk.refused("at", "journal:laptop:999")
    assert "name one of my desk, my laptop" in desk.refused("at", "journal:phone:1")


def test_diff_why_and_prompts_take_positions_of_others(both: list[Machine]) -> None:
    desk, laptop = both
    before, after = (f"journal:my laptop:{n}" for n in numbers(laptop)[-2:])
    found = ran(desk, "--json", "diff", before, after)
    changes = json.loads(found.stdout)["changes"]
    assert [(one["a"], one["b"]) for one in changes] == [(WALK, "Run")]
    for one in both:
        (told,) = one.told("why", after)
        assert told["what"] == "retitled by you"
    (wake,) = desk.told("wakes")
    step = desk.told("show", wake["run_key"])["steps"][-1]["n"]
    prompts = [one.told("at", f"agent:my desk:{step}", "--prompt")["request"] for one in both]
    assert prompts[0] == prompts[1]


def test_a_machine_that_nobody_knows_and_a_number_that_is_none_are_told(tmp_path: Path) -> None:
    env = {"WAKELOG_REPLICA": "desk"}
    with open_home(tmp_path / "alone", env, is_writing=True) as home:
        with pytest.raises(Refused, match="has no append 5; its last is 0"):
            find_moment(home, "journal:desk:5")
        assert at_document(find_moment(home, "journal:0"), None).journal == "journal:desk:0"


def test_why_of_what_another_machine_did_names_that_machine_s_append(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", "Book the flight by Friday")
    desk.said("agent", "create", "--task", "Book", "--mode", "autonomous")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
    laptop.said("task", "add", "Swim")  # so that numbers part
    laptop.said("confirm", "desk/1.1")
    laptop.said("task", "set", "Book", "--priority", "p1")
    for one in laptop, desk:
        one.sync()
    steps = {one: one.told("why", "Book", "due")["steps"] for one in (desk, laptop)}
    for found in steps.values():
        assert [step["kind"] for step in found][:2] == ["confirmed", "proposed"]
    desk.said("wake")
    line = next(line for line in desk.said("why", "Book").splitlines() if "priority" in line)
    where = next(word for word in line.split() if word.startswith("journal:laptop:"))
    (told,) = laptop.told("why", where)
    assert (told["position"], told["what"]) == (where, "priority set by you")
    (again,) = desk.told("why", where)
    assert again["outcome"] == "woke"
    cause = desk.told("show", again["run_key"])["causes"][0]
    assert cause["position"] == where
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        assert "priority" in text_of(visitor.page(f"/wakes/{again['run_key']}"))


def test_the_history_tells_rows_of_two_machines_apart_and_undoes_own_ones_only(
    tmp_path: Path,
) -> None:
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", WALK)
    for one in desk, laptop, desk, laptop:
        one.sync()
    task = desk.told("task", "list")[0]["id"]
    desk.said("task", "set", WALK, "--priority", "p1")
    laptop.said("task", "set", WALK, "--due", "2027-05-05")
    for one in desk, laptop, desk:
        one.sync()
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        entries = visitor.json(f"/tasks/{task}/history")["entries"]
    names = [one["entry"] for one in entries]
    assert len(set(names)) == len(names)
    undone = {one["entry"].partition("-")[0] for one in entries if one["undo"]}
    assert undone == {"desk"}
    assert {one.partition("-")[0] for one in names} == {"desk", "laptop"}
