"""What the texts of a task ask for and the task does not hold yet.

A fold over sentences, oldest first: for values that a task has once, the newest text wins; items,
labels and ticks add up. What already holds, or is already proposed and undecided, is left out.
A closed task gets no proposals.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from adapters.models.offline import (
    clauses,
    dates,
    deadline,
    done,
    duration,
    language,
    lemmas,
    stance,
    state,
    todo,
    urgency,
)
from adapters.models.offline.clauses import Sentence
from adapters.models.offline.done import DoneClaim
from adapters.models.offline.phrasing import languages, rule, says, vocabulary
from adapters.models.offline.sentences import (
    Phrase,
    TextLine,
    contains,
    lines,
    quote,
    sentences_of,
    words,
)
from adapters.models.offline.state import StateChange
from adapters.models.offline.wording import texts_in
from adapters.models.rules.context import (
    LABELS_PER_TASK,
    WAKES_MAX,
    PromptItem,
    PromptTask,
    SourceText,
)
from domain.text import fold

FindingKind = Literal[
    "language",
    "due",
    "estimate",
    "priority",
    "status",
    "label",
    "item",
    "check",
    "untick",
    "archive",
    "title",
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

    kind: FindingKind
    value: str
    quote: str = ""
    source: SourceText = SourceText("title", "")
    target: str = ""
    extra: str = ""
    items: tuple[str, ...] = ()


class RetractedProposal(Struct, frozen=True):
    """An open proposal to take back, and why."""

    fingerprint: str
    reason: str


class Findings(Struct, frozen=True):
    """All that was found; `freed` is a note that a blocked task is blocked no longer,
    `held_back` counts what was found and not taken up. A task that a text names is `sought`
    until it is looked up, and `unclear` where it is none or might be several. `shy`: what a
    text does not ask for by name, and the person mostly declines. `owed`: what others are to do by
    a day; `unsure`: a due date that two countries read differently, `doubtful`: one that may not
    hold any more, and is not proposed."""

    proposals: tuple[Finding, ...] = ()
    freed: Finding | None = None
    held_back: int = 0
    sought: Finding | None = None
    unclear: Finding | None = None
    retracted: tuple[RetractedProposal, ...] = ()
    shy: tuple[Finding, ...] = ()
    owed: tuple[str, ...] = ()
    unsure: Finding | None = None
    doubtful: Finding | None = None


class TextValues(Struct):
    """What the texts say so far; `blocked` also of what is on hold, `off`: it is called off, and
    whatever older texts ask for with it; `named`: the day that a text named last; `doubted`: a
    due date since which a text named a day, and it is not understood what for."""

    due: Finding | None = None
    estimate: Finding | None = None
    priority: Finding | None = None
    blocked: Finding | None = None
    started: Finding | None = None
    freed: Finding | None = None
    void: Finding | None = None
    off: Finding | None = None
    unsure: Finding | None = None
    named: tuple[SourceText, date] | None = None
    doubted: Finding | None = None


class Drop(Struct, frozen=True):
    """What a text drops, and what it says, the newest sentence first; `is_meant`: in so many
    words, `is_kept`: it stays after all."""

    what: str
    said: tuple[str, ...]
    source: SourceText
    is_meant: bool = False
    is_kept: bool = False

    def fits(self, titles: Sequence[str]) -> list[str]:
        """Those of which it speaks; where it names nothing, the one that it was about last."""
        for said in self.said:
            fits = [done.drops(self.what, said, one) for one in titles]
            best = max(fits, default=0)
            if best and (best == 1 or fits.count(best) == 1):
                return [one for fit, one in zip(fits, titles, strict=True) if fit == best]
        return []


# ----------------------------------------------------------------------------------------- the fold

ITEMS_PROPOSED_MAX, CONTEXT_MAX = 20, 2
DONE_MAX = 200
LABEL_LENGTH_MIN = 2
KEYS = {
    "title": "title",
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
EVENT_WORDS_MAX = 5
"""A sentence of so many words with a day in it tells of something else: "Dentist on the 11th."."""
GOES_ON = "IN PROGRESS"

ASKED = ">"
"""The box of a line that the person did not write, and agrees to."""
ParsedLine = tuple[SourceText, TextLine, tuple[Sentence, ...]]
Told = tuple[SourceText, tuple[str, ...]]


@lru_cache(maxsize=WAKES_MAX)
def find(seen: PromptTask, aside: frozenset[str] = frozenset()) -> Findings:
    """Look through all texts of a task. Deterministic; the order of proposals is fixed.

    `aside`: sentences that speak of another task.
    """
    spoken = list(_language(seen))
    if seen.status in CLOSED:
        return Findings(tuple(spoken))
    values = TextValues()
    told = [
        (source, line, tuple(one for one in clauses.read(line.text) if one.text not in unreal))
        for source in seen.sources
        for unreal in (_aside(source).unreal,)
        for line in (*_accepted(source), *lines(source.text))
    ]
    for source, line, sentences in told:
        others = _aside(source).others
        for sentence in sentences:
            if source.kind != "title" and stance.is_off(sentence, seen.title):
                said = quote(sentence.text)
                values = TextValues(off=Finding("status", "", said, source))
            elif line.box == ASKED:
                _take_due(values, source, sentence, seen, is_agreed=True)
            elif sentence.text not in aside:
                _take(values, source, sentence, seen, is_own=sentence.text not in others)
            order = dates.order(source.text, seen.language)
            if day := deadline.told(sentence, source.day, order):
                values.named = source, day
    claims = _claims(told)
    notes = list(_said(told))
    dropped = list(_dropped(notes))
    checks = _checks(seen, claims)
    found = (
        *_labels(seen),
        *_items(seen, claims, dropped, values.off),
        *checks,
        *_unticked(seen, claims, notes),
        *_retitled(seen, notes),
        *_archived(seen, dropped, {one.target for one in checks}),
    )
    read = (*spoken, *_single(seen, values), *found)
    is_new = [one for one in read if not is_open(seen, one) and not _is_overruled(seen, one)]
    is_doubtful = values.due is values.doubted and values.due in is_new
    doubtful = values.due if is_doubtful else None
    return Findings(
        tuple(one for one in is_new if one is not doubtful),
        values.freed if seen.status == "BLOCKED" else None,
        retracted=tuple(retracted(seen, values, read)),
        owed=tuple(_owed(told)),
        unsure=None if values.due or seen.due else values.unsure,
        doubtful=doubtful,
    )


def _said(told: Sequence[ParsedLine]) -> Iterator[Told]:
    """What notes say and do not ask, each sentence with those before it."""
    said, of = list[str](), None
    for source, line, sentences in told:
        said, of = said if source is of else [], source
        for one in sentences if source.kind != "title" and line.box not in (ASKED, "x") else ():
            said = [one.text, *said[:CONTEXT_MAX]]
            if not one.is_asked:
                yield source, tuple(said)


def _dropped(told: Sequence[Told]) -> Iterator[Drop]:
    """What shall be done no more, is there, or is others' to do; what is said with it may tell what
    it names."""
    for source, said in told:
        is_others = said[0] in _aside(source).others
        if (what := stance.archived(said[0])) is not None:
            yield Drop(what, said, source, is_meant=True)
        elif (what := stance.archived(said[0], is_kept=True)) is not None:
            yield Drop(what, said, source, is_kept=True)
        elif what := said[0] if is_others else stance.dropped(said[0]):
            yield Drop(what, said, source)


def _owed(told: Sequence[ParsedLine]) -> Iterator[str]:
    """What the newest note says that others are to do by a day that is named."""
    notes = [source for source, *_ in told if source.kind == "note"]
    for source, _, sentences in told:
        for one in sentences if notes and source is notes[-1] else ():
            if one.text in _aside(source).others and deadline.is_dated(one, source.day):
                yield quote(one.text)


def _aside(source: SourceText) -> stance.Aside:
    """What is not to be heeded of a text; a title is the person's, whoever it names."""
    return stance.Aside() if source.kind == "title" else stance.aside(source.text)


