"""Takes a person's words out of a home for good (`wakelog erase`, ADR 107).

The deeds that a person would do by hand come first; then, of each log in one transaction, rows
become marks with their digests, texts go, and the log says so. What can be made again is thrown
away, the files are written anew, and every byte of them is searched. Each step may be repeated, so
an erasure that was cut off is ended by the same command."""

import re
import shutil
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from msgspec.structs import astuple, replace

from adapters.documents.results import ErasedDetails, ErasedMention, ErasureLine
from adapters.home import files
from adapters.home.copies import Copied, copies
from adapters.home.prices import known_usage
from adapters.store.log import Erasing, Log
from adapters.store.reader import read_append
from adapters.store.recorder import by_append
from adapters.store.sqlite_files import take_away
from adapters.upkeep.byte_search import files_with
from adapters.usecases.resolve import PREFIX_MIN
from domain import erasure
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE, run_status
from domain.append import envelope
from domain.append.envelope import Row
from domain.append.texts import payloads_named, words_in
from domain.changes.change_set import SetOpened
from domain.erasure import ErasureList, ErasureMade, Place, Spent, Unit
from domain.errors import Refused
from domain.journal.catalog import CATALOG, CorrectionCaptured, LabelAdded, LabelScoped, category_of
from domain.journal.commands import AddCorrection, ImportTasks
from domain.journal.day import DAY
from domain.journal.edits import DEFAULT_CHECKLIST
from domain.journal.imported import ID_KEPT, decoded, lines_of
from domain.journal.links import LINKS
from domain.journal.task import TASK, Status, TaskImported
from domain.journal.timer import TIMER
from domain.log import canonical
from domain.log.keys import payload_id
from domain.log.state import MAIN, LogState, RecordedEvent
from domain.log.timestamps import later
from domain.log.wire import Erased, PayloadId, tag_of
from domain.policy.gate import is_leaving
from domain.wake.wake import WakeStarted, used
from projections.tasks import VIEW as TASKS

if TYPE_CHECKING:
    from adapters.wiring import Home

WORD_MIN_BYTES = 8  # of a text that is searched for: a shorter one stands in many places
OWN = ("task", "links", "agent", "alert", "memory")  # kinds of rows that are a task's or an agent's
SEARCHED_MAX = 64  # texts, the longest first
DAY_SECONDS = 86_400
_CODE = re.compile(r"[a-z2-7]{32}|(agent|import):.*|[0-9T:.Z-]+|[a-z_.]+").fullmatch
"""What is no word of anybody: an id, a time, a name that code gave."""
OURS = {*get_args(Status), DEFAULT_CHECKLIST}


class Mention(NamedTuple):
    """A row of something else that holds a text of what is erased; it stays. `owner`: the task or
    the agent that the row is of, by its id; empty: of neither."""

    log: str
    row: RecordedEvent
    text: str
    owner: str = ""


class LogPlan(NamedTuple):
    """What is to be erased of one log; `models` of its wakes and `mentions` are for the person."""

    erasing: Erasing
    models: tuple[str, ...]
    mentions: tuple[Mention, ...]


class Erasure(NamedTuple):
    """What an erasure did: `rows` became marks and `payloads` went; `texts` were searched for in
    `files`, of a home in a database also in `tables`, and found at `left`."""

    rows: int = 0
    payloads: int = 0
    texts: int = 0
    files: int = 0
    left: tuple[str, ...] = ()
    tables: int = 0


