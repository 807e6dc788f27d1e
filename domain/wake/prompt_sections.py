"""The sections of a prompt, each from its part of a reading; and how foreign text enters them:
bounded, and unable to pass for a heading.

A section starts with a line ``## Title``. No other line of a prompt may start so, by any way of
counting lines: Unicode has ten characters that end one."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from domain.journal.task import CLOSED, RATING_MAX
from domain.log.timestamps import wall
from domain.log.wire import SHARED
from domain.ports import Section
from domain.text import squeeze
from domain.wake import reading as r
from domain.wake.reading import PromptLimits, Reading

T = TypeVar("T")

_ENDS_OF_LINE = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_TO_NEWLINE = {ord(end): "\n" for end in _ENDS_OF_LINE}
_ESCAPED = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
"""Line ends that JSON lets stand; the others it escapes by itself."""

_WIDEST = 4  # bytes of a character in UTF-8
_HEADING = re.compile(r"^([ \t]*)(#+(?:[ \t]|$))", re.MULTILINE)

_encoder = msgspec.json.Encoder()


def section(name: str, title: str, body: str, units: Iterable[str] = ()) -> Section:
    """A section; `body` has to be made of the functions below, or of fixed text."""
    return Section(name, f"## {title}\n\n{body}", tuple(sorted(set(units))))


def size(text: str) -> int:
    """UTF-8 bytes."""
    return len(text.encode())


def clip(text: str, bytes_max: int) -> str:
    """The text, or its beginning and how much was cut; the note is not counted.

    >>> clip("Grüße an alle", 8)
    'Grüße … [cut: 7 more bytes]'
    """
    if len(text) * _WIDEST <= bytes_max:
        return text  # whatever it is made of
    data = text.encode()
    if len(data) <= bytes_max:
        return text
    kept = data[:bytes_max].decode("utf-8", "ignore")
    return f"{kept.rstrip(' ')} … [cut: {len(data) - size(kept)} more bytes]"


def line(text: str, bytes_max: int) -> str:
    """A text as one line.

    >>> line("one\\n## two", 100)
    'one ## two'
    """
    return squeeze(text if len(text) * _WIDEST <= bytes_max else clip(text, bytes_max))


def block(text: str, bytes_max: int) -> str:
    """A text of several lines as it is, but that its headings go two levels down.

    >>> block("one\\r\\n## two\\n#three", 100)
    'one\\n#### two\\n#three'
    """
    bounded = clip(text, bytes_max).replace("\r\n", "\n").translate(_TO_NEWLINE)
    return _HEADING.sub(r"\1##\2", bounded)


def dump(value: object) -> str:
    """Compact JSON of plain values, keys in the order given, no end of line within.

    >>> dump({"b": "one\\u2028## two", "a": None})
    '{"b":"one\\\\u2028## two","a":null}'
    """
    text = _encoder.encode(value).decode()
    return text if text.isascii() else text.translate(_ESCAPED)


def rows(texts: Sequence[str]) -> str:
    """A JSON list of elements that are JSON already, each on a line of its own."""
    return "[\n" + ",\n".join(texts) + "\n]" if texts else "[]"


def newest_of(values: Sequence[T], count: int) -> Sequence[T]:
    """The last `count` values; a bare negative slice would take all for 0."""
    return values[max(0, len(values) - count) :]


def cut_note(count: int, what: str) -> list[str]:
    """The line that says what was left out; none where nothing was."""
    return [f"[cut: {count} {what}]"] if count else []


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def when(reading: Reading, at: str) -> str:
    """A time as it is told: since scaffold 3 the person's clock, ``Fri 2027-02-26 09:00``."""
    local = reading.local
    if not at or local is None or not reading.features.tells_days:
        return at
    day, clock = wall(at, local.offset, local.earlier).split("T")
    return f"{_DAYS[date.fromisoformat(day).weekday()]} {day} {clock}"


def _day(reading: Reading, at: str) -> str:
    told = when(reading, at)
    return at[:10] if told == at else told[4:14]


# ----------------------------------------------------------------------------------- the owned task
# The owned task as one JSON document, keys in a fixed order, one element of a list per line.

_SET = {
    "title": "title",
    "description": "description",
    "status": "status",
    "priority": "priority",
    "estimateMinutes": "estimate",
    "dueDate": "due",
    "languageCode": "language",
    "category": "category",
}
"""Keys of the document whose values are shown with who set them, and the fields they show."""


