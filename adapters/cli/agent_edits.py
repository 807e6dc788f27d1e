"""What changes agents: `wakelog agent create`, `set`, `watch`, `timer`, `pause` and the like."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.consent import consent
from adapters.cli.lazy_groups import command, keyed
from adapters.cli.shared import Session, named_key_option
from adapters.documents.agents import AgentsMade, agent_lines, agent_of, agent_page, all_agents
from adapters.documents.tasks import catalog_of, category_named
from adapters.text.common import ID_SHOWN, local_time
from adapters.usecases import agents
from adapters.usecases.inputs import beginning, status_named
from adapters.usecases.resolve import pick_agent, pick_task
from domain.agent.deciders import AgentSettings
from domain.errors import invalid

if TYPE_CHECKING:
    from adapters.usecases.agents import AgentUpdate
    from adapters.wiring import Home


def tell(session: Session, agent_id: str, came: "AgentUpdate", key: str, done: str) -> None:
    """Say what came of a deed on an agent."""
    if not came.has_changed:
        done = f"Done before under the key {key}" if came.is_known else "Nothing to change"
    after(session, agent_id, f"{done}: {session.reading().services.agent(agent_id).name}")


def after(session: Session, agent_id: str, done: str) -> None:
    """Say what was done to an agent, or print its document."""
    home = session.reading()
    agent = agent_of(home, agent_id)
    if session.as_json:
        session.document(agent_page(home, agent, home.services.clock.now()))
    else:
        session.say(done)


@keyed("agent set", "agent", example='"Fix the sink" --goal "Done by Friday" --prefer tone=brief')
@click.option("--name", metavar="N", help="What it is called.")
@click.option("--mode", metavar="M", help="hybrid, autonomous or interactive.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    metavar="C",
    help="A category it may touch; give all of them.",
)
@click.option("--model", metavar="M", help="rules, gemini, ...; empty: the home's.")
@click.option("--turns", type=int, metavar="N", help="Per wake, 1 to 20.")
@click.option(
    "--automatic/--no-automatic",
    "is_automatic",
    default=None,
    help="Whether changes and timers wake it.",
)
@click.option("--goal", metavar="G", help="What it is after; empty: nothing special.")
@click.option(
    "--open-loop",
    "--loop",
    "opened",
    multiple=True,
    metavar="L",
    help="Something to keep in sight.",
)
@click.option("--close-loop", "closed", multiple=True, metavar="L", help="It is settled.")
@click.option(
    "--prefer",
    "preferences",
    multiple=True,
    metavar="K=V",
    help="A preference; an empty V forgets it.",
)
def set_agent(session: Session, /, agent: str, key: str, **given: Any) -> None:
    """Change an agent's settings, goal, open loops and preferences."""
    if all(value is None or value == () for value in given.values()):
        raise invalid("there is nothing to set", "see `wakelog agent set --help`")
    home = session.reading()
    agent_id = pick_agent(home, agent)
    catalog = catalog_of(home)
    categories = tuple(sorted(category_named(catalog, one).id for one in given["categories"]))
    wanted = AgentSettings(
        given["name"],
        given["mode"],
        categories or None,
        given["model"],
        given["turns"],
        given["is_automatic"],
        given["goal"],
        given["opened"],
        given["closed"],
        tuple(_preference(one) for one in given["preferences"]),
    )
    came = agents.configure_agent(session.writing(), agent_id, wanted, key)
    tell(session, agent_id, came, key, "Changed")
    if given["model"] is not None:
        consent(session, [agent_id])


def _preference(given: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not sign or not name.strip():
        raise invalid(f"{given!r} is no preference", "write name=value, as in tone=brief")
    return name.strip(), value.strip()


@command("agent watch", "agent", example=("Sink --task Budget", "Sink --what NOTE --category Home"))
@click.option(
    "--what",
    "kinds",
    multiple=True,
    metavar="W",
    help="TASK, CHECKLIST, CHECKLIST_ITEM, NOTE, TIME_ENTRY, LINK, CATEGORY, LABEL or RATING.",
)
@click.option("--key", "older", multiple=True, hidden=True)  # what `--what` was called first
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="Another task.")
@click.option(
    "--sub", "subs", multiple=True, metavar="S", help="A subtype, note:transcript for example."
)
@click.option("--category", default="", metavar="C", help="Only tasks of it.")
@click.option("--status", default="", metavar="S", help="Only tasks that are so.")
@click.option("--hears-agents", is_flag=True, help="Other agents' writes count, too.")
@click.option("--defer-links", is_flag=True, help="Matches only through a link wait for morning.")
@named_key_option("--idempotency-key")
def watch(  # noqa: PLR0913  one parameter for each option
    session: Session,
    *,
    agent: str,
    kinds: Sequence[str],
    older: Sequence[str],
    tasks: Sequence[str],
    subs: Sequence[str],
    category: str,
    status: str,
    hears_agents: bool,
    defer_links: bool,
    key: str,
) -> None:
    """Let an agent hear of more than its own task; the same again changes nothing."""
    home = session.reading()
    agent_id = pick_agent(home, agent)
    tokens = (
        *(f"key:{one.removeprefix('key:').upper()}" for one in (*kinds, *older)),
        *(f"id:{pick_task(home, one)}" for one in tasks),
        *(f"sub:{one.removeprefix('sub:').lower()}" for one in subs),
    )
    heard = agents.NewSubscription(
        tokens,
        category_named(catalog_of(home), category).id if category else "",
        status_named(status) if status else "",
        hears_agents,
        defer_links,
    )
    came = agents.watch_tokens(session.writing(), agent_id, heard, key)
    tell(session, agent_id, came, key, "Watching")


