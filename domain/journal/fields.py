"""The plain fields of a task: one record each, from which all that know a field are derived.

A plain field is one value that one fact replaces. A record says how it is stored, asked for,
shown, imported and searched; `tests/unit/test_task_fields.py` lists every place that must know
it. Title, description, status, category and labels have rules of their own and stand for
themselves (ADR 29).
"""

from typing import Any, Literal

from msgspec import Struct

from domain.errors import Refused
from domain.journal import task as t
from domain.moments import is_date
from domain.text import is_language, squeeze

MINUTES_MAX = 1440

Kind = Literal["choice", "minutes", "day", "language"]
"""What the values of a field are: how they are checked, typed, and kept in tables."""


class TaskField(Struct, frozen=True):
    """A plain field.

    Attributes:
        name: In `Task`, `CreateTask`, `EditTask`, `ImportedTask`, in forms and as an option.
        fact: What says that it changed, with `by` and the value.
        value: The fact's field that holds it.
        kind: What its values are.
        key: In JSON documents, and in the tables of `wakelog bisect`.
        column: In the table `tasks` of the analytics.
        label: Above its input on the page.
        metavar: What its option's help calls the value.
        help: What its option takes.
        example: Stands in its empty input.
        choices: All values of a ``choice``, as they are stored.
        can_be_empty: Whether there may be none: an empty text or 0.
        is_imported: Whether a file may say it.
        pair: The word before the colon by which a line of todo.txt says it.
    """

    name: str
    fact: type[Any]
    value: str
    kind: Kind
    key: str
    column: str
    label: str
    metavar: str
    help: str
    example: str = ""
    choices: tuple[str, ...] = ()
    can_be_empty: bool = True
    is_imported: bool = True
    pair: str = ""

    @property
    def empty(self) -> Any:
        """The value that says that there is none."""
        return 0 if self.kind == "minutes" else ""


PRIORITY = TaskField(
    name="priority",
    fact=t.PrioritySet,
    value="priority",
    kind="choice",
    key="priority",
    column="priority",
    label="Priority",
    metavar="P",
    help="P0 to P3.",
    choices=t.PRIORITIES,
    can_be_empty=False,
)
ESTIMATE = TaskField(
    name="estimate",
    fact=t.EstimateSet,
    value="minutes",
    kind="minutes",
    key="estimate_minutes",
    column="estimate_minutes",
    label="Estimate, minutes",
    metavar="E",
    help="90, 90m, 2h, 1h30m or none.",
    example="90, 2h, 1h30m",
)
DUE = TaskField(
    name="due",
    fact=t.DueSet,
    value="due",
    kind="day",
    key="due_date",
    column="due",
    label="Due",
    metavar="DAY",
    help="YYYY-MM-DD, today, tomorrow or none.",
    pair="due",
)
LANGUAGE = TaskField(
    name="language",
    fact=t.LanguageSet,
    value="language",
    kind="language",
    key="language",
    column="language",
    label="Language",
    metavar="L",
    help="Like en or de, or none.",
    example="en",
    is_imported=False,
)
FIELDS = (PRIORITY, ESTIMATE, DUE, LANGUAGE)
"""In the order in which their facts are written, and people see them in help and forms."""

BY_FACT = {field.fact: field for field in FIELDS}


def checked(field: TaskField, value: Any) -> Any:
    """A value as it is stored.

    Raises:
        Refused: Code ``invalid_value``.

    >>> checked(PRIORITY, "p1"), checked(ESTIMATE, 90), checked(LANGUAGE, "EN")
    ('P1', 90, 'en')
    """
    if field.can_be_empty and value == field.empty:
        return value
    match field.kind:
        case "choice":
            told = squeeze(value).upper()
            found = next((one for one in field.choices if one.upper() == told), None)
            if found is None:
                because = f"{value!r} is no {field.name}"
                raise invalid(because, f"use one of {', '.join(field.choices)}")
            return found
        case "minutes":
            if not 0 < value <= MINUTES_MAX:
                because = f"an {field.name} of {value} minutes is out of range"
                raise invalid(because, f"use 1 to {MINUTES_MAX} minutes, or 0 for none")
            return value
        case "day":
            if not is_date(value):
                raise invalid(f"{value!r} is no date", "use a real date as YYYY-MM-DD")
            return value
        case _:
            code = squeeze(value).lower()
            if code and not is_language(code):
                raise invalid(f"{code!r} is no language code", "use two letters, `en` for example")
            return code


def invalid(because: str, instead: str) -> Refused:
    """A person's value that no field takes."""
    return Refused("invalid_value", because=because, instead=instead)
