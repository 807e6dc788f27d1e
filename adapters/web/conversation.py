"""A wake as a conversation: its turns with a bar each, the one that is looked at, its causes.

How long a turn took is told by the times of its rows, and drawn as SVG without a script.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.agent_output import PromptDetails, shown
from adapters.documents.wakes import WakeDetails, WakeStep, run_document, run_named, set_of, wake_of
from adapters.text.agent_output import newer_wake
from adapters.text.common import ID_SHOWN, lasting
from adapters.web import health, prompts, time_travel, triggers
from adapters.web.http_types import FormRequest, Page
from adapters.web.inbox import cards_of, kept_on
from adapters.web.lessons import stars_given
from adapters.web.plain_text import bare
from adapters.web.site import Site
from domain.log import canonical
from domain.log.timestamps import instant
from domain.ports import Section
from projections import wakes
from projections.inbox import TABS
from projections.wakes import WakeDocument

Kind = Literal["model", "tools", "waiting", "retries"]
KINDS: tuple[Kind, ...] = ("model", "tools", "waiting", "retries")
WIDTH, HEIGHT = 100.0, 10.0
LEAST = 0.6  # of the width: what took any time at all can be seen
SHAPES: dict[Kind, tuple[float, float]] = {  # y and height: told apart without colours, too
    "model": (0, HEIGHT),
    "tools": (2, 6),
    "waiting": (4, 2),
    "retries": (5, 5),
}
_BAR = Markup(
    '<svg class="spent" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
)
_PART = Markup('<rect class="is-{}" x="{:.2f}" y="{}" width="{:.2f}" height="{}"/>')


class TurnSegment(Struct, frozen=True):
    """A stretch of a turn: what it went by with, and for how long."""

    kind: Kind
    seconds: float


class TurnTimes(Struct, frozen=True):
    """A turn and what it went by with, in order; 0 is what came before the first turn."""

    turn: int
    segments: tuple[TurnSegment, ...]

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.segments)


class _Open(Struct, frozen=True):
    kind: Kind
    at: str
    turn: int


def turn_times(steps: Sequence[WakeStep], until: str = "") -> list[TurnTimes]:
    """What each turn went by with; `until` is now, for a wake that has not ended.

    An attempt that brought no answer counts as a retry; a request that waits from the start, and
    all up to the next attempt, as waiting.
    """
    turns: dict[int, list[TurnSegment]] = {}
    going: _Open | None = None

    def close(at: str, kind: Kind | None = None) -> None:
        nonlocal going
        if going is not None:
            seconds = (instant(at) - instant(going.at)).total_seconds()
            turns.setdefault(going.turn, [])
            if seconds > 0:
                turns[going.turn].append(TurnSegment(kind or going.kind, seconds))
        going = None

    for step in steps:
        turn = step.data.get("turn") or (going.turn if going else 0)
        match step.kind.split(".")[1]:
            case "model_asked" | "tool_asked" as name:
                close(step.at, "waiting" if going and going.kind == "waiting" else "retries")
                turns.setdefault(turn, [])
                going = _Open("model" if name == "model_asked" else "tools", step.at, turn)
            case "model_answered":
                close(step.at)
            case "tool_returned" if step.data.get("attempt"):
                close(step.at)
            case "model_failed":
                close(step.at, "retries")
                going = None
            case "deferred":
                close(step.at, "waiting")
                going = _Open("waiting", step.at, turn or max(turns, default=0))
            case "finished":
                close(step.at, "waiting" if going and going.kind == "waiting" else "retries")
            case _:
                pass
    if until:
        close(until)
    return [TurnTimes(turn, tuple(found)) for turn, found in sorted(turns.items())]


def sums(found: Sequence[TurnTimes]) -> dict[Kind, float]:
    """How much of each kind there was in all."""
    every = [segment for one in found for segment in one.segments]
    return {kind: sum(one.seconds for one in every if one.kind == kind) for kind in KINDS}


def bars(segments: Sequence[TurnSegment], longest: float) -> list[tuple[Kind, float, float]]:
    """Where each stretch is drawn: its kind, its beginning and its width, on a scale on which
    the longest turn takes the whole width.

    >>> bars([TurnSegment("model", 3), TurnSegment("waiting", 1)], 8)
    [('model', 0.0, 37.5), ('waiting', 37.5, 12.5)]
    """
    drawn: list[tuple[Kind, float, float]] = []
    x = 0.0
    for one in segments:
        width = max(LEAST, one.seconds / longest * WIDTH) if longest else LEAST
        x = min(x, WIDTH - LEAST)
        width = min(width, WIDTH - x)
        drawn.append((one.kind, x, width))
        x += width
    return drawn


def svg(segments: Sequence[TurnSegment], longest: float) -> Markup:
    """The bar of a turn; what it says stands beside it as text."""
    parts = Markup("").join(
        _PART.format(kind, x, SHAPES[kind][0], width, SHAPES[kind][1])
        for kind, x, width in bars(segments, longest)
    )
    return _BAR.format(parts)


def times_told(found: Sequence[TurnTimes]) -> str:
    """What these turns went by with, in words.

    >>> times_told([TurnTimes(1, (TurnSegment("model", 2.0), TurnSegment("tools", 90.0)))])
    'model 2 s, tools 1 min'
    """
    named = [f"{kind} {lasting(seconds)}" for kind, seconds in sums(found).items() if seconds]
    return ", ".join(named) or "no time that was measured"


# -------------------------------------------------------------------------------------------- turns
# A wake as a conversation: its turns beside each other, and the one that is looked at.

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


class TurnCall(Struct, frozen=True):
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

    @property
    def told(self) -> str:
        """Its arguments in a line, what they rest on last."""
        if not isinstance(self.arguments, dict):
            return str(self.arguments)
        said = sorted(self.arguments.items(), key=lambda one: one[0] == "because")
        told = (
            (name, bare(one) if isinstance(one, str) else canonical.text(one)) for name, one in said
        )
        return ", ".join(f"{name}: {text}" for name, text in told)


class TurnEvent(Struct, frozen=True):
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
    calls: tuple["TurnCall", ...] = ()


class WakeTurn(Struct, frozen=True):
    """The turn that is looked at. `heard`: what its calls of the turn before came to."""

    name: str
    title: str
    at: str
    text: str
    heard: tuple[TurnCall, ...]
    calls: tuple[TurnCall, ...]
    events: tuple[TurnEvent, ...]
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
        calls = tuple(calls_of(name, steps, ""))
        told = times_told([took]) if took else ""
        bar = svg(segments, longest) if took else Markup("")
        made.append(Moment(name, titled(name), told, bar, name == here, calls))
    return made


def titled(name: str) -> str:
    """What a moment is called."""
    return {START: "Start", END: "End"}.get(name, f"Turn {name}")


def turn_of(found: Mapping[str, Sequence[WakeStep]], name: str, call: str) -> WakeTurn:
    """All about the moment that is looked at."""
    steps = found[name]
    before = str(int(name) - 1) if name.isdigit() else ""
    answer = next((one for one in steps if _what(one) == "model_answered"), None)
    data = answer.data if answer else {}
    return WakeTurn(
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


def calls_of(name: str, steps: Sequence[WakeStep], here: str) -> list[TurnCall]:
    """The calls of a turn, each with what was decided about it, in the order they were made."""
    results = {one.data["callId"]: one.data for one in steps if _what(one) == "tool_returned"}
    made = [call for one in steps if _what(one) == "model_answered" for call in one.data["calls"]]
    calls: list[TurnCall] = []
    for nth, call in enumerate(made, start=1):
        result = results.get(call["callId"], {})
        status = result.get("status", "")
        calls.append(
            TurnCall(
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


def _event(step: WakeStep) -> TurnEvent:
    what, data = _what(step), step.data
    told = data.get("message") or data.get("reason") or data.get("oneLiner") or ""
    if what == "late_reply":
        told = str(data["reply"].get("text") or data["reply"].get("message") or "")
    return TurnEvent(step.at, MEANT[what], PUT_OFF.get(told, told), data.get("until", ""))


def _what(step: WakeStep) -> str:
    return step.kind.split(".")[1]


# ----------------------------------------------------------------------------------------- the page
# The page of a wake: its turns with a bar each, the one that is looked at, causes, proposals.

EVERY = tuple(status for statuses in TABS.values() for status in statuses)
DOORS = ("replay", "fork")  # commands that look closer at a wake

Parts = list[tuple[str, Section]]


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN`; ``?turn=`` names the moment, ``?find=`` words of the prompt."""
    run_key = asked.names["run"]
    wake = site.wake(run_key)
    prompt = shown(site.home, wake)
    made = set_of(site.home, wake)
    run = run_document(site.home, run_key)
    times = turn_times(run.steps, "" if wake.ended_at else site.now)
    before, after = neighbours(site, wake)
    kept = [one for one in kept_on(site, asked) if made and one[0] == made.id]
    document = {
        **asdict(run),
        "agent_name": site.agent_name(wake.agent_id),
        "template_id": wake.template_id or None,
        "stars": stars_given(site, wake) or None,
        "prompt": prompt,
        "proposed": cards_of(site, [made], EVERY, kept) if made and made.is_opened else [],
        "timeline": [
            {"turn": one.turn, "seconds": one.seconds, "segments": one.segments} for one in times
        ],
        "earlier": before or None,
        "later": after or None,
    }
    return Page(
        "wake.html",
        f"Wake {run_named(site.home, run_key, ID_SHOWN)}",
        document,
        {
            **_conversation(asked, run, times),
            **_prompt(site, asked, wake, prompt),
            "sentences": triggers.sentences(site, wake, run.causes),
            "lasted": _lasted(wake),
            "labels": site.labels(),
            "proof": site.jobs.proof,
            "about": health.divergences_of(site, run_key),
            "newer": newer_wake(run.steps),
            "doors": DOORS,
            "before": time_travel.before(site, wake),
        },
    )


