"""Whatever a person did, undoing all of it gives the tasks and the inbox back as they were."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.home.files import AGENT, JOURNAL
from tests.support.cli import done, proved, run, told
from tests.support.waking import inbox, proposing

pytestmark = pytest.mark.slow

SINK, WALL = "Fix the sink", "Paint the wall"
EDITS = (
    ["set", "{}", "--due", "2027-03-01", "--estimate", "2h"],
    ["set", "{}", "--due", "none", "--language", "de"],
    ["set", "{}", "--status", "BLOCKED", "--reason", "No parts"],
    ["set", "{}", "--priority", "P1", "--category", "Work"],
    ["set", "{}", "--description", "Two\n\nlines"],
    ["item", "add", "{}", "Seal", "Pipe"],
    ["check", "{}", "1", "2"],
    ["uncheck", "{}", "1"],
    ["item", "archive", "{}", "2"],
    ["item", "rename", "{}", "1", "Cut"],
    ["note", "{}", "Ann knows"],
    ["note", "{}", "Bob knows", "--edit", "1"],
    ["note", "{}", "--remove", "1"],
    ["link", "{}", "relates-to", "{other}"],
    ["delete", "{}"],
)
VERDICTS = ("confirm", "reject", "defer")
deeds = st.one_of(
    st.tuples(st.sampled_from(EDITS), st.booleans()),
    st.tuples(st.sampled_from(VERDICTS), st.integers(1, 4)),
    st.tuples(st.just("all"), st.sampled_from(VERDICTS)),
)


@pytest.fixture(scope="module")
def prepared() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        done(["label", "add", "urgent"], home)
        done(["category", "add", "Work"], home)
        proposing(home, SINK, WALL)
        for title in (SINK, WALL):
            done(["task", "item", "add", title, "Saw", "Drill"], home)
        yield home


def lines_of(deed: Any) -> list[str]:
    match deed:
        case ("all", verb):
            return [verb, "1", "--all"]
        case (str() as verb, int() as number):
            return [verb, f"1.{number}"]
        case _:
            line, is_sink = deed
            one, other = (SINK, WALL) if is_sink else (WALL, SINK)
            return ["task", *(part.format(one, other=other) for part in line)]


def tasks(home: Path) -> list[Any]:
    """What tasks say, but for what only grows and what was put away."""
    found = []
    for one in told(["task", "list", "--all"], home):
        page = told(["task", "show", one["id"]], home)
        names = {"history", "updated_at", "checklists", "notes", "items", "labels", "agents"}
        kept = {name: value for name, value in page.items() if name not in names}
        items = [(one["title"], one["checked"]) for one in page["items"] if not one["archived"]]
        notes = sorted(one["text"] for one in page["notes"])
        found.append({**kept, "items": items, "notes": notes, "labels": sorted(page["labels"])})
    return found


def newest(home: Path) -> str:
    """The newest deed that is not undone."""
    deeds = told(["undo", "--list"], home)["deeds"]
    return str(next(one["ref"] for one in deeds if one["state"] != "undone"))


def asked(home: Path) -> dict[str, Any]:
    """What waits for the person, but for the error of a confirm that was tried and failed."""
    found = {one["ref"]: one for one in inbox(home)}
    return {ref: {**one, "error": None} for ref, one in found.items()}


def rows(home: Path) -> list[set[Any]]:
    found = []
    for name in (JOURNAL, AGENT):
        with closing(sqlite3.connect(home / name)) as log:
            found.append(set(log.execute("SELECT * FROM stored_events")))
    return found


@settings(max_examples=4, deadline=None)
@given(st.lists(deeds, min_size=1, max_size=6))
def test_all_deeds_undone_leave_tasks_and_inbox_as_before(prepared: Path, wanted: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(prepared, home)
        before, open_before = tasks(home), asked(home)
        first = newest(home)
        confirmed: set[str] = set()
        for deed in wanted:
            run(["--json", *lines_of(deed)], home)  # some are refused
            every = [item for one in told(["inbox", "--all"], home) for item in one["items"]]
            confirmed |= {one["ref"] for one in every if one["status"] == "confirmed"}
        count, logs = 0, rows(home)
        while newest(home) != first:
            done(["undo"], home)
            count += 1
            assert count <= len(wanted), wanted
        assert tasks(home) == before, wanted
        after = asked(home)
        for ref, item in open_before.items():
            assert ref in confirmed or after[ref] == item, wanted
        for had, has in zip(logs, rows(home), strict=True):
            assert had <= has
        proved(home)
