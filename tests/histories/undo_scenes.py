"""A scene of undoing: every kind of edit taken back and done again, verdicts taken up again."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.append.causes import Replied
from domain.changes import commands as verdict
from domain.changes.change_set import LiftDone, set_id
from domain.changes.dependencies import follow_up_id
from domain.journal import commands as do
from domain.journal.catalog import category_id, label_id
from domain.journal.imported import ImportedItem, ImportedTask
from domain.journal.task import PERSON
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import SHARED, Payload, Words, payload
from tests.histories.acting import ESTIMATE, NOBODY, REPORT, Scene, changed, refused, told
from tests.histories.tool_scenes import call, wake
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply


def undone() -> Services:
    """Edits, links and notes; what moved since; rejections with a label, and with what needed
    them; a deferral; a lift in doubt, and one of which the label is allowed already."""
    at = services()
    task, agent = task_with_agent(at)
    (roof,) = told(at, do.CreateTask("Mend the roof"))
    told(at, do.AddLabel("garden"))
    nails, _ = told(at, do.AddItems(task, ("Nails", "Saw")))
    (note,) = told(at, do.AddNote(task, "note", Words("Ann knows")))
    (entry,) = told(
        at, do.LogTime(task, "2026-01-01T09:00:00.000000Z", "2026-01-01T10:00:00.000000Z")
    )
    told(at, do.RateTask(task, 3))
    for command in (
        do.EditTask(task, title="Other", due="2027-03-01", language="de", estimate=30,
                    priority="P1", status="BLOCKED", reason="no", description=Words("New")),
        do.EditItem(task, nails, title="Long nails", is_checked=True, is_archived=True),
        do.EditNote(task, note, Words("Bob knows")),
        do.RemoveNote(task, note),
        do.ChangeLabels(task, assign=("garden",)),
        do.ChangeLabels(task, suppress=("garden",)),
        do.LinkTask(task, "blocks", roof),
        do.RetimeEntry(task, entry, summary="Looked"),
        do.RateTask(task, 4),
        do.DeleteTask(task),
    ):  # fmt: skip
        told(at, command)
        n = at.journal.tail().n
        told(at, do.UndoDeed((task,), (n,)))
        told(at, do.UndoDeed((task,), (n + 1,)))
        if isinstance(command, do.DeleteTask):
            refused(at, "stale", do.UndoDeed((task,), (n - 1,)))
        told(at, do.UndoDeed((task,), (n + 2,)))
        refused(at, "stale", do.UndoDeed((task,), (n,)))
    told(at, do.UnlinkTask(task, "blocks", roof))
    refused(at, "invalid_value", do.UndoDeed((task,), (at.journal.tail().n + 9,)))
    (gone,) = told(at, do.CreateTask("Gone"))
    told(at, do.UndoDeed((gone,), (at.journal.tail().n,)))
    refused(at, "stale", do.UndoDeed((gone,), (at.journal.tail().n - 1,)))
    _verdicts(at, task, agent)
    return at


def _verdicts(at: Services, task: str, agent: str) -> None:
    made = set_id(queued_key(at, agent))
    garden = {"id": label_id("garden"), "confidence": "high"}
    wake(
        at,
        agent,
        [call("create_follow_up_task", title="The rest")],
        [call("link_task", relation="blocks", targetTaskId=follow_up_id(made, 1)),
         call("assign_task_labels", labels=[garden]),
         ESTIMATE],
    )  # fmt: skip
    n = at.journal.tail().n
    refused(at, "unknown_item", verdict.ReopenItem(made, 9, PERSON, n))
    refused(at, "unknown_set", verdict.ReopenItem(NOBODY, 1, PERSON, n))
    review.reject(at, made, 1, "no")
    review.reopen(at, made, 1)
    review.reopen(at, made, 1, "again")
    for _ in range(2):
        review.reject(at, made, 3, "no")
        review.reopen(at, made, 3)
    told(at, verdict.RejectItem(made, 3, PERSON, n))
    refused(at, "decided", verdict.ReopenItem(made, 3, PERSON, n))
    review.recover(at, made)
    told(at, verdict.ReopenItem(made, 3, PERSON, n))
    refused(at, "decided", verdict.ConfirmItem(made, 3, PERSON, n))
    told(at, verdict.RetakeEffect(made, 3))
    at.append_reply(Replied("changes", made, LiftDone(3, NOBODY)))
    told(at, do.ChangeLabels(task, allow=("garden",)))
    review.drive(at, made, 3)
    told(at, do.ChangeLabels(task, suppress=("garden",)))
    review.reject(at, made, 3, "")  # it is suppressed already
    review.reopen(at, made, 3)
    review.defer(at, made, 4, "later", until="2027-02-02T00:00:00.000000Z")
    review.reopen(at, made, 4)
    review.confirm(at, made, 4)
    refused(at, "decided", verdict.ReopenItem(made, 4, PERSON, n))


def imports_undone() -> Services:
    """An import is one deed, with links, what is gone and what comes back; it is taken back whole,
    done again, and brought again by its file; and a conflict is open again."""
    at = services([reply(REPORT), reply(), reply(REPORT), reply()])
    roof, wall, door = (key("task", one) for one in ("roof", "wall", "door"))
    of_house = ImportedTask(roof, "Roof", category="House", labels=("blue",), due="2027-02-01")
    walls = ImportedTask(wall, "Wall", items=(ImportedItem("Buy nails"),))
    lines = payload(SHARED, b"[]")
    links = (do.ImportedLink(roof, "blocks", wall), do.ImportedLink(wall, "blocks", roof))
    first = _imported(at, of_house, walls, kept=[lines], lines=lines.id, links=links)
    category, n = category_id("House"), at.journal.tail().n
    (agent,) = told(at, agents.CreateAgent(roof, "Roof", category, n, "hybrid", is_enabled=True))
    changed(at, agent)
    told(at, do.StartTimer(wall))
    newer = replace(of_house, title="Old roof", labels=(), due="2027-02-02")
    gone = (do.GoneTask(wall, "delete"), do.GoneTask(roof, "reject"))
    told(at, do.EditTask(roof, due="2027-03-01"))
    second = _imported(at, newer, ImportedTask(door, "Door"), gone=gone)
    told(at, do.SettleDifference(roof, "due", "file"))
    settled = at.journal.tail().n
    told(at, do.UndoDeed((roof,), (settled,), reopens=True))
    told(at, do.EditTask(door, language="de"))
    undo = do.UndoImport((roof, wall, door), second, second, reopens=True, appends=(second,))
    told(at, undo)
    undone_at = at.journal.tail().n
    told(at, do.UndoDeed((roof, wall), (undone_at,), reopens=True))
    told(at, undo)
    told(at, do.EditTask(roof, due="2027-02-01"))
    told(at, do.UndoImport((roof, wall), first, first, reopens=True, appends=(first,)))
    _imported(at, of_house, replace(walls, items=()), restores=(roof, wall), links=links)
    told(at, do.UndoImport((roof, wall), first, first, reopens=True, appends=(first,)))
    changed(at, agent)
    return at


def _imported(at: Services, *tasks: ImportedTask, kept: Sequence[Payload] = (), **more: Any) -> int:
    """Import tasks of a file; the number of its append."""
    documents = [payload(one.task_id, canonical.encode(one)) for one in tasks]
    refs = tuple(
        do.ImportedRef(one.task_id, said.id) for one, said in zip(tasks, documents, strict=True)
    )
    command = do.ImportTasks("todo.md", refs, is_three_way=True, **more)
    at.append_journal(command, payloads=[*documents, *kept])
    return at.journal.tail().n


SCENES: tuple[Scene, ...] = (undone, imports_undone)
