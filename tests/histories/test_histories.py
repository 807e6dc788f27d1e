"""Today's code proves every history that is kept here; each is a test of its own."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.proof import histories
from adapters.text.proof import report
from domain.journal.commands import AddItems, AddLabel
from tests.histories import scenes
from tests.histories.kept import each_once, unpacked

FILES = sorted(scenes.FOLDER.glob("*.jsonl"))
RECORDED = sorted(scenes.FOLDER.glob("recorded/**/*.jsonl*"))  # a long one is packed
FILE_MAX_BYTES = 450_000
ALLOWED_NOW = 1441  # minutes of an estimate: refused as long as a day was the most


@pytest.mark.parametrize(
    "file",
    each_once(),
    ids=lambda file: str(file.relative_to(scenes.FOLDER).with_suffix("")),
)
def test_a_history_proves(file: Path, tmp_path: Path) -> None:
    history = histories.read_history(unpacked(file, tmp_path))
    refused = (one for one in history.refused if getattr(one.command, "estimate", 0) != ALLOWED_NOW)
    history = replace(history, refused=tuple(refused))
    proved = histories.prove_history(history)
    told = "\n".join(line.text for one in proved.divergences[:10] for line in report(one))
    assert proved.ok, told
    begun = sum(b'"kind":"command.begin_wake.1"' in row.state for row in history.rows["agent"])
    assert proved.prompts == begun >= proved.wakes > 0


def test_there_is_one_of_every_scene_and_all_are_small() -> None:
    wanted = {scene.__name__ for scene in scenes.SCENES} | {"redacted"}
    assert {file.stem for file in FILES} == wanted
    assert len(FILES) >= 12
    assert len(RECORDED) >= 3
    assert max(file.stat().st_size for file in (*FILES, *RECORDED)) < FILE_MAX_BYTES


@pytest.mark.slow
def test_every_scene_writes_the_very_bytes_that_are_kept() -> None:
    told = {
        name: "".join(histories.history_lines(one)) for name, one in scenes.all_histories().items()
    }
    kept = {file.stem: file.read_text(encoding="utf-8") for file in FILES}
    assert [name for name in told if told[name] != kept[name]] == []


def test_what_was_refused_has_to_be_refused_for_the_same_reason() -> None:
    history = histories.read_history(scenes.FOLDER / "each_verdict.jsonl")
    (one, *_) = (one for one in history.refused if one.code == "decided")
    allowed = next(one for one in history.refused if one.log == "agent")
    others = (
        replace(one, code="unknown_item"),
        replace(allowed, command=AddLabel("never refused")),
        replace(allowed, command=AddItems("nobody", ("x",)), log="journal"),
    )
    for other in others:
        proved = histories.prove_history(replace(history, refused=(one, other)))
        (found,) = proved.divergences
        assert (found.kind_of, found.expected) == ("rule changed", other.code)
    assert histories.prove_history(history).ok


def test_a_view_has_to_make_the_same_of_it_for_as_long_as_it_has_its_version() -> None:
    history = histories.read_history(scenes.FOLDER / "each_verdict.jsonl")
    *others, first = history.views  # one whose documents are as they were
    older = replace(first, version=first.version - 1, digest="of other documents")
    assert histories.prove_history(replace(history, views=(*others, older))).ok
    altered = replace(first, digest="of other documents")
    (found,) = histories.prove_history(replace(history, views=(*others, altered))).divergences
    assert (found.kind_of, found.stream) == ("view differs", f"view:{first.name}")


def test_a_scene_makes_the_same_bytes_every_time() -> None:
    first, second = (scenes.verdicts() for _ in range(2))
    told = [
        list(histories.history_lines(histories.take_history(at.journal, at.agents)))
        for at in (first, second)
    ]
    assert told[0] == told[1]


# ------------------------------------------------------------------------------ the pytest plugin


def suite(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """What somebody's CI runs, in a folder of its own."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:wakelog",
        "-p",
        "adapters.pytest_plugin",
    ]
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
            histories.read_history(file)
