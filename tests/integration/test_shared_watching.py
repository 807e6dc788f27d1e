"""What another machine changed wakes this one's agents once it is known here, and is shown to them;
the wake proves (plan of sync, sections 7 and 8)."""

import asyncio

from adapters.documents.timetravel import prompt_again
from adapters.proof.prove import prove_logs
from adapters.runtime import watcher
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.remote_appends import RemoteAppend
from adapters.timetravel.logs_at import Past
from adapters.timetravel.why import trigger_fates
from domain.agent.commands import TakeJournal
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append.causes import Receipt
from domain.journal.commands import AddNote, CreateTask, EditTask
from domain.journal.task import TASK
from domain.log.wire import Words
from domain.wake.commands import BeginWake
from tests.support.services import START, queued_key, reply, services, task_with_agent


def taken_in(log: Log, by: Log, now: str = START) -> None:
    """Let a journal know what another machine wrote."""
    after = by.heads().get(log.replica)
    theirs = log.appends_of(log.replica, after.n if after else 0)
    by.bring([RemoteAppend(tuple(rows), ()) for rows in theirs], now)


def shared() -> tuple[Services, Log, str, str]:
    """A desk with a task and its agent, which has woken once, and a laptop that knows both."""
    at, laptop = services([reply(text="Fine."), reply(text="Seen.")]), Log.in_memory("journal", "a")
    task, agent = task_with_agent(at)
    for one in at.journal, laptop:
        one.share(START)
    taken_in(at.journal, laptop)
    watcher.catch_up(at)
    asyncio.run(run_wake(at, agent, queued_key(at, agent), is_now=True))
    return at, laptop, task, agent


def batches(at: Services) -> list[tuple[int, str, str, int]]:
    """What was taken of the journal: its number and replica here, and where it was written."""
    return [
        (batch.n, batch.replica, batch.of, batch.of_n)
        for rows in at.agents.appends()
        if isinstance(rows[0].fact, Receipt) and isinstance(rows[0].fact.command, TakeJournal)
        for batch in rows[0].fact.command.batches
    ]


def told(at: Services, section: str) -> str:
    """What the newest wake was told in a section."""
    firsts = [rows[0].fact for rows in at.agents.appends()]
    causes = [one.command for one in firsts if isinstance(one, Receipt)]
    begun = [one for one in causes if isinstance(one, BeginWake)][-1]
    ref = next(one for one in begun.user if one.name == section)
    return (at.agents.payload(ref.payload) or b"").decode()


def test_what_the_laptop_wrote_wakes_the_desks_agent_though_it_is_numbered_below() -> None:
    at, laptop, task, agent = shared()
    for nth in range(9):
        at.append_journal(CreateTask(f"Of the desk {nth}"))
    watcher.catch_up(at)
    assert not queued_key(at, agent)
    laptop.append(EditTask(task, title="Fix the tap"), START)
    laptop.append(AddNote(task, "note", Words("The tap drips, too.")), START)
    written = laptop.tail().n
    assert written < watcher.position(at)
    taken_in(laptop, at.journal)
    watcher.catch_up(at)
    marker = at.journal.tail().n
    assert batches(at)[-2:] == [
        (marker, at.journal.replica, "a", written - 1),
        (marker, at.journal.replica, "a", written),
    ]
    with at.agents.reading() as world:
        queued = world.load(WAKE_QUEUE, agent).queued
    assert queued is not None
    assert {(one.of, one.of_n) for one in queued.triggers} == {("a", written - 1), ("a", written)}
    asyncio.run(run_wake(at, agent, queued.run_key, is_now=True))
    assert "retitled by person" in told(at, "changed")
    assert "note_added by person" in told(at, "changed")
    proved = prove_logs(at.journal, at.agents)
    assert proved.divergences == ()
    assert proved.prompts == 2
    told_of = {(one.position, one.what, one.outcome) for one in trigger_fates(at, agent, 50)}
    assert {one for one in told_of if one[0].startswith("journal:a:")} == {
        (f"journal:a:{written - 1}", "retitled by you", "woke"),
        (f"journal:a:{written}", "note added by you", "merged"),
    }
    past, here = Past(at.journal, at.agents), at.journal.replica
    assert {one.is_same for one in prompt_again(past, queued.run_key, here)} == {True}
    titles = [past.journal.world(n).load(TASK, task).title for n in (marker - 1, marker)]
    assert titles == ["Fix the sink", "Fix the tap"]
    assert past.journal.world(written, "a").load(TASK, task).title == "Fix the tap"


def test_a_time_is_of_this_machine_though_the_clock_of_another_is_ahead() -> None:
    at, laptop, task, _ = shared()
    for nth in range(5):
        laptop.append(EditTask(task, title=f"Title {nth}"), "2099-01-01T00:00:00.000000Z")
    for nth in range(9):
        at.append_journal(CreateTask(f"Of the desk {nth}"))
    taken_in(laptop, at.journal, at.journal.tail().at)
    own, now = at.journal.tail().n, at.journal.tail().at
    past = Past(at.journal, at.agents).journal
    assert past.until(now) == own
    assert past.until(now, is_with=False) < own
    assert past.until("2026-01-01T00:00:00.000000Z") == 0


def test_what_is_numbered_above_comes_with_its_marker_and_once() -> None:
    at, laptop, task, _ = shared()
    for nth in range(9):
        laptop.append(EditTask(task, title=f"Title {nth}"), START)
    taken_in(laptop, at.journal)
    at.append_journal(CreateTask("Between"))
    taken = len(batches(at))
    watcher.catch_up(at)
    last = laptop.tail().n
    assert [one[2:] for one in batches(at)[taken:]] == [
        *(("a", n) for n in range(last - 8, last + 1)),
        ("", 0),
    ]
    assert watcher.lag(at) == 0
    assert prove_logs(at.journal, at.agents).divergences == ()
