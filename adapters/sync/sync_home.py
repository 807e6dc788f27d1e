"""One sync: take what others left in a folder, then leave what they do not have (ADR 72); and that
of a home, with its folder, its lock, and what it keeps of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from adapters.documents.replica_conflicts import replica_conflicts
from adapters.documents.sync import (
    Behind,
    IgnoredManifest,
    LeadAway,
    ReplicaLine,
    SyncReport,
    Waiting,
)
from adapters.home.files import FORK
from adapters.home.home_location import HomeLocation
from adapters.home.settings import Settings
from adapters.runtime import leadership, orphaned_effects
from adapters.store.leader import Leadership, leadership_of
from adapters.store.log import Log
from adapters.store.reader import tells
from adapters.sync import manifest as haves
from adapters.sync import sync_state
from adapters.sync.branches import abandoned_branches, dead_files, held_branches, without_branches
from adapters.sync.export import (
    compact,
    files_of_run,
    not_offered,
    remove_damaged,
    rewrite_erased,
    rows_in_run,
)
from adapters.sync.import_ import LogImport, RowsTaken
from adapters.sync.manifest import MANIFEST_FILE, Manifest, manifest_of
from adapters.sync.scan import FolderScan, scan_folder
from adapters.sync.sync_folder import LocalSyncFolder, SyncFolder, make_folder
from adapters.sync.sync_state import SyncState
from domain.errors import Refused, invalid
from domain.log.timestamps import instant

if TYPE_CHECKING:
    from adapters.wiring import Home

RESCUE_HINT = "run `wakelog replicas rescue` here; nothing was changed"
ABOUT = b"""Here the machines of one wakelog home meet. Each writes in a folder of its own, and no
file ever changes but have.json. Let any tool carry this folder; delete nothing. `wakelog sync` in
a home takes what is new here and leaves what others lack.
"""


class SyncResult(NamedTuple):
    """What was done, and what to keep for the next time."""

    report: SyncReport
    kept: SyncState


def sync_logs(  # noqa: PLR0913  what meets where, and how
    logs: Sequence[Log],
    shelf: SyncFolder,
    now: str,
    kept: SyncState,
    *,
    hold: Collection[str] = (),
    told: RowsTaken = lambda _: None,
    is_dry: bool = False,
    accepts: bool = False,
) -> SyncResult:
    """Take, then give. `logs`: those that travel, the journal first; `kept`: what the last sync
    kept; `hold`: replicas of which nothing more is taken; `is_dry`: only look; `accepts`: what
    others erased is erased here, whatever was written to it since.

    Raises Refused, code ``another_home``, ``forked_replica``; ``read_only``: the folder cannot be
    written, and what was taken stays; ``unreadable_file``."""
    there = scan_folder(shelf, kept.checked if kept.folder == shelf.name else {})
    void = abandoned_branches(there, kept.void)
    if dead := [one for log in logs for one in held_branches(log, void)]:
        because = f"a branch of {dead[0].replica} that is here was given up where it was written"
        raise Refused("forked_replica", because=because, instead=RESCUE_HINT)
    found = without_branches(there, void)
    takings = imports_of(logs, shelf, found, hold, accepts=accepts)
    if not all(one.is_related() for one in takings):
        because = f"{shelf.name} is the folder of another home, with other tasks"
        instead = "name the folder of this one, or make one home of both with `--join`"
        raise Refused("another_home", because=because, instead=instead)
    for one in takings:
        if not is_dry and not one.log.is_shared:
            one.log.share(now)
        one.take(now, told, is_dry=is_dry)
    replica = logs[0].replica
    known = found.haves.get(replica)
    label = kept.label or (known.label if known else "")
    try:
        if not is_dry:
            shelf.begin(ABOUT)
            shelf.tidy(replica)
        for one in takings if not is_dry else ():
            remove_damaged(one.log, found, shelf, replica)
        erased = sum(len(log.erasures().made) for log in logs)
        who = leadership_of(*journal_and_agents(logs))
        gone = who.machines.retired if who.lead == replica else ()
        for log in logs if not is_dry and erased != kept.erased else ():
            rewrite_erased(log, found, shelf, replica, gone)
        # agents first: what they name of the journal is there by then
        each = (_export_missing(one, found, shelf, replica, is_dry=is_dry) for one in takings[::-1])
        gave = sum(each)
        for one in takings if not is_dry else ():
            compact(one.log, found, shelf, replica, one.forked)
        mine = manifest_of(logs, replica, label, now, void, who.lead)
        if not is_dry and haves.is_news(mine, known):
            shelf.write(f"{replica}/{MANIFEST_FILE}", haves.manifest_bytes(mine))
        for name in dead_files(there, found, (replica, *kept.was)) if not is_dry else ():
            shelf.remove(name)
    except OSError as error:
        took = sum(sum(one.took.values()) for one in takings)
        why = error.strerror or error
        because = f"{shelf.name} cannot be written: {why}; {took} rows were taken"
        instead = "free space, or give yourself permission, and repeat it"
        raise Refused("read_only", because=because, instead=instead) from None
    report = _sync_report(takings, mine, gave, found, who)
    labels = {**kept.labels, **report.labels}
    others = {name: have.at for name, have in found.haves.items() if name != replica}
    heard = {**kept.heard, **others}
    waits = {one.replica: one.for_ for one in report.waiting if one.is_trouble}
    met = heard, now, erased, waits
    state = SyncState(label, shelf.name, there.whole, labels, void, kept.was, *met)
    return SyncResult(report, state)


def combined(first: SyncResult, again: SyncResult) -> SyncResult:
    """What two syncs did, one right after the other."""
    one, more = first.report, again.report
    took, new = _summed(one.took, more.took), sorted({*one.new, *more.new})
    report = replace(more, took=took, gave=one.gave + more.gave, new=new)
    return SyncResult(report, again.kept)


def _summed(*each: Mapping[str, int]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in each:
        total.update(one)
    return dict(sorted(total.items()))


def journal_and_agents(logs: Sequence[Log]) -> tuple[Log, Log | None]:
    """The journal, and the agents' log, if it travels."""
    journal, *others = logs
    return journal, next(iter(others), None)


