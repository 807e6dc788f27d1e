"""Scenes of newer proposals and newer verdicts: what takes the place of what, and what a wake still
knows of what was confirmed.
"""

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.changes import commands as verdict
from domain.changes.change_set import set_id
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.journal.task import PERSON
from domain.log.wire import Words
from domain.ports import ModelFault
from tests.histories.acting import REPORT, Scene, answers, asked, told, woken
from tests.histories.tool_scenes import call, wake
from tests.support.services import services, task_with_agent
from wakelog.testing import calls as reply


def _minutes(count: int) -> tuple[str, str]:
    return call("update_task_estimate", minutes=count)


def _decided(at: Services, made: str, number: int, edited: str = "") -> None:
    words = Words(edited) if edited else None
    told(at, verdict.ConfirmItem(made, number, PERSON, at.journal.tail().n, words))
    review.drive(at, made, number)


def replaced() -> Services:
    """Newer values for fields with open proposals: pending, put off, in one set and in two; beside
    what is being confirmed; in a wake that fails; parts of a checklist item."""
    at = services()
    task, agent = task_with_agent(at)
    first, second = told(at, do.AddItems(task, ("Nails", "Saw")))
    due, status = "update_task_due_date", "set_task_status"
    one = set_id(
        wake(
            at,
            agent,
            [_minutes(30), _minutes(45), call(due, dueDate="2027-06-01")],
            [call(status, status="blocked", reason="漢" * 500)],
            [call("update_checklist_items", items=[{"id": first, "title": "Screws"}])],
        )
    )
    told(at, verdict.DeferItem(one, 3, PERSON, at.journal.tail().n, "later"))
    told(at, verdict.ConfirmItem(one, 2, PERSON, at.journal.tail().n))
    told(at, at.request(agent))
    answers(
        at,
        [
            reply(_minutes(50), call(due, dueDate="2027-07-01")),
            ModelFault("x", "gone", of_provider=False),
        ],
    )
    woken(at, agent)
    both = [{"id": first, "title": "Bolts", "isChecked": True}, {"id": second, "isArchived": True}]
    changes = call("update_checklist_items", items=both)
    newer = [_minutes(60), call(due, dueDate="2027-08-01"), changes]
    wake(
        at,
        agent,
        [*newer, call(status, status="x")],
        [call(status, status="on hold", reason="tea")],
    )
    review.drive(at, one, 2)
    wake(at, agent, [call(due, dueDate="2027-06-01"), call(due, dueDate="2027-07-01")])
    told(at, agents.DestroyAgent(agent))
    category, n = at.agent(agent).categories[0], at.journal.tail().n
    create = agents.CreateAgent(task, "Next", category, n, "hybrid", is_enabled=True)
    other = told(at, create)[0]
    wake(at, other, [call(due, dueDate="2027-07-01"), call(due, dueDate="2027-09-01")])
    return at


def remembered() -> Services:
    """What was edited away, set otherwise, taken off or unticked is proposed again: at once, when a
    note is newer, and when the person's own words ask."""
    at = services()
    task, agent = task_with_agent(at)
    told(at, do.AddLabel("garden"))
    item = told(at, do.AddItems(task, ("Nails",)))[0]
    ticked = {"id": item, "isChecked": True, "reason": "The note says that they are bought."}
    offers = [
        _minutes(60),
        call("update_task_priority", priority="P1"),
        call("assign_task_labels", labels=[{"id": label_id("garden"), "confidence": "high"}]),
        call("update_checklist_items", items=[ticked]),
        call("set_task_title", title="A better title"),
    ]
    made = set_id(wake(at, agent, offers))
    _decided(at, made, 1, '{"minutes":90}')
    for number in (2, 3, 4):
        _decided(at, made, number)
    _decided(at, made, 5, '{"title":"My own title"}')
    wake(at, agent, offers)
    told(at, do.EditTask(task, priority="P3"))
    told(at, do.ChangeLabels(task, remove=("garden",)))
    told(at, do.EditItem(task, item, is_checked=False))
    wake(at, agent, offers)
    answers(at, [reply(*offers, REPORT), reply()])
    asked(at, agent, "Make it an hour after all.")
    told(at, do.EditTask(task, estimate=15))
    wake(at, agent, [_minutes(90)])
    told(at, do.AddNote(task, "note", Words("It takes an hour and a half.")))
    wake(at, agent, [_minutes(90), *offers[1:]])
    return at


SCENES: tuple[Scene, ...] = (replaced, remembered)
