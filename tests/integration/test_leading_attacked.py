"""The lead is handed over at once, by halves, to nobody, or to who is gone: one machine leads in
the end, nothing is lost, and each mistake is told in one clear line (ADR 76)."""

from pathlib import Path

import pytest

from adapters.proof.prove import prove_logs
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.store.memory import MemoryLogRecorder
from adapters.sync.machines import let_lead, retire
from adapters.wiring import Home
from domain.agent.wake_queue import WakeBegun
from domain.errors import Refused
from tests.support.fleet import Fleet
from tests.support.machines import Machine as Place


def fused(name: str, replica: str) -> FaultyLog:
    return FaultyLog(name, MemoryLogRecorder(), replica)


@pytest.fixture
def fleet() -> Fleet:
    """Desk leads, and has two agents with a wake queued each, which all know."""
    found = Fleet("desk", "laptop", "phone", log=fused)
    desk = found["desk"]
    for title in "Mend the roof", "Boat":
        desk.agent(desk.task(title))
    desk.look()
    found.meet()
    return found


def begun(fleet: Fleet) -> list[str]:
    """The run keys of wakes that began, by whoever."""
    agents = fleet["desk"].agents
    every = [one.facts(agent, WakeBegun) for one in fleet.values() for agent in agents]
    return sorted(fact.run_key for told in every for fact in told if isinstance(fact, WakeBegun))


def leads(fleet: Fleet) -> list[str]:
    return [one.services.lead for one in fleet.values()]


def end(fleet: Fleet) -> None:
    """All meet and run what is theirs; two wakes, each once, and all of it is proved."""
    fleet.meet()
    for one in fleet.values():
        one.look()
        one.run()
    fleet.meet()
    assert len(set(leads(fleet))) == 1
    assert len(set(begun(fleet))) == 2
    for one in fleet.values():
        assert [one.queued(agent) for agent in one.agents] == ["", ""]
        assert prove_logs(one.services.journal, one.services.agents).divergences == ()


def test_two_that_take_the_lead_at_once_are_one_after_they_met(fleet: Fleet) -> None:
    fleet["laptop"].lead()
    fleet["phone"].lead()
    for name in "laptop", "phone":
        fleet[name].look()
        assert fleet[name].services.leads
    fleet.meet()
    assert leads(fleet) == ["laptop"] * 3
    end(fleet)
    assert len(begun(fleet)) == 2


@pytest.mark.parametrize("appends", [0, 1])
def test_a_hand_over_that_is_cut_off_is_gone_on_with(fleet: Fleet, appends: int) -> None:
    """Killed right after it was said who leads, and after the first of two wakes was taken over."""
    laptop = fleet["laptop"]
    agents = laptop.services.agents
    assert isinstance(agents, FaultyLog)
    with Home.in_memory(laptop.services) as home:
        agents.fuse, agents.is_after = 1 + appends, True
        with pytest.raises(Crashed):
            let_lead(home)
        agents.fuse = 0
    assert laptop.services.leads
    assert sum(bool(laptop.queued(one)) for one in laptop.agents) == appends
    end(fleet)
    assert len(begun(fleet)) == 2


def test_a_retirement_that_is_cut_off_may_be_said_again(fleet: Fleet) -> None:
    laptop = fleet["laptop"]
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
    end(fleet)


def test_two_that_retire_each_other_leave_one_that_leads(fleet: Fleet) -> None:
    fleet["laptop"].retire("desk")
    fleet["desk"].retire("laptop")
    fleet.meet()
    (lead,) = set(leads(fleet))
    assert lead not in fleet["phone"].machines.retired
    end(fleet)


@pytest.mark.parametrize(
    ("named", "code", "line"),
    [
        ("laptop", "invalid_value", "laptop is this machine"),
        ("nobody", "unknown_replica", "nobody"),
        ("", "unknown_replica", "machine"),
    ],
)
def test_who_cannot_be_retired_is_told_in_a_line(
    fleet: Fleet, named: str, code: str, line: str
) -> None:
    with Home.in_memory(fleet["laptop"].services) as home:
        before = home.services.agents.count()
        with pytest.raises(Refused) as found:
            retire(home, named)
        assert (found.value.code, home.services.agents.count()) == (code, before)
        assert line in str(found.value)
        assert "\n" not in str(found.value)


def test_who_was_gone_is_there_again_where_it_is_named(fleet: Fleet) -> None:
    fleet["laptop"].retire("desk")
    with Home.in_memory(fleet["laptop"].services) as home:
        did = let_lead(home, "desk")
        assert (did.changed, did.returned) == (True, True)
        did = let_lead(home, "desk")
        assert (did.changed, did.returned) == (False, False)
        with pytest.raises(Refused) as found:
            let_lead(home, "nobody")
        assert found.value.code == "unknown_replica"
    end(fleet)


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
    assert "is this machine" in desk.said("replicas", "retire", "desk", status=2)
    assert desk.said("replicas", "retire", "laptop") == "laptop is gone for good.\n"
    assert desk.said("replicas", "retire", "laptop") == "laptop is gone for good.\n"
    told = desk.said("replicas", "lead", "laptop")
    assert told == "laptop was gone for good, and is there again. laptop leads now.\n"
