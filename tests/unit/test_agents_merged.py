"""The lines about agents, templates, policies, lessons and verdicts in the table of what merges:
what two sides said without knowing of each other, what stands then, what is shown until a row
knows both sides, and how it is settled on either of them (ADR 73)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args

import pytest
from msgspec import UNSET

from domain.agent import agent as a
from domain.agent import deciders
from domain.agent.agent import Agent
from domain.agent.memory import MemoryFolded
from domain.agent.wake_queue import WakeQueueFact, WatchFact
from domain.append.envelope import AgentLogFact
from domain.changes import change_set as ch
from domain.changes.change_set import ChangeItem
from domain.changes.decisions import reopen, retake
from domain.changes.decisions import settle as settled
from domain.changes.in_doubt import ItemInDoubt, items_in_doubt
from domain.errors import Refused
from domain.handlers import templates as handlers
from domain.handlers.execute import handle
from domain.journal.commands import SideSeen
from domain.lessons import lessons as le
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Imported, Stored, Words
from domain.machines.commands import SettleAgentsConflict
from domain.policy import policy as p
from domain.replication.merge import MergeFilter
from domain.replication.merge_rules import AGENT_RULES
from domain.templates import commands as do
from domain.templates import template as te
from domain.wake.wake import WakeFact
from tests.support.services import START
from tests.support.sides import Sides, apart, both, folded, shown

AGENT = "agent:a1"
OWN = (a.ModelChosen("rules"), a.AgentActivated())
MADE = a.AgentCreated("task_agent", "t1", 1, "Trip", "hybrid", ("c1", "c2"))
NEXT = "2027-01-0{}T07:00:00.000000Z"
DAILY = a.TimerSet("t", "every day 07:00", "UTC", NEXT.format(1))


def ticked(*days: int) -> a.TimerTicked:
    """All ticks up to the last of these days but one, which is the next."""
    ticks = tuple(NEXT.format(day) for day in days[:-1])
    return a.TimerTicked("t", ticks, NEXT.format(days[-1]))


def test_every_fact_of_the_agent_log_that_merges_stands_in_the_table() -> None:
    own = {*get_args(WakeQueueFact), *get_args(WakeFact), WatchFact}
    assert set(AGENT_RULES) == set(get_args(AgentLogFact)) - own


def life(agent: Agent) -> str:
    return "deleted" if agent.is_deleted else agent.lifecycle


def test_who_knows_of_the_pause_resumes() -> None:
    sides = apart(a.AgentPaused(), a.AgentActivated(), MADE, *OWN, of=AGENT)
    sides.meet("desk", "phone")
    sides.says("phone", a.AgentActivated(), of=AGENT)
    assert (life(sides.state(AGENT)), shown(sides, AGENT)) == ("active", [])


@pytest.mark.parametrize("order", [("desk", "phone"), ("phone", "desk")])
def test_an_agent_that_both_made_is_one_and_was_allowed_what_both_say(order: Any) -> None:
    sides = Sides()
    sides.says(order[0], MADE, *OWN, of=AGENT)
    sides.says(order[1], a.AgentCreated("task_agent", "t1", 1, "The trip", "hybrid", ("c3",)),
               *OWN, a.AgentPaused(), of=AGENT)  # fmt: skip
    agent = sides.state(AGENT)
    first = order[0] == "desk"
    assert (agent.name, agent.lifecycle) == ("Trip" if first else "The trip", "dormant")
    assert agent.categories == (("c1", "c2") if first else ("c3",))
    assert agent.categories_ever == ("c1", "c2", "c3")
    assert {one[1] for one in shown(sides, AGENT)} == {"name", "life", "categories"}


def test_of_categories_the_fewest_stand_and_what_it_wrote_may_speak_of_all() -> None:
    few, many = a.CategoriesAllowed(("c1",)), a.CategoriesAllowed(("c1", "c2", "c3"))
    for desk, phone in (few, many), (many, few):
        sides = apart(desk, phone, MADE, *OWN, of=AGENT)
        assert sides.state(AGENT).categories == ("c1",)
        assert sides.state(AGENT).categories_ever == ("c1", "c2", "c3")
        standing = MergeFilter(sides.knows).standing(sides.of(AGENT))  # as views read on
        assert folded(standing, AGENT).categories == ("c1",)
        assert standing == [row for row in sides.of(AGENT) if row in standing]
        assert [one[:3] for one in shown(sides, AGENT)] == [("values", "categories", ("c1",))]
        sides.meet("desk", "phone")
        sides.says("phone", many, of=AGENT)
        assert (sides.state(AGENT).categories, shown(sides, AGENT)) == (("c1", "c2", "c3"), [])


def test_more_categories_do_not_come_in_by_taking_back_fewer() -> None:
    """Desk allows one and then three again; phone allows two meanwhile: what stands is the one."""
    sides = both(MADE, *OWN, of=AGENT)
    sides.says("desk", a.CategoriesAllowed(("c1",)), of=AGENT)
    sides.says("phone", a.CategoriesAllowed(("c1", "c2")), of=AGENT)
    sides.says("desk", a.CategoriesAllowed(("c1", "c2", "c3")), of=AGENT)
    assert sides.state(AGENT).categories == ("c1",)
    assert [len(one[3]) for one in shown(sides, AGENT)] == [3]


def test_automatic_updates_that_one_side_set_off_are_off() -> None:
    for desk, phone in (False, True), (True, False):
        sides = apart(a.AutomationSet(desk), a.AutomationSet(phone), MADE, *OWN, of=AGENT)
        assert not sides.state(AGENT).is_automatic
        assert [one[:3] for one in shown(sides, AGENT)] == [("values", "automation", False)]


def test_of_two_orders_to_sleep_the_later_stands_and_an_end_ends_what_it_knew() -> None:
    may, june = a.SleepOrdered(NEXT.format(5)), a.SleepOrdered(NEXT.format(6))
    for desk, phone in (may, june), (june, may), (june, a.SleepOrdered()):
        sides = apart(desk, phone, MADE, *OWN, of=AGENT)
        assert sides.state(AGENT).sleeps_until == june.until
        assert [one[:3] for one in shown(sides, AGENT)] == [("values", "sleep", june.until)]
        sides.meet("desk", "phone")
        sides.says("desk", a.SleepOrdered(), of=AGENT)
        assert (sides.state(AGENT).sleeps_until, shown(sides, AGENT)) == ("", [])
        sides.meet("phone", "desk")
        sides.says("phone", may, of=AGENT)
        assert sides.state(AGENT).sleeps_until == may.until


def test_of_two_orders_to_sleep_both_are_heard_of_what_they_took_the_place_of() -> None:
    late = a.SleepOrdered(NEXT.format(5), (Imported("desk", 3),))
    end = a.SleepOrdered("", (Imported("desk", 2), Imported("phone", 7)))
    for desk, phone in (late, end), (end, late):
        agent = apart(desk, phone, MADE, *OWN, of=AGENT).state(AGENT)
        assert (agent.sleeps_until, agent.sleeps_over) == (late.until, {"desk": 3, "phone": 7})


def test_notes_sets_and_ends_of_wakes_of_both_sides_stay() -> None:
    sides = both(MADE, *OWN, of=AGENT)
    for one in "desk", "phone":
        noted = a.AgentObserved(one, Words(one), "notable", "operational")
        sides.says(
            one, noted, a.AgentProposed(one, one), a.AgentSettled(one, "completed"), of=AGENT
        )
    agent = sides.state(AGENT)
    assert [note.run_key for note in agent.observations] == ["desk", "phone"]
    assert (agent.sets, agent.wakes, shown(sides, AGENT)) == (("desk", "phone"), 2, [])


@pytest.mark.parametrize("ticks", [0, 1, 2])
def test_a_timer_that_one_side_removed_and_set_again_goes_on_after_the_others_ticks(
    ticks: int,
) -> None:
    """Whatever stands between them in canonical order."""
    sides = both(MADE, *OWN, DAILY, of=AGENT)
    for _ in range(ticks):
        sides.says("desk", a.AgentNamed("Trip"), of=AGENT)
    sides.says("desk", ticked(1, 2, 3, 5), of=AGENT)
    sides.says("phone", a.TimerRemoved("t"), of=AGENT)
    sides.says("phone", DAILY, of=AGENT)
    assert [one.next_at for one in sides.state(AGENT).timers] == [NEXT.format(5)]


def test_two_machines_that_set_one_schedule_have_one_timer() -> None:
    sides = both(MADE, *OWN, of=AGENT)
    sides.says("desk", DAILY, of=AGENT)
    sides.says("desk", ticked(1, 2), of=AGENT)
    sides.says("phone", a.AgentNamed("Trip"), of=AGENT)
    sides.says("phone", a.AgentNamed("Trip"), of=AGENT)
    sides.says("phone", DAILY, of=AGENT)
    assert [one.next_at for one in sides.state(AGENT).timers] == [NEXT.format(2)]


def test_a_subscription_that_one_side_ended_is_ended_at_both_ends() -> None:
    heard = a.Subscribed("s", ("id:t2",))
    for order in ("desk", "phone"), ("phone", "desk"):
        sides = both(MADE, *OWN, heard, of=AGENT)
        sides.says("desk", a.SubscriberAdded("a1", "s"), of="subs:id:t2")
        sides.meet("desk", "phone")
        ended = sides.says(order[0], a.Unsubscribed("s"), of=AGENT)
        gone = a.SubscriberRemoved("a1", "s")
        sides.rows.append(
            ended.__class__(f"subs:id:t2@{order[0]}", 2, order[0], ended.n, 1, ended.at, gone)
        )
        sides.says(order[1], a.Subscribed("s", ("id:t2",), hears_agents=True), of=AGENT)
        assert sides.state(AGENT).subscriptions == ()
        assert sides.state("subs:id:t2").subscribers == ()
        assert [one[:3] for one in shown(sides, AGENT)] == [("values", "subscription:s", None)]
        assert shown(sides, "subs:id:t2") == []


def test_an_end_of_a_subscription_beats_one_that_was_made_again_at_both_ends() -> None:
    heard, token = a.Subscribed("s", ("id:t2",)), "subs:id:t2"
    for order in ("desk", "phone"), ("phone", "desk"):
        sides = both(a.SubscriberAdded("a1", "s"), of=token)
        sides.says(order[0], a.SubscriberRemoved("a1", "s"), of=token)
        sides.says(order[1], a.SubscriberRemoved("a1", "s"), of=token)
        sides.says(order[1], a.SubscriberAdded("a1", "s"), of=token)
        agent = both(MADE, *OWN, heard, of=AGENT)
        agent.says(order[0], a.Unsubscribed("s"), of=AGENT)
        agent.says(order[1], a.Unsubscribed("s"), of=AGENT)
        agent.says(order[1], heard, of=AGENT)
        assert (sides.state(token).subscribers, shown(sides, token)) == ((), [])
        assert agent.state(AGENT).subscriptions == ()


def test_a_tick_that_was_taken_on_one_machine_is_not_taken_again_on_another() -> None:
    sides = apart(ticked(1, 2, 3), ticked(1, 2), MADE, *OWN, DAILY, of=AGENT)
    agent = sides.state(AGENT)
    assert deciders.tick(agent, "t", [NEXT.format(2)], NEXT.format(4)) == ([], None)
    assert deciders.tick(agent, "t", [NEXT.format(3)], NEXT.format(4))[1] is not None
    assert agent.created_at > START


# --------------------------------------------------------------------- policies, lessons, templates


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


def test_of_rules_that_were_made_apart_the_later_stands_and_nobody_is_asked() -> None:
    out, again = le.ToolRuled("tool", is_off=True), le.ToolRuled("tool", is_off=False)
    for desk, phone, ruled in (out, again, ()), (again, out, ("tool",)), (out, out, ("tool",)):
        sides = apart(desk, phone, le.ToolRuled("other", is_off=True), of=LESSONS)
        assert sides.state(LESSONS).ruled == (*sorted({"other", *ruled}),)
        assert shown(sides, LESSONS) == []


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


def versions_of_both() -> Sides:
    """Each made a second version apart from the other, and desk has gone back to the first."""
    sides = both(CALM, ONE, of=TEMPLATE)
    for one in "desk", "phone":
        sides.says(one, te.VersionAdded(2, "user", Words(one), Words("b")), of=TEMPLATE)
    sides.meet("desk", "phone")
    sides.says("desk", te.VersionActivated(1), of=TEMPLATE)
    sides.meet("desk", "phone")
    return sides


@pytest.mark.parametrize(("of", "named"), [("desk", ""), ("phone", "phone")])
def test_a_version_of_a_number_that_two_have_is_named_with_its_machine(of: str, named: str) -> None:
    world = known_world(versions_of_both(), "desk")
    with pytest.raises(Refused, match="2@desk, 2@phone") as refused:
        handlers.roll_back(do.RollBackTemplate("m1", 2), "", START, world)
    assert refused.value.code == "ambiguous"
    with pytest.raises(Refused, match="no version 2@r9"):
        handlers.roll_back(do.RollBackTemplate("m1", 2, "r9"), "", START, world)
    decided = handlers.roll_back(do.RollBackTemplate("m1", 2, of), "", START, world)
    assert decided.events == [("template:m1@desk", te.VersionActivated(2, named))]
    world = known_world(versions_of_both(), "desk")
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
        handlers.delete(do.DeleteTemplate("m1"), "", START, known_world(sides, "desk"))
    assert refused.value.code == "template_in_use"
    sides.says("phone", a.TemplateAssigned("m2"), of="agent:a1")
    sides.meet("desk", "phone")
    decided = handlers.delete(do.DeleteTemplate("m1"), "", START, known_world(sides, "desk"))
    assert decided.events == [("template:m1@desk", te.TemplateDeleted())]


# ----------------------------------------------------------------------------------------- verdicts


SET, MEMORY = "changes:s1", "memory:a1"
ME = "person"
PROPOSED = ch.ItemProposed(1, "set_title", Words("{}"), "", "f1", "", "")
OPENED = ch.SetOpened("a1", "t1", "run")
ASKED = ch.ItemConfirming(1, ME, 1, "op1", 1, category="c1")
EDITED = ch.ItemConfirming(1, ME, 1, "op2", 1, Words("edited"))
DONE = ch.ItemConfirmed(1, 1, 7)
FAILED = ch.ItemFailed(1, 1, "stale", "")
REJECTED = ch.ItemRejected(1, ME, 5, "no")
DEFERRED = ch.ItemDeferred(1, ME, 5)
RETRACTED = ch.ItemRetracted(1, "agent:a1")
EXPIRED = ch.ItemExpired(1)


def sides_of(*said: tuple[str, Stored]) -> Sides:
    """What each said, in canonical order; nobody knows of the other."""
    sides = Sides()
    sides.says("desk", PROPOSED, OPENED, of=SET)
    sides.meet("desk", "phone", "r3")
    for replica, fact in said:
        n = max(row.n for row in sides.rows)
        while max((m for _, m in sides.known[replica]), default=0) < n:
            sides.says(replica, ch.LiftDone(1, ""), of=SET)  # says nothing
        sides.says(replica, fact, of=SET)
    return sides


def item(sides: Sides) -> ChangeItem:
    found: ChangeItem = sides.state(SET).items[0]
    return found


@pytest.mark.parametrize("verdict", [REJECTED, DEFERRED, RETRACTED, EXPIRED])
@pytest.mark.parametrize("asked", [ASKED, EDITED])
def test_an_effect_makes_an_item_confirmed_and_keeps_its_operation(
    verdict: Stored, asked: ch.ItemConfirming
) -> None:
    mine, theirs = ("phone", asked), ("desk", verdict)
    for order in (theirs, mine), (mine, theirs):
        sides = sides_of(*order, ("phone", DONE))
        found = item(sides)
        assert (found.status, found.position, found.asked) == ("confirmed", 7, None)
        assert found.operations == (asked.operation,)
        assert (found.arguments_now, found.decided_by) == (asked.arguments, ME)
        assert (found.held, found.reason) == (UNSET, "")
        ((kind, field, stands, values),) = shown(sides, SET)
        assert (kind, field, stands) == ("verdicts", "item:1", "confirmed")
        assert {one for one, _ in values} == {"desk", "phone"}


def test_without_an_effect_the_canonical_first_verdict_stands_and_both_are_shown() -> None:
    sides = sides_of(("desk", REJECTED), ("phone", ASKED))
    found = item(sides)
    assert (found.status, found.reason, found.held) == ("rejected", "no", ASKED)
    assert found.operations == ("op1",)
    verdicts = [("desk", "rejected"), ("phone", "confirmed")]
    assert shown(sides, SET) == [("verdicts", "item:1", "rejected", verdicts)]
    sides = sides_of(("phone", ASKED), ("desk", REJECTED))
    assert item(sides).status == "confirming"
    assert shown(sides, SET)[0][2:] == ("confirmed", verdicts[::-1])


def test_what_came_of_a_held_confirmation_is_recorded() -> None:
    sides = sides_of(("desk", REJECTED), ("phone", ASKED))
    changes = sides.state(SET)
    assert settled(changes, DONE) == [DONE]
    assert settled(changes, ch.ItemConfirmed(1, 2)) == []
    assert settled(changes, FAILED) == [FAILED]
    sides.says("phone", FAILED, of=SET)
    found = item(sides)
    assert (found.status, found.held, found.operations) == ("rejected", UNSET, ("op1",))
    assert shown(sides, SET) == []  # what failed is no verdict


def test_who_takes_the_rejection_back_lets_the_confirmation_go_on() -> None:
    sides = sides_of(("desk", REJECTED), ("phone", ASKED))
    for fact in reopen(sides.state(SET), 1, ME):
        sides.meet("desk", "phone")
        sides.says("desk", fact, of=SET)
    assert (item(sides).status, item(sides).asked) == ("confirming", ASKED)
    assert shown(sides, SET) == []


def test_two_rejections_or_two_confirmations_are_no_conflict() -> None:
    for verdict in REJECTED, ASKED, DEFERRED:
        assert shown(sides_of(("desk", verdict), ("phone", verdict)), SET) == []
    assert shown(sides_of(("desk", REJECTED), ("phone", EXPIRED)), SET) == []


def test_a_deferral_that_met_a_rejection_is_shown() -> None:
    for order in ("desk", "phone"), ("phone", "desk"):
        sides = sides_of((order[0], REJECTED), (order[1], DEFERRED))
        assert [one[:3] for one in shown(sides, SET)] == [("verdicts", "item:1", "rejected")]


def test_the_same_confirmation_on_two_machines_is_under_way_until_both_have_failed() -> None:
    sides = sides_of(("desk", ASKED), ("phone", ASKED), ("desk", FAILED))
    assert (item(sides).status, item(sides).operations) == ("confirming", ("op1",))
    sides.says("phone", FAILED, of=SET)
    assert (item(sides).status, item(sides).held) == ("pending", UNSET)


def test_two_edits_on_two_machines_keep_both_operations() -> None:
    sides = sides_of(("desk", ASKED), ("phone", EDITED), ("desk", DONE), ("phone", DONE))
    assert (item(sides).status, item(sides).operations) == ("confirmed", ("op1", "op2"))
    late = sides_of(("desk", ASKED), ("desk", DONE), ("phone", EDITED))
    assert item(late).operations == ("op1", "op2")
    assert items_in_doubt(late.state(SET)) == []


def test_an_effect_that_nobody_waits_for_any_more_is_found() -> None:
    """Desk took over what phone began, was refused, and phone cannot say that it was done."""
    sides = sides_of(("phone", ASKED))
    sides.meet("desk", "phone")
    for fact in retake(sides.state(SET), 1):
        sides.says("desk", fact, FAILED, of=SET)
    changes = sides.state(SET)
    assert items_in_doubt(changes) == [ItemInDoubt(1, 1, ("op1",))]
    assert settled(changes, DONE) == []
    assert settled(changes, DONE, is_shared=True) == [DONE]
    assert settled(changes, ch.ItemConfirmed(1, 2), is_shared=True) == []
    sides.says("r3", DONE, of=SET)
    assert settled(sides.state(SET), DONE, is_shared=True) == []
    assert (item(sides).status, item(sides).operations) == ("confirmed", ("op1",))


def test_a_held_confirmation_is_doubted_and_one_under_way_is_not() -> None:
    assert items_in_doubt(sides_of(("desk", REJECTED), ("phone", ASKED)).state(SET)) == [
        ItemInDoubt(1, 1, ("op1",))
    ]
    assert items_in_doubt(sides_of(("phone", ASKED)).state(SET)) == []
    assert items_in_doubt(sides_of(("phone", REJECTED)).state(SET)) == []


def test_an_older_confirmation_of_another_machine_is_kept_aside() -> None:
    second = ch.ItemConfirming(1, ME, 2, "op3", 1)
    sides = sides_of(("desk", ASKED), ("desk", FAILED), ("desk", second), ("phone", EDITED))
    assert (item(sides).asked, item(sides).held) == (second, EDITED)
    sides = sides_of(
        ("desk", ASKED), ("desk", FAILED), ("desk", second), ("phone", EDITED), ("phone", DONE)
    )
    assert (item(sides).status, item(sides).operations) == ("confirmed", ("op1", "op3", "op2"))


def digest(name: str, sources: str, depth: int = 1) -> MemoryFolded:
    notes = tuple(f"{n}-0@desk" for n in sources.split()) if depth == 1 else tuple(sources.split())
    first, last = (notes[0], notes[-1]) if depth == 1 else ("10-0@desk", "50-0@desk")
    return MemoryFolded(name, depth, first, last, len(notes), notes, Words(name), 1, "", "")


def held(*digests: MemoryFolded) -> tuple[list[str], int]:
    sides = Sides()
    for replica, one in zip(("desk", "phone", "r3"), digests, strict=False):
        sides.says(replica, one, of=MEMORY)
    assert sides.open(MEMORY) == []
    memory = sides.state(MEMORY)
    return [one.id for one in memory.top], memory.count


def test_of_digests_that_overlap_the_first_stands_and_other_notes_are_uncovered_again() -> None:
    assert held(digest("d1", "10 20"), digest("d2", "10 20 30")) == (["d1"], 2)
    assert held(digest("d1", "10 20"), digest("d2", "30")) == (["d1", "d2"], 3)


def test_a_digest_of_digests_that_rests_on_one_that_does_not_count_does_not_count() -> None:
    sides = Sides()
    sides.says("desk", digest("d1", "10 20"), of=MEMORY)
    sides.says("phone", digest("d2", "10 20 30"), of=MEMORY)
    sides.says("phone", digest("d3", "d2", 2), of=MEMORY)
    assert [one.id for one in sides.state(MEMORY).top] == ["d1"]


# ------------------------------------------------------------------------------------------ settled


WATCHES = (
    a.AgentCreated("task_agent", "t1", 1, "Trip", "hybrid", ("c1", "c2", "c3")),
    a.AgentActivated(),
    a.LoopOpened(1, "call"),
    a.Subscribed("s1", ("id:t1",)),
)
OPENED_SET = (
    ch.ItemProposed(1, "set_title", Words("{}"), "", "f1", "", ""),
    ch.SetOpened("a1", "t1", "run"),
)
MADE_CALM = (
    te.TemplateCreated("task_agent", "Calm"),
    te.VersionAdded(1, "user", Words(""), Words("")),
)
GENERAL, LAST = Words("g"), Words("r")
SECTIONS = ("task",)


def known_world(sides: Sides, replica: str) -> LogState:
    """The log of a replica, with what it knows."""

    def read(stream: str, after: int) -> Sequence[RecordedEvent]:
        known = sides.known[replica]
        of_stream = (row for row in sides.rows if row.stream == stream and row.version > after)
        return [row for row in of_stream if (row.replica, row.n) in known]

    names = sorted(sides.known)
    n = max(one for _, one in sides.known[replica]) + 1
    none: Callable[[str], bytes | None] = lambda _: None  # noqa: E731  no text is so long
    return LogState("agent", replica, n, read, none, replicas=names, sift=MergeFilter(sides.knows))


def settle(sides: Sides, of: str, field: str, keep: str, *, on: str = "desk") -> list[Stored]:
    """Settle a conflict on a machine; what it wrote of the entity."""
    kind, _, entity = of.partition(":")
    asked = SettleAgentsConflict(kind, entity, field, keep, is_enabled=True)
    decided = handle(asked, "k", START, known_world(sides, on))
    for stream, fact in decided.events:
        sides.says(on, fact, of=stream.rpartition("@")[0])
    return [fact for stream, fact in decided.events if stream.startswith(f"{of}@")]


class Line(NamedTuple):
    of: str
    base: Sequence[Stored]
    desk: Stored
    phone: Stored
    field: str
    read: Callable[[Any], Any]
    values: tuple[Any, Any]


def slot(name: str) -> Callable[[Any], Any]:
    return lambda agent: agent.preferences[name].value


def consents(policy: Any) -> Any:
    return [(one.model, one.category) for one in policy.consents]


FIRST = p.ConsentGiven("gemini:*", ("c1", "c2"), 1, SECTIONS)
TABLE = {
    "a name": Line(
        AGENT, WATCHES, a.AgentNamed("A"), a.AgentNamed("B"), "name", lambda x: x.name, ("A", "B")
    ),
    "a mode": Line(
        AGENT, WATCHES, a.ModeSet("interactive"), a.ModeSet("autonomous"), "mode",
        lambda x: x.mode, ("interactive", "autonomous"),
    ),
    "categories": Line(
        AGENT, WATCHES, a.CategoriesAllowed(("c1",)), a.CategoriesAllowed(("c1", "c2")),
        "categories", lambda x: x.categories, (("c1",), ("c1", "c2")),
    ),
    "a model": Line(
        AGENT, WATCHES, a.ModelChosen("gemini"), a.ModelChosen("rules"), "model",
        lambda x: x.model, ("gemini", "rules"),
    ),
    "turns": Line(
        AGENT, WATCHES, a.TurnMaxSet(3), a.TurnMaxSet(9), "turn_max", lambda x: x.turn_max, (3, 9)
    ),
    "automatic updates": Line(
        AGENT, WATCHES, a.AutomationSet(False), a.AutomationSet(True), "automation",
        lambda x: x.is_automatic, (False, True),
    ),
    "a goal": Line(
        AGENT, WATCHES, a.GoalSet(1, "A"), a.GoalSet(4, "B"), "goal", lambda x: x.goal.value,
        ("A", "B"),
    ),
    "a preference": Line(
        AGENT, WATCHES, a.PreferenceSet(1, "tone", "dry"), a.PreferenceSet(1, "tone", "warm"),
        "preference:tone", slot("tone"), ("dry", "warm"),
    ),
    "a loop": Line(
        AGENT, WATCHES, a.LoopClosed(2, "call"), a.LoopOpened(2, "call", "agent:a1"), "loop:call",
        lambda x: x.loops, ((), ("call",)),
    ),
    "what it watches": Line(
        AGENT, WATCHES, a.Unsubscribed("s1"), a.Subscribed("s1", ("id:t1",), hears_agents=True),
        "subscription:s1", lambda x: [one.hears_agents for one in x.subscriptions], ([], [True]),
    ),
    "a pause": Line(
        AGENT, WATCHES, a.AgentPaused(), a.AgentActivated(), "life", lambda x: x.lifecycle,
        ("dormant", "active"),
    ),
    "a sleep": Line(
        AGENT, WATCHES, a.SleepOrdered("2027-05-01"), a.SleepOrdered(), "sleep",
        lambda x: x.sleeps_until, ("2027-05-01", ""),
    ),
    "a template": Line(
        AGENT, WATCHES, a.TemplateAssigned("m1"), a.TemplateAssigned(""), "template",
        lambda x: x.template, ("m1", ""),
    ),
    "a template's name": Line(
        TEMPLATE, MADE_CALM, te.TemplateNamed("A"), te.TemplateNamed("B"), "name", lambda x: x.name,
        ("A", "B"),
    ),
    "a template's model": Line(
        TEMPLATE, MADE_CALM, te.TemplateModelSet("rules"), te.TemplateModelSet(""), "model",
        lambda x: x.model, ("rules", ""),
    ),
    "a template's categories": Line(
        TEMPLATE, MADE_CALM, te.TemplateCategoriesSet(("c1",)), te.TemplateCategoriesSet(()),
        "categories", lambda x: x.categories, (("c1",), ()),
    ),
    "the active version": Line(
        TEMPLATE, MADE_CALM, te.VersionAdded(2, "user", GENERAL, LAST),
        te.VersionAdded(2, "user", LAST, LAST), "active",
        lambda x: (x.active, x.active_of), ((2, "desk"), (2, "phone")),
    ),
    "an older version that one took": Line(
        TEMPLATE, MADE_CALM, te.VersionActivated(1, "desk"),
        te.VersionAdded(2, "user", GENERAL, LAST),
        "active", lambda x: (x.active, x.active_of), ((1, "desk"), (2, "phone")),
    ),
    "a rule on models": Line(
        POLICY, (), p.ModelsRuled("c1", ("rules",)), p.ModelsRuled("c1"), "models:c1",
        lambda x: x.rules, ((("c1", ("rules",)),), ()),
    ),
    "a receipt": Line(
        POLICY, (FIRST,), p.ConsentGiven("gemini:*", ("c1",), 2, SECTIONS),
        p.ConsentGiven("gemini:*", ("c1", "c2"), 2, (*SECTIONS, "notes")), "consent:gemini:*:c1",
        lambda x: [one.sections for one in x.consents if one.category == "c1"],
        ([SECTIONS], [(*SECTIONS, "notes")]),
    ),
    "a receipt that one withdrew": Line(
        POLICY, (), FIRST, p.ConsentWithdrawn("gemini:*"), "receipt:gemini:*", consents,
        ([("gemini:*", "c1"), ("gemini:*", "c2")], []),
    ),
    "a rating": Line(
        "lessons:template:m1", (), le.WakeRated("run", 2), le.WakeRated("run", 5), "rating:run",
        lambda x: x.ratings, ((("run", 2),), (("run", 5),)),
    ),
}  # fmt: skip


def told_apart(line: Line) -> Sides:
    sides = apart(line.desk, line.phone, *line.base, of=line.of)
    sides.says("desk", *MADE_CALM, of="template:m1") if line.of != TEMPLATE else None
    sides.meet("desk", "phone")
    assert line.field in [one.field for one in sides.open(line.of)]
    return sides


PLAIN = (
    "a name", "a mode", "a model", "turns", "a preference", "a template", "a template's name",
    "a template's model", "a template's categories",
)  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_of_two_settings_the_canonical_last_stands_and_both_are_shown(name: str) -> None:
    line = TABLE[name]
    first, last = line.values
    sides = apart(line.desk, line.phone, *line.base, of=line.of)
    both_shown = [("values", line.field, last, [("desk", first), ("phone", last)])]
    assert (line.read(sides.state(line.of)), shown(sides, line.of)) == (last, both_shown)
    alone = both(*line.base, line.desk, line.phone, of=line.of).state(line.of)
    assert sides.state(line.of) == alone
    sides.meet("desk", "phone")
    sides.says("desk", line.desk)
    assert len(shown(sides, line.of)) == 1  # that is about a task
    sides.says("desk", line.desk, of=line.of)
    assert shown(sides, line.of) == []


def test_an_instance_that_is_gone_is_asked_about_by_nobody() -> None:
    gone = apart(te.InstanceAdded("a1"), te.InstanceRemoved("a1"), CALM, of=TEMPLATE)
    assert (gone.state(TEMPLATE).instances, shown(gone, TEMPLATE)) == ((), [])


@pytest.mark.parametrize("keep", ["desk", "phone"])
@pytest.mark.parametrize("name", TABLE)
def test_what_the_chosen_machine_said_stands_and_nothing_is_open(name: str, keep: str) -> None:
    line = TABLE[name]
    sides = told_apart(line)
    assert settle(sides, line.of, line.field, keep)
    assert line.read(sides.state(line.of)) == line.values[keep == "phone"]
    assert line.field not in [one.field for one in sides.open(line.of)]


@pytest.mark.parametrize("name", TABLE)
def test_what_each_settled_its_own_way_is_settled_once_more_and_then_agreed(name: str) -> None:
    line = TABLE[name]
    sides = told_apart(line)
    for one in "desk", "phone":
        settle(sides, line.of, line.field, one, on=one)
    sides.meet("desk", "phone")
    for again in sides.open(line.of):  # two rows that did not know each other, once more
        settle(sides, line.of, again.field, "phone", on="desk")
        sides.meet("desk", "phone")
    assert line.field not in [one.field for one in sides.open(line.of)]


def test_a_template_that_is_chosen_is_the_only_one_that_the_agent_lives_on() -> None:
    sides = apart(a.TemplateAssigned("m1"), a.TemplateAssigned("m2"), *WATCHES, of=AGENT)
    for one in "m1", "m2":
        sides.says("desk", *MADE_CALM, te.InstanceAdded("a1"), of=f"template:{one}")
    sides.meet("desk", "phone")
    settle(sides, AGENT, "template", "desk")
    assert sides.state("template:m1").instances == ("a1",)
    assert sides.state("template:m2").instances == ()


def test_an_agent_that_ended_is_not_brought_back() -> None:
    sides = apart(a.AgentDestroyed(), a.AgentPaused(), *WATCHES, of=AGENT)
    sides.meet("desk", "phone")
    with pytest.raises(Refused, match="destroyed, which is for good; name desk"):
        settle(sides, AGENT, "life", "phone")
    assert settle(sides, AGENT, "life", "desk") == [a.AgentDestroyed()]
    assert sides.open(AGENT) == []


def test_an_agent_that_is_resumed_wakes_to_see_what_changed() -> None:
    sides = told_apart(TABLE["a pause"])
    settle(sides, AGENT, "life", "phone")
    assert any(row.stream.startswith("alert:a1@") for row in sides.rows)


def test_of_verdicts_the_one_that_stands_is_kept_and_the_other_is_seen() -> None:
    rejected = ch.ItemRejected(1, "person", 5, "no")
    sides = apart(ch.ItemConfirming(1, "person", 1, "op", 1), rejected, *OPENED_SET, of=SET)
    sides.meet("desk", "phone")
    before = sides.state(SET)
    with pytest.raises(
        Refused, match="item 1 is confirmed, and of verdicts that stands; name desk"
    ):
        settle(sides, SET, "item:1", "phone")
    assert settle(sides, SET, "item:1", "desk", on="phone") == [ch.VerdictsSeen(1, "confirmed")]
    assert (sides.open(SET), sides.state(SET)) == ([], before)


def test_what_a_verdict_leads_to_elsewhere_is_shown_again() -> None:
    rejected, asked = ch.ItemRejected(1, "person", 5), ch.ItemConfirming(1, "person", 1, "op", 1)
    sides = apart(rejected, asked, *OPENED_SET, of=SET)
    sides.meet("desk", "phone")
    settle(sides, SET, "item:1", "desk")
    sides.says("phone", ch.ItemConfirmed(1, 1, 7), of=SET)  # it found the effect meanwhile
    sides.meet("desk", "phone")
    (one,) = sides.open(SET)
    assert (one.stands, [side.by for side in one.sides]) == ("confirmed", ["person", "person"])
    settle(sides, SET, "item:1", "phone")
    assert sides.open(SET) == []


def test_a_receipt_that_was_withdrawn_by_who_knew_both_is_no_conflict() -> None:
    sides = told_apart(TABLE["a receipt"])
    sides.says("desk", p.ConsentWithdrawn("gemini:*"), of=POLICY)
    assert sides.open(POLICY) == []


def test_what_is_not_open_or_has_changed_is_refused() -> None:
    sides = told_apart(TABLE["a name"])
    for field, keep, said in (
        ("mode", "desk", "no two machines"),
        ("name", "r9", "name one of desk, phone"),
    ):
        with pytest.raises(Refused, match=said):
            settle(sides, AGENT, field, keep)
    with pytest.raises(Refused, match="no two machines"):
        settle(sides, "home:main", "name", "desk")
    stale = SettleAgentsConflict("agent", "a1", "name", "desk", (SideSeen("desk", 1),))
    with pytest.raises(Refused, match="look at it again"):
        handle(stale, "k", START, known_world(sides, "desk"))
