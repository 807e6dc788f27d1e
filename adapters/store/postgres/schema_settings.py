"""What is set for all homes of a database, and whom each home's notices have reached.

`defaults`: one row of text, an operator's. `notices`: a row for each receiver that was allowed, as
a folder has it in `runtime.db`; a transaction sees those of its home alone (`schema`).
"""

from adapters.store.postgres.schema import ROLES

_TABLES = """
CREATE TABLE IF NOT EXISTS wakelog.defaults (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), settings text NOT NULL DEFAULT ''
);
GRANT SELECT ON wakelog.defaults TO {roles};
CREATE TABLE IF NOT EXISTS wakelog.notices (
    home integer NOT NULL, name text COLLATE "C" NOT NULL, state bytea NOT NULL,
    PRIMARY KEY (home, name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON wakelog.notices TO {roles};
ALTER TABLE wakelog.notices ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON wakelog.notices;
CREATE POLICY own ON wakelog.notices USING (home = wakelog.home());
"""


def script() -> str:
    """All of it; safe to repeat."""
    return _TABLES.format(roles=", ".join(ROLES))
