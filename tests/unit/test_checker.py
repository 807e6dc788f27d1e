"""The independent checker bites: what is planted in a home is named, and nothing is in a sound one.

Homes are read from histories; after each change numbers, versions and chain are put right, so that
it is the law itself that is looked for, and not the seal over it.
"""

import ast
import re
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import checker
from tests.support.broken import Broken, altered
from tests.support.checking.logs import Doc, Raw, key

ROOT = Path(__file__).parents[2]
HISTORIES = ROOT / "tests" / "histories"
BY_HAND = {"every_edit", "in_doubt", "too_late"}
"""Scenes in which somebody says what did not happen: an effect without an intent, an outcome
without an effect, a reply to what was never asked."""


def found(broken: Broken, spoil: Callable[[list[Raw]], None] | None = None) -> str:
    return "\n".join(map(str, checker.found_in(broken.home(spoil))))


@cache
def found_whole(name: str) -> str:
    """What is found in a scene before anything is planted."""
    return found(Broken(HISTORIES / f"{name}.jsonl"))


def test_it_imports_nothing_of_what_it_checks() -> None:
    files = [*(ROOT / "tests/support/checking").glob("*.py"), ROOT / "tests/support/checker.py"]
    allowed = ("tests.support.checking", "tests.support")
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                is_known = name.partition(".")[0] in sys.stdlib_module_names
                assert is_known or name.startswith(allowed), f"{file.name} imports {name}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(one.stem for one in HISTORIES.glob("*.jsonl")))
def test_what_is_kept_to_be_proved_keeps_the_laws(name: str) -> None:
    told = checker.findings(HISTORIES / f"{name}.jsonl")
    assert bool(told) == (name in BY_HAND), told
    assert found(Broken(HISTORIES / f"{name}.jsonl")) == "\n".join(map(str, told))


# ---------------------------------------------------------------------------- the rows themselves


def gone(raw: list[Raw]) -> None:
    del raw[2]


def doubled(raw: list[Raw]) -> None:
    raw.append(raw[-1]._replace(rowid=len(raw) + 1))


def swapped(raw: list[Raw]) -> None:
    first, second = raw[4], raw[5]
    raw[4:6] = [second._replace(rowid=5), first._replace(rowid=6)]


def another(raw: list[Raw]) -> None:
    raw[4] = altered(raw[4], by="nobody")


def spaced(raw: list[Raw]) -> None:
    raw[3] = raw[3]._replace(state=raw[3].state.replace(b",", b", ", 1))


def renamed(raw: list[Raw]) -> None:
    raw[3] = raw[3]._replace(topic="task.other.1")


def torn(raw: list[Raw]) -> None:
    raw[3] = raw[3]._replace(state=raw[3].state[:-9])


def strange(raw: list[Raw]) -> None:
    raw[3] = raw[3]._replace(stream=f"diary:{raw[3].stream.partition(':')[2]}")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (gone, "row 3 of the file is gone"),
        (doubled, "version"),
        (swapped, "missing or out of order|not counted from 0|carries another digest"),
        (another, "law 6: agent:r1:.* carries another digest"),
        (spaced, "is not compact JSON"),
        (renamed, "its topic is task.other.1"),
        (torn, "its state is no envelope"),
        (strange, "log has no such stream"),
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_named(
    spoil: Callable[[list[Raw]], None], told: str
) -> None:
    assert re.search(told, found(Broken(HISTORIES / "crashes.jsonl"), spoil))


# -------------------------------------------------------------------------- one law after the other

Plant = Callable[[Broken], object]
CASES: list[tuple[str, Plant, str]] = []
"""A home, what is planted in it, and how that is told."""


def planted(name: str, told: str) -> Callable[[Plant], Plant]:
    def keep(plant: Plant) -> Plant:
        CASES.append((name, plant, told))
        return plant

    return keep


def said(topic: str, where: Doc | None = None, **fields: Any) -> Plant:
    """The first such row says something else."""
    return lambda home: home.data(topic, **where or {}).update(fields)


def counted(topic: str, field: str, more: int) -> Plant:
    """The first such row counts more, or less."""
    return lambda home: home.data(topic).update({field: home.data(topic)[field] + more})


