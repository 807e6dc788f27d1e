"""Branches: what if this wake had been asked otherwise? (`wakelog fork`)

A branch is a home of its own: both logs up to a moment, row by row as they are, and then what is
done in it. The logs that it comes from are only read. Every command works in a branch, prove
too."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from adapters.home import files
from adapters.home.clock import ManualClock
from adapters.home.prices import known_usage
from adapters.home.settings import BudgetSettings, Settings
from adapters.runtime import effect_executor, watcher
from adapters.runtime.budgets import Budgets, ForkLedger, LedgerEntry
from adapters.runtime.services import Services
from adapters.store.log import Erasing, Log, LogProgress
from adapters.store.log_copy import copy_appends
from adapters.store.memory import MemoryLogRecorder
from adapters.store.reader import tells, writer_of
from adapters.store.recorder import LogRecorder, by_append, numbered
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.timetravel.branch import BranchLog
from adapters.timetravel.fork_verdicts import BranchProgress, Verdicts, given_then, payloads_of
from adapters.timetravel.logs_at import Past, Spot
from domain.agent.agent import AGENT
from domain.agent.clients import client_named
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append import envelope
from domain.append.causes import LogShared, ReplicasImported, Replied
from domain.append.envelope import Row
from domain.erasure import ErasureList, digest_of
from domain.errors import Refused, Remedy
from domain.journal.commands import AddNote, EditNote
from domain.journal.task import TASK
from domain.log.state import MAIN
from domain.log.wire import SHARED, Erased, words
from domain.policy.commands import GiveConsent
from domain.policy.gate import is_leaving, pattern_of, unconsented
from domain.policy.policy import POLICY, covers
from domain.ports import Clock, Model, ModelFault, Reply, Request, Usage
from domain.templates.commands import AddVersion, AssignTemplate, CreateTemplate, RollBackTemplate
from domain.templates.template import TEMPLATE
from domain.wake.machine import pending
from domain.wake.prompt import request
from domain.wake.reading import PromptOptions
from domain.wake.wake import WAKE, ModelAsked, Wake
from replay import fork
from replay.fork import Answer, AnsweredBy, ChangedVerdict, ModelReply


def copy_log(
    source: Log, n: int, path: Path | None, replica: str, told: BranchProgress | None = None
) -> Log:
    """A log of its own with the appends of another one up to `n`, and the payloads they name; of a
    shared one with what it held when the replica had written its append `n`. In a file, or, where
    `path` is None, in memory."""
    recorder: LogRecorder = SQLiteLogRecorder(path) if path else MemoryLogRecorder()
    is_shared = any(
        isinstance(row.fact, LogShared) and row.n <= n
        for row in source.facts(f"log:{MAIN}@{replica}")
    )
    known = source.known_to(replica, n)
    held = _held(source, replica, known) if is_shared else known
    try:
        if is_shared:
            with recorder.deciding():
                recorder.keep_order()
        hears = partial(told, source.name) if told else lambda _: None
        copy_appends(_appends(source, n, held), source, recorder, hears)
    except BaseException:
        recorder.close()
        raise
    made = Log(source.name, recorder, replica)
    _say_erased(source, made)
    return made


def _say_erased(source: Log, made: Log) -> None:
    """Say in a copy that ends before an erasure what is erased in it."""
    every, known = source.erasures(), made.erasures().rows
    marks = [
        row
        for append in (made.appends() if every.made else ())
        for row in append
        if type(row.fact) is Erased and (row.replica, row.n, row.row) not in known
    ]
    if marks:
        listed = ErasureList.of(marks, sorted(every.payloads))
        erasing = Erasing((), listed, digest_of(marks))
        made.erase("home", "fork", lambda: erasing, made.tail().at)


def _appends(source: Log, n: int, held: Mapping[str, int]) -> Iterator[Sequence[Row]]:
    every = by_append(source.rows())
    if not held:
        return takewhile(lambda rows: _append_number(rows) <= n, every)
    return (rows for rows in every if _append_number(rows) <= held.get(writer_of(rows), 0))


def _held(source: Log, replica: str, known: Mapping[str, int]) -> Mapping[str, int]:
    """Up to which append of each replica a shared log was there when one of them knew so much.
    Behind that others may have said something of the log alone: no marker names it, but what they
    wrote in the other log may rest on it."""
    held = dict(known)
    for one in source.heads():
        for rows in source.appends_of(one, known.get(one, 0)) if one != replica else ():
            if tells(rows) or not _is_known(rows, known):
                break
            held[one] = _append_number(rows)
    return held


def _is_known(rows: Sequence[Row], known: Mapping[str, int]) -> bool:
    """Whether all that a marker names is known; of another fact of the log: it names nothing."""
    facts = (envelope.read(row).data for row in rows)
    markers = (fact for fact in facts if isinstance(fact, ReplicasImported))
    return all(one.n <= known.get(one.replica, 0) for marker in markers for one in marker.replicas)


def _append_number(rows: Sequence[Row]) -> int:
    return numbered(rows[0].state).n


# ----------------------------------------------------------------------------------- what it may do
# It sends only what a person agreed to in the home that it comes from, by today.


def agree_as_today(past: Past, services: Services, agent_id: str, model: str) -> None:
    """Give the fork the receipts that stand for a model today: at its own time there may have been
    none. Raises Refused, code ``privacy_confirmation_required``: there is none today."""
    with services.agents.reading() as world:
        agent = world.load(AGENT, agent_id)
    with past.agents.log.reading() as world:
        policy = world.load(POLICY, MAIN)
    if missing := unconsented(policy, agent, model):
        because = f"nobody has agreed yet to what {model} is sent, for {len(missing)} categories"
        instead = Remedy("allow_sending", pattern_of(model))
        raise Refused("privacy_confirmation_required", because=because, instead=instead)
    for one in policy.consents:
        if covers(one.model, model) and one.category in agent.categories:
            receipt = GiveConsent(one.model, (one.category,), one.notice, one.sections)
            services.append_agent(receipt)


def fork_settings(settings: Settings, given: PromptOptions | None) -> Settings:
    """Those of a home, for a fork: agents are switched on and budgets off, and the zone is the one
    that the wake was told."""
    zone = given.local.zone if given and given.local else settings.timezone
    agents = replace(settings.agents, enabled=True)
    return replace(settings, agents=agents, budget=BudgetSettings(), timezone=zone)


# ------------------------------------------------- what it may take: its own limit, its home's day

TOKENS_MAX = 50_000  # of one fork, unless a person says another number


class ForkStopped(Exception):
    """Nobody answers this request; it says why."""


class ForkSpending(Struct, eq=False):
    """Each answer is written down in the home that the fork comes from, and counts into its day.
    `budgets`, `clock` and `ledger` are the home's: what was spent today, its own time, as a fork's
    stands at that of its wake, and where it is written down. `spent`: of which fork, agent and
    model; its time and numbers are filled in. `tokens`, `cost`: what it took so far."""

    budgets: Budgets
    clock: Clock
    ledger: ForkLedger
    spent: LedgerEntry
    tokens_max: int
    tokens: int = 0
    cost: int = 0

    def check(self, request: Request) -> None:
        """Look whether a request may be asked. Raises ForkStopped: it would take more than is
        left."""
        spent = self.spent
        if until := self.budgets.until_of(spent.fork, spent.agent, self.clock.now()):
            raise ForkStopped(f"a budget of the home is spent until {until}")
        about = known_usage(Usage(), request_size(request), spent.model).tokens_in or 0
        if self.tokens + about > self.tokens_max:
            told = f"about {about:,} more are needed, {self.tokens:,} were taken"
            raise ForkStopped(f"its limit is {self.tokens_max:,} tokens: {told}")

    def took(self, request: Request, usage: Usage) -> None:
        """Write down what an answer took, or a failure."""
        known = known_usage(usage, request_size(request), self.spent.model)
        spent = self.budgets.spent(self.spent, known, self.clock.now())
        self.tokens, self.cost = self.tokens + spent.tokens, self.cost + spent.cost
        self.ledger.write(spent)


def request_size(request: Request) -> int:
    """The bytes that are sent."""
    sections = sum(len(one.text.encode()) for one in (*request.system, *request.user))
    replies = sum(len(one.reply) for one in request.exchanges)
    results = sum(len(r.output.encode()) for one in request.exchanges for r in one.results)
    return sections + replies + results


# -------------------------------------------------------------------------------------- who answers

NOBODY = "the request differs from the recorded one, and no model was given"


class UseRecorded(Exception):
    """The record answers this request."""

    def __init__(self, fact: ModelReply, asked: str) -> None:
        super().__init__("the record answers")
        self.fact = fact
        self.asked = asked


class ForkModel(Struct, eq=False):
    """Answers with what was recorded for the same bytes; else asks somebody, or stops. `name` is
    what the wake is told that its model is called; `of`: whose the record is, where it answers
    whoever is asked. `spending` says what may be asked that is paid; None: nothing is. `hides`:
    sections that nobody is shown."""

    name: str
    of: str
    recorded: Mapping[str, ModelReply]
    asks: Model | None
    how: AnsweredBy
    spending: ForkSpending | None = None
    hides: tuple[str, ...] = ()
    answers: list[Answer] = []

    async def reply(self, request: Request) -> Reply:
        """The chosen model's answer. What the record answers, or nobody, is raised."""
        shown = tuple(one for one in request.user if one.name not in self.hides)
        asking = replace(request, model=self.name, user=shown)
        asked = fork.request_digest(replace(asking, model=self.of))
        if asked in self.recorded:
            raise UseRecorded(self.recorded[asked], asked)
        if self.asks is None:
            raise ForkStopped(NOBODY)
        if self.spending is not None:
            self.spending.check(asking)
        turn = len(request.exchanges) + 1
        self.answers.append(Answer(turn, self.how, self.name, fork.request_digest(asking)))
        try:
            reply = await self.asks.reply(asking)
        except ModelFault as fault:
            self._pay(asking, fault.usage)
            raise
        self._pay(asking, reply.usage)
        return reply

    def _pay(self, asking: Request, usage: Usage) -> None:
        if self.spending is not None:
            self.spending.took(asking, usage)


