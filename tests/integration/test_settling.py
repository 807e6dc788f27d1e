"""What two machines did apart is shown as a conflict, or both stands; it is settled on one of them,
and gone on both with the next sync: each line of the table of merging (ADR 71)."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.replica_conflicts import replica_conflicts
from adapters.documents.tasks import task_page
from adapters.proof.prove import prove_logs
from adapters.text.conflicts import as_text
from adapters.usecases import catalog, resolve_conflict, tasks
from adapters.usecases.resolve_conflict import DIGITS, numbered
from adapters.web.replica_conflicts import HEADINGS
from adapters.web.site import CONFLICT_PAGES
from adapters.wiring import Home
from domain.errors import KeyReused, Refused
from domain.journal import commands as do
from domain.journal.catalog import CATALOG, category_id, label_id
from domain.journal.links import LINKS
from domain.journal.task import Task
from domain.journal.timer import TIMER
from domain.log.state import MAIN
from domain.replication.replica_conflicts import conflicts_of_task
from tests.support import cli
from tests.support.cli import done, proved, told
from tests.support.fleet import Fleet
from tests.support.forms import Form
from tests.support.gallery import differing_homes
from tests.support.machines import Machine as Place
from tests.support.machines import pair
from tests.support.pages import Visitor, text_of, visiting
from tests.support.rescuing import Machine as Rescued
from tests.support.services import START
from tests.support.sharing import Machine

MORNING, NOON, EVENING = (f"2026-12-01T{one}:00:00.000000Z" for one in ("08", "12", "18"))
LATER, LATEST = "2027-01-01T10:00:00.000000Z", "2027-01-01T11:00:00.000000Z"
Deed = Callable[["Two", Home], object]


class Two:
    """A desk and a laptop that know all of each other: a trip with an item, a note, a label and
    time, and a walk."""

    def __init__(self) -> None:
        self._fleet = Fleet("desk", "laptop")
        desk, laptop = (Home.in_memory(one.services) for one in self._fleet.values())
        self.desk, self.laptop = desk, laptop
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
        for one in "desk", "laptop", "desk":
            self._fleet[one].sync()
        for home in self.desk, self.laptop:
            home.views.catch_up()

    def says(self, home: Home, command: Any, now: str = START) -> Sequence[str]:
        """Without a use case."""
        return home.services.journal.append(command, now).result.ids

    def apart(self, line: "Line") -> ConflictDetails:
        """Each does what it does in a line; the conflict."""
        line.before(self, self.desk)
        self.meet()
        line.desk(self, self.desk)
        line.laptop(self, self.laptop)
        self.meet()
        (one,) = self.open()
        return one

    def task(self, home: Home) -> Task:
        return task_page(home, self.trip).task

    @property
    def other(self) -> Task:
        return task_page(self.laptop, self.walk).task

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
            assert not prove_logs(one.services.journal, one.services.agents).divergences


def _but_labels(one: ConflictDetails) -> object:
    sides = [(side.replica, side.at, side.by, side.value) for side in one.values]
    return one.task, one.field, one.kind, one.stands, sides


@pytest.fixture
def two() -> Two:
    return Two()


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
    """At both ends, or at none."""
    with two.desk.services.journal.reading() as world:
        assert bool(world.load(LINKS, two.walk).incoming) == bool(task.links)
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
        lambda two, _: [one.task for one in timers(two).running] == [two.trip]
        and all(one.end for one in two.other.time),
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
    one = two.apart(line)
    named = {"WALK": two.walk, "ITEM": two.item, "NOTE": two.note, "ENTRY": two.entry}
    field = ":".join(named.get(part, part) for part in line.field.split(":"))
    assert (one.field, one.kind) == (field, line.kind)
    said = {side.replica: side.value for side in one.values}
    assert (said["desk"], said["laptop"]) == line.said
    assert all(value in as_text(one) for value in line.said)
    if one.task:
        pages = [task_page(two.desk, task) for task in (two.trip, two.walk)]
        at_both = line.kind in ("timers", "cycle")
        shown = [[each.field for each in page.conflicts] for page in pages]
        assert shown == [[one.field], [one.field] if at_both else []]
    two.settle(two.laptop, one, "laptop", "once")
    two.settle(two.laptop, one, "laptop", "once")  # a slow double click
    two.agree()
    assert line.kept(two, two.task(two.desk))


OWN_WAY = [  # fast where the desk's choice takes something away
    pytest.param(name, marks=[] if line.kind == "removal" else [pytest.mark.slow])
    for name, line in TABLE.items()
]


@pytest.mark.parametrize("name", OWN_WAY)
def test_what_each_settled_its_own_way_ends_in_agreement(two: Two, name: str) -> None:
    one = two.apart(TABLE[name])
    for home in two.desk, two.laptop:
        two.settle(home, one, home.services.journal.replica)
    two.meet()
    for again in two.open():  # two rows that did not know each other, once more
        two.settle(two.desk, again, "desk")
    two.agree()
    is_gone = TABLE[name].kind == "cycle"  # each took the other's link away
    assert TABLE[name].kept(two, two.task(two.desk)) == is_gone


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
    before = two.desk.services.journal.count()
    for field, machine, said in (
        ("title", "phone", "no side of a conflict"),
        ("title", "file", "no side of a conflict"),
        ("due", "desk", "no two machines differ"),
        ("timer", "desk", "no two machines differ"),
        ("blocks", "desk", "no two machines differ"),
    ):
        with pytest.raises(Refused, match=said):
            resolve_conflict.settle_machines(two.desk, two.trip, field, machine)
    stale = do.SideSeen("desk", 1), do.SideSeen("laptop", 1)
    for field, machine, sides, code, said in (
        ("due", "desk", (), "invalid_value", "no two machines"),
        ("title", "phone", (), "invalid_value", "name one of desk"),
        ("title", "desk", stale, "stale", "look at it again"),
    ):
        with pytest.raises(Refused, match=said) as refused:
            two.says(two.desk, do.SettleConflict(two.trip, field, machine, sides))
        assert refused.value.code == code
    assert two.desk.services.journal.count() == before
    with pytest.raises(Refused, match="no two machines differ"):
        resolve_conflict.settle_machines(two.desk, "", "label:x", "desk")
    two.settle(two.desk, one, "desk", "k")
    with pytest.raises(KeyReused):
        two.settle(two.desk, one, "laptop", "k")
    with pytest.raises(Refused, match="not any more"):
        two.settle(two.desk, one, "desk")


def test_a_home_that_is_alone_looks_for_no_circle() -> None:
    desk = Machine("desk")
    task = desk.append(do.CreateTask("Trip"), START).result.ids[0]
    with desk.reading() as world:
        assert conflicts_of_task(world, task) == []


@pytest.mark.parametrize("keep", ["desk", "laptop"])
def test_an_end_that_one_machine_took_back_runs_on_or_is_over(two: Two, keep: str) -> None:
    """The desk lets an entry's timer run on, and the laptop says another end of it."""
    (entry,) = two.says(two.desk, do.StartTimer(two.trip))
    two.says(two.desk, do.StopTimer(), LATER)
    stopped = two.desk.services.journal.tail().n
    two.meet()
    two.says(two.desk, do.UndoDeed((two.trip,), (stopped,), reopens=True), LATEST)
    over = "2027-01-01T09:30:00.000000Z"
    two.says(two.laptop, do.RetimeEntry(two.trip, entry, end=over), LATEST)
    two.meet()
    (one,) = two.open()
    assert (one.kind, one.field) == ("values", f"entry:{entry}:end")
    two.settle(two.laptop, one, keep)
    two.agree()
    running = [one.entry for one in timers(two).running]
    assert ([one.id for one in two.task(two.desk).running], running) == (
        ([entry], [entry]) if keep == "desk" else ([], [])
    )


