"""Members of homes and their tokens: of a token only the SHA-256 is kept (ADR 69)."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import HomeRow
from adapters.store.postgres.statements import ROLE

ID_CHARACTERS = 12


class HomeEntry(NamedTuple):
    """A home that a token opens: as whom, and with which role; `own_role` is the person's."""

    token: str
    number: int
    home: str
    subject: str
    role: str
    own_role: str


class TokenRow(NamedTuple):
    """A token that was given, without its text. Times are the server's."""

    id: str
    subject: str
    role: str
    expires_at: str
    state: str


class People:
    """Who may enter which home."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, tokens: Sequence[str]) -> list[HomeEntry]:
        """What tokens open now, in their order; an unknown, expired or revoked one opens nothing.
        Raises Refused."""
        known = {_digest(one): one for one in tokens}
        sql = "SELECT sha256, home, name, subject, token_role, member_role FROM wakelog.entries(%s)"
        with self._database.connection() as connection, connection.transaction():
            connection.execute(ROLE)
            found = connection.execute(sql, (list(known),), binary=True).fetchall()
        entries = [HomeEntry(known[bytes(digest)], *rest) for digest, *rest in found]
        return sorted(entries, key=lambda one: tokens.index(one.token))

    def add(self, home: HomeRow, subject: str, role: str) -> None:
        """Give somebody a role in a home, in place of the one that was there."""
        sql = """INSERT INTO wakelog.members VALUES (%s, %s, %s)
            ON CONFLICT (home, subject) DO UPDATE SET role = excluded.role"""
        with self._database.connection() as connection:
            connection.execute(sql, (home.number, subject, role))

    def remove(self, home: HomeRow, subject: str) -> bool:
        """Take somebody's role and tokens away; whether there was one."""
        sql = "DELETE FROM wakelog.members WHERE home = %s AND subject = %s"
        with self._database.connection() as connection:
            return bool(connection.execute(sql, (home.number, subject)).rowcount)

    def members(self, home: HomeRow) -> Mapping[str, str]:
        """The roles of a home, by subject."""
        sql = "SELECT subject, role FROM wakelog.members WHERE home = %s ORDER BY subject"
        with self._database.connection() as connection:
            return dict(connection.execute(sql, (home.number,)).fetchall())

    def keep(
        self, token: str, home: HomeRow, subject: str, role: str, days: int
    ) -> tuple[str, str]:
        """Keep a token's digest; its id, and until when it is good."""
        sql = """INSERT INTO wakelog.tokens (sha256, id, home, subject, role, expires_at)
            VALUES (%s, %s, %s, %s, %s, now() + make_interval(days => %s))
            RETURNING id, to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
        digest = _digest(token)
        values = digest, digest.hex()[:ID_CHARACTERS], home.number, subject, role, days
        with self._database.connection() as connection:
            ((token_id, expires_at),) = connection.execute(sql, values).fetchall()
        return token_id, expires_at

    def tokens(self, home: HomeRow) -> list[TokenRow]:
        """The tokens of a home, the newest first."""
        sql = """SELECT id, subject, role,
                to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                CASE WHEN revoked_at IS NOT NULL THEN 'revoked'
                    WHEN expires_at <= now() THEN 'expired' ELSE 'good' END
            FROM wakelog.tokens WHERE home = %s ORDER BY made_at DESC, id"""
        with self._database.connection() as connection:
            found = connection.execute(sql, (home.number,)).fetchall()
        return [TokenRow(*one) for one in found]

    def revoke(self, token_id: str) -> bool:
        """End a token; whether there is one of this id."""
        sql = "UPDATE wakelog.tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = %s"
        with self._database.connection() as connection:
            return bool(connection.execute(sql, (token_id,)).rowcount)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
