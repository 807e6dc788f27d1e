"""What an agent's attention makes of triggers, beginnings and ends (SPEC 3).

Every trigger ends in one `WakeQueued`, `TriggerMerged` or `TriggerSuppressed`; one that was
recorded before is a repeat and gives nothing. A wake that a person's request supersedes passes
all its triggers on: the newest `TRIGGERS_KEPT` are recorded once more, as merged into the new one,
the others are counted there. The first trigger of a wake makes its run key.

Changes are deferred first: due in `THROTTLE_SECONDS`, and later ones do not move that. A timer
is due when it ticks, and, like all that is at once, moves the wake it is merged into forward.
`at` never goes back within a replica."""

from collections.abc import Iterable

from domain.agent import wake_queue as q
from domain.agent.agent import Agent, Outcome, SleepOrdered
from domain.agent.deciders import living
from domain.errors import Refused, Remedy, invalid
from domain.log.timestamps import is_moment, later
from domain.log.wire import Part

THROTTLE_SECONDS = 120
HOPS_MAX = 3  # agents' writes that may lead to a wake, one after the other
FAILURES_MAX = 5  # in a row; then the agent is paused
BACKOFF_SECONDS = 60  # after a first failure; doubled by each further one
BACKOFF_SECONDS_MAX = 3600
PROVIDER_SECONDS_MAX = 86_400  # of a delay that the provider names

PERSON = frozenset({"manual", "user"})


class Setting(Part, frozen=True):
    """What a decision needs from outside. `propagated_due`: when a match only through a link is
    due, resolved in the person's time zone; empty: like any other. `throttle_seconds`: how long
    changes are deferred; 0: `THROTTLE_SECONDS`. `keeps_all`: see `RequestWake`."""

    is_enabled: bool  # the master switch
    propagated_due: str = ""
    throttle_seconds: int = 0
    keeps_all: bool = False


# -------------------------------------------------------------------------------------- triggers


def notice(
    wake_queue: q.WakeQueue,
    agent: Agent,
    trigger: q.Trigger,
    at: str,
    setting: Setting,
    *,
    origin: str = "person",
    is_seen: bool = False,
) -> list[q.WakeQueueFact]:
    """Route a change, a timer's tick or an agent's request: queued, merged or suppressed by the
    first rule that holds.

    Args:
        trigger: What was noticed; see `matching.trigger_of` and `identity.tick`.
        setting: The home's settings.
        origin: Who wrote the change: ``person``, ``import:<source>`` or ``agent:<id>``.
        is_seen: A wake of the agent saw the change, on whatever machine.

    Returns:
        One fact; none for a repeat. (More if a person's request is handed in here.)
    """
    if q.run_key_of(agent.id, trigger) in wake_queue.seen:
        return []
    rule = rule_against(agent, trigger, setting, origin=origin)
    if rule := rule or ("seen_elsewhere" if is_seen else None):
        return [q.TriggerSuppressed(trigger, rule)]
    if trigger.reason in PERSON:
        return _supersede(wake_queue, trigger, at, setting)
    return [_queue(wake_queue, agent, trigger, at, setting)]


def request(
    wake_queue: q.WakeQueue, agent: Agent, trigger: q.Trigger, at: str, setting: Setting
) -> list[q.WakeQueueFact]:
    """Queue a wake that is due at once: a person's, or of a creation or a resume.

    A person's wake clears the throttle and takes the place and the triggers of the queued one.
    While another wake runs it is the next; one that was backed off goes on first, now. The words of
    a question are the trigger's. Raises Refused of a person's request only, codes
    ``unknown_agent``, ``agent_dormant``, ``switched_off``, ``invalid_value`` (a question to an
    autonomous agent)."""
    if trigger.reason in PERSON and q.run_key_of(agent.id, trigger) not in wake_queue.seen:
        _may_ask(agent, trigger, setting)
    return notice(wake_queue, agent, trigger, at, setting)


