"""What two machines of one home show of each other, on both doors: change sets, wakes, moments and
versions have names that both take; a file that both watch is written by who leads (ADR 75, 76)."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.timetravel import at_document
from adapters.usecases.time_travel import find_moment
from adapters.wiring import open_home
from domain.errors import Refused
from tests.support import cli
from tests.support.machines import NAMES, Machine, pair
from tests.support.pages import text_of, visiting

# -------------------------------------------------------------------------------------- change sets


pytestmark = pytest.mark.slow

BY_FRIDAY = "\u30ea\u30b9\u30dc\u30f3\u884c\u304d by Friday"
LABELS = "Schreibtisch im Arbeitszimmer.", "Laptop in der K\u00fcche von Oma 2.0"


@pytest.fixture
def woken(tmp_path: Path) -> list[Machine]:
    """Each woke the same agent, and has a first change set."""
    desk, laptop = pair(tmp_path)
    desk.said("task", "add", BY_FRIDAY)
    desk.said("agent", "create", "--task", BY_FRIDAY, "--mode", "autonomous")
    for one, label in zip((desk, laptop), LABELS, strict=True):
        one.sync()
        one.said("replicas", "name", label)
        one.said("wake", BY_FRIDAY)
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def test_what_either_prints_can_be_typed_on_both(woken: list[Machine]) -> None:
    lines = woken[0].said("inbox").splitlines()
    at = lines.index(f"  '{LABELS[1]}/1.1'")
    assert lines[at + 1].startswith("         Set due date to")
    assert any(line.startswith("  1.1    Set due date to") for line in lines)
    known = {one: one.told("inbox") for one in woken}
    printed = {item["ref"]: found["id"] for sets in known.values() for found in sets
               for item in found["items"] if "/" in item["ref"]}  # fmt: skip
    assert set(printed) == {f"{label}/1.1" for label in LABELS}
    for one in woken:
        for ref, made in printed.items():
            for name in (
                ref,
                ref.lower(),
                ref.replace(LABELS[0], "desk").replace(LABELS[1], "laptop"),
            ):
                one.said("defer", name)
                (found,) = (each for each in one.told("inbox", "--all") if each["id"] == made)
                assert [each["status"] for each in found["items"]] == ["deferred"]
                one.said("undo")
        own = next(each for each in known[one] if each["set"] == 1)
        assert own["items"][0]["ref"] == "1.1"
        assert "no set 'phone/1'" in one.refused("confirm", "phone/1.1")
        told = one.refused("reject", f"{LABELS[0]}/1")
        hint = re.findall(r"`wakelog (.*?)`", told)[0]
        assert shlex.split(hint)[0] == "reject"
        one.said(*shlex.split(hint), "--key", "k")  # what it says can be typed as it stands


# -------------------------------------------------------------------------------------------- wakes


FLIGHT = "Book the flight"


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> list[Machine]:
    """The laptop took the lead of a change that the desk woke for, too."""
    desk, laptop = pair(tmp_path_factory.mktemp("apart"))
    desk.said("task", "add", FLIGHT)
    desk.said("agent", "create", "--task", FLIGHT, "--mode", "autonomous")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
        one.said("replicas", "name", f"{one.home.name} 2.0")
    desk.sync()
    desk.said("task", "set", FLIGHT, "--title", f"{FLIGHT} to Rome")
    for one in desk, laptop:
        one.sync()
    laptop.said("replicas", "lead")
    for one in laptop, desk:
        one.said("wake")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def test_each_wake_has_a_line_and_a_name_that_every_door_takes(apart: list[Machine]) -> None:
    for one in apart:
        lines = one.told("wakes")
        first, second = (line for line in lines if line["reason"] == "subscription")
        key, at, replica = second["run_key"].partition("@")
        assert (key, at) == (first["run_key"], "@")
        assert first["state"] == second["state"] == "ended"
        other = "desk" if replica == "laptop" else "laptop"
        assert f"{key[:8]}@{replica} 2.0" in one.said("wakes")
        for name in f"{key[:8]}@{replica} 2.0", f"{key[:8]}@{replica}":
            assert one.told("show", name)["run_key"] == second["run_key"]
            assert one.told("replay", name)["run_key"] == second["run_key"]
        for name in key[:8], f"{key[:8]}@{other}", f"{key[:8]}@{other} 2.0":
            assert one.told("show", name)["run_key"] == key
        steps = [step["n"] for step in one.told("show", f"{key}@{replica}")["steps"]]
        assert steps != [step["n"] for step in one.told("show", key)["steps"]]
        at_step = one.told("at", f"{key[:8]}@{replica} 2.0.{steps[1]}")
        assert at_step["run_key"] == key
        assert "it ran on" in one.refused("show", f"{key[:8]}@phone")
        mine = key if one.home.name == other else second["run_key"]
        assert mine in [line["run_key"] for line in one.told("why", FLIGHT)]
        assert {line["run_key"] for line in one.told("agent", "show", FLIGHT)["last_wakes"]} >= {
            first["run_key"],
            second["run_key"],
        }
        assert "Proved" in one.said("prove")
        alone = lines[-1]  # a wake that only one machine has keeps its name
        assert (alone["reason"], "@" in alone["run_key"]) == ("creation", False)
        assert one.told("show", f"{alone['run_key']}@desk 2.0")["run_key"] == alone["run_key"]


def test_the_page_lists_both_and_shows_each(apart: list[Machine]) -> None:
    desk = apart[0]
    names = [line["run_key"] for line in desk.told("wakes")[:2]]
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        listed = visitor.page("/wakes")
        for name in names:
            assert f'href="/wakes/{name}"' in listed
            shown = visitor.page(f"/wakes/{name}")
            assert name in text_of(shown)
            for part in "at", "proof", "what-if":
                assert f"{name[:8]}" in visitor.page(f"/wakes/{name}/{part}")
            assert visitor.json(f"/wakes/{name}")["run_key"] == name


def test_a_wake_is_rated_on_a_machine_that_did_not_run_it(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("task", "add", FLIGHT)
    desk.said("template", "create", "Calm", "--general", "slowly")
    desk.said("agent", "create", "--task", FLIGHT, "--template", "Calm")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
    (wake,) = laptop.told("wakes")
    laptop.said("rate", f"{wake['run_key'][:8]}@desk", "4")
    for one in laptop, desk:
        one.sync()
        assert one.told("rate", wake["run_key"], "4")["unchanged"]
        assert "Proved" in one.said("prove")


# ------------------------------------------------------------------------------------------ moments


WALK, SWIM = "Walk", "Swim"


@pytest.fixture(scope="module")
def walkers(tmp_path_factory: pytest.TempPathFactory) -> list[Machine]:
    """The desk walked, and both swam apart; then the laptop renamed what it had heard of."""
    desk, laptop = pair(tmp_path_factory.mktemp("walkers"))
    desk.said("task", "add", WALK)
    desk.said("agent", "create", "--task", WALK, "--mode", "autonomous")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
        one.said("replicas", "name", f"my {one.home.name}")
        one.said("task", "add", f"{SWIM} at the {one.home.name}")
    for one in desk, laptop:
        one.sync()
    laptop.said("task", "set", WALK, "--title", "Run")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def titles(moment: Any) -> list[str]:
    return sorted(one["title"] for one in moment["tasks"])


def ran(machine: Machine, *words: str) -> Any:
    env = {"WAKELOG_REPLICA": machine.home.name, "WAKELOG_TIMEZONE": "UTC"}
    return cli.run([*words], machine.home, env=env)


def numbers(machine: Machine) -> list[int]:
    """The numbers of the appends of a machine's journal, asked on itself."""
    name = machine.home.name
    last = int(machine.told("at", "2099-01-01")["journal"].rpartition(":")[2])
    found = [ran(machine, "at", f"journal:{name}:{n}") for n in range(1, last + 1)]
    return [n for n, one in enumerate(found, start=1) if one.exit_code == 0]


