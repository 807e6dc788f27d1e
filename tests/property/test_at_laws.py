"""The world at a moment, folded forward by one append, is the world after that append."""

import asyncio
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.models.rules.model import RulesModel
from adapters.runtime import effect_executor, review, watcher
from adapters.runtime.services import Services
from adapters.timetravel.logs_at import Past
from domain.agent import commands as agents
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.changes.change_set import CHANGES, is_open
from domain.errors import WakelogError
from domain.journal import commands as journal
from domain.journal.task import TASK
from domain.log.state import LogState
from domain.log.wire import Words, words
from replay import bisect, world_at
from tests.support.services import services, task_with_agent
from tests.support.standing import Standing

DEEDS = (
    "note long check link unlink delete restore pause resume confirm reject ask wake watch other"
)
NOTES = ("Due by 2027-02-12. Urgent!", "Takes 60 minutes.", "I need to buy milk.", "Das dauert.")


def do(here: Services, deed: str, nth: int, task: str, agent: str, other: str) -> None:
    """One deed, if the rules allow it now."""
    match deed:
        case "note":
            here.append_journal(journal.AddNote(task, "note", Words(NOTES[nth % len(NOTES)])))
        case "long":
            said, kept = words(task, f"{nth} " + "many words " * 200)
            here.append_journal(journal.AddNote(task, "transcript", said), payloads=kept)
        case "check":
            here.append_journal(journal.AddItems(task, (f"item {nth}",)))
        case "link":
            here.append_journal(journal.LinkTask(task, "blocks", other))
        case "unlink":
            here.append_journal(journal.UnlinkTask(task, "blocks", other))
        case "delete":
            here.append_journal(journal.DeleteTask(task))
        case "restore":
            here.append_journal(journal.RestoreTask(task))
        case "pause":
            here.append_agent(agents.PauseAgent(agent))
        case "resume":
            here.append_agent(agents.ResumeAgent(agent, is_enabled=True))
        case "ask":
            here.append_agent(agents.RequestWake(agent, "manual", is_enabled=True))
        case "watch":
            watcher.catch_up(here)
        case "label" | "suppress":
            name = f"label {nth}"
            here.append_journal(journal.AddLabel(name))
            change: dict[str, Any] = {"assign" if deed == "label" else "suppress": (name,)}
            here.append_journal(journal.ChangeLabels(task, **change))
        case "destroy":
            here.append_agent(agents.DestroyAgent(agent))
        case "other":
            here.append_journal(journal.CreateTask(f"Another {nth}"))
        case "wake":
            with here.agents.reading() as world:
                queued = next_wake(world.load(WAKE_QUEUE, agent))
            if queued is not None:
                asyncio.run(effect_executor.run_wake(here, agent, queued.run_key, is_now=True))
        case _:
            decide(here, deed, agent)


def decide(here: Services, verb: str, agent: str) -> None:
    with here.agents.reading() as world:
        sets = [world.load(CHANGES, one) for one in world.load(AGENT, agent).sets]
    items = [(one.id, item.number) for one in sets for item in one.items if is_open(item)]
    if items and verb == "confirm":
        review.confirm(here, *items[0])
    elif items:
        review.reject(here, *items[0], "no")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(DEEDS.split()), min_size=3, max_size=14))
def test_a_world_folded_forward_by_an_append_is_the_next_world(deeds: list[str]) -> None:
    here = services(model=RulesModel())
    task, agent = task_with_agent(here)
    other = here.append_journal(journal.CreateTask("Paint the door")).result.ids[0]
    for nth, deed in enumerate(("note", "label", "wake", *deeds)):
        with suppress(WakelogError):
            do(here, deed, nth, task, agent, other)
    past = Past(here.journal, here.agents)
    standings = {log.name: Standing("r1", log.payload) for log in (here.journal, here.agents)}
    reached = {"journal": 0, "agent": 0}
    appends = [(log.name, rows) for log in (here.journal, here.agents) for rows in log.appends()]
    for name, rows in sorted(appends, key=lambda one: one[1][0].at):
        standings[name].take(rows)
        reached[name] = rows[0].n
        tasks = standings["journal"].entities(TASK)
        forward = world_at.world_document(standings["journal"], standings["agent"], tasks, {})
        then = world_at.LogMoment(reached["journal"], reached["agent"])
        assert forward == world_at.world_document(*past.worlds(then), tasks, {})


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(DEEDS.split()), min_size=3, max_size=10), st.randoms())
def test_worlds_in_any_order_are_the_same_as_each_alone(deeds: list[str], dice: object) -> None:
    """What a history keeps of one moment never shows in another one."""
    here = services(model=RulesModel())
    task, agent = task_with_agent(here)
    for nth, deed in enumerate(("note", "wake", *deeds)):
        with suppress(WakelogError):
            do(here, deed, nth, task, agent, task)
    past = Past(here.journal, here.agents)
    numbers = list(range(here.agents.tail().n + 1))
    dice.shuffle(numbers)  # type: ignore[attr-defined]  # Hypothesis gives a Random
    for n in numbers:
        assert states(past.agents.world(n), agent) == states(here.agents.world_at(n), agent)


def states(world: LogState, agent: str) -> tuple[object, ...]:
    return world.load(AGENT, agent), world.load(WAKE_QUEUE, agent)


@given(st.integers(0, 3000), st.data())
def test_bisect_finds_the_first_in_at_most_log2_plus_one_probes(
    count: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, count + 1))
    found = bisect.bisect(count, lambda nth: nth >= first)
    assert found.since == (first if first <= count else 0)
    assert len(found.probes) <= count.bit_length()  # floor(log2) + 1, and none of nothing
    assert len({probe.nth for probe in found.probes}) == len(found.probes)
