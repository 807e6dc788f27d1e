"""Wakes: begin on a captured input, take replies, end in one append (DESIGN 7, SPEC 3)."""

from collections.abc import Sequence

from msgspec.structs import replace

from domain.agent import deciders
from domain.agent import wake_queue as q
from domain.agent import wake_queue_rules as rules
from domain.agent.agent import AGENT, Agent, AgentFact, AgentProposed, AgentReported, AgentSettled
from domain.agent.wake_queue_rules import Setting
from domain.append.causes import Result
from domain.changes import change_set as c
from domain.changes import decisions
from domain.errors import Refused, Remedy
from domain.handlers import lessons
from domain.handlers.agents import agent_events, known_agent, wake_queue_events
from domain.handlers.decided import Decision, Event, after, on
from domain.handlers.journal import Handler
from domain.log.state import MAIN, LogState
from domain.log.timestamps import wall
from domain.policy.gate import GATE_CODES, REQUESTS_NOTICE, GateRefusal, refusal, unconsented
from domain.policy.policy import POLICY, Policy
from domain.scaffold import features_of
from domain.tools import registry
from domain.wake import commands as do
from domain.wake import machine
from domain.wake import wake as w
from domain.wake.machine import Advanced
from domain.wake.memory import fold_notes
from domain.wake.template_context import is_too_few
from domain.wake.unchanged import is_same, last_completed
from domain.wake.wake_inputs import expires_at, inputs_of, specs_of, tools_of

SKIPS = (
    *("dormant", "destroyed", "switched_off", "cancelled", "task_deleted", q.NO_RECEIPT),
    *GATE_CODES,
)
"""Why a begun wake is stopped without having failed."""
REQUESTS = "requests"
NOT_AGREED = GateRefusal(
    q.NO_RECEIPT, "nobody agreed to what it would be sent", (), "consent", is_of_requests=True
)


def begin(cause: do.BeginWake, key: str, at: str, world: LogState) -> Decision:
    """Start a queued wake on a captured input, up to the first question to the model."""
    agent = known_agent(world, cause.agent)
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    setting = Setting(cause.is_enabled)
    facts = rules.begin(wake_queue, agent, cause.run_key, at, setting, now=cause.is_now)
    result = Result((cause.run_key,))
    if not any(isinstance(fact, q.WakeBegun) for fact in facts):
        return Decision(wake_queue_events(world, agent.id, facts), result)
    queued = wake_queue.queued
    if queued is None or queued.run_key != cause.run_key:
        because = f"the wake {cause.run_key} has begun already"
        raise Refused("agent_running", because=because, instead=Remedy("recover_wake"))
    started = w.WakeStarted(
        agent.id, agent.task, queued.reason, queued.thread, cause.model, cause.scaffold,
        agent.turn_max, cause.journal_position, cause.agent_position, cause.snapshot,
        cause.system, cause.user, (), "", agent.categories, is_first=not agent.report,
        template=cause.template, template_version=cause.template_version, hop=queued.hop,
        ttl_days=cause.ttl_days, throttle_seconds=cause.throttle_seconds, seen=cause.seen,
        template_of=cause.template_of, agent_kind=cause.agent_kind, moved_by=cause.moved_by,
    )  # fmt: skip
    policy = world.load(POLICY, MAIN)
    if refused := refused_of(policy, agent, started, has_secret=cause.has_secret):
        return _not_begun(world, agent, queued, refused)
    if q.is_asked_by_agents(queued) and not any(one.name == REQUESTS for one in cause.user):
        return _not_begun(world, agent, queued, NOT_AGREED)
    features = features_of(cause.scaffold)
    bench = inputs_of(world, agent, cause.run_key, cause.snapshot, features, at)
    tools = tools_of(world, agent, queued.reason, cause.scaffold, bench.snapshot)
    specs = specs_of(tools, features)
    started = replace(started, tools=tools, specs=specs.id)
    advanced = machine.start(world.load(w.WAKE, cause.run_key), started, bench)
    events = wake_queue_events(world, agent.id, facts)
    events += on(world, "wake", cause.run_key, advanced.facts)
    return Decision(events, result, [specs])


