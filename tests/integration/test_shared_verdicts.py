"""Who finishes what machines of a shared home left open in change sets, and what the journal alone
can say of it: in memory, and on a disk by a sync, `recover` and `run` (ADR 73, 76)."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.documents.status import effects_in_flight
from adapters.proof.prove import prove_logs
from adapters.runtime import effects, orphaned_effects, recovery, review
from adapters.runtime.due_index import DueIndex
from adapters.runtime.services import Services
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.store.memory import MemoryLogRecorder
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from adapters.usecases.proposals import ItemVerdict, decide
from adapters.usecases.run_home import failed_sets, recover_home
from adapters.wiring import Home, open_home
from domain.agent.agent import AGENT
from domain.changes.change_set import ChangeItem, ItemConfirming
from domain.changes.commands import ConfirmItem
from domain.journal.commands import AddLabel, ApplyOperation
from domain.journal.task import TASK
from domain.log.timestamps import later
from domain.log.wire import Words
from tests.support import cli
from tests.support.fleet import Fleet, Machine
from tests.support.rescuing import Machine as Place
from tests.support.rescuing import met
from tests.support.services import START
from wakelog.testing import calls as reply

ESTIMATE, LABEL = 1, 2


class Decided:
    """Three machines, of which desk leads, and a set with two items that all know."""

    def __init__(self, expire_days: int = 0) -> None:
        self.fleet = Fleet("desk", "laptop", "phone", log=_fused)
        desk = self.fleet["desk"]
        agents = replace(desk.services.settings.agents, expire_after_days=expire_days)
        desk.services.settings = replace(desk.services.settings, agents=agents)
        label = desk.services.append_journal(AddLabel("urgent")).result.ids[0]
        self.task = desk.task("Mend the roof")
        agent = desk.agent(self.task)
        labels = f'{{"labels":[{{"id":"{label}","confidence":"high"}}]}}'
        calls = ("update_task_estimate", '{"minutes":30}'), ("assign_task_labels", labels)
        desk.answers(reply(*calls), reply(text="Done."))
        desk.run()
        (self.set,) = desk.services.agent(agent).sets
        self.fleet.meet()

    def item(self, who: str, number: int = ESTIMATE) -> ChangeItem:
        return review.changes_of(self.fleet[who].services, self.set).items[number - 1]

    def statuses(self, number: int = ESTIMATE) -> list[str]:
        return [self.item(who, number).status for who in self.fleet]

    def dies(self, who: str, appends: int, deed: Callable[[Machine], object]) -> None:
        """A deed whose process dies after so many appends to the agents' log."""
        at = self.fleet[who]
        assert isinstance(at.services.agents, FaultyLog)
        at.services.agents.fuse = appends + 1
        with pytest.raises(Crashed):
            deed(at)
        at.services.agents.fuse = 0

    def fuse(self, who: str, deed: Callable[[Services], object]) -> None:
        """A deed whose process dies before it writes to the journal."""
        services = self.fleet[who].services
        assert isinstance(services.journal, FaultyLog)
        services.journal.fuse = 1
        with pytest.raises(Crashed):
            deed(services)
        services.journal.fuse = 0

    def asks(self, who: str, number: int = ESTIMATE) -> None:
        """A confirmation whose effect nobody has begun."""
        self.fuse(who, lambda at: review.confirm(at, self.set, number))

    def done_unsaid(self, who: str, number: int = ESTIMATE) -> None:
        """A confirmation that was done, and the process was gone before it could say so."""
        self.dies(who, 1, lambda at: review.confirm(at.services, self.set, number))

    def rejects(self, who: str, number: int = ESTIMATE) -> None:
        review.reject(self.fleet[who].services, self.set, number, "no")

    def recover(self, who: str) -> list[tuple[int, str]]:
        steps = recovery.recover(
            self.fleet[who].services, [], [self.set, self.set], [], lambda _: None
        )
        assert not [one for one in steps if isinstance(one.error, Exception)]
        return [(one.item, one.status) for one in steps]