# --------------------------------------------------------------------------------------- the branch

STUBS = ("rules", "tape")  # only stand for a language model
ANSWERS_MAX = 200  # recorded ones that a fork takes; a wake has at most 21 turns


class NoteEdit(NamedTuple):
    """A note of a task as it should read; `number` counts from 1, 0 is one more note."""

    task: str
    number: int
    text: str


class TemplateVersion(NamedTuple):
    """What the agent shall live on: a version's directives, wherever they stand now."""

    template: str  # id; of a seed too, in use or not; empty: the built-in directives
    name: str
    version: int
    general: str
    report: str
    seed: str = ""
    of: str = ""  # whose version, where two machines have its number


class ForkChanges(NamedTuple):
    """What is to be otherwise. `model` is empty where only the record may answer; `is_going_on`: it
    answers only what the record, whoever it is of, does not; `is_anew`: the record answers nothing.
    `hides`: sections that the model is not shown. `scaffold`: of the wake, 0: as it was."""

    model: str = ""
    template: TemplateVersion | None = None
    notes: tuple[NoteEdit, ...] = ()
    verdicts: tuple[ChangedVerdict, ...] = ()
    is_going_on: bool = False
    is_anew: bool = False
    hides: tuple[str, ...] = ()
    scaffold: int = 0


