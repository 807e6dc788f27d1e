"""Each line of the table of how tasks merge: given, when on two machines, then; what is shown of
it, and that it is settled on both (ADR 71)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from adapters.actions.differing import settle_machines
from adapters.documents.conflicts import ConflictDetails
from adapters.documents.disputes import disputes
from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.models.tape import TapeModel
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.sync.memory import Kept
from adapters.sync.shelf import MemoryShelf
from adapters.sync.syncing import sync
from adapters.wiring import Home
from domain.journal import commands as do
from domain.journal.fold import TASK
from domain.journal.links import LINKS
from domain.journal.task import Task
from domain.journal.timer import TIMER
from domain.wire import Words
from domain.world import MAIN
from tests.support.services import START

Says = Callable[["Two"], do.JournalCommand]


class Two:
    """A desk and a laptop, which hold two tasks, an item, a note, a label and a time entry."""

    def __init__(self) -> None:
        self.shelf = MemoryShelf()
        self.desk, self.laptop = (self._home(name) for name in ("desk", "laptop"))
        self.task = self.says(self.desk, do.CreateTask("Trip"))
        self.other = self.says(self.desk, do.CreateTask("Boat"))
        self.item = self.says(self.desk, do.AddItems(self.task, ("tent",)), -1)
        self.note = self.says(self.desk, do.AddNote(self.task, "note", Words("By train.")), -1)
        self.label = self.says(self.desk, do.AddLabel("outside"))
        self.category = self.says(self.desk, do.AddCategory("Fun"))
        self.work = self.says(self.desk, do.AddCategory("Work"))
        worked = do.LogTime(self.task, "2026-12-31T08:00:00.000000Z", "2026-12-31T09:00:00.000000Z")
        self.entry = self.says(self.desk, worked)
        self.meet()

    def _home(self, name: str) -> Home:
        journal, agents = (Log(log, MemoryLogRecorder(), name) for log in ("journal", "agent"))
        tape = TapeModel("tape", [])
        at = Services(journal, agents, ManualClock(START), Settings(), lambda _: tape)
        return Home.in_memory(at)

    def says(self, home: Home, command: do.JournalCommand, nth: int = 0) -> str:
        ids = home.services.append_journal(command).result.ids
        return ids[nth] if ids else ""

    def meet(self) -> None:
        for _ in range(2):
            for one in self.desk, self.laptop:
                logs = [one.services.journal, one.services.agents]
                sync(logs, self.shelf, START, Kept())
                one.views.catch_up()

    def open(self) -> list[ConflictDetails]:
        """What is shown; both machines show the same."""
        desk, laptop = disputes(self.desk), disputes(self.laptop)
        assert [_plain(one) for one in desk] == [_plain(one) for one in laptop]
        return desk

    def state(self) -> tuple[Task, Task, object]:
        found = []
        for one in self.desk, self.laptop:
            with one.services.journal.reading() as world:
                tasks = world.load(TASK, self.task), world.load(TASK, self.other)
                found.append((*tasks, world.load(TIMER, MAIN).running))
        assert found[0] == found[1]
        return found[0]


def _plain(one: ConflictDetails) -> object:
    return one.task, one.field, one.kind, one.stands, [(v.replica, v.value) for v in one.values]


class Line(NamedTuple):
    """A line of the table: what the desk and the laptop do apart, what is shown, whose word is
    kept, and what holds then."""

    what: str
    desk: Says
    laptop: Says
    kind: str
    field: str
    said: Sequence[str]
    keep: str
    holds: Callable[["Two", Task, Task], bool]


def edit(**given: str) -> Says:
    return lambda two: do.EditTask(two.task, **given)  # type: ignore[arg-type]  # by its fields


LINES = [
    Line(
        "title",
        edit(title="Hills"),
        edit(title="Lake"),
        "values",
        "title",
        ["Hills", "Lake"],
        "desk",
        lambda _, task, __: task.title == "Hills",
    ),
    Line(
        "priority",
        edit(priority="P0"),
        edit(priority="P1"),
        "values",
        "priority",
        ["P0", "P1"],
        "laptop",
        lambda _, task, __: task.priority == "P1",
    ),
    Line(
        "due",
        edit(due="2027-03-01"),
        edit(due="2027-04-01"),
        "values",
        "due",
        ["2027-03-01", "2027-04-01"],
        "desk",
        lambda _, task, __: task.due == "2027-03-01",
    ),
    Line(
        "status with its reason",
        edit(status="DONE"),
        edit(status="BLOCKED", reason="no tent"),
        "values",
        "status",
        ["DONE", "BLOCKED no tent"],
        "laptop",
        lambda _, task, __: (task.status, task.status_reason) == ("BLOCKED", "no tent"),
    ),
    Line(
        "description",
        lambda two: do.EditTask(two.task, description=Words("far")),
        lambda two: do.EditTask(two.task, description=Words("near")),
        "values",
        "description",
        ["far", "near"],
        "desk",
        lambda _, task, __: task.description.text == "far",
    ),
    Line(
        "estimate",
        lambda two: do.EditTask(two.task, estimate=30),
        lambda two: do.EditTask(two.task, estimate=60),
        "values",
        "estimate",
        ["30", "60"],
        "laptop",
        lambda _, task, __: task.estimate == 60,
    ),
    Line(
        "language",
        edit(language="de"),
        edit(language="fr"),
        "values",
        "language",
        ["de", "fr"],
        "desk",
        lambda _, task, __: task.language == "de",
    ),
    Line(
        "category",
        lambda two: do.EditTask(two.task, category=two.category),
        lambda two: do.EditTask(two.task, category=two.work),
        "values",
        "category",
        ["Fun", "Work"],
        "laptop",
        lambda two, task, _: task.category == two.work,
    ),
    Line(
        "a rating",
        lambda two: do.RateTask(two.task, 5, comment="well"),
        lambda two: do.RateTask(two.task, 2, comment="badly"),
        "values",
        "rating",
        ["5 well", "2 badly"],
        "desk",
        lambda _, task, __: task.ratings[0].score == 5,
    ),
    Line(
        "an item's title",
        lambda two: do.EditItem(two.task, two.item, "a big tent"),
        lambda two: do.EditItem(two.task, two.item, "two tents"),
        "values",
        "item:{item}:title",
        ["a big tent", "two tents"],
        "desk",
        lambda _, task, __: task.items[0].title == "a big tent",
    ),
    Line(
        "a note's text",
        lambda two: do.EditNote(two.task, two.note, Words("By car.")),
        lambda two: do.EditNote(two.task, two.note, Words("By boat.")),
        "values",
        "note:{note}",
        ["By car.", "By boat."],
        "laptop",
        lambda _, task, __: task.notes[0].words.text == "By boat.",
    ),
    Line(
        "an entry's end",
        lambda two: do.RetimeEntry(two.task, two.entry, end="2026-12-31T10:00:00.000000Z"),
        lambda two: do.RetimeEntry(two.task, two.entry, end="2026-12-31T11:00:00.000000Z"),
        "values",
        "entry:{entry}:end",
        ["2026-12-31T10:00:00.000000Z", "2026-12-31T11:00:00.000000Z"],
        "desk",
        lambda _, task, __: task.time[0].end.startswith("2026-12-31T10"),
    ),
    Line(
        "a task that is removed and edited",
        lambda two: do.DeleteTask(two.task),
        edit(title="Lake"),
        "removal",
        "deleted",
        ["removed", "changed"],
        "desk",
        lambda _, task, __: task.is_deleted,
    ),
    Line(
        "a note that is removed and edited",
        lambda two: do.RemoveNote(two.task, two.note),
        lambda two: do.EditNote(two.task, two.note, Words("By boat.")),
        "removal",
        "note:{note}",
        ["removed", "changed"],
        "laptop",
        lambda _, task, __: [note.words.text for note in task.notes] == ["By boat."],
    ),
    Line(
        "timers that run at once",
        lambda two: do.StartTimer(two.task),
        lambda two: do.StartTimer(two.other),
        "timers",
        "timer",
        ["Trip", "Boat"],
        "desk",
        lambda _, task, other: [task.time[-1].end, bool(other.time[-1].end)] == ["", True],
    ),
    Line(
        "a circle of links",
        lambda two: do.LinkTask(two.task, "blocks", two.other),
        lambda two: do.LinkTask(two.other, "blocks", two.task),
        "cycle",
        "blocks",
        ["Trip blocks Boat", "Boat blocks Trip"],
        "laptop",
        lambda _, task, other: (len(task.links), len(other.links)) == (1, 0),
    ),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.what)
def test_what_two_machines_did_apart_is_shown_and_settled(line: Line) -> None:
    two = Two()
    two.says(two.desk, line.desk(two))
    two.says(two.laptop, line.laptop(two))
    two.meet()
    (found,) = two.open()
    field = line.field.format(item=two.item, note=two.note, entry=two.entry)
    assert (found.kind, found.field) == (line.kind, field)
    assert sorted(one.value for one in found.values) == sorted(line.said)
    assert {one.replica for one in found.values} == {"desk", "laptop"}
    settle_machines(two.laptop, two.task, field, line.keep, "k1")
    settle_machines(two.laptop, two.task, field, line.keep, "k1")
    two.meet()
    assert two.open() == []
    task, other, _ = two.state()
    assert line.holds(two, task, other)


def test_names_that_two_machines_gave_stay_both_until_one_is_called_otherwise() -> None:
    two = Two()
    two.says(two.desk, do.AddCategory("Garden"))
    mine = two.says(two.laptop, do.AddCategory("House"))
    two.meet()
    two.says(two.desk, do.RenameCategory(two.category, "Yard"))
    two.says(two.laptop, do.RenameCategory(mine, "Yard"))
    two.meet()
    (found,) = two.open()
    assert (found.task, found.kind) == ("", "values")
    assert [one.value for one in found.values] == ["Yard", "Yard"]
    two.says(two.desk, do.RenameCategory(mine, "House"))
    two.meet()
    assert two.open() == []


@pytest.mark.parametrize(
    ("desk", "laptop"),
    [
        (
            lambda two: do.AddItems(two.task, ("milk",)),
            lambda two: do.AddItems(two.task, ("milk",)),
        ),
        (
            lambda two: do.AddNote(two.task, "note", Words("a")),
            lambda two: do.AddNote(two.task, "note", Words("b")),
        ),
        (edit(title="Lake"), edit(priority="P0")),
        (
            lambda two: do.ChangeLabels(two.task, (two.label,)),
            lambda two: do.StartTimer(two.task),
        ),
    ],
    ids=["milk twice", "two notes", "two fields", "a label and a timer"],
)
def test_what_does_not_meet_is_no_conflict(desk: Says, laptop: Says) -> None:
    two = Two()
    two.says(two.desk, desk(two))
    two.says(two.laptop, laptop(two))
    two.meet()
    assert two.open() == []
    task, _, _ = two.state()
    assert [item.title for item in task.items].count("milk") <= 1


def test_two_that_settle_otherwise_end_in_one_word_that_is_shown() -> None:
    two = Two()
    two.says(two.desk, edit(title="Hills")(two))
    two.says(two.laptop, edit(title="Lake")(two))
    two.meet()
    settle_machines(two.desk, two.task, "title", "desk", "k1")
    settle_machines(two.laptop, two.task, "title", "laptop", "k2")
    two.meet()
    (found,) = two.open()
    assert sorted(one.value for one in found.values) == ["Hills", "Lake"]
    settle_machines(two.desk, two.task, "title", "laptop", "k3")
    two.meet()
    assert two.open() == []
    assert two.state()[0].title == "Lake"


def test_both_ends_of_a_link_agree_once_a_circle_is_settled() -> None:
    two = Two()
    two.says(two.desk, do.LinkTask(two.task, "blocks", two.other))
    two.says(two.laptop, do.LinkTask(two.other, "blocks", two.task))
    two.meet()
    settle_machines(two.desk, two.other, "blocks", "desk", "k1")
    two.meet()
    for one in two.desk, two.laptop:
        with one.services.journal.reading() as world:
            assert world.load(LINKS, two.other).incoming == ()
            assert [each.source for each in world.load(LINKS, two.task).incoming] == [two.other]
