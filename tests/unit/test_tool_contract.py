"""The contract file fits its schema, says what the registry says, and its page is up to date."""

import copy
import json
from importlib import import_module
from typing import Any

import jsonschema
import pytest

from domain.tools.definitions import CAPABILITIES, TOOLS, Tool
from tests.support import contract_page as page

CONTRACT = page.load()
SCHEMA = json.loads((page.FOLDER / "contract.schema.json").read_text("utf-8"))


def of_registry(tool: Tool) -> dict[str, Any]:
    """A tool of the registry, as the contract spells it."""
    said: dict[str, Any] = {
        "name": tool.name,
        "version": tool.version,
        "mode": tool.mode,
        "immediateIf": tool.immediate_if,
        "array": tool.array,
        "singular": tool.singular,
        "capabilities": list(tool.capabilities),
        "wakeReasons": list(tool.reasons),
        "input": f"{tool.arguments.__module__}:{tool.arguments.__name__}",
        "output": tool.output,
        "idempotency": tool.idempotency,
        "scope": tool.scope,
        "sideEffects": {"entities": list(tool.entities), "tokens": list(tool.tokens)},
        "risk": tool.risk,
    }
    return {name: value for name, value in said.items() if value != ""}


def test_the_contract_fits_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(CONTRACT, SCHEMA)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("risk", "none"),
        ("wakeReasons", ["whim"]),
        ("wakeReasons", []),
        ("extra", 1),
        ("array", "x"),
    ],
)
def test_the_schema_bites(name: str, value: object) -> None:
    broken = copy.deepcopy(CONTRACT)
    broken["tools"][0][name] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


def test_the_contract_and_the_registry_say_the_same_in_the_same_order() -> None:
    assert CONTRACT["tools"] == [of_registry(tool) for tool in TOOLS.values()]


def test_the_contract_and_the_registry_allow_the_same() -> None:
    said = {kind: frozenset(may) for kind, may in CONTRACT["capabilities"].items()}
    assert said == CAPABILITIES


def test_what_the_contract_refers_to_is_there() -> None:
    for tool in CONTRACT["tools"]:
        for reference in (tool["input"], tool["output"]):
            module, _, name = reference.partition(":")
            assert isinstance(getattr(import_module(module), name), type)


def test_the_page_is_up_to_date() -> None:
    kept = (page.FOLDER / "contract.md").read_text("utf-8")
    assert kept == page.render(CONTRACT), "run python -m tests.support.contract_page"


def test_the_page_names_every_tool() -> None:
    assert all(f"## `{name}`" in page.render(CONTRACT) for name in TOOLS)
