"""Examples in docstrings show what they say."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("wakelog", "domain", "projections", "adapters", "replay", "tests")
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for package in PACKAGES
    for file in (ROOT / package).rglob("*.py")
    if re.search(r"^ *>>> ", file.read_text(encoding="utf-8"), re.MULTILINE)
)


@pytest.mark.parametrize("module", MODULES)
def test_an_example_shows_what_it_says(module: str) -> None:
    found = doctest.testmod(import_module(module.removesuffix(".__init__")))
    assert found.attempted
    assert not found.failed
