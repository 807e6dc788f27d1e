"""What agents ask each other: a request wakes once, no chain of them is endless, and no wake is
told one, or waits for its sake, where the person agreed to less (kinds.md 0.3, 0.4, law 4)."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from adapters.documents.policy import unheard
from adapters.runtime import gate, watcher
from adapters.runtime.wake_capture import capture
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.timetravel.why import ABOUT_WORDS, TriggerFate, trigger_fates
from adapters.wiring import Home
from domain.agent.commands import (
    CreateAgent,
    DeleteAgent,
    DestroyAgent,
    PauseAgent,
    ResumeAgent,
    SleepAgent,
    WatchTokens,
)
from domain.agent.deciders import CATEGORY_AGENT, DAY_AGENT, AgentSettings
from domain.agent.wake_queue import (
    NO_RECEIPT,
    Trigger,
    TriggerMerged,
    TriggerSuppressed,
    WakeDropped,
    WakeQueue,
    WakeQueued,
    WakeSettled,
    is_asked_by_agents,
)
from domain.agent.wake_queue_rules import HOPS_MAX, notice, settle
from domain.append.causes import Replied
from domain.journal import commands as do
from domain.log.state import MAIN
from domain.log.timestamps import later
from domain.log.wire import Words
from domain.policy.gate import REQUESTS_NOTICE
from domain.ports import ModelFault
from domain.tools.category import ABOUT
from domain.wake.commands import DeferWake, RetakeWake, SkipWake, StopWake
from domain.wake.prompt_sections import QUESTIONS
from domain.wake.wake import ModelAnswered, Wake
from projections.policy import VIEW
from tests.support.agents import (
    ACTIVE,
    AGENT_ID,
    ON,
    START,
    after,
    born,
    change,
    queued,
    running,
    ticked,
    wake_queue_of,
)
from tests.support.requests import AWAY, FAR, GONE, LANGUAGE, Office, office, told_of

STALE = told_of("stale", CATEGORY_AGENT)
Deed = Callable[[Office], object]


def ends(of: Office) -> list[str]:
    """Why wakes of the agent of Tap were dropped, in order."""
    rows = of.at.agents.facts(f"alert:{of.agents['Tap']}@r1")
    return [row.fact.code for row in rows if isinstance(row.fact, WakeDropped)]


def is_idle(of: Office) -> bool:
    """Whether nothing runs, is queued or waits for the agent of Tap."""
    queue = of.queue(of.agents["Tap"])
    return (queue.begun, queue.queued, queue.waiting) == (None, None, None)


def whys(of: Office, agent: str) -> list[TriggerFate]:
    """What `why` tells of requests to an agent, or of an agent, newest first."""
    return [one for one in trigger_fates(of.at, agent, 100) if one.reason == "request"]


def changes_task(of: Office) -> None:
    """The person writes to Tap, and the agents are told."""
    of.at.append_journal(do.AddNote(of.tasks["Tap"], "note", Words("It drips again.")))
    watcher.catch_up(of.at)


def wakes_it(of: Office) -> None:
    """The person asks for a wake of the agent of Tap."""
    of.at.append_agent(of.at.request(of.agents["Tap"]))


# ------------------------------------------------------------------------------------------- once


def test_a_request_wakes_once_whatever_is_said_again() -> None:
    of = office("Tap", model="")
    wake = of.asks("Tap stale")
    answers = [
        row.fact
        for row in of.at.agents.facts(f"wake:{wake.run_key}@r1")
        if isinstance(row.fact, ModelAnswered)
    ]

    def all_again() -> None:
        for one in answers:
            of.at.append_reply(Replied("wake", wake.run_key, one))
        of.at.append_agent(RetakeWake(wake.run_key))
        of.at.append_agent(DeferWake(of.agent, wake.run_key, after(0), "budget"))
        of.at.append_agent(StopWake(wake.run_key, "internal"))
        of.goes_on(of.agent, wake.run_key)

    all_again()
    assert of.fates("Tap") == ["queued"]
    asked = of.runs(of.agents["Tap"])
    assert of.questions(asked) == [STALE]
    all_again()
    assert of.fates("Tap") == ["queued"]
    assert is_idle(of)
    assert of.is_proved()


@pytest.mark.parametrize("is_after", [False, True])
def test_a_process_that_dies_as_the_asker_ends_hands_on_once(*, is_after: bool) -> None:
    log = FaultyLog.fused("agent")
    of = office("Tap", agents=log, model="")
    log.is_after = is_after

    def dies_next() -> None:
        log.fuse = 1

    of.here.meanwhile[2] = dies_next
    with pytest.raises(Crashed):
        of.asks("Tap stale")
    assert of.fates("Tap") == ["queued"] * is_after
    begun = of.queue(of.agent).begun
    run_key = begun.run_key if begun else of.at.agent(of.agent).last_run
    for _ in range(2):
        assert of.goes_on(of.agent, run_key).outcome == "completed"
        assert of.fates("Tap") == ["queued"]
    assert of.is_proved()


def test_two_askers_make_one_wake_that_is_told_each_question_once() -> None:
    of = office("Tap", model="")
    of.asks("Tap stale")
    of.asks("Tap estimate", by=of.day)
    of.asks("Tap stale")
    of.asks("Tap stale", by=of.day)
    assert of.fates("Tap") == ["queued", "merged", "merged", "merged"]
    asked = of.runs(of.agents["Tap"])
    assert of.questions(asked) == [
        told_of("estimate", DAY_AGENT),
        STALE,
        told_of("stale", DAY_AGENT),
    ]
    assert is_idle(of)
    assert of.is_proved()


def test_an_agent_that_is_asked_twice_in_a_wake_is_asked_once() -> None:
    of = office("Tap", model="")
    wake = of.asks("Tap stale", "Tap blocked", "Tap stale")
    assert [one.about for one in wake.requests] == ["stale"]
    assert of.fates("Tap") == ["queued"]
    assert of.questions(of.runs(of.agents["Tap"])) == [STALE]
    assert of.is_proved()


def pauses(of: Office) -> None:
    of.at.append_agent(PauseAgent(of.agent))


def stops(of: Office) -> None:
    begun = of.queue(of.agent).begun
    assert begun is not None
    of.at.append_agent(StopWake(begun.run_key, "deadline"))


@pytest.mark.parametrize(
    ("fault", "deed", "outcome"),
    [
        (GONE, None, "failed"),
        (None, stops, "failed"),
        (None, pauses, "skipped"),
        (AWAY, None, ""),
    ],
    ids=["failed", "stopped", "skipped", "deferred"],
)
def test_a_wake_that_does_not_complete_hands_nothing_on(
    fault: ModelFault | None, deed: Deed | None, outcome: str
) -> None:
    of = office("Tap", model="")
    if deed:
        of.here.meanwhile[2] = lambda: deed(of)
    wake = of.asks("Tap stale", ends=fault)
    assert wake.outcome == outcome
    assert len(wake.requests) == 1, "it had asked"
    assert of.fates("Tap") == []
    assert is_idle(of)
    assert of.is_proved()


def test_what_a_deferred_wake_asked_is_handed_on_when_it_completes() -> None:
    of = office("Tap", model="")
    wake = of.asks("Tap stale", ends=AWAY)
    of.passes(3_600)
    assert of.goes_on(of.agent, wake.run_key).outcome == "completed"
    assert of.fates("Tap") == ["queued"]
    assert of.is_proved()


def test_a_wake_that_another_one_takes_the_place_of_hands_nothing_on() -> None:
    of = office("Tap", model="")
    of.at.append_agent(of.at.request(of.agent))
    first = of.queue(of.agent).queued
    assert first is not None
    wake = of.asks("Tap stale")
    assert of.wake(first.run_key).outcome == "superseded"
    assert [trigger.reason_id for _, trigger in of.noticed(of.agents["Tap"])] == [wake.run_key]


# ------------------------------------------------------------------------------- whom it wakes not


def destroys(of: Office) -> None:
    of.at.append_agent(DestroyAgent(of.agents["Tap"]))


def deletes(of: Office) -> None:
    destroys(of)
    of.at.append_agent(DeleteAgent(of.agents["Tap"]))


AGAINST: dict[str, tuple[Deed, str]] = {
    "mode": (lambda of: of.configures("Tap", AgentSettings(mode="interactive")), "mode"),
    "automation": (
        lambda of: of.configures("Tap", AgentSettings(is_automatic=False)),
        "automation_off",
    ),
    "dormant": (lambda of: of.at.append_agent(PauseAgent(of.agents["Tap"])), "dormant"),
    "destroyed": (destroys, "destroyed"),
    "deleted": (deletes, "destroyed"),
}


@pytest.mark.parametrize("name", AGAINST)
def test_an_agent_that_does_not_listen_any_more_is_not_woken(name: str) -> None:
    """What changed between the asking and the end of the wake counts."""
    deed, rule = AGAINST[name]
    of = office("Tap", model="")
    of.here.meanwhile[2] = lambda: deed(of)
    wake = of.asks("Tap stale")
    assert wake.outcome == "completed"
    assert len(wake.requests) == 1
    assert of.fates("Tap") == [rule]
    assert is_idle(of)
    assert [(one.outcome, one.rule) for one in whys(of, of.agent)] == [("suppressed", rule)]
    assert of.is_proved()


@pytest.mark.parametrize("name", AGAINST)
def test_an_agent_that_stops_listening_before_its_time_is_not_woken(name: str) -> None:
    deed, rule = AGAINST[name]
    of = office("Tap", model="")
    of.asks("Tap stale")
    waits = of.queued("Tap")
    assert waits is not None
    deed(of)
    of.passes(120)
    if of.queued("Tap"):
        of.goes_on(of.agents["Tap"], waits.run_key, is_now=False)
    assert of.wake(waits.run_key).outcome == "skipped"
    assert ends(of) == [rule]
    assert is_idle(of)
    assert of.is_proved()


def test_who_was_paused_is_not_asked_again_as_it_wakes_up() -> None:
    of = office("Tap", model="")
    of.at.append_agent(PauseAgent(of.agents["Tap"]))
    of.asks("Tap stale")
    of.at.append_agent(ResumeAgent(of.agents["Tap"], is_enabled=True))
    assert of.questions(of.runs(of.agents["Tap"])) == []
    assert of.fates("Tap") == ["dormant"]


def test_the_heir_of_an_agent_is_not_asked_in_its_place() -> None:
    of = office("Tap", model="")

    def heir() -> None:
        destroys(of)
        task = of.task(of.tasks["Tap"])
        made = CreateAgent(task.id, "Tap", task.category, of.at.journal.tail().n, "hybrid")
        of.agents["heir"] = of.at.append_agent(made).result.ids[0]

    of.here.meanwhile[2] = heir
    of.asks("Tap stale")
    assert (of.fates("Tap"), of.fates("heir")) == (["destroyed"], [])
    again = of.asks("Tap blocked")
    assert [one.agent for one in again.requests] == [of.agents["heir"]]


def test_whose_task_is_deleted_meanwhile_waits_for_nothing() -> None:
    of = office("Tap", model="")
    of.asks("Tap stale")
    of.at.append_journal(do.DeleteTask(of.tasks["Tap"]))
    assert of.runs(of.agents["Tap"]).outcome == "skipped"
    assert ends(of) == ["task_deleted"]
    assert is_idle(of)


# ------------------------------------------------------------------------------------- its own time


def test_it_is_due_after_the_throttle_and_not_before() -> None:
    of = office("Tap", model="")
    agents = replace(of.at.settings.agents, throttle_seconds=600)
    of.at.settings = replace(of.at.settings, agents=agents)
    of.asks("Tap stale")
    waits = of.queued("Tap")
    assert waits is not None
    assert waits.due_at == later(of.clock.at, seconds=600)
    for seconds, phase in ((0, "absent"), (599, "absent"), (1, "done")):
        of.passes(seconds)
        wake = of.goes_on(of.agents["Tap"], waits.run_key, is_now=False)
        assert wake.phase == phase
    assert of.is_proved()


def test_an_agent_that_sleeps_is_not_woken_before_its_time() -> None:
    of = office("Tap", model="")
    tomorrow = later(of.clock.at, seconds=86_400)
    of.at.append_agent(SleepAgent(of.agents["Tap"], tomorrow, is_ordered=True))
    of.asks("Tap stale")
    waits = of.queued("Tap")
    assert waits is not None
    of.passes(86_399)
    for is_now in (False, True):
        wake = of.goes_on(of.agents["Tap"], waits.run_key, is_now=is_now)
        assert (wake.phase, of.queued("Tap")) == ("absent", waits)
    of.passes(1)
    wake = of.goes_on(of.agents["Tap"], waits.run_key, is_now=False)
    assert of.questions(wake) == [STALE]


def request(nth: int = 1, hop: int = 1) -> Trigger:
    """What the `nth` wake of another agent asks."""
    return Trigger("request", f"run-{nth}", replica="r1", hop=hop, about="stale")


@pytest.mark.parametrize(
    ("first", "then", "due"),
    [
        (change(1), request(), 120),  # of a change: that stands
        (request(), change(1), 120),
        (request(1), request(2), 120),
        (ticked(START), request(), 0),
        (request(), ticked(START), 60),  # a timer is due when it ticks
    ],
)
def test_a_request_moves_no_wake_forward(first: Trigger, then: Trigger, due: int) -> None:
    queue = wake_queue_of(notice(WakeQueue(AGENT_ID), ACTIVE, first, START, ON))
    (fact,) = notice(queue, ACTIVE, then, after(60), ON)
    assert isinstance(fact, TriggerMerged)
    queue = wake_queue_of([fact], queue, after(60))
    assert queue.queued is not None
    assert queue.queued.due_at == after(due)


def test_a_request_with_a_shorter_throttle_moves_no_change_forward() -> None:
    slow = replace(ON, throttle_seconds=3_600)
    queue = wake_queue_of(notice(WakeQueue(AGENT_ID), ACTIVE, change(1), START, slow))
    assert notice(queue, ACTIVE, request(), START, ON) == [
        TriggerMerged(queue.queued.run_key if queue.queued else "", request())
    ]


def test_a_request_behind_a_running_wake_waits_for_the_throttle_as_a_change_does() -> None:
    begun = running()
    assert begun.begun is not None
    queue = wake_queue_of(notice(begun, ACTIVE, request(), START, ON), begun)
    (settled,) = settle(queue, begun.begun.run_key, "completed", after(600))
    assert isinstance(settled, WakeSettled)
    assert settled.not_before == after(720)


def test_a_request_heeds_what_holds_an_agent_off_after_failures() -> None:
    held = replace(WakeQueue(AGENT_ID), not_before=after(3_600))
    (fact,) = notice(held, ACTIVE, request(), START, ON)
    assert isinstance(fact, WakeQueued)
    assert fact.due_at == after(3_600)


def test_the_same_trigger_is_noticed_once() -> None:
    queue = wake_queue_of(notice(queued(), ACTIVE, request(), START, ON), queued())
    assert notice(queue, ACTIVE, request(hop=2), after(1), ON) == []
    assert notice(queue, born("interactive"), request(), after(1), ON) == []


def test_a_persons_wake_takes_the_question_along() -> None:
    of = office("Tap", model="")
    of.asks("Tap stale")
    of.at.append_agent(of.at.request(of.agents["Tap"]))
    wake = of.runs(of.agents["Tap"])
    assert (wake.begun.reason, wake.begun.hop) == ("manual", 1)
    assert of.questions(wake) == [STALE]
    assert is_idle(of)
    assert of.is_proved()


# ------------------------------------------------------------------------------------------ a chain


@pytest.mark.parametrize("hop", range(HOPS_MAX + 2))
def test_no_request_is_heard_beyond_three_hops(hop: int) -> None:
    (fact,) = notice(WakeQueue(AGENT_ID), ACTIVE, request(hop=hop), START, ON)
    if hop <= HOPS_MAX:
        assert isinstance(fact, WakeQueued)
    else:
        assert fact == TriggerSuppressed(request(hop=hop), "hops")


TITLES = ("T1", "T2", "T3")


def ring(of: Office, first: str) -> list[Wake]:
    """The wakes of a ring, which that agent begins: the one of a task writes, the one that looks
    over Home hears of it and asks the next."""
    of.at.append_agent(WatchTokens(of.agent, ("key:TASK",), hears_agents=True))
    watcher.catch_up(of.at)
    left = [one for one in TITLES if of.agents[one] != first]
    of.at.append_agent(of.at.request(first))
    ran: list[Wake] = []
    while waits := [one for one in (of.agent, *of.agents.values()) if of.queue(one).queued]:
        (agent,) = waits
        made = of.asking(f"{left.pop(0)} estimate") if agent == of.agent else LANGUAGE
        ran.append(of.runs(agent, made))
        watcher.catch_up(of.at)
    return ran


def test_a_ring_of_requests_and_writes_ends_with_a_write_that_nobody_hears() -> None:
    of = office(*TITLES, model="")
    ran = ring(of, of.agent)
    assert [one.begun.hop for one in ran] == [0, 1, 2, 3]
    assert [one.begun.agent for one in ran[::2]] == [of.agent] * 2
    assert [one.begun.reason for one in ran] == ["manual", "request", "subscription", "request"]
    last = of.at.agents.facts(f"alert:{of.agent}@r1")[-1].fact
    assert isinstance(last, TriggerSuppressed)
    assert (last.rule, last.trigger.hop) == ("hops", 4)
    assert of.is_proved()


def test_a_ring_of_requests_and_writes_ends_with_a_request_that_wakes_nobody() -> None:
    of = office(*TITLES, model="")
    ran = ring(of, of.agents["T1"])
    assert [one.begun.hop for one in ran] == [0, 1, 2, 3]
    assert [one.begun.agent for one in ran[1::2]] == [of.agent] * 2
    (asked,) = ran[-1].requests
    assert [(rule, one.hop) for rule, one in of.noticed(asked.agent)] == [("hops", 4)]
    assert whys(of, of.agent)[0].rule == "hops"
    assert of.is_proved()


# ---------------------------------------------------------------------------------------- consents


@pytest.mark.parametrize("agreed", range(REQUESTS_NOTICE))
def test_a_wake_for_requests_alone_is_dropped_where_nobody_agreed_to_them(agreed: int) -> None:
    of = office("Tap")
    of.consents(agreed)
    of.asks("Tap stale")
    wake = of.runs(of.agents["Tap"])
    assert (wake.outcome, ends(of)) == ("skipped", [NO_RECEIPT])
    assert is_idle(of)
    assert of.far.sent == []
    assert QUESTIONS["stale"] not in of.texts()
    of.consents()
    assert gate.let_go(of.at, of.agents.values()) == []
    assert is_idle(of)
    assert of.is_proved()


@pytest.mark.parametrize("agreed", [1, 2, 3])
@pytest.mark.parametrize("is_asked_first", [True, False])
def test_with_a_change_it_begins_and_is_told_what_was_agreed_to(
    agreed: int, *, is_asked_first: bool
) -> None:
    of = office("Tap")
    watcher.catch_up(of.at)
    of.consents(agreed)
    for is_asking in (is_asked_first, not is_asked_first):
        if is_asking:
            of.asks("Tap stale")
        else:
            changes_task(of)
    wake = of.runs(of.agents["Tap"])
    assert wake.outcome == "completed"
    is_told = agreed >= REQUESTS_NOTICE
    assert ("requests" in of.sections(wake)) == is_told
    assert of.questions(wake) == [STALE] * is_told
    for said in (of.texts(), of.far.told()):
        assert (QUESTIONS["stale"] in said) == is_told
    assert is_idle(of)
    assert of.is_proved()


def test_with_all_that_is_needed_a_request_alone_is_told() -> None:
    of = office("Tap")
    of.consents()
    of.asks("Tap stale")
    wake = of.runs(of.agents["Tap"])
    assert (wake.outcome, wake.begun.model) == ("completed", FAR)
    assert of.questions(wake) == [STALE]
    assert STALE in of.far.told()
    assert of.is_proved()


def test_the_consent_is_that_of_the_asked_agents_own_categories() -> None:
    of = office("Write @Work")
    of.consents()  # of Home alone
    of.asks("Write fits_today", by=of.day)
    assert of.runs(of.agents["Write"]).outcome == "skipped"
    assert of.far.sent == []


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_consent_withdrawn_before_the_beginning_counts(left: int) -> None:
    of = office("Tap")
    of.consents()
    of.asks("Tap stale")
    of.consents(left)
    assert of.runs(of.agents["Tap"]).outcome == "skipped"
    assert ends(of) == [NO_RECEIPT]
    assert of.far.sent == []
    assert is_idle(of)
    assert of.is_proved()


def test_a_consent_given_before_the_beginning_counts() -> None:
    of = office("Tap")
    of.asks("Tap stale")
    of.consents()
    assert of.questions(of.runs(of.agents["Tap"])) == [STALE]


def test_without_a_key_it_is_dropped_and_does_not_wait() -> None:
    of = office("Tap")
    of.consents()
    of.asks("Tap stale")
    of.far.has_key = False
    assert of.runs(of.agents["Tap"]).outcome == "skipped"
    assert ends(of) == [NO_RECEIPT]
    assert is_idle(of)
    of.far.has_key = True
    assert gate.let_go(of.at, of.agents.values()) == []
    assert of.is_proved()


@pytest.mark.parametrize("given", [1, 3])
def test_what_waits_because_of_a_change_goes_on_waiting_and_keeps_the_question(given: int) -> None:
    of = office("Tap")
    watcher.catch_up(of.at)
    changes_task(of)
    of.asks("Tap stale")
    of.runs(of.agents["Tap"])
    waits = of.queued("Tap")
    assert waits is not None
    assert (waits.waits_for, len(waits.triggers)) == ("consent", 2)
    of.consents(given)
    assert gate.let_go(of.at, of.agents.values()) == [waits.run_key]
    assert of.questions(of.runs(of.agents["Tap"])) == [STALE] * (given >= REQUESTS_NOTICE)
    assert is_idle(of)
    assert of.is_proved()


@pytest.mark.parametrize("deed", [changes_task, wakes_it])
def test_a_wake_that_somebody_else_wants_by_now_is_not_dropped(deed: Deed) -> None:
    """The gate was asked, and the skip is written, while another process queues a change or the
    person's wake."""
    of = office("Tap")
    watcher.catch_up(of.at)
    of.asks("Tap stale")
    waits = of.queued("Tap")
    assert waits is not None
    assert is_asked_by_agents(waits)
    deed(of)
    before = of.queued("Tap")
    assert before is not None
    assert not is_asked_by_agents(before)
    for run_key in (waits.run_key, before.run_key):
        of.at.append_agent(SkipWake(of.agents["Tap"], run_key, NO_RECEIPT))
    assert of.queued("Tap") == before
    assert NO_RECEIPT not in ends(of)
    of.consents()
    assert of.questions(of.runs(of.agents["Tap"])) == [STALE]
    assert of.is_proved()