def imports_of(
    logs: Sequence[Log],
    shelf: SyncFolder,
    found: FolderScan,
    hold: Collection[str] = (),
    *,
    accepts: bool = False,
) -> list[LogImport]:
    """What takes in each log: the journal, and the agent log, if it travels."""
    journal, *others = logs
    first = LogImport(journal, shelf, found, hold, accepts=accepts)
    more = (LogImport(log, shelf, found, hold, first, accepts=accepts) for log in others)
    return [first, *more]


def replica_lines(
    logs: Sequence[Log], shelf: SyncFolder, now: str, kept: SyncState
) -> list[ReplicaLine]:
    """All writers that are known here or in the folder, this home first."""
    there = scan_folder(shelf, kept.checked if kept.folder == shelf.name else {})
    found = without_branches(there, abandoned_branches(there, kept.void))
    takings = imports_of(logs, shelf, found)
    for one in takings:
        one.take(now, lambda _: None, is_dry=True)
    who = leadership_of(*journal_and_agents(logs))
    mine = manifest_of(logs, logs[0].replica, kept.label, now, leads=who.lead)
    waiting = {one.replica: one for taking in takings for one in taking.waiting()}
    last = {name: tail.n for name, tail in logs[0].heads().items()}
    names = sorted({*last, *found.haves, *waiting} - {mine.replica})
    lines = [
        _replica_line(name, mine, found.haves.get(name), waiting.get(name), last.get(name, 0))
        for name in (mine.replica, *names)
    ]
    return [
        replace(
            one,
            label=who.machines.labels.get(one.replica, one.label),
            leads=one.replica == who.lead,
            retired=one.replica in who.machines.retired,
        )
        for one in lines
    ]


