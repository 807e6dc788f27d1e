"""The history of a task: all its facts as sentences, the newest first, and what can be undone.

Why a field is as it is stands in a task's own rows and what they name, however large the home is.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.documents.inbox import place_told, set_name
from adapters.documents.members import Members
from adapters.documents.ranks import Ranks, ranks_of
from adapters.documents.tasks import FieldWhy, HistoryEntry, TaskHistory, WhyLead, WhyStep
from adapters.text import task_facts
from adapters.text.common import local_time
from adapters.text.task import duration
from adapters.text.task_facts import did, who
from adapters.timetravel.why import append_of
from adapters.usecases.undoing import Deed, deeds_of
from domain.agent.wake_queue import Trigger
from domain.append import envelope
from domain.changes.change_set import ChangeItem
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.document import category_name, label_name
from domain.journal.imported import decoded
from domain.journal.task import FIELDS, TASK, Task, item_of, rating_of
from domain.log.state import MAIN, RecordedEvent
from domain.text import cut, fold, squeeze
from domain.tools.registry import makes_task
from domain.wake.wake import ToolReturned
from projections import agents, inbox, tasks, wakes
from projections.inbox import SetDocument
from projections.wakes import CauseLine

if TYPE_CHECKING:
    from adapters.wiring import Home


class TaskEvent(NamedTuple):
    """A fact of a task, and the task before it; `is_shared`: machines share the journal."""

    row: RecordedEvent
    before: Task
    is_shared: bool = False

    @property
    def entry(self) -> str:
        """How its history names it."""
        return entry_of(self.row, is_shared=self.is_shared)

    @property
    def by(self) -> str:
        return str(getattr(self.row.fact, "by", ""))


class ConfirmedProposal(NamedTuple):
    """The proposal whose confirmation changed a task, as the person calls it."""

    set: SetDocument
    item: ChangeItem
    ref: str


def entry_of(row: RecordedEvent, *, is_shared: bool) -> str:
    """How a task's history names a row: its append, and which row of that it is, ``42.3``; where
    machines share the journal, with whose that is, ``desk-42.3``."""
    return f"{row.replica}-{row.n}.{row.row}" if is_shared else f"{row.n}.{row.row}"


class TaskPast:
    """All that happened to a task."""

    def __init__(self, home: "Home", task_id: str) -> None:
        self.home = home
        self.id = task_id
        self.is_shared = home.services.journal.is_shared
        self.happened: list[TaskEvent] = []
        state = TASK.initial(task_id)
        with home.services.journal.reading() as world:
            rows = world.rows(TASK, task_id)
            self.names = task_facts.FactNames(world.load(CATALOG, MAIN), self.title_of)
        for row in rows:
            before, state = state, TASK.evolve(state, row)
            self.happened.append(TaskEvent(row, before, self.is_shared))
        self.task = state
        self._appends = cache(self._append_at)
        self._members = Members(home)
        self._commands = cache(self._command_at)
        self._proposals = cache(self._proposals_of)

    def title_of(self, task_id: str) -> str:
        found = self.home.views.get(tasks.VIEW, task_id)
        return found.title if found else task_id[:8]

    def text(self, words: Any) -> str:
        """A text of the journal, wherever it is kept."""
        with self.home.services.journal.reading() as world:
            return world.text(words)

    def command_of(self, row: RecordedEvent) -> Any:
        """What was asked for that made a row's append; None where that cannot be found."""
        return self._commands(row.n, row.replica)

    def _command_at(self, n: int, replica: str) -> Any:
        append = self._appends(n, replica)
        return envelope.cause_of(append[0])[0] if append else None

    def _append_at(self, n: int, replica: str) -> Sequence[RecordedEvent]:
        return append_of(self.home.services.journal, n, replica)

    def member_of(self, row: RecordedEvent) -> str:
        """Which member of a home of several people made a row's append; empty: it does not say."""
        append = self._appends(row.n, row.replica)
        return self._members.named(append[0]) if append else ""

    def subject(self, one: TaskEvent) -> str:
        """Who did it, as a sentence begins: a member by name."""
        by_person = who(one.by) == "you"
        return (by_person and self.member_of(one.row)) or task_facts.subject(one.by)

    def proposed(self, row: RecordedEvent) -> ConfirmedProposal | None:
        """The proposal that a row's append carried out; None where it was none."""
        command = self.command_of(row)
        if not isinstance(command, do.ApplyOperation):
            return None
        if makes_task(command.tool):  # by an agent of another subject
            views, sets = self.home.views, self.home.services.agent(command.agent).sets
            found = (views.get(inbox.VIEW, one) for one in sets)
            return self._by_operation(one for one in found if one).get(command.operation)
        return self._proposals(command.task).get(command.operation)

    def _proposals_of(self, task_id: str) -> dict[str, ConfirmedProposal]:
        """All proposals of a task, by the operations that they were carried out by."""
        return self._by_operation(self.home.views.page(inbox.VIEW, shelf=task_id))

    def _by_operation(self, found: Iterable[inbox.SetDocument]) -> dict[str, ConfirmedProposal]:
        return {
            operation: ConfirmedProposal(
                one, item, f"{set_name(self._ranks, one.id)}.{item.number}"
            )
            for one in found
            for item in one.items
            for operation in item.operations
        }

    @cached_property
    def _ranks(self) -> Ranks:
        return ranks_of(self.home)