@keyed("agent unwatch", "agent", "subscription", example="Sink k3f9")
def unwatch(session: Session, agent: str, subscription: str, key: str) -> None:
    """Take a subscription back; `wakelog agent show` names them."""
    agent_id = pick_agent(session.reading(), agent)
    came = agents.unwatch_tokens(session.writing(), agent_id, subscription, key)
    tell(session, agent_id, came, key, "Not watching any more")


@keyed(
    "agent timer",
    "agent",
    example=('Sink set "every day 07:00" --zone Europe/Berlin', 'Sink remove "every day 07:00"'),
)
@click.argument("action", type=click.Choice(["list", "set", "remove"]), default="list")
@click.argument("schedule", required=False)
@click.option("--zone", default="", metavar="Z", help="IANA name; else your own time zone.")
@click.option(
    "--always/--changed",
    "is_always",
    default=None,
    help="Ask each time, or only where something moved since the last wake; else as "
    "`[agents] timers` says.",
)
def timer(
    session: Session,
    agent: str,
    action: str,
    schedule: str | None,
    zone: str,
    key: str,
    *,
    is_always: bool | None,
) -> None:
    """List, set or remove an agent's timers.

    A timer wakes the agent; where nothing moved since its last wake that costs nothing, unless
    the timer is set to ask always. One that rings once always asks.

    A SCHEDULE is "every hour", "every day 07:00", "every weekday 07:00", "every monday 09:30",
    "cron 0 7 * * 1-5" or "once 2027-01-01 07:00"; remove takes a timer's id, too.
    """
    home = session.reading()
    agent_id = pick_agent(home, agent)
    if action == "list":
        _list_timers(session, home, agent_id)
        return
    if not schedule:
        because = f"the timer to {action} is missing"
        raise invalid(because, 'give a schedule, "every day 07:00" for example')
    if action == "set":
        home = session.writing()
        made = agents.set_timer(home, agent_id, schedule, zone, key, is_always=is_always)
        _tell_timer(session, agent_id, made, key)
    else:
        came = agents.remove_timer(session.writing(), agent_id, schedule, key)
        tell(session, agent_id, came, key, "Timer removed")


def _list_timers(session: Session, home: "Home", agent_id: str) -> None:
    page = agent_page(home, agent_of(home, agent_id), home.services.clock.now())
    if session.as_json:
        session.document(page.timers)
    elif not page.timers:
        session.say(
            f"{page.name} has no timers; set one with "
            f'`wakelog agent timer {agent_id[:ID_SHOWN]} set "every day 07:00"`.'
        )
    else:
        zone = home.settings.timezone
        rows = [
            (
                one.id[:ID_SHOWN],
                one.schedule,
                one.zone,
                local_time(one.next_at, zone),
                "always" if one.always else "where something moved",
            )
            for one in page.timers
        ]
        session.table(("ID", "Schedule", "Zone", "Next", "Asks"), rows)


def _tell_timer(session: Session, agent_id: str, made: agents.TimerResult, key: str) -> None:
    if not made.next_at:
        after(session, agent_id, f"Done before under the key {key}")
        return
    first = local_time(made.next_at, made.zone)
    done = f"Timer {made.schedule!r} ({made.zone}) is set, first on {first}"
    tell(session, agent_id, made.came, key, done)


# ---------------------------------------------------------------------------------- an agent's life

if TYPE_CHECKING:
    Deed = Callable[[Home, str, str], AgentUpdate]

NO_TASKS = "There are no open tasks; bring some in with `wakelog import TODO.md` first."


