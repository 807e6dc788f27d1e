"""The tools: what a wake is offered, how calls are read, what they come to, and their contract."""

import copy
import json
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from msgspec import Struct
from msgspec.structs import replace

from domain.agent.wake_queue import Reason
from domain.changes.change_set import ChangeSet
from domain.changes.dependencies import follow_up_id
from domain.journal import task as t
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import Words
from domain.scaffold import FEATURES, SCAFFOLD
from domain.text import LANGUAGES
from domain.tools import arguments as a
from domain.tools import registry
from domain.tools.base import (
    CAPABILITIES,
    CLIENT,
    REASONS,
    Facts,
    Plan,
    Proposal,
    ToolRefusal,
    base,
    fingerprint,
)
from domain.tools.local import (
    Observation,
    Report,
    observations,
    report,
    without_ids,
)
from domain.tools.registry import TOOLS
from domain.tools.snapshot import Snapshot, SnapshotLink
from domain.wake import visible_ids
from domain.wake.manifests import MANIFESTS
from domain.wake.wake import ExchangeRef, ResultRef, Wake
from tests.support import contract_page as page
from tests.support.proposals import proposed
from tests.support.tool_calls import changed, instants, utc
from tests.support.tools import AGENT, applied, code, given, planned, proposals

DATA = Path(__file__).parents[1] / "data" / "tools"
CREATED = t.TaskCreated("person", "Plant the garden", "c1")
BARE = given(CREATED)
NAMES = list(TOOLS)


def test_the_reasons_are_those_of_wakes() -> None:
    assert get_args(Reason) == (*REASONS, CLIENT)


def test_an_unknown_kind_or_reason_is_offered_nothing() -> None:
    assert registry.offered("stranger", "user", SCAFFOLD) == ()
    assert registry.offered("task_agent", "whim", SCAFFOLD) == ()


def test_every_capability_of_a_tool_is_one_that_some_kind_has() -> None:
    """Which tool needs which says `contract.yaml`."""
    needed = {one for tool in TOOLS.values() for one in tool.capabilities}
    assert needed == set().union(*CAPABILITIES.values())


def test_a_schema_is_one_object_with_nothing_of_ours() -> None:
    for spec in registry.specs(NAMES):
        jsonschema.Draft202012Validator.check_schema(spec.schema)
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
        assert set(spec.schema["required"]) <= set(spec.schema["properties"])
        text = json.dumps(spec.schema)
        assert not [ours for ours in ('"x-', "$ref", "$defs", '"default"', "null") if ours in text]
        assert spec.description == TOOLS[spec.name].description


def test_specs_come_in_the_order_asked_for_and_cannot_spoil_each_other() -> None:
    first = registry.specs(["update_report", "set_task_title"])
    assert [spec.name for spec in first] == ["update_report", "set_task_title"]
    first[1].schema["properties"].clear()
    assert registry.specs(["set_task_title"])[0].schema["properties"]


def test_local_tools_are_neither_planned_nor_applied() -> None:
    report = registry.decode("update_report", {"content": "a", "tldr": "b", "oneLiner": "c"})
    assert not isinstance(report, ToolRefusal)
    assert code(registry.plan("update_report", BARE, report)) == "unknown_tool"
    assert code(registry.apply("update_report", BARE, "{}", "agent:a1")) == "unknown_tool"


@pytest.mark.parametrize("tool", ["add_multiple_checklist_items", "set_task_estimate", "nothing"])
def test_only_single_changes_are_applied(tool: str) -> None:
    assert code(registry.apply(tool, BARE, '{"minutes":1}', "agent:a1")) == "unknown_tool"


def test_what_cannot_be_read_is_refused_and_changes_nothing() -> None:
    broken = '{"minutes":'
    assert code(registry.apply("update_task_estimate", BARE, broken, "agent:a1")) == "invalid_json"
    assert registry.touches("update_task_estimate", broken) == ()
    assert registry.summary("update_task_estimate", BARE, broken) == "update_task_estimate"
    assert registry.base("update_task_estimate", BARE, broken)
    assert fingerprint("update_task_estimate", broken)


def test_the_language_may_be_proposed_where_it_cannot_be_set_at_once() -> None:
    plan = planned("set_task_language", BARE, languageCode="de", confidence="high")
    assert not isinstance(plan, ToolRefusal)
    assert plan.proposals[0].summary == "Set language to de"


