"""Templates that improve, as JSON: how versions fared, sessions, and what became of them."""

from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.inbox import set_name
from adapters.documents.ranks import ranks_of
from adapters.documents.wakes import WakeLine, own_wake_of, wake_document
from domain.lessons.lessons import LESSONS, TEMPLATE
from domain.templates import template as templates
from domain.wake.template_context import facts_of, figures_of
from projections import inbox, wakes
from projections.wakes import WakeDocument

if TYPE_CHECKING:
    from adapters.wiring import Home


class ToolFigures(Struct, frozen=True):
    """How proposals of a kind fared. `edited`: of the accepted ones, with other values."""

    tool: str
    decided: int
    accepted: int
    edited: int


class VersionFigures(Struct, frozen=True):
    """How a version of a template fared: its wakes, of which `idle` ones came to nothing, what was
    decided of its proposals, and the mean of the stars that you gave; null: none."""

    version: int
    active: bool
    wakes: int
    idle: int
    decided: int
    accepted: int
    stars: float | None
    tools: list[ToolFigures]


class ImprovingSession(Struct, frozen=True):
    """What `template improve` prints: how each version fared, the active one first; the wake of the
    session, null where none ran; what was said; and the proposals, as they are named."""

    template_id: str
    agent_id: str
    figures: list[VersionFigures]
    wake: WakeLine | None
    answer: str | None
    proposals: list[str]


class SessionLine(Struct, frozen=True):
    """A session: a wake of the agent that improves a template. `proposal` names what it proposed,
    `status` is what became of that, `stars` what you gave it; each null where there is none."""

    run_key: str
    at: str
    outcome: str | None
    proposal: str | None
    summary: str | None
    status: str | None
    stars: int | None


class TemplateWording(Struct, frozen=True):
    """What the page of a template says of its wording: how the active version does, in words and
    figures, and the newest sessions. `agent_id`: who improves it, null before there is one."""

    told: str
    agent_id: str | None
    figures: list[VersionFigures]
    sessions: list[SessionLine]


def version_figures(home: "Home", template_id: str) -> list[VersionFigures]:
    """How the versions of a template fared, the active one first, then the newest."""
    with home.services.agents.reading() as world:
        active = templates.load(world, template_id).active
        found = figures_of(facts_of(world, template_id), active)
    return [
        VersionFigures(
            version=one.version,
            active=one.version == active,
            wakes=one.wakes,
            idle=one.idle,
            decided=one.decided,
            accepted=one.accepted,
            stars=one.stars,
            tools=[
                ToolFigures(each.tool, each.decided, each.accepted, each.edited)
                for each in one.tools
            ],
        )
        for one in found
    ]


def session_lines(
    home: "Home", template_id: str, agent_id: str, limit: int = -1
) -> list[SessionLine]:
    """The sessions about a template, the newest first, at most so many; negative: all."""
    ranked = ranks_of(home)
    with home.services.agents.reading() as world:
        stars = dict(world.load(LESSONS, TEMPLATE + template_id).ratings)
    found: list[SessionLine] = []
    for wake in home.views.page(wakes.VIEW, shelf=agent_id, newest_first=True, limit=limit):
        one = wake_document(home, wake)
        sets = [home.views.get(inbox.VIEW, each) for each in wake.set_ids]
        made = next((each for each in sets if each and each.items), None)
        item = made.items[-1] if made else None
        found.append(
            SessionLine(
                run_key=one.run_key,
                at=one.started_at or one.queued_at,
                outcome=one.outcome,
                proposal=f"{set_name(ranked, made.id)}.{item.number}" if made and item else None,
                summary=item.summary if item else None,
                status=item.status if item else None,
                stars=stars.get(wake.key),
            )
        )
    return found


def proposals_of(home: "Home", wake: WakeDocument) -> list[str]:
    """How the proposals of a wake are named."""
    ranked = ranks_of(home)
    sets = [home.views.get(inbox.VIEW, one) for one in wake.set_ids]
    return [
        f"{set_name(ranked, one.id)}.{item.number}" for one in sets if one for item in one.items
    ]


def session_document(
    home: "Home", template_id: str, agent_id: str, run_key: str, answer: str
) -> ImprovingSession:
    """The document of a session that has run; of none, where `run_key` is empty."""
    wake = own_wake_of(home, run_key) if run_key else None
    return ImprovingSession(
        template_id=template_id,
        agent_id=agent_id,
        figures=version_figures(home, template_id),
        wake=wake_document(home, wake) if wake else None,
        answer=answer or None,
        proposals=proposals_of(home, wake) if wake else [],
    )