def rule_against(
    agent: Agent, trigger: q.Trigger, setting: Setting, *, origin: str = "person"
) -> q.Rule | None:
    """The first rule that keeps a trigger from waking an agent; None where none does."""
    reason = trigger.reason
    if rule := _rule_of_life(agent, setting):
        return rule
    is_heard = {"autonomous": reason != "user", "interactive": reason in PERSON, "hybrid": True}
    if not is_heard[agent.mode]:
        return "mode"
    if reason not in q.AT_ONCE and not agent.is_automatic:
        return "automation_off"
    if reason == "request":
        return "hops" if trigger.hop > HOPS_MAX else None
    by, _, writer = origin.partition(":")
    if by != "agent" or reason != "subscription":
        return None
    if writer == agent.id:
        return "own_write"
    meant = (known for known in agent.subscriptions if known.id == trigger.reason_id)
    if not any(known.hears_agents for known in meant):
        return "agent_write"
    return "hops" if trigger.hop > HOPS_MAX else None


def _rule_of_life(agent: Agent, setting: Setting) -> q.Rule | None:
    if agent.lifecycle in ("", "destroyed"):
        return "destroyed"
    if agent.lifecycle != "active":
        return "dormant"
    return None if setting.is_enabled else "switched_off"


def _is_deferred(agent: Agent, trigger: q.Trigger, setting: Setting) -> bool:
    """Whether a trigger waits for the morning."""
    defers = (
        known.defers_propagated for known in agent.subscriptions if known.id == trigger.reason_id
    )
    return trigger.is_propagated and setting.propagated_due != "" and any(defers)


def _queue(
    wake_queue: q.WakeQueue, agent: Agent, trigger: q.Trigger, at: str, setting: Setting
) -> q.WakeQueueFact:
    """A wake of its own, or one more trigger of the one that is queued."""
    is_deferred = _is_deferred(agent, trigger, setting)
    if trigger.reason in q.AT_ONCE:
        due_at = at
    elif trigger.reason == "timer":
        due_at = max(at, wake_queue.not_before)
    elif is_deferred:
        due_at = max(at, wake_queue.not_before, setting.propagated_due)
    else:
        due_at = max(throttled(at, setting.throttle_seconds), wake_queue.not_before)
    if (queued := wake_queue.queued) is None:
        return _wake(wake_queue.id, trigger, due_at)
    may_move = trigger.reason not in q.DEFERRED or (queued.is_propagated_only and not is_deferred)
    is_earlier = may_move and due_at < queued.due_at
    return q.TriggerMerged(queued.run_key, trigger, due_at if is_earlier else "")


def _supersede(
    wake_queue: q.WakeQueue, trigger: q.Trigger, at: str, setting: Setting
) -> list[q.WakeQueueFact]:
    """A wake of its own that inherits the triggers of the queued one."""
    made = _wake(wake_queue.id, trigger, at)
    facts: list[q.WakeQueueFact] = [made]
    if wake_queue.queued is not None:
        wake = wake_queue.queued
        left_out = wake.left_out if setting.keeps_all else 0
        facts += [q.TriggerMerged(made.run_key, inherited) for inherited in wake.triggers]
        facts.append(q.WakeDropped(wake.run_key, "superseded", made.run_key, left_out))
    if wake_queue.waiting is not None and wake_queue.waiting.until > at:
        facts.append(q.WakeBackedOff(wake_queue.waiting.run_key, at, "requested"))
    return facts


def _wake(agent: str, trigger: q.Trigger, due_at: str) -> q.WakeQueued:
    run_key = q.run_key_of(agent, trigger)
    is_session = trigger.reason == "user"
    thread = f"agent:session:{trigger.reason_id}" if is_session else f"agent:run:{run_key}"
    return q.WakeQueued(run_key, trigger, due_at, thread)


def _may_ask(agent: Agent, trigger: q.Trigger, setting: Setting) -> None:
    living(agent)
    if agent.lifecycle != "active":
        because = f"the agent {agent.name!r} is paused"
        raise Refused("agent_dormant", because=because, instead=Remedy("resume_agent"))
    if not setting.is_enabled:
        because = "all agents are switched off"
        instead = "set `agents.enabled` to true in settings.toml"
        raise Refused("switched_off", because=because, instead=instead)
    if trigger.reason == "user" and agent.mode == "autonomous":
        because = f"the agent {agent.name!r} is autonomous and takes no questions"
        raise Refused("invalid_value", because=because, instead=Remedy("wake_or_set_hybrid"))


# ------------------------------------------------------------------------------ beginning and end


