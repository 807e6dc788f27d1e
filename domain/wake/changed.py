"""What changed since an agent's last wake: from its triggers and its task's later facts (SPEC 4).

An id is named only if it belongs to the task or to a linked task that the agent may see; all
others are counted.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence

from domain.agent.agent import Agent
from domain.agent.wake_queue_events import Trigger
from domain.journal.task import Task
from domain.wake.reading import ChangeSeen, TimerSeen
from domain.wire import tag_of
from domain.world import Recorded

_SUBJECTS = ("item", "note", "entry", "label", "checklist")
_THROUGH_LINK = "changed, through a link"


def fact_changes(
    rows: Iterable[Recorded], agent: Agent, linked: Container[str]
) -> list[ChangeSeen]:
    """The task's facts after the agent's position and not its own, one per id, kind and author.

    Args:
        rows: The rows of the task's stream that are new to the agent.
        agent: Whose position counts; on position 0 it has seen nothing, so nothing "changed".
        linked: Ids of linked tasks that the agent may see.
    """
    if not agent.position:
        return []
    counted = Counter(
        _described(row, linked)
        for row in rows
        if getattr(row.fact, "by", "") != f"agent:{agent.id}"
    )
    return [ChangeSeen(*what, times) for what, times in sorted(counted.items())]


def trigger_changes(
    triggers: Sequence[Trigger], task: Task, linked: Iterable[str], told: Iterable[ChangeSeen]
) -> tuple[list[ChangeSeen], int]:
    """What the triggers' tokens say beyond `told`, and how many ids may not be named."""
    tokens = sorted({(token, one.is_propagated) for one in triggers for token in one.tokens})
    told_ids = {change.subject for change in told}
    visible = {*_ids_of(task), *linked, *told_ids} if tokens else set()
    changes: list[ChangeSeen] = []
    hidden: set[str] = set()
    for token, is_propagated in tokens:
        namespace, _, name = token.partition(":")
        subject = name if namespace == "id" else token
        if namespace == "id" and name not in visible:
            hidden.add(name)
        elif is_propagated or subject not in told_ids:
            changes.append(ChangeSeen(subject, _THROUGH_LINK if is_propagated else "changed"))
    return changes, len(hidden)


def fired(triggers: Iterable[Trigger], agent: Agent) -> list[TimerSeen]:
    """The timers among the triggers, each with all ticks it stands for."""
    schedules = {timer.id: timer.schedule for timer in agent.timers}
    ticks: dict[str, set[str]] = {}
    for trigger in triggers:
        if trigger.reason == "timer":
            ticks.setdefault(trigger.reason_id, set()).update(trigger.ticks)
    return [
        TimerSeen(timer, schedules.get(timer, ""), tuple(sorted(times)))
        for timer, times in sorted(ticks.items())
    ]


def _described(row: Recorded, linked: Container[str]) -> tuple[str, str]:
    """Subject and description of a fact; a link's other end is named only if visible."""
    fact = row.fact
    subject = next((found for name in _SUBJECTS if (found := getattr(fact, name, ""))), "")
    target = getattr(fact, "target", "")
    if target and target in linked:
        subject = target
    return subject or row.entity, f"{tag_of(fact).split('.')[1]} by {_author(fact)}"


def _author(fact: object) -> str:
    origin = str(getattr(fact, "by", "")).partition(":")[0]
    return {"person": "person", "import": "import"}.get(origin, "another agent")


def _ids_of(task: Task) -> Iterable[str]:
    yield from (task.id, task.category, *task.labels, *task.suppressed)
    for part in (task.items, task.notes, task.checklists, task.time):
        yield from (one.id for one in part)
