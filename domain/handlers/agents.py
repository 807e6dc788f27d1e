"""Agents and their attention: life, settings, notices, timers, requests (SPEC 2, 3)."""

from collections.abc import Iterable, Mapping, Sequence

from domain.agent import commands as do
from domain.agent import deciders
from domain.agent import wake_queue as q
from domain.agent import wake_queue_rules as rules
from domain.agent.agent import (
    AGENT,
    TURN_MAX_DEFAULT,
    Agent,
    AgentFact,
    AgentSettled,
    TemplateAssigned,
    category_in,
    template_in,
)
from domain.agent.subscriptions import SUBSCRIBERS, Batch, subscriber_facts, taken_of, trigger_of
from domain.agent.wake_queue_rules import Setting
from domain.append.causes import Result
from domain.errors import Refused, invalid
from domain.handlers.decided import Decision, Event, after, on
from domain.handlers.journal import Handler
from domain.log.state import MAIN, LogState
from domain.machines.machines import HOME, leads
from domain.templates import template as templates
from domain.templates.template import InstanceAdded, InstanceRemoved
from domain.templates.template import living as living_template
from domain.wake import machine
from domain.wake.wake import WAKE, WakeFact, WakeFinished


def known_agent(world: LogState, wanted: str) -> Agent:
    """An agent that was made, whatever its lifecycle; Refused if there is none."""
    agent = world.load(AGENT, wanted)
    if not agent.lifecycle or agent.is_deleted:
        raise deciders.unknown_agent(agent)
    return agent


def agent_events(world: LogState, agent: Agent, facts: Sequence[AgentFact]) -> list[Event]:
    """Facts about an agent, with what they mean for the streams of its tokens."""
    said = [(world.stream("subs", token), fact) for token, fact in subscriber_facts(agent, facts)]
    return [*on(world, "agent", agent.id, facts), *said]


def wake_queue_events(
    world: LogState, agent: str, facts: Sequence[q.WakeQueueFact], code: str = "stopped"
) -> list[Event]:
    """Facts about an agent's attention; a wake that ends without running gets its end too.

    `code`: why a begun wake that waited is skipped."""
    events = on(world, "alert", agent, facts)
    for fact in facts:
        match fact:
            case q.WakeDropped(code="led_elsewhere"):
                pass  # it goes on on another machine
            case q.WakeDropped(run_key=run_key, code=code):
                ended = WakeFinished("skipped", code=code)
                if code == "superseded":
                    ended = WakeFinished("superseded")
                events += on(world, "wake", run_key, [ended])
            case q.WakeSettled(run_key=run_key, outcome="skipped"):
                events += _skipped(world, agent, run_key, code)
            case _:
                pass
    return events


def _skipped(world: LogState, agent: str, run_key: str, code: str) -> list[Event]:
    """The end of a begun wake that waited and may not go on."""
    ended: list[WakeFact] = machine.stop(world.load(WAKE, run_key), "skipped", code)
    if not ended:  # pragma: no cover  # a wake that waits has begun and not ended
        return []
    settled = AgentSettled(run_key, "skipped", code)
    return [*on(world, "wake", run_key, ended), *on(world, "agent", agent, [settled])]


def create(cause: do.CreateAgent, key: str, at: str, world: LogState) -> Decision:
    """A task's agent, or one of a kind without one, the only living one, and the wake of its
    creation."""
    kind = cause.agent_kind or deciders.AGENT_KIND
    if bool(cause.task) == bool(cause.subject):
        raise invalid("an agent is about a task, or about something else", "name one of the two")
    allowed = (cause.category,) if cause.task else cause.categories
    if not all(allowed) or not allowed:
        because = "the task has no category, so no agent may touch it"
        if cause.subject:
            because = "there is no category that it may read"
        raise Refused("out_of_scope", because=because, instead="set its category first")
    of_category = category_in(cause.subject)
    if of_category is not None and of_category not in allowed:
        because = f"the category {of_category!r} is not among those that it may read"
        raise Refused("out_of_scope", because=because, instead="allow it that category")
    if (of_template := template_in(cause.subject)) is not None:
        living_template(templates.load(world, of_template))
    agent, generation = current(world, kind, cause.task or cause.subject)
    facts = deciders.create(
        agent, task=cause.task, generation=generation, name=cause.name or cause.title,
        mode=cause.mode, categories=allowed, model=cause.model,
        turn_max=cause.turn_max or TURN_MAX_DEFAULT, position=cause.position, seen=cause.seen,
        agent_kind=kind, subject=cause.subject,
    )  # fmt: skip
    housed: list[Event] = []
    if cause.template:
        living_template(templates.load(world, cause.template))
        facts.append(TemplateAssigned(cause.template))
        housed = on(world, "template", cause.template, [InstanceAdded(agent.id)])
    born = after(world, AGENT, agent, facts, at)
    trigger = q.Trigger("creation", str(world.n), replica=world.replica)
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    queued: Sequence[q.WakeQueueFact] = []
    if of_template is None:  # who improves one wakes where it is asked
        queued = rules.request(wake_queue, born, trigger, at, Setting(cause.is_enabled))
    if (
        of_template is None
        and cause.first
        and leads(world.load(HOME, MAIN), cause.first) != world.replica
    ):
        queued = [q.TriggerSuppressed(trigger, "led_elsewhere")]  # who leads asks for it
    events = [*agent_events(world, agent, facts), *housed]
    return Decision([*events, *wake_queue_events(world, agent.id, queued)], Result((agent.id,)))


