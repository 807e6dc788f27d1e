"""`wakelog replicas rescue`: a home whose chain is forked goes on under a new name (ADR 74).

The home is copied, its logs are made anew beside it without the branch, with what others wrote
instead and with its causes decided again, and then take the place of the old ones. Until all is
there the home is as it was; from then on a rescue that is cut off only has to be ended. Nobody
writes meanwhile."""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.documents.sync import RescueReport, VoidBranch
from adapters.home import files, write_guard
from adapters.home.home_location import FolderLocation, HomeLocation, open_logs
from adapters.home.write_guard import WriteGuard
from adapters.store.leader import succeed
from adapters.store.log import Log
from adapters.store.log_copy import copy_appends
from adapters.store.reader import read_append, tells, writer_of
from adapters.store.recorder import by_append, numbered
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.store.sqlite_files import check_alone
from adapters.sync import sync_state
from adapters.sync.branches import (
    abandoned_branches,
    dependent_chains,
    fork_point,
    held_branches,
    known_elsewhere,
    without_branches,
)
from adapters.sync.manifest import AbandonedBranch
from adapters.sync.replay_commands import CommandReplay, has_caller_key
from adapters.sync.scan import FolderScan, scan_folder
from adapters.sync.sync_folder import SyncFolder
from adapters.sync.sync_home import imports_of, sync_folder_of, sync_home, travelling_names
from adapters.upkeep.adopt import check_exists, check_new, introduce_replica
from adapters.upkeep.backup import back_up
from domain.append import envelope
from domain.append.causes import GivenUp
from domain.append.envelope import Row
from domain.errors import Refused, invalid
from replay.fork import interleaved
from replay.references import journal_position

TOLD_EVERY = 100  # causes
LOG_FILES = {"journal": files.JOURNAL, "agent": files.AGENT}


class AbandonedAppend(NamedTuple):
    """An append of this machine's own that is given up; `is_new`: nobody rescued it before."""

    log: str
    rows: tuple[Row, ...]
    is_new: bool


class RescuePlan(NamedTuple):
    """What is to be done. `was`: the name until now; `is_forked`: another home wrote under it;
    `good`: of each log, up to which append those chains stay that do not stay whole; `void`: what
    is given up; `causes`: of this machine's own in it; `keyed`: those that others gave up and did
    again, as far as they have callers' keys; `told`: what others gave up; `hold`: replicas of which
    nothing is taken."""

    was: str
    is_forked: bool
    good: Mapping[str, Mapping[str, int]]
    void: tuple[AbandonedBranch, ...]
    causes: tuple[AbandonedAppend, ...]
    keyed: tuple[AbandonedAppend, ...]
    told: tuple[AbandonedBranch, ...]
    hold: Collection[str] = ()

    @property
    def after(self) -> int:
        """Behind which append the own branch begins."""
        return next((one.after for one in self.void if one.replica == self.was), 0)


class OpenedLogs(NamedTuple):
    """The logs that travel, the journal first, and the agent log, also where it does not; as who
    wrote until now has them."""

    logs: tuple[Log, ...]
    agents: Log


