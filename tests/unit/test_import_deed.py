"""An import is one deed: links, what is gone and what comes back travel in its own command."""

from collections.abc import Sequence
from typing import Any

from domain.append.notification_batch import batch
from domain.handlers.imports import not_linked
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.links import LINKS, Incoming
from domain.journal.task import TASK, Link, Task
from domain.journal.timer import TIMER
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import MAIN
from domain.log.wire import SHARED, payload
from tests.support.services import divergences, services

BY = "import:todo.md"
ROOF, WALL, DOOR = (key("task", one) for one in ("roof", "wall", "door"))
A_ROOF, A_WALL, A_DOOR = (
    ImportedTask(ROOF, "Roof"),
    ImportedTask(WALL, "Wall"),
    ImportedTask(DOOR, "Door", status="DONE"),
)


class Filed:
    """A home into which a file is imported."""

    def __init__(self) -> None:
        self.at = services()

    def file(self, *tasks: ImportedTask, source: str = "todo.md", **more: Any) -> Sequence[Any]:
        """Import tasks of a file; what that wrote of tasks."""
        kept = [payload(one.task_id, canonical.encode(one)) for one in tasks]
        refs = [do.ImportedRef(one.task_id, made.id) for one, made in zip(tasks, kept, strict=True)]
        kept += [payload(SHARED, b"lines")] if "lines" in more else []
        last = self.at.journal.tail().n
        self.at.append_journal(
            do.ImportTasks(source, tuple(refs), is_three_way=True, **more), payloads=kept
        )
        appended = self.at.journal.appends(last)
        return [row.fact for rows in appended for row in rows if row.of_kind == "task"]

    def task(self, task: str) -> Task:
        with self.at.journal.reading() as world:
            return world.load(TASK, task)

    def left_out(self, *links: do.ImportedLink) -> list[tuple[do.ImportedLink, str]]:
        with self.at.journal.reading() as world:
            return [(one, why.because) for one, why in not_linked(world, links)]


def test_links_come_in_with_the_tasks_that_they_are_between() -> None:
    home = Filed()
    wanted = do.ImportedLink(WALL, "is_blocked_by", ROOF)
    facts = home.file(A_ROOF, A_WALL, links=(wanted, wanted))
    assert facts[-1] == t.TaskLinked(BY, "blocks", WALL)
    with home.at.journal.reading() as world:
        assert world.load(LINKS, WALL).incoming == (Incoming("blocks", ROOF),)
    assert home.file(links=(wanted,)) == []
    assert home.left_out(wanted) == []


def test_a_link_that_cannot_be_is_left_out_and_all_else_comes_in() -> None:
    home = Filed()
    circle = (
        do.ImportedLink(ROOF, "blocks", WALL),
        do.ImportedLink(WALL, "blocks", DOOR),
        do.ImportedLink(DOOR, "blocks", ROOF),
        do.ImportedLink(DOOR, "blocks", "nobody"),
        do.ImportedLink(DOOR, "relates_to", ROOF),
    )
    home.file(A_ROOF, A_WALL, A_DOOR, links=circle)
    assert home.task(ROOF).links == (Link("blocks", WALL),)
    assert home.task(DOOR).links == (Link("relates_to", ROOF),)
    (first, because), (second, missing) = home.left_out(*circle)
    assert (first, second) == circle[2:4]
    assert because == "'Roof' already blocks 'Door', directly or through others"
    assert missing == "there is no task 'nobody'"


def test_a_link_to_what_the_same_import_deletes_is_there_before_it_goes() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL)
    gone = (do.GoneTask(WALL, "delete"),)
    home.file(links=(do.ImportedLink(ROOF, "blocks", WALL),), gone=gone)
    assert home.task(ROOF).links
    assert (
        home.left_out(do.ImportedLink(WALL, "blocks", DOOR))[0][1] == "the task 'Wall' is deleted"
    )


def test_what_is_gone_is_rejected_or_deleted_once_by_the_file() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL, A_DOOR)
    gone = (
        do.GoneTask(ROOF, "reject"),
        do.GoneTask(WALL, "delete"),
        do.GoneTask(DOOR, "reject"),
        do.GoneTask("nobody", "delete"),
    )
    reason = "no longer in todo.md"
    assert home.file(gone=gone) == [t.StatusSet(BY, "REJECTED", reason), t.TaskDeleted(BY)]
    assert home.file(gone=gone) == []