def test_a_batch_says_all_of_it_and_nothing_else_does() -> None:
    for tool in TOOLS.values():
        of_batch = (tool.array, tool.singular, tool.explode)
        assert all(of_batch) == any(of_batch), tool.name
        assert tool.element is not None or not tool.array, tool.name
        assert not tool.array or tool.array in registry.specs([tool.name])[0].schema["properties"]


# ------------------------------------------------------------------------------------- the contract

CONTRACT = page.document()
SCHEMA = json.loads((page.FOLDER / "contract.schema.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("risk", "none"),
        ("wakeReasons", ["whim"]),
        ("wakeReasons", []),
        ("extra", 1),
        ("array", "x"),
    ],
)
def test_the_schema_bites(name: str, value: object) -> None:
    broken = copy.deepcopy(CONTRACT)
    broken["tools"][0][name] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


@pytest.mark.parametrize("number", FEATURES)
def test_contract_and_registry_agree_on_each_scaffold(number: int) -> None:
    told = page.document(number)
    jsonschema.validate(told, SCHEMA)
    for reason in REASONS:
        of_reason = [one["name"] for one in told["tools"] if reason in one["wakeReasons"]]
        of_kinds = {
            one for kind in MANIFESTS[number] for one in registry.offered(kind, reason, number)
        }
        assert of_reason == [one for one in registry.TOOLS if one in of_kinds]
    specs = registry.specs([one["name"] for one in told["tools"]], FEATURES[number])
    for one, spec in zip(told["tools"], specs, strict=True):
        assert ("quote" in one) == ('"because"' in json.dumps(spec.schema)), spec.name
    may = {need for one in told["tools"] for need in one["capabilities"]}
    assert {one for many in told["capabilities"].values() for one in many} == may
    assert all(set(many) <= {*CAPABILITIES[kind]} for kind, many in told["capabilities"].items())


def test_what_the_contract_refers_to_is_there() -> None:
    for tool in CONTRACT["tools"]:
        for reference in (tool["input"], tool["output"]):
            module, _, name = reference.partition(":")
            assert isinstance(getattr(import_module(module), name), type)


@pytest.mark.parametrize("name", ["contract.yaml", "contract.md"])
def test_the_files_are_up_to_date(name: str) -> None:
    kept = (page.FOLDER / name).read_text("utf-8")
    assert kept == page.files()[name], "run python -m tests.support.contract_page"


# ------------------------------------------------------------------------------- how calls are read


def table(name: str) -> list[list[str]]:
    lines = (DATA / f"{name}_calls.txt").read_text(encoding="utf-8").splitlines()
    return [line.split("|") for line in lines]


@pytest.mark.parametrize(("tool", "given", "message"), table("wrong"))
def test_what_is_wrong_is_refused_with_its_place(tool: str, given: str, message: str) -> None:
    found = registry.decode(tool, json.loads(given), FEATURES[2])
    assert found == ToolRefusal("invalid_arguments", message)


@pytest.mark.parametrize(("tool", "given", "taken", "remark"), table("loose"))
def test_what_can_mean_one_thing_only_is_taken_and_told(
    tool: str, given: str, taken: str, remark: str
) -> None:
    wanted = json.loads(given)
    assert canonical.text(registry.decode(tool, wanted, FEATURES[3])) == taken
    assert registry.taken(tool, wanted, FEATURES[3])[1] == remark
    assert registry.taken(tool, wanted, FEATURES[2])[1] == ""
    if remark:
        assert code(registry.decode(tool, wanted, FEATURES[2])) == "invalid_arguments"


@pytest.mark.parametrize(("tool", "given", "message"), table("ambiguous"))
def test_what_can_mean_two_things_is_refused(tool: str, given: str, message: str) -> None:
    found = registry.decode(tool, json.loads(given), FEATURES[3])
    assert found == ToolRefusal("invalid_arguments", message)


def test_a_number_out_of_range_is_not_repeated() -> None:
    because = "minutes: expected a whole number from 1 to 60000, got a number out of range"
    found = registry.decode("update_task_estimate", {"minutes": 10**5000})
    assert found == ToolRefusal("invalid_arguments", because)


def test_a_long_text_is_repeated_only_in_part() -> None:
    answer = registry.decode("update_task_priority", {"priority": "x\n" * 500})
    assert isinstance(answer, ToolRefusal)
    assert len(answer.message) < 200
    assert "\n" not in answer.message