class TaskSection(Struct, frozen=True):
    """The document around its log: `before`, entries, `after`."""

    before: str
    after: str

    def with_log(self, entries: Sequence[str], left_out: int) -> str:
        """The document with these log entries, oldest first, and how many older were cut."""
        cut = f',\n"logCut": {left_out}' if left_out else ""
        return f"{self.before}{rows(entries)}{cut}{self.after}"


def document(reading: Reading, limits: PromptLimits) -> TaskSection:
    """All of the task but its log."""
    if reading.features.tells_days:
        return _document_3(reading, limits)
    task = reading.task
    items, items_cut = _kept(task.items, limits)
    labels = task.labels[: limits.labels_max]
    before = [
        *_fields(reading, limits),
        f'"labels": {rows([dump(_label(reading, label, limits)) for label in labels])}',
        *_cut("labelsCut", len(task.labels) - len(labels)),
        f'"labelsLeft": {labels_left(task)}',
        f'"checklist": {rows([_item(reading, one, limits) for one in items])}',
        *_cut("checklistCut", items_cut),
        '"log": ',
    ]
    after = [f'"timeSpentMinutes": {task.minutes_spent}', f'"createdAt": {dump(task.created_at)}']
    return TaskSection("{\n" + ",\n".join(before), ",\n" + ",\n".join(after) + "\n}")


def _document_3(reading: Reading, limits: PromptLimits) -> TaskSection:
    """What seldom changes stands before the log, so that a wake's prompt begins as the one before.
    What is empty is left out."""
    task = reading.task
    items, items_cut = _kept(task.items, limits)
    labels = task.labels[: limits.labels_max]
    named = [dump(_label(reading, label, limits)) for label in labels]
    before = {
        "id": dump(reading.named(task.id)),
        "title": _valued(reading, "title", clip(task.title, limits.line_max_bytes)),
        "description": _valued(
            reading, "description", clip(task.description, limits.text_max_bytes)
        ),
        "category": _told(clip(task.category.name, limits.line_max_bytes)),
        "createdAt": _told(when(reading, task.created_at)),
    }
    after = {
        "status": _valued(reading, "status", task.status),
        "statusReason": _told(clip(task.status_reason, limits.line_max_bytes)),
        "priority": _valued(reading, "priority", task.priority),
        "estimateMinutes": _valued(reading, "estimate", task.estimate),
        "dueDate": _valued(reading, "due", task.due),
        "dueIn": _told(_due_in(reading)),
        "languageCode": _valued(reading, "language", clip(task.language, limits.line_max_bytes)),
        "labels": rows(named) if named else "",
        "labelsCut": _told(len(task.labels) - len(labels)),
        "labelsLeft": str(labels_left(task)),
        "checklist": rows([_item(reading, one, limits) for one in items]) if items else "",
        "checklistCut": _told(items_cut),
        "timeSpentMinutes": _told(task.minutes_spent),
    }
    first, last = (
        [f'"{name}": {text}' for name, text in part.items() if text] for part in (before, after)
    )
    return TaskSection("{\n" + ",\n".join([*first, '"log": ']), ",\n" + ",\n".join(last) + "\n}")


def _told(value: object) -> str:
    return dump(value) if value else ""


def _valued(reading: Reading, field: str, value: object) -> str:
    """A value with who set it, when, and how many entries are newer; without `value` where it was
    taken away, alone where nobody set it. Of what stands before the log that count is left out: it
    would change with each entry."""
    if (origin := reading.task.origins.get(field)) is None:
        return _told(value)
    told: dict[str, object] = {"by": origin.by, "at": when(reading, origin.at)}
    if field not in ("title", "description"):
        told["newer"] = origin.newer
    return dump({"value": value} | told if value else told)


def labels_left(task: r.TaskSeen) -> int:
    """How many labels agents may still assign."""
    return max(0, r.LABELS_MAX - len(task.labels))


def newest(reading: Reading, limits: PromptLimits, room: int) -> list[str]:
    """The newest log entries that fit into so many bytes, separators included, as JSON, oldest
    first; the log is looked at from its end, and no further than fits."""
    kept: list[str] = []
    for entry in reading.task.log[: -limits.log_entries_max - 1 : -1]:
        text = clip(entry.text, limits.entry_max_bytes)
        at = when(reading, entry.at)
        told = {"at": at, "type": entry.entry_kind, "by": entry.by, "text": text}
        if entry.edited_at and reading.features.tells_origins:
            told["editedAt"] = when(reading, entry.edited_at)
        encoded = dump(told)
        room -= size(encoded) + len(",\n")
        if room < 0:
            break
        kept.append(encoded)
    return kept[::-1]


