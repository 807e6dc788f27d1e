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
from adapters.models.offline.phrasing import (
    LETTERS,
    grammar,
    rows,
    rule,
    says,
    vocabulary,
)
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    OWN_HEADS,
    is_question,
    is_quoted,
    lines,
    sentences,
    words,
)
from domain.text import fold

CACHE_MAX, SENTENCES_MAX = 128, 512
TAKEN_CHARS_MAX = 120
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
        any(grammar(name).match(one) for one in told_of for name in _SHARES)
        or any(map(_is_deed, told_of))
        or any(
            own(one) and (_NEXT_HEAD.search(one) or rule("falls_to_me").search(one)) for one in said
        )
        or any(not rule("speaks", "[:-] ?{}").search(one) for one in headed)
    )
    refused = (one for one, answer in pairwise(said) if _refuses(answer))
    answers = filter(_refuses, said if "\n>" in f"\n{text}" else ())
    unreal = {*answers, *filter(_is_unreal, said)}
    return Aside(frozenset(others.union(refused)), frozenset(unreal), is_shared)


@lru_cache(maxsize=SENTENCES_MAX)
def own(sentence: str) -> str:
    """What stands behind "me:", "AI: me ->" or "Secretary (me) to"; empty without that."""
    found = grammar("own_said").match(sentence)
    said = _NEXT_HEAD.split(found["said"])[0] if found else ""
    told = grammar("own_third").fullmatch(said.rstrip(" .!"))
    return (told and _with_verb_last(told["rest"], fold(told["verb"]), said)) or said


def as_mine(text: str) -> str:
    """A text in which each line of who is told to be the person says so: "Renate (das bin ich)"."""
    named = grammar("own_name").search(text)
    if named is None:
        return text
    bare = re.compile(
        rf"^((?:[-*+•–]|[a-h0-9]+[.)])? ?{re.escape(named['name'])})(?= [a-zäöü])", re.MULTILINE
    )
    return bare.sub(rf"\1 {named['me']}", text)


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
    """What a sentence says is to be done no more, or is there: "skip the balloons", "we have
    glue"; empty if nothing."""
    if what := archived(sentence):
        return what
    if found := rule("there", r"^(?P<what>[^,.;:]{2,40}?):? {}").search(sentence):
        return found["what"]
    found = rule("drop").search(sentence)
    is_kept = found is None or not NEGATIVE.isdisjoint(words(sentence[: found.start()]))
    return "" if is_kept or found is None else re.split("[,;.]", sentence[found.end() :])[0]


@lru_cache(maxsize=SENTENCES_MAX)
def archived(sentence: str, *, is_kept: bool = False) -> str | None:
    """What it wants off the list, or says that there is no need of: "scrap the snorkel"; of
    "scrap that" the "that", of "not needed" nothing, and None where it says no such thing.
    `is_kept`: what it wants to stay there."""
    said = clauses.sentence(sentence)
    if said.is_asked or not (CONDITIONAL - vocabulary("should")).isdisjoint(said.words):
        return None
    for name, around in _KEEPS if is_kept else _DROPS:
        for found in rule(name, around).finditer(sentence):
            what = found["what"] or ""
            what = grammar("drop_begin").split(what)[-1] if name != "unlist" else what
            what = grammar("drop_end").split(what)[0].strip(" \"'„“”")
            before = words(_LAST_PART.split(sentence[: found.start("cue")])[-1])
            is_meant = NEGATIVE.isdisjoint((*before, *words(what)))
            is_later = says(words(sentence[found.start("cue") :]), "drop_later")
            if is_meant and not is_later and not said.is_others(found.start("cue")):
                return what
    return None


def left_to_me(text: str) -> Iterator[str]:
    """What the words of two sentences say that the person does: what another had to, "someone has
    to ring the bank, so I will", or with what the first names, "the test is due. I'll book it"."""
    flat = " ".join(_MARKS.sub(" ", text).split())
    for found in grammar("left_over").finditer(flat):
        if rule("takes").search(flat, found.end(), found.end() + TAKEN_CHARS_MAX):
            yield " ".join(one for one in found["what"].split(" ") if fold(one) not in NEGATIVE)
    named = grammar("it_is").finditer(flat)
    for deed in grammar("does_it").finditer(flat) if named else ():
        before = [one for one in named if 0 <= deed.start() - one.end("thing") < TAKEN_CHARS_MAX]
        for thing in (one["thing"] for one in before[-1:]):
            told = deed.groupdict()
            apart = told["in"] or told.get("particle") or ""
            if stem := told.get("stem"):
                end = next(iter(vocabulary("infinitive_end")))
                yield f"{grammar('todo_article').sub('', thing)} {apart}{stem}{end}"
            else:
                is_lower = fold(thing).split(" ")[0] in vocabulary("articles_own")
                what = thing[:1].lower() + thing[1:] if is_lower else thing
                yield " ".join(filter(None, (told["verb"], apart, what)))


