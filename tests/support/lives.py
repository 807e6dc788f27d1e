"""An agent's life in a real agent log, command by command, for tests of views."""

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from adapters.store.log import Log
from domain.agent import commands as agents
from domain.agent.agent import Mode
from domain.agent.deciders import AGENT_KIND, agent_id
from domain.agent.subscriptions import Batch
from domain.agent.wake_queue import WAKE_QUEUE, Reason, WakeQueue, next_wake
from domain.append.causes import Cause, Replied, Result
from domain.changes import commands as changes
from domain.changes.change_set import CHANGES, ChangeSet, ChangesReply, set_id
from domain.errors import Refused
from domain.log import canonical
from domain.log.keys import key
from domain.log.timestamps import later
from domain.log.wire import Payload, Words, payload, words
from domain.tools.snapshot import Snapshot
from domain.wake import commands as wakes
from domain.wake.machine import pending
from domain.wake.wake import (
    WAKE,
    ModelAnswered,
    ModelFailed,
    ToolAsked,
    ToolCall,
    ToolReturned,
    Wake,
    WakeReply,
)

START = "2027-01-01T12:00:00.000000Z"
INBOX = "inbox-category"


def call(tool: str, **arguments: object) -> ToolCall:
    """A call as a model makes it."""
    return ToolCall(f"call-{tool}", tool, Words(canonical.text(arguments)))


PROPOSE = call("update_task_estimate", minutes=60)
ADD = call("add_multiple_checklist_items", items=[{"title": "Nails"}, {"title": "Hammer"}])
REPORT = call("update_report", content="All is well.", tldr="Well.", oneLiner="Fine")
OBSERVE = call("record_observations", observations=["The person likes lists."])
LANGUAGE = call("set_task_language", languageCode="de", confidence="high")


