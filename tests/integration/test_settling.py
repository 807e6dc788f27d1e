"""What two machines said of a field is open until somebody settles it on any of them (ADR 71)."""

from collections.abc import Sequence
from typing import Any

import pytest

from adapters.proof.prove import prove_logs
from adapters.store.log import Log
from adapters.store.remote_appends import RemoteAppend
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.catalog import CATALOG
from domain.journal.links import LINKS
from domain.journal.task import TASK, Task
from domain.journal.timer import TIMER
from domain.log.state import MAIN
from domain.log.wire import Words
from domain.replication.replica_conflicts import conflicts_of_task
from tests.support.services import START
from tests.support.sharing import Machine


class Two:
    """A desk and a laptop with one task that has a note."""

    def __init__(self) -> None:
        self.desk, self.laptop = Machine("desk"), Machine("laptop")
        self.task = self.says(self.desk, do.CreateTask("Trip"))[0]
        self.note = self.says(self.desk, do.AddNote(self.task, "note", Words("By train.")))[-1]
        for one in self.desk, self.laptop:
            one.share(START)
        self.meet()

    def says(self, log: Log, command: Any, key: str = "") -> Sequence[str]:
        return log.append(command, START, key=key).result.ids

    def meet(self) -> None:
        """Let both know what the other wrote."""
        for _ in range(2):
            for one, other in (self.desk, self.laptop), (self.laptop, self.desk):
                head = other.heads().get(one.replica)
                rows = one.appends_of(one.replica, head.n if head else 0)
                other.bring([RemoteAppend(tuple(each), ()) for each in rows], START)

    def open(self) -> list[tuple[str, str]]:
        """What is open; both say the same."""
        found = []
        for one in self.desk, self.laptop:
            with one.reading() as world:
                found.append([(each.kind, each.field) for each in world.disputes(TASK, self.task)])
        assert found[0] == found[1]
        return found[0]

    def state(self) -> Task:
        """The task; it is the same on both, and both prove."""
        states = []
        for one in self.desk, self.laptop:
            with one.reading() as world:
                states.append(world.load(TASK, self.task))
            assert not prove_logs(one, Log.in_memory("agent", one.replica)).divergences
        assert states[0] == states[1]
        return states[0]


@pytest.fixture
def two() -> Two:
    return Two()


def apart(two: Two, desk: Any, laptop: Any) -> None:
    two.says(two.desk, desk)
    two.says(two.laptop, laptop)
    two.meet()


@pytest.mark.parametrize(("keep", "title"), [("desk", "Hills"), ("laptop", "Lake")])
def test_a_title_is_what_the_chosen_machine_said(keep: str, title: str) -> None:
    two = Two()
    apart(two, do.EditTask(two.task, title="Hills"), do.EditTask(two.task, title="Lake"))
    assert two.open() == [("values", "title")]
    two.says(two.laptop, do.SettleConflict(two.task, "title", keep), "k1")
    assert two.says(two.laptop, do.SettleConflict(two.task, "title", keep), "k1") == (two.task,)
    two.meet()
    assert two.open() == []
    assert two.state().title == title


@pytest.mark.parametrize("keep", ["desk", "laptop"])
def test_a_task_that_one_deleted_goes_or_stays(keep: str) -> None:
    two = Two()
    apart(two, do.DeleteTask(two.task), do.EditTask(two.task, title="Lake"))
    assert two.open() == [("removal", "deleted")]
    assert not two.state().is_deleted
    two.says(two.desk, do.SettleConflict(two.task, "deleted", keep))
    two.meet()
    assert two.open() == []
    assert two.state().is_deleted == (keep == "desk")


@pytest.mark.parametrize("keep", ["desk", "laptop"])
def test_a_note_that_one_removed_goes_or_stays(keep: str) -> None:
    two = Two()
    edit = do.EditNote(two.task, two.note, Words("By boat."))
    apart(two, do.RemoveNote(two.task, two.note), edit)
    field = f"note:{two.note}"
    assert two.open() == [("removal", field)]
    two.says(two.laptop, do.SettleConflict(two.task, field, keep))
    two.meet()
    assert two.open() == []
    kept = [one.words.text for one in two.state().notes]
    assert kept == (["By boat."] if keep == "laptop" else [])


