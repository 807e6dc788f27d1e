"""What a text says and does not ask of the person: others' duties, and what is not so.

"Ben needs to hire the van by Friday" is Ben's; of what stands beside "me: ..." only that is the
person's. "Should the builder cancel, ..." and "would be nice to ..." say nothing of what is.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise

from msgspec import Struct

from adapters.models.offline import clauses, lemmas
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
    others = headed.union(filter(_is_others, said))
    is_shared = any(_theirs().match(part) or _is_deed(part) for one in said for part in parts(one))
    is_shared = is_shared or any(not _speaks().search(one) for one in headed)
    refused = (one for one, answer in pairwise(said) if _refuses(answer))
    unreal = {one for one in said if _is_unreal(one)}
    return Aside(frozenset(others.union(refused)), frozenset(unreal), is_shared)


def own(sentence: str) -> str:
    """What stands behind "me:", "AI: me ->" or "Secretary (me) to"; empty without that."""
    found = _own().match(sentence)
    return found["said"] if found else ""


def is_off(sentence: Sentence, title: str) -> bool:
    """Whether it says that what a task is about will not be."""
    found = None if sentence.is_asked else rule("off").search(sentence.text)
    names = [one for one in words(title) if len(one) >= NAME_MIN]
    if sentence.words[:1] in (("no",), ("kein",), ("keine",)) and sentence.words[1:] == (*names,):
        return True
    if rule("needless").search(sentence.text) or rule("off_alone").fullmatch(
        sentence.text.strip(" .!")
    ):
        return True
    if found is None or not (NEGATIVE | CONDITIONAL).isdisjoint(sentence.words):
        return False
    clause = sentence.clause(found.start())
    who = words(sentence.text[clause.start : found.start()])
    names = [one[:SHARED_MIN] for one in words(title) if len(one) >= NAME_MIN]
    return any(rule("things").fullmatch(one) or one.startswith(tuple(names)) for one in who)


def is_over(sentence: Sentence, of: str) -> bool:
    """Whether it says that something is done or off, and nothing else, or that of what `of` says:
    "Paid.", "the text is in"."""
    said = [one for one in sentence.words if one not in ("is", "it", "ok", "ist", "schon")]
    if len(said) == 1 and lemmas.is_past(said[0]):
        return True
    denied = (NEGATIVE - {"kein", "keine", "no"}) | CONDITIONAL
    is_said = not sentence.is_asked and denied.isdisjoint(sentence.words)
    names = tuple(one[:SHARED_MIN] for one in words(of) if len(one) >= SHARED_MIN)
    is_named = any(one.startswith(names) for one in sentence.words) if names else False
    return is_said and is_named and rule("ends").search(sentence.text) is not None


def is_handed_over(sentence: Sentence) -> bool:
    """Whether somebody else does what was spoken of: "Hannes backt ihn"."""
    return not {"it", "that", "ihn", "es", "das"}.isdisjoint(sentence.words)


def dropped(sentence: str) -> str:
    """What a sentence says is to be done no more: "skip the balloons"; empty if nothing."""
    if found := rule("there", r"^(?P<what>[^,.;:]{{2,40}}?) {}").search(sentence):
        return found["what"]
    found = rule("drop").search(sentence)
    is_kept = found is None or not NEGATIVE.isdisjoint(words(sentence[: found.start()]))
    return "" if is_kept or found is None else re.split("[,;.]", sentence[found.end() :])[0]


def accepted(text: str) -> tuple[str, str]:
    """The lines of a quoted mail that ask for something, where the person's own words below it
    agree; and what it asks in a question, quoted or not: "can you bring chairs? - yes"."""
    quotes, questions = list[str](), list[str]()
    for block in _QUOTED.finditer(text):
        if _agrees(text[block.end() :]):
            quotes += [one.strip("> ") for one in block[0].splitlines()]
    for asked in rule("asks", r"{} (?P<what>[^?\"”“>]{{3,160}})\?(?P<end>[^\n]*)").finditer(text):
        is_mail = text[text.rfind("\n", 0, asked.start()) + 1 :].startswith(">")
        said = _QUOTED_REST.sub("", text[asked.end() :]) if is_mail else asked["end"]
        if _agrees(said):
            questions.append(asked["what"])
    wanted = [one for one in quotes if rule("requests").search(one) and not _is_others(one)]
    return "\n".join(one for one in wanted if not rule("promises").match(one)), "\n".join(questions)


def _agrees(said: str) -> bool:
    """Whether a text begins with a yes."""
    first = said.strip(' \n"”-–—').partition("\n")[0]
    found = rule("agreed").match(first)
    return found is not None and NEGATIVE.isdisjoint(words(first))


def retitled(sentence: str) -> str:
    """The name that a sentence wants a task to have; empty if none."""
    found = rule(
        "retitle",
        r"(?:^|[,;:] |please |bitte |let's |we ){} ?:? ?[\"„“]?(?P<name>[^\"”“]{{3,120}})",
    ).search(sentence)
    name = found["name"].strip(' .!"”“') if found else ""
    return name if len(words(name)) > 1 else ""


def archived(sentence: str) -> str:
    """What a sentence wants off the list: "scrap the snorkel", "Salz kann von der Liste"."""
    for name in ("unlist", "unlisted"):
        around = (
            "{} (?P<what>[^,.;:]{{2,60}})"
            if name == "unlist"
            else "^(?P<what>[^,.;:]{{2,40}}?),? {}"
        )
        if (found := rule(name, around).search(sentence)) and NEGATIVE.isdisjoint(words(sentence)):
            return found["what"]
    return ""


def own_parts(parts: Sequence[str]) -> list[str]:
    """Of "tables (Fred), insurance (me)" what is the person's, where each says whose it is."""
    named = [_WHOSE.fullmatch(one.strip(" .!")) for one in parts]
    mine = [one["what"] for one in named if one and rule("mine").fullmatch(one["who"])]
    return mine if mine or (len(parts) > 1 and all(named)) else list(parts)


