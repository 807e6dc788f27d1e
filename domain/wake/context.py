"""From the worlds of both logs to what one agent may read (SPEC 4). It loads and decides scope.

Only the owned task and its direct links are read. A payload is read only for what can be
shown: the log newest first until the prompt would be full.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from domain import canonical
from domain.agent.agent import Agent, Observation
from domain.agent.memory import numbers
from domain.changes.change_set import OPEN, ChangeSet
from domain.errors import Refused, Remedy
from domain.journal.catalog import CATALOG, Catalog, Category, available, category_of
from domain.journal.fold import TASK
from domain.journal.task import Note, Task, TimeEntry, rating_of
from domain.policy.projections import project
from domain.text import fold
from domain.timestamps import seconds_between
from domain.wake.changed import fact_changes, fired, trigger_changes
from domain.wake.linked import linked
from domain.wake.memory import readable_digests, readable_notes
from domain.wake.prompt_text import newest_of
from domain.wake.reading import (
    CorrectionSeen,
    DigestSeen,
    EntrySeen,
    Given,
    ItemSeen,
    LabelSeen,
    Limits,
    LinkedAgent,
    ObservationSeen,
    OriginSeen,
    ProposalSeen,
    Reading,
    ReportShown,
    SlotsSeen,
    TaskSeen,
    TimeSeen,
    VerdictSeen,
    WakeReason,
)
from domain.wire import Words
from domain.world import MAIN, Recorded, World

ENTRY_MIN_BYTES = 60
"""Of a log entry's frame in the prompt: what even an empty one takes."""
DEFAULTS = Limits()
GIVEN = Given()
VERDICTS = ("confirmed", "rejected", "deferred")


def gather(  # noqa: PLR0913  two logs and what a caller finds in their other streams
    journal: World,
    agents: World,
    agent: Agent,
    asked: WakeReason,
    *,
    report: ReportShown | None,
    sets: Sequence[ChangeSet],
    linked_agents: Mapping[str, LinkedAgent],
    limits: Limits = DEFAULTS,
    given: Given = GIVEN,
) -> Reading:
    """Read what a wake of the agent may see. Fails closed: no scope, no reading.

    Args:
        journal: The journal at the position that the wake is rendered at.
        agents: The agent log at its position; it holds the texts of observations.
        agent: Whose wake it is.
        asked: Why it wakes.
        report: Its current report, if there is one.
        sets: Its change sets; those of other tasks, or not opened yet, are left out.
        linked_agents: By id of linked task: what its agent says.
        limits: Bounds what is read at all.
        given: What the wake's command says: its scaffold, the person's clock.

    Raises:
        Refused: Code ``unknown_task``, ``task_deleted``, or ``out_of_scope`` where the task has
            no category or one that the agent is not allowed; ``overshared_payload_blocked``.
    """
    task = journal.load(TASK, agent.task)
    _check(task, agent)
    catalog = journal.load(CATALOG, MAIN)
    category = category_of(catalog, task.category)
    links = linked(journal, task, agent, linked_agents, given.scaffold)
    seen = {link.id for link in links if link.id}
    later = _later(journal, agent) if agent.position else ()
    facts = fact_changes(later, agent, seen)
    others, hidden = trigger_changes(asked.triggers, task, seen, facts)
    suppressed, free = _labels(catalog, task)
    text = agents.text if given.scaffold >= 2 else None
    proposals, verdicts = _proposed(sets, task.id, text)
    observed, critical = _observed(agents, agent, given.scaffold)
    return Reading(
        task=project(
            "own_task",
            _task(journal, task, catalog, category, limits, given.scaffold),
            given.scaffold,
        ),
        reason=asked.reason,
        slots=_slots(agent),
        suppressed=suppressed,
        available=free,
        corrections=_corrections(journal, category, limits),
        linked=links,
        report=report,
        critical=critical,
        journal=observed,
        proposals=proposals,
        verdicts=verdicts,
        changes=tuple(sorted((*facts, *others), key=lambda one: (one.subject, one.what))),
        hidden=hidden,
        timers=tuple(fired(asked.triggers, agent)),
        is_resumed="recovery" in {asked.reason, *(one.reason for one in asked.triggers)},
        words=asked.words,
        language=task.language or category.language,
        scaffold=given.scaffold,
        local=given.local,
        memory=_digests(agents, agent) if given.scaffold >= 2 else (),
    )


