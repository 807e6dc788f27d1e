"""`wakelog sync --join`: a home with tasks of its own goes on as a machine of another one (ADR 90).

Its past becomes that of one more machine, which never comes back: a chain of its own, in which
today's code decides all commands of the journal again, at their old times, not knowing of what the
folder holds. The machine goes on under its own name, with that chain and what it takes. The new
logs are put in the place of the old ones as a rescue does it; the old home stays whole in `forks`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from adapters.documents.sync import JoinReport, RescueReport, SameTitle
from adapters.home import files
from adapters.home.home_location import HomeLocation, open_logs
from adapters.home.write_guard import WriteGuard
from adapters.store.leader import leadership_of
from adapters.store.log import Log
from adapters.store.reader import read_append, tells
from adapters.store.recorder import by_append, numbered
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.store.sqlite_files import check_alone
from adapters.sync import sync_state
from adapters.sync.import_ import LogImport
from adapters.sync.machines import labels_of, name_new_replica
from adapters.sync.replay_commands import CommandReplay
from adapters.sync.rescue import (
    LOG_FILES,
    TOLD_EVERY,
    WORK_FOLDER,
    ReadyRescue,
    RescueStep,
    copy_beside,
    end_rebuilding,
    is_ready,
    rebuild_home,
)
from adapters.sync.scan import FolderScan, scan_folder
from adapters.sync.segments import IncompleteSegment, decode_segment
from adapters.sync.sync_folder import SyncFolder
from adapters.sync.sync_home import imports_of, sync_folder_of, sync_home, travelling_names
from adapters.upkeep.adopt import check_new
from domain.append.envelope import Row
from domain.errors import Refused, invalid
from domain.journal.task import TASK, TaskCreated, TaskDeleted, TaskRestored
from domain.log.state import entity_of
from domain.machines.commands import LabelReplica, Lead, RetireReplica
from domain.machines.machines import LABEL_MAX
from domain.text import fold
from projections.agents import VIEW as AGENTS
from projections.tasks import VIEW as TASKS

if TYPE_CHECKING:
    from adapters.wiring import Home

BEFORE = " before"  # ends what the past is called
JOINED = WriteGuard("rescued", "by `wakelog sync --join`")
BORN, RESTORED, GONE = (
    str(one.__struct_config__.tag) for one in (TaskCreated, TaskRestored, TaskDeleted)
)


class JoinPlan(NamedTuple):
    """What a join would do: so many `tasks` of here come into a home that has `there` of them;
    `agents` stay behind. `is_begun`: it was agreed to, and cut off."""

    folder: str
    tasks: int = 0
    there: int = 0
    agents: int = 0
    is_begun: bool = False


def join_plan(place: HomeLocation, environ: Mapping[str, str], folder: str = "") -> JoinPlan | None:
    """What a join would do; None where there is nothing to join: the home has no past of its own,
    or is one with that of the folder. Raises Refused, code ``invalid_value``: no home is in the
    folder, or this one is several machines' already; ``frozen``: a rescue has to be ended; and as
    `sync_folder_of`."""
    shelf = sync_folder_of(place, place.settings(environ), folder)
    if place.hold() == JOINED:
        if is_ready(place.folder):
            return JoinPlan(shelf.name, is_begun=True)
        with sync_state.sync_lock(place.folder):  # nobody is at it any more
            end_rebuilding(place, JOINED, lambda _: None)
    place.hold().check(place.name)
    with ExitStack() as opened:
        journal = _own_journal(place, opened)
        found = _found(place, shelf, journal) if journal else None
    if found is None:
        return None
    from adapters.wiring import open_home  # it loads what opens homes

    with open_home(place, environ) as home:
        tasks = sum(not one.is_deleted for one in home.views.all(TASKS))
        agents = sum(one.is_living for one in home.views.all(AGENTS))
    return JoinPlan(shelf.name, tasks, _tasks_there(shelf, found), agents)


def join(
    place: HomeLocation,
    environ: Mapping[str, str],
    plan: JoinPlan,
    *,
    host: str = "",
    step: RescueStep = lambda _: None,
) -> JoinReport:
    """Go on as a machine of the home of a folder, or end what was cut off. `place`: the home,
    closed; `plan`: what was agreed to; `host`: what the machine is called, if it is new there, see
    `host_name`.

    Raises Refused, code ``read_only``: the home is in use; ``invalid_value``: `WAKELOG_REPLICA`
    names who has written here; ``forked_replica``: it names who has written there. Raises Damaged:
    a file is no log."""
    from adapters.wiring import open_home

    shelf = sync_folder_of(place, place.settings(environ), plan.folder)
    with sync_state.sync_lock(place.folder):
        did = end_rebuilding(place, JOINED, step)
        if did is None:
            make = partial(_made_anew, place, environ, shelf, plan.agents, step)
            did = rebuild_home(place, JOINED, make, step)
    step("sync")
    with open_home(place, environ, is_writing=True) as home:
        with sync_state.sync_lock(place.folder):
            name_new_replica(home, host)
            _name_past(home, did.was)
        home.views.catch_up()
        report = _join_report(home, did)
        try:
            done = sync_home(home, shelf)
            new = sorted({*did.took, *done.new})
            return replace(report, synced=replace(done, took=did.took | done.took, new=new))
        except Refused as refused:
            return replace(report, sync_refused=f"{refused.because} [{refused.code}]")


def _name_past(home: "Home", past: str) -> None:
    """The past is called as the machine is, before it came."""
    services, own = home.services, home.services.agents.replica
    label = labels_of(home).get(own, own)[: LABEL_MAX - len(BEFORE)]
    if services.agents.is_shared:
        with suppress(Refused):  # another machine is called so
            services.append_agent(LabelReplica(past, f"{label}{BEFORE}"))


def _own_journal(place: HomeLocation, opened: ExitStack) -> Log | None:
    """The journal as who wrote until now has it; None where it tells nothing."""
    if not files.exists(place.folder):
        return None
    journal, agents = open_logs(place.folder, files.replica(place.folder, {}), is_writing=False)
    for one in (journal, agents):
        opened.enter_context(closing(one))
    return journal if journal.telling_heads() else None


def _found(place: HomeLocation, shelf: SyncFolder, journal: Log) -> FolderScan | None:
    """What lies in a folder, if it is another home's."""
    there = scan_folder(shelf, {})
    if not there.places(journal.name):
        because = f"no home has left anything in {shelf.name} yet"
        instead = "join where one has, or say `wakelog sync` without --join"
        raise invalid(because, instead)
    if LogImport(journal, shelf, there).is_related():
        return None
    if journal.erasures().made:
        because = f"rows of {place.name} were erased, so that it cannot be decided anew"
        raise Refused("erased", because=because, instead="sync an empty home with that folder")
    if journal.is_shared and len(journal.heads()) > 1:
        because = f"{place.name} is several machines' already"
        raise invalid(because, "join with a home that is one machine's")
    return there


