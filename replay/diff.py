"""What differs between two wakes, or between two worlds. Two equal ones differ in nothing.

Lists of things with a name (an id, a run key, a reference) are compared by name, other lists by
place. Texts are given whole, on both sides; how they are shown is not decided here.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from replay.seen import CallSeen, ReportSeen, TurnSeen, WakeSeen

Members = dict[Any, Any]
NAMES = ("id", "run_key", "ref", "fingerprint")
"""What names an element of a list, the first that all of its elements have."""


class Difference(Struct, frozen=True):
    """One difference between two documents. `a` or `b` is None where it is not there."""

    path: str
    change: str  # "changed", "added" (only in b) or "removed" (only in a)
    a: Any = None
    b: Any = None


# ---------------------------------------------------------------------------------------- worlds


def worlds(a: Any, b: Any, path: str = "") -> Iterator[Difference]:
    """All differences between two values of JSON, in the order of their places.

    >>> [one.path for one in worlds({"x": [{"id": "a", "n": 1}]}, {"x": [{"id": "a", "n": 2}]})]
    ['x[a].n']
    """
    if isinstance(a, dict) and isinstance(b, dict):
        yield from _members(a, b, path)
    elif isinstance(a, list) and isinstance(b, list):
        yield from _elements(a, b, path)
    elif a != b or type(a) is not type(b):
        yield Difference(path, "changed", a, b)


def _members(a: Members, b: Members, path: str) -> Iterator[Difference]:
    for name in dict.fromkeys((*a, *b)):
        place = f"{path}.{name}" if path else str(name)
        yield from _either(a, b, name, place)


def _elements(a: list[Any], b: list[Any], path: str) -> Iterator[Difference]:
    named = next((name for name in NAMES if _all_have(name, a, b)), "")
    one, other = (_keyed(values, named) for values in (a, b))
    for key in dict.fromkeys((*one, *other)):
        yield from _either(one, other, key, f"{path}[{key}]")


def _either(a: Members, b: Members, key: Any, place: str) -> Iterator[Difference]:
    if key not in b:
        yield Difference(place, "removed", a=a[key])
    elif key not in a:
        yield Difference(place, "added", b=b[key])
    else:
        yield from worlds(a[key], b[key], place)


def _all_have(name: str, a: list[Any], b: list[Any]) -> bool:
    """Whether a field names every element of either list, each by another value."""
    for values in (a, b):
        found = [one.get(name) for one in values if isinstance(one, dict)]
        if len(found) < len(values) or None in found or len(set(map(str, found))) < len(found):
            return False
    return bool(a or b)


def _keyed(values: list[Any], named: str) -> Members:
    return {str(one[named] if named else nth): one for nth, one in enumerate(values)}


# ----------------------------------------------------------------------------------------- wakes


class TextPair(Struct, frozen=True):
    """A text on both sides."""

    same: bool
    a: str | None
    b: str | None


class SectionPair(Struct, frozen=True):
    """A section of the prompt on both sides, null where there is none."""

    section: str
    same: bool
    a: str | None
    b: str | None


class CallSide(Struct, frozen=True):
    """A call and its result; `arguments` are canonical JSON."""

    tool: str
    arguments: str
    status: str | None
    code: str | None
    message: str


class CallPair(Struct, frozen=True):
    """A call of a reply, by its place."""

    same: bool
    a: CallSide | None
    b: CallSide | None


class ReplyPair(Struct, frozen=True):
    """What the model said in a turn, or why it said nothing, and what it called."""

    turn: int
    same: bool
    a: str | None
    b: str | None
    calls: list[CallPair]


class ProposalsPair(Struct, frozen=True):
    """What both propose, and what only one does."""

    same: bool
    both: list[str]
    only_a: list[str]
    only_b: list[str]


class ObservationsPair(Struct, frozen=True):
    """What only one of them noted."""

    same: bool
    only_a: list[str]
    only_b: list[str]


class ReportPair(Struct, frozen=True):
    """The reports."""

    same: bool
    a: ReportSeen | None
    b: ReportSeen | None


Pair = TextPair | SectionPair | ReplyPair | ProposalsPair | ObservationsPair | ReportPair


class TokensSide(Struct, frozen=True):
    """Tokens of all turns; null where the model did not tell."""

    input_tokens: int | None
    output_tokens: int | None
    turns: int


class TokensPair(Struct, frozen=True):
    """Tokens are not compared."""

    a: TokensSide
    b: TokensSide


class WakesCompared(Struct, frozen=True):
    """Two wakes, `a` and `b`, by their run keys. `same`: nothing differs that a model was shown or
    that it made; run keys and times are not compared."""

    a: str
    b: str
    same: bool
    model: TextPair
    reason: TextPair
    outcome: TextPair
    prompt: list[SectionPair]
    replies: list[ReplyPair]
    proposals: ProposalsPair
    observations: ObservationsPair
    report: ReportPair
    tokens: TokensPair


def wakes(a: WakeSeen, b: WakeSeen) -> WakesCompared:
    """Two wakes: prompt sections, replies, calls, proposals, observations, report, tokens."""
    named = (_pair(a.model, b.model), _pair(a.reason, b.reason), _pair(_outcome(a), _outcome(b)))
    prompt, replies = _prompt(a, b), _replies(a, b)
    made = _proposals(a, b), _observations(a, b)
    report = ReportPair(a.report == b.report, a.report, b.report)
    parts: list[Pair] = [*named, *prompt, *replies, *made, report]
    is_same = all(one.same for one in parts)
    last = report, TokensPair(_tokens(a), _tokens(b))
    return WakesCompared(a.run_key, b.run_key, is_same, *named, prompt, replies, *made, *last)


def _pair(a: str, b: str) -> TextPair:
    return TextPair(a == b, a, b)


def _outcome(wake: WakeSeen) -> str:
    return f"{wake.outcome or 'no end'} ({wake.code})" if wake.code else wake.outcome or "no end"


def _tokens(wake: WakeSeen) -> TokensSide:
    return TokensSide(*wake.tokens, len(wake.turns))


def _prompt(a: WakeSeen, b: WakeSeen) -> list[SectionPair]:
    one, other = ({section.name: section.text for section in wake.sections} for wake in (a, b))
    names = dict.fromkeys((*one, *other))
    sides = [(name, one.get(name), other.get(name)) for name in names]
    return [SectionPair(name, was == now, was, now) for name, was, now in sides]


def _replies(a: WakeSeen, b: WakeSeen) -> list[ReplyPair]:
    pairs = zip_longest(a.turns, b.turns)
    return [_reply(nth, *pair) for nth, pair in enumerate(pairs, start=1)]


def _reply(nth: int, a: TurnSeen | None, b: TurnSeen | None) -> ReplyPair:
    both = zip_longest(a.calls if a else (), b.calls if b else ())
    sides = [(_call(one), _call(other)) for one, other in both]
    calls = [CallPair(one == other, one, other) for one, other in sides]
    was, now = (None if one is None else one.fault or one.text for one in (a, b))
    is_same = was == now and all(one.same for one in calls)
    return ReplyPair(nth, is_same, was, now, calls)


def _call(call: CallSeen | None) -> CallSide | None:
    if call is None:
        return None
    status, code = call.status or None, call.code or None
    return CallSide(call.tool, call.arguments, status, code, call.message)


def _proposals(a: WakeSeen, b: WakeSeen) -> ProposalsPair:
    """By fingerprint: what only one of them proposes."""
    one, other = ({item.fingerprint: item for item in wake.proposals} for wake in (a, b))
    return ProposalsPair(
        same=one.keys() == other.keys(),
        both=[item.summary for name, item in one.items() if name in other],
        only_a=[item.summary for name, item in one.items() if name not in other],
        only_b=[item.summary for name, item in other.items() if name not in one],
    )


def _observations(a: WakeSeen, b: WakeSeen) -> ObservationsPair:
    one, other = a.observations, b.observations
    return ObservationsPair(
        same=one == other,
        only_a=[text for text in one if text not in other],
        only_b=[text for text in other if text not in one],
    )
