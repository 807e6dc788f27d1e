"""Lessons as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.tasks import catalog_of
from adapters.documents.templates import templates_of
from domain.changes.change_set import find
from domain.lessons.lessons import CATEGORY, REFERENCES_READ, TEMPLATE, Lesson, count
from domain.text import fold
from projections.inbox import VIEW as INBOX
from projections.lessons import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home


class LessonReason(Struct, frozen=True):
    """Why proposals were declined, and how many of them."""

    text: str
    count: int


class LessonLine(Struct, frozen=True):
    """What `lessons` prints: how the newest proposals of a tool fared in a scope, which is
    ``category:ID`` or ``template:ID``. `name`: the scope's, empty of one that is gone. `edited`
    counts those that were confirmed with other values; `reasons`: the most frequent first."""

    scope: str
    name: str
    tool: str
    confirmed: int
    rejected: int
    deferred: int
    edited: int
    reasons: list[LessonReason]


class RatedRun(Struct, frozen=True):
    """What `rate` prints. `unchanged`: it was rated so already."""

    run_key: str
    template_id: str
    stars: int
    unchanged: bool


def scopes(home: "Home") -> dict[str, str]:
    """The scopes that there may be lessons in, each with its name: categories, then templates."""
    categories = sorted(catalog_of(home).categories.values(), key=lambda one: fold(one.name))
    named = {CATEGORY + one.id: one.name for one in categories}
    return named | {TEMPLATE + one.id: one.name for one in templates_of(home)}


def lesson_lines(home: "Home", wanted: str = "") -> list[LessonLine]:
    """The lessons of a scope, or of all, by tool."""
    names = scopes(home)
    known = {one.id: one for one in home.views.all(VIEW)}
    order = [*(one for one in names if one in known), *sorted(known.keys() - names.keys())]
    return [
        _line(home, scope, names.get(scope, ""), tool, lessons)
        for scope in order
        if wanted in ("", scope)
        for tool, lessons in sorted(known[scope].tools.items())
    ]


def ratings(home: "Home", scope: str) -> tuple[int, int, tuple[int, ...]]:
    """Of a template: how many wakes ended, in how many nothing was to be done, and the stars."""
    known = home.views.get(VIEW, scope)
    return (known.runs, known.noops, tuple(dict(known.ratings).values())) if known else (0, 0, ())


def _line(
    home: "Home", scope: str, name: str, tool: str, lessons: tuple[Lesson, ...]
) -> LessonLine:
    reasons: dict[str, LessonReason] = {}
    for text in _reasons(home, lessons):
        known = reasons.get(fold(text), LessonReason(text, 0))
        reasons[fold(text)] = LessonReason(known.text, known.count + 1)
    return LessonLine(
        scope,
        name,
        tool,
        count(lessons, "confirmed"),
        count(lessons, "rejected"),
        count(lessons, "deferred"),
        sum(one.is_edited for one in lessons),
        sorted(reasons.values(), key=lambda one: -one.count),
    )


def _reasons(home: "Home", lessons: tuple[Lesson, ...]) -> Iterator[str]:
    """Why the newest were declined, where it was said."""
    declined = [one for one in lessons if one.verdict == "rejected"]
    for one in declined[:REFERENCES_READ]:
        known = home.views.get(INBOX, one.changes)
        item = find(known.changes, one.item) if known else None
        if item and item.reason:
            yield item.reason
