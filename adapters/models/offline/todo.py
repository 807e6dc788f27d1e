"""Checklist items that a text asks for: "need to ...", "TODO: ...", "muss noch ...", lists.

What is proposed is a span of the text, with a capital letter at most. Third persons' duties
("Bob needs to ...") are not the user's; only the passive counts ("the invoice needs to be paid").
"""

import re
from collections.abc import Iterator, Sequence

from adapters.models.offline import lemmas
from adapters.models.offline import todo_phrases as ask
from adapters.models.offline.clauses import Clause, Sentence, read
from adapters.models.offline.phrase import Phrase
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    Line,
    clause_before,
    is_quoted,
    lines,
    quote,
    sentences,
    words,
)
from domain.text import cut

TITLE_LENGTH_MAX = 200
TODOS_MAX = 200
VERB_LENGTH_MIN = 4


def todos(text: str) -> list[Phrase]:
    """Items that a text asks for, in its order; the value is the title.

    >>> [todo.value for todo in todos("We still need to call the bank.\\nTodo: buy ink, print")]
    ['Call the bank', 'Buy ink', 'Print']
    """
    found: list[Phrase] = []
    listing = ""  # the header above the bullets, if there is one
    for line in lines(text):
        header = ask.HEADER.match(line.text)
        if header is not None and not header["rest"]:
            listing = line.text
        elif line.text and not line.is_bullet:
            listing = ""
        found += _of_line(line, header, listing)
        if len(found) > TODOS_MAX:
            break
    return found[:TODOS_MAX]


def _of_line(line: Line, header: re.Match[str] | None, listing: str) -> list[Phrase]:
    if line.box == "x":
        return []
    todo = ask.TODO.match(line.text)
    if header is not None and (header["colon"] or not header["rest"]):
        return _listed(header["rest"], line.text)
    if todo is not None:
        return _listed(todo["rest"], line.text)
    if line.is_bullet and (listing or line.box):
        titles = [_title(next(sentences(line.text), ""))]
        return [Phrase(title, quote(line.text, 0, 0)) for title in titles if title]
    return [phrase for one in read(line.text) if not one.is_asked for phrase in _of_sentence(one)]


def _of_sentence(sentence: Sentence) -> list[Phrase]:
    listed = _listed_within(sentence.text)
    if listed:
        return listed
    asked = list(_duties(sentence))
    return asked or [one for clause in sentence.clauses for one in _left(sentence, clause)]


def _listed_within(sentence: str) -> list[Phrase]:
    """The elements of a list that begins a later sentence: "Done: a. Still to do: b, c."."""
    header = ask.HEADER.match(sentence) or ask.LATER_HEADER.search(sentence)
    if header is not None and header["colon"] and header["rest"]:
        return _listed(header["rest"], sentence)
    return []


def _listed(rest: str, line: str) -> list[Phrase]:
    """The elements of "todo: a, b and c"; without a comma it is one element."""
    first = next(sentences(rest), "")
    start = line.find(rest)
    return [Phrase(title, quote(line, start, start + len(first))) for title in elements(first)]


def elements(text: str) -> list[str]:
    """The titles in "a, b and c"."""
    parts = [part for part in ask.PARTS.split(text) if part]
    if len(parts) > 1 and (last := ask.LAST_PART.match(parts[-1])):
        parts[-1:] = [last[1], last[2]]
    if len(parts) == 1:
        return _deeds(parts[0])
    return [title for part in parts if (title := _title(part))]


def _things(text: str) -> list[str]:
    """The titles in "a, b and c" or "a and b"."""
    parts = elements(text)
    last = ask.LAST_PART.match(parts[0]) if len(parts) == 1 else None
    return [title for one in (last[1], last[2]) if (title := _title(one))] if last else parts


def _deeds(what: str) -> list[str]:
    """What is to be done: "call Bob, email Ann and pay" are three, "sand and paint it" is one."""
    wished = _wished(what)
    if wished:
        return wished
    last = what.rstrip(" .!").rsplit(" ", 1)
    if len(last) == 2 and (verb := lemmas.from_to(last[1])):
        what = f"{ask.ARTICLE_DE.sub('', last[0])} {verb}"
    elif len(last) == 2 and last[0].endswith(" zu"):
        what = f"{ask.ARTICLE_DE.sub('', last[0][:-3])} {last[1]}"
    parts = [one for one in ask.AND.split(what) if one.strip()]
    is_list = len(parts) > 1 and all(len(words(one)) > 1 for one in parts)
    if is_list and (all(map(is_order, parts)) or all(map(is_wish, parts))):
        return [title for one in parts if (title := _title(one))]
    title = _title(what)
    return [title] if title else []


