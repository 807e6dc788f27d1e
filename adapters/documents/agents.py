"""The JSON documents about agents, wakes and proposals, as SPEC 10 fixes them.

What is not there (yet) is null; texts of the log are resolved.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from adapters.runtime import review
from adapters.wiring import Home
from domain.agent import identity
from domain.changes.change_set import Item, is_open
from domain.journal.catalog import CATALOG
from domain.tools import registry
from domain.tools.snapshot import Snapshot
from domain.world import MAIN
from projections import agents, inbox, ranks, reports, tasks, templates, wakes
from projections.agents import AgentDocument
from projections.inbox import SetDocument
from projections.wakes import WakeDocument

Document = dict[str, Any]
WAKES_SHOWN = 5  # of `agent show`, the newest


# ---------------------------------------------------------------------------------------- agents


def agent_line(agent: AgentDocument, now: str) -> Document:
    """One of the documents of `agent list`."""
    return {
        "id": agent.id,
        "name": agent.name,
        "task_id": agent.task_id,
        "kind": agent.agent_kind,
        "mode": agent.mode,
        "lifecycle": agent.lifecycle,
        "run_status": agent.run_status,
        "template_id": agent.template_id or None,
        "next_wake_at": agent.next_wake_at or None,
        "last_wake_at": agent.last_wake_at or None,
        "sleep_until": agent.sleep_until if agent.sleep_until > now else None,
        "failures": agent.failures,
        "wakes": agent.wakes,
        "stale": agent.is_stale,
        "pause_reason": agent.agent.pause_reason or None,
    }


def agent_page(home: Home, document: AgentDocument, now: str) -> Document:
    """The document of `agent show`."""
    agent = document.agent
    with home.desk.journal.reading() as world:
        categories = world.load(CATALOG, MAIN).categories
    names = {one: categories[one].name for one in categories}
    newest = home.views.page(wakes.VIEW, shelf=document.id, newest_first=True, limit=WAKES_SHOWN)
    return {
        **agent_line(document, now),
        "created_at": agent.created_at,
        "generation": agent.generation,
        "allowed_categories": [names.get(one, one) for one in agent.categories],
        "slots": {
            "primary_goal": {"version": agent.goal.version, "value": agent.goal.value or None},
            "active_task": agent.task,
            "open_loops": {"version": agent.loops_version, "values": list(agent.loops)},
            "preferences": {
                name: {"version": slot.version, "value": slot.value}
                for name, slot in sorted(agent.preferences.items())
                if slot.value
            },
            "extension": None,
        },
        "config": {
            "model": agent.model or None,
            "model_in_force": home.desk.model_name(agent),
            "model_of": _who_names_the_model(home, document),
            "turns": agent.turn_max,
            "automatic": agent.is_automatic,
        },
        "subscriptions": [
            {
                "id": one.id,
                "tokens": list(one.tokens),
                "category": names.get(one.category, one.category) or None,
                "status": one.status or None,
                "hears_agents": one.hears_agents,
                "defers_links": one.defers_propagated,
                "built_in": one.id == identity.task_subscription(agent.id),
            }
            for one in agent.subscriptions
        ],
        "timers": [
            {"id": one.id, "schedule": one.schedule, "zone": one.zone, "next_at": one.next_at}
            for one in agent.timers
        ],
        "last_wakes": [wake_document(home, wake) for wake in newest],
    }


def _who_names_the_model(home: Home, document: AgentDocument) -> str:
    """Whose the model in force is: ``template``, ``agent`` or ``home``."""
    found = home.views.get(templates.VIEW, document.template_id)
    if found is not None and found.template.model_in_force:
        return "template"
    return "agent" if document.agent.model else "home"


def all_agents(home: Home) -> list[AgentDocument]:
    """All agents that were made and not deleted, the oldest first."""
    return [one for one in home.views.page(agents.VIEW) if one.exists]


def agent_of(home: Home, agent_id: str) -> AgentDocument:
    """An agent that `pick_agent` found."""
    found = home.views.get(agents.VIEW, agent_id)
    assert found is not None, agent_id
    return found


# ----------------------------------------------------------------------------------------- wakes


def wake_document(home: Home, wake: WakeDocument) -> Document:
    """The document of `wake`, and one of those of `wakes`."""
    made = home.views.get(inbox.VIEW, wake.set_id)
    report = home.views.get(reports.VIEW, wake.run_key) if wake.has_report else None
    told = None
    if report is not None and report.agent_id:  # else only a draft: the wake has not completed
        with home.desk.agents.reading() as world:
            told = {"tldr": world.text(report.tldr), "one_liner": report.one_liner}
    agent = home.views.get(agents.VIEW, wake.agent_id)
    return {
        "run_key": wake.run_key,
        "agent_id": wake.agent_id,
        "task_id": wake.task_id or (agent.task_id if agent else None),
        "thread": wake.thread,
        "reason": wake.reason,
        "reason_id": wake.reason_id,
        "queued_at": wake.queued_at,
        "started_at": wake.started_at or None,
        "ended_at": wake.ended_at or None,
        "outcome": wake.outcome or None,
        "error": (wake.message or wake.code) or None,
        "turns": wake.turns,
        "tool_calls": wake.tool_calls,
        "proposals": len(made.items) if made else 0,
        "observations": wake.observations,
        "report": told,
        "model": wake.model or None,
        "template_version": wake.template_version or None,
        "error_code": wake.code or None,
        "state": wake.state,
        "waits_until": wake.until or None,
        "waits_for": wake.waits_for or None,
    }


def wake_of(home: Home, run_key: str) -> WakeDocument | None:
    """A wake by its whole run key."""
    return home.views.get(wakes.VIEW, run_key)


# ----------------------------------------------------------------------------------------- inbox


def ranks_of(home: Home) -> dict[str, int]:
    """What a person calls this replica's change sets by: their ranks, by id."""
    known = home.views.get(ranks.VIEW, home.desk.agents.replica)
    return {one: nth for nth, one in enumerate(known.sets, start=1)} if known else {}


