"""What each closed scaffold gives to a wake. A red one is never updated: older wakes were given
what stands there, and another wording, section or tool belongs to a scaffold that is open."""

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict
from syrupy.assertion import SnapshotAssertion

from domain.log import canonical
from domain.scaffold import CLOSED, FEATURES, SCAFFOLD
from domain.tools import registry
from domain.tools.base import CLIENT, REASONS
from domain.wake.manifests import MANIFESTS

ROOT = Path(__file__).parents[2]
PARTS = ("system", "before_task", "after_task")


def reasons(number: int) -> list[str]:
    """Why a wake of a scaffold may be; agents ask each other since the fifth, clients propose since
    the sixth."""
    found = [one for one in REASONS if one != "request" or number >= 5]
    return [*found, CLIENT] if number >= 6 else found


def given_by(number: int, kind: str = "task_agent") -> dict[str, Any]:
    """All that hangs on the number, and on the kind of agent, and not on the task."""
    manifest, features = MANIFESTS[number][kind], FEATURES[number]
    tools = {one: registry.offered(kind, one, number) for one in reasons(number)}
    every = list(dict.fromkeys(name for names in tools.values() for name in names))
    others = {} if kind == "task_agent" else {"directives": manifest.guiding.split("\n")}
    if manifest.for_clients is not None:
        others["clients"] = list(manifest.for_clients.after_task)
    return others | {
        "sections": {part: list(getattr(manifest.order, part)) for part in PARTS},
        "role": manifest.role.split("\n"),
        "sentences": asdict(manifest.sentences),
        "tools": tools,
        "specs": [canonical.text(one) for one in registry.specs(every, features)],
        "aliases": {
            one: known
            for one in registry.ALIASES
            if (known := registry.canonical_name(one, number))
        },
        "features": [name for name, is_on in asdict(features).items() if is_on],
    }


@pytest.mark.parametrize("number", [one for one in FEATURES if one <= CLOSED])
def test_a_closed_scaffold_gives_what_it_gave(number: int, snapshot: SnapshotAssertion) -> None:
    assert given_by(number) == snapshot
    for kind in MANIFESTS[number].keys() - {"task_agent"}:
        assert given_by(number, kind) == snapshot(name=kind)


def test_a_scaffold_is_closed_by_a_dated_section_of_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = [one for one in text.split("\n## ") if re.match(r"\[?[0-9.]+\]?.* [0-9]{4}-", one)]
    named = [int(one) for part in dated for one in re.findall(r"[Ss]caffold ([0-9]+)", part)]
    assert dated
    assert max(named, default=0) == CLOSED
    assert SCAFFOLD - CLOSED <= 1, "a release raises the scaffold once"
