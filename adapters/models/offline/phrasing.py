"""Phrases as data: `phrases/LANGUAGE.toml` says what they are, by what they say.

A language is a file, and the code has no word of one; all are read at once, as a note may mix them.
A table is words, or phrases, one a line, which goes on where the next is indented. `{name}` stands
for another table. A phrase is compiled when a text holds a word that it cannot do without.

Patterns are ASCII and case-insensitive with the letters of Europe spelled out, so they match the
same text under every Python; every repetition in them is bounded.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import chain
from types import MappingProxyType

from domain.text import fold

LETTERS = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"
START = f"(?<![{LETTERS}0-9_])"
END = f"(?![{LETTERS}0-9_])"
LETTERS_MAX = 4
"""With more of them letters are no rarer, and fewer alternatives count."""
FIRST = "en"
"""The language whose phrases are tried first, and that is written where no other is known."""

_UMLAUTS = (
    ("ä", "(?:[äÄ]|ae)"),
    ("ö", "(?:[öÖ]|oe)"),
    ("ü", "(?:[üÜ]|ue)"),
    ("ß", "(?:ß|ss)"),
)
_NAMED = re.compile(r"\{([a-z][a-z_]*)\}")
_GOES_ON = re.compile(r"\n +")
_NO_LETTERS = re.compile(r"\\.|\[[^\]]*\]|\{[a-z_]+\}")
_PIECE = re.compile(
    r"[a-z ]{2,}(?=[^a-z ?*{]|$)|[a-z ]{2,}(?=[a-z ][?*{])|"
    r"\((?:\?(?:[:=!]|P<\w+>|<[=!]|-i:))?|\)(?:[?*]|\{0)?|\|"
)
_AROUND = ("(?=", "(?!", "(?<=", "(?<!")


@cache
def pattern(source: str) -> re.Pattern[str]:
    """Compile a phrase; umlauts match in both cases. Not for umlauts in a character class."""
    source = source.replace(r"[\w", f"[{LETTERS}0-9_").replace(r"\w", f"[{LETTERS}0-9_]")
    for letter, either in (*_UMLAUTS, *_loose()):
        source = source.replace(letter, either)
    return re.compile(source, re.IGNORECASE | re.ASCII)


@cache
def tables(name: str) -> tuple[str, ...]:
    """What each language has under a name; those that have nothing are left out."""
    return tuple(text for one in _languages().values() if isinstance(text := one.get(name), str))


@cache
def table(language: str, name: str) -> str:
    """What a language has under a name; empty if nothing."""
    told = _languages().get(language, {}).get(name, "")
    return told if isinstance(told, str) else ""


@cache
def texts(language: str) -> dict[str, str]:
    """What the model itself says in a language; nothing where it has no words of its own."""
    told = _languages().get(language, {}).get("texts", {})
    return dict(told) if isinstance(told, dict) else {}


@cache
def languages() -> tuple[str, ...]:
    """The codes of those that are read."""
    return tuple(_languages())


@cache
def rows(name: str) -> tuple[str, ...]:
    """The lines of a table in all languages."""
    texts = (_GOES_ON.sub("", one) for one in tables(name))
    return tuple(line for text in texts for line in text.split("\n") if line)


@cache
def vocabulary(*names: str) -> frozenset[str]:
    """The words of tables, in all languages, also as they are spelled without umlauts."""
    told = {fold(word) for name in names for one in tables(name) for word in one.split()}
    for ending, _ in _loose():
        told |= {one.replace("'", "") for one in told if one.endswith(ending)}
    return frozenset(either for word in told for either in (word, spelled(word)))


@cache
def _loose() -> tuple[tuple[str, str], ...]:
    """Endings whose apostrophe a fast writer leaves out ("dont"), and what matches either."""
    told = (one for text in tables("loose_apostrophes") for one in text.split())
    return tuple((one, one.replace("'", "'?")) for one in told)


def says(said: Iterable[str], *names: str) -> bool:
    """Whether some of these words, folded, stand in tables."""
    return not vocabulary(*names).isdisjoint(said)


@cache
def endings(name: str) -> tuple[str, ...]:
    """The words of a table that others end with, the longest first."""
    return tuple(sorted(vocabulary(name), key=lambda one: (-len(one), one)))


@cache
def phrases(name: str) -> str:
    """Those of all languages that say this, as alternatives."""
    return "|".join(map(expanded, rows(name))) or "(?!)"


@cache
def meanings(name: str) -> dict[str, int]:
    """Words by the place of their line, from 1: the months of all languages."""
    lines = (pair for one in tables(name) for pair in enumerate(one.strip("\n").split("\n"), 1))
    told = {word: nth for nth, line in lines for word in line.split()}
    return told | {spelled(word): nth for word, nth in told.items()}


def spelled(word: str) -> str:
    """As it is written where there is no key for an umlaut."""
    for letter, either in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        word = word.replace(letter, either)
    return word


@cache
def alternatives(name: str) -> str:
    """Words or meanings as alternatives, the longest first."""
    names = (one.replace("_", " ") for one in vocabulary(name))
    return "|".join(sorted(names, key=lambda one: (-len(one), one)))


def expanded(source: str, given: Mapping[str, str] = MappingProxyType({})) -> str:
    """A phrase with what its names stand for, in the tables or as `given`."""

    def meant(name: re.Match[str]) -> str:
        if told := given.get(name[1]) or _FIXED.get(name[1]):
            return expanded(told, given)
        return f"(?:{'|'.join(expanded(one, given) for one in rows(name[1])) or '(?!)'})"

    return _NAMED.sub(meant, source)


class Rule:
    """Phrases of a table, tried each for itself: what the first one to match finds counts.

    `around`: a pattern in which `{}` stands for a phrase.
    """

    def __init__(self, name: str, around: str) -> None:
        self.name = name
        self._around = around
        self._known: list[tuple[tuple[str, ...], list[tuple[str, ...]], str]] | None = None

    def _fitting(self, text: str) -> Iterator[re.Pattern[str]]:
        if self._known is None:
            needed = [(_needed(one) or (("",),), one) for one in rows(self.name)]
            self._known = [(first, rest, one) for (first, *rest), one in needed]
        lower = text.lower()
        for first, rest, source in self._known:
            for key in first:  # generators and calls cost twice as much, and a wake comes by often
                if key in lower:
                    break
            else:
                continue
            if not rest or _holds(lower, rest):
                yield _compiled(source, self._around)

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> list[re.Match[str]]:
        """All that match, by where they begin; of those that overlap the first."""
        stop = len(text) if end is None else end
        found = [match for one in self._fitting(text) for match in one.finditer(text, start, stop)]
        kept, last = list[re.Match[str]](), -1
        for match in sorted(found, key=lambda one: one.start()):
            if match.start() >= last:
                kept.append(match)
                last = match.end()
        return kept

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """The one that begins first."""
        stop = len(text) if end is None else end
        found = (one.search(text, start, stop) for one in self._fitting(text))
        return min(filter(None, found), key=lambda one: one.start(), default=None)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first that matches there."""
        return next(filter(None, (one.match(text, start) for one in self._fitting(text))), None)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The first that matches all of it."""
        return next(filter(None, (one.fullmatch(text) for one in self._fitting(text))), None)

    def sub(self, by: str, text: str) -> str:
        """The text with all that match replaced."""
        for one in self._fitting(text):
            text = one.sub(by, text)
        return text

    def split(self, text: str) -> list[str]:
        """What stands between those that match."""
        parts, start = list[str](), 0
        for match in self.finditer(text):
            if match.end() > match.start():
                parts.append(text[start : match.start()])
                start = match.end()
        return [*parts, text[start:]]


@cache
def rule(name: str, around: str = "{}") -> Rule:
    """The phrases of a table as whole words, or what is `around` one."""
    return Rule(name, around.replace("{}", f"{START}(?:{{}}){END}"))


@cache
def grammar(name: str) -> Rule:
    """The phrases of a table as they stand there."""
    return Rule(name, "{}")


@cache
def _compiled(source: str, around: str) -> re.Pattern[str]:
    return pattern(expanded(around.replace("{}", source)))


def _holds(lower: str, needed: Iterable[tuple[str, ...]]) -> bool:
    """Whether a text holds one of each of these."""
    for keys in needed:
        for key in keys:
            if key in lower:
                break
        else:
            return False
    return True


def _needed(source: str) -> tuple[tuple[str, ...], ...]:
    """Sets of letters, the rarest first: a text that a phrase matches holds some of each; none: it
    may match any."""
    found = _read(iter(_PIECE.findall(_NO_LETTERS.sub("#", source))))
    return tuple(sorted(found, key=lambda each: (-min(LETTERS_MAX, *map(len, each)), len(each))))


def _read(pieces: Iterator[str]) -> Collection[tuple[str, ...]]:
    """Those of a pattern, up to the end of its group; none where that may be left out."""
    branch = dict[tuple[str, ...], None]()
    branches = [branch]
    for piece in pieces:
        if piece[0] == "(":
            found = _read(pieces)
            if piece not in _AROUND:
                branch.update(dict.fromkeys(found))
        elif piece == "|":
            branches.append(branch := {})
        elif piece[0] != ")":
            if len(run := piece.strip(" ")) > 1:
                branch[(run,)] = None
        elif len(piece) > 1:
            return ()
        else:
            break
    if len(branches) == 1:
        return branch
    best = [max(one, key=lambda each: min(map(len, each)), default=()) for one in branches]
    return (tuple(chain.from_iterable(best)),) if all(best) else ()


@cache
def _languages() -> dict[str, dict[str, object]]:
    folder = files("adapters.models.offline").joinpath("phrases")
    texts = {one.name: one.read_text("utf-8") for one in folder.iterdir()}
    names = sorted(one.removesuffix(".toml") for one in texts if one.endswith(".toml"))
    names.sort(key=lambda one: one != FIRST)
    return {name: tomllib.loads(texts[f"{name}.toml"]) for name in names}


_FIXED = {
    "start": START,
    "end": END,
    "letters": LETTERS,
    "date": "\ue000+",
    "length": "\ue001+",
    "ahead": "\ue002+",
    "about": "(?:{about_words} |~ ?|≈ ?){0,6}",
}
"""What each name stands for that is no table; dates and lengths of time are masked in texts."""
