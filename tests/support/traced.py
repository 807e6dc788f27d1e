"""Desks whose effects are traced, and what a trace looks like."""

import asyncio
from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adapters.runtime import effect_executor
from adapters.telemetry.otel import OtelSpans
from domain.agent.agent import AGENT
from domain.ports import Call, ModelFault, Reply, Usage
from tests.support.services import divergences, queued_key, services, task_with_agent

SAYS = "The secret of the sink."
REPORT = '{"content":"Fine.","tldr":"It is fine.","oneLiner":"Fine"}'
FIRST = Reply(
    raw=b"{}",
    text=SAYS,
    calls=(
        Call("c1", "set_task_language", '{"languageCode":"en","confidence":"high"}'),
        Call("c2", "update_task_estimate", '{"minutes":60,"because":"Said."}'),
        Call("c3", "no_such_tool", "{}"),
        Call("c4", "update_report", REPORT),
    ),
    usage=Usage(100, 20, 7, 40),
    model="tape-1.2",
    finish="STOP",
)
DONE = Reply(raw=b"", text="Done.")
DOWN = ModelFault("unavailable", "no answer", of_provider=True, retry_seconds=60)


class Traced:
    """Services whose effects are traced into memory."""

    def __init__(self, *replies: Reply | ModelFault, has_texts: bool = False) -> None:
        self.exporter = InMemorySpanExporter()
        self.services = services(replies)
        self.services.spans_for = lambda: OtelSpans(self.exporter, has_texts=has_texts)
        self.task, self.agent = task_with_agent(self.services)
        self.run_key = queued_key(self.services, self.agent)

    def wake(self) -> None:
        asyncio.run(effect_executor.run_wake(self.services, self.agent, self.run_key, is_now=True))

    def spans(self) -> list[ReadableSpan]:
        """All that there are, as they began; the services are closed."""
        assert divergences(self.services) == []
        self.services.close()
        return sorted(self.exporter.get_finished_spans(), key=lambda one: one.start_time or 0)

    @property
    def set_id(self) -> str:
        with self.services.agents.reading() as world:
            return world.load(AGENT, self.agent).sets[-1]


def tree(spans: Sequence[ReadableSpan]) -> list[str]:
    """Names, each below and right of its parent."""
    depths: dict[int, int] = {}
    lines = []
    for span in spans:
        depth = depths[span.parent.span_id] + 1 if span.parent else 0
        assert span.context is not None
        depths[span.context.span_id] = depth
        lines.append("  " * depth + span.name)
    return lines


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def ids(span: ReadableSpan) -> tuple[int, int]:
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


def links(span: ReadableSpan) -> list[tuple[int, int]]:
    return [(one.context.trace_id, one.context.span_id) for one in span.links]
