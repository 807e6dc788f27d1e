"""Today's code proves every history that is kept here; each is a test of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from adapters import histories
from adapters.cli.proving import report
from tests.histories import scenes

FILES = sorted(scenes.FOLDER.glob("*.jsonl"))
FILE_MAX_BYTES = 300_000


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_history_proves(file: Path) -> None:
    proved = histories.prove(histories.read(file))
    told = "\n".join(line for one in proved.divergences[:10] for line in report(one))
    assert proved.ok, told
    assert proved.prompts == proved.wakes > 0


def test_there_is_one_of_every_scene_and_all_are_small() -> None:
    wanted = {scene.__name__ for scene in scenes.SCENES} | {"redacted"}
    wanted |= {f"simulated_{nth}" for nth in range(1, 1 + len(scenes.SIMULATED))}
    assert {file.stem for file in FILES} == wanted
    assert len(FILES) >= 12
    assert max(file.stat().st_size for file in FILES) < FILE_MAX_BYTES


def test_a_scene_makes_the_same_bytes_every_time() -> None:
    first, second = (scenes.verdicts() for _ in range(2))
    told = [list(histories.lines(histories.taken(at.journal, at.agents))) for at in (first, second)]
    assert told[0] == told[1]


# ------------------------------------------------------------------------------ the pytest plugin


def suite(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """What somebody's CI runs, in a folder of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:wakelog", "-p", "adapters.testing"]
    command += ["-p", "no:cacheprovider", "--rootdir", str(folder), *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with two histories, one of which somebody edited."""
    for name in ("verdicts", "crashes"):
        (tmp_path / f"{name}.jsonl").write_bytes((scenes.FOLDER / f"{name}.jsonl").read_bytes())
    file = tmp_path / "crashes.jsonl"
    file.write_text(file.read_text().replace("Fix the sink", "Fix the sing"))
    return tmp_path


@pytest.mark.e2e
def test_the_plugin_proves_each_file_and_tells_what_differs(kept: Path) -> None:
    done = suite(kept, "--wakelog-histories", str(kept))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "crashes proves" in done.stdout
    assert "data altered: prev" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.e2e
def test_the_plugin_does_nothing_unless_asked(kept: Path) -> None:
    (kept / "test_own.py").write_text("def test_own(): pass\n")
    assert "1 passed" in suite(kept, "test_own.py").stdout
    done = suite(kept, "test_own.py", "--wakelog-histories", "verdicts.jsonl")
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert "there is no" in suite(kept, "--wakelog-histories", "nowhere").stderr


def test_a_file_that_is_no_history_says_so(tmp_path: Path) -> None:
    from domain.errors import Refused

    file = tmp_path / "some.jsonl"
    for text in ("hello", "[]\n", '{"history":99}\n', '{"log":"journal"}\n'):
        file.write_text(text)
        with pytest.raises(Refused, match="cannot be read as a history"):
            histories.read(file)
