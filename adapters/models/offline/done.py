"""What a text says is done, and which items of a checklist it means.

"Called the plumber", "the plumber is done" and "Done: plumber" all tick "Call the plumber"; "almost
done", "the plumber called" and "has to be called" do not.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from adapters.models.offline import clauses, lemmas
from adapters.models.offline.clauses import Clause, Sentence
from adapters.models.offline.dates import counts
from adapters.models.offline.phrasing import LETTERS, endings, grammar, rule, says, vocabulary
from adapters.models.offline.sentences import CONDITIONAL, SELF, quote, words
from domain.text import fold

_DENIALS = ("duty", "first", "but", "to")
_DONE = " ✓ "
"""Stands for all that says so."""
PART_LENGTH_MIN = 4
"""A shorter word never names a longer item on its own: "done: it"."""
NAME_LENGTH_MIN, COMPOUND_MIN = 3, 5

STOP, GENERIC = vocabulary("done_stop"), vocabulary("done_generic")
_UNDONE = vocabulary("negative", "conditional", "ahead", "done_undone")
_MADE = re.compile(rf"^(?:[{LETTERS}]+ )?(?P<verb>[{LETTERS}]{{3,20}}): (?P<what>.{{2,400}})")
_BOXED = re.compile("([^✅✔✓☑❌✗✘,;:]{2,60})[✅✔✓☑]")


@cache
def _meaning(name: str) -> frozenset[str]:
    """The keys of all verbs of a table."""
    return frozenset().union(*map(lemmas.keys, vocabulary(name))) - vocabulary("done_stop")


class DoneClaim(Struct, frozen=True):
    """What a clause says is done, or is not: its words, folded.

    `is_done`: of whatever it names, without a verb of its own ("the chain is done").
    """

    words: tuple[str, ...]
    text: str
    quote: str
    is_done: bool = False
    is_denied: bool = False
    is_all: bool = False
    subject: frozenset[str] = frozenset()
    things: tuple[str, ...] = ()  # that are in a state that tells of a deed: "the stool came"
    places: tuple[int, ...] = ()  # in the checklist, from 1, or -1 where they count from its end


def claims(sentence: Sentence) -> list[DoneClaim]:
    """What a sentence says is done, or is not done."""
    said = quote(sentence.text)
    if sentence.is_asked or sentence.is_others(len(sentence.text) - 1):
        return []
    all_but = grammar("done_all_but")
    if every := grammar("done_all").match(sentence.text) or all_but.match(sentence.text):
        but = next(filter(None, every.groups()), "")
        named = tuple(one for one in words(but) if one not in _UNDONE)
        return [DoneClaim(named, but, said, is_done=True, is_all=True)]
    if marked := _BOXED.findall(sentence.text):
        rest = clauses.sentence(_BOXED.sub("", sentence.text))
        told = [one for what in marked for one in listed(what, said)]
        for one in (rest, *(clauses.sentence(what.strip()) for what in marked)):
            told += _by_clause(one, said, 0)
        return told
    if counted := grammar("done_counted").match(sentence.text):
        places = tuple(map(int, re.findall("[0-9]+", counted["places"])))
        return [DoneClaim((), "", said, is_done=True, places=places)]
    for ranked in filter(None, [grammar("done_ranked").match(sentence.text)]):
        number = counts().get(fold(ranked["n"] or ""), 1)
        places = tuple(range(-number, 0) if ranked["last"] else range(1, number + 1))
        return [DoneClaim((), "", said, True, is_all=ranked["all"] is not None, places=places)]
    head = grammar("done_head").match(sentence.text)
    if head is not None:
        return _listed(head["what"], said)
    made = _MADE.match(sentence.text)
    verb = (fold(made["verb"]),) if made and _UNDONE.isdisjoint(sentence.words) else ("",)
    if made and not lemmas.keys(verb[0]).isdisjoint(_meaning("accomplishes")):
        return [replace(one, words=verb + one.words) for one in _listed(made["what"], said)]
    found = _by_clause(sentence, said, 0)
    too = grammar("done_too").search(sentence.text)
    if too and found and not found[-1].is_denied:
        verbs = [one for one in found[-1].words if lemmas.is_past(one)]
        found.append(replace(found[-1], words=(*words(too["what"]), *verbs)))
    return found


def _by_clause(sentence: Sentence, said: str, start: int) -> list[DoneClaim]:
    """Of each clause that begins later; one without an object has that of its neighbours."""
    found: list[DoneClaim] = []
    parts = [one for one in sentence.clauses if one.start >= start]
    named = [_named(one) for one in parts]
    failed = [rule("no_answer").search(one.text) for one in parts]
    if any(no and {*words(no[0])}.issuperset(of) for no, of in zip(failed, named, strict=True)):
        return []  # of what the clause before tells
    for nth, clause in enumerate(parts):
        if failed[nth]:
            continue
        others = () if named[nth] else _neighbour(parts, named, nth)
        found += [
            replace(one, words=(*one.words, *others)) for one in _claim(sentence, clause, said)
        ]
    return found


def _named(clause: Clause) -> tuple[str, ...]:
    """The words of a clause that name something."""
    return tuple(
        one
        for one in clause.words
        if one not in STOP and one not in _UNDONE and not lemmas.is_past(one)
    )


def _neighbour(
    parts: Sequence[Clause], named: Sequence[tuple[str, ...]], nth: int
) -> tuple[str, ...]:
    """What the clause before names, or at the beginning the one that is the first to name."""
    before = next((named[one] for one in range(nth - 1, -1, -1) if named[one]), ())
    after = next((named[one] for one in range(nth + 1, len(parts)) if named[one]), ())
    return before or after


def listed(text: str, said: str) -> list[DoneClaim]:
    """A line whose box is ticked."""
    return [DoneClaim(tuple(words(text)), text, said, is_done=True)]


def _listed(what: str, said: str) -> list[DoneClaim]:
    what = grammar("done_still").sub("", what)
    parts = [part for part in grammar("done_parts").split(what) if part]
    whole = DoneClaim(tuple(words(what)), what, said, is_done=True)
    return [whole, *(DoneClaim(tuple(words(one)), one, said, is_done=True) for one in parts)]


def _claim(sentence: Sentence, clause: Clause, said: str) -> Iterator[DoneClaim]:
    is_open = not CONDITIONAL.isdisjoint(words(grammar("done_harmless").sub("", clause.text)))
    for result in grammar("done_results").finditer(clause.text):
        named = words(result[0])
        if _UNDONE.isdisjoint(named) and not is_open:
            deeds = str(result.lastgroup).split("_")
            is_there = says(deeds, "done_there")
            yield DoneClaim((*named, *deeds), clause.text, said, is_done=is_there)
            things = clause.text[result.start() : result.start(str(result.lastgroup))]
            for one in map(words, grammar("done_parts").split(things)):
                told = tuple(word for word in one if word not in STOP)
                yield DoneClaim((*told, *deeds), clause.text, said, things=told)
    text = grammar("done_reported").sub("", clause.text)
    text = grammar("done_ticked").sub(_DONE, grammar("done_later").sub("", text))
    text = _done_part(grammar("done_harmless").sub("", text))
    told = tuple(words(text))
    is_denied = not _UNDONE.isdisjoint(told)
    is_denied = is_denied or says(sentence.words[:1], "neither")
    is_denied = is_denied or any(grammar(f"done_{one}").search(text) for one in _DENIALS)
    if clause.start and not _UNDONE.isdisjoint(_carried(sentence, clause)):
        is_denied = True
    is_short = grammar("done_short").match(text) is not None
    is_done = not GENERIC.isdisjoint(told) or _DONE in text or is_short
    if _is_of_another(told) or grammar("done_relative").search(text):
        return
    if is_done or is_denied or any(map(lemmas.is_past, told)) or _preterite(told, text):
        parts = () if _DONE in text else clause.text.split(", ")
        who = frozenset(one for part in parts for one in _subject(words(part)))
        yield DoneClaim(_joined(told), text, said, is_done, is_denied, False, who)


def _done_part(text: str) -> str:
    """Without what comes behind a verb that has its object before: "the hall painted, attic
    next" says nothing of the attic."""
    parts = re.split(", ", text)
    is_told = [any(map(_tells, words(one))) for one in parts]
    last = max((nth for nth, told in enumerate(is_told) if told), default=len(parts))
    said = words(parts[last]) if last < len(parts) else []
    objects = next((nth for nth, one in enumerate(said) if _tells(one)), 0)
    is_before = any(one not in STOP for one in said[:objects])
    return ", ".join(parts[: last + 1]) if is_before else text


