"""Looks for trouble in a home, and changes nothing (SPEC 9, `doctor`)."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from adapters.documents.models import models_document
from adapters.documents.notify import receivers_of
from adapters.documents.policy import waiting
from adapters.documents.status import effects_in_flight
from adapters.documents.wakes import without_report
from adapters.home import files, log_pairing, write_guard, zones
from adapters.home.clock import clock_lag, lag_text
from adapters.home.home_location import FolderLocation, HomeLocation
from adapters.runtime import watcher
from adapters.store.log import Log
from adapters.store.log_copy import NAMED
from adapters.store.recorder import numbered
from adapters.store.sqlite import KNOWN
from adapters.store.sqlite_files import read_only
from adapters.text.agent_output import rule_text
from adapters.text.common import run_shown
from adapters.text.notify import why_not_told
from adapters.text.policy import HELD
from adapters.text.sync import REASONS
from adapters.upkeep.erase import unfinished_erasure
from adapters.wiring import Home, open_home
from domain.append.causes import ReplicasImported
from domain.errors import WakelogError
from domain.log.rules import FORMAT, FORMAT_MAX
from domain.log.wire import tag_of
from domain.scaffold import IS_OPEN, SCAFFOLD
from domain.wake.wake import WAKE
from projections import agents, inbox, tasks, wakes

LOGS = {"journal": files.JOURNAL, "agent": files.AGENT}
OURS = {"stored_events", "payloads"}
MARKER = tag_of(ReplicasImported(()))
OURS_BYTES = (("stored_events", "state"), ("payloads", "bytes"))
FINDINGS_MAX = 20  # of one check
RESTORE = "restore it from a backup"
BOTH = "journal and agent log"


class CheckOutcome(Struct, frozen=True):
    """The outcome of one check. `do`: what helps, where it is not ok."""

    check: str
    is_ok: bool
    told: str
    do: str = ""


Check = Callable[[Home], Iterable[CheckOutcome]]


def examine(
    where: HomeLocation | Path, environ: Mapping[str, str], model: str = ""
) -> list[CheckOutcome]:
    """All checks that can be made. What a broken file keeps from being checked is left out.
    `model`: what `--model` says."""
    place = FolderLocation(where) if isinstance(where, Path) else where
    found = [_settings(place, environ, model)]
    try:
        if not place.exists():
            told = f"there is none at {place.name} yet"
            return [*found, CheckOutcome("home", True, told, "begin with `wakelog demo`")]
        if place.is_folder:
            found += [_replica(place.folder, environ), *_files(place.folder)]
        if not all(one.is_ok for one in found):
            return found
        with open_home(place, environ, model=model) as home:
            for check in CHECKS:
                found += check(home)
            if all(one.is_ok for one in found):
                found.append(_proof(home, environ))
        if place.is_folder:
            found += _place(place.folder, environ)
    except WakelogError as error:
        found.append(CheckOutcome("home", False, error.because, error.instead))
    return found


# ----------------------------------------------------------------------------------------- files


def _settings(place: HomeLocation, environ: Mapping[str, str], model: str) -> CheckOutcome:
    try:
        settings = place.settings(environ, model)
    except WakelogError as error:
        return CheckOutcome("settings", False, error.because, error.instead)
    told, do = f"model {settings.model}, time zone {settings.timezone}", ""
    if not settings.agents.enabled:
        told += "; all agents are switched off"
        do = "set agents.enabled to true in settings.toml to let them wake"
    elif zone := zones.other_zone(settings.timezone, environ):
        do = f"this machine's is {zone}: `wakelog init --zone {zone}` takes it"
    return CheckOutcome("settings", True, told, do)


def _replica(path: Path, environ: Mapping[str, str]) -> CheckOutcome:
    try:
        told = files.replica(path, environ) or "no name yet; the next writing command draws one"
    except WakelogError as error:
        return CheckOutcome("replica", False, error.because, error.instead)
    return CheckOutcome("replica", True, told)


def _place(path: Path, environ: Mapping[str, str]) -> Iterator[CheckOutcome]:
    """Whether the folder is the one where the replica's name was drawn."""
    if write_guard.installation_state(path, environ) == "elsewhere":
        told = "it is not the folder where its writer's name was drawn"
        do = "say `wakelog home adopt moved`, `copy` or `restored`"
        yield CheckOutcome("folder", False, told, do)


