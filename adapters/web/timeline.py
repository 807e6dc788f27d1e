"""How long a wake took, turn by turn, by the times of its rows; drawn as SVG without a script."""

from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup
from msgspec import Struct

from adapters.documents.wakes import WakeStep
from adapters.web.words import lasting
from domain.timestamps import instant

Kind = Literal["model", "tools", "waiting", "retries"]
KINDS: tuple[Kind, ...] = ("model", "tools", "waiting", "retries")
WIDTH, HEIGHT = 100.0, 10.0
LEAST = 0.6  # of the width: what took any time at all can be seen
SHAPES: dict[Kind, tuple[float, float]] = {  # y and height: told apart without colours, too
    "model": (0, HEIGHT),
    "tools": (2, 6),
    "waiting": (4, 2),
    "retries": (5, 5),
}
_BAR = Markup(
    '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
)
_PART = Markup('<rect class="is-{}" x="{:.2f}" y="{}" width="{:.2f}" height="{}"/>')


class Segment(Struct, frozen=True):
    """A stretch of a turn: what it went by with, and for how long."""

    kind: Kind
    seconds: float


class TurnTimes(Struct, frozen=True):
    """A turn and what it went by with, in order; 0 is what came before the first turn."""

    turn: int
    segments: tuple[Segment, ...]

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.segments)


class _Open(Struct, frozen=True):
    kind: Kind
    at: str
    turn: int


def times(steps: Sequence[WakeStep], until: str = "") -> list[TurnTimes]:
    """What each turn went by with.

    An attempt that brought no answer counts as a retry; a request that waits from the start, and
    all up to the next attempt, as waiting.

    Args:
        steps: The rows of the wake, in order.
        until: Now, for a wake that has not ended.
    """
    turns: dict[int, list[Segment]] = {}
    going: _Open | None = None

    def close(at: str, kind: Kind | None = None) -> None:
        nonlocal going
        if going is not None:
            seconds = (instant(at) - instant(going.at)).total_seconds()
            turns.setdefault(going.turn, [])
            if seconds > 0:
                turns[going.turn].append(Segment(kind or going.kind, seconds))
        going = None

    for step in steps:
        turn = step.data.get("turn") or (going.turn if going else 0)
        match step.kind.split(".")[1]:
            case "model_asked" | "tool_asked" as name:
                close(step.at, "waiting" if going and going.kind == "waiting" else "retries")
                turns.setdefault(turn, [])
                going = _Open("model" if name == "model_asked" else "tools", step.at, turn)
            case "model_answered":
                close(step.at)
            case "tool_returned" if step.data.get("attempt"):
                close(step.at)
            case "model_failed":
                close(step.at, "retries")
                going = None
            case "deferred":
                close(step.at, "waiting")
                going = _Open("waiting", step.at, turn or max(turns, default=0))
            case "finished":
                close(step.at, "waiting" if going and going.kind == "waiting" else "retries")
            case _:
                pass
    if until:
        close(until)
    return [TurnTimes(turn, tuple(found)) for turn, found in sorted(turns.items())]


def sums(found: Sequence[TurnTimes]) -> dict[Kind, float]:
    """How much of each kind there was in all."""
    every = [segment for one in found for segment in one.segments]
    return {kind: sum(one.seconds for one in every if one.kind == kind) for kind in KINDS}


def bars(segments: Sequence[Segment], longest: float) -> list[tuple[Kind, float, float]]:
    """Where each stretch is drawn: its kind, its beginning and its width, on a scale on which
    the longest turn takes the whole width.

    >>> bars([Segment("model", 3), Segment("waiting", 1)], 8)
    [('model', 0.0, 37.5), ('waiting', 37.5, 12.5)]
    """
    drawn: list[tuple[Kind, float, float]] = []
    x = 0.0
    for one in segments:
        width = max(LEAST, one.seconds / longest * WIDTH) if longest else LEAST
        x = min(x, WIDTH - LEAST)
        width = min(width, WIDTH - x)
        drawn.append((one.kind, x, width))
        x += width
    return drawn


def svg(segments: Sequence[Segment], longest: float) -> Markup:
    """The bar of a turn; what it says stands beside it as text."""
    parts = Markup("").join(
        _PART.format(kind, x, SHAPES[kind][0], width, SHAPES[kind][1])
        for kind, x, width in bars(segments, longest)
    )
    return _BAR.format(parts)


def told(found: Sequence[TurnTimes]) -> str:
    """What these turns went by with, in words.

    >>> told([TurnTimes(1, (Segment("model", 2.0), Segment("tools", 90.0)))])
    'model 2 s, tools 1 min'
    """
    named = [f"{kind} {lasting(seconds)}" for kind, seconds in sums(found).items() if seconds]
    return ", ".join(named) or "no time that was measured"
