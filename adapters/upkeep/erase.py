"""Takes a person's words out of a home for good (`wakelog erase`, ADR 107).

The deeds that a person would do by hand come first; then, of each log in one transaction, rows
become marks with their digests, texts go, and the log says so. What can be made again is thrown
away, the files are written anew, and every byte of them is searched. Each step may be repeated, so
an erasure that was cut off is ended by the same command.
"""

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
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from adapters.documents.results import ErasedDetails, ErasedMention, ErasureLine
from adapters.home import files
from adapters.home.copies import Copied, copies
from adapters.store.log import Erasing, Log
from adapters.store.reader import read_append
from adapters.store.recorder import by_append
from adapters.store.sqlite_files import take_away
from adapters.upkeep.byte_search import files_with
from adapters.usecases import agents as of_agents
from adapters.usecases import tasks as of_tasks
from adapters.usecases.resolve import PREFIX_MIN
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE, run_status
from domain.append import envelope
from domain.append.envelope import Row
from domain.append.texts import payloads_named, words_in
from domain.changes.change_set import SetOpened
from domain.erasure import ErasureList, Unit, digest_of, places_of, read_list
from domain.errors import Refused
from domain.journal.catalog import CATALOG
from domain.journal.links import LINKS
from domain.journal.task import TASK, TaskImported
from domain.journal.timer import TIMER
from domain.log import canonical
from domain.log.keys import payload_id
from domain.log.state import MAIN, RecordedEvent
from domain.log.wire import Erased, PayloadId
from domain.policy.gate import is_leaving
from domain.wake.wake import WakeStarted

if TYPE_CHECKING:
    from adapters.wiring import Home

WORD_MIN_BYTES = 8  # of a text that is searched for: a shorter one stands in many places
OWN = ("task", "links", "agent", "alert", "memory")  # kinds of rows that are a task's or an agent's
SEARCHED_MAX = 64  # texts, the longest first
_CODE = re.compile(r"[a-z2-7]{32}|(agent|import):.*|[0-9T:.Z-]+|[a-z_.]+").fullmatch
"""What is no word of anybody: an id, a time, a name that code gave."""


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
    def texts(self) -> tuple[str, ...]:
        """What is searched for when all is done: what stands nowhere else, the longest first."""
        found = {*self.said} - {one.text for one in self.mentions}
        return tuple(sorted(found, key=lambda one: (-len(one), one))[:SEARCHED_MAX])

    def document(self, did: Erasure | None = None) -> ErasedDetails:
        """The document of `erase`; without what was done, of a dry run."""
        rows = sum(len(one.erasing.rows) for one in self.logs)
        payloads = sum(len(one.erasing.listed.payloads) for one in self.logs)
        done = did or Erasure(rows, payloads)
        mentions = [
            ErasedMention(
                self.names.get(one.owner) or None, one.log, one.row.stream, one.row.n, one.text
            )
            for one in self.mentions
        ]
        return ErasedDetails(
            ok=not done.left,
            done=did is not None,
            unit=self.unit,
            title=self.title,
            rows=done.rows,
            payloads=done.payloads,
            wakes=len(self.agents.models),
            mentions=mentions,
            sent=Counter(filter(is_leaving, self.agents.models)),
            copies=list(self.copies),
            forks=list(self.forks),
            texts=done.texts,
            files=done.files,
            left=list(done.left),
            tables=done.tables,
        )


# ---------------------------------------------------------------------------------------- the plan


def plan_erasure(home: "Home", what: str, entity: str) -> Plan:
    """What an erasure of a task or an agent would take; nothing is changed."""
    journal, agents = home.services.journal, home.services.agents
    with journal.reading() as now, agents.reading() as then:
        of = _unit(agents, what, entity)
        title = now.load(TASK, entity).title if what == "task" else then.load(AGENT, entity).name
        forks = _forks_with(home.path, (entity, *of.agents))
        categories = {one.name for one in now.load(CATALOG, MAIN).categories.values()}
        parts = [(log, *_parted(log, of)) for log in (journal, agents)]
        log, taken, _ = parts[what == "agent"]
        texts = _texts(log, taken, categories)
        plans = [_plan(*part, of.task, texts) for part in parts]
        owners = {one.owner for plan in plans for one in plan.mentions}
        names = {one: now.load(TASK, one).title or then.load(AGENT, one).name for one in owners}
    known = tuple(copies(home.path))
    return Plan(f"{what}:{entity}", what, title, plans[0], plans[1], forks, texts, names, known)


