"""The JSON documents of the commands that look back: `replay`, `at`, `diff`, `bisect`, `fork`."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec

from adapters.documents.inbox import ranks_of, set_name
from adapters.moments import Past
from adapters.store.log import Log
from adapters.timetravel.place import Place, replica_of
from domain import envelope
from domain.causes import Receipt
from domain.errors import Refused
from domain.handlers.wakes import set_id
from domain.ports import Request
from domain.wake.events import ModelAsked, ToolReturned, WakeStarted
from domain.wake.machine import pending
from domain.wake.request import request
from domain.wake.state import WAKE
from domain.world import Recorded
from projections import tasks, wakes
from replay import at, diff, fork, rerun, seen

if TYPE_CHECKING:
    from adapters.wiring import Home

Document = dict[str, Any]

# -------------------------------------------------------------------------------------------- at


def names_of(home: "Home") -> dict[str, str]:
    """What a person calls change sets by. Ranks never move, so today's are those of then."""
    ranked = ranks_of(home)
    return {one: set_name(ranked, one) for one in ranked}


def at_document(place: Place, scope: Sequence[str] | None) -> Document:
    """The document of `at`.

    Args:
        place: The moment.
        scope: Ids of tasks; None: all that there were.
    """
    where = place.spot.where
    journal, agents = place.past.worlds(where, place.replica)
    found = all_tasks(place.home) if scope is None else scope
    return {
        "where": place.given,
        "run_key": place.spot.run_key or None,
        "step": place.spot.step or None,
        "at": where.at or None,
        "journal": place.past.journal.position(where.journal),
        "agent": place.past.agents.position(where.agent),
        **at.document(journal, agents, found, names_of(place.home)),
    }


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
        return place.wake.run_key, replica_of(place.wake), place.spot.step
    until, found = place.spot.where, ("", "", 0)
    newest = 0
    for wake in place.home.views.page(wakes.VIEW):
        if not "" < wake.started_at <= until.at or (scope and wake.task_id not in scope[:1]):
            continue
        rows = place.past.agents.rows_of(f"wake:{wake.run_key}@{replica_of(wake)}")
        if newest < rows[0].n <= until.agent:
            newest, found = rows[0].n, (wake.run_key, replica_of(wake), until.agent)
    return found


def prompt_document(run_key: str, asked: ModelAsked, asking: Request) -> Document:
    """The document of `at --prompt`: the request, and a digest that names its bytes."""
    return {
        "run_key": run_key,
        "turn": asked.turn,
        "attempt": asked.attempt,
        "model": asking.model,
        "request": fork.digest(asking),
        "system": [{"name": one.name, "text": one.text} for one in asking.system],
        "user": [{"name": one.name, "text": one.text} for one in asking.user],
        "exchanges": [
            {
                "reply": one.reply.decode("utf-8", "replace"),
                "results": [msgspec.to_builtins(result) for result in one.results],
            }
            for one in asking.exchanges
        ],
        "tools": [msgspec.to_builtins(tool) for tool in asking.tools],
        "forced": asking.forced or None,
    }


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
    cause = envelope.read(past.agents.append(rows[0].n)[0]).data
    assert isinstance(cause, Receipt), run_key
    where = at.Where(begun.journal_position, begun.agent_position)
    return rerun.prompt(*past.worlds(where, replica), begun, cause.command)


def steps_again(past: Past, run_key: str, replica: str) -> Iterator[rerun.Step]:
    """Every append of a wake decided anew, the effects of its calls on the journal between."""
    rows = past.agents.rows_of(f"wake:{run_key}@{replica}")
    for n in sorted({row.n for row in rows}):
        first = next(row.fact for row in rows if row.n == n)
        if isinstance(first, ToolReturned) and first.position:
            p = first.position
            yield rerun.step("journal", past.journal.append(p), past.journal.world(p - 1), "")
        world = past.agents.world(n - 1, replica)
        yield rerun.step("agent", past.agents.append(n), world, run_key)


def step_document(step: rerun.Step) -> Document:
    """One of the `steps` of `replay`."""
    asked = step.asked
    return {
        "position": step.position,
        "step": step.n,
        "at": step.at,
        "asked": {
            "what": asked.what or None,
            "turn": asked.turn or None,
            "attempt": asked.attempt or None,
            "tool": asked.tool or None,
            "arguments": asked.arguments or None,
            "request": fork.digest(asked.request) if asked.request else None,
        },
        "cause": step.cause,
        "answer": step.answer,
        "decided": [
            {"kind": one.kind_of, "stream": one.stream, "why": one.why or None, "data": one.data}
            for one in step.decided
        ],
        "same": step.is_same,
        "error": step.error or None,
        "differences": [msgspec.to_builtins(one) for one in step.changed],
    }


# ------------------------------------------------------------------------------------------ diff


def wake_seen(past: Past, run_key: str, replica: str) -> seen.WakeSeen:
    """A wake as it can be compared."""
    rows = list(past.agents.rows_of(f"wake:{run_key}@{replica}"))
    known = {row.n for row in rows}
    begun = next((row.fact for row in rows if isinstance(row.fact, WakeStarted)), None)
    others = [f"changes:{set_id(run_key)}@{replica}"]
    others += [f"agent:{begun.agent}@{replica}"] if begun else []
    for stream in others:
        rows += [row for row in past.agents.rows_of(stream) if row.n in known]
    world = past.agents.world(past.agents.log.tail().n, replica)
    return seen.seen(run_key, sorted(rows, key=_order), world.text, world.payload)


def _order(row: Recorded) -> tuple[int, int]:
    return row.n, row.row


def worlds_document(a: Place, b: Place, scope: Sequence[str] | None) -> Document:
    """The document of `diff` of two moments."""
    told = [at_document(one, scope) for one in (a, b)]
    head = ("where", "run_key", "step", "at", "journal", "agent")
    sides = [{name: one.pop(name) for name in head} for one in told]
    found = [msgspec.to_builtins(one) for one in diff.worlds(told[0], told[1])]
    return {"kind": "worlds", "a": sides[0], "b": sides[1], "same": not found, "changes": found}


def homes_document(a: Place, b: Place) -> Document:
    """The document of `diff` of two homes: where their logs part, and what differs at the end."""
    pairs = [(a.past.journal, b.past.journal), (a.past.agents, b.past.agents)]
    logs = [_parting(one.log, other.log) for one, other in pairs]
    scope = list(dict.fromkeys((*all_tasks(a.home), *all_tasks(b.home))))
    worlds = worlds_document(a, b, scope)
    is_same = worlds["same"] and all(one["same"] for one in logs)
    return {**worlds, "kind": "logs", "same": is_same, "logs": logs}


def _parting(a: Log, b: Log) -> Document:
    """Up to where two logs are the same to the byte; None of the rest is compared."""
    same = 0
    parts: Document | None = None
    for one, other in zip_longest(a.rows(), b.rows()):
        if one != other:
            parts = {"a": _row(one), "b": _row(other)}
            break
        same += 1
    rows = {"a_rows": a.count(), "b_rows": b.count()}
    return {"log": a.name, "same": parts is None, "same_rows": same, **rows, "first": parts}


def _row(row: Any) -> Document | None:
    if row is None:
        return None
    return {
        "stream": row.stream,
        "version": row.version,
        "kind": row.topic,
        "state": row.state.decode("utf-8", "replace"),
    }
