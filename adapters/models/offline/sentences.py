"""Texts as sentences, and the helpers that all phrase rules share.

Patterns are ASCII and case-insensitive with the German letters spelled out, so they match the
same text under every Python; every repetition in them is bounded. Code blocks and quotes are
not read: they are somebody else's words.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from domain.text import cut, fold, squeeze

QUOTE_LENGTH_MAX = 160
CONTEXT_CHARS_MAX = 120
WRAPPED_MIN = 60
"""A shorter line was broken by the person."""

LETTERS = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"
START = f"(?<![{LETTERS}0-9_])"
END = f"(?![{LETTERS}0-9_])"


def word_set(text: str) -> frozenset[str]:
    """The words of a space-separated list."""
    return frozenset(text.split())


NEGATIVE = word_set(
    "not no never without nothing none hardly don't doesn't didn't isn't wasn't aren't haven't "
    "hasn't won't can't cannot shouldn't neither nor nicht kein keine keinen nie weder niemals "
    "nichts ohne"
)
CONDITIONAL = word_set(
    "if when whenever once unless whether might may could would should maybe perhaps wenn falls "
    "sobald ob könnte könnten würde würden vielleicht sollte sollten"
)

_SPEECH = word_set(
    "says said tells told writes wrote asks asked thinks thought means meant claims suggests "
    "suggested mentioned wants wanted sagt sagte schreibt schrieb meint meinte fragt fragte findet "
    "fand behauptet denkt dachte"
)
_OWN_LEAD = word_set(
    "decided agreed decision outcome summary summarised correction kickoff minutes recap result "
    "beschlossen beschluss ergebnis korrektur protokoll fazit done finished update note status now "
    "ps info fyi time log fertig erledigt stand notiz zeit nun"
)
_LEAD = re.compile("^([^:]{1,60}): ")
_NAME = rf"[A-ZÄÖÜ][{LETTERS}.]{{1,20}}"
_SPEAKER = re.compile(rf"^(?:{_NAME} )?{_NAME}(?: \([^)]{{1,20}}\))?: (?P<said>.*)")
_SPEAKS = re.compile(
    r"^(?:[\"„“'»]|.{0,60}\b(?:i|i'm|i'll|i've|my|me|you|your|we|ich|mein|meine|mir|mich|du|dein|"
    r"deine|dir|wir|ihr|euch|please|bitte)\b)",
    re.IGNORECASE,
)
_TOPICS = word_set(
    "todo to do next still open left missing reminder remember important urgent plan deadline due "
    "blocked waiting problem idea result offen noch nächste nächster nächstes schritt wichtig "
    "dringend frist abgabe merke achtung aufgabe rest also und and first erstens zweitens"
)
OWN_HEADS = _OWN_LEAD | _TOPICS
"""Words before a colon that name nobody."""
_OTHERS_BELOW = re.compile(
    r"^(?:(?:On|Am) .{5,90}(?:wrote|schrieb).{0,60}:|-{2,} ?(?:Original|Forwarded|Ursprüngliche|"
    r"Weitergeleitete) .*|(?:Von|From): .{2,80}@.{2,80})$"
)

_MONTH_STARTS = "Jan|Jän|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez"
_ABBREVIATIONS = word_set(
    "ca z b zb d u a e g i nr no st std min bzw usw etc dr mr mrs ms vs approx evtl ggf inkl max "
    "jan feb mar apr jun jul aug sep sept oct okt nov dec dez"
)
_UMLAUTS = (
    ("ä", "(?:[äÄ]|ae)"),
    ("ö", "(?:[öÖ]|oe)"),
    ("ü", "(?:[üÜ]|ue)"),
    ("ß", "(?:ß|ss)"),
)


def pattern(source: str) -> re.Pattern[str]:
    """Compile a phrase; umlauts match in both cases. Not for umlauts in a character class."""
    source = source.replace(r"[\w", f"[{LETTERS}0-9_").replace(r"\w", f"[{LETTERS}0-9_]")
    for letter, either in _UMLAUTS:
        source = source.replace(letter, either)
    return re.compile(source, re.IGNORECASE | re.ASCII)


_BULLET = pattern(
    rf"(?P<mark>(?:[-*+•–]|\d{{1,3}}[.)](?! (?:{_MONTH_STARTS}))) )?(?:\[(?P<box>[ x])\] |"
    r"(?P<tick>[✓✔✅]) ?)?"
)
_STOP = re.compile(r"[.!?…]{1,8}(?= |$)")
_HEADED = re.compile("[^:]{1,20}: ?")
_LAST_WORD = re.compile(rf"[{LETTERS}0-9]{{1,20}}$")
_WORD = re.compile(rf"[{LETTERS}0-9']{{1,40}}")
_CLAUSE = re.compile(r"[,;:(]")
_GOES_ON = re.compile(rf" (?:[a-zà-öø-ÿ]|{_MONTH_STARTS})")
_FORGET = pattern(r"(?:don't|do not) forget|nicht vergessen|vergiss nicht")


class TextLine(Struct, frozen=True):
    """A line of text without its list mark."""

    text: str
    is_bullet: bool = False
    box: str = ""  # "", " " (open) or "x"


def lines(text: str) -> Iterator[TextLine]:
    """The lines outside code blocks and quotes, up to a mail below; a blank one is empty."""
    is_code = False
    for raw in _unwrapped(text):
        line = squeeze(raw)
        if line.startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not line.startswith((">", "|")):
            if _OTHERS_BELOW.match(line):
                return
            yield _line(line)


def _unwrapped(text: str) -> Iterator[str]:
    """The lines as they were before a mail program broke them."""
    kept = ""
    for line in text.splitlines():
        is_broken = len(kept) >= WRAPPED_MIN and kept[-1:] not in ".!?:" and line[:1].islower()
        if is_broken and not _HEADED.match(line):
            kept += " " + line
            continue
        if kept:
            yield kept
        kept = line
        if not line:
            yield line
    if kept:
        yield kept


def sentences(text: str) -> Iterator[str]:
    """The sentences of one line, each with its full stop.

    >>> list(sentences("Dauert ca. 2 h. Bis 4. Dezember fertig!"))
    ['Dauert ca. 2 h.', 'Bis 4. Dezember fertig!']
    """
    start = 0
    for stop in _STOP.finditer(text):
        if not _is_abbreviation(text, stop):
            yield text[start : stop.end()]
            start = stop.end() + 1
    if start < len(text):
        yield text[start:]


def is_question(sentence: str) -> bool:
    """Whether the sentence asks."""
    return "?" in sentence[-8:]


def is_hearsay(sentence: str, position: int) -> bool:
    """Whether what begins at a position is somebody else's speech, as far as that can be told."""
    lead = _LEAD.match(sentence)
    if lead and lead.end() <= position and not _OWN_LEAD.issuperset(words(lead[1])):
        return True
    return is_quoted(sentence, position) or not _SPEECH.isdisjoint(words(sentence))


