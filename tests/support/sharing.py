"""Journals that replicas share, in memory, as a test looks at them."""

from collections.abc import Sequence

import msgspec

from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from domain.append.envelope import Envelope, Fact, Row
from domain.journal.commands import AddLabel, AddNote, CreateTask
from domain.log.wire import Payload, Words, tag_of
from tests.support.services import START


def rows_of(
    replica: str, n: int, prev: str, facts: Sequence[tuple[str, int, Fact]]
) -> tuple[Row, ...]:
    """An append of facts, each with its stream's kind and entity and its version."""
    rows: list[Row] = []
    for nth, (stream, version, fact) in enumerate(facts):
        if nth:
            state = Envelope(n=n, row=nth, data=fact)
        else:
            state = Envelope(at=START, n=n, rows=len(facts), prev=prev, data=fact)
        rows.append(Row(f"{stream}@{replica}", version, tag_of(fact), msgspec.json.encode(state)))
    return tuple(rows)


class Machine(Log):
    """A journal in memory that adds labels, and notes with payloads."""

    def __init__(self, replica: str) -> None:
        super().__init__("journal", MemoryLogRecorder(), replica)

    def add(self, name: str, *payloads: Payload) -> None:
        """Append a label, and a note of a new task for each payload."""
        self.append(AddLabel(name), START)
        for one in payloads:
            task = self.append(CreateTask(name), START).result.ids[0]
            words = Words(payload=one.id)
            self.append(AddNote(task, "note", words), START, payloads=[one])

    @property
    def chains(self) -> dict[str, list[Sequence[Row]]]:
        """All appends, by replica."""
        return {one: list(self.appends_of(one, 0)) for one in self.heads()}
