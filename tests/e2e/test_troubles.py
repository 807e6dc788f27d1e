"""What a person sees of `wakelog run` when its surroundings fail, and that it goes on by itself."""

import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.support.cli import done, proved
from tests.support.consents import agreed
from tests.support.disks import mount, small_disk
from tests.support.gemini import environment
from tests.support.gemini_server import (
    SIGNATURE,
    GeminiServer,
    answer,
    call,
    serving,
    text,
)
from tests.support.process import begun, command, did, ended, environ, lines, ran, read, until

pytestmark = pytest.mark.e2e

REPORT = {"content": "All.", "tldr": "It is fine.", "oneLiner": "On track"}
TODAY = {"WAKELOG_NOW": ""}  # the machine's clock
SHIM = Path(__file__).parents[1] / "support" / "clock_shim.c"


def made(home: Path, *settings: str) -> Path:
    """A home with a task whose agent's first wake is over, and a short throttle."""
    done(["task", "add", "Fix the sink"], home, env=TODAY)
    done(["agent", "create", "--all"], home, env=TODAY)
    done(["wake"], home, env=TODAY)
    (home / "settings.toml").write_text("\n".join(["[agents]", "throttle_seconds = 1", *settings]))
    return agreed(home, environ=TODAY)


class Running:
    """A `wakelog run`, and the lines it has told."""

    def __init__(self, home: Path, log: Path, process: "subprocess.Popen[bytes]") -> None:
        self.home = home
        self.log = log
        self.process = process

    def told(self, event: str) -> list[dict[str, Any]]:
        return [line for line in lines(self.log) if line["event"] == event]

    def until(self, event: str, count: int = 1, seconds: float = 60) -> dict[str, Any]:
        until(lambda: len(self.told(event)) >= count, seconds)
        return self.told(event)[-1]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


@contextmanager
def running(
    home: Path, *args: str, log: Path | None = None, more: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """A runtime of a home; it ends with status 0, and never tells a traceback."""
    log = log or home.parent / "run.log"
    process = begun(home, "--json", *args, log=log, more=more or {})
    found = Running(home, log, process)
    try:
        found.until("started")
        yield found
        assert found.stop() == 0
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text(encoding="utf-8")


def note(home: Path, words: str, shim: Mapping[str, str] | None = None) -> None:
    """`shim`: the clock of a process of its own."""
    said = "task", "note", "Fix the sink", words
    ran(home, *said, more=shim) if shim else did(home, *said)


def late_replies(home: Path) -> int:
    with closing(sqlite3.connect(home / "agent.db")) as log:
        sql = "SELECT count(*) FROM stored_events WHERE topic = 'wake.late_reply.1'"
        return int(log.execute(sql).fetchone()[0])


def reporting() -> list[Any]:
    """A wake of two turns."""
    said = call("update_report", REPORT, signature=SIGNATURE)
    return [answer(said), answer(text("All is said."))]


def asking(server: GeminiServer) -> dict[str, str]:
    return {**environment(server), "NO_PROXY": "127.0.0.1", "PYTHON_KEYRING_BACKEND": "x"}


GEMINI = ("--model", "gemini", "run")


@pytest.fixture
def shim(tmp_path: Path) -> dict[str, str]:
    """The environment of a process whose clock is set by what the file `clock` says."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler to set a process's clock with")
    library = tmp_path / "clock.so"
    made = [compiler, "-shared", "-fPIC", "-o", str(library), str(SHIM), "-ldl"]
    subprocess.run(made, check=True, capture_output=True)
    (tmp_path / "clock").write_text("0")
    return {"LD_PRELOAD": str(library), "CLOCK_SHIM": str(tmp_path / "clock")}


# --------------------------------------------------------------------------- several processes


def test_a_wake_by_hand_waits_for_the_runtimes_and_no_call_is_made_twice(tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    first, *others = reporting()
    is_waited_for = Event()
    with serving(first._replace(until=is_waited_for), *others, *reporting()) as server:
        more = asking(server)
        with running(home, *GEMINI, more=more) as runtime:
            note(home, "News.")
            until(lambda: server.sent)
            with subprocess.Popen(
                command("--model", "gemini", "wake", "Fix the sink"), cwd=home.parent,
                env=environ(home, more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            ) as by_hand:  # fmt: skip
                assert by_hand.stderr is not None
                assert by_hand.stderr.readline() == "waking: Fix the sink\n"
                told = by_hand.stderr.readline()
                is_waited_for.set()
                said, wrong = by_hand.communicate(timeout=60)
            assert by_hand.returncode == 0, wrong
            assert "another wake of this agent is running: waiting" in told
            assert "Fix the sink: completed" in said
            runtime.until("ended")
        assert len(server.sent) == 4
    assert late_replies(home) == 0
    assert [one["outcome"] for one in read(home, "wakes")] == ["completed"] * 3
    assert proved(home) > 0


def killed_while_asking(home: Path, server: GeminiServer, more: Mapping[str, str]) -> None:
    """A wake by hand whose process dies in the middle of a call."""
    log = home.parent / "wake.log"
    by_hand = begun(home, "--model", "gemini", "wake", "Fix the sink", log=log, more=more)
    until(lambda: server.sent)
    by_hand.kill()
    by_hand.wait()


def test_a_wake_by_hand_that_was_killed_is_taken_over_at_once(tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    slow = reporting()[0]._replace(seconds=60.0)
    with serving(slow, *reporting()) as server:
        more = asking(server)
        killed_while_asking(home, server, more)
        with running(home, *GEMINI, more=more) as runtime:
            assert runtime.until("ended", seconds=20)["outcome"] == "completed"
            assert len(runtime.told("taken_over")) == 1
    assert (late_replies(home), len(server.sent)) == (0, 3)
    assert proved(home) > 0


def test_a_killed_wake_is_taken_over_though_the_leases_were_deleted(
    tmp_path: Path, shim: dict[str, str]
) -> None:
    home = made(tmp_path / "home")
    slow = reporting()[0]._replace(seconds=60.0)
    with serving(slow, *reporting()) as server:
        more = asking(server)
        killed_while_asking(home, server, more)
        for gone in home.glob("runtime.db*"):
            gone.unlink()
        with running(home, *GEMINI, more=more | shim) as runtime:
            assert not runtime.told("taken_over")  # who lives may say so first
            Path(shim["CLOCK_SHIM"]).write_text("9")
            assert runtime.until("ended")["outcome"] == "completed"
            assert len(runtime.told("taken_over")) == 1
    assert (late_replies(home), len(server.sent)) == (0, 3)
    assert [one["outcome"] for one in read(home, "wakes")] == ["completed"] * 2
    assert proved(home) > 0


# --------------------------------------------------------------------------------------- the disk


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    with small_disk(tmp_path / "disk", 2) as disk:
        yield disk


def filled(disk: Path) -> Path:
    """Fill a disk to the last byte; the file that does it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"\0" * 4096):  # bounded by the disk
            pass
    return filler


