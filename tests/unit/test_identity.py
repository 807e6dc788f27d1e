"""Which new task or item of a file is an old one under another title: tables of cases."""

import pytest

from adapters.importers.alignment import FileLine, align, with_items
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.imports import numbered
from domain.journal.task import ChecklistItem

# -------------------------------------------------------------------------------------------- tasks


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


# -------------------------------------------------------------------------------------------- items


LISTS = {  # and of each item now, the place of the one before that it is; None: it is new
    "a word more": ("Sand/Paint the door/Oil", "Sand/Paint the red door/Oil", [0, 1, 2]),
    "another title at its place": ("Sand/Call Ann/Oil", "Sand/Write to Bob/Oil", [0, 1, 2]),
    "the only one": ("Dentist", "Dentist appointment", [0]),
    "two at once": (
        "Sand/Buy paint/Call Ann/Oil",
        "Sand/Buy red paint/Call Ann up/Oil",
        [0, 1, 2, 3],
    ),
    "one beside another": ("Buy paint/Grind/Oil", "Buy red paint/Sand it/Oil", [0, 1, 2]),
    "moved, and a word corrected": (
        "Paint teh door/Sand/Oil",
        "Sand/Oil/Paint the door",
        [1, 2, 0],
    ),
    "ticked here, at its place": ("Sand/=Paint door/Oil", "Sand/Paint the door/Oil", [0, 1, 2]),
    "ticked in the file, too": ("Sand/=Paint door", "xPaint the door/Sand", [1, 0]),
    "ticked by the file": ("Sand/Call Ann", "Sand/xWrite to Bob", [0, 1]),
    "ticked here, another title": ("Sand/=Call Ann/Oil", "Sand/Write to Bob/Oil", [0, None, 2]),
    "ticked here, moved": ("=Paint door/Sand", "Sand/Paint the door", [1, None]),
    "another number": ("Sand/Week 1/Oil", "Sand/Week 2/Oil", [0, None, 2]),
    "one gone, and one elsewhere": ("Call Ann/Sand/Oil", "Sand/Oil/Buy milk", [1, 2, None]),
    "two for one": (
        "Sand/Oil/Paint the dor",
        "Paint the door/Sand/Paint the door./Oil",
        [None, 0, None, 1],
    ),
    "one gone, two new": (
        "Sand/Call Ann/Oil",
        "Sand/Write to Bob/Buy milk/Oil",
        [0, None, None, 2],
    ),
    "the same title once more": ("Sand/Oil", "Sand/Oil/Sand", [0, 1, None]),
    "nothing gone": ("Sand/Oil", "Sand/Buy paint/Oil", [0, None, 1]),
}


def listed(said: str) -> ImportedTask:
    titles = [one.lstrip("=") for one in said.split("/")]
    items = (ImportedItem(one.lstrip("x"), one.startswith("x")) for one in titles)
    return ImportedTask("t1", "Roof", items=tuple(items))


def here(said: str, *, renamed: str = "", archived: str = "") -> list[ChecklistItem]:
    """The items as they are here; two of them by their titles in the file."""
    ticked = [one.startswith("=") for one in said.split("/")]
    return [
        ChecklistItem(
            one,
            "list",
            f"{item.title} here" if item.title == renamed else item.title,
            "import:a",
            is_checked=is_ticked,
            is_archived=item.title == archived,
        )
        for one, item, is_ticked in zip(
            numbered(listed(said)), listed(said).items, ticked, strict=True
        )
    ]


def places(task: ImportedTask, before: str) -> list[int | None]:
    known = [*numbered(listed(before))]
    return [known.index(one) if one in known else None for one in numbered(task)]


@pytest.mark.parametrize("name", LISTS)
def test_an_item_is_known_again_or_is_new(name: str) -> None:
    before, now, wanted = LISTS[name]
    assert places(with_items(listed(now), listed(before), here(before)), before) == wanted


def test_what_was_found_again_is_so_with_the_next_import_whatever_it_is_called_here() -> None:
    before, now = "Sand/Call Ann/Call Ann", "Sand/Call Ann/Write to Bob"
    first = with_items(listed(now), listed(before), here(before))
    kept = [*numbered(listed(before))]
    assert [item.id for item in first.items] == ["", "", kept[2]]
    later = here(before, renamed="Call Ann")
    assert [*numbered(with_items(listed(now), first, later))] == kept
    grown = with_items(listed(f"{now}/Call Ann"), first, later)
    assert [*numbered(grown)][:3] == kept
    assert [*numbered(grown)][3] not in kept


@pytest.mark.parametrize("how", ["renamed", "archived"])
def test_what_was_put_aside_or_renamed_here_is_not_found_again(how: str) -> None:
    before, now = "Sand/Paint the door", "Sand/Paint the red door"
    held = here(before, **{how: "Paint the door"})
    assert places(with_items(listed(now), listed(before), held), before) == [0, None]


def test_what_the_file_calls_as_it_is_called_here_is_left_to_who_spells() -> None:
    before, now = "Sand/Paint", "Sand/Paint here"
    found = with_items(listed(now), listed(before), here(before, renamed="Paint"))
    assert [item.id for item in found.items] == ["", ""]


def test_a_list_that_was_replaced_is_not_compared() -> None:
    before, now = (
        "/".join(f"{word} {chr(97 + n % 26) * n}" for n in range(1, 202)) for word in "ab"
    )
    assert with_items(listed(now), listed(before), here(before)) == listed(now)
