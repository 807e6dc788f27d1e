"""The lines about policy, lessons and templates in the table of what merges how (ADR 73)."""

from typing import Any

import pytest

from domain.agent import agent as a
from domain.errors import Refused
from domain.handlers import templates as handlers
from domain.lessons import lessons as le
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Words
from domain.policy import policy as p
from domain.replication.merge import MergeFilter
from domain.templates import commands as do
from domain.templates import template as te
from tests.support.services import START
from tests.support.sides import Sides, apart, both, shown

POLICY, TEMPLATE, LESSONS = "policy:main", "template:m1", "lessons:category:c1"
CONSENT = p.ConsentGiven("gemini:*", ("c1", "c2"), 2, ("task", "log"))
CALM = te.TemplateCreated("task_agent", "Calm")
ONE = te.VersionAdded(1, "user", Words("a"), Words("b"))


def test_a_receipt_that_one_side_withdrew_is_withdrawn_and_shown() -> None:
    given = p.ConsentGiven("gemini:pro", ("c1", "c3"), 2, ("task",))
    gone = p.ConsentWithdrawn("gemini:*", ("c1",))
    for desk, phone in (given, gone), (gone, given):
        sides = apart(desk, phone, CONSENT, of=POLICY)
        policy = sides.state(POLICY)
        assert not policy.consented("gemini:pro", "c1", 2)
        assert policy.consented("gemini:pro", "c2", 2)
        ((kind, field, stands, told),) = shown(sides, POLICY)
        assert (kind, field, stands) == ("values", "receipt:gemini:pro", None)
        assert {value for _, value in told} == {("c1", "c3"), None}
        sides.meet("desk", "phone")
        sides.says("desk", given, of=POLICY)
        assert sides.state(POLICY).consented("gemini:pro", "c1", 2)
        assert shown(sides, POLICY) == []


def test_a_receipt_for_something_else_than_was_withdrawn_stands() -> None:
    for gone in p.ConsentWithdrawn("openai:x"), p.ConsentWithdrawn("gemini:*", ("c2",)):
        sides = apart(gone, p.ConsentGiven("gemini:pro", ("c1",), 2, ("task",)), of=POLICY)
        assert sides.state(POLICY).consented("gemini:pro", "c1", 2)
        assert shown(sides, POLICY) == []


def test_of_two_receipts_the_narrower_stands() -> None:
    wide = p.ConsentGiven("gemini:*", ("c1",), 2, ("task", "log"))
    narrow = [
        p.ConsentGiven("gemini:*", ("c1",), 1, ("task", "log")),
        p.ConsentGiven("gemini:*", ("c1",), 2, ("task",)),
    ]
    for one in narrow:
        for desk, phone in (one, wide), (wide, one):
            sides = apart(desk, phone, of=POLICY)
            (consent,) = sides.state(POLICY).consents
            assert (consent.notice, consent.sections) == (one.notice, one.sections)
            assert [line[1] for line in shown(sides, POLICY)] == ["consent:gemini:*:c1"]


RULES: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("rules",), ()),
    (("rules",), ("gemini:pro", "rules")),
    (("gemini:flash", "gemini:pro"), ("gemini:*",)),
]


@pytest.mark.parametrize(("narrow", "wide"), RULES)
def test_of_two_rules_on_models_the_narrower_stands(narrow: Any, wide: Any) -> None:
    for desk, phone in (narrow, wide), (wide, narrow):
        sides = apart(p.ModelsRuled("c1", desk), p.ModelsRuled("c1", phone), of=POLICY)
        assert dict(sides.state(POLICY).rules) == {"c1": narrow}
        assert [line[:3] for line in shown(sides, POLICY)] == [("values", "models:c1", narrow)]


def test_a_lesson_is_a_verdict_each_and_the_last_stands_whatever_the_clocks_say() -> None:
    sides = Sides()
    sides.minutes["desk"] = 200
    sides.says("desk", le.LessonDecided("s", 1, "tool", "confirmed"), of=LESSONS)
    sides.says("phone", le.LessonDecided("s", 1, "tool", "rejected"), of=LESSONS)
    sides.says("phone", le.LessonDecided("s", 2, "tool", "deferred"), of=LESSONS)
    told = {one.item: one.verdict for one in sides.state(LESSONS).tools["tool"]}
    assert (told, shown(sides, LESSONS)) == ({1: "rejected", 2: "deferred"}, [])