def test_a_change_that_comes_between_the_look_and_the_beginning_is_told_the_old_way() -> None:
    of = office("Tap")
    watcher.catch_up(of.at)
    of.consents(1)
    of.asks("Tap stale")
    waits = of.queued("Tap")
    assert waits is not None
    captured = capture(of.at, of.agents["Tap"], waits.run_key, is_now=True)
    changes_task(of)
    of.at.append_agent(captured.command, payloads=captured.payloads)
    assert of.wake(waits.run_key).phase == "waiting"
    assert of.questions(of.wake(waits.run_key)) == []
    assert of.is_proved()


# --------------------------------------------------------------------------------- while it runs


def withdraws(of: Office) -> None:
    of.consents(0)


def loses_the_key(of: Office) -> None:
    of.far.has_key = False


def agrees_to_less(of: Office) -> None:
    of.consents(REQUESTS_NOTICE - 1)


LACKS = pytest.mark.parametrize("lacks", [withdraws, loses_the_key, agrees_to_less])


@LACKS
def test_a_begun_wake_that_only_agents_asked_for_does_not_wait_either(lacks: Deed) -> None:
    """What it needs goes while its model answers: for the sake of a request nothing waits."""
    of = office("Tap")
    of.consents()
    of.asks("Tap stale")
    of.far.meanwhile[1] = lambda: lacks(of)
    wake = of.runs(of.agents["Tap"])
    assert len(of.far.sent) == 1, "nothing more is sent"
    assert (wake.phase, wake.outcome) == ("done", "skipped")
    assert is_idle(of)
    assert of.is_proved()


