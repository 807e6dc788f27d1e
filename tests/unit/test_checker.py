"""The independent checker bites: what is planted in a home is named, and nothing is in a sound one.

Homes are read from histories; after each change numbers, versions and chain are put right, so that
it is the law itself that is looked for, and not the seal over it.
"""

import ast
import re
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

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


def check_named(name: str, plant: Callable[[Broken], None], told: str) -> None:
    """What is planted in a kept home, in which nothing was found, is told like that."""
    broken = Broken(HISTORIES / f"{name}.jsonl")
    assert found(broken) == ""
    plant(broken)
    assert re.search(told, said := found(broken)), said or "nothing is found"


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


def a_missing_append(home: Broken) -> None:
    del home.logs["journal"][2]


def appends_out_of_order(home: Broken) -> None:
    one = home.logs["agent"]
    one[3], one[4] = one[4], one[3]


def time_that_goes_back(home: Broken) -> None:
    home.logs["agent"][5].at = "2026-01-01T00:00:00.000000Z"


def two_receipts_of_a_key(home: Broken) -> None:
    first, second = (one.facts for one in home.logs["agent"][1:3])
    second[0] = second[0]._replace(stream=first[0].stream)


def an_append_without_a_cause(home: Broken) -> None:
    home.drop("receipt.1")


def a_dropped_payload(home: Broken) -> None:
    named = home.data("wake.model_answered.1")["reply"]
    del home.payloads[named]


def an_altered_payload(home: Broken) -> None:
    named = home.data("wake.started.1")["snapshot"]
    home.payloads[named] += b" "


def a_payload_of_another_unit(home: Broken) -> None:
    data = home.data("wake.model_answered.1")
    home.payloads[key("payload", "elsewhere", b"x")] = b"x"
    data["reply"] = key("payload", "elsewhere", b"x")


def a_payload_that_nobody_names(home: Broken) -> None:
    home.payloads[key("payload", "shared", b"x")] = b"x"


def a_drawn_run_key(home: Broken) -> None:
    home.data("alert.wake_queued.1")["runKey"] = "a" * 32


def a_drawn_operation(home: Broken) -> None:
    home.data("changes.item_confirming.1")["operation"] = "b" * 32


def a_drawn_fingerprint(home: Broken) -> None:
    home.data("changes.item_proposed.1")["fingerprint"] = "c" * 32


def a_drawn_agent(home: Broken) -> None:
    one, place = home.find("agent.created.1")
    one.facts[place] = one.facts[place]._replace(stream=f"agent:{'d' * 32}@r1")


def a_drawn_category(home: Broken) -> None:
    home.data("catalog.category_added.1")["category"] = "e" * 32


def a_second_answer(home: Broken) -> None:
    one, _ = home.find("wake.model_answered.1")
    home.logs["agent"].append(again := deepcopy(one))
    again.n, again.at = home.logs["agent"][-2].n + 1, home.logs["agent"][-2].at


def an_answer_that_nobody_asked_for(home: Broken) -> None:
    home.drop("wake.model_asked.1")


def an_answer_to_another_attempt(home: Broken) -> None:
    home.data("wake.model_answered.1")["attempt"] += 1


def an_effect_without_an_intent(home: Broken) -> None:
    home.drop("changes.item_confirming.1")


def an_outcome_without_an_effect(home: Broken) -> None:
    operation = home.data("changes.item_confirming.1")["operation"]
    journal = home.logs["journal"]
    home.logs["journal"] = [one for one in journal if operation not in one.facts[0].stream]


def an_outcome_that_differs(home: Broken) -> None:
    home.data("changes.item_confirmed.1")["position"] -= 1


def a_journal_that_is_older(home: Broken) -> None:
    home.cut("journal", 2)


def a_done_set_by_an_agent(home: Broken) -> None:
    operation = home.data("changes.item_confirmed.1")["position"]
    one = next(one for one in home.logs["journal"] if one.n == operation)
    fact = one.facts[-1]
    by = fact.data["by"]
    one.facts[-1] = fact._replace(data={"kind": "task.status_set.1", "by": by, "status": "DONE"})


def a_write_to_another_category(home: Broken) -> None:
    home.data("task.created.1")["category"] = "f" * 32


def a_dropped_suppression(home: Broken) -> None:
    home.drop("alert.trigger_suppressed.1", rule="own_write")


def a_trigger_that_is_noted_twice(home: Broken) -> None:
    one, place = home.find("alert.trigger_suppressed.1")
    one.facts.append(deepcopy(one.facts[place]))


