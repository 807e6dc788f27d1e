"""Whatever of the wider tools is forged in a log, its chain put right again, prove names it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.broken import Broken
from tests.support.checking.logs import Doc
from tests.support.forging import differing

HISTORIES = Path(__file__).parents[1] / "histories"


def answers(home: Broken) -> list[Doc]:
    """What reads were answered with."""
    found = [one.facts[place].data for one, place in home.all("wake.tool_returned.1")]
    return [one for one in found if one.get("agentPosition")]


def a_text_that_was_read(home: Broken) -> None:
    message = next(one["message"] for one in answers(home) if "text" in one["message"])
    message["text"] += " "


def a_read_before_it_was_asked_for(home: Broken) -> None:
    told = answers(home)[-1]
    told["agentPosition"] -= 1
    told["message"] = {"text": "Nothing of the kind."}


def a_read_that_says_not_where_it_was_made(home: Broken) -> None:
    told = answers(home)[-1]
    del told["agentPosition"]
    told["message"] = {"text": "Nothing of the kind."}


def operation(home: Broken, tool: str) -> Doc:
    """The command of the first operation of a tool that wrote something."""
    found = (one.facts[0].data for one in home.logs["journal"] if len(one.facts) > 1)
    commands: list[Doc] = [one.get("command", {}) for one in found]
    return next(one for one in commands if one.get("tool") == tool)


def another_second_task(home: Broken) -> None:
    operation(home, "migrate_checklist_item")["others"] = ["a" * 32]


def no_second_task(home: Broken) -> None:
    del operation(home, "create_follow_up_task")["others"]


def a_third_task(home: Broken) -> None:
    operation(home, "link_task")["others"].append("a" * 32)


def moved(home: Broken) -> Doc:
    added = (one.facts[place].data for one, place in home.all("task.item_added.1"))
    return next(one for one in added if one.get("movedFrom"))


def an_item_from_elsewhere(home: Broken) -> None:
    moved(home)["movedFrom"] = "a" * 32


def an_item_from_nowhere(home: Broken) -> None:
    del moved(home)["movedFrom"]


def an_instant_of_a_local_time(home: Broken) -> None:
    answered = (one.facts[place].data for one, place in home.all("wake.model_answered.1"))
    calls = (call for one in answered for call in one.get("calls", []))
    instant = next(call["instants"] for call in calls if call.get("instants"))[0]
    instant[1] = instant[1].replace(":00:00.", ":07:00.")


def proposed(home: Broken) -> Doc:
    items = (one.facts[place].data for one, place in home.all("changes.item_proposed.1"))
    return next(one for one in items if one.get("becauseAt"))


def another_place_of_a_quote(home: Broken) -> None:
    proposed(home)["becauseAt"] = "title"


def another_quote(home: Broken) -> None:
    proposed(home)["because"] = "Somebody said so."


CASES = [
    ("looked_up", a_text_that_was_read, "find_tasks"),
    ("looked_up", a_read_before_it_was_asked_for, "read_task.agentPosition"),
    ("looked_up", a_read_that_says_not_where_it_was_made, "read_task.agentPosition"),
    ("follow_ups", another_second_task, "rows"),
    ("follow_ups", no_second_task, "rows"),
    ("follow_ups", a_third_task, "rows"),
    ("follow_ups", an_item_from_elsewhere, "data.movedFrom"),
    ("follow_ups", an_item_from_nowhere, "data.movedFrom"),
    ("time_spent", an_instant_of_a_local_time, "data.arguments.text"),
    ("rules_first_wake", another_place_of_a_quote, "data.becauseAt"),
    ("rules_first_wake", another_quote, "data.because"),
]


@pytest.mark.parametrize(("name", "forge", "path"), CASES, ids=[one[1].__name__ for one in CASES])
def test_what_is_forged_is_named(name: str, forge: Callable[[Broken], None], path: str) -> None:
    home = Broken(HISTORIES / f"{name}.jsonl")
    assert differing(home) == []
    forge(home)
    assert any(where.endswith(path) for _, where in differing(home)), differing(home)
