"""`wakelog status`: what waits, runs or is in doubt."""

from adapters.cli.lazy_groups import command
from adapters.cli.shared import NO_HOME, Session, flag
from adapters.documents.status import count_status, status_document
from adapters.text.common import safe
from adapters.text.status import LINES_MAX, status_lines


@command("status", example=("--json", "--check || systemctl --user restart wakelog"))
@flag("--check", "Whether agents are awake, as `health` says.")
def status_command(session: Session, *, check: bool) -> None:
    """What is queued, running, waiting, due or in doubt."""
    if check:
        from adapters.cli.upkeep import check_health

        check_health(session)
    home = session.reading()
    if session.as_json:
        session.document(status_document(home))
    elif not home.exists:
        session.say(NO_HOME.format(home.place.name))
    else:
        document = status_document(home, LINES_MAX)
        session.say_each(
            map(safe, status_lines(document, count_status(home), home.settings.timezone))
        )
