"""What a wake looks up is found, told in 4 KiB, recorded, and read again by prove (ADR 42)."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.documents.timetravel import steps_again
from adapters.home.settings import Settings
from adapters.models.tape import TapeModel
from adapters.proof import histories
from adapters.proof.histories import History
from adapters.proof.prove import DECODERS, prove_logs
from adapters.runtime import effect_executor, review, wake_capture, watcher
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.timetravel.fork import Branch, ForkChanges
from adapters.timetravel.logs_at import Past
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings as Settled
from domain.append.causes import Replied
from domain.errors import Refused
from domain.journal import commands as j
from domain.log import canonical
from domain.log.keys import payload_id
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Words, payload
from domain.ports import Call, Reply, Request
from domain.scaffold import SCAFFOLD, features_of
from domain.wake import lookups
from domain.wake.commands import RetakeWake
from domain.wake.lookups import LookupAnswer
from domain.wake.wake import ModelAnswered, ModelAsked, ToolAsked, ToolCall, ToolReturned, Wake
from replay.cross_log_check import CrossLogCheck
from replay.divergence import ALTERED, Divergence, RowDifference
from replay.fork import ChangedVerdict
from replay.log_pair import PairedLog
from replay.prove import LogProof
from replay.reads import ReadAgain, read_differences
from replay.replies import Decoder, ReplyDecoding
from replay.rerun import reading
from tests.support.rows import altered, rechained
from tests.support.scripted_wakes import call, ended, minutes, woken
from tests.support.services import (
    START,
    TickingClock,
    one_agent,
    queued_key,
    services,
    task_with_agent,
)
from wakelog.testing import calls as reply

SINK = "Fix the sink"
RECALL = Path(__file__).parent.parent / "data" / "recall"
RANKED = (
    "ladder and roof",
    "the roof leaks",
    "ladders",
    "Gaertnerei",
    "E-Mail to Ann",
    "Ann, again",
)


def returned(at: Services) -> list[ToolReturned]:
    """What every call of every wake came to, in order."""
    rows = (row for append in at.agents.appends() for row in append)
    return [row.fact for row in rows if isinstance(row.fact, ToolReturned)]


def told(at: Services, fact: ToolReturned) -> Any:
    with at.agents.reading() as world:
        return canonical.read(world.text(fact.message))


def looked_up(at: Services, agent: str, *calls: tuple[str, str]) -> list[Any]:
    """What reads of one wake are answered with."""
    before = len(returned(at))
    woken(at, agent, reply(*calls), *ended())
    found = returned(at)[before : before + len(calls)]
    return [told(at, one) for one in found]


def proved(at: Services) -> None:
    assert [str(one) for one in prove_logs(at.journal, at.agents).divergences] == []


def test_an_answer_to_a_read_that_nobody_asked_for_is_not_taken() -> None:
    at, _, agent = one_agent(title=SINK)
    looked_up(at, agent, call("find_tasks", words="sink"))
    run_key = at.agent(agent).last_run
    again = replace(returned(at)[0], attempt=9, message=Words("Nothing."))
    at.append_reply(Replied("wake", run_key, again))
    assert again not in returned(at)
    proved(at)


def test_another_text_of_a_read_is_named_with_its_wake_turn_and_tool() -> None:
    """Also where every digest was made to fit."""
    at, _, agent = one_agent(title=SINK)
    at.append_journal(j.CreateTask("Buy a sink"))
    looked_up(at, agent, call("find_tasks", words="sink"))
    history = histories.take_history(at.journal, at.agents)
    rows = history.rows["agent"]
    place = next(nth for nth, row in enumerate(rows) if b"Buy a sink" in row.state)
    assert rows[place].topic == "wake.tool_returned.1"
    forged = rechained(rows, place, lambda row: altered(row, "Buy a sink", "Buy a pink"))
    planted = {**history.rows, "agent": forged}
    whole = replace(history, rows=planted, digest=histories.digest_of(planted))
    (found,) = histories.prove_history(whole).divergences
    assert (found.kind_of, found.path) == ("prompt changed", "turn 1.find_tasks")
    assert found.wake == rows[place].stream.partition(":")[2].rpartition("@")[0]
    assert ("sink" in found.expected, "pink" in found.actual) == (True, True)


def recalled(at: Services, agent: str, words: str, scaffold: int) -> list[str]:
    woken(at, agent, reply(call("recall", words=words)), *ended(), scaffold=scaffold)
    fact = [one for one in returned(at) if one.tool == "recall"][-1]
    return [one["text"] for one in told(at, fact)["entries"]]


def test_what_a_stranger_asks_is_recalled() -> None:
    """Ten questions over sixty notes, in other words than theirs."""
    at, task, agent = one_agent(title=SINK)
    for text in (RECALL / "notes.txt").read_text("utf-8").splitlines():
        at.append_journal(j.AddNote(task, "note", Words(text)))
    asked = [line.split("|") for line in (RECALL / "questions.txt").read_text("utf-8").splitlines()]
    found = {
        scaffold: sum(
            any(text.startswith(wanted) for text in recalled(at, agent, words, scaffold))
            for words, wanted in asked
        )
        for scaffold in (2, 3)
    }
    assert len(asked) == 10
    assert found[3] >= 9 > found[2]
    proved(at)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("roof ladder", ["ladder and roof", "the roof leaks", "ladders"]),  # all, the rarer, begun
        ("the zebra", []),  # what most hold says nothing
        ("the roof", ["the roof leaks", "ladder and roof"]),
        ("Gärten", ["Gaertnerei"]),
        ("gaertner", ["Gaertnerei"]),
        ("Email", ["E-Mail to Ann"]),
        ("e-mail", ["E-Mail to Ann"]),
        ("mail", ["E-Mail to Ann"]),
        ("ann", ["Ann, again", "E-Mail to Ann"]),  # the newest
        ("an", []),  # three letters are no beginning
        ("?!", []),
    ],
)
def test_recalled_is_what_holds_all_words_then_what_holds_a_rare_one(
    words: str, found: list[str]
) -> None:
    at, task, agent = one_agent(title=SINK)
    for text in (*RANKED, *(f"the {nth} of many" for nth in range(8))):
        at.append_journal(j.AddNote(task, "note", Words(text)))
    assert recalled(at, agent, words, 3) == found


def test_a_wake_may_read_six_times() -> None:
    at, _, agent = one_agent(title=SINK)
    calls = [call("find_tasks", words="sink")] * 4 + [call("recall", words="sink")] * 4
    woken(at, agent, reply(*calls[:5]), reply(*calls[5:]), *ended())
    found = [(one.status, one.code, one.attempt) for one in returned(at)][:8]
    assert found == [("success", "", 1)] * 6 + [("denied", "limit", 0)] * 2
    proved(at)


def test_a_task_of_another_category_cannot_be_told_from_one_that_is_not_there() -> None:
    at, _, agent = one_agent(title=SINK)
    health = at.append_journal(j.AddCategory("Health")).result.ids[0]
    hidden = at.append_journal(j.CreateTask("Sink tablets", health)).result.ids[0]
    gone = at.append_journal(j.CreateTask("Sink of old")).result.ids[0]
    at.append_journal(j.DeleteTask(gone))
    calls = [call("read_task", taskId=one) for one in (hidden, gone, "nobody")]
    woken(at, agent, reply(*calls, call("find_tasks", words="sink")), *ended())
    *missed, found = returned(at)[:4]
    assert {(one.status, one.code, one.message) for one in missed} == {
        ("error", "not_found", Words("There is no such task that you may read."))
    }
    assert told(at, found) == {"tasks": []}
    proved(at)


def test_a_read_that_was_cut_off_is_made_again() -> None:
    agents, model = FaultyLog.fused("agent"), services([]).model_for("")
    at = Services(FaultyLog.fused("journal"), agents, TickingClock(), Settings(), lambda _: model)
    _, agent = task_with_agent(at, SINK)
    model = TapeModel("tape", [reply(call("find_tasks", words="sink")), *ended()])
    run_key = queued_key(at, agent)
    captured = capture(at, agent, run_key, is_now=True)
    at.append_agent(captured.command, payloads=captured.payloads)
    agents.fuse = 2  # the answer of the model, and of the read
    with pytest.raises(Crashed):
        asyncio.run(effect_executor.perform(at, run_key))
    at.append_journal(j.CreateTask("Buy a sink"))
    at.append_agent(RetakeWake(run_key))
    asyncio.run(effect_executor.perform(at, run_key))
    assert [one.attempt for one in returned(at) if one.agent_position] == [2]
    assert [one["title"] for one in told(at, returned(at)[0])["tasks"]] == ["Buy a sink"]
    assert (at.wake(run_key).outcome, at.journal.tail().n) == ("completed", 3)
    proved(at)


def test_a_read_of_an_earlier_place_is_proved_where_both_logs_went_on() -> None:
    """Two processes: the first reads, another writes to both logs, then the answer is recorded."""
    at, task, agent = one_agent(title=SINK)
    at.append_journal(j.CreateTask("Buy a sink"))
    model = TapeModel("tape", [reply(call("find_tasks", words="sink")), *ended()])
    at.model_for = lambda _: model
    run_key = queued_key(at, agent)
    captured = capture(at, agent, run_key, is_now=True)
    at.append_agent(captured.command, payloads=captured.payloads)
    answer = asyncio.run(model.reply(Request("tape", (), ())))
    first = at.wake(run_key).asked
    assert isinstance(first, ModelAsked)
    kept = payload(task, answer.raw)
    calls = tuple(ToolCall(one.call_id, one.tool, Words(one.arguments)) for one in answer.calls)
    asked = ModelAnswered(1, 1, kept.id, calls=calls, reply_format="tape.1")
    at.append_reply(Replied("wake", run_key, asked), [kept])
    wake = at.wake(run_key)
    assert isinstance(wake.asked, ToolAsked)
    fact, payloads = wake_capture.answer_read(at, wake, wake.asked)
    task_with_agent(at, "Another sink")
    watcher.catch_up(at)
    at.append_reply(Replied("wake", run_key, fact), payloads)
    asyncio.run(effect_executor.perform(at, run_key))
    assert "Another" not in str(told(at, returned(at)[0]))
    proved(at)
    whole = histories.take_history(at.journal, at.agents)
    assert histories.prove_history(whole).divergences == ()
    assert walked(whole) == [], "a place that is left behind is looked at where it can be read"


def walked(history: History) -> list[Divergence]:
    """What a walk finds that reads nothing of long ago again."""
    journal, agents = (
        PairedLog(
            LogProof(name, history.payloads.get), history.rows[name], payload=history.payloads.get
        )
        for name in ("journal", "agent")
    )
    return list(CrossLogCheck(journal, agents).walk())


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_read_that_cannot_be_made_again_is_named_unless_a_payload_is_gone(
    monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    """Patched on purpose: it plays code of tomorrow that fails, or asks for what is gone."""
    at, _, agent = one_agent(title=SINK)
    looked_up(at, agent, call("find_tasks", words="sink"))

    def read(_: ToolAsked, __: Wake, journal: LogState, *___: object) -> None:
        if not is_kept:
            journal.text(Words(payload="gone"))
        raise KeyError("sink")

    monkeypatch.setattr(lookups, "read", read)
    found = [
        (one.path, one.expected) for one in walked(histories.take_history(at.journal, at.agents))
    ]
    assert found == ([("turn 1.find_tasks", "KeyError: 'sink'")] if is_kept else [])


def test_a_fork_reads_at_its_own_place_and_proves(tmp_path: Path) -> None:
    """What a wake recalls between another verdict and the fork is what became of it there."""
    at, _, agent = one_agent(title=SINK)
    made = woken(at, agent, *ended(minutes(45)))
    review.reject(at, made, 1, "no")
    recalling = call("recall", words="estimate 45")
    (there,) = looked_up(at, agent, recalling)
    looked_up(at, agent, recalling)
    run_key = at.agent(agent).last_run
    past = Past(at.journal, at.agents)
    spot = past.run(run_key, at.agents.replica, 0)
    branch = Branch(past, run_key, at.agents.replica, at.settings)
    tape = TapeModel("tape", [reply(recalling), *ended()])
    verdict = ChangedVerdict(made, 1, "confirm")
    forked = asyncio.run(
        branch.make(tmp_path / "fork", spot, ForkChanges(verdicts=(verdict,)), tape)
    )
    assert (forked.stopped, forked.left_out) == ("", 0)
    here = Services(forked.journal, forked.agents, at.clock, at.settings, at.model_for)
    then = [told(here, one) for one in returned(here) if one.agent_position]
    assert [one["text"][:9] for one in there["entries"]] == ["rejected "]
    assert [[one["text"][:9] for one in seen["entries"]] for seen in then] == [["confirmed"]] * 2
    proved(here)
    forked.close()


def test_a_plain_replay_gives_the_recorded_text_and_says_what_reads_differently() -> None:
    at, _, agent = one_agent(title=SINK)
    at.append_journal(j.CreateTask("Buy a sink"))
    looked_up(at, agent, call("find_tasks", words="sink"))
    run_key = at.agent(agent).last_run
    steps = list(steps_again(Past(at.journal, at.agents), run_key, at.agents.replica))
    assert all(one.is_same for one in steps)
    asked = [one for step in steps for one in step.decided if one.kind_of == "wake.tool_asked.1"]
    assert [one.data["actionType"] for one in asked] == ["read"]
    assert "looks into both logs" in asked[0].why


class Narrowing:
    """A model in whose first turn the person takes something away, and which reads then."""

    name = "tape:narrowing"

    def __init__(self, calls: list[tuple[str, str]], take: Callable[[], object]) -> None:
        self._left = [reply(*calls), *ended()]
        self._take: Callable[[], object] | None = take

    async def reply(self, request: Request) -> Reply:
        if self._take is not None:
            self._take()
        self._take = None
        return self._left.pop(0)


@pytest.mark.parametrize("how", ["the agent is allowed less", "the task is elsewhere"])
def test_what_is_taken_away_while_a_wake_runs_is_not_read_in_it(how: str) -> None:
    at, task, agent = one_agent(title=SINK)
    (inbox,) = at.agent(agent).categories
    health = at.append_journal(j.AddCategory("Health")).result.ids[0]
    hidden = at.append_journal(j.CreateTask("Sink tablets", health)).result.ids[0]
    at.append_journal(j.AddNote(task, "note", Words("The sink drips")))
    at.append_agent(ConfigureAgent(agent, Settled(categories=(inbox, health))))

    def take() -> None:
        if how == "the task is elsewhere":
            other = at.append_journal(j.AddCategory("Secret")).result.ids[0]
            at.append_journal(j.EditTask(task, category=other))
        else:
            at.append_agent(ConfigureAgent(agent, Settled(categories=(inbox,))))

    calls = [call("recall", words="drips"), call("find_tasks", words="sink tablets")]
    model = Narrowing([*calls, call("read_task", taskId=hidden)], take)
    at.model_for = lambda _: model
    asyncio.run(effect_executor.run_wake(at, agent, queued_key(at, agent), is_now=True))
    past, found, one = returned(at)[:3]
    is_task = how == "the task is elsewhere"
    assert len(told(at, past)["entries"]) == (0 if is_task else 1)
    assert len(told(at, found)["tasks"]) == (1 if is_task else 0)
    assert one.code == ("" if is_task else "not_found")
    proved(at)


def test_a_wake_does_not_read_more_than_it_began_with() -> None:
    """What it writes is judged later by the categories that it began with."""
    at, _, agent = one_agent(title=SINK)
    (inbox,) = at.agent(agent).categories
    health = at.append_journal(j.AddCategory("Health")).result.ids[0]
    at.append_journal(j.CreateTask("Sink tablets", health))
    more = ConfigureAgent(agent, Settled(categories=(inbox, health)))
    calls = [call("find_tasks", words="tablets")]
    model = Narrowing(calls, lambda: at.append_agent(more))
    at.model_for = lambda _: model
    asyncio.run(effect_executor.run_wake(at, agent, queued_key(at, agent), is_now=True))
    assert told(at, returned(at)[0]) == {"tasks": []}
    assert len(looked_up(at, agent, *calls)[0]["tasks"]) == 1
    proved(at)


# ----------------------------------------------------------------------------------- read once more

UNIT, LONG_TEXT = "u1", b'{"tasks":["Mend the roof"]}'


def returned_by(message: Words) -> ToolReturned:
    return ToolReturned(1, "o", 1, "read", "c1", "find_tasks", "success", message)


def answered_otherwise(
    message: Words, today: LookupAnswer, payloads: dict[str, bytes]
) -> list[tuple[str, str, str]]:
    again = ReadAgain(returned_by(message), today, UNIT)
    return [(one.path, one.expected, one.actual) for one in read_differences(again, payloads.get)]


def test_another_code_is_named() -> None:
    assert answered_otherwise(Words("x"), LookupAnswer("x", "not_found"), {}) == [
        ("turn 1.find_tasks.code", "not_found", "")
    ]


def test_a_text_that_is_kept_as_a_payload_is_compared_with_its_bytes() -> None:
    named = payload_id(UNIT, LONG_TEXT)
    assert answered_otherwise(Words(payload=named), LookupAnswer(LONG_TEXT.decode()), {}) == []
    other = Words(payload="another")
    assert answered_otherwise(other, LookupAnswer(LONG_TEXT.decode()), {}) == [], (
        "what is gone is told where it is named"
    )
    assert answered_otherwise(other, LookupAnswer(LONG_TEXT.decode()), {"another": LONG_TEXT}) == []
    assert answered_otherwise(other, LookupAnswer(LONG_TEXT.decode()), {"another": b"{}"}) == [
        ("turn 1.find_tasks", LONG_TEXT.decode(), "{}")
    ]


def test_a_wake_of_a_scaffold_of_tomorrow_is_refused() -> None:
    with pytest.raises(Refused, match=f"newer wakelog .* knows up to {SCAFFOLD}") as refused:
        features_of(SCAFFOLD + 1)
    assert refused.value.code == "newer_rules"


def test_what_is_no_answer_is_not_read_again() -> None:
    world = LogState("agent", "r1", 2, lambda *_: (), lambda _: None)
    row = RecordedEvent("wake:run@r1", 1, "r1", 1, 0, START, ModelAsked(1, 1))
    assert reading(world, world, "run", row) == ()
    answer = replace(row, fact=returned_by(Words("x")))
    assert reading(world, world, "run", answer) == (), "nobody asked for it"


# ------------------------------------------------------------------------ replies decoded once more

DECODED = Reply(b"raw", "Done.", (Call("c1", "find_tasks", "{}"),))


def decoded_again(
    fact: ModelAnswered, payloads: dict[str, bytes]
) -> tuple[list[RowDifference], int]:
    """What differs, and how many replies nobody could decode."""

    def read(raw: bytes) -> Reply:
        if raw != b"raw":
            raise Refused("odd", because="it is odd", instead="nothing")
        return DECODED

    replies = ReplyDecoding({"old.1": Decoder(read), "old:": Decoder(read)}, payloads.get)
    return list(replies.differs(fact, "old:model")), replies.undecoded


def answered(arguments: Words, reply_format: str = "old.1") -> ModelAnswered:
    calls = (ToolCall("c1", "find_tasks", arguments),)
    return ModelAnswered(1, 1, "p", calls=calls, text=Words("Done."), reply_format=reply_format)


def test_what_is_gone_is_told_where_it_is_named_and_nowhere_else() -> None:
    whole, gone = answered(Words("{}")), answered(Words(payload="q"))
    assert decoded_again(whole, {"p": b"raw"}) == ([], 0)
    assert decoded_again(whole, {}) == ([], 0)
    assert decoded_again(gone, {"p": b"raw"}) == ([], 0)
    (known,), _ = decoded_again(gone, {"p": b"raw", "q": b'{"words":"roof"}'})
    assert known.path == "reply.calls"


def test_bytes_of_a_model_of_old_that_no_decoder_reads_are_counted() -> None:
    old = answered(Words("{}"), reply_format="")
    assert decoded_again(old, {"p": b"other"}) == ([], 1)
    assert [one.path for one in decoded_again(answered(Words("{}")), {"p": b"other"})[0]] == [
        "reply"
    ]


def test_a_format_of_a_model_of_others_is_its_own() -> None:
    replies = ReplyDecoding(DECODERS, lambda _: b"{}")
    for name in ("echo.1", "tape.1", ""):
        assert replies.misnamed(name, "echo") is None, name
    for name in ("other.1", "gemini.4", "echo.x", "mcp.1"):
        wrong = replies.misnamed(name, "echo")
        assert wrong is not None, name
        assert (wrong.kind_of, wrong.actual) == (ALTERED, name)
    for word in ("gemini", "rules", "mcp"):
        assert replies.misnamed("echo.1", word) is not None
