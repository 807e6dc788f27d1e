"""What a sync says of the other machines: who holds the same, who is behind, and whose clock."""

import gzip

from msgspec.structs import replace

from adapters.sync import segments
from adapters.sync.have import Have, have_of, is_news, read_have, written
from adapters.sync.memory import Kept
from adapters.sync.segments import decoded
from adapters.sync.shelf import MemoryShelf
from adapters.sync.syncing import replicas, sync
from tests.support.sharing import Machine
from tests.unit.test_sync_folder import NOW

LATER = "2026-03-01T13:01:30.000000Z"


def met() -> tuple[MemoryShelf, Machine, Machine]:
    """A desk that two labels were added at since a laptop saw it."""
    shelf, desk, laptop = MemoryShelf(), Machine("desk"), Machine("laptop")
    desk.add("home")
    sync([desk], shelf, NOW, Kept("My desk"))
    sync([laptop], shelf, LATER, Kept("My laptop"))
    desk.add("work")
    desk.add("away")
    return shelf, desk, laptop


def test_who_is_behind_is_told_with_what_it_lacked_and_how_far_its_clock_is_ahead() -> None:
    shelf, desk, laptop = met()
    did = sync([desk], shelf, NOW, Kept())
    (behind,) = did.report.behind
    assert (behind.replica, behind.label, behind.appends) == ("laptop", "My laptop", 2)
    assert (behind.seen_at, behind.clock_minutes) == (LATER, 61)
    assert did.kept.label == "My desk"  # of the folder, where the home lost it
    report = sync([laptop], shelf, LATER, did.kept).report
    assert (report.took, report.equal) == ({"desk": 4}, ["desk"])
    assert (report.new, report.labels["desk"]) == ([], "My desk")


def test_machines_are_listed_with_what_is_known_of_each() -> None:
    shelf, desk, laptop = met()

    def states(log: Machine) -> list[tuple[str, str, str | None]]:
        return [(one.replica, one.state, one.for_) for one in replicas([log], shelf, NOW, Kept())]

    assert states(laptop) == [("laptop", "equal", None), ("desk", "equal", None)]
    sync([desk], shelf, NOW, Kept())
    assert states(desk) == [("desk", "equal", None), ("laptop", "behind", None)]
    late = MemoryShelf()
    late.held = {name: data for name, data in shelf.held.items() if "desk-1-3-" not in name}
    assert [one.for_ for one in replicas([Machine("phone")], late, NOW, Kept())] == [
        None,
        "gap",
        "gap",
    ]


def test_what_a_newer_version_wrote_waits_from_there_and_others_go_on() -> None:
    shelf, desk, laptop = met()
    phone = Machine("phone")
    sync([desk], shelf, NOW, Kept())
    laptop.add("mine")
    sync([laptop], shelf, NOW, Kept())
    for name, data in list(shelf.held.items()):
        if name.startswith("desk/journal") and decoded(data).header.first > 1:
            shelf.held[name] = _of_tomorrow(data)
    waiting = sync([phone], shelf, NOW, Kept()).report.waiting
    assert ("desk", "newer", 3) in [(one.replica, one.for_, one.n) for one in waiting]
    assert "laptop" in phone.chains


def test_a_sign_of_life_is_due_once_a_day() -> None:
    _, desk, _ = met()
    have = have_of([desk], "desk", "", NOW)
    assert is_news(have, None)
    assert not is_news(replace(have, at="2026-03-02T11:59:59.000000Z"), have)
    assert is_news(replace(have, at="2026-03-02T12:00:00.000000Z"), have)
    assert is_news(replace(have, label="desk"), have)


def test_what_another_says_of_itself_counts_where_it_is_whole_and_its_own() -> None:
    _, desk, _ = met()
    data = written(have_of([desk], "desk", "", NOW))
    assert isinstance(read_have(data, "desk"), Have)
    assert [read_have(one, "desk") for one in (None, b"", data[:-9], b"\xff", b"[]")] == [None] * 5
    assert read_have(data, "laptop") is None
    assert read_have(data.replace(NOW.encode(), b"yesterday"), "desk") is None


def _of_tomorrow(data: bytes) -> bytes:
    """The file, as a version with other rules would have written it."""
    header = decoded(data).header
    body = gzip.decompress(data).split(b"\n")[1:-2]
    return segments._file(replace(header, rules=9), body)[1]
