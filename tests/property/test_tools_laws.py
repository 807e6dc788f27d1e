"""What holds for every task and every call.

What is proposed can be applied, and then is no proposal any more; a base moves with its values
alone; nothing that a model may send is more than refused; a schema promises what decoding keeps.
"""

import json
from typing import Any

import jsonschema
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from domain.changes.dependencies import MAKING
from domain.errors import TOOL_CODES
from domain.journal import task as t
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.state import RecordedEvent
from domain.scaffold import FEATURES
from domain.tools import registry
from domain.tools.base import Plan, Proposal, ToolRefusal, fingerprint
from domain.tools.decoding import EXTRA, parted
from domain.tools.improving import PROPOSE
from domain.tools.local import observations, report, retractions
from domain.tools.registry import TOOLS
from domain.tools.snapshot import Snapshot, SnapshotItem
from tests.support import tool_calls
from tests.support.tool_calls import (
    CALLS,
    FIELDS,
    LABEL_IDS,
    UPDATES,
    WORDS,
    after,
    instants,
    seen,
    tasks,
    utc,
)
from tests.support.tools import AGENT, AT

CALL = st.sampled_from(sorted(CALLS)).flatmap(lambda tool: st.tuples(st.just(tool), CALLS[tool]))
ELSEWHERE = *MAKING, PROPOSE  # see `test_category_agent`, `test_improving`
OF_TASK = CALL.filter(lambda call: call[0] not in ELSEWHERE)


def test_every_tool_that_changes_one_task_is_called_here() -> None:
    """What changes two is in `test_rollover_laws`: one task tells only half of it; what changes a
    day is in `test_day_machine`."""
    elsewhere = ("two_tasks", "own_day")
    changing = {one.name for one in TOOLS.values() if one.effect and one.scope not in elsewhere}
    assert CALLS.keys() == changing


def plan_of(tool: str, before: Snapshot, arguments: dict[str, Any]) -> Plan | ToolRefusal:
    found = registry.decode(tool, arguments)
    assert not isinstance(found, ToolRefusal), found
    return registry.plan(tool, before, found, instants(tool, arguments).items())


def proposals(tool: str, before: Snapshot, arguments: dict[str, Any]) -> tuple[Proposal, ...]:
    plan = plan_of(tool, before, arguments)
    return () if isinstance(plan, ToolRefusal) else plan.proposals


# ------------------------------------------------------------------------ planning and applying


