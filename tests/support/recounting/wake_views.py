"""Questions about wakes, those that never began, and what they used, answered a second time."""

from datetime import datetime
from typing import Any

from tests.support.checking.logs import Doc
from tests.support.recounting.facts import Rows, grouped, indexed, known_cost, known_sum
from tests.support.recounting.rows import TOKENS
from tests.support.recounting.views import Tables, begun, quantile, taken


def trigger_latency(tables: Tables) -> Rows:
    wakes = indexed(begun(tables), "run_key")
    causes = {
        (one["replica"], one["n"]): one["occurred_at"]
        for one in tables["causes"]
        if one["log"] == "journal"
    }
    noticed: dict[Any, datetime] = {}
    for one in tables["triggers"]:
        named = one["agent_id"], one["trigger_id"]
        noticed[named] = min(one["occurred_at"], noticed.get(named, one["occurred_at"]))
    told = [
        {
            **one,
            "noticed_at": noticed[one["agent_id"], one["trigger_id"]],
            "changed_at": causes.get((one["journal_replica"], one["journal_n"])),
            "started_at": wakes[one["run_key"]]["started_at"],
        }
        for one in tables["triggers"]
        if one["run_key"] in wakes
    ]
    return [
        {
            "reason": reason,
            "triggers": len(of),
            "median_seconds": quantile(taken(of, "noticed_at", "started_at"), 0.5),
            "p95_seconds": quantile(taken(of, "noticed_at", "started_at"), 0.95),
            "median_seconds_from_change": quantile(taken(of, "changed_at", "started_at"), 0.5),
        }
        for reason, of in grouped(told, lambda one: one["reason"]).items()
    ]


def noop_wakes(tables: Tables) -> Rows:
    columns = (
        *("agent_id", "run_key", "reason", "started_at", "duration_seconds", "turns"),
        *("tool_calls", "denied_calls", "tokens_in", "tokens_out"),
    )
    return [{name: one[name] for name in columns} for one in tables["wakes"] if one["is_noop"]]


def wake_reasons(tables: Tables) -> Rows:
    return [
        {
            "reason": reason,
            "wakes": len(wakes),
            "begun": sum(one["started_at"] is not None for one in wakes),
            "completed": sum(one["outcome"] == "completed" for one in wakes),
            "failed": sum(one["outcome"] == "failed" for one in wakes),
            "noop": sum(bool(one["is_noop"]) for one in wakes),
            "proposals": sum(one["proposals"] for one in wakes),
        }
        for reason, wakes in grouped(tables["wakes"], lambda one: one["reason"]).items()
    ]


def why_no_wake(tables: Tables) -> Rows:
    columns = ("agent_id", "occurred_at", "outcome", "why", "reason", "journal_n", "run_key")
    found: list[tuple[Any, ...]] = [
        (
            *(one["agent_id"], one["occurred_at"], "suppressed", one["rule"], one["reason"]),
            *(one["journal_n"], one["run_key"]),
        )
        for one in tables["triggers"]
        if one["fate"] == "suppressed"
    ]
    for one in tables["wakes"]:
        if one["started_at"] is None and one["ended_at"] is not None:
            why = one["code"] or f"by {one['superseded_by']}"
            spot = one["agent_id"], one["ended_at"], one["outcome"], why, one["reason"]
            found.append((*spot, None, one["run_key"]))
    found += _unnoticed(tables)
    return [dict(zip(columns, one, strict=True)) for one in found]


def _unnoticed(tables: Tables) -> set[tuple[Any, ...]]:
    taken_to: dict[str, int] = {}
    for one in tables["journal_taken"]:
        known = taken_to.get(one["journal_replica"], 0)
        taken_to[one["journal_replica"]] = max(one["last_n"], known)
    noticed = {
        (one["agent_id"], one["journal_replica"], one["journal_n"]) for one in tables["triggers"]
    }
    by_task = grouped(tables["agents"], lambda one: one["task_id"])
    found = set()
    for one in tables["task_changes"]:
        for agent in by_task.get(one["task_id"], []):
            ended = agent["destroyed_at"]
            is_late = ended is not None and one["occurred_at"] >= ended
            spot = agent["agent_id"], one["replica"], one["n"]
            if one["n"] <= agent["journal_n"] or is_late or spot in noticed:
                continue
            is_taken = one["n"] <= taken_to.get(one["replica"], 0)
            outcome = "unmatched" if is_taken else "not_noticed"
            told = agent["agent_id"], one["occurred_at"], outcome, f"changed by {one['actor']}"
            found.add((*told, "subscription", one["n"], None))
    return found


