"""Of machines that share a home one watches, ticks and wakes by itself; a person hands that over:
at once, by halves, to nobody, or to who is gone. One leads at last, nothing is lost (ADR 76)."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.proof.prove import prove_logs
from adapters.runtime import leadership, review, timers, watcher
from adapters.runtime.timers import timer_command
from adapters.runtime.wake_capture import capture
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.store.memory import MemoryLogRecorder
from adapters.sync.machines import let_lead, retire
from adapters.timetravel.why import trigger_fates
from adapters.wiring import Home
from domain.agent.commands import SleepAgent
from domain.agent.wake_queue import (
    AgentSlept,
    TriggerSuppressed,
    WakeBegun,
    WakeDropped,
    WakeQueued,
)
from domain.changes.commands import ConfirmItem
from domain.errors import Refused
from domain.journal.task import TASK
from domain.log.timestamps import later
from projections import wakes
from replay.divergence import Divergence
from tests.support.fleet import Fleet, Machine
from tests.support.machines import Machine as Place
from tests.support.services import START
from wakelog.testing import calls as reply


@pytest.fixture
def fleet() -> Fleet:
    return Fleet("desk", "laptop", "phone")


def agent_at(fleet: Fleet, name: str = "desk") -> tuple[str, str]:
    """A task and its agent, whose creation wake is over, known to all."""
    task = fleet[name].task("Mend the roof")
    agent = fleet[name].agent(task)
    fleet.meet()
    fleet["desk"].look()
    assert len(fleet["desk"].run()) == 1
    fleet.meet()
    return task, agent


def queued(fleet: Fleet, agent: str) -> list[str]:
    """Which machines have something queued for an agent, once each has looked."""
    for one in fleet.values():
        one.look()
    return [one.name for one in fleet.values() if one.queued(agent)]


def proved(fleet: Fleet) -> list[Divergence]:
    """What a proof of both logs finds on each machine."""
    found = [prove_logs(one.services.journal, one.services.agents) for one in fleet.values()]
    return [told for one in found for told in one.divergences]


def begun(fleet: Fleet, agent: str) -> list[str]:
    """The run keys of wakes that began, by whoever."""
    return [
        fact.run_key
        for one in fleet.values()
        for fact in one.facts(agent, WakeBegun)
        if isinstance(fact, WakeBegun)
    ]


# ------------------------------------------------------------------------------------- one leads


def test_who_does_not_lead_takes_no_journal_and_waits_for_none_of_it(fleet: Fleet) -> None:
    laptop = fleet["laptop"]
    laptop.task("Boat")
    assert (watcher.following(laptop.services), watcher.lag(laptop.services)) == (None, 0)
    assert watcher.catch_up(laptop.services) == 0
    fleet.meet()
    assert watcher.lag(fleet["desk"].services) > 0


def test_a_timer_ticks_where_it_is_led(fleet: Fleet) -> None:
    _, agent = agent_at(fleet)
    fleet["laptop"].services.append_agent(timer_command(agent, "every day 07:00", "UTC", START))
    fleet.meet()
    fleet.wait(86_400)
    laptop, desk = fleet["laptop"].services, fleet["desk"].services
    assert timers.fire(laptop, [agent]) == []
    assert laptop.agent(agent).timers[0].next_at < fleet.clock.at
    assert queued(fleet, agent) == ["desk"]
    fleet.meet()
    assert laptop.agent(agent).timers == desk.agent(agent).timers


def test_with_agents_of_its_own_each_machine_leads_itself(fleet: Fleet) -> None:
    laptop = fleet["laptop"].services
    own = replace(laptop.settings.sync, agents="local")
    laptop.settings = replace(laptop.settings, sync=own)
    assert (laptop.leads, laptop.first, leadership.settle(laptop)) == (True, "", 0)


# ------------------------------------------------------------------------------------------ sleep


DAY = 86_400


def sleeps(machine: Machine, agent: str, days: int, *, is_ordered: bool = True) -> None:
    """A person says on a machine that an agent sleeps so many days, or no longer."""
    until = later(machine.services.clock.now(), seconds=DAY * days) if days else ""
    machine.services.append_agent(SleepAgent(agent, until, is_ordered))


def woken(fleet: Fleet, task: str, agent: str, title: str) -> list[str]:
    """Which machines wake an agent after a change, once time has passed and all have met."""
    fleet["phone"].edit(task, title)
    fleet.meet()
    fleet.wait()
    for one in fleet.values():
        one.look()
    found = [name for name, one in fleet.items() if one.run()]
    fleet.meet()
    return found


@pytest.mark.parametrize("says", ["desk", "laptop"])
@pytest.mark.parametrize("leads", ["desk", "laptop"])
def test_an_order_to_sleep_holds_on_every_machine_until_it_is_taken_back(
    fleet: Fleet, says: str, leads: str
) -> None:
    task, agent = agent_at(fleet)
    sleeps(fleet[says], agent, 90)
    fleet.meet()
    fleet[leads].lead()
    fleet.meet()
    assert woken(fleet, task, agent, "While it sleeps") == []
    sleeps(fleet["phone"], agent, 0)
    fleet.meet()
    assert woken(fleet, task, agent, "It is awake") == [leads]
    assert proved(fleet) == []


def test_an_order_to_sleep_outlives_the_lead_of_who_heard_it(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    sleeps(fleet["desk"], agent, 1)
    sleeps(fleet["laptop"], agent, 90)
    fleet.meet()
    fleet["phone"].lead()
    fleet.meet()
    fleet.wait(2 * DAY)
    assert woken(fleet, task, agent, "The later of both") == []
    fleet.wait(90 * DAY)
    assert woken(fleet, task, agent, "It is over") == ["phone"]
    assert proved(fleet) == []


def test_what_was_said_on_one_machine_alone_holds_everywhere_once_who_leads_heard_it(
    fleet: Fleet,
) -> None:
    task, agent = agent_at(fleet)
    sleeps(fleet["laptop"], agent, 90, is_ordered=False)
    sleeps(fleet["desk"], agent, 1, is_ordered=False)
    fleet.meet()
    fleet.wait(2 * DAY)
    assert woken(fleet, task, agent, "While it sleeps") == []
    sleeps(fleet["desk"], agent, 0)
    fleet.meet()
    assert woken(fleet, task, agent, "An end ends both") == ["desk"]
    fleet["laptop"].lead()
    fleet.meet()
    assert woken(fleet, task, agent, "There, too") == ["laptop"]
    assert proved(fleet) == []
    written = [row for one in fleet.values() for row in one.told(agent)]
    assert sum(isinstance(row.fact, AgentSlept) for row in written) == 2


# --------------------------------------------------------------------------------------- creation


def test_an_agent_that_is_made_elsewhere_is_woken_by_who_leads_once(fleet: Fleet) -> None:
    laptop, desk = fleet["laptop"], fleet["desk"]
    agent = laptop.agent(laptop.task("Boat"))
    (left,) = laptop.facts(agent, TriggerSuppressed)
    assert isinstance(left, TriggerSuppressed)
    assert (left.rule, laptop.queued(agent)) == ("led_elsewhere", "")
    fleet.meet()
    assert queued(fleet, agent) == ["desk"]
    (woken,) = desk.facts(agent, WakeQueued)
    assert isinstance(woken, WakeQueued)
    assert woken.trigger == left.trigger
    desk.run()
    fleet.meet()
    desk.services.settled = None
    assert leadership.settle(desk.services) == 0
    assert queued(fleet, agent) == []


@pytest.mark.parametrize("makers", [("desk", "laptop", "phone"), ("laptop", "phone")])
def test_an_agent_that_several_made_at_once_is_woken_once_where_it_is_led(
    fleet: Fleet, makers: tuple[str, ...]
) -> None:
    task = fleet["desk"].task("Boat")
    fleet.meet()
    (agent,) = {fleet[one].agent(task) for one in makers}
    woken = ["desk"] if "desk" in makers else []
    assert [one.name for one in fleet.values() if one.queued(agent)] == woken
    fleet.meet()
    assert queued(fleet, agent) == ["desk"]
    fleet["desk"].run()
    fleet.meet()
    assert queued(fleet, agent) == []
    assert len(begun(fleet, agent)) == 1
    assert proved(fleet) == []


def test_a_creation_that_nobody_heard_of_is_made_up_for_by_its_own_machine_once_it_leads(
    fleet: Fleet,
) -> None:
    laptop = fleet["laptop"]
    agent = laptop.agent(laptop.task("Boat"))
    laptop.lead()
    laptop.look()
    assert laptop.queued(agent)
    fleet.meet()
    assert queued(fleet, agent) == ["laptop"]


def test_what_another_machine_said_again_wakes_nobody(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    for name in ("desk", "laptop"):
        fleet[name].edit(task, "Mend the roof soon")
    fleet["desk"].look()
    fleet.wait()
    assert len(fleet["desk"].run()) == 1
    fleet.meet()
    assert queued(fleet, agent) == []
    (dropped,) = fleet["desk"].facts(agent, WakeDropped)
    assert isinstance(dropped, WakeDropped)
    assert dropped.code == "nothing_new"
    fleet["laptop"].edit(task, "Mend the roof now")
    fleet.meet()
    assert queued(fleet, agent) == ["desk"]
    assert proved(fleet) == []


# -------------------------------------------------------------------------------------- hand-over


def test_who_takes_the_lead_goes_on_with_what_waits_there(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    fleet["desk"].edit(task, "Mend the roof soon")
    fleet["desk"].look()
    run_key = fleet["desk"].queued(agent)
    fleet.meet()
    fleet["phone"].lead()
    fleet["phone"].look()
    assert fleet["phone"].queued(agent) == run_key
    fleet.meet()
    assert queued(fleet, agent) == ["phone"]
    (dropped,) = fleet["desk"].facts(agent, WakeDropped)
    assert dropped == WakeDropped(run_key, "led_elsewhere")
    fleet["phone"].run()
    fleet.meet()
    assert queued(fleet, agent) == []
    assert sorted(begun(fleet, agent)) == sorted(set(begun(fleet, agent)))


def test_without_the_old_one_only_what_it_did_not_take_is_taken(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    phone = fleet["phone"]
    phone.edit(task, "Mend the roof soon")
    phone.lead("phone")
    command = watcher.following(phone.services)
    assert command is not None
    assert [one.n for one in command.batches] == [phone.services.journal.tail().n]
    assert {one.replica for one in command.covered} >= {"desk"}
    phone.look()
    assert phone.queued(agent)
    fleet.meet()
    assert proved(fleet) == []


def test_a_wake_that_comes_back_unrun_runs_there(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    fleet["desk"].edit(task, "Mend the roof soon")
    fleet["desk"].look()
    run_key = fleet["desk"].queued(agent)
    for name in "phone", "desk", "phone", "desk":
        fleet[name].lead()
        fleet.meet()
        assert queued(fleet, agent) == [name]
        assert fleet[name].queued(agent) == run_key
    assert fleet["desk"].run() == [run_key]
    assert fleet["desk"].services.wake(run_key).outcome == "completed"
    fleet.meet()
    assert proved(fleet) == []


def test_a_wake_that_went_to_another_machine_is_shown_as_that_one_s(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    desk, phone = fleet["desk"], fleet["phone"]
    desk.edit(task, "Mend the roof soon")
    desk.look()
    fleet.meet()
    phone.lead()
    fleet.meet()
    (run_key,) = phone.run()
    fleet["laptop"].edit(task, "Mend the roof today")
    fleet.meet()
    for one in fleet.values():
        with Home.in_memory(one.services) as home:
            home.views.catch_up()
            wake = home.views.get(wakes.VIEW, run_key)
            assert wake is not None
            assert (wake.replica, wake.state, wake.outcome) == ("phone", "ended", "completed")
    assert [told_why(one, agent) for one in fleet.values()] == [
        ("suppressed", "led_elsewhere"),
        ("suppressed", "led_elsewhere"),
        ("queued", "not_noticed"),
    ]


def told_why(one: Machine, agent: str) -> tuple[str, str]:
    """What a machine says of the newest change."""
    changes = [
        told
        for told in trigger_fates(one.services, agent, 5)
        if told.position.startswith("journal")
    ]
    return changes[0].outcome, changes[0].rule


def test_a_person_s_wake_stays_where_it_was_asked_for_when_another_takes_the_lead(
    fleet: Fleet,
) -> None:
    _, agent = agent_at(fleet)
    fleet["desk"].ask(agent)
    fleet.meet()
    fleet["laptop"].lead()
    fleet.meet()
    assert queued(fleet, agent) == ["desk"]


def test_a_trigger_that_was_taken_over_stands_where_this_machine_learnt_of_it(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    desk, laptop = fleet["desk"], fleet["laptop"]
    laptop.edit(task, "Mend the roof soon")
    own = laptop.services.journal.tail().n
    fleet.meet()
    desk.edit(task, "Mend the roof today")
    theirs = desk.services.journal.tail().n
    desk.look()
    fleet.meet()
    laptop.lead()
    laptop.look()
    waits = laptop.queue(agent).queued
    assert waits is not None
    mine, others = waits.triggers
    assert (mine.replica, mine.position, mine.of) == ("laptop", own, "")
    assert (others.replica, others.of, others.of_n) == ("laptop", "desk", theirs)
    assert laptop.services.journal.known_to("laptop", others.position)["desk"] >= theirs


# ----------------------------------------------------------------------------------------- retire


def test_of_a_machine_that_is_gone_the_wakes_go_on(fleet: Fleet) -> None:
    task, agent = agent_at(fleet)
    desk, laptop = fleet["desk"], fleet["laptop"]
    desk.edit(task, "Mend the roof soon")
    desk.look()
    desk.ask(agent)
    fleet.meet()
    laptop.retire("desk")
    assert laptop.services.leads
    laptop.look()
    assert laptop.queued(agent)
    assert leadership.recovered(laptop.services, "desk") == 0
    fleet.meet("laptop", "phone")
    assert [laptop.machines.retired, fleet["phone"].services.lead] == [("desk",), "laptop"]


def test_a_wake_that_had_begun_on_it_is_asked_for_once_more(fleet: Fleet) -> None:
    _, agent = agent_at(fleet)
    begin(fleet["desk"], agent)
    fleet.meet()
    laptop = fleet["laptop"]
    laptop.retire("desk")
    assert leadership.recovered(laptop.services, "desk") == 1
    assert leadership.recovered(laptop.services, "desk") == 0
    waits = laptop.queue(agent).queued
    assert waits is not None
    assert waits.reason == "recovery"
    laptop.look()
    laptop.run()


def test_what_it_had_asked_of_the_journal_is_done(fleet: Fleet) -> None:
    task = fleet["desk"].task("Mend the roof")
    agent = fleet["desk"].agent(task)
    desk, laptop = fleet["desk"], fleet["laptop"]
    desk.answers(reply(("update_task_estimate", '{"minutes":30}')), reply(text="Done."))
    desk.run()
    (set_id,) = desk.services.agent(agent).sets
    position, category = review.seen_at(desk.services, review.changes_of(desk.services, set_id), 1)
    desk.services.append_agent(ConfirmItem(set_id, 1, "person", position, category=category))
    fleet.meet()
    with Home.in_memory(laptop.services) as home:
        did = retire(home, "desk")
        assert (did.lead, did.operations, did.wakes) == ("laptop", 1, 0)
        again = retire(home, "desk")
        assert (again.operations, again.wakes) == (0, 0)
    with laptop.services.journal.reading() as world:
        assert world.load(TASK, task).estimate == 30
    fleet.meet()
    assert review.changes_of(desk.services, set_id).items[0].status == "confirmed"
    assert proved(fleet) == []


def begin(machine: Machine, agent: str) -> None:
    """Begin a wake that nobody ends."""
    run_key = machine.ask(agent)
    captured = capture(machine.services, agent, run_key, is_now=True)
    machine.services.append_agent(captured.command, payloads=captured.payloads)


# ----------------------------------------------------------------------------------------- attacked


def fused(name: str, replica: str) -> FaultyLog:
    return FaultyLog(name, MemoryLogRecorder(), replica)


@pytest.fixture
def two_wait() -> Fleet:
    """Desk leads, and has two agents with a wake queued each, which all know."""
    found = Fleet("desk", "laptop", "phone", log=fused)
    desk = found["desk"]
    for title in "Mend the roof", "Boat":
        desk.agent(desk.task(title))
    desk.look()
    found.meet()
    return found


def every_begun(fleet: Fleet) -> list[str]:
    return [one for agent in fleet["desk"].agents for one in begun(fleet, agent)]


def leads(fleet: Fleet) -> list[str]:
    return [one.services.lead for one in fleet.values()]


def end(two_wait: Fleet) -> None:
    """All meet and run what is theirs; two wakes, each once, and all of it is proved."""
    two_wait.meet()
    for one in two_wait.values():
        one.look()
        one.run()
    two_wait.meet()
    assert len(set(leads(two_wait))) == 1
    assert len(set(every_begun(two_wait))) == 2
    for one in two_wait.values():
        assert [one.queued(agent) for agent in one.agents] == ["", ""]
        assert prove_logs(one.services.journal, one.services.agents).divergences == ()


def test_two_that_take_the_lead_at_once_are_one_after_they_met(two_wait: Fleet) -> None:
    two_wait["laptop"].lead()
    two_wait["phone"].lead()
    for name in "laptop", "phone":
        two_wait[name].look()
        assert two_wait[name].services.leads
    two_wait.meet()
    assert leads(two_wait) == ["laptop"] * 3
    end(two_wait)
    assert len(every_begun(two_wait)) == 2


@pytest.mark.parametrize("appends", [0, 1])
def test_a_hand_over_that_is_cut_off_is_gone_on_with(two_wait: Fleet, appends: int) -> None:
    """Killed right after it was said who leads, and after the first of two wakes was taken over."""
    laptop = two_wait["laptop"]
    agents = laptop.services.agents
    assert isinstance(agents, FaultyLog)
    with Home.in_memory(laptop.services) as home:
        agents.fuse, agents.is_after = 1 + appends, True
        with pytest.raises(Crashed):
            let_lead(home)
        agents.fuse = 0
    assert laptop.services.leads
    assert sum(bool(laptop.queued(one)) for one in laptop.agents) == appends
    end(two_wait)
    assert len(every_begun(two_wait)) == 2


def test_a_retirement_that_is_cut_off_may_be_said_again(two_wait: Fleet) -> None:
    laptop = two_wait["laptop"]
    agents = laptop.services.agents
    assert isinstance(agents, FaultyLog)
    with Home.in_memory(laptop.services) as home:
        agents.fuse, agents.is_after = 1, True
        with pytest.raises(Crashed):
            retire(home, "desk")
        agents.fuse = 0
        did = retire(home, "desk")
    assert (did.lead, laptop.machines.retired) == ("laptop", ("desk",))
    assert all(laptop.queued(one) for one in laptop.agents)
    end(two_wait)


@pytest.mark.parametrize(
    ("named", "code", "line"),
    [
        ("laptop", "invalid_value", "laptop is this machine"),
        ("nobody", "unknown_replica", "nobody"),
        ("", "unknown_replica", "machine"),
    ],
)
def test_who_cannot_be_retired_is_told_in_a_line(
    two_wait: Fleet, named: str, code: str, line: str
) -> None:
    with Home.in_memory(two_wait["laptop"].services) as home:
        before = home.services.agents.count()
        with pytest.raises(Refused) as found:
            retire(home, named)
        assert (found.value.code, home.services.agents.count()) == (code, before)
        assert line in str(found.value)
        assert "\n" not in str(found.value)


def test_who_was_gone_is_there_again_where_it_is_named(two_wait: Fleet) -> None:
    two_wait["laptop"].retire("desk")
    with Home.in_memory(two_wait["laptop"].services) as home:
        did = let_lead(home, "desk")
        assert (did.changed, did.returned) == (True, True)
        did = let_lead(home, "desk")
        assert (did.changed, did.returned) == (False, False)
        with pytest.raises(Refused) as found:
            let_lead(home, "nobody")
        assert found.value.code == "unknown_replica"
    end(two_wait)


def test_each_says_in_one_line_what_became_of_the_lead(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    desk, laptop = (Place(tmp_path / one, folder) for one in ("desk", "laptop"))
    desk.said("task", "add", "Buy milk")
    desk.sync()
    assert "desk leads now." in laptop.said("sync", str(folder))
    desk.sync()
    desk.said("replicas", "lead", "laptop")
    laptop.said("replicas", "lead")
    desk.sync()
    said = laptop.said("sync", str(folder))
    assert "leads now" not in said  # desk said so, and laptop, too
    laptop.said("replicas", "lead", "desk")
    laptop.sync()
    assert "This machine leads now." in desk.said("sync", str(folder))
    assert desk.told("sync", str(folder))["leads"] == ""
    for _ in range(2):
        assert desk.said("replicas", "retire", "laptop") == "laptop is gone for good.\n"
    told = desk.said("replicas", "lead", "laptop")
    assert told == "laptop was gone for good, and is there again. laptop leads now.\n"
