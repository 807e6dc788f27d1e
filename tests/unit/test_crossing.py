"""What crosses from one log to the other does so once, also if shared (DESIGN 2, law 7; 5)."""

import pytest

from adapters.runtime import effects, watcher
from adapters.store.log import Log
from domain.agent.commands import TakeJournal
from domain.append.causes import Receipt, Replied, Result
from domain.append.envelope import Row, RowPlace
from domain.append.notification_batch import batch
from domain.changes.change_set import ItemConfirmed
from domain.journal.commands import AddNote, ApplyOperation, EditTask, VoidOperation
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log.state import RecordedEvent
from domain.log.wire import Words, words
from domain.wake.wake import ToolReturned
from replay.appends import Append
from replay.divergence import RowDifference
from replay.effects import Effects, OperationOutcome, outcome_of
from tests.support.services import START, divergences, one_agent

MINUTES = '{"minutes":45}'


def operation(task: str, agent: str, category: str, name: str = "op-1") -> ApplyOperation:
    return ApplyOperation(
        name, agent, task, "update_task_estimate", Words(), categories=(category,)
    )


def test_an_operation_is_applied_once_and_a_repeat_is_told_the_first_outcome() -> None:
    at, task, agent = one_agent()
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
    at, task, agent = one_agent()
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
    at, task, agent = one_agent()
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
    at, task, _ = one_agent()
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


# ------------------------------------------------------------------------- effects of a shared home

OPERATION = "o" * 32


def walk() -> Effects:
    """Effects whose receipts are told as they come."""
    kept: list[RecordedEvent] = []

    class Told(Effects):
        def take(self, one: Append) -> None:
            kept.extend(one.facts)
            super().take(one)

    return Told(lambda _: b"", lambda _: b"", lambda _: kept)


def applied(replica: str, n: int) -> Append:
    said, _ = words("t1", '{"dueDate":"2027-02-01"}')
    command = ApplyOperation(OPERATION, "a1", "t1", "update_task_due_date", said, "")
    fact = Receipt(command, Result(("t1",)))
    one = Append(replica, RowPlace(n, at=START))
    one.facts.append(RecordedEvent(f"receipt:{OPERATION}@{replica}", 1, replica, n, 0, START, fact))
    one.rows.append(Row(f"receipt:{OPERATION}@{replica}", 1, "receipt.1", b""))
    return one


def places(given: Effects) -> list[tuple[str, str, int]]:
    return [(operation, one.replica, one.n) for operation, one in given.unasked()]


@pytest.mark.parametrize("is_shared", [False, True])
def test_two_machines_that_asked_have_an_effect_each_whenever_the_journal_was_shared(
    is_shared: bool,
) -> None:
    """The agent log is walked ahead of the journal, which may say only then that it is shared."""
    given = walk()
    given.is_shared = is_shared
    given.ask(OPERATION, "desk")
    given.ask(OPERATION, "desk")
    given.ask(OPERATION, "phone")
    given.is_shared = True
    given.take(applied("desk", 5))
    given.take(applied("phone", 5))
    assert places(given) == []
    given.take(applied("laptop", 5))
    assert places(given) == [(OPERATION, "laptop", 5)]


def said(one: Append, code: str = "", n: int = 0, minutes: str = "") -> OperationOutcome:
    """What an append of the agent log may say of the operation that `applied` applies."""
    receipt = one.facts[0].fact
    assert isinstance(receipt, Receipt)
    command = receipt.command
    assert isinstance(command, ApplyOperation)
    arguments = words("t1", minutes)[0] if minutes else command.arguments
    return OperationOutcome(OPERATION, "t1", "update_task_due_date", arguments, code, n)


def told(given: Effects) -> list[tuple[str, str, str]]:
    return [(known.path, known.expected, known.actual) for _, known in given.unmet()]


def test_what_is_said_of_an_operation_is_borne_out_by_its_own_receipt_or_that_of_another() -> None:
    given = walk()
    given.is_shared = True
    desk = applied("desk", 5)
    given.take(desk)
    assert [*given.hear(desk, said(desk, n=5)), *given.hear(applied("phone", 9), said(desk))] == []
    assert told(given) == []


def test_what_is_said_before_its_receipt_comes_is_borne_out_by_then() -> None:
    given, desk = walk(), applied("desk", 5)
    given.is_shared = True
    assert [*given.hear(desk, said(desk, n=5))] == []
    given.take(desk)
    assert told(given) == []


def test_a_walk_goes_on_with_what_the_last_one_left_open() -> None:
    before, after = walk(), walk()
    before.take(applied("desk", 5))
    after.resume(before.left(), lambda _: None, is_shared=False)
    assert places(after) == [(OPERATION, "desk", 5)]
    after.ask(OPERATION, "desk")
    assert places(after) == []


def test_a_reply_that_nobody_waited_for_says_nothing_of_an_operation() -> None:
    one, late = applied("desk", 5), Words("{}")
    replies: list[Replied] = [
        Replied("wake", "run", ToolReturned(1, OPERATION, 1, "act", "c1", "tool", "success", late)),
        Replied("changes", "set", ItemConfirmed(1, 1, 5)),
    ]
    with Log.in_memory("agent", "desk").reading() as world:
        assert [outcome_of(one, reply, world) for reply in replies] == [None, None]


def test_what_no_receipt_bears_out_is_named_at_the_end() -> None:
    given = walk()
    given.is_shared = True
    desk = applied("desk", 5)
    for says in (said(desk, n=5), said(desk, code="stale")):
        assert [*given.hear(desk, says)] == []
        expected = [] if says.code else [f"journal append {says.n} is none"]
        assert [actual for _, _, actual in told(given)] == expected
        given = walk()
        given.is_shared = True


def test_what_the_receipt_says_otherwise_is_named() -> None:
    desk = applied("desk", 5)
    for says, named in (
        (said(desk, code="stale"), ("outcome", "applied", "stale")),
        (said(desk, n=7), ("data.position", f"journal append 5, which holds {OPERATION}",
                           "journal append 7")),
        (said(desk)._replace(task="t2"),
         ("operation", "t1 update_task_due_date", "t2 update_task_due_date")),
    ):  # fmt: skip
        given = walk()
        given.is_shared = True
        given.take(desk)
        assert [*given.hear(desk, says)] == []
        assert told(given) == [named]


def test_a_receipt_of_before_the_journal_was_shared_bears_out_what_is_said_after() -> None:
    given = walk()
    desk = applied("desk", 5)
    given.take(desk)
    given.is_shared = True
    assert [*given.hear(desk, said(desk, n=5))] == []
    assert told(given) == []


def test_of_a_journal_of_one_machine_what_names_a_place_must_be_there_by_then() -> None:
    given, desk = walk(), applied("desk", 5)
    (known,) = given.hear(desk, said(desk, n=5))
    assert isinstance(known, RowDifference)
    assert known.actual == "journal append 5 is none"
    assert [*given.hear(desk, said(desk))] == []
    given.take(desk)
    assert told(given) == []