class Plan(NamedTuple):
    """What an erasure takes: `unit` as it is stored, `title` as a person calls it; `said`: its
    words; `names`: of owners; `copies`: see `ErasedDetails`."""

    unit: str
    what: str
    title: str
    journal: LogPlan
    agents: LogPlan
    forks: tuple[str, ...]
    said: tuple[str, ...]
    names: dict[str, str]
    copies: tuple[Copied, ...]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to erase."""
        return all(one.erasing.is_nothing for one in self.logs)

    @property
    def logs(self) -> tuple[LogPlan, LogPlan]:
        return self.journal, self.agents

    @property
    def mentions(self) -> tuple[Mention, ...]:
        return (*self.journal.mentions, *self.agents.mentions)

    @property
    def derived(self) -> list[tuple[str, str]]:
        """What says a text of it and can go without more: notes, and agents whole."""
        found: dict[tuple[str, str], None] = {}
        for one in self.mentions:
            if note := getattr(one.row.fact, "note", ""):
                found["note", f"{one.row.entity}/{note}"] = None
            elif one.log == "agent" and one.owner:
                found["agent", one.owner] = None
        return sorted(found, reverse=True)  # with a note the agents of its task go

    @property
    def texts(self) -> tuple[str, ...]:
        """What is searched for when all is done: what stands nowhere else, the longest first."""
        found = {*self.said} - {one.text for one in self.mentions}
        return tuple(sorted(found, key=lambda one: (-len(one), one))[:SEARCHED_MAX])

    def document(self, did: Erasure | None = None) -> ErasedDetails:
        """The document of `erase`; without what was done, of a dry run."""
        rows = sum(len(one.erasing.rows) for one in self.logs)
        payloads = sum(len(one.erasing.listed.payloads) for one in self.logs)
        done = did or Erasure(rows, payloads)
        owned = ((self.names.get(one.owner) or None, one) for one in self.mentions)
        mentions = [
            ErasedMention(of, one.log, one.row.stream, one.row.n, one.text) for of, one in owned
        ]
        return ErasedDetails(
            ok=not done.left, done=did is not None, unit=self.unit, title=self.title,
            rows=done.rows, payloads=done.payloads, wakes=len(self.agents.models),
            mentions=mentions, derived=[unit_of(*one) for one in self.derived],
            sent=Counter(filter(is_leaving, self.agents.models)), copies=list(self.copies),
            forks=list(self.forks), texts=done.texts, files=done.files, left=list(done.left),
            tables=done.tables,
        )  # fmt: skip


# ---------------------------------------------------------------------------------------- the plan


def plan_erasure(home: "Home", what: str, entity: str, *, is_again: bool = False) -> Plan:
    """What `erase` would take; nothing is changed."""
    journal, agents = home.services.journal, home.services.agents
    with journal.reading() as now, agents.reading() as then:
        of = _unit(home, what, entity, is_again=is_again)
        forks = _forks_with(home.path, _ids(of))
        every = now.load(CATALOG, MAIN).categories.values()
        categories = {one.name for one in every if what != "category" or one.id != entity}
        parts = [(log, *_parted(log, of)) for log in (journal, agents)]
        log, taken, _ = parts[what == "agent"]
        texts = _texts(log, taken, categories)
        plans = [_plan(*part, of, texts) for part in parts]
        plans[0] = plans[0]._replace(mentions=(*plans[0].mentions, *_labels(home, now, of)))
        owners = {one.owner for plan in plans for one in plan.mentions}
        names = {one: now.load(TASK, one).title or then.load(AGENT, one).name for one in owners}
    known, title = tuple(copies(home.path)), _title(home, what, entity)
    unit, (first, second) = unit_of(what, entity), plans
    return Plan(unit, what, title, first, second, forks, texts, names, known)


def _labels(home: "Home", now: LogState, of: Unit) -> Iterator[Mention]:
    """The labels that no other task bears: they stay, and may say what it was about."""
    others = (one.labels for one in home.views.all(TASKS) if one.id not in of.whole)
    own = {label for task in of.whole for label in now.load(TASK, task).labels}
    own = own.difference(*others) & {*now.load(CATALOG, MAIN).labels}
    for row in now.rows(CATALOG, MAIN) if own else ():
        match row.fact:
            case LabelAdded(label=label, name=name) | LabelScoped(label=label, name=name):
                if name and label in own and not of.rows_of([row]):
                    yield Mention("journal", row, name)


def unit_of(what: str, entity: str) -> str:
    """What an erasure is stored under, see `domain.erasure.Unit.of`."""
    return f"{what.removesuffix(erasure.ONLY)}:{entity}"


def _title(home: "Home", what: str, entity: str) -> str:
    """What a person calls it: of a note its task's."""
    with home.services.journal.reading() as journal, home.services.agents.reading() as agents:
        whose, _, part = entity.rpartition("/")
        match what.removesuffix(erasure.ONLY):
            case "agent":
                return agents.load(AGENT, entity).name
            case "category":
                return category_of(journal.load(CATALOG, MAIN), entity).name
            case "block":
                every = journal.load(DAY, whose).blocks
                return f"{whose} {next((one.start for one in every if one.id == part), part)}"
        return journal.load(TASK, whose or entity).title