def _proof(home: Home, environ: Mapping[str, str]) -> CheckOutcome:
    """What is new since the last proof, executed; without one nobody shall wait for it here."""
    from adapters.proof.incremental import prove_remembering, unremembered
    from adapters.text.proof import newer_text

    if why := unremembered(home, environ):
        return CheckOutcome("proof", True, f"not looked at: {why}", "say `wakelog prove`")
    proved = prove_remembering(home, environ)
    if proved.newer and not proved.divergences:
        return CheckOutcome("proof", True, newer_text(proved.newer), "prove them with that one")
    if not proved.ok:
        told = f"{len(proved.divergences) + proved.left} divergences"
        return CheckOutcome("proof", False, told, f"see `wakelog prove`; {RESTORE}")
    return CheckOutcome("proof", True, f"every byte is as it was proved {proved.told}")


def _files(path: Path) -> Iterator[CheckOutcome]:
    """Every log file by itself, before anything else opens it."""
    if not os.access(path, os.W_OK):
        yield CheckOutcome("home", False, f"{path} cannot be written", "give yourself permission")
    do = f"{RESTORE}, beside the other log"
    for file in (path / name for name in LOGS.values()):
        lacks = CheckOutcome(file.name, False, "the file is missing", do)
        yield _file(file) if file.exists() else lacks


def _erasing(home: Home) -> Iterator[CheckOutcome]:
    """An erasure that was cut off: until it is done its texts may stand somewhere."""
    if left := unfinished_erasure(home):
        told = f"the erasure of the {' '.join(left)} was cut off"
        yield CheckOutcome("erasure", False, told, "`wakelog recover` ends it")


def _sync(home: Home) -> Iterator[CheckOutcome]:
    """Rows of other machines that no sync takes until the person does something."""
    known = files.met_machines(home.path)
    for replica, why in sorted(known.waits.items()):
        told = f"{known.labels.get(replica) or replica} {REASONS[why]}"
        yield CheckOutcome("sync", False, told, "`wakelog sync` says more")


def _file(file: Path) -> CheckOutcome:
    try:
        with closing(read_only(file)) as connection:
            found = connection.execute("PRAGMA quick_check(3)").fetchall()
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            is_ours = bool(OURS & _tables(connection))
            strange = list(_strange(connection)) if found == [("ok",)] else []
    except sqlite3.Error as error:
        return CheckOutcome(file.name, False, f"it cannot be read: {error}", RESTORE)
    problems = "; ".join(str(row[0]) for row in found if row[0] != "ok")
    if problems:
        return CheckOutcome(file.name, False, f"SQLite finds: {problems}"[:500], RESTORE)
    if not FORMAT <= version <= FORMAT_MAX:
        told = f"it has format {version}, and this wakelog knows {KNOWN}"
        is_new = version < FORMAT and not is_ours
        return CheckOutcome(file.name, is_new, told, "use the wakelog that wrote it")
    if strange:
        do = f"nothing of it is wakelog's: look who put it there, or {RESTORE}"
        return CheckOutcome(file.name, False, "; ".join(strange)[:500], do)
    size = file.stat().st_size
    return CheckOutcome(file.name, True, f"whole, format {version}, {size:,} bytes")


def _strange(connection: sqlite3.Connection) -> Iterator[str]:
    """What wakelog never puts into a log file; a trigger even changes what is written."""
    made = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    for kind, name in connection.execute(f"{made} ORDER BY type, name"):
        if kind == "trigger" or name not in (*OURS, "appends", "appends_of_each"):
            yield f"it holds the {kind} {name!r}, which is not wakelog's"
    for table, column in OURS_BYTES if _tables(connection) >= OURS else ():
        sql = f"SELECT count(*) FROM {table} WHERE typeof({column}) <> 'blob'"
        if count := connection.execute(sql).fetchone()[0]:
            yield f"{count} of its {table} hold {column} that is no bytes: another program wrote it"


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


# ------------------------------------------------------------------------------------------ logs


def _appends(home: Home) -> Iterator[CheckOutcome]:
    """Whether every append is there, with all its rows."""
    for log in (home.services.journal, home.services.agents):
        gaps = list(_gaps(log))
        do = f"see `wakelog prove`, and {RESTORE}"
        yield from (CheckOutcome(f"{log.name} log", False, gap, do) for gap in gaps[:FINDINGS_MAX])
        if not gaps:
            told = f"{log.tail().n:,} appends, {log.count():,} rows, none missing"
            yield CheckOutcome(f"{log.name} log", True, told)


