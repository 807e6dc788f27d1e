"""The table of what merges how, line by line: what two sides said without knowing of each other,
what stands then, what is shown, and that a row which knows both sides closes it (ADR 71). What a
replica knew at an append (ADR 70), and what is decided on a world of several."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest

from domain.append.causes import LogShared, ReplicasImported
from domain.append.envelope import JournalFact
from domain.errors import Damaged
from domain.handlers.journal import link_task
from domain.handlers.resolve_conflict import fact_of_task
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import links as li
from domain.journal import task as t
from domain.journal import timer as ti
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Imported, Stored, Words
from domain.replication.merge import cycle_conflicts
from domain.replication.merge_rules import JOURNAL_RULES
from domain.replication.version_vectors import VersionVectors
from tests.support.services import START
from tests.support.sides import Sides

ME, AGENT, FILE = "person", "agent:a1", "import:markdown"
CREATED = t.TaskCreated(ME, "Trip", "c1")
ITEM = t.ItemAdded(ME, "l1", "i1", "Milk")
NOTE = t.NoteAdded(ME, "n1", "note", Words("as it was"))
TIMED = t.TimeStarted(ME, "e1", START)
BASE = (CREATED, t.ChecklistAdded(ME, "l1", "Checklist"), ITEM, NOTE, TIMED)
CATALOG, TIMER = "catalog:main", "timer:main"


def both(*base: Stored, of: str = "task:t1") -> Sides:
    """Two replicas that know the same."""
    sides = Sides()
    sides.says("desk", *(base or BASE), of=of)
    sides.meet("desk", "phone")
    return sides


def apart(desk: Stored, phone: Stored) -> Sides:
    """Each says one thing; desk stands first in canonical order."""
    sides = both()
    sides.says("desk", desk)
    sides.says("phone", phone)
    return sides


def shown(sides: Sides, of: str = "task:t1") -> list[Any]:
    return [
        (one.kind, one.field, one.stands, [(side.row.replica, side.value) for side in one.sides])
        for one in sides.open(of)
    ]


def item(task: t.Task) -> t.ChecklistItem:
    return task.items[0]


FIELDS: dict[str, tuple[Stored, Stored, Any, Any]] = {
    "title": (t.TaskRetitled(ME, "A"), t.TaskRetitled(ME, "B"), "A", "B"),
    "description": (
        t.TaskDescribed(ME, Words("A")),
        t.TaskDescribed(ME, Words("B")),
        Words("A"),
        Words("B"),
    ),
    "status": (
        t.StatusSet(ME, "DONE"),
        t.StatusSet(ME, "BLOCKED", "rain"),
        ("DONE", ""),
        ("BLOCKED", "rain"),
    ),
    "priority": (t.PrioritySet(ME, "P0"), t.PrioritySet(ME, "P1"), "P0", "P1"),
    "estimate": (t.EstimateSet(ME, 5), t.EstimateSet(ME, 0), 5, 0),
    "due": (t.DueSet(ME, "2027-02-01"), t.DueSet(ME, ""), "2027-02-01", ""),
    "language": (t.LanguageSet(ME, "de"), t.LanguageSet(ME, "en"), "de", "en"),
    "category": (t.CategorySet(ME, "c2"), t.CategorySet(ME, "c3"), "c2", "c3"),
    "label:b": (t.LabelAssigned(ME, "b"), t.LabelRemoved(ME, "b"), True, False),
    "suppressed:b": (t.LabelSuppressed(ME, "b"), t.LabelAllowed(ME, "b"), True, False),
    "link:fixes:t2": (
        t.TaskLinked(ME, "fixes", "t2"),
        t.TaskUnlinked(ME, "fixes", "t2"),
        True,
        False,
    ),
    "item:i1:title": (t.ItemRetitled(ME, "i1", "A"), t.ItemRetitled(ME, "i1", "B"), "A", "B"),
    "item:i1:checked": (t.ItemChecked(ME, "i1"), t.ItemUnchecked(ME, "i1"), True, False),
    "item:i1:archived": (t.ItemArchived(ME, "i1"), t.ItemRestored(ME, "i1"), True, False),
    "note:n1": (
        t.NoteEdited(ME, "n1", Words("A")),
        t.NoteEdited(ME, "n1", Words("B")),
        Words("A"),
        Words("B"),
    ),
    "entry:e1:end": (
        t.TimeStopped(ME, "e1", "2027-01-01T01"),
        t.TimeStopped(ME, "e1", "2027-01-01T02"),
        "2027-01-01T01",
        "2027-01-01T02",
    ),
    "entry:e1:start": (
        t.TimeEdited(ME, "e1", start="2026-01-01"),
        t.TimeEdited(ME, "e1", start="2025-01-01"),
        "2026-01-01",
        "2025-01-01",
    ),
    "entry:e1:summary": (
        t.TimeEdited(ME, "e1", summary="A"),
        t.TimeEdited(ME, "e1", summary=""),
        "A",
        "",
    ),
    "rating": (t.TaskRated(ME, "", 1), t.TaskRated(ME, "", 5), (1, ""), (5, "")),
}


def test_every_fact_of_the_journal_stands_in_the_table() -> None:
    assert set(JOURNAL_RULES) == set(get_args(JournalFact))


@pytest.mark.parametrize("field", FIELDS)
def test_of_two_values_the_last_stands_and_both_are_shown_until_somebody_knows_them(
    field: str,
) -> None:
    desk, phone, first, last = FIELDS[field]
    sides = apart(desk, phone)
    assert sides.counted() == sides.of()
    assert shown(sides) == [("values", field, last, [("desk", first), ("phone", last)])]
    sides.meet("desk", "phone")
    assert len(shown(sides)) == 1  # to know of it is not to settle it
    sides.says("desk", desk)
    assert shown(sides) == []
    assert sides.state() == sides.state()
    assert sides.counted()[-1].fact == desk


@pytest.mark.parametrize("field", FIELDS)
def test_two_sides_that_say_the_same_do_not_differ(field: str) -> None:
    desk = FIELDS[field][0]
    assert shown(apart(desk, desk)) == []


def test_a_file_that_both_import_asks_nobody_for_a_verdict() -> None:
    sides = apart(t.TaskImported(FILE, "p1"), t.TaskImported(FILE, "p2"))
    assert sides.state().imported == (("markdown", "p2"),)
    assert shown(sides) == []


def test_different_fields_do_not_meet() -> None:
    sides = apart(t.TaskRetitled(ME, "A"), t.DueSet(ME, "2027-02-01"))
    assert (sides.state().title, sides.state().due) == ("A", "2027-02-01")
    assert shown(sides) == []


@pytest.mark.parametrize(("strong", "weak"), [(ME, AGENT), (ME, FILE), (FILE, AGENT)])
def test_what_a_person_says_is_not_overruled_by_an_agent_elsewhere(strong: str, weak: str) -> None:
    for desk, phone in (strong, weak), (weak, strong):
        sides = apart(t.TaskRetitled(desk, desk), t.TaskRetitled(phone, phone))
        assert sides.state().title == strong
        assert shown(sides) == [
            ("values", "title", strong, [("desk", desk), ("phone", phone)]),
        ]
        assert [side.by for side in sides.open()[0].sides] == [desk, phone]
        sides.meet("desk", "phone")
        sides.says("phone", t.TaskRetitled(weak, "seen"))
        assert sides.state().title == "seen"
        assert shown(sides) == []


def test_an_agents_value_that_lost_does_not_take_away_what_it_replaced() -> None:
    sides = apart(t.TaskRetitled(ME, "desk"), t.TaskRetitled(ME, "phone"))
    sides.says("phone", t.TaskRetitled(AGENT, "agent"))
    assert sides.state().title == "phone"
    assert [value for _, value in shown(sides)[0][3]] == ["desk", "phone", "agent"]


def test_a_link_stands_alike_at_both_ends_whoever_made_it() -> None:
    for by in ME, AGENT:
        sides = both()
        for replica, made in ("desk", by), ("phone", AGENT):
            linked = replica == "desk"
            task = t.TaskLinked if linked else t.TaskUnlinked
            far = li.LinkedFrom if linked else li.UnlinkedFrom
            sides.says(replica, task(made, "blocks", "t2"))
            sides.rows.append(
                sides.rows[-1].__class__(
                    f"links:t2@{replica}", 1, replica, sides.rows[-1].n, 1, "", far("blocks", "t1")
                )
            )
        assert sides.state().links == ()
        assert sides.state("links:t2").incoming == ()


def test_the_same_item_added_twice_is_one() -> None:
    sides = both(CREATED)
    sides.says("desk", ITEM)
    sides.says("phone", ITEM)
    assert [one.id for one in sides.state().items] == ["i1"]
    assert shown(sides) == []


def test_an_item_that_one_side_ticked_and_the_other_added_again_is_shown() -> None:
    sides = both(CREATED)
    sides.says("desk", ITEM)
    sides.says("desk", t.ItemChecked(ME, "i1"))
    sides.says("phone", ITEM)
    assert item(sides.state()).is_checked
    assert [one[:3] for one in shown(sides)] == [("values", "item:i1:checked", True)]
    sides.meet("desk", "phone")
    sides.says("phone", t.ItemUnchecked(ME, "i1"))
    assert shown(sides) == []


def test_a_task_that_both_import_is_one_and_another_title_of_it_is_shown() -> None:
    sides = Sides()
    sides.says("desk", t.TaskCreated(FILE, "Trip", "c1"))
    sides.says("phone", t.TaskCreated(FILE, "The trip", "c1"))
    assert sides.state().title == "Trip"
    assert [one[:3] for one in shown(sides)] == [("values", "title", "Trip")]


def test_notes_times_checklists_and_corrections_of_both_sides_stay() -> None:
    sides = both(CREATED)
    for one in "desk", "phone":
        sides.says(
            one,
            t.NoteAdded(ME, one, "note", Words(one)),
            t.TimeLogged(ME, one, START, START),
            t.ChecklistAdded(ME, one, one),
        )
        sides.says(one, c.CorrectionCaptured("c1", one, one), of=CATALOG)
    task = sides.state()
    for parts in task.notes, task.time, task.checklists:
        assert [part.id for part in parts] == ["desk", "phone"]
    corrections = sides.state(CATALOG).categories["c1"].corrections
    assert [one.before for one in corrections] == ["desk", "phone"]
    assert shown(sides) + shown(sides, CATALOG) == []


def test_a_note_that_somebody_took_back_and_wrote_again_is_there() -> None:
    sides = both()
    sides.says("phone", t.DueSet(ME, "2027-02-01"))
    sides.says("desk", t.NoteRemoved(ME, "n1"))
    sides.says("desk", NOTE)
    assert [one.id for one in sides.state().notes] == ["n1"]


@pytest.mark.parametrize("edit", [t.TaskRetitled(ME, "B"), NOTE, t.TaskRestored(ME)])
def test_a_task_that_one_side_deleted_and_a_person_edited_stays_and_is_shown(edit: Stored) -> None:
    for order in ("desk", "phone"), ("phone", "desk"):
        sides = both()
        deleted = sides.says(order[0], t.TaskDeleted(ME))
        edited = sides.says(order[1], edit)
        assert not sides.state().is_deleted
        (conflict,) = sides.open()
        assert (conflict.kind, conflict.field, conflict.stands) == ("removal", "deleted", False)
        assert {side.row: side.value for side in conflict.sides} == {deleted: True, edited: False}
        for settled in t.TaskDeleted(ME), t.TaskRestored(ME):
            sides.meet("desk", "phone")
            sides.says("desk", settled)
            assert sides.state().is_deleted == isinstance(settled, t.TaskDeleted)
            assert sides.open() == []


@pytest.mark.parametrize("by", [AGENT, FILE])
def test_no_agent_or_file_brings_back_what_a_person_deleted(by: str) -> None:
    sides = apart(t.TaskDeleted(ME), t.TaskRetitled(by, "B"))
    assert sides.state().is_deleted
    assert shown(sides) == []


def test_who_deletes_what_the_other_edited_before_knows_it() -> None:
    sides = both()
    sides.says("phone", t.TaskRetitled(ME, "B"))
    sides.meet("desk", "phone")
    sides.says("desk", t.TaskDeleted(ME))
    assert sides.state().is_deleted
    assert shown(sides) == []


def test_a_note_that_one_side_removed_and_a_person_edited_stays_and_is_shown() -> None:
    sides = apart(t.NoteRemoved(ME, "n1"), t.NoteEdited(ME, "n1", Words("B")))
    assert [one.words.text for one in sides.state().notes] == ["B"]
    assert [one[:3] for one in shown(sides)] == [("removal", "note:n1", False)]
    sides.meet("desk", "phone")
    sides.says("desk", t.DueSet(ME, "2027-02-01"))
    assert len(shown(sides)) == 1  # that is about the task, not the note
    sides.says("desk", t.NoteRemoved(ME, "n1"))
    assert (sides.state().notes, shown(sides)) == ((), [])


def test_a_note_that_only_an_agent_edited_goes() -> None:
    sides = apart(t.NoteRemoved(ME, "n1"), t.NoteEdited(AGENT, "n1", Words("B")))
    assert (sides.state().notes, shown(sides)) == ((), [])


def test_a_circle_of_links_that_two_sides_made_stays_and_is_shown() -> None:
    sides = Sides()
    for one in "t1", "t2", "t3":
        sides.says("desk", CREATED, of=f"task:{one}")
    sides.says("desk", t.TaskLinked(ME, "blocks", "t3"), of="task:t2")
    sides.meet("desk", "phone")
    sides.says("desk", t.TaskLinked(ME, "blocks", "t2"), of="task:t1")
    sides.says("phone", t.TaskLinked(ME, "blocks", "t1"), of="task:t3")

    def circles() -> list[Any]:
        tasks = {one: sides.counted(f"task:{one}") for one in ("t1", "t2", "t3")}
        return [
            (one.kind, [side.value for side in one.sides], [side.row.replica for side in one.sides])
            for one in cycle_conflicts(tasks)
        ]

    edges = [("t2", "t3"), ("t1", "t2"), ("t3", "t1")]
    assert circles() == [("cycle", edges, ["desk", "desk", "phone"])]
    sides.meet("desk", "phone")
    sides.says("phone", t.TaskUnlinked(ME, "blocks", "t1"), of="task:t3")
    assert circles() == []


def test_two_categories_or_labels_of_one_name_both_stay_and_are_shown() -> None:
    sides = both(c.CategoryAdded("c1", "Home"), c.CategoryAdded("c2", "House"), of=CATALOG)
    sides.says("desk", c.CategoryRenamed("c1", "Flat"), of=CATALOG)
    sides.says("phone", c.CategoryRenamed("c2", "flat"), of=CATALOG)
    found = c.find_category(sides.state(CATALOG), "flat")
    assert found is not None
    assert found.id == "c1"
    assert shown(sides, CATALOG) == [
        ("values", "category:c1:name", "c1", [("desk", "c1"), ("phone", "c2")])
    ]
    sides.meet("desk", "phone")
    sides.says("desk", c.CategoryRenamed("c2", "Yard"), of=CATALOG)
    assert shown(sides, CATALOG) == []


# ------------------------------------------------------------------------------------------ settled


LINK = "link:fixes:t2"


@pytest.mark.parametrize("field", [one for one in FIELDS if one != LINK])
@pytest.mark.parametrize("nth", [0, 1])
def test_either_value_of_a_field_can_be_chosen(field: str, nth: int) -> None:
    sides = apart(*FIELDS[field][:2])
    (conflict,) = sides.open()
    sides.meet("desk", "phone")
    fact = fact_of_task(conflict.field, conflict.sides[nth].value)
    assert fact is not None
    sides.says("phone", fact)
    assert sides.open() == []
    only = apart(*FIELDS[field][:2])
    only.meet("desk", "phone")
    only.says("phone", FIELDS[field][nth])
    assert sides.state() == only.state()


@pytest.mark.parametrize("goes", [True, False])
def test_a_deletion_that_was_left_out_is_done_or_dropped(goes: bool) -> None:
    sides = apart(t.TaskDeleted(ME), t.TaskRetitled(ME, "B"))
    sides.meet("desk", "phone")
    fact = fact_of_task(sides.open()[0].field, goes)
    assert fact is not None
    sides.says("desk", fact)
    assert (sides.state().is_deleted, sides.open()) == (goes, [])


@pytest.mark.parametrize("field", [LINK, "blocks", "item:i1:colour"])
def test_what_is_no_field_of_one_task_has_no_fact(field: str) -> None:
    assert fact_of_task(field, True) is None


def test_a_rating_of_an_entry_is_chosen_like_one_of_the_task() -> None:
    assert fact_of_task("rating:e1", (4, "")) == t.TaskRated(ME, "e1", 4)


# ----------------------------------------------------------------------------------- what was known


def marker(**named: int) -> ReplicasImported:
    return ReplicasImported(tuple(Imported(name, n) for name, n in named.items()))


def written(replica: str, n: int, nth: int = 0) -> RecordedEvent:
    return RecordedEvent(f"task:t1@{replica}", 1, replica, n, nth, START, LogShared())


def test_a_replica_knows_its_own_rows_and_what_its_markers_before_name() -> None:
    horizons = VersionVectors()
    horizons.took("laptop", 6, marker(desk=5))
    assert horizons.until("laptop", 6) == {"laptop": 5}
    assert horizons.until("laptop", 7) == {"laptop": 6, "desk": 5}
    assert horizons.knows(written("laptop", 7), written("desk", 5))
    assert not horizons.knows(written("laptop", 7), written("desk", 6))
    assert not horizons.knows(written("laptop", 5), written("desk", 5))
    assert not horizons.knows(written("desk", 9), written("laptop", 1))
    assert horizons.knows(written("desk", 9), written("desk", 9, 1))


def test_who_knows_an_append_knows_what_its_writer_knew() -> None:
    horizons = VersionVectors()
    horizons.took("laptop", 6, marker(desk=5))
    horizons.took("phone", 8, marker(laptop=7))
    horizons.took("stick", 7, marker(laptop=4))
    assert horizons.until("phone", 9) == {"phone": 8, "laptop": 7, "desk": 5}
    assert horizons.until("stick", 8) == {"stick": 7, "laptop": 4}


def test_a_marker_that_is_told_again_or_names_less_takes_nothing_away() -> None:
    horizons = VersionVectors()
    horizons.took("laptop", 6, marker(desk=5))
    horizons.took("laptop", 6, marker(desk=5, phone=3))
    horizons.took("laptop", 9, marker(desk=4))
    assert horizons.until("laptop", 10) == {"laptop": 9, "desk": 5}


# -------------------------------------------------------------------- decided on a world of several


TIMER, LATER = "timer:main", "2027-03-01T00:00:00.000000Z"


def world() -> LogState:
    sides = Sides()
    for replica in "desk", "phone":
        task = f"task:{replica}"
        sides.says(replica, t.TaskCreated("person", replica, "c1"), of=task)
        sides.says(replica, t.TimeStarted("person", f"e-{replica}", START), of=task)
        sides.says(replica, ti.TimerStarted(replica, f"e-{replica}"), of=TIMER)
    sides.says("desk", t.TaskLinked("person", "blocks", "phone"), of="task:desk")
    sides.says("phone", t.TaskLinked("person", "blocks", "desk"), of="task:phone")
    sides.says("desk", t.TaskCreated("person", "third", "c1"), of="task:third")
    return LogState(
        "journal",
        "desk",
        9,
        lambda stream, after: [row for row in sides.rows if row.stream == stream][after:],
        lambda _: None,
        replicas=("phone",),
    )


def test_a_world_that_cannot_list_its_streams_says_so() -> None:
    with pytest.raises(Damaged, match="the streams of journal cannot be listed here"):
        world().entities("task")


def test_a_search_through_a_circle_of_links_ends() -> None:
    """Both block each other, which no decider allows; a third task may still block one of them."""
    linked = link_task(do.LinkTask("third", "blocks", "desk"), "k", LATER, world()).events
    assert [type(fact).__name__ for _, fact in linked] == ["TaskLinked", "LinkedFrom"]
    for phrase in "blocks", "is_blocked_by":
        assert link_task(do.LinkTask("desk", phrase, "phone"), "k", LATER, world()).events == []
    further = link_task(do.LinkTask("desk", "blocks", "third"), "k", LATER, world()).events
    assert len(further) == 2


def test_the_version_of_a_counted_stream_is_known_without_reading_it() -> None:
    def read(stream: str, after: int) -> Sequence[RecordedEvent]:
        raise AssertionError(f"{stream} was read above {after}")

    world = LogState("journal", "desk", 9, read, lambda _: None, counts={"log:main@desk": 7})
    assert world.version("log:main@desk") == 7
    assert world.version("log:main@laptop") == 0