def _accepted(source: SourceText) -> Iterator[TextLine]:
    """What others ask for in a mail that a note quotes, and the person agrees to."""
    for one in stance.accepted(source.text)[0].splitlines() if ">" in source.text else ():
        yield TextLine(one, box=ASKED)


def _take(
    values: TextValues, source: SourceText, sentence: Sentence, seen: PromptTask, *, is_own: bool
) -> None:
    """Let a newer sentence replace what older ones said; of others' duties no date or length."""
    if values.estimate and values.estimate.source is not source:
        took = rule("took").search(sentence.text)
        values.estimate = None if took else values.estimate
    older = values.due if values.due and values.due.source is not source else None
    before = _due_before(values, source, seen)
    is_over = older and not deadline.shifted(sentence, date.fromisoformat(older.value))
    is_over = older and is_over and stance.is_over(sentence, f"{seen.title} {older.quote}")
    if older and (is_over or (not is_own and says(sentence.words, "it_object"))):
        said = quote(sentence.text)
        values.due, values.void = None, Finding("due", "", said, source)
    is_answer = ">" in source.text and values.due and values.due.source is source
    if is_own and not (is_answer and stance.agrees(sentence.text)):
        _take_due(values, source, sentence, seen)
    elif before and (moved := deadline.corrected(sentence, source.day)):
        values.due = Finding("due", moved.day.isoformat(), moved.quote, source)
    if is_own and (effort := duration.estimate(sentence)) is not None:
        values.estimate = Finding("estimate", effort.value, effort.quote, source)
    what = stance.dropped(sentence.text)
    if values.due and values.due.source is not source and done.shares(what, values.due.quote):
        values.due, values.void = None, Finding("due", "", what, source)
    if (asked := urgency.urgency(sentence)) is not None:
        values.priority = Finding("priority", asked.value, asked.quote, source)
    if source.kind != "title":
        is_held = seen.status in HELD_UP or bool(values.blocked or seen.proposals)
        for turn in state.turns(sentence, is_held=is_held):
            _turn(values, source, turn)
    waits = values.blocked if values.blocked and values.blocked.source is not source else None
    is_of_it = waits and state.is_news(sentence) and done.shares(waits.extra, sentence.text)
    if is_of_it or (waits and waits.value == "ON HOLD" and state.is_own_deed(sentence)):
        values.blocked = None


