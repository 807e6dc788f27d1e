"""The two sides of operations of a home that several machines share, as a proof matches them."""

import pytest

from domain.causes import Receipt, Result
from domain.journal.commands import ApplyOperation
from domain.wire import words
from domain.world import Recorded
from replay.appends import Append, Place
from replay.effects import Effects
from tests.support.services import START

OPERATION = "o" * 32


def effects() -> Effects:
    return Effects(lambda _: b"", lambda _: b"")


def applied(replica: str, n: int) -> Append:
    said, _ = words("t1", '{"dueDate":"2027-02-01"}')
    command = ApplyOperation(OPERATION, "a1", "t1", "update_task_due_date", said, "")
    fact = Receipt(command, Result(("t1",)))
    one = Append(replica, Place(n, at=START))
    one.facts.append(Recorded(f"receipt:{OPERATION}@{replica}", 1, replica, n, 0, START, fact))
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
