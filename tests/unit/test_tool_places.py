"""Every place that must know a tool knows it: a forgotten one is named here.

A record (`domain.tools.base.Tool`) tells the places, so most follow by themselves; what is
left out of a record, or out of the few places beside it, is found by doing what they are for.
"""

import ast
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from adapters.cli.verdicts import REMEDIES
from adapters.web.cards import PREFIX, edit_fields_of, edited
from domain.changes.change_set import ChangeSet
from domain.journal import task as t
from domain.log import canonical
from domain.log.wire import Words
from domain.scaffold import FEATURES
from domain.tools import registry
from domain.tools.arguments import Schema, rules
from domain.tools.base import REASONS, Remedy, Tool, ToolRefusal
from domain.tools.registry import CHANGES, TOOLS
from domain.tools.snapshot import (
    Snapshot,
    SnapshotBlock,
    SnapshotDay,
    SnapshotLink,
    SnapshotTask,
    SnapshotTemplate,
)
from domain.wake import machine
from domain.wake import wake as w
from domain.wake.manifests import MANIFESTS
from domain.wake.tool_call import WakeInputs
from tests.support.architecture import tree_of
from tests.support.tools import AGENT, given

ROOT = Path(__file__).parents[2]
EARLY, LATE = "2027-01-01T00:00:00.000000Z", "2027-01-02T00:00:00.000000Z"
FACTS: tuple[t.TaskFact, ...] = (
    t.TaskCreated("person", "Plant", "c1"),
    t.ChecklistAdded("person", "k1", "Steps"),
    t.ItemAdded("person", "k1", "i1", "Dig"),
    t.TimeLogged(AGENT, "i1", EARLY, EARLY.replace("T00", "T01"), "Dug"),
    t.TimeStarted("person", "runs", LATE),
)
SAMPLES = {
    "date": "2027-01-01",
    "language": "de",
    "id": "i1",
    "label": "l-garden",
    "local_time": "2027-01-01T02:00",
    "clock": "09:00",
}
"""Of each kind of text that is not any text; of a span the start."""
DAY = SnapshotDay("2027-01-01", blocks=(SnapshotBlock("i1", "07:00", "08:00", AGENT),))
LAURA = SnapshotTemplate("i1", "Laura", 3, "Be kind.", "Be brief.", decided=10)
TASK = replace(given(*FACTS), at=LATE, day=DAY, others=(SnapshotTask("i1", "c1"),), template=LAURA)
FULL = given(
    *FACTS, *(t.LabelAssigned("person", f"l-{one}") for one in ("bath", "garage", "kitchen"))
)
DECLINED = given(*FACTS, t.LabelSuppressed("person", "l-garden"))
TICKED = given(*FACTS, t.ItemChecked("person", "i1"), t.ItemUnchecked("person", "i1"))
LINKED = replace(TASK, linked=(SnapshotLink("i1", "supersedes"),))
"""With the task that calls name: `sample` calls every other thing ``i1``."""
UNWILLING = {"three labels": FULL, "a declined label": DECLINED, "an unticked item": TICKED}
PROPOSED = [tool.singular or tool.name for tool in TOOLS.values() if tool.mode == "deferred"]

