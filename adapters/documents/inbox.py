"""The JSON documents of the inbox, as SPEC 10 fixes them, and what finds change sets.

What is not there (yet) is null. Times are RFC 3339 in UTC. The keys stand in the order of the
fields.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.members import Members
from adapters.documents.ranks import SET_SHOWN, Ranks, ranks_of
from adapters.documents.tasks import catalog_of, titles_among
from adapters.documents.wakes import state_of
from adapters.home import local_times
from adapters.runtime import review
from adapters.wiring import Home
from domain.agent.agent import category_in, template_in
from domain.agent.clients import client_named
from domain.changes.change_set import (
    REPLACED,
    ChangeItem,
    ChangeSet,
    is_open,
    is_waiting,
    was_taken_back,
)
from domain.changes.dependencies import dependency_of, target_of
from domain.judging import DECIDED_LEAST, TELLING, sign_test
from domain.log.timestamps import is_date
from domain.tools import followups, registry
from domain.tools.base import quoted
from domain.tools.improving import PROPOSE, changed_lines
from domain.tools.snapshot import Snapshot
from projections import inbox, rehearsals, templates, wakes
from projections.inbox import SetDocument

Shows = Callable[[SetDocument, ChangeItem], bool]
"""Which items of a set are shown; the others are not read."""


class DiffLine(Struct, frozen=True):
    """A line of directives that is new (``+``), or that goes (``-``). `of`: ``general``, how to
    work, or ``report``."""

    of: str
    sign: str
    text: str


class ArmDetails(Struct, frozen=True):
    """What became of decided proposals in one arm of a rehearsal, and how many were new there."""

    kept: int
    lost: int
    avoided: int
    repeated: int
    new: int


class RehearsedDetails(Struct, frozen=True):
    """How a wording did on past wakes (`tried`), beside what was in force on the same ones.
    `told_apart`: whether the two differ by more than chance; `too_few` were decided to say so.
    `model`: who answered, empty of each agent's own."""

    at: str
    model: str
    wakes: int
    agents: int
    tried: ArmDetails
    in_force: ArmDetails
    told_apart: bool
    too_few: bool
    tokens: int


class InboxItem(Struct, frozen=True):
    """A proposal. `ref` names it in commands, `arguments` are those of `tool` as they stand now,
    `fingerprint` is the same for the same change. `stale`: the task has changed since in what it
    would change; `now` is the value that it would replace, null for an addition. `reason` is the
    person's, else the agent's; `error` why the last try to apply it failed. `because`: the words
    that it rests on, as the agent quoted them; `because_at`: where they stand in what it was
    shown (see `place_told`), null where they do not. `target` is the id of the other task that it
    names, there already or not; `needs` the item that makes that task. `until`: when one
    that was put off waits again, null where it does not of itself. `undone`: it was confirmed, and
    taken back. `who`: the member of a home of several people who decided so. `diff`: of directives,
    line by line, null of anything else; `rehearsed`: how they did on past wakes, the last time they
    were tried."""

    ref: str
    tool: str
    arguments: dict[str, Any]
    summary: str
    status: str
    stale: bool
    fingerprint: str
    now: str | None
    reason: str | None
    error: str | None
    because: str | None
    because_at: str | None
    target: str | None
    needs: str | None
    until: str | None
    undone: bool
    who: str | None
    diff: list[DiffLine] | None
    rehearsed: RehearsedDetails | None


class SubjectDetails(Struct, frozen=True):
    """What a change set is about: ``task``, ``category``, ``template``, or ``day``, whose `id` is
    its date."""

    kind: Literal["task", "day", "category", "template"]
    id: str
    title: str

    @property
    def path(self) -> str:
        """Its page."""
        if self.kind == "category":
            return f"/tasks?category={self.id}"
        return f"/{self.kind if self.kind == 'day' else f'{self.kind}s'}/{self.id}"


class InboxSet(Struct, frozen=True):
    """A change set: what one wake proposed for its task, or for a day, which leaves the task empty.
    `set` is the number that a person calls it by, null for one of another replica. `by`: the client
    that proposed it without being asked, ``claude (mcp)``, and what it `said`; null of an agent."""

    set: int | None
    id: str
    task_id: str
    task_title: str
    agent_id: str
    run_key: str
    created_at: str
    expires_at: str | None
    status: str
    items: Sequence[InboxItem]
    subject: SubjectDetails
    by: str | None
    said: str | None