# -------------------------------------------------------------------------- why a field is as it is

WORDS_MAX = 400  # of a note
WAKES_MAX = 20  # of an agent, looked at for the one that changed something at once
PLAIN = ("title", "status", *(one.name for one in FIELDS), "category", "description")
"""The fields that every task has."""


def why_field(home: "Home", task_id: str, field: str) -> FieldWhy:
    """Why a field of a task is as it is. `field`: one of `PLAIN`, or ``item:ID``, ``tick:ID``,
    ``label:ID``, ``note:ID``, ``time:ID``, ``rating``, ``link:RELATION:ID``; or the words of an
    item or label. Raises Refused, code ``unknown_field``: it has none of that name."""
    past = TaskPast(home, task_id)
    known = {one for each in past.happened for one in task_facts.concerns(each.row.fact)}
    name = field if field in known or field in PLAIN else _field_meant(past, field)
    steps = list(_Trace(past, name).steps(past.happened))
    return FieldWhy(task_id, name, label_of(name), value_of(past, name), steps)


def _field_meant(past: TaskPast, words: str) -> str:
    """The field that somebody means by a column's name, an item's title or a label's name."""
    wanted, catalog, task = _plain_field(words), past.names.catalog, past.task
    named = {one.key: one.name for one in FIELDS}
    named |= {noun: name for name, noun in task_facts.NOUNS.items()}
    named |= {_plain_field(label_name(catalog, one)): f"label:{one}" for one in task.labels}
    named |= {_plain_field(one.title): f"item:{one.id}" for one in task.items}
    if wanted not in named:
        because = f"the task has no field {cut(words, length_max=40)!r}"
        instead = f"name one of {', '.join(PLAIN)}, rating, or an item or label of it"
        raise Refused("unknown_field", because=because, instead=instead)
    return named[wanted]


def _plain_field(words: str) -> str:
    return fold(squeeze(words))


# ---------------------------------------------------------------------------------------- values


def label_of(field: str) -> str:
    """What a field is called.

    >>> label_of("due"), label_of("tick:abc")
    ('Due date', 'Tick of the item')
    """
    kind = field.partition(":")[0]
    return _LABELS.get(kind) or task_facts.NOUNS.get(kind, kind).capitalize()


_LABELS = {"item": "Checklist item", "tick": "Tick of the item", "time": "Time entry"}


def value_of(past: TaskPast, field: str) -> str:
    """The value of a field in words; empty where there is none."""
    task = past.task
    kind, _, about = field.partition(":")
    match kind:
        case "description":
            return cut(past.text(task.description), length_max=WORDS_MAX)
        case "category":
            return category_name(past.names.catalog, task.category)
        case "estimate":
            return duration(task.estimate)
        case "status":
            return task.status + (f", because {task.status_reason}" * bool(task.status_reason))
        case "rating":
            found = rating_of(task, about)
            return f"{found.score} of 5" if found else ""
        case "label":
            return label_name(past.names.catalog, about) if about in task.labels else ""
        case "link":
            relation, _, target = about.partition(":")
            is_there = any((one.relation, one.target) == (relation, target) for one in task.links)
            return f"{task_facts.phrase(relation)} “{past.title_of(target)}”" if is_there else ""
        case "item" | "tick" | "note" | "time":
            return _part_value(past, kind, about)
        case _:
            return str(getattr(task, kind))


def _part_value(past: TaskPast, kind: str, about: str) -> str:
    task = past.task
    if kind in ("item", "tick"):
        item = item_of(task, about)
        told = ("ticked" if item.is_checked else "not ticked") if item else ""
        return told if kind == "tick" else item.title if item else ""
    if kind == "note":
        note = next((one for one in task.notes if one.id == about), None)
        return cut(past.text(note.words), length_max=WORDS_MAX) if note else ""
    zone = past.home.settings.timezone
    entry = next((one for one in task.time if one.id == about), None)
    if entry is None:
        return ""
    summary = f": {entry.summary}" if entry.summary else ""
    return f"{local_time(entry.start, zone)} to {local_time(entry.end, zone) or 'now'}{summary}"


