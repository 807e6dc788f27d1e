"""The engine on a virtual clock: years of timers, a provider that is down, a model gone mad."""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

from adapters.runtime.engine_options import TimeSlice
from adapters.runtime.services import Allowance
from adapters.runtime.timers import timer_command
from domain.agent.commands import ConfigureAgent, PauseAgent
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import (
    WAKE_QUEUE,
    TriggerMerged,
    TriggerSuppressed,
    WakeBackedOff,
    WakeQueued,
)
from domain.errors import Refused
from domain.journal.commands import AddNote
from domain.log.timestamps import instant, later, moment, seconds_between
from domain.log.wire import Words
from domain.ports import Model, ModelFault, Reply, Request
from domain.wake.wake import ModelAsked, WakeDeferred, WakeFinished
from tests.support.services import divergences, task_with_agent
from tests.support.virtual import VirtualHome
from wakelog.testing import REPORT
from wakelog.testing import calls as reply

START = "2027-01-01T00:00:00.000000Z"
DAY = 86_400
ZONES = {"Europe/Berlin": "02:30", "America/New_York": "01:30", "Australia/Lord_Howe": "02:00"}


class Told:
    """Answers as it is told by the moment, and keeps when it was asked."""

    name = "tape:told"

    def __init__(self) -> None:
        self.answer: Callable[[Request], Reply] = lambda request: reply(text="Nothing to do.")
        self.asked: list[str] = []
        self.now: Callable[[], str] = str
        self.seconds = 0.0

    async def reply(self, request: Request) -> Reply:
        self.asked.append(self.now())
        await asyncio.sleep(self.seconds)
        return self.answer(request)


def home(start: str = START, agents: int = 1) -> tuple[VirtualHome, Told, list[str]]:
    """A home with tasks and agents whose first wakes are over; the ids of the tasks."""
    model = Told()
    made = VirtualHome(start, model)
    model.now = made.clock.now
    tasks = []
    for nth in range(agents):
        task, agent = task_with_agent(made.services, f"Task {nth}")
        tasks.append(task)
        made.agents.append(agent)
    model.answer = lambda request: reply(REPORT)
    made.run()
    model.answer = lambda request: reply(text="Nothing to do.")
    model.asked.clear()
    made.told.clear()
    return made, model, tasks


def note(made: VirtualHome, task: str, text: str = "news") -> Callable[[], object]:
    return lambda: made.services.append_journal(AddNote(task, "note", Words(text)))


def finished(made: VirtualHome) -> Counter[str]:
    """How many wakes ended, by outcome."""
    return Counter(
        row.fact.outcome
        for rows in made.services.agents.appends()
        for row in rows
        if isinstance(row.fact, WakeFinished)
    )


# ------------------------------------------------------------------------------- sleep and wake


def test_a_home_whose_slice_is_over_before_it_was_looked_through_goes_on_all_the_same() -> None:
    model = Told()
    made = VirtualHome(START, model)
    made.agents = [task_with_agent(made.services, f"Task {nth}")[1] for nth in range(4)]
    model.now, model.answer = made.clock.now, lambda request: reply(REPORT)
    made.slice = TimeSlice(0.0, lambda: True)
    counts = [made.run().counts.wakes for _ in range(2)]
    assert counts == [made.services.settings.agents.parallel, 1]


class FewQuestions(Allowance):
    """Allows a question a minute, by the clock of the home, from a time on."""

    def __init__(self, made: VirtualHome, since: str) -> None:
        self._made, self._free_at = made, since
        self.back = 0

    def take(self) -> int:
        now = self._made.clock.now()
        if now < self._free_at:
            return seconds_between(now, self._free_at)
        self._free_at = later(now, seconds=60)
        return 0

    def give_back(self, count: int) -> None:
        self.back += count


def test_at_a_limit_no_wake_is_taken_up_and_nothing_is_written_until_one_may_be() -> None:
    made, model, tasks = home(agents=3)
    for task in tasks:
        note(made, task)()
    limits = made.services.allowance = FewQuestions(made, later(made.clock.now(), seconds=7_200))
    before = made.run(600).counts.wakes, made.services.agents.tail().n
    assert (made.run(3_600).counts.wakes, made.services.agents.tail().n) == before
    made.run(7_200)
    gaps = [seconds_between(one, other) for one, other in pairwise(model.asked)]
    assert (len(model.asked), min(gaps) >= 60, limits.back) == (3, True, 0)
    facts = [row.fact for rows in made.services.agents.appends() for row in rows]
    assert not any(isinstance(one, WakeBackedOff | WakeDeferred) for one in facts)
    assert divergences(made.services) == []


