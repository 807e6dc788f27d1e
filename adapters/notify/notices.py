"""What waits for a person, found in the agent log and looked at again before it is told.

A notice is a view and no fact: nothing is decided by it and neither log tells of it. Three things
are told: an agent was paused after failures, a set of proposals was opened, and a wake needs a
consent or a key."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from adapters.runtime.services import Services
from domain.agent.agent import AGENT, AgentPaused
from domain.agent.wake_queue import HELD, WAKE_QUEUE, WakeBackedOff
from domain.changes.change_set import CHANGES, SetOpened
from domain.journal.task import TASK
from domain.log.state import LogState, RecordedEvent

What = Literal["proposals", "paused", "consent", "secret"]
_WORDS: dict[What, str] = {
    "paused": "the agent is paused after failures",
    "consent": "a wake needs your consent",
    "secret": "a wake needs a key",
}
TITLE_MAX = 200
LINES_MAX = 20


class NoticeTrigger(NamedTuple):
    """Something that began to wait with append n: a change set, or an agent's pause or wake."""

    n: int
    what: What
    entity: str


class WaitingTask(Struct, frozen=True, omit_defaults=True):
    """One task for which something waits, or an agent without one; `proposals` counts those that
    nobody decided of. Receivers elsewhere are not told its title."""

    task_id: str
    agent_id: str
    what: list[What]
    proposals: int = 0
    title: str = ""


class Message(Struct, frozen=True, omit_defaults=True):
    """What a receiver is told; it is repeated under the same `id`, and only then."""

    id: str
    count: int
    waits: list[WaitingTask]
    title: str = ""
    text: str = ""


def found_in(rows: Iterable[RecordedEvent]) -> list[NoticeTrigger]:
    """What began to wait in some rows of the agent log."""
    return [one for one in map(_found, rows) if one is not None]


def _found(row: RecordedEvent) -> NoticeTrigger | None:
    match row.fact:
        case SetOpened():
            return NoticeTrigger(row.n, "proposals", row.entity)
        case AgentPaused(reason="failures"):
            return NoticeTrigger(row.n, "paused", row.entity)
        case WakeBackedOff(reason="consent" | "secret" as reason):
            return NoticeTrigger(row.n, "consent" if reason == "consent" else "secret", row.entity)
        case _:
            return None


def message_of(
    services: Services, found: Sequence[NoticeTrigger], message_id: str
) -> Message | None:
    """What of it still waits, a line for each task, with its titles; None where nothing does."""
    things = {(one.what, one.entity): one for one in found}.values()  # each is told once
    with services.agents.reading() as world:
        waits = _together(filter(None, (_still(world, one) for one in things)))
    if not waits:
        return None
    with services.journal.reading() as journal, services.agents.reading() as agents:
        titles = [
            journal.load(TASK, one.task_id).title
            if one.task_id
            else agents.load(AGENT, one.agent_id).name
            for one in waits
        ]
    named = [_named(one, title) for one, title in zip(waits, titles, strict=True)]
    lines = [f"{one.title}: {_told(one)}" for one in named[:LINES_MAX]]
    if len(named) > LINES_MAX:
        lines.append(f"and {len(named) - LINES_MAX} more")
    title = f"wakelog: {_who(named)} for you"
    return Message(message_id, len(named), named, title, "\n".join(lines))


def _who(named: Sequence[WaitingTask]) -> str:
    """How many tasks wait, and how many agents that have none."""
    tasks = sum(bool(one.task_id) for one in named)
    counts = (("task", tasks), ("agent", len(named) - tasks))
    told = [f"{count} {what}{'s' * (count > 1)}" for what, count in counts if count]
    return f"{' and '.join(told)} {'waits' if len(named) == 1 else 'wait'}"


def without_texts(message: Message) -> Message:
    """The message in ids and counts alone."""
    return Message(message.id, message.count, [replace(one, title="") for one in message.waits])


def _still(world: LogState, one: NoticeTrigger) -> WaitingTask | None:
    """What a person finds now; None where it is done with."""
    if one.what == "proposals":
        changes = world.load(CHANGES, one.entity)
        count = sum(item.status == "pending" for item in changes.items)
        return WaitingTask(changes.task, changes.agent, ["proposals"], count) if count else None
    agent = world.load(AGENT, one.entity)
    if one.what == "paused":
        waits = agent.lifecycle == "dormant" and agent.pause_reason == "failures"
    else:
        known = world.load(WAKE_QUEUE, one.entity)
        waits = any(wake and wake.waits_for in HELD for wake in (known.waiting, known.queued))
    return WaitingTask(agent.task, agent.id, [one.what]) if waits else None


def _together(waits: Iterable[WaitingTask]) -> list[WaitingTask]:
    """One for each task; a thing that began to wait twice is told once."""
    by_task: dict[str, WaitingTask] = {}
    for one in waits:
        about = one.task_id or one.agent_id
        before = by_task.get(about, WaitingTask(one.task_id, one.agent_id, []))
        what = [*before.what, *(new for new in one.what if new not in before.what)]
        proposals = before.proposals + one.proposals
        by_task[about] = WaitingTask(one.task_id, one.agent_id, what, proposals)
    return list(by_task.values())


def _named(one: WaitingTask, title: str) -> WaitingTask:
    shown = "".join(char if char.isprintable() else " " for char in title[:TITLE_MAX])
    return replace(one, title=shown)


def _told(one: WaitingTask) -> str:
    plural = "" if one.proposals == 1 else "s"
    proposals = [f"{one.proposals} proposal{plural}"] if one.proposals else []
    return ", ".join([*proposals, *(_WORDS[what] for what in one.what if what in _WORDS)])
