"""A view that a runner leads holds each row of its own home once, and no row of another past."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from domain.errors import Refused
from domain.log.wire import Erased, tag_of
from tests.support.cli import done
from tests.support.follower import (
    Taken,
    TakenRows,
    Taking,
    TakingNotes,
    TakingTimers,
    following,
    rows_of,
)
from tests.support.homes import Homes
from tests.support.machines import pair
from wakelog.events import JournalLog, LogRunner

MARK = tag_of(Erased("", ""))
SECONDS_MAX = 60  # of waiting for what comes at once


def make(home: Path) -> None:
    for title in ("Fix the tap", "Mow the lawn"):
        done(["add", title], home)
        done(["note", title, "It takes about 2 hours."], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(make, tmp_path / "home")


@pytest.fixture
def view(tmp_path: Path) -> Path:
    return tmp_path / "view.db"


def caught_up(runner: LogRunner[TakenRows]) -> list[Taken]:
    """What a view holds once it has all there is."""
    last = rows_of(runner.app, runner.projection.topics)[-1].id
    runner.wait(last, timeout=SECONDS_MAX)
    return runner.view.rows()


def take_all(
    home: Path, view: Path, projection: type[Taking] = Taking
) -> tuple[list[Taken], list[Taken]]:
    """What a view holds when it has caught up, and what the log."""
    with following(home, view, JournalLog, projection) as runner:
        return caught_up(runner), rows_of(runner.app, projection.topics)


def refused(home: Path, view: Path, projection: type[Taking] = Taking) -> str:
    with pytest.raises(Refused) as told:
        following(home, view, JournalLog, projection)
    assert "make the view anew" in str(told.value.instead)
    return told.value.code


def test_a_view_goes_on_where_it_stood_and_follows(home: Path, view: Path) -> None:
    taken, there = take_all(home, view)
    assert taken == there
    done(["note", "Fix the tap", "Nothing new."], home)
    with following(home, view, JournalLog) as runner:
        assert caught_up(runner)[: len(taken)] == taken
        done(["add", "Buy milk"], home)
        assert caught_up(runner) == rows_of(runner.app)
    assert len(runner.view.rows()) > len(taken)


def test_a_projection_is_given_its_topics_alone(home: Path, view: Path) -> None:
    done(["add", "Renew the passport"], home)
    done(["erase", "task", "Renew the passport", "--sure"], home)
    taken, there = take_all(home, view, TakingNotes)
    assert taken == there
    assert {one.tag for one in taken} == set(TakingNotes.topics)


@pytest.mark.slow
def test_rows_of_another_machine_are_taken_once_when_they_come(tmp_path: Path, view: Path) -> None:
    desk, laptop = machines = pair(tmp_path)
    desk.said("add", "Fix the tap")
    desk.sync()
    laptop.sync()
    taken: list[Taken] = []
    for nth in range(3):
        for machine in machines:
            machine.said("add", f"Task {nth} of {machine.home.name}")
            machine.sync()
        before = taken
        taken, there = take_all(desk.home, view)
        assert taken == there
        assert taken[: len(before)] == before
    desk.sync()
    assert len(desk.titles()) == 7
    desk.said("erase", "task", "Task 1 of laptop", "--sure")  # which writes the file anew
    with JournalLog({"WAKELOG_HOME": str(desk.home)}) as log:
        places = [one[:3] for one in rows_of(log)]
    assert places[: len(taken)] == [one[:3] for one in taken]
    laptop_view = tmp_path / "laptop.db"
    take_all(laptop.home, laptop_view)
    desk.sync()
    laptop.sync()
    assert refused(laptop.home, laptop_view) == "erased_past"


# ------------------------------------------------------------------------------------- other pasts


def of_another_home(home: Path) -> None:
    shutil.rmtree(home)
    for nth in range(9):
        done(["add", f"More than there was {nth}"], home, env={"WAKELOG_REPLICA": "r2"})


def copied(home: Path) -> None:
    home.rename(home.with_name("original"))
    shutil.copytree(home.with_name("original"), home)


def restored(home: Path) -> None:
    """As by `wakelog restore`, into another folder."""
    backup = home.with_name("backup")
    done(["backup", str(backup)], home)
    shutil.rmtree(home)
    done(["restore", str(backup)], home, env={"WAKELOG_REPLICA": ""})


@pytest.mark.parametrize("happen", [of_another_home, copied, restored])
def test_a_view_of_another_past_is_refused(
    home: Path, view: Path, happen: Callable[[Path], None]
) -> None:
    take_all(home, view)
    happen(home)
    assert refused(home, view) == "other_past"
    view.unlink()
    taken, there = take_all(home, view)
    assert taken == there


def put_back(home: Path, older: Path) -> None:
    for name in ("journal.db", "agent.db"):
        shutil.copyfile(older / name, home / name)


def test_a_view_that_is_ahead_of_its_log_is_refused(home: Path, view: Path, tmp_path: Path) -> None:
    older = shutil.copytree(home, tmp_path / "older")
    done(["add", "Buy milk"], home)
    take_all(home, view)
    put_back(home, older)
    assert refused(home, view) == "other_past"


def test_a_log_that_was_put_back_and_has_grown_again_is_known(
    home: Path, view: Path, tmp_path: Path
) -> None:
    older = shutil.copytree(home, tmp_path / "older")
    done(["add", "Buy milk"], home)
    take_all(home, view)
    take_all(home, view)  # the row at which it stands is noted when it is taken up
    put_back(home, older)
    for nth in range(3):
        done(["add", f"Buy bread {nth}"], home)
    assert refused(home, view) == "other_past"


# ---------------------------------------------------------------------------------------- erasures


def test_a_view_that_took_what_was_erased_since_is_made_anew(home: Path, view: Path) -> None:
    take_all(home, view)
    done(["erase", "task", "Fix the tap", "--sure"], home)
    assert refused(home, view) == "erased_past"
    assert refused(home, view) == "erased_past"  # it goes on being so
    view.unlink()
    taken, there = take_all(home, view)
    assert taken == there
    assert MARK in {one.tag for one in taken}
    assert take_all(home, view)[0] == taken  # what it met as marks it did not take


def test_who_follows_is_told_of_an_erasure_of_what_the_view_took(home: Path, view: Path) -> None:
    runner = following(home, view, JournalLog)
    with runner:
        caught_up(runner)
        done(["erase", "task", "Fix the tap", "--sure"], home)
        with pytest.raises(Refused) as told:
            runner.run_forever(SECONDS_MAX)
    assert told.value.code == "erased_past"
    assert "erasure.made.1" not in {one.tag for one in runner.view.rows()}


@pytest.mark.parametrize("is_late", [False, True])
def test_who_took_nothing_of_what_was_erased_goes_on(
    home: Path, view: Path, *, is_late: bool
) -> None:
    projection = Taking if is_late else TakingTimers
    done(["start", "Mow the lawn"], home)
    done(["stop"], home)
    take_all(home, view, projection)
    done(["add", "Buy milk"], home)
    done(["erase", "task", "Buy milk" if is_late else "Fix the tap", "--sure"], home)
    done(["start", "Mow the lawn"], home)
    for _ in range(2):  # it knows the erasure then
        taken, there = take_all(home, view, projection)
        assert taken == there
