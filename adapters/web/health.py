"""Health: positions, lag, queue, what is in doubt, and the last proof with its digest."""

from typing import Any

from adapters.documents.status import status_document
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
            "appends_since": _since(site, proof.document),
        },
        "troubles": [text for _, text in site.jobs.troubles],
    }
    return Page(
        "health.html", "Health", document, {"most": ROWS_SHOWN, "settings": site.home.settings}
    )


def _since(site: Site, proved: dict[str, Any]) -> int | None:
    """How many appends both logs have grown by since they were proved."""
    heads = proved.get("heads")
    if heads is None:
        return None
    logs = (site.home.desk.journal, site.home.desk.agents)
    known = [(name.partition(":")[0], int(head["n"])) for name, head in heads.items()]
    ends = {log.name: max((n for name, n in known if name == log.name), default=0) for log in logs}
    return sum(log.tail().n - ends[log.name] for log in logs)


def prove(site: Site, asked: Asked) -> Told:
    """Prove both logs, in a thread; the page shows the result when it is there."""
    asked.needed("nonce")
    site.jobs.prove()
    return Told("Proving both logs: the result appears here.")
