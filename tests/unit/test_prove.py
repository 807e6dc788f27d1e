"""Prove finds what somebody changed in a log, and names it once (DESIGN 2, law 6).

In one log, in both together, in damaged ones, and where a fold of today fails.
"""

import ast
import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec import json
from msgspec.structs import replace

from adapters.home.settings import PromptSettings, Settings
from adapters.models.rules.model import RulesModel
from adapters.proof import anchors, histories
from adapters.proof.histories import History
from adapters.proof.prove import Proved, diff, prove_logs, prove_sides
from adapters.runtime import review, watcher
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from adapters.text.proof import divergence_lines
from domain.append import envelope
from domain.append.causes import EpochBegan
from domain.append.envelope import STREAM_TYPES, Row
from domain.append.texts import PAYLOAD_FIELDS
from domain.changes.change_set import set_id
from domain.errors import Refused
from domain.handlers.execute import execute
from domain.journal import commands as do
from domain.journal.task import TASK, Task, TaskRestored
from domain.log import canonical
from domain.log.keys import key
from domain.log.rules import RULES
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Words, payload, words
from domain.ports import Section
from domain.scaffold import SCAFFOLD
from domain.wake import prompt_sections
from replay.appends import appends
from replay.divergence import CHANGED, RowDifference, compare_rows, path_within, row_text
from replay.log_pair import PairedLog
from replay.prove import Divergence, LogProof, ProofOptions
from replay.streams import WalkLimits
from tests.histories import make, scenes
from tests.histories.acting import Scene
from tests.support.rows import altered, rechained
from tests.support.services import (
    START,
    captured_early,
    divergences,
    one_agent,
    queued_key,
    services,
    task_with_agent,
)
from tests.support.wording import TOLD, retold, reworded
from wakelog.testing import calls as reply

LONG = "It takes about 2 hours. Due by 2027-03-04. I need to call the plumber. " + "drip " * 300


class Recorded(NamedTuple):
    """Two logs as they were written, and their payloads."""

    journal: list[Row]
    agent: list[Row]
    payloads: dict[str, bytes]


@cache
def _life() -> Recorded:
    at, task, agent = one_agent(model=RulesModel())
    said, kept = words(task, LONG)
    at.append_journal(do.AddNote(task, "note", said), payloads=kept)
    at.append_journal(do.AddItems(task, ("Buy a washer", "Turn the water off")))
    watcher.catch_up(at)
    asyncio.run(run_wake(at, agent, queued_key(at, agent), is_now=True))
    for made in at.agent(agent).sets:
        for item in review.changes_of(at, made).items:
            review.confirm(at, made, item.number)
    at.append_journal(do.EditTask(task, priority="P1"))
    at.append_journal(do.EditTask(task, title="Fix the other sink"))
    watcher.catch_up(at)
    kept_bytes = {
        name: data for log in (at.journal, at.agents) for name, data in _payloads(log).items()
    }
    return Recorded(list(at.journal.rows()), list(at.agents.rows()), kept_bytes)


def _payloads(log: Log) -> dict[str, bytes]:
    return dict(log.recorder.kept_payloads())


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


# ---------------------------------------------------------------------------------- planted faults

Rows = list[Row]
PRIORITY, SET = '"priority":"P1"', '"kind":"task.priority_set.1"'
"""A cause, and what followed from it."""


def swapped(rows: Rows, at: int) -> None:
    rows[at], rows[at + 1] = rows[at + 1], rows[at]