def _tells(word: str) -> bool:
    return lemmas.is_past(word) or word in GENERIC


def _carried(sentence: Sentence, clause: Clause) -> tuple[str, ...]:
    """Words of an earlier clause that hold on in one without a subject: "need to ... and ..."."""
    before = [one for one in sentence.clauses if one.start < clause.start]
    is_bare = says(clause.words[:1], "and") and len(before) > 0
    is_told = says(clause.words, "self_subject", "finite_be")
    said = before[-1].words if is_bare and not is_told else ()
    return tuple(one for one in said if one in CONDITIONAL or one in vocabulary("carried_on"))


def _is_of_another(told: Sequence[str]) -> bool:
    """ "Rob painted his fence": his own."""
    at = next((nth for nth, one in enumerate(told) if one in vocabulary("done_theirs")), 0)
    is_active = not lemmas.is_past(told[0]) and not _is_passive(told) if told else False
    return at > 1 and is_active and SELF.isdisjoint(told[:at])


def _joined(told: tuple[str, ...]) -> tuple[str, ...]:
    """A separable verb in one word, as German has them."""
    if not says(told[-1:], "prefixes") or not any(map(lemmas.is_past, told[:-1])):
        return told
    return tuple(told[-1] + one if lemmas.is_past(one) else one for one in told[:-1])


