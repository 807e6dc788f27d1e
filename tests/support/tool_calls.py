"""Tasks with a life behind them, and calls of every tool that changes one."""

from typing import Any

from hypothesis import strategies as st

from domain.journal import task as t
from domain.journal.task import TASK
from domain.log.state import RecordedEvent
from domain.tools import registry
from domain.tools.arguments import Schema, rules
from domain.tools.registry import TOOLS
from domain.tools.snapshot import Snapshot, snapshot
from tests.support.tools import AGENT, AT, CATALOG

WORDS = st.sampled_from(["Dig", "dig", " DIG  ", "Rake", "Straße", "STRASSE", "Water the roses"])
ITEM_IDS = st.sampled_from(["i0", "i1", "i2", "i3", "none"])
LABEL_IDS = st.sampled_from([*CATALOG.labels, "none"])
ENTRY_IDS = st.sampled_from(["e0", "e1", "none"])
STARTS = ["2027-01-01T06:00", "2027-01-01T06:30"]
ENDS = ["2027-01-01T06:30", "2027-01-01T07:00", "2027-01-03T07:00"]


def utc(wall: str) -> str:
    """The instant of a local time, of a person who lives in Greenwich."""
    return f"{wall}:00.000000Z"


START, END = st.sampled_from(STARTS).map(utc), st.sampled_from(ENDS).map(utc)
BY = st.sampled_from(["person", AGENT, "import:md"])
FIELDS = st.one_of(
    st.builds(t.TaskRetitled, BY, WORDS | st.just("")),
    st.builds(t.EstimateSet, BY, st.sampled_from([0, 30, 60])),
    st.builds(t.DueSet, BY, st.sampled_from(["", "2027-01-01", "2028-02-29"])),
    st.builds(t.PrioritySet, BY, st.sampled_from(t.PRIORITIES)),
    st.builds(t.StatusSet, BY, st.sampled_from(t.STATUSES), st.just("frost")),
    st.builds(t.LanguageSet, BY, st.sampled_from(["", "de", "en"])),
    st.builds(t.LabelAssigned, BY, LABEL_IDS),
    st.builds(t.LabelSuppressed, BY, LABEL_IDS),
    st.builds(t.ItemRetitled, BY, ITEM_IDS, WORDS),
    st.builds(t.ItemChecked, BY, ITEM_IDS),
    st.builds(t.ItemUnchecked, BY, ITEM_IDS),
    st.builds(t.ItemArchived, BY, ITEM_IDS),
    st.builds(t.TimeLogged, BY, ENTRY_IDS, START, END, WORDS),
    st.builds(t.TimeEdited, BY, ENTRY_IDS, START | st.just(""), st.just(""), WORDS | st.none()),
    st.builds(t.TimeStarted, BY, st.just("e9"), st.just(utc("2027-01-01T09:00"))),
    st.builds(t.TimeStopped, BY, st.just("e9"), st.just(utc("2027-01-01T09:30")), WORDS),
)


@st.composite
def tasks(draw: st.DrawFn) -> t.Task:
    """A task with a life behind it."""
    items = draw(st.lists(st.tuples(BY, WORDS, st.booleans()), max_size=4))
    facts: list[t.TaskFact] = [t.TaskCreated("person", draw(WORDS), "c1")]
    if items:
        facts.append(t.ChecklistAdded("person", "k1", "Steps"))
    facts += [
        t.ItemAdded(by, "k1", f"i{n}", title, is_checked)
        for n, (by, title, is_checked) in enumerate(items)
    ]
    return after(TASK.initial("t1"), *facts, *draw(st.lists(FIELDS, max_size=10)))


def after(task: t.Task, *facts: Any) -> t.Task:
    for fact in facts:
        task = TASK.evolve(task, RecordedEvent("task:t1@r1", 1, "r1", 1, 0, AT, fact))
    return task


def seen(task: t.Task) -> Snapshot:
    return snapshot(task, CATALOG, 1, utc("2027-01-02T00:00"))


def instants(tool: str, arguments: dict[str, Any]) -> dict[str, str]:
    """Those of the local times in a call or a change."""
    return {name: utc(wall) for name, wall in registry.local_times(tool, arguments).items()}


def changed(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A change with the instants of its local times."""
    return registry.with_instants(tool, arguments, instants(tool, arguments))


REASONS = st.sampled_from(["because", "x" * 20])
UPDATES = st.fixed_dictionaries(
    {"id": ITEM_IDS},
    optional={
        "isChecked": st.booleans(),
        "isArchived": st.booleans(),
        "title": WORDS,
        "reason": REASONS,
    },
).filter(lambda update: bool(update.keys() & {"isChecked", "isArchived", "title"}))
CHOICES = st.fixed_dictionaries(
    {
        "id": LABEL_IDS,
        "confidence": st.sampled_from(["very_high", "high", "medium", "low"]),
    }
)


def of_argument(name: str, rule: Schema) -> st.SearchStrategy[Any]:
    """Values of an argument, few enough that a task has them already now and then."""
    if "enum" in rule:
        return st.sampled_from(rule["enum"])
    if rule["type"] == "integer":
        return st.sampled_from([30, 60, rule["maximum"]])
    if rule["type"] == "array":
        return st.lists(st.fixed_dictionaries({"title": WORDS}), max_size=2)
    if rule["x-clean"] == "local_time":
        return st.sampled_from(STARTS if name == "startedAt" else ENDS)
    if name == "entryId":
        return ENTRY_IDS
    if rule["x-clean"] == "date":
        return st.sampled_from(["2027-01-01", "2028-02-29"])
    return REASONS if name == "reason" else WORDS


CALLS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    **{
        tool.name: st.fixed_dictionaries(
            {
                name: of_argument(name, one)
                for name, one in rules(tool.arguments)["properties"].items()
            }
        )
        for tool in TOOLS.values()
        if tool.mode == "deferred" and not tool.array and tool.scope != "two_tasks"
    },
    "set_task_language": st.fixed_dictionaries(
        {
            "languageCode": st.sampled_from(["de", "en"]),
            "confidence": st.sampled_from(["high", "medium"]),
        }
    ),
    "assign_task_labels": st.fixed_dictionaries(
        {"labels": st.lists(CHOICES, min_size=1, max_size=8)}
    ),
    "add_multiple_checklist_items": st.fixed_dictionaries(
        {"items": st.lists(st.fixed_dictionaries({"title": WORDS}), min_size=1, max_size=8)}
    ),
    "update_checklist_items": st.fixed_dictionaries(
        {"items": st.lists(UPDATES, min_size=1, max_size=8)}
    ),
}
