"""What moves between tasks is neither lost nor doubled, whatever is decided, whatever dies."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.home.settings import Settings
from adapters.runtime import review
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from domain.agent import deciders
from domain.agent.agent import AGENT
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings
from domain.append.causes import Receipt
from domain.changes.change_set import set_id
from domain.changes.dependencies import dependency_of, follow_up_id, target_of
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.commands import ApplyOperation
from domain.journal.task import TASK, Task
from domain.log.wire import Words, payload
from tests.support.faults import Died, FaultyRecorder, Fuse
from tests.support.scripted_wakes import call, ended, items, woken
from tests.support.services import (
    TickingClock,
    divergences,
    queued_key,
    services,
    task_with_agent,
)

GOES = ("stays", "carried", "to the new one", "to the linked one")
things = st.lists(
    st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from(GOES)), min_size=1, max_size=5
)
"""Items by title (some twice), tick, and where a wake proposes that they go."""


class Rolled:
    """A task with such items, a linked one, and a wake that proposed what becomes of them."""

    def __init__(
        self, found: list[tuple[str, bool, str]], logs: tuple[Log, Log] | None = None
    ) -> None:
        self.at = services()
        if logs:
            self.at = Services(*logs, TickingClock(), Settings(), self.at.model_for)
        self.task, self.agent = task_with_agent(self.at)
        self.other = self.at.append_journal(do.CreateTask("Mend the roof")).result.ids[0]
        self.at.append_journal(do.LinkTask(self.task, "relates_to", self.other))
        titles = tuple(title for title, _, _ in found)
        ids = self.at.append_journal(do.AddItems(self.task, titles)).result.ids
        for item, (_, is_checked, _) in zip(ids, found, strict=True):
            self.at.append_journal(do.EditItem(self.task, item, is_checked=is_checked))
        self.new = follow_up_id(set_id(queued_key(self.at, self.agent)), 1)
        goes = {one: [{"id": i} for i, f in zip(ids, found, strict=True) if f[2] == one]
                for one in GOES}  # fmt: skip
        is_open = {i for i, f in zip(ids, found, strict=True) if not f[1]}
        carried = [one for one in goes["carried"] if one["id"] in is_open]
        calls = [call("create_follow_up_task", title="The rest", carryOver=carried)]
        for where, target in (("to the new one", self.new), ("to the linked one", self.other)):
            if goes[where]:
                moved = {"items": goes[where], "targetTaskId": target}
                calls.append(call("migrate_checklist_items", **moved))
        calls.append(call("link_task", relation="blocks", targetTaskId=self.new))
        self.set = woken(self.at, self.agent, *ended(*calls))

    def load(self, task: str) -> Task:
        with self.at.journal.reading() as world:
            return world.load(TASK, task)

    def held(self) -> Counter[tuple[str, bool, str]]:
        """What is not archived, over all tasks: title, tick, and whose tick it is."""
        tasks = [self.load(one) for one in (self.task, self.other, self.new)]
        return Counter(
            (item.title, item.is_checked, item.checked_by)
            for task in tasks
            for item in task.items
            if not item.is_archived
        )

    def confirm_all(self) -> None:
        for item in items(self.at, self.set):
            review.confirm(self.at, self.set, item.number)


@settings(max_examples=30)
@given(found=things)
def test_every_title_keeps_its_tick_and_stands_once(found: list[tuple[str, bool, str]]) -> None:
    rolled = Rolled(found)
    before = rolled.held()
    for item in items(rolled.at, rolled.set):
        review.confirm(rolled.at, rolled.set, item.number)
        assert rolled.held() == before
    assert {one.status for one in items(rolled.at, rolled.set)} == {"confirmed"}
    assert divergences(rolled.at) == []


@settings(max_examples=15)
@given(found=things, keeps_items=st.booleans())
def test_concluding_a_task_loses_nothing(
    found: list[tuple[str, bool, str]], *, keeps_items: bool
) -> None:
    rolled = Rolled(found)
    before, title = rolled.held(), payload(rolled.task, b"The rest")
    command = do.ConcludeTask(rolled.task, Words(payload=title.id), keeps_items)
    made, _ = rolled.at.append_journal(command, payloads=[title]).result.ids
    rolled.new = made
    assert rolled.held() == before
    left = [one for one in rolled.load(rolled.task).items if not one.is_archived]
    assert all(one.is_checked for one in left) or keeps_items
    assert len(rolled.load(made).items) == sum(
        not one.is_checked for one in rolled.load(rolled.task).items
    ) * (not keeps_items)
    assert rolled.load(rolled.task).status == "DONE"
    assert divergences(rolled.at) == []


@settings(max_examples=15)
@given(found=things)
def test_an_effect_over_two_tasks_is_done_once(found: list[tuple[str, bool, str]]) -> None:
    rolled = Rolled(found)
    rolled.confirm_all()
    once = [rolled.load(one) for one in (rolled.task, rolled.other, rolled.new)]
    last = rolled.at.journal.tail().n
    receipts = [rows[0].fact for rows in rolled.at.journal.appends()]
    operations = [
        one.command
        for one in receipts
        if isinstance(one, Receipt) and isinstance(one.command, ApplyOperation)
    ]
    assert len(operations) == len(items(rolled.at, rolled.set))
    for command in operations:
        again = rolled.at.append_journal(command, key=command.operation)
        assert (again.rows, again.result.status) == ((), "applied")
    rolled.confirm_all()
    assert rolled.at.journal.tail().n == last
    assert [rolled.load(one) for one in (rolled.task, rolled.other, rolled.new)] == once


@settings(max_examples=40)
@given(found=things, data=st.data())
def test_no_order_of_decisions_leaves_an_item_of_a_task_that_is_not_there(
    found: list[tuple[str, bool, str]], data: st.DataObject
) -> None:
    rolled = Rolled(found)
    numbers, codes = [one.number for one in items(rolled.at, rolled.set)], set[str]()
    for number in data.draw(st.permutations(numbers * 2)):
        verb = data.draw(st.sampled_from(["confirm", "confirm", "reject", "defer"]))
        try:
            if verb == "confirm":
                review.confirm(rolled.at, rolled.set, number)
            elif verb == "reject":
                review.reject(rolled.at, rolled.set, number, "")
            else:
                review.defer(rolled.at, rolled.set, number, "")
        except Refused as refused:
            codes.add(refused.code)
        changes = review.changes_of(rolled.at, rolled.set)
        for item in changes.items:
            target, need = target_of(item), dependency_of(changes, item)
            if target and item.status == "confirmed":
                assert rolled.load(target).exists
            elif need and item.status in ("pending", "deferred", "confirming"):
                assert need.status in ("pending", "deferred", "confirmed")
    assert codes <= {"needs_first", "decided"}
    assert divergences(rolled.at) == []


BOTH = [("a", False, "carried"), ("b", False, "carried"), ("c", True, "to the linked one")]
"""Of which the follow-up takes the first two."""


@pytest.mark.parametrize("boundary", range(1, 11))
def test_a_crash_at_any_append_leaves_both_tasks_changed_or_neither(boundary: int) -> None:
    kept = MemoryLogRecorder(), MemoryLogRecorder()
    rolled = Rolled(BOTH, (Log("journal", kept[0], "r1"), Log("agent", kept[1], "r1")))
    categories = (rolled.load(rolled.task).category, "elsewhere")
    wanted = ConfigureAgent(rolled.agent, AgentSettings(categories=categories))
    rolled.at.append_agent(wanted)
    before, fuse = rolled.held(), Fuse(boundary)
    journal, agents = (
        Log(name, FaultyRecorder(one, fuse), "r1")
        for name, one in zip(("journal", "agent"), kept, strict=True)
    )
    dying = Services(journal, agents, TickingClock(), Settings(), rolled.at.model_for)
    with pytest.raises(Died):
        review.confirm(dying, rolled.set, 1)
    gone = sum(item.is_archived for item in rolled.load(rolled.task).items)
    came = len(rolled.load(rolled.new).items)
    assert (gone, came) in ((0, 0), (2, 2))
    assert rolled.held() == before
    review.recover(rolled.at, rolled.set)
    review.confirm(rolled.at, rolled.set, 1)
    assert items(rolled.at, rolled.set)[0].status == "confirmed"
    assert (rolled.held(), len(rolled.load(rolled.new).items)) == (before, 2)
    with rolled.at.agents.reading() as world:
        heir = world.load(AGENT, deciders.agent_id(deciders.AGENT_KIND, rolled.new, 1))
    assert (heir.lifecycle, heir.categories) == ("active", categories)
    assert divergences(rolled.at) == []
