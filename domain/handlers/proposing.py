"""What a client proposes that no wake asked: a whole wake in one append (ADR 114).

It is started, answered and ended as any wake is, so hygiene, evidence and proof are those of all.
Of the agent's queue it says nothing, nor that a wake of the agent was settled: no trigger is taken
over, no report is owed, nothing counts as a failure, and what changed since is told as before."""

from msgspec.structs import replace

from domain.agent import wake_queue as q
from domain.agent.agent import Agent, AgentProposed
from domain.append.causes import Result
from domain.changes import decisions
from domain.errors import Refused, Remedy, invalid
from domain.handlers.agents import agent_events, known_agent
from domain.handlers.decided import Decision, on
from domain.handlers.journal import Handler
from domain.handlers.wakes import Replaced, retracted
from domain.log.state import MAIN, LogState
from domain.policy.gate import GateRefusal, refusal
from domain.policy.policy import POLICY, Policy
from domain.scaffold import features_of
from domain.wake import machine
from domain.wake import wake as w
from domain.wake.commands import ProposeChanges
from domain.wake.manifests import manifest_of
from domain.wake.wake_inputs import client_wake, expires_at, inputs_of, specs_of, tools_of


def propose(cause: ProposeChanges, key: str, at: str, world: LogState) -> Decision:
    """A client's wake, from its start to its end; nothing where the same was proposed before.

    Raises Refused: the agent rests, runs, or may not be read by that client now."""
    begin, agent, run_key = cause.begin, known_agent(world, cause.agent), cause.run_key
    result = Result((run_key,))
    if w.anyones(world, run_key).started is not None:
        return Decision(result=result)
    _check(cause, agent, world.load(q.WAKE_QUEUE, agent.id))
    started = w.WakeStarted(
        agent.id, agent.task, "client", cause.session, begin.model, begin.scaffold, 1,
        begin.journal_position, begin.agent_position, begin.snapshot, begin.system, begin.user,
        (), "", agent.categories, ttl_days=begin.ttl_days, seen=begin.seen,
        agent_kind=begin.agent_kind,
    )  # fmt: skip
    if refused := refused_to(world.load(POLICY, MAIN), agent, begin.model):
        instead = Remedy("allow_sending", begin.model)
        raise Refused(refused.code, because=refused.because, instead=instead)
    features = features_of(begin.scaffold)
    bench = inputs_of(world, agent, run_key, begin.snapshot, features, at)
    tools = tools_of(world, agent, "client", begin.scaffold, bench.snapshot)
    specs = specs_of(tools, features)
    started = replace(started, tools=tools, specs=specs.id)
    begun = machine.start(w.WAKE.initial(run_key), started, bench)
    wake, facts, answered = machine.decide(begun.wake, cause.reply, bench)
    events = on(world, "wake", run_key, [*begun.facts, *facts])
    if own := answered.own:
        world.bring(answered.payloads)
        replaced = Replaced(world, agent, wake, own)
        opened = decisions.opened(own, agent.id, agent.task, run_key, expires_at(world, wake, at))
        events += retracted(world, agent, wake, replaced)
        changes = [*answered.proposed, *opened, *replaced.of(own)]
        events += on(world, "changes", own.id, changes)
        events += agent_events(world, agent, [AgentProposed(own.id, run_key)] if opened else [])
    return Decision(events, result, [specs, *answered.payloads])


def refused_to(policy: Policy, agent: Agent, model: str) -> GateRefusal | None:
    """What the gate says of a client that reads an agent's task: of all categories that the agent
    may have written of."""
    known = {*agent.categories, *(agent.categories_ever or ())} if agent.categories else ()
    return refusal(policy, replace(agent, categories=tuple(sorted(known))), model, has_secret=True)


def _check(cause: ProposeChanges, agent: Agent, wake_queue: q.WakeQueue) -> None:
    """Whether a client may propose to the agent now, and whether it is one wake that it gives."""
    if cause.run_key != client_wake(agent.id, cause.session).run_key:
        raise invalid(f"{cause.run_key} is not the run of {cause.session}", "derive it")
    if machine.ticket(cause.reply) != ("", 1, 1):
        raise invalid("it answers another turn than the first", "give one reply")
    if manifest_of(cause.begin.scaffold, agent.agent_kind).for_clients is None:
        raise invalid(f"no client may propose to a {agent.agent_kind}", "name the agent of a task")
    if agent.lifecycle != "active":
        because = f"the agent {agent.id} is {agent.lifecycle}"
        raise Refused("agent_dormant", because=because, instead=Remedy("resume_agent", agent.id))
    if wake_queue.begun is not None:
        because = f"the agent {agent.id} is awake"
        raise Refused("agent_running", because=because, instead=Remedy("await_wake", agent.id))


HANDLERS: dict[type, Handler] = {ProposeChanges: propose}
