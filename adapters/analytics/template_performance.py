"""How each template does, asked of DuckDB."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapters.documents.templates import TemplateMetrics, ToolMetrics
from adapters.usecases.resolve import pick
from domain.text import fold

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


def performance_of(documents: Sequence[TemplateMetrics], wanted: str) -> list[TemplateMetrics]:
    """Those of the template that a word names. Raises Refused, code ``unknown_template``."""
    named = [(one.template_id, one.template_name or "") for one in documents]
    known = [(one, name) for one, name in named if one is not None]
    if all(wanted not in one for one in known):  # neither an id nor an exact name
        alike = [name for _, name in known if fold(name) == fold(wanted)]
        wanted = alike[0] if len(alike) == 1 else wanted
    found = pick(wanted, known, "template", "unknown_template", see="see `wakelog metrics`")
    return [one for one in documents if one.template_id == found]
