"""The JSON documents of the commands that look back: `replay`, `at`, `diff`, `bisect`, `fork`."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict, replace

from adapters.documents.day import DayBlock, day_blocks
from adapters.documents.inbox import set_name
from adapters.documents.ranks import ranks_of
from adapters.home.zones import zone_named
from adapters.store.log import Log
from adapters.timetravel.logs_at import NamedMoment, Past, made_by
from domain.append import envelope
from domain.append.causes import Receipt
from domain.append.envelope import Row
from domain.errors import Refused
from domain.journal.day import DAY
from domain.log.timestamps import instant
from domain.ports import CallResult, Request, Section, ToolSpec
from domain.wake.machine import pending
from domain.wake.prompt import request
from domain.wake.wake import WAKE, ModelAsked, ToolReturned, WakeStarted
from projections import agents as agents_view
from projections import tasks, wakes
from replay import fork, rerun, wake_comparison, world_at
from replay.fork import Answer
from replay.reads import is_read
from replay.wake_comparison import WakesCompared
from replay.world_at import AgentThen, LessonThen, ProposalThen, TaskThen, WakeThen

if TYPE_CHECKING:
    from adapters.wiring import Home


class MomentHead(Struct, frozen=True):
    """Where a moment is: as it was typed (`where`), the wake and its step, and both logs'
    positions then."""

    where: str
    run_key: str | None
    step: int | None
    at: str | None
    journal: str
    agent: str


class MomentDetails(MomentHead, frozen=True):
    """What `at` prints: the world at a moment; `blocks` of its day, where it is not of some tasks
    alone."""

    tasks: list[TaskThen]
    agents: list[AgentThen]
    proposals: list[ProposalThen]
    wakes: list[WakeThen]
    lessons: list[LessonThen]
    blocks: list[DayBlock]


class ExchangeDetails(Struct, frozen=True):
    """A turn before: what the model replied, as it came, and the results of its calls."""

    reply: str
    results: list[CallResult]


class RequestDetails(Struct, frozen=True):
    """What `at --prompt` prints: what a model was asked; `request` is a digest that names its
    bytes, `forced` the only tool on offer."""

    run_key: str
    turn: int
    attempt: int
    model: str
    request: str
    system: list[Section]
    user: list[Section]
    exchanges: list[ExchangeDetails]
    tools: list[ToolSpec]
    forced: str | None


class SectionReplayed(Struct, frozen=True):
    """A section of the prompt, rendered again; both texts stand there where they are not the
    same, null where there is none."""

    section: str
    same: bool
    today: str | UnsetType | None = UNSET
    recorded: str | UnsetType | None = UNSET


class StepAsked(Struct, frozen=True):
    """What a wake waited for before a step: a reply of the ``model``, or the result of a ``tool``;
    `request` is the digest of what the model was asked."""

    what: str | None
    turn: int | None
    attempt: int | None
    tool: str | None
    arguments: str | None
    request: str | None


class StepDecision(Struct, frozen=True):
    """A fact that followed, and why."""

    kind: str
    stream: str
    why: str | None
    data: Any


class StepReplayed(Struct, frozen=True):
    """A step, decided anew: `cause` is the kind of what it began with, and `answer` that itself;
    `error` is what today's code says instead, `differences` the rows that it writes differently."""

    position: str
    step: int
    at: str
    asked: StepAsked
    cause: str
    answer: Any
    decided: list[StepDecision]
    same: bool
    error: str | None
    differences: list[rerun.Changed]


class ReplayDetails(Struct, frozen=True):
    """What `replay` prints; `same`: every byte is."""

    run_key: str
    agent_id: str
    same: bool
    prompt: list[SectionReplayed]
    steps: list[StepReplayed]


class PredicateDetails(Struct, frozen=True):
    """What was asked: ``sql``, ``text`` or ``python``."""

    kind: str
    text: str


class BisectedWake(Struct, frozen=True):
    """The nth of the agent's wakes."""

    nth: int
    run_key: str
    ended_at: str


class BisectProbe(Struct, frozen=True):
    """Whether it holds after the nth wake."""

    nth: int
    run_key: str
    holds: bool


class BisectDetails(Struct, frozen=True):
    """What `bisect` prints: the first of `wakes` wakes after which it holds (`since`), and the one
    `before`; null where there is none."""

    agent_id: str
    predicate: PredicateDetails
    wakes: int
    since: BisectedWake | None
    before: BisectedWake | None
    probes: list[BisectProbe]


# -------------------------------------------------------------------------------------------- at