def plan_rescue(
    logs: Sequence[Log],
    shelf: SyncFolder,
    there: FolderScan,
    told: tuple[AbandonedBranch, ...],
    hold: Collection[str] = (),
) -> RescuePlan:
    """What of a home does not stay. `logs`: those that travel, the journal first, as who wrote
    until now has them; `told`: what is given up already; `hold`: replicas of which nothing is
    taken."""
    found = without_branches(there, told)
    until = {log.name: fork_point(log, shelf, found) for log in logs if log.replica}
    is_forked = any(n is not None for n in until.values())
    starts = (_branch_began(log, until.get(log.name)) for log in logs)
    began = min(filter(None, starts), default="~")
    good: dict[str, Mapping[str, int]] = {}
    void, causes, keyed = list[AbandonedBranch](), list[AbandonedAppend](), list[AbandonedAppend]()
    known = {one for branch in told if branch.by for one in branch.digests}
    for log in logs:
        ends = {one.replica: one.after for one in held_branches(log, told)}
        if is_forked:
            split = until[log.name]
            mine = known_elsewhere(log, logs, found, began) if split is None else split
            ends[log.replica] = min(mine, ends.get(log.replica, mine))
        if log.name == "agent":
            ends = _ends_by_naming(log, good["journal"], ends)
        good[log.name] = dependent_chains(log, ends)
        for replica, after in sorted(good[log.name].items()):
            cut = [(tuple(rows), envelope.digest(rows)) for rows in log.appends_of(replica, after)]
            digests = tuple(digest for _, digest in cut)
            if digests:
                void.append(AbandonedBranch(log.name, replica, after, digests[-1], digests))
            if replica == log.replica:
                causes += [AbandonedAppend(log.name, rows, one not in known) for rows, one in cut]
                continue
            told_of = (rows for rows, one in cut if one in known and has_caller_key(log.name, rows))
            keyed += [AbandonedAppend(log.name, rows, is_new=True) for rows in told_of]
    own = tuple(one for one in causes if tells(one.rows))
    return RescuePlan(logs[0].replica, is_forked, good, tuple(void), own, tuple(keyed), told, hold)


def _branch_began(log: Log, after: int | None) -> str:
    """When a branch began; empty where there is none."""
    rows = None if after is None else next(log.appends_of(log.replica, after), None)
    return numbered(rows[0].state).at if rows else ""


def void_lines(void: Sequence[AbandonedBranch]) -> list[VoidBranch]:
    return [VoidBranch(one.log, one.replica, one.after, len(one.digests)) for one in void]


def rebuild_logs(
    folder: Path,
    name: str,
    was: OpenedLogs,
    plan: RescuePlan,
    shelf: SyncFolder,
    there: FolderScan,
    step: Callable[[str], None],
) -> tuple[CommandReplay, dict[str, int]]:
    """Make the logs anew in a folder; what came of the causes, and what was taken. `name`: who
    writes in them; `was`: the logs until now; `shelf`, `there`: where others' rows are, and what
    lies there. Raises Refused, code ``forked_replica``: another wrote under `name`."""
    folder.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as opened:
        made: dict[str, Log] = {}
        for log in was.logs:
            step(f"make {log.name}")
            target = Log(log.name, SQLiteLogRecorder(folder / LOG_FILES[log.name]), name)
            made[log.name] = opened.enter_context(closing(target))
            _copy_what_stays(log, target, plan.good[log.name])
        begin = plan.causes[0].rows[0].state if plan.causes else b""
        at = numbered(begin).at if begin else was.logs[0].tail().at
        lost = () if "agent" in made else _lost_claims(was.agents, plan.good["journal"])
        for log in made.values():
            given_up = lost if log.name == "journal" else ()
            if log.count() or given_up:
                log.adopt(at, given_up)
            log.share(at)
        step("take")
        found = without_branches(there, (*plan.told, *plan.void))
        took = dict[str, int]()
        for taking in imports_of([*made.values()], shelf, found, plan.hold):
            taking.take(at, lambda _: None)
            took |= {one: rows + took.get(one, 0) for one, rows in taking.took.items()}
        again = CommandReplay(made, {log.name: log for log in was.logs})
        _replay_causes(plan, again, step)
        if "agent" in made and not plan.is_forked:  # nobody else writes under the old name
            succeed(made["journal"], made["agent"], plan.was, at)
    for log in was.logs:
        check_alone(folder / LOG_FILES[log.name])  # one file each
    return again, took


def _copy_what_stays(source: Log, target: Log, good: Mapping[str, int]) -> None:
    every = ((rows, numbered(rows[0].state).n) for rows in by_append(source.rows(0)))
    stays = (rows for rows, n in every if n <= good.get(writer_of(rows), n))
    if source.recorder.order():
        with target.recorder.deciding():
            target.recorder.keep_order()
    copy_appends(stays, source, target.recorder)


