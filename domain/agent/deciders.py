"""What a person may do with an agent: life, settings, slots, subscriptions, timers (SPEC 2); what
each of these may be, and how many there may be.

Each check gives the value as it is kept, or raises `Refused`, code ``invalid_value``. Each decider
answers with facts of the stream ``agent:<id>``, with none where it is already so, or with
`Refused`. An agent that is unknown, destroyed or deleted answers `unknown_agent`."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, get_args

from domain.agent import agent as e
from domain.agent import endpoints
from domain.agent.subscriptions import SEMANTIC_KEYS, is_token
from domain.agent.wake_queue import Trigger
from domain.errors import Refused, Remedy, invalid
from domain.journal.task import STATUSES
from domain.log import canonical
from domain.log.keys import key
from domain.log.timestamps import is_moment
from domain.log.wire import INLINE_MAX_BYTES, Imported, Part
from domain.text import cut, squeeze

NAME_MAX = 200  # characters
LOOP_MAX = 200
LOOPS_MAX = 50
PREFERENCE_NAME_MAX = 60
PREFERENCE_MAX = 200
PREFERENCES_MAX = 50
CATEGORIES_MAX = 50
SUBSCRIPTIONS_MAX = 50
TOKENS_MAX = 20  # of one subscription
TIMERS_MAX = 20
SCHEDULE_MAX = 200
TICKS_MAX = 100  # that one wake names

_MODEL = re.compile(
    r"rules|gemini|gemini:[0-9A-Za-z][0-9A-Za-z._/-]{0,99}|tape:[^\x00-\x1f]{1,200}"
)
_EXTENSION = re.compile(
    r"(?!(?:rules|demo|tape|gemini|openai|mcp):)[a-z][a-z0-9_-]{0,30}"
    r":[0-9A-Za-z][0-9A-Za-z._/:+-]{0,99}"
)
"""A model of others, behind the name of its package's entry point; whether that is installed,
adapters know."""
_ZONE = re.compile(r"[A-Za-z][0-9A-Za-z_+/-]{0,63}")

TOKEN_FORMS = f"key:{'|'.join(SEMANTIC_KEYS)}, sub:note:transcript or id:ID of a task"


def at_most(limit: int, count: int, what: str) -> None:
    if count > limit:
        raise invalid(f"that makes {count} {what}", f"keep to {limit} at most")


def once(what: str, values: list[str]) -> list[str]:
    if len(set(values)) < len(values):
        raise invalid(f"a {what} is named twice", "name each one once")
    return values


def valid_text(what: str, given: str, length_max: int) -> str:
    kept = squeeze(given)
    if not 1 <= len(kept) <= length_max:
        raise invalid(f"{what} has {len(kept)} characters", f"use 1 to {length_max}")
    return kept


def valid_name(given: str) -> str:
    return valid_text("an agent's name", given, NAME_MAX)


def valid_goal(given: str) -> str:
    kept = given.strip(" \t\r\n")
    if (size := len(kept.encode())) > INLINE_MAX_BYTES:
        raise invalid(f"the goal has {size} bytes", f"keep to {INLINE_MAX_BYTES} at most")
    return kept


def valid_mode(given: str) -> e.Mode:
    modes: tuple[e.Mode, ...] = get_args(e.Mode)
    for known in modes:
        if given == known:
            return known
    raise invalid(f"{given!r} is no mode", f"use one of {', '.join(modes)}")


def valid_model(given: str) -> str:
    if found := endpoints.named(given):
        return found.name
    if given and not (_MODEL.fullmatch(given) or _EXTENSION.fullmatch(given)):
        shown = given.partition("@")[0]  # what comes behind it may be a password
        raise invalid(f"{shown!r} is no model", f"use {endpoints.MODELS}")
    return given


def valid_turn_max(given: int) -> int:
    if not 1 <= given <= e.TURN_MAX_LIMIT:
        raise invalid(f"{given} turns in a wake", f"use 1 to {e.TURN_MAX_LIMIT}")
    return given


def valid_categories(given: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(sorted(set(given)))
    if not kept or "" in kept:
        raise invalid("an agent without a category may touch nothing", "name a category")
    at_most(CATEGORIES_MAX, len(kept), "categories")
    return kept


def valid_zone(given: str) -> str:
    if _ZONE.fullmatch(given) is None:
        raise invalid(f"{given!r} is no time zone", "use an IANA name, like Europe/Berlin")
    return given


def valid_time(given: str) -> str:
    if not is_moment(given):
        raise invalid(f"{given!r} is no time", "use UTC, 2027-01-01T00:00:00.000000Z")
    return given


def named(wanted: str, known: list[str], what: str) -> str:
    """The one of the known ids that is meant: the id itself, or an unambiguous beginning."""
    found = [one for one in known if one == wanted] or [
        one for one in known if wanted and one.startswith(wanted)
    ]
    if len(found) == 1:
        return found[0]
    instead = Remedy("see_agent")
    if found:
        because = f"{wanted!r} begins {len(found)} {what}s"
        raise Refused("ambiguous", because=because, instead=instead)
    raise invalid(f"the agent has no {what} {wanted!r}", instead)


# ----------------------------------------------------------------------------- what a person may do

AGENT_KIND, DAY_AGENT, CATEGORY_AGENT = "task_agent", "day_agent", "category_agent"
TEMPLATE_IMPROVER = "template_improver"


class AgentSettings(Part, frozen=True):
    """What `agent set` may change; None leaves a thing as it is.

    `model` empty: the home's setting. `goal` empty: none any more. `preferences`: names with
    values; an empty value forgets the name."""

    name: str | None = None
    mode: str | None = None
    categories: tuple[str, ...] | None = None
    model: str | None = None
    turn_max: int | None = None
    is_automatic: bool | None = None
    goal: str | None = None
    open_loops: tuple[str, ...] = ()
    close_loops: tuple[str, ...] = ()
    preferences: tuple[tuple[str, str], ...] = ()


def agent_id(agent_kind: str, subject: str, generation: int) -> str:
    """Two replicas make the same agent of a task, or of what it is about (DESIGN 6)."""
    return key("agent", agent_kind, subject, str(generation))


def task_subscription(agent: str) -> str:
    """Id of the built-in subscription, the one to the agent's own task."""
    return key("subscription", agent, "task")


