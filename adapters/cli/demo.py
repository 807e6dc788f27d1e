"""Made-up homes: `wakelog demo` and `wakelog demo-data`."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option
from adapters.demo.stories import SOURCE as DATA_SOURCE
from adapters.documents.agent_output import report_document
from adapters.documents.agents import all_agents
from adapters.documents.demo import DemoData, DemoDataThere, DemoDetails
from adapters.documents.inbox import InboxSet, all_sets, set_documents
from adapters.home import files
from adapters.home.files import HOME_VARIABLE, home_path
from adapters.importers import markdown
from adapters.proof.prove import Proved, prove_home
from adapters.store.sqlite_files import check_alone
from adapters.text.common import ID_SHOWN, counted, safe
from adapters.usecases.agents import AgentOptions, assign_all
from adapters.usecases.import_sources import ParsedFile
from adapters.usecases.import_tasks import Importing
from adapters.wiring import Home, open_home
from domain.errors import Refused, invalid
from projections import agents, observations, reports, tasks, wakes

if TYPE_CHECKING:
    from adapters.demo.generator import DemoSummary

DEMO_FOLDER = "wakelog-demo"
DEMO_SOURCE = "wakelog demo"
REPORTS_SHOWN = 3
SETS_SHOWN = 4
MODEL = "rules"


@command("demo", example=("", "--home /tmp/look --fresh"))
@option("--home folder=DIR", f"Where; else ./{DEMO_FOLDER}.", click.Path())
@flag("--fresh", "Throw an earlier demo away and begin anew.")
def demo_command(outer: Session, folder: str | None, *, fresh: bool) -> None:
    """See it all at once: sample tasks, agents, wakes, reports, proposals.

    Needs no key and no network: the model is `rules`, which reads notes by fixed rules and says
    so. It works in a home of its own and never in yours. A second time it shows what is there.
    """
    path = _home(folder, DEMO_FOLDER)
    if fresh:
        throw_away(path, DEMO_SOURCE)
    with closing(
        Session(path, model=MODEL, as_json=outer.as_json, is_quiet=outer.is_quiet)
    ) as session:
        _demonstrate(session)


def _home(folder: str | None, default: str) -> Path:
    """A demo's home: as told, here or before the command's name; never the default one."""
    told = folder or click.get_current_context().find_root().params.get("home")
    return home_path(str(told or os.environ.get(HOME_VARIABLE) or default), os.environ)


def throw_away(path: Path, source: str) -> None:
    """Delete the files of an earlier demo, whose first tasks were imported from `source`, and
    nothing else. Raises Refused: the home is no demo's, or somebody works there."""
    if not files.exists(path):
        return
    _check_there(path, source)
    for name in (files.JOURNAL, files.AGENT):
        check_alone(path / name)
    logs = (files.JOURNAL, files.AGENT, files.VIEWS, files.RUNTIME, files.SEARCH)
    names = [f"{name}{end}" for name in logs for end in ("", "-wal", "-shm")]
    rest = (files.ANALYTICS, files.SETTINGS, files.REPLICA, files.INSTALLATION)
    for name in (*names, *rest):
        (path / name).unlink(missing_ok=True)


def _check_there(path: Path, source: str) -> None:
    with closing(Session(path, model=MODEL, as_json=True, is_quiet=True)) as session:
        check_ours(session.reading(), source)


def check_ours(home: "Home", source: str) -> bool:
    """Whether a home holds a demo; Refused if it holds anything else."""
    found = home.views.all(tasks.VIEW)
    if found and not any(source in one.sources for one in found):
        raise Refused(
            "invalid_value",
            because=f"the home {home.path} holds tasks of yours",
            instead=f"leave it alone: name another folder, as in `{source} --home DIR`",
        )
    return bool(found)


def _demonstrate(session: Session) -> None:
    home = session.reading()
    has_reports = any(one.agent_id for one in home.views.all(reports.VIEW))
    is_there = check_ours(home, DEMO_SOURCE) and has_reports
    if not is_there:  # or one that was interrupted: go on with it
        home = session.writing(is_asking=False)
        _import(home)
        assign_all(home, AgentOptions())
        _wake(session, home)
    proved = prove_home(home)
    if session.as_json:
        session.document(
            DemoDetails(
                home=str(home.path),
                tasks=len(home.views.all(tasks.VIEW)),
                agents=len(all_agents(home)),
                reports=len([one for one in home.views.all(reports.VIEW) if one.agent_id]),
                inbox=set_documents(home, all_sets(home), is_all=False),
                proof=proved.document(),
            )
        )
    else:
        _tell_demo(session, home, proved, is_there=is_there)
    raise SystemExit(0 if proved.ok else 1)


