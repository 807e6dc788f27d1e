"""What a fact can mean where several replicas wrote without knowing of each other: the words of
the tables that `domain.merging` reads (ADR 71, 73)."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from domain.wire import Stored

PERSON = "person"
PERSONS = 2  # the rank of what a person says
TASK_ITSELF = "deleted"
"""The thing that every fact of a stream is about; and the field its removal is shown as."""

Field = tuple[str, object]
"""The name of a field, and the value that a fact gives it."""

Weight = tuple[Any, ...]
"""What is compared of facts that set one field: the greater stands. Of one form in a field."""


class Meaning(Struct, frozen=True):
    """What a fact does to its entity.

    `adds` and `removes` name a thing; `is_ranked`: whether a person's value beats an agent's (it
    cannot where the fact's twin in another stream does not say who did it); `is_shown`: whether
    values that differ are for a person to settle.

    `weight`: what decides in place of who said it; such a fact is beaten by one that is left out,
    too. `is_heard`: the fold has use for a fact that lost, and gets it as said before the one that
    it lost to. `ends`: of which facts it keeps those from counting that do not know of it.
    `renews`: a removal before it, by who said both, does not count where this one is beaten.
    """

    sets: tuple[Field, ...] = ()
    adds: str = ""
    removes: str = ""
    is_ranked: bool = True
    is_shown: bool = True
    weight: Weight | None = None
    is_heard: bool = False
    ends: Callable[[Stored], bool] | None = None
    renews: bool = False


Meant = Callable[[Any], Meaning]
NOTHING = Meaning()
"""A fact that counts whatever others say."""


def author(fact: Stored) -> str:
    """Who did it. Only persons and files change what does not say so, a catalog for example."""
    return getattr(fact, "by", "") or PERSON


def rank(fact: Stored) -> int:
    """Whose word it is: a person's 2, a file's 1, an agent's 0."""
    by = author(fact)
    if by == PERSON:
        return PERSONS
    return 1 if by.startswith("import:") else 0
