"""Items are added once, changed only in what is real, and a person's tick is hers."""

import pytest

from domain.journal import task as t
from domain.log.keys import key
from domain.tools import registry
from domain.tools.base import Plan, ToolRefusal
from tests.support.tools import AGENT, applied, code, given, planned, proposals

CREATED = t.TaskCreated("person", "Plant the garden", "c1")
LIST = t.ChecklistAdded("person", "k1", "Steps")
BARE = given(CREATED)
TASK = given(
    CREATED,
    LIST,
    t.ItemAdded("person", "k1", "i1", "Buy seeds"),
    t.ItemAdded("person", "k1", "i2", "Dig", is_checked=True),
    t.ItemAdded(AGENT, "k1", "i3", "Water"),
    t.ItemChecked(AGENT, "i3"),
    t.ItemAdded("import:md", "k1", "i4", "Rake", is_checked=True),
    t.ItemArchived("person", "i4"),
)
REASON = "The note of Monday says that it is not done yet."


def item(item_id: str, **change: object) -> dict[str, object]:
    return {"id": item_id, **change}


# ------------------------------------------------------------------------------------ adding


def test_the_first_item_brings_its_checklist() -> None:
    checklist = key("checklist", "t1", "checklist")
    assert applied("add_checklist_item", BARE, title=" Buy  seeds ") == (
        t.ChecklistAdded(AGENT, checklist, "Checklist"),
        t.ItemAdded(AGENT, checklist, key("item", "t1", "buy seeds", "0"), "Buy seeds"),
    )


def test_a_further_item_goes_to_the_oldest_checklist() -> None:
    task = given(CREATED, LIST, t.ChecklistAdded("person", "k2", "More"))
    expected = t.ItemAdded(AGENT, "k1", key("item", "t1", "mulch", "0"), "Mulch")
    assert applied("add_checklist_item", task, title="Mulch") == (expected,)


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


def test_a_batch_becomes_one_proposal_for_each_new_title() -> None:
    titles = ["Mulch", "buy  SEEDS", "Compost", "mulch ", "RAKE"]
    plan = planned("add_multiple_checklist_items", TASK, items=[{"title": one} for one in titles])
    assert isinstance(plan, Plan)
    assert [(one.tool, one.summary, one.touches) for one in plan.proposals] == [
        ("add_checklist_item", 'Add: "Mulch"', ("items",)),
        ("add_checklist_item", 'Add: "Compost"', ("items",)),
    ]
    assert plan.proposals[0].display == 'add: "mulch"'
    assert plan.skipped == (
        '"buy SEEDS" is on the task already.',
        '"mulch" is named twice.',
        '"RAKE" is on the task already.',
    )


def test_a_batch_that_brings_nothing_new_is_redundant() -> None:
    plan = planned("add_multiple_checklist_items", TASK, items=[{"title": "dig"}])
    assert plan == ToolRefusal("redundant", '"dig" is on the task already.')
    assert code(applied("add_checklist_item", TASK, title="DIG")) == "redundant"


@pytest.mark.parametrize("tool", ["add_multiple_checklist_items", "update_checklist_items"])
def test_more_than_twenty_are_refused_and_so_are_none(tool: str) -> None:
    many = [{"title": f"Step {n}", "id": f"i{n}"} for n in range(21)]
    assert planned(tool, TASK, items=many) == ToolRefusal(
        "limit", "items: at most 20 in one call, got 21"
    )
    assert code(planned(tool, TASK, items=[])) == "invalid_arguments"


def test_an_item_s_title_has_1_to_400_characters() -> None:
    assert len(proposals("add_multiple_checklist_items", BARE, items=[{"title": "x" * 400}])) == 1
    for title in (" ", "x" * 401):
        answer = planned("add_multiple_checklist_items", BARE, items=[{"title": title}])
        assert isinstance(answer, ToolRefusal)
        assert answer.code == "invalid_arguments"
        assert answer.message.startswith("items[0].title: expected a text of 1 to 400 characters")


# ---------------------------------------------------------------------------------- changing


@pytest.mark.parametrize(
    ("change", "summary", "facts"),
    [
        (item("i1", isChecked=True), 'Check: "Buy seeds"', [t.ItemChecked(AGENT, "i1")]),
        (
            item("i3", isChecked=False, reason="dry"),
            'Uncheck: "Water"',
            [t.ItemUnchecked(AGENT, "i3", "dry")],
        ),
        (item("i1", isArchived=True), 'Archive: "Buy seeds"', [t.ItemArchived(AGENT, "i1")]),
        (item("i4", isArchived=False), 'Restore: "Rake"', [t.ItemRestored(AGENT, "i4")]),
        (
            item("i1", title=" Buy\tbulbs "),
            'Rename: "Buy seeds" to "Buy bulbs"',
            [t.ItemRetitled(AGENT, "i1", "Buy bulbs")],
        ),
        (
            item("i1", title="buy seeds", isChecked=True, isArchived=True),
            'Rename: "Buy seeds" to "buy seeds"; Check: "Buy seeds"; Archive: "Buy seeds"',
            [
                t.ItemRetitled(AGENT, "i1", "buy seeds"),
                t.ItemChecked(AGENT, "i1"),
                t.ItemArchived(AGENT, "i1"),
            ],
        ),
    ],
)
def test_a_real_change_is_proposed_and_applied(
    change: dict[str, object], summary: str, facts: list[t.TaskFact]
) -> None:
    (proposal,) = proposals("update_checklist_items", TASK, items=[change])
    assert (proposal.tool, proposal.summary) == ("update_checklist_item", summary)
    assert proposal.touches == (f"item:{change['id']}",)
    assert registry.apply(proposal.tool, TASK, proposal.arguments, AGENT) == tuple(facts)