def test_a_position_is_what_its_machine_knew_on_whichever_machine_it_is_asked(
    walkers: list[Machine],
) -> None:
    desk, laptop = walkers
    seen = set()
    for of in walkers:
        name = of.home.name
        for n in numbers(of):
            here = desk.told("at", f"journal:{name}:{n}", "--all")
            found = ran(laptop, "--json", "at", f"journal:my {name}:{n}", "--all")
            if found.exit_code and n == numbers(of)[-1]:
                continue  # only that it heard of the laptop, which does not travel by itself
            there = json.loads(found.stdout)
            assert here | {"where": ""} == there | {"where": ""}
            assert here["journal"] == f"journal:{name}:{n}"
            seen.add((name, *titles(here)))
    assert ("desk", WALK) in seen
    assert ("desk", f"{SWIM} at the desk", WALK) in seen  # it had not heard of the other
    assert ("laptop", f"{SWIM} at the laptop", WALK) in seen
    assert ("laptop", "Run", f"{SWIM} at the desk", f"{SWIM} at the laptop") in seen
    assert "its last is" in desk.refused("at", "journal:laptop:999")
    assert "name one of my desk, my laptop" in desk.refused("at", "journal:phone:1")


def test_diff_why_and_prompts_take_positions_of_others(walkers: list[Machine]) -> None:
    desk, laptop = walkers
    before, after = (f"journal:my laptop:{n}" for n in numbers(laptop)[-2:])
    found = ran(desk, "--json", "diff", before, after)
    changes = json.loads(found.stdout)["changes"]
    assert [(one["a"], one["b"]) for one in changes] == [(WALK, "Run")]
    for one in walkers:
        (told,) = one.told("why", after)
        assert told["what"] == "retitled by you"
    (wake,) = desk.told("wakes")
    step = desk.told("show", wake["run_key"])["steps"][-1]["n"]
    prompts = [one.told("at", f"agent:my desk:{step}", "--prompt")["request"] for one in walkers]
    assert prompts[0] == prompts[1]


