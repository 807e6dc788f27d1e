"""Wakes as Inspect logs: one `.eval` file for each template version and model (ADR 0019)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from math import sqrt
from pathlib import Path
from typing import Any

import inspect_ai.log as i
import msgspec
from inspect_ai.event import InfoEvent, ModelEvent, ToolEvent
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

from adapters.documents.tasks import titles_of
from adapters.documents.wakes import decoded_or_text, plain, rows_of
from adapters.home.files import close_to_others
from adapters.home.prices import WHOLE, Prices, cost, cost_of_rows, price_at
from adapters.models.wording import SEPARATOR
from adapters.wiring import Home
from domain.changes import change_set as c
from domain.errors import Refused
from domain.log.keys import key
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import tag_of
from domain.ports import ToolSpec, Usage
from domain.wake import wake as w
from domain.wake.wake import used as usage_of
from projections import agents, templates, wakes
from projections.wakes import WakeDocument

SOURCE = "wakelog"
ACCEPTED, COMPLETED = "accepted", "completed"
"""The scores of a sample: the share of its decided proposals that were confirmed, and whether
the wake completed."""

_specs = msgspec.json.Decoder(tuple[ToolSpec, ...])
SampleEvent = ModelEvent | ToolEvent | InfoEvent


class WakeRecord(Struct, frozen=True):
    """A wake and what was recorded of it: its stream and its change set, in order."""

    wake: WakeDocument
    rows: Sequence[RecordedEvent]
    agent: str  # name
    task: str  # title now
    template: str  # name; empty: none
    prices: Prices


def sample(world: LogState, told: WakeRecord) -> i.EvalSample:
    """The sample of a wake that started; its id is the run key. `world`: the agent log, which holds
    the payloads. Of usage that the provider did not tell there is none."""
    wake = told.wake
    made = _Conversation(world, told)
    for row in told.rows:
        made.take(row)
    total = cost_of_rows(told.prices, wake.model, told.rows)
    usage = {}
    if made.usage is not None:  # a sum of Inspect's leaves out what is not known
        made.usage.total_cost = None if total is None else total / WHOLE
        usage = {wake.model: made.usage}
    return i.EvalSample(
        id=wake.run_key, uuid=wake.run_key, epoch=1, input=made.opening, target="",
        messages=made.messages, output=made.output, scores=_scores(wake, told.rows),
        metadata=_metadata(told), events=list(made.events), model_usage=usage,
        started_at=wake.started_at, completed_at=wake.ended_at or None,
        total_time=_seconds(wake.started_at, wake.ended_at) if wake.ended_at else None,
        error=_error(wake), turn_count=wake.turns,
    )  # fmt: skip


class _Conversation:
    """What was said in a wake, row by row."""

    def __init__(self, world: LogState, told: WakeRecord) -> None:
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
        self.events: list[SampleEvent] = []
        self.output = ModelOutput(model=self._model)
        self.usage: ModelUsage | None = ModelUsage()

    def take(self, row: RecordedEvent) -> None:
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

    def _answered(self, row: RecordedEvent, fact: w.ModelAnswered) -> None:
        self._calls = [self._call(fact.turn, nth, one) for nth, one in enumerate(fact.calls, 1)]
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

    def _spent(self, row: RecordedEvent) -> ModelUsage | None:
        """What a row's answer took, counted among the wake's."""
        told = usage_of(row.fact)
        if told is None:
            return None
        usage = _turn_usage(told, cost(told, price_at(self._prices, self._model, row.at)))
        self.usage = None if self.usage is None or usage is None else self.usage + usage
        return usage

    def _ask(self, row: RecordedEvent, output: ModelOutput, error: str | None = None) -> None:
        asked = self._asked or row.at
        asking = ModelEvent(
            model=self._model, input=list(self.messages),
            tools=[one for one in self._tools if self._forced in ("", one.name)],
            tool_choice="any" if self._forced else "auto", config=GenerateConfig(),
            output=output, error=error, completed=datetime.fromisoformat(row.at),
            working_time=_seconds(asked, row.at), **self._when(row, asked),
        )  # fmt: skip
        self.events.append(asking)

    def _returned(self, row: RecordedEvent, fact: w.ToolReturned) -> None:
        """Calls are answered in order, so the first open one is meant."""
        call = self._calls.pop(0) if self._calls else ToolCall(fact.call_id, fact.tool, {})
        output = self._world.text(fact.message)
        is_error, error = fact.status in ("error", "denied"), None
        if is_error:
            told = f"{fact.code}: {output}"
            error = ToolCallError("permission" if fact.status == "denied" else "unknown", told)
        named = {"status": fact.status, "action": fact.action, "operation": fact.operation}
        message = ChatMessageTool(
            id=f"{call.id}.result", content=output, tool_call_id=call.id, function=call.function,
            error=error,
        )  # fmt: skip
        returned = ToolEvent(
            id=call.id, function=call.function, arguments=call.arguments, result=output,
            error=error, failed=True if is_error else None, message_id=message.id,
            completed=datetime.fromisoformat(row.at),
            metadata={**named, "changed": list(fact.changed), "position": fact.position},
            **self._when(row),
        )  # fmt: skip
        self.events.append(returned)
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

    def _when(self, row: RecordedEvent, at: str = "") -> dict[str, Any]:
        begun = at or row.at
        return {
            "uuid": f"{row.stream}.{row.version}",
            "timestamp": datetime.fromisoformat(begun),
            "working_start": _seconds(self._since, begun),
        }


def _tool(spec: ToolSpec) -> ToolInfo:
    parameters = ToolParams.model_validate(spec.schema)
    return ToolInfo(name=spec.name, description=spec.description, parameters=parameters)


def _turn_usage(usage: Usage, parts: int | None) -> ModelUsage | None:
    """What a turn used. Inspect counts cached tokens beside the input, not in it."""
    if usage.tokens_in is None or usage.written is None:
        return None
    return ModelUsage(
        input_tokens=usage.tokens_in - (usage.tokens_cached or 0), output_tokens=usage.written,
        total_tokens=usage.tokens_in + usage.written, input_tokens_cache_read=usage.tokens_cached,
        reasoning_tokens=usage.tokens_thought, total_cost=None if parts is None else parts / WHOLE,
    )  # fmt: skip


def _scores(wake: WakeDocument, rows: Iterable[RecordedEvent]) -> dict[str, Score]:
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
        "agent": told.agent, "agent_id": wake.agent_id, "task": told.task, "task_id": wake.task_id,
        "thread": wake.thread, "reason": wake.reason, "outcome": wake.outcome or wake.state,
        "code": wake.code or None, "template": told.template or None,
        "template_id": wake.template_id or None, "template_version": wake.template_version or None,
        "journal_position": wake.journal_position,
    }  # fmt: skip


def _error(wake: WakeDocument) -> i.EvalError | None:
    if wake.outcome != "failed":
        return None
    message = ": ".join(one for one in (wake.code, wake.message) if one)
    return i.EvalError(message=message, traceback="", traceback_ansi="")


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


# ----------------------------------------------------------------------------------------- the logs

NO_TEMPLATE = "no-template"
WakesProgress = Callable[[int, int], None]


class WrittenLog(Struct, frozen=True):
    """A file that was written, by its name, and how many wakes stand in it."""

    file: str
    template: str
    template_version: int
    model: str
    wakes: int


class _SampleGroup(Struct, frozen=True, order=True):
    template_id: str
    template_version: int
    model: str


class _ScoredWake(Struct, frozen=True):
    """The score of a wake, and whose wake it is."""

    agent: str
    yes: float
    items: int


def export_inspect(
    home: Home, folder: Path, progress: WakesProgress | None = None
) -> list[WrittenLog]:
    """Write every wake that started as a sample; what was written, ordered by template, version and
    model. The home's views are caught up; files of an earlier export are replaced by name.
    `progress` is told how many wakes of all are done. Raises Refused, code ``read_only``: the
    folder cannot be written."""
    grouped: dict[_SampleGroup, list[WakeDocument]] = {}
    for wake in home.views.page(wakes.VIEW):
        if wake.started_at:
            group = _SampleGroup(wake.template_id, wake.template_version, wake.model)
            grouped.setdefault(group, []).append(wake)
    names = {one.id: one.name for one in home.views.page(agents.VIEW)} | titles_of(home)
    count = sum(map(len, grouped.values()))
    done = 0
    written: list[WrittenLog] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for group in sorted(grouped):
            log = _eval_log(home, group, grouped[group], names)
            name = _file_name(log)
            i.write_eval_log(log, str(folder / name), format="eval")
            close_to_others([folder / name])
            found, of = len(grouped[group]), (group.template_version, group.model)
            written.append(WrittenLog(name, log.eval.task, *of, found))
            done += found
            if progress is not None:
                progress(done, count)
    except OSError as error:
        because = f"{folder} cannot be written: {error.strerror or error}"
        instead = "free space, give yourself permission, or name another folder"
        raise Refused("read_only", because=because, instead=instead) from None
    return written


def _eval_log(
    home: Home, group: _SampleGroup, found: Sequence[WakeDocument], names: Mapping[str, str]
) -> i.EvalLog:
    """The log of a group; `names`: what agents and tasks are called now, by their ids."""
    template = home.views.get(templates.VIEW, group.template_id) if group.template_id else None
    name = template.template.name if template else group.template_id
    samples: list[i.EvalSample] = []
    with home.services.agents.reading() as world:
        for wake in found:
            agent, task = names.get(wake.agent_id, ""), names.get(wake.task_id, "")
            rows, prices = rows_of(home, wake), home.settings.prices
            samples.append(sample(world, WakeRecord(wake, rows, agent, task, name, prices)))
    named = key("inspect", group.template_id, str(group.template_version), group.model)
    spec = i.EvalSpec(
        eval_id=named,
        run_id=named,
        task_id=named,
        created=found[0].started_at,
        task=name or NO_TEMPLATE,
        task_version=group.template_version,
        model=group.model,
        dataset=i.EvalDataset(
            name="wakes", samples=len(samples), sample_ids=[str(one.id) for one in samples]
        ),
        config=i.EvalConfig(),
        packages={"wakelog": version("wakelog")},
        metadata={
            "template_id": group.template_id or None,
            "template": name or None,
            "template_version": group.template_version or None,
        },
    )
    ended = [one.ended_at for one in found if one.ended_at]
    return i.EvalLog(
        status="success",
        eval=spec,
        samples=samples,
        results=_results(samples),
        stats=i.EvalStats(
            started_at=found[0].started_at,
            completed_at=max(ended, default=""),
            model_usage=_total_usage(samples),
        ),
    )


def _results(samples: Sequence[i.EvalSample]) -> i.EvalResults:
    scores = []
    for name in (ACCEPTED, COMPLETED):
        scored = [one for one in samples if name in (one.scores or {})]
        if not scored:
            continue
        found = _metrics([_counted(one, name) for one in scored])
        scores.append(
            i.EvalScore(
                name=name,
                scorer=name,
                scored_samples=len(scored),
                unscored_samples=len(samples) - len(scored),
                metrics={one: i.EvalMetric(name=one, value=value) for one, value in found.items()},
            )
        )
    done = sum(one.completed_at is not None for one in samples)
    return i.EvalResults(total_samples=len(samples), completed_samples=done, scores=scores)


def _counted(one: i.EvalSample, name: str) -> _ScoredWake:
    """A sample's score as what was said yes to, of how many."""
    score = (one.scores or {})[name]
    counts = score.metadata or {"confirmed": score.as_float(), "decided": 1}
    return _ScoredWake((one.metadata or {})["agent_id"], counts["confirmed"], counts["decided"])


