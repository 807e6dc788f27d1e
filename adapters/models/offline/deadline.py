"""Deadlines: a day beside a word that makes it one ("by", "due", "bis", "fällig").

A date that is over, that somebody else promised, or that says how long something lasts is none.
"""

import re
from collections.abc import Iterator
from datetime import date

from msgspec import Struct

from adapters.models.offline import deadline_phrases as say
from adapters.models.offline import lemmas
from adapters.models.offline.clauses import Clause, Sentence
from adapters.models.offline.dates import names_time, resolve
from adapters.models.offline.sentences import (
    quote,
    word_set,
    words,
)
from domain.text import fold


class Dated(Struct, frozen=True):
    """A due date and the words it was read from."""

    day: date
    quote: str


def due(sentence: Sentence, written: date | None) -> Dated | None:
    """The due date of a sentence, if it names one; the last where it corrects itself.

    >>> from adapters.models.offline.clauses import sentence
    >>> due(sentence("Send it by Friday."), date(2026, 11, 19)).day.isoformat()
    '2026-11-20'
    """
    if sentence.is_asked or not names_time(sentence.text):
        return None
    found = sorted([*_all(sentence, written), *_then(sentence, written)], key=lambda one: one[0])
    corrected = [one for one in found if one[2]]
    if not found:
        return None
    start, end, _, day = corrected[-1] if corrected else found[0]
    return Dated(day, quote(sentence.text, start, end))


def is_void(sentence: Sentence) -> bool:
    """Whether it says that there is no deadline any more."""
    return not sentence.is_asked and say.VOID.search(sentence.text) is not None


def _all(sentence: Sentence, written: date | None) -> Iterator[tuple[int, int, bool, date]]:
    """Start, end, whether it corrects what was said before, and the day."""
    said = frozenset(sentence.words)
    for rule, cues in say.CUED:
        if cues is not None and cues.isdisjoint(said):
            continue
        for match in rule.finditer(sentence.text):
            if _is_other(sentence, match):
                continue
            day = resolve(match.groupdict(), written)
            if day is None:
                continue
            if fold(match["cue"]) in ("before", "vor"):
                day = _before(match, day)
            if written is None or day >= written or match.groupdict().get("iso"):
                yield match.start(), match.end(), rule in say.CORRECTING, day


def _then(sentence: Sentence, written: date | None) -> Iterator[tuple[int, int, bool, date]]:
    """ "The concert is on 12 December, by then it must be ready"."""
    cue = say.BY_THEN.search(sentence.text)
    said = list(say.DAY_SAID.finditer(sentence.text, 0, cue.start())) if cue else []
    clause = sentence.clause(cue.start()) if cue else None
    if not said or clause is None or not say.OVER.isdisjoint(clause.words):
        return
    day = resolve(said[-1].groupdict(), written)
    if day is not None and (written is None or day >= written):
        yield said[-1].start(), said[-1].end(), True, day


def _before(match: re.Match[str], day: date) -> date:
    """Feasts and weekdays are meant with their eve; "before 1 December" is the day before."""
    is_feast = any(match.groupdict().get(one) for one in ("xmas", "ny1", "em", "end", "nm1"))
    is_feast = is_feast or match.string[: match.start()].lower().endswith("on or ")
    return day if is_feast or day == date.min else date.fromordinal(day.toordinal() - 1)


