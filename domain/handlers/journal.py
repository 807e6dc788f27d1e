"""The journal's commands: what a person, an importer and an operation do (SPEC 1)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from domain.append.causes import Result
from domain.errors import Refused, Remedy, invalid
from domain.handlers.decided import Decision, Event, StateLoader, after, on
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import edits, repeat
from domain.journal import task as t
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.edits import FOLLOWS
from domain.journal.links import CYCLE_SEARCH_MAX, INVERSE, LinkedFrom, UnlinkedFrom
from domain.journal.task import PERSON, TASK, Task, TaskFact
from domain.journal.timer import TIMER, TimerStarted, TimerStopped
from domain.log.keys import key as make_key
from domain.log.state import MAIN, LogState
from domain.log.wire import Payload, payload, words

RELATIONS: tuple[t.Relation, ...] = ("relates_to", *INVERSE.values())


def task_of(world: StateLoader, wanted: str) -> Task:
    """A living task, or Refused."""
    return edits.living(world.load(TASK, wanted), wanted)


def edge(world: StateLoader, task: str, phrase: str, target: str) -> tuple[Task, Task, t.Relation]:
    """The edge's source, target and relation in its canonical direction."""
    here, there = task_of(world, task), task_of(world, target)
    if here.id == there.id:
        raise invalid("a task cannot be linked to itself", "name another task")
    if phrase in INVERSE:
        return there, here, INVERSE[phrase]
    relation = next((one for one in RELATIONS if one == phrase), None)
    if relation is None:
        known = ", ".join((*RELATIONS, *INVERSE))
        raise invalid(f"{phrase!r} is no relation", f"use one of {known}")
    if relation == "relates_to" and t.Link(relation, here.id) in there.links:
        return there, here, relation  # symmetric: the edge exists from the other end
    return here, there, relation


def linked(
    world: StateLoader,
    source: Task,
    relation: t.Relation,
    target: Task,
    by: str,
    *,
    again: bool = False,
) -> list[Event]:
    """A new edge; none where it is there already, unless it shall be said `again`. Raises Refused,
    code ``cycle``."""
    is_there = t.Link(relation, target.id) in source.links
    if is_there and not again:
        return []
    if relation == "blocks" and not is_there:
        _no_cycle(world, source, target)
    return [
        *on(world, "task", source.id, [t.TaskLinked(by, relation, target.id)]),
        *on(world, "links", target.id, [LinkedFrom(relation, source.id)]),
    ]


def _no_cycle(world: StateLoader, source: Task, target: Task) -> None:
    """Refuse an edge `source blocks target` if target already blocks source, however far."""
    seen, ahead = {target.id}, [target.id]
    while ahead:  # bounded by CYCLE_SEARCH_MAX
        if len(seen) > CYCLE_SEARCH_MAX:
            because = f"more than {CYCLE_SEARCH_MAX} tasks hang on {target.title!r}"
            instead = "remove some `blocks` links first"
            raise Refused("cycle", because=because, instead=instead)
        links = world.load(TASK, ahead.pop()).links
        blocked = [link.target for link in links if link.relation == "blocks"]
        if source.id in blocked:
            blocks = f"{target.title!r} already blocks {source.title!r}"
            because = f"{blocks}, directly or through others"
            raise Refused("cycle", because=because, instead="remove that link first")
        ahead += [one for one in blocked if one not in seen]
        seen.update(blocked)


# ---------------------------------------------------------------------------- tasks and the catalog


def _facts(world: LogState, task: str, facts: list[TaskFact]) -> Decision:
    return Decision(on(world, "task", task, facts), Result((task,)))


def known_category(catalog: Catalog, wanted: str) -> tuple[str, list[c.CatalogFact]]:
    """A category's id; Inbox, which everybody sees, is made if it is missing."""
    if (known := c.find_category(c.with_inbox(catalog), wanted)) is None:
        raise c.unknown_category(wanted)
    return known.id, [] if known.id in catalog.categories else c.add_category(catalog, c.INBOX, "")


def _inbox(catalog: Catalog, wanted: str) -> tuple[str, list[c.CatalogFact]]:
    """The wanted category's id; where none is wanted, Inbox, whatever it is called now, made if it
    is missing."""
    if wanted:
        return known_category(catalog, wanted)
    inbox = c.category_id(c.INBOX)
    return inbox, [] if inbox in catalog.categories else c.add_category(catalog, c.INBOX, "")


def _label_id(catalog: Catalog, wanted: str) -> str:
    if (known := c.find_label(catalog, wanted)) is None:
        raise c.unknown_label(wanted)
    return known.id


def _label_ids(catalog: Catalog, names: tuple[str, ...]) -> list[str]:
    """Ids of labels by name or id, each once."""
    return list(dict.fromkeys(_label_id(catalog, name) for name in names))


