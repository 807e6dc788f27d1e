"""A model, or a wording, is judged on cases: each is a home in memory that is made and woken as the
doors do it, and what then stands in its inbox is compared with what a careful person would want.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from adapters.home.clock import ManualClock
from adapters.home.endpoints import full_name
from adapters.home.settings import Settings
from adapters.models.tape import TapeModel
from adapters.runtime import on_demand
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.usecases import catalog, policy, proposals, tasks, templates
from adapters.usecases.agents import AgentOptions, assign_agent, set_timer
from adapters.usecases.eval_cases import (
    Case,
    CaseCall,
    CaseField,
    CaseNote,
    CaseReport,
    CaseTask,
    PlacedCase,
)
from adapters.usecases.wake_agents import ask_agent, prepare_wakes
from adapters.wiring import Home
from domain.agent.endpoints import named
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.changes.change_set import REPLACED, is_open
from domain.errors import Refused, invalid
from domain.journal.catalog import CATALOG
from domain.journal.commands import ImportedRef, ImportTasks
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.task import TASK
from domain.judging import Marks, Proposed, judge, proposed
from domain.log import canonical
from domain.log.state import MAIN
from domain.log.timestamps import later
from domain.log.wire import payload
from domain.policy.gate import is_leaving
from domain.ports import Call, Model, Reply, Usage
from domain.wake.wake import ToolReturned, WakeFinished
from projections import inbox, wakes

FIELDS = ("status", "priority", "due", "estimate")
USED = ("prompt", "gemini", "openai", "models", "prices")
"""Settings of a home that its model is asked by."""
STATUS_REASON = "as the case says"
TURNS_ESTIMATED = 3
BYTES_PER_TOKEN = 4


class Directed(NamedTuple):
    """The words that agents live on: a template's, or those of files."""

    name: str
    directives: templates.Directives


class Judge(NamedTuple):
    """What is judged: a model, under these settings, and the words in force; None: the built-in
    ones."""

    model: Model
    settings: Settings
    words: Directed | None = None

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def is_leaving(self) -> bool:
        """Whether cases leave this machine."""
        known = named(self.name)
        is_here = known is not None and known.address is not None and known.address.is_loopback
        return is_leaving(self.name) and not is_here

    @property
    def is_repeatable(self) -> bool:
        """Whether it answers the same whenever it is asked."""
        return not is_leaving(self.name)


class CaseRun(Struct, frozen=True):
    """A case, judged once. `failed`: with which code the wake did, or ``no_report``; `unplaced`:
    quotes that stand nowhere in what was shown."""

    marks: Marks
    failed: str = ""
    unplaced: int = 0
    usage: Usage = Usage()


class Evaluation(NamedTuple):
    """The runs of each case, as far as they were made. `stopped`: why before the end:
    ``interrupted`` or ``tokens``."""

    cases: Sequence[PlacedCase]
    runs: Sequence[Sequence[CaseRun]]
    stopped: str = ""

    def judged(self) -> Iterator[tuple[Case, Sequence[CaseRun]]]:
        """The cases that were run at all."""
        return ((one.case, runs) for one, runs in zip(self.cases, self.runs, strict=True) if runs)


def judge_of(
    settings: Settings, model_for: Callable[[str], Model], words: Directed | None
) -> Judge:
    """The judge of the settings' model, which is asked as it is set up there, and with nothing else
    of the home.

    Raises:
        Refused: The model cannot be had.
    """
    name = full_name(settings.model, settings)
    used = {one: getattr(settings, one) for one in USED}
    return Judge(model_for(name), Settings(model=name, **used), words)


def evaluate(
    judge_it: Judge,
    cases: Sequence[PlacedCase],
    progress: Callable[[int, int], None],
    *,
    repeat: int = 1,
    tokens_max: int = 0,
    at_once: int = 4,
) -> Evaluation:
    """Run cases, each so often.

    Args:
        progress: Is told how many runs are made, of how many.
        tokens_max: No other run is begun once so many were used; 0: there is no limit.
        at_once: So many are run beside each other, of a model that is far away.

    Raises:
        Refused: Code ``invalid_input``: no home can be made of a case.
    """
    runs: list[list[CaseRun]] = [[] for _ in cases]
    stopped, spent, done = "", 0, 0

    async def run(nth: int, free: asyncio.Semaphore) -> None:
        nonlocal stopped, spent, done
        async with free:
            if stopped or (tokens_max and spent >= tokens_max):
                stopped = "tokens"
                return
            runs[nth].append(await _judged(judge_it, cases[nth]))
            spent, done = spent + tokens_of(runs[nth][-1].usage), done + 1
            progress(done, len(cases) * repeat)
            await asyncio.sleep(0)  # here it can be interrupted

    async def run_all() -> None:
        free = asyncio.Semaphore(1 if judge_it.is_repeatable else at_once)
        await asyncio.gather(*(run(nth, free) for nth in [*range(len(cases))] * repeat))

    try:
        asyncio.run(run_all())
    except KeyboardInterrupt:
        stopped = "interrupted"
    return Evaluation(cases, runs, stopped)


