"""What if? A wake is run again with something else in its world, in a home of its own."""

import asyncio
import fcntl
import os
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from msgspec.structs import asdict

from adapters.documents import timetravel as d
from adapters.documents.ranks import ranks_of
from adapters.documents.templates import version_owner
from adapters.home import files
from adapters.home.files import SETTINGS
from adapters.runtime.budgets import LedgerEntry
from adapters.store.log import LogProgress
from adapters.text.common import ID_SHOWN
from adapters.timetravel.fork import (
    TOKENS_MAX,
    Branch,
    ForkChanges,
    Forked,
    ForkSpending,
    NoteEdit,
    TemplateVersion,
)
from adapters.timetravel.logs_at import NamedMoment, Past
from adapters.usecases.proposals import pick_item
from adapters.usecases.resolve import pick_task
from adapters.usecases.templates import BUILT_IN, pick_shown, replica_named
from adapters.usecases.time_travel import check_begun, find_moment
from domain.errors import Refused, invalid
from domain.policy.gate import is_leaving
from domain.templates.seeds import seed_id
from domain.templates.template import Template
from replay import wake_comparison
from replay.fork import ChangedVerdict
from replay.wake_comparison import WakesCompared

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.ports import Model

T = TypeVar("T")

_VERDICT = re.compile(r"((?:[^=]+/)?[a-z0-9]{1,32}\.[1-9][0-9]{0,4})=(confirm|reject)")
_NUMBERED = re.compile(r"(.+)\.([1-9][0-9]{0,4})")


class ForkRequest(NamedTuple):
    """What shall be otherwise, as a person says it.

    `template` is T or T.N, or ``built-in``; each of `notes` a task, with the number of a note or
    without, and its text; `verdicts` are spelled SET.ITEM=confirm or SET.ITEM=reject. `model`
    answers what the record does not; empty: nobody, after other notes the home's. `out` is a new
    folder; empty: one in the home. `tokens_max`: so many a model that is paid may take."""

    model: str = ""
    template: str = ""
    notes: Sequence[tuple[str, str]] = ()
    verdicts: Sequence[str] = ()
    out: str = ""
    tokens_max: int = TOKENS_MAX


def fork_wake(
    home: "Home", run: str, wish: ForkRequest, progress: LogProgress | None = None
) -> d.ForkDetails:
    """Run a wake again in a home of its own; this one is only read. The document of `fork`, which
    is also kept beside the fork. `run`: RUN or RUN.STEP; `progress`: is told how far each log has
    come, in appends. Raises Refused: what is wished for is not there, or not possible in the fork.
    """
    if wish.tokens_max < 1:
        raise invalid(f"a fork of {wish.tokens_max} tokens asks nobody", "give at least 1")
    place, wanted = resolve_fork(home, run, wish)
    model = _model(home, wanted)
    is_paid = model is not None and is_leaving(model.name)
    with new_fork(home.path, place.spot.run_key, wish.out, is_alone=is_paid) as (folder, made):
        spending = _spending(home, place, folder.name, model, wish) if model and is_paid else None
        branch = Branch(place.past, place.spot.run_key, place.replica, home.settings)
        forked = asyncio.run(branch.make(made, place.spot, wanted, model, progress, spending))
        try:
            was = d.wake_seen(place.past, place.spot.run_key, place.replica)
            there = Past(forked.journal, forked.agents)
            now = d.wake_seen(there, forked.run_key, place.replica)
            compared = wake_comparison.compare_wakes(was, now)
        finally:
            forked.close()
        taken = spending.tokens if spending is not None else 0
        document = _document(place, wanted, folder, forked, compared, taken)
        _keep(made, home.path, document)
    return document


def _spending(
    home: "Home", place: NamedMoment, name: str, model: "Model", wish: ForkRequest
) -> ForkSpending:
    """What a paid model may take: the fork's limit, and what is left of the home's day. Raises
    Refused, code ``unpriced_model``."""
    assert place.wake is not None  # `resolve_fork` has looked
    services = home.services
    services.budgets.check_priced(model.name, services.clock.now())
    about = LedgerEntry(name, place.wake.agent_id, model.name)
    return ForkSpending(services.budgets, services.clock, services.ledger, about, wish.tokens_max)


