"""From the states of both logs to what one agent may read (SPEC 4). It loads and decides scope.

Only the owned task and its direct links are read. A payload is read only for what can be
shown: the log newest first until the prompt would be full."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from msgspec.structs import replace

from domain.agent import deciders
from domain.agent.agent import AGENT, Agent, AgentObservation
from domain.agent.memory import numbers
from domain.agent.wake_queue import Queued, Trigger, run_key_of
from domain.changes.change_set import CHANGES, OPEN, ChangeItem, ChangeSet, find
from domain.errors import Refused, Remedy
from domain.journal.catalog import CATALOG, Catalog, Category, available, category_of
from domain.journal.document import label_name
from domain.journal.links import LINKS, PHRASE_OF
from domain.journal.task import TASK, ChecklistItem, Note, Task, TimeEntry, rating_of
from domain.lessons.lessons import CATEGORY, LESSONS, REFERENCES_READ, Lesson, count
from domain.log import canonical
from domain.log.state import MAIN, LogState, RecordedEvent
from domain.log.timestamps import seconds_between
from domain.log.wire import Words, tag_of
from domain.policy.flow import may_enter, project
from domain.policy.gate import REQUESTS_NOTICE, unconsented
from domain.policy.policy import POLICY
from domain.scaffold import Features
from domain.text import fold
from domain.tools.days import DAY_CHANGES
from domain.tools.snapshot import SnapshotLink
from domain.wake import reading as r
from domain.wake.memory import readable_digests, readable_notes
from domain.wake.prompt_sections import newest_of
from domain.wake.reading import PromptLimits, PromptOptions, Reading, WakeReason
from domain.wake.short_ids import shortened
from domain.wake.wake import ModelAnswered, WakeStarted, anyones


def linked(
    journal: LogState,
    task: Task,
    agent: Agent,
    linked_agents: Mapping[str, r.LinkedAgent],
    given: PromptOptions,
) -> tuple[r.LinkSeen, ...]:
    """Direct links, outgoing first, each once as it is seen from the task."""
    catalog = journal.load(CATALOG, MAIN)
    found: dict[tuple[str, str], r.LinkSeen] = {}
    for phrase, direction, target in _edges(journal, task):
        if (phrase, target) not in found:
            said = linked_agents.get(target, r.LinkedAgent())
            other = journal.load(TASK, target)
            told = direction if given.features.tells_links else ""
            found[phrase, target] = _link(phrase, told, other, agent, said, catalog, given)
    return tuple(found.values())


def linked_tasks(journal: LogState, task: Task, agent: Agent) -> tuple[SnapshotLink, ...]:
    """The living tasks that a task is linked with and its agent may see, for its snapshot."""
    found: dict[tuple[str, str], SnapshotLink] = {}
    for phrase, _, target in _edges(journal, task):
        other = journal.load(TASK, target)
        if other.is_there and may_enter((other.category,), agent):
            one = SnapshotLink(target, phrase, other.title, other.category, other.status)
            found.setdefault((phrase, target), one)
    return tuple(found.values())


def _edges(journal: LogState, task: Task) -> Iterator[tuple[str, str, str]]:
    """The relation as it is seen from the task, its direction, and the other task."""
    for link in task.links:
        yield link.relation, "outgoing", link.target
    for edge in journal.load(LINKS, task.id).incoming:
        yield PHRASE_OF.get(edge.relation, edge.relation), "incoming", edge.source


def _link(
    phrase: str,
    direction: str,
    other: Task,
    agent: Agent,
    said: r.LinkedAgent,
    catalog: Catalog,
    given: PromptOptions,
) -> r.LinkSeen:
    if not other.exists or not may_enter((other.category,), agent):
        return project("linked_task", r.LinkSeen(phrase, direction=direction), given.scaffold)
    if other.is_deleted:
        gone = r.LinkSeen(phrase, is_deleted=True, direction=direction)
        return project("linked_task", gone, given.scaffold)
    shown = (other.id, other.title, other.status, other.priority, said.one_liner)
    seen = r.LinkSeen(phrase, *shown, direction=direction)
    if given.features.tells_links:
        labels = label_names(catalog, other, agent)
        seen = replace(seen, due=other.due, labels=labels, tldr=said.tldr)
    return project("linked_task", seen, given.scaffold)


def label_names(catalog: Catalog, task: Task, agent: Agent) -> tuple[str, ...]:
    """Names of a task's labels, but of those that belong to categories of others."""
    known = [catalog.labels[label] for label in task.labels if label in catalog.labels]
    allowed = set(agent.categories)
    return tuple(one.name for one in known if not one.categories or allowed & set(one.categories))