def _fused(name: str, replica: str) -> FaultyLog:
    return FaultyLog(name, MemoryLogRecorder(), replica)


@pytest.fixture
def home() -> Decided:
    return Decided()


# ------------------------------------------------------------------------------------- in doubt


def test_what_was_done_and_declined_at_once_is_confirmed_by_who_leads(home: Decided) -> None:
    home.done_unsaid("phone")
    home.rejects("desk")
    home.fleet["phone"].sync()
    home.fleet["laptop"].sync()
    assert home.statuses() == ["rejected", "confirming", "confirming"]
    home.fleet["desk"].sync()
    assert home.statuses()[0] == "confirmed"
    home.fleet.meet()
    assert home.statuses() == ["confirmed"] * 3
    for one in home.fleet.values():
        assert orphaned_effects.confirm_done(one.services, [home.set]) == []
        assert prove_logs(one.services.journal, one.services.agents).divergences == ()


def test_who_did_it_says_so_though_it_does_not_lead(home: Decided) -> None:
    home.done_unsaid("phone")
    home.rejects("laptop")
    home.fleet["laptop"].sync()
    home.fleet["phone"].sync()
    assert home.item("phone").status == "confirmed"


def test_who_neither_did_it_nor_leads_leaves_it(home: Decided) -> None:
    home.done_unsaid("phone")
    home.rejects("laptop")
    home.fleet["phone"].sync()
    home.fleet["laptop"].sync()
    assert home.item("laptop").status == "rejected"
    assert home.recover("laptop") == []
    home.fleet.meet()
    assert home.statuses() == ["confirmed"] * 3


def test_a_receipt_that_comes_after_the_verdicts_counts_as_well(home: Decided) -> None:
    phone, desk = home.fleet["phone"].services, home.fleet["desk"].services
    home.asks("phone")
    home.rejects("desk")
    home.fleet["phone"].sync()
    home.fleet["desk"].sync()
    assert home.item("desk").held
    home.dies("phone", 0, lambda at: review.drive(at.services, home.set, ESTIMATE))
    sync_logs(
        (phone.journal, phone.agents), home.fleet.shelf, START, SyncState()
    )  # and is gone for good
    before = orphaned_effects.reached(desk)
    home.fleet["desk"].sync()
    assert home.item("desk").status == "confirmed"
    assert orphaned_effects.confirm_come(desk, before) == []


def test_the_suppression_of_a_label_is_no_sign_that_it_was_given(home: Decided) -> None:
    home.asks("phone", LABEL)
    home.rejects("desk", LABEL)
    home.fleet.meet()
    found = home.item("desk", LABEL)
    assert (found.status, bool(found.held), len(found.operations)) == ("rejected", True, 2)
    assert [home.recover(who) for who in home.fleet] == [[], [], []]
    assert home.statuses(LABEL) == ["rejected"] * 3


def test_a_crash_between_a_sync_and_its_answer_is_made_up_for_by_a_recovery(home: Decided) -> None:
    home.done_unsaid("phone")
    home.rejects("desk")
    home.fleet["phone"].sync()
    home.dies("desk", 0, lambda at: at.sync())
    assert home.item("desk").status == "rejected"
    desk = home.fleet["desk"].services
    assert (
        orphaned_effects.confirm_come(desk, orphaned_effects.reached(desk)) == []
    )  # nothing came since
    with Home.in_memory(desk) as opened:
        opened.views.catch_up()
        steps = recover_home(opened, lambda _: None)
        assert [(one.what, one.item, one.status) for one in steps] == [
            ("operation", ESTIMATE, "confirmed")
        ]
        assert recover_home(opened, lambda _: None) == []


