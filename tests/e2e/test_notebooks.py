"""Each notebook in a browser, as `marimo run` and `marimo edit` show it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from notebooks.names import NOTEBOOKS
from tests.support.browsing import START_SECONDS, in_browser

pytestmark = in_browser

BIN = Path(sys.executable).parent
KERNEL_MS = 120_000  # a kernel that begins on a busy machine takes longer than a page of ours
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a bit of everything, small."""
    path = tmp_path_factory.mktemp("demo") / "home"
    command = [str(BIN / "wakelog"), "demo-data", "--home", str(path)]
    size = ("--agents", "5", "--months", "2")
    subprocess.run([*command, *size], capture_output=True, check=True, timeout=300)
    return path


@contextmanager
def shown(mode: str, home: Path, where: Path, *what: str) -> Iterator[str]:
    """marimo with its own settings, whatever those of the person are; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = ["--headless", "--no-token", "--port", str(port)]
    environ = {**os.environ, "WAKELOG_HOME": str(home), "XDG_CONFIG_HOME": str(where / "config")}
    with (where / "marimo.log").open("wb") as log:
        serving = subprocess.Popen(
            [BIN / "marimo", "-y", mode, *what, *flags], cwd=ROOT, env=environ, stdout=log,
            stderr=log,
        )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(START_SECONDS * 10):
            if _answers(f"{address}/health"):
                break
            time.sleep(0.1)
        yield address
    finally:
        serving.terminate()
        serving.wait(30)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture(scope="module")
def running(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    where = tmp_path_factory.mktemp("run")
    with shown("run", lived, where, *(f"notebooks/{name}.py" for name in NOTEBOOKS)) as address:
        yield address


@pytest.fixture(scope="module")
def editing(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """It saves what it opens, so it gets a copy, and the settings of the project beside it."""
    where = tmp_path_factory.mktemp("edit")
    for path in ("pyproject.toml", "notebooks/odd_wake.py"):
        shutil.copy(ROOT / path, where)
    with shown("edit", lived, where, str(where), "--skip-update-check") as address:
        yield address


def is_rendered(page: Any, address: str, name: str) -> None:
    """All that the kept copy has is there: its heading, its pictures; and no Markdown, no error."""
    expect = pytest.importorskip("playwright.sync_api").expect
    copy = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    (title,) = re.findall(r"^# (.+)$", copy, flags=re.MULTILINE)[:1]
    page.goto(f"{address}/?file={name}.py")
    expect(page.get_by_role("heading", level=1, name=title)).to_be_visible(timeout=KERNEL_MS)
    expect(page.locator(".output img")).to_have_count(copy.count("!["), timeout=KERNEL_MS)
    told = "\n".join(page.locator(".output").all_inner_texts())
    assert title in told
    raw = [line for line in told.splitlines() if re.match(r"#{1,6} |```|\| |> ", line)]
    assert raw == []
    assert "Traceback" not in told


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_rendered_for_who_reads_it(page: Any, running: str, name: str) -> None:
    is_rendered(page, running, name)


def test_a_notebook_is_rendered_for_who_works_on_it(page: Any, editing: str) -> None:
    """One is enough, of the most kinds of text: the way is the same, and a kernel takes long."""
    is_rendered(page, editing, "odd_wake")
