"""A home with tasks of its own joins another one: what comes in, what stays, what is told."""

from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import pytest

from adapters.home.home_location import FolderLocation
from adapters.sync.join import join, join_plan
from adapters.sync.rescue import RescueStep
from adapters.wiring import open_home
from domain.errors import Refused
from tests.support import cli, rescuing
from tests.support.machines import Machine
from tests.support.rescuing import (
    CUT,
    Writer,
    files_of,
    journal_rows,
    marks,
    rounds,
    status_when_cut,
)
from tests.support.terminal import on_terminal


def two_homes(path: Path, *names: str) -> list[Machine]:
    """Machines whose homes were never one; the first has left what it holds in the folder."""
    (path / "folder").mkdir()
    found = [Machine(path / one, path / "folder") for one in names]
    found[0].said("task", "add", "Of the desk")
    found[0].sync()
    return found


def joined(one: Machine) -> Any:
    return one.told("sync", str(one.folder), "--join", "--yes")


def everything(one: Machine, title: str) -> Any:
    """All that is told of a task but ids, which are new."""
    return without_ids(one.told("task", "show", title))


def without_ids(told: Any) -> Any:
    match told:
        case dict():
            return {
                name: without_ids(one) for name, one in told.items() if "id" not in name.split("_")
            }
        case list():
            return [without_ids(one) for one in told]
        case _:
            return told


def test_a_month_of_tasks_comes_into_the_other_home_whole_and_on_every_machine(
    tmp_path: Path,
) -> None:
    desk, laptop, phone = two_homes(tmp_path, "desk", "laptop", "phone")
    phone.sync()
    for one in (desk, laptop):
        one.said("category", "add", "Work")
        one.said("label", "add", "home")
    laptop.said("task", "add", "Paint", "--category", "Work", "--due", "2027-02-01")
    laptop.said("task", "set", "Paint", "--priority", "p1", "--estimate", "90")
    laptop.said("task", "set", "Paint", "--description", "All of it")
    laptop.said("label", "assign", "Paint", "home")
    laptop.said("task", "time", "Paint", "--start", "2026-11-02 09:00", "--end", "2026-11-02 10:30")
    laptop.said("task", "item", "add", "Paint", "Buy paint", "Sand")
    laptop.said("task", "check", "Paint", "Sand")
    laptop.said("task", "note", "Paint", "Ask Ben")
    laptop.said("task", "add", "Tidy")
    laptop.said("task", "link", "Paint", "blocked-by", "Tidy")
    laptop.said("task", "set", "Tidy", "--status", "done")
    before = {one: everything(laptop, one) for one in ("Paint", "Tidy")}
    report = joined(laptop)
    assert (report["tasks"], report["there"], report["agents"]) == (2, 1, 0)
    assert (report["same"], report["met"], report["refused"]) == ([], [], [])
    for one in (desk, phone, laptop, desk, phone):
        done = one.sync()
    assert done["equal"] == ["desk", "laptop"]
    for one in (desk, laptop, phone):
        assert {title: everything(one, title) for title in before} == before
        assert one.told("prove")["ok"]
        assert [part["name"] for part in one.told("category", "list")].count("Work") == 1
    laptop.said("task", "set", "Of the desk", "--due", "2027-03-01")
    phone.said("task", "set", "Paint", "--title", "Paint it")
    for one in (laptop, phone, desk, laptop, phone):
        one.sync()
    assert desk.titles() == laptop.titles() == phone.titles() == {"Of the desk", "Paint it", "Tidy"}
    assert not desk.told("conflicts")
    gone = {one["label"]: one["retired"] for one in desk.told("replicas")}
    assert gone == {"": False, "laptop before": True}


def test_a_join_asks_in_numbers_and_is_refused_where_nobody_can_answer(tmp_path: Path) -> None:
    _, laptop = two_homes(tmp_path, "desk", "laptop")
    laptop.said("task", "add", "Mine")
    laptop.said("task", "add", "Gone")
    laptop.said("task", "delete", "Gone")
    laptop.said("agent", "create", "Mine")
    before = journal_rows(laptop.home), files_of(laptop.folder)
    told = (
        f"1 task of this home comes in as a new one into the home in {laptop.folder}, which has 1."
    )
    stay = "1 agent will stay behind, in a copy of this home"
    refused = laptop.refused("sync", str(laptop.folder), "--join")
    assert f"{told} {stay}; say --yes where nobody can be asked" in refused
    assert f"{told} {stay}." in laptop.said("sync", str(laptop.folder), "--join", "--dry-run")
    dry = laptop.told("sync", str(laptop.folder), "--join", "--dry-run")
    assert (dry["replica"], dry["tasks"], dry["there"], dry["agents"]) == ("", 1, 1, 1)
    assert (journal_rows(laptop.home), files_of(laptop.folder)) == before
    said = laptop.said("sync", str(laptop.folder), "--join", "--yes").splitlines()
    copy = laptop.home / "forks" / "laptop-before-join"
    assert said[:3] == [
        "1 task came in as new, into the home that has 1.",
        f"As it was, this home is in {copy}; its 1 agent stays there.",
        "Took 7 rows of desk; gave 21 rows.",
    ]
    assert {row for row in before[0] if row[0].startswith("task:")} <= {*journal_rows(copy)}
    again = laptop.said("sync", "--join", "--yes")
    assert "Nothing to join: this home has no tasks of its own that are not there." in again
    assert laptop.told("sync", "--join")["tasks"] == 0
    assert laptop.titles() == {"Of the desk", "Mine"}