# --------------------------------------------------------------------------------------- doing it


def _import(home: "Home") -> None:
    """The sample tasks, as `wakelog import` brings them in."""
    from importlib.resources import files

    data = files("adapters.demo").joinpath("tasks.md").read_bytes()
    Importing().take(home, DEMO_SOURCE, ParsedFile(markdown.read(data, source=DEMO_SOURCE)))
    home.views.catch_up()


def _wake(session: Session, home: "Home") -> None:
    """Every queued wake, as `wakelog wake` does."""
    from adapters.cli.wake import telling
    from adapters.usecases.wake_agents import prepare_wakes, wake_all

    agents = prepare_wakes(home).agents
    names = {one: home.services.agent(one).name for one in agents}
    wake_all(home, agents, telling(session, names))


# -------------------------------------------------------------------------------------- telling it


def _tell_demo(session: Session, home: "Home", proved: "Proved", *, is_there: bool) -> None:
    inbox = set_documents(home, all_sets(home), is_all=False)
    agents = all_agents(home)
    if is_there:
        session.say(f"The demo is there already, in {home.path}; --fresh makes it anew.")
    _heading(session, "What happened")
    _tell_counts(session, home, inbox)
    _heading(session, "What some of them report")
    _tell_reports(session, home, [one.id for one in agents], inbox)
    _heading(session, "What they propose: nothing is applied before you confirm it")
    _tell_inbox(session, inbox)
    _heading(session, "Proved")
    session.say(
        f"{proved.rows:,} rows of {proved.causes} causes were executed again in "
        f"{proved.seconds:.2f} s: "
        + ("every byte is the same." if proved.ok else "some differ, see `wakelog prove`.")
    )
    _tell_next(session, home, inbox)


def _heading(session: Session, text: str) -> None:
    session.say()
    session.say(text, style="cyan")


def _tell_counts(session: Session, home: "Home", inbox: "Sequence[InboxSet]") -> None:
    found = home.views.all(tasks.VIEW)
    categories = len({one.category for one in found})
    open_tasks = sum(one.is_open for one in found)
    woken = [one for one in home.views.all(wakes.VIEW) if one.outcome == "completed"]
    head = len([one for one in home.views.all(reports.VIEW) if one.agent_id])
    noted = len(home.views.all(observations.VIEW))
    items = sum(len(one.items) for one in inbox)
    living = sum(one.is_living for one in home.views.all(agents.VIEW))
    session.say(f"{len(found)} tasks in {categories} categories, {open_tasks} of them open.")
    session.say(f"{living} agents, one for each open task; they woke {len(woken)} times,")
    session.say(f"wrote {head} reports, noted {noted} observations and propose {items} changes.")
    told = sum(bool(one.task.language) for one in found)
    session.say(f"Done at once, without asking: the language of {told} tasks was set.")
    session.say("The model is `rules`: fixed rules, no key, no network. Others come with --model.")


def _tell_reports(
    session: Session, home: "Home", agent_ids: Sequence[str], inbox: "Sequence[InboxSet]"
) -> None:
    """The reports of those that propose most."""
    counts = {one.agent_id: len(one.items) for one in inbox}
    busiest = sorted(agent_ids, key=lambda one: -counts.get(one, 0))
    for agent_id in busiest[:REPORTS_SHOWN]:
        report = report_document(home, agent_id)
        if report.tldr:
            session.say(safe(f"{home.services.agent(agent_id).name}"))
            session.say(safe(f"    {report.tldr}"))


def _tell_inbox(session: Session, inbox: "Sequence[InboxSet]") -> None:
    for one in inbox[:SETS_SHOWN]:
        session.say(safe(one.subject.title))
        for item in one.items:
            session.say(safe(f"    {item.ref:>5}  {item.summary}"))
    if len(inbox) > SETS_SHOWN:
        session.say(f"and {len(inbox) - SETS_SHOWN} more tasks; `wakelog inbox` has them all")


def _tell_next(session: Session, home: "Home", inbox: "Sequence[InboxSet]") -> None:
    """Commands to type, that work as they stand."""
    begin = f"{_program()} --home {_short(home.path)}"
    agents = all_agents(home)
    first = inbox[0] if inbox else None
    task = first.task_id[:ID_SHOWN] if first else agents[0].task_id[:ID_SHOWN]
    run = first.run_key[:ID_SHOWN] if first else agents[0].agent.last_run[:ID_SHOWN]
    lines = [
        ("inbox", "all that they propose"),
        *([(f"confirm {first.items[0].ref}", "apply one of them")] if first else []),
        (f"report {task}", "what its agent says in full"),
        (f"show {run}", "the wake behind it, step by step"),
        (f"why {task}", "why it woke"),
        (f'task note {task} "Call Ms Miller by 2027-03-01."', "change a task; then `wake`"),
        ("prove", "execute it all again"),
    ]
    _heading(session, "Go on")
    for words, what in lines:
        session.say(f"{begin} {words}  # {what}")


