"""How long a task takes: "takes about 2 hours", "30 min should do"."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from adapters.models.offline import lemmas
from adapters.models.offline.clauses import Sentence
from adapters.models.offline.phrasing import (
    END,
    LETTERS,
    START,
    expanded,
    grammar,
    pattern,
    rows,
    rule,
    says,
    spelled,
    vocabulary,
)
from adapters.models.offline.sentences import NEGATIVE, Phrase, quote, words
from domain.text import fold

CACHE_MAX = 256
MINUTES_MAX = 1440
MASK = "\ue001"
_COUNTED = re.compile(rf"[0-9]+|[{LETTERS}]+")
LENGTH = (
    r"(?:(?:\d{1,3} ?(?:h|min|{short_units})?\.? ?(?:-|–|{up_to}) ?|{small} {up_to} )?"
    r"(?:(?P<digits>\d{1,4}(?:[.,]\d{1,2}| ?(?:1/2|½))?)[ -]?|(?P<count>{amount})[ -](?:{fully} )?)"
    r"{unit}\.?(?: ?(?:{and_more} )?(?P<more>\d{1,2}) ?(?:m|min)?)?"
    r"(?: (?P<half>{half_more}))?{end})"
)


@cache
def _amounts() -> dict[str, float]:
    """Numbers in words."""
    told = (line.split() for line in rows("amounts"))
    return {name.replace("_", " "): float(value) for value, *names in told for name in names}


@cache
def _counts() -> frozenset[str]:
    """The words that numbers begin with."""
    told = {fold(name.split(" ")[0]) for name in _amounts()}
    return frozenset(told | set(map(spelled, told)))


def _has_two(text: str) -> bool:
    """Whether two numbers may stand there: patterns of two are long, and compiled for them only."""
    said = _COUNTED.findall(text)
    return len([one for one in said if one.isdecimal() or fold(one) in _counts()]) > 1


@cache
def _units() -> tuple[str, ...]:
    """Each with a group that says its minutes: ``u60``."""
    minutes = dict.fromkeys(line.split(" ", 1)[0] for line in rows("units"))
    said = [line.split(" ", 1) for line in rows("units")]
    return tuple(
        f"(?P<u{one}>{'|'.join(units for of, units in said if of == one)})" for one in minutes
    )


@cache
def known() -> dict[str, str]:
    """What the names in patterns of lengths stand for; `{length}` is not masked there."""
    amounts = "|".join(sorted(_amounts(), key=len, reverse=True))
    small = (one for one, value in _amounts().items() if 1 <= value <= 4)
    return {
        "length": LENGTH,
        "amount": f"(?:{amounts})",
        "small": f"(?:{'|'.join(small)})",
        "unit": f"(?:{'|'.join(_units())})",
        "number": rf"(?:[0-9]{{1,3}}(?:[.,][0-9])?|{amounts})",
        "whole": rf"(?:\d{{1,3}}|{amounts})",
    }


@cache
def compiled(source: str) -> re.Pattern[str]:
    """A pattern with the names of this module in it."""
    return pattern(expanded(source, known()))


@lru_cache(maxsize=CACHE_MAX)
def _masked(text: str) -> tuple[str, dict[int, int]]:
    """A sentence with its lengths of time masked, and the minutes that stand there; a number alone
    behind them has their unit: "3 hours for the draft and another two"."""
    told = list(compiled(f"{START}{{length}}").finditer(text))
    found = {one.start(): minutes(one.groupdict()) for one in told}
    spans = [one.span() for one in told]
    same = rows("duration_same") if told and _has_two(text) else ()
    for one in (found for row in same for found in compiled(row).finditer(text)):
        before = [unit for unit in told if unit.end() <= one.start()]
        if before:
            found[one.start("n")] = round(_number(one["n"]) * _unit(before[-1].groupdict()))
            spans.append(one.span("n"))
    for start, end in spans:
        text = text[:start] + MASK * (end - start) + text[end:]
    return text, found


def estimate(sentence: Sentence) -> Phrase | None:
    """The effort a sentence names, in minutes.

    >>> from adapters.models.offline.clauses import sentence
    >>> estimate(sentence("Takes about 45 minutes.")).value
    '45'
    """
    unit = re.sub(r"P<u\d+>", ":", "|".join(_units()))
    hint = pattern(rf"[0-9](?:{unit})|{START}(?:{unit}){END}")
    if sentence.is_asked or not hint.search(sentence.text):
        return None
    if made := _counted(sentence):
        return made
    text, lengths = _masked(sentence.text)
    rather = rule("duration_rather").search(text) if len(lengths) > 1 else None
    if rather and MASK in text[rather.end() :]:
        text = " " * rather.start() + text[rather.start() :]
    parts = grammar("duration_and").split(text) if len(lengths) > 1 and not rather else []
    is_sum = bool(parts) and all(map(grammar("duration_part").fullmatch, parts))
    if is_sum and not _is_past(sentence) and not sentence.is_others(0):
        others = vocabulary("duration_not_it", "duration_denied", "or") | NEGATIVE
        total = sum(lengths.values())
        others |= {*sentence.words} if grammar("duration_travel").search(text) else frozenset()
        if others.isdisjoint(sentence.words) and len(parts) == len(lengths):
            return Phrase(str(total), sentence.text)
    for name in ("duration_estimates", "duration_vague") if lengths else ():
        for match in grammar(name).finditer(text):
            length = lengths[text.find(MASK, match.start())]
            found = 0 if _is_other(sentence, name, match) else length
            if 1 <= found <= MINUTES_MAX:
                return Phrase(str(found), quote(sentence.text, match.start(), match.end()))
    return None


def _counted(sentence: Sentence) -> Phrase | None:
    """So many things at so many minutes each, as many as are left, or one length and another."""
    text = sentence.text
    names = ("duration_each", "duration_sum", "duration_instead", "duration_left")
    for name in names if _has_two(text) else ():
        for row in rows(name):
            found = compiled(row).search(text)
            is_over = name != "duration_left" and _is_past(sentence)
            if not found or sentence.is_others(found.start()) or is_over:
                continue
            told = found.groupdict()
            each = _side(told, "b") if "b" in told else _unit(told)
            total = _number(told["n"]) * each if "n" in told else 0
            total = total or ("a" in told and _side(told, "a") + _side(told, "b"))
            if 1 <= total <= MINUTES_MAX:
                return Phrase(str(round(total)), quote(text, found.start(), found.end()))
    return None


def _is_spent(sentence: Sentence, said: Iterable[str], after: Sequence[str]) -> bool:
    """Whether it tells how long the person was at it, where participles come last: "two hours
    sat"."""
    told = frozenset(said if says(sentence.words, "duration_has") else after)
    return any(map(lemmas.is_participle, told - vocabulary("duration_planned", "no_past")))