def begin(
    wake_queue: q.WakeQueue,
    agent: Agent,
    run_key: str,
    at: str,
    setting: Setting,
    *,
    now: bool = False,
) -> list[q.WakeQueueFact]:
    """Begin the next wake, or go on with the one that was backed off.

    `run_key`: the wake; see `wake_queue.next_wake`. `setting`: the home's settings. `now`: a person
    has all that is queued run, due or not; who sleeps, sleeps. Returns `WakeBegun`; none if it runs
    already or is not due; `WakeDropped` (or `WakeSettled` where it had begun) if its agent may not
    wake any more. Then the wake ends ``skipped``. Raises Refused, code ``agent_running``: another
    one goes first; ``unknown_wake``."""
    if wake_queue.running == run_key:
        return []
    wake_queue = q.heeding(wake_queue, agent)
    wake = q.next_wake(wake_queue)
    if wake is None or wake.run_key != run_key:
        raise _not_next(wake_queue, run_key)
    if code := _rule_against_wake(agent, wake, setting, is_asked_for=now):
        return drop(wake_queue, run_key, code)
    due_at = q.asleep_until(wake, wake_queue) if now else q.due_of(wake, wake_queue)
    return [] if due_at > at else [q.WakeBegun(run_key)]


def drop(wake_queue: q.WakeQueue, run_key: str, code: str, by: str = "") -> list[q.WakeQueueFact]:
    """End a wake that does not run: one queued without a start, one that waits as skipped.

    Nothing for any other, the running one included: its machine stops at its next row, and
    `settle` follows."""
    if wake_queue.waiting is not None and wake_queue.waiting.run_key == run_key:
        return [q.WakeSettled(run_key, "skipped", wake_queue.failures, wake_queue.not_before)]
    if wake_queue.queued is not None and wake_queue.queued.run_key == run_key:
        return [q.WakeDropped(run_key, code, by)]
    return []


def drop_all_for_lifecycle(wake_queue: q.WakeQueue, code: str) -> list[q.WakeQueueFact]:
    """End all that waits, as the agent is paused (``dormant``), destroyed or switched off."""
    wakes = (wake_queue.waiting, wake_queue.queued)
    return [fact for wake in wakes if wake for fact in drop(wake_queue, wake.run_key, code)]


def back_off(
    wake_queue: q.WakeQueue, run_key: str, until: str, reason: str
) -> list[q.WakeQueueFact]:
    """Let a wake wait, begun or not: for its provider or for a budget."""
    known = {wake.run_key for wake in (wake_queue.begun, wake_queue.queued) if wake}
    return [q.WakeBackedOff(run_key, until, reason)] if run_key in known else []


def provider_until(wake_queue: q.WakeQueue, at: str, retry_seconds: int = 0) -> str:
    """Until when the begun wake waits for its provider.

    The delay that the provider names, at most a day; else 1, 2, 4 ... minutes up to an hour, by
    how often this wake has waited for it before."""
    if retry_seconds > 0:
        return later(at, seconds=min(retry_seconds, PROVIDER_SECONDS_MAX))
    backoffs = wake_queue.begun.backoffs if wake_queue.begun else 0
    return later(at, seconds=backoff_seconds(backoffs + 1))


def settle(
    wake_queue: q.WakeQueue, run_key: str, outcome: Outcome, at: str, throttle_seconds: int = 0
) -> list[q.WakeQueueFact]:
    """The begun wake has ended. Nothing if it is not the begun one.

    A failure arms a backoff. The throttle is armed only where a change, and nothing but
    changes, is queued behind it."""
    if wake_queue.begun is None or wake_queue.begun.run_key != run_key:
        return []
    held, queued = "", wake_queue.queued
    if queued is not None and all(trigger.reason in q.DEFERRED for trigger in queued.triggers):
        held = throttled(at, throttle_seconds)
    match outcome:
        case "completed":
            return [q.WakeSettled(run_key, outcome, 0, held)]
        case "failed":
            failures = wake_queue.failures + 1
            held = max(held, later(at, seconds=backoff_seconds(failures)))
            return [q.WakeSettled(run_key, outcome, failures, held)]
        case "skipped" | "superseded":  # pragma: no branch  # these are all outcomes
            held = max(held, wake_queue.not_before)
            return [q.WakeSettled(run_key, outcome, wake_queue.failures, held)]