def _due_before(values: TextValues, source: SourceText, seen: PromptTask) -> date | None:
    """What a text may correct: the day that an older one named last, or that the task has."""
    if values.due:
        return None if values.due.source is source else date.fromisoformat(values.due.value)
    is_set = seen.due and not values.void and source.kind != "title"
    return dates.resolve({"iso": seen.due}, None) if is_set else None


def _take_due(
    values: TextValues,
    source: SourceText,
    sentence: Sentence,
    seen: PromptTask,
    *,
    is_agreed: bool = False,
) -> None:
    """`is_agreed`: what a mail offers to the person, who agrees, takes the place of another day."""
    if deadline.is_void(sentence):
        values.due = None
        values.void = Finding("due", "", quote(sentence.text), source)
        return
    order = dates.order(source.text, seen.language)
    older = _due_before(values, source, seen)
    dated = deadline.shifted(sentence, older) if older else None
    dated = dated or (deadline.corrected(sentence, source.day, order) if older else None)
    is_told = values.named and values.named[0] is source
    since = values.named[1] if values.named and is_told else older if values.due else None
    came = deadline.receipt(source.text, source.day) if ">" in source.text else None
    is_term = came is not None and rule("of_receipt").search(sentence.text) is not None
    dated = dated or deadline.due(sentence, came if is_term else source.day, order, since)
    offered = is_agreed and seen.due and rule("offers").search(sentence.text)
    if offered and (day := deadline.told(sentence, source.day, order)):
        dated = deadline.DueDate(day, quote(sentence.text))
    if dated is None and older and deadline.is_shaken(sentence, older, source.day):
        said = quote(sentence.text)
        values.due, values.void = None, Finding("due", "", said, source)
    if dated is None and (said := deadline.unsure(sentence, source.day, order)):
        values.unsure = Finding("due", "", said, source)
    if dated is not None:
        values.due = Finding("due", dated.day.isoformat(), dated.quote, source)
    elif values.due and values.due.source is not source and len(sentence.words) > EVENT_WORDS_MAX:
        values.doubted = values.due if deadline.is_dated(sentence, source.day) else values.doubted