def _made_anew(
    place: HomeLocation,
    environ: Mapping[str, str],
    shelf: SyncFolder,
    agents: int,
    step: RescueStep,
) -> ReadyRescue:
    """The logs of the joined home, beside those of the old one."""
    given, travelling = files.replica_given(environ), travelling_names(place, environ)
    with ExitStack() as opened:
        step("look")
        was = _own_journal(place, opened)
        found = _found(place, shelf, was) if was else None
        if was is None or found is None:
            raise invalid("there is nothing to join any more", "say `wakelog sync`")
        if was.is_shared:
            check_new(given, [was])
        past, name = _past_name(given, found), given or files.draw_name()
        step("copy")
        copy = copy_beside(place.folder, f"{was.replica or name}-before-join")
        step("make")
        work = place.folder / WORK_FOLDER
        with closing(Log("journal", SQLiteLogRecorder(work / files.JOURNAL), past)) as journal:
            again = _done_again(was, journal, step)
        check_alone(work / files.JOURNAL)
        made = {
            log: opened.enter_context(closing(Log(log, SQLiteLogRecorder(work / file), name)))
            for log, file in LOG_FILES.items()
        }
        step("take")
        logs = [log for one, log in made.items() if one in travelling]
        took = _taken(logs, shelf, found, place.settings(environ).sync.hold)
        _keep_lead(logs, past, found)
        causes = again.redone + again.answered + len(again.refused)
        counts = causes, again.redone, again.answered, agents
        report = RescueReport(name, past, copy, [], took, *counts, again.refused)
    for file in LOG_FILES.values():
        check_alone(work / file)  # one file each
    return ReadyRescue(is_forked=False, void=(), report=report)