def test_half_a_character_is_made_whole() -> None:
    answer = registry.decode("set_task_title", {"title": "a\ud800b"})
    assert answer == a.SetTaskTitle("a\ufffdb")


@pytest.mark.parametrize("name", ["assign_task_label", "add_checklist_item", "nothing", ""])
def test_only_the_twelve_are_callable(name: str) -> None:
    assert registry.canonical_name(name, SCAFFOLD) is None
    answer = registry.decode(name, {"id": "x", "title": "x"})
    assert answer == ToolRefusal("unknown_tool", f'There is no tool "{name}".')


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("add_checklist_item", {"title": " Dig "}, '{"title":"Dig"}'),
        (
            "update_checklist_item",
            {"is_checked": False, "id": "i1"},
            '{"id":"i1","isChecked":false}',
        ),
        ("assign_task_label", {"id": "l1"}, '{"id":"l1"}'),
        ("update_task_estimate", {"minutes": "90"}, '{"minutes":90}'),
        ("set_task_title", {"title": "Dig"}, '{"title":"Dig"}'),
    ],
)
def test_a_person_s_edit_becomes_canonical(tool: str, given: object, expected: str) -> None:
    assert registry.check_edit(tool, given) == expected


def test_what_is_recorded_of_a_refused_change_is_never_cut() -> None:
    """Old logs hold it whole: a message to a person is cut, its bytes are not."""
    name = "k" * 300
    found = registry.apply("update_task_estimate", given(), f'{{"{name}":1,"{name}":2}}', "person")
    assert isinstance(found, ToolRefusal)
    assert name in found.message


# ------------------------------------------------------------------------------------------- fields

SET = given(
    CREATED,
    t.EstimateSet("person", 60),
    t.DueSet("person", "2027-01-01"),
    t.PrioritySet("person", "P1"),
    t.StatusSet("person", "BLOCKED", "frost"),
)


def test_a_title_that_differs_only_in_its_spaces_is_no_change() -> None:
    untidy = given(t.TaskCreated("person", " Plant  the garden", "c1"))
    assert code(applied("set_task_title", untidy, title="Plant the garden")) == "redundant"
    assert applied("set_task_title", untidy, title="plant the garden")


@pytest.mark.parametrize("status", ["DONE", "rejected", " Done "])
def test_only_the_person_sets_done_or_rejected(status: str) -> None:
    for answer in (
        planned("set_task_status", SET, status=status, reason="all is planted"),
        applied("set_task_status", SET, status=status, reason="all is planted"),
        registry.check_edit("set_task_status", {"status": status}),
    ):
        assert code(answer) == "sovereignty"


def test_a_done_task_may_be_proposed_to_be_opened_again() -> None:
    done = given(CREATED, t.StatusSet("person", "DONE"))
    assert applied("set_task_status", done, status="OPEN") == (t.StatusSet(AGENT, "OPEN"),)


@pytest.mark.parametrize(
    ("by", "wanted", "expected"),
    [
        ("person", "en", "sovereignty"),
        ("person", "de", "redundant"),
        ("import:todo", "en", "sovereignty"),
        ("agent:a1", "en", "redundant"),
        ("agent:a1", "de", "redundant"),
    ],
)
def test_a_language_that_is_set_stays(by: str, wanted: str, expected: str) -> None:
    task = given(CREATED, t.LanguageSet(by, "de"))
    answer = applied("set_task_language", task, languageCode=wanted, confidence="high")
    assert code(answer) == expected


def test_the_languages_are_those_of_the_norm() -> None:
    assert len(LANGUAGES) == 183
    assert all(len(known) == 2 and known.isascii() and known.islower() for known in LANGUAGES)


@pytest.mark.parametrize("tool", ["set_task_title", "suppress_label", "add_checklist_item"])
def test_nothing_happens_to_a_deleted_task(tool: str) -> None:
    gone = given(CREATED, t.TaskDeleted("person"))
    assert code(applied(tool, gone, title="x", id="y")) == "not_found"
    assert code(planned("set_task_title", gone, title="x")) == "not_found"


# --------------------------------------------------------------------------------------- checklists