def test_an_entry_that_one_machine_took_away_is_gone_and_nothing_of_it_is_asked(two: Two) -> None:
    (entry,) = two.says(two.desk, do.StartTimer(two.trip))
    started = two.desk.services.journal.tail().n
    two.meet()
    two.says(two.desk, do.UndoDeed((two.trip,), (started,), reopens=True))
    two.says(two.laptop, do.RetimeEntry(two.trip, entry, summary="Looked"))
    two.says(two.laptop, do.StopTimer("Called"))
    two.agree()
    assert [one.id for one in two.task(two.desk).time] == [two.entry]


# ------------------------------------------------------------------------------------- its number


def conflict(task: str, field: str, title: str = "Paint") -> ConflictDetails:
    return ConflictDetails(task, title, field, "values", "r1", ())


def test_each_has_a_number_that_no_other_begins_with_and_that_stays() -> None:
    found = numbered(conflict(f"t{n}", "title") for n in range(2_000))
    numbers = {one.number for one in found}
    assert len(numbers) == 2_000
    assert all(len(one) >= DIGITS for one in numbers)
    parts = {one[:count] for one in numbers for count in range(DIGITS, len(one))}
    assert not parts & numbers
    (alone,) = numbered([conflict("t1", "due")])
    both = numbered([conflict("t1", "due"), conflict("t2", "due")])
    assert both[0].number == alone.number, "when others are settled"


