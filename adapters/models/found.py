"""What was found in the texts of a task: to propose, to take back, and what they say so far."""

from typing import Literal

from msgspec import Struct

from adapters.models.reading import Source

Kind = Literal[
    "language",
    "due",
    "estimate",
    "priority",
    "status",
    "label",
    "item",
    "check",
    "follow_up",
    "time",
    "link",
]


class Finding(Struct, frozen=True):
    """Something to propose, with the words it was read from.

    `target` is the id of a label, item or task, `extra` a status's reason or a language's
    confidence. Of a follow-up they are its due date and description, `items` what it takes along;
    of a time its start and end.
    """

    kind: Kind
    value: str
    quote: str = ""
    source: Source = Source("title", "")
    target: str = ""
    extra: str = ""
    items: tuple[str, ...] = ()


class Retraction(Struct, frozen=True):
    """An open proposal to take back, and why."""

    fingerprint: str
    reason: str


class Findings(Struct, frozen=True):
    """All that was found; `freed` is a note that a blocked task is blocked no longer,
    `held_back` counts what was found and not taken up. A task that a text names is `sought`
    until it is looked up, and `unclear` where it is none or might be several."""

    proposals: tuple[Finding, ...] = ()
    freed: Finding | None = None
    held_back: int = 0
    sought: Finding | None = None
    unclear: Finding | None = None
    retracted: tuple[Retraction, ...] = ()


class Values(Struct):
    """What the texts say so far; `blocked` also of what is on hold."""

    due: Finding | None = None
    estimate: Finding | None = None
    priority: Finding | None = None
    blocked: Finding | None = None
    started: Finding | None = None
    freed: Finding | None = None
    void: Finding | None = None
