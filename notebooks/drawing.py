"""What the notebooks share: asking, prose, and one look for all pictures.

Colours are those of Okabe and Ito, which people who see fewer colours tell apart, too. A picture's
title says what was found, so it is made from the figures and never written beforehand.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import marimo
import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

if TYPE_CHECKING:
    import duckdb  # not at run time: see `_Answer`

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, GREY = "#56B4E9", "#CC79A7", "#8A8A8A"
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, RED, GREY)
TITLE_WIDTH = 80  # characters in one line of a title, at the usual width of a picture
WIDTH = 9.0  # inches

mpl.use("Agg")
mpl.rcParams |= {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
}


class Prose:
    """Markdown as a cell's output: marimo renders it, and the executed copy keeps its source."""

    def __init__(self, text: str) -> None:
        self.text = textwrap.dedent(text).strip()

    def _mime_(self) -> tuple[str, str]:
        return marimo.md(self.text)._mime_()  # its page wants what is rendered, under this name


class _Answer:
    """Rows on their way from DuckDB to polars.

    polars remembers every class it was given until the process ends. DuckDB's own would lead it to
    all of DuckDB, which would then complain at the exit that it is still in use.
    """

    def __init__(self, found: "duckdb.DuckDBPyRelation") -> None:
        self._found = found

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._found.__arrow_c_stream__(requested_schema)


def ask(connection: "duckdb.DuckDBPyConnection", sql: str, *values: object) -> pl.DataFrame:
    """The answer to a query as a frame; `values` stand for its question marks."""
    return pl.DataFrame(_Answer(connection.sql(sql, params=list(values))))


def picture(title: str, *, height: float = 3.6, width: float = WIDTH) -> tuple[Figure, Axes]:
    """A picture with one plot; sizes in inches."""
    figure, (axes,) = panels(title, 1, height=height, width=width)
    return figure, axes


def panels(
    title: str, count: int, *, height: float, width: float = WIDTH
) -> tuple[Figure, list[Axes]]:
    """A picture with plots one above the other, on one axis of time or values."""
    figure = Figure(figsize=(width, height))
    told = wrapped(title, width)
    figure.suptitle(told, x=0.01, horizontalalignment="left", fontsize=12.5, weight="bold")
    return figure, list(figure.subplots(count, sharex=True, squeeze=False)[:, 0])


def wrapped(title: str, width: float = WIDTH) -> str:
    """A title in lines that fit."""
    return "\n".join(textwrap.wrap(title, int(TITLE_WIDTH * width / WIDTH)))


def empty(what: str) -> Figure:
    """What stands where there is nothing to show."""
    figure, axes = picture("Nothing to show yet", height=1.4)
    axes.axis("off")
    axes.text(0, 0.5, what, va="center", color=GREY)
    return figure


def intervals(
    axes: Axes, labels: Sequence[str], found: pl.DataFrame, colours: Sequence[str]
) -> None:
    """Shares with their 95 % intervals, the first on top.

    `found` has the columns ``acceptance_rate``, ``low``, ``high`` and ``decided``.
    """
    for row, colour in enumerate(colours):
        rate, low, high, decided = (
            found[name][row] for name in ("acceptance_rate", "low", "high", "decided")
        )
        axes.plot([low, high], [row, row], color=colour, linewidth=3, solid_capstyle="round")
        axes.plot(rate, row, "o", color=colour, markersize=9)
        axes.annotate(
            f"{percent(rate)} of {decided}", (high, row), (8, 0), textcoords="offset points",
            va="center",
        )  # fmt: skip
        axes.axhline(row, color=GREY, alpha=0.15, zorder=0)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(0, 1.12)
    percents(axes)


def percents(axes: Axes, *, along: str = "x") -> None:
    """Write the shares of an axis as percent."""
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    texts = [f"{share:.0%}".replace("%", " %") for share in ticks]
    (axes.set_xticks if along == "x" else axes.set_yticks)(ticks, texts)


def bars(axes: Axes, labels: Sequence[str], values: Sequence[float], colour: str = BLUE) -> None:
    """Bars across, the first on top, each with its number."""
    axes.barh(range(len(labels)), values, color=colour, height=0.7)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    for row, value in enumerate(values):
        axes.annotate(
            f"{value:,.0f}", (value, row), (5, 0), textcoords="offset points", va="center"
        )
    room(axes, max(values))


def room(axes: Axes, most: float, *, along: str = "x") -> None:
    """Let an axis begin at 0 and end beyond its longest bar, which touches no frame then."""
    (axes.set_xlim if along == "x" else axes.set_ylim)(0, (most or 1) * 1.12)


def percent(share: float | None) -> str:
    """A share for a sentence."""
    return "-" if share is None else f"{100 * share:.0f} %"


def money(amount: float | None, unit: str) -> str:
    """An amount for a sentence: two places, or two digits where it is small; then its currency."""
    if amount is None:
        return "-"
    told = f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.2g}"
    return f"{told} {unit}".strip()


def lasting(seconds: float | None) -> str:
    """A length of time for a sentence: seconds, minutes, hours or days."""
    if seconds is None:
        return "-"
    if seconds <= 2 * 60:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 3 * 86_400 else f"{seconds / 86_400:.0f} days"


def cut(text: Any, length: int = 60) -> str:
    """A text for a cell of a table."""
    line = " ".join(str(text or "").split())
    return line if len(line) <= length else line[: length - 1] + "…"
