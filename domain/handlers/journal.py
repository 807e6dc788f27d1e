"""The journal's commands: what a person and an importer do (SPEC 1)."""

from collections.abc import Callable
from typing import Any

from domain.causes import Result
from domain.errors import Refused, Remedy
from domain.handlers.decided import Decided, Event, Loads, on
from domain.handlers.links import edge, linked, task_of
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import edits
from domain.journal import task as t
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.fold import TASK
from domain.journal.links import UnlinkedFrom
from domain.journal.task import PERSON, Task, TaskFact
from domain.journal.timer import TIMER, TimerStarted, TimerStopped
from domain.keys import key as make_key
from domain.wire import Payload, payload
from domain.world import MAIN, World


def _facts(world: World, task: str, facts: list[TaskFact]) -> Decided:
    return Decided(on(world, "task", task, facts), Result((task,)))


def _category_id(catalog: Catalog, wanted: str) -> str:
    known = c.find_category(catalog, wanted)
    if known is None:
        raise c.unknown_category(wanted)
    return known.id


def _inbox(catalog: Catalog, wanted: str) -> tuple[str, list[c.CatalogFact]]:
    """The wanted category's id; where none is wanted, Inbox, whatever it is called now, made if it
    is missing."""
    if wanted:
        return _category_id(catalog, wanted), []
    inbox = c.category_id(c.INBOX)
    return inbox, [] if inbox in catalog.categories else c.add_category(catalog, c.INBOX, "")


def _label_id(catalog: Catalog, wanted: str) -> str:
    known = c.find_label(catalog, wanted)
    if known is None:
        raise c.unknown_label(wanted)
    return known.id


def _label_ids(catalog: Catalog, names: tuple[str, ...]) -> list[str]:
    """Ids of labels by name or id, each once."""
    return list(dict.fromkeys(_label_id(catalog, name) for name in names))


def create_task(cause: do.CreateTask, key: str, at: str, world: World) -> Decided:
    catalog = world.load(CATALOG, MAIN)
    task_id = make_key("task", key, "0")
    title = edits.titled(cause.title, edits.TITLE_MAX)
    category, made = _inbox(catalog, cause.category)
    created = t.TaskCreated(PERSON, title, category)
    task = Task(task_id, exists=True, title=title, category=category)
    facts: list[TaskFact] = [created]
    if cause.status:
        facts += edits.set_status(task, cause.status, cause.reason, PERSON)
    facts += edits.set_fields(task, cause)
    facts += [t.LabelAssigned(PERSON, one) for one in _label_ids(catalog, cause.labels)]
    if cause.scopes_labels:
        used = dict.fromkeys(_label_ids(catalog, cause.labels), (category,))
        made += c.scope_labels(catalog, used)
    events = on(world, "catalog", MAIN, made) + on(world, "task", task_id, facts)
    return Decided(events, Result((task_id,)))


