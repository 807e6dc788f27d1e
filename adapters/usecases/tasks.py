"""What a person does to tasks: each deed is a command of the journal, appended under its key."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from adapters.runtime import follow_ups, watcher
from adapters.usecases.inputs import day, relation
from adapters.usecases.repeating import next_fields
from adapters.usecases.resolve import kept_before, nth_key
from domain.append import envelope
from domain.journal import commands as do
from domain.journal.catalog import CATALOG, find_category, find_label, with_inbox
from domain.journal.imported import decoded
from domain.journal.links import INVERSE, is_blocked
from domain.journal.repeat import next_id
from domain.journal.task import CLOSED, TASK, NoteKind, Task, TimeStopped
from domain.log.state import MAIN, entity_of
from domain.log.timestamps import instant, moment
from domain.log.wire import Payload, Words, payload, words

if TYPE_CHECKING:
    from adapters.store.log import Appended
    from adapters.wiring import Home
    from domain.journal.commands import JournalCommand
    from domain.log.state import LogState

STOPPED = "task.time_stopped.1"
RESTORED = "task.restored.1"
BLOCKS = "blocks"
REPEATING = ("due", "wait_until", "repeat")
Fields = Mapping[str, Any]
"""Fields of a command, `EditTask` for example; those that are left out stay as they are."""


class UseCaseResult(NamedTuple):
    """What came of a deed: the ids of what was made or meant, whether anything changed, and
    whether it was done before under its key. `name`: what its first append is kept under; the
    later ones of a deed without a key are named after it, so that all are undone as one.
    `stopped`: the time entries whose timer it ended; `unblocked`: the tasks that waited for what is
    closed now, and for nothing else; `made`: the label or category, in words, that was made with
    it because it was not there."""

    ids: tuple[str, ...]
    has_changed: bool
    is_repeated: bool
    name: str = ""
    stopped: tuple[str, ...] = ()
    unblocked: tuple[str, ...] = ()
    made: tuple[str, ...] = ()

    def then(self, other: "UseCaseResult") -> "UseCaseResult":
        """Both, one after the other."""
        return self._replace(
            has_changed=self.has_changed or other.has_changed,
            is_repeated=self.is_repeated or other.is_repeated,
            name=self.name or other.name,
            stopped=self.stopped + other.stopped,
            unblocked=self.unblocked + other.unblocked,
            made=self.made + other.made,
        )


def resume_restored(home: "Home", appended: "Appended") -> None:
    """The agents of tasks that an append brought back wake again."""
    if back := [entity_of(row.stream) for row in appended.rows if row.topic == RESTORED]:
        from adapters.usecases.agents import resume_agents_of

        resume_agents_of(home, back)


def append_command(
    home: "Home",
    command: "JournalCommand",
    key: str = "",
    *,
    nth: int = 1,
    payloads: "Sequence[Payload]" = (),
) -> UseCaseResult:
    """Append a command under the nth key of a deed."""
    with dispatch_after_commit(home):
        appended = home.services.append_journal(command, key=nth_key(key, nth), payloads=payloads)
        resume_restored(home, appended)
    has_changed = len(appended.rows) > 1  # one alone is a receipt
    name = entity_of(appended.rows[0].stream) if appended.rows else ""
    if has_changed:
        home.has_changed = True
    elif not (key and not appended.rows):
        home.asked = getattr(command, "task", "")
    facts = (envelope.read(row).data for row in appended.rows if row.topic == STOPPED)
    stopped = tuple(fact.entry for fact in facts if isinstance(fact, TimeStopped))
    return UseCaseResult(
        appended.result.ids, has_changed, bool(key) and not appended.rows, name, stopped
    )


def on_tasks(
    home: "Home",
    keys: Mapping[str, str],
    deed: "Callable[[Home, str, str], UseCaseResult]",
) -> Iterator[tuple[str, UseCaseResult]]:
    """Do a deed to each of some tasks, by id with the key of each; to `undo` they are one."""
    name = ""
    for nth, (task_id, key) in enumerate(keys.items(), start=1):
        kept = deed(home, task_id, key or (nth_key(name, nth) if name else ""))
        name = name or kept.name
        yield task_id, kept


def is_done(home: "Home", key: str) -> bool:
    return bool(key) and bool(home.services.journal.receipts(nth_key(key, 1)))


# --------------------------------------------------------------------------------------- fields


def add_task(
    home: "Home",
    title: str,
    fields: Fields,
    key: str = "",
    *,
    labels: Sequence[str] = (),
    items: Sequence[str] = (),
    description: str | None = None,
) -> UseCaseResult:
    """Add a task; its description and its items are appends of their own."""
    new = _unknown_names(home, fields.get("category"), labels)
    named: Fields = {"scopes_labels": _have_scope(home, labels), "makes_names": bool(new)}
    command = do.CreateTask(title, labels=tuple(labels), **fields, **named)
    made = append_command(home, command, key)._replace(made=new)
    task_id, key, nth = made.ids[0], key or made.name, 2
    if description is not None:
        made, nth = made.then(_described(home, task_id, {}, description, key, nth)), 3
    if items:
        made = made.then(append_command(home, do.AddItems(task_id, tuple(items)), key, nth=nth))
    return made


def edit_task(
    home: "Home",
    task_id: str,
    fields: Fields,
    key: str = "",
    *,
    description: str | None = None,
    nth: int = 1,
    is_last: bool = False,
) -> UseCaseResult:
    """Change fields of a task, and its description if one is given. Where it is closed so, a timer
    of it that runs is stopped, and one that repeats is followed by the next, with an agent like
    its own; `is_last`: by none."""
    is_closing = str(fields.get("status", "")).strip().upper() in CLOSED
    if is_closing:
        task = _task(home, task_id)
        fields = {**fields, **({"stops_timer": True} if task.running else {})}
        if task.is_open and not is_last:
            said = {name: fields[name] for name in REPEATING if fields.get(name) is not None}
            fields |= next_fields(replace(task, **said), day("today", home))
    if new := _unknown_names(home, fields.get("category"), ()):
        fields = {**fields, "makes_names": True}
    with dispatch_after_commit(home):
        if description is None:
            kept = append_command(home, do.EditTask(task_id, **fields), key, nth=nth)
        else:
            kept = _described(home, task_id, fields, description, key, nth)
        kept = kept._replace(made=new)
        for made in kept.ids[1:]:
            _accompany(home, task_id, made)
        if not is_closing or not (kept.has_changed or kept.is_repeated):
            return kept
        return kept.then(_unblock(home, task_id, key or kept.name, nth))


def change_task(
    home: "Home",
    task_id: str,
    fields: Fields,
    key: str = "",
    *,
    labels: Sequence[str] = (),
    remove: Sequence[str] = (),
    **told: Any,
) -> UseCaseResult:
    """Change fields of a task, put labels on it and take others off; `told`: see `edit_task`."""
    if not (labels or remove):
        return edit_task(home, task_id, fields, key, **told)
    put = assign_labels(home, task_id, labels, key, remove)
    if not fields and told.get("description") is None:
        return put._replace(ids=(task_id,))
    made = edit_task(home, task_id, fields, key or put.name, nth=2, **told)
    return put.then(made)._replace(ids=made.ids)


def set_done(home: "Home", task_id: str, key: str = "") -> UseCaseResult:
    """Set a task DONE, see `edit_task`."""
    return edit_task(home, task_id, {"status": "DONE"}, key)


def _unblock(home: "Home", task_id: str, key: str, nth: int) -> UseCaseResult:
    """What waited for a task that is closed, and for no other open one; where a file said that it
    waits, its status is as before."""
    with home.services.journal.reading() as world:
        blocked = [one.target for one in world.load(TASK, task_id).links if one.relation == BLOCKS]
        waited = [world.load(TASK, one) for one in blocked]
        freed = [one for one in waited if one.is_open and not is_blocked(world, one.id)]
        of_files = {one.id for one in freed if _said_by_file(world, one)}
    done = UseCaseResult((), has_changed=False, is_repeated=False)
    for one in freed:
        if one.status == "BLOCKED" and one.id in of_files:
            nth += 1
            done = done.then(append_command(home, do.EditTask(one.id, status="OPEN"), key, nth=nth))
    return done._replace(unblocked=tuple(one.id for one in freed))


def _said_by_file(world: "LogState", task: Task) -> bool:
    """Whether a task has the status that its file gave it, perhaps by an undo once more."""
    if not task.imported:
        return False
    said = decoded(world.payload(task.imported[-1][1]))
    return (said.status, said.status_reason) == (task.status, task.status_reason)


def _task(home: "Home", task_id: str) -> Task:
    with home.services.journal.reading() as world:
        return world.load(TASK, task_id)


def _accompany(home: "Home", task_id: str, made: str) -> None:
    """Give the task that follows another one an agent like that one's."""
    from domain.wake.wake_inputs import agent_of_task  # it loads the tools, and few tasks repeat

    with home.services.agents.reading() as world:
        agent = agent_of_task(world, task_id)
    if agent is not None:
        follow_ups.accompany(home.services, agent, made)


