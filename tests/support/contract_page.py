"""The tools' contract as a page: ``python -m tests.support.contract_page`` writes it anew."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[2] / "domain" / "tools"

_HEAD = """\
# The tools' contract

Made from `contract.yaml` by `python -m tests.support.contract_page`; a test compares the two.

- *deferred*: a proposal that the person decides on
- *immediate*: an operation at once
- *local*: in the wake only
"""


def render(contract: Mapping[str, Any]) -> str:
    """The page, in Markdown: what each kind of agent may do, a table, and a part for each tool."""
    kinds = [
        f"- `{kind}` may {', '.join(f'`{one}`' for one in may)}"
        for kind, may in contract["capabilities"].items()
    ]
    rows = [
        f"| `{tool['name']}` | {tool['mode']} | {tool['scope']} | {tool['risk']} |"
        for tool in contract["tools"]
    ]
    table = ["| tool | mode | scope | risk |", "|---|---|---|---|", *rows]
    parts = [_part(tool) for tool in contract["tools"]]
    blocks = [_HEAD.rstrip(), f"Version {contract['version']}", "\n".join(kinds), "\n".join(table)]
    return "\n\n".join([*blocks, *parts]) + "\n"


def load() -> dict[str, Any]:
    """The contract as it stands in the file."""
    contract: dict[str, Any] = yaml.safe_load((FOLDER / "contract.yaml").read_text("utf-8"))
    return contract


def main() -> None:
    """Write the page."""
    (FOLDER / "contract.md").write_text(render(load()), encoding="utf-8")


def _part(tool: Mapping[str, Any]) -> str:
    effects = tool["sideEffects"]
    lines = [
        f"## `{tool['name']}`",
        "",
        f"- version {tool['version']}, {tool['mode']}, risk {tool['risk']}, scope {tool['scope']}",
    ]
    if "immediateIf" in tool:
        lines.append(f"- immediate if {tool['immediateIf'].replace('_', ' ')}")
    if "array" in tool:
        lines.append(f"- each element of `{tool['array']}` becomes one `{tool['singular']}`")
    lines += [
        f"- needs {_names(tool['capabilities'])}",
        f"- in wakes of reason {', '.join(tool['wakeReasons'])}",
        f"- input `{tool['input']}`, output `{tool['output']}`",
        f"- harmless to repeat by {tool['idempotency'].replace('_', ' ')}",
        f"- changes {', '.join(effects['entities'])}; tokens {_names(effects['tokens'])}",
    ]
    return "\n".join(lines)


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


if __name__ == "__main__":
    main()