def timer_id(agent: str, schedule: str, zone: str) -> str:
    """Id of a timer: a schedule in a zone."""
    return key("timer", agent, schedule, zone)


# ------------------------------------------------------------------------------------- lifecycle


def create(  # noqa: PLR0913  one argument for each thing that an agent begins with
    agent: e.Agent,
    *,
    task: str,
    generation: int,
    name: str,
    mode: str = "autonomous",
    categories: tuple[str, ...],
    model: str = "",
    turn_max: int = e.TURN_MAX_DEFAULT,
    position: int = 0,
    seen: tuple[Imported, ...] = (),
    agent_kind: str = AGENT_KIND,
    subject: str = "",
) -> list[e.AgentFact]:
    """An active agent that hears of its task, if it has one; `agent` is the empty state of its id.
    Raises Refused, code ``agent_exists`` or ``invalid_value``."""
    if agent.lifecycle:
        about = "the task" if task else agent_kind
        because = f"{about} has an agent already ({agent.id}, {agent.lifecycle})"
        raise Refused("agent_exists", because=because, instead=Remedy("see_agents_one_a_task"))
    allowed = valid_categories(categories)
    named, kept = valid_name(name), valid_mode(mode)
    made = e.AgentCreated(
        agent_kind, task, generation, named, kept, allowed, position, seen, subject
    )
    facts: list[e.AgentFact] = [made]
    if model:
        facts.append(e.ModelChosen(valid_model(model)))
    if turn_max != e.TURN_MAX_DEFAULT:
        facts.append(e.TurnMaxSet(valid_turn_max(turn_max)))
    heard = [e.Subscribed(task_subscription(agent.id), (f"id:{task}",))] if task else []
    return [*facts, e.AgentActivated(), *heard]


def pause(agent: e.Agent, reason: str = "") -> list[e.AgentFact]:
    """Let an agent sleep. `reason`: empty for the person, else ``failures``, ``task_deleted``."""
    living(agent)
    return [] if agent.lifecycle == "dormant" else [e.AgentPaused(reason)]


