"""What differs between two wakes, or between two worlds. Two equal ones differ in nothing.

Lists of things with a name (an id, a run key, a reference) are compared by name, other lists by
place. Texts are given whole, on both sides; how they are shown is not decided here.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from replay.seen import CallSeen, ReportSeen, TurnSeen, WakeSeen

Document = dict[str, Any]
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


def _members(a: Document, b: Document, path: str) -> Iterator[Difference]:
    for name in dict.fromkeys((*a, *b)):
        place = f"{path}.{name}" if path else str(name)
        yield from _either(a, b, name, place)


def _elements(a: list[Any], b: list[Any], path: str) -> Iterator[Difference]:
    named = next((name for name in NAMES if _all_have(name, a, b)), "")
    one, other = (_keyed(values, named) for values in (a, b))
    for key in dict.fromkeys((*one, *other)):
        yield from _either(one, other, key, f"{path}[{key}]")


def _either(a: Document, b: Document, key: Any, place: str) -> Iterator[Difference]:
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


def _keyed(values: list[Any], named: str) -> Document:
    return {str(one[named] if named else nth): one for nth, one in enumerate(values)}


# ----------------------------------------------------------------------------------------- wakes


def wakes(a: WakeSeen, b: WakeSeen) -> Document:
    """Two wakes: prompt sections, replies, calls, proposals, observations, report, tokens.

    Returns:
        ``same`` says whether nothing differs that a model was shown or that it made; run keys and
        times are not compared.
    """
    parts: Document = {
        "model": _pair(a.model, b.model),
        "reason": _pair(a.reason, b.reason),
        "outcome": _pair(_outcome(a), _outcome(b)),
        "prompt": _prompt(a, b),
        "replies": [
            _reply(nth, *pair) for nth, pair in enumerate(_both(a.turns, b.turns), start=1)
        ],
        "proposals": _proposals(a, b),
        "observations": _lists(a.observations, b.observations),
        "report": _report(a.report, b.report),
    }
    parts["same"] = all(_is_same(part) for part in parts.values())
    parts["tokens"] = {"a": _tokens(a), "b": _tokens(b)}
    return {"a": a.run_key, "b": b.run_key, "same": parts.pop("same"), **parts}


def _is_same(part: Any) -> bool:
    found = part if isinstance(part, list) else [part]
    return all(one["same"] for one in found)


def _pair(a: Any, b: Any) -> Document:
    return {"same": a == b, "a": a, "b": b}


def _outcome(wake: WakeSeen) -> str:
    return f"{wake.outcome or 'no end'} ({wake.code})" if wake.code else wake.outcome or "no end"


def _tokens(wake: WakeSeen) -> Document:
    count_in, count_out = wake.tokens
    return {"input_tokens": count_in, "output_tokens": count_out, "turns": len(wake.turns)}


def _both(a: Sequence[Any], b: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs by place; None where one side has no more."""
    for nth in range(max(len(a), len(b))):
        yield (a[nth] if nth < len(a) else None), (b[nth] if nth < len(b) else None)


def _prompt(a: WakeSeen, b: WakeSeen) -> list[Document]:
    one, other = ({section.name: section.text for section in wake.sections} for wake in (a, b))
    return [
        {"section": name, **_pair(one.get(name), other.get(name))}
        for name in dict.fromkeys((*one, *other))
    ]


def _reply(nth: int, a: TurnSeen | None, b: TurnSeen | None) -> Document:
    calls = [
        _pair(_call(one), _call(other))
        for one, other in _both(a.calls if a else (), b.calls if b else ())
    ]
    said = [None if one is None else one.fault or one.text for one in (a, b)]
    is_same = said[0] == said[1] and all(one["same"] for one in calls)
    return {"turn": nth, "same": is_same, "a": said[0], "b": said[1], "calls": calls}


def _call(call: CallSeen | None) -> Document | None:
    if call is None:
        return None
    return {
        "tool": call.tool,
        "arguments": call.arguments,
        "status": call.status or None,
        "code": call.code or None,
        "message": call.message,
    }


def _proposals(a: WakeSeen, b: WakeSeen) -> Document:
    """By fingerprint: what only one of them proposes."""
    one, other = ({item.fingerprint: item for item in wake.proposals} for wake in (a, b))
    return {
        "same": one.keys() == other.keys(),
        "both": [item.summary for name, item in one.items() if name in other],
        "only_a": [item.summary for name, item in one.items() if name not in other],
        "only_b": [item.summary for name, item in other.items() if name not in one],
    }


def _lists(a: Sequence[str], b: Sequence[str]) -> Document:
    return {
        "same": list(a) == list(b),
        "only_a": [one for one in a if one not in b],
        "only_b": [one for one in b if one not in a],
    }


def _report(a: ReportSeen | None, b: ReportSeen | None) -> Document:
    fields = ("one_liner", "tldr", "content")
    one, other = (
        {name: getattr(report, name) for name in fields} if report else None for report in (a, b)
    )
    return _pair(one, other)