def _replay_causes(plan: RescuePlan, again: CommandReplay, step: Callable[[str], None]) -> None:
    """All causes that nobody rescued before, in an order in which they may have come. First what
    others did again under callers' keys: it may have been answered there by a branch that is void
    by now, and here by it. Where it is known it is answered once more."""
    for one in plan.keyed:
        again.hand(one.log, read_append(one.rows), is_own=False)
    again.answered += sum(not one.is_new for one in plan.causes)
    of = {
        log: [read_append(one.rows) for one in plan.causes if one.log == log and one.is_new]
        for log in LOG_FILES
    }
    for nth, (log, rows) in enumerate(interleaved(of["journal"], of["agent"])):
        if nth % TOLD_EVERY == 0:
            step(f"again {nth}")
        again.hand(log, rows)


def _ends_by_naming(
    agents: Log, journal: Mapping[str, int], ends: dict[str, int]
) -> dict[str, int]:
    """Where chains of the agent log end whose rest names what of the journal does not stay."""
    found = dict(ends)
    for replica, after in journal.items():
        for rows in agents.appends_of(replica, 0):
            if any(journal_position(envelope.read(row).data) > after for row in rows):
                n = numbered(rows[0].state).n
                found[replica] = min(n - 1, found.get(replica, n))
                break
    return found


def _lost_claims(agents: Log, journal: Mapping[str, int]) -> tuple[GivenUp, ...]:
    """What an agent log that stays says of appends of the journal that do not."""
    until: dict[str, int] = {}
    for row in agents.rows():
        replica = row.stream.rpartition("@")[2]
        if replica in journal:
            n = journal_position(envelope.read(row).data)
            until[replica] = max(n, until.get(replica, 0))
    more = [(name, n) for name, n in sorted(until.items()) if n > journal[name]]
    return tuple(GivenUp(name, journal[name], n) for name, n in more)


# ----------------------------------------------------------------------------- the rescue of a home

WORK_FOLDER, DONE_FOLDER, READY_FILE = ".rescue", ".rescued", "ready.json"
COPIES_MAX = 100  # of one branch
LOGS = (files.JOURNAL, files.AGENT)
VIEW_FILES = tuple(f"{files.VIEWS}{end}" for end in ("", "-wal", "-shm"))
RESCUED = WriteGuard("rescued", "by `wakelog replicas rescue`")

RescueStep = Callable[[str], None]
"""``step(name)``: this comes next."""


class ReadyRescue(Struct, frozen=True):
    """What is left to be done once the new logs are there. `is_forked`: another home wrote under
    the old name, so the label is that one's."""

    is_forked: bool
    void: tuple[AbandonedBranch, ...]
    report: RescueReport


def rescue(
    place: HomeLocation,
    environ: Mapping[str, str],
    folder: str = "",
    *,
    is_dry: bool = False,
    step: RescueStep = lambda _: None,
) -> RescueReport:
    """Go on under a new name, without what another home wrote otherwise, or end what was cut off.
    `place`: the home, closed; `folder`: where machines meet, empty: as for a sync; `is_dry`: only
    look what would be done.

    Raises Refused, code ``nothing_to_rescue``; ``forked_replica``: the folder does not hold yet
    what another home wrote; ``invalid_value``: `WAKELOG_REPLICA` names who has written here;
    ``read_only``: the home is in use; and as `sync_folder_of`. Raises Damaged: a file is no log."""
    home = place.folder
    if not place.is_folder:
        raise invalid(f"{place.name} is in a database", "rescue a home that is a folder")
    check_exists(home)
    if is_dry:
        if (home / WORK_FOLDER / READY_FILE).exists():
            return _read_ready(home / WORK_FOLDER).report
        return _dry_run(place, environ, sync_folder_of(place, place.settings(environ), folder))
    with sync_state.sync_lock(home):
        if place.hold().state == RESCUED.state and place.hold() != RESCUED:
            place.hold().check(place.name)
        report = end_rebuilding(place, RESCUED, step)
        if report is None:
            shelf = sync_folder_of(place, place.settings(environ), folder)
            make = partial(_made_anew, place, environ, shelf, step)
            report = rebuild_home(place, RESCUED, make, step)
    step("sync")
    return _sync_afterwards(place, environ, folder, report)


