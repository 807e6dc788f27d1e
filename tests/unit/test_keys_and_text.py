"""Keys, canonical JSON, folding and times: what every id and digest stands on."""

import base64
import hashlib
import json
import unicodedata
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis.strategies import binary, datetimes, integers, lists, text, tuples

from domain.errors import REFUSAL_CODES, TOOL_CODES, Refused
from domain.log import canonical, timestamps
from domain.log.keys import KEY_LENGTH, chain, key, payload_id, sha
from domain.text import cut, fold, squeeze


def test_keys_are_frozen() -> None:
    """If this is red, ids of old logs would be made differently: nothing may change here."""
    assert key("agent", "task_agent", "t", "1") == "7prpmdtjnowjboncagwqn5vd5c6iwjde"
    assert len(key("x")) == KEY_LENGTH
    assert set(key("x")) <= set("abcdefghijklmnopqrstuvwxyz234567")


def test_a_payload_belongs_to_its_unit() -> None:
    assert payload_id("t1", b"x") != payload_id("t2", b"x")


@given(rows=lists(tuples(text(), integers(1), binary().map(sha))))
def test_a_chain_digest_is_the_key_of_its_rows(rows: list[tuple[str, int, str]]) -> None:
    parts = [part for name, version, digest in rows for part in (name, str(version), digest)]
    assert chain(rows) == key("append", *parts)


@given(parts=lists(text() | binary()))
def test_a_key_is_base32_of_the_first_bits_of_a_digest(parts: list[str | bytes]) -> None:
    encoded = [part.encode() if isinstance(part, str) else part for part in ("what", *parts)]
    framed = b"".join(b"%d:%b" % (len(part), part) for part in encoded)
    expected = base64.b32encode(hashlib.sha256(framed).digest()[:20]).decode().lower()
    assert key("what", *parts) == expected


@pytest.mark.parametrize(
    ("data", "because"),
    [
        ("{", "this is not JSON"),
        ('{"a":1,"a":2}', "the key 'a' twice"),
        ('{"x":{"b":1,"b":1}}', "the key 'b' twice"),
        ("[NaN]", "the number NaN"),
        ("[-Infinity]", "the number -Infinity"),
        ("[1e999]", "the number inf"),
        (f"[{10**30}]", "31 digits"),
        ("[" * 66 + "]" * 66, "nested deeper than 64"),
        ("[" * 100_000, "nested deeper than 64"),
        ("", "this is not JSON"),
    ],
)
def test_json_from_outside_is_refused_where_it_could_not_be_kept(data: str, because: str) -> None:
    with pytest.raises(Refused, match=because) as refused:
        canonical.read(data)
    assert refused.value.code == "invalid_input"


def test_json_from_outside_is_made_safe_to_store() -> None:
    assert canonical.read(r'["\ud800x", -0.0, 1.5, "\ud83d\ude00"]') == ["�x", 0.0, 1.5, "😀"]
    assert canonical.text(canonical.read("[-0.0]")) == "[0.0]"
    assert canonical.read(b'"\xff"') == "�"


def test_canonical_json_does_not_depend_on_order_or_spacing() -> None:
    value = {"b": {"d": 1, "c": [True, None]}, "a": "ü"}
    assert canonical.text(value) == '{"a":"ü","b":{"c":[true,null],"d":1}}'
    assert canonical.text(canonical.read(json.dumps(value, indent=3))) == canonical.text(value)


def test_floats_have_one_spelling() -> None:
    values = [0.1, 1e22, 1e-7, 123456789.123, 5e-324, 1.7976931348623157e308]
    assert canonical.text(values) == ("[0.1,1e22,1e-7,123456789.123,5e-324,1.7976931348623157e308]")
    assert msgspec.json.decode(canonical.encode(values)) == values


def test_folding_ascii_is_as_the_table_says() -> None:
    letters = "".join(chr(code) for code in range(33, 127))
    assert fold(letters) == fold(letters + "ß").removesuffix("ss")


def test_folding_is_full_case_folding_of_unicode_14() -> None:
    assert fold("  STRASSE  ") == fold("straße")
    assert fold("ÀÉÎÕÜ") == "àéîõü"
    assert fold("ΣΑΣ") == fold("σας")
    assert fold("a\u00a0\u2003b") == "a b"


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the table is of Unicode 14")
def test_the_table_agrees_with_the_character_database_it_was_made_from() -> None:
    letters = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert [one for one in letters if one.strip() and fold(one) != one.casefold()] == []


@pytest.mark.parametrize(
    ("text", "length_max", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 9, "one two…"),
        ("one two three", 8, "one two…"),
        ("unbreakable", 5, "unbr…"),
        ("", 3, ""),
    ],
)
def test_a_text_is_cut_at_a_word(text: str, length_max: int, expected: str) -> None:
    assert cut(text, length_max=length_max) == expected


def test_squeezing_takes_all_kinds_of_space() -> None:
    assert squeeze("\t a \r\n b\u3000") == "a b"
    assert squeeze(" \n ") == ""


def test_times_are_text_in_the_order_of_time() -> None:
    start = "2027-01-01T00:00:00.000000Z"
    assert timestamps.moment(timestamps.instant(start)) == start
    assert timestamps.later(start, seconds=-1) == "2026-12-31T23:59:59.000000Z" < start
    assert timestamps.seconds_between(start, timestamps.later(start, seconds=90)) == 90
    assert timestamps.seconds_between(timestamps.later(start, seconds=1), start) == -1


@given(when=datetimes())
def test_a_stored_time_is_read_as_the_format_says(when: datetime) -> None:
    stored = timestamps.moment(when.replace(tzinfo=UTC))
    assert timestamps.instant(stored) == when.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("2027-1-2T3:4:5.6Z", "2027-01-02T03:04:05.600000Z"),
        ("2027-01-02t03:04:05.000000z", "2027-01-02T03:04:05.000000Z"),
        ("2027-01-02T03:04:05.1234Z", "2027-01-02T03:04:05.123400Z"),
    ],
)
def test_a_time_with_fewer_digits_is_read_too(text: str, stored: str) -> None:
    assert timestamps.moment(timestamps.instant(text)) == stored


@pytest.mark.parametrize(
    "text",
    [
        "2027-01-02T24:00:00.000000Z",
        "2027-02-30T00:00:00.000000Z",
        "2027-01-02 00:00:00.000000Z",
        "2027-01-02T00:00:00,000000Z",
        "2027-W01-1T00:00:00.000000Z",
        "20270102T000000.0000000000Z",
        "2027-01-02T00:00:00.000000+00:00",
        "2027-01-02T00:00:00.000000Z\n",
        "2027-01-02T00:00:60.000000Z",
        "2027-01-02T00:00:00Z",
    ],
)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        timestamps.instant(text)


@pytest.mark.parametrize("text", ["2027-02-30", "2027-2-3", "20270203", "2027-W01-1", "", "x"])
def test_only_a_real_date_is_a_date(text: str) -> None:
    assert not timestamps.is_date(text)
    assert timestamps.is_date("2028-02-29")


def test_no_code_stands_twice() -> None:
    assert len(set(REFUSAL_CODES)) == len(REFUSAL_CODES)
    assert len(set(TOOL_CODES)) == len(TOOL_CODES)
