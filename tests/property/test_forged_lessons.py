"""Whatever of lessons, digests and undone deeds is forged in a log, its chain put right again,
prove names it."""

from collections.abc import Callable

import pytest

from tests.property.test_forged_tools import HISTORIES
from tests.support import checker
from tests.support.broken import Broken, Fact
from tests.support.checking.logs import Doc
from tests.support.forging import differing

NOBODY = "a" * 32


def commands(home: Broken, tag: str) -> list[Doc]:
    """The commands of a kind that wrote something, as their receipts have them."""
    receipts = (one.facts[0].data for log in home.logs.values() for one in log
                if len(one.facts) > 1)  # fmt: skip
    told: list[Doc] = [one.get("command", {}) for one in receipts]
    return [one for one in told if one.get("kind") == tag]


def a_verdict_in_another_category(home: Broken) -> None:
    (one, *_) = (one for one in commands(home, "command.reject_item.1") if one.get("category"))
    one["category"] = NOBODY


def a_verdict_without_its_category(home: Broken) -> None:
    (one, *_) = (one for one in commands(home, "command.reject_item.1") if one.get("category"))
    del one["category"]


def a_lesson_that_says_the_opposite(home: Broken) -> None:
    home.data("lessons.decided.1", verdict="rejected")["verdict"] = "confirmed"


def a_lesson_of_another_template(home: Broken) -> None:
    one, place = home.find("lessons.decided.1")
    scope = one.facts[place]
    one.facts[place] = Fact(f"lessons:template:{NOBODY}", scope.data)


def a_lesson_that_is_gone(home: Broken) -> None:
    home.drop("lessons.decided.1", verdict="confirmed")


def learnt_in_another_scope(home: Broken) -> None:
    """The lessons follow, so that nothing but the journal can say that it is not so."""
    command = next(one for one in commands(home, "command.learn_verdicts.1")
                   if one["scope"].startswith("category:"))  # fmt: skip
    was, command["scope"] = command["scope"], f"category:{NOBODY}"
    for one in home.logs["agent"]:
        if one.facts[0].data.get("command") is command:
            one.facts[0].data["result"]["ids"] = [command["scope"]]
            one.facts[1:] = [
                Fact(fact.stream.replace(was, command["scope"]), fact.data)
                for fact in one.facts[1:]
            ]


def learnt_as_another_verdict(home: Broken) -> None:
    commands(home, "command.learn_verdicts.1")[0]["verdicts"][0]["verdict"] = "confirmed"


def learnt_at_another_time(home: Broken) -> None:
    one, place = next(one for one in home.all("lessons.decided.1")
                      if one[0].facts[one[1]].data.get("at"))  # fmt: skip
    one.facts[place].data["at"] = "2027-01-01T00:00:00.000000Z"


def more_stars(home: Broken) -> None:
    home.data("lessons.rated.1")["stars"] = 3


def another_rated_wake(home: Broken) -> None:
    commands(home, "command.rate_run.1")[0]["runKey"] = NOBODY


def a_digest(home: Broken) -> Doc:
    return home.data("memory.folded.1")


def a_digest_with_another_text(home: Broken) -> None:
    words = a_digest(home)["words"]
    words.clear()
    words["text"] = "- [2027-01-01] (critical) The tap must not be touched."


def a_digest_with_a_word_changed(home: Broken) -> None:
    words = a_digest(home)["words"]
    words["text"] = words["text"].replace("tap", "top")


def a_digest_that_covers_less(home: Broken) -> None:
    a_digest(home)["sources"].pop()


def a_digest_that_counts_more(home: Broken) -> None:
    a_digest(home)["count"] += 1


def a_digest_that_goes_further(home: Broken) -> None:
    one = a_digest(home)
    one["last"] = one["first"]


def a_digest_for_any_category(home: Broken) -> None:
    a_digest(home)["categories"] = []


def a_digest_that_is_gone(home: Broken) -> None:
    home.drop("memory.folded.1")


def a_digest_of_another_agent(home: Broken) -> None:
    one, place = home.find("memory.folded.1")
    one.facts[place] = Fact(f"memory:{NOBODY}", one.facts[place].data)


def resolving(home: Broken) -> Doc:
    notes = (one.facts[place].data for one, place in home.all("agent.observed.1"))
    return next(one for one in notes if one.get("resolves"))


def nothing_resolved(home: Broken) -> None:
    resolving(home)["resolves"] = ["999-9@r1"]


def resolved_by_nothing(home: Broken) -> None:
    del resolving(home)["resolves"]


