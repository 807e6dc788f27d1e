"""Checklist items that a text asks for: "need to ...", "TODO: ...", "muss noch ...", lists.

What is proposed is a span of the text, with a capital letter at most. Third persons' duties
("Bob needs to ...") are not the user's; only the passive counts ("the invoice needs to be paid").
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from adapters.models.offline import lemmas, phrasing, stance
from adapters.models.offline.clauses import FINITE, STATES, Clause, Sentence, read
from adapters.models.offline.dates import names_time
from adapters.models.offline.sentences import (
    CONDITIONAL,
    END,
    LETTERS,
    NEGATIVE,
    START,
    Phrase,
    TextLine,
    clause_before,
    is_quoted,
    lines,
    pattern,
    quote,
    sentences,
    word_set,
    words,
)
from domain.text import cut, fold

TITLE_LENGTH_MAX = 200
TODOS_MAX = 200
VERB_LENGTH_MIN = 4
BARE_WORDS_MAX = 6


def todos(text: str, title: str = "") -> list[Phrase]:
    """Items that a text asks for, in its order; the value is the title. A bare list is one where
    the task's `title` calls for it: "Groceries".

    >>> [todo.value for todo in todos("We still need to call the bank.\\nTodo: buy ink, print")]
    ['Call the bank', 'Buy ink', 'Print']
    """
    found = _bare(text, title)
    if found:
        return found
    for asked in filter(None, stance.accepted(text)[1].split("\n")):
        titles = [] if names_time(asked) else elements(asked)
        found += [
            Phrase(title, quote(text, at := text.find(asked), at + len(asked))) for title in titles
        ]
    apart = stance.aside(text)
    listing = ""  # the header above the bullets, if there is one
    for line in lines(text):
        header = HEADER.match(line.text)
        if header is not None and not header["rest"]:
            listing = line.text
        elif line.text and not line.is_bullet:
            listing = ""
        found += _of_line(line, header, listing, apart)
        if len(found) > TODOS_MAX:
            break
    return found[:TODOS_MAX]


def _bare(text: str, title: str) -> list[Phrase]:
    """A text that is nothing but a list: short bullets, or things to get under a title for such."""
    told = [one for one in lines(text) if one.text]
    if len(told) > 1 and all(one.is_bullet and not one.box for one in told):
        parts = [one.text for one in told]
        is_list = any(_is_english(one) or _is_german(one) for one in parts)
    elif len(told) > 1:
        parts, is_list = [one.text for one in told], False
    else:
        bare = _SO.sub("", told[0].text) if len(told) == 1 else "."
        parts = [_GET.sub("", one) for one in _LIST_MARK.split(bare) if not stance.dropped(one)]
        is_list = False
    is_list = is_list or phrasing.rule("for_lists").search(title) is not None
    if not is_list or len(parts) < 2 or not all(map(_is_thing, parts)) or text.endswith("."):
        return []
    wanted = [one for one in parts if NEGATIVE.isdisjoint(words(one))]
    return [Phrase(name, quote(text, 0, 0)) for one in wanted if (name := _title(one))]


def _is_thing(part: str) -> bool:
    """Whether it may be a line of a list: short, and nothing is said of it."""
    said = words(part)
    is_told = not (FINITE | STATES | CONDITIONAL).isdisjoint(said) or any(map(lemmas.is_past, said))
    return 0 < len(said) <= BARE_WORDS_MAX and not is_told and not _MARKS & {*part}


def _of_line(
    line: TextLine, header: re.Match[str] | None, listing: str, apart: stance.Aside
) -> list[Phrase]:
    if line.box == "x":
        return []
    said = list(read(line.text))
    if said and (said[0].text in apart.skipped or stance.own(said[0].text)):
        return _of_sentences(said, apart)
    todo = TODO.match(line.text)
    if header is not None and (header["colon"] or not header["rest"]):
        return _listed(header["rest"], line.text)
    if todo is not None:
        return _listed(todo["rest"], line.text)
    if line.is_bullet and (listing or line.box):
        titles = [_title(next(sentences(line.text), ""))]
        return [Phrase(title, quote(line.text, 0, 0)) for title in titles if title]
    return _of_sentences(said, apart)


def _of_sentences(said: Sequence[Sentence], apart: stance.Aside) -> list[Phrase]:
    heeded = (one for one in said if not one.is_asked and one.text not in apart.skipped)
    return [phrase for one in heeded for phrase in _of_sentence(one, apart)]


def _of_sentence(sentence: Sentence, apart: stance.Aside) -> list[Phrase]:
    if own := stance.own(sentence.text):
        parts = [one for part in own.split(" n ") for one in elements(part)]
        is_told = len(parts) > 1 or is_order(own) or is_wish(own) or apart.is_shared
        return [Phrase(one, quote(sentence.text, 0, 0)) for one in parts if is_told]
    listed = _listed_within(sentence.text)
    if listed:
        return listed
    if asked := list(_duties(sentence)):
        return asked
    left = [one for clause in sentence.clauses for one in _left(sentence, clause)]
    left = left or _orders(sentence)
    mine = map(stance.of_mine, stance.parts(sentence.text) if apart.is_shared else ())
    titles = [title for one in mine if (title := _title(one))]
    return left + [Phrase(one, quote(sentence.text, 0, 0)) for one in titles]


def _orders(sentence: Sentence) -> list[Phrase]:
    """A sentence of orders and nothing else: "ring the GP, then book", "Betten beziehen"."""
    text = _SO.sub("", sentence.text.rstrip(" .!"))
    things = _BRING.match(text)
    if (
        things
        and " to " not in things["what"]
        and all(map(_is_thing, parts := _things(things["what"])))
    ):
        return [Phrase(one, quote(sentence.text, 0, 0)) for one in parts]
    said = frozenset(sentence.words)
    if not (FINITE | CONDITIONAL | NEGATIVE | _SELVES).isdisjoint(said) or _MARKS & {*text}:
        return []
    parts = [one for one in AND.split(text) if one.strip()]
    if not all(_is_english(one) for one in parts) and not all(_is_german(one) for one in parts):
        return []
    bare = (one.removeprefix("add ") for one in parts)
    return [Phrase(title, quote(sentence.text, 0, 0)) for one in bare if (title := _title(one))]


def _is_english(part: str) -> bool:
    said = words(part)
    is_order = len(said) > 1 and lemmas.is_verb(said[0]) and said[0] not in _NOUNS
    is_order = is_order and _NO_OBJECT.isdisjoint(said[1:2]) and _GERMAN.isdisjoint(said)
    return is_order and not any(
        lemmas.is_past(one) and before not in OF_WHAT for before, one in pairwise(said)
    )


def _is_german(part: str) -> bool:
    """ "Betten beziehen", "Elektriker anrufen wegen Herd"."""
    deed = re.split(" (?:wegen|für|bei|mit|in|im|am|zum|zur) ", part)[0].split(" ")
    is_deed = len(deed) > 1 and deed[-1].islower() and lemmas.is_deed(fold(deed[-1]))
    return is_deed and fold(deed[0]) not in _WHEN


def _listed_within(sentence: str) -> list[Phrase]:
    """The elements of a list that begins a later sentence: "Done: a. Still to do: b, c."."""
    header = HEADER.match(sentence) or LATER_HEADER.search(sentence)
    if header is not None and header["colon"] and header["rest"]:
        return _listed(header["rest"], sentence)
    return []


def _listed(rest: str, line: str) -> list[Phrase]:
    """The elements of "todo: a, b and c"; without a comma it is one element."""
    first = next(sentences(rest), "")
    start = line.find(rest)
    said = quote(line, start, start + len(first))
    return [Phrase(title, said) for title in stance.own_parts(elements(first))]


def elements(text: str) -> list[str]:
    """The titles in "a, b and c"."""
    parts = [part for part in PARTS.split(text) if part]
    if len(parts) > 1 and (last := LAST_PART.match(parts[-1])):
        parts[-1:] = [last[1], last[2]]
    if len(parts) == 1:
        return _actions(parts[0])
    return [title for part in parts if (title := _title(part))]


def _things(text: str) -> list[str]:
    """The titles in "a, b and c" or "a and b"."""
    parts = elements(text)
    last = LAST_PART.match(parts[0]) if len(parts) == 1 else None
    return [title for one in (last[1], last[2]) if (title := _title(one))] if last else parts


def _actions(what: str) -> list[str]:
    """What is to be done: "call Bob, email Ann and pay" are three, "sand and paint it" is one."""
    wished = _wished(what)
    if wished:
        return wished
    last = what.rstrip(" .!").rsplit(" ", 1)
    if len(last) == 2 and (verb := lemmas.from_to(last[1])):
        what = f"{ARTICLE_DE.sub('', last[0])} {verb}"
    elif len(last) == 2 and last[0].endswith(" zu"):
        what = f"{ARTICLE_DE.sub('', last[0][:-3])} {last[1]}"
    parts = [one for one in AND.split(what) if one.strip()]
    is_list = len(parts) > 1 and all(len(words(one)) > 1 for one in parts)
    if is_list and (all(map(is_order, parts)) or all(map(is_wish, parts))):
        return [title for one in parts if (title := _title(one))]
    title = _title(what)
    return [title] if title else []


def _wished(what: str) -> list[str]:
    """The titles in "die Oma anzurufen und das Zimmer zu buchen"; none where a part is no such."""
    parts = [one for one in AND.split(what.rstrip(" .!")) if one.strip()]
    ends = [one.rsplit(" ", 1) for one in parts]
    is_all = all(
        len(end) == 2 and (lemmas.from_to(end[1]) or end[0].endswith(" zu")) for end in ends
    )
    return [title for one in parts for title in _actions(one)] if is_all and len(parts) > 1 else []


def is_order(part: str) -> bool:
    """Whether it begins with an English verb: "call Bob"."""
    first = next(iter(words(part)), "")
    return lemmas.is_verb(first)


def is_wish(part: str) -> bool:
    """Whether it ends in a German infinitive: "Bob anrufen"."""
    last = part.rstrip(" .!").rsplit(" ", 1)[-1]
    is_infinitive = last.endswith(("en", "ern", "eln", "tun")) and last.islower()
    return is_infinitive and len(last) >= VERB_LENGTH_MIN and last not in NO_INFINITIVES


def _duties(sentence: Sentence) -> Iterator[Phrase]:
    text = sentence.text
    cues = sorted(
        (match for rule in DUTIES for match in rule.finditer(text)),
        key=lambda match: match.start(),
    )
    ends = [*(match.start() for match in cues[1:]), len(text)]
    for match, end in zip(cues, ends, strict=False):
        what = TAIL_END.split(text[match.end() : end])[0]
        for title in _asked(text, match, what):
            yield Phrase(title, quote(text, match.start(), match.end() + len(what)))
    last = NOT_FORGET.match(text)
    if last is not None and not cues and not is_quoted(text, last.start("what")):
        for title in (*_actions(last["what"]), *_actions(last["more"] or "")):
            yield Phrase(title, quote(text, 0, len(text)))


def _asked(sentence: str, match: re.Match[str], what: str) -> list[str]:
    """The titles of what a cue asks for; none if it asks for nothing of the user."""
    if is_quoted(sentence, match.start()) or not HABITS.isdisjoint(words(sentence)):
        return []
    if BY_OTHERS.search(sentence, match.end()) is not None:
        return []
    if IF.match(sentence) is not None or SHALL.match(sentence) is not None:
        return []
    said = words(what)
    if match.re is REMEMBER:
        is_idle = said[:1] and said[0] in NO_VERBS and "better" in match[0].lower()
        return [] if is_idle else _actions(what)
    before = clause_before(sentence, match.start())
    is_german = match.re is MUST
    denied = NEGATIVE | CONDITIONAL | OF_WHAT
    if not denied.isdisjoint(_near(match, sentence, before)):
        return []
    is_duty = is_german and not match[0].lower().split()[-1].startswith("soll")
    is_plain = is_duty and bool(match["who"] or match["whom"]) and is_wish(what)
    is_plain = is_plain or (len(said) > 1 and said[-1] == "werden")
    if is_german and match["whom"] and len(said) == 1 and is_wish(what):
        start = max(sentence.rfind(mark, 0, match.start()) for mark in ",;:") + 1
        thing = LEAD.sub("", sentence[start : match.start()].strip())
        return _actions(f"{thing} {what}") if thing and not _is_hollow(thing) else []
    if is_german and not (is_plain or match["noch"] or "noch" in said):
        return []
    if _is_vague(said):
        return []
    by_user = match["who"] or (match["whom"] if is_german else None)
    is_passive = "werden" in said if is_german else PASSIVE.match(what) is not None
    if is_passive and not by_user:
        start = max(sentence.rfind(mark, 0, match.start()) for mark in ",;:") + 1
        thing = LEAD.sub("", sentence[start : match.start()].strip())
        title = _ordered(thing, what)
        if not title and AT.match(thing) is None and not names_time(what):
            title = _title(sentence[start : match.end() + len(what)])
        is_thing = not THINGS.issuperset(words(thing)) and not _is_hollow(thing)
        return [title] if title and is_thing else []
    if said[0] in ("be", "have") or ({*said} & {"fertig", "sein"} and "werden" not in said):
        return []
    is_own = by_user or LEADS.issuperset(before)
    return _actions(what) if is_own else []


def _ordered(thing: str, what: str) -> str:
    """ "The drain needs to be cleaned" as an order: "Clean the drain", "Abfluss reinigen"."""
    said = what.strip(" .!").split(" ")
    if not (CONDITIONAL | BEFORE).isdisjoint(words(thing)):
        return ""
    if said[0] == "be":
        verb = lemmas.infinitive(said[1].lower()) if len(said) > 1 else ""
        if not verb or verb == "do":
            return ""
        rest = "" if {*said[2:]} <= FILLERS else " " + " ".join(said[2:])
        lower = thing[:1].lower() + thing[1:] if thing[:4].lower() == "the " else thing
        return _title(f"{verb} {lower}{rest}")
    if said[-1] != "werden" or len(said) < 2:
        return ""
    verb = lemmas.infinitive(said[-2])
    others = [one for one in said[:-2] if one not in FILLERS]
    if "und" in others or AT.match(thing):
        return ""
    bare = ARTICLE_DE.sub("", thing)
    return _title(" ".join([bare, *others, verb])) if verb else ""


def _is_vague(said: Sequence[str]) -> bool:
    if len(said) < 2 or said[0] in NO_VERBS or not NEGATIVE.isdisjoint(said[:4]):
        return True
    return VAGUE.issuperset(said[1:]) or ANEW.issuperset(said[:-1])


def _near(match: re.Match[str], sentence: str, before: frozenset[str]) -> frozenset[str]:
    """Words that deny a duty anywhere in its clause, or right before it make it another's."""
    close = words(sentence[max(0, match.start() - 24) : match.start()])[-2:]
    has_subject = bool(match["who"])
    return (before - OF_WHAT) | frozenset(close if has_subject else close[-1:])