def _replica_line(
    name: str, mine: Manifest, other: Manifest | None, waits: Waiting | None, last: int
) -> ReplicaLine:
    if name == mine.replica:
        return ReplicaLine(name, mine.label, True, last, mine.at, "equal")
    if waits:
        seen = (other.label, other.at) if other else ("", "")
        return ReplicaLine(name, seen[0], False, last, seen[1], "waits", waits.for_)
    if other is None:
        return ReplicaLine(name, "", False, last, "", "behind")
    is_equal = other.digest == mine.digest
    return ReplicaLine(name, other.label, False, last, other.at, "equal" if is_equal else "behind")


def _export_missing(
    taking: LogImport, found: FolderScan, shelf: SyncFolder, replica: str, *, is_dry: bool
) -> int:
    """Offer what nobody offers; how many rows. Raises OSError."""
    runs = not_offered(taking.log, found, taking.forked)
    rows = sum(rows_in_run(taking.log, one) for one in runs)
    for run in runs if not is_dry else ():
        for header, data in files_of_run(taking.log, run):
            shelf.write(f"{replica}/{header.name}", data)
    return rows


def _sync_report(
    takings: Sequence[LogImport], mine: Manifest, gave: int, found: FolderScan, who: Leadership
) -> SyncReport:
    others = [have for name, have in sorted(found.haves.items()) if name != mine.replica]
    gone = who.machines.retired
    lacking = [one for one in others if one.digest != mine.digest and one.replica not in gone]
    return SyncReport(
        mine.replica,
        _summed(*(one.took for one in takings)),
        gave,
        mine.digest,
        [one.replica for one in others if one.digest == mine.digest],
        [_behind_line(one, mine, takings) for one in lacking],
        [waits for taking in takings for waits in taking.waiting()],
        sorted({name for one in takings for name in one.took.keys() - one.known}),
        {one.replica: one.label for one in (mine, *others) if one.label} | who.machines.labels,
        len(found.broken),
        ignored=[
            *(IgnoredManifest(one, "broken") for one in found.mute),
            *(one for taking in takings for one in taking.doubted()),
        ],
    )


