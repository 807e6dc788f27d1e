"""English or German, by stop words."""

import re
from collections.abc import Iterable

from adapters.models.offline.sentences import word_set, words

LANGUAGE_WORDS_MAX = 20_000

_STOP_WORDS = {
    "en": word_set(
        "the and is to of for with that this it not have has from are be we you by need please "
        "should will they he she i my our if when"
    ),
    "de": word_set(
        "der die das und ist nicht mit für von ein eine einen zu auf ich wir muss noch bis den dem "
        "im es sich auch bei nach wird werden oder aber wenn zum zur mein meine ihr er sie"
    ),
    "": word_set(
        "de het een niet voor met naar le la les des et est pas pour dans el los las que del y con "
        "il che per non och att det som är på jag og ikke nie się na jest"
    ),
}
_UMLAUT = re.compile("[äöüß]")


def language(texts: Iterable[str]) -> tuple[str, str]:
    """Language code and confidence, by stop words; both empty where it is not clear."""
    hits = dict.fromkeys(_STOP_WORDS, 0)
    tokens = [word for text in texts for word in words(text)][:LANGUAGE_WORDS_MAX]
    for token in tokens:
        for code, known in _STOP_WORDS.items():
            hits[code] += token in known
        hits["de"] += _UMLAUT.search(token) is not None
    code = "en" if hits["en"] > hits["de"] else "de"
    other = max(count for name, count in hits.items() if name != code)
    if hits[code] >= 5 and hits[code] >= 3 * other:
        return code, "high"
    if hits[code] >= 2 and hits[code] > 2 * other:
        return code, "medium"
    return "", ""
