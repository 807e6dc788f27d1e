"""What a card of the inbox tells, and what of its proposal may be changed before a verdict.

Which fields these are stands in the tool's record, how they are asked for follows from its
arguments.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import Struct

from adapters.documents.inbox import InboxItem
from adapters.documents.tasks import titles_among
from adapters.usecases.proposals import arguments_of
from adapters.web.filters import local, weekday
from adapters.web.http_types import in_lines, whole
from adapters.web.site import Site
from domain.changes.change_set import ChangeItem
from domain.changes.dependencies import CREATE_TOOL, FOLLOW_UP_TOOL, follow_up_id
from domain.errors import invalid
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.tools import registry
from domain.tools.arguments import rules
from domain.tools.base import quoted
from projections.inbox import SetDocument

PREFIX = "edit."


def edit_fields_of(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The inputs of an item's form, filled with what is proposed."""
    if tool not in registry.CHANGES:
        return []
    shape, effect = registry.CHANGES[tool]
    schema = rules(shape)
    types = {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
    found = []
    for name, label in effect.form.items():
        rule = schema["properties"][name]
        form = _form(rule)
        most = rule.get("maximum", rule.get("maxLength"))
        found.append(
            {
                "name": PREFIX + name,
                "label": label,
                "form": form,
                "most": most if form in ("text", "long", "number") else None,
                "choices": _choices(types[name]) if form == "choice" else [],
                "needed": name in schema["required"],
                "value": arguments.get(name, ""),
            }
        )
    return found


def _choices(hint: object) -> list[str]:
    """The values of a choice as its type names them: a schema has them sorted."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [choice for one in get_args(hint) for choice in _choices(one)]


def _form(rule: Mapping[str, Any]) -> str:
    """``number``, ``choice``, ``date``, ``time``, ``label``, ``task``, ``text`` or ``long``."""
    if rule["type"] == "integer":
        return "number"
    if "enum" in rule:
        return "choice"
    return _FORMS.get(rule["x-clean"], "text")


_FORMS = {"date": "date", "label": "label", "local_time": "time", "id": "task", "text": "long"}


def edited(tool: str, arguments: dict[str, Any], form: Mapping[str, str]) -> dict[str, Any] | None:
    """The arguments as the form says them, or Refused; None where it says what was proposed."""
    after = dict(arguments)
    for field in edit_fields_of(tool, arguments):
        given = form.get(field["name"])
        if given is None:
            continue
        name, value = field["name"].removeprefix(PREFIX), _read(field["form"], given)
        if value in ("", None):
            after.pop(name, None)
        else:
            after[name] = value
    return None if after == arguments else after


def _read(form: str, given: str) -> str | int:
    told = in_lines(given).strip()
    if form != "number" or not told:
        return told
    if (number := whole(told)) is None:
        raise invalid(f"{told[:20]!r} is no number", "write digits, 45 for example")
    return number


# ----------------------------------------------------------------------------------------- the card
# What a card tells besides the sentence of its proposal: what a follow-up is made of, which other
# task is meant, and a time by its day of the week.

TIMED = ("edit_time_entry", "log_time")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?= [0-9]{2}:[0-9]{2})")


class CardDetails(Struct, frozen=True):
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


class ProposedBefore(Struct, frozen=True):
    """A proposal that a person edited: the value before, and what was proposed, in words."""

    was: str | None
    summary: str


def line_of(tool: str, arguments: Mapping[str, Any], told: CardDetails) -> str:
    """A proposal in a few words; of a value the old one and the new one.

    >>> told = CardDetails("Set due", "2026-06-05")
    >>> line_of("update_task_due_date", {"dueDate": "2026-06-10"}, told)
    'Due 2026-06-05 → 2026-06-10'
    >>> told = CardDetails('Add item "Buy a seal"', None)
    >>> line_of("add_checklist_item", {"title": "Buy a seal"}, told)
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


def proposed_of(item: ChangeItem, told: InboxItem) -> ProposedBefore | None:
    """What an item was before the person edited it; None where they did not."""
    return None if item.arguments_now is None else ProposedBefore(told.now, item.summary)


def number_of(ref: str) -> int:
    """The number of an item in its set.

    >>> number_of("3.12")
    12
    """
    return int(ref.rpartition(".")[2])


def told_of(site: Site, one: SetDocument, item: ChangeItem, shown: InboxItem) -> CardDetails:
    """What the card of an item tells besides its summary."""
    if item.tool == FOLLOW_UP_TOOL:
        return _follow_up(site, one, item, shown)
    if item.tool == CREATE_TOOL:
        return _new_task(site, one, item, shown)
    if item.tool in TIMED:
        return CardDetails(
            _by_weekday(site, shown.summary), _by_weekday(site, shown.now or "") or None
        )
    found = _titled(site, [shown.target] if shown.target else [])
    task_id, title = next(iter(found), ("", ""))
    headline = shown.summary
    if title and {"start", "end"} <= shown.arguments.keys():  # a block: its set names the day
        headline = f"{shown.arguments['start']}-{shown.arguments['end']} {title}"
    return CardDetails(headline, shown.now, task_id=task_id, title=title)


def _follow_up(site: Site, one: SetDocument, item: ChangeItem, shown: InboxItem) -> CardDetails:
    said = shown.arguments
    with site.home.services.journal.reading() as world:
        source = world.load(TASK, one.task_id)
    titles = {known.id: known.title for known in source.items}
    relation = str(said.get("relation") or "follows_up_on").replace("_", " ")
    return CardDetails(
        f"Create follow-up task {quoted(said['title'])}",
        shown.now,
        _details(said, "Relation", f"{relation} {quoted(source.title)}"),
        [titles.get(each["id"], each["id"]) for each in said.get("carryOver", ())],
        *_made(site, one, item),
        can_conclude=source.is_open,
    )


def _new_task(site: Site, one: SetDocument, item: ChangeItem, shown: InboxItem) -> CardDetails:
    said = shown.arguments
    minutes = said.get("estimateMinutes")
    return CardDetails(
        f"Create task {quoted(said['title'])}",
        shown.now,
        _details(said, "Estimate", f"{minutes} minutes" if minutes else ""),
        [each["title"] for each in said.get("items", ())],
        *_made(site, one, item),
    )


def _details(said: Mapping[str, Any], name: str, value: str) -> list[tuple[str, str]]:
    """What is said of a task that is to be made, with one thing more."""
    known = [("Due", "dueDate"), ("Priority", "priority"), ("About", "description")]
    told = [(label, said.get(field)) for label, field in known]
    told.insert(2, (name, value))
    return [(label, text) for label, text in told if text]


def _made(site: Site, one: SetDocument, item: ChangeItem) -> tuple[str, str]:
    """The task that a confirmed item made, and its title; empty where there is none."""
    made = _titled(site, [follow_up_id(one.id, item.number)] if item.status == "confirmed" else [])
    return next(iter(made), ("", ""))


def _titled(site: Site, task_ids: Iterable[str]) -> list[tuple[str, str]]:
    """Those tasks that are there, each with its title."""
    wanted = list(task_ids)
    return list(titles_among(site.home, wanted).items()) if wanted else []


def _by_weekday(site: Site, text: str) -> str:
    """A text of which each time stands with its day of the week."""
    today = local(site.now, site.zone).date()
    return _DAY.sub(lambda found: weekday(date.fromisoformat(found[0]), today), text)


def fields_of(
    site: Site, one: SetDocument, item: ChangeItem, shown: InboxItem
) -> list[dict[str, Any]]:
    """The inputs of an item's form; another task is chosen by its title."""
    fields = edit_fields_of(item.tool, shown.arguments)
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
    planned = {
        task: str(msgspec.json.decode(arguments_of(site.home, other))["title"])
        for task, other in made.items()
    }
    return list(({chosen: chosen[:8]} | planned | found).items())