def test_an_empty_home_has_nothing_to_join_and_syncs(tmp_path: Path) -> None:
    _, laptop = two_homes(tmp_path, "desk", "laptop")
    assert "Nothing to join" in laptop.said("sync", str(laptop.folder), "--join")
    assert laptop.titles() == {"Of the desk"}


def test_tasks_of_one_file_are_one_task_and_equal_titles_are_told(tmp_path: Path) -> None:
    desk, laptop = two_homes(tmp_path, "desk", "laptop")
    (tmp_path / "TODO.md").write_text("- [ ] Both\n- [ ] Other\n")
    for one, due in (desk, "2027-01-01"), (laptop, "2027-02-02"):
        one.said("import", "TODO.md")
        one.said("task", "set", "Both", "--due", due)
        one.said("task", "add", "Milk")
    desk.sync()
    report = joined(laptop)
    assert (report["tasks"], report["there"], len(report["met"])) == (1, 4, 2)
    assert [one["title"] for one in report["same"]] == ["Milk"]
    desk.sync()
    for one in (desk, laptop):
        titles = sorted(task["title"] for task in one.told("task", "list"))
        assert titles == ["Both", "Milk", "Milk", "Of the desk", "Other"]
        (conflict,) = one.told("conflicts")
        values = {side["value"] for side in conflict["values"]}
        assert (conflict["field"], values) == ("due", {"2027-01-01", "2027-02-02"})
        assert one.told("prove")["ok"]
    desk.said("settle", "Both", "due", "--keep", "laptop before")


def test_agents_stay_behind_and_what_they_did_comes_along(tmp_path: Path) -> None:
    desk, laptop = two_homes(tmp_path, "desk", "laptop")
    laptop.said("task", "add", "Call Anna")
    laptop.said("agent", "create", "Call Anna")
    laptop.said("task", "note", "Call Anna", "please call Anna by friday")
    laptop.said("wake")
    laptop.said("confirm", "1.1")
    (due,) = [one["due_date"] for one in laptop.told("task", "list")]
    report = joined(laptop)
    assert (report["agents"], laptop.told("agent", "list")) == (1, [])
    for one in (desk, laptop):
        one.sync()
        assert [t["due_date"] for t in one.told("task", "list") if t["title"] == "Call Anna"] == [
            due
        ]
        leads = [line["replica"] for line in one.told("replicas") if line["leads"]]
        assert leads == ["desk"]
    copy = Machine(Path(report["copy"]), laptop.folder, WAKELOG_REPLICA="other")
    assert [one["name"] for one in copy.told("agent", "list")] == ["Call Anna"]
    assert "older" not in laptop.said("agent", "create", "Call Anna")
    laptop.said("wake", "Call Anna")
    for one in (laptop, desk):
        one.sync()
        assert one.told("prove")["ok"]
    assert "0 of" not in laptop.said("doctor")