def resume(agent: e.Agent) -> list[e.AgentFact]:
    """Let a sleeping agent wake again; its count of failures starts anew."""
    living(agent)
    return [] if agent.lifecycle == "active" else [e.AgentActivated()]


def destroy(agent: e.Agent) -> list[e.AgentFact]:
    """End an agent for good. Its timers go; its subscriptions stay until it is deleted, so
    that `why` can tell what it would have heard."""
    if agent.lifecycle == "destroyed" and not agent.is_deleted:
        return []
    living(agent)
    return [*(e.TimerRemoved(timer.id) for timer in agent.timers), e.AgentDestroyed()]


def delete(agent: e.Agent) -> list[e.AgentFact]:
    """Hide a destroyed agent behind a tombstone."""
    if agent.is_deleted:
        return []
    if not agent.lifecycle:
        raise unknown_agent(agent)
    if agent.lifecycle != "destroyed":
        because = f"the agent {agent.name!r} is {agent.lifecycle}"
        raise Refused("not_destroyed", because=because, instead=Remedy("destroy_agent"))
    return [*(e.Unsubscribed(known.id) for known in agent.subscriptions), e.AgentDeleted()]


def living(agent: e.Agent) -> None:
    """Raise Refused, code ``unknown_agent``, where there is no living agent."""
    if not agent.lifecycle or agent.lifecycle == "destroyed":
        raise unknown_agent(agent)


def unknown_agent(agent: e.Agent) -> Refused:
    because, instead = f"there is no agent {agent.id!r}", Remedy("see_agents")
    if agent.lifecycle and not agent.is_deleted:
        because, instead = f"the agent {agent.name!r} is destroyed", Remedy("create_agent")
    return Refused("unknown_agent", because=because, instead=instead)


# ----------------------------------------------------------------------------- settings and slots


def configure(agent: e.Agent, wanted: AgentSettings) -> list[e.AgentFact]:
    """Change settings and slots; facts only for what is different. Raises Refused, code
    ``unknown_agent`` or ``invalid_value``; then nothing is changed."""
    living(agent)
    return [*_settings(agent, wanted), *_slots(agent, wanted)]


def _settings(agent: e.Agent, wanted: AgentSettings) -> list[e.AgentFact]:
    facts: list[e.AgentFact] = []
    if wanted.name is not None and valid_name(wanted.name) != agent.name:
        facts.append(e.AgentNamed(valid_name(wanted.name)))
    if wanted.mode is not None and valid_mode(wanted.mode) != agent.mode:
        facts.append(e.ModeSet(valid_mode(wanted.mode)))
    if wanted.categories is not None and valid_categories(wanted.categories) != agent.categories:
        facts.append(e.CategoriesAllowed(valid_categories(wanted.categories)))
    if wanted.model is not None and valid_model(wanted.model) != agent.model:
        facts.append(e.ModelChosen(wanted.model))
    if wanted.turn_max is not None and valid_turn_max(wanted.turn_max) != agent.turn_max:
        facts.append(e.TurnMaxSet(wanted.turn_max))
    if wanted.is_automatic is not None and wanted.is_automatic != agent.is_automatic:
        facts.append(e.AutomationSet(wanted.is_automatic))
    return facts


def _slots(agent: e.Agent, wanted: AgentSettings) -> list[e.AgentFact]:
    facts: list[e.AgentFact] = []
    if wanted.goal is not None and (goal := valid_goal(wanted.goal)) != agent.goal.value:
        facts.append(e.GoalSet(agent.goal.version + 1, goal))
    return [*facts, *_loops(agent, wanted), *_preferences(agent, wanted.preferences)]