LIST = t.ChecklistAdded("person", "k1", "Steps")
LISTED = given(
    CREATED,
    LIST,
    t.ItemAdded("person", "k1", "i1", "Buy seeds"),
    t.ItemAdded("person", "k1", "i2", "Dig", is_checked=True),
    t.ItemAdded(AGENT, "k1", "i3", "Water"),
    t.ItemChecked(AGENT, "i3"),
    t.ItemAdded("import:md", "k1", "i4", "Rake", is_checked=True),
    t.ItemArchived("person", "i4"),
)
UNTICKED = "The note of Monday says that it is not done yet."


def item(item_id: str, **change: object) -> dict[str, object]:
    return {"id": item_id, **change}


# ------------------------------------------------------------------------------------ adding


def test_a_new_item_never_takes_the_id_of_a_renamed_one() -> None:
    first = key("item", "t1", "mulch", "0")
    task = given(
        CREATED,
        LIST,
        t.ItemAdded(AGENT, "k1", first, "Mulch"),
        t.ItemRetitled("person", first, "Compost"),
    )
    expected = t.ItemAdded(AGENT, "k1", key("item", "t1", "mulch", "1"), "Mulch")
    assert applied("add_checklist_item", task, title="Mulch") == (expected,)


# ---------------------------------------------------------------------------------- changing


def test_an_item_of_no_one_or_named_twice_leaves_the_others_standing() -> None:
    changes = [
        item("nobody", isChecked=True),
        item("i1", isChecked=True),
        item("i1", title="Bulbs"),
        item("i3", isChecked=True),
    ]
    plan = planned("update_checklist_items", LISTED, items=changes)
    assert isinstance(plan, Plan)
    assert [one.summary for one in plan.proposals] == ['Check: "Buy seeds"']
    assert plan.skipped == (
        'Item "Buy seeds" is named twice; name each once in a call.',
        'Item "Water" is so already.',
    )
    assert plan.refused == ('This task has no item with the id "nobody".',)
    assert code(applied("update_checklist_item", LISTED, **changes[0])) == "not_found"


@pytest.mark.parametrize("item_id", ["i2", "i4"])
def test_a_person_s_tick_or_an_import_s_is_taken_away_only_with_a_reason(item_id: str) -> None:
    bare = item(item_id, isChecked=False)
    short = {**bare, "reason": "not  done,   I   think"}  # 20 characters only with its spaces
    for change in (bare, short):
        plan = planned("update_checklist_items", LISTED, items=[change])
        assert isinstance(plan, Plan)
        assert plan.proposals == ()
        assert "give a reason of 20 characters or more" in plan.refused[0]
        assert code(applied("update_checklist_item", LISTED, **change)) == "sovereignty"
    enough = {**bare, "reason": "x" * 20}
    assert len(proposals("update_checklist_items", LISTED, items=[enough])) == 1
    facts = applied("update_checklist_item", LISTED, **enough)
    assert facts == (t.ItemUnchecked(AGENT, item_id, "x" * 20),)


def test_what_a_person_unticked_is_checked_only_with_a_reason() -> None:
    task = given(CREATED, LIST, t.ItemAdded(AGENT, "k1", "i1", "Dig"))
    unticked = given(
        CREATED,
        LIST,
        t.ItemAdded(AGENT, "k1", "i1", "Dig"),
        t.ItemChecked(AGENT, "i1"),
        t.ItemUnchecked("person", "i1"),
    )
    assert applied("update_checklist_item", task, id="i1", isChecked=True)
    assert code(applied("update_checklist_item", unticked, id="i1", isChecked=True)) == (
        "sovereignty"
    )
    facts = applied("update_checklist_item", unticked, id="i1", isChecked=True, reason=UNTICKED)
    assert facts == (t.ItemChecked(AGENT, "i1", UNTICKED),)


def test_the_base_of_an_item_moves_with_what_is_named_and_with_no_more() -> None:
    tick = '{"id":"i1","isChecked":true}'
    before = registry.base("update_checklist_item", LISTED, tick)
    renamed = given(CREATED, LIST, t.ItemAdded("person", "k1", "i1", "Buy bulbs"))
    ticked = given(CREATED, LIST, t.ItemAdded("person", "k1", "i1", "Buy seeds", is_checked=True))
    assert registry.base("update_checklist_item", renamed, tick) == before
    assert registry.base("update_checklist_item", ticked, tick) != before
    assert registry.base("update_checklist_item", BARE, tick) != before
    put_away = '{"id":"i4","isArchived":false}'
    restored = given(CREATED, LIST, t.ItemAdded("person", "k1", "i4", "Rake"))
    away, back = (registry.base("update_checklist_item", at, put_away) for at in (LISTED, restored))
    assert away != back