def _fields(reading: Reading, limits: PromptLimits) -> list[str]:
    task = reading.task
    fields: dict[str, object] = {
        "id": task.id,
        "title": clip(task.title, limits.line_max_bytes),
        "description": clip(task.description, limits.text_max_bytes),
        "status": task.status,
        "statusReason": clip(task.status_reason, limits.line_max_bytes),
        "priority": task.priority,
        "estimateMinutes": task.estimate or None,
        "dueDate": task.due or None,
        "dueIn": _due_in(reading),
        "languageCode": clip(task.language, limits.line_max_bytes) or None,
        "languageSource": task.language_by or None,
        "category": _label(reading, task.category, limits),
    }
    if reading.features.tells_origins:
        del fields["languageSource"]
        fields = {name: _with_origin(task, name, value) for name, value in fields.items()}
    else:
        del fields["dueIn"]
    return [f'"{name}": {dump(value)}' for name, value in fields.items()]


def _with_origin(task: r.TaskSeen, name: str, value: object) -> object:
    """A value with who set it and when; one that nobody set stands alone, null where empty."""
    if (origin := task.origins.get(_SET.get(name, ""))) is not None:
        return {"value": value, "by": origin.by, "at": origin.at}
    return {"value": value} if name in _SET and value is not None else value


def _due_in(reading: Reading) -> str | None:
    """How far the due date of an open task is off, on the person's calendar."""
    task, local = reading.task, reading.local
    if not task.due or local is None or task.status in CLOSED:
        return None
    days = (date.fromisoformat(task.due) - date.fromisoformat(local.time[:10])).days
    if not days:
        return "today"
    told = "1 day" if abs(days) == 1 else f"{abs(days)} days"
    return f"in {told}" if days > 0 else f"overdue by {told}"


def _label(reading: Reading, label: r.LabelSeen, limits: PromptLimits) -> dict[str, str]:
    return {"id": reading.named(label.id), "name": clip(label.name, limits.line_max_bytes)}


def _cut(name: str, count: int) -> list[str]:
    return [f'"{name}": {count}'] if count else []


def _kept(items: Sequence[r.ItemSeen], limits: PromptLimits) -> tuple[list[r.ItemSeen], int]:
    """The items to show, in their order, and how many are not: archived ones go first, then
    checked ones, the older before the newer, then the last of those still to do."""
    finished = [index for index, item in enumerate(items) if item.is_checked or item.is_archived]
    finished.sort(key=lambda index: (items[index].is_archived, -index))
    done = set(finished)
    open_ones = [index for index in range(len(items)) if index not in done]
    kept = sorted((*finished[: limits.finished_items_max], *open_ones[: limits.items_max]))
    return [items[index] for index in kept], len(items) - len(kept)


def _item(reading: Reading, item: r.ItemSeen, limits: PromptLimits) -> str:
    told = {
        "id": reading.named(item.id),
        "title": clip(item.title, limits.line_max_bytes),
        "checked": item.is_checked,
        "checkedBy": item.checked_by or None,
        "checkedAt": when(reading, item.checked_at) or None,
        "archived": item.is_archived,
    }
    is_whole = not reading.features.tells_days
    return dump({name: value for name, value in told.items() if value or is_whole})


# ------------------------------------------------------------------------------------------ the day


def bounded_day(day: r.DaySeen, limits: PromptLimits) -> r.DaySeen:
    """The day with no more tasks than a prompt may show; their texts as long as they may be."""
    most = limits.line_max_bytes
    tasks = [
        replace(one, title=line(one.title, most), one_liner=line(one.one_liner, most))
        for one in day.tasks[: limits.day_tasks_max]
    ]
    more = day.more_tasks + len(day.tasks) - len(tasks)
    return replace(day, tasks=tuple(tasks), more_tasks=more)


def day(reading: Reading, seen: r.DaySeen) -> Section:
    """The day as one JSON object, an element of a list per line."""
    before = seen.before
    past = [*before.blocks, *before.spent] if before else []
    tasks = [
        *(one.id for one in seen.tasks),
        *(one.id for one in past if isinstance(one, r.SpentSeen)),
    ]
    units = [f"day:{seen.date}", *tasks, *([f"day:{before.date}"] if before else [])]
    return section("day", "Day", _listed(reading, seen, ("blocks", "tasks")), units)


