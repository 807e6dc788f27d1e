"""Deeds on tasks, their parts, their time, days, categories, labels and files."""

import os
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import partial
from typing import Literal

from adapters.documents.day import DayDetails
from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.replica_conflicts import replica_conflicts
from adapters.documents.results import Deleted, FileBack, FilesBack, ImportUndone
from adapters.documents.tasks import (
    CategoryDetails,
    FoundLine,
    ImportReport,
    LabelDetails,
    TaskSummary,
    catalog_of,
    categories_named,
    category_lines,
    label_lines,
    label_named,
    task_lines,
    task_page,
)
from adapters.documents.wakes import WakeLine
from adapters.home.read_input import UnreadableInput
from adapters.text.common import safe
from adapters.usecases import catalog
from adapters.usecases import day as days
from adapters.usecases import tasks as do
from adapters.usecases.agents import AgentOptions
from adapters.usecases.import_sources import format_named, given_file, read_file, sources_of
from adapters.usecases.inputs import (
    NONE,
    day,
    fields_of,
    first_instant,
    language_named,
    minutes,
)
from adapters.usecases.resolve import (
    nth_key,
    pick_again,
    pick_entry,
    pick_note,
    pick_part,
    pick_task,
)
from adapters.usecases.resolve_conflict import numbered, open_conflicts, settle_named
from adapters.usecases.task_lists import due_now, filter_of, tasks_listed
from adapters.usecases.tasks import UseCaseResult
from domain.errors import Refused, invalid
from domain.journal import edits
from domain.journal.catalog import NAME_MAX
from domain.journal.document import TaskDetails, TaskLine
from domain.journal.task import NoteKind
from wakelog._room import Room, told

Day = str | date
"""As a person writes it, or the value; ``none`` is no day."""
Work = Callable[..., UseCaseResult]
Minutes = str | int
Moment = str | datetime