def _turn(values: TextValues, source: SourceText, turn: StateChange) -> None:
    said, reason = turn.phrase.quote, turn.phrase.value
    match turn.state:
        case "blocked" | "hold":
            status = "BLOCKED" if turn.state == "blocked" else "ON HOLD"
            values.blocked = Finding("status", status, said, source, extra=reason)
            values.freed = values.started = None
            if turn.state == "hold" and values.due and values.due.source is not source:
                values.due, values.void = None, Finding("due", "", said, source)
        case "free" if reason and values.freed and values.freed.source is source:
            values.blocked = None  # it came, after words that say more
        case "free":
            waited_for = values.blocked.extra if values.blocked else ""
            values.freed = Finding("status", GOES_ON, said, source, waited_for, reason)
            values.blocked = None
        case "started":
            values.started = Finding("status", "IN PROGRESS", said, source)
            if values.blocked is not None and values.blocked.source is not source:
                values.blocked = None


def _single(seen: PromptTask, values: TextValues) -> Iterator[Finding]:
    """The values a task has once, where they would change."""
    if values.due is not None and values.due.value != seen.due:
        yield values.due
    if values.estimate is not None and values.estimate.value != str(seen.estimate):
        yield values.estimate
    asked = values.priority
    if asked is not None and asked.value and asked.value != seen.priority:
        is_lower = asked.value > (seen.priority or "P3")
        if asked.value in ("P2", "P3") or not is_lower:
            yield asked
    if values.blocked is not None:
        if seen.status not in HELD_UP:
            yield values.blocked
    elif values.freed is not None and seen.status in HELD_UP:
        if _is_free(seen, values.freed):
            yield values.freed
    elif values.started is not None and seen.status in NOT_STARTED:
        yield values.started


def _is_free(seen: PromptTask, freed: Finding) -> bool:
    """Whether the work goes on: the text says so, or what came is what was waited for."""
    if freed.extra != "came":
        return True
    waited_for = f"{seen.status_reason} {freed.target}"
    return seen.status == "BLOCKED" and done.shares(waited_for, freed.quote)


def _language(seen: PromptTask) -> Iterator[Finding]:
    if not seen.language:
        code, confidence = language.language(source.text for source in seen.sources)
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


def _near(source: SourceText, name: str) -> str:
    """The line that names a label."""
    for line in lines(source.text):
        folded = fold(line.text)
        if contains(folded, name):
            start = folded.find(name)
            return quote(line.text, start, start + len(name))
    return ""