def test_what_one_did_and_another_was_refused_is_found_in_what_failed(home: Decided) -> None:
    home.asks("laptop")
    home.fleet.meet()
    home.dies("laptop", 0, lambda at: review.drive(at.services, home.set, ESTIMATE))
    home.fleet["desk"].estimate(home.task, 45)
    with Home.in_memory(home.fleet["desk"].services) as opened:
        opened.views.catch_up()
        did = decide(opened, home.set, ESTIMATE, ItemVerdict("confirm"))
        assert (did.is_done, did.code) == (False, "stale")
        opened.views.catch_up()
        assert failed_sets(opened) == [home.set]
    assert home.item("desk").status == "pending"
    home.fleet["laptop"].sync()
    desk = home.fleet["desk"].services
    sync_logs((desk.journal, desk.agents), home.fleet.shelf, START, SyncState())  # and nothing else
    with Home.in_memory(desk) as opened:
        opened.views.catch_up()
        assert [one.status for one in recover_home(opened, lambda _: None)] == ["confirmed"]
    home.fleet.meet()
    assert home.statuses() == ["confirmed"] * 3


@pytest.mark.parametrize("is_late", [False, True])
def test_what_one_took_back_and_another_could_not_is_taken_back(
    home: Decided, is_late: bool
) -> None:
    """`is_late`: the receipt comes after all that is said of it."""
    desk, phone = (home.fleet[one].services for one in ("desk", "phone"))
    done = review.confirm(desk, home.set, ESTIMATE)
    assert done
    (operation,) = done.operations
    home.fleet.meet()
    home.fuse("phone", lambda at: review.undo(at, home.set, ESTIMATE, operation))
    if is_late:
        home.fleet["phone"].sync()
    home.dies("phone", 0, lambda at: review.drive(at.services, home.set, ESTIMATE))
    home.fleet["desk"].estimate(home.task, 45)
    refused = review.undo(desk, home.set, ESTIMATE, operation)
    assert refused
    assert refused.status == "confirmed"
    home.fleet["desk"].sync()
    sync_logs((phone.journal, phone.agents), home.fleet.shelf, START, SyncState())
    home.fleet["desk"].sync()
    assert home.item("desk").status == "pending"


# ----------------------------------------------------------------------------------- in flight


def test_what_another_machine_has_in_flight_is_left_to_it(home: Decided) -> None:
    home.asks("phone")
    home.fleet.meet()
    for who in "desk", "laptop":
        services = home.fleet[who].services
        home.fleet.clock.at = later(home.fleet.clock.at, seconds=86_400)
        index = DueIndex(services)
        index.start([], [home.set])
        assert index.in_doubt(services.clock.now()) == [home.set]
        assert review.recover(services, home.set) == []
        assert home.recover(who) == []
    assert home.recover("phone") == [(ESTIMATE, "confirmed")]


def test_a_person_who_decides_takes_over_what_is_in_flight_elsewhere(home: Decided) -> None:
    home.asks("phone")
    home.asks("phone", LABEL)
    home.fleet.meet()
    with Home.in_memory(home.fleet["laptop"].services) as opened:
        assert decide(opened, home.set, ESTIMATE, ItemVerdict("confirm")).is_done
    assert home.item("laptop", LABEL).status == "confirming"
    home.fleet.meet()
    assert home.statuses() == ["confirmed"] * 3
    assert home.recover("phone") == [(LABEL, "confirmed")]
    home.fleet.meet()
    with home.fleet["desk"].services.journal.reading() as world:
        assert world.load(TASK, home.task).estimate == 30
    assert home.statuses(LABEL) == ["confirmed"] * 3


def test_what_a_machine_that_is_gone_left_is_finished_by_who_leads(home: Decided) -> None:
    home.asks("phone")
    home.fleet.meet()
    home.fleet["laptop"].retire("phone")
    assert home.recover("laptop") == []  # desk leads
    home.fleet.meet()
    assert home.recover("desk") == [(ESTIMATE, "confirmed")]
    home.fleet.meet()
    assert home.statuses() == ["confirmed"] * 3


def test_only_who_is_to_finish_an_effect_is_told_that_it_is_in_doubt(home: Decided) -> None:
    home.asks("phone")
    home.fleet.meet()
    assert [in_doubt(home, who) for who in home.fleet] == [0, 0, 1]
    home.rejects("desk", LABEL)
    home.fleet["desk"].retire("phone")
    home.fleet.meet()
    assert [in_doubt(home, who) for who in home.fleet] == [1, 0, 1]


