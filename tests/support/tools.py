"""What the tests of the tools share: a task as tools see it, before and after facts."""

from typing import Any

from domain.journal.catalog import Catalog, Label
from domain.journal.task import TASK, TaskFact
from domain.log import canonical
from domain.log.state import RecordedEvent
from domain.tools import registry
from domain.tools.base import Facts, Plan, Proposal, ToolRefusal
from domain.tools.snapshot import Snapshot, snapshot

AGENT = "agent:a1"
AT = "2027-01-01T00:00:00.000000Z"
LABELS = ("garden", "garage", "urgent", "kitchen", "bath")
CATALOG = Catalog(
    "main",
    labels={
        **{f"l-{name}": Label(f"l-{name}", name) for name in LABELS},
        "l-elsewhere": Label("l-elsewhere", "elsewhere", categories=("other",)),
    },
)


def given(*facts: TaskFact, task: str = "t1") -> Snapshot:
    """The task that these facts make; the first one is in append 1, the second in 2."""
    state = TASK.initial(task)
    for n, fact in enumerate(facts, start=1):
        state = TASK.evolve(state, RecordedEvent(f"task:{task}@r1", n, "r1", n, 0, AT, fact))
    return snapshot(state, CATALOG, len(facts))


def planned(tool: str, before: Snapshot, **arguments: Any) -> Plan | ToolRefusal:
    """What a call of the model comes to, from its decoded JSON."""
    found = registry.decode(tool, arguments)
    return found if isinstance(found, ToolRefusal) else registry.plan(tool, before, found)


def proposals(tool: str, before: Snapshot, **arguments: Any) -> tuple[Proposal, ...]:
    """The proposals of a call that is accepted."""
    plan = planned(tool, before, **arguments)
    assert isinstance(plan, Plan), plan
    return plan.proposals


def applied(tool: str, live: Snapshot, **arguments: Any) -> Facts | ToolRefusal:
    """What a change comes to on the live task."""
    return registry.apply(tool, live, canonical.text(arguments), AGENT)


def code(answer: object) -> str:
    """The code of a refusal; empty if there is none."""
    return answer.code if isinstance(answer, ToolRefusal) else ""
