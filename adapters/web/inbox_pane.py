"""What stands beside the list of the inbox: one proposal, with its task and report as they are."""

import re

from msgspec import Struct

from adapters.actions.proposals import pick_item
from adapters.documents.ranks import ranks_of
from adapters.documents.tasks import task_page
from adapters.web.asking import missing
from adapters.web.inbox import Card, CardItem
from adapters.web.reports import ReportPart, report_of
from adapters.web.site import Site
from domain.changes.change_set import find
from domain.journal.document import TaskLine, task_line
from projections import inbox

OPEN_ITEMS_SHOWN = 6
_NAMED = re.compile(r"[0-9a-z-]{1,64}\.[0-9]{1,5}")


class TaskNow(Struct, frozen=True):
    """A task as it is now; `open_items` are the first that are not checked."""

    line: TaskLine
    description: str
    open_items: list[str]
    is_deleted: bool


class Pane(Struct, frozen=True):
    """A proposal with what a person decides by. `is_asked`: the address names it, so it is shown
    on a narrow screen, too."""

    item: CardItem
    card: Card
    task: TaskNow
    report: ReportPart | None
    is_asked: bool


def named(site: Site, ref: str) -> tuple[str, int]:
    """A set's id and the number of its item, of a reference SET.ITEM; one of another
    machine is ``LABEL/RANK.ITEM``.

    Raises:
        Refused: Code ``unknown_item`` or one of `pick_item`.
    """
    ranked = ranks_of(site.home)
    name = ref.rpartition(".")[0]  # a machine may be called by a name with a point
    is_others = name.lower() in map(str.lower, ranked.others.values())
    if not is_others and not _NAMED.fullmatch(ref):
        raise missing("unknown_item", "proposal", ref)
    is_rank = is_others or (name.isdigit() and int(name) <= len(ranked))
    if not is_rank and not site.home.views.page(inbox.VIEW, prefix=name, limit=1):
        raise missing("unknown_item", "proposal", ref)
    set_id, number = pick_item(site.home, ref, ranked)
    known = site.home.views.get(inbox.VIEW, set_id)
    if known is None or find(known.changes, number) is None:
        raise missing("unknown_item", "proposal", ref)
    return set_id, number


def pane_of(site: Site, card: Card, *, is_asked: bool) -> Pane:
    """One proposal with its task as it is now, and what its agent reports."""
    (item,) = card.items
    page = task_page(site.home, card.task_id)
    open_items = [one.title for one in page.task.items if not (one.is_checked or one.is_archived)]
    return Pane(
        item,
        card,
        TaskNow(
            task_line(page.task, page.catalog, page.agent_id),
            page.text(page.task.description),
            open_items[:OPEN_ITEMS_SHOWN],
            page.task.is_deleted,
        ),
        report_of(site, card.agent_id),
        is_asked,
    )
