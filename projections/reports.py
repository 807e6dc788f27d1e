"""Reports: drafted by a wake, the agent's own once its wake has completed (SPEC 7, 10).

One document for each wake that drafted one. It comes to its agent's shelf when the head of the
agent's report moves to it, so the newest on a shelf is the current one and the others are its
history; what a wake drafted that then failed stands on no shelf."""

from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import AgentReported
from domain.log.state import RecordedEvent
from domain.log.wire import Words
from domain.wake.wake import ReportDrafted
from projections.view import View, position
from projections.wakes import wake_sources


class ReportDocument(Struct, frozen=True):
    """`agent_id` and `at` are empty while it is only a draft; `at` is when it became the head."""

    run_key: str
    drafted_at: str
    content: Words
    tldr: Words
    one_liner: str
    agent_id: str = ""
    at: str = ""
    place: str = ""


def keys(row: RecordedEvent) -> tuple[str, ...]:
    match row.fact:
        case ReportDrafted():
            return (row.entity,)
        case AgentReported(run_key=run_key):
            return (run_key,)
        case _:
            return ()


def apply(document: ReportDocument | None, row: RecordedEvent) -> ReportDocument | None:
    """The wake's report after this row: the last draft counts."""
    match document, row.fact:
        case _, ReportDrafted(content=content, tldr=tldr, one_liner=one_liner):
            return ReportDocument(row.entity, row.at, content, tldr, one_liner)
        case ReportDocument(), AgentReported():
            return replace(document, agent_id=row.entity, at=row.at, place=position(row))
        case _:
            return document


VIEW: View[ReportDocument] = View(
    "reports", "agent", 1, ReportDocument, keys, apply, shelf=attrgetter("agent_id"),
    entities=("wake", "agent"), sources=wake_sources,
)  # fmt: skip