def _gaps(log: Log) -> Iterator[str]:
    last: dict[str, int] = {}
    left = 0
    for row in log.rows():
        try:
            place = numbered(row.state)
        except ValueError:
            yield f"row {row.version} of {row.stream} cannot be read"
            continue
        replica = row.stream.rpartition("@")[2]
        before = last.get(replica, 0)
        if place.row == 0:
            if left:
                yield f"append {before} has {left} rows less than it says"
            is_next = place.n == before + 1 or row.topic == MARKER  # above all that it names
            if replica in last and not is_next:
                yield f"append {before} is followed by {place.n}"
            left = place.rows
        last[replica] = place.n
        left -= 1
    if left:
        yield f"the last append has {left} rows less than it says"


def _both_logs(home: Home) -> Iterator[CheckOutcome]:
    """Whether the journal holds what the agent log refers to, and the other way round."""
    journal, agents_log = home.services.journal, home.services.agents
    last, lag = journal.tail().n, watcher.lag(home.services)
    lost = log_pairing.all_mismatches(journal, agents_log)
    found = [log_pairing.as_mismatch(one, last) for one in lost]
    found = found or ([home.other] if home.other is not None else [])
    if found:
        yield from (CheckOutcome(BOTH, False, one.because, one.instead) for one in found)
    elif count := log_pairing.unrequested_effects(journal, agents_log):
        told = f"{count} of the journal's effects have no intent in the agent log, which is older"
        do = "it goes on; to have the older one back, restore both from one backup"
        yield CheckOutcome(BOTH, True, told, do)
    elif lag:
        told = f"{lag} journal appends wait for the agents to look at them"
        yield CheckOutcome(BOTH, True, told, "`wakelog wake` does it")
    else:
        yield CheckOutcome(BOTH, True, "they fit together")


def _orphans(home: Home) -> Iterator[CheckOutcome]:
    """Whether what refers to something is of a home that holds it."""
    held = {task.id for task in home.views.all(tasks.VIEW)}
    known = {one.id for one in home.views.all(agents.VIEW)}
    found = [
        f"the agent {one.name!r} is of the task {one.task_id[:8]}, which the journal does not hold"
        for one in home.views.all(agents.VIEW)
        if one.exists and one.task_id and one.task_id not in held
    ]
    owned = [("wake", one.run_key, one.agent_id) for one in home.views.all(wakes.VIEW)]
    owned += [("change set", one.id, one.agent_id) for one in home.views.all(inbox.VIEW)]
    found += [
        f"the {what} {name[:8]} is of the agent {agent[:8]}, which the log does not hold"
        for what, name, agent in owned
        if agent not in known
    ]
    for log in (home.services.journal, home.services.agents) if home.place.is_folder else ():
        if count := _unnamed(home.path / LOGS[log.name], log):
            found.append(f"{count} texts of the {log.name} log are named by no row")
    for told in found[:FINDINGS_MAX]:
        yield CheckOutcome("orphans", False, told, f"see `wakelog prove`; {RESTORE}")
    if not found:
        yield CheckOutcome("orphans", True, "none")


def _unnamed(file: Path, log: Log) -> int:
    """How many payloads no row refers to."""
    with closing(read_only(file)) as connection:
        kept = {one.encode() for (one,) in connection.execute("SELECT id FROM payloads")}
    for row in log.rows():
        kept.difference_update(NAMED.findall(row.state))
    return len(kept)


# ---------------------------------------------------------------------------------------- agents


def _runs(home: Home) -> Iterator[CheckOutcome]:
    """Whether what agents run, and what has begun, is the same."""
    found: list[CheckOutcome] = []
    begun: set[str] = set()
    with home.services.agents.reading() as world:
        for one in home.views.all(agents.VIEW):
            if one.wake_queue.begun is None:
                continue
            run_key = one.wake_queue.begun.run_key
            begun.add(run_key)
            phase = world.load(WAKE, run_key).phase
            if phase in ("absent", "done"):
                told = f"{one.name!r} counts the wake {run_key[:8]} as begun, and it is {phase}"
                found.append(CheckOutcome("wakes", False, told, "see `wakelog prove`"))
    for wake in home.views.all(wakes.VIEW):
        if wake.code == "overshared_payload_blocked":
            told = f"the wake {wake.run_key[:8]} was skipped: {rule_text(wake.code)}"
            do = "report it: this is a fault of wakelog"
            found.append(CheckOutcome("wakes", False, told, do))
        if wake.state in ("running", "waiting") and wake.run_key not in begun and wake.started_at:
            told = f"the wake {wake.run_key[:8]} began, has no end, and no agent runs it"
            found.append(CheckOutcome("wakes", False, told, "see `wakelog prove`"))
    yield from found[:FINDINGS_MAX]
    yield from _doubts(home)


