"""The tables that the views of homes are kept in: they may be emptied at any time.

`view` is a view's name and version: programs of two versions keep theirs beside each other.
Row level security shows a transaction the documents of its home alone, as it does rows (`schema`).
"""

from adapters.store.postgres.schema import ROLES

_TABLES = """
CREATE SCHEMA IF NOT EXISTS views;
CREATE TABLE IF NOT EXISTS views.documents (
    home integer NOT NULL, view text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
    shelf text COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL,
    mark text COLLATE "C" NOT NULL, due text COLLATE "C" NOT NULL, tally bigint NOT NULL,
    turn text COLLATE "C" NOT NULL, title text COLLATE "C" NOT NULL, document bytea NOT NULL,
    PRIMARY KEY (home, view, key)
);
CREATE INDEX IF NOT EXISTS shelves ON views.documents (home, view, shelf, place);
CREATE INDEX IF NOT EXISTS places ON views.documents (home, view, place);
CREATE INDEX IF NOT EXISTS marks ON views.documents (home, view, mark, place) WHERE mark <> '';
CREATE INDEX IF NOT EXISTS dues ON views.documents (home, view, due, mark) WHERE due <> '';
CREATE INDEX IF NOT EXISTS turns ON views.documents (home, view, turn, key) WHERE turn <> '';
CREATE INDEX IF NOT EXISTS titles ON views.documents (home, view, md5(title)) WHERE title <> '';
CREATE TABLE IF NOT EXISTS views.positions (
    home integer NOT NULL, view text COLLATE "C" NOT NULL, version integer NOT NULL,
    n bigint NOT NULL, digest text NOT NULL, PRIMARY KEY (home, view)
);
ALTER TABLE views.positions ADD COLUMN IF NOT EXISTS
    made_at timestamptz NOT NULL DEFAULT clock_timestamp();
CREATE TABLE IF NOT EXISTS views.remembered (
    home integer NOT NULL, name text COLLATE "C" NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (home, name)
);
CREATE TABLE IF NOT EXISTS views.locks (
    home integer NOT NULL, log text COLLATE "C" NOT NULL, PRIMARY KEY (home, log)
);
GRANT USAGE ON SCHEMA views TO {roles};
"""
# `locks`: whoever brings the views of a log up to date holds its row
_FENCE = """
GRANT SELECT, INSERT, UPDATE, DELETE ON views.{table} TO {roles};
ALTER TABLE views.{table} ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON views.{table};
CREATE POLICY own ON views.{table} USING (home = wakelog.home());
"""
TABLES = ("documents", "positions", "remembered", "locks")


def script() -> str:
    """All of it; safe to repeat."""
    roles = ", ".join(ROLES)
    fences = [_FENCE.format(table=one, roles=roles) for one in TABLES]
    return "".join([_TABLES.format(roles=roles), *fences])