def edit_task(cause: do.EditTask, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    facts: list[TaskFact] = []
    if cause.title:
        facts += edits.retitle(task, cause.title, PERSON)
    if cause.description is not None:
        facts += edits.describe(task, cause.description, PERSON)
    if cause.status:
        facts += edits.set_status(task, cause.status, cause.reason, PERSON)
    facts += edits.set_fields(task, cause)
    if cause.category:
        category = _category_id(world.load(CATALOG, MAIN), cause.category)
        facts += edits.set_category(task, category, PERSON)
    ended = stopped(world, at, of=task.id) if cause.stops_timer else []
    return Decided([*ended, *on(world, "task", task.id, facts)], Result((task.id,)))


def add_items(cause: do.AddItems, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    facts = edits.add_items(task, edits.few(cause.titles), cause.checklist, PERSON)
    made = tuple(fact.item for fact in facts if isinstance(fact, t.ItemAdded))
    return Decided(on(world, "task", task.id, facts), Result(made))


def edit_item(cause: do.EditItem, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    item = edits.known_item(task, cause.item)
    facts = edits.edit_item(
        task,
        item,
        title=cause.title,
        is_checked=cause.is_checked,
        is_archived=cause.is_archived,
    )
    events = on(world, "task", task.id, facts)
    renamed = next((fact for fact in facts if isinstance(fact, t.ItemRetitled)), None)
    if renamed is None or item.by == PERSON:
        return Decided(events, Result((item.id,)))
    corrected, payloads = _correction(world, task, item.title, renamed.title)
    return Decided([*events, *corrected], Result((item.id,)), payloads)


def _correction(
    world: World, task: Task, before: str, after: str
) -> tuple[list[Event], list[Payload]]:
    """What was written, most often not by the person, and what they made of it, as an example."""
    texts = [payload(task.id, before.encode()), payload(task.id, after.encode())]
    captured = c.CorrectionCaptured(task.category, texts[0].id, texts[1].id)
    return on(world, "catalog", MAIN, [captured]), texts


def add_note(cause: do.AddNote, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    note = make_key("note", key, "0")
    facts = edits.add_note(task, note, cause.note_kind, cause.words)
    return Decided(on(world, "task", task.id, facts), Result((note,)))


def edit_note(cause: do.EditNote, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    note = edits.known_note(task, cause.note)
    facts = edits.edit_note(task, note, cause.words)
    events = on(world, "task", task.id, facts)
    is_own = note.by == PERSON and not cause.corrects
    if not facts or is_own or note.note_kind != "transcript":
        return Decided(events, Result((note.id,)))
    before, after = world.text(note.words), world.text(cause.words)
    corrected, payloads = _correction(world, task, before, after)
    return Decided([*events, *corrected], Result((note.id,)), payloads)


def remove_note(cause: do.RemoveNote, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    note = edits.known_note(task, cause.note)
    return _facts(world, task.id, [t.NoteRemoved(PERSON, note.id)])


def change_labels(cause: do.ChangeLabels, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    catalog = world.load(CATALOG, MAIN)

    def ids(names: tuple[str, ...]) -> list[str]:
        return _label_ids(catalog, names)

    facts: list[TaskFact] = [
        *(t.LabelAssigned(PERSON, one) for one in ids(cause.assign) if one not in task.labels),
        *(t.LabelRemoved(PERSON, one) for one in ids(cause.remove) if one in task.labels),
        *(
            t.LabelSuppressed(PERSON, one)
            for one in ids(cause.suppress)
            if one not in task.suppressed
        ),
        *(t.LabelAllowed(PERSON, one) for one in ids(cause.allow) if one in task.suppressed),
    ]
    used = dict.fromkeys(ids(cause.assign), (task.category,)) if cause.scopes_labels else {}
    scoped = on(world, "catalog", MAIN, c.scope_labels(catalog, used))
    return Decided([*scoped, *on(world, "task", task.id, facts)], Result((task.id,)))


def link_task(cause: do.LinkTask, key: str, at: str, world: World) -> Decided:
    source, target, relation = edge(world, cause.task, cause.phrase, cause.target)
    events = linked(world, source, relation, target, PERSON)
    return Decided(events, Result((source.id, target.id)))


def unlink_task(cause: do.UnlinkTask, key: str, at: str, world: World) -> Decided:
    source, target, relation = edge(world, cause.task, cause.phrase, cause.target)
    if t.Link(relation, target.id) not in source.links:
        return Decided(result=Result((source.id, target.id)))
    events = [
        *on(world, "task", source.id, [t.TaskUnlinked(PERSON, relation, target.id)]),
        *on(world, "links", target.id, [UnlinkedFrom(relation, source.id)]),
    ]
    return Decided(events, Result((source.id, target.id)))


def delete_task(cause: do.DeleteTask, key: str, at: str, world: World) -> Decided:
    task = world.load(TASK, cause.task)
    if task.exists and task.is_deleted:
        return Decided(result=Result((task.id,)))
    task = edits.living(task, cause.task)
    ended = stopped(world, at, of=task.id)
    deleted = on(world, "task", task.id, [t.TaskDeleted(PERSON)])
    return Decided([*ended, *deleted], Result((task.id,)))


def restore_task(cause: do.RestoreTask, key: str, at: str, world: World) -> Decided:
    task = world.load(TASK, cause.task)
    if task.exists and task.is_deleted:
        category = c.category_back(world.load(CATALOG, MAIN), task.category)
        restored = on(world, "task", task.id, [t.TaskRestored(PERSON)])
        return Decided([*on(world, "catalog", MAIN, category), *restored], Result((task.id,)))
    task = edits.living(task, cause.task)
    return Decided(result=Result((task.id,)))


def stopped(
    world: Loads, at: str, summary: str = "", of: str = "", by: str = PERSON
) -> list[Event]:
    """Stop what is being timed, of one task if it is named."""
    events: list[Event] = []
    for one in world.load(TIMER, MAIN).running:
        if of in ("", one.task):
            ended = t.TimeStopped(by, one.entry, at, edits.summarised(summary))
            events += on(world, "task", one.task, [ended])
            events += on(world, "timer", MAIN, [TimerStopped(one.task, one.entry)])
    return events


def timer_events(world: Loads, task: str, fact: t.TaskFact) -> list[Event]:
    """What the timer says where an undo lets an entry of a task run on, or ends it."""
    match fact:
        case t.TimeStarted(entry=entry) | t.TimeReopened(entry=entry):
            return on(world, "timer", MAIN, [TimerStarted(task, entry)])
        case t.TimeStopped(entry=entry) | t.TimeEdited(entry=entry) | t.TimeRemoved(entry=entry):
            is_over = not isinstance(fact, t.TimeEdited) or bool(fact.end)
            running = {one.entry for one in world.load(TIMER, MAIN).running} if is_over else ()
            stopped = [TimerStopped(task, entry)] if entry in running else []
            return on(world, "timer", MAIN, stopped)
        case _:
            return []


def start_timer(cause: do.StartTimer, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    timer = world.load(TIMER, MAIN)
    if timer.task == task.id:
        return Decided(result=Result((timer.entry,)))
    entry = make_key("time", key, "0")
    events = [
        *stopped(world, at),
        *on(world, "task", task.id, [t.TimeStarted(PERSON, entry, at)]),
        *on(world, "timer", MAIN, [TimerStarted(task.id, entry)]),
    ]
    return Decided(events, Result((entry,)))


def stop_timer(cause: do.StopTimer, key: str, at: str, world: World) -> Decided:
    events = stopped(world, at, cause.summary)
    if not events:
        instead = Remedy("start_timer")
        raise Refused("nothing_running", because="no timer is running", instead=instead)
    timer = world.load(TIMER, MAIN)
    return Decided(events, Result((timer.entry, timer.task)))


def log_time(cause: do.LogTime, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    entry = make_key("time", key, "0")
    facts = edits.log_time(task, entry, cause.start, cause.end, cause.summary)
    return Decided(on(world, "task", task.id, facts), Result((entry,)))


def retime_entry(cause: do.RetimeEntry, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    entry = edits.known_entry(task, cause.entry)
    facts = edits.retime(task, entry, cause.start, cause.end, cause.summary, at)
    return Decided(on(world, "task", task.id, facts), Result((entry.id,)))


def rate_task(cause: do.RateTask, key: str, at: str, world: World) -> Decided:
    task = task_of(world, cause.task)
    entry = edits.known_entry(task, cause.entry).id if cause.entry else ""
    return _facts(world, task.id, edits.rate(task, entry, cause.score, cause.comment))


def _catalog(world: World, facts: list[c.CatalogFact], entity: str) -> Decided:
    return Decided(on(world, "catalog", MAIN, facts), Result((entity,)))


def add_category(cause: do.AddCategory, key: str, at: str, world: World) -> Decided:
    name = edits.titled(cause.name, c.NAME_MAX, "name")
    catalog = world.load(CATALOG, MAIN)
    facts = c.add_category(catalog, name, cause.language)
    known = c.find_category(catalog, name)
    return _catalog(world, facts, known.id if known else c.category_id(name))


def rename_category(cause: do.RenameCategory, key: str, at: str, world: World) -> Decided:
    catalog = world.load(CATALOG, MAIN)
    name = edits.titled(cause.name, c.NAME_MAX, "name")
    facts = c.rename_category(catalog, cause.category, name)
    return _catalog(world, facts, _category_id(catalog, cause.category))


def add_correction(cause: do.AddCorrection, key: str, at: str, world: World) -> Decided:
    category = _category_id(world.load(CATALOG, MAIN), cause.category)
    fact = c.CorrectionCaptured(category, cause.before, cause.after)
    return _catalog(world, [fact], category)


def add_label(cause: do.AddLabel, key: str, at: str, world: World) -> Decided:
    catalog = world.load(CATALOG, MAIN)
    name = edits.titled(cause.name, c.NAME_MAX, "name")
    scope = tuple(sorted(_category_id(catalog, one) for one in cause.categories))
    return _catalog(world, c.add_label(catalog, name, scope), c.label_id(name))


def delete_label(cause: do.DeleteLabel, key: str, at: str, world: World) -> Decided:
    catalog = world.load(CATALOG, MAIN)
    facts = c.delete_label(catalog, cause.label)
    return _catalog(world, facts, _label_id(catalog, cause.label))


def narrow_labels(cause: do.ScopeLabels, key: str, at: str, world: World) -> Decided:
    labels = world.load(CATALOG, MAIN).labels
    wide = [one for one in cause.labels if one.label in labels and not labels[one.label].categories]
    facts = [c.LabelScoped(one.label, one.categories, narrows=True) for one in wide]
    return Decided(on(world, "catalog", MAIN, facts), Result(tuple(one.label for one in wide)))


Handler = Callable[[Any, str, str, World], Decided]
HANDLERS: dict[type, Handler] = {
    do.CreateTask: create_task,
    do.EditTask: edit_task,
    do.AddItems: add_items,
    do.EditItem: edit_item,
    do.AddNote: add_note,
    do.EditNote: edit_note,
    do.RemoveNote: remove_note,
    do.ChangeLabels: change_labels,
    do.LinkTask: link_task,
    do.UnlinkTask: unlink_task,
    do.DeleteTask: delete_task,
    do.RestoreTask: restore_task,
    do.StartTimer: start_timer,
    do.StopTimer: stop_timer,
    do.LogTime: log_time,
    do.RetimeEntry: retime_entry,
    do.RateTask: rate_task,
    do.AddCategory: add_category,
    do.RenameCategory: rename_category,
    do.AddCorrection: add_correction,
    do.AddLabel: add_label,
    do.DeleteLabel: delete_label,
    do.ScopeLabels: narrow_labels,
}
