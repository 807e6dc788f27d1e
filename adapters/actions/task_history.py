"""The history of a task: all its facts as sentences, the newest first, and what can be undone."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.task_past import Happened, TaskPast
from adapters.actions.undoing import Deed, deeds_of
from adapters.documents.task_past import HistoryEntry, TaskHistory
from adapters.text.happened import KINDS, WHO, did, kind_of, subject, who
from domain.journal import task as t
from domain.journal.commands import UndoDeed, UndoImport
from domain.text import cut, fold

if TYPE_CHECKING:
    from adapters.wiring import Home

WORDS_MAX = 400  # of a note
SCAN_MAX = 5_000  # facts that one page looks through


class Wanted(NamedTuple):
    """What of a history is asked for: a kind, who did it, words that stand in it, the entry that
    it begins with, and how many at most. Empty: whatever there is."""

    kind: str = ""
    who: str = ""
    words: str = ""
    since: str = ""
    limit: int = 50


def history(home: "Home", task_id: str, wanted: Wanted) -> tuple[TaskHistory, list[Deed]]:
    """The history of a task, and its deeds that can be undone.

    Args:
        home: Its views caught up.
        task_id: Which.
        wanted: What of it.
    """
    past = TaskPast(home, task_id)
    deeds = deeds_of(home, task_id)
    journal = home.services.journal
    own = journal.replica if journal.is_shared else ""
    left = {n: deed.ref for deed in reversed(deeds) for n in deed.appends}
    entries: list[HistoryEntry] = []
    following, looked = "", 0
    for one in _from(past, wanted.since):
        if len(entries) == wanted.limit or looked == SCAN_MAX:
            following = one.entry
            break
        looked += 1
        if _is_wanted(past, one, wanted):
            ref = left.get(one.row.n, "") if own in ("", one.row.replica) else ""
            if ref:
                left = {n: other for n, other in left.items() if other != ref}
            entries.append(_entry(past, one, ref))
    document = TaskHistory(task_id, past.task.title, entries, following or None, looked)
    return document, deeds


def _from(past: TaskPast, since: str) -> Iterator[Happened]:
    """The facts, the newest first, from an entry on."""
    is_there = not since or all(one.entry != since for one in past.happened)
    for one in reversed(past.happened):
        is_there = is_there or one.entry == since
        if is_there:
            yield one


def _is_wanted(past: TaskPast, one: Happened, wanted: Wanted) -> bool:
    if wanted.kind in KINDS and kind_of(one.row.fact) != wanted.kind:
        return False
    if wanted.who in WHO and who(one.by) != wanted.who:
        return False
    if not wanted.words.strip():
        return True
    text = f"{_said(past, one)} {_words(past, one) or ''}"
    return all(each in fold(text) for each in fold(wanted.words).split())


def _said(past: TaskPast, one: Happened) -> str:
    return f"{subject(one.by)} {did(one.row.fact, one.before, past.names)}."


def _words(past: TaskPast, one: Happened) -> str | None:
    match one.row.fact:
        case t.NoteAdded(words=words) | t.NoteEdited(words=words):
            return cut(past.text(words), length_max=WORDS_MAX)
        case t.TaskDescribed(description=words):
            return cut(past.text(words), length_max=WORDS_MAX)
        case _:
            return None


def _entry(past: TaskPast, one: Happened, undo: str) -> HistoryEntry:
    found, said = past.proposed(one.row), _said(past, one)
    if isinstance(past.command_of(one.row), UndoDeed | UndoImport):
        said = f"By an undo {said[:1].lower()}{said[1:]}"
    return HistoryEntry(
        one.entry,
        one.row.at,
        kind_of(one.row.fact),
        who(one.by),
        said,
        _words(past, one),
        found.ref if found else None,
        found.set.run_key if found else None,
        undo or None,
    )
