"""The formal rules M1 to M7 and T1 to T3 as far as they are pure, each test by its letter (ADR 71,
73). Every one has a model of its own: the heads, the greatest, or what was said, by definition."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.agent import agent as a
from domain.agent import deciders
from domain.agent.agent import Agent
from domain.agent.wake_queue import (
    WAKE_QUEUE,
    Trigger,
    WakeBegun,
    WakeQueued,
    WakeSettled,
    run_key_of,
)
from domain.journal import task as t
from domain.log.state import LogState, RecordedEvent, joined
from domain.log.wire import Imported
from domain.replication.merge import MergedRows, canonical_position, effective, open_conflicts
from tests.support.agent_sides import (
    OF_KIND,
    REPLICAS,
    SEEN,
    heads,
    known,
    played,
    saying,
    state,
)
from tests.support.services import START
from tests.support.sides import Sides, folded

pytestmark = pytest.mark.slow

AGENT = "agent:a1"
MADE = a.AgentCreated("task_agent", "t1", 1, "Trip", "hybrid", ("c1",))
LIFE = ("active", "dormant", "destroyed", "deleted")
few = settings(max_examples=40)


def known_to_all(*base: Any) -> Sides:
    sides = Sides()
    sides.says("r0", *base, of=AGENT)
    sides.meet(*REPLICAS)
    return sides


@few
@given(steps=saying(st.builds(a.AgentSettled, st.just("w"), st.just("completed"), seen=SEEN)))
def test_m1_of_each_machines_journal_the_most_that_was_seen_counts(steps: Any) -> None:
    """M1: what an agent has seen of the journal is, of each replica, the greatest n."""
    sides = played(steps, AGENT, known_to_all(MADE, a.AgentActivated()))
    want: dict[str, int] = {}
    for row in sides.of(AGENT):
        if isinstance(row.fact, a.AgentSettled):
            for one in row.fact.seen or (Imported(row.replica, row.fact.position),):
                want[one.replica] = max(want.get(one.replica, 0), one.n)
    seen = {name: n for name, n in sides.state(AGENT).seen.items() if n}
    assert seen == {name: n for name, n in want.items() if n}


@few
@given(
    st.lists(st.dictionaries(st.sampled_from(REPLICAS), st.integers(1, 9)), max_size=4), st.data()
)
def test_m1_what_was_seen_is_joined_in_any_order(parts: Any, data: Any) -> None:
    """M1: the greatest n of each replica, in whatever order and however often it is told."""
    told = data.draw(st.permutations([*parts, *parts]))
    found: dict[str, int] = {}
    for one in told:
        found = joined(found, one)
    assert all(found[name] == max(one.get(name, 0) for one in parts) for name in found)
    assert set(found) == {name for one in parts for name in one}


def lived(sides: Sides, replica: str, deed: str) -> None:
    """A deed on an agent as its machine knows it."""
    agent = state(sides, replica, AGENT)
    if deed == "delete":
        facts = deciders.delete(agent) if agent.lifecycle == "destroyed" else []
    elif agent.lifecycle == "destroyed":
        facts = []
    else:
        facts = {"pause": deciders.pause, "resume": deciders.resume, "end": deciders.destroy}[deed](
            agent
        )
    if facts:
        sides.says(replica, *facts, of=AGENT)


def life(agent: Agent) -> str:
    return "deleted" if agent.is_deleted else agent.lifecycle


DEEDS = st.sampled_from((*("pause", "resume") * 5, "end", "delete"))


@settings(max_examples=150)
@given(sleeps=st.booleans(), steps=saying(DEEDS, 9))
def test_m2_of_lives_that_met_the_most_that_ended_stands(sleeps: bool, steps: Any) -> None:
    """M2: of an agent's concurrent lives deleted > destroyed > dormant > active stands."""
    sides = known_to_all(MADE, a.AgentActivated(), *([a.AgentPaused()] if sleeps else []))
    for step in steps:
        if isinstance(step, tuple):
            lived(sides, *step)
        else:
            sides.meet(*step)
    lives = a.AgentActivated, a.AgentPaused, a.AgentDestroyed, a.AgentDeleted
    ends = [lives.index(type(row.fact)) for row in heads(sides, AGENT, *lives)]
    assert life(sides.state(AGENT)) == LIFE[max(ends)]


