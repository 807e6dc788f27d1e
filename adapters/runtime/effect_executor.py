"""Performs what wakes wait for: the one async part (DESIGN 2, laws 4 and 5).

It decides nothing. It reads the one recorded intent of a wake, does it, and records the reply;
the machine in the log says what comes next. So a wake can stop at any row and go on in another
process."""

import asyncio
from typing import NamedTuple

from msgspec.structs import astuple, replace

from adapters.home.local_times import instants_of
from adapters.models import faults, replies
from adapters.runtime import effects, gate, wake_capture
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import SessionOf, capture, capture_for_client
from adapters.store.log import Appended
from adapters.telemetry.spans import TellAppended, ignore
from domain.agent.agent import Agent
from domain.agent.wake_queue import HELD_UNTIL, NO_RECEIPT, WAKE_QUEUE
from domain.append.causes import Replied
from domain.errors import Refused
from domain.journal.catalog import CATALOG
from domain.journal.commands import ApplyOperation
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.state import MAIN
from domain.log.timestamps import later, seconds_between
from domain.log.wire import Payload, Words, payload, words
from domain.policy.scrub import scrubbed_text
from domain.ports import Call, ModelFault, Reply, Request, Streaming
from domain.scaffold import features_of
from domain.tools import registry
from domain.tools.snapshot import snapshot
from domain.wake import wake as w
from domain.wake.commands import (
    DeferWake,
    ProposeChanges,
    RetakeWake,
    SkipWake,
    StopWake,
    WakeCommand,
)
from domain.wake.machine import pending, ticket
from domain.wake.prompt import request
from domain.wake.reading import PromptOptions
from domain.wake.tool_call import arguments_of, remarked, tool_named

CANNOT_START = ("task_deleted", "unknown_task", "out_of_scope", "overshared_payload_blocked")
STEPS_MAX = 2_000  # intents of one wake; the machine's own limits end it far earlier
LATE = str(w.LateReply.__struct_config__.tag)
MESSAGE_MAX = 500  # characters of a fault's message that are kept
CODE_MAX = 100  # characters of the code of a fault: a model says what it likes
BUG_MAX = 300


class WakeExecution:
    """What this process does of a wake. It ends or defers no attempt but the one it made, or
    found: a process that was away for long must not meddle with who took over from it."""

    def __init__(self, agent_id: str, run_key: str) -> None:
        self.agent_id = agent_id
        self.run_key = run_key
        self.asked: w.Intent | None = None  # what it performs, or performed last
        self.may_ask = False  # its next question was allowed before the wake was taken up

    def stop(self, code: str, message: str = "") -> StopWake:
        """The command that ends the wake where it stands."""
        operation, turn, attempt = _ticket(self.asked)
        return StopWake(self.run_key, code, message, turn, attempt, operation)

    def defer(self, until: str, reason: str) -> DeferWake:
        """The command that lets the wake wait where it stands."""
        operation, turn, attempt = _ticket(self.asked)
        return DeferWake(self.agent_id, self.run_key, until, reason, turn, attempt, operation)


def _ticket(asked: w.Intent | None) -> tuple[str, int, int]:
    return ticket(asked) if asked is not None else ("", 0, 0)


class _Question(NamedTuple):
    """What the model is asked, and since when the wake has been running; empty: not known."""

    asked: w.ModelAsked
    request: Request
    since: str


async def run_wake(
    services: Services, agent_id: str, run_key: str, *, is_now: bool = False,
    seen: w.Wake | None = None, work: WakeExecution | None = None,
    given: PromptOptions | None = None,
) -> None:  # fmt: skip
    """Begin a queued wake, or go on with one that waited, and perform it to its end or wait.
    `is_now`: a person has it run, due or not. `seen`: the wake as it was when it was found that
    nobody works at it; else as it is now: where it has moved on since, another process was faster,
    and nothing is done. `work` is kept up to date with what is performed; `given`: of a wake that
    is told again, see `capture`. Raises Refused if its model cannot be had, and nothing has begun
    then, or a log cannot be written; and what a bug raises, see `fail`."""
    work = work or WakeExecution(agent_id, run_key)
    wake = seen or services.wake(run_key)
    is_resumed = wake.phase != "absent"
    if is_resumed:
        operation, turn, attempt = _ticket(wake.asked)
        retake = RetakeWake(run_key, turn, attempt, operation)
        first: Appended | None = services.append_agent(retake)
    else:
        first = _began(services, agent_id, run_key, is_now=is_now, given=given)
    if first is None or not first.rows:  # it has ended, or another process goes on
        return
    name = services.agent(agent_id).name
    with services.spans.wake(services.wake(run_key), name, is_resumed=is_resumed) as tell:
        tell(first)
        await perform(services, run_key, work, tell)


