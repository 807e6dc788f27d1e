"""Whether anything moved since an agent's last wake, so that a timer's asks a model (ADR 101).

A wake since scaffold 4 records what it was given in parts, ``name:value``. A timer whose agent
was given the same last time asks nobody: only the clock would be told anew. `due` and `held` go
in steps, since most days change nothing in what a date means."""

from bisect import bisect_right
from collections.abc import Iterator

from domain.agent.agent import Agent
from domain.changes.change_set import CHANGES
from domain.journal.task import TASK, Task
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import LogState
from domain.log.timestamps import wall
from domain.templates import template as templates
from domain.templates.template import Template
from domain.wake.commands import LocalTime, SkipWake
from domain.wake.day_context import days_between
from domain.wake.prompt import Prompt
from domain.wake.reading import PromptOptions
from domain.wake.wake import WakeStarted, anyones
from domain.wake.wake_inputs import snapshot_of

_OVERDUE = (1, 7, 30)  # days, from which on it says more
_AHEAD = ((0, "today"), (1, "tomorrow"), (3, "in-3"), (7, "in-7"))  # up to so many days
_HELD = (0, 3, 7, 14, 30)  # days
_NOTHING_SHOWN = Prompt((), ())


def moved_by(
    journal: LogState, agents: LogState, agent: Agent, given: PromptOptions
) -> tuple[str, ...]:
    """The parts as both logs stand in these worlds, in a fixed order.

    `agents`: where its proposals and its template are. `agent`: whose wake it is, as `agents` has
    it. `given`: the scaffold, and what the person's clock shows. Returns None, which always asks,
    before scaffold 4, of an agent without a task, and where nobody knows the person's clock."""
    if given.local is None or not (agent.task and given.features.heeds_moves):
        return ()
    task = journal.load(TASK, agent.task)
    seen = snapshot_of(journal, agent, 0, "timer", given, _NOTHING_SHOWN)
    items = [
        (item.fingerprint, item.status, item.reason)
        for one in agents.load_each(CHANGES, agent.sets)
        if one.is_opened and one.task == task.id
        for item in one.items
    ]
    template = templates.load(agents, agent.template) if agent.template else Template("")
    slots = [
        (agent.goal.value, agent.loops, agent.categories),
        sorted((name, slot.value) for name, slot in agent.preferences.items() if slot.value),
        (template.id, template.active, template.active_of),
    ]
    return (
        f"task:{_digest(seen)}",
        f"rating:{_digest(task.ratings)}",
        f"due:{_due(task, given.local)}",
        f"held:{_held(task, given.local)}",
        f"proposals:{_digest(items)}",
        f"agent:{_digest(slots)}",
    )


def _digest(value: object) -> str:
    return key("moved", canonical.encode(value))


def _due(task: Task, local: LocalTime) -> str:
    """How far off its date is, and whether it still waits for its day."""
    waits = " waits" if local.time[:10] < task.wait_until else " back" if task.wait_until else ""
    if not task.due:
        return f"none{waits}"
    days = days_between(local.time, task.due)
    if days < 0:
        step = _OVERDUE[bisect_right(_OVERDUE, -days) - 1]
        return f"overdue{f'-{step}' * (step > 1)}{waits}"
    return next((name for most, name in _AHEAD if days <= most), "later") + waits


def _held(task: Task, local: LocalTime) -> str:
    """For how many days it has been blocked or on hold, in steps; empty where it is neither."""
    if task.status not in ("BLOCKED", "ON HOLD"):
        return ""
    since = wall(task.touched["status"].at, local.offset, local.earlier)
    return str(_HELD[max(0, bisect_right(_HELD, days_between(since, local.time)) - 1)])


def last_completed(agents: LogState, agent: Agent) -> WakeStarted | None:
    """What the last wake of an agent was given that ran; None where it did not complete."""
    return None if agent.last_outcome != "completed" else anyones(agents, agent.last_run).started


def is_same(last: WakeStarted, now: WakeStarted | SkipWake) -> bool:
    """Whether a wake would be given what the last one was, and by the same model and scaffold."""
    asks = (last.model, last.scaffold) == (now.model, now.scaffold)
    return asks and last.moved_by == now.moved_by != ()


def differences(last: WakeStarted, now: WakeStarted) -> Iterator[str]:
    """What moved since the last wake, a part each: ``task``, ``due in-7 -> in-3``."""
    for was, one in zip(last.moved_by, now.moved_by, strict=False):
        name, _, value = one.partition(":")
        told = f" {was.partition(':')[2] or 'no'} -> {value or 'no'}" * (name in ("due", "held"))
        yield from [f"{name}{told}"] if was != one else []
    yield from ["model"] if last.model != now.model else []
