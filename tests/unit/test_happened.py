"""What happened to a task in words: a sentence for each fact, and the fields that it says."""

from typing import Any, get_args

import pytest

from adapters.text.task_facts import KINDS, FactNames, concerns, did, kind_of
from adapters.web.filters import PLAIN, absolute, by_whom, plainly, took
from domain.journal import task as t
from domain.journal.catalog import Catalog
from domain.journal.task import ChecklistItem, Link, Task, TaskFact
from domain.log.wire import Words

ME = "person"
NAMES = FactNames(Catalog("main"), lambda task: f"title of {task}")
BEFORE = Task(
    "t", title="Old", status="OPEN", due="2027-01-01", estimate=90, category="home",
    items=(ChecklistItem("i1", "c", "Sand it", ME),), links=(Link("blocks", "u"),),
)  # fmt: skip
TABLE: list[tuple[Any, str, tuple[str, ...], str]] = [
    (t.TaskCreated(ME, "A", "home"), "made the task “A”", ("title", "category", "status"), ""),
    (t.TaskRetitled(ME, "New"), "changed the title from “Old” to “New”", ("title",), ""),
    (t.TaskDescribed(ME, Words("x")), "changed the description", ("description",), ""),
    (
        t.StatusSet(ME, "BLOCKED", "rain"),
        "changed the status from OPEN to BLOCKED, because “rain”",
        ("status",),
        "",
    ),
    (t.PrioritySet(ME, "P0"), "changed the priority from P2 to P0", ("priority",), ""),
    (t.EstimateSet(ME, 0), "took away the estimate (1h30m)", ("estimate",), ""),
    (
        t.DueSet(ME, "2027-02-01"),
        "changed the due date from 2027-01-01 to 2027-02-01",
        ("due",),
        "",
    ),
    (t.LanguageSet(ME, "en"), "set the language to en", ("language",), ""),
    (t.CategorySet(ME, "work"), "changed the category from home to work", ("category",), ""),
    (t.LabelAssigned(ME, "l"), "put the label “l” on", ("label:l",), ""),
    (t.LabelRemoved(ME, "l"), "took the label “l” off", ("label:l",), ""),
    (t.LabelSuppressed(ME, "l"), "said that no agent may propose the label “l”", (), ""),
    (t.LabelAllowed(ME, "l"), "let agents propose the label “l” again", (), ""),
    (t.ChecklistAdded(ME, "c", "C"), "began a checklist", (), "checklist"),
    (
        t.ItemAdded(ME, "c", "i2", "Paint", is_checked=True, moved_from="i0"),
        "added the item “Paint”, ticked, moved here from another task",
        ("item:i2", "tick:i2"),
        "checklist",
    ),
    (
        t.ItemRetitled(ME, "i1", "Sand"),
        "renamed the item “Sand it” to “Sand”",
        ("item:i1",),
        "checklist",
    ),
    (
        t.ItemChecked(ME, "i1", "done"),
        "ticked the item “Sand it”, because done",
        ("tick:i1",),
        "checklist",
    ),
    (t.ItemUnchecked(ME, "i1"), "unticked the item “Sand it”", ("tick:i1",), "checklist"),
    (t.ItemArchived(ME, "i1"), "put away the item “Sand it”", (), "checklist"),
    (t.ItemRestored(ME, "i9"), "brought back the item “i9”", (), "checklist"),
    (t.NoteAdded(ME, "n", "note", Words("x")), "added a note", ("note:n",), "notes"),
    (t.NoteEdited(ME, "n", Words("y")), "changed a note", ("note:n",), "notes"),
    (t.NoteRemoved(ME, "n"), "removed a note", (), "notes"),
    (t.TimeStarted(ME, "e", "s"), "started the timer", ("time:e",), "time"),
    (t.TimeStopped(ME, "e", "s", "Sanded"), "stopped the timer: “Sanded”", ("time:e",), "time"),
    (t.TimeLogged(ME, "e", "s", "s"), "entered time", ("time:e",), "time"),
    (t.TimeEdited(ME, "e"), "corrected a time entry", ("time:e",), "time"),
    (t.TimeReopened(ME, "e", "s"), "let the timer run on", ("time:e",), "time"),
    (t.TimeRemoved(ME, "e"), "took a time entry away", ("time:e",), "time"),
    (t.TaskRated(ME, "", 4, "Fine"), "rated it 4 of 5: “Fine”", ("rating",), "time"),
    (
        t.TaskLinked(ME, "blocks", "u"),
        "linked it: blocks “title of u”",
        ("link:blocks:u",),
        "links",
    ),
    (
        t.TaskUnlinked(ME, "blocks", "u"),
        "took away the link: blocks “title of u”",
        ("link:blocks:u",),
        "links",
    ),
    (t.TaskDeleted(ME), "deleted the task", (), ""),
    (t.TaskRestored(ME), "brought the task back", (), ""),
    (t.TaskImported("import:f", "p"), "was compared with the task", (), "file"),
    (
        t.DifferenceSettled(ME, "due", "file", "p"),
        "settled the due date: kept what the file says",
        (),
        "file",
    ),
    (
        t.DeedUndone(ME, (3,)),
        "took back what was said between the task and its file",
        (),
        "file",
    ),
]


@pytest.mark.parametrize(("fact", "said", "fields", "kind"), TABLE, ids=lambda one: "")
def test_each_fact_has_a_sentence_the_fields_that_it_says_and_a_kind(
    fact: Any, said: str, fields: tuple[str, ...], kind: str
) -> None:
    assert did(fact, BEFORE, NAMES) == said
    assert concerns(fact) == fields
    assert kind_of(fact) == (kind or "fields")
    assert kind_of(fact) in KINDS


def test_no_fact_of_a_task_is_left_out() -> None:
    assert {type(one[0]) for one in TABLE} == set(get_args(TaskFact))


@pytest.mark.parametrize(
    ("seconds", "told"), [("00.5", "0.5 s"), ("59", "59 s"), ("60", "1 min"), ("3661", "1 h 1 min")]
)
def test_a_length_of_time_has_its_two_coarsest_units(seconds: str, told: str) -> None:
    whole, _, part = seconds.partition(".")
    hours, rest = divmod(int(whole), 3600)
    end = f"2027-01-01T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.{part:0<6}Z"
    assert took("2027-01-01T00:00:00.000000Z", end) == told


def test_words_of_the_log_are_said_plainly_and_others_stay() -> None:
    assert not PLAIN.keys() & {"OPEN", "P1", "confirmed", "rejected"}
    assert [plainly(one) for one in ("stale", "BLOCKED", "in_doubt")] == [
        "out of date",
        "BLOCKED",
        "in doubt",
    ]
    assert by_whom("rules") == "rules"
    year = absolute("2025-01-02T12:00:00.000000Z", "2027-01-01T00:00:00.000000Z", "UTC")
    assert year == "Thu 2 Jan 2025 12:00"