def _ids(of: Unit) -> tuple[str, ...]:
    """What stands in each row of a unit."""
    return tuple(one for one in (of.part, *of.whole, *of.agents) if one)


def _unit(home: "Home", what: str, entity: str, *, is_again: bool = False) -> Unit:
    """All that belongs to what is erased: a category has tasks, a task agents, these have wakes and
    sets. `is_again`: of a category the tasks alone that were erased with it elsewhere."""
    agents, of, unit = home.services.agents, Unit.of(what, entity), unit_of(what, entity)
    every = [made for log in _logs(home) for _, made in log.erasures().made]
    every = [made for made in every if unit in made.units and made.what in (what, *erasure.WHOLE)]
    if what == "category":
        tasks = {task for made in every for task in made.along}
        in_it = () if is_again and tasks else _tasks_in(home.services.journal, entity)
        of = of._replace(tasks=frozenset({*tasks, *in_it}))
    if of.part and what not in erasure.WHOLE:
        journal = home.services.journal
        rows = (row for stream in journal.streams_of("log") for row in journal.facts(stream))
        gone = (row for row in rows if isinstance(row.fact, ErasureMade) and row.fact.unit == unit)
        of = of._replace(gone=frozenset((row.replica, row.n) for row in gone))
    own = _listed(agents, every)
    for append in agents.appends():
        for row in append:
            is_own = type(row.fact) is Erased and (row.replica, row.n, row.row) in own
            of = of.know(row) if is_own else of.learn(row)
    journal = home.services.journal
    return of._replace(taught=frozenset(_taught(journal, of, _listed(journal, every))))


def _listed(log: Log, every: Iterable[ErasureMade]) -> set[Place]:
    lists = (erasure.read_list(log.payload(made.listed)) for made in every)
    return {place for listed in lists for place in erasure.places_of(listed)}


def _taught(journal: Log, of: Unit, own: Container[Place]) -> Iterator[tuple[str, int, str]]:
    """Where words of it were taken as an example; of what is `own` and erased, in no category."""
    for row in (row for stream in journal.streams_of("catalog") for row in journal.facts(stream)):
        match row.fact:
            case Erased(was=was) if was == CORRECTION and (row.replica, row.n, row.row) in own:
                yield row.replica, row.n, ""
            case CorrectionCaptured(category=category):
                if row in of.rows_of(read_append(journal.append_at(row.n, row.replica))):
                    yield row.replica, row.n, category


def _tasks_in(journal: Log, category: str) -> list[str]:
    """The tasks that are in a category, deleted ones too."""
    with journal.reading() as now:
        every = (one.partition(":")[2] for one in journal.recorder.streams_of("task"))
        tasks = {one.partition("@")[0] for one in every}
        return [one for one in sorted(tasks) if now.load(TASK, one).category == category]


Parted = list[tuple[Row, RecordedEvent]]
"""Rows as they are stored and as they are read."""


def _parted(log: Log, of: Unit) -> tuple[Parted, Parted]:
    """The rows of a log that belong to a unit, and those that stay."""
    taken: Parted = []
    lives: Parted = []
    for stored in by_append(log.rows()):
        append = read_append(stored)
        marked = {id(row) for row in of.rows_of(append)}
        for raw, row in zip(stored, append, strict=True):
            (taken if id(row) in marked else lives).append((raw, row))
    return taken, [one for one in lives if type(one[1].fact) is not Erased]


