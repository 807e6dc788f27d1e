"""A wake as its facts make it: the state of the machine in `domain.wake.machine`."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from domain.errors import Refused, Remedy
from domain.wake.events import (
    Intent,
    ModelAnswered,
    ModelAsked,
    ModelFailed,
    Outcome,
    ReportDrafted,
    RetractionStaged,
    ToolAsked,
    ToolCall,
    ToolReturned,
    WakeDeferred,
    WakeFact,
    WakeFinished,
    WakeStarted,
)
from domain.wire import PayloadId, Words
from domain.world import Kind, Recorded

S = TypeVar("S")
Phase = Literal["absent", "ready", "waiting", "calling", "answered", "deferred", "done"]


class ResultRef(Struct, frozen=True):
    """What one call came to, as the model is told."""

    call_id: str
    tool: str
    message: Words
    is_error: bool
    code: str = ""


class ExchangeRef(Struct, frozen=True):
    """A turn that is over: the reply's payload, and the results of all its calls."""

    reply: PayloadId
    results: tuple[ResultRef, ...] = ()


class Wake(Struct, frozen=True):
    """A wake as its facts make it. `calls` are those of the turn not yet answered; `actions` the
    stable ids of all that were answered; `reproposed` the fingerprints of older open items that
    it proposed once more; `retakes` counts take-overs since the last reply;
    `is_material`: it changed or proposed something, so a report is due."""

    run_key: str
    phase: Phase = "absent"
    started: WakeStarted | None = None
    turn: int = 0
    asked: Intent | None = None
    calls: tuple[ToolCall, ...] = ()
    actions: tuple[str, ...] = ()
    exchanges: tuple[ExchangeRef, ...] = ()
    report: ReportDrafted | None = None
    retractions: tuple[RetractionStaged, ...] = ()
    reproposed: frozenset[str] = frozenset()
    is_material: bool = False
    is_forced: bool = False
    retakes: int = 0
    deferred_until: str = ""
    defers: int = 0
    outcome: Outcome | Literal[""] = ""

    @property
    def begun(self) -> WakeStarted:
        """What the wake was given. Raises Refused if there is no such wake."""
        if self.started is None:
            because = f"there is no wake {self.run_key!r}"
            raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
        return self.started

    @property
    def unit(self) -> str:
        """What the texts of this wake belong to: its task, else its agent."""
        return self.begun.task or f"agent:{self.begun.agent}"


def evolve(wake: Wake, event: WakeFact) -> Wake:
    """Total: history is never refused, even where `decide` would refuse it today."""
    match event:
        case WakeStarted():
            return replace(wake, phase="ready", started=event)
        case ModelAsked():
            retakes = wake.retakes + 1 if wake.phase == "waiting" else wake.retakes
            is_forced = wake.is_forced or bool(event.forced)
            return replace(
                wake,
                phase="waiting",
                asked=event,
                turn=event.turn,
                retakes=retakes,
                is_forced=is_forced,
            )
        case ToolAsked():
            retakes = wake.retakes + 1 if wake.phase == "waiting" else wake.retakes
            return replace(wake, phase="waiting", asked=event, retakes=retakes)
        case ModelAnswered():
            return _answered(wake, event)
        case ToolReturned():
            return _returned(wake, event)
        case ReportDrafted():
            return replace(wake, report=event)
        case RetractionStaged():
            return replace(wake, retractions=(*wake.retractions, event))
        case ModelFailed():
            return replace(wake, retakes=0)
        case WakeDeferred(until=until):
            return replace(wake, phase="deferred", deferred_until=until, defers=wake.defers + 1)
        case WakeFinished(outcome=outcome):
            return replace(wake, phase="done", asked=None, outcome=outcome)
        case _:
            return wake


def _answered(wake: Wake, event: ModelAnswered) -> Wake:
    return replace(
        wake,
        phase="calling" if event.calls else "answered",
        asked=None,
        calls=event.calls,
        exchanges=(*wake.exchanges, ExchangeRef(event.reply)),
        retakes=0,
        defers=0,
    )


def _returned(wake: Wake, event: ToolReturned) -> Wake:
    is_error = event.status in ("error", "denied")
    ref = ResultRef(event.call_id, event.tool, event.message, is_error, event.code)
    last = wake.exchanges[-1] if wake.exchanges else ExchangeRef("")
    exchange = replace(last, results=(*last.results, ref))
    calls = wake.calls[1:]
    is_change = event.status == "queued" or (event.status == "success" and bool(event.changed))
    return replace(
        wake,
        phase="calling" if calls else "ready",
        asked=None,
        calls=calls,
        actions=(*wake.actions, event.action),
        exchanges=(*wake.exchanges[:-1], exchange),
        is_material=wake.is_material or is_change,
        reproposed=wake.reproposed.union(event.reproposed),
        retakes=0,
    )


def _evolve(wake: Wake, recorded: Recorded) -> Wake:
    return evolve(wake, recorded.fact)  # type: ignore[arg-type]  # a wake stream holds its facts


WAKE: Kind[Wake] = Kind("wake", Wake, _evolve, is_merged=False)


class Loads(Protocol):
    """What knows the wakes of all replicas."""

    def load_all(self, kind: Kind[S], entity: str) -> Sequence[S]:
        """The states of all, the one that was written last at the end."""


def anyones(world: Loads, run_key: str) -> Wake:
    """The wake of a run key, whichever machine ran it: of several the last one with a report, else
    the last that began. This replica's where the log is alone."""
    every = world.load_all(WAKE, run_key)[::-1]
    drafted = (one for one in every if one.report is not None)
    begun = (one for one in every if one.started is not None)
    return next(drafted, None) or next(begun, None) or WAKE.initial(run_key)
