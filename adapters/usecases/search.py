"""Tasks by the words that stand in them: titles, descriptions, notes, items, and what their agents
said (ADR 91).

The words stand in an index of a file of its own beside the views. Nothing in it is truth: who
searches brings it up to date with both logs first, and what cannot be believed is made anew."""

import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import asdict

from adapters.documents.tasks import FoundLine, task_lines
from adapters.home import files
from adapters.home.views import others_came_since
from adapters.store.log import Log
from domain.errors import Refused, invalid
from domain.journal.task import TASK
from domain.text import tokens
from projections import agents, messages, observations, reports, tasks, wakes

if TYPE_CHECKING:
    from adapters.wiring import Home

FORMAT = 2  # of the file; one of another is made anew
EXCERPT_MAX = 120
TOLD_FROM = 500  # tasks that are read; fewer need no bar
_TABLES = """
DROP TABLE IF EXISTS found; DROP TABLE IF EXISTS places; DROP TABLE IF EXISTS reached;
CREATE VIRTUAL TABLE found USING fts5(title, own, said, tokenize = "unicode61 remove_diacritics 0");
CREATE TABLE places (place INTEGER PRIMARY KEY, task TEXT NOT NULL UNIQUE);
CREATE TABLE reached (log TEXT PRIMARY KEY, n INTEGER NOT NULL, digest TEXT NOT NULL);
"""
_RANKED = (
    "SELECT task FROM found JOIN places ON place = found.rowid WHERE found MATCH ? "
    "ORDER BY bm25(found, 8.0, 2.0, 1.0), task"
)
"""A word of the title counts more than one of what the person wrote, and that than an agent's."""
_WITHOUT_BLANKS = re.compile("([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
"""Signs that are words of their own to the index: where they are written, no blanks are."""
Progress = Callable[[int, int], None]


class Piece(NamedTuple):
    """A text of a task, and what it is: ``title``, ``note``, ``report`` and the like."""

    where: str
    text: str


class FoundTask(NamedTuple):
    """A task with words that were looked for, and the piece where they stand."""

    task: tasks.TaskDocument
    piece: Piece


def found_lines(home: "Home", found: Sequence[FoundTask]) -> list[FoundLine]:
    """The document of `search`."""
    lines = task_lines(home, [one.task for one in found])
    return [
        FoundLine(**asdict(line), where=one.piece.where, text=one.piece.text)
        for line, one in zip(lines, found, strict=True)
    ]


def search(
    home: "Home",
    wanted: str,
    *,
    is_deleted: bool = False,
    categories: Collection[str] = (),
    limit: int = -1,
    progress: Progress | None = None,
) -> list[FoundTask]:
    """The tasks where each of the words begins a word somewhere, the best first.

    Args:
        home: Its views are as of their last `catch_up`.
        wanted: In any case.
        is_deleted: Deleted ones, and no others.
        categories: Ids; tasks of no others; none: of all.
        limit: How many at most; negative: all.
        progress: Told how many tasks were read, of how many.

    Raises:
        Refused: Code ``invalid_value``: there is no word.
    """
    words = _spaced(wanted).split(" ")
    if not any(words):
        instead = 'give some, as in `wakelog search "blue door"`'
        raise invalid("there is no word to look for", instead)
    if not home.exists:
        return []
    asked = " AND ".join(f'"{" ".join(_spaced(one).split())}" *' for one in tokens(wanted))
    every = (home.views.get(tasks.VIEW, one) for one in _ranked(home, asked, progress))
    found = (one for one in every if one is not None and one.is_deleted == is_deleted)
    kept = (one for one in found if not categories or one.category in categories)
    shown = islice(kept, limit if limit >= 0 else None)
    return [FoundTask(one, _best(home, one, words)) for one in shown]


def excerpt(text: str, wanted: str) -> str:
    """The part of a text, in one line, where the first of some words stands.

    >>> excerpt("Ann said: " + "so " * 80 + "the red door", "DOOR")[:2]
    '… '
    >>> "東京" in excerpt("メモ" * 200 + "東京" + "メモ" * 200, "東京")
    True
    """
    line = " ".join(text.split())
    first = next(iter(tokens(wanted)), "")
    at = max(line.casefold().find(first), 0)
    start, word = max(at - EXCERPT_MAX // 2, 0), EXCERPT_MAX // 4  # a longer one may be cut
    start = line.rfind(" ", max(start - word, 0), start) + 1 or start
    shown = line[start : start + EXCERPT_MAX]
    end = shown.rfind(" ", EXCERPT_MAX - word) if line[start:] != shown else -1
    shown = shown if end < 0 else shown[:end]
    return ("… " if start else "") + shown + ("…" if line[start:] != shown else "")


def _spaced(text: str) -> str:
    """The words of a text as the index takes them."""
    return " ".join(_WITHOUT_BLANKS.sub(r" \1 ", " ".join(tokens(text))).split())


def _best(home: "Home", task: tasks.TaskDocument, words: Sequence[str]) -> Piece:
    """The piece with the most of the words."""
    pieces = [*_own(home, task.id), *_said(home, task.id)]

    def count(piece: Piece) -> int:
        there = f" {_spaced(piece.text)}"
        return sum(f" {one}" in there for one in words)

    return max(pieces, key=count, default=Piece("title", task.title))


# -------------------------------------------------------------------------- what stands in tasks


def _own(home: "Home", task_id: str) -> Iterator[Piece]:
    """What the person and their files wrote; items that were put away stand there no longer."""
    with home.services.journal.reading() as world:
        task = world.load(TASK, task_id)
        yield Piece("title", task.title)
        yield Piece("description", world.text(task.description))
        yield from (Piece("item", one.title) for one in task.items if not one.is_archived)
        yield from (Piece("note", world.text(one.words)) for one in task.notes)


def _said(home: "Home", task_id: str) -> Iterator[Piece]:
    """What the task's agents said: their reports, what they noted, and what was asked."""
    found = (one for one in home.views.page(agents.VIEW, shelf=task_id) if one.exists)
    with home.services.agents.reading() as world:
        for agent in found:
            newest = home.views.page(reports.VIEW, shelf=agent.id, newest_first=True, limit=1)
            noted = home.views.page(observations.VIEW, shelf=agent.id)
            asked = home.views.page(messages.VIEW, shelf=agent.id)
            yield from (Piece("report", world.text(one.content)) for one in newest)
            yield from (Piece("observation", world.text(one.words)) for one in noted)
            for wake in asked:
                told = (one for one in wake.messages if one.kind == "user")
                yield from (Piece("chat", world.text(one.text)) for one in told)


# ---------------------------------------------------------------------------------------- the index


def _ranked(home: "Home", asked: str, progress: Progress | None) -> list[str]:
    """The ids of the tasks that a query of the index finds, the best first, as far as both logs
    have come; asked of an index in memory where its file cannot be written."""
    file, trouble = home.path / files.SEARCH, ""
    for path in (file, file, None):
        with closing(sqlite3.connect(path or ":memory:", isolation_level=None)) as index:
            try:
                _catch_up(index, home, progress)
                return [task for (task,) in index.execute(_RANKED, (asked,))]
            except sqlite3.DatabaseError as error:
                trouble = str(error)
        if path and re.search("malformed|not a database|no such table", trouble):
            with suppress(OSError):
                file.unlink(missing_ok=True)
    raise Refused("unreadable_file", because=trouble, instead="this Python's SQLite needs FTS5")


def _catch_up(index: sqlite3.Connection, home: "Home", progress: Progress | None) -> None:
    ends = _ends(home)  # before anything is read: what is said meanwhile is read the next time, too
    if _reached(index) == ends:
        return
    home.views.catch_up()
    index.execute("BEGIN IMMEDIATE")
    if _format(index) != FORMAT:
        for statement in _TABLES.split(";"):
            index.execute(statement)
        index.execute(f"PRAGMA user_version={FORMAT}")
    own, said = _changed(home, _reached(index))
    every = sorted(own | said)
    for nth, task_id in enumerate(every):
        if progress and len(every) > TOLD_FROM and nth % 100 == 0:
            progress(nth, len(every))
        _keep(index, home, task_id, is_own=task_id in own, is_said=task_id in said)
    rows = ((log, *end) for log, end in ends.items())
    index.executemany("INSERT OR REPLACE INTO reached VALUES (?, ?, ?)", rows)
    index.execute("COMMIT")


def _format(index: sqlite3.Connection) -> int:
    return int(index.execute("PRAGMA user_version").fetchone()[0])


def _reached(index: sqlite3.Connection) -> dict[str, tuple[int, str]]:
    if _format(index) != FORMAT:
        return {}
    return {log: (n, digest) for log, n, digest in index.execute("SELECT * FROM reached")}


def _logs(home: "Home") -> tuple[Log, Log]:
    return home.services.journal, home.services.agents


def _ends(home: "Home") -> dict[str, tuple[int, str]]:
    return {log.name: (log.tail().n, log.tail().digest) for log in _logs(home)}


def _changed(home: "Home", reached: dict[str, tuple[int, str]]) -> tuple[set[str], set[str]]:
    """The tasks of which something was said since, by the person and by agents: all of them where
    another log stands there, or rows came in that stand before."""
    for log in _logs(home):
        n, digest = reached.get(log.name, (0, ""))
        if not n or log.digest_at(n) != digest or others_came_since(log, n):
            every = {one.id for one in home.views.page(tasks.VIEW)}
            return every, every
    new = (log.appends(reached[log.name][0]) for log in _logs(home))
    journal, told = ({(row.of_kind, row.entity) for rows in each for row in rows} for each in new)
    ids = {entity for kind, entity in told if kind == "agent"}
    runs = (home.views.get(wakes.VIEW, entity) for kind, entity in told if kind == "wake")
    ids |= {run.agent_id for run in runs if run is not None}
    found = (home.views.get(agents.VIEW, one) for one in ids)
    own = {entity for kind, entity in journal if kind == "task"}
    return own, {one.task_id for one in found if one is not None and one.exists}


def _keep(
    index: sqlite3.Connection, home: "Home", task_id: str, *, is_own: bool, is_said: bool
) -> None:
    """Bring the words of a task to the index, those that may have changed."""
    known = index.execute("SELECT place FROM places WHERE task = ?", (task_id,)).fetchone()
    if known is None:
        place = index.execute("INSERT INTO found VALUES ('', '', '')").lastrowid
        index.execute("INSERT INTO places VALUES (?, ?)", (place, task_id))
    else:
        place = known[0]
    if is_own:
        title, *others = _own(home, task_id)
        texts = _spaced(title.text), _joined(others)
        index.execute("UPDATE found SET title = ?, own = ? WHERE rowid = ?", (*texts, place))
    if is_said or known is None:
        said = _joined(_said(home, task_id))
        index.execute("UPDATE found SET said = ? WHERE rowid = ?", (said, place))


def _joined(pieces: Iterable[Piece]) -> str:
    return "\n".join(_spaced(one.text) for one in pieces if one.text)