def _listed(reading: Reading, seen: Struct, lists: Sequence[str]) -> str:
    """One JSON object with each id as the agent is told it, an element of these lists per line."""
    told = [
        f'"{name}": {rows([*map(dump, value)]) if name in lists else dump(value)}'
        for name, value in _named(reading, msgspec.to_builtins(seen)).items()
    ]
    return "{\n" + ",\n".join(told) + "\n}"


def bounded_week(week: r.WeekSeen, limits: PromptLimits) -> r.WeekSeen:
    """The weeks with no more tasks than a prompt may show; their texts as long as they may be."""
    most = limits.line_max_bytes
    tasks = [
        replace(one, title=line(one.title, most), one_liner=line(one.one_liner, most))
        for one in week.tasks[: limits.week_tasks_max]
    ]
    done = [replace(one, title=line(one.title, most)) for one in week.done[: limits.week_done_max]]
    return replace(
        week,
        tasks=tuple(tasks),
        more_tasks=week.more_tasks + len(week.tasks) - len(tasks),
        done=tuple(done),
        more_done=week.more_done + len(week.done) - len(done),
    )


def week(reading: Reading, seen: r.WeekSeen) -> Section:
    """The weeks as one JSON object."""
    return section("week", "Week", _listed(reading, seen, ("weeks", "tasks", "done")), seen.shown)


def of_template(reading: Reading, limits: PromptLimits) -> Iterator[Section]:
    """The directives, how each version fared, and what the person said; facts, a line each."""
    if (seen := reading.template) is None:
        return
    most, least = limits.directives_max_bytes, limits.line_max_bytes
    active, *older = seen.versions
    versions = [_bounded(active, most)]
    versions += [_bounded(one, least) for one in older[: limits.versions_max]]
    left = cut_note(len(older) - len(versions) + 1, "older versions")
    name = f"Name: {line(seen.name, least)}"
    told = rows([*map(dump, map(msgspec.to_builtins, versions))])
    yield section("template", "Template", "\n".join([name, told, *left]))
    figures = [dump(msgspec.to_builtins(one)) for one in seen.figures[: limits.versions_max + 1]]
    yield section("figures", "Figures by version", rows(figures))
    tried = [dump(msgspec.to_builtins(one)) for one in seen.rehearsed[: limits.versions_max + 1]]
    if tried:
        yield section("rehearsed", "Rehearsed", rows(tried))
    shown = seen.feedback[: limits.feedback_max]
    lines = [
        dump(msgspec.to_builtins(replace(one, text=line(one.text, TEXT_MAX_BYTES))))
        for one in shown
    ]
    body = [rows(lines), *cut_note(len(seen.feedback) - len(shown), "older facts")]
    if seen.others:
        body.append(f"{seen.others} more are of categories that you may not read.")
    units = [one for one in seen.units[: len(shown)] if one]
    if lines or seen.others:
        yield section("feedback", "Feedback", "\n".join(body), units)


def _bounded(one: r.VersionSeen, most: int) -> r.VersionSeen:
    return replace(one, general=clip(one.general, most), report=clip(one.report, most))


def _named(reading: Reading, value: Any) -> Any:
    """Plain values with each id as the agent is told it."""
    if isinstance(value, dict):
        return {name: _named(reading, one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_named(reading, one) for one in value]
    return reading.named(value) if isinstance(value, str) else value


# ------------------------------------------------------------------------------- the other sections

Part = Callable[[Reading, PromptLimits], Section | None]

CRITICAL_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Grievances", ("grievance", "template_improvement")),
    ("Excellence", ("excellence",)),
    ("Operational", ("operational",)),
)


def role(reading: Reading, limits: PromptLimits) -> Section:
    return section("role", "Role and rules", reading.manifest.role)


def now(reading: Reading, limits: PromptLimits) -> Section | None:
    """What day it is to the person: without it overdue cannot be told from due."""
    if (local := reading.local) is None:
        return None
    day, time = local.time.split("T")
    return section("now", "Now", f"{local.weekday} {day} {time}, {local.zone} (UTC{local.offset})")


