"""Tables with one row for each task, agent, template, turn, call and report."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import pairwise
from typing import Any

from tests.support.checking.logs import Doc
from tests.support.recounting.facts import Fact, Past, Rows, grouped, known_cost, known_sum, last
from tests.support.recounting.rows import TOKENS, token_usage

LIFE = {
    "agent.created": "created",
    "agent.activated": "active",
    "agent.paused": "dormant",
    "agent.destroyed": "destroyed",
}
NEVER_ASKED = (
    *("budget", "consent", "secret", "unpriced_model", "switched_off", "out_of_scope"),
    "disallowed_provider_model",
)
CHECKED = {"task.item_checked": True, "task.item_unchecked": False}


def seconds(begin: datetime | None, end: datetime | None) -> float | None:
    """From the one to the other; None where one is not known."""
    return (end - begin).total_seconds() if begin and end else None


def tagged(facts: Iterable[Fact], *tags: str) -> list[Fact]:
    return [one for one in facts if one.tag in tags]


def first_at(facts: Iterable[Fact], *tags: str) -> datetime | None:
    return min((one.at for one in tagged(facts, *tags)), default=None)


# ------------------------------------------------------------------------------------- journal


def tasks(past: Past) -> Rows:
    of_tasks = [one for one in past.facts if one.kind == "task"]
    by_task = grouped(of_tasks, lambda one: one.entity)
    return [_task(past, task, facts) for task, facts in by_task.items()]


def _task(past: Past, task: str, facts: list[Fact]) -> Doc:
    def value(tag: str, name: str) -> Any:
        found = tagged(facts, tag)
        return found[-1].data.get(name) if found else None

    items = [one for one in _parts(facts, "item") if not _is_archived(one)]
    notes = tagged(facts, "task.note_added", "task.note_removed")
    left = {one.data["note"]: one.tag for one in notes}
    labels = tagged(facts, "task.label_assigned", "task.label_removed")
    assigned = {one.data["label"]: one.tag for one in labels}
    gone = tagged(facts, "task.deleted", "task.restored")
    created = tagged(facts, "task.created")
    due = value("task.due_set", "due")
    return {
        "task_id": task,
        "title": last(tagged(facts, "task.created", "task.retitled"), "title"),
        "status": value("task.status_set", "status") or "OPEN",
        "priority": value("task.priority_set", "priority") or "P2",
        "estimate_minutes": value("task.estimate_set", "minutes") or None,
        "due": date.fromisoformat(due) if due else None,
        "language": value("task.language_set", "language") or None,
        "repeat": value("task.repeat_set", "rule") or None,
        "wait_until": value("task.wait_set", "until") or None,
        "category_id": last(tagged(facts, "task.created", "task.category_set"), "category"),
        "labels": sorted(one for one, tag in assigned.items() if tag == "task.label_assigned"),
        "items": len(items),
        "items_checked": sum(map(_is_checked, items)),
        "notes": sum(tag == "task.note_added" for tag in left.values()),
        "created_at": first_at(facts, "task.created"),
        "created_by": created[0].data["by"] if created else None,
        "updated_at": max(one.at for one in facts),
        "is_deleted": bool(gone) and gone[-1].tag == "task.deleted",
        "description": past.said(last(facts, "description")) or None,
    }


def _parts(facts: Iterable[Fact], name: str) -> Iterator[list[Fact]]:
    named = (one for one in facts if name in one.data)
    yield from grouped(named, lambda one: one.data[name]).values()


def _is_archived(facts: list[Fact]) -> bool:
    found = tagged(facts, "task.item_archived", "task.item_restored")
    return bool(found) and found[-1].tag == "task.item_archived"


def _is_checked(facts: list[Fact]) -> bool:
    found = tagged(facts, "task.item_added", *CHECKED)
    if not found:
        return False
    return CHECKED.get(found[-1].tag, bool(found[-1].data.get("isChecked")))


def names(past: Past) -> Rows:
    found: dict[tuple[str, str], str] = {}
    named = ("category_added", "category_renamed", "label_added", "label_scoped")
    for one in past.of(*(f"catalog.{each}" for each in named)):
        kind = one.what.partition("_")[0]
        if one.data.get("name"):
            found[kind, one.data[kind]] = one.data["name"]
    return [{"kind": kind, "id": id_, "name": name} for (kind, id_), name in found.items()]


# ------------------------------------------------------------------------- agents and templates


def agents(past: Past) -> Rows:
    told = [one for one in past.facts if one.kind == "agent" and one.tag in _OF_AGENTS]
    return [_agent(agent, facts) for agent, facts in grouped(told, lambda one: one.entity).items()]


_OF_AGENTS = (
    *LIFE,
    *(f"agent.{what}" for what in ("named", "mode_set", "model_chosen", "template_assigned")),
    *(f"agent.{what}" for what in ("turn_max_set", "automation_set", "deleted")),
)


def _agent(agent: str, facts: list[Fact]) -> Doc:
    created = tagged(facts, "agent.created")
    first = created[0].data if created else {}
    models = tagged(facts, "agent.model_chosen")
    templates = tagged(facts, "agent.template_assigned")
    lives = tagged(facts, *LIFE)
    switched = tagged(facts, "agent.automation_set")
    return {
        "agent_id": agent,
        "task_id": first.get("task"),
        "agent_kind": first.get("agentKind"),
        "generation": first.get("generation"),
        "name": last(facts, "name"),
        "mode": last(facts, "mode"),
        "model": (models[-1].data.get("model") if models else None) or None,
        "template_id": (templates[-1].data.get("template") if templates else None) or None,
        "turn_max": last(facts, "turnMax", 5),
        "is_automatic": switched[-1].data.get("isOn", True) if switched else True,
        "lifecycle": LIFE[lives[-1].tag] if lives else None,
        "created_at": first_at(facts, "agent.created"),
        "journal_n": first.get("position", 0),
        "destroyed_at": first_at(facts, "agent.destroyed"),
        "is_deleted": bool(tagged(facts, "agent.deleted")),
        "subject": first.get("subject"),
    }


def templates(past: Past) -> Rows:
    told = [one for one in past.facts if one.kind == "template"]
    return [_template(one, facts) for one, facts in grouped(told, lambda one: one.entity).items()]


def _template(template: str, facts: list[Fact]) -> Doc:
    models = tagged(facts, "template.created", "template.model_set")
    categories = tagged(facts, "template.created", "template.categories_set")
    return {
        "template_id": template,
        "name": last(facts, "name"),
        "template_kind": last(facts, "agentKind"),
        "model": (models[-1].data.get("model") if models else None) or None,
        "categories": categories[-1].data.get("categories", []) if categories else None,
        "active_version": last(facts, "version"),
        "created_at": first_at(facts, "template.created"),
        "is_deleted": bool(tagged(facts, "template.deleted")),
    }


def template_versions(past: Past) -> Rows:
    active = {one["template_id"]: one["active_version"] for one in templates(past)}
    return [
        {
            "template_id": one.entity,
            "version": one.data["version"],
            "created_at": one.at,
            "author": one.data.get("author"),
            "model": one.data.get("model") or None,
            "is_active": one.data["version"] == active[one.entity],
            "general": past.said(one.data.get("general")),
            "report": past.said(one.data.get("report")),
        }
        for one in past.of("template.version_added")
    ]


# ------------------------------------------------------------------------------ inside of wakes


def turns(past: Past) -> Rows:
    told = past.of("wake.model_asked", "wake.model_answered", "wake.model_failed")
    by_turn = grouped(told, lambda one: (one.entity, one.data["turn"]))
    used = grouped(token_usage(past), lambda one: (one["run_key"], one["turn"]))
    stopped = _stopped(past)
    return [
        {
            **_turn(past, run_key, turn, facts),
            "attempts": sum(f.tag == "wake.model_asked" and f.spot not in stopped for f in facts),
            **{
                name: known_sum(one[name] for one in used.get((run_key, turn), []))
                for name in TOKENS
            },
            "cost": known_cost(one["cost"] for one in used.get((run_key, turn), [])),
        }
        for (run_key, turn), facts in by_turn.items()
    ]


def _stopped(past: Past) -> set[Any]:
    """The intents that something stopped before the model was asked: the wake's next step says."""
    steps = past.of(
        *("wake.model_asked", "wake.model_answered", "wake.model_failed"),
        *("wake.deferred", "wake.finished"),
    )
    found = set()
    for facts in grouped(steps, lambda one: one.stream).values():
        for one, after in pairwise(facts):
            why = after.data.get("reason" if after.tag == "wake.deferred" else "code")
            if after.tag in ("wake.deferred", "wake.finished") and why in NEVER_ASKED:
                found.add(one.spot)
    return found


