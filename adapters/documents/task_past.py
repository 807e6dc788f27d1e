"""The JSON documents of where a task comes from: why a field is as it is, and its history."""

from typing import Literal

from msgspec import Struct


class WhyLead(Struct, frozen=True):
    """Where a step leads: an ``entry`` of a task's history (``42.1``), a ``proposal`` of the wake
    `run_key` by what a person calls it, a ``wake``, or a ``note`` by its time."""

    kind: Literal["entry", "proposal", "wake", "note"]
    id: str
    task_id: str
    run_key: str | None = None


class WhyStep(Struct, frozen=True):
    """A step of how a value came to be, the newest first: it was ``set``, ``confirmed``, taken
    from a ``file``, ``undone``, set ``at_once`` by an agent, or never (``unset``); ``written`` into
    a file; then what was ``proposed``, on which ``words``, by which ``wake``, and what it was
    ``woken`` by. `words`: those that somebody wrote."""

    kind: str
    said: str
    at: str | None = None
    words: str | None = None
    lead: WhyLead | None = None


class FieldWhy(Struct, frozen=True):
    """What `why TASK FIELD` prints: a field, its value in words, and how it came to be."""

    task_id: str
    field: str
    label: str
    value: str
    steps: list[WhyStep]


class HistoryEntry(Struct, frozen=True):
    """A fact of a task. `entry` names it, ``42.1``; `kind` is one of ``fields``, ``checklist``,
    ``notes``, ``time``, ``links``, ``file``; `who` ``you``, ``agent`` or ``file``. `words`: those
    of a note or description. `proposal` is what a person calls the proposal that it carried out,
    of the wake `run_key`. `undo`: the deed that `wakelog undo` takes back, once where it did
    several things."""

    entry: str
    at: str
    kind: str
    who: str
    said: str
    words: str | None
    proposal: str | None
    run_key: str | None
    undo: str | None


class TaskHistory(Struct, frozen=True):
    """The page `/tasks/ID/history`; `next` is the entry that the next page begins with."""

    task_id: str
    title: str
    entries: list[HistoryEntry]
    next: str | None
    looked_through: int
