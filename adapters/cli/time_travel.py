"""Look back: `wakelog replay`, `at`, `diff` and `bisect`."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import NO_HOME, Session, flag, option
from adapters.documents import timetravel
from adapters.documents.wakes import run_named
from adapters.text import timetravel as words
from adapters.text.common import counted, local_time, run_shown, safe
from adapters.usecases import time_travel
from adapters.usecases.resolve import pick_agent

if TYPE_CHECKING:
    from adapters.documents.timetravel import StepReplayed
    from adapters.timetravel.logs_at import NamedMoment


@command("replay", "run", example=("nb5evlz4", "nb5evlz4 --step"))
@flag("--step is_stepping", "Wait for Enter before each step.")
def replay_command(session: Session, run: str, *, is_stepping: bool) -> None:
    """Run one wake again on its recorded replies, with today's code.

    Prints what was asked, answered and decided, and why, and compares every byte with what was
    recorded. Nothing is written and no model is asked. Exit status 1: something differs.
    """
    home = session.reading()
    wake, sections, again = time_travel.run_again(home, run)
    zone = home.settings.timezone
    name = safe(home.services.agent(wake.agent_id).name)
    session.say(f"wake {safe(run_named(home, wake.run_key))} of {name}")
    session.lines(words.prompt_lines(sections))
    is_same, steps = all(one.is_same for one in sections), list["StepReplayed"]()
    told = "Every byte is the same."
    for step in again:
        if is_stepping and not session.as_json and not _goes_on():
            told = f"Stopped after {counted(len(steps), 'step')}; so far every byte is the same."
            break
        is_same, steps = is_same and step.is_same, [*steps, timetravel.step_document(step)]
        session.say_each(words.step_lines(step, zone))
    prompt = [timetravel.section_document(one) for one in sections]
    document = timetravel.ReplayDetails(wake.run_key, wake.agent_id, is_same, prompt, steps)
    session.tell(document, told if is_same else "Some bytes are others.")
    raise SystemExit(0 if is_same else 1)


def _goes_on() -> bool:
    """Wait for Enter; whether to go on: ``q`` or the end of the input stops."""
    click.echo("Enter: the next step; q: stop ", nl=False, err=True)
    read = sys.stdin.readline()
    return bool(read) and read.strip().lower() != "q"


@command(
    "at",
    "where",
    example=(
        "nb5evlz4",
        "nb5evlz4.64 --prompt",
        "journal:r1:42",
        '"2027-01-31 07:00" --task "Fix the sink"',
    ),
)
@option("--task=TASK", "Only it and what it links to.", default="")
@flag("--all is_all", "Every task, not only those of the wake.")
@flag("--prompt", "Only what the model was shown, byte for byte.")
def at_command(session: Session, where: str, task: str, *, is_all: bool, prompt: bool) -> None:
    """Stand in any moment; `help` below says where that can be."""
    home = session.reading()
    place = time_travel.find_moment(home, where)
    scope = time_travel.scope_of(place, task, is_all=is_all)
    if prompt:
        run_key, asked, asking = timetravel.prompt_of(place, scope)
        if not session.printed(timetravel.prompt_document(run_key, asked, asking)):
            session.exactly(timetravel.prompt_text(asking))
        return
    document = timetravel.at_document(place, scope)
    if session.printed(document):
        return
    if not home.exists:
        session.say(NO_HOME.format(home.place.name))
        return
    if place.wake is not None:
        step = f"after step {place.spot.step} of" if place.spot.step else "before"
        session.say(f"{step} the {place.wake.reason} wake {place.wake.run_key}")
    session.say_each(words.at_lines(document, home.settings.timezone))


at_command.help = f"""Stand in any moment: tasks, agents, reports, proposals and wakes as they were.

