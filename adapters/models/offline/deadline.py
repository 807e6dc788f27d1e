"""Deadlines: a day beside a word that makes it one ("by", "due").

A date that is over, that somebody else promised, or that says how long something lasts is none.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import cache

from msgspec import Struct

from adapters.models.offline import clauses, dates, lemmas, stance
from adapters.models.offline.clauses import Clause, Sentence
from adapters.models.offline.dates import resolve
from adapters.models.offline.phrasing import LETTERS, grammar, rule, says, vocabulary
from adapters.models.offline.sentences import NEGATIVE, quote, sentences_of, words
from domain.text import fold

CORRECTING_WORDS_MAX = 9
_QUOTE_END = re.compile('["“”«][ .!]*')
_WORDS = re.compile(rf"[{LETTERS}']+")
DAY = timedelta(days=1)
SINCE_DAYS_MAX = 300

RULES = (
    "named by after must must_last lasts moved now order order_last needed_last moved_last enough "
    "promised wants_last day_must alone"
).split()
AHEAD = ("within", "ahead")
"""Tables of phrases, `deadline_...`: those around a day, and around a length of time."""
PAST_DAYS = ("when_today", "when_yesterday", "when_before")
"""Words for days that are so many days ago."""
CORRECTING = ("moved", "now", "moved_last", "enough")
"""Those that put a day in the place of another."""
SPANS = ("xmas", "yend", "em", "mend", "nm1", "ew", "tw", "we", "qend")
"""Groups of feasts and ends of spans: what is before them may be on their last day."""


class DueDate(Struct, frozen=True):
    """A due date and the words it was read from."""

    day: date
    quote: str


def due(
    sentence: Sentence, written: date | None, order: str = "", since: date | None = None
) -> DueDate | None:
    """The due date of a sentence, if it names one; the last where it corrects itself. `order`: of
    day and month in ``10/03``; `since`: the day that the text named before, for "by then".

    >>> from adapters.models.offline.clauses import sentence
    >>> due(sentence("Send it by Friday."), date(2026, 11, 19)).day.isoformat()
    '2026-11-20'
    """
    if sentence.is_asked or not (since or dates.names_time(sentence.text)):
        return None
    found = [*_all(sentence, written, order), *_then(sentence, written, order, since)]
    found.sort(key=lambda one: one[0])
    corrected = [one for one in found if one[2]]
    if not found:
        return None
    start, end, _, day = corrected[-1] if corrected else found[0]
    return DueDate(day, quote(sentence.text, start, end))


def unsure(sentence: Sentence, written: date | None, order: str) -> str:
    """The words of a deadline that two countries read differently, as ``by 10/03``."""
    told = dates.masked(sentence.text).found
    read = [one for one in told.values() if one.get("sa") and not resolve(one, written, order)]
    is_due = read and not due(sentence, written, order) and due(sentence, written, "dm")
    return quote(sentence.text) if is_due else ""


def is_dated(sentence: Sentence, written: date | None) -> bool:
    """Whether a sentence names a day that is not over, whosever it is."""
    days = [resolve(one, written) for _, one in _named(sentence)]
    return not sentence.is_asked and any(one and written and one >= written for one in days)


def corrected(sentence: Sentence, written: date | None, order: str = "") -> DueDate | None:
    """The day that a short sentence puts in the place of an older one: "Monday is fine", "not the
    5th but the 9th"."""
    if sentence.is_asked or says(sentence.words, "was"):
        return None
    told = dates.masked(sentence.text)
    if grammar("deadline_greets").match(told.text):
        return None
    gone = grammar("deadline_not").finditer(told.text)
    named = [
        one
        for one in _named(sentence)
        if not any(not_it.start() <= one[0] < not_it.end() for not_it in gone)
    ]
    rest = told.text
    for not_it in gone:
        rest = rest.replace(not_it[0], "")
    said = words(rest)
    if len(named) != 1 or len(said) > CORRECTING_WORDS_MAX or _says(said, "denied"):
        return None
    at = sentence.clause(named[0][0])
    is_of_it = _says(said, "shifted", "nouns", "by_or_due")
    is_of_it = is_of_it or _only_turns(rule("corrects").sub("", told.text[at.start : at.end]))
    is_meant = gone or _only_turns(rest) or (is_of_it and rule("corrects").search(rest))
    day = resolve(named[0][1], written, order) if is_meant else None
    return DueDate(day, quote(sentence.text)) if day else None


