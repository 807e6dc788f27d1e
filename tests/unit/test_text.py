"""What a person is told in words, on each screen and in few columns."""

import re
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from adapters.text import remedies
from adapters.text.columns import cut, table_lines, wrapped
from adapters.text.task_facts import KINDS, FactNames, concerns, did, kind_of
from adapters.web import remedies as of_the_page
from adapters.web.filters import PLAIN, absolute, by_whom, plainly, took
from domain.errors import Refused, Remedy, RemedyName
from domain.journal import task as t
from domain.journal.catalog import Catalog
from domain.journal.task import ChecklistItem, Link, Task, TaskFact
from domain.log.wire import Words
from tests.support.process import ROOT

# -------------------------------------------------------------------------------- remedies (ADR 35)


NOT_ON_THE_PAGE = {
    "allow_category",
    "await_wake_or_recover",
    "recover_wake",
    "see_categories",
    "see_labels",
}
"""Deeds that only the command line has: the page names the command."""


REMEDIES: tuple[RemedyName, ...] = get_args(RemedyName)


@pytest.mark.parametrize("words", [remedies.WORDS, of_the_page.WORDS])
def test_each_screen_has_words_for_every_remedy(words: dict[RemedyName, str]) -> None:
    assert list(words) == sorted(REMEDIES) == list(REMEDIES)
    for said in words.values():
        told = said.format("1234abcd")
        assert told
        assert "{" not in told


def test_the_page_names_a_command_only_where_it_has_no_such_deed() -> None:
    named = {name for name, said in of_the_page.WORDS.items() if "`wakelog " in said}
    assert named == NOT_ON_THE_PAGE


def test_what_the_page_tells_to_press_or_to_open_stands_on_the_page() -> None:
    folder = ROOT / "adapters" / "web" / "templates"
    pages = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.html"))
    for said in of_the_page.WORDS.values():
        for name in re.findall("“(.+?)”", said):
            assert re.search(rf'(>|"){name}(<|")', pages), name


@pytest.mark.parametrize("folder", ["domain", "projections", "replay"])
def test_the_core_knows_no_command_line(folder: str) -> None:
    found = [
        path.relative_to(ROOT)
        for path in sorted(Path(ROOT / folder).rglob("*.py"))
        if "`wakelog " in path.read_text(encoding="utf-8")
    ]
    assert found == [], "a refusal there names a remedy: domain/errors.py"


def test_a_refusal_is_told_in_the_words_of_each_screen_and_a_program_has_the_name() -> None:
    remedy = Remedy("restore_task", "1234abcd")
    refused = Refused("task_deleted", because="the task 'A' is deleted", instead=remedy)
    assert refused.remedy == ("restore_task", "1234abcd")
    typed = "the task 'A' is deleted; bring it back with `wakelog task restore 1234abcd`"
    assert remedies.in_words(refused) == typed
    clicked = "the task 'A' is deleted; “Restore the task” on its page brings it back"
    assert of_the_page.in_words(refused) == clicked
    assert str(refused) == "the task 'A' is deleted; restore task 1234abcd"


def test_a_remedy_in_words_is_told_as_it_is() -> None:
    refused = Refused("invalid_value", because="it is too long", instead="use less {words}")
    for screen in (remedies, of_the_page):
        assert screen.in_words(refused) == str(refused) == "it is too long; use less {words}"
        assert screen.in_words("a text") == "a text"
        assert screen.in_words(OSError("no disk")) == "no disk"


# -------------------------------------------------------------------------- what happened to a task


