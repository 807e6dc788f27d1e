"""Which payloads a fact names, and whether their bytes are what their ids say (DESIGN 2, law 6).

A payload's id is made of its unit, a task or ``shared``, and its bytes, so an altered byte is
found without an anchor. Which unit it is follows from the append that names it first."""

from collections import OrderedDict
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from msgspec import Struct

from domain.agent.agent import AgentCreated
from domain.append.causes import Receipt
from domain.append.texts import payloads_named
from domain.changes.change_set import set_id
from domain.journal.commands import ImportTasks
from domain.log.keys import payload_id
from domain.log.state import RecordedEvent
from domain.log.wire import SHARED, PayloadId, Words
from domain.wake.wake import WakeStarted
from replay.streams import LIMITS, WalkLimits

V = TypeVar("V")


def text_of(words: Words, payload: Callable[[PayloadId], bytes | None]) -> str | None:
    """A text, wherever it is kept; None where its payload is gone."""
    if not words.payload:
        return words.text
    data = payload(words.payload)
    return None if data is None else data.decode("utf-8", "replace")


class PayloadFault(Struct, frozen=True):
    """A payload that is not there, or is not what its id says; then `found` is what it is."""

    row: int
    id: PayloadId
    found: PayloadId = ""


class PayloadCheck:
    """Checks each payload where it is named first, and again where that was long ago."""

    def __init__(
        self, read: Callable[[PayloadId], bytes | None],
        task_of: Callable[[str, str], str] | None = None, limits: WalkLimits = LIMITS, *,
        erased: Container[PayloadId] = (), anew: Container[PayloadId] = (),
    ) -> None:  # fmt: skip
        """`task_of`: of a kind of stream (an agent's, too) and an entity, from long ago; `erased`:
        those that may be gone; `anew`: those that are checked each time, as not all may lack
        them."""
        self.missing: set[PayloadId] = set()
        self._erased, self._anew = erased, anew
        self._read, self._limits, self._left = read, limits, task_of
        self._seen: OrderedDict[PayloadId, None] = OrderedDict()
        self._agents: dict[str, str] = {}  # to their tasks
        self._newest: OrderedDict[str, str] = OrderedDict()  # wakes and change sets to theirs

    def check(self, append: Sequence[RecordedEvent]) -> Iterator[PayloadFault]:
        """What is wrong with the payloads that an append names."""
        unit = ""
        for one in append:
            if isinstance(one.fact, AgentCreated | WakeStarted):
                self._learn(one, one.fact)
        for index, one in enumerate(append):
            for named_id in payloads_named(one.fact):
                if named_id in self._seen:
                    continue
                data = self._read(named_id)
                if data is None and named_id in self._erased and one.of_kind != "task":
                    continue  # a task's own words go with its rows, and not before them
                if named_id not in self._anew:
                    _keep(self._seen, named_id, None, self._limits.payloads)
                if data is None:
                    self.missing.add(named_id)
                    yield PayloadFault(index, named_id)
                    continue
                if unit and payload_id(unit, data) == named_id:
                    continue  # of the same unit as the one before, as most are
                unit, found = self._unit(append, named_id, data)
                if not unit:
                    yield PayloadFault(index, named_id, found)

    def _unit(
        self, append: Sequence[RecordedEvent], named_id: PayloadId, data: bytes
    ) -> tuple[str, PayloadId]:
        """The unit of an append that makes bytes have this id; else none, and the id they have."""
        found = ""
        for unit in chain(_documented(append[0].fact, named_id), self._tasks(append), (SHARED,)):
            made = payload_id(unit, data)
            if made == named_id:
                return unit, made
            found = found or made
        return "", found

    def _learn(self, one: RecordedEvent, fact: AgentCreated | WakeStarted) -> None:
        if isinstance(fact, AgentCreated):
            self._agents[one.entity] = fact.task or f"agent:{one.entity}"
        else:
            unit = fact.task or f"agent:{fact.agent}"
            _keep(self._newest, one.entity, unit, self._limits.wakes)
            for made in set_id(one.entity), set_id(one.entity, one.replica):
                _keep(self._newest, made, unit, self._limits.wakes)

    def _tasks(self, append: Sequence[RecordedEvent]) -> Iterator[str]:
        """The tasks that an append is about, each once."""
        told = {""}
        for name in chain.from_iterable(map(self._tasks_of, append)):
            if name not in told:
                told.add(name)
                yield name

    def _tasks_of(self, one: RecordedEvent) -> Iterator[str]:
        """The tasks that a row is about; empty where it could name one and does not."""
        command = one.fact.command if isinstance(one.fact, Receipt) else one.fact
        if one.of_kind in ("task", "links"):
            yield one.entity
        yield getattr(command, "task", "")
        yield getattr(command, "target", "")
        if isinstance(command, ImportTasks):
            yield from (ref.task for ref in command.tasks)
        yield self._task(one.of_kind, one.entity)
        for name, kind in _OWNERS.items():
            yield self._task(kind, getattr(command, name, ""))

    def _task(self, kind: str, owner: str) -> str:
        known = self._agents.get(owner) or self._newest.get(owner, "")
        if known or not owner or self._left is None or kind not in ("agent", "wake", "changes"):
            return known
        return self._left(kind, owner)


def _documented(first: Struct, named_id: PayloadId) -> Iterator[str]:
    """The task that a document was imported for: else each is tried, for each of a batch."""
    command = first.command if isinstance(first, Receipt) else first
    if isinstance(command, ImportTasks):
        yield from (ref.task for ref in command.tasks if ref.document == named_id)


def _keep(newest: OrderedDict[str, V], name: str, value: V, count: int) -> None:
    newest[name] = value
    if len(newest) > count:
        newest.popitem(last=False)


_OWNERS = {"agent": "agent", "run_key": "wake", "changes": "changes"}
