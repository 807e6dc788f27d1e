"""The JSON documents of commands that do something: what came of it."""

from typing import Literal

from msgspec import Struct


class Deleted(Struct, frozen=True):
    """What was taken out of use, by its id."""

    id: str
    deleted: Literal[True] = True
