"""The rules of the storage format, over every stored type (DESIGN 4, "Bytes"), and of folds."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from adapters.proof import histories
from domain.append.causes import Receipt
from domain.append.envelope import STREAM_TYPES
from domain.log.rules import RULES
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import UPCASTERS, Part, Stored, Words, payload, tag_of, upcast, words
from replay.appends import appends
from tests.histories.scenes import FOLDER
from tests.support.services import START
from tests.support.stored import part_types, sample, stored_types

ALL: list[type[Struct]] = [*stored_types(), *part_types()]
DEFAULTS = (None, False, 0, "", ())


def _names(structs: list[type[Struct]]) -> list[str]:
    return [one.__name__ for one in structs]


@pytest.mark.parametrize("struct", ALL, ids=_names(ALL))
def test_a_stored_type_is_frozen_and_forbids_unknown_fields(struct: type[Struct]) -> None:
    config = struct.__struct_config__
    assert config.frozen
    assert config.omit_defaults
    assert config.forbid_unknown_fields
    assert issubclass(struct, Part)


@pytest.mark.parametrize("struct", ALL, ids=_names(ALL))
def test_defaults_are_those_that_are_reliably_omitted(struct: type[Struct]) -> None:
    seen_default = False
    for field in msgspec.structs.fields(struct):
        assert field.default_factory is msgspec.NODEFAULT, field.name
        if field.default is msgspec.NODEFAULT:
            assert not seen_default, f"{field.name} is required after an optional field"
            continue
        seen_default = True
        assert field.default in DEFAULTS, field.name


@pytest.mark.parametrize("struct", ALL, ids=_names(ALL))
def test_names_on_the_wire_are_camel_case_and_never_kind(struct: type[Struct]) -> None:
    for field in msgspec.structs.fields(struct):
        assert field.encode_name != "kind"
        assert "_" not in field.encode_name
        assert field.encode_name[0].islower()


@pytest.mark.parametrize("struct", stored_types(), ids=_names([*stored_types()]))
def test_a_tag_is_words_and_a_version(struct: type[Stored]) -> None:
    tag = str(struct.__struct_config__.tag)
    *names, version = tag.split(".")
    assert names
    assert int(version) >= 1
    assert all(name.replace("_", "").isalpha() and name.islower() for name in names)


def test_no_two_facts_share_a_tag() -> None:
    tags = [str(one.__struct_config__.tag) for one in stored_types()]
    assert len(tags) == len(set(tags)) == len({one.__name__ for one in stored_types()})


@pytest.mark.parametrize("struct", ALL, ids=_names(ALL))
@pytest.mark.parametrize("is_full", [True, False], ids=["full", "least"])
def test_a_stored_value_keeps_its_bytes(struct: type[Struct], is_full: bool) -> None:
    value = sample(struct, is_full=is_full)
    data = msgspec.json.encode(value)
    decoded = msgspec.json.decode(data, type=struct)
    assert decoded == value
    assert msgspec.json.encode(decoded) == data


def test_old_rows_keep_their_bytes_after_a_field_is_added() -> None:
    class Old(Stored, frozen=True, tag="test.thing.1"):
        name: str
        size: int = 0

    class New(Stored, frozen=True, tag="test.thing.1"):
        name: str
        size: int = 0
        colour: str = ""

    for old in (Old("a"), Old("b", 3)):
        data = msgspec.json.encode(old)
        assert msgspec.json.encode(msgspec.json.decode(data, type=New)) == data


def test_a_retired_fact_is_seen_by_folds_as_the_one_that_means_the_same() -> None:
    class Retired(Stored, frozen=True, tag="test.retired.1"):
        minutes: int

    class Today(Stored, frozen=True, tag="test.retired.2"):
        seconds: int

    UPCASTERS[Retired] = lambda old: Today(old.minutes * 60)
    try:
        assert upcast(Retired(2)) == Today(120)
        assert upcast(Today(5)) == Today(5)
    finally:
        del UPCASTERS[Retired]


def test_a_long_text_stands_in_a_payload_of_its_unit() -> None:
    short, none = words("unit-1", "ä" * 512)
    assert (short, none) == (Words("ä" * 512), ())
    long, (kept,) = words("unit-1", "ä" * 513)
    assert long == Words(payload=kept.id)
    assert kept.data.decode() == "ä" * 513
    assert kept.id != payload("unit-2", kept.data).id


def test_a_receipt_names_its_tag() -> None:
    value: Any = sample(Receipt, is_full=False)
    assert tag_of(value) == "receipt.1"
    assert RULES == 1


# --------------------------- a fold passes over what it does not know, and takes facts out of order

NAMES = ("every_edit", "verdicts", "links", "timers_fire", "template_versions", "lives")


class Later(Stored, frozen=True, tag="later.9"):
    """A fact that no fold has heard of."""


@pytest.mark.parametrize("kind", STREAM_TYPES.values(), ids=list(STREAM_TYPES))
def test_a_fact_of_another_kind_changes_nothing(kind: StreamType[Any]) -> None:
    before = kind.initial("x")
    assert kind.evolve(before, RecordedEvent("x:x@r1", 1, "r1", 1, 0, START, Later())) == before


@pytest.mark.parametrize("name", NAMES)
def test_every_fact_folds_onto_nothing_and_twice(name: str) -> None:
    """Another replica's rows may come without those that they rest on, and twice."""
    for rows in histories.read_history(FOLDER / f"{name}.jsonl").rows.values():
        for row in (row for one in appends(rows) for row in one.facts):
            if kind := STREAM_TYPES.get(row.of_kind):
                once = kind.evolve(kind.initial(row.entity), row)
                assert msgspec.json.encode(kind.evolve(once, row))