def _loops(agent: e.Agent, wanted: AgentSettings) -> list[e.AgentFact]:
    opened = once("open loop", [valid_text("a loop", loop, LOOP_MAX) for loop in wanted.open_loops])
    closed = once("closed loop", [squeeze(loop) for loop in wanted.close_loops])
    if both := [loop for loop in closed if loop in opened]:
        raise invalid(f"the loop {both[0]!r} is to be opened and closed", "choose one of the two")
    facts: list[e.AgentFact] = []
    version = agent.loops_version
    for loop in closed:
        if loop not in agent.loops:
            known = ", ".join(map(repr, agent.loops)) or "none"
            raise invalid(f"there is no open loop {loop!r}", f"close one of these: {known}")
        version += 1
        facts.append(e.LoopClosed(version, loop))
    fresh = [loop for loop in opened if loop not in agent.loops]
    at_most(LOOPS_MAX, len(agent.loops) - len(closed) + len(fresh), "open loops")
    return [*facts, *(e.LoopOpened(version + nth, loop) for nth, loop in enumerate(fresh, start=1))]


def _preferences(agent: e.Agent, wanted: tuple[tuple[str, str], ...]) -> list[e.AgentFact]:
    names = [valid_text("a preference's name", name, PREFERENCE_NAME_MAX) for name, _ in wanted]
    once("preference", names)
    facts: list[e.AgentFact] = []
    count = sum(bool(slot.value) for slot in agent.preferences.values())
    for name, (_, value) in zip(names, wanted, strict=True):
        kept = valid_text("a preference", value, PREFERENCE_MAX) if squeeze(value) else ""
        slot = agent.preferences.get(name, e.Slot())
        if kept == slot.value:
            continue
        count += bool(kept) - bool(slot.value)
        facts.append(e.PreferenceSet(slot.version + 1, name, kept))
    at_most(PREFERENCES_MAX, count, "preferences")
    return facts


# -------------------------------------------------------------------------- subscriptions, timers


def watch(
    agent: e.Agent,
    tokens: Iterable[str],
    *,
    category: str = "",
    status: str = "",
    hears_agents: bool = False,
    defers_propagated: bool = False,
) -> list[e.AgentFact]:
    """One more subscription, named by its tokens and predicate; flags replace earlier ones.

    Args:
        tokens: At least one must be in a batch; see `domain.agent.subscriptions`.
        category: Id of the category that a touched task must have; empty: any.
        status: Status that a touched task must have; empty: any.
        hears_agents: Other agents' writes count too, up to 3 hops.
        defers_propagated: Matches only through a link wait until the morning.

    Raises:
        Refused: Code ``unknown_agent`` or ``invalid_value``.
    """
    living(agent)
    if not (wanted := tuple(sorted(set(tokens)))):
        raise invalid("a subscription needs a token", f"name one, {TOKEN_FORMS}")
    for token in wanted:
        if not is_token(token):
            raise invalid(f"{token!r} is no token", f"write {TOKEN_FORMS}")
    at_most(TOKENS_MAX, len(wanted), "tokens in one subscription")
    if status and status not in STATUSES:
        raise invalid(f"{status!r} is no status", f"use one of {', '.join(STATUSES)}")
    named = key("subscription", agent.id, canonical.text(wanted), category, status)
    made = e.Subscription(named, wanted, category, status, hears_agents, defers_propagated)
    if made in agent.subscriptions:
        return []
    others = sum(known.id != named for known in agent.subscriptions)
    at_most(SUBSCRIPTIONS_MAX, others + 1, "subscriptions")
    return [e.Subscribed(named, wanted, category, status, hears_agents, defers_propagated)]


def unwatch(agent: e.Agent, subscription: str) -> list[e.AgentFact]:
    """Take a subscription back, named by its id or an unambiguous beginning of it."""
    living(agent)
    found = named(subscription, [known.id for known in agent.subscriptions], "subscription")
    if found == task_subscription(agent.id):
        because = "the subscription to the agent's own task is built in"
        raise invalid(because, "pause the agent, or set its automatic updates off")
    return [e.Unsubscribed(found)]


def set_timer(
    agent: e.Agent, timer: str, schedule: str, zone: str, next_at: str, *, heeds_moves: bool = False
) -> list[e.AgentFact]:
    """A timer, or another schedule for it; the same one again leaves its next tick alone."""
    living(agent)
    schedule = valid_text("a schedule", schedule, SCHEDULE_MAX)
    valid_zone(zone)
    valid_time(next_at)
    known = _timer(agent, timer)
    if known is not None and (known.schedule, known.zone) == (schedule, zone):
        if bool(known.heeds_moves) == heeds_moves:
            return []
        next_at = known.next_at
    at_most(TIMERS_MAX, len(agent.timers) + (known is None), "timers")
    return [e.TimerSet(timer, schedule, zone, next_at, heeds_moves)]


