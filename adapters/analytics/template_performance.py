"""How each template does, asked of DuckDB."""

from typing import TYPE_CHECKING

from adapters.documents.templates import TemplateMetrics, ToolMetrics

if TYPE_CHECKING:
    import duckdb


PERFORMANCE = "SELECT * FROM template_performance"
TOOLS = """
SELECT w.template_id, i.tool, count(*) FILTER (i.status = 'confirmed') AS confirmed,
    count(*) AS decided, count(*) FILTER (i.status = 'confirmed') / count(*) AS acceptance_rate
FROM change_items i JOIN wakes w USING (run_key) WHERE i.status IN ('confirmed', 'rejected')
GROUP BY ALL ORDER BY decided DESC, tool
"""


def performance(connection: "duckdb.DuckDBPyConnection") -> list[TemplateMetrics]:
    """The documents of `metrics`."""
    from adapters.analytics.queries import run_query

    rows = list(run_query(connection, PERFORMANCE).documents())
    tools = list(run_query(connection, TOOLS).documents())
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