def resolve_fork(home: "Home", run: str, wish: ForkRequest) -> tuple[NamedMoment, ForkChanges]:
    """Which wake is meant, and what shall be otherwise; nothing is made yet. Raises Refused: what
    is wished for is not there."""
    place = find_moment(home, run)
    return place, _fork_changes(home, place, run, wish)


def _model(home: "Home", wanted: ForkChanges) -> "Model | None":
    """Who answers what the record does not; a model that nobody asked for by name, and that has no
    key here, is none."""
    try:
        return home.services.model_for(wanted.model) if wanted.model else None
    except Refused as refused:
        if wanted.is_going_on and refused.code == "missing_key":
            return None
        raise


# ---------------------------------------------------------------------------------- what is wanted


def _fork_changes(home: "Home", place: NamedMoment, run: str, wish: ForkRequest) -> ForkChanges:
    if place.wake is None:
        because = f"{run!r} is a moment and no wake"
        raise Refused("unknown_wake", because=because, instead="name a RUN, see `wakelog wakes`")
    check_begun(place.wake, "fork")
    if place.spot.step and (wish.template or wish.notes or wish.verdicts):
        instead = f"use `wakelog fork {place.spot.run_key[:ID_SHOWN]}` without a step"
        raise invalid("what a wake is shown is fixed once it has begun", instead)
    is_going_on = bool(wish.notes) and not wish.model
    return ForkChanges(
        home.settings.model if is_going_on else wish.model,
        template_version(home, wish.template) if wish.template else None,
        tuple(_note(home, *one) for one in wish.notes),
        tuple(_verdict(home, one) for one in wish.verdicts),
        is_going_on,
    )


def _numbered(wanted: str, unknown: str, found: Callable[[str, int], T]) -> T:
    """What a name stands for, with the number behind its last dot, unless that is part of the
    name; 0 where there is none. `unknown`: the code with which `found` refuses a name that there is
    not; `found`: looks a name and its number up."""
    numbered = _NUMBERED.fullmatch(wanted)
    try:
        return found(wanted, 0)
    except Refused as refused:
        if numbered is None or refused.code != unknown:
            raise
    return found(numbered[1], int(numbered[2]))


def _note(home: "Home", task: str, text: str) -> NoteEdit:
    """A note of a task, or one more."""

    def found(name: str, number: int) -> NoteEdit:
        return NoteEdit(pick_task(home, name), number, text)

    return _numbered(task, "unknown_task", found)


def template_version(home: "Home", wanted: str) -> TemplateVersion:
    """A template by name or id, and its version, of two machines ``NAME.3@MACHINE``."""
    unknown, (base, _, of) = "unknown_template", wanted.rpartition("@")
    try:
        return _numbered(wanted, unknown, lambda name, number: _version(home, name, number))
    except Refused as refused:
        if not base or refused.code != unknown:
            raise
    return _numbered(base, unknown, lambda name, number: _version(home, name, number, of))


def _version(home: "Home", wanted: str, number: int, of: str = "") -> TemplateVersion:
    """A template's version, 0 for the active one; a built-in template that is not in use, too."""
    if wanted == BUILT_IN:
        return TemplateVersion("", BUILT_IN, 0, "", "")
    template = pick_shown(home, wanted)
    if not isinstance(template, Template):
        _check_version(template.name, (1,), number or 1)
        texts = template.general, template.report
        return TemplateVersion(seed_id(template.seed), template.name, 1, *texts, template.seed)
    number, active = number or template.active, template.version
    machine = replica_named(home, of)
    found = [one for one in template.numbered(number) if not machine or one.is_of(machine)]
    _check_version(template.name, [one.version for one in found], number)
    version = active if active in found else found[0]
    with home.services.agents.reading() as world:
        texts = world.text(version.general), world.text(version.report)
    of = version_owner(template, version)
    return TemplateVersion(template.id, template.name, number, *texts, of=of)


