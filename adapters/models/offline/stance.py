"""What a text says and does not ask of the person: others' duties, and what is not so.

"Ben needs to hire the van by Friday" is Ben's; of what stands beside "me: ..." only that is the
person's. "Should the builder cancel, ..." and "would be nice to ..." say nothing of what is.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from msgspec import Struct

from adapters.models.offline import clauses, dates, done, lemmas
from adapters.models.offline.clauses import Sentence
from adapters.models.offline.phrasing import LETTERS, grammar, phrases, rows, rule, says, vocabulary
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    OWN_HEADS,
    lines,
    sentences,
    words,
)
from domain.text import fold

CACHE_MAX, SENTENCES_MAX = 128, 512
SHARED_MIN, NAME_MIN = 4, 3
"""So many letters at the beginning, and two words may name the same: "Grillen", "Grillabend"."""


class Aside(Struct, frozen=True):
    """Sentences of a text, as they stand there: not of the person, and not so at all; `is_shared`:
    it tells who does what, so that "I book the room" is a task."""

    others: frozenset[str] = frozenset()
    unreal: frozenset[str] = frozenset()
    is_shared: bool = False

    @property
    def skipped(self) -> frozenset[str]:
        """All that asks for nothing."""
        return self.others | self.unreal


@lru_cache(maxsize=CACHE_MAX)
def aside(text: str) -> Aside:
    """What is not to be heeded of a text.

    >>> sorted(aside("Me: book the room. Greg: pay by Friday. Tom must paint the hall.").others)
    ['Greg: pay by Friday.', 'Tom must paint the hall.']
    """
    told = [one for line in lines(text) for one in clauses.read(line.text)]
    said = [one.text for one in told]
    has_own = any(map(own, said))
    headed = {one for one in said if has_own and _is_headed(one)}
    others = headed.union(filter(is_others, said))
    told_of = [part for one in said for part in parts(one)]
    is_shared = (
        any(grammar(name).match(one) for one in told_of for name in ("theirs", "named_deed"))
        or any(map(_is_deed, told_of))
        or any(own(one) and _NEXT_HEAD.search(one) for one in said)
        or any(not rule("speaks", "[:-] ?{}").search(one) for one in headed)
    )
    refused = (one for one, answer in pairwise(said) if _refuses(answer))
    unreal = {one for one in said if _is_unreal(one)}
    return Aside(frozenset(others.union(refused)), frozenset(unreal), is_shared)


@lru_cache(maxsize=SENTENCES_MAX)
def own(sentence: str) -> str:
    """What stands behind "me:", "AI: me ->" or "Secretary (me) to"; empty without that."""
    found = grammar("own_said").match(sentence)
    return _NEXT_HEAD.split(found["said"])[0] if found else ""


def is_off(sentence: Sentence, title: str) -> bool:
    """Whether it says that what a task is about will not be."""
    found = rule("off").search(sentence.text)
    bare = sentence.text.strip(" .!")
    if rule("needless").search(sentence.text) or rule("off_alone").fullmatch(bare):
        return True
    what = done.content(dropped(sentence.text))
    if what and not sentence.is_asked and all(done.shares(one, title) for one in what):
        return True
    if found is None or sentence.is_asked:
        return False
    clause = sentence.clause(found.start())
    who = words(sentence.text[clause.start : found.start()] + (found.groupdict().get("what") or ""))
    if says(who, "negative", "conditional"):
        return False
    names = [one[:SHARED_MIN] for one in words(title) if len(one) >= NAME_MIN]
    return any(rule("things").fullmatch(one) or one.startswith(tuple(names)) for one in who)


def is_over(sentence: Sentence, of: str) -> bool:
    """Whether it says that something is done or off, and nothing else, or that of what `of` says:
    "Paid.", "the text is in"."""
    denied = (NEGATIVE - vocabulary("no")) | CONDITIONAL
    is_said = not sentence.is_asked and denied.isdisjoint(sentence.words)
    fillers = vocabulary("done_stop", "done_generic", "is_over_fillers", "particles")
    said = [one for one in sentence.words if one not in fillers]
    is_done = says(sentence.words, "done_generic")
    is_deed = len(said) > 0 and not says(said, "deadline_not_over")
    is_done = all(map(lemmas.is_past, said)) and (is_done or is_deed)
    if is_said and is_done and not says(sentence.words, "done_undone"):
        return True
    names = tuple(one[:SHARED_MIN] for one in words(of) if len(one) >= SHARED_MIN)
    is_named = any(one.startswith(names) for one in sentence.words) if names else False
    its = {one.partition("'")[0] for one in sentence.words}
    is_named = is_named or says(its, "it_object")
    is_over = rule("ends").search(sentence.text) or rule("off").search(sentence.text)
    is_met = rule("needed").search(of) and rule("came").search(sentence.text)
    return is_said and is_named and bool(is_over or is_met)


@lru_cache(maxsize=SENTENCES_MAX)
def dropped(sentence: str) -> str:
    """What a sentence says is to be done no more: "skip the balloons"; empty if nothing."""
    if found := rule("there", r"^(?P<what>[^,.;:]{2,40}?):? {}").search(sentence):
        return found["what"]
    found = rule("drop").search(sentence)
    is_kept = found is None or not NEGATIVE.isdisjoint(words(sentence[: found.start()]))
    return "" if is_kept or found is None else re.split("[,;.]", sentence[found.end() :])[0]


def accepted(text: str) -> tuple[str, str]:
    """The lines of a quoted mail that ask for something, where the person's own words below it
    agree; and what it asks for, or a question, quoted or not: "can you bring chairs? - yes"."""
    lines = list[str]()
    for block in _QUOTED.finditer(text):
        if agrees(text[block.end() :]):
            lines += [one.strip("> ").replace("?", ".") for one in block[0].splitlines()]
    lines = [one for one in lines if not is_others(one) and not rule("promises").match(one)]
    demand = rule("demands", r"{} (?P<what>[^;]{3,160}?)(?=[.!]*$|;)")
    told = [one for line in lines for one in sentences(line)]
    wanted = [found["what"] for one in told for found in demand.finditer(one)]
    prefix = vocabulary("prefixes")  # "bis Freitag zu" is no span there
    wanted = [
        one.rpartition(" ")[0] if fold(one.split(" ")[-1]) in prefix else one for one in wanted
    ]
    dated = [one for one in lines if any(rule(by).search(one) for by in ("requests", "asks"))]
    dated += wanted
    for asked in rule("asks", r"{} (?P<what>[^?\"”“>]{3,160})\?(?P<end>[^\n]*)").finditer(text):
        is_mail = text[text.rfind("\n", 0, asked.start()) + 1 :].startswith(">")
        said = _QUOTED_REST.sub("", text[asked.end() :]) if is_mail else asked["end"]
        if agrees(said):
            wanted.append(asked["what"])
    return "\n".join(dated), "\n".join(dict.fromkeys(wanted))


def confirmed(text: str) -> Iterator[tuple[str, str]]:
    """What a quoted mail says has come, or is done, where the person's own words below it are
    content with that; and the line."""
    for block in _QUOTED.finditer(text):
        below = text[block.end() :].strip(' \n"”-–—')
        if not rule("acknowledged").match(below) or not NEGATIVE.isdisjoint(words(below)[:4]):
            continue
        told = (one for line in block[0].splitlines() for one in sentences(line.strip("> ")))
        for one in (clauses.sentence(line) for line in told):
            for found in rule("confirms").finditer(one.text):
                said = one.clause(found.start())
                if not (said.is_negative or said.is_conditional):
                    yield _as_done(found["what"]), one.text


def _as_done(what: str) -> str:
    """What is confirmed, with the deed that its noun is of, and no sum: "your payment of 300"."""
    told = (one for one in words(what) if not one.isdecimal())
    return " ".join(_deeds().get(one, one) for one in told)


@cache
def _deeds() -> dict[str, str]:
    """The participle that says what a noun names: of "payment" "paid"."""
    told = (line.split() for line in rows("deed_nouns"))
    return {noun: deed for deed, *nouns in told for noun in nouns}


def agrees(said: str) -> bool:
    """Whether a text begins with a yes."""
    first = said.strip(' \n"”-–—').partition("\n")[0]
    found = rule("agreed").match(first)
    return (
        found is not None and NEGATIVE.isdisjoint(words(first[found.end() :])) and "?" not in first
    )


def retitled(sentence: str) -> str:
    """The name that a sentence wants a task to have; empty if none."""
    found = rule(
        "retitle",
        r"(?:^|[,;:] |{retitle_lead} ){} ?:? ?[\"„“]?(?P<name>[^\"”“]{3,120})",
    ).search(sentence)
    name = found["name"].strip(' .!"”“') if found else ""
    return name if len(words(name)) > 1 else ""


def archived(sentence: str) -> str:
    """What a sentence wants off the list: "scrap the snorkel"."""
    for name in ("unlist", "unlisted"):
        around = (
            "{} (?P<what>[^,.;:]{2,60})" if name == "unlist" else "^(?P<what>[^,.;:]{2,40}?),? {}"
        )
        if found := rule(name, around).search(sentence):
            said_by = found.start() if name == "unlist" else found.end()
            is_meant = NEGATIVE.isdisjoint(words(sentence[:said_by]))
            return found["what"] if is_meant else ""
    return ""


def own_parts(parts: Sequence[str]) -> list[str]:
    """Of "tables (Fred), insurance (me)" what is the person's, where each says whose it is."""
    named = [_WHOSE.fullmatch(one.strip(" .!")) for one in parts]
    mine = [one["what"] for one in named if one and rule("mine").fullmatch(one["who"])]
    return mine if mine or (len(parts) > 1 and all(named)) else list(parts)


