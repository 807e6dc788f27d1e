"""Scenes of proposals and verdicts: each verdict on each state of an item, twice; what is kept from
a person because of it; effects in doubt; what time closes.
"""

import asyncio

from adapters.home.settings import AgentsSettings, Settings
from adapters.runtime import review
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from domain.append.causes import Replied
from domain.changes import commands as verdict
from domain.changes.change_set import ChangeSet, ItemConfirmed, ItemFailed, SuppressionDone, set_id
from domain.changes.decisions import HOPELESS
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.journal.task import PERSON, TASK
from domain.log import canonical
from domain.log.timestamps import later
from domain.log.wire import INLINE_MAX_BYTES, Words, payload
from domain.wake.commands import RetakeWake
from domain.wake.wake import ModelAnswered, ToolCall
from tests.histories.acting import (
    ESTIMATE,
    NOBODY,
    REPORT,
    Scene,
    answers,
    begun,
    pass_time,
    refused,
    set_clock,
    told,
    twice,
    woken,
)
from tests.histories.tool_scenes import call, wake
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply


def _offers(label: str, item: str) -> list[tuple[str, str]]:
    """A call of every tool whose changes a person decides."""
    return [
        call("set_task_title", title="A better title"),
        ESTIMATE,
        call("update_task_due_date", dueDate="2027-06-01"),
        call("update_task_priority", priority="P0"),
        call("set_task_status", status="BLOCKED", reason="no tools"),
        call("assign_task_labels", labels=[{"id": label, "confidence": "high"}]),
        call("add_multiple_checklist_items", items=[{"title": "Buy nails"}]),
        call("update_checklist_items", items=[{"id": item, "isChecked": True}]),
    ]


def _prepared(at: Services, title: str) -> tuple[str, str, list[tuple[str, str]]]:
    task, agent = task_with_agent(at, title)
    told(at, do.AddLabel("garden"))
    item = told(at, do.AddItems(task, ("Old one",)))[0]
    return task, agent, _offers(label_id("garden"), item)


def _touched(at: Services, task: str) -> None:
    """The person changes all that was proposed, to something else."""
    with at.journal.reading() as world:
        item = world.load(TASK, task).items[0].id
    told(at, do.EditTask(task, title="My title", estimate=10, due="2027-01-31", priority="P1"))
    told(at, do.EditTask(task, status="GROOMED"))
    told(at, do.ChangeLabels(task, suppress=("garden",)))
    told(at, do.ChangeLabels(task, allow=("garden",)))
    told(at, do.AddItems(task, ("Screws",)))
    told(at, do.EditItem(task, item, title="Older one"))


def proposed_again() -> Services:
    """All is proposed, decided each way, proposed again, touched by the person, and once more."""
    at = services()
    for name, decide in (("rejected", verdict.RejectItem), ("deferred", verdict.DeferItem)):
        task, agent, offers = _prepared(at, f"To be {name}")
        made = set_id(wake(at, agent, [*offers, *offers]))
        for item in review.changes_of(at, made).items:
            n = at.journal.tail().n
            twice(
                at,
                decide(made, item.number, PERSON, n, name * 50 if item.number % 2 else ""),
            )
            review.drive(at, made, item.number)
        if name == "rejected":
            told(at, do.ChangeLabels(task, allow=("garden",)))
        wake(at, agent, offers)
        _touched(at, task)
        wake(at, agent, offers)
        wake(at, agent, offers)
    return at


def each_verdict() -> Services:
    """Each verdict on each state of an item: nothing new, the next state, or refused."""
    at = services()
    deciders = (verdict.ConfirmItem, verdict.RejectItem, verdict.DeferItem)
    for nth, first in enumerate(deciders):
        _, agent, offers = _prepared(at, f"Verdict {nth}")
        made = set_id(wake(at, agent, offers[:3]))
        n = at.journal.tail().n
        for number, second in enumerate(deciders, start=1):
            told(at, first(made, number, PERSON, n))
            review.drive(at, made, number) if number == 1 else None
            again = second(made, number, PERSON, n)
            if _is_refused(first, second):
                refused(at, "decided", again)
            else:
                twice(at, again)
            told(at, verdict.RetakeEffect(made, number), key=f"retaken {nth} {number}")
        for one in deciders:
            refused(at, "unknown_item", one(made, 99, PERSON, n))
            refused(at, "unknown_set", one(NOBODY, 1, PERSON, n))
        refused(at, "unknown_item", verdict.RetakeEffect(made, 99))
        refused(at, "unknown_set", verdict.RetakeEffect(NOBODY, 1), verdict.ExpireItems(NOBODY))
    return at


def _is_refused(first: type, second: type) -> bool:
    if first is verdict.ConfirmItem:
        return second is not verdict.ConfirmItem
    if first is verdict.RejectItem:
        return second is not verdict.RejectItem
    return False