def _past_name(given: str, found: FolderScan) -> str:
    """The name under which what was done until now stands, which nobody has there."""
    taken = {one.replica for log in LOG_FILES for one in found.places(log)}
    every = (f"{given[:6]}before{nth or ''}" for nth in count())
    return next(one for one in every if one not in taken) if given else files.draw_name()


def _done_again(was: Log, journal: Log, step: RescueStep) -> CommandReplay:
    """All that was done in a journal, in another one, which machines share from its begin."""
    again = CommandReplay({journal.name: journal}, {was.name: was})
    appends = [rows for rows in by_append(was.rows()) if tells(rows)]
    journal.share(numbered(appends[0][0].state).at)
    for nth, rows in enumerate(appends):
        if nth % TOLD_EVERY == 0:
            step(f"again {nth}")
        again.hand(was.name, read_append(rows))
    return again


def _taken(
    logs: Sequence[Log], shelf: SyncFolder, found: FolderScan, hold: Collection[str]
) -> dict[str, int]:
    """Take what a folder holds; rows by replica."""
    now, took = logs[0].tail().at, dict[str, int]()
    logs[0].adopt(now)
    for log in logs:
        log.share(now)
    for taking in imports_of(logs, shelf, found, hold):
        taking.take(now, lambda _: None)
        took |= {one: rows + took.get(one, 0) for one, rows in taking.took.items()}
    return took


def _keep_lead(logs: Sequence[Log], past: str, found: FolderScan) -> None:
    """Who leads there, as the machine says that told of itself last, leads on; and the past is a
    machine's that never comes back."""
    haves = sorted(found.haves.values(), key=lambda have: have.at)
    leads = [  # who keeps its agents to itself leads itself
        have.leads for have in haves if any(name.startswith("agent:") for name in have.heads)
    ]
    lead = next(filter(None, reversed(leads)), "")
    journal, *others = logs
    for agents in others:
        now = journal.tail().at
        if lead and not leadership_of(journal, agents).machines.leader:
            agents.append(Lead(lead, past), now)
        agents.append(RetireReplica(past, lead), now)


# ------------------------------------------------------------------------------------ what is told


def _tasks_there(shelf: SyncFolder, found: FolderScan) -> int:
    """How many tasks the home of a folder has, as far as its files are here."""
    last: dict[str, tuple[int, bool]] = {}
    for name, one in found.whole.items():
        for row in _rows_in(shelf, name) if one.header.log == "journal" else ():
            if row.topic in (BORN, RESTORED, GONE):
                told = numbered(row.state).n, row.topic != GONE
                last[entity_of(row.stream)] = max(told, last.get(entity_of(row.stream), told))
    return sum(is_there for _, is_there in last.values())


def _rows_in(shelf: SyncFolder, name: str) -> Iterable[Row]:
    try:
        appends = decode_segment(shelf.read(name) or b"", name).appends
    except IncompleteSegment:
        return ()
    return chain.from_iterable(one.rows for one in appends)


def _join_report(home: "Home", did: RescueReport) -> JoinReport:
    streams = home.services.journal.streams_of(TASK.name)
    own = {entity_of(one) for one in streams if one.endswith(f"@{did.was}")}
    others = {entity_of(one) for one in streams if not one.endswith(f"@{did.was}")}
    living = {one.id: one for one in home.views.all(TASKS) if not one.is_deleted}
    open_there = [one for one in living.values() if one.is_open and one.id in others]
    named = {(fold(one.title), one.category): one.id for one in open_there}
    new = [one for one in living.values() if one.id in own - others]
    same = [
        SameTitle(one.id, one.title, there)
        for one in sorted(new, key=lambda one: one.place)
        if one.is_open and (there := named.get((fold(one.title), one.category)))
    ]
    met = sorted(own & others & living.keys())
    counts = len(new), sum(one in others for one in living), did.left_out
    return JoinReport(did.replica, did.was, did.copy, *counts, same, met, did.refused)
