"""How each template does: the documents of `metrics`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


PERFORMANCE = "SELECT * FROM template_performance"
TOOLS = """
SELECT w.template_id, i.tool, count(*) FILTER (i.status = 'confirmed') AS confirmed,
    count(*) AS decided, count(*) FILTER (i.status = 'confirmed') / count(*) AS acceptance_rate
FROM change_items i JOIN wakes w USING (run_key) WHERE i.status IN ('confirmed', 'rejected')
GROUP BY ALL ORDER BY decided DESC, tool
"""


def performance(connection: "duckdb.DuckDBPyConnection") -> list[dict[str, Any]]:
    """The documents of `metrics`."""
    from adapters.analytics_values import answer

    documents = list(answer(connection, PERFORMANCE).documents())
    tools = list(answer(connection, TOOLS).documents())
    for one in documents:
        one["tools"] = [
            {key: tool[key] for key in ("tool", "confirmed", "decided", "acceptance_rate")}
            for tool in tools
            if tool["template_id"] == one["template_id"]
        ]
    return documents
