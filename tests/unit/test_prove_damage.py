"""What prove says of a log that is damaged in ways of its own, and of one longer than it keeps."""

import asyncio
from functools import cache

import pytest
from msgspec import json
from msgspec.structs import replace

from adapters.proof import histories
from adapters.proof.histories import History
from adapters.proof.prove import prove_logs, prove_sides
from adapters.runtime import review
from adapters.runtime.effect_executor import run_wake
from domain.append import envelope
from domain.append.causes import EpochBegan
from domain.append.envelope import Row
from domain.changes.change_set import set_id
from domain.handlers.execute import execute
from domain.log import canonical
from domain.log.rules import RULES
from domain.log.state import LogState, RecordedEvent
from domain.wake import directives
from domain.wake.scaffolds import SCAFFOLD
from replay.appends import appends
from replay.divergence import CHANGED, RowDifference, compare_rows, row_text
from replay.log_pair import PairedLog
from replay.prove import LogProof
from replay.streams import WalkLimits
from tests.histories import make
from tests.support.services import (
    START,
    captured_early,
    queued_key,
    reply,
    services,
    task_with_agent,
)
from tests.support.wording import reworded


@cache
def whole() -> History:
    at = make.history()
    return histories.take_history(at.journal, at.agents)


def kinds(history: History) -> set[tuple[str, str]]:
    return {(one.kind_of, one.path) for one in histories.prove_history(history).divergences}


def with_rows(log: str, rows: list[Row]) -> History:
    return replace(whole(), rows={**whole().rows, log: rows})


def test_an_append_that_counts_fewer_rows_than_it_has_is_named() -> None:
    rows = list(whole().rows["journal"])
    nth = next(nth for nth, row in enumerate(rows) if b'"rows":2,' in row.state)
    rows[nth] = rows[nth]._replace(state=rows[nth].state.replace(b'"rows":2,', b'"rows":1,'))
    found = histories.prove_history(with_rows("journal", rows)).divergences
    assert ("data altered", "rows", "1", "2") in {
        (one.kind_of, one.path, one.expected, one.actual) for one in found
    }


def test_an_epoch_that_began_after_another_log_is_named() -> None:
    world = LogState("journal", "r1", 1, lambda *_: (), lambda _: None)
    began = EpochBegan(RULES, "0", "15", digest="of another log")
    rows = execute(began, "", START, "", world).rows
    (one,) = LogProof("journal", lambda _: None).walk(rows)
    assert (one.kind_of, one.path, one.actual) == ("data altered", "digest", "of another log")


def test_an_append_of_which_nothing_can_be_read_does_not_stop_the_walk() -> None:
    rows = list(whole().rows["journal"])
    nth = next(nth for nth, row in enumerate(rows) if b'"kind":"task.due_set.1"' in row.state)
    while b'{"at"' not in rows[nth].state:
        nth -= 1
    end = nth + 1
    while b'{"at"' not in rows[end].state:
        end += 1
    rows[nth:end] = [
        row._replace(state=row.state.replace(b'"data":{"kind":"', b'"data":{"kind":"un'))
        for row in rows[nth:end]
    ]
    found = histories.prove_history(with_rows("journal", rows))
    assert ("data altered", "row") in {(one.kind_of, one.path) for one in found.divergences}
    assert found.rows == sum(map(len, whole().rows.values()))


def test_what_comes_of_a_lost_row_is_led_back_to_it() -> None:
    rows = list(whole().rows["agent"])
    nth = next(nth for nth, row in enumerate(rows) if row.topic == "wake.model_answered.1")
    lost = rows.pop(nth)
    found = histories.prove_history(with_rows("agent", rows)).divergences
    hole = f"agent:{lost.stream.rpartition('@')[2]}:{envelope.read(lost).n}"
    assert (found[0].position, found[0].kind_of) == (hole, "data altered")
    after = [one for one in found if one.kind_of == "rule changed"]
    assert after
    assert {one.upstream for one in after} == {hole}