def test_the_person_s_last_touch_of_an_item_is_found() -> None:
    assert registry.last_touched(LISTED, ("item:i1",)) == 3
    assert registry.last_touched(LISTED, ("item:i3",)) == 0
    assert registry.last_touched(LISTED, ("item:i4", "item:i1", "item:none")) == 8
    assert registry.last_touched(LISTED, ("items",)) == 7


def test_an_item_that_is_gone_is_shown_by_the_beginning_of_its_id() -> None:
    text = '{"id":"abcdefghijkl","isChecked":true}'
    assert registry.summary("update_checklist_item", LISTED, text) == 'Check: "abcdefgh…"'


# ------------------------------------------------------------------------------------------- labels


def test_a_rejected_label_is_suppressed_once() -> None:
    facts = registry.apply("suppress_label", BARE, '{"id":"l-garden"}', "person")
    assert facts == (t.LabelSuppressed("person", "l-garden"),)
    task = given(CREATED, *facts)
    assert code(applied("suppress_label", task, id="l-garden")) == "redundant"
    assert registry.canonical_name("suppress_label", SCAFFOLD) is None
    assert code(registry.decode("suppress_label", {"id": "l-garden"})) == "unknown_tool"
    assert code(registry.check_edit("suppress_label", {"id": "l-garden"})) == "unknown_tool"


# --------------------------------------------------------------------------------------------- time

SPAN = {"startedAt": "2027-01-01T08:00", "endedAt": "2027-01-01T09:00"}
DAY = {"startedAt": "2026-12-30T08:00", "endedAt": "2026-12-31T08:00"}
NOW = utc("2027-01-01T12:00")


def at_noon(*facts: Any) -> Snapshot:
    return replace(given(CREATED, *facts), at=NOW)


def logged(by: str = "person", entry: str = "e1", start: str = "10:00", end: str = "11:00") -> Any:
    times = utc(f"2027-01-01T{start}"), utc(f"2027-01-01T{end}")
    return t.TimeLogged(by, entry, *times, "Dug")


def called(tool: str, before: Snapshot, **arguments: Any) -> Plan | ToolRefusal:
    found = registry.decode(tool, arguments)
    if isinstance(found, ToolRefusal):
        return found
    return registry.plan(tool, before, found, instants(tool, arguments).items())


def done(tool: str, before: Snapshot, **arguments: Any) -> Facts | ToolRefusal:
    return applied(tool, before, **changed(tool, arguments))


def test_an_instant_that_is_none_is_refused_whoever_gives_it() -> None:
    given = registry.decode("log_time", {**SPAN, "summary": "Dug"})
    assert not isinstance(given, ToolRefusal)
    wrong = {**instants("log_time", SPAN), "startedAt": "08:00"}
    refused = registry.plan("log_time", at_noon(), given, wrong.items())
    assert isinstance(refused, ToolRefusal)
    assert refused.code == "invalid_arguments"
    assert "expected a UTC instant" in refused.message


def test_a_correction_of_an_entry_that_is_gone_is_based_on_nothing() -> None:
    wish = canonical.text({"entryId": "gone", "summary": "Dug"})
    assert registry.base("edit_time_entry", at_noon(), wish) == base("edit_time_entry", None)


# ------------------------------------------------------------------------------------- logging


@pytest.mark.parametrize(
    ("span", "wrong"),
    [
        ({"endedAt": "2027-01-01T08:00"}, "invalid_arguments"),
        ({"endedAt": "2027-01-01T12:00"}, "redundant"),  # not in the future, but taken
        ({"endedAt": "2027-01-01T12:01"}, "invalid_arguments"),
        (DAY, ""),
        ({**DAY, "endedAt": "2026-12-31T08:01"}, "invalid_arguments"),
        ({"startedAt": "2027-01-01T11:00", "endedAt": "2027-01-01T11:30"}, ""),
        ({"startedAt": "2027-01-01T10:59", "endedAt": "2027-01-01T11:30"}, "redundant"),
        ({"endedAt": "2027-01-01T10:00"}, ""),
        ({"endedAt": "2027-01-01T10:01"}, "redundant"),
        ({"startedAt": "2027-01-01T10:15", "endedAt": "2027-01-01T10:30"}, "redundant"),
    ],
)
def test_a_span_is_over_a_day_at_most_and_free(span: dict[str, str], wrong: str) -> None:
    before = at_noon(logged())
    said = {**SPAN, **span, "summary": "Dug"}
    assert code(called("log_time", before, **said)) == wrong
    assert code(done("log_time", before, **said)) == wrong