def is_quoted(sentence: str, position: int) -> bool:
    """Whether what begins at a position stands in quotes, or after who says it: "Anna: I ..."."""
    head = sentence[:position]
    if head.count('"') % 2 == 1 or head.count("„") > head.count("“") + head.count("”"):
        return True
    lead = _SPEAKER.match(sentence)
    if lead is None or lead.start("said") > position or _SPEAKS.match(lead["said"]) is None:
        return False
    return OWN_HEADS.isdisjoint(words(sentence[: lead.start("said")]))


def words(text: str) -> list[str]:
    """The words of a text, folded."""
    return _WORD.findall(fold(text))


def clause_before(sentence: str, position: int) -> frozenset[str]:
    """The folded words of the clause before a position; "don't forget" denies nothing."""
    head = sentence[max(0, position - CONTEXT_CHARS_MAX) : position]
    return frozenset(words(_FORGET.sub("", _CLAUSE.split(head)[-1])))


def quote(sentence: str, start: int, end: int) -> str:
    """The sentence, or in a long one the words around a span."""
    if len(sentence) <= QUOTE_LENGTH_MAX:
        return sentence
    begin = max(0, min(start, end - QUOTE_LENGTH_MAX // 2))
    lead = "…" if begin else ""
    return lead + cut(sentence[begin:], length_max=QUOTE_LENGTH_MAX - len(lead))


def contains(whole: str, part: str) -> bool:
    """Whether a folded text holds another as whole words."""
    position = whole.find(part)
    while position >= 0:
        before, after = whole[:position][-1:], whole[position + len(part) :][:1]
        if not _WORD.match(before) and not _WORD.match(after):
            return True
        position = whole.find(part, position + 1)
    return False


def _line(line: str) -> TextLine:
    mark = _BULLET.match(line)
    rest = line[mark.end() :] if mark else line
    box = "" if mark is None else "x" if mark["tick"] else box_of(mark["box"])
    is_bullet = bool(mark and (mark["mark"] or box))
    return TextLine(rest.replace("**", "").replace("__", ""), is_bullet, box)


def box_of(box: str | None) -> str:
    """What stands in a box: nothing, a blank, or ``x``."""
    return "" if box is None else "x" if box in "xX" else " "


def _is_abbreviation(text: str, stop: re.Match[str]) -> bool:
    """Whether a full stop belongs to its word: "ca.", "4. Dezember", "z. B."."""
    last = _LAST_WORD.search(text, max(0, stop.start() - 20), stop.start())
    if stop[0] != "." or last is None or stop.end() >= len(text):
        return False
    if last[0].isdecimal():
        return len(last[0]) <= 2 and _GOES_ON.match(text, stop.end()) is not None
    if fold(last[0]) == "no":  # a number, or the end of "he said no."
        return text[stop.end() + 1 : stop.end() + 2].isdecimal()
    return fold(last[0]) in _ABBREVIATIONS


# ----------------------------------------------------------------------------- what a sentence says


class Phrase(Struct, frozen=True):
    """A value, and the words it was read from."""

    value: str
    quote: str
