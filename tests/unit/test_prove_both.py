"""Both logs proved together: prompts, notices, effects and positions that one has of the other."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from msgspec import json
from msgspec.structs import replace

from adapters.home.settings import PromptSettings, Settings
from adapters.proof import anchors, histories
from adapters.proof.histories import History
from adapters.proof.prove import Proved, diff, prove_logs
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from adapters.text.proof import divergence_lines
from domain.append.envelope import Row
from domain.errors import Refused
from domain.journal.commands import AddNote, ApplyOperation, EditTask
from domain.log.keys import key
from domain.log.rules import RULES
from domain.log.wire import Words
from domain.ports import Section
from domain.wake import directives, prompt_sections
from domain.wake.scaffolds import SCAFFOLD
from replay.divergence import path_within
from replay.prove import LogProof, ProofOptions
from replay.streams import WalkLimits
from tests.histories import make, scenes
from tests.histories.acting import Scene
from tests.support.rows import altered, rechained
from tests.support.services import captured_early, queued_key, reply, services, task_with_agent
from tests.support.wording import reworded


@cache
def _whole() -> History:
    at = make.history()
    return histories.take_history(at.journal, at.agents)


def classes(proved: Proved) -> list[tuple[str, str]]:
    return [(one.kind_of, one.path) for one in proved.divergences]


def with_row(history: History, log: str, nth: int, row: Row) -> History:
    rows = list(history.rows[log])
    rows[nth] = row
    return replace(history, rows={**history.rows, log: rows})


def index_of(history: History, log: str, wanted: str) -> int:
    return next(nth for nth, row in enumerate(history.rows[log]) if wanted.encode() in row.state)


# ------------------------------------------------------------------------------------------- whole


def test_every_prompt_is_rendered_again() -> None:
    proved = histories.prove_history(_whole())
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
        at.append_journal(AddNote(task, "note", Words(f"{nth} " + "word " * 150)))
    run_key = queued_key(at, agent)
    captured = capture(at, agent, run_key, is_now=True)
    assert captured.command.prompt_max_bytes == 20_000
    at.append_agent(captured.command, payloads=captured.payloads)
    assert prove_logs(at.journal, at.agents).divergences == ()


# ----------------------------------------------------------------------------------------- faults


def test_another_text_in_a_section_is_a_changed_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = _whole()  # before the wording changes: it stands for a later version of it
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
    recorded = _whole()
    monkeypatch.setitem(directives.ROLES, SCAFFOLD, directives.ROLES[SCAFFOLD] + " Be brief.")
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
    nth = index_of(_whole(), "agent", '"kind":"command.take_journal.1"')
    row = _whole().rows["agent"][nth]
    state = row.state.replace(b'"origin":"person"', b'"origin":"nobody"', 1)
    found = histories.prove_history(with_row(_whole(), "agent", nth, row._replace(state=state)))
    assert ("data altered", "data.command.batches[1].origin") in classes(found)


def test_an_effect_without_its_intent_is_named() -> None:
    at = make.history()
    with at.journal.reading() as world:
        task = _a_task(at)
        assert world.n > 1
    command = ApplyOperation("o" * 32, "a" * 32, task, "update_task_estimate",
                             Words('{"minutes":5}'))  # fmt: skip
    at.append_journal(command, key=command.operation)
    assert prove_logs(at.journal, at.agents).ok, "the agent log does not know of it yet"
    task_with_agent(at, "Another")
    found = prove_logs(at.journal, at.agents)
    assert classes(found) == [("data altered", "operation")]


def test_an_operation_under_another_key_is_named() -> None:
    nth = index_of(_whole(), "journal", '"kind":"command.apply_operation.1"')
    row = _whole().rows["journal"][nth]
    stream = row.stream.replace(row.stream[8:12], "aaaa", 1)
    found = histories.prove_history(with_row(_whole(), "journal", nth, row._replace(stream=stream)))
    assert ("data altered", "stream") in classes(found)


def test_a_journal_cut_below_what_the_agent_log_knows_is_named() -> None:
    rows = _whole().rows["journal"]
    last = rows[-1].state.split(b'"n":')[1].split(b",")[0]
    kept = [row for row in rows if b'"n":' + last + b"," not in row.state]
    found = histories.prove_history(replace(_whole(), rows={**_whole().rows, "journal": kept}))
    assert ("data altered", "position") in classes(found)


def test_what_comes_of_an_altered_journal_is_led_back_to_it() -> None:
    nth = index_of(_whole(), "journal", '"kind":"task.created.1"')
    row = _whole().rows["journal"][nth]
    state = row.state.replace(b"Fix the sink", b"Fix the sing")
    found = histories.prove_history(with_row(_whole(), "journal", nth, row._replace(state=state)))
    first, *others = found.divergences
    assert (first.log, first.kind_of, first.path) == ("journal", "data altered", "data.title")
    prompts = [one for one in others if one.kind_of == "prompt changed"]
    assert prompts
    assert {one.upstream for one in prompts} == {first.position}


def test_a_wake_that_was_captured_where_it_was_not_queued_is_named() -> None:
    rows = list(_whole().rows["agent"])
    nth = index_of(_whole(), "agent", '"kind":"command.begin_wake.1"')
    position = json.decode(rows[nth].state)["data"]["command"]["agentPosition"]
    before, after = (f'"agentPosition":{n},' for n in (position, 1))
    started = next(at for at, row in enumerate(rows) if row.topic == "wake.started.1")
    rows[started] = altered(rows[started], before, after)
    rows = rechained(rows, nth, lambda row: altered(row, before, after))
    found = histories.prove_history(replace(_whole(), rows={**_whole().rows, "agent": rows}))
    told = {(one.path, one.expected) for one in found.divergences if one.kind_of == "rule changed"}
    assert ("cause", "a queued wake") in told


def test_code_that_differs_from_itself_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # patched on purpose: it plays code of tomorrow that draws its keys, which is forbidden today
    drawn = iter(range(10_000))
    real = key
    monkeypatch.setattr(
        "domain.handlers.journal.make_key", lambda *parts: real(*parts, str(next(drawn)))
    )
    assert "nondeterminism" in {
        kind_of for kind_of, _ in classes(histories.prove_history(_whole()))
    }


def test_a_prompt_that_differs_from_itself_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, drawn, real = _whole(), iter(range(10_000)), prompt_sections.section
    proved = histories.prove_history(whole)

    def section(name: str, title: str, body: str, units: Iterable[str] = ()) -> Section:
        return real(name, title, f"{body} {next(drawn)}" if name == "report" else body, units)

    monkeypatch.setattr(prompt_sections, "section", section)
    reworded(monkeypatch, "act")
    found = histories.prove_history(whole)
    assert set(classes(found)) == {
        ("nondeterminism", "user.report"), ("prompt changed", "user.instruction"),
    }  # fmt: skip
    assert found.prompts == proved.prompts


def test_a_fact_written_in_another_way_is_another_format() -> None:
    nth = index_of(_whole(), "journal", '"kind":"task.priority_set.1"')
    proof = LogProof("journal", _whole().payloads.get)
    rows = rechained(_whole().rows["journal"], nth, lambda row: altered(row, '"by":', ' "by":'))
    kinds = [(one.kind_of, one.path) for one in proof.walk(rows)]
    assert ("event format changed", "state") in kinds


# ---------------------------------------------------------------------------- options and anchors


def test_what_came_before_is_only_folded() -> None:
    nth = index_of(_whole(), "journal", '"kind":"task.priority_set.1"')
    rows = list(_whole().rows["journal"])
    rows[nth] = rows[nth]._replace(topic="task.retitled.1")
    n = LogProof("journal", _whole().payloads.get)
    (one,) = n.walk(rows)
    assert one.path == "topic"
    later = LogProof("journal", _whole().payloads.get, ProofOptions(since=99))
    assert list(later.walk(rows)) == []


def test_older_epochs_are_executed_when_asked_for() -> None:
    nth = index_of(_whole(), "journal", '"kind":"task.priority_set.1"')
    rows = list(_whole().rows["journal"])
    rows[nth] = rows[nth]._replace(topic="task.retitled.1")
    newer = ProofOptions(rules=RULES + 1)
    assert list(LogProof("journal", _whole().payloads.get, newer).walk(rows)) == []
    every = replace(newer, is_every_epoch=True)
    assert [one.path for one in LogProof("journal", _whole().payloads.get, every).walk(rows)] == [
        "topic"
    ]


def test_an_anchor_finds_a_tail_that_was_cut_off(tmp_path: Path) -> None:
    at = make.history()
    file = tmp_path / "anchors.jsonl"
    whole = prove_logs(at.journal, at.agents)
    assert anchors.add_anchor(file, whole.digest, whole.heads)
    assert not anchors.add_anchor(file, whole.digest, whole.heads)
    known = anchors.known_digests(anchors.read_anchors(file))
    at.append_journal(EditTask(_a_task(at), title="Something else"))
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
