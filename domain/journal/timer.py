"""The running timer of a home: the stream ``timer:main`` (SPEC 1). Two machines that did not know
of each other may have started one each: all of them run until they are stopped."""

from msgspec import Struct

from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Stored


class TimerStarted(Stored, frozen=True, tag="timer.started.1"):
    task: str
    entry: str


class TimerStopped(Stored, frozen=True, tag="timer.stopped.1"):
    task: str
    entry: str


TimerFact = TimerStarted | TimerStopped


class Running(Struct, frozen=True):
    """An entry of a task that is being timed."""

    task: str
    entry: str


class Timer(Struct, frozen=True):
    """Which entry of which task is being timed; empty where none is. Of several it is the one
    that was started last; `running` has all, in the order of their start."""

    id: str
    task: str = ""
    entry: str = ""
    running: tuple[Running, ...] = ()


def evolve(timer: Timer, recorded: RecordedEvent) -> Timer:
    """The timer after one more fact."""
    match recorded.fact:
        case TimerStarted(task=task, entry=entry):
            return _timer(timer, entry, Running(task, entry))
        case TimerStopped(entry=entry):
            return _timer(timer, entry)
        case _:
            return timer


def _timer(timer: Timer, entry: str, *started: Running) -> Timer:
    running = (*(one for one in timer.running if one.entry != entry), *started)
    last = running[-1] if running else Running("", "")
    return Timer(timer.id, last.task, last.entry, running)


TIMER: StreamType[Timer] = StreamType("timer", Timer, evolve)
