"""What a walk of a journal that machines share knows of each of them (ADR 70), and of a past that
was given up (DESIGN 2)."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.proof import histories
from adapters.proof.histories import History
from domain.append.causes import GivenUp, LogShared, Receipt, ReplicasImported, Result
from domain.append.envelope import Row
from domain.changes.commands import RejectItem
from domain.journal.commands import ApplyOperation
from domain.journal.task import EstimateSet
from domain.log.state import RecordedEvent
from domain.log.wire import Imported, Words
from replay.causal_views import CausalViews
from replay.cross_log_check import DIGESTS_MAX, CrossLogCheck
from replay.hash_chain import HashChain
from replay.log_pair import PairedLog, PairPosition
from replay.prove import LogProof
from replay.references import horizon_differs
from replay.streams import Streams
from tests.support.broken import Broken
from tests.support.forging import rows
from tests.support.services import START

HISTORIES = Path(__file__).parents[1] / "histories"


def viewers() -> CausalViews:
    """Desk, which shares the journal since append 3 and took phone's first seven at append 5."""
    found = CausalViews(None)
    for n, fact in ((3, LogShared()), (5, ReplicasImported((Imported("phone", 7),)))):
        found.take(RecordedEvent("log:main@desk", n, "desk", n, 0, START, fact), (), lambda *_: ())
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


def check(history: History, *given_up: GivenUp) -> CrossLogCheck:
    """A walk with nothing but what it keeps."""
    journal, agents = (
        PairedLog(
            LogProof(name, history.payloads.get),
            history.rows[name],
            payload=history.payloads.get,
            given_up=given_up,
        )
        for name in ("journal", "agent")
    )
    return CrossLogCheck(journal, agents)


def test_of_a_long_journal_the_newest_digests_are_kept() -> None:
    crossing = check(histories.read_history(HISTORIES / "verdicts.jsonl"))
    crossing.resume(PairPosition(), {n: {} for n in range(-DIGESTS_MAX, 0)})
    assert [*crossing.walk()] == []
    assert len(crossing._digests) == DIGESTS_MAX


def applied(replica: str, n: int) -> RecordedEvent:
    command = ApplyOperation("o", "a1", "t1", "update_task_estimate", Words("{}"))
    return RecordedEvent(
        f"receipt:o@{replica}", 1, replica, n, 0, START, Receipt(command, Result((), "applied"))
    )


def test_of_an_operation_that_several_applied_the_first_that_is_known_counts() -> None:
    known, both = viewers(), (applied("phone", 6), applied("desk", 9))
    kept = {one.replica: [one] for one in both}
    known.take(both[0], ["phone"], lambda _, replica: kept[replica])
    known.take(both[1], kept, lambda _, replica: kept[replica])
    phone, desk = (
        RecordedEvent(
            "task:t1@" + one.replica, 1, one.replica, one.n, 1, START, EstimateSet("a", 5)
        )
        for one in both
    )
    assert known.sift({"desk": 9, "phone": 7}).counted([phone, desk]) == [phone]
    assert known.sift({"desk": 9}).counted([desk]) == [desk]


def test_an_end_that_a_marker_names_and_nobody_met_is_missed() -> None:
    marker = RecordedEvent(
        "log:main@desk", 2, "desk", 5, 0, START, ReplicasImported((Imported("phone", 7),))
    )
    assert [*viewers().missed([marker], {"phone": 7})] == []
    (known,) = viewers().missed([marker], {"phone": 4})
    assert (known.path, known.expected, known.actual) == (
        "tail",
        "append 7 of phone",
        "it ends at 4",
    )


def test_a_chain_ends_where_a_row_is_gone_or_no_append_begins() -> None:
    rows = histories.read_history(HISTORIES / "verdicts.jsonl").rows["journal"]
    seen: list[int] = []

    def is_whole(found: list[Row]) -> bool:
        return HashChain("journal").read(iter(found), lambda _, n, __: seen.append(n))

    assert is_whole(rows)
    assert seen == sorted(set(seen))
    assert not is_whole(rows[1:])
    assert not is_whole(rows[:-1])
    assert not is_whole([rows[0]._replace(state=b"{"), *rows[1:]])


def test_a_row_that_does_not_fold_is_told_once_though_its_stream_is_folded_anew() -> None:
    streams, log, task = Streams("journal", lambda _: None), "log:main@desk", "task:t1@desk"
    forged = replace(EstimateSet("person"), by=5)
    facts = [LogShared(), forged, ReplicasImported(()), EstimateSet("person")]
    rows = [
        RecordedEvent(stream, nth // 2 + 1, "desk", nth + 1, 0, START, fact)
        for nth, (stream, fact) in enumerate(zip([log, task] * 2, facts, strict=True))
    ]
    assert [len(streams.take([row])) for row in rows] == [0, 1, 0, 0]


# ------------------------------------------------------------------------- a past that was given up


def found(history: History, *given_up: GivenUp) -> list[str]:
    """Where a walk finds something else."""
    return [one.path for one in check(history, *given_up).walk()]


@pytest.mark.parametrize("name", ["verdicts", "lessons", "looked_up"])
def test_a_whole_history_holds_whatever_was_given_up(name: str) -> None:
    whole = histories.read_history(HISTORIES / f"{name}.jsonl")
    n = len(whole.rows["journal"])
    assert found(whole) == []
    assert found(whole, GivenUp("r1", 0, n)) == []
    assert found(whole, GivenUp("r2", 0, n), GivenUp("r1", n, n + 1)) == []


def test_what_came_of_an_operation_is_compared_in_this_past_alone() -> None:
    home = Broken(HISTORIES / "edited.jsonl")
    home.data("changes.item_confirmed.1")["position"] += 1
    forged = History(rows(home), home.payloads, "")
    n = len(forged.rows["journal"])
    assert "data.position" in found(forged)
    assert "data.position" in found(forged, GivenUp("r1", n, n + 1))
    assert "data.position" not in found(forged, GivenUp("r1", 0, n))
