"""What stands beside the logs breaks, or a part of it is taken away, under processes that have it
open: whoever meets it makes it anew, and nothing that was acknowledged is missing from a list."""

import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.support.process import begun, did, ended, read, until
from tests.support.serving import Browser, free_port

pytestmark = pytest.mark.e2e


def no_wal(file: Path) -> None:
    file.with_name(f"{file.name}-wal").unlink()


def noise(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(b"noise" * 9999)
    other.rename(file)


def foreign(file: Path) -> None:
    """A database of another program, with tables of the same names."""
    other = file.with_name("other")
    with closing(sqlite3.connect(other)) as made:
        for table in ("documents", "positions", "runtimes", "leases", "doers"):
            made.execute(f"CREATE TABLE {table} (x)")
        made.execute("PRAGMA user_version=5")
    other.rename(file)


BREAKS = [no_wal, noise, foreign]
Break = Callable[[Path], None]
Begin = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Begins a command that is left running, and ends it with the test."""
    with ExitStack() as stack:

        def begin(*args: str) -> subprocess.Popen[bytes]:
            process = begun(tmp_path / "home", *args, log=tmp_path / "said")
            stack.callback(process.kill)
            return process

        yield begin


def runtimes(file: Path) -> list[int]:
    """The processes that say they work for the home, as another program reads them."""
    try:
        with closing(sqlite3.connect(file, timeout=1)) as asked:
            return [pid for (pid,) in asked.execute("SELECT pid FROM runtimes")]
    except sqlite3.Error:
        return []


@pytest.mark.parametrize("breaks", BREAKS)
def test_views_are_made_anew_under_a_page(tmp_path: Path, begin: Begin, breaks: Break) -> None:
    home, port = tmp_path / "home", free_port()
    titles = [f"Task {nth}" for nth in range(6)]
    did(home, "task", "add", titles[0])
    process = begin("serve", "--port", str(port))
    browser = Browser(f"http://127.0.0.1:{port}")
    until(browser.is_answered)
    assert browser.send("/tasks", "/tasks", title=titles[1])
    for nth in range(2, 6, 2):
        breaks(home / "views.db")
        did(home, "task", "add", titles[nth])  # by somebody who has just come
        assert titles[nth] in browser.page("/tasks")
        assert browser.send("/tasks", "/tasks", title=titles[nth + 1])
        assert sorted(one["title"] for one in read(home, "task", "list")) == sorted(
            titles[: nth + 2]
        )
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert "Traceback" not in (tmp_path / "said").read_text()
    with closing(sqlite3.connect(home / "views.db")) as views:
        assert views.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    did(home, "prove")


def test_what_runs_says_so_again_in_a_new_file(tmp_path: Path, begin: Begin) -> None:
    home, said = tmp_path / "home", tmp_path / "said"
    did(home, "task", "add", "Old")
    process = begin("run")
    runtime = home / "runtime.db"
    until(lambda: process.pid in runtimes(runtime))
    foreign(runtime)
    done = ended(home, "status")
    assert (done.returncode, done.stderr) == (0, "")
    did(home, "task", "add", "New")
    until(lambda: process.pid in runtimes(runtime))
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert "Traceback" not in said.read_text()
    assert ended(home, "run", "--until-idle").returncode == 0
    with closing(sqlite3.connect(runtime)) as left:
        assert left.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert left.execute("SELECT agent, run_key FROM leases").fetchall() == []
