"""What `wakelog database init` makes: schemas, tables, roles and fences of one database.

A home's rows carry its number. `home`, `n`, `row` and `replica` of an event repeat what its state
and stream say, for the indexes. Every transaction takes a role that owns nothing and names its home
(`statements.ENTER`); who names none is told an error, and of another home's rows nobody sees one.

The tables that the views of homes are kept in: they may be emptied at any time. `view` is a view's
name and version: programs of two versions keep theirs beside each other. Row level security shows a
transaction the documents of its home alone, as it does rows.

Who may enter which home: members, and tokens of which only a digest is kept (ADR 69). No role that
a page takes may read these tables: it asks one function, and brings digests.

What is set for all homes of a database, and whom each home's notices have reached. `defaults`: one
row of text, an operator's. `notices`: a row for each receiver that was allowed, as a folder has it
in `runtime.db`; a transaction sees those of its home alone.

Who works where, and what is due: tables that may be made again at any time (ADR 68). `runtime` says
only when to try, `queue` is Procrastinate's. What they say of a home is found again in its logs, so
both are thrown away and made anew where they are in doubt."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

LOGS = ("journal", "agent")
APP, WORKER, ERASER = "wakelog_app", "wakelog_worker", "wakelog_eraser"
ROLES = (APP, WORKER, ERASER)
_ROLES = ", ".join(ROLES)
OPERATOR = "wakelog_operator"
LOGINS = {
    "page": (APP,),
    "worker": (APP, WORKER),
    "eraser": (APP, ERASER),
    "operator": (APP, WORKER, OPERATOR),
}
"""What a login of each kind may take: an eraser is a page's that erases, an operator a worker's
that freezes homes."""

_BASE = """
CREATE SCHEMA wakelog;
CREATE TABLE wakelog.meta (format integer NOT NULL);
CREATE TABLE wakelog.homes (
    home integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" UNIQUE NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    replica text NOT NULL,
    settings text NOT NULL DEFAULT '',
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'frozen', 'moved')),
    moved_to text NOT NULL DEFAULT ''
);
CREATE FUNCTION wakelog.home_named(wanted text) RETURNS SETOF wakelog.homes
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS 'SELECT * FROM wakelog.homes WHERE name = wanted';
CREATE FUNCTION wakelog.home() RETURNS integer LANGUAGE sql STABLE
    AS 'SELECT current_setting(''wakelog.home'')::integer';
REVOKE ALL ON FUNCTION wakelog.home_named(text) FROM PUBLIC;
GRANT USAGE ON SCHEMA wakelog TO {roles};
GRANT SELECT ON wakelog.meta TO {roles};
GRANT EXECUTE ON FUNCTION wakelog.home_named(text), wakelog.home() TO {roles};
"""
# `row_count` tells a process whether what it knows is all there is, `state` (the home's) whether it
# may write: whoever takes the head sees both as they are. The rest is the newest append.
_LOG = """
CREATE SCHEMA {log};
CREATE TABLE {log}.heads (
    home integer PRIMARY KEY REFERENCES wakelog.homes, n bigint NOT NULL DEFAULT 0,
    row_count bigint NOT NULL DEFAULT 0, at text NOT NULL DEFAULT '',
    digest text NOT NULL DEFAULT '', replica text NOT NULL DEFAULT '',
    state text NOT NULL DEFAULT 'open'
) WITH (fillfactor = 50);
CREATE TABLE {log}.events (
    home integer NOT NULL, n bigint NOT NULL, row integer NOT NULL, version integer NOT NULL,
    replica text COLLATE "C" NOT NULL, stream text COLLATE "C" NOT NULL,
    topic text COLLATE "C" NOT NULL, state bytea NOT NULL, PRIMARY KEY (home, stream, version)
);
CREATE UNIQUE INDEX ON {log}.events (home, n, replica, row);
CREATE TABLE {log}.payloads (
    home integer NOT NULL, n bigint NOT NULL, id text COLLATE "C" NOT NULL, bytes bytea NOT NULL,
    PRIMARY KEY (home, id)
);
CREATE INDEX ON {log}.payloads (home, n);
GRANT USAGE ON SCHEMA {log} TO {roles};
GRANT SELECT, INSERT ON {log}.events, {log}.payloads TO {roles};
GRANT SELECT, UPDATE ON {log}.heads TO {roles};
GRANT UPDATE, DELETE ON {log}.events, {log}.payloads TO wakelog_eraser;
ALTER TABLE {log}.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE {log}.payloads ENABLE ROW LEVEL SECURITY;
ALTER TABLE {log}.heads ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {log}.events USING (home = wakelog.home());
CREATE POLICY own ON {log}.payloads USING (home = wakelog.home());
CREATE POLICY seen ON {log}.heads FOR SELECT USING (true);
CREATE POLICY own ON {log}.heads FOR UPDATE USING (home = wakelog.home());
"""
_ROLE = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN;
    END IF;
    IF NOT pg_has_role('{role}', 'USAGE') THEN
        GRANT {role} TO CURRENT_USER;
    END IF;
END $$;
"""


