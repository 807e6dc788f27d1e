"""Writes the histories of `tests/histories/*.jsonl`: one scene each, the same bytes every time.

Run it where a scene is added, or where the bytes of a format may still move; never to make a red
proof green: `.venv/bin/python -m tests.histories.scenes`

What is kept in `recorded/` is no scene: older code wrote it, and nothing writes it again. A
history whose scene would come out otherwise, because what plays it has changed, goes there.
"""

import asyncio
import sys
from pathlib import Path

from adapters.models.rules.model import RulesModel
from adapters.proof import histories
from adapters.proof.redact import redacted
from adapters.runtime import recovery, review, timers, watcher
from adapters.runtime.effect_executor import perform
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from domain.agent import commands as agents
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append.causes import Replied
from domain.changes.commands import ConfirmItem
from domain.journal import commands as do
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import payload, words
from domain.ports import ModelFault
from domain.wake.commands import RetakeWake, StopWake
from domain.wake.wake import ModelAnswered
from tests.histories import (
    agent_scenes,
    client_scenes,
    edge_scenes,
    file_scenes,
    followup_scenes,
    lesson_scenes,
    memory_scenes,
    more_scenes,
    newer_scenes,
    person_scenes,
    policy_scenes,
    prompt_scenes,
    read_scenes,
    sent_scenes,
    sleeping_scenes,
    stubborn_scenes,
    template_scenes,
    time_scenes,
    timer_scenes,
    tool_scenes,
    unconfirming_scenes,
    undo_scenes,
    verdict_scenes,
    waiting_scenes,
)
from tests.histories.acting import (
    ESTIMATE,
    ITEMS,
    LONG,
    REPORT,
    Scene,
    answers,
    asked,
    changed,
    pass_time,
    taken,
    woken,
)
from tests.support.services import services, task_with_agent
from wakelog.testing import calls as reply

FOLDER = Path(__file__).parent
# ----------------------------------------------------------------------------------------- scenes


def rules_first_wake() -> Services:
    """The offline model reads a long note, proposes, and the person takes all of it."""
    at = services(model=RulesModel())
    task, agent = task_with_agent(at)
    said, kept = words(task, LONG)
    at.append_journal(do.AddNote(task, "note", said), payloads=kept)
    changed(at, agent)
    for set_id in at.agent(agent).sets:
        for item in review.changes_of(at, set_id).items:
            review.confirm(at, set_id, item.number)
    changed_again = do.AddNote(task, "note", words(task, "Urgent! Takes about 90 minutes.")[0])
    at.append_journal(changed_again)
    changed(at, agent)
    return at


def verdicts() -> Services:
    """Confirmed, edited, rejected, put off, taken anyway, and proposed once more."""
    calls = reply(ITEMS, ESTIMATE, ("update_task_priority", '{"priority":"P1"}'))
    at = services([calls, reply(REPORT), reply(), calls, reply(REPORT), reply()])
    task, agent = task_with_agent(at)
    changed(at, agent)
    (set_id,) = at.agent(agent).sets
    review.confirm(at, set_id, 1)
    review.reject(at, set_id, 2, "we have one")
    review.defer(at, set_id, 3, "later")
    at.append_journal(do.EditTask(task, priority="P3"))
    review.confirm(at, set_id, 4)
    review.confirm(at, set_id, 4, is_anyway=True)
    changed(at, agent)
    review.confirm(at, set_id, 3, edit='{"minutes":30}')
    return at


def labels() -> Services:
    """A label is proposed and declined: it is suppressed by an operation of its own."""
    at = services()
    _, agent = task_with_agent(at)
    label = at.append_journal(do.AddLabel("garden")).result.ids[0]
    at.append_journal(do.AddLabel("house"))
    call = ("assign_task_labels", canonical.text({"labels": [{"id": label, "confidence": "high"}]}))
    answers(at, [reply(call), reply(REPORT), reply(), reply(call), reply(REPORT), reply()])
    changed(at, agent)
    (set_id,) = at.agent(agent).sets
    review.reject(at, set_id, 1, "not this one")
    at.append_agent(at.request(agent))
    woken(at, agent)
    return at


def refused_calls() -> Services:
    """Unknown tools, bad JSON, bad arguments, DONE, a language, and the extra turn for a report."""
    at = services(
        [
            reply(("fly", "{}"), ("update_task_estimate", "{"), ("update_task_estimate", "[]")),
            reply(("set_task_status", '{"status":"DONE"}'), ("update_task_estimate", '{"m":1}')),
            reply(("set_task_language", '{"languageCode":"de","confidence":"high"}')),
            reply(("set_task_language", '{"languageCode":"fr","confidence":"high"}'), text="Hm."),
            reply(ESTIMATE, ESTIMATE, ("set_task_estimate", '{"minutes":45}')),
            reply(text="I will not write one."),
        ]
    )
    _, agent = task_with_agent(at)
    changed(at, agent)
    return at


