"""What the texts of a task ask for and the task does not hold yet.

A fold over sentences, oldest first: for values that a task has once, the newest text wins; items,
labels and ticks add up. What already holds, or is already proposed and undecided, is left out.
A closed task gets no proposals.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from adapters.models import dates, phrases
from adapters.models.reading import LABELS_PER_TASK, Item, PromptTask, Source
from adapters.models.sentences import contains, is_question, lines, quote, sentences
from adapters.models.todos import todos
from domain.text import fold

ITEMS_PROPOSED_MAX = 20
DONE_MAX = 200
PART_LENGTH_MIN = 4
"""A shorter word never names a longer item on its own: "done: it"."""
LABEL_LENGTH_MIN = 2
KEYS = {
    "due": "dueDate",
    "estimate": "estimateMinutes",
    "priority": "priority",
    "status": "status",
    "language": "languageCode",
}
"""Of a value that a task has once, in the prompt."""

CLOSED = ("DONE", "REJECTED")
HELD_UP = ("BLOCKED", "ON HOLD")
NOT_STARTED = ("OPEN", "GROOMED")

_ARTICLE = re.compile("^(?:the|a|an|my|our|der|die|das|den|ein|eine|einen) ")
_QUOTED = re.compile('"[^"]{0,500}"')

Kind = Literal[
    "language",
    "due",
    "estimate",
    "priority",
    "status",
    "label",
    "item",
    "check",
    "follow_up",
    "time",
    "link",
]


class Finding(Struct, frozen=True):
    """Something to propose, with the words it was read from.

    `target` is the id of a label, item or task, `extra` a status's reason or a language's
    confidence. Of a follow-up they are its due date and description, `items` what it takes along;
    of a time its start and end.
    """

    kind: Kind
    value: str
    quote: str = ""
    source: Source = Source("title", "")
    target: str = ""
    extra: str = ""
    items: tuple[str, ...] = ()


class Findings(Struct, frozen=True):
    """All that was found; `freed` is a note that a blocked task is blocked no longer,
    `held_back` counts what was found and not taken up. A task that a text names is `sought`
    until it is looked up, and `unclear` where it is none or might be several."""

    proposals: tuple[Finding, ...] = ()
    freed: Finding | None = None
    held_back: int = 0
    sought: Finding | None = None
    unclear: Finding | None = None


class _Values(Struct):
    """What the texts say so far."""

    due: Finding | None = None
    estimate: Finding | None = None
    priority: Finding | None = None
    blocked: Finding | None = None
    started: Finding | None = None
    freed: Finding | None = None


def find(seen: PromptTask, aside: frozenset[str] = frozenset()) -> Findings:
    """Look through all texts of a task. Deterministic; the order of proposals is fixed.

    `aside`: sentences that speak of another task.
    """
    language = list(_language(seen))
    if seen.status in CLOSED:
        return Findings(tuple(language))
    values = _Values()
    for source in seen.sources:
        for sentence in _told(source):
            if sentence not in aside:
                _take(values, source, sentence)
    proposals = (
        *language,
        *_single(seen, values),
        *_labels(seen),
        *_items(seen),
        *_checks(seen),
    )
    return Findings(
        tuple(
            finding
            for finding in proposals
            if not _is_open(seen, finding) and not _is_overruled(seen, finding)
        ),
        values.freed if seen.status == "BLOCKED" else None,
    )


def _told(source: Source) -> Iterator[str]:
    """The sentences of a source that state something."""
    for line in lines(source.text):
        for sentence in sentences(line.text):
            if not is_question(sentence):
                yield sentence


def _take(values: _Values, source: Source, sentence: str) -> None:
    """Let a newer sentence replace what older ones said."""
    if (dated := dates.due(sentence, source.day)) is not None:
        values.due = Finding("due", dated.day.isoformat(), dated.quote, source)
    if (effort := phrases.estimate(sentence)) is not None:
        values.estimate = Finding("estimate", effort.value, effort.quote, source)
    if (urgency := phrases.urgency(sentence)) is not None:
        values.priority = Finding("priority", urgency.value, urgency.quote, source)
    if source.kind == "title":
        return
    for turn in phrases.turns(sentence):
        said = turn.phrase.quote
        match turn.state:
            case "blocked":
                reason = turn.phrase.value
                values.blocked = Finding("status", "BLOCKED", said, source, extra=reason)
                values.freed = None
            case "free":
                values.blocked = None
                values.freed = Finding("status", "", said, source)
            case "started":
                values.started = Finding("status", "IN PROGRESS", said, source)
                if values.blocked is not None and values.blocked.source is not source:
                    values.blocked = None


def _single(seen: PromptTask, values: _Values) -> Iterator[Finding]:
    """The values a task has once, where they would change."""
    if values.due is not None and values.due.value != seen.due:
        yield values.due
    if values.estimate is not None and values.estimate.value != str(seen.estimate):
        yield values.estimate
    asked = values.priority
    if asked is not None and asked.value and asked.value < (seen.priority or "P3"):
        yield asked
    if values.blocked is not None:
        if seen.status not in HELD_UP:
            yield values.blocked
    elif values.started is not None and seen.status in NOT_STARTED:
        yield values.started


def _language(seen: PromptTask) -> Iterator[Finding]:
    if not seen.language:
        code, confidence = phrases.language(source.text for source in seen.sources)
        if code:
            yield Finding("language", code, source=seen.sources[-1], extra=confidence)


def _labels(seen: PromptTask) -> list[Finding]:
    """Available labels that the texts name: those of the title first, then in the given order."""
    texts = [(source, fold(source.text)) for source in seen.sources if source.kind != "words"]
    texts.sort(key=lambda pair: pair[0].kind != "title")
    found: list[Finding] = []
    for source, text in texts:
        known = {finding.target for finding in found}
        for label in seen.labels:
            name = fold(label.name)
            if label.id in known or len(name) < LABEL_LENGTH_MIN or not contains(text, name):
                continue
            found.append(Finding("label", label.name, _near(source, name), source, label.id))
    return found[: min(LABELS_PER_TASK, seen.labels_left)]


def _near(source: Source, name: str) -> str:
    """The line that names a label."""
    for line in lines(source.text):
        folded = fold(line.text)
        if contains(folded, name):
            start = folded.find(name)
            return quote(line.text, start, start + len(name))
    return ""


def _items(seen: PromptTask) -> list[Finding]:
    known = {fold(item.title) for item in seen.items} | {fold(seen.title)}
    said_done = [fold(what) for what, _, _ in _done(seen)]
    found: list[Finding] = []
    for source in seen.sources:
        if source.kind == "title":
            continue
        for todo in todos(source.text):
            name = fold(todo.value)
            if name in known or any(contains(what, name) for what in said_done):
                continue
            known.add(name)
            found.append(Finding("item", todo.value, todo.quote, source))
    return [finding for finding in found if not _is_open(seen, finding)][:ITEMS_PROPOSED_MAX]


def _checks(seen: PromptTask) -> list[Finding]:
    """Open items that a text says are done."""
    todo = unfinished(seen)
    found: dict[str, Finding] = {}
    for what, said, source in _done(seen):
        for item in named(todo, fold(what)):
            is_older = bool(source.at) and source.at <= item.changed_at
            if not is_older:  # a person took the tick off again later
                found[item.id] = Finding("check", item.title, said, source, item.id)
    return list(found.values())[:ITEMS_PROPOSED_MAX]


def unfinished(seen: PromptTask) -> list[Item]:
    """The items that are still to do."""
    return [item for item in seen.items if not item.is_checked and not item.is_archived]


def named(items: list[Item], what: str) -> list[Item]:
    """The items whose title the words hold, or the only one that holds the words."""
    what = _ARTICLE.sub("", what.strip(" .,:;!-–*`\"'"))
    titles = [(item, fold(item.title).strip(" .,:;!")) for item in items]
    held = [item for item, title in titles if title and contains(what, title)]
    if held or len(what) < PART_LENGTH_MIN:
        return held
    parts = [item for item, title in titles if contains(title, what)]
    return parts if len(parts) == 1 else []


def _done(seen: PromptTask) -> list[tuple[str, str, Source]]:
    """What texts say is done: in their words, with the quote; the newest `DONE_MAX`."""
    found: list[tuple[str, str, Source]] = []
    for source in seen.sources:
        if source.kind == "title":
            continue
        for line in lines(source.text):
            if line.box:
                said = quote(f"[{line.box}] {line.text}", 0, 0)
                found += [(line.text, said, source)] if line.box == "x" else []
                continue
            for sentence in sentences(line.text):
                what = "" if is_question(sentence) else phrases.done(sentence)
                found += [(what, quote(sentence, 0, len(sentence)), source)] if what else []
    return found[-DONE_MAX:]


def _is_overruled(seen: PromptTask, finding: Finding) -> bool:
    """Whether a person or an import set the field after the text was written, or with it."""
    decided = seen.decided.get(KEYS.get(finding.kind, ""), "")
    return bool(finding.source.at) and finding.source.at <= decided


def _is_open(seen: PromptTask, finding: Finding) -> bool:
    """Whether the same thing is already proposed and undecided."""
    value = fold(finding.value)
    for proposal in seen.proposals:
        line = fold(proposal)
        match finding.kind:
            case "item" | "check":
                is_same = f'"{value}"' in line or line.endswith(f": {value}")
            case "label":
                is_same = "label" in line and (value in line or finding.target in line)
            case "due":
                is_same = value in line and "due" in line
            case _:
                is_same = contains(_QUOTED.sub("", line), value)
        if is_same:
            return True
    return False


def without(findings: Findings, kinds: frozenset[str]) -> Findings:
    """The findings without some kinds."""
    kept = tuple(finding for finding in findings.proposals if finding.kind not in kinds)
    return msgspec.structs.replace(findings, proposals=kept)