def neighbours(site: Site, wake: WakeDocument) -> tuple[str, str]:
    """The run keys of the same agent's wakes before and after; empty where there is none.

    What comes after is found by halving the log: a view reads backwards only.
    """

    def newest(before: str) -> WakeDocument | None:
        found = site.home.views.page(
            wakes.VIEW, shelf=wake.agent_id, before=before, newest_first=True, limit=1
        )
        return found[0] if found else None

    def is_beyond(n: int) -> bool:
        found = newest(f"{n:012d}")
        return found is not None and found.place > wake.place

    last = site.home.services.agents.tail().n + 2
    n = bisect_left(range(last), True, lo=wake.queued_n, key=is_beyond)
    earlier, later = newest(wake.place), newest(f"{n:012d}") if n < last else None
    return earlier.run_key if earlier else "", later.run_key if later else ""


def _conversation(asked: FormRequest, run: WakeDetails, times: list[TurnTimes]) -> dict[str, Any]:
    found = by_turn(run.steps)
    here, call = chosen(found, asked.query.get("turn", ""))
    return {
        "moments": moments(found, times, here),
        "turn": turn_of(found, here, call),
        "shapes": SHAPES,
        "sums": {kind: spent for kind, spent in sums(times).items() if spent},
        "total": svg(
            [TurnSegment(kind, spent) for kind, spent in sums(times).items() if spent],
            sum(one.seconds for one in times),
        ),
        "total_told": times_told(times),
    }


def _prompt(
    site: Site,
    asked: FormRequest,
    wake: WakeDocument,
    prompt: PromptDetails | None,
) -> dict[str, Any]:
    earlier = time_travel.before(site, wake)
    before = wake_of(site.home, earlier) if earlier else None
    was = shown(site.home, before) if before else None
    is_anew = prompt is not None and prompt.rendered_anew
    find = asked.query.get("find", "").strip()
    found = prompts.sections(_parts(prompt), _parts(was) if was else None, find, site.zone)
    return {
        "find": find,
        "sections": found,
        "hits": sum(one.hits for one in found),
        "was_shown": earlier,
        "is_anew": is_anew,
    }


def _parts(prompt: PromptDetails | None) -> Parts:
    if prompt is None:
        return []
    return [*(("system", one) for one in prompt.system), *(("user", one) for one in prompt.user)]


def _lasted(wake: WakeDocument) -> dict[str, str]:
    """How long it waited, and how long it ran, in words."""

    def between(start: str, end: str) -> str:
        if not (start and end):
            return ""
        return lasting((instant(end) - instant(start)).total_seconds())

    return {
        "waited": between(wake.queued_at, wake.started_at),
        "ran": between(wake.started_at, wake.ended_at),
    }
