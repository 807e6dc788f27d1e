"""Words that mean the same: "called" and "call", "pads" and "pad".

Tables for irregular verbs and for synonyms, and a few endings for all others. A word has several
keys, as nobody tells which language it is of; two words mean the same if they share one.
"""

import re
from functools import cache, lru_cache

from adapters.models.offline.phrasing import (
    alternatives,
    endings,
    grammar,
    phrases,
    rows,
    vocabulary,
)
from domain.text import fold

CACHE_MAX = 4_096
PREFIX_LENGTH_MAX = 8
_UMLAUTS = str.maketrans("äöüáàâéèêëíîïóôúùûñç", "aouaaaeeeeiiioouuunc")
_VOWELS = frozenset("aeiou")


@cache
def _irregular() -> tuple[dict[str, str], frozenset[str]]:
    """The base of each form of irregular verbs, and those forms that are of the past."""
    verbs = [fold(line).split() for line in rows("irregular")]
    bases = {form: forms[0] for forms in verbs for form in forms}
    return bases, frozenset(one for base, *past in verbs for one in past if one != base)


@cache
def _participles() -> frozenset[str]:
    """Those of irregular verbs that are no other form of theirs: "written", not "sent"."""
    verbs = [fold(line).split() for line in rows("irregular")]
    return frozenset(one[-1] for one in verbs if one[-1] not in one[:-1])


@cache
def _groups() -> dict[str, str]:
    """The group of words that mean the same, by the stem of each; a head with a colon is none."""
    found: dict[str, str] = {}
    for name, *others in (fold(line).split() for line in rows("synonyms")):
        for one in (*([] if name.endswith(":") else [name]), *others):
            found.setdefault(_stem(_infinitive_of(one)), f"={name.rstrip(':')}")
    return found