ME = "person"
NAMES = FactNames(Catalog("main"), str.upper)
BEFORE = Task(
    "t", title="Old", status="OPEN", due="2027-01-01", estimate=90, category="home",
    items=(ChecklistItem("i1", "c", "Sand it", ME),), links=(Link("blocks", "u"),),
)  # fmt: skip
OF_A_FILE = "took back what was said between the task and its file"
TABLE: dict[str, list[tuple[Any, str, str]]] = {
    "fields": [
        (t.TaskCreated(ME, "A", "home"), "made the task “A”", "title category status"),
        (t.TaskRetitled(ME, "New"), "changed the title from “Old” to “New”", "title"),
        (t.TaskDescribed(ME, Words("x")), "changed the description", "description"),
        (
            t.StatusSet(ME, "DONE", "ok"),
            "changed the status from OPEN to DONE, because “ok”",
            "status",
        ),
        (t.PrioritySet(ME, "P0"), "changed the priority from P2 to P0", "priority"),
        (t.EstimateSet(ME, 0), "took away the estimate (1h30m)", "estimate"),
        (t.DueSet(ME, "2027-02-01"), "changed the due date from 2027-01-01 to 2027-02-01", "due"),
        (t.LanguageSet(ME, "en"), "set the language to en", "language"),
        (t.RepeatSet(ME, "FREQ=WEEKLY"), "set the repeat to every week", "repeat"),
        (t.WaitSet(ME, "2027-01-03"), "set the wait to 2027-01-03", "wait_until"),
        (t.CategorySet(ME, "work"), "changed the category from home to work", "category"),
        (t.LabelAssigned(ME, "l"), "put the label “l” on", "label:l"),
        (t.LabelRemoved(ME, "l"), "took the label “l” off", "label:l"),
        (t.LabelSuppressed(ME, "l"), "said that no agent may propose the label “l”", ""),
        (t.LabelAllowed(ME, "l"), "let agents propose the label “l” again", ""),
        (t.TaskDeleted(ME), "deleted the task", ""),
        (t.TaskRestored(ME), "brought the task back", ""),
    ],
    "checklist": [
        (t.ChecklistAdded(ME, "c", "C"), "began a checklist", ""),
        (
            t.ItemAdded(ME, "c", "i2", "Paint", is_checked=True, moved_from="i0"),
            "added the item “Paint”, ticked, moved here from another task",
            "item:i2 tick:i2",
        ),
        (t.ItemRetitled(ME, "i1", "Sand"), "renamed the item “Sand it” to “Sand”", "item:i1"),
        (t.ItemChecked(ME, "i1", "done"), "ticked the item “Sand it”, because done", "tick:i1"),
        (t.ItemUnchecked(ME, "i1"), "unticked the item “Sand it”", "tick:i1"),
        (t.ItemArchived(ME, "i1"), "put away the item “Sand it”", ""),
        (t.ItemRestored(ME, "i9"), "brought back the item “i9”", ""),
    ],
    "notes": [
        (t.NoteAdded(ME, "n", "note", Words("x")), "added a note", "note:n"),
        (t.NoteEdited(ME, "n", Words("y")), "changed a note", "note:n"),
        (t.NoteRemoved(ME, "n"), "removed a note", ""),
    ],
    "time": [
        (t.TimeStarted(ME, "e", "s"), "started the timer", "time:e"),
        (t.TimeStopped(ME, "e", "s", "Sanded"), "stopped the timer: “Sanded”", "time:e"),
        (t.TimeLogged(ME, "e", "s", "s"), "entered time", "time:e"),
        (t.TimeEdited(ME, "e"), "corrected a time entry", "time:e"),
        (t.TimeReopened(ME, "e", "s"), "let the timer run on", "time:e"),
        (t.TimeRemoved(ME, "e"), "took a time entry away", "time:e"),
        (t.TaskRated(ME, "", 4, "Fine"), "rated it 4 of 5: “Fine”", "rating"),
    ],
    "links": [
        (t.TaskLinked(ME, "blocks", "u"), "linked it: blocks “U”", "link:blocks:u"),
        (t.TaskUnlinked(ME, "blocks", "u"), "took away the link: blocks “U”", "link:blocks:u"),
    ],
    "file": [
        (t.TaskImported("import:f", "p"), "was compared with the task", ""),
        (
            t.DifferenceSettled(ME, "due", "file", "p"),
            "settled the due date: kept what the file says",
            "",
        ),
        (t.DeedUndone(ME, (3,)), OF_A_FILE, ""),
    ],
}


@pytest.mark.parametrize("kind", TABLE)
def test_each_fact_has_a_sentence_the_fields_that_it_says_and_a_kind(kind: str) -> None:
    assert kind in KINDS
    for fact, said, fields in TABLE[kind]:
        assert did(fact, BEFORE, NAMES) == said
        assert concerns(fact) == tuple(fields.split())
        assert kind_of(fact) == kind


def test_no_fact_of_a_task_is_left_out() -> None:
    assert {type(one[0]) for rows in TABLE.values() for one in rows} == set(get_args(TaskFact))


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


# --------------------------------------------------------------------------------- tables and lines