def subject_of(one: SetDocument, titles: Mapping[str, str]) -> SubjectDetails:
    """What a set is about; `titles`: of tasks and categories, see `titles_of`."""
    if one.task_id:
        return SubjectDetails("task", one.task_id, titles.get(one.task_id, ""))
    if category := category_in(one.about):
        return SubjectDetails("category", category, titles.get(category, category))
    if template := template_in(one.about):
        return SubjectDetails("template", template, titles.get(template, template))
    told = date.fromisoformat(one.day) if is_date(one.day) else None
    named = f"{told:%a} {one.day}" if told else "a day"
    return SubjectDetails("day", one.day, f"Plan for {named}")


def titles_of(home: Home, sets: Iterable[SetDocument]) -> dict[str, str]:
    """What the tasks, categories and templates are called that sets are about."""
    found = list(sets)
    titles = titles_among(home, {one.task_id for one in found if one.task_id})
    if any(category_in(one.about) for one in found):
        catalog = catalog_of(home)
        for known in (catalog.removed, catalog.categories):
            titles |= {one.id: one.name for one in known.values()}
    if any(template_in(one.about) for one in found):
        titles |= {one.template.id: one.template.name for one in home.views.all(templates.VIEW)}
    return titles


def inbox_sets(home: Home) -> list[InboxSet]:
    """The documents of `inbox`: what waits for the person, the oldest set first."""
    return set_documents(home, page_of_sets(home)[0], is_all=False)


def all_sets(home: Home) -> list[SetDocument]:
    """All change sets that a person was shown, the oldest first."""
    return [one for one in home.views.page(inbox.VIEW) if one.is_opened]


def set_of(home: Home, set_id: str) -> SetDocument:
    """A change set that `pick_item` found."""
    found = home.views.get(inbox.VIEW, set_id)
    assert found is not None, set_id
    return found


def page_of_sets(
    home: Home, *, is_all: bool = False, task: str | None = None, limit: int = -1
) -> tuple[list[SetDocument], int]:
    """The change sets with something that waits, the oldest first, and how many more there are.
    `is_all`: those with something put off, too, and the newest that are decided; `limit`: how many
    at most, and of the decided ones as many; negative: all."""
    marks = inbox.marks("waiting", "deferred") if is_all else inbox.marks("waiting")
    views, found = home.views, home.views.marked(inbox.VIEW, marks, shelf=task, limit=limit)
    back = [] if is_all else put_off_until_now(home, task)
    if is_all:
        marks = (*marks, "decided")
        found += views.page(inbox.VIEW, shelf=task, mark="decided", limit=limit, newest_first=True)
    elif back:
        found = sorted([*found, *back], key=inbox.VIEW.place)[: limit if limit >= 0 else None]
    count = len(back) + sum(views.count(inbox.VIEW, mark, shelf=task) for mark in marks)
    return sorted(found, key=inbox.VIEW.place), count - len(found)


def put_off_until_now(home: Home, task: str | None = None) -> list[SetDocument]:
    """The change sets where nothing waits but what was put off until a time that has come."""
    now, marks = home.services.clock.now(), set(inbox.marks("deferred"))
    others = home.views.marked(inbox.VIEW, marks - set(inbox.marks("waiting")), shelf=task)
    return [one for one in others if any(is_waiting(item, now) for item in one.items)]


def deferred_only(home: Home, task: str | None = None) -> int:
    """How many proposals are put off, of a task or of all, where none waits."""
    return home.views.tallied(inbox.VIEW, inbox.marks("deferred"), shelf=task)


def expiring_sets(home: Home) -> list[str]:
    """The open change sets whose time to be decided is over."""
    return [one.id for one in home.views.due(inbox.VIEW, home.services.clock.now())]


def sets_under(
    home: Home, *tabs: str, task: str | None = None, before: str = "", limit: int = -1
) -> list[SetDocument]:
    """Change sets that have items under one of these tabs (`inbox.TABS`), the newest first.
    `before`: only those whose place is lower; `limit`: how many at most; negative: all."""
    return home.views.marked(
        inbox.VIEW, inbox.marks(*tabs), shelf=task, before=before, limit=limit, newest_first=True
    )


def is_under(item: ChangeItem, tab: str, now: str) -> bool:
    """Whether an item stands under a tab; what was put off until a time that has come waits."""
    has_come = item.status == "deferred" and is_waiting(item, now)
    return ("pending" if has_come else item.status) in inbox.TABS[tab]