def test_what_was_allowed_to_a_wake_that_asks_nothing_is_given_back() -> None:
    made, model, (task,) = home()
    note(made, task)()
    limits = made.services.allowance = FewQuestions(made, made.clock.now())

    def none(name: str) -> Model:
        raise Refused("missing_key", because="there is no key", instead="set one")

    made.services.model_for = none
    made.run(600)
    assert (model.asked, limits.back) == ([], 1)


def test_a_change_wakes_its_agent_exactly_when_the_throttle_is_over() -> None:
    made, model, (task,) = home()
    begun = made.clock.now()
    made.run(600, (10, note(made, task)), (40, note(made, task)))
    (asked,) = model.asked
    assert seconds_between(begun, asked) == 10 + 120
    assert finished(made) == {"completed": 2}  # with the creation
    assert divergences(made.services) == []


def test_until_idle_waits_for_the_throttle_and_no_longer() -> None:
    made, model, (task,) = home()
    note(made, task)()
    begun = made.clock.now()
    made.run()
    assert len(model.asked) == 1
    assert seconds_between(begun, made.clock.now()) == 120


def test_a_paused_agent_stops_at_once_though_its_model_is_being_asked() -> None:
    made, model, (task,) = home()

    def slow(request: Request) -> Reply:
        made.services.append_agent(PauseAgent(made.agents[0]))
        return reply(REPORT)

    model.answer = slow
    made.run(600, (1, note(made, task)))
    assert len(model.asked) == 1
    assert finished(made) == {"completed": 1, "skipped": 1}
    assert divergences(made.services) == []


def test_more_agents_than_slots_all_get_their_turn() -> None:
    made, model, tasks = home(agents=12)
    made.run(600, *[(1, note(made, task)) for task in tasks])
    assert len(model.asked) == 12
    assert finished(made) == {"completed": 24}


# ---------------------------------------------------------------------------------- stopping


def test_what_runs_may_end_within_the_grace() -> None:
    made, model, (task,) = home()
    model.seconds = 50
    made.run(130, (1, note(made, task)))  # the wake begins after 121 seconds
    assert finished(made) == {"completed": 2}
    assert made.events("handed_back") == []


def test_what_does_not_end_within_the_grace_is_handed_back_and_goes_on_later() -> None:
    made, model, (task,) = home()
    model.seconds, made.grace = 500, 10
    made.run(130, (1, note(made, task)))
    (handed,) = made.events("handed_back")
    assert finished(made) == {"completed": 1}
    model.seconds = 0
    begun = made.clock.now()
    made.run(60)
    assert seconds_between(begun, model.asked[-1]) <= 1
    assert finished(made) == {"completed": 2}
    assert made.events("ended")[-1]["run_key"] == handed["run_key"]
    assert divergences(made.services) == []


def test_stopped_twice_a_call_is_left_in_doubt_and_taken_over_at_once(tmp_path: Path) -> None:
    made, model, (task,) = home()
    made.path = tmp_path / "runtime.db"
    model.seconds = 500

    def interrupted() -> None:
        assert made.engine is not None
        made.engine.stop()

    made.run(131, (1, note(made, task)), (130, interrupted))
    assert made.engine is not None
    assert made.engine.is_in_doubt
    with made.services.agents.reading() as world:
        assert world.load(WAKE_QUEUE, made.agents[0]).running  # as a crash leaves it
    model.seconds = 0
    begun = made.clock.now()
    made.run(60)
    assert len(made.events("taken_over")) == 1
    assert seconds_between(begun, model.asked[-1]) <= 1
    assert finished(made) == {"completed": 2}
    assert divergences(made.services) == []


def test_a_model_that_does_not_answer_is_given_up_at_the_deadline() -> None:
    made, model, (task,) = home()
    model.seconds = 10_000
    made.run(1000, (1, note(made, task)))
    assert finished(made) == {"completed": 1, "failed": 1}
    assert len(model.asked) == 1


# --------------------------------------------------------------------------- what goes wrong


def test_a_provider_that_is_down_for_an_hour_costs_nothing_but_time() -> None:
    made, model, tasks = home(agents=3)
    up_at = moment(instant(made.clock.now()) + timedelta(hours=1))

    def down(request: Request) -> Reply:
        if made.clock.now() < up_at:
            raise ModelFault("unavailable", "no route to host", of_provider=True)
        return reply(text="Back again.")

    model.answer = down
    made.run(3 * 3600, *[(1, note(made, task)) for task in tasks])
    assert finished(made) == {"completed": 6}
    assert len([at for at in model.asked if at < up_at]) <= 3 * 6  # 1, 2, 4, 8, 16, 32 minutes
    assert max(model.asked) < moment(instant(up_at) + timedelta(hours=1))
    assert {fields["level"] for fields in made.events("waits")} == {"info"}
    assert divergences(made.services) == []


