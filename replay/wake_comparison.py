"""What differs between two wakes, or between two worlds. Two equal ones differ in nothing.

Lists of things with a name (an id, a run key, a reference) are compared by name, other lists by
place. Texts are given whole, on both sides; how they are shown is not decided here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import AgentObserved
from domain.changes.change_set import ItemProposed
from domain.log.state import RecordedEvent
from domain.log.wire import PayloadId, Words
from domain.ports import Section
from domain.wake import wake as e

ResolveText = Callable[[Words], str]


class CallSide(Struct, frozen=True):
    """A call and its result; `arguments` are canonical JSON."""

    tool: str
    arguments: str
    status: str | None
    code: str | None
    message: str


class TurnSeen(Struct, frozen=True):
    """A reply of the model, or why there was none (`fault`)."""

    turn: int
    text: str = ""
    fault: str = ""
    calls: tuple[CallSide, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None


class ProposalCompared(Struct, frozen=True):
    tool: str
    arguments: str
    summary: str
    fingerprint: str


class ReportSeen(Struct, frozen=True):
    one_liner: str = ""
    tldr: str = ""
    content: str = ""


class WakeSeen(Struct, frozen=True):
    """A wake. `report` is the last draft; `outcome` is empty while it has no end."""

    run_key: str
    model: str = ""
    reason: str = ""
    outcome: str = ""
    code: str = ""
    message: str = ""
    sections: tuple[Section, ...] = ()
    turns: tuple[TurnSeen, ...] = ()
    proposals: tuple[ProposalCompared, ...] = ()
    observations: tuple[str, ...] = ()
    report: ReportSeen | None = None

    @property
    def tokens(self) -> tuple[int | None, int | None]:
        """In and out, of all turns; None as soon as one turn's are not known."""
        replies = [turn for turn in self.turns if not turn.fault]
        spent = _total_tokens([turn.tokens_in for turn in replies])
        return spent, _total_tokens([turn.tokens_out for turn in replies])


