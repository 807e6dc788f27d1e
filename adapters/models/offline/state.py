"""Whether the work waits, goes on, rests or has begun.

Who waits is the person or the task: "Tom is waiting for my answer" blocks nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from adapters.models.offline import lemmas
from adapters.models.offline.clauses import Clause, Sentence
from adapters.models.offline.phrasing import LETTERS, Rule, grammar, rule, says, vocabulary
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    SELF,
    Phrase,
    quote,
    words,
)
from domain.text import cut

REASON_LENGTH_MAX = 200
_OBJECT = re.compile(rf"[{LETTERS}0-9\"'„“#@]")
_NOT_YET = vocabulary("negative", "conditional", "state_not_yet")


class StateChange(Struct, frozen=True):
    """A word about the state of the work, with its place in the sentence."""

    state: Literal["blocked", "free", "hold", "started"]
    position: int
    phrase: Phrase


def turns(sentence: Sentence, *, is_held: bool = True) -> list[StateChange]:
    """What a sentence says of blockers and progress, in its order; what frees only of what it says
    that it waits, or if it `is_held`."""
    if sentence.is_asked:
        return []
    blocked = list(_blocked(sentence))
    frees = (rule("frees"), grammar("state_free"))
    rules = frees if blocked else (*frees, grammar("state_may_go_on"))
    free = _free(sentence, rules) if blocked or is_held else ()
    found = [*blocked, *free, *_held(sentence), *_started(sentence)]
    told = [
        one
        for one in found
        if not sentence.is_others(one.position)
        and not says(sentence.clause(one.position).words[:2], "otherwise")
    ]
    return sorted(told, key=lambda turn: turn.position)


def is_news(sentence: Sentence) -> bool:
    """Whether it tells how something is, and not that it still is so."""
    open_words = (NEGATIVE - vocabulary("no")) | CONDITIONAL | vocabulary("state_goes_on")
    return not sentence.is_asked and open_words.isdisjoint(sentence.words)


def is_own_deed(sentence: Sentence) -> bool:
    """Whether it begins with what the person did: "dug the first bed"."""
    said = [one for one in sentence.words if one not in SELF | vocabulary("done_told")][:1]
    return is_news(sentence) and any(map(lemmas.is_past, said))


def _blocked(sentence: Sentence) -> Iterator[StateChange]:
    if rule("meanwhile").search(sentence.text):
        return
    spans: list[tuple[int, int]] = []
    for name in ("waits", "held", "no_word"):
        for match in grammar(f"state_{name}").finditer(sentence.text):
            is_known = any(start <= match.start() < end for start, end in spans)
            reason = "" if is_known else _reason(sentence, match, is_own=name == "waits")
            if reason and not grammar("state_hangs_on").match(sentence.text, match.start()):
                spans.append((match.start(), match.start() + len(reason)))
                yield StateChange("blocked", match.start(), Phrase(reason, _whole(sentence, match)))
    if not spans and says(sentence.words[:1], "if"):
        return
    late = _late(sentence) or _not_before(sentence)
    if late is not None and not spans:
        yield StateChange("blocked", late.start(), Phrase(late[0].strip(), _whole(sentence, late)))


def _late(sentence: Sentence) -> re.Match[str] | None:
    """ "The supplier hasn't shipped it yet"; what the person has not done yet blocks nothing."""
    found = grammar("state_late").search(sentence.text)
    told = frozenset(words(found[0])) if found else frozenset()
    said = frozenset(sentence.clause(found.start()).words) if found else told
    is_own = not (SELF | vocabulary("i_have_last")).isdisjoint(said)
    is_open = says(told, "if", "whether")
    return None if is_own or is_open else found


def _not_before(sentence: Sentence) -> re.Match[str] | None:
    """ "Until they decide I can't do anything"."""
    found = grammar("state_not_before").search(sentence.text)
    told = words(found[0]) if found else []
    if found is None or says(told, "otherwise"):
        return None
    is_past = says(words(found[0].rsplit(",", 1)[-1]), "state_past_be")
    is_pending = grammar("state_pending").search(found[0]) and not says(told, "state_awaited")
    return None if is_past or is_pending else found


def _reason(sentence: Sentence, match: re.Match[str], *, is_own: bool) -> str:
    """Cue and object of a blocker; empty where it is denied, past or about nobody's thing."""
    clause = sentence.clause(match.start())
    before = words(sentence.text[clause.start : match.start()])
    named = sentence.text[match.end() : match.end() + REASON_LENGTH_MAX]
    first = next(iter(words(named[:40])), "")
    own = NEGATIVE | CONDITIONAL | vocabulary("state_past")
    denied = own if is_own else CONDITIONAL | vocabulary("was")
    if not denied.isdisjoint(before) or says(before, "longer"):
        return ""
    is_denied = clause.is_negative and rule("wait_for_last").fullmatch(match["cue"].strip())
    if is_denied or (is_own and not _is_own(before, match, sentence)):
        return ""
    comma = sentence.text.rfind(",", 0, match.start()) + 1
    close = words(sentence.text[max(clause.start, comma) : match.start()])
    is_mine = vocabulary("state_self").issuperset(close)
    if not is_own and is_mine and grammar("i_have_not").match(match["cue"]):
        return ""
    if is_own and (first in vocabulary("state_no_object") or not _OBJECT.match(named)):
        return ""
    then_we = grammar("state_then_we").match(sentence.text[match.end() :])
    if match.start() == 0 and then_we and rule("gerund").match(match[0]):
        return ""
    named = grammar("state_clause_end").split(named)[0].rstrip(" .!,;:…")
    return cut(f"{match[0].rstrip()} {named}".strip(), length_max=REASON_LENGTH_MAX)


