"""What the analytics say of templates, counted in a thread: a page never waits long for it.

The analytics file is brought up to date with the logs first. What was counted last is shown until
then, and says up to when it goes.
"""

import time
from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict

from adapters.analytics.template_performance import performance
from adapters.web.jobs import Jobs
from adapters.web.remedies import in_words
from adapters.wiring import Home
from domain.errors import WakelogError

if TYPE_CHECKING:
    from adapters.analytics.query_limits import QueryLimit

Row = dict[str, Any]  # of an answer of the analytics, by column
FEW = 5  # wakes, decisions or tasks: a share or mean of fewer says little, and is marked
REST_SECONDS = 5.0  # at least, between the end of one count and the next
QUERY_SECONDS = 20.0  # that the queries may take
REST_SHARE = 10  # times as long as the last one took
VERSIONS = "FROM version_series ORDER BY template_id, version"
DAYS = """
SELECT template_id, day_in(started_at, (SELECT timezone FROM home)) AS day,
    coalesce(outcome, 'running') AS outcome, count(*) AS wakes FROM wakes
WHERE started_at >= (SELECT max(started_at) FROM wakes) - INTERVAL 60 DAY GROUP BY ALL
"""
RESOLVED = """
SELECT template_id, count(*) AS resolved, avg(seconds) AS average_seconds_to_resolution
FROM resolution_time GROUP BY template_id
"""


class MetricsSnapshot(Struct, frozen=True):
    """What was counted. `ends`: where both logs ended then; `error`: why it could not be."""

    ends: str
    at: str
    templates: list[Row] = []
    versions: list[Row] = []
    days: list[Row] = []
    error: str = ""

    def of(self, template_id: str | None) -> Row | None:
        """The figures of a template, None for the built-in directives; None where none are."""
        return next((one for one in self.templates if one["template_id"] == template_id), None)


class Metrics:
    """The figures of one server's home, counted in the threads of its jobs."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._is_idle = Event()
        self._is_idle.set()
        self._rests_until = 0.0
        self._bound: QueryLimit | None = None
        self._is_over = False
        self.counted: MetricsSnapshot | None = None

    @property
    def is_counting(self) -> bool:
        return not self._is_idle.is_set()

    def ask(self, ends: str) -> None:
        """Begin to count where the logs have grown since; not while that goes on, or too often."""
        is_known = self.counted is not None and self.counted.ends == ends
        if is_known or self.is_counting or time.monotonic() < self._rests_until:
            return
        self._is_idle.clear()
        self._jobs.start(self._count)

    def wait(self, seconds: float) -> None:
        """Wait until it is counted, but not longer."""
        self._is_idle.wait(seconds)

    def stop(self) -> None:
        """Count no more."""
        self._is_over = True
        if self._bound is not None:
            self._bound.stop()

    def _count(self, home: Home) -> None:
        import duckdb  # here, not above: a page need not wait for it

        from adapters.analytics.query_limits import QueryLimit

        bound = self._bound = QueryLimit()
        if self._is_over:
            bound.stop()
        begun = time.monotonic()
        ends = ends_of(home)
        try:
            self.counted = _counted(home, ends, bound)
        except (WakelogError, OSError, duckdb.Error) as error:
            self.counted = MetricsSnapshot(ends, home.services.clock.now(), error=in_words(error))
        finally:
            took = time.monotonic() - begun
            self._rests_until = time.monotonic() + max(REST_SECONDS, REST_SHARE * took)
            self._is_idle.set()


def ends_of(home: Home) -> str:
    """Where both logs of a home end now."""
    return f"{home.services.journal.tail().n}-{home.services.agents.tail().n}"


def _counted(home: Home, ends: str, bound: "QueryLimit") -> MetricsSnapshot:
    from adapters.analytics import database
    from adapters.analytics.queries import run_query

    logs = {"journal": home.services.journal, "agent": home.services.agents}
    at = home.services.clock.now()
    connection = database.opened(home.path, logs, home.settings, bound)
    nothing = {"resolved": 0, "average_seconds_to_resolution": None}
    with closing(connection), bound.over(connection, QUERY_SECONDS):
        resolved = {one["template_id"]: one for one in run_query(connection, RESOLVED).documents()}
        found = performance(connection)
        return MetricsSnapshot(
            ends,
            at,
            [{**asdict(one), **resolved.get(one.template_id, nothing)} for one in found],
            list(run_query(connection, VERSIONS).documents()),
            list(run_query(connection, DAYS).documents()),
        )