@LACKS
def test_one_that_is_taken_up_again_does_not_wait_either(lacks: Deed) -> None:
    """It waited for its provider meanwhile."""
    of = office("Tap")
    of.consents()
    of.asks("Tap stale")
    of.far.fault = AWAY
    wake = of.runs(of.agents["Tap"])
    assert (wake.phase, len(of.far.sent)) == ("deferred", 2)
    lacks(of)
    of.passes(3_600)
    wake = of.goes_on(of.agents["Tap"], wake.run_key)
    assert len(of.far.sent) == 2, "nothing more is sent"
    assert (wake.phase, wake.outcome) == ("done", "skipped")
    assert is_idle(of)
    assert of.is_proved()


@pytest.mark.parametrize("is_begun", [False, True])
def test_the_person_is_told_once_for_want_of_what_an_agent_was_asked_in_vain(
    *, is_begun: bool
) -> None:
    of = office("Tap")
    of.consents(REQUESTS_NOTICE if is_begun else 1)
    of.asks("Tap stale")
    of.far.meanwhile[1] = lambda: of.consents(1)
    wake = of.runs(of.agents["Tap"])
    assert wake.outcome == "skipped"
    home = Home.in_memory(of.at)
    home.views.catch_up()
    known = home.views.get(VIEW, MAIN)
    assert known is not None
    told = [(one.run_key, one.code) for one in known.refusals]
    assert told == [(wake.run_key, NO_RECEIPT)]
    assert [one.agent_ids for one in unheard(home)] == [[of.agents["Tap"]]]


