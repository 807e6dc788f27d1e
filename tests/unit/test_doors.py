"""The command line and a program do the same: what one has and the other lacks is named here."""

from typing import get_type_hints

import duckdb
import pytest

import wakelog
from adapters.documents.schemas import DOCUMENTS
from tests.support.doors import (
    GIVES,
    NEEDED_BY_NONE,
    OF_THE_MACHINE,
    USE_CASES,
    UseCase,
    is_of_machine,
    leaves,
    parameters,
)

COMMANDED = [one for one in USE_CASES if one.command]
WORDS = sorted({one.command for one in COMMANDED})
named = pytest.mark.parametrize("row", USE_CASES, ids=lambda row: row.name)


def hints(row: UseCase) -> dict[str, object]:
    return get_type_hints(getattr(wakelog.Home, row.name), {"duckdb": duckdb})


def test_each_command_of_a_home_is_a_method() -> None:
    assert {one for one in leaves() if not is_of_machine(one)} == {*WORDS}


def test_what_is_of_the_machine_is_a_command_and_no_method() -> None:
    for name in OF_THE_MACHINE:
        assert any(one == name or one.startswith(f"{name} ") for one in leaves()), name
    assert not [one for one in WORDS if is_of_machine(one)]


def test_each_method_stands_in_one_row() -> None:
    methods = {one for one in dir(wakelog.Home) if not one.startswith("_")}
    assert sorted(one.name for one in USE_CASES) == sorted(methods)
    assert all(bool(one.command) != bool(one.only) for one in USE_CASES)


@pytest.mark.parametrize("words", WORDS)
def test_each_option_is_a_parameter(words: str) -> None:
    rows = [one for one in COMMANDED if one.command == words]
    for param in leaves()[words].params:
        if {"--json", "--yes"} & {*param.opts}:
            continue
        name = str(param.name)
        meant = [row.named.get(name, name) for row in rows]
        has = [
            one.rstrip("_") in parameters(row.name) for one, row in zip(meant, rows, strict=True)
        ]
        others = [one for one in meant if one.endswith("()")]
        assert any(has) or others or name in NEEDED_BY_NONE, f"{words}: {name}"
        assert {one[:-2] for one in others} <= {one.name for one in USE_CASES}


def test_what_no_parameter_stands_for_has_its_reason() -> None:
    told = {name for row in USE_CASES for name, to in row.named.items() if to == "-"}
    assert told == NEEDED_BY_NONE.keys()


def test_what_is_called_otherwise_is_an_option_and_a_parameter() -> None:
    for row in COMMANDED:
        options = {one.name for one in leaves()[row.command].params}
        assert row.named.keys() <= options, row.name
        to = {one.rstrip("_") for one in row.named.values() if one[-1:] not in ("-", ")")}
        assert to <= parameters(row.name).keys(), row.name


@named
def test_a_method_gives_the_document_that_its_command_prints(row: UseCase) -> None:
    if row.command and row.name not in GIVES:
        assert hints(row)["return"] == DOCUMENTS[row.document].shape
    else:
        assert not row.document
        assert row.only or hints(row)["return"] == GIVES[row.name]


def test_each_deed_with_a_key_has_an_example() -> None:
    assert [one.name for one in USE_CASES if "key" in hints(one) and one.example is None] == []


@named
def test_what_a_retry_makes_safe_there_is_safe_here(row: UseCase) -> None:
    """A method takes a key where its command does, and none where it takes none."""
    params = leaves()[row.command].params if row.command else ()
    is_keyed = "key" in {one.name for one in params} and row.named.get("key") != "-"
    assert ("key" in hints(row)) == is_keyed