def _not_begun(world: LogState, agent: Agent, queued: q.Queued, refused: GateRefusal) -> Decision:
    """A queued wake that the gate holds: it waits, or is skipped."""
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    if refused.is_of_requests and not q.is_asked_by_agents(queued):
        facts = []  # it is captured once more, without what they ask
    elif refused.waits_for and not q.is_asked_by_agents(queued):
        facts = rules.back_off(wake_queue, queued.run_key, q.HELD_UNTIL, refused.waits_for)
    else:
        code = q.NO_RECEIPT if refused.waits_for else refused.code
        facts = rules.drop(wake_queue, queued.run_key, code)
    result = Result((queued.run_key,), code=refused.code, message=refused.because)
    return Decision(wake_queue_events(world, agent.id, facts), result)


def skip(cause: do.SkipWake, key: str, at: str, world: LogState) -> Decision:
    """End a queued wake that cannot start, that has nothing to ask, or that a person cancels; a
    deleted task puts its agent to sleep."""
    agent = known_agent(world, cause.agent)
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    if cause.code == q.UNCHANGED and not _is_unchanged(cause, at, agent, world):
        return Decision()
    if cause.code == q.TOO_FEW_FACTS and not _is_too_few(cause, at, agent, world):
        return Decision()
    is_asked = wake_queue.queued and q.is_asked_by_agents(wake_queue.queued)
    if cause.code == q.NO_RECEIPT and not is_asked:
        return Decision()  # somebody else wants it by now
    if cause.code == rules.CANCELLED:
        dropped = rules.cancel(wake_queue, cause.run_key)
    else:
        dropped = rules.drop(wake_queue, cause.run_key, cause.code)
    events = wake_queue_events(world, agent.id, dropped)
    if dropped and cause.code == "task_deleted" and agent.lifecycle == "active":
        events += agent_events(world, agent, deciders.pause(agent, "task_deleted"))
        for one in agent.sets:
            gone = decisions.expire(world.load(c.CHANGES, one), at, "the task is deleted")
            events += on(world, "changes", one, gone)
    return Decision(events, Result((cause.run_key,), code=cause.code, message=cause.message))


def _is_unchanged(cause: do.SkipWake, at: str, agent: Agent, world: LogState) -> bool:
    """Whether a wake may begin now, which only timers made, and nothing moved since the last one;
    else it begins as ever."""
    wake_queue, last = world.load(q.WAKE_QUEUE, agent.id), last_completed(world, agent)
    facts = rules.begin(wake_queue, agent, cause.run_key, at, Setting(is_enabled=True))
    queued, local = wake_queue.queued, cause.local
    return (
        q.WakeBegun(cause.run_key) in facts
        and queued is not None
        and queued.run_key == cause.run_key
        and q.heeds_moves(agent, queued)
        and local is not None
        and local.time[:10] == wall(at, local.offset)[:10]
        and last is not None
        and is_same(last, cause)
    )


def _is_too_few(cause: do.SkipWake, at: str, agent: Agent, world: LogState) -> bool:
    """Whether a wake may begin now, for which there is too little that is new."""
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    facts = rules.begin(wake_queue, agent, cause.run_key, at, Setting(is_enabled=True))
    queued = wake_queue.queued
    is_its = queued is not None and queued.run_key == cause.run_key
    may_begin = is_its and q.WakeBegun(cause.run_key) in facts
    return may_begin and queued is not None and is_too_few(world, agent, queued)


def stop(cause: do.StopWake, key: str, at: str, world: LogState) -> Decision:
    wake = world.load(w.WAKE, cause.run_key)
    agent = world.load(AGENT, wake.begun.agent)
    if _is_anothers(wake, cause):
        return Decision(result=Result((cause.run_key,)))
    outcome: w.Outcome = "skipped" if cause.code in SKIPS else "failed"
    facts = machine.stop(wake, outcome, cause.code, cause.message)
    return _written(world, agent, machine.applied(wake, facts), at)


