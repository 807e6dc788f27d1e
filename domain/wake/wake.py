"""A wake: what happens in it, the stream ``wake:<run key>`` (SPEC 3, 5), and its state, as that
makes it.

STORAGE FORMAT, see `domain.log.wire`. Intents (`ModelAsked`, `ToolAsked`) are recorded before the
effect, replies as they came; a reply to an older attempt or an ended wake is kept in
`LateReply` and has no consequence."""

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.wake_queue import Reason
from domain.errors import Refused, Remedy
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Imported, Part, PayloadId, Stored, Words
from domain.ports import NOT_TOLD, Usage
from domain.scaffold import Features, features_of

ToolStatus = Literal["success", "error", "partial", "queued", "denied"]  # `partial`: ADR 38
Outcome = Literal["completed", "failed", "skipped", "superseded"]
Stop = Literal["answered", "turn_limit", ""]


class SectionRef(Part, frozen=True):
    """A prompt section: its stable name, and its text's payload. `units`: others whose text it
    repeats besides the wake's own; since scaffold 2."""

    name: str
    payload: PayloadId
    units: tuple[str, ...] = ()


class ToolCall(Part, frozen=True):
    """A call as the model made it. `arguments` is canonical JSON of the decoded arguments;
    `problem` says why they could not be decoded, and is empty where they could. `instants`: of
    its local times, by the name of each, the UTC instant; since scaffold 2."""

    call_id: str
    tool: str
    arguments: Words
    problem: str = ""
    instants: tuple[tuple[str, str], ...] = ()


class WakeStarted(Stored, frozen=True, tag="wake.started.1"):
    """What the wake was given: prompt, tools, limits, and where both logs stood then."""

    agent: str
    task: str
    reason: Reason
    thread: str
    model: str
    scaffold: int
    turn_max: int
    journal_position: int
    agent_position: int
    snapshot: PayloadId
    system: tuple[SectionRef, ...]
    user: tuple[SectionRef, ...]
    tools: tuple[str, ...]
    specs: PayloadId  # the tools as the model is offered them, canonical JSON
    categories: tuple[str, ...] = ()
    is_first: bool = False
    template: str = ""
    template_version: int = 0
    hop: int = 0  # how many agents' writes led to this wake
    ttl_days: int = 0  # after which its undecided proposals expire; 0: never
    throttle_seconds: int = 0  # of changes that come while it runs; 0: the default
    seen: tuple[Imported, ...] = ()  # of a shared journal: what its position knows of each machine
    template_of: str = ""  # whose version of that number; empty: the own one, or the only
    agent_kind: str = ""  # since scaffold 3, so that an older wakelog knows that it is newer
    moved_by: tuple[str, ...] = ()  # see `domain.wake.unchanged`; since scaffold 4


class ModelAsked(Stored, frozen=True, tag="wake.model_asked.1"):
    turn: int  # 1-based
    attempt: int  # 1-based; raised when a doubtful request is made again
    forced: str = ""  # the only tool on offer, of the extra turn for a report


class ModelAnswered(Stored, frozen=True, tag="wake.model_answered.1"):
    """`reply_format`: which decoder read the kept bytes, with its version: ``gemini.3``,
    ``tape.1``, ``rules.1``. Empty: the first one of the wake's model, or none."""

    turn: int
    attempt: int
    reply: PayloadId  # the provider's bytes, verbatim
    text: Words | None = None
    calls: tuple[ToolCall, ...] = ()
    tokens_in: int | None = None  # None: the provider did not say
    tokens_out: int | None = None
    tokens_thought: int | None = None
    tokens_cached: int | None = None
    reply_format: str = ""


class ModelFailed(Stored, frozen=True, tag="wake.model_failed.1"):
    turn: int
    attempt: int
    code: str
    message: str
    of_provider: bool = False  # the wake is deferred, the failure not counted
    retry_seconds: int = 0
    tokens_prompt: int | None = None  # of answers that came and could not be used; None: none told
    tokens_reply: int | None = None
    tokens_thought: int | None = None
    tokens_cached: int | None = None


class ToolAsked(Stored, frozen=True, tag="wake.tool_asked.1"):
    """The intent of a call that leaves the process; `action` is its stable id."""

    turn: int
    operation: str  # idempotency key of the effect
    attempt: int
    action: str
    # those between the first and the last are reserved (ADR 38)
    action_type: Literal["tool_call", "propose_plan", "ask_user", "lifecycle_transition", "read"]
    call_id: str
    tool: str  # canonical name
    arguments: Words
    base: str = ""


