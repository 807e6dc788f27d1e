"""What single sentences say: effort, blockers, progress, urgency, what is done, the language.

Each function takes one sentence (no question) and answers with the span it read, or nothing.
The phrases are fixed; nothing here understands a sentence.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from adapters.models.sentences import (
    CONDITIONAL,
    END,
    LETTERS,
    NEGATIVE,
    START,
    clause_before,
    pattern,
    quote,
    word_set,
    words,
)
from domain.text import cut, fold

MINUTES_MAX = 1440
HOURS_PER_DAY = 8
REASON_LENGTH_MAX = 200
LANGUAGE_WORDS_MAX = 20_000

_COUNTS = {
    name: count
    for count, names in (
        (0.5, "half_a half_an half a_half ein_halber einen_halben eine_halbe halbe halber halben"),
        (1, "a an one ein eine einen einer eines"),
        (1.5, "anderthalb eineinhalb one_and_a_half"),
        (2, "two zwei"),
        (3, "three drei"),
        (4, "four vier"),
        (5, "five fünf"),
        (6, "six sechs"),
    )
    for name in names.replace("_", "~").split()
}
_COUNT = "|".join(sorted((name.replace("~", " ") for name in _COUNTS), key=len, reverse=True))
_UNIT = "h|hrs?|hours?|minutes?|minuten?|mins?|std|stunden?|days?|tage?n?"
LENGTH = (
    r"(?:\d{1,3} ?(?:-|–|to|bis) ?)?(?:(?P<digits>\d{1,4}(?:[.,]\d{1,2})?) ?"
    rf"|(?P<count>{_COUNT}) )(?P<unit>{_UNIT})(?: ?(?:and |und )?(?P<more>\d{{1,2}}) ?(?:m|min)?)?"
    rf"{END}"
)
_ABOUT = (
    r"(?:(?:about|around|roughly|approximately|approx\.?|ca\.?|circa|etwa|ungefähr|rund|maybe|"
    r"probably|wohl|up to|at least|mindestens|another|noch|only|just|nur|max\.?|me|us|mich|uns|"
    r"ich|wir|bestimmt|wahrscheinlich) |~ ?|≈ ?){0,4}"
)
_EFFORT = (
    r"takes?|estimated?|estimate is|estimated at|estimation|effort|aufwand|dauert|dauer|geschätzt|"
    r"geschätzt auf|schätzung|schätze|brauche|brauchen|braucht|benötigt|needs?"
)
_ESTIMATES = (
    pattern(rf"{START}(?:{_EFFORT})(?: ?[:,])? {_ABOUT}{LENGTH}"),
    pattern(rf"(?:~|≈) ?{LENGTH}"),
    pattern(rf"{START}{_ABOUT}{LENGTH}(?:'s)? (?:of )?(?:work|arbeit|aufwand|effort){END}"),
    pattern(rf"^{_ABOUT}{LENGTH}[.!]?$"),
)
_DENIED = NEGATIVE | word_set("if wenn falls whether ob")
_NO_EFFORT = word_set(
    "took spent waited worked talked slept ago later late delayed dauerte gebraucht gewartet "
    "gearbeitet verspätet vor seit every each alle jede jeden older left"
)

_BLOCKED = (
    pattern(rf"{START}(?:waiting (?:for|on)|blocked (?:by|on|because of)|blocked ?:) ?"),
    pattern(
        rf"{START}(?:(?:warten?|wartet) (?:(?:noch|immer|derzeit|gerade|weiter|jetzt|ich|wir) )"
        rf"{{0,3}}auf|hängt (?:noch |derzeit |gerade )?an|"
        r"blockiert (?:durch|von|wegen)|blockiert ?:) ?"
    ),
)
_OBJECT = re.compile(rf"[{LETTERS}0-9\"'„“#@]")
_NO_OBJECT = word_set("me us you it mich uns dich mir mehr")
_HANGS_ON = pattern(rf"hängt an (?:der|einer|dem|einem) (?:wand|decke|tür|haken|baum){END}")
_PAST = word_set("was were while stop stopped without keep war waren während wegen")
_CLAUSE_END = pattern(r";| but | so that | aber | sonst | otherwise |, (?:so|then|dann|which|and) ")
_FREE = (
    pattern(rf"{START}(?:no longer (?:blocked|waiting)|unblocked|nicht mehr blockiert){END}"),
    pattern(rf"{START}not (?:blocked|waiting)(?: [{LETTERS}' ]{{1,40}})? any ?more{END}"),
    pattern(rf"{START}(?:warte|warten) nicht (?:mehr|länger){END}"),
)
_CAME = pattern(
    rf"{START}(?:received|arrived|angekommen|eingetroffen|erhalten|"
    r"(?:ist|sind) (?:jetzt |nun |endlich |wieder |heute )?da(?=$|[.!;:]| und ))"
    rf"{END}"
)
_NOT_YET = (
    NEGATIVE
    | CONDITIONAL
    | word_set("until soon will be bis wird werden muss müssen to bald yet noch")
)
_STARTED = (
    pattern(
        r"(?:^|[,;:] )(?:(?:i|we|i've|we've|i have|we have|work has|work|just|now|already|today|"
        r"finally|have|has) ){0,4}(?:started|begun)(?! (?:at \d|waiting))" + END
    ),
    pattern(rf"{START}(?:in progress|in arbeit|bin dran){END}"),
    pattern(r"(?:^|[,;:] )(?:angefangen|begonnen)" + END),
    pattern(rf"{START}(?:habe|haben|hab|wurde) [^.;!]{{0,80}}?(?:angefangen|begonnen){END}"),
)
_URGENT = (
    (
        "P0",
        pattern(
            rf"{START}(?:production (?:is )?down|showstopper|(?:priority|prio|priorität) ?:? ?p0|"
            r"(?:this is|it's) an emergency|(?:das|es) ist ein notfall)"
            rf"{END}"
        ),
    ),
    (
        "P1",
        pattern(
            rf"{START}(?:urgent|urgently|asap|as soon as possible|dringend|eilt|eilig|"
            r"so schnell wie möglich|(?:top|highest|high) priority|(?:höchste|hohe) priorität|"
            rf"(?:priority|prio|priorität) ?:? ?p1){END}(?! care{END})"
        ),
    ),
)
_LESS = word_set("less non weniger")

_FINISHED = "done|finished|completed|erledigt|fertig|abgeschlossen|geschafft"
_DONE = (
    pattern(rf"^(?:{_FINISHED})(?: with| mit)? ?: ?(?P<what>.{{2,200}})"),
    pattern(rf"{START}(?:finished|completed|done with|fertig mit)(?: with)? (?P<what>.{{2,200}})"),
    pattern(
        rf"^(?P<what>.{{2,200}}?)(?: is| are| has been| have been| ist| sind| wurde)?"
        rf"(?: now| already| jetzt| schon| endlich)? (?:{_FINISHED})[.!]?$"
    ),
)
_UNDONE = (
    NEGATIVE
    | CONDITIONAL
    | word_set(
        "almost nearly half fast halb noch must need needs muss müssen until bis will wird be "
        "bald soon before bevor"
    )
)

_STOP_WORDS = {
    "en": word_set(
        "the and is to of for with that this it not have has from are be we you by need please "
        "should will they he she i my our if when"
    ),
    "de": word_set(
        "der die das und ist nicht mit für von ein eine einen zu auf ich wir muss noch bis den dem "
        "im es sich auch bei nach wird werden oder aber wenn zum zur mein meine ihr er sie"
    ),
    "": word_set(
        "de het een niet voor met naar le la les des et est pas pour dans el los las que del y con "
        "il che per non och att det som är på jag og ikke nie się na jest"
    ),
}
_UMLAUT = re.compile("[äöüß]")


class Phrase(Struct, frozen=True):
    """What a sentence says: a value, and the words it was read from."""

    value: str
    quote: str


class Turn(Struct, frozen=True):
    """A word about the state of the work, with its place in the sentence."""

    state: Literal["blocked", "free", "started"]
    position: int
    phrase: Phrase


def estimate(sentence: str) -> Phrase | None:
    """The effort a sentence names, in minutes.

    >>> estimate("Dauert ca. 45 Minuten.").value
    '45'
    """
    if not _NO_EFFORT.isdisjoint(words(sentence)):
        return None
    for rule in _ESTIMATES:
        match = rule.search(sentence)
        if match is not None and _DENIED.isdisjoint(clause_before(sentence, match.start())):
            found = minutes(match)
            if 1 <= found <= MINUTES_MAX:
                return Phrase(str(found), quote(sentence, match.start(), match.end()))
    return None


def turns(sentence: str) -> list[Turn]:
    """What a sentence says of blockers and progress, in its order."""
    found = [*_blocked(sentence), *_free(sentence), *_started(sentence)]
    return sorted(found, key=lambda turn: turn.position)


def urgency(sentence: str) -> Phrase | None:
    """The priority a sentence asks for; an empty value where it denies urgency."""
    for priority, rule in _URGENT:
        match = rule.search(sentence)
        if match is None:
            continue
        denied = _LESS | NEGATIVE | CONDITIONAL
        is_urgent = denied.isdisjoint(clause_before(sentence, match.start()))
        value = priority if is_urgent else ""
        return Phrase(value, quote(sentence, match.start(), match.end()))
    return None


def done(sentence: str) -> str:
    """What a sentence says is done, in its own words; empty if nothing."""
    for rule in _DONE:
        match = rule.search(sentence)
        if match is not None and _UNDONE.isdisjoint(words(_without_object(sentence, match))):
            return match["what"]
    return ""


def language(texts: Iterable[str]) -> tuple[str, str]:
    """Language code and confidence, by stop words; both empty where it is not clear."""
    hits = dict.fromkeys(_STOP_WORDS, 0)
    tokens = [word for text in texts for word in words(text)][:LANGUAGE_WORDS_MAX]
    for token in tokens:
        for code, known in _STOP_WORDS.items():
            hits[code] += token in known
        hits["de"] += _UMLAUT.search(token) is not None
    code = "en" if hits["en"] > hits["de"] else "de"
    other = max(count for name, count in hits.items() if name != code)
    if hits[code] >= 5 and hits[code] >= 3 * other:
        return code, "high"
    if hits[code] >= 2 and hits[code] > 2 * other:
        return code, "medium"
    return "", ""


def minutes(match: re.Match[str]) -> int:
    """How long a match of `LENGTH` says that something takes."""
    if digits := match["digits"]:
        count = float(digits.replace(",", "."))
    else:
        count = _COUNTS[fold(match["count"]).replace(" ", "~")]
    unit = fold(match["unit"])
    if unit.startswith("m"):
        return round(count)
    if unit.startswith(("d", "t")):
        return round(count * HOURS_PER_DAY * 60)
    return round(count * 60) + int(match["more"] or 0)


def _blocked(sentence: str) -> Iterator[Turn]:
    for rule in _BLOCKED:
        for match in rule.finditer(sentence):
            if (reason := _reason(sentence, match)) and not _HANGS_ON.match(
                sentence, match.start()
            ):
                yield Turn("blocked", match.start(), Phrase(reason, _whole(sentence, match)))


def _reason(sentence: str, match: re.Match[str]) -> str:
    """Cue and object of a blocker; empty where it is denied, past or about nobody's thing."""
    before = clause_before(sentence, match.start())
    named = sentence[match.end() : match.end() + REASON_LENGTH_MAX]
    first = next(iter(words(named[:40])), "")
    if not (NEGATIVE | CONDITIONAL | _PAST).isdisjoint(before) or first in _NO_OBJECT:
        return ""
    if "longer" in before or _OBJECT.match(named) is None:
        return ""
    named = _CLAUSE_END.split(named)[0].rstrip(" .!,;:…")
    return cut(match[0] + named, length_max=REASON_LENGTH_MAX) if first else ""


def _free(sentence: str) -> Iterator[Turn]:
    for rule in _FREE:
        for match in rule.finditer(sentence):
            yield Turn("free", match.start(), Phrase("", _whole(sentence, match)))
    for match in _CAME.finditer(sentence):
        around = clause_before(sentence, match.start()).union(words(sentence[match.end() :][:40]))
        if _NOT_YET.isdisjoint(around):
            yield Turn("free", match.start(), Phrase("", _whole(sentence, match)))


def _started(sentence: str) -> Iterator[Turn]:
    for rule in _STARTED:
        match = rule.search(sentence)
        if match is not None and _NOT_YET.isdisjoint(words(sentence[: match.end()][-120:])):
            yield Turn("started", match.start(), Phrase("", _whole(sentence, match)))


def _whole(sentence: str, match: re.Match[str]) -> str:
    return quote(sentence, match.start(), match.end())


def _without_object(sentence: str, match: re.Match[str]) -> str:
    """The sentence up to the words that say "done", without what is done after them."""
    start = match.start("what")
    return sentence if start == match.start() else sentence[:start]
