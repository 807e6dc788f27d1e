"""A scene of confirmations that are taken back: by the command, its effect and what came of it."""

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.append.causes import Replied
from domain.changes import commands as verdict
from domain.changes.change_set import ItemUndone, set_id
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.journal.task import PERSON
from tests.histories.acting import ESTIMATE, NOBODY, Scene, refused, told
from tests.histories.tool_scenes import call, wake
from tests.support.services import queued_key, services, task_with_agent


def unconfirmed() -> Services:
    """Confirmed, undone, edited, confirmed and undone again; what was changed since, and what was
    taken back in the journal alone; a label, a follow-up; undos in doubt, and what comes late."""
    at = services()
    task, agent = task_with_agent(at)
    told(at, do.AddLabel("garden"))
    (saw,) = told(at, do.AddItems(task, ("Saw",)))
    made = set_id(queued_key(at, agent))
    garden = {"id": label_id("garden"), "confidence": "high"}
    wake(
        at,
        agent,
        [
            ESTIMATE,
            call("create_follow_up_task", title="The rest", carryOver=[{"id": saw}]),
            call("assign_task_labels", labels=[garden]),
            call("update_task_due_date", dueDate="2027-02-01"),
        ],
    )
    _undone(at, made, 1)
    review.confirm(at, made, 1, edit='{"minutes":30}')
    _undone(at, made, 1)
    review.confirm(at, made, 1)
    first = _operation(at, made, 1)
    told(at, do.EditTask(task, estimate=90))
    review.undo(at, made, 1, first)  # it was changed since
    told(at, do.EditTask(task, estimate=45))
    review.undo(at, made, 1, first, "again")
    review.undo(at, made, 1, first, "again")
    n = at.journal.tail().n
    refused(at, "decided", verdict.UndoItem(made, 4, PERSON, n, first))
    refused(at, "unknown_item", verdict.UndoItem(made, 9, PERSON, n, first))
    refused(at, "unknown_set", verdict.UndoItem(NOBODY, 1, PERSON, n, first))
    told(at, verdict.UndoItem(made, 1, PERSON, n, first))  # it is so already
    for number in (2, 3):
        _undone(at, made, number)
        review.confirm(at, made, number)
    _in_doubt(at, made, task)
    return at


def _undone(at: Services, made: str, number: int) -> None:
    review.confirm(at, made, number)
    review.undo(at, made, number, _operation(at, made, number))


def _in_doubt(at: Services, made: str, task: str) -> None:
    """Asked for, and done, by processes that say nothing of it."""
    review.confirm(at, made, 4)
    operation, n = _operation(at, made, 4), at.journal.tail().n
    told(at, verdict.UndoItem(made, 4, PERSON, n, operation))
    refused(at, "decided", verdict.ConfirmItem(made, 4, PERSON, n))
    told(at, verdict.UndoItem(made, 4, PERSON, n, operation))  # it is under way
    told(at, verdict.RetakeEffect(made, 4))
    asked = review.changes_of(at, made).items[3].asked
    assert asked is not None
    at.append_journal(do.UndoDeed((task,), (n,), asked.operation, "r1"), key=asked.operation)
    at.append_reply(Replied("changes", made, ItemUndone(4, 1, NOBODY, operation, 1)))
    review.recover(at, made)
    review.confirm(at, made, 4)
    told(at, do.UndoDeed((task,), (at.journal.tail().n,)))  # alone, as before
    review.undo(at, made, 4, _operation(at, made, 4))


def _operation(at: Services, made: str, number: int) -> str:
    return review.changes_of(at, made).items[number - 1].operations[-1]


SCENES: tuple[Scene, ...] = (unconfirmed,)
