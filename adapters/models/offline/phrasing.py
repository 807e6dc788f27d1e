"""Phrases as data: `phrases/LANGUAGE.toml` says what they are, by what they say.

A language is a file. All are read at once, as a note may mix them; what a wake does not ask for
is not compiled.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from adapters.models.offline.sentences import END, START, pattern


@cache
def phrases(name: str) -> str:
    """Those of all languages that say this, as alternatives; each begins at a word."""
    return "|".join(one for table in _tables() for one in table[name])


@cache
def rule(name: str, around: str = "{}") -> re.Pattern[str]:
    """Finds one of them as whole words, or what is `around` one."""
    return pattern(around.format(rf"{START}(?:{phrases(name)}){END}"))


@cache
def _tables() -> tuple[dict[str, list[str]], ...]:
    folder = files("adapters.models.offline").joinpath("phrases")
    texts = {one.name: one.read_text("utf-8") for one in folder.iterdir()}
    return tuple(tomllib.loads(texts[name]) for name in sorted(texts) if name.endswith(".toml"))
