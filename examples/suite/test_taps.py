"""A suite of one's own, about agents that are to estimate and never to close.

Run it with `pytest` where `wakelog[testing]` is installed. What `keep_history` writes is proved by
any later version with ``pytest --wakelog-histories FOLDER``.
"""

from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from wakelog import Home
from wakelog.testing import (
    REPORT,
    HomeMachine,
    ScriptedModel,
    Step,
    assert_proves,
    calls,
    keep_history,
    prompt_of,
)


def test_an_estimate_is_proposed(
    wakelog_home: Home, wakelog_model: ScriptedModel, tmp_path: Path
) -> None:
    wakelog_home.add_task("Fix the tap", description="It drips.")
    wakelog_home.create_agent("Fix the tap")
    wakelog_model.then(calls(("update_task_estimate", {"minutes": 45}), REPORT))
    wakelog_home.wake("Fix the tap")
    assert "It drips." in prompt_of(wakelog_model)
    assert wakelog_home.show_task("Fix the tap").estimate_minutes is None
    assert wakelog_home.confirm("1.1").status == "confirmed"
    assert wakelog_home.show_task("Fix the tap").estimate_minutes == 45
    assert_proves(wakelog_home)
    keep_history(wakelog_home, tmp_path / "an-estimate.jsonl")


class Taps(HomeMachine):
    """Whatever happens, also what we do to taps here, no agent wants to close a task."""

    @rule(nth=st.integers(0, 3))
    def it_drips_again(self, nth: int) -> None:
        self.does(Step("note", {"task": nth, "text": "It drips again."}))

    @invariant()
    def nobody_but_its_person_closes_a_task(self) -> None:
        proposed = [item for one in self.home.inbox() for item in one.items]
        assert "DONE" not in [item.arguments.get("status") for item in proposed]


TestTaps = Taps.TestCase
TestTaps.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