def names_of(home: "Home") -> dict[str, str]:
    """What a person calls change sets by. Ranks never move, so today's are those of then."""
    ranked = ranks_of(home)
    return {one: set_name(ranked, one) for one in (*ranked, *ranked.others)}


def at_document(place: NamedMoment, scope: Sequence[str] | None) -> MomentDetails:
    """The document of `at`; `scope`: ids of tasks; None: all that there were."""
    where = place.spot.where
    journal, agents = place.past.worlds(where, place.replica)
    heads, today = place.heads, _today(place) if scope is None else ""
    found = all_tasks(place.home) if scope is None else scope
    return MomentDetails(
        where=place.given,
        run_key=place.spot.run_key or None,
        step=place.spot.step or None,
        at=where.at or None,
        journal=heads[0],
        agent=heads[1],
        **asdict(world_at.world_document(journal, agents, found, names_of(place.home))),
        blocks=day_blocks(journal, journal.load(DAY, today)) if today else [],
    )


def _today(place: NamedMoment) -> str:
    """The date of a moment, as clocks in the home's zone showed it; empty before the first."""
    zone, at = zone_named(place.home.settings.timezone), place.spot.where.at
    return instant(at).astimezone(zone).date().isoformat() if at else ""


def all_tasks(home: "Home") -> list[str]:
    """The ids of all tasks there are, in the order of their making, and the units of all agents
    that have none."""
    alone = home.views.page(agents_view.VIEW, shelf="")
    return [
        *(task.id for task in home.views.page(tasks.VIEW)),
        *(f"{world_at.UNIT}{one.id}" for one in alone if one.exists),
    ]


def around(place: NamedMoment, task: str, agent: str = "") -> list[str]:
    """A task and those that were linked to it then; of an agent without a task that one alone."""
    if not task:
        return [f"{world_at.UNIT}{agent}"]
    return world_at.linked_tasks(place.past.worlds(place.spot.where, place.replica)[0], task)


# ---------------------------------------------------------------------------------------- prompt


def prompt_of(place: NamedMoment, scope: Sequence[str] | None) -> tuple[str, ModelAsked, Request]:
    """What a model was asked last, up to a moment: by the wake that is named, at its first turn,
    else by the newest wake of the tasks in scope. Raises Refused: none had been asked anything."""
    run_key, replica, until = _wake_asking(place, scope)
    asked_at = 0
    for row in place.past.agents.rows_of(f"wake:{run_key}@{replica}"):
        if isinstance(row.fact, ModelAsked) and (row.n <= until or not asked_at):
            asked_at = row.n
    world = place.past.agents.world(asked_at, replica)
    wake = world.load(WAKE, run_key)
    asked = pending(wake) if asked_at else None
    if not isinstance(asked, ModelAsked):
        because = "no model had been asked anything then"
        raise Refused("unknown_wake", because=because, instead="name a later moment, or a wake")
    return run_key, asked, request(world, wake, asked)


def _wake_asking(place: NamedMoment, scope: Sequence[str] | None) -> tuple[str, str, int]:
    """Which wake is meant, who ran it, and up to which append of the agent log; 0: its first
    question, whenever that was."""
    if place.wake is not None:
        return place.wake.key, place.wake.replica, place.spot.step
    until, found = place.spot.where, ("", "", 0)
    newest = 0
    for wake in (each for one in place.home.views.page(wakes.VIEW) for each in one.every):
        about = wake.task_id or f"{world_at.UNIT}{wake.agent_id}"
        if not "" < wake.started_at <= until.at or (scope and about not in scope[:1]):
            continue
        if place.home.services.agents.is_shared and wake.replica != place.replica:
            continue  # its numbers are another machine's
        rows = place.past.agents.rows_of(f"wake:{wake.key}@{wake.replica}")
        if newest < rows[0].n <= until.agent:
            newest, found = rows[0].n, (wake.key, wake.replica, until.agent)
    return found


def prompt_document(run_key: str, asked: ModelAsked, asking: Request) -> RequestDetails:
    """The document of `at --prompt`: the request, and a digest that names its bytes."""
    return RequestDetails(
        run_key=run_key,
        turn=asked.turn,
        attempt=asked.attempt,
        model=asking.model,
        request=fork.request_digest(asking),
        system=list(asking.system),
        user=list(asking.user),
        exchanges=[
            ExchangeDetails(one.reply.decode("utf-8", "replace"), list(one.results))
            for one in asking.exchanges
        ],
        tools=list(asking.tools),
        forced=asking.forced or None,
    )


