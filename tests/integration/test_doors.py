"""Each row of the table of use cases that has an example, through both doors."""

import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

import wakelog
from tests.support.cli import FIXED, done, run, told
from tests.support.doors import GIVES, USE_CASES, UseCase, call, command_line, parameters
from tests.support.homes import Homes
from tests.support.waking import sink

pytestmark = pytest.mark.slow  # each of them is quick, all together are not

LIST = "- [ ] Mow ~30m\n- [ ] Sweep\n"
EXAMPLES = [one for one in USE_CASES if one.example is not None]


def furnished(home: Path) -> None:
    """A home that has something of all that an example names."""
    done(["category", "add", "House"], home)
    sink(home)
    done(["edit", "Fix the sink", "--category", "House", "--label", "tools"], home)
    done(["task", "item", "add", "Fix the sink", "Buy a seal"], home)
    done(["task", "item", "add", "Fix the sink", "Close the tap"], home)
    done(["task", "time", "Fix the sink", "--start", "06:00", "--end", "07:00"], home)
    done(["add", "Paint the door", "--category", "House"], home)
    done(["template", "create", "Calm", "--general", "Be calm."], home)
    done(["day", "put", "Fix the sink", "9-11", "--on", "2027-01-04"], home)
    done(["agent", "create", "Fix the sink"], home)
    done(["wake"], home)
    (home / "TODO.md").write_text(LIST, encoding="utf-8")
    (home / "TODO2").mkdir()
    (home / "TODO2" / "TODO.md").write_text(LIST.replace("30m", "45m"), encoding="utf-8")


def there(value: Any, home: Path) -> Any:
    """A value of an example in one home: its folder, its newest wake, what its agent hears of."""
    if isinstance(value, str):
        if "{run}" in value:
            value = value.replace("{run}", told(["wakes"], home)[0]["run_key"])
        if "{heard}" in value:
            agent = told(["agent", "show", "Fix the sink"], home)
            value = value.replace("{heard}", agent["subscriptions"][-1]["id"])
        return value.replace("{home}", str(home))
    return [there(one, home) for one in value] if isinstance(value, list) else value


def prepared(row: UseCase, homes: Homes, folder: Path) -> tuple[Path, Mapping[str, Any]]:
    """A home of its own, and the example as it is there."""
    home = folder / "home"
    folder.mkdir()
    homes.copy(furnished, home)
    (folder / "met").mkdir()
    for command in filter(None, row.before.split(";")):
        done([there(one, home) for one in command.split("|")], home)
    return home, {name: there(value, home) for name, value in (row.example or {}).items()}


def rows(home: Path) -> list[tuple[object, ...]]:
    """All rows and payloads of both logs, byte for byte."""
    found: list[tuple[object, ...]] = []
    for name in ("journal.db", "agent.db"):
        with closing(sqlite3.connect(home / name)) as log:
            for table, order in (("stored_events", "rowid"), ("payloads", "id")):
                found += log.execute(f"SELECT * FROM {table} ORDER BY {order}")
    return found


def by_command(row: UseCase, home: Path, values: Mapping[str, Any]) -> Any:
    result = run(["--json", *command_line(row, values)], home)
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


def by_program(row: UseCase, home: Path, values: Mapping[str, Any]) -> Any:
    with wakelog.open_home(home, environ={**os.environ, **FIXED}) as door:
        return json.loads(msgspec.json.encode(call(door, row, values)))


def same(document: Any, home: Path) -> str:
    """A document without what is another in each folder."""
    return json.dumps(document, indent=1).replace(str(home.parent), "")


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: row.name)
def test_both_doors_write_the_same_rows_and_say_the_same(
    row: UseCase, homes: Homes, tmp_path: Path
) -> None:
    line, typed = prepared(row, homes, tmp_path / "line")
    api, given = prepared(row, homes, tmp_path / "api")
    assert rows(api) == rows(line)
    printed, found = by_command(row, line, typed), by_program(row, api, given)
    assert rows(api) == rows(line)
    if row.name not in GIVES:
        assert same(found, api) == same(printed, line)


GONE = ("delete_agent", "delete_template", "remove_note")
"""What they take away cannot be named so again, by either door."""
KEYED = [one for one in EXAMPLES if "key" in parameters(one.name) and one.name not in GONE]


@pytest.mark.parametrize("row", KEYED, ids=lambda row: row.name)
def test_a_retry_under_one_key_is_known_by_either_door(
    row: UseCase, homes: Homes, tmp_path: Path
) -> None:
    line, typed = prepared(row, homes, tmp_path / "line")
    api, given = prepared(row, homes, tmp_path / "api")
    by_command(row, line, {**typed, "key": "k"})
    by_program(row, api, {**given, "key": "k"})
    assert rows(api) == (was := rows(line))
    by_command(row, api, {**given, "key": "k"})
    by_program(row, line, {**typed, "key": "k"})
    assert (rows(api), rows(line)) == (was, was)