def _items(
    seen: PromptTask,
    claims: Sequence[tuple[DoneClaim, SourceText]],
    dropped: Sequence[Drop],
    off: Finding | None,
) -> list[Finding]:
    """What is asked for since it was called `off`, and neither there in other words nor done since;
    of what is not proposed yet no more than fits into a call."""
    known = {fold(one.title) for one in seen.items} | {fold(seen.title)}
    there = [frozenset(done.content(one)) for one in known]
    said_done = [claim for claim, _ in claims if not claim.is_denied]
    found: list[Finding] = []
    since = seen.sources.index(off.source) if off else 0
    titles = [one.title for one in seen.items]
    for source in (one for one in seen.sources[since:] if one.kind != "title"):
        for one in todo.todos(source.text, seen.title, titles):
            name = fold(one.value)
            is_there = name in known or any(done.is_same(one.value, other) for other in there)
            is_dropped = _drops_item(one.value, titles, source) or any(
                _is_dropped(one, source, drop) for drop in dropped
            )
            if (
                is_there
                or is_dropped
                or _is_dated(one)
                or _is_whole(seen, source, one)
                or any(one.quote != c.quote and done.means(c, one.value) == 2 for c in said_done)
            ):
                continue
            known.add(name)
            there.append(frozenset(done.content(one.value)))
            found.append(Finding("item", one.value, one.quote, source))
    still = [finding for finding in found if is_open(seen, finding)]
    return [one for one in found if one not in still][:ITEMS_PROPOSED_MAX] + still


def _is_dated(asked: Phrase) -> bool:
    """Whether a day is left in what was taken out of a sentence, so that was not understood; "pay
    by Friday" was, and "the minutes of 3 March"."""
    if fold(asked.value) in (fold(asked.quote), fold(asked.quote).rstrip(".!")):
        return False
    told = dates.masked(asked.value)
    at = min(told.found, default=0)
    before = words(asked.value[:at])
    is_last = not told.spans[at:].strip("".join(dates.MASKS)) and len(before) < 3
    return bool(told.found) and not is_last and not says(before[-1:], "todo_of_day")


def _drops_item(title: str, items: Sequence[str], source: SourceText) -> bool:
    """Whether what it asks for is no more than to drop an item: "strike the rug"."""
    what = stance.archived(title)
    return what is not None and bool(Drop(what, (title,), source).fits(items))


def _is_dropped(asked: Phrase, source: SourceText, drop: Drop) -> bool:
    """Whether a newer text says that nobody is to do it, or that somebody else is."""
    if drop.is_kept:
        return False
    if drop.is_meant and drop.source is source:
        return asked.quote != quote(drop.said[0]) and bool(drop.fits([asked.value]))
    fits = drop.fits if drop.is_meant else lambda titles: done.shares(titles[0], drop.what)
    return drop.source.order > source.order and bool(fits([asked.value]))


def _archived(
    seen: PromptTask, dropped: Sequence[Drop], checked: Collection[str]
) -> Iterator[Finding]:
    """Open items that a text drops and that are not done."""
    items = [one for one in unfinished(seen) if one.id not in checked]
    found: dict[str, Finding] = {}
    for drop in dropped:
        is_told = drop.is_meant or drop.is_kept
        titles = drop.fits([one.title for one in items]) if is_told else []
        for one in items if titles else ():
            is_newer = not drop.source.at or drop.source.at > one.changed_at
            if one.title in titles and drop.is_kept:
                found.pop(one.id, None)
            elif one.title in titles and is_newer:
                said = quote(drop.said[0])
                found[one.id] = Finding("archive", one.title, said, drop.source, one.id)
    yield from found.values()


def _is_whole(seen: PromptTask, source: SourceText, asked: Phrase) -> bool:
    """Whether it says by when the task itself is to be done: "v1 must be off by June"."""
    names = [one for one in done.content(asked.value)[1:] if one not in vocabulary("particles")]
    known = {key for one in done.content(seen.title) for key in lemmas.keys(one)}
    is_named = bool(names) and all(not known.isdisjoint(lemmas.keys(one)) for one in names)
    told = map(clauses.sentence, sentences_of(asked.quote)) if is_named else ()
    return any(deadline.due(one, source.day) for one in told)


def _checks(seen: PromptTask, claims: Sequence[tuple[DoneClaim, SourceText]]) -> list[Finding]:
    """Open items that a text says are done, and no later one takes back."""
    open_items = unfinished(seen)
    found: dict[str, Finding] = {}
    for claim, source in claims:
        for item in _placed(seen, claim) if claim.places else _meant(open_items, claim):
            if claim.is_denied:
                found.pop(item.id, None)
            elif not source.at or source.at > item.changed_at:  # else a person took it off later
                found[item.id] = Finding("check", item.title, claim.quote, source, item.id)
    return list(found.values())[:ITEMS_PROPOSED_MAX]