def _dry_run(place: HomeLocation, environ: Mapping[str, str], shelf: SyncFolder) -> RescueReport:
    with ExitStack() as opened:
        was = _open_logs(place, environ, opened)
        plan, _ = _plan_and_scan(place, environ, was, shelf)
    return RescueReport("", plan.was, "", void_lines(plan.void), {}, len(plan.causes), 0, 0, 0, [])


def _made_anew(
    place: HomeLocation, environ: Mapping[str, str], shelf: SyncFolder, step: RescueStep
) -> ReadyRescue | RescueReport:
    """The new logs; a report where only another name was needed."""
    home, name = place.folder, files.replica_given(environ)
    with ExitStack() as opened:
        step("look")
        was = _open_logs(place, environ, opened)
        plan, found = _plan_and_scan(place, environ, was, shelf)
        check_new(name, was.logs)
        if plan.void:
            name = name or files.draw_name()
            step("copy")
            copy = copy_beside(home, f"{plan.was}-{plan.after}")
            step("make")
            made, took = rebuild_logs(home / WORK_FOLDER, name, was, plan, shelf, found, step)
            counts = len(plan.causes), made.redone, made.answered, made.left_out
            given_up = void_lines(plan.void)
            report = RescueReport(name, plan.was, copy, given_up, took, *counts, made.refused)
    if not plan.void:  # nothing was written since the split: only another name
        name = name or files.draw_name()
        _settle_identity(home, name, plan.was, is_forked=True, void=())
        introduce_replica(home, name, environ)
        return RescueReport(name, plan.was, "", [], {}, 0, 0, 0, 0, [])
    void = tuple(replace(one, by=name) if one.replica == plan.was else one for one in plan.void)
    return ReadyRescue(plan.is_forked, void, report)


def rebuild_home(
    place: HomeLocation,
    hold: WriteGuard,
    make: Callable[[], ReadyRescue | RescueReport],
    step: RescueStep,
) -> RescueReport:
    """Give a home, which is closed, other logs, while nobody writes in it. `hold`: what others are
    told meanwhile, and where it was cut off; `make`: makes them in the home's `WORK_FOLDER`, or
    reports that none are needed."""
    home = place.folder
    with files.readable_errors(home):
        shutil.rmtree(home / WORK_FOLDER, ignore_errors=True)
    place.keep_hold(hold)
    try:
        ready = make()
        if isinstance(ready, RescueReport):
            place.keep_hold(WriteGuard())
            return ready
        step("ready")
        with files.readable_errors(home):
            files.replace_file(home / WORK_FOLDER / READY_FILE, msgspec.json.encode(ready).decode())
    except BaseException:
        shutil.rmtree(home / WORK_FOLDER, ignore_errors=True)
        place.keep_hold(WriteGuard())
        raise
    done = end_rebuilding(place, hold, step)
    assert done is not None  # it is ready
    return done


def _open_logs(place: HomeLocation, environ: Mapping[str, str], opened: ExitStack) -> OpenedLogs:
    names = travelling_names(place, environ)
    journal, agents = open_logs(place.folder, files.replica(place.folder, {}), is_writing=False)
    for one in (journal, agents):
        opened.enter_context(closing(one))
    return OpenedLogs(tuple(one for one in (journal, agents) if one.name in names), agents)


def _plan_and_scan(
    place: HomeLocation, environ: Mapping[str, str], was: OpenedLogs, shelf: SyncFolder
) -> tuple[RescuePlan, FolderScan]:
    known = sync_state.read_sync_state(place.folder)
    there = scan_folder(shelf, known.checked if known.folder == shelf.name else {})
    told = abandoned_branches(there, known.void)
    plan = plan_rescue(was.logs, shelf, there, told, place.settings(environ).sync.hold)
    if not (plan.void or plan.is_forked):
        because = f"nobody else wrote under the name of this home, {plan.was}, as {shelf.name} says"
        instead = "run it on the copied or restored machine, or sync"
        raise Refused("nothing_to_rescue", because=because, instead=instead)
    return plan, there