def test_two_of_one_task_and_field_are_both_told() -> None:
    found = numbered([conflict("", "circle", "One"), conflict("", "circle", "Two")])
    assert [one.title for one in found] == ["One", "Two"]


# ---------------------------------------------------------------------------------------- the card

LAKE = "湖"
HEADED = {
    "/catalog": "the category",
    "/policy": "the models for agents of all categories",
    "/templates": "the name of the template",
}


@pytest.fixture
def differing(tmp_path: Path) -> Path:
    """A desk that said "Hills" of a title of which a laptop said something else."""
    folder, desk = tmp_path / "folder", tmp_path / "desk"
    folder.mkdir()
    homes: dict[Path, dict[str, str]] = {
        desk: {},
        tmp_path / "laptop": {"WAKELOG_REPLICA": "laptop"},
    }
    done(["task", "add", "Trip"], desk)
    for home, env in homes.items():
        done(["sync", str(folder)], home, env=env)
        done(["replicas", "name", home.name], home, env=env)
    for title, (home, env) in zip(("Hills", LAKE), homes.items(), strict=True):
        done(["task", "set", "Trip", "--title", title], home, env=env)
    for home in (*homes, desk):
        done(["sync"], home, env=homes[home])
    return desk


def url_of(home: Path) -> str:
    (task,) = told(["task", "list"], home)
    return f"/tasks/{task['id']}"


def form_of(visitor: Visitor, url: str) -> Form:
    return visitor.form(url, f"{url}/settle", field="title")


@pytest.mark.slow
def test_both_texts_stand_on_the_card_and_one_press_keeps_one_or_both(
    differing: Path, tmp_path: Path
) -> None:
    desk = differing
    url, there = url_of(desk), shutil.copytree(desk, tmp_path / "there")
    with visiting(desk) as visitor:
        page = visitor.page(url)
        assert "Two machines differ on the title" in page
        for said in "Hills", LAKE, "Keep what desk says", "Keep what laptop says", "Keep both":
            assert said in page
        stands = visitor.json(url)["title"]
        form = form_of(visitor, url)
        (conflict,) = told(["conflicts"], desk)
        assert visitor.send(form, keep=f"both:{conflict['stands']}").status_code == 200
        assert f"{url}/settle" not in visitor.page(url)
        again = visitor.send(form, keep=f"both:{conflict['stands']}")
        assert again.status_code == 200  # the same press once more
    (task,) = told(["task", "list"], desk)
    (note,) = told(["task", "show", task["id"]], desk)["notes"]
    assert {task["title"], note["text"].rpartition(": ")[2]} == {"Hills", LAKE}
    assert task["title"] == stands
    proved(desk)
    with visiting(there) as visitor:
        form = form_of(visitor, url)
        done(["settle", url.rpartition("/")[2], "title", "--keep", "laptop"], there)
        late = visitor.send(form, keep=conflict["values"][0]["replica"])
        assert late.status_code in (409, 422)
        assert "changed or settled since" in late.text
    assert told(["task", "list"], there)[0]["title"] == LAKE


@pytest.mark.slow
def test_the_card_of_timers_and_of_a_circle_says_what_its_buttons_do(tmp_path: Path) -> None:
    home, task = differing_homes(tmp_path, "2027-01-01T09:00:00.000000Z")
    url = f"/tasks/{task}"
    done(["task", "note", task, "x" * 10_000], home)
    assert told(["status"], home)["conflicts"] == len(told(["conflicts"], home)) == 4
    assert "4 between machines" in done(["status"], home)
    kinds = ["values", "values", "timers", "cycle"]
    assert [one["kind"] for one in told(["conflicts", task], home)] == kinds
    with visiting(home) as visitor:
        for page in "/tasks", "/inbox":
            assert "Your machines differ on" in visitor.page(page)
        for said in (
            "Two machines differ on the due date",
            "Keep the timer of laptop",
            "Take the link of laptop away",
        ):
            assert said in visitor.page(url)
        for field in "timer", "blocks":
            form = visitor.form(url, f"{url}/settle", field=field)
            for _ in range(2):  # a slow double click
                assert visitor.send(form, keep="laptop").status_code == 200
    assert [one["kind"] for one in told(["conflicts"], home)] == ["values", "values"]