def goal(reading: Reading, limits: PromptLimits) -> Section | None:
    """What the person told the agent to pursue."""
    slots = reading.slots
    loops = newest_of(slots.loops, limits.slots_max)
    preferences = slots.preferences[: limits.slots_max]
    parts = [f"Goal: {block(slots.goal, limits.words_max_bytes)}"] if slots.goal else []
    loops_cut = cut_note(len(slots.loops) - len(loops), "older open loops")
    own = slots.own_loops if reading.features.marks_loops else ()
    shown = [
        f"{line(loop, limits.line_max_bytes)}{' (yours)' if loop in own else ''}" for loop in loops
    ]
    parts += _list("Open loops:", shown, loops_cut)
    told = [
        f"{line(name, limits.line_max_bytes)}: {line(value, limits.line_max_bytes)}"
        for name, value in preferences
    ]
    told_cut = cut_note(len(slots.preferences) - len(preferences), "more preferences")
    parts += _list("Preferences:", told, told_cut)
    return section("goal", "Goal and preferences", "\n\n".join(parts)) if parts else None


def guiding(reading: Reading, limits: PromptLimits) -> Section:
    text = reading.manifest.guiding
    if reading.directives:
        text = block(reading.directives, limits.directives_max_bytes)
    return section("directives", "Directives", text)


def suppressed_labels(reading: Reading, limits: PromptLimits) -> Section | None:
    if not reading.suppressed:
        return None
    body = ["Never propose these for this task.", *_labels(reading, reading.suppressed, limits)]
    return section("suppressed_labels", "Suppressed labels", "\n".join(body))


def available_labels(reading: Reading, limits: PromptLimits) -> Section | None:
    if not reading.available:
        return None
    body = [f"The task has {len(reading.task.labels)} labels: none may be assigned."]
    if left := labels_left(reading.task):
        body = [f"At most {left} more may be assigned."]
        body += _labels(reading, reading.available, limits)
    return section("available_labels", "Available labels", "\n".join(body))


def corrections(reading: Reading, limits: PromptLimits) -> Section | None:
    """Newest first; JSON strings, so that quotes and ends of line are escaped."""
    if not reading.corrections:
        return None
    shown = reading.corrections[: limits.corrections_max]
    body = ["How the person corrected wording in this category, newest first."]
    body += [
        f"- {dump(line(one.before, limits.line_max_bytes))}"
        f" -> {dump(line(one.after, limits.line_max_bytes))}"
        for one in shown
    ]
    body += cut_note(len(reading.corrections) - len(shown), "older corrections")
    units = (SHARED,) if reading.features.names_units else ()
    return section("corrections", "Correction examples", "\n".join(body), units)


def linked(reading: Reading, limits: PromptLimits) -> Section | None:
    """Directed relations, seen from the task; what may not be seen is not there."""
    if not reading.linked:
        return None
    links = reading.linked[: limits.linked_max]
    told = _link_2 if reading.features.tells_links else _link
    named = [msgspec.structs.replace(one, id=reading.named(one.id)) for one in links]
    shown = [dump(told(one, limits)) for one in named]
    units = [one.id for one in links] if reading.features.names_units else ()
    if left_out := len(reading.linked) - len(shown):
        shown.append(dump({"linksCut": left_out}))
    return section("linked", "Linked tasks", rows(shown), filter(None, units))


def _link(link: r.LinkSeen, limits: PromptLimits) -> dict[str, object]:
    if link.is_deleted:
        return {"relation": link.relation, "deleted": True}
    if not link.id:
        return {"relation": link.relation}
    return {
        "relation": link.relation,
        "id": link.id,
        "title": line(link.title, limits.line_max_bytes),
        "status": link.status,
        "priority": link.priority,
        "oneLiner": line(link.one_liner, limits.line_max_bytes) or None,
    }


def _link_2(link: r.LinkSeen, limits: PromptLimits) -> dict[str, object]:
    """What is not there takes no room."""
    told = {
        "relation": link.relation,
        "direction": link.direction,
        "deleted": link.is_deleted,
        "id": link.id,
        "title": line(link.title, limits.line_max_bytes),
        "status": link.status,
        "priority": link.priority,
        "due": link.due,
        "labels": [line(one, limits.line_max_bytes) for one in link.labels[: limits.labels_max]],
        "oneLiner": line(link.one_liner, limits.line_max_bytes),
        "tldr": line(link.tldr, limits.line_max_bytes),
    }
    return {name: value for name, value in told.items() if value}


