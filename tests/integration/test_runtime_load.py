"""The benches of the runtime, small: their books must balance on every run of the suite."""

import pytest

from tests.bench import runtime_kill, runtime_load


@pytest.mark.slow
def test_every_change_is_in_one_wake_or_one_suppression_under_load() -> None:
    found = runtime_load.main(["--agents", "12", "--changes", "200", "--burst", "50"])
    assert (found.triggers, found.double, found.missing, found.overlaps) == (200, 0, 0, 0)


@pytest.mark.slow
def test_runtimes_that_are_killed_lose_nothing_and_do_nothing_twice() -> None:
    found = runtime_kill.main(["--times", "3", "--agents", "8", "--changes", "10"])
    assert (found.triggers, found.double, found.missing, found.overlaps) == (30, 0, 0, 0)
