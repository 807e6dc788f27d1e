"""Drives the real Taskwarrior and todo.txt clients; run as a script, it writes `tests/data` anew.

``apt-get install taskwarrior todotxt-cli``, then ``python -m tests.support.clients``.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
TASK = shutil.which("task")
TODO = shutil.which("todo-txt") or shutil.which("todo.sh")


class Taskwarrior:
    """A Taskwarrior of its own, in a folder, in a time zone."""

    def __init__(self, folder: Path, zone: str = "UTC") -> None:
        self._folder = folder
        (folder / "taskrc").write_text("confirmation=off\nverbose=nothing\nrecurrence=on\n")
        self._env = {
            "TASKRC": str(folder / "taskrc"),
            "TASKDATA": str(folder),
            "TZ": zone,
            "HOME": str(folder),
            "PATH": os.defpath,
            "LC_ALL": "C.UTF-8",
        }

    def __call__(self, *args: str, worst: int = 1) -> str:
        """What it prints; its exit status is 1 at worst, as where nothing matches."""
        return _ran([str(TASK), *args], self._env, worst)

    def begun(self, *line: str) -> "subprocess.Popen[str]":
        """Another program in its environment, for who measures it."""
        pipe = subprocess.PIPE
        return subprocess.Popen(line, env=self._env, stdout=pipe, stderr=pipe, text=True)

    def export(self, file: Path, *args: str) -> Path:
        """Write what `task export` prints to a file."""
        file.write_text(self(*args, "export"), encoding="utf-8")
        return file


class TodoTxt:
    """A todo.sh of its own, in a folder; done lines stay until `archive`."""

    def __init__(self, folder: Path) -> None:
        self.file, self.done_file = folder / "todo.txt", folder / "done.txt"
        self._config = folder / "config"
        self._config.write_text(
            f"export TODO_DIR={folder}\nexport TODO_FILE={self.file}\n"
            f"export DONE_FILE={self.done_file}\nexport REPORT_FILE={folder / 'report.txt'}\n"
        )
        self._env = {"HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}

    def __call__(self, *args: str) -> str:
        return _ran([str(TODO), "-d", str(self._config), "-a", "-f", "-t", *args], self._env)


def fill_taskwarrior(task: Taskwarrior) -> None:
    """Tasks of every sort that Taskwarrior knows."""
    task("add", "Paint the door", "project:home.garden", "+green", "+paint", "priority:H")
    task("1", "modify", "due:2027-02-12")
    task("1", "annotate", 'Ann: "green", see /tmp\\x')
    task("1", "start")
    task("add", "Sand it", "depends:1", "priority:L")
    task("add", "Order tiles", "wait:2037-03-01", "priority:M")
    task("add", "Fix the tap – Küche 🚰")
    task("4", "done")
    task("add", "A mistake")
    task("5", "delete")
    task("add", "Water the plants", "recur:weekly", "due:2037-01-05", "until:2037-01-20")
    task("list")  # makes the recurring ones


def fill_todotxt(todo: TodoTxt) -> None:
    """Lines of every sort that todo.txt knows."""
    todo("add", "Call @Ann about the roof +Home @phone due:2027-02-12")
    todo("pri", "1", "A")
    todo("add", "Pay rent +Home +Money rec:1m t:2027-01-25")
    todo("pri", "2", "E")
    todo("add", "Buy milk – 2 l @shop")
    todo("do", "3")
    todo("add", "Read https://example.org/a:b at 10:30")


def _ran(command: list[str], env: dict[str, str], worst: int = 1) -> str:
    """What a command prints."""
    done = subprocess.run(
        command,
        check=False,
        env=env,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    if done.returncode > worst:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


def main() -> None:
    """Write the committed samples again."""
    with tempfile.TemporaryDirectory() as folder:
        task = Taskwarrior(Path(folder), "Europe/Berlin")
        fill_taskwarrior(task)
        task.export(DATA / "taskwarrior/export.json")
        older = ("rc.json.array=off", "rc.json.depends.array=off")
        task.export(DATA / "taskwarrior/lines.json", *older)
    with tempfile.TemporaryDirectory() as folder:
        todo = TodoTxt(Path(folder))
        fill_todotxt(todo)
        shutil.copy(todo.file, DATA / "todotxt/todo.txt")
        todo("archive")
        shutil.copy(todo.done_file, DATA / "todotxt/done.txt")


if __name__ == "__main__":
    main()
