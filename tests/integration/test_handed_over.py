"""A hand-over that says of the machine that led what its rows do not: prove names it (ADR 76)."""

from functools import partial

import pytest
from msgspec.structs import replace

from adapters.proof import histories
from adapters.proof.prove import prove_logs
from adapters.runtime import leadership, watcher
from adapters.store.log import Log
from adapters.store.log_copy import with_payloads
from adapters.store.recorder import by_append
from domain.agent.commands import CreateAgent, InheritWake, TakeJournal
from domain.agent.subscriptions import Batch, placed
from domain.agent.wake_queue import JournalTaken, Trigger
from domain.append.causes import ReplicasImported
from domain.append.notification_batch import batch, brought
from domain.journal.commands import AddLabel, VoidOperation
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log.state import RecordedEvent
from domain.log.wire import Imported
from domain.replication.version_vectors import VersionVectors
from replay.divergence import CHANGED
from replay.streams import LIMITS, Streams, WalkLimits
from tests.support.fleet import Fleet, Machine
from tests.support.services import START

FEW = WalkLimits(3, 3, 3)


class Handing:
    """Desk led, took a change of laptop's and one of its own, and has a wake queued for it; phone
    knows that and leads. Another change of laptop's has come to phone alone."""

    def __init__(self) -> None:
        self.fleet = Fleet("desk", "laptop", "phone")
        desk, laptop, self.phone = self.fleet.values()
        task = desk.task("Mend the roof")
        self.agent = desk.agent(task)
        self.fleet.meet()
        desk.look()
        desk.run()
        laptop.edit(task, "Mend the roof soon")
        self.fleet.meet()
        desk.edit(task, "Mend the roof today")
        desk.look()
        assert desk.queued(self.agent)
        self.fleet.meet()
        laptop.edit(task, "Mend the roof now")
        for title in "Boat", "Car":
            laptop.agent(laptop.task(title))
            laptop.sync()
            self.phone.sync()
        self.phone.lead()

    @property
    def inherits(self) -> InheritWake:
        """What phone says as it goes on with the wake of desk."""
        services = self.phone.services
        rows = services.agents.facts(f"alert:{self.agent}@desk")
        left = leadership.attention(self.agent, rows).queued
        assert left is not None
        return leadership.inherited(services, self.agent, "desk", left)

    @property
    def takes(self) -> TakeJournal:
        """What phone takes of the journal."""
        command = watcher.following(self.phone.services)
        assert command is not None
        return command

    def of_a_copy(self, command: InheritWake | TakeJournal) -> list[tuple[str, str]]:
        """What a proof says of one, which is not said here."""
        journal, agents = self.phone.services.journal, self.phone.services.agents
        other = Log.in_memory("agent", agents.replica)
        with other.recorder.deciding():
            other.recorder.keep_order()
            for rows, payloads in with_payloads(agents.payloads, [*by_append(agents.rows())]):
                other.recorder.insert(rows, payloads)
        assert other.append(command, self.fleet.clock.at).rows
        return [(one.kind_of, one.path) for one in prove_logs(journal, other).divergences]

    def told(self, *commands: InheritWake | TakeJournal) -> list[tuple[str, str]]:
        """What a proof says of them, on phone and on a machine that has heard of it."""
        for command in commands:
            self.phone.services.append_agent(command)
        found = told(self.phone)
        assert found == told(self.phone, FEW)
        self.phone.sync()
        self.fleet["laptop"].sync()
        assert told(self.fleet["laptop"]) == found
        return found


def batches(journal: Log, after: int) -> tuple[Batch, ...]:
    """All that a watcher makes of a journal above an append, made anew."""
    found: list[Batch] = []
    for rows in journal.arrivals(after):
        world = journal.world_at(rows[0].n)
        links, task = partial(world.load, LINKS), partial(world.load, TASK)
        every = [(batch(rows, links, task), rows)]
        every += [(batch(one, links, task), one) for one in journal.brought(rows[0].n)]
        for made, of in every:
            if made is not None:
                is_own = of[0].replica == journal.replica
                found.append(made if is_own else brought(made, journal.replica, rows[0].n))
    return tuple(found)


def told(one: Machine, limits: WalkLimits = LIMITS) -> list[tuple[str, str]]:
    proved = prove_logs(one.services.journal, one.services.agents, limits=limits)
    return [(each.kind_of, each.path) for each in proved.divergences]


@pytest.fixture(scope="module")
def untouched() -> Handing:
    """Of which tests prove copies alone."""
    return Handing()


@pytest.fixture
def handing() -> Handing:
    return Handing()


def test_what_is_so_is_proved(handing: Handing) -> None:
    inherits, takes = handing.inherits, handing.takes
    assert len(inherits.triggers) == 2
    assert {one.of for one in inherits.triggers} == {"desk", "laptop"}
    assert [one.replica for one in takes.covered] == ["desk", "laptop"]
    assert {one.of for one in takes.batches} == {"laptop"}
    assert handing.told(inherits, takes) == []


def test_what_is_no_news_to_an_agent_is_proved_too_and_so_is_a_history_of_it(
    handing: Handing,
) -> None:
    laptop = handing.fleet["laptop"].services
    laptop.append_journal(AddLabel("urgent"))
    task = laptop.agent(handing.agent).task
    laptop.append_journal(VoidOperation("o" * 32, task, "given up"), key="o" * 32)
    handing.fleet.meet()
    handing.phone.look()
    assert told(handing.phone) == []
    services = handing.phone.services
    whole = histories.take_history(services.journal, services.agents)
    assert histories.prove_history(whole).divergences == ()


