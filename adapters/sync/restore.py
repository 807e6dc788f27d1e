"""Gets a home back from its backup (`wakelog restore`): under a new name, as others may have what
the old one wrote since, and with the lead that the old one had, where that never comes back
(ADR 105).

The home is made whole beside its place and then takes it; what stood there is moved aside. So a
restore that is cut off leaves what was there, and is begun anew; where that stands aside already,
nobody writes until the same command has ended it."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from adapters.documents.results import ErasureLine
from adapters.home import files, write_guard
from adapters.home.clock import clock_from
from adapters.home.home_location import FolderLocation, HomeLocation, open_logs
from adapters.home.write_guard import WriteGuard
from adapters.store.leader import leadership_of, succeed
from adapters.store.log import Log
from adapters.store.log_copy import CopyProgress
from adapters.sync.machines import retire
from adapters.upkeep.adopt import check_new
from adapters.upkeep.backup import back_up, heads_of
from adapters.upkeep.erase import erase_again, erasures
from adapters.upkeep.home_copy import copy_logs
from adapters.wiring import open_home
from domain.errors import Damaged, Refused, WakelogError, invalid
from domain.machines.commands import LabelReplica

ASIDES_MAX = 100  # of one day
WHOLE = "restored.json"  # of a home that is made and has its place only to take


class RestoredHome(NamedTuple):
    """Who writes the home from now on, and who wrote it; `aside`: where the home is that stood
    there; `at`: the time of its newest append; `label`, `leads`: what it has of the old name;
    `meets`: the folder where machines met; `recovered`: wakes that it goes on with;
    `erased`: what was erased in the home that stood there, and was erased in this one, too."""

    replica: str
    was: str
    at: str
    aside: str = ""
    label: str = ""
    leads: bool = False
    meets: str = ""
    recovered: int = 0
    erased: int = 0


def note_of(backup: Path, home: Path) -> files.BackupNote:
    """What a backup says of its home; of one of before 0.5.0, and of a home that was put back where
    it was, what is there tells. Raises Refused, code ``invalid_value``: it is no backup; Damaged,
    code ``not_a_log``: a file is no log, or a log ends otherwise than it did."""
    if not files.exists(backup):
        raise invalid(f"there is no backup at {backup}", "name the folder that `backup` made")
    if (backup / files.REPLICA).exists() and backup != home:
        because = f"{backup} is a home that is written, and no backup"
        raise invalid(because, "make a backup of it with `wakelog backup DIR`")
    note = files.backup_note(backup)
    journal, agents = open_logs(backup, "", is_writing=False)
    with closing(journal), closing(agents):
        if note is None:
            is_shared, met = journal.recorder.order() is not None, files.met_machines(backup)
            was = files.replica(backup, {})
            return files.BackupNote(was, _at((journal, agents)), is_shared, met.folder)
        if note.heads and note.heads != heads_of(journal, agents):
            because = f"{backup} was changed since it was made: its logs end otherwise than it says"
            instead = f"name another backup; or take what is there: delete {backup / files.BACKUP}"
            raise Damaged("not_a_log", because=because, instead=instead)
        return note


RestoreStep = Callable[[str], None]
"""``step(name)``: this comes next."""

IsLost = Callable[[files.BackupNote], bool]
"""``is_lost(note)``: the home that the note is of never comes back."""


def restore(
    backup: Path,
    place: HomeLocation,
    environ: Mapping[str, str],
    *,
    was: str = "",
    is_lost: IsLost = lambda _: True,
    step: RestoreStep = lambda _: None,
    told: CopyProgress = lambda *_: None,
) -> RestoredHome:
    """Make a home of a backup, which stays as it is, in the place of what is there, or end what was
    cut off. `place`: where; in a database nothing may be there; `was`: the name under which the
    home was written, empty: as the backup says; `is_lost`: tells whether that home never comes
    back: then its name is retired, and what it led is led here; `told`: hears how far a copy into a
    database has come.

    Raises Refused, code ``not_shared``: machines share it, and it should get into a database;
    ``invalid_value``: it is no backup, there is a home and the old one is not lost, or nobody knows
    the old name; ``read_only``. Raises Damaged: a log of the backup is not whole, or another one
    than it was."""
    if not place.is_folder:
        return _in_database(backup, place, environ, told)
    home = place.folder
    hold = WriteGuard("rescued", f"by `wakelog --home {home} restore {backup}`")
    with files.readable_errors(home):
        made = _left(home, hold)
        if made is None:
            part = files.restoring(home)
            if home.exists() or (made := _left(part, hold)) is None:
                made = _made(backup, home, environ, was, is_lost, step)
                step("hold")
                files.replace_file(part / WHOLE, msgspec.json.encode(made).decode())
                FolderLocation(part).keep_hold(hold)
            if home.exists():
                step("aside")
                home.rename(made.aside)
            step("take")
            part.rename(home)
        step("open")
        place.keep_hold(WriteGuard())
        step("clean")
        (home / WHOLE).unlink(missing_ok=True)
    return made


def _in_database(
    backup: Path, place: HomeLocation, environ: Mapping[str, str], told: CopyProgress
) -> RestoredHome:
    """Copy a backup into a new home of a database; cut off, the same command goes on with it."""
    note = note_of(backup, place.folder)
    if note.is_shared:
        because = f"machines share the home that {backup} is of, and none in a database can be"
        raise Refused("not_shared", because=because, instead="restore it into a folder")
    name = files.replica_given(environ) or files.draw_name()
    copy_logs(FolderLocation(backup), place, environ, told, name)
    place.keep_hold(WriteGuard())
    return RestoredHome(place.begin(environ), note.of, note.at)


def _left(folder: Path, hold: WriteGuard) -> RestoredHome | None:
    """What a restore that was cut off has made in a folder, if it is whole."""
    if FolderLocation(folder).hold() != hold:
        return None
    return msgspec.json.decode((folder / WHOLE).read_bytes(), type=RestoredHome)


def _made(
    backup: Path,
    home: Path,
    environ: Mapping[str, str],
    was: str,
    is_lost: IsLost,
    step: RestoreStep,
) -> RestoredHome:
    """Make the home beside its place, with all that is to be written in it."""
    note = note_of(backup, home)
    was, never_back = was or note.of, is_lost(note)
    if files.exists(home) and not never_back and home != backup:
        because = f"there is a home at {home}, and it goes on"
        raise invalid(because, "name another folder for this one, with --home")
    part = files.restoring(home)
    shutil.rmtree(part, ignore_errors=True)
    step("copy")
    back_up(FolderLocation(backup), part)
    try:
        step("name")
        made = _named(part, was, environ, note, is_lost=never_back)
        step("retire")
        with open_home(part, environ, is_writing=True) as opened:
            goes_on = never_back and opened.services.agents.is_shared
            wakes = retire(opened, made.was).wakes if goes_on else 0
            erased = erase_again(opened, _erased_there(home, environ))
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    aside = _aside(home, made.at[:10]) if home.exists() else ""
    return made._replace(aside=aside, recovered=wakes, erased=len(erased))


def _erased_there(home: Path, environ: Mapping[str, str]) -> Sequence[ErasureLine]:
    """What was erased in the home that stands there: a backup does not bring it back. Of one that
    cannot be read, and of one that machines share, nothing."""
    with suppress(WakelogError):
        if files.exists(home):
            with open_home(home, environ) as there:
                return erasures(there)
    return ()


def _named(
    part: Path, was: str, environ: Mapping[str, str], note: files.BackupNote, *, is_lost: bool
) -> RestoredHome:
    """Begin to write under a new name; what is alone has nobody to tell of it."""
    name = files.replica_given(environ) or files.draw_name()
    with files.readable_errors(part):
        (part / files.BACKUP).unlink(missing_ok=True)
        files.replace_file(part / files.REPLICA, name)
        write_guard.keep_installation(part, is_copy=True)
    journal, agents = open_logs(part, name, is_writing=True)
    with closing(journal), closing(agents):
        check_new(name, (journal, agents))
        at = _at((journal, agents))
        made = RestoredHome(name, was, at, meets=note.meets)
        if journal.recorder.order() is None:
            return made
        if is_lost and was not in {*journal.heads(), *agents.heads()}:
            because = f"the backup does not say which machine it is of: {was or 'it names none'}"
            known = ", ".join(sorted(journal.heads()))
            raise invalid(because, f"name it with --was, one of {known}")
        label = _introduced(journal, agents, was if is_lost else "", environ)
        leads = leadership_of(journal, agents).lead == agents.replica
        kept = {"label": label, "folder": note.meets, "was": [was] if is_lost else []}
        files.replace_file(part / files.SYNC_FILE, msgspec.json.encode(kept).decode())
        return made._replace(label=label, leads=leads)


def _introduced(journal: Log, agents: Log, was: str, environ: Mapping[str, str]) -> str:
    """Tell the other machines; take the old name's lead and label, if one is given: the label."""
    now = clock_from(environ, _at((journal, agents))).now()
    if agents.recorder.order() is not None:
        agents.adopt(now)
    label = leadership_of(journal, agents).machines.labels.get(was, "")
    succeed(journal, agents, was, now)
    journal.adopt(now)
    if label and agents.recorder.order() is not None:
        agents.append(LabelReplica(agents.replica, label), now)
    return label


def _at(logs: Sequence[Log]) -> str:
    return max(one.tail().at for one in logs)


def _aside(home: Path, day: str) -> str:
    """Where what stands there goes."""
    ends = ("", *(f"-{n}" for n in range(2, ASIDES_MAX)))
    paths = (home.with_name(f"{home.name}.before-{day}{end}") for end in ends)
    path = next((one for one in paths if not one.exists()), None)
    if path is None:
        because = f"{home.parent} holds {ASIDES_MAX - 1} homes that were moved aside that day"
        raise Refused("invalid_value", because=because, instead="delete some of them")
    return str(path)
