"""What may be read across each boundary, and which texts may enter whose prompt: one table and one
rule, and they fail closed (ADR 37).

Whoever reads for somebody else hands what was read to `project`, which refuses a field that the
table does not open. It is never dropped in silence: a prompt that would say too much is not made.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from domain.agent.agent import Agent
from domain.errors import Refused

T = TypeVar("T", bound=Struct)
Boundary = Literal[
    "own_task",
    "linked_task",
    "category_task",
    "own_past",
    "notice",
    "day_task",
    "week_task",
    "feedback",
]
Table = Mapping[Boundary, frozenset[str]]


def _names(told: str) -> frozenset[str]:
    return frozenset(told.split())


_1: Final[Table] = {
    "own_task": _names(
        "id title description status status_reason priority estimate due language language_by "
        "category labels items log log_unread minutes_spent created_at"
    ),
    "linked_task": _names("relation id title status priority one_liner is_deleted"),
    "notice": _names("n replica origin hop tokens propagated change touched of of_n"),
}
_2: Final[Table] = {
    **_1,
    "own_task": _1["own_task"] | _names("origins time time_unread rating comment"),
    "linked_task": _1["linked_task"] | _names("direction due labels tldr"),
    "category_task": _names(
        "id title status category due priority labels items items_left_out tldr"
    ),
    "own_past": _names("at what text"),
}
_4: Final[Table] = {
    **_2,
    "day_task": _names(
        "id title status priority due estimate spent planned items category one_liner pinned"
    ),
}

_5: Final[Table] = {
    **_4,
    "week_task": _names(
        "id title status priority due estimate spent planned rating items untouched one_liner date"
    ),
}

_7: Final[Table] = {**_5, "feedback": _names("what tool version text stars")}

ALLOWED: Final[Mapping[int, Table]] = {1: _1, 2: _2, 3: _2, 4: _4, 5: _5, 6: _5, 7: _7}
"""The fields that may be filled, by scaffold: ``own_task`` in a prompt of the task's agent,
``linked_task`` in one of an agent whose task it is linked with, ``category_task`` in what an agent
is told that looks it up, ``own_past`` in what it recalls of itself and its task, ``notice`` in
what the agents' log is told of an append of the journal, ``day_task`` in what an agent is told that
plans a day, ``week_task`` in what one is told that looks over a category, ``feedback`` in what
one is told that improves a template."""


def project(boundary: Boundary, seen: T, scaffold: int = 1) -> T:
    """What was read, where all of it may cross the boundary. A notice is of no wake's scaffold.
    Raises Refused, code ``overshared_payload_blocked``: it holds a field that the table does not
    open. The message names the field, and nothing of what is in it."""
    allowed = ALLOWED[scaffold][boundary]
    for name, default in _defaults(type(seen)):
        if name not in allowed and getattr(seen, name) != default:
            because = f"{name} may not cross the boundary {boundary}"
            instead = "report it: this is a fault of wakelog"
            raise Refused("overshared_payload_blocked", because=because, instead=instead)
    return seen


@cache
def _defaults(made: type[Struct]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (one.name, one.default if one.default_factory is NODEFAULT else one.default_factory())
        for one in fields(made)
    )


# ------------------------------------------------------------------- whose texts may enter a prompt


def may_enter(written_under: Iterable[str], reader: Agent) -> bool:
    """Whether a text may enter a prompt of an agent as it is now. `written_under`: every category
    that whoever wrote the text may have read: of an agent's text all it was ever allowed, of a
    person's text its task's category. A text without a category is nobody's."""
    categories = set(written_under)
    return bool(categories) and "" not in categories and categories <= set(reader.categories)