PLANTED: dict[str, tuple[str, Callable[[Rows, int], object], tuple[str, str]]] = {
    "a value": (
        SET,
        lambda rows, at: rows.__setitem__(at, altered(rows[at], '"P1"', '"P0"')),
        ("data altered", "data.priority"),
    ),
    "a value of the last append": (
        '"kind":"task.retitled.1"',
        lambda rows, at: rows.__setitem__(at, altered(rows[at], "other", "right")),
        ("rule changed", "data.title"),
    ),
    "a time, by the chain alone": (
        PRIORITY,
        lambda rows, at: rows.__setitem__(at, altered(rows[at], '.000000Z","n"', '.000001Z","n"')),
        ("data altered", "prev"),
    ),
    "a tag beside the row": (
        SET,
        lambda rows, at: rows.__setitem__(at, rows[at]._replace(topic="task.retitled.1")),
        ("data altered", "topic"),
    ),
    "an append that is gone": (
        PRIORITY,
        lambda rows, at: rows.__delitem__(slice(at, at + 2)),
        ("data altered", "n"),
    ),
    "a row that is gone": (SET, lambda rows, at: rows.pop(at), ("data altered", "rows")),
    "a row that is doubled": (
        SET,
        lambda rows, at: rows.insert(at, rows[at]),
        ("data altered", "row"),
    ),
    "rows in another order": ('"kind":"task.item_added.1"', swapped, ("data altered", "order")),
}


@pytest.mark.parametrize(("where", "plant", "told"), PLANTED.values(), ids=list(PLANTED))
def test_what_somebody_changed_is_named_first_by_its_kind_and_path(
    life: Recorded, where: str, plant: Callable[[Rows, int], object], told: tuple[str, str]
) -> None:
    """Where each edit is found says `tests/property/test_prove_edits.py`."""
    plant(life.journal, index_of(life.journal, where))
    assert kinds(found(life.journal, life.payloads))[0] == told


def test_an_altered_value_is_named_with_both_bytes(life: Recorded) -> None:
    nth = index_of(life.journal, SET)
    life.journal[nth] = altered(life.journal[nth], '"P1"', '"P0"')
    (one,) = found(life.journal, life.payloads)
    assert one.stream == life.journal[nth].stream
    assert one.cause == "command.edit_task.1"
    assert ('"P1"' in one.expected, '"P0"' in one.actual) == (True, True)


@pytest.mark.parametrize(("year", "where"), [("2020", 0), ("2038", 1)])
def test_times_of_a_machine_never_go_back_though_the_chain_fits(
    life: Recorded, year: str, where: int
) -> None:
    """An append in the middle that is said to be older, or newer than what follows it."""
    nth = index_of(life.journal, '"priority":"P1"')
    rows = rechained(life.journal, nth, lambda row: altered(row, '{"at":"2027', f'{{"at":"{year}'))
    n = json.decode(life.journal[nth].state)["n"]
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


def test_what_another_rule_would_write_is_no_alteration(life: Recorded) -> None:
    """Rows and chain agree, and yet today's code writes something else."""
    nth = index_of(life.agent, '"kind":"alert.wake_queued.1"')
    rows = rechained(life.agent, nth, lambda row: altered(row, '"creation"', '"manual"'))
    faults = found(rows, life.payloads, "agent")
    assert kinds(faults)[0] == ("rule changed", "data.trigger.reason")
    assert all(one.kind_of != "data altered" for one in faults)


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
    at, task, _ = one_agent()
    foreign = payload("another task", LONG.encode())
    at.append_journal(do.AddNote(task, "note", Words(payload=foreign.id)), payloads=[foreign])
    (one,) = found(list(at.journal.rows()), {foreign.id: foreign.data})
    assert (one.kind_of, one.path, one.expected) == ("data altered", "payload", foreign.id)


