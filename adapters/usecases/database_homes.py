"""A PostgreSQL database and the homes in it: prepare, look, make, list (ADR 66)."""

import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from adapters.documents import homes as d
from adapters.home import files
from adapters.home.home_location import DATABASE_PREFIX, DatabaseLocation, database_of, homes_of
from adapters.home.roles import PERMISSIONS, ROLES
from adapters.home.settings_toml import DEFAULT_TOML
from adapters.home.write_guard import WriteGuard
from domain.errors import Refused, invalid

if TYPE_CHECKING:
    from adapters.store.postgres.database import Database
    from adapters.store.postgres.homes import HomeRow, Homes
    from adapters.store.postgres.people import People


PASSWORDS = {
    "page": "WAKELOG_PAGE_PASSWORD",
    "worker": "WAKELOG_WORKER_PASSWORD",
    "eraser": "WAKELOG_PAGE_PASSWORD",
    "operator": "WAKELOG_PAGE_PASSWORD",
}


def init_database(environ: Mapping[str, str], logins: Sequence[str] = ()) -> d.PreparedDatabase:
    """Make the tables and roles that homes need, where they are not there yet.

    Args:
        environ: `WAKELOG_DATABASE`; the passwords of logins, see `PASSWORDS`.
        logins: Logins that are to be of a kind of `PASSWORDS`, as ``page=NAME``.

    Raises:
        Refused: Code ``invalid_value``: no database is named, or no such login may be; code
            ``missing_extra``; ``read_only``.
        Damaged: Code ``newer_format``.
    """
    wished = [_login(one) for one in logins]
    database = database_of(environ)
    ran = database.make()
    database.look()
    for kind, name in wished:
        database.make_login(kind, name, environ.get(PASSWORDS[kind], ""))
    is_new = "logs" in ran or ran == ["runtime"]
    return d.PreparedDatabase(database.name, is_new, ran, list(logins))


def _login(given: str) -> tuple[str, str]:
    kind, _, name = given.partition("=")
    if kind not in PASSWORDS or not name:
        because = f"{given[:40]!r} names no login of a page or a worker"
        raise invalid(because, "write page=NAME or worker=NAME, eraser=NAME or operator=NAME")
    return kind, name


def check_database(environ: Mapping[str, str], *, makes_runtime: bool = False) -> d.CheckedDatabase:
    """Look whether homes can be kept in a database by this login. Raises as `init_database`.
    `makes_runtime`: make anew what workers go by; nothing of a home is in it."""
    database = database_of(environ)
    login = database.login()
    homes = homes_of(environ) if login else None  # else it cannot even look
    if homes and makes_runtime:
        database.make_runtime()
    findings, notes = database.trouble()
    count = len(homes.all()) if homes and login != "page" else None
    return d.CheckedDatabase(
        database.name, count, findings, notes, login, bool(login) and database.may_erase()
    )


def check_owner(environ: Mapping[str, str]) -> "Database":
    """The database, if this login owns what homes are kept in. Raises as `init_database`."""
    database = database_of(environ)
    database.look()
    if database.login() != "owner":
        because = f"this login does not own the tables of wakelog in {database.name}"
        raise Refused("read_only", because=because, instead="say it as their owner")
    return database


def scrub_database(
    environ: Mapping[str, str], told: Callable[[int, int], None] = lambda _nth, _of: None
) -> d.ScrubbedDatabase:
    """Write the tables anew that hold words, so that their files hold none of before. `told`: how
    many are done, of how many. Raises as `check_owner`; code ``read_only``: one is in use."""
    database = check_owner(environ)
    from adapters.store.postgres.database import STATISTICS
    from adapters.store.postgres.schema import TEXTS

    done: list[d.ScrubbedTable] = []
    for one in database.scrub():
        done.append(d.ScrubbedTable(*one))
        told(len(done), len(TEXTS) + 1)
    skipped = [STATISTICS] if done[-1].table != STATISTICS else []
    is_ok = not (skipped or any(one.held for one in done))
    return d.ScrubbedDatabase(is_ok, database.name, done, skipped)


def adopt_database(environ: Mapping[str, str], *, is_copy: bool) -> d.AdoptedDatabase:
    """Say what a database is that does not stand where it was made. `is_copy`: it stands beside its
    original: each home gets a new name to write by, and is frozen; else it is the database from now
    on. Raises Refused, code ``nothing_to_adopt``: it stands there; or as `init_database`."""
    homes = homes_of(environ)
    renamed = homes.adopt(files.draw_name if is_copy else None)
    return d.AdoptedDatabase(homes.database.name, "copy" if is_copy else "moved", renamed)


def create_home(name: str, environ: Mapping[str, str]) -> DatabaseLocation:
    """Make a home in a database, named with small letters, digits and hyphens; `WAKELOG_REPLICA`
    names its writer, else a name is drawn. Raises Refused, code ``invalid_value``: the name is none
    or taken; or as `init_database`."""
    homes = homes_of(environ)
    homes.create(name, files.replica_given(environ) or files.draw_name(), DEFAULT_TOML)
    return DatabaseLocation(homes, name, environ)


def list_homes(environ: Mapping[str, str]) -> list[d.ListedHome]:
    """All homes of a database, by name. Raises as `init_database`."""
    homes = homes_of(environ)
    ends = homes.all_ends()
    return [
        d.ListedHome(one.name, one.state, one.replica, *ends[one.number]) for one in homes.all()
    ]


# ----------------------------------------------------------------------------- who may enter a home
# Who may enter a home of a database, and its tokens; as whoever runs the database (ADR 69).

TOKEN_BYTES = 32
SUBJECT_MAX = 200  # characters of a person's name