def retake(cause: do.RetakeWake, key: str, at: str, world: LogState) -> Decision:
    """Go on with a begun wake: its process is gone, or what it waited for may be there now."""
    wake = world.load(w.WAKE, cause.run_key)
    agent = world.load(AGENT, wake.begun.agent)
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    if _is_anothers(wake, cause):
        return Decision(result=Result((cause.run_key,)))
    facts = machine.retake(wake)
    begun: list[q.WakeQueueFact] = []
    if facts and wake_queue.begun is not None and wake_queue.begun.run_key == cause.run_key:
        begun = [q.WakeBegun(cause.run_key)]  # its time begins anew: nobody worked at it meanwhile
    if facts and (code := _must_stop(world, agent, wake)):
        facts = machine.stop(wake, "skipped", code)
    elif reason := _held(world, agent, machine.applied(wake, facts).wake):
        facts = machine.defer(wake, q.HELD_UNTIL, reason)  # it asks nothing
        begun = rules.back_off(wake_queue, cause.run_key, q.HELD_UNTIL, reason)
    decided = _written(world, agent, machine.applied(wake, facts), at)
    events = [*wake_queue_events(world, agent.id, begun), *decided.events]
    return decided._replace(events=events)


def defer(cause: do.DeferWake, key: str, at: str, world: LogState) -> Decision:
    """Let a wake wait for a budget or for what the gate asks, begun or not; or end that wait."""
    wake = world.load(w.WAKE, cause.run_key)
    is_gates = cause.reason in (*q.HELD, q.GIVEN)
    has_moved_on = is_gates and not cause.attempt and wake.phase == "waiting"
    if has_moved_on or _is_anothers(wake, cause):
        return Decision(result=Result((cause.run_key,)))
    deferred: list[w.WakeFact] = machine.defer(wake, cause.until, cause.reason)
    wake_queue = world.load(q.WAKE_QUEUE, cause.agent)
    backed_off = rules.back_off(wake_queue, cause.run_key, cause.until, cause.reason)
    events = on(world, "wake", cause.run_key, deferred)
    events += wake_queue_events(world, cause.agent, backed_off)
    return Decision(events, Result((cause.run_key,)))


def _is_anothers(wake: w.Wake, cause: do.StopWake | do.RetakeWake | do.DeferWake) -> bool:
    """Whether the wake waits for another intent than the one that was seen: then another process
    goes on with it."""
    seen = cause.operation, cause.turn, cause.attempt
    return bool(cause.attempt) and wake.asked is not None and machine.ticket(wake.asked) != seen


def _must_stop(world: LogState, agent: Agent, wake: w.Wake) -> str:
    """Why a running wake of this agent may not go on; empty where it may, or has to wait. For the
    sake of other agents none waits."""
    if agent.lifecycle != "active":
        return agent.lifecycle
    if (refused := refused_of(world.load(POLICY, MAIN), agent, wake.begun)) is None:
        return ""
    begun = world.load(q.WAKE_QUEUE, agent.id).begun if refused.waits_for else None
    if begun is not None and q.is_asked_by_agents(begun):
        return q.NO_RECEIPT
    return "" if refused.waits_for else refused.code


def _held(world: LogState, agent: Agent, wake: w.Wake) -> str:
    """What a wake has to wait for before it may ask what it asks for now; empty where it may."""
    if not isinstance(machine.pending(wake), w.ModelAsked):
        return ""
    refused = refused_of(world.load(POLICY, MAIN), agent, wake.begun)
    return refused.waits_for if refused else ""


def refused_of(
    policy: Policy, agent: Agent, begun: w.WakeStarted, *, has_secret: bool = True
) -> GateRefusal | None:
    """What the gate says of a wake, by the categories that its prompt was made for; of one that
    began without a gate, nothing. Whether the key is there is said as a wake begins, and looked at
    again by who asks the model."""
    if not features_of(begun.scaffold).is_gated:
        return None
    of = replace(agent, categories=begun.categories)
    if refused := refusal(policy, of, begun.model, has_secret):
        return refused
    is_told = any(one.name == REQUESTS for one in begun.user)
    if is_told and (missing := unconsented(policy, of, begun.model, REQUESTS_NOTICE)):
        return NOT_AGREED._replace(categories=missing)
    return None


