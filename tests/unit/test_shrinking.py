"""A failing plan is made shorter, down to the steps that it takes."""

from collections.abc import Sequence

from adapters.simulation.plan import TRIES_MAX, PlannedStep, plan, shrink_plan


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
