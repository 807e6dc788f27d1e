"""Which format a file has, by its name and what stands in it, and the reader for it.

The readers are imported when they are needed: `wakelog --help` asks only for the names."""

import codecs
import re
from datetime import UTC, tzinfo
from itertools import islice
from pathlib import PurePath

from msgspec.structs import replace

from domain.journal.imported import ImportedFile, Unreadable
from domain.log.keys import key

FORMATS = ("markdown", "todotxt", "taskwarrior", "github", "tasks")
JSON = ("taskwarrior", "github", "tasks")
FORMATS_TOLD = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
READERS = 5  # raised where a reader, or what an import decides, finds something else in a file
ALIASES = {"md": "markdown", "todo.txt": "todotxt", "jsonl": "tasks"}

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_BOX = re.compile(rb"(?m)^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[.?\](?:\s|$)")
_LOOSE_BOX = re.compile(rb"(?m)^[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]*\[[^\[\]\n]{1,16}\]\s")
_TODOTXT = re.compile(rb"(?m)^(?:x [0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]|\([A-Z]\)[ \t]+\S)")
_EMPTY_LIST = re.compile(rb"\[\s*\]\s*")
_LOOKED_AT = 100  # objects; of a file that mixes things the first that is known decides


def guess(data: bytes, name: str) -> str:
    """One of `FORMATS`, or empty if neither name nor content tells.

    >>> guess(b"- [ ] Paint", "TODO"), guess(b"(A) Paint", "list.txt"), guess(b"Hello", "a.txt")
    ('markdown', 'todotxt', '')
    """
    path = PurePath(name.lower())
    data = data.removeprefix(codecs.BOM_UTF8)
    if path.suffix in _MARKDOWN:
        return "markdown"
    if data.lstrip()[:1] in (b"[", b"{") and (form := _of_json(data)):
        return form
    is_list = path.suffix in (".txt", "") and _TODOTXT.search(data)
    if _BOX.search(data) and not is_list:
        return "markdown"
    if is_list or path.name in ("todo.txt", "done.txt") or path.name.endswith(".todo.txt"):
        return "todotxt"
    return "markdown" if _LOOSE_BOX.search(data) or not data.strip() else ""


def _of_json(data: bytes) -> str:
    """By what the first objects hold; an empty list by how each client writes one."""
    from adapters.importers.github import is_search
    from adapters.importers.json_records import records
    from adapters.importers.task_records import TaskRecord

    if _EMPTY_LIST.fullmatch(data):
        return "taskwarrior" if b"\n" in data.strip() else "github"
    for record in islice(records(data.decode(errors="replace"), []), _LOOKED_AT):
        if record.has("uuid") and record.has("description"):
            return "taskwarrior"
        if record.has("title") and record.values.keys() <= {*TaskRecord.__struct_fields__}:
            return "tasks"
        if (record.has("number") and record.has("title")) or is_search(record):
            return "github"
    return ""


def read(
    data: bytes,
    name: str,
    form: str,
    source: str,
    *,
    headings_are_tasks: bool = False,
    zone: tzinfo = UTC,
) -> ImportedFile | None:
    """Read a file whole, in its format; nothing raises, what cannot be taken over is reported.

    Args:
        data: The file's bytes, UTF-8; other bytes are replaced and reported once.
        name: Of the file; only its end is looked at.
        form: One of `FORMATS`, or empty: then it is guessed.
        source: Name of the source; ids are derived from it.
        headings_are_tasks: In Markdown, a heading with boxes is a task, its boxes the checklist.
        zone: Where the person is; for files that write dates as instants.

    Returns:
        What the file holds, or None if its format is not known.
    """
    from adapters.importers import github, markdown, task_records, taskwarrior, todotxt

    match form or guess(data, name):
        case "markdown":
            return markdown.read(data, source=source, headings_are_tasks=headings_are_tasks)
        case "todotxt":
            return todotxt.read(data, source=source)
        case "taskwarrior":
            return taskwarrior.read(data, source=source, zone=zone)
        case "github":
            return github.read(data, source=source)
        case "tasks":
            return task_records.read(data, source=source)
        case _:
            return None


def joined(main: ImportedFile, archive: ImportedFile, name: str) -> ImportedFile:
    """A file, whose lines can be written back, and the one to which its client moves what is done,
    as one source; `name`: of the `archive`."""
    used = {task.task_id for task in main.tasks}
    ids: dict[str, str] = {}
    for task, formula in zip(archive.tasks, archive.formulas, strict=True):
        nth, made = 0, task.task_id
        while made in used:
            nth, made = nth + 1, key(*formula, str(nth))
        used.add(made)
        ids[task.task_id] = made
    problems = [Unreadable(0, f"{name}:{one.line}: {one.reason}") for one in archive.unreadable]
    moved, earlier = (
        [replace(one, task_id=ids[one.task_id]) for one in ones]
        for ones in (archive.tasks, archive.earlier)
    )
    return replace(
        main,
        tasks=(*main.tasks, *moved),
        unreadable=(*main.unreadable, *problems),
        earlier=(*main.earlier, *earlier),
        links=(*main.links, *((ids[at], how, ids[to]) for at, how, to in archive.links)),
        anchors=(*main.anchors, *archive.anchors),
        formulas=(*main.formulas, *archive.formulas),
    )
