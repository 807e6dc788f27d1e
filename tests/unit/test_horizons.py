"""What a replica knew at an append follows from its markers; sets of appends, told one by one, are
the judge (S2)."""

from random import Random

from domain.append.causes import LogShared, ReplicasImported
from domain.log.state import RecordedEvent
from domain.log.wire import Imported
from domain.replication.merge import canonical_position
from domain.replication.version_vectors import VersionVectors
from tests.support.services import START

REPLICAS = ("desk", "laptop", "phone", "stick")
Append = tuple[str, int]


def marker(**named: int) -> ReplicasImported:
    return ReplicasImported(tuple(Imported(name, n) for name, n in named.items()))


def row(replica: str, n: int, nth: int = 0) -> RecordedEvent:
    return RecordedEvent(f"task:t1@{replica}", 1, replica, n, nth, START, LogShared())


def test_a_replica_knows_its_own_rows_and_what_its_markers_before_name() -> None:
    horizons = VersionVectors()
    horizons.took("laptop", 6, marker(desk=5))
    assert horizons.until("laptop", 6) == {"laptop": 5}
    assert horizons.until("laptop", 7) == {"laptop": 6, "desk": 5}
    assert horizons.knows(row("laptop", 7), row("desk", 5))
    assert not horizons.knows(row("laptop", 7), row("desk", 6))
    assert not horizons.knows(row("laptop", 5), row("desk", 5))
    assert not horizons.knows(row("desk", 9), row("laptop", 1))
    assert horizons.knows(row("desk", 9), row("desk", 9, 1))


def test_who_knows_an_append_knows_what_its_writer_knew() -> None:
    horizons = VersionVectors()
    horizons.took("laptop", 6, marker(desk=5))
    horizons.took("phone", 8, marker(laptop=7))
    horizons.took("stick", 7, marker(laptop=4))
    assert horizons.until("phone", 9) == {"phone": 8, "laptop": 7, "desk": 5}
    assert horizons.until("stick", 8) == {"stick": 7, "laptop": 4}


def test_a_marker_that_is_told_again_or_names_less_takes_nothing_away() -> None:
    horizons = VersionVectors()
    horizons.took("laptop", 6, marker(desk=5))
    horizons.took("laptop", 6, marker(desk=5, phone=3))
    horizons.took("laptop", 9, marker(desk=4))
    assert horizons.until("laptop", 10) == {"laptop": 9, "desk": 5}


def test_sets_of_appends_come_to_the_same_and_no_row_stands_before_one_that_it_knows() -> None:
    chance = Random(70)
    for _ in range(40):
        horizons, known = VersionVectors(), {name: set[Append]() for name in REPLICAS}
        knew: dict[Append, set[Append]] = {}
        for _ in range(30):
            mine, other = chance.sample(REPLICAS, 2)
            own = max((n for name, n in known[mine] if name == mine), default=0)
            named: dict[str, int] = {}
            if chance.random() < 0.4:
                news = known[other] - known[mine]
                named = {name: max(n for whose, n in news if whose == name) for name, _ in news}
                known[mine] |= known[other]
            n = max(own, *named.values(), 0) + 1
            if named:
                horizons.took(mine, n, marker(**named))
            known[mine].add((mine, n))
            knew[mine, n] = set(known[mine])
        rows = sorted((row(*one) for one in knew), key=canonical_position)
        for a in rows:
            assert {b for b in knew if horizons.knows(a, row(*b))} == knew[a.replica, a.n]
        assert not any(horizons.knows(a, b) for nth, a in enumerate(rows) for b in rows[nth + 1 :])
