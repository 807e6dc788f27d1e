"""A home is put back under processes that have it open: what they acknowledged is in the log that
stands there, or was refused (ADR 81). Counted with sqlite3 alone, after they have ended."""

import shutil
import sqlite3
import subprocess
import sys
import urllib.error
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.process import ROOT, begun, did, environ, until
from tests.support.serving import Browser, free_port

pytestmark = pytest.mark.e2e

LOGS = ("journal.db", "agent.db")
PROGRAM = """
import sys, wakelog
home = wakelog.open_home(sys.argv[1])
for nth in range(1000):
    name = sys.stdin.readline().strip()
    if not name:
        break
    try:
        home.import_file(name)
        print("kept", flush=True)
    except wakelog.WakelogError as error:
        print(error.code, flush=True)
"""


def moved_over(home: Path, backup: Path) -> None:
    for name in LOGS:
        (backup / name).rename(home / name)


def copied_into(home: Path, backup: Path) -> None:
    for name in LOGS:
        shutil.copyfile(backup / name, home / name)


def copied_alone(home: Path, backup: Path) -> None:
    """What stands beside the logs is taken away before."""
    for name in LOGS:
        for more in ("-wal", "-shm"):
            (home / f"{name}{more}").unlink(missing_ok=True)
    copied_into(home, backup)


RESTORES = [moved_over, copied_into, copied_alone]
Restore = Callable[[Path, Path], None]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    did(made, "task", "add", "Old")
    shutil.copytree(made, tmp_path / "backup")
    did(made, "task", "add", "Newer")
    return made


def rows(folder: Path, name: str = "journal.db") -> list[bytes]:
    """The rows of a log, as another program reads them; it must be whole."""
    with closing(sqlite3.connect(folder / name)) as log:
        assert log.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [bytes(one) for (one,) in log.execute("SELECT state FROM stored_events")]


def put_back(home: Path, restore: Restore) -> list[bytes]:
    """Restore the backup; its rows."""
    backup = home.parent / "backup"
    kept = rows(backup)
    restore(home, backup)
    return kept


def sent(browser: Browser, title: str) -> bool:
    """Add a task on the page; whether that was acknowledged."""
    try:
        return browser.send("/tasks", "/tasks", title=title)
    except urllib.error.URLError:  # refused, or nobody is there any more
        return False


@pytest.mark.parametrize("restore", RESTORES)
def test_under_a_page(home: Path, restore: Restore) -> None:
    port = free_port()
    said = home.parent / "said"
    process = begun(home, "serve", "--port", str(port), log=said)
    browser = Browser(f"http://127.0.0.1:{port}")
    until(browser.is_answered)
    assert sent(browser, "Before")
    kept = put_back(home, restore)
    assert not sent(browser, "After"), "it is not in the log there"
    assert process.wait(60) == 2
    assert "journal.db was replaced while it was open" in said.read_text()
    assert rows(home) == kept
    did(home, "task", "add", "Later")
    did(home, "prove")


def test_under_a_watcher(home: Path) -> None:
    file, said = home.parent / "TODO.md", home.parent / "said"
    file.write_text("- [ ] First\n")
    process = begun(home, "run", "--watch", str(file), log=said)
    until(lambda: any(b"First" in one for one in rows(home)))
    kept = put_back(home, moved_over)
    file.write_text("- [ ] First\n- [ ] Second\n")
    assert process.wait(30) == 2
    assert "was replaced while it was open" in said.read_text()
    assert "created=1" not in said.read_text().partition("created=1")[2]
    assert rows(home) == kept
    did(home, "import", str(file))
    did(home, "prove")


def test_under_a_program(home: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(home)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ(home),
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def told(nth: int) -> str:
            file = home.parent / f"{nth}.md"
            file.write_text(f"- [ ] Task {nth}\n")
            print(file, file=process.stdin, flush=True)
            return str(process.stdout and process.stdout.readline().strip())

        assert told(1) == "kept"
        kept = put_back(home, copied_into)
        assert [told(2), told(3)] == ["replaced", "replaced"]
        process.stdin.close()
        assert process.wait(60) == 0
    assert rows(home) == kept
    did(home, "prove")


@pytest.mark.parametrize("what", ["gone", "moved"])
def test_a_home_that_is_no_more_there_is_not_begun_again(home: Path, what: str) -> None:
    file, said, port = home.parent / "TODO.md", home.parent / "said", free_port()
    file.write_text("- [ ] First\n")
    watching = begun(home, "run", "--watch", str(file), log=said)
    serving = begun(home, "serve", "--port", str(port), log=said)
    browser = Browser(f"http://127.0.0.1:{port}")
    until(browser.is_answered)
    until(lambda: any(b"First" in one for one in rows(home)))
    if what == "gone":
        shutil.rmtree(home)
    else:
        home.rename(home.parent / "elsewhere")
    file.write_text("- [ ] First\n- [ ] Second\n")
    assert not sent(browser, "After")
    assert (watching.wait(30), serving.wait(30)) == (2, 2)
    assert not home.exists()
    if what == "moved":
        assert not any(b"Second" in one for one in rows(home.parent / "elsewhere"))
        did(home.parent / "elsewhere", "prove")


def test_the_log_that_was_not_put_back_keeps_all_its_rows(home: Path) -> None:
    port, said = free_port(), home.parent / "said"
    did(home, "agent", "create", "Old")
    process = begun(home, "serve", "--port", str(port), log=said)
    browser = Browser(f"http://127.0.0.1:{port}")
    until(browser.is_answered)
    assert sent(browser, "Before")
    before = rows(home, "agent.db")
    (home.parent / "backup" / "journal.db").rename(home / "journal.db")
    assert not sent(browser, "After")
    assert process.wait(60) == 2
    assert rows(home, "agent.db") == before