def is_undone(sentence: str) -> bool:
    """Whether it says that something is not done after all, or broken again."""
    said, found = clauses.sentence(sentence), rule("undone").search(sentence)
    if found is None or said.is_asked or said.is_others(found.start()):
        return False
    return not said.clause(found.start()).is_conditional and archived(sentence) is None


def accepted(text: str) -> tuple[str, str]:
    """The lines of a quoted mail that ask for something, where the person's own words below it
    agree; and what it asks for, or a question, quoted or not: "can you bring chairs? - yes"."""
    lines, moved = list[str](), list[str]()
    for block in _QUOTED.finditer(text):
        told = [one.strip("> ").replace("?", ".") for one in block[0].splitlines()]
        below = text[block.end() :]
        if agrees(below) or (rule("of_receipt").search(block[0]) and rule("arrived").search(below)):
            lines += told
        elif rule("acknowledged").match(below):
            moved += [one for one in told if rule("moves_date").search(one)]
    lines = [one for one in lines if not is_others(one) and not rule("promises").match(one)]
    demand = rule("demands", r"{} (?P<what>[^;]{3,160}?)(?=[.!]*$|;)")
    told = [one for line in lines for one in sentences(line)]
    whole = [found["what"] for one in told for found in demand.finditer(one)]
    prefix = vocabulary("prefixes")  # "bis Freitag zu" is no span there
    wanted = [
        one.rpartition(" ")[0] if fold(one.split(" ")[-1]) in prefix else one for one in whole
    ]
    asking = [rule(name) for name in ("requests", "asks", "offers")]
    dated = [one for one in lines if any(by.search(one) for by in asking)]
    dated += [*moved, *wanted]
    wanted = [one if as_wish(one) else part for one, part in zip(whole, wanted, strict=True)]
    for asked in rule("asks", r"{} (?P<what>[^?\"”“>]{3,160})\?(?P<end>[^\n]*)").finditer(text):
        is_mail = text[text.rfind("\n", 0, asked.start()) + 1 :].startswith(">")
        said = _QUOTED_REST.sub("", text[asked.end() :]) if is_mail else asked["end"]
        wanted += [asked["what"]] if agrees(said) else _in_part(asked["what"], said)
    return "\n".join(dated), "\n".join(dict.fromkeys(wanted))


def as_wish(asked: str) -> str:
    """ "Teilen Sie uns die Farbe mit" as "die Farbe mitteilen"; empty if it is no such order."""
    found = grammar("sie_order").match(asked)
    rest = re.sub(r"(\.\d{1,2})$", r"\1.", found["rest"]) if found else ""  # of a day at the end
    return _with_verb_last(rest, fold(found["verb"]), asked) if found else ""


def _in_part(asked: str, said: str) -> list[str]:
    """Of what is asked for that to which the person says yes by name: "the gazebo yes, ..."."""
    told = re.split("[,.;!\n] ?| (?:[-–—]) ", said)
    named = [found["what"] for one in told if (found := grammar("agreed_to").fullmatch(one))]
    parts = grammar("todo_and").split(asked)
    return [one for one in parts if any(done.shares(what, one) for what in named)]


def confirmed(text: str) -> Iterator[tuple[str, str]]:
    """What a quoted mail says has come, or is done, where the person's own words below it are
    content with that; and the line."""
    for block in _QUOTED.finditer(text):
        below = text[block.end() :].strip(' \n"”-–—')
        if rule("acknowledged").match(below) and NEGATIVE.isdisjoint(words(below)[:4]):
            told = (line.strip("> ") for line in block[0].splitlines())
            yield from (one for line in told for said in sentences(line) for one in _told(said))


def _told(sentence: str) -> Iterator[tuple[str, str]]:
    """What a sentence of a mail says is done, and the sentence."""
    read = clauses.sentence(sentence)
    for found in rule("confirms").finditer(sentence):
        said = read.clause(found.start())
        if not (said.is_negative or said.is_conditional):
            yield _as_done(found["what"]), sentence


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
    found = grammar("retitled").search(sentence) or rule(
        "retitle",
        r"(?:^|[,;:] |{retitle_lead} ){} ?:? ?(?P<open>[\"„“])?(?P<name>(?(open)[^\"”“]|[^\n])"
        r"{3,120})",
    ).search(sentence)
    if found is None or is_quoted(sentence, found.start()) or is_question(sentence):
        return ""
    is_open = found.groupdict().get("open", '"') is None
    name = grammar("retitle_end").split(found["name"])[0] if is_open else found["name"]
    name = name.strip(' .!"”“')
    return name if len(words(name)) > is_open and NEGATIVE.isdisjoint(words(name)[:1]) else ""


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
    if found is None or rule("duty_of_mine").search(sentence, found.end("who")):
        return _is_deed(sentence)
    said = words(found["deed"])
    if not said:  # marks alone
        return False
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
    return _taken(clause)