def report(reading: Reading, limits: PromptLimits) -> Section | None:
    if (known := reading.report) is None:
        return None
    content = block(known.content, limits.text_max_bytes)
    tldr = line(known.tldr, limits.line_max_bytes)
    written = f"Written at {known.at}."
    if reading.features.tells_days:
        newer = f"; newer entries: {known.newer}" if reading.has_task else ""
        written = f"Written {when(reading, known.at)}{newer}."
    return section("report", "Current report", f"{written}\n\nTL;DR: {tldr}\n\n{content}")


def critical(reading: Reading, limits: PromptLimits) -> Section | None:
    """Grievances first, then excellence, then the rest; oldest first in each, newest kept."""
    if not reading.critical:
        return None
    shown = newest_of(reading.critical, limits.critical_max)
    groups: list[str] = []
    for title, categories in CRITICAL_GROUPS:
        told = [
            _note(reading, one, one.category, limits) for one in shown if one.category in categories
        ]
        groups += ["\n".join([f"{title}:", *told])] if told else []
    groups += cut_note(len(reading.critical) - len(shown), "older critical observations")
    return section("critical", "Prior critical observations", "\n\n".join(groups))


def _note(reading: Reading, one: r.ObservationSeen, kind: str, limits: PromptLimits) -> str:
    number = f"{one.number} " if one.number else ""
    return f"- {number}[{when(reading, one.at)}] ({kind}) {line(one.text, limits.line_max_bytes)}"


def journal(reading: Reading, limits: PromptLimits) -> Section | None:
    """The agent's own observations, oldest first."""
    if not reading.journal:
        return None
    shown = newest_of(reading.journal, limits.journal_max)
    body = cut_note(len(reading.journal) - len(shown), "older observations")
    body += [_note(reading, one, one.priority, limits) for one in shown]
    return section("journal", "Agent journal", "\n".join(body))


def proposals(reading: Reading, limits: PromptLimits) -> Section | None:
    """Open items with fingerprints, then what the person decided, newest first."""
    shown = newest_of(reading.proposals, limits.proposals_max)
    body = cut_note(len(reading.proposals) - len(shown), "older open proposals")
    for one in shown:
        status = "" if one.status == "pending" else f" [{one.status}]"
        summary = line(one.summary, limits.line_max_bytes)
        body.append(f"- fp={reading.named(one.fingerprint)} {summary}{status}")
    if reading.verdicts:
        body += ["", "Recent verdicts:"] if body else ["Recent verdicts:"]
    for verdict in reading.verdicts[: limits.verdicts_max]:
        why = line(verdict.reason, limits.line_max_bytes)
        edit = line(verdict.edit, limits.line_max_bytes)
        edited = f"edited: {edit}" if edit else "edited" if verdict.is_edited else ""
        why = "; ".join(part for part in (why, edited) if part)
        summary = line(verdict.summary, limits.line_max_bytes)
        body.append(f"- {verdict.verdict}: {summary}{f' ({why})' if why else ''}")
    body += cut_note(len(reading.verdicts[limits.verdicts_max :]), "older verdicts")
    if not body:
        return None
    return section("proposals", "Open proposals and recent verdicts", "\n".join(body))


def changed(reading: Reading, limits: PromptLimits) -> Section | None:
    """Sorted ids with what changed, then timers, then why else it woke."""
    shown = reading.changes[: limits.changes_max]
    body = [
        f"- {line(reading.named(one.subject), limits.line_max_bytes)}: {one.what}"
        f"{f' ({one.times} times)' if one.times > 1 else ''}"
        for one in shown
    ]
    body += cut_note(len(reading.changes) - len(shown), "more changes")
    if reading.hidden:
        body.append(f"- {reading.hidden} more changed outside of what you may see")
    for timer in reading.timers[: limits.changes_max]:
        schedule = f" ({line(timer.schedule, limits.line_max_bytes)})" if timer.schedule else ""
        ticks = newest_of(timer.ticks, limits.changes_max)
        earlier = cut_note(len(timer.ticks) - len(ticks), "earlier ticks")
        told = ", ".join((*earlier, *(when(reading, one) for one in ticks)))
        body.append(f"- timer {line(timer.id, limits.line_max_bytes)}{schedule} fired: {told}")
    body += cut_note(len(reading.timers[limits.changes_max :]), "more timers")
    if reading.is_resumed:
        body.append("- you were paused and have been resumed")
    return section("changed", "Changed since last wake", "\n".join(body)) if body else None


def words(reading: Reading, limits: PromptLimits) -> Section | None:
    if not reading.words:
        return None
    return section("words", "The user's words", block(reading.words, limits.words_max_bytes))