def shifted(sentence: Sentence, older: date) -> DueDate | None:
    """The day so much later or earlier than an older one: "another week", "two days earlier"."""
    told = dates.masked(sentence.text)
    shift = rule("deadline_shifts").search(sentence.text) or _only_turns(told.spans)
    spans = [one for at, one in told.found.items() if told.spans[at] == dates.MASKS[1]]
    if not shift or len(spans) != 1 or _named(sentence) or sentence.is_asked:
        return None
    if _says(sentence.words, "denied"):
        return None
    later = resolve(spans[0], older)
    is_sooner = rule("sooner").search(sentence.text) is not None
    day = later and (older - (later - older) if is_sooner else later)
    return DueDate(day, quote(sentence.text)) if day else None


def _only_turns(masked: str) -> bool:
    """Whether a day stands beside nothing but words about dates, and who says so: "Kim wants it
    by ..."."""
    said = _WORDS.findall(masked)
    around = zip(["", *said], said, [*said[1:], ""], strict=False)
    return all(
        fold(one) in _words("turns")
        or (one[0].isupper() and _says((fold(before), fold(after)), "sayers"))
        for before, one, after in around
    )


def told(sentence: Sentence, written: date | None, order: str) -> date | None:
    """The last day that a sentence names, where it does not tell of the past."""
    named = [] if sentence.is_asked else _named(sentence)
    is_past = says(sentence.words, "was", "state_past_be")
    return None if is_past or not named else resolve(named[-1][1], written, order)


def receipt(text: str, written: date | None) -> date | None:
    """The day on which the person says that a letter came, from which its term runs."""
    if written is None:
        return None
    for one in map(clauses.sentence, sentences_of(text)):
        if one.is_asked or not rule("arrived").search(one.text):
            continue
        if days := [nth for nth, name in enumerate(PAST_DAYS) if rule(name).search(one.text)]:
            return written - days[0] * DAY
        named = [
            resolve(found, written - days * DAY) for days in (6, 60) for _, found in _named(one)
        ]
        return next((day for day in named if day and day <= written), None)
    return None


def is_void(sentence: Sentence) -> bool:
    """Whether it says that there is no deadline any more."""
    return not sentence.is_asked and rule("no_date").search(sentence.text) is not None


def is_shaken(sentence: Sentence, older: date, written: date | None) -> bool:
    """Whether it tells that an older date is another one now, or none: "it was moved", "the 5th
    does not matter any more"."""
    days = [resolve(one, written) for _, one in _named(sentence)]
    is_denied = older in days and not NEGATIVE.isdisjoint(sentence.words)
    is_loose = not any(not _says(sentence.words, one) for one in ("nouns", "loose"))
    is_told = is_denied or is_loose or rule("deadline_shaken").search(sentence.text) is not None
    return not sentence.is_asked and is_told


def _named(sentence: Sentence) -> list[tuple[int, dates.Found]]:
    """The days that a sentence names, and where; none since which something goes on."""
    found = dates.masked(sentence.text)
    over = {one.end() - 1 for one in grammar("deadline_since").finditer(found.text)}
    told = (one for one in sorted(found.found.items()) if found.text[one[0]] == dates.MASKS[0])
    return [one for one in told if one[0] not in over]


@cache
def _words(*names: str) -> frozenset[str]:
    return vocabulary(*(f"deadline_{one}" for one in names))


def _says(said: Iterable[str], *names: str) -> bool:
    return not _words(*names).isdisjoint(said)