def _settle_identity(
    home: Path, name: str, was: str, *, is_forked: bool, void: tuple[AbandonedBranch, ...]
) -> None:
    with files.readable_errors(home):
        files.replace_file(home / files.REPLICA, name)
        write_guard.keep_installation(home, is_copy=True)
    known = sync_state.read_sync_state(home)
    label, names = "" if is_forked else known.label, tuple(sorted({*known.was, was}))
    settled = replace(known, label=label, void=tuple({*known.void, *void}), was=names)
    sync_state.write_sync_state(home, settled)


def copy_beside(home: Path, name: str) -> str:
    """Copy the home as it is, whole, to a folder of its `forks` of that or a like name."""
    part = home / WORK_FOLDER / "copy"
    back_up(FolderLocation(home), part)
    with files.readable_errors(home):
        (home / files.FORKS).mkdir(mode=0o700, exist_ok=True)
        path = _free_path(home / files.FORKS, name)
        part.rename(path)
    return str(path)


def _free_path(folder: Path, name: str) -> Path:
    paths = [folder / name, *(folder / f"{name}-{nth}" for nth in range(2, COPIES_MAX))]
    found = next((path for path in paths if not path.exists()), None)
    if found is None:
        because = f"{folder} holds {COPIES_MAX} copies of {name}"
        raise Refused("invalid_value", because=because, instead="delete some of them")
    return found


def _read_ready(work: Path) -> ReadyRescue:
    with files.readable_errors(work):
        return msgspec.json.decode((work / READY_FILE).read_bytes(), type=ReadyRescue)


def is_ready(home: Path) -> bool:
    """Whether new logs only have to be put in the place of the old ones."""
    return any((home / one / READY_FILE).exists() for one in (WORK_FOLDER, DONE_FOLDER))


def end_rebuilding(place: HomeLocation, hold: WriteGuard, step: RescueStep) -> RescueReport | None:
    """Put the new logs in the place of the old ones, if they are ready; each step can be repeated.
    What was done; None where nothing was begun. `hold`: see `rebuild_home`."""
    home = place.folder
    done = home / DONE_FOLDER
    if (home / WORK_FOLDER / READY_FILE).exists():
        _put_logs(home, _read_ready(home / WORK_FOLDER), step)
    elif not (done / READY_FILE).exists() or place.hold() != hold:
        shutil.rmtree(done, ignore_errors=True)
        if place.hold() == hold:  # it was cut off before anything was ready
            place.keep_hold(WriteGuard())
        return None
    report = _read_ready(done).report
    step("open")
    place.keep_hold(WriteGuard())
    step("clean")
    shutil.rmtree(done, ignore_errors=True)
    return report


def _put_logs(home: Path, ready: ReadyRescue, step: RescueStep) -> None:
    """The new logs, and the name of who writes in them."""
    work, done = home / WORK_FOLDER, home / DONE_FOLDER
    for name in LOGS:
        if (work / name).exists():
            step(f"put {name}")
            check_alone(home / name)
            with files.readable_errors(home):
                (work / name).rename(home / name)
    step("name")
    report = ready.report
    _settle_identity(home, report.replica, report.was, is_forked=ready.is_forked, void=ready.void)
    with files.readable_errors(home):
        for name in VIEW_FILES:
            (home / name).unlink(missing_ok=True)
        shutil.rmtree(done, ignore_errors=True)
        step("done")
        work.rename(done)


def _sync_afterwards(
    place: HomeLocation, environ: Mapping[str, str], folder: str, report: RescueReport
) -> RescueReport:
    """Tell the others, and take what there is; what was rescued stays where that cannot be."""
    from adapters.wiring import open_home

    try:
        shelf = sync_folder_of(place, place.settings(environ), folder)
        with open_home(place, environ, is_writing=True) as home:
            synced = sync_home(home, shelf)
            leads = report.was if home.services.lead == report.was else ""
            return replace(report, synced=synced, leads=leads)
    except Refused as refused:
        return replace(report, sync_refused=f"{refused.because} [{refused.code}]")