def test_every_field_that_holds_a_payload_is_known() -> None:
    domain = Path(__file__).parents[2] / "domain"
    written = {
        (node.name, field.target.id)
        for text in (file.read_text(encoding="utf-8") for file in domain.rglob("*.py"))
        if "PayloadId" in text
        for node in ast.walk(ast.parse(text))
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


# ------------------------------------------------------------------------------- both logs together


@cache
def whole() -> History:
    at = make.history()
    return histories.take_history(at.journal, at.agents)


def classes(proved: Proved) -> list[tuple[str, str]]:
    return [(one.kind_of, one.path) for one in proved.divergences]


def with_row(history: History, log: str, nth: int, row: Row) -> History:
    rows = list(history.rows[log])
    rows[nth] = row
    return replace(history, rows={**history.rows, log: rows})


def place_of(history: History, log: str, wanted: str) -> int:
    return next(nth for nth, row in enumerate(history.rows[log]) if wanted.encode() in row.state)


# ------------------------------------------------------------------------------------------- whole


def test_every_prompt_is_rendered_again() -> None:
    proved = histories.prove_history(whole())
    assert proved.ok
    assert proved.prompts == proved.wakes == 3


def test_memory_is_bounded_where_streams_can_be_read_again() -> None:
    at = make.history()
    proved = prove_logs(at.journal, at.agents, limits=WalkLimits(states=3))
    assert proved.divergences == ()
    assert proved.prompts == 3


@pytest.mark.parametrize("scene", scenes.SCENES, ids=lambda scene: scene.__name__)
def test_every_scene_proves_with_almost_nothing_kept(scene: Scene) -> None:
    at = scene()
    proved = prove_logs(at.journal, at.agents, limits=WalkLimits(states=2, payloads=1, wakes=1))
    assert proved.divergences == ()
    begun = sum(b'"kind":"command.begin_wake.1"' in row.state for row in at.agents.rows())
    assert proved.prompts == begun >= proved.wakes > 0


def test_a_wake_captured_before_others_wrote_is_read_where_it_was_captured() -> None:
    at = captured_early()
    proved = prove_logs(at.journal, at.agents)
    assert proved.divergences == ()
    assert proved.prompts == 1
    whole = histories.take_history(at.journal, at.agents)
    assert histories.prove_history(whole).prompts == 1


@pytest.mark.parametrize("name", ["", "r2"])
def test_so_it_is_in_a_backup_which_has_another_name_or_none_yet(name: str) -> None:
    at = captured_early()
    journal, agents = (Log(log.name, log.recorder, name) for log in (at.journal, at.agents))
    proved = prove_logs(journal, agents)
    assert proved.divergences == ()
    assert proved.prompts == 1


def test_a_prompt_of_another_size_is_rendered_in_that_size() -> None:
    at = services([reply(text="Fine.")])
    at.settings = Settings(prompt=PromptSettings(max_bytes=20_000))
    task, agent = task_with_agent(at)
    for nth in range(30):
        at.append_journal(do.AddNote(task, "note", Words(f"{nth} " + "word " * 150)))
    run_key = queued_key(at, agent)
    captured = capture(at, agent, run_key, is_now=True)
    assert captured.command.prompt_max_bytes == 20_000
    at.append_agent(captured.command, payloads=captured.payloads)
    assert prove_logs(at.journal, at.agents).divergences == ()


# ----------------------------------------------------------------------------------------- faults


def test_another_text_in_a_section_is_a_changed_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = whole()  # before the wording changes: it stands for a later version of it
    reworded(monkeypatch, "act_first")
    found = histories.prove_history(recorded).divergences
    assert {(one.kind_of, one.path) for one in found} == {("prompt changed", "user.instruction")}
    one = found[0]
    assert one.wake
    assert one.cause == "command.begin_wake.1"
    assert "Be brief." in one.expected
    assert "Be brief." not in one.actual
    assert any(line.startswith("-") and "Be brief." in line for line in diff(one))


def test_a_text_that_changed_in_many_wakes_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = whole()
    retold(monkeypatch, SCAFFOLD, role=TOLD.role + " Be brief.")
    found = histories.prove_history(recorded).divergences
    assert len(found) > 1
    texts = {(one.expected, one.actual) for one in found}
    assert len(texts) < len(found)
    lines = [line.text for line in divergence_lines(found)]
    told = sum("prompt changed: system.role" in line for line in lines)
    assert told == len(texts)
    again = [line.split() for line in lines if "the same in " in line]
    assert told + sum(int(words[3]) for words in again) == len(found)
    assert lines[-1] == f"prompt changed: {len(found)}"
    assert "and " + str(len(found)) + " more; --json" in "".join(
        line.text for line in divergence_lines(found, shown_max=0)
    )


def test_an_altered_notice_is_a_changed_rule() -> None:
    nth = place_of(whole(), "agent", '"kind":"command.take_journal.1"')
    row = whole().rows["agent"][nth]
    state = row.state.replace(b'"origin":"person"', b'"origin":"nobody"', 1)
    found = histories.prove_history(with_row(whole(), "agent", nth, row._replace(state=state)))
    assert ("data altered", "data.command.batches[1].origin") in classes(found)


def test_an_effect_without_its_intent_is_named() -> None:
    at = make.history()
    with at.journal.reading() as world:
        task = _a_task(at)
        assert world.n > 1
    command = do.ApplyOperation("o" * 32, "a" * 32, task, "update_task_estimate",
                             Words('{"minutes":5}'))  # fmt: skip
    at.append_journal(command, key=command.operation)
    assert prove_logs(at.journal, at.agents).ok, "the agent log does not know of it yet"
    task_with_agent(at, "Another")
    found = prove_logs(at.journal, at.agents)
    assert classes(found) == [("data altered", "operation")]


def test_an_operation_under_another_key_is_named() -> None:
    nth = place_of(whole(), "journal", '"kind":"command.apply_operation.1"')
    row = whole().rows["journal"][nth]
    stream = row.stream.replace(row.stream[8:12], "aaaa", 1)
    found = histories.prove_history(with_row(whole(), "journal", nth, row._replace(stream=stream)))
    assert ("data altered", "stream") in classes(found)


def test_a_journal_cut_below_what_the_agent_log_knows_is_named() -> None:
    rows = whole().rows["journal"]
    last = rows[-1].state.split(b'"n":')[1].split(b",")[0]
    kept = [row for row in rows if b'"n":' + last + b"," not in row.state]
    found = histories.prove_history(replace(whole(), rows={**whole().rows, "journal": kept}))
    assert ("data altered", "position") in classes(found)


def test_what_comes_of_an_altered_journal_is_led_back_to_it() -> None:
    nth = place_of(whole(), "journal", '"kind":"task.created.1"')
    row = whole().rows["journal"][nth]
    state = row.state.replace(b"Fix the sink", b"Fix the sing")
    found = histories.prove_history(with_row(whole(), "journal", nth, row._replace(state=state)))
    first, *others = found.divergences
    assert (first.log, first.kind_of, first.path) == ("journal", "data altered", "data.title")
    prompts = [one for one in others if one.kind_of == "prompt changed"]
    assert prompts
    assert {one.upstream for one in prompts} == {first.position}


def test_a_wake_that_was_captured_where_it_was_not_queued_is_named() -> None:
    rows = list(whole().rows["agent"])
    nth = place_of(whole(), "agent", '"kind":"command.begin_wake.1"')
    position = json.decode(rows[nth].state)["data"]["command"]["agentPosition"]
    before, after = (f'"agentPosition":{n},' for n in (position, 1))
    started = next(at for at, row in enumerate(rows) if row.topic == "wake.started.1")
    rows[started] = altered(rows[started], before, after)
    rows = rechained(rows, nth, lambda row: altered(row, before, after))
    found = histories.prove_history(replace(whole(), rows={**whole().rows, "agent": rows}))
    told = {(one.path, one.expected) for one in found.divergences if one.kind_of == "rule changed"}
    assert ("cause", "a queued wake") in told


def test_code_that_differs_from_itself_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # patched on purpose: it plays code of tomorrow that draws its keys, which is forbidden today
    drawn = iter(range(10_000))
    real = key
    monkeypatch.setattr(
        "domain.handlers.journal.make_key", lambda *parts: real(*parts, str(next(drawn)))
    )
    assert "nondeterminism" in {kind_of for kind_of, _ in classes(histories.prove_history(whole()))}


def test_a_prompt_that_differs_from_itself_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, drawn, real = whole(), iter(range(10_000)), prompt_sections.section
    proved = histories.prove_history(recorded)

    def section(name: str, title: str, body: str, units: Iterable[str] = ()) -> Section:
        return real(name, title, f"{body} {next(drawn)}" if name == "report" else body, units)

    monkeypatch.setattr(prompt_sections, "section", section)
    reworded(monkeypatch, "act")
    found = histories.prove_history(recorded)
    assert set(classes(found)) == {
        ("nondeterminism", "user.report"), ("prompt changed", "user.instruction"),
    }  # fmt: skip
    assert found.prompts == proved.prompts


def test_a_fact_written_in_another_way_is_another_format() -> None:
    nth = place_of(whole(), "journal", '"kind":"task.priority_set.1"')
    proof = LogProof("journal", whole().payloads.get)
    rows = rechained(whole().rows["journal"], nth, lambda row: altered(row, '"by":', ' "by":'))
    kinds = [(one.kind_of, one.path) for one in proof.walk(rows)]
    assert ("event format changed", "state") in kinds


# ---------------------------------------------------------------------------- options and anchors


def test_what_came_before_is_only_folded() -> None:
    nth = place_of(whole(), "journal", '"kind":"task.priority_set.1"')
    rows = list(whole().rows["journal"])
    rows[nth] = rows[nth]._replace(topic="task.retitled.1")
    n = LogProof("journal", whole().payloads.get)
    (one,) = n.walk(rows)
    assert one.path == "topic"
    later = LogProof("journal", whole().payloads.get, ProofOptions(since=99))
    assert list(later.walk(rows)) == []


def test_older_epochs_are_executed_when_asked_for() -> None:
    nth = place_of(whole(), "journal", '"kind":"task.priority_set.1"')
    rows = list(whole().rows["journal"])
    rows[nth] = rows[nth]._replace(topic="task.retitled.1")
    newer = ProofOptions(rules=RULES + 1)
    assert list(LogProof("journal", whole().payloads.get, newer).walk(rows)) == []
    every = replace(newer, is_every_epoch=True)
    assert [one.path for one in LogProof("journal", whole().payloads.get, every).walk(rows)] == [
        "topic"
    ]


def test_an_anchor_finds_a_tail_that_was_cut_off(tmp_path: Path) -> None:
    at = make.history()
    file = tmp_path / "anchors.jsonl"
    whole = prove_logs(at.journal, at.agents)
    assert anchors.add_anchor(file, whole.digest, whole.heads)
    assert not anchors.add_anchor(file, whole.digest, whole.heads)
    known = anchors.known_digests(anchors.read_anchors(file))
    at.append_journal(do.EditTask(_a_task(at), title="Something else"))
    assert prove_logs(at.journal, at.agents, anchors=known).ok
    rows = list(at.journal.rows())[:-4]
    proof = LogProof("journal", at.journal.payload, ProofOptions(anchors=known))
    paths = [one.path for one in proof.walk(rows)]
    assert "tail" in paths


def _a_task(at: Services) -> str:
    return next(row.entity for rows in at.journal.appends() for row in rows
                if row.of_kind == "task")  # fmt: skip


def test_an_anchor_of_another_past_is_named() -> None:
    at = make.history()
    known = {"journal:r1": {3: "a" * 32}}
    found = prove_logs(at.journal, at.agents, anchors=known)
    assert classes(found) == [("data altered", "anchor")]


@pytest.mark.parametrize("line", ["{", "[]", '{"digest":1,"heads":{}}'])
def test_a_file_of_something_else_is_no_anchor(tmp_path: Path, line: str) -> None:
    file = tmp_path / "anchors.jsonl"
    file.write_text(line)
    with pytest.raises(Refused, match="line 1"):
        anchors.read_anchors(file)


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        ({"a": 1}, {"a": 1}, ""),
        ({"a": 1}, {"a": 2}, "a"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b"),
        ({"a": 1}, {}, "a"),
        ({}, {"b": 1}, "b"),
        ([1], [1, 2], "[1]"),
    ],
)
def test_a_path_leads_to_the_first_difference(one: object, other: object, path: str) -> None:
    assert path_within(one, other) == path


