"""A wake is run again, a moment is stood in, two of them are compared; nothing is written."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import to_builtins

from adapters.documents import timetravel
from adapters.home.clock import rfc_3339
from adapters.home.files import machine_names
from adapters.timetravel import bisect
from adapters.timetravel.bisect import Predicate, first_since, world_after
from adapters.timetravel.logs_at import NamedMoment, Past, past_of
from adapters.usecases.inputs import spelled_out, there
from adapters.usecases.resolve import pick_run, pick_task
from domain.errors import Refused, invalid
from projections.wakes import VIEW, WakeDocument
from replay.rerun import RerunStep, SectionAgain

if TYPE_CHECKING:
    from adapters.wiring import Home


class RunAgain(NamedTuple):
    """A wake on its recorded replies, with today's code; `steps` are made as they are asked for."""

    wake: "WakeDocument"
    sections: Sequence[SectionAgain]
    steps: Iterator[RerunStep]


class Comparison(NamedTuple):
    """Two moments, wakes or homes, and the document of `diff`."""

    a: NamedMoment
    b: NamedMoment
    document: timetravel.WakesDiff | timetravel.WorldsDiff | timetravel.HomesDiff


def run_again(home: "Home", run: str) -> RunAgain:
    """Run a wake again: its prompt, and its steps one after the other. Raises Refused: there is no
    such wake, or nothing happened in it."""
    wake = wake_named(home, run)
    check_begun(wake, "replay")
    past, replica = past_of(home), wake.replica
    sections = timetravel.prompt_again(past, wake.key, replica)
    return RunAgain(wake, sections, timetravel.steps_again(past, wake.key, replica))


def scope_of(place: NamedMoment, task: str, *, is_all: bool) -> Sequence[str] | None:
    """Which tasks are shown: the named one, else the wake's, with their links; None: all."""
    if task:
        return timetravel.around(place, pick_task(place.home, task))
    if place.wake is None or is_all:
        return None
    agent = place.home.services.agent(place.wake.agent_id)
    return timetravel.around(place, place.wake.task_id or agent.task, agent.id)


def compare(home: "Home", a: str, b: str, task: str = "") -> Comparison:
    """Compare two wakes, two moments, or two homes, each WHERE, a home's folder, or DIR::WHERE;
    `task`: only it and what it links to. Raises Refused: they cannot be compared, or are not there.
    """
    with ExitStack() as others:
        one, other = (_found(home, given, others) for given in (a, b))
        return Comparison(one, other, _comparison(one, other, task))


def _found(home: "Home", given: str, others: ExitStack) -> NamedMoment:
    place, is_other = find_moment_anywhere(home, given)
    if is_other:
        others.callback(place.home.close)
    return place


def _comparison(
    a: NamedMoment, b: NamedMoment, task: str
) -> timetravel.WakesDiff | timetravel.WorldsDiff | timetravel.HomesDiff:
    if a.is_home != b.is_home:
        because = "a home can be compared with a home, and a moment with a moment"
        raise invalid(because, "name two of a kind")
    if a.is_home:
        return timetravel.homes_document(a, b)
    runs = [one for one in (a, b) if one.wake is not None and not one.spot.step]
    if len(runs) == 2 and not task:
        for one in runs:
            if one.wake is not None:
                check_begun(one.wake, "compare")
        sides = (timetravel.wake_seen(one.past, one.spot.run_key, one.replica) for one in runs)
        return timetravel.wakes_diff(*sides)
    return timetravel.worlds_document(a, b, scope_of(a, task, is_all=not task))


# ---------------------------------------------------------------------------------------- bisect


class BisectQuestion(NamedTuple):
    """What shall hold of the world after a wake, and as the person asked it."""

    holds: "Predicate"
    asked: timetravel.PredicateDetails


def question_of(**given: Sequence[str]) -> BisectQuestion:
    """The one question that is asked: ``sql``, ``text`` or ``python``, once. Raises Refused: there
    is none, there are more, or it cannot be asked."""
    named = [(kind, one) for kind, said in given.items() for one in said]
    if len(named) != 1:
        because = "one question is needed" if not named else "only one question can be asked"
        raise invalid(because, "give --sql, --text or --python")
    kind, said = named[0]
    makers = {"sql": bisect.sql, "text": bisect.text_in_report, "python": bisect.python}
    return BisectQuestion(makers[kind](said), timetravel.PredicateDetails(kind, said))


def bisect_wakes(
    home: "Home",
    agent_id: str,
    question: BisectQuestion,
    told: Callable[[int, timetravel.BisectProbe], None],
) -> timetravel.BisectDetails:
    """Find the wake of an agent since which something holds. `told`: is told how many wakes there
    are, and of each that was looked at."""
    page = home.views.page(VIEW, shelf=agent_id)
    ended = [one for wake in page for one in wake.every if one.started_at and one.ended_at]
    ended.sort(key=lambda one: (one.ended_at, one.place))
    past, names, probes = past_of(home), timetravel.names_of(home), list[timetravel.BisectProbe]()

    def holds(nth: int) -> bool:
        wake = ended[nth - 1]
        world = world_after(past, wake, names)
        probes.append(timetravel.BisectProbe(nth, wake.run_key, question.holds(to_builtins(world))))
        told(len(ended), probes[-1])
        return probes[-1].holds

    found = first_since(len(ended), holds)
    since, before = (_wake_line(ended, nth) for nth in (found, (found or len(ended) + 1) - 1))
    return timetravel.BisectDetails(agent_id, question.asked, len(ended), since, before, probes)