def test_a_lesson_that_was_learnt_later_does_not_beat_one_that_was_given() -> None:
    given = le.LessonDecided("s", 1, "tool", "confirmed")
    learnt = le.LessonDecided("s", 1, "tool", "rejected", at="2028-01-01")
    for desk, phone in (given, learnt), (learnt, given):
        sides = apart(desk, phone, of=LESSONS)
        assert [one.verdict for one in sides.state(LESSONS).tools["tool"]] == ["confirmed"]


def test_of_lessons_that_both_learnt_later_the_first_stands() -> None:
    learnt = [
        le.LessonDecided("s", 1, "tool", "rejected", at="2027-01-01"),
        le.LessonDecided("s", 1, "tool", "confirmed", at="2028-01-01"),
    ]
    for desk, phone in learnt, learnt[::-1]:
        sides = apart(desk, phone, of=LESSONS)
        assert [one.verdict for one in sides.state(LESSONS).tools["tool"]] == [desk.verdict]


def test_ratings_are_a_field_each() -> None:
    sides = apart(le.WakeRated("r1", 1), le.WakeRated("r1", 5), le.WakeRan("r1", 1, "x"),
                  of="lessons:template:m1")  # fmt: skip
    lessons = sides.state("lessons:template:m1")
    assert (lessons.ratings, lessons.runs) == ((("r1", 5),), 1)
    assert [one[:3] for one in shown(sides, "lessons:template:m1")] == [("values", "rating:r1", 5)]


def test_a_second_version_of_one_number_is_kept_and_shown() -> None:
    desk = te.VersionAdded(2, "user", Words("desk"), Words("b"))
    phone = te.VersionAdded(2, "user", Words("phone"), Words("b"))
    sides = apart(desk, phone, CALM, ONE, of=TEMPLATE)
    template = sides.state(TEMPLATE)
    assert [(one.version, one.replica) for one in template.versions] == [
        (1, "desk"),
        (2, "desk"),
        (2, "phone"),
    ]
    assert template.version.general == Words("phone")
    ((kind, field, stands, told),) = shown(sides, TEMPLATE)
    assert (kind, field, [value[1] for _, value in told]) == (
        "values",
        "active",
        [Words("desk"), Words("phone")],
    )
    assert stands == told[1][1]
    sides.meet("desk", "phone")
    sides.says("phone", te.VersionActivated(2, "desk"), of=TEMPLATE)
    assert sides.state(TEMPLATE).version.general == Words("desk")
    assert shown(sides, TEMPLATE) == []


def test_the_same_version_of_both_is_one() -> None:
    made = (CALM, ONE)
    sides = Sides()
    for one in "desk", "phone":
        sides.says(one, *made, of=TEMPLATE)
    assert [one.is_of("phone") for one in sides.state(TEMPLATE).versions] == [True]
    assert shown(sides, TEMPLATE) == []


def test_who_goes_back_to_a_number_means_its_own_version_or_the_only_one() -> None:
    sides = both(CALM, ONE, of=TEMPLATE)
    sides.says("phone", te.VersionAdded(2, "user", Words("phone"), Words("")), of=TEMPLATE)
    for fact in te.VersionAdded(2, "user", Words("desk"), Words("")), te.VersionActivated(1):
        sides.says("desk", fact, of=TEMPLATE)
    sides.says("desk", te.VersionActivated(2), of=TEMPLATE)
    assert sides.state(TEMPLATE).version.general == Words("desk")
    sides.meet("desk", "phone")
    sides.says("phone", te.VersionActivated(1), of=TEMPLATE)
    assert sides.state(TEMPLATE).version.general == Words("a")
    sides.says("phone", te.VersionActivated(9), of=TEMPLATE)
    assert sides.state(TEMPLATE).version is None