def test_a_provider_that_names_its_delay_is_asked_again_just_then() -> None:
    made, model, (task,) = home()
    up_at = moment(instant(made.clock.now()) + timedelta(seconds=121 + 600))

    def limited(request: Request) -> Reply:
        if made.clock.now() < up_at:
            raise ModelFault("rate_limited", "429", of_provider=True, retry_seconds=100)
        return reply(text="Done.")

    model.answer = limited
    made.run(3600, (0.5, note(made, task)))
    gaps = {seconds_between(a, b) for a, b in zip(model.asked, model.asked[1:], strict=False)}
    assert gaps == {100}
    assert len(model.asked) == 8
    assert finished(made) == {"completed": 2}


def test_a_model_that_never_stops_calling_tools_is_stopped_by_the_turn_limit() -> None:
    made, model, (task,) = home()
    call = ("record_observations", '{"observations":["again"]}')
    model.answer = lambda request: reply(call)
    made.run(DAY, (1, note(made, task)))
    assert len(model.asked) == 5
    assert finished(made) == {"completed": 2}
    asked = [
        row.fact
        for rows in made.services.agents.appends()
        for row in rows
        if isinstance(row.fact, ModelAsked)
    ]
    assert max(one.turn for one in asked) == 5


def test_a_model_that_cannot_be_had_is_tried_again_less_and_less_often() -> None:
    made, model, (task,) = home()

    def broken(request: Request) -> Reply:
        raise ZeroDivisionError("a bug")

    model.answer = broken
    made.run(DAY, (1, note(made, task)))
    assert len(model.asked) == 1
    assert finished(made) == {"completed": 1, "failed": 1}
    assert made.events("trouble")[0]["code"] == "internal"
    assert divergences(made.services) == []


# ------------------------------------------------------------------------- two years of timers


def expected(zone: str, time: str, start: str, end: str) -> list[str]:
    """The instants at which clocks in a zone first show a time, day by day; the oracle.

    A time that is skipped is the end of the gap: the wall time read with the offset before it.
    """
    there, (hour, minute) = ZoneInfo(zone), map(int, time.split(":"))
    day = instant(start).astimezone(there).date() - timedelta(days=1)
    found = []
    while day <= instant(end).date() + timedelta(days=1):
        at = datetime(day.year, day.month, day.day, hour, minute, tzinfo=there)
        early = at.astimezone(UTC)
        if early.astimezone(there).replace(tzinfo=None) != at.replace(tzinfo=None):
            early = skipped_to(early, there)
        if start < moment(early) <= end:
            found.append(moment(early))
        day += timedelta(days=1)
    return found


def skipped_to(early: datetime, there: ZoneInfo) -> datetime:
    """The first instant after the gap, by looking at every minute before."""
    after = early.astimezone(there).utcoffset()
    while (early - timedelta(minutes=1)).astimezone(there).utcoffset() == after:
        early -= timedelta(minutes=1)
    return early


def ticks_of(made: VirtualHome, agent: str) -> list[str]:
    """All ticks that a timer's triggers name, in the order of the log."""
    found: list[str] = []
    for row in made.services.agents.facts(f"alert:{agent}@r1"):
        match row.fact:
            case WakeQueued(trigger=trigger) | TriggerMerged(trigger=trigger):
                found += trigger.ticks
            case TriggerSuppressed(trigger=trigger):
                found += trigger.ticks
    return found


def test_a_year_of_timers_in_three_zones_with_downtime_and_clock_jumps() -> None:
    made, _, _ = home(agents=len(ZONES))
    begun = made.clock.now()
    for agent in made.agents[1:]:  # their ticks are noted without a wake: that is quicker
        made.services.append_agent(ConfigureAgent(agent, AgentSettings(mode="interactive")))
    for agent, (zone, time) in zip(made.agents, ZONES.items(), strict=True):
        made.services.append_agent(timer_command(agent, f"every day {time}", zone, begun))
    lives = 0
    while seconds_between(begun, made.clock.now()) < 366 * DAY:
        lives += 1
        made.run(
            11 * DAY + 7_000,
            (3 * DAY, lambda: made.clock.jump(3 * 3600)),
            (6 * DAY + 100, lambda: made.clock.jump(-3 * 3600)),
        )
        made.clock.passed += (lives % 4) * DAY + 1_800  # nobody runs
    made.run(DAY)
    end = made.clock.now()
    for agent, (zone, time) in zip(made.agents, ZONES.items(), strict=True):
        ticks = ticks_of(made, agent)
        wanted = expected(zone, time, begun, end)
        assert ticks == wanted, zone
        assert len(wanted) > 360
        with made.services.agents.reading() as world:
            assert world.load(WAKE_QUEUE, agent).queued is None
    assert finished(made).keys() == {"completed"}
    assert lives > 25
    assert divergences(made.services) == []
