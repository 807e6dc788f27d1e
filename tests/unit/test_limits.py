"""The limits that matter bite, whatever their numbers are."""

import pytest

from adapters.home.views import Views
from adapters.runtime import watcher
from adapters.runtime.services import Services
from domain.agent.agent import AGENT, CRITICAL_KEPT, JOURNAL_SHOWN
from domain.agent.wake_queue import SEEN_KEPT, TRIGGERS_KEPT, WAKE_QUEUE
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.wire import INLINE_MAX_BYTES
from domain.tools.snapshot import FINISHED_ITEMS_KEPT, OPEN_ITEMS_KEPT
from domain.wake.reading import PromptLimits
from domain.wake.wake import WAKE
from projections.wakes import CAUSES_KEPT, VIEW
from tests.support import large
from tests.support.services import divergences

MANY = 1_500  # more than every count that is kept


# ----------------------------------------------------------------------------- a very large task


@pytest.mark.slow
def test_a_wake_over_a_very_large_task_is_no_larger_than_over_a_large_one() -> None:
    sizes = []
    for count in (MANY, 3 * MANY):
        at, agent, _ = large.large(count)
        large.size_of_next_wake(at, agent)
        sizes.append((large.size_of_next_wake(at, agent), large.state_bytes(at, agent)))
    (small, small_state), (big, big_state) = sizes
    assert big.rows == small.rows
    assert big.row_bytes == small.row_bytes
    assert big.prompt_bytes <= PromptLimits().prompt_max_bytes
    assert abs(big.prompt_bytes - small.prompt_bytes) < 500  # ids and counts differ in length
    assert big.snapshot_bytes < 1.1 * small.snapshot_bytes
    assert big_state < 1.1 * small_state


Large = tuple[Services, str, large.Observant]


@pytest.fixture(scope="module")
def one() -> Large:
    """A very large task, its agent and its model, after one more wake."""
    made = large.large(MANY)
    large.size_of_next_wake(*made[:2])
    return made


def test_one_more_note_item_or_observation_changes_nothing_else(one: Large) -> None:
    at, agent, model = one
    before = large.size_of_next_wake(at, agent)
    after = large.size_of_next_wake(at, agent)
    assert (after.rows, after.row_bytes) == (before.rows, before.row_bytes)
    assert abs(after.prompt_bytes - before.prompt_bytes) < 100
    assert abs(after.snapshot_bytes - before.snapshot_bytes) < 10
    with at.agents.reading() as world:
        state = world.load(AGENT, agent)
    assert (len(state.observations), len(state.critical)) == (JOURNAL_SHOWN, CRITICAL_KEPT)
    assert model.made == MANY
    assert divergences(at) == []


def test_a_snapshot_keeps_what_a_prompt_can_show(one: Large) -> None:
    limits = PromptLimits()
    assert limits.items_max <= OPEN_ITEMS_KEPT
    assert limits.finished_items_max <= FINISHED_ITEMS_KEPT
    at, agent, _ = one
    run_key = at.agent(agent).last_run
    with at.agents.reading() as world:
        begun = world.load(WAKE, run_key).begun
        user = {one.name: world.payload(one.payload).decode() for one in begun.user}
        kept = canonical.read(world.payload(begun.snapshot))
    assert isinstance(kept, dict)
    ids = [item["id"] for item in kept["items"]]
    assert len(ids) == OPEN_ITEMS_KEPT + FINISHED_ITEMS_KEPT
    with at.journal.reading() as journal:
        every = [item.id for item in journal.load(TASK, large.TASK_ID).items]
    shown = [one for one in every if f'"{one[:8]}"' in "".join(user.values())]
    assert len(shown) > 50
    assert set(shown) <= set(ids)
    assert ids == [one for one in every if one in set(ids)]  # in their order


def test_attention_keeps_so_many_triggers_and_the_log_all() -> None:
    at, agent, _ = large.large(10)
    count = TRIGGERS_KEPT + 100
    for nth in range(count):
        large.note(at, f"note {nth}")
    watcher.catch_up(at)
    with at.agents.reading() as world:
        wake_queue = world.load(WAKE_QUEUE, agent)
    assert wake_queue.queued is not None
    assert len(wake_queue.queued.triggers) == TRIGGERS_KEPT
    assert len(wake_queue.seen) == SEEN_KEPT
    run_key = large.wake(at, agent)
    views = Views.in_memory({"journal": at.journal, "agent": at.agents})
    views.catch_up()
    document = views.get(VIEW, run_key)
    assert document is not None
    assert (len(document.causes), document.cause_count) == (CAUSES_KEPT, count)
    assert divergences(at) == []


def test_no_row_holds_a_long_text() -> None:
    at, agent, _ = large.large(50)
    large.note(at, "x" * 50_000)
    watcher.catch_up(at)
    large.wake(at, agent)
    rows = [row for log in (at.journal, at.agents) for row in log.rows()]
    assert max(len(row.state) for row in rows) < 8 * INLINE_MAX_BYTES


def test_only_the_end_of_a_long_stream_is_read_for_what_is_new() -> None:
    at, _, _ = large.large(200)
    for nth in range(30):
        large.note(at, f"note {nth}")
    with at.journal.reading() as world:
        every = world.recorded("task", large.TASK_ID)
        for after in (0, 1, 2, 3, 10, 31, 32, 33, 500):
            expected = [row for row in every if row.n > after]
            assert list(world.recorded("task", large.TASK_ID, after)) == expected