def describe(home: "Home", task_id: str, text: str, key: str = "") -> UseCaseResult:
    return _described(home, task_id, {}, text, key)


def _described(
    home: "Home", task_id: str, fields: Fields, text: str, key: str, nth: int = 1
) -> UseCaseResult:
    said, payloads = words(task_id, text)
    command = do.EditTask(task_id, description=said, **fields)
    return append_command(home, command, key, nth=nth, payloads=payloads)


def conclude_task(
    home: "Home", task_id: str, title: str, key: str = "", *, keeps_items: bool = False
) -> UseCaseResult:
    """Set a task DONE and let a new one follow it, with the items that are open and an agent like
    the one that it has; the first id is the new task's."""
    said, runs = payload(task_id, title.encode()), bool(_task(home, task_id).running)
    command = do.ConcludeTask(task_id, Words(payload=said.id), keeps_items, stops_timer=runs)
    with dispatch_after_commit(home):
        kept = append_command(home, command, key, payloads=[said])
        _accompany(home, task_id, kept.ids[0])
    return kept


def accompany_next(home: "Home", task_id: str) -> None:
    """Give the task that follows one that repeats an agent like that one's, if it is there."""
    if (made := _task(home, next_id(task_id))).is_open:
        _accompany(home, task_id, made.id)