@given(task=tasks(), call=OF_TASK)
def test_what_is_proposed_can_be_applied_to_the_same_task(
    task: t.Task, call: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = call
    for one in proposals(tool, seen(task), arguments):
        facts = registry.apply(one.tool, seen(task), one.arguments, AGENT)
        assert not isinstance(facts, ToolRefusal), facts
        assert facts
        assert seen(after(task, *facts)) != seen(task)


@given(task=tasks(), call=OF_TASK)
def test_all_proposals_of_a_call_can_be_applied_and_are_then_no_proposals_any_more(
    task: t.Task, call: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = call
    changed = task
    for one in proposals(tool, seen(task), arguments):
        facts = registry.apply(one.tool, seen(changed), one.arguments, AGENT)
        assert not isinstance(facts, ToolRefusal), facts
        changed = after(changed, *facts)
        again = registry.apply(one.tool, seen(changed), one.arguments, AGENT)
        assert isinstance(again, ToolRefusal)
        assert again.code == "redundant"
    if changed is not task and tool != "assign_task_labels":  # there, others may now have a place
        assert not proposals(tool, seen(changed), arguments)
    assert len({item.id for item in changed.items}) == len(changed.items)


@given(task=tasks(), call=OF_TASK)
def test_an_agent_s_rules_hold_whatever_it_calls(
    task: t.Task, call: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = call
    changed = task
    for one in proposals(tool, seen(task), arguments):
        facts = registry.apply(one.tool, seen(changed), one.arguments, AGENT)
        assert not isinstance(facts, ToolRefusal)
        changed = after(changed, *facts)
    assert changed.status == task.status or changed.status not in ("DONE", "REJECTED")
    assert changed.language == task.language or not task.language
    assert len(changed.labels) <= max(3, len(task.labels))
    new = set(changed.labels) - set(task.labels)
    assert not new & {*task.suppressed, "l-elsewhere", "none"}
    for was, now in zip(task.items, changed.items, strict=False):
        if was.is_checked != now.is_checked and was.checked_by not in ("", AGENT):
            given_reasons = [u.get("reason", "") for u in arguments["items"] if u["id"] == was.id]
            assert "x" * 20 in given_reasons


@given(task=tasks(), call=OF_TASK)
def test_every_element_of_a_batch_is_proposed_skipped_or_refused(
    task: t.Task, call: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = call
    assume(TOOLS[tool].array)
    plan = plan_of(tool, seen(task), arguments)
    if isinstance(plan, ToolRefusal):
        assert plan.code in ("redundant", "limit")
        return
    told = len(plan.proposals) + len(plan.skipped) + len(plan.refused)
    assert told >= len(arguments[TOOLS[tool].array])
    assert len({one.fingerprint for one in plan.proposals}) == len(plan.proposals)


# ---------------------------------------------------------------- base, touches and fingerprints


def shared(at: Snapshot, began: str, ended: str, but: str = "") -> list[str]:
    """The entries that have a moment of a span."""
    span = utc(began), utc(ended)
    return sorted(
        one.id
        for one in at.time
        if one.id != but and max(span[0], one.start) < min(span[1], one.end or "9")
    )


def values(tool: str, at: Snapshot, arguments: dict[str, Any]) -> object:
    """What a change would change, said once more and independently of the code."""
    match tool:
        case "assign_task_label":
            return arguments["id"] in at.labels
        case "add_checklist_item":
            wanted = " ".join(arguments["title"].split()).casefold()
            return wanted in [" ".join(item.title.split()).casefold() for item in at.items]
        case "update_checklist_item":
            items: dict[str, SnapshotItem] = {item.id: item for item in at.items}
            item = items.get(arguments["id"])
            names = {"isChecked": "is_checked", "isArchived": "is_archived", "title": "title"}
            return item and [getattr(item, names[n]) for n in names if n in arguments]
        case "set_task_status":
            return at.status, at.status_reason
        case "log_time":
            return shared(at, arguments["startedAt"], arguments["endedAt"])
        case "edit_time_entry":
            entries = {one.id: one for one in at.time}
            entry = entries.get(arguments["entryId"])
            others = entry and shared(at, arguments["startedAt"], arguments["endedAt"], entry.id)
            return entry and (entry.start, entry.end, entry.summary, others)
        case "note_timer":
            return next(((one.id, one.summary) for one in at.time if not one.end), None)
        case _:
            field = tool.removeprefix("set_task_").removeprefix("update_task_")
            return getattr(at, field.removesuffix("_date"))


SINGULAR: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    **{tool: call for tool, call in CALLS.items() if not TOOLS[tool].array},
    "assign_task_label": st.fixed_dictionaries({"id": LABEL_IDS}),
    "add_checklist_item": st.fixed_dictionaries({"title": WORDS}),
    "update_checklist_item": UPDATES,
}
CHANGE = st.sampled_from(sorted(SINGULAR.keys() - MAKING)).flatmap(
    lambda tool: st.tuples(st.just(tool), SINGULAR[tool])
)


@given(one=tasks(), facts=st.lists(FIELDS, max_size=4), change=CHANGE)
def test_a_base_moves_if_and_only_if_what_would_change_has_moved(
    one: t.Task, facts: list[t.TaskFact], change: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = change
    before, now = seen(one), seen(after(one, *facts))
    assume(all(not each.end or each.start < each.end for each in (*before.time, *now.time)))
    text = canonical.text(tool_calls.changed(tool, arguments))
    has_moved = registry.base(tool, before, text) != registry.base(tool, now, text)
    assert has_moved == (values(tool, before, arguments) != values(tool, now, arguments))


@given(task=tasks(), facts=st.lists(FIELDS, max_size=4), change=CHANGE)
def test_a_person_who_moves_a_base_has_touched_it(
    task: t.Task, facts: list[t.TaskFact], change: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = change
    text = canonical.text(tool_calls.changed(tool, arguments))
    before, now = seen(task), task
    for fact in facts:
        by_person: t.TaskFact = replace(fact, by="person")
        recorded = RecordedEvent("task:t1@r1", 1, "r1", 7, 0, AT, by_person)
        now = TASK.evolve(now, recorded)
    touches = registry.touches(tool, text)
    if registry.base(tool, before, text) != registry.base(tool, seen(now), text):
        assert registry.last_touched(seen(now), touches) == 7


@given(change=CHANGE, reason=st.text(), confidence=st.sampled_from(["high", "low", ""]))
def test_a_fingerprint_knows_nothing_of_reason_and_confidence(
    change: tuple[str, dict[str, Any]], reason: str, confidence: str
) -> None:
    tool, arguments = change
    said = {**arguments, "reason": reason, "confidence": confidence}
    one = fingerprint(tool, canonical.text(arguments))
    assert one == fingerprint(tool, json.dumps(said, indent=1))


@given(one=CHANGE, other=CHANGE)
def test_two_fingerprints_are_equal_if_and_only_if_the_changes_are(
    one: tuple[str, dict[str, Any]], other: tuple[str, dict[str, Any]]
) -> None:
    def essence(change: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        tool, said = change
        return tool, {k: said[k] for k in said if k not in ("reason", "confidence")}

    prints = [fingerprint(tool, canonical.text(said)) for tool, said in (one, other)]
    assert (prints[0] == prints[1]) == (essence(one) == essence(other))


# ------------------------------------------------------------------------------------- decoding

NAMES = sorted(
    {
        name
        for tool in TOOLS.values()
        for name in (*registry.specs([tool.name])[0].schema["properties"], tool.array)
    }
    | {"id", "text", "is_checked", "due_date", "fingerprint", "priority", "category", "target"}
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(
        ["P1", "BLOCKED", "de", "high", "60", "2027-01-01", "[{}]", '{"id":"x"}', " "]
    )
)
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(tool=st.sampled_from([*TOOLS, "nothing"]), value=ANY_JSON, task=tasks())
@example("update_task_estimate", {"minutes": float("nan")}, TASK.initial("t1"))
@example("update_task_estimate", {"minutes": 10**6000}, TASK.initial("t1"))
@example("add_multiple_checklist_items", {"items": "[" * 100_000}, TASK.initial("t1"))
@example("set_task_title", {"\ud800": 1}, TASK.initial("t1"))
def test_whatever_is_sent_is_understood_or_refused_with_a_known_code(
    tool: str, value: Any, task: t.Task
) -> None:
    found = registry.decode(tool, value)
    if isinstance(found, ToolRefusal):
        assert found.code in TOOL_CODES
        assert found.message
        found.message.encode()
        return
    text = canonical.text(found)
    assert registry.decode(tool, json.loads(text)) == found
    if TOOLS[tool].mode != "local":
        plan = registry.plan(tool, seen(task), found, instants(tool, json.loads(text)).items())
        assert not isinstance(plan, ToolRefusal) or plan.code in TOOL_CODES
    else:
        local: Any = {
            "update_report": report,
            "record_observations": observations,
            "retract_suggestions": retractions,
        }[tool]
        assert local(found)


TIMED = CALL.filter(lambda one: one[0] in ("log_time", "edit_time_entry"))
BESIDE = st.sampled_from(["because", *EXTRA, "surprise"])


@given(call=TIMED, beside=st.dictionaries(BESIDE, SCALARS), scaffold=st.sampled_from([2, 3]))
def test_local_times_are_read_where_and_as_loosely_as_the_call_is_taken(
    call: tuple[str, Any], beside: dict[str, Any], scaffold: int
) -> None:
    tool, given = call
    features, wanted = FEATURES[scaffold], {**beside, **given}
    bare, _ = parted(TOOLS[tool], wanted)
    is_taken = not isinstance(registry.decode(tool, bare, features), ToolRefusal)
    times = {name: given[name] for name in ("startedAt", "endedAt") if name in given}
    assert registry.local_times(tool, wanted, features) == (times if is_taken else {})


def schema_of(tool: str) -> dict[str, Any]:
    return registry.specs([tool])[0].schema


REPORT = st.tuples(
    st.just("update_report"),
    st.fixed_dictionaries(dict.fromkeys(("content", "tldr", "oneLiner"), WORDS)),
)


@st.composite
def nearly_right(draw: st.DrawFn) -> tuple[str, Any]:
    """A good call, or one with a value swapped, a key dropped or a key added."""
    tool, arguments = draw(CALL | REPORT)
    spoilt: Any = json.loads(json.dumps(arguments))
    where = spoilt
    array = TOOLS[tool].array
    if array and draw(st.booleans()):
        where = draw(st.sampled_from(spoilt[array]))
    name = draw(st.sampled_from([*where, "surprise"]))
    match draw(st.sampled_from(["keep", "swap", "drop"])):
        case "swap":
            where[name] = draw(ODD)
        case "drop":
            where.pop(name, None)
    return tool, spoilt


# nothing that decoding forgives and a schema does not: that is what the unit tests are for
ODD = st.sampled_from([True, 7, 1441, 0.5, [], {}, "", "x" * 501, "nonsense", "P9", [1], {"a": 1}])


@example(sent=("update_task_estimate", {"minutes": 60_000}))
@given(sent=nearly_right())
def test_a_schema_accepts_what_decoding_accepts(sent: tuple[str, Any]) -> None:
    tool, value = sent
    fits = jsonschema.Draft202012Validator(schema_of(tool)).is_valid(value)
    found = registry.decode(tool, value, FEATURES[1])  # as the schema is
    forgiven = says_more_than_a_schema(tool, value)
    assert fits == (not isinstance(found, ToolRefusal)) or forgiven, (value, found)


@given(sent=nearly_right())
def test_what_was_taken_before_is_taken_as_before_and_nothing_is_told(
    sent: tuple[str, Any],
) -> None:
    tool, value = sent
    strictly = registry.decode(tool, value, FEATURES[2])
    if not isinstance(strictly, ToolRefusal):
        loosely = registry.decode(tool, value, FEATURES[3])
        assert to_builtins(loosely) == to_builtins(strictly), "a class may have other bounds"
        assert registry.taken(tool, value, FEATURES[3])[1] == ""


def says_more_than_a_schema(tool: str, value: Any) -> bool:
    """Where the two differ on purpose: see the module `decoding` and SPEC 5."""
    array = TOOLS[tool].array
    elements: Any = value.get(array, []) if array else []
    if not isinstance(elements, list):
        return isinstance(elements, dict)  # one element without its list
    if tool == "assign_task_labels" and len(elements) > 3:
        return True  # the best three are kept
    if tool == "set_task_status":  # a reason may be needed, a blank one is none
        return bool(value.get("reason", "") == "")
    if tool in ("log_time", "edit_time_entry"):  # a time is more than its length; one must change
        odd = ("nonsense", "P9", "")
        is_empty = not value.keys() & {"startedAt", "endedAt", "summary"}
        return is_empty or any(one in odd for one in value.values() if isinstance(one, str))
    if tool == "update_task_due_date":  # a date is more than its length
        return value.get("dueDate") in ("nonsense", "P9")
    if tool == "set_task_language":
        return bool(value.get("languageCode") == "P9")
    if tool == "update_checklist_items":  # something must change; a blank text is not given
        return any(
            isinstance(one, dict)
            and ("" in (one.get("title"), one.get("reason")) or not set(one) - {"id", "reason"})
            for one in elements
        )
    return False
