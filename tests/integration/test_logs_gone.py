"""Both logs of a home are gone: nobody begins anew there under the name that wrote them."""

from pathlib import Path

import pytest

from tests.support.cli import done, refused, run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    done(["task", "add", "Tap"], made)
    for name in ("journal.db", "agent.db"):
        (made / name).unlink()
    return made


@pytest.mark.parametrize(
    "args",
    [
        ["prove"],
        ["prove", "--since", "last"],
        ["status"],
        ["task", "list"],
        ["task", "add", "Sink"],
    ],
    ids=" ".join,
)
def test_each_command_says_so_and_makes_nothing(home: Path, args: list[str]) -> None:
    line = refused(args, home)
    assert f"both logs of {home} are gone, and views.db beside them is not" in line
    assert not (home / "journal.db").exists()


def test_doctor_says_so(home: Path) -> None:
    looked = run(["doctor"], home)
    assert looked.exit_code != 0
    assert "both logs" in looked.output


def test_a_home_that_was_only_begun_is_one_that_is_new(home: Path) -> None:
    """A process that was killed between the name and the logs leaves that."""
    (home / "views.db").unlink()
    done(["task", "add", "Sink"], home)
