"""The doors between files of tasks and a home, as a person in a shell uses them.

What is not there yet stands behind `HAS_ARCHIVE` and the like, so that it is switched on in one
place; so does the one question that is asked of the code inside: which task a line is.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import to_builtins

import wakelog
from adapters.usecases.import_sources import given_file, read_file, sources_of
from adapters.usecases.match_imported import known_tasks, match_imported
from adapters.wiring import open_home
from tests.support.cli import FIXED, run, told

HAS_ARCHIVE = True
"""`import todo.txt --archive done.txt`; until then the archive is imported as the README said."""

HAS_YES = True
"""`import --yes` and `undo --yes`: what was asked is agreed to beforehand."""

UNDO_RESTORES = True
"""Undo of an import brings back every byte of `WORLD`."""

WORLD = ("tasks", "labels", "categories", "conflicts")
YES = ("--yes",) if HAS_YES else ()


@dataclass(frozen=True)
class Door:
    """A home at a time; `now` is the time of each command."""

    home: Path
    now: str = FIXED["WAKELOG_NOW"]

    @property
    def env(self) -> Mapping[str, str]:
        return {"WAKELOG_NOW": self.now}

    def told(self, *args: str) -> Any:
        """The document of a command; it must end with status 0."""
        return told([*args], self.home, env=self.env)

    def imports(self, file: Path, *more: str, archive: Path | None = None) -> Any:
        """The documents of the files that were imported. What is not clear without a question is
        agreed to only where `--yes` is among `more`."""
        if archive is None or HAS_ARCHIVE:
            named = ["--archive", str(archive)] if archive else []
            return self._imported([str(file), *named, *more])
        first = self._imported([str(file), *more])
        source = ["--source", file.name]
        return [*first, *self._imported([str(archive), *source, *more])]

    def _imported(self, args: Sequence[str]) -> Any:
        wanted = [one for one in args if HAS_YES or one != "--yes"]
        result = run(["--json", "import", *wanted], self.home, env=self.env)
        assert result.exit_code in (0, 1), result.output
        return json.loads(result.stdout)["files"]

    def writes_back(self, file: Path) -> Any:
        (found,) = self.told("write-back", str(file))["files"]
        return found

    def undoes(self) -> Any:
        return self.told("undo", *YES)

    def _read(self) -> wakelog.Home:
        """A program that reads: its documents are those that commands print."""
        return wakelog.open_home(self.home, environ={**FIXED, **self.env})

    def world(self) -> list[Any]:
        """All that an undo of an import has to bring back."""
        with self._read() as home:
            return [to_builtins(getattr(home, one)()) for one in WORLD]

    def tasks(self) -> dict[str, Any]:
        """All tasks by id, in the order they came in; deleted ones with the status DELETED."""
        with self._read() as home:
            found, gone = (to_builtins(home.tasks(scope=one)) for one in ("", "deleted"))
        return {one["id"]: one for one in found} | {
            one["id"]: {**one, "status": "DELETED"} for one in gone
        }

    def rows(self) -> int:
        """How many rows the journal has."""
        name = f"file:{self.home / 'journal.db'}?mode=ro"
        with closing(sqlite3.connect(name, uri=True)) as log:
            return int(log.execute("SELECT count(*) FROM stored_events").fetchone()[0])

    def tasks_at(self, file: Path) -> dict[int, str]:
        """The id of the task that each line of a file is, by the line's number from 0.

        This asks the code, as the next import does: what it says right after an import is what
        that import did.
        """
        environ = {**FIXED, **self.env, "WAKELOG_HOME": str(self.home)}
        with open_home(self.home, environ) as home:
            home.views.catch_up()
            (source,) = sources_of(home, [str(file)], "", environ)
            read = read_file(home, given_file(str(file), source), environ)
            found = match_imported(home, read.file, known_tasks(home))
            ids = (one.task_id for one in found.file.tasks)
            return dict(zip(found.file.lines, ids, strict=False))  # an archive has no lines
