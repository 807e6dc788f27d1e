"""What every test runs under: no settings of the developer's shell, and the same examples twice.

`HYPOTHESIS_PROFILE=explore make test` looks for new examples instead of repeating the known ones.
"""

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True, scope="session")
def no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the person's own home, settings and keys: no test may read, write or spend them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("WAKELOG_") or name in KEYS]:
            patch.delenv(name)
        patch.setitem(sys.modules, "keyring", None)
        patch.setenv("WAKELOG_HOME", str(tmp_path_factory.mktemp("home")))
        yield
