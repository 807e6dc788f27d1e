"""`wakelog status`: what waits, runs or is in doubt."""

import click

from adapters.cli.shared import NO_HOME, Session
from adapters.documents.status import status_document
from adapters.text.common import safe
from adapters.text.status import status_lines


@click.command("status", epilog="Example: wakelog --json status")
@click.pass_obj
def status_command(session: Session) -> None:
    """What is queued, running, waiting, due or in doubt."""
    home = session.reading()
    document = status_document(home)
    if session.as_json:
        session.document(document)
    elif not home.exists:
        session.say(NO_HOME.format(home.path))
    else:
        for line in status_lines(document, home.settings.timezone):
            session.say(safe(line))
