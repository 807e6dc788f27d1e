"""What is due exactly now is due, wherever it is asked; a microsecond before, it is not."""

from datetime import timedelta
from pathlib import Path

import pytest

from adapters.documents.agents import agent_line
from adapters.documents.inbox import expiring_sets
from adapters.documents.status import status_document
from adapters.home.home_location import FolderLocation
from adapters.home.settings import AgentsSettings, BudgetSettings, Settings
from adapters.home.views import Views
from adapters.models.rules.model import RulesModel
from adapters.runtime import on_demand, recovery, timers
from adapters.runtime.budgets import Budgets
from adapters.runtime.due_index import DueIndex, turns
from adapters.runtime.retry_backoff import RetryBackoff
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.wiring import Home
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE, WakeQueue
from domain.changes.change_set import CHANGES
from domain.journal.commands import AddNote, EditTask
from domain.log.timestamps import instant, later, moment
from domain.log.wire import Words
from domain.ports import ModelFault
from domain.scaffold import SCAFFOLD
from domain.wake.commands import LocalTime
from domain.wake.reading import PromptOptions
from domain.wake.unchanged import moved_by
from domain.wake.wake import WAKE
from projections import agents
from tests.support.lives import Life
from tests.support.services import StillClock, one_agent, queued_key, services, task_with_agent
from wakelog.testing import calls as reply

BUSY = ModelFault("unavailable", "no answer", of_provider=True)


def before(at: str) -> str:
    """A microsecond earlier."""
    return moment(instant(at) - timedelta(microseconds=1))


def wake_queue_of(at: Services, agent: str) -> WakeQueue:
    with at.agents.reading() as world:
        return world.load(WAKE_QUEUE, agent)


def home_of(at: Services) -> Home:
    """A home in memory around services."""
    logs = {"journal": at.journal, "agent": at.agents}
    home = Home(FolderLocation(Path("nowhere")), at, Views(None, logs), exists=True)
    home.views.catch_up()
    return home


def held() -> tuple[Services, str, str, str]:
    """A wake that waits for its provider: the services, agent, run key, and until when."""
    at, _, agent = one_agent([BUSY, reply(text="Fine."), reply(text="Fine.")])
    run_key = queued_key(at, agent)
    on_demand.run_ready(at, [agent], lambda *_: None)
    waiting = wake_queue_of(at, agent).waiting
    assert waiting is not None
    return at, agent, run_key, waiting.until


def test_a_wake_that_waited_for_its_provider_is_ready_at_that_instant() -> None:
    at, agent, run_key, until = held()
    at.clock = StillClock(before(until))
    assert on_demand.ready(at, [agent]) == []
    assert [one.until for one in on_demand.waiting(at, [agent])] == [until]
    assert recovery.begun_wakes(at, [agent]) == []
    at.clock = StillClock(until)
    assert [one.run_key for one in on_demand.ready(at, [agent])] == [run_key]
    assert on_demand.waiting(at, [agent]) == []
    assert recovery.begun_wakes(at, [agent]) == [(agent, run_key)]


def test_a_wake_that_is_asked_for_runs_from_the_instant_until_which_it_was_held() -> None:
    at, agent, run_key, until = held()

    def phase_at(now: str) -> str:
        at.clock = StillClock(now)
        on_demand.run_requested(at, agent, run_key, lambda _: None)
        with at.agents.reading() as world:
            return world.load(WAKE, run_key).phase

    assert phase_at(before(until)) != "done"
    assert phase_at(until) == "done"


def test_an_agent_that_was_held_is_shown_as_held_no_more() -> None:
    at, agent, _, until = held()
    at.clock = StillClock(before(until))
    home = home_of(at)
    document = home.views.get(agents.VIEW, agent)
    assert document is not None
    assert agent_line(document, before(until)).sleep_until == until
    assert agent_line(document, until).sleep_until is None
    assert agent_line(document, later(until, seconds=1)).sleep_until is None
    assert [one.is_due for one in status_document(home).queued] == [False]
    at.clock = StillClock(until)
    assert [one.is_due for one in status_document(home).queued] == [True]


def test_a_running_wake_is_given_up_with_its_deadline_and_its_grace() -> None:
    at, _, agent = one_agent()
    run_key = queued_key(at, agent)
    begun = capture(at, agent, run_key, is_now=True)
    at.append_agent(begun.command, payloads=begun.payloads)
    home = home_of(at)
    end = later(wake_queue_of(at, agent).running_since, seconds=at.settings.agents.lost_seconds)
    at.clock = StillClock(before(end))
    assert [one.reason for one in on_demand.waiting(at, [agent])] == ["running"]
    assert [one.run_key for one in status_document(home).running] == [run_key]
    at.clock = StillClock(end)
    assert [one.run_key for one in on_demand.ready(at, [agent])] == [run_key]
    assert status_document(home).running == []
    assert [one.run_key for one in status_document(home).in_doubt] == [run_key]