def _unticked(
    seen: PromptTask, claims: Sequence[tuple[DoneClaim, SourceText]], told: Sequence[Told]
) -> Iterator[Finding]:
    """Ticks that were wrong, or are no longer so: what is open, or broken, again."""
    items = [one for one in seen.items if not one.is_archived]
    found: dict[str, Finding] = {}
    for source, said in told if any(one.is_checked for one in items) else ():
        titles = Drop("", said, source).fits([one.title for one in items])
        for one in items if stance.is_undone(said[0]) else ():
            if one.title in titles and one.is_checked and source.at > one.changed_at:
                found[one.id] = Finding("untick", one.title, quote(said[0]), source, one.id)
    for one in items:
        again = [at for claim, at in claims if not claim.is_denied and done.means(claim, one.title)]
        if one.id in found and any(at.order > found[one.id].source.order for at in again):
            del found[one.id]
    yield from found.values()


def _retitled(seen: PromptTask, told: Sequence[Told]) -> Iterator[Finding]:
    """A better title, the newest."""
    named = ((source, said, stance.retitled(said[0])) for source, said in told)
    found = [
        Finding("title", title, quote(said[0]), source)
        for source, said, title in named
        if title and title != seen.title
    ]
    yield from found[-1:]


def _placed(seen: PromptTask, claim: DoneClaim) -> list[PromptItem]:
    """The open items at these places of the checklist; none where one is no place of it."""
    items = [one for one in seen.items if not one.is_archived]
    many = max(map(abs, claim.places))
    fits = many == len(items) if claim.is_all else many <= len(items) and 0 not in claim.places
    found = [items[place - (place > 0)] for place in claim.places] if fits else []
    return [one for one in found if not one.is_checked]


def _meant(items: list[PromptItem], claim: DoneClaim) -> list[PromptItem]:
    """The items that a claim names; in part only if it is one."""
    if claim.is_all:
        return [one for one in items if not done.means(claim, one.title)]
    fits = [(done.means(claim, one.title), one) for one in items]
    whole = [one for fit, one in fits if fit == 2]
    parts = [one for fit, one in fits if fit == 1]
    return whole or (parts if len(parts) == 1 else [])


def unfinished(seen: PromptTask) -> list[PromptItem]:
    """The items that are still to do."""
    return [item for item in seen.items if not item.is_checked and not item.is_archived]


def named(items: list[PromptItem], what: str) -> list[PromptItem]:
    """The items whose title the words hold, or the only one that holds the words."""
    what = what.strip(" .,:;!-–*`\"'")
    first, _, rest = what.partition(" ")
    what = rest if rest and first in vocabulary("articles_own") else what
    titles = [(item, fold(item.title).strip(" .,:;!")) for item in items]
    held = [item for item, title in titles if title and contains(what, title)]
    if held or len(what) < done.PART_LENGTH_MIN:
        return held
    parts = [item for item, title in titles if contains(title, what)]
    return parts if len(parts) == 1 else []


def _claims(told: Sequence[ParsedLine]) -> list[tuple[DoneClaim, SourceText]]:
    """What texts say is done, or is not; the newest `DONE_MAX`."""
    found: list[tuple[DoneClaim, SourceText]] = []
    for source, line, sentences in told:
        if line.box:
            said = quote(f"[{line.box}] {line.text}", 0, 0)
            found += [(one, source) for one in done.listed(line.text, said) if line.box == "x"]
        elif source.kind != "title":
            found += [(one, source) for sentence in sentences for one in done.claims(sentence)]
    for source in dict.fromkeys(source for source, *_ in told):
        for what, said in stance.confirmed(source.text) if ">" in source.text else ():
            found += [(one, source) for one in done.listed(what, quote(said))]
    return found[-DONE_MAX:]