def base_script() -> str:
    """All of it, to be run in one transaction by the database's owner."""
    parts = [_ROLE.format(role=role) for role in ROLES]
    parts.append(_BASE.replace("{roles}", _ROLES))
    parts += [_LOG.format(log=log, roles=_ROLES) for log in LOGS]
    return "".join(parts)


# -------------------------------------------------------------------------------------------- views

_VIEWS = """
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
_VIEWS_FENCE = """
GRANT SELECT, INSERT, UPDATE, DELETE ON views.{table} TO {roles};
ALTER TABLE views.{table} ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON views.{table};
CREATE POLICY own ON views.{table} USING (home = wakelog.home());
"""
VIEW_TABLES = ("documents", "positions", "remembered", "locks")


def views_script() -> str:
    """All of it; safe to repeat."""
    fences = [_VIEWS_FENCE.format(table=one, roles=_ROLES) for one in VIEW_TABLES]
    return "".join([_VIEWS.format(roles=_ROLES), *fences])


# ------------------------------------------------------------------------------- members and tokens

_PEOPLE = """
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


# ----------------------------------------------------------------------------- settings and notices

_SETTINGS = """
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


# ----------------------------------------------------------------- who works where, and what is due

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
    home integer NOT NULL REFERENCES wakelog.homes, agent text NOT NULL, run_key text NOT NULL,
    owner text NOT NULL, pid integer NOT NULL, place text NOT NULL, since text NOT NULL,
    lease_until timestamptz NOT NULL, PRIMARY KEY (home, agent)
);
{limits}
INSERT INTO runtime.homes (home) SELECT home FROM wakelog.homes;
GRANT USAGE ON SCHEMA runtime TO {roles};
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime.runtimes, runtime.leases TO {roles};
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime.homes TO wakelog_worker;
GRANT SELECT ON wakelog.homes TO wakelog_worker;
"""
# What workers share of limits for all homes. A bucket's name is ``all`` or ``home NUMBER``.
_LIMITS = """
CREATE TABLE IF NOT EXISTS runtime.buckets (
    name text COLLATE "C" PRIMARY KEY, level double precision NOT NULL, at timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS runtime.spent (
    day date NOT NULL, currency text NOT NULL, amount numeric NOT NULL,
    PRIMARY KEY (day, currency)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime.buckets, runtime.spent TO wakelog_worker;
"""
# Until when no model may be asked for a home, as far as it has asked.
_LIMITED = """
ALTER TABLE runtime.homes ADD COLUMN IF NOT EXISTS
    limited_until timestamptz NOT NULL DEFAULT '-infinity';
"""
# What a day cost is money that was spent, and outlives the rest.
_KEEP_SPENT = "ALTER TABLE IF EXISTS runtime.spent SET SCHEMA wakelog;"
_KEPT_SPENT = "ALTER TABLE IF EXISTS wakelog.spent SET SCHEMA runtime;"
# The row of a worker itself (of no home) is written by workers, and seen by all.
_RUNTIME_FENCE = """
ALTER TABLE runtime.{table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE runtime.{table} FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON runtime.{table};
DROP POLICY IF EXISTS works ON runtime.{table};
DROP POLICY IF EXISTS every ON runtime.{table};
CREATE POLICY own ON runtime.{table} USING (home = wakelog.home() AND home <> {all});
CREATE POLICY works ON runtime.{table} FOR SELECT USING (home = {all});
CREATE POLICY every ON runtime.{table} TO wakelog_worker USING (true);
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


def runtime_script() -> str:
    """All of it, in place of what there was, to be run in one transaction by the owner."""
    from procrastinate.schema import SchemaManager  # only who prepares a database needs it

    parts = [_KEEP_SPENT, *(_DROP.format(name=name) for name in SCHEMAS)]
    parts += [_RUNTIME.format(roles=_ROLES, limits=_KEPT_SPENT + _LIMITS), _LIMITED]
    parts += runtime_fences()
    parts += [_NEWS.format(log=log) for log in LOGS]
    parts.append(_QUEUE.replace("{procrastinate}", SchemaManager.get_schema()))
    return "".join(parts)


def runtime_fences() -> list[str]:
    """Those of workers' tables; safe to repeat."""
    return [_RUNTIME_FENCE.format(table=one, all=ALL) for one in ("runtimes", "leases")]


