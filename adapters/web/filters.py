"""Texts and times as a page shows them. Whatever a person or a model wrote may be hostile."""

import re
from datetime import date, datetime
from zoneinfo import ZoneInfo

from adapters.text.common import UNITS, UNSEEN, lasting
from domain.log.timestamps import instant

_SHOWN_MAX = 20_000  # characters of one text


def shown(text: str) -> str:
    """A text without control characters; a lone surrogate and NUL have no place in HTML.

    >>> shown("a\\x00b\\x1b[31m\\tc\\nd")
    'a�b�[31m\\tc\\nd'
    """
    return text if text.isprintable() else _CONTROL.sub("\ufffd", text)


_CONTROL = re.compile("[\0-\b\v\f\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def revealed(text: str) -> str:
    """A text of which nothing is invisible that a model would read, or that turns what follows.

    Tag characters spell ASCII without being drawn; in a flag they stand as they are. A joiner
    alone joins or parts letters, many in a row spell something.

    >>> revealed("a" + "".join(chr(0xE0000 + ord(char)) for char in "hide") + "b")
    'a�hide�b'
    >>> revealed("gpj.\u202eexe"), revealed("a\u200bb")
    ('gpj.�exe', 'a�b')
    """
    return _INVISIBLE.sub(_reveal, shown(text))


_FLAG = "\U0001f3f4[\U000e0061-\U000e007a]{3,6}\U000e007f"
_INVISIBLE = re.compile(
    f"{_FLAG}|[\U000e0000-\U000e0fff]+|[\u200b-\u200d\u2060-\u2064\ufeff]{{4,}}|[{UNSEEN}]+"
)


def _reveal(found: re.Match[str]) -> str:
    hidden = found[0]
    if hidden[0] == "\U0001f3f4":
        return hidden
    told = "".join(
        chr(ord(char) - 0xE0000) if 0xE0020 <= ord(char) < 0xE007F else "" for char in hidden
    )
    return f"\ufffd{told}\ufffd" if told else "\ufffd"


def one_line(text: str, length_max: int = 300) -> str:
    """A text for a title or an attribute: no line ends, nothing that turns the direction unseen.

    >>> one_line("a\\n\\u202eb")
    'a �b'
    """
    told = "".join(char for char in revealed(text) if char not in _MARKS)
    return clip(" ".join(told.split()), length_max)


_MARKS = "\u200e\u200f\u061c"  # Hebrew and Arabic have them rightly


def clip(text: str, length_max: int = _SHOWN_MAX) -> str:
    """The beginning of a long text; what is missing is said."""
    told = f" … ({len(text) - length_max:,} more characters)"
    if len(text) <= length_max + len(told):  # to say it would take as much room
        return text
    return text[:length_max] + told


def exact(at: str, zone: str) -> str:
    """A stored time as clocks in a zone show it, to the second.

    >>> exact("2027-01-01T06:00:00.000000Z", "Europe/Berlin")
    '2027-01-01 07:00:00 CET'
    """
    return local(at, zone).strftime("%Y-%m-%d %H:%M:%S %Z")


def absolute(at: str, now: str, zone: str) -> str:
    """A stored time as a person says it, by the clock of a zone; the year only of another one.

    >>> times = "2026-11-21T15:00:59.000000Z", "2026-11-22T00:00:00.000000Z"
    >>> absolute(*times, "Europe/Berlin")
    'Sat 21 Nov 16:00'
    """
    told = local(at, zone)
    return f"{weekday(told.date(), local(now, zone).date())} {told:%H:%M}"


def local(at: str, zone: str) -> datetime:
    """A stored time as an aware one of a zone."""
    return instant(at).astimezone(ZoneInfo(zone))


def weekday(day: date, today: date) -> str:
    """A day as a person says it; the year only of another one.

    >>> weekday(date(2026, 11, 21), date(2026, 11, 22)), weekday(date(2025, 1, 2), date.max)
    ('Sat 21 Nov', 'Thu 2 Jan 2025')
    """
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day:%a} {day.day} {day:%b}{year}"