def _wished(what: str) -> list[str]:
    """The titles in "die Oma anzurufen und das Zimmer zu buchen"; none where a part is no such."""
    parts = [one for one in ask.AND.split(what.rstrip(" .!")) if one.strip()]
    ends = [one.rsplit(" ", 1) for one in parts]
    is_all = all(
        len(end) == 2 and (lemmas.from_to(end[1]) or end[0].endswith(" zu")) for end in ends
    )
    return [title for one in parts for title in _deeds(one)] if is_all and len(parts) > 1 else []


def is_order(part: str) -> bool:
    """Whether it begins with an English verb: "call Bob"."""
    first = next(iter(words(part)), "")
    return lemmas.is_verb(first)


def is_wish(part: str) -> bool:
    """Whether it ends in a German infinitive: "Bob anrufen"."""
    last = part.rstrip(" .!").rsplit(" ", 1)[-1]
    is_infinitive = last.endswith(("en", "ern", "eln", "tun")) and last.islower()
    return is_infinitive and len(last) >= VERB_LENGTH_MIN and last not in ask.NO_INFINITIVES


def _duties(sentence: Sentence) -> Iterator[Phrase]:
    text = sentence.text
    cues = sorted(
        (match for rule in ask.DUTIES for match in rule.finditer(text)),
        key=lambda match: match.start(),
    )
    ends = [*(match.start() for match in cues[1:]), len(text)]
    for match, end in zip(cues, ends, strict=False):
        what = ask.TAIL_END.split(text[match.end() : end])[0]
        for title in _asked(text, match, what):
            yield Phrase(title, quote(text, match.start(), match.end() + len(what)))
    last = ask.NOT_FORGET.match(text)
    if last is not None and not cues and not is_quoted(text, last.start("what")):
        for title in (*_deeds(last["what"]), *_deeds(last["more"] or "")):
            yield Phrase(title, quote(text, 0, len(text)))


def _asked(sentence: str, match: re.Match[str], what: str) -> list[str]:
    """The titles of what a cue asks for; none if it asks for nothing of the user."""
    if is_quoted(sentence, match.start()) or not ask.HABITS.isdisjoint(words(sentence)):
        return []
    if ask.BY_OTHERS.search(sentence, match.end()) is not None:
        return []
    if ask.IF.match(sentence) is not None or ask.SHALL.match(sentence) is not None:
        return []
    said = words(what)
    if match.re is ask.REMEMBER:
        is_idle = said[:1] and said[0] in ask.NO_VERBS and "better" in match[0].lower()
        return [] if is_idle else _deeds(what)
    before = clause_before(sentence, match.start())
    is_german = match.re is ask.MUST
    denied = NEGATIVE | CONDITIONAL | ask.OF_WHAT
    if not denied.isdisjoint(_near(match, sentence, before)):
        return []
    is_duty = is_german and not match[0].lower().split()[-1].startswith("soll")
    is_plain = is_duty and bool(match["who"] or match["whom"]) and is_wish(what)
    is_plain = is_plain or (len(said) > 1 and said[-1] == "werden")
    if is_german and match["whom"] and len(said) == 1 and is_wish(what):
        start = max(sentence.rfind(mark, 0, match.start()) for mark in ",;:") + 1
        thing = ask.LEAD.sub("", sentence[start : match.start()].strip())
        return _deeds(f"{thing} {what}") if thing and not _is_hollow(thing) else []
    if is_german and not (is_plain or match["noch"] or "noch" in said):
        return []
    if _is_vague(said):
        return []
    by_user = match["who"] or (match["whom"] if is_german else None)
    is_passive = "werden" in said if is_german else ask.PASSIVE.match(what) is not None
    if is_passive and not by_user:
        start = max(sentence.rfind(mark, 0, match.start()) for mark in ",;:") + 1
        thing = ask.LEAD.sub("", sentence[start : match.start()].strip())
        title = _ordered(thing, what)
        if not title and ask.AT.match(thing) is None:
            title = _title(sentence[start : match.end() + len(what)])
        is_thing = not ask.THINGS.issuperset(words(thing)) and not _is_hollow(thing)
        return [title] if title and is_thing else []
    if said[0] in ("be", "have") or ({*said} & {"fertig", "sein"} and "werden" not in said):
        return []
    is_own = by_user or ask.LEADS.issuperset(before)
    return _deeds(what) if is_own else []