def said_twice(topic: str) -> Plant:
    """The first such row stands twice in its append."""

    def plant(home: Broken) -> None:
        one, place = home.find(topic)
        one.facts.append(deepcopy(one.facts[place]))

    return plant


def without(topic: str, **where: Any) -> Plant:
    """The first such row is taken out."""
    return lambda home: home.drop(topic, **where)


@planted("crashes", "missing or out of order")
def appends_out_of_order(home: Broken) -> None:
    one = home.logs["agent"]
    one[3], one[4] = one[4], one[3]


@planted("crashes", "law 1: .* time goes back")
def time_that_goes_back(home: Broken) -> None:
    home.logs["agent"][5].at = "2026-01-01T00:00:00.000000Z"


@planted("crashes", "law 2: .* was used by agent:r1:2")
def two_receipts_of_a_key(home: Broken) -> None:
    first, second = (one.facts for one in home.logs["agent"][1:3])
    second[0] = second[0]._replace(stream=first[0].stream)


@planted("crashes", "law 6: .* of wake.model_answered.1 is gone")
def a_dropped_payload(home: Broken) -> None:
    named = home.data("wake.model_answered.1")["reply"]
    del home.payloads[named]


@planted("crashes", "law 6: .* is not what its id says")
def an_altered_payload(home: Broken) -> None:
    named = home.data("wake.started.1")["snapshot"]
    home.payloads[named] += b" "


@planted("crashes", "law 6: .* is not what its id says")
def a_payload_of_another_unit(home: Broken) -> None:
    data = home.data("wake.model_answered.1")
    home.payloads[key("payload", "elsewhere", b"x")] = b"x"
    data["reply"] = key("payload", "elsewhere", b"x")


@planted("crashes", "law 6: agent: no row names the payload")
def a_payload_that_nobody_names(home: Broken) -> None:
    home.payloads[key("payload", "shared", b"x")] = b"x"


@planted("verdicts", "law 3: .* the agent is d{32} and not")
def a_drawn_agent(home: Broken) -> None:
    one, place = home.find("agent.created.1")
    one.facts[place] = one.facts[place]._replace(stream=f"agent:{'d' * 32}@r1")


@planted("crashes", "law 5: .* is taken though the wake|law 9: .* which has ended")
def a_second_answer(home: Broken) -> None:
    one, _ = home.find("wake.model_answered.1")
    home.logs["agent"].append(again := deepcopy(one))
    again.n, again.at = home.logs["agent"][-2].n + 1, home.logs["agent"][-2].at


@planted("verdicts", "law 7: agent:.* is not in the journal")
def an_outcome_without_an_effect(home: Broken) -> None:
    operation = home.data("changes.item_confirming.1")["operation"]
    journal = home.logs["journal"]
    home.logs["journal"] = [one for one in journal if operation not in one.facts[0].stream]


@planted("verdicts", "law 8: .* sets DONE")
def a_done_set_by_an_agent(home: Broken) -> None:
    operation = home.data("changes.item_confirmed.1")["position"]
    one = next(one for one in home.logs["journal"] if one.n == operation)
    fact = one.facts[-1]
    by = fact.data["by"]
    one.facts[-1] = fact._replace(data={"kind": "task.status_set.1", "by": by, "status": "DONE"})


@planted("neighbours", "law 9: .* is lost to the agent")
def a_merged_trigger_that_is_dropped(home: Broken) -> None:
    places = home.all("alert.trigger_merged.1")
    one, place = next(spot for spot in places if "batches" in spot[0].facts[0].data["command"])
    del one.facts[place]


@planted("modes_and_reasons", "law 9: .* and before that those up to")
def a_range_that_is_taken_twice(home: Broken) -> None:
    last = home.all("watch.journal_taken.1")[-1]
    last[0].facts[last[1]].data["first"] -= 1


@planted("modes_and_reasons", "law 9: .* and before that those up to")
def a_range_that_is_left_out(home: Broken) -> None:
    last = home.all("watch.journal_taken.1")[-1]
    last[0].facts[last[1]].data["first"] += 1


@planted("modes_and_reasons", "law 9: .* are not what the journal says")
def a_batch_that_differs(home: Broken) -> None:
    one, _ = home.find("watch.journal_taken.1")
    one.facts[0].data["command"]["batches"][0]["tokens"].pop()


