"""The invariants of DESIGN 2 over the rows alone, not the folds that decided what stands in them.

Append by append: each is checked when it comes, so a simulation can stop at the first that
breaks one. `ended` says what must hold once nothing is under way any more."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from domain.agent import wake_queue as a
from domain.agent.agent import AgentCreated, AgentObserved
from domain.agent.memory import BYTES_MAX, HEADING_BYTES, MemoryFolded
from domain.append import envelope
from domain.append.causes import LogFact, Receipt
from domain.changes import change_set as c
from domain.errors import TOOL_CODES
from domain.journal.commands import ApplyOperation, UndoDeed
from domain.lessons.lessons import TEMPLATE, LessonDecided, WakeRan, WakeRated
from domain.log.state import RecordedEvent
from domain.log.wire import Stored
from domain.policy.gate import is_leaving, notice_of
from domain.policy.policy import ConsentGiven, ConsentWithdrawn, covers, meets
from domain.scaffold import features_of
from domain.wake import wake as e
from domain.wake.machine import RETAKES_MAX, ticket
from replay.appends import Append
from replay.references import operation_of

VERDICTS = {
    c.ItemConfirmed: "confirmed",
    c.ItemDeferred: "deferred",
    c.ItemRejected: "rejected",
    c.ItemReopened: "reopened",
    c.ItemUndone: "undone",
}

_LIVING = ("open", "confirming")
_BACK = ("ItemRejected", "ItemRetracted")
_ENDED = ("ItemConfirmed", "ItemExpired", *_BACK)
ITEM_MOVES: dict[type, tuple[tuple[str, ...], str, str]] = {
    c.ItemProposed: (("",), "is proposed twice", "open"),
    c.ItemConfirming: (_LIVING, "is confirmed while {}", "confirming"),
    c.ItemFailed: (("", *_LIVING, *_ENDED), "", "open"),
    c.ItemReopened: (("open", *_BACK), "is taken up again while {}", "open"),
    c.ItemUndone: (("ItemConfirmed",), "is undone while {}", "open"),
    c.ItemConfirmed: (_LIVING, "ends twice", "ItemConfirmed"),
    c.ItemRejected: (_LIVING, "ends twice", "ItemRejected"),
    c.ItemRetracted: (_LIVING, "ends twice", "ItemRetracted"),
    c.ItemExpired: (_LIVING, "ends twice", "ItemExpired"),
}
"""Facts of an item: at which statuses they may come, what is wrong else, and its status then."""


class LearningInvariants:
    """Takes the rows of the agent log as they come."""

    def __init__(self) -> None:
        self._items: dict[tuple[str, int], str] = {}  # their tools
        self._given: set[tuple[str, int, str]] = set()  # verdicts that stand or stood
        self._templates: dict[str, str] = {}  # of wakes
        self._notes: dict[str, str] = {}  # position -> agent
        self._digests: set[tuple[str, str]] = set()
        self._covered: dict[tuple[str, str, str], str] = {}  # replica, agent, source -> digest

    def take(self, row: RecordedEvent) -> Iterator[str]:
        """What is wrong with one more row."""
        match row.fact:
            case c.ItemProposed(item=item, tool=tool):
                self._items[row.entity, item] = tool
            case (
                c.ItemConfirmed() | c.ItemDeferred() | c.ItemRejected() | c.ItemReopened()
                | c.ItemUndone(code="")
            ) as verdict:  # fmt: skip
                self._given.add((row.entity, verdict.item, VERDICTS[type(verdict)]))
            case e.WakeStarted(template=template):
                self._templates[row.entity] = template
            case AgentObserved():
                self._notes[f"{row.n}-{row.row}@{row.replica}"] = row.entity
            case LessonDecided() as told:
                yield from self._lesson(told)
            case WakeRan(run_key=run_key) | WakeRated(run_key=run_key):
                if row.entity != TEMPLATE + self._templates.get(run_key, ""):
                    yield f"lessons: {run_key} is no wake of {row.entity}"
            case MemoryFolded() as digest:
                yield from self._digest(row, digest)
            case _:
                pass

    def _lesson(self, told: LessonDecided) -> Iterator[str]:
        name = (told.changes, told.item)
        if self._items.get(name) != told.tool:
            yield f"lessons: {name} is no item of {told.tool}"
        if (*name, told.verdict) not in self._given:
            yield f"lessons: nobody said that {name} is {told.verdict}"

    def _digest(self, row: RecordedEvent, digest: MemoryFolded) -> Iterator[str]:
        for source in digest.sources:
            is_digest = (row.entity, source) in self._digests
            if not (is_digest if digest.depth > 1 else self._notes.get(source) == row.entity):
                yield f"memory: {digest.id} names {source}, which is not there"
            other = self._covered.setdefault((row.replica, row.entity, source), digest.id)
            if other != digest.id:
                yield f"memory: {source} is under {other} and under {digest.id}"
        self._digests.add((row.entity, digest.id))
        size = len((digest.words.text or "").encode())  # a long one is no row's
        if size > BYTES_MAX[digest.depth] - HEADING_BYTES:
            yield f"memory: {digest.id} has {size} bytes"


# ---------------------------------------------------------------------------------------- both logs

TURNS_MAX = 21  # the limit of a wake, and the extra turn for a report


class _WakeRun(Struct):
    """One wake as its rows tell it."""

    is_queued: bool = False
    is_begun: bool = False
    is_ended: bool = False
    open: e.ModelAsked | e.ToolAsked | None = None
    retakes: int = 0
    is_deferred: bool = False
    triggers: int = 0
    heir: str = ""  # the wake that has those of its triggers that are not recorded again
    begun: e.WakeStarted | None = None


class Invariants:
    """Takes the appends of both logs as they come."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, str, str]] = {}  # log -> n, at, digest
        self._runs: defaultdict[str, _WakeRun] = defaultdict(_WakeRun)
        self._triggers: defaultdict[tuple[str, int], dict[str, Counter[str]]] = defaultdict(dict)
        self._superseded: set[str] = set()
        self._asked: set[str] = set()  # operations
        self._applied: set[str] = set()
        self._items: dict[tuple[str, int], str] = {}
        self._agents: dict[str, tuple[str, int]] = {}  # task -> agent, born
        self._touched: defaultdict[str, list[int]] = defaultdict(list)  # task -> n
        self._receipts: dict[tuple[str, str], int] = {}  # pattern, category -> notice
        self._learning = LearningInvariants()

    def take(self, log: str, one: Append) -> Iterator[str]:
        """What is wrong with one more append."""
        where = f"{log}:{one.replica}:{one.n}"
        found = [*self._shape(log, one)]
        for row in one.facts:
            found += self._journal(row) if log == "journal" else self._agent(row)
        found += self._consent(one)
        yield from (f"{where}: {told}" for told in found)

    # ------------------------------------------------------------------------------------ every log

    def _shape(self, log: str, one: Append) -> Iterator[str]:
        n, at, digest = self._last.get(log, (0, "", ""))
        if one.unread:
            yield f"law 1: a row cannot be read: {one.unread[0][1]}"
        if one.n != n + 1:
            yield f"law 1: append {n + 1} is missing"
        if one.first.prev != digest:
            yield "law 6: it carries another digest than that of the append before"
        if one.first.at < at:
            yield f"time goes back, from {at} to {one.first.at}"
        if [place.row for place in one.places] != list(range(one.first.rows)):
            yield "law 1: its rows are not numbered from 0"
        if one.facts and not _is_cause(one.facts[0]):
            yield f"law 2: {one.facts[0].stream} is no cause"
        self._last[log] = (one.n, one.first.at, envelope.digest(one.rows))

    def _journal(self, row: RecordedEvent) -> Iterator[str]:
        fact = row.fact
        if row.of_kind == "task":
            n = self._touched[row.entity]
            if not n or n[-1] != row.n:
                n.append(row.n)
        command = fact.command if isinstance(fact, Receipt) else None
        if isinstance(command, ApplyOperation | UndoDeed) and (operation := command.operation):
            if operation in self._applied:
                yield f"law 5: the operation {operation} is applied twice"
            if operation not in self._asked:
                yield f"law 5: the operation {operation} has an effect and no intent"
            self._applied.add(operation)

    def _agent(self, row: RecordedEvent) -> Iterator[str]:
        fact = row.fact
        match fact:
            case AgentCreated(task=task, position=born):
                if task:  # one without is told of no change
                    self._agents[task] = (row.entity, born)
            case a.WakeQueued() | a.TriggerMerged() | a.TriggerSuppressed() | a.WakeDropped():
                yield from self._attention(row)
            case a.WakeSettled(run_key=run_key):
                if not self._runs[run_key].is_begun:
                    yield f"law 9: {run_key} is settled and has not begun"
            case c.ItemConfirming() | c.SuppressionAsked() | c.LiftAsked() | c.UndoAsked():
                self._asked.add(fact.operation)
            case _:
                pass
        yield from self._learning.take(row)
        if row.of_kind == "policy":
            self._policy(fact)
        if row.of_kind == "wake":
            yield from self._wake(row)
        if row.of_kind == "changes":
            yield from self._item(row)

    # ---------------------------------------------------------------------------------- attention

    def _attention(self, row: RecordedEvent) -> Iterator[str]:
        """Every trigger ends in one wake's causes or in one suppression."""
        match row.fact:
            case a.WakeQueued(run_key=end, trigger=trigger):
                if self._runs[end].is_queued:
                    yield f"law 9: the wake {end} is queued twice"
                self._runs[end].is_queued = True
                self._runs[end].triggers += 1
            case a.TriggerMerged(run_key=end, trigger=trigger):
                if not self._runs[end].is_queued or self._runs[end].is_ended:
                    yield f"law 9: a trigger joins {end}, which is not queued"
                self._runs[end].triggers += 1
            case a.TriggerSuppressed(trigger=trigger):
                end = ""
            case a.WakeDropped() as fact:
                yield from self._dropped(fact)
                return
            case _:  # pragma: no cover  # only these four are handed over
                return
        if trigger.reason == "subscription":
            ends = self._triggers[row.entity, trigger.position]
            ends.setdefault(trigger.reason_id, Counter())[end] += 1

    def _dropped(self, fact: a.WakeDropped) -> Iterator[str]:
        """What a superseded wake passes on is all that it had, by row or by number."""
        if fact.code != "superseded":
            return
        self._superseded.add(fact.run_key)
        if not fact.left_out:  # as of 0.1.0; what is lost is found at the end
            return
        was, heir = self._runs[fact.run_key], self._runs[fact.by]
        was.heir = fact.by
        heir.triggers += fact.left_out
        if heir.triggers != was.triggers + 1:  # and its own
            told = f"{heir.triggers - 1} of {was.triggers} triggers"
            yield f"law 9: {told} of {fact.run_key} went to {fact.by}"

    # -------------------------------------------------------------------------------------- wakes

    def _wake(self, row: RecordedEvent) -> Iterator[str]:
        run, fact = self._runs[row.entity], row.fact
        if run.is_ended and not isinstance(fact, e.LateReply):
            yield f"law 9: {type(fact).__name__} of {row.entity}, which has ended"
        match fact:
            case e.WakeStarted():
                if run.is_begun:
                    yield f"law 9: the wake {row.entity} begins twice"
                run.is_begun, run.begun = True, fact
            case e.ModelAsked() | e.ToolAsked():
                yield from self._intent(run, fact)
            case e.ModelAnswered() | e.ModelFailed() | e.ToolReturned():
                yield from self._reply(run, fact)
            case e.WakeFinished():
                run.is_ended, run.open = True, None
            case e.WakeDeferred():
                run.retakes, run.is_deferred = 0, True
            case _:
                pass

    def _intent(self, run: _WakeRun, fact: e.ModelAsked | e.ToolAsked) -> Iterator[str]:
        if fact.turn > TURNS_MAX:
            yield f"law 10: turn {fact.turn}"
        if run.open is not None:
            run.retakes += 1
            if fact.attempt <= run.open.attempt:
                yield "law 5: an effect is asked for again under an old attempt"
            if run.retakes > RETAKES_MAX + 1:
                yield f"law 10: taken over {run.retakes} times"
        if operation := operation_of(fact):
            self._asked.add(operation)
        run.open, run.is_deferred = fact, False

    def _reply(
        self, run: _WakeRun, fact: e.ModelAnswered | e.ModelFailed | e.ToolReturned
    ) -> Iterator[str]:
        if isinstance(fact, e.ToolReturned) and fact.code and fact.code not in TOOL_CODES:
            yield f"law 8: the code {fact.code!r} is not known"
        if isinstance(fact, e.ToolReturned) and fact.attempt == 0:
            return
        if run.open is None or ticket(run.open) != ticket(fact):
            yield f"law 4: {type(fact).__name__} answers what was not asked"
        if not (isinstance(fact, e.ModelFailed) and fact.of_provider):
            run.open = None
        run.retakes = 0

    # ------------------------------------------------------------------------------------- policy

    def _policy(self, fact: Stored) -> None:
        match fact:
            case ConsentGiven(model=model, categories=categories, notice=notice):
                self._receipts.update({(model, one): notice for one in categories})
            case ConsentWithdrawn(model=model, categories=categories):
                for pattern, category in list(self._receipts):
                    if meets(pattern, model) and category in (categories or (category,)):
                        del self._receipts[pattern, category]
            case _:
                pass

    def _consent(self, one: Append) -> Iterator[str]:
        """No question that leaves the machine without a receipt; one that was put off in the
        append that asks it is not sent."""
        for row in one.facts:
            run = self._runs[row.entity] if isinstance(row.fact, e.ModelAsked) else None
            if run is None or run.begun is None:
                continue
            begun = run.begun
            is_sent = run.open is row.fact and not run.is_deferred
            if not (is_sent or begun.reason == "client"):  # who was given it before it is asked
                continue
            if not (features_of(begun.scaffold).is_gated and is_leaving(begun.model)):
                continue
            if missing := [one for one in begun.categories if not self._covers(begun, one)]:
                yield f"policy: {begun.model} is asked without a receipt for {missing}"

    def _covers(self, begun: e.WakeStarted, category: str) -> bool:
        return any(
            of == category and notice >= notice_of(begun.agent_kind) and covers(model, begun.model)
            for (model, of), notice in self._receipts.items()
        )

    # -------------------------------------------------------------------------------------- items

    def _item(self, row: RecordedEvent) -> Iterator[str]:
        fact: Any = row.fact
        if type(fact) not in ITEM_MOVES or (isinstance(fact, c.ItemUndone) and fact.code):
            return
        allowed, wrong, after = ITEM_MOVES[type(fact)]
        name = (row.entity, fact.item)
        status = self._items.get(name, "")
        if status not in allowed:
            yield f"law 9: item {name} {wrong.format(status)}"
        self._items[name] = after

    # ------------------------------------------------------------------------------------- the end

    def ended(self, taken: int) -> Iterator[str]:
        """What must hold when everything was recovered. `taken`: the journal's last `n` that
        agents know of."""
        for run_key, run in self._runs.items():
            if run.is_begun and not run.is_ended and run.open is None:
                yield f"law 4: the wake {run_key} waits for nothing and has no end"
        for (agent, n), matched in self._triggers.items():
            for ends in matched.values():  # by subscription
                if self._living(ends) != 1:
                    yield f"law 9: journal append {n} ended {dict(ends)} for {agent}"
        for task, (agent, born) in self._agents.items():
            for n in self._touched[task]:
                if born < n <= taken and (agent, n) not in self._triggers:
                    yield f"law 9: journal append {n} was lost to {agent}"
        if in_doubt := list(self._items.values()).count("confirming"):
            yield f"law 5: {in_doubt} items are in doubt after a recovery"

    def _living(self, ends: Counter[str]) -> int:
        """In how many places a trigger ended; a row in a superseded wake is none, unless that
        wake passed on what has no other row."""
        living = sum(count for end, count in ends.items() if end not in self._superseded)
        return living or len(set(map(self._last_heir, ends)) - self._superseded)

    def _last_heir(self, run_key: str) -> str:
        while heir := self._runs[run_key].heir:  # bounded: each was queued after the one before
            run_key = heir
        return run_key


def _is_cause(first: RecordedEvent) -> bool:
    return isinstance(first.fact, Receipt | LogFact) or first.of_kind in ("wake", "changes")
