"""Who works where, and what is due: tables that may be made again at any time (ADR 68).

`runtime` says only when to try, `queue` is Procrastinate's. What they say of a home is found again
in its logs, so both are thrown away and made anew where they are in doubt.
"""

from adapters.store.postgres.schema import LOGS, ROLES

SCHEMAS = ("runtime", "queue")
QUEUE_OPTIONS = "-c search_path=queue"
ALL = 0  # in place of a home: the row of a worker itself

_RUNTIME = """
CREATE SCHEMA runtime;
CREATE TABLE runtime.homes (
    home integer PRIMARY KEY REFERENCES wakelog.homes,
    next_at timestamptz NOT NULL DEFAULT now(),
    hold_until timestamptz NOT NULL DEFAULT '-infinity', faults integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX ON runtime.homes (next_at);
CREATE TABLE runtime.runtimes (
    home integer NOT NULL, owner text NOT NULL, pid integer NOT NULL, place text NOT NULL,
    since text NOT NULL, beat text NOT NULL, is_tending boolean NOT NULL,
    lease_until timestamptz NOT NULL, PRIMARY KEY (home, owner)
);
CREATE TABLE runtime.leases (
    home integer NOT NULL, agent text NOT NULL, run_key text NOT NULL, owner text NOT NULL,
    pid integer NOT NULL, place text NOT NULL, since text NOT NULL,
    lease_until timestamptz NOT NULL, PRIMARY KEY (home, agent)
);
INSERT INTO runtime.homes (home) SELECT home FROM wakelog.homes;
GRANT USAGE ON SCHEMA runtime TO {roles};
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime.runtimes, runtime.leases TO {roles};
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime.homes TO wakelog_worker;
GRANT SELECT ON wakelog.homes TO wakelog_worker;
"""
# An append says that its log has news; whoever tended the home takes that back, if nothing came.
_NEWS = """
ALTER TABLE {log}.heads ADD COLUMN IF NOT EXISTS is_news boolean NOT NULL DEFAULT false;
CREATE INDEX IF NOT EXISTS heads_news ON {log}.heads (home) WHERE is_news;
"""
_QUEUE = """
CREATE SCHEMA queue;
SET LOCAL search_path TO queue;
{procrastinate}
GRANT USAGE ON SCHEMA queue TO wakelog_worker;
GRANT ALL ON ALL TABLES IN SCHEMA queue TO wakelog_worker;
GRANT ALL ON ALL SEQUENCES IN SCHEMA queue TO wakelog_worker;
SET LOCAL search_path TO DEFAULT;
"""
_DROP = "DROP SCHEMA IF EXISTS {name} CASCADE;"


def script() -> str:
    """All of it, in place of what there was, to be run in one transaction by the owner."""
    from procrastinate.schema import SchemaManager  # only who prepares a database needs it

    parts = [_DROP.format(name=name) for name in SCHEMAS]
    parts.append(_RUNTIME.format(roles=", ".join(ROLES)))
    parts += [_NEWS.format(log=log) for log in LOGS]
    parts.append(_QUEUE.replace("{procrastinate}", SchemaManager.get_schema()))
    return "".join(parts)