def _behind_line(other: Manifest, mine: Manifest, takings: Iterable[LogImport]) -> Behind:
    lacks = sum(
        1
        for taking in takings
        for name in taking.log.telling_heads()
        for rows in taking.log.appends_of(name, other.head(taking.log.name, name).n)
        if tells(rows)
    )
    ahead = (instant(other.at) - instant(mine.at)).total_seconds()
    return Behind(other.replica, other.label, lacks, other.at, max(int(ahead // 60), 0))


# ---------------------------------------------------------------------------- a home that is synced


def sync_folder_of(
    place: HomeLocation, settings: Settings, folder: str = "", *, is_made: bool = False
) -> LocalSyncFolder:
    """The folder where a home meets others: the named one, else the settings', else the last.
    `is_made`: a named one is made where only itself is missing; one that is known may lie on a
    drive that is away. Raises Refused, code ``invalid_value``: there is none, or the home is one
    that does not sync; ``read_only``: it cannot be made."""
    if not place.is_folder:
        raise invalid(f"{place.name} is in a database", "sync a home that is a folder")
    if (place.folder / FORK).exists():
        raise invalid(f"{place.name} is a fork, for looking only", "sync the home it came from")
    named = folder or settings.sync.folder or sync_state.read_sync_state(place.folder).folder
    if not named:
        because = "no folder is named where machines meet"
        raise invalid(because, "say `wakelog sync DIR`, or set [sync] folder in settings.toml")
    path = Path(named).expanduser().absolute()
    if path == place.folder.absolute():
        raise invalid(f"{path} is this home", "name a folder beside it")
    if folder and is_made:
        make_folder(path)
    return LocalSyncFolder(path)


def sync_home(
    home: "Home",
    shelf: SyncFolder,
    told: RowsTaken = lambda _: None,
    *,
    is_dry: bool = False,
    waits: bool = True,
    host: str = "",
    accepts: bool = False,
) -> SyncReport:
    """Sync a home, open to write unless it is a dry run, with a folder. `waits`: for another sync
    of the home to end; `host`: what the machine is called, if it is new here, see `host_name`;
    `accepts`: see `sync_logs`, which tells what is refused. Raises SyncBusy: another one goes on,
    and nobody waits."""
    if is_dry:
        return _with_conflicts(home, _sync_once(home, shelf, told, is_dry=True).report)
    from adapters.documents.status import lead_away  # it loads what opens homes
    from adapters.sync.machines import let_lead, name_new_replica
    from adapters.upkeep.erase import erase_along

    with sync_state.sync_lock(home.path, waits=waits):
        is_new = not home.services.journal.is_shared
        before, led = orphaned_effects.reached(home.services), home.services.lead
        were = sync_state.read_sync_state(home.path).erased
        done = _sync_once(home, shelf, told, is_dry=False, accepts=accepts)
        erased = done.kept.erased != were and erase_along(home)
        sync_state.write_sync_state(home.path, done.kept)
        items = orphaned_effects.confirm_come(home.services, before)
        is_named = is_new and name_new_replica(home, host)
        silent = _silent_lead(home)
        if silent:
            let_lead(home)
        # what is said then is given, too
        if leadership.settle(home.services) or items or is_named or silent or erased:
            again = _sync_once(home, shelf, told, is_dry=False)
            sync_state.write_sync_state(home.path, again.kept)
            done = combined(done, again)
    home.views.catch_up()
    leads = "" if home.services.lead == led else home.services.lead
    report = replace(done.report, leads=leads, lead_away=silent or lead_away(home))
    return _with_conflicts(home, report)


def _silent_lead(home: "Home") -> LeadAway | None:
    """The machine that leads, if it is silent for so long that this one is to lead (ADR 106)."""
    from adapters.documents.status import lead_away  # it loads what opens homes

    days = home.settings.sync.take_lead_after_days
    lead = lead_away(home) if days else None
    return lead if lead and lead.days >= days else None


def replicas_of_home(home: "Home") -> list[ReplicaLine]:
    """All writers of a home. Raises Refused, code ``not_shared``; see `sync_folder_of`."""
    logs = _travelling_logs(home)
    if not logs[0].is_shared:
        because = "this home has never met another machine"
        raise Refused("not_shared", because=because, instead="run `wakelog sync DIR` first")
    shelf, now = sync_folder_of(home.place, home.settings), home.services.clock.now()
    return replica_lines(logs, shelf, now, sync_state.read_sync_state(home.path))


def travelling_names(place: HomeLocation, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the logs of a home that travel. Raises as `open_home` does."""
    from adapters.wiring import open_home  # a command that only shows a folder needs none

    with open_home(place, environ) as home:
        return tuple(one.name for one in _travelling_logs(home))


def _sync_once(
    home: "Home", shelf: SyncFolder, told: RowsTaken, *, is_dry: bool, accepts: bool = False
) -> SyncResult:
    now, known = home.services.clock.now(), sync_state.read_sync_state(home.path)
    hold = home.settings.sync.hold
    more = {"is_dry": is_dry, "accepts": accepts}
    return sync_logs(_travelling_logs(home), shelf, now, known, hold=hold, told=told, **more)


def _with_conflicts(home: "Home", report: SyncReport) -> SyncReport:
    return replace(report, conflicts=len(replica_conflicts(home)))


def _travelling_logs(home: "Home") -> list[Log]:
    """Those that travel, see `[sync] agents`."""
    logs = [home.services.journal, home.services.agents]
    return logs if home.settings.sync.agents == "shared" else logs[:1]
