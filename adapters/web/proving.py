"""Proof from the page: how far it is, and what parted in two columns, recorded and made again."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from adapters.documents.wakes import wake_of
from adapters.text.common import run_shown
from adapters.web import columns
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.site import Site

if TYPE_CHECKING:
    from adapters.documents.proof import DivergenceDetails

SHOWN_MAX = 20  # divergences in two columns; the JSON has all that are known


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/proof`: of the whole home."""
    return _page(site, "Proof of this home", "", _found(site))


def show_wake(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/proof`: what the last proof says of one wake."""
    run_key = asked.names["run"]
    if wake_of(site.home, run_key) is None:
        raise missing("unknown_wake", "wake", run_key)
    return _page(site, f"Proof of wake {run_shown(run_key)}", run_key, about(site, run_key))


def about(site: Site, run_key: str) -> "list[DivergenceDetails]":
    """What the last proof found in the rows of a wake, or in what they led to."""
    key = run_key.partition("@")[0]
    return [one for one in _found(site) if key in one.stream or one.wake == key]


def _found(site: Site) -> "list[DivergenceDetails]":
    proved = site.jobs.proof.document
    return proved.divergences if proved else []


def _page(site: Site, title: str, run_key: str, found: "list[DivergenceDetails]") -> Page:
    proof = site.jobs.proof
    document: dict[str, Any] = {
        "run_key": run_key or None,
        "state": proof.state,
        "at": proof.at or None,
        "error": proof.error or None,
        "digest": proof.document.digest if proof.document else None,
        "ok": not found if proof.document else None,
        "divergences": [asdict(one) for one in found],
    }
    shown = [(one, columns.pairs(one.actual, one.expected)) for one in found[:SHOWN_MAX]]
    values = {"proof": proof, "shown": shown, "run_key": run_key, "found": len(found)}
    return Page("proof.html", title, document, values)