# -------------------------------------------------------------------------- fences, and all scripts

_FENCES = """
CREATE OR REPLACE FUNCTION wakelog.no_home() RETURNS integer LANGUAGE plpgsql STABLE AS $$
    BEGIN
        RAISE insufficient_privilege USING MESSAGE = 'it sees one home at a time, and named none';
    END
$$;
CREATE OR REPLACE FUNCTION wakelog.home() RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('wakelog.home', true), '')::integer, wakelog.no_home())
$$;
CREATE OR REPLACE FUNCTION wakelog.home_number(wanted text) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS 'SELECT home FROM wakelog.homes WHERE name = wanted';
REVOKE ALL ON FUNCTION wakelog.home_number(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION wakelog.home_number(text) TO {roles};
ALTER FUNCTION wakelog.home_named(text) SECURITY INVOKER;
GRANT SELECT ON wakelog.homes TO {roles};
ALTER TABLE wakelog.homes ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON wakelog.homes;
DROP POLICY IF EXISTS every ON wakelog.homes;
CREATE POLICY own ON wakelog.homes FOR SELECT USING (home = wakelog.home());
CREATE POLICY every ON wakelog.homes FOR SELECT TO wakelog_worker USING (true);
"""
_HEADS_FENCE = """
DROP POLICY IF EXISTS seen ON {log}.heads;
DROP POLICY IF EXISTS own ON {log}.heads;
DROP POLICY IF EXISTS every ON {log}.heads;
CREATE POLICY own ON {log}.heads USING (home = wakelog.home());
CREATE POLICY every ON {log}.heads FOR SELECT TO wakelog_worker USING (true);
"""
_FORCE = "ALTER TABLE {table} FORCE ROW LEVEL SECURITY;"


def fences_script() -> str:
    """That each login sees one home at a time, and a worker's all that there are; safe to repeat.

    Not even the owner sees another home's rows; but its registry (homes, heads) is the owner's."""
    logs = (f"{log}.{one}" for log in LOGS for one in ("events", "payloads"))
    tables = [*logs, *(f"views.{one}" for one in VIEW_TABLES), "wakelog.notices"]
    parts = [_FENCES.format(roles=_ROLES)]
    parts += [_HEADS_FENCE.format(log=log) for log in LOGS]
    parts += [_FORCE.format(table=one) for one in tables]
    parts += runtime_fences()
    return "".join(parts)


