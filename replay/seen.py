"""One wake as it can be compared: what it was shown, answered, called, proposed and reported."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.events import AgentObserved
from domain.changes.events import ItemProposed
from domain.ports import Section
from domain.wake.events import (
    ModelAnswered,
    ModelFailed,
    ReportDrafted,
    SectionRef,
    ToolReturned,
    WakeFinished,
    WakeStarted,
)
from domain.wire import PayloadId, Words
from domain.world import Recorded

Text = Callable[[Words], str]


class CallSeen(Struct, frozen=True):
    """A call with its result; `status` is empty where it has none."""

    tool: str
    arguments: str  # canonical JSON
    status: str = ""
    code: str = ""
    message: str = ""


class TurnSeen(Struct, frozen=True):
    """A reply of the model, or why there was none (`fault`)."""

    turn: int
    text: str = ""
    fault: str = ""
    calls: tuple[CallSeen, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None


class ProposalSeen(Struct, frozen=True):
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
    proposals: tuple[ProposalSeen, ...] = ()
    observations: tuple[str, ...] = ()
    report: ReportSeen | None = None

    @property
    def tokens(self) -> tuple[int | None, int | None]:
        """In and out, of all turns; None as soon as one turn's are not known."""
        replies = [turn for turn in self.turns if not turn.fault]
        return (
            _total([turn.tokens_in for turn in replies]),
            _total([turn.tokens_out for turn in replies]),
        )


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def seen(
    run_key: str, rows: Iterable[Recorded], text: Text, payload: Callable[[PayloadId], bytes]
) -> WakeSeen:
    """The wake that its rows tell of.

    Args:
        run_key: Which.
        rows: Of its own stream, its change set's and its agent's, in order; others are ignored.
        text: Resolves a text.
        payload: Gives the bytes of a payload.
    """

    def section(ref: SectionRef) -> Section:
        return Section(ref.name, payload(ref.payload).decode())

    wake = WakeSeen(run_key)
    for row in rows:
        match row.fact:
            case WakeStarted() as fact:
                sections = tuple(section(ref) for ref in (*fact.system, *fact.user))
                wake = replace(wake, model=fact.model, reason=fact.reason, sections=sections)
            case WakeFinished(outcome=outcome, code=code, message=message):
                wake = replace(wake, outcome=outcome, code=code, message=message)
            case AgentObserved(run_key=whose, words=words) if whose == run_key:
                wake = replace(wake, observations=(*wake.observations, text(words)))
            case ReportDrafted(one_liner=line, tldr=tldr, content=content):
                wake = replace(wake, report=ReportSeen(line, text(tldr), text(content)))
            case ItemProposed() as fact:
                wake = replace(wake, proposals=(*wake.proposals, _proposal(fact, text)))
            case ModelAnswered() | ModelFailed() | ToolReturned() as fact:
                wake = replace(wake, turns=_turns(wake.turns, fact, text))
    return wake


def _proposal(fact: ItemProposed, text: Text) -> ProposalSeen:
    return ProposalSeen(fact.tool, text(fact.arguments), fact.summary, fact.fingerprint)


def _turns(
    turns: tuple[TurnSeen, ...], fact: ModelAnswered | ModelFailed | ToolReturned, text: Text
) -> tuple[TurnSeen, ...]:
    match fact:
        case ModelAnswered():
            calls = tuple(CallSeen(call.tool, text(call.arguments)) for call in fact.calls)
            said = text(fact.text) if fact.text else ""
            made = TurnSeen(fact.turn, said, "", calls, fact.tokens_in, fact.tokens_out)
            return (*turns, made)
        case ModelFailed():
            return (*turns, TurnSeen(fact.turn, fault=f"{fact.code}: {fact.message}"))
        case _:
            last = turns[-1]
            nth = next((nth for nth, call in enumerate(last.calls) if not call.status), None)
            if nth is None:
                return turns
            told = text(fact.message)
            call = replace(last.calls[nth], status=fact.status, code=fact.code, message=told)
            after = (*last.calls[:nth], call, *last.calls[nth + 1 :])
            return (*turns[:-1], replace(last, calls=after))
