"""How one call of the model is answered: denied, queued for the person, kept, or asked outside.

Every call ends in exactly one `ToolReturned`; a call that leaves the process is first a
`ToolAsked` (SPEC 5). What a call proposes or observes goes to other streams in the same append,
collected in `CallEffects`. Of a call, its name in ASCII and its arguments as canonical JSON are
kept."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from domain.agent import deciders
from domain.agent.agent import AGENT, Agent, AgentObserved, LoopClosed, LoopOpened
from domain.agent.memory import numbers
from domain.changes import decisions, deduplication
from domain.changes.change_set import CHANGES, ChangeItem, ChangeSet, ChangesFact
from domain.changes.dependencies import FOLLOW_UP_TOOL
from domain.errors import Refused
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.wire import INLINE_MAX_BYTES, Payload, Words, words
from domain.policy.scrub import scrubbed_text
from domain.ports import Call
from domain.text import squeeze
from domain.tools import decoding, local, registry
from domain.tools.arguments import (
    RecordAndResolve,
    RecordObservations,
    RetractSuggestions,
    UpdateLoops,
    UpdateReport,
    rules,
)
from domain.tools.base import (
    OF_NO_CATEGORY,
    Plan,
    Proposal,
    ToolRefusal,
    fingerprint,
    quoted,
    redundant,
)
from domain.tools.category import AskAgent
from domain.tools.decoding import Quotes
from domain.tools.local import READS_MAX
from domain.tools.snapshot import Snapshot
from domain.wake import citations, short_ids, visible_ids
from domain.wake import wake as w


def tool_named(name: str) -> str:
    """A tool's name as it is recorded: short, and in ASCII, as every tool's is. An unknown one is
    repeated to the model in quotes, and how Python writes other characters there depends on its
    version; the provider's own bytes are kept beside it."""
    return name.encode("ascii", "replace").decode("ascii")[: INLINE_MAX_BYTES // 8]


def arguments_of(call: Call) -> tuple[str, str]:
    """The arguments of a call, and why they cannot be decoded; empty where they can."""
    try:
        return canonical.text(canonical.read(call.arguments)), ""
    except Refused as refused:
        return "{}", str(refused)


# --------------------------------------------------------------------------- what the model is told
# The answer to a call names in a line each what was not proposed, and what will be replaced; the
# answer to a report sums up the wake so far, so that the report can be true.

NOT_PROPOSED = "Not proposed: "
REPLACES = "Replaces, when this wake ends: "
REPORTED = "The report is kept; the last one of this wake counts."
LINES_MAX = 20
"""Of each kind, in the sum."""
WISHES = (
    "redundant",
    "limit",
    "not_found",
    "sovereignty",
    "missing_category",
    "out_of_scope",
    "copied",
    "too_soon",
)
"""Codes of refused calls that were in order, but for what they wished for."""

Text = Callable[[Words], str]


def queued(
    count: int, missed: Iterable[str], replaced: Iterable[str], made: Iterable[str] = ()
) -> str:
    """What a call that proposes came to; `made`: ids of the tasks that confirming makes."""
    lines = [f"Queued for the person's review: {count} item(s)."] if count else []
    lines += [f"The new task will have the id {one}." for one in made]
    lines += [_line(REPLACES, one) for one in replaced]
    lines += [_line(NOT_PROPOSED, one) for one in missed]
    return "\n".join(lines) or "Nothing to propose."


def code_of_none(plan: Plan) -> str:
    """Why a batch comes to nothing: what was refused before what is so already."""
    return next((code for code in plan.codes if code != "redundant"), "redundant")


def replaced(
    accepted: Sequence[Proposal], sets: Iterable[ChangeSet], wake: w.Wake, text: Text
) -> list[str]:
    """The undecided items of the wake's agent whose place the accepted ones take."""
    fields = {field for one in accepted for field in registry.replaced_by(one.tool, one.arguments)}
    mine = [one for one in sets if one.agent in ("", wake.begun.agent)]  # its own has none yet
    return [
        item.summary
        for one in mine
        for item in one.items
        if item.status in ("pending", "deferred")
        and not fields.isdisjoint(registry.replaced_by(item.tool, text(item.arguments)))
    ]


def nothing_called(fingerprints: Iterable[str]) -> str:
    """Why a retraction comes to nothing."""
    named = ", ".join(map(quoted, fingerprints))
    return f"No pending proposal of yours has the fingerprint {named}."


def reported(wake: w.Wake, count: int, text: Text) -> str:
    """What a report is answered with: how many of the wake's wishes were proposed, and which not.
    `count`: the items of its own set; `text` reads what its calls were answered with."""
    lines: list[str] = []
    for ref in wake.results:
        if registry.proposes(ref.tool):
            told = text(ref.message).split("\n")
            lines += [one for one in told if one.startswith((NOT_PROPOSED, REPLACES))]
            is_wish = ref.code in WISHES and not told[0].startswith(NOT_PROPOSED)
            lines += [_line(NOT_PROPOSED, told[0])] if is_wish else []
    missed = [one for one in lines if one.startswith(NOT_PROPOSED)]
    if not count and not missed:
        return REPORTED
    kept = f"{REPORTED} Recorded: {count} of {count + len(missed)} proposed."
    older = [one for one in lines if one.startswith(REPLACES)]
    shown = [kept, *_bounded(missed), *_bounded(older)]
    return "\n".join([*shown, "If the report says otherwise, write it again."])


def remarked(message: str, remark: str) -> str:
    """An answer, and what is told of how the call was taken."""
    return f"{message}\n{remark}" if remark else message


def _bounded(lines: list[str]) -> list[str]:
    more = len(lines) - LINES_MAX
    return [*lines[:LINES_MAX], *([f"and {more} more"] if more > 0 else [])]


def _line(kind: str, text: str) -> str:
    return f"{kind}{squeeze(text).removesuffix('.')}."


# --------------------------------------------------------------------------- how a call is answered

SCOPES_KEPT = 64
CALLS_MAX = 64
"""Calls of one turn that are answered one by one; the others are refused unread."""
REQUESTS_MAX = 5
"""Agents that one wake may ask."""


class WakeInputs(Struct, frozen=True):
    """What answering needs besides the wake: the task as captured, how to get this wake's change
    set and the agent's others where a call proposes something, how to read a long text, whose wake
    it is, what items the person wants none of in the task's category, and the living agent of a
    task, empty where it has none."""

    snapshot: Snapshot
    own: Callable[[], ChangeSet]
    others: Callable[[], tuple[ChangeSet, ...]]
    text: Callable[[Words], str]
    agent: Agent = Agent("")
    ruled_out: Callable[[], Collection[str]] = tuple
    agent_of: Callable[[str], str] = lambda _: ""


class CallEffects:
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


class _Answering(NamedTuple):
    """A call while it is answered: its tool, by its own name if it is known; its arguments."""

    wake: w.Wake
    call: w.ToolCall
    tool: str
    text: str
    bench: WakeInputs
    answered: CallEffects
    remark: str = ""

    def keep(self, text: str) -> Words:
        return self.answered.keep(self.wake.unit, text)

    def read(self, said: Words) -> str:
        return self.answered.read(said, self.bench.text)


def answer_call(
    wake: w.Wake, call: w.ToolCall, bench: WakeInputs, answered: CallEffects
) -> list[w.WakeFact]:
    """The facts that answer the turn's next call, or ask for its effect."""
    known, features = registry.canonical_name(call.tool, wake.begun.scaffold), wake.features
    tool = known or call.tool
    this = _Answering(wake, call, tool, bench.text(call.arguments), bench, answered)
    if refusal := _refusal(wake, call, known, bench):
        return [_denied(this, refusal)]
    given, quotes = canonical.read(this.text), Quotes()
    if decoding.asks(registry.TOOLS[tool], features):
        given, quotes = decoding.parted(registry.TOOLS[tool], given)
        this = this._replace(text=canonical.text(given))
    given, remark = registry.taken(tool, given, features)
    if features.short_ids:
        shape = rules(registry.TOOLS[tool].asked(features))
        given = short_ids.completed(shape, given, cache(lambda: frozenset(_ids_shown(this))))
    if isinstance(arguments := registry.decode(tool, given, features), ToolRefusal):
        return [_denied(this, arguments)]
    this = this._replace(text=canonical.text(arguments), remark=remark)
    match registry.mode_of(tool, bench.snapshot):
        case "local":
            return _local(this, arguments)
        case "deferred":
            return [_deferred(this, arguments, quotes)]
        case "read" if _reads(wake) >= READS_MAX:
            return [_denied(this, ToolRefusal("limit", f"at most {READS_MAX} reads in one wake"))]
        case "read":
            return [replace(_ask(this), action_type="read")]
        case _ if features.does_once and _is_done(wake, tool):
            return [_denied(this, ToolRefusal("redundant", f"{tool} has been done in this wake."))]
        case _:
            return [replace(_ask(this), base=registry.base(tool, bench.snapshot, this.text))]


def _ids_shown(this: _Answering) -> Iterator[str]:
    """What a call of the wake may name: of its task, of the tasks that it was shown, and the open
    proposals of its agent."""
    wake, seen, bench = this.wake, this.bench.snapshot, this.bench
    yield from short_ids.of_snapshot(seen)
    yield from visible_ids.visible_tasks(wake, seen, this.answered.own or bench.own(), this.read)
    yield from _pending(wake, bench)


def _is_done(wake: w.Wake, tool: str) -> bool:
    """Whether a call of a tool came through; the snapshot does not know of it."""
    return any(ref.tool == tool and not ref.is_error for ref in wake.results)


def _reads(wake: w.Wake) -> int:
    """How many reads a wake has made; what was refused unread is none."""
    return sum(registry.is_read(one.tool) and one.code in ("", "not_found") for one in wake.results)


def _refusal(
    wake: w.Wake, call: w.ToolCall, tool: str | None, bench: WakeInputs
) -> ToolRefusal | None:
    """What speaks against a call before its arguments are looked at, fail closed."""
    offered = wake.begun.tools
    if len(wake.exchanges[-1].results) >= CALLS_MAX:
        return ToolRefusal("limit", f"more than {CALLS_MAX} calls in one turn; make fewer")
    if tool is None:
        message = f"there is no tool {call.tool!r}; use one of {', '.join(offered)}"
        return ToolRefusal("unknown_tool", message)
    if tool not in offered or (wake.is_forced and tool != "update_report"):
        message = f"{tool} is not offered in this turn"
        if wake.features.offers_by_task and not wake.is_forced:
            message += ": the task as it is has nothing for it to work on"
        return ToolRefusal("wake_reason_not_allowed", message)
    if call.problem:
        return ToolRefusal("invalid_json", call.problem)
    if registry.TOOLS[tool].mode == "local" or registry.TOOLS[tool].scope in OF_NO_CATEGORY:
        return None
    if not bench.snapshot.category:
        return ToolRefusal("missing_category", "the task has no category, so it may not be changed")
    if bench.snapshot.category not in wake.begun.categories:
        return ToolRefusal("out_of_scope", "the task's category is not one this agent may touch")
    if (registry.TOOLS[tool].singular or tool) in bench.ruled_out():
        return ToolRefusal("sovereignty", f"the person wants no {tool} in this category")
    return None


def _names(this: _Answering) -> tuple[str, str]:
    """The action's stable id, and the operation's (DESIGN 6)."""
    wake = this.wake
    scope = _scope(wake.begun.categories, wake.begun.task)
    action = key("action", this.tool, this.text, *scope)
    ordinal = wake.actions.count(action)
    return action, key("operation", wake.run_key, action, str(ordinal), "1")


@lru_cache(SCOPES_KEPT)
def _scope(categories: tuple[str, ...], task: str) -> tuple[str, str]:
    """Where an action may be done and where it is, as its key names them."""
    return canonical.text(categories), canonical.text([task])


def _returned(
    this: _Answering, status: w.ToolStatus, message: str, *, code: str = ""
) -> w.ToolReturned:
    """The result of a call that never left the process."""
    message = scrubbed_text(remarked(message, this.remark), this.wake.features)
    said, (action, operation) = this.keep(message), _names(this)
    turn, call_id = this.wake.turn, this.call.call_id
    return w.ToolReturned(turn, operation, 0, action, call_id, this.tool, status, said, code=code)


def _denied(this: _Answering, refusal: ToolRefusal) -> w.ToolReturned:
    return _returned(this, "denied", refusal.message, code=refusal.code)


def _ask(this: _Answering) -> w.ToolAsked:
    (action, operation), turn, call_id = _names(this), this.wake.turn, this.call.call_id
    said = this.keep(this.text)
    return w.ToolAsked(turn, operation, 1, action, "tool_call", call_id, this.tool, said)


def _deferred(this: _Answering, arguments: Struct, quotes: Quotes) -> w.ToolReturned:
    """Queue what the person has not been asked yet; say what was skipped or refused, and why."""
    wake, call, tool, _, bench, answered, _ = this
    own, others = answered.own or bench.own(), bench.others()
    sets = (*others, own)
    plan = visible_ids.refused(
        wake, bench.snapshot, sets, own, arguments, this.read
    ) or registry.plan(tool, bench.snapshot, arguments, call.instants)
    if isinstance(plan, ToolRefusal):
        return _denied(this, plan)

    said_of = partial(decoding.quote_of, registry.TOOLS[tool], quotes, arguments)
    cited = [said_of(one) for one in plan.proposals]
    is_asked = decoding.asks(registry.TOOLS[tool], wake.features)
    if is_asked and wake.features.needs_quotes and not all(map(squeeze, cited)):
        return _denied(this, citations.MISSING)
    planned = citations.with_citations(plan.proposals, cited, wake, bench.snapshot, this.read)
    touched = partial(registry.last_touched, bench.snapshot)
    memory = _memory(wake, bench) if this.wake.features.heeds_verdicts else None
    news = partial(registry.is_news, bench.snapshot) if bench.snapshot.wrote else None
    sifted = deduplication.deduplicate(planned, sets, touched, memory, news)
    facts, payloads = decisions.propose(own, sifted.accepted, wake.unit)
    answered.payloads += payloads
    answered.proposed += facts
    for fact in facts:
        own = CHANGES.evolve(own, RecordedEvent("", 0, "", 0, 0, "", fact))
    answered.own = own
    skipped = (*plan.skipped, *sifted.skipped)
    code = "not_found" if plan.refused and not skipped else "redundant"
    said = _queued_text(len(facts), skipped, plan)
    if this.wake.features.tells_outcome:
        code = code_of_none(plan)
        older = replaced(sifted.accepted, sets, wake, this.read)
        made = [] if tool != FOLLOW_UP_TOOL else visible_ids.follow_ups(own)[-len(facts) :]
        said = queued(len(facts), (*skipped, *plan.refused), older, made)
    status: w.ToolStatus = "queued" if facts else "denied"
    done = _returned(this, status, said, code="" if facts else code)
    return replace(done, reproposed=deduplication.reproposed(plan.proposals, others))


def _memory(wake: w.Wake, bench: WakeInputs) -> deduplication.VerdictMemory:
    """The newest text, which in a wake of the person's own words is those, and what edits made."""
    seen = bench.snapshot
    is_spoken = wake.begun.reason == "user"
    texts_at = seen.position + 1 if is_spoken else registry.last_touched(seen, registry.TEXTS)

    def made_of(item: ChangeItem) -> str:
        return fingerprint(item.tool, bench.text(item.arguments_now or item.arguments))

    def fields(tool: str, arguments: str) -> frozenset[str]:
        return frozenset(registry.replaced_by(tool, arguments))

    def is_newer(proposal: Proposal, item: ChangeItem) -> bool | None:
        """Whether the words that a proposal rests on are newer than the person's verdict on an
        edited item; None where the two are not about one field."""
        given = fields(proposal.tool, proposal.arguments)
        is_same = proposal.fingerprint == item.fingerprint or proposal.display == item.display
        if not is_same and given.isdisjoint(fields(item.tool, bench.text(item.arguments))):
            return None
        return citations.is_since(proposal.because_at, item.decided_at, item.position, seen)

    heeds = is_newer if wake.features.heeds_edits and not seen.template else None
    return deduplication.VerdictMemory(texts_at, made_of, heeds)


def _queued_text(count: int, skipped: tuple[str, ...], plan: Plan) -> str:
    lines = [f"Queued for the person's review: {count} item(s)."] if count else []
    if skipped:
        lines.append(f"Skipped {len(skipped)}: " + "; ".join(skipped) + ".")
    if plan.refused:
        lines.append(f"Refused {len(plan.refused)}: " + "; ".join(plan.refused) + ".")
    return " ".join(lines) or "Nothing to propose."


def _local(this: _Answering, arguments: Struct) -> list[w.WakeFact]:
    """What stays in the agent's own log: its report, observations, retractions and loops."""
    facts: list[w.WakeFact] = []
    match arguments:
        case UpdateReport():
            told = _drafted(this, arguments, facts)
        case RecordObservations():
            told = _noted(this, arguments)
        case RetractSuggestions():
            told = _staged(this, arguments, facts)
        case UpdateLoops():
            told = _updated_loops(this, arguments)
        case AskAgent():
            told = _requested(this, arguments, facts)
        case _:  # pragma: no cover  # the registry has no other local tool
            told = ToolRefusal("internal", f"{this.tool} cannot be answered here")
    if isinstance(told, ToolRefusal):
        return [_denied(this, told)]
    return [_returned(this, "success", told), *facts]


def _drafted(
    this: _Answering, arguments: UpdateReport, facts: list[w.WakeFact]
) -> str | ToolRefusal:
    if this.wake.features.short_ids:
        known = tuple(short_ids.of_snapshot(this.bench.snapshot))
        told = (arguments.content, arguments.tldr, arguments.one_liner)
        arguments = UpdateReport(*(short_ids.in_full(one, known) for one in told))
    if isinstance(report := local.report(arguments), ToolRefusal):
        return report
    content, tldr = this.keep(report.content), this.keep(report.tldr)
    facts.append(w.ReportDrafted(content, tldr, report.one_liner))
    if not this.wake.features.tells_outcome:
        return REPORTED
    return reported(this.wake, len((this.answered.own or this.bench.own()).items), this.read)


def _staged(
    this: _Answering, arguments: RetractSuggestions, facts: list[w.WakeFact]
) -> str | ToolRefusal:
    if isinstance(requests := local.retractions(arguments), ToolRefusal):
        return requests
    unknown: list[str] = []
    if this.wake.features.checks_retractions:
        known = {*_pending(this.wake, this.bench)}
        unknown = [one.fingerprint for one in requests if one.fingerprint not in known]
    if len(unknown) == len(requests):
        return ToolRefusal("not_found", nothing_called(unknown))
    facts += [w.RetractionStaged(*one) for one in requests if one.fingerprint not in unknown]
    message = f"Staged {len(facts)} retraction(s) for the end of this wake."
    return f"{message} {nothing_called(unknown)}" if unknown else message


def _requested(this: _Answering, arguments: AskAgent, facts: list[w.WakeFact]) -> str | ToolRefusal:
    wake, bench, task = this.wake, this.bench, arguments.task_id
    if task not in visible_ids.visible_tasks(wake, bench.snapshot, ChangeSet(""), this.read):
        return ToolRefusal("not_found", f"No task with the id {quoted(task)} was shown to you.")
    if not (agent := bench.agent_of(task)):
        return ToolRefusal("not_found", "That task has no agent to ask.")
    if any(one.task == task for one in wake.requests):
        return redundant("The agent of that task is asked in this wake already.")
    if len(wake.requests) >= REQUESTS_MAX:
        return ToolRefusal("limit", f"at most {REQUESTS_MAX} agents are asked in one wake")
    facts.append(w.RequestStaged(agent, task, arguments.about))
    return "It is asked when this wake ends, and answers in its own report."


def _updated_loops(this: _Answering, arguments: UpdateLoops) -> str | ToolRefusal:
    """What is said of the loops that were closed and opened; a refusal, if none was."""
    agent = this.bench.agent
    for fact in this.answered.loops:
        agent = AGENT.evolve(agent, RecordedEvent("", 0, "", 0, 0, "", fact))
    updated = deciders.update_loops(agent, arguments.add, arguments.close)
    why = [told for _, told in updated.refused]
    if not updated.facts:
        return ToolRefusal(updated.refused[0][0], " ".join(why))
    this.answered.loops += updated.facts
    return "\n".join([f"{len(updated.facts)} loop(s) updated.", *why])


def _pending(wake: w.Wake, bench: WakeInputs) -> Iterator[str]:
    """The fingerprints of the agent's open proposals, which it can take back."""
    mine = (one for one in bench.others() if one.agent == wake.begun.agent)
    return (item.fingerprint for one in mine for item in one.items if item.status == "pending")


def _noted(this: _Answering, arguments: RecordObservations) -> str | ToolRefusal:
    """What is said of the observations that were kept; a refusal, if none was."""
    if isinstance(observed := local.observations(arguments), ToolRefusal):
        return observed
    resolved: tuple[str, ...] = ()
    if isinstance(arguments, RecordAndResolve) and arguments.resolves:
        known = {number: at for at, number in numbers(this.bench.agent.critical).items()}
        if unknown := [one for one in arguments.resolves if one not in known]:
            named = ", ".join(map(quoted, unknown))
            because = "resolves: no open critical observation of yours has the number"
            return ToolRefusal("not_found", f"{because} {named}. Use those that are shown.")
        resolved = tuple(dict.fromkeys(known[one] for one in arguments.resolves))
    run_key = this.wake.run_key
    made = [
        AgentObserved(run_key, this.keep(one.text), one.priority, one.category, one.target)
        for one in observed
    ]
    this.answered.observed += [replace(made[0], resolves=resolved), *made[1:]]
    message = f"Recorded {len(observed)} observation(s)."
    return f"{message} Resolved {len(resolved)}." if resolved else message
