"""How one call of the model is answered: denied, queued for the person, kept, or asked outside.

Every call ends in exactly one `ToolReturned`; a call that leaves the process is first a
`ToolAsked` (SPEC 5). What a call proposes or observes goes to other streams in the same append,
collected in `Answered`.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from domain import canonical
from domain.agent import loops
from domain.agent.agent import AGENT, Agent
from domain.agent.events import AgentObserved, LoopClosed, LoopOpened
from domain.agent.memory import numbers
from domain.changes import decisions, hygiene
from domain.changes.change_set import CHANGES, ChangeSet, Item
from domain.changes.events import ChangesFact
from domain.changes.needs import FOLLOW_UP_TOOL
from domain.keys import key
from domain.policy.scrub import told
from domain.tools import evidence, local, registry
from domain.tools.arguments import (
    RecordAndResolve,
    RecordObservations,
    RetractSuggestions,
    UpdateLoops,
    UpdateReport,
)
from domain.tools.base import Plan, Refusal, fingerprint, quoted
from domain.tools.evidence import Quotes
from domain.tools.reads import READS_MAX
from domain.tools.snapshot import Snapshot
from domain.wake import grounds, known, recorded
from domain.wake.events import (
    ReportDrafted,
    RetractionStaged,
    ToolAsked,
    ToolCall,
    ToolReturned,
    ToolStatus,
    WakeFact,
)
from domain.wake.state import Wake
from domain.wire import Payload, Words, words
from domain.world import Recorded

SCOPES_KEPT = 64
CALLS_MAX = 64
"""Calls of one turn that are answered one by one; the others are refused unread."""


class Bench(Struct, frozen=True):
    """What answering needs besides the wake: the task as captured, how to get this wake's change
    set and the agent's others where a call proposes something, how to read a long text, and whose
    wake it is."""

    snapshot: Snapshot
    own: Callable[[], ChangeSet]
    others: Callable[[], tuple[ChangeSet, ...]]
    text: Callable[[Words], str]
    agent: Agent = Agent("")


class Answered:
    """What the calls of one append bring to other streams."""

    def __init__(self) -> None:
        self.proposed: list[ChangesFact] = []
        self.observed: list[AgentObserved] = []
        self.loops: list[LoopOpened | LoopClosed] = []
        self.payloads: list[Payload] = []
        self.own: ChangeSet | None = None

    def read(self, said: Words, text: Callable[[Words], str]) -> str:
        """A text that may have been kept a moment ago, else as `text` reads it."""
        found = (one.data.decode() for one in self.payloads if one.id == said.payload)
        return text(said) if not said.payload else next(found, None) or text(said)

    def keep(self, unit: str, text: str) -> Words:
        """A text as it is stored; its payload, if it needs one, goes along."""
        said, kept = words(unit, text)
        self.payloads += kept
        return said


def answer_call(wake: Wake, call: ToolCall, bench: Bench, answered: Answered) -> list[WakeFact]:
    """The facts that answer the turn's next call, or ask for its effect."""
    known = registry.canonical_name(call.tool, wake.begun.scaffold)
    tool = known or call.tool
    text = bench.text(call.arguments)
    refusal = _refusal(wake, call, known, bench)
    if refusal is not None:
        return [_denied(wake, call, tool, text, refusal, answered)]
    given, quotes = canonical.read(text), Quotes()
    if evidence.asks(registry.TOOLS[tool], wake.begun.scaffold):
        given, quotes = evidence.parted(registry.TOOLS[tool], given)
        text = canonical.text(given)
    arguments = registry.decode(tool, given, wake.begun.scaffold)
    if isinstance(arguments, Refusal):
        return [_denied(wake, call, tool, text, arguments, answered)]
    text = canonical.text(arguments)
    match registry.mode_of(tool, bench.snapshot):
        case "local":
            return _local(wake, call, tool, text, arguments, bench, answered)
        case "deferred":
            return [_deferred(wake, call, _Wish(tool, text, arguments, quotes), bench, answered)]
        case "read" if _reads(wake) >= READS_MAX:
            refusal = Refusal("limit", f"at most {READS_MAX} reads in one wake")
            return [_denied(wake, call, tool, text, refusal, answered)]
        case "read":
            return [replace(_ask(wake, call, tool, text, answered), action_type="read")]
        case _ if wake.begun.scaffold >= 2 and _is_done(wake, tool):
            refusal = Refusal("redundant", f"{tool} has been done in this wake.")
            return [_denied(wake, call, tool, text, refusal, answered)]
        case _:
            base = registry.base(tool, bench.snapshot, text)
            return [replace(_ask(wake, call, tool, text, answered), base=base)]


