"""An agent's report and its history, the newest part of it."""

from msgspec import Struct

from adapters.documents.agent_output import ChangeSince, changes_since
from adapters.documents.wakes import without_report
from adapters.web.site import Site
from domain.wake.wake import anyones
from projections import agents, reports

HISTORY_SHOWN = 20


class ReportBefore(Struct, frozen=True):
    """A report of the history."""

    run_key: str
    at: str
    tldr: str
    one_liner: str


class ReportPart(Struct, frozen=True):
    """An agent's report on a page: as `report` prints it, with the newest of its history."""

    task_id: str
    agent_id: str
    run_key: str
    at: str
    tldr: str
    one_liner: str
    content: str
    history: list[ReportBefore]
    model: str | None
    stale: bool
    changes: list[ChangeSince]
    without_report: str | None


def report_of(site: Site, agent_id: str) -> ReportPart | None:
    """The document of `report`, with the newest of its history; None where there is none yet."""
    found = site.home.views.page(
        reports.VIEW, shelf=agent_id, newest_first=True, limit=HISTORY_SHOWN
    )
    if not found:
        return None
    agent = site.home.views.get(agents.VIEW, agent_id)
    current = found[0]
    with site.home.services.agents.reading() as world:
        history = [
            ReportBefore(one.run_key, one.at, world.text(one.tldr), one.one_liner) for one in found
        ]
        begun = anyones(world, current.run_key).started
        content = world.text(current.content)
    return ReportPart(
        task_id=agent.task_id if agent else "",
        agent_id=agent_id,
        run_key=current.run_key,
        at=current.at,
        tldr=history[0].tldr,
        one_liner=current.one_liner,
        content=content,
        history=history,
        model=begun.model if begun else None,
        stale=agent.is_stale if agent else False,
        changes=changes_since(site.home, agent, current) if agent else [],
        without_report=without_report(site.home, agent),
    )