def in_doubt(home: Decided, who: str) -> int:
    """How many effects the status of a machine shows."""
    with Home.in_memory(home.fleet[who].services) as opened:
        opened.views.catch_up()
        return len(list(effects_in_flight(opened)))


# --------------------------------------------------------------------------------------- expiry


def test_proposals_expire_where_it_is_led() -> None:
    home = Decided(expire_days=3)
    home.fleet.wait(4 * 86_400)
    desk, laptop = (home.fleet[one].services for one in ("desk", "laptop"))
    index = DueIndex(laptop)
    index.start([], [home.set])
    assert index.expired(laptop.clock.now()) == [home.set]
    assert review.expire(laptop, home.set) is False
    home.fleet["laptop"].lead()
    assert review.expire(laptop, home.set) is True
    assert review.expire(desk, home.set) is True  # it has not heard of either
    home.fleet.meet()
    assert home.statuses() == ["expired"] * 3


def test_who_says_why_ends_proposals_anywhere(home: Decided) -> None:
    assert review.expire(home.fleet["laptop"].services, home.set, "the task is gone") is True


# ---------------------------------------------------------------------------------------- on a disk


def env_of(one: Place) -> dict[str, str]:
    return {**one.environ, "WAKELOG_NOW": cli.NOW}


def left_unsaid(one: Place, set_id: str, number: int) -> None:
    """A confirmation whose process was gone once it was done."""
    with open_home(one.home, one.environ, is_writing=True) as home:
        at = home.services
        position, category = review.seen_at(at, review.changes_of(at, set_id), number)
        at.append_agent(ConfirmItem(set_id, number, "person", position, category=category))
        changes = review.changes_of(at, set_id)
        item = changes.items[number - 1]
        assert isinstance(item.asked, ItemConfirming)
        with at.agents.reading() as world:
            categories = world.load(AGENT, changes.agent).categories
        command = ApplyOperation(
            item.asked.operation,
            changes.agent,
            changes.task,
            item.tool,
            Words(),
            item.base,
            categories,
        )
        assert effects.apply(at, command, review.arguments_of(at, item)).result.status == "applied"


def cut_off(one: Place, folder: Path) -> None:
    """A sync that took all, and was gone before it looked at it."""
    with open_home(one.home, one.environ, is_writing=True) as home:
        logs = home.services.journal, home.services.agents
        sync_logs(logs, LocalSyncFolder(folder), home.services.clock.now(), SyncState())


@pytest.mark.parametrize("words", [["recover"], ["run", "--until-idle"], ["sync"]])
def test_an_item_in_doubt_is_confirmed_by_itself(tmp_path: Path, words: list[str]) -> None:
    home = met(tmp_path)
    desk, phone = home.desk, home.phone
    title = "Fix the sink"
    for line in (
        ["task", "add", title],
        ["task", "note", title, "Takes about 2 hours. Due on 2027-02-03."],
        ["agent", "create", title],
        ["wake"],
    ):
        cli.done(line, desk.home, env=env_of(desk))
    home.sync()
    (proposed,) = cli.told(["inbox"], desk.home, env=env_of(desk))
    ref = proposed["items"][0]["ref"]
    left_unsaid(phone, proposed["id"], 1)
    cli.done(["reject", ref], desk.home, env=env_of(desk))
    cut_off(phone, home.folder)
    if words == ["sync"]:
        words = ["sync", str(home.folder)]
    else:
        cut_off(desk, home.folder)
    before = cli.told(["status"], desk.home, env=env_of(desk))
    assert before["in_doubt"] == []
    cli.done(words, desk.home, env=env_of(desk))
    with open_home(desk.home, desk.environ) as opened:
        assert review.changes_of(opened.services, proposed["id"]).items[0].status == "confirmed"
    assert desk.proves()
