"""`wakelog demo`: a fresh home, sample tasks, agents, wakes, reports and an inbox."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.actions.agents import Wish, assign_all
from adapters.actions.importing import Importing
from adapters.actions.sources import Found
from adapters.cli.shared import Session
from adapters.cli.shared import Session as Opened
from adapters.documents.agents import all_agents
from adapters.documents.demo import DemoDetails
from adapters.documents.inbox import all_sets, set_documents
from adapters.documents.reading import report_document
from adapters.home.files import HOME_VARIABLE, home_path
from adapters.importers import markdown
from adapters.proof.prove import prove_home
from adapters.store.opening import check_alone
from adapters.text.common import ID_SHOWN, safe
from domain.errors import Refused
from projections import agents, journal, reports, tasks, wakes

if TYPE_CHECKING:
    from adapters.documents.inbox import InboxSet
    from adapters.proof.prove import Proved
    from adapters.wiring import Home

FOLDER = "wakelog-demo"
SOURCE = "wakelog demo"
REPORTS_SHOWN = 3
SETS_SHOWN = 4
MODEL = "rules"


@click.command("demo", epilog="Examples: wakelog demo; wakelog demo --home /tmp/look --fresh")
@click.option("--home", "folder", type=click.Path(), metavar="DIR", help=f"Where; else ./{FOLDER}.")
@click.option("--fresh", is_flag=True, help="Throw an earlier demo away and begin anew.")
@click.pass_context
def demo_command(ctx: click.Context, folder: str | None, *, fresh: bool) -> None:
    """See it all at once: sample tasks, agents, wakes, reports, proposals.

    Needs no key and no network: the model is `rules`, which reads notes by fixed rules and says
    so. It works in a home of its own and never in yours. A second time it shows what is there.
    """
    outer = ctx.find_object(Session)
    assert outer is not None
    path = _home(ctx, folder)
    if fresh:
        throw_away(path, SOURCE)
    session = Session(path, model=MODEL, as_json=outer.as_json, is_quiet=outer.is_quiet)
    try:
        _demonstrate(session)
    finally:
        session.close()


def _home(ctx: click.Context, folder: str | None) -> Path:
    """The demo's home: as told, here or before the command's name; never the default one."""
    told = folder or ctx.find_root().params.get("home") or os.environ.get(HOME_VARIABLE, "")
    return home_path(str(told) if told else FOLDER, os.environ)


def throw_away(path: Path, source: str) -> None:
    """Delete the files of an earlier demo, and nothing else.

    Args:
        path: Its home.
        source: What its first tasks were imported from.

    Raises:
        Refused: Code ``invalid_value``: the home is no demo's; ``read_only``: somebody works there.
    """
    from adapters.home import files

    if not files.exists(path):
        return
    session = Opened(path, model=MODEL, as_json=True, is_quiet=True)
    try:
        check_ours(session.reading(), source)
    finally:
        session.close()
    for name in (files.JOURNAL, files.AGENT):
        check_alone(path / name)
    logs = (files.JOURNAL, files.AGENT, files.VIEWS, files.RUNTIME)
    names = [f"{name}{end}" for name in logs for end in ("", "-wal", "-shm")]
    rest = (files.ANALYTICS, files.SETTINGS, files.REPLICA, files.INSTALLATION)
    for name in (*names, *rest):
        (path / name).unlink(missing_ok=True)


def check_ours(home: "Home", source: str) -> bool:
    """Whether a home holds a demo; Refused if it holds anything else."""
    from projections.tasks import VIEW

    tasks = home.views.all(VIEW)
    if tasks and not any(source in one.sources for one in tasks):
        raise Refused(
            "invalid_value",
            because=f"the home {home.path} holds tasks of yours",
            instead=f"leave it alone: name another folder, as in `{source} --home DIR`",
        )
    return bool(tasks)


def _has_reports(home: "Home") -> bool:
    from projections.reports import VIEW

    return any(one.agent_id for one in home.views.all(VIEW))


def _demonstrate(session: Session) -> None:
    home = session.reading()
    is_there = check_ours(home, SOURCE) and _has_reports(home)
    if not is_there:  # or one that was interrupted: go on with it
        home = session.writing(is_asking=False)
        _import(home)
        _make_agents(home)
        _wake(session, home)
    proved = prove_home(home)
    if session.as_json:
        session.document(_document(home, proved))
    else:
        _tell(session, home, proved, is_there=is_there)
    raise SystemExit(0 if proved.ok else 1)


# --------------------------------------------------------------------------------------- doing it


def _import(home: "Home") -> None:
    """The sample tasks, as `wakelog import` brings them in."""
    from importlib.resources import files

    data = files("adapters.demo").joinpath("tasks.md").read_bytes()
    Importing().take(home, SOURCE, Found(markdown.read(data, source=SOURCE)))
    home.views.catch_up()


def _make_agents(home: "Home") -> None:
    """An agent for every open task, as `wakelog agent create --all` does."""
    assign_all(home, Wish())


def _wake(session: Session, home: "Home") -> None:
    """Every queued wake, as `wakelog wake` does."""
    from adapters.actions.waking import prepare_wakes, wake_all
    from adapters.cli.waking import telling

    agents = prepare_wakes(home).agents
    names = {one: home.services.agent(one).name for one in agents}
    wake_all(home, agents, telling(session, names))


# -------------------------------------------------------------------------------------- telling it


def _document(home: "Home", proved: "Proved") -> DemoDetails:
    return DemoDetails(
        home=str(home.path),
        tasks=len(home.views.all(tasks.VIEW)),
        agents=len(all_agents(home)),
        reports=len([one for one in home.views.all(reports.VIEW) if one.agent_id]),
        inbox=set_documents(home, all_sets(home), is_all=False),
        proof=proved.document(),
    )


def _tell(session: Session, home: "Home", proved: "Proved", *, is_there: bool) -> None:
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
    noted = len(home.views.all(journal.VIEW))
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
        session.say(safe(one.task_title))
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
    for command, what in lines:
        session.say(f"{begin} {command}  # {what}")


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
