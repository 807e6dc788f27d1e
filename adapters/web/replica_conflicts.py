"""The card of a task, or of what belongs to none, on which two machines of a home said different
things (ADR 71)."""

from typing import Any

from msgspec.structs import asdict

from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.replica_conflicts import replica_conflicts_of
from adapters.documents.tasks import catalog_of
from adapters.text.conflicts import subject_of
from adapters.usecases import resolve_conflict
from adapters.web.http_types import FormRequest, Notice, made_from, stale
from adapters.web.site import Site, page_of_conflict

BOTH = "both:"  # before the machine whose text stands, where the other becomes a note

HEADINGS = {
    "timers": "Timers run on two machines at once",
    "cycle": "Links block in a circle",
    "verdicts": "A proposal was decided differently on two machines",
}
VERBS = {
    "timers": "Keep the timer of NAME",
    "cycle": "Take the link of NAME away",
}
"""What a button does with the machine that it names, by the kind of the conflict."""


def of_none(site: Site, place: str) -> list[dict[str, Any]]:
    """The cards of what belongs to no task and is shown on this page."""
    known = catalog_of(site.home).categories
    found = [one for one in replica_conflicts_of(site.home, "") if page_of_conflict(one) == place]
    return [shown(one, sum(side.value in known for side in one.values)) for one in found]


def shown(one: ConflictDetails, namesakes: int = 0) -> dict[str, Any]:
    """What the page shows of a conflict, and what its form carries; `namesakes`: so many categories
    have one name, of which none is chosen."""
    sides = {side.replica: side for side in one.values}
    is_fixed = one.kind == "verdicts" and one.stands in sides  # only what stands can be kept
    heading = HEADINGS.get(one.kind, f"Two machines differ on {subject_of(one)}")
    return {
        **asdict(one),
        "namesakes": namesakes,
        "named": subject_of(one),
        "heading": f"{namesakes} categories are called {one.title!r}" if namesakes else heading,
        "sides": [sides[one.stands]] if is_fixed else [*sides.values()],
        "verb": _verb(one),
        "is_text": one.field in resolve_conflict.TEXTS,
        "made_from": _made_from(one),
    }


def settle_of_none(site: Site, asked: FormRequest) -> Notice:
    """Let what a machine said of what belongs to no task stand."""
    return settle(site, asked, "", asked.needed("field"), asked.needed("keep"))


def settle(site: Site, asked: FormRequest, task_id: str, field: str, side: str) -> Notice:
    """Let what a machine said of a task, or of none, stand, as the form shows it. Raises Refused:
    the machines say something else by now, or it is settled.
    """
    found = [one for one in replica_conflicts_of(site.home, task_id) if one.field == field]
    was = [_made_from(one) for one in found]
    if not resolve_conflict.is_settled(site.home, asked.key) and was != [asked.needed("was.sides")]:
        raise stale("what the machines say was changed or settled since")
    is_both, machine = side.startswith(BOTH), side.removeprefix(BOTH)
    resolve_conflict.settle_machines(site.home, task_id, field, machine, asked.key, is_both=is_both)
    said = subject_of(found[0]) if found else "it"
    return Notice(f"Settled {said}." + (" The other text is a note." if is_both else ""))


def _verb(one: ConflictDetails) -> str:
    """What a button does; NAME is the machine."""
    stands = next((side.value for side in one.values if side.replica == one.stands), "")
    if one.kind == "verdicts" and stands:
        return f"Keep it {stands.partition(' ')[0]}"
    return VERBS.get(one.kind, "Keep what NAME says")


def _made_from(one: ConflictDetails) -> str:
    return made_from(*(part for side in one.values for part in (side.replica, side.value)))
