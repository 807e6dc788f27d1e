"""Checklist items that a text asks for: "need to ...", "TODO: ...", orders, lists.

What is proposed is a span of the text, with a capital letter at most. Third persons' duties
("Bob needs to ...") are not the user's; only the passive counts ("the invoice needs to be paid").
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from adapters.models.offline import lemmas, stance
from adapters.models.offline.clauses import FINITE, STATES, Clause, Sentence, read
from adapters.models.offline.dates import masked, names_time
from adapters.models.offline.phrasing import LETTERS, endings, grammar, rule, says, vocabulary
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    Phrase,
    TextLine,
    clause_before,
    is_quoted,
    lines,
    quote,
    sentences,
    words,
)
from domain.text import cut, fold

TITLE_LENGTH_MAX = 200
TODOS_MAX = 200
BARE_WORDS_MAX = 6
GOODS_LENGTH_MIN = 5
ASIDE_MIN = 5
"""So many words behind a comma tell something else, and are no part of a list."""
LIST_MIN = 3
"""Fewer lines are no list for sure."""
OF_WHAT, LEADS, VAGUE = (vocabulary(f"todo_{one}") for one in ("of_what", "leads", "vague"))
THINGS = vocabulary("todo_things")
DUTIES = ("todo_need", "todo_must", "todo_remember")
"""Tables of cues before what is to be done; of `todo_must` the verb comes last."""
LEFT = ("is_to", "stays", "needs", "out_of", "is_left", "missing", "listed", "bare", "then")
"""Those of clauses that say what is left; the first four also beside a duty."""
LETTER = re.compile(f"[{LETTERS}]")
SMALL_WORD = re.compile("[a-zà-öø-þ][^A-ZÀ-ÖØ-Þ]")  # "iPhone" keeps its own way
_NOTE = re.compile(r" \((?!(?:[A-ZÄÖÜ][^ ]*|me|ich)\))[^()]{2,30}\)$")  # no name: whose it may be
_ASIDE = re.compile(r"\(.*\)")
_SIGNS = "\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff"
_SIGN = re.compile(f"^[ {_SIGNS}]+|[ {_SIGNS}]+$")
_MARKS = frozenset(':"„?=✅✔✓☑❌(')

_AND, _TAIL, _PASSIVE = (grammar(f"todo_{one}") for one in ("and", "tail_end", "passive"))
_LAST, _LEAD, _AT = (grammar(f"todo_{one}") for one in ("last_part", "lead", "at"))
_POLITE = grammar("todo_polite")


def todos(text: str, title: str = "", there: Sequence[str] = ()) -> list[Phrase]:
    """Items that a text asks for, in its order; the value is the title. A bare list is one where
    the task's `title` calls for it ("Groceries"), or the items that are `there`.

    >>> [todo.value for todo in todos("We still need to call the bank.\\nTodo: buy ink, print")]
    ['Call the bank', 'Buy ink', 'Print']
    """
    text = stance.as_mine(text)
    found, rest = _bare(text, title, there)
    if found and not rest:
        return found
    for asked in filter(None, stance.accepted(text)[1].split("\n")):
        is_deed = (is_order(asked) or is_wish(asked)) and not masked(asked).found
        is_deed = is_deed and not grammar("todo_elliptic").match(asked)
        wish = stance.as_wish(asked)
        titles = [_title(wish)] if wish else elements(asked) if is_deed else []
        found += [
            Phrase(title, quote(text, at := text.find(asked), at + len(asked))) for title in titles
        ]
    for what in stance.left_to_me(text):
        titles = _actions(_TAIL.split(what)[0]) if is_order(what) or is_wish(what) else []
        found += [Phrase(one, quote(what)) for one in titles]
    apart = stance.aside(text)
    listing, is_apart = "", False  # the header above the list, if there is one; a blank line
    is_idle = False  # below a header of what is no task
    for line in lines(rest or text):
        is_idle = (is_idle and line.is_bullet) or bool(grammar("todo_no_header").match(line.text))
        if is_idle:
            continue
        header = grammar("todo_header").match(line.text)
        if header is not None and not header["rest"]:
            listing = line.text
        elif line.text and not line.is_bullet and (is_apart or not _is_entry(line.text)):
            listing = ""
        is_apart = not line.text
        found += _of_line(line, header, listing, apart)
        if len(found) > TODOS_MAX:
            break
    return found[:TODOS_MAX]


def _bare(text: str, title: str, there: Sequence[str]) -> tuple[list[Phrase], str]:
    """A text that is nothing but a list: short bullets, or things to get under a title for such,
    or of which most are goods. Of many lines one may tell something; it is the rest."""
    told = [one for one in lines(text) if one.text and not _ASIDE.fullmatch(one.text)]
    parts = marked = [one.text for one in told]
    if any(map(grammar("todo_header").match, parts)) or text.endswith("."):
        return [], ""
    is_list = len(told) > 1 and all(one.is_bullet and not one.box for one in told)
    is_list = is_list and any(_is_english(one) or _is_german(one) for one in parts)
    is_list = is_list or rule("for_lists").search(title) is not None
    if is_line := len(told) == 1:
        marked = grammar("todo_list_mark").split(grammar("todo_so").sub("", parts[0]))
        parts = [grammar("todo_get").sub("", one) for one in marked if not stance.dropped(one)]
    else:
        parts = marked = [one for line in parts for one in _entries(line)]
    asked = (_POLITE.sub("", one) for one in (*marked, *parts) if is_line)
    if not is_list and not any(_is_english(one) and not _is_good(words(one)[0]) for one in asked):
        is_named = not is_line or len(parts) >= LIST_MIN or parts != marked  # "coffee and cake"
        is_list = is_named and _are_goods(parts, title)
        is_list = is_list or _are_more(parts, title, there, is_line=is_line)
    things = [one for one in parts if _is_thing(one)]
    left = [one for one in parts if one not in things]
    is_mixed = len(left) > (len(things) >= LIST_MIN and not is_line and parts[0] == things[0])
    is_short = len(things) < 2 and len(parts) == len(marked)  # not of "no peppers but onions"
    if not is_list or is_short or is_mixed or not things:
        return [], ""
    wanted = [one for one in things if NEGATIVE.isdisjoint(words(_NOTE.sub("", one)))]
    said = {one: quote(text if is_line else one) for one in wanted}
    found = [Phrase(name, said[one]) for one in wanted if (name := _title(one))]
    return found, "\n".join(left)


def _entries(line: str) -> list[str]:
    """What a line of a list names: one thing, or several where each has a word of its own."""
    line = grammar("todo_list_if").sub("", grammar("todo_so").sub("", line))
    marked = [one for one in grammar("todo_parts").split(line) if not stance.dropped(one)]
    parts = [grammar("todo_get").sub("", one) for one in marked]
    is_many = all(_is_thing(one) and max(map(len, words(one))) > 2 for one in parts)
    return parts if is_many and len(parts) > 1 else [grammar("todo_lead").sub("", line)]


def _are_goods(parts: Sequence[str], title: str) -> bool:
    """Whether most are what one buys or takes along, and none tells how something is."""
    goods = [one for one in parts if _is_good(one)]
    is_most = len(goods) * 2 >= len(parts) if len(parts) >= LIST_MIN else goods == list(parts)
    return len(parts) > 1 and is_most and not _describes(parts, title)


def _is_good(part: str) -> bool:
    ends = ("", *vocabulary("third_endings"))
    named = {one.removesuffix(end) for one in words(part) for end in ends}
    is_compound = any(one.endswith(_long_goods()) for one in named)
    return is_compound or says(named, "goods") or bool(grammar("goods_amount").search(part))


@cache
def _long_goods() -> tuple[str, ...]:
    """Those that a word may end with: "postcrete" has none, "sandpaper" has."""
    return tuple(one for one in endings("goods") if len(one) >= GOODS_LENGTH_MIN)


def _are_more(parts: Sequence[str], title: str, there: Sequence[str], *, is_line: bool) -> bool:
    """Whether the items that are there are such things, or some of them again."""
    known = {*map(fold, there)}
    named = [one for one in there if _is_thing(one) and not (_is_english(one) or _is_german(one))]
    is_told = len(parts) >= (LIST_MIN if is_line else 2) and not _describes(parts, title)
    return is_told and (len(named) * 2 > len(there) or not known.isdisjoint(map(fold, parts)))


def _describes(parts: Sequence[str], title: str) -> bool:
    """Whether it is an inventory, an agenda, who comes, or how something is."""
    said = (word for one in parts for word in words(one))
    is_named = any(rule("person").fullmatch(one) for one in parts)
    return is_named or says(said, "describes") or rule("no_lists").search(title) is not None


def _is_thing(part: str) -> bool:
    """Whether it may be a line of a list: short, and nothing is said of it."""
    part = _NOTE.sub("", part)
    said = words(part)
    plain = [one for one in said if one not in vocabulary("adjectives")]
    is_told = not (FINITE | STATES | CONDITIONAL).isdisjoint(plain)
    is_told = is_told or any(map(lemmas.is_past, plain))
    is_told = is_told or bool(grammar("todo_told").search(part))
    is_told = is_told or stance.archived(part) is not None
    return 0 < len(said) <= BARE_WORDS_MAX and not is_told and not _MARKS & {*part}


def _is_entry(line: str) -> bool:
    """Whether it may stand below a header: a thing, or a short order."""
    return _is_thing(line) or (_is_english(line) and len(words(line)) <= BARE_WORDS_MAX)


def _bare_thing(text: str) -> str:
    """Without an article of a language whose orders have none."""
    return grammar("todo_article").sub("", text)


def _of_line(
    line: TextLine, header: re.Match[str] | None, listing: str, apart: stance.Aside
) -> list[Phrase]:
    if line.box == "x":
        return []
    said = list(read(line.text))
    if said and (said[0].text in apart.skipped or stance.own(said[0].text)):
        return _of_sentences(said, apart)
    if header is not None and (header["colon"] or not header["rest"]):
        return _listed(header["rest"], line.text)
    if (line.is_bullet and (listing or line.box)) or (listing and _is_entry(line.text)):
        titles = [_title(next(sentences(line.text), ""))]
        return [Phrase(title, quote(line.text)) for title in titles if title]
    return _of_sentences(said, apart)


def _of_sentences(said: Sequence[Sentence], apart: stance.Aside) -> list[Phrase]:
    heeded = [one for one in said if not one.is_asked and one.text not in apart.unreal]
    found = [
        phrase
        for one in heeded
        for phrase in (() if one.text in apart.others else _of_sentence(one, apart))
    ]
    taken = [(one.text, what) for one in heeded for what in stance.taken_on(one.text)]
    told = {fold(one.value) for one in found}
    titles = [(said, title) for said, what in taken if (title := _title(what))]
    return found + [Phrase(one, quote(said)) for said, one in titles if fold(one) not in told]


def _of_sentence(sentence: Sentence, apart: stance.Aside) -> list[Phrase]:
    if own := stance.own(sentence.text):
        parts = elements(own) if is_order(own) or is_wish(own) else _things(own)
        parts = [one for one in parts if NEGATIVE.isdisjoint(words(one)[:2])]
        is_told = len(parts) > 1 or is_order(own) or is_wish(own) or apart.is_shared
        return [Phrase(one, quote(sentence.text)) for one in parts if is_told]
    is_landed = rule("landed").search(sentence.text) is not None
    mine = stance.parts(sentence.text) if apart.is_shared or is_landed else ()
    titles = [
        Phrase(title, quote(sentence.text))
        for one in filter(None, map(stance.of_mine, mine))
        for title in _actions(_TAIL.split(one)[0])
    ]
    listed = _listed_within(sentence.text) or (titles if is_landed else [])
    if listed:
        return listed
    asked = [*_wanted(sentence), *_duties(sentence)]
    rules = LEFT[:4] if asked else LEFT
    left = [one for clause in sentence.clauses for one in _left(sentence, clause, rules)]
    if asked:
        return asked + left
    return (left or _orders(sentence)) + titles


def _wanted(sentence: Sentence) -> Iterator[Phrase]:
    """ "She wants the loft cleared and the door repainted"."""
    found = grammar("wants_done").search(sentence.text)
    if found is None or is_quoted(sentence.text, found.start()):
        return
    if not (NEGATIVE | CONDITIONAL).isdisjoint(sentence.words):
        return
    titles = [_as_order(one) for one in _AND.split(found["list"]) if one.strip()]
    for title in titles if all(titles) else ():
        yield Phrase(title, quote(sentence.text, found.start(), found.end()))


def _as_order(part: str) -> str:
    """ "The loft cleared before May" as "Clear the loft"; empty if it is no such thing."""
    said = grammar("todo_until").split(part.strip(" .!"))[0].split(" ")
    at = next((nth for nth, one in enumerate(said) if nth > 1 and lemmas.is_past(fold(one))), 0)
    verb = lemmas.infinitive(fold(said[at])) if at else ""
    return _title(" ".join((verb, *said[:at], *said[at + 1 :]))) if verb else ""


def _orders(sentence: Sentence) -> list[Phrase]:
    """A sentence of orders and nothing else: "ring the GP, then book", "Betten beziehen"."""
    text = grammar("todo_so").sub("", sentence.text.rstrip(" .!"))
    day, _, rest = text.partition(": ")
    text = _timeless(rest if rest and names_time(day) else text)
    if any(map(_is_order_of_nothing, _AND.split(text))):
        return []
    things = grammar("todo_bring").match(text)
    parts = _things(things["what"]) if things else []
    if parts and all(_is_thing(one) and not _is_english(one, is_next=True) for one in parts):
        return [Phrase(one, quote(sentence.text)) for one in parts]
    if _is_asking(text):
        return [Phrase(_title(text), quote(sentence.text))]
    parts = [one for one in _AND.split(text) if one.strip()]
    turned = [_turned(one) for one in parts]
    parts = [_undated(one) for one in parts]
    if sum(map(bool, turned)) > 1:
        parts = [deed or one for deed, one in zip(turned, parts, strict=True)]
    known = [one for one in parts if _is_german(one) or _is_english(one, is_next=True)]
    if known == parts[-1:] and _is_german(text) and all(" " not in one for one in parts[:-1]):
        parts = [text]  # "Becher und Teller besorgen"
    if len(known) > 1 and all(map(_is_thing, (one for one in parts if one not in known))):
        parts = known  # "sand the door, prime it, two coats of gloss"
    is_german = all(_is_german(one, is_next=nth > 0) for nth, one in enumerate(parts))
    it = vocabulary("it_object")
    said = [
        word
        for nth, one in enumerate(parts)
        for at, word in enumerate(words(one)[: -1 if is_german else None])
        if not (nth and at == 1 and word in it)  # "..., prime it"
    ]
    if says(said, "finite", "was", "conditional", "negative", "todo_selves") or _MARKS & {*text}:
        return []
    first, *others = parts or [""]
    is_english = _is_english(first) and all(_is_english(one, is_next=True) for one in others)
    if not is_english and not is_german:
        return []
    return [Phrase(title, quote(sentence.text)) for one in parts if (title := _title(one))]


def _turned(part: str) -> str:
    """ "Beds to make up" as "make up beds"; empty if it is no such thing."""
    found = grammar("todo_thing_to").match(part)
    if found is None or rule("person").fullmatch(found["what"]):
        return ""
    is_deed = lemmas.is_verb(words(found["verb"])[0])
    return f"{found['verb']} {found['what'].lower()}" if is_deed else ""


def _is_english(part: str, *, is_next: bool = False) -> bool:
    """Whether it is an order that begins with its verb; `is_next`: it stands behind another."""
    said = words(part)
    is_with = len(said) > 2 and rule("todo_with").fullmatch(" ".join(said[:2])) is not None
    if is_with or (len(said) > 2 and said[1] in vocabulary("particles")):
        said = [said[0], *said[2:]]
    is_order = (
        len(said) > 1 and (lemmas.is_verb(said[0]) or _is_deed_to(said)) and not _tells(said[1])
    )
    is_sure = is_next or is_with or said[:1] == [] or said[0] not in _nouns()
    is_order = is_order and (is_sure or said[1] in vocabulary("particles"))
    is_object = not says(said[1:2], "todo_no_object", "todo_compounds")
    is_caused = says(said[:1], "todo_causes") and says(said[1:2], "todo_objects")
    is_past = any(lemmas.is_past(one) and before not in OF_WHAT for before, one in pairwise(said))
    return is_order and is_object and not says(said, "todo_german") and (is_caused or not is_past)


def _is_deed_to(said: Sequence[str]) -> bool:
    """Whether an unknown word must be a verb, as what it is done to follows: "grout the tiles"."""
    first, second = said[:2]
    is_none = first in vocabulary("todo_no_deeds") or first.endswith(endings("todo_no_deed_ends"))
    return second in vocabulary("todo_objects") and not is_none and not lemmas.is_past(first)


def _is_order_of_nothing(part: str) -> bool:
    """ "Pay later", "jetzt kaufen": a verb, and beside it no thing but at most a time."""
    text = masked(part).text
    said = words(text)
    if len(words(part)) < 2 or not said:
        return False
    rest = said[1:] if lemmas.is_verb(said[0]) else said[:-1] if lemmas.is_deed(said[-1]) else [""]
    hollow = vocabulary("todo_whens", "todo_vague", "particles") - vocabulary("it_object")
    return hollow.issuperset(rest)


def _is_asking(text: str) -> bool:
    """Whether it is an order to find something out: "check if ...", "Bob fragen, wer ..."."""
    found = grammar("todo_whether").search(text)
    head = text[: found.start()] if found else ""
    said = words(head)
    deeds = [_POLITE.sub("", one) for one in _AND.split(head)]
    is_one = len(deeds) < 2 or not all(is_order(one) and " " in one for one in deeds)
    is_plain = bool(said) and is_one and not _MARKS & {*head} and "," not in head.rstrip(", ")
    is_plain = is_plain and not says(said, "finite", "conditional", "negative", "todo_selves")
    if found and len(said) > 1 and says(words(found[0]), "was") and _is_english(head):
        return False  # "test drive was fun": the word asks in German, and tells in English
    is_asking = says((*said[:1], *said[-1:]), "todo_asking")
    return is_plain and (is_asking or _is_english(head))


def _undated(part: str) -> str:
    """An order without the day by which it is to be done."""
    found = grammar("todo_by_day").search(masked(part).text) if names_time(part) else None
    return part[: found.start()] + part[found.end() :] if found else part


def _tells(word: str) -> bool:
    """Whether it is a verb of a third person: "vet says"."""
    stems = (word.removesuffix(end) for end in vocabulary("third_endings"))
    return word in vocabulary("speech") or any(one != word and lemmas.is_verb(one) for one in stems)


def _is_german(part: str, *, is_next: bool = False) -> bool:
    """ "Betten beziehen", "Elektriker anrufen wegen Herd"; `is_next`: it stands behind another."""
    deed = part.rstrip(" .!").split(" ")
    if not lemmas.is_deed(fold(deed[-1])) and deed[-1] not in vocabulary("let_last"):
        deed = grammar("todo_about").split(part)[0].split(" ")
    deed = deed[:-1] if len(deed) > 1 and deed[-1] in vocabulary("let_last") else deed
    is_deed = len(deed) > 1 - is_next and deed[-1].islower() and lemmas.is_deed(fold(deed[-1]))
    is_told = lemmas.is_participle(fold(deed[-1])) and fold(deed[0]) in vocabulary("todo_done")
    is_told = is_told or lemmas.is_told(fold(deed[-1]))
    return is_deed and not is_told and fold(deed[0]) not in vocabulary("todo_when")


def _listed_within(sentence: str) -> list[Phrase]:
    """The elements of a list that begins a later sentence: "Done: a. Still to do: b, c."."""
    header = grammar("todo_header").match(sentence)
    if header is not None and header["colon"] and header["rest"]:
        return _listed(header["rest"], sentence)
    return []


def _listed(rest: str, line: str) -> list[Phrase]:
    """The elements of "todo: a, b and c"; without a comma it is one element."""
    first = next(sentences(rest), "")
    start = line.find(rest)
    said = quote(line, start, start + len(first))
    parts = elements(first) if is_order(first) or is_wish(first) else _things(first)
    return [Phrase(title, said) for title in stance.own_parts(parts)]


def elements(text: str) -> list[str]:
    """The titles in "a, b and c"."""
    parts = [part for part in grammar("todo_parts").split(text) if part]
    if len(parts) > 1 and (last := _LAST.match(parts[-1])):
        parts[-1:] = [last[1], last[2]]
    if len(parts) == 1:
        return _actions(parts[0])
    return [title for part in parts if (title := _title(part))]


@cache
def _nouns() -> frozenset[str]:
    """Verbs that begin more sentences as something else."""
    return (vocabulary("unchanged") - vocabulary("todo_orders")) | vocabulary("todo_nouns")


def _things(text: str) -> list[str]:
    """The titles in "a, b and c" or "a and b"."""
    parts = elements(text)
    last = _LAST.match(parts[0]) if len(parts) == 1 else None
    return [title for one in (last[1], last[2]) if (title := _title(one))] if last else parts


def _actions(what: str) -> list[str]:
    """What is to be done: "call Bob, email Ann and pay" are three, "sand and paint it" is one."""
    wished = _wished(what)
    if wished:
        return wished
    last = what.rstrip(" .!").rsplit(" ", 1)
    if len(last) == 2 and (verb := lemmas.from_to(last[1])):
        what = f"{_bare_thing(last[0])} {verb}"
    elif len(last) == 2 and (apart := grammar("todo_zu").search(last[0])):
        what = f"{_bare_thing(last[0][: apart.start()])} {last[1]}"
    if _is_asking(what):
        return [_title(what)]
    first, *after = grammar("todo_after").split(what)
    if after and not any(is_order(one) or is_wish(one) for one in after):
        what = first
    parts = [one for one in _AND.split(what) if one.strip()]
    parts = [_POLITE.sub("", one) for one in parts]
    is_list = all(len(words(one)) > 1 for one in parts)
    if is_list and (all(map(is_order, parts)) or all(map(is_wish, parts))):
        return [title for one in parts if (title := _title(one))]
    title = _title(what)
    return [title] if title else []


def _wished(what: str) -> list[str]:
    """The titles in "die Oma anzurufen und das Zimmer zu buchen"; none where a part is no such."""
    parts = [one for one in _AND.split(what.rstrip(" .!")) if one.strip()]
    ends = [one.rsplit(" ", 1) for one in parts]
    is_all = all(
        len(end) == 2 and (lemmas.from_to(end[1]) or grammar("todo_zu").search(end[0]))
        for end in ends
    )
    return [title for one in parts for title in _actions(one)] if is_all and len(parts) > 1 else []


def is_order(part: str) -> bool:
    """Whether it begins with an English verb: "call Bob"."""
    first = next(iter(words(part)), "")
    return lemmas.is_verb(first)


def is_wish(part: str) -> bool:
    """Whether it ends in a German infinitive: "Bob anrufen"."""
    last = part.rstrip(" .!").rsplit(" ", 1)[-1]
    is_infinitive = lemmas.ends_as_infinitive(last) and last.islower()
    return is_infinitive and last not in vocabulary("todo_no_infinitives")


def _duties(sentence: Sentence) -> Iterator[Phrase]:
    text = sentence.text
    cues = sorted(
        ((match, name) for name in DUTIES for match in grammar(name).finditer(text)),
        key=lambda cue: cue[0].start(),
    )
    ends = [*(match.start() for match, _ in cues[1:]), len(text)]
    for (match, name), end in zip(cues, ends, strict=False):
        what = _TAIL.split(text[match.end() : end])[0]
        for title in _asked(text, match, name, what):
            yield Phrase(title, quote(text, match.start(), match.end() + len(what)))
    last = grammar("todo_not_forget").match(text)
    if last is not None and not cues and not is_quoted(text, last.start("what")):
        for title in (*_actions(last["what"]), *_actions(last["more"] or "")):
            yield Phrase(title, quote(text))


def _asked(sentence: str, match: re.Match[str], name: str, what: str) -> list[str]:
    """The titles of what a cue asks for; none if it asks for nothing of the user."""
    is_void = is_quoted(sentence, match.start()) or says(words(sentence), "todo_habits")
    is_void = is_void or any(grammar(f"todo_{one}").match(sentence) for one in ("if", "shall"))
    is_void = is_void or grammar("todo_hearsay").search(sentence) is not None
    if is_void or grammar("todo_by_others").search(sentence, match.end()):
        return []
    said = words(what)
    if name == "todo_remember":
        is_idle = says(said[:1], "todo_no_verbs") and rule("better").search(match[0]) is not None
        is_idle = is_idle or fold(what.partition(",")[0].strip()) in vocabulary("todo_no_verbs")
        is_idle = is_idle or (says(said[1:2], "it_object") and names_time(what))
        is_list = match[0].rstrip().endswith(":")
        is_idle = is_idle or (VAGUE.issuperset(said[1:]) and not is_list) or says(said, "was")
        found = _things(what) if is_list else _actions(what)
        return [] if is_idle or rule("holds").search(what) else found
    before = clause_before(sentence, match.start())
    is_last = name == "todo_must"  # where the verb stands
    if is_last and _is_order_of_nothing(what):
        return []
    denied = NEGATIVE | CONDITIONAL | OF_WHAT
    if not denied.isdisjoint(_near(match, sentence, before)):
        return []
    is_duty = is_last and not rule("ought").fullmatch(match[0].split()[-1])
    is_duty = is_duty or (is_last and grammar("todo_told_to").search(sentence) is not None)
    is_bare = match.start() == 0 and len(said) > 1 and _AND.search(what) is None
    is_bare = is_bare or _is_asking(what)
    is_plain = is_duty and bool(match["who"] or match["whom"] or is_bare)
    is_plain = is_plain and (is_wish(what) or _is_asking(what))
    is_plain = is_plain or (len(said) > 1 and said[-1] in vocabulary("be_done"))
    if is_last and match["whom"] and is_wish(what):
        thing = _LEAD.sub("", _clause_to(sentence, match.start()).strip())
        if len(said) == 1 and (not thing or _is_hollow(thing)):
            return []
        if len(said) == 1 or _is_object(thing, said):
            return _actions(f"{thing} {what}")
    if (is_last and not (is_plain or match["noch"] or says(said, "still"))) or _is_vague(said):
        return []
    by_user = match["who"] or (match["whom"] if is_last else None)
    is_passive = says(said, "be_done") if is_last else bool(_PASSIVE.match(what))
    if is_passive and not by_user:
        what = what.partition(", ")[0]
        before_it = _clause_to(sentence, match.start())
        named = grammar("todo_named_before").match(sentence[: match.start()])
        before_it = before_it if before_it.strip() or named is None else named["thing"]
        thing = _LEAD.sub("", before_it.strip())
        head, _, tail = thing.rpartition(" ")
        thing = head if tail in vocabulary("finite_be") else thing  # "the hedge is yet to be cut"
        if several := _ordered_each(thing, what):
            return several
        told = _AND.split(thing)
        thing = thing if FINITE.isdisjoint(words(" ".join(told[:-1]))) else told[-1]
        title = _ordered(thing, what)
        is_thing = not THINGS.issuperset(words(thing)) and not _is_hollow(thing)
        return [title] if title and is_thing else []
    is_state = says(said[-1:], "is_state") or says(said[:1], "be_have")
    is_own = (by_user or LEADS.issuperset(before)) and not is_state
    return _actions(what) if is_own else []


def _is_object(thing: str, said: Sequence[str]) -> bool:
    """Whether what stands before "must I" is what it is done to: "the form must I still sign"."""
    if not thing or _is_hollow(thing) or _AT.match(thing) or names_time(thing):
        return False
    if grammar("todo_article").match(thing):
        return not says(said[:1], "articles_own")
    return not says((*said, *words(thing)), "articles_own", "todo_adverbs")


def _clause_to(sentence: str, end: int) -> str:
    """What stands between a mark and a place."""
    return sentence[max(sentence.rfind(mark, 0, end) for mark in ",;:") + 1 : end]


def _ordered(thing: str, what: str) -> str:
    """ "The drain needs to be cleaned" as an order: "Clean the drain"."""
    said = what.strip(" .!").split(" ")
    if not (CONDITIONAL | vocabulary("todo_before")).isdisjoint(words(thing)):
        return ""
    fillers = vocabulary("todo_fillers")
    if said[0] in vocabulary("be"):
        verb = lemmas.infinitive(said[1].lower()) if len(said) > 1 else ""
        if not verb or verb in vocabulary("do"):
            return ""
        rest = "" if fillers.issuperset(said[2:]) else " " + " ".join(said[2:])
        is_lower = fold(thing.split(" ", maxsplit=1)[0]) in vocabulary("articles")
        return _title(f"{verb} {thing[:1].lower() + thing[1:] if is_lower else thing}{rest}")
    if said[-1] not in vocabulary("be_done") or len(said) < 2:
        return ""
    verb = lemmas.infinitive(said[-2])
    others = [one for one in said[:-2] if one not in fillers]
    if says(others, "joins") or _AT.match(thing):
        return ""
    return _title(" ".join([_bare_thing(thing), *others, verb])) if verb else ""


def _ordered_each(thing: str, what: str) -> list[str]:
    """ "Der Flur" and "gefegt und der Müll rausgebracht werden" as two orders; none where
    one is no such."""
    head, _, mark = what.rstrip(" .!").rpartition(" ")
    first, *more = _AND.split(head) if mark in vocabulary("be_done") else [head]
    pairs = [(one.rpartition(" ")[0], one.rpartition(" ")[2]) for one in more]
    is_dummy = vocabulary("todo_dummy").issuperset(words(thing)) or _AT.match(thing)
    if is_dummy and mark in vocabulary("be_done"):  # "es muss noch ein Topf besorgt werden"
        is_told = _AT.match(thing)
        thing, _, first = first.rpartition(" ")
        if not (thing or (is_told and more)):
            return []
        if thing and (thing.islower() or not THINGS.isdisjoint(words(thing)) or _is_hollow(thing)):
            return []
    elif pairs and not any(subject for subject, _ in pairs):  # "sanded and painted" is one
        verbs = (lemmas.infinitive(fold(one)) or one for one in head.split(" "))
        return [_title(" ".join((_bare_thing(thing), *verbs)))]
    elif not pairs or not all(subject for subject, _ in pairs):
        return []
    pairs.insert(0, ("" if _AT.match(thing) else thing, first))
    titles = [_ordered(subject, f"{deed} {mark}") for subject, deed in pairs]
    return titles if all(titles) else []


def _is_vague(said: Sequence[str]) -> bool:
    if len(said) < 2 or said[0] in vocabulary("todo_no_verbs") or not NEGATIVE.isdisjoint(said[:4]):
        return True
    if not CONDITIONAL.isdisjoint(said[:2]):
        return True
    return (VAGUE | vocabulary("particles")).issuperset(said[1:]) or vocabulary("anew").issuperset(
        said[:-1]
    )


def _near(match: re.Match[str], sentence: str, before: frozenset[str]) -> frozenset[str]:
    """Words that deny a duty anywhere in its clause, or right before it make it another's."""
    close = words(sentence[max(0, match.start() - 24) : match.start()])[-2:]
    has_subject = bool(match["who"])
    return (before - OF_WHAT) | frozenset(close if has_subject else close[-1:])