def _ordered(thing: str, what: str) -> str:
    """ "The drain needs to be cleaned" as an order: "Clean the drain", "Abfluss reinigen"."""
    said = what.strip(" .!").split(" ")
    if not (CONDITIONAL | ask.BEFORE).isdisjoint(words(thing)):
        return ""
    if said[0] == "be":
        verb = lemmas.infinitive(said[1].lower()) if len(said) > 1 else ""
        if not verb or verb == "do":
            return ""
        rest = "" if {*said[2:]} <= ask.FILLERS else " " + " ".join(said[2:])
        lower = thing[:1].lower() + thing[1:] if thing[:4].lower() == "the " else thing
        return _title(f"{verb} {lower}{rest}")
    if said[-1] != "werden" or len(said) < 2:
        return ""
    verb = lemmas.infinitive(said[-2])
    others = [one for one in said[:-2] if one not in ask.FILLERS]
    if "und" in others or ask.AT.match(thing):
        return ""
    bare = ask.ARTICLE_DE.sub("", thing)
    return _title(" ".join([bare, *others, verb])) if verb else ""


def _is_vague(said: Sequence[str]) -> bool:
    if len(said) < 2 or said[0] in ask.NO_VERBS or not NEGATIVE.isdisjoint(said[:4]):
        return True
    return ask.VAGUE.issuperset(said[1:])


def _near(match: re.Match[str], sentence: str, before: frozenset[str]) -> frozenset[str]:
    """Words that deny a duty anywhere in its clause, or right before it make it another's."""
    close = words(sentence[max(0, match.start() - 24) : match.start()])[-2:]
    has_subject = bool(match["who"])
    return (before - ask.OF_WHAT) | frozenset(close if has_subject else close[-1:])


def _left(sentence: Sentence, clause: Clause) -> Iterator[Phrase]:
    """What a clause says is left: "the chain is still to do", "noch Farbe kaufen"."""
    text = clause.text.strip(" .!")
    if is_quoted(sentence.text, clause.start) or clause.is_conditional:
        return
    said = quote(sentence.text, clause.start, clause.end)
    for rule in ask.LEFT:
        match = rule.search(text)
        if match is None:
            continue
        what = ask.TAIL_END.split(match["what"])[0]
        if rule in (ask.STAYS, ask.IS_TO):
            what = f"{what}\n{match['verb']}"
        for title in _of_rule(rule, what):
            if not ask.NOT_MINE.isdisjoint(words(title)) or _is_hollow(title):
                continue
            yield Phrase(title, said)
        return


def _of_rule(rule: re.Pattern[str], what: str) -> list[str]:
    if not NEGATIVE.isdisjoint(words(what)[:4]):
        return []
    if rule is ask.STAYS:
        thing, _, gerund = ask.LEAD.sub("", what).rpartition("\n")
        verb = lemmas.from_gerund(gerund.lower())
        return [_title(f"{verb} {thing[:1].lower()}{thing[1:]}")] if verb else []
    if rule is ask.IS_TO:
        thing, _, deed = what.rpartition("\n")
        if not ask.THINGS.isdisjoint(words(thing)):
            return []
        deed = lemmas.from_to(deed) or deed.removeprefix("zu ")
        return [_title(f"{ask.ARTICLE_DE.sub('', thing)} {deed}")]
    if rule in (ask.BARE, ask.THEN):
        parts = [one for one in ask.AND.split(what) if one.strip()]
        if not ask.NO_ORDER.isdisjoint(words(what)):
            return []
        is_deed = all(map(is_wish, parts)) or (rule is ask.THEN and all(map(is_order, parts)))
        return _deeds(what) if is_deed and len(words(what)) > 1 else []
    return _things(what)


def _is_hollow(title: str) -> bool:
    return (ask.VAGUE | ask.OF_WHAT | ask.LEADS).issuperset(words(title))


def _title(span: str) -> str:
    title = span.strip(" .,:;!-–*`\"'„“”")
    is_german = title.endswith(" warten") and "auf " in title.lower()
    if is_german or title.lower().startswith("wait "):
        return ""  # that is a blocker
    title = ask.LOOSE_END.sub("", title)
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
    if len(title) < 2 or ask.LETTER.search(title) is None:
        return ""
    if ask.SMALL_WORD.match(title):
        title = title[0].upper() + title[1:]
    return cut(title, length_max=TITLE_LENGTH_MAX)