class Tasks(Room):
    """Tasks, what they are sorted by, and the files they come from."""

    def tasks(  # noqa: PLR0913  one for each option
        self, words: str = "", *, statuses: Sequence[str] = (), category: str = "",
        labels: Sequence[str] = (), not_labels: Sequence[str] = (),
        scope: Literal["", "open", "all", "deleted"] = "", is_overdue: bool = False,
        is_today: bool = False, due_before: Day = "", due_after: Day = "",
        blocks: Literal["", "blocked", "ready"] = "", is_waiting: bool = False,
        is_running: bool = False, order: str = "", limit: int = 0,
    ) -> list[TaskLine]:  # fmt: skip
        """The tasks that are not deleted, as `wakelog list`; of these only what is asked for.
        `order`: ``urgency``, ``due``, ``priority``, ``age``, ``newest`` or ``title``."""
        home = self._reading()
        wanted = filter_of(
            home, statuses=statuses, category=category, labels=labels, not_labels=not_labels,
            due_before=told(due_before) or "", due_after=told(due_after) or "", blocks=blocks,
            is_waiting=is_waiting, text=words, is_overdue=is_overdue, is_today=is_today,
            is_running=is_running,
        )  # fmt: skip
        return task_lines(home, tasks_listed(home, wanted, scope, order, limit or None).shown)

    def today(self, category: str = "") -> list[TaskLine]:
        """What is due today, or was before, the most urgent first."""
        home = self._reading()
        return task_lines(home, tasks_listed(home, due_now(home, category), order="urgency").shown)

    def search(
        self, words: str, *, category: str = "", is_deleted: bool = False, limit: int = 20
    ) -> list[FoundLine]:
        """The tasks with such words in all that they and their agents say, the best first."""
        from adapters.usecases.search import found_lines, search

        home = self._reading()
        within = categories_named(catalog_of(home), category)
        found = search(home, words, is_deleted=is_deleted, categories=within, limit=limit)
        return found_lines(home, found)

    def summary(self, *, weeks: int = 8, category: str = "") -> TaskSummary:
        """What is open, was made and was done, by week and by category."""
        from adapters.usecases.summary import summarised

        home = self._reading()
        return summarised(home, weeks, categories_named(catalog_of(home), category))

    def show_task(self, task: str) -> TaskDetails:
        """All about a task."""
        return self._details(pick_task(self._reading(), task))

    def add_task(  # noqa: PLR0913  one for each option
        self, title: str, *, description: str | None = None, status: str | None = None,
        reason: str | None = None, until: Day | None = None, priority: str | None = None,
        estimate: Minutes | None = None, due: Day | None = None, language: str | None = None,
        repeat: str | None = None, wait_until: Day | None = None, category: str | None = None,
        labels: Sequence[str] = (), items: Sequence[str] = (), key: str = "",
    ) -> TaskDetails:  # fmt: skip
        """Add a task, with a checklist of `items`. An `estimate` is minutes or ``45m``; a day a
        `date` or ``friday``; `until` is of one that is put on hold."""
        given = {
            "status": status, "reason": reason, "until": told(until), "priority": priority,
            "estimate": told(estimate), "due": told(due), "language": language,
            "repeat": repeat, "wait_until": told(wait_until), "category": category,
        }  # fmt: skip
        fields = fields_of(given, self._reading)
        titles = [edits.titled(one, edits.ITEM_TITLE_MAX) for one in items]
        made = do.add_task(
            self._writing(), title, fields, key, labels=labels, items=titles,
            description=description,
        )  # fmt: skip
        return self._details(made.ids[0])

    def log_done(
        self, title: str, *, took: Minutes = "", category: str = "", labels: Sequence[str] = (),
        key: str = "",
    ) -> TaskDetails:  # fmt: skip
        """Write down what was done already, and how long it took until now."""
        spent, fields = minutes(str(took)) if took else 0, {"category": category}
        fields = fields if category else {}
        made = do.log_done(self._writing(), title, fields, spent, key, labels=labels)
        return self._details(made.ids[0])

    def edit_task(  # noqa: PLR0913  one for each option
        self, task: str, *, title: str | None = None, description: str | None = None,
        status: str | None = None, reason: str | None = None, until: Day | None = None,
        priority: str | None = None, estimate: Minutes | None = None, due: Day | None = None,
        language: str | None = None, repeat: str | None = None, wait_until: Day | None = None,
        category: str | None = None, is_last: bool = False, labels: Sequence[str] = (),
        remove: Sequence[str] = (), key: str = "",
    ) -> TaskDetails:  # fmt: skip
        """Change fields of a task, as `add_task` takes them; what is left out stays, ``none``
        empties one. `is_last`: of one that repeats and is closed, there is no next; `remove`:
        labels that are taken off."""
        given = {
            "status": status, "reason": reason, "until": told(until), "priority": priority,
            "estimate": told(estimate), "due": told(due), "language": language,
            "repeat": repeat, "wait_until": told(wait_until), "category": category,
        }  # fmt: skip
        home = self._reading()
        fields = fields_of(given, lambda: home)
        if title is not None:
            fields["title"] = edits.titled(title, edits.TITLE_MAX)
        if description is None and not (fields or labels or remove):
            raise invalid("nothing is named that shall change", "give a field, or labels")
        for name in remove:
            label_named(catalog_of(home), name)
        said = "" if description == NONE else description
        change = partial(do.change_task, labels=labels, remove=remove, is_last=is_last)
        return self._on_task(
            task, key, lambda home, one, key: change(home, one, fields, key, description=said)
        )

    def done(self, *tasks: str, key: str = "") -> list[TaskDetails]:
        """Set tasks done; all are looked up before the first is."""
        return self._on_tasks(tasks, key, do.set_done)

    def delete_task(self, task: str, *, key: str = "") -> TaskDetails:
        """Delete a task; `restore_task` brings it back with all it had."""
        return self._on_task(task, key, do.delete_task)

    def restore_task(self, task: str, *, key: str = "") -> TaskDetails:
        """Bring a deleted task back with all it had."""
        found = pick_again(self._reading(), task, key, is_deleted=True)
        do.restore_task(self._writing(), found.id, key)
        return self._details(found.id)

    def conclude_task(
        self, task: str, title: str, *, keeps_items: bool = False, key: str = ""
    ) -> TaskDetails:
        """Set a task done, and let a new one of this title follow it with its open items, which
        is answered."""
        title = edits.titled(title, edits.TITLE_MAX)
        found = pick_again(self._reading(), task, key)
        made = do.conclude_task(self._writing(), found.id, title, key, keeps_items=keeps_items)
        return self._details(made.ids[0])

    # -------------------------------------------------------------------------- the parts of a task

    def add_items(self, task: str, *titles: str, checklist: str = "", key: str = "") -> TaskDetails:
        """Add items at the end of a checklist."""
        add = partial(do.add_items, titles=titles, checklist=checklist)
        return self._on_task(task, key, lambda home, one, key: add(home, one, key=key))

    def check(self, task: str, *items: str, key: str = "") -> TaskDetails:
        """Tick items off, named by number, id or words of their title."""
        return self._mark(task, items, key, is_checked=True)

    def uncheck(self, task: str, *items: str, key: str = "") -> TaskDetails:
        """Take the tick off items."""
        return self._mark(task, items, key, is_checked=False)

    def archive_items(self, task: str, *items: str, key: str = "") -> TaskDetails:
        """Put items aside; they no longer count."""
        return self._mark(task, items, key, is_archived=True)

    def restore_items(self, task: str, *items: str, key: str = "") -> TaskDetails:
        """Bring archived items back."""
        return self._mark(task, items, key, is_archived=False)

    def _mark(self, task: str, items: Sequence[str], key: str, **how: bool) -> TaskDetails:
        home = self._reading()
        found = pick_again(home, task, key)
        ids = dict.fromkeys(pick_part(home, found, one, key).id for one in items)
        do.mark_items(self._writing(), found.id, ids, key, **how)
        return self._details(found.id)

    def rename_item(self, task: str, item: str, title: str, *, key: str = "") -> TaskDetails:
        """Rename an item; agents learn from it if it was not you who wrote it."""
        title, home = edits.titled(title, edits.ITEM_TITLE_MAX), self._reading()
        found = pick_again(home, task, key)
        item_id = pick_part(home, found, item, key).id
        do.rename_item(self._writing(), found.id, item_id, title, key)
        return self._details(found.id)

    def note(
        self, task: str, text: str, *, kind: NoteKind = "note", edit: str = "", key: str = ""
    ) -> TaskDetails:
        """Add a note, or replace the text of the one that `edit` names, by number or id."""
        home = self._reading()
        found = pick_again(home, task, key)
        if edit:
            note_id = pick_note(home, found, edit, key)
            do.edit_note(self._writing(), found.id, note_id, text, key)
        else:
            do.add_note(self._writing(), found.id, text, key, kind=kind)
        return self._details(found.id)

    def remove_note(self, task: str, note: str, *, key: str = "") -> TaskDetails:
        """Remove a note, named by number or id."""
        home = self._reading()
        found = pick_again(home, task, key)
        note_id = pick_note(home, found, note, key)
        do.remove_note(self._writing(), found.id, note_id, key)
        return self._details(found.id)

    def link(self, task: str, relation: str, other: str, *, key: str = "") -> TaskDetails:
        """Link a task to another one: ``blocks``, ``blocked-by``, ``relates-to`` for example."""
        return self._link(task, relation, other, key, do.link)

    def unlink(self, task: str, relation: str, other: str, *, key: str = "") -> TaskDetails:
        """Remove a link."""
        return self._link(task, relation, other, key, do.unlink)

    def _link(self, task: str, relation: str, other: str, key: str, work: Work) -> TaskDetails:
        home = self._reading()
        found, there = pick_again(home, task, key), pick_again(home, other, key)
        work(self._writing(), found.id, relation, there.id, key)
        return self._details(found.id)

    # ----------------------------------------------------------------------------- what a task took

    def start_timer(self, task: str, *, key: str = "") -> TaskDetails:
        """Start the timer on a task; one that runs is stopped."""
        return self._on_task(task, key, do.start_timer)

    def stop_timer(self, *, summary: str = "", key: str = "") -> TaskDetails:
        """Stop the timer; the task that it ran on."""
        return self._details(do.stop_timer(self._writing(), summary, key).ids[1])

    def log_time(
        self, task: str, began: Moment, ended: Moment, *, summary: str = "", key: str = ""
    ) -> TaskDetails:
        """Enter time that a task took: ``09:00`` of today, ``monday 09:00`` or a `datetime`."""
        first, last = self._instant(began), self._instant(ended)
        found = pick_again(self._reading(), task, key)
        do.log_time(self._writing(), found.id, first, last, key, summary=summary)
        return self._details(found.id)

    def retime(
        self, task: str, entry: str, *, began: Moment = "", ended: Moment = "",
        summary: str | None = None, key: str = "",
    ) -> TaskDetails:  # fmt: skip
        """Correct a time entry, named by number or id; what is left out stays."""
        if not (began or ended or summary is not None):
            raise invalid("there is nothing to change", "give --start, --end or --summary")
        first, last = (self._instant(one) if one else "" for one in (began, ended))
        found = pick_again(self._reading(), task, key)
        of = found.id, pick_entry(found, entry)
        do.retime(self._writing(), *of, key, began=first, ended=last, summary=summary)
        return self._details(found.id)

    def _instant(self, given: Moment) -> str:
        home = self._open()
        now = home.services.clock.now
        return first_instant(told(given) or "", home.settings.timezone, now, is_back=True)

    def rate_task(
        self, task: str, score: int, *, entry: str = "", comment: str = "", key: str = ""
    ) -> TaskDetails:
        """Rate how a task, or one time entry of it, went: 1 to 5, the best."""
        found = pick_again(self._reading(), task, key)
        entry_id = pick_entry(found, entry) if entry else ""
        do.rate(self._writing(), found.id, score, key, entry_id=entry_id, comment=comment)
        return self._details(found.id)

    # ----------------------------------------------------------------------------------------- days

    def day(self, date: Day = "today") -> DayDetails:
        """What is planned of a day, beside the time that was really spent."""
        return self._day(date)

    def days(self, date: Day = "today", *, count: int = 7) -> list[DayDetails]:
        """So many days from one on."""
        home = self._reading()
        return days.read_days(home, days.days_from(day(told(date) or "", home), count))

    def put_block(
        self, range_: str, *, task: str = "", title: str = "", category: str = "",
        date: Day = "today", key: str = "",
    ) -> DayDetails:  # fmt: skip
        """Put a block of a task, or of a title, into a day; a range is ``9-11`` or ``9:30+90m``."""
        if bool(task) == bool(title):
            because = "a block is of a task or of a title"
            instead = f"give TASK RANGE, or --title T RANGE; RANGE is {days.SPAN_HELP}"
            raise invalid(because, instead)
        times, home = days.span(range_), self._reading()
        of = {"category": category, "title": title}
        if task:
            of["task"] = pick_again(home, task, key).id
        days.put(self._writing(), day(told(date) or "", home), *times, key, **of)
        return self._day(date)

    def move_block(
        self, block: str, range_: str, *, date: Day = "today", key: str = ""
    ) -> DayDetails:
        """Give a block, named by its start or id, another time."""
        times = days.span(range_)
        return self._on_block(block, date, key, lambda h, d, b: days.move(h, d, b, *times, key))

    def keep_block(self, block: str, *, date: Day = "today", key: str = "") -> DayDetails:
        """Keep a block as it is: no agent moves it."""
        return self._on_block(block, date, key, lambda h, d, b: days.keep(h, d, b, key))

    def remove_block(self, block: str, *, date: Day = "today", key: str = "") -> DayDetails:
        """Take a block out of a day."""
        return self._on_block(block, date, key, lambda h, d, b: days.remove(h, d, b, key))

    def _on_block(self, block: str, date: Day, key: str, work: Work) -> DayDetails:
        home = self._reading()
        on = day(told(date) or "", home)
        found = days.block_again(home, on, block, key)
        work(self._writing(), on, found)
        return self._day(date)

    def pin_task(self, task: str, *, date: Day = "today", key: str = "") -> DayDetails:
        """Say that a task is wanted on a day."""
        return self._pin(task, date, key, is_pinned=True)

    def unpin_task(self, task: str, *, date: Day = "today", key: str = "") -> DayDetails:
        """Say that a task is no longer wanted on a day."""
        return self._pin(task, date, key, is_pinned=False)

    def _pin(self, task: str, date: Day, key: str, *, is_pinned: bool) -> DayDetails:
        home = self._reading()
        found = pick_again(home, task, key, is_deleted=not is_pinned)
        on = day(told(date) or "", home)
        days.pin(self._writing(), on, found.id, key, is_pinned=is_pinned)
        return self._day(date)

    def rate_day(
        self, score: int, words: str = "", *, date: Day = "today", key: str = ""
    ) -> DayDetails:
        """Rate how a day went: 1 to 5, the best; in words, why."""
        on = day(told(date) or "", self._reading())
        days.rate(self._writing(), on, score, words, key)
        return self._day(date)

    def plan_day(
        self, date: Day = "", *, categories: Sequence[str] = (), model: str = "",
        no_timer: bool = False, key: str = "",
    ) -> DayDetails:  # fmt: skip
        """Let an agent propose blocks of a day, today from 18:00 on the next. It is made where
        there is none, reads these categories (none: all) and wakes daily, unless `no_timer`."""
        from adapters.usecases import day_agent

        home = self._writing()
        asked = day(told(date) or "", home) if date else ""
        wanted = day_agent.next_day(home, asked)
        ids = [one for name in categories for one in categories_named(catalog_of(home), name)]
        made = day_agent.ready(home, AgentOptions(model=model), ids, has_timer=not no_timer)
        self._wake(made.agent, day_agent.ask(home, made.agent, wanted if date else "", key))
        return days.read_day(self._reading(), wanted)

    def _day(self, date: Day) -> DayDetails:
        home = self._reading()
        return days.read_day(home, day(told(date) or "", home))

    # ------------------------------------------------------------------------ categories and labels

    def categories(self) -> list[CategoryDetails]:
        """All categories, with their tasks and correction examples."""
        return category_lines(self._reading())

    def add_category(self, name: str, *, language: str = "none", key: str = "") -> CategoryDetails:
        """Add a category, with a default language."""
        said = edits.titled(name, NAME_MAX, "name"), language_named(language)
        return self._category(catalog.add_category(self._writing(), *said, key))

    def rename_category(self, category: str, name: str, *, key: str = "") -> CategoryDetails:
        """Give a category another name; its tasks stay in it."""
        return self._category(catalog.rename_category(self._writing(), category, name, key))

    def correct_category(
        self, category: str, before: str, after: str, *, key: str = ""
    ) -> CategoryDetails:
        """Teach agents by example: what was written, and what it should have been."""
        catalog.check_correction(before, after)
        done = catalog.correct_category(self._writing(), category, before, after, key)
        return self._category(done)

    def _category(self, done: UseCaseResult) -> CategoryDetails:
        return next(one for one in category_lines(self._reading()) if one.id == done.ids[0])

    def review_category(
        self, category: str, *, model: str = "", no_timer: bool = False, key: str = ""
    ) -> WakeLine:
        """Let an agent look over a category; it is made where there is none, and wakes weekly,
        unless `no_timer`."""
        from adapters.documents.tasks import category_named
        from adapters.usecases import kinds
        from adapters.usecases.wake_agents import request_wake

        home = self._writing()
        found = category_named(catalog_of(home), category)
        wish = AgentOptions(model=model)
        made = kinds.of_category(home, found, wish, has_timer=not no_timer)
        return self._wake(made.agent, request_wake(home, made.agent, key))

    def labels(self) -> list[LabelDetails]:
        """All labels, where they may be used, and how many tasks carry them."""
        return label_lines(self._reading())

    def add_label(
        self, name: str, *, categories: Sequence[str] = (), key: str = ""
    ) -> LabelDetails:
        """Add a label that agents may propose, of some categories or of all."""
        name = edits.titled(name.removeprefix("#"), NAME_MAX, "name")
        return self._label(catalog.add_label(self._writing(), name, categories, key))

    def widen_label(self, label: str, *, key: str = "") -> LabelDetails:
        """Offer a label in all categories."""
        return self._label(catalog.widen_label(self._writing(), label.removeprefix("#"), key))

    def _label(self, done: UseCaseResult) -> LabelDetails:
        return next(one for one in label_lines(self._reading()) if one.id == done.ids[0])

    def delete_label(self, label: str, *, key: str = "") -> Deleted:
        """Take a label out of use; tasks that carry it keep it."""
        return Deleted(catalog.delete_label(self._writing(), label.removeprefix("#"), key).ids[0])

    def assign_labels(self, task: str, *labels: str, key: str = "") -> TaskDetails:
        """Put labels on a task."""
        return self._relabel(task, labels, key, do.assign_labels)

    def remove_labels(self, task: str, *labels: str, key: str = "") -> TaskDetails:
        """Take labels off a task."""
        return self._relabel(task, labels, key, do.remove_labels)

    def suppress_labels(self, task: str, *labels: str, key: str = "") -> TaskDetails:
        """Keep agents from proposing labels for a task."""
        return self._relabel(task, labels, key, do.suppress_labels)

    def allow_labels(self, task: str, *labels: str, key: str = "") -> TaskDetails:
        """Let agents propose suppressed labels for a task again."""
        return self._relabel(task, labels, key, do.allow_labels)

    def _relabel(self, task: str, labels: Sequence[str], key: str, work: Work) -> TaskDetails:
        names = tuple(one.removeprefix("#") for one in labels)
        return self._on_task(task, key, lambda home, one, key: work(home, one, names, key=key))

    # ---------------------------------------------------------------------------------------- files

    def import_file(  # noqa: PLR0913  one for each option
        self, path: str | os.PathLike[str], *, source: str = "", form: str = "",
        by_heading: bool = False, prefer: Literal["file", "mine"] | None = None,
        gone: Literal["keep", "reject", "delete"] | None = None, agents: bool | None = None,
        archive: str = "", restore: bool = False, is_sure: bool = False, dry_run: bool = False,
        key: str = "",
    ) -> ImportReport:  # fmt: skip
        """Take tasks over from a file, as `wakelog import`; again, it takes over what changed.
        `unreadable` of the report is what could not be read in it.

        Args:
            path: The file.
            source: The name by which it is known; empty: the file's.
            form: Its format; empty: by its name and content.
            by_heading: In Markdown, a heading is a task and its boxes are its checklist.
            prefer: What stands where the file and you changed a field; None: yours, and it is told.
            gone: What becomes of tasks that are in it no more; remembered.
            agents: Whether new tasks get an agent; None: as the settings say.
            archive: Where your client moves what is done.
            restore: What you deleted, and is in the file, comes back.
            is_sure: Close what is gone, however much it is.
            dry_run: Nothing is written.
            key: Makes a retry safe.
        """
        from adapters.usecases import import_tasks

        file, form, home = os.fspath(path), format_named(form), self._reading()
        try:
            (place,) = sources_of(home, [file], source, self._environ, archive)
            given = given_file(file, place, form=form, by_heading=by_heading)
            found = read_file(home, given, self._environ)
        except UnreadableInput as error:
            because = f"{file} cannot be read: {error.because}"
            raise Refused("unreadable_file", because=because, instead=error.instead) from None
        if dry_run:
            return import_tasks.dry_run(home, safe(file), found, prefer, gone)
        home = self._writing() if found.file.tasks or gone else home
        importing = import_tasks.Importing(
            key, prefer, gone, agents=agents, restores=restore, sure=lambda _: is_sure
        )
        return importing.take(home, file, found, place=place)

    def undo_import(self, source: str, *, key: str = "") -> ImportUndone:
        """Take back the newest import of a source, or of the file of that name."""
        from adapters.usecases import import_tasks

        done = import_tasks.undo_import(self._writing(), source, nth_key(key, 1))
        return ImportUndone(source, [*done.tasks], [*done.kept])

    def write_back(
        self, *paths: str | os.PathLike[str], source: str = "", add: bool = False,
        dry_run: bool = False,
    ) -> FilesBack:  # fmt: skip
        """Put what was done here into the files that it came from. `add`: open tasks that are in
        no file get a line in this one; `dry_run`: nothing is written."""
        from adapters.usecases.write_back import file_back, in_no_file, write_back

        home = self._reading() if dry_run else self._writing()
        files = [os.fspath(one) for one in paths]
        if add and len(files) != 1:
            raise invalid(f"--add belongs to one file, and there are {len(files)}", "name it")
        more, back = in_no_file(home) if add else [], list[FileBack]()
        try:
            for file, one in zip(
                files, sources_of(home, files, source, self._environ), strict=True
            ):
                did = write_back(home, file, one, self._environ, more, is_dry=dry_run)
                back.append(file_back(file, did))
        except UnreadableInput as error:
            raise Refused("unreadable_file", because=str(error), instead="name another") from None
        return FilesBack(back)

    def conflicts(self, task: str = "") -> list[ConflictDetails]:
        """What a file and you, or two of your machines, changed both; of one task if named."""
        home = self._reading()
        if not task:
            return open_conflicts(home)
        return numbered(task_page(home, pick_task(home, task)).conflicts)

    def settle(
        self, task: str, field: str = "", *, side: str = "", both: bool = False, key: str = ""
    ) -> TaskDetails | list[ConflictDetails]:
        """Settle a conflict, named by its number or by task and field: `side` is ``file``,
        ``mine`` or a machine; `both`: the other text becomes a note. The task, or what is open
        still of what is of none."""
        read = self._reading()
        did = settle_named(read, self._writing, task, field, side, key, is_both=both)
        return self._details(did.task_id) if did.task_id else replica_conflicts(self._reading())