# ------------------------------------------------------------------------------------------- damage


def kinds_of(history: History) -> set[tuple[str, str]]:
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
    rows = [row for log in whole().rows.values() for row in log]
    places = {next(row.topic for row in rows if name.encode() in row.state): name
              for name in whole().payloads}  # fmt: skip
    assert len(places) > 3
    for name in places.values():
        left = {one: data for one, data in whole().payloads.items() if one != name}
        assert kinds_of(replace(whole(), payloads=left)) == {("payload missing", "payload")}, name


def test_a_section_that_is_gone_is_not_told_as_a_changed_prompt_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded = whole()  # before the wording changes: it stands for a later version of it
    told = TOLD.sentences.act_first
    gone = {name for name, data in recorded.payloads.items() if told.encode() in data}
    assert gone
    left = {name: data for name, data in recorded.payloads.items() if name not in gone}
    reworded(monkeypatch, "act_first")
    found = kinds_of(replace(recorded, payloads=left))
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
    assert kinds_of(with_rows("agent", turned)) == {("data altered", "user")}


def test_a_wake_whose_positions_are_past_is_left_out_where_nobody_can_go_back() -> None:
    at = captured_early()
    sides = (
        PairedLog(LogProof(log.name, log.payload), log.rows(), payload=log.payload)
        for log in (at.journal, at.agents)
    )
    proved = prove_sides(*sides)
    assert (proved.divergences, proved.wakes, proved.prompts) == ((), 1, 0)


