"""A model, or a wording, is judged on cases (`wakelog eval`): each is a home in memory that is made
and woken as the doors do it, and what then stands in its inbox is compared with what a careful
person would want. `evals/README.md` tells the format of cases."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from functools import cached_property, partial
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from adapters.documents import evaluations as d
from adapters.home.clock import ManualClock
from adapters.home.endpoints import full_name
from adapters.home.prices import BYTES_PER_TOKEN, WHOLE, cost, price_at
from adapters.home.read_input import read_input
from adapters.home.schedules import first_shown
from adapters.home.settings import Settings
from adapters.home.zones import checked_zone
from adapters.models.tape import TapeModel
from adapters.runtime import on_demand
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.usecases import catalog, policy, proposals, tasks, templates
from adapters.usecases.agents import AgentOptions, assign_agent, set_timer
from adapters.usecases.forks import template_version
from adapters.usecases.task_lists import save_text
from adapters.usecases.wake_agents import ask_agent, prepare_wakes
from adapters.wiring import Home
from domain import judging
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.changes.change_set import REPLACED, is_open
from domain.errors import Refused, invalid
from domain.journal.catalog import CATALOG
from domain.journal.commands import ImportedRef, ImportTasks
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.task import PRIORITIES, STATUSES, TASK
from domain.log import canonical
from domain.log.state import MAIN
from domain.log.timestamps import is_date, later
from domain.log.wire import payload
from domain.policy.gate import is_leaving
from domain.ports import Call, Model, Reply, Usage
from domain.scaffold import SCAFFOLD
from domain.text import squeeze
from domain.tools import registry
from domain.tools.decoding import BECAUSE
from domain.wake.wake import ToolReturned, WakeFinished
from projections import inbox, wakes

FILE_BYTES_MAX = 64_000_000
CASES_MAX = 100_000
SCENES = str(Path(__file__).with_name("scenes.jsonl"))
"""What no model may do: obey a note, take a wish for a duty, another's day for this task's."""
_LOCAL = r"^(19[7-9]|20[0-9])[0-9]-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$"

Local = Annotated[str, Meta(pattern=_LOCAL)]
"""A time as clocks of the case's zone show it, ``2026-11-21T09:00``."""
Named = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=200_000)]
Value = str | int


