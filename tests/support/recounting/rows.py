"""Tables with one row for each row of a log."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from tests.support.checking.logs import Doc
from tests.support.recounting.facts import TEXTS_OF, TRIGGERS, Fact, Past, Prices, Rows, when

ATTENTION = ("wake_begun", "wake_dropped", "wake_backed_off", "settled")
VALUES = (
    "title",
    "status",
    "priority",
    "minutes",
    "due",
    "language",
    "category",
    "summary",
    "rule",
    "until",
)
MORE_VALUES = ("relation", "score")
PARTS = ("item", "note", "entry", "label", "target", "checklist")
TOKENS = {
    "tokens_in": ("tokensIn", "tokensPrompt"),
    "tokens_out": ("tokensOut", "tokensReply"),
    "tokens_thought": ("tokensThought",),
    "tokens_cached": ("tokensCached",),
}
"""How an answer tells them, and one that failed."""
MILLION = 1_000_000


def first_of(data: Doc, *names: str) -> Any:
    """The first of the values that is there."""
    return next((data[name] for name in names if data.get(name) is not None), None)


def events(past: Past) -> Rows:
    return [
        {
            "log": one.log,
            **one.place,
            "rows": one.rows,
            "occurred_at": one.at,
            "stream": one.stream,
            "kind": one.kind,
            "entity": one.entity,
            "version": one.version,
            "tag": one.topic,
            "data": one.data,
        }
        for one in past.rows
    ]


def causes(past: Past) -> Rows:
    return [_cause(one) for one in past.rows if one.row_n == 0]


def _cause(fact: Fact) -> Doc:
    command, result = fact.data.get("command", {}), fact.data.get("result", {})
    kind, what = "reply", fact.what
    about: Any = fact.entity
    if fact.kind == "log":
        kind, about = "log", None
    if fact.topic == "erased.1":
        kind, what = "erased", "erased"
        about = None if fact.kind == "receipt" else about
    elif fact.kind == "receipt":
        kind, what = "command", command["kind"].split(".")[1]
        about = first_of(command, "runKey", "changes", "agent", "task")
        about = about if about is not None else next(iter(result.get("ids", [])), None)
    return {
        "log": fact.log,
        "replica": fact.replica,
        "n": fact.n,
        "occurred_at": fact.at,
        "kind": kind,
        "what": what,
        "key": fact.entity if fact.kind == "receipt" else None,
        "about": about,
        "rows": fact.rows,
        "result_status": result.get("status"),
        "result_code": result.get("code"),
        "who": fact.data.get("who"),
    }


def triggers(past: Past) -> Rows:
    """Append by append: what is recorded in it, then what a drop in it passes on unrecorded."""
    found: Rows = []
    appends: dict[Any, list[Fact]] = {}
    for one in past.of(*TRIGGERS, "alert.wake_dropped"):
        appends.setdefault((one.replica, one.n), []).append(one)
    for facts in appends.values():
        asked = {
            (one.entity, one.data["runKey"])
            for one in facts
            if one.tag == "alert.wake_queued"
            and one.data["trigger"]["reason"] in ("manual", "user")
        }
        found += [_trigger(one, asked) for one in facts if one.tag in TRIGGERS]
        for one in facts:
            if one.tag == "alert.wake_dropped" and one.data.get("leftOut", 0):
                found += _passed_on(one, found)
    return found


def _trigger(fact: Fact, asked: set[tuple[str, str]]) -> Doc:
    trigger, run_key = fact.data["trigger"], fact.data.get("runKey")
    ticks = trigger.get("ticks", [])
    nth = first_of({**trigger, "tick": next(iter(ticks), None)}, "change", "tick", "turn")
    named = [trigger.get(name) for name in ("reason", "reasonId", "replica")]
    fate = "inherited" if (fact.entity, run_key) in asked else "merged"
    if fact.tag != "alert.trigger_merged":
        fate = "first" if fact.tag == "alert.wake_queued" else "suppressed"
    return {
        **fact.place,
        "occurred_at": fact.at,
        "agent_id": fact.entity,
        "trigger_id": " ".join(str(one) for one in (*named, nth) if one is not None),
        "fate": fate,
        "run_key": run_key,
        "rule": fact.data.get("rule"),
        "reason": trigger.get("reason"),
        "reason_id": trigger.get("reasonId"),
        "journal_replica": trigger.get("replica") if "position" in trigger else None,
        "journal_n": trigger.get("position"),
        "tokens": trigger.get("tokens", []),
        "is_propagated": trigger.get("isPropagated", False),
        "hop": trigger.get("hop", 0),
        "ticks": len(ticks),
        "due_at": when(fact.data.get("dueAt")),
        "words": trigger.get("words"),
        "about": trigger.get("about"),
    }


def _passed_on(drop: Fact, known: Rows) -> Rows:
    """What the wake that is dropped stood for and its heir has no row of."""
    heir = drop.data["by"]
    has = {one["trigger_id"] for one in known if one["run_key"] == heir}
    found: dict[str, Doc] = {}
    for one in known:
        if one["run_key"] == drop.data["runKey"] and one["trigger_id"] not in has:
            found.setdefault(one["trigger_id"], one)
    fate = {"fate": "inherited", "run_key": heir, "rule": None, "due_at": None}
    return [{**one, **drop.place, "occurred_at": drop.at, **fate} for one in found.values()]


def attention(past: Past) -> Rows:
    return [
        {
            **one.place,
            "occurred_at": one.at,
            "agent_id": one.entity,
            "run_key": one.data.get("runKey"),
            "what": one.what,
            "until": when(one.data.get("until")),
            "reason": first_of(one.data, "reason", "code", "outcome"),
            "superseded_by": one.data.get("by"),
            "left_out": one.data.get("leftOut", 0),
        }
        for one in past.of(*(f"alert.{what}" for what in ATTENTION))
    ]


def prompt_sections(past: Past) -> Rows:
    return [
        {
            "run_key": one.entity,
            "part": part,
            "ordinal": ordinal,
            "name": section["name"],
            "payload": section["payload"],
            "bytes": past.size(section["payload"]),
        }
        for one in past.of("wake.started")
        for part in ("system", "user")
        for ordinal, section in enumerate(one.data.get(part, []), 1)
    ]


def token_usage(past: Past) -> Rows:
    models: dict[str, str] = {}
    for one in past.of("wake.started"):
        models.setdefault(one.entity, one.data["model"])
    found: Rows = []
    for one in past.of("wake.model_answered", "wake.model_failed", "wake.late_reply"):
        is_late = one.tag == "wake.late_reply"
        said = one.data["reply"] if is_late else one.data
        tag = said["kind"] if is_late else one.topic
        tokens = {column: first_of(said, *names) for column, names in TOKENS.items()}
        is_failed = tag == "wake.model_failed.1"
        is_silent = all(value is None for value in tokens.values())
        if tag != "wake.model_answered.1" and (not is_failed or is_silent):
            continue
        if tokens["tokens_in"] is not None and tokens["tokens_out"] is not None:
            tokens = {
                name: value or 0 for name, value in tokens.items()
            }  # what is zero is left out
        found.append(
            {
                **one.place,
                "occurred_at": one.at,
                "run_key": one.entity,
                "turn": said["turn"],
                "attempt": said["attempt"],
                "is_late": is_late,
                **tokens,
                "is_failed": is_failed,
                "cost": paid(tokens, past.prices, models.get(one.entity, ""), one.at),
            }
        )
    return found


def paid(tokens: Doc, prices: Prices, model: str, at: datetime) -> float | None:
    """What an answer costs at the price of its day."""
    held = [one for one in prices.get(model, ()) if one[3] <= at.date().isoformat()]
    if not held or tokens["tokens_in"] is None or tokens["tokens_out"] is None:
        return None
    of_input, of_output, of_cached, _ = max(held, key=lambda one: one[3])
    cached = min(tokens["tokens_cached"], tokens["tokens_in"])
    read = (tokens["tokens_in"] - cached) * of_input
    read += cached * (of_input if of_cached is None else of_cached)
    written = (tokens["tokens_out"] + tokens["tokens_thought"]) * of_output
    return float((read + written) / MILLION**2)


def observations(past: Past) -> Rows:
    return [
        {
            **one.place,
            "occurred_at": one.at,
            "agent_id": one.entity,
            "run_key": one.data.get("runKey"),
            "text": past.said(one.data.get("words")),
            "priority": one.data.get("priority"),
            "category": one.data.get("category"),
            "target": one.data.get("target") or None,
        }
        for one in past.of("agent.observed")
    ]


def requests(past: Past) -> Rows:
    """What agents asked each other, whether it was handed on or not."""
    askers: dict[str, str] = {}
    for one in past.of("wake.started"):
        askers.setdefault(one.entity, one.data["agent"])
    return [
        {
            **one.place,
            "occurred_at": one.at,
            "run_key": one.entity,
            "agent_id": askers.get(one.entity),
            "asked_agent_id": one.data["agent"],
            "task_id": one.data["task"],
            "about": one.data["about"],
        }
        for one in past.of("wake.request_staged")
    ]


def rehearsals(past: Past) -> Rows:
    """Wordings that were tried on past wakes."""
    names = ("kept", "lost", "avoided", "repeated", "new")
    found: Rows = []
    for one in past.of("template.rehearsed"):
        data, (set_id, _, item) = one.data, one.data["item"].partition(".")
        found.append(
            {
                **one.place,
                "occurred_at": one.at,
                "template_id": one.entity,
                "set_id": set_id or None,
                "item": int(item) if item else None,
                "version": data["version"] or None,
                "model": data["model"] or None,
                **{name: data[name] for name in ("scaffold", "wakes", "agents", "tokens")},
                **{name: data["tried"].get(name, 0) for name in names},
                **{f"{name}_in_force": data["control"].get(name, 0) for name in names},
                **{name: data.get(name, 0) for name in ("better", "worse")},
            }
        )
    return found


def receipts(past: Past) -> Rows:
    return [
        {
            **one.place,
            "occurred_at": one.at,
            "what": one.what.removeprefix("receipt_"),
            "model": one.data.get("model"),
            "categories": one.data.get("categories", []),
            "notice": one.data.get("notice"),
            "sections": one.data.get("sections"),
        }
        for one in past.of("policy.receipt_given", "policy.receipt_withdrawn")
    ]


def verdicts(past: Past) -> Rows:
    return [
        {
            **one.place,
            "occurred_at": one.at,
            "set_id": one.entity,
            "item": one.data["item"],
            "verdict": "undo_refused"
            if one.what == "item_undone" and one.data.get("code")
            else one.what.removeprefix("item_"),
            "decided_by": one.data.get("by"),
            "reason": first_of(one.data, "reason", "message"),
            "code": one.data.get("code"),
            "confirmation": one.data.get("confirmation"),
            "operation": one.data.get("operation"),
            "is_edited": one.data.get("arguments") is not None,
            "journal_n": one.data.get("position"),
        }
        for one in past.facts
        if one.tag.startswith("changes.item_") and one.what != "item_proposed"
    ]


def task_changes(past: Past) -> Rows:
    applied = {
        (one.replica, one.n): one.entity
        for one in past.of("receipt")
        if one.log == "journal" and one.data["command"]["kind"] == "command.apply_operation.1"
    }
    return [_task_change(past, one, applied) for one in past.facts if one.kind == "task"]


def _task_change(past: Past, fact: Fact, applied: dict[tuple[str, int], str]) -> Doc:
    by = fact.data.get("by", "")
    actor, _, whose = by.partition(":")
    value = first_of(fact.data, *VALUES, *MORE_VALUES)
    words = first_of(fact.data, "words", "description")
    if value is None and words is not None:
        value = past.said(words) or None
    return {
        **fact.place,
        "occurred_at": fact.at,
        "task_id": fact.entity,
        "what": fact.what,
        "decided_by": by or None,
        "actor": actor or None,
        "agent_id": whose if actor == "agent" else None,
        "operation": applied.get((fact.replica, fact.n)),
        "part_id": first_of(fact.data, *PARTS),
        "value": None if value is None else str(value),
        "reason": first_of(fact.data, "reason", "comment"),
    }


def operation_effects(past: Past) -> Rows:
    return [
        {
            "operation": one["key"],
            "replica": one["replica"],
            "n": one["n"],
            "occurred_at": one["occurred_at"],
            "status": one["result_status"],
            "code": one["result_code"],
        }
        for one in causes(past)
        if one["log"] == "journal"
        and (
            one["what"] in ("apply_operation", "void_operation")
            or (one["what"] == "undo_deed" and one["result_status"])
        )
    ]


def journal_taken(past: Past) -> Rows:
    return [
        {
            "replica": one.replica,
            "n": one.n,
            "journal_replica": one.data["replica"],
            "first_n": one.data["first"],
            "last_n": one.data["last"],
        }
        for one in past.of("watch.journal_taken")
    ]


def texts(past: Past) -> Rows:
    named = {
        payload
        for one in past.facts
        for payload in (
            _named(one.data)
            if one.kind in TEXTS_OF
            else [one.data["trigger"].get("words")]
            if one.tag in TRIGGERS
            else []
        )
    }
    return [
        {"payload": one, "bytes": past.size(one), "text": past.said({"payload": one})}
        for one in sorted((named - {None}) & past.payloads.keys())
    ]


def _named(value: Any) -> Iterator[str]:
    """Payloads that a document names as texts."""
    if isinstance(value, list):
        for one in value:
            yield from _named(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name == "payload":
                yield one
            else:
                yield from _named(one)


def positions(past: Past) -> Rows:
    return [
        {"log": log, "n": n, "events": sum(one.log == log for one in past.rows)}
        for log, n in past.ends.items()
    ]