@pytest.fixture
def namers(tmp_path: Path) -> list[Place]:
    """Two machines that named and ruled the same things apart from each other."""
    desk, laptop = both = pair(tmp_path)
    for name in "Work", "Leaves":
        desk.said("category", "add", name)
    desk.said("template", "create", "Calm", "--general", "Be short.")
    for one in both:
        one.sync()
    for one in both:
        one.said("replicas", "name", one.home.name)
        one.said("category", "rename", "Work", f"{LAKE} {one.home.name}")
        one.said("template", "set", "Calm", "--name", f"Calm {one.home.name}")
    desk.said("policy", "models", "--every", "rules")
    laptop.said("policy", "models", "--every", "rules", "tape")
    desk.said("category", "add", "Plants")
    laptop.said("category", "rename", "Leaves", "plants")
    for one in (*both, desk):
        one.sync()
    return both


@pytest.mark.slow
def test_what_belongs_to_no_task_is_settled_on_the_page_that_shows_it(namers: list[Place]) -> None:
    desk = namers[0]
    with visiting(desk.home, env=desk.more) as visitor:
        for place, about in HEADED.items():
            assert f'<a href="{place}">{CONFLICT_PAGES[place]}</a>' in visitor.page("/tasks")
            assert f"Two machines differ on {about}" in text_of(visitor.page(place))
            form = visitor.form(place, "/settle")
            for _ in range(2):  # a slow double click
                assert visitor.send(form, keep="laptop").status_code == 200
            assert "/settle" not in visitor.page(place)
        assert "2 categories are called" in visitor.page("/catalog")
    desk.said("category", "rename", "Plants", "Garden")
    for one in (*namers, desk):
        one.sync()
    for one in namers:
        assert one.told("conflicts") == []
        assert f"{LAKE} laptop" in one.said("category", "list")
        assert "Calm laptop" in one.said("template", "list")
        assert "tape" in one.said("policy", "models", "--every")


# -------------------------------------------------------------------------- agents, on both doors

TASK = "Book the flight by Friday"
OPEN = ["agent:goal", "agent:name", "item:1"]


@pytest.fixture
def deciders(tmp_path: Path) -> list[Place]:
    """Each gave the agent a name and a goal, and decided of its proposal."""
    desk, laptop = pair(tmp_path)
    desk.said("task", "add", TASK)
    desk.said("agent", "create", "--task", TASK, "--name", "Ann")
    desk.said("wake")
    desk.sync()
    for one in desk, laptop:
        one.said("sync", str(one.folder))
        one.said("replicas", "name", one.home.name)
    for one in desk, laptop:
        one.sync()
    laptop.said("agent", "set", "Ann", "--name", "旅行", "--goal", "direct")
    laptop.said("reject", "desk/1.1", "--reason", "not sure")
    desk.said("agent", "set", "Ann", "--name", "Scout", "--goal", "cheap")
    desk.said("confirm", "1.1")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def fields(machine: Place) -> list[str]:
    return sorted(one["field"] for one in machine.told("conflicts"))


def goal(machine: Place, name: str = "Scout") -> str:
    return str(machine.told("agent", "show", name)["slots"]["primary_goal"]["value"])


@pytest.mark.slow
def test_both_show_what_was_said_and_one_settles_it(deciders: list[Place]) -> None:
    desk, laptop = deciders
    assert fields(desk) == fields(laptop) == OPEN
    here, there = desk.said("conflicts"), laptop.said("conflicts")
    assert "agent:name (the name of the agent '旅行')" in there
    assert '"Scout" on desk (you, 20' in there
    assert '"旅行" on laptop, which stands (you, 20' in there
    assert "(1.1 'Set due date to" in here
    assert "(desk/1.1 'Set due date to" in there
    assert "rejected (not sure) on laptop (you, 20" in there
    assert "confirmed on desk, which stands (you, 20" in there
    assert "not sure" in laptop.said("task", "show", TASK)
    assert desk.told("status")["conflicts"] == len(OPEN)
    assert "name desk" in laptop.refused("settle", TASK, "item:1", "--keep", "laptop")
    assert "no text" in laptop.refused("settle", TASK, "agent:goal", "--keep", "laptop", "--both")
    laptop.said("settle", TASK, "item:1", "--keep", "desk")
    laptop.said("settle", TASK, "agent:name", "--keep", "desk", "--key", "k")
    laptop.said("settle", TASK, "agent:name", "--keep", "desk", "--key", "k")
    assert "k" in laptop.refused("settle", TASK, "agent:name", "--keep", "laptop", "--key", "k")
    agent = laptop.told("agent", "show", "Scout")["id"]
    laptop.said("settle", TASK, f"agent:{agent}:goal", "--keep", "desk")
    for one in laptop, desk:
        one.sync()
        assert fields(one) == []
        assert goal(one) == "cheap"
        assert "Proved" in one.said("prove")


