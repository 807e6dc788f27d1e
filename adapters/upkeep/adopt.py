"""Settles what a home has become: restored by half, moved, or a copy (`wakelog home adopt`).

Whoever writes on after another past, or beside an original, needs a name that nobody has written
under: its streams begin anew, and what others wrote is brought in, as in a restored backup."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from adapters.home import files, log_pairing, write_guard
from adapters.home.clock import clock_from
from adapters.home.home_location import FolderLocation, open_logs
from adapters.store.leader import succeed
from adapters.store.log import Log
from domain.append.causes import GivenUp
from domain.errors import Refused, invalid


class Adopted(NamedTuple):
    """Under which name the home is written from now on, and under which it was. `given_up`: what
    its agent log said of a journal that is gone."""

    replica: str
    was: str
    given_up: tuple[GivenUp, ...] = ()


def adopt_folder(home: Path, environ: Mapping[str, str], *, is_copy: bool) -> Adopted:
    """Keep that a home is where it is now: moved with its name, or a copy, which gets another. The
    original of a copy is worked in, too, and keeps the lead if it has it (ADR 76). Raises Refused,
    code ``nothing_to_adopt``, ``invalid_value`` (there is no home) or ``read_only``."""
    check_exists(home)
    state = write_guard.installation_state(home, environ)
    if state == "unchecked":
        because = f"{files.REPLICA_VARIABLE} names who writes, so nothing is kept of the folder"
        raise _nothing_to_settle(because, "unset it, or set it to another name in a copy")
    if state == "here":
        raise _nothing_to_settle(f"{home} is the folder where its name was drawn")
    if state == "unknown" and not is_copy:
        raise _nothing_to_settle(f"nothing is kept yet of where {home} was")
    was = files.replica(home, environ)
    name = files.draw_new_replica(home) if is_copy else was
    with files.readable_errors(home):
        write_guard.keep_installation(home, is_copy=is_copy)
    if is_copy:
        introduce_replica(home, name, environ)
    return Adopted(name, was)


def introduce_replica(home: Path, name: str, environ: Mapping[str, str]) -> None:
    """Say in the logs of a home, if machines share it, that a new name writes on there: it then
    knows at once that another one leads."""
    logs = open_logs(home, name, is_writing=True)
    with closing(logs[0]), closing(logs[1]):
        now = clock_from(environ, max(log.tail().at for log in logs)).now()
        for log in logs:
            if log.recorder.order() is not None:
                log.adopt(now)


def adopt_restored(home: Path, environ: Mapping[str, str]) -> Adopted:
    """Go on with logs of different times, under a name that is new in both.

    What the agent log says of appends that the journal does not hold is given up, and told so in
    the journal; their numbers are not given again. The new name's watcher has taken nothing yet,
    so whatever the journal holds is news once more. Where machines share the home, the old name is
    gone for good, and what it led the new one leads (ADR 76); but for a copy in another folder,
    whose original may write on. Raises Refused, code ``nothing_to_adopt``, ``invalid_value`` (no
    home, or `WAKELOG_REPLICA` names somebody who has written there) or ``read_only``; Damaged: a
    file is no log."""
    check_exists(home)
    was = files.replica(home, {})
    journal, agents = open_logs(home, was, is_writing=True)
    with closing(journal), closing(agents):
        lost = _mismatches(journal, agents)
        if lost is None:
            raise _nothing_to_settle(f"the two logs of {home} belong together")
        given = environ.get(files.REPLICA_VARIABLE, "")
        check_new(given, (journal, agents))
        now = clock_from(environ, max(journal.tail().at, agents.tail().at)).now()
    name = given or files.draw_new_replica(home)
    is_elsewhere = write_guard.installation_state(home, environ) == "elsewhere"
    if is_elsewhere:
        with files.readable_errors(home):
            write_guard.keep_installation(home, is_copy=True)
    journal, agents = open_logs(home, name, is_writing=True)
    with closing(journal), closing(agents):
        if agents.recorder.order() is not None:
            agents.adopt(now)
        if not is_elsewhere:  # first: if it is cut off here, the next one does so again
            succeed(journal, agents, was, now)
        journal.adopt(now, lost)
    return Adopted(name, was, lost)


def _mismatches(journal: Log, agents: Log) -> tuple[GivenUp, ...] | None:
    """What the agent log says of the journal and that is not so; None: they belong together."""
    lost = log_pairing.all_mismatches(journal, agents)
    return lost if lost or log_pairing.newest_mismatch(journal, agents) else None


def is_put_back(home: Path, environ: Mapping[str, str]) -> bool:
    """Whether a home whose logs belong together may be older than what was written in it since:
    machines share it, or it is not the folder where its name was drawn. It goes on as one that is
    restored from a backup. Raises Refused, code ``invalid_value`` (there is no home) or ``frozen``;
    Damaged: a file is no log."""
    check_exists(home)
    journal, agents = open_logs(home, files.replica(home, {}), is_writing=False)  # who shared it
    with closing(journal), closing(agents):
        is_elsewhere = write_guard.installation_state(home, environ) == "elsewhere"
        is_shared = journal.recorder.order() is not None
        return (is_elsewhere or is_shared) and _mismatches(journal, agents) is None


def check_new(given: str, logs: Iterable[Log]) -> None:
    """Look whether the name that `WAKELOG_REPLICA` gives, if it does, is one to go on under. Raises
    Refused, code ``invalid_value``: it has written in the home."""
    if given and any(given in log.writers() for log in logs):
        because = f"{files.REPLICA_VARIABLE} is {given}, which has written in this home"
        raise invalid(because, "unset it, or set it to a name that is new, for good")


def check_exists(home: Path) -> None:
    """Raises Refused, code ``invalid_value``: there is no home; ``frozen``: it stands aside."""
    if not FolderLocation(home).exists():
        raise invalid(f"there is no home at {home}", "name one with --home")


def _nothing_to_settle(because: str, instead: str = "write in it as it is") -> Refused:
    return Refused("nothing_to_adopt", because=because, instead=instead)
