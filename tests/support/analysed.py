"""Logs as analytics tables in memory, and lives on templates whose clock the test moves."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
from msgspec.structs import replace

from adapters.analytics.rows import LOGS, TablesPosition, create, fill, keep_settings
from adapters.home.settings import Settings
from adapters.store.log import Log
from domain.append.causes import Cause, Result
from domain.log.timestamps import later
from domain.log.wire import Payload, Words
from domain.templates.commands import AssignTemplate, CreateTemplate
from domain.wake.commands import BeginWake
from tests.support.lives import START, Life

Rows = list[tuple[Any, ...]]
VIEWS = (
    "template_performance",
    "wake_series",
    "version_series",
    "resolution_time",
    "resolution_series",
    "acceptance",
    "lesson_counts",
    "rejection_reasons",
    "time_to_decision",
    "open_proposals",
    "repeated_proposals",
    "trigger_latency",
    "wake_times",
    "noop_wakes",
    "planned_against_spent",
    "wake_reasons",
    "why_no_wake",
    "tokens_and_cost",
    "proposals",
)


class Tables:
    """A DuckDB in memory, filled from logs as far as they are now.

    Not optimized, DuckDB runs the SQL as it is written: quicker for few rows, and its rewriting
    is seen to change nothing where the other way gives the same.
    """

    def __init__(
        self,
        agents: Log,
        journal: Log | None = None,
        settings: Settings | None = None,
        *,
        is_optimized: bool = True,
    ) -> None:
        self.logs = {"journal": journal or Log.in_memory("journal"), "agent": agents}
        self.reached: Mapping[str, TablesPosition] = {name: TablesPosition() for name in LOGS}
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("SET TimeZone = 'UTC'")
        if not is_optimized:
            self.connection.execute("PRAGMA disable_optimizer")
        create(self.connection)
        keep_settings(self.connection, settings or Settings())
        self.catch_up()

    def catch_up(self) -> None:
        """Fill in what is new."""
        self.connection.execute("BEGIN")
        assert fill(self.connection, self.logs, self.reached)
        self.connection.execute("COMMIT")
        known = self.connection.execute("SELECT log, n, digest FROM positions").fetchall()
        self.reached = {log: TablesPosition(n, digest) for log, n, digest in known}

    def ask(self, sql: str, *values: object) -> Rows:
        return self.connection.execute(sql, values).fetchall()

    def one(self, sql: str, *values: object) -> Any:
        """The one value of the one row."""
        ((found,),) = self.ask(sql, *values)
        return found

    def contents(self) -> dict[str, Rows]:
        """All rows of all tables, in an order of their own."""
        names = self.ask("SELECT table_name FROM duckdb_tables() WHERE NOT temporary")
        return {name: self.ask(f"FROM {name} ORDER BY ALL") for (name,) in names}


class TimedLife(Life):
    """A life whose clock moves only as far as it is told, and whose wakes have a template."""

    def __init__(self, log: Log | None = None, task: str = "mend the roof") -> None:
        super().__init__(log, task)
        self.now = START
        self.template = ""
        self.version = 0

    def do(self, cause: Cause, payloads: Sequence[Payload] = ()) -> Result:
        if isinstance(cause, BeginWake):
            cause = replace(cause, template=self.template, template_version=self.version)
        return self.log.append(cause, self.now, payloads=payloads).result

    def wait(self, seconds: int) -> None:
        self.now = later(self.now, seconds=seconds)

    def assign(self, template: str, version: int = 1) -> None:
        """Live on a template from here on."""
        self.do(AssignTemplate(self.agent, template))
        self.template, self.version = template, version


def template(log: Log, name: str) -> str:
    """A template with one version; its id."""
    made = CreateTemplate(name, Words("Be kind."), Words("Be brief."))
    return log.append(made, START).result.ids[0]