def _is_overruled(seen: PromptTask, finding: Finding) -> bool:
    """Whether a person or an import set the field after the text was written, or with it."""
    decided = seen.decided.get(KEYS.get(finding.kind, ""), "")
    return bool(finding.source.order) and finding.source.order <= decided


# ------------------------------------------------------------------------ proposals that stand open

_QUOTED = re.compile('"[^"]{0,500}"')
_KINDS = {
    "Set due date to ": "due",
    "Set status to ": "status",
    "Set priority to ": "priority",
    "Set estimate to ": "estimate",
    "Add: ": "item",
    "Check: ": "check",
}
_OPEN = re.compile(
    r"- fp=(?P<fingerprint>\S{1,80}) (?P<what>Set (?:due date|status|priority|estimate) to "
    r'|Add: |Check: )"?(?P<value>[A-Z0-9-]+(?: [A-Z]{3,8})?(?=:| minutes| \[|$)|[^"]{1,300})'
)


def is_open(seen: PromptTask, finding: Finding) -> bool:
    """Whether the same thing is already proposed and undecided."""
    return any(_proposes(fold(proposal), finding) for proposal in seen.proposals)


def _proposes(line: str, finding: Finding) -> bool:
    """Whether a line about a proposal, folded, is about a finding."""
    value = fold(finding.value)
    match finding.kind:
        case "item" | "check" | "untick" | "archive" | "title":
            return f'"{value}"' in line or line.endswith(f": {value}")
        case "label":
            return "label" in line and (value in line or finding.target in line)
        case "due":
            return value in line and "due" in line
        case _:
            return contains(_QUOTED.sub("", line), value)


def retracted(
    seen: PromptTask, values: TextValues, read: Sequence[Finding]
) -> Iterator[RetractedProposal]:
    """Open proposals that a later text takes back, or that no text says any more.

    The second only where the journal says that it was found by rule: others may read more.
    """
    kinds = {one.kind for one in read}
    for proposal in () if seen.is_cut else seen.proposals:
        line = fold(proposal)
        told = _OPEN.match(proposal)
        if told is None or any(_proposes(line, one) for one in read):
            continue
        kind = _KINDS[told["what"]]
        back = _taken_back(values, kind)
        if kind in kinds and kind not in ("item", "check"):
            continue  # the new one replaces it
        if back is not None:
            yield RetractedProposal(told["fingerprint"], f'A text says otherwise: "{back.quote}"')
        elif _is_own(seen, kind, told["value"]):
            yield RetractedProposal(told["fingerprint"], "The text that it was read from changed.")


def _taken_back(values: TextValues, kind: str) -> Finding | None:
    """What a text says against an open proposal."""
    match kind:
        case "due" | "estimate" | "item" if values.off is not None:
            return values.off
        case "due" if values.due is None:
            return values.void
        case "status" if values.blocked is None:
            return values.freed
        case "priority" if values.priority and not values.priority.value:
            return values.priority
        case _:
            return None


def is_own(seen: PromptTask, proposal: str) -> bool:
    """Whether an open proposal was found by these rules."""
    told = _OPEN.match(proposal)
    return told is not None and _is_own(seen, _KINDS[told["what"]], told["value"])


def _is_own(seen: PromptTask, kind: str, value: str) -> bool:
    """Whether the report that stands tells that these rules found it, or did an old journal."""
    name, value = f"{kind} {fold(value)}", fold(value)
    found = [line for line in fold(seen.journal).split("- [") if "found by rule: " in line]
    lines = fold(seen.report).splitlines()
    for texts in map(texts_in, languages()):
        head, mark = fold(f"- {texts[f'k.{kind}']}: {value}"), fold(texts["by rule"])
        found += [f"{name} {line}" for line in lines if contains(line, head)]
        found += [f"{name} {line}" for line in lines if line.endswith(mark) and value in line]
    return any(contains(line, name) for line in found)