def test_a_full_disk_is_told_of_once_and_the_run_goes_on_when_there_is_room(
    tmp_path: Path, small: Path
) -> None:
    home, todo, log = made(small / "home"), tmp_path / "TODO.md", tmp_path / "run.log"
    todo.write_text("- [ ] Oil the hinges\n")
    with running(home, "run", "--watch", str(todo), log=log) as runtime:
        runtime.until("imported")
        note(home, "News. " * 5_000)
        filler = filled(small)
        words = "A word. " * 40_000  # more than the files have room for in themselves
        todo.write_text(f"- [ ] Oil the hinges\n- [ ] Paint the door\n\n  {words}\n")
        until(lambda: any(str(todo) in str(one["message"]) for one in runtime.told("trouble")))
        filler.unlink()
        runtime.until("imported", 2)
        runtime.until("ended")
        messages = [one["message"] for one in runtime.told("trouble")]
        assert len(messages) == len(set(messages))
        assert {one["code"] for one in runtime.told("trouble")} == {"read_only"}
    titles = {task["title"] for task in read(home, "task", "list")}
    assert titles == {"Fix the sink", "Oil the hinges", "Paint the door"}
    assert [one["outcome"] for one in read(home, "wakes")] == ["completed"] * 2
    assert read(home, "status")["in_doubt"] == []
    assert proved(home) > 0


def test_a_read_only_home_is_refused_in_one_line(small: Path) -> None:
    home = made(small / "home")
    mount("-o", "remount,ro", str(small))
    found = ended(home, "run")
    assert (found.returncode, found.stdout) == (2, "")
    (line,) = found.stderr.splitlines()
    assert line.startswith("Error: ")
    assert "give write permission" in line
    assert line.endswith("[read_only]")


# -------------------------------------------------------------------------------------- the clock


def test_a_clock_that_is_set_back_keeps_nobody_waiting(
    tmp_path: Path, shim: dict[str, str]
) -> None:
    home = made(tmp_path / "home")
    clock = Path(shim["CLOCK_SHIM"])
    with running(home, "run", more=shim) as runtime:
        note(home, "News.", shim)
        runtime.until("ended")
        clock.write_text("-3600")
        note(home, "More news, an hour earlier.", shim)
        assert runtime.until("ended", 2, seconds=20)["outcome"] == "completed"
        (told,) = runtime.told("clock_back")
        assert 3_000 < told["seconds"] <= 3_600
    clock.write_text("-7200")  # once more, while nobody runs
    with running(home, "run", log=tmp_path / "again.log", more=shim) as runtime:
        runtime.until("clock_back")
        note(home, "And more.", shim)
        assert runtime.until("ended", seconds=20)["outcome"] == "completed"
    assert len(read(home, "wakes")) == 4
    times = [one["started_at"] for one in reversed(read(home, "wakes"))]
    assert times == sorted(times)
    assert proved(home) > 0
