"""`wakelog agent`: the group, `list`, `show`, `create`, and an agent's life."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from adapters.actions.agents import (
    Wish,
    assign_agent,
    assign_all,
    check_wish,
    delete_agent,
    destroy_agent,
    has_tasks_alone,
    pause_agent,
    resume_agent,
)
from adapters.actions.naming import pick_agent, pick_task
from adapters.cli import agent_steering, chatting, waking
from adapters.cli.agent_steering import after
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.agents import AgentsMade, agent_lines, agent_of, agent_page, all_agents
from adapters.documents.tasks import titles_among
from adapters.text.agent import told
from adapters.text.common import ID_SHOWN, local_time
from domain.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.actions.agents import Steered
    from adapters.documents.agents import AgentLine
    from adapters.wiring import Home

    Deed = Callable[[Home, str, str], Steered]

NONE_YET = (
    "There are no agents yet; make one for every open task with `wakelog agent create --all`."
)
NO_TASKS = "There are no open tasks; bring some in with `wakelog import TODO.md` first."


@click.group(
    "agent",
    epilog="AGENT is an agent's id, the beginning of it, its name, or its task.",
)
def agent_command() -> None:
    """Make, see and steer agents."""


# ------------------------------------------------------------------------------------------- see


@agent_command.command("list", epilog="Example: wakelog agent list --lifecycle dormant")
@click.option("--lifecycle", metavar="L", default="", help="active, dormant or destroyed only.")
@click.pass_obj
def list_agents(session: Session, lifecycle: str) -> None:
    """List agents: what they are doing, and when they wake next."""
    home = session.reading()
    now = home.services.clock.now()
    found = agent_lines(home, all_agents(home, lifecycle), now=now)
    if session.as_json:
        session.document(found)
    elif found:
        zone = home.settings.timezone
        rows = [_row(line, zone, now) for line in found]
        headings = ("ID", "Name", "Mode", "Life", "Status", "Next wake", "Last wake", "Wakes")
        session.table(headings, rows)
    else:
        session.say(f"No agent is {lifecycle}." if all_agents(home) else NONE_YET)


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
    return (
        line.id[:ID_SHOWN],
        line.name,
        line.mode,
        life,
        status,
        shown,
        last,
        line.wakes,
    )


@agent_command.command("show", epilog='Example: wakelog agent show "Fix the sink"')
@click.argument("agent", type=TEXT)
@click.pass_obj
def show(session: Session, agent: str) -> None:
    """Show all about an agent: life, settings, slots, subscriptions, timers, last wakes."""
    home = session.reading()
    found = agent_of(home, pick_agent(home, agent))
    page = agent_page(home, found, home.services.clock.now())
    if session.as_json:
        session.document(page)
    else:
        tokens = (token for one in page.subscriptions for token in one.tokens)
        named = {page.task_id, *(token.removeprefix("id:") for token in tokens)}
        click.echo(told(page, titles_among(home, named), home.settings.timezone))


# ------------------------------------------------------------------------------------------ make


@agent_command.command(
    "create",
    epilog='Examples: wakelog agent create "Fix the sink"; wakelog agent create --all',
)
@click.argument("task", type=TEXT, required=False)
@click.option("--task", "option", type=TEXT, metavar="TASK", help="The same as the argument.")
@click.option("--all", "is_all", is_flag=True, help="One for every open task that has none.")
@click.option("--name", type=TEXT, default="", metavar="N", help="Else the task's title.")
@click.option("--mode", default="", metavar="M", help="hybrid, autonomous or interactive.")
@click.option("--model", type=TEXT, default="", metavar="M", help="Else the home's model.")
@click.option("--template", type=TEXT, default="", metavar="T", help="Else its category's.")
@click.option("--turns", type=int, default=0, metavar="N", help="Per wake, 1 to 20; default 5.")
@key_option
@click.pass_obj
def create(  # noqa: PLR0913  one parameter for each option
    session: Session,
    *,
    task: str | None,
    option: str | None,
    is_all: bool,
    name: str,
    mode: str,
    model: str,
    template: str,
    turns: int,
    key: str,
) -> None:
    """Make an agent for a task; its first wake is queued, and runs with `wakelog wake`."""
    wanted = task or option
    if (wanted is None) != is_all or (task and option):
        because = "it is not clear for which task the agent is"
        raise Refused("invalid_value", because=because, instead="name one task, or give --all")
    if is_all and name:
        because = "--name and --all do not go together"
        raise Refused("invalid_value", because=because, instead="leave --name out")
    wish = Wish(mode, name, model, turns, template)
    check_wish(wish)
    if wanted is not None:
        _create_one(session, wanted, wish, key)
    else:
        _create_all(session, wish, key)


def _create_one(session: Session, wanted: str, wish: Wish, key: str) -> None:
    task_id = pick_task(session.reading(), wanted)
    home = session.writing()
    agent_id, is_new = assign_agent(home, task_id, wish, key)
    agent = agent_of(home, agent_id)
    done = f"Made the agent {agent.name!r} ({agent_id[:ID_SHOWN]}, {agent.mode})"
    after(session, agent_id, done if is_new else f"Made before under the key {key}")
    if is_new and agent.next_due:
        session.note("Its first wake is queued; run it with `wakelog wake`.")


def _create_all(session: Session, wish: Wish, key: str) -> None:
    home = session.reading()
    if wish.template or has_tasks_alone(home):
        home = session.writing()
    made, tasks = assign_all(home, wish, key)
    if session.as_json:
        lines = agent_lines(home, [one for one in all_agents(home) if one.id in made])
        session.document(AgentsMade(len(made), tasks - len(made), lines))
    elif not tasks:
        session.say(NO_TASKS)
    else:
        plural = "" if len(made) == 1 else "s"
        session.say(f"Made {len(made)} agent{plural}; {tasks - len(made)} had one already.")
        if made:
            session.note("Their first wakes are queued; run them with `wakelog wake`.")


# ------------------------------------------------------------------------------------------ life


def _live(session: Session, wanted: str, key: str, deed: "Deed", done: str) -> bool:
    """Do something about an agent's life, and tell; whether anything changed."""
    agent_id = pick_agent(session.reading(), wanted)
    came = deed(session.writing(), agent_id, key)
    agent_steering.tell(session, agent_id, came, key, done)
    return came.has_changed


