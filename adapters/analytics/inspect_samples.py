"""A wake as a sample of Inspect: what the model read and said, what its calls came to, verdicts.

Inspect (inspect_ai, the extra ``inspect``) evaluates models; its viewer and its data frames read
what this makes. A turn is a model event with the very messages that were sent, a call a tool
event, and all else that was recorded an info event of source ``wakelog``.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from inspect_ai.event import InfoEvent, ModelEvent, ToolEvent
from inspect_ai.log import EvalError, EvalSample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall, ToolCallError, ToolInfo, ToolParams
from msgspec import Struct

from adapters.documents.wakes import decoded_or_text, plain
from adapters.home.prices import MICRO, Prices, cost, cost_of_rows, price_at
from adapters.models.wording import SEPARATOR
from domain.changes import events as c
from domain.ports import ToolSpec, Usage
from domain.wake import events as w
from domain.wake.usage import used
from domain.wire import tag_of
from domain.world import Recorded, World
from projections.wakes import WakeDocument

SOURCE = "wakelog"
ACCEPTED, COMPLETED = "accepted", "completed"
"""The scores of a sample: the share of its decided proposals that were confirmed, and whether
the wake completed."""

_specs = msgspec.json.Decoder(tuple[ToolSpec, ...])
Event = ModelEvent | ToolEvent | InfoEvent


class WakeRecord(Struct, frozen=True):
    """A wake and what was recorded of it: its stream and its change set, in order."""

    wake: WakeDocument
    rows: Sequence[Recorded]
    agent: str  # name
    task: str  # title now
    template: str  # name; empty: none
    prices: Prices


def sample(world: World, told: WakeRecord) -> EvalSample:
    """The sample of a wake that started.

    Args:
        world: The agent log, which holds the payloads.
        told: The wake.

    Returns:
        A sample whose id is the run key. Of usage that the provider did not tell there is none.
    """
    wake = told.wake
    made = _Conversation(world, told)
    for row in told.rows:
        made.take(row)
    total = cost_of_rows(told.prices, wake.model, told.rows)
    usage = {}
    if made.usage is not None:  # a sum of Inspect's leaves out what is not known
        made.usage.total_cost = None if total is None else total / MICRO
        usage = {wake.model: made.usage}
    return EvalSample(
        id=wake.run_key,
        uuid=wake.run_key,
        epoch=1,
        input=made.opening,
        target="",
        messages=made.messages,
        output=made.output,
        scores=_scores(wake, told.rows),
        metadata=_metadata(told),
        events=list(made.events),
        model_usage=usage,
        started_at=wake.started_at,
        completed_at=wake.ended_at or None,
        total_time=_seconds(wake.started_at, wake.ended_at) if wake.ended_at else None,
        error=_error(wake),
        turn_count=wake.turns,
    )


class _Conversation:
    """What was said in a wake, row by row."""

    def __init__(self, world: World, told: WakeRecord) -> None:
        started = next(row.fact for row in told.rows if isinstance(row.fact, w.WakeStarted))
        self._world = world
        self._run_key = told.wake.run_key
        self._model = started.model
        self._prices = told.prices
        self._since = told.wake.started_at
        self._tools = [_tool(one) for one in _specs.decode(world.payload(started.specs))]
        self._asked = ""
        self._forced = ""
        self._calls: list[ToolCall] = []
        system, user = (self._joined(refs) for refs in (started.system, started.user))
        name = self._run_key
        self.opening: list[ChatMessage] = [
            ChatMessageSystem(id=f"{name}.system", content=system),
            ChatMessageUser(id=f"{name}.user", content=user, source="input"),
        ]
        self.messages = list(self.opening)
        self.events: list[Event] = []
        self.output = ModelOutput(model=self._model)
        self.usage: ModelUsage | None = ModelUsage()

    def take(self, row: Recorded) -> None:
        """Go on by one row."""
        match row.fact:
            case w.WakeStarted() | w.ToolAsked():
                pass  # the sample itself; the event of its result tells of a call
            case w.ModelAsked(forced=forced):
                self._asked, self._forced = row.at, forced
            case w.ModelAnswered() as fact:
                self._answered(row, fact)
            case w.ModelFailed() as fact:
                usage = self._spent(row)
                output = ModelOutput(model=self._model, error=fact.message, usage=usage)
                self._ask(row, output, fact.message or fact.code)
            case w.ToolReturned() as fact:
                self._returned(row, fact)
            case _:
                self._spent(row)  # a late answer is paid, too
                data = {"fact": tag_of(row.fact), **plain(self._world, row.fact)}
                self.events.append(InfoEvent(source=SOURCE, data=data, **self._when(row)))

    def _answered(self, row: Recorded, fact: w.ModelAnswered) -> None:
        self._calls = [
            self._call(fact.turn, nth, one) for nth, one in enumerate(fact.calls, start=1)
        ]
        message = ChatMessageAssistant(
            id=f"{self._run_key}.{fact.turn}",
            content=self._world.text(fact.text) if fact.text else "",
            tool_calls=list(self._calls) or None,
            model=self._model,
            source="generate",
        )
        choice = ChatCompletionChoice(
            message=message, stop_reason="tool_calls" if self._calls else "stop"
        )
        self.output = ModelOutput(model=self._model, choices=[choice], usage=self._spent(row))
        self._ask(row, self.output)
        self.messages.append(message)

    def _spent(self, row: Recorded) -> ModelUsage | None:
        """What a row's answer took, counted among the wake's."""
        told = used(row.fact)
        if told is None:
            return None
        usage = _usage(told, cost(told, price_at(self._prices, self._model, row.at)))
        self.usage = None if self.usage is None or usage is None else self.usage + usage
        return usage

    def _ask(self, row: Recorded, output: ModelOutput, error: str | None = None) -> None:
        asked = self._asked or row.at
        self.events.append(
            ModelEvent(
                model=self._model,
                input=list(self.messages),
                tools=[one for one in self._tools if self._forced in ("", one.name)],
                tool_choice="any" if self._forced else "auto",
                config=GenerateConfig(),
                output=output,
                error=error,
                completed=datetime.fromisoformat(row.at),
                working_time=_seconds(asked, row.at),
                **self._when(row, asked),
            )
        )

    def _returned(self, row: Recorded, fact: w.ToolReturned) -> None:
        """Calls are answered in order, so the first open one is meant."""
        call = self._calls.pop(0) if self._calls else ToolCall(fact.call_id, fact.tool, {})
        output = self._world.text(fact.message)
        is_error = fact.status in ("error", "denied")
        error = (
            ToolCallError(
                "permission" if fact.status == "denied" else "unknown", f"{fact.code}: {output}"
            )
            if is_error
            else None
        )
        named = {"status": fact.status, "action": fact.action, "operation": fact.operation}
        message = ChatMessageTool(
            id=f"{call.id}.result",
            content=output,
            tool_call_id=call.id,
            function=call.function,
            error=error,
        )
        self.events.append(
            ToolEvent(
                id=call.id,
                function=call.function,
                arguments=call.arguments,
                result=output,
                error=error,
                failed=True if is_error else None,
                message_id=message.id,
                completed=datetime.fromisoformat(row.at),
                metadata={**named, "changed": list(fact.changed), "position": fact.position},
                **self._when(row),
            )
        )
        self.messages.append(message)

    def _call(self, turn: int, nth: int, call: w.ToolCall) -> ToolCall:
        """A call. Its id is ours: what models name theirs need not be unique in a wake."""
        decoded = decoded_or_text(self._world.text(call.arguments))
        return ToolCall(
            id=f"{self._run_key}.{turn}.{nth}",
            function=call.tool,
            arguments=decoded if isinstance(decoded, dict) else {"": decoded},
            parse_error=call.problem or None,
        )

    def _joined(self, refs: Iterable[w.SectionRef]) -> str:
        return SEPARATOR.join(self._world.payload(one.payload).decode() for one in refs)

    def _when(self, row: Recorded, at: str = "") -> dict[str, Any]:
        begun = at or row.at
        return {
            "uuid": f"{row.stream}.{row.version}",
            "timestamp": datetime.fromisoformat(begun),
            "working_start": _seconds(self._since, begun),
        }


def _tool(spec: ToolSpec) -> ToolInfo:
    parameters = ToolParams.model_validate(spec.schema)
    return ToolInfo(name=spec.name, description=spec.description, parameters=parameters)


def _usage(usage: Usage, micros: int | None) -> ModelUsage | None:
    """What a turn used. Inspect counts cached tokens beside the input, not in it."""
    if usage.tokens_in is None or usage.written is None:
        return None
    return ModelUsage(
        input_tokens=usage.tokens_in - (usage.tokens_cached or 0),
        output_tokens=usage.written,
        total_tokens=usage.tokens_in + usage.written,
        input_tokens_cache_read=usage.tokens_cached,
        reasoning_tokens=usage.tokens_thought,
        total_cost=None if micros is None else micros / MICRO,
    )


def _scores(wake: WakeDocument, rows: Iterable[Recorded]) -> dict[str, Score]:
    last: dict[int, bool] = {}
    for row in rows:
        match row.fact:
            case c.ItemConfirmed(item=item) | c.ItemRejected(item=item) as verdict:
                last[item] = isinstance(verdict, c.ItemConfirmed)
            case c.ItemReopened(item=item) | c.ItemUndone(item=item, code=""):
                last.pop(item, None)
            case _:
                pass
    scores = {COMPLETED: Score(value=float(wake.outcome == "completed"), answer=wake.outcome)}
    if last:
        told = f"{sum(last.values())} of {len(last)} decided proposals confirmed"
        counts = {"confirmed": sum(last.values()), "decided": len(last)}
        value = sum(last.values()) / len(last)
        scores[ACCEPTED] = Score(value=value, explanation=told, metadata=counts)
    return scores


def _metadata(told: WakeRecord) -> dict[str, Any]:
    wake = told.wake
    return {
        "agent": told.agent,
        "agent_id": wake.agent_id,
        "task": told.task,
        "task_id": wake.task_id,
        "thread": wake.thread,
        "reason": wake.reason,
        "outcome": wake.outcome or wake.state,
        "code": wake.code or None,
        "template": told.template or None,
        "template_id": wake.template_id or None,
        "template_version": wake.template_version or None,
        "journal_position": wake.journal_position,
    }


def _error(wake: WakeDocument) -> EvalError | None:
    if wake.outcome != "failed":
        return None
    message = ": ".join(one for one in (wake.code, wake.message) if one)
    return EvalError(message=message, traceback="", traceback_ansi="")


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
