"""Writes the small history of the present storage format into ``formats/<format>/``.

Run it once for each format, right before that format is released, and never again: what it wrote
is what today's code has to prove for ever. `python -m tests.histories.make`

With a release and a home that was lived in by its commands it writes that one, into
``formats/<release>/``: `python -m tests.histories.make 0.2.0 HOME`. So was
``0.2.0-files``: timers, imports, what is gone, links, undo and sleep as fbc28b1d wrote them; and
``3``, a home in which a task and an agent were erased (ADR 107).
"""

import asyncio
import json
import sys
from base64 import b64encode
from pathlib import Path

from adapters.models.rules.model import RulesModel
from adapters.runtime import review, watcher
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.runtime.timers import timer_command
from adapters.store.log import Log
from domain.agent import commands as agents
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.append.causes import Replied
from domain.append.texts import payloads_named
from domain.journal import commands as journal
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.keys import key
from domain.log.rules import FORMAT
from domain.log.wire import payload, words
from domain.wake.wake import ModelAnswered
from tests.support.services import services

FOLDER = Path(__file__).parent / "formats"
LONG = "It takes about 2 hours. Due by 2027-03-04. I need to call the plumber. " + "drip " * 250


def history() -> Services:
    """Services at which a bit of everything happened."""
    at = services(model=RulesModel())
    sink = _imported(at, "Fix the sink", "repairs")
    roof = at.append_journal(journal.CreateTask("Mend the roof", priority="P1")).result.ids[0]
    _edited(at, sink, roof)
    agent = _agent(at, sink)
    _woken(at, agent)
    _decided(at, agent)
    said, kept = words(sink, LONG)
    at.append_journal(journal.AddNote(sink, "transcript", said), payloads=kept)
    at.append_journal(journal.AddItems(sink, ("Buy a washer", "Sweep the floor")))
    watcher.catch_up(at)
    at.append_agent(agents.RequestWake(agent, "manual", is_enabled=True), key="a person's own key")
    _woken(at, agent)
    asked = payload(sink, b"What is left to do?")
    request = agents.RequestWake(agent, "user", words=asked.id, is_enabled=True)
    at.append_agent(request, payloads=[asked])
    run_key = _woken(at, agent)
    raw = payload(sink, b"an answer that came too late")
    at.append_reply(Replied("wake", run_key, ModelAnswered(1, 9, raw.id)), [raw])
    at.append_agent(agents.PauseAgent(agent))
    at.append_journal(journal.EditTask(sink, priority="P0"))
    watcher.catch_up(at)
    at.append_agent(agents.ResumeAgent(agent, is_enabled=True))
    return at


def _imported(at: Services, title: str, label: str) -> str:
    task = key("task", "histories", title)
    document = ImportedTask(
        task,
        title,
        category="Home",
        labels=(label,),
        items=(ImportedItem("Turn the water off", is_checked=True), ImportedItem("Call Kim")),
        notes=(ImportedNote("It is urgent."), ImportedNote(LONG)),
    )
    kept = payload(task, canonical.encode(document))
    command = journal.ImportTasks("todo.md", (journal.ImportedRef(task, kept.id),))
    at.append_journal(command, payloads=[kept])
    return task


def _edited(at: Services, sink: str, roof: str) -> None:
    at.append_journal(journal.AddLabel("garden"))
    at.append_journal(journal.AddCategory("Outside", "en"))
    at.append_journal(journal.LinkTask(roof, "blocks", sink))
    at.append_journal(journal.StartTimer(roof))
    at.append_journal(journal.StopTimer("looked at it"))
    at.append_journal(journal.EditTask(roof, status="BLOCKED", reason="it rains", due="2027-05-01"))
    at.append_journal(journal.DeleteTask(roof))
    at.append_journal(journal.RestoreTask(roof))


def _agent(at: Services, task: str) -> str:
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    position = at.journal.tail().n
    command = agents.CreateAgent(
        task, "Fix the sink", category, position, "hybrid", is_enabled=True
    )
    agent = at.append_agent(command).result.ids[0]
    at.append_agent(agents.ConfigureAgent(agent, AgentSettings(goal="Done by spring")))
    at.append_agent(agents.WatchTokens(agent, ("key:CATEGORY",)))
    at.append_agent(timer_command(agent, "every day 07:00", "Europe/Berlin", at.clock.now()))
    return agent


def _woken(at: Services, agent: str) -> str:
    with at.agents.reading() as world:
        wake = next_wake(world.load(WAKE_QUEUE, agent))
    assert wake is not None
    asyncio.run(run_wake(at, agent, wake.run_key, is_now=True))
    return wake.run_key


def _decided(at: Services, agent: str) -> None:
    """The first proposal confirmed, the second rejected, the third put off."""
    for set_id in at.agent(agent).sets:
        for nth, item in enumerate(review.changes_of(at, set_id).items):
            if nth % 3 == 0:
                review.confirm(at, set_id, item.number)
            elif nth % 3 == 1:
                review.reject(at, set_id, item.number, "not now")
            else:
                review.defer(at, set_id, item.number, "later")


# --------------------------------------------------------------------------------------- writing


def lines(log: Log) -> list[str]:
    """A log as JSON Lines: its payloads by id, then its rows in order."""
    ids = sorted(
        {one for append in log.appends() for row in append for one in payloads_named(row.fact)}
    )
    found = [{"payload": one, "base64": b64encode(log.payload(one) or b"").decode()} for one in ids]
    rows = [
        {
            "stream": row.stream,
            "version": row.version,
            "topic": row.topic,
            "state": row.state.decode(),
        }
        for row in log.rows()
    ]
    return [json.dumps(one, ensure_ascii=False) for one in (*found, *rows)]


def main(release: str = "", home: str = "") -> None:
    """Write both logs."""
    if release:
        logs = [Log.open(name, Path(home) / f"{name}.db", "r1") for name in ("journal", "agent")]
    else:
        at = history()
        logs = [at.journal, at.agents]
    folder = FOLDER / (release or str(FORMAT))
    folder.mkdir(parents=True, exist_ok=True)
    for log in logs:
        text = "\n".join(lines(log)) + "\n"
        (folder / f"{log.name}.jsonl").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{folder / log.name}.jsonl: {log.count()} rows\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