def _doubts(home: Home) -> Iterator[CheckOutcome]:
    """What began and has no end."""
    now = home.services.clock.now()
    running = [one for one in home.views.all(agents.VIEW) if one.running_run_key]
    effects = [one for _, one in effects_in_flight(home)]
    for agent in running[:FINDINGS_MAX]:
        told = f"the wake {agent.running_run_key[:8]} of {agent.name!r} began and has no end"
        yield CheckOutcome("wakes", False, told, "if no process runs it, `wakelog recover` goes on")
    for one in effects[:FINDINGS_MAX]:
        told = f"{one.tool} was begun at {one.asked_at} and has no outcome"
        yield CheckOutcome("effects", False, told, "`wakelog recover` finishes it")
    if not running and not effects:
        yield CheckOutcome("wakes and effects", True, f"none in doubt at {now[:19]}Z")


def _clock(home: Home) -> Iterator[CheckOutcome]:
    """Whether the log was written by a clock that was years ahead: nothing turns its times back."""
    if seconds := clock_lag(home.services.clock):
        told = f"the log is {lag_text(seconds)} ahead of this machine's clock"
        do = "set the clock; if the log is wrong, a backup of before that is right"
        yield CheckOutcome("clock", False, told, do)


def _failing(home: Home) -> Iterator[CheckOutcome]:
    known = [one for one in home.views.page(agents.VIEW) if one.is_living]
    failing = [one for one in known if one.failures or one.agent.pause_reason == "failures"]
    for one in failing[:FINDINGS_MAX]:
        code = f", the last with {one.last_code}" if one.last_code else ""
        told = f"{one.name!r} failed {one.failures} times in a row{code}"
        do = "see `wakelog wakes --outcome failed`"
        if one.lifecycle == "dormant":
            told, do = f"{told}, and was paused", f"{do}, then `wakelog agent resume`"
        yield CheckOutcome("agents", False, told, do)
    if not failing:
        yield CheckOutcome("agents", True, f"{len(known)} living, none failing")
    mute = [(one, run) for one in known if (run := without_report(home, one))]
    for one, run in mute[:FINDINGS_MAX]:
        told = f"the last wake of {one.name!r}, {run_shown(run)}, ended without a report"
        yield CheckOutcome("agents", True, told)


def _held(home: Home) -> Iterator[CheckOutcome]:
    """What waits for a person: for a consent, or for a key."""
    for one in waiting(home)[:FINDINGS_MAX]:
        do = f"see what would be sent, and agree with `{one.command}`" if one.command else "set it"
        yield CheckOutcome("policy", False, f"{one.agent!r} {HELD[one.waits_for]}", do)


def _models(home: Home) -> Iterator[CheckOutcome]:
    """Whether the models that somebody named can be asked; one that nobody uses yet is no fault."""
    for one in models_document(home)[:FINDINGS_MAX]:
        is_used = bool({"home", "agent", "template"} & set(one.named_by))
        if one.problem and one.named_by != ["wakelog"]:
            do = "see `wakelog models`, and try them with `wakelog models --ask`"
            yield CheckOutcome("models", not is_used, one.problem, do)


def _receivers(home: Home) -> Iterator[CheckOutcome]:
    """Whether whoever the settings name is told that something waits."""
    for one in receivers_of(home):
        do = "try it with `wakelog notify test`" if one.allowed else "say `wakelog notify allow`"
        if told := why_not_told(one):
            yield CheckOutcome("notify", False, told, do)
        else:
            yield CheckOutcome("notify", True, f"{one.receiver} {one.shown}")


def _views(home: Home) -> Iterator[CheckOutcome]:
    home.views.catch_up()
    if home.views.is_in_memory:
        told = "views.db cannot be used, so views are made anew for each command"
        yield CheckOutcome("views", False, told, "make it writable, or delete it")
    else:
        yield CheckOutcome("views", True, "up to date")


def _scaffold(home: Home) -> Iterator[CheckOutcome]:
    if IS_OPEN:
        told = f"wakes begin with scaffold {SCAFFOLD}, which is open: until a release closes it, "
        told += "they are not promised to prove under other revisions (ADR 36)"
        yield CheckOutcome("scaffold", True, told)


CHECKS: tuple[Check, ...] = (
    _appends, _views, _both_logs, _orphans, _runs, _failing, _erasing, _sync, _clock, _held,
    _models, _receivers, _scaffold,
)  # fmt: skip