@few
@given(steps=saying(st.builds(a.AgentReported, st.sampled_from(("w1", "w2", "w3")))))
def test_m3_the_report_head_is_that_of_who_knew_the_others_else_the_canonical_last(
    steps: Any,
) -> None:
    """M3: a pointer that knew the other stands, else that of the last replica and number."""
    sides = played(steps, AGENT, known_to_all(MADE))
    last: Any = max(heads(sides, AGENT, a.AgentReported), key=canonical_position, default=None)
    assert sides.state(AGENT).report == (last.fact.run_key if last else "")


@few
@given(st.permutations(REPLICAS), st.lists(st.sampled_from(REPLICAS), max_size=3))
def test_m3_what_knew_the_other_stands_else_the_canonical_last(order: Any, before: Any) -> None:
    """M3: a link has no rank, so its last maker stands, were it by replica and number."""
    sides = Sides()
    for replica in before:
        sides.says(replica, t.DueSet("person"))
    for nth, replica in enumerate(order):
        made = t.TaskLinked if nth % 2 else t.TaskUnlinked
        sides.says(replica, made("agent:a1" if nth else "person", "blocks", "t2"))
    last = max(
        (row for row in sides.of() if not isinstance(row.fact, t.DueSet)), key=canonical_position
    )
    assert bool(sides.state().links) == isinstance(last.fact, t.TaskLinked)
    sides.meet(*REPLICAS)
    sides.says(order[0], t.TaskLinked("agent:a1", "blocks", "t2"))
    assert sides.state().links


@few
@given(st.lists(st.tuples(st.sampled_from(REPLICAS), st.integers(0, 5)), max_size=8))
def test_m4_failures_are_each_machines_own_and_the_greatest_is_told(failed: Any) -> None:
    """M4: a streak of failures is owned by who wakes; of several the greatest counts."""
    sides, want = Sides(), dict.fromkeys(REPLICAS, 0)
    for replica, count in failed:
        trigger = Trigger("timer", "t", ticks=(str(len(sides.rows)),))
        run = run_key_of("a1", trigger)
        queued = WakeQueued(run, trigger, START, "")
        settled = WakeSettled(run, "failed", count)
        sides.says(replica, queued, WakeBegun(run), settled, of="alert:a1")
        sides.meet(*REPLICAS)
        want[replica] = count
    rows = {name: [one for one in sides.of("alert:a1") if one.replica == name] for name in REPLICAS}

    def world(replica: str) -> LogState:
        def read(stream: str, after: int) -> list[RecordedEvent]:
            return rows[stream.rpartition("@")[2]][after:]

        return LogState("agent", replica, 0, read, lambda _: None, replicas=REPLICAS)

    own = {name: world(name).load(WAKE_QUEUE, "a1").failures for name in REPLICAS}
    assert own == want
    assert max(own.values()) == max(want.values())


SLOTS = st.tuples(st.sampled_from(("goal", "tone")), st.sampled_from(("", "x", "y", "z")))