def provider_faults() -> Services:
    """The provider is overloaded, twice; the wake waits, goes on and counts no failure."""
    fault = ModelFault("overloaded", "503", of_provider=True, retry_seconds=90)
    at = services([fault, fault, reply(ESTIMATE), reply(REPORT), reply()])
    _, agent = task_with_agent(at)
    changed(at, agent)
    for _ in range(2):
        pass_time(at, 7200)
        woken(at, agent)
    return at


def failures_to_sleep() -> Services:
    """Five failures in a row put the agent to sleep; the person resumes it."""
    at = services(
        [ModelFault("blocked", "unsafe", of_provider=False)] * 5 + [reply(REPORT), reply()]
    )
    task, agent = task_with_agent(at)
    changed(at, agent)
    for nth in range(4):
        pass_time(at, 8000)
        at.append_journal(do.AddItems(task, (f"Step {nth}",)))
        changed(at, agent)
    at.append_journal(do.AddItems(task, ("Nobody hears this",)))
    watcher.catch_up(at)
    at.append_agent(agents.ResumeAgent(agent, is_enabled=True))
    woken(at, agent)
    return at


def crashes() -> Services:
    """A process dies after the start, another between intent and effect; late replies come in."""
    at = services([reply(ITEMS), reply(REPORT), reply()])
    _, agent = task_with_agent(at)
    watcher.catch_up(at)
    with at.agents.reading() as world:
        queued = world.load(WAKE_QUEUE, agent).queued
        run_key = queued.run_key  # type: ignore[union-attr]  # it is
    captured = capture(at, agent, run_key, is_now=True)
    at.append_agent(captured.command, payloads=captured.payloads)
    at.append_agent(RetakeWake(run_key))
    asyncio.run(perform(at, run_key))
    raw = payload(at.agent(agent).task, b"too late")
    at.append_reply(Replied("wake", run_key, ModelAnswered(1, 1, raw.id)), [raw])
    (set_id,) = at.agent(agent).sets
    at.append_agent(ConfirmItem(set_id, 1, "person", at.journal.tail().n))
    recovery.recover(at, [agent], [set_id], [], lambda _: None)
    return at


def abandoned() -> Services:
    """Taken over again and again without a reply, then stopped by hand in the next wake."""
    at = services([reply(REPORT)])
    task, agent = task_with_agent(at)
    watcher.catch_up(at)
    for nth in range(2):
        with at.agents.reading() as world:
            queued = world.load(WAKE_QUEUE, agent).queued
            run_key = queued.run_key  # type: ignore[union-attr]  # it is
        captured = capture(at, agent, run_key, is_now=True)
        at.append_agent(captured.command, payloads=captured.payloads)
        for _ in range(0 if nth else 4):
            at.append_agent(RetakeWake(run_key))
        if nth:
            at.append_agent(StopWake(run_key, "deadline", "too slow"))
            break
        at.append_journal(do.EditTask(task, title="Fix the other sink"))
        watcher.catch_up(at)
    return at


def timers_fire() -> Services:
    """A timer's ticks over a week end, one of them missed; a schedule is taken away."""
    at = services(
        [reply(REPORT), reply(), reply(text="Nothing new."), reply(text="Still nothing.")]
    )
    _, agent = task_with_agent(at)
    changed(at, agent)
    at.append_agent(timers.timer_command(agent, "every day 07:00", "Europe/Berlin", at.clock.now()))
    for days in (1, 3):
        pass_time(at, 86_400 * days)
        timers.fire(at, [agent])
        woken(at, agent)
    at.append_agent(agents.RemoveTimer(agent, at.agent(agent).timers[0].id))
    return at


def lives() -> Services:
    """Paused, resumed, destroyed, deleted; a second agent of the same task."""
    at = services([reply(REPORT), reply(), reply(REPORT), reply(), reply(REPORT), reply()])
    task, agent = task_with_agent(at)
    changed(at, agent)
    at.append_agent(
        agents.ConfigureAgent(agent, AgentSettings(goal="Done by spring", open_loops=("ask Kim",)))
    )
    at.append_agent(agents.PauseAgent(agent))
    at.append_journal(do.EditTask(task, priority="P0"))
    watcher.catch_up(at)
    at.append_agent(agents.ResumeAgent(agent, is_enabled=True))
    woken(at, agent)
    at.append_agent(agents.DestroyAgent(agent))
    at.append_agent(agents.DeleteAgent(agent))
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    n = at.journal.tail().n
    second = agents.CreateAgent(task, "Fix the sink", category, n, "autonomous", is_enabled=True)
    woken(at, at.append_agent(second).result.ids[0])
    return at