def _left(sentence: Sentence, clause: Clause) -> Iterator[Phrase]:
    """What a clause says is left: "the chain is still to do", "noch Farbe kaufen"."""
    text = clause.text.strip(" .!")
    is_void = phrasing.rule("no_date").search(sentence.text) is not None
    if is_void or is_quoted(sentence.text, clause.start) or clause.is_conditional:
        return
    said = quote(sentence.text, clause.start, clause.end)
    for rule in LEFT:
        match = rule.search(text)
        if match is None or (rule is IS_LEFT and not THEM.isdisjoint(sentence.words)):
            continue
        what = TAIL_END.split(match["what"])[0]
        if rule in (STAYS, IS_TO):
            what = f"{what}\n{match['verb']}"
        for title in _of_rule(rule, what):
            if not NOT_MINE.isdisjoint(words(title)) or _is_hollow(title):
                continue
            yield Phrase(title, said)
        return


def _of_rule(rule: re.Pattern[str], what: str) -> list[str]:
    if not NEGATIVE.isdisjoint(words(what)[:4]):
        return []
    if rule is STAYS:
        thing, _, gerund = LEAD.sub("", what).rpartition("\n")
        verb = lemmas.from_gerund(gerund.lower())
        return [_title(f"{verb} {thing[:1].lower()}{thing[1:]}")] if verb else []
    if rule is IS_TO:
        thing, _, deed = what.rpartition("\n")
        if not THINGS.isdisjoint(words(thing)):
            return []
        deed = lemmas.from_to(deed) or deed.removeprefix("zu ")
        return [_title(f"{ARTICLE_DE.sub('', thing)} {deed}")]
    if rule in (BARE, THEN):
        parts = [one for one in AND.split(what) if one.strip()]
        if not NO_ORDER.isdisjoint(words(what)):
            return []
        is_deed = all(map(is_wish, parts)) or (rule is THEN and all(map(is_order, parts)))
        return _actions(what) if is_deed and len(words(what)) > 1 else []
    return _things(what)


