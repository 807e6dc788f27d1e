"""Change items, operations and wakes: what became of what was asked."""

from typing import Any

from tests.support.checking.logs import Doc
from tests.support.recounting import entities, rows
from tests.support.recounting.entities import first_at, seconds, tagged
from tests.support.recounting.facts import (
    Fact,
    Past,
    Rows,
    grouped,
    known_cost,
    known_sum,
    when,
)

LABEL_DEEDS = {
    "changes.suppression_asked": "suppress_label",
    "changes.lift_asked": "lift_suppression",
    "changes.undo_asked": "undo",
}
DECIDED = ("confirming", "rejected", "deferred", "retracted", "expired")
AGAIN = ("failed", "reopened", "undone")
"""After which an item is pending again."""
INTENTS = ("wake.tool_asked", "changes.item_confirming", *LABEL_DEEDS)


def change_items(past: Past) -> Rows:
    opened = {one.entity: one for one in past.of("changes.opened")}
    steps = grouped(rows.verdicts(past), lambda one: (one["set_id"], one["item"]))
    return [
        _item(past, one, opened.get(one.entity), steps.get((one.entity, one.data["item"]), []))
        for one in past.of("changes.item_proposed")
    ]


def _item(past: Past, proposed: Fact, opened: Fact | None, steps: Rows) -> Doc:
    data, shown = proposed.data, opened.data if opened else {}
    steps = _standing(steps)
    last = steps[-1]["verdict"] if steps else "pending"
    choices = [one for one in steps if one["verdict"] in DECIDED]
    choice = choices[-1] if choices and last not in AGAIN else {}
    failures = [one for one in steps if one["verdict"] == "failed"]
    codes = [one["code"] for one in failures if one["code"] is not None]
    return {
        "set_id": proposed.entity,
        "item": data["item"],
        "agent_id": shown.get("agent"),
        "task_id": shown.get("task"),
        "run_key": shown.get("runKey"),
        "proposed_at": proposed.at,
        "opened_at": opened.at if opened else None,
        "expires_at": when(shown.get("expiresAt")),
        "tool": data.get("tool"),
        "arguments": past.said(data.get("arguments")),
        "summary": data.get("summary"),
        "fingerprint": data.get("fingerprint"),
        "touches": data.get("touches", []),
        "status": "pending" if last in AGAIN else last,
        "decided_at": choice.get("occurred_at"),
        "decided_by": choice.get("decided_by"),
        "reason": choice.get("reason") or None,
        "is_edited": choice.get("is_edited", False),
        "confirmations": max((one["confirmation"] or 0 for one in steps), default=0),
        "failures": len(failures),
        "failure_code": codes[-1] if codes else None,
        "journal_n": steps[-1]["journal_n"] if last == "confirmed" else None,
    }


def _standing(steps: Rows) -> Rows:
    """Step by step: what was undone is over, and whoever tells of it later did not know."""
    kept: Rows = []
    over: set[int] = set()
    newest = 0
    for one in steps:
        verdict, number = one["verdict"], one["confirmation"] or 0
        if verdict == "undo_refused":
            continue
        newest = max(newest, number)
        is_late = number in over and verdict in ("confirming", "confirmed", "failed")
        is_its_own = verdict == "confirmed" and one["operation"] is not None
        if verdict == "undone":
            over.add(number)
            is_late = number < newest
        if not is_late or is_its_own:
            kept.append(one)
    return kept


# ----------------------------------------------------------------------------------- operations


def operations(past: Past) -> Rows:
    effects_asked = (one for one in past.of(*INTENTS) if one.data["operation"])
    meant = (one for one in effects_asked if one.data.get("actionType") != "read")
    asked = grouped(meant, lambda one: one.data["operation"])
    effects: dict[str, Doc] = {}
    for one in rows.operation_effects(past):
        effects.setdefault(one["operation"], one)
    tools = {(one["set_id"], one["item"]): one["tool"] for one in change_items(past)}
    ended = {one.entity for one in past.of("wake.finished")}
    answers = _answers(past)
    return [
        _operation(name, facts, answers.get(name), effects.get(name, {}), tools, ended)
        for name, facts in asked.items()
    ]


