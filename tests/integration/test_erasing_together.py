"""What one machine erases, the others erase when they sync (ADR 107)."""

from pathlib import Path

import pytest

from tests.integration.test_cli_erase import ILL, KEPT, WORDS, holding
from tests.support.machines import Machine, pair

MORE = ("Hühnersuppe",)


def left(path: Path) -> dict[str, list[str]]:
    """The words of what was erased that stand anywhere, the packed files of a folder unpacked."""
    return {word: files for word, files in holding(path, (*WORDS, *MORE)).items() if files}


@pytest.fixture
def ill(tmp_path: Path) -> tuple[Machine, Machine]:
    """Two machines that share a task with an agent that has woken, and another one."""
    desk, laptop = pair(tmp_path)
    desk.said("add", ILL, "--item", "Buy Hustensaft")
    desk.said("add", "Renew the passport")
    desk.said("note", "Zwiebelkur", "Frau Sonderbar wants Pfefferminz and Kamillentee")
    desk.said("note", "passport", "The Bürgeramt wants a biometric photo.")
    desk.said("task", "link", "passport", "relates_to", "Zwiebelkur")
    desk.said("agent", "create", "--all")
    desk.said("wake")
    desk.sync()
    laptop.sync()
    laptop.said("note", "Zwiebelkur", "Hühnersuppe helps as well, says Frau Sonderbar")
    laptop.sync()
    desk.sync()
    return desk, laptop


def test_what_one_erases_is_erased_by_the_other_and_in_their_folder(
    ill: tuple[Machine, Machine], tmp_path: Path
) -> None:
    desk, laptop = ill
    assert left(tmp_path), "also in the folder"
    desk.told("erase", "task", ILL, "--sure")
    assert left(desk.home) == {}
    assert left(laptop.home)
    desk.sync()
    assert laptop.sync()["waiting"] == []
    assert left(laptop.home) == {}
    desk.sync()
    assert left(tmp_path) == {}
    for one in ill:
        proved = one.told("prove")
        assert (proved["ok"], proved["erased"]["units"][0]["what"]) == (True, "task")
        assert one.titles() == {"Renew the passport"}
        assert all(holding(one.home, KEPT).values())
    assert desk.sync()["equal"] == ["laptop"]
    assert desk.told("prove")["shared"] == laptop.told("prove")["shared"]
    laptop.said("note", "passport", "Done soon.")
    laptop.sync()
    desk.sync()
    assert [one["text"] for one in desk.told("show", "passport")["notes"]][-1] == "Done soon."


def test_a_machine_that_is_new_takes_marks_and_proves(
    ill: tuple[Machine, Machine], tmp_path: Path
) -> None:
    desk, laptop = ill
    laptop.told("erase", "task", ILL, "--sure")
    laptop.sync()
    desk.sync()
    laptop.sync()
    phone = Machine(tmp_path / "phone", desk.folder)
    assert phone.sync()["waiting"] == []
    assert left(tmp_path) == {}
    assert phone.told("prove")["ok"]
    assert phone.titles() == {"Renew the passport"}


def test_what_was_written_to_it_meanwhile_is_not_lost_in_silence(
    ill: tuple[Machine, Machine], tmp_path: Path
) -> None:
    desk, laptop = ill
    laptop.said("note", "Zwiebelkur", "And Kamillentee at night")
    desk.told("erase", "task", ILL, "--sure")
    desk.sync()
    said = laptop.said("sync", str(desk.folder), status=1)
    assert "--accept-erasures" in said
    assert [one["text"] for one in laptop.told("show", "Zwiebelkur")["notes"]][-1] == (
        "And Kamillentee at night"
    )
    assert laptop.told("prove")["ok"]
    laptop.told("sync", str(desk.folder), "--accept-erasures")
    desk.sync()
    laptop.sync()
    assert left(tmp_path) == {}
    for one in ill:
        assert one.told("prove")["ok"]
    assert laptop.sync()["equal"] == ["desk"]


def test_files_of_a_machine_that_is_gone_for_good_are_written_anew_by_the_lead(
    ill: tuple[Machine, Machine], tmp_path: Path
) -> None:
    desk, laptop = ill
    laptop.said("note", "passport", "On Monday.")
    laptop.sync()
    desk.sync()
    desk.said("replicas", "retire", "laptop")
    desk.told("erase", "task", ILL, "--sure")
    desk.sync()
    assert left(desk.folder) == {}
    assert left(desk.home) == {}
    phone = Machine(tmp_path / "phone", desk.folder)
    phone.sync()
    assert phone.told("show", "passport")["notes"] == desk.told("show", "passport")["notes"]
    assert phone.told("prove")["ok"]


def test_a_home_in_which_something_was_erased_is_shared_later(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("add", ILL)
    desk.said("add", "Renew the passport")
    desk.told("erase", "task", ILL, "--sure")
    desk.sync()
    laptop.sync()
    assert left(tmp_path) == {}
    for one in (desk, laptop):
        assert one.told("prove")["ok"]
        assert one.titles() == {"Renew the passport"}
