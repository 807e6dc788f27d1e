"""Given an agent, when a client proposes, then these facts in one append (ADR 114)."""

import pytest
from msgspec.structs import replace

from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture_for_client, given_now
from domain.errors import Refused
from domain.journal import commands as do
from domain.log.wire import Words, tag_of
from tests.histories.acting import told
from tests.histories.client_scenes import CLAUDE, DONE, ESTIMATE, HOURS, agree, proposed
from tests.support.services import divergences, services, task_with_agent


def given() -> tuple[Services, str]:
    at = services()
    task, agent = task_with_agent(at)
    at.append_journal(do.AddNote(task, "note", Words(HOURS)))
    told(at, agree(at, agent, CLAUDE))
    return at, agent


def last(at: Services) -> list[str]:
    (*_, rows) = at.agents.appends()
    return [tag_of(row.fact) for row in rows]


def test_a_proposal_is_a_whole_wake_and_moves_no_queue() -> None:
    at, agent = given()
    run = proposed(at, agent, CLAUDE, "So Ann said.", ESTIMATE, DONE)
    assert last(at) == [
        "receipt.1", "wake.started.1", "wake.model_asked.1", "wake.model_answered.1",
        "wake.tool_returned.1", "wake.tool_returned.1", "wake.finished.1",
        "changes.item_proposed.1", "changes.opened.1", "agent.proposed.1",
    ]  # fmt: skip
    wake = at.wake(run)
    assert (wake.begun.reason, wake.begun.turn_max, wake.outcome) == ("client", 1, "completed")
    assert [one.code for one in wake.results] == ["", "sovereignty"]
    assert "update_report" not in wake.begun.tools
    assert divergences(at) == []


def test_nothing_is_proposed_where_all_is_refused() -> None:
    at, agent = given()
    proposed(at, agent, CLAUDE, "", DONE)
    assert last(at)[-1] == "wake.finished.1"
    before = at.agents.tail()
    proposed(at, agent, CLAUDE, "", DONE)  # the same of the same: the same run
    assert at.agents.tail() == before


def test_a_scaffold_of_before_has_no_clients() -> None:
    at, agent = given()
    older = replace(given_now(at), model=CLAUDE, scaffold=5)
    with pytest.raises(Refused, match="clients of scaffold 5") as refusal:
        capture_for_client(at, agent, older, lambda _: "")
    assert refusal.value.code == "newer_rules"
