"""An agent's identity, lifecycle, slots, subscriptions, timers, journal and report head."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from domain.agent import events as e
from domain.agent.events import Category, Lifecycle, Mode, Outcome, Priority
from domain.wire import Words
from domain.world import Kind, Recorded, joined

Change = dict[str, Any]

TURN_MAX_DEFAULT = 5
TURN_MAX_LIMIT = 20
JOURNAL_SHOWN = 20  # newest observations in a prompt, besides the critical ones (SPEC 4)
CRITICAL_KEPT = 200  # newest critical observations that an agent keeps in sight
NEWEST_KEPT = 64  # newest observations that a digest may have to cover; the log holds older ones
SETS_KEPT = 200  # newest change sets that hygiene looks at


class Observation(Struct, frozen=True):
    at: str
    run_key: str
    words: Words
    priority: Priority
    category: Category
    target: str = ""
    position: str = ""  # "N-ROW@REPLICA", where it stands in the log


class Subscription(Struct, frozen=True):
    id: str
    tokens: tuple[str, ...]
    category: str = ""
    status: str = ""
    hears_agents: bool = False
    defers_propagated: bool = False


class AgentTimer(Struct, frozen=True):
    id: str
    schedule: str
    zone: str
    next_at: str


class Slot(Struct, frozen=True):
    """A slot's value and its version, 0 where it was never set."""

    version: int = 0
    value: str = ""


class Agent(Struct, frozen=True):
    """An agent as its facts make it. `lifecycle` is empty where there is none.

    `observations`: the newest `JOURNAL_SHOWN`, oldest first; `critical`: the newest
    `CRITICAL_KEPT` that nothing resolved, oldest first. `position`: the journal's `n` it saw
    last; `fresh_position`: the one its report speaks of. `sets`: the newest `SETS_KEPT` change
    sets, oldest first. `wakes`: those that completed or failed. A preference whose value is empty
    was forgotten; a timer that never fires again is gone. `categories_ever`: all that it was ever
    allowed, sorted: what it wrote may speak of any of them. `newest`: the newest `NEWEST_KEPT`
    observations, and `noted` how many there are in all. `seen`: what it saw of the journal, by
    replica, up to which `n`, and `born_seen` when it was made. Views keep none of
    `categories_ever`, `newest`, `seen` and `born_seen`. `fresh_seen`: as `fresh_position`, of a
    journal that machines share.
    """

    id: str
    lifecycle: Lifecycle | str = ""
    agent_kind: str = ""
    task: str = ""
    generation: int = 0
    name: str = ""
    mode: Mode = "autonomous"
    categories: tuple[str, ...] = ()
    model: str = ""
    template: str = ""  # empty: it lives on the built-in directives
    turn_max: int = TURN_MAX_DEFAULT
    is_automatic: bool = True
    pause_reason: str = ""
    is_deleted: bool = False
    created_at: str = ""
    born: int = 0  # the journal's n when it was made
    goal: Slot = Slot()
    loops: tuple[str, ...] = ()
    loops_version: int = 0
    preferences: dict[str, Slot] = {}
    subscriptions: tuple[Subscription, ...] = ()
    timers: tuple[AgentTimer, ...] = ()
    observations: tuple[Observation, ...] = ()
    critical: tuple[Observation, ...] = ()
    report: str = ""  # run key of the wake that drafted the current one
    sets: tuple[str, ...] = ()
    wakes: int = 0
    failures: int = 0  # in a row
    last_run: str = ""
    last_outcome: Outcome | str = ""
    last_code: str = ""
    last_wake_at: str = ""
    position: int = 0
    fresh_position: int = 0
    categories_ever: tuple[str, ...] | UnsetType = UNSET
    own_loops: tuple[str, ...] = ()  # those of `loops` that it opened itself
    newest: tuple[Observation, ...] | UnsetType = UNSET
    noted: int = 0
    seen: dict[str, int] | UnsetType = UNSET
    born_seen: dict[str, int] | UnsetType = UNSET
    fresh_seen: dict[str, int] | UnsetType = UNSET


def evolve(agent: Agent, recorded: Recorded) -> Agent:
    """The agent after one more fact. A second creation is ignored, and destroyed is final."""
    apply = _APPLY.get(type(recorded.fact))
    return agent if apply is None else replace(agent, **apply(agent, recorded.fact, recorded))


AGENT: Kind[Agent] = Kind("agent", Agent, evolve)


