"""Health: positions, lag, queue, what is in doubt, and the last proof with its digest."""

from adapters.cli.status_documents import status_document
from adapters.web.asking import Asked, Page, Told
from adapters.web.site import Site

ROWS_SHOWN = 50  # of each list; the JSON twin has all


def show(site: Site, asked: Asked) -> Page:
    """The page `/health`."""
    proof = site.jobs.proof
    document = {
        **status_document(site.home),
        "proof": {
            "state": proof.state,
            "at": proof.at or None,
            "result": proof.document or None,
            "error": proof.error or None,
        },
        "troubles": [text for _, text in site.jobs.troubles],
    }
    return Page(
        "health.html", "Health", document, {"most": ROWS_SHOWN, "settings": site.home.settings}
    )


def prove(site: Site, asked: Asked) -> Told:
    """Prove both logs, in a thread; the page shows the result when it is there."""
    asked.needed("nonce")
    site.jobs.prove()
    return Told("Proving both logs: the result appears here.")
