"""Health and proof: positions, lag, queue, what is in doubt, and what parted in two columns."""

from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import asdict

from adapters.documents.status import status_document
from adapters.documents.wakes import run_document
from adapters.text.agent_output import newer_wake
from adapters.text.common import run_shown
from adapters.text.proof import newer_text
from adapters.web import text_diff
from adapters.web.http_types import FormRequest, Notice, Page
from adapters.web.site import Site

if TYPE_CHECKING:
    from adapters.documents.proof import DivergenceDetails, ProofDetails
    from adapters.web.jobs import JobName

STOPPED: "dict[JobName, str]" = {
    "proof": "Nothing is kept of it.",
    "forking": "Nothing is kept of it.",
    "bringing": "What came in stays; the rest comes with the same file, chosen again.",
    "making": "Those that are made stay; the rest can be made later.",
    "waking": "What ran stays; the rest waits to be run.",
}
ROWS_SHOWN = 50  # of each list; the JSON twin has all


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/health`."""
    proof = site.jobs.proof
    document = {
        **asdict(status_document(site.home)),
        "proof": {
            "state": proof.state,
            "at": proof.at or None,
            "result": proof.document,
            "error": proof.error or None,
            "appends_since": _since(site, proof.document),
        },
        "troubles": [text for _, text in site.jobs.troubles],
    }
    shown = {"most": ROWS_SHOWN, "starts": site.starts, "proof": proof}
    return Page("health.html", "Health", document, {**shown, "newer": _newer(site)})


def _since(site: Site, proved: "ProofDetails | None") -> int | None:
    """How many appends both logs have grown by since they were proved."""
    if proved is None:
        return None
    logs = (site.home.services.journal, site.home.services.agents)
    known = [(name.partition(":")[0], head.n) for name, head in proved.heads.items()]
    ends = {log.name: max((n for name, n in known if name == log.name), default=0) for log in logs}
    return sum(log.tail().n - ends[log.name] for log in logs)


def prove(site: Site, asked: FormRequest) -> Notice:
    """Prove both logs, in a thread; the page shows the result when it is there."""
    site.jobs.prove(asked.key)
    return Notice("Proving both logs: the result appears here.")


def stop(site: Site, asked: FormRequest) -> Notice:
    """End work at its next step."""
    asked.needed("nonce")
    name = cast("JobName", asked.names["job"])
    is_stopped = site.jobs.halt(name)
    return Notice(f"Stopped. {STOPPED[name]}" if is_stopped else "It has ended already.")


# -------------------------------------------------------------------------------------------- proof
# Proof from the page: how far it is, and what parted in two columns, recorded and made again.

SHOWN_MAX = 20  # divergences in two columns; the JSON has all that are known


def show_proof(site: Site, asked: FormRequest) -> Page:
    """The page `/proof`: of the whole home."""
    return _proof_page(site, "Proof of this home", "", _divergences(site), _newer(site))


def show_wake_proof(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/proof`: what the last proof says of one wake."""
    run_key = asked.names["run"]
    site.wake(run_key)  # it is there
    title, found = f"Proof of wake {run_shown(run_key)}", divergences_of(site, run_key)
    made = newer_wake(run_document(site.home, run_key).steps)
    return _proof_page(site, title, run_key, found, f"not proved: {made}" if made else "")


def divergences_of(site: Site, run_key: str) -> "list[DivergenceDetails]":
    """What the last proof found in the rows of a wake, or in what they led to."""
    key = run_key.partition("@")[0]
    return [one for one in _divergences(site) if key in one.stream or one.wake == key]


def _divergences(site: Site) -> "list[DivergenceDetails]":
    proved = site.jobs.proof.document
    return proved.divergences if proved else []


def _newer(site: Site) -> str:
    """What the last proof did not prove, as a newer wakelog made it."""
    proved = site.jobs.proof.document
    return newer_text(proved.newer) if proved and proved.newer else ""


def _proof_page(
    site: Site, title: str, run_key: str, found: "list[DivergenceDetails]", newer: str
) -> Page:
    proof = site.jobs.proof
    document: dict[str, Any] = {
        "run_key": run_key or None,
        "state": proof.state,
        "at": proof.at or None,
        "error": proof.error or None,
        "digest": proof.document.digest if proof.document else None,
        "ok": not (found or newer) if proof.document else None,
        "divergences": [asdict(one) for one in found],
    }
    shown = [(one, text_diff.line_pairs(one.actual, one.expected)) for one in found[:SHOWN_MAX]]
    values = {"proof": proof, "shown": shown, "run_key": run_key, "found": len(found)}
    values["newer"] = newer
    return Page("proof.html", title, document, values)