def _left(sentence: Sentence, clause: Clause, rules: Sequence[str]) -> Iterator[Phrase]:
    """What a clause says is left: "the chain is still to do", "noch Farbe kaufen"."""
    text = clause.text.strip(" .!")
    is_void = rule("no_date").search(sentence.text) is not None
    if is_void or is_quoted(sentence.text, clause.start) or clause.is_conditional:
        return
    said = quote(sentence.text, clause.start, clause.end)
    for name in rules:
        match = grammar(f"todo_{name}").search(text)
        them = vocabulary("todo_them") if name == "is_left" else frozenset()
        if match is None or not them.isdisjoint(sentence.words):
            continue
        what = _TAIL.split(match["what"])[0]
        if name in ("stays", "is_to"):
            what = f"{what}\n{match['verb']}"
        for title in _of_rule(name, what):
            if says(words(title), "todo_not_mine") or _is_hollow(title):
                continue
            yield Phrase(title, said)
        return


def _of_rule(name: str, what: str) -> list[str]:
    if not NEGATIVE.isdisjoint(words(what)[:4]):
        return []
    if name == "stays":
        thing, _, gerund = _LEAD.sub("", what).rpartition("\n")
        verb = gerund.lower().split(" ")[-1]
        verb = lemmas.from_gerund(verb) or lemmas.infinitive(verb) or verb
        return [_title(f"{verb} {thing[:1].lower()}{thing[1:]}")] if lemmas.is_verb(verb) else []
    if name == "is_to":
        thing, _, deed = what.rpartition("\n")
        if not THINGS.isdisjoint(words(thing)):
            return []
        deed = lemmas.from_to(deed) or deed.split(" ")[-1]
        deed = lemmas.infinitive(deed) or deed if lemmas.is_participle(deed) else deed
        return [_title(f"{_bare_thing(thing)} {deed}")]
    if name == "out_of":
        return [_title(what)] if _is_good(what) else []
    if name in ("bare", "then"):
        parts = [one for one in _AND.split(what) if one.strip()]
        if says(words(what), "todo_no_order"):
            return []
        if len(parts) > 1 and len(words(parts[0])) < 2:
            return []
        is_deed = all(map(is_wish, parts)) or (name == "then" and all(map(is_order, parts)))
        return _actions(what) if is_deed and len(words(what)) > 1 else []
    return _things(what)