def _operation(
    name: str,
    asked: list[Fact],
    answer: Doc | None,
    effect: Doc,
    tools: dict[Any, str],
    ended: set[str],
) -> Doc:
    first = asked[0]
    item = first.data.get("item")
    tool = first.data.get("tool") or tools.get((first.entity, item))
    doubt = "in_doubt" if first.kind == "wake" and first.entity in ended else None
    return {
        "operation": name,
        "owner_kind": first.kind,
        "owner": first.entity,
        "item": item,
        "tool": LABEL_DEEDS.get(first.tag, tool),
        "attempts": max(one.data["attempt"] for one in asked),
        "asked_at": min(one.at for one in asked),
        "settled_at": answer["at"] if answer else None,
        "outcome": answer["outcome"] if answer else doubt,
        "code": answer["code"] if answer else None,
        "asked_n": first.n,
        "asked_row_n": first.row_n,
        "replica": first.replica,
        "journal_n": effect.get("n"),
        "effect_at": effect.get("occurred_at"),
        "effect": effect.get("status"),
        "effect_code": effect.get("code") or None,
    }


def _answers(past: Past) -> dict[str, Doc]:
    """The first answer to each operation."""
    found: dict[str, Doc] = {}
    confirming: dict[Any, str] = {}
    for one in past.facts:
        data, name, outcome = one.data, None, None
        if one.tag == "wake.late_reply":
            data = data["reply"]
        spot = one.entity, data.get("item"), data.get("confirmation")
        if one.tag == "changes.item_confirming":
            confirming[spot] = data["operation"]
        elif one.tag in ("changes.item_confirmed", "changes.item_failed"):
            name = confirming.get(spot)
            outcome = "success" if one.tag == "changes.item_confirmed" else "error"
        elif one.tag in ("changes.suppression_done", "changes.lift_done", "changes.item_undone"):
            name, outcome = data["operation"], "error" if data.get("code") else "success"
        elif _is_result(one, data):
            name, outcome = data["operation"], data["status"]
        if name is not None:
            answer = {"at": one.at, "outcome": outcome, "code": data.get("code") or None}
            found.setdefault(name, answer)
    return found


def _is_result(fact: Fact, data: Doc) -> bool:
    if fact.tag == "wake.tool_returned":
        return bool(data["attempt"] > 0)
    return fact.tag == "wake.late_reply" and data["kind"] == "wake.tool_returned.1"


# ---------------------------------------------------------------------------------------- wakes


def _by_wake(row: Doc) -> Any:
    return row["run_key"]


def wakes(past: Past) -> Rows:
    found = _Wakes(past)
    return [found.row(run_key) for run_key in found.keys]