class Life:
    """One log, one minute from each append to the next, and the agent of one task."""

    def __init__(self, log: Log | None = None, task: str = "mend the roof") -> None:
        self.log = log or Log.in_memory("agent")
        self.task = key("task", task)
        self.agent = agent_id(AGENT_KIND, self.task, 1)
        self.minutes = 0

    def do(self, cause: Cause, payloads: Sequence[Payload] = ()) -> Result:
        """One cause, a minute after the last one."""
        self.minutes += 1
        now = later(START, seconds=60 * self.minutes)
        return self.log.append(cause, now, payloads=payloads).result

    def create(self, mode: Mode = "hybrid") -> str:
        """The agent, whose wake of creation is queued; its run key."""
        self.do(agents.CreateAgent(self.task, "Mend the roof", INBOX, 0, mode, is_enabled=True))
        return self.next()

    def ask(
        self, text: str = "", reason: Reason = "user", session: str = "s1", turn: int = 1
    ) -> str:
        """A person's request; its run key."""
        said = [payload(self.task, text.encode())] if text else []
        request = agents.RequestWake(self.agent, reason, is_enabled=True)
        if reason == "user":
            named = said[0].id if said else ""
            request = msgspec.structs.replace(request, session=session, turn=turn, words=named)
        return self.do(request, said).ids[1]

    def change(self, *numbers: int) -> None:
        """Journal appends that change the task, noticed in one append."""
        batches = tuple(
            Batch(n, "r1", "person", 0, (f"id:{self.task}",), change=key("change", str(n)))
            for n in numbers
        )
        last = max(numbers)
        self.do(agents.TakeJournal("r1", min(numbers), last, batches, "", is_enabled=True))

    def begin(self, run_key: str = "") -> str:
        """Begin the next wake; its run key."""
        run_key = run_key or self.next()
        shot = Snapshot(
            self.task,
            1,
            status="OPEN",
            priority="P2",
            title="Mend the roof",
            category=INBOX,
            checklists=("l1",),
        )
        captured = payload(self.task, msgspec.json.encode(shot))
        begin = wakes.BeginWake(
            self.agent, run_key, "rules", 1, 1, 1, captured.id, (), (), is_now=True, is_enabled=True
        )
        self.do(begin, [captured])
        return run_key

    def answer(
        self, run_key: str, *calls: ToolCall, text: str = "", tokens: int | None = None
    ) -> None:
        """The model's reply to what the wake waits for."""
        asked = pending(self.wake(run_key))
        turn, attempt = (asked.turn, asked.attempt) if asked else (1, 1)
        raw = payload(self.task, f"{run_key} {turn} {attempt} {text}".encode())
        said, kept = words(self.task, text)
        reply = ModelAnswered(
            turn,
            attempt,
            raw.id,
            text=said,
            calls=calls,
            tokens_in=tokens,
            tokens_out=tokens,
        )
        self.reply(run_key, reply, [raw, *kept])

    def fault(self, run_key: str, *, of_provider: bool) -> None:
        """The model does not answer."""
        asked = pending(self.wake(run_key))
        assert asked is not None
        code = "unavailable" if of_provider else "internal"
        self.reply(
            run_key,
            ModelFailed(asked.turn, asked.attempt, code, "no answer", of_provider=of_provider),
        )

    def returned(self, run_key: str) -> ToolReturned:
        """The result of the effect that the wake waits for."""
        asked = pending(self.wake(run_key))
        assert isinstance(asked, ToolAsked)
        return ToolReturned(
            asked.turn,
            asked.operation,
            asked.attempt,
            asked.action,
            asked.call_id,
            asked.tool,
            "success",
            message=Words("Done."),
            changed=(self.task,),
            position=7,
        )

    def reply(self, run_key: str, reply: WakeReply, kept: Sequence[Payload] = ()) -> None:
        self.do(Replied("wake", run_key, reply), kept)

    def run(self, *calls: ToolCall) -> str:
        """The next wake from its start to its end: one turn of calls, and a word of farewell."""
        run_key = self.begin()
        self.answer(run_key, *calls)
        self.answer(run_key, text="Done.")
        if pending(self.wake(run_key)):  # a report was due
            self.answer(run_key, REPORT)
        return run_key

    def settle(self, set_id: str, fact: ChangesReply) -> None:
        self.do(Replied("changes", set_id, fact))

    def confirm(self, run_key: str, item: int = 1) -> None:
        self.do(changes.ConfirmItem(set_id(run_key), item, "person", 5))

    def reject(self, run_key: str, item: int = 1) -> None:
        self.do(changes.RejectItem(set_id(run_key), item, "person", 5, "not now"))

    def next(self) -> str:
        """The run key of the wake that begins next; empty if there is none."""
        found = next_wake(self.wake_queue())
        return found.run_key if found else ""

    def wake_queue(self) -> WakeQueue:
        with self.log.reading() as world:
            return world.load(WAKE_QUEUE, self.agent)

    def wake(self, run_key: str) -> Wake:
        with self.log.reading() as world:
            return world.load(WAKE, run_key)

    def changes(self, run_key: str) -> ChangeSet:
        with self.log.reading() as world:
            return world.load(CHANGES, set_id(run_key))


def attempt(life: Life, deed: str, calls: Sequence[ToolCall], n: int) -> None:
    """One deed, if the rules allow it now; what they refuse writes nothing."""
    running = life.wake_queue().running
    with suppress(Refused):
        match deed:
            case "change":
                life.change(n)
            case "ask":
                life.ask("What now?", turn=n)
            case "wake":
                life.ask(reason="manual")
            case "begin" if life.next() and not running:
                life.begin()
            case "answer" if running and not isinstance(pending(life.wake(running)), ToolAsked):
                life.answer(running, *calls, text="Hm.", tokens=n)
            case "return" if running and isinstance(pending(life.wake(running)), ToolAsked):
                life.reply(running, life.returned(running))
            case "late" if running:
                life.reply(running, ModelAnswered(1, 9, "late"))
            case "provider" if running:
                life.fault(running, of_provider=True)
            case "fail" if running:
                life.fault(running, of_provider=False)
            case "retake" if running:
                life.do(wakes.RetakeWake(running))
            case "stop" if running:
                life.do(wakes.StopWake(running, "deadline", "too slow"))
            case "pause":
                life.do(agents.PauseAgent(life.agent))
            case "resume":
                life.do(agents.ResumeAgent(life.agent, is_enabled=True))
            case _:
                pass


DEEDS = tuple(
    "change ask wake begin begin answer answer answer return late provider fail retake stop"
    " pause resume".split()
)
CALLS = (PROPOSE, ADD, REPORT, OBSERVE, LANGUAGE, call("fly"))