class ToolReturned(Stored, frozen=True, tag="wake.tool_returned.1"):
    """The result of a call; `attempt` 0: it never left the process (queued, local, denied)."""

    turn: int
    operation: str
    attempt: int
    action: str
    call_id: str
    tool: str  # canonical name where there is one, else as called
    status: ToolStatus
    message: Words  # what the model is told
    code: str = ""
    changed: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    position: int = 0  # the journal's n that holds the effect, or that a read was made at
    reproposed: tuple[str, ...] = ()  # fingerprints of older open items that it proposed anew
    agent_position: int = 0  # of a read: the agent log's n that it was made at; 0: it was none


class ReportDrafted(Stored, frozen=True, tag="wake.report_drafted.1"):
    content: Words
    tldr: Words
    one_liner: str


class RetractionStaged(Stored, frozen=True, tag="wake.retraction_staged.1"):
    fingerprint: str
    reason: str


class RequestStaged(Stored, frozen=True, tag="wake.request_staged.1"):
    """The agent of a task is asked, as the wake completes: one of `domain.tools.category.ABOUT`, no
    words of anybody's. Since scaffold 5."""

    agent: str
    task: str
    about: str


class WakeDeferred(Stored, frozen=True, tag="wake.deferred.1"):
    until: str
    reason: str  # "provider", "budget", "consent", "secret"


class LateReply(Stored, frozen=True, tag="wake.late_reply.1"):
    reply: ModelAnswered | ModelFailed | ToolReturned


class WakeFinished(Stored, frozen=True, tag="wake.finished.1"):
    outcome: Outcome
    stop: Stop = ""
    code: str = ""  # why it failed or was skipped
    message: str = ""
    is_report_missing: bool = False  # one was due, and the extra turn brought none


WakeFact = (
    WakeStarted | ModelAsked | ModelAnswered | ModelFailed | ToolAsked | ToolReturned
    | ReportDrafted | RetractionStaged | RequestStaged | WakeDeferred | LateReply | WakeFinished
)  # fmt: skip
Intent = ModelAsked | ToolAsked
WakeReply = ModelAnswered | ModelFailed | ToolReturned


def unwrapped(fact: Stored) -> Stored:
    """The reply that an append's first row is, or wraps."""
    return fact.reply if isinstance(fact, LateReply) else fact


# ---------------------------------------------------------------------------------------- the state

S = TypeVar("S")
Phase = Literal["absent", "ready", "waiting", "calling", "answered", "deferred", "done"]


class ResultRef(Struct, frozen=True):
    """What one call came to, as the model is told."""

    call_id: str
    tool: str
    message: Words
    is_error: bool
    code: str = ""


class ExchangeRef(Struct, frozen=True):
    """A turn that is over: the reply's payload, and the results of all its calls."""

    reply: PayloadId
    results: tuple[ResultRef, ...] = ()


class Wake(Struct, frozen=True):
    """A wake as its facts make it. `calls` are those of the turn not yet answered; `actions` the
    stable ids of all that were answered; `reproposed` the fingerprints of older open items that
    it proposed once more; `retakes` counts take-overs since the last reply;
    `is_material`: it changed or proposed something, so a report is due; `said`: the first words of
    the model."""

    run_key: str
    phase: Phase = "absent"
    started: WakeStarted | None = None
    turn: int = 0
    asked: Intent | None = None
    calls: tuple[ToolCall, ...] = ()
    actions: tuple[str, ...] = ()
    exchanges: tuple[ExchangeRef, ...] = ()
    report: ReportDrafted | None = None
    retractions: tuple[RetractionStaged, ...] = ()
    requests: tuple[RequestStaged, ...] = ()
    reproposed: frozenset[str] = frozenset()
    is_material: bool = False
    is_forced: bool = False
    retakes: int = 0
    deferred_until: str = ""
    defers: int = 0
    outcome: Outcome | Literal[""] = ""
    said: Words | None = None

    @property
    def begun(self) -> WakeStarted:
        """What the wake was given. Raises Refused if there is no such wake."""
        if self.started is None:
            because = f"there is no wake {self.run_key!r}"
            raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
        return self.started

    @property
    def features(self) -> Features:
        """What a wake of its scaffold does."""
        return features_of(self.begun.scaffold)

    @property
    def results(self) -> Iterator[ResultRef]:
        """What all its calls came to, in their order."""
        return (ref for one in self.exchanges for ref in one.results)

    @property
    def unit(self) -> str:
        """What the texts of this wake belong to: its task, else its agent."""
        return self.begun.task or f"agent:{self.begun.agent}"


