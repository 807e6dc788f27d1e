"""A template is improved by an agent of its own: made where there is none, asked, and its proposals
decided on in the inbox."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapters.documents.improving import (
    SessionLine,
    TemplateWording,
    VersionFigures,
    session_lines,
    version_figures,
)
from adapters.documents.lessons import scope_lines
from adapters.text.improving import figures_line
from adapters.usecases.agents import AgentOptions, TimerResult, remove_timer, set_timer
from adapters.usecases.inputs import NONE
from adapters.usecases.kinds import AS_SET, KindAgent, living, ready
from adapters.usecases.resolve import nth_key
from domain.agent.agent import OF_TEMPLATE
from domain.agent.deciders import TEMPLATE_IMPROVER
from domain.errors import Refused, Remedy
from domain.lessons.lessons import TEMPLATE
from domain.templates import template as templates

SESSIONS_SHOWN = 20

if TYPE_CHECKING:
    from adapters.usecases.wake_agents import Requested
    from adapters.wiring import Home


def improver(
    home: "Home", template_id: str, wish: AgentOptions = AS_SET, categories: Sequence[str] = ()
) -> KindAgent:
    """The agent that improves a template, made where there is none. `categories`: the ids of those
    whose texts a new one may read; none: the template's, else its agents'. Raises Refused, code
    ``unknown_template``; ``out_of_scope``: nobody lives on it; or what `ready` refuses."""
    template = _template(home, template_id)
    subject = OF_TEMPLATE + template_id
    if not categories:
        lived = [home.services.agent(one).categories for one in template.instances]
        categories = template.categories or sorted({name for one in lived for name in one})
    if not (categories or living(home, TEMPLATE_IMPROVER, subject)):
        because = f"no agent lives on the template {template.name!r}, so there is nothing to learn"
        instead = Remedy("assign_template", template_id[:8])
        raise Refused("out_of_scope", because=because, instead=instead)
    name = f"{template.name} wording"
    return ready(home, TEMPLATE_IMPROVER, subject, name, categories, wish, has_timer=False)


def set_weekly(home: "Home", agent_id: str, given: str, key: str = "") -> "TimerResult | None":
    """Let the agent look by itself once a week, ``monday 09:00``, in place of what was set before;
    ``none``: no more. Where fewer than five facts are new, no model is asked. Raises Refused, code
    ``invalid_value``: it is no day and time."""
    known = [one.id for one in home.services.agent(agent_id).timers]
    made = None
    if given.strip().lower() != NONE:
        made = set_timer(
            home,
            agent_id,
            f"every {given.strip().removeprefix('every ')}",
            "",
            nth_key(key, 3),
            is_always=False,
        )
    kept = home.services.agent(agent_id).timers
    stands = [one.id for one in kept if made and one.schedule == made.schedule]
    for nth, one in enumerate((one for one in known if one not in stands), 4):
        remove_timer(home, agent_id, one, nth_key(key, nth))
    home.views.catch_up()
    return made


def ask(home: "Home", agent_id: str, words: str, key: str = "") -> "Requested":
    """Queue a session, for `run_wake`: on what the person says, or, where they say nothing, on the
    figures alone. Raises as `ask_agent` and `request_wake` do."""
    from adapters.usecases.wake_agents import ask_agent, request_wake

    again = nth_key(key, 2)
    if words.strip():
        return ask_agent(home, agent_id, words, "", again)
    return request_wake(home, agent_id, again)


def _template(home: "Home", template_id: str) -> templates.Template:
    """A template with the agents that live on it."""
    with home.services.agents.reading() as world:
        return templates.living(world.load(templates.TEMPLATE, template_id))


def figures_told(home: "Home", template_id: str, figures: Sequence[VersionFigures] = ()) -> str:
    """How the active version fares, in a line. `figures`: its `version_figures`, if known."""
    template, figures = _template(home, template_id), figures or version_figures(home, template_id)
    now = next((one for one in figures if one.active), None)
    lines = scope_lines(home, TEMPLATE + template_id, template.name)
    return figures_line(template.name, template.active, now, lines)


def wording(home: "Home", template_id: str) -> TemplateWording:
    """What stands on the page of a template: figures, and the sessions."""
    agent_id = living(home, TEMPLATE_IMPROVER, OF_TEMPLATE + template_id)
    figures = version_figures(home, template_id)
    shown = session_lines(home, template_id, agent_id, SESSIONS_SHOWN) if agent_id else []
    told = figures_told(home, template_id, figures)
    return TemplateWording(told, agent_id or None, figures, shown)


def sessions(home: "Home", template_id: str) -> list[SessionLine]:
    """The sessions about a template, the newest first; none where nobody improves it yet."""
    agent_id = living(home, TEMPLATE_IMPROVER, OF_TEMPLATE + template_id)
    return session_lines(home, template_id, agent_id) if agent_id else []