@LACKS
def test_a_persons_wake_behind_one_that_ends_so_is_still_there(lacks: Deed) -> None:
    of = office("Tap")
    of.consents()
    of.asks("Tap stale")

    def both_at_once() -> None:
        wakes_it(of)
        lacks(of)

    of.far.meanwhile[1] = both_at_once
    of.runs(of.agents["Tap"])
    queue = of.queue(of.agents["Tap"])
    assert queue.begun is None
    assert queue.queued is not None
    assert [one.reason for one in queue.queued.triggers] == ["manual"]
    assert of.is_proved()


@pytest.mark.parametrize("agreed", [1, 2])
@pytest.mark.parametrize("has_changed", [False, True])
def test_no_question_is_begun_with_under_a_consent_that_does_not_tell_of_it(
    agreed: int, *, has_changed: bool
) -> None:
    """The consent changes between the look and the beginning: the one that holds then decides."""
    of = office("Tap")
    watcher.catch_up(of.at)
    of.consents()
    of.asks("Tap stale")
    if has_changed:
        changes_task(of)
    waits = of.queued("Tap")
    assert waits is not None
    captured = capture(of.at, of.agents["Tap"], waits.run_key, is_now=True)
    assert "requests" in [one.name for one in captured.command.user]
    of.consents(agreed)
    of.at.append_agent(captured.command, payloads=captured.payloads)
    assert of.wake(waits.run_key).phase != "waiting"
    if has_changed:
        assert of.queued("Tap") == waits, "it is due as it was"
        assert of.questions(of.runs(of.agents["Tap"])) == [], "it begins anew, without it"
    assert STALE not in of.far.told()
    assert is_idle(of)
    assert of.is_proved()


