"""Who may enter which home: members, and tokens of which only a digest is kept (ADR 69).

No role that a page takes may read these tables: it asks one function, and brings digests.
"""

from adapters.store.postgres.schema import ROLES

_TABLES = """
CREATE TABLE IF NOT EXISTS wakelog.members (
    home integer NOT NULL REFERENCES wakelog.homes, subject text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('viewer', 'member', 'owner', 'operator')),
    PRIMARY KEY (home, subject)
);
CREATE TABLE IF NOT EXISTS wakelog.tokens (
    sha256 bytea PRIMARY KEY, id text UNIQUE NOT NULL, home integer NOT NULL,
    subject text COLLATE "C" NOT NULL, role text NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL, revoked_at timestamptz,
    FOREIGN KEY (home, subject) REFERENCES wakelog.members ON DELETE CASCADE
);
CREATE OR REPLACE FUNCTION wakelog.entries(brought bytea[])
    RETURNS TABLE (sha256 bytea, home integer, name text, subject text, token_role text,
        member_role text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$
        SELECT t.sha256, h.home, h.name, t.subject, t.role, m.role FROM wakelog.tokens t
        JOIN wakelog.homes h ON h.home = t.home
        JOIN wakelog.members m ON m.home = t.home AND m.subject = t.subject
        WHERE t.sha256 = ANY (brought) AND t.revoked_at IS NULL AND t.expires_at > now()
    $$;
REVOKE ALL ON FUNCTION wakelog.entries(bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION wakelog.entries(bytea[]) TO {roles};
"""


def script() -> str:
    """All of it; safe to repeat."""
    return _TABLES.format(roles=", ".join(ROLES))
