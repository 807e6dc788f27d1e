"""Machines that meet in a folder: what is given, what is taken, and what waits."""

import random

import pytest

from adapters.store.recorder import numbered
from adapters.sync.sync_folder import MemorySyncFolder, SyncFolder
from adapters.sync.sync_home import SyncResult, sync_logs
from adapters.sync.sync_state import SyncState
from domain.errors import Refused
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"


def synced(log: Machine, shelf: SyncFolder, **how: object) -> SyncResult:
    return sync_logs([log], shelf, NOW, SyncState(), **how)  # type: ignore[arg-type]  # of its own


def names(log: Machine) -> set[tuple[str, int]]:
    return {(one, numbered(rows[0].state).n) for one, chain in log.chains.items() for rows in chain}


def waits(log: Machine, shelf: SyncFolder) -> list[tuple[str, str, int]]:
    return [(one.replica, one.for_, one.n) for one in synced(log, shelf).report.waiting]


def rounds(logs: list[Machine], shelf: SyncFolder, most: int = 8) -> int:
    """Sync all in turn until nothing is written any more; how many rounds that took."""
    for count in range(most):
        before = dict(shelf.held) if isinstance(shelf, MemorySyncFolder) else {}
        for one in logs:
            synced(one, shelf)
        if isinstance(shelf, MemorySyncFolder) and before == shelf.held:
            return count
    raise AssertionError("it never ends")


def test_machines_that_meet_hold_the_same_and_then_write_nothing_more() -> None:
    shelf = MemorySyncFolder()
    desk, laptop, phone = Machine("desk"), Machine("laptop"), Machine("phone")
    desk.add("home")
    synced(desk, shelf)
    synced(laptop, shelf)
    desk.add("work")
    laptop.add("away")
    laptop.add("later")
    rounds([desk, laptop, phone], shelf)
    reports = [synced(one, shelf).report for one in (desk, laptop, phone)]
    assert len({one.digest for one in reports}) == 1
    assert reports[0].equal == ["laptop", "phone"]
    assert not any(one.took or one.gave or one.waiting or one.behind for one in reports)
    assert names(desk) == names(laptop) == names(phone)


def test_what_a_machine_holds_of_another_goes_on_over_a_second_folder() -> None:
    stick, other = MemorySyncFolder(), MemorySyncFolder()
    desk, laptop, phone = Machine("desk"), Machine("laptop"), Machine("phone")
    desk.add("home")
    synced(desk, stick)
    synced(laptop, stick)
    synced(laptop, other)
    report = synced(phone, other).report
    assert report.took["desk"] == 4
    assert ("desk", 1) in names(phone)


def test_files_that_were_deleted_are_given_again() -> None:
    shelf = MemorySyncFolder()
    desk = Machine("desk")
    desk.add("home")
    synced(desk, shelf)
    first = dict(shelf.held)
    shelf.held.clear()
    synced(desk, shelf)
    assert shelf.held == first


def test_an_append_waits_for_all_that_its_writer_knew() -> None:
    shelf, late = MemorySyncFolder(), MemorySyncFolder()
    desk, laptop, phone = Machine("desk"), Machine("laptop"), Machine("phone")
    desk.add("home")
    synced(desk, shelf)
    synced(laptop, shelf)
    laptop.add("away")
    synced(laptop, shelf)
    late.held = {name: data for name, data in shelf.held.items() if "/journal-desk" not in name}
    assert waits(phone, late) == [("desk", "gap", 0), ("laptop", "gap", 2)]
    assert not phone.telling_heads()
    late.held |= shelf.held
    assert waits(phone, late) == []
    assert names(desk) <= names(phone)


def test_a_file_that_is_cut_short_waits_and_is_not_half_taken() -> None:
    whole = MemorySyncFolder()
    desk = Machine("desk")
    desk.add("home")
    desk.add("work")
    synced(desk, whole)
    (name,) = [one for one in whole.held if one.endswith(".gz")]
    data = whole.held[name]
    for end in range(0, len(data), 9):
        cut = MemorySyncFolder()
        cut.held = {name: data[:end]}
        phone = Machine("phone")
        assert waits(phone, cut) == [("desk", "cut short", 0)]
        assert "desk" not in phone.chains


def test_late_doubled_and_renamed_files_make_no_difference() -> None:
    chance = random.Random(7)
    for _ in range(8):
        shelf = MemorySyncFolder()
        logs = [Machine(name) for name in ("desk", "laptop", "phone")]
        logs[0].add("begin")
        synced(logs[0], shelf)
        for step in range(12):
            one = chance.choice(logs)
            seen = MemorySyncFolder()
            listed = sorted(shelf.held)
            seen.held = {name: shelf.held[name] for name in listed if chance.random() < 0.6}
            for name in listed[:: chance.randrange(1, 4)]:
                seen.held[f"copy/{name.replace('/', ' ')} (conflicted copy)"] = shelf.held[name]
            if one.chains:
                one.add(f"label {step}")
            own = f"{one.replica}/"
            if seen.held and not any("/journal" in name for name in seen.held):
                continue
            seen.held |= {name: data for name, data in shelf.held.items() if name.startswith(own)}
            synced(one, seen)
            shelf.held |= {name: data for name, data in seen.held.items() if name.startswith(own)}
        rounds(logs, shelf)
        assert len({synced(one, shelf).report.digest for one in logs}) == 1
        assert names(logs[0]) == names(logs[1]) == names(logs[2])