def _total_tokens(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def wake_seen(
    run_key: str, rows: Iterable[RecordedEvent], text: ResolveText,
    payload: Callable[[PayloadId], bytes],
) -> WakeSeen:  # fmt: skip
    """The wake that `rows` tell of: those of its own stream, its change set's and its agent's, in
    order; others are ignored."""
    wake = WakeSeen(run_key)
    for row in rows:
        match row.fact:
            case e.WakeStarted() as fact:
                refs = (*fact.system, *fact.user)
                sections = tuple(Section(ref.name, payload(ref.payload).decode()) for ref in refs)
                wake = replace(wake, model=fact.model, reason=fact.reason, sections=sections)
            case e.WakeFinished(outcome=outcome, code=code, message=message):
                wake = replace(wake, outcome=outcome, code=code, message=message)
            case AgentObserved(run_key=whose, words=words) if whose == run_key:
                wake = replace(wake, observations=(*wake.observations, text(words)))
            case e.ReportDrafted(one_liner=line, tldr=tldr, content=content):
                wake = replace(wake, report=ReportSeen(line, text(tldr), text(content)))
            case ItemProposed(arguments=arguments, summary=summary) as fact:
                made = ProposalCompared(fact.tool, text(arguments), summary, fact.fingerprint)
                wake = replace(wake, proposals=(*wake.proposals, made))
            case e.ModelAnswered() | e.ModelFailed() | e.ToolReturned() as fact:
                wake = replace(wake, turns=_with_turn(wake.turns, fact, text))
    return wake


def _with_turn(
    turns: tuple[TurnSeen, ...],
    fact: e.ModelAnswered | e.ModelFailed | e.ToolReturned,
    text: ResolveText,
) -> tuple[TurnSeen, ...]:
    match fact:
        case e.ModelAnswered():
            asked = ((call.tool, text(call.arguments)) for call in fact.calls)
            calls = tuple(CallSide(*one, status=None, code=None, message="") for one in asked)
            said = text(fact.text) if fact.text else ""
            return (*turns, TurnSeen(fact.turn, said, "", calls, fact.tokens_in, fact.tokens_out))
        case e.ModelFailed():
            return (*turns, TurnSeen(fact.turn, fault=f"{fact.code}: {fact.message}"))
        case _:
            last = turns[-1]
            nth = next((nth for nth, call in enumerate(last.calls) if not call.status), None)
            if nth is None:
                return turns
            code, told = fact.code or None, text(fact.message)
            call = replace(last.calls[nth], status=fact.status, code=code, message=told)
            after = (*last.calls[:nth], call, *last.calls[nth + 1 :])
            return (*turns[:-1], replace(last, calls=after))


# ------------------------------------------------------------------------------------- what differs

Members = dict[Any, Any]
NAMES = ("id", "run_key", "ref", "fingerprint")
"""What names an element of a list, the first that all of its elements have."""


class Difference(Struct, frozen=True):
    """One difference between two documents. `a` or `b` is None where it is not there."""

    path: str
    change: str  # "changed", "added" (only in b) or "removed" (only in a)
    a: Any = None
    b: Any = None


def world_differences(a: Any, b: Any, path: str = "") -> Iterator[Difference]:
    """All differences between two values of JSON, in the order of their places.

    >>> was, now = ({"x": [{"id": "a", "n": n}]} for n in (1, 2))
    >>> [one.path for one in world_differences(was, now)]
    ['x[a].n']
    """
    if isinstance(a, dict) and isinstance(b, dict):
        yield from _members(a, b, f"{path}." if path else "")
    elif isinstance(a, list) and isinstance(b, list):
        named = next((name for name in NAMES if _all_have(name, a, b)), "")
        yield from _members(_keyed(a, named), _keyed(b, named), f"{path}[", "]")
    elif a != b or type(a) is not type(b):
        yield Difference(path, "changed", a, b)


def _members(a: Members, b: Members, before: str, after: str = "") -> Iterator[Difference]:
    for name in dict.fromkeys((*a, *b)):
        place = f"{before}{name}{after}"
        if name not in b:
            yield Difference(place, "removed", a=a[name])
        elif name not in a:
            yield Difference(place, "added", b=b[name])
        else:
            yield from world_differences(a[name], b[name], place)


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


ComparedPair = TextPair | SectionPair | ReplyPair | ProposalsPair | ObservationsPair | ReportPair


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


def compare_wakes(a: WakeSeen, b: WakeSeen) -> WakesCompared:
    """Two wakes: prompt sections, replies, calls, proposals, observations, report, tokens."""
    named = (_pair(a.model, b.model), _pair(a.reason, b.reason), _pair(_outcome(a), _outcome(b)))
    prompt, replies = _prompt(a, b), _replies(a, b)
    made = _proposals(a, b), _observations(a, b)
    report = ReportPair(a.report == b.report, a.report, b.report)
    parts: list[ComparedPair] = [*named, *prompt, *replies, *made, report]
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
    return [_reply(nth, *both) for nth, both in enumerate(zip_longest(a.turns, b.turns), start=1)]


def _reply(nth: int, a: TurnSeen | None, b: TurnSeen | None) -> ReplyPair:
    both = zip_longest(a.calls if a else (), b.calls if b else ())
    calls = [CallPair(one == other, one, other) for one, other in both]
    was, now = (None if one is None else one.fault or one.text for one in (a, b))
    is_same = was == now and all(one.same for one in calls)
    return ReplyPair(nth, is_same, was, now, calls)


def _proposals(a: WakeSeen, b: WakeSeen) -> ProposalsPair:
    """By fingerprint: what only one of them proposes."""
    one, other = ({item.fingerprint: item for item in wake.proposals} for wake in (a, b))
    both = [item.summary for name, item in one.items() if name in other]
    only_a = [item.summary for name, item in one.items() if name not in other]
    only_b = [item.summary for name, item in other.items() if name not in one]
    return ProposalsPair(one.keys() == other.keys(), both, only_a, only_b)


def _observations(a: WakeSeen, b: WakeSeen) -> ObservationsPair:
    one, other = a.observations, b.observations
    only_a = [text for text in one if text not in other]
    return ObservationsPair(one == other, only_a, [text for text in other if text not in one])
