"""Whatever a file said, and whatever the person did before: an import that is taken back leaves all
as it was, the same file brings it again under the same ids, and so does an undo of the undo."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.documents.import_conflicts import conflicts_of
from adapters.documents.tasks import label_documents
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.catalog import CATALOG
from domain.journal.document import task_line
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.imports import is_unmade
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.state import MAIN
from domain.log.wire import Payload, payload
from projections.tasks import VIEW
from projections.view import fold
from tests.support.services import divergences, services

IDS = ("door", "roof", "tap", "wall")
CATEGORIES = ("", "House", "Work")
LABELS = ("blue", "green", "red")
STATUSES = ("", "GROOMED", "DONE")
RELATIONS = ("blocks", "is_blocked_by", "relates_to")

names = st.sampled_from(IDS)
lines = st.builds(
    ImportedTask,
    names,
    st.sampled_from(("Door", "Roof", "Tap")),
    category=st.sampled_from(CATEGORIES),
    status=st.sampled_from(STATUSES),
    due=st.sampled_from(("", "2027-02-01", "2027-03-01")),
    labels=st.lists(st.sampled_from(LABELS), unique=True).map(tuple),
    items=st.lists(
        st.builds(ImportedItem, st.sampled_from(("Buy", "Sell")), st.booleans()), max_size=2
    ).map(tuple),
    notes=st.lists(st.builds(ImportedNote, st.sampled_from(("Dry", "Wet"))), max_size=2).map(tuple),
)
files = st.lists(
    st.tuples(
        st.sampled_from(("a.md", "b.md")),
        st.lists(lines, max_size=3, unique_by=lambda one: one.task_id),
        st.lists(
            st.builds(do.ImportedLink, names, st.sampled_from(RELATIONS), names), max_size=2
        ).map(tuple),
        st.lists(
            st.builds(do.GoneTask, names, st.sampled_from(("reject", "delete"))), max_size=2
        ).map(tuple),
    ),
    min_size=1,
    max_size=2,
)
deeds = st.one_of(
    st.builds(do.EditTask, names, due=st.sampled_from(("2027-04-01", "2027-02-01"))),
    st.builds(do.EditTask, names, status=st.sampled_from(("DONE", "OPEN", "REJECTED"))),
    st.builds(do.EditTask, names, title=st.sampled_from(("Gate", "Roof"))),
    st.builds(do.ChangeLabels, names, assign=st.sampled_from(LABELS).map(lambda one: (one,))),
    st.builds(do.ChangeLabels, names, remove=st.sampled_from(LABELS).map(lambda one: (one,))),
    st.builds(do.ChangeLabels, names, suppress=st.sampled_from(LABELS).map(lambda one: (one,))),
    st.builds(do.AddItems, names, st.just(("Buy",))),
    st.builds(do.LinkTask, names, st.just("blocks"), names),
    st.builds(do.DeleteTask, names),
    st.builds(do.RestoreTask, names),
    st.builds(do.SettleDifference, names, st.just("due"), st.sampled_from(("file", "mine"))),
    st.builds(do.StartTimer, names),
    st.builds(do.AddLabel, st.sampled_from(LABELS)),
    st.builds(do.AddCategory, st.sampled_from(CATEGORIES[1:])),
    st.builds(do.CreateTask, st.just("By hand"), category=st.sampled_from(CATEGORIES)),
)
File = list[tuple[str, list[ImportedTask], tuple[do.ImportedLink, ...], tuple[do.GoneTask, ...]]]


class Life:
    def __init__(self) -> None:
        self.at = services()
        self.do(do.AddCategory("Inbox"))  # it never goes

    def do(self, command: Any, kept: Sequence[Payload] = ()) -> int:
        """The number of its append, 0 if it changed nothing."""
        rows = self.at.append_journal(command, payloads=kept).rows
        return self.at.journal.tail().n if rows else 0

    def brought(self, file: File) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Import a file in several appends: which, and what they changed."""
        ns: list[int] = []
        there = {one.task_id for _, tasks, _, _ in file for one in tasks}
        for source, tasks, links, gone in file:
            kept = [payload(one.task_id, canonical.encode(one)) for one in tasks]
            refs = [
                do.ImportedRef(one.task_id, made.id) for one, made in zip(tasks, kept, strict=True)
            ]
            with self.at.journal.reading() as world:
                back = [one for one in IDS if is_unmade(world.rows(TASK, one))]
            command = do.ImportTasks(
                source,
                tuple(refs),
                is_three_way=True,
                links=links,
                gone=tuple(one for one in gone if one.task not in there),
                restores=tuple(one for one in back if one in {task.task_id for task in tasks}),
            )
            ns.append(self.do(command, kept))
        appends = tuple(filter(None, ns))
        rows = [row for n in appends for one in self.at.journal.appends(n - 1) for row in one]
        named = {row.entity: None for row in rows if row.n in appends and row.of_kind == "task"}
        return appends, tuple(named)

    def documents(self) -> list[Any]:
        """What `task list`, `label list`, `category list` and `conflicts` print, and the links."""
        with self.at.journal.reading() as world:
            catalog = world.load(CATALOG, MAIN)
            every = [world.load(TASK, one) for one in world.entities("task")]
            living = [one for one in every if not one.is_deleted]
            known = {one.id for one in living}
            count = [label for one in living for label in one.labels].count
            links = [
                {edge for edge in world.load(LINKS, one.id).incoming if edge.source in known}
                for one in living
            ]
            conflicts = {one.id: conflicts_of(world, one.id) for one in living}
            for task, found in conflicts.items():
                marked = fold(VIEW, world.rows(TASK, task))[task].is_unsettled
                assert marked or not found  # all tasks are asked only where they are marked
            return [
                [msgspec.to_builtins(task_line(one, catalog, "")) for one in living],
                [msgspec.to_builtins(one) for one in label_documents(catalog, count)],
                [msgspec.to_builtins(one) for one in catalog.categories.values()],
                [msgspec.to_builtins(one) for found in conflicts.values() for one in found],
                links,
                [{note.words.text for note in one.notes} for one in living],
            ]


def timeless(documents: Any) -> Any:
    match documents:
        case dict():
            return {name: timeless(one) for name, one in documents.items() if name != "at"}
        case list() | tuple():
            return [timeless(one) for one in documents]
        case _:
            return documents


@settings(max_examples=60)
@given(st.lists(st.one_of(deeds, files), max_size=8), files)
def test_an_import_that_is_taken_back_leaves_all_as_it_was(past: list[Any], file: File) -> None:
    life = Life()
    for one in past:
        with suppress(Refused):
            life.brought(one) if isinstance(one, list) else life.do(one)
    before = life.documents()
    appends, tasks = life.brought(file)
    after = life.documents()
    if not appends:
        return
    undo = do.UndoImport(tasks, appends[0], appends[-1], reopens=True, appends=appends)
    n = life.do(undo)
    assert life.documents() == before
    assert life.do(undo) == 0
    life.do(do.UndoDeed(tasks, (n,), reopens=True))
    assert life.documents() == after
    life.do(undo)
    assert life.documents() == before
    life.brought(file)
    assert timeless(life.documents()) == timeless(after)
    assert divergences(life.at) == []
