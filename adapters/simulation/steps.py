"""What is done in a simulation: by the person, the watcher, the runtime, and by bad luck.

Each deed looks at what there is, so that it means something in any plan. What the rules refuse is
no fault: the person tries all sorts of things."""

import asyncio
from collections.abc import Callable, Sequence

from adapters.home.clock import ManualClock
from adapters.runtime import gate, on_demand, review, timers, watcher
from adapters.runtime.on_demand import run_one
from adapters.runtime.recovery import recover
from adapters.simulation.fault_injection import FaultyLog
from adapters.simulation.fuzz_model import WORDS, FuzzModel
from adapters.simulation.plan import Dice, PlannedStep
from adapters.usecases import catalog, lessons, tasks, undoing
from adapters.wiring import Home
from domain.agent import commands as agents
from domain.agent.agent import AGENT, Mode
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE, WakeQueue, next_wake
from domain.changes.change_set import CHANGES, ChangeSet, is_open
from domain.changes.commands import ConfirmItem
from domain.changes.decisions import pending_effects
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.task import TASK, NoteKind, Task
from domain.log import canonical
from domain.log.keys import key
from domain.log.timestamps import later
from domain.log.wire import Words, payload
from domain.policy.commands import GiveConsent, RuleModels, WithdrawConsent
from domain.policy.gate import NOTICE_VERSION, sections_of
from domain.templates.commands import CreateTemplate
from domain.templates.template import TEMPLATE

_NOTES: tuple[NoteKind, ...] = ("note", "transcript")
_LABELS = tasks.assign_labels, tasks.remove_labels, tasks.suppress_labels, tasks.allow_labels


def random_words(dice: Dice, count: int) -> str:
    return " ".join(dice.pick(WORDS) for _ in range(count))


# ---------------------------------------------------------------------------------------- the steps

TASKS_MAX = 12
AGENTS_MAX = 6
SETTLE_MAX = 60  # rounds until nothing waits any more
DAY_MINUTES = 1_440
_FATAL = ["run", "wake", "decide", "recover", "undo", "learn"]  # deeds in which a process dies