def client(reading: Reading, limits: PromptLimits) -> Section | None:
    """In a section of its own: no proposal may quote it, and it is nothing that the person said."""
    if not reading.client:
        return None
    told = block(reading.client, limits.words_max_bytes)
    return section("client", "What the client said", told)


ASKED_BY = {
    "day_agent": "the agent that plans the days",
    "category_agent": "the agent that looks over the category",
}
QUESTIONS: Mapping[str, str] = {
    "fits_today": (
        "Does this task fit into today: how much of it is left, and what does it wait for?"
    ),
    "estimate": "Is the estimate still right, by what was done and what remains?",
    "blocked": "Is this task blocked, by what, and who can end that?",
    "stale": "Is this task still wanted, or is it done or overtaken?",
}
_ANSWER_THEM = (
    "Other agents of the person ask about this task. Answer each in the report, even where nothing "
    "else has changed."
)


def requests(reading: Reading, limits: PromptLimits) -> Section | None:
    """What other agents ask, in sentences of ours: no text of another category is among them."""
    if not reading.requests:
        return None
    told = (
        f"- {one.about}: {QUESTIONS[one.about]} (asked by {ASKED_BY[one.kind]})"
        for one in reading.requests
    )
    return section("requests", "Requests", "\n".join([_ANSWER_THEM, *told]))


def first_wake(reading: Reading, limits: PromptLimits) -> Section | None:
    if not reading.is_first:
        return None
    return section("first_wake", "First wake", reading.manifest.sentences.first_wake)


def instruction(reading: Reading, limits: PromptLimits) -> Section:
    unset = "that of the task's own texts" if reading.features.tells_days else "en"
    if not reading.has_task:
        unset = "that of most of the tasks' titles"
    if reading.template is not None:
        unset = "that of the directives"
    language = line(reading.language, limits.line_max_bytes) or unset
    told = reading.manifest.sentences
    parts = [told.answer] if reading.words else []
    parts += [told.act_first] if reading.is_first else [told.no_op, told.act]
    parts.append(f"Language of the report: {language}.")
    return section("instruction", "Instruction", "\n".join(parts))


def _labels(reading: Reading, labels: Sequence[r.LabelSeen], limits: PromptLimits) -> list[str]:
    shown = labels[: limits.labels_max]
    told = [
        f"- {reading.named(label.id)}: {line(label.name, limits.line_max_bytes)}" for label in shown
    ]
    return [*told, *cut_note(len(labels) - len(shown), "more labels")]


def _list(title: str, texts: Sequence[str], cut: Sequence[str]) -> list[str]:
    if not texts and not cut:
        return []
    return ["\n".join([title, *cut, *(f"- {text}" for text in texts)])]


# ------------------------------------------------------------------------------------------ lessons

REASONS_MAX = 3  # of a tool
EDITS_MAX = 5
TEXT_MAX_BYTES = 200  # of a reason or an edit
_INTRO = "How the person decided on proposals for other tasks of this category, the newest of each."


def lessons(reading: Reading, limits: PromptLimits) -> Section | None:
    """Numbers and reasons by tool, then edits; whole lines, as many as fit."""
    bytes_max = min(limits.line_max_bytes, TEXT_MAX_BYTES)
    told = [_tool(one, bytes_max) for one in reading.lessons]
    edits = [one for each in reading.lessons for one in each.edits]
    for one in edits[:EDITS_MAX]:
        edit = line(one.edit, bytes_max)
        told.append((f"- edited before it was accepted: {one.field}: {edit}", (one.task,)))
    for count in range(len(told), 0, -1):
        body = [_INTRO, *(text for text, _ in told[:count])]
        body += cut_note(len(told) - count, "more lines")
        units = (unit for _, tasks in told[:count] for unit in tasks)
        made = section("lessons", "Lessons", "\n".join(body), units)
        if size(made.text) <= limits.lessons_max_bytes:
            return made
    return None


def _tool(one: r.LessonSeen, bytes_max: int) -> tuple[str, tuple[str, ...]]:
    """The line of a tool, and the tasks whose texts it repeats."""
    if one.is_ruled_out:
        return f"- {one.tool}: the person wants none in this category.", ()
    shown = one.reasons[:REASONS_MAX]
    text = f"- {one.tool}: {one.accepted} of {one.decided} accepted."
    if shown:
        named = (f"{dump(line(known.text, bytes_max))} ({known.count})" for known in shown)
        text += f" Declined because: {', '.join(named)}."
    if one.bare:
        text += f" Declined without a reason: {one.bare}."
    return text, tuple(task for known in shown for task in known.tasks)


