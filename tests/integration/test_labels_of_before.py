"""Labels that imports of 0.2.0 made everyone's belong to the categories of their tasks."""

from pathlib import Path
from typing import Any

import pytest

from adapters.wiring import open_home
from domain.journal import commands as do
from domain.journal.imported import ImportedTask
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import payload
from tests.support.cli import FIXED, done, proved, run, told

FILED = (
    ImportedTask(key("task", "a"), "Book the test", category="Health", labels=("hiv-test", "soon")),
    ImportedTask(key("task", "b"), "Write the report", category="Work", labels=("soon",)),
    ImportedTask(key("task", "c"), "Weed", category="Garden"),
)
SCOPES = {"hiv-test": ["Health"], "mine": [], "soon": ["Health", "Work"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home into which 0.2.0 imported a file."""
    made = tmp_path / "home"
    with open_home(made, FIXED, is_writing=True) as home:
        kept = [payload(one.task_id, canonical.encode(one)) for one in FILED]
        pairs = zip(FILED, kept, strict=True)
        refs = tuple(do.ImportedRef(one.task_id, document.id) for one, document in pairs)
        home.services.append_journal(do.ImportTasks("a.md", refs), payloads=kept)
        home.services.append_journal(do.AddLabel("mine"))
    return made


def scopes(home: Path) -> dict[str, list[str]]:
    listed: list[Any] = told(["label", "list"], home)
    return {one["name"]: sorted(one["categories"]) for one in listed}


def test_the_first_command_that_writes_says_where_they_belong_and_no_later_one(home: Path) -> None:
    assert scopes(home) == {name: [] for name in SCOPES}
    first = run(["task", "note", "Weed", "Roses"], home)
    assert "only in the categories of their tasks now: #hiv-test, #soon; " in first.stderr
    assert scopes(home) == SCOPES
    assert "categories" not in run(["task", "note", "Weed", "Lilies"], home).stderr
    assert "note" in done(["undo"], home), "it is no deed of the person's"
    assert scopes(home) == SCOPES
    proved(home)


def test_who_widens_one_is_not_asked_again(home: Path) -> None:
    assert told(["label", "widen", "#HIV-test"], home)["name"] == "hiv-test"
    assert scopes(home) == {**SCOPES, "hiv-test": []}
    (home / "views.db").unlink()
    assert run(["task", "note", "Weed", "Roses"], home).stderr == ""
    assert scopes(home) == {**SCOPES, "hiv-test": []}
    assert "Nothing to change: label #hiv-test" in done(["label", "widen", "hiv-test"], home)