def _preterite(told: Sequence[str], text: str) -> bool:
    """Forms of the past that only their place tells."""
    if grammar("done_had_done").search(text) or _has_unchanged(told):
        return True
    return any(one.endswith(endings("preterite_endings")) and len(one) > 5 for one in told[:3])


def _has_unchanged(told: Sequence[str]) -> bool:
    """ "I read it", "it is cut"; without either it may be an order."""
    return says(told, "unchanged") and says(told, "done_told")


def _subject(told: Sequence[str]) -> Iterator[str]:
    """Who called, where it is not the person: "the plumber called"."""
    for nth, one in enumerate(told):
        if one in SELF:
            return
        is_asked = says(told[nth + 1 : nth + 2], "follows_verb")  # its subject comes after it
        if one in vocabulary("has_last") and nth and not is_asked:
            rest = [word for word in told[nth + 1 :] if word not in STOP]
            if all(map(lemmas.is_past, rest)):
                yield from told[:nth]
            return
        if lemmas.is_past(one) and nth and not _is_passive(told[:nth]):
            if lemmas.keys(one) & _meaning("talks") and not lemmas.is_participle(one):
                yield from told[:nth]
            return


def _is_passive(before: Sequence[str]) -> bool:
    return before[-1].endswith("'s") or says(before, "passive_be")


def content(title: str) -> list[str]:
    """The words of a title that tell it from others."""
    said = words(title)
    return [one for one in said if one not in STOP] or said


def means(claim: DoneClaim, title: str) -> int:
    """How well a claim fits an item: 2 wholly, 1 in part (it may be another's), 0 not."""
    wanted = content(title)
    told = {key: one for one in claim.words if one not in claim.subject for key in lemmas.keys(one)}
    hits = [_hit(one, told) for one in wanted]
    missed = [nth for nth, hit in enumerate(hits) if not hit]
    if not missed:
        return 2 if claim.is_done or _happened(claim, hits, wanted) else 0
    if claim.is_done and len(missed) == 1 and missed[0] in (0, len(wanted) - 1):
        is_verb = _is_verb(words(title), wanted[missed[0]], title)
        if is_verb and len(hits) > 1 and not _has_other_verb(claim, hits):
            return 2
    is_ones = says(claim.words, "done_ones") and missed == [len(wanted) - 1] != [0]
    is_ones = is_ones and _happened(claim, hits, wanted)
    return 1 if is_ones or _is_part(claim, title, wanted, hits) else 0


def _hit(wanted: str, told: dict[str, str]) -> str:
    """The word of the claim that stands for one of the title."""
    for key in lemmas.keys(wanted):
        if key in told:
            return told[key]
    stems = tuple(one for one in lemmas.keys(wanted) if len(one) >= NAME_LENGTH_MIN)
    for one in told.values():  # "Kassenprüfung" stands for both words of "Kasse prüfen"
        if (noun := lemmas.nominal(one)) and (noun.startswith(stems) or noun.endswith(stems)):
            return one
    if len(wanted) >= 6:  # compounds: "Bremsbeläge" and "Beläge"
        for one in told.values():
            if len(one) >= 5 and (wanted.endswith(one) or one.endswith(wanted)):
                return one
    return ""