def test_who_led_the_other_home_leads_on_whatever_machines_are_called(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    desk, air, lone = (
        Machine(tmp_path / one, tmp_path / "folder") for one in ("desk", "air", "lone")
    )
    desk.sync()
    for one in (desk, air):
        one.said("task", "add", "Milk")
    desk.sync()
    lone.said("settings", "set", "sync.agents", "local")
    lone.more["WAKELOG_NOW"] = "2030-01-01T00:00:00Z"  # it told of itself last
    lone.sync()
    joined(air)
    for one in (desk, air, desk):
        one.sync()
    for one in (desk, air):
        known = {line["replica"]: line for line in one.told("replicas")}
        assert [name for name, line in known.items() if line["leads"]] == ["desk"]
        assert (known["airbefore"]["label"], known["airbefore"]["retired"]) == ("air before", True)


@pytest.mark.parametrize(("answer", "status", "held"), [("y", 0, 2), ("", 130, 1)])
def test_who_is_at_a_terminal_is_asked_once(
    tmp_path: Path, answer: str, status: int, held: int
) -> None:
    _, laptop = two_homes(tmp_path, "desk", "laptop")
    laptop.said("task", "add", "Mine")
    with on_terminal(laptop.home, "sync", str(laptop.folder), "--join") as shell:
        assert "which has 1. Join them?" in shell.until("[y/N]: ")
        shell.press(f"{answer}\n")
        assert shell.ended()[0] == status
    assert len(laptop.titles()) == held


def test_what_cannot_join_says_why_and_changes_nothing(tmp_path: Path) -> None:
    desk, laptop = two_homes(tmp_path, "desk", "laptop")
    laptop.said("task", "add", "Mine")
    (tmp_path / "empty").mkdir()
    assert "no home has left anything" in laptop.refused(
        "sync", str(tmp_path / "empty"), "--join", "--yes"
    )
    with open_home(laptop.home, laptop.more, is_writing=True):
        refused = laptop.refused("sync", str(laptop.folder), "--join", "--yes")
    assert "in use by another process" in refused
    assert not (laptop.home / "hold").exists()
    (tmp_path / "other").mkdir()
    away, phone = (Machine(tmp_path / one, tmp_path / "other") for one in ("laptop", "phone"))
    away.sync()
    phone.sync()
    phone.said("task", "add", "Of both")
    phone.sync()
    away.sync()
    refused = laptop.refused("sync", str(laptop.folder), "--join", "--yes")
    assert "several machines' already" in refused
    assert laptop.titles() == {"Mine", "Of both"}
    assert desk.titles() == {"Of the desk"}


class Joiner(rescuing.Machine):
    """A home that joins in a process that may be killed before any step."""

    def join_cut(self, folder: Path, at: int) -> int:
        def deed(step: RescueStep) -> None:
            place = FolderLocation(self.home)
            plan = join_plan(place, self.environ, str(folder))
            assert plan is not None
            join(place, self.environ, plan, step=step)

        return status_when_cut(deed, at)

    def join(self, folder: Path) -> None:
        place = FolderLocation(self.home)
        if plan := join_plan(place, self.environ, str(folder)):
            join(place, self.environ, plan)


def strangers(path: Path, seed: int) -> tuple[rescuing.Machine, Joiner, Path]:
    """Two homes with pasts of their own, and the folder of the first."""
    folder = path / "folder"
    folder.mkdir()
    desk, laptop = rescuing.Machine(path / "desk"), Joiner(path / "laptop")
    writer = Writer(Random(seed))
    for _ in range(20):
        writer.write(writer.chance.choice([desk, laptop]))
    writer.write(desk)
    writer.write(laptop)
    desk.sync(folder)
    return desk, laptop, folder


@pytest.mark.parametrize("seed", range(6))
def test_nothing_of_two_pasts_is_lost_or_doubled(tmp_path: Path, seed: int) -> None:
    desk, laptop, folder = strangers(tmp_path, seed)
    done = marks(desk.home) + marks(laptop.home)
    laptop.join(folder)
    rounds([desk, laptop], folder)
    for one in (desk, laptop):
        assert marks(one.home) == done
    Writer(Random(seed)).write(laptop, 5)
    phone = rescuing.Machine(tmp_path / "phone")
    rounds([phone, laptop, desk], folder)


def test_a_join_that_is_killed_at_any_step_is_ended_or_begun_anew(tmp_path: Path) -> None:
    desk, laptop, folder = strangers(tmp_path, 3)
    mine, done = marks(laptop.home), marks(desk.home) + marks(laptop.home)
    for at in range(50):
        tried = Joiner(Path(copytree(laptop.home, tmp_path / f"laptop{at}")), "laptop")
        there = Path(copytree(folder, tmp_path / f"folder{at}"))
        status = tried.join_cut(there, at)
        if status != CUT:
            break
        assert marks(tried.home) in (mine, done)
        if (tried.home / "hold").exists():
            said = cli.refused(["task", "add", "Between"], tried.home, env=tried.environ)
            assert "repeat `wakelog sync --join`" in said
            for command in (["replicas", "rescue"], ["home", "thaw"]):
                said = cli.refused(command, tried.home, env=tried.environ)
                assert "repeat `wakelog sync --join`" in said
        tried.join(there)
        other = rescuing.Machine(Path(copytree(desk.home, tmp_path / f"desk{at}")), "desk")
        rounds([other, tried], there)
        assert marks(tried.home) == marks(other.home) == done
        assert not (tried.home / "hold").exists()
        assert not (tried.home / ".rescue").exists()
        copies = [*(tried.home / "forks").iterdir()]
        assert all(marks(one) == mine for one in copies)
        assert copies
    assert (status, at > 10) == (0, True)


def test_a_cut_off_rescue_is_not_ended_by_a_join(tmp_path: Path) -> None:
    home, twin = rescuing.diverged(tmp_path)
    assert twin.status_when_cut(home.folder, "desk2", 3) == CUT
    with pytest.raises(Refused) as refused:
        join_plan(FolderLocation(twin.home), twin.environ, str(home.folder))
    assert refused.value.code == "frozen"
    assert "repeat `wakelog replicas rescue`" in str(refused.value.instead)
