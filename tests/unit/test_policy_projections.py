"""What may cross a boundary is one table; what is outside of it is refused, never dropped."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.runtime import effect_executor
from adapters.upkeep import doctor
from adapters.wiring import Home
from domain.agent.subscriptions import Batch
from domain.errors import REFUSAL_CODES, Refused
from domain.journal import task as t
from domain.journal.catalog import CorrectionCaptured
from domain.log.wire import SHARED
from domain.policy.flow import ALLOWED, project
from domain.wake.commands import SkipWake
from domain.wake.lookups import RecalledMemory, TaskFound
from domain.wake.prompt import render
from domain.wake.reading import LinkedAgent, LinkSeen, PromptLimits, PromptOptions, TaskSeen
from domain.wake.scaffolds import SCAFFOLDS
from tests.support.architecture import tree_of
from tests.support.readings import AGENT as READER
from tests.support.readings import HOME, ROOF, WORK, add_link, add_task, household, read
from tests.support.services import queued_key, services, task_with_agent

ROOT = Path(__file__).parents[2]
SINCE_1 = {"own_task": TaskSeen, "linked_task": LinkSeen, "notice": Batch}
STRUCTS = {**SINCE_1, "category_task": TaskFound, "own_past": RecalledMemory}


@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_every_scaffold_has_a_row_for_every_boundary(scaffold: int) -> None:
    assert ALLOWED[scaffold].keys() == (STRUCTS if scaffold >= 2 else SINCE_1).keys()
    for boundary, names in ALLOWED[scaffold].items():
        assert names <= set(STRUCTS[boundary].__struct_fields__), boundary


def test_what_is_outside_of_the_table_is_refused_and_not_repeated() -> None:
    link = LinkSeen("blocks", "task-1", "A title", tldr="a secret")
    assert project("linked_task", link, 2) is link
    with pytest.raises(Refused) as refused:
        project("linked_task", link, 1)
    assert refused.value.code == "overshared_payload_blocked"
    assert refused.value.code in REFUSAL_CODES
    assert "tldr" in str(refused.value)
    assert "a secret" not in str(refused.value)


def test_a_field_that_is_left_empty_crosses_every_boundary() -> None:
    assert project("linked_task", LinkSeen("blocks"), 1) == LinkSeen("blocks")


def _name(function: ast.expr) -> str:
    """Whom a call calls, where it is called by its name alone."""
    return function.id if isinstance(function, ast.Name) else ""


def _made(tree: ast.Module) -> Iterator[str]:
    """Structs of a boundary that are made and do not go through `project` on the way out."""
    named = {one.__name__ for one in STRUCTS.values()}
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    if not any(_name(call.func) in named for call in calls):
        return
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    projected = {
        name.id
        for call in calls
        if _name(call.func) == "project"
        for given in call.args
        for name in ast.walk(given)
        if isinstance(name, ast.Name)
    }
    for call in calls:
        if _name(call.func) not in named:
            continue
        around = parents[call]
        is_direct = isinstance(around, ast.Call) and _name(around.func) == "project"
        is_kept = isinstance(around, ast.Assign) and ast.unparse(around.targets[0]) in projected
        function = next(one for one in functions if call in ast.walk(one))
        if not (is_direct or is_kept or function.name in projected):
            yield f"line {call.lineno}: {_name(call.func)}"


def test_what_is_read_for_somebody_else_is_made_through_the_table_alone() -> None:
    made = 0
    for folder in ("domain", "projections", "adapters", "replay"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            assert list(_made(tree_of(text))) == [], file
            made += text.count("project(")
    assert made >= len(STRUCTS)
    around = "def f():\n    return LinkSeen('blocks', title=secret)\n"
    assert list(_made(tree_of(around))) == ["line 2: LinkSeen"]


def test_a_linked_task_is_told_by_direction_date_and_labels_since_scaffold_2() -> None:
    book = household()
    add_task(book, "task-bank", "Ask the bank", HOME)
    book.tell("task", "task-bank", t.DueSet("person", "2027-04-01"))
    for label in ("label-house", "label-job"):
        book.tell("task", "task-bank", t.LabelAssigned("person", label))
    add_link(book, "task-bank", "relates_to", ROOF)
    add_task(book, "task-secret", "Negotiate", WORK)
    add_link(book, ROOF, "relates_to", "task-secret")
    said = {"task-bank": LinkedAgent("Waiting", "They have the papers.")}
    foreign, bank = read(book, READER, linked_agents=said, given=PromptOptions(2)).linked
    assert foreign == LinkSeen("relates_to", direction="outgoing")
    assert (bank.direction, bank.due, bank.tldr) == (
        "incoming",
        "2027-04-01",
        "They have the papers.",
    )
    assert bank.labels == ("house",), "the name of a label of another category stays there"
    (_, before) = read(book, READER, linked_agents=said).linked
    assert before == replace(bank, direction="", due="", labels=(), tldr="")


def test_a_wake_that_would_be_told_too_much_is_skipped_and_doctor_says_so() -> None:
    at = services()
    _, agent = task_with_agent(at)
    code = "overshared_payload_blocked"
    at.append_agent(SkipWake(agent, queued_key(at, agent), code, "notes may not cross"))
    assert code in effect_executor.CANNOT_START
    home = Home.in_memory(at)
    home.views.catch_up()
    (told, *_) = doctor._runs(home)
    assert not told.is_ok
    assert "more than it may" in told.told


def test_a_section_names_the_other_units_whose_text_it_repeats_since_scaffold_2() -> None:
    book = household()
    add_task(book, "task-bank", "Ask the bank", HOME)
    add_task(book, "task-secret", "Negotiate", WORK)
    for other in ("task-bank", "task-secret"):
        add_link(book, ROOF, "blocks", other)
    sides = book.keep("ruf"), book.keep("roof")
    book.tell("catalog", "main", CorrectionCaptured(HOME, *sides))
    for scaffold, expected in ((1, {}), (2, {"linked": ("task-bank",), "corrections": (SHARED,)})):
        prompt = render(read(book, READER, given=PromptOptions(scaffold)), PromptLimits())
        assert {one.name: one.units for one in prompt.user if one.units} == expected
