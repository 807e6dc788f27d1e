"""What happens in a wake: the stream ``wake:<run key>`` (SPEC 3, 5).

STORAGE FORMAT, see `domain.wire`. Intents (`ModelAsked`, `ToolAsked`) are recorded before the
effect, replies as they came; a reply to an older attempt or an ended wake is kept in
`LateReply` and has no consequence.
"""

from typing import Literal

from domain.agent.wake_queue_events import Reason
from domain.wire import Imported, Part, PayloadId, Stored, Words

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
    WakeStarted
    | ModelAsked
    | ModelAnswered
    | ModelFailed
    | ToolAsked
    | ToolReturned
    | ReportDrafted
    | RetractionStaged
    | WakeDeferred
    | LateReply
    | WakeFinished
)
Intent = ModelAsked | ToolAsked
WakeReply = ModelAnswered | ModelFailed | ToolReturned


def unwrapped(fact: Stored) -> Stored:
    """The reply that an append's first row is, or wraps."""
    return fact.reply if isinstance(fact, LateReply) else fact