def _is_hollow(title: str) -> bool:
    return (VAGUE | OF_WHAT | LEADS).issuperset(words(title))


def _timeless(title: str) -> str:
    """Without the day, or a word like "first" or "too", that it ends with."""
    while found := grammar("todo_time_last").search(masked(title).text):
        said = words(title[: found.start()])
        if len(said) < 2 or said[-1] in vocabulary("todo_of_day"):
            break
        title = title[: found.start()].rstrip(" ,")
    return title


def _without_aside(title: str) -> str:
    """Up to a comma, where a sentence of its own follows: no list, no question, no verb at its
    end."""
    head, comma, tail = title.partition(", ")
    is_told = any(len(words(one)) >= ASIDE_MIN for one in tail.split(", "))
    is_asked = comma and grammar("todo_whether").match(title, len(head))
    return head if is_told and not is_asked and not lemmas.is_deed(words(tail)[-1]) else title


def _title(span: str) -> str:
    title = _without_aside(_SIGN.sub("", span).strip(" .,:;!-–*`\"'„“”"))
    if grammar("todo_waits").search(title):
        return ""  # that is a blocker
    title = _timeless(_POLITE.sub("", grammar("todo_loose_end").sub("", title)))
    title = _undated(title) if is_wish(title) else title
    if len(title) < 2 or LETTER.search(title) is None:
        return ""
    if SMALL_WORD.match(title):
        title = title[0].upper() + title[1:]
    return cut(title, length_max=TITLE_LENGTH_MAX)