def edited() -> Services:
    """A person's own arguments: others, the same, wrong ones; two items that become one."""
    at = services()
    task, agent, offers = _prepared(at, "Edited")
    adds = call("add_multiple_checklist_items", items=[{"title": f"Nail {n}"} for n in range(4)])
    made = set_id(wake(at, agent, [*offers, adds]))
    n = at.journal.tail().n
    for wrong in ("{", "[]", '{"minutes":0}', '{"minutes":1,"minutes":2}', '{"m":1}', "null"):
        confirm = verdict.ConfirmItem(made, 2, PERSON, n, Words(wrong))
        code = "invalid_input" if wrong == "{" or wrong.count("minutes") > 1 else "invalid_value"
        refused(at, code, confirm)
    low = Words(canonical.text({"id": label_id("garden"), "confidence": "low"}))
    review.confirm(at, made, 6, edit=low.text)
    review.confirm(at, made, 6, edit=f'{{"id":"{label_id("garden")}"}}')
    review.confirm(at, made, 2, edit='{"minutes":"45"}')
    review.confirm(at, made, 1, edit='{"title":"My own"}')
    review.confirm(at, made, 9, edit='{"title":"Nail 2"}')
    review.confirm(at, made, 11, edit='{"title":"nail  2"}')
    review.confirm(at, made, 11)
    review.confirm(at, made, 10)
    long = canonical.text({"title": "ü" * 390})
    said = payload(task, long.encode())
    at.append_agent(
        verdict.ConfirmItem(made, 12, PERSON, n, Words(payload=said.id)), payloads=[said]
    )
    review.drive(at, made, 12)
    told(at, do.EditTask(task, due="2027-06-01"))
    review.confirm(at, made, 3)
    review.confirm(at, made, 3, edit='{"dueDate":"2027-06-02"}', is_anyway=True)
    review.confirm(at, made, 4, is_anyway=True)
    for size in (1, 0):
        reason = "r" * (INLINE_MAX_BYTES + size)
        for decide in (verdict.DeferItem, verdict.RejectItem):
            command = decide(made, 5, PERSON, n, reason)
            refused(at, "invalid_value", command) if size else told(at, command)
    return at


def applied_too_late() -> Services:
    """What is confirmed meets a task that has changed: each code of a refused operation."""
    at = services()
    for nth, how in enumerate(("moved", "so already", "deleted", "touched", "unwanted")):
        task, agent, offers = _prepared(at, f"Too late {how}")
        made = set_id(wake(at, agent, offers))
        if how == "moved":
            told(at, do.AddCategory("Shed"))
            told(at, do.EditTask(task, category="Shed"))
        elif how == "deleted":
            told(at, do.DeleteTask(task))
        elif how == "touched":
            _touched(at, task)
        else:
            _made_so(at, task, is_wanted=how == "so already")
        for item in review.changes_of(at, made).items:
            review.confirm(at, made, item.number)
            review.confirm(at, made, item.number, is_anyway=True) if _open(
                at, made, item.number
            ) else None
        if how in ("moved", "deleted"):
            told(at, do.EditTask(task, category="Inbox") if nth == 0 else do.RestoreTask(task))
            for item in review.changes_of(at, made).items:
                review.confirm(at, made, item.number) if _open(at, made, item.number) else None
    return at


def _open(at: Services, made: str, number: int) -> bool:
    return review.changes_of(at, made).items[number - 1].status in ("pending", "deferred")


def _made_so(at: Services, task: str, *, is_wanted: bool) -> None:
    with at.journal.reading() as world:
        item = world.load(TASK, task).items[0].id
    told(at, do.EditTask(task, "A better title", estimate=45, due="2027-06-01", priority="P0"))
    told(at, do.EditTask(task, status="BLOCKED", reason="no tools"))
    told(at, do.EditItem(task, item, is_checked=True))
    told(at, do.AddItems(task, ("buy NAILS",)))
    if is_wanted:
        told(at, do.ChangeLabels(task, ("garden",)))
    else:
        told(at, do.EditItem(task, item, is_checked=False))
        told(at, do.ChangeLabels(task, suppress=("garden",)))


def in_doubt() -> Services:
    """Effects whose process is gone: taken over, answered late, by the wrong one, or twice."""
    at = services()
    task, agent, offers = _prepared(at, "In doubt")
    made = set_id(wake(at, agent, offers))
    n = at.journal.tail().n
    told(at, verdict.ConfirmItem(made, 1, PERSON, n))
    refused(
        at, "decided", verdict.RejectItem(made, 1, PERSON, n), verdict.DeferItem(made, 1, PERSON, n)
    )
    told(at, verdict.RejectItem(made, 6, PERSON, n, "no"))
    for number in (1, 6, 2):
        twice(at, verdict.RetakeEffect(made, number))
    sets = review.changes_of(at, made)
    _late(at, sets)
    review.drive(at, made, 1)
    told(at, do.ChangeLabels(task, suppress=("garden",)))
    review.drive(at, made, 6)
    _late(at, review.changes_of(at, made))
    told(at, verdict.ConfirmItem(made, 2, PERSON, n))
    told(at, do.VoidOperation(review.changes_of(at, made).items[1].operations[0], task, "given up"),
         key=review.changes_of(at, made).items[1].operations[0])  # fmt: skip
    review.drive(at, made, 2)
    review.confirm(at, made, 2)
    told(at, verdict.ConfirmItem(made, 3, PERSON, n))
    for code in ("internal", "not_found"):
        at.append_reply(
            Replied("changes", made, ItemFailed(3, 1, code, f"it failed: {code} " * 99))
        )
        told(at, verdict.ConfirmItem(made, 3, PERSON, n)) if code == "internal" else None
    at.append_reply(Replied("changes", made, ItemFailed(3, 2, "not_found", "gone " * 300)))
    for number, code in zip((4, 5, 7, 8), (*HOPELESS[1:], "stale"), strict=True):
        told(at, verdict.ConfirmItem(made, number, PERSON, n))
        at.append_reply(Replied("changes", made, ItemFailed(number, 1, code, f"it failed: {code}")))
    _unasked(at, agent, task)
    return at


