"""The standing questions answered a second time, from the tables that were counted."""

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from math import floor, sqrt
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.checking.logs import Doc
from tests.support.recounting.entities import seconds
from tests.support.recounting.facts import Rows, grouped, indexed, known_sum

Tables = Mapping[str, Rows]
Z = 1.959963985
DECIDED = ("confirmed", "rejected")
UNDECIDED = ("pending", "confirming", "deferred")


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def wilson(k: int, n: int) -> tuple[float | None, float | None]:
    """Ends of the 95 % interval of k in n, by Wilson's formula."""
    if n == 0:
        return None, None
    p = k / n
    middle = p + Z * Z / (2 * n)
    spread = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    whole = 1 + Z * Z / n
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


def quantile(values: Iterable[float], at: float) -> float | None:
    """Between the two nearest of the sorted values, in proportion."""
    found = sorted(values)
    if not found:
        return None
    spot = at * (len(found) - 1)
    low = floor(spot)
    high = min(low + 1, len(found) - 1)
    return found[low] + (found[high] - found[low]) * (spot - low)


def taken(rows: Iterable[Doc], begin: str, end: str) -> list[float]:
    """Seconds from the one to the other, of rows that have both."""
    found = (seconds(one[begin], one[end]) for one in rows)
    return [one for one in found if one is not None]


def mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def begun(tables: Tables) -> Rows:
    return [one for one in tables["wakes"] if one["started_at"] is not None]


def outcomes(wakes: Rows) -> Doc:
    """The columns that all series of wakes have."""
    done = sum(one["outcome"] == "completed" for one in wakes)
    failed = sum(one["outcome"] == "failed" for one in wakes)
    return {
        "total_wakes": len(wakes),
        "success_count": done,
        "failure_count": failed,
        "success_rate": share(done, done + failed) or 0.0,
        "average_duration_seconds": mean(
            one for one in taken(wakes, "started_at", "ended_at") if one > 0
        ),
    }


def _span(wakes: Rows) -> Doc:
    started = [one["started_at"] for one in wakes]
    first, last = min(started, default=None), max(started, default=None)
    return {"first_wake_at": first, "last_wake_at": last}


# ------------------------------------------------------------------------------------ templates


def template_performance(tables: Tables) -> Rows:
    ran = grouped(begun(tables), lambda one: one["template_id"])
    living = grouped(tables["agents"], lambda one: one["template_id"])
    decided = grouped(_with_wakes(tables), lambda one: one["wake"].get("template_id"))
    names = {one["template_id"]: one["name"] for one in tables["templates"]}
    return [
        _performance(
            template, names, ran.get(template, []), living.get(template, []), decided.get(template)
        )
        for template in dict.fromkeys((*names, *ran, *living))
    ]


def _performance(
    template: str | None, names: Mapping[Any, str], wakes: Rows, agents: Rows, items: Rows | None
) -> Doc:
    completed = [one for one in wakes if one["outcome"] == "completed"]
    settled = [one for one in items or [] if one["status"] in DECIDED and one["wake"]]
    confirmed = sum(one["status"] == "confirmed" for one in settled)
    waited = taken(settled, "opened_at", "decided_at")
    names_of = ("tokens_in", "tokens_out", "tokens_thought")
    tokens = [known_sum(one[name] for name in names_of) for one in wakes]
    active = [one for one in agents if one["lifecycle"] == "active" and not one["is_deleted"]]
    return {
        "template_id": template,
        "template_name": names.get(template),
        **outcomes(wakes),
        **_span(wakes),
        "active_instance_count": len(active),
        "skipped_count": sum(one["outcome"] == "skipped" for one in wakes),
        "running_count": sum(one["outcome"] is None for one in wakes),
        "confirmed_items": confirmed,
        "decided_items": len(settled),
        "acceptance_rate": share(confirmed, len(settled)),
        "median_seconds_to_decision": median(waited) if waited else None,
        "tokens_per_wake": mean(one for one in tokens if one is not None),
        "noop_rate": share(sum(bool(one["is_noop"]) for one in wakes), len(completed)),
        **_times(wakes),
        "cost_per_wake": mean(one["cost"] for one in wakes if one["cost"] is not None),
    }