def _is_done(wake: Wake, tool: str) -> bool:
    """Whether a call of a tool came through; the snapshot does not know of it."""
    results = (ref for one in wake.exchanges for ref in one.results)
    return any(ref.tool == tool and not ref.is_error for ref in results)


def _reads(wake: Wake) -> int:
    """How many reads a wake has made; what was refused unread is none."""
    results = (ref for one in wake.exchanges for ref in one.results)
    return sum(registry.is_read(ref.tool) and ref.code in ("", "not_found") for ref in results)


def _refusal(wake: Wake, call: ToolCall, tool: str | None, bench: Bench) -> Refusal | None:
    """What speaks against a call before its arguments are looked at, fail closed."""
    offered = wake.begun.tools
    if len(wake.exchanges[-1].results) >= CALLS_MAX:
        return Refusal("limit", f"more than {CALLS_MAX} calls in one turn; make fewer")
    if tool is None:
        message = f"there is no tool {call.tool!r}; use one of {', '.join(offered)}"
        return Refusal("unknown_tool", message)
    if tool not in offered or (wake.is_forced and tool != "update_report"):
        message = f"{tool} is not offered in this turn"
        if wake.begun.scaffold >= 2 and not wake.is_forced:
            message += ": the task as it is has nothing for it to work on"
        return Refusal("wake_reason_not_allowed", message)
    if call.problem:
        return Refusal("invalid_json", call.problem)
    if registry.TOOLS[tool].mode == "local":
        return None
    if not bench.snapshot.category:
        return Refusal("missing_category", "the task has no category, so it may not be changed")
    if bench.snapshot.category not in wake.begun.categories:
        return Refusal("out_of_scope", "the task's category is not one this agent may touch")
    return None


def _names(wake: Wake, tool: str, arguments: str) -> tuple[str, str]:
    """The action's stable id, and the operation's (DESIGN 6)."""
    action = key("action", tool, arguments, *_scope(wake.begun.categories, wake.begun.task))
    ordinal = wake.actions.count(action)
    return action, key("operation", wake.run_key, action, str(ordinal), "1")


@lru_cache(SCOPES_KEPT)
def _scope(categories: tuple[str, ...], task: str) -> tuple[str, str]:
    """Where an action may be done and where it is, as its key names them."""
    return canonical.text(categories), canonical.text([task])


def returned(
    wake: Wake,
    call: ToolCall,
    tool: str,
    arguments: str,
    status: ToolStatus,
    message: Words,
    *,
    code: str = "",
) -> ToolReturned:
    """The result of a call that never left the process."""
    action, operation = _names(wake, tool, arguments)
    return ToolReturned(
        wake.turn, operation, 0, action, call.call_id, tool, status, message, code=code
    )


def _denied(
    wake: Wake, call: ToolCall, tool: str, text: str, refusal: Refusal, answered: Answered
) -> ToolReturned:
    message = answered.keep(wake.unit, told(refusal.message, wake.begun.scaffold))
    return returned(wake, call, tool, text, "denied", message, code=refusal.code)


def _ask(wake: Wake, call: ToolCall, tool: str, text: str, answered: Answered) -> ToolAsked:
    action, operation = _names(wake, tool, text)
    return ToolAsked(
        wake.turn,
        operation,
        1,
        action,
        "tool_call",
        call.call_id,
        tool,
        answered.keep(wake.unit, text),
    )


