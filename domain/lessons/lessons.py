"""What became of proposals, counted by scope: ``lessons:category:<id>``, ``lessons:template:<id>``.

STORAGE FORMAT, see `domain.log.wire`. References with what the fold counts, and no texts: reasons
and edits stand in the change sets. A lesson stays in the category that the task had when the
person decided (ADR 50)."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from domain.errors import invalid
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Stored

VERDICTS_KEPT = 50  # the newest, by tool
REFERENCES_READ = 30  # of those the newest whose reason or edit is looked up, by tool
RATINGS_KEPT = 50  # the newest
STARS_MAX = 5
RULE_LEAST = 8  # verdicts on a tool, from which on a rule may be offered
RULE_BELOW = 5  # it is where fewer than one of so many was accepted
CATEGORY, TEMPLATE = "category:", "template:"

LessonVerdict = Literal["confirmed", "rejected", "deferred", "reopened", "undone"]
TAKEN_BACK: tuple[LessonVerdict, ...] = ("reopened", "undone")


class LessonDecided(Stored, frozen=True, tag="lessons.decided.1"):
    """A verdict on item `item` of the set `changes`; `template`, `version` and `model` are those
    of the wake that proposed it. ``reopened``: there is none any more; ``undone``: the same of a
    confirmation. `at`: when it was given, of one that was learnt later."""

    changes: str
    item: int
    tool: str
    verdict: LessonVerdict
    is_edited: bool = False
    template: str = ""
    version: int = 0
    model: str = ""
    at: str = ""


class WakeRan(Stored, frozen=True, tag="lessons.ran.1"):
    """A wake of the template ended; of template scopes only."""

    run_key: str
    version: int
    outcome: str
    is_noop: bool = False


class WakeRated(Stored, frozen=True, tag="lessons.rated.1"):
    """What the person thinks of a wake of the template, from 1 to 5; of template scopes only."""

    run_key: str
    stars: int


class ToolRuled(Stored, frozen=True, tag="lessons.ruled.1"):
    """The person wants no more items of the tool, or may be asked again; of categories only."""

    tool: str
    is_off: bool


LessonsFact = LessonDecided | WakeRan | WakeRated | ToolRuled


class Lesson(Struct, frozen=True):
    """The last verdict on an item."""

    at: str
    changes: str
    item: int
    verdict: LessonVerdict
    is_edited: bool = False


class Lessons(Struct, frozen=True):
    """A scope. `tools`: by tool the newest `VERDICTS_KEPT` verdicts, newest first. `runs` and
    `noops` count ended wakes; `ratings`: the newest `RATINGS_KEPT`, oldest first.
    `ruled`: the tools that the person ruled out, by name."""

    id: str
    tools: dict[str, tuple[Lesson, ...]] = {}
    runs: int = 0
    noops: int = 0
    ratings: tuple[tuple[str, int], ...] = ()
    ruled: tuple[str, ...] | UnsetType = UNSET


def count(lessons: tuple[Lesson, ...], verdict: LessonVerdict) -> int:
    """How many of some lessons are of a verdict."""
    return sum(one.verdict == verdict for one in lessons)


def decide(lessons: Lessons, told: LessonDecided) -> list[LessonsFact]:
    """Learn a verdict; nothing where that is known already, or there is none to take back."""
    known = _found(lessons.tools.get(told.tool, ()), told)
    if told.verdict in TAKEN_BACK:
        return [told] if known else []
    is_known = known and (known.verdict, known.is_edited) == (told.verdict, told.is_edited)
    return [] if is_known else [told]


def rate(lessons: Lessons, run_key: str, stars: int) -> list[LessonsFact]:
    """Rate a wake, once more or for the first time; the same stars again: nothing. Raises Refused,
    code ``invalid_value``."""
    if not 1 <= stars <= STARS_MAX:
        raise invalid(f"{stars} is no rating", f"use 1 to {STARS_MAX}")
    return [] if dict(lessons.ratings).get(run_key) == stars else [WakeRated(run_key, stars)]


def rule(lessons: Lessons, tool: str, *, is_off: bool) -> list[LessonsFact]:
    """Rule a tool out, or take that back; nothing where it is so already."""
    return [] if (tool in (lessons.ruled or ())) == is_off else [ToolRuled(tool, is_off)]


def offers_rule(lessons: Lessons, tool: str) -> bool:
    """Whether so few of a category's proposals of a tool were accepted that the person may rather
    have none. What was put off is not decided."""
    known = lessons.tools.get(tool, ())
    accepted = count(known, "confirmed")
    decided = accepted + count(known, "rejected")
    is_of_category = lessons.id.startswith(CATEGORY) and tool not in (lessons.ruled or ())
    return is_of_category and decided >= RULE_LEAST and accepted * RULE_BELOW < decided


def evolve(lessons: Lessons, recorded: RecordedEvent) -> Lessons:
    """The lessons after one more fact."""
    match recorded.fact:
        case LessonDecided() as told:
            return _decided(lessons, told, told.at or recorded.at)
        case WakeRan(is_noop=is_noop):
            return replace(lessons, runs=lessons.runs + 1, noops=lessons.noops + is_noop)
        case WakeRated(run_key=run_key, stars=stars):
            others = (one for one in lessons.ratings if one[0] != run_key)
            return replace(lessons, ratings=(*others, (run_key, stars))[-RATINGS_KEPT:])
        case ToolRuled(tool=tool, is_off=is_off):
            kept = {*(lessons.ruled or ())} - {tool}
            return replace(lessons, ruled=(*sorted({*kept, tool} if is_off else kept),))
        case _:
            return lessons


def _decided(lessons: Lessons, told: LessonDecided, at: str) -> Lessons:
    """With the verdict in place of an earlier one on the same item. The order is that of time, so
    it does not matter in which order facts come that are about different items. One that was
    learnt later never replaces a newer one; of what was said as it was given the last stands,
    whatever the clocks of machines say."""
    before = lessons.tools.get(told.tool, ())
    known = _found(before, told)
    if known is not None and told.at and known.at > at:
        return lessons
    made = Lesson(at, told.changes, told.item, told.verdict, told.is_edited)
    others = [one for one in before if one is not known]
    kept = sorted(
        others if told.verdict in TAKEN_BACK else (made, *others),
        key=lambda one: (one.at, one.changes, one.item),
        reverse=True,
    )
    return replace(lessons, tools={**lessons.tools, told.tool: tuple(kept[:VERDICTS_KEPT])})


def _found(lessons: tuple[Lesson, ...], told: LessonDecided) -> Lesson | None:
    mine = (told.changes, told.item)
    return next((one for one in lessons if (one.changes, one.item) == mine), None)


LESSONS: StreamType[Lessons] = StreamType("lessons", Lessons, evolve)
