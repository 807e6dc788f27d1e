"""What one machine erases, the others erase when they sync (ADR 107)."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.store.log import Erasing
from adapters.store.reader import read_append
from adapters.store.recorder import by_append
from adapters.wiring import open_home
from domain.append import envelope
from domain.append.texts import payloads_named
from domain.erasure import ErasureList, digest_of
from tests.integration.test_cli_erase import ILL, KEPT, WORDS, holding
from tests.support.homes import Homes
from tests.support.machines import Machine, pair

MORE = ("Hühnersuppe",)


def rows_of(machine: Machine, log: str) -> set[str]:
    """The tags of the rows that a machine has, each with its stream, but for receipts."""
    with closing(sqlite3.connect(machine.home / f"{log}.db")) as file:
        every = file.execute("SELECT topic, originator_id FROM stored_events")
        return {f"{topic} {stream}" for topic, stream in every if stream[:8] != "receipt:"}


def left(path: Path) -> dict[str, list[str]]:
    """The words of what was erased that stand anywhere, the packed files of a folder unpacked."""
    return {word: files for word, files in holding(path, (*WORDS, *MORE)).items() if files}


@pytest.fixture
def place(homes: Homes) -> Path:
    return homes.again(illness)


@pytest.fixture
def ill(place: Path) -> list[Machine]:
    """Two machines that share a task with an agent that has woken, and another one."""
    return pair(place)


def illness(place: Path) -> None:
    desk, laptop = pair(place)
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


def test_what_one_erases_is_erased_by_the_other_and_in_their_folder(
    ill: list[Machine], place: Path
) -> None:
    desk, laptop = ill
    assert left(place), "also in the folder"
    desk.told("erase", "task", ILL, "--sure")
    assert left(desk.home) == {}
    assert left(laptop.home)
    desk.sync()
    assert laptop.sync()["waiting"] == []
    assert left(laptop.home) == {}
    for log in ("journal", "agent"):
        with closing(sqlite3.connect(laptop.home / f"{log}.db")) as rows:
            made = rows.execute(
                "SELECT originator_id FROM stored_events WHERE topic = 'erasure.made.1'"
            )
            assert made.fetchall() == [("log:main@desk",)], "it marks what that one's list holds"
    desk.sync()
    assert left(place) == {}
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


def test_a_machine_that_is_new_takes_marks_and_proves(ill: list[Machine], place: Path) -> None:
    desk, laptop = ill
    laptop.told("erase", "task", ILL, "--sure")
    laptop.sync()
    desk.sync()
    laptop.sync()
    phone = Machine(place / "phone", desk.folder)
    assert phone.sync()["waiting"] == []
    assert left(place) == {}
    assert phone.told("prove")["ok"]
    assert phone.titles() == {"Renew the passport"}


def test_what_was_written_to_it_meanwhile_is_not_lost_in_silence(
    ill: list[Machine], place: Path
) -> None:
    desk, laptop = ill
    laptop.said("note", "Zwiebelkur", "And Kamillentee at night")
    desk.told("erase", "task", ILL, "--sure")
    desk.sync()
    said = laptop.said("sync", str(desk.folder), status=1)
    assert "--accept-erasures" in said
    assert "desk erased a task that was written to here since" in laptop.said("doctor", status=1)
    assert [one["text"] for one in laptop.told("show", "Zwiebelkur")["notes"]][-1] == (
        "And Kamillentee at night"
    )
    assert laptop.told("prove")["ok"]
    laptop.told("sync", str(desk.folder), "--accept-erasures")
    assert "written to here" not in laptop.said("doctor")
    desk.sync()
    laptop.sync()
    assert left(place) == {}
    for one in ill:
        assert one.told("prove")["ok"]
    assert laptop.sync()["equal"] == ["desk"]


def forge(machine: Machine, log_name: str, unit: str, tags: str, *, is_text: bool = False) -> None:
    """Erase the rows whose tags match, or the text that the last of them names, as if they were of
    a unit: chain, list and digest are as `erase` makes them."""
    with open_home(machine.home, {"WAKELOG_REPLICA": "laptop"}, is_writing=True) as home:
        log = home.services.journal if log_name == "journal" else home.services.agents
        appends = (zip(one, read_append(one), strict=True) for one in by_append(log.rows()))
        found = [pair for append in appends for pair in append if re.fullmatch(tags, pair[0].topic)]
        texts = [*payloads_named(found[-1][1].fact)] if is_text else []
        assert texts or not is_text
        found = [] if is_text else found
        rows = [replace(row, fact=envelope.read(envelope.erased(raw)).data) for raw, row in found]
        listed = ErasureList.of(rows, texts)
        said = Erasing(tuple(raw for raw, _ in found), listed, digest_of(rows))
        what = "fork" if unit == "home" else unit.partition(":")[0]
        log.erase(unit, what, lambda: said, home.services.clock.now())


@pytest.mark.parametrize(
    ("log", "unit", "tags", "told"),
    [
        ("agent", "task:none", r"policy\..*", "may not take it"),
        ("journal", "task:none", r"task\.note_added\.1", "may not take it"),
        ("agent", "agent:none", r"alert\..*", "may not take it"),
        ("agent", "agent:none", r"changes\.item_rejected\.1", "a list of all of changes:"),
        ("agent", "agent:none", r"wake\.model_answered\.1", "a list of all of wake:"),
        ("agent", "agent:none", r"wake\..*", "a mark, as of what the same wake did there"),
        ("agent", "home", r"wake\..*", ""),
    ],
)
def test_who_erases_what_is_not_its_own_is_found_and_not_obeyed(
    ill: list[Machine], log: str, unit: str, tags: str, told: str
) -> None:
    """A machine of the home, with its chain redone: an agreement, another task's note, another
    agent's queue, a verdict or an answer alone, wakes without what they proposed, and what only
    forks say of their own copies."""
    desk, laptop = ill
    laptop.said("policy", "allow", "gemini", "--yes")
    desk.said("note", "passport", "It takes about 2 hours.")
    desk.said("wake", "passport")
    desk.said("reject", desk.told("inbox")[0]["items"][0]["ref"], "--reason", "no")
    for one in (desk, laptop, desk):
        one.sync()
    before = rows_of(desk, log)
    forge(laptop, log, unit, tags)
    if told:  # it is no fork
        assert told in laptop.said("--json", "prove", status=1)
    laptop.sync()
    desk.sync()
    assert "same wake" in told or rows_of(desk, log) >= before, "what is not whole stands here"
    assert '"path": "erased"' in desk.said("--json", "prove", status=1)


def test_a_task_s_text_that_is_said_to_be_erased_without_its_row_is_missing(
    ill: list[Machine],
) -> None:
    desk, laptop = ill
    laptop.said("note", "passport", "The form asks for a photo. " * 200)
    forge(laptop, "journal", "task:none", r"task\.note_added\.1", is_text=True)
    laptop.sync()
    desk.sync()
    assert all("payload missing" in one.said("prove", status=1) for one in ill)


def test_files_of_a_machine_that_is_gone_for_good_are_written_anew_by_the_lead(
    ill: list[Machine], place: Path
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
    phone = Machine(place / "phone", desk.folder)
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
