"""The one running timer of a home: the stream ``timer:main`` (SPEC 1)."""

from msgspec import Struct

from domain.wire import Stored
from domain.world import Kind, Recorded


class TimerStarted(Stored, frozen=True, tag="timer.started.1"):
    task: str
    entry: str


class TimerStopped(Stored, frozen=True, tag="timer.stopped.1"):
    task: str
    entry: str


TimerFact = TimerStarted | TimerStopped


class Timer(Struct, frozen=True):
    """Which entry of which task is being timed; empty where none is."""

    id: str
    task: str = ""
    entry: str = ""


def evolve(timer: Timer, recorded: Recorded) -> Timer:
    """The timer after one more fact."""
    match recorded.fact:
        case TimerStarted(task=task, entry=entry):
            return Timer(timer.id, task, entry)
        case TimerStopped(entry=entry) if entry == timer.entry:
            return Timer(timer.id)
        case _:
            return timer


TIMER: Kind[Timer] = Kind("timer", Timer, evolve)