def _is_own(before: list[str], match: re.Match[str], sentence: Sentence) -> bool:
    """Whether who waits is the person, or the task."""
    if rule("it_waits").match(match[0]) and not says(before, "waiting_things"):
        return False
    if not grammar("waiting").match(match[0]):
        return True
    is_mine = says(words(sentence.text[match.end() : match.end() + 40])[:1], "mine_words")
    told = [one for one in before if not one.isdecimal()]
    return not is_mine and vocabulary("state_self").issuperset(told)


def _free(sentence: Sentence, rules: Sequence[Rule]) -> Iterator[StateChange]:
    for one in rules:
        for match in one.finditer(sentence.text):
            clause = sentence.clause(match.start())
            before = words(sentence.text[clause.start : match.start()])
            is_denied = says(before, "negative", "conditional", "hopes")
            is_hindered = is_denied and not says(words(match[0]), "freeing")
            is_later = says(words(sentence.text[match.end() : clause.end])[:4], "not_now")
            is_later = is_later or says(sentence.words[:1], "conditional", "hopes")
            if not is_hindered and not is_later:
                yield StateChange("free", match.start(), Phrase("", _whole(sentence, match)))
    for match in rule("came").finditer(sentence.text):
        clause = sentence.clause(match.start())
        around = {*clause.words}
        if _NOT_YET.isdisjoint(around):
            yield StateChange("free", match.start(), Phrase("came", _whole(sentence, match)))


def _held(sentence: Sentence) -> Iterator[StateChange]:
    for match in rule("holds").finditer(sentence.text):
        clause = sentence.clause(match.start())
        start = max(clause.start, sentence.text.rfind(",", 0, match.start()))
        before = frozenset(words(sentence.text[start : match.start()]))
        rest = sentence.text[match.end() : clause.end].partition(",")[0]
        said = frozenset(words(sentence.text[start : match.end()] + rest))
        denied = NEGATIVE | (CONDITIONAL - vocabulary("should")) | vocabulary("was", "held_before")
        is_other = grammar("state_pauses").search(match[0]) is not None
        is_other = is_other and says(said, "state_no_hold")
        if denied.isdisjoint(before) and not is_other:
            reason = (
                grammar("state_clause_end").split(sentence.text[clause.start :])[0].strip(" .!,;:…")
            )
            reason = cut(reason, length_max=REASON_LENGTH_MAX)
            yield StateChange("hold", match.start(), Phrase(reason, _whole(sentence, match)))


def _started(sentence: Sentence) -> Iterator[StateChange]:
    for match in grammar("state_started").finditer(sentence.text):
        clause = _up_to(sentence, match)
        if _NOT_YET.isdisjoint(words(clause)):
            yield StateChange("started", match.start(), Phrase("", _whole(sentence, match)))
            return


def _up_to(sentence: Sentence, match: re.Match[str]) -> str:
    clause: Clause = sentence.clause(match.start())
    return sentence.text[min(clause.start, match.start()) : match.end()][-120:]


def _whole(sentence: Sentence, match: re.Match[str]) -> str:
    return quote(sentence.text, match.start(), match.end())
