"""Tables and lines that a terminal of few columns can show: nothing that is looked up is broken."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from adapters.text.columns import CUTS, WHOLE, cut, table_lines, wrapped

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
    lines = list(table_lines(TASKS, rows, width))
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
        lines = list(table_lines(headings, [row], width))
        assert len(lines) == 3
        assert max(map(cell_len, lines)) <= width
        assert "idident1" in lines[2]
        assert WHEN in lines[2]


def test_category_is_cut_first_then_labels_then_the_end_of_the_title() -> None:
    row = ("idident1", "x" * 40, "OPEN", "P1", "2027-02-12", "2h", "q" * 20, "z" * 20, "2/11")

    def shown(width: int) -> list[int]:
        told = list(table_lines(TASKS, [row], width))[2]
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
    lines = list(table_lines(("When", "What", "Why not"), rows, 60))
    assert lines[2:] == [
        "2027-02-12 07:00  One of the two offers came in    unmatched",
        "                  at 2027-02-12 07:00 and is the",
        "                  better one",
    ]


def test_where_no_table_fits_each_row_is_told_as_lines() -> None:
    ids = ["a" * 32, "b" * 32]
    lines = list(table_lines(("task_id", "agent_id"), [ids, ids], 60))
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


def test_what_is_cut_ends_in_an_ellipsis_and_wide_characters_count_two() -> None:
    assert [cut(WIDE, width) for width in (5, 6)] == ["東京…", "東京…"]
    assert cell_len(cut(WIDE, 7)) == 7


def test_no_heading_is_both_cut_and_kept_whole() -> None:
    assert not {heading for heading, _ in CUTS} & WHOLE
