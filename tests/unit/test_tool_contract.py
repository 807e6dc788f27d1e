"""The contract fits its schema, and its files are what the tools' records say."""

import copy
import json
from importlib import import_module

import jsonschema
import pytest
import yaml

from domain.tools import registry
from domain.tools.base import CAPABILITIES, REASONS
from domain.tools.registry import TOOLS
from domain.wake.scaffolds import SCAFFOLDS
from tests.support import contract_page as page

CONTRACT = page.document()
SCHEMA = json.loads((page.FOLDER / "contract.schema.json").read_text("utf-8"))


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


def test_the_file_is_what_the_records_say() -> None:
    kept = yaml.safe_load((page.FOLDER / "contract.yaml").read_text("utf-8"))
    assert kept == CONTRACT, "run python -m tests.support.contract_page"
    assert [tool["name"] for tool in kept["tools"]] == list(TOOLS)


@pytest.mark.parametrize("number", SCAFFOLDS)
def test_contract_and_registry_agree_on_each_scaffold(number: int) -> None:
    told = page.document(number)
    jsonschema.validate(told, SCHEMA)
    for reason in REASONS:
        of_reason = [one["name"] for one in told["tools"] if reason in one["wakeReasons"]]
        assert of_reason == list(registry.offered("task_agent", reason, number))
    specs = registry.specs([one["name"] for one in told["tools"]], number)
    for one, spec in zip(told["tools"], specs, strict=True):
        assert ("quote" in one) == ('"because"' in json.dumps(spec.schema)), spec.name
    may = {need for one in told["tools"] for need in one["capabilities"]}
    assert set(told["capabilities"]["task_agent"]) == may
    assert may <= set(CAPABILITIES["task_agent"])


def test_the_contract_of_the_first_scaffold_has_nothing_that_came_later() -> None:
    told = page.document(1)
    assert len(told["tools"]) == 12
    assert {one["since"] for one in told["tools"]} == {1}
    assert "loop.write" not in told["capabilities"]["task_agent"]
    assert "because" not in page.as_page(told)


def test_what_the_contract_refers_to_is_there() -> None:
    for tool in CONTRACT["tools"]:
        for reference in (tool["input"], tool["output"]):
            module, _, name = reference.partition(":")
            assert isinstance(getattr(import_module(module), name), type)


@pytest.mark.parametrize("name", ["contract.yaml", "contract.md"])
def test_the_files_are_up_to_date(name: str) -> None:
    kept = (page.FOLDER / name).read_text("utf-8")
    assert kept == page.files()[name], "run python -m tests.support.contract_page"


def test_the_page_names_every_tool() -> None:
    assert all(f"## `{name}`" in page.as_page(CONTRACT) for name in TOOLS)