def delete_task(home: "Home", task_id: str, key: str = "") -> UseCaseResult:
    """Delete a task; it can be restored."""
    return append_command(home, do.DeleteTask(task_id), key)


def restore_task(home: "Home", task_id: str, key: str = "") -> UseCaseResult:
    """Bring a deleted task back with all it had."""
    return append_command(home, do.RestoreTask(task_id, has_lost_labels(home, [task_id])), key)


def has_lost_labels(home: "Home", tasks: Iterable[str]) -> bool:
    """Whether a deleted one of these tasks carries a label that is out of use."""
    with home.services.journal.reading() as world:
        labels = world.load(CATALOG, MAIN).labels
        gone = [one for one in (world.load(TASK, task) for task in tasks) if one.is_deleted]
        return any(labels[one].is_deleted for task in gone for one in task.labels if one in labels)


# ---------------------------------------------------------------------------------------- parts


def mark_items(
    home: "Home",
    task_id: str,
    item_ids: Iterable[str],
    key: str = "",
    *,
    is_checked: bool | None = None,
    is_archived: bool | None = None,
) -> UseCaseResult:
    """Tick, untick, put away or bring back items, each with an append of its own."""
    kept = UseCaseResult((), has_changed=False, is_repeated=False)
    for nth, one in enumerate(item_ids, start=1):
        command = do.EditItem(task_id, one, is_checked=is_checked, is_archived=is_archived)
        kept = kept.then(append_command(home, command, key or kept.name, nth=nth))
    return kept


def edit_item(
    home: "Home", task_id: str, item_id: str, fields: Fields, key: str = ""
) -> UseCaseResult:
    """Change fields of an item, those of `EditItem`."""
    return append_command(home, do.EditItem(task_id, item_id, **fields), key)


def rename_item(
    home: "Home", task_id: str, item_id: str, title: str, key: str = ""
) -> UseCaseResult:
    return edit_item(home, task_id, item_id, {"title": title}, key)


def add_items(
    home: "Home", task_id: str, titles: Sequence[str], key: str = "", *, checklist: str = ""
) -> UseCaseResult:
    """Add items at the end of a checklist; without its title, of the first."""
    return append_command(home, do.AddItems(task_id, tuple(titles), checklist), key)


def add_note(
    home: "Home", task_id: str, text: str, key: str = "", *, kind: "NoteKind" = "note"
) -> UseCaseResult:
    said, payloads = words(task_id, text)
    return append_command(home, do.AddNote(task_id, kind, said), key, payloads=payloads)


def edit_note(home: "Home", task_id: str, note_id: str, text: str, key: str = "") -> UseCaseResult:
    """Replace the text of a note; an edited transcript is a correction in the task's category."""
    said, payloads = words(task_id, text)
    command = do.EditNote(task_id, note_id, said, corrects=True)
    return append_command(home, command, key, payloads=payloads)


def remove_note(home: "Home", task_id: str, note_id: str, key: str = "") -> UseCaseResult:
    return append_command(home, do.RemoveNote(task_id, note_id), key)


def assign_labels(
    home: "Home", task_id: str, labels: Sequence[str], key: str = "", remove: Sequence[str] = ()
) -> UseCaseResult:
    """Put labels, by name or id, on a task, and take others off."""
    new = _unknown_names(home, None, labels)
    named: Fields = {"scopes_labels": _have_scope(home, labels), "makes_names": bool(new)}
    command = do.ChangeLabels(task_id, tuple(labels), tuple(remove), **named)
    return append_command(home, command, key)._replace(made=new)