def _category_made(catalog: Catalog, wanted: str) -> list[c.CatalogFact]:
    """What makes a category that is wanted and not there."""
    is_there = not wanted or c.find_category(c.with_inbox(catalog), wanted)
    return [] if is_there else c.add_category(catalog, wanted, "")


def _labels_made(catalog: Catalog, names: tuple[str, ...], category: str) -> list[c.CatalogFact]:
    """What makes the labels that are not there, for this category."""
    titles = [edits.titled(one, c.NAME_MAX) for one in names if c.find_label(catalog, one) is None]
    made = {c.label_id(one): one for one in reversed(titles)}
    return [c.LabelScoped(one, (category,), name) for one, name in reversed(made.items())]


def create_task(cause: do.CreateTask, key: str, at: str, world: LogState) -> Decision:
    catalog, task_id = world.load(CATALOG, MAIN), make_key("task", key, "0")
    title = edits.titled(cause.title, edits.TITLE_MAX)
    made = _category_made(catalog, cause.category) if cause.makes_names else []
    catalog = after(world, CATALOG, catalog, made, at)
    category, inbox = _inbox(catalog, cause.category)
    new = _labels_made(catalog, cause.labels, category) if cause.makes_names else []
    catalog = after(world, CATALOG, catalog, new, at)
    made = [*made, *inbox, *new]
    task = Task(task_id, exists=True, title=title, category=category)
    facts: list[TaskFact] = [t.TaskCreated(PERSON, title, category)]
    if cause.status:
        facts += edits.set_status(task, cause.status, cause.reason, PERSON)
    facts += edits.set_fields(task, cause)
    labels = _label_ids(catalog, cause.labels)
    facts += [t.LabelAssigned(PERSON, one) for one in labels]
    if cause.scopes_labels:
        made += c.scope_labels(catalog, dict.fromkeys(labels, (category,)))
    events = on(world, "catalog", MAIN, made) + on(world, "task", task_id, facts)
    return Decision(events, Result((task_id,)))


