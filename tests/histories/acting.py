"""What the scenes of the histories have in common."""

import asyncio
from collections.abc import Callable
from typing import get_args
from weakref import WeakKeyDictionary

import pytest
from msgspec.structs import replace

from adapters.proof import histories
from adapters.proof.histories import History, RefusedCommand
from adapters.runtime import watcher
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.append.causes import Command
from domain.errors import Refused
from domain.journal.commands import JournalCommand
from domain.log.timestamps import later
from domain.log.wire import payload
from domain.ports import ModelFault, Reply
from domain.wake.commands import BeginWake
from tests.support.services import TickingClock, services

LONG = "It takes about 2 hours. Due by 2027-03-04. I need to call the plumber. " + "drip " * 250
REPORT = ("update_report", '{"content":"# All\\n\\nIs well.","oneLiner":"Well","tldr":"All well."}')
ESTIMATE = ("update_task_estimate", '{"minutes":45}')
ITEMS = ("add_multiple_checklist_items", '{"items":[{"title":"Buy nails"},{"title":"Saw"}]}')
NOBODY = "z" * 32

Scene = Callable[[], Services]
_REFUSED: WeakKeyDictionary[Services, list[RefusedCommand]] = WeakKeyDictionary()


def taken(at: Services) -> History:
    """The history of a scene, with what was refused in it, and with what views make of it."""
    history = histories.take_history(at.journal, at.agents)
    refused = tuple(_REFUSED.get(at, ()))
    return replace(history, refused=refused, views=histories.view_digests(history.rows))


def told(at: Services, command: Command, key: str = "") -> tuple[str, ...]:
    """Append a command to the log it belongs to; the ids of its result."""
    return _log_of(at, command).append(command, at.clock.now(), key=key).result.ids


def _log_of(at: Services, command: Command) -> Log:
    return at.journal if isinstance(command, get_args(JournalCommand)) else at.agents


def twice(at: Services, *commands: Command) -> str:
    """Append commands, each again under a key: the second time its receipt stands alone. The
    first id of the last one's result."""
    made = ""
    for command in commands:
        made, *_ = *told(at, command), ""
        told(at, command, key=f"again {at.journal.tail().n}.{at.agents.tail().n}")
    return made


def refused(at: Services, code: str, *commands: Command) -> None:
    """Try commands that the rules do not allow, and keep that they were refused."""
    for command in commands:
        log = _log_of(at, command)
        now, tail = at.clock.now(), log.tail()
        with pytest.raises(Refused) as refusal:
            log.append(command, now)
        assert refusal.value.code == code, refusal.value
        kept = RefusedCommand(log.name, tail.n + 1, max(now, tail.at), code, command)
        _REFUSED.setdefault(at, []).append(kept)


def woken(at: Services, agent: str) -> str:
    """The next wake of an agent, run to its end or wait."""
    with at.agents.reading() as world:
        wake = next_wake(world.load(WAKE_QUEUE, agent))
    assert wake is not None
    asyncio.run(run_wake(at, agent, wake.run_key, is_now=True))
    return wake.run_key


def begun(at: Services, agent: str, run_key: str, *, is_now: bool = True) -> BeginWake:
    """Ask that a queued wake begins; nobody works at it. The command."""
    captured = capture(at, agent, run_key, is_now=is_now)
    at.append_agent(captured.command, payloads=captured.payloads)
    return captured.command


def asked(at: Services, agent: str, text: str, session: str = "", turn: int = 0) -> str:
    said = payload(at.agent(agent).task, text.encode())
    command = at.request(agent, "user", session, turn, said.id)
    at.append_agent(command, payloads=[said])
    return woken(at, agent)


def changed(at: Services, agent: str) -> str:
    watcher.catch_up(at)
    return woken(at, agent)


def pass_time(at: Services, seconds: int) -> None:
    set_clock(at, later(time_of(at), seconds=seconds))


def set_clock(at: Services, moment: str) -> None:
    """The clock goes on by a second when it is read next."""
    clock_of(at).at = moment


def time_of(at: Services) -> str:
    """What the clock said when it was read last."""
    return clock_of(at).at


def clock_of(at: Services) -> TickingClock:
    assert isinstance(at.clock, TickingClock)
    return at.clock


def answers(at: Services, replies: list[Reply | ModelFault]) -> None:
    """Another tape."""
    model = services(replies).model_for("")
    at.model_for = lambda _: model