# ----------------------------------------------------------------------------------------- steps


class _Trace(NamedTuple):
    """Follows a value to what it came from."""

    past: TaskPast
    field: str

    def steps(self, happened: Sequence[TaskEvent]) -> Iterator[WhyStep]:
        """The steps that led to the value, as these facts leave it."""
        own = [one for one in happened if self.field in task_facts.concerns(one.row.fact)]
        if not own or (self.field == "status" and isinstance(own[-1].row.fact, t.TaskCreated)):
            yield WhyStep("unset", _unset_words(self.field))
            return
        last = own[-1]
        yield from self._written(last, happened)
        command = self.past.command_of(last.row)
        if isinstance(command, do.UndoDeed | do.UndoImport):
            yield from self._undone(last, command, happened)
        elif who(last.by) == "agent":
            yield from self._by_agent(last)
        else:
            yield self._set(last, command)

    def _lead(self, row: RecordedEvent) -> WhyLead:
        return WhyLead("entry", entry_of(row, is_shared=self.past.is_shared), row.entity)

    def _sentence(self, one: TaskEvent) -> str:
        return f"{self.past.subject(one)} {did(one.row.fact, one.before, self.past.names)}"

    def _set(self, one: TaskEvent, command: Any) -> WhyStep:
        kind = "file" if who(one.by) == "file" else "set"
        said = self._sentence(one)
        if isinstance(command, do.SettleDifference):
            said = f"You took what the file said: {said}"
        return WhyStep(kind, f"{said}.", one.row.at, lead=self._lead(one.row))

    def _undone(
        self, one: TaskEvent, command: Any, happened: Sequence[TaskEvent]
    ) -> Iterator[WhyStep]:
        """An undo, and before it what set the value that came back."""
        said = f"By an undo you {did(one.row.fact, one.before, self.past.names)}."
        yield WhyStep("undone", said, one.row.at, lead=self._lead(one.row))
        first = command.first if isinstance(command, do.UndoImport) else min(command.appends)
        yield from self.steps([each for each in happened if each.row.n < first])

    def _by_agent(self, one: TaskEvent) -> Iterator[WhyStep]:
        found, row = self.past.proposed(one.row), one.row
        if found is None:
            said = f"{self._sentence(one)}, at once: you let it do such things without asking."
            yield WhyStep("at_once", said, row.at, lead=self._lead(row))
            if run_key := self._wake_at(row):
                yield from self._woken(run_key, "")
            return
        edited = ", edited by you" if found.item.arguments_now is not None else ""
        what = did(row.fact, one.before, self.past.names)
        whose = self.past.member_of(row) or "You"
        said = f"{whose} confirmed it{edited}, and the agent {what}."
        yield WhyStep("confirmed", said, found.item.decided_at, lead=self._lead(row))
        yield from self._proposed(found)

    def _proposed(self, found: ConfirmedProposal) -> Iterator[WhyStep]:
        one, item = found.set, found.item
        lead = WhyLead("proposal", found.ref, one.task_id, one.run_key)
        said = f"The agent proposed it ({found.ref}): {item.summary.rstrip('.')}."
        yield WhyStep("proposed", said, one.created_at, lead=lead)
        rests = self._rests(found)
        woken = list(self._woken(one.run_key, item.because_at.removeprefix("note:")))
        if item.because and not any(step.lead == rests.lead for step in woken if step.lead):
            yield rests
        yield from woken

    def _rests(self, found: ConfirmedProposal) -> WhyStep:
        """The words that a proposal rests on, as the agent quoted them."""
        words = found.item.because
        place, at = place_told(found.item.because_at)
        if found.item.because_at.startswith("note:"):
            lead = WhyLead("note", at, found.set.task_id)
            notes = (one for one in self.past.task.notes if one.at == at)
            whose = next((_note_told(one.by) for one in notes), "a note")
            return WhyStep("words", f"It rests on {whose}:", at, words, lead)
        said = f"It rests on these words ({place or 'which are not in what it was shown'}):"
        return WhyStep("words", said, at or None, words)

    def _woken(self, run_key: str, note_at: str) -> Iterator[WhyStep]:
        """A wake, and what woke its agent: the words of a note, if they are among it."""
        wake = self.past.home.views.get(wakes.VIEW, run_key)
        if wake is None:
            return
        agent = self.past.home.views.get(agents.VIEW, wake.agent_id)
        said = f"It did so in a wake of the agent “{agent.agent.name if agent else wake.agent_id}”."
        lead = WhyLead("wake", run_key, wake.task_id)
        yield WhyStep("wake", said, wake.started_at, lead=lead)
        found = [self._cause(one) for one in wake.causes]
        is_note = [one for one in found if one.lead and one.lead.kind == "note"]
        is_it = [one for one in is_note if one.lead and one.lead.id == note_at]
        yield next(iter([*is_it, *is_note, *found]), WhyStep("woken", "Nobody knows what woke it."))

    def _cause(self, cause: CauseLine) -> WhyStep:
        trigger = cause.trigger
        if trigger.reason == "subscription":
            return self._change(trigger, cause.at)
        words = None
        if trigger.words:
            with self.past.home.services.agents.reading() as world:
                words = cut(world.payload(trigger.words).decode(), length_max=WORDS_MAX)
        return WhyStep("woken", _REASONS[trigger.reason], cause.at, words)

    def _change(self, trigger: Trigger, at: str) -> WhyStep:
        """The change that woke an agent: a note before all others."""
        writer, n = trigger.of or trigger.replica, trigger.of_n or trigger.position
        rows = append_of(self.past.home.services.journal, n, writer)
        rows = [one for one in rows if one.of_kind == "task" and one.replica == writer]
        if not rows:
            return WhyStep("woken", "It was woken by a change.", at)
        noted = (one for one in rows if isinstance(one.fact, t.NoteAdded | t.NoteEdited))
        row = next(noted, rows[0])
        if isinstance(row.fact, t.NoteAdded | t.NoteEdited):
            return self._note(row, row.fact)
        past = self.past if row.entity == self.past.id else TaskPast(self.past.home, row.entity)
        one = next(each for each in past.happened if each.row == row)
        elsewhere = "" if past is self.past else f" on the task “{past.task.title}”"
        said = f"{past.subject(one)} {did(row.fact, one.before, past.names)}{elsewhere}"
        return WhyStep("woken", f"{said}, and that woke it.", row.at, lead=self._lead(row))

    def _note(self, row: RecordedEvent, fact: t.NoteAdded | t.NoteEdited) -> WhyStep:
        with self.past.home.services.journal.reading() as world:
            task: Task = world.load(TASK, row.entity)
            words = cut(world.text(fact.words), length_max=WORDS_MAX)
        kept = next((one for one in task.notes if one.id == fact.note), None)
        lead = WhyLead("note", kept.at, task.id) if kept else self._lead(row)
        elsewhere = "" if task.id == self.past.id else f" on the task “{task.title}”"
        said = f"It was woken by {_note_told(fact.by)}{elsewhere}:"
        return WhyStep("woken", said, row.at, words, lead)

    def _wake_at(self, row: RecordedEvent) -> str:
        """The wake in which an agent changed something at once; empty where it is not found."""
        from adapters.timetravel.logs_at import LogHistory

        command, home = self.past.command_of(row), self.past.home
        if not isinstance(command, do.ApplyOperation):
            return ""
        before = f"{LogHistory(home.services.agents).until(row.at) + 1:012d}"
        found = home.views.page(
            wakes.VIEW, shelf=command.agent, before=before, limit=WAKES_MAX, newest_first=True
        )
        for wake in (each for one in found for each in one.every):
            rows = home.services.agents.facts(f"wake:{wake.key}@{wake.replica}")
            calls = (one.fact for one in rows if isinstance(one.fact, ToolReturned))
            if any(one.operation == command.operation for one in calls):
                return wake.run_key
        return ""

    def _written(self, last: TaskEvent, happened: Sequence[TaskEvent]) -> Iterator[WhyStep]:
        """Where the value was written into a file since."""
        for one in reversed(happened):
            fact = one.row.fact
            if one.row.n <= last.row.n or not isinstance(fact, t.TaskImported):
                continue
            command = self.past.command_of(one.row)
            if getattr(command, "is_written_back", False) and self._says(fact):
                said = f"It was written into the file {one.by.partition(':')[2]}."
                yield WhyStep("written", said, one.row.at, lead=self._lead(one.row))
                return

    def _says(self, fact: t.TaskImported) -> bool:
        """Whether a file says the value that the field has."""
        with self.past.home.services.journal.reading() as world:
            document = decoded(world.payload(fact.document))
        kind, _, about = self.field.partition(":")
        if kind in ("item", "tick"):
            item = item_of(self.past.task, about)
            return item is not None and any(
                one.title == item.title and (kind == "item" or one.is_checked == item.is_checked)
                for one in document.items
            )
        held = value_of(self.past, self.field) if kind in ("category", "description") else None
        now = getattr(self.past.task, kind, None) if held is None else held
        return bool(now) and getattr(document, kind, None) == now