@keyed("agent create", "[task]", example=('"Fix the sink"', "--all"))
@click.option("--task", "option", metavar="TASK", help="The same as the argument.")
@click.option("--all", "is_all", is_flag=True, help="One for every open task that has none.")
@click.option("--name", default="", metavar="N", help="Else the task's title.")
@click.option("--mode", default="", metavar="M", help="hybrid, autonomous or interactive.")
@click.option("--model", default="", metavar="M", help="Else the home's model.")
@click.option("--template", default="", metavar="T", help="Else its category's.")
@click.option("--turns", type=int, default=0, metavar="N", help="Per wake, 1 to 20; default 5.")
def create(
    session: Session, *, task: str | None, option: str | None, is_all: bool, key: str, **given: Any
) -> None:
    """Make an agent for a task; its first wake is queued, and runs with `wakelog wake`."""
    wanted = task or option
    if (wanted is None) != is_all or (task and option):
        raise invalid("it is not clear for which task the agent is", "name one task, or give --all")
    wish = agents.AgentOptions(**given)  # click gives them by these names
    if is_all and wish.name:
        raise invalid("--name and --all do not go together", "leave --name out")
    agents.check_options(wish)
    if wanted is not None:
        _create_one(session, wanted, wish, key)
    else:
        _create_all(session, wish, key)


def _create_one(session: Session, wanted: str, wish: agents.AgentOptions, key: str) -> None:
    task_id = pick_task(session.reading(), wanted)
    home = session.writing()
    agent_id, is_new = agents.assign_agent(home, task_id, wish, key)
    agent = agent_of(home, agent_id)
    done = f"Made the agent {agent.name!r} ({agent_id[:ID_SHOWN]}, {agent.mode})"
    after(session, agent_id, done if is_new else f"Made before under the key {key}")
    if is_new and agent.next_due:
        session.note("Its first wake is queued; run it with `wakelog wake`.")


def _create_all(session: Session, wish: agents.AgentOptions, key: str) -> None:
    home = session.reading()
    if wish.template or agents.tasks_alone(home):
        home = session.writing()
    made, tasks = agents.assign_all(home, wish, key)
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


def _live(session: Session, wanted: str, key: str, deed: "Deed", done: str) -> bool:
    """Do something about an agent's life, and tell; whether anything changed."""
    agent_id = pick_agent(session.reading(), wanted)
    came = deed(session.writing(), agent_id, key)
    tell(session, agent_id, came, key, done)
    return came.has_changed


@keyed("agent pause", "agent", example='"Fix the sink"')
def pause(session: Session, agent: str, key: str) -> None:
    """Let an agent sleep: what waits is dropped, and a running wake stops at its next step."""
    _live(session, agent, key, agents.pause_agent, "Paused")


@keyed("agent resume", "agent", example='"Fix the sink"')
def resume(session: Session, agent: str, key: str) -> None:
    """Let a sleeping agent wake again; one wake is queued that sees what changed meanwhile."""
    if _live(session, agent, key, agents.resume_agent, "Resumed"):
        session.note("A wake is queued that looks at what changed; run it with `wakelog wake`.")


@keyed(
    "agent sleep", "agent", example=('"Fix the sink" --until 2027-02-01', '"Fix the sink" --end')
)
@click.option(
    "--until",
    default="",
    metavar="DATE",
    help="YYYY-MM-DD, 31.1.2027, tomorrow, monday, +3d; with or without HH:MM.",
)
@click.option("--end", "is_end", is_flag=True, help="It sleeps no longer.")
def sleep(session: Session, agent: str, until: str, key: str, *, is_end: bool) -> None:
    """Let only you wake an agent before a date; changes and timers stay queued until then.

    `wakelog wake TASK` and `wakelog agent ask TASK` wake it all the same.
    """
    if bool(until.strip()) == is_end:
        raise invalid("it is not clear until when the agent sleeps", "give --until DATE, or --end")

    home = session.reading()
    at = "" if is_end else beginning(until.strip(), home)

    def deed(home: "Home", agent_id: str, named: str) -> "AgentUpdate":
        return agents.sleep_agent(home, agent_id, at, named)

    told = "Woken" if is_end else f"Asleep until {local_time(at, home.settings.timezone)}"
    _live(session, agent, key, deed, told)


@keyed("agent destroy", "agent", example='"Fix the sink"')
def destroy(session: Session, agent: str, key: str) -> None:
    """End an agent for good; all it did can still be read. Its task may get a new one."""
    _live(session, agent, key, agents.destroy_agent, "Destroyed")


@keyed("agent delete", "agent", example='"Fix the sink"')
def delete(session: Session, agent: str, key: str) -> None:
    """Take a destroyed agent off the list; its facts stay in the log."""
    _live(session, agent, key, agents.delete_agent, "Deleted")
