"""What the rules model reads of a prompt: the named sections of the user message, as values.

Tolerant: a missing or odd part reads as empty, never as an error. Bounded: only the newest
entries, and only so much of each, are looked at; `Seen.is_cut` says when more was there.
"""

import re
from datetime import date
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from adapters.models import around
from adapters.models.around import Around
from domain import canonical
from domain.errors import Refused
from domain.ports import Section
from domain.timestamps import is_date

ENTRIES_MAX = 200
ENTRY_CHARS_MAX = 20_000
TEXT_CHARS_MAX = 400_000
ITEMS_MAX = 500
LABELS_MAX = 500
LINES_MAX = 1_000
LABELS_PER_TASK = 3
WAKES_MAX = 32  # whose texts a process has at hand, so that each turn need not read them again

_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in b"\t\n\r\x85"}
_DIRECTIONS = dict.fromkeys((*range(8234, 8239), *range(8294, 8298)))
_TIDY = _CONTROLS | _DIRECTIONS | {ord("\u2019"): "'"}
_LABEL_LINE = re.compile(r"- ([^\s:]{1,100}): (.{1,200})")


class Source(Struct, frozen=True):
    """A text to look at. `day` resolves "by Friday"; None where nobody knows it."""

    kind: str  # "title", "description", "note" or "words"
    text: str
    at: str = ""
    day: date | None = None
    written: str = ""  # when a note was begun


class Item(Struct, frozen=True):
    """A line of a checklist."""

    id: str
    title: str
    is_checked: bool = False
    is_archived: bool = False
    changed_at: str = ""  # when it was last ticked, if known


class Label(Struct, frozen=True):
    """A label that may be assigned."""

    id: str
    name: str


class PromptTask(Struct, frozen=True, eq=False):
    """A task as the prompt shows it, and what came with it; each one equals itself alone."""

    title: str = ""
    status: str = ""
    status_reason: str = ""
    priority: str = ""
    estimate: int | None = None
    due: str = ""
    language: str = ""
    labels_left: int = 0
    minutes_spent: int = 0
    items: tuple[Item, ...] = ()
    sources: tuple[Source, ...] = ()  # oldest first
    labels: tuple[Label, ...] = ()  # available and not yet assigned
    proposals: tuple[str, ...] = ()  # one line for each open one
    words: str = ""
    journal: str = ""
    has_report: bool = False
    has_changes: bool = False
    is_readable: bool = True
    is_cut: bool = False
    decided: dict[str, str] = {}  # when a person or an import set a field, by its key
    set_at: dict[str, str] = {}  # when a field was set by anybody, by its key
    around: Around = Around()


@lru_cache(maxsize=WAKES_MAX)
def read(user: tuple[Section, ...]) -> PromptTask:
    """Read what the rules model needs of `Request.user`. Never raises for the content of a
    section."""
    sections = {section.name: _tidy(section.text) for section in user}
    task, is_readable = _task(sections.get("task", ""))
    assigned = {_text(label.get("id")) for label in _objects(task.get("labels"), LABELS_MAX)}
    barred = assigned | {label.id for label in _labels(sections.get("suppressed_labels", ""))}
    words = _body(sections.get("words", ""))
    sources, is_cut = _sources(task, words)
    left = _count(task.get("labelsLeft"))
    return PromptTask(
        title=_text(_value(task, "title")),
        status=_text(_value(task, "status")),
        status_reason=_text(task.get("statusReason")),
        priority=_text(_value(task, "priority")),
        estimate=_count(_value(task, "estimateMinutes")),
        due=_text(_value(task, "dueDate")),
        language=_text(_value(task, "languageCode")),
        labels_left=max(0, LABELS_PER_TASK - len(assigned)) if left is None else left,
        minutes_spent=_count(task.get("timeSpentMinutes")) or 0,
        items=tuple(_item(item) for item in _objects(task.get("checklist"), ITEMS_MAX)),
        sources=sources,
        labels=tuple(
            label
            for label in _labels(sections.get("available_labels", ""))
            if label.id not in barred
        ),
        proposals=_proposals(sections.get("proposals", "")),
        words=words,
        journal=sections.get("journal", ""),
        has_report=bool(sections.get("report", "").strip()),
        has_changes=bool(sections.get("changed", "").strip()),
        is_readable=is_readable,
        is_cut=is_cut,
        decided={name: at for name in task if (at := _set_at(task, name, "person", "import"))},
        set_at={name: at for name in task if (at := _set_at(task, name))},
        around=around.read(sections),
    )