class Forked(NamedTuple):
    """A branch whose wake was run. `run_key`: the wake's there; after another verdict it may be
    another one. `stopped`: why it did not come to its end; else empty. `left_out`: recorded causes
    after another verdict that its world does not allow."""

    journal: Log
    agents: Log
    run_key: str
    answers: tuple[Answer, ...]
    stopped: str = ""
    left_out: int = 0

    def close(self) -> None:
        self.journal.close()
        self.agents.close()


# ---------------------------------------------------------------------------------------- the fork


class Branch:
    """Makes one branch of a wake."""

    def __init__(self, past: Past, run_key: str, replica: str, settings: Settings) -> None:
        """Look at a wake to fork. The logs that it comes from are only read."""
        self._past = past
        self._replica = replica
        self._run_key = run_key
        self._rows = past.agents.rows_of(f"wake:{run_key}@{replica}")
        self._begun = self._wake(self._rows[0].n).begun if self._rows else None
        self._given = given_then(past, self._rows[0]) if self._rows else None
        self._settings = fork_settings(settings, self._given)

    async def make(
        self, folder: Path | None, spot: Spot, wanted: ForkChanges, model: Model | None,
        progress: LogProgress | None = None, spending: ForkSpending | None = None,
    ) -> Forked:  # fmt: skip
        """Make the branch and run the wake in it to its end, or to where nobody answers. `folder`:
        its own; None: it is in memory. `spot`: before the wake began, or after one of its steps.
        `model`: who answers what the record does not; None: nobody. `progress` is told how far each
        log has come, in appends; `spending`: what the model may take; None: nobody pays for it.
        Raises Refused if the wake never began, or what is wanted is not possible there."""
        if self._begun is None:
            because = f"the wake {self._run_key[:8]} has not begun, so there is nothing to fork"
            raise Refused("unknown_wake", because=because, instead="run it with `wakelog wake`")
        if by := client_named(self._begun.model):
            because = f"the wake {self._run_key[:8]} is what {by} proposed; nobody here can ask it"
            raise Refused("model_unavailable", because=because, instead=f"ask {by} itself")
        if spot.step and self._wake(spot.step).phase != "waiting":
            because = f"the wake {self._run_key[:8]} waits for nothing after step {spot.step}"
            raise Refused("invalid_value", because=because, instead="fork an earlier step of it")
        at = next(row.at for row in self._rows if row.n >= spot.step)
        verdicts = Verdicts(self._past, self._replica, wanted.verdicts)
        start = verdicts.start(spot.where)
        ends = {"journal": spot.where.journal, "agent": spot.where.agent}

        def told(log: str, n: int) -> None:
            if progress is not None:
                progress(log, n, ends[log])

        journal, agents = self._copied(folder, start, told) if folder else self._over(start, told)
        name = model.name if model else self._begun.model
        how: AnsweredBy = "stub" if name.partition(":")[0] in STUBS else "live"
        of = self._begun.model if wanted.is_going_on else name
        pairs = asked_and_answered(self._past, self._run_key, self._replica)
        recorded = {} if wanted.is_anew else fork.recorded_answers(pairs)
        answering = ForkModel(name, of, recorded, model, how, spending, wanted.hides)
        services = Services(journal, agents, ManualClock(at), self._settings, lambda _: answering)
        try:
            verdicts.go_on(services, start, spot.where, told)
            self._edit(services, wanted.notes)
            if wanted.template is not None:
                _assign(services, self._begun.agent, wanted.template)
            run_key = verdicts.names.get(self._run_key, self._run_key)
            self._expect(services, run_key)
            if (model is not None or not spot.step) and is_leaving(name):
                agree_as_today(self._past, services, self._begun.agent, name)
            given = self._given_to(wanted.scaffold)
            stopped = await self._performed(services, answering, run_key, spot, given)
            made = tuple(answering.answers)
            return Forked(journal, agents, run_key, made, stopped, verdicts.left_out)
        except BaseException:
            services.close()
            if folder:
                shutil.rmtree(folder)  # it was empty before, or not there
            raise

    def _over(self, start: tuple[int, int], told: BranchProgress) -> list[Log]:
        """Both logs up to where the branch begins, in memory."""
        both = zip((self._past.journal, self._past.agents), start, strict=True)
        if self._past.agents.log.is_shared:
            return [copy_log(one.log, n, None, self._replica, told) for one, n in both]
        return [BranchLog(one, n, self._replica) for one, n in both]

    def _copied(self, folder: Path, start: tuple[int, int], told: BranchProgress) -> list[Log]:
        """The same in files; whatever ends that early, nothing is kept."""
        made: list[Log] = []
        logs = self._past.journal.log, self._past.agents.log
        _prepare(folder, self._replica)
        try:
            for log, n in zip(logs, start, strict=True):
                made.append(copy_log(log, n, folder / f"{log.name}.db", self._replica, told))
        except BaseException:
            for log in made:
                log.close()
            shutil.rmtree(folder)
            raise
        return made

    def _expect(self, services: Services, run_key: str) -> None:
        """Look whether the wake is there, which may have come of the recorded verdict."""
        assert self._begun is not None  # `make` has looked
        with services.agents.reading() as world:
            queued = world.load(WAKE_QUEUE, self._begun.agent).queued
            is_there = world.load(WAKE, run_key).started is not None
        if not is_there and (queued is None or queued.run_key != run_key):
            because = f"with that verdict nothing led to the wake {self._run_key[:8]}"
            raise Refused("unknown_wake", because=because, instead="fork another wake of the agent")

    # ------------------------------------------------------------------------------------- notes

    def _edit(self, services: Services, notes: Sequence[NoteEdit]) -> None:
        for edit in notes:
            with services.journal.reading() as world:
                task = world.load(TASK, edit.task)
            said, kept = words(task.id, edit.text)
            if not edit.number:
                services.append_journal(AddNote(task.id, "note", said), payloads=kept)
                continue
            if edit.number > len(task.notes):
                because = f"the task had {len(task.notes)} notes then, not {edit.number}"
                instead = "see `wakelog at RUN`, or leave the number out for one more note"
                raise Refused("unknown_item", because=because, instead=instead)
            note = task.notes[edit.number - 1].id
            services.append_journal(EditNote(task.id, note, said), payloads=kept)
        if notes:
            watcher.catch_up(services)

    # ----------------------------------------------------------------------------------- running

    def _given_to(self, scaffold: int) -> PromptOptions | None:
        """What the wake is given: what it was, under another scaffold where one is named."""
        if not scaffold or self._given is None:
            return self._given
        if self._given.local is None:
            because = "nobody knows what the person's clock showed in a wake of scaffold 1"
            raise Refused("no_clock", because=because, instead="leave it as it was")
        return replace(self._given, scaffold=scaffold)

    async def _performed(
        self, services: Services, model: ForkModel, run_key: str, spot: Spot,
        given: PromptOptions | None,
    ) -> str:  # fmt: skip
        """Run the wake; why it stopped before its end, or empty."""
        assert self._begun is not None  # `make` has looked
        is_begun, agent = bool(spot.step), self._begun.agent
        for _ in range(ANSWERS_MAX):
            try:
                if is_begun:
                    await effect_executor.perform(services, run_key)
                else:
                    run = effect_executor.run_wake
                    await run(services, agent, run_key, is_now=True, given=given)
            except UseRecorded as found:
                is_begun = True
                self._answer(services, model, run_key, found)
                continue
            except ForkStopped as stopped:
                return str(stopped)
            return ""
        return f"more than {ANSWERS_MAX} answers"

    def _answer(
        self, services: Services, model: ForkModel, run_key: str, found: UseRecorded
    ) -> None:
        """Give the wake its recorded answer, under the attempt that it waits for."""
        with services.agents.reading() as world:
            asked = pending(world.load(WAKE, run_key))
        assert isinstance(asked, ModelAsked)
        fact = replace(found.fact, turn=asked.turn, attempt=asked.attempt)
        kept = payloads_of(self._past.agents.log, [fact])
        model.answers.append(Answer(asked.turn, "recorded", model.of, found.asked))
        services.append_reply(Replied("wake", run_key, fact), kept)

    def _wake(self, n: int) -> Wake:
        return self._past.agents.world(n, self._replica).load(WAKE, self._run_key)


