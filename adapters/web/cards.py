"""What a card tells besides the sentence of its proposal: what a follow-up is made of, which other
task is meant, and a time by its day of the week."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import msgspec
from msgspec import Struct

from adapters.actions.deciding import arguments_of
from adapters.documents.inbox import InboxItem, value_before
from adapters.documents.tasks import titles_among
from adapters.web import editing
from adapters.web.site import Site
from adapters.web.words import local, weekday
from domain.changes.change_set import Item
from domain.changes.needs import FOLLOW_UP_TOOL, follow_up_id
from domain.journal.fold import TASK
from domain.journal.links import LINKS
from domain.tools.base import quoted
from projections.inbox import SetDocument

TIMED = ("edit_time_entry", "log_time")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?= [0-9]{2}:[0-9]{2})")


class Told(Struct, frozen=True):
    """What a card tells besides. `headline` stands for the summary and `now` for its value,
    `details` are names and values, `carried` the titles of the items that go with a follow-up;
    `task_id` and `title`: the other task, if it is there; `can_conclude`: the task is open, and
    its confirmation may end it."""

    headline: str
    now: str | None
    details: list[tuple[str, str]] = []
    carried: list[str] = []
    task_id: str = ""
    title: str = ""
    can_conclude: bool = False


class Proposed(Struct, frozen=True):
    """A proposal that a person edited: the value before, and what was proposed, in words."""

    was: str | None
    summary: str


def line_of(tool: str, arguments: Mapping[str, Any], told: Told) -> str:
    """A proposal in a few words; of a value the old one and the new one.

    >>> line_of("update_task_due_date", {"dueDate": "2026-06-10"}, Told("Set due", "2026-06-05"))
    'Due 2026-06-05 → 2026-06-10'
    >>> line_of("add_checklist_item", {"title": "Buy a seal"}, Told('Add item "Buy a seal"', None))
    'Add item "Buy a seal"'
    """
    if tool not in LINES or told.now is None:
        return told.headline
    label, name = LINES[tool]
    after = arguments.get(name, "")
    unit = {"minutes": " minute" if after == 1 else " minutes"}.get(name, "")
    return f"{label} {told.now} → {after}{unit}"


LINES = {
    "set_task_status": ("Status", "status"),
    "set_task_title": ("Title", "title"),
    "update_task_due_date": ("Due", "dueDate"),
    "update_task_estimate": ("Estimate", "minutes"),
    "update_task_priority": ("Priority", "priority"),
}
"""What one value is called in a list, and the argument that holds the new one, by tool."""


def proposed_of(
    site: Site, one: SetDocument, item: Item, arguments: dict[str, Any]
) -> Proposed | None:
    """What an item was before the person edited it; None where they did not."""
    if item.arguments_now is None:
        return None
    return Proposed(value_before(site.home, one.task_id, item, arguments), item.summary)


def number_of(ref: str) -> int:
    """The number of an item in its set.

    >>> number_of("3.12")
    12
    """
    return int(ref.rpartition(".")[2])


def told_of(site: Site, one: SetDocument, item: Item, shown: InboxItem) -> Told:
    """What the card of an item tells besides its summary."""
    if item.tool == FOLLOW_UP_TOOL:
        return _follow_up(site, one, item, shown)
    if item.tool in TIMED:
        return Told(_by_weekday(site, shown.summary), _by_weekday(site, shown.now or "") or None)
    found = _titled(site, [shown.target] if shown.target else [])
    task_id, title = next(iter(found), ("", ""))
    return Told(shown.summary, shown.now, task_id=task_id, title=title)


def _follow_up(site: Site, one: SetDocument, item: Item, shown: InboxItem) -> Told:
    said = shown.arguments
    with site.home.services.journal.reading() as world:
        source = world.load(TASK, one.task_id)
    titles = {known.id: known.title for known in source.items}
    relation = str(said.get("relation") or "follows_up_on").replace("_", " ")
    details = [
        ("Due", said.get("dueDate")),
        ("Priority", said.get("priority")),
        ("Relation", f"{relation} {quoted(source.title)}"),
        ("About", said.get("description")),
    ]
    made = _titled(site, [follow_up_id(one.id, item.number)] if item.status == "confirmed" else [])
    task_id, title = next(iter(made), ("", ""))
    return Told(
        f"Create follow-up task {quoted(said['title'])}",
        shown.now,
        [(name, value) for name, value in details if value],
        [titles.get(each["id"], each["id"]) for each in said.get("carryOver", ())],
        task_id,
        title,
        can_conclude=source.is_open,
    )


def _titled(site: Site, task_ids: Iterable[str]) -> list[tuple[str, str]]:
    """Those tasks that are there, each with its title."""
    wanted = list(task_ids)
    return list(titles_among(site.home, wanted).items()) if wanted else []


def _by_weekday(site: Site, text: str) -> str:
    """A text of which each time stands with its day of the week."""
    today = local(site.now, site.zone).date()
    return _DAY.sub(lambda found: weekday(date.fromisoformat(found[0]), today), text)


def fields_of(site: Site, one: SetDocument, item: Item, shown: InboxItem) -> list[dict[str, Any]]:
    """The inputs of an item's form; another task is chosen by its title."""
    fields = editing.fields_of(item.tool, shown.arguments)
    for field in fields:
        if field["form"] == "task":
            field["choices"] = _tasks_to_choose(site, one, field["value"])
    return fields


def _tasks_to_choose(site: Site, one: SetDocument, chosen: str) -> list[tuple[str, str]]:
    """The tasks that an item may move to: the linked ones, and the follow-ups of its set."""
    made = {
        follow_up_id(one.id, other.number): other
        for other in one.items
        if other.tool == FOLLOW_UP_TOOL and other.status not in ("rejected", "retracted", "expired")
    }
    with site.home.services.journal.reading() as world:
        outgoing = [link.target for link in world.load(TASK, one.task_id).links]
        incoming = [link.source for link in world.load(LINKS, one.task_id).incoming]
    found = dict(_titled(site, dict.fromkeys([*made, *outgoing, *incoming, chosen])))
    planned = {task: _planned(site, other) for task, other in made.items()}
    return list(({chosen: chosen[:8]} | planned | found).items())


def _planned(site: Site, item: Item) -> str:
    """The title of the task that a proposal will make."""
    return str(msgspec.json.decode(arguments_of(site.home, item))["title"])
