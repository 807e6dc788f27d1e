"""Demo data: months of a home lived in a minute, through the runtime that people leave running.

The engine, its watcher, timers, throttle and queues run as they always do, on a virtual clock. A
scripted person works in between: see `adapters.demo.person`. The models are those of
`adapters.models.demo` behind a make-believe network. The same seed and size write the same
bytes."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from adapters.demo.network import Outage, RemoteModel
from adapters.demo.person import Person, TendedTask
from adapters.demo.stories import SOURCE, Story, pick_stories, read_stories
from adapters.home import files
from adapters.home.settings import Settings, load
from adapters.importers import markdown
from adapters.models.demo import CAREFUL, NAMES, QUICK, DemoModel
from adapters.models.rules.model import RulesModel
from adapters.runtime import timers
from adapters.runtime.engine import Engine, Signal
from adapters.runtime.engine_options import EngineStart
from adapters.runtime.services import Services
from adapters.simulation.plan import Dice
from adapters.simulation.virtual_time import LEASE_SECONDS, POLL_SECONDS, VirtualClock, VirtualLoop
from adapters.store.leases import SqliteLeases
from adapters.store.log import Log
from adapters.timetravel.fork import copy_log
from adapters.usecases import catalog, tasks
from adapters.usecases.agents import AgentOptions, assign_agent
from adapters.usecases.import_tasks import command_of
from adapters.usecases.match_imported import documents_of, known_tasks
from adapters.usecases.templates import roll_back
from adapters.wiring import Home
from domain.agent import commands as agents
from domain.agent.deciders import AgentSettings
from domain.errors import Refused
from domain.log.timestamps import instant, moment
from domain.log.wire import SHARED, words
from domain.ports import Model
from domain.templates.commands import AddVersion, CreateTemplate
from domain.templates.seeds import SEEDS, seed_id

REPLICA = "demo"
ZONE = "Europe/Berlin"
FIRST_DAY = date(2026, 1, 12)  # a Monday; the clocks go forward on 29 March
DAYS_A_MONTH = 365 / 12
SCHEDULES = ("", "", "", "every monday 09:00", "every monday 09:00", "every day 07:00")
AT_FIRST = 12  # tasks that are imported on the first day
SETTINGS = """\
timezone = "Europe/Berlin"
currency = "EUR"
model = "rules"

[agents]
expire_after_days = 28

[prices."demo:quick"]
input = 0.3
output = 1.2