@cache
def _shapes() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Of verbs that come apart: a participle, one of a verb that does not, and an infinitive."""
    prefix, mark, end = alternatives("prefixes"), phrases("past_mark"), phrases("past_end")
    fused, fused_end = alternatives("fused"), phrases("fused_end")
    return (
        re.compile(rf"({prefix})?(?:{mark})([a-zäöü]{{3,}}?)(?:{end})$"),
        re.compile(rf"(?:{fused})[a-zäöü]{{3,}}(?:{fused_end})$"),
        re.compile(rf"({prefix})(?:{phrases('to_mark')})({phrases('to_infinitive')})$"),
    )


def _stem(word: str) -> str:
    """Its beginning, without the endings of nouns and verbs."""
    word = word.removesuffix("'s").translate(_UMLAUTS)
    for letter in "aou":
        word = word.replace(f"{letter}e", letter)
    while (shorter := _shorter(word)) != word:
        word = shorter
    return word


def _shorter(word: str) -> str:
    for ending in endings("y_endings"):
        if word.endswith(ending) and len(word) >= 5:
            return word[: -len(ending)] + "y"
    for ending in endings("endings"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    else:
        least = 3 if word[-1:] == "e" else 4
        is_kept = word.endswith(endings("whole_endings"))
        if len(word) > least and word.endswith(endings("last_letters")) and not is_kept:
            word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] not in _VOWELS else word


def _split(word: str) -> tuple[str, str]:
    """The separable prefix of an infinitive or participle, and the rest as an infinitive."""
    bases, prefixes = _irregular()[0], vocabulary("prefixes")
    for prefix in (word[:length] for length in range(PREFIX_LENGTH_MAX, 1, -1)):
        if prefix in prefixes and (rest := bases.get(word[len(prefix) :])):
            return prefix, rest
    return "", word


def _infinitive_of(word: str) -> str:
    """The infinitive of a form; the word where none is known.

    >>> _infinitive_of("unterschrieben")
    'unterschreiben'
    """
    bases = _irregular()[0]
    if word in bases:
        return bases[word]
    prefix, rest = _split(word)
    if prefix:
        return prefix + rest
    if to := _shapes()[2].match(word):
        return to[1] + bases.get(to[2], to[2])
    for fused in vocabulary("fused"):
        tail = word[len(fused) :] if word.startswith(fused) else ""
        for form in (tail, *(mark + tail for mark in vocabulary("past_mark"))) if tail else ():
            if form in bases:
                return fused + bases[form]
    return word


@lru_cache(maxsize=CACHE_MAX)
def keys(word: str) -> frozenset[str]:
    """What a folded word may stand for.

    >>> bool(keys("called") & keys("phone"))
    True
    """
    found = {_stem(word), _stem(_infinitive_of(word))}
    if participle := _shapes()[0].match(word):
        stem = (participle[1] or "") + participle[2]
        found |= {_stem(stem), *(_stem(stem + end) for end in vocabulary("infinitive_end"))}
    return frozenset(found | {_groups()[one] for one in found if one in _groups()})


@lru_cache(maxsize=CACHE_MAX)
def is_past(word: str) -> bool:
    """Whether a word, folded, has the form of a past tense or of a past participle."""
    if word in vocabulary("no_past"):
        return False
    past = _irregular()[1]
    if word in past or any(
        word[length:] in past for length in range(2, 9) if word[:length] in vocabulary("prefixes")
    ):
        return True
    if any(word.endswith(one) and len(word) > len(one) + 2 for one in vocabulary("past_endings")):
        return True
    marks = vocabulary("past_mark")
    for fused in vocabulary("fused"):
        if word.startswith(fused) and any(one + word[len(fused) :] in past for one in marks):
            return True
    is_regular = word.endswith(endings("fused_end")) and is_participle(word)
    return is_regular or bool(_shapes()[1].match(word))


def is_participle(word: str) -> bool:
    """Whether it is a participle by a mark at its beginning, as German has them, or alone one."""
    return word in _participles() or _shapes()[0].match(word) is not None


def is_verb(word: str) -> bool:
    """Whether an order may begin with it."""
    return word in vocabulary("verbs")


def is_deed(word: str) -> bool:
    """Whether it is an infinitive with which an order may end."""
    is_known = any(one.startswith("=") for one in keys(word)) or word in vocabulary("deeds")
    return ends_as_infinitive(word) and is_known


def ends_as_infinitive(word: str) -> bool:
    """Whether it may be an infinitive of a language whose verbs come last."""
    return len(word) > 3 and word.endswith(endings("infinitive_endings"))


def infinitive(word: str) -> str:
    """Of a participle, folded: "cleaned" is "clean"; empty if unsure."""
    if (base := _infinitive_of(word)) != word:
        return base
    for end in endings("past_endings"):
        stem = word.removesuffix(end)
        forms = (stem, stem + end[0], stem[:-1]) if stem != word else ()
        if found := next((one for one in forms if is_verb(one)), ""):
            return found
    participle = _shapes()[0].match(word)
    is_fused = _shapes()[1].match(word) or word.endswith(endings("participle_endings"))
    stem = participle[2] if participle else word[:-1] if is_fused else ""
    is_short = stem.endswith(endings("short_stems"))
    is_short = is_short and not word.endswith(endings("participle_endings"))
    ends = vocabulary("infinitive_short" if is_short else "infinitive_end")
    prefix = (participle[1] or "") if participle else ""
    return prefix + stem + next(iter(ends), "") if stem else ""


def from_stem(stem: str) -> list[str]:
    """The infinitive of "koch", "samml" or "formulier", where infinitives have an ending."""
    stem = grammar("stem_el").sub("el", stem)
    is_short = stem.endswith(endings("short_stems")) and not f"{stem}t".endswith(
        endings("participle_endings")
    )
    return [stem + end for end in rows("infinitive_short" if is_short else "infinitive_end")]


def is_told(word: str) -> bool:
    """Whether it is a participle that is no infinitive, though it ends like one: "gefunden"."""
    return is_past(word) and _infinitive_of(word) != word


def nominal(word: str) -> str:
    """What a noun that tells a deed holds, without its ending: "kassenpruf"; else empty."""
    told = next((word.removesuffix(end) for end in endings("nominal_ends") if word != end), word)
    return told.translate(_UMLAUTS) if told != word else ""


def from_to(word: str) -> str:
    """Of an infinitive with a mark in it, as German has them; empty of another word."""
    found = _shapes()[2].match(word)
    return (found[1] or "") + found[2] if found else ""


def from_gerund(word: str) -> str:
    """Of "painting" it is "paint"; empty if unsure."""
    for end in vocabulary("gerund_endings"):
        stem = word.removesuffix(end)
        forms = (stem, stem + "e", stem[:-1]) if stem != word else ()
        if found := next((one for one in forms if is_verb(one)), ""):
            return found
    return ""
