"""The wake machine: given a wake, when a reply comes, then these facts (SPEC 3, 5, 7)."""

import pytest
from msgspec.structs import replace

from adapters.runtime.services import Services
from adapters.runtime.wake_capture import Captured, capture
from domain.agent.commands import PauseAgent
from domain.append.causes import Replied
from domain.changes.change_set import ChangeSet
from domain.errors import Refused
from domain.log.wire import Words
from domain.scaffold import SCAFFOLD
from domain.tools import registry
from domain.tools.snapshot import Snapshot
from domain.wake import machine
from domain.wake import wake as w
from domain.wake.tool_call import WakeInputs
from tests.support.services import divergences, one_agent, queued_key

TASK = "t" * 32
SEEN = Snapshot(TASK, 1, "OPEN", "P2", title="Fix the sink", category="home", estimate=30)
TOOLS = registry.offered("task_agent", "manual", SCAFFOLD)
STARTED = w.WakeStarted(
    "agent", TASK, "manual", "agent:run:k", "tape", 1, 3, 1, 1, "p", (), (), TOOLS, "s", ("home",)
)
DONE: w.WakeFact = w.WakeFinished("completed", stop="answered")


def bench(snapshot: Snapshot = SEEN) -> WakeInputs:
    return WakeInputs(snapshot, lambda: ChangeSet("set"), tuple, lambda said: said.text)


def given(*facts: w.WakeFact) -> w.Wake:
    wake = w.Wake("k")
    for fact in (STARTED, w.ModelAsked(1, 1), *facts):
        wake = w.evolve(wake, fact)
    return wake


def answer(*calls: tuple[str, str], turn: int = 1, attempt: int = 1) -> w.ModelAnswered:
    made = (w.ToolCall(f"c{nth}", tool, Words(text)) for nth, (tool, text) in enumerate(calls, 1))
    return w.ModelAnswered(turn, attempt, "reply", None, tuple(made))


def when(wake: w.Wake, reply: w.WakeReply, seen: Snapshot = SEEN) -> list[w.WakeFact]:
    return machine.decide(wake, reply, bench(seen)).facts[1:]


def results(facts: list[w.WakeFact]) -> list[tuple[str, str, str]]:
    return [(one.tool, one.status, one.code) for one in facts if isinstance(one, w.ToolReturned)]


def test_a_late_reply_is_kept_and_changes_nothing() -> None:
    late = answer(turn=1, attempt=2)
    assert machine.decide(given(), late, bench()).facts == [w.LateReply(late)]
    ended = given(answer(), DONE)
    assert machine.decide(ended, answer(), bench()).facts == [w.LateReply(answer())]


def test_the_scope_is_closed_where_the_category_is_missing_or_not_allowed() -> None:
    call = answer(("update_task_estimate", '{"minutes":60}'))
    for category, code in (("", "missing_category"), ("work", "out_of_scope")):
        facts = when(given(), call, replace(SEEN, category=category))
        assert results(facts) == [("update_task_estimate", "denied", code)]


# ------------------------------------------------------------------------- ends without a report

WORDS = "  Well, the key is sk-ant-" + "x" * 30 + " and\nI think " + "a lot " * 30
NOTED = ("record_observations", '{"observations":["The tap drips."]}')
REFUSED = ("update_task_estimate", '{"minutes":0}')
REPORT = ("update_report", '{"content":"a","tldr":"b","oneLiner":"c"}')
MUTE = w.WakeFinished(
    "failed",
    code="no_report",
    message="no call of the model came through, not even a report; it said "
    '"Well, the key is [secret: Anthropic key] and I think a lot a lot a lot a lot a…"',
)
SILENT = w.WakeFinished(
    "failed", code="no_report", message="no call of the model came through, not even a report"
)
MISSING = w.WakeFinished("completed", stop="answered", is_report_missing=True)


def first(**other: object) -> w.WakeStarted:
    return replace(replace(STARTED, scaffold=3, is_first=True), **other)


def ended(started: w.WakeStarted, *replies: w.ModelAnswered | w.ModelFailed) -> w.WakeFact:
    """How a wake ends whose model answers so."""
    wake = w.evolve(w.evolve(w.Wake("k"), started), w.ModelAsked(1, 1))
    for turn, reply in enumerate(replies, 1):
        if isinstance(reply, w.ModelFailed):
            facts = machine.failed(wake, reply, "", lambda said: said.text)
        else:
            facts = machine.decide(wake, replace(reply, turn=turn), bench()).facts
        for fact in facts:
            wake = w.evolve(wake, fact)
    return facts[-1]


def words(text: str = WORDS) -> w.ModelAnswered:
    return replace(answer(), text=Words(text))


@pytest.mark.parametrize(
    ("started", "replies", "end"),
    [
        (first(), [words(), words("Again.")], MUTE),
        (first(), [answer(REFUSED), words(), answer(REFUSED)], MUTE),
        (first(), [answer(), answer()], SILENT),
        (first(), [words(), w.ModelFailed(2, 1, "call_as_text", "It wrote its call.")], MUTE),
        (first(turn_max=1), [answer(REFUSED), words(" \n")], SILENT),
        (first(reason="user"), [answer(), answer()], SILENT),
        (first(reason="user"), [words(), words()], MISSING),
        (first(), [answer(NOTED), words(), words()], MISSING),
        (first(), [words(), answer(REPORT)], DONE),
        (first(is_first=False), [words()], DONE),
        (first(tools=("find_tasks",)), [words()], DONE),
        (replace(first(), scaffold=2), [words(), words()], MISSING),
    ],
)
def test_a_first_wake_of_which_no_call_came_through_has_failed(
    started: w.WakeStarted, replies: list[w.ModelAnswered], end: w.WakeFact
) -> None:
    assert ended(started, *replies) == end


# ---------------------------------------------------- wakes whose agent may not go on, or that wait

FAULT = w.ModelFailed(1, 1, "overloaded", "503", of_provider=True, retry_seconds=90)


def begun() -> tuple[Services, str, Captured]:
    """A wake that has asked the model."""
    at, _, agent = one_agent()
    captured = capture(at, agent, queued_key(at, agent), is_now=True)
    at.append_agent(captured.command, payloads=captured.payloads)
    return at, agent, captured


def wake_of(at: Services, run_key: str) -> w.Wake:
    with at.agents.reading() as world:
        return world.load(w.WAKE, run_key)


def test_the_wake_of_a_paused_agent_does_not_wait_for_its_provider() -> None:
    at, agent, captured = begun()
    at.append_agent(PauseAgent(agent))
    at.append_reply(Replied("wake", captured.command.run_key, FAULT), [])
    facts = [row.fact for row in at.agents.facts(f"wake:{captured.command.run_key}@r1")]
    assert facts[-2:] == [FAULT, w.WakeFinished("skipped", code="dormant")]
    assert wake_of(at, captured.command.run_key).phase == "done"
    assert divergences(at) == []


def test_a_wake_that_waits_is_not_begun_anew() -> None:
    at, _, captured = begun()
    at.append_reply(Replied("wake", captured.command.run_key, FAULT), [])
    with pytest.raises(Refused) as refused:
        at.append_agent(captured.command, payloads=captured.payloads)
    assert refused.value.code == "agent_running"
    assert refused.value.remedy == ("recover_wake", "")
