"""Lessons as JSON."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.tasks import catalog_of
from adapters.documents.templates import templates_of
from domain.changes.change_set import find
from domain.journal.document import category_name
from domain.lessons.lessons import (
    CATEGORY,
    REFERENCES_READ,
    TEMPLATE,
    Lesson,
    Lessons,
    count,
    offers_rule,
)
from domain.log.keys import key
from domain.text import fold
from projections.inbox import VIEW as INBOX
from projections.lessons import VIEW
from projections.tasks import VIEW as TASKS

if TYPE_CHECKING:
    from adapters.documents.inbox import InboxSet
    from adapters.wiring import Home

REASON_ID = 12  # characters


class LessonReason(Struct, frozen=True):
    """Why proposals were declined, and how many of them."""

    text: str
    count: int


class LessonLine(Struct, frozen=True):
    """What `lessons` prints: how the newest proposals of a tool fared in a scope, which is
    ``category:ID`` or ``template:ID``. `name`: the scope's, empty of one that is gone. `edited`
    counts those that were confirmed with other values; `reasons`: the most frequent first.
    `ruled_out`: agents of the category may propose no more of it; `rule_offered`: so few were
    accepted that this may be better."""

    scope: str
    name: str
    tool: str
    confirmed: int
    rejected: int
    deferred: int
    edited: int
    reasons: list[LessonReason]
    ruled_out: bool
    rule_offered: bool


class LessonItem(Struct, frozen=True):
    """A proposal that counts in a scope. `verdict` was given `at`; `edited`: with other values."""

    at: str
    verdict: str
    edited: bool
    ref: str
    summary: str
    reason: str | None
    task_id: str
    task_title: str
    run_key: str


class RunStars(Struct, frozen=True):
    """What a person gave a wake, from 1 to 5."""

    run_key: str
    stars: int


class RanDetails(Struct, frozen=True):
    """Of a template: how many wakes ended since lessons are kept, in how many of them nothing was
    to be done, and the newest ratings, oldest first."""

    wakes: int = 0
    noops: int = 0
    ratings: list[RunStars] = []


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


def lesson_scopes(home: "Home") -> dict[str, str]:
    """The scopes that there are lessons in, each with its name: those that are gone last."""
    names = scopes(home)
    known = {one.id for one in home.views.all(VIEW)}
    order = [*(one for one in names if one in known), *sorted(known - names.keys())]
    return {one: names.get(one, "") for one in order}


def lesson_lines(home: "Home", wanted: str = "") -> list[LessonLine]:
    """The lessons of a scope, or of all, by tool."""
    found = lesson_scopes(home).items()
    return [
        line
        for scope, name in found
        if wanted in ("", scope)
        for line in scope_lines(home, scope, name)
    ]


def scope_lines(home: "Home", scope: str, name: str) -> list[LessonLine]:
    """The lessons of a scope of this name, by tool."""
    known = home.views.get(VIEW, scope)
    tools = sorted({*known.tools, *(known.ruled or ())}) if known else []
    return [_line(home, known, name, tool) for tool in tools] if known else []


def rules_offered(home: "Home", sets: "Iterable[InboxSet]") -> list[LessonLine]:
    """Of what is proposed: where so few of its kind were accepted in its category that a rule may
    be better."""
    named = dict.fromkeys(
        (task.category, item.tool)
        for one in sets
        if (task := home.views.get(TASKS, one.task_id))
        for item in one.items
    )
    return [
        _line(home, known, category_name(catalog_of(home), category), tool)
        for category, tool in named
        if (known := home.views.get(VIEW, CATEGORY + category)) and offers_rule(known, tool)
    ]


def lesson_items(
    home: "Home", scope: str, tool: str, verdict: str = "", reason: str = ""
) -> list[LessonItem]:
    """The proposals that a number of a scope counts, the newest verdict first. `verdict`: only
    those; ``edited``: those that were confirmed with other values; `reason`: only those that were
    declined for it, as `reason_id` names it."""
    from adapters.documents.inbox import documents_of  # which loads what carries verdicts out

    known = home.views.get(VIEW, scope)
    lessons = known.tools.get(tool, ()) if known else ()
    if reason:
        lessons = tuple(one for one, text in _reasons(home, lessons) if reason_id(text) == reason)
    wanted = {
        (one.changes, one.item): one
        for one in lessons
        if verdict in ("", one.verdict) or (verdict == "edited" and one.is_edited)
    }
    found = (home.views.get(INBOX, changes) for changes in dict.fromkeys(one for one, _ in wanted))
    sets = [one for one in found if one is not None]
    told = {
        (one.id, int(item.ref.rpartition(".")[2])): (one, item)
        for one in documents_of(home, sets, lambda one, item: (one.id, item.number) in wanted)
        for item in one.items
    }
    return [
        LessonItem(
            at=lesson.at,
            verdict=lesson.verdict,
            edited=lesson.is_edited,
            ref=told[place][1].ref,
            summary=told[place][1].summary,
            reason=told[place][1].reason,
            task_id=told[place][0].task_id,
            task_title=told[place][0].subject.title,
            run_key=told[place][0].run_key,
        )
        for place, lesson in wanted.items()
        if place in told
    ]


def reason_id(text: str) -> str:
    """What reasons are known by that are equal when folded."""
    return key("lesson reason", fold(text))[:REASON_ID]


def ran_of(home: "Home", scope: str) -> RanDetails:
    """What became of the wakes of a template."""
    known = home.views.get(VIEW, scope)
    if known is None:
        return RanDetails()
    return RanDetails(known.runs, known.noops, [RunStars(*one) for one in known.ratings])


def _line(home: "Home", known: Lessons, name: str, tool: str) -> LessonLine:
    lessons = known.tools.get(tool, ())
    reasons: dict[str, LessonReason] = {}
    for _, text in _reasons(home, lessons):
        one = reasons.get(fold(text), LessonReason(text, 0))
        reasons[fold(text)] = LessonReason(one.text, one.count + 1)
    return LessonLine(
        known.id,
        name,
        tool,
        count(lessons, "confirmed"),
        count(lessons, "rejected"),
        count(lessons, "deferred"),
        sum(one.is_edited for one in lessons),
        sorted(reasons.values(), key=lambda one: -one.count),
        ruled_out=tool in (known.ruled or ()),
        rule_offered=offers_rule(known, tool),
    )


def _reasons(home: "Home", lessons: tuple[Lesson, ...]) -> Iterator[tuple[Lesson, str]]:
    """Why the newest were declined, where it was said."""
    declined = [one for one in lessons if one.verdict == "rejected"]
    for one in declined[:REFERENCES_READ]:
        known = home.views.get(INBOX, one.changes)
        item = find(known.changes, one.item) if known else None
        if item and item.reason:
            yield one, item.reason
