"""Each line of the table of merging: what two machines did apart is shown as a conflict, or both
stands; it is settled on one of them, and gone on both with the next sync (ADR 71)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.replica_conflicts import replica_conflicts
from adapters.documents.tasks import task_page
from adapters.proof.prove import prove_logs
from adapters.store.log import Log
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_home
from adapters.text.conflicts import as_text
from adapters.usecases import catalog, resolve_conflict, tasks
from adapters.wiring import Home, open_home
from domain.errors import KeyReused, Refused
from domain.journal.catalog import CATALOG, category_id, label_id
from domain.journal.task import Task
from domain.journal.timer import TIMER
from domain.log.state import MAIN

MORNING, NOON, EVENING = (f"2026-12-01T{one}:00:00.000000Z" for one in ("08", "12", "18"))
Deed = Callable[["Two", Home], object]


class Two:
    """A desk and a laptop that know all of each other: a trip with an item, a note, a label and
    time, and a walk."""

    def __init__(self, desk: Home, laptop: Home, shelf: LocalSyncFolder) -> None:
        self.desk, self.laptop, self._shelf = desk, laptop, shelf
        (self.trip,) = tasks.add_task(desk, "Trip", {}).ids
        (self.walk,) = tasks.add_task(desk, "Walk", {}).ids
        catalog.add_label(desk, "sea")
        catalog.add_category(desk, "Work")
        catalog.add_category(desk, "Job")
        tasks.add_items(desk, self.trip, ["tent"])
        self.note = tasks.add_note(desk, self.trip, "By train.").ids[-1]
        self.entry = tasks.log_time(desk, self.trip, MORNING, NOON).ids[0]
        self.item = self.task(desk).items[0].id
        self.meet()

    def meet(self) -> None:
        for one in (self.desk, self.laptop, self.desk):
            sync_home(one, self._shelf)

    def task(self, home: Home) -> Task:
        return task_page(home, self.trip).task

    def open(self) -> list[ConflictDetails]:
        """What is open; both say the same."""
        mine, yours = replica_conflicts(self.desk), replica_conflicts(self.laptop)
        assert [_but_labels(one) for one in mine] == [_but_labels(one) for one in yours]
        return mine

    def settle(self, home: Home, one: ConflictDetails, machine: str, key: str = "") -> None:
        resolve_conflict.settle_machines(home, one.task, one.field, machine, key)

    def of(self, kind: Any) -> Any:
        with self.desk.services.journal.reading() as world:
            return world.load(kind, MAIN)

    def agree(self) -> None:
        """Both hold the same, nothing is open, and both prove."""
        self.meet()
        assert self.open() == []
        assert self.task(self.desk) == self.task(self.laptop)
        for one in self.desk, self.laptop:
            log = one.services.journal
            assert not prove_logs(log, Log.in_memory("agent", log.replica)).divergences


def _but_labels(one: ConflictDetails) -> object:
    sides = [(side.replica, side.at, side.by, side.value) for side in one.values]
    return one.task, one.field, one.kind, one.stands, sides


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    (tmp_path / "folder").mkdir()
    now = {"WAKELOG_NOW": EVENING, "WAKELOG_TIMEZONE": "UTC"}
    desk, laptop = (
        open_home(tmp_path / one, {**now, "WAKELOG_REPLICA": one}, is_writing=True)
        for one in ("desk", "laptop")
    )
    with closing(desk), closing(laptop):
        yield Two(desk, laptop, LocalSyncFolder(tmp_path / "folder"))


class Line(NamedTuple):
    """What each did, and what is shown; `kept` tells that the laptop's choice stands."""

    desk: Deed
    laptop: Deed
    field: str
    kind: str
    said: tuple[str, str]  # the desk's value, and the laptop's
    kept: Callable[[Two, Task], bool]
    before: Deed = lambda two, home: None


def edit(**fields: Any) -> Deed:
    return lambda two, home: tasks.edit_task(home, two.trip, fields)


def described(text: str) -> Deed:
    return lambda two, home: tasks.describe(home, two.trip, text)


