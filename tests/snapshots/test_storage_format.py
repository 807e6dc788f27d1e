"""The wire format of every stored type, one snapshot each. A new type has none yet; one that is
there and red means that old logs may no longer load."""

from pathlib import Path

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from domain.log.wire import Part, Stored, tag_of
from tests.support.stored import part_types, sample, stored_types

SAMPLES = {tag_of(sample(one, is_full=False)): one for one in stored_types()}
PARTS = {one.__name__: one for one in part_types()}


def _told(test: str, name: str) -> str:
    """What to do about a snapshot that is missing, or is another one."""
    return (
        f"{name} is not stored as its snapshot says. Is it new, and has none? Write that one: "
        f'`pytest "tests/snapshots/{Path(__file__).name}::{test}[{name}]" --snapshot-update`. '
        "Was it there? Old logs may no longer load: add a tag or an optional last field, do not "
        "update what was released"
    )


@pytest.mark.parametrize("tag", SAMPLES)
def test_a_stored_type_stands_in_a_log(tag: str, snapshot: SnapshotAssertion) -> None:
    struct: type[Stored] = SAMPLES[tag]
    lines = [msgspec.json.encode(sample(struct, is_full=full)).decode() for full in (False, True)]
    assert "\n".join(lines) == snapshot, _told("test_a_stored_type_stands_in_a_log", tag)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_stored_types_is_written(name: str, snapshot: SnapshotAssertion) -> None:
    part: type[Part] = PARTS[name]
    line = msgspec.json.encode(sample(part, is_full=True)).decode()
    assert line == snapshot, _told("test_a_part_of_stored_types_is_written", name)
