"""Which new task of a file is an old one under another title or heading: a table of cases."""

import pytest

from adapters.importers.alignment import FileLine, align
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask


def task(
    title: str,
    category: str = "Home",
    status: str = "",
    items: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> ImportedTask:
    return ImportedTask(
        f"{title} in {category}",
        title,
        category,
        status,
        items=tuple(map(ImportedItem, items)),
        notes=tuple(map(ImportedNote, notes)),
    )


def same(was: list[ImportedTask], now: list[ImportedTask]) -> dict[str, str]:
    """The id of each line that was there, by that of the line which it is now."""
    found = align([FileLine(one) for one in was], [FileLine(one) for one in now], {}).found
    return {now[at].task_id: was[before].task_id for at, before in found.items()}


STEPS = ("Sand it", "Buy paint", "Paint it")
ONE = {
    "a corrected word": (task("Paint the dor"), task("Paint the door")),
    "a word more": (task("Paint the door"), task("Paint the red door")),
    "another heading": (task("Call Ann"), task("Call Ann", "Work")),
    "another heading, and done": (task("Call Ann"), task("Call Ann", "Work", "DONE")),
    "a corrected word, and done": (task("Paint the dor"), task("Paint the door", status="DONE")),
    "another title with its checklist": (
        task("Door", items=STEPS),
        task("Give the entrance colour", "Work", items=STEPS),
    ),
    "another title with most of its checklist": (
        task("Door", items=STEPS),
        task("Entrance", items=(*STEPS, "Clean up")),
    ),
    "another title with its notes": (
        task("Door", notes=("Ann prefers green.",)),
        task("Entrance", notes=("Ann prefers green.",)),
    ),
    "a checklist that began": (task("Paint the dor"), task("Paint the door", items=STEPS)),
}
NONE = {
    "another title": (task("Paint the door"), task("Call Ann")),
    "another number": (task("Report of week 1"), task("Report of week 2")),
    "a similar title elsewhere": (task("Paint the dor"), task("Paint the door", "Work")),
    "another checklist": (
        task("Paint the dor", items=STEPS),
        task("Paint the door", items=("Call Ann", "Ask Bob")),
    ),
    "a done one, and a new one like it": (
        task("Water the plant", status="DONE"),
        task("Water the plants"),
    ),
}


@pytest.mark.parametrize(("was", "now"), ONE.values(), ids=list(ONE))
def test_one_task_is_found_again(was: ImportedTask, now: ImportedTask) -> None:
    assert same([was, task("Something else", "Else")], [task("New", "Else"), now]) == {
        now.task_id: was.task_id
    }


@pytest.mark.parametrize(("was", "now"), NONE.values(), ids=list(NONE))
def test_two_tasks_stay_two(was: ImportedTask, now: ImportedTask) -> None:
    assert same([was], [now]) == {}


def test_a_tie_is_not_guessed() -> None:
    was, now = task("Paint the dor"), task("Paint the door")
    assert same([was, task("Paint the doo")], [now]) == {}
    assert same([was], [now, task("Paint the doors")]) == {}
    moved = [task("Call Ann", "Work"), task("Call Ann", "Shed"), task("Call Anna")]
    assert same([task("Call Ann")], moved) == {}


def test_what_is_surer_goes_first() -> None:
    was, like = task("Paint the door", items=STEPS), task("Paint the doors")
    now = task("Paint the door", "Work", items=STEPS)
    assert same([was, like], [now, task("Paint the floors")]) == {
        now.task_id: was.task_id,
        "Paint the floors in Home": like.task_id,
    }


def test_a_file_that_is_another_one_is_not_compared() -> None:
    was = [task(f"Paint door {nth}") for nth in range(201)]
    assert same(was, [task(f"Paint the door {nth}", "Work") for nth in range(201)]) == {}
