"""`wakelog agent`: the group, `list` and `show`; what changes agents stands in other modules."""

from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session, option
from adapters.documents import agents
from adapters.documents.tasks import titles_among
from adapters.text.agent import agent_text
from adapters.text.common import ID_SHOWN, local_time
from adapters.usecases.resolve import pick_agent

if TYPE_CHECKING:
    from adapters.documents.agents import AgentLine

NONE_YET = (
    "There are no agents yet; make one for every open task with `wakelog agent create --all`."
)


@group(
    "agent",
    epilog="AGENT is an agent's id, the beginning of it, its name, or its task.",
    later={"agent_edits": (), "wake": ("ask", "chat")},
)
def agent_command() -> None:
    """Make, see and steer agents."""


@command("agent list", example="--lifecycle dormant")
@option("--lifecycle=L", "active, dormant or destroyed only.", default="")
@option("--limit=N", "At most so many.", click.IntRange(min=1))
def list_agents(session: Session, lifecycle: str, limit: int | None) -> None:
    """List agents: what they are doing, and when they wake next."""
    home = session.reading()
    now = home.services.clock.now()
    found = agents.agent_lines(home, agents.all_agents(home, lifecycle, limit or -1), now=now)
    headings = ("ID", "Name", "Mode", "Life", "Status", "Next wake", "Last wake", "Wakes")
    rows = (_row(line, home.settings.timezone, now) for line in found)
    has_others = not (found or session.as_json) and agents.has_agents(home)
    session.listing(found, headings, rows, f"No agent is {lifecycle}." if has_others else NONE_YET)
    if session.as_json or not found:
        return
    if more := agents.count_agents(home, lifecycle) - len(found):
        session.note(f"{more} more; raise --limit to see them.")


def _row(line: "AgentLine", zone: str, now: str) -> tuple[object, ...]:
    life, status = line.lifecycle, str(line.run_status)
    if line.pause_reason:
        life += f" ({line.pause_reason})"
    if line.failures:
        status += f" ({line.failures} failed in a row)"
    elif line.stale:
        status += " (stale)"
    due = line.next_wake_at or ""
    shown = "now" if due and due <= now else local_time(due, zone)
    last = local_time(line.last_wake_at or "", zone)
    return (line.id[:ID_SHOWN], line.name, line.mode, life, status, shown, last, line.wakes)


@command("agent show", "agent", example='"Fix the sink"')
def show(session: Session, agent: str) -> None:
    """Show all about an agent: life, settings, slots, subscriptions, timers, last wakes."""
    home = session.reading()
    found = agents.agent_of(home, pick_agent(home, agent))
    page = agents.agent_page(home, found, home.services.clock.now())
    if not session.printed(page):
        tokens = (token for one in page.subscriptions for token in one.tokens)
        named = {page.task_id, *(token.removeprefix("id:") for token in tokens)}
        session.say(agent_text(page, titles_among(home, named), home.settings.timezone))
