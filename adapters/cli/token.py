"""`wakelog token`: who enters a home of a database on the page, with a token of their own."""

import os

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session
from adapters.home.roles import ROLES

DAYS = 90
DAYS_MAX = 3650


@click.group("token")
def token_command() -> None:
    """Give people tokens for homes of the database that WAKELOG_DATABASE names; end them."""


@token_command.command(
    "create", epilog="Examples: wakelog token create anna; wakelog token create anna --role viewer"
)
@click.argument("home", type=TEXT)
@click.option("--for", "subject", default="", metavar="SUBJECT", help="Who; else the home's name.")
@click.option("--role", type=click.Choice(ROLES), default="owner", help="Else owner.")
@click.option("--days", type=click.IntRange(1, DAYS_MAX), default=DAYS, help=f"Else {DAYS}.")
@click.pass_obj
def create_command(session: Session, home: str, subject: str, role: str, days: int) -> None:
    """Draw a token for a person and a home. It is shown once: only its digest is kept."""
    from adapters.actions.people import create_token

    made = create_token(home, subject, role, days, os.environ)
    if session.as_json:
        session.document(made)
        return
    session.say(made.token)
    session.note(
        f"{made.subject} enters {made.home} with it as {made.role}, until {made.expires_at}."
    )
    session.note(f"It is not shown again. End it with `wakelog token revoke {made.id}`.")


@token_command.command("list", epilog="Example: wakelog token list anna")
@click.argument("home", type=TEXT)
@click.pass_obj
def list_command(session: Session, home: str) -> None:
    """List the tokens of a home, without their texts."""
    from adapters.actions.people import list_tokens

    found = list_tokens(home, os.environ)
    if session.as_json:
        session.document(found)
    elif not found:
        session.say("There are no tokens yet.")
    else:
        rows = [[one.id, one.subject, one.role, one.state, one.expires_at] for one in found]
        session.table(["Id", "Who", "Role", "State", "Until"], rows)


@token_command.command("revoke", epilog="Example: wakelog token revoke 0f3a9c0d11aa")
@click.argument("token_id", metavar="ID", type=TEXT)
@click.pass_obj
def revoke_command(session: Session, token_id: str) -> None:
    """End a token: from the next request on it opens nothing."""
    from adapters.actions.people import revoke_token

    done = revoke_token(token_id, os.environ)
    if session.as_json:
        session.document(done)
        return
    session.say(f"The token {done.id} opens nothing any more.")