def remove_timer(agent: e.Agent, timer: str) -> list[e.AgentFact]:
    """Take a timer back, named by its id or an unambiguous beginning of it."""
    living(agent)
    return [e.TimerRemoved(named(timer, [known.id for known in agent.timers], "timer"))]


def tick(
    agent: e.Agent, timer: str, ticks: Iterable[str], next_at: str
) -> tuple[list[e.AgentFact], Trigger | None]:
    """A timer has fired: one trigger for all the ticks since the last time.

    Ticks before the timer's next one were counted already; a repeat, or a timer that is gone,
    gives nothing. Of more than `TICKS_MAX` ticks the first (it makes the run key) and the
    newest are named.

    Args:
        agent: Whose timer it is. A dormant one ticks too: `notice` suppresses its trigger.
        timer: Id of the timer.
        ticks: The times it stands for, in any order.
        next_at: The next one after them; empty if there is none.

    Raises:
        Refused: Code ``invalid_value``: `next_at` is not after the ticks.
    """
    known = _timer(agent, timer)
    if known is None or agent.lifecycle == "destroyed":
        return [], None
    if not (fresh := tuple(sorted({at for at in ticks if at >= known.next_at}))):
        return [], None
    if next_at and next_at <= fresh[-1]:
        raise invalid(f"the next tick {next_at} is not after {fresh[-1]}", "resolve it again")
    if len(fresh) > TICKS_MAX:
        fresh = (fresh[0], *fresh[1 - TICKS_MAX :])
    return [e.TimerTicked(timer, fresh, next_at)], Trigger("timer", timer, ticks=fresh)


def _timer(agent: e.Agent, timer: str) -> e.AgentTimer | None:
    return next((known for known in agent.timers if known.id == timer), None)


# ---------------------------------------------------------------------------- open loops of its own
# The open loops that an agent keeps itself: beside the person's, of which it closes none.

OWN_LOOPS_MAX = 10
NAMED_MAX = 80  # characters of a loop, in a message


class Updated(NamedTuple):
    """What comes of an agent's wish: facts, and why the rest of it is not done, as codes and
    texts for the model."""

    facts: list[e.LoopOpened | e.LoopClosed]
    refused: list[tuple[str, str]]


def update_loops(agent: e.Agent, add: Sequence[str], close: Sequence[str]) -> Updated:
    """Close loops, then open others, each as far as it may; texts are in one line."""
    by = f"agent:{agent.id}"
    version = agent.loops_version
    loops, own = list(agent.loops), list(agent.own_loops)
    done = Updated([], [])
    for loop in close:
        if code := _not_closed(loop, loops, own):
            done.refused.append((code, _WHY[code].format(_named(loop))))
            continue
        version += 1
        loops.remove(loop)
        own.remove(loop)
        done.facts.append(e.LoopClosed(version, loop, by))
    for loop in add:
        if code := _not_opened(loop, loops, own):
            done.refused.append((code, _WHY[code].format(_named(loop))))
            continue
        version += 1
        loops.append(loop)
        own.append(loop)
        done.facts.append(e.LoopOpened(version, loop, by))
    return done


_WHY = {
    "not_found": "There is no open loop {}.",
    "sovereignty": "The person keeps the loop {} open.",
    "redundant": "The loop {} is open already.",
    "limit": f"The loop {{}} is over the limit of {OWN_LOOPS_MAX} of yours, {LOOPS_MAX} in all.",
}


def _not_closed(loop: str, loops: Sequence[str], own: Sequence[str]) -> str:
    if loop not in loops:
        return "not_found"
    return "" if loop in own else "sovereignty"


def _not_opened(loop: str, loops: Sequence[str], own: Sequence[str]) -> str:
    if loop in loops:
        return "redundant"
    return "limit" if len(own) >= OWN_LOOPS_MAX or len(loops) >= LOOPS_MAX else ""


def _named(loop: str) -> str:
    return f'"{cut(loop, length_max=NAMED_MAX)}"'
