"""What the rules model reads of a prompt: the named sections of the user message, as values.

Tolerant: a missing or odd part reads as empty, never as an error. Bounded: only the newest
entries, and only so much of each, are looked at; `PromptTask.is_cut` says when more was there.

Around the task, of prompts since scaffold 2: the person's clock, time spent, linked tasks. Since
scaffold 3 all times are that clock's, and what is newer is told instead of compared.
"""

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from adapters.models.json_objects import dicts
from domain.errors import Refused
from domain.log import canonical
from domain.log.timestamps import is_date, is_moment, wall
from domain.ports import Request, Section
from domain.text import fold

Said = tuple[str, list[tuple[str, dict[str, Any]]]]
"""The text of a reply, and its calls."""
SECTION_LINES_MAX = 1_000
DECIDED_MIN = 5

_NOW = re.compile(r"\w+ (\d{4}-\d\d-\d\d) (\d\d:\d\d), \S{1,80} \(UTC([+-]\d\d:\d\d)\)")
_LOCAL = re.compile(r"[A-Z][a-z]{2} (\d{4}-\d\d-\d\d) (\d\d:\d\d)")
_SPENT = re.compile(
    r"- \S{1,80} (?P<told>(?P<weekday>[A-Z][a-z]{2} )?(?P<day>\d{4}-\d\d-\d\d)[T ]"
    r"(?P<start>\d\d:\d\d) to (?:(?:[A-Z][a-z]{2} )?(?P<last>\d{4}-\d\d-\d\d)[T ])?"
    r"(?P<end>\d\d:\d\d), (?P<minutes>\d{1,9})[^:]*(?:: (?P<said>.*))?)"
)
_NOTED = re.compile(r"- (?:[0-9]+-[0-9]+\S* )?\[([^\]]{1,40})\] \(\w{1,20}\) (.*)")
_REPORTED = re.compile(
    r"^Written (?:at (\d{4}-\d\d-\d\dT\S{1,20})\.|(.{1,40}); newer entries: (\d{1,9})\.)$",
    re.MULTILINE,
)
_LOOPS = re.compile(r"^Open loops:\n((?:- .*\n?)+)", re.MULTILINE)
_FARED = re.compile(
    r"^- (?P<tool>\w{1,80}): (?P<accepted>\d{1,9}) of (?P<decided>\d{1,9}) accepted\.", re.MULTILINE
)
_ASKED = re.compile(r"^- (fits_today|estimate|blocked|stale): ", re.MULTILINE)
_LANGUAGE = re.compile(r"^Language of the report: (\S+)\.$", re.MULTILINE)
_TOLD = ("- fp=", "- confirmed: ", "- rejected: ", "- deferred: ")


class NamedTask(Struct, frozen=True):
    """Another task. `relation`: as it is seen from the own task, if it is linked."""

    id: str
    title: str
    relation: str = ""
    status: str = ""


class Work(Struct, frozen=True):
    """A time entry of which a prompt since scaffold 3 tells, its line and what it says was done."""

    start: str
    minutes: int
    told: str
    said: str


class PromptContext(Struct, frozen=True):
    """`now` and the spans of `spent` are what the person's clock shows, YYYY-MM-DDTHH:MM.

    `told`: the lines about proposals, open ones and decided ones; `noted`: when something was
    written into the agent's journal, and what. `loops`: what the person keeps open;
    `reported_at`: when the agent's report was written, empty before its first one; `newer`: how
    many notes are since, None where times tell. `worked`: oldest first. `declined`: the tools of
    which the person accepted fewer than a quarter of five or more in this category.
    """

    now: str = ""
    offset: str = ""
    spent: tuple[tuple[str, str], ...] = ()
    linked: tuple[NamedTask, ...] = ()
    told: tuple[str, ...] = ()
    noted: tuple[tuple[str, str], ...] = ()
    loops: tuple[str, ...] = ()
    reported_at: str = ""
    newer: int | None = None
    worked: tuple[Work, ...] = ()
    declined: frozenset[str] = frozenset()

    def local(self, at: str) -> str:
        """What the person's clock showed then, by the offset of now; empty without a clock."""
        if len(at) == len("2027-02-26T09:00"):
            return at
        return wall(at, self.offset) if self.offset and is_moment(at) else ""

    def day(self, at: str) -> date | None:
        """The person's day of a stored time, the UTC one without a clock; None if it is none."""
        return day_of(self.local(at) or at)

    def remembers(self, what: str, at: str) -> bool:
        """Whether the journal holds these words since a text was written."""
        return bool(at) and any(at <= then and fold(what) in text for then, text in self.noted)

    def tells(self, *parts: str) -> bool:
        """Whether a line about proposals holds all of these."""
        return any(all(fold(part) in line for part in parts) for line in self.told)


