"""The schema is a contract: the page that describes it, and the file, say the same."""

import re

import duckdb
import pytest
from syrupy.assertion import SnapshotAssertion

from adapters.analytics_rows import SCHEMA_VERSION, create, documentation
from tests.support.analysed import VIEWS

COLUMN = re.compile(r"\| ([a-z_0-9]+) \| ([A-Z\[\]]+) \| (.+) \|")
MACRO = re.compile(r"\| `([a-z_]+)\(")


@pytest.fixture(scope="module")
def schema() -> dict[str, list[tuple[str, str]]]:
    """Columns and types of every table and view."""
    with duckdb.connect() as connection:
        create(connection)
        found = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
        return {
            name: [row[:2] for row in connection.execute(f"DESCRIBE {name}").fetchall()]
            for (name,) in sorted(found)
        }


def described() -> dict[str, list[tuple[str, str, str]]]:
    """Name, type and meaning of every column, as the page has them."""
    parts = re.split(r"^### ", documentation(), flags=re.MULTILINE)[1:]
    return {
        part.split("\n", 1)[0]: [
            found.groups()  # type: ignore[misc]  # three groups
            for found in map(COLUMN.fullmatch, part.splitlines())
            if found and found[1] != "column"
        ]
        for part in parts
    }


def test_the_page_describes_every_column_and_no_other(
    schema: dict[str, list[tuple[str, str]]],
) -> None:
    page = described()
    assert {name: [one[:2] for one in columns] for name, columns in page.items()} == schema
    assert all(meaning.strip() for columns in page.values() for *_, meaning in columns)


def test_the_page_describes_every_macro() -> None:
    with duckdb.connect() as connection:
        create(connection)
        found = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal"
        ).fetchall()
    assert set(MACRO.findall(documentation())) == {name for (name,) in found}


def test_every_view_is_a_standing_question(schema: dict[str, list[tuple[str, str]]]) -> None:
    assert set(VIEWS) < set(schema)


def test_the_schema_is_what_it_was(
    schema: dict[str, list[tuple[str, str]]], snapshot: SnapshotAssertion
) -> None:
    """If this is red, queries that people have kept may break: add columns and views only, or
    raise SCHEMA_VERSION and say so in the change log."""
    lines = [f"schema {SCHEMA_VERSION}"]
    for name, columns in schema.items():
        lines.append(f"{name}: " + ", ".join(f"{column} {kind}" for column, kind in columns))
    assert "\n".join(lines) == snapshot
