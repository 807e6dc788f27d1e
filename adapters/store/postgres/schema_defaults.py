"""What an operator sets for all homes of a database: one row of text, read by every role."""

from adapters.store.postgres.schema import ROLES

_TABLE = """
CREATE TABLE IF NOT EXISTS wakelog.defaults (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), settings text NOT NULL DEFAULT ''
);
GRANT SELECT ON wakelog.defaults TO {roles};
"""


def script() -> str:
    """All of it; safe to repeat."""
    return _TABLE.format(roles=", ".join(ROLES))
