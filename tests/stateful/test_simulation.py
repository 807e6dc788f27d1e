"""The whole of it by a seed: every law after every step, the same bytes every time."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.proof import histories
from adapters.runtime.services import Services
from adapters.simulation.plan import WEIGHTS, Dice, PlannedStep, plan, shrink_plan
from adapters.simulation.play import HomeEpisode, history_of, shortest, simulate
from domain.append.causes import Replied
from domain.append.envelope import Row
from domain.journal.commands import ApplyOperation
from domain.log.wire import Words
from domain.wake.wake import ModelAnswered
from replay.appends import appends
from replay.invariants import Invariants

WAKES = 60
MORE = 200


def test_a_simulation_keeps_every_law_and_repeats_itself() -> None:
    first, second = (simulate("two", WAKES) for _ in range(2))
    assert first.faults == ()
    assert first == second
    assert first.wakes >= WAKES
    assert simulate("three", 5).digest != simulate("two", WAKES // 4).digest


def test_some_hundred_wakes_with_accidents_keep_every_law() -> None:
    done = simulate("hundreds", MORE)
    assert done.faults == ()
    assert done.crashes > 0


def test_verdicts_are_taken_back_lessons_learnt_and_notes_folded_on_the_way() -> None:
    told = b"".join(row.state for rows in history_of(plan("e", 400)).rows.values()
                    for row in rows)  # fmt: skip
    for tag in (
        "command.undo_deed.1", "changes.item_reopened.1", "command.learn_verdicts.1",
        "lessons.decided.1", "lessons.rated.1", "memory.folded.1",
    ):  # fmt: skip
        assert f'"kind":"{tag}"'.encode() in told, tag


def test_a_longer_plan_begins_as_a_shorter_one() -> None:
    assert plan("a", 20)[:12] == plan("a", 10)
    assert plan("a", 20) != plan("b", 20)
    assert {one.deed for one in plan("a", 2_000)} == set(WEIGHTS)


@given(seed=st.text(max_size=5), below=st.integers(1, 10_000))
def test_dice_stay_below(seed: str, below: int) -> None:
    one, other = Dice(seed), Dice(seed)
    numbers = [one.number(below) for _ in range(20)]
    assert numbers == [other.number(below) for _ in range(20)]
    assert all(0 <= number < below for number in numbers)


# ------------------------------------------------------------------------------ broken on purpose


def apply_unasked(at: Services, step: PlannedStep) -> None:
    """An effect that nobody asked for, whenever somebody is asked something."""
    if step.deed != "ask":
        return
    rows = [row for append in at.journal.appends() for row in append if row.of_kind == "task"]
    if not rows:
        return
    command = ApplyOperation(
        "o" * 32, "a" * 32, rows[0].entity, "update_task_estimate", Words("{}")
    )
    at.append_journal(command, key=command.operation)


def test_a_broken_law_is_found_and_its_plan_made_short() -> None:
    steps = plan("broken", 60)
    played = HomeEpisode(sabotage=apply_unasked).run(steps)
    assert any("has an effect and no intent" in fault for fault in played.faults)
    short = shortest(steps[: played.steps], partial(HomeEpisode, sabotage=apply_unasked))
    assert [one.deed for one in short] == ["task", "ask"]


def test_a_plan_can_be_kept_as_a_history() -> None:
    history = history_of(plan("kept", 10))
    assert histories.prove_history(history).divergences == ()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_what_is_made_short_still_fails(numbers: Sequence[int]) -> None:
    steps = [PlannedStep("pass", number, 0) for number in numbers]

    def fails(tried: Sequence[PlannedStep]) -> bool:
        return sum(one.who for one in tried) >= 7

    if fails(steps):
        short = shrink_plan(steps, fails)
        assert fails(short)
        assert all(not fails([*short[:at], *short[at + 1 :]]) for at in range(len(short)))


# -------------------------------------------------------------------------------------- the laws


def rows_of() -> dict[str, list[Row]]:
    return dict(history_of(plan("laws", 90)).rows)


def broken(rows: dict[str, list[Row]]) -> list[str]:
    laws = Invariants()
    found: list[str] = []
    for log in ("agent", "journal"):
        for one in appends(rows[log]):
            found += laws.take(log, one)
    return found


def test_rows_as_they_were_written_break_no_law() -> None:
    assert broken(rows_of()) == []


@pytest.mark.parametrize(
    ("topic", "told"),
    [
        ("wake.finished.1", "carries another digest"),
        ("wake.started.1", "carries another digest"),
        ("wake.model_asked.1", "answers what was not asked"),
    ],
)
def test_a_row_that_is_gone_breaks_one(topic: str, told: str) -> None:
    rows = rows_of()
    at = next(nth for nth, row in enumerate(rows["agent"]) if row.topic == topic)
    del rows["agent"][at]
    assert any(told in fault for fault in broken(rows)), broken(rows)[:5]


def test_a_second_answer_is_late_and_breaks_none() -> None:
    play = HomeEpisode()
    play.run(plan("laws", 90))
    answered = [row for rows in play.agents.appends() for row in rows
                if isinstance(row.fact, ModelAnswered)]  # fmt: skip
    one = answered[0]
    play.agents.append(Replied("wake", one.entity, one.fact), "2099-01-01T00:00:00.000000Z")
    rows = {"agent": list(play.agents.rows()), "journal": list(play.journal.rows())}
    assert rows["agent"][-1].topic == "wake.late_reply.1"
    assert broken(rows) == []
