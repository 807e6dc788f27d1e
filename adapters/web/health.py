"""Health: positions, lag, queue, what is in doubt, and the last proof with its digest."""

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from adapters.documents.status import status_document
from adapters.web.asking import FormRequest, Notice, Page
from adapters.web.site import Site

if TYPE_CHECKING:
    from adapters.documents.proof import ProofDetails

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
    starts = "wakelog run --serve" if site.home.place.is_folder else "wakelog worker"
    shown = {"most": ROWS_SHOWN, "settings": site.home.settings, "starts": starts}
    return Page("health.html", "Health", document, shown)


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
    asked.needed("nonce")
    site.jobs.prove()
    return Notice("Proving both logs: the result appears here.")
