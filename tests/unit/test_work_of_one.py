"""What is done about one agent or change reads as much in a home of five agents as in a larger one;
what is due of the others is done all the same."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.documents.agents import all_agents, count_agents, has_agents
from adapters.documents.inbox import all_sets, page_of_sets, set_documents
from adapters.documents.status import count_status, health_document, status_document
from adapters.home.home_location import FolderLocation
from adapters.home.settings import AgentsSettings, Settings
from adapters.models.rules.model import RulesModel
from adapters.runtime import on_demand, review, timers, watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.timetravel import why
from adapters.usecases.proposals import named_items
from adapters.usecases.task_history import why_field
from adapters.usecases.wake_agents import request_wake, run_wake
from adapters.wiring import Home
from domain.agent.commands import DestroyAgent, PauseAgent, UnwatchTokens, WatchTokens
from domain.agent.subscriptions import WATCH, taken_of
from domain.changes.change_set import CHANGES, is_open
from domain.journal.commands import AddNote
from domain.log.state import MAIN
from domain.log.timestamps import later
from domain.log.wire import Words
from domain.templates import template as templates
from domain.templates.commands import AssignTemplate, CreateTemplate
from domain.templates.template import TEMPLATE
from tests.support.counting import CountingRecorder, CountingViews
from tests.support.services import StillClock, TickingClock, task_with_agent

DAYS = 30 * 86_400


class Counted:
    """A home of so many tasks, each with an agent that has proposed something and has a timer."""

    def __init__(self, count: int) -> None:
        self.recorders = CountingRecorder(), CountingRecorder()
        journal, agents = (
            Log(name, one, "r1")
            for name, one in zip(("journal", "agent"), self.recorders, strict=True)
        )
        settings = Settings(agents=AgentsSettings(expire_after_days=2))
        self.at = Services(journal, agents, TickingClock(), settings, lambda _: RulesModel())
        made = [task_with_agent(self.at, f"Task {nth}") for nth in range(count)]
        self.tasks, self.agents = ([one[side] for one in made] for side in (0, 1))
        for task in self.tasks:
            self.at.append_journal(AddNote(task, "note", Words("Takes about 60 minutes.")))
        watcher.catch_up(self.at)
        on_demand.run_ready(self.at, self.agents, lambda *_: None)
        for agent in self.agents:
            schedule = timers.timer_command(agent, "every day 07:00", "UTC", self.at.clock.now())
            self.at.append_agent(schedule)
        self.views = CountingViews(None, {"journal": journal, "agent": agents})
        self.home = Home(FolderLocation(Path("nowhere")), self.at, self.views, exists=True)
        self.views.catch_up()
        self._read_before = self.read

    def start_anew(self) -> None:
        """Stand as a new process does, which has folded nothing."""
        for log, recorder in zip(("journal", "agents"), self.recorders, strict=True):
            setattr(self.at, log, Log(getattr(self.at, log).name, recorder, "r1"))

    @property
    def rows_read(self) -> tuple[int, ...]:
        """How many rows of the streams of each log were read."""
        return tuple(one.rows_read for one in self.recorders)

    @property
    def read(self) -> tuple[int, ...]:
        return (*(one.streams for one in self.recorders), self.views.documents)

    def read_since(self) -> list[int]:
        """How many streams of each log and documents were read since this was asked last."""
        before, self._read_before = self._read_before, self.read
        return [now - then for now, then in zip(self._read_before, before, strict=True)]


@pytest.fixture(scope="module")
def homes() -> list[Counted]:
    return [Counted(5), Counted(30)]


def alike(homes: Iterable[Counted], deed: Callable[[Counted], object]) -> None:
    """A deed reads the same in a small home and a large one; `read_since` ends what prepares it."""
    found = []
    for one in homes:
        one.read_since()
        deed(one)
        found.append(one.read_since())
    small, large = found
    assert small == large


def inbox_read(one: Counted, *, is_all: bool) -> None:
    sets, left = page_of_sets(one.home, is_all=is_all, limit=3)
    assert len(set_documents(one.home, sets, is_all=is_all)) == 3
    assert left == len(one.agents) - 3


def proposal_found(one: Counted, *, by_rank: bool) -> None:
    sought = all_sets(one.home)[3]
    one.read_since()
    (named,) = named_items(
        one.home, "confirm", ["4.1" if by_rank else f"{sought.id}.1"], is_all=False
    )
    assert (named.set_id, named.number, named.ref) == (sought.id, 1, "4.1")


def change_told(one: Counted) -> None:
    n = change_of(one)
    one.read_since()
    ((document, _),) = why.fates_of_change(one.home, n)
    assert document.id == one.agents[3]


DEEDS: dict[str, Callable[[Counted], object]] = {
    "the wake of one agent": lambda one: request_wake(one.home, one.agents[3]),
    "the status": lambda one: status_document(one.home),
    "an inbox": partial(inbox_read, is_all=False),
    "an inbox with what is decided": partial(inbox_read, is_all=True),
    "a proposal found by its rank": partial(proposal_found, by_rank=True),
    "a proposal found by its id": partial(proposal_found, by_rank=False),
    "why of one change": change_told,
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_deed_about_one_reads_the_same_in_a_home_of_any_size(
    homes: list[Counted], deed: str
) -> None:
    alike(homes, DEEDS[deed])


def test_a_new_process_wakes_one_of_any_number_that_share_a_template() -> None:
    found = []
    for count in (5, 30):
        one = Counted(count)
        made = CreateTemplate("Plain", Words("Be brief."), Words("One line."), "rules")
        template = one.at.append_agent(made).result.ids[0]
        for agent in one.agents:
            one.at.append_agent(AssignTemplate(agent, template))
        change_of(one)
        one.start_anew()
        before = one.rows_read
        assert status_document(one.home).lag == 0
        assert one.at.model_name(one.at.agent(one.agents[3])) == "rules"
        asked = request_wake(one.home, one.agents[3])
        run_wake(one.home, one.agents[3], asked.run_key, lambda _: None)
        found.append([now - then for now, then in zip(one.rows_read, before, strict=True)])
        for told in (one.at.agents, Log("agent", one.recorders[1], "r1")):  # known, and anew
            with told.reading() as world:
                known = templates.load(world, template)
                assert replace(world.load(TEMPLATE, template), instances=()) == known
                assert taken_of(world, "r1") == world.load(WATCH, MAIN).taken["r1"]
    small, large = found
    assert small == large


def test_why_a_field_is_as_it_is_reads_the_same_in_a_home_of_any_size() -> None:
    def told(one: Counted) -> None:
        (mine,) = (of for of in all_sets(one.home) if of.task_id == one.tasks[3])
        item = next(of for of in mine.items if of.tool == "update_task_estimate")
        review.confirm(one.at, mine.id, item.number)
        one.views.catch_up()
        one.read_since()
        steps = why_field(one.home, one.tasks[3], "estimate").steps
        assert [of.kind for of in steps] == ["confirmed", "proposed", "wake", "woken"]

    alike(map(Counted, (5, 30)), told)


def test_what_is_listed_of_many_agents_is_read_and_the_rest_is_counted() -> None:
    def listed(one: Counted) -> None:
        count = len(one.agents)
        for agent in one.agents:
            one.at.append_agent(one.at.request(agent))
        one.at.append_agent(PauseAgent(one.agents[1]))
        one.views.catch_up()
        whole = status_document(one.home)
        assert (len(whole.queued), count_status(one.home)) == (count - 1, (count - 1, 0))
        assert [count_agents(one.home, life) for life in ("", "dormant")] == [count, 1]
        one.read_since()
        assert status_document(one.home, 3).queued == whole.queued[:3]
        assert not health_document(one.home).checks[0].ok
        assert [of.id for of in all_agents(one.home, "active", 1)] == one.agents[:1]
        assert [of.id for of in all_agents(one.home, "dormant")] == [one.agents[1]]
        assert (has_agents(one.home), all_agents(one.home, "unknown")) == (True, [])

    alike(map(Counted, (8, 40)), listed)


def test_the_status_counts_what_it_does_not_read(homes: list[Counted]) -> None:
    for one in homes:
        said = status_document(one.home)
        sets, agents = all_sets(one.home), all_agents(one.home)
        assert said.open_proposals == sum(is_open(item) for of in sets for item in of.items) > 0
        assert said.next_due == min(of.next_wake_at for of in agents if of.next_wake_at)
        assert said.agents.living == len(agents)


def test_what_is_open_is_listed_however_many_were_decided_since() -> None:
    one = Counted(5)
    waits, *others = all_sets(one.home)
    for of in others:
        for item in of.items:
            review.reject(one.at, of.id, item.number, "")
    one.views.catch_up()
    sets, left = page_of_sets(one.home, is_all=True, limit=1)
    assert [of.id for of in sets] == [waits.id, others[-1].id]
    assert left == len(others) - 1 > 1


def test_with_the_wake_of_one_what_is_due_of_all_is_done() -> None:
    one = Counted(5)
    at, now = one.at, later(one.at.clock.now(), seconds=DAYS)
    ticks = {agent: at.agent(agent).timers[0].next_at for agent in one.agents}
    at.clock = StillClock(now)
    request_wake(one.home, one.agents[3])
    for agent in one.agents:
        assert ticks[agent] < now < at.agent(agent).timers[0].next_at
        with at.agents.reading() as world:
            sets = [world.load(CHANGES, set_id) for set_id in at.agent(agent).sets]
        assert sets
        assert not any(is_open(item) for changes in sets for item in changes.items)


def change_of(one: Counted) -> int:
    """A note that the agent of its task hears of, taken; its place in the journal."""
    one.at.append_journal(AddNote(one.tasks[3], "note", Words("Thank you.")))
    watcher.catch_up(one.at)
    one.views.catch_up()
    return one.at.journal.tail().n


def test_why_of_a_change_leaves_out_no_agent_that_tells_of_it() -> None:
    one = Counted(5)
    at, agents = one.at, one.agents
    at.append_agent(WatchTokens(agents[0], ("key:NOTE",)))
    at.append_agent(WatchTokens(agents[1], ("key:NOTE",), status="DONE"))
    at.append_agent(WatchTokens(agents[2], (f"id:{one.tasks[3]}",)))
    change_of(one)
    at.append_agent(UnwatchTokens(agents[0], at.agent(agents[0]).subscriptions[-1].id))
    at.append_agent(PauseAgent(agents[3]))
    at.append_agent(DestroyAgent(agents[2]))
    change_of(one)
    at.append_journal(AddNote(one.tasks[4], "note", Words("Not taken yet.")))
    one.views.catch_up()
    seen = set()
    for n in range(1, at.journal.tail().n + 1):
        told = [
            (agent, of)
            for agent in agents
            for of in why.trigger_fates(at, agent, 1000)
            if of.position == f"journal:r1:{n}" and (of.outcome != "unmatched" or of.rule)
        ]
        assert [(agent.id, of) for agent, of in why.fates_of_change(one.home, n)] == told
        seen |= {of.outcome for _, of in told} | {agent for agent, _ in told}
    assert seen == {"merged", "queued", "suppressed", "unmatched", *agents}
