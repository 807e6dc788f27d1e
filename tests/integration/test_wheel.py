"""The built wheel holds all it needs and runs without the checkout beside it."""

import os
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from email import message_from_bytes
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGES = ("wakelog", "domain", "projections", "adapters", "replay")
FOR_READERS = {  # of the sources: nothing in the package reads them
    "adapters/web/README.md",
    "domain/tools/contract.md",
    "domain/tools/contract.schema.json",
    "domain/tools/contract.yaml",
}


def run(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    """Run this Python with the arguments; fail with its own words if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built offline by the hatchling of the `dev` extra."""
    built = tmp_path_factory.mktemp("wheel")
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", built, cwd=ROOT)
    (file,) = built.glob("wakelog-*-py3-none-any.whl")
    return file


@pytest.fixture(scope="module")
def target(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it, and nothing else."""
    folder = tmp_path_factory.mktemp("target")
    options = ("--quiet", "--no-deps", "--no-index", "--no-compile", "--target", folder)
    run("-m", "pip", "install", *options, wheel, cwd=folder)
    return folder


def test_every_file_of_the_packages_is_in_the_wheel_and_no_other(wheel: Path) -> None:
    """SQL, YAML, Markdown and `py.typed` ship without being listed anywhere."""
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    ours = {
        file.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    assert shipped == ours - FOR_READERS
    assert {f"{package}/py.typed" for package in PACKAGES} <= shipped


def test_the_wheel_is_small_and_holds_no_pictures(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".png")]
    # 1,043,587 bytes before lessons, memory, undo, a second protocol and the model that reads
    # clauses came, 1,185,624 with them, 1,372,287 with the page's debugger and PostgreSQL,
    # 1,579,111 with several machines, 1,852,577 with dates, sources, attention and erasing,
    # 1,978,805 with clients, a kit, teams and improved templates; all of it code, pages and texts
    assert wheel.stat().st_size < 16 * 2**17


def test_the_wheel_says_who_made_it_and_under_which_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (license_file,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        (about,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        said = message_from_bytes(archive.read(about))
        assert archive.read(license_file) == (ROOT / "LICENSE").read_bytes()
    assert said["License-Expression"] == "MIT"
    assert said["Author"] == "wakelog contributors"
    assert said["Keywords"]
    assert said.get_all("Classifier")


def test_the_wheel_brings_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entry_points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        scripts = ConfigParser()
        scripts.read_string(archive.read(entry_points).decode())
    assert dict(scripts["console_scripts"]) == {"wakelog": "adapters.cli.main:main"}


def test_the_packages_and_the_front_door_are_found_from_anywhere(
    target: Path, tmp_path: Path
) -> None:
    code = (
        f"import {', '.join(PACKAGES)}\n"
        "with wakelog.open_home('home', may_be_new=True) as home:"
        "\n    print(wakelog.__file__, wakelog.__version__, home.tasks())"
        f"\nprint(*(one.__file__ for one in ({', '.join(PACKAGES)})))"
    )
    found = run("-P", "-c", code, cwd=tmp_path, PYTHONPATH=str(target)).split()
    door = target / "wakelog" / "__init__.py"
    assert found[:3] == [str(door), version("wakelog"), "[]"]
    assert [Path(one) for one in found[3:]] == [target / one / "__init__.py" for one in PACKAGES]


# ------------------------------------------------------------------------- suites that stand on it

SUITE = ROOT / "examples" / "suite"
PLANTED = {  # agents may close tasks, which is forbidden in two places
    "decoding.py": ('OF_PERSON = ("DONE", "REJECTED")', 'OF_PERSON = ("REJECTED",)'),
    "arguments.py": ('"BLOCKED", "ON HOLD"],', '"BLOCKED", "ON HOLD", "DONE"],'),
}
UNSHRUNK = """
from hypothesis import Phase, settings

settings.register_profile("quick", phases=(Phase.generate,), database=None)
settings.load_profile("quick")
"""
"""To make an example short takes longer than to find it."""


def suite(at: Path, target: Path) -> str:
    """What the suite of the examples says in a folder, over what is installed in another."""
    shutil.copytree(SUITE, at)
    (at / "conftest.py").write_text(f"{(at / 'conftest.py').read_text()}\n{UNSHRUNK}", "utf-8")
    environ = {"PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "--hypothesis-seed=1"],
        cwd=at, env=os.environ | environ, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_suite_of_ones_own_runs_on_the_wheel(target: Path, tmp_path: Path) -> None:
    said = suite(tmp_path / "suite", target)
    assert "2 passed" in said, said


def test_its_machine_finds_a_bug_that_was_planted(target: Path, tmp_path: Path) -> None:
    other = shutil.copytree(target, tmp_path / "target")
    for name, (old, new) in PLANTED.items():
        file = other / "domain" / "tools" / name
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), encoding="utf-8")
    said = suite(tmp_path / "suite", other)
    assert "1 failed, 1 passed" in said, said
    assert "nobody_but_its_person_closes_a_task" in said
