"""`import wakelog` is light, gives what its page says and no more, and all of it is described."""

import inspect
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import get_type_hints

import duckdb
import pytest

import wakelog

TYPES = {**vars(wakelog), "duckdb": duckdb}  # it is imported only when it is asked for
ROOT = Path(__file__).parents[2]
HEAVY = ("click", "duckdb", "google.genai", "jinja2", "rich", "starlette", "uvicorn")


def section() -> str:
    """What its page says of it."""
    text = (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")
    return text.partition("\n## From Python\n")[2].partition("\n## ")[0]


def deeds() -> list[str]:
    return [name for name in dir(wakelog.Home) if not name.startswith("_")]


def test_it_exports_what_its_page_names() -> None:
    section_names = set(re.findall(r"[A-Za-z_]+", section()))
    assert [name for name in wakelog.__all__ if name not in section_names] == []
    told = set(re.findall(r"`(?:wakelog\.)?([A-Z][A-Za-z]+|__\w+__)`", section()))
    assert told <= set(wakelog.__all__)
    assert len(set(wakelog.__all__)) == len(wakelog.__all__)


def test_all_that_it_defines_is_exported_or_private() -> None:
    own = {
        name
        for name, value in vars(wakelog).items()
        if getattr(value, "__module__", "") == "wakelog" and not name.startswith("_")
    }
    assert own - {"T"} <= set(wakelog.__all__)
    assert all(hasattr(wakelog, name) for name in wakelog.__all__)


def test_its_page_lists_every_deed_of_a_home() -> None:
    table = "\n".join(line for line in section().splitlines() if line.startswith("| of "))
    assert sorted(re.findall(r"`(\w+)\(", table)) == sorted([*deeds(), "dicts"])


@pytest.mark.parametrize("name", [*deeds(), "open_home"])
def test_every_deed_is_described_and_typed(name: str) -> None:
    function = getattr(wakelog.Home, name, None) or getattr(wakelog, name)
    assert inspect.getdoc(function)
    hints = get_type_hints(function, TYPES)
    assert set(inspect.signature(function).parameters) - {"self"} | {"return"} == set(hints)


@pytest.mark.parametrize("name", [name for name in wakelog.__all__ if name[0].isupper()])
def test_every_record_is_described(name: str) -> None:
    assert len(inspect.getdoc(getattr(wakelog, name)) or "") > 20


def test_it_says_its_version() -> None:
    assert wakelog.__version__ == version("wakelog")


def test_importing_it_loads_nothing_heavy_and_no_copy_of_it(tmp_path: Path) -> None:
    heavy = f"[one for one in {HEAVY} if one in sys.modules]"
    code = f"import sys, wakelog; print(wakelog.__file__, {heavy})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == f"{ROOT / 'wakelog' / '__init__.py'} []"