@planted("second_wakes", "law 9: .* are in superseded wakes only")
def triggers_that_are_not_passed_on(home: Broken) -> None:
    one, _ = home.find("alert.wake_dropped.1", code="superseded")
    merged = [fact for fact in one.facts if fact.topic == "alert.trigger_merged.1"]
    one.facts.remove(merged[-1])


@planted("crashes", "law 10: .* its prompt has")
def a_prompt_that_is_too_long(home: Broken) -> None:
    one, _ = home.find("wake.started.1")
    one.facts[0].data["command"]["promptMaxBytes"] = 100


def an_operation_over_two(home: Broken) -> Doc:
    """The command of the first operation that wrote to a second task."""
    receipts = (one.facts[0].data for one in home.logs["journal"] if len(one.facts) > 1)
    commands = (one.get("command", {}) for one in receipts)
    found: Doc = next(one for one in commands if one.get("others"))
    return found


@planted("follow_ups", "law 8: .* and leaves no task")
def an_item_that_moves_and_stays(home: Broken) -> None:
    home.drop("task.item_archived.1", item=moved(home)["movedFrom"])


def moved(home: Broken) -> Doc:
    added = (one.facts[place].data for one, place in home.all("task.item_added.1"))
    return next(one for one in added if one.get("movedFrom"))


@planted("time_spent", "law 8: .* lays the entry")
def time_that_an_agent_lays_over_other_time(home: Broken) -> None:
    one, place = next(
        spot
        for spot in home.all("task.time_logged.1")
        if spot[0].facts[spot[1]].data["by"].startswith("agent:")
    )
    again = deepcopy(one.facts[place])
    again.data["entry"] = "a" * 32
    one.facts.append(again)


@planted("digested", "law 9: .* names 7-99@r1, which the agent has not")
def a_digest_of_no_note(home: Broken) -> None:
    home.data("memory.folded.1")["sources"][3] = "7-99@r1"


@planted("digested", "law 9: .* is covered by the digests")
def a_note_under_two_digests(home: Broken) -> None:
    one, two = (spot[0].facts[spot[1]].data for spot in home.all("memory.folded.1"))
    two["sources"][0] = one["sources"][0]


@planted("digested", "law 9: .* invents .*Never said")
def a_line_that_is_no_beginning(home: Broken) -> None:
    words = home.data("memory.folded.1")["words"]
    words["text"] = words["text"].replace(") ", ") Never said: ", 1)


@planted("digested", "law 9: .* has [0-9]+ bytes")
def a_digest_that_is_too_long(home: Broken) -> None:
    home.data("memory.folded.1")["words"]["text"] += "x" * 500


@planted("digested", "law 9: .* settles 1-1@r1, which is no critical")
def a_note_that_settles_nothing(home: Broken) -> None:
    observed = (one.facts[place].data for one, place in home.all("agent.observed.1"))
    next(one for one in observed if "resolves" in one)["resolves"] = ["1-1@r1"]


