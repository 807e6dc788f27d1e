"""WHERE, as the commands that look back read it: RUN, RUN.STEP, a position, a time, a home."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.actions.days import spelled_out
from adapters.actions.inputs import there
from adapters.home.clock import rfc_3339
from adapters.home.machines import machine_names
from adapters.timetravel.place import Place, past_of
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.timetravel.logs_at import Past
    from adapters.wiring import Home
    from projections.wakes import WakeDocument

WHERE = (
    "WHERE is RUN (before that wake), RUN.STEP (after that step of it, numbered as `show` does), "
    "a position (journal:r1:42, agent:r1:42, with the name of any machine) or a time (2027-01-31, "
    "2027-01-31 07:00, yesterday, monday 14:00, RFC 3339: what this machine knew then)."
)
_POSITION = re.compile(r"(journal|agent):(?:(.{1,40}):)?([0-9]{1,12})")
_LOCAL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2})(:[0-9]{2})?)?")
_IN_HOME = "::"


def find(home: "Home", given: str) -> Place:
    """The moment that a word names.

    Raises:
        Refused: Code ``unknown_wake``, ``ambiguous`` or ``invalid_value``.
    """
    past = past_of(home)
    if position := _POSITION.fullmatch(given):
        log, machine, digits = position.groups()
        replica = replica_called(home, log, machine or "")
        return Place(home, past, past.position(log, int(digits), replica), given)
    zone, now = home.settings.timezone, home.services.clock.now
    told = spelled_out(given, lambda: there(now(), zone), is_back=True)
    if ":" in told or _LOCAL.fullmatch(told):
        return Place(home, past, past.time(last_instant(told, zone)), given)
    return _run(home, past, given)


def replica_called(home: "Home", log: str, machine: str) -> str:
    """Whose position is meant by what a machine is called, or by its name; empty: this one's.

    Raises:
        Refused: Code ``invalid_value`` or ``ambiguous``: of a shared log, there is no such machine,
            or there are two.
    """
    services = home.services
    kept = services.journal if log == "journal" else services.agents
    if not machine or not kept.is_shared:
        return machine
    known, names = kept.heads(), machine_names(home.path, kept.replica)
    found = [one for one in known if one == machine]
    found = found or [one for one in known if names.get(one) == machine]
    if len(found) == 1:
        return found[0]
    if found:
        because = f"{machine!r} is the name of {len(found)} machines"
        raise Refused("ambiguous", because=because, instead=f"name one of {', '.join(found)}")
    called = ", ".join(names.get(one, one) for one in known)
    because = f"no machine that is called {machine!r} wrote here"
    raise Refused("invalid_value", because=because, instead=f"name one of {called}")


def _run(home: "Home", past: "Past", given: str) -> Place:
    run, dot, digits = given.partition(".")
    if "@" in run and not digits.isdigit():  # the name of a machine may hold points
        before, dot, digits = given.rpartition(".")
        run, dot, digits = (before, dot, digits) if digits.isdigit() else (given, "", "")
    wake = wake_named(home, run)
    if dot and not (digits.isascii() and digits.isdigit() and len(digits) < 12):
        because = f"{given!r} names no step of a wake"
        instead = "write RUN.STEP with a number that `wakelog show RUN` prints"
        raise Refused("invalid_value", because=because, instead=instead)
    spot = past.run(wake.key, wake.replica, wake.queued_n, int(digits or 0))
    return Place(home, past, spot, given, wake)


def wake_named(home: "Home", run: str) -> "WakeDocument":
    """The wake of a run key or the beginning of one."""
    from adapters.actions.naming import pick_run
    from adapters.documents.wakes import wake_of

    wake = wake_of(home, pick_run(home, run))
    assert wake is not None, run
    return wake


def check_begun(wake: "WakeDocument", deed: str) -> None:
    """Refuse a wake in which nothing happened.

    Raises:
        Refused: Code ``unknown_wake``.
    """
    if wake.started_at:
        return
    if not wake.ended_at:
        because = f"the wake {wake.run_key[:8]} has not begun, so there is nothing to {deed}"
        raise Refused("unknown_wake", because=because, instead="run it with `wakelog wake`")
    because = f"the wake {wake.run_key[:8]} was {wake.outcome} before it began"
    instead = "name one that ran, see `wakelog wakes`"
    if wake.superseded_by:
        instead = f"name {wake.superseded_by[:8]}, which took its triggers over"
    raise Refused("unknown_wake", because=f"{because}: nothing to {deed}", instead=instead)


def last_instant(given: str, zone: str) -> str:
    """A time that a person looks back to, as it is stored: all that a clock showed until its end.

    What is left out of it stands for its end: a day for all of it, a minute for all of it; without
    an offset it is the person's own time, and the second time of those that come twice. Who enters
    a time means the first one, see `inputs.first_instant`.

    >>> last_instant("2027-01-31", "Europe/Berlin"), last_instant("2027-01-31 07:00", "UTC")
    ('2027-01-31T22:59:59.999999Z', '2027-01-31T07:00:59.999999Z')
    >>> berlin = "Europe/Berlin"
    >>> last_instant("2026-10-25 02:30", berlin), last_instant("2026-03-29 02:30", berlin)
    ('2026-10-25T01:30:59.999999Z', '2026-03-29T01:30:59.999999Z')
    """
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from domain.timestamps import moment

    local = _LOCAL.fullmatch(given)
    try:
        if local is None:
            return rfc_3339(given)
        day, minute, second = local.groups()
        text = f"{day}T{minute or '23:59'}{second or ':59'}.999999"
        own = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
        return max(moment(own.replace(fold=fold)) for fold in (0, 1))
    except (Refused, ValueError, OverflowError):
        raise Refused(
            "invalid_value",
            because=f"{given!r} is no moment",
            instead="write RUN, RUN.STEP, journal:r1:42, or a time as 2027-01-31T07:00:00Z",
        ) from None


def find_anywhere(home: "Home", given: str) -> tuple[Place, bool]:
    """As `find`, and also a home's folder, or ``DIR::WHERE`` for a moment of another home.

    Returns:
        The place, and whether another home was opened for it, which is then to be closed.
    """
    folder, sep, rest = given.rpartition(_IN_HOME)
    if sep:
        return find(_opened(Path(folder)), rest)._replace(is_own=False), True
    path = Path(given).expanduser()
    if "/" in given or given in (".", "..") or path.is_dir():
        other = _opened(path)
        past = past_of(other)
        return Place(other, past, past.now(), given, is_home=True), True
    return find(home, given), False


def _opened(path: Path) -> "Home":
    from adapters.home import files
    from adapters.wiring import open_home

    if not path.is_dir() or not files.exists(path):
        because = f"there is no home in {path}"
        raise Refused("not_a_log", because=because, instead="name a folder with both logs")
    home = open_home(path.absolute(), os.environ)
    home.views.catch_up()
    return home