def current(world: LogState, kind: str, subject: str) -> tuple[Agent, int]:
    """The agent of a kind and subject that is not destroyed, and its generation; where none lives,
    one that is yet to be made."""
    generation = 1
    while True:  # bounded by the generations that were destroyed
        agent = world.load(AGENT, deciders.agent_id(kind, subject, generation))
        if agent.lifecycle != "destroyed":
            return agent, generation
        generation += 1


def configure(cause: do.ConfigureAgent, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    return _agent(world, agent, deciders.configure(agent, cause.wanted))


def _agent(world: LogState, agent: Agent, facts: Sequence[AgentFact]) -> Decision:
    return Decision(agent_events(world, agent, facts), Result((agent.id,)))


def watch(cause: do.WatchTokens, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    facts = deciders.watch(
        agent, cause.tokens, category=cause.category, status=cause.status,
        hears_agents=cause.hears_agents, defers_propagated=cause.defers_propagated,
    )  # fmt: skip
    return _agent(world, agent, facts)


def unwatch(cause: do.UnwatchTokens, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    return _agent(world, agent, deciders.unwatch(agent, cause.subscription))


def set_timer(cause: do.SetTimer, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    timer = deciders.timer_id(agent.id, cause.schedule, cause.zone)
    when, heeds_moves = (cause.schedule, cause.zone, cause.next_at), cause.heeds_moves
    facts = deciders.set_timer(agent, timer, *when, heeds_moves=heeds_moves)
    return Decision(agent_events(world, agent, facts), Result((timer,)))


def remove_timer(cause: do.RemoveTimer, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    return _agent(world, agent, deciders.remove_timer(agent, cause.timer))


def _with_wakes_ended(
    world: LogState, agent: Agent, facts: Sequence[AgentFact], code: str
) -> Decision:
    """A change of life that ends what waits; a running wake stops at its next row."""
    ended = rules.drop_all_for_lifecycle(world.load(q.WAKE_QUEUE, agent.id), code) if facts else []
    events = [*agent_events(world, agent, facts), *wake_queue_events(world, agent.id, ended, code)]
    return Decision(events, Result((agent.id,)))


def pause(cause: do.PauseAgent, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    return _with_wakes_ended(world, agent, deciders.pause(agent), "dormant")


def destroy(cause: do.DestroyAgent, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    facts = deciders.destroy(agent)
    decided = _with_wakes_ended(world, agent, facts, "destroyed")
    return decided._replace(events=[*decided.events, *(left(world, agent) if facts else [])])


def left(world: LogState, agent: Agent) -> list[Event]:
    """What an agent that moves out or is destroyed means for its template."""
    if not agent.template:
        return []
    return on(world, "template", agent.template, [InstanceRemoved(agent.id)])


def delete(cause: do.DeleteAgent, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    return _agent(world, agent, deciders.delete(agent))


def resume(cause: do.ResumeAgent, key: str, at: str, world: LogState) -> Decision:
    """An active agent again, and one recovery wake that sees what changed."""
    agent = known_agent(world, cause.agent)
    facts = deciders.resume(agent)
    queued: list[q.WakeQueueFact] = []
    if facts:
        active = after(world, AGENT, agent, facts, at)
        trigger = q.Trigger("recovery", str(world.n), replica=world.replica)
        wake_queue = world.load(q.WAKE_QUEUE, agent.id)
        queued = rules.request(wake_queue, active, trigger, at, Setting(cause.is_enabled))
    events = [*agent_events(world, agent, facts), *wake_queue_events(world, agent.id, queued)]
    return Decision(events, Result((agent.id,)))


def take_journal(cause: do.TakeJournal, key: str, at: str, world: LogState) -> Decision:
    """Turn journal appends into notices, exactly once; a faster watcher's part is trimmed."""
    first = max(cause.first, taken_of(world, cause.replica) + 1)
    if cause.last < first:
        return Decision()
    setting = Setting(cause.is_enabled, cause.propagated_due, cause.throttle_seconds)
    noticed: dict[str, list[q.WakeQueueFact]] = {}
    queue_facts: dict[str, q.WakeQueue] = {}
    for batch in cause.batches:
        if batch.n < first:
            continue
        for agent, trigger in _matches(world, batch):
            wake_queue = queue_facts.get(agent.id) or world.load(q.WAKE_QUEUE, agent.id)
            is_seen = world.is_shared and _is_known(agent.seen or {}, batch)
            facts = rules.notice(
                wake_queue, agent, trigger, at, setting, origin=batch.origin, is_seen=is_seen
            )
            queue_facts[agent.id] = after(world, q.WAKE_QUEUE, wake_queue, facts, at)
            noticed.setdefault(agent.id, []).extend(facts)
    events = on(world, "watch", MAIN, [q.JournalTaken(cause.replica, first, cause.last)])
    for agent_id, facts in noticed.items():
        events += wake_queue_events(world, agent_id, facts)
    return Decision(events)


def _matches(world: LogState, batch: Batch) -> Iterable[tuple[Agent, q.Trigger]]:
    """The agents a batch concerns, with the trigger it is for each, in order of their ids. What
    was written before an agent was made is no news to it."""
    tokens = (*batch.tokens, *batch.propagated)
    found = {one for token in tokens for one in world.load(SUBSCRIBERS, token).subscribers}
    for agent_id, subscription_id in sorted(found):
        agent = world.load(AGENT, agent_id)
        known = next((one for one in agent.subscriptions if one.id == subscription_id), None)
        trigger = trigger_of(known, batch) if known and not _is_older(world, agent, batch) else None
        if trigger is not None:
            yield agent, trigger


def _is_older(world: LogState, agent: Agent, batch: Batch) -> bool:
    """Whether an agent was made by who knew of a change."""
    return batch.n <= agent.born if not world.is_shared else _is_known(agent.born_seen or {}, batch)


def _is_known(seen: Mapping[str, int], batch: Batch) -> bool:
    """Whether the append that a batch is of is among what was seen."""
    return (batch.of_n or batch.n) <= seen.get(batch.of or batch.replica, 0)


def tick(cause: do.TickTimer, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    facts, trigger = deciders.tick(agent, cause.timer, cause.ticks, cause.next_at)
    queued: list[q.WakeQueueFact] = []
    if trigger is not None:
        wake_queue = world.load(q.WAKE_QUEUE, agent.id)
        queued = rules.notice(wake_queue, agent, trigger, at, Setting(cause.is_enabled))
    events = [*agent_events(world, agent, facts), *wake_queue_events(world, agent.id, queued)]
    return Decision(events, Result((agent.id,)))


def request(cause: do.RequestWake, key: str, at: str, world: LogState) -> Decision:
    """A wake that a person asks for. The result's second id is its run key."""
    agent = known_agent(world, cause.agent)
    wake_queue = world.load(q.WAKE_QUEUE, agent.id)
    is_session = cause.reason == "user"
    trigger = q.Trigger(
        cause.reason,
        (cause.session or key) if is_session else str(cause.of_n or world.n),
        replica="" if is_session else cause.of or world.replica,
        turn=cause.turn or int(is_session),
        words=cause.words,
    )
    setting = Setting(cause.is_enabled, keeps_all=cause.keeps_all)
    facts = rules.request(wake_queue, agent, trigger, at, setting)
    run_key = q.run_key_of(agent.id, trigger)
    return Decision(
        wake_queue_events(world, agent.id, facts), Result((agent.id, run_key, trigger.reason_id))
    )


def inherit(cause: do.InheritWake, key: str, at: str, world: LogState) -> Decision:
    """Notice here what waits for an agent where it does not run any more; what was noticed here
    already gives nothing."""
    agent = known_agent(world, cause.agent)
    setting = Setting(cause.is_enabled, "", cause.throttle_seconds, keeps_all=True)
    wake_queue, noticed = world.load(q.WAKE_QUEUE, agent.id), list[q.WakeQueueFact]()
    for trigger in cause.triggers:
        facts = rules.notice(wake_queue, agent, trigger, at, setting)
        wake_queue = after(world, q.WAKE_QUEUE, wake_queue, facts, at)
        noticed += facts
    return Decision(wake_queue_events(world, agent.id, noticed), Result((agent.id,)))


def sleep(cause: do.SleepAgent, key: str, at: str, world: LogState) -> Decision:
    agent = known_agent(world, cause.agent)
    if cause.is_ordered:
        queues = world.load_all(q.WAKE_QUEUE, agent.id)
        return _agent(world, agent, rules.order_sleep(agent, queues, cause.until, at))
    facts = rules.sleep(world.load(q.WAKE_QUEUE, agent.id), agent, cause.until, at)
    return Decision(wake_queue_events(world, agent.id, facts), Result((agent.id,)))


HANDLERS: dict[type, Handler] = {
    do.CreateAgent: create,
    do.ConfigureAgent: configure,
    do.WatchTokens: watch,
    do.UnwatchTokens: unwatch,
    do.SetTimer: set_timer,
    do.RemoveTimer: remove_timer,
    do.PauseAgent: pause,
    do.ResumeAgent: resume,
    do.DestroyAgent: destroy,
    do.DeleteAgent: delete,
    do.TakeJournal: take_journal,
    do.TickTimer: tick,
    do.RequestWake: request,
    do.SleepAgent: sleep,
    do.InheritWake: inherit,
}