def an_undo_of_anothers_appends(home: Broken) -> None:
    """Of the append before, which is another deed of the same task."""
    commands(home, "command.undo_deed.1")[0]["appends"][0] -= 1


def an_undo_of_appends_to_come(home: Broken) -> None:
    commands(home, "command.undo_deed.1")[0]["appends"] = [999]


def an_undo_in_another_task(home: Broken) -> None:
    commands(home, "command.undo_deed.1")[0]["tasks"] = [NOBODY]


def an_undo_that_writes_another_value(home: Broken) -> None:
    undo = commands(home, "command.undo_deed.1")[0]
    one = next(one for one in home.logs["journal"] if one.facts[0].data.get("command") is undo)
    title = next(fact.data for fact in one.facts if fact.data["kind"] == "task.retitled.1")
    title["title"] = "Mine"


def reopened_without_a_rejection(home: Broken) -> None:
    one, place = home.find("changes.item_rejected.1")
    one.facts[place].data["item"] = 2


def reopened_twice(home: Broken) -> None:
    one, place = home.find("changes.item_reopened.1")
    one.facts.insert(place, one.facts[place])


def a_verdict_that_was_never_taken_back(home: Broken) -> None:
    home.drop("changes.item_reopened.1")


def a_lift_without_a_suppression(home: Broken) -> None:
    home.drop("changes.suppression_done.1")


def a_lift_of_another_label(home: Broken) -> None:
    home.data("changes.lift_asked.1")["label"] = NOBODY


def a_lift_that_nobody_asked_for(home: Broken) -> None:
    home.drop("changes.lift_asked.1")


CASES = [
    ("lessons", a_verdict_in_another_category, "stream"),
    ("lessons", a_verdict_without_its_category, "rows"),
    ("lessons", a_lesson_that_says_the_opposite, "data.verdict"),
    ("lessons", a_lesson_of_another_template, "rows"),
    ("lessons", a_lesson_that_is_gone, "rows"),
    ("lessons", learnt_in_another_scope, "data.command.verdicts[0]"),
    ("lessons", learnt_as_another_verdict, "cause"),
    ("lessons", learnt_at_another_time, "data.at"),
    ("lessons", more_stars, "data.stars"),
    ("lessons", another_rated_wake, "cause"),
    ("digested", a_digest_with_another_text, "data.words.text"),
    ("digested", a_digest_with_a_word_changed, "data.words.text"),
    ("digested", a_digest_that_covers_less, "data.sources[19]"),
    ("digested", a_digest_that_counts_more, "data.count"),
    ("digested", a_digest_that_goes_further, "data.last"),
    ("digested", a_digest_for_any_category, "data.categories[0]"),
    ("digested", a_digest_that_is_gone, "rows"),
    ("digested", a_digest_of_another_agent, "rows"),
    ("digested", nothing_resolved, "data.resolves[0]"),
    ("digested", resolved_by_nothing, "data.resolves"),
    ("undone", an_undo_of_anothers_appends, "cause"),
    ("undone", an_undo_of_appends_to_come, "cause"),
    ("undone", an_undo_in_another_task, "cause"),
    ("undone", an_undo_that_writes_another_value, "data.title"),
    ("undone", reopened_without_a_rejection, "data.item"),
    ("undone", reopened_twice, "rows"),
    ("undone", a_verdict_that_was_never_taken_back, "rows"),
    ("undone", a_lift_without_a_suppression, "cause"),
    ("undone", a_lift_of_another_label, "data.label"),
    ("undone", a_lift_that_nobody_asked_for, "operation"),
]


@pytest.mark.parametrize("name", sorted({one[0] for one in CASES}))
def test_nothing_is_named_before(name: str) -> None:
    assert differing(Broken(HISTORIES / f"{name}.jsonl")) == []


@pytest.mark.parametrize(("name", "forge", "path"), CASES, ids=[one[1].__name__ for one in CASES])
def test_what_is_forged_is_named(name: str, forge: Callable[[Broken], None], path: str) -> None:
    home = Broken(HISTORIES / f"{name}.jsonl")
    forge(home)
    assert path in [where for _, where in differing(home)]


def test_a_lift_that_failed_is_found_by_the_checker() -> None:
    """An outcome is told to the agent log; `prove` takes it as it is recorded."""
    home = Broken(HISTORIES / "undone.jsonl")
    home.data("changes.lift_done.1", item=3)["code"] = "not_found"
    assert "not_found" in "\n".join(map(str, checker.found_in(home.home())))
