"""Tracing changes nothing that is recorded, whatever becomes of the spans."""

import asyncio
import logging
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adapters.runtime import effect_executor, review
from adapters.runtime.services import Services
from adapters.telemetry import otel
from adapters.telemetry.otel import OtelSpans
from domain.agent.agent import AGENT
from tests.support.services import queued_key, services, task_with_agent
from tests.support.traced import DONE, DOWN, FIRST
from tests.support.whole import rows_of


def _life(at: Services) -> list[tuple[Any, ...]]:
    """Both logs' rows after a wake that waits and goes on, and a verdict."""
    _, agent = task_with_agent(at)
    run_key = queued_key(at, agent)
    for _ in range(2):
        asyncio.run(effect_executor.run_wake(at, agent, run_key, is_now=True))
    with at.agents.reading() as world:
        set_id = world.load(AGENT, agent).sets[-1]
    review.confirm(at, set_id, 1)
    found = [(row.stream, row.n, row.row, row.at, row.fact) for row in rows_of(at.journal)]
    found += [(row.stream, row.n, row.row, row.at, row.fact) for row in rows_of(at.agents)]
    at.close()
    return found


class Failing(SpanExporter):
    """An exporter that raises."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise ConnectionError("no collector")

    def shutdown(self) -> None:
        raise ConnectionError("no collector")


class Hanging(SpanExporter):
    """An exporter that never comes back, until the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.over.wait()
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self.over.wait()


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    exporter = Hanging()
    yield exporter
    exporter.over.set()


def test_the_same_rows_are_written_with_and_without() -> None:
    plain = _life(services([DOWN, FIRST, DONE]))
    for has_texts in (True, False):
        traced, exporter = services([DOWN, FIRST, DONE]), InMemorySpanExporter()
        traced.spans_for = partial(OtelSpans, exporter, has_texts=has_texts)
        assert _life(traced) == plain
        assert exporter.get_finished_spans()


def test_an_exporter_that_raises_hurts_nothing_and_is_told_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    traced = services([DOWN, FIRST, DONE])
    traced.spans_for = partial(OtelSpans, Failing())
    with caplog.at_level(logging.WARNING):
        assert _life(traced) == _life(services([DOWN, FIRST, DONE]))
    assert [one.getMessage() for one in caplog.records if one.name == otel.__name__] == [
        "spans are not sent: ConnectionError: no collector"
    ]


def test_an_exporter_that_hangs_is_given_up(
    hanging: Hanging, caplog: pytest.LogCaptureFixture
) -> None:
    traced = services([DOWN, FIRST, DONE])
    traced.spans_for = partial(OtelSpans, hanging)
    assert _life(traced) == _life(services([DOWN, FIRST, DONE]))
    assert "no answer in 2 seconds" in caplog.text