def _unit(agents: Log, what: str, entity: str) -> Unit:
    """All that belongs to what is erased: a task has agents, these have wakes and sets."""
    of = Unit(entity, frozenset()) if what == "task" else Unit("", frozenset({entity}))
    every = (made for _, made in agents.erasures().made if made.unit == f"{what}:{entity}")
    lists = (read_list(agents.payload(made.listed)) for made in every)
    own = {place for listed in lists for place in places_of(listed)}
    for append in agents.appends():
        for row in append:
            is_own = type(row.fact) is Erased and (row.replica, row.n, row.row) in own
            of = of.know(row) if is_own else of.learn(row)
    return of


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


def _plan(log: Log, taken: Parted, lives: Parted, task: str, texts: Iterable[str]) -> LogPlan:
    """What goes of one log, and who says it all the same."""
    erasing = _erasing(log, taken, lives, task)
    models = tuple(row.fact.model for _, row in taken if isinstance(row.fact, WakeStarted))
    return LogPlan(erasing, models, _mentions(log, lives, {*erasing.listed.payloads}, texts))


def _erasing(log: Log, taken: Parted, lives: Parted, task: str) -> Erasing:
    """Rows that go; and payloads, of a task all of its unit, whoever names them."""
    wakes = [row.fact for _, row in lives if task and isinstance(row.fact, WakeStarted)]
    repeats = {one for fact in wakes for one in _repeats(fact, task)}
    named, kept = (
        {one for _, row in rows for one in payloads_named(row.fact)} for rows in (taken, lives)
    )
    named = named - kept | repeats
    gone = [
        name
        for name, data in log.kept_payloads()
        if name in named or (task and payload_id(task, data) == name)
    ]
    marks = [replace(row, fact=envelope.read(envelope.erased(raw)).data) for raw, row in taken]
    listed = ErasureList.of((row for _, row in taken), gone)
    return Erasing(tuple(raw for raw, _ in taken), listed, digest_of(marks))


def _repeats(fact: WakeStarted, task: str) -> Iterator[PayloadId]:
    """What a wake of another agent was shown of it, and the snapshot of what it saw."""
    found = [ref.payload for ref in (*fact.system, *fact.user) if task in ref.units]
    if found:
        yield from (*found, fact.snapshot)


def _texts(log: Log, rows: Parted, names: Container[str]) -> tuple[str, ...]:
    """The words of a task in the journal, of which most are a person's, or those of an agent in its
    own; long enough to be told from others, and no `names` of categories."""
    found: dict[str, None] = {}
    for _, row in rows:
        for said in words_in(row.fact):
            text = said.text or (log.payload(said.payload) or b"").decode("utf-8", "replace")
            found |= dict.fromkeys(_within(text))
        if isinstance(row.fact, TaskImported):
            document = canonical.read(log.payload(row.fact.document) or b"null")
            found |= dict.fromkeys(_strings(document))
    long = (one for one in found if len(one.encode()) >= WORD_MIN_BYTES)
    return tuple(one for one in long if not _CODE(one) and one not in names)


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
    every, found = b"\n".join(parts), dict[tuple[str, str], Mention]()
    for text in texts:
        for begin in _places_of(text, every):
            row = lives[bisect_right(starts, begin) - 1][1]
            owner = owners.get(row.entity, row.entity if row.of_kind in OWN else "")
            if row.of_kind != "receipt":  # what it says stands in the rows that came of it
                found.setdefault((owner, text), Mention(log.name, row, text, owner))
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
    home: "Home", what: str, entity: str, step: Callable[[str], None] = lambda _: None
) -> Erasure:
    """Erase a task or an agent. `step` is told what comes next.

    Raises:
        Refused: Code ``agent_running``: a wake of it runs; ``read_only``: see
            `HomeLocation.check_erasing`.
    """
    home.place.check_erasing()
    step("deeds")
    _deeds(home, what, entity)
    plan = plan_erasure(home, what, entity)
    files.replace_file(home.path / files.ERASING, f"{what} {entity}\n")
    did: list[Erasing] = []
    # the agents' log first: as long as the task is in the journal, its name leads to it
    for log in reversed(_logs(home)):
        step(log.name)
        found = partial(_found, home.services.agents, log, what, entity)
        did.append(log.erase(plan.unit, what, found, home.services.clock.now()))
    _wipe(home, plan.forks, step)
    wanted = {part for text in plan.texts for part in _spellings(text)}
    searched, (tables, holding) = files_with(home.path, wanted), home.place.tables_with(wanted)
    rows = sum(len(one.rows) for one in did)
    payloads = sum(len(one.listed.payloads) for one in did)
    left = (*searched.holding, *holding)
    return Erasure(rows, payloads, len(plan.texts), searched.files, left, tables)


