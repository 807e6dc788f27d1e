"""The plain fields of a task: one record each, from which what knows a field is derived (ADR 29).

A plain field is one value that one fact replaces. Title, description, status with its reason,
category and labels have rules of their own. `tests/unit/test_task_fields.py` lists every place
that must know a field.
"""

from typing import Any, Literal, TypeVar

from msgspec import Struct

from domain.errors import invalid
from domain.journal import task as t
from domain.text import is_language, squeeze
from domain.timestamps import is_date

MINUTES_MAX = 1440
S = TypeVar("S", bound=str)


class TaskField(Struct, frozen=True):
    """A plain field. `name` is its name in `Task`, commands, an import's document and forms, and
    of its option; `kind` says how its values are checked, typed and kept in tables."""

    name: str
    fact: type[Any]  # says who changed it, and to what
    value: str  # the fact's field that holds the value
    kind: Literal["choice", "minutes", "day", "language"]
    key: str  # in JSON documents, and in the tables of a bisection
    column: str  # in the analytics' table `tasks`
    label: str  # of its input on the page
    metavar: str
    help: str  # of its option
    example: str = ""  # in its input while that is empty
    choices: tuple[str, ...] = ()  # as they are stored
    can_be_empty: bool = True  # an empty text or 0: there is none
    is_imported: bool = True  # files may say it
    pair: str = ""  # before the colon in a line of todo.txt

    @property
    def empty(self) -> Any:
        """The value that says that there is none."""
        return 0 if self.kind == "minutes" else ""


FIELDS = (
    TaskField(
        "priority", t.PrioritySet, "priority", "choice", key="priority", column="priority",
        label="Priority", metavar="P", help="P0 to P3.", choices=t.PRIORITIES, can_be_empty=False,
    ),
    TaskField(
        "estimate", t.EstimateSet, "minutes", "minutes", key="estimate_minutes",
        column="estimate_minutes", label="Estimate, minutes", metavar="E",
        help="90, 90m, 2h, 1h30 or none.", example="90, 2h, 1h30",
    ),
    TaskField(
        "due", t.DueSet, "due", "day", key="due_date", column="due", label="Due", metavar="DAY",
        help="YYYY-MM-DD, 31.1.2027, tomorrow, monday, +3d or none.", pair="due",
    ),
    TaskField(
        "language", t.LanguageSet, "language", "language", key="language", column="language",
        label="Language", metavar="L", help="Like en or de, or none.", example="en",
        is_imported=False,
    ),
)  # fmt: skip
"""In the order in which their facts are written and people are asked for them."""

ADDED = len(FIELDS) - 4
"""By how much a field more raises the versions of the view of tasks and of the analytics."""


def checked(field: TaskField, value: Any) -> Any:
    """A value as it is stored, or Refused."""
    if field.can_be_empty and value == field.empty:
        return value
    match field.kind:
        case "choice":
            return chosen(field.name, field.choices, value)
        case "minutes" if not 0 < value <= MINUTES_MAX:
            because = f"an {field.name} of {value} minutes is out of range"
            raise invalid(because, f"use 1 to {MINUTES_MAX} minutes, or 0 for none")
        case "day" if not is_date(value):
            raise invalid(f"{value!r} is no date", "use a real date as YYYY-MM-DD")
        case "language":
            value = squeeze(value).lower()
            if value and not is_language(value):
                because = f"{value!r} is no language code"
                raise invalid(because, "use two letters, `en` for example")
    return value


def chosen(name: str, choices: tuple[S, ...], value: str) -> S:
    """The one of the choices that a value names in any case, or Refused."""
    told = squeeze(value).upper()
    found = next((one for one in choices if one.upper() == told), None)
    if found is None:
        raise invalid(f"{value!r} is no {name}", f"use one of {', '.join(choices)}")
    return found
