"""The tasks that the owned one is linked with, as far as its agent may see them (SPEC 4)."""

from collections.abc import Iterator, Mapping

from domain.agent.agent import Agent
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.fold import TASK
from domain.journal.links import LINKS, PHRASE_OF
from domain.journal.task import Task
from domain.policy.flow import may_enter
from domain.policy.projections import project
from domain.tools.snapshot import SnapshotLink
from domain.wake.reading import LinkedAgent, LinkSeen
from domain.world import MAIN, World


def linked(
    journal: World,
    task: Task,
    agent: Agent,
    linked_agents: Mapping[str, LinkedAgent],
    scaffold: int,
) -> tuple[LinkSeen, ...]:
    """Direct links, outgoing first, each once as it is seen from the task."""
    catalog = journal.load(CATALOG, MAIN)
    found: dict[tuple[str, str], LinkSeen] = {}
    for phrase, direction, target in _edges(journal, task):
        if (phrase, target) not in found:
            said = linked_agents.get(target, LinkedAgent())
            other = journal.load(TASK, target)
            told = direction if scaffold >= 2 else ""
            found[phrase, target] = _link(phrase, told, other, agent, said, catalog, scaffold)
    return tuple(found.values())


def linked_tasks(journal: World, task: Task, agent: Agent) -> tuple[SnapshotLink, ...]:
    """The living tasks that a task is linked with and its agent may see, for its snapshot."""
    found: dict[tuple[str, str], SnapshotLink] = {}
    for phrase, _, target in _edges(journal, task):
        other = journal.load(TASK, target)
        if other.exists and not other.is_deleted and may_enter((other.category,), agent):
            one = SnapshotLink(target, phrase, other.title, other.category, other.status)
            found.setdefault((phrase, target), one)
    return tuple(found.values())


def _edges(journal: World, task: Task) -> Iterator[tuple[str, str, str]]:
    """The relation as it is seen from the task, its direction, and the other task."""
    for link in task.links:
        yield link.relation, "outgoing", link.target
    for edge in journal.load(LINKS, task.id).incoming:
        yield PHRASE_OF.get(edge.relation, edge.relation), "incoming", edge.source


def _link(
    phrase: str,
    direction: str,
    other: Task,
    agent: Agent,
    said: LinkedAgent,
    catalog: Catalog,
    scaffold: int,
) -> LinkSeen:
    if not other.exists or not may_enter((other.category,), agent):
        return project("linked_task", LinkSeen(phrase, direction=direction), scaffold)
    if other.is_deleted:
        gone = LinkSeen(phrase, is_deleted=True, direction=direction)
        return project("linked_task", gone, scaffold)
    seen = LinkSeen(
        phrase,
        other.id,
        other.title,
        other.status,
        other.priority,
        said.one_liner,
        direction=direction,
        due=other.due if scaffold >= 2 else "",
        labels=_labels(catalog, other, agent) if scaffold >= 2 else (),
        tldr=said.tldr if scaffold >= 2 else "",
    )
    return project("linked_task", seen, scaffold)


def _labels(catalog: Catalog, task: Task, agent: Agent) -> tuple[str, ...]:
    """Names of a task's labels, but of those that belong to categories of others."""
    known = [catalog.labels[label] for label in task.labels if label in catalog.labels]
    allowed = set(agent.categories)
    return tuple(one.name for one in known if not one.categories or allowed & set(one.categories))
