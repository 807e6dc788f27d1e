"""The house holds its own rules, and each check is shown to bite."""

from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.support import architecture as house
from tests.support.openers import OPENERS

ROOT = Path(__file__).parents[2]
OURS = ("domain", "projections", "adapters", "replay")


def sources(*folders: str) -> dict[str, str]:
    """Every Python file of these folders, by its path from the top of the repository."""
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


CORE = sources(*house.CORE)
OF_US = sources(*OURS)
ADAPTERS = {path: text for path, text in OF_US.items() if path.startswith("adapters/")}
ALL = OF_US | sources("tests", "wakelog")
NOTEBOOKS = sources("notebooks")
TEXT_HOME = "domain/text.py"
BUT_SCAFFOLD = {path: text for path, text in OF_US.items() if path != "domain/scaffold.py"}


def found(check: Callable[[str, str], list[str]], files: dict[str, str]) -> str:
    """What a check of a path and its text finds in these files, a line each."""
    return "\n".join(f"{path}:{one}" for path, text in files.items() for one in check(path, text))


def test_there_is_something_to_look_at() -> None:
    assert set(house.CORE) == {Path(path).parts[0] for path in CORE}
    assert CORE.keys() < ALL.keys()
    assert "tests/unit/test_architecture.py" in ALL


@pytest.mark.parametrize(
    ("check", "files"),
    [
        (lambda path, text: house.foreign_imports(text, Path(path).parts[0]), CORE),
        (lambda _, text: house.impure_calls(text), CORE),
        (lambda path, text: house.unpinned_text(text, is_text_home=path == TEXT_HOME), CORE),
        (lambda _, text: house.oversized(text), ALL),
        (lambda _, text: house.silent_ignores(text), ALL),
        (lambda _, text: house.compared_scaffolds(text), BUT_SCAFFOLD),
        (lambda path, text: house.unnamed_openings(path, text, OPENERS), ADAPTERS),
        (lambda _, text: house.imports_of(text, *OURS), NOTEBOOKS),
    ],
    ids=[
        "the core imports nothing but the pure and the layers below",
        "the core calls nothing that reaches outside",
        "the core asks no Unicode table but the pinned one",
        "lines stay narrow and functions flat",
        "what switches a check off says why",
        "nobody compares the number of a scaffold",
        "nobody opens a file who is not named",
        "notebooks come in by the front door",
    ],
)
def test_the_house_holds(check: Callable[[str, str], list[str]], files: dict[str, str]) -> None:
    told = found(check, files)
    assert not told, told


def test_who_is_named_still_opens_a_file_and_notebooks_use_the_door() -> None:
    there = {f"{path} {what}" for path in ADAPTERS for _, what in house.openings(ADAPTERS[path])}
    assert there >= OPENERS, "take what is no more from tests/support/openers.py"
    assert sum(bool(house.imports_of(one, "wakelog")) for one in NOTEBOOKS.values()) == 5


def test_nobody_else_brings_packages_of_our_names() -> None:
    assert house.strangers(packages_distributions(), (*OURS, "wakelog")) == []


# ------------------------------------------------------------------------- the checks themselves


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("domain", "import os"),
        ("domain", "import os.path as p"),
        ("domain", "import json, time"),
        ("domain", "from uuid import uuid4"),
        ("domain", "from . import keys"),
        ("domain", "def now():\n    from time import time"),
        ("domain", "import projections.wakes"),
        ("domain", "import typing_extensions"),
        ("projections", "import replay.prove"),
        ("replay", "from projections import wakes"),
        ("replay", "from adapters.store import sqlite"),
        ("replay", "import duckdb"),
    ],
)
def test_a_foreign_import_is_found(package: str, source: str) -> None:
    assert len(house.foreign_imports(source, package)) == 1


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("import adapters.runtime.services", 1),
        ("from adapters.runtime import services", 1),
        ("def f():\n    import adapters.runtime as a, adapters.home.clock", 1),
        ("import adapters.runtimes\nfrom adapters import clock", 0),
    ],
)
def test_an_unwanted_import_is_found(source: str, count: int) -> None:
    assert len(house.imports_of(source, "adapters.runtime")) == count


def test_a_pure_import_is_allowed() -> None:
    source = "import msgspec\nfrom collections.abc import Iterator\nfrom domain.log.keys import key"
    assert all(house.foreign_imports(source, package) == [] for package in house.CORE)


@pytest.mark.parametrize("source", ["open('x')", "x = hash(y)", "__import__('os')", "id(f)"])
def test_an_impure_builtin_is_found(source: str) -> None:
    assert len(house.impure_calls(source)) == 1


def test_a_field_or_variable_of_such_a_name_is_allowed() -> None:
    assert house.impure_calls("task.id\nf(id=1)\nre.compile(id)\nclass A:\n    id: str") == []