def test_another_homes_folder_is_refused_and_stays_as_it_is() -> None:
    shelf = MemorySyncFolder()
    desk, other = Machine("desk"), Machine("other")
    desk.add("home")
    other.add("elsewhere")
    synced(desk, shelf)
    before = dict(shelf.held)
    with pytest.raises(Refused) as refused:
        synced(other, shelf)
    assert refused.value.code == "another_home"
    assert (shelf.held, other.is_shared) == (before, False)


def test_a_folder_whose_files_came_by_half_is_not_taken_for_another_homes() -> None:
    shelf, late = MemorySyncFolder(), MemorySyncFolder()
    desk, laptop = Machine("desk"), Machine("laptop")
    desk.add("home")
    synced(desk, shelf)
    synced(laptop, shelf)
    laptop.add("mine")
    for name in ("work", "away"):
        desk.add(name)
        synced(desk, shelf)
    late.held = {name: data for name, data in shelf.held.items() if "journal-desk-5" in name}
    assert waits(laptop, late) == [("desk", "gap", 3)]
    late.held = {"desk/have.json": shelf.held["desk/have.json"]}
    assert waits(laptop, late) == [("desk", "gap", 3)]


def test_a_home_that_lost_its_last_rows_is_told_before_it_takes_or_gives() -> None:
    shelf = MemorySyncFolder()
    desk, twin = Machine("desk"), Machine("desk")
    for one in (desk, twin):
        one.add("home")
    desk.add("work")
    synced(desk, shelf)
    before = dict(shelf.held)
    with pytest.raises(Refused) as refused:
        synced(twin, shelf)
    assert refused.value.code == "forked_replica"
    twin.add("other work")
    with pytest.raises(Refused):
        synced(twin, shelf)
    assert shelf.held == before


def test_of_a_chain_with_two_branches_nothing_more_is_taken_and_others_go_on() -> None:
    shelf, other = MemorySyncFolder(), MemorySyncFolder()
    desk, twin, laptop = Machine("desk"), Machine("desk"), Machine("laptop")
    for one in (desk, twin):
        one.add("home")
    synced(desk, shelf)
    synced(laptop, shelf)
    desk.add("work")
    twin.add("other work")
    synced(desk, shelf)
    synced(twin, other)
    laptop.add("mine")
    synced(laptop, shelf)
    phone = Machine("phone")
    both = MemorySyncFolder()
    both.held = {
        f"copy{nth}/{name.replace('/', ' ')}": data
        for nth, one in enumerate((shelf, other))
        for name, data in one.held.items()
    }
    synced(phone, shelf)
    report = synced(phone, both).report
    assert [(one.replica, one.for_) for one in report.waiting] == [("desk", "fork")]
    assert waits(phone, both) == [("desk", "fork", phone.heads()["desk"].n)]


def test_what_is_held_back_waits() -> None:
    shelf = MemorySyncFolder()
    desk, laptop = Machine("desk"), Machine("laptop")
    desk.add("home")
    synced(desk, shelf)
    report = synced(laptop, shelf, hold=["desk"]).report
    assert [(one.replica, one.for_) for one in report.waiting] == [("desk", "held")]
    assert not laptop.telling_heads()


def test_a_dry_run_tells_what_would_come_and_writes_nothing() -> None:
    shelf = MemorySyncFolder()
    desk, laptop = Machine("desk"), Machine("laptop")
    desk.add("home")
    assert synced(desk, shelf, is_dry=True).report.gave == 3
    assert (shelf.held, desk.is_shared) == ({}, False)
    synced(desk, shelf)
    assert synced(laptop, shelf, is_dry=True).report.took == {"desk": 4}
    assert (laptop.chains, laptop.is_shared) == ({}, False)


class Unwritable(MemorySyncFolder):
    """A folder that may only be read."""

    def write(self, name: str, data: bytes) -> None:
        raise PermissionError(13, "Permission denied")


def test_a_folder_that_may_only_be_read_is_taken_from_first() -> None:
    shelf, closed = MemorySyncFolder(), Unwritable()
    desk, laptop = Machine("desk"), Machine("laptop")
    desk.add("home")
    synced(desk, shelf)
    closed.held = shelf.held
    with pytest.raises(Refused) as refused:
        synced(laptop, closed)
    assert refused.value.code == "read_only"
    assert "4 rows were taken" in refused.value.because
    assert ("desk", 1) in names(laptop)


def test_what_was_looked_at_once_is_not_opened_again() -> None:
    shelf = MemorySyncFolder()
    desk = Machine("desk")
    desk.add("home")
    synced(desk, shelf)
    kept = synced(desk, shelf).kept
    opened: list[str] = []

    class Watched(MemorySyncFolder):
        def read(self, name: str) -> bytes | None:
            opened.append(name)
            return super().read(name)

    watched = Watched()
    watched.held = shelf.held
    sync_logs([desk], watched, NOW, kept)
    assert opened == ["desk/have.json"]