def prompt_text(asking: Request) -> str:
    """The texts that a model reads, an empty line between them."""
    texts = [one.text for one in (*asking.system, *asking.user)]
    for one in asking.exchanges:
        texts.append(one.reply.decode("utf-8", "replace"))
        texts += [result.output for result in one.results]
    return "\n\n".join(texts)


# ---------------------------------------------------------------------------------------- replay


def prompt_again(past: Past, run_key: str, replica: str) -> list[rerun.SectionAgain]:
    """Each prompt section as today's code renders it, in the worlds that it was rendered in."""
    rows = past.agents.rows_of(f"wake:{run_key}@{replica}")
    begun = rows[0].fact
    assert isinstance(begun, WakeStarted), run_key
    cause = envelope.read(past.agents.append(rows[0].n, replica)[0]).data
    assert isinstance(cause, Receipt), run_key
    where = world_at.LogMoment(begun.journal_position, begun.agent_position)
    return rerun.prompt(*past.worlds(where, replica), begun, cause.command)


def steps_again(past: Past, run_key: str, replica: str) -> Iterator[rerun.RerunStep]:
    """Every append of a wake decided anew, the effects of its calls on the journal between."""
    rows = past.agents.rows_of(f"wake:{run_key}@{replica}")
    for n in sorted({row.n for row in rows}):
        row = next(row for row in rows if row.n == n)
        first, found = row.fact, tuple[rerun.Changed, ...]()
        if isinstance(first, ToolReturned) and is_read(first):
            where = world_at.LogMoment(first.position, first.agent_position)
            found = rerun.reading(*past.worlds(where, replica), run_key, row)
        elif isinstance(first, ToolReturned) and first.position:
            p = first.position
            before = past.journal.world(p - 1, replica)
            yield rerun.step("journal", past.journal.append(p, replica), before, "")
        world = past.agents.world(n - 1, replica)
        step = rerun.step("agent", past.agents.append(n, replica), world, run_key)
        yield replace(step, changed=(*found, *step.changed))


def section_document(one: rerun.SectionAgain) -> SectionReplayed:
    """One of the sections of the `prompt` of `replay`."""
    if one.is_same:
        return SectionReplayed(one.name, same=True)
    return SectionReplayed(one.name, same=False, today=one.today, recorded=one.recorded)


def step_document(step: rerun.RerunStep) -> StepReplayed:
    """One of the `steps` of `replay`."""
    asked = step.asked
    return StepReplayed(
        position=step.position,
        step=step.n,
        at=step.at,
        asked=StepAsked(
            what=asked.what or None,
            turn=asked.turn or None,
            attempt=asked.attempt or None,
            tool=asked.tool or None,
            arguments=asked.arguments or None,
            request=fork.request_digest(asked.request) if asked.request else None,
        ),
        cause=step.cause,
        answer=step.answer,
        decided=[
            StepDecision(one.kind_of, one.stream, one.why or None, one.data) for one in step.decided
        ],
        same=step.is_same,
        error=step.error or None,
        differences=list(step.changed),
    )


# ------------------------------------------------------------------------------------------ diff


def wake_seen(past: Past, run_key: str, replica: str) -> wake_comparison.WakeSeen:
    """A wake as it can be compared."""
    rows = list(past.agents.rows_of(f"wake:{run_key}@{replica}"))
    known = {row.n for row in rows}
    begun = next((row.fact for row in rows if isinstance(row.fact, WakeStarted)), None)
    others = [*made_by(run_key, replica)]
    others += [f"agent:{begun.agent}@{replica}"] if begun else []
    for stream in others:
        rows += [row for row in past.agents.rows_of(stream) if row.n in known]
    world = past.agents.world(past.agents.log.tail().n, replica)
    rows.sort(key=lambda row: (row.n, row.row))
    return wake_comparison.wake_seen(run_key, rows, world.text, world.payload)


# --------------------------------------------------------------------------------------------- diff

Difference = wake_comparison.Difference  # a page tells them its own way
NAMES = wake_comparison.NAMES


class WakesDiff(wake_comparison.WakesCompared, frozen=True, tag_field="kind", tag="wakes"):
    """What `diff` of two wakes prints."""


class WorldsDiff(Struct, frozen=True, tag_field="kind", tag="worlds"):
    """What `diff` of two moments prints; `changes` are the places where the worlds differ."""

    a: MomentHead
    b: MomentHead
    same: bool
    changes: list[wake_comparison.Difference]


class RowDetails(Struct, frozen=True):
    """A row of a log; `state` is its text."""

    stream: str
    version: int
    kind: str
    state: str