def _times(wakes: Rows) -> Doc:
    """How long wakes took, and of that what they did not wait."""
    took = [one["duration_seconds"] for one in wakes if one["duration_seconds"] is not None]
    active = [one["active_seconds"] for one in wakes if one["active_seconds"] is not None]
    return {
        "median_duration_seconds": quantile(took, 0.5),
        "p95_duration_seconds": quantile(took, 0.95),
        "median_active_seconds": quantile(active, 0.5),
        "p95_active_seconds": quantile(active, 0.95),
        "waited_seconds": round(sum(one["waited_seconds"] for one in wakes), 6),
    }


def _with_wakes(tables: Tables) -> Rows:
    wakes = indexed(tables["wakes"], "run_key")
    return [{**one, "wake": wakes.get(one["run_key"], {})} for one in tables["change_items"]]


def local_day(at: datetime, zone: str) -> date:
    return at.replace(tzinfo=ZoneInfo("UTC")).astimezone(ZoneInfo(zone)).date()


def _by_day(rows: Rows, column: str, zone: str) -> list[tuple[date, Rows]]:
    """Rows by their day, days without any included."""
    found = grouped(rows, lambda one: local_day(one[column], zone))
    if not found:
        return []
    first, last = min(found), max(found)
    days = (first + timedelta(days=nth) for nth in range((last - first).days + 1))
    return [(day, found.get(day, [])) for day in days]


def wake_series_of(tables: Tables, template: str | None, zone: str) -> Rows:
    wakes = [one for one in begun(tables) if template in (None, one["template_id"])]
    return [{"day": day, **outcomes(of)} for day, of in _by_day(wakes, "started_at", zone)]


def version_series(tables: Tables) -> Rows:
    told = [one for one in begun(tables) if one["template_id"] is not None]
    by_version = grouped(told, lambda one: (one["template_id"], one["template_version"]))
    return [
        {"template_id": template, "version": version, **outcomes(wakes), **_span(wakes)}
        for (template, version), wakes in by_version.items()
    ]


def resolution_time(tables: Tables) -> Rows:
    changed = grouped(tables["task_changes"], lambda one: one["task_id"])
    found: Rows = []
    for agent in tables["agents"]:
        ends = [
            one
            for one in changed.get(agent["task_id"], [])
            if one["what"] == "status_set"
            and one["value"] in ("DONE", "REJECTED")
            and one["occurred_at"] >= agent["created_at"]
        ]
        if ends:
            first = min(ends, key=lambda one: one["occurred_at"])
            columns = ("agent_id", "task_id", "template_id", "created_at")
            row = {name: agent[name] for name in columns}
            row |= {"resolved_at": first["occurred_at"], "status": first["value"]}
            took = seconds(agent["created_at"], first["occurred_at"])
            found.append({**row, "seconds": took})
    return found


def resolution_series_of(tables: Tables, zone: str) -> Rows:
    return [
        {
            "day": day,
            "resolved": len(of),
            "average_seconds": mean(one["seconds"] for one in of),
        }
        for day, of in _by_day(resolution_time(tables), "resolved_at", zone)
    ]


# ------------------------------------------------------------------------------------ proposals


def acceptance(tables: Tables) -> Rows:
    categories = {one["id"]: one["name"] for one in tables["names"] if one["kind"] == "category"}
    tasks = {one["task_id"]: one["category_id"] for one in tables["tasks"]}
    sides: dict[tuple[str, Any], Rows] = {}
    for one in _with_wakes(tables):
        if one["opened_at"] is None:
            continue
        template, version = (one["wake"].get(name) for name in ("template_id", "template_version"))
        is_versioned = template is not None and version is not None
        values = {
            "tool": one["tool"],
            "template": template,
            "version": f"{template} v{version}" if is_versioned else None,
            "model": one["wake"].get("model"),
            "category": categories.get(tasks.get(one["task_id"], "") or _proposed_for(one)),
        }
        for side in values.items():
            sides.setdefault(side, []).append(one)
    return [
        {"dimension": dimension, "value": value, **fates(items)}
        for (dimension, value), items in sides.items()
    ]