def _created(agent: Agent, fact: e.AgentCreated, row: Recorded) -> Change:
    if agent.created_at:  # another replica made the same agent
        return {"categories_ever": _ever(agent, fact.categories)}
    return {
        "lifecycle": agent.lifecycle or "created",
        "agent_kind": fact.agent_kind,
        "task": fact.task,
        "generation": fact.generation,
        "name": fact.name,
        "mode": fact.mode,
        "categories": fact.categories,
        "categories_ever": _ever(agent, fact.categories),
        "created_at": row.at,
        "born": fact.position,
        "position": fact.position,
        "born_seen": _seen(fact, row),
        "seen": _seen(fact, row),
    }


def _seen(fact: e.AgentCreated | e.AgentSettled, row: Recorded) -> dict[str, int]:
    """What was known of the journal of each replica."""
    return {one.replica: one.n for one in fact.seen} or {row.replica: fact.position}


def _named(agent: Agent, fact: e.AgentNamed, row: Recorded) -> Change:
    return {"name": fact.name}


def _mode(agent: Agent, fact: e.ModeSet, row: Recorded) -> Change:
    return {"mode": fact.mode}


def _categories(agent: Agent, fact: e.CategoriesAllowed, row: Recorded) -> Change:
    return {"categories": fact.categories, "categories_ever": _ever(agent, fact.categories)}


def _ever(agent: Agent, categories: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*(agent.categories_ever or ()), *categories}))


def _model(agent: Agent, fact: e.ModelChosen, row: Recorded) -> Change:
    return {"model": fact.model}


def _template(agent: Agent, fact: e.TemplateAssigned, row: Recorded) -> Change:
    return {"template": fact.template}


def _turn_max(agent: Agent, fact: e.TurnMaxSet, row: Recorded) -> Change:
    return {"turn_max": fact.turn_max}


def _automation(agent: Agent, fact: e.AutomationSet, row: Recorded) -> Change:
    return {"is_automatic": fact.is_on}


def _activated(agent: Agent, fact: e.AgentActivated, row: Recorded) -> Change:
    if agent.lifecycle == "destroyed":
        return {}
    return {"lifecycle": "active", "pause_reason": "", "failures": 0}


def _paused(agent: Agent, fact: e.AgentPaused, row: Recorded) -> Change:
    if agent.lifecycle == "destroyed":
        return {}
    return {"lifecycle": "dormant", "pause_reason": fact.reason}


def _destroyed(agent: Agent, fact: e.AgentDestroyed, row: Recorded) -> Change:
    return {"lifecycle": "destroyed", "pause_reason": ""}


def _deleted(agent: Agent, fact: e.AgentDeleted, row: Recorded) -> Change:
    return {"lifecycle": "destroyed", "is_deleted": True}


def _goal(agent: Agent, fact: e.GoalSet, row: Recorded) -> Change:
    if fact.version < agent.goal.version:
        return {}  # set by a replica that had not seen the newer one
    return {"goal": Slot(fact.version, fact.goal)}


def _loop_opened(agent: Agent, fact: e.LoopOpened, row: Recorded) -> Change:
    others = tuple(loop for loop in agent.loops if loop != fact.loop)
    version = max(agent.loops_version, fact.version)
    own = tuple(loop for loop in agent.own_loops if loop != fact.loop)
    own = (*own, fact.loop) if fact.by else own
    return {"loops": (*others, fact.loop), "loops_version": version, "own_loops": own}


def _loop_closed(agent: Agent, fact: e.LoopClosed, row: Recorded) -> Change:
    others = tuple(loop for loop in agent.loops if loop != fact.loop)
    own = tuple(loop for loop in agent.own_loops if loop != fact.loop)
    version = max(agent.loops_version, fact.version)
    return {"loops": others, "loops_version": version, "own_loops": own}


def _preference(agent: Agent, fact: e.PreferenceSet, row: Recorded) -> Change:
    if fact.version < agent.preferences.get(fact.name, Slot()).version:
        return {}
    kept = Slot(fact.version, fact.value)
    return {"preferences": {**agent.preferences, fact.name: kept}}


def _subscribed(agent: Agent, fact: e.Subscribed, row: Recorded) -> Change:
    made = Subscription(
        fact.subscription,
        fact.tokens,
        fact.category,
        fact.status,
        fact.hears_agents,
        fact.defers_propagated,
    )
    others = (known for known in agent.subscriptions if known.id != made.id)
    return {"subscriptions": (*others, made)}