@lru_cache(maxsize=SENTENCES_MAX)
def is_others(sentence: str) -> bool:
    """Whether somebody else does it or has to: whom a name tells, or a deed with an object."""
    if own(sentence) or any(map(of_mine, parts(sentence))):
        return False
    if grammar("todo_remember").match(sentence):
        return False
    sentence = grammar("agenda").sub("", sentence)
    assigned = grammar("assigned").match(sentence)
    who = words(assigned["name"] or "") if assigned else [""]
    if OWN_HEADS.isdisjoint(who) and not any(map(lemmas.is_verb, who)) and assigned:
        return True
    if grammar("theirs_said").match(sentence):
        return True
    if found := grammar("theirs").match(sentence):
        return rule("duty_of_mine").search(sentence, found.end()) is None
    found = grammar("theirs_to_do").match(sentence)
    if found is None or rule("duty_of_mine").search(sentence, found.start("deed")):
        return _is_deed(sentence)
    said = words(found["deed"])
    if rule("person", "(?:^| ){}$").search(found["who"]):
        told = (said[0], said[-1], " ".join(said[:2]), " ".join(said[-2:]))
        return not any(map(rule("gets").fullmatch, told))
    if any(rule(one).search(found["who"]) for one in ("mine", "things")):
        return False
    is_english = found["object"] is not None or lemmas.is_verb(said[0])
    verb = said[0] if is_english else said[-1]
    is_told = is_english or lemmas.is_deed(verb) or found["thing"] is not None
    if verb in vocabulary("persons_do"):
        return True
    return is_told and not any(rule(one).fullmatch(verb) for one in ("idle", "gets"))