def test_a_running_timer_takes_all_time_from_its_start() -> None:
    before = at_noon(t.TimeStarted("person", "e1", utc("2027-01-01T08:30")))
    assert code(called("log_time", before, **SPAN, summary="Dug")) == "redundant"


@pytest.mark.parametrize("told", ["2027-01-01 08:00", "2027-01-01t08:00:00", " 2027-01-01T08:00 "])
def test_a_local_time_has_one_spelling_in_the_end(told: str) -> None:
    plan = called("log_time", at_noon(), **{**SPAN, "startedAt": told}, summary="Dug")
    assert isinstance(plan, Plan)
    assert '"startedAt":"2027-01-01T08:00"' in plan.proposals[0].arguments


@pytest.mark.parametrize(
    "told",
    ["08:00", "2027-02-29T08:00", "2027-01-01T24:00", "2027-01-01T08:00Z", "0000-01-01T00:00",
     "1969-12-31T23:00", "2027-01-01T08:00:30", "9001-01-01T00:00"],
)  # fmt: skip
def test_what_no_clock_shows_is_no_local_time(told: str) -> None:
    found = registry.decode("log_time", {**SPAN, "endedAt": told, "summary": "Dug"})
    assert code(found) == "invalid_arguments"


def test_a_model_gives_no_instants_itself() -> None:
    said = {**SPAN, "summary": "Dug", "startedUtc": NOW}
    assert code(registry.decode("log_time", said)) == "invalid_arguments"
    assert "startedUtc" not in registry.specs(["log_time"])[0].schema["properties"]


@pytest.mark.parametrize("gone", ["startedUtc", "endedAt"])
def test_a_change_without_an_instant_is_no_change(gone: str) -> None:
    whole = changed("log_time", {**SPAN, "summary": "Dug"})
    said = {name: value for name, value in whole.items() if name != gone}
    assert code(applied("log_time", at_noon(), **said)) == "invalid_arguments"
    assert code(registry.check_edit("log_time", said)) == "invalid_arguments"


def test_an_entry_that_was_moved_away_leaves_its_name_behind() -> None:
    first = done("log_time", at_noon(), **SPAN, summary="Dug")
    assert isinstance(first, tuple)
    entry = getattr(first[0], "entry", "")
    moved = t.TimeEdited("person", entry, utc("2027-01-01T06:00"), utc("2027-01-01T07:00"))
    second = done("log_time", at_noon(*first, moved), **SPAN, summary="Dug")
    assert isinstance(second, tuple)
    assert getattr(second[0], "entry", "") != entry


# ---------------------------------------------------------------------------------- correcting


def test_the_times_that_an_agent_gave_are_the_person_s_once_she_has_set_them() -> None:
    before = at_noon(logged(AGENT), t.TimeEdited("person", "e1", end=utc("2027-01-01T10:30")))
    said = {"entryId": "e1", "endedAt": "2027-01-01T11:30"}
    assert code(called("edit_time_entry", before, **said)) == "sovereignty"


def test_a_correction_of_one_end_and_of_an_entry_that_is_gone_are_told() -> None:
    said = changed("edit_time_entry", {"entryId": "e9", "startedAt": "2027-01-01T08:00"})
    told = registry.summary("edit_time_entry", at_noon(), canonical.text(said))
    assert told == "Correct the time entry e9…: it began 2027-01-01 08:00"
    assert registry.present("edit_time_entry", at_noon(), said) == "gone"
    assert registry.present("note_timer", at_noon(), {}) == "no timer runs"


# --------------------------------------------------------------------------- timers, the snapshot


def test_a_note_is_put_on_the_timer_that_runs_here_and_on_no_other() -> None:
    assert code(called("note_timer", at_noon(logged()), summary="Digging")) == "not_found"
    before = at_noon(t.TimeStarted("person", "e1", utc("2027-01-01T11:00")))
    assert done("note_timer", before, summary="Digging") == (
        t.TimeEdited(AGENT, "e1", summary="Digging"),
    )
    noted = at_noon(
        t.TimeStarted("person", "e1", utc("2027-01-01T11:00")),
        t.TimeEdited(AGENT, "e1", summary="Digging"),
    )
    assert code(called("note_timer", noted, summary="Digging")) == "redundant"