def _began(
    services: Services, agent_id: str, run_key: str, *, is_now: bool, given: PromptOptions | None
) -> Appended | None:
    """Begin a wake; None for one that may not start, it waits for a person or is skipped, or that
    has nothing to ask."""
    with services.agents.reading():  # one look for both
        refused = gate.held(services, agent_id)
        heeds = given is None and services.is_enabled and wake_capture.heeds(services, agent_id)
        is_asked = gate.is_asked_by_agents(services, agent_id, run_key)
    if refused:
        if refused.waits_for and is_asked:
            command: WakeCommand = SkipWake(agent_id, run_key, NO_RECEIPT, refused.because)
        elif refused.waits_for:
            command = DeferWake(agent_id, run_key, HELD_UNTIL, refused.waits_for)
        else:
            command = SkipWake(agent_id, run_key, refused.code, refused.because)
        services.append_agent(command)
        return None
    if heeds:
        skipped = wake_capture.unchanged(services, agent_id, run_key)
        if skipped and services.append_agent(skipped).rows:
            return None
    try:
        captured = capture(services, agent_id, run_key, is_now=is_now, given=given)
    except Refused as cannot:
        if cannot.code not in CANNOT_START:
            raise
        services.append_agent(SkipWake(agent_id, run_key, cannot.code, cannot.because))
        return None
    # nothing is written where another process has begun it since, or where it is not due
    appended = services.append_agent(captured.command, payloads=captured.payloads)
    return None if appended.result.code else appended  # a gate was closed meanwhile


async def perform(
    services: Services, run_key: str, work: WakeExecution | None = None, tell: TellAppended = ignore
) -> None:
    """Do what a begun wake waits for, one thing after another, until it waits for nothing. It stops
    where what it did came too late: then another process has taken the wake over, and only that one
    performs what it has asked for. `tell` is told each append."""
    work = work or WakeExecution("", run_key)
    last: Request | None = None
    for _ in range(STEPS_MAX):
        wake, intent = _pending(services, run_key, last)
        if intent is None:
            return
        work.agent_id = wake.begun.agent
        match intent:
            case _Question(asked, last):
                work.asked = asked
                appended = await _ask_model(services, wake, intent, work)
            case w.ToolAsked():
                work.asked = intent
                if intent.action_type == "read":
                    fact, kept = wake_capture.answer_read(services, wake, intent)
                else:
                    fact, kept = _apply(services, wake, intent), ()
                appended = services.append_reply(Replied("wake", run_key, fact), kept)
        tell(appended)
        if not appended.rows or any(row.topic == LATE for row in appended.rows):
            return
    tell(services.append_agent(work.stop("limit", f"more than {STEPS_MAX} steps")))


def fail(services: Services, work: WakeExecution, fault: Exception) -> str:
    """End a wake that a bug was met in, if it has begun; what is told of it."""
    told = f"{type(fault).__name__}: {fault}"[:BUG_MAX]
    if services.wake(work.run_key).phase not in ("absent", "done"):
        services.append_agent(work.stop("internal", told))
    return told


def _pending(
    services: Services, run_key: str, last: Request | None
) -> tuple[w.Wake, _Question | w.ToolAsked | None]:
    """What a wake waits for now; a question to the model continues the last one."""
    with services.agents.reading() as world:
        wake = world.load(w.WAKE, run_key)
        match pending(wake):
            case w.ModelAsked() as asked:
                since = world.load(WAKE_QUEUE, wake.begun.agent).running_since
                return wake, _Question(asked, request(world, wake, asked, last), since)
            case intent:
                return wake, intent


async def _ask_model(
    services: Services, wake: w.Wake, question: _Question, work: WakeExecution
) -> Appended:
    """Ask, and record what came of it."""
    asked, _, since = question
    spent = seconds_between(since, services.clock.now()) if since else 0
    left = services.settings.agents.deadline_seconds - spent
    if left <= 0:
        return services.append_agent(work.stop("deadline", "the wake ran out of time"))
    if not services.is_enabled:
        return services.append_agent(work.stop("switched_off", "all agents are switched off"))
    if until := services.budgets.until(wake, services.clock.now()):
        return services.append_agent(work.defer(until, "budget"))
    if refused := gate.held(services, wake.begun.agent, wake):
        if refused.waits_for and gate.is_asked_by_agents(services, wake.begun.agent, wake.run_key):
            return services.append_agent(work.stop(NO_RECEIPT, refused.because))
        if refused.waits_for:
            return services.append_agent(work.defer(HELD_UNTIL, refused.waits_for))
        return services.append_agent(work.stop(refused.code, refused.because))
    if not work.may_ask and (seconds := services.allowance.take()):
        until = later(services.clock.now(), seconds=seconds)
        return services.append_agent(work.defer(until, "budget"))
    work.may_ask = False
    payloads: list[Payload] = []
    try:
        async with asyncio.timeout(left):
            reply = await _reply(services, wake, question)
        of = Answering(wake.unit, wake.begun.scaffold, services.settings.timezone)
        fact: w.WakeReply = answered(of, asked, reply, payloads)
    except TimeoutError:
        return services.append_agent(work.stop("deadline", "the model did not answer in time"))
    except ModelFault as fault:
        fact = w.ModelFailed(
            asked.turn, asked.attempt, fault.code[:CODE_MAX], str(fault)[:MESSAGE_MAX],
            fault.of_provider, fault.retry_seconds or 0, *astuple(fault.usage),
        )  # fmt: skip
    return services.append_reply(Replied("wake", wake.run_key, fact), payloads)