def day_of(at: str) -> date | None:
    """The UTC day of a stored time; None if it is none."""
    return date.fromisoformat(at[:10]) if is_date(at[:10]) else None


def _value(task: dict[str, Any], name: str) -> object:
    """A field's value, with who set it (since scaffold 2) or bare."""
    told = task.get(name)
    return told.get("value") if isinstance(told, dict) else told


def _set_at(task: dict[str, Any], name: str, *origins: str) -> str:
    """When a field was set by one of these, or by anybody; empty where that is not known."""
    told = task.get(name)
    if not isinstance(told, dict) or (origins and told.get("by") not in origins):
        return ""
    return _text(told.get("at"))


def _task(section: str) -> tuple[dict[str, Any], bool]:
    start = section.find("{")
    if start < 0:
        return {}, False
    try:
        value = canonical.read(section[start:])
    except Refused:
        return {}, False
    return (value, True) if isinstance(value, dict) else ({}, False)


def _sources(task: dict[str, Any], words: str) -> tuple[tuple[Source, ...], bool]:
    """Texts oldest first: title, description, log, the user's words; and whether some was cut."""
    created = _text(task.get("createdAt"))
    log = _objects(task.get("log"), None)
    entries = sorted(
        (source for source in map(_entry, log) if source.text),
        key=lambda source: source.at,
    )
    texts = [
        *(_field_text(task, name, created) for name in ("title", "description")),
        *entries[-ENTRIES_MAX:],
        Source("words", words),
    ]
    kept: list[Source] = []
    is_cut = len(entries) > ENTRIES_MAX
    left = TEXT_CHARS_MAX
    for source in reversed(texts):  # the newest first, as long as there is room
        room = min(left, ENTRY_CHARS_MAX)
        is_cut = is_cut or len(source.text) > room
        left -= min(len(source.text), room)
        kept.append(msgspec.structs.replace(source, text=source.text[:room]))
    return tuple(source for source in reversed(kept) if source.text.strip()), is_cut


def _field_text(task: dict[str, Any], name: str, created: str) -> Source:
    at = _set_at(task, name) or created
    return Source(name, _text(_value(task, name)), at, day_of(at))


def _entry(entry: dict[str, Any]) -> Source:
    """A note as it reads since it was last edited; its day is that on which it was begun."""
    at = _text(entry.get("at"))
    return Source(
        "note", _text(entry.get("text")), _text(entry.get("editedAt")) or at, day_of(at), at
    )


def _item(item: dict[str, Any]) -> Item:
    return Item(
        id=_text(item.get("id")),
        title=_text(item.get("title")),
        is_checked=item.get("checked") is True,
        is_archived=item.get("archived") is True,
        changed_at=_text(item.get("checkedAt")),
    )


def _labels(section: str) -> tuple[Label, ...]:
    lines = section.splitlines()[:LABELS_MAX]
    matches = (_LABEL_LINE.fullmatch(line.strip()) for line in lines)
    return tuple(Label(match[1], match[2].strip()) for match in matches if match)


def _proposals(section: str) -> tuple[str, ...]:
    lines = (line.strip() for line in section.splitlines()[:LINES_MAX])
    return tuple(line for line in lines if line.startswith("- fp="))


def _body(section: str) -> str:
    """A section without its heading line, if it has one."""
    heading, _, rest = section.strip().partition("\n")
    if heading.startswith("#") or (heading.endswith(":") and rest.startswith("\n")):
        return rest.strip()
    return section.strip()


def _tidy(text: str) -> str:
    return canonical.clean(text).translate(_TIDY)


def _text(value: object) -> str:
    return value.translate(_TIDY) if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _objects(value: object, length_max: int | None) -> list[dict[str, Any]]:
    elements = value if isinstance(value, list) else []
    return [element for element in elements if isinstance(element, dict)][:length_max]
