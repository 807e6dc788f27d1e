"""The logs of a home without a branch that is given up, and with its causes decided again."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from adapters.documents.syncing import VoidBranch
from adapters.home import files
from adapters.store.copying import copy_appends
from adapters.store.leading import succeed
from adapters.store.log import Log
from adapters.store.opening import check_alone
from adapters.store.reader import read_append, writer_of
from adapters.store.recorder import by_append, numbered
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.sync.again import Again, has_own_key
from adapters.sync.branches import (
    held_of,
    known_elsewhere,
    others_branch,
    resting_on,
    without,
)
from adapters.sync.have import Void
from adapters.sync.shelf import Shelf
from adapters.sync.survey import Survey
from adapters.sync.syncing import takings_of
from domain import envelope
from domain.causes import GivenUp
from domain.envelope import Row
from replay.fork import in_order
from replay.references import journal_position

TOLD_EVERY = 100  # causes
FILES = {"journal": files.JOURNAL, "agent": files.AGENT}


class Cut(NamedTuple):
    """An append of this machine's own that is given up; `is_new`: nobody rescued it before."""

    log: str
    rows: tuple[Row, ...]
    is_new: bool


class Plan(NamedTuple):
    """What is to be done. `was`: the name until now; `is_forked`: another home wrote under it;
    `good`: of each log, up to which append those chains stay that do not stay whole; `void`: what
    is given up; `causes`: of this machine's own in it; `keyed`: those that others gave up and did
    again, as far as they have callers' keys; `told`: what others gave up; `hold`: replicas of which
    nothing is taken."""

    was: str
    is_forked: bool
    good: Mapping[str, Mapping[str, int]]
    void: tuple[Void, ...]
    causes: tuple[Cut, ...]
    keyed: tuple[Cut, ...]
    told: tuple[Void, ...]
    hold: Collection[str] = ()

    @property
    def after(self) -> int:
        """Behind which append the own branch begins."""
        own = [one.after for one in self.void if one.replica == self.was]
        return own[0] if own else 0


class Opened(NamedTuple):
    """The logs that travel, the journal first, and the agent log, also where it does not; as who
    wrote until now has them."""

    logs: tuple[Log, ...]
    agents: Log


def planned(
    logs: Sequence[Log],
    shelf: Shelf,
    there: Survey,
    told: tuple[Void, ...],
    hold: Collection[str] = (),
) -> Plan:
    """What of a home does not stay.

    Args:
        logs: Those that travel, the journal first, as who wrote until now has them.
        shelf: The folder.
        there: What lies in it.
        told: What is given up already.
        hold: Replicas of which nothing is taken.
    """
    found = without(there, told)
    until = {log.name: others_branch(log, shelf, found) for log in logs if log.replica}
    is_forked = any(n is not None for n in until.values())
    began = min((at for log in logs if (at := _began(log, until.get(log.name)))), default="~")
    good: dict[str, Mapping[str, int]] = {}
    void, causes, keyed = list[Void](), list[Cut](), list[Cut]()
    known = {one for branch in told if branch.by for one in branch.digests}
    for log in logs:
        ends = {one.replica: one.after for one in held_of(log, told)}
        if is_forked:
            split = until[log.name]
            mine = known_elsewhere(log, logs, found, began) if split is None else split
            ends[log.replica] = min(mine, ends.get(log.replica, mine))
        if log.name == "agent":
            ends = _naming(log, good["journal"], ends)
        good[log.name] = resting_on(log, ends)
        for replica, after in sorted(good[log.name].items()):
            cut = [(rows, envelope.digest(rows)) for rows in log.appends_of(replica, after)]
            digests = tuple(digest for _, digest in cut)
            if digests:
                void.append(Void(log.name, replica, after, digests[-1], digests))
            if replica == log.replica:
                causes += [Cut(log.name, tuple(rows), one not in known) for rows, one in cut]
            else:
                keyed += [
                    Cut(log.name, tuple(rows), is_new=True)
                    for rows, one in cut
                    if one in known and has_own_key(log.name, rows)
                ]
    own = tuple(one for one in causes if not one.rows[0].stream.startswith("log:"))
    return Plan(logs[0].replica, is_forked, good, tuple(void), own, tuple(keyed), told, hold)


def _began(log: Log, after: int | None) -> str:
    """When a branch began; empty where there is none."""
    rows = None if after is None else next(log.appends_of(log.replica, after), None)
    return numbered(rows[0].state).at if rows else ""