def create_token(
    name: str, subject: str, role: str, days: int, environ: Mapping[str, str]
) -> d.CreatedToken:
    """Draw a token for a person and a home, good for so many days; who is no member yet becomes
    one. `subject`: empty: who the home is named after; `role`: the person's own is a bound. Raises
    Refused, code ``unknown_home`` or ``invalid_value``, or as `homes_of`."""
    homes = homes_of(environ)
    home, people = homes.named(_plain_name(name)), _people(homes)
    who = _subject(subject or home.name)
    own = people.members(home).get(who)
    if own is None:
        people.add(home, who, role)
    elif not PERMISSIONS[role] <= PERMISSIONS[own]:
        because = f"{who} is {own} of {home.name}, and no token makes more of that"
        raise invalid(because, f"say `wakelog home access {home.name} --add {who}={role}` first")
    token = secrets.token_hex(TOKEN_BYTES)
    token_id, expires_at = people.keep(token, home, who, role, days)
    return d.CreatedToken(token, home.name, role, expires_at, who, token_id)


def list_tokens(name: str, environ: Mapping[str, str]) -> list[d.ListedToken]:
    """The tokens of a home, the newest first. Raises as `create_token`."""
    homes = homes_of(environ)
    home = homes.named(_plain_name(name))
    return [d.ListedToken(*one) for one in _people(homes).tokens(home)]


def revoke_token(token_id: str, environ: Mapping[str, str]) -> d.RevokedToken:
    """End a token, at once and on all machines. Raises Refused: there is none of this id."""
    if not _people(homes_of(environ)).revoke(token_id):
        because = f"there is no token {token_id[:40]!r}"
        raise invalid(because, "see `wakelog token list HOME`; its id stands there")
    return d.RevokedToken(token_id)


def access(
    name: str, add: Sequence[str], remove: Sequence[str], environ: Mapping[str, str]
) -> list[d.HomeMember]:
    """Change who may enter a home; who may now. Raises as `create_token`."""
    homes = homes_of(environ)
    home, people = homes.named(_plain_name(name)), _people(homes)
    wished = [_role(one) for one in add]
    for subject in remove:
        if not people.remove(home, subject):
            raise invalid(f"{subject[:40]!r} is no member of {home.name}", "see who is without it")
    for subject, role in wished:
        people.add(home, subject, role)
    return [d.HomeMember(*one) for one in people.members(home).items()]


def freeze_home(name: str, environ: Mapping[str, str]) -> d.FrozenHome:
    """Let nobody write in a home. Raises Refused: it is frozen already, or has moved."""
    place = DatabaseLocation(homes_of(environ), _plain_name(name), environ)
    place.hold().check(place.name)
    place.keep_hold(WriteGuard("frozen"))
    return d.FrozenHome(place.name)


def plan_deletion(name: str, environ: Mapping[str, str]) -> d.DeletedHome:
    """What `delete_home` would delete. Raises Refused, code ``home_open``: it is neither frozen nor
    moved; ``frozen``: it is being copied; ``agent_running``: a wake has not ended; or as
    `create_token`."""
    homes, place, row = _to_delete(name, environ)
    return d.DeletedHome(place.name, *homes.contents(row))


def delete_home(name: str, environ: Mapping[str, str]) -> d.DeletedHome:
    """Delete a home with all that its database keeps of it, and what this machine made of it:
    analytics, forks. Whole or not at all. Raises as `plan_deletion`."""
    homes, place, row = _to_delete(name, environ)
    gone = homes.delete(row)
    shutil.rmtree(place.folder, ignore_errors=True)
    return d.DeletedHome(place.name, *gone)


def _to_delete(
    name: str, environ: Mapping[str, str]
) -> tuple["Homes", DatabaseLocation, "HomeRow"]:
    from adapters.store.postgres.homes import home_open

    if "/" in name or name.startswith("~"):
        because = f"{name} is a home in a folder"
        raise invalid(because, "remove the folder")
    homes = homes_of(environ)
    row = homes.named(_plain_name(name))
    place = DatabaseLocation(homes, row.name, environ)
    if row.state == "open":
        raise home_open(row)
    if row.moved_to.startswith("to "):  # it is moved just now
        place.hold().check(place.name)
    if any(one.is_alive for one in place.leases().all("")):
        because = f"an agent of {place.name} is at work"
        raise Refused("agent_running", because=because, instead="repeat when it has ended")
    return homes, place, row


def rename_home(name: str, new: str, environ: Mapping[str, str]) -> d.RenamedHome:
    """Give a home another name. Raises as `create_token`."""
    homes = homes_of(environ)
    home = homes.named(_plain_name(name))
    homes.rename(home, _plain_name(new))
    return d.RenamedHome(f"{DATABASE_PREFIX}{_plain_name(new)}", f"{DATABASE_PREFIX}{home.name}")


def _people(homes: "Homes") -> "People":
    from adapters.store.postgres.people import People

    return People(homes.database)


def _plain_name(name: str) -> str:
    return name.removeprefix(DATABASE_PREFIX)


def _subject(given: str) -> str:
    if given and given.isprintable() and "=" not in given and len(given) <= SUBJECT_MAX:
        return given
    instead = f"write a name or an address, {SUBJECT_MAX} characters at most, without ="
    raise invalid(f"{given[:40]!r} is no name of a person", instead)


def _role(given: str) -> tuple[str, str]:
    subject, _, role = given.rpartition("=")
    if role not in ROLES:
        raise invalid(f"{given[:40]!r} names no role", f"write SUBJECT={'|'.join(ROLES)}")
    return _subject(subject), role