def _is_others(sentence: str) -> bool:
    """Whether somebody else does it or has to: whom a name tells, or a deed with an object."""
    if any(map(of_mine, parts(sentence))):
        return False
    sentence = _TOPIC.sub("", sentence)
    if found := _theirs().match(sentence):
        return rule("duty_of_mine").search(sentence, found.end()) is None
    found = _duty().match(sentence)
    if found is None or rule("duty_of_mine").search(sentence, found.start("deed")):
        return _is_deed(sentence)
    said = words(found["deed"])
    if rule("person", "(?:^| ){}$").search(found["who"]):
        return not any(rule("gets").fullmatch(one) for one in (said[0], said[-1]))
    if any(rule(one).search(found["who"]) for one in ("mine", "things")):
        return False
    is_english = found["object"] is not None or lemmas.is_verb(said[0])
    verb = said[0] if is_english else said[-1]
    is_told = is_english or lemmas.is_deed(verb) or found["thing"] is not None
    return is_told and not any(rule(one).fullmatch(verb) for one in ("idle", "gets"))


def _is_deed(clause: str) -> bool:
    """Whether it begins with a name, and what that person does: "Olga prints the flyers"."""
    found = _DEED.match(clause)
    if found is None or lemmas.is_verb(name := found["who"].lower()) or name in clauses.FINITE:
        return False
    if any(rule(one).fullmatch(name) for one in ("mine", "things")):
        return False
    verb, helper = found["verb"], found["helper"] or ""
    if rule("idle").fullmatch(verb.removesuffix("s")):
        return False
    if helper in (" is", "'s"):
        return bool(lemmas.from_gerund(verb))
    if helper or verb.endswith("t"):
        last = words(clause)[-1]
        forms = (verb[:-1] + "en", last + verb[:-1] + "en")
        return lemmas.is_verb(verb) if helper else any(map(lemmas.is_deed, forms))
    return any(verb.endswith(end) and lemmas.is_verb(verb.removesuffix(end)) for end in ("s", "es"))


def parts(sentence: str) -> list[str]:
    """What stands between its marks."""
    return re.split("[,;:] ", sentence)


def of_mine(clause: str) -> str:
    """What the person says to do, where deeds are shared out: "I'll order the cake"."""
    if (found := _I_DO.match(clause)) and lemmas.is_verb(words(found["what"])[0]):
        return found["what"]
    if found := _ICH.match(clause):
        verb = (found["verb"] or found["later"]) + "n"
        is_known = lemmas.is_deed((found["prefix"] or "") + verb)
        return f"{found['thing'] or found['object']} {found['prefix'] or ''}{verb}" * is_known
    return ""


