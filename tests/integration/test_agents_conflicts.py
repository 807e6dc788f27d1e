"""What two machines said of an agent and of its proposals apart from each other is shown on every
door of both, and settled on one (ADR 73)."""

import shutil
from pathlib import Path

import pytest

from adapters.web.replica_conflicts import HEADINGS
from tests.integration.test_shared_templates import NAMES
from tests.support import cli
from tests.support.machines import Machine
from tests.support.pages import text_of, visiting
from tests.support.rescuing import Machine as Rescued

pytestmark = pytest.mark.slow

TASK = "Book the flight by Friday"
OPEN = ["agent:goal", "agent:name", "item:1"]


@pytest.fixture
def both(tmp_path: Path) -> list[Machine]:
    """Each gave the agent a name and a goal, and decided of its proposal."""
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", TASK)
    desk.said("agent", "create", "--task", TASK, "--name", "Ann")
    desk.said("wake")
    desk.sync()
    for one in desk, laptop:
        one.said("sync", str(one.folder))
        one.said("replicas", "name", one.home.name)
    for one in desk, laptop:
        one.sync()
    laptop.said("agent", "set", "Ann", "--name", "\u65c5\u884c", "--goal", "direct")
    laptop.said("reject", "desk/1.1", "--reason", "not sure")
    desk.said("agent", "set", "Ann", "--name", "Scout", "--goal", "cheap")
    desk.said("confirm", "1.1")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def fields(machine: Machine) -> list[str]:
    return sorted(one["field"] for one in machine.told("conflicts"))


def goal(machine: Machine, name: str = "Scout") -> str:
    return str(machine.told("agent", "show", name)["slots"]["primary_goal"]["value"])


def test_both_show_what_was_said_and_one_settles_it(both: list[Machine]) -> None:
    desk, laptop = both
    assert fields(desk) == fields(laptop) == OPEN
    here, there = desk.said("conflicts"), laptop.said("conflicts")
    assert "agent:name (the name of the agent '\u65c5\u884c')" in there
    assert '"Scout" on desk (you, 20' in there
    assert '"\u65c5\u884c" on laptop, which stands (you, 20' in there
    assert "(1.1 'Set due date to" in here
    assert "(desk/1.1 'Set due date to" in there
    assert "rejected (not sure) on laptop (you, 20" in there
    assert "confirmed on desk, which stands (you, 20" in there
    assert "not sure" in laptop.said("task", "show", TASK)
    assert desk.told("status")["conflicts"] == len(OPEN)
    assert "name desk" in laptop.refused("settle", TASK, "item:1", "--keep", "laptop")
    assert "no text" in laptop.refused("settle", TASK, "agent:goal", "--keep", "laptop", "--both")
    laptop.said("settle", TASK, "item:1", "--keep", "desk")
    laptop.said("settle", TASK, "agent:name", "--keep", "desk", "--key", "k")
    laptop.said("settle", TASK, "agent:name", "--keep", "desk", "--key", "k")
    assert "k" in laptop.refused("settle", TASK, "agent:name", "--keep", "laptop", "--key", "k")
    agent = laptop.told("agent", "show", "Scout")["id"]
    laptop.said("settle", TASK, f"agent:{agent}:goal", "--keep", "desk")
    for one in laptop, desk:
        one.sync()
        assert fields(one) == []
        assert goal(one) == "cheap"
        assert "Proved" in one.said("prove")


def test_each_settles_its_own_way_and_then_they_agree(both: list[Machine]) -> None:
    for one in both:
        one.said("settle", TASK, "agent:goal", "--keep", one.home.name)
        one.said("settle", TASK, "item:1", "--keep", "desk")
    for one in (*both, both[0]):
        one.sync()
    assert fields(both[0]) == fields(both[1]) == ["agent:goal", "agent:name"]
    for field in "agent:goal", "agent:name":
        both[1].said("settle", TASK, field, "--keep", "desk")
    for one in (*both[::-1], both[1]):
        one.sync()
    assert [goal(one) for one in both] == ["cheap", "cheap"]
    assert [fields(one) for one in both] == [[], []]


def test_the_card_settles_them_and_offers_of_verdicts_what_stands(both: list[Machine]) -> None:
    laptop = both[1]
    task = laptop.told("conflicts")[0]["task"]
    env = {"WAKELOG_REPLICA": "laptop", "WAKELOG_TIMEZONE": "UTC"}
    with visiting(laptop.home, env=env) as visitor:
        url = f"/tasks/{task}"
        page = text_of(visitor.page(url))
        assert HEADINGS["verdicts"] in page
        assert "desk/1.1 " in page
        assert "Two machines differ on the goal of the agent" in page
        assert "Keep it confirmed" in page
        assert "Keep it rejected" not in page
        for field in OPEN:
            form = visitor.form(url, f"{url}/settle", field=field)
            for _ in range(2):  # a slow double click
                assert visitor.send(form, keep="desk").status_code == 200
        late = visitor.send(form, nonce="another-one", keep="desk")
        assert "changed or settled since" in late.text
        assert f"{url}/settle" not in visitor.page(url)
    assert fields(laptop) == []


def test_what_is_of_no_task_is_settled_by_the_word_agents(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", "Trip")  # its category is made
    desk.said("template", "create", "Calm", "--general", "as it was")
    for one in desk, laptop, desk:
        one.sync()
    for one in desk, laptop:
        one.said("template", "version", "Calm", "--general", f"of the {one.home.name}")
        one.said("policy", "models", "Inbox", "rules", *(["gemini:*"] if one is desk else []))
    for one in desk, laptop, desk:
        one.sync()
    told = desk.said("conflicts")
    assert "agents Calm\n     template:active (the active version of the template)\n" in told
    assert '"version 2: of the desk" on desk (you, 20' in told
    assert '"version 2: of the laptop" on laptop' in told
    found = {one["field"]: one for one in desk.told("conflicts")}
    (rule,) = (field for field in found if field.startswith("models:"))
    assert "(the models for agents of Inbox)\n" in told
    assert {one["value"] for one in found[rule]["values"]} == {"gemini:*, rules", "rules"}
    assert found[rule]["task"] == ""
    desk.said("settle", "agents", "template:active", "--keep", "desk")
    desk.said("settle", "agents", rule, "--keep", "laptop")
    for one in desk, laptop:
        one.sync()
        assert fields(one) == []
    active = [
        one["general"]
        for one in laptop.told("template", "show", "Calm")["versions"]
        if one["active"]
    ]
    assert active == ["of the desk"]
    with visiting(laptop.home, env={"WAKELOG_REPLICA": "laptop"}) as visitor:
        assert "Your machines differ" not in visitor.page("/tasks")


def test_what_a_machine_settled_under_a_forked_name_is_settled_after_its_rescue(
    both: list[Machine], tmp_path: Path
) -> None:
    desk, laptop = both
    image = Path(shutil.copytree(desk.home, tmp_path / "image"))
    desk.said("task", "add", "Another")
    desk.sync()
    old = Rescued(image, "desk")
    env = {**old.environ, "WAKELOG_NOW": cli.NOW}
    for field, keep in ("agent:name", "laptop"), ("agent:goal", "desk"), ("item:1", "desk"):
        cli.done(["settle", TASK, field, "--keep", keep], image, env=env)
    report = old.rescue(desk.folder, "desk2")
    assert (report.refused, report.redone) == ([], 3)
    for one in laptop, desk:
        one.sync()
        assert fields(one) == []
        assert goal(one, "\u65c5\u884c") == "cheap"
        assert "Proved" in one.said("prove")