REPLACES_NOTHING = {
    "assign_task_label",
    "add_checklist_item",
    "create_follow_up_task",
    "migrate_checklist_item",
    "link_task",
    "log_time",
    "create_task",
}
"""Changes that add: there is nothing to show beside them."""
NOT_ASKED = {
    ("assign_task_label", "confidence"): "how sure the agent is, a person need not say",
    ("update_checklist_item", "id"): "another item is another proposal",
    ("update_checklist_item", "isChecked"): "a tick is confirmed or rejected, not edited",
    ("update_checklist_item", "isArchived"): "the same",
    ("edit_time_entry", "entryId"): "another entry is another proposal",
    **{
        (tool, field): "an adapter resolves it from the local time"
        for tool in ("log_time", "edit_time_entry")
        for field in ("startedUtc", "endedUtc")
    },
    ("create_follow_up_task", "relation"): "another relation is another proposal",
    ("create_follow_up_task", "carryOver"): "items are named by ids, which no form knows",
    ("migrate_checklist_item", "id"): "another item is another proposal",
    ("link_task", "targetTaskId"): "another task is another proposal",
    ("create_task", "category"): "another category is another agent's",
    ("create_task", "items"): "its items are edited once it is there",
    **{
        (tool, field): "another day, block or task is another proposal"
        for tool, fields in (("put_block", "day taskId block"), ("remove_block", "day block"))
        for field in fields.split()
    },
    ("propose_directives", "rationale"): "it is the agent's, for the person",
    ("propose_directives", "template"): "another template is another agent's",
}
"""Arguments that no form asks for, and why."""
BY_NAME = {
    "domain/tools/task_tools.py": "records",
    "domain/tools/times.py": "records",
    "domain/tools/days.py": "records",
    "domain/tools/followups.py": "records",
    "domain/tools/local.py": "records",
    "domain/tools/category.py": "records",
    "domain/tools/improving.py": "records",
    "domain/tools/registry.py": "`suppress_label` and its end, no tools of the model",
    "domain/changes/decisions.py": "what rejecting a label does",
    "adapters/runtime/review.py": "the same",
    "projections/operations.py": "the same",
    "replay/effects.py": "the same",
    "domain/changes/dependencies.py": "what makes the task that other items may need",
    "domain/wake/visible_ids.py": "what a second task may be named for",
    "domain/wake/machine.py": "a wake that owes its report is forced to write it",
    "domain/wake/tool_call.py": "the same",
    "adapters/models/rules/model.py": "phrases that it reads; a tool without one it never calls",
    "adapters/models/rules/tool_calls.py": "the same",
    "adapters/models/rules/planning.py": "the same",
    "adapters/models/rules/weekly.py": "the same",
    "adapters/models/rules/improving.py": "the same",
    "adapters/models/rules/blockers.py": "the same",
    "domain/judging.py": "kinds of proposals, as cases write them; of another tool its name",
    "adapters/usecases/evaluate.py": "what a case says was reported",
    "adapters/web/cards.py": "days of spans, which a card tells shorter",
    "adapters/models/demo.py": "habits of a sloppy model",
    "adapters/demo/person.py": "habits of a scripted person",
    "adapters/simulation/fuzz_model.py": "moves of an unruly model",
    "adapters/mcp/server.py": "tools of its own, one of the same name",
}
"""Files of the product that name a tool, and why a new one need not stand there too."""


def sample(rule: Schema) -> Any:
    """A value that fits."""
    match rule:
        case {"enum": [first, *_]}:
            return first
        case {"type": "object", "properties": fields}:
            return {name: sample(one) for name, one in fields.items()}
        case {"type": "array", "items": {"anyOf": [one, *_]} | one}:
            return [sample(one)]
        case {"type": "integer", "minimum": low}:
            return low
        case {"type": "boolean"}:
            return True
        case {"x-clean": clean}:
            return SAMPLES.get(clean, "word")
        case _:
            return "word"


def change(name: str) -> dict[str, Any]:
    found: dict[str, Any] = sample(rules(CHANGES[name].arguments))
    return _lasting(found)


def _lasting(arguments: dict[str, Any]) -> dict[str, Any]:
    """A span that takes an hour, with its instants where the change has a place for them."""
    for block in (arguments, *arguments.get("blocks", ())):
        block.update({"end": "10:00"} if "end" in block else {})
    if "endedAt" in arguments:
        arguments["endedAt"] = arguments["endedAt"].replace("T02", "T03")
    for name in arguments.keys() & {"startedUtc", "endedUtc"}:
        wall = arguments[name.replace("Utc", "At")]
        arguments[name] = f"{wall}:00.000000Z"
    return arguments


# ------------------------------------------------------------------------------------ prompts


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_the_role_text_speaks_of_a_tool_since_its_scaffold(tool: Tool) -> None:
    assert tool.since in MANIFESTS
    roles = {number: kinds["task_agent"].role for number, kinds in MANIFESTS.items()}
    hinting = {one: text for one, text in roles.items() if not FEATURES[one].is_brief}
    said = {scaffold for scaffold, text in hinting.items() if f"`{tool.name}`" in text}
    assert said == {one for one in hinting if one >= tool.since}, f"{tool.name}: give a hint"


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_wake_of_an_older_scaffold_does_not_know_a_tool(tool: Tool) -> None:
    before = tool.since - 1
    for name in (tool.name, *tool.aliases):
        assert registry.canonical_name(name, before) is None
        assert registry.canonical_name(name, tool.since) == tool.name
    assert all(tool.name not in registry.offered("task_agent", one, before) for one in REASONS)


