"""Two machines of a home: one wakes agents by itself, a person hands that over, and goes on where
a machine is gone."""

from pathlib import Path

import pytest

from tests.support import cli
from tests.support.machines import Machine
from tests.support.pages import text_of, visiting

pytestmark = pytest.mark.slow


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    """A desk with a task, and a laptop that has met it."""
    folder = tmp_path / "folder"
    folder.mkdir()
    desk, laptop = (Machine(tmp_path / one, folder) for one in ("desk", "laptop"))
    desk.said("task", "add", "Buy milk")
    for one in (desk, laptop, desk):
        one.sync()
    return desk, laptop


def meet(*machines: Machine) -> None:
    for one in machines * 2:
        one.sync()


def env_of(machine: Machine) -> dict[str, str]:
    return {"WAKELOG_REPLICA": machine.home.name, "WAKELOG_TIMEZONE": "UTC"}


def leads(machine: Machine) -> list[str]:
    return [one["replica"] for one in machine.told("replicas") if one["leads"]]


def test_one_machine_wakes_agents_until_another_one_is_named(
    machines: tuple[Machine, Machine],
) -> None:
    desk, laptop = machines
    assert leads(desk) == leads(laptop) == ["desk"]
    laptop.said("agent", "create", "Buy milk")
    assert laptop.told("wake") == []
    told = "desk leads: agents wake by themselves there. Wake one here with `wakelog wake TASK`"
    assert told in " ".join(laptop.said("wake").split())
    assert "desk: there agents wake by themselves" in laptop.said("status")
    assert "lead" not in desk.said("status")
    assert "another machine wakes for it" in laptop.said("why", "Buy milk")
    meet(laptop, desk)
    assert len(desk.told("wake")) == 1
    meet(desk, laptop)
    laptop.said("task", "set", "Buy milk", "--title", "Buy oat milk")
    assert laptop.told("wake") == []
    did = laptop.told("replicas", "lead")
    assert did == {"replica": "laptop", "label": "", "changed": True, "returned": False}
    assert laptop.said("replicas", "lead") == "laptop leads already.\n"
    assert len(laptop.told("wake")) == 1
    meet(laptop, desk)
    assert leads(desk) == leads(laptop) == ["laptop"]
    assert desk.told("wake") == []
    assert desk.said("replicas", "lead", "desk") == "desk leads now.\n"
    meet(desk, laptop)
    for one in desk, laptop:
        one.said("prove")
        assert "ok    journal and agent log" in one.said("doctor")


def test_a_machine_that_is_gone_is_waited_for_no_more(machines: tuple[Machine, Machine]) -> None:
    desk, laptop = machines
    for one in desk, laptop:
        one.said("replicas", "name", f"the {one.home.name}")
        one.sync()
    desk.said("agent", "create", "Buy milk")
    meet(desk, laptop)
    desk.said("task", "add", "Book the flight")
    desk.sync()
    assert "is this machine" in laptop.said("replicas", "retire", "the laptop", status=2)
    assert "unknown_replica" in laptop.said("replicas", "retire", "the phone", status=2)
    assert laptop.said("replicas", "retire", "the desk") == "the desk is gone for good.\n"
    assert laptop.told("replicas", "retire", "desk")["lead"] == "laptop"
    report = laptop.sync()
    assert (report["behind"], leads(laptop)) == ([], ["laptop"])
    assert "gone for good" in laptop.said("replicas")
    assert len(laptop.told("wake")) == 1
    desk.said("task", "add", "Wash the car")
    meet(desk, laptop)
    assert laptop.titles() == desk.titles() == {"Buy milk", "Book the flight", "Wash the car"}
    laptop.said("prove")


def test_a_name_that_another_machine_has_is_refused(machines: tuple[Machine, Machine]) -> None:
    desk, laptop = machines
    desk.said("replicas", "name", "home")
    meet(desk, laptop)
    assert "another machine is called" in laptop.said("replicas", "name", "home", status=2)
    assert laptop.sync()["labels"] == {"desk": "home"}


def test_where_agents_stay_on_their_machine_each_leads_itself(
    machines: tuple[Machine, Machine],
) -> None:
    desk, laptop = machines
    for one in machines:
        one.said("settings", "set", "sync.agents", "local")
    laptop.said("agent", "create", "Buy milk")
    assert len(laptop.told("wake")) == 1
    assert leads(laptop) == ["laptop"]
    assert "not_shared" in laptop.said("replicas", "lead", status=2)
    meet(laptop, desk)
    assert desk.told("agent", "list") == []


