"""CONTRIBUTING is true: its tree has every folder, and the names that it tells are there."""

import importlib
import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TOPS = ("domain", "projections", "replay", "adapters", "tests", "notebooks", "ADRs", "deploy")
UNNAMED = ("__pycache__", "__snapshots__")
INSIDE = ("tests/data/", "tests/histories/", "notebooks/")  # their own pages tell of what they hold


def told() -> list[str]:
    """The folders of the tree, as paths."""
    block = TEXT.partition("## The tree")[2].partition("```\n")[2].partition("```")[0]
    paths: list[str] = []
    for line in block.splitlines():
        match = re.fullmatch(r"( *)(\w+)/ +\S.*", line)
        assert match, line
        indent, name = match.groups()
        paths = [*paths, "/".join([*_parents(paths, len(indent) // 2), name])]
    return paths


def _parents(paths: list[str], depth: int) -> list[str]:
    return paths[-1].split("/")[:depth] if depth else []


def there() -> set[str]:
    folders = {top for top in TOPS if (ROOT / top).is_dir()}
    for top in TOPS:
        for path in (ROOT / top).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.is_dir() and path.name not in UNNAMED and not name.startswith(INSIDE):
                folders.add(name)
    return folders


def test_the_tree_has_one_line_for_every_folder() -> None:
    assert sorted(told()) == sorted(there())


def test_where_one_would_look_is_in_the_tree() -> None:
    answers = re.findall(r"\? \| `([\w/]+)/` \|", TEXT)
    assert len(answers) == 10
    assert set(answers) <= set(told())


def test_the_new_names_are_there() -> None:
    section = TEXT.partition("## Names old and new")[2]
    modules = re.findall(r"^\| `(?:\w+\.)+\w+` \| `((?:\w+\.)+\w+)`", section, re.MULTILINE)
    assert len(modules) > 50
    assert [module for module in modules if find_spec(module) is None] == []
    names = re.findall(r"^\| `\w+` \| `(\w+)` \| `((?:\w+\.)+\w+)` \|$", section, re.MULTILINE)
    assert len(names) > 25
    missing = [
        f"{module}.{name}"
        for name, module in names
        if not hasattr(importlib.import_module(module), name)
    ]
    assert not missing
