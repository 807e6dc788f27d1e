"""The two sides of operations of a home that several machines share, as a proof matches them."""

import pytest

from adapters.store.log import Log
from domain.append.causes import Receipt, Replied, Result
from domain.changes.change_set import ItemConfirmed
from domain.journal.commands import ApplyOperation
from domain.log.state import RecordedEvent
from domain.log.wire import Words, words
from domain.wake.wake import ToolReturned
from replay.appends import Append, RowPlace
from replay.divergence import RowDifference
from replay.effects import Effects, OperationOutcome, outcome_of
from tests.support.services import START

OPERATION = "o" * 32


def effects() -> Effects:
    return Effects(lambda _: b"", lambda _: b"")


def applied(replica: str, n: int) -> Append:
    said, _ = words("t1", '{"dueDate":"2027-02-01"}')
    command = ApplyOperation(OPERATION, "a1", "t1", "update_task_due_date", said, "")
    fact = Receipt(command, Result(("t1",)))
    one = Append(replica, RowPlace(n, at=START))
    one.facts.append(RecordedEvent(f"receipt:{OPERATION}@{replica}", 1, replica, n, 0, START, fact))
    return one


@pytest.mark.parametrize("is_shared", [False, True])
def test_two_machines_that_asked_have_an_effect_each_whenever_the_journal_was_shared(
    is_shared: bool,
) -> None:
    """The agent log is walked ahead of the journal, which may say only then that it is shared."""
    given = effects()
    given.is_shared = is_shared
    given.ask(OPERATION, "desk")
    given.ask(OPERATION, "desk")
    given.ask(OPERATION, "phone")
    given.is_shared = True
    given.take(applied("desk", 5))
    given.take(applied("phone", 5))
    assert [*given.unasked()] == []
    third = applied("laptop", 5)
    given.take(third)
    assert [*given.unasked()] == [(OPERATION, third)]


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
    given = effects()
    given.is_shared = True
    desk = applied("desk", 5)
    given.take(desk)
    assert [*given.hear(desk, said(desk, n=5)), *given.hear(applied("phone", 9), said(desk))] == []
    assert told(given) == []


def test_what_is_said_before_its_receipt_comes_is_borne_out_by_then() -> None:
    given, desk = effects(), applied("desk", 5)
    given.is_shared = True
    assert [*given.hear(desk, said(desk, n=5))] == []
    given.take(desk)
    assert told(given) == []


def test_a_walk_goes_on_with_what_the_last_one_left_open() -> None:
    before, after, desk = effects(), effects(), applied("desk", 5)
    before.take(desk)
    after.resume(before.left(), {5: desk}.get, lambda _: None)
    assert [*after.unasked()] == [(OPERATION, desk)]
    after.ask(OPERATION, "desk")
    assert [*after.unasked()] == []


def test_a_reply_that_nobody_waited_for_says_nothing_of_an_operation() -> None:
    one, late = applied("desk", 5), Words("{}")
    replies: list[Replied] = [
        Replied("wake", "run", ToolReturned(1, OPERATION, 1, "act", "c1", "tool", "success", late)),
        Replied("changes", "set", ItemConfirmed(1, 1, 5)),
    ]
    with Log.in_memory("agent", "desk").reading() as world:
        assert [outcome_of(one, reply, world) for reply in replies] == [None, None]


def test_what_no_receipt_bears_out_is_named_at_the_end() -> None:
    given = effects()
    given.is_shared = True
    desk = applied("desk", 5)
    for says in (said(desk, n=5), said(desk, code="stale")):
        assert [*given.hear(desk, says)] == []
        expected = [] if says.code else [f"journal append {says.n} is none"]
        assert [actual for _, _, actual in told(given)] == expected
        given = effects()
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
        given = effects()
        given.is_shared = True
        given.take(desk)
        assert [*given.hear(desk, says)] == []
        assert told(given) == [named]


def test_a_receipt_of_before_the_journal_was_shared_bears_out_what_is_said_after() -> None:
    given = effects()
    desk = applied("desk", 5)
    given.take(desk)
    given.is_shared = True
    assert [*given.hear(desk, said(desk, n=5))] == []
    assert told(given) == []


def test_of_a_journal_of_one_machine_what_names_a_place_must_be_there_by_then() -> None:
    given, desk = effects(), applied("desk", 5)
    (known,) = given.hear(desk, said(desk, n=5))
    assert isinstance(known, RowDifference)
    assert known.actual == "journal append 5 is none"
    assert [*given.hear(desk, said(desk))] == []
    given.take(desk)
    assert told(given) == []