# ------------------------------------------------------------------------------------------ erasing

_ERASER = """
REVOKE ALL ON {log}.heads, {log}.events, {log}.payloads FROM wakelog_eraser;
GRANT SELECT, UPDATE (topic, state) ON {log}.events TO wakelog_eraser;
GRANT SELECT, DELETE ON {log}.payloads TO wakelog_eraser;
"""
TEXTS = {
    **{f"{log}.events": "state" for log in LOGS},
    **{f"{log}.payloads": "bytes" for log in LOGS},
    "views.documents": "document || convert_to(concat_ws(' ', key, shelf, place, title), 'UTF8')",
    "views.remembered": "value",
    "wakelog.notices": "state",
    "wakelog.homes": "convert_to(settings, 'UTF8')",
}
"""The tables that hold a home's words, and what of a row is searched for them, as bytes."""


def eraser_script() -> str:
    """That who erases puts marks where rows stand and lets texts go, and does nothing else."""
    return "".join(_ERASER.format(log=log) for log in LOGS)


# ---------------------------------------------------------------- where it is, and what is gone

HERE = """
    SELECT system_identifier::text AS server, oid::text AS number FROM pg_control_system(),
        pg_database WHERE datname = current_database()"""
"""What tells a database from a copy of it, or from one on another server."""
STAND_HERE = f"UPDATE wakelog.meta SET (server, number) = ({HERE})"
_PLACE = """
ALTER TABLE wakelog.meta ADD COLUMN server text NOT NULL DEFAULT '',
    ADD COLUMN number text NOT NULL DEFAULT '';
{stand_here};
"""
# A process that has a home open which somebody deletes keeps nothing more of it. An owner whom
# fences bind could not look through all rows.
_OF_A_HOME = """
ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY;
ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}_home_fkey;
ALTER TABLE {table} ADD CONSTRAINT {name}_home_fkey FOREIGN KEY (home) REFERENCES wakelog.homes;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
"""


def place_script() -> str:
    """That a database knows where it was made, and which tables need their home to be there."""
    tables = ("views.remembered", "views.locks", "wakelog.notices", "runtime.leases")
    fenced = [_OF_A_HOME.format(table=one, name=one.partition(".")[2]) for one in tables]
    return "".join([_PLACE.format(stand_here=STAND_HERE), *fenced])


# ----------------------------------------------------------------- who decided, and how they enter

