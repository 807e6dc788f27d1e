"""The page of a wake: its turns with a bar each, the one that is looked at, causes, proposals."""

from bisect import bisect_left
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.reading import prompt_document, shown
from adapters.documents.wakes import WakeDetails, run_document, run_named, set_of, wake_of
from adapters.text.common import ID_SHOWN
from adapters.web import causes, looking, prompt_shown, proving, timeline, turns
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.inbox import Card, cards_of, kept_on
from adapters.web.lessons import stars_given
from adapters.web.site import Site
from adapters.web.words import lasting
from domain.ports import Section
from domain.timestamps import instant
from projections import agents, wakes
from projections.inbox import TABS, SetDocument
from projections.wakes import WakeDocument

EVERY = tuple(status for statuses in TABS.values() for status in statuses)
DOORS = ("replay", "fork")  # commands that look closer at a wake

Parts = list[tuple[str, Section]]


class TurnLine(Struct, frozen=True):
    """A turn in the JSON of the page: what it went by with, in seconds."""

    turn: int
    seconds: float
    segments: list[timeline.Segment]


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN`; ``?turn=`` names the moment, ``?find=`` words of the prompt."""
    run_key = asked.names["run"]
    wake = wake_of(site.home, run_key)
    if wake is None:
        raise missing("unknown_wake", "wake", run_key)
    prompt = shown(site.home, wake)
    agent = site.home.views.get(agents.VIEW, wake.agent_id)
    made = set_of(site.home, wake)
    run = run_document(site.home, run_key)
    times = timeline.times(run.steps, "" if wake.ended_at else site.now)
    before, after = neighbours(site, wake)
    document = {
        **asdict(run),
        "agent_name": agent.name if agent else "",
        "template_id": wake.template_id or None,
        "stars": stars_given(site, wake) or None,
        "prompt": prompt_document(run_key, prompt) if prompt else None,
        "proposed": _proposed(site, asked, made) if made and made.is_opened else [],
        "timeline": [TurnLine(one.turn, one.seconds, list(one.segments)) for one in times],
        "earlier": before or None,
        "later": after or None,
    }
    return Page(
        "wake.html",
        f"Wake {run_named(site.home, run_key, ID_SHOWN)}",
        document,
        {
            **_conversation(asked, run, times),
            **_prompt(site, asked, wake, prompt),
            "sentences": causes.sentences(site, wake, run.causes),
            "lasted": _lasted(wake),
            "labels": site.labels(),
            "proof": site.jobs.proof,
            "about": proving.about(site, run_key),
            "doors": DOORS,
            "before": looking.before(site, wake),
        },
    )


def neighbours(site: Site, wake: WakeDocument) -> tuple[str, str]:
    """The run keys of the same agent's wakes before and after; empty where there is none.

    What comes after is found by halving the log: a view reads backwards only.
    """

    def newest(before: str) -> WakeDocument | None:
        found = site.home.views.page(
            wakes.VIEW, shelf=wake.agent_id, before=before, newest_first=True, limit=1
        )
        return found[0] if found else None

    def is_beyond(n: int) -> bool:
        found = newest(f"{n:012d}")
        return found is not None and found.place > wake.place

    last = site.home.services.agents.tail().n + 2
    n = bisect_left(range(last), True, lo=wake.queued_n, key=is_beyond)
    earlier, later = newest(wake.place), newest(f"{n:012d}") if n < last else None
    return earlier.run_key if earlier else "", later.run_key if later else ""


def _conversation(
    asked: FormRequest, run: WakeDetails, times: list[timeline.TurnTimes]
) -> dict[str, Any]:
    found = turns.by_turn(run.steps)
    here, call = turns.chosen(found, asked.query.get("turn", ""))
    return {
        "moments": turns.moments(found, times, here),
        "turn": turns.turn_of(found, here, call),
        "shapes": timeline.SHAPES,
        "sums": {kind: spent for kind, spent in timeline.sums(times).items() if spent},
        "total": timeline.svg(_merged(times), sum(one.seconds for one in times)),
        "total_told": timeline.told(times),
    }


def _merged(times: list[timeline.TurnTimes]) -> list[timeline.Segment]:
    return [timeline.Segment(kind, spent) for kind, spent in timeline.sums(times).items() if spent]


def _prompt(
    site: Site,
    asked: FormRequest,
    wake: WakeDocument,
    prompt: tuple[list[Section], list[Section]] | None,
) -> dict[str, Any]:
    earlier = looking.before(site, wake)
    before = wake_of(site.home, earlier) if earlier else None
    was = shown(site.home, before) if before else None
    find = asked.query.get("find", "").strip()
    found = prompt_shown.sections(_parts(prompt), _parts(was) if was else None, find, site.zone)
    return {
        "find": find,
        "sections": found,
        "hits": sum(one.hits for one in found),
        "was_shown": earlier,
    }


def _parts(prompt: tuple[list[Section], list[Section]] | None) -> Parts:
    if prompt is None:
        return []
    return [
        (name, one) for name, part in zip(("system", "user"), prompt, strict=True) for one in part
    ]


def _lasted(wake: WakeDocument) -> dict[str, str]:
    """How long it waited, and how long it ran, in words."""

    def between(start: str, end: str) -> str:
        if not (start and end):
            return ""
        return lasting((instant(end) - instant(start)).total_seconds())

    return {
        "waited": between(wake.queued_at, wake.started_at),
        "ran": between(wake.started_at, wake.ended_at),
    }


def _proposed(site: Site, asked: FormRequest, made: SetDocument) -> list[Card]:
    kept = [one for one in kept_on(site, asked) if one[0] == made.id]
    return cards_of(site, [made], EVERY, kept)