def test_a_timer_fires_at_its_instant() -> None:
    at, _, agent = one_agent()
    at.append_agent(timers.timer_command(agent, "every day 07:00", "UTC", at.clock.now()))
    (timer,) = at.agent(agent).timers
    for now, is_fired in ((before(timer.next_at), False), (timer.next_at, True)):
        at.clock = StillClock(now)
        assert timers.fire(at, [agent]) == []
        assert (at.agent(agent).timers[0].next_at > timer.next_at) == is_fired


def test_proposals_expire_at_their_instant_and_the_outlook_says_when() -> None:
    at = services(model=RulesModel())
    at.settings = Settings(agents=AgentsSettings(expire_after_days=2))
    task, agent = task_with_agent(at)
    at.append_journal(AddNote(task, "note", Words("Takes about 60 minutes.")))
    on_demand.run_ready(at, [agent], lambda *_: None)
    (set_id,) = at.agent(agent).sets
    with at.agents.reading() as world:
        expires_at = world.load(CHANGES, set_id).expires_at
    home, due_index = home_of(at), DueIndex(at)
    due_index.start([], [set_id])
    assert due_index.expired(before(expires_at)) == []
    assert due_index.expired(expires_at) == [set_id]
    assert due_index.next_at(before(expires_at)) == expires_at
    assert due_index.next_at(expires_at) == ""
    at.clock = StillClock(before(expires_at))
    assert expiring_sets(home) == []
    at.clock = StillClock(expires_at)
    assert expiring_sets(home) == [set_id]


def due(due_index: DueIndex, now: str) -> list[str]:
    """The wakes that an engine would begin."""
    found = turns(due_index.schedules, now, lambda _: False)
    return [one.run_key for one in found]


def test_the_due_index_names_what_is_due_at_its_instant() -> None:
    at, agent, run_key, until = held()
    at.append_agent(timers.timer_command(agent, "every day 07:00", "UTC", at.clock.now()))
    tick = at.agent(agent).timers[0].next_at
    due_index = DueIndex(at)
    due_index.start([agent], [])
    assert due(due_index, before(until)) == []
    assert due_index.ticking(before(tick)) == []
    assert due(due_index, until) == [run_key]
    assert due_index.ticking(tick) == [agent]
    assert due_index.next_at(before(until)) == until
    assert due_index.next_at(until) == tick


def test_what_is_held_after_a_failure_is_tried_again_at_its_instant() -> None:
    holds, now = RetryBackoff(), "2027-01-01T00:00:00.000000Z"
    until = holds.add("timers", now)
    assert holds.until("timers", before(until)) == until
    assert holds.until("timers", until) == ""
    assert holds.next_at(before(until)) == until
    assert holds.next_at(until) == ""
    assert holds.is_news("no room", now)
    told_again = later(now, seconds=3600)
    assert not holds.is_news("no room", before(told_again))
    assert holds.is_news("no room", told_again)


@pytest.mark.parametrize(("minutes", "is_of_today"), [(719, False), (720, True)])
def test_a_days_tokens_are_those_from_its_midnight_on(minutes: int, *, is_of_today: bool) -> None:
    life, midnight = Life(), "2027-01-02T00:00:00.000000Z"
    run_key = life.create()
    life.begin()
    life.minutes = minutes - 1
    life.answer(run_key, tokens=5)
    budgets = Budgets(life.log, Settings(budget=BudgetSettings(tokens_per_day=10)))
    wake, tomorrow = life.wake(run_key), later(midnight, seconds=86_400)
    if not is_of_today:
        assert budgets.until(wake, before(midnight)) == midnight
    assert budgets.until(wake, midnight) == (tomorrow if is_of_today else "")


def test_how_far_off_a_date_is_moves_in_steps() -> None:
    days = {
        "02-21": "later", "02-22": "in-7", "02-25": "in-7", "02-26": "in-3", "02-27": "in-3",
        "02-28": "tomorrow", "03-01": "today", "03-02": "overdue", "03-07": "overdue",
        "03-08": "overdue-7", "03-30": "overdue-7", "03-31": "overdue-30", "05-01": "overdue-30",
    }  # fmt: skip
    at, task, agent = one_agent()
    at.append_journal(EditTask(task, due="2027-03-01"))
    with at.journal.reading() as journal, at.agents.reading() as others:
        who = others.load(AGENT, agent)
        clocks = (LocalTime("", f"2027-{day}T09:00", "UTC", "+00:00") for day in days)
        moved = [
            moved_by(journal, others, who, PromptOptions(SCAFFOLD, local=one)) for one in clocks
        ]
    assert [one[2] for one in moved] == [f"due:{step}" for step in days.values()]
