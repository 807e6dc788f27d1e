"""`wakelog copy` and `home thaw`: a home goes from a folder to a database, or back."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session
from adapters.documents.databases import CopiedHome
from adapters.home.place import place_of
from adapters.store.copying import Told
from adapters.text.common import safe
from adapters.upkeep.copying import copy_home


@click.command(
    "copy", epilog="Examples: wakelog copy ~/.wakelog pg:anna; wakelog copy pg:anna ~/anna"
)
@click.argument("source", type=TEXT, metavar="SRC")
@click.argument("target", type=TEXT, metavar="DST")
@click.pass_obj
def copy_command(session: Session, source: str, target: str) -> None:
    """Move a home: into a database, out of one, or into another folder.

    SRC and DST are folders or pg:NAME. Row for row and byte for byte; SRC keeps all it has and says
    from then on where it went. End what works in SRC first. If it is cut off, repeat it; `wakelog
    --home SRC home thaw` takes it back.
    """
    here, there = place_of(source, os.environ), place_of(target, os.environ)
    with _progress(session) as told:
        copied = copy_home(here, there, os.environ, told)
    if session.as_json:
        session.document(CopiedHome(here.name, there.name, copied.journal, copied.agent))
        return
    counts = f"{copied.journal} appends of the journal, {copied.agent} of the agents"
    session.say(safe(f"{here.name} is {there.name} now: {counts}."))
    session.note(safe(f"Prove it with `wakelog --home {there.name} prove`."))


@contextmanager
def _progress(session: Session) -> Iterator[Told]:
    """A bar on stderr, where somebody looks."""
    if session.as_json or session.is_quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    reached: dict[str, float] = {}
    with click.progressbar(length=200, label="Copying", file=sys.stderr) as bar:

        def told(log: str, n: int, of: int) -> None:
            before = sum(reached.values())
            reached[log] = 100 * n / of
            bar.update(int(sum(reached.values())) - int(before))

        yield told