# --------------------------------------------------------------- reports, observations, retractions

ID = key("item", "t1", "dig", "0")
OTHER = key("item", "t1", "rake", "0")


def reported(content: str, tldr: str = "short", one_liner: str = "line") -> Report | ToolRefusal:
    given = registry.decode(
        "update_report", {"content": content, "tldr": tldr, "oneLiner": one_liner}
    )
    assert isinstance(given, a.UpdateReport)
    return report(given)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Dig (id: {ID}) is done.", "Dig is done."),
        (f"Dig ({ID}), rake [{OTHER}].", "Dig, rake."),
        (f"Dig (ids: {ID}, {OTHER}) are done", "Dig are done"),
        (f"Dig (item id `{ID}`) is done", "Dig is done"),
        (f"Dig [Task ID: {ID}] is done", "Dig is done"),
        (f"- Dig, id: {ID}\n- Rake, ID {OTHER}", "- Dig,\n- Rake,"),
        (f"{ID} is done", "is done"),
        (f"see {ID} and {OTHER}!", "see!"),
        (f"  - {ID} dig", "- dig"),
        (f"a\n  - {ID} dig\n  {ID} b", "a\n  - dig\n  b"),
        (f"See [the task](/tasks/{ID}).", f"See [the task](/tasks/{ID})."),
        (f"See [{ID}](/tasks/{ID}).", f"See [task](/tasks/{ID})."),
        (f"See /tasks/{ID} ({ID})", f"See /tasks/{ID}"),
        (f"See https://a.example/x/{ID}?y={ID}", f"See https://a.example/x/{ID}?y={ID}"),
        ("- [ ] dig\n- [x] rake ()", "- [ ] dig\n- [x] rake ()"),
        ("two  spaces ,  kept", "two  spaces ,  kept"),
        (f"x{ID} and {ID}x and {ID}8", f"x{ID} and {ID}x and {ID}8"),
        (f"{ID.upper()}", f"{ID.upper()}"),
        ("an idea: keep it", "an idea: keep it"),
        (f"\0{ID}\0", ""),
        ("a\0b", "ab"),
    ],
)
def test_internal_ids_go_and_links_stay(text: str, expected: str) -> None:
    assert without_ids(text) == expected


def test_long_runs_of_spaces_do_no_harm() -> None:
    assert without_ids("a" + " " * 100_000 + ID) == "a"


def test_a_report_of_nothing_but_ids_is_refused() -> None:
    because = "tldr: nothing is left of it without its internal ids"
    assert reported("all well", f"({ID})") == ToolRefusal("invalid_arguments", because)


def test_an_observation_made_in_code_counts_too() -> None:
    given = a.RecordObservations(("wet", a.Observed("dry", priority="notable")))
    assert observations(given) == (
        Observation("wet", "routine", "operational", ""),
        Observation("dry", "notable", "operational", ""),
    )


# -------------------------------------------------------------------------------------- other tasks

LINKED = SnapshotLink("linked", "relates_to", "Pay the tax", "c1", "OPEN")
SEEN = replace(
    given(
        t.TaskCreated("person", "Plant", "c1"),
        t.ItemAdded("person", "k1", "i1", "Dig"),
        t.ItemAdded("person", "k1", "i2", "Rake", is_checked=True),
        t.ItemAdded("person", "k1", "i3", "Mulch"),
        t.ItemArchived("person", "i3"),
    ),
    linked=(LINKED, SnapshotLink("later", "has_follow_up", "Mow the lawn", "c1", "OPEN")),
)
FRESH = Wake("run")
FOUND = {"tasks": [{"id": "found", "title": "Buy seeds", "status": "DONE", "category": "c1"}]}


def read(tool: str, message: str, *, is_error: bool = False) -> Wake:
    """A wake that was answered so."""
    ref = ResultRef("c1", tool, Words(message), is_error)
    return Wake("run", exchanges=(ExchangeRef("", (ref,)),))


def follow_up(title: str = "The rest") -> Proposal:
    text = json.dumps({"title": title})
    name = "create_follow_up_task"
    return Proposal(name, text, title, fingerprint(name, text), title, "")