@agent_command.command("pause", epilog='Example: wakelog agent pause "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def pause(session: Session, agent: str, key: str) -> None:
    """Let an agent sleep: what waits is dropped, and a running wake stops at its next step."""
    _live(session, agent, key, pause_agent, "Paused")


@agent_command.command("resume", epilog='Example: wakelog agent resume "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def resume(session: Session, agent: str, key: str) -> None:
    """Let a sleeping agent wake again; one wake is queued that sees what changed meanwhile."""
    if _live(session, agent, key, resume_agent, "Resumed"):
        session.note("A wake is queued that looks at what changed; run it with `wakelog wake`.")


@agent_command.command("destroy", epilog='Example: wakelog agent destroy "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def destroy(session: Session, agent: str, key: str) -> None:
    """End an agent for good; all it did can still be read. Its task may get a new one."""
    _live(session, agent, key, destroy_agent, "Destroyed")


@agent_command.command("delete", epilog='Example: wakelog agent delete "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def delete(session: Session, agent: str, key: str) -> None:
    """Take a destroyed agent off the list; its facts stay in the log."""
    _live(session, agent, key, delete_agent, "Deleted")


_OTHERS: Sequence[click.Command] = (
    *agent_steering.COMMANDS,
    waking.ask_command,
    chatting.chat_command,
)
for _other in _OTHERS:
    agent_command.add_command(_other)
