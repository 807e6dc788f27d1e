"""The words of the format that nothing writes are those that ADR 38 reserves; each can be read."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec.structs import replace

from adapters.proof import histories
from domain.append.envelope import STREAM_TYPES, Command
from domain.log.state import RecordedEvent
from domain.log.wire import Stored
from projections.all_views import VIEWS
from projections.view import fold
from replay.appends import appends
from tests.histories.scenes import FOLDER
from tests.support.architecture import tree_of
from tests.support.stored import leaves, members, part_types, sample, stored_types

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ADRs" / "0038-reserved-words.md").read_text(encoding="utf-8")
TABLE = {
    word: set(re.findall(r"`([^`]+)`", where))
    for word, where in re.findall(r"^\| `([^`]+)` \| ([^|]*)\|", TEXT, re.MULTILINE)
}
READERS = (  # of `adapters`: they tell what was written, and may name what never is
    "analytics documents proof telemetry text timetravel web".split()
)
KEPT = ("rules_first_wake", "template_versions")


def writers() -> Iterator[ast.Module]:
    """The modules in which what is appended is decided or made."""
    for path in sorted([*ROOT.glob("domain/**/*.py"), *ROOT.glob("adapters/**/*.py")]):
        if path.relative_to(ROOT).parts[1] not in READERS:
            yield tree_of(path.read_text(encoding="utf-8"))


@cache
def said() -> tuple[frozenset[object], frozenset[str]]:
    """The constants that stand anywhere but in a type, and the names that are called."""
    constants: set[object] = set()
    called: set[str] = set()
    for module in writers():
        nodes = list(ast.walk(module))
        literals = [one for one in nodes if isinstance(one, ast.Subscript) and _is_literal(one)]
        declared = {id(part) for one in literals for part in ast.walk(one)}
        for one in nodes:
            if isinstance(one, ast.Constant) and id(one) not in declared:
                constants.add(one.value)
            elif isinstance(one, ast.Call):
                called.add(getattr(one.func, "id", getattr(one.func, "attr", "")))
    return frozenset(constants), frozenset(called)


def _is_literal(one: ast.Subscript) -> bool:
    return isinstance(one.value, ast.Name) and one.value.id == "Literal"


def choices(struct: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Each field of a stored type that is one of some words, with each of them."""
    for field, hint in get_type_hints(struct).items():
        for one in leaves(hint):
            if get_origin(one) is Literal:
                yield from ((field, word) for word in get_args(one))


def name_of(struct: type[msgspec.Struct]) -> str:
    """A stored type's tag, or the name of a part."""
    return str(struct.__struct_config__.tag or struct.__name__)


def unwritten() -> dict[str, set[str]]:
    """What the format declares and no code writes, and in which types."""
    constants, called = said()
    found: dict[str, set[str]] = defaultdict(set)
    for struct in (*stored_types(), *part_types()):
        for _, word in choices(struct):
            if word not in constants:
                found[word].add(name_of(struct))
    for command in members(Command):
        if command.__name__ not in called:
            found[name_of(command)] = set()
    return dict(found)


def test_what_is_declared_and_never_written_is_reserved() -> None:
    assert unwritten() == TABLE, "a word came into use, or a new one is never written: see ADR 38"


def planted() -> Iterator[Any]:
    """Each reserved word with the type and the field that may hold it."""
    for struct in stored_types():
        for field, word in choices(struct):
            if name_of(struct) in TABLE.get(word, ()):
                yield pytest.param(struct, field, word, id=f"{word}-{name_of(struct)}")


@cache
def recorded() -> dict[str, list[RecordedEvent]]:
    """The facts of some kept histories, by log."""
    found: dict[str, list[RecordedEvent]] = defaultdict(list)
    for name in KEPT:
        for log, rows in histories.read_history(FOLDER / f"{name}.jsonl").rows.items():
            found[log] += [row for one in appends(rows) for row in one.facts]
    return found


@pytest.mark.parametrize(("struct", "field", "word"), [*planted()])
def test_a_reserved_word_is_decoded_and_folded(struct: type[Stored], field: str, word: str) -> None:
    value: Any = replace(sample(struct, is_full=True), **{field: word})
    assert msgspec.json.decode(msgspec.json.encode(value), type=struct) == value
    if struct in members(Command):
        return  # a command is folded by nobody
    facts = [
        replace(row, fact=replace(row.fact, **{field: word})) if type(row.fact) is struct else row
        for row in recorded()["agent"]
    ]
    assert facts != recorded()["agent"], f"no history in KEPT has a {name_of(struct)}"
    states: dict[str, Any] = {}
    for row in facts:
        if kind := STREAM_TYPES.get(row.of_kind):
            before = states.get(row.stream, kind.initial(row.entity))
            states[row.stream] = kind.evolve(before, row)
    assert msgspec.json.encode(states)
    for view in (one for one in VIEWS if one.log == "agent"):
        assert msgspec.json.encode(fold(view, facts))
