"""At most three labels, the surest first, and never one that the person declined."""

from domain.journal import task as t
from domain.tools import registry
from domain.tools.base import Plan, ToolRefusal
from domain.wake.scaffolds import SCAFFOLD
from tests.support.tools import AGENT, applied, code, given, planned, proposals

CREATED = t.TaskCreated("person", "Plant the garden", "c1")
BARE = given(CREATED)


def label(name: str, confidence: str = "high") -> dict[str, str]:
    return {"id": f"l-{name}", "confidence": confidence}


def assigned(*names: str) -> list[t.TaskFact]:
    return [t.LabelAssigned("person", f"l-{name}") for name in names]


def test_a_label_becomes_an_item_of_its_own() -> None:
    (proposal,) = proposals("assign_task_labels", BARE, labels=[label("garden")])
    assert proposal.tool == "assign_task_label"
    assert proposal.arguments == '{"confidence":"high","id":"l-garden"}'
    assert proposal.summary == 'Assign label: "garden"'
    assert proposal.touches == ("label:l-garden",)
    facts = registry.apply(proposal.tool, BARE, proposal.arguments, AGENT)
    assert facts == (t.LabelAssigned(AGENT, "l-garden"),)


def test_the_surest_come_first_and_equally_sure_ones_in_their_order() -> None:
    plan = planned(
        "assign_task_labels",
        BARE,
        labels=[
            label("garden", "medium"),
            label("garage", "high"),
            label("urgent", "Very_High"),
            label("kitchen", "high"),
            label("bath", "medium"),
        ],
    )
    assert isinstance(plan, Plan)
    ids = [registry.touches(one.tool, one.arguments)[0] for one in plan.proposals]
    assert ids == ["label:l-urgent", "label:l-garage", "label:l-kitchen"]
    assert plan.skipped == (
        'Label "garden" is over the limit of 3 labels a task.',
        'Label "bath" is over the limit of 3 labels a task.',
    )


def test_a_task_with_two_labels_takes_one_more() -> None:
    task = given(CREATED, *assigned("garden", "garage"))
    plan = planned("assign_task_labels", task, labels=[label("bath", "high"), label("urgent")])
    assert isinstance(plan, Plan)
    assert [one.summary for one in plan.proposals] == ['Assign label: "bath"']
    assert plan.skipped == ('Label "urgent" is over the limit of 3 labels a task.',)


def test_a_task_with_three_labels_takes_none() -> None:
    task = given(CREATED, *assigned("garden", "garage", "bath"))
    plan = planned("assign_task_labels", task, labels=[label("urgent")])
    assert plan == ToolRefusal("limit", "The task has 3 labels; at most 3 are assigned.")
    assert code(applied("assign_task_label", task, id="l-urgent")) == "limit"


def test_what_cannot_be_assigned_is_told_apart_and_takes_no_place() -> None:
    suppressed = t.LabelSuppressed("person", "l-urgent")
    task = given(CREATED, *assigned("garden"), suppressed)
    wanted = [label(name, "very_high") for name in ("garden", "urgent", "elsewhere", "no")]
    wanted += [label("bath"), label("bath"), label("garage", "low"), label("kitchen")]
    plan = planned("assign_task_labels", task, labels=wanted)
    assert isinstance(plan, Plan)
    assert [one.summary for one in plan.proposals] == [
        'Assign label: "bath"',
        'Assign label: "kitchen"',
    ]
    assert plan.skipped == (
        'Label "garden" is assigned already.',
        'Label "bath" is named twice.',
        'Label "garage" is dropped: its confidence is low.',
    )
    assert plan.refused == (
        'The person does not want label "urgent" on this task.',
        'There is no available label with the id "l-elsewhere".',
        'There is no available label with the id "l-no".',
    )


def test_a_call_of_which_all_is_assigned_is_redundant() -> None:
    task = given(CREATED, *assigned("garden"))
    plan = planned("assign_task_labels", task, labels=[label("garden")])
    assert plan == ToolRefusal("redundant", 'Label "garden" is assigned already.')


def test_a_call_of_low_confidence_only_proposes_nothing() -> None:
    plan = planned("assign_task_labels", BARE, labels=[label("garden", "low")])
    told = 'Label "garden" is dropped: its confidence is low.'
    assert plan == Plan(skipped=(told,), codes=("limit",))


def test_the_rules_hold_again_when_a_label_is_assigned() -> None:
    task = given(CREATED, *assigned("garden"), t.LabelSuppressed("person", "l-urgent"))
    assert code(applied("assign_task_label", task, id="l-garden")) == "redundant"
    assert code(applied("assign_task_label", task, id="l-urgent")) == "sovereignty"
    assert code(applied("assign_task_label", task, id="l-elsewhere")) == "not_found"
    low = applied("assign_task_label", task, id="l-bath", confidence="low")
    assert code(low) == "invalid_arguments"


def test_more_than_twenty_labels_are_refused() -> None:
    plan = planned("assign_task_labels", BARE, labels=[label(f"x{n}") for n in range(21)])
    assert plan == ToolRefusal("limit", "labels: at most 20 in one call, got 21")


def test_a_rejected_label_is_suppressed_once() -> None:
    facts = registry.apply("suppress_label", BARE, '{"id":"l-garden"}', "person")
    assert facts == (t.LabelSuppressed("person", "l-garden"),)
    task = given(CREATED, *facts)
    assert code(applied("suppress_label", task, id="l-garden")) == "redundant"
    assert registry.canonical_name("suppress_label", SCAFFOLD) is None
    assert code(registry.decode("suppress_label", {"id": "l-garden"})) == "unknown_tool"
    assert code(registry.check_edit("suppress_label", {"id": "l-garden"})) == "unknown_tool"


def test_the_base_of_a_label_moves_when_it_is_assigned_and_with_no_other() -> None:
    wanted = '{"id":"l-garden"}'
    before = registry.base("assign_task_label", BARE, wanted)
    other = given(CREATED, *assigned("bath"))
    same = given(CREATED, *assigned("garden"))
    assert registry.base("assign_task_label", other, wanted) == before
    assert registry.base("assign_task_label", same, wanted) != before


def test_the_person_s_last_touch_of_a_label_is_found() -> None:
    task = given(CREATED, *assigned("garden"), t.LabelAssigned(AGENT, "l-bath"))
    assert registry.last_touched(task, ("label:l-garden",)) == 2
    assert registry.last_touched(task, ("label:l-bath",)) == 0
    assert registry.last_touched(task, ()) == 0