{time_travel.WHERE} Of the other log, what was written up to the same time."""


@command(
    "diff",
    "a",
    "b",
    example=(
        "nb5evlz4 hei3li3f",
        "2027-01-01 2027-01-31",
        "./home ./forks/x",
        "nb5evlz4 ./forks/x::nb5evlz4",
    ),
)
@option("--task=TASK", "Only it and what it links to.", default="")
def diff_command(session: Session, a: str, b: str, task: str) -> None:
    """Compare two wakes, two moments, or two homes.

    Two RUNs are compared as wakes: what they were shown, answered, called, proposed, reported.
    Other moments (RUN.STEP, positions, times) are compared as worlds, homes by their logs and by
    what stands at their ends. DIR::WHERE is a moment of another home. Exit status 1: they differ.
    """
    home = session.reading()
    one, other, document = time_travel.compare(home, a, b, task)
    if session.as_json:
        session.document(document)
    elif not (one.home.exists and other.home.exists):
        session.say(NO_HOME.format(home.place.name))
    elif document.same:
        session.say("Nothing differs.")
    else:
        zone = home.settings.timezone
        session.lines(words.sides_lines(_called(one, zone), _called(other, zone)))
        told = (
            words.wakes_lines(document)
            if isinstance(document, timetravel.WakesDiff)
            else words.worlds_lines(document)
        )
        session.lines(told)
    raise SystemExit(0 if document.same else 1)


def _called(place: "NamedMoment", zone: str) -> str:
    """One side of a difference: a home, or a moment and what the logs had then."""
    if place.is_home:
        return place.given
    if place.wake is not None and not place.spot.step:
        home = "" if place.is_own else f" in {place.home.path}"
        return words.wake_called(place.wake, zone) + home
    when = local_time(place.spot.where.at, zone) or "the beginning"
    return f"{place.given}: {when}, {', '.join(place.heads)}"


@command(
    "bisect",
    "agent=AGENT|TASK",
    example=(
        '"Fix the sink" --text "call the plumber"',
        '"Fix the sink" --sql "SELECT status = \'BLOCKED\' FROM tasks"',
        "\"Fix the sink\" --python 'len(proposals) > 3'",
    ),
)
@option("--sql=QUERY", "The first value of its first row is true.", multiple=True)
@option("--text=TEXT", "It stands in the agent's report.", multiple=True)
@option("--python=EXPR", "It is true. Runs what you type.", multiple=True)
def bisect_command(
    session: Session, agent: str, sql: Sequence[str], text: Sequence[str], python: Sequence[str]
) -> None:
    """Find the wake of an agent since which something holds; no model is asked.

    The world after a wake is what `wakelog at` shows of the agent's task. SQL sees the tables
    tasks, items, notes, links, agents, reports, observations, proposals and wakes; an expression
    the names task, agent, report, journal, proposals and wakes, as in `task.status == "DONE"`.
    At most log2(n) + 1 wakes are looked at, as if it held from some wake on; where it comes and
    goes, one of the wakes is found at which it came. Exit status 1: it does not hold in the end.
    """
    question = time_travel.question_of(sql=sql, text=text, python=python)
    home = session.reading()
    agent_id = pick_agent(home, agent)

    def told(of: int, probe: timetravel.BisectProbe) -> None:
        answer = "holds" if probe.holds else "does not hold"
        session.say(f"wake {probe.nth:,} of {of:,}  {run_shown(probe.run_key)}  {answer}")

    found = time_travel.bisect_wakes(home, agent_id, question, told)
    since = found.since
    if session.as_json:
        session.document(found)
    elif not found.wakes:
        session.say("No wake of this agent has ended yet.")
    elif since is None:
        session.say(f"It does not hold after the last of {counted(found.wakes, 'wake')}.")
    else:
        when = local_time(since.ended_at, home.settings.timezone)
        nth = f"wake {since.nth:,} of {found.wakes:,}"
        earlier = f", and not after wake {since.nth - 1:,}" if since.nth > 1 else ""
        session.say(f"It holds since {nth}: {run_shown(since.run_key)}, {when}{earlier}.")
        session.note(f"Look at it with `wakelog show {run_shown(since.run_key)}`.")
    raise SystemExit(0 if since else 1)
