"""Laws of attention and matching, from any state that any history leaves behind."""

from hypothesis import given
from hypothesis import strategies as st

from domain.agent.agent import Agent, AgentPaused, AutomationSet, Outcome, Subscribed, Subscription
from domain.agent.subscriptions import Batch, match
from domain.agent.wake_queue import (
    AT_ONCE,
    SEEN_KEPT,
    TRIGGERS_KEPT,
    Reason,
    Rule,
    Trigger,
    TriggerMerged,
    TriggerSuppressed,
    WakeBackedOff,
    WakeBegun,
    WakeDropped,
    WakeQueue,
    WakeQueued,
    WakeQueueFact,
    WakeSettled,
    due_of,
    next_due,
    next_wake,
    run_key_of,
    run_status,
)
from domain.agent.wake_queue_rules import (
    PERSON,
    Setting,
    backoff_seconds,
    begin,
    drop,
    notice,
    request,
    settle,
)
from domain.errors import Refused
from domain.log.timestamps import later
from tests.support.agents import (
    ACTIVE,
    AGENT_ID,
    BUILT_IN,
    ON,
    after,
    asked,
    born,
    change,
    due,
    ticked,
    wake_queue_of,
)

REASONS: tuple[Reason, ...] = ("user", "manual", "creation", "recovery")
OUTCOMES: tuple[Outcome, ...] = ("completed", "failed", "skipped", "superseded")
RULES: tuple[Rule, ...] = ("dormant", "own_write", "agent_write", "hops", "mode")
EARS = Subscribed("ears", ("key:TASK",), hears_agents=True, defers_propagated=True)

numbers = st.integers(0, 6)
times = st.integers(0, 20_000).map(after)
changes = st.builds(
    change,
    numbers,
    subscription=st.sampled_from([BUILT_IN, "ears", "gone"]),
    is_propagated=st.booleans(),
    hop=st.integers(0, 5),
)
ticks = st.lists(times, max_size=3).map(lambda found: ticked(*sorted(found)))
requests = st.builds(asked, st.sampled_from(REASONS), numbers)
triggers: st.SearchStrategy[Trigger] = changes | ticks | requests
run_keys = triggers.map(lambda trigger: run_key_of(AGENT_ID, trigger)) | st.just("unknown")
facts: st.SearchStrategy[WakeQueueFact] = st.one_of(
    st.builds(
        lambda trigger, due_at: WakeQueued(run_key_of(AGENT_ID, trigger), trigger, due_at, ""),
        triggers,
        times,
    ),
    st.builds(TriggerMerged, run_keys, triggers, times | st.just("")),
    st.builds(TriggerSuppressed, triggers, st.sampled_from(RULES)),
    st.builds(WakeBegun, run_keys),
    st.builds(WakeDropped, run_keys, st.just("dormant")),
    st.builds(WakeDropped, run_keys, st.just("superseded"), run_keys, st.integers(0, 3)),
    st.builds(WakeBackedOff, run_keys, times, st.sampled_from(["provider", "budget"])),
    st.builds(WakeSettled, run_keys, st.sampled_from(OUTCOMES), numbers, times | st.just("")),
)


def lived(moves: list[tuple[str, Trigger, int]]) -> WakeQueue:
    """A state that deciders reach: each move is a trigger, or what happens to the next wake."""
    wake_queue = WakeQueue(AGENT_ID)
    for what, trigger, seconds in moves:
        at, wake = after(seconds), next_wake(wake_queue)
        found: list[WakeQueueFact] = []
        match what:
            case "trigger":
                found = notice(wake_queue, ACTIVE, trigger, at, ON)
            case "begin" if wake:
                found = begin(wake_queue, ACTIVE, wake.run_key, at, ON, now=True)
            case "back off" if wake_queue.running:
                found = [WakeBackedOff(wake_queue.running, at, "provider")]
            case "completed" | "failed" as outcome:
                found = settle(wake_queue, wake_queue.running, outcome, at)
        wake_queue = wake_queue_of(found, wake_queue, at)
    return wake_queue


moves = st.tuples(
    st.sampled_from(["trigger", "trigger", "begin", "back off", "completed", "failed"]),
    triggers,
    st.integers(0, 20_000),
)
queue_facts = st.lists(moves, max_size=12).map(lived)
settings = st.builds(Setting, is_enabled=st.booleans(), propagated_due=times | st.just(""))
agents = st.builds(
    born,
    st.sampled_from(["autonomous", "interactive", "hybrid"]),
    st.sampled_from([EARS, AgentPaused(), AutomationSet(is_on=False)]),
)
origins = st.sampled_from(["person", "import:x", "agent:other", f"agent:{AGENT_ID}"])


def about(found: list[WakeQueueFact], trigger: Trigger) -> list[WakeQueueFact]:
    """The facts in which a trigger ends."""
    ends = WakeQueued | TriggerMerged | TriggerSuppressed
    return [fact for fact in found if isinstance(fact, ends) and fact.trigger == trigger]


@given(queue_facts, agents, triggers, times, settings, origins)
def test_a_trigger_ends_in_exactly_one_fact_and_its_repeat_in_none(
    wake_queue: WakeQueue, agent: Agent, trigger: Trigger, at: str, setting: Setting, origin: str
) -> None:
    is_known = run_key_of(AGENT_ID, trigger) in wake_queue.seen
    found = notice(wake_queue, agent, trigger, at, setting, origin=origin)
    assert len(about(found, trigger)) == (not is_known)
    assert found == [] or not is_known
    assert (
        notice(wake_queue_of(found, wake_queue, at), agent, trigger, at, setting, origin=origin)
        == []
    )


