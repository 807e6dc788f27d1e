"""`wakelog serve` in a process of its own: it says where it is, answers, and ends on Ctrl-C."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.cli import refused

pytestmark = pytest.mark.e2e


def started(home: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
    """A server on a free port, and the address that it printed."""
    command = [sys.executable, "-m", "adapters.cli.main", "--home", str(home), "serve"]
    process = subprocess.Popen(
        [*command, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> str:
    """End it as a person does; what it said on stderr."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    return str(said)


def test_it_serves_this_machine_and_ends_when_told(tmp_path: Path) -> None:
    process, address = started(tmp_path)
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(f"{address}inbox", timeout=10) as answer:
        assert answer.status == 200
        assert b"Nothing to review" in answer.read()
    said = ended(process)
    assert "Ctrl-C ends it" in said
    assert "Traceback" not in said
    assert process.returncode in (0, 130)


def test_another_address_prints_a_token_and_asks_for_it(tmp_path: Path) -> None:
    process, address = started(tmp_path, "--host", "0.0.0.0")
    bare, _, token = address.replace("0.0.0.0", "127.0.0.1").partition("?token=")
    assert len(token) >= 32
    with pytest.raises(urllib.error.HTTPError, match="401") as error:
        urllib.request.urlopen(f"{bare}inbox", timeout=10)
    error.value.close()
    asked = urllib.request.Request(f"{bare}inbox", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        assert token not in answer.read().decode()
    assert token not in ended(process)


def test_a_port_that_is_taken_or_a_short_token_is_one_line(tmp_path: Path) -> None:
    process, address = started(tmp_path)
    port = address.rstrip("/").rpartition(":")[2]
    assert "cannot be listened on" in refused(["serve", "--port", port], tmp_path)
    ended(process)
    short = {"WAKELOG_SERVE_TOKEN": "short"}
    assert "shorter than" in refused(["serve", "--host", "0.0.0.0"], tmp_path, env=short)
