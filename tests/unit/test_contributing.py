"""CONTRIBUTING is true: its tree has every folder, and the names that it tells are there."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMES = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
TOPS = (
    "domain",
    "projections",
    "replay",
    "adapters",
    "tests",
    "evals",
    "notebooks",
    "ADRs",
    "deploy",
    "docs",
)
UNNAMED = ("__pycache__", "__snapshots__")
INSIDE = (
    "tests/data/",
    "tests/golden/",
    "tests/histories/",
    "notebooks/",
)  # their own pages tell of what they hold


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


MODULES = dict(re.findall(r"^\| `((?:\w+\.)+\w+)` \| `((?:\w+\.)+\w+)`", NAMES, re.MULTILINE))
CLASSES = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `((?:\w+\.)+\w+)` \|$", NAMES, re.MULTILINE)


def test_each_new_module_is_there_and_no_old_one() -> None:
    assert len(MODULES) > 50
    assert [new for new in MODULES.values() if find_spec(new) is None] == []
    old = (ROOT / f"{name.replace('.', '/')}.py" for name in MODULES.keys() - MODULES.values())
    assert [path for path in old if path.exists()] == []


@cache
def text_of(module: str) -> str:
    """A module as it stands: to load all of them takes seconds."""
    path = ROOT / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")


def is_named(name: str, module: str) -> bool:
    """Whether a module defines this at its top."""
    found = re.search(rf"^(?:class |def |){name}\b(?:\(|\[|:| =)", text_of(module), re.MULTILINE)
    return found is not None


def test_each_new_name_is_there_and_no_old_one() -> None:
    assert len(CLASSES) > 25
    new = [
        f"{module}.{name} is missing" for _, name, module in CLASSES if not is_named(name, module)
    ]
    old = [f"{module}.{name} is there" for name, _, module in CLASSES if is_named(name, module)]
    assert new + old == []
