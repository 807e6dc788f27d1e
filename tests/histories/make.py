"""Writes the small history of the present storage format into ``formats/<format>/``.

Run it once for each format, right before that format is released, and never again: what it wrote
is what today's code has to prove for ever. `python -m tests.histories.make`
"""

import asyncio
import json
import sys
from base64 import b64encode
from pathlib import Path

from adapters.models.rules import RulesModel
from adapters.runtime import review, watcher
from adapters.runtime.desk import Desk
from adapters.runtime.performer import run_wake
from adapters.runtime.timers import timer_command
from adapters.store.log import Log
from domain import canonical
from domain.agent import commands as agents
from domain.agent.alertness import ALERT, next_wake
from domain.agent.identity import Wanted
from domain.causes import Replied
from domain.journal import commands as journal
from domain.journal.fold import TASK
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.keys import key
from domain.rules import FORMAT
from domain.wake.events import ModelAnswered
from domain.wire import payload, words
from replay.payloads import named
from tests.support.desks import desk

FOLDER = Path(__file__).parent / "formats"
LONG = "It takes about 2 hours. Due by 2027-03-04. I need to call the plumber. " + "drip " * 250


def history() -> Desk:
    """A desk at which a bit of everything happened."""
    at = desk(model=RulesModel())
    sink = _imported(at, "Fix the sink", "repairs")
    roof = at.keep(journal.CreateTask("Mend the roof", priority="P1")).result.ids[0]
    _edited(at, sink, roof)
    agent = _agent(at, sink)
    _woken(at, agent)
    _decided(at, agent)
    said, kept = words(sink, LONG)
    at.keep(journal.AddNote(sink, "transcript", said), payloads=kept)
    at.keep(journal.AddItems(sink, ("Buy a washer", "Sweep the floor")))
    watcher.catch_up(at)
    at.note(agents.RequestWake(agent, "manual", is_enabled=True), key="a person's own key")
    _woken(at, agent)
    asked = payload(sink, b"What is left to do?")
    request = agents.RequestWake(agent, "user", words=asked.id, is_enabled=True)
    at.note(request, payloads=[asked])
    run_key = _woken(at, agent)
    raw = payload(sink, b"an answer that came too late")
    at.reply(Replied("wake", run_key, ModelAnswered(1, 9, raw.id)), [raw])
    at.note(agents.PauseAgent(agent))
    at.keep(journal.EditTask(sink, priority="P0"))
    watcher.catch_up(at)
    at.note(agents.ResumeAgent(agent, is_enabled=True))
    return at


def _imported(at: Desk, title: str, label: str) -> str:
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
    at.keep(command, payloads=[kept])
    return task


def _edited(at: Desk, sink: str, roof: str) -> None:
    at.keep(journal.AddLabel("garden"))
    at.keep(journal.AddCategory("Outside", "en"))
    at.keep(journal.LinkTask(roof, "blocks", sink))
    at.keep(journal.StartTimer(roof))
    at.keep(journal.StopTimer("looked at it"))
    at.keep(journal.EditTask(roof, status="BLOCKED", reason="it rains", due="2027-05-01"))
    at.keep(journal.DeleteTask(roof))
    at.keep(journal.RestoreTask(roof))


def _agent(at: Desk, task: str) -> str:
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    position = at.journal.tail().n
    command = agents.CreateAgent(
        task, "Fix the sink", category, position, "hybrid", is_enabled=True
    )
    agent = at.note(command).result.ids[0]
    at.note(agents.ConfigureAgent(agent, Wanted(goal="Done by spring")))
    at.note(agents.WatchTokens(agent, ("key:CATEGORY",)))
    at.note(timer_command(agent, "every day 07:00", "Europe/Berlin", at.clock.now()))
    return agent


def _woken(at: Desk, agent: str) -> str:
    with at.agents.reading() as world:
        wake = next_wake(world.load(ALERT, agent))
    assert wake is not None
    asyncio.run(run_wake(at, agent, wake.run_key, is_now=True))
    return wake.run_key


def _decided(at: Desk, agent: str) -> None:
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
    ids = sorted({one for append in log.appends() for row in append for one in named(row.fact)})
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


def main() -> None:
    """Write both logs."""
    at = history()
    folder = FOLDER / str(FORMAT)
    folder.mkdir(parents=True, exist_ok=True)
    for log in (at.journal, at.agents):
        text = "\n".join(lines(log)) + "\n"
        (folder / f"{log.name}.jsonl").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{folder / log.name}.jsonl: {log.count()} rows\n")


if __name__ == "__main__":
    main()
