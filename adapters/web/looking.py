"""Looking back from a wake: the world just before it, and how it differs from the one before."""

from typing import Any

from adapters.documents.diffs import WakesDiff, wakes_diff
from adapters.documents.timetravel import around, at_document, wake_seen
from adapters.documents.wakes import wake_of
from adapters.text.common import run_shown
from adapters.text.timetravel import tokens_line
from adapters.timetravel.place import Place, past_of
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.comparing import near, near_later
from adapters.web.plain_text import compared
from adapters.web.site import Site
from domain.errors import Refused
from projections import wakes
from projections.wakes import WakeDocument

EARLIER_MAX = 50  # wakes that are looked through for one that ran


def show_at(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/at`: the document of `at`, of the wake's task and its links."""
    place, wake = _place(site, asked.names["run"])
    own = wake.task_id or site.home.services.agent(wake.agent_id).task
    values = {"wake": wake, "command": f"at {run_shown(wake.run_key, 12)}"}
    document = at_document(place, around(place, own))
    return Page("before.html", f"The world before wake {run_shown(wake.run_key)}", document, values)


def show_diff(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/diff`: the document of `diff` with ``?with=``, else the wake before."""
    place, wake = _place(site, asked.names["run"])
    other = asked.query.get("with", "") or before(site, wake)
    if not other:
        because = "no wake of this agent ran before it"
        raise Refused("no_page", because=because, instead="compare later ones")
    earlier, was = _place(site, other)
    sides = (wake_seen(one.past, one.spot.run_key, one.replica) for one in (earlier, place))
    document = wakes_diff(*sides)
    values = {
        **_told(document, site.zone),
        "wake": wake,
        "was": was,
        "is_next": not asked.query.get("with", ""),
        "command": f"diff {run_shown(was.run_key, 12)} {run_shown(wake.run_key, 12)}",
    }
    return Page(
        "wakes_diff.html", f"What differs in wake {run_shown(wake.run_key)}", document, values
    )


def _told(document: WakesDiff, zone: str) -> dict[str, Any]:
    """What differs, with the words that came and went."""
    both = (document.report.a, document.report.b)
    pairs = zip(*((one.tldr, one.content) if one else ("", "") for one in both), strict=True)
    names = ("model", "reason", "outcome")
    told = document.tokens
    is_unknown = told.a.input_tokens is told.b.input_tokens is None
    return {
        "named": [(name.capitalize(), getattr(document, name)) for name in names],
        "report": [near_later(*compared(one, other, zone)) for one, other in pairs if one != other],
        "sections": [
            (one.section, len(one.b or ""), near_later(*compared(one.a or "", one.b or "", zone)))
            for one in document.prompt
            if not one.same
        ],
        "same": [one.section for one in document.prompt if one.same],
        "replies": [
            (one, near_later(*compared(one.a or "", one.b or "", zone)) if one.a != one.b else [])
            for one in document.replies
        ],
        "near": lambda one, other: near(*compared(one, other, zone)),
        "tokens": "" if is_unknown else tokens_line(document.tokens).replace("->", "→"),
    }


def before(site: Site, wake: WakeDocument) -> str:
    """The run key of the same agent's wake that ran before; empty where none did."""
    earlier = site.home.views.page(
        wakes.VIEW, shelf=wake.agent_id, before=wake.place, newest_first=True, limit=EARLIER_MAX
    )
    return next((one.run_key for one in earlier if one.started_at), "")


def _place(site: Site, run_key: str) -> tuple[Place, WakeDocument]:
    wake = wake_of(site.home, run_key)
    if wake is None:
        raise missing("unknown_wake", "wake", run_key)
    past = past_of(site.home)
    spot = past.run(wake.key, wake.replica, wake.queued_n, 0)
    return Place(site.home, past, spot, run_key, wake), wake