def relabelled(**deeds: str) -> Deed:
    return lambda two, home: [
        getattr(tasks, f"{name}_labels")(home, two.trip, [label]) for name, label in deeds.items()
    ]


def itemed(**fields: Any) -> Deed:
    return lambda two, home: tasks.edit_item(home, two.trip, two.item, fields)


def both(*deeds: Deed) -> Deed:
    return lambda two, home: [one(two, home) for one in deeds]


def noted(text: str) -> Deed:
    return lambda two, home: tasks.edit_note(home, two.trip, two.note, text)


def ended(hour: str) -> Deed:
    at = f"2026-12-01T{hour}:00:00.000000Z"
    return lambda two, home: tasks.retime(home, two.trip, two.entry, ended=at)


def rated(score: int) -> Deed:
    return lambda two, home: tasks.rate(home, two.trip, score)


def renamed(category: str, name: str) -> Deed:
    return lambda two, home: catalog.rename_category(home, category, name)


def scoped(*categories: str) -> Deed:
    return lambda two, home: catalog.add_label(home, "sea", categories)


def linked(two: Two, home: Home) -> object:
    return tasks.link(home, two.trip, "fixes", two.walk)


def unlinked(two: Two, home: Home) -> object:
    return tasks.unlink(home, two.trip, "fixes", two.walk)


def blocks(source: str, target: str) -> Deed:
    return lambda two, home: tasks.link(home, getattr(two, source), "blocks", getattr(two, target))


def timed(task: str) -> Deed:
    return lambda two, home: tasks.start_timer(home, getattr(two, task))


def timers(two: Two) -> Any:
    return two.of(TIMER)


def known(two: Two) -> Any:
    return two.of(CATALOG)


def is_there(two: Two, task: Task) -> bool:
    return bool(task.links)


