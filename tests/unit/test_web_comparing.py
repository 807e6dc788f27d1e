"""What two texts differ in, as pages mark it."""

from collections import Counter
from datetime import date, timedelta

import pytest

from adapters.web.charts import rows
from adapters.web.text_diff import STEPS_MAX, WORDS_MAX, BoundedMatcher, differences

CASES = [
    ("", ""), ("", "a"), ("a", ""), ("a b c", "a x c"), ("one\ntwo\n", "two\nthree\n"),
    ("a b " * 99, "b a a " * 66),
    ("word " * (WORDS_MAX + 1), "word " * WORDS_MAX + "end"), ("x\n" * 9_000, "y\n" * 9_000),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), CASES)
def test_both_texts_can_be_read_out_of_what_differs(old: str, new: str) -> None:
    found = differences(old, new)
    assert "".join(text for kind, text in found if kind != "added") == old
    assert "".join(text for kind, text in found if kind != "removed") == new


def test_two_texts_that_say_the_same_again_and_again_take_bounded_steps() -> None:
    old, new = "a " * WORDS_MAX, "a b " * 99  # of 200 words on, what is frequent anchors nothing
    hostile = BoundedMatcher(old.split(), new.split())
    assert hostile.get_matching_blocks(), "what was found until then is told"
    assert STEPS_MAX / 2 < hostile.steps <= STEPS_MAX
    told = differences(old, new)
    assert "".join(text for kind, text in told if kind != "added") == old
    assert "".join(text for kind, text in told if kind != "removed") == new


def test_a_word_that_changed_is_marked_alone() -> None:
    assert [tuple(one) for one in differences("due on Monday.", "due on Friday.")] == [
        ("both", "due on "),
        ("removed", "Monday"),
        ("added", "Friday"),
        ("both", "."),
    ]


def test_a_chart_s_table_has_the_days_that_the_chart_shows() -> None:
    counts = {date(2027, 1, 1) + timedelta(days=nth): Counter(a=nth) for nth in (0, 1, 70)}
    assert rows(counts, ("a", "b")) == [(date(2027, 3, 12), [70, 0])]
    assert rows({}, ("a",)) == []
