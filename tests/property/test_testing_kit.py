"""`wakelog.testing`, which suites of others stand on: what it draws is allowed, what it finds is
true."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.proof.histories import prove_history, read_history
from domain.journal import edits
from domain.ports import ModelFault, Reply
from tests.support.doors import USE_CASES
from wakelog import Home, Refused
from wakelog import testing as kit

pytest_plugins = ["wakelog.testing"]
FEW = settings(max_examples=15)


def with_agent(model: kit.ScriptedModel) -> Home:
    home = kit.memory_home(model)
    home.add_task("Fix the tap")
    home.create_agent("Fix the tap")
    return home


# --------------------------------------------------------------------------------- scripted models


def test_it_says_one_after_the_other_and_then_what_it_says_at_the_end() -> None:
    model = kit.ScriptedModel([kit.calls(kit.REPORT), kit.calls(text="Two.")])
    with with_agent(model) as home:
        assert home.wake("Fix the tap").report is not None
        assert [one.exchanges != () for one in model.requests] == [False, True]
        model.then(kit.calls(("set_task_title", {"title": "Mend the tap"})))
        assert home.wake("Fix the tap").proposals == 1
        assert "Fix the tap" in kit.prompt_of(model, 3)
        assert "Fix the tap" in kit.prompt_of(model)
        left = len(model.requests)
        home.wake("Fix the tap")
        assert len(model.requests) > left


def test_what_is_said_next_takes_the_place_of_what_was_left() -> None:
    model = kit.ScriptedModel([kit.calls(text="Never.")] * 5)
    model.then(kit.BLOCKED)
    with with_agent(model) as home:
        assert home.wake("Fix the tap").error_code == "blocked"


@pytest.mark.parametrize(
    ("fault", "outcome", "waits"),
    [(kit.OVERLOADED, None, "provider"), (kit.BLOCKED, "failed", None)],
)
def test_a_fault_is_one_of_the_provider_or_ends_the_wake(
    fault: ModelFault, outcome: str | None, waits: str | None
) -> None:
    with with_agent(kit.ScriptedModel(then=fault)) as home:
        wake = home.wake("Fix the tap")
        assert (wake.outcome, wake.waits_for) == (outcome, waits)


def test_what_proposes_is_given_a_quote_unless_it_has_one_or_is_no_json() -> None:
    assert kit.SAID in kit.quoted("update_task_estimate", {"minutes": 45})
    own = '{"minutes":45,"because":"two hours"}'
    assert kit.quoted("update_task_estimate", own) == own
    assert kit.quoted("update_task_estimate", "{") == "{"
    assert kit.quoted("update_task_estimate", "[]") == "[]"
    assert kit.SAID not in kit.quoted(*kit.REPORT)


# ------------------------------------------------------------------------------------------- homes


def test_a_home_in_memory_has_its_own_clock_and_settings() -> None:
    with kit.memory_home(now="2027-03-28T00:00:00Z", settings='timezone = "Asia/Tokyo"') as home:
        task = home.add_task("Fix the tap", due="today")
        assert task.due_date == "2027-03-28"
        assert home.advance(seconds=60 * 60 * 15) > "2027-03-28T15:00"
        assert home.add_task("Call Ann", due="today").due_date == "2027-03-29"


def test_a_process_dies_between_an_intent_and_its_effect() -> None:
    found = set[str]()
    for after in range(1, 8):
        with with_agent(
            kit.ScriptedModel([kit.calls(("set_task_title", {"title": "Tap"}))])
        ) as home:
            home.wake("Fix the tap")
            with kit.dying(home, after):
                home.confirm("1.1")
            found.add(home.inbox(is_all=True)[0].items[0].status)
            home.recover()
            status = home.inbox(is_all=True)[0].items[0].status
            assert home.tasks()[0].title == ("Tap" if status == "confirmed" else "Fix the tap")
            kit.assert_proves(home)
            assert kit.laws(home) == []
    assert found == {"pending", "confirming", "confirmed"}


def altered(home: Home, log: str, statement: str) -> None:
    """Do to a log what nobody may."""
    logs = {"journal": home._open().services.journal, "agent": home._open().services.agents}
    logs[log].recorder._connection.execute(statement)  # type: ignore[attr-defined]  # to forge


def test_what_does_not_prove_fails_with_what_prove_tells() -> None:
    with with_agent(kit.ScriptedModel()) as home:
        forged = "UPDATE stored_events SET state = replace(state, 'Fix the tap', 'Fix the top')"
        altered(home, "journal", f"{forged} WHERE originator_id LIKE 'task:%'")
        with pytest.raises(
            AssertionError, match=r"1 divergence\(s\) in \d+ rows(.|\n)*Fix the top"
        ):
            kit.assert_proves(home)


def test_a_law_that_is_broken_is_named() -> None:
    with with_agent(kit.ScriptedModel()) as home:
        home.wake("Fix the tap")
        assert kit.laws(home) == []
        altered(home, "agent", "DELETE FROM stored_events WHERE topic = 'wake.finished.1'")
        assert any("has no end" in one for one in kit.laws(home))


def test_a_history_that_was_kept_proves(tmp_path: Path) -> None:
    with with_agent(kit.ScriptedModel()) as home:
        home.wake("Fix the tap")
        kit.keep_history(home, tmp_path / "tap.jsonl")
    assert prove_history(read_history(tmp_path / "tap.jsonl")).ok


def test_the_fixtures_bring_a_home_and_its_model(
    wakelog_home: Home, wakelog_model: kit.ScriptedModel
) -> None:
    wakelog_home.add_task("Fix the tap")
    wakelog_home.create_agent("Fix the tap")
    wakelog_home.wake("Fix the tap")
    assert wakelog_model.requests


# -------------------------------------------------------------------------------------- strategies


@given(st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), kit.texts(size))))
def test_a_text_is_one_that_a_title_may_be(drawn: tuple[int, str]) -> None:
    size, text = drawn
    assert edits.titled(text, max(size, 30))


@FEW
@given(kit.tasks(), kit.tasks())
def test_a_task_that_is_drawn_may_be_added(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    with kit.memory_home() as home:
        home.add_task(**one)
        home.add_task(**other)
        assert len(home.tasks(scope="all")) == 2


def test_a_step_is_a_deed_of_the_table() -> None:
    rows = {one.name for one in USE_CASES}
    assert kit.STEPS.keys() <= rows


@settings(max_examples=150)
@given(kit.steps())
def test_what_a_step_names_is_bounded_as_deciders_bound(step: kit.Step) -> None:
    """It is refused only for what is not there, or not so."""
    with with_agent(kit.ScriptedModel()) as home:
        home.add_task("Paint the door", items=["Sand", "Prime", "Paint"])
        home.note("Fix the tap", "It drips.")
        home.note("Paint the door", "Green.")
        because = refusal(home, step)
        assert not [one for one in ("too long", "is empty", "no task") if one in because], step


def refusal(home: Home, step: kit.Step) -> str:
    """Why a step is refused; empty: it was done."""
    try:
        kit.done(home, step)
    except Refused as refused:
        return refused.because
    return ""


@FEW
@given(st.lists(kit.replies() | kit.faults(), max_size=4))
def test_whatever_a_model_says_proves(said: list[Reply | ModelFault]) -> None:
    with with_agent(kit.ScriptedModel(said)) as home:
        home.wake("Fix the tap")
        home.recover()
        kit.assert_proves(home)
        assert kit.laws(home) == []


@FEW
@given(kit.homes(deeds=8))
def test_a_home_that_is_drawn_proves(home: Home) -> None:
    home.recover()
    kit.assert_proves(home)
    assert kit.laws(home) == []


# ---------------------------------------------------------------------------------------- machines


class Seen(kit.HomeMachine):
    """Counts what became of steps, over all its runs."""

    met: ClassVar[set[tuple[str, bool]]] = set()

    def does(self, step: kit.Step) -> Any:
        found = super().does(step)
        self.met.add((step.name, found is not None))
        return found

    def teardown(self) -> None:
        super().teardown()
        Seen.met |= {("refused", True)} if self.refusals else set()


def test_a_machine_comes_everywhere_and_finds_nothing() -> None:
    Seen.TestCase.settings = settings(max_examples=30, stateful_step_count=20)
    Seen.TestCase("runTest").runTest()
    done = {name for name, is_done in Seen.met if is_done}
    assert {"confirm", "reject", "wake", "ask", "undo", "add_task", "refused"} <= done