on = relabelled(assign="sea")
off = relabelled(remove="sea")
TABLE: Mapping[str, Line] = {
    "a title": Line(
        edit(title="Hills"), edit(title="湖"), "title", "values", ("Hills", "湖"),
        lambda _, task: task.title == "湖",
    ),
    "a description": Line(
        described("by car"), described("by boat"), "description", "values",
        ("by car", "by boat"), lambda _, task: "boat" in task.description.text,
    ),
    "a status with its reason": Line(
        edit(status="BLOCKED", reason="rain"), edit(status="DONE"), "status", "values",
        ("BLOCKED rain", "DONE"), lambda _, task: task.status == "DONE",
    ),
    "a priority": Line(
        edit(priority="P0"), edit(priority="P3"), "priority", "values", ("P0", "P3"),
        lambda _, task: task.priority == "P3",
    ),
    "an estimate": Line(
        edit(estimate=30), edit(estimate=60), "estimate", "values", ("30", "60"),
        lambda _, task: task.estimate == 60,
    ),
    "a due date that one took away": Line(
        edit(due="2027-01-02"), edit(due=""), "due", "values", ("2027-01-02", ""),
        lambda _, task: task.due == "", edit(due="2027-01-01"),
    ),
    "a language": Line(
        edit(language="de"), edit(language="ja"), "language", "values", ("de", "ja"),
        lambda _, task: task.language == "ja",
    ),
    "a category": Line(
        edit(category="Work"), edit(category="Job"), "category", "values", ("Work", "Job"),
        lambda _, task: task.category == category_id("Job"),
    ),
    "a label on a task": Line(
        off, both(off, on), f"label:{label_id('sea')}", "values", ("no", "yes"),
        lambda _, task: task.labels == (label_id("sea"),), on,
    ),
    "a label that is not wanted": Line(
        relabelled(suppress="sea"), relabelled(suppress="sea", allow="sea"),
        f"suppressed:{label_id('sea')}", "values", ("yes", "no"),
        lambda _, task: task.suppressed == (),
    ),
    "a link that one took away": Line(
        unlinked, both(unlinked, linked), "link:fixes:WALK", "values", ("no", "yes"),
        is_there, linked,
    ),
    "a link that one took away again": Line(
        both(unlinked, linked), unlinked, "link:fixes:WALK", "values", ("yes", "no"),
        lambda two, task: not is_there(two, task), linked,
    ),
    "an item's title": Line(
        itemed(title="boots"), itemed(title="map"), "item:ITEM:title", "values",
        ("boots", "map"), lambda _, task: task.items[0].title == "map",
    ),
    "an item's tick": Line(
        itemed(is_checked=True), both(itemed(is_checked=True), itemed(is_checked=False)),
        "item:ITEM:checked", "values", ("yes", "no"),
        lambda _, task: not task.items[0].is_checked,
    ),
    "an item that one put away": Line(
        itemed(is_archived=True), both(itemed(is_archived=True), itemed(is_archived=False)),
        "item:ITEM:archived", "values", ("yes", "no"),
        lambda _, task: not task.items[0].is_archived,
    ),
    "a note's text": Line(
        noted("By car."), noted("By boat."), "note:NOTE", "values", ("By car.", "By boat."),
        lambda _, task: task.notes[0].words.text == "By boat.",
    ),
    "a time entry's end": Line(
        ended("10"), ended("11"), "entry:ENTRY:end", "values",
        ("2026-12-01T10:00:00.000000Z", "2026-12-01T11:00:00.000000Z"),
        lambda _, task: task.time[0].end.startswith("2026-12-01T11"),
    ),
    "a rating": Line(
        rated(2), rated(5), "rating", "values", ("2", "5"),
        lambda _, task: task.ratings[0].score == 5,
    ),
    "a task that one removed": Line(
        lambda two, home: tasks.delete_task(home, two.trip), edit(title="Lake"), "deleted",
        "removal", ("removed", "changed"), lambda _, task: not task.is_deleted,
    ),
    "a note that one removed": Line(
        lambda two, home: tasks.remove_note(home, two.trip, two.note), noted("By boat."),
        "note:NOTE", "removal", ("removed", "changed"), lambda _, task: len(task.notes) == 1,
    ),
    "timers that run at once": Line(
        timed("walk"), timed("trip"), "timer", "timers", ("Walk", "Trip"),
        lambda two, _: [one.task for one in timers(two).running] == [two.trip],
    ),
    "a circle of links": Line(
        blocks("walk", "trip"), blocks("trip", "walk"), "blocks", "cycle",
        ("Walk blocks Trip", "Trip blocks Walk"), lambda _, task: not task.links,
    ),
    "a category's name": Line(
        renamed("Work", "Office"), renamed("Work", "仕事"),
        f"category:{category_id('Work')}:name", "values", ("Office", "仕事"),
        lambda two, _: known(two).categories[category_id("Work")].name == "仕事",
    ),
    "where a label may be used": Line(
        scoped("Work"), scoped("Job"), f"label:{label_id('sea')}", "values",
        ("sea (Work)", "sea (Job)"),
        lambda two, _: known(two).labels[label_id("sea")].categories == (category_id("Job"),),
    ),
    "a label that one removed": Line(
        scoped("Work"), lambda two, home: catalog.delete_label(home, "sea"),
        f"label:{label_id('sea')}", "values", ("sea (Work)", "removed"),
        lambda two, _: known(two).labels[label_id("sea")].is_deleted,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_what_two_said_is_shown_on_both_settled_on_one_and_gone_on_both(
    two: Two, name: str
) -> None:
    line = TABLE[name]
    line.before(two, two.desk)
    two.meet()
    line.desk(two, two.desk)
    line.laptop(two, two.laptop)
    two.meet()
    (one,) = two.open()
    named = {"WALK": two.walk, "ITEM": two.item, "NOTE": two.note, "ENTRY": two.entry}
    field = ":".join(named.get(part, part) for part in line.field.split(":"))
    assert (one.field, one.kind) == (field, line.kind)
    said = {side.replica: side.value for side in one.values}
    assert (said["desk"], said["laptop"]) == line.said
    assert all(value in as_text(one) for value in line.said)
    if one.task:
        page = task_page(two.desk, two.trip)
        assert [each.field for each in page.conflicts] == [one.field]
    two.settle(two.laptop, one, "laptop", "once")
    two.settle(two.laptop, one, "laptop", "once")  # a slow double click
    two.agree()
    assert line.kept(two, two.task(two.desk))


@pytest.mark.parametrize("name", TABLE)
def test_what_each_settled_its_own_way_ends_in_agreement(two: Two, name: str) -> None:
    line = TABLE[name]
    line.before(two, two.desk)
    two.meet()
    line.desk(two, two.desk)
    line.laptop(two, two.laptop)
    two.meet()
    (one,) = two.open()
    for home in two.desk, two.laptop:
        two.settle(home, one, home.services.journal.replica)
    two.meet()
    for again in two.open():  # two rows that did not know each other, once more
        two.settle(two.desk, again, "desk")
    two.agree()


def test_what_two_added_apart_stands_twice_and_is_no_conflict(two: Two) -> None:
    for home, milk in (two.desk, "oat"), (two.laptop, "soy"):
        tasks.add_items(home, two.trip, ["milk", milk])
        tasks.add_note(home, two.trip, f"{milk} is best")
        tasks.log_time(home, two.trip, NOON, EVENING)
    two.agree()
    task = two.task(two.desk)
    assert sorted(one.title for one in task.items) == ["milk", "oat", "soy", "tent"]
    assert (len(task.notes), len(task.time)) == (3, 3)


def test_categories_of_one_name_are_shown_until_one_has_another_name(two: Two) -> None:
    catalog.rename_category(two.desk, "Work", "Plants")
    catalog.add_category(two.laptop, "plants")
    two.meet()
    (one,) = two.open()
    assert (one.task, one.kind, one.title.casefold()) == ("", "values", "plants")
    ids = {side.value for side in one.values}
    assert ids == {category_id("Work"), category_id("Plants")}
    with pytest.raises(Refused, match="have one name"):
        two.settle(two.desk, one, "desk")
    catalog.rename_category(two.laptop, category_id("Work"), "Garden")
    two.agree()


def test_a_circle_over_three_tasks_opens_where_one_of_its_links_goes(two: Two) -> None:
    (rest,) = tasks.add_task(two.desk, "Rest", {}).ids
    tasks.link(two.desk, two.trip, "blocks", two.walk)
    two.meet()
    tasks.link(two.desk, two.walk, "blocks", rest)
    tasks.link(two.laptop, rest, "blocks", two.trip)
    two.meet()
    (one,) = two.open()
    assert [side.replica for side in one.values] == ["desk", "desk", "laptop"]
    for task in two.trip, two.walk, rest:
        assert [each.kind for each in task_page(two.desk, task).conflicts] == ["cycle"]
    tasks.delete_task(two.laptop, rest)
    two.meet()
    assert two.open() == []  # what is deleted blocks nothing
    tasks.restore_task(two.laptop, rest)
    two.meet()
    two.settle(two.laptop, two.open()[0], "desk")
    two.agree()
    assert task_page(two.desk, rest).links.incoming == ()


def test_what_cannot_be_settled_tells_what_there_is(two: Two) -> None:
    edit(title="Hills")(two, two.desk)
    edit(title="Lake")(two, two.laptop)
    two.meet()
    (one,) = two.open()
    for field, machine, said in (
        ("title", "phone", "no side of a conflict"),
        ("title", "file", "no side of a conflict"),
        ("due", "desk", "no two machines differ"),
        ("timer", "desk", "no two machines differ"),
        ("blocks", "desk", "no two machines differ"),
    ):
        with pytest.raises(Refused, match=said):
            resolve_conflict.settle_machines(two.desk, two.trip, field, machine)
    with pytest.raises(Refused, match="no two machines differ"):
        resolve_conflict.settle_machines(two.desk, "", "label:x", "desk")
    two.settle(two.desk, one, "desk", "k")
    with pytest.raises(KeyReused):
        two.settle(two.desk, one, "laptop", "k")
    with pytest.raises(Refused, match="not any more"):
        two.settle(two.desk, one, "desk")