# ----------------------------------------------------------------- time, older notes, earlier turns


def time(reading: Reading, limits: PromptLimits) -> Section | None:
    """The rating, running timers, the sum, and the newest entries, oldest first; times as the
    person's clock showed them."""
    task = reading.task
    if not task.time and not task.rating:
        return None
    done = [one for one in task.time if one.minutes is not None]
    shown = newest_of(done, limits.time_max)
    running = [
        f"A timer runs since {_wall(reading, one.start)}{_said(one, limits)}."
        for one in task.time
        if one.minutes is None
    ]
    comment = line(task.comment, limits.line_max_bytes)
    body = [f"The person rates the task {_rated(task.rating, comment)}."] if task.rating else []
    body += [*newest_of(running, limits.time_max), f"Logged in all: {task.minutes_spent} minutes."]
    body += cut_note(len(done) - len(shown) + task.time_unread, "older entries")
    for one in shown:
        start, end = _wall(reading, one.start), _wall(reading, one.end)
        span = f"{start} to {end.removeprefix(start[:-5])}, {one.minutes} minutes"
        rated = f", rated {_rated(one.rating)}" if one.rating else ""
        body.append(f"- {reading.named(one.id)} {span}{rated}{_said(one, limits)}")
    return section("time", "Time", "\n".join(body))


def _wall(reading: Reading, at: str) -> str:
    local = reading.local
    if reading.features.tells_days:
        return when(reading, at)
    return wall(at, local.offset, local.earlier) if local and at else at


def _said(one: r.TimeSeen, limits: PromptLimits) -> str:
    summary = line(one.summary, limits.line_max_bytes)
    return f": {summary}" if summary else ""


def _rated(score: int, comment: str = "") -> str:
    return f"{score} of {RATING_MAX}{f': {comment}' if comment else ''}"


def memory(reading: Reading, limits: PromptLimits) -> Section | None:
    """The beginnings of the notes that the journal does not show any more: the newest digests
    that fit, oldest first."""
    if not reading.memory:
        return None
    shown: list[str] = []
    room = limits.memory_max_bytes
    for one in reversed(reading.memory):
        text = block(one.text, limits.memory_max_bytes)
        since, until = (_day(reading, at) for at in (one.since, one.until))
        told = f"{since} to {until}, {one.count} notes:\n{text}"
        room -= size(told) + 2
        if room < 0:
            break
        shown.append(told)
    body = [
        "Beginnings of your older notes; `recall` finds them whole.",
        *cut_note(len(reading.memory) - len(shown), "older digests"),
        *shown[::-1],
    ]
    return section("memory", "Memory", "\n\n".join(body))


def thread(reading: Reading, limits: PromptLimits) -> Section | None:
    """The newest turns of the session that fit, oldest first; of the newest at least a part."""
    shown = turns(reading, limits)
    left_out = reading.thread.left_out + len(reading.thread.turns) - len(shown)
    body = [*cut_note(left_out, "earlier turns"), rows(shown)] if left_out or shown else []
    return section("thread", "Earlier in this session", "\n".join(body)) if body else None


def turns(reading: Reading, limits: PromptLimits) -> list[str]:
    """Those that are shown, each as JSON."""
    side, room = limits.thread_max_bytes // 2, limits.thread_max_bytes
    shown: list[str] = []
    for one in reversed(newest_of(reading.thread.turns, limits.thread_max)):
        at = when(reading, one.at)
        told = {"at": at, "person": clip(one.words, side), "you": clip(one.answer, side)}
        if reading.features.tells_days and not one.answer:
            del told["you"]
        shown.append(dump(told))
        room -= size(shown[-1])
        if room < 0 and len(shown) > 1:
            del shown[-1]
            break
    return shown[::-1]


# ---------------------------------------------------------------------------------------- by name

PARTS: Final[Mapping[str, Part]] = {
    one.__name__: one
    for one in (
        role, goal, guiding, suppressed_labels, available_labels, corrections, lessons, time,
        linked, report, memory, critical, journal, proposals, changed, thread, requests, words,
        client, first_wake, now, instruction,
    )
}  # fmt: skip
"""The makers of sections, as `domain.wake.manifests` names them."""