_REASONS = {
    "timer": "It was woken by its timer.",
    "user": "You asked it:",
    "manual": "You woke it.",
    "creation": "It was woken because it was new.",
    "recovery": "It was woken because it went on after a pause.",
    "request": "It was woken because another agent asked.",
    "client": "A client read the task and proposed it.",
}


def _note_told(by: str) -> str:
    """A note, as a sentence names it.

    >>> _note_told("person"), _note_told("import:TODO.md")
    ('your note', 'a note from the file TODO.md')
    """
    if who(by) == "file":
        return f"a note from the file {by.partition(':')[2]}"
    return "your note" if who(by) == "you" else "a note of an agent"


def _unset_words(field: str) -> str:
    """What stands where nobody ever said anything.

    >>> _unset_words("priority"), _unset_words("due")
    ('Nobody has set it. A new task is P2.', 'Nobody has set it.')
    """
    new = {"priority": Task("").priority, "status": Task("").status}.get(field)
    return "Nobody has set it." + (f" A new task is {new}." if new else "")


# ------------------------------------------------------------------------------------------ history

NOTE_WORDS_MAX = 400  # of a note
SCAN_MAX = 5_000  # facts that one page looks through


class HistoryFilter(NamedTuple):
    """What of a history is asked for: a kind, who did it, words that stand in it, the entry that
    it begins with, and how many at most. Empty: whatever there is."""

    kind: str = ""
    who: str = ""
    words: str = ""
    since: str = ""
    limit: int = 50


