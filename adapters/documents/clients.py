"""The JSON documents of what clients read and propose: the answers of `wakelog mcp serve`.

What is not there is null. The keys stand in the order of the fields."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from adapters.documents.inbox import InboxItem, InboxSet
from domain.journal.document import TaskLine
from domain.ports import ToolSpec


class ClientTask(TaskLine, frozen=True):
    """A task in a list. `has_agent`: it can be read and proposed to."""

    has_agent: bool


class ClientTasks(Struct, frozen=True):
    """The tasks that were asked for, in order; `left`: so many more there are. `hint`: the command
    by which the person agrees, null where that was done."""

    tasks: Sequence[ClientTask]
    left: int
    hint: str | None


class ClientSets(Struct, frozen=True):
    """What waits for the person's decision, of tasks that the client may read; `left` and `hint` as
    of tasks."""

    sets: Sequence[InboxSet]
    left: int
    hint: str | None


class ReadSection(Struct, frozen=True):
    """A part of what an agent would be shown, by its stable name."""

    name: str
    text: str


class ReadTask(Struct, frozen=True):
    """A task as its agent would be shown it. `seen` names these very sections, for `propose`;
    `tools` propose, each with the JSON Schema of its arguments."""

    id: str
    seen: str
    sections: Sequence[ReadSection]
    tools: Sequence[ToolSpec]


class WantedChange(Struct, frozen=True, forbid_unknown_fields=True):
    """A call of one of the tools of `read_task`."""

    tool: str
    arguments: dict[str, Any]


class RefusedChange(Struct, frozen=True):
    """A change that is not proposed: `because` says why, `code` in one word."""

    tool: str
    code: str
    because: str


class Proposed(Struct, frozen=True):
    """What became of a proposal. `run` names it, as a wake; the `items` wait for the person's
    decision; `skipped`: parts of changes that need not be."""

    run: str
    items: Sequence[InboxItem]
    refused: Sequence[RefusedChange]
    skipped: Sequence[str]
