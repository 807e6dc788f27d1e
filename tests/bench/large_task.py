"""What a very large task costs: a wake over N notes, N items and N observations; both logs in
memory, seconds of the processor.

.venv/bin/python tests/bench/large_task.py
"""

import platform
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.views import Views
from adapters.runtime.services import Services
from domain.journal.task import TASK
from tests.support import large


def cold(at: Services) -> float:
    """Seconds to fold the task anew, as a fresh process does."""
    begun = time.process_time()
    at.journal.world_at(at.journal.tail().n).load(TASK, large.TASK_ID)
    return time.process_time() - begun


def measured(count: int) -> None:
    begun = time.process_time()
    at, agent, _ = large.large(count)
    built = time.process_time() - begun
    large.size_of_next_wake(at, agent)
    begun = time.process_time()
    size = large.size_of_next_wake(at, agent)
    seconds = time.process_time() - begun
    views = Views.in_memory({"journal": at.journal, "agent": at.agents})
    begun = time.process_time()
    views.catch_up()
    viewed = time.process_time() - begun
    large.note(at, "and another")
    begun = time.process_time()
    views.catch_up()
    again = time.process_time() - begun
    print(
        f"{count:6}: built {built:5.2f} s; wake {seconds:.3f} s, {size.rows} rows of"
        f" {size.row_bytes:,} bytes, prompt {size.prompt_bytes:,}, snapshot"
        f" {size.snapshot_bytes:,}; agent state {large.state_bytes(at, agent):,}; cold fold"
        f" {cold(at):.3f} s; views {viewed:.2f} s, one note more {again:.3f} s"
    )


def main() -> None:
    print(f"{platform.platform()}, Python {platform.python_version()}")
    for count in (10, 100, 1_000, 10_000):
        measured(count)


if __name__ == "__main__":
    main()
