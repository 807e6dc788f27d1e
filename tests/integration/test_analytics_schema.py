"""The schema is a contract: the page that describes it, and the file, say the same."""

import re
from typing import get_args

import duckdb
import pytest
from syrupy.assertion import SnapshotAssertion

from adapters.analytics.rows import SCHEMA_VERSION, create, documentation
from domain.append.envelope import Fact
from tests.support.analysed import VIEWS

COLUMN = re.compile(r"\| ([a-z_0-9]+) \| ([A-Z\[\]]+) \| ([^|]+)(?: \| ([^|]+))? \|")
SOURCES = re.compile(r" From: (.+)\.$", re.MULTILINE)
NAMED = re.compile(r"(?<![\w.])([a-z]+)?\.([a-z_]+)(?![\w*(])")  # `wake.started, .finished`
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


def described() -> dict[str, list[tuple[str, str, str, str | None]]]:
    """Name, type, meaning and source of every column, as the page has them; None: its table's."""
    parts = re.split(r"^### ", documentation(), flags=re.MULTILINE)[1:]
    return {
        part.split("\n", 1)[0]: [
            found.groups()  # type: ignore[misc]  # four groups
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
    assert all(one[2].strip() for columns in page.values() for one in columns)


def test_the_source_of_every_column_is_told_and_there_is_such_a_fact() -> None:
    tables = documentation().partition("\n## Views")[0].split("\n### ")[1:]
    sources = {table.split("\n", 1)[0]: SOURCES.findall(table) for table in tables}
    assert [name for name, found in sources.items() if not found] == []
    told = [*sources.values(), [one[3] or "" for table in described().values() for one in table]]
    facts = {fact.__struct_config__.tag.rpartition(".")[0] for fact in get_args(Fact)}
    for source in (one for found in told for one in found):
        kind = ""
        for named, what in NAMED.findall(source.replace("settings.toml", "")):
            kind = named or kind
            assert f"{kind}.{what}" in facts, source


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