def _plan(log: Log, taken: Parted, lives: Parted, of: Unit, texts: Iterable[str]) -> LogPlan:
    """What goes of one log, and who says it all the same."""
    erasing = _erasing(log, taken, lives, of)
    models = tuple(row.fact.model for _, row in taken if isinstance(row.fact, WakeStarted))
    return LogPlan(erasing, models, _mentions(log, lives, {*erasing.listed.payloads}, texts))


def _erasing(log: Log, taken: Parted, lives: Parted, of: Unit) -> Erasing:
    """Rows that go; and payloads, of a task all of its unit, whoever names them. Of a note also
    those with which a correction was captured: they are its words."""
    repeated = {one for _, row in lives for one in of.repeated_in(row, partial(_text, log))}
    named = {one for _, row in taken for one in payloads_named(row.fact)}
    if not of.whole:
        said = (one.text for _, row in taken for one in words_in(row.fact) if one.text)
        named |= {payload_id(task, text.encode()) for text in said for task in of.tasks}
        lives = [one for one in lives if not isinstance(_said(one[1]), CORRECTIONS)]
    kept = {one for _, row in lives for one in payloads_named(row.fact)}
    gone_from = named - kept | repeated

    gone = [
        name
        for name, data in log.kept_payloads()
        if name in gone_from or any(payload_id(task, data) == name for task in of.whole)
    ]
    marks = [replace(row, fact=envelope.read(envelope.erased(raw)).data) for raw, row in taken]
    listed = ErasureList.of((row for _, row in taken), gone, *_spent(log, taken))
    along = tuple(sorted(of.tasks)) if of.what == "category" else ()
    lines = tuple(sorted({*_lines(log, of, [row for _, row in (*taken, *lives)])}))
    return Erasing(tuple(raw for raw, _ in taken), listed, erasure.digest_of(marks), along, lines)


def _spent(log: Log, taken: Parted) -> Iterator[Spent]:
    """What the answers among rows took that a budget of today may count, wherever today is."""
    since = later(log.tail().at, seconds=-2 * DAY_SECONDS) if taken else ""
    begun = {row.entity: row.fact for _, row in taken if isinstance(row.fact, WakeStarted)}
    for _, row in taken:
        usage = used(row.fact) if row.at >= since else None
        if usage is not None and (of := begun.get(row.entity)):
            shown = (len(log.payload(one.payload) or b"") for one in (*of.system, *of.user))
            known = known_usage(usage, sum(shown), of.model)
            yield Spent(row.at, of.agent, of.model, *astuple(known))


def _lines(log: Log, of: Unit, rows: Iterable[RecordedEvent]) -> Iterator[str]:
    """What files called the tasks that go: by their titles, and by names of their own."""
    begins = {task[:ID_KEPT] for task in of.whole}
    for row in rows:
        match _said(row):
            case TaskImported(by=by, document=name) if row.entity in of.whole:
                data = log.payload(name)
                called = [decoded(data).title] if data else []
                source = by.removeprefix("import:")
            case ImportTasks(source=source, lines=name) if name and begins:
                parts = (one.split(" ", 1) for one in lines_of(log.payload(name)))
                called = [anchor for begin, *named in parts if begin in begins for anchor in named]
            case _:
                continue
        yield from (erasure.line_key(source, one) for one in called)


CORRECTION = tag_of(CorrectionCaptured("", "", ""))
CORRECTIONS = CorrectionCaptured | AddCorrection


def _said(row: RecordedEvent) -> object:
    """A row's fact; of a receipt its command."""
    return getattr(row.fact, "command", row.fact)


def _text(log: Log, name: PayloadId) -> str:
    return (log.payload(name) or b"").decode("utf-8", "replace")


