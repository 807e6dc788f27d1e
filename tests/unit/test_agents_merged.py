"""The lines about agents in the table of what merges how: what two sides said without knowing of
each other, what stands then, and what is shown until a row knows both sides (ADR 73)."""

from typing import Any, get_args

import pytest

from domain.agent import agent as a
from domain.agent import deciders
from domain.agent.agent import Agent
from domain.agent.wake_queue import WakeQueueFact, WatchFact
from domain.append.envelope import AgentLogFact
from domain.log.wire import Imported, Stored, Words
from domain.replication.merge import MergeFilter
from domain.replication.merge_rules import AGENT_RULES
from domain.wake.wake import WakeFact
from tests.support.services import START
from tests.support.sides import Sides, apart, both, folded, shown

AGENT = "agent:a1"
OWN = (a.ModelChosen("rules"), a.AgentActivated())
MADE = a.AgentCreated("task_agent", "t1", 1, "Trip", "hybrid", ("c1", "c2"))
NEXT = "2027-01-0{}T07:00:00.000000Z"
SET = a.TimerSet("t", "every day 07:00", "UTC", NEXT.format(1))


def ticked(*days: int) -> a.TimerTicked:
    """All ticks up to the last of these days but one, which is the next."""
    ticks = tuple(NEXT.format(day) for day in days[:-1])
    return a.TimerTicked("t", ticks, NEXT.format(days[-1]))


def test_every_fact_of_the_agent_log_that_merges_stands_in_the_table() -> None:
    own = {*get_args(WakeQueueFact), *get_args(WakeFact), WatchFact}
    assert set(AGENT_RULES) == set(get_args(AgentLogFact)) - own


FIELDS: dict[str, tuple[Stored, Stored, Any, Any]] = {
    "name": (a.AgentNamed("A"), a.AgentNamed("B"), "A", "B"),
    "mode": (a.ModeSet("interactive"), a.ModeSet("autonomous"), "interactive", "autonomous"),
    "model": (a.ModelChosen("gemini"), a.ModelChosen(""), "gemini", ""),
    "turn_max": (a.TurnMaxSet(9), a.TurnMaxSet(2), 9, 2),
    "template": (a.TemplateAssigned("m1"), a.TemplateAssigned(""), "m1", ""),
    "goal": (a.GoalSet(1, "A"), a.GoalSet(1, "B"), "A", "B"),
    "preference:tone": (
        a.PreferenceSet(1, "tone", "dry"),
        a.PreferenceSet(1, "tone", ""),
        "dry",
        "",
    ),
    "loop:call": (a.LoopOpened(1, "call"), a.LoopClosed(1, "call"), True, False),
}


@pytest.mark.parametrize("field", FIELDS)
def test_of_two_settings_the_canonical_last_stands_and_both_are_shown(field: str) -> None:
    desk, phone, first, last = FIELDS[field]
    sides = apart(desk, phone, MADE, *OWN, of=AGENT)
    assert shown(sides, AGENT) == [("values", field, last, [("desk", first), ("phone", last)])]
    alone = both(MADE, *OWN, desk, phone, of=AGENT).state(AGENT)
    assert sides.state(AGENT) == alone
    sides.meet("desk", "phone")
    sides.says("desk", desk)
    assert len(shown(sides, AGENT)) == 1  # that is about a task
    sides.says("desk", desk, of=AGENT)
    assert shown(sides, AGENT) == []


@pytest.mark.parametrize("field", ["goal", "preference:tone", "loop:call"])
def test_a_slot_of_a_higher_version_stands_wherever_it_was_set(field: str) -> None:
    desk, phone = FIELDS[field][:2]
    for order in (desk, phone), (phone, desk):
        sides = both(MADE, *OWN, of=AGENT)
        sides.says("desk", type(order[0])(1, *_rest(order[0])), of=AGENT)
        sides.says("desk", type(order[0])(2, *_rest(order[0])), of=AGENT)
        for _ in range(4):
            sides.says("phone", a.AgentNamed("Trip"), of=AGENT)
        sides.says("phone", order[1], of=AGENT)
        alone = both(MADE, *OWN, order[0], type(order[0])(2, *_rest(order[0])), of=AGENT).state(
            AGENT
        )
        assert sides.state(AGENT) == alone
        first = FIELDS[field][2 if order[0] is desk else 3]
        assert [one[:3] for one in shown(sides, AGENT)] == [("values", field, first)]


def _rest(fact: Any) -> list[Any]:
    return [getattr(fact, name) for name in fact.__struct_fields__[1:]]