def _late(at: Services, sets: ChangeSet) -> None:
    """Replies that nobody waits for: another confirmation, another operation, another item."""
    for fact in (
        ItemConfirmed(1, 2), ItemConfirmed(6, 1), ItemConfirmed(99, 1),
        ItemFailed(1, 2, "redundant", "so already"), ItemFailed(2, 1, "redundant", "so already"),
        SuppressionDone(6, NOBODY), SuppressionDone(1, sets.items[0].operations[0]),
    ):  # fmt: skip
        at.append_reply(Replied("changes", sets.id, fact))


def _unasked(at: Services, agent: str, task: str) -> None:
    """An immediate tool whose process is gone; the task has got a language meanwhile."""
    told(at, at.request(agent))
    run_key = queued_key(at, agent)
    begun(at, agent, run_key)
    said = Words('{"languageCode":"de","confidence":"high"}')
    raw = payload(task, b"in German")
    calls = tuple(ToolCall(f"c{nth}", "set_task_language", said) for nth in range(2))
    at.append_reply(Replied("wake", run_key, ModelAnswered(1, 1, raw.id, None, calls)), [raw])
    told(at, RetakeWake(run_key))
    told(at, do.EditTask(task, language="fr"))
    answers(at, [reply(REPORT), reply()])
    asyncio.run(run_wake(at, agent, run_key, is_now=True))
    codes = ("de", "fr")
    wake(at, agent, [call("set_task_language", languageCode=c, confidence="high") for c in codes])


def closed_by_time() -> Services:
    """Proposals that expire after a day: a second before, then; what was put off stays."""
    at = services()
    at.settings = Settings(agents=AgentsSettings(expire_after_days=1))
    task, agent, offers = _prepared(at, "Closed by time")
    made = set_id(wake(at, agent, offers))
    n = at.journal.tail().n
    told(at, verdict.DeferItem(made, 1, PERSON, n, "later"))
    told(at, verdict.ConfirmItem(made, 2, PERSON, n))
    told(at, verdict.RejectItem(made, 3, PERSON, n))
    expires = review.changes_of(at, made).expires_at
    for seconds in (-2, -1):  # the clock goes on by one when it is read
        set_clock(at, later(expires, seconds=seconds))
        told(at, verdict.ExpireItems(made), key=f"expired {seconds}")
    twice(at, verdict.ExpireItems(made, "the end. " * 200))
    refused(at, "decided", *(verdict.ConfirmItem(made, one, PERSON, n) for one in (1, 3, 4)))
    at.settings = Settings()
    made = set_id(wake(at, agent, offers))
    pass_time(at, 10**8)
    told(at, verdict.ExpireItems(made), key="never expires")
    told(at, do.DeleteTask(task))
    told(at, at.request(agent))
    answers(at, [reply()])
    woken(at, agent)
    return at


def taken_back() -> Services:
    """An agent takes back its own open proposals, in two sets; not those it makes again."""
    at = services()
    task, agent, offers = _prepared(at, "Taken back")
    _, other, theirs = _prepared(at, "Another's")
    first = set_id(wake(at, agent, offers[:4]))
    second = set_id(wake(at, agent, offers[4:]))
    foreign = set_id(wake(at, other, theirs[:2]))
    n = at.journal.tail().n
    told(at, verdict.DeferItem(first, 1, PERSON, n))
    sets = [review.changes_of(at, one) for one in (first, second, foreign)]
    gone = [
        {"fingerprint": item.fingerprint, "reason": f"{nth} " * 200}
        for one in sets
        for nth, item in enumerate(one.items)
    ]
    taken = call("retract_suggestions", proposals=[*gone, {**gone[1], "reason": "another"}])
    nails = call("add_multiple_checklist_items", items=[{"title": f"Nail {n}"} for n in range(5)])
    wake(at, agent, [nails, offers[2]])
    wake(at, agent, [taken, offers[2], call("assign_task_labels", labels=[])], [offers[7], nails])
    told(at, do.EditTask(task, estimate=45))
    wake(at, agent, offers[:3])
    return at


SCENES: tuple[Scene, ...] = (
    proposed_again,
    each_verdict,
    edited,
    applied_too_late,
    in_doubt,
    closed_by_time,
    taken_back,
)