def sets_now(home: Home, tab: str, *, before: str = "", limit: int) -> list[SetDocument]:
    """The change sets that may have items under a tab as of now, see `is_under`, newest first: of
    those put off some may be back among what waits."""
    found = sets_under(home, tab, before=before, limit=limit)
    if tab == "waiting":
        back = [one for one in put_off_until_now(home) if not before or one.place < before]
        found = sorted([*found, *back], key=inbox.VIEW.place, reverse=True)[:limit]
    return found


def set_name(ranked: Ranks, set_id: str) -> str:
    """How a set is addressed: by its rank, else by the beginning of its id."""
    shown = ranked.others.get(set_id, set_id[:SET_SHOWN])
    return str(ranked[set_id]) if set_id in ranked else shown


def by_name(told: str, set_id: str, name: str) -> str:
    """A message of the core, which knows no ranks, with a set as the person calls it."""
    return told.replace(f"{set_id[:SET_SHOWN]}.", f"{name}.")


def reason_of(ranked: Ranks, item: ChangeItem) -> str:
    """The reason of a verdict; what replaced an item, by the name that a person calls that by."""
    name, _, number = item.reason.removeprefix(REPLACED).partition(".")
    known = ranked.by_beginning.get(name) if item.status == "retracted" else None
    return f"{REPLACED}{set_name(ranked, known)}.{number}" if known else item.reason


def set_documents(home: Home, sets: Iterable[SetDocument], *, is_all: bool) -> list[InboxSet]:
    """The documents of `inbox`; `is_all`: with their deferred and decided items."""
    now = home.services.clock.now()
    return documents_of(home, list(sets), lambda _, item: is_all or is_waiting(item, now))


def documents_of(home: Home, sets: Sequence[SetDocument], shows: Shows) -> list[InboxSet]:
    """The documents of sets with those of their items that are shown; without any: none."""
    now: dict[str, Snapshot] = {}  # of tasks, as each is looked at for many items
    members = Members(home)
    found: list[InboxSet] = []
    with home.services.journal.reading(), home.services.agents.reading():  # one for all of them
        ranked, titles = ranks_of(home), titles_of(home, sets)
        for one in sets:
            items = [item for item in one.items if shows(one, item)]
            if not items:
                continue
            task, name = one.task_id, set_name(ranked, one.id)
            if task and task not in now:
                now[task] = review.seen_now(home.services, one.changes, items[0])
            seen = [
                now[task] if task else review.seen_now(home.services, one.changes, item)
                for item in items
            ]
            by, said = _client_of(home, one)
            found.append(
                InboxSet(
                    set=ranked.get(one.id),
                    id=one.id,
                    task_id=task,
                    task_title=titles.get(task, ""),
                    agent_id=one.agent_id,
                    run_key=one.run_key,
                    created_at=one.created_at,
                    expires_at=one.expires_at or None,
                    status=one.status,
                    subject=subject_of(one, titles),
                    by=by,
                    said=said,
                    items=[
                        _item(
                            home, ranked, one.changes, name, item, was, members.decided(one, item)
                        )
                        for item, was in zip(items, seen, strict=True)
                    ],
                )
            )
    return found


def _client_of(home: Home, one: SetDocument) -> tuple[str | None, str | None]:
    """The client that made a set, and its words; of an agent's own nothing."""
    wake = home.views.get(wakes.VIEW, one.run_key)
    if wake is None or not (by := client_named(wake.model)):
        return None, None
    with home.services.agents.reading() as world:
        said = state_of(world, wake).said
        return by, (world.text(said) if said else "") or None


def _item(
    home: Home, ranked: Ranks, changes: ChangeSet, name: str, item: ChangeItem, now: Snapshot,
    who: str,
) -> InboxItem:  # fmt: skip
    arguments: dict[str, Any] = msgspec.json.decode(review.arguments_of(home.services, item))
    need = dependency_of(changes, item)
    return InboxItem(
        ref=f"{name}.{item.number}",
        tool=item.tool,
        arguments=arguments,
        summary=_summary(home, changes, item, now),
        status=item.status,
        stale=is_open(item) and review.is_stale(home.services, item, now),
        fingerprint=item.fingerprint,
        now=_present(home, item.tool, now, arguments),
        reason=reason_of(ranked, item)
        or arguments.get("reason")
        or arguments.get("rationale")
        or None,
        error=item.error or None,
        because=item.because or None,
        because_at=item.because_at or None,
        target=_target(home, changes, item) or None,
        needs=f"{name}.{need.number}" if need else None,
        until=item.until or None,
        undone=was_taken_back(item),
        who=who or None,
        diff=diff_of(home, changes, item, now, arguments) if item.tool == PROPOSE else None,
        rehearsed=_rehearsed(home, changes, item),
    )


