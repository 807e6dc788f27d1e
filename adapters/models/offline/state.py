"""Whether the work waits, goes on, rests or has begun.

Who waits is the person or the task: "Tom is waiting for my answer" blocks nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from adapters.models.offline import state_phrases as say
from adapters.models.offline.clauses import Clause, Sentence
from adapters.models.offline.phrase import Phrase
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    quote,
    word_set,
    words,
)
from domain.text import cut

REASON_LENGTH_MAX = 200


class Turn(Struct, frozen=True):
    """A word about the state of the work, with its place in the sentence."""

    state: Literal["blocked", "free", "hold", "started"]
    position: int
    phrase: Phrase


def turns(sentence: Sentence) -> list[Turn]:
    """What a sentence says of blockers and progress, in its order."""
    if sentence.is_asked:
        return []
    blocked = list(_blocked(sentence))
    rules = say.FREE if blocked else (*say.FREE, say.MAY_GO_ON)
    free = _free(sentence, rules)
    found = [*blocked, *free, *_held(sentence), *_started(sentence)]
    told = [one for one in found if not sentence.is_others(one.position)]
    return sorted(told, key=lambda turn: turn.position)


def _blocked(sentence: Sentence) -> Iterator[Turn]:
    spans: list[tuple[int, int]] = []
    for nth, rule in enumerate(say.WAITS):
        for match in rule.finditer(sentence.text):
            is_known = any(start <= match.start() < end for start, end in spans)
            reason = "" if is_known else _reason(sentence, match, is_own=nth < 2)
            if reason and not say.HANGS_ON.match(sentence.text, match.start()):
                spans.append((match.start(), match.start() + len(reason)))
                yield Turn("blocked", match.start(), Phrase(reason, _whole(sentence, match)))
    if not spans and sentence.words[:1] in (("if",), ("wenn",), ("falls",), ("when",)):
        return
    late = _late(sentence) or _not_before(sentence)
    if late is not None and not spans:
        yield Turn("blocked", late.start(), Phrase(late[0].strip(), _whole(sentence, late)))


def _late(sentence: Sentence) -> re.Match[str] | None:
    """ "The supplier hasn't shipped it yet"; what the person has not done yet blocks nothing."""
    found = say.LATE.search(sentence.text)
    told = frozenset(words(found[0])) if found else frozenset()
    said = frozenset(sentence.clause(found.start()).words) if found else told
    is_own = not {"i", "we", "ich", "wir", "habe", "hab"}.isdisjoint(said) and "heard" not in said
    is_open = not {"if", "wenn", "falls", "ob", "whether", "unless"}.isdisjoint(told)
    return None if is_own or is_open else found


def _not_before(sentence: Sentence) -> re.Match[str] | None:
    """ "Until they decide I can't do anything"."""
    found = say.NOT_BEFORE.search(sentence.text)
    if found is None or not say.PAST_BE.isdisjoint(words(found[0].rsplit(",", 1)[-1])):
        return None
    is_pending = say.PENDING.search(found[0]) is not None
    return None if is_pending and say.AWAITED.isdisjoint(words(found[0])) else found


def _reason(sentence: Sentence, match: re.Match[str], *, is_own: bool) -> str:
    """Cue and object of a blocker; empty where it is denied, past or about nobody's thing."""
    clause = sentence.clause(match.start())
    before = words(sentence.text[clause.start : match.start()])
    named = sentence.text[match.end() : match.end() + REASON_LENGTH_MAX]
    first = next(iter(words(named[:40])), "")
    denied = NEGATIVE | CONDITIONAL | say.PAST if is_own else CONDITIONAL | word_set("was were war")
    if not denied.isdisjoint(before) or "longer" in before:
        return ""
    if match["cue"].lower() == "auf " and clause.is_negative:
        return ""
    if is_own and not _is_own(before, match, sentence):
        return ""
    if is_own and (first in say.NO_OBJECT or say.OBJECT.match(named) is None):
        return ""
    if match.start() == 0 and say.THEN_WE.match(sentence.text[match.end() :]) and "ing" in match[0]:
        return ""
    named = say.CLAUSE_END.split(named)[0].rstrip(" .!,;:…")
    return cut(f"{match[0].rstrip()} {named}".strip(), length_max=REASON_LENGTH_MAX)


def _is_own(before: list[str], match: re.Match[str], sentence: Sentence) -> bool:
    """Whether who waits is the person, or the task."""
    cue = match[0].lower()
    if cue.startswith("wartet") and not {"es", "das", "alles", "projekt"} & {*before}:
        return False
    if cue.startswith(("wait", "await", "wart")):
        tail = words(sentence.text[match.end() : match.end() + 40])[:2]
        if tail[:1] and tail[0] in ("my", "our", "me", "us", "mich", "uns", "meine", "unsere"):
            return False
        return say.SELF.issuperset(one for one in before if not one.isdecimal())
    return True


def _free(sentence: Sentence, rules: Sequence[re.Pattern[str]]) -> Iterator[Turn]:
    for rule in rules:
        for match in rule.finditer(sentence.text):
            clause = sentence.clause(match.start())
            before = words(sentence.text[clause.start : match.start()])
            inner = {*words(match[0])}
            denied = {*before} & (
                NEGATIVE
                | CONDITIONAL
                | word_set("until bis before erst hopefully hope hoffentlich")
            )
            is_free = {"longer", "mehr", "anymore", "nothing"}
            is_hindered = bool(denied) and not inner & is_free
            rest = words(sentence.text[match.end() : clause.end])[:4]
            is_later = not word_set("until bis once sobald wenn if when nicht erst").isdisjoint(
                rest
            )
            is_later = is_later or not say.LEADS_IF.isdisjoint(sentence.words[:1])
            if not is_hindered and not is_later:
                yield Turn("free", match.start(), Phrase("", _whole(sentence, match)))
    for match in say.CAME.finditer(sentence.text):
        clause = sentence.clause(match.start())
        around = {*clause.words}
        if say.NOT_YET.isdisjoint(around):
            yield Turn("free", match.start(), Phrase("came", _whole(sentence, match)))


def _held(sentence: Sentence) -> Iterator[Turn]:
    for match in say.HOLD.finditer(sentence.text):
        clause = sentence.clause(match.start())
        start = max(clause.start, sentence.text.rfind(",", 0, match.start()))
        before = frozenset(words(sentence.text[start : match.start()]))
        said = frozenset(clause.words)
        denied = NEGATIVE | CONDITIONAL | word_set("off was war were hatte had longer before")
        is_other = say.PAUSES.search(match[0]) and not say.NO_HOLD.isdisjoint(said)
        if denied.isdisjoint(before - {"sollte", "sollten", "should"}) and not is_other:
            reason = say.CLAUSE_END.split(sentence.text[clause.start :])[0].strip(" .!,;:…")
            reason = cut(reason, length_max=REASON_LENGTH_MAX)
            yield Turn("hold", match.start(), Phrase(reason, _whole(sentence, match)))


def _started(sentence: Sentence) -> Iterator[Turn]:
    for rule in say.STARTED:
        match = rule.search(sentence.text)
        if match is None:
            continue
        clause = _up_to(sentence, match)
        if say.NOT_YET.isdisjoint(words(clause)):
            yield Turn("started", match.start(), Phrase("", _whole(sentence, match)))
            return


def _up_to(sentence: Sentence, match: re.Match[str]) -> str:
    clause: Clause = sentence.clause(match.start())
    return sentence.text[min(clause.start, match.start()) : match.end()][-120:]


def _whole(sentence: Sentence, match: re.Match[str]) -> str:
    return quote(sentence.text, match.start(), match.end())