@pytest.mark.parametrize("has_changed", [False, True])
def test_no_question_is_sent_again_under_a_consent_that_does_not_tell_of_it(
    *, has_changed: bool
) -> None:
    of = office("Tap")
    watcher.catch_up(of.at)
    of.consents()
    of.asks("Tap stale")
    if has_changed:
        changes_task(of)
    of.far.meanwhile[1] = lambda: of.consents(REQUESTS_NOTICE - 1)
    wake = of.runs(of.agents["Tap"])
    assert len(of.far.sent) == 1
    of.consents()
    assert gate.let_go(of.at, of.agents.values()) == [wake.run_key] * has_changed
    assert of.is_proved()


# --------------------------------------------------------------------------------------------- why


def both(of: Office, about: str = "stale") -> tuple[str, str]:
    """What came of the last question to the agent of Tap, and by which rule, as `why` tells both
    who asked and who was asked."""
    by, asked = whys(of, of.agent)[0], whys(of, of.agents["Tap"])[0]
    assert by.what == f"it asked the agent of “Tap” {ABOUT_WORDS[about]}"
    assert asked.what == f"the agent “Home week” asked {ABOUT_WORDS[about]}"
    assert (by.outcome, by.rule, by.run_key) == (asked.outcome, asked.rule, asked.run_key)
    assert by.position.startswith("agent:r1:")
    return by.outcome, by.rule


