"""A failing plan is made shorter, down to the steps that it takes."""

from collections.abc import Sequence

from adapters.simulation.plan import TRIES_MAX, Step, plan, shrunk


def test_only_the_steps_that_it_takes_are_left() -> None:
    steps = plan("shrinking", 60)
    needed = [steps[7], steps[41]]

    def fails(tried: Sequence[Step]) -> bool:
        return all(one in tried for one in needed)

    assert shrunk(steps, fails) == needed


def test_it_gives_up_in_time_and_never_tries_an_empty_plan() -> None:
    tried: list[Sequence[Step]] = []

    def never(steps: Sequence[Step]) -> bool:
        tried.append(steps)
        return False

    steps = plan("shrinking", 2 * TRIES_MAX)
    assert shrunk(steps, never) == steps
    assert len(tried) == TRIES_MAX
    assert all(tried)