def test_what_cannot_be_settled_says_why_and_writes_nothing() -> None:
    two = Two()
    apart(two, do.EditTask(two.task, title="Hills"), do.EditTask(two.task, title="Lake"))
    before = two.desk.count()
    stale = (do.SideSeen("desk", 1), do.SideSeen("laptop", 1))
    for wrong, code, said in (
        (do.SettleConflict(two.task, "due", "desk"), "invalid_value", "no two machines"),
        (
            do.SettleConflict(two.task, "title", "phone"),
            "invalid_value",
            "name one of desk",
        ),
        (do.SettleConflict(two.task, "title", "desk", stale), "stale", "look at it again"),
    ):
        with pytest.raises(Refused) as refused:
            two.says(two.desk, wrong)
        assert refused.value.code == code
        assert said in str(refused.value)
    assert two.desk.count() == before
    with two.desk.reading() as world:
        sides = world.disputes(TASK, two.task)[0].sides
    seen = tuple(do.SideSeen(one.row.replica, one.row.n) for one in sides)
    two.says(two.desk, do.SettleConflict(two.task, "title", "desk", seen))


def seen(two: Two, kind: Any, entity: str = MAIN) -> list[Any]:
    """What is open in an entity; both say the same."""
    found = []
    for one in two.desk, two.laptop:
        with one.reading() as world:
            found.append(list(world.disputes(kind, entity)))
    assert found[0] == found[1]
    return found[0]


def test_the_chosen_timer_runs_on_and_the_other_entry_ends(two: Two) -> None:
    other = two.says(two.desk, do.CreateTask("Walk"))[0]
    two.meet()
    apart(two, do.StartTimer(other), do.StartTimer(two.task))
    with two.laptop.reading() as world:
        assert [one.kind for one in conflicts_of_task(world, other)] == ["timers"]
        assert [one.kind for one in conflicts_of_task(world, two.task)] == ["timers"]
        assert conflicts_of_task(world, two.task[::-1]) == []
    two.says(two.desk, do.SettleConflict(two.task, "timer", "laptop"))
    two.meet()
    assert seen(two, TIMER) == []
    assert [one.end for one in two.state().time] == [""]
    with two.laptop.reading() as world:
        assert [one.end for one in world.load(TASK, other).time] == [START]


def test_the_link_of_the_named_machine_leaves_a_circle(two: Two) -> None:
    other = two.says(two.desk, do.CreateTask("Walk"))[0]
    two.meet()
    link = do.LinkTask(two.task, "blocks", other)
    apart(two, link, do.LinkTask(other, "blocks", two.task))
    with two.desk.reading() as world:
        (circle,) = conflicts_of_task(world, two.task)
        assert (circle.kind, circle.field) == ("cycle", "blocks")
    two.says(two.desk, do.SettleConflict(two.task, "blocks", "laptop"))
    two.meet()
    assert [one.target for one in two.state().links] == [other]
    with two.laptop.reading() as world:
        assert conflicts_of_task(world, other) == []
    two.says(two.laptop, do.UnlinkTask(two.task, "blocks", other))
    two.says(two.laptop, do.DeleteTask(two.task))
    two.meet()
    with two.desk.reading() as world:
        assert conflicts_of_task(world, two.task) == []


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_link_that_one_took_away_stands_at_both_ends_or_at_none(two: Two, is_kept: bool) -> None:
    other = two.says(two.desk, do.CreateTask("Walk"))[0]
    made, gone = (kind(two.task, "blocks", other) for kind in (do.LinkTask, do.UnlinkTask))
    two.says(two.desk, made)
    two.meet()
    two.says(two.laptop, gone)
    apart(two, gone, made)
    field = f"link:blocks:{other}"
    assert two.open() == [("values", field)]
    two.says(two.desk, do.SettleConflict(two.task, field, "laptop" if is_kept else "desk"))
    two.meet()
    assert two.open() == []
    assert bool(two.state().links) == is_kept
    with two.laptop.reading() as world:
        assert bool(world.load(LINKS, other).incoming) == is_kept