def replied(entity: str, reply: w.WakeReply, at: str, world: LogState) -> Decision:
    """The reply, and all that follows from it, in one append."""
    wake = world.load(w.WAKE, entity)
    agent = world.load(AGENT, wake.begun.agent)
    asked = machine.pending(wake)
    if asked is None or machine.ticket(asked) != machine.ticket(reply):
        late: list[w.WakeFact] = [w.LateReply(reply)]
        return Decision(on(world, "wake", entity, late), Result((entity,)))
    if isinstance(reply, w.ModelFailed):
        return _failed(world, agent, wake, reply, at)
    if code := _must_stop(world, agent, wake):
        advanced = machine.applied(wake, [reply, w.WakeFinished("skipped", code=code)])
        return _written(world, agent, advanced, at)
    bench = inputs_of(world, agent, entity, wake.begun.snapshot, wake.features, at)
    advanced = machine.decide(wake, reply, bench)
    if reason := _held(world, agent, advanced.wake):
        advanced = machine.put_off(advanced, q.HELD_UNTIL, reason)
        return _waiting(world, agent, advanced, at, q.HELD_UNTIL, reason)
    return _written(world, agent, advanced, at)


def _failed(world: LogState, agent: Agent, wake: w.Wake, reply: w.ModelFailed, at: str) -> Decision:
    """A model's failure; a provider's is no failure of the wake, which waits and goes on."""
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    until = rules.provider_until(wake_queue, at, reply.retry_seconds)
    facts = machine.failed(wake, reply, until, world.text)
    if code := _must_stop(world, agent, wake):
        facts = [reply, w.WakeFinished("skipped", code=code)]
    advanced = machine.applied(wake, facts)
    if not any(isinstance(fact, w.WakeDeferred) for fact in facts):
        return _written(world, agent, advanced, at)
    return _waiting(world, agent, advanced, at, until, "provider")


def _waiting(
    world: LogState, agent: Agent, advanced: Advanced, at: str, until: str, reason: str
) -> Decision:
    """What is written of a wake that waits from here on."""
    decided = _written(world, agent, advanced, at)
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    backed_off = rules.back_off(wake_queue, advanced.wake.run_key, until, reason)
    events = [*decided.events, *wake_queue_events(world, agent.id, backed_off)]
    return decided._replace(events=events)


def _written(world: LogState, agent: Agent, advanced: Advanced, at: str) -> Decision:
    """A wake's facts with all they mean for its change set, its agent and its attention."""
    wake, answered = advanced.wake, advanced.answered
    changes: list[c.ChangesFact] = list(answered.proposed)
    agents: list[AgentFact] = [*answered.observed, *answered.loops]
    events = on(world, "wake", wake.run_key, advanced.facts)
    queue_facts: list[q.WakeQueueFact] = []
    finished = advanced.facts[-1] if advanced.facts else None
    if isinstance(finished, w.WakeFinished):
        own = answered.own or world.load(c.CHANGES, c.own_set_id(world, wake.run_key))
        expires = expires_at(world, wake, at)
        opened = decisions.opened(own, agent.id, agent.task, wake.run_key, expires)
        changes += opened
        agents += _ended(agent, wake, finished, own if opened else None)
        wake_queue, seconds = world.load(q.WAKE_QUEUE, agent.id), wake.begun.throttle_seconds
        queue_facts = rules.settle(wake_queue, wake.run_key, finished.outcome, at, seconds)
        if finished.outcome == "completed":
            world.bring(answered.payloads)
            replaced = Replaced(world, agent, wake, own)
            events += retracted(world, agent, wake, replaced)
            events += _handed_on(world, wake, at)
            changes += replaced.of(own)
        told = after(world, AGENT, agent, answered.observed, at)
        events += lessons.of_end(world, told, wake, finished)
        agents += _paused(agent, queue_facts)
        if wake.features.has_memory:
            folded = fold_notes(world, agent, wake.unit, len(answered.observed), wake.features)
            events += on(world, "memory", agent.id, folded.facts)
            answered.payloads += folded.payloads
    if changes:
        events += on(world, "changes", c.own_set_id(world, wake.run_key), changes)
    events += agent_events(world, agent, agents)
    events += on(world, "alert", agent.id, queue_facts)
    return Decision(events, Result((wake.run_key,)), answered.payloads)