def _unsubscribed(agent: Agent, fact: e.Unsubscribed, row: Recorded) -> Change:
    left = (known for known in agent.subscriptions if known.id != fact.subscription)
    return {"subscriptions": tuple(left)}


def _timer_set(agent: Agent, fact: e.TimerSet, row: Recorded) -> Change:
    made = AgentTimer(fact.timer, fact.schedule, fact.zone, fact.next_at)
    return {"timers": (*_timers_but(agent, fact.timer), made)}


def _timer_removed(agent: Agent, fact: e.TimerRemoved, row: Recorded) -> Change:
    return {"timers": _timers_but(agent, fact.timer)}


def _timer_ticked(agent: Agent, fact: e.TimerTicked, row: Recorded) -> Change:
    if not fact.next_at:
        return {"timers": _timers_but(agent, fact.timer)}
    moved = (
        replace(timer, next_at=fact.next_at) if timer.id == fact.timer else timer
        for timer in agent.timers
    )
    return {"timers": tuple(moved)}


def _timers_but(agent: Agent, timer: str) -> tuple[AgentTimer, ...]:
    return tuple(known for known in agent.timers if known.id != timer)


def _reported(agent: Agent, fact: e.AgentReported, row: Recorded) -> Change:
    return {"report": fact.run_key}


def _observed(agent: Agent, fact: e.AgentObserved, row: Recorded) -> Change:
    made = observation(fact, row)
    critical = agent.critical
    if fact.resolves:
        critical = tuple(one for one in critical if one.position not in fact.resolves)
    if fact.priority == "critical":
        critical = (*critical, made)[-CRITICAL_KEPT:]
    return {
        "observations": (*agent.observations, made)[-JOURNAL_SHOWN:],
        "critical": critical,
        "newest": (*(agent.newest or ()), made)[-NEWEST_KEPT:],
        "noted": agent.noted + 1,
    }


def observation(fact: e.AgentObserved, row: Recorded) -> Observation:
    """A fact as the agent remembers it."""
    at = f"{row.n}-{row.row}@{row.replica}"
    words = fact.words
    return Observation(row.at, fact.run_key, words, fact.priority, fact.category, fact.target, at)


def _proposed(agent: Agent, fact: e.AgentProposed, row: Recorded) -> Change:
    others = (known for known in agent.sets if known != fact.changes)
    return {"sets": (*others, fact.changes)[-SETS_KEPT:]}


def _settled(agent: Agent, fact: e.AgentSettled, row: Recorded) -> Change:
    if fact.outcome == "superseded":
        return {}
    change: Change = {
        "last_run": fact.run_key,
        "last_outcome": fact.outcome,
        "last_code": fact.code,
        "position": max(agent.position, fact.position),
        "seen": joined(agent.seen or {}, _seen(fact, row)),
    }
    if fact.is_fresh:
        change["fresh_position"] = max(agent.fresh_position, fact.position)
        if fact.seen:
            change["fresh_seen"] = joined(agent.fresh_seen or {}, _seen(fact, row))
    if fact.outcome == "skipped":
        return change
    failures = agent.failures + 1 if fact.outcome == "failed" else 0
    return {**change, "wakes": agent.wakes + 1, "failures": failures, "last_wake_at": row.at}


_APPLY: dict[type, Callable[[Agent, Any, Recorded], Change]] = {
    e.AgentCreated: _created,
    e.AgentNamed: _named,
    e.ModeSet: _mode,
    e.CategoriesAllowed: _categories,
    e.ModelChosen: _model,
    e.TemplateAssigned: _template,
    e.TurnMaxSet: _turn_max,
    e.AutomationSet: _automation,
    e.AgentActivated: _activated,
    e.AgentPaused: _paused,
    e.AgentDestroyed: _destroyed,
    e.AgentDeleted: _deleted,
    e.GoalSet: _goal,
    e.LoopOpened: _loop_opened,
    e.LoopClosed: _loop_closed,
    e.PreferenceSet: _preference,
    e.Subscribed: _subscribed,
    e.Unsubscribed: _unsubscribed,
    e.TimerSet: _timer_set,
    e.TimerRemoved: _timer_removed,
    e.TimerTicked: _timer_ticked,
    e.AgentReported: _reported,
    e.AgentObserved: _observed,
    e.AgentProposed: _proposed,
    e.AgentSettled: _settled,
}