def _turn(past: Past, run_key: str, turn: int, facts: list[Fact]) -> Doc:
    asked = tagged(facts, "wake.model_asked")
    failed = tagged(facts, "wake.model_failed")
    answers = tagged(facts, "wake.model_answered")
    answer = answers[0].data if answers else {}
    asked_at, answered_at = (first_at(one, *(f.tag for f in one)) for one in (asked, answers))
    return {
        "run_key": run_key,
        "turn": turn,
        "asked_at": asked_at,
        "answered_at": answered_at,
        "latency_seconds": seconds(asked_at, answered_at),
        "failures": len(failed),
        "failure_code": last(failed, "code"),
        "forced": last(asked, "forced") or None,
        "calls": len(answer.get("calls", [])) if answers else None,
        "reply": answer.get("reply"),
        "text": past.said(answer.get("text")) or None,
    }


def waits(past: Past) -> Rows:
    """Each wait of a wake that began: until the next that its replica wrote of it."""
    begun = {one.entity for one in past.of("wake.started")}
    steps = (one for one in past.facts if one.kind == "wake" and one.tag != "wake.late_reply")
    found: Rows = []
    for facts in grouped(steps, lambda one: one.stream).values():
        for one, after in zip(facts, (*facts[1:], None), strict=True):
            if one.tag != "wake.deferred" or one.entity not in begun:
                continue
            ended_at = after.at if after else None
            found.append(
                {
                    "run_key": one.entity,
                    "reason": one.data.get("reason"),
                    "since": one.at,
                    "ended_at": ended_at,
                    "seconds": seconds(one.at, ended_at),
                }
            )
    return found


