"""Models of others (ADR 115): the one of `examples/model` is installed, used and uninstalled; and
what a package may do wrong."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from adapters.home.extensions import GROUP, installed
from adapters.models.extensions import DECODERS, check_model, decoders_of, model_of
from domain.errors import Refused
from domain.ports import Call, Reply, Request
from tests.support.cli import FIXED, done, refused, told

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SETTINGS = '[extensions.echo]\ngreeting = "Seen:"\n'


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example is installed."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--target", str(folder), str(ROOT / "examples" / "model")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def wakelog(home: Path, *args: str, package: Path | None = None) -> tuple[int, str]:
    """The command line in a process that finds the package, or does not."""
    paths = [str(ROOT), *([str(package)] if package else [])]
    env = {**os.environ, **FIXED, "WAKELOG_HOME": str(home), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "adapters.cli.main", *args]
    found = subprocess.run(command, capture_output=True, env=env, encoding="utf-8", check=False)
    return found.returncode, found.stdout + found.stderr


def test_a_model_is_installed_used_and_uninstalled_and_the_home_proves(
    package: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    done(["category", "add", "House"], home)
    done(["add", "Fix the tap", "--category", "House"], home)
    (home / "settings.toml").write_text(SETTINGS)
    made = wakelog(home, "agent", "create", "Fix the tap", "--model", "echo:loud", package=package)
    assert made[0] == 0, made
    held = wakelog(home, "wake", "Fix the tap", package=package)
    assert "waits until you agree to what its model is sent" in held[1]  # closed until a consent
    assert wakelog(home, "policy", "allow", "echo:loud", package=package)[0] == 0
    assert wakelog(home, "wake", "Fix the tap", package=package)[0] == 0
    assert "Seen:" in wakelog(home, "report", "Fix the tap")[1]
    wakes = told(["wakes", "--all"], home)
    assert ("echo:loud", "completed") in {(one["model"], one["outcome"]) for one in wakes}
    count = sum(one["turns"] for one in wakes)

    proved = wakelog(home, "prove", package=package)  # which loads no extension
    assert proved[0] == 0
    assert "every byte is what today's code writes" in proved[1]
    assert f"NOT PROVED: replies of `echo`, {count}; see --decoder." in proved[1]
    assert wakelog(home, "prove")[1].count("NOT PROVED") == 1  # uninstalled
    assert json.loads(wakelog(home, "--json", "prove")[1])["of_extensions"] == {"echo": count}
    again = wakelog(home, "prove", "--decoder", "echo", package=package)
    assert (again[0], "NOT PROVED" in again[1]) == (0, False)
    assert (
        "no installed package reads the replies of 'echo'"
        in wakelog(home, "prove", "--decoder", "echo")[1]
    )
    assert (
        "no installed package gives models of 'echo'"
        in wakelog(home, "agent", "set", "Fix the tap", "--model", "echo:low")[1]
    )
    gone = wakelog(home, "wake", "Fix the tap")
    assert "no installed package gives models of 'echo'" in gone[1]
    models = json.loads(wakelog(home, "--json", "models", package=package)[1])
    assert ["installed"] in [one["named_by"] for one in models]


def test_an_altered_reply_is_found_by_its_decoder(package: Path, tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    home = tmp_path / "home"
    done(["add", "Fix the tap"], home)
    wakelog(home, "agent", "create", "Fix the tap", "--model", "echo:loud", package=package)
    wakelog(home, "policy", "allow", "echo", package=package)
    wakelog(home, "wake", "Fix the tap", package=package)
    with closing(sqlite3.connect(home / "agent.db")) as file, file:
        file.execute(
            "UPDATE stored_events SET state = replace(state, 'echo.1', 'gemini.4')"
            " WHERE topic = 'wake.model_answered.1'"
        )
    assert wakelog(home, "prove")[0] == 1


# ------------------------------------------------------------------- what a package may do wrong


TEXT: Any = "x"


class Said:
    """A model that replies so, or raises it."""

    name = "x:y"

    def __init__(self, reply: Any) -> None:
        self._reply = reply

    async def reply(self, request: Request) -> Reply:
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply  # type: ignore[no-any-return]  # whatever it is


def makes(reply: Any) -> Callable[[str, Mapping[str, str], Mapping[str, Any]], Said]:
    return lambda model, environ, settings: Said(reply)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(b"x", reply_format="gemini.4"), "gave the format 'gemini.4', and not x.1"),
        (Reply(b"x"), "gave the format '', and not x.1"),
        (Reply(b"x", reply_format="x.0"), "gave the format 'x.0'"),
        (Reply(TEXT, reply_format="x.1"), "gave no Reply with bytes"),
        (None, "extension_failed"),
        (ValueError("no"), "x failed: ValueError: no"),
    ],
)
def test_what_is_wrong_with_a_model_is_told(reply: Any, expected: str) -> None:
    (problem,) = check_model(makes(reply), name="x")
    assert expected in problem


def test_a_model_that_is_right_has_no_problem() -> None:
    said = Reply(b"x", "x", (Call("c1", "note_word", "{}"),), reply_format="x.1")
    assert check_model(makes(said), name="x") == []
    assert check_model(makes(said), {"x.1": lambda raw: said}, name="x") == []
    assert check_model(makes(Reply(b"", "x")), name="x") == []  # bytes of a tape
    (problem,) = check_model(makes(said), {"x.1": lambda raw: Reply(raw, "y")}, name="x")[:1]
    assert "text is 'y' if read again" in problem
    assert "nobody reads x.1" in check_model(makes(said), {"x.2": lambda raw: said}, name="x")[0]


def package_of(folder: Path, name: str, claim: str, code: str = "") -> None:
    """A package with an entry point, as an installer leaves it."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    groups = (GROUP, DECODERS)
    pairs = zip(groups, "mD", strict=True)
    lines = [f"[{group}]\n{claim} = {name}:{what}\n" for group, what in pairs]
    (info / "entry_points.txt").write_text("".join(lines))


def test_two_claims_and_one_of_a_built_in_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package_of(tmp_path, "one_x", "xx")
    package_of(tmp_path, "two_x", "xx")
    package_of(tmp_path, "bad_x", "gemini")
    package_of(tmp_path, "odd_x", "odd", "raise ImportError('of no use')\n")
    package_of(tmp_path, "raw_x", "raw", "m = lambda *a: 1 / 0\nD = {'gemini.4': m}\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = installed()
    assert found["xx"] == "one_x:m and two_x:m both claim xx"
    assert found["gemini"] == "bad_x:m claims gemini, which is built in"
    for name, expected in (
        ("xx:y", "both claim xx"),
        ("odd:y", "odd_x:m cannot be used: ImportError: of no use"),
        ("raw:y", "raw_x:m cannot be used: ZeroDivisionError"),
        ("none:y", "no installed package gives models of 'none'"),
    ):
        with pytest.raises(Refused, match=expected) as refusal:
            model_of(name, {}, {})
        assert refusal.value.code == "model_unavailable"
    for name, expected in (("raw", "raw_x:D reads gemini.4, and not raw.1"), ("xx", "or several")):
        with pytest.raises(Refused, match=expected):
            decoders_of(name)
    home = tmp_path / "home"
    done(["add", "Fix the tap"], home)
    assert "both claim xx" in refused(["agent", "create", "Fix the tap", "--model", "xx:y"], home)