@pytest.mark.parametrize(
    "source",
    [
        r"re.compile(r'\w+')",
        r"re.compile('\\d')",
        r"f = rf'{a}\b'",
        "title.casefold()",
        "f = str.casefold",
        "title.isalnum()",
        "unicodedata.normalize('NFC', title)",
    ],
)
def test_unpinned_text_is_found(source: str) -> None:
    assert len(house.unpinned_text(source)) == 1


def test_only_the_home_of_text_may_speak_of_casefold() -> None:
    assert house.unpinned_text("x.casefold()", is_text_home=True) == []
    assert len(house.unpinned_text("x.isalpha()", is_text_home=True)) == 1


def test_a_docstring_may_explain_and_an_ascii_class_is_allowed() -> None:
    source = "def f():\n    r'''Take no \\w here.'''\n    return re.compile(r'[0-9A-Z]+\\s')"
    assert house.unpinned_text(source) == []


def nested(*blocks: str) -> str:
    """Source of a function with one block inside the other."""
    inside = [f"{'    ' * depth}{block}:" for depth, block in enumerate(blocks, start=1)]
    return "\n".join(["def f():", *inside, "    " * (len(blocks) + 1) + "f()"])


BRANCHES = """
class A:
    def f():
        if a:
            f()
        {0} b:
            {1}if c:
            {1}    if d:
            {1}        f()
"""


@pytest.mark.parametrize(
    "source",
    [
        f"x = '{'a' * 95}'",
        nested("if a", "for a in b", "while a", "with a"),
        nested("match a", "case b", "if c", "if d", "if e"),
        BRANCHES.format("else:\n            if", "    "),
    ],
)
def test_the_oversized_is_found(source: str) -> None:
    assert len(house.oversized(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        f"x = '{'a' * 94}'",
        nested("if a", "for a in b", "while a"),
        nested("match a", "case b", "if c", "if d"),
        nested("if a", "if b", "def f()", "if c", "if d"),
        BRANCHES.format("elif", ""),
    ],
)
def test_what_just_fits_is_allowed(source: str) -> None:
    assert house.oversized(source) == []


@pytest.mark.parametrize(
    "source",
    ["x = 1  # noqa", "x = 1  # noqa: E501, F401", "x = 1  # type: ignore[misc, attr-defined]"],
)
def test_an_ignore_without_a_reason_is_found(source: str) -> None:
    assert len(house.silent_ignores(source)) == 1


def test_an_ignore_with_a_reason_is_allowed() -> None:
    source = (
        "x = 1  # noqa: F401  registers the plugin\n"
        "y = 1  # type: ignore[misc]  # the stub has no overload for this\n"
        "z = '# noqa'  # a string is no comment"
    )
    assert house.silent_ignores(source) == []


@pytest.mark.parametrize(
    "source",
    ["wake.begun.scaffold >= 2", "x if 1 == scaffold else y", "SCAFFOLD > n", "a < scaffold < 4"],
)
def test_a_compared_scaffold_is_found(source: str) -> None:
    assert len(house.compared_scaffolds(source)) == 1


def test_a_scaffold_may_be_looked_up_and_asked_for_a_feature() -> None:
    source = "ROLES[scaffold]\nscaffold in ROLES\nfeatures_of(scaffold).scrubs\nn > 2  # scaffold"
    assert house.compared_scaffolds(source) == []


def test_a_stranger_of_our_name_is_found() -> None:
    installed = {"adapters": ["adapters", "wakelog"], "domain": ["wakelog"], "rich": ["rich"]}
    assert len(house.strangers(installed, OURS)) == 1


@pytest.mark.parametrize(
    "call",
    [
        "(home / AGENT).read_bytes()",
        "path.open('rb')",
        "open(path)",
        "os.open(path, os.O_RDONLY)",
        "Path(home, 'journal.db').touch()",
        "shutil.copyfile(path, copy)",
        "shutil.copytree(home, copy)",
        "sqlite3.connect(path)",
        "[one.read_text() for one in home.glob('*.db')]",
    ],
)
@pytest.mark.parametrize(
    "around", ["x = {}", "def f():\n    return {}", "class A:\n    def f(self):\n        {}"]
)
def test_an_opening_that_is_not_named_is_found(call: str, around: str) -> None:
    assert len(house.unnamed_openings("a.py", around.format(call), OPENERS)) == 1


def test_another_opening_is_found_where_one_is_named() -> None:
    (name,) = [one for one in OPENERS if one.startswith("adapters/store/sqlite_documents.py")]
    path, what = name.split(" ", 1)
    source = "def open_view_file(path):\n    sqlite3.connect(path)\n    path.read_bytes()"
    assert len(house.unnamed_openings(path, source, OPENERS)) == 1
    assert what == "open_view_file: connect"


def test_a_copy_of_a_list_and_a_window_that_is_open_are_allowed() -> None:
    source = "x.copy()\nreplace(x)\nis_open(item)\nself._open()\nx.open_at\nwebbrowser.open_new(a)"
    assert house.unnamed_openings("a.py", source, ()) == []