@cache
def _speaks() -> re.Pattern[str]:
    """Words of somebody who talks, behind a head."""
    return rule("speaks", "[:-] ?{}")


@cache
def _theirs() -> re.Pattern[str]:
    """Somebody's name or place, and what they do; or their share of the work."""
    gets = phrases("gets")
    receives = rf"(?! (?:still |noch )?(?:{gets}){END}|[^,;.]* (?:{gets})[.!]?$)"
    speaks = rf"(?! ?[\"'„“»]?(?:{phrases('speaks')}){END})"
    return pattern(
        rf"^(?:(?:{phrases('lead')}|action:|todo:?|aktion:) )?(?:(?:{phrases('person')})(?: "
        rf"(?:still|also|noch|auch))?(?:(?: |(?='))(?:{phrases('doing')}){END}{receives}|"
        rf":{speaks})|(?:(?:{phrases('person')}) [a-z]{{3,8}},? (?:that "
        rf")?)?(?:{phrases('share')}){END})"
    )


@cache
def _duty() -> re.Pattern[str]:
    """Who has to do what, in the order of English and of German."""
    who = rf"[{LETTERS}'.-]{{2,24}}(?: [{LETTERS}'.-]{{2,24}}){{0,2}}?"
    things = rf"(?:{phrases('object')}) "
    return pattern(
        rf"^(?:(?:{phrases('lead')}),? )?(?P<who>{who}) (?:{phrases('duty')}) "
        rf"(?P<deed>(?:[a-z]{{2,16}} (?:out |up |off |in )?(?P<object>{things})|"
        rf"(?P<thing>{things}))?(?:[^,;.!?]|(?<=[0-9])[.](?! ?$)){{2,120}})"
    )


@cache
def _own() -> re.Pattern[str]:
    """A head that is the person's, and what it says."""
    return pattern(
        rf"^(?:(?:ai|action|aktion|todo): ?)?(?:(?:{phrases('own_head')})(?:: ?| ?[-=]> ?| [-–] )|"
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
    rf"(?P<who>[{LETTERS}][{LETTERS}.'-]{{0,20}}(?: [{LETTERS}.'-]{{1,20}})?)(?:: ?| [-–] )[^ ]"
)
_DEED = re.compile(
    rf"(?:and |und |but |aber )?(?:(?:[Dd]er|[Dd]ie|[Tt]he|[Mm]y|[Oo]ur) (?=[{LETTERS}]))?"
    rf"(?P<who>[{LETTERS}]{{2,16}})(?: [A-Z][{LETTERS}.]{{0,14}})?"
    rf"(?P<helper> is| to| will|'ll|'s)? (?P<verb>[{LETTERS}]{{3,14}})(?: out| up| off| in)? "
    rf"(?:the|an?|his|her|their|our|my|some|den|die|das|ein|eine|einen|it|them|ihn|sie|es){END}"
)
_I_DO = re.compile(
    r"(?:and |but |so )?I(?:'ll| will|'m going to)? (?P<what>[a-z]{2,12} (?:out |up |off )?"
    r"(?:the|an?|our|their|some|[0-9]+) [^,;.]{2,60})",
    re.IGNORECASE,
)
_ICH = re.compile(
    rf"(?:(?P<object>(?:[Dd]ie|[Dd]en|[Dd]as) [^,;.]{{2,40}}) (?P<verb>[{LETTERS}]{{2,12}}e) ich|"
    rf"(?:und )?[Ii]ch (?P<later>[{LETTERS}]{{2,12}}e) (?P<thing>(?:die|den|das|"
    r"eine?n?) [^,;.]{2,40}?))(?: (?P<prefix>ab|an|auf|aus|ein|mit|vor|weg|zurück))?[.!]?$"
)
_TOPIC = re.compile(r"^(?:TOP|Top|Punkt|Item|Agenda|Point) ?[0-9]{0,2}: ")
_QUOTED = re.compile(r"(?:^>[^\n]*\n)+", re.MULTILINE)
_QUOTED_REST = re.compile(r"^\n(?:>[^\n]*\n)*")
_WHOSE = re.compile(rf"(?P<what>.{{2,80}}?) ?\((?P<who>[{LETTERS}]{{2,20}})\)")