def read_context(sections: Mapping[str, str]) -> PromptContext:
    """Read it from the texts of sections, by their names."""
    clock = _NOW.search(sections.get("now", ""))
    journal = _lines(sections, "journal")
    reported = _REPORTED.search(sections.get("report", ""))
    loops = _LOOPS.search(sections.get("goal", ""))
    spent = [one for one in map(_SPENT.match, _lines(sections, "time")) if one]
    return PromptContext(
        now=f"{clock[1]}T{clock[2]}" if clock else "",
        offset=clock[3] if clock else "",
        spent=tuple(map(_span, spent)),
        linked=tuple(one for line in _lines(sections, "linked") for one in named(line)),
        told=tuple(fold(one) for one in _lines(sections, "proposals") if one.startswith(_TOLD)),
        noted=tuple((_time(one[1]), fold(one[2])) for one in map(_NOTED.match, journal) if one),
        loops=tuple(one[2:] for one in loops[1].splitlines()[:SECTION_LINES_MAX]) if loops else (),
        reported_at=_time(reported[1] or reported[2]) if reported else "",
        newer=int(reported[3]) if reported and reported[3] else None,
        worked=tuple(
            Work(_span(one)[0], int(one["minutes"]), one["told"], one["said"] or "")
            for one in spent
            if one["weekday"]
        ),
        declined=frozenset(
            one["tool"]
            for one in _FARED.finditer(sections.get("lessons", ""))
            if int(one["decided"]) >= DECIDED_MIN and 4 * int(one["accepted"]) < int(one["decided"])
        ),
    )


def in_turn(request: Request, calls: Mapping[str, dict[str, Any]], told: str) -> Said:
    """What is said, and the calls: what is offered on the first turn, later what is forced."""
    offered = {one.name for one in request.tools if not request.exchanges}
    offered = {request.forced} if request.forced else offered
    wished = [one for one in calls.items() if one[0] in offered]
    return "" if wished else told, wished


def report_language(sections: Mapping[str, str]) -> str:
    """The language that a report is asked for in; empty where it is not said."""
    told = _LANGUAGE.search(sections.get("instruction", ""))
    return told[1] if told else ""


def _time(told: str) -> str:
    """A time as it is compared: an instant as it stands, a clock's YYYY-MM-DDTHH:MM."""
    local = _LOCAL.fullmatch(told)
    return f"{local[1]}T{local[2]}" if local else told


def named(text: str) -> list[NamedTask]:
    """The tasks of a JSON text: one of its own, or those of the answer to a read."""
    try:
        given = canonical.read(text)
    except Refused:
        return []
    if not isinstance(given, dict):
        return []
    tasks = given["tasks"] if isinstance(given.get("tasks"), list) else [given]
    return [
        NamedTask(*(str(one.get(name, "")) for name in ("id", "title", "relation", "status")))
        for one in tasks
        if isinstance(one, dict) and one.get("id") and one.get("title")
    ]


def _lines(sections: Mapping[str, str], name: str) -> list[str]:
    return sections.get(name, "").splitlines()[:SECTION_LINES_MAX]


def _span(found: re.Match[str]) -> tuple[str, str]:
    day = found["day"]
    return f"{day}T{found['start']}", f"{found['last'] or day}T{found['end']}"


# ----------------------------------------------------------------------------------------- the task

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


class SourceText(Struct, frozen=True):
    """A text to look at. `day` resolves "by Friday"; None where nobody knows it. `order`: what
    tells which of two texts, or of a text and a value, is newer."""

    kind: str  # "title", "description", "note", "words" or "time"
    text: str
    at: str = ""
    day: date | None = None
    written: str = ""  # when a note was begun
    order: str = ""


class PromptItem(Struct, frozen=True):
    """A line of a checklist."""

    id: str
    title: str
    is_checked: bool = False
    is_archived: bool = False
    changed_at: str = ""  # when it was last ticked, if known


class PromptLabel(Struct, frozen=True):
    """A label that may be assigned."""

    id: str
    name: str


class PromptTask(Struct, frozen=True, eq=False):
    """A task as the prompt shows it, and what came with it; each one equals itself alone.

    `asked`: what other agents ask about it, each kind once.
    """

    title: str = ""
    status: str = ""
    status_reason: str = ""
    priority: str = ""
    estimate: int | None = None
    due: str = ""
    language: str = ""
    labels_left: int = 0
    minutes_spent: int = 0
    items: tuple[PromptItem, ...] = ()
    sources: tuple[SourceText, ...] = ()  # oldest first
    labels: tuple[PromptLabel, ...] = ()  # available and not yet assigned
    proposals: tuple[str, ...] = ()  # one line for each open one
    words: str = ""
    journal: str = ""
    report: str = ""  # the one that stands
    has_changes: bool = False
    is_readable: bool = True
    is_cut: bool = False
    decided: dict[str, str] = {}  # the order of what a person or an import set, by its key
    set_at: dict[str, str] = {}  # when a field was set by anybody, by its key
    asked: tuple[str, ...] = ()
    around: PromptContext = PromptContext()