def test_a_machine_that_nobody_knows_and_a_number_that_is_none_are_told(tmp_path: Path) -> None:
    env = {"WAKELOG_REPLICA": "desk"}
    with open_home(tmp_path / "alone", env, is_writing=True) as home:
        with pytest.raises(Refused, match="has no append 5; its last is 0"):
            find_moment(home, "journal:desk:5")
        assert at_document(find_moment(home, "journal:0"), None).journal == "journal:desk:0"


def test_why_of_what_another_machine_did_names_that_machine_s_append(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("task", "add", "Book the flight by Friday")
    desk.said("agent", "create", "--task", "Book", "--mode", "autonomous")
    desk.said("wake")
    for one in desk, laptop:
        one.sync()
    laptop.said("task", "add", "Swim")  # so that numbers part
    laptop.said("confirm", "desk/1.1")
    laptop.said("task", "set", "Book", "--priority", "p1")
    for one in laptop, desk:
        one.sync()
    steps = {one: one.told("why", "Book", "due")["steps"] for one in (desk, laptop)}
    for found in steps.values():
        assert [step["kind"] for step in found][:2] == ["confirmed", "proposed"]
    desk.said("wake")
    line = next(line for line in desk.said("why", "Book").splitlines() if "priority" in line)
    where = next(word for word in line.split() if word.startswith("journal:laptop:"))
    (told,) = laptop.told("why", where)
    assert (told["position"], told["what"]) == (where, "priority set by you")
    (again,) = desk.told("why", where)
    assert again["outcome"] == "woke"
    cause = desk.told("show", again["run_key"])["causes"][0]
    assert cause["position"] == where
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        assert "priority" in text_of(visitor.page(f"/wakes/{again['run_key']}"))


def test_the_history_tells_rows_of_two_machines_apart_and_undoes_own_ones_only(
    tmp_path: Path,
) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("task", "add", WALK)
    for one in desk, laptop, desk, laptop:
        one.sync()
    task = desk.told("task", "list")[0]["id"]
    desk.said("task", "set", WALK, "--priority", "p1")
    laptop.said("task", "set", WALK, "--due", "2027-05-05")
    for one in desk, laptop, desk:
        one.sync()
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        entries = visitor.json(f"/tasks/{task}/history")["entries"]
    names = [one["entry"] for one in entries]
    assert len(set(names)) == len(names)
    undone = {one["entry"].partition("-")[0] for one in entries if one["undo"]}
    assert undone == {"desk"}
    assert {one.partition("-")[0] for one in names} == {"desk", "laptop"}


# --------------------------------------------------------------------------- versions of a template


def machines(tmp_path: Path) -> list[Machine]:
    """Each has made a second version of one template, and knows that of the other."""
    desk, laptop = pair(tmp_path)
    desk.said("template", "create", "Calm", "--general", "as it was")
    desk.said("task", "add", "Fix the tap")
    desk.said("agent", "create", "--task", "Fix the tap")
    for one in desk, laptop:
        one.sync()
    for one in desk, laptop:
        one.said("template", "version", "Calm", "--general", f"of {one.home.name}")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def versions(machine: Machine) -> list[tuple[int, str | None, bool, str]]:
    found = machine.told("template", "show", "Calm")["versions"]
    return [(one["version"], one["of"], one["active"], one["general"]) for one in found]


def test_both_versions_are_kept_and_each_is_named_with_its_machine(tmp_path: Path) -> None:
    both = machines(tmp_path)
    for one in both:
        assert versions(one) == [
            (1, None, False, "as it was"),
            (2, "desk", False, "of desk"),
            (2, "laptop", True, "of laptop"),
        ]
    desk = both[0]
    line = desk.refused("template", "rollback", "Calm", "2")
    assert "2@desk, 2@laptop" in line
    assert "no version" in desk.refused("template", "rollback", "Calm", "two")
    desk.said("template", "rollback", "Calm", "2@here")
    assert "* version 2@here" in desk.said("template", "show", "Calm")
    desk.said("template", "assign", "Fix the tap", "Calm")
    for one in desk, both[1]:
        one.sync()
    assert [one[2] for one in versions(both[1])] == [False, True, False]
    assert all(one.told("prove")["ok"] for one in both)


def test_the_page_and_a_fork_name_versions_so_too(tmp_path: Path) -> None:
    desk, _ = machines(tmp_path)
    url = f"/templates/{desk.told('template', 'show', 'Calm')['id']}"
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        page = text_of(visitor.page(url))
        assert "Version 2@laptop" in page
        assert "Go back to version 2@desk" in page
        back = visitor.form(url, f"{url}/rollback", version="2@desk")
        assert visitor.send(back, version="2@desk", sure="yes").status_code == 200
        late = visitor.send(back, nonce="another-one", version="1", sure="yes")
        assert "version 2@desk was made active meanwhile" in text_of(late.text)
        compared = text_of(visitor.page(f"{url}/diff?of=2@desk&with=2@laptop"))
        assert "Version 2@laptop and version 2@desk" in compared
    assert [one[2] for one in versions(desk)] == [False, True, False]
    run = desk.told("wake", "Fix the tap")["run_key"]
    for name, version in ("Calm.2@laptop", 2), ("Calm.2", 2), ("Calm.1", 1):
        given = ("--template", name, "--model", "rules")
        forked = desk.told("fork", run, *given)
        assert (forked["template"]["name"], forked["template"]["version"]) == ("Calm", version)
        (made,) = cli.told(["template", "list"], Path(forked["home"]))
        active = next(one for one in made["versions"] if one["active"])
        wanted = {"Calm.2@laptop": "of laptop", "Calm.2": "of desk", "Calm.1": "as it was"}
        assert active["general"] == wanted[name]
    assert "no version 2" in desk.refused("fork", run, "--template", "Calm.2@phone")


# --------------------------------------------------------------------------- a file that both watch


TODO = "- [ ] Buy milk\n- [ ] Call Ann\n  - [ ] Find the number\n"


class Watching(Machine):
    """A machine that watches a file."""

    def __init__(self, home: Path, folder: Path, file: Path) -> None:
        super().__init__(home, folder)
        self.file = file

    def begin(self) -> None:
        self.said("settings", "set", "import.write_back", "true")

    def run(self) -> None:
        self.said("run", "--watch", str(self.file), "--until-idle")

    @property
    def rows(self) -> int:
        return int(self.told("status")["journal"]["rows"])

    def tasks(self) -> dict[str, str]:
        return {one["title"]: one["status"] for one in self.told("task", "list", "--all")}


def two(tmp_path: Path, *files: Path) -> list[Watching]:
    folder = tmp_path / "folder"
    folder.mkdir()
    found = [Watching(tmp_path / one, folder, at) for one, at in zip(NAMES, files, strict=True)]
    for file in files:
        file.write_text(TODO)
    for one in found:
        one.begin()
    desk, laptop = found
    desk.run()
    meet(desk, laptop)
    laptop.run()
    meet(desk, laptop)
    return found


def meet(*machines: Watching) -> None:
    for one in machines * 2:
        one.sync()


@pytest.fixture
def copies(tmp_path: Path) -> list[Watching]:
    """Two machines with a copy each."""
    files = [tmp_path / one / "TODO.md" for one in ("here", "there")]
    for one in files:
        one.parent.mkdir()
    return two(tmp_path, *files)


def carry(of: Watching, to: Watching) -> None:
    to.file.write_bytes(of.file.read_bytes())


def test_one_file_that_both_watch_is_written_by_who_leads(tmp_path: Path) -> None:
    desk, laptop = two(tmp_path, *[tmp_path / "TODO.md"] * 2)
    assert desk.tasks() == laptop.tasks() == {"Buy milk": "OPEN", "Call Ann": "OPEN"}
    laptop.said("task", "set", "Buy milk", "--status", "done")
    laptop.run()
    assert desk.file.read_text() == TODO
    meet(laptop, desk)
    desk.run()
    assert desk.file.read_text() == TODO.replace("[ ] Buy", "[x] Buy")
    laptop.run()
    meet(laptop, desk)
    rows = [one.rows for one in (desk, laptop)]
    for one in desk, laptop:
        one.run()
        one.sync()
        assert one.tasks() == {"Buy milk": "DONE", "Call Ann": "OPEN"}
        assert one.told("conflicts") == []
        one.said("prove")
    assert [one.rows for one in (desk, laptop)] == rows


def test_what_a_person_asks_for_is_written_anywhere(copies: list[Watching]) -> None:
    _, laptop = copies
    laptop.said("task", "set", "Buy milk", "--status", "done")
    laptop.run()
    assert laptop.file.read_text() == TODO
    laptop.said("write-back", str(laptop.file))
    assert laptop.file.read_text() == TODO.replace("[ ] Buy", "[x] Buy")
    rows = laptop.rows
    laptop.run()
    assert laptop.rows == rows


def test_a_file_that_comes_before_the_journal_doubles_nothing(copies: list[Watching]) -> None:
    desk, laptop = copies
    desk.said("task", "set", "Buy milk", "--status", "done")
    desk.said("task", "item", "add", "Call Ann", "Ask for the key")
    desk.run()
    carry(desk, laptop)
    laptop.run()
    meet(desk, laptop)
    for one in desk, laptop:
        one.run()
        one.sync()
        assert one.tasks() == {"Buy milk": "DONE", "Call Ann": "OPEN"}
        items = [each["title"] for each in one.told("task", "show", "Call Ann")["items"]]
        assert items == ["Find the number", "Ask for the key"]
        assert one.told("conflicts") == []
    assert desk.file.read_text() == laptop.file.read_text()


def test_a_copy_that_is_behind_takes_nothing_back(copies: list[Watching]) -> None:
    desk, laptop = copies
    desk.said("task", "set", "Buy milk", "--status", "done")
    desk.run()
    meet(desk, laptop)
    rows = laptop.rows
    laptop.run()
    assert (laptop.rows, laptop.tasks()["Buy milk"]) == (rows, "DONE")
    (laptop.home / "views.db").unlink()  # what it remembers is lost
    laptop.run()
    assert laptop.tasks()["Buy milk"] == "DONE"
    carry(desk, laptop)
    laptop.run()
    assert laptop.rows == rows


def test_what_a_person_takes_back_in_the_file_is_taken_back(copies: list[Watching]) -> None:
    desk, laptop = copies
    desk.said("task", "set", "Buy milk", "--status", "done")
    desk.run()
    meet(desk, laptop)
    carry(desk, laptop)
    laptop.run()
    laptop.file.write_text(TODO)
    laptop.run()
    assert laptop.tasks()["Buy milk"] == "OPEN"
    meet(laptop, desk)
    desk.run()
    assert desk.tasks()["Buy milk"] == "OPEN"
    carry(laptop, desk)
    desk.run()
    assert (desk.tasks()["Buy milk"], desk.file.read_text()) == ("OPEN", TODO)


def test_who_takes_the_lead_writes_from_then_on(copies: list[Watching]) -> None:
    desk, laptop = copies
    laptop.said("replicas", "lead")
    laptop.said("task", "set", "Buy milk", "--status", "done")
    laptop.run()
    assert "[x] Buy" in laptop.file.read_text()
    meet(laptop, desk)
    desk.said("task", "set", "Call Ann", "--status", "done")
    desk.run()
    assert desk.file.read_text() == TODO
