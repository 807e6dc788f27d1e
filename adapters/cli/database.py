"""A PostgreSQL database in which homes are, and who enters them: `wakelog database`, `token`."""

import os
from collections.abc import Sequence

import click

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session, flag, option
from adapters.home.roles import ROLES
from adapters.text.common import counted, safe
from adapters.usecases import database_homes as homes
from domain.errors import Refused

MAY_ERASE = "as the owner, `wakelog database init --login eraser=NAME`"
BEYOND_TABLES = (
    "Write-ahead logs, standbys, base backups and dumps hold what was erased until they are gone."
)


@group("database")
def database_command() -> None:
    """Prepare a PostgreSQL database for homes, and look at it; WAKELOG_DATABASE says which."""


@command("database init", example=("", "--login page=www"))
@option(
    "--login logins=KIND=NAME", "page=NAME, worker=NAME, eraser=NAME or operator=NAME.",
    multiple=True,
)  # fmt: skip
def init_command(session: Session, logins: Sequence[str]) -> None:
    """Make the tables and roles that homes need; run as the database's owner. Safe to repeat.

    Tables of an older wakelog are brought up to date. With --login a login is made, or one that is
    there becomes a page's, which works in one home at a time, or a worker's, and nothing more here;
    an eraser's is a page's with which `wakelog erase`, and the page's, takes words out for good; an
    operator's is a worker's that freezes and thaws homes, for a page with an operator's page.
    WAKELOG_PAGE_PASSWORD and WAKELOG_WORKER_PASSWORD are their passwords from then on, where set.
    """
    done = homes.init_database(os.environ, logins)
    told = f"{'Prepared' if done.made else 'Nothing to do in'} {done.database}."
    if done.ran and not done.made:
        told = f"Brought {done.database} up to date: {', '.join(done.ran)}."
    session.tell(done, told)
    for one in done.logins:
        kind, _, name = one.partition("=")
        is_eraser = kind == "eraser"
        an = "an" if kind == "operator" else "a"
        told = "a page's login, and may erase" if is_eraser else f"{an} {kind}'s login"
        session.say(f"{safe(name)} is {told}.")
    session.note("Make a home with `wakelog home create NAME`.")


@command("database check")
@flag(
    "--runtime",
    "Make anew what workers go by: queue, leases, times. Nothing of a home is lost by it.",
)
@click.pass_context
def check_command(ctx: click.Context, session: Session, *, runtime: bool) -> None:
    """Look whether this login can keep homes in it, and whether it keeps what is committed.

    With --runtime the queue and the leases of workers are thrown away and made anew, as the
    database's owner: every home is due then. Workers may go on meanwhile. What models cost today,
    for `worker --cost`, is kept; the questions of the last minute are forgotten.
    """
    found = homes.check_database(os.environ, makes_runtime=runtime)
    session.printed(found)
    for one in found.findings:
        session.say(f"FIND  {one}")
    for one in found.notes:
        session.say(f"note  {one}")
    if not found.findings:
        seen = "one home at a time" if found.homes is None else f"{found.homes} homes"
        session.say(f"ok    {found.database}: {seen}")
        erases = "may" if found.may_erase else f"may not: {MAY_ERASE}"
        session.say(f"note  `wakelog erase` with this login: {erases}")
    ctx.exit(1 if found.findings else 0)


@command("database scrub", example=("", "--sure"))
@flag("--sure", "Do not ask.")
def scrub_command(session: Session, *, sure: bool) -> None:
    """Write tables anew, so that their files hold nothing of what was erased; as their owner.

    `wakelog erase` takes words out of all rows; what files of tables still hold of these goes by
    this (VACUUM FULL). Each table is locked meanwhile, for everybody, one after another, and needs
    as much free space again. Write-ahead logs, standbys, base backups and dumps are not touched.

    Exit status 1: something of before is still there; it is named.
    """
    database = homes.check_owner(os.environ)
    if not sure:
        because = f"tables of {database.name} are locked while they are written anew"
        if not session.can_ask:
            raise Refused("not_sure", because=because, instead="say --sure")
        click.confirm(safe(f"{because}: nobody works meanwhile. Go on?"), abort=True, err=True)
    with session.steps("Writing anew") as progress:
        done = homes.scrub_database(os.environ, progress)
    if not session.printed(done):
        for one in done.tables:
            held = f"; {one.held} dead rows stay, as a transaction sees them" if one.held else ""
            session.say(f"{one.table}: {one.before:,} bytes, now {one.after:,}{held}")
        for name in done.skipped:
            session.say(f"{name}: not written anew, it is for the owner of the database")
        if any(one.held for one in done.tables):
            session.say("Repeat it when what is open has ended: reading, a dump, a standby.")
        session.note(BEYOND_TABLES)
    raise SystemExit(0 if done.ok else 1)


@command("database adopt", epilog="Example: wakelog database adopt moved")
@click.argument("how", type=click.Choice(["moved", "copy"]))
def adopt_command(session: Session, how: str) -> None:
    """Go on in a database that does not stand where it was made; run as its owner.

    moved: this is the database from now on, and the one that it was made of is gone or is written
    no more. All goes on as it was.

    copy: it stands beside its original, which is worked in. Each home gets a new name to write by
    and is frozen: no agent wakes until `wakelog --home pg:NAME home thaw`.

    Until one of them is said, its homes are read, and nothing is written. Pages that ran meanwhile
    are to be started again.
    """
    done = homes.adopt_database(os.environ, is_copy=how == "copy")
    if how == "moved":
        session.tell(done, f"{done.database} goes on here.")
        return
    renamed = counted(done.renamed, "home")
    session.tell(done, f"{done.database} is a copy: {renamed} with a new name.")
    session.note("Let one go on with `wakelog --home pg:NAME home thaw`.")


DAYS = 90
DAYS_MAX = 3650


@group("token")
def token_command() -> None:
    """Give people tokens for homes of the database that WAKELOG_DATABASE names; end them."""


@command("token create", "home", example=("anna", "anna --role viewer"))
@option("--for subject=SUBJECT", "Who; else the home's name.", default="")
@option("--role", "Else owner.", click.Choice(ROLES), default="owner")
@option("--days", f"Else {DAYS}.", click.IntRange(1, DAYS_MAX), default=DAYS)
def create_command(session: Session, home: str, subject: str, role: str, days: int) -> None:
    """Draw a token for a person and a home. It is shown once: only its digest is kept."""
    from adapters.usecases.database_homes import create_token

    made = create_token(home, subject, role, days, os.environ)
    session.tell(made, made.token)
    session.note(
        f"{made.subject} enters {made.home} with it as {made.role}, until {made.expires_at}."
    )
    session.note(f"It is not shown again. End it with `wakelog token revoke {made.id}`.")


@command("token list", "home", example="anna")
def list_command(session: Session, home: str) -> None:
    """List the tokens of a home, without their texts."""
    from adapters.usecases.database_homes import list_tokens

    found = list_tokens(home, os.environ)
    rows = ((one.id, one.subject, one.role, one.state, one.expires_at) for one in found)
    headings = ("Id", "Who", "Role", "State", "Until")
    session.listing(found, headings, rows, "There are no tokens yet.")


@command("token revoke", "token_id=ID", example="0f3a9c0d11aa")
def revoke_command(session: Session, token_id: str) -> None:
    """End a token: from the next request on it opens nothing."""
    from adapters.usecases.database_homes import revoke_token

    done = revoke_token(token_id, os.environ)
    session.tell(done, f"The token {done.id} opens nothing any more.")