CASES += [
    (
        "verdicts",
        lambda home: home.logs["journal"].pop(2),
        "law 1: journal:r1:4: append 3 is missing",
    ),
    ("crashes", counted("wake.model_answered.1", "attempt", 1), "law 5: .* was never asked for"),
    (
        "verdicts",
        counted("changes.item_confirmed.1", "position", -1),
        "law 7: .* is said to stand at",
    ),
    ("verdicts", lambda home: home.cut("journal", 2), "law 7: .* and the journal ends at"),
    ("verdicts", said_twice("alert.trigger_suppressed.1"), "law 9: .* is noted 2 times"),
    ("verdicts", said_twice("changes.item_confirmed.1"), "law 9: .* which is confirmed"),
    (
        "follow_ups",
        lambda home: an_operation_over_two(home).update(others=["a" * 32]),
        "law 7: .* is not as agent:.* asked",
    ),
    (
        "follow_ups",
        lambda home: an_operation_over_two(home).update(categories=[]),
        "law 8: .* writes to the category",
    ),
    (
        "follow_ups",
        lambda home: moved(home).update(title="Another"),
        "law 8: .* moved as .*Another",
    ),
    ("follow_ups", lambda home: moved(home).update(isChecked=True), "law 8: .* moved as .*True"),
    ("digested", counted("memory.folded.1", "count", 1), "law 9: .* notes and says otherwise"),
    ("crashes", without("receipt.1"), "law 2: .* which is no cause"),
    (
        "crashes",
        said("alert.wake_queued.1", runKey="a" * 32),
        "law 3: .* the run key is a{32} and not",
    ),
    (
        "verdicts",
        said("changes.item_confirming.1", operation="b" * 32),
        "law 3: .* the operation is b{32} and not",
    ),
    (
        "verdicts",
        said("changes.item_proposed.1", fingerprint="c" * 32),
        "law 3: .* the fingerprint is c{32} and not",
    ),
    (
        "verdicts",
        said("catalog.category_added.1", category="e" * 32),
        "law 3: .* the category is e{32} and not",
    ),
    ("crashes", without("wake.model_asked.1"), "law 5: .* was never asked for"),
    ("verdicts", without("changes.item_confirming.1"), "law 5: journal:.* has no intent"),
    (
        "verdicts",
        said("task.created.1", category="f" * 32),
        "law 8: .* an agent writes to the category f{32}",
    ),
    (
        "verdicts",
        without("alert.trigger_suppressed.1", rule="own_write"),
        "law 9: .* is lost to the agent",
    ),
    ("crashes", without("wake.finished.1", outcome="completed"), "law 9: .* settled or dropped"),
    ("second_wakes", without("alert.settled.1"), "law 9: .* begins while"),
    ("second_wakes", without("alert.wake_queued.1"), "law 9: .* begins and was not queued"),
    ("verdicts", without("changes.item_proposed.1"), "law 9: .* which nobody proposed|follows"),
    ("verdicts", without("changes.opened.1"), "law 9: .* is opened, or its agent's, and not both"),
    ("crashes", said("wake.started.1", turnMax=21), "law 10: .* may have 21 turns"),
    (
        "asleep",
        said("alert.slept.1", until="2099-01-01T00:00:00.000000Z"),
        "law 9: .* and its agent sleeps until 2099",
    ),
    (
        "ordered_to_sleep",
        said("agent.slept.1", until="2099-01-01T00:00:00.000000Z"),
        "law 9: .* and its agent sleeps until 2099",
    ),
    (
        "verdicts",
        said("changes.item_proposed.1", arguments={"text": "x" * 1025}),
        "law 10: .* stands in the row",
    ),
    (
        "lessons",
        said("lessons.decided.1", item=99),
        "law 9: .* a lesson on item 99 of .*, which nobody proposed",
    ),
    (
        "lessons",
        said("lessons.decided.1", {"verdict": "rejected"}, verdict="deferred"),
        "law 9: .* is deferred, and nobody said so then",
    ),
    (
        "verdicts",
        without("lessons.decided.1", verdict="rejected"),
        "law 9: .* nobody learns that item . is rejected",
    ),
    (
        "lessons",
        said("lessons.decided.1", {"verdict": "rejected"}, at="2026-01-01T00:00:00.000000Z"),
        "law 9: .* is rejected, and nobody said so then",
    ),
    (
        "lessons",
        said("lessons.decided.1", tool="delete_task"),
        "law 9: .* a lesson on delete_task, and the item is",
    ),
    (
        "lessons",
        said("lessons.rated.1", runKey="a" * 32),
        "law 9: .* a rating of a{32}, which never began",
    ),
    ("lessons", said("lessons.rated.1", stars=6), "law 9: .* a rating of 6 stars"),
    (
        "lessons",
        said("lessons.ran.1", outcome="failed"),
        "law 9: .* told to be failed and did not end so",
    ),
    (
        "digested",
        said("memory.folded.1", id="b" * 32),
        "law 9: .* the id of the digest b{32} is drawn",
    ),
]


@pytest.mark.parametrize(("name", "plant", "told"), CASES, ids=[one[2] for one in CASES])
def test_what_is_planted_is_named(name: str, plant: Plant, told: str) -> None:
    assert found_whole(name) == ""
    broken = Broken(HISTORIES / f"{name}.jsonl")
    plant(broken)
    assert re.search(told, now := found(broken)), now or "nothing is found"
