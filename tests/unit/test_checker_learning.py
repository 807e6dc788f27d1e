"""The independent checker bites on what is learnt and remembered: see `test_checker`."""

from collections.abc import Callable

import pytest

from tests.support.broken import Broken
from tests.unit.test_checker import check_named


def a_lesson_on_no_item(home: Broken) -> None:
    home.data("lessons.decided.1")["item"] = 99


def a_lesson_of_another_verdict(home: Broken) -> None:
    home.data("lessons.decided.1", verdict="rejected")["verdict"] = "deferred"


def a_lesson_that_is_not_learnt(home: Broken) -> None:
    home.drop("lessons.decided.1", verdict="rejected")


def a_lesson_of_another_day(home: Broken) -> None:
    home.data("lessons.decided.1", verdict="rejected")["at"] = "2026-01-01T00:00:00.000000Z"


def a_lesson_of_another_tool(home: Broken) -> None:
    home.data("lessons.decided.1")["tool"] = "delete_task"


def a_rating_of_no_wake(home: Broken) -> None:
    home.data("lessons.rated.1")["runKey"] = "a" * 32


def a_rating_of_six_stars(home: Broken) -> None:
    home.data("lessons.rated.1")["stars"] = 6


def an_end_that_was_another(home: Broken) -> None:
    home.data("lessons.ran.1")["outcome"] = "failed"


def a_digest_of_no_note(home: Broken) -> None:
    home.data("memory.folded.1")["sources"][3] = "7-99@r1"


def a_note_under_two_digests(home: Broken) -> None:
    one, two = (spot[0].facts[spot[1]].data for spot in home.all("memory.folded.1"))
    two["sources"][0] = one["sources"][0]


def a_digest_of_more_than_it_is(home: Broken) -> None:
    home.data("memory.folded.1")["count"] += 1


def a_digest_with_a_drawn_id(home: Broken) -> None:
    home.data("memory.folded.1")["id"] = "b" * 32


def a_line_that_is_no_beginning(home: Broken) -> None:
    words = home.data("memory.folded.1")["words"]
    words["text"] = words["text"].replace(") ", ") Never said: ", 1)


def a_digest_that_is_too_long(home: Broken) -> None:
    home.data("memory.folded.1")["words"]["text"] += "x" * 500


def a_note_that_settles_nothing(home: Broken) -> None:
    observed = (one.facts[place].data for one, place in home.all("agent.observed.1"))
    next(one for one in observed if "resolves" in one)["resolves"] = ["1-1@r1"]


CASES = [
    ("lessons", a_lesson_on_no_item, "law 9: .* a lesson on item 99 of .*, which nobody proposed"),
    ("lessons", a_lesson_of_another_verdict, "law 9: .* is deferred, and nobody said so then"),
    ("verdicts", a_lesson_that_is_not_learnt, "law 9: .* nobody learns that item . is rejected"),
    ("lessons", a_lesson_of_another_day, "law 9: .* is rejected, and nobody said so then"),
    ("lessons", a_lesson_of_another_tool, "law 9: .* a lesson on delete_task, and the item is"),
    ("lessons", a_rating_of_no_wake, "law 9: .* a rating of a{32}, which never began"),
    ("lessons", a_rating_of_six_stars, "law 9: .* a rating of 6 stars"),
    ("lessons", an_end_that_was_another, "law 9: .* told to be failed and did not end so"),
    ("digested", a_digest_of_no_note, "law 9: .* names 7-99@r1, which the agent has not"),
    ("digested", a_note_under_two_digests, "law 9: .* is covered by the digests"),
    ("digested", a_digest_of_more_than_it_is, "law 9: .* notes and says otherwise"),
    ("digested", a_digest_with_a_drawn_id, "law 9: .* the id of the digest b{32} is drawn"),
    ("digested", a_line_that_is_no_beginning, "law 9: .* invents .*Never said"),
    ("digested", a_digest_that_is_too_long, "law 9: .* has [0-9]+ bytes"),
    ("digested", a_note_that_settles_nothing, "law 9: .* settles 1-1@r1, which is no critical"),
]


@pytest.mark.parametrize(("name", "plant", "told"), CASES, ids=[one[1].__name__ for one in CASES])
def test_what_is_planted_is_named(name: str, plant: Callable[[Broken], None], told: str) -> None:
    check_named(name, plant, told)