@few
@given(steps=saying(SLOTS))
def test_m5_a_slot_of_the_highest_version_stands_else_the_canonical_last(steps: Any) -> None:
    """M5: slots carry versions, of which the highest stands; ties by number and replica."""
    sides = known_to_all(MADE, a.AgentActivated())
    for step in steps:
        if isinstance(step, tuple):
            replica, (slot, value) = step
            wanted = (
                deciders.AgentSettings(goal=value)
                if slot == "goal"
                else deciders.AgentSettings(preferences=((slot, value),))
            )
            facts = deciders.configure(state(sides, replica, AGENT), wanted)
            if facts:
                sides.says(replica, *facts, of=AGENT)
        else:
            sides.meet(*step)
    agent = sides.state(AGENT)
    rows: list[Any] = sides.of(AGENT)
    goals = [row for row in rows if isinstance(row.fact, a.GoalSet)]
    last: Any = max(
        goals, key=lambda row: (row.fact.version, canonical_position(row)), default=None
    )
    assert agent.goal.value == (last.fact.goal if last else "")
    tones = [row for row in rows if isinstance(row.fact, a.PreferenceSet)]
    last = max(tones, key=lambda row: (row.fact.version, canonical_position(row)), default=None)
    tone = agent.preferences["tone"].value if "tone" in agent.preferences else ""
    assert tone == (last.fact.value if last else "")


def day(n: int) -> str:
    return f"2027-01-{n:02d}T07:00:00.000000Z"


def timed(sides: Sides, replica: str, deed: tuple[str, int]) -> None:
    """A deed on the timer as its machine knows it: no machine sets one that it has ticked past."""
    agent = state(sides, replica, AGENT)
    mine = [row.fact for row in known(sides, replica, AGENT)]
    ticks = (max(one.ticks) for one in mine if isinstance(one, a.TimerTicked))
    past = int(max(ticks, default=day(0))[8:10])
    what, days = deed
    facts: list[a.AgentFact] = []
    if what == "again" and agent.timers:
        sides.says(replica, *deciders.remove_timer(agent, "t"), of=AGENT)
        timed(sides, replica, ("set", days))
    elif what == "set":
        facts = deciders.set_timer(agent, "t", "every day 07:00", "UTC", day(past + days))
    elif what == "remove" and agent.timers:
        facts = deciders.remove_timer(agent, "t")
    elif what == "tick" and agent.timers:
        first = int(agent.timers[0].next_at[8:10])
        taken = [day(one) for one in range(first, first + days)]
        facts, _ = deciders.tick(agent, "t", taken, day(first + days))
    if facts:
        sides.says(replica, *facts, of=AGENT)


@settings(max_examples=150)
@given(
    steps=saying(
        st.tuples(
            st.sampled_from(("again", "again", "remove", "set", "tick", "tick")), st.integers(1, 3)
        )
    )
)
@example(
    steps=[("r0", ("again", 1)), ("r0", ("again", 3)), ("r0", ("again", 1)), ("r1", ("again", 2))]
)
def test_m6_of_a_timer_the_latest_tick_stands_and_a_removal_wins_over_ticks(steps: Any) -> None:
    """M6: of one schedule the later next tick stands, a removal wins; no tick is taken twice."""
    timer = a.TimerSet("t", "every day 07:00", "UTC", day(1))
    sides = known_to_all(MADE, a.AgentActivated(), timer)
    for step in steps:
        if isinstance(step, tuple):
            timed(sides, *step)
        else:
            sides.meet(*step)
    found = heads(sides, AGENT, a.TimerSet, a.TimerTicked, a.TimerRemoved)
    is_gone = not found or any(isinstance(row.fact, a.TimerRemoved) for row in found)
    agent = sides.state(AGENT)
    nexts = [getattr(row.fact, "next_at", "") for row in found]
    assert [one.next_at for one in agent.timers] == ([] if is_gone else [max(nexts)])
    for row in sides.of(AGENT):
        if isinstance(row.fact, a.TimerTicked):
            assert deciders.tick(agent, "t", row.fact.ticks, "") == ([], None)


@few
@given(before=st.booleans(), steps=saying(st.tuples(st.just("tick"), st.integers(1, 2)), 6))
def test_m6_a_pause_wins_over_ticks_that_did_not_know_it(before: bool, steps: Any) -> None:
    """M6: who was put to sleep anywhere sleeps, however many ticks were taken meanwhile."""
    timer = a.TimerSet("t", "every day 07:00", "UTC", day(1))
    sides = known_to_all(MADE, a.AgentActivated(), timer)
    if before:
        sides.says("r2", a.AgentPaused(), of=AGENT)
    for step in steps:
        if isinstance(step, tuple) and step[0] != "r2":
            timed(sides, *step)
    if not before:
        sides.says("r2", a.AgentPaused(), of=AGENT)
    assert sides.state(AGENT).lifecycle == "dormant"