async def _reply(services: Services, wake: w.Wake, question: _Question) -> Reply:
    model = services.model_for(wake.begun.model)
    listener = services.listeners.get(wake.run_key)
    with services.spans.chat(wake, question.asked, question.request) as tell:
        if listener is not None and isinstance(model, Streaming):
            reply = faults.check_reply_size(await model.reply_aloud(question.request, listener))
            listener.ended()
        else:
            reply = faults.check_reply_size(await model.reply(question.request))
        tell(reply)
    return reply


class Answering(NamedTuple):
    """Of what an answer is: whose texts it is of, the scaffold of its wake, the person's zone."""

    unit: str
    scaffold: int
    zone: str


def answered(
    of: Answering, asked: w.ModelAsked, reply: Reply, payloads: list[Payload]
) -> w.ModelAnswered:
    """The provider's answer as a fact: its bytes verbatim, its calls decoded at the boundary. What
    is kept of it comes to `payloads`."""
    unit = of.unit
    raw = payload(unit, reply.raw)
    payloads.append(raw)
    text: Words | None = None
    if reply.text:
        text, kept = words(unit, canonical.clean(reply.text))
        payloads += kept
    calls = tuple(_call(of, call, payloads) for call in reply.calls)
    return w.ModelAnswered(
        asked.turn, asked.attempt, raw.id, text, calls, reply.usage.tokens_in,
        reply.usage.tokens_out, reply.usage.tokens_thought, reply.usage.tokens_cached,
        reply.reply_format,
    )  # fmt: skip


def _call(of: Answering, call: Call, payloads: list[Payload]) -> w.ToolCall:
    name, tool = canonical.clean(call.call_id), tool_named(call.tool)
    arguments, problem = arguments_of(call)
    if problem:
        return w.ToolCall(name, tool, Words(arguments), problem=problem)
    said, kept = words(of.unit, arguments)
    payloads += kept
    known, given = registry.canonical_name(tool, of.scaffold), canonical.read(arguments)
    instants = instants_of(known, given, of.zone, features_of(of.scaffold)) if known else {}
    return w.ToolCall(name, tool, said, instants=tuple(sorted(instants.items())))


def propose(services: Services, agent: Agent, model: str, raw: bytes, session_of: SessionOf) -> str:
    """Append what a client proposes in the name of an agent, as `replies.parse` reads it; its run
    key. Raises Refused as `capture_for_client` and `domain.handlers.proposing.propose` do."""
    reply = replies.parse(raw)
    given = replace(wake_capture.given_now(services), model=model, client=reply.text)
    found = capture_for_client(services, agent.id, given, session_of)
    of = Answering(agent.unit, given.scaffold, services.settings.timezone)
    said = answered(of, w.ModelAsked(1, 1), reply, found.payloads)
    command = ProposeChanges(found.session, found.command, said)
    return services.append_agent(command, payloads=found.payloads).result.ids[0]


def _apply(services: Services, wake: w.Wake, asked: w.ToolAsked) -> w.ToolReturned:
    """Perform a tool's effect on the journal; a repeat of it is answered with its outcome."""
    begun = wake.begun
    with services.agents.reading() as world:
        text, called = world.text(asked.arguments), world.text(wake.calls[0].arguments)
    command = ApplyOperation(
        asked.operation, begun.agent, begun.task, asked.tool, asked.arguments, asked.base,
        begun.categories, begun.hop,
    )  # fmt: skip
    with services.journal.reading() as journal:
        now = snapshot(journal.load(TASK, begun.task), journal.load(CATALOG, MAIN), 0)
    result, position = effects.apply(services, command, text, asked.attempt, asked.call_id)
    is_applied = result.status == "applied"
    message = result.message or f"Done: {registry.summary(asked.tool, now, text)}"
    remark = registry.taken(asked.tool, canonical.read(called), wake.features)[1]
    return w.ToolReturned(
        asked.turn, asked.operation, asked.attempt, asked.action, asked.call_id, asked.tool,
        "success" if is_applied else "error",
        Words(scrubbed_text(remarked(message, remark), wake.features)),
        "" if is_applied else result.code or result.status, result.ids if is_applied else (),
        result.tokens, position,
    )  # fmt: skip