def _proposed_for(item: Doc) -> str:
    """The category that a task is proposed for; of another proposal empty."""
    return str(json.loads(item["arguments"])["category"]) if item["tool"] == "create_task" else ""


def fates(items: Rows) -> Doc:
    """How many items became what."""
    statuses = [one["status"] for one in items]
    confirmed, rejected = (statuses.count(one) for one in DECIDED)
    low, high = wilson(confirmed, confirmed + rejected)
    return {
        "proposed": len(items),
        "confirmed": confirmed,
        "rejected": rejected,
        "decided": confirmed + rejected,
        "undecided": sum(one in UNDECIDED for one in statuses),
        "retracted": statuses.count("retracted"),
        "expired": statuses.count("expired"),
        "edited": sum(one["status"] == "confirmed" and one["is_edited"] for one in items),
        "acceptance_rate": share(confirmed, confirmed + rejected),
        "low": low,
        "high": high,
    }


def rejection_reasons(tables: Tables) -> Rows:
    """Without its example: of several that were decided at once any is right."""
    told = [one for one in tables["change_items"] if one["status"] == "rejected"]
    by_reason = grouped(told, lambda one: (one["tool"], one["reason"]))
    return [
        {
            "tool": tool,
            "reason": reason,
            "rejected": len(items),
            "last_at": max(one["decided_at"] for one in items),
        }
        for (tool, reason), items in by_reason.items()
    ]


def time_to_decision(tables: Tables) -> Rows:
    told = [one for one in tables["change_items"] if one["status"] in DECIDED]
    return [
        {
            "tool": tool,
            "decided": len(items),
            "median_seconds": quantile(taken(items, "opened_at", "decided_at"), 0.5),
            "p90_seconds": quantile(taken(items, "opened_at", "decided_at"), 0.9),
            "p95_seconds": quantile(taken(items, "opened_at", "decided_at"), 0.95),
        }
        for tool, items in grouped(told, lambda one: one["tool"]).items()
    ]


def open_proposals(tables: Tables, at: datetime | None = None) -> Rows:
    """Those that are open now, and how long they had waited at a time."""
    at = at or max(one["occurred_at"] for one in tables["events"])
    same = ("set_id", "item", "agent_id", "task_id", "run_key", "tool", "summary", "status")
    return [
        {
            **{name: one[name] for name in (*same, "opened_at")},
            "waiting_seconds": seconds(one["opened_at"], at),
        }
        for one in tables["change_items"]
        if one["status"] in UNDECIDED and one["opened_at"] and one["opened_at"] <= at
    ]


def repeated_proposals(tables: Tables) -> Rows:
    told = [one for one in tables["change_items"] if one["agent_id"] is not None]
    same = grouped(told, lambda one: (one["agent_id"], one["fingerprint"]))
    found: Rows = []
    for (agent, fingerprint), all_of in same.items():
        if len(all_of) < 2:
            continue
        for task, items in grouped(all_of, lambda one: one["task_id"]).items():
            ordered = sorted(
                items, key=lambda one: (one["proposed_at"], one["set_id"], one["item"])
            )
            found.append(
                {
                    "agent_id": agent,
                    "task_id": task,
                    "fingerprint": fingerprint,
                    "tool": ordered[0]["tool"],
                    "times": len(items),
                    "statuses": [one["status"] for one in ordered],
                    "first_at": ordered[0]["proposed_at"],
                    "last_at": ordered[-1]["proposed_at"],
                }
            )
    return found
