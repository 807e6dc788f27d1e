"""Facts of the agent log as machines say them apart from each other, and what each knows."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from domain.agent import agent as a
from domain.agent.memory import MemoryFolded
from domain.changes import change_set as ch
from domain.lessons import lessons as le
from domain.log.state import RecordedEvent
from domain.log.wire import Imported, Stored, Words
from domain.policy import policy as p
from domain.replication.merge import effective
from domain.templates import template as te
from tests.support.sides import Sides, folded

REPLICAS = ("r0", "r1", "r2")
IDS, NUMBERS = st.sampled_from(("1", "2")), st.integers(1, 2)
DAYS = st.integers(1, 9).map(lambda day: f"2027-01-0{day}T07:00:00.000000Z")
CATEGORIES = st.sets(st.sampled_from(("c1", "c2", "c3")), min_size=1).map(
    lambda found: tuple(sorted(found))
)
MODELS = st.sampled_from(("gemini:*", "gemini:pro", "rules"))
WORDS = st.builds(Words, IDS)
PERSON = st.just("person")


def _memory(sources: Sequence[int], depth: int) -> MemoryFolded:
    notes = tuple(f"{10 * one}-0@r0" for one in sorted(sources))
    name = f"{depth} {' '.join(notes)}"
    named = notes if depth == 1 else tuple(f"1 {one}" for one in notes)
    return MemoryFolded(name, depth, notes[0], notes[-1], 1, named, Words(), 1, "", "")


SEEN = st.lists(
    st.builds(Imported, st.sampled_from(REPLICAS), st.integers(1, 9)),
    max_size=3,
    unique_by=lambda one: one.replica,
).map(tuple)
OF_KIND: dict[str, st.SearchStrategy[Any]] = {
    "agent:a1": st.one_of(
        st.builds(
            a.AgentCreated, st.just("task_agent"), st.just("t"), st.just(1), IDS,
            st.just("hybrid"), CATEGORIES, st.integers(1, 9), SEEN,
        ),
        st.builds(a.AgentNamed, IDS),
        st.builds(a.CategoriesAllowed, CATEGORIES),
        st.builds(a.AutomationSet, st.booleans()),
        st.builds(a.GoalSet, NUMBERS, IDS),
        st.builds(a.LoopOpened, NUMBERS, IDS, st.sampled_from(("", "agent:a1"))),
        st.builds(a.LoopClosed, NUMBERS, IDS),
        st.builds(a.PreferenceSet, NUMBERS, IDS, IDS),
        *(st.builds(one) for one in (a.AgentActivated, a.AgentDestroyed, a.AgentDeleted)),
        st.builds(a.AgentPaused),
        st.builds(a.Subscribed, IDS, st.just(("id:t",)), hears_agents=st.booleans()),
        st.builds(a.Unsubscribed, IDS),
        st.builds(a.TimerSet, IDS, st.just("every day 07:00"), st.just("UTC"), DAYS),
        st.builds(a.TimerRemoved, IDS),
        st.builds(a.TimerTicked, IDS, st.just(()), DAYS),
        st.builds(a.AgentReported, IDS),
        st.builds(a.SleepOrdered, st.one_of(st.just(""), DAYS), SEEN),
        st.builds(
            a.AgentSettled, IDS, st.sampled_from(("completed", "failed", "skipped")),
            position=st.integers(1, 9), seen=SEEN,
        ),
    ),
    "changes:s1": st.one_of(
        st.builds(
            ch.ItemProposed, NUMBERS, st.just("set_title"), WORDS, st.just(""), IDS, st.just(""),
            st.just(""),
        ),
        st.builds(ch.SetOpened, st.just("a1"), st.just("t1"), st.just("run")),
        st.builds(ch.ItemConfirming, NUMBERS, PERSON, NUMBERS, IDS, NUMBERS),
        st.builds(ch.ItemConfirmed, NUMBERS, NUMBERS, NUMBERS),
        st.builds(ch.ItemFailed, NUMBERS, NUMBERS, st.just("stale"), st.just("")),
        st.builds(ch.ItemRejected, NUMBERS, PERSON, NUMBERS),
        st.builds(ch.ItemDeferred, NUMBERS, PERSON, NUMBERS),
        st.builds(ch.ItemRetracted, NUMBERS, PERSON),
        st.builds(ch.ItemExpired, NUMBERS),
        st.builds(ch.ItemReopened, NUMBERS, PERSON),
        st.builds(ch.UndoAsked, NUMBERS, PERSON, NUMBERS, IDS, IDS, NUMBERS),
        st.builds(
            ch.ItemUndone, NUMBERS, NUMBERS, IDS, IDS, NUMBERS, st.sampled_from(["", "stale"])
        ),
        st.builds(ch.VerdictsSeen, NUMBERS, st.sampled_from(["confirmed", "rejected"])),
    ),
    "policy:main": st.one_of(
        st.builds(p.ConsentGiven, MODELS, CATEGORIES, NUMBERS, CATEGORIES),
        st.builds(p.ConsentWithdrawn, MODELS, st.one_of(st.just(()), CATEGORIES)),
        st.builds(p.ModelsRuled, IDS, st.lists(MODELS, max_size=2, unique=True).map(tuple)),
    ),
    "memory:a1": st.builds(
        _memory, st.sets(st.integers(1, 5), min_size=1, max_size=3), st.integers(1, 2)
    ),
    "lessons:template:m1": st.one_of(
        st.builds(
            le.LessonDecided, IDS, NUMBERS, st.just("tool"),
            st.sampled_from(("confirmed", "rejected", "reopened", "undone")),
            at=st.sampled_from(("", "2027-01-01", "2028-01-01")),
        ),
        st.builds(le.WakeRan, IDS, NUMBERS, st.just("completed"), st.booleans()),
        st.builds(le.WakeRated, IDS, NUMBERS),
        st.builds(le.ToolRuled, IDS, st.booleans()),
    ),
    "template:m1": st.one_of(
        st.builds(te.TemplateCreated, st.just("task_agent"), IDS),
        st.builds(te.TemplateNamed, IDS),
        st.builds(te.VersionAdded, NUMBERS, st.just("user"), WORDS, WORDS),
        st.builds(te.VersionActivated, NUMBERS, st.sampled_from(("", *REPLICAS))),
        st.builds(te.InstanceAdded, IDS),
        st.builds(te.InstanceRemoved, IDS),
        st.builds(te.TemplateDeleted),
    ),
}  # fmt: skip
"""By entity, what may be said of it: any order, any numbers, also those that no decider gives."""

MEETINGS = st.sets(st.sampled_from(REPLICAS), min_size=2)


def saying(said: st.SearchStrategy[Any], most: int = 14) -> st.SearchStrategy[list[Any]]:
    """Steps in which a replica says something or some meet, the latter less often."""
    one = st.tuples(st.sampled_from(REPLICAS), said)
    return st.lists(st.one_of(one, one, one, MEETINGS), min_size=most // 3, max_size=most)


def played(steps: Any, of: str, sides: Sides | None = None) -> Sides:
    """What machines said of an entity by steps of `saying`."""
    sides = sides or Sides()
    for step in steps:
        if isinstance(step, tuple):
            sides.says(step[0], step[1], of=of)
        else:
            sides.meet(*step)
    return sides


def known(sides: Sides, replica: str, of: str) -> list[RecordedEvent]:
    """The rows of an entity that a replica knows, in canonical order."""
    have = sides.known.get(replica, set())
    return [row for row in sides.of(of) if (row.replica, row.n) in have]


def state(sides: Sides, replica: str, of: str) -> Any:
    """What an entity is to a replica."""
    return folded(effective(known(sides, replica, of), sides.knows), of)


def heads(sides: Sides, of: str, *facts: type[Stored]) -> list[RecordedEvent]:
    """The rows of these facts that no later row of them knows of."""
    rows = [row for row in sides.of(of) if isinstance(row.fact, facts)]
    return [
        row
        for nth, row in enumerate(rows)
        if not any(sides.knows(one, row) for one in rows[nth + 1 :])
    ]