def edit_task(cause: do.EditTask, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    facts: list[TaskFact] = []
    if cause.title:
        facts += edits.retitle(task, cause.title, PERSON)
    if cause.description is not None:
        facts += edits.describe(task, cause.description, PERSON)
    if cause.status:
        facts += edits.set_status(task, cause.status, cause.reason, PERSON)
    facts += edits.set_fields(task, cause)
    made: list[c.CatalogFact] = []
    if cause.category:
        catalog = world.load(CATALOG, MAIN)
        new = _category_made(catalog, cause.category) if cause.makes_names else []
        category, inbox = known_category(after(world, CATALOG, catalog, new, at), cause.category)
        made = [*new, *inbox]
        facts += edits.set_category(task, category, PERSON)
    ended = stopped(world, at, of=task.id) if cause.stops_timer else []
    events = [*ended, *on(world, "catalog", MAIN, made), *on(world, "task", task.id, facts)]
    if task.is_open and (cause.next_due or cause.next_wait):
        edited = after(world, TASK, task, facts, at)
        made_id, more, kept = repeated(world, edited, cause.next_due, cause.next_wait, PERSON)
        return Decision([*events, *more], Result((task.id, made_id)), kept)
    return Decision(events, Result((task.id,)))


def repeated(
    world: LogState, task: Task, due: str, wait_until: str, by: str, made: Task | None = None
) -> tuple[str, list[Event], Sequence[Payload]]:
    """The task that follows one that repeats and is closed: its id, and what makes it; nothing
    where it is there already. `made`: as a file just brought it, which says not all of it."""
    if made is None:
        made = world.load(TASK, repeat.next_id(task.id))
        if made.is_there:
            return made.id, [], ()
    description, kept = words(made.id, world.text(task.description))
    facts = edits.next_of(task, made, edits.Next(due, wait_until, description), by)
    link = [] if made.is_deleted else linked(world, made, FOLLOWS, task, by)
    return made.id, [*on(world, "task", made.id, facts), *link], kept


def add_items(cause: do.AddItems, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    facts = edits.add_items(task, edits.few(cause.titles), cause.checklist, PERSON)
    made = tuple(fact.item for fact in facts if isinstance(fact, t.ItemAdded))
    return Decision(on(world, "task", task.id, facts), Result(made))


def edit_item(cause: do.EditItem, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    item = edits.known_item(task, cause.item)
    facts = edits.edit_item(
        task, item, title=cause.title, is_checked=cause.is_checked, is_archived=cause.is_archived
    )
    events = on(world, "task", task.id, facts)
    renamed = next((fact for fact in facts if isinstance(fact, t.ItemRetitled)), None)
    if renamed is None or item.by == PERSON:
        return Decision(events, Result((item.id,)))
    corrected, payloads = _correction(world, task, item.title, renamed.title)
    return Decision([*events, *corrected], Result((item.id,)), payloads)


def _correction(
    world: LogState, task: Task, before: str, after: str
) -> tuple[list[Event], list[Payload]]:
    """What was written, most often not by the person, and what they made of it, as an example."""
    texts = [payload(task.id, before.encode()), payload(task.id, after.encode())]
    captured = c.CorrectionCaptured(task.category, texts[0].id, texts[1].id)
    return on(world, "catalog", MAIN, [captured]), texts


def add_note(cause: do.AddNote, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    note = make_key("note", key, "0")
    facts = edits.add_note(task, note, cause.note_kind, cause.words)
    return Decision(on(world, "task", task.id, facts), Result((note,)))


def edit_note(cause: do.EditNote, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    note = edits.known_note(task, cause.note)
    facts = edits.edit_note(task, note, cause.words)
    events = on(world, "task", task.id, facts)
    is_own = note.by == PERSON and not cause.corrects
    if not facts or is_own or note.note_kind != "transcript":
        return Decision(events, Result((note.id,)))
    before, after = world.text(note.words), world.text(cause.words)
    corrected, payloads = _correction(world, task, before, after)
    return Decision([*events, *corrected], Result((note.id,)), payloads)


def remove_note(cause: do.RemoveNote, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    note = edits.known_note(task, cause.note)
    return _facts(world, task.id, [t.NoteRemoved(PERSON, note.id)])


def change_labels(cause: do.ChangeLabels, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    catalog = world.load(CATALOG, MAIN)
    made = _labels_made(catalog, cause.assign, task.category) if cause.makes_names else []
    catalog, declined = after(world, CATALOG, catalog, made, at), task.suppressed
    ids = partial(_label_ids, catalog)

    facts: list[TaskFact] = [
        *(t.LabelAssigned(PERSON, one) for one in ids(cause.assign) if one not in task.labels),
        *(t.LabelRemoved(PERSON, one) for one in ids(cause.remove) if one in task.labels),
        *(t.LabelSuppressed(PERSON, one) for one in ids(cause.suppress) if one not in declined),
        *(t.LabelAllowed(PERSON, one) for one in ids(cause.allow) if one in declined),
    ]
    used = dict.fromkeys(ids(cause.assign), (task.category,)) if cause.scopes_labels else {}
    scoped = on(world, "catalog", MAIN, [*made, *c.scope_labels(catalog, used)])
    return Decision([*scoped, *on(world, "task", task.id, facts)], Result((task.id,)))


def link_task(cause: do.LinkTask, key: str, at: str, world: LogState) -> Decision:
    source, target, relation = edge(world, cause.task, cause.phrase, cause.target)
    events = linked(world, source, relation, target, PERSON)
    return Decision(events, Result((source.id, target.id)))


def unlink_task(cause: do.UnlinkTask, key: str, at: str, world: LogState) -> Decision:
    source, target, relation = edge(world, cause.task, cause.phrase, cause.target)
    if t.Link(relation, target.id) not in source.links:
        return Decision(result=Result((source.id, target.id)))
    events = on(world, "task", source.id, [t.TaskUnlinked(PERSON, relation, target.id)])
    events += on(world, "links", target.id, [UnlinkedFrom(relation, source.id)])
    return Decision(events, Result((source.id, target.id)))


def delete_task(cause: do.DeleteTask, key: str, at: str, world: LogState) -> Decision:
    task = world.load(TASK, cause.task)
    if task.exists and task.is_deleted:
        return Decision(result=Result((task.id,)))
    task = edits.living(task, cause.task)
    ended = stopped(world, at, of=task.id)
    deleted = on(world, "task", task.id, [t.TaskDeleted(PERSON)])
    return Decision([*ended, *deleted], Result((task.id,)))


def restore_task(cause: do.RestoreTask, key: str, at: str, world: LogState) -> Decision:
    task = world.load(TASK, cause.task)
    if task.exists and task.is_deleted:
        catalog = world.load(CATALOG, MAIN)
        back = c.category_back(catalog, task.category)
        back += c.labels_back(catalog, task.labels) if cause.revives else []
        restored = on(world, "task", task.id, [t.TaskRestored(PERSON)])
        return Decision([*on(world, "catalog", MAIN, back), *restored], Result((task.id,)))
    return Decision(result=Result((edits.living(task, cause.task).id,)))


def stopped(
    world: StateLoader, at: str, summary: str = "", of: str = "", by: str = PERSON
) -> list[Event]:
    """Stop what is being timed, of one task if it is named."""
    events: list[Event] = []
    for one in world.load(TIMER, MAIN).running:
        if of in ("", one.task):
            ended = t.TimeStopped(by, one.entry, at, edits.summarised(summary))
            events += on(world, "task", one.task, [ended])
            events += on(world, "timer", MAIN, [TimerStopped(one.task, one.entry)])
    return events


def timer_events(world: StateLoader, task: str, fact: t.TaskFact) -> list[Event]:
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


def start_timer(cause: do.StartTimer, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    timer = world.load(TIMER, MAIN)
    if timer.task == task.id:
        return Decision(result=Result((timer.entry,)))
    entry = make_key("time", key, "0")
    begun = on(world, "task", task.id, [t.TimeStarted(PERSON, entry, at)])
    timed = on(world, "timer", MAIN, [TimerStarted(task.id, entry)])
    return Decision([*stopped(world, at), *begun, *timed], Result((entry,)))


def stop_timer(cause: do.StopTimer, key: str, at: str, world: LogState) -> Decision:
    if not (events := stopped(world, at, cause.summary)):
        instead = Remedy("start_timer")
        raise Refused("nothing_running", because="no timer is running", instead=instead)
    timer = world.load(TIMER, MAIN)
    return Decision(events, Result((timer.entry, timer.task)))


def log_time(cause: do.LogTime, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    entry = make_key("time", key, "0")
    facts = edits.log_time(task, entry, cause.start, cause.end, cause.summary)
    return Decision(on(world, "task", task.id, facts), Result((entry,)))


def retime_entry(cause: do.RetimeEntry, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    entry = edits.known_entry(task, cause.entry)
    facts = edits.retime(task, entry, cause.start, cause.end, cause.summary, at)
    return Decision(on(world, "task", task.id, facts), Result((entry.id,)))


def rate_task(cause: do.RateTask, key: str, at: str, world: LogState) -> Decision:
    task = task_of(world, cause.task)
    entry = edits.known_entry(task, cause.entry).id if cause.entry else ""
    return _facts(world, task.id, edits.rate(task, entry, cause.score, cause.comment))


def _catalog(world: LogState, facts: list[c.CatalogFact], entity: str) -> Decision:
    return Decision(on(world, "catalog", MAIN, facts), Result((entity,)))


def add_category(cause: do.AddCategory, key: str, at: str, world: LogState) -> Decision:
    name = edits.titled(cause.name, c.NAME_MAX, "name")
    catalog = world.load(CATALOG, MAIN)
    facts = c.add_category(catalog, name, cause.language)
    known = c.find_category(catalog, name)
    return _catalog(world, facts, known.id if known else c.category_id(name))


def rename_category(cause: do.RenameCategory, key: str, at: str, world: LogState) -> Decision:
    catalog = world.load(CATALOG, MAIN)
    name = edits.titled(cause.name, c.NAME_MAX, "name")
    category, made = known_category(catalog, cause.category)
    seen = c.with_inbox(catalog)
    facts = c.rename_category(seen if made else catalog, seen.categories[category], name)
    return _catalog(world, [*made, *facts] if facts else [], category)


def add_correction(cause: do.AddCorrection, key: str, at: str, world: LogState) -> Decision:
    category, made = known_category(world.load(CATALOG, MAIN), cause.category)
    fact = c.CorrectionCaptured(category, cause.before, cause.after)
    return _catalog(world, [*made, fact], category)


def add_label(cause: do.AddLabel, key: str, at: str, world: LogState) -> Decision:
    catalog = world.load(CATALOG, MAIN)
    name = edits.titled(cause.name, c.NAME_MAX, "name")
    among = [known_category(catalog, one) for one in cause.categories]
    made = [fact for _, facts in among for fact in facts]
    facts = c.add_label(catalog, name, tuple(sorted(one for one, _ in among)))
    return _catalog(world, [*dict.fromkeys(made), *facts] if facts else [], c.label_id(name))


def delete_label(cause: do.DeleteLabel, key: str, at: str, world: LogState) -> Decision:
    catalog = world.load(CATALOG, MAIN)
    facts = c.delete_label(catalog, cause.label)
    return _catalog(world, facts, _label_id(catalog, cause.label))


def narrow_labels(cause: do.ScopeLabels, key: str, at: str, world: LogState) -> Decision:
    labels = world.load(CATALOG, MAIN).labels
    wide = [one for one in cause.labels if one.label in labels and not labels[one.label].categories]
    facts = [c.LabelScoped(one.label, one.categories, narrows=True) for one in wide]
    return Decision(on(world, "catalog", MAIN, facts), Result(tuple(one.label for one in wide)))


Handler = Callable[[Any, str, str, LogState], Decision]


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