def _texts(log: Log, rows: Parted, names: Container[str]) -> tuple[str, ...]:
    """The words of a task in the journal, of which most are a person's, or those of an agent in its
    own; long enough to be told from others, no `names` of categories and none of ours."""
    found: dict[str, None] = {}
    for _, row in rows:
        for said in words_in(row.fact):
            found |= dict.fromkeys(_within(said.text or _text(log, said.payload)))
        if isinstance(row.fact, TaskImported):
            document = canonical.read(log.payload(row.fact.document) or b"null")
            found |= dict.fromkeys(_strings(document))
    long = (one for one in found if len(one.encode()) >= WORD_MIN_BYTES)
    return tuple(one for one in long if not (_CODE(one) or one in names or one in OURS))


def _within(text: str) -> Iterable[str]:
    """A text; of one that holds arguments of a call theirs."""
    with suppress(Refused):
        return [*_strings(canonical.read(text))] if text.startswith("{") else (text,)
    return (text,)


def _strings(value: object) -> Iterator[str]:
    """The texts of a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def _mentions(
    log: Log, lives: Parted, gone: set[PayloadId], texts: Iterable[str]
) -> tuple[Mention, ...]:
    """The rows that stay and hold one of the texts, themselves or in a payload that stays."""
    starts, parts, at = [], [], 0
    owners: dict[str, str] = {}  # of wakes and sets, their agents
    for raw, row in lives:
        if isinstance(row.fact, WakeStarted | SetOpened):
            owners[row.entity] = row.fact.agent
        data = raw.state
        for name in payloads_named(row.fact):
            if name not in gone:
                data += log.payload(name) or b""
        starts.append(at)
        parts.append(data)
        at += len(data) + 1
    every, found = b"\n".join(parts), dict[tuple[str, str, str], Mention]()
    for text in texts:
        for begin in _places_of(text, every):
            row = lives[bisect_right(starts, begin) - 1][1]
            owner = owners.get(row.entity, row.entity if row.of_kind in OWN else "")
            if row.of_kind != "receipt":  # what it says stands in the rows that came of it
                part = getattr(row.fact, "note", "")
                found.setdefault((owner, part, text), Mention(log.name, row, text, owner))
    return tuple(found.values())


def _places_of(text: str, data: bytes) -> Iterator[int]:
    """Where a text stands in bytes."""
    for wanted in _spellings(text):
        begin = data.find(wanted)
        while begin >= 0:  # bounded by the bytes
            yield begin
            begin = data.find(wanted, begin + len(wanted))


def _spellings(text: str) -> set[bytes]:
    """A text as it stands in files: by itself, and in JSON."""
    return {text.encode(), canonical.encode(text)[1:-1]}


def _forks_with(home: Path, ids: Iterable[str]) -> tuple[str, ...]:
    """The forks that the home keeps of itself and that hold one of these ids."""
    forks = home / files.FORKS
    if not forks.is_dir():
        return ()
    found = files_with(forks, (one.encode() for one in ids)).holding
    return tuple(dict.fromkeys(Path(one).parts[0] for one in found))


# --------------------------------------------------------------------------------------- the deed


def erase(
    home: "Home", what: str, entity: str, step: Callable[[str], None] = lambda _: None, *,
    derived: bool = False, is_again: bool = False,
) -> Erasure:  # fmt: skip
    """Erase a task, an agent, a note, a block or a category, see `Unit.of`; `what`: of `KINDS`;
    `step` is told what comes next. `derived`: also notes of other tasks, and agents, that say a
    text of it. `is_again`: another past of the home, or another machine, erased it before. Raises
    Refused, code ``agent_running``: a wake of it runs; and as `HomeLocation.check_erasing` does."""
    home.place.check_erasing()
    step("deeds")
    _deeds(home, what, entity, is_again=is_again)
    plan = plan_erasure(home, what, entity, is_again=is_again)
    others = plan.derived if derived else []
    for one in others:
        _deeds(home, *one)
    files.replace_file(home.path / files.ERASING, f"{what} {entity}\n")
    did = [mark for one in others for mark in _mark(home, *one)]
    if others:
        plan = plan_erasure(home, what, entity, is_again=is_again)
    did += _mark(home, what, entity, step, is_again=is_again)
    _wipe(home, plan.forks, step)
    wanted = {part for text in plan.texts for part in _spellings(text)}
    searched, (tables, holding) = files_with(home.path, wanted), home.place.tables_with(wanted)
    rows = sum(len(one.rows) for one in did)
    payloads = sum(len(one.listed.payloads) for one in did)
    left = (*searched.holding, *holding)
    return Erasure(rows, payloads, len(plan.texts), searched.files, left, tables)


def _mark(
    home: "Home", what: str, entity: str, step: Callable[[str], None] = lambda _: None, *,
    is_again: bool = False,
) -> Iterator[Erasing]:  # fmt: skip
    """Erase it of each log. The agents' log comes first: as long as the task is in the journal,
    its name leads to it."""
    for log in reversed(_logs(home)):
        step(log.name)
        found = partial(_found, home, log, what, entity, is_again=is_again)
        yield log.erase(unit_of(what, entity), what, found, home.services.clock.now())


def _found(home: "Home", log: Log, what: str, entity: str, *, is_again: bool) -> Erasing:
    of = _unit(home, what, entity, is_again=is_again)
    return _erasing(log, *_parted(log, of), of)


def _wipe(home: "Home", forks: Iterable[str], step: Callable[[str], None] = lambda _: None) -> None:
    """Let nothing be left of what was erased in the files of a home."""
    step("compact")
    for log in _logs(home):
        log.recorder.compact()
    step("clean")
    _clean(home, forks)
    (home.path / files.ERASING).unlink(missing_ok=True)


def erase_along(home: "Home") -> bool:
    """Erase what other machines have erased, all that they did not know of it included; whether
    anything was left to erase. What their lists hold was marked as it came."""
    every = [one for one in erasures(home) if one.what != "fork"]
    did = erase_again(home, every)
    if every and not did:
        what, entity = _named(every[-1])
        files.replace_file(home.path / files.ERASING, f"{what} {entity}\n")
        units = (_unit(home, *_named(one), is_again=True) for one in every)
        _wipe(home, _forks_with(home.path, {one for of in units for one in _ids(of)}))
    return bool(did)


def _named(one: ErasureLine | ErasureMade) -> tuple[str, str]:
    """What was erased: its kind, of `KINDS`, and its id."""
    return one.what, one.unit.partition(":")[2]


def _logs(home: "Home") -> tuple[Log, Log]:
    return home.services.journal, home.services.agents


def unfinished_erasure(home: "Home") -> tuple[str, str] | None:
    """What was being erased when it was cut off: its kind and id; None where nothing was. On
    another machine than the one that erased in a database, as far as the logs tell."""
    mark = home.path / files.ERASING
    with suppress(OSError):
        what, _, entity = mark.read_text(encoding="utf-8").strip().rpartition(" ")
        return (what, entity) if what in erasure.KINDS else None
    if home.place.is_folder:
        return None
    journal, agents = ([made for _, made in log.erasures().made] for log in _logs(home))
    known = {one.unit for one in journal}
    left = (one for one in agents if one.unit not in known and one.what in erasure.KINDS)
    return next((_named(one) for one in left if one.what != "agent"), None)


def finish_erasure(home: "Home") -> Erasure | None:
    """Go on with an erasure that was cut off; None where there is none. Raises as `erase` does."""
    left = unfinished_erasure(home)
    return erase(home, *left) if left else None


def erase_again(home: "Home", others: Iterable[ErasureLine]) -> list[ErasureLine]:
    """Erase what was erased in another past of a home, or by another machine; those of which there
    was something left."""
    found: list[ErasureLine] = []
    for one in others:
        if not plan_erasure(home, *_named(one), is_again=True).is_done:
            erase(home, *_named(one), is_again=True)
            found.append(one)
    return found


def pick_erased(home: "Home", what: str, wanted: str) -> str:
    """The id of what was erased already, by its beginning; empty where there is none: titles are
    gone."""
    made = (made for log in _logs(home) for _, made in log.erasures().made)
    every = (one.partition(":") for each in made for one in each.units)
    of_kind = {one for kind, _, one in every if kind == what}
    ids = {one for one in of_kind if erasure.part_of(one).startswith(wanted.lower())}
    return ids.pop() if len(ids) == 1 and len(wanted) >= PREFIX_MIN else ""


def _deeds(home: "Home", what: str, entity: str, *, is_again: bool = False) -> None:
    """What a person would do first: nothing waits for it, and nothing points to it any more."""
    from adapters.usecases import agents as of_agents  # they load much, and `health` asks
    from adapters.usecases import day as of_days  # only whether an erasure was cut off
    from adapters.usecases import tasks as of_tasks

    of = _unit(home, what, entity, is_again=is_again)
    with home.services.agents.reading() as agents:
        living = [agents.load(AGENT, one) for one in sorted(of.agents)]
        for agent in living:
            if run_status(agents.load(WAKE_QUEUE, agent.id)) == "running":
                because = f"a wake of {agent.name!r} runs just now"
                raise Refused("agent_running", because=because, instead="repeat when it has ended")
    for agent in living:
        if agent.lifecycle not in ("", "destroyed"):
            of_agents.destroy_agent(home, agent.id)
        if agent.lifecycle and not agent.is_deleted:
            of_agents.delete_agent(home, agent.id)
    for task in sorted(of.whole):
        _let_go(home, task)
    whose, _, part = entity.rpartition("/")
    with home.services.journal.reading() as journal:
        noted, day = journal.load(TASK, whose), journal.load(DAY, whose)
    if part in {note.id for note in noted.notes} and not noted.is_deleted:
        of_tasks.remove_note(home, whose, part)
    if part in {block.id for block in day.blocks}:
        of_days.remove(home, whose, part)


def _let_go(home: "Home", entity: str) -> None:
    """Let a task's links and timer go, and delete it."""
    from adapters.usecases import tasks as of_tasks

    with home.services.journal.reading() as journal:
        task, timer = journal.load(TASK, entity), journal.load(TIMER, MAIN)
        incoming = journal.load(LINKS, entity).incoming
        ends = {one.target for one in task.links} | {one.source for one in incoming}
        there = {one for one in ends if journal.load(TASK, one).exists}  # else it was erased, too
    if not task.exists:
        return
    if entity in {one.task for one in timer.running}:
        of_tasks.stop_timer(home)
    for link in task.links:
        if link.target in there:
            of_tasks.unlink(home, entity, link.relation, link.target)
    for edge in incoming:
        if edge.source in there:
            of_tasks.unlink(home, edge.source, edge.relation, entity)
    if not task.is_deleted:
        of_tasks.delete_task(home, entity)