@given(queue_facts, agents, st.sampled_from(REASONS), times, settings)
def test_a_request_is_answered_once_and_only_a_person_is_refused(
    wake_queue: WakeQueue, agent: Agent, reason: Reason, at: str, setting: Setting
) -> None:
    trigger = asked(reason, 99)
    try:
        found = request(wake_queue, agent, trigger, at, setting)
    except Refused:
        assert reason in PERSON
        return
    assert len(about(found, trigger)) == 1
    if reason in PERSON:
        assert not any(isinstance(fact, TriggerSuppressed) for fact in found)


@given(queue_facts, triggers, times, times | st.just(""))
def test_nothing_is_due_earlier_than_allowed(
    wake_queue: WakeQueue, trigger: Trigger, at: str, dawn: str
) -> None:
    agent = born("hybrid", EARS)
    found = notice(wake_queue, agent, trigger, at, Setting(is_enabled=True, propagated_due=dawn))
    known = wake_queue.queued
    then = wake_queue_of(found, wake_queue, at).queued
    if not found or then is None:
        return
    new_due = due_of(then, wake_queue)
    if trigger.reason in PERSON:
        assert new_due == at
    elif known is not None:  # merged: it moves forward or not at all, and never before now
        assert then.due_at == known.due_at or at <= then.due_at < known.due_at
        if trigger.reason == "subscription" and not known.is_propagated_only:
            assert then.due_at == known.due_at
    elif trigger.reason in AT_ONCE:
        assert new_due == at
    else:
        assert new_due >= max(at, wake_queue.not_before)
        if trigger.reason == "subscription" and not trigger.is_propagated:
            assert new_due == max(later(at, seconds=120), wake_queue.not_before)


@given(queue_facts, st.sampled_from(["manual", "user"]), times)
def test_a_request_inherits_every_trigger_of_the_queued_wake(
    wake_queue: WakeQueue, reason: Reason, at: str
) -> None:
    trigger = asked(reason, 99)
    then = wake_queue_of(request(wake_queue, ACTIVE, trigger, at, ON), wake_queue, at)
    assert then.queued is not None
    inherited = wake_queue.queued.triggers if wake_queue.queued else ()
    assert then.queued.triggers == (trigger, *inherited)
    assert then.queued.hop == max(one.hop for one in then.queued.triggers)
    assert (then.not_before, due_of(then.queued, then)) == ("", at)
    assert then.begun is None or then.running == wake_queue.running


@given(queue_facts, times, st.booleans())
def test_a_wake_begins_only_alone_and_when_it_may(
    wake_queue: WakeQueue, at: str, now: bool
) -> None:
    wake = next_wake(wake_queue)
    if wake is None:
        assert not due(wake_queue, at)
        return
    found = begin(wake_queue, ACTIVE, wake.run_key, at, ON, now=now)
    assert found == ([WakeBegun(wake.run_key)] if now or due(wake_queue, at) else [])
    then = wake_queue_of(found, wake_queue, at)
    if found:
        assert (then.running, next_due(then), run_status(then)) == (wake.run_key, "", "running")
        assert begin(then, ACTIVE, wake.run_key, at, ON) == []
        assert drop(then, wake.run_key, "dormant") == []


@given(queue_facts, st.sampled_from(OUTCOMES), times)
def test_an_end_frees_the_agent_and_holds_off_only_what_it_should(
    wake_queue: WakeQueue, outcome: Outcome, at: str
) -> None:
    if wake_queue.begun is None:
        assert settle(wake_queue, "x", outcome, at) == []
        return
    then = wake_queue_of(settle(wake_queue, wake_queue.begun.run_key, outcome, at), wake_queue, at)
    assert then.begun is None
    assert then.queued == wake_queue.queued
    assert then.failures == {"completed": 0, "failed": wake_queue.failures + 1}.get(
        outcome, wake_queue.failures
    )
    if outcome == "completed" and wake_queue.queued is None:
        assert then.not_before == ""
    if outcome == "failed":
        assert then.not_before > at
    if then.queued is not None and then.queued.is_urgent:
        assert next_due(then) == max(then.queued.due_at, then.queued.until)
    assert settle(then, wake_queue.begun.run_key, outcome, at) == []


@given(st.lists(facts, max_size=40))
def test_any_history_folds(history: list[WakeQueueFact]) -> None:
    wake_queue = wake_queue_of(history)
    assert len(wake_queue.seen) == len(set(wake_queue.seen)) <= SEEN_KEPT
    assert all(
        len(wake.triggers) <= TRIGGERS_KEPT
        for wake in (wake_queue.begun, wake_queue.queued)
        if wake
    )
    assert (run_status(wake_queue) == "running") == bool(wake_queue.running)
    assert (next_wake(wake_queue) is None) == (next_due(wake_queue) == "")


@given(st.integers(1, 10_000))
def test_backoff_grows_and_is_bounded(failures: int) -> None:
    assert 60 <= backoff_seconds(failures) <= backoff_seconds(failures + 1) <= 3600


tokens = st.lists(st.sampled_from("abcdef"), max_size=6).map(tuple)


@given(tokens, tokens, tokens)
def test_a_match_is_what_both_name_and_direct_wins(
    wanted: tuple[str, ...], direct: tuple[str, ...], propagated: tuple[str, ...]
) -> None:
    found = match(Subscription("s", wanted), Batch(1, "r1", "person", 0, direct, propagated))
    both = [token for token in "abcdef" if token in wanted and token in direct + propagated]
    if not both:
        assert found is None
    else:
        assert found == (tuple(both), not any(token in direct for token in both))
