"""Checklist items that a text asks for: "need to ...", "TODO: ...", "muss noch ...", lists.

What is proposed is a span of the text, with a capital letter at most. Third persons' duties
("Bob needs to ...") are not the user's; only the passive counts ("the invoice needs to be paid").
"""

import re
from collections.abc import Iterator

from adapters.models.phrases import Phrase
from adapters.models.sentences import (
    CONDITIONAL,
    END,
    LETTERS,
    NEGATIVE,
    START,
    Line,
    clause_before,
    is_question,
    lines,
    pattern,
    quote,
    sentences,
    word_set,
    words,
)
from domain.text import cut

TITLE_LENGTH_MAX = 200
TODOS_MAX = 200

_SELF = "i|we|you|someone|somebody|one|ich|wir|man|jemand"
_NEED = pattern(
    rf"{START}(?:(?P<who>{_SELF})(?P<short>'ve|'ll)? )?"
    r"(?:(?:still|also|just|really|will|now|first|then|urgently|definitely|only|both|all) ){0,3}"
    r"(?:needs?|have|has|got) (?:got )?to (?=[^ ])"
)
_MUST = pattern(
    rf"{START}(?:(?P<who>{_SELF}) )?(?:muss|müssen)"
    r"(?: (?P<whom>ich|wir|man|jemand))?(?: (?:also|aber|dann|auch|unbedingt|dringend)){0,2}"
    r"(?P<noch> noch)? (?=[^ ])"
)
_REMEMBER = pattern(
    rf"{START}(?:(?:don't|do not) forget(?: to |: ?)|remember to |vergiss nicht,? |"
    r"nicht vergessen[:,] ?|denke? (?:bitte )?(?:daran|dran),? )(?=[^ ])"
)
_NOT_FORGET = pattern(r"^(?P<what>.{3,200}) nicht vergessen[.!]?$")
_TODO = re.compile(
    rf"^[^{LETTERS}0-9]{{0,8}}TODO(?:\([^)]{{0,40}}\))?[:,]? ?"
    r"(?P<rest>(?!lists?|items?|app|comments?)[^:, ].*)$"
)
_HEADER = pattern(
    r"^(?:#{1,6} )?(?:(?:the|my|our|die|meine|unsere) )?"
    r"(?:next steps?|to-?dos?(?: list)?|to do|action items?|open (?:points|items|tasks)|"
    r"still to do|left to do|remaining(?: tasks| items)?|nächste schritte|offene punkte|"
    r"noch zu erledigen|noch zu tun|noch offen|zu erledigen)(?P<colon> ?:)? ?(?P<rest>.*)$"
)
_PASSIVE = pattern(
    r"be (?:[a-z]{2,20}ed|done|sent|paid|made|bought|written|built|found|set|put|taken|given|"
    rf"chosen|kept|told|brought|sold|redone|rewritten){END}"
)
_TAIL_END = pattern(
    r"[;(]|\.{3}|…| (?:because|but|so that|weil|aber|sonst|damit|otherwise|since|as soon as) "
    r"|, (?:but|because|which|so|weil|aber|sonst|damit|denn|otherwise) | [-–] "
    r"| (?:and|und) ?$"
)
_PARTS = pattern(r", ?(?:and |und )?|; ")
_LAST_PART = pattern(r"^(.{2,160}) (?:and|und) (.{2,160})$")
_LETTER = re.compile(f"[{LETTERS}]")
_SMALL_WORD = re.compile("[a-zà-öø-þ][^A-ZÀ-ÖØ-Þ]")  # "iPhone" keeps its own way
_OF_WHAT = word_set(
    "what whatever all everything anything something where how why who which things the a an "
    "any our their no was alles etwas weil dass"
)
_NO_VERBS = word_set(
    "say admit agree know confess wonder laugh remember think believe sagen zugeben gestehen "
    "wissen lachen"
)
_VAGUE = word_set("it this that them so now again also soon das es dies jetzt later home go")