def _is_deed(clause: str) -> bool:
    """Whether it begins with a name, and what that person does: "Olga prints the flyers"."""
    if dates.names_time(clause):
        clause = grammar("todo_by_day").sub("", dates.masked(clause).text)
    found = grammar("deed").match(clause)
    if found is None or lemmas.is_verb(name := found["who"].lower()) or name in clauses.FINITE:
        return False
    if any(rule(one).fullmatch(name) for one in ("mine", "things")):
        return False
    verb, helper = found["verb"], fold(found["helper"] or "").strip(" '")
    ends = [end for end in vocabulary("third_endings") if verb.endswith(end)]
    if any(rule("idle").fullmatch(verb.removesuffix(end)) for end in ("", *ends)):
        return False
    if helper:
        is_now = helper in vocabulary("helper_be")
        return bool(lemmas.from_gerund(verb)) if is_now else lemmas.is_verb(verb)
    stems = [verb.removesuffix(end) for end in ends]
    forms = [stem + end for stem in stems for end in vocabulary("infinitive_end")]
    last = words(clause)[-1]  # of a verb that comes apart
    return any(map(lemmas.is_verb, stems)) or any(
        lemmas.is_deed(one) or lemmas.is_deed(last + one) for one in forms
    )


@lru_cache(maxsize=SENTENCES_MAX)
def parts(sentence: str) -> tuple[str, ...]:
    """What stands between its marks."""
    return tuple(grammar("stance_parts").split(sentence))


def of_mine(clause: str) -> str:
    """What the person says to do, where deeds are shared out: "I'll order the cake"."""
    if found := grammar("i_do_for").match(clause):
        return found["thing"]
    if found := grammar("i_do").match(clause):
        told = found.groupdict()
        verb = lemmas.from_gerund(fold(told.get("gerund") or ""))
        what = f"{verb} {told['thing']}" if verb else told.get("what") or ""
        return what if what and lemmas.is_verb(words(what)[0]) else ""
    if found := grammar("i_do_last").match(clause):
        told = found.groupdict()
        verb = f"{told.get('prefix') or ''}{told['verb']}{phrases('infinitive_short')}"
        return f"{told['thing']} {verb}" if lemmas.is_deed(fold(verb)) else ""
    return ""


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
    rf"(?P<who>[{LETTERS}][{LETTERS}.'-]{{0,20}}(?: [{LETTERS}.'-]{{1,20}})?)(?:: ?| [-–] )[^ ]"
)
_NEXT_HEAD = re.compile(rf"[,;] (?=[A-ZÄÖÜ][{LETTERS}]{{1,20}}: )| ?[-=]> ?(?=[A-ZÄÖÜ])")
_QUOTED = re.compile(r"(?:^>[^\n]*\n)+", re.MULTILINE)
_QUOTED_REST = re.compile(r"^\n(?:>[^\n]*\n)*")
_WHOSE = re.compile(rf"(?P<what>.{{2,80}}?) ?\((?P<who>[{LETTERS}]{{2,20}})\)")