TASKS = ("ID", "Title", "Status", "Prio", "Due", "Est", "Category", "Labels", "Items")
AGENTS = ("ID", "Name", "Mode", "Life", "Status", "Next wake", "Last wake", "Wakes")
WAKES = ("Run", "Agent", "Reason", "When", "Outcome", "Calls", "Items", "Model")
WHEN = "2027-02-12 07:00"
WIDE = "東京への出張のために航空券とホテルを予約して経費の承認をもらう"
TEXTS = st.text(st.sampled_from("ab 東京🎂é-,."), max_size=60).map(
    lambda text: " ".join(text.split())
)
WIDTHS = st.sampled_from([60, 80, 120])


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), WIDTHS)
def test_a_task_is_one_line_and_its_id_and_date_stand_in_it_whole(
    texts: list[tuple[str, str, str]], width: int
) -> None:
    rows = [
        (
            f"idident{nth}",
            title,
            "IN PROGRESS",
            "P1",
            "2027-02-12",
            "1h30m",
            category,
            labels,
            "2/11",
        )
        for nth, (title, category, labels) in enumerate(texts)
    ]
    lines = [line for _, line in table_lines(TASKS, rows, width)]
    assert len(lines) == 2 + len(rows)
    assert max(map(cell_len, lines)) <= width
    for nth, line in enumerate(lines[2:]):
        assert line.startswith(f"idident{nth}  ")
        assert re.search(r"IN PROGRESS  P1    2027-02-12", line)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_wake_and_an_agent_are_one_line_in_the_worst_of_cases(width: int) -> None:
    wake = ("idident1", WIDE, "subscription", WHEN, "failed (model_unavailable)", "12", "30",
            "gemini:gemini-3.5-flash-preview")  # fmt: skip
    agent = ("idident1", WIDE, "autonomous", "dormant (failures)", "idle (12 failed in a row)",
             WHEN, WHEN, "120")  # fmt: skip
    for headings, row in ((WAKES, wake), (AGENTS, agent)):
        lines = [line for _, line in table_lines(headings, [row], width)]
        assert len(lines) == 3
        assert max(map(cell_len, lines)) <= width
        assert "idident1" in lines[2]
        assert WHEN in lines[2]


def test_category_is_cut_first_then_labels_then_the_end_of_the_title() -> None:
    row = ("idident1", "x" * 40, "OPEN", "P1", "2027-02-12", "2h", "q" * 20, "z" * 20, "2/11")

    def shown(width: int) -> list[int]:
        told = [line for _, line in table_lines(TASKS, [row], width)][2]
        return [told.count(letter) for letter in "qzx"]

    assert shown(200) == [20, 20, 40]
    assert shown(128) == [15, 20, 40]
    assert shown(118) == [11, 13, 40]
    assert shown(105) == [11, 11, 28]
    assert shown(95) == [0, 11, 32]
    assert shown(80) == [0, 0, 31]


def test_columns_that_nobody_named_here_are_wrapped_between_words() -> None:
    rows = [
        (WHEN, "One of the two offers came in at " + WHEN + " and is the better one", "unmatched")
    ]
    lines = [line for _, line in table_lines(("When", "What", "Why not"), rows, 60)]
    assert lines[2:] == [
        "2027-02-12 07:00  One of the two offers came in    unmatched",
        "                  at 2027-02-12 07:00 and is the",
        "                  better one",
    ]


def test_where_no_table_fits_each_row_is_told_as_lines() -> None:
    ids = ["a" * 32, "b" * 32]
    lines = [line for _, line in table_lines(("task_id", "agent_id"), [ids, ids], 60)]
    row = [f"task_id   {ids[0]}", f"agent_id  {ids[1]}"]
    assert lines == [*row, "", *row]


@given(st.lists(TEXTS, max_size=4), st.integers(min_value=24, max_value=120))
def test_a_line_is_wrapped_within_its_width_and_loses_nothing(texts: list[str], width: int) -> None:
    line = f"  3.1    {' '.join(texts)} 2027-02-12"
    lines = wrapped(line, width)
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(line.split())
    assert any("2027-02-12" in one for one in lines)


def test_times_and_commands_are_not_broken_where_a_line_can_hold_them() -> None:
    told = "queued     Fix the sink: scheduled, due 2027-02-12 07:00; say `wakelog wake Anna` then"
    assert wrapped(told, 44) == [
        "queued     Fix the sink: scheduled, due",
        "           2027-02-12 07:00; say",
        "           `wakelog wake Anna` then",
    ]


def test_colours_take_no_room_and_an_item_goes_on_below_its_title() -> None:
    bold = click.style("Fix the sink", bold=True)
    assert wrapped(bold, 12) == [bold]
    mark = click.style("ok  ", fg="green")
    assert wrapped(f"{mark}  proof: it fits", 15) == [f"{mark}  proof: it", "      fits"]
    assert wrapped(" 2 [x] Call the plumber", 18) == [" 2 [x] Call the", "       plumber"]


def test_what_is_cut_ends_in_an_ellipsis_and_wide_characters_count_two() -> None:
    assert [cut(WIDE, width) for width in (5, 6)] == ["東京…", "東京…"]
    assert cell_len(cut(WIDE, 7)) == 7
