"""The wakes over time, and one wake as it happened: causes, prompt, turns, calls, proposals."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.reading import prompt_document, shown
from adapters.documents.wakes import WakeLine, WakeStep, run_document, wake_document
from adapters.web import charts, looking
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.inbox import Card, cards_of, kept_on
from adapters.web.lessons import stars_given
from adapters.web.site import SCAN_MAX, Site, page_size
from adapters.web.words import local
from projections import agents, inbox, wakes
from projections.inbox import TABS, SetDocument
from projections.wakes import WakeDocument

if TYPE_CHECKING:
    from adapters.proof.prove import DivergenceDetails

CHUNK = 250
CHARTED = 1_000  # wakes, the newest
OUTCOMES = ("completed", "failed", "skipped", "superseded")
STATES = ("queued", "waiting", "running")
REASONS = ("subscription", "timer", "user", "creation", "manual", "recovery")
FILTERS = ("reason", "outcome", "agent", "template")
EVERY = tuple(status for statuses in TABS.values() for status in statuses)
STEPS_SHOWN = 400
DOORS = ("replay", "fork")  # commands that look closer at a wake
HIDDEN_STEPS = ("wake.started.1",)  # told in the head, the causes and the prompt


class WakeRow(WakeLine, frozen=True):
    """A wake of the page `/wakes`."""

    agent_name: str


class StepRow(WakeStep, frozen=True):
    """A step of the page of a wake, in words."""

    what: str


class TurnRow(Struct, frozen=True):
    """The steps of a turn."""

    turn: int
    steps: list[StepRow]


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes`, newest first."""
    query, size = asked.query, page_size(asked)
    rows: list[WakeRow] = []
    older, scanned = "", 0
    for one in _newest_first(site, query.get("agent", ""), query.get("before", "")):
        if len(rows) == size or scanned == SCAN_MAX:
            break
        older, scanned = one.place, scanned + 1
        if _is_wanted(one, query):
            rows.append(_row(site, one))
    else:
        older = ""
    is_first = not query.get("before")
    return Page(
        "wakes.html",
        "Wakes",
        {"wakes": rows, "next": asked.with_query(before=older) if older else None},
        {
            **(_chart(site, query.get("agent", "")) if is_first else {"drawn": []}),
            "reasons": REASONS,
            "outcomes": (*OUTCOMES, *STATES),
            "filters": {name: query.get(name, "") for name in FILTERS},
            "older": asked.with_query(before=older) if older else "",
            "newest": asked.with_query(before="") if not is_first else "",
        },
    )


def _newest_first(site: Site, agent_id: str, before: str) -> Iterator[WakeDocument]:
    while True:  # bounded by who takes them
        chunk = site.home.views.page(
            wakes.VIEW, shelf=agent_id or None, before=before, newest_first=True, limit=CHUNK
        )
        yield from chunk
        if len(chunk) < CHUNK:
            return
        before = chunk[-1].place


def _is_wanted(one: WakeDocument, query: Mapping[str, str]) -> bool:
    is_of_it = query.get("template", "") in ("", one.template_id)
    is_reason = query.get("reason", "") in ("", one.reason)
    return is_of_it and is_reason and query.get("outcome", "") in ("", one.outcome, one.state)


def _row(site: Site, one: WakeDocument) -> WakeRow:
    agent = site.home.views.get(agents.VIEW, one.agent_id)
    name = agent.name if agent else ""
    return WakeRow(**asdict(wake_document(site.home, one)), agent_name=name)


def _chart(site: Site, agent_id: str) -> dict[str, Any]:
    found = site.home.views.page(
        wakes.VIEW, shelf=agent_id or None, newest_first=True, limit=CHARTED
    )
    outcomes: dict[date, Counter[str]] = {}
    reasons: dict[date, Counter[str]] = {}
    for one in found:
        if not one.queued_at:
            continue
        day = local(one.queued_at, site.zone).date()
        outcomes.setdefault(day, Counter())[one.outcome or one.state] += 1
        reasons.setdefault(day, Counter())[one.reason] += 1
    drawn = [
        _drawn("Outcome", outcomes, (*OUTCOMES, *STATES)),
        _drawn("Reason", reasons, REASONS),
    ]
    return {
        "drawn": drawn if found else [],
        "charted": CHARTED if len(found) == CHARTED else 0,
    }


def _drawn(name: str, counts: dict[date, Counter[str]], kinds: Sequence[str]) -> dict[str, Any]:
    total = sum(counts.values(), Counter[str]())
    seen = [(kind, total[kind]) for kind in kinds if total[kind]]
    chart = charts.days(counts, [kind for kind, _ in seen], f"Wakes by day and {name.lower()}")
    return {"name": name, "chart": chart, "seen": seen}


# ------------------------------------------------------------------------------------------ one


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page of a wake."""
    run_key = asked.names["run"]
    wake = site.home.views.get(wakes.VIEW, run_key)
    if wake is None:
        raise missing("unknown_wake", "wake", run_key)
    prompt = shown(site.home, run_key)
    agent = site.home.views.get(agents.VIEW, wake.agent_id)
    made = site.home.views.get(inbox.VIEW, wake.set_id)
    run = run_document(site.home, run_key)
    document = {
        **asdict(run),
        "agent_name": agent.name if agent else "",
        "template_id": wake.template_id or None,
        "stars": stars_given(site, wake) or None,
        "prompt": prompt_document(run_key, prompt) if prompt else None,
        "proposed": _proposed(site, asked, made) if made and made.is_opened else [],
    }
    steps = [one for one in run.steps if one.kind not in HIDDEN_STEPS]
    return Page(
        "wake.html",
        f"Wake {run_key[:8]}",
        document,
        {
            "turns": _turns(steps[:STEPS_SHOWN]),
            "left_out": max(0, len(steps) - STEPS_SHOWN),
            "labels": site.labels(),
            "proof": site.jobs.proof,
            "about": _about(site, run_key),
            "doors": DOORS,
            "before": looking.before(site, wake),
        },
    )


def _proposed(site: Site, asked: FormRequest, made: SetDocument) -> list[Card]:
    kept = [one for one in kept_on(site, asked) if one[0] == made.id]
    return cards_of(site, [made], EVERY, kept)


def _turns(steps: list[WakeStep]) -> list[TurnRow]:
    """The steps by turn; 0 is what belongs to none."""
    turns: list[TurnRow] = []
    for step in steps:
        nth = step.data.get("turn") or (turns[-1].turn if turns else 0)
        if not turns or turns[-1].turn != nth:
            turns.append(TurnRow(nth, []))
        what = step.kind.split(".")[1].replace("_", " ")
        turns[-1].steps.append(StepRow(**asdict(step), what=what))
    return turns


def _about(site: Site, run_key: str) -> "list[DivergenceDetails]":
    """What the last proof found in the rows of a wake."""
    proved = site.jobs.proof.document
    return [one for one in proved.divergences if run_key in one.stream] if proved else []
