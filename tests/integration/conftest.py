"""What several files of integration tests begin with."""

from pathlib import Path

import pytest

from tests.support.homes import Homes
from tests.support.pasts import begun, lived


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