def a_merged_trigger_that_is_dropped(home: Broken) -> None:
    places = home.all("alert.trigger_merged.1")
    one, place = next(spot for spot in places if "batches" in spot[0].facts[0].data["command"])
    del one.facts[place]


def a_range_that_is_taken_twice(home: Broken) -> None:
    last = home.all("watch.journal_taken.1")[-1]
    last[0].facts[last[1]].data["first"] -= 1


def a_range_that_is_left_out(home: Broken) -> None:
    last = home.all("watch.journal_taken.1")[-1]
    last[0].facts[last[1]].data["first"] += 1


def a_batch_that_differs(home: Broken) -> None:
    one, _ = home.find("watch.journal_taken.1")
    one.facts[0].data["command"]["batches"][0]["tokens"].pop()


def a_wake_without_an_end(home: Broken) -> None:
    home.drop("wake.finished.1", outcome="completed")


def two_wakes_at_once(home: Broken) -> None:
    home.drop("alert.settled.1")


def a_wake_that_begins_unqueued(home: Broken) -> None:
    home.drop("alert.wake_queued.1")


def triggers_that_are_not_passed_on(home: Broken) -> None:
    one, _ = home.find("alert.wake_dropped.1", code="superseded")
    merged = [fact for fact in one.facts if fact.topic == "alert.trigger_merged.1"]
    one.facts.remove(merged[-1])


def an_item_that_is_decided_twice(home: Broken) -> None:
    one, place = home.find("changes.item_confirmed.1")
    one.facts.append(deepcopy(one.facts[place]))


def an_item_that_nobody_proposed(home: Broken) -> None:
    home.drop("changes.item_proposed.1")


def a_set_that_nobody_is_shown(home: Broken) -> None:
    home.drop("changes.opened.1")


def a_turn_too_many(home: Broken) -> None:
    home.data("wake.started.1")["turnMax"] = 21


def a_prompt_that_is_too_long(home: Broken) -> None:
    one, _ = home.find("wake.started.1")
    one.facts[0].data["command"]["promptMaxBytes"] = 100


def words_that_stand_in_a_row(home: Broken) -> None:
    home.data("changes.item_proposed.1")["arguments"] = {"text": "x" * 1025}


def an_operation_over_two(home: Broken) -> Doc:
    """The command of the first operation that wrote to a second task."""
    receipts = (one.facts[0].data for one in home.logs["journal"] if len(one.facts) > 1)
    commands = (one.get("command", {}) for one in receipts)
    found: Doc = next(one for one in commands if one.get("others"))
    return found


def a_second_task_that_was_not_named(home: Broken) -> None:
    an_operation_over_two(home)["others"] = ["a" * 32]


def a_second_task_of_another_category(home: Broken) -> None:
    an_operation_over_two(home)["categories"] = []


def an_item_that_moves_and_is_another(home: Broken) -> None:
    moved(home)["title"] = "Another"


def an_item_that_moves_and_is_ticked(home: Broken) -> None:
    moved(home)["isChecked"] = True


def an_item_that_moves_and_stays(home: Broken) -> None:
    home.drop("task.item_archived.1", item=moved(home)["movedFrom"])


def moved(home: Broken) -> Doc:
    added = (one.facts[place].data for one, place in home.all("task.item_added.1"))
    return next(one for one in added if one.get("movedFrom"))


def time_that_an_agent_lays_over_other_time(home: Broken) -> None:
    one, place = next(
        spot
        for spot in home.all("task.time_logged.1")
        if spot[0].facts[spot[1]].data["by"].startswith("agent:")
    )
    again = deepcopy(one.facts[place])
    again.data["entry"] = "a" * 32
    one.facts.append(again)


def a_wake_within_a_sleep(home: Broken) -> None:
    home.data("alert.slept.1")["until"] = "2099-01-01T00:00:00.000000Z"


def a_wake_that_was_ordered_off(home: Broken) -> None:
    home.data("agent.slept.1")["until"] = "2099-01-01T00:00:00.000000Z"


