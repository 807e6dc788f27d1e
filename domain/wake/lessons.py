"""What verdicts on other tasks of its category tell an agent, since scaffold 2 (ADR 50)."""

from collections.abc import Iterator

from domain.agent import identity
from domain.agent.agent import AGENT, Agent
from domain.changes.change_set import CHANGES, ChangeSet, Item, find
from domain.lessons.lessons import CATEGORY, LESSONS, REFERENCES_READ, Lesson, count
from domain.policy.flow import may_enter
from domain.text import fold
from domain.wake.context import edit_of
from domain.wake.reading import EditSeen, LessonSeen, ReasonSeen
from domain.world import World

DECIDED_LEAST = 5
"""Of a tool with fewer verdicts nothing is told."""


def lessons_of(agents: World, agent: Agent, category: str) -> tuple[LessonSeen, ...]:
    """By tool, in the order of their names: how its proposals for other tasks of a category fared.

    Args:
        agents: The agent log at the wake's position.
        agent: Whose wake it is; the verdicts on its own task are told elsewhere.
        category: The one of its task, no other: a reason is a text of a task of it.
    """
    if not may_enter((category,), agent):
        return ()
    own = set(sets_of_task(agents, agent))
    tools = agents.load(LESSONS, CATEGORY + category).tools
    others = {
        tool: [one for one in lessons if one.changes not in own] for tool, lessons in tools.items()
    }
    return tuple(
        _seen(agents, agent, tool, others[tool])
        for tool in sorted(others)
        if len(others[tool]) >= DECIDED_LEAST
    )


def sets_of_task(agents: World, agent: Agent) -> list[str]:
    """The change sets of an agent and of its task's earlier ones."""
    kind, task = agent.agent_kind, agent.task
    known = (identity.agent_id(kind, task, nth) for nth in range(1, agent.generation + 1))
    return [one for each in known for one in agents.load(AGENT, each).sets]


def _seen(agents: World, agent: Agent, tool: str, lessons: list[Lesson]) -> LessonSeen:
    told = [one for one in lessons if one.verdict == "rejected" or one.is_edited]
    reasons: dict[str, ReasonSeen] = {}
    edits: list[EditSeen] = []
    bare = 0
    for changes, item, one in _items(agents, told[:REFERENCES_READ]):
        if one.is_edited:
            edits += _edit(agents, agent, changes, item)
        elif item.reason:
            name = fold(item.reason)
            known = reasons.get(name, ReasonSeen(item.reason, 0))
            tasks = (*known.tasks, changes.task)
            reasons[name] = ReasonSeen(known.text, known.count + 1, tasks)
        else:
            bare += 1
    accepted = count(tuple(lessons), "confirmed")
    by_count = sorted(reasons.values(), key=lambda one: -one.count)  # of equal ones the newest
    return LessonSeen(tool, accepted, len(lessons), tuple(by_count), bare, tuple(edits))


def _items(agents: World, lessons: list[Lesson]) -> Iterator[tuple[ChangeSet, Item, Lesson]]:
    sets = agents.load_each(CHANGES, [one.changes for one in lessons])
    for changes, one in zip(sets, lessons, strict=True):
        if item := find(changes, one.item):  # pragma: no branch  # a lesson is of an item
            yield changes, item, one


def _edit(agents: World, agent: Agent, changes: ChangeSet, item: Item) -> list[EditSeen]:
    """What the person made of a proposal, which is a text of the agent that made it, too."""
    written_under = agents.load(AGENT, changes.agent).categories_ever or ()
    if item.arguments_now is None or not may_enter(written_under, agent):
        return []
    field = next((one for one in item.touches if ":" not in one), item.tool)
    edit = edit_of(agents.text(item.arguments), agents.text(item.arguments_now))
    return [EditSeen(field, edit, changes.task)]