@pytest.mark.parametrize("name", TOOLS)
def test_a_call_of_a_tool_is_answered(name: str) -> None:
    since = TOOLS[name].since
    started = w.WakeStarted(
        "a", "t1", "manual", "r", "tape", since, 3, 1, 1, "p", (), (), (name,), "s", ("c1",)
    )
    wake = w.evolve(w.evolve(w.Wake("k"), started), w.ModelAsked(1, 1))
    given = _lasting(sample(rules(TOOLS[name].asked(FEATURES[since]))))
    given |= {"because": "Dug"} if name == "create_task" else {}  # it was always asked for one
    walls = registry.local_times(name, given)
    instants = tuple((one, f"{wall}:00.000000Z") for one, wall in walls.items())
    call = w.ToolCall("c1", name, Words(canonical.text(given)), instants=instants)
    bench = WakeInputs(
        LINKED, lambda: ChangeSet("set"), tuple, lambda said: said.text, agent_of=lambda _: "a2"
    )
    reply = w.ModelAnswered(1, 1, "reply", None, (call,))
    facts = machine.decide(wake, reply, bench).facts
    found = [one for one in facts if isinstance(one, w.ToolReturned | w.ToolAsked)]
    assert [one.tool for one in found] == [name]
    told = [(one.status, one.message.text) for one in found if isinstance(one, w.ToolReturned)]
    assert all(status in ("success", "queued") for status, _ in told), f"{name}: {told}"


# -------------------------------------------------------------------------- who looks at proposals


@pytest.mark.parametrize("name", PROPOSED)
def test_a_proposal_is_told_in_words_and_applied(name: str) -> None:
    text = canonical.text(change(name))
    assert registry.summary(name, TASK, text) not in ("", name)
    assert not isinstance(registry.apply(name, TASK, text, AGENT), ToolRefusal), name
    assert registry.touches(name, text), name


@pytest.mark.parametrize("name", PROPOSED)
def test_documents_show_what_a_proposal_would_replace(name: str) -> None:
    shown = registry.present(name, TASK, change(name))
    assert (shown is None) == (name in REPLACES_NOTHING), f"{name}: say what is there now"


@pytest.mark.parametrize("arguments", [{"id": "i9"}, {"id": None}, {}])
def test_an_item_that_is_gone_is_told_so(arguments: dict[str, Any]) -> None:
    assert registry.present("update_checklist_item", TASK, arguments) == "gone"


def test_an_estimate_of_one_minute_is_one_minute() -> None:
    estimates = [given(*FACTS, t.EstimateSet("person", minutes)) for minutes in (0, 1, 2)]
    shown = [registry.present("update_task_estimate", one, {}) for one in estimates]
    assert shown == ["none", "1 minute", "2 minutes"]


@pytest.mark.parametrize("name", PROPOSED)
def test_the_page_asks_for_what_a_person_may_edit(name: str) -> None:
    arguments = change(name)
    fields = edit_fields_of(name, arguments)
    asked = {field["name"].removeprefix(PREFIX) for field in fields}
    left = {argument for tool, argument in NOT_ASKED if tool == name}
    assert asked | left == arguments.keys(), f"{name}: its form, or NOT_ASKED, lacks an argument"
    assert not asked & left
    assert edited(name, arguments, {one["name"]: str(one["value"]) for one in fields}) is None


@pytest.mark.parametrize("name", [one for one in PROPOSED if CHANGES[one].effect.form])
def test_the_command_line_takes_an_edit_of_a_proposal(name: str) -> None:
    arguments = change(name)
    assert registry.check_edit(name, arguments) == canonical.text(arguments)


@pytest.mark.parametrize("task", UNWILLING.values(), ids=list(UNWILLING))
@pytest.mark.parametrize("name", PROPOSED)
def test_the_command_line_has_advice_where_a_person_can_help(name: str, task: Snapshot) -> None:
    answer = registry.apply(name, task, canonical.text(change(name)), AGENT)
    if isinstance(answer, ToolRefusal) and answer.code in ("limit", "sovereignty"):
        remedies = CHANGES[name].effect.remedies
        assert answer.code in remedies, f"{name}: say what helps against {answer.code}"


def test_the_command_line_has_words_for_every_remedy() -> None:
    assert REMEDIES.keys() == set(get_args(Remedy))
    assert all(REMEDIES[one].format(ref="3.1") for one in REMEDIES)


# ----------------------------------------------------------------------------------------- readers


def test_no_other_file_knows_a_tool_by_its_name() -> None:
    names = TOOLS.keys() | CHANGES.keys() | registry.ALIASES.keys()
    folders = ("domain", "projections", "adapters", "replay")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    texts = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}
    found = {
        file
        for file, text in texts.items()
        if any(f'"{name}"' in text for name in names)
        for node in ast.walk(tree_of(text))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert not found ^ BY_NAME.keys(), "put what these know into the tool's record, or say why not"
