"""What a walk of a journal that machines share knows of each of them (ADR 70)."""

from pathlib import Path

from adapters.proof import histories
from domain.causes import LogShared, ReplicasImported
from domain.changes.commands import RejectItem
from domain.wire import Imported
from domain.world import Recorded
from replay.crossing import DIGESTS_MAX, Crossing
from replay.prove import Proof
from replay.references import horizon_differs
from replay.sides import Left, Side
from replay.viewers import Viewers
from tests.support.services import START

HISTORY = Path(__file__).parents[1] / "histories" / "verdicts.jsonl"


def viewers() -> Viewers:
    """Desk, which shares the journal since append 3 and took phone's first seven at append 5."""
    found = Viewers(None)
    for n, fact in ((3, LogShared()), (5, ReplicasImported((Imported("phone", 7),)))):
        found.take(Recorded("log:main@desk", n, "desk", n, 0, START, fact), (), lambda *_: ())
    return found


def rejects(position: int, *seen: Imported) -> RejectItem:
    return RejectItem("set", 1, "person", position, seen=seen)


def told(cause: object) -> list[tuple[str, str, str]]:
    found = horizon_differs(cause, "desk", viewers())
    return [(one.path, one.expected, one.actual) for one in found]


def test_what_a_cause_says_its_place_knew_of_each_machine_is_compared() -> None:
    phone = Imported("phone", 7)
    assert told(rejects(5, Imported("desk", 5), phone)) == []
    assert told(rejects(2)) == [], "the journal was not shared there"
    assert told(LogShared()) == []
    ((path, expected, actual),) = told(rejects(5))
    assert (path, actual) == ("data.command.seen", "[]")
    assert '"phone"' in expected
    assert [one[0] for one in told(rejects(2, phone))] == ["data.command.seen"]


def test_of_a_long_journal_the_newest_digests_are_kept() -> None:
    history = histories.read(HISTORY)
    journal, agents = (
        Side(Proof(name, history.payloads.get), history.rows[name], payload=history.payloads.get)
        for name in ("journal", "agent")
    )
    crossing = Crossing(journal, agents)
    crossing.resume(Left(), dict.fromkeys(range(-DIGESTS_MAX, 0), ("", "")))
    assert [*crossing.walk()] == []
    assert len(crossing._digests) == DIGESTS_MAX
