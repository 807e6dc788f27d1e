"""Spans of what agents do: which there are, what stands in them; and that they change nothing that
is recorded, whatever becomes of them."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from adapters.runtime import effect_executor, review
from adapters.runtime.services import Services
from adapters.telemetry import otel
from adapters.telemetry.otel import OtelSpans, first_ids
from domain.agent.agent import AGENT
from domain.agent.commands import RequestWake
from domain.errors import Refused
from domain.log.wire import payload
from domain.ports import Call, ModelFault, Reply, Request
from domain.wake.wake import WAKE, ModelAsked
from tests.support.services import queued_key, services, task_with_agent
from tests.support.traced import (
    DONE,
    DOWN,
    FIRST,
    REPORT,
    SAYS,
    Traced,
    attributes,
    ids,
    links,
    tree,
)
from tests.support.whole import rows_of

BLOCKED = ModelFault("blocked", "the prompt was blocked", of_provider=False)


def test_a_wake_is_a_tree_of_its_questions_and_tools() -> None:
    traced = Traced(FIRST, DONE)
    traced.wake()
    spans = traced.spans()
    assert tree(spans) == [
        "invoke_agent",
        "  chat tape",
        "  execute_tool set_task_language",
        "  execute_tool update_task_estimate",
        "  execute_tool no_such_tool",
        "  execute_tool update_report",
        "  chat tape",
    ]
    wake, chat, language, estimate, missing = spans[:5]
    assert attributes(wake) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "wakelog.tape",
        "gen_ai.request.model": "tape",
        "gen_ai.agent.id": traced.agent,
        "gen_ai.conversation.id": f"agent:run:{traced.run_key}",
        "wakelog.run_key": traced.run_key,
        "wakelog.task.id": traced.task,
        "wakelog.reason": "creation",
        "wakelog.attempt": 1,
        "wakelog.resumed": False,
        "wakelog.outcome": "completed",
        "wakelog.stop": "answered",
    }
    assert {name: value for name, value in attributes(chat).items() if "gen_ai" in name} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "wakelog.tape",
        "gen_ai.request.model": "tape",
        "gen_ai.conversation.id": f"agent:run:{traced.run_key}",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 27,
        "gen_ai.usage.reasoning.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.response.model": "tape-1.2",
        "gen_ai.response.finish_reasons": ("STOP",),
    }
    assert attributes(chat)["wakelog.turn"] == 1
    told = attributes(language)
    assert (told["gen_ai.operation.name"], told["gen_ai.tool.call.id"]) == ("execute_tool", "c1")
    assert told["wakelog.status"] == "applied"
    assert attributes(estimate)["wakelog.status"] == "queued"
    assert attributes(missing)["error.type"] == "unknown_tool"
    statuses = [span.status.status_code for span in spans]
    assert statuses == [StatusCode.UNSET] * 4 + [StatusCode.ERROR] + [StatusCode.UNSET] * 2


def test_no_text_is_in_a_span_unless_it_is_asked_for() -> None:
    traced = Traced(FIRST, DONE)
    traced.wake()
    review.confirm(traced.services, traced.set_id, 1)
    everything = "".join(one.to_json() for one in traced.spans())
    assert SAYS not in everything
    assert "sink" not in everything
    assert "minutes" not in everything

    traced = Traced(FIRST, DONE, has_texts=True)
    traced.wake()
    wake, chat, language = traced.spans()[:3]
    assert wake.name == "invoke_agent Fix the sink"
    assert SAYS in attributes(chat)["gen_ai.output.messages"]
    assert "Fix the sink" in attributes(chat)["gen_ai.input.messages"]
    assert attributes(chat)["gen_ai.system_instructions"].startswith('[{"type": "text"')
    assert attributes(language)["gen_ai.tool.call.arguments"].startswith('{"confidence":"high"')


def test_a_wake_that_waits_goes_on_in_a_span_that_links_to_its_first() -> None:
    traced = Traced(DOWN, FIRST, DONE)
    traced.wake()
    traced.wake()
    spans = traced.spans()
    assert tree(spans)[:4] == ["invoke_agent", "  chat tape", "invoke_agent", "  chat tape"]
    first, down, second, asked_again = spans[:4]
    assert ids(first) == first_ids(traced.run_key)
    assert first.status.status_code is StatusCode.UNSET
    assert down.status.status_code is StatusCode.ERROR
    assert attributes(down)["error.type"] == "unavailable"
    assert attributes(first)["wakelog.outcome"] == "deferred"
    assert attributes(first)["wakelog.deferred.reason"] == "provider"
    assert links(second) == [first_ids(traced.run_key)]
    assert ids(second)[0] != ids(first)[0]
    assert attributes(second)["wakelog.attempt"] == 2
    assert attributes(second)["wakelog.resumed"] is True
    assert attributes(asked_again)["wakelog.attempt"] == 2
    assert attributes(second)["wakelog.outcome"] == "completed"


def test_a_wake_that_fails_is_an_error_with_its_code() -> None:
    traced = Traced(BLOCKED)
    traced.wake()
    wake, chat = traced.spans()
    for span in (wake, chat):
        assert span.status.status_code is StatusCode.ERROR
        assert attributes(span)["error.type"] == "blocked"
    assert attributes(wake)["wakelog.outcome"] == "failed"


def test_a_bug_is_an_error_with_its_class_and_passes_through() -> None:
    traced = Traced(FIRST)

    class Broken:
        name = "tape:broken"

        async def reply(self, request: Request) -> Reply:
            raise LookupError(SAYS)

    traced.services.model_for = lambda _: Broken()
    with pytest.raises(LookupError):
        traced.wake()
    assert [attributes(one)["error.type"] for one in traced.spans()] == ["LookupError"] * 2


def test_a_wake_taken_over_after_a_crash_links_to_the_span_that_is_lost() -> None:
    """The process that began it died with its spans; the ids are known all the same."""
    traced = Traced(FIRST, DONE)
    hung = traced.services.model_for
    traced.services.model_for = lambda _: Hangs()
    lost = InMemorySpanExporter()
    traced.services.spans = OtelSpans(lost)

    async def killed() -> None:
        work = asyncio.create_task(
            effect_executor.run_wake(traced.services, traced.agent, traced.run_key, is_now=True)
        )
        await Hangs.asked.wait()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    asyncio.run(killed())
    traced.services.spans.close()
    begun = {ids(one) for one in lost.get_finished_spans()}
    assert {attributes(one).get("wakelog.interrupted") for one in lost.get_finished_spans()} == {
        True
    }
    del traced.services.spans
    traced.services.model_for = hung
    traced.wake()
    wake = traced.spans()[0]
    assert set(links(wake)) <= begun
    assert attributes(wake)["wakelog.attempt"] == 2


class Hangs:
    """A model that never answers."""

    name = "tape:hangs"
    asked = asyncio.Event()

    async def reply(self, request: Request) -> Reply:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


def test_the_turns_of_a_session_are_one_conversation() -> None:
    traced = Traced(FIRST, DONE, DONE, DONE)
    traced.wake()
    session, turn = "", 0
    for words in ("What is left?", "And then?"):
        kept = payload(traced.task, words.encode())
        command = RequestWake(traced.agent, "user", session, turn, kept.id, is_enabled=True)
        known = traced.services.append_agent(command, payloads=[kept]).result
        traced.run_key, session, turn = known.ids[1], known.ids[2], 2
        traced.wake()
    spans = traced.spans()
    assert tree(spans)[-4:] == ["invoke_agent", "  chat tape"] * 2
    talked = {attributes(one)["gen_ai.conversation.id"] for one in spans[-4:]}
    assert talked == {f"agent:session:{session}"}
    assert {attributes(one)["wakelog.reason"] for one in spans[-4::2]} == {"user"}
    assert len({ids(one)[0] for one in spans[-4:]}) == 2


def test_verdicts_link_to_the_wake_that_proposed() -> None:
    proposing = Reply(
        raw=b"",
        calls=(
            Call("c1", "update_task_estimate", '{"minutes":60,"because":"Said."}'),
            Call("c2", "update_task_due_date", '{"dueDate":"2027-02-12","because":"Said."}'),
            Call("c3", "update_task_priority", '{"priority":"P1","because":"Said."}'),
            Call("c4", "update_report", REPORT),
        ),
    )
    traced = Traced(proposing, DONE)
    traced.wake()
    at, set_id = traced.services, traced.set_id
    review.confirm(at, set_id, 1, edit='{"minutes":30}')
    review.confirm(at, set_id, 2)
    review.defer(at, set_id, 3, "later")
    review.reject(at, set_id, 3, "no")
    spans = [one for one in traced.spans() if not one.name.startswith("chat")]
    assert tree(spans)[-6:] == [
        "wakelog.verdict edit",
        "  execute_tool update_task_estimate",
        "wakelog.verdict confirm",
        "  execute_tool update_task_due_date",
        "wakelog.verdict defer",
        "wakelog.verdict reject",
    ]
    verdicts = [one for one in spans if one.name.startswith("wakelog")]
    assert [links(one) for one in verdicts] == [[first_ids(traced.run_key)]] * 4
    told = [attributes(one)["wakelog.status"] for one in verdicts]
    assert told == ["confirmed", "confirmed", "deferred", "rejected"]
    assert attributes(verdicts[0])["wakelog.item"] == 1
    assert attributes(verdicts[0])["gen_ai.tool.name"] == "update_task_estimate"


def test_a_verdict_that_is_refused_is_an_error() -> None:
    traced = Traced(FIRST, DONE)
    traced.wake()
    with pytest.raises(Refused):
        review.confirm(traced.services, traced.set_id, 7)
    verdict = traced.spans()[-1]
    assert verdict.name == "wakelog.verdict confirm"
    assert verdict.status.status_code is StatusCode.ERROR


def test_a_question_to_a_provider_is_one_of_a_client() -> None:
    traced = Traced(FIRST, DONE)
    traced.wake()
    with traced.services.agents.reading() as world:
        wake = world.load(WAKE, traced.run_key)
    asked, request = ModelAsked(1, 1), Request("gemini:gemini-3.1-pro-preview", (), ())
    with traced.services.spans.chat(wake, asked, request) as tell:
        tell(DONE)
    chat = traced.spans()[-1]
    assert (chat.name, chat.kind) == ("chat gemini-3.1-pro-preview", SpanKind.CLIENT)
    assert attributes(chat)["gen_ai.provider.name"] == "gcp.gemini"


def life(at: Services) -> list[tuple[Any, ...]]:
    """Both logs' rows after a wake that waits and goes on, and a verdict."""
    _, agent = task_with_agent(at)
    run_key = queued_key(at, agent)
    for _ in range(2):
        asyncio.run(effect_executor.run_wake(at, agent, run_key, is_now=True))
    with at.agents.reading() as world:
        set_id = world.load(AGENT, agent).sets[-1]
    review.confirm(at, set_id, 1)
    rows = [*rows_of(at.journal), *rows_of(at.agents)]
    found = [(row.stream, row.n, row.row, row.at, row.fact) for row in rows]
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exporter", "trouble"),
    [
        (InMemorySpanExporter, None),
        (Failing, "spans are not sent: ConnectionError: no collector"),
        (Hanging, "spans were not sent: no answer in 2 seconds"),
    ],
)
def test_the_same_rows_are_written_whatever_becomes_of_spans(
    exporter: type[SpanExporter], trouble: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    plain = life(services([DOWN, FIRST, DONE]))
    for has_texts in (True, False):
        traced, spans = services([DOWN, FIRST, DONE]), exporter()
        traced.spans_for = partial(OtelSpans, spans, has_texts=has_texts)
        with caplog.at_level(logging.WARNING):
            assert life(traced) == plain
        if isinstance(spans, InMemorySpanExporter):
            assert spans.get_finished_spans()
        if isinstance(spans, Hanging):
            spans.over.set()
    told = [one.getMessage() for one in caplog.records if one.name == otel.__name__]
    assert told == [trouble] * (2 if trouble else 0)