def todos(text: str) -> list[Phrase]:
    """Items that a text asks for, in its order; the value is the title.

    >>> [todo.value for todo in todos("We still need to call the bank.\\nTodo: buy ink, print")]
    ['Call the bank', 'Buy ink', 'Print']
    """
    found: list[Phrase] = []
    listing = ""  # the header above the bullets, if there is one
    for line in lines(text):
        header = _HEADER.match(line.text)
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
    todo = _TODO.match(line.text)
    if header is not None and (header["colon"] or not header["rest"]):
        return _listed(header["rest"], line.text)
    if todo is not None:
        return _listed(todo["rest"], line.text)
    if line.is_bullet and (listing or line.box):
        titles = [_title(next(sentences(line.text), ""))]
        return [Phrase(title, quote(line.text, 0, 0)) for title in titles if title]
    return [
        phrase
        for sentence in sentences(line.text)
        if not is_question(sentence)
        for phrase in (_listed_within(sentence) or _of_sentence(sentence))
    ]


def _listed_within(sentence: str) -> list[Phrase]:
    """The elements of a list that begins a later sentence: "Done: a. Still to do: b, c."."""
    header = _HEADER.match(sentence)
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
    parts = [part for part in _PARTS.split(text) if part]
    if len(parts) > 1 and (last := _LAST_PART.match(parts[-1])):
        parts[-1:] = [last[1], last[2]]
    return [title for part in parts if (title := _title(part))]


def _of_sentence(sentence: str) -> Iterator[Phrase]:
    cues = sorted(
        (match for rule in (_NEED, _MUST, _REMEMBER) for match in rule.finditer(sentence)),
        key=lambda match: match.start(),
    )
    ends = [*(match.start() for match in cues[1:]), len(sentence)]
    for match, end in zip(cues, ends, strict=False):
        what = _TAIL_END.split(sentence[match.end() : end])[0]
        if title := _asked(sentence, match, what):
            yield Phrase(title, quote(sentence, match.start(), match.end() + len(what)))
    last = _NOT_FORGET.match(sentence)
    if last is not None and not cues and (title := _title(last["what"])):
        yield Phrase(title, quote(sentence, 0, len(sentence)))


def _asked(sentence: str, match: re.Match[str], what: str) -> str:
    """The title of what a cue asks for; empty if it asks for nothing of the user."""
    if match.re is _REMEMBER:
        return _title(what)
    said = words(what)
    before = clause_before(sentence, match.start())
    is_german = match.re is _MUST
    if not (NEGATIVE | CONDITIONAL | _OF_WHAT).isdisjoint(_near(sentence, match, before)):
        return ""
    if is_german and not (match["noch"] or "noch" in said):
        return ""
    if len(said) < 2 or said[0] in _NO_VERBS or not NEGATIVE.isdisjoint(said[:4]):
        return ""
    if _VAGUE.issuperset(said[1:]):
        return ""
    by_user = match["who"] or (match["whom"] if is_german else None)
    is_passive = "werden" in said if is_german else _PASSIVE.match(what) is not None
    if is_passive and not by_user:
        start = max(sentence.rfind(mark, 0, match.start()) for mark in ",;:") + 1
        return _title(sentence[start : match.end() + len(what)])
    return _title(what) if by_user or not before else ""


def _near(sentence: str, match: re.Match[str], before: frozenset[str]) -> frozenset[str]:
    """Words that deny a duty anywhere in its clause, or right before it make it another's."""
    close = words(sentence[max(0, match.start() - 24) : match.start()])[-2:]
    has_subject = bool(match["who"])
    return (before - _OF_WHAT) | frozenset(close if has_subject else close[-1:])


def _title(span: str) -> str:
    title = span.strip(" .,:;!-–*`\"'„“”")
    for polite in ("please ", "bitte "):
        title = title.removeprefix(polite)
    if len(title) < 2 or _LETTER.search(title) is None:
        return ""
    if _SMALL_WORD.match(title):
        title = title[0].upper() + title[1:]
    return cut(title, length_max=TITLE_LENGTH_MAX)