def test_what_is_so_already_is_left_out_of_a_proposal() -> None:
    change = item("i3", isChecked=True, title="Water daily", isArchived=False, reason="seen")
    (proposal,) = proposals("update_checklist_items", TASK, items=[change])
    assert proposal.arguments == '{"id":"i3","title":"Water daily"}'


def test_a_change_of_nothing_is_redundant() -> None:
    change = item("i2", isChecked=True, title="Dig ", isArchived=False)
    expected = ToolRefusal("redundant", 'Item "Dig" is so already.')
    assert planned("update_checklist_items", TASK, items=[change]) == expected
    assert applied("update_checklist_item", TASK, **change) == expected


def test_an_item_of_no_one_or_named_twice_leaves_the_others_standing() -> None:
    changes = [
        item("nobody", isChecked=True),
        item("i1", isChecked=True),
        item("i1", title="Bulbs"),
        item("i3", isChecked=True),
    ]
    plan = planned("update_checklist_items", TASK, items=changes)
    assert isinstance(plan, Plan)
    assert [one.summary for one in plan.proposals] == ['Check: "Buy seeds"']
    assert plan.skipped == (
        'Item "Buy seeds" is named twice; name each once in a call.',
        'Item "Water" is so already.',
    )
    assert plan.refused == ('This task has no item with the id "nobody".',)
    assert code(applied("update_checklist_item", TASK, **changes[0])) == "not_found"


def test_an_item_that_changes_in_nothing_is_named_by_its_place() -> None:
    answer = planned("update_checklist_items", TASK, items=[item("i1", title=" ", reason="why")])
    because = "items[0]: give isChecked, title or isArchived"
    assert answer == ToolRefusal("invalid_arguments", because)
    assert code(applied("update_checklist_item", TASK, id="i1")) == "invalid_arguments"


@pytest.mark.parametrize("item_id", ["i2", "i4"])
def test_a_person_s_tick_or_an_import_s_is_taken_away_only_with_a_reason(item_id: str) -> None:
    bare = item(item_id, isChecked=False)
    short = {**bare, "reason": "not  done,   I   think"}  # 20 characters only with its spaces
    for change in (bare, short):
        plan = planned("update_checklist_items", TASK, items=[change])
        assert isinstance(plan, Plan)
        assert plan.proposals == ()
        assert "give a reason of 20 characters or more" in plan.refused[0]
        assert code(applied("update_checklist_item", TASK, **change)) == "sovereignty"
    enough = {**bare, "reason": "x" * 20}
    assert len(proposals("update_checklist_items", TASK, items=[enough])) == 1
    facts = applied("update_checklist_item", TASK, **enough)
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
    facts = applied("update_checklist_item", unticked, id="i1", isChecked=True, reason=REASON)
    assert facts == (t.ItemChecked(AGENT, "i1", REASON),)


def test_without_the_reason_only_the_tick_is_left_out() -> None:
    change = item("i2", isChecked=False, title="Dig deeper", reason="short")
    plan = planned("update_checklist_items", TASK, items=[change])
    assert isinstance(plan, Plan)
    assert [one.arguments for one in plan.proposals] == ['{"id":"i2","title":"Dig deeper"}']
    assert plan.refused == ('The person ticked "Dig"; give a reason of 20 characters or more.',)


def test_a_tick_that_stays_needs_no_reason() -> None:
    change = item("i2", isChecked=True, title="Dig deeper")
    assert len(proposals("update_checklist_items", TASK, items=[change])) == 1


def test_the_base_of_an_item_moves_with_what_is_named_and_with_no_more() -> None:
    tick = '{"id":"i1","isChecked":true}'
    before = registry.base("update_checklist_item", TASK, tick)
    renamed = given(CREATED, LIST, t.ItemAdded("person", "k1", "i1", "Buy bulbs"))
    ticked = given(CREATED, LIST, t.ItemAdded("person", "k1", "i1", "Buy seeds", is_checked=True))
    assert registry.base("update_checklist_item", renamed, tick) == before
    assert registry.base("update_checklist_item", ticked, tick) != before
    assert registry.base("update_checklist_item", BARE, tick) != before
    put_away = '{"id":"i4","isArchived":false}'
    restored = given(CREATED, LIST, t.ItemAdded("person", "k1", "i4", "Rake"))
    away, back = (registry.base("update_checklist_item", at, put_away) for at in (TASK, restored))
    assert away != back


def test_the_base_of_an_addition_moves_when_its_title_appears() -> None:
    wanted = '{"title":"DIG"}'
    before = registry.base("add_checklist_item", BARE, wanted)
    assert registry.base("add_checklist_item", given(CREATED, LIST), wanted) == before
    assert registry.base("add_checklist_item", TASK, wanted) != before


def test_the_person_s_last_touch_of_an_item_is_found() -> None:
    assert registry.last_touched(TASK, ("item:i1",)) == 3
    assert registry.last_touched(TASK, ("item:i3",)) == 0
    assert registry.last_touched(TASK, ("item:i4", "item:i1", "item:none")) == 8
    assert registry.last_touched(TASK, ("items",)) == 7


def test_an_item_that_is_gone_is_shown_by_the_beginning_of_its_id() -> None:
    text = '{"id":"abcdefghijkl","isChecked":true}'
    assert registry.summary("update_checklist_item", TASK, text) == 'Check: "abcdefgh…"'