def tokens_estimated(judge_it: Judge, cases: Sequence[PlacedCase], repeat: int) -> int:
    """How many tokens cases may take, by their first questions.

    Raises:
        Refused: Code ``invalid_input``: no home can be made of a case.
    """

    async def size(one: PlacedCase) -> int:
        with closing(await _made(judge_it, one)) as made:
            return len(canonical.encode(policy.preview(made.home, made.agent)[1]))

    async def sizes() -> int:
        return sum([await size(one) for one in cases])

    return asyncio.run(sizes()) * TURNS_ESTIMATED * repeat // BYTES_PER_TOKEN


def tokens_of(usage: Usage) -> int:
    """All that are paid, as far as they are known."""
    return (usage.tokens_in or 0) + (usage.written or 0)


async def _judged(judge_it: Judge, placed: PlacedCase) -> CaseRun:
    """A case in a home of its own."""
    with closing(await _made(judge_it, placed)) as made:
        ran = await on_demand.run_one(made.home.services, made.agent, made.run_key)
        return made.judged(ran.code)


async def _made(judge_it: Judge, placed: PlacedCase) -> "_CaseHome":
    """The home of a case, as it is when it wakes.

    Raises:
        Refused: Code ``invalid_input``, at its place.
    """
    made = _CaseHome(judge_it, placed.case)
    try:
        await made.live()
    except Refused as refused:
        made.close()
        raise placed.refused(f"{refused.because}; {refused.instead}") from None
    return made


