"""Effects as OpenTelemetry spans, by its conventions for generative AI. The one module that
imports OpenTelemetry; see `adapters.telemetry.loading` for when.

    invoke_agent                      a wake, or one more stretch of one that waited or crashed
      chat MODEL                      a question to the model
      execute_tool TOOL               a tool: an effect, or one that the wake answered by itself
    wakelog.verdict VERB              a person's verdict, or the recovery of its effect
      execute_tool TOOL

The first span of a wake has ids that are derived from its run key. So what comes later, in
another process too, links to it, and no id is stored anywhere. Attributes of our own begin with
``wakelog.``; texts (prompts, replies, arguments, results, an agent's name) are left out unless
they are asked for. Times are the machine's, also under a clock that is set by hand."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from threading import Thread
from typing import NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from adapters.home.prices import WHOLE, CostOf
from adapters.store.log import Appended
from adapters.telemetry.spans import TellAppended, TellItem, TellReply, TellResult, Verb
from domain.agent import endpoints
from domain.append import envelope
from domain.append.causes import Result
from domain.changes.change_set import ChangeItem, ChangeSet, find
from domain.errors import WakelogError
from domain.journal.commands import ApplyOperation
from domain.log.keys import key
from domain.ports import ModelFault, Reply, Request, Usage
from domain.wake.wake import LateReply, ModelAsked, ToolReturned, Wake, WakeDeferred, WakeFinished

PROVIDERS = {"gemini": "gcp.gemini", "openai": "openai"}
"""As the conventions name them; others are ours."""


def model(name: str) -> dict[str, str | int]:
    """Provider and model of ``gemini:MODEL``, ``rules`` or ``tape:FILE``, whose file is left out;
    of a model behind an address, the protocol that it speaks, and the server.

    >>> model("gemini:g-3")
    {'gen_ai.provider.name': 'gcp.gemini', 'gen_ai.request.model': 'g-3'}
    >>> list(model("openai:m@http://[::1]:8080/v1").values())
    ['openai', 'm', '::1', 8080]
    """
    provider, _, model = name.partition(":")
    server: dict[str, str | int] = {}
    if endpoint := endpoints.named(name):
        model = endpoint.model
        if where := endpoint.address:
            server = {"server.address": where.host.strip("[]"), "server.port": int(where.port)}
    known = PROVIDERS.get(provider)
    return {
        "gen_ai.provider.name": known or f"wakelog.{provider}",
        "gen_ai.request.model": model if known else provider,
        **server,
    }


def no_cost(_: str, __: Usage) -> None:
    """Where no prices are known."""


def counted(usage: Usage, parts: int | None) -> dict[str, int | float]:
    """What an answer took, as far as it is known, and what that costs."""
    counts = {
        "gen_ai.usage.input_tokens": usage.tokens_in,
        "gen_ai.usage.output_tokens": usage.written,
        "gen_ai.usage.reasoning.output_tokens": usage.tokens_thought,
        "gen_ai.usage.cache_read.input_tokens": usage.tokens_cached,
        "wakelog.cost": None if parts is None else parts / WHOLE,
    }
    return {name: count for name, count in counts.items() if count is not None}


def asked_texts(request: Request) -> dict[str, str]:
    """The texts of a question; what the model said in earlier turns stands in their own spans."""
    said = [_text(section.text) for section in request.user]
    messages = [{"role": "user", "parts": said}]
    for exchange in request.exchanges:
        parts = [
            {"type": "tool_call_response", "id": one.call_id, "response": one.output}
            for one in exchange.results
        ]
        messages += [{"role": "tool", "parts": parts}] if parts else []
    return {
        "gen_ai.system_instructions": _json([_text(one.text) for one in request.system]),
        "gen_ai.input.messages": _json(messages),
    }


def replied_texts(reply: Reply) -> str:
    """The texts of an answer, JSON."""
    parts = [_text(reply.text)] if reply.text else []
    for call in reply.calls:
        wish = {"id": call.call_id, "name": call.tool, "arguments": call.arguments}
        parts.append({"type": "tool_call", **wish})
    finish = reply.finish or ("tool_call" if reply.calls else "stop")
    return _json([{"role": "assistant", "parts": parts, "finish_reason": finish}])


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "content": text}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# --------------------------------------------------------------------------- the spans of a process

SCOPE = "wakelog"
CLOSING_SECONDS = 2.0
"""How long the end of a command may wait for spans to be sent."""

Attributes = dict[str, str | int | bool | Sequence[str]]

_log = logging.getLogger(__name__)
_READ = frozenset(
    str(one.__struct_config__.tag) for one in (ToolReturned, WakeFinished, WakeDeferred, LateReply)
)


class SpanIds(NamedTuple):
    """Of a span: its trace's 128 bits and its own 64, neither of them zero."""

    trace: int
    span: int


def first_ids(run_key: str) -> SpanIds:
    """The ids of a wake's first span: always the same ones."""
    digest = hashlib.sha256(key("span", run_key).encode()).digest()
    return SpanIds(int.from_bytes(digest[:16]) or 1, int.from_bytes(digest[16:24]) or 1)


