"""The language of a text, by its small words."""

from collections import Counter
from collections.abc import Iterable
from functools import cache

from adapters.models.offline.phrasing import languages, table, tables
from adapters.models.offline.sentences import words

LANGUAGE_WORDS_MAX = 20_000
OTHERS = (
    "de het een niet voor met naar le la les des et est pas pour dans el los las que del y con "
    "il che per non och att det som är på jag og ikke nie się na jest"
)
"""Small words of languages that have no table: a text that holds them is of none that has one."""


@cache
def _known() -> dict[str, tuple[frozenset[str], str]]:
    """The small words of each language, and the letters that no other has."""
    small, letters = tables("small_words"), tables("letters")
    pairs = zip(languages(), small, letters, strict=True)
    told = {code: (frozenset(text.split()), only.strip()) for code, text, only in pairs}
    return told | {"": (frozenset(OTHERS.split()), "")}


TOLD = (
    "small_words finite negative conditional polar states done_stop done_generic deeds verbs "
    "irregular synonyms months days"
).split()
"""Tables whose words tell a language."""


@cache
def _lexicons() -> dict[str, frozenset[str]]:
    """The words of each language that no other has."""
    said = {
        code: frozenset(word for name in TOLD for word in words(table(code, name)))
        for code in languages()
    }
    every = Counter(word for one in said.values() for word in one)
    return {code: frozenset(one for one in own if every[one] == 1) for code, own in said.items()}


def leaning(texts: Iterable[str]) -> str:
    """The language that most words of a short text are of; the first one if none is."""
    tokens = [word for text in texts for word in words(text)][:LANGUAGE_WORDS_MAX]
    letters = {code: only for code, (_, only) in _known().items()}
    hits = {
        code: sum((one in own) + (not set(letters[code]).isdisjoint(one)) for one in tokens)
        for code, own in _lexicons().items()
    }
    return max(hits, key=lambda one: hits[one])


def language(texts: Iterable[str]) -> tuple[str, str]:
    """Language code and confidence, by stop words; both empty where it is not clear."""
    hits = dict.fromkeys(_known(), 0)
    tokens = [word for text in texts for word in words(text)][:LANGUAGE_WORDS_MAX]
    for token in tokens:
        for code, (small, letters) in _known().items():
            hits[code] += (token in small) + (not set(letters).isdisjoint(token))
    code = max(filter(None, hits), key=lambda one: hits[one])
    other = max(count for name, count in hits.items() if name != code)
    if hits[code] >= 5 and hits[code] >= 3 * other:
        return code, "high"
    if hits[code] >= 2 and hits[code] > 2 * other:
        return code, "medium"
    return "", ""