def _ended(
    agent: Agent, wake: w.Wake, finished: w.WakeFinished, own: c.ChangeSet | None
) -> list[AgentFact]:
    """What the end of a wake means for its agent: set, report head, and the count."""
    is_done = finished.outcome == "completed"
    facts: list[AgentFact] = [] if own is None else [AgentProposed(own.id, wake.run_key)]
    facts += [AgentReported(wake.run_key)] if is_done and wake.report is not None else []
    ended = (wake.run_key, finished.outcome, finished.code, wake.begun.journal_position)
    is_fresh = is_done and not finished.is_report_missing
    return [*facts, AgentSettled(*ended, is_fresh=is_fresh, seen=wake.begun.seen)]


class Replaced:
    """What a wake's own proposals take the place of (SPEC 6)."""

    def __init__(self, world: LogState, agent: Agent, wake: w.Wake, own: c.ChangeSet) -> None:
        self._world = world
        self._by = f"agent:{agent.id}"
        self.newest = decisions.newest(own, self._fields) if wake.features.replaces else {}

    def of(self, changes: c.ChangeSet) -> list[c.ItemRetracted]:
        """The items of a set of the agent that are replaced."""
        return decisions.replace_older(changes, self.newest, self._by, self._fields)

    def _fields(self, item: c.ChangeItem) -> tuple[str, ...]:
        return registry.replaced_by(item.tool, self._world.text(item.arguments))


def retracted(world: LogState, agent: Agent, wake: w.Wake, replaced: Replaced) -> list[Event]:
    """The second phase of the agent's retractions (SPEC 5), and what it replaced."""
    requests = [(staged.fingerprint, staged.reason) for staged in wake.retractions]
    events: list[Event] = []
    for one in agent.sets if requests or replaced.newest else ():
        changes = world.load(c.CHANGES, one)
        facts = decisions.retract(changes, requests, f"agent:{agent.id}", wake.reproposed)
        gone = {fact.item for fact in facts}
        facts += [fact for fact in replaced.of(changes) if fact.item not in gone]
        events += on(world, "changes", one, facts)
    return events


def _handed_on(world: LogState, wake: w.Wake, at: str) -> list[Event]:
    """What a wake asks other agents comes to each as a trigger of its own: once, and no further
    than changes that agents make."""
    events: list[Event] = []
    setting = Setting(is_enabled=True, throttle_seconds=wake.begun.throttle_seconds)
    for asked in wake.requests:
        other, hop = world.load(AGENT, asked.agent), wake.begun.hop + 1
        trigger = q.Trigger(
            "request", wake.run_key, replica=world.replica, hop=hop, about=asked.about
        )
        facts = rules.notice(world.load(q.WAKE_QUEUE, other.id), other, trigger, at, setting)
        events += wake_queue_events(world, other.id, facts)
    return events


def _paused(agent: Agent, queue_facts: Sequence[q.WakeQueueFact]) -> list[AgentFact]:
    """An agent that failed too often in a row goes to sleep, with a notice (SPEC 3)."""
    failures = max((getattr(fact, "failures", 0) for fact in queue_facts), default=0)
    if agent.lifecycle == "active" and rules.must_pause(failures):
        return deciders.pause(agent, "failures")
    return []


HANDLERS: dict[type, Handler] = {
    do.BeginWake: begin,
    do.SkipWake: skip,
    do.StopWake: stop,
    do.RetakeWake: retake,
    do.DeferWake: defer,
}

__all__ = ["HANDLERS", "Replaced", "after", "refused_of", "replied", "retracted"]
