"""What a text says and does not ask of the person: others' duties, and what is not so.

"Ben needs to hire the van by Friday" is Ben's; of what stands beside "me: ..." only that is the
person's. "Should the builder cancel, ..." and "would be nice to ..." say nothing of what is.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise

from msgspec import Struct

from adapters.models.offline import clauses
from adapters.models.offline.clauses import Sentence
from adapters.models.offline.phrasing import phrases, rule
from adapters.models.offline.sentences import (
    CONDITIONAL,
    END,
    LETTERS,
    NEGATIVE,
    OWN_HEADS,
    lines,
    pattern,
    words,
)

CACHE_MAX = 128
SHARED_MIN = 4
"""So many letters at the beginning, and two words may name the same: "Grillen", "Grillabend"."""


class Aside(Struct, frozen=True):
    """Sentences of a text, as they stand there: not of the person, and not so at all."""

    others: frozenset[str] = frozenset()
    unreal: frozenset[str] = frozenset()


@lru_cache(maxsize=CACHE_MAX)
def aside(text: str) -> Aside:
    """What is not to be heeded of a text.

    >>> sorted(aside("Me: book the room. Greg: pay by Friday. Tom must paint the hall.").others)
    ['Greg: pay by Friday.', 'Tom must paint the hall.']
    """
    told = [one for line in lines(text) for one in clauses.read(line.text)]
    said = [one.text for one in told]
    has_own = any(map(own, said))
    others = {one for one in said if _is_others(one) or (has_own and _is_headed(one))}
    refused = (one for one, answer in pairwise(said) if _refuses(answer))
    unreal = {one for one in said if _is_unreal(one)}
    return Aside(frozenset(others.union(refused)), frozenset(unreal))


def own(sentence: str) -> str:
    """What stands behind "me:", "AI: me ->" or "Secretary (me) to"; empty without that."""
    found = _own().match(sentence)
    return found["said"] if found else ""


def is_off(sentence: Sentence, title: str) -> bool:
    """Whether it says that what a task is about will not be."""
    found = None if sentence.is_asked else rule("off").search(sentence.text)
    if rule("off_alone").fullmatch(sentence.text.strip(" .!")):
        return True
    if found is None or not (NEGATIVE | CONDITIONAL).isdisjoint(sentence.words):
        return False
    clause = sentence.clause(found.start())
    who = words(sentence.text[clause.start : found.start()])
    names = [one[:SHARED_MIN] for one in words(title) if len(one) >= SHARED_MIN]
    return any(rule("things").fullmatch(one) or one.startswith(tuple(names)) for one in who)


def dropped(sentence: str) -> str:
    """What a sentence says is to be done no more: "skip the balloons"; empty if nothing."""
    found = rule("drop").search(sentence)
    is_kept = found is None or not NEGATIVE.isdisjoint(words(sentence[: found.start()]))
    return "" if is_kept or found is None else re.split("[,;.]", sentence[found.end() :])[0]


def own_parts(parts: Sequence[str]) -> list[str]:
    """Of "tables (Fred), insurance (me)" what is the person's, where each says whose it is."""
    named = [_WHOSE.fullmatch(one.strip(" .!")) for one in parts]
    mine = [one["what"] for one in named if one and rule("mine").fullmatch(one["who"])]
    return mine if mine or (len(parts) > 1 and all(named)) else list(parts)


def _is_others(sentence: str) -> bool:
    """Whether somebody else does it or has to: whom a name tells, or a deed with an object."""
    if found := _theirs().match(sentence):
        return rule("duty_of_mine").search(sentence, found.end()) is None
    found = _duty().match(sentence)
    if found is None or rule("duty_of_mine").search(sentence, found.start("deed")):
        return False
    if any(rule(one).search(found["who"]) for one in ("mine", "things")):
        return False
    verb = found["verb"] or found["rest"].split(" ")[-1]
    return not any(rule(one).fullmatch(verb) for one in ("idle", "gets"))


@cache
def _theirs() -> re.Pattern[str]:
    """Somebody's name or place, and what they do; or their share of the work."""
    receives = rf"(?! (?:still |noch )?(?:{phrases('gets')}){END}|[^,;.]* (?:{phrases('gets')})$)"
    speaks = rf"(?! ?[\"'„“»]?(?:{phrases('speaks')}){END})"
    return pattern(
        rf"^(?:(?:{phrases('lead')}|action:|todo:?|aktion:) )?(?:(?:{phrases('person')})"
        rf"(?: (?:still|also|noch|auch))?"
        rf"(?:(?: |(?='))(?:{phrases('doing')}){END}{receives}|:{speaks})|"
        rf"(?:(?:{phrases('person')}) [a-z]{{3,8}},? (?:that )?)?(?:{phrases('share')}){END})"
    )


@cache
def _duty() -> re.Pattern[str]:
    """Who has to do what, in the order of English and of German."""
    who = rf"[{LETTERS}'.-]{{2,24}}(?: [{LETTERS}'.-]{{2,24}}){{0,2}}?"
    things = rf"(?:{phrases('object')}) "
    return pattern(
        rf"^(?:(?:{phrases('lead')}),? )?(?P<who>{who}) (?:{phrases('duty')}) "
        rf"(?P<deed>(?P<verb>[a-z]{{2,16}}) (?:out |up |off |in )?{things}|"
        rf"{things}(?P<rest>[^,;.!?]{{2,120}}))"
    )


@cache
def _own() -> re.Pattern[str]:
    """A head that is the person's, and what it says."""
    return pattern(
        rf"^(?:(?:ai|action|aktion|todo): ?)?(?:(?:{phrases('own_head')})(?:: ?| ?[-=]> ?)|"
        rf"[{LETTERS} ]{{2,30}} \((?:{phrases('own_head')})\):? (?:to )?)(?P<said>[^ ].*)$"
    )


def _is_headed(sentence: str) -> bool:
    """Whether it is headed by what may be another's name: "jo: salad"."""
    found = _HEADED.match(sentence)
    return found is not None and not own(sentence) and OWN_HEADS.isdisjoint(words(found["who"]))


def _is_unreal(sentence: str) -> bool:
    """Whether it wishes, supposes, gives an example, or tells of a time long past."""
    if rule("unreal").search(sentence):
        return True
    return rule("past").search(sentence) is not None and rule("again").search(sentence) is None


def _refuses(sentence: str) -> bool:
    """Whether all that it says is no, to what stands before it."""
    return rule("refusal").fullmatch(sentence.rstrip(" .!")) is not None


_HEADED = re.compile(
    rf"(?P<who>[{LETTERS}][{LETTERS}.'-]{{0,20}}(?: [{LETTERS}.'-]{{1,20}})?): ?[^ ]"
)
_WHOSE = re.compile(rf"(?P<what>.{{2,80}}?) ?\((?P<who>[{LETTERS}]{{2,20}})\)")