class Steps:
    """Does steps in a home: each deed of `plan.WEIGHTS` is a method. `wakes` counts those that were
    begun."""

    def __init__(self, home: Home, model: FuzzModel) -> None:
        self.wakes = 0
        self._home = home
        self._services = home.services
        self._append = home.services.append_agent
        self._model = model
        self._tasks: list[str] = []
        self._agents: list[str] = []  # living ones
        self._gone: list[str] = []
        self._nth = 0
        self._last_undo = ""
        self._template = ""

    def do(self, step: PlannedStep, runner: asyncio.Runner) -> None:
        """One step. Raises `Crashed`, and what the rules refuse."""
        self._nth += 1
        dice = Dice(f"{step.deed}/{step.who}/{step.how}")
        self._model.dice = dice
        deed: Callable[[int, Dice, asyncio.Runner], None] = getattr(self, f"do_{step.deed}")
        deed(step.who, dice, runner)

    def restart(self) -> None:
        """Another process takes over: it knows nothing but the logs."""
        for log in self._logs():
            log.fuse = 0
            log._states.clear()

    def look(self) -> None:
        """Know what other machines made, too."""
        with self._services.agents.reading() as world:
            every = [world.load(AGENT, one) for one in world.entities(AGENT.name)]
            templates = world.entities(TEMPLATE.name)
        self._agents = [one.id for one in every if one.lifecycle not in ("", "destroyed")]
        self._gone = [one.id for one in every if one.lifecycle == "destroyed"]
        self._template = templates[0] if templates else ""
        with self._services.journal.reading() as world:
            self._tasks = [*world.entities(TASK.name)][:TASKS_MAX]

    def in_flight(self) -> list[str]:
        """The effects that were asked for and have no outcome, by their sets."""
        sets = [one for agent in (*self._gone, *self._agents) for one in self._sets(agent)]
        return [f"{one.id} waits for {left}" for one in sets if (left := pending_effects(one))]

    def _logs(self) -> list[FaultyLog]:
        logs = self._services.journal, self._services.agents
        return [one for one in logs if isinstance(one, FaultyLog)]

    def lag(self) -> int:
        return watcher.lag(self._services)

    def settle(self) -> None:
        """Recover all, and let what has begun run to its end."""
        self.restart()
        living = map(self._services.agent, (*self._gone, *self._agents))
        if known := sorted({one for agent in living for one in agent.categories}):
            self._agree(known)
        for nth in range(SETTLE_MAX):
            self._model.dice = Dice(f"settle/{nth}")
            watcher.catch_up(self._services)
            self.do_recover()
            if not any(self._wake_queue(one).begun for one in (*self._gone, *self._agents)):
                return
            self._clock.advance(seconds=DAY_MINUTES * 60)

    # ------------------------------------------------------------------------------- what there is

    @property
    def _clock(self) -> ManualClock:
        assert isinstance(self._services.clock, ManualClock)
        return self._services.clock

    def _task(self, who: int) -> Task:
        if not self._tasks:
            raise Refused("unknown_task", because="there is no task", instead="make one")
        with self._services.journal.reading() as world:
            return world.load(TASK, self._tasks[who % len(self._tasks)])

    def _agent(self, who: int) -> str:
        if not self._agents:
            raise Refused("unknown_agent", because="there is no agent", instead="make one")
        return self._agents[who % len(self._agents)]

    def _wake_queue(self, agent: str) -> WakeQueue:
        with self._services.agents.reading() as world:
            return world.load(WAKE_QUEUE, agent)

    def _sets(self, agent: str) -> list[ChangeSet]:
        with self._services.agents.reading() as world:
            return [world.load(CHANGES, one) for one in world.load(AGENT, agent).sets]

    # ---------------------------------------------------------------------------------- the person

    def do_write(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        """Any edit of a task."""
        home, task = self._home, self._task(who)
        items = [one.id for one in task.items] or ["none"]
        match dice.number(9):
            case 0:
                tasks.edit_task(home, task.id, {"title": random_words(dice, 3)})
            case 1:
                text = random_words(dice, 1 + dice.number(300))
                tasks.add_note(home, task.id, text, kind=dice.pick(_NOTES))
            case 2:
                tasks.add_items(home, task.id, (random_words(dice, 2), random_words(dice, 2)))
            case 3:
                item = dice.pick(items)
                tasks.mark_items(home, task.id, [item], is_checked=bool(dice.number(2)))
            case 4:
                tasks.rename_item(home, task.id, dice.pick(items), random_words(dice, 2))
            case 5:
                status = dice.pick(["OPEN", "IN PROGRESS", "BLOCKED", "DONE", "REJECTED"])
                tasks.edit_task(home, task.id, {"status": status, "reason": random_words(dice, 3)})
            case 6:
                fields = {"priority": f"P{dice.number(4)}", "estimate": dice.number(90)}
                fields |= {"category": dice.pick(["Inbox", "Home"])} if dice.number(2) else {}
                tasks.edit_task(home, task.id, fields)
            case 7:
                dice.pick(_LABELS)(home, task.id, (dice.pick(WORDS),))
            case _ if dice.number(2):
                tasks.start_timer(home, task.id)
            case _:
                tasks.stop_timer(home, random_words(dice, 2))

    def do_pass(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        minutes = dice.pick([1, 3, 10, 60, 600, DAY_MINUTES, 7 * DAY_MINUTES])
        self._clock.advance(seconds=60 * minutes)

    def do_task(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        category = dice.pick(["", "", dice.pick(WORDS)])
        made = tasks.add_task(self._home, random_words(dice, 3), {"category": category}).ids[0]
        if len(self._tasks) < TASKS_MAX:
            self._tasks.append(made)

    def do_link(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        one, other = self._task(who), self._task(who // 7)
        phrase = dice.pick(["blocks", "relates_to", "is_blocked_by", "fixes"])
        deed = tasks.unlink if dice.number(4) == 0 else tasks.link
        deed(self._home, one.id, phrase, other.id)

    def do_import(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        nth = dice.number(3)
        task = key("task", "simulation", str(nth))
        document = ImportedTask(
            task,
            random_words(dice, 2),
            category=dice.pick(["", "Home"]),
            labels=(dice.pick(WORDS),),
            items=tuple(ImportedItem(random_words(dice, 1)) for _ in range(dice.number(4))),
            notes=(ImportedNote(random_words(dice, dice.number(250) + 1)),),
        )
        kept = payload(task, canonical.encode(document))
        command = do.ImportTasks("list", (do.ImportedRef(task, kept.id),))
        self._services.append_journal(command, payloads=[kept])
        if task not in self._tasks:
            self._tasks.append(task)

    def do_catalog(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        """A category or a label."""
        word = dice.pick(WORDS)
        match dice.number(4):
            case 0:
                catalog.add_category(self._home, word, dice.pick(["", "de"]))
            case 1:
                catalog.rename_category(self._home, word, dice.pick(WORDS))
            case 2:
                catalog.delete_label(self._home, word)
            case _:
                catalog.add_label(self._home, word)

    def do_delete(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        task = self._task(who)
        deed = tasks.restore_task if task.is_deleted else tasks.delete_task
        deed(self._home, task.id)

    def do_decide(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        by_tool: dict[str, list[tuple[str, int]]] = {}  # each as likely as another
        for one in self._sets(self._agent(who)):
            for item in one.items:
                if one.is_opened and is_open(item):
                    by_tool.setdefault(item.tool, []).append((one.id, item.number))
        if not by_tool:
            return
        set_id, number = dice.pick(by_tool[dice.pick(list(by_tool))])
        match dice.number(7):
            case 0:
                review.reject(self._services, set_id, number, random_words(dice, 2))
                if dice.number(2):
                    review.reopen(self._services, set_id, number)
            case 1:
                review.defer(self._services, set_id, number, "later")
            case 2:
                review.confirm(self._services, set_id, number, is_anyway=True)
            case 3:
                review.confirm(self._services, set_id, number, edit='{"minutes":30}')
            case 4:  # the process dies between intent and effect
                position = self._services.journal.tail().n
                self._append(ConfirmItem(set_id, number, "person", position))
            case _:
                review.confirm(self._services, set_id, number)

    def do_undo(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        """The newest deed that can be undone, or any that is named: the last undo, too."""
        ref = dice.pick(["", "", self._last_undo])
        if dice.number(2):
            ref = dice.pick(["", *(one.ref for one in undoing.deeds(self._home))])
        self._last_undo = undoing.undo(self._home, ref).redo

    def do_learn(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        """A wake is rated, or the verdicts that taught nothing yet are learnt."""
        wakes = [one.run_key for one in self._sets(self._agent(who))]
        self._home.views.catch_up()
        if wakes and dice.number(2):
            lessons.rate_run(self._home, dice.pick(wakes), dice.number(7))
        else:
            lessons.learn_history(self._home)

    # ---------------------------------------------------------------------------------- the agents

    def do_agent(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        task = self._task(who)
        if len(self._agents) >= AGENTS_MAX:
            return
        mode: Mode = dice.pick(["hybrid", "hybrid", "autonomous", "interactive"])
        position = self._services.journal.tail().n
        if not self._template:
            name, general, report = (random_words(dice, count) for count in (1, 3, 3))
            made = CreateTemplate(name, Words(general), Words(report))
            self._template = self._append(made).result.ids[0]
        command = agents.CreateAgent(
            task.id, task.title, task.category, position, mode, turn_max=1 + dice.number(6),
            is_enabled=True, template=dice.pick(["", self._template]), first=self._services.first,
            seen=self._services.journal.horizon(position),
        )  # fmt: skip
        self._agents.append(self._append(command).result.ids[0])
        self._agree([task.category])

    def do_policy(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        """The person withdraws what an agent's model is sent, rules it out, or agrees again."""
        categories = self._services.agent(self._agent(who)).categories
        match dice.number(4):
            case 0:
                self._append(WithdrawConsent(FuzzModel.name, categories))
            case 1:
                self._append(RuleModels(categories[0], ("rules",)))
            case _:
                self._agree(categories)

    def _agree(self, categories: Sequence[str]) -> None:
        """Let agents of some categories ask the model, and go on with what waited for that."""
        agree = GiveConsent(FuzzModel.name, tuple(categories), NOTICE_VERSION, sections_of())
        self._append(agree)
        for one in categories:
            self._append(RuleModels(one))
        gate.let_go(self._services, self._agents)

    def do_configure(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        agent = self._agent(who)
        match dice.number(4):
            case 0:
                wanted = AgentSettings(goal=random_words(dice, 4))
                self._append(agents.ConfigureAgent(agent, wanted))
            case 1:
                is_automatic, loops = bool(dice.number(3)), (random_words(dice, 2),)
                wanted = AgentSettings(is_automatic=is_automatic, open_loops=loops)
                self._append(agents.ConfigureAgent(agent, wanted))
            case 2:
                tokens = (dice.pick(["key:TASK", "key:CATEGORY", f"id:{self._task(who).id}"]),)
                self._append(agents.WatchTokens(agent, tokens, hears_agents=bool(dice.number(2))))
            case _:
                if known := self._services.agent(agent).subscriptions:
                    self._append(agents.UnwatchTokens(agent, dice.pick(known).id))

    def do_life(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        agent = self._agent(who)
        match dice.number(10):
            case 0:
                self._append(agents.DestroyAgent(agent))
                self._agents.remove(agent)
                self._gone.append(agent)
            case 1 | 2 | 3:
                self._append(agents.PauseAgent(agent))
            case 4:
                until = later(self._clock.now(), seconds=3_600 * (1 + dice.number(48)))
                self._append(agents.SleepAgent(agent, until, is_ordered=True))
            case _:
                self._append(agents.ResumeAgent(agent, is_enabled=True))

    def do_timer(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        schedule = dice.pick(["every day 07:00", "every monday 09:30", "*/30 * * * *"])
        zone, now = dice.pick(["Europe/Berlin", "UTC"]), self._clock.now()
        if dice.number(3):
            told = self._agent(who), schedule, zone, now
            self._append(timers.timer_command(*told, heeds_moves=True))
        timers.fire(self._services, self._agents)

    def do_wake(self, who: int, dice: Dice, runner: asyncio.Runner) -> None:
        agent = self._agent(who)
        self._append(self._services.request(agent))
        self._run_next(agent, runner)

    def do_ask(self, who: int, dice: Dice, runner: asyncio.Runner) -> None:
        agent = self._agent(who)
        said = payload(self._services.agent(agent).task, random_words(dice, 4).encode())
        request = self._services.request(agent, "user", words=said.id)
        self._append(request, payloads=[said])
        self._run_next(agent, runner)

    # ---------------------------------------------------------------------------- the machinery

    def do_catch_up(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        watcher.catch_up(self._services)

    def do_run(self, who: int, dice: Dice, runner: asyncio.Runner) -> None:
        """A round of the runtime."""
        on_demand.prepare(self._services, lambda _: self._agents, self._expiring(), self._agents)
        for turn in on_demand.ready(self._services, self._agents):
            self.wakes += 1
            runner.run(run_one(self._services, turn.schedule.agent, turn.run_key))

    def _run_next(self, agent: str, runner: asyncio.Runner) -> None:
        wake = next_wake(self._wake_queue(agent))
        if wake is not None and wake.until <= self._clock.now():
            self.wakes += 1
            runner.run(run_one(self._services, agent, wake.run_key))

    def do_recover(self, *_: object) -> None:
        known = [*self._gone, *self._agents]
        sets = [one.id for agent in known for one in self._sets(agent)]
        recover(self._services, known, sets, self._expiring(), lambda _: None)

    def do_expire(self, who: int, dice: Dice, _: asyncio.Runner) -> None:
        for one in self._sets(self._agent(who))[:1]:
            review.expire(self._services, one.id, "the person is on holiday")

    def _expiring(self) -> list[str]:
        now = self._clock.now()
        sets = (one for agent in self._agents for one in self._sets(agent))
        return [one.id for one in sets if "" < one.expires_at <= now]

    def do_crash(self, who: int, dice: Dice, runner: asyncio.Runner) -> None:
        """The process dies at one of the next appends of a log, before it or after it; or the
        disk is full there."""
        log = dice.pick(self._logs())
        log.fuse = 1 + dice.number(8)
        log.is_after = bool(dice.number(2))
        log.is_disk_full = dice.number(5) == 0
        try:
            self.do(PlannedStep(dice.pick(_FATAL), who, who), runner)
        finally:
            log.fuse = 0
