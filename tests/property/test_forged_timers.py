"""A wake that says it met nothing new, and did not, is named by prove; what comes late, of another
day or beside other triggers is not done."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.runtime.timers import fire, timer_command
from adapters.runtime.wake_capture import unchanged
from domain.agent.commands import RemoveTimer, SetTimer, SleepAgent
from domain.errors import Refused
from domain.ports import ModelFault, Reply
from domain.wake.commands import SkipWake
from domain.wake.reading import PromptOptions
from tests.histories.acting import REPORT, woken
from tests.property.test_forged_tools import HISTORIES
from tests.support.broken import Broken
from tests.support.checking.logs import Doc
from tests.support.forging import differing
from tests.support.services import StillClock, one_agent, queued_key
from wakelog.testing import calls as reply

MOVED = "data.command.movedBy"


def skip(home: Broken) -> Doc:
    receipts = (one.facts[0].data.get("command", {}) for one in home.logs["agent"])
    found: Doc = next(one for one in receipts if one.get("code") == "unchanged")
    return found


def begins(home: Broken) -> list[tuple[Doc, Doc]]:
    """The commands that began wakes, with what those were given."""
    return [(one.facts[0].data["command"], fact.data) for one in home.logs["agent"]
            for fact in one.facts if fact.topic == "wake.started.1"]  # fmt: skip


def both_say_another_date(home: Broken) -> None:
    """The wake before, too: so the handler finds them equal."""
    for one in (*begins(home)[0], skip(home)):
        one["movedBy"][2] = "due:tomorrow"


def nothing_is_said(home: Broken) -> None:
    for one in begins(home)[0]:
        del one["movedBy"]


def of_skip(**fields: object) -> Callable[[Broken], None]:
    return lambda home: skip(home).update(fields)


YESTERDAY = {"weekday": "Friday", "time": "2027-01-01T08:00", "zone": "UTC", "offset": "+00:00"}


@pytest.mark.parametrize(("forge", "path"), [
    (both_say_another_date, MOVED),
    (nothing_is_said, MOVED),
    (of_skip(model="gemini:x"), "rows"),
    (of_skip(local=YESTERDAY), "rows"),
    (of_skip(journalPosition=2), MOVED),
    (of_skip(journalPosition=99), "position"),
    (of_skip(scaffold=0), "rows"),
])  # fmt: skip
def test_what_is_forged_is_named(forge: Callable[[Broken], None], path: str) -> None:
    home = Broken(HISTORIES / "nothing_moved.jsonl")
    assert differing(home) == []
    forge(home)
    found = differing(home)
    assert any(where.endswith(path) for _, where in found), found


def woken_before(*replies: Reply | ModelFault) -> tuple[Services, str]:
    """An agent that woke once; a day later its timer rang."""
    at, _, agent = one_agent(replies)
    at.clock = clock = StillClock("2027-01-01T08:00:00.000000Z")
    woken(at, agent)
    at.append_agent(timer_command(agent, "every day 07:00", "UTC", clock.at, heeds_moves=True))
    clock.at = "2027-01-02T08:00:00.000000Z"
    fire(at, [agent])
    return at, agent


def rung() -> tuple[Services, SkipWake]:
    """A timer rang where nothing moved, and what would end its wake."""
    at, agent = woken_before(reply(REPORT), reply(text="First."), reply(text="Again."))
    found = unchanged(at, agent, queued_key(at, agent))
    assert found is not None
    return at, found


def asked_for(at: Services, told: SkipWake) -> SkipWake:
    at.append_agent(at.request(told.agent))
    return replace(told, run_key=queued_key(at, told.agent))


def set_to_ask_always(at: Services, told: SkipWake) -> SkipWake:
    (timer,) = at.agent(told.agent).timers
    at.append_agent(SetTimer(told.agent, timer.schedule, timer.zone, timer.next_at))
    return told


def removed(at: Services, told: SkipWake) -> SkipWake:
    at.append_agent(RemoveTimer(told.agent, at.agent(told.agent).timers[0].id))
    return told


def asleep(at: Services, told: SkipWake) -> SkipWake:
    at.append_agent(SleepAgent(told.agent, "2027-02-01T00:00:00.000000Z", is_ordered=True))
    return told


def on_the_next_day(at: Services, told: SkipWake) -> SkipWake:
    at.clock = StillClock("2027-01-03T08:00:00.000000Z")
    return told


def otherwise(**fields: object) -> Callable[[Services, SkipWake], SkipWake]:
    return lambda _, told: replace(told, **fields)


@pytest.mark.parametrize("meanwhile", [
    asked_for, set_to_ask_always, removed, asleep, on_the_next_day, otherwise(local=None),
    otherwise(moved_by=()), otherwise(scaffold=3),
])  # fmt: skip
def test_a_wake_that_has_to_ask_is_not_skipped(
    meanwhile: Callable[[Services, SkipWake], SkipWake],
) -> None:
    at, told = rung()
    assert at.append_agent(meanwhile(at, told)).rows == ()
    assert queued_key(at, told.agent)


def test_a_wake_is_skipped_once_and_its_report_stays_fresh() -> None:
    at, told = rung()
    before = at.agent(told.agent)
    assert len(at.append_agent(told).rows) == 3
    after = at.agent(told.agent)
    assert (after.report, after.last_run, after.wakes) == (before.report, before.last_run, 1)
    with pytest.raises(Refused, match="no wake"):
        at.append_agent(told)


def test_after_a_wake_that_failed_a_timer_asks() -> None:
    at, agent = woken_before(ModelFault("broken", "no", of_provider=False))
    assert unchanged(at, agent, queued_key(at, agent)) is None


def test_a_timer_that_rings_once_always_asks() -> None:
    at, told = rung()
    once = timer_command(
        told.agent, "once 2027-01-02 09:00", "UTC", at.clock.now(), heeds_moves=True
    )
    assert not once.heeds_moves
    at.append_agent(replace(once, heeds_moves=True))
    at.append_agent(told)
    at.clock = StillClock("2027-01-02T10:00:00.000000Z")
    fire(at, [told.agent])
    assert unchanged(at, told.agent, queued_key(at, told.agent)) is None


def test_a_wake_told_again_asks_though_nothing_moved() -> None:
    """So a fork does, also where nobody knows the person's clock."""
    at, told = rung()
    given = PromptOptions(told.scaffold)
    asyncio.run(run_wake(at, told.agent, told.run_key, given=given))
    begun = at.wake(told.run_key).begun
    assert (begun.reason, begun.moved_by) == ("timer", ())
