"""`wakelog agent create`, `pause`, `resume`, `sleep`, `destroy` and `delete`: an agent's life."""

from typing import TYPE_CHECKING

import click

from adapters.actions.agents import (
    Wish,
    assign_agent,
    assign_all,
    check_wish,
    delete_agent,
    destroy_agent,
    pause_agent,
    resume_agent,
    sleep_agent,
    tasks_alone,
)
from adapters.actions.inputs import beginning
from adapters.actions.naming import pick_agent, pick_task
from adapters.cli.agent_steering import after, tell
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.agents import AgentsMade, agent_lines, agent_of, all_agents
from adapters.text.common import ID_SHOWN, local_time
from domain.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.actions.agents import Steered
    from adapters.wiring import Home

    Deed = Callable[[Home, str, str], Steered]

NO_TASKS = "There are no open tasks; bring some in with `wakelog import TODO.md` first."


# ------------------------------------------------------------------------------------------ make


@click.command(
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
    if wish.template or tasks_alone(home):
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
    tell(session, agent_id, came, key, done)
    return came.has_changed


@click.command("pause", epilog='Example: wakelog agent pause "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def pause(session: Session, agent: str, key: str) -> None:
    """Let an agent sleep: what waits is dropped, and a running wake stops at its next step."""
    _live(session, agent, key, pause_agent, "Paused")


@click.command("resume", epilog='Example: wakelog agent resume "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def resume(session: Session, agent: str, key: str) -> None:
    """Let a sleeping agent wake again; one wake is queued that sees what changed meanwhile."""
    if _live(session, agent, key, resume_agent, "Resumed"):
        session.note("A wake is queued that looks at what changed; run it with `wakelog wake`.")


@click.command(
    "sleep",
    epilog='Examples: wakelog agent sleep "Fix the sink" --until 2027-02-01; '
    'wakelog agent sleep "Fix the sink" --end',
)
@click.argument("agent", type=TEXT)
@click.option(
    "--until",
    type=TEXT,
    default="",
    metavar="DATE",
    help="YYYY-MM-DD, 31.1.2027, tomorrow, monday, +3d; with or without HH:MM.",
)
@click.option("--end", "is_end", is_flag=True, help="It sleeps no longer.")
@key_option
@click.pass_obj
def sleep(session: Session, agent: str, until: str, key: str, *, is_end: bool) -> None:
    """Let only you wake an agent before a date; changes and timers stay queued until then.

    `wakelog wake TASK` and `wakelog agent ask TASK` wake it all the same.
    """
    if bool(until.strip()) == is_end:
        because = "it is not clear until when the agent sleeps"
        raise Refused("invalid_value", because=because, instead="give --until DATE, or --end")

    home = session.reading()
    at = "" if is_end else beginning(until.strip(), home)

    def deed(home: "Home", agent_id: str, named: str) -> "Steered":
        return sleep_agent(home, agent_id, at, named)

    told = "Woken" if is_end else f"Asleep until {local_time(at, home.settings.timezone)}"
    _live(session, agent, key, deed, told)


@click.command("destroy", epilog='Example: wakelog agent destroy "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def destroy(session: Session, agent: str, key: str) -> None:
    """End an agent for good; all it did can still be read. Its task may get a new one."""
    _live(session, agent, key, destroy_agent, "Destroyed")


@click.command("delete", epilog='Example: wakelog agent delete "Fix the sink"')
@click.argument("agent", type=TEXT)
@key_option
@click.pass_obj
def delete(session: Session, agent: str, key: str) -> None:
    """Take a destroyed agent off the list; its facts stay in the log."""
    _live(session, agent, key, delete_agent, "Deleted")


COMMANDS: tuple[click.Command, ...] = (create, pause, resume, sleep, destroy, delete)
