"""After a completed wake of scaffold 2 there is at most one open proposal a field and agent; a wake
that failed takes nothing back."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.changes.change_set import ChangeItem
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem
from tests.support.scripted_wakes import GONE, call, ended, items, woken
from tests.support.services import divergences, services, task_with_agent
from wakelog.testing import calls as reply

OFFERS = [
    *(call("update_task_estimate", minutes=n) for n in (10, 20, 30)),
    *(call("update_task_due_date", dueDate=f"2027-01-0{n}") for n in (1, 2)),
    *(call("add_multiple_checklist_items", items=[{"title": n}]) for n in "ab"),
]
VERDICTS = {"confirming": ConfirmItem, "rejected": RejectItem, "deferred": DeferItem}
FIELD = {"update_task_estimate": "estimate", "update_task_due_date": "due"}
wakes = st.tuples(
    st.lists(st.sampled_from(OFFERS), min_size=1, max_size=4),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(list(VERDICTS))), max_size=2),
)


def undecided(found: list[ChangeItem]) -> Counter[str]:
    """How many items of each field wait for a verdict."""
    waiting = (one for one in found if one.status in ("pending", "deferred"))
    return Counter(FIELD[one.tool] for one in waiting if one.tool in FIELD)


@settings(max_examples=25)
@given(history=st.lists(wakes, min_size=1, max_size=4))
@pytest.mark.slow
def test_the_newest_idea_stands_alone_unless_its_wake_failed(
    history: list[tuple[list[tuple[str, str]], bool, list[tuple[int, str]]]],
) -> None:
    at = services()
    _, agent = task_with_agent(at)
    sets: list[str] = []
    for offers, is_completed, verdicts in history:
        before = [one.status for made in sets for one in items(at, made)]
        replies = ended(*offers) if is_completed else (reply(*offers), GONE)
        sets.append(woken(at, agent, *replies))
        found = [one for made in sets for one in items(at, made)]
        if is_completed:
            proposed = undecided(list(items(at, sets[-1])))
            assert set(proposed.values()) <= {1}
            assert all(undecided(found)[field] == 1 for field in proposed)
        else:
            assert [one.status for one in found][: len(before)] == before
        new = found[len(before) :]
        added = [one for one in new if one.tool not in FIELD]
        assert {one.status for one in added} <= {"pending"}
        is_replaced = [one for one in found if one.reason.startswith("replaced by ")]
        assert all(one.status == "retracted" for one in is_replaced)
        places = [(made, one.number) for made in sets for one in items(at, made)]
        for nth, verdict in verdicts:
            if (
                nth < len(found)
                and items(at, places[nth][0])[places[nth][1] - 1].status == "pending"
            ):
                at.append_agent(VERDICTS[verdict](*places[nth], "person", at.journal.tail().n))
    assert divergences(at) == []