def _check_version(name: str, known: Collection[int], number: int) -> None:
    if number not in known:
        because = f"the template {name!r} has no version {number}"
        instead = f"see `wakelog template show {shlex.quote(name)}`"
        raise Refused("unknown_template", because=because, instead=instead)


def _verdict(home: "Home", given: str) -> ChangedVerdict:
    read = _VERDICT.fullmatch(given)
    if read is None:
        because = f"{given!r} is no verdict"
        raise invalid(because, "write SET.ITEM=confirm or SET.ITEM=reject, 3.1=reject for example")
    ref, verb = read.groups()
    changes, item = pick_item(home, ref, ranks_of(home))
    return ChangedVerdict(changes, item, "confirm" if verb == "confirm" else "reject")


def _document(
    place: NamedMoment,
    wanted: ForkChanges,
    folder: Path,
    forked: Forked,
    compared: WakesCompared,
    taken: int,
) -> d.ForkDetails:
    assert place.wake is not None  # `resolve_fork` has looked
    on = wanted.template
    return d.ForkDetails(
        home=str(folder),
        of=str(place.home.path),
        run_key=place.spot.run_key,
        forked_run_key=forked.run_key,
        step=place.spot.step or None,
        journal=place.heads[0],
        agent=place.heads[1],
        model=wanted.model or None,
        template=d.ForkTemplate(on.template or None, on.name, on.version or None) if on else None,
        notes=[d.ForkNote(one.task, one.number or None) for one in wanted.notes],
        verdicts=[d.ForkVerdict(one.changes, one.item, one.verb) for one in wanted.verdicts],
        answers=list(forked.answers),
        stopped=forked.stopped or None,
        left_out=forked.left_out,
        diff=compared,
        agent_id=place.wake.agent_id,
        made_at=place.home.services.clock.now(),
        tokens=taken,
    )


def _keep(folder: Path, home: Path, document: d.ForkDetails) -> None:
    """What the fork is of and both sides, beside it, and the settings of the home it comes from."""
    told = {name: value for name, value in asdict(document).items() if name not in ("diff", "home")}
    text = msgspec.json.format(msgspec.json.encode(told), indent=2)
    (folder / ABOUT).write_bytes(text + b"\n")
    (folder / SIDES).write_bytes(msgspec.json.encode(document.diff) + b"\n")
    if (home / SETTINGS).exists():
        (folder / SETTINGS).write_bytes((home / SETTINGS).read_bytes())


# ---------------------------------------------------------------------- the forks that a home keeps
# The forks that a home keeps: made one at a time, whole or not there, listed, and deleted.
#
# One is made in a folder whose name begins with a dot, and gets its own name last. What was left
# there by a process that was killed goes when the page is served again, or the next one is made or
# deleted.

ABOUT, SIDES = files.FORK, "diff.json"
FORKS_MAX = 10_000
Sides = WakesCompared
"""Both sides of a fork, as they are compared."""
_NAME = re.compile(r"[a-z0-9]{1,32}-[1-9][0-9]{0,4}")
_MAKING, _GOING = ".making", ".going"


@contextmanager
def new_fork(home: Path, run_key: str, out: str, *, is_alone: bool) -> Iterator[tuple[Path, Path]]:
    """Make a fork's folder, and tell where it will be, and where it is made; whatever ends that
    early, nothing is kept. `out`: the folder that a person named; empty: the next free one in the
    home's `forks`; `is_alone`: it is paid for, so no other one is made meanwhile, wherever this one
    is. Raises Refused: another one is being made, or there is no place for it."""
    with one_at_a_time(home) if is_alone or not out else nullcontext():
        folder = _fork_folder(home, run_key, out)
        made = folder.with_name(f".{folder.name}{_MAKING}")
        try:
            yield folder, made
            made.rename(folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def _fork_folder(home: Path, run_key: str, out: str) -> Path:
    if out:
        folder = Path(out).expanduser().absolute()
        if folder.exists() and any(folder.iterdir()):
            because = f"{folder} is there already and is not empty"
            raise invalid(because, "name a new folder with --out")
        return folder
    free = (home / files.FORKS / f"{run_key[:ID_SHOWN]}-{nth}" for nth in range(1, FORKS_MAX))
    found = next((path for path in free if not path.exists()), None)
    if found is None:
        raise invalid(f"there are {FORKS_MAX} forks of this wake", "name a folder with --out")
    return found


@contextmanager
def one_at_a_time(home: Path) -> Iterator[None]:
    """Nobody else makes or deletes a fork of this home; what was left half is taken away."""
    folder = home / files.FORKS
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        because = f"the folder {folder} cannot be made: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another with --out") from None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for left in _unfinished(folder):
            with suppress(OSError):
                _remove_path(left)
        yield
    except BlockingIOError:
        because = "another fork of this home is being made just now"
        raise Refused("stale", because=because, instead="wait until it is done") from None
    finally:
        os.close(opened)