def _rehearsed(home: Home, changes: ChangeSet, item: ChangeItem) -> RehearsedDetails | None:
    """The last rehearsal of a proposal."""
    of = next(filter(None, map(template_in, item.touches)), "")
    known = home.views.get(rehearsals.VIEW, of) if of else None
    name = f"{changes.id}.{item.number}"
    found = [one for one in (known.found if known else ()) if one.told.item == name]
    return rehearsed_details(found[-1]) if found else None


def rehearsed_details(one: rehearsals.RehearsalTold) -> RehearsedDetails:
    """A rehearsal that was recorded, as a document."""
    told = one.told
    decided = sum(getattr(told.tried, name) for name in ("kept", "lost", "avoided", "repeated"))
    too_few = decided < DECIDED_LEAST
    return RehearsedDetails(
        at=one.at,
        model=told.model,
        wakes=told.wakes,
        agents=told.agents,
        tried=ArmDetails(**asdict(told.tried)),
        in_force=ArmDetails(**asdict(told.control)),
        told_apart=not too_few and sign_test(told.better, told.worse) < TELLING,
        too_few=too_few,
        tokens=told.tokens,
    )


def diff_of(
    home: Home, changes: ChangeSet, item: ChangeItem, now: Snapshot, arguments: Mapping[str, Any]
) -> list[DiffLine]:
    """What is other in proposed directives; of confirmed ones as it was before them."""
    is_there = item.status == "confirmed"
    was = (review.seen_before(home.services, changes, item, 0) if is_there else now).template
    found: list[DiffLine] = []
    for of in ("general", "report"):
        new, gone = changed_lines(getattr(was, of, ""), arguments.get(of, ""))
        found += [
            DiffLine(of, sign, one) for sign, each in (("-", gone), ("+", new)) for one in each
        ]
    return found


PLACES = {
    "words": "your words",
    "title": "title",
    "description": "description",
    "note": "note",
    "thread": "your words",
    "item": "checklist",
    "task": "another task",
    "time": "time entry",
    "result": "what it looked up",
}
"""Where the words of a proposal may stand, by the beginning of `because_at`."""


def place_told(because_at: str | None) -> tuple[str, str]:
    """What a place is called, and the time of what was said there; empty where there is none.

    >>> place_told("note:2027-01-01T00:00:00.000000Z")
    ('note', '2027-01-01T00:00:00.000000Z')
    """
    kind, _, name = (because_at or "").partition(":")
    return PLACES.get(kind, ""), name if kind in ("note", "thread", "time") else ""


def value_before(
    home: Home, changes: ChangeSet, item: ChangeItem, arguments: dict[str, Any]
) -> str | None:
    """The value that an item replaces; of one that is decided, that it replaced, or would have."""
    services, n = home.services, item.position + (item.status != "confirmed")
    if not is_open(item) and item.position:
        seen = review.seen_before(services, changes, item, n)
    else:
        seen = review.seen_now(services, changes, item)
    return _present(home, item.tool, seen, arguments)


def _present(home: Home, tool: str, now: Snapshot, arguments: dict[str, Any]) -> str | None:
    """The value that would be replaced; times as the person's clock showed them."""
    told = registry.present(tool, now, arguments)
    return local_times.in_local_time(told, home.settings.timezone) if told else told


def summary_of(home: Home, set_id: str, item: ChangeItem) -> str:
    """An item in words, as edited where it was."""
    changes = review.changes_of(home.services, set_id)
    return _summary(home, changes, item, review.seen_now(home.services, changes, item))


def _summary(home: Home, changes: ChangeSet, item: ChangeItem, now: Snapshot) -> str:
    """What is done already is told by the task as it was: a rename names both titles. Another task
    is told by its title, which no item keeps."""
    told = item.summary
    if item.arguments_now is not None:
        seen = now
        if item.status == "confirmed":
            seen = review.seen_before(home.services, changes, item, item.position)
        told = registry.summary(item.tool, seen, review.arguments_of(home.services, item))
    target = _target(home, changes, item)
    if not target:
        return told
    title = titles_among(home, [target]).get(target)
    if title is None and (need := dependency_of(changes, item)):
        title = msgspec.json.decode(review.arguments_of(home.services, need))["title"]
    return told.replace(followups.named(target), quoted(title)) if title else told


def _target(home: Home, changes: ChangeSet, item: ChangeItem) -> str:
    """The other task that an item names; of a day the one that it is about."""
    return target_of(item) or ("" if changes.task else review.task_of(home.services, changes, item))