# `persons`: what the log of a home calls whoever entered it; a name is forgotten with its row. Who
# signed in belongs to the groups that were told then: a member may be ``group:NAME``. A page keeps
# nothing of a session itself: its browser has a secret, of which the digest stands here.
_WHO = """
CREATE TABLE wakelog.persons (
    home integer NOT NULL REFERENCES wakelog.homes, subject text COLLATE "C" NOT NULL,
    who text COLLATE "C" NOT NULL DEFAULT 'm' || substr(md5(gen_random_uuid()::text), 1, 12),
    PRIMARY KEY (home, subject)
);
CREATE TABLE wakelog.sessions (
    sha256 bytea PRIMARY KEY, data bytea NOT NULL, expires_at timestamptz NOT NULL
);
CREATE FUNCTION wakelog.person(of_home integer, of_subject text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
    AS $$
        DECLARE known text;
        BEGIN
            SELECT p.who INTO known FROM wakelog.persons AS p
                WHERE p.home = of_home AND p.subject = of_subject;
            IF known IS NULL AND current_setting('transaction_read_only') = 'off' THEN
                INSERT INTO wakelog.persons (home, subject) VALUES (of_home, of_subject)
                    ON CONFLICT (home, subject) DO UPDATE SET subject = excluded.subject
                    RETURNING persons.who INTO known;
            END IF;
            RETURN coalesce(known, '');
        END
    $$;
CREATE FUNCTION wakelog.entered(brought bytea[])
    RETURNS TABLE (sha256 bytea, home integer, name text, subject text, token_role text,
        member_role text, who text)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
    AS 'SELECT e.*, wakelog.person(e.home, e.subject) FROM wakelog.entries(brought) AS e';
CREATE FUNCTION wakelog.admitted(of_subject text, of_groups text[])
    RETURNS TABLE (home integer, name text, role text, who text)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
    AS $$
        SELECT h.home, h.name, m.role, wakelog.person(h.home, of_subject)
        FROM wakelog.members AS m JOIN wakelog.homes AS h ON h.home = m.home
        WHERE m.subject = of_subject
            OR m.subject IN (SELECT 'group:' || one FROM unnest(of_groups) AS one)
    $$;
CREATE FUNCTION wakelog.names() RETURNS TABLE (who text, subject text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS 'SELECT who, subject FROM wakelog.persons WHERE home = wakelog.home()';
CREATE FUNCTION wakelog.session_of(digest bytea) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS 'SELECT data FROM wakelog.sessions WHERE sha256 = digest AND expires_at > now()';
CREATE FUNCTION wakelog.keep_session(digest bytea, said bytea, seconds integer) RETURNS void
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog
    AS $$
        DELETE FROM wakelog.sessions WHERE expires_at < now() OR sha256 = digest;
        INSERT INTO wakelog.sessions
            SELECT digest, said, now() + make_interval(secs => seconds) WHERE seconds > 0;
    $$;
REVOKE ALL ON FUNCTION {functions} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {functions} TO {roles};
"""
_WHO_FUNCTIONS = ", ".join(
    f"wakelog.{one}"
    for one in (
        "entered(bytea[])",
        "admitted(text, text[])",
        "names()",
        "session_of(bytea)",
        "keep_session(bytea, bytea, integer)",
    )
)


def who_script() -> str:
    """That a log can say whose deed something is, and that people sign in elsewhere."""
    internal = "REVOKE ALL ON FUNCTION wakelog.person(integer, text) FROM PUBLIC;"
    return _WHO.format(roles=_ROLES, functions=_WHO_FUNCTIONS) + internal


# Of a home's registry an operator may say whether it is written, and nothing else.
_HOLD = """
CREATE FUNCTION wakelog.hold(of_home integer, to_state text, why text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
    AS $$
        UPDATE wakelog.homes SET state = to_state, moved_to = why WHERE home = of_home;
        UPDATE journal.heads SET state = to_state WHERE home = of_home;
        UPDATE agent.heads SET state = to_state WHERE home = of_home;
    $$;
REVOKE ALL ON FUNCTION wakelog.hold(integer, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION wakelog.hold(integer, text, text) TO {operator};
"""


def operator_script() -> str:
    """That who operates may freeze a home and thaw it."""
    return _ROLE.format(role=OPERATOR) + _HOLD.format(operator=OPERATOR)


class Migration(NamedTuple):
    """A script that runs once in a database: `wakelog.meta` says the newest number that did."""

    number: int
    name: str
    script: Callable[[], str]


MIGRATIONS = (
    Migration(1, "logs", base_script),
    Migration(2, "views", views_script),
    Migration(3, "people", partial(_PEOPLE.format, roles=_ROLES)),
    Migration(4, "settings", partial(_SETTINGS.format, roles=_ROLES)),
    Migration(5, "fences", fences_script),
    Migration(6, "eraser", eraser_script),
    Migration(7, "place", place_script),
    Migration(8, "who", who_script),
    Migration(9, "limits", _LIMITS.format),
    Migration(10, "limited", _LIMITED.format),
    Migration(11, "operator", operator_script),
)
NEWEST = MIGRATIONS[-1].number
"""A script is never changed once it was released: what is to be otherwise is another one below."""
