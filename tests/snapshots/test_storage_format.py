"""The wire format of every stored type. If one of these is red, old logs may no longer load:
add a tag or an optional last field, do not update the snapshot of what was released."""

import msgspec
from syrupy.assertion import SnapshotAssertion

from tests.support.stored import part_types, sample, stored_types


def test_every_stored_type_as_it_stands_in_a_log(snapshot: SnapshotAssertion) -> None:
    lines = [
        msgspec.json.encode(sample(struct, is_full=is_full)).decode()
        for struct in stored_types()
        for is_full in (False, True)
    ]
    assert "\n".join(lines) == snapshot


def test_every_part_of_a_stored_type(snapshot: SnapshotAssertion) -> None:
    lines = []
    for struct in part_types():
        value = sample(struct, is_full=True)
        lines.append(f"{struct.__name__} {msgspec.json.encode(value).decode()}")
    assert "\n".join(lines) == snapshot
