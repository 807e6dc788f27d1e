"""Who may enter a home of a database, and its tokens; as whoever runs the database (ADR 69)."""

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adapters.documents.databases import (
    CreatedToken,
    FrozenHome,
    HomeMember,
    ListedToken,
    RenamedHome,
    RevokedToken,
)
from adapters.home.hold import Hold
from adapters.home.place import PREFIX, DatabasePlace, homes_of
from adapters.home.roles import DEEDS, ROLES
from domain.errors import Refused, invalid

if TYPE_CHECKING:
    from adapters.store.postgres.homes import Homes
    from adapters.store.postgres.people import People

TOKEN_BYTES = 32
SUBJECT_MAX = 200  # characters of a person's name


def create_token(
    name: str, subject: str, role: str, days: int, environ: Mapping[str, str]
) -> CreatedToken:
    """Draw a token for a person and a home; who is no member yet becomes one.

    Args:
        name: The home's.
        subject: Who it is for; empty: who the home is named after.
        role: What it may; the person's own role is a bound.
        days: How long it is good.
        environ: See `homes_of`.

    Raises:
        Refused: Code ``unknown_home``; ``invalid_value``; or as `homes_of`.
    """
    homes = homes_of(environ)
    home, people = homes.named(_plain(name)), _people(homes)
    who = _subject(subject or home.name)
    own = people.members(home).get(who)
    if own is None:
        people.add(home, who, role)
    elif not DEEDS[role] <= DEEDS[own]:
        because = f"{who} is {own} of {home.name}, and no token makes more of that"
        raise invalid(because, f"say `wakelog home access {home.name} --add {who}={role}` first")
    token = secrets.token_hex(TOKEN_BYTES)
    token_id, expires_at = people.keep(token, home, who, role, days)
    return CreatedToken(token, home.name, role, expires_at, who, token_id)


def list_tokens(name: str, environ: Mapping[str, str]) -> list[ListedToken]:
    """The tokens of a home, the newest first. Raises as `create_token`."""
    homes = homes_of(environ)
    home = homes.named(_plain(name))
    return [ListedToken(*one) for one in _people(homes).tokens(home)]


def revoke_token(token_id: str, environ: Mapping[str, str]) -> RevokedToken:
    """End a token, at once and on all machines. Raises Refused: there is none of this id."""
    if not _people(homes_of(environ)).revoke(token_id):
        because = f"there is no token {token_id[:40]!r}"
        raise invalid(because, "see `wakelog token list HOME`; its id stands there")
    return RevokedToken(token_id)


def access(
    name: str, add: Sequence[str], remove: Sequence[str], environ: Mapping[str, str]
) -> list[HomeMember]:
    """Change who may enter a home; who may now. Raises as `create_token`."""
    homes = homes_of(environ)
    home, people = homes.named(_plain(name)), _people(homes)
    wished = [_role(one) for one in add]
    for subject in remove:
        if not people.remove(home, subject):
            raise invalid(f"{subject[:40]!r} is no member of {home.name}", "see who is without it")
    for subject, role in wished:
        people.add(home, subject, role)
    return [HomeMember(*one) for one in people.members(home).items()]


def freeze_home(name: str, environ: Mapping[str, str]) -> FrozenHome:
    """Let nobody write in a home. Raises Refused: it is frozen already, or has moved."""
    place = DatabasePlace(homes_of(environ), _plain(name), environ)
    place.hold().check(place.name)
    place.keep_hold(Hold("frozen"))
    return FrozenHome(place.name)


def rename_home(name: str, new: str, environ: Mapping[str, str]) -> RenamedHome:
    """Give a home another name. Raises as `create_token`."""
    homes = homes_of(environ)
    home = homes.named(_plain(name))
    homes.rename(home, _plain(new))
    return RenamedHome(f"{PREFIX}{_plain(new)}", f"{PREFIX}{home.name}")


def _people(homes: "Homes") -> "People":
    from adapters.store.postgres.people import People

    return People(homes.database)


def _plain(name: str) -> str:
    return name.removeprefix(PREFIX)


def _subject(given: str) -> str:
    is_one = given and given.isprintable() and "=" not in given and len(given) <= SUBJECT_MAX
    if not is_one:
        instead = f"write a name or an address, {SUBJECT_MAX} characters at most, without ="
        raise invalid(f"{given[:40]!r} is no name of a person", instead)
    return given


def _role(given: str) -> tuple[str, str]:
    subject, _, role = given.rpartition("=")
    if role not in ROLES:
        because = f"{given[:40]!r} names no role"
        raise Refused("invalid_value", because=because, instead=f"write SUBJECT={'|'.join(ROLES)}")
    return _subject(subject), role
