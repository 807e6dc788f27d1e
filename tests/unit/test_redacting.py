"""A redacted history says the same of other things: it proves, and no word of the person stays."""

import re

import pytest

from adapters.models import tape
from adapters.proof import histories, redact
from adapters.proof.histories import History
from adapters.runtime import review
from adapters.usecases.undoing import undo
from adapters.wiring import Home
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WakeBegun
from domain.errors import Refused
from domain.journal.commands import EditTask
from domain.log.state import RecordedEvent
from domain.policy.commands import GiveConsent
from domain.policy.gate import NOTICE_VERSION, sections_of
from domain.wake.wake import ModelAnswered
from replay.appends import appends
from tests.histories import make, scenes
from tests.histories.acting import Scene
from tests.support.lessons import WORK, agent_in, with_categories
from tests.support.scripted_wakes import call, ended, woken

KINDS = "memory.folded.1", "lessons.decided.1", "changes.item_reopened.1", "command.undo_deed.1"
WORDS = "sink plumber drip washer Sweep roof ladder lader tiles Kim House outside spring".split()


def taken(scene: Scene) -> History:
    at = scene()
    return histories.take_history(at.journal, at.agents)


def words_of(history: History) -> set[str]:
    told = "".join(histories.history_lines(history))
    return set(re.findall(r"[A-Za-z]+", told))


LIVE_ON_TEXTS = """
    odd_texts settings_of_agents applied_too_late two_replicas
""".split()
"""Scenes of beginnings of ids, of what folds to the same, of two replicas: with other texts they
would be other histories."""
OTHERS = [one for one in scenes.SCENES if one.__name__ not in LIVE_ON_TEXTS]


@pytest.mark.parametrize("name", LIVE_ON_TEXTS)
def test_a_history_that_lives_on_its_very_texts_is_not_redacted_wrongly(name: str) -> None:
    (scene,) = (one for one in scenes.SCENES if one.__name__ == name)
    with pytest.raises(Refused):
        redact.redacted(taken(scene))


@pytest.mark.slow
@pytest.mark.parametrize("scene", [make.history, *OTHERS], ids=lambda one: one.__name__)
def test_a_redacted_history_proves_and_keeps_its_shape(scene: Scene) -> None:
    before = taken(scene)
    after = redact.redacted(before)
    proved = histories.prove_history(after)
    assert proved.divergences == ()
    assert after.is_redacted
    assert after.digest != before.digest
    for log in histories.LOGS:
        assert [row.topic for row in after.rows[log]] == [row.topic for row in before.rows[log]]


@pytest.mark.parametrize("scene", [make.history, scenes.imports, scenes.lives])
def test_no_word_of_the_person_is_left(scene: Scene) -> None:
    before = taken(scene)
    theirs = {word for word in WORDS if word in words_of(before)}
    assert theirs
    assert not theirs & words_of(redact.redacted(before))


def test_a_reply_is_kept_as_a_tape_has_it_and_says_so() -> None:
    after = redact.redacted(taken(scenes.rules_first_wake))
    facts = [row.fact for one in appends(after.rows["agent"]) for row in one.facts]
    answered = [fact for fact in facts if isinstance(fact, ModelAnswered)]
    assert {fact.reply_format for fact in answered} == {tape.FORMAT}
    for fact in answered:
        reply = tape.parse(after.payloads[fact.reply])
        assert [call.call_id for call in reply.calls] == [call.call_id for call in fact.calls]


def test_the_same_word_becomes_the_same_word() -> None:
    redactor = redact.Redactor(taken(scenes.verdicts))
    once = redactor.text("Buy nails, buy NAILS: 12 of them")
    first, second, third, fourth, *_ = re.findall(r"\w+", once)
    assert (first.lower(), second.lower()) == (third.lower(), fourth.lower())
    assert [len(word) for word in re.findall(r"\w+", once)] == [3, 5, 3, 5, 2, 2, 4]
    assert fourth.isupper()
    assert once.count(",") == once.count(":") == 1
    assert redactor.text("Buy nails") == f"{first} {second}"


def test_two_words_never_become_one() -> None:
    """Short ones above all: a title that was another one must not be the same then."""
    redactor = redact.Redactor(taken(scenes.verdicts))
    given = [*"abcdefghijklmnopqrstuvwxyz", *"0123456789", *(f"n{nth}" for nth in range(100))]
    assert len({redactor.text(one) for one in given}) >= len(given) - 1
    assert redactor.text("A").lower() == redactor.text("a")


def test_ids_in_a_text_stay_ids() -> None:
    redactor = redact.Redactor(taken(scenes.verdicts))
    name = "a" * 31 + "2"
    assert name in redactor.text(f"see {name} there")


def test_a_history_with_a_payload_gone_is_refused() -> None:
    before = taken(scenes.imports)
    gone = History(before.rows, {}, before.digest)
    with pytest.raises(Refused, match="is missing"):
        redact.redacted(gone)


MODEL = "openai:llama@https://gpu.zqhost.example:8443/zqteam/v1"


def test_no_text_of_lessons_digests_and_undone_deeds_is_left_and_no_host_of_a_model() -> None:
    at = with_categories()
    task, agent = agent_in(at, WORK, "zqtitle")
    notes = [{"text": f"zqnote {nth} hurts", "priority": "critical"} for nth in range(20)]
    for _ in range(3):
        woken(at, agent, *ended(call("record_observations", observations=notes)))
    review.reject(at, woken(at, agent, *ended(call("set_task_title", title="zqnew"))), 1, "zqwhy")
    at.append_journal(EditTask(task, title="zqother"))
    home = Home.in_memory(at)
    undo(home)
    undo(home)
    at.append_agent(GiveConsent(MODEL, (WORK,), NOTICE_VERSION, sections_of()))
    at.append_agent(ConfigureAgent(agent, AgentSettings(model=MODEL)))
    before = histories.take_history(at.journal, at.agents)
    after = redact.redacted(before)
    assert histories.prove_history(after).divergences == ()
    theirs = {"zqtitle", "zqnote", "zqnew", "zqwhy", "zqother", "zqhost", "zqteam"}
    assert theirs <= words_of(before)
    assert not theirs & {one.lower() for one in words_of(after)}
    told = "".join(histories.history_lines(after))
    assert all(f'"kind":"{one}"' in told.replace("\\", "") for one in KINDS)
    assert len(set(re.findall(r"openai:llama@https://[a-z.]+:8443/[a-z]+/v?", told))) == 1


# ------------------------------------------------- rows that were made anew beside those they were


def row(stream: str, run_key: str) -> RecordedEvent:
    return RecordedEvent(f"{stream}@r1", 1, "r1", 1, 0, "", WakeBegun(run_key))


def test_rows_of_agents_that_come_in_another_order_are_told_apart() -> None:
    was = [row("alert:a", "1"), row("alert:b", "2"), row("alert:b", "3"), row("alert:c", "4")]
    made = [row("alert:x", "30"), row("alert:x", "31"), row("alert:y", "20"), row("alert:z", "40")]
    there = redact.matched_rows(was, made, {"a": "y", "b": "x"})
    assert [one.entity for one in there] == ["y", "x", "x", "z"]
    assert [one.fact for one in there] == [WakeBegun(key) for key in ("20", "30", "31", "40")]


def test_rows_of_streams_that_nobody_knows_stay_in_their_order() -> None:
    made = [row("alert:x", "1"), row("alert:y", "2"), row("wake:z", "3")]
    was = [row("alert:a", "1"), row("wake:c", "3"), row("alert:b", "2")]
    assert redact.matched_rows(was, made, {}) == [made[0], made[2], made[1]]