def history(home: "Home", task_id: str, wanted: HistoryFilter) -> tuple[TaskHistory, list[Deed]]:
    past = TaskPast(home, task_id)
    deeds = deeds_of(home, task_id)
    journal = home.services.journal
    own = journal.replica if journal.is_shared else ""
    left = {n: deed.ref for deed in reversed(deeds) for n in deed.appends}
    entries: list[HistoryEntry] = []
    following, looked = "", 0
    for one in _from(past, wanted.since):
        if len(entries) == wanted.limit or looked == SCAN_MAX:
            following = one.entry
            break
        looked += 1
        if _fits_filter(past, one, wanted):
            ref = left.get(one.row.n, "") if own in ("", one.row.replica) else ""
            if ref:
                left = {n: other for n, other in left.items() if other != ref}
            entries.append(_entry(past, one, ref))
    document = TaskHistory(task_id, past.task.title, entries, following or None, looked)
    return document, deeds


def _from(past: TaskPast, since: str) -> Iterator[TaskEvent]:
    """The facts, the newest first, from an entry on."""
    is_there = not since or all(one.entry != since for one in past.happened)
    for one in reversed(past.happened):
        is_there = is_there or one.entry == since
        if is_there:
            yield one


def _fits_filter(past: TaskPast, one: TaskEvent, wanted: HistoryFilter) -> bool:
    if wanted.kind in task_facts.KINDS and task_facts.kind_of(one.row.fact) != wanted.kind:
        return False
    if wanted.who in task_facts.WHO and who(one.by) != wanted.who:
        return False
    if not wanted.words.strip():
        return True
    text = f"{_said(past, one)} {_words(past, one) or ''}"
    return all(each in fold(text) for each in fold(wanted.words).split())


def _said(past: TaskPast, one: TaskEvent) -> str:
    return f"{past.subject(one)} {did(one.row.fact, one.before, past.names)}."


def _words(past: TaskPast, one: TaskEvent) -> str | None:
    match one.row.fact:
        case t.NoteAdded(words=words) | t.NoteEdited(words=words):
            return cut(past.text(words), length_max=NOTE_WORDS_MAX)
        case t.TaskDescribed(description=words):
            return cut(past.text(words), length_max=NOTE_WORDS_MAX)
        case _:
            return None


def _entry(past: TaskPast, one: TaskEvent, undo: str) -> HistoryEntry:
    found, said = past.proposed(one.row), _said(past, one)
    if isinstance(past.command_of(one.row), do.UndoDeed | do.UndoImport):
        said = f"By an undo {said[:1].lower()}{said[1:]}"
    what = one.entry, one.row.at, task_facts.kind_of(one.row.fact), who(one.by), said
    ref, run_key = (found.ref, found.set.run_key) if found else (None, None)
    member = past.member_of(one.row) or None
    return HistoryEntry(*what, _words(past, one), ref, run_key, undo or None, member)
