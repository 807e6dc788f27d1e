"""`wakelog demo-data`: months of fifty agents in a minute, for questions and plots."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.demo import check_ours, throw_away
from adapters.cli.shared import Session
from adapters.demo.stories import SOURCE
from adapters.documents.demo import DemoData, DemoDataThere
from adapters.home import files
from adapters.home.files import HOME_VARIABLE, home_path
from adapters.proof.prove import prove_home
from adapters.text.reading import counted
from adapters.wiring import open_home
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.demo.generator import Lived
    from adapters.proof.prove import Proved

FOLDER = "demo-data"
AGENTS_MAX = 50
MONTHS_MAX = 24


@click.command(
    "demo-data",
    epilog="Examples: wakelog demo-data; "
    "wakelog demo-data --home /tmp/small --agents 10 --months 2 --seed b",
)
@click.option("--home", "folder", type=click.Path(), metavar="DIR", help=f"Where; else ./{FOLDER}.")
@click.option("--agents", type=click.IntRange(1, AGENTS_MAX), default=50, show_default=True)
@click.option("--months", type=click.IntRange(1, MONTHS_MAX), default=6, show_default=True)
@click.option("--seed", default="wakelog", show_default=True, metavar="TEXT")
@click.option("--fresh", is_flag=True, help="Throw an earlier one away and make it anew.")
@click.pass_context
def demo_data_command(
    ctx: click.Context, folder: str | None, *, agents: int, months: int, seed: str, fresh: bool
) -> None:
    """Make a home of many agents and months, to ask and plot.

    The runtime runs as it always does, on a virtual clock from January 2026 in Europe/Berlin. A
    scripted person writes, ticks, asks, confirms, edits and rejects with reasons; offline models
    guess, slip, repeat themselves, and are down for hours; templates get better and worse versions.
    The same seed and size write the same bytes. It works in a home of its own and never in yours.
    All of it is proved before the home gets its name.
    """
    outer = ctx.find_object(Session)
    assert outer is not None
    given = folder or ctx.find_root().params.get("home") or os.environ.get(HOME_VARIABLE) or FOLDER
    path = home_path(str(given), os.environ)
    if not _is_wanted(path, SOURCE, is_fresh=fresh):
        _tell_there(outer, path)
        return
    lived, proved = _made(outer, path, seed, agents, months)
    if outer.as_json:
        outer.document(
            DemoData(
                home=str(path),
                seed=seed,
                days=lived.days,
                agents=lived.agents,
                wakes=lived.wakes,
                proof=proved.document(),
            )
        )
    else:
        _tell(outer, path, lived, proved)
    raise SystemExit(0 if proved.ok else 1)


def _is_wanted(path: Path, source: str, *, is_fresh: bool) -> bool:
    """Whether the home is to be made; an earlier one is thrown away here, if that is asked.

    Raises:
        Refused: Code ``invalid_value``: something else is there.
    """
    if files.exists(path):
        session = Session(path, model="rules", as_json=True, is_quiet=True)
        try:
            check_ours(session.reading(), source)
        finally:
            session.close()
        if not is_fresh:
            return False
        throw_away(path, source)
    if path.exists() and any(path.iterdir()):
        because = f"the folder {path} holds other files"
        raise Refused("invalid_value", because=because, instead="name an empty or a new folder")
    if not path.parent.is_dir():
        because = f"the folder {path.parent} for the home is missing"
        raise Refused("invalid_value", because=because, instead="make it first")
    return True


def _made(
    session: Session, path: Path, seed: str, agents: int, months: int
) -> "tuple[Lived, Proved]":
    """Make it beside its place and prove it, so that a home with the name is a whole one."""
    from adapters.demo.generator import make

    beside = path.with_name(f".{path.name}.making")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(mode=0o700)
    try:
        is_shown = sys.stderr.isatty() and not session.is_quiet and not session.as_json
        with click.progressbar(
            length=1, label="Living through it", file=sys.stderr, hidden=not is_shown
        ) as bar:

            def progress(day: int, days: int) -> None:
                bar.length = days
                bar.update(day - bar.pos)

            lived = make(beside, seed=seed, agents_count=agents, months=months, progress=progress)
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


def _tell_there(session: Session, path: Path) -> None:
    if session.as_json:
        session.document(DemoDataThere(str(path)))
        return
    session.say(f"The data is there already, in {path}; --fresh makes it anew.")


def _tell(session: Session, path: Path, lived: "Lived", proved: "Proved") -> None:
    session.say(
        f"{counted(lived.days, 'day')} of {counted(lived.agents, 'agent')}: "
        f"{counted(lived.wakes, 'wake')} in {path}."
    )
    session.say(
        f"{proved.rows:,} rows of {proved.causes:,} causes proved: "
        + ("every byte is the same." if proved.ok else "some differ, see `wakelog prove`.")
    )
    session.say(f"digest {proved.digest}")
    session.note(f"Go on with `wakelog --home {path} metrics`, or with `make notebooks`.")