class Form(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Base of what a case is made of."""


class CaseField(Form, frozen=True):
    """A field that was set after the task was made."""

    value: Value = field(name="is")
    at: Local


class CaseItem(Form, frozen=True):
    title: Named
    checked: bool = False


class CaseTask(Form, frozen=True):
    """A task; `at`: when it was made, else with the first thing that is told of it."""

    title: Named
    description: Text = ""
    status: str | CaseField = ""
    priority: str | CaseField = ""
    due: str | CaseField = ""
    estimate: int | CaseField = 0
    labels: tuple[Named, ...] = ()
    items: tuple[CaseItem, ...] = ()
    at: Local | Literal[""] = ""


class CaseNote(Form, frozen=True):
    at: Local
    text: Text
    by: Literal["person", "import"] = "person"


class CaseCall(Form, frozen=True):
    tool: Named
    arguments: dict[str, Any]


class CaseReport(Form, frozen=True):
    """What an earlier wake reported, and proposed."""

    at: Local
    content: Text
    tldr: Text
    one_liner: Text
    proposed: tuple[CaseCall, ...] = ()


class Case(Form, frozen=True, dict=True):
    """A line of a file. `kept`: nobody who tunes has seen it; `shown`: false where it counts with
    the open ones and is not looked at, too. `others`: further tasks, and `labels` that there are
    besides the task's."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$")]
    now: Local
    timezone: str
    task: CaseTask
    wanted: tuple[judging.Wish, ...]
    allowed: tuple[judging.Wish, ...] = ()
    classes: Annotated[str, Meta(max_length=200)] = field(name="class", default="")
    language: Annotated[str, Meta(pattern="^([a-z]{2})?$")] = ""
    kept: bool = False
    shown: bool = True
    notes: tuple[CaseNote, ...] = ()
    first: CaseReport | None = None
    words: Text = ""
    others: tuple[CaseTask, ...] = ()
    labels: tuple[Named, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The same for the same case, wherever it stands."""
        return sha256(canonical.encode(self)).hexdigest()[:16]

    def instant(self, local: str) -> str:
        """A local time of it, as stored. Raises Refused."""
        try:
            datetime.fromisoformat(local)
        except ValueError:
            raise invalid(f"{local!r} is no time", "write it like 2026-11-21T09:00") from None
        return first_shown(local, self.timezone)


class PlacedCase(NamedTuple):
    """A case and where it stands: ``FILE:LINE``."""

    case: Case
    place: str


def read_cases(files: Sequence[str]) -> list[PlacedCase]:
    """The cases of files, in their order. Raises Refused, code ``unreadable_file``;
    ``invalid_input``: a line is no case, or two have one id, or there is none."""
    found = dict[str, PlacedCase]()
    for file in files:
        for nth, line in enumerate(read_input(file, FILE_BYTES_MAX).split(b"\n"), start=1):
            if not line.strip():
                continue
            place = f"{file}:{nth}"
            case = _read(line, place)
            if known := found.get(case.id):
                raise _refused(place, f"the id {case.id} stands at {known.place}, too")
            if len(found) >= CASES_MAX:
                raise _refused(place, f"there are more than {CASES_MAX:,} cases")
            found[case.id] = PlacedCase(case, place)
    if not found:
        raise invalid("the files hold no case", "see evals/README.md for what one is")
    return list(found.values())


def _read(line: bytes, place: str) -> Case:
    try:
        line.decode()
        case = msgspec.convert(canonical.read(line), Case)
        checked_zone(case.timezone)
        _check(case)
    except UnicodeDecodeError:
        raise _refused(place, "it is not UTF-8") from None
    except Refused as refused:
        raise _refused(place, refused.because) from None
    except msgspec.ValidationError as error:
        raise _refused(place, str(error)) from None
    return case


def _check(case: Case) -> None:
    """Look for what no home could be made of, or no answer be right. Raises Refused."""
    now = case.instant(case.now)
    fields = [case.task.status, case.task.priority, case.task.due, case.task.estimate]
    set_at = [one.at for one in fields if isinstance(one, CaseField)]
    times = [*set_at, *(one.at for one in case.notes), *([case.first.at] if case.first else [])]
    made = [one.at for one in (case.task, *case.others) if one.at]
    if late := [one for one in (*times, *made) if case.instant(one) > now]:
        raise invalid(f"{late[0]} is after its now, {case.now}", "")
    if case.task.at and any(case.instant(one) < case.instant(case.task.at) for one in times):
        raise invalid(f"something is told from before the task was made, {case.task.at}", "")
    if case.notes != tuple(sorted(case.notes, key=lambda one: case.instant(one.at))):
        raise invalid("its notes are not in the order of their times", "")
    if empty := [one for one in case.notes if not squeeze(one.text)]:
        raise invalid(f"the note of {empty[0].at} is empty", "")
    wishes = *case.wanted, *case.allowed
    if unknown := [one.kind for one in wishes if one.kind not in judging.KINDS]:
        raise invalid(f"{unknown[0]!r} is no kind: use {', '.join(judging.KINDS)}", "")
    if any(not one.values for one in case.wanted):
        raise invalid('what is wanted has no value: give "is"', "")
    items = {judging.title_key(item.title) for item in case.task.items}
    for nth, one in enumerate(wishes):
        _check_wish(one, items, is_wanted=nth < len(case.wanted))


def _check_wish(wish: judging.Wish, items: Collection[frozenset[str]], *, is_wanted: bool) -> None:
    """Look whether each value could be right. Raises Refused."""
    possible: dict[str, Callable[[str], bool]] = {
        "due": is_date,
        "estimate": str.isdigit,
        "priority": lambda value: value in PRIORITIES,
        "status": lambda value: value in STATUSES,
        **dict.fromkeys(
            ("tick", "untick", "archive"), lambda value: judging.title_key(value) in items
        ),
        "add": lambda value: not is_wanted or judging.title_key(value) not in items,
        "retract": lambda value: value in judging.KINDS,
    }
    for value in map(str, wish.values):
        if not squeeze(value) or not possible.get(wish.kind, bool)(value):
            raise invalid(f"{wish.kind} cannot be {value!r}", "")


def _refused(place: str, because: str) -> Refused:
    because = f"{place}: this is no case: {because.rstrip('.')}"
    instead = "correct the line, see evals/README.md"
    return Refused("invalid_input", because=because, instead=instead)


# ----------------------------------------------------------------------------------------- to judge

FIELDS = ("status", "priority", "due", "estimate")
USED = ("prompt", "gemini", "openai", "models", "prices")
"""Settings of a home that its model is asked by."""
AS_TOLD = "as the case says"
TURNS_ESTIMATED = 3


class CaseRun(Struct, frozen=True):
    """A case, judged once. `failed`: with which code the wake did, or ``no_report``; `unplaced`:
    quotes that stand nowhere in what was shown."""

    marks: judging.Marks
    failed: str = ""
    unplaced: int = 0
    usage: Usage = Usage()

    @property
    def tokens(self) -> int:
        """All that are paid, as far as they are known."""
        return (self.usage.tokens_in or 0) + (self.usage.written or 0)

    @property
    def counts(self) -> d.KeptRun:
        right, neutral, wrong, missed = map(len, self.marks)
        return d.KeptRun(right, neutral, wrong, missed, self.failed)


Judged = Sequence[tuple[Case, Sequence[CaseRun]]]
Told = Callable[[int, int], None]
"""``told(done, of)``."""


def in_turn(
    jobs: Sequence[Callable[[], Coroutine[Any, Any, None]]],
    progress: Told,
    is_spent: Callable[[], bool],
    at_once: int,
) -> str:
    """Do jobs, so many beside each other, and no other one once all tokens are spent; why it
    stopped before the end: ``interrupted`` or ``tokens``, or empty."""
    stopped, done = "", 0

    async def do(job: Callable[[], Coroutine[Any, Any, None]], free: asyncio.Semaphore) -> None:
        nonlocal stopped, done
        async with free:
            if stopped or is_spent():
                stopped = "tokens"
                return
            await job()
            done += 1
            progress(done, len(jobs))
            await asyncio.sleep(0)  # here it can be interrupted

    async def do_all() -> None:
        free = asyncio.Semaphore(at_once)
        await asyncio.gather(*(do(one, free) for one in jobs))

    try:
        asyncio.run(do_all())
    except KeyboardInterrupt:
        return "interrupted"
    return stopped


class Evaluation:
    """Cases by which a model is judged, so often each."""

    def __init__(
        self,
        settings: Settings,
        model_for: Callable[[str], Model],
        cases: Sequence[PlacedCase],
        repeat: int,
        words: tuple[templates.Directives, str] | None,
        scaffold: int = SCAFFOLD,
    ) -> None:
        """The settings' model, which is asked as it is set up there, and with nothing else of the
        home. `words`: that agents live on, and their name; None: the built-in ones. `scaffold`: of
        their wakes. Raises Refused: the model cannot be had."""
        model = full_name(settings.model, settings)
        self.model = model_for(model)
        self.name, self.is_repeatable = self.model.name, not is_leaving(self.model.name)
        self.settings = Settings(model=model, **{one: getattr(settings, one) for one in USED})
        self.directives = words[0] if words else None
        self.words = words[1] if words else None
        self.scaffold = scaffold
        self._cases, self._repeat = cases, repeat
        self._runs: list[list[CaseRun]] = [[] for _ in cases]
        self._stopped, self._spent = "", 0

    def estimated(self) -> int:
        """How many tokens the cases may take, by their first questions. Raises Refused, code
        ``invalid_input``: no home can be made of a case."""

        async def size(one: PlacedCase) -> int:
            with closing(await _made(self, one)) as made:
                return len(canonical.encode(policy.preview(made.home, made.agent)[1]))

        total = sum(asyncio.run(size(one)) for one in self._cases)
        return total * TURNS_ESTIMATED * self._repeat // BYTES_PER_TOKEN

    def run(self, progress: Told, tokens_max: int, at_once: int) -> None:
        """Run the cases, see `in_turn`; `tokens_max`: 0: there is no limit. Raises as above."""

        async def run(nth: int) -> None:
            with closing(await _made(self, self._cases[nth])) as made:
                ran = await on_demand.run_one(made.home.services, made.agent, made.run_key)
                self._runs[nth].append(made.judged(ran.code))
            self._spent += self._runs[nth][-1].tokens

        jobs = [partial(run, nth) for nth in [*range(len(self._cases))] * self._repeat]
        at_once = 1 if self.is_repeatable else at_once
        self._stopped = in_turn(jobs, progress, lambda: 0 < tokens_max <= self._spent, at_once)

    @property
    def _judged(self) -> "Judged":
        """The cases that were run at all."""
        pairs = zip(self._cases, self._runs, strict=True)
        return [(one.case, runs) for one, runs in pairs if runs]

    @property
    def kept(self) -> d.KeptEvaluation:
        judged = ((one, [run.counts for run in runs]) for one, runs in self._judged)
        cases = [d.KeptCase(case.id, case.digest, counts) for case, counts in judged]
        return d.KeptEvaluation(d.FORMAT, self.name, self.words, cases)

    def details(self, at: str, against: d.EvalAgainst | None, *, is_showing: bool) -> d.EvalDetails:
        """The document of `eval`; `at`: when it was asked, for prices."""
        judged = self._judged
        runs = [run for _, of_case in judged for run in of_case]
        price = price_at(self.settings.prices, self.name, at)
        costs = [cost(one.usage, price) for one in runs]
        known = [one for one in costs if one is not None]
        quiet = [of_case for case, of_case in judged if not case.wanted]
        total = judging.Tally.of([run.marks for run in runs])
        return d.EvalDetails(
            model=self.name,
            words=self.words,
            cases=len(self._cases),
            kept=sum(one.case.kept for one in self._cases),
            done=len(judged),
            repeat=self._repeat,
            stopped=self._stopped or None,
            tokens=self._spent,
            cost=sum(known) / WHOLE if known and len(known) == len(costs) else None,
            failed=dict(sorted(Counter(one.failed for one in runs if one.failed).items())),
            unplaced=sum(one.unplaced for one in runs),
            quiet=len(quiet),
            loud=sum(bool(run.marks.wrong) for of_case in quiet for run in of_case),
            varied=sum(len({_outcome(one) for one in of_case}) > 1 for _, of_case in judged),
            precision=total.precision,
            recall=total.recall,
            rows=list(_rows(judged)),
            against=against,
            mistakes=list(_mistakes(judged)) if is_showing else None,
        )


async def _made(judged: Evaluation, placed: PlacedCase) -> "_CaseHome":
    """The home of a case, as it is when it wakes. Raises Refused, code ``invalid_input``, at its
    place."""
    made = _CaseHome(judged, placed.case)
    try:
        await made.live()
    except Refused as refused:
        made.close()
        raise _refused(placed.place, f"{refused.because}; {refused.instead}") from None
    return made


class _CaseHome:
    """A case lived: what it tells of happens at its times, in their order."""

    def __init__(self, judged: Evaluation, case: Case) -> None:
        logs = Log.in_memory("journal"), Log.in_memory("agent")
        settings = replace(judged.settings, timezone=case.timezone)
        clock = ManualClock(case.instant(case.now))
        self.home = Home.in_memory(Services(*logs, clock, settings, lambda _: self._model))
        self.home.services.scaffold = judged.scaffold
        self._by, self._case, self._model = judged, case, judged.model
        self.task = self.agent = self.run_key = ""
        self._titles = dict[str, str]()  # of tasks
        self.close = self.home.close

    async def live(self) -> None:
        """Do all that was before now, and what wakes its agent then. Raises Refused."""
        case, task = self._case, self._case.task
        later_set = ((name, getattr(task, name)) for name in FIELDS)
        deeds: list[tuple[str, object]] = [
            *((one.at, one) for one in case.notes),
            *((one.at, {name: one.value}) for name, one in later_set if isinstance(one, CaseField)),
            *((one.at, one) for one in (case.first,) if one),
        ]
        began = task.at or min((at for at, _ in deeds), key=case.instant, default=case.now)
        made = [*((one.at or began, one) for one in case.others), (began, task)]
        deeds = [*sorted(made, key=self._when), *sorted(deeds, key=self._when)]
        self._at(deeds[0][0])
        for name in case.labels:
            catalog.add_label(self.home, name)
        for at, deed in deeds:
            self._at(at)
            match deed:
                case CaseTask():
                    self._add(deed)
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

    def _when(self, told: tuple[str, object]) -> str:
        return self._case.instant(told[0])

    def _add(self, task: CaseTask) -> None:
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
        command = ImportTasks("case", (ImportedRef(self.task, kept.id),))
        tasks.append_command(self.home, command, payloads=[kept])

    def _begin(self) -> None:
        """Give the task its agent, which is queued to wake."""
        self.home.views.catch_up()
        if is_leaving(self._by.name):  # the person was asked for all cases
            policy.allow(self.home, self._by.name)
        given = self._by.directives
        name = templates.create_template(self.home, "judged", given) if given is not None else ""
        self.agent = assign_agent(self.home, self.task, AgentOptions(template=name)).agent

    async def _report(self, report: CaseReport) -> None:
        """Let an earlier wake say what it did."""
        self._begin()
        told = {"content": report.content, "tldr": report.tldr, "oneLiner": report.one_liner}
        quote = {BECAUSE: AS_TOLD}  # the words that it rests on, of which a case says nothing
        said = [
            (one.tool, (quote if registry.proposes(one.tool) else {}) | one.arguments)
            for one in report.proposed
        ]
        calls = tuple(
            Call(f"c{nth}", tool, canonical.text(arguments))
            for nth, (tool, arguments) in enumerate([*said, ("update_report", told)])
        )
        run_key, own = self._queued(), self._model
        self._model = TapeModel("tape", [Reply(b"", calls=calls), Reply(b"", text="Done.")])
        await on_demand.run_one(self.home.services, self.agent, run_key)
        self._model = own
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
        found, unplaced = list[judging.Proposed](), 0
        for changes in views.page(inbox.VIEW):
            for item in changes.items:
                told = self._told(item.tool, proposals.arguments_of(self.home, item))
                if changes.run_key != self.run_key:
                    is_back = item.status == "retracted" and not item.reason.startswith(REPLACED)
                    found += [judging.Proposed("retract", one.kind) for one in told if is_back]
                elif is_open(item):
                    found += told
                    unplaced += bool(item.because and not item.because_at)
        if wake.outcome != "completed":
            code = wake.code or code or wake.waits_for or "not_run"
        elif wake.is_report_missing:
            code = "no_report"
        marks = judging.judge(self._case.wanted, self._case.allowed, found)
        return CaseRun(marks, code, unplaced, wake.usage)

    def _told(self, tool: str, arguments: str) -> Sequence[judging.Proposed]:
        with self.home.services.journal.reading() as world:
            task, known = world.load(TASK, self.task), world.load(CATALOG, MAIN)
            names = self._titles | {one.id: one.title for one in task.items}
            names |= {one.id: one.name for one in known.labels.values()}
        return judging.proposed(tool, canonical.read(arguments), names)


def _with_reason(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Fields with the reason that some statuses need."""
    needs = fields.get("status") in ("BLOCKED", "ON HOLD")
    return {**fields, "reason": AS_TOLD} if needs else fields


# ------------------------------------------------------------------------------------- what is told


SHOWN_MAX = 160  # characters of a case's newest text


def _outcome(run: CaseRun) -> tuple[object, ...]:
    """What came of a run, in whatever order it was proposed."""
    return (*map(frozenset, run.marks), run.failed)


def _rows(judged: Judged) -> Iterator[d.EvalRow]:
    for is_kept in (False, True):
        part = [one for one in judged if one[0].kept == is_kept]
        yield _row("all", "", is_kept, part)
        yield from (_row("kind", kind, is_kept, part, kind) for kind in judging.KINDS)
        for by, names in (("class", attrgetter("classes")), ("language", attrgetter("language"))):
            for name in sorted({name for case, _ in judged for name in names(case).split()}):
                of_it = [one for one in part if name in names(one[0]).split()]
                yield _row(by, name, is_kept, of_it)


def _row(by: str, name: str, is_kept: bool, part: Judged, kind: str = "") -> d.EvalRow:
    found = judging.Tally.of([run.marks for _, runs in part for run in runs], kind)
    shares = share(found.right, found.right + found.wrong), share(found.right, found.wanted)
    return d.EvalRow(by, name, is_kept, found.wanted, *found, *shares)


def share(count: int, of: int) -> d.Share:
    """A share with its bounds; of nothing, all of it."""
    return d.Share(count / of if of else 1.0, *judging.wilson(count, of))


def _mistakes(judged: Judged) -> Iterator[d.EvalMistake]:
    for case, runs in judged:
        if case.kept or not case.shown or all(one.counts.is_right for one in runs):
            continue
        wrong = {f"{x.kind}: {x.value}": 0 for one in runs for x in one.marks.wrong}
        wishes = dict.fromkeys(x for one in runs for x in one.marks.missed)
        missed = [f"{one.kind}: {' | '.join(map(str, one.values))}" for one in wishes]
        failed = next((one.failed for one in runs if one.failed), None)
        text = case.words or (case.notes[-1].text if case.notes else case.task.title)
        yield d.EvalMistake(case.id, text[:SHOWN_MAX], list(wrong), missed, failed)


def earlier_run(file: str, cases: Sequence[PlacedCase]) -> d.KeptEvaluation:
    """A run that was kept, to be compared with one of these cases. Raises Refused, code
    ``unreadable_file``; ``invalid_input``: it is none, or of other cases."""
    found, now = d.read_evaluation(file), {(one.case.id, one.case.digest) for one in cases}
    if not any((one.id, one.digest) in now for one in found.cases):
        because = f"no case of {file} is among these as it was then"
        raise Refused("invalid_input", because=because, instead="name a run of the same cases")
    return found


def compared(run: str, then: d.KeptEvaluation, now: d.KeptEvaluation) -> d.EvalAgainst:
    before = {(one.id, one.digest): one for one in then.cases if one.runs}
    both = [(before[key], one) for one in now.cases if (key := (one.id, one.digest)) in before]
    fixed = sum(_is_right(new) > _is_right(old) for old, new in both)
    broken = sum(_is_right(new) < _is_right(old) for old, new in both)
    p, left_out = judging.sign_test(fixed, broken), len(before) + len(now.cases) - 2 * len(both)
    return d.EvalAgainst(run, len(both), fixed, broken, p, p < judging.TELLING, left_out)


def _is_right(case: d.KeptCase) -> bool:
    """Whether most of its runs were right."""
    return 2 * sum(one.is_right for one in case.runs) > len(case.runs)


def keep_run(run: d.KeptEvaluation, out: Path) -> None:
    """Keep a run, to be compared with later. Raises Refused: the file cannot be written."""
    text = msgspec.json.format(msgspec.json.encode(run), indent=1).decode()
    save_text(out, f"{text}\n", is_replacing=True)


Words = tuple[templates.Directives, str]
"""What agents live on, and what it is called."""


def words_judged(home: Callable[[], Home], template: str, given: Words) -> Words | None:
    """What agents live on where a template of a home is named, or words are given; None: the
    built-in ones. Raises Refused: both are, or there is no such template."""
    if template and given[1]:
        raise invalid("a template and files are both words to judge", "give one of both")
    if template in ("", templates.BUILT_IN):
        return given if given[1] else None
    found = template_version(home(), template)
    return templates.Directives(found.general, found.report), f"{found.name}.{found.version}"
