"""`wakelog replicas rescue`: a home whose chain is forked goes on under a new name (ADR 74).

The home is copied, its logs are made anew beside it without the branch, with what others wrote
instead and with its causes decided again, and then take the place of the old ones. Until all is
there the home is as it was; from then on a rescue that is cut off only has to be ended. Nobody
writes meanwhile.
"""

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.documents.syncing import RescueReport
from adapters.home import files, installation
from adapters.home.hold import Hold
from adapters.home.place import Place, open_logs
from adapters.store.opening import check_alone
from adapters.sync import memory
from adapters.sync.again import Again
from adapters.sync.branches import given_up
from adapters.sync.have import Void
from adapters.sync.home import shelf_of, sync_home, travelling
from adapters.sync.rebuilding import Opened, Plan, planned, rebuilt, void_lines
from adapters.sync.shelf import Shelf
from adapters.sync.survey import Survey, survey
from adapters.upkeep.adopting import check_exists, check_new, introduce
from adapters.upkeep.backup import back_up
from domain.errors import Refused, invalid

WORK, DONE, READY = ".rescue", ".rescued", "ready.json"
COPIES_MAX = 100  # of one branch
LOGS = (files.JOURNAL, files.AGENT)
VIEWS = tuple(f"{files.VIEWS}{end}" for end in ("", "-wal", "-shm"))
RESCUED = Hold("rescued", "by `wakelog replicas rescue`")

Step = Callable[[str], None]
"""``step(name)``: this comes next."""


class Ready(Struct, frozen=True):
    """What is left to be done once the new logs are there. `is_forked`: another home wrote under
    the old name, so the label is that one's."""

    is_forked: bool
    void: tuple[Void, ...]
    report: RescueReport


def rescue(
    place: Place,
    environ: Mapping[str, str],
    folder: str = "",
    *,
    is_dry: bool = False,
    step: Step = lambda _: None,
) -> RescueReport:
    """Go on under a new name, without what another home wrote otherwise, or end what was cut off.

    Args:
        place: The home, closed.
        environ: Environment variables.
        folder: Where machines meet; empty: as for a sync.
        is_dry: Only look what would be done.
        step: Is told what comes next.

    Raises:
        Refused: Code ``nothing_to_rescue``; ``forked_replica``: the folder does not hold yet what
            another home wrote; ``invalid_value``: `WAKELOG_REPLICA` names who has written here;
            ``read_only``: the home is in use; and see `shelf_of`.
        Damaged: A file is no log.
    """
    home = place.folder
    if not place.is_folder:
        raise invalid(f"{place.name} is in a database", "rescue a home that is a folder")
    check_exists(home)
    if is_dry:
        if (home / WORK / READY).exists():
            return _ready(home / WORK).report
        return _looked(place, environ, shelf_of(place, place.settings(environ), folder))
    with memory.alone(home):
        report = _ended(place, step)
        if report is None:
            shelf = shelf_of(place, place.settings(environ), folder)
            report = _rescued(place, environ, shelf, step)
    step("sync")
    return _synced(place, environ, folder, report)


def _looked(place: Place, environ: Mapping[str, str], shelf: Shelf) -> RescueReport:
    with ExitStack() as opened:
        was = _opened(place, environ, opened)
        plan, _ = _plan(place, environ, was, shelf)
        return RescueReport(
            "", plan.was, "", void_lines(plan.void), {}, len(plan.causes), 0, 0, 0, []
        )


def _rescued(place: Place, environ: Mapping[str, str], shelf: Shelf, step: Step) -> RescueReport:
    home, name = place.folder, files.replica_given(environ)
    with files.told(home):
        shutil.rmtree(home / WORK, ignore_errors=True)
    place.keep_hold(RESCUED)
    try:
        with ExitStack() as opened:
            step("look")
            was = _opened(place, environ, opened)
            plan, found = _plan(place, environ, was, shelf)
            check_new(name, was.logs)
            if plan.void:
                name = name or files.drawn()
                step("copy")
                copy = _copied(home, plan)
                step("make")
                made, took = rebuilt(home / WORK, name, was, plan, shelf, found, step)
                report = _report(name, plan, made, took, copy)
        if not plan.void:
            report = _named(home, environ, plan)
            place.keep_hold(Hold())
            return report
        step("ready")
        void = tuple(replace(one, by=name) if one.replica == plan.was else one for one in plan.void)
        ready = Ready(plan.is_forked, void, report)
        with files.told(home):
            files.replace_file(home / WORK / READY, msgspec.json.encode(ready).decode())
    except BaseException:
        shutil.rmtree(home / WORK, ignore_errors=True)
        place.keep_hold(Hold())
        raise
    done = _ended(place, step)
    assert done is not None  # it is ready
    return done