def _clean(home: "Home", forks: Iterable[str]) -> None:
    """Throw away what can be made again, and who gave the newest commands."""
    from adapters.analytics.database import remove_left  # and DuckDB, which the page needs not else

    home.place.clear_views()
    for name in (files.SEARCH, files.ANALYTICS):
        take_away(home.path / name)
    (home.path / f"{files.ANALYTICS}.wal").unlink(missing_ok=True)
    remove_left(home.path, -inf)  # of any age
    for name in forks:
        shutil.rmtree(home.path / files.FORKS / name)
    runtime = home.path / files.RUNTIME
    if runtime.exists():
        with closing(sqlite3.connect(runtime, isolation_level=None, timeout=30)) as file:
            file.execute("DROP TABLE IF EXISTS doers")
            file.execute("VACUUM")
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def erasures(home: "Home") -> list[ErasureLine]:
    """All that was erased of a home, the oldest first: of a task and its agents each time once."""
    found: dict[tuple[str, str], ErasureLine] = {}
    for log in _logs(home):
        for at, made in log.erasures().made:
            listed = erasure.read_list(log.payload(made.listed))
            key = made.unit, made.what
            one = found.setdefault(key, ErasureLine(made.unit, made.what, at, 0, 0))
            rows, payloads = sum(1 for _ in erasure.places_of(listed)), len(listed.payloads)
            found[key] = replace(one, rows=one.rows + rows, payloads=one.payloads + payloads)
    return sorted(found.values(), key=lambda one: one.at)