def _program() -> str:
    """How `wakelog` is called from here: by its name, or its path where it is not on PATH."""
    beside = Path(sys.executable).parent / "wakelog"
    if shutil.which("wakelog") is None and beside.exists():
        return _short(beside)
    return "wakelog"


def _short(path: Path) -> str:
    """A path as it can be typed from here."""
    here = Path.cwd()
    is_below = path.is_relative_to(here) and path != here
    return shlex.quote(str(path.relative_to(here) if is_below else path))


# --------------------------------------------------------------------------- months of fifty agents

DATA_FOLDER = "demo-data"
AGENTS_MAX = 50
MONTHS_MAX = 24


@command("demo-data", example=("", "--home /tmp/small --agents 10 --months 2 --seed b"))
@option("--home folder=DIR", f"Where; else ./{DATA_FOLDER}.", click.Path())
@option("--agents", kind=click.IntRange(1, AGENTS_MAX), shown=50)
@option("--months", kind=click.IntRange(1, MONTHS_MAX), shown=6)
@option("--seed=TEXT", shown="wakelog")
@flag("--fresh", "Throw an earlier one away and make it anew.")
def demo_data_command(
    outer: Session, folder: str | None, *, agents: int, months: int, seed: str, fresh: bool
) -> None:
    """Make a home of many agents and months, to ask and plot.

    The runtime runs as it always does, on a virtual clock from January 2026 in Europe/Berlin. A
    scripted person writes, ticks, asks, confirms, edits and rejects with reasons; offline models
    guess, slip, repeat themselves, and are down for hours; templates get better and worse versions.
    The same seed and size write the same bytes. It works in a home of its own and never in yours.
    All of it is proved before the home gets its name.
    """
    path = _home(folder, DATA_FOLDER)
    if not _is_wanted(path, DATA_SOURCE, is_fresh=fresh):
        told = f"The data is there already, in {path}; --fresh makes it anew."
        outer.tell(DemoDataThere(str(path)), told)
        return
    lived, proved = _made(outer, path, seed, agents, months)
    outer.printed(
        DemoData(str(path), seed, lived.days, lived.agents, lived.wakes, proved.document())
    )
    outer.say(
        f"{counted(lived.days, 'day')} of {counted(lived.agents, 'agent')}: "
        f"{counted(lived.wakes, 'wake')} in {path}."
    )
    outer.say(
        f"{proved.rows:,} rows of {proved.causes:,} causes proved: "
        + ("every byte is the same." if proved.ok else "some differ, see `wakelog prove`.")
    )
    outer.say(f"digest {proved.digest}")
    outer.note(f"Go on with `wakelog --home {path} metrics`, or with `make notebooks`.")
    raise SystemExit(0 if proved.ok else 1)


def _is_wanted(path: Path, source: str, *, is_fresh: bool) -> bool:
    """Whether the home is to be made; an earlier one is thrown away here, if that is asked. Raises
    Refused: something else is there."""
    if files.exists(path):
        _check_there(path, source)
        if not is_fresh:
            return False
        throw_away(path, source)
    if path.exists() and any(path.iterdir()):
        raise invalid(f"the folder {path} holds other files", "name an empty or a new folder")
    if not path.parent.is_dir():
        raise invalid(f"the folder {path.parent} for the home is missing", "make it first")
    return True


def _made(
    session: Session, path: Path, seed: str, agents: int, months: int
) -> "tuple[DemoSummary, Proved]":
    """Make it beside its place and prove it, so that a home with the name is a whole one."""
    from adapters.demo.generator import make_demo_home

    beside = path.with_name(f".{path.name}.making")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(mode=0o700)
    try:
        with session.bar("Living through it", 1) as bar:

            def progress(day: int, days: int) -> None:
                bar.length = days
                bar.update(day - bar.pos)

            lived = make_demo_home(
                beside, seed=seed, agents_count=agents, months=months, progress=progress
            )
        session.note("Proving it.")
        with open_home(beside, {}) as home:
            home.views.catch_up()
            proved = prove_home(home)
        if path.exists():
            path.rmdir()
        beside.rename(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return lived, proved
