"""A wake as a conversation: its turns beside each other, and the one that is looked at."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from adapters.documents.wakes import WakeStep
from adapters.web import timeline
from adapters.web.timeline import TurnTimes

START, END = "start", "end"
ROWS_SHOWN = 60  # of one turn
DECIDED = {
    "success": "done at once",
    "queued": "became a proposal for you",
    "partial": "done in part",
    "error": "refused",
    "denied": "not accepted",
}
MEANT = {
    "model_failed": "The model gave no answer that could be used.",
    "deferred": "The wake was put off.",
    "late_reply": "An answer came too late, and changed nothing.",
    "retraction_staged": "It takes a proposal back.",
    "report_drafted": "It wrote its report.",
}
PUT_OFF = {
    "provider": "Its model could not be reached.",
    "budget": "What may be spent was spent.",
    "consent": "It needs your consent.",
    "secret": "The key of its model is missing.",
}


class Call(Struct, frozen=True):
    """A call of the model, and what was decided: `status` as the log has it, `decided` in words,
    `why` what the model was told, `code` the rule. `is_here`: the address names it."""

    name: str
    tool: str
    arguments: Any
    problem: str
    status: str
    decided: str
    why: str
    code: str
    is_here: bool


class Event(Struct, frozen=True):
    """What else happened in a turn: `what` in a sentence, `told` in the words of the log."""

    at: str
    what: str
    told: str
    until: str


class Moment(Struct, frozen=True):
    """A line of the list of turns: `name` is that of its address."""

    name: str
    title: str
    told: str
    bar: Markup
    is_here: bool
    calls: tuple[tuple[str, str, str], ...] = ()  # name, tool, status


class Turn(Struct, frozen=True):
    """The turn that is looked at. `heard`: what its calls of the turn before came to."""

    name: str
    title: str
    at: str
    text: str
    heard: tuple[Call, ...]
    calls: tuple[Call, ...]
    events: tuple[Event, ...]
    rows: tuple[WakeStep, ...]
    left_out: int
    tokens: Mapping[str, int]


def by_turn(steps: Sequence[WakeStep]) -> dict[str, list[WakeStep]]:
    """The rows of a wake by the moment they belong to: ``start``, ``1``, ``2``, ``end``."""
    found: dict[str, list[WakeStep]] = {START: []}
    name = START
    for step in steps:
        if turn := step.data.get("turn"):
            name = str(turn)
        elif _what(step) == "finished":
            name = END
        found.setdefault(name, []).append(step)
    return found


def chosen(found: Mapping[str, Sequence[WakeStep]], asked: str) -> tuple[str, str]:
    """The moment and the call that an address names; the first turn where it names none.

    >>> chosen({"start": [], "1": [], "2": []}, "2.1"), chosen({"start": []}, "7")
    (('2', '2.1'), ('start', ''))
    """
    name, _, _ = asked.partition(".")
    if name in found:
        return name, asked if "." in asked else ""
    return ("1" if "1" in found else START), ""


def moments(
    found: Mapping[str, Sequence[WakeStep]], times: Sequence[TurnTimes], here: str
) -> list[Moment]:
    """The list of turns, each with its bar."""
    longest = max((one.seconds for one in times), default=0.0)
    timed = {str(one.turn): one for one in times}
    made: list[Moment] = []
    for name, steps in found.items():
        took = timed.get(name)
        segments = took.segments if took else ()
        calls = tuple((one.name, one.tool, one.status) for one in calls_of(name, steps, ""))
        told = timeline.told([took]) if took else ""
        bar = timeline.svg(segments, longest) if took else Markup("")
        made.append(Moment(name, titled(name), told, bar, name == here, calls))
    return made


def titled(name: str) -> str:
    """What a moment is called."""
    return {START: "Start", END: "End"}.get(name, f"Turn {name}")


def turn_of(found: Mapping[str, Sequence[WakeStep]], name: str, call: str) -> Turn:
    """All about the moment that is looked at."""
    steps = found[name]
    before = str(int(name) - 1) if name.isdigit() else ""
    answer = next((one for one in steps if _what(one) == "model_answered"), None)
    data = answer.data if answer else {}
    return Turn(
        name=name,
        title=titled(name),
        at=steps[0].at if steps else "",
        text=data.get("text") or "",
        heard=tuple(calls_of(before, found.get(before, ()), "")),
        calls=tuple(calls_of(name, steps, call)),
        events=tuple(_event(one) for one in steps if _what(one) in MEANT),
        rows=tuple(steps[:ROWS_SHOWN]),
        left_out=max(0, len(steps) - ROWS_SHOWN),
        tokens={
            told: data[field]
            for field, told in (("tokensIn", "in"), ("tokensOut", "out"))
            if data.get(field) is not None
        },
    )


def calls_of(name: str, steps: Sequence[WakeStep], here: str) -> list[Call]:
    """The calls of a turn, each with what was decided about it, in the order they were made."""
    results = {one.data["callId"]: one.data for one in steps if _what(one) == "tool_returned"}
    made = [call for one in steps if _what(one) == "model_answered" for call in one.data["calls"]]
    calls: list[Call] = []
    for nth, call in enumerate(made, start=1):
        result = results.get(call["callId"], {})
        status = result.get("status", "")
        calls.append(
            Call(
                name=f"{name}.{nth}",
                tool=result.get("tool") or call["tool"],
                arguments=call["arguments"],
                problem=call["problem"],
                status=status,
                decided=DECIDED.get(status, "not decided yet"),
                why=result.get("message") or "",
                code=result.get("code") or "",
                is_here=f"{name}.{nth}" == here,
            )
        )
    return calls


def _event(step: WakeStep) -> Event:
    what, data = _what(step), step.data
    told = data.get("message") or data.get("reason") or data.get("oneLiner") or ""
    if what == "late_reply":
        told = str(data["reply"].get("text") or data["reply"].get("message") or "")
    return Event(step.at, MEANT[what], PUT_OFF.get(told, told), data.get("until", ""))


def _what(step: WakeStep) -> str:
    return step.kind.split(".")[1]
