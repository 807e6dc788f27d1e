"""What a sync says of the other machines: who holds the same, who is behind, and whose clock."""

import gzip

from msgspec.structs import replace

from adapters.sync import segments
from adapters.sync.manifest import Manifest, is_news, manifest_bytes, manifest_of, read_manifest
from adapters.sync.segments import decode_segment
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import replica_lines, sync_logs
from adapters.sync.sync_state import SyncState
from tests.support.sharing import Machine
from tests.unit.test_sync_folder import NOW

LATER = "2026-03-01T13:01:30.000000Z"


def met() -> tuple[MemorySyncFolder, Machine, Machine]:
    """A desk that two labels were added at since a laptop saw it."""
    shelf, desk, laptop = MemorySyncFolder(), Machine("desk"), Machine("laptop")
    desk.add("home")
    sync_logs([desk], shelf, NOW, SyncState("My desk"))
    sync_logs([laptop], shelf, LATER, SyncState("My laptop"))
    desk.add("work")
    desk.add("away")
    return shelf, desk, laptop


def test_who_is_behind_is_told_with_what_it_lacked_and_how_far_its_clock_is_ahead() -> None:
    shelf, desk, laptop = met()
    did = sync_logs([desk], shelf, NOW, SyncState())
    (behind,) = did.report.behind
    assert (behind.replica, behind.label, behind.appends) == ("laptop", "My laptop", 2)
    assert (behind.seen_at, behind.clock_minutes) == (LATER, 61)
    assert did.kept.label == "My desk"  # of the folder, where the home lost it
    report = sync_logs([laptop], shelf, LATER, did.kept).report
    assert (report.took, report.equal) == ({"desk": 4}, ["desk"])
    assert (report.new, report.labels["desk"]) == ([], "My desk")


def test_machines_are_listed_with_what_is_known_of_each() -> None:
    shelf, desk, laptop = met()

    def states(log: Machine) -> list[tuple[str, str, str | None]]:
        return [
            (one.replica, one.state, one.for_)
            for one in replica_lines([log], shelf, NOW, SyncState())
        ]

    assert states(laptop) == [("laptop", "equal", None), ("desk", "equal", None)]
    sync_logs([desk], shelf, NOW, SyncState())
    assert states(desk) == [("desk", "equal", None), ("laptop", "behind", None)]
    late = MemorySyncFolder()
    late.held = {name: data for name, data in shelf.held.items() if "desk-1-3-" not in name}
    assert [one.for_ for one in replica_lines([Machine("phone")], late, NOW, SyncState())] == [
        None,
        "gap",
        "gap",
    ]


def test_what_a_newer_version_wrote_waits_from_there_and_others_go_on() -> None:
    shelf, desk, laptop = met()
    phone = Machine("phone")
    sync_logs([desk], shelf, NOW, SyncState())
    laptop.add("mine")
    sync_logs([laptop], shelf, NOW, SyncState())
    for name, data in list(shelf.held.items()):
        if name.startswith("desk/journal") and decode_segment(data).header.first > 1:
            shelf.held[name] = _of_tomorrow(data)
    waiting = sync_logs([phone], shelf, NOW, SyncState()).report.waiting
    assert ("desk", "newer", 3) in [(one.replica, one.for_, one.n) for one in waiting]
    assert "laptop" in phone.chains


def test_a_sign_of_life_is_due_twice_a_day() -> None:
    _, desk, _ = met()
    have = manifest_of([desk], "desk", "", NOW)
    assert is_news(have, None)
    assert not is_news(replace(have, at="2026-03-01T23:59:59.000000Z"), have)
    assert is_news(replace(have, at="2026-03-02T00:00:00.000000Z"), have)
    assert is_news(replace(have, label="desk"), have)


def test_what_another_says_of_itself_counts_where_it_is_whole_and_its_own() -> None:
    _, desk, _ = met()
    data = manifest_bytes(manifest_of([desk], "desk", "", NOW))
    assert isinstance(read_manifest(data, "desk"), Manifest)
    assert [read_manifest(one, "desk") for one in (None, b"", data[:-9], b"\xff", b"[]")] == [
        None
    ] * 5
    assert read_manifest(data, "laptop") is None
    assert read_manifest(data.replace(NOW.encode(), b"yesterday"), "desk") is None


def _of_tomorrow(data: bytes) -> bytes:
    """The file, as a version with other rules would have written it."""
    header = decode_segment(data).header
    body = gzip.decompress(data).split(b"\n")[1:-2]
    return segments._file(replace(header, rules=9), body)[1]