def sending(*, has_texts: bool, cost_of: CostOf) -> "OtelSpans":
    """Spans that are sent over OTLP and HTTP; where to and how is said by the standard variables,
    `OTEL_EXPORTER_OTLP_ENDPOINT` for example."""
    return OtelSpans(OTLPSpanExporter(), has_texts=has_texts, cost_of=cost_of)


class OtelSpans:
    """The spans of one process's effects on one home. `exporter` takes them, in a thread of its
    own; whatever it does, no effect waits for it. `has_texts`: with the texts in them; `cost_of`
    says what a model's answer costs."""

    def __init__(
        self, exporter: SpanExporter, *, has_texts: bool = False, cost_of: CostOf = no_cost
    ) -> None:
        logger = logging.getLogger("opentelemetry")  # it tells of each trouble, at length
        logger.propagate = False
        logger.addHandler(logging.NullHandler())
        self._has_texts = has_texts
        self._cost_of = cost_of
        own, ids = _resource(), _GivenIds()
        self._provider = TracerProvider(resource=own, id_generator=ids, shutdown_on_exit=False)
        self._exporter = _CarefulExporter(exporter)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer(SCOPE)

    @contextmanager
    def wake(self, wake: Wake, name: str, *, is_resumed: bool) -> Iterator[TellAppended]:
        """See `Spans.wake`."""
        begun = wake.begun
        ids = first_ids(wake.run_key)
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            **model(begun.model),
            "gen_ai.agent.id": begun.agent,
            "gen_ai.conversation.id": begun.thread,
            "wakelog.run_key": wake.run_key,
            "wakelog.task.id": begun.task,
            "wakelog.reason": begun.reason,
            "wakelog.attempt": wake.asked.attempt if wake.asked else 0,
            "wakelog.resumed": is_resumed,
        }
        if begun.template:
            attributes["wakelog.template"] = begun.template
            attributes["wakelog.template.version"] = begun.template_version
        if self._has_texts:
            attributes["gen_ai.agent.name"] = name
        token = _given.set(None if is_resumed else ids)
        try:
            span = self._tracer.start_span(
                f"invoke_agent {name}" if self._has_texts else "invoke_agent",
                Context(),
                attributes=attributes,
                links=[_link(ids)] if is_resumed else (),
            )
        finally:
            _given.reset(token)
        with _under(span):
            yield partial(self._appended, span)

    @contextmanager
    def chat(self, wake: Wake, asked: ModelAsked, request: Request) -> Iterator[TellReply]:
        """See `Spans.chat`."""
        named = model(request.model)
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            **named,
            "gen_ai.conversation.id": wake.begun.thread,
            "wakelog.run_key": wake.run_key,
            "wakelog.turn": asked.turn,
            "wakelog.attempt": asked.attempt,
        }
        if self._has_texts:
            attributes |= asked_texts(request)
        is_remote = named["gen_ai.provider.name"] in PROVIDERS.values()
        span = self._tracer.start_span(
            f"chat {named['gen_ai.request.model']}",
            kind=SpanKind.CLIENT if is_remote else SpanKind.INTERNAL,
            attributes=attributes,
        )
        with _under(span):
            try:
                yield partial(self._replied, span, request.model)
            except ModelFault as fault:
                self._spent(span, request.model, fault.usage)
                raise

    @contextmanager
    def tool(
        self, command: ApplyOperation, text: str, call_id: str, attempt: int
    ) -> Iterator[TellResult]:
        """See `Spans.tool`."""
        attributes: Attributes = {
            "wakelog.operation": command.operation,
            "wakelog.task.id": command.task,
            "wakelog.attempt": attempt,
        }
        if self._has_texts:
            attributes["gen_ai.tool.call.arguments"] = text
        with _under(self._tool(command.tool, call_id, attributes)) as span:
            yield partial(self._applied, span)

    @contextmanager
    def verdict(self, verb: Verb, changes: ChangeSet, number: int) -> Iterator[TellItem]:
        """See `Spans.verdict`."""
        item = find(changes, number)
        attributes: Attributes = {
            "gen_ai.agent.id": changes.agent,
            "wakelog.verdict": verb,
            "wakelog.change_set": changes.id,
            "wakelog.item": number,
            "wakelog.task.id": changes.task,
            "wakelog.run_key": changes.run_key,
        }
        if item is not None:
            attributes["gen_ai.tool.name"] = item.tool
        links = [_link(first_ids(changes.run_key))] if changes.run_key else ()
        named, start = f"wakelog.verdict {verb}", self._tracer.start_span
        with _under(start(named, Context(), attributes=attributes, links=links)) as span:
            yield partial(_decided, span)

    def close(self) -> None:
        """Send what is left; what takes too long is given up, and told."""
        closing = Thread(target=self._provider.shutdown, daemon=True, name="wakelog-spans")
        closing.start()
        closing.join(CLOSING_SECONDS)
        if closing.is_alive():
            _log.warning("spans were not sent: no answer in %g seconds", CLOSING_SECONDS)
            Thread(target=self._exporter.shutdown, daemon=True).start()  # it may try no more

    # ------------------------------------------------------------------------- what came of it

    def _appended(self, span: Span, appended: Appended) -> None:
        for row in appended.rows:
            if row.topic in _READ:
                self._fact(span, envelope.read(row).data)

    def _fact(self, span: Span, fact: object) -> None:
        match fact:
            case ToolReturned(attempt=0):  # it never left the process
                self._answered(fact)
            case ToolReturned(agent_position=n) if n:  # of a read: nothing was applied
                self._answered(fact)
            case WakeDeferred(until=until, reason=reason):
                span.set_attributes({"wakelog.outcome": "deferred", "wakelog.until": until})
                span.set_attribute("wakelog.deferred.reason", reason)
            case WakeFinished(outcome=outcome, stop=stop, code=code):
                span.set_attribute("wakelog.outcome", outcome)
                if stop:
                    span.set_attribute("wakelog.stop", stop)
                if outcome == "failed":
                    _fail(span, code)
                elif code:
                    span.set_attribute("wakelog.code", code)
            case LateReply():  # another process has taken the wake over
                span.set_attribute("wakelog.late", value=True)

    def _answered(self, fact: ToolReturned) -> None:
        """A call that the wake answered by itself: queued as a proposal, local, or denied."""
        span = self._tool(fact.tool, fact.call_id, {"wakelog.status": fact.status})
        if fact.status in ("error", "denied"):
            _fail(span, fact.code or fact.status)
        if self._has_texts:
            span.set_attribute("gen_ai.tool.call.result", fact.message.text)
        span.end()

    def _tool(self, name: str, call_id: str, more: Attributes) -> Span:
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            **({"gen_ai.tool.call.id": call_id} if call_id else {}),
            **more,
        }
        return self._tracer.start_span(f"execute_tool {name}", attributes=attributes)

    def _applied(self, span: Span, result: Result) -> None:
        span.set_attribute("wakelog.status", result.status)
        if result.status != "applied":
            _fail(span, result.code or result.status)
        if self._has_texts:
            span.set_attribute("gen_ai.tool.call.result", result.message or result.status)

    def _spent(self, span: Span, asked: str, usage: Usage) -> None:
        span.set_attributes(counted(usage, self._cost_of(asked, usage)))

    def _replied(self, span: Span, asked: str, reply: Reply) -> None:
        self._spent(span, asked, reply.usage)
        if reply.model:
            span.set_attribute("gen_ai.response.model", reply.model)
        if reply.finish:
            span.set_attribute("gen_ai.response.finish_reasons", [reply.finish])
        if self._has_texts:
            span.set_attribute("gen_ai.output.messages", replied_texts(reply))


