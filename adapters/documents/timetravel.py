"""The JSON documents of the commands that look back: `replay`, `at`, `diff`, `bisect`, `fork`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict, replace

from adapters.documents.inbox import set_name
from adapters.documents.ranks import ranks_of
from adapters.timetravel.logs_at import Past, made_by
from adapters.timetravel.place import Place
from domain import envelope
from domain.causes import Receipt
from domain.errors import Refused
from domain.ports import CallResult, Request, Section, ToolSpec
from domain.wake.events import ModelAsked, ToolReturned, WakeStarted
from domain.wake.machine import pending
from domain.wake.request import request
from domain.wake.state import WAKE
from domain.world import Recorded
from projections import tasks, wakes
from replay import at, fork, rerun, seen
from replay.reads import is_read
from replay.world import AgentThen, LessonThen, ProposalThen, TaskThen, WakeThen

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
    """What `at` prints: the world at a moment."""

    tasks: list[TaskThen]
    agents: list[AgentThen]
    proposals: list[ProposalThen]
    wakes: list[WakeThen]
    lessons: list[LessonThen]


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


def at_document(place: Place, scope: Sequence[str] | None) -> MomentDetails:
    """The document of `at`.

    Args:
        place: The moment.
        scope: Ids of tasks; None: all that there were.
    """
    where = place.spot.where
    journal, agents = place.past.worlds(where, place.replica)
    heads = place.heads
    found = all_tasks(place.home) if scope is None else scope
    return MomentDetails(
        where=place.given,
        run_key=place.spot.run_key or None,
        step=place.spot.step or None,
        at=where.at or None,
        journal=heads[0],
        agent=heads[1],
        **asdict(at.document(journal, agents, found, names_of(place.home))),
    )


def all_tasks(home: "Home") -> list[str]:
    """The ids of all tasks there are, in the order of their making."""
    return [task.id for task in home.views.page(tasks.VIEW)]


def around(place: Place, task: str) -> list[str]:
    """A task and those that were linked to it then."""
    return at.around(place.past.worlds(place.spot.where, place.replica)[0], task)


# ---------------------------------------------------------------------------------------- prompt


def prompt_of(place: Place, scope: Sequence[str] | None) -> tuple[str, ModelAsked, Request]:
    """What a model was asked last, up to a moment: by the wake that is named, at its first turn,
    else by the newest wake of the tasks in scope.

    Raises:
        Refused: Code ``unknown_wake``: no model had been asked anything.
    """
    run_key, replica, until = _asking(place, scope)
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


def _asking(place: Place, scope: Sequence[str] | None) -> tuple[str, str, int]:
    """Which wake is meant, who ran it, and up to which append of the agent log; 0: its first
    question, whenever that was."""
    if place.wake is not None:
        return place.wake.key, place.wake.replica, place.spot.step
    until, found = place.spot.where, ("", "", 0)
    newest = 0
    for wake in (each for one in place.home.views.page(wakes.VIEW) for each in one.every):
        if not "" < wake.started_at <= until.at or (scope and wake.task_id not in scope[:1]):
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
        request=fork.digest(asking),
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
    where = at.Where(begun.journal_position, begun.agent_position)
    return rerun.prompt(*past.worlds(where, replica), begun, cause.command)


def steps_again(past: Past, run_key: str, replica: str) -> Iterator[rerun.Step]:
    """Every append of a wake decided anew, the effects of its calls on the journal between."""
    rows = past.agents.rows_of(f"wake:{run_key}@{replica}")
    for n in sorted({row.n for row in rows}):
        row = next(row for row in rows if row.n == n)
        first, found = row.fact, tuple[rerun.Changed, ...]()
        if isinstance(first, ToolReturned) and is_read(first):
            where = at.Where(first.position, first.agent_position)
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


def step_document(step: rerun.Step) -> StepReplayed:
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
            request=fork.digest(asked.request) if asked.request else None,
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


def wake_seen(past: Past, run_key: str, replica: str) -> seen.WakeSeen:
    """A wake as it can be compared."""
    rows = list(past.agents.rows_of(f"wake:{run_key}@{replica}"))
    known = {row.n for row in rows}
    begun = next((row.fact for row in rows if isinstance(row.fact, WakeStarted)), None)
    others = [*made_by(run_key, replica)]
    others += [f"agent:{begun.agent}@{replica}"] if begun else []
    for stream in others:
        rows += [row for row in past.agents.rows_of(stream) if row.n in known]
    world = past.agents.world(past.agents.log.tail().n, replica)
    return seen.seen(run_key, sorted(rows, key=_order), world.text, world.payload)


def _order(row: Recorded) -> tuple[int, int]:
    return row.n, row.row
