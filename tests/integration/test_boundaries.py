"""A process that dies at any boundary of an append loses nothing and does nothing twice.

For each kind of work the boundaries are counted in a run without a fault. Then, for every one
of them, a fresh copy of the same home dies there, is opened again, recovered and finished. The
clock stands still, so the journal must come out byte for byte as in the uninterrupted run.

Right after one append and right before the next one the same is left: what is left is opened again
and finished once, however often it is come to.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from adapters.home.settings import Settings
from adapters.importers import markdown
from adapters.runtime import on_demand, recovery, review, watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.sqlite import SQLiteLogRecorder
from domain.agent.agent import AGENT, Agent
from domain.agent.commands import RequestWake
from domain.agent.wake_queue import WAKE_QUEUE
from domain.changes.change_set import CHANGES
from domain.journal.catalog import label_id
from domain.journal.commands import AddLabel, AddNote, ImportedRef, ImportTasks
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.wire import Words, payload
from domain.ports import Reply, Request
from domain.wake.wake import WAKE
from tests.support import whole
from tests.support.faults import Died, FaultyRecorder, Fuse
from tests.support.services import START, StillClock, task_with_agent
from wakelog.testing import REPORT
from wakelog.testing import calls as reply

LOGS = ("journal", "agent")
LABEL_NAME = "plumbing"


class Script:
    """Answers each turn of a wake with its own calls, however often it is asked."""

    name = "tape:script"

    def __init__(self, *turns: Reply) -> None:
        self._turns = turns

    async def reply(self, request: Request) -> Reply:
        nth = len(request.exchanges)
        return self._turns[nth] if nth < len(self._turns) else reply(text="Done.")


def opened(folder: Path, model: Script, fuse: Fuse | None = None) -> Services:
    """Services over the files of a folder, dying where the fuse says."""
    made = []
    for name in LOGS:
        recorder = SQLiteLogRecorder(folder / f"{name}.db")
        made.append(Log(name, FaultyRecorder(recorder, fuse) if fuse else recorder, "r1"))
    return Services(made[0], made[1], StillClock(START), Settings(), lambda _: model)


class Work(NamedTuple):
    """Some work on a home: what stands before it, and what is done. `does` is what a person
    repeats after a crash; everything else is for `recover`."""

    model: Script
    prepare: Callable[[Services], None]
    does: Callable[[Services], None]


def quiet(*_: object) -> None:
    """Progress that nobody hears."""


def wakes(services: Services) -> None:
    on_demand.run_ready(services, whole.agents_of(services), quiet)


def recover(services: Services) -> None:
    agents, sets = whole.agents_of(services), whole.sets_of(services)
    for step in recovery.recover(services, agents, sets, [], quiet):
        assert step.error == ""


OBSERVED = ("record_observations", '{"observations":["It drips.","Still."]}')
ITEMS = ("add_multiple_checklist_items", '{"items":[{"title":"Buy glue"},{"title":"Dry it"}]}')
MINUTES = ("update_task_estimate", '{"minutes":45}')
GERMAN = ("set_task_language", '{"languageCode":"de","confidence":"high"}')
PROPOSING = Script(reply(MINUTES, ITEMS), reply(OBSERVED, REPORT))
SPEAKING = Script(reply(GERMAN, MINUTES), reply(REPORT))


def queued(services: Services) -> None:
    task_with_agent(services)
    watcher.catch_up(services)


def labelled(services: Services) -> None:
    label = services.append_journal(AddLabel(LABEL_NAME)).result.ids[0]
    assert label == LABEL
    queued(services)
    wakes(services)


def proposed(services: Services) -> None:
    queued(services)
    wakes(services)


def confirming(*items: int) -> Callable[[Services], None]:
    def confirms(services: Services) -> None:
        (one,) = whole.sets_of(services)
        for item in items:
            review.confirm(services, one, item)

    return confirms


def rejects(services: Services) -> None:
    (one,) = whole.sets_of(services)
    review.reject(services, one, 1, "never")


def catches_up(services: Services) -> None:
    watcher.catch_up(services)


def written_to(services: Services) -> None:
    queued(services)
    wakes(services)
    task = task_of(services)
    for nth in range(watcher.APPENDS_MAX + 20):
        services.append_journal(AddNote(task, "note", Words(f"note {nth}")))


def asks(services: Services) -> None:
    agent = whole.agents_of(services)[0]
    services.append_agent(RequestWake(agent, "manual", is_enabled=True), key="wake")
    wakes(services)


FILE = "\n".join(f"- [ ] Task {n} #home\n  - [ ] step {n}\n  A note." for n in range(7))


def imports(services: Services) -> None:
    file = markdown.read(FILE.encode(), source="todo.md")
    for nth in range(0, len(file.tasks), 2):
        batch = file.tasks[nth : nth + 2]
        kept = [payload(task.task_id, canonical.encode(task)) for task in batch]
        refs = [ImportedRef(task.task_id, one.id) for task, one in zip(batch, kept, strict=True)]
        command = ImportTasks(file.source, tuple(refs))
        services.append_journal(command, key=f"import:{nth}", payloads=kept)


def task_of(services: Services) -> str:
    with services.agents.reading() as world:
        return world.load(AGENT, whole.agents_of(services)[0]).task


LABEL = label_id(LABEL_NAME)
LABELLING = Script(
    reply(("assign_task_labels", f'{{"labels":[{{"id":"{LABEL}","confidence":"high"}}]}}'), REPORT)
)

WORKS: dict[str, Work] = {
    "a confirm": Work(PROPOSING, proposed, confirming(1)),
    "confirms of a whole set": Work(PROPOSING, proposed, confirming(1, 2, 3)),
    "an immediate tool": Work(SPEAKING, queued, wakes),
    "a whole wake": Work(PROPOSING, queued, wakes),
    "a wake that is asked for": Work(PROPOSING, proposed, asks),
    "a rejection that suppresses a label": Work(LABELLING, labelled, rejects),
    "an import of several batches": Work(PROPOSING, quiet, imports),
    "a catch-up of several batches": Work(PROPOSING, written_to, catches_up),
}


def journal_of(services: Services) -> list[Any]:
    return list(services.journal.rows())


def outcome(services: Services) -> dict[str, object]:
    """What a person has of it in the end: tasks, wakes, proposals, reports, observations."""
    with services.journal.reading() as journal, services.agents.reading() as agents:
        tasks = {row.entity for row in whole.rows_of(services.journal) if row.of_kind == "task"}
        runs = {row.entity for row in whole.rows_of(services.agents) if row.of_kind == "wake"}
        agent_ids = whole.agents_of(services)
        sets = [agents.load(CHANGES, one) for one in whole.sets_of(services)]
        found = [agents.load(WAKE, one) for one in sorted(runs)]
        queue_facts = [agents.load(WAKE_QUEUE, one) for one in agent_ids]
        return {
            "tasks": [journal.load(TASK, one) for one in sorted(tasks)],
            "wakes": [(one.run_key, one.outcome, one.report, one.turn) for one in found],
            "items": [(one.id, item.status, item.error) for one in sets for item in one.items],
            "agents": [placeless(agents.load(AGENT, one)) for one in agent_ids],
            "queued": [(one.begun, one.queued) for one in queue_facts],
        }


def placeless(agent: Agent) -> Agent:
    """An agent without where in the log it noted what: recovering takes appends of its own."""
    kept = ("observations", "critical", "newest")
    return replace(
        agent,
        **{name: tuple(replace(one, position="") for one in getattr(agent, name) or ())
           for name in kept},
    )  # fmt: skip


class Run(NamedTuple):
    """What a run came to."""

    boundaries: int
    journal: list[Any]
    outcome: dict[str, object]


def prepared(folder: Path, work: Work) -> Path:
    folder.mkdir()
    services = opened(folder, work.model)
    work.prepare(services)
    services.close()
    return folder


def uninterrupted(folder: Path, work: Work) -> Run:
    fuse = Fuse()
    services = opened(folder, work.model, fuse)
    work.does(services)
    assert whole.faults(services) == []
    run = Run(fuse.passed, journal_of(services), outcome(services))
    services.close()
    return run


def died(folder: Path, work: Work, fuse: Fuse, does: Callable[[Services], None]) -> None:
    """Do the work in a process that dies, and leave its files as they are then."""
    services = opened(folder, work.model, fuse)
    with pytest.raises(Died):
        does(services)
    services.close()


def finished(folder: Path, work: Work, expected: Run) -> None:
    """Open again, recover, repeat what the person asked for: all must be as if nothing had been."""
    services = opened(folder, work.model)
    recover(services)
    work.does(services)
    assert whole.faults(services) == []
    assert journal_of(services) == expected.journal
    assert outcome(services) == expected.outcome
    rows = services.journal.count(), services.agents.count()
    recover(services)
    work.does(services)
    assert (services.journal.count(), services.agents.count()) == rows, (
        "a second time changed something"
    )
    services.close()


def left(folder: Path) -> tuple[object, ...]:
    """All that both logs hold when their process has died."""
    found: list[object] = []
    for name in LOGS:
        with closing(sqlite3.connect(folder / f"{name}.db")) as log:
            for table in ("stored_events", "payloads"):
                found += log.execute(f"SELECT * FROM {table} ORDER BY rowid")
    return tuple(found)


@pytest.fixture
def copies(tmp_path: Path) -> Callable[[Path], Path]:
    def copy(folder: Path) -> Path:
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        return shutil.copytree(folder, tmp_path / "copy")

    return copy


@pytest.mark.parametrize("name", WORKS)
def test_dying_at_any_boundary_changes_nothing(
    name: str, tmp_path: Path, copies: Callable[[Path], Path]
) -> None:
    work = WORKS[name]
    home = prepared(tmp_path / "home", work)
    expected = uninterrupted(copies(home), work)
    assert expected.boundaries >= 4
    assert expected.boundaries % 2 == 0
    seen = set[tuple[object, ...]]()
    for k in range(1, expected.boundaries + 1):
        folder = copies(home)
        died(folder, work, Fuse(k), work.does)
        if (state := left(folder)) not in seen:
            seen.add(state)
            finished(folder, work, expected)
    assert len(seen) == expected.boundaries // 2 + 1


@pytest.mark.parametrize("name", ["an immediate tool", "a confirm", "a whole wake"])
def test_dying_again_while_recovering_changes_nothing(
    name: str, tmp_path: Path, copies: Callable[[Path], Path]
) -> None:
    work = WORKS[name]
    home = prepared(tmp_path / "home", work)
    expected = uninterrupted(copies(home), work)
    begun, ended = set[tuple[object, ...]](), set[tuple[object, ...]]()
    for k in range(1, expected.boundaries + 1):
        first = copies(home).rename(tmp_path / f"died {k}")
        died(first, work, Fuse(k), work.does)
        if (state := left(first)) in begun:
            continue
        begun.add(state)
        for j in range(1, expected.boundaries + 3):  # bounded: recovering has no more than these
            folder, fuse = copies(first), Fuse(j)
            services = opened(folder, work.model, fuse)
            with suppress(Died):
                recover(services)
            services.close()
            if (state := left(folder)) not in ended:
                ended.add(state)
                finished(folder, work, expected)
            if not fuse.has_blown:
                break
    assert len(begun) == expected.boundaries // 2 + 1
    assert len(ended) >= len(begun)