# ------------------------------------------------------------------------------------- what changed
# Since an agent's last wake, by its triggers and its task's later facts (SPEC 4). An id is named
# only if it belongs to the task or to a linked task that the agent may see; others are counted.

_SUBJECTS = ("item", "note", "entry", "label", "checklist")
_THROUGH_LINK = "changed, through a link"


def fact_changes(
    rows: Iterable[RecordedEvent], agent: Agent, linked: Container[str]
) -> list[r.ChangeSeen]:
    """The facts among these rows that are not the agent's own, one per id, kind and author; on
    position 0 it has seen nothing, so nothing "changed". `linked`: tasks that it may see."""
    if not agent.position:
        return []
    others = (row for row in rows if getattr(row.fact, "by", "") != f"agent:{agent.id}")
    counted = Counter(_described(row, linked) for row in others)
    return [r.ChangeSeen(*what, times) for what, times in sorted(counted.items())]


def trigger_changes(
    triggers: Sequence[Trigger], task: Task, linked: Iterable[str], told: Iterable[r.ChangeSeen]
) -> tuple[list[r.ChangeSeen], int]:
    """What the triggers' tokens say beyond `told`, and how many ids may not be named."""
    tokens = sorted({(token, one.is_propagated) for one in triggers for token in one.tokens})
    told_ids = {change.subject for change in told}
    parts = (task.items, task.notes, task.checklists, task.time) if tokens else ()
    visible = {task.id, task.category, *task.labels, *task.suppressed, *linked, *told_ids}
    visible.update(one.id for part in parts for one in part)
    changes: list[r.ChangeSeen] = []
    hidden: set[str] = set()
    for token, is_propagated in tokens:
        namespace, _, name = token.partition(":")
        subject = name if namespace == "id" else token
        if namespace == "id" and name not in visible:
            hidden.add(name)
        elif is_propagated or subject not in told_ids:
            changes.append(r.ChangeSeen(subject, _THROUGH_LINK if is_propagated else "changed"))
    return changes, len(hidden)


def fired(triggers: Iterable[Trigger], agent: Agent) -> list[r.TimerSeen]:
    """The timers among the triggers, each with all ticks it stands for."""
    schedules = {timer.id: timer.schedule for timer in agent.timers}
    ticks: dict[str, set[str]] = {}
    for trigger in triggers:
        if trigger.reason == "timer":
            ticks.setdefault(trigger.reason_id, set()).update(trigger.ticks)
    return [
        r.TimerSeen(timer, schedules.get(timer, ""), tuple(sorted(times)))
        for timer, times in sorted(ticks.items())
    ]


def _described(row: RecordedEvent, linked: Container[str]) -> tuple[str, str]:
    """Subject and description of a fact; a link's other end is named only if visible."""
    fact = row.fact
    subject = next((found for name in _SUBJECTS if (found := getattr(fact, name, ""))), "")
    target = getattr(fact, "target", "")
    if target and target in linked:
        subject = target
    origin = str(getattr(fact, "by", "")).partition(":")[0]
    author = origin if origin in ("person", "import") else "another agent"
    return subject or row.entity, f"{tag_of(fact).split('.')[1]} by {author}"


# --------------------------------------------------------------------------- the task and its agent

ENTRY_MIN_BYTES = 60
"""Of a log entry's frame in the prompt: what even an empty one takes."""
DEFAULTS = PromptLimits()
GIVEN = PromptOptions()
VERDICTS = ("confirmed", "rejected", "deferred")


def gather(  # noqa: PLR0913  two logs and what a caller finds in their other streams
    journal: LogState,
    agents: LogState,
    agent: Agent,
    asked: WakeReason,
    *,
    report: r.ReportShown | None,
    sets: Sequence[ChangeSet],
    linked_agents: Mapping[str, r.LinkedAgent],
    limits: PromptLimits = DEFAULTS,
    given: PromptOptions = GIVEN,
    day: r.DaySeen | None = None,
    week: r.WeekSeen | None = None,
    template: r.TemplateSeen | None = None,
) -> Reading:
    """Read what a wake of the agent may see. Fails closed: no scope, no reading.

    Args:
        journal: The journal at the position that the wake is rendered at.
        agents: The agent log at its position; it holds the texts of observations.
        report: Its current report, if there is one.
        sets: Its change sets; those of other tasks, or not opened yet, are left out.
        linked_agents: By id of linked task: what its agent says.
        limits: Bounds what is read at all.
        given: What the wake's command says: its scaffold, the person's clock.
        day: The one that it plans, of an agent without a task.
        week: The same, of one that looks over a category.
        template: The same, of one that improves it.

    Raises:
        Refused: Code ``unknown_task``, ``task_deleted``, or ``out_of_scope`` where the task has
            no category or one that the agent is not allowed; ``overshared_payload_blocked``.
    """
    reading = _of_itself(agents, agent, asked, report, sets, given)
    if day is not None or week is not None or template is not None:
        reading = replace(reading, day=day, week=week, template=template)
    else:
        reading = _with_task(journal, agent, asked, reading, linked_agents, limits, given)
    return replace(reading, short=shortened(_ids(reading))) if given.features.short_ids else reading


