"""Tomorrow's wording: what today's code says of a log that another wording wrote."""

import pytest
from msgspec.structs import replace

from domain.wake import directives


def reworded(monkeypatch: pytest.MonkeyPatch, sentence: str) -> None:
    """Another wording of a sentence, in every scaffold.

    Our own texts are patched on purpose: it plays tomorrow's code against today's log. A prompt
    text is a constant of its scaffold, so there is nothing that a test could hand over instead.
    """
    for number, told in directives.SENTENCES.items():
        other = getattr(told, sentence) + " Be brief."
        monkeypatch.setitem(directives.SENTENCES, number, replace(told, **{sentence: other}))