@lru_cache(maxsize=WAKES_MAX)
def read(user: tuple[Section, ...]) -> PromptTask:
    """Read what the rules model needs of `Request.user`. Never raises for the content of a
    section."""
    sections = {section.name: tidy(section.text) for section in user}
    given = document(sections.get("task", ""))
    task, is_readable = given or {}, given is not None
    assigned = {_text(label.get("id")) for label in dicts(task.get("labels"))[:LABELS_MAX]}
    barred = assigned | {label.id for label in _labels(sections.get("suppressed_labels", ""))}
    words = _body(sections.get("words", ""))
    around = read_context(sections)
    sources, is_cut = _sources(task, words, around)
    proposals = map(str.strip, sections.get("proposals", "").splitlines()[:LINES_MAX])
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
        items=tuple(map(_item, dicts(task.get("checklist"))[:ITEMS_MAX])),
        sources=sources,
        labels=tuple(
            label
            for label in _labels(sections.get("available_labels", ""))
            if label.id not in barred
        ),
        proposals=tuple(line for line in proposals if line.startswith("- fp=")),
        words=words,
        journal=sections.get("journal", ""),
        report=sections.get("report", "").strip(),
        has_changes=bool(sections.get("changed", "").strip()),
        is_readable=is_readable,
        is_cut=is_cut,
        decided={
            name: _order(task, name) for name in task if _set_at(task, name, "person", "import")
        },
        set_at={name: at for name in task if (at := _set_at(task, name))},
        asked=tuple(dict.fromkeys(_ASKED.findall(sections.get("requests", "")))),
        around=around,
    )


def day_of(at: str) -> date | None:
    """The day that a time begins with; None if it is none."""
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
    return _time(_text(told.get("at")))


def _order(task: dict[str, Any], name: str) -> str:
    """Where a value stands among the entries of the log: by its time, since scaffold 3 by how many
    of them are newer, where that is told."""
    told, log = task.get(name), dicts(task.get("log"))
    newer = _count(told.get("newer")) if isinstance(told, dict) else None
    at = _set_at(task, name) or _time(_text(task.get("createdAt")))
    if not _is_told_by_place(task):
        return at
    if newer is None:
        newer = sum(_time(_text(one.get("editedAt") or one.get("at"))) > at for one in log)
    return f"{max(0, len(log) - newer):06d}~{at}"


def _is_told_by_place(task: dict[str, Any]) -> bool:
    return _LOCAL.fullmatch(_text(task.get("createdAt"))) is not None


def document(section: str) -> dict[str, Any] | None:
    """The JSON object that a section ends with; None where there is none."""
    _, brace, rest = section.partition("{")
    try:
        value = canonical.read(brace + rest)
    except Refused:
        return None
    return value if isinstance(value, dict) else None


def _sources(
    task: dict[str, Any], words: str, around: PromptContext
) -> tuple[tuple[SourceText, ...], bool]:
    """Texts oldest first: title, description, log, the user's words; and whether some was cut."""
    log = [_entry(one, around) for one in dicts(task.get("log"))]
    if _is_told_by_place(task):
        log = [replace(one, order=f"{place:06d}") for place, one in enumerate(log, start=1)]
    entries = sorted((source for source in log if source.text), key=lambda source: source.order)
    texts = [
        *(_field_text(task, name, around) for name in ("title", "description")),
        *entries[-ENTRIES_MAX:],
        SourceText("words", words),
    ]
    kept: list[SourceText] = []
    is_cut = len(entries) > ENTRIES_MAX
    left = TEXT_CHARS_MAX
    for source in reversed(texts):  # the newest first, as long as there is room
        room = min(left, ENTRY_CHARS_MAX)
        is_cut = is_cut or len(source.text) > room
        left -= min(len(source.text), room)
        kept.append(replace(source, text=source.text[:room]))
    return tuple(source for source in reversed(kept) if source.text.strip()), is_cut


def _field_text(task: dict[str, Any], name: str, around: PromptContext) -> SourceText:
    at = _set_at(task, name) or _time(_text(task.get("createdAt")))
    return SourceText(name, _text(_value(task, name)), at, around.day(at), order=_order(task, name))


def _entry(entry: dict[str, Any], around: PromptContext) -> SourceText:
    """A note as it reads since it was last edited; its day is that on which it was begun."""
    at, edited = (_time(_text(entry.get(name))) for name in ("at", "editedAt"))
    text = _text(entry.get("text"))
    return SourceText("note", text, edited or at, around.day(at), at, order=edited or at)


def _item(item: dict[str, Any]) -> PromptItem:
    return PromptItem(
        id=_text(item.get("id")),
        title=_text(item.get("title")),
        is_checked=item.get("checked") is True,
        is_archived=item.get("archived") is True,
        changed_at=_time(_text(item.get("checkedAt"))),
    )


def _labels(section: str) -> tuple[PromptLabel, ...]:
    lines = section.splitlines()[:LABELS_MAX]
    matches = (_LABEL_LINE.fullmatch(line.strip()) for line in lines)
    return tuple(PromptLabel(match[1], match[2].strip()) for match in matches if match)


def _body(section: str) -> str:
    """A section without its heading line, if it has one."""
    heading, _, rest = section.strip().partition("\n")
    if heading.startswith("#") or (heading.endswith(":") and rest.startswith("\n")):
        return rest.strip()
    return section.strip()


def tidy(text: str) -> str:
    """A text without what no screen shows, and with plain apostrophes."""
    return canonical.clean(text).translate(_TIDY)


def _text(value: object) -> str:
    return value.translate(_TIDY) if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