class RowPair(Struct, frozen=True):
    """The first rows that are not the same, null where a log ends."""

    a: RowDetails | None
    b: RowDetails | None


class LogDiff(Struct, frozen=True):
    """Up to where two logs are the same to the byte; `first` is null where they are the same."""

    log: str
    same: bool
    same_rows: int
    a_rows: int
    b_rows: int
    first: RowPair | None


class HomesDiff(Struct, frozen=True, tag_field="kind", tag="logs"):
    """What `diff` of two homes prints: as two moments, their ends, and where the logs part."""

    a: MomentHead
    b: MomentHead
    same: bool
    changes: list[wake_comparison.Difference]
    logs: list[LogDiff]


def wakes_diff(a: wake_comparison.WakeSeen, b: wake_comparison.WakeSeen) -> WakesDiff:
    """The document of `diff` of two wakes."""
    return WakesDiff(**asdict(wake_comparison.compare_wakes(a, b)))


def worlds_document(a: NamedMoment, b: NamedMoment, scope: Sequence[str] | None) -> WorldsDiff:
    """The document of `diff` of two moments."""
    told = [msgspec.to_builtins(at_document(one, scope)) for one in (a, b)]
    heads = [MomentHead(*(one.pop(name) for name in MomentHead.__struct_fields__)) for one in told]
    for one in told if _today(a) != _today(b) else ():
        del one["blocks"]
    found = list(wake_comparison.world_differences(told[0], told[1]))
    return WorldsDiff(heads[0], heads[1], not found, found)


def homes_document(a: NamedMoment, b: NamedMoment) -> HomesDiff:
    """The document of `diff` of two homes: where their logs part, and what differs at the end."""
    pairs = [(a.past.journal, b.past.journal), (a.past.agents, b.past.agents)]
    logs = [_parting(one.log, other.log) for one, other in pairs]
    scope = list(dict.fromkeys((*all_tasks(a.home), *all_tasks(b.home))))
    worlds = worlds_document(a, b, scope)
    is_same = worlds.same and all(one.same for one in logs)
    return HomesDiff(worlds.a, worlds.b, is_same, worlds.changes, logs)


def _parting(a: Log, b: Log) -> LogDiff:
    """Up to where two logs are the same to the byte; None of the rest is compared."""
    same, first = 0, None
    for one, other in zip_longest(a.rows(), b.rows()):
        if one != other:
            first = RowPair(_row(one), _row(other))
            break
        same += 1
    return LogDiff(a.name, first is None, same, a.count(), b.count(), first)


def _row(row: Row | None) -> RowDetails | None:
    if row is None:
        return None
    return RowDetails(row.stream, row.version, row.topic, row.state.decode("utf-8", "replace"))


# --------------------------------------------------------------------------------------------- fork


class ForkTemplate(Struct, frozen=True):
    """The template that the agent of a fork lives on; null: the built-in one, the active one."""

    id: str | None
    name: str
    version: int | None


class ForkNote(Struct, frozen=True):
    """A note that says something else; without a number it is one more."""

    task: str
    number: int | None


class ForkVerdict(Struct, frozen=True):
    """An item, by the id of its set, that was decided so."""

    set: str
    item: int
    verdict: str


class ForkDetails(Struct, frozen=True):
    """What `fork` prints: the folder `home` of the fork, what it is `of`, the `step` where it
    parts, and what is other in its world. `stopped` says why it ended early; `left_out` counts
    recorded causes that its world refuses; `tokens` is what paid answers took."""

    home: str
    of: str
    run_key: str
    forked_run_key: str
    step: int | None
    journal: str
    agent: str
    model: str | None
    template: ForkTemplate | None
    notes: list[ForkNote]
    verdicts: list[ForkVerdict]
    answers: list[Answer]
    stopped: str | None
    left_out: int
    diff: WakesCompared
    agent_id: str
    made_at: str
    tokens: int


class KeptFork(Struct, frozen=True, kw_only=True):
    """What is kept beside a fork of what it is of, see `ForkDetails`; `name` is its folder's."""

    name: str = ""
    run_key: str
    forked_run_key: str
    step: int | None = None
    model: str | None = None
    template: ForkTemplate | None = None
    notes: list[ForkNote] = []
    verdicts: list[ForkVerdict] = []
    answers: list[Answer] = []
    stopped: str | None = None
    left_out: int = 0
    agent_id: str = ""  # of those that were made before 0.7 it is not told, nor when
    made_at: str = ""
    tokens: int = 0

    @property
    def number(self) -> int:
        """The how manieth of its wake it is."""
        return int(self.name.rpartition("-")[2] or 0)