class _Wish(NamedTuple):
    """A call that proposes: the tool, its arguments as text and as read, and its quotes."""

    tool: str
    text: str
    arguments: Struct
    quotes: Quotes


def _deferred(
    wake: Wake, call: ToolCall, wish: _Wish, bench: Bench, answered: Answered
) -> ToolReturned:
    """Queue what the person has not been asked yet; say what was skipped or refused, and why."""
    tool, text, arguments, quotes = wish
    own, others = answered.own or bench.own(), bench.others()
    reads = partial(answered.read, text=bench.text)
    sets = (*others, own)
    plan = known.refused(wake, bench.snapshot, sets, own, arguments, reads) or registry.plan(
        tool, bench.snapshot, arguments, call.instants
    )
    if isinstance(plan, Refusal):
        return _denied(wake, call, tool, text, plan, answered)

    def touched(fields: tuple[str, ...]) -> int:
        return registry.last_touched(bench.snapshot, fields)

    memory = _memory(wake, bench) if wake.begun.scaffold >= 2 else None
    news = partial(registry.is_news, bench.snapshot) if bench.snapshot.wrote else None
    sifted = hygiene.sift(plan.proposals, sets, touched, memory, news)
    said_of = partial(evidence.quote_of, registry.TOOLS[tool], quotes, arguments)
    accepted = grounds.grounded(sifted.accepted, map(said_of, sifted.accepted), wake, reads)
    facts, payloads = decisions.propose(own, accepted, wake.begun.task)
    answered.payloads += payloads
    answered.proposed += facts
    for fact in facts:
        own = CHANGES.evolve(own, Recorded("", 0, "", 0, 0, "", fact))
    answered.own = own
    skipped = (*plan.skipped, *sifted.skipped)
    code = "not_found" if plan.refused and not skipped else "redundant"
    said = _queued_text(len(facts), skipped, plan)
    if wake.begun.scaffold >= 2:
        code = recorded.code_of_none(plan)
        older = recorded.replaced(sifted.accepted, sets, wake, reads)
        made = [] if tool != FOLLOW_UP_TOOL else known.follow_ups(own)[-len(facts) :]
        said = recorded.queued(len(facts), (*skipped, *plan.refused), older, made)
    message = answered.keep(wake.unit, told(said, wake.begun.scaffold))
    anew = hygiene.reproposed(plan.proposals, others)
    if facts:
        done = returned(wake, call, tool, text, "queued", message)
    else:
        done = returned(wake, call, tool, text, "denied", message, code=code)
    return replace(done, reproposed=anew)


def _memory(wake: Wake, bench: Bench) -> hygiene.Memory:
    """The newest text, which in a wake of the person's own words is those, and what edits made."""
    seen = bench.snapshot
    is_spoken = wake.begun.reason == "user"
    texts_at = seen.position + 1 if is_spoken else registry.last_touched(seen, registry.TEXTS)

    def made_of(item: Item) -> str:
        return fingerprint(item.tool, bench.text(item.arguments_now or item.arguments))

    return hygiene.Memory(texts_at, made_of)


def _queued_text(count: int, skipped: tuple[str, ...], plan: Plan) -> str:
    lines = [f"Queued for the person's review: {count} item(s)."] if count else []
    if skipped:
        lines.append(f"Skipped {len(skipped)}: " + "; ".join(skipped) + ".")
    if plan.refused:
        lines.append(f"Refused {len(plan.refused)}: " + "; ".join(plan.refused) + ".")
    return " ".join(lines) or "Nothing to propose."


