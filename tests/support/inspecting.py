"""Logs of Inspect, read back with its own reader."""

from pathlib import Path
from typing import Any

import pytest


def read_logs(folder: Path) -> list[Any]:
    """What is in a folder. Its package loads when it is used: that takes two seconds."""
    inspect_log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    return [inspect_log.read_eval_log(one) for one in inspect_log.list_eval_logs(str(folder))]
