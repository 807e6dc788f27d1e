"""Members of homes and their tokens: of a token only the SHA-256 is kept (ADR 69)."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, NamedTuple

from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import HomeRow
from adapters.store.postgres.statements import ROLE

ID_CHARACTERS = 12


class HomeEntry(NamedTuple):
    """A home that a token opens: as whom, and with which role; `own_role` is the person's; `who`:
    what its log calls them."""

    token: str
    number: int
    home: str
    subject: str
    role: str
    own_role: str
    who: str


class TokenRow(NamedTuple):
    """A token that was given, without its text. Times are the server's."""

    id: str
    subject: str
    role: str
    expires_at: str
    state: str


class People:
    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, tokens: Sequence[str]) -> list[HomeEntry]:
        """What tokens open now, in their order; an unknown, expired or revoked one opens nothing.
        Raises Refused."""
        known = {_digest(one): one for one in tokens}
        sql: LiteralString = """SELECT sha256, home, name, subject, token_role, member_role, who
            FROM wakelog.entered(%s)"""
        found = self._as_page(sql, (list(known),))
        entries = [HomeEntry(known[bytes(digest)], *rest) for digest, *rest in found]
        return sorted(entries, key=lambda one: tokens.index(one.token))

    def admitted(self, session: str, subject: str, groups: Sequence[str]) -> list[HomeEntry]:
        """The homes of somebody who signed in, themselves or by a group; `session`: what their
        browser has. Raises Refused."""
        sql = "SELECT home, name, role, who FROM wakelog.admitted(%s, %s)"
        found = self._as_page(sql, (subject, list(groups)))
        return [
            HomeEntry(session, home, name, subject, role, role, who)
            for home, name, role, who in found
        ]

    def session(self, secret: str) -> bytes | None:
        """What is kept of a browser that has this secret. Raises Refused."""
        found = self._as_page("SELECT wakelog.session_of(%s)", (_digest(secret),))
        return found[0][0] if found else None

    def keep_session(self, secret: str, data: bytes, seconds: int) -> None:
        """Keep it for so long; 0: end it. Raises Refused."""
        self._as_page("SELECT wakelog.keep_session(%s, %s, %s)", (_digest(secret), data, seconds))

    def _as_page(self, sql: LiteralString, values: tuple[Any, ...]) -> list[Any]:
        with self._database.connection() as connection, connection.transaction():
            connection.execute(ROLE)
            return connection.execute(sql, values, binary=True).fetchall()

    def add(self, home: HomeRow, subject: str, role: str) -> None:
        """Give somebody a role in a home, in place of the one that was there."""
        sql = """INSERT INTO wakelog.members (home, subject, role) VALUES (%s, %s, %s)
            ON CONFLICT (home, subject) DO UPDATE SET role = excluded.role"""
        with self._database.connection() as connection:
            connection.execute(sql, (home.number, subject, role))

    def remove(self, home: HomeRow, subject: str) -> bool:
        """Take somebody's role, tokens and name in the log away; whether there was one."""
        values = home.number, subject
        with self._database.connection() as connection, connection.transaction():
            for table in ("persons", "members"):
                sql = f"DELETE FROM wakelog.{table} WHERE home = %s AND subject = %s"
                found = connection.execute(sql.encode(), values).rowcount
        return bool(found)

    def members(self, home: HomeRow) -> Mapping[str, str]:
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