def _opened(place: Place, environ: Mapping[str, str], opened: ExitStack) -> Opened:
    names = travelling(place, environ)
    journal, agents = open_logs(place.folder, files.replica(place.folder, {}), is_writing=False)
    for one in (journal, agents):
        opened.enter_context(closing(one))
    return Opened(tuple(one for one in (journal, agents) if one.name in names), agents)


def _plan(
    place: Place, environ: Mapping[str, str], was: Opened, shelf: Shelf
) -> tuple[Plan, Survey]:
    known = memory.kept(place.folder)
    there = survey(shelf, known.checked if known.folder == shelf.name else {})
    told = given_up(there, known.void)
    plan = planned(was.logs, shelf, there, told, place.settings(environ).sync.hold)
    if not (plan.void or plan.is_forked):
        because = f"nobody else wrote under the name of this home, {plan.was}, as {shelf.name} says"
        instead = "run it on the copied or restored machine, or sync"
        raise Refused("nothing_to_rescue", because=because, instead=instead)
    return plan, there


def _named(home: Path, environ: Mapping[str, str], plan: Plan) -> RescueReport:
    """Only another name: nothing was written since the split."""
    name = files.replica_given(environ) or files.drawn()
    _settle(home, name, plan.was, is_forked=True, void=())
    introduce(home, name, environ)
    return RescueReport(name, plan.was, "", [], {}, 0, 0, 0, 0, [])


def _settle(home: Path, name: str, was: str, *, is_forked: bool, void: tuple[Void, ...]) -> None:
    with files.told(home):
        files.replace_file(home / files.REPLICA, name)
        installation.settle(home, is_copy=True)
    known = memory.kept(home)
    label = "" if is_forked else known.label
    names = tuple(sorted({*known.was, was}))
    memory.keep(home, replace(known, label=label, void=tuple({*known.void, *void}), was=names))


def _copied(home: Path, plan: Plan) -> str:
    """The home as it is, whole, in a folder of its `forks`; the folder."""
    part = home / WORK / "copy"
    back_up(home, part)
    with files.told(home):
        (home / files.FORKS).mkdir(mode=0o700, exist_ok=True)
        path = _free(home / files.FORKS, f"{plan.was}-{plan.after}")
        part.rename(path)
    return str(path)


def _free(folder: Path, name: str) -> Path:
    paths = [folder / name, *(folder / f"{name}-{nth}" for nth in range(2, COPIES_MAX))]
    found = next((path for path in paths if not path.exists()), None)
    if found is None:
        because = f"{folder} holds {COPIES_MAX} copies of {name}"
        raise Refused("invalid_value", because=because, instead="delete some of them")
    return found


def _report(name: str, plan: Plan, made: Again, took: dict[str, int], copy: str) -> RescueReport:
    return RescueReport(
        name,
        plan.was,
        copy,
        void_lines(plan.void),
        took,
        len(plan.causes),
        made.redone,
        made.answered,
        made.left_out,
        made.refused,
    )


def _ready(work: Path) -> Ready:
    with files.told(work):
        return msgspec.json.decode((work / READY).read_bytes(), type=Ready)


def _ended(place: Place, step: Step) -> RescueReport | None:
    """Put the new logs in the place of the old ones, if they are ready; each step can be repeated.
    What was done; None where nothing was begun."""
    home = place.folder
    done = home / DONE
    if (home / WORK / READY).exists():
        _put(home, _ready(home / WORK), step)
    elif not (done / READY).exists() or place.hold() != RESCUED:
        shutil.rmtree(done, ignore_errors=True)
        if place.hold() == RESCUED:  # it was cut off before anything was ready
            place.keep_hold(Hold())
        return None
    report = _ready(done).report
    step("open")
    place.keep_hold(Hold())
    step("clean")
    shutil.rmtree(done, ignore_errors=True)
    return report


def _put(home: Path, ready: Ready, step: Step) -> None:
    """The new logs, and the name of who writes in them."""
    work, done = home / WORK, home / DONE
    for name in LOGS:
        if (work / name).exists():
            step(f"put {name}")
            check_alone(home / name)
            with files.told(home):
                (work / name).rename(home / name)
    step("name")
    report = ready.report
    _settle(home, report.replica, report.was, is_forked=ready.is_forked, void=ready.void)
    with files.told(home):
        for name in VIEWS:
            (home / name).unlink(missing_ok=True)
        shutil.rmtree(done, ignore_errors=True)
        step("done")
        work.rename(done)


def _synced(
    place: Place, environ: Mapping[str, str], folder: str, report: RescueReport
) -> RescueReport:
    """Tell the others, and take what there is; what was rescued stays where that cannot be."""
    from adapters.wiring import open_home

    try:
        shelf = shelf_of(place, place.settings(environ), folder)
        with open_home(place, environ, is_writing=True) as home:
            synced = sync_home(home, shelf)
            leads = report.was if home.services.lead == report.was else ""
            return replace(report, synced=synced, leads=leads)
    except Refused as refused:
        return replace(report, sync_refused=f"{refused.because} [{refused.code}]")