def all_sets(home: Home) -> list[SetDocument]:
    """All change sets that a person was shown, the oldest first."""
    return [one for one in home.views.page(inbox.VIEW) if one.is_opened]


def expiring_sets(home: Home) -> list[str]:
    """The open change sets whose time to be decided is over."""
    now = home.desk.clock.now()
    return [one.id for one in all_sets(home) if one.is_open and "" < one.expires_at <= now]


def sets_under(
    home: Home, *tabs: str, task: str | None = None, before: str = "", limit: int = -1
) -> list[SetDocument]:
    """Change sets that have items under one of these tabs (`inbox.TABS`), the newest first.

    Args:
        home: Open, its views caught up.
        tabs: At least one.
        task: Only its.
        before: Only those whose place is lower.
        limit: How many at most; negative: all.
    """
    found = [
        one
        for mark in inbox.marks(*tabs)
        for one in home.views.page(
            inbox.VIEW, shelf=task, mark=mark, before=before, limit=limit, newest_first=True
        )
    ]
    found.sort(key=lambda one: one.place, reverse=True)
    return found[:limit] if limit >= 0 else found


def set_name(ranked: dict[str, int], set_id: str) -> str:
    """How a set is addressed: by its rank, else by the beginning of its id."""
    return str(ranked[set_id]) if set_id in ranked else set_id[:8]


def titles_of(home: Home) -> dict[str, str]:
    """The title of every task, by its id."""
    return {task.id: task.title for task in home.views.all(tasks.VIEW)}


def _titles(home: Home, task_ids: Iterable[str]) -> dict[str, str]:
    """The titles of some tasks: of ten thousand, those few that are shown."""
    found = (home.views.get(tasks.VIEW, task_id) for task_id in task_ids)
    return {task.id: task.title for task in found if task is not None}


def set_documents(home: Home, sets: Iterable[SetDocument], *, is_all: bool) -> list[Document]:
    """The documents of `inbox`.

    Args:
        home: Open, its views caught up.
        sets: Which sets.
        is_all: Their deferred and decided items too.
    """
    sets = list(sets)
    ranked, titles = ranks_of(home), _titles(home, {one.task_id for one in sets})
    now: dict[str, Snapshot] = {}
    found: list[Document] = []
    for one in sets:
        items = [item for item in one.items if is_all or item.status in ("pending", "confirming")]
        if not items:
            continue
        task = one.task_id
        if task not in now:
            now[task] = review.task_now(home.desk, task)
        name = set_name(ranked, one.id)
        found.append(
            {
                "set": ranked.get(one.id),
                "id": one.id,
                "task_id": task,
                "task_title": titles.get(task, ""),
                "agent_id": one.agent_id,
                "run_key": one.run_key,
                "created_at": one.created_at,
                "expires_at": one.expires_at or None,
                "status": one.status,
                "items": [_item(home, task, f"{name}.{i.number}", i, now[task]) for i in items],
            }
        )
    return found


def _item(home: Home, task: str, ref: str, item: Item, now: Snapshot) -> Document:
    arguments: Document = msgspec.json.decode(review.arguments_of(home.desk, item))
    return {
        "ref": ref,
        "tool": item.tool,
        "arguments": arguments,
        "summary": _summary(home, task, item, now),
        "status": item.status,
        "stale": is_open(item) and review.is_stale(home.desk, item, now),
        "fingerprint": item.fingerprint,
        "now": registry.present(item.tool, now, arguments),
        "reason": item.reason or arguments.get("reason") or None,
        "error": item.error or None,
    }


def summary_of(home: Home, set_id: str, item: Item) -> str:
    """An item in words, as edited where it was."""
    task = review.changes_of(home.desk, set_id).task
    return _summary(home, task, item, review.task_now(home.desk, task))


def _summary(home: Home, task: str, item: Item, now: Snapshot) -> str:
    """What is done already is told by the task as it was: a rename names both titles."""
    if item.arguments_now is None:
        return item.summary
    is_done = item.status == "confirmed"
    seen = review.task_before(home.desk, task, item.position) if is_done else now
    return registry.summary(item.tool, seen, review.arguments_of(home.desk, item))