def _of_itself(
    agents: LogState,
    agent: Agent,
    asked: WakeReason,
    report: r.ReportShown | None,
    sets: Sequence[ChangeSet],
    given: PromptOptions,
) -> Reading:
    """What a wake reads of its own agent, whatever that is about."""
    text = agents.text if given.features.tells_edits else None
    proposals, verdicts = _proposed(sets, agent.task, text)
    observed, critical = _observed(agents, agent, given.features)
    language = agent.preferences.get("language")
    known = sorted((name, slot.value) for name, slot in agent.preferences.items())
    preferences = tuple((name, value) for name, value in known if value)
    return Reading(
        task=r.TaskSeen("", ""),
        reason=asked.reason,
        slots=r.SlotsSeen(agent.goal.value, agent.loops, preferences, agent.own_loops),
        report=report,
        critical=critical,
        journal=observed,
        proposals=proposals,
        verdicts=verdicts,
        timers=tuple(fired(asked.triggers, agent)),
        is_resumed="recovery" in {asked.reason, *(one.reason for one in asked.triggers)},
        words=asked.words,
        client=given.client,
        language=language.value if language and not agent.task else "",
        scaffold=given.scaffold,
        local=given.local,
        memory=tuple(
            r.DigestSeen(one.since, one.until, one.count, agents.text(one.words))
            for one in (readable_digests(agents, agent) if given.features.has_memory else ())
        ),
        kind=agent.agent_kind or deciders.AGENT_KIND,
    )


def _with_task(
    journal: LogState,
    agent: Agent,
    asked: WakeReason,
    reading: Reading,
    linked_agents: Mapping[str, r.LinkedAgent],
    limits: PromptLimits,
    given: PromptOptions,
) -> Reading:
    """A reading with the agent's task and all that is told with it."""
    task = journal.load(TASK, agent.task)
    _check(task, agent)
    catalog = journal.load(CATALOG, MAIN)
    category = category_of(catalog, task.category)
    links = linked(journal, task, agent, linked_agents, given)
    seen = {link.id for link in links if link.id}
    seen_of = (agent.seen or None) if journal.is_shared else None  # on whatever machine it woke
    new = journal.recorded("task", agent.task, agent.position, seen_of) if agent.position else ()
    facts = fact_changes(new, agent, seen)
    others, hidden = trigger_changes(asked.triggers, task, seen, facts)
    suppressed, free = _labels(catalog, task)
    report = reading.report
    if report is not None and given.features.tells_days:
        report = replace(report, newer=_newer(_written(task), report.at))
    return replace(
        reading,
        task=project(
            "own_task",
            _task(journal, task, catalog, category, limits, given.features),
            given.scaffold,
        ),
        suppressed=suppressed,
        available=free,
        corrections=tuple(
            r.CorrectionSeen(*(journal.payload(text).decode() for text in (one.before, one.after)))
            for one in category.corrections[::-1][: limits.corrections_max]
        ),
        linked=links,
        report=report,
        changes=tuple(sorted((*facts, *others), key=lambda one: (one.subject, one.what))),
        hidden=hidden,
        language=task.language or category.language,
    )


def _ids(reading: Reading) -> Iterator[str]:
    """All that a prompt may name by its id."""
    task = reading.task
    yield from (task.id, *(one.subject for one in reading.changes))
    if reading.week is not None:
        yield from reading.week.shown
    if reading.day is not None:
        before = reading.day.before or r.DayBeforeSeen("")
        parts = (reading.day.blocks, reading.day.tasks, before.blocks, before.spent)
        yield from (one.id for part in parts for one in part)
        yield from (one.task for one in (*reading.day.blocks, *before.blocks))
    yield from (one.fingerprint for one in reading.proposals)
    for part in (task.labels, task.items, task.time, reading.linked):
        yield from (one.id for one in part)
    yield from (one.id for one in (*reading.suppressed, *reading.available))


