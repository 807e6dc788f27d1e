"""Items of two tasks, whatever else is done between a proposal and its confirmation: timers,
deletions, other categories, of a task or of what the agent may touch, follow-ups of follow-ups."""

from collections import Counter
from collections.abc import Callable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AGENT_KIND, AgentSettings, agent_id
from domain.changes.change_set import is_open, set_id
from domain.changes.dependencies import dependency_of, follow_up_id
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.catalog import category_id
from domain.journal.task import TASK, ItemAdded, Task
from tests.support.scripted_wakes import call, ended, items, woken
from tests.support.services import divergences, queued_key, services, task_with_agent

HOME, HEALTH = category_id("Inbox"), category_id("Health")
DEEDS = ("confirm", "confirm", "confirm", "reject", "delete", "restore", "timer", "stop",
         "category", "category back", "allow less", "allow all", "tick", "untick")  # fmt: skip
steps = st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 5)), max_size=14)


class Pair:
    """A task with three items, a linked one, and proposals over both of them and a new one."""

    def __init__(self) -> None:
        self.at: Services = services()
        self.at.append_journal(do.AddCategory("Health"))
        self.task, self.agent = task_with_agent(self.at)
        self.other = self.at.append_journal(do.CreateTask("Mend the roof")).result.ids[0]
        self.at.append_journal(do.LinkTask(self.task, "relates_to", self.other))
        added = do.AddItems(self.task, ("a", "b", "c"))
        self.items = self.at.append_journal(added).result.ids
        self.new = follow_up_id(set_id(queued_key(self.at, self.agent)), 1)
        first, second, third = ({"id": one} for one in self.items)
        self.set = woken(
            self.at,
            self.agent,
            *ended(
                call("create_follow_up_task", title="The rest", carryOver=[first]),
                call("migrate_checklist_items", items=[second], targetTaskId=self.new),
                call("migrate_checklist_items", items=[third], targetTaskId=self.other),
                call("link_task", relation="blocks", targetTaskId=self.other),
            ),
        )

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.task, self.other, self.new

    def load(self, task: str) -> Task:
        with self.at.journal.reading() as world:
            return world.load(TASK, task)

    def held(self, *tasks: str) -> Counter[str]:
        """The titles of what is not archived."""
        loaded = [self.load(one) for one in tasks or self.tasks]
        return Counter(item.title for task in loaded for item in task.items if not item.is_archived)

    def do(self, deed: str, which: int) -> None:
        task, wanted = self.tasks[which % 3], items(self.at, self.set)
        number = wanted[which % len(wanted)].number
        match deed:
            case "confirm":
                review.confirm(self.at, self.set, number, is_anyway=which > 2)
            case "reject":
                review.reject(self.at, self.set, number, "")
            case "allow less" | "allow all":
                allowed = (HOME, HEALTH) if deed == "allow all" else ((HOME,), (HEALTH,))[which % 2]
                self.at.append_agent(ConfigureAgent(self.agent, AgentSettings(categories=allowed)))
            case _:
                self.at.append_journal(_COMMANDS[deed](task, self.items[which % 3]))

    def try_to(self, deed: str, which: int) -> None:
        try:
            self.do(deed, which)
        except Refused:
            return


_COMMANDS: dict[str, Callable[[str, str], do.JournalCommand]] = {
    "delete": lambda task, _: do.DeleteTask(task),
    "restore": lambda task, _: do.RestoreTask(task),
    "timer": lambda task, _: do.StartTimer(task),
    "stop": lambda _, __: do.StopTimer(),
    "category": lambda task, _: do.EditTask(task, category=HEALTH),
    "category back": lambda task, _: do.EditTask(task, category=HOME),
    "tick": lambda task, item: do.EditItem(task, item, is_checked=True),
    "untick": lambda task, item: do.EditItem(task, item, is_checked=False),
}


@settings(max_examples=40)
@given(done=steps)
@example(done=[("confirm", 0), ("delete", 2), ("confirm", 1), ("restore", 2), ("confirm", 1)])
@example(done=[("delete", 1), ("confirm", 2), ("confirm", 3)])
@example(done=[("delete", 0), ("confirm", 0), ("restore", 0), ("confirm", 1)])
@example(done=[("allow less", 1), ("confirm", 0), ("allow all", 0), ("confirm", 0)])
@example(done=[("category", 1), ("confirm", 2), ("allow all", 0), ("confirm", 2)])
def test_items_stand_once_whatever_happens_to_their_tasks_meanwhile(
    done: list[tuple[str, int]],
) -> None:
    pair = Pair()
    before = pair.held()
    for deed, which in done:
        was = {one: (pair.load(one), pair.at.agent(pair.agent).categories) for one in pair.tasks}
        pair.try_to(deed, which)
        assert pair.held() == before
        changes = review.changes_of(pair.at, pair.set)
        for item in filter(is_open, changes.items):
            need = dependency_of(changes, item)
            assert need is None or is_open(need) or need.status == "confirmed"
        for task, (known, allowed) in was.items():
            if deed == "confirm" and pair.load(task) != known:
                may_be_made = not known.exists and task == pair.new
                assert may_be_made or (known.category in allowed and not known.is_deleted)
    assert divergences(pair.at) == []


def test_a_follow_up_of_a_follow_up_keeps_what_moves_twice() -> None:
    pair = Pair()
    before = pair.held()
    for number in (1, 2):
        review.confirm(pair.at, pair.set, number)
    heir = agent_id(AGENT_KIND, pair.new, 1)
    carried = [{"id": one.id} for one in pair.load(pair.new).items]
    assert len(carried) == 2
    made = follow_up_id(set_id(queued_key(pair.at, heir)), 1)
    rest = call("create_follow_up_task", title="What is left of it", carryOver=carried)
    back = call("migrate_checklist_items", items=carried[:1], targetTaskId=pair.task)
    last = woken(pair.at, heir, *ended(rest, back))
    review.confirm(pair.at, last, 1)
    review.confirm(pair.at, last, 2)  # it has gone elsewhere
    assert [one.error_code for one in items(pair.at, last)] == ["", "stale"]
    assert pair.held(*pair.tasks, made) == before
    assert pair.held(made) == {"a": 1, "b": 1}
    moved = [one.moved_from for one in facts(pair.at, made)]
    assert moved == [one["id"] for one in carried]
    assert divergences(pair.at) == []


def facts(at: Services, task: str) -> list[ItemAdded]:
    rows = (row for append in at.journal.appends() for row in append if row.entity == task)
    return [row.fact for row in rows if isinstance(row.fact, ItemAdded)]
