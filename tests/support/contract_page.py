"""The tools' contract for readers outside the code, made from the tools' records (SPEC 5).

``python -m tests.support.contract_page`` writes contract.yaml and contract.md anew; with a number
behind it, it prints the page of that scaffold.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domain.scaffold import FEATURES, SCAFFOLD
from domain.tools.base import CAPABILITIES, Tool
from domain.tools.decoding import BECAUSE, asks
from domain.tools.registry import TOOLS

FOLDER = Path(__file__).resolve().parents[2] / "domain" / "tools"
VERSION = 1

_YAML = """\
# The contract of the agents' tools (SPEC 5), for readers outside the code. Made from their records
# by `python -m tests.support.contract_page`; a test compares the two and holds this to its schema.
version: {version}

# What each kind of agent may do. A tool is offered where all its capabilities are here.
capabilities:
{kinds}

tools:
{tools}
"""
_HEAD = """\
# The tools' contract

Made from the tools' records by `python -m tests.support.contract_page`; a test compares the two.

- *deferred*: a proposal that the person decides on
- *immediate*: an operation at once
- *local*: in the wake only
- *read*: a look into both logs, which changes nothing

A tool is there since the scaffold that it names; from scaffold 2 on it is offered only where the
task has something for it.
"""


QUOTES_SINCE = min(number for number, given in FEATURES.items() if given.quotes)


def document(scaffold: int = SCAFFOLD) -> dict[str, Any]:
    """What the contract of a scaffold says."""
    tools = [tool for tool in TOOLS.values() if tool.is_in(scaffold)]
    needed = {one for tool in tools for one in tool.capabilities}
    return {
        "version": VERSION,
        "capabilities": {
            kind: [one for one in may if one in needed] for kind, may in CAPABILITIES.items()
        },
        "tools": [_tool(tool, scaffold) for tool in tools],
    }


def files() -> dict[str, str]:
    """The text of each file, by its name."""
    contract = document()
    return {"contract.yaml": as_yaml(contract), "contract.md": as_page(contract)}


def main() -> None:
    """Write the files, or print the page of one scaffold."""
    if sys.argv[1:]:
        sys.stdout.write(as_page(document(int(sys.argv[1]))))
        return
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def as_yaml(contract: Mapping[str, Any]) -> str:
    """The contract as a file, a part for each tool."""
    kinds = [
        "\n".join([f"  {kind}:", *(f"    - {one}" for one in may)])
        for kind, may in contract["capabilities"].items()
    ]
    tools = [
        "\n".join(f"    {name}: {_flow(value)}" for name, value in tool.items())
        for tool in contract["tools"]
    ]
    parts = [f"  - {part.lstrip()}" for part in tools]
    return _YAML.format(
        version=contract["version"], kinds="\n".join(kinds), tools="\n\n".join(parts)
    )


def _flow(value: object) -> str:
    match value:
        case list():
            return f"[{', '.join(map(_flow, value))}]"
        case dict():
            return f"{{{', '.join(f'{name}: {_flow(one)}' for name, one in value.items())}}}"
        case _:
            return str(value)


def _tool(tool: Tool, scaffold: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": tool.name,
        "version": tool.version,
        "since": tool.since,
        "mode": tool.mode,
        "immediateIf": tool.immediate_if,
        "array": tool.array,
        "singular": tool.singular,
        "quote": BECAUSE if asks(tool, FEATURES[scaffold]) else "",
        "capabilities": list(tool.capabilities),
        "wakeReasons": list(tool.wake_reasons),
        "input": f"{tool.arguments.__module__}:{tool.asked(FEATURES[scaffold]).__name__}",
        "output": tool.output,
        "idempotency": tool.idempotency,
        "scope": tool.scope,
        "sideEffects": {"entities": list(tool.entities), "tokens": list(tool.tokens)},
        "risk": tool.risk,
    }
    return {name: value for name, value in said.items() if value != ""}


def as_page(contract: Mapping[str, Any]) -> str:
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


def _part(tool: Mapping[str, Any]) -> str:
    effects = tool["sideEffects"]
    lines = [
        f"## `{tool['name']}`",
        "",
        f"- version {tool['version']}, {tool['mode']}, risk {tool['risk']}, scope {tool['scope']}",
        f"- since scaffold {tool['since']}",
    ]
    if "immediateIf" in tool:
        lines.append(f"- immediate if {tool['immediateIf'].replace('_', ' ')}")
    if "array" in tool:
        lines.append(f"- each element of `{tool['array']}` becomes one `{tool['singular']}`")
    if "quote" in tool:
        lines.append(
            f"- takes the words it rests on as `{tool['quote']}`, since scaffold {QUOTES_SINCE}"
        )
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