def _check(task: Task, agent: Agent) -> None:
    """The edge of what a prompt may be rendered for; messages name ids only."""
    if not task.exists:
        because = f"the task {agent.task} of agent {agent.id} is not in the journal"
        raise Refused("unknown_task", because=because, instead=Remedy("see_tasks"))
    if task.is_deleted:
        because, instead = f"the task {task.id} is deleted", Remedy("restore_task_and_resume")
        raise Refused("task_deleted", because=because, instead=instead)
    if not task.category or task.category not in agent.categories:
        because = f"the task {task.id} is in no category that agent {agent.id} may read"
        raise Refused("out_of_scope", because=because, instead=Remedy("allow_category"))


def _who(by: str) -> str:
    """Person, agent or import."""
    origin = by.partition(":")[0]
    return origin if origin in ("agent", "import") else "person"


_AS_THE_TASK = (
    "title", "status", "status_reason", "priority", "estimate", "due", "language", "created_at"
)  # fmt: skip


def _task(
    journal: LogState,
    task: Task,
    catalog: Catalog,
    category: Category,
    limits: PromptLimits,
    features: Features,
) -> r.TaskSeen:
    log = _log(journal, task.notes, limits, features)
    written = _written(task) if features.tells_days else ()
    seconds = sum(max(0, seconds_between(one.start, one.end)) for one in task.time if one.end)
    return r.TaskSeen(
        id=task.id,
        description=journal.text(task.description),
        **{name: getattr(task, name) for name in _AS_THE_TASK},
        # an imported language came from the person's own file
        language_by=task.language and ("agent" if _who(task.language_by) == "agent" else "person"),
        category=r.LabelSeen(category.id, category.name),
        labels=tuple(r.LabelSeen(label, label_name(catalog, label)) for label in task.labels),
        items=tuple(_item(one) for one in task.items),
        log=log,
        log_unread=len(task.notes) - len(log),
        minutes_spent=seconds // 60,
        origins={
            name: r.OriginSeen(_who(one.by), one.at, _newer(written, one.at))
            for name, one in task.touched.items()
            if features.tells_origins
        },
        **(_time(task, limits) if features.tells_time else {}),
    )


def _item(item: ChecklistItem) -> r.ItemSeen:
    who = _who(item.checked_by) if item.checked_by else ""
    return r.ItemSeen(item.id, item.title, item.is_checked, who, item.checked_at, item.is_archived)


def _written(task: Task) -> Sequence[str]:
    """When the entries of a log were written last, oldest first."""
    return sorted(map(_last_at, task.notes))


def _last_at(note: Note) -> str:
    return max(note.at, note.edited_at)


def _newer(written: Sequence[str], at: str) -> int:
    return len(written) - bisect_right(written, at)


def _time(task: Task, limits: PromptLimits) -> dict[str, Any]:
    """Where the time went, and how it was rated."""
    running = [one for one in task.time if not one.end]
    done = sorted((one for one in task.time if one.end), key=lambda one: one.start)
    rating = rating_of(task)
    return {
        "rating": rating.score if rating else 0,
        "comment": rating.comment if rating else "",
        "time": tuple(_spent(task, one) for one in (*running, *newest_of(done, limits.time_max))),
        "time_unread": max(0, len(done) - limits.time_max),
    }


def _spent(task: Task, one: TimeEntry) -> r.TimeSeen:
    minutes = max(0, seconds_between(one.start, one.end)) // 60 if one.end else None
    rating = rating_of(task, one.id)
    score = rating.score if rating else 0
    return r.TimeSeen(one.start, minutes, one.summary, one.id, one.end, score)


def _log(
    journal: LogState, notes: Sequence[Note], limits: PromptLimits, features: Features
) -> tuple[r.EntrySeen, ...]:
    """The newest entries that could fit, oldest first; older ones are not even read. Since scaffold
    3 an edited one stands where its words are from: behind what was written before."""
    order = _last_at if features.tells_days else attrgetter("at")
    newest_first = sorted(notes, key=order)[::-1]
    entries: list[r.EntrySeen] = []
    room = limits.prompt_max_bytes
    for note in newest_first[: limits.log_entries_max]:
        if room <= 0:
            break
        text = journal.text(note.words)
        room -= ENTRY_MIN_BYTES + min(len(text.encode()), limits.entry_max_bytes)
        entries.append(r.EntrySeen(note.at, note.note_kind, _who(note.by), text, note.edited_at))
    return tuple(reversed(entries))