def _assign(services: Services, agent: str, wanted: TemplateVersion) -> None:
    """Let an agent live on a version. What a template did not have then, it gets: its directives
    are what is tried, so in the fork their number and id may be others."""
    if not wanted.template:
        services.append_agent(AssignTemplate(agent, ""))
        return
    with services.agents.reading() as world:
        known = world.load(TEMPLATE, wanted.template)
    (general, kept), (report, more) = (words(SHARED, t) for t in (wanted.general, wanted.report))
    payloads = [*kept, *more]
    template = wanted.template
    if not known.exists or known.is_deleted:
        seed = wanted.seed if not known.exists else ""
        make = CreateTemplate(wanted.name, general, report, seed=seed)
        template = services.append_agent(make, payloads=payloads).result.ids[0]
    else:
        numbered = known.numbered(wanted.version)
        found = [one for one in numbered if one.is_of(wanted.of or one.replica)]
        if not found:
            services.append_agent(AddVersion(template, general, report, "user"), payloads=payloads)
        elif known.version not in found:
            services.append_agent(RollBackTemplate(template, wanted.version, wanted.of))
    services.append_agent(AssignTemplate(agent, template))


def asked_and_answered(
    past: Past, run_key: str, replica: str
) -> Iterator[tuple[Request, ModelReply]]:
    """What a wake asked the model, rebuilt from the log, and what came; in order."""
    waiting: Request | None = None
    rows = past.agents.rows_of(f"wake:{run_key}@{replica}")
    for n in sorted({row.n for row in rows}):
        first = next(row.fact for row in rows if row.n == n)
        if waiting is not None and isinstance(first, ModelReply):
            yield waiting, first
            waiting = None
        world = past.agents.world(n, replica)
        wake = world.load(WAKE, run_key)
        asked = pending(wake)
        if isinstance(asked, ModelAsked):
            waiting = request(world, wake, asked)


def _prepare(folder: Path, replica: str) -> None:
    """Make the branch's folder; it writes under the name of the replica that it comes from."""
    if folder.exists() and any(folder.iterdir()):
        because = f"{folder} is there already and is not empty"
        raise Refused("invalid_value", because=because, instead="name a new folder with --out")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / files.REPLICA).write_text(replica, encoding="ascii")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        because = f"the folder {folder} cannot be made: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another with --out") from None
