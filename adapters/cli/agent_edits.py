"""What changes agents: `wakelog agent create`, `set`, `watch`, `timer`, `pause` and the like."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.consent import consent
from adapters.cli.lazy_groups import command, keyed
from adapters.cli.shared import Session, flag, named_key_option, option
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
    if session.as_json:
        session.document(agent_page(home, agent_of(home, agent_id), home.services.clock.now()))
    session.say(done)


@keyed("agent set", "agent", example='"Fix the sink" --goal "Done by Friday" --prefer tone=brief')
@option("--name=N", "What it is called.")
@option("--mode=M", "hybrid, autonomous or interactive.")
@option("--category categories=C", "A category it may touch; give all of them.", multiple=True)
@option("--model=M", "rules, gemini, ...; empty: the home's.")
@option("--turns turn_max=N", "Per wake, 1 to 20.", int)
@option(
    "--automatic/--no-automatic is_automatic", "Whether changes and timers wake it.", default=None
)
@option("--goal=G", "What it is after; empty: nothing special.")
@option("--open-loop --loop open_loops=L", "Something to keep in sight.", multiple=True)
@option("--close-loop close_loops=L", "It is settled.", multiple=True)
@option("--prefer preferences=K=V", "A preference; an empty V forgets it.", multiple=True)
def set_agent(session: Session, /, agent: str, key: str, **given: Any) -> None:
    """Change an agent's settings, goal, open loops and preferences."""
    if all(value is None or value == () for value in given.values()):
        raise invalid("there is nothing to set", "see `wakelog agent set --help`")
    home = session.reading()
    agent_id = pick_agent(home, agent)
    catalog = catalog_of(home)
    categories = sorted(category_named(catalog, one).id for one in given["categories"])
    given["categories"] = tuple(categories) or None
    given["preferences"] = tuple(map(_preference, given["preferences"]))
    wanted = AgentSettings(**given)  # click gives them by these names
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
@option(
    "--what kinds=W",
    "TASK, CHECKLIST, CHECKLIST_ITEM, NOTE, TIME_ENTRY, LINK, CATEGORY, LABEL or RATING.",
    multiple=True,
)
@option("--key older", multiple=True, hidden=True)  # what `--what` was called first
@option("--task tasks=TASK", "Another task.", multiple=True)
@option("--sub subs=S", "A subtype, note:transcript for example.", multiple=True)
@option("--category=C", "Only tasks of it.", default="")
@option("--status=S", "Only tasks that are so.", default="")
@flag("--hears-agents", "Other agents' writes count, too.")
@flag("--defer-links", "Matches only through a link wait for morning.")
@named_key_option("--idempotency-key")
def watch(  # noqa: PLR0913  one parameter for each option
    session: Session, *, agent: str, kinds: Sequence[str], older: Sequence[str],
    tasks: Sequence[str], subs: Sequence[str], category: str, status: str, hears_agents: bool,
    defer_links: bool, key: str,
) -> None:  # fmt: skip
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
@option("--zone=Z", "IANA name; else your own time zone.", default="")
@option(
    "--always/--changed is_always",
    "Ask each time, or only where something moved since the last wake; else as "
    "`[agents] timers` says.", default=None,
)  # fmt: skip
def timer(
    session: Session, agent: str, action: str, schedule: str | None, zone: str, key: str, *,
    is_always: bool | None,
) -> None:  # fmt: skip
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
    none = (
        f"{page.name} has no timers; set one with "
        f'`wakelog agent timer {agent_id[:ID_SHOWN]} set "every day 07:00"`.'
    )
    rows = (
        (
            one.id[:ID_SHOWN],
            one.schedule,
            one.zone,
            local_time(one.next_at, home.settings.timezone),
            "always" if one.always else "where something moved",
        )
        for one in page.timers
    )
    session.listing(page.timers, ("ID", "Schedule", "Zone", "Next", "Asks"), rows, none)


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
@option("--task option=TASK", "The same as the argument.")
@flag("--all is_all", "One for every open task that has none.")
@option("--name=N", "Else the task's title.", default="")
@option("--mode=M", "hybrid, autonomous or interactive.", default="")
@option("--model=M", "Else the home's model.", default="")
@option("--template=T", "Else its category's.", default="")
@option("--turns=N", "Per wake, 1 to 20; default 5.", int, default=0)
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


def _on_life(words: str, deed: "Deed", done: str, text: str, after: str = "") -> None:
    """A command on an agent's life; `after`: what is noted where anything changed."""

    @keyed(words, "agent", example='"Fix the sink"', text=text)
    def run(session: Session, agent: str, key: str) -> None:
        if _live(session, agent, key, deed, done) and after:
            session.note(after)


_on_life(
    "agent pause", agents.pause_agent, "Paused",
    "Let an agent sleep: what waits is dropped, and a running wake stops at its next step.",
)  # fmt: skip
_on_life(
    "agent resume", agents.resume_agent, "Resumed",
    "Let a sleeping agent wake again; one wake is queued that sees what changed meanwhile.",
    "A wake is queued that looks at what changed; run it with `wakelog wake`.",
)  # fmt: skip
_on_life(
    "agent destroy", agents.destroy_agent, "Destroyed",
    "End an agent for good; all it did can still be read. Its task may get a new one.",
)  # fmt: skip
_on_life(
    "agent delete", agents.delete_agent, "Deleted",
    "Take a destroyed agent off the list; its facts stay in the log.",
)  # fmt: skip


@keyed(
    "agent sleep", "agent", example=('"Fix the sink" --until 2027-02-01', '"Fix the sink" --end')
)
@option(
    "--until=DATE", "YYYY-MM-DD, 31.1.2027, tomorrow, monday, +3d; with or without HH:MM.",
    default="",
)  # fmt: skip
@flag("--end is_end", "It sleeps no longer.")
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

    until = local_time(at, home.settings.timezone)
    told = "Asleep no longer" if is_end else f"Asleep until {until}"
    _live(session, agent, key, deed, told)