@pytest.mark.parametrize("keep", ["desk", "laptop"])
def test_what_differs_in_the_catalog_is_settled_without_a_task(two: Two, keep: str) -> None:
    work = two.says(two.desk, do.AddCategory("Work"))[0]
    sea = two.says(two.desk, do.AddLabel("sea"))[0]
    two.meet()
    apart(two, do.RenameCategory(work, "Office"), do.RenameCategory(work, "\u4ed5\u4e8b"))
    apart(two, do.DeleteLabel(sea), do.AddLabel("sea", (work,)))
    fields = sorted(one.field for one in seen(two, CATALOG))
    assert fields == [f"category:{work}:name", f"label:{sea}"]
    for field in fields:
        two.says(two.laptop, do.SettleConflict("", field, keep))
    two.meet()
    assert seen(two, CATALOG) == []
    with two.desk.reading() as world:
        catalog = world.load(CATALOG, MAIN)
    assert (catalog.categories[work].name == "Office") == (keep == "desk")
    assert catalog.labels[sea].is_deleted == (keep == "desk")
    with pytest.raises(Refused, match="no two machines"):
        two.says(two.desk, do.SettleConflict("", fields[0], keep))


def test_of_categories_with_one_name_one_is_to_be_renamed(two: Two) -> None:
    work = two.says(two.desk, do.AddCategory("Work"))[0]
    two.meet()
    apart(two, do.RenameCategory(work, "Plants"), do.AddCategory("plants"))
    (one,) = seen(two, CATALOG)
    with pytest.raises(Refused, match="have one name"):
        two.says(two.desk, do.SettleConflict("", one.field, "desk"))
    two.says(two.desk, do.RenameCategory(work, "Garden"))
    two.meet()
    assert seen(two, CATALOG) == []


def test_a_home_that_is_alone_looks_for_no_circle() -> None:
    desk = Machine("desk")
    task = desk.append(do.CreateTask("Trip"), START).result.ids[0]
    with desk.reading() as world:
        assert conflicts_of_task(world, task) == []


LATER, LATEST = "2027-01-01T10:00:00.000000Z", "2027-01-01T11:00:00.000000Z"


def end_taken_back(two: Two) -> str:
    """An entry whose timer the desk lets run on, and of which the laptop says another end."""
    (entry,) = two.says(two.desk, do.StartTimer(two.task))
    stopped = two.desk.append(do.StopTimer(), LATER).n
    two.meet()
    two.desk.append(do.UndoDeed((two.task,), (stopped,), reopens=True), LATEST)
    over = "2027-01-01T09:30:00.000000Z"
    two.laptop.append(do.RetimeEntry(two.task, entry, end=over), LATEST)
    two.meet()
    assert two.open() == [("values", f"entry:{entry}:end")]
    return entry


@pytest.mark.parametrize("keep", ["desk", "laptop"])
def test_an_end_that_one_machine_took_back_runs_on_or_is_over(two: Two, keep: str) -> None:
    entry = end_taken_back(two)
    two.says(two.laptop, do.SettleConflict(two.task, f"entry:{entry}:end", keep))
    two.meet()
    assert two.open() == []
    with two.desk.reading() as world:
        running = [one.entry for one in world.load(TIMER, MAIN).running]
    assert ([one.id for one in two.state().running], running) == (
        ([entry], [entry]) if keep == "desk" else ([], [])
    )


def test_an_entry_that_one_machine_took_away_is_gone_and_nothing_of_it_is_asked(two: Two) -> None:
    (entry,) = two.says(two.desk, do.StartTimer(two.task))
    started = two.desk.tail().n
    two.meet()
    two.says(two.desk, do.UndoDeed((two.task,), (started,), reopens=True))
    two.says(two.laptop, do.RetimeEntry(two.task, entry, summary="Looked"))
    two.says(two.laptop, do.StopTimer("Called"))
    two.meet()
    assert two.open() == []
    assert two.state().time == ()