def _is_past(sentence: Sentence) -> bool:
    return any(map(lemmas.is_past, sentence.words))


def _number(said: str | None) -> float:
    named = fold(said or "0")
    return _amounts().get(named) or float(named.replace(",", "."))


def _side(told: Mapping[str, str | None], side: str) -> float:
    return _number(told[side]) * (60 if told.get(f"{side}h") else 1)


def minutes(told: Mapping[str, str | None]) -> int:
    """How long the groups of `LENGTH` say that something takes."""
    digits = told["digits"]
    digits = re.sub(" ?(?:1/2|½)$", ".5", (digits or "").replace(",", "."))
    count = float(digits) if digits else _amounts()[fold(told["count"] or "")]
    return round((count + 0.5 * bool(told["half"])) * _unit(told)) + int(told["more"] or 0)


def _unit(told: Mapping[str, str | None]) -> int:
    """The minutes of the unit in which a length is told."""
    return next(int(one[1:]) for one, said in told.items() if one[1:].isdecimal() and said)


def _is_other(sentence: Sentence, name: str, match: re.Match[str]) -> bool:
    """Whether it is how long something else takes, or took."""
    if sentence.is_others(match.start()):
        return True
    clause = sentence.clause(match.start())
    rest = grammar("duration_mark").split(sentence.text[match.end() :])[0]
    if says(words(rest)[:1], "not"):
        return True
    start = max(clause.start, *(sentence.text.rfind(one, 0, match.start()) for one in ",;:"), 0)
    said = {*words(sentence.text[start : match.end()])} - {*words(match["cue"])}
    said |= {*words(rest)} - vocabulary("duration_people")
    is_way = grammar("duration_travel").search(sentence.text, match.end()) is not None
    before = words(sentence.text[start : match.start()])
    if says(said, "duration_not_it") or is_way:
        return True
    if says(before, "duration_denied"):
        return True
    if name == "duration_vague" and any(map(lemmas.is_past, before)):
        return True
    if _is_spent(sentence, said, words(rest)[:1]):
        return True
    around = {*before, *words(sentence.text[match.start() : match.end()])}
    is_bound = says(around, "bounds")  # "not more than 20 min"
    return not NEGATIVE.isdisjoint(around) and not is_bound
