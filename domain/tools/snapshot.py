"""A task as the tools see it: on the journal's side live, in a wake as it was captured.

STORAGE FORMAT: a wake keeps its snapshot as a payload, see `domain.log.wire`."""

from msgspec.structs import replace

from domain.journal.catalog import Catalog, available
from domain.journal.day import Day
from domain.journal.task import Task
from domain.log.wire import Imported, Part
from domain.scaffold import Features

OPEN_ITEMS_KEPT = 500  # of a wake's snapshot
FINISHED_ITEMS_KEPT = 500  # the same; checked or archived ones
ENTRIES_KEPT = 50  # the same; time entries, the newest


class SnapshotItem(Part, frozen=True):
    """A checklist item; `checked_by` is empty, ``person``, ``agent:<id>`` or ``import:...``."""

    id: str
    title: str
    is_checked: bool = False
    checked_by: str = ""
    is_archived: bool = False
    touched: int = 0


class SnapshotLabel(Part, frozen=True):
    """A label that may be assigned in the task's category, assigned and suppressed ones too."""

    id: str
    name: str


class Touched(Part, frozen=True):
    """`n` of the last journal append in which a person or import touched a field."""

    field: str
    n: int


class SnapshotEntry(Part, frozen=True):
    """A time entry; `end` is empty while its timer runs, `by` set its times last."""

    id: str
    start: str
    end: str = ""
    summary: str = ""
    by: str = ""
    touched: int = 0


class SnapshotLink(Part, frozen=True):
    """A task that this one is linked with, as far as the agent may see it. `relation` is read from
    this task to that one."""

    id: str
    relation: str
    title: str = ""
    category: str = ""
    status: str = ""


class SnapshotPlace(Part, frozen=True):
    """When the entries of a section were written that a prompt shows, in the order shown; and when
    they were edited last, empty where none was."""

    section: str
    at: tuple[str, ...]
    edited: tuple[str, ...] = ()


class SnapshotBlock(Part, frozen=True):
    """A block of a day. `by`: ``person`` or ``agent:<id>``; `task` is empty where it is of none, or
    of one that the agent may not know."""

    id: str
    start: str
    end: str
    by: str
    task: str = ""


class SnapshotDay(Part, frozen=True):
    """The day that a wake plans. `ends`: in UTC; `now`: what the person's clock shows, empty on
    another day, and where a change is applied; `declined`: the tasks of which they want no block,
    unless they asked."""

    date: str
    ends: str = ""
    now: str = ""
    blocks: tuple[SnapshotBlock, ...] = ()
    declined: tuple[str, ...] = ()


class SnapshotTask(Part, frozen=True):
    """A task that an agent without one may name; its title is no text of that agent's unit."""

    id: str
    category: str


class SnapshotTemplate(Part, frozen=True):
    """A template as it stands: its active version, with the whole directives. `decided`: so many
    proposals of that version are; `known`: digests of all versions, see `improving.digest_of`."""

    id: str
    name: str
    version: int
    general: str
    report: str
    decided: int = 0
    known: tuple[str, ...] = ()


class Snapshot(Part, frozen=True):
    """What tools read and the edge of what they may touch (SPEC 5).

    `position` is the journal's `n` it was taken at; `estimate` is minutes, 0 where there is
    none; `touched` names fields (``title``, ``status``, ``items``, ``label:<id>``, ...).
    `time` is oldest first, `linked` empty where a change is applied. `at`:
    when a change is looked at; never kept. `wrote`: of a journal that machines share, whose appends
    are those that things were touched in. `places`: of `log` and `thread`, since scaffold 3, whose
    prompts tell no instants. `day`, `others`: of an agent without a task, which leaves what is of
    one empty; so does one that improves a `template`."""

    task: str
    position: int
    status: str
    priority: str
    title: str = ""
    status_reason: str = ""
    estimate: int = 0
    due: str = ""
    language: str = ""
    language_by: str = ""
    category: str = ""
    labels: tuple[str, ...] = ()
    suppressed: tuple[str, ...] = ()
    available: tuple[SnapshotLabel, ...] = ()
    items: tuple[SnapshotItem, ...] = ()
    checklists: tuple[str, ...] = ()  # ids, oldest first
    touched: tuple[Touched, ...] = ()
    is_deleted: bool = False
    time: tuple[SnapshotEntry, ...] = ()
    at: str = ""
    linked: tuple[SnapshotLink, ...] = ()
    wrote: tuple[Imported, ...] = ()
    places: tuple[SnapshotPlace, ...] = ()
    day: SnapshotDay | None = None
    others: tuple[SnapshotTask, ...] = ()
    template: SnapshotTemplate | None = None


def blocks_of(day: Day) -> tuple[SnapshotBlock, ...]:
    """The blocks of a day, for tools."""
    return tuple(SnapshotBlock(one.id, one.start, one.end, one.by, one.task) for one in day.blocks)


def captured(
    task: Task,
    catalog: Catalog,
    position: int,
    features: Features,
    linked: tuple[SnapshotLink, ...] = (),
) -> Snapshot:
    """What a wake keeps of a task: of its items no more than a prompt could ever show.

    Of the open ones the first `OPEN_ITEMS_KEPT`, of the others the last `FINISHED_ITEMS_KEPT`,
    archived ones only where there is room; in their order. To a wake the rest is not there;
    applying a change looks at all of them."""
    seen = replace(snapshot(task, catalog, position), linked=linked)
    newest = sorted(seen.time, key=lambda one: one.start)[-ENTRIES_KEPT:]
    seen = replace(seen, time=tuple(newest))
    if not features.captures_all:
        known = tuple(one for one in seen.touched if one.field != "notes")
        seen = replace(seen, time=(), touched=known, linked=())
    finished = [one for one in seen.items if one.is_checked or one.is_archived]
    if len(finished) <= FINISHED_ITEMS_KEPT and len(seen.items) - len(finished) <= OPEN_ITEMS_KEPT:
        return seen
    done = {one.id for one in finished}
    open_ones = [one for one in seen.items if one.id not in done]
    places = sorted(range(len(finished)), key=lambda nth: (finished[nth].is_archived, -nth))
    last = [finished[nth] for nth in places[:FINISHED_ITEMS_KEPT]]
    kept = {one.id for one in (*open_ones[:OPEN_ITEMS_KEPT], *last)}
    return replace(seen, items=tuple(one for one in seen.items if one.id in kept))


_AS_THE_TASK = (
    "title", "status_reason", "estimate", "due", "language", "language_by", "category", "labels",
    "suppressed", "is_deleted",
)  # fmt: skip


def snapshot(task: Task, catalog: Catalog, position: int, at: str = "") -> Snapshot:
    """The part of a task that tools need, looked at now, at `at`."""
    items = tuple(
        SnapshotItem(
            one.id, one.title, one.is_checked, one.checked_by, one.is_archived, one.touched
        )
        for one in task.items
    )
    return Snapshot(
        task.id,
        position,
        task.status,
        task.priority,
        **{name: getattr(task, name) for name in _AS_THE_TASK},
        available=tuple(
            SnapshotLabel(label.id, label.name) for label in available(catalog, task.category)
        ),
        items=items,
        checklists=tuple(checklist.id for checklist in task.checklists),
        touched=tuple(
            Touched(field, one.n) for field, one in sorted(task.touched.items()) if one.n
        ),
        time=tuple(
            SnapshotEntry(one.id, one.start, one.end, one.summary, one.by, one.touched)
            for one in task.time
        ),
        at=at,
    )