def _labels(
    catalog: Catalog, task: Task
) -> tuple[tuple[r.LabelSeen, ...], tuple[r.LabelSeen, ...]]:
    """Suppressed ones, and those that may be assigned; both living, by name then id."""
    suppressed = [
        r.LabelSeen(label.id, label.name)
        for name in task.suppressed
        if (label := catalog.labels.get(name)) and not label.is_deleted
    ]
    taken = {*task.labels, *task.suppressed}
    usable = (label for label in available(catalog, task.category) if label.id not in taken)
    free = (r.LabelSeen(label.id, label.name) for label in usable)
    return tuple(sorted(suppressed, key=lambda one: (fold(one.name), one.id))), tuple(free)


def _observed(
    agents: LogState, agent: Agent, features: Features
) -> tuple[tuple[r.ObservationSeen, ...], tuple[r.ObservationSeen, ...]]:
    """The journal, and the critical ones: all that no digest covers; where there are no digests,
    critical ones before the newest window, then the window."""
    known = numbers(agent.critical) if features.resolves else {}
    if features.has_memory:
        notes = readable_notes(agents, agent)
    else:
        shown = sum(one.priority == "critical" for one in agent.observations)
        older = agent.critical[: max(0, len(agent.critical) - shown)]
        notes = (*older, *agent.observations)
    return _observations(agents, notes, known), _observations(agents, agent.critical, known)


def _observations(
    agents: LogState, notes: Iterable[AgentObservation], known: Mapping[str, str]
) -> tuple[r.ObservationSeen, ...]:
    return tuple(
        r.ObservationSeen(
            one.at, one.priority, one.category, agents.text(one.words), known.get(one.position, "")
        )
        for one in notes
    )


def _proposed(
    sets: Sequence[ChangeSet], task: str, text: Callable[[Words], str] | None
) -> tuple[tuple[r.ProposalSeen, ...], tuple[r.VerdictSeen, ...]]:
    """Open items in the order of their making, and all verdicts, newest first.

    `text` reads what was edited; None: that is not told."""
    proposals: list[r.ProposalSeen] = []
    decided: list[tuple[str, str, int, r.VerdictSeen]] = []
    for one in sets:
        if not one.is_opened or one.task != task:
            continue
        for item in one.items:
            if item.status in OPEN:
                proposals.append(r.ProposalSeen(item.fingerprint, item.summary, item.status))
            if item.status in VERDICTS:
                now = item.arguments_now
                edit = edit_of(text(item.arguments), text(now)) if now and text else ""
                seen = r.VerdictSeen(item.status, item.summary, item.reason, now is not None, edit)
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


# ------------------------------------------------------------------------------------------ lessons

DECIDED_LEAST = 5
"""Of a tool with fewer verdicts nothing is told."""


def ruled_out_in(agents: LogState, category: str, features: Features) -> tuple[str, ...]:
    """The items, by the names of their tools, that the person wants none of in a category."""
    known = agents.load(LESSONS, CATEGORY + category).ruled if features.heeds_rules else ()
    return known or ()


def lessons_of(
    agents: LogState, agent: Agent, category: str, features: Features
) -> tuple[r.LessonSeen, ...]:
    """By tool, in the order of their names: what is ruled out, then how proposals for other tasks
    of its own category fared; the verdicts on its own task are told elsewhere."""
    if not may_enter((category,), agent):
        return ()
    own = set(sets_of_task(agents, agent, agent.generation))
    tools = agents.load(LESSONS, CATEGORY + category).tools
    ruled_out = ruled_out_in(agents, category, features)
    fared = []
    for tool in sorted(tools.keys() - {*ruled_out, *DAY_CHANGES}):
        others = [one for one in tools[tool] if one.changes not in own]
        fared += [_seen(agents, agent, tool, others)] if len(others) >= DECIDED_LEAST else []
    ruled = (one for one in ruled_out if one not in DAY_CHANGES)
    return (*(r.LessonSeen(tool, 0, 0, is_ruled_out=True) for tool in ruled), *fared)


def sets_of_task(agents: LogState, agent: Agent, generation: int) -> list[str]:
    """The change sets of the agents that a task had up to a generation."""
    kind, about = agent.agent_kind, agent.about
    known = (deciders.agent_id(kind, about, nth) for nth in range(1, generation + 1))
    return [one for each in known for one in agents.load(AGENT, each).sets]


