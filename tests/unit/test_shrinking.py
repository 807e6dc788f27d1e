"""A failing plan is made shorter, down to the steps that it takes; its model fails in all ways."""

from collections.abc import Sequence

import pytest

from adapters.simulation.fuzz_model import MOODS, FuzzModel
from adapters.simulation.plan import TRIES_MAX, PlannedStep, plan, shrink_plan
from domain.ports import ModelFault, Request, Section


def test_only_the_steps_that_it_takes_are_left() -> None:
    steps = plan("shrinking", 60)
    needed = [steps[7], steps[41]]

    def fails(tried: Sequence[PlannedStep]) -> bool:
        return all(one in tried for one in needed)

    assert shrink_plan(steps, fails) == needed


def test_it_gives_up_in_time_and_never_tries_an_empty_plan() -> None:
    tried: list[Sequence[PlannedStep]] = []

    def never(steps: Sequence[PlannedStep]) -> bool:
        tried.append(steps)
        return False

    steps = plan("shrinking", 2 * TRIES_MAX)
    assert shrink_plan(steps, never) == steps
    assert len(tried) == TRIES_MAX
    assert all(tried)


@pytest.mark.parametrize("mood", MOODS)
def test_each_mood_of_its_model_answers_or_fails_in_its_own_way(mood: str) -> None:
    expected = {"silence": TimeoutError, "provider": ModelFault, "broken": ModelFault}
    model = FuzzModel()
    request = Request("unruly", (), (Section("now", "## Now\n\nFri 2027-01-01"),))
    if mood not in expected:
        assert isinstance(model.calls(request, [mood]), list)
        return
    with pytest.raises(expected[mood]) as failed:
        model.calls(request, [mood])
    if isinstance(failed.value, ModelFault):
        assert failed.value.of_provider == (mood == "provider")
