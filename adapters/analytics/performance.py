"""How each template does: the documents of `metrics`."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import duckdb


PERFORMANCE = "SELECT * FROM template_performance"
TOOLS = """
SELECT w.template_id, i.tool, count(*) FILTER (i.status = 'confirmed') AS confirmed,
    count(*) AS decided, count(*) FILTER (i.status = 'confirmed') / count(*) AS acceptance_rate
FROM change_items i JOIN wakes w USING (run_key) WHERE i.status IN ('confirmed', 'rejected')
GROUP BY ALL ORDER BY decided DESC, tool
"""


class ToolMetrics(Struct, frozen=True):
    """How proposals of one kind do; `acceptance_rate` is between 0 and 1."""

    tool: str
    confirmed: int
    decided: int
    acceptance_rate: float


class TemplateMetrics(Struct, frozen=True):
    """How a template does; the one without an id and a name is the built-in directives. Rates are
    between 0 and 1, and null where there is nothing to divide by."""

    template_id: str | None
    template_name: str | None
    total_wakes: int
    success_count: int
    failure_count: int
    success_rate: float | None
    average_duration_seconds: float | None
    first_wake_at: str | None
    last_wake_at: str | None
    active_instance_count: int
    skipped_count: int
    running_count: int
    confirmed_items: int
    decided_items: int
    acceptance_rate: float | None
    median_seconds_to_decision: float | None
    tokens_per_wake: float | None
    noop_rate: float | None
    tools: list[ToolMetrics]


def performance(connection: "duckdb.DuckDBPyConnection") -> list[TemplateMetrics]:
    """The documents of `metrics`."""
    from adapters.analytics.values import answer

    rows = list(answer(connection, PERFORMANCE).documents())
    tools = list(answer(connection, TOOLS).documents())
    names = ToolMetrics.__struct_fields__
    return [
        TemplateMetrics(
            **row,
            tools=[
                ToolMetrics(*(tool[name] for name in names))
                for tool in tools
                if tool["template_id"] == row["template_id"]
            ],
        )
        for row in rows
    ]