def _wake_line(ended: "Sequence[WakeDocument]", nth: int) -> timetravel.BisectedWake | None:
    if not nth:
        return None
    wake = ended[nth - 1]
    return timetravel.BisectedWake(nth, wake.run_key, wake.ended_at)


# ------------------------------------------------------------------------------------------ moments

WHERE = (
    "WHERE is RUN (before that wake), RUN.STEP (after that step of it, numbered as `show` does), "
    "a position (journal:r1:42, agent:r1:42, with the name of any machine) or a time (2027-01-31, "
    "2027-01-31 07:00, yesterday, monday 14:00, RFC 3339: what this machine knew then)."
)
_POSITION = re.compile(r"(journal|agent):(?:(.{1,40}):)?([0-9]{1,12})")
_LOCAL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2})(:[0-9]{2})?)?")
_IN_HOME = "::"


def find_moment(home: "Home", given: str) -> NamedMoment:
    """The moment that a word names. Raises Refused, code ``unknown_wake``, ``ambiguous`` or
    ``invalid_value``."""
    past = past_of(home)
    if position := _POSITION.fullmatch(given):
        log, machine, digits = position.groups()
        replica = replica_called(home, log, machine or "")
        return NamedMoment(home, past, past.position(log, int(digits), replica), given)
    zone, now = home.settings.timezone, home.services.clock.now
    told = spelled_out(given, lambda: there(now(), zone), is_back=True)
    if ":" in told or _LOCAL.fullmatch(told):
        return NamedMoment(home, past, past.time(last_instant(told, zone)), given)
    return _moment_of_run(home, past, given)


def replica_called(home: "Home", log: str, machine: str) -> str:
    """Whose position is meant by what a machine is called, or by its name; empty: this one's.
    Raises Refused, code ``invalid_value`` or ``ambiguous``: of a shared log, there is no such
    machine, or there are two."""
    services = home.services
    kept = services.journal if log == "journal" else services.agents
    if not machine or not kept.is_shared:
        return machine
    known, names = kept.heads(), machine_names(home.path, kept.replica)
    found = [machine] * (machine in known) or [one for one in known if names.get(one) == machine]
    if len(found) == 1:
        return found[0]
    if found:
        because = f"{machine!r} is the name of {len(found)} machines"
        raise Refused("ambiguous", because=because, instead=f"name one of {', '.join(found)}")
    called = ", ".join(names.get(one, one) for one in known)
    raise invalid(f"no machine that is called {machine!r} wrote here", f"name one of {called}")


def _moment_of_run(home: "Home", past: "Past", given: str) -> NamedMoment:
    run, dot, digits = given.partition(".")
    if "@" in run and not digits.isdigit():  # the name of a machine may hold points
        before, dot, digits = given.rpartition(".")
        run, dot, digits = (before, dot, digits) if digits.isdigit() else (given, "", "")
    wake = wake_named(home, run)
    if dot and not (digits.isascii() and digits.isdigit() and len(digits) < 12):
        because = f"{given!r} names no step of a wake"
        raise invalid(because, "write RUN.STEP with a number that `wakelog show RUN` prints")
    spot = past.run(wake.key, wake.replica, wake.queued_n, int(digits or 0))
    return NamedMoment(home, past, spot, given, wake)


def wake_named(home: "Home", run: str) -> "WakeDocument":
    """The wake of a run key or the beginning of one."""
    from adapters.documents.wakes import wake_of

    wake = wake_of(home, pick_run(home, run))
    assert wake is not None, run
    return wake


def check_begun(wake: "WakeDocument", deed: str) -> None:
    """Refuse a wake in which nothing happened. Raises Refused, code ``unknown_wake``."""
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

    from domain.log.timestamps import moment

    local = _LOCAL.fullmatch(given)
    try:
        if local is None:
            return rfc_3339(given)
        day, minute, second = local.groups()
        text = f"{day}T{minute or '23:59'}{second or ':59'}.999999"
        own = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
        return max(moment(own.replace(fold=fold)) for fold in (0, 1))
    except (Refused, ValueError, OverflowError):
        instead = "write RUN, RUN.STEP, journal:r1:42, or a time as 2027-01-31T07:00:00Z"
        raise invalid(f"{given!r} is no moment", instead) from None


def find_moment_anywhere(home: "Home", given: str) -> tuple[NamedMoment, bool]:
    """As `find_moment`, and also a home's folder, or ``DIR::WHERE`` for a moment of another home;
    and whether another home was opened for it, which is then to be closed."""
    folder, sep, rest = given.rpartition(_IN_HOME)
    if sep:
        return find_moment(_opened_home(Path(folder)), rest)._replace(is_own=False), True
    path = Path(given).expanduser()
    if "/" in given or given in (".", "..") or path.is_dir():
        other = _opened_home(path)
        past = past_of(other)
        return NamedMoment(other, past, past.now(), given, is_home=True), True
    return find_moment(home, given), False


def _opened_home(path: Path) -> "Home":
    from adapters.home import files
    from adapters.wiring import open_home

    if not path.is_dir() or not files.exists(path):
        because = f"there is no home in {path}"
        raise Refused("not_a_log", because=because, instead="name a folder with both logs")
    home = open_home(path.absolute(), os.environ)
    home.views.catch_up()
    return home
