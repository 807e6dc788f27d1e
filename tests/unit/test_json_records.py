"""A broken object of a JSON file does not take the others along."""

import pytest

from adapters.importers.json_records import FAILURES_MAX, Record, records
from domain.journal.imported import Unreadable


def found(text: str) -> tuple[list[object], list[tuple[int, str]]]:
    """The objects' `n`, and the reports."""
    problems: list[Unreadable] = []
    numbers = [record.values.get("n") for record in records(text, problems)]
    return numbers, [(one.line, one.reason) for one in problems]


def one_record(text: str) -> Record:
    (record,) = records(text, [])
    return record


@pytest.mark.parametrize(
    "text",
    [
        '[{"n": 1}, {"n": 2}]',
        '[\n{"n": 1},\n{"n": 2}\n]\n',
        '{"n": 1}\n{"n": 2}',
        '{"n": 1},\n{"n": 2}',
        '[{"n": 1}][{"n": 2}]',
        '[[{"n": 1}], [{"n": 2}]]',
        '[\n  {\n    "n": 1\n  },\n  {\n    "n": 2\n  }\n]',
    ],
)
def test_the_shapes_that_clients_write(text: str) -> None:
    assert found(text) == ([1, 2], [])


@pytest.mark.parametrize("text", ["", "\n", "[]", "[\n]\n", "[[], []]"])
def test_nothing_is_nothing(text: str) -> None:
    assert found(text) == ([], [])


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"n": }', "this is not JSON (Expecting value)"),
        ('{"n": 7', "this is not JSON (Expecting property name"),
        ('{"a": "open', "this is not JSON"),
        ('{"n": 7, "n": 8}', "the object has the key 'n' twice"),
        ('{"a": {"b": 1, "b": 1}}', "the object has the key 'b' twice"),
        ("17", "this is no object: 17"),
        ('"text"', "this is no object: 'text'"),
        ("null", "this is no object: null"),
        ('{"a": ' + "[" * 5000, "this is nested too deeply to read"),
        ('{"a": ' + '{"a":' * 5000, "this is nested too deeply to read"),
    ],
)
@pytest.mark.parametrize("indent", ["", "  ", "\t"])
def test_a_broken_object_is_named_and_the_others_are_read(
    broken: str, reason: str, indent: str
) -> None:
    numbers, reports = found(
        f'[\n{indent}{{"n": 1}},\n{indent}{broken},\n{indent}{{"n": 2}},\n{indent}{{"n": 3}}\n]'
    )
    assert numbers == [1, 2, 3]
    assert [line for line, _ in reports[:1]] == [3]
    assert reports[0][1].startswith(reason)


def test_a_pretty_printed_object_that_is_broken_ends_at_the_next_one() -> None:
    text = '[\n  {\n    "a": {\n      "n" 5\n    }\n  },\n  {\n    "n": 2\n  }\n]'
    assert found(text) == (
        [2],
        [(2, "this is not JSON (Expecting ':' delimiter); it was left out")],
    )


def test_an_object_within_a_broken_one_is_not_taken_for_the_next_one() -> None:
    text = '[\n  {\n    "a" [\n      {\n        "n": 9\n      }\n    ]\n  },\n  {"n": 2}\n]'
    assert found(text)[0] == [2]


@pytest.mark.parametrize("end", ['{"n": 2, "a": "op', '{"n": 2', "{", '{"n": 2,', '{"n": tru'])
def test_a_truncated_file_keeps_what_was_whole(end: str) -> None:
    numbers, reports = found(f'[\n{{"n": 1}},\n{end}')
    assert numbers == [1]
    assert [line for line, _ in reports] == [3]
    assert "the file was not read from here on" in reports[0][1]


def test_a_file_cut_off_between_two_objects_is_noticed() -> None:
    assert found('[{"n": 1},\n') == ([1], [(1, "the file ends too soon; export it again")])


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 30, "-" + "9" * 5000]
)
def test_a_number_out_of_range_is_left_out_and_named(number: str) -> None:
    numbers, reports = found(f'[{{"n": {number}, "a": [{number}]}}, {{"n": 2}}]')
    assert numbers == [None, 2]
    assert [line for line, _ in reports] == [1]
    assert "is out of range; it was left out" in reports[0][1]


@pytest.mark.parametrize("part", ["1,", '{"a": 1, "a": 1}\n', "{]\n", '{"a":\n', "nope\n{"])
def test_a_hopeless_file_is_given_up_in_time(part: str) -> None:
    _, reports = found("[" + part * 100_000)
    assert 1 <= len(reports) <= FAILURES_MAX + 2
    assert "rest was not read" in reports[-1][1] or "from here on" in reports[-1][1]


def test_values_of_the_wrong_type_are_named_and_read_as_absent() -> None:
    problems: list[Unreadable] = []
    text = '{"a": 1, "b": "x", "c": {"d": []}, "e": [1, "y", {"name": "z"}, null], "f": true}'
    (record,) = records(text, problems)
    assert (record.text("a"), record.number("b"), record.number("f")) == ("", 0, 0)
    assert (record.inner("b").values, record.inners("b"), record.titles("c")) == ({}, [], [])
    assert record.titles("e", within="name") == ["y", "z"]
    assert record.time("b") is None
    assert [one.line for one in problems] == [1] * 8
    assert problems[0].reason == "`a` is no text: 1; it was left out"


def test_text_is_cleaned() -> None:
    record = one_record('{"a": "x\\ud800\\u0000\\r\\ny", "id": 12, "name": "n"}')
    assert record.text("a") == "x\ufffd\ufffd\ny"
    assert (record.identity("id"), record.identity("name")) == ("12", "n")
