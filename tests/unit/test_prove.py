"""Prove finds what somebody changed in a log, and names it once (DESIGN 2, law 6)."""

import ast
import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from adapters.models.rules.model import RulesModel
from adapters.runtime import review, watcher
from adapters.runtime.effect_executor import run_wake
from domain.append.envelope import Row
from domain.journal.commands import AddItems, AddNote, EditTask
from domain.log.keys import log_digest
from domain.log.wire import Words, payload, words
from replay.payloads import PAYLOAD_FIELDS
from replay.prove import Divergence, LogProof, ProofOptions
from tests.support.rows import altered, rechained
from tests.support.services import queued_key, services, task_with_agent

LONG = "It takes about 2 hours. Due by 2027-03-04. I need to call the plumber. " + "drip " * 300


class Recorded(NamedTuple):
    """Two logs as they were written, and their payloads."""

    journal: list[Row]
    agent: list[Row]
    payloads: dict[str, bytes]


@cache
def _life() -> Recorded:
    at = services(model=RulesModel())
    task, agent = task_with_agent(at)
    said, kept = words(task, LONG)
    at.append_journal(AddNote(task, "note", said), payloads=kept)
    at.append_journal(AddItems(task, ("Buy a washer", "Turn the water off")))
    watcher.catch_up(at)
    asyncio.run(run_wake(at, agent, queued_key(at, agent), is_now=True))
    for set_id in at.agent(agent).sets:
        for item in review.changes_of(at, set_id).items:
            review.confirm(at, set_id, item.number)
    at.append_journal(EditTask(task, priority="P1"))
    at.append_journal(EditTask(task, title="Fix the other sink"))
    watcher.catch_up(at)
    kept_bytes = {
        name: data for log in (at.journal, at.agents) for name, data in _payloads(log).items()
    }
    return Recorded(list(at.journal.rows()), list(at.agents.rows()), kept_bytes)


def _payloads(log: object) -> dict[str, bytes]:
    return dict(log.recorder._payloads)  # type: ignore[attr-defined]  # to plant a fault


@pytest.fixture
def life() -> Recorded:
    known = _life()
    return Recorded([*known.journal], [*known.agent], {**known.payloads})


def found(
    rows: Sequence[Row], payloads: dict[str, bytes], log: str = "journal"
) -> list[Divergence]:
    return list(LogProof(log, payloads.get).walk(rows))


def kinds(divergences: Sequence[Divergence]) -> list[tuple[str, str]]:
    return [(one.kind_of, one.path) for one in divergences]


def index_of(rows: Sequence[Row], wanted: str) -> int:
    return next(nth for nth, row in enumerate(rows) if wanted.encode() in row.state)


# ----------------------------------------------------------------------------------------- whole


def test_a_log_as_it_was_written_proves(life: Recorded) -> None:
    for name, rows in (("journal", life.journal), ("agent", life.agent)):
        proof = LogProof(name, life.payloads.get)
        assert list(proof.walk(rows)) == []
        assert proof.rows == len(rows)
        assert proof.causes == sum(row.state.startswith(b'{"at"') for row in rows)
    assert proof.wakes == 1


def test_an_empty_log_proves_and_has_a_digest() -> None:
    proof = LogProof("journal", dict[str, bytes]().get)
    assert list(proof.walk([])) == []
    assert log_digest(proof.heads) == log_digest({})


# ---------------------------------------------------------------------------------- planted faults