def backoff_seconds(failures: int) -> int:
    """How long to wait after so many failures in a row, at least one.

    >>> [backoff_seconds(failures) for failures in (1, 2, 3, 7, 5_000)]
    [60, 120, 240, 3600, 3600]
    """
    doublings = min(failures - 1, 6)  # the sixth is beyond the limit already
    return min(BACKOFF_SECONDS << doublings, BACKOFF_SECONDS_MAX)


def throttled(at: str, seconds: int = 0) -> str:
    """Until when the changes of a moment are deferred; 0 seconds: the default."""
    return later(at, seconds=seconds or THROTTLE_SECONDS)


def must_pause(failures: int) -> bool:
    """Whether an agent has failed too often in a row."""
    return failures >= FAILURES_MAX


def _rule_against_wake(
    agent: Agent, wake: q.Queued, setting: Setting, *, is_asked_for: bool
) -> q.Rule | None:
    """Why a wake may not begin any more: its agent's life, or each of its triggers' own rule."""
    if (rule := _rule_of_life(agent, setting)) or is_asked_for or wake.begun_at:
        return rule
    rules = [rule_against(agent, trigger, setting) for trigger in wake.triggers]
    return rules[0] if all(rules) else None


def _not_next(wake_queue: q.WakeQueue, run_key: str) -> Refused:
    if (
        wake_queue.begun is not None
        and wake_queue.queued is not None
        and wake_queue.queued.run_key == run_key
    ):
        state = f"waits until {wake_queue.begun.until}" if wake_queue.begun.until else "is running"
        because = f"the wake {wake_queue.begun.run_key} of the same agent {state}"
        return Refused("agent_running", because=because, instead=Remedy("wait_until_free"))
    because = f"no wake {run_key} is queued for the agent"
    return Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))


# --------------------------------------------------------------------------------- sleep and cancel
# What a person says to an agent's attention, besides asking for a wake: sleep, and cancel.

CANCELLED = "cancelled"


def sleep(wake_queue: q.WakeQueue, agent: Agent, until: str, at: str) -> list[q.WakeQueueFact]:
    """What `order_sleep` does, as of 0.2.0: on one machine. Raises Refused, code ``unknown_agent``
    or ``invalid_value``."""
    _check_sleep(agent, until, at)
    before = wake_queue.sleeps_until or ""
    is_ended = not until and before <= at
    return [] if until == before or is_ended else [q.AgentSlept(until)]


def order_sleep(
    agent: Agent, queues: Iterable[q.WakeQueue], until: str, at: str
) -> list[SleepOrdered]:
    """Let nothing but a person wake an agent before a time; what comes meanwhile is kept.

    `queues`: its attention on each machine that is known. What was said there of its sleep, and is
    not over, counts no longer. `until`: as stored; empty: it sleeps no longer. `at`: when this is
    said. Returns one fact; none where it is so already. Raises Refused, code ``unknown_agent`` or
    ``invalid_value``."""
    _check_sleep(agent, until, at)
    asleep = [one for one in queues if not q.is_over(one, agent) and (one.sleeps_until or "") > at]
    over = sorted([one.slept for one in asleep if one.slept], key=lambda one: one.replica)
    before = agent.sleeps_until or ""
    is_so = until == before or (not until and before <= at)
    return [] if is_so and not over else [SleepOrdered(until, tuple(over))]


def _check_sleep(agent: Agent, until: str, at: str) -> None:
    living(agent)
    if until and (not is_moment(until) or until <= at):
        raise invalid(f"{until!r} is no time to come", "name a later one")


def cancel(wake_queue: q.WakeQueue, run_key: str) -> list[q.WakeQueueFact]:
    """Drop a queued wake with all its triggers. Raises Refused, code ``agent_running``: it has
    begun; ``unknown_wake``: it is not queued."""
    if wake_queue.begun is not None and wake_queue.begun.run_key == run_key:
        because = f"the wake {run_key} has begun, so it is not cancelled"
        raise Refused("agent_running", because=because, instead=Remedy("pause_agent"))
    if not (dropped := drop(wake_queue, run_key, CANCELLED)):
        because = f"no wake {run_key} is queued for the agent"
        raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
    return dropped