def test_a_home_that_is_alone_has_nothing_to_lead(tmp_path: Path) -> None:
    alone = Machine(tmp_path / "alone", tmp_path)
    alone.said("task", "add", "Buy milk")
    assert "not_shared" in alone.said("replicas", "lead", status=2)
    assert "not_shared" in alone.said("replicas", "retire", "desk", status=2)


def test_a_runtime_that_stays_wakes_for_nobody_where_another_machine_leads(
    machines: tuple[Machine, Machine],
) -> None:
    desk, laptop = machines
    for one in machines:
        one.said("settings", "set", "agents.throttle_seconds", "1")
    laptop.said("agent", "create", "Buy milk")
    laptop.said("task", "set", "Buy milk", "--title", "Buy oat milk")
    done = cli.run(["run", "--until-idle"], laptop.home, env=env_of(laptop))
    assert "desk leads: agents wake by themselves there" in done.stderr
    assert laptop.told("run", "--until-idle")["wakes"] == 0
    meet(laptop, desk)
    done = cli.run(["run", "--until-idle"], desk.home, env=env_of(desk))
    assert "leads" not in done.stderr
    assert ": wakes (" in done.stderr
    meet(desk, laptop)
    assert laptop.told("run", "--until-idle")["wakes"] == 0
    laptop.said("prove")


def test_a_lead_that_is_silent_is_told_of_from_one_day_on(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    desk, laptop = (
        Machine(tmp_path / one, folder, WAKELOG_NOW="2026-03-01T12:00:00Z")
        for one in ("desk", "laptop")
    )
    desk.said("task", "add", "Buy milk")
    meet(desk, laptop)
    laptop.more["WAKELOG_NOW"] = "2026-03-02T11:59:00Z"
    assert "last heard of" not in laptop.said("status")
    laptop.more["WAKELOG_NOW"] = "2026-03-10T12:30:00Z"
    heard = "desk leads and was last heard of 9 days ago; "
    assert f"{heard}nobody was met for 9 days: `wakelog sync`" in laptop.said("status")
    silent = f"{heard}its agents sleep: `wakelog replicas lead`"
    assert f"{silent}." in laptop.said("sync")
    assert laptop.sync()["lead_away"]["days"] == 9
    assert f"lead       {silent}" in laptop.said("status")
    assert laptop.said("run", "--until-idle").count(silent) == 1
    assert laptop.said("run", "--until-idle", "--sync").count(silent) == 1
    assert "last heard of" not in desk.said("status") + desk.said("sync")
    with visiting(laptop.home, env=laptop.more) as visitor:
        for path in "/inbox", "/agents", "/health":
            assert silent.replace("`", "") in text_of(visitor.page(path))
    desk.more["WAKELOG_NOW"] = "2026-03-10T12:00:00Z"
    desk.sync()
    assert laptop.sync()["lead_away"] is None
    assert "desk: there agents wake by themselves" in laptop.said("status")
    assert laptop.told("status")["lead_away"] is None


def test_who_was_told_to_takes_the_lead_of_a_machine_that_is_silent(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    desk, laptop, phone = (
        Machine(tmp_path / one, folder, WAKELOG_NOW="2026-03-01T12:00:00Z")
        for one in ("desk", "laptop", "phone")
    )
    desk.said("task", "add", "Buy milk")
    desk.said("agent", "create", "Buy milk")
    desk.said("wake")
    meet(desk, laptop, phone)
    for one in (laptop, phone):
        settings = "[sync]\ntake_lead_after_days = 3\n"
        (one.home / "settings.toml").write_text(settings, encoding="utf-8")
    laptop.said("note", "Buy milk", "Takes 20 minutes.")
    laptop.more["WAKELOG_NOW"] = "2026-03-04T11:59:00Z"
    assert laptop.sync()["lead_away"]["days"] == 2
    assert laptop.told("wake") == []
    laptop.more["WAKELOG_NOW"] = phone.more["WAKELOG_NOW"] = "2026-03-04T12:01:00Z"
    assert "leads now" not in laptop.said("sync", "--dry-run")
    said = laptop.said("sync")
    assert "This machine leads now: desk was last heard of 3 days ago." in said
    assert "its agents sleep" not in said
    assert len(laptop.told("wake")) == 1
    assert phone.sync()["leads"] == "laptop", "it hears who took it, and takes nothing"
    assert phone.told("wake") == []
    desk.more["WAKELOG_NOW"] = "2026-03-04T13:00:00Z"
    assert "laptop leads now." in desk.said("sync")
    assert desk.told("wake") == []
    meet(laptop, phone, desk)
    assert len({one.said("prove").split("digest ")[1] for one in (desk, laptop, phone)}) == 1
    assert [leads(one) for one in (desk, laptop, phone)] == [["laptop"]] * 3
