"""The SQL of one home's log, by the log's name."""

from typing import NamedTuple

PAGE_ROWS = 2000
PAGE_PAYLOADS = 64  # that are read at once
AHEAD_MAX_BYTES = 65_536  # of a payload that nobody has asked for yet

ROLE = "SET LOCAL ROLE wakelog_app"
ENTER = "SELECT set_config('role', 'wakelog_app', true), set_config('wakelog.home', %s, true)"
ENTER_NAMED = """
    SELECT set_config('role', 'wakelog_app', true),
        set_config('wakelog.home', coalesce(wakelog.home_number(%s), 0)::text, true)"""
ENTER_ERASER = "SET LOCAL ROLE wakelog_eraser"
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class Statements(NamedTuple):
    lock: str
    head: str
    stream: str
    together: str
    present: str
    streams: str
    append: str
    newest: str
    last_version: str
    page: str
    payload: str
    payloads: str
    kept: str
    onward: str
    write: str
    mark: str
    drop: str


def statements_of(log: str) -> Statements:
    """The statements of ``journal`` or ``agent``."""
    events, payloads, heads = f"{log}.events", f"{log}.payloads", f"{log}.heads"
    row = "stream, version, topic, state"
    head = f"SELECT state, row_count, n, at, digest, replica FROM {heads} WHERE home = %s"
    return Statements(
        lock=f"{head} FOR UPDATE",
        head=head,
        stream=timed_rows(
            log,
            "one.home = %s AND one.stream = %s AND one.version > %s AND one.n <= %s"
            " AND one.topic <> ALL (%s)",
        ),
        together=timed_rows(log, "one.home = %s AND one.stream = ANY (%s) AND one.n <= %s"),
        present=f"""
            SELECT name FROM unnest(%s::text[]) WITH ORDINALITY AS of (name, nth)
            WHERE EXISTS (SELECT FROM {events} WHERE home = %s AND stream = name AND n <= %s)
            ORDER BY nth""",
        streams=f"""
            SELECT stream FROM {events}
            WHERE home = %s AND stream >= %s AND stream < %s AND version = 1 AND n <= %s
            ORDER BY stream""",
        append=f"SELECT {row} FROM {events} WHERE home = %s AND n = %s ORDER BY replica, row",
        newest=newest_rows(log, "%s AND n <= %s", "%s"),
        last_version=f"""
            SELECT max(version) FROM {events} WHERE home = %s AND stream = %s AND n <= %s""",
        page=f"""
            SELECT n, replica, row, {row} FROM {events}
            WHERE home = %s AND (n, replica, row) > (%s, %s, %s) AND n <= %s
            ORDER BY n, replica, row LIMIT {PAGE_ROWS}""",
        payload=f"SELECT bytes FROM {payloads} WHERE home = %s AND id = %s",
        payloads=f"SELECT id, bytes FROM {payloads} WHERE home = %s AND id = ANY (%s)",
        kept=f"""
            SELECT n, id, bytes FROM {payloads} WHERE home = %s AND (n, id) > (%s, %s)
            ORDER BY n, id LIMIT {PAGE_PAYLOADS}""",
        onward=f"""
            WITH wanted AS (
                SELECT n, id, bytes FROM {payloads} WHERE home = %(home)s AND id = %(id)s)
            SELECT n, id, bytes FROM wanted
            UNION ALL (
                SELECT one.n, one.id, one.bytes FROM wanted JOIN {payloads} AS one
                ON one.home = %(home)s AND one.n >= wanted.n AND one.id <> wanted.id
                WHERE wanted.n > %(last)s AND octet_length(one.bytes) <= {AHEAD_MAX_BYTES}
                ORDER BY one.n LIMIT {PAGE_PAYLOADS - 1})""",
        write=f"""
            WITH written AS (
                INSERT INTO {events} (home, n, row, version, replica, stream, topic, state)
                SELECT %s, * FROM unnest(%s::bigint[], %s::integer[], %s::integer[], %b::text[],
                    %b::text[], %b::text[], %b::bytea[])),
            kept AS (
                INSERT INTO {payloads} (home, n, id, bytes)
                SELECT %s, * FROM unnest(%s::bigint[], %b::text[], %b::bytea[])
                ON CONFLICT DO NOTHING)
            UPDATE {heads} SET n = %s, at = %s, digest = %s, replica = %s,
                row_count = row_count + %s, is_news = true WHERE home = %s""",
        mark=f"""
            UPDATE {events} AS one SET topic = mark.topic, state = mark.state
            FROM unnest(%b::text[], %b::integer[], %b::text[], %b::bytea[])
                AS mark (stream, version, topic, state)
            WHERE home = %s AND one.stream = mark.stream AND one.version = mark.version""",
        drop=f"DELETE FROM {payloads} WHERE home = %s AND id = ANY (%s)",
    )


def timed_rows(log: str, where: str) -> str:
    """Rows of a log by version, with their times; of its rows as `one`."""
    # `at` is the first key of the state of an append's first row
    return f"""
        SELECT one.stream, one.version, one.topic, one.state, substr(first.state, 8, 27)
        FROM {log}.events AS one JOIN {log}.events AS first ON first.home = one.home
            AND first.n = one.n AND first.replica = one.replica AND first.row = 0
        WHERE {where} ORDER BY one.version"""


def newest_rows(log: str, home: str, count: str) -> str:
    return f"""
        SELECT stream, version, topic, state FROM {log}.events WHERE home = {home}
        ORDER BY n DESC, replica DESC, row DESC LIMIT {count}"""
