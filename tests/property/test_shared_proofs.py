"""What several machines wrote is executed again on each of them, in the world of who wrote it."""

from collections.abc import Sequence

import pytest

from adapters.proof.prove import Proved, prove_logs
from adapters.store.log import Log
from adapters.store.recorder import numbered
from domain.append import envelope
from domain.append.causes import ReplicasImported
from domain.append.envelope import Row
from replay.divergence import ALTERED, Divergence
from replay.prove import LogProof
from replay.streams import LIMITS, WalkLimits
from tests.property.test_shared_laws import Machines

pytestmark = pytest.mark.slow
FEW = WalkLimits(3, 3, 3)


def proved(log: Log, limits: WalkLimits = LIMITS) -> Proved:
    return prove_logs(log, Log.in_memory("agent", log.replica), limits=limits)


@pytest.mark.parametrize("seed", range(20, 27))
def test_every_machine_proves_midway_and_at_the_end_and_all_hold_alike(seed: int) -> None:
    machines = Machines(seed)
    machines.live(100)
    midway = [proved(one) for one in machines.logs]
    assert [one.divergences for one in midway] == [()] * 3
    machines.rounds()
    end = [proved(one) for one in machines.logs]
    assert [one.divergences for one in end] == [()] * 3
    assert [proved(one, FEW).divergences for one in machines.logs] == [()] * 3
    assert len({one.shared for one in end}) == 1 < len({one.shared for one in midway})
    assert [one.folded for one in end] == [0, 0, 0]
    for one in end:
        assert one.replicas is not None
        assert sorted(one.replicas) == ["desk", "laptop", "phone"]
        assert sum(each.executed for each in one.replicas.values()) == one.causes


def found(log: Log, rows: Sequence[Row]) -> list[Divergence]:
    """What a proof finds where these rows stand in the file."""
    return list(LogProof("journal", log.payload).walk(rows))


def lived() -> Log:
    machines = Machines(20)
    machines.live(100)
    machines.rounds()
    return machines.logs[0]


def test_a_row_of_another_machine_that_is_changed_or_gone_is_found() -> None:
    log = lived()
    rows = list(log.rows())
    assert found(log, rows) == []
    ends = log.heads()  # of what nobody wrote after, only an anchor tells
    theirs = [
        nth
        for nth, row in enumerate(rows)
        for name in [row.stream.rpartition("@")[2]]
        if name != "desk" and numbered(row.state).n < ends[name].n
    ]
    for nth in theirs[::4]:
        state = rows[nth].state
        altered = state.replace(b"2027-", b"2026-", 1) if b"2027-" in state else state + b" "
        forged = [*rows[:nth], rows[nth]._replace(state=altered), *rows[nth + 1 :]]
        assert found(log, forged), rows[nth]
        assert found(log, rows[:nth] + rows[nth + 1 :]), rows[nth]


def test_an_end_of_another_machines_log_that_somebody_knew_is_missed_where_it_is_cut_off() -> None:
    log = lived()
    rows = list(log.rows())
    for name in "laptop", "phone":
        known = max(
            one.n
            for appends in log.appends()
            for row in appends
            if isinstance(row.fact, ReplicasImported) and row.replica != name
            for one in row.fact.replicas
            if one.replica == name
        )
        theirs = [row for row in rows if row.stream.endswith(f"@{name}")]
        for first in sorted({n for row in theirs if (n := numbered(row.state).n) <= known})[1::5]:
            cut = [row for row in rows if row not in theirs or numbered(row.state).n < first]
            told = [(one.kind_of, one.path) for one in found(log, cut)]
            assert (ALTERED, "tail") in told, (name, first)


def test_a_marker_of_a_wrong_number_or_of_appends_that_are_not_there_is_found() -> None:
    log = lived()
    *rows, last = log.rows()
    marker = envelope.read(last)
    assert isinstance(marker.data, ReplicasImported)
    own, named = marker.n, max(one.n for one in marker.data.replicas)

    def told(old: str, new: str, row: Row = last) -> list[tuple[str, str]]:
        forged = row._replace(state=row.state.replace(old.encode(), new.encode()))
        assert forged != row
        return [(one.kind_of, one.path) for one in found(log, [*rows, forged])]

    assert told(f'"n":{own},', f'"n":{own + 1},') == [(ALTERED, "n")]
    above = f'"n":{named + 100}}}'
    assert (ALTERED, "n") in told(f'"n":{named}}}', above)
    higher = last._replace(state=last.state.replace(b'"n":%d,' % own, b'"n":%d,' % (named + 101)))
    assert told(f'"n":{named}}}', above, higher) == [(ALTERED, "tail")]
