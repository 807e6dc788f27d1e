"""What `wakelog database init` makes: schemas, tables, roles and fences of one database.

A home's rows carry its number. `home`, `n`, `row` and `replica` of an event repeat what its state
and stream say, for the indexes. Every transaction takes a role that owns nothing and names its home
(`statements.begin`); who names none is told an error, and of another home's rows nobody sees one.
"""

LOGS = ("journal", "agent")
APP = "wakelog_app"
ROLES = (APP, "wakelog_worker", "wakelog_eraser")

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
END $$;
GRANT {role} TO CURRENT_USER;
"""


def script() -> str:
    """All of it, to be run in one transaction by the database's owner."""
    roles = ", ".join(ROLES)
    parts = [_ROLE.format(role=role) for role in ROLES]
    parts.append(_BASE.replace("{roles}", roles))
    parts += [_LOG.format(log=log, roles=roles) for log in LOGS]
    return "".join(parts)