class _Wakes:
    """All that is recorded of wakes, by their run keys."""

    def __init__(self, past: Past) -> None:
        self.facts = grouped((one for one in past.facts if one.kind == "wake"), lambda f: f.entity)
        queued = [one for one in rows.triggers(past) if one["run_key"] is not None]
        self.queued = grouped(queued, _by_wake)
        self.attended = grouped(rows.attention(past), _by_wake)
        self.turns = grouped(entities.turns(past), _by_wake)
        self.used = grouped(rows.token_usage(past), _by_wake)
        self.waited = grouped(entities.waits(past), _by_wake)
        self.calls = grouped(entities.tool_calls(past), _by_wake)
        self.items = grouped(change_items(past), _by_wake)
        self.observed = grouped(rows.observations(past), _by_wake)
        self.tasks = {one["agent_id"]: one["task_id"] for one in entities.agents(past)}
        began = (
            run_key
            for run_key, facts in self.facts.items()
            if tagged(facts, "wake.started", "wake.finished")
        )
        first = (one["run_key"] for one in queued if one["fate"] == "first")
        self.keys = dict.fromkeys((*first, *began))

    def row(self, run_key: str) -> Doc:
        facts = self.facts.get(run_key, [])
        queued = self.queued.get(run_key, [])
        attended = self.attended.get(run_key, [])
        first = next((one for one in queued if one["fate"] == "first"), {})
        starts, ends = tagged(facts, "wake.started"), tagged(facts, "wake.finished")
        start = starts[0] if starts else None
        begun, ended = start.data if start else {}, ends[0].data if ends else {}
        agent = begun.get("agent") or first.get("agent_id")
        due = [one["due_at"] for one in queued if one["due_at"] is not None]
        heirs = [one["superseded_by"] for one in attended if one["superseded_by"]]
        started_at, ended_at = start.at if start else None, first_at(ends, "wake.finished")
        return {
            "run_key": run_key,
            "replica": start.replica if start else first.get("replica"),
            "agent_id": agent,
            "task_id": begun.get("task") or self.tasks.get(first.get("agent_id")),
            "thread": begun.get("thread"),
            "reason": begun.get("reason") or first.get("reason"),
            "reason_id": first.get("reason_id"),
            "state": _state(bool(start), bool(ends), attended),
            "queued_at": first.get("occurred_at"),
            "due_at": due[-1] if due else None,
            "causes": len(queued) or None,
            "started_at": started_at,
            "ended_at": ended_at,
            **self._times(run_key, started_at, ended_at),
            "outcome": ended.get("outcome"),
            "stop": ended.get("stop") or None,
            "code": ended.get("code") or None,
            "message": ended.get("message") or None,
            "superseded_by": heirs[0] if heirs else None,
            "model": begun.get("model"),
            "template_id": begun.get("template") or None,
            "template_version": begun.get("templateVersion"),
            "scaffold": begun.get("scaffold"),
            "turn_max": begun.get("turnMax"),
            "is_first": begun.get("isFirst", False) if start else None,
            "hop": begun.get("hop", first.get("hop")),
            "journal_n": begun.get("journalPosition"),
            "agent_n": begun.get("agentPosition"),
            **self._counts(run_key, facts, attended),
            **self._used(run_key),
            "is_noop": self._is_noop(run_key, facts)
            if ended.get("outcome") == "completed"
            else None,
            "is_report_missing": ended.get("isReportMissing", False),
        }

    def _counts(self, run_key: str, facts: list[Fact], attended: Rows) -> Doc:
        calls = self.calls.get(run_key, [])
        return {
            "turns": sum(one["answered_at"] is not None for one in self.turns.get(run_key, [])),
            "tool_calls": sum(one["returned_at"] is not None for one in calls),
            "denied_calls": sum(one["status"] == "denied" for one in calls),
            "journal_changes": _changes(calls),
            "proposals": len(self.items.get(run_key, [])),
            "observations": len(self.observed.get(run_key, [])),
            "retractions": len(tagged(facts, "wake.retraction_staged")),
            "has_report": bool(tagged(facts, "wake.report_drafted")),
            "waits": sum(one["what"] == "wake_backed_off" for one in attended),
        }

    def _used(self, run_key: str) -> Doc:
        used = self.used.get(run_key, [])
        tokens = {name: known_sum(one[name] for one in used) for name in rows.TOKENS}
        return {**tokens, "cost": known_cost(one["cost"] for one in used)}

    def _times(self, run_key: str, started_at: Any, ended_at: Any) -> Doc:
        waited = sum(one["seconds"] or 0.0 for one in self.waited.get(run_key, []))
        took = seconds(started_at, ended_at)
        return {
            "duration_seconds": took,
            "waited_seconds": round(waited, 6) if started_at else None,
            "active_seconds": None if took is None else round(took - waited, 6),
        }

    def _is_noop(self, run_key: str, facts: list[Fact]) -> bool:
        did = tagged(facts, "wake.report_drafted", "wake.retraction_staged")
        made = self.items.get(run_key) or self.observed.get(run_key)
        return not did and not made and not _changes(self.calls.get(run_key, []))


def _changes(calls: Rows) -> int:
    return sum(one["status"] in ("success", "partial") and one["changed"] > 0 for one in calls)


def _state(is_begun: bool, is_ended: bool, attended: Rows) -> str:
    if is_ended:
        return "ended"
    if attended and attended[-1]["what"] == "wake_backed_off":
        return "waiting"
    return "running" if is_begun else "queued"
