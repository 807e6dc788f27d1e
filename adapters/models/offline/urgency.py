"""How urgent a text says a task is."""

from adapters.models.offline import phrasing
from adapters.models.offline.clauses import Sentence
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    Phrase,
    pattern,
    quote,
    word_set,
    words,
)

_CARE = pattern(" care")
_OVER = pattern(" (?:any ?more|mehr)")
_LESS = word_set("less non weniger")
_OTHERS = word_set(
    "was were war waren hatte hatten had always immer other andere anderes anderen wäre wären else "
    "theirs ihnen calls meeting call anruf"
)


def urgency(sentence: Sentence) -> Phrase | None:
    """The priority a sentence asks for; an empty value where it denies urgency."""
    for priority in ("P3", "P0", "P1"):
        found = phrasing.rule(f"urgent_{priority.lower()}").finditer(sentence.text)
        match = next((one for one in found if not _CARE.match(sentence.text, one.end())), None)
        if match is None or sentence.is_asked or sentence.is_others(match.start()):
            continue
        clause = sentence.clause(match.start())
        before = frozenset(words(sentence.text[clause.start : match.start()]))
        around = frozenset(clause.words) - {*words(match[0])}
        around -= {"else"} if "nothing" in around else set()
        if not _OTHERS.isdisjoint(around) or not _OTHERS.isdisjoint(before):
            return None
        start = max(clause.start, sentence.text.rfind(",", 0, match.start()))
        close = frozenset(words(sentence.text[start : match.start()]))
        is_urgent = CONDITIONAL.isdisjoint(before) and (_LESS | NEGATIVE).isdisjoint(close)
        is_urgent = is_urgent and not _OVER.match(sentence.text, match.end())
        is_urgent = is_urgent and not _denied_after(sentence.text[match.end() : clause.end])
        return Phrase(
            priority if is_urgent else "", quote(sentence.text, match.start(), match.end())
        )
    return None


def _denied_after(rest: str) -> bool:
    """ "Eilt nicht", "eilig ist es nicht"."""
    return not word_set("nicht not nie").isdisjoint(words(rest)[:4])
