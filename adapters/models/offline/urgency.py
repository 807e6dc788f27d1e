"""How urgent a text says a task is."""

import re

from adapters.models.offline.clauses import Sentence
from adapters.models.offline.phrasing import grammar, rule, says, vocabulary
from adapters.models.offline.sentences import CONDITIONAL, NEGATIVE, Phrase, quote, words

QUOTES = frozenset("'\"„“”»«")


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Whether it is a name, in quotes of any kind."""
    around = text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
    return len(around) == 2 and QUOTES.issuperset(around)


def urgency(sentence: Sentence) -> Phrase | None:
    """The priority a sentence asks for; an empty value where it denies urgency."""
    for priority in ("P3", "P0", "P1", "P2"):
        found = rule(f"urgent_{priority.lower()}").finditer(sentence.text)
        care = grammar("urgency_care")
        match = next((one for one in found if not care.match(sentence.text, one.end())), None)
        if match is None or sentence.is_asked or sentence.is_others(match.start()):
            continue
        if _is_name(sentence.text, match):
            continue
        clause = sentence.clause(match.start())
        before = frozenset(words(sentence.text[clause.start : match.start()]))
        around = frozenset(clause.words) - {*words(match[0])}
        others = vocabulary("urgency_others")
        others -= vocabulary("else") if says(around, "nothing") else set()
        if not others.isdisjoint(around | before):
            return None
        start = max(clause.start, sentence.text.rfind(",", 0, match.start()))
        close = frozenset(words(sentence.text[start : match.start()]))
        supposed = CONDITIONAL.isdisjoint(close) and not says(before, "if")
        is_urgent = supposed and (vocabulary("urgency_less") | NEGATIVE).isdisjoint(close)
        is_urgent = is_urgent and not grammar("urgency_over").match(sentence.text, match.end())
        is_urgent = is_urgent and not says(
            words(sentence.text[match.end() : clause.end])[:4], "not"
        )
        return Phrase(
            priority if is_urgent else "", quote(sentence.text, match.start(), match.end())
        )
    return None
