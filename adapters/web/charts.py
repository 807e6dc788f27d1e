"""Small charts as SVG, drawn here: no script, no style, nothing that a content policy minds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from markupsafe import Markup

from adapters.web.filters import plainly

BASE, TOP, HEIGHT = 112, 16, 134  # the line that bars stand on; the end of the scale; all
BARS_MAX = 60
GAP = 0.25  # of a day's width
BAR_MAX = 8.0  # percent of the width, however few days there are
TICKS = 5  # at most, of days
LOW = 4  # the least that a scale goes to: one wake is no high bar
DAYS_MIN, STRIP = 3, 12  # days that make a chart; how high a strip is
STEPS = (1, 2, 5)  # of a scale, times a power of ten

# Across it is told in percent, down in pixels: words keep their shape however wide it is drawn.
_RECT = Markup(
    '<rect class="{}" x="{:.2f}%" y="{:.1f}" width="{:.2f}%" height="{:.1f}">'
    "<title>{}</title></rect>"
)
_DAY = Markup(  # a whole day is pressed, however low its bar is
    '<a href="{}{}from={}&amp;to={}" aria-label="{}">'
    '<rect class="day" x="{:.2f}%" y="0" width="{:.2f}%" height="{}"/>{}</a>'
)
_SHARE = Markup(
    '<svg class="share" viewBox="0 0 100 8" aria-hidden="true" preserveAspectRatio="none">'
    '<rect class="all" width="100" height="8"/><rect class="part" width="{:.1f}" height="8"/></svg>'
)
_CHART = Markup(
    '<svg class="chart" height="{}" role="group" aria-label="{}">'
    '<g class="axes" aria-hidden="true">{}</g>{}</svg>'
)
_ACROSS = Markup(
    '<line x1="0" x2="100%" y1="{0:.1f}" y2="{0:.1f}"/><text x="-6" y="{1:.1f}">{2}</text>'
)
_DOWN = Markup(
    '<line x1="{0:.2f}%" x2="{0:.2f}%" y1="{1}" y2="{2}"/>'
    '<text class="day-name" x="{0:.2f}%" y="{3}">{4}</text>'
)
_STRIP = Markup('<svg class="chart strip" height="{}" role="img" aria-label="{}">{}</svg>')
_UNIT = Markup('<text class="unit" x="0" y="9">wakes a day</text>')


def scale(most: int) -> list[int]:
    """The ticks of an axis from 0 on, the last one at least `most`: at most five.

    >>> scale(3), scale(13), scale(0)
    ([0, 1, 2, 3], [0, 5, 10, 15], [0, 1])
    """
    power = 1
    while True:
        for step in (one * power for one in STEPS):
            if most <= 4 * step:
                return list(range(0, max(most + step - 1, step) // step * step + 1, step))
        power *= 10


def some_of(first: date, last: date) -> list[date]:
    """Days of an axis that are named: from the first on, evenly, at most five.

    >>> [one.day for one in some_of(date(2027, 1, 1), date(2027, 1, 10))]
    [1, 3, 5, 7, 9]
    """
    count = (last - first).days + 1
    every = -(-count // TICKS)
    return [first + timedelta(days=nth) for nth in range(0, count, every)]


def day_name(day: date, first: date, last: date) -> str:
    """How an axis names a day: with its year where the axis has two."""
    year = f" {day.year}" if first.year != last.year else ""
    return f"{day.day} {day:%b}{year}"


def tick(x: float, name: str, top: float, base: float) -> Markup:
    """A tick below a drawing, with its name: `x` in percent of the width."""
    return _DOWN.format(x, top, base, base + 14, name)


def days(
    counts: Mapping[date, Counter[str]], kinds: Sequence[str], what: str, leads: str
) -> Markup:
    """One bar for the wakes of each day, parted by kind, to the last one; gaps are empty days.
    Of fewer days than make a chart one strip for all.

    `kinds` are in the order in which they are stacked, each a class ``is-<kind>``; `what` is for a
    reader who does not see it; `leads` lists what a day had, given ``from`` and ``to``.
    """
    if not counts:
        return Markup("")
    last = max(counts)
    first = max(min(counts), last - timedelta(days=BARS_MAX - 1))
    shown = [first + timedelta(days=nth) for nth in range((last - first).days + 1)]
    per_day = [counts.get(day, Counter[str]()) for day in shown]
    total, most = sum(map(Counter.total, per_day)), max(map(Counter.total, per_day))
    title = f"{what}: {total} from {first} to {last}, at most {most} a day"
    if len(shown) < DAYS_MIN:
        return _strip(sum(per_day, Counter[str]()), kinds, title)
    ticks = scale(max(most, LOW))
    step = 100 / len(shown)
    drawn = Markup("").join(
        _bar(day, count, kinds, (nth * step, step), ticks[-1], leads)
        for nth, (day, count) in enumerate(zip(shown, per_day, strict=True))
    )
    axes = Markup("").join(
        (
            _UNIT,
            *(
                _ACROSS.format(y, y + 4, one)
                for one in ticks
                for y in [BASE - one / ticks[-1] * (BASE - TOP)]
            ),
            *(
                tick(((one - first).days + 0.5) * step, day_name(one, first, last), BASE, BASE + 4)
                for one in some_of(first, last)
            ),
        )
    )
    return _CHART.format(HEIGHT, title, axes, drawn)


def _strip(count: Counter[str], kinds: Sequence[str], title: str) -> Markup:
    drawn, x, total = Markup(""), 0.0, count.total()
    for kind in kinds:
        width = count[kind] / total * 100
        told = f"{count[kind]} {plainly(kind)}"
        drawn += _RECT.format(f"is-{kind}", x, 0, width, STRIP, told) if width else ""
        x += width
    return _STRIP.format(STRIP, title, drawn)


def rows(counts: Mapping[date, Counter[str]], kinds: Sequence[str]) -> list[tuple[date, list[int]]]:
    """The same as a table has it: of each day that had any, how many of each kind, newest first."""
    last = max(counts, default=date.min)
    first = last.toordinal() - BARS_MAX + 1
    days_told = sorted((day for day in counts if day.toordinal() >= first), reverse=True)
    return [(day, [counts[day][kind] for kind in kinds]) for day in days_told]


def share(part: float | None) -> Markup:
    """A bar that is filled as far as a share of 1 goes; the number stands beside it as text."""
    if part is None:
        return Markup("")
    return _SHARE.format(max(0.0, min(part, 1.0)) * 100)


def _bar(
    day: date,
    count: Counter[str],
    kinds: Sequence[str],
    place: tuple[float, float],
    top: int,
    leads: str,
) -> Markup:
    drawn, y, (x, step) = Markup(""), float(BASE), place
    told = f"{day}: " + ", ".join(f"{count[kind]} {plainly(kind)}" for kind in kinds if count[kind])
    for kind in kinds:
        if not count[kind]:
            continue
        height = count[kind] / top * (BASE - TOP)
        y -= height
        width = min(step * (1 - GAP), BAR_MAX)
        drawn += _RECT.format(f"is-{kind}", x + (step - width) / 2, y, width, height, told)
    sign = "&" if "?" in leads else "?"
    return _DAY.format(leads, sign, day, day, told, x, step, BASE, drawn) if drawn else drawn