def refused(
    tool: str,
    *sets: ChangeSet,
    wake: Wake = FRESH,
    own: ChangeSet | None = None,
    **more: Any,
) -> str:
    """The code that a call is refused with, empty if it is not."""
    arguments = registry.decode(tool, more)
    assert isinstance(arguments, Struct)
    assert not isinstance(arguments, ToolRefusal), arguments
    mine = own or ChangeSet("set-1")
    found = visible_ids.refused(wake, SEEN, (*sets, mine), mine, arguments, lambda said: said.text)
    return found.code if found else ""


def link(target: str, relation: str = "blocks", **more: Any) -> str:
    return refused("link_task", relation=relation, targetTaskId=target, **more)


def move(target: str, **more: Any) -> str:
    items = [{"id": "i1"}]
    return refused("migrate_checklist_items", items=items, targetTaskId=target, **more)


@pytest.mark.parametrize("tool", visible_ids.READS)
def test_what_a_read_told_may_be_linked_and_gets_no_items(tool: str) -> None:
    wake = read(tool, json.dumps(FOUND))
    assert (link("found", wake=wake), move("found", wake=wake)) == ("", "not_found")
    assert visible_ids.visible_tasks(wake, SEEN, ChangeSet("s"), lambda said: said.text)[
        "found"
    ] == (visible_ids.VisibleTask("found", "Buy seeds", "DONE", "c1"))


@pytest.mark.parametrize(
    "wake",
    [
        Wake("run"),
        read("find_tasks", json.dumps(FOUND), is_error=True),
        read("update_report", json.dumps(FOUND)),
        read("find_tasks", "nothing found"),
        read("find_tasks", "[]"),
        read("find_tasks", '{"tasks": 1}'),
        read("find_tasks", '{"tasks": [1, {"title": "found"}]}'),
    ],
)
def test_no_other_task_is_known(wake: Wake) -> None:
    assert (link("found", wake=wake), move("found", wake=wake)) == ("not_found", "not_found")


def test_a_follow_up_of_the_wake_s_own_set_is_known() -> None:
    own = proposed(follow_up())
    made = follow_up_id(own.id, 1)
    assert (link(made, own=own), move(made, own=own)) == ("", "")
    assert (link(made), move(made)) == ("not_found", "not_found")


def test_what_is_linked_so_already_is_not_linked_again() -> None:
    assert link("linked", "relates_to") == "redundant"


def test_a_follow_up_that_was_made_is_not_proposed_again() -> None:
    assert refused("create_follow_up_task", title="mow  the LAWN") == "redundant"
    waiting = proposed(follow_up())
    made = replace(waiting, items=tuple(replace(one, status="confirmed") for one in waiting.items))
    assert refused("create_follow_up_task", made, title="The rest") == "redundant"
    assert refused("create_follow_up_task", waiting, title="The rest") == ""


def test_a_link_that_the_person_took_away_is_not_proposed_again() -> None:
    text = json.dumps({"relation": "blocks", "targetTaskId": "linked"})
    made = proposed(Proposal("link_task", text, "Link", fingerprint("link_task", text), "link", ""))
    assert link("linked", own=made) == ""
    done = replace(made, items=tuple(replace(one, status="confirmed") for one in made.items))
    assert link("linked", own=done) == "redundant"


def test_items_that_cannot_move_leave_the_others_standing() -> None:
    items = [{"id": one} for one in ("i1", "i1", "i3", "i9")]
    plan = planned("migrate_checklist_items", SEEN, items=items, targetTaskId="linked")
    assert isinstance(plan, Plan)
    assert [one.summary for one in plan.proposals] == ['Move: "Dig" to task linked']
    assert plan.skipped == ('Item "Dig" is named twice.',)
    assert len(plan.refused) == 2


def test_a_summary_names_the_first_items_and_counts_the_others() -> None:
    many = given(*(t.ItemAdded("person", "k1", f"i{n}", f"Step {n}") for n in range(5)))
    carried = [{"id": f"i{n}"} for n in range(5)]
    plan = planned("create_follow_up_task", many, title="Rest", carryOver=carried)
    assert isinstance(plan, Plan)
    told = 'Create follow-up task "Rest", with "Step 0", "Step 1", "Step 2", 2 more'
    assert plan.proposals[0].summary == told