def _all(
    sentence: Sentence, written: date | None, order: str
) -> Iterator[tuple[int, int, bool, date]]:
    """Start, end, whether it corrects what was said before, and the day."""
    told = dates.masked(sentence.text)
    for name in (*RULES, *AHEAD) if told.found else ():
        text = told.spans if name in AHEAD else told.text
        for match in grammar(f"deadline_{name}").finditer(text):
            day = (
                None
                if _is_other(sentence, name, match)
                else resolve(told.within(match), written, order)
            )
            if day is None:
                continue
            if name in AHEAD and (since := _since(sentence, match, written)):
                day = resolve(told.within(match), since) or day
            is_before = "must" in name and rule("before").search(match[0]) is not None
            if is_before or fold(match["cue"]) in vocabulary("before"):
                day = _before(told, match, day)
            if written is None or day >= written or told.within(match).get("iso"):
                yield match.start(), match.end(), name in CORRECTING, day


def _since(sentence: Sentence, match: re.Match[str], written: date | None) -> date | None:
    """What a term runs from, which may be over: "within 14 days of 1 March"."""
    base = grammar("deadline_from").match(match.string, match.end())
    found = dates.masked(sentence.text).within(base) if base else {}
    day = resolve(found, written)
    is_over = day and written and day - written > SINCE_DAYS_MAX * DAY  # it was found next year
    return resolve(found, written - 60 * DAY) if written and is_over else day


def _then(
    sentence: Sentence, written: date | None, order: str, since: date | None
) -> Iterator[tuple[int, int, bool, date]]:
    """ "The concert is on 12 December, by then it must be ready", "..., a week earlier"; where the
    day stands in the sentence before, too."""
    told, named = dates.masked(sentence.text), _named(sentence)
    anchored = _anchored(sentence)
    ahead = grammar("deadline_earlier").search(told.spans) if len(named) < 2 else None
    cue = anchored or (None if ahead else rule("by_then").search(sentence.text))
    if not (match := cue or ahead):
        return
    named = [one for one in named if not cue or one[0] < cue.start()]
    base = resolve(named[-1][1], written, order) if named else since
    said = sentence.clause(match.start())
    is_wanted = bool(named and not ahead)
    is_wanted = is_wanted or rule("deadline_demands").search(sentence.text) is not None
    is_wanted = is_wanted or (anchored is not None and _says(said.words, "by_or_due"))
    if base is None or not is_wanted or _says(said.words, "over"):
        return
    day = base
    if anchored:
        weekday = dates.named_days().get(fold(told.within(anchored).get("day") or ""))
        if weekday is None:
            return
        is_later = rule("later_than").search(anchored[0]) is not None
        days = (weekday - base.weekday()) % 7 if is_later else -((base.weekday() - weekday) % 7)
        day += timedelta(days=days or (7 if is_later else -7))
    elif ahead:
        on = resolve(told.within(ahead), base) if dates.MASKS[1] in ahead[0] else None
        day -= (on - base) if on else DAY
    if written is None or day >= written:
        yield match.start(), match.end(), True, day


def _anchored(sentence: Sentence) -> re.Match[str] | None:
    """A weekday that another day tells: "the Friday before", "the following Tuesday"."""
    return grammar("deadline_anchored").search(dates.masked(sentence.text).text)


def _before(told: dates.Masked, match: re.Match[str], day: date) -> date:
    """Feasts and weekdays are meant with their eve; "before 1 December" is the day before."""
    lead = told.spans[: match.start()].rstrip(" ")
    if lead.endswith(dates.MASKS[1]):
        place = len(lead.rstrip(dates.MASKS[1]))
        return day - ((resolve(told.found[place], day) or day) - day)
    is_feast = any(map(told.within(match).get, SPANS))
    return day if is_feast or day == date.min else day - DAY


