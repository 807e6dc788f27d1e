"""Tomorrow's wording: what today's code says of a log that another wording wrote."""

from typing import Any

import pytest
from msgspec.structs import replace

from domain.agent.deciders import AGENT_KIND
from domain.scaffold import SCAFFOLD
from domain.wake.manifests import MANIFESTS, Manifest

TOLD = MANIFESTS[SCAFFOLD][AGENT_KIND]
"""What a task's agent is told today."""


def reworded(monkeypatch: pytest.MonkeyPatch, sentence: str) -> None:
    """Another wording of a sentence, in every scaffold.

    Our own texts are patched on purpose: it plays tomorrow's code against today's log. A prompt
    text is a constant of its scaffold, so there is nothing that a test could hand over instead.
    """
    for number, kinds in MANIFESTS.items():
        told = kinds[AGENT_KIND].sentences
        other = replace(told, **{sentence: getattr(told, sentence) + " Be brief."})
        retold(monkeypatch, number, sentences=other)


def retold(monkeypatch: pytest.MonkeyPatch, number: int, **other: Any) -> None:
    """Another manifest of a task's agent in a scaffold."""
    made: Manifest = replace(MANIFESTS[number][AGENT_KIND], **other)
    monkeypatch.setitem(MANIFESTS, number, {**MANIFESTS[number], AGENT_KIND: made})