@pytest.mark.parametrize("about", ABOUT)
def test_why_tells_both_of_one_that_waits_for_its_time_and_then_woke(about: str) -> None:
    of = office("Tap", model="")
    of.asks(f"Tap {about}")
    assert both(of, about) == ("queued", "")
    wake = of.runs(of.agents["Tap"])
    assert both(of, about) == ("woke", "")
    assert {one.run_key for one in whys(of, of.agent)} == {wake.run_key}


def test_why_tells_both_of_one_that_was_merged() -> None:
    of = office("Tap", model="")
    watcher.catch_up(of.at)
    changes_task(of)
    of.asks("Tap stale")
    assert both(of) == ("queued", "")
    of.runs(of.agents["Tap"])
    assert both(of) == ("merged", "")


def test_why_tells_both_of_one_that_a_persons_wake_took_along() -> None:
    of = office("Tap", model="")
    of.asks("Tap stale")
    wakes_it(of)
    wake = of.runs(of.agents["Tap"])
    assert both(of) == ("merged", "")
    assert {one.run_key for one in whys(of, of.agent)} == {wake.run_key}


@pytest.mark.parametrize("name", ["mode", "automation", "dormant", "destroyed"])
def test_why_tells_both_of_one_that_was_suppressed(name: str) -> None:
    deed, rule = AGAINST[name]
    of = office("Tap", model="")
    of.here.meanwhile[2] = lambda: deed(of)
    of.asks("Tap stale")
    assert both(of) == ("suppressed", rule)
    assert {one.run_key for one in whys(of, of.agent)} == {""}