def _metrics(counted: Sequence[_ScoredWake]) -> dict[str, float]:
    """The share of all items, its standard error with an agent's items as one cluster (none for
    one agent), and how many items there are."""
    items = sum(one.items for one in counted)
    share = sum(one.yes for one in counted) / items
    clusters: dict[str, float] = {}
    for one in counted:
        residual = one.yes - share * one.items
        clusters[one.agent] = clusters.get(one.agent, 0.0) + residual
    metrics = {"mean": share, "items": items}
    if len(clusters) > 1:
        squares = sum(one * one for one in clusters.values())
        metrics["stderr"] = sqrt(squares * len(clusters) / (len(clusters) - 1)) / items
    return metrics


def _total_usage(samples: Iterable[i.EvalSample]) -> dict[str, ModelUsage]:
    total: dict[str, ModelUsage] = {}
    for one in samples:
        for model, used in one.model_usage.items():
            total[model] = _plus(total[model], used) if model in total else used
    return total


def _plus(one: ModelUsage, other: ModelUsage) -> ModelUsage:
    """As Inspect adds, but a cost with a part that is not known is not known."""
    both = one + other
    if None in (one.total_cost, other.total_cost):
        both.total_cost = None
    return both


def _file_name(log: i.EvalLog) -> str:
    """As Inspect names its files, so that its viewer lists them: time, task, id."""
    time = re.sub(r"[:+.]", "-", str(log.eval.created))
    task, model = (re.sub(r"[^\w-]+", "-", one) for one in (log.eval.task, log.eval.model))
    return f"{time}_{task}-v{log.eval.task_version}-{model}_{log.eval.eval_id[:12]}.eval"