def test_an_edited_proposal_of_a_wake_of_long_ago_is_proved() -> None:
    wait = reply(("set_task_status", '{"status":"BLOCKED","reason":"Waits for a pipe."}'))
    at, _, first = one_agent([wait, reply(text="Done."), reply(text="Fine.")])
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


# ---------------------------------------------------------------------------------- folds that fail


def refusing(task: Task, row: RecordedEvent) -> Task:
    """A fold of tasks that somebody broke: it knows no task that came back."""
    if isinstance(row.fact, TaskRestored):
        raise KeyError("is_deletedx")
    return TASK.evolve(task, row)


@pytest.fixture
def restored() -> Services:
    """Two tasks; one was deleted, and comes back with the log's last append."""
    at, task, _ = one_agent()
    at.append_journal(do.DeleteTask(task))
    task_with_agent(at, "Mend the roof")
    at.append_journal(do.RestoreTask(task))
    return at


@pytest.fixture
def _a_broken_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a kind of its own in the place of tasks; what decides still folds as it should."""
    monkeypatch.setitem(STREAM_TYPES, "task", replace(TASK, step=refusing))


@pytest.mark.usefixtures("_a_broken_fold")
def test_a_row_that_does_not_fold_is_named_at_the_end_of_a_log(restored: Services) -> None:
    (one,) = divergences(restored)
    last = list(restored.journal.rows())[-1]
    assert (one.kind_of, one.path) == ("rule changed", "fold")
    assert (one.stream, one.version) == (last.stream, last.version)
    assert one.expected == "a fact that folds (KeyError: 'is_deletedx')"
    assert last.state.decode() in one.actual


@pytest.mark.usefixtures("_a_broken_fold")
def test_it_is_named_where_the_cause_is_only_folded(restored: Services) -> None:
    proof = LogProof("journal", restored.journal.payload, ProofOptions(rules=99))
    assert [one.path for one in proof.walk(restored.journal.rows())] == ["fold"]


@pytest.mark.usefixtures("_a_broken_fold")
@pytest.mark.parametrize("is_followed", [False, True])
def test_it_is_named_once_where_streams_rest_and_are_read_again(
    restored: Services, is_followed: bool
) -> None:
    if is_followed:
        last = list(restored.journal.rows())[-1]
        restored.append_journal(
            do.EditTask(last.stream[len("task:") : -len("@r1")], title="Fix it")
        )
    found = prove_logs(restored.journal, restored.agents, limits=WalkLimits(states=0)).divergences
    assert [(one.kind_of, one.path) for one in found] == [("rule changed", "fold")]