def tool_calls(past: Past) -> Rows:
    told = list(past.of("wake.tool_asked", "wake.tool_returned"))
    by_turn = grouped(told, lambda one: (one.entity, one.data["turn"]))
    found: Rows = []
    for answer in past.of("wake.model_answered"):
        facts = by_turn.get((answer.entity, answer.data["turn"]), [])
        returned = tagged(facts, "wake.tool_returned")
        settled = {one.data.get("operation") for one in returned}
        open_ones = [
            one
            for one in tagged(facts, "wake.tool_asked")
            if one.data["operation"] not in settled and one.data["attempt"] == 1
        ]
        results = [*returned, *open_ones]  # calls are done in order, so the next one is open
        for nth, call in enumerate(answer.data.get("calls", [])):
            result = results[nth] if nth < len(results) else None
            found.append(_call(past, answer, nth + 1, call, result, facts))
    return found


def _call(
    past: Past, answer: Fact, nth: int, call: Doc, result: Fact | None, facts: list[Fact]
) -> Doc:
    done = result.data if result and result.tag == "wake.tool_returned" else None
    operation = result.data.get("operation") if result else None
    asked = [
        one
        for one in tagged(facts, "wake.tool_asked")
        if operation and one.data["operation"] == operation
    ]
    return {
        "run_key": answer.entity,
        "turn": answer.data["turn"],
        "ordinal": nth,
        "call_id": call.get("callId"),
        "called": call.get("tool"),
        "tool": (result.data.get("tool") if result else None) or call.get("tool"),
        "arguments": past.said(call.get("arguments")),
        "problem": call.get("problem") or None,
        "operation": operation if asked else None,
        "attempts": max((one.data["attempt"] for one in asked), default=0),
        "asked_at": min((one.at for one in asked), default=None),
        "returned_at": result.at if done is not None and result else None,
        "status": done.get("status") if done else None,
        "code": done.get("code") or None if done else None,
        "message": past.said(done.get("message")) if done else None,
        "changed": len(done.get("changed", [])) if done else 0,
        "journal_n": done.get("position") if done and not done.get("agentPosition") else None,
        "action_type": next((f.data["actionType"] for f in asked if "actionType" in f.data), None),
    }


def reports(past: Past) -> Rows:
    started = {one.entity: one.data for one in past.of("wake.started")}
    finished: dict[str, datetime] = {}
    for one in past.of("wake.finished"):
        if one.data.get("outcome") == "completed":
            finished.setdefault(one.entity, one.at)  # of two replicas the first
    drafts = {one.entity: one for one in past.of("wake.report_drafted")}
    return [
        {
            "run_key": run_key,
            "agent_id": started.get(run_key, {}).get("agent"),
            "task_id": started.get(run_key, {}).get("task"),
            "drafted_at": draft.at,
            "current_from": finished.get(run_key),
            "one_liner": draft.data.get("oneLiner"),
            "tldr": past.said(draft.data.get("tldr")),
            "content": past.said(draft.data.get("content")),
        }
        for run_key, draft in drafts.items()
    ]