def _decided(span: Span, item: ChangeItem | None) -> None:
    if item is not None:
        span.set_attribute("wakelog.status", item.status)
        if item.error_code:
            _fail(span, item.error_code)


# ---------------------------------------------------------------------------------------- spans

_given: ContextVar[SpanIds | None] = ContextVar("_given", default=None)


class _GivenIds(RandomIdGenerator):
    """Random ids, but where a span is given its own."""

    def generate_trace_id(self) -> int:
        given = _given.get()
        return given.trace if given else super().generate_trace_id()

    def generate_span_id(self) -> int:
        given = _given.get()
        return given.span if given else super().generate_span_id()


class _CarefulExporter(SpanExporter):
    """Tells once that spans cannot be sent, whatever the exporter does then."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self._is_told = False  # of the trouble there is

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        told = "the collector did not take them"
        try:
            result = self._inner.export(spans)
        except Exception as error:  # noqa: BLE001  an exporter is somebody else's
            told, result = f"{type(error).__name__}: {error}", SpanExportResult.FAILURE
        is_sent = result is SpanExportResult.SUCCESS
        if not (is_sent or self._is_told):
            _log.warning("spans are not sent: %s", told)
        self._is_told = not is_sent
        return result

    def shutdown(self) -> None:
        self._is_told = True
        with suppress(Exception):
            self._inner.shutdown()


@contextmanager
def _under(span: Span) -> Iterator[Span]:
    """Make a span the current one, and end it; its status is what was raised within."""
    try:
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield span
    except asyncio.CancelledError:
        span.set_attribute("wakelog.interrupted", value=True)
        raise
    except Exception as error:
        name = "timeout" if isinstance(error, TimeoutError) else type(error).__name__
        _fail(span, error.code if isinstance(error, ModelFault | WakelogError) else name)
        raise
    finally:
        span.end()


def _fail(span: Span, code: str) -> None:
    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR, code))


def _link(ids: SpanIds) -> Link:
    return Link(SpanContext(*ids, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED)))


def _resource() -> Resource:
    """Who sends: what `OTEL_SERVICE_NAME` says, else wakelog."""
    found = Resource.create()
    if str(found.attributes[SERVICE_NAME]).startswith("unknown_service"):
        return found.merge(Resource({SERVICE_NAME: SCOPE}))
    return found
