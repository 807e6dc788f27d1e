"""Whatever one log says of an operation and the other does not bear out, prove names it.

Each forgery redoes the chain of digests. Up to revision 35825a8 prove found none of them.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from domain.append.causes import Replied
from domain.changes.change_set import ItemFailed
from domain.journal.commands import AddNote
from domain.log.wire import Words
from tests.support.broken import Broken
from tests.support.checking.logs import Doc
from tests.support.forging import differing, found, replace_last

HISTORIES = Path(__file__).parents[1] / "histories"


def last(home: Broken, log: str) -> Doc:
    return home.logs[log][-1].facts[0].data


def a_note_instead_of_the_effect(home: Broken) -> None:
    command = last(home, "journal")["command"]
    assert command["kind"] == "command.apply_operation.1"
    replace_last(home, "journal", AddNote(command["task"], "note", Words("Kim knows")))


def another_position_of_a_confirmed_item(home: Broken) -> None:
    last(home, "agent")["position"] -= 1


def a_later_position(home: Broken) -> None:
    home.data("changes.item_confirmed.1")["position"] += 1


def a_failure_instead_of_success(home: Broken) -> None:
    told = last(home, "agent")
    one = home.logs["agent"][-1].facts[0]
    set_id = one.stream.partition(":")[2].rpartition("@")[0]
    reply = ItemFailed(told["item"], told["confirmation"], "stale", "it was changed since")
    replace_last(home, "agent", Replied("changes", set_id, reply))


def another_position_of_a_call(home: Broken) -> None:
    data = (one.facts[place].data for one, place in home.all("wake.tool_returned.1"))
    next(one for one in data if one.get("position"))["position"] -= 1


def other_ids_of_a_call(home: Broken) -> None:
    returned = [one.facts[place].data for one, place in home.all("wake.tool_returned.1")]
    changed = next(one for one in returned if one.get("changed"))
    changed["changed"][0] = f"{changed['changed'][0][:-1]}2"


def another_confirmation_that_was_undone(home: Broken) -> None:
    home.data("changes.item_undone.1")["confirmation"] += 1


def other_minutes(home: Broken) -> None:
    for fact in home.logs["journal"][-1].facts:
        command = fact.data.get("command")
        if command:
            words = command["arguments"]
            words["text"] = words["text"].replace('"minutes":', '"minutes":1')
        else:
            fact.data["minutes"] = int(f"1{fact.data['minutes']}")


def a_suppression_that_failed(home: Broken) -> None:
    home.data("changes.suppression_done.1")["code"] = "stale"


def a_lift_that_failed(home: Broken) -> None:
    home.data("changes.lift_done.1")["code"] = "stale"


def another_append_of_an_undone_deed(home: Broken, kind: str = "command.undo_deed.1") -> None:
    receipts = (one.facts[place].data for one, place in home.all("receipt.1"))
    commands = (one["command"] for one in receipts)
    undone = [one for one in commands if one["kind"] == kind]
    undone[-1]["appends"].append(1)


def another_append_of_an_undone_import(home: Broken) -> None:
    another_append_of_an_undone_deed(home, "command.undo_import.1")


CASES = [
    ("verdicts", a_note_instead_of_the_effect, "receipt"),
    ("verdicts", another_position_of_a_confirmed_item, "receipt"),
    ("edited", a_later_position, "data.position"),
    ("verdicts", a_failure_instead_of_success, "outcome"),
    ("verdicts", other_minutes, "operation.arguments"),
    ("refused_calls", another_position_of_a_call, "receipt"),
    ("refused_calls", other_ids_of_a_call, "data.changed"),
    ("labels", a_suppression_that_failed, "outcome"),
    ("undone", a_lift_that_failed, "outcome"),
    ("undone", another_append_of_an_undone_deed, "data.command.appends"),
    ("imports_undone", another_append_of_an_undone_import, "data.command.appends"),
]


@pytest.mark.parametrize(("name", "forge", "path"), CASES, ids=[one[1].__name__ for one in CASES])
def test_what_is_forged_is_named(name: str, forge: Callable[[Broken], None], path: str) -> None:
    home = Broken(HISTORIES / f"{name}.jsonl")
    forge(home)
    assert ("data altered", path) in differing(home)


def test_the_confirmation_that_an_undo_names_is_the_one_it_was_asked_for() -> None:
    home = Broken(HISTORIES / "unconfirmed.jsonl")
    another_confirmation_that_was_undone(home)
    assert ("rule changed", "row") in differing(home)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tool", "update_task_due_date"),
        ("status", "queued"),
        ("callId", "c9"),
        ("action", "another"),
    ],
)
def test_a_result_is_that_of_the_call_that_was_made(name: str, said: str) -> None:
    """The result of a wake's last turn, which nothing reads any more."""
    home = Broken(HISTORIES / "hearsay.jsonl")
    returned = [one.facts[place].data for one, place in home.all("wake.tool_returned.1")]
    [one for one in returned if one["attempt"]][-1][name] = said
    assert ("data altered", f"data.{name}") in differing(home)


def test_an_effect_that_is_gone_is_named_by_its_operation() -> None:
    home = Broken(HISTORIES / "verdicts.jsonl")
    operation = last(home, "journal")["command"]["operation"]
    n = last(home, "agent")["position"]
    a_note_instead_of_the_effect(home)
    (one,) = found(home)
    assert one.position.startswith("agent:")
    assert operation in one.expected
    assert one.actual == f"journal append {n} is none"


def test_an_effect_whose_set_never_heard_of_it_is_in_doubt_and_no_difference() -> None:
    home = Broken(HISTORIES / "verdicts.jsonl")
    home.cut("agent", 1)
    assert differing(home) == []