def test_an_altered_value_is_named_with_both_bytes(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.priority_set.1"')
    life.journal[nth] = altered(life.journal[nth], '"P1"', '"P0"')
    (one,) = found(life.journal, life.payloads)
    stream = life.journal[nth].stream
    assert (one.kind_of, one.path, one.stream) == ("data altered", "data.priority", stream)
    assert '"P1"' in one.expected
    assert '"P0"' in one.actual


def test_an_altered_value_of_the_last_append_is_found_too(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.retitled.1"')
    life.journal[nth] = altered(life.journal[nth], "other", "right")
    assert kinds(found(life.journal, life.payloads)) == [("rule changed", "data.title")]


def test_an_altered_time_is_found_by_the_chain_alone(life: Recorded) -> None:
    nth = index_of(life.journal, '"priority":"P1"')
    life.journal[nth] = altered(life.journal[nth], '.000000Z","n"', '.000001Z","n"')
    (one,) = found(life.journal, life.payloads)
    assert (one.kind_of, one.path) == ("data altered", "prev")


@pytest.mark.parametrize(("year", "where"), [("2020", 0), ("2038", 1)])
def test_times_of_a_machine_never_go_back_though_the_chain_fits(
    life: Recorded, year: str, where: int
) -> None:
    """An append in the middle that is said to be older, or newer than what follows it."""
    nth = index_of(life.journal, '"priority":"P1"')
    rows = rechained(life.journal, nth, lambda row: altered(row, '{"at":"2027', f'{{"at":"{year}'))
    n = json.loads(life.journal[nth].state)["n"]
    at = [one for one in found(rows, life.payloads) if one.path == "at"]
    assert [(one.kind_of, one.position) for one in at] == [
        ("data altered", f"journal:r1:{n + where}")
    ]


@pytest.mark.parametrize("rules", [0, 2])
def test_no_number_of_rules_that_never_were_keeps_what_follows_from_being_proved(
    life: Recorded, rules: int
) -> None:
    """It did: a first row that says 0 folded all the rest, and prove said that all is well."""
    fitting = rechained(
        life.journal, 0, lambda row: altered(row, '"rules":1,"p', f'"rules":{rules},"p')
    )
    assert ("data altered", "rules") in kinds(found(fitting, life.payloads))


def test_an_altered_cause_is_found(life: Recorded) -> None:
    nth = index_of(life.journal, '"priority":"P1"')
    life.journal[nth] = altered(life.journal[nth], '"P1"', '"P0"')
    (one,) = found(life.journal, life.payloads)
    assert (one.kind_of, one.path) == ("data altered", "data.priority")
    assert one.cause == "command.edit_task.1"


def test_an_altered_tag_beside_the_row_is_found(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.priority_set.1"')
    life.journal[nth] = life.journal[nth]._replace(topic="task.retitled.1")
    assert kinds(found(life.journal, life.payloads)) == [("data altered", "topic")]


def test_what_another_rule_would_write_is_no_alteration(life: Recorded) -> None:
    """Rows and chain agree, and yet today's code writes something else."""
    nth = index_of(life.agent, '"kind":"alert.wake_queued.1"')
    rows = rechained(life.agent, nth, lambda row: altered(row, '"creation"', '"manual"'))
    faults = found(rows, life.payloads, "agent")
    assert kinds(faults)[0] == ("rule changed", "data.trigger.reason")
    assert all(one.kind_of != "data altered" for one in faults)


def test_a_deleted_append_is_a_gap(life: Recorded) -> None:
    nth = index_of(life.journal, '"priority":"P1"')
    del life.journal[nth : nth + 2]
    assert kinds(found(life.journal, life.payloads))[0] == ("data altered", "n")


def test_a_deleted_row_is_named(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.priority_set.1"')
    del life.journal[nth]
    (one,) = found(life.journal, life.payloads)
    assert (one.kind_of, one.path) == ("data altered", "rows")
    assert one.expected.startswith("row 1 of append")


def test_a_deleted_first_row_is_named(life: Recorded) -> None:
    nth = index_of(life.journal, '"priority":"P1"')
    del life.journal[nth]
    faults = found(life.journal, life.payloads)
    assert kinds(faults)[0] == ("data altered", "rows")
    assert faults[0].expected.startswith("row 0 of append")


def test_a_deleted_row_in_the_middle_does_not_spoil_what_follows(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.note_added.1"')
    del life.journal[nth]
    assert kinds(found(life.journal, life.payloads)) == [("data altered", "rows")]


def test_a_doubled_row_is_named(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.priority_set.1"')
    life.journal.insert(nth, life.journal[nth])
    (one,) = found(life.journal, life.payloads)
    assert (one.kind_of, one.path, one.expected) == ("data altered", "row", "")


def test_a_doubled_append_is_named(life: Recorded) -> None:
    nth = index_of(life.journal, '"priority":"P1"')
    life.journal[nth:nth] = life.journal[nth : nth + 2]
    assert ("data altered", "n") in kinds(found(life.journal, life.payloads))


def test_swapped_rows_are_named(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.item_added.1"')
    life.journal[nth], life.journal[nth + 1] = life.journal[nth + 1], life.journal[nth]
    (one,) = found(life.journal, life.payloads)
    assert (one.kind_of, one.path) == ("data altered", "order")


def test_swapped_appends_are_named(life: Recorded) -> None:
    nth = index_of(life.journal, '"priority":"P1"')
    first, second = life.journal[nth : nth + 2], life.journal[nth + 2 :]
    life.journal[nth:] = [*second, *first]
    assert kinds(found(life.journal, life.payloads))[0] == ("data altered", "n")


def test_a_changed_digest_is_named(life: Recorded) -> None:
    rows = life.journal
    last = max(nth for nth, row in enumerate(rows) if row.state.startswith(b'{"at"'))
    before = rows[last].state.partition(b'"prev":"')[2][:32].decode()
    rows[last] = altered(rows[last], before, "a" * 32)
    (one,) = found(rows, life.payloads)
    assert (one.kind_of, one.path) == ("data altered", "prev")
    assert (one.expected, one.actual) == (before, "a" * 32)


def test_a_tail_that_was_cut_off_is_found_by_the_digest_alone(life: Recorded) -> None:
    """Nothing in the log can tell: keep the digest outside, and compare it."""
    whole, cut = LogProof("journal", life.payloads.get), LogProof("journal", life.payloads.get)
    assert list(whole.walk(life.journal)) == []
    assert list(cut.walk(life.journal[:-2])) == []
    assert log_digest(whole.heads) != log_digest(cut.heads)


def test_an_unknown_tag_is_named_and_the_rest_is_proved(life: Recorded) -> None:
    nth = index_of(life.journal, '"kind":"task.priority_set.1"')
    rows = rechained(
        life.journal, nth, lambda row: altered(row, "task.priority_set.1", "task.priority_sung.1")
    )
    faults = found(rows, life.payloads)
    assert kinds(faults)[0] == ("event format changed", "row")
    assert "task.priority_sung.1" in faults[0].actual
    assert "task.priority_sung.1" in faults[0].expected


@pytest.mark.parametrize("state", [b"", b"[]", b"\xff\xfe", b'{"n":true}', b"{"])
def test_bytes_that_are_no_row_are_named(life: Recorded, state: bytes) -> None:
    nth = index_of(life.journal, '"kind":"task.priority_set.1"')
    life.journal[nth] = life.journal[nth]._replace(state=state)
    assert kinds(found(life.journal, life.payloads))[0] == ("data altered", "row")


# --------------------------------------------------------------------------------------- payloads


def named_payloads(rows: Sequence[Row], payloads: dict[str, bytes]) -> Iterator[str]:
    for name in payloads:
        if any(name.encode() in row.state for row in rows):
            yield name


@pytest.mark.parametrize("log", ["journal", "agent"])
def test_every_payload_that_is_missing_is_named(life: Recorded, log: str) -> None:
    rows = life.journal if log == "journal" else life.agent
    names = list(named_payloads(rows, life.payloads))
    assert names
    for name in names:
        payloads = {one: data for one, data in life.payloads.items() if one != name}
        faults = found(rows, payloads, log)
        assert [one for one in faults if one.kind_of == "payload missing"] == faults
        assert [one.expected for one in faults] == [name]


@pytest.mark.parametrize("log", ["journal", "agent"])
def test_every_payload_that_was_changed_is_named(life: Recorded, log: str) -> None:
    rows = life.journal if log == "journal" else life.agent
    for name in named_payloads(rows, life.payloads):
        payloads = {**life.payloads, name: life.payloads[name] + b" "}
        faults = found(rows, payloads, log)
        assert ("data altered", "payload") in kinds(faults), name
        assert faults[0].expected == name


def test_a_payload_of_another_unit_is_named(life: Recorded) -> None:
    """A text belongs to its task: the same bytes under another task's id are no proof."""
    at = services()
    task, _ = task_with_agent(at)
    foreign = payload("another task", LONG.encode())
    at.append_journal(AddNote(task, "note", Words(payload=foreign.id)), payloads=[foreign])
    (one,) = found(list(at.journal.rows()), {foreign.id: foreign.data})
    assert (one.kind_of, one.path, one.expected) == ("data altered", "payload", foreign.id)


def test_every_field_that_holds_a_payload_is_known() -> None:
    domain = Path(__file__).parents[2] / "domain"
    written = {
        (node.name, field.target.id)
        for file in domain.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in ("Stored", "Part") for base in node.bases)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(field.annotation, ast.Name) and field.annotation.id == "PayloadId"
    }
    known = {(struct.__name__, name) for struct, names in PAYLOAD_FIELDS.items() for name in names}
    assert written <= known
    assert known - written == {("Trigger", "words")}


# ----------------------------------------------------------------------------------------- epochs


def test_an_epoch_of_other_rules_is_folded_and_not_executed(life: Recorded) -> None:
    nth = index_of(life.journal, '"priority":"P1"')
    life.journal[nth] = altered(life.journal[nth], '"P1"', '"P0"')
    faults = list(LogProof("journal", life.payloads.get, ProofOptions(rules=99)).walk(life.journal))
    assert kinds(faults) == [("data altered", "prev")]