def void_lines(void: Sequence[Void]) -> list[VoidBranch]:
    """What is given up, as it is told."""
    return [VoidBranch(one.log, one.replica, one.after, len(one.digests)) for one in void]


def rebuilt(
    folder: Path,
    name: str,
    was: Opened,
    plan: Plan,
    shelf: Shelf,
    there: Survey,
    step: Callable[[str], None],
) -> tuple[Again, dict[str, int]]:
    """Make the logs anew in a folder; what came of the causes, and what was taken.

    Args:
        folder: Where.
        name: Who writes in them.
        was: The logs until now.
        plan: What of them does not stay.
        shelf: Where others' rows are.
        there: What lies in it.
        step: Is told what comes next.

    Raises:
        Refused: Code ``forked_replica``: another wrote under `name`.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as opened:
        made: dict[str, Log] = {}
        for log in was.logs:
            step(f"make {log.name}")
            target = Log(log.name, SQLiteLogRecorder(folder / FILES[log.name]), name)
            made[log.name] = opened.enter_context(closing(target))
            _copy(log, target, plan.good[log.name])
        begin = plan.causes[0].rows[0].state if plan.causes else b""
        at = numbered(begin).at if begin else was.logs[0].tail().at
        lost = () if "agent" in made else _lost(was.agents, plan.good["journal"])
        for log in made.values():
            given_up = lost if log.name == "journal" else ()
            if log.count() or given_up:
                log.adopt(at, given_up)
            log.share(at)
        step("take")
        found = without(there, (*plan.told, *plan.void))
        took = dict[str, int]()
        for taking in takings_of([*made.values()], shelf, found, plan.hold):
            taking.take(at, lambda _: None)
            took |= {one: rows + took.get(one, 0) for one, rows in taking.took.items()}
        again = Again(made, {log.name: log for log in was.logs})
        _hand(plan, again, step)
        if "agent" in made and not plan.is_forked:  # nobody else writes under the old name
            succeed(made["journal"], made["agent"], plan.was, at)
    for log in was.logs:
        check_alone(folder / FILES[log.name])  # one file each
    return again, took


def _copy(source: Log, target: Log, good: Mapping[str, int]) -> None:
    """Copy what stays."""
    stays = (rows for rows in by_append(source.rows(0)) if _stays(rows, good))
    if source.recorder.order():
        with target.recorder.deciding():
            target.recorder.keep_order()
    copy_appends(stays, source, target.recorder)


def _stays(rows: Sequence[Row], good: Mapping[str, int]) -> bool:
    n = numbered(rows[0].state).n
    return n <= good.get(writer_of(rows), n)


def _hand(plan: Plan, again: Again, step: Callable[[str], None]) -> None:
    """All causes that nobody rescued before, in an order in which they may have come. First what
    others did again under callers' keys: it may have been answered there by a branch that is void
    by now, and here by it. Where it is known it is answered once more."""
    for one in plan.keyed:
        again.hand(one.log, read_append(one.rows), is_own=False)
    again.answered += sum(not one.is_new for one in plan.causes)
    of = {
        log: [read_append(one.rows) for one in plan.causes if one.log == log and one.is_new]
        for log in FILES
    }
    for nth, (log, rows) in enumerate(in_order(of["journal"], of["agent"])):
        if nth % TOLD_EVERY == 0:
            step(f"again {nth}")
        again.hand(log, rows)


def _naming(agents: Log, journal: Mapping[str, int], ends: dict[str, int]) -> dict[str, int]:
    """Where chains of the agent log end whose rest names what of the journal does not stay."""
    found = dict(ends)
    for replica, after in journal.items():
        for rows in agents.appends_of(replica, 0):
            if any(journal_position(envelope.read(row).data) > after for row in rows):
                n = numbered(rows[0].state).n
                found[replica] = min(n - 1, found.get(replica, n))
                break
    return found


def _lost(agents: Log, journal: Mapping[str, int]) -> tuple[GivenUp, ...]:
    """What an agent log that stays says of appends of the journal that do not."""
    until: dict[str, int] = {}
    for row in agents.rows():
        replica = row.stream.rpartition("@")[2]
        if replica in journal:
            n = journal_position(envelope.read(row).data)
            until[replica] = max(n, until.get(replica, 0))
    return tuple(
        GivenUp(replica, journal[replica], n)
        for replica, n in sorted(until.items())
        if n > journal[replica]
    )