@pytest.mark.slow
def test_the_card_settles_them_and_offers_of_verdicts_what_stands(deciders: list[Place]) -> None:
    laptop = deciders[1]
    task = laptop.told("conflicts")[0]["task"]
    env = {"WAKELOG_REPLICA": "laptop", "WAKELOG_TIMEZONE": "UTC"}
    with visiting(laptop.home, env=env) as visitor:
        url = f"/tasks/{task}"
        page = text_of(visitor.page(url))
        assert HEADINGS["verdicts"] in page
        assert "desk/1.1 " in page
        assert "Two machines differ on the goal of the agent" in page
        assert "Keep it confirmed" in page
        assert "Keep it rejected" not in page
        for field in OPEN:
            form = visitor.form(url, f"{url}/settle", field=field)
            for _ in range(2):  # a slow double click
                assert visitor.send(form, keep="desk").status_code == 200
        late = visitor.send(form, nonce="another-one", keep="desk")
        assert "changed or settled since" in late.text
        assert f"{url}/settle" not in visitor.page(url)
    assert fields(laptop) == []


@pytest.mark.slow
def test_what_is_of_no_task_is_settled_by_the_word_agents(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("task", "add", "Trip")  # its category is made
    desk.said("template", "create", "Calm", "--general", "as it was")
    for one in desk, laptop, desk:
        one.sync()
    for one in desk, laptop:
        one.said("template", "version", "Calm", "--general", f"of the {one.home.name}")
        one.said("policy", "models", "Inbox", "rules", *(["gemini:*"] if one is desk else []))
    for one in desk, laptop, desk:
        one.sync()
    told = desk.said("conflicts")
    assert "agents Calm\n     template:active (the active version of the template)\n" in told
    assert '"version 2: of the desk" on desk (you, 20' in told
    assert '"version 2: of the laptop" on laptop' in told
    found = {one["field"]: one for one in desk.told("conflicts")}
    (rule,) = (field for field in found if field.startswith("models:"))
    assert "(the models for agents of Inbox)\n" in told
    assert {one["value"] for one in found[rule]["values"]} == {"gemini:*, rules", "rules"}
    assert found[rule]["task"] == ""
    desk.said("settle", "agents", "template:active", "--keep", "desk")
    desk.said("settle", "agents", rule, "--keep", "laptop")
    for one in desk, laptop:
        one.sync()
        assert fields(one) == []
    active = [
        one["general"]
        for one in laptop.told("template", "show", "Calm")["versions"]
        if one["active"]
    ]
    assert active == ["of the desk"]
    with visiting(laptop.home, env={"WAKELOG_REPLICA": "laptop"}) as visitor:
        assert "Your machines differ" not in visitor.page("/tasks")


@pytest.mark.slow
def test_what_a_machine_settled_under_a_forked_name_is_settled_after_its_rescue(
    deciders: list[Place], tmp_path: Path
) -> None:
    desk, laptop = deciders
    image = Path(shutil.copytree(desk.home, tmp_path / "image"))
    desk.said("task", "add", "Another")
    desk.sync()
    old = Rescued(image, "desk")
    env = {**old.environ, "WAKELOG_NOW": cli.NOW}
    for field, keep in ("agent:name", "laptop"), ("agent:goal", "desk"), ("item:1", "desk"):
        cli.done(["settle", TASK, field, "--keep", keep], image, env=env)
    report = old.rescue(desk.folder, "desk2")
    assert (report.refused, report.redone) == ([], 3)
    for one in laptop, desk:
        one.sync()
        assert fields(one) == []
        assert goal(one, "旅行") == "cheap"
        assert "Proved" in one.said("prove")