def _happened(claim: DoneClaim, hits: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a verb of the past is among what fits, or one that does what a noun stands for."""
    if _has_unchanged(claim.words) and says(hits, "unchanged"):
        return True
    if any(lemmas.is_past(one) for one in hits) or grammar("done_had_done").search(claim.text):
        return True
    if any(one.endswith(endings("preterite_endings")) and one not in wanted for one in hits if one):
        return True
    others = [one for one in claim.words if lemmas.is_past(one)]
    return any(not lemmas.keys(one).isdisjoint(_meaning("accomplishes")) for one in others)


def _has_other_verb(claim: DoneClaim, hits: Sequence[str]) -> bool:
    """ "Done: ask Bob" does not say that Bob is paid."""
    told = tuple(filter(None, hits))  # "durchlief" is "lief" again
    rest = [one for one in claim.words if not one.endswith(told) and one not in GENERIC | STOP]
    return any(lemmas.is_past(one) or lemmas.is_verb(one) for one in rest)


def _is_verb(said: Sequence[str], word: str, title: str) -> bool:
    """Whether a word of a title may be its verb: the first in English, a last infinitive."""
    is_last = lemmas.ends_as_infinitive(said[-1]) and title.rstrip(" .!")[-len(said[-1])].islower()
    if is_last and not lemmas.is_verb(said[0]):
        return said[-1] == word
    return said[0] == word and lemmas.is_verb(word)


def _is_part(claim: DoneClaim, title: str, wanted: Sequence[str], hits: Sequence[str]) -> bool:
    """Whether all that the claim names stands in the title, and it is not only a verb."""
    deeds = (one for one in claim.words if one not in claim.things)
    said, told = words(title), {key for one in deeds for key in lemmas.keys(one)}
    verbs = [one for one in wanted if claim.things and _is_verb(said, one, title)]
    if any(told.isdisjoint(lemmas.keys(one)) for one in verbs):
        return False
    named = claim.things or [
        one
        for one in claim.words
        if one not in STOP and one not in GENERIC and one not in claim.subject
    ]
    keys = {key for one in wanted for key in lemmas.keys(one)}
    if not named or any(lemmas.keys(one).isdisjoint(keys) for one in named):
        return False
    if says(words(title), "and"):
        return False
    is_long = any(len(one) >= PART_LENGTH_MIN for one in named)
    if claim.is_done:
        return is_long
    found = [one for one in hits if one]
    has_noun = any(not lemmas.is_past(one) for one in found)
    is_alone = any(map(lemmas.is_past, claim.words[:1])) and not claim.subject  # "Mowed it."
    return is_long and (has_noun or is_alone) and _happened(claim, found, wanted)


def drops(what: str, said: str, title: str) -> float:
    """How well what shall be no more is what a title asks for, of 1; at least half, or 0.

    All that `what` names must be of it; where it names nothing, as in "scrap that" or "no need to
    ask her", so much of the title counts as the words around it, `said`, do.
    """
    named = [one for one in content(what) if one not in vocabulary("hollow")]
    said_verb = {one for one in words(title) if _is_verb(words(title), one, title)}
    things = [one for one in content(title) if one not in said_verb]
    others = [one for one in named if not _is_of(one, things)]
    free = vocabulary("drop_verbs")
    if len(others) < len(named):
        is_free = not said_verb or any(_is_of(one, said_verb) for one in others)
        told = ((lemmas.from_gerund(one) or one, one) for one in others)
        return float(all(_is_of(o, said_verb) or (is_free and deed in free) for deed, o in told))
    deeds = (one for one in others if not _is_of(one, said_verb))
    if not all(lemmas.is_verb(one) or lemmas.is_deed(one) for one in deeds):
        return 0
    wanted = content(title)
    held = [one for one in wanted if _is_of(one, words(said))]
    is_named = not said_verb.issuperset(held) or not things
    share = len(held) / max(1, len(wanted))  # of a title without a letter that is read, as in 牛乳
    return share if is_named and share >= 1 / 2 else 0


def _is_of(word: str, others: Collection[str]) -> bool:
    """Whether it is one of them, or of a compound with one: "Tombola", "Tombolapreise"."""
    ends = [one for one in others if min(len(one), len(word)) >= COMPOUND_MIN]
    return any(not lemmas.keys(word).isdisjoint(lemmas.keys(one)) for one in others) or any(
        word.startswith(one) or one.startswith(word) or word.endswith(one) or one.endswith(word)
        for one in ends
    )


def shares(one: str, other: str) -> bool:
    """Whether two texts name the same thing."""
    named = [lemmas.keys(word) for word in content(one) if len(word) >= NAME_LENGTH_MIN]
    there = frozenset(key for word in content(other) for key in lemmas.keys(word))
    return any(not keys.isdisjoint(there) for keys in named)


def is_same(title: str, other: frozenset[str]) -> bool:
    """Whether a title asks for what is there in other words: "get the glue", "Buy wood glue"."""
    mine, there = (
        [lemmas.keys(one) for one in content(title)],
        [lemmas.keys(one) for one in sorted(other)],
    )
    less, more = sorted((mine, there), key=len)
    held = sum(any(one & every for every in more) for one in less)
    return held == len(less) and (len(less) > 1 or less is mine or len(more) == 1)
