"""Two machines and one folder: edits offline on both, then the same home on each, proved."""

import socket
from pathlib import Path

import pytest

from tests.support.machines import Machine

pytestmark = pytest.mark.slow


def test_machines_edit_offline_meet_in_a_folder_and_hold_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    desk, laptop, phone = (Machine(tmp_path / one, folder) for one in ("desk", "laptop", "phone"))
    desk.said("task", "add", "Buy milk")
    assert desk.sync()["gave"] > 0
    assert laptop.sync()["took"]["desk"] > 0
    desk.said("task", "set", "Buy milk", "--priority", "p1")
    laptop.said("task", "set", "Buy milk", "--due", "2027-02-01")
    laptop.said("task", "add", "Book the flight")
    for one in (desk, laptop, desk, laptop):
        one.sync()
    (mine,), (yours,) = (
        [task for task in one.told("task", "list") if task["title"] == "Buy milk"]
        for one in (desk, laptop)
    )
    assert mine == yours
    assert phone.sync()["took"].keys() == {"desk", "laptop"}
    assert desk.titles() == laptop.titles() == phone.titles() == {"Buy milk", "Book the flight"}
    for one in (desk, laptop):
        one.sync()
    reports = [one.sync() for one in (desk, laptop, phone)]
    assert len({one["digest"] for one in reports}) == 1
    assert not any(one["took"] or one["gave"] or one["waiting"] for one in reports)
    for one in (desk, laptop, phone):
        assert one.told("prove")["ok"]
    states = {one["replica"]: one["state"] for one in desk.told("replicas")}
    assert states == {"desk": "equal", "laptop": "equal", "phone": "equal"}
    other = Machine(tmp_path / "other", folder)
    other.said("task", "add", "Of another life")
    assert "another_home" in other.said("sync", str(folder), status=2)


def test_who_syncs_first_hears_how_machines_are_named_and_what_does_not_travel(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    desk, laptop = (Machine(tmp_path / one, folder) for one in ("desk", "laptop"))
    desk.said("task", "add", "Buy milk")
    first, second = desk.said("sync", str(folder)), laptop.said("sync", str(folder))
    assert "see this machine as desk: `wakelog replicas name NAME` names it" in first
    assert "Settings" not in first
    assert "Settings do not travel: here it is time zone UTC, model rules" in second
    assert "see this machine as" not in desk.said("sync", str(folder))


def test_a_folder_is_made_where_only_itself_is_missing(tmp_path: Path) -> None:
    desk, laptop = (Machine(tmp_path / one, tmp_path / "meet") for one in ("desk", "laptop"))
    desk.said("task", "add", "Buy milk")
    for words in ("sync", "--dry-run", "meet"), ("sync", "stick/meet"):
        assert "there is no folder" in desk.said(*words, status=2)
    assert not (tmp_path / "meet").exists()
    desk.said("sync", "meet")
    assert laptop.sync()["took"]
    (tmp_path / "meet").rename(tmp_path / "away")
    assert "there is no folder" in desk.said("sync", status=2)  # known, and on a drive that is away
    assert "File name too long" in desk.said("sync", "x" * 300, status=2)


def test_a_machine_that_is_new_is_called_by_its_host_and_names_that_stand_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    desk, laptop, phone, old = (
        Machine(tmp_path / one, folder, WAKELOG_REPLICA="")
        for one in ("desk", "laptop", "phone", "old")
    )
    old.more["WAKELOG_REPLICA"] = "old"
    old.said("task", "add", "Buy milk")
    old.sync()
    old.more["WAKELOG_REPLICA"] = ""
    monkeypatch.setattr(socket, "gethostname", lambda: "den.local")
    assert "The others see this machine as den:" in desk.said("sync", str(folder))
    assert laptop.sync()["took"]
    phone.said("replicas", "name", "phone")
    for one in phone, old, desk, laptop:
        one.sync()
    labels = {one["label"] for one in laptop.told("replicas")}
    assert labels == {"den", "den-2", "phone", ""}
    monkeypatch.setattr(socket, "gethostname", lambda: "attic")
    laptop.sync()
    assert {one["label"] for one in desk.told("replicas")} == labels
    for one in desk, laptop, phone, old:
        one.said("prove")


def test_what_two_machines_said_at_once_is_shown_until_it_is_settled_by_its_number(
    tmp_path: Path,
) -> None:
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in ("desk", "laptop"))
    for title in "Trip", "Walk":
        desk.said("task", "add", title)
    for one in desk, laptop:
        one.sync()
        one.said("replicas", "name", f"the {one.home.name}")
        for title in "Trip", "Walk":
            one.said("task", "set", title, "--title", f"{title} 湖 of {one.home.name}")
    for one in desk, laptop, desk:
        report = one.sync()
    assert report["conflicts"] == 2
    left, right = known = desk.told("conflicts")
    of, first, second = left["title"].split()[0], left["number"], right["number"]
    assert (left["kind"], left["field"], left["stands"]) == ("values", "title", "laptop")
    assert [(one["label"], one["value"]) for one in left["values"]] == [
        (f"the {one}", f"{of} 湖 of {one}") for one in ("desk", "laptop")
    ]
    said = desk.said("conflicts")
    for words in (
        f"{first}  ",
        f'"{of} 湖 of desk" on the desk (you, 20',
        f'"{of} 湖 of laptop" on the laptop, which stands (you, 20',
        "--keep 'the desk'|'the laptop'",
    ):
        assert words in said
    assert [one["number"] for one in laptop.told("conflicts")] == [first, second]
    assert f"title: {of} 湖 of desk on the desk" in laptop.said("task", "show", of)
    assert "no side of a conflict" in desk.said("settle", of, "title", "--keep", "x", status=2)
    assert "add --keep NAME, or --both" in desk.said("settle", first, status=2)
    assert "no conflict has the number '12'" in desk.said("settle", "12", "--both", status=2)
    args = ("settle", first, "--keep", "the laptop", "--key", "k1")
    assert desk.said(*args).startswith("Kept what the laptop said")
    assert "no conflict has the number" in desk.said("settle", first, "--both", status=2)
    assert desk.told("conflicts") == known[1:]
    both = ("settle", second, "--both", "--key", "k2")
    assert desk.said(*both).startswith("Kept both")
    titles = desk.titles()
    rows = desk.told("status")["journal"]["rows"]
    for again in args, both:
        desk.said(*again)
    assert (desk.titles(), desk.told("status")["journal"]["rows"]) == (titles, rows)
    for one in laptop, desk, laptop:
        one.sync()
    here, there = (one["value"] for one in right["values"])
    assert {there, left["values"][1]["value"]} == desk.titles() == laptop.titles()
    (note,) = laptop.told("task", "show", there)["notes"]
    assert note["text"] == f"Title on the desk: {here}"
    for one in desk, laptop:
        assert one.told("conflicts") == []
        one.said("prove")
        assert one.told("prove", "--since", "last")["memory_file"]
        again = one.told("prove", "--since", "last")
        assert (again["ok"], again["memory_unused"], again["remembered"] > 0) == (True, None, True)