@lru_cache(maxsize=SENTENCES_MAX)
def taken_on(sentence: str) -> tuple[str, ...]:
    """What the person says to do in languages whose verb stands second there: "den Kuchen back
    ich", "da fehlt ein Kabel, das hol ich"."""
    of_it = grammar("i_take_that").search(sentence)
    told = [f"{of_it['thing']} {of_it['mine']}"] if of_it else []
    parts = grammar("i_take_parts").split(sentence.rstrip(" .!"))
    told += [one for one in parts if not is_quoted(sentence, sentence.find(one))]
    is_void = says(words(sentence), "i_take_if") or "?" in sentence
    is_void = is_void or rule("holds").search(sentence) is not None
    found = () if is_void else dict.fromkeys(filter(None, map(_taken, told)))
    return tuple(found)


def _taken(clause: str) -> str:
    """What a clause in the first person says to do, with its verb last."""
    if found := grammar("i_do_for").match(clause):
        return found["thing"]
    found = grammar("i_take").fullmatch(clause.rstrip(" .!"))
    if found is None or says(words(clause), "negative", "todo_habits", "i_take_void"):
        return ""
    told = found.groupdict()
    return _with_verb_last(f"{told.get('front') or ''} {told['rest']}", fold(told["verb"]), clause)


def _with_verb_last(rest: str, verb: str, clause: str) -> str:
    """ "Die Liste", "häng", "aus" as "die Liste aushängen"; empty where no deed is known so, or
    nothing is named that it is done to."""
    *said, last = rest.split()
    prefix = fold(last) if fold(last) in vocabulary("prefixes") else ""
    what = " ".join(said if prefix else (*said, last))
    forms = lemmas.from_stem(verb.removesuffix("e"))
    is_sure = rule("i_take_yet").search(clause) is not None and len(verb) > 3
    forms = [one for one in forms if is_sure or any(map(lemmas.is_deed, (one, prefix + one)))]
    what = grammar("i_take_fillers").sub(" ", f" {dates.masked(what).text} ").strip()
    what = grammar("i_take_place").sub(r"\g<thing> \g<where>", what)
    deed, told = next((prefix + one for one in forms), ""), words(what)
    if says((verb,), "i_take_do") and told and what[-2:].islower() and lemmas.is_deed(told[-1]):
        return what if len(told) > 1 else ""  # "Kuchen backen mach ich"
    is_idle = not deed or vocabulary("i_take_hollow").issuperset(told) or dates.MASKS[0] in what
    is_idle = is_idle or any(map(lemmas.is_past, told)) or says((deed, verb), "i_take_not")
    return "" if is_idle or says(told, "i_take_no_object") else f"{what} {deed}"


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


_BEFORE = r"(?:^|[,;:.!(] ?| [-–—] )(?:(?P<what>[^,.;:!()]{2,60}?),? ?)?(?P<cue>{})"
_DROPS = (
    ("unlist", "(?P<cue>{}) ?(?P<what>(?: ?[^ ,.;:!()]{1,40}){0,8})"),
    ("unlisted", _BEFORE),
)
_KEEPS = (("kept", _BEFORE),)
_MARKS = re.compile("^(?:> ?)*", re.MULTILINE)
_SHARES = ("theirs", "named_deed", "shares_out")
_LAST_PART = re.compile("[,;:.!(] ?")
_HEADED = re.compile(
    rf"(?P<who>[{LETTERS}][{LETTERS}.'-]{{0,20}}(?: [{LETTERS}.'-]{{1,20}})?)(?:: ?| [-–] )[^ ]"
)
_NEXT_HEAD = re.compile(rf"[,;] (?=[A-ZÄÖÜ][{LETTERS}]{{1,20}}: )| ?[-=]> ?(?=[A-ZÄÖÜ])")
_QUOTED = re.compile(r"(?:^>[^\n]*\n)+", re.MULTILINE)
_QUOTED_REST = re.compile(r"^\n(?:>[^\n]*\n)*")
_WHOSE = re.compile(rf"(?P<what>.{{2,80}}?) ?\((?P<who>[{LETTERS}]{{2,20}})\)")
