"""A day with two machines as README tells it: a file that is watched on both, edits apart from each
other, the card on the page, a third machine, a restored backup, and one that never comes back."""

import shutil
from pathlib import Path

import pytest

from tests.support import process
from tests.support.checking import sharing
from tests.support.machines import Machine
from tests.support.serving import Browser, free_port

pytestmark = pytest.mark.slow

TODO = """# House

- [ ] Fix the kitchen tap
  - [ ] Buy a seal

  The landlord wants it done by 2027-02-12. It takes about 2 hours.
- [ ] Renew the passport due:2027-03-01
"""
LATER = "- [ ] 台所の窓を拭く. It has to be done by 2027-05-01.\n"


class Watching(Machine):
    """A machine with its own copy of the file that is carried between all."""

    def __init__(self, root: Path, name: str) -> None:
        home = root / name / "home"
        super().__init__(home, root / "folder", WAKELOG_REPLICA=name, WAKELOG_NOW="")
        self.file = root / name / "TODO.md"
        self.file.parent.mkdir()

    def due(self, title: str) -> str:
        return str(self.told("task", "show", title)["due_date"])


def met(*machines: Machine) -> None:
    """All sync until nobody takes or gives anything more."""
    for _ in range(6):
        reports = [one.sync() for one in machines]
        if not any(one["took"] or one["gave"] for one in reports):
            assert len({one["digest"] for one in reports}) == 1
            return
    raise AssertionError(reports)


def beside_each_other(*machines: Machine) -> None:
    """Each watches its copy of the file, at once, until nothing is to be done."""
    words = ("run", "--sync", "--watch", "TODO.md", "--agents", "--until-idle")
    running = [one.begun(*words) for one in machines]
    ended = [one.wait(60) for one in running]
    assert ended == [0] * len(running), [one.logged() for one in machines]


def test_a_day_with_two_machines(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    desk, laptop, phone = (Watching(tmp_path, one) for one in ("desk", "laptop", "phone"))
    for one in desk, laptop:
        one.file.write_text(TODO, "utf-8")
    desk.said("import", "TODO.md", "--agents")
    desk.said("wake")
    met(desk, laptop)
    assert [one["id"] for one in laptop.told("inbox")] == [one["id"] for one in desk.told("inbox")]

    # a line more in the file, carried to both, which watch it at once: one task, agent and wake
    for one in desk, laptop:
        one.file.write_text(TODO + LATER, "utf-8")
    beside_each_other(desk, laptop)
    met(desk, laptop)
    for one in desk, laptop:
        assert len(one.told("task", "list")) == 3
        assert len(one.told("agent", "list")) == 3
    beside_each_other(desk, laptop)
    met(desk, laptop)
    (window,) = {one.told("task", "show", "台所")["id"] for one in (desk, laptop)}
    wakes = [one for one in desk.told("wakes") if one["task_id"] == window]
    assert [one["reason"] for one in wakes if one["started_at"]] == ["creation"]

    # a backup; then both go on apart from each other
    desk.said("backup", str(tmp_path / "saved"))
    laptop.said("confirm", "desk/1.2")
    laptop.said("task", "set", "passport", "--due", "2027-03-05")
    desk.said("task", "set", "passport", "--due", "2027-04-01")
    met(desk, laptop)
    for one in desk, laptop:
        (conflict,) = one.told("conflicts")
        assert (conflict["field"], conflict["kind"]) == ("due", "values")
    kept_on_the_page(laptop, "passport", "desk")
    met(laptop, desk)
    assert desk.told("conflicts") == laptop.told("conflicts") == []
    assert desk.due("passport") == laptop.due("passport") == "2027-04-01"
    for one in desk, laptop:
        assert one.told("task", "show", "kitchen tap")["estimate_minutes"] == 120

    # a third machine; a restored backup, which has another name; one that never comes back
    met(desk, laptop, phone)
    restored = Watching(tmp_path, "restored")
    shutil.copytree(tmp_path / "saved", restored.home)
    restored.said("task", "add", "Written on the backup")
    met(desk, laptop, phone, restored)
    laptop.said("replicas", "retire", "phone")
    met(desk, laptop, restored)
    for one in desk, laptop, restored:
        assert one.told("prove")["ok"]
        assert len(one.told("task", "list")) == 4
        assert {"phone"} == {each["replica"] for each in one.told("replicas") if each["retired"]}
    homes = [one.home for one in (desk, laptop, phone, restored)]
    assert sharing.main(folder, homes) == 0


def kept_on_the_page(machine: Machine, task: str, side: str) -> None:
    """The card of a task is there, and goes once a button of it was pressed."""
    port = free_port()
    with machine.running("serve", "--port", str(port)):
        browser = Browser(f"http://127.0.0.1:{port}")
        process.until(browser.is_answered)
        assert "desk/1.1" in browser.page("/inbox?at=desk%2F1.1")
        url = f"/tasks/{machine.told('task', 'show', task)['id']}"
        assert "Two machines differ on the due date" in browser.page(url)
        assert browser.send(url, f"{url}/settle", keep=side)
        assert "Two machines differ" not in browser.page(url)
