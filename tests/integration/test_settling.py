"""What two machines said of a field is open until somebody settles it on any of them (ADR 71)."""

from collections.abc import Sequence
from typing import Any

import pytest

from adapters.proof.prove import prove_logs
from adapters.store.foreign import ForeignAppend
from adapters.store.log import Log
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.fold import TASK
from domain.journal.task import Task
from domain.wire import Words
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
                other.bring([ForeignAppend(tuple(each), ()) for each in rows], START)

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