def test_a_timer_that_runs_on_what_is_gone_is_stopped_first() -> None:
    home = Filed()
    home.file(A_ROOF)
    (entry,) = home.at.append_journal(do.StartTimer(ROOF)).result.ids
    stopped, deleted = home.file(gone=(do.GoneTask(ROOF, "delete"),))
    assert isinstance(stopped, t.TimeStopped)
    assert (stopped.by, stopped.entry, deleted) == (BY, entry, t.TaskDeleted(BY))
    with home.at.journal.reading() as world:
        assert world.load(TIMER, MAIN).running == ()


def test_what_comes_back_is_as_the_file_says_or_open() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL, A_DOOR)
    for task in (ROOF, DOOR):
        home.at.append_journal(do.DeleteTask(task))
    home.at.append_journal(do.EditTask(WALL, status="REJECTED"))
    facts = home.file(A_WALL, restores=(ROOF, WALL, DOOR, "nobody"))
    opened = t.StatusSet(BY, "OPEN")
    assert facts == [opened, t.TaskRestored(BY), t.TaskRestored(BY)]
    assert (home.task(WALL).status, home.task(DOOR).status) == ("OPEN", "DONE")
    assert home.file(A_ROOF, restores=(ROOF,)) == []
    home.at.append_journal(do.CreateTask("By hand", status="DONE"))
    with home.at.journal.reading() as world:
        (by_hand,) = {*world.entities("task")} - {ROOF, WALL, DOOR}
    assert home.file(restores=(by_hand,)) == [opened]


def test_what_comes_back_is_compared_then_and_its_notes_are_no_edit() -> None:
    home = Filed()
    noted = ImportedTask(ROOF, "Roof", notes=(ImportedNote("It leaks."),))
    home.file(noted)
    home.at.append_journal(do.DeleteTask(ROOF))
    assert home.file(noted) == []
    newer = ImportedTask(ROOF, "Roof", due="2027-02-01", notes=(*noted.notes, ImportedNote("Rain")))
    restored, due, added, imported = home.file(newer, restores=(ROOF,))
    assert (restored, due) == (t.TaskRestored(BY), t.DueSet(BY, "2027-02-01"))
    assert isinstance(added, t.NoteAdded)
    assert isinstance(imported, t.TaskImported)


def test_the_lines_of_a_source_are_kept_though_nothing_is_decided_by_them() -> None:
    home = Filed()
    kept = payload(SHARED, b"lines")
    home.file(A_ROOF, lines=kept.id)
    assert dict(home.at.journal.payloads([kept.id])) == {kept.id: b"lines"}
    assert divergences(home.at) == []


def test_an_agent_hears_of_what_a_file_changed_as_of_the_file() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL)
    home.at.append_journal(do.StartTimer(WALL))
    home.file(
        links=(do.ImportedLink(ROOF, "blocks", WALL),),
        gone=(do.GoneTask(ROOF, "reject"), do.GoneTask(WALL, "delete")),
    )
    rows = [*home.at.journal.appends(home.at.journal.tail().n - 1)][-1]
    with home.at.journal.reading() as world:
        told = batch(rows, lambda one: world.load(LINKS, one), lambda one: world.load(TASK, one))
    assert told is not None
    assert told.origin == BY
    assert {"key:LINK", "key:TASK", "key:TIME_ENTRY"} <= {*told.tokens}


def test_a_repeat_under_a_key_is_known_by_what_its_caller_said() -> None:
    home = Filed()
    kept = payload(ROOF, canonical.encode(A_ROOF))
    refs = (do.ImportedRef(ROOF, kept.id),)
    home.at.append_journal(do.ImportTasks("todo.md", refs), key="K", payloads=[kept])
    again = do.ImportTasks("todo.md", refs, gone=(do.GoneTask(ROOF, "delete"),))
    assert not home.at.append_journal(again, key="K", payloads=[kept]).rows
    assert not home.task(ROOF).is_deleted


def test_a_link_to_itself_is_left_out_as_is_one_of_no_known_relation() -> None:
    home = Filed()
    home.file(A_ROOF, A_WALL)
    odd = do.ImportedLink(ROOF, "blocks", ROOF), do.ImportedLink(ROOF, "likes", WALL)
    home.file(links=odd)
    assert [because for _, because in home.left_out(*odd)] == [
        "a task cannot be linked to itself",
        "'likes' is no relation",
    ]
    assert home.task(ROOF).links == ()
