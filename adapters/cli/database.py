"""`wakelog database init` and `check`: a PostgreSQL database in which homes are."""

import os

import click

from adapters.actions.database_homes import check_database, init_database
from adapters.cli.shared import Session


@click.group("database")
def database_command() -> None:
    """Prepare a PostgreSQL database for homes, and look at it; WAKELOG_DATABASE says which."""


@database_command.command("init", epilog="Example: wakelog database init")
@click.pass_obj
def init_command(session: Session) -> None:
    """Make the tables and roles that homes need; run as the database's owner. Safe to repeat."""
    done = init_database(os.environ)
    if session.as_json:
        session.document(done)
        return
    session.say(f"{'Prepared' if done.made else 'Nothing to do in'} {done.database}.")
    session.note("Make a home with `wakelog home create NAME`.")


@database_command.command("check", epilog="Example: wakelog database check")
@click.option(
    "--runtime",
    is_flag=True,
    help="Make anew what workers go by: queue, leases, times. Nothing of a home is lost by it.",
)
@click.pass_obj
@click.pass_context
def check_command(ctx: click.Context, session: Session, *, runtime: bool) -> None:
    """Look whether this login can keep homes in it, and whether it keeps what is committed.

    With --runtime the queue and the leases of workers are thrown away and made anew, as the
    database's owner: every home is due then. Workers may go on meanwhile.
    """
    found = check_database(os.environ, makes_runtime=runtime)
    if session.as_json:
        session.document(found)
    for one in found.findings:
        session.say(f"FIND  {one}")
    for one in found.notes:
        session.say(f"note  {one}")
    if not found.findings:
        session.say(f"ok    {found.database}: {found.homes} homes")
    ctx.exit(1 if found.findings else 0)