def test_triggers_that_do_not_wait_there_are_named(untouched: Handing) -> None:
    was = untouched.inherits
    first, second = was.triggers

    def with_first(trigger: Trigger) -> InheritWake:
        return replace(was, triggers=(trigger, second))

    forged = {
        "[1]": replace(was, triggers=(first,)),
        "[0].change": replace(was, triggers=(second, first)),
        "[0].tokens[0]": with_first(replace(first, tokens=("key:LINK",))),
        "[0].position": with_first(replace(first, position=first.position - 1)),
        "[0].ofN": with_first(replace(first, of_n=first.of_n + 1)),
        "[1] ": replace(was, version=was.version - 1),
        "[0]": replace(was, version=1_000),
        "[0] ": replace(was, of="laptop"),
    }
    paths = [(CHANGED, f"data.command.triggers{path.strip()}") for path in forged]
    assert [untouched.of_a_copy(each) for each in forged.values()] == [[one] for one in paths]


def test_triggers_that_its_machine_cannot_have_known_are_named(handing: Handing) -> None:
    """Of a row that is there by now, and was not then."""
    desk, phone = handing.fleet["desk"], handing.phone
    desk.edit(desk.services.agent(handing.agent).task, "Mend the roof at last")
    desk.look()
    row = desk.told(handing.agent)[-1]
    wake = desk.queue(handing.agent).queued
    assert wake is not None
    forged = replace(handing.inherits, version=row.version, triggers=wake.triggers)
    phone.services.append_agent(forged)
    handing.fleet.meet()
    assert told(phone) == [(CHANGED, "data.command.triggers[0]")]


def test_what_nobody_had_taken_or_was_taken_is_named(untouched: Handing) -> None:
    takes, (desk, laptop) = untouched.takes, untouched.takes.covered
    fewer = replace(laptop, n=laptop.n - 1)
    for path, covered in (
        ("[2]", (desk, laptop, Imported("zoo", 1))),
        ("[1].n", (desk, fewer)),
        ("[0].n", (replace(desk, n=desk.n + 1), laptop)),
        ("[0].n", (laptop,)),
    ):
        found = untouched.of_a_copy(replace(takes, covered=covered))
        assert (CHANGED, f"data.command.covered{path}") in found


def test_who_takes_once_more_what_another_one_had_taken_is_named(handing: Handing) -> None:
    journal, takes = handing.phone.services.journal, handing.takes
    again = replace(takes, covered=(), batches=batches(journal, takes.first - 1))
    assert len(again.batches) > len(takes.batches)
    assert handing.told(again) == [(CHANGED, "data.command.covered[0]")]


def test_what_came_in_while_the_journal_was_looked_at_is_no_difference(handing: Handing) -> None:
    takes = handing.takes
    desk = handing.fleet["desk"]
    desk.edit(desk.services.agent(handing.agent).task, "Mend the roof at last")
    desk.look()
    desk.sync()
    handing.phone.sync()
    newer = handing.takes
    assert newer.covered != takes.covered
    assert handing.told(takes) == []


def test_of_a_journal_that_has_not_come_so_far_nothing_is_said() -> None:
    horizons = VersionVectors()
    assert (horizons.learnt("phone", "desk", 3), horizons.markers("phone", 9)) == (0, [])
    horizons.took("phone", 4, ReplicasImported((Imported("desk", 2),)))
    horizons.took("phone", 7, ReplicasImported((Imported("desk", 5),)))
    assert [horizons.learnt("phone", "desk", n) for n in (1, 2, 3, 5, 6)] == [4, 4, 7, 7, 0]
    assert [horizons.markers("phone", n) for n in (4, 5, 8)] == [[], [4], [4, 7]]


def test_the_newest_row_up_to_an_append_is_found_however_many_came_later() -> None:
    streams, stream = Streams("agent", lambda _: None), "watch:main@desk"
    for n in range(2, 200):
        fact = JournalTaken("desk", n, n)
        streams.take([RecordedEvent(stream, n - 1, "desk", n, 0, START, fact)])
    found = [streams.newest(stream, n) for n in (1, 2, 90, 500)]
    assert [one.n if one else 0 for one in found] == [0, 2, 90, 199]
    assert streams.newest("watch:main@phone", 5) is None


def test_a_trigger_has_its_place_in_the_journal_of_who_goes_on_with_it() -> None:
    timer = Trigger("timer", "t1", ticks=(START,))
    assert placed(timer, "phone", lambda *_: 9) == timer
    theirs = Trigger("subscription", "s1", "desk", 5, of="phone", of_n=3)
    own = placed(theirs, "phone", lambda *_: 9)
    assert (own.replica, own.position, own.of, own.of_n) == ("phone", 3, "", 0)


def test_what_an_agent_is_said_to_have_been_made_knowing_and_its_machine_did_not_is_named(
    handing: Handing,
) -> None:
    desk = handing.fleet["desk"].services
    task = handing.fleet["desk"].task("Car")
    with desk.journal.reading() as world:
        category, n = world.load(TASK, task).category, world.n - 1
    seen = (Imported("desk", 1),)
    desk.append_agent(CreateAgent(task, "Car", category, n, "hybrid", seen=seen, first=desk.first))
    assert (CHANGED, "data.command.seen") in told(handing.fleet["desk"])