class _CaseHome:
    """A case lived: what it tells of happens at its times, in their order."""

    def __init__(self, judge_it: Judge, case: Case) -> None:
        logs = Log.in_memory("journal"), Log.in_memory("agent")
        settings = replace(judge_it.settings, timezone=case.timezone)
        clock = ManualClock(case.instant(case.now))
        self.home = Home.in_memory(Services(*logs, clock, settings, self._model_for))
        self._judge, self._case, self._tape = judge_it, case, TapeModel("tape", [])
        self._is_told = False  # what its tape says
        self.task = self.agent = self.run_key = ""
        self._titles = dict[str, str]()  # of tasks

    def _model_for(self, _: str) -> Model:
        return self._tape if self._is_told else self._judge.model

    def close(self) -> None:
        self.home.close()

    async def live(self) -> None:
        """Do all that was before now, and what wakes its agent then. Raises Refused."""
        case, task = self._case, self._case.task
        later_set = ((name, getattr(task, name)) for name in FIELDS)
        deeds: list[tuple[str, object]] = [
            *((one.at, one) for one in case.notes),
            *((one.at, {name: one.value}) for name, one in later_set if isinstance(one, CaseField)),
            *((one.at, one) for one in (case.first,) if one),
        ]
        deeds.sort(key=lambda one: case.instant(one[0]))
        began = task.at or (deeds[0][0] if deeds else case.now)
        tasks_told = [*((one.at or began, one) for one in case.others), (began, task)]
        tasks_told.sort(key=lambda one: case.instant(one[0]))
        for name in case.labels:
            self._at(tasks_told[0][0])
            catalog.add_label(self.home, name)
        for at, one in tasks_told:
            self._add(one, at)
        for at, deed in deeds:
            self._at(at)
            match deed:
                case CaseNote():
                    self._note(deed)
                case CaseReport():
                    await self._report(deed)
                case dict():
                    tasks.edit_task(self.home, self.task, _with_reason(deed))
        self._at(case.now)
        self.run_key = self._woken()

    def _at(self, local: str, *, seconds: int = 0) -> None:
        at = later(self._case.instant(local), seconds=seconds)
        self.home.services.clock = ManualClock(at)

    def _add(self, task: CaseTask, at: str) -> None:
        self._at(at)
        given = {"language": self._case.language, **{one: getattr(task, one) for one in FIELDS}}
        fields = {one: to for one, to in given.items() if to and not isinstance(to, CaseField)}
        made = tasks.add_task(
            self.home,
            task.title,
            _with_reason(fields),
            labels=task.labels,
            items=[one.title for one in task.items],
            description=task.description or None,
        ).ids[0]
        with self.home.services.journal.reading() as world:
            items = world.load(TASK, made).items
        ticked = [item.id for item, one in zip(items, task.items, strict=True) if one.checked]
        tasks.mark_items(self.home, made, ticked, is_checked=True)
        self._titles[made] = task.title
        if task is self._case.task:
            self.task = made

    def _note(self, note: CaseNote) -> None:
        if note.by == "person":
            tasks.add_note(self.home, self.task, note.text)
            return
        told = ImportedTask(self.task, self._case.task.title, notes=(ImportedNote(note.text),))
        kept = payload(self.task, canonical.encode(told))
        tasks.append_command(
            self.home, ImportTasks("case", (ImportedRef(self.task, kept.id),)), payloads=[kept]
        )

    def _begin(self) -> None:
        """Give the task its agent, which is queued to wake."""
        self.home.views.catch_up()
        if is_leaving(self._judge.name):  # the person was asked for all cases
            policy.allow(self.home, self._judge.name)
        name, words = "", self._judge.words
        if words is not None:
            name = templates.create_template(self.home, "judged", words.directives)
        self.agent = assign_agent(self.home, self.task, AgentOptions(template=name)).agent

    async def _report(self, report: CaseReport) -> None:
        """Let an earlier wake say what it did."""
        self._begin()
        told = {"content": report.content, "tldr": report.tldr, "oneLiner": report.one_liner}
        said = [*report.proposed, CaseCall("update_report", told)]
        calls = tuple(
            Call(f"c{nth}", one.tool, canonical.text(one.arguments)) for nth, one in enumerate(said)
        )
        self._tape = TapeModel("tape", [Reply(b"", calls=calls), Reply(b"", text="Done.")])
        self._is_told = True
        run_key = self._queued()
        await on_demand.run_one(self.home.services, self.agent, run_key)
        self._is_told = False
        with self.home.services.agents.reading() as world:
            facts = [row.fact for row in world.history("wake", run_key)]
        ends = (one for one in facts if isinstance(one, ToolReturned | WakeFinished))
        if code := next((one.code for one in ends if one.code), ""):
            raise invalid(f"its first report is refused ({code})", "say it as a wake would")

    def _woken(self) -> str:
        """Let what wakes it happen: it is made now, or a timer fires, or a person asks."""
        case = self._case
        if not self.agent:
            self._begin()
        elif not case.words:
            self._at(case.now, seconds=-60)
            set_timer(self.home, self.agent, f"once {case.now.replace('T', ' ')}", case.timezone)
            self._at(case.now)
        if case.words:
            return ask_agent(self.home, self.agent, case.words).run_key
        prepare_wakes(self.home)
        return self._queued()

    def _queued(self) -> str:
        with self.home.services.agents.reading() as world:
            wake = next_wake(world.load(WAKE_QUEUE, self.agent))
        assert wake is not None  # something woke it
        return wake.run_key

    def judged(self, code: str) -> CaseRun:
        """What came of its wake; `code`: why it could not run at all, if so."""
        views = self.home.views
        views.catch_up()
        wake = views.get(wakes.VIEW, self.run_key)
        assert wake is not None
        found, unplaced = list[Proposed](), 0
        for changes in views.page(inbox.VIEW):
            for item in changes.items:
                told = self._told(item.tool, proposals.arguments_of(self.home, item))
                if changes.run_key != self.run_key:
                    is_back = item.status == "retracted" and not item.reason.startswith(REPLACED)
                    found += [Proposed("retract", one.kind) for one in told if is_back]
                elif is_open(item):
                    found += told
                    unplaced += bool(item.because and not item.because_at)
        if wake.outcome != "completed":
            code = wake.code or code or wake.waits_for or "not_run"
        elif wake.is_report_missing:
            code = "no_report"
        marks = judge(self._case.wishes, self._case.allowances, found)
        return CaseRun(marks, code, unplaced, wake.usage)

    def _told(self, tool: str, arguments: str) -> Sequence[Proposed]:
        with self.home.services.journal.reading() as world:
            task, known = world.load(TASK, self.task), world.load(CATALOG, MAIN)
            names = self._titles | {one.id: one.title for one in task.items}
            names |= {one.id: one.name for one in known.labels.values()}
        return proposed(tool, canonical.read(arguments), names)


def _with_reason(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Fields with the reason that some statuses need."""
    needs = fields.get("status") in ("BLOCKED", "ON HOLD")
    return {**fields, "reason": STATUS_REASON} if needs else fields