LIVES: dict[str, Stored] = {
    "active": a.AgentActivated(),
    "dormant": a.AgentPaused(),
    "destroyed": a.AgentDestroyed(),
    "deleted": a.AgentDeleted(),
}


def life(agent: Agent) -> str:
    return "deleted" if agent.is_deleted else agent.lifecycle


@pytest.mark.parametrize("strong", LIVES)
@pytest.mark.parametrize("weak", LIVES)
def test_of_lives_the_most_that_ended_stands_in_either_order(strong: str, weak: str) -> None:
    names = list(LIVES)
    if names.index(weak) >= names.index(strong):
        return
    for desk, phone in (strong, weak), (weak, strong):
        sides = apart(LIVES[desk], LIVES[phone], MADE, *OWN, of=AGENT)
        assert life(sides.state(AGENT)) == strong
        assert shown(sides, AGENT) == [
            ("values", "life", strong, [("desk", desk), ("phone", phone)])
        ]


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


def test_the_report_of_the_canonical_last_stands_and_nobody_is_asked() -> None:
    sides = apart(a.AgentReported("r1"), a.AgentReported("r2"), MADE, *OWN, of=AGENT)
    assert (sides.state(AGENT).report, shown(sides, AGENT)) == ("r2", [])
    sides.says("desk", a.AgentReported("r3"), a.AgentNamed("x"), of=AGENT)
    assert sides.state(AGENT).report == "r3"


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


TICKS: dict[str, tuple[Stored, Stored, str]] = {
    "the later tick": (ticked(1, 2, 3), ticked(1, 2), NEXT.format(3)),
    "the later tick, told last": (ticked(1, 2), ticked(1, 2, 3), NEXT.format(3)),
    "none after the last one": (ticked(1, 2), a.TimerTicked("t", (NEXT.format(1),)), ""),
    "none once it is removed": (a.TimerRemoved("t"), ticked(1, 2), ""),
    "none once it is removed, told last": (ticked(1, 2), a.TimerRemoved("t"), ""),
}


@pytest.mark.parametrize("case", TICKS)
def test_of_a_timer_stands(case: str) -> None:
    desk, phone, left = TICKS[case]
    sides = apart(desk, phone, MADE, *OWN, SET, of=AGENT)
    assert [one.next_at for one in sides.state(AGENT).timers] == ([left] if left else [])
    assert shown(sides, AGENT) == []


@pytest.mark.parametrize("ticks", [0, 1, 2])
def test_a_timer_that_one_side_removed_and_set_again_goes_on_after_the_others_ticks(
    ticks: int,
) -> None:
    """Whatever stands between them in canonical order."""
    sides = both(MADE, *OWN, SET, of=AGENT)
    for _ in range(ticks):
        sides.says("desk", a.AgentNamed("Trip"), of=AGENT)
    sides.says("desk", ticked(1, 2, 3, 5), of=AGENT)
    sides.says("phone", a.TimerRemoved("t"), of=AGENT)
    sides.says("phone", SET, of=AGENT)
    assert [one.next_at for one in sides.state(AGENT).timers] == [NEXT.format(5)]


def test_two_machines_that_set_one_schedule_have_one_timer() -> None:
    sides = both(MADE, *OWN, of=AGENT)
    sides.says("desk", SET, of=AGENT)
    sides.says("desk", ticked(1, 2), of=AGENT)
    sides.says("phone", a.AgentNamed("Trip"), of=AGENT)
    sides.says("phone", a.AgentNamed("Trip"), of=AGENT)
    sides.says("phone", SET, of=AGENT)
    assert [one.next_at for one in sides.state(AGENT).timers] == [NEXT.format(2)]


def test_a_pause_wins_over_a_tick_that_did_not_know_it() -> None:
    for desk, phone in (a.AgentPaused(), ticked(1, 2)), (ticked(1, 2), a.AgentPaused()):
        agent = apart(desk, phone, MADE, *OWN, SET, of=AGENT).state(AGENT)
        assert (agent.lifecycle, agent.timers[0].next_at) == ("dormant", NEXT.format(2))


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
    sides = apart(ticked(1, 2, 3), ticked(1, 2), MADE, *OWN, SET, of=AGENT)
    agent = sides.state(AGENT)
    assert deciders.tick(agent, "t", [NEXT.format(2)], NEXT.format(4)) == ([], None)
    assert deciders.tick(agent, "t", [NEXT.format(3)], NEXT.format(4))[1] is not None
    assert agent.created_at > START