def _is_hollow(title: str) -> bool:
    return (VAGUE | OF_WHAT | LEADS).issuperset(words(title))


def _title(span: str) -> str:
    title = span.strip(" .,:;!-–*`\"'„“”")
    is_german = title.endswith(" warten") and "auf " in title.lower()
    if is_german or title.lower().startswith("wait "):
        return ""  # that is a blocker
    title = LOOSE_END.sub("", title)
    for polite in (
        "please ",
        "bitte ",
        "and ",
        "und ",
        "jetzt ",
        "then ",
        "dann ",
        "nur ",
        "noch ",
        "to ",
    ):
        title = title.removeprefix(polite)
    if len(title) < 2 or LETTER.search(title) is None:
        return ""
    if SMALL_WORD.match(title):
        title = title[0].upper() + title[1:]
    return cut(title, length_max=TITLE_LENGTH_MAX)


# -------------------------------------------------------------------------------------- the phrases
# The phrases by which a text asks for something to do, in English and German.

_SELF = "i|we|you|someone|somebody|one|ich|wir|man|jemand"
NEED = pattern(
    rf"{START}(?:(?P<who>{_SELF})(?P<short>'ve|'ll)? )?(?:(?:still|also|just|really|will|now|first|"
    r"then|urgently|definitely|only|both|all|next|must|now|probably|do|then|therefore|soon|again|"
    r"desperately) ){0,3}(?:(?:needs?|have|has|got|gotta|remains?|yet)(?: (?:got|yet|still|also|"
    r"first|just))?(?: to)?(?<= to)|must|gotta|ought to) (?:(?:still|also|first|just|really|"
    r"not forget to|remember to) ){0,2}(?=[^ ])"
)
MUST = pattern(
    rf"{START}(?:(?P<who>{_SELF}) )?(?:muss|müssen|müsste|müssten|sollte|sollten|"
    r"soll)(?: (?P<whom>ich|wir|man|jemand))?(?: (?:also|aber|dann|auch|unbedingt|dringend|heute|"
    r"morgen|jetzt|ja|nur|erst|danach|vorher)){0,3}(?P<noch> noch)? (?=[^ ])"
)
REMEMBER = pattern(
    rf"{START}(?:(?:don't|do not|mustn't|must not|not to|never) forget(?: to |: ?|,? )|(?:it(?:'d|"
    r" would) be|might be|would be|probably) (?:a )?(?:good idea|best|wise|sensible) to |"
    r"(?<![^.])before [^.,;]{3,40}?,? (?:i|we) should |"
    r"(?<![^.])bevor [^.,;]{3,40}, (?:sollten|sollte|muss|müssen) (?:wir|ich) (?:noch )?|"
    r"don't let (?:me|us) forget to |remember to |remind (?:me|us) (?:to |about )|(?:(?:i|"
    r"we) )?must remember to |(?:i'd|we'd|i had|we had|you'd) better (?!not |be |have )|(?:i|"
    r"we) (?:really |probably )*(?:ought to|should) (?:also|still|really) |note to self: ?|"
    r"bitte (?:noch )?daran denken,? |(?:erinner|erinnere) mich (?:bitte )?(?:daran|dran),? |"
    r"denk(?:t|en wir)? (?:bitte |noch )*(?:daran|dran),? |make sure (?:to |we |i )|be sure to |"
    r"vergiss nicht,? |nicht vergessen(?:: ?|, (?!und ))|nicht vergessen,? (?=[^.!]* zu )|"
    r"denke? (?:bitte )?(?:daran|dran),? |darf (?:ich )?nicht vergessen,? |daran denken,? |"
    r"dran denken,? |nicht vergessen - )(?=[^ ])"
)
NOT_FORGET = pattern(
    r"^(?:bitte |und |auch |noch )*(?P<what>.{3,200}) (?:nicht vergessen|"
    r"dürfen wir nicht vergessen|darf ich nicht vergessen)(?:,? und (?P<more>[^,;]{3,160}))?[.!]*$"
)
TODO = re.compile(
    rf"^[^{LETTERS}0-9]{{0,8}}TODO(?:\([^)]{{0,40}}\))?[:,]? ?(?P<rest>(?!lists?|items?|app|"
    r"comments?)[^:, ].*)$"
)
HEADER = pattern(
    r"^(?:#{1,6} )?(?:(?:oh|so|and|but|und|also|aber|jetzt|now|for|the|my|our|die|meine|unsere|was|"
    r"what's|what is|es|things|und jetzt|tasks|points|steps|als|still|immer|dann|today|heute|"
    r"tomorrow|morgen|this week|diese woche|then|danach|also) ){0,3}(?:(?:things|stuff|jobs|bits|"
    r"what) (?:(?:i|we) (?:still )?)?(?:have |need |left )?to \w+(?: out)?(?= ?:)|(?:to |still to |"
    r"left to |yet to )(?:bring|take|sort(?: out)?|collect|pick up|ring|email|print|clean|wash|"
    r"paint|prepare|find|organi[sz]e|chase|write|pay|make|fetch|replace|ship|send|post)(?= ?:)|"
    r"(?:bring|take|pick up|ring|email|print|collect|ask|fetch|sort out|sort|clean|wash|post|send|"
    r"need to buy|need to get|packing list|we're missing|we are missing|i'm missing|we lack|wanted|"
    r"to-buy)(?= ?:)|(?:bevor ich'?s? (?:es )?vergesse|(?:jot this down )?before i forget|"
    r"auch noch)(?= ?:)|(?:mitbringen|mitnehmen|einpacken|packen|anrufen|kaufen|bestellen|klären|"
    r"nachfragen|abholen|holen|ausdrucken|drucken|schreiben|putzen|organisieren|vorbereiten|"
    r"reparieren|packliste|nicht vergessen|noch (?:zu )?\w+en|zu (?!beachten|wissen|sagen|sehen|"
    r"lesen)\w+en|auf der liste|auf dem zettel|was (?:noch )?fehlt|wir brauchen|ich brauche|"
    r"benötigt werden|benötigt)(?= ?:)|next steps?|next(?: up)?(?=:)|(?:also|außerdem|reminder|"
    r"note to self|erinnerung|merkzettel|notiz an mich|buy|call|shopping|get|order|fix|pack|"
    r"bring)(?= ?:)|to-?dos?(?: list)?|to do(?: list| next| today| still| tomorrow)?|(?:tasks|"
    r"jobs)(?= ?:)|action items?|open (?:points|items|tasks|issues|questions)|steps left|"
    r"still (?:to do|open|missing|needed|outstanding|left|to come|to buy|to get)|left(?: to do|"
    r" over)?|(?:is |are )?(?:still )?missing|remaining(?: tasks| items| steps| work)?|outstanding|"
    r"to (?:buy|get|call|order|pack|bring|ask|check|fix|book)|still needed|(?:nächste|weitere|"
    r"letzte|offene) (?:schritte|punkte|aufgaben)|als nächstes|nächster schritt|(?:ich |wir |i |"
    r"we )?(?:still |noch )?(?:brauche|brauchen|need|needed)(?: noch)?(?= ?:)|noch zu (?:erledigen|"
    r"tun|machen|kaufen|besorgen)|(?:noch|immer noch) offen|offen(?= ?:)|zu erledigen|zu tun|"
    r"zu kaufen|fehlt noch|fehlen noch|(?:noch )?fehlt|(?:noch )?fehlen|es fehlt noch|"
    r"es fehlen noch|bleibt noch|bleibt|bleiben noch|übrig|ausstehend|aufgaben|noch(?= ?:)|"
    r"einkaufen(?= ?:)|einkaufsliste|shopping list|besorgen(?= ?:)|rest(?= ?:))(?: (?:is|are|ist|"
    r"sind|wäre|wären|now|jetzt|today|heute))?(?P<colon> ?:)? ?(?P<rest>.*)$"
)
IS_LEFT = pattern(
    r"^(?:(?:but|and|so|only|now|just|aber|und|nur|jetzt|also|es|"
    r"then) )*(?P<what>[^:]{2,160}?) (?:(?:is|are) (?:still |yet |also |all |now |"
    r"the only things? )*(?:to do|left to do|to be done|undone|not (?:yet )?done|not done yet|"
    r"unfinished)|(?:is|are) (?:(?:still|yet|also|all|now|the only things?) )+(?:left|open)|"
    r"(?:still|also) (?:to do|left|open|to be done)|remains?(?: to be done| open| to do)?|(?:ist|"
    r"sind) (?:noch |auch |immer |nach wie vor )*(?:zu tun|zu machen|zu erledigen|offen|"
    r"nicht (?:erledigt|fertig|gemacht))|bleibt noch(?: zu tun)?|noch offen|noch zu (?:tun|machen|"
    r"erledigen))(?: for (?:next week|tomorrow|later)| yet| today)?[.!]*$"
)
MISSING = pattern(
    r"(?:^|[,;:] |\b(?:but|and|aber|und|now|jetzt) )(?:(?:now|jetzt|only|nur|es|there's|there is|"
    r"what's|what is|was|das einzige|that) )*(?:(?:fehlt|fehlen)(?: mir| uns| jetzt|"
    r" nur)*(?: noch)(?: mir| uns| nur)*|(?:(?:bleibt|bleiben)(?: jetzt| nur| also)* noch)|"
    r"(?:still )?(?:left|missing|to do|remaining|outstanding|remains) (?:is|are|still)?(?<=is|re)|"
    r"still missing|all that(?:'s| is) left is(?: to)?|the only things? left (?:is|"
    r"are)(?: to)?):? (?P<what>[^:;]{2,200})$"
)
NEEDS = pattern(
    r"^(?:(?:and|but|so|also|then|now|und|aber|außerdem|jetzt|dann) )*(?:(?:i|we) (?:(?:still|also|"
    r"now|do|will) ){1,2}need|(?:i|we) need(?= [^.!?]*\b(?:as well|too|still)\b)|still need|"
    r"need(?= [^:;]{2,80}(?:,| and ))|(?:brauche|brauchen|benötige|benötigen) (?:ich |wir |jetzt |"
    r"dann )*(?:auch )?noch|(?:brauche|brauchen|benötige)(?= [^:;]{2,80}(?:,| und ))|(?:ich|"
    r"wir) (?:brauche|brauchen|benötigen) (?:jetzt |dann |auch )*noch) (?!to |your |more time|"
    r"time |help|an? hour)(?P<what>[^:;]{2,200})$"
)
BARE = pattern(
    r"^(?:(?:und|aber|dann|danach|morgen|heute|jetzt|außerdem|anschließend|als nächstes|später|"
    r"nachher|bitte|also|auch|next|am (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|"
    r"sonntag)) )*(?:noch|am besten(?: noch| erst ?mal| gleich| zuerst| vorher)) (?:schnell |kurz |"
    r"unbedingt |dringend |auch )*(?P<what>[^:;]{3,160})$"
)
THEN = pattern(
    r"^(?:(?:und|and|außerdem|zusätzlich|danach|dann|anschließend|als nächstes|nachher|also|"
    r"afterwards|next|then|after that|tomorrow|morgen|jetzt|now)[,:]? )+(?P<what>[^:;]{3,160})$"
)
STAYS = pattern(
    r"(?:^|[,;:] )(?P<what>[^,:;]{2,80}?) (?:still )?(?:needs?|"
    r"wants) (?P<verb>[a-z]{3,14}ing)(?: (?:again|soon|first|too|as well))?[.!]*$"
)
PASSIVE = pattern(
    r"be (?:[a-z]{2,20}ed|done|sent|paid|made|bought|written|built|found|set|put|taken|given|"
    rf"chosen|kept|told|brought|sold|redone|rewritten){END}"
)
TAIL_END = pattern(
    r"[;(]|\.{3}|…|,? (?=(?:about|around|ca\.?|etwa|approx\w*|roughly|ungefähr|~) ?\d)|, (?=(?:it|"
    r"he|she|they|we|i|es|er|sie|wir|ich) )| und (?=(?:ich|wir|habe|hab|haben|bin|ist|sind|er|sie|"
    r"es) )| (?:because|but|so that|weil|aber|sonst|damit|otherwise|since|as soon as) |, (?:but|"
    r"because|which|so|weil|aber|sonst|damit|denn|otherwise) | [-–] | (?:and|und) ?$"
)
PARTS = pattern(r", ?(?:and |und )?|; ")
LAST_PART = pattern(r"^(.{2,160}) (?:and|und) (.{2,160})$")
LETTER = re.compile(f"[{LETTERS}]")
SMALL_WORD = re.compile("[a-zà-öø-þ][^A-ZÀ-ÖØ-Þ]")  # "iPhone" keeps its own way
OF_WHAT = word_set(
    "what whatever all everything anything something where how why who which things the a an any "
    "our their no was alles etwas weil dass"
)
NO_VERBS = word_set(
    "arrive reach happen go leave run wait think hurry sleep eat stop look laugh see say admit "
    "agree know confess wonder laugh remember think believe sagen zugeben gestehen wissen lachen"
)
VAGUE = word_set(
    "before that it this that them so now again also soon das es dies jetzt later home go"
)
ANEW = word_set("neu wieder nochmal erneut")
THEM = word_set("them him her ihn ihnen")
AND = pattern(r",? (?:and|und|&|then|dann|and then|und dann) |, ?|; ")
LATER_HEADER = pattern(
    r"[;,–-] (?:and |und |but |aber )?(?:still (?:to do|open|missing|left)|left(?: to do)?|to do|"
    r"remaining|noch offen|offen|fehlt noch|noch zu (?:tun|erledigen|machen)|es fehlt noch|"
    r"noch)(?P<colon>:) (?P<rest>.*)$"
)
LEAD = pattern(r"^(?:but|and|so|also|aber|und|außerdem|dann|then|now|jetzt) ")
LEADS = word_set(
    "and also but so then now first today tomorrow still just next anyway however plus oh ok okay "
    "und auch aber also dann jetzt heute morgen erst danach außerdem leider ich wir i we all that "
    "only what's what's left is left remaining"
)
NOT_MINE = word_set(
    "answer answers reply replies antwort antworten rückmeldung zusage bestätigung confirmation "
    "genehmigung freigabe approval response shop laden geschäft nothing nichts lust motivation "
    "question frage time zeit minutes minuten hours stunden euro euros days tage money geld "
    "progress permit signature delivery parts lieferung unterschrift weeks wochen entscheidung "
    "decision news he she they er sie luft schritt"
)
HABITS = word_set("every always usually often each jeden jede jedes immer täglich oft meistens")
IF = pattern(r"^(?:and |but |und |aber )?(?:if|falls|wenn|in case|unless|provided) ")
BY_OTHERS = pattern(
    r"(?:das|dies) (?:macht|machen|übernimmt|erledigt) (?!ich|wir)|(?:he|she|they)(?: will|"
    r"'ll) do (?:it|that)|(?:does|will do|takes care of|is doing) (?:that|it|this)"
)
LOOSE_END = pattern(r", (?:die|der|das|they|it|he|she|we|i|ich|wir|which|and|und)$")
SHALL = pattern(r"^(?:soll|sollen|sollte|sollten|muss|müssen) (?:ich|wir) [^.!]*[^.!]$")
BEFORE = word_set("before after until bevor nachdem")
THINGS = word_set("it this that they everything es das alles dies er sie he she")
AT = pattern(r"^(?:vor|nach|bis|bei|beim|im|in|am|an|für|mit|zum|zur|auf|um|ab) ")
FILLERS = word_set("noch auch still as well too soon again bald dann unbedingt dringend erst")
ARTICLE_DE = pattern(r"^(?:der|die|das|den|dem|ein|eine|einen) ")
NO_ORDER = word_set(
    "kann's geht's losgehen weitergehen können kann müssen muss wollen wir ich er sie es ist sind "
    "hat haben werden wird soll i we is are was it must has have this dahin gehen geht gibt i'll "
    "we'll nicht lassen uns"
)
NO_INFINITIVES = word_set(
    "den einen meinen keinen ihren seinen unseren diesen jenen allen vielen wegen gegen morgen "
    "gestern dessen deren hinten vorne oben unten draußen außen innen eben neben zwischen waren "
    "hatten wollten sollten konnten mussten haben sind wurden jeden welchen großen then often been "
    "children women seven ten garden even when kitchen oven taken given token kleinen neuen alten "
    "ersten letzten nächsten guten bisschen offen trocken können müssen"
)
_GET = pattern(
    r"^(?:(?:also|and|then|auch|noch|und|dann|bitte|please) )*(?:(?:i |we |ich |wir )?(?:need|get|"
    r"buy|grab|brauche|brauchen|kaufen?|hole?n?|add)(?: noch| auch| some)? )?"
)
_LIST_MARK = pattern(r", ?(?:(?:and|und|but|aber) )?|; | (?:and|und|but|aber|&|\+) ")
_SO = pattern(
    r"^(?:(?:also|then|next|please|now|and|auch|dann|bitte|noch|jetzt)[,:]? )+| (?:please|pls|"
    r"bitte)$"
)
_BRING = pattern(
    r"^(?:bring|take|pack|buy|get|pick up|order|collect|fetch) (?P<what>[^:;.?]{2,60}(?:,|"
    r" and )[^:;.?]{2,80})$"
)
_SELVES = word_set("i we he she they you it ich wir er sie ihr du es who which that")
_NOUNS = (lemmas.UNCHANGED - {"clean", "empty"}) | word_set(
    "answer visit walk ship rest help plan water post hand hang light tag label rename drop skip "
    "forget leave keep wait think see say tell feel go run look show hold meet win lose begin"
)
_MARKS = frozenset(':"„?=✅✔✓☑❌(')
_GERMAN = word_set("der die das den dem ein eine einen mal und nicht noch")
_WHEN = word_set(
    "zum zur vor binnen innerhalb bis spätestens am ab heute morgen übermorgen sofort bald"
)
_NO_OBJECT = word_set(
    "from with to of in at on for is was went by and or after before nice great good well back day"
)
DUTIES = (NEED, MUST, REMEMBER)
IS_TO = pattern(
    r"^(?:(?:und|aber|auch) )?(?P<what>[^:;,]{2,80}?) (?:ist|sind|bleibt|"
    rf"bleiben) (?:auch )?noch (?P<verb>zu [{LETTERS}]{{3,20}}en|"
    rf"[{LETTERS}]{{2,8}}zu[{LETTERS}]{{3,20}}en)[.!]*$"
)
LEFT = (IS_TO, STAYS, IS_LEFT, MISSING, NEEDS, BARE, THEN)
