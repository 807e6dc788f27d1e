"""What people ask in one line, answered a second time: what happened, versions, costs."""

from datetime import UTC, date, datetime
from math import comb, sqrt
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.checking.logs import Doc
from tests.support.recounting.facts import Fact, Past, Rows, grouped, indexed, known_sum, when
from tests.support.recounting.views import Tables, begun, share

OF_PEOPLE = ("task", "day", "catalog", "agent", "template", "wake", "changes", "policy")
STUDENT = (4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139)
"""The 97.5 % points for 2 and more degrees of freedom, from a table."""


TIMES = tuple(
    f"task.time_{what}"
    for what in ("started", "stopped", "logged", "edited", "reopened", "removed")
)


def time_entries(past: Past) -> Rows:
    entries = grouped(past.of(*TIMES), lambda one: (one.entity, one.data["entry"]))
    return [
        _time_entry(task, entry, facts)
        for (task, entry), facts in entries.items()
        if not _is_removed(facts)
    ]


def _is_removed(facts: list[Fact]) -> bool:
    told = [one.tag.split(".")[1] for one in facts]
    return [one for one in told if one in ("time_started", "time_logged", "time_removed")][
        -1
    ] == "time_removed"


def _time_entry(task: str, entry: str, facts: list[Fact]) -> Doc:
    said: Doc = {}
    for one in facts:  # a start or an end that is left empty is as it was; a summary may go
        said |= {name: one.data[name] for name in ("start", "end") if one.data.get(name)}
        said |= {"end": None} if one.tag.startswith("task.time_reopened") else {}
        if one.data.get("summary") is not None:
            said["summary"] = one.data["summary"]
    started_at, ended_at = when(said.get("start")), when(said.get("end"))
    is_whole = started_at is not None and ended_at is not None
    return {
        "entry_id": entry,
        "task_id": task,
        "started_at": started_at,
        "ended_at": ended_at,
        "minutes": _minutes(started_at, ended_at) if is_whole else None,
        "decided_by": facts[0].data["by"],
        "summary": said.get("summary") or None,
    }


def blocks(past: Past) -> Rows:
    told = grouped(
        past.of("day.block_put", "day.block_removed"), lambda one: (one.entity, one.data["block"])
    )
    return [
        {
            "block_id": block,
            "day": date.fromisoformat(day),
            "start_time": put.data["start"],
            "end_time": put.data["end"],
            "minutes": _clock(put.data["end"]) - _clock(put.data["start"]),
            "task_id": put.data.get("task"),
            "category_id": put.data.get("category"),
            "title": put.data.get("title"),
            "decided_by": put.data["by"],
            "put_at": put.at,
        }
        for (day, block), facts in told.items()
        if (put := facts[-1]).what == "block_put"
    ]


def _clock(told: str) -> int:
    return int(told[:2]) * 60 + int(told[3:])


def planned_against_spent(tables: Tables, zone: str) -> Rows:
    found: dict[tuple[date, Any], Doc] = {}

    def of(day: date, task: Any) -> Doc:
        empty = {"day": day, "task_id": task, "planned_minutes": 0, "spent_minutes": 0.0}
        return found.setdefault((day, task), empty)

    for one in tables["blocks"]:
        if one["task_id"]:
            of(one["day"], one["task_id"])["planned_minutes"] += one["minutes"]
    for one in tables["time_entries"]:
        if one["minutes"] is not None:
            day = one["started_at"].replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).date()
            of(day, one["task_id"])["spent_minutes"] += one["minutes"]
    return [*found.values()]


def ratings(past: Past) -> Rows:
    """What each task and each time entry is worth to the person: the last of what was said."""
    told = grouped(past.of("task.rated"), lambda one: (one.entity, one.data.get("entry") or None))
    return [
        {
            "task_id": task,
            "entry_id": entry,
            "rated_at": facts[-1].at,
            "score": facts[-1].data["score"],
            "comment": facts[-1].data.get("comment") or None,
            "decided_by": facts[-1].data["by"],
        }
        for (task, entry), facts in told.items()
    ]


def _minutes(begin: Any, end: Any) -> float:
    return float((end - begin).total_seconds() / 60)


def proposals(tables: Tables) -> Rows:
    wakes, tasks = indexed(tables["wakes"], "run_key"), indexed(tables["tasks"], "task_id")
    agents = indexed(tables["agents"], "agent_id")
    templates = indexed(tables["templates"], "template_id")
    same = ("set_id", "item", "status", "tool", "summary", "opened_at", "decided_at")
    more = ("decided_by", "reason", "is_edited", "agent_id", "task_id", "run_key")
    found: Rows = []
    for one in tables["change_items"]:
        wake = wakes.get(one["run_key"], {})
        found.append(
            {
                **{name: one[name] for name in (*same, *more)},
                "task": tasks.get(one["task_id"], {}).get("title"),
                "agent": agents.get(one["agent_id"], {}).get("name"),
                "template": templates.get(wake.get("template_id"), {}).get("name"),
                "version": wake.get("template_version"),
                "model": wake.get("model"),
            }
        )
    return found


