"""A server keeps the files that it has open, whatever runs in it and beside it: what was said to
be written is there."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import begun, did, read, until
from tests.support.serving import Browser, fallen, free_port, written

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are not listed here"),
]
TASK = "Fix the sink"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    did(home, "task", "add", TASK)
    did(home, "agent", "create", "--all")
    return home


@contextmanager
def served(home: Path, *command: str) -> Iterator[tuple[int, Browser]]:
    """A server, alone or beside an engine: its process and its page."""
    port = free_port()
    process = begun(home, *command, "--port", str(port), log=home.parent / "served.log")
    try:
        browser = Browser(f"http://127.0.0.1:{port}")
        until(browser.is_answered)
        yield process.pid, browser
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130)
    finally:
        process.kill()
        process.wait()


def count(browser: Browser, agent: str) -> None:
    """The figures of templates, which a job counts."""

    def is_done() -> Any:
        return browser.json("/templates")["figures"]["at"]

    until(is_done)


def wake(browser: Browser, agent: str) -> None:
    wakes = len(browser.json("/wakes")["wakes"])
    assert browser.send(f"/agents/{agent}", f"/agents/{agent}/wake")

    def is_done() -> bool:
        found = browser.json("/wakes")["wakes"]
        return len(found) > wakes and found[0]["outcome"] == "completed"

    until(is_done, told=lambda: (browser.json("/wakes"), browser.json("/health")))


def prove(browser: Browser, agent: str) -> None:
    assert browser.send("/health", "/prove")
    until(lambda: browser.json("/health")["proof"]["state"] == "done")


def proved(home: Path, *texts: str) -> None:
    """All of these were written once, and the home is whole."""
    found = written(home)
    assert {text: found[text] for text in texts} == dict.fromkeys(texts, 1)
    assert did(home, "prove").startswith("Proved")


def test_no_job_of_a_server_takes_its_files_away(home: Path) -> None:
    (agent,) = read(home, "agent", "list")
    told = []
    with served(home, "serve") as (pid, browser):
        for job in (count, wake, prove):
            name = job.__name__
            job(browser, agent["id"])
            did(home, "label", "add", name)
            did(home, "task", "note", TASK, f"after {name}")
            assert browser.send("/tasks", "/tasks", title=f"Done after {name}")
            assert fallen(pid, home) == []
            told += [name, f"after {name}", f"Done after {name}"]
    proved(home, *told)


def test_a_page_beside_an_engine_leaves_it_its_files(home: Path) -> None:
    (agent,) = read(home, "agent", "list")
    notes = [f"note {n}" for n in range(3)]
    with served(home, "run", "--serve") as (pid, browser):
        for note in notes:
            did(home, "task", "note", TASK, note)
            wake(browser, agent["id"])
            assert fallen(pid, home) == []
    proved(home, *notes)