def _later(journal: World, agent: Agent) -> Sequence[Recorded]:
    """The rows of its task that are new to an agent, on whatever machine it woke last."""
    seen = agent.seen or None
    return journal.recorded("task", agent.task, agent.position, seen if journal.is_shared else None)


def _check(task: Task, agent: Agent) -> None:
    """The edge of what a prompt may be rendered for; messages name ids only."""
    if not task.exists:
        raise Refused(
            "unknown_task",
            because=f"the task {agent.task} of agent {agent.id} is not in the journal",
            instead=Remedy("see_tasks"),
        )
    if task.is_deleted:
        raise Refused(
            "task_deleted",
            because=f"the task {task.id} is deleted",
            instead=Remedy("restore_task_and_resume"),
        )
    if not task.category or task.category not in agent.categories:
        raise Refused(
            "out_of_scope",
            because=f"the task {task.id} is in no category that agent {agent.id} may read",
            instead=Remedy("allow_category"),
        )


def _who(by: str) -> str:
    """Person, agent or import."""
    origin = by.partition(":")[0]
    return origin if origin in ("agent", "import") else "person"


def _task(
    journal: World,
    task: Task,
    catalog: Catalog,
    category: Category,
    limits: Limits,
    scaffold: int,
) -> TaskSeen:
    log = _log(journal, task.notes, limits)
    seconds = sum(max(0, seconds_between(one.start, one.end)) for one in task.time if one.end)
    return TaskSeen(
        id=task.id,
        title=task.title,
        description=journal.text(task.description),
        status=task.status,
        status_reason=task.status_reason,
        priority=task.priority,
        estimate=task.estimate,
        due=task.due,
        language=task.language,
        language_by="" if not task.language else _language_source(task.language_by),
        category=LabelSeen(category.id, category.name),
        labels=tuple(_label(catalog, label) for label in task.labels),
        items=tuple(
            ItemSeen(
                item.id,
                item.title,
                item.is_checked,
                _who(item.checked_by) if item.checked_by else "",
                item.checked_at,
                item.is_archived,
            )
            for item in task.items
        ),
        log=log,
        log_unread=len(task.notes) - len(log),
        minutes_spent=seconds // 60,
        created_at=task.created_at,
        **(_since_2(task, limits) if scaffold >= 2 else {}),
    )


def _since_2(task: Task, limits: Limits) -> dict[str, Any]:
    """What is told since scaffold 2: who set what, and where the time went."""
    running = [one for one in task.time if not one.end]
    done = sorted((one for one in task.time if one.end), key=lambda one: one.start)
    rating = rating_of(task)
    return {
        "rating": rating.score if rating else 0,
        "comment": rating.comment if rating else "",
        "origins": {name: OriginSeen(_who(one.by), one.at) for name, one in task.touched.items()},
        "time": tuple(_spent(task, one) for one in (*running, *newest_of(done, limits.time_max))),
        "time_unread": max(0, len(done) - limits.time_max),
    }


def _spent(task: Task, one: TimeEntry) -> TimeSeen:
    minutes = max(0, seconds_between(one.start, one.end)) // 60 if one.end else None
    rating = rating_of(task, one.id)
    score = rating.score if rating else 0
    return TimeSeen(one.start, minutes, one.summary, one.id, one.end, score)


def _language_source(by: str) -> str:
    """An imported language came from the person's own file."""
    return "agent" if _who(by) == "agent" else "person"


def _log(journal: World, notes: Sequence[Note], limits: Limits) -> tuple[EntrySeen, ...]:
    """The newest entries that could fit, oldest first; older ones are not even read."""
    newest_first = sorted(notes, key=lambda note: note.at)[::-1]
    entries: list[EntrySeen] = []
    room = limits.prompt_max_bytes
    for note in newest_first[: limits.log_entries_max]:
        if room <= 0:
            break
        text = journal.text(note.words)
        room -= ENTRY_MIN_BYTES + min(len(text.encode()), limits.entry_max_bytes)
        entries.append(EntrySeen(note.at, note.note_kind, _who(note.by), text, note.edited_at))
    return tuple(reversed(entries))


def _label(catalog: Catalog, label: str) -> LabelSeen:
    known = catalog.labels.get(label)
    return LabelSeen(label, known.name if known else label)