def _local(
    wake: Wake,
    call: ToolCall,
    tool: str,
    text: str,
    arguments: Struct,
    bench: Bench,
    answered: Answered,
) -> list[WakeFact]:
    """What stays in the agent's own log: its report, its observations, its retractions."""
    unit = wake.unit
    facts: list[WakeFact] = []
    match arguments:
        case UpdateReport():
            report = local.report(arguments)
            if isinstance(report, Refusal):
                return [_denied(wake, call, tool, text, report, answered)]
            content, tldr = answered.keep(unit, report.content), answered.keep(unit, report.tldr)
            facts.append(ReportDrafted(content, tldr, report.one_liner))
            message = recorded.REPORTED
            if wake.begun.scaffold >= 2:
                count = len((answered.own or bench.own()).items)
                message = recorded.reported(wake, count, partial(answered.read, text=bench.text))
        case RecordObservations():
            noted = _noted(wake, arguments, bench, answered)
            if isinstance(noted, Refusal):
                return [_denied(wake, call, tool, text, noted, answered)]
            message = noted
        case RetractSuggestions():
            requests = local.retractions(arguments)
            if isinstance(requests, Refusal):
                return [_denied(wake, call, tool, text, requests, answered)]
            unknown = _unknown(wake, requests, bench) if wake.begun.scaffold >= 2 else []
            if len(unknown) == len(requests):
                refusal = Refusal("not_found", recorded.nothing_called(unknown))
                return [_denied(wake, call, tool, text, refusal, answered)]
            facts += [
                RetractionStaged(fingerprint, reason)
                for fingerprint, reason in requests
                if fingerprint not in unknown
            ]
            message = f"Staged {len(facts)} retraction(s) for the end of this wake."
            message += f" {recorded.nothing_called(unknown)}" if unknown else ""
        case UpdateLoops():
            updated = _updated_loops(arguments, bench, answered)
            if isinstance(updated, Refusal):
                return [_denied(wake, call, tool, text, updated, answered)]
            message = updated
        case _:  # pragma: no cover  # the registry has no other local tool
            refusal = Refusal("internal", f"{tool} cannot be answered here")
            return [_denied(wake, call, tool, text, refusal, answered)]
    said = answered.keep(unit, told(message, wake.begun.scaffold))
    return [returned(wake, call, tool, text, "success", said), *facts]


def _updated_loops(arguments: UpdateLoops, bench: Bench, answered: Answered) -> str | Refusal:
    """What is said of the loops that were closed and opened; a refusal, if none was."""
    agent = bench.agent
    for fact in answered.loops:
        agent = AGENT.evolve(agent, Recorded("", 0, "", 0, 0, "", fact))
    updated = loops.update(agent, arguments.add, arguments.close)
    why = [told for _, told in updated.refused]
    if not updated.facts:
        return Refusal(updated.refused[0][0], " ".join(why))
    answered.loops += updated.facts
    return "\n".join([f"{len(updated.facts)} loop(s) updated.", *why])


def _unknown(wake: Wake, requests: Iterable[local.Retraction], bench: Bench) -> list[str]:
    """The fingerprints that name nothing of the agent's that it can take back."""
    mine = (one for one in bench.others() if one.agent == wake.begun.agent)
    known = {item.fingerprint for one in mine for item in one.items if item.status == "pending"}
    return [one.fingerprint for one in requests if one.fingerprint not in known]


def _noted(
    wake: Wake, arguments: RecordObservations, bench: Bench, answered: Answered
) -> str | Refusal:
    """What is said of the observations that were kept; a refusal, if none was."""
    observed = local.observations(arguments)
    if isinstance(observed, Refusal):
        return observed
    resolved: tuple[str, ...] = ()
    if isinstance(arguments, RecordAndResolve) and arguments.resolves:
        known = {number: at for at, number in numbers(bench.agent.critical).items()}
        unknown = [one for one in arguments.resolves if one not in known]
        if unknown:
            named = ", ".join(map(quoted, unknown))
            because = "resolves: no open critical observation of yours has the number"
            return Refusal("not_found", f"{because} {named}. Use those that are shown.")
        resolved = tuple(dict.fromkeys(known[one] for one in arguments.resolves))
    made = [_observed(wake, one, answered) for one in observed]
    answered.observed += [replace(made[0], resolves=resolved), *made[1:]]
    message = f"Recorded {len(observed)} observation(s)."
    return f"{message} Resolved {len(resolved)}." if resolved else message


def _observed(wake: Wake, one: local.Observation, answered: Answered) -> AgentObserved:
    said = answered.keep(wake.unit, one.text)
    return AgentObserved(wake.run_key, said, one.priority, one.category, one.target)
