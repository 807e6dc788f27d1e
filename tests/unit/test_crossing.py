"""What crosses from one log to the other does so once (DESIGN 2, law 7; 5)."""

from adapters.runtime import effects, watcher
from domain.agent.commands import TakeJournal
from domain.append.notification_batch import batch
from domain.journal.commands import AddNote, ApplyOperation, EditTask, VoidOperation
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log.wire import Words
from tests.support.services import divergences, services, task_with_agent

MINUTES = '{"minutes":45}'


def operation(task: str, agent: str, category: str, name: str = "op-1") -> ApplyOperation:
    return ApplyOperation(
        name, agent, task, "update_task_estimate", Words(), categories=(category,)
    )


def test_an_operation_is_applied_once_and_a_repeat_is_told_the_first_outcome() -> None:
    at = services()
    task, agent = task_with_agent(at)
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    command = operation(task, agent, category)
    first = effects.apply(at, command, MINUTES)
    at.append_journal(EditTask(task, estimate=10))
    again = effects.apply(at, command, MINUTES)
    assert (first.result.status, again) == ("applied", first)
    with at.journal.reading() as world:
        assert world.load(TASK, task).estimate == 10
    assert divergences(at) == []


def test_whichever_of_apply_and_void_is_recorded_first_decides() -> None:
    at = services()
    task, agent = task_with_agent(at)
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    voided = at.append_journal(VoidOperation("op-1", task, "given up"), key="op-1")
    late = effects.apply(at, operation(task, agent, category), MINUTES)
    assert (voided.result.status, late.result.status) == ("voided", "voided")
    applied = effects.apply(at, operation(task, agent, category, "op-2"), MINUTES)
    again = at.append_journal(VoidOperation("op-2", task, "too late"), key="op-2")
    assert (applied.result.status, again.result.status) == ("applied", "applied")
    assert divergences(at) == []


def test_an_operation_outside_the_agents_categories_is_refused_by_the_journal_too() -> None:
    at = services()
    task, agent = task_with_agent(at)
    for categories, code in (((), "out_of_scope"), (("other",), "out_of_scope")):
        name = f"op-{len(categories)}"
        command = ApplyOperation(
            name, agent, task, "update_task_estimate", Words(), categories=categories
        )
        refused = effects.apply(at, command, MINUTES).result
        assert (refused.status, refused.code) == ("refused", code)
    missing = effects.apply(at, operation("nobody", agent, "c", "op-9"), MINUTES).result
    assert (missing.status, missing.code) == ("refused", "not_found")


def test_of_two_watchers_the_slower_ones_part_is_trimmed() -> None:
    at = services()
    task, _ = task_with_agent(at)
    watcher.catch_up(at)
    at.append_journal(AddNote(task, "note", Words("one")))
    at.append_journal(AddNote(task, "note", Words("two")))
    world = at.journal.world_at(at.journal.tail().n)
    found = [
        batch(rows, lambda one: world.load(LINKS, one), lambda one: world.load(TASK, one))
        for rows in at.journal.appends(2)
    ]
    slow = TakeJournal("r1", 3, 4, tuple(one for one in found if one), "", is_enabled=True)
    rows = at.agents.count()
    watcher.catch_up(at)
    taken = at.agents.count()
    assert taken > rows
    assert at.append_agent(slow).rows == ()
    at.append_journal(AddNote(task, "note", Words("three")))
    late = TakeJournal("r1", 3, 5, slow.batches, "", is_enabled=True)
    facts = [row.topic for row in at.append_agent(late).rows]
    assert facts == ["receipt.1", "watch.journal_taken.1"], "what was taken is not noticed again"
    assert divergences(at) == []
