"""What verdicts taught: the page `/lessons`, the proposals behind its numbers, stars of wakes."""

from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from adapters.documents.lessons import (
    LessonLine,
    lesson_items,
    lesson_scopes,
    ran_of,
    reason_id,
    scope_lines,
)
from adapters.text.agent_output import REASONS_SHOWN, ratings_text, scope_heading
from adapters.text.common import counted
from adapters.usecases import lessons as deeds
from adapters.web.http_types import FormRequest, Notice, Page, missing
from adapters.web.site import Site
from adapters.web.tasks import stars_of
from adapters.wiring import Home
from domain.lessons.lessons import STARS_MAX, TEMPLATE
from projections import lessons
from projections.wakes import WakeDocument

SCOPES_SHOWN = 20
WAIT_SECONDS = 2.0  # for what is learnt of a home that is not large
NUMBERS = ("confirmed", "rejected", "deferred", "edited")


class ScopeRow(Struct, frozen=True):
    """A scope of the page; `ran` tells of its wakes, of a template."""

    scope: str
    name: str
    lines: list[LessonLine]
    ran: str


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/lessons`, and what a number of it counts."""
    names, wanted = lesson_scopes(site.home), asked.query.get("scope", "")
    if wanted and wanted not in names:
        raise missing("unknown_category", "category or template with lessons", wanted)
    if wanted and asked.query.get("tool"):
        return _items(site, asked, wanted, scope_heading(wanted, names[wanted]))
    first = asked.number("skip")
    those = [wanted] if wanted else list(names)
    last = first + SCOPES_SHOWN
    found = [
        ScopeRow(
            scope,
            scope_heading(scope, names[scope]),
            scope_lines(site.home, scope, names[scope]),
            ratings_text(ran_of(site.home, scope)),
        )
        for scope in those[first:last]
    ]
    more = asked.with_query(skip=str(last)) if len(those) > last else None
    told = {"lessons": [line for one in found for line in one.lines], "next": more}
    shown = {
        "found": found,
        "wanted": wanted,
        "troubles": [text for about, text in site.jobs.troubles if not about],
        **links(),
    }
    return Page("lessons.html", "Lessons", told, shown)


def _items(site: Site, asked: FormRequest, scope: str, name: str) -> Page:
    tool, verdict, reason = (asked.query.get(one, "") for one in ("tool", "verdict", "reason"))
    found = lesson_items(site.home, scope, tool, verdict, reason)
    told = {"scope": scope, "tool": tool, "verdict": verdict or None, "items": found, "next": None}
    because = found[0].reason if found and reason else ""
    shown = {"name": name, "because": because, "numbers": NUMBERS, **links()}
    return Page("lesson_items.html", f"{name}: {tool}", told, shown)


def links() -> dict[str, Any]:
    """What a table of lessons needs: where its numbers lead."""
    return {"leads": _leads, "reasons_shown": REASONS_SHOWN}


def _leads(scope: str, tool: str, verdict: str, reason: str = "") -> str:
    query = {"scope": scope, "tool": tool, "verdict": verdict}
    if reason:
        query["reason"] = reason_id(reason)
    return f"/lessons?{urlencode(query)}"


def learn(site: Site, asked: FormRequest) -> Notice:
    """Learn from earlier verdicts, in a thread: of a large home that takes a while."""
    asked.needed("nonce")
    learnt: list[int] = []

    def work(home: Home) -> None:
        learnt.append(deeds.learn_history(home))

    site.jobs.start(work)
    site.give_way(lambda: site.jobs.wait(WAIT_SECONDS))
    if not learnt:
        return Notice("Learning from earlier verdicts: what is learnt appears here.")
    return Notice(f"{counted(learnt[0], 'lesson')} learnt from earlier verdicts.")


def rule(site: Site, asked: FormRequest) -> Notice:
    """Rule out a kind of change in a category, or take that back."""
    category, tool, is_off = map(asked.needed, ("category", "tool", "is_off"))
    return Notice(deeds.rule_tool(site.home, category, tool, is_off=is_off == "yes", key=asked.key))


def stars_given(site: Site, wake: WakeDocument) -> int:
    """What a wake of a template was given, of the newest that were rated; 0: nothing."""
    known = site.home.views.get(lessons.VIEW, TEMPLATE + wake.template_id)
    return dict(known.ratings).get(wake.key, 0) if known else 0


def rate(site: Site, asked: FormRequest) -> Notice:
    """Say how good a wake was."""
    rated = deeds.rate_run(site.home, asked.names["run"], stars_of(asked, STARS_MAX), asked.key)
    return Notice(f"Rated {rated.stars} of {STARS_MAX}.")