def _labels(catalog: Catalog, task: Task) -> tuple[tuple[LabelSeen, ...], tuple[LabelSeen, ...]]:
    """Suppressed ones, and those that may be assigned; both living, by name then id."""
    suppressed = [
        LabelSeen(label.id, label.name)
        for name in task.suppressed
        if (label := catalog.labels.get(name)) and not label.is_deleted
    ]
    taken = {*task.labels, *task.suppressed}
    free = (
        LabelSeen(label.id, label.name)
        for label in available(catalog, task.category)
        if label.id not in taken
    )
    return tuple(sorted(suppressed, key=lambda one: (fold(one.name), one.id))), tuple(free)


def _corrections(journal: World, category: Category, limits: Limits) -> tuple[CorrectionSeen, ...]:
    newest_first = category.corrections[::-1][: limits.corrections_max]
    return tuple(
        CorrectionSeen(journal.payload(one.before).decode(), journal.payload(one.after).decode())
        for one in newest_first
    )


def _observed(
    agents: World, agent: Agent, scaffold: int
) -> tuple[tuple[ObservationSeen, ...], tuple[ObservationSeen, ...]]:
    """The journal, and the critical ones. Of scaffold 1: critical ones before the newest window,
    then the window; since then all that no digest covers, and with numbers."""
    if scaffold >= 2:
        known = numbers(agent.critical)
        notes = (_numbered(agents, one, known) for one in readable_notes(agents, agent))
        return tuple(notes), tuple(_numbered(agents, one, known) for one in agent.critical)
    shown = sum(one.priority == "critical" for one in agent.observations)
    older = agent.critical[: max(0, len(agent.critical) - shown)]
    journal = tuple(_observation(agents, one) for one in (*older, *agent.observations))
    return journal, tuple(_observation(agents, one) for one in agent.critical)


def _numbered(agents: World, one: Observation, known: Mapping[str, str]) -> ObservationSeen:
    return replace(_observation(agents, one), number=known.get(one.position, ""))


def _digests(agents: World, agent: Agent) -> tuple[DigestSeen, ...]:
    return tuple(
        DigestSeen(one.since, one.until, one.count, agents.text(one.words))
        for one in readable_digests(agents, agent)
    )


def _observation(agents: World, one: Observation) -> ObservationSeen:
    return ObservationSeen(one.at, one.priority, one.category, agents.text(one.words))


def _proposed(
    sets: Sequence[ChangeSet], task: str, text: Callable[[Words], str] | None
) -> tuple[tuple[ProposalSeen, ...], tuple[VerdictSeen, ...]]:
    """Open items in the order of their making, and all verdicts, newest first.

    `text` reads what was edited; None: that is not told.
    """
    proposals: list[ProposalSeen] = []
    decided: list[tuple[str, str, int, VerdictSeen]] = []
    for one in sets:
        if not one.is_opened or one.task != task:
            continue
        for item in one.items:
            if item.status in OPEN:
                proposals.append(ProposalSeen(item.fingerprint, item.summary, item.status))
            if item.status in VERDICTS:
                now = item.arguments_now
                edit = edit_of(text(item.arguments), text(now)) if now and text else ""
                seen = VerdictSeen(item.status, item.summary, item.reason, now is not None, edit)
                decided.append((item.decided_at, one.id, item.number, seen))
    decided.sort(key=itemgetter(0, 1, 2), reverse=True)
    return tuple(proposals), tuple([seen for *_, seen in decided])


def edit_of(proposed: str, made: str) -> str:
    """The arguments that a person gave another value.

    >>> edit_of('{"minutes":60}', '{"minutes":90}')
    '60 -> 90'
    """
    before, after = canonical.read(proposed), canonical.read(made)
    changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    return ", ".join(f"{_value(before.get(name))} -> {_value(after.get(name))}" for name in changed)


def _value(value: object) -> str:
    return value if isinstance(value, str) else "none" if value is None else canonical.text(value)


def _slots(agent: Agent) -> SlotsSeen:
    preferences = sorted((name, slot.value) for name, slot in agent.preferences.items())
    return SlotsSeen(
        agent.goal.value,
        agent.loops,
        tuple((name, value) for name, value in preferences if value),
        agent.own_loops,
    )
