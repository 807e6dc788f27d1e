"""The engine on a virtual clock, when a disk is full for a while or a process left an effect."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.runtime import review
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from domain.changes.commands import ConfirmItem
from domain.errors import Refused
from domain.journal.commands import AddNote
from domain.journal.task import PERSON
from domain.log.wire import Words
from domain.ports import Reply, Request
from tests.support.faults import FaultyRecorder
from tests.support.services import divergences, task_with_agent
from tests.support.virtual import VirtualHome
from tests.support.whole import faults, retaken, sets_of
from wakelog.testing import REPORT
from wakelog.testing import calls as reply

START = "2027-01-01T00:00:00.000000Z"


class Disk(FaultyRecorder):
    """A recorder whose disk may be full."""

    def __init__(self) -> None:
        super().__init__(MemoryLogRecorder())
        self.is_full = False

    @contextmanager
    def deciding(self) -> Iterator[None]:
        if self.is_full:
            raise Refused("read_only", because="the disk is full", instead="free space")
        with super().deciding():
            yield


class Proposing:
    """A model that proposes an estimate once, and reports; each answer takes its seconds."""

    name = "tape:proposing"

    def __init__(self) -> None:
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        self.asked += 1
        if request.exchanges:
            return reply(text="Done.")
        return reply(("update_task_estimate", f'{{"minutes":{30 + self.asked}}}'), REPORT)


class Made:
    """A home in memory on two disks, with an agent whose first wake has proposed something."""

    def __init__(self) -> None:
        self.journal, self.agents = Disk(), Disk()
        self.model = Proposing()
        self.home = VirtualHome(START, self.model)
        self.home.services.journal = Log("journal", self.journal, "r1")
        self.home.services.agents = Log("agent", self.agents, "r1")
        self.home.services.budgets = type(self.home.services.budgets)(
            self.home.services.agents, self.home.services.settings
        )
        self.task, agent = task_with_agent(self.home.services)
        self.home.agents.append(agent)
        self.home.run()
        self.home.told.clear()
        (self.set_id,) = self.home.sets = sets_of(self.home.services)

    def fill(self, disk: Disk, *, is_full: bool = True) -> None:
        disk.is_full = is_full

    def note(self) -> None:
        self.home.services.append_journal(AddNote(self.task, "note", Words("news")))

    def asked_and_left(self) -> None:
        """A process asks for an effect, and dies before it is done."""
        position = self.home.services.journal.tail().n
        self.home.services.append_agent(ConfirmItem(self.set_id, 1, PERSON, position))

    @property
    def status(self) -> str:
        return review.changes_of(self.home.services, self.set_id).items[0].status


@pytest.fixture
def made() -> Made:
    return Made()


def test_a_reply_that_could_not_be_kept_is_asked_for_again_when_there_is_room(made: Made) -> None:
    asked = made.model.asked
    made.home.run(
        900,
        (1, made.note),
        (120.9, lambda: made.fill(made.agents)),
        (600, lambda: made.fill(made.agents, is_full=False)),
    )
    assert made.model.asked > asked
    (trouble,) = made.home.events("trouble")
    assert (trouble["code"], str(trouble["message"])) == (
        "read_only",
        "the disk is full; free space",
    )
    assert len(made.home.events("well_again")) == 1
    assert [fields["outcome"] for fields in made.home.events("ended")] == ["completed"]
    assert faults(made.home.services) == []


def test_a_disk_that_fills_while_a_model_is_asked_costs_one_attempt(made: Made) -> None:
    class Filling(Proposing):
        async def reply(self, request: Request) -> Reply:
            made.agents.is_full = self.asked == 0
            return await super().reply(request)

    model = Filling()
    made.home.services.model_for = lambda _: model
    made.home.run(340, (1, made.note), (300, lambda: made.fill(made.agents, is_full=False)))
    assert [fields["outcome"] for fields in made.home.events("ended")] == ["completed"]
    assert len(made.home.events("trouble")) == 1
    assert (model.asked, retaken(made.home.services)) == (3, 1)
    assert faults(made.home.services) == []


def test_an_effect_that_a_process_left_is_driven_again_while_it_runs(made: Made) -> None:
    made.home.run(30, (1, made.asked_and_left))
    assert made.status == "confirming"
    made.home.run(1)  # at its start it does not wait
    assert made.status == "confirmed"
    assert [fields["item"] for fields in made.home.events("recovered")] == [1]
    assert divergences(made.home.services) == []


def test_an_effect_is_given_a_minute_before_it_is_in_doubt(made: Made) -> None:
    made.home.run(100, (1, made.asked_and_left), (59, lambda: made.home.told.append(("at", {}))))
    names = [event for event, _ in made.home.told if event in ("at", "recovered")]
    assert names == ["at", "recovered"]
    assert made.status == "confirmed"


def test_an_effect_that_cannot_be_done_is_tried_again_and_told_of_once(made: Made) -> None:
    made.asked_and_left()
    made.fill(made.journal)
    made.home.run(900, (600, lambda: made.fill(made.journal, is_full=False)))
    assert len(made.home.events("trouble")) == 1
    assert made.status == "confirmed"
    assert faults(made.home.services) == []