def untimed(row: RecordedEvent) -> RecordedEvent:
    return replace(row, at="")


def told(conflict: Any) -> Any:
    values = [(untimed(side.row), side.value) for side in conflict.sides]
    return conflict.field, conflict.kind, conflict.stands, values


@pytest.mark.parametrize("of", OF_KIND)
@settings(max_examples=25)
@given(data=st.data(), wrong=st.integers(-200, 200), replica=st.sampled_from(REPLICAS))
def test_m7_a_clock_that_is_wrong_changes_nothing_of_agents_but_times(
    of: str, data: Any, wrong: int, replica: str
) -> None:
    """M7: no wall clock decides. One machine's is hours off; what counts, and is open, is alike."""
    steps = data.draw(saying(OF_KIND[of]))
    right, sides = played(steps, of), Sides()
    sides.minutes[replica] = wrong
    played(steps, of, sides)
    assert [untimed(row) for row in sides.counted(of)] == [
        untimed(row) for row in right.counted(of)
    ]
    assert [told(one) for one in sides.open(of)] == [told(one) for one in right.open(of)]
    if of.startswith("lessons:"):
        assert verdicts(sides.state(of)) == verdicts(right.state(of))


def verdicts(lessons: Any) -> Any:
    """The last verdict on each item; their order is that of time."""
    return {(one.changes, one.item): one.verdict for one in lessons.tools.get("tool", ())}


@pytest.mark.parametrize("of", OF_KIND)
@settings(max_examples=25)
@given(data=st.data())
def test_t1_all_who_hold_the_same_rows_of_agents_hold_the_same_state(of: str, data: Any) -> None:
    """T1: each machine folds what it was told in the order in which it was told; once all have
    met, and in whatever order, their states are the same."""
    sides = played(data.draw(saying(OF_KIND[of])), of)
    sides.meet(*REPLICAS)
    want = sides.state(of)
    arrived = data.draw(st.permutations(sides.of(of)))
    assert folded(effective(sorted(arrived, key=canonical_position), sides.knows), of) == want
    assert [state(sides, one, of) for one in REPLICAS if one in sides.known] == [
        want for one in REPLICAS if one in sides.known
    ]


@pytest.mark.parametrize("of", OF_KIND)
@settings(max_examples=25)
@given(data=st.data())
def test_t1_a_state_is_folded_on_by_who_knows_all(of: str, data: Any) -> None:
    """T1: a state that was kept, and own rows after it, is the state of all rows anew."""
    sides = played(data.draw(saying(OF_KIND[of])), of)
    sides.meet(*REPLICAS)
    before, open_then = list(sides.counted(of)), len(sides.open(of))
    for fact in data.draw(st.lists(OF_KIND[of], min_size=1, max_size=4)):
        before.append(sides.says("r0", fact, of=of))
        assert list(sides.counted(of)) == before
        if not of.startswith("changes:"):  # there a proposal may come after what was said of it
            assert len(sides.open(of)) <= open_then


@pytest.mark.parametrize("of", OF_KIND)
@settings(max_examples=25)
@given(data=st.data())
def test_t1_of_agents_that_were_always_alone_every_row_counts(of: str, data: Any) -> None:
    """T1 holds as ever where each machine met the others before it said a thing."""
    steps = [one for step in data.draw(saying(OF_KIND[of])) for one in (set(REPLICAS), step)]
    sides = played(steps, of)
    rows = sides.of(of)
    assert list(sides.counted(of)) == rows
    assert MergedRows(rows, sides.knows).counted == rows
    assert open_conflicts(rows, sides.knows) == ()
