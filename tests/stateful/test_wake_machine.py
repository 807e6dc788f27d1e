"""Any order of replies, late replies, faults, crashes and pauses leaves a wake whole and provable.

The test keeps its own small model: what is out, which calls wait behind it, what was queued.
Comparing the machine with itself would prove nothing.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from adapters.runtime.wake_capture import capture
from domain.agent.commands import PauseAgent
from domain.append.causes import Replied
from domain.changes.change_set import CHANGES, set_id
from domain.log.wire import Payload, Words, payload
from domain.wake.commands import DeferWake, RetakeWake, StopWake
from domain.wake.machine import pending
from domain.wake.wake import (
    WAKE,
    LateReply,
    ModelAnswered,
    ModelAsked,
    ModelFailed,
    ToolAsked,
    ToolCall,
    ToolReturned,
    Wake,
    WakeFinished,
)
from tests.support.services import divergences, queued_key, services, task_with_agent

TURN_MAX = 5
REPORT = '{"content":"All.","oneLiner":"One.","tldr":"Short."}'
LANGUAGE = '{"confidence":"high","languageCode":"de"}'
# what the model may call: name -> (arguments, how the call is answered)
CALLS = {
    "estimate": ("update_task_estimate", "", "queued"),
    "language": ("set_task_language", LANGUAGE, "outside"),
    "report": ("update_report", REPORT, "report"),
    "unknown": ("no_such_tool", "{}", "denied"),
}


class WakeMachine(RuleBasedStateMachine):
    """One wake, its first, so that a report is due."""

    @initialize()
    def begin(self) -> None:
        self.services = services()
        self.task, self.agent = task_with_agent(self.services)
        self.run_key = queued_key(self.services, self.agent)
        captured = capture(self.services, self.agent, self.run_key, is_now=True)
        self.services.append_agent(captured.command, payloads=captured.payloads)
        self.waits_for, self.turn, self.attempt = "model", 1, 1
        self.behind: list[str] = []
        self.queued, self.late, self.minutes, self.retakes = 0, 0, 0, 0
        self.has_report = self.is_forced = self.is_paused = False
        self.has_language = self.is_completed = self.came_through = False
        self.outcome = ""
        self.past: list[ModelAnswered] = []

    def wake(self) -> Wake:
        with self.services.agents.reading() as world:
            return world.load(WAKE, self.run_key)

    def reply(self, fact: ModelAnswered | ModelFailed | ToolReturned) -> None:
        kept: list[Payload] = [payload(self.task, b"raw")]
        self.services.append_reply(Replied("wake", self.run_key, fact), kept)

    def ends(self) -> None:
        self.waits_for, self.behind = "nothing", []

    def goes_on(self) -> None:
        """The model's view of what follows when no reply is needed."""
        if self.is_paused:
            return self.ends()
        while self.behind:
            name = self.behind.pop(0)
            how = CALLS[name][2]
            if self.is_forced and how != "report":
                continue
            self.queued += how == "queued"
            self.came_through = self.came_through or how in ("queued", "report")
            self.has_report = self.has_report or how == "report"
            if how == "outside" and not self.has_language:
                self.waits_for, self.attempt = "tool", 1
                return None
        if self.is_forced or self.turn >= TURN_MAX:
            return self.ends_or_owes()
        self.waits_for, self.turn, self.attempt = "model", self.turn + 1, 1
        return None

    def ends_or_owes(self) -> None:
        if self.has_report or self.is_forced:
            self.is_completed = self.came_through
            self.outcome = "completed" if self.came_through else "failed"
            return self.ends()
        self.is_forced = True
        self.waits_for, self.turn, self.attempt = "model", self.turn + 1, 1
        return None

    def expected_items(self) -> list[str]:
        """Of estimates that differ the last one stands, once the wake is completed."""
        older = "retracted" if self.is_completed else "pending"
        return [*[older] * (self.queued - 1), *["pending"] * bool(self.queued)]

    @precondition(lambda self: self.waits_for == "model")
    @rule(names=st.lists(st.sampled_from(sorted(CALLS)), max_size=4))
    def model_answers(self, names: list[str]) -> None:
        calls = []
        for nth, name in enumerate(names):
            tool, text, _ = CALLS[name]
            self.minutes += 1
            given = text or f'{{"because":"so","minutes":{self.minutes}}}'
            calls.append(ToolCall(f"c{nth}", tool, Words(given)))
        raw = payload(self.task, b"raw").id
        fact = ModelAnswered(self.turn, self.attempt, raw, None, tuple(calls))
        self.past.append(fact)
        self.reply(fact)
        self.retakes = 0
        if not names and not self.is_paused:
            return self.ends_or_owes()
        self.behind = list(names)
        return self.goes_on()

    @precondition(lambda self: self.waits_for == "model" and self.queued > 1)
    @rule()
    def the_model_has_no_more_to_say(self) -> None:
        self.model_answers([])

    @precondition(lambda self: self.waits_for == "tool")
    @rule(is_done=st.booleans())
    def tool_returns(self, is_done: bool) -> None:
        asked = pending(self.wake())
        assert isinstance(asked, ToolAsked)
        status, code = ("success", "") if is_done else ("error", "stale")
        self.reply(
            ToolReturned(
                asked.turn,
                asked.operation,
                asked.attempt,
                asked.action,
                asked.call_id,
                asked.tool,
                "success" if status == "success" else "error",
                Words("done"),
                code,
                (self.task,) if is_done else (),
            )
        )
        self.retakes = 0
        self.has_language = self.has_language or is_done
        self.came_through = self.came_through or is_done
        self.goes_on()

    @precondition(lambda self: self.waits_for == "model")
    @rule()
    def provider_fails(self) -> None:
        fault = ModelFailed(self.turn, self.attempt, "overloaded", "503", of_provider=True)
        self.reply(fault)
        self.retakes = 0
        if self.is_paused:
            self.ends()
        else:
            self.waits_for = "provider"

    @rule()
    def crash_and_resume(self) -> None:
        self.services.append_agent(RetakeWake(self.run_key))
        if self.waits_for == "nothing":
            return None
        gives_up = self.retakes >= 3 and self.waits_for != "provider"
        if self.is_paused or gives_up:
            return self.ends()
        if self.waits_for == "provider":
            self.waits_for = "model"
        else:
            self.retakes += 1
        self.attempt += 1
        return None

    @precondition(lambda self: self.past)
    @rule(data=st.data())
    def a_late_reply_arrives(self, data: st.DataObject) -> None:
        fact = data.draw(st.sampled_from(self.past))
        if (fact.turn, fact.attempt) == (self.turn, self.attempt) and self.waits_for == "model":
            return
        self.reply(fact)
        self.late += 1

    @precondition(lambda self: self.waits_for in ("model", "tool") and not self.is_paused)
    @rule()
    def the_person_pauses_the_agent(self) -> None:
        self.services.append_agent(PauseAgent(self.agent))
        self.is_paused = True

    @precondition(lambda self: self.waits_for in ("model", "tool"))
    @rule()
    def time_runs_out(self) -> None:
        self.services.append_agent(StopWake(self.run_key, "deadline"))
        self.ends()

    @precondition(lambda self: self.past)
    @rule(data=st.data(), is_stop=st.booleans())
    def who_was_away_stops_or_defers_what_it_was_at(
        self, data: st.DataObject, is_stop: bool
    ) -> None:
        fact = data.draw(st.sampled_from(self.past))
        if (fact.turn, fact.attempt) == (self.turn, self.attempt) and self.waits_for != "nothing":
            return
        seen = fact.turn, fact.attempt
        stop = StopWake(self.run_key, "deadline", "", *seen)
        defer = DeferWake(self.agent, self.run_key, "", "interrupted", *seen)
        self.services.append_agent(stop if is_stop else defer)  # changes nothing

    @invariant()
    def agrees_with_the_model(self) -> None:
        wake = self.wake()
        asked = pending(wake)
        match asked:
            case ModelAsked():
                seen = "model"
            case ToolAsked():
                seen = "tool"
            case None:
                seen = "provider" if wake.phase == "deferred" else "nothing"
        assert seen == self.waits_for
        assert self.outcome in ("", wake.outcome)
        if asked is not None:
            assert (asked.turn, asked.attempt) == (self.turn, self.attempt)
        rows = self.services.agents.facts(f"wake:{self.run_key}@r1")
        assert sum(isinstance(row.fact, LateReply) for row in rows) == self.late
        ends = sum(isinstance(row.fact, WakeFinished) for row in rows)
        assert ends == (self.waits_for == "nothing")
        with self.services.agents.reading() as world:
            changes = world.load(CHANGES, set_id(self.run_key))
        assert [item.status for item in changes.items] == self.expected_items()
        assert changes.is_opened == (ends == 1 and self.queued > 0)

    @invariant()
    def every_call_of_a_turn_that_is_over_has_one_result(self) -> None:
        rows = self.services.agents.facts(f"wake:{self.run_key}@r1")
        answered = [row.fact for row in rows if isinstance(row.fact, ModelAnswered)]
        results = [row.fact for row in rows if isinstance(row.fact, ToolReturned)]
        for fact in answered[:-1]:
            of_turn = [one.call_id for one in results if one.turn == fact.turn]
            assert of_turn == [call.call_id for call in fact.calls]

    def teardown(self) -> None:
        assert divergences(self.services) == []


TestWakeMachine = WakeMachine.TestCase
TestWakeMachine.settings = settings(max_examples=60, stateful_step_count=25)

__all__ = ["TestWakeMachine"]
