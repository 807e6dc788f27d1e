"""The wake machine: pure, synchronous, and ignorant of who feeds it.

    ready -> waiting (model) -> answered -> done
      ^          |    |
      |          v    +-> deferred -> waiting (the same intent, next attempt)
      +------ calling <-> waiting (tool)

`pending` says what it waits for, `decide` takes a reply, `step` goes on where no reply is
needed, `evolve` applies a fact. Live running, resuming and proving share all four. How one call
of the model is answered is told in `domain.wake.tool_call`.

At the end of the turns a report may be due (SPEC 7): then one more turn is asked for in which
only `update_report` is on offer, whatever the turn limit says; if that brings none, the wake
completes and says so. A first wake of which no call came through at all has failed then."""

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from domain.log.wire import Words
from domain.policy.scrub import scrubbed_text
from domain.text import squeeze
from domain.tools.base import quoted
from domain.wake import wake as w
from domain.wake.tool_call import CallEffects, WakeInputs, answer_call
from domain.wake.wake import WAKE, Intent, Wake, WakeFact, WakeFinished, WakeReply, evolve

RETAKES_MAX = 3  # times a wake is taken over without a reply in between (SPEC 3)
REPORT_TOOL = "update_report"


class Advanced(NamedTuple):
    """One append's worth: the wake after it, its facts, and what goes to other streams."""

    wake: Wake
    facts: list[WakeFact]
    answered: CallEffects


def pending(wake: Wake) -> Intent | None:
    """The one recorded intent that the wake waits for; nothing else may be performed."""
    return wake.asked if wake.phase == "waiting" else None


def start(wake: Wake, started: w.WakeStarted, bench: WakeInputs) -> Advanced:
    """Begin, up to the first question to the model."""
    return advance(wake, [started], bench)


def decide(wake: Wake, reply: WakeReply, bench: WakeInputs) -> Advanced:
    """One append: the reply and all that follows; a late reply is kept and changes nothing."""
    asked = pending(wake)
    if asked is None or ticket(asked) != ticket(reply):
        return Advanced(wake, [w.LateReply(reply)], CallEffects())
    return advance(wake, [reply], bench)


def retake(wake: Wake) -> list[WakeFact]:
    """Take over an effect left in doubt, or go on after a deferral: the same intent, under the
    next attempt; after `RETAKES_MAX` times without a reply the wake has failed."""
    if wake.asked is None or wake.phase not in ("waiting", "deferred"):
        return []
    if wake.phase == "waiting" and wake.retakes >= RETAKES_MAX:
        message = f"taken over {RETAKES_MAX} times without a reply in between"
        return [WakeFinished("failed", code="abandoned", message=message)]
    return [replace(wake.asked, attempt=wake.asked.attempt + 1)]


def stop(wake: Wake, outcome: w.Outcome, code: str, message: str = "") -> list[WakeFact]:
    """End a begun wake from outside; nothing where it has ended or never began."""
    if wake.phase in ("absent", "done"):
        return []
    return [WakeFinished(outcome, code=code, message=message)]


def defer(wake: Wake, until: str, reason: str) -> list[WakeFact]:
    """Let a begun wake wait; its run key, rows and open intent stay."""
    return [w.WakeDeferred(until, reason)] if wake.phase == "waiting" else []


def put_off(advanced: Advanced, until: str, reason: str) -> Advanced:
    """The same, and then the wake waits: what it asks for last is not asked yet."""
    deferred = w.WakeDeferred(until, reason)
    wake = evolve(advanced.wake, deferred)
    return advanced._replace(wake=wake, facts=[*advanced.facts, deferred])


def applied(wake: Wake, facts: list[WakeFact]) -> Advanced:
    """The facts and no step further."""
    for fact in facts:
        wake = evolve(wake, fact)
    return Advanced(wake, facts, CallEffects())


def advance(wake: Wake, facts: list[WakeFact], bench: WakeInputs) -> Advanced:
    """The facts, then every step up to the next intent or the end."""
    for fact in facts:
        wake = evolve(wake, fact)
    answered = CallEffects()
    while following := step(wake, bench, answered):  # bounded: uses up a call, asks, or ends
        for fact in following:
            wake = evolve(wake, fact)
        facts.extend(following)
    return Advanced(wake, facts, answered)


def step(wake: Wake, bench: WakeInputs, answered: CallEffects) -> list[WakeFact]:
    """The next facts that need no answer from outside; none where one is needed."""
    match wake.phase:
        case "calling":
            return answer_call(wake, wake.calls[0], bench, answered)
        case "answered":
            return [_ask_or_finish(wake, "answered", bench.text)]
        case "ready" if wake.turn >= wake.begun.turn_max or wake.is_forced:
            is_last = wake.is_forced or wake.begun.reason == "client"  # who is not asked again
            stop_as: w.Stop = "answered" if is_last else "turn_limit"
            return [_ask_or_finish(wake, stop_as, bench.text)]
        case "ready":
            return [w.ModelAsked(wake.turn + 1, attempt=1)]
        case _:
            return []


def is_report_due(wake: Wake) -> bool:
    """Whether a first wake, or one that changed or proposed something, still owes a report."""
    has_tool = REPORT_TOOL in wake.begun.tools
    return has_tool and wake.report is None and (wake.begun.is_first or wake.is_material)


def _ask_or_finish(wake: Wake, stop_as: w.Stop, text: Callable[[Words], str]) -> WakeFact:
    if is_report_due(wake) and not wake.is_forced:
        return w.ModelAsked(wake.turn + 1, attempt=1, forced=REPORT_TOOL)
    return _finished(wake, stop_as, text)


def _finished(wake: Wake, stop_as: w.Stop, text: Callable[[Words], str]) -> WakeFinished:
    """The end of a wake that asks no more. Where a report is due and no call came through, it is a
    first one, and has failed, unless a person asked in words and was answered in words."""
    is_due = is_report_due(wake)
    is_spoken = wake.begun.reason == "user" and wake.said is not None
    is_mute = all(ref.is_error for ref in wake.results) and not is_spoken
    if not (is_due and is_mute and wake.features.needs_report):
        return WakeFinished("completed", stop=stop_as, is_report_missing=is_due)
    said = scrubbed_text(text(wake.said), wake.features) if wake.said else ""
    message = "no call of the model came through, not even a report"
    message += f"; it said {quoted(said)}" if squeeze(said) else ""
    return WakeFinished("failed", code="no_report", message=message)


def failed(
    wake: Wake, fact: w.ModelFailed, until: str, text: Callable[[Words], str]
) -> list[WakeFact]:
    """What follows a model's failure: a provider's defers the wake, another one ends it; in the
    extra turn for a report the wake ends as if it had brought none."""
    if fact.of_provider:
        return [fact, w.WakeDeferred(until, "provider")]
    if wake.is_forced:
        return [fact, _finished(wake, "answered", text)]
    return [fact, WakeFinished("failed", code=fact.code, message=fact.message)]


def ticket(fact: Intent | WakeReply) -> tuple[str, int, int]:
    """What pairs a reply with the intent that it answers."""
    operation = fact.operation if isinstance(fact, w.ToolAsked | w.ToolReturned) else ""
    return operation, fact.turn, fact.attempt


__all__ = ["WAKE", "Wake", "advance", "decide", "evolve", "pending", "start", "step", "ticket"]
