"""A first run: `wakelog init`."""

import os

import click

from adapters.actions.agents import Wish, assign_all, tasks_alone
from adapters.actions.sources import sources_of
from adapters.cli.consent import can_ask
from adapters.cli.entering import TEXT
from adapters.cli.importing import import_again, tell_all
from adapters.cli.offering import offer_zone
from adapters.cli.shared import Session, UserError
from adapters.documents.first_run import BegunHome
from adapters.documents.tasks import ImportReport, import_document
from adapters.home.place import keep_zone
from adapters.text.common import safe
from adapters.text.reading import counted


@click.command(
    "init",
    epilog="Examples: wakelog init; wakelog init --zone Europe/Berlin --import TODO.md --agents",
)
@click.option("--zone", type=TEXT, default="", metavar="Z", help="Your time zone.")
@click.option("--import", "file", type=click.Path(), metavar="FILE", help="Tasks to bring in.")
@click.option("--no-import", is_flag=True, help="Bring nothing in.")
@click.option(
    "--agents/--no-agents", default=None, help="Make an agent for each open task, or not."
)
@click.pass_obj
def init_command(
    session: Session, *, zone: str, file: str | None, no_import: bool, agents: bool | None
) -> None:
    """Make a home: your time zone, tasks from a file, agents.

    On a terminal it asks for what no option says; elsewhere it leaves that out. In a home that is
    there it does the same, and nothing twice.
    """
    asks = can_ask(session)
    if zone:
        keep_zone(session.place, zone, os.environ)
    elif asks:
        offer_zone(session.place, session.settings().timezone)
    home = session.writing(is_asking=False)
    session.note(f"The home is {home.place.name}, its time zone {home.settings.timezone}.")
    if file is None and asks and not no_import:
        file = click.prompt("A file of tasks to import, or Enter", "", show_default=False, err=True)
    report = None if no_import or not file else import_one(session, file)
    home.views.catch_up()
    has_alone = tasks_alone(home) > 0
    if agents is None and asks and has_alone:
        agents = click.confirm("Make an agent for each open task?", default=True, err=True)
    made = assign_all(home, Wish())[0] if agents and has_alone else []
    if session.as_json:
        imported = import_document([report]) if report else None
        document = BegunHome(home.place.name, home.settings.timezone, imported, len(made))
        session.document(document)
        return
    if made:
        session.say(f"Made {counted(len(made), 'agent')}.")
    session.note(f"Go on with `wakelog {'wake' if made else 'status'}`.")


def import_one(session: Session, file: str) -> ImportReport:
    """Bring in a file where a home is made; told as `wakelog import` does. Raises UserError."""
    report = import_again(session, file)
    if report.failure:
        raise UserError(safe(f"{report.file}: {report.failure} [unreadable_file]"))
    names = [one.name for one in sources_of(session.reading(), [file], "", os.environ)]
    tell_all(session, names, [report], is_dry_run=False)
    return report
