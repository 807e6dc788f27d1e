"""Small charts as SVG, drawn here: no script, no style, nothing that a content policy minds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from markupsafe import Markup

WIDTH = 720
BASE, TOP = 100, 4  # the line that bars stand on; the highest bar's end
BARS_MAX = 60
GAP = 0.25  # of a day's width
BAR_MAX = 60  # however few days there are

_RECT = Markup(
    '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
)
_DAY = Markup(  # a whole day is pressed, however low its bar is
    '<a href="{}{}from={}&amp;to={}" aria-label="{}">'
    '<rect class="day" x="{:.1f}" y="0" width="{:.1f}" height="{}"/>{}</a>'
)
_SHARE = Markup(
    '<svg class="share" viewBox="0 0 100 8" aria-hidden="true" preserveAspectRatio="none">'
    '<rect class="all" width="100" height="8"/><rect class="part" width="{:.1f}" height="8"/></svg>'
)
_CHART = Markup(  # its words stand beside it: they stay readable however wide it is drawn
    '<svg class="chart" viewBox="0 0 {} {}" role="group" aria-label="{}" '
    'preserveAspectRatio="none">'
    '<line x1="0" y1="{}" x2="{}" y2="{}"/><line x1="0" y1="{}" x2="{}" y2="{}"/>{}</svg>'
    '<p class="axis" aria-hidden="true"><span>{}</span><span>top line: {} a day</span>'
    "<span>{}</span></p>"
)


def days(
    counts: Mapping[date, Counter[str]], kinds: Sequence[str], what: str, leads: str
) -> Markup:
    """One bar for each day, from the first to the last, parted by kind; gaps are empty days.

    Args:
        counts: How many of each kind a day had.
        kinds: In the order in which they are stacked; each is a class ``is-<kind>`` of the bar.
        what: For a reader who does not see it.
        leads: The address that lists what a day had, given ``from`` and ``to``.
    """
    if not counts:
        return Markup("")
    last = max(counts)
    first = max(min(counts), last - timedelta(days=BARS_MAX - 1))
    shown = [first + timedelta(days=nth) for nth in range((last - first).days + 1)]
    most = max(sum(counts.get(day, Counter()).values()) for day in shown)
    step = WIDTH / len(shown)
    drawn = [
        _bar(day, counts.get(day, Counter()), kinds, (nth * step, step), most, leads)
        for nth, day in enumerate(shown)
    ]
    total = sum(sum(counts.get(day, Counter()).values()) for day in shown)
    title = f"{what}: {total} from {first} to {last}, at most {most} a day"
    return _CHART.format(
        WIDTH,
        BASE,
        title,
        TOP,
        WIDTH,
        TOP,
        BASE,
        WIDTH,
        BASE,
        Markup("").join(drawn),
        first,
        most,
        last,
    )


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
    most: int,
    leads: str,
) -> Markup:
    drawn, y, (x, step) = Markup(""), float(BASE), place
    told = f"{day}: " + ", ".join(f"{count[kind]} {kind}" for kind in kinds if count[kind])
    for kind in kinds:
        if not count[kind]:
            continue
        height = count[kind] / most * (BASE - TOP)
        y -= height
        width = min(step * (1 - GAP), BAR_MAX)
        drawn += _RECT.format(f"is-{kind}", x + (step - width) / 2, y, width, height, told)
    sign = "&" if "?" in leads else "?"
    return _DAY.format(leads, sign, day, day, told, x, step, BASE, drawn) if drawn else drawn