CASES = [
    ("verdicts", a_missing_append, "law 1: journal:r1:4: append 3 is missing"),
    ("crashes", appends_out_of_order, "missing or out of order"),
    ("crashes", time_that_goes_back, "law 1: .* time goes back"),
    ("crashes", two_receipts_of_a_key, "law 2: .* was used by agent:r1:2"),
    ("crashes", an_append_without_a_cause, "law 2: .* which is no cause"),
    ("crashes", a_dropped_payload, "law 6: .* of wake.model_answered.1 is gone"),
    ("crashes", an_altered_payload, "law 6: .* is not what its id says"),
    ("crashes", a_payload_of_another_unit, "law 6: .* is not what its id says"),
    ("crashes", a_payload_that_nobody_names, "law 6: agent: no row names the payload"),
    ("crashes", a_drawn_run_key, "law 3: .* the run key is a{32} and not"),
    ("verdicts", a_drawn_operation, "law 3: .* the operation is b{32} and not"),
    ("verdicts", a_drawn_fingerprint, "law 3: .* the fingerprint is c{32} and not"),
    ("verdicts", a_drawn_agent, "law 3: .* the agent is d{32} and not"),
    ("verdicts", a_drawn_category, "law 3: .* the category is e{32} and not"),
    ("crashes", a_second_answer, "law 5: .* is taken though the wake|law 9: .* which has ended"),
    ("crashes", an_answer_that_nobody_asked_for, "law 5: .* was never asked for"),
    ("crashes", an_answer_to_another_attempt, "law 5: .* was never asked for"),
    ("verdicts", an_effect_without_an_intent, "law 5: journal:.* has no intent"),
    ("verdicts", an_outcome_without_an_effect, "law 7: agent:.* is not in the journal"),
    ("verdicts", an_outcome_that_differs, "law 7: .* is said to stand at"),
    ("verdicts", a_journal_that_is_older, "law 7: .* and the journal ends at"),
    ("verdicts", a_done_set_by_an_agent, "law 8: .* sets DONE"),
    ("verdicts", a_write_to_another_category, "law 8: .* an agent writes to the category f{32}"),
    ("verdicts", a_dropped_suppression, "law 9: .* is lost to the agent"),
    ("verdicts", a_trigger_that_is_noted_twice, "law 9: .* is noted 2 times"),
    ("neighbours", a_merged_trigger_that_is_dropped, "law 9: .* is lost to the agent"),
    ("modes_and_reasons", a_range_that_is_taken_twice, "law 9: .* and before that those up to"),
    ("modes_and_reasons", a_range_that_is_left_out, "law 9: .* and before that those up to"),
    ("modes_and_reasons", a_batch_that_differs, "law 9: .* are not what the journal says"),
    ("crashes", a_wake_without_an_end, "law 9: .* settled or dropped"),
    ("second_wakes", two_wakes_at_once, "law 9: .* begins while"),
    ("second_wakes", a_wake_that_begins_unqueued, "law 9: .* begins and was not queued"),
    ("second_wakes", triggers_that_are_not_passed_on, "law 9: .* are in superseded wakes only"),
    ("verdicts", an_item_that_is_decided_twice, "law 9: .* which is confirmed"),
    ("verdicts", an_item_that_nobody_proposed, "law 9: .* which nobody proposed|follows"),
    ("verdicts", a_set_that_nobody_is_shown, "law 9: .* is opened, or its agent's, and not both"),
    ("crashes", a_turn_too_many, "law 10: .* may have 21 turns"),
    ("crashes", a_prompt_that_is_too_long, "law 10: .* its prompt has"),
    ("follow_ups", a_second_task_that_was_not_named, "law 7: .* is not as agent:.* asked"),
    ("follow_ups", a_second_task_of_another_category, "law 8: .* writes to the category"),
    ("follow_ups", an_item_that_moves_and_is_another, "law 8: .* moved as .*Another"),
    ("follow_ups", an_item_that_moves_and_is_ticked, "law 8: .* moved as .*True"),
    ("follow_ups", an_item_that_moves_and_stays, "law 8: .* and leaves no task"),
    ("time_spent", time_that_an_agent_lays_over_other_time, "law 8: .* lays the entry"),
    ("asleep", a_wake_within_a_sleep, "law 9: .* and its agent sleeps until 2099"),
    ("ordered_to_sleep", a_wake_that_was_ordered_off, "law 9: .* and its agent sleeps until 2099"),
    ("verdicts", words_that_stand_in_a_row, "law 10: .* stands in the row"),
]


@pytest.mark.parametrize(("name", "plant", "told"), CASES, ids=[one[1].__name__ for one in CASES])
def test_what_is_planted_is_named(name: str, plant: Callable[[Broken], None], told: str) -> None:
    check_named(name, plant, told)
