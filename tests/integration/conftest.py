"""What several files of integration tests begin with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import proved, told
from tests.support.homes import Homes
from tests.support.pasts import begun, lived


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home that is not there yet; what was written to it is proved at the end."""
    path = tmp_path / "home"
    yield path
    proved(path)


@pytest.fixture
def door(home: Path) -> str:
    """A task with two items."""
    args = ["task", "add", "Paint the door", "--item", "Buy paint", "--item", "Sand it"]
    return str(told(args, home)["id"])


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """Each home is made once and copied for every test that writes to it."""
    return Homes(tmp_path_factory.mktemp("homes"))


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of three wakes and two verdicts; tests look back in it and leave it as it is."""
    base = tmp_path_factory.mktemp("past")
    lived(base / "home", base)
    return base / "home"


@pytest.fixture(scope="module")
def keys(past: Path) -> list[str]:
    """The run keys of its first agent's wakes, the oldest first."""
    return begun(past)