def test_why_tells_both_of_one_that_nobody_agreed_to() -> None:
    of = office("Tap")
    of.asks("Tap stale")
    of.runs(of.agents["Tap"])
    assert both(of) == ("suppressed", NO_RECEIPT)


def test_why_tells_both_of_one_that_was_cancelled() -> None:
    of = office("Tap", model="")
    of.asks("Tap stale")
    waits = of.queued("Tap")
    assert waits is not None
    of.at.append_agent(SkipWake(of.agents["Tap"], waits.run_key, "cancelled"))
    assert both(of) == ("suppressed", "cancelled")


def test_why_tells_the_asker_of_each_that_it_asked_and_of_none_that_it_did_not() -> None:
    of = office("Tap", "Roof", "Wall", model="")
    of.asks("Tap stale", ends=GONE)
    of.asks("Tap stale", "Roof blocked")
    of.asks("Roof estimate", by=of.day)
    of.configures("Wall", AgentSettings(mode="interactive"))
    of.asks("Wall stale")
    assert [(one.what.split("“")[1], one.outcome) for one in whys(of, of.agent)] == [
        ("Wall” whether it is still wanted", "suppressed"),
        ("Tap” whether it is still wanted", "queued"),
        ("Roof” what blocks it", "queued"),
    ]
    assert [one.what for one in whys(of, of.day)] == [
        "it asked the agent of “Roof” whether its estimate is right"
    ]
    assert [one.what for one in whys(of, of.agents["Roof"])] == [
        "the agent “Day” asked whether its estimate is right",
        "the agent “Home week” asked what blocks it",
    ]