def _is_other(sentence: Sentence, name: str, match: re.Match[str]) -> bool:
    """Whether the phrase denies a date, tells of the past, of another, or how long it lasts."""
    if sentence.is_others(match.start()) and not _is_asked_of_me(sentence, match.end()):
        return True
    clause = sentence.clause(match.start())
    before = words(sentence.text[clause.start : match.start()])
    gone = dates.compiled("{start}{gone} {day}")
    anchored, start = _anchored(sentence), max(0, match.start() - 12)
    is_over = not dates.masked(sentence.text).within(match).get("nday")
    is_over = is_over and gone.search(sentence.text, start, match.end()) is not None
    is_void = is_over or bool(anchored and anchored.start() < match.end())
    is_void = is_void or (name != "enough" and _is_denied(before))
    if is_void or _says(sentence.words, "never") or grammar("deadline_greets").match(match.string):
        return True
    cue = fold(match["cue"])
    if name == "alone":
        return not (lemmas.is_verb(cue) or lemmas.is_deed(cue))
    _, *parts = stance.parts(sentence.text[: match.end()])  # the whole is told by who asks
    is_anothers = grammar("deadline_anothers").search(clause.text) is not None
    is_anothers = is_anothers or any(map(stance.is_others, parts[-1:]))
    if name != "moved" and is_anothers:
        return True
    if name == "enough":
        return _says(before[-2:], "denied") or not _says(sentence.words, "by_or_due")
    if name == "now":
        is_ours = _says(sentence.words[:1], "shifted", "ours")
        is_ours = is_ours and _says(sentence.words, "shifted")
        return not is_ours and not _says(sentence.words, "names_one")
    if name in ("moved", "moved_last"):
        return not _says(before, "deadline_words") and not _words("movers").issuperset(before)
    is_passed_on = says(clause.words, "hands_over")
    over = _words("over") - (vocabulary("done_with") if is_passed_on else frozenset())
    is_over = not over.isdisjoint(clause.words) and not _says(clause.words, "renewed")
    if is_over or (name == "lasts" and _says(before, "ending_things")):
        return True
    if name in ("by", "lasts"):
        return _is_span(sentence, clause, match, cue) or _is_done_by_then(clause, before)
    if name == "must_last":
        tail = {*words(match["tail"]), *words(match[0])}
        return says(tail, "negative") or says(before, "anew") or not _says(tail, "finish")
    told = words(cue)
    is_done = not says(told, "be") or not any(map(lemmas.is_past, told[-1:]))
    return name == "must" and is_done and not _says(told, "is_finish")


def _is_asked_of_me(sentence: Sentence, end: int) -> bool:
    """Whether what is said in quotes speaks to the person, who does not say no to it behind."""
    own = _QUOTE_END.split(sentence.text[end:], maxsplit=1)[1:]
    is_open = not any(own) or stance.agrees(own[0])
    return is_open and says(words(sentence.text[:end]), "addresses")


def _is_denied(before: list[str]) -> bool:
    text = rule("denies_nothing").sub("", " ".join(before[-12:]))
    return _says(text.split(), "denied")


def _is_span(sentence: Sentence, clause: Clause, match: re.Match[str], cue: str) -> bool:
    said = clause.words
    is_best = cue in vocabulary("before") and says(said, "best_before")
    is_resting = _says(said, "resting") or rule("on_hold").search(clause.text) is not None
    too_soon = grammar("deadline_too_soon").search(sentence.text, match.end(), clause.end)
    if is_best or is_resting or too_soon:
        return True
    if cue not in vocabulary("until"):
        return says(said, "away")
    head = sentence.text[max(0, match.start() - 20) : match.start()]
    from_day = dates.compiled(r"(?:{day}|{month}|\d\.?|{today}) $").search(head)
    is_at_rest = _says(said, "stays") and not (_says(said, "finish") or says(said, "given"))
    is_gone = (says(said, "gone_away") and _says(said, "is")) or says(said[-1:], "shut")
    is_lasting = is_at_rest or is_gone or _says(said, "lasting")
    return is_lasting or bool(from_day or rule("shows").search(clause.text))


def _is_done_by_then(clause: Clause, before: list[str]) -> bool:
    """What was done by then, or what another promised."""
    is_wanted = rule("wants_to_have").search(clause.text) is not None
    is_wanted = is_wanted or _says(before, "wanted")
    is_promised = _says(clause.words, "promises") and not is_wanted and not _says(before, "own")
    is_past = any(lemmas.is_past(one) and one not in vocabulary("is_done") for one in before)
    is_past = (is_past or says(before[:1], "is_done")) and not _says(before, "wishes")
    return is_promised or is_past or (_says(before, "hoped") and says(before, "self"))
