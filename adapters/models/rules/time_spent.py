"""Time that a text says was spent: "worked on it from 4 to 6pm" (ADR 41).

Hours are those of the person's clock, on the day of the note or a day that the sentence names.
Never guessed: hours that may be of the morning or the afternoon, days that are only a date without
a year, and spans that had not ended when it was written are nothing.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache

from adapters.models.offline import dates, duration
from adapters.models.offline.phrasing import expanded, pattern, phrases, rows, rule, vocabulary
from adapters.models.offline.sentences import is_hearsay, is_question, quote, sentences_of, words
from adapters.models.rules.context import PromptTask, SourceText
from adapters.models.rules.findings import CLOSED, GOES_ON, NOT_STARTED, Finding, is_open
from domain.log.timestamps import is_date
from domain.text import fold

MINUTES_MAX = 24 * 60
BEGUN_MINUTES = 10  # so much since the status was set says that it is under way
SURE_FROM = 6  # an earlier hour without am or pm may be of the afternoon
NOON = 12

_SIDE = (
    "(?P<{0}h>[01]?\\d|2[0-4])(?:[:.](?P<{0}m>[0-5]\\d))?(?: ?(?P<{0}p>am|pm|a\\.m\\.|p\\.m\\.))?"
)
_NAMED = {
    "clock": _SIDE.format("a") + r"(?: ?(?P<uhr>{o_clock}))?{end}",
    "span": _SIDE.format("a")
    + r"(?: ?{o_clock})? ?(?:{up_to}|{and}|-|–) ?"
    + _SIDE.format("b")
    + r"(?: ?(?P<uhr>{o_clock}))?{end}",
    "on": r"(?: {on_it} [^,;:.!]{1,80}?)?",
    "when": r"(?:,? {when_said})?",
    "head": r"^(?:(?:{work_head}|{when_said})[,:]? ){0,6}",
    "when_said": r"(?:{when_today}|{when_before}|{when_yesterday}|(?:{on_day} )?{day}|"
    r"(?:{on_day} )?\d{4}-\d\d-\d\d)",
}
_NOT_SO = vocabulary("negative", "conditional", "time_spent_not_so")


@cache
def _compiled(source: str) -> re.Pattern[str]:
    days = "|".join(one for one in dates.named_days() if len(one) > 4)
    return pattern(expanded(source, duration.known() | _NAMED | {"day": f"(?:{days})"}))


def times(seen: PromptTask) -> list[Finding]:
    """The spans that notes and the person's words tell of, and that the task does not have."""
    if not seen.around.now or seen.status in CLOSED:
        return []
    found: dict[str, Finding] = {}
    for source in seen.sources:
        if source.kind in ("note", "words") and rule("work_hint").search(source.text):
            for one in _of(seen, source):
                found.setdefault(one.value, one)
    kept: list[Finding] = []
    for one in found.values():
        spans = [*seen.around.spent, *((known.target, known.extra) for known in kept)]
        if not _is_known(seen, one) and not any(
            one.target < end and start < one.extra for start, end in spans
        ):
            kept.append(one)
    return kept


def begun(seen: PromptTask) -> Finding | None:
    """That a task is under way, of which time was logged since its status was set."""
    if seen.status not in NOT_STARTED:
        return None
    since = seen.set_at.get("status", "")
    worked = [one for one in seen.around.worked if one.start >= since]
    if sum(one.minutes for one in worked) < BEGUN_MINUTES:
        return None
    newest = worked[-1]
    source = SourceText("time", newest.told, newest.start, seen.around.day(newest.start))
    found = Finding("status", GOES_ON, newest.told, source, extra=newest.said)
    return None if is_open(seen, found) else found


def _is_known(seen: PromptTask, found: Finding) -> bool:
    is_told = seen.around.tells("log ", found.value)
    return is_told or seen.around.remembers(f"{found.kind} {found.value}", found.source.at)


def _of(seen: PromptTask, source: SourceText) -> Iterator[Finding]:
    written = seen.around.local(source.written or source.at) or seen.around.now
    for sentence in sentences_of(source.text):
        span = None if is_question(sentence) else _span(sentence, written)
        if span and span[1] <= seen.around.now:
            start, end = span
            until = f"-{end[11:]}" if end[:10] == start[:10] else f" to {end[:10]} {end[11:]}"
            value = f"{start[:10]} {start[11:]}{until}"
            said = quote(sentence)
            yield Finding("time", value, said, source, target=start, extra=end)


def _span(sentence: str, written: str) -> tuple[str, str] | None:
    """Start and end of the work that a sentence tells of, which was over when it was written."""
    for row in rows("time_rules"):
        match = _compiled(row).search(sentence)
        if match is None or is_hearsay(sentence, 0) or not _NOT_SO.isdisjoint(words(sentence)):
            continue
        day = _day(sentence, date.fromisoformat(written[:10]))
        minutes = _minutes(match)
        if day is not None and minutes is not None:
            start, end = (_at(day, one) for one in minutes)
            return (start, end) if end <= written else None
    return None


def _at(day: date, minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{day + timedelta(days=hours // 24)}T{hours % 24:02}:{rest:02}"


def _day(sentence: str, written: date) -> date | None:
    """The day that a sentence means; None where it names several, or one without a year."""
    when = _compiled("(?<![A-Za-z0-9]){when_said}{end}")
    named = {fold(one[0]) for one in when.finditer(sentence)}
    rest = when.sub("", sentence)
    if len(named) > 1 or dates.names_a_day(rest):
        return None
    told = next(iter(named), "")
    for days, name in ((2, "when_before"), (1, "when_yesterday"), (0, "when_today")):
        if not told or pattern(phrases(name)).fullmatch(told):
            return written - timedelta(days=days if told else 0)
    said = told.split(" ")[-1]
    if said[:1].isdecimal():
        return date.fromisoformat(said) if is_date(said) else None
    back = (written.weekday() - dates.named_days()[said]) % 7
    return written - timedelta(days=back) if back else None


def _minutes(match: re.Match[str]) -> tuple[int, int] | None:
    """Start and end in minutes of the day; None where the hours are not sure."""
    given = match.groupdict()
    if "bh" not in given:
        start = _clock(given, "a", given["ap"])
        length = duration.minutes(given)
        return (start, start + length) if start is not None and 0 < length < MINUTES_MAX else None
    start, end = _clock(given, "a", given["ap"] or given["bp"]), _clock(given, "b", given["bp"])
    if start is not None and end is not None and given["bp"] and not given["ap"] and start >= end:
        start = _clock(given, "a", "am")  # from 11 to 1pm
    if start is None or end is None:
        return None
    return (start, end) if start < end else None


def _clock(given: dict[str, str | None], side: str, half: str | None) -> int | None:
    hour, minute = int(given[f"{side}h"] or 0), int(given[f"{side}m"] or 0)
    if half:
        if not 1 <= hour <= NOON:
            return None
        return (hour % NOON + (NOON if half[0] in "pP" else 0)) * 60 + minute
    is_sure = hour > NOON or (hour >= SURE_FROM and bool(given["uhr"] or given[f"{side}m"]))
    return hour * 60 + minute if is_sure else None
