"""`docs/taskwarrior.md`: both columns of its table, typed from top to bottom, and the way back."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import clients, process
from tests.support.cli import FIXED, proved, run

pytestmark = pytest.mark.e2e

DOC = (process.ROOT / "docs/taskwarrior.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in DOC.splitlines()
    if line.startswith("| ") and not line.startswith(("| deed", "| **"))
]
EXPORTED = clients.DATA / "taskwarrior/export.json"
has_taskwarrior = pytest.mark.skipif(not clients.TASK, reason="Taskwarrior is not installed")


def cells(column: int) -> list[list[str]]:
    """The arguments of each cell that is a command and nothing else."""
    found = [re.fullmatch(r"`(?:task|wakelog) (.*)`", row[column]) for row in ROWS]
    return [shlex.split(one[1]) for one in found if one]


@pytest.fixture
def task(tmp_path: Path) -> clients.Taskwarrior:
    """One that nothing was added to, beside an export and with an editor that changes nothing."""
    made = clients.Taskwarrior(tmp_path)
    made("config", "editor", "true")
    (tmp_path / "tasks.json").write_bytes(EXPORTED.read_bytes())
    return made


def test_each_deed_has_one_verdict_and_a_command_or_says_that_there_is_none() -> None:
    assert len({deed for deed, *_ in ROWS}) == len(ROWS) >= 40
    for deed, theirs, ours, verdict in ROWS:
        assert re.match(r"(same|better|worse|missing)(;|:|$)", verdict), deed
        assert ours.startswith("`wakelog ") or (not ours and verdict[0] in "wm"), deed
        assert theirs or verdict.startswith("better"), deed


def test_each_command_of_ours_does_what_it_is_there_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "tasks.json").write_bytes(EXPORTED.read_bytes())
    for args in cells(2):
        if args == ["edit", "Sand"]:  # on a terminal alone: tests/e2e/test_edit_text.py types it
            continue
        result = run(args, tmp_path / "home")
        assert result.exit_code == 0, (args, result.output)
        assert result.output.strip(), args
    proved(tmp_path / "home")


@has_taskwarrior
def test_each_command_of_theirs_is_one(
    tmp_path: Path, task: clients.Taskwarrior, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for args in cells(1):
        task(*args, worst=0)


@has_taskwarrior
def test_what_came_from_taskwarrior_goes_back_as_often_as_you_like(
    tmp_path: Path, task: clients.Taskwarrior
) -> None:
    home = tmp_path / "home"
    process.ran(home, "import", "tasks.json", more=FIXED)
    (query,) = re.findall(r"```sql\n(.*?)```", DOC, re.DOTALL)
    (tmp_path / "back.sql").write_text(query)
    piped = r"\$ wakelog (sql .*?) \| python3 -c '\n(.*?)' > (\S+)\n"
    ((args, code, file),) = re.findall(piped, DOC, re.DOTALL)
    rows = process.ran(home, *args.split(), more=FIXED)
    lines = [sys.executable, "-c", code]
    written = subprocess.run(lines, input=rows, capture_output=True, text=True, check=True)
    (tmp_path / file).write_text(written.stdout)
    found = []
    for _ in range(2):
        task("import", str(tmp_path / file), worst=0)
        found.append({one["uuid"]: one for one in json.loads(task("export"))})
    assert found[0].keys() == found[1].keys()
    (door,) = (one for one in found[1].values() if one["description"] == "Paint the door")
    said = {"project": "home.garden", "priority": "H", "due": "20270211T000000Z"}
    assert door.items() >= said.items()
    assert sorted(door["tags"]) == ["green", "paint"]
    assert "🚰" in task("all")