def test_each_payload_that_is_gone_is_told_as_that_and_nothing_else() -> None:
    for name in whole().payloads:
        left = {one: data for one, data in whole().payloads.items() if one != name}
        assert kinds(replace(whole(), payloads=left)) == {("payload missing", "payload")}, name


def test_a_section_that_is_gone_is_not_told_as_a_changed_prompt_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded = whole()  # before the wording changes: it stands for a later version of it
    told = directives.SENTENCES[SCAFFOLD].act_first
    gone = {name for name, data in recorded.payloads.items() if told.encode() in data}
    assert gone
    left = {name: data for name, data in recorded.payloads.items() if name not in gone}
    reworded(monkeypatch, "act_first")
    found = kinds(replace(recorded, payloads=left))
    assert ("payload missing", "payload") in found
    assert ("prompt changed", "user.instruction") not in found


def test_sections_in_another_order_are_named() -> None:
    rows = list(whole().rows["agent"])
    first = next(row for row in rows if b'"kind":"command.begin_wake.1"' in row.state)
    sections = envelope.read(first).data.command.user  # type: ignore[union-attr]  # a receipt
    one, other = (json.encode(ref) for ref in sections[:2])
    n = envelope.read(first).n
    turned = [
        row._replace(state=row.state.replace(one + b"," + other, other + b"," + one))
        if envelope.read(row).n == n
        else row
        for row in rows
    ]
    assert kinds(with_rows("agent", turned)) == {("data altered", "user")}


def test_a_wake_whose_positions_are_past_is_left_out_where_nobody_can_go_back() -> None:
    at = captured_early()
    sides = (
        PairedLog(LogProof(log.name, log.payload), log.rows(), payload=log.payload)
        for log in (at.journal, at.agents)
    )
    proved = prove_sides(*sides)
    assert (proved.divergences, proved.wakes, proved.prompts) == ((), 1, 0)


def test_units_and_origins_of_long_ago_are_found_again() -> None:
    proved = histories.prove_history(whole(), WalkLimits(payloads=1, wakes=1))
    assert (proved.divergences, proved.prompts) == ((), 3)


def test_an_edited_proposal_of_a_wake_of_long_ago_is_proved() -> None:
    wait = reply(("set_task_status", '{"status":"BLOCKED","reason":"Waits for a pipe."}'))
    at = services([wait, reply(text="Done."), reply(text="Fine.")])
    _, first = task_with_agent(at)
    run_key = queued_key(at, first)
    asyncio.run(run_wake(at, first, run_key))
    _, second = task_with_agent(at, "Mend the roof")
    asyncio.run(run_wake(at, second, queued_key(at, second)))
    edited = canonical.text({"status": "BLOCKED", "reason": "\N{POTABLE WATER SYMBOL}" * 400})
    review.confirm(at, set_id(run_key), 1, edit=edited)  # of 1,600 bytes: a payload of its own
    proved = prove_logs(at.journal, at.agents, limits=WalkLimits(payloads=1, wakes=1))
    assert (proved.divergences, proved.wakes) == ((), 2)


def test_rows_that_are_no_facts_are_compared_all_the_same() -> None:
    was, today = (Row("task:t@r1", 1, "odd.1", state) for state in (b"{odd", b"{}"))
    assert compare_rows([was], [today]) == [
        RowDifference(0, CHANGED, "row", row_text(today), row_text(was))
    ]


@pytest.mark.parametrize("lost", ["task.note_added.1", "task.imported.1"])  # the last of its append
def test_what_follows_a_lost_row_is_folded_where_streams_can_be_read_again(lost: str) -> None:
    rows = list(whole().rows["journal"])
    del rows[next(nth for nth, row in enumerate(rows) if row.topic == lost)]
    facts = [row for one in appends(rows) for row in one.facts]

    def again(stream: str, after: int) -> list[RecordedEvent]:
        return [row for row in facts if row.stream == stream and row.version > after]

    found = LogProof("journal", whole().payloads.get, again=again).walk(rows)
    assert [(one.kind_of, one.path) for one in found] == [("data altered", "rows")]
