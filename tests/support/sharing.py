"""Journals that replicas share, in memory, as a test looks at them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from adapters.proof.prove import prove_logs
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.remote_appends import RemoteAppend
from domain.append.envelope import Envelope, Fact, Row
from domain.journal.commands import AddLabel, AddNote, CreateTask
from domain.journal.task import TASK, Task
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


class TwoLogs:
    """Journals of a desk and a laptop with one task that has a note, without a folder."""

    def __init__(self) -> None:
        self.desk, self.laptop = Machine("desk"), Machine("laptop")
        self.task = self.says(self.desk, CreateTask("Trip"))[0]
        self.note = self.says(self.desk, AddNote(self.task, "note", Words("By train.")))[-1]
        for one in self.desk, self.laptop:
            one.share(START)
        self.meet()

    def says(self, log: Log, command: Any, key: str = "") -> Sequence[str]:
        return log.append(command, START, key=key).result.ids

    def meet(self) -> None:
        """Let both know what the other wrote."""
        for _ in range(2):
            for one, other in (self.desk, self.laptop), (self.laptop, self.desk):
                head = other.heads().get(one.replica)
                rows = one.appends_of(one.replica, head.n if head else 0)
                other.bring([RemoteAppend(tuple(each), ()) for each in rows], START)

    def state(self) -> Task:
        """The task; it is the same on both, and both prove."""
        states = []
        for one in self.desk, self.laptop:
            with one.reading() as world:
                states.append(world.load(TASK, self.task))
            assert not prove_logs(one, Log.in_memory("agent", one.replica)).divergences
        assert states[0] == states[1]
        return states[0]
