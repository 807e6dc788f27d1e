"""What a person may not do is told with a code; what changes nothing leaves no row."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from adapters.runtime.effect_executor import run_wake
from domain.agent.commands import CreateAgent
from domain.changes.commands import ConfirmItem
from domain.errors import Refused
from domain.handlers.execute import handle
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import edits
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.links import CYCLE_SEARCH_MAX
from domain.log.state import RecordedEvent
from domain.log.wire import Words
from domain.scaffold import PROMPT_MIN_BYTES
from domain.templates.commands import CreateTemplate
from domain.templates.template import VERSIONS_MAX, Template, Version, add_version
from domain.tools.base import fingerprint
from domain.wake.prompt import render
from domain.wake.reading import PromptLimits, Reading, TaskSeen
from domain.wake.wake import ToolReturned
from tests.support.readings import ROOF, Book, add_link, add_task, household
from tests.support.scripted_wakes import ended, minutes, woken
from tests.support.services import START, one_agent, queued_key, services
from wakelog.testing import calls as reply

MANY = tuple(f"Nail {nth}" for nth in range(edits.ITEMS_MAX + 1))
LONG = "so " * edits.REASON_MAX
END = "2027-01-01T01:00:00.000000Z"
REFUSED: list[tuple[Any, str]] = [
    (do.EditTask(ROOF, status="ASLEEP"), "invalid_value"),
    (do.EditTask(ROOF, status="BLOCKED", reason=LONG), "invalid_value"),
    (do.EditTask(ROOF, language="german"), "invalid_value"),
    (do.AddItems(ROOF, MANY), "invalid_value"),
    (do.EditItem(ROOF, "no item", title="Nails"), "unknown_item"),
    (do.EditNote(ROOF, "no note", Words("Nails")), "unknown_item"),
    (do.LogTime(ROOF, "at nine", END), "invalid_value"),
    (do.LogTime(ROOF, "2027-01-01", END), "invalid_value"),
    (do.LogTime(ROOF, END, START), "invalid_value"),
    (do.LogTime(ROOF, START, END, LONG), "invalid_value"),
    (do.RetimeEntry(ROOF, "no entry", START), "unknown_item"),
    (do.RateTask(ROOF, 0), "invalid_value"),
    (do.RateTask(ROOF, 6), "invalid_value"),
    (do.RateTask(ROOF, 3, comment=LONG), "invalid_value"),
    (do.RateTask(ROOF, 3, "no entry"), "unknown_item"),
    (do.AddCategory("Garden", "german"), "invalid_value"),
    (do.RenameCategory("Garden", "Yard"), "unknown_category"),
    (do.RenameCategory("Home", "Work"), "invalid_value"),
    (do.DeleteLabel("no label"), "unknown_label"),
    (CreateAgent(ROOF, "Roof", "", 1, "hybrid"), "out_of_scope"),
    (ConfirmItem("no set", 1, "person", 1), "unknown_set"),
]


@pytest.mark.parametrize(("command", "code"), REFUSED, ids=lambda one: str(one)[:40])
def test_a_command_is_refused_with_its_code(command: Any, code: str) -> None:
    with pytest.raises(Refused) as refused:
        handle(command, "key", START, household().world())
    assert refused.value.code == code


def test_a_new_task_goes_to_the_inbox_by_whatever_name_it_has_now() -> None:
    book = household()
    inbox = c.category_id(c.INBOX)
    book.tell("catalog", "main", c.CategoryAdded(inbox, c.INBOX), c.CategoryRenamed(inbox, "Desk"))
    events = handle(do.CreateTask("Mend the door"), "key", START, book.world()).events
    assert [one.category for _, one in events if isinstance(one, t.TaskCreated)] == [inbox]
    assert not [one for _, one in events if isinstance(one, c.CategoryAdded)]


UNCHANGED = [
    do.RenameCategory("Home", "Home"),
    do.AddLabel("house"),
    do.AddCategory("Home"),
]


@pytest.mark.parametrize("command", UNCHANGED, ids=lambda one: str(one)[:40])
def test_a_command_that_changes_nothing_writes_nothing(command: Any) -> None:
    assert handle(command, "key", START, household().world()).events == []


def test_a_search_for_a_cycle_has_an_end() -> None:
    book = household()
    add_task(book, "hub", "The hub", c.category_id("Home"))
    for nth in range(CYCLE_SEARCH_MAX):
        add_link(book, "hub", "blocks", f"task-{nth}")
    with pytest.raises(Refused, match="tasks hang on 'The hub'"):
        handle(do.LinkTask(ROOF, "blocks", "hub"), "key", START, book.world())


@pytest.mark.parametrize(("count", "told"), [(1000, "already blocks"), (1001, "tasks hang on")])
def test_a_circle_of_a_thousand_tasks_is_found_and_no_longer_one(count: int, told: str) -> None:
    """The number stands here once more: another one decides otherwise what was recorded."""
    book = household()
    line = [f"step-{nth}" for nth in range(count)]
    add_task(book, line[0], "The first", c.category_id("Home"))
    for one, other in pairwise([*line, ROOF]):
        add_link(book, one, "blocks", other)
    with pytest.raises(Refused, match=told):
        handle(do.LinkTask(ROOF, "blocks", line[0]), "key", START, book.world())


@pytest.mark.parametrize(
    ("kind", "corrects", "is_correction"),
    [("transcript", True, True), ("transcript", False, False), ("note", True, False)],
)
def test_what_the_person_transcribed_is_a_correction_where_the_command_says_so(
    kind: t.NoteKind, corrects: bool, is_correction: bool
) -> None:
    book = household()
    book.tell("task", ROOF, t.NoteAdded("person", "n1", kind, Words("Buy nales")))
    for words, is_edited in (("Buy nails", True), ("Buy nales", False)):
        edit = do.EditNote(ROOF, "n1", Words(words), corrects=corrects)
        decided = handle(edit, "key", START, book.world())
        expected = [t.NoteEdited, c.CorrectionCaptured][: 1 + is_correction] if is_edited else []
        assert [type(fact) for _, fact in decided.events] == expected


def test_an_operation_on_a_task_without_a_category_is_refused_for_good() -> None:
    book = Book()
    add_task(book, "bare", "Bare", "")
    command = do.ApplyOperation("o", "a", "bare", "update_task_estimate", Words('{"minutes":5}'))
    decided = handle(command, "o", START, book.world())
    assert list(decided.events) == []
    assert (decided.result.status, decided.result.code) == ("refused", "missing_category")


def test_a_category_made_by_two_replicas_keeps_its_first_name() -> None:
    known = CATALOG.initial("main")
    for name in ("Home", "Heim"):
        fact = c.CategoryAdded("c1", name)
        row = RecordedEvent("catalog:main@r1", 1, "r1", 1, 0, START, fact)
        known = CATALOG.evolve(known, row)
    assert [one.name for one in known.categories.values()] == ["Home"]


def test_a_seed_is_put_in_use_once() -> None:
    at = services()
    command = CreateTemplate("Tom", Words("a"), Words("b"), seed="tom")
    assert at.append_agent(command).rows
    assert at.append_agent(command).rows == ()


def test_a_template_has_a_last_version() -> None:
    full = Template(
        "t",
        versions=tuple(
            Version(nth, "user", Words(""), Words("b"), "", START) for nth in range(VERSIONS_MAX)
        ),
    )
    with pytest.raises(Refused, match="make a new template"):
        add_version(full, Words("new"), Words("b"), "user", "")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("record_observations", '{"observations":["  "]}'),
        ("retract_suggestions", '{"proposals":[{"fingerprint":"f2"}]}'),
        ("update_report", '{"content":"","tldr":"t","oneLiner":"o"}'),
    ],
)
def test_a_call_of_which_nothing_is_left_is_denied(tool: str, arguments: str) -> None:
    at, _, agent = one_agent()
    woken(at, agent, *ended(minutes(60)))  # something to take back
    at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, reply((tool, arguments)), reply(), reply())
    facts = [row.fact for row in at.agents.facts(f"wake:{run_key}@r1")]
    (denied, *_) = (fact for fact in facts if isinstance(fact, ToolReturned))
    assert (denied.status, denied.code) == ("denied", "invalid_arguments")


def test_an_unknown_tool_is_repeated_in_the_same_bytes_by_every_python() -> None:
    newer_than_3_11 = "\U0001fadf"  # a splatter, of Unicode 16
    at, _, agent = one_agent([reply((f"pr\xfcfen{newer_than_3_11}", "{}")), reply(), reply()])
    run_key = queued_key(at, agent)
    asyncio.run(run_wake(at, agent, run_key, is_now=True))
    facts = [row.fact for row in at.agents.facts(f"wake:{run_key}@r1")]
    (denied, *_) = (fact for fact in facts if isinstance(fact, ToolReturned))
    assert (denied.tool, denied.code) == ("pr?fen?", "unknown_tool")
    assert denied.message.text.startswith("there is no tool 'pr?fen?'; use one of")


def test_a_fixed_part_that_does_not_fit_is_an_error_and_not_a_larger_prompt() -> None:
    task = TaskSeen("t" * PROMPT_MIN_BYTES, "Fix")
    with pytest.raises(ValueError, match="fixed part of the prompt exceeds"):
        render(Reading(task), PromptLimits(prompt_max_bytes=PROMPT_MIN_BYTES))


def test_arguments_that_are_no_object_have_a_fingerprint_too() -> None:
    texts = ("[1,2]", "[1, 2]", "[2,1]", "{")
    one, same, other, broken = (fingerprint("tool", text) for text in texts)
    assert one == same
    assert len({one, other, broken}) == 3