def span(start: str, end: str, now: str, zone: str) -> str:
    """Two stored times as clocks in a zone show them; without an end until now.

    >>> times = "2026-11-21T15:00:00.000000Z", "2026-11-21T17:00:00.000000Z"
    >>> span(*times, "2026-11-22T00:00:00.000000Z", "Europe/Berlin")
    'Sat 21 Nov 16:00-18:00'
    """
    began, ended, today = local(start, zone), local(end or now, zone), local(now, zone).date()
    told = f"{weekday(began.date(), today)} {began:%H:%M}"
    if not end:
        return f"{told} until now"
    is_one_day = ended.date() == began.date()
    return f"{told}{'-' if is_one_day else f' to {weekday(ended.date(), today)} '}{ended:%H:%M}"


def wall(at: str | None, zone: str) -> str:
    """A stored time as an input for local times holds it: to the minute.

    >>> wall("2026-11-21T15:00:59.000000Z", "Europe/Berlin"), wall(None, "UTC")
    ('2026-11-21T16:00', '')
    """
    return local(at, zone).strftime("%Y-%m-%dT%H:%M") if at else ""


def took(start: str | None, end: str | None) -> str:
    """How long something took, in its two coarsest units; empty where it has not ended.

    >>> took("2027-01-01T00:00:00.000000Z", "2027-01-01T00:03:20.500000Z")
    '3 min 20 s'
    >>> took("2027-01-01T00:00:00.000000Z", "2027-01-02T03:00:10.000000Z"), took("", None)
    ('1 d 3 h', '')
    """
    if not (start and end):
        return ""
    seconds = max((instant(end) - instant(start)).total_seconds(), 0)
    if seconds < 60:
        return lasting(seconds)
    left, parts = int(seconds), list[str]()
    for size, unit in (*UNITS, (1, "s")):
        if left >= size or parts:
            parts.append(f"{left // size} {unit}" if left >= size else "")
            left %= size
    return " ".join(one for one in parts[:2] if one)


PLAIN = {
    "stale": "out of date",
    "dormant": "paused",
    "destroyed": "ended",
    "suppressed": "not acted on",
    "unmatched": "not its concern",
    "merged": "together with another",
    "inherited": "taken over",
    "first": "first",
    "superseded": "replaced by a newer one",
    "skipped": "left out",
    "subscription": "a change",
    "manual": "woken by you",
    "user": "asked by you",
    "creation": "new",
    "recovery": "goes on",
    "request": "asked by an agent",
    "client": "by a client",
    "timer": "its timer",
    "deferred": "put off",
    "retracted": "taken back",
    "pending": "waits for you",
    "digest": "summary",
    "person": "you",
    "idle": "at rest",
    "autonomous": "by itself",
    "interactive": "when you ask",
    "hybrid": "by itself, and when you ask",
    "denied": "not accepted",
    "success": "done",
    "partial": "done in part",
    "error": "refused",
    "system": "given to it",
    "tool_result": "what came of it",
    "thought": "its last words",
    "data altered": "changed after it was written",
}
"""Words of the log, as a person says them; the log's own word stands in a tooltip."""


def plainly(word: str) -> str:
    """A word of the log as a person says it.

    >>> plainly("dormant"), plainly("IN PROGRESS"), plainly("in_doubt")
    ('paused', 'IN PROGRESS', 'in doubt')
    """
    return PLAIN.get(word, word.replace("_", " "))


def by_whom(by: str) -> str:
    """Who did something: ``person``, ``agent:ID``, ``import:SOURCE``.

    >>> by_whom("person"), by_whom("agent:a"), by_whom("import:TODO.md")
    ('you', 'the agent', 'the file TODO.md')
    """
    kind, _, name = by.partition(":")
    return {"agent": "the agent", "import": f"the file {name}"}.get(kind, plainly(by))


def percent(share: float | None) -> str:
    """A share of 1; a dash where there is none.

    >>> percent(0.375), percent(None)
    ('38 %', '–')
    """
    return "–" if share is None else f"{share * 100:.0f} %"