def remove_unfinished(home: Path) -> None:
    """Take away what a process that was killed left half; where one is being made, that is left."""
    with suppress(Refused, OSError):
        if _unfinished(home / files.FORKS):
            with one_at_a_time(home):
                pass  # who comes in has taken it away


def _unfinished(folder: Path) -> list[Path]:
    return [*folder.glob(f".*{_MAKING}"), *folder.glob(f".*{_GOING}")]


# ------------------------------------------------------------------------------------ to look at


def kept_forks(home: Path, run_key: str = "") -> list[d.KeptFork]:
    """The forks in a home's `forks`, of one wake or of all, the newest first."""
    found = list[d.KeptFork]()
    with suppress(OSError):
        names = (one.name for one in (home / files.FORKS).iterdir())
        for name in filter(_NAME.fullmatch, names):
            with suppress(Refused):
                found.append(kept_fork(home, name))
    of_it = [one for one in found if run_key in ("", one.run_key)]
    return sorted(of_it, key=lambda one: (one.made_at, one.number), reverse=True)


def kept_fork(home: Path, name: str) -> d.KeptFork:
    """A fork by the name of its folder. Raises Refused, code ``unknown_fork``."""
    with suppress(OSError, msgspec.DecodeError):
        about = home / files.FORKS / name / ABOUT
        if _NAME.fullmatch(name) and about.is_file():  # of a pipe nobody would see the end
            data = about.read_bytes()
            return msgspec.structs.replace(msgspec.json.decode(data, type=d.KeptFork), name=name)
    because = f"there is no fork {name[: ID_SHOWN * 2]!r} in this home"
    raise Refused("unknown_fork", because=because, instead="it may have been deleted")


def sides_of(home: Path, fork: d.KeptFork) -> Sides | None:
    """Both sides of a fork, as they were compared when it was made; None of an older one."""
    with suppress(OSError, msgspec.DecodeError):
        data = (home / files.FORKS / fork.name / SIDES).read_bytes()
        return msgspec.json.decode(data, type=Sides)
    return None


# ------------------------------------------------------------------------------------- to delete


def delete_fork(home: Path, name: str) -> None:
    """Delete a fork, unless a process has its logs open. Of a link only the link goes. Raises
    Refused, code ``unknown_fork``; ``stale``: somebody works in it; ``read_only``."""
    with one_at_a_time(home), files.readable_errors(home):
        kept_fork(home, name)
        folder = home / files.FORKS / name
        going = folder.with_name(f".{name}{_GOING}")
        folder.rename(going)  # from here on nobody finds it who does not have it open
        is_there = not going.is_symlink()  # what a link leads to is somebody else's
        if is_there and any(_is_open(going / log) for log in (files.JOURNAL, files.AGENT)):
            going.rename(folder)
            because = f"a process has the fork {name} open"
            raise Refused("stale", because=because, instead="end it first, then delete the fork")
        _remove_path(going)


def _remove_path(path: Path) -> None:
    """A folder with all that is in it; a file; a link, and nothing behind it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _is_open(log: Path) -> bool:
    """Whether another connection has a log open: its journal mode can be changed by the last one
    alone."""
    try:
        with closing(sqlite3.connect(f"file:{log}?mode=rw", uri=True, timeout=0)) as found:
            mode = found.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    except sqlite3.DatabaseError:
        return False
    return bool(mode != "delete")
