"""`wakelog export --markdown`: tasks as a file that imports to the same state (ADR 53)."""

from pathlib import Path

import click

from adapters.actions.exporting import exported, keep_text
from adapters.actions.listing import Wanted
from adapters.cli.shared import Session
from adapters.documents.deeds import ExportedTasks
from adapters.documents.tasks import catalog_of, category_named
from adapters.home.given import STDIN
from adapters.text.common import safe
from adapters.text.reading import counted
from adapters.wiring import Home
from domain.errors import Refused


def export_tasks(
    session: Session, home: Home, file: str, category: str, *, is_open: bool, is_replacing: bool
) -> None:
    """Write tasks to a file, or to the standard output (``-``)."""
    if session.as_json and file == STDIN:
        instead = "name a file"
        raise Refused("invalid_value", because="--json tells what was written", instead=instead)
    wanted = Wanted(category=category_named(catalog_of(home), category).id if category else "")
    found = exported(home, "open" if is_open else "kept", wanted)
    if file == STDIN:
        click.echo(found.text, nl=False)
        return
    keep_text(Path(file), found.text, is_replacing=is_replacing)
    size = len(found.text.encode())
    if session.as_json:
        session.document(ExportedTasks(safe(file), found.tasks, size))
    else:
        session.say(f"Wrote {counted(found.tasks, 'task')} to {safe(file)}")