def test_a_template_that_one_side_deleted_and_the_other_used_stays_and_is_shown() -> None:
    sides = apart(te.TemplateDeleted(), te.InstanceAdded("a1"), CALM, ONE, of=TEMPLATE)
    template = sides.state(TEMPLATE)
    assert (template.is_deleted, template.instances) == (False, ("a1",))
    assert [one[:3] for one in shown(sides, TEMPLATE)] == [("removal", "deleted", False)]


def test_settings_of_a_template_are_fields() -> None:
    for desk, phone, field in (
        (te.TemplateNamed("A"), te.TemplateNamed("B"), "name"),
        (te.TemplateModelSet("A"), te.TemplateModelSet("B"), "model"),
        (te.TemplateCategoriesSet(("A",)), te.TemplateCategoriesSet(("B",)), "categories"),
    ):
        sides = apart(desk, phone, CALM, ONE, of=TEMPLATE)
        assert [one[1] for one in shown(sides, TEMPLATE)] == [field]
        assert "B" in getattr(sides.state(TEMPLATE), field)
    gone = apart(te.InstanceAdded("a1"), te.InstanceRemoved("a1"), CALM, of=TEMPLATE)
    assert (gone.state(TEMPLATE).instances, shown(gone, TEMPLATE)) == ((), [])


def versions_of_both() -> Sides:
    """Each made a second version apart from the other, and desk has gone back to the first."""
    sides = both(CALM, ONE, of=TEMPLATE)
    for one in "desk", "phone":
        sides.says(one, te.VersionAdded(2, "user", Words(one), Words("b")), of=TEMPLATE)
    sides.meet("desk", "phone")
    sides.says("desk", te.VersionActivated(1), of=TEMPLATE)
    sides.meet("desk", "phone")
    return sides


def world_of(sides: Sides, replica: str) -> LogState:
    def read(stream: str, after: int) -> list[RecordedEvent]:
        return [row for row in sides.rows if row.stream == stream][after:]

    other = {"desk": "phone", "phone": "desk"}[replica]
    sift = MergeFilter(sides.knows)
    return LogState("agent", replica, 9, read, lambda _: None, replicas=(other,), sift=sift)


@pytest.mark.parametrize(("of", "named"), [("desk", ""), ("phone", "phone")])
def test_a_version_of_a_number_that_two_have_is_named_with_its_machine(of: str, named: str) -> None:
    world = world_of(versions_of_both(), "desk")
    with pytest.raises(Refused, match="2@desk, 2@phone") as refused:
        handlers.roll_back(do.RollBackTemplate("m1", 2), "", START, world)
    assert refused.value.code == "ambiguous"
    with pytest.raises(Refused, match="no version 2@r9"):
        handlers.roll_back(do.RollBackTemplate("m1", 2, "r9"), "", START, world)
    decided = handlers.roll_back(do.RollBackTemplate("m1", 2, of), "", START, world)
    assert decided.events == [("template:m1@desk", te.VersionActivated(2, named))]
    world = world_of(versions_of_both(), "desk")
    assert not handlers.roll_back(do.RollBackTemplate("m1", 1), "", START, world).events


def test_whose_version_a_wake_runs_on_is_said_of_another_machines_alone() -> None:
    template = versions_of_both().state(TEMPLATE)
    mine, theirs = template.numbered(2)
    assert [te.whose(one, "desk") for one in (None, mine, theirs)] == ["", "", "phone"]
    assert te.whose(theirs, "") == ""  # a log that is alone has one of each number


def test_a_template_on_which_only_a_stream_says_that_an_agent_lives_can_be_deleted() -> None:
    """Two machines gave an agent other templates; it lives on that of the canonical last."""
    sides = both(CALM, ONE, te.InstanceAdded("a1"), of=TEMPLATE)
    sides.says("desk", a.TemplateAssigned("m1"), of="agent:a1")
    with pytest.raises(Refused) as refused:
        handlers.delete(do.DeleteTemplate("m1"), "", START, world_of(sides, "desk"))
    assert refused.value.code == "template_in_use"
    sides.says("phone", a.TemplateAssigned("m2"), of="agent:a1")
    decided = handlers.delete(do.DeleteTemplate("m1"), "", START, world_of(sides, "desk"))
    assert decided.events == [("template:m1@desk", te.TemplateDeleted())]
