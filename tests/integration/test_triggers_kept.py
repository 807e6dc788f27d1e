"""More triggers than an agent's attention keeps, and a person who supersedes the wake that has
them: each is counted here by its row alone, whatever folds and views say (DESIGN 2, law 9)."""

import json
from collections import Counter, defaultdict

import pytest

from adapters.home.views import Views
from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.timetravel import why
from adapters.usecases.proving import broken_laws
from domain.agent.commands import RequestWake
from domain.agent.wake_queue import TRIGGERS_KEPT, WAKE_QUEUE
from domain.append.causes import Receipt
from domain.journal import commands as do
from domain.log.wire import payload
from projections.wakes import VIEW
from tests.histories.acting import REPORT, answers, woken
from tests.support.analysed import Tables
from tests.support.services import divergences, queued_key, services, task_with_agent
from wakelog.testing import calls as reply

COUNT = 2 * TRIGGERS_KEPT + 30
ROWS_MAX = TRIGGERS_KEPT + 10  # of one append that supersedes


def changed(at: Services, task: str, count: int) -> None:
    for nth in range(count):
        at.append_journal(do.EditTask(task, title=f"Title {nth} of {count}"))
    watcher.catch_up(at)


def asked(at: Services, agent: str, text: str) -> str:
    said = payload(at.agent(agent).task, text.encode())
    command = at.request(agent, "user", "s", len(text), said.id)
    return at.append_agent(command, payloads=[said]).result.ids[1]


@pytest.fixture
def home() -> tuple[Services, str]:
    """An agent whose first wake is over."""
    at = services()
    _, agent = task_with_agent(at)
    answers(at, [reply(REPORT), reply(), *[reply(text="Seen.")] * 9])
    woken(at, agent)
    return at, agent


def ends(at: Services) -> dict[str, Counter[str]]:
    """For each trigger the wakes that have it in the end, by rows alone."""
    rows: defaultdict[str, set[str]] = defaultdict(set)
    heirs: dict[str, str] = {}
    gone: set[str] = set()
    for row in at.agents.rows():
        data = json.loads(row.state)["data"]
        if data["kind"] in ("alert.wake_queued.1", "alert.trigger_merged.1"):
            rows[json.dumps(data["trigger"], sort_keys=True)].add(data["runKey"])
        elif data["kind"] == "alert.wake_dropped.1" and data["code"] == "superseded":
            gone.add(data["runKey"])
            heirs |= {data["runKey"]: data["by"]} if data.get("leftOut") else {}
    found: dict[str, Counter[str]] = {}
    for trigger, named in rows.items():
        living = named - gone
        for run_key in named if not living else ():
            last = run_key
            while last in heirs:
                last = heirs[last]
            living |= {last} - gone
        found[trigger] = Counter(living)
    return found


def is_request(fact: object) -> bool:
    return isinstance(fact, Receipt) and isinstance(fact.command, RequestWake)


def lost(at: Services) -> int:
    found = ends(at)
    assert all(len(one) <= 1 for one in found.values())
    return sum(not one for one in found.values())


def counted(at: Services, run_key: str) -> int:
    views = Views.in_memory({"journal": at.journal, "agent": at.agents})
    views.catch_up()
    document = views.get(VIEW, run_key)
    assert document is not None
    return document.cause_count


def test_a_wake_that_supersedes_has_every_trigger_in_bounded_rows(
    home: tuple[Services, str],
) -> None:
    """Three times in a row: by a button, a question, and one more; then changes join the last."""
    at, agent = home
    task = at.agent(agent).task
    changed(at, task, COUNT)
    keys = [queued_key(at, agent), at.append_agent(at.request(agent)).result.ids[1]]
    keys += [asked(at, agent, text) for text in ("Why?", "And now?")]
    changed(at, task, 5)
    assert lost(at) == 0
    shares = Counter(run_key for one in ends(at).values() for run_key in one)
    assert shares[keys[-1]] == COUNT + 3 + 5
    assert not {*keys[:-1]} & {*shares}
    assert [counted(at, one) for one in keys] == [COUNT, COUNT + 1, COUNT + 2, COUNT + 8]
    with at.agents.reading() as world:
        queued = world.load(WAKE_QUEUE, agent).queued
    assert queued is not None
    assert (len(queued.triggers), queued.trigger_count) == (TRIGGERS_KEPT, COUNT + 8)
    assert len(queued.words) == 2
    sizes = [len(one) for one in at.agents.appends() if is_request(one[0].fact)]
    assert (len(sizes), max(sizes) < ROWS_MAX) == (3, True)
    assert woken(at, agent) == keys[-1]
    assert (broken_laws(at), divergences(at)) == ([], [])


def test_what_an_older_command_lost_is_lost_and_the_laws_say_so(
    home: tuple[Services, str],
) -> None:
    at, agent = home
    changed(at, at.agent(agent).task, COUNT)
    at.append_agent(RequestWake(agent, "manual", is_enabled=True))
    assert lost(at) == COUNT - TRIGGERS_KEPT
    woken(at, agent)
    assert sum("law 9: journal append" in one for one in broken_laws(at)) == COUNT - TRIGGERS_KEPT
    assert divergences(at) == []


def test_why_and_the_tables_name_the_wake_that_has_a_trigger_in_the_end(
    home: tuple[Services, str],
) -> None:
    at, agent = home
    changed(at, at.agent(agent).task, COUNT)
    tables = Tables(at.agents, at.journal)
    at.append_agent(at.request(agent))
    tables.catch_up()
    last = asked(at, agent, "Why?")
    woken(at, agent)
    told = [one for one in why.trigger_fates(at, agent, COUNT + 9) if one.reason == "subscription"]
    newest = [one for one in told if one.run_key]
    assert {(one.outcome, one.run_key) for one in newest} == {("merged", last)}
    assert len(newest) == COUNT
    tables.catch_up()
    assert tables.contents() == Tables(at.agents, at.journal).contents()
    triggers = "SELECT count(*), count(DISTINCT trigger_id) FROM triggers WHERE run_key = ?"
    assert tables.ask(triggers, last) == [(COUNT + 2, COUNT + 2)]
    assert tables.one("SELECT causes FROM wakes WHERE run_key = ?", last) == COUNT + 2
    begun = "SELECT count(*) FROM caused_by WHERE why = 'was merged into it'"
    assert TRIGGERS_KEPT < tables.one(begun) < ROWS_MAX