def _is_other(sentence: Sentence, match: re.Match[str]) -> bool:
    """Whether the phrase denies a date, tells of the past, of another, or how long it lasts."""
    clause = sentence.clause(match.start())
    before = words(sentence.text[clause.start : match.start()])
    if say.LAST_DAY.search(sentence.text, max(0, match.start() - 12), match.end()):
        return True
    if (match.re is not say.ENOUGH and _is_denied(before, match)) or not say.NEVER.isdisjoint(
        sentence.words
    ):
        return True
    cue = fold(match["cue"])
    rule = match.re
    if rule is not say.MOVED and say.ANOTHERS.search(clause.text):
        return True
    if rule is say.ENOUGH:
        return not say.DENIED.isdisjoint(before[-2:]) or say.BY_OR_DUE.isdisjoint(sentence.words)
    if rule is say.NOW:
        is_shifted = not say.SHIFTED.isdisjoint(sentence.words)
        is_ours = is_shifted and not say.OURS.isdisjoint(sentence.words[:1])
        return say.NAMES_ONE.isdisjoint(sentence.words) and not is_ours
    if rule is say.MOVED:
        return bool(before) and say.DEADLINE_WORDS.isdisjoint(before)
    if rule is say.ON_DE and (say.DEADLINE_WORDS - {"das"}).isdisjoint(before):
        return not say.MOVERS.issuperset(before)
    is_passed_on = not {"hand", "handed", "send"}.isdisjoint(clause.words)
    over = say.OVER - ({"over"} if is_passed_on else set())
    if not over.isdisjoint(clause.words) and not _is_renewed(clause):
        return True
    if rule in (say.BY, say.LASTS):
        return _is_span(sentence, clause, match, cue) or _is_deed(clause, before)
    if rule is say.MUST_DE:
        tail = {*words(match["tail"]), *words(match[0])}
        is_denied = not {"nicht", "kein", "keine", "nie"}.isdisjoint(tail)
        return is_denied or "wieder" in before or say.FINISH.isdisjoint(tail)
    return rule is say.MUST_EN and not _is_finish(cue)


def _is_denied(before: list[str], match: re.Match[str]) -> bool:
    text = " ".join(before[-12:])
    for forget in ("don't forget", "do not forget", "nicht vergessen", "no matter"):
        text = text.replace(forget, "")
    return not say.DENIED.isdisjoint(text.split())


def _is_renewed(clause: Clause) -> bool:
    """ "The deadline was moved to": not over, though it says "was"."""
    return bool({"moved", "extended", "verschoben", "verlängert"} & set(clause.words))


def _is_span(sentence: Sentence, clause: Clause, match: re.Match[str], cue: str) -> bool:
    if cue in ("before", "vor") and "best" in clause.words:
        return True
    if say.TOO_SOON.search(sentence.text, match.end(), clause.end):
        return True
    if "on hold" in fold(clause.text) or not say.RESTING.isdisjoint(clause.words):
        return True
    if cue in ("until", "till", "til", "bis"):
        head = sentence.text[max(0, match.start() - 20) : match.start()]
        if say.RANGE.search(head):
            return True
        if (
            "given" not in clause.words
            and not say.STAYS.isdisjoint(clause.words)
            and say.FINISH.isdisjoint(clause.words)
        ):
            return True
        is_gone = "weg" in clause.words and not say.IS.isdisjoint(clause.words)
        is_away = is_gone or clause.words[-1:] == ("zu",)
        return is_away or not say.LASTING.isdisjoint(clause.words)
    return cue == "by" and not {"closed", "away"}.isdisjoint(clause.words)


def _is_deed(clause: Clause, before: list[str]) -> bool:
    """What was done by then, or what another promised."""
    is_wanted = "haben" in clause.words and "will" in clause.words
    is_wanted = is_wanted or not say.WANTED.isdisjoint(before)
    if not is_wanted and not say.PROMISES.isdisjoint(clause.words) and say.OWN.isdisjoint(before):
        return True
    is_past = any(lemmas.is_past(one) and one not in ("done", "finished") for one in before)
    is_past = is_past or before[:1] in (["done"], ["finished"])
    if not say.HOPED.isdisjoint(before) and not {"i", "we", "ich", "wir"}.isdisjoint(before):
        return True
    return is_past and say.WISHES.isdisjoint(before)


def _is_finish(cue: str) -> bool:
    """Whether what must be on a day is that the work is done."""
    return not word_set(
        "done ready finished submitted handed in out delivered paid sent complete online live "
        "shipped gone posted returned there filed printed"
    ).isdisjoint(words(cue))