def _found(agents: Log, log: Log, what: str, entity: str) -> Erasing:
    of = _unit(agents, what, entity)
    return _erasing(log, *_parted(log, of), of.task)


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
        what, _, entity = every[-1].unit.partition(":")
        files.replace_file(home.path / files.ERASING, f"{what} {entity}\n")
        ids = [one.unit.partition(":")[2] for one in every]
        _wipe(home, _forks_with(home.path, ids))
    return bool(did)


def _logs(home: "Home") -> tuple[Log, Log]:
    return home.services.journal, home.services.agents


def unfinished_erasure(home: "Home") -> tuple[str, str] | None:
    """What was being erased when it was cut off: its kind and id; None where nothing was. On
    another machine than the one that erased in a database, as far as the logs tell."""
    mark = home.path / files.ERASING
    with suppress(OSError):
        what, _, entity = mark.read_text(encoding="utf-8").strip().partition(" ")
        return (what, entity) if what in ("task", "agent") else None
    if home.place.is_folder:
        return None
    journal, agents = ({made.unit for _, made in log.erasures().made} for log in _logs(home))
    tasks = (one.partition(":") for one in sorted(agents - journal))
    return next(((what, entity) for what, _, entity in tasks if what == "task"), None)


def finish_erasure(home: "Home") -> Erasure | None:
    """Go on with an erasure that was cut off; None where there is none. Raises as `erase` does."""
    left = unfinished_erasure(home)
    return erase(home, *left) if left else None


def erase_again(home: "Home", others: Iterable[ErasureLine]) -> list[ErasureLine]:
    """Erase what was erased in another past of a home, or by another machine; those of which there
    was something left."""
    found: list[ErasureLine] = []
    for one in others:
        what, _, entity = one.unit.partition(":")
        if not plan_erasure(home, what, entity).is_done:
            erase(home, what, entity)
            found.append(one)
    return found


def pick_erased(home: "Home", what: str, wanted: str) -> str:
    """The id of what was erased already, by its beginning; empty where there is none: titles are
    gone."""
    every = {one.unit for one in erasures(home) if one.unit.startswith(f"{what}:{wanted.lower()}")}
    is_one = len(every) == 1 and len(wanted) >= PREFIX_MIN
    return every.pop().partition(":")[2] if is_one else ""


def _deeds(home: "Home", what: str, entity: str) -> None:
    """What a person would do first: nothing waits for it, and nothing points to it any more."""
    with home.services.agents.reading() as agents:
        of = _unit(home.services.agents, what, entity)
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
    if what != "task":
        return
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
    found: dict[str, ErasureLine] = {}
    for log in _logs(home):
        for at, made in log.erasures().made:
            listed = read_list(log.payload(made.listed))
            one = found.setdefault(made.unit, ErasureLine(made.unit, made.what, at, 0, 0))
            rows, payloads = sum(1 for _ in places_of(listed)), len(listed.payloads)
            found[made.unit] = replace(one, rows=one.rows + rows, payloads=one.payloads + payloads)
    return sorted(found.values(), key=lambda one: one.at)