def evolve(wake: Wake, event: WakeFact) -> Wake:
    """Total: history is never refused, even where `decide` would refuse it today."""
    match event:
        case WakeStarted():
            return replace(wake, phase="ready", started=event)
        case ModelAsked():
            is_forced = wake.is_forced or bool(event.forced)
            return replace(_waiting(wake, event), turn=event.turn, is_forced=is_forced)
        case ToolAsked():
            return _waiting(wake, event)
        case ModelAnswered():
            return _answered(wake, event)
        case ToolReturned():
            return _returned(wake, event)
        case ReportDrafted():
            return replace(wake, report=event)
        case RetractionStaged():
            return replace(wake, retractions=(*wake.retractions, event))
        case RequestStaged():
            return replace(wake, requests=(*wake.requests, event))
        case ModelFailed():
            return replace(wake, retakes=0)
        case WakeDeferred(until=until):
            return replace(wake, phase="deferred", deferred_until=until, defers=wake.defers + 1)
        case WakeFinished(outcome=outcome):
            return replace(wake, phase="done", asked=None, outcome=outcome)
        case _:
            return wake


def _waiting(wake: Wake, asked: Intent) -> Wake:
    retakes = wake.retakes + (wake.phase == "waiting")
    return replace(wake, phase="waiting", asked=asked, retakes=retakes)


def _answered(wake: Wake, event: ModelAnswered) -> Wake:
    return replace(
        wake,
        phase="calling" if event.calls else "answered",
        asked=None,
        calls=event.calls,
        exchanges=(*wake.exchanges, ExchangeRef(event.reply)),
        said=wake.said or event.text,
        retakes=0,
        defers=0,
    )


def _returned(wake: Wake, event: ToolReturned) -> Wake:
    is_error = event.status in ("error", "denied")
    ref = ResultRef(event.call_id, event.tool, event.message, is_error, event.code)
    last = wake.exchanges[-1] if wake.exchanges else ExchangeRef("")
    exchange = replace(last, results=(*last.results, ref))
    calls = wake.calls[1:]
    is_change = event.status == "queued" or (event.status == "success" and bool(event.changed))
    return replace(
        wake,
        phase="calling" if calls else "ready",
        asked=None,
        calls=calls,
        actions=(*wake.actions, event.action),
        exchanges=(*wake.exchanges[:-1], exchange),
        is_material=wake.is_material or is_change,
        reproposed=wake.reproposed.union(event.reproposed),
        retakes=0,
    )


def _evolve(wake: Wake, recorded: RecordedEvent) -> Wake:
    return evolve(wake, recorded.fact)  # type: ignore[arg-type]  # a wake stream holds its facts


WAKE: StreamType[Wake] = StreamType("wake", Wake, _evolve, is_merged=False)


class WakeLoader(Protocol):
    """What knows the wakes of all replicas."""

    def load_all(self, kind: StreamType[S], entity: str) -> Sequence[S]:
        """The states of all, the one that was written last at the end."""


def anyones(world: WakeLoader, run_key: str) -> Wake:
    """The wake of a run key, whichever machine ran it: of several the last one with a report, else
    the last that began. This replica's where the log is alone."""
    every = world.load_all(WAKE, run_key)[::-1]
    drafted = (one for one in every if one.report is not None)
    begun = (one for one in every if one.started is not None)
    return next(drafted, None) or next(begun, None) or WAKE.initial(run_key)


# -------------------------------------------------------------------------------------- tokens used


def used(fact: Stored) -> Usage | None:
    """The tokens of an answer, in time or late, or of answers that came and could not be used.

    Where input and output were told, thoughts and cached tokens that were not are none: providers
    leave out what is zero, and older rows keep that as unknown. None where no answer came, or
    nothing was told of one that failed."""
    match unwrapped(fact):
        case ModelAnswered() as one:
            found = Usage(one.tokens_in, one.tokens_out, one.tokens_thought, one.tokens_cached)
        case ModelFailed() as one:
            prompt, reply = one.tokens_prompt, one.tokens_reply
            found = Usage(prompt, reply, one.tokens_thought, one.tokens_cached)
            if found == NOT_TOLD:
                return None
        case _:
            return None
    if found.tokens_in is None or found.tokens_out is None:
        return found
    thought, cached = found.tokens_thought or 0, found.tokens_cached or 0
    return replace(found, tokens_thought=thought, tokens_cached=cached)
