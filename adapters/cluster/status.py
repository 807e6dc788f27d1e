"""How a cluster stands: who works, what is due, what is in trouble."""

from collections.abc import Mapping
from typing import Any

from adapters.cluster.scheduler import DUE, STALLED
from adapters.documents.homes import ClusterDetails, HomesCount, HomeStanding, WorkerLine
from adapters.home.home_location import homes_of
from adapters.store.postgres.database import Database
from adapters.store.postgres.schema import ALL

LEASE_SECONDS = 30  # of a job, where it is only looked at
_WORKERS = f"""
SELECT one.owner, one.place, one.since, one.beat, count(tended.home)
FROM runtime.runtimes AS one LEFT JOIN runtime.runtimes AS tended
    ON tended.owner = one.owner AND tended.home <> {ALL} AND tended.is_tending
WHERE one.home = {ALL} AND one.lease_until > clock_timestamp()
GROUP BY one.owner, one.place, one.since, one.beat ORDER BY one.since, one.owner"""
_HELD = """
SELECT name FROM runtime.homes JOIN wakelog.homes USING (home)
WHERE {until} > now() AND state = 'open' ORDER BY name"""
_QUEUE = "SELECT status::text, count(*) FROM queue.procrastinate_jobs GROUP BY status"
_STATES = "SELECT state, count(*) FROM wakelog.homes GROUP BY state"
_OLDEST = f"""
SELECT extract(epoch FROM now() - min(kept.next_at))::float8 FROM ({DUE}) AS due
JOIN runtime.homes AS kept USING (home) WHERE kept.next_at <= now()"""


_AT = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_SPENT = """
SELECT currency, amount::float8 FROM runtime.spent WHERE day = (now() AT TIME ZONE 'UTC')::date"""
_EVERY = """
SELECT one.name, one.state, tended.owner, kept.next_at <= now(),
    CASE WHEN kept.hold_until > now() THEN {hold} END,
    CASE WHEN kept.limited_until > now() THEN {limit} END
FROM wakelog.homes AS one LEFT JOIN runtime.homes AS kept USING (home)
LEFT JOIN runtime.runtimes AS tended ON tended.home = one.home AND tended.is_tending
    AND tended.lease_until > clock_timestamp()
ORDER BY one.name""".format(
    hold=_AT.format("kept.hold_until"), limit=_AT.format("kept.limited_until")
)


def cluster_details(environ: Mapping[str, str], *, is_every: bool = False) -> ClusterDetails:
    """The document of `cluster`; `is_every`: with each home. Raises Refused: the database cannot be
    used; Damaged: it was not prepared."""
    return details_of(homes_of(environ).database, is_every=is_every)


def details_of(database: Database, *, is_every: bool = False) -> ClusterDetails:
    """The same of a database. Raises Refused."""
    with database.connection() as connection:

        def rows(sql: str, **values: Any) -> list[Any]:
            return connection.execute(sql.encode(), values).fetchall()

        states = dict(rows(_STATES))
        untils = ("hold_until", "limited_until")
        held, limited = ([name for (name,) in rows(_HELD.format(until=one))] for one in untils)
        due = rows(f"SELECT count(*) FROM ({DUE}) AS due", only=None)[0][0]
        oldest = rows(_OLDEST, only=None)[0][0]
        return ClusterDetails(
            [WorkerLine(*one) for one in rows(_WORKERS)],
            HomesCount(
                states.get("open", 0), due, len(held), states.get("frozen", 0), len(limited)
            ),
            None if oldest is None else round(oldest, 3),
            len(rows(STALLED, lease=LEASE_SECONDS)),
            held,
            dict(rows(_QUEUE)),
            limited,
            dict(rows(_SPENT)),
            [HomeStanding(*one) for one in rows(_EVERY)] if is_every else None,
        )