def imports() -> Services:
    """A file comes in twice, the second time changed; the person corrects what it wrote."""
    at = services(model=RulesModel())
    task = key("task", "histories", "import")
    before = ImportedTask(
        task,
        "Mend the roof",
        category="House",
        labels=("outside",),
        items=(ImportedItem("Find a lader"), ImportedItem("Call Kim", is_checked=True)),
        notes=(ImportedNote(LONG), ImportedNote("It is urgent.")),
    )
    after = ImportedTask(
        task,
        "Mend the whole roof",
        category="House",
        due="2027-05-01",
        items=(*before.items, ImportedItem("Buy tiles")),
        notes=(*before.notes, ImportedNote("Before the rain.")),
    )
    for nth, document in enumerate((before, before, after)):
        kept = payload(task, canonical.encode(document))
        at.append_journal(
            do.ImportTasks("todo.md", (do.ImportedRef(task, kept.id),)), payloads=[kept]
        )
        if nth == 1:
            with at.journal.reading() as world:
                item = world.load(TASK, task).items[0].id
                category = world.load(TASK, task).category
            at.append_journal(do.EditItem(task, item, title="Find a ladder"))
            n = at.journal.tail().n
            command = agents.CreateAgent(task, "Roof", category, n, "hybrid", is_enabled=True)
            agent = at.append_agent(command).result.ids[0]
            changed(at, agent)
    changed(at, agent)
    return at


def links() -> Services:
    """Tasks that hang on each other: a change next door wakes an agent in the morning."""
    at = services([reply(REPORT), reply(), reply(REPORT), reply(), reply(text="Seen.")])
    roof, over = task_with_agent(at, "Mend the roof")
    tiles, other = task_with_agent(at, "Buy tiles")
    at.append_journal(do.LinkTask(tiles, "blocks", roof))
    watcher.catch_up(at)
    woken(at, over)
    woken(at, other)
    at.append_journal(do.EditTask(roof, status="BLOCKED", reason="no tiles"))
    at.append_journal(do.UnlinkTask(tiles, "blocks", roof))
    watcher.catch_up(at)
    pass_time(at, 90_000)
    woken(at, over)
    return at


def sessions() -> Services:
    """The person asks, and asks again; the agent observes, proposes and takes it back."""
    note = {"text": "Likes short answers", "priority": "critical", "category": "excellence"}
    seen = ("record_observations", canonical.text({"observations": [note, "Asks at night"]}))
    at = services([reply(REPORT, seen), reply(ESTIMATE), reply(), reply(REPORT), reply()])
    _, agent = task_with_agent(at)
    watcher.catch_up(at)
    asked(at, agent, "What is left to do?", "s1", 1)
    (set_id,) = at.agent(agent).sets
    fingerprint = review.changes_of(at, set_id).items[0].fingerprint
    gone = {"proposals": [{"fingerprint": fingerprint, "reason": "no need"}]}
    answers(at, [reply(("retract_suggestions", canonical.text(gone)), REPORT), reply(text="Ok.")])
    asked(at, agent, "Do not estimate it. " + "Really not. " * 120, "s1", 2)
    return at


def out_of_scope() -> Services:
    """The task moves out of the agent's category, comes back, and is deleted at last."""
    at = services([reply(REPORT), reply()])
    task, agent = task_with_agent(at)
    at.append_journal(do.AddCategory("Secret"))
    at.append_journal(do.EditTask(task, category="Secret"))
    changed(at, agent)
    at.append_journal(do.EditTask(task, category="Inbox"))
    changed(at, agent)
    at.append_journal(do.DeleteTask(task))
    changed(at, agent)
    at.append_journal(do.RestoreTask(task))
    return at


FIRST: tuple[Scene, ...] = (
    rules_first_wake,
    verdicts,
    labels,
    refused_calls,
    provider_faults,
    failures_to_sleep,
    crashes,
    abandoned,
    timers_fire,
    lives,
    imports,
    links,
    sessions,
    out_of_scope,
    *more_scenes.SCENES,
    *stubborn_scenes.SCENES,
    *edge_scenes.SCENES,
)
"""Those that were written before a history knew what was refused, and what views made of it."""

SCENES: tuple[Scene, ...] = (
    *FIRST,
    *person_scenes.SCENES,
    *agent_scenes.SCENES,
    *waiting_scenes.SCENES,
    *template_scenes.SCENES,
    *tool_scenes.SCENES,
    *verdict_scenes.SCENES,
    *lesson_scenes.SCENES,
    *prompt_scenes.SCENES,
    *newer_scenes.SCENES,
    *policy_scenes.SCENES,
    *sleeping_scenes.SCENES,
    *time_scenes.SCENES,
    *file_scenes.SCENES,
    *followup_scenes.SCENES,
    *read_scenes.SCENES,
    *undo_scenes.SCENES,
    *unconfirming_scenes.SCENES,
    *timer_scenes.SCENES,
    *memory_scenes.SCENES,
    *sent_scenes.SCENES,
    *client_scenes.SCENES,
)


def all_histories() -> dict[str, histories.History]:
    """Every history by its name."""
    found = {}
    for scene in SCENES:
        at = scene()
        plain = histories.take_history(at.journal, at.agents)
        found[scene.__name__] = plain if scene in FIRST else taken(at)
    return {**found, "redacted": redacted(found["imports"])}


def main() -> None:
    """Write them all."""
    for name, history in all_histories().items():
        file = FOLDER / f"{name}.jsonl"
        file.write_text("".join(histories.history_lines(history)), encoding="utf-8")
        rows = sum(map(len, history.rows.values()))
        sys.stdout.write(f"{file.name}: {rows} rows, {file.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
