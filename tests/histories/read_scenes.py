"""Scenes of reads: what is found, told, cut and not told, and reads that are refused or cut off."""

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent.deciders import AgentSettings
from domain.changes.change_set import set_id
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.log.wire import Words
from tests.histories.acting import ESTIMATE, Scene, told
from tests.histories.tool_scenes import call, wake
from tests.support.services import services, task_with_agent

SECRET = "ghp_" + "a1B2" * 9


def find(words: str, **given: object) -> tuple[str, str]:
    return call("find_tasks", words=words, **given)


def looked_up() -> Services:
    """Tasks of two categories, a task with all that may be told of it, and a home in which both
    logs go on between the reads."""
    at = services()
    task, agent = task_with_agent(at, "Fix the sink")
    other, neighbour = task_with_agent(at, "Buy a new SINK, and a tap")
    (health,) = told(at, do.AddCategory("Health"))
    (hidden,) = told(at, do.CreateTask("Sink baths", health))
    (gone,) = told(at, do.CreateTask("An old sink"))
    told(at, do.DeleteTask(gone))
    (long,) = told(at, do.CreateTask(f"Sink {SECRET} " + "längs " * 24))
    told(at, do.EditTask(long, status="BLOCKED", reason="waits", due="2027-05-01", priority="P1"))
    told(at, do.AddItems(long, tuple(f'Part {nth} "of" {"x" * 200}' for nth in range(20))))
    told(at, do.AddLabel("Metal", ()), "metal")
    told(at, do.ChangeLabels(long, assign=(label_id("Metal"),)))
    for nth in range(12):
        told(at, do.CreateTask(f"Sink number {nth}"))
    wake(at, neighbour, [call("record_observations", observations=["Taps of brass"])])
    wake(
        at,
        agent,
        [find("SINK, tap"), find("sink", limit=3), find("sink", status="blocked"), find("!?")],
        [call("read_task", taskId=one) for one in (long, other, hidden)],
        [find("sink"), call("read_task", task_id=gone, extra=1), find("")],
    )
    for one in (task, other):
        told(at, agents.ConfigureAgent(neighbour, AgentSettings(categories=(health,))))
        wake(at, neighbour, [find("sink"), call("read_task", taskId=one)])
    return at


def recalled() -> Services:
    """An agent's own past and its task's log, also after it was allowed less."""
    at = services()
    task, agent = task_with_agent(at, "Fix the sink")
    items = told(at, do.AddItems(task, ("Washer", "Tape")))
    told(at, do.AddNote(task, "note", Words(f"The washer leaks, key {SECRET}")))
    told(at, do.EditTask(task, status="BLOCKED", reason="the washer is missing"))
    told(at, do.EditItem(task, items[0], is_checked=True))
    seen = call("record_observations", observations=["The washer is odd", "漢" * 900])
    made = set_id(wake(at, agent, [seen, ESTIMATE]))
    review.reject(at, made, 1, "no washer yet")
    (health,) = told(at, do.AddCategory("Health"))
    words = ("washer", "WASHER the", "washer nobody", "漢" * 900, "estimate", "sink well")
    wake(at, agent, [call("recall", words=one[:200]) for one in words])
    told(at, agents.ConfigureAgent(agent, AgentSettings(categories=(health,))))
    told(at, do.EditTask(task, category=health))
    wake(at, agent, [call("recall", words="washer", limit=2), call("recall", words="odd")])
    return at


SCENES: tuple[Scene, ...] = (looked_up, recalled)
