"""What caused a row besides its append's first row, and all that led to it."""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.support.checking.logs import Doc
from tests.support.recounting import proposals, rows
from tests.support.recounting.facts import Fact, Past, Rows, grouped

Spot = tuple[str, str, int, int]
GOES_ON = ("retake_wake", "stop_wake", "defer_wake")
JUDGED = tuple(f"changes.item_{one}" for one in (*proposals.DECIDED, "reopened"))
OUTCOMES = ("changes.item_confirmed", "changes.item_failed")


def caused_by(past: Past) -> Rows:
    return [
        {
            **dict(zip(("log", "replica", "n", "row_n"), of, strict=True)),
            **dict(zip(("by_log", "by_replica", "by_n", "by_row_n"), by, strict=True)),
            "why": why,
        }
        for of, by, why in _links(past)
    ]


def _links(past: Past) -> Iterator[tuple[Spot, Spot, str]]:
    yield from _answers(past)
    yield from _of_wakes(past)
    yield from _of_operations(past)
    yield from _of_items(past)


def _answers(past: Past) -> Iterator[tuple[Spot, Spot, str]]:
    asked = list(past.of("wake.model_asked", "wake.tool_asked"))
    by_key = grouped(asked, _request)
    for one in past.of("wake.model_answered", "wake.model_failed", "wake.tool_returned"):
        kind = "tool" if one.tag == "wake.tool_returned" else "model"
        for intent in by_key.get(_request(one), []):
            yield one.spot, intent.spot, f"answers the {kind} request"


def _request(fact: Fact) -> Any:
    what = fact.data.get("operation") if "tool_" in fact.tag else fact.data["turn"]
    return fact.stream, "tool_" in fact.tag, what, fact.data["attempt"]


def _of_wakes(past: Past) -> Iterator[tuple[Spot, Spot, str]]:
    triggers = rows.triggers(past)
    queued = grouped(triggers, lambda one: one["run_key"])
    starts = {one.entity: one for one in past.of("wake.started")}
    told = set()
    for start in past.of("wake.started"):
        first = start.log, start.replica, start.n, 0
        for one in queued.get(start.entity, []):
            why = "was queued" if one["fate"] == "first" else "was merged into it"
            told.add((first, _spot("agent", one), why))
    yield from told
    for one in rows.causes(past):
        if one["what"] in GOES_ON and one["about"] in starts:
            spot = one["log"], one["replica"], one["n"], 0
            yield spot, starts[one["about"]].spot, "goes on with the wake"
    for one in triggers:
        if one["journal_n"] is not None:
            by = "journal", one["journal_replica"], one["journal_n"], 0
            yield _spot("agent", one), by, "noticed the change"
    asked = {(one.entity, one.data["agent"]): one for one in past.of("wake.request_staged")}
    for one in triggers:
        if one["reason"] == "request" and (one["reason_id"], one["agent_id"]) in asked:
            by = asked[one["reason_id"], one["agent_id"]].spot
            yield _spot("agent", one), by, "hands on the request"


def _of_operations(past: Past) -> Iterator[tuple[Spot, Spot, str]]:
    intents = grouped(past.of(*proposals.INTENTS), lambda one: one.data["operation"])
    for one in rows.operation_effects(past):
        for first in intents.get(one["operation"], [])[:1]:
            yield ("journal", one["replica"], one["n"], 0), first.spot, "applies the operation"


def _of_items(past: Past) -> Iterator[tuple[Spot, Spot, str]]:
    proposed = {(one.entity, one.data["item"]): one for one in past.of("changes.item_proposed")}
    asked = grouped(past.of("changes.item_confirming"), _confirmation)
    for one in past.of(*JUDGED):
        if (one.entity, one.data["item"]) in proposed:
            by = proposed[one.entity, one.data["item"]]
            yield one.spot, by.spot, "decides the proposal"
    confirming = grouped(past.of("changes.item_confirming"), lambda one: one.data["operation"])
    for one in past.of("changes.undo_asked", "changes.item_undone"):
        for intent in confirming.get(one.data["undoes"], []):
            if (intent.entity, intent.data["item"]) == (one.entity, one.data["item"]):
                yield one.spot, intent.spot, "takes the confirmation back"
    for one in past.of(*OUTCOMES):
        for intent in asked.get(_confirmation(one), []):
            yield one.spot, intent.spot, "answers the confirmation"


def _confirmation(fact: Fact) -> Any:
    return fact.entity, fact.data["item"], fact.data["confirmation"]


def _spot(log: str, row: Doc) -> Spot:
    return log, row["replica"], row["n"], row["row_n"]


def causality(links: Iterable[Doc], past: Past, of: Spot) -> Rows:
    """All that led to a row, with how far away it is, by breadth first."""
    by: dict[Spot, list[Spot]] = {}
    for link in links:
        cause = (link["by_log"], link["by_replica"], link["by_n"], link["by_row_n"])
        by.setdefault((link["log"], link["replica"], link["n"], link["row_n"]), []).append(cause)
    there = {one.spot: one for one in past.facts}
    depths = {of: 0}
    waiting = [of]
    for spot in waiting:
        log, replica, n, row_n = spot
        first = [(log, replica, n, 0)] if row_n else []
        for one in (*first, *by.get(spot, [])):
            if one not in depths:
                depths[one] = depths[spot] + 1
                waiting.append(one)
    return [
        {
            "depth": depth,
            "position": f"{spot[0]}:{spot[1]}:{spot[2]}",
            "row_n": spot[3],
            "occurred_at": there[spot].at,
            "stream": there[spot].stream,
            "tag": there[spot].topic,
            "data": there[spot].data,
        }
        for spot, depth in depths.items()
        if spot in there
    ]
