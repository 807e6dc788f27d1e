"""Files of cases for `wakelog eval`: a task, what was written of it, and what a careful person
would want proposed. `evals/README.md` tells the format."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct, field

from adapters.home.read_input import read_input
from adapters.home.schedules import first_shown
from adapters.home.zones import checked_zone
from domain.errors import Refused, invalid
from domain.journal.task import PRIORITIES, STATUSES
from domain.judging import KINDS, Wish, title_key
from domain.log import canonical
from domain.log.timestamps import is_date
from domain.text import squeeze

FILE_BYTES_MAX = 64_000_000
CASES_MAX = 100_000
_LOCAL = r"^(19[7-9]|20[0-9])[0-9]-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$"

Local = Annotated[str, Meta(pattern=_LOCAL)]
"""A time as clocks of the case's zone show it, ``2026-11-21T09:00``."""
Named = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=200_000)]
Value = str | int


class Form(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Base of what a case is made of."""


class CaseField(Form, frozen=True):
    """A field that was set after the task was made."""

    value: Value = field(name="is")
    at: Local


class CaseItem(Form, frozen=True):
    title: Named
    checked: bool = False


class CaseTask(Form, frozen=True):
    """A task; `at`: when it was made, else with the first thing that is told of it."""

    title: Named
    description: Text = ""
    status: str | CaseField = ""
    priority: str | CaseField = ""
    due: str | CaseField = ""
    estimate: int | CaseField = 0
    labels: tuple[Named, ...] = ()
    items: tuple[CaseItem, ...] = ()
    at: Local | Literal[""] = ""


class CaseNote(Form, frozen=True):
    at: Local
    text: Text
    by: Literal["person", "import"] = "person"


class CaseCall(Form, frozen=True):
    tool: Named
    arguments: dict[str, Any]


class CaseReport(Form, frozen=True):
    """What an earlier wake reported, and proposed."""

    at: Local
    content: Text
    tldr: Text
    one_liner: Text
    proposed: tuple[CaseCall, ...] = ()


class CaseWish(Form, frozen=True):
    """See `domain.judging.Wish`."""

    kind: str
    values: tuple[Value, ...] = field(name="is", default=())

    @property
    def wish(self) -> Wish:
        return Wish(self.kind, tuple(map(str, self.values)))


class Case(Form, frozen=True, dict=True):
    """A line of a file. `kept`: nobody who tunes has seen it; `shown`: false where it counts with
    the open ones and is not looked at, too. `others`: further tasks, and `labels` that there are
    besides the task's."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$")]
    now: Local
    timezone: str
    task: CaseTask
    wanted: tuple[CaseWish, ...]
    allowed: tuple[CaseWish, ...] = ()
    classes: Annotated[str, Meta(max_length=200)] = field(name="class", default="")
    language: Annotated[str, Meta(pattern="^([a-z]{2})?$")] = ""
    kept: bool = False
    shown: bool = True
    notes: tuple[CaseNote, ...] = ()
    first: CaseReport | None = None
    words: Text = ""
    others: tuple[CaseTask, ...] = ()
    labels: tuple[Named, ...] = ()

    @property
    def wishes(self) -> list[Wish]:
        return [one.wish for one in self.wanted]

    @property
    def allowances(self) -> list[Wish]:
        return [one.wish for one in self.allowed]

    @cached_property
    def digest(self) -> str:
        """The same for the same case, wherever it stands."""
        return sha256(canonical.encode(self)).hexdigest()[:16]

    def instant(self, local: str) -> str:
        """A local time of it, as stored. Raises Refused."""
        try:
            datetime.fromisoformat(local)
        except ValueError:
            raise invalid(f"{local!r} is no time", "write it like 2026-11-21T09:00") from None
        return first_shown(local, self.timezone)


class PlacedCase(NamedTuple):
    """A case and where it stands: ``FILE:LINE``."""

    case: Case
    place: str

    def refused(self, because: str) -> Refused:
        return _refused(self.place, because)


def read_cases(files: Sequence[str]) -> list[PlacedCase]:
    """The cases of files, in their order.

    Raises:
        Refused: Code ``unreadable_file``; ``invalid_input``: a line is no case, or two have one id,
            or there is none.
    """
    found = dict[str, PlacedCase]()
    for file in files:
        for nth, line in enumerate(read_input(file, FILE_BYTES_MAX).split(b"\n"), start=1):
            if not line.strip():
                continue
            place = f"{file}:{nth}"
            case = _read(line, place)
            if known := found.get(case.id):
                raise _refused(place, f"the id {case.id} stands at {known.place}, too")
            if len(found) >= CASES_MAX:
                raise _refused(place, f"there are more than {CASES_MAX:,} cases")
            found[case.id] = PlacedCase(case, place)
    if not found:
        raise invalid("the files hold no case", "see evals/README.md for what one is")
    return list(found.values())


def _read(line: bytes, place: str) -> Case:
    try:
        line.decode()
        case = msgspec.convert(canonical.read(line), Case)
        checked_zone(case.timezone)
        _check(case)
    except UnicodeDecodeError:
        raise _refused(place, "it is not UTF-8") from None
    except Refused as refused:
        raise _refused(place, refused.because) from None
    except msgspec.ValidationError as error:
        raise _refused(place, str(error)) from None
    return case


def _check(case: Case) -> None:
    """Look for what no home could be made of, or no answer be right. Raises Refused."""
    now = case.instant(case.now)
    fields = [case.task.status, case.task.priority, case.task.due, case.task.estimate]
    set_at = [one.at for one in fields if isinstance(one, CaseField)]
    times = [*set_at, *(one.at for one in case.notes), *([case.first.at] if case.first else [])]
    made = [one.at for one in (case.task, *case.others) if one.at]
    if late := [one for one in (*times, *made) if case.instant(one) > now]:
        raise _wrong(f"{late[0]} is after its now, {case.now}")
    if case.task.at and any(case.instant(one) < case.instant(case.task.at) for one in times):
        raise _wrong(f"something is told from before the task was made, {case.task.at}")
    if case.notes != tuple(sorted(case.notes, key=lambda one: case.instant(one.at))):
        raise _wrong("its notes are not in the order of their times")
    if empty := [one for one in case.notes if not squeeze(one.text)]:
        raise _wrong(f"the note of {empty[0].at} is empty")
    wishes = *case.wanted, *case.allowed
    if unknown := [one.kind for one in wishes if one.kind not in KINDS]:
        raise _wrong(f"{unknown[0]!r} is no kind: use {', '.join(KINDS)}")
    if any(not one.values for one in case.wanted):
        raise _wrong('what is wanted has no value: give "is"')
    items = {title_key(item.title) for item in case.task.items}
    for nth, one in enumerate(wishes):
        _check_wish(one.wish, items, is_wanted=nth < len(case.wanted))


def _check_wish(wish: Wish, items: Collection[frozenset[str]], *, is_wanted: bool) -> None:
    """Look whether each value could be right. Raises Refused."""
    possible: dict[str, Callable[[str], bool]] = {
        "due": is_date,
        "estimate": str.isdigit,
        "priority": lambda value: value in PRIORITIES,
        "status": lambda value: value in STATUSES,
        **dict.fromkeys(("tick", "untick", "archive"), lambda value: title_key(value) in items),
        "add": lambda value: not is_wanted or title_key(value) not in items,
        "retract": lambda value: value in KINDS,
    }
    for value in wish.values:
        if not squeeze(value) or not possible.get(wish.kind, bool)(value):
            raise _wrong(f"{wish.kind} cannot be {value!r}")


def _wrong(because: str) -> Refused:
    return Refused("invalid_input", because=because, instead="")


def _refused(place: str, because: str) -> Refused:
    because = f"{place}: this is no case: {because.rstrip('.')}"
    instead = "correct the line, see evals/README.md"
    return Refused("invalid_input", because=because, instead=instead)
