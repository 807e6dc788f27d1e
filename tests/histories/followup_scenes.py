"""A scene of follow-ups: what is proposed over two tasks, what needs what, and what is refused."""

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent.deciders import AgentSettings
from domain.changes import commands as verdict
from domain.changes.change_set import set_id
from domain.changes.dependencies import follow_up_id
from domain.journal import commands as do
from domain.journal.task import PERSON, TASK
from domain.log.wire import Words, payload
from tests.histories.acting import Scene, refused, told
from tests.histories.tool_scenes import call, wake
from tests.support.services import queued_key, services, task_with_agent


def follow_ups() -> Services:
    """A follow-up with items, moves and links that need it: confirmed in order and out of it,
    rejected, stale, beyond the limit, to unknown and forbidden tasks; and a task concluded."""
    at = services()
    task, agent = task_with_agent(at)
    nails, saw, glue = told(at, do.AddItems(task, ("Nails", "Saw", "Glue")))
    told(at, do.EditItem(task, glue, is_checked=True))
    (roof,) = told(at, do.CreateTask("Mend the roof"))
    told(at, do.LinkTask(task, "relates_to", roof))
    told(at, do.AddCategory("Work"))
    with at.journal.reading() as world:
        own = world.load(TASK, task).category
    told(at, agents.ConfigureAgent(agent, AgentSettings(categories=(own, "c-more"))))
    made = set_id(queued_key(at, agent))
    first, second = follow_up_id(made, 1), follow_up_id(made, 5)
    wake(
        at,
        agent,
        [call("create_follow_up_task", title="The rest", carryOver=[{"id": glue}])],
        [call("create_follow_up_task", title="The rest", description="Later. " * 300,
              dueDate="2027-06-01", priority="P1", carryOver=[{"id": nails}])],
        [call("migrate_checklist_items", items=[{"id": saw}, {"id": "x"}], targetTaskId=first),
         call("link_task", relation="blocks", targetTaskId=first),
         call("link_task", relation="blocks", targetTaskId="nowhere"),
         call("link_task", relation="is_blocked_by", targetTaskId=roof)],
        [call("create_follow_up_task", title="Another", relation="blocks"),
         call("migrate_checklist_items", items=[{"id": glue}], targetTaskId=second),
         call("create_follow_up_task", title="Third"),
         call("create_follow_up_task", title="Fourth")],
    )  # fmt: skip

    def confirm(number: int) -> verdict.ConfirmItem:
        return verdict.ConfirmItem(made, number, PERSON, at.journal.tail().n)

    refused(at, "needs_first", confirm(2), confirm(6))
    told(at, verdict.RejectItem(made, 5, PERSON, at.journal.tail().n, "not needed"))
    refused(at, "decided", confirm(6))
    for title in ("Long nails", "Nails"):  # stale, then as it was
        told(at, do.EditItem(task, nails, title=title))
        review.confirm(at, made, 1)
    for number in (1, 2, 3):
        review.confirm(at, made, number)
    told(at, do.LinkTask(task, "blocks", roof))
    review.confirm(at, made, 4)  # a cycle
    told(at, do.EditTask(roof, category="Work"))
    review.confirm(at, made, 4)  # out of scope
    left = payload(task, b"What is left")
    conclude = do.ConcludeTask(task, Words(payload=left.id))
    at.append_journal(conclude, payloads=[left])
    refused(at, "invalid_value", conclude)
    return at


SCENES: tuple[Scene, ...] = (follow_ups,)