[prices."demo:careful"]
input = 2.5
output = 10
"""

DayProgress = Callable[[int, int], None]
"""``progress(day, days)``."""


class DemoSummary(NamedTuple):
    """What was lived through."""

    days: int
    agents: int
    wakes: int


class _TimedEvent(NamedTuple):
    """Something that happens at a time."""

    at: str
    nth: int  # of those at one time
    act: Callable[[], object]


def make_demo_home(
    folder: Path, *, seed: str, agents_count: int, months: int, progress: DayProgress | None = None
) -> DemoSummary:
    """Live through some months, of a twelfth of a year, in a new home in an empty folder. `seed`:
    any text; `agents_count`: how many tasks with agents, at most as many as there are stories;
    `progress` is told each day."""
    (folder / files.SETTINGS).write_text(SETTINGS, encoding="utf-8")
    files.ensure(folder, {files.REPLICA_VARIABLE: REPLICA})
    journal, agent_log = (Log.in_memory(name, REPLICA) for name in ("journal", "agent"))
    life = Scenario(journal, agent_log, load(folder, {}), seed)
    lived = life.live(agents_count, round(months * DAYS_A_MONTH), progress)
    for log, name in ((journal, files.JOURNAL), (agent_log, files.AGENT)):  # at once: no disk waits
        copy_log(log, log.tail().n, folder / name, REPLICA).close()
    return lived


class Scenario:
    """One home, its engine and its person."""

    def __init__(self, journal: Log, agent_log: Log, settings: Settings, seed: str) -> None:
        self._zone = ZoneInfo(ZONE)
        self._clock = VirtualClock(self._at(0, 6.5))
        self._outages: list[Outage] = []
        self._services = Services(journal, agent_log, self._clock, settings, self._model)
        self._home = Home.in_memory(self._services)
        self._stories = read_stories()
        self._dice = Dice(seed)
        self._person = Person(self._home, self._stories, self._dice)
        self._cares: list[TendedTask] = []
        self._days = 0
        self._pasted_into: TendedTask | None = None
        self._confided: TendedTask | None = None  # whose agent hears of each working day
        self._pasted = ""
        self._paused: list[TendedTask] = []

    def live(self, count: int, days: int, progress: DayProgress | None) -> DemoSummary:
        """All of it."""
        self._days = days
        self._outages += [self._outage(0.31, 9, 14), self._outage(0.62, 16, 18)]
        loop = partial(VirtualLoop, self._clock)
        with closing(self._home.views), asyncio.Runner(loop_factory=loop) as runner:
            engine = runner.run(self._lived(pick_stories(self._stories, count), progress))
        return DemoSummary(days, len(self._cares), engine.counts.wakes)

    async def _lived(self, planned: list[Story], progress: DayProgress | None) -> Engine:
        signal = Signal(self._clock, poll_seconds=POLL_SECONDS)
        with closing(SqliteLeases(None, seconds=LEASE_SECONDS)) as leases:
            engine = Engine(self._services, leases, signal, lambda *_, **__: None)
            running = asyncio.create_task(engine.run(EngineStart((), (), ())))
            begins = self._begins(planned)
            for day in range(self._days):
                for event in sorted(self._events(day, begins)):
                    await asyncio.sleep(max(0.0, self._clock.left(event.at)))
                    _try(event.act)
                    signal.set()
                if progress:
                    progress(day + 1, self._days)
            await asyncio.sleep(max(0.0, self._clock.left(self._at(self._days, 6))))
            engine.stop()
            await running
        return engine

    # ------------------------------------------------------------------------------ the calendar

    def _begins(self, planned: list[Story]) -> dict[int, list[Story]]:
        """Which tasks begin on which day: some at once, the others over the first two thirds."""
        later, begins = planned[AT_FIRST:], {0: planned[:AT_FIRST]}
        for nth, story in enumerate(later):
            day = 2 + nth * (2 * self._days // 3) // max(1, len(later))
            begins.setdefault(day, []).append(story)
        return begins

    def _events(self, day: int, begins: dict[int, list[Story]]) -> Iterator[_TimedEvent]:
        """What happens on a day; later deeds of it see what earlier ones did."""
        acts: list[tuple[float, Callable[[], object]]] = [*self._special(day)]
        if day in begins:
            acts.append((7.5, partial(self._begin, day, begins[day])))
        is_weekend = day % 7 >= 5
        is_away = 0.84 <= day / self._days < 0.91
        for care in [one for one in self._cares if one.until >= day and not is_away]:
            if self._dice.number(100) < (14 if is_weekend else 38):
                acts.append((self._hour(9, 9), partial(self._person.go_on, care)))
            if care.until == day:
                acts.append((self._hour(17, 2), partial(self._finish, care)))
        if not is_away and self._dice.number(100) < (45 if is_weekend else 85):
            acts.append((self._hour(8, 1), partial(self._review, 80)))
        if not is_away and self._dice.number(100) < 45:
            acts.append((self._hour(19, 2), partial(self._review, 60)))
        if self._confided and not is_away and not is_weekend:
            nth = day // 7 * 5 + day % 7
            acts.append((18.4, partial(self._person.confide, self._confided, nth)))
        for nth, (hour, act) in enumerate(acts):
            yield _TimedEvent(self._at(day, hour), nth, act)

    def _special(self, day: int) -> Iterator[tuple[float, Callable[[], object]]]:
        """What happens once, at a fraction of the whole time. Laura's directives stay, and another
        model reads them."""
        laura, tom = SEEDS[0], self._stories.tom
        for share, hour, act in (
            (0.22, 12.0, self._link),
            (0.38, 8.9, partial(self._version, laura.seed, laura.general, CAREFUL)),
            (0.45, 8.7, partial(self._version, "tom", tom["restrained"])),
            (0.50, 10.0, self._pause),
            (0.58, 10.0, self._resume),
            (0.66, 14.2, self._paste),
            (0.67, 9.1, self._unpaste),
            (0.72, 8.6, partial(self._version, "tom", tom["busy"])),
            (0.78, 8.6, partial(roll_back, self._home, seed_id("tom"), "2")),
            (0.80, 11.0, self._delete),
        ):
            if day == int(share * self._days):
                yield hour, act

    def _hour(self, first: int, span: int) -> float:
        return first + self._dice.number(60 * span) / 60

    def _at(self, day: int, hour: float) -> str:
        """A wall time of the person's, as stored."""
        on = FIRST_DAY + timedelta(days=day)
        wall = datetime(on.year, on.month, on.day, tzinfo=self._zone) + timedelta(hours=hour)
        return moment(wall.astimezone(UTC))

    def _outage(self, share: float, start: float, end: float) -> Outage:
        day = int(share * self._days)
        return Outage(self._at(day, start), self._at(day, end))

    # ------------------------------------------------------------------------------ what happens

    def _begin(self, day: int, begun: list[Story]) -> None:
        if day == 0:
            self._prepare()
            ids = self._import(begun)
        else:
            ids = [self._made(one) for one in begun]
        for story, task in zip(begun, ids, strict=True):
            agent = self._made_agent(story, task)
            until = day + 28 + self._dice.number(70)
            self._cares.append(TendedTask(story, task, agent, until))
        if day == 0:
            self._waver(self._cares[min(4, len(self._cares) - 1)])  # of the book club
            self._confided = self._cares[min(3, len(self._cares) - 1)]
            self._confided.until = self._days

    def _waver(self, care: TendedTask) -> None:
        """One task has a date that its person keeps moving, and a note that still names it."""
        care.until, care.is_undecided = self._days, True
        day = FIRST_DAY + timedelta(days=self._days)
        text = self._stories.texts[care.language]["due"][0]
        who = care.story.category.people[0]
        self._person.note(care, text.format(who=who, date=day.isoformat()))

    def _prepare(self) -> None:
        for category in self._stories.categories:
            catalog.add_category(self._home, category.name, category.language)
        for label in ("Anruf", "Einkauf", "call", "purchase"):
            catalog.add_label(self._home, label)
        for seed in SEEDS:
            general, report = words(SHARED, seed.general), words(SHARED, seed.report)
            command = CreateTemplate(seed.name, general[0], report[0], model=QUICK, seed=seed.seed)
            self._services.append_agent(command, payloads=[*general[1], *report[1]])

    def _import(self, begun: list[Story]) -> list[str]:
        """Bring tasks in from a file, as `wakelog import` does."""
        lines: list[str] = []
        for one in begun:
            lines += [f"# {one.category.name}", f"- [ ] {one.title}"]
            lines += [f"  - [ ] {step}" for step in one.steps[:2]]
        file = markdown.read("\n".join(lines).encode(), source=SOURCE)
        known = known_tasks(self._home)
        kept = documents_of(self._home, file.tasks, known)
        command = command_of(SOURCE, file.tasks, kept, known)
        self._services.append_journal(command, payloads=kept)
        return [one.task_id for one in file.tasks]

    def _made(self, story: Story) -> str:
        fields = {"category": story.category.name}
        return tasks.add_task(self._home, story.title, fields, items=story.steps[:2]).ids[0]

    def _made_agent(self, story: Story, task: str) -> str:
        self._home.views.catch_up()
        agent = assign_agent(self._home, task, AgentOptions(template=story.category.template)).agent
        schedule = self._dice.pick(SCHEDULES)
        if schedule:
            heeds, now = self._services.settings.agents.timers == "changed", self._clock.now()
            command = timers.timer_command(agent, schedule, ZONE, now, heeds_moves=heeds)
            self._services.append_agent(command)
        return agent

    def _finish(self, care: TendedTask) -> None:
        status = "REJECTED" if self._dice.number(8) == 0 else "DONE"
        reason = self._person.say(care.language, "other") if status == "REJECTED" else ""
        tasks.edit_task(self._home, care.task, {"status": status, "reason": reason})
        ends = agents.DestroyAgent if self._dice.number(4) else agents.PauseAgent
        self._services.append_agent(ends(care.agent))

    def _review(self, thorough: int) -> None:
        for care in self._cares:
            self._person.review(care, thorough=thorough)

    def _link(self) -> None:
        """Some tasks hang together, so their agents wake for each other's changes."""
        for one, other in zip(self._cares[::3], self._cares[1::3], strict=False):
            tasks.link(self._home, one.task, "relates_to", other.task)

    def _pause(self) -> None:
        *self._paused, other = self._living()[-4:]
        for care in self._paused:
            self._person.note(care, self._person.say(care.language, "urgent"))
            self._services.append_agent(agents.PauseAgent(care.agent))  # ends what is queued
        off = AgentSettings(is_automatic=False)
        self._services.append_agent(agents.ConfigureAgent(other.agent, off))

    def _resume(self) -> None:
        for care in self._paused:
            self._services.append_agent(agents.ResumeAgent(care.agent, is_enabled=True))

    def _paste(self) -> None:
        """A long mail in a note, with an order to whoever reads it."""
        care = self._pasted_into = self._living("Website")[0]
        lines = [self._stories.thread_line.format(nth=nth) for nth in range(1, 140)]
        text = self._stories.pasted.format(thread="\n".join(lines))
        self._pasted = self._person.note(care, text)

    def _unpaste(self) -> None:
        if self._pasted_into:
            tasks.remove_note(self._home, self._pasted_into.task, self._pasted)

    def _delete(self) -> None:
        """A task is thrown away while a wake of its agent is queued."""
        care = self._living()[-1]
        self._person.note(care, self._person.say(care.language, "urgent"))
        tasks.delete_task(self._home, care.task)
        care.until = 0

    def _living(self, category: str = "") -> list[TendedTask]:
        """The tasks that are lived with today. Raises Refused: there are none."""
        day = (instant(self._clock.now()).date() - FIRST_DAY).days
        living = (one for one in self._cares if one.until > day)
        found = [one for one in living if category in ("", one.story.category.name)]
        if not found:
            raise Refused("unknown_task", because="no task is left", instead="live with more")
        return found

    # ------------------------------------------------------------------------------ templates

    def _version(self, seed: str, general: str, model: str = "") -> None:
        report = next(one.report for one in SEEDS if one.seed == seed)
        (work, one), (tell, other) = words(SHARED, general), words(SHARED, report)
        command = AddVersion(seed_id(seed), work, tell, "user", model)
        self._services.append_agent(command, payloads=[*one, *other])

    # ------------------------------------------------------------------------------ the models

    def _model(self, name: str) -> Model:
        model: Model = DemoModel(name) if name in NAMES else RulesModel()
        return RemoteModel(model, self._clock, self._outages)


def _try(act: Callable[[], object]) -> None:
    """The rules refuse some of what people try; then nothing is written."""
    with suppress(Refused):
        act()