def _unknown_names(home: "Home", category: str | None, labels: Sequence[str]) -> tuple[str, ...]:
    """What is made with a task, because it is not there: a category, and labels, each told."""
    if not category and not labels:
        return ()
    with home.services.journal.reading() as world:
        catalog = with_inbox(world.load(CATALOG, MAIN))
    is_new = category and find_category(catalog, category) is None
    new = (one for one in dict.fromkeys(labels) if find_label(catalog, one) is None)
    return (*[f"the category {category!r}"] * bool(is_new), *(f"the label #{one}" for one in new))


def _have_scope(home: "Home", labels: Sequence[str]) -> bool:
    """Whether any of these labels may be used in some categories only."""
    if not labels:
        return False
    with home.services.journal.reading() as world:
        catalog = world.load(CATALOG, MAIN)
    found = (find_label(catalog, one) for one in labels)
    return any(label.categories for label in found if label)


def remove_labels(
    home: "Home", task_id: str, labels: Sequence[str], key: str = ""
) -> UseCaseResult:
    return append_command(home, do.ChangeLabels(task_id, remove=tuple(labels)), key)


def suppress_labels(
    home: "Home", task_id: str, labels: Sequence[str], key: str = ""
) -> UseCaseResult:
    """Let agents propose labels for a task no longer."""
    return append_command(home, do.ChangeLabels(task_id, suppress=tuple(labels)), key)


def allow_labels(home: "Home", task_id: str, labels: Sequence[str], key: str = "") -> UseCaseResult:
    """Let agents propose labels for a task again."""
    return append_command(home, do.ChangeLabels(task_id, allow=tuple(labels)), key)


def link(home: "Home", task_id: str, phrase: str, other_id: str, key: str = "") -> UseCaseResult:
    """Link a task to another one; the phrase as `inputs.relation` reads it."""
    return append_command(home, do.LinkTask(task_id, relation(phrase, INVERSE), other_id), key)


def unlink(home: "Home", task_id: str, phrase: str, other_id: str, key: str = "") -> UseCaseResult:
    return append_command(home, do.UnlinkTask(task_id, relation(phrase, INVERSE), other_id), key)


# ----------------------------------------------------------------------------------------- time


def start_timer(home: "Home", task_id: str, key: str = "") -> UseCaseResult:
    """Start the timer on a task; one that runs is stopped."""
    return append_command(home, do.StartTimer(task_id), key)


def stop_timer(home: "Home", summary: str = "", key: str = "") -> UseCaseResult:
    """Stop the timer; the second id is the task's."""
    return append_command(home, do.StopTimer(summary), key)


def log_time(
    home: "Home", task_id: str, began: str, ended: str, key: str = "", *, summary: str = ""
) -> UseCaseResult:
    return append_command(home, do.LogTime(task_id, began, ended, summary), key)


def retime(
    home: "Home",
    task_id: str,
    entry_id: str,
    key: str = "",
    *,
    began: str = "",
    ended: str = "",
    summary: str | None = None,
) -> UseCaseResult:
    """Give a time entry other times, or another summary; what is left out stays as it is."""
    return append_command(home, do.RetimeEntry(task_id, entry_id, began, ended, summary), key)


def rate(
    home: "Home", task_id: str, score: int, key: str = "", *, entry_id: str = "", comment: str = ""
) -> UseCaseResult:
    """Say how well a task, or a time entry of it, went: 1 to 5."""
    return append_command(home, do.RateTask(task_id, score, entry_id, comment), key)


def log_done(
    home: "Home", title: str, fields: Fields, minutes: int, key: str = "", *, labels: Sequence[str]
) -> UseCaseResult:
    """Add a task that is done already, with the minutes that it took until now."""
    made = add_task(home, title, {**fields, "status": "DONE"}, key, labels=labels)
    if not minutes:
        return made
    took = kept_before(home, key, nth=2)  # a retry enters the time of then
    if not isinstance(took, do.LogTime):
        now = instant(home.services.clock.now())
        took = do.LogTime(made.ids[0], moment(now - timedelta(minutes=minutes)), moment(now))
    return made.then(append_command(home, took, key or made.name, nth=2))


# --------------------------------------------------------------------------- when agents hear of it
# When agents hear of what a deed changed in the journal: at the next wake, as after a command, or
# at once, in a home whose pages say what is queued.


@contextmanager
def dispatch_after_commit(home: "Home") -> Iterator[None]:
    """Do a deed, or several that are one to who asked for them. What came before it is taken from
    the journal first, then what it wrote, if the home is one where agents hear at once; a deed
    within a deed is heard of with it."""
    if not home.hears_at_once:
        yield
        return
    watcher.catch_up(home.services)
    home.hears_at_once = False
    try:
        yield
    finally:
        home.hears_at_once = True
    watcher.catch_up(home.services)