def _seen(agents: LogState, agent: Agent, tool: str, lessons: list[Lesson]) -> r.LessonSeen:
    told = [one for one in lessons if one.verdict == "rejected" or one.is_edited]
    reasons: dict[str, r.ReasonSeen] = {}
    edits: list[r.EditSeen] = []
    bare = 0
    for changes, item, one in _items(agents, told[:REFERENCES_READ]):
        if one.is_edited:
            edits += _edit(agents, agent, changes, item)
        elif item.reason:
            name = fold(item.reason)
            known = reasons.get(name, r.ReasonSeen(item.reason, 0))
            reasons[name] = r.ReasonSeen(known.text, known.count + 1, (*known.tasks, changes.task))
        else:
            bare += 1
    accepted = count(tuple(lessons), "confirmed")
    by_count = sorted(reasons.values(), key=lambda one: -one.count)  # of equal ones the newest
    return r.LessonSeen(tool, accepted, len(lessons), tuple(by_count), bare, tuple(edits))


def _items(
    agents: LogState, lessons: list[Lesson]
) -> Iterator[tuple[ChangeSet, ChangeItem, Lesson]]:
    sets = agents.load_each(CHANGES, [one.changes for one in lessons])
    for changes, one in zip(sets, lessons, strict=True):
        if item := find(changes, one.item):  # pragma: no branch  # a lesson is of an item
            yield changes, item, one


def _edit(agents: LogState, agent: Agent, changes: ChangeSet, item: ChangeItem) -> list[r.EditSeen]:
    """What the person made of a proposal, which is a text of the agent that made it, too."""
    written_under = agents.load(AGENT, changes.agent).categories_ever or ()
    if item.arguments_now is None or not may_enter(written_under, agent):
        return []
    field = next((one for one in item.touches if ":" not in one), item.tool)
    edit = edit_of(agents.text(item.arguments), agents.text(item.arguments_now))
    return [r.EditSeen(field, edit, changes.task)]


# ---------------------------------------------------------------------------- what other agents ask


def requests_of(
    agents: LogState, agent: Agent, queued: Queued, given: PromptOptions
) -> tuple[r.RequestSeen, ...]:
    """What other agents ask, each once; nothing where nobody agreed that the model is told."""
    asked = [one for one in queued.triggers if one.reason == "request"]
    if not asked or unconsented(agents.load(POLICY, MAIN), agent, given.model, REQUESTS_NOTICE):
        return ()
    found = {(one.about, anyones(agents, one.reason_id).begun.agent_kind) for one in asked}
    return tuple(r.RequestSeen(*one) for one in sorted(found))


# ------------------------------------------------------------------------------------ earlier turns
# A turn's run key follows from its agent, session and number: each is found without a look at any
# other. A turn that was superseded has no wake; the one that took its place has its words.

TURNS_LOOKED_AT = 48
"""Before the wake's own; superseded ones count."""


def thread_of(agents: LogState, agent: Agent, queued: Queued, limits: PromptLimits) -> r.ThreadSeen:
    """The newest turns before a user wake, before any other none; but for those of wakes that were
    allowed a category which the agent is not allowed now (ADR 37)."""
    if queued.reason != "user":
        return r.ThreadSeen()
    asked = queued.triggers[0]  # the one that made the wake
    found: list[r.ExchangeSeen] = []
    turn = asked.turn - 1
    last = max(0, turn - TURNS_LOOKED_AT)
    while turn > last and len(found) < limits.thread_max:
        rows = agents.recorded("wake", run_key_of(agent.id, replace(asked, turn=turn)))
        found += _exchange(agents, agent, rows)
        turn -= 1
    return r.ThreadSeen(tuple(found[::-1]), turn)


def _exchange(
    agents: LogState, agent: Agent, rows: Sequence[RecordedEvent]
) -> list[r.ExchangeSeen]:
    """What a person said to a wake and its last words; none of a wake that never began."""
    found: list[r.ExchangeSeen] = []
    for row in rows:
        match row.fact:
            case WakeStarted(user=sections, categories=categories):
                if not may_enter(categories, agent):
                    return []
                said = [agents.payload(one.payload) for one in sections if one.name == "words"]
                words = b"".join(said).decode().partition("\n\n")[2]  # without its heading
                found = [r.ExchangeSeen(row.at, words)]
            case ModelAnswered(text=text) if text is not None and found:
                found = [replace(found[0], answer=agents.text(text))]
            case _:
                pass
    return found