def happened(tables: Tables, day: str, zone: str) -> Rows:
    """All that people would call an event, of a day by the clock of a zone."""
    wakes, tasks = indexed(tables["wakes"], "run_key"), indexed(tables["tasks"], "task_id")
    agents, sets = indexed(tables["agents"], "agent_id"), indexed(tables["change_items"], "set_id")
    found: Rows = []
    for one in tables["events"]:
        local_at = local(one["occurred_at"], zone)
        if one["kind"] not in OF_PEOPLE or not local_at.isoformat().startswith(day):
            continue
        about = {"wake": wakes, "changes": sets}.get(one["kind"], {}).get(one["entity"], {})
        agent = agents.get(about.get("agent_id") or one["entity"], {})
        task = tasks.get(about.get("task_id") or agent.get("task_id") or one["entity"], {})
        found.append(
            {
                "local_at": local_at,
                "what": one["tag"].rpartition(".")[0],
                "decided_by": one["data"].get("by"),
                "task": task.get("title"),
                "agent": agent.get("name"),
                **{name: one[name] for name in ("log", "replica", "n", "row_n", "entity")},
            }
        )
    return found


def local(at: datetime, zone: str) -> datetime:
    return at.replace(tzinfo=ZoneInfo("UTC")).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


# --------------------------------------------------------------------------------------- versions


def fisher(k1: int, n1: int, k2: int, n2: int) -> float | None:
    """Fisher's exact test of two shares, two-sided."""
    if not n1 or not n2:
        return None
    yes = k1 + k2
    ways = {k: comb(n1, k) * comb(n2, yes - k) for k in range(max(0, yes - n2), min(n1, yes) + 1)}
    return sum(one for one in ways.values() if one <= ways[k1]) / sum(ways.values())


def compare_versions(tables: Tables, template: str, a: int, b: int) -> Doc:
    """How the acceptance of two versions differs. Items of one agent are no news of their own: the
    error is that of the agents' residuals, and the test's counts are fewer by the design effect."""
    wakes = indexed(tables["wakes"], "run_key")
    cells: dict[str, dict[int, list[bool]]] = {}
    for one in tables["change_items"]:
        wake = wakes.get(one["run_key"], {})
        version = int(wake.get("template_version") or 0)
        is_meant = wake.get("template_id") == template and version in (a, b)
        if is_meant and one["status"] in ("confirmed", "rejected"):
            cell = cells.setdefault(one["agent_id"], {a: [], b: []})
            cell[version].append(one["status"] == "confirmed")
    all_a, all_b = ([yes for cell in cells.values() for yes in cell[v]] for v in (a, b))
    rate_a, rate_b = share(sum(all_a), len(all_a)), share(sum(all_b), len(all_b))
    row = {
        "agents": len(cells),
        "agents_of_both": sum(bool(cell[a] and cell[b]) for cell in cells.values()),
        "confirmed_a": sum(all_a),
        "decided_a": len(all_a),
        "rate_a": rate_a,
        "confirmed_b": sum(all_b),
        "decided_b": len(all_b),
        "rate_b": rate_b,
        "p_if_independent": fisher(sum(all_a), len(all_a), sum(all_b), len(all_b)),
    }
    if rate_a is None or rate_b is None:
        return {**row, "difference": None, "low": None, "high": None, "design_effect": 1.0}
    residuals = [
        sum(yes - rate_b for yes in cell[b]) / len(all_b)
        - sum(yes - rate_a for yes in cell[a]) / len(all_a)
        for cell in cells.values()
    ]
    m = len(cells)
    error = sqrt(m / (m - 1) * sum(one * one for one in residuals)) if m > 1 else 0.0
    plain = sqrt(rate_a * (1 - rate_a) / len(all_a) + rate_b * (1 - rate_b) / len(all_b))
    effect = max(1.0, (error / plain) ** 2) if plain and error else 1.0
    fewer = [round(one / effect) for one in (sum(all_a), len(all_a), sum(all_b), len(all_b))]
    spread = STUDENT[m - 3] * error if 2 < m < 12 and error else None
    difference = rate_b - rate_a
    return {
        **row,
        "difference": difference,
        "low": None if spread is None else difference - spread,
        "high": None if spread is None else difference + spread,
        "design_effect": effect,
        "p_value": fisher(fewer[0], fewer[1], fewer[2], fewer[3]),
    }


# ------------------------------------------------------------------------------------------ costs


def cost_per_confirmed_change(tables: Tables, dimension: str) -> Rows:
    used = grouped(tables["token_usage"], lambda one: one["run_key"])
    items = grouped(tables["change_items"], lambda one: one["run_key"])

    def side(wake: Doc) -> Any:
        if dimension != "version":
            return wake[{"model": "model"}.get(dimension, f"{dimension}_id")]
        is_one = wake["template_id"] and wake["template_version"]
        return f"{wake['template_id']} v{wake['template_version']}" if is_one else None

    return [
        _cost(value, wakes, used, items) for value, wakes in grouped(begun(tables), side).items()
    ]


def _cost(value: Any, wakes: Rows, used: Doc, items: Doc) -> Doc:
    costs = [_paid(used.get(one["run_key"], [])) for one in wakes]
    shown = [item for one in wakes for item in items.get(one["run_key"], []) if item["opened_at"]]
    confirmed = sum(one["status"] == "confirmed" for one in shown)
    known = [one for one in costs if one is not None]
    cost = round(sum(known), 9) if len(known) == len(costs) else None
    return {
        "value": value,
        "wakes": len(wakes),
        "unknown_wakes": len(costs) - len(known),
        "cost": cost,
        "proposed": len(shown),
        "confirmed": confirmed,
        "cost_per_confirmed": cost / confirmed if cost is not None and confirmed else None,
    }


def _paid(answers: Rows) -> float | None:
    """What a wake cost; nothing where no model has answered."""
    cost: float | None = known_sum(one["cost"] for one in answers)
    return cost if answers else 0.0