def wake_times(tables: Tables) -> Rows:
    """How the time of wakes that ended is made up, those that never waited included."""
    by_wake = grouped(tables["waits"], lambda one: one["run_key"])
    parts: dict[str, list[float]] = {}
    for one in tables["wakes"]:
        if one["duration_seconds"] is None:
            continue
        spent = {name: one[f"{name}_seconds"] for name in ("duration", "active", "waited")}
        spent |= dict.fromkeys(("provider", "budget", "other"), 0.0)
        for wait in by_wake.get(one["run_key"], []):
            reason = wait["reason"] if wait["reason"] in ("provider", "budget") else "other"
            spent[reason] += wait["seconds"] or 0.0
        for name, value in spent.items():
            parts.setdefault(name, []).append(value)
    return [
        {
            "part": name,
            "wakes": len(values),
            "above_zero": sum(one > 0 for one in values),
            "median_seconds": quantile(values, 0.5),
            "p95_seconds": quantile(values, 0.95),
            "total_seconds": round(sum(values), 6),
        }
        for name, values in parts.items()
    ]


def tokens_and_cost(tables: Tables) -> Rows:
    wakes = indexed(tables["wakes"], "run_key")
    used = grouped(
        tables["token_usage"],
        lambda one: tuple(
            wakes.get(one["run_key"], {}).get(name) for name in ("model", "template_id")
        ),
    )
    return [_used(model, template, of) for (model, template), of in used.items()]


def _used(model: str | None, template: str | None, used: Rows) -> Doc:
    return {
        "model": model or "?",
        "template_id": template,
        "turns": len(used),
        "wakes": len({one["run_key"] for one in used}),
        "unknown_turns": sum(None in (one["tokens_in"], one["tokens_out"]) for one in used),
        **{name: known_sum(one[name] for one in used) for name in TOKENS},
        "cost": known_cost(one["cost"] for one in used),
    }


def what_it_knew(tables: Tables, agent: str, at: datetime) -> Rows:
    """What an agent knew at a time."""

    def of(table: str, column: str) -> Rows:
        rows = [one for one in tables[table] if one["agent_id"] == agent]
        return [one for one in rows if one[column] is not None and one[column] <= at]

    told: list[tuple[Any, ...]] = []
    texts = {one["payload"]: one["text"] for one in tables["texts"]}
    wakes = sorted(of("wakes", "started_at"), key=lambda one: one["started_at"])
    for wake in wakes[-1:]:
        for one in tables["prompt_sections"]:
            if one["run_key"] == wake["run_key"]:
                name = f"{one['part']} {one['name']}"
                text = texts.get(one["payload"])
                told.append(("section", name, wake["started_at"], one["run_key"], text))
    for one in of("observations", "occurred_at"):
        spot = one["category"], one["occurred_at"], one["run_key"], one["text"]
        told.append(("observation", *spot))
    for one in sorted(of("reports", "current_from"), key=lambda one: one["current_from"])[-1:]:
        spot = one["one_liner"], one["current_from"], one["run_key"], one["content"]
        told.append(("report", *spot))
    for one in of("change_items", "opened_at"):
        decided = one["decided_at"]
        if decided is None or one["status"] == "deferred" or decided > at:
            spot = one["tool"], one["opened_at"], one["run_key"], one["summary"]
            told.append(("open proposal", *spot))
    columns = ("kind", "name", "since", "run_key", "text")
    return [dict(zip(columns, one, strict=True)) for one in told]
