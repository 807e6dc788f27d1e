"""The one home of text folding, over a pinned table (DESIGN 3).

Ids and duplicate checks compare folded texts, so folding must not follow the interpreter."""

from typing import Final

from domain.log.casefold import LONG, RUNS

_FOLDED: dict[int, int | str] = dict(LONG)
for _first, _last, _step, _distance in RUNS:
    _FOLDED.update((code, code + _distance) for code in range(_first, _last + 1, _step))

_SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_TO_SPACE = {ord(space): " " for space in _SPACES}


def squeeze(text: str) -> str:
    """Runs of white space as one space, none at the ends.

    >>> squeeze("  buy\\u00a0 milk\\n")
    'buy milk'
    """
    if text.isascii():  # there all agree on what a space is
        return " ".join(text.split())
    return " ".join(part for part in text.translate(_TO_SPACE).split(" ") if part)


def fold(text: str) -> str:
    """What two texts have in common that differ only in case and white space.

    >>> fold(" Straße  ÄNDERN ")
    'strasse ändern'
    """
    if text.isascii():  # there the table says the same, letter by letter
        return squeeze(text).lower()
    return squeeze(text).translate(_FOLDED)


_MARKS = (
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\u00a1\u00ab\u00b7\u00bb\u00bf\u2010\u2011\u2013"
    "\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2026"
)
_MARK_TO_SPACE = {ord(mark): " " for mark in _MARKS}


def tokens(text: str) -> tuple[str, ...]:
    """The words of a text, folded, each once, in their order.

    >>> tokens("Mow the lawn (the BIG one).")
    ('mow', 'the', 'lawn', 'big', 'one')
    """
    found = fold(text.translate(_MARK_TO_SPACE)).split(" ")
    return tuple(dict.fromkeys(one for one in found if one))


_NO_HYPHEN = str.maketrans("", "", "-\u00ad\u2010\u2011")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "\u0308": "e"})


def search_words(text: str) -> tuple[str, ...]:
    """The words of a text as they are looked for: ä is ae, a hyphenated word is its parts and one.

    >>> search_words("Größe: E-Mail")
    ('groesse', 'e', 'mail', 'email')
    """
    return tokens(fold(f"{text} {text.translate(_NO_HYPHEN)}").translate(_UMLAUTS))


def cut(text: str, *, length_max: int) -> str:
    """The text, or its beginning up to a word, ending in an ellipsis; at most `length_max` long.

    >>> cut("one two three", length_max=9)
    'one two…'
    """
    if len(text) <= length_max:
        return text
    head = text[: length_max - 1]
    if text[length_max - 1 : length_max] != " " and " " in head:
        head = head[: head.rindex(" ")]
    return head.rstrip(" ") + "…"


def is_language(text: str) -> bool:
    """Whether a text has the form of an ISO 639-1 code: two letters, a to z."""
    return len(text) == 2 and all("a" <= letter <= "z" for letter in text)


# ------------------------------------------------------------------ the language codes of ISO 639-1

LANGUAGES: Final = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da
    de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy
    hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg
    li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or
    os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta
    te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split()
)
