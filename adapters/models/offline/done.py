"""What a text says is done, and which items of a checklist it means.

"Called the plumber", "Klempner angerufen", "the plumber is done" and "Erledigt: Klempner" all tick
"Call the plumber"; "almost done", "the plumber called" and "has to be called" do not.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from adapters.models.offline import clauses, lemmas, phrasing
from adapters.models.offline.clauses import AHEAD, Clause, Sentence
from adapters.models.offline.sentences import CONDITIONAL, NEGATIVE, pattern, quote, word_set, words
from domain.text import fold

PART_LENGTH_MIN = 4
"""A shorter word never names a longer item on its own: "done: it"."""

STOP = word_set(
    "the a an my our your his her their its this that these those of for to at in on by with from "
    "into and or it is are was were be been being has have had i we you he she they me us him them "
    "now today yesterday already finally just also up so then off out i've we've it's finished "
    "done complete completed ready all both again last this morning afternoon evening night week "
    "ago got monday tuesday wednesday thursday friday saturday sunday as well too der die das den "
    "dem des ein eine einen einem einer mein meine meinen meinem meiner unser unsere unseren euer "
    "sein seine ihr ihre im am um an in auf zu zum zur mit von vom für bei beim und oder ich wir "
    "du er sie es habe hab haben hat hatte hatten bin ist sind war waren wurde wurden worden jetzt "
    "nun heute gestern schon bereits endlich gerade eben auch noch dann alle alles montag dienstag "
    "mittwoch donnerstag freitag samstag sonntag vorhin erledigt fertig abgeschlossen geschafft "
    "abgehakt letzte letzten woche früh abend abends"
)
GENERIC = word_set(
    "done finished completed complete sorted erledigt fertig abgeschlossen geschafft abgehakt "
    "ticked wrapped beendet gemacht fertiggestellt durch managed dealt fertiggemacht vollendet "
    "settled ready abgearbeitet hinter"
)
_NEED = word_set(
    "need needed needs necessary have brauche brauchen braucht nötig notwendig muss müssen"
)
_ACCOMPLISHED = (
    "bought made wrote sent paid booked ordered fixed replaced installed signed cleaned did packed "
    "printed built sold baked cooked sewed planted mounted merged"
).split()
_ACCOMPLISHES = frozenset().union(*(lemmas.keys(one) for one in _ACCOMPLISHED)) - {"so"}
_TALKS = lemmas.keys("called") | lemmas.keys("asked") | lemmas.keys("wrote") | lemmas.keys("talked")
_TALKS |= lemmas.keys("visited") | lemmas.keys("answered") | lemmas.keys("invited")
_UNDONE = (
    NEGATIVE
    | CONDITIONAL
    | AHEAD
    | word_set(
        "almost nearly half partly partially mostly most some part parts fast halb teilweise "
        "beinahe größtenteils halbwegs ansatzweise tried try trying versucht versuche wanted meant "
        "forgot forgotten vergessen wollte wollten wants be still noch until bis before bevor "
        "halbe halber halbes halben halbem he'd she'd they'd i'd we'd remains missing fehlt fehlen "
        "offen open left begun started starting angefangen begonnen attempted hoping promised "
        "planned begin halfway supposed versprach versprochen except außer instead statt "
        "stattdessen to-do todo remaining nobody niemand keiner had hatte when while cannot "
        "voicemail mailbox anrufbeantworter vergebens vergeblich falsch wrong falsche broken "
        "kaputt wieder"
    )
)
_TOLD = word_set(
    "i we i've we've have has is are was were got yesterday ago already earlier morning afternoon"
)
_THEIRS = word_set("his their seine seinen seiner seinem ihre ihren ihrem")


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
    places: tuple[int, ...] = ()  # in the checklist, from 1


def claims(sentence: Sentence) -> list[DoneClaim]:
    """What a sentence says is done, or is not done."""
    said = quote(sentence.text, 0, len(sentence.text))
    if sentence.is_asked or sentence.is_others(len(sentence.text) - 1):
        return []
    if every := ALL.match(sentence.text) or ALL_BUT.match(sentence.text):
        but = next(filter(None, every.groups()), "")
        return [DoneClaim(tuple(words(but)), but, said, is_done=True, is_all=True)]
    if marked := MARKED.findall(sentence.text):
        rest = clauses.sentence(MARKED.sub("", sentence.text))
        return [one for what in marked for one in listed(what, said)] + _by_clause(rest, said, 0)
    if counted := COUNTED.match(sentence.text):
        places = tuple(map(int, re.findall("[0-9]+", counted["places"])))
        return [DoneClaim((), "", said, is_done=True, places=places)]
    head = HEAD.match(sentence.text)
    if head is not None:
        return _listed(head["what"], said)
    made = MADE.match(sentence.text)
    verb = (fold(made["verb"]),) if made and _UNDONE.isdisjoint(sentence.words) else ("",)
    if made and not lemmas.keys(verb[0]).isdisjoint(_ACCOMPLISHES):
        return [replace(one, words=verb + one.words) for one in _listed(made["what"], said)]
    if topic := TOPIC.match(sentence.text):
        found = [DoneClaim(tuple(words(topic["what"])), topic["what"], said, is_done=True)]
        return found + _by_clause(sentence, said, topic.end())
    if phrasing.rule("no_answer").search(sentence.text):
        return []
    return _by_clause(sentence, said, 0)


def _by_clause(sentence: Sentence, said: str, start: int) -> list[DoneClaim]:
    """Of each clause that begins later; one without an object has that of its neighbours."""
    found: list[DoneClaim] = []
    parts = [one for one in sentence.clauses if one.start >= start]
    named = [_named(one) for one in parts]
    for nth, clause in enumerate(parts):
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
    what = STILL.sub("", what)
    parts = [part for part in re.split(r"[,;] ?(?:and |und )?| and | und | & ", what) if part]
    whole = DoneClaim(tuple(words(what)), what, said, is_done=True)
    if len(parts) < 2:
        return [whole]
    return [whole, *(DoneClaim(tuple(words(one)), one, said, is_done=True) for one in parts)]


def _claim(sentence: Sentence, clause: Clause, said: str) -> Iterator[DoneClaim]:
    text = HARMLESS.sub("", TICKED.sub("done", LATER.sub("", clause.text)))
    told = tuple(words(text))
    is_denied = not _UNDONE.isdisjoint(told) or sentence.words[:1] in (("neither",), ("weder",))
    is_denied = is_denied or DUTY.search(text) is not None
    is_denied = is_denied or FIRST.search(text) is not None or BUT.search(text) is not None
    if clause.text.startswith("to ") or (
        clause.start and not _UNDONE.isdisjoint(_carried(sentence, clause))
    ):
        is_denied = True
    is_done = not GENERIC.isdisjoint(told)
    if _is_of_another(told):
        return
    if is_done or is_denied or any(map(lemmas.is_past, told)) or _preterite(told, text):
        yield DoneClaim(
            _joined(told), text, said, is_done, is_denied, False, frozenset(_subject(clause))
        )


def _carried(sentence: Sentence, clause: Clause) -> tuple[str, ...]:
    """Words of an earlier clause that hold on in one without a subject: "need to ... and ..."."""
    before = [one for one in sentence.clauses if one.start < clause.start]
    is_bare = clause.words[:1] and clause.words[0] in ("and", "und") and len(before) > 0
    said = before[-1].words if is_bare and not _own(clause) else ()
    return tuple(one for one in said if one in CONDITIONAL or one in ("must", "need", "to"))


def _own(clause: Clause) -> bool:
    return bool({"i", "we", "ich", "wir", "is", "are", "has", "ist", "sind"} & {*clause.words})


def _is_of_another(told: Sequence[str]) -> bool:
    """ "Rob painted his fence": his own."""
    at = next((nth for nth, one in enumerate(told) if one in _THEIRS), 0)
    is_active = not lemmas.is_past(told[0]) and not _is_passive(told) if told else False
    return at > 1 and is_active and not {"i", "we", "ich", "wir", "i've", "we've"} & {*told[:at]}


def _joined(told: tuple[str, ...]) -> tuple[str, ...]:
    """A separable verb in one word: "rief ... an" is "anrief"."""
    if len(told) < 2 or told[-1] not in lemmas.PREFIXES or not any(map(lemmas.is_past, told)):
        return told
    return (
        *(told[-1] + one if lemmas.is_past(one) else one for one in told[:-1]),
        *(one for one in told[:-1] if lemmas.is_past(one)),
    )


def _preterite(told: Sequence[str], text: str) -> bool:
    """ "Bestellte die Farbe", "ich kaufte", "Fotos hab ich machen lassen"."""
    if HAD_DONE.search(text) or _has_unchanged(told):
        return True
    return any(one.endswith("te") and len(one) > 5 for one in told[:3])


def _has_unchanged(told: Sequence[str]) -> bool:
    """ "I read it", "it is cut"; without either it may be an order."""
    return not lemmas.UNCHANGED.isdisjoint(told) and not _TOLD.isdisjoint(told)


def _subject(clause: Clause) -> Iterator[str]:
    """Who called, where it is not the person: "der Klempner hat angerufen"."""
    told = clause.words
    if told[:1] in (("habe",), ("hab",), ("haben",), ("have",)):
        return
    for nth, one in enumerate(told):
        if one in ("i", "we", "ich", "wir", "i've", "we've"):
            return
        if one in ("hat", "haben") and nth and told[nth + 1 : nth + 2] not in (("wir",), ("sie",)):
            rest = [word for word in told[nth + 1 :] if word not in STOP]
            if all(map(lemmas.is_past, rest)) and told[0] not in ("den", "dem", "einen"):
                yield from told[:nth]
            return
        if lemmas.is_past(one) and nth and not _is_passive(told[:nth]):
            if lemmas.keys(one) & _TALKS and not lemmas.is_participle(one):
                yield from told[:nth]
            return


def _is_passive(before: Sequence[str]) -> bool:
    return not word_set("is are was were been got ist sind wurde wurden").isdisjoint(before)


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
    if not any(hits):
        return 0
    if not missed:
        return 2 if claim.is_done or _happened(claim, hits, wanted) else 0
    if claim.is_done and len(missed) == 1 and missed[0] in (0, len(wanted) - 1):
        is_verb = _is_verb(words(title), wanted[missed[0]], title)
        if is_verb and len(hits) > 1 and not _has_other_verb(claim, hits):
            return 2
    return 1 if _is_part(claim, title, wanted, hits) else 0


def _hit(wanted: str, told: dict[str, str]) -> str:
    """The word of the claim that stands for one of the title."""
    for key in lemmas.keys(wanted):
        if key in told:
            return told[key]
    if len(wanted) >= 6:  # compounds: "Bremsbeläge" and "Beläge"
        for one in told.values():
            if len(one) >= 5 and (wanted.endswith(one) or one.endswith(wanted)):
                return one
    return ""


def _happened(claim: DoneClaim, hits: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a verb of the past is among what fits, or one that does what a noun stands for."""
    if _has_unchanged(claim.words) and not lemmas.UNCHANGED.isdisjoint(hits):
        return True
    if any(lemmas.is_past(one) for one in hits) or HAD_DONE.search(claim.text):
        return True
    if any(one.endswith("te") and one not in wanted for one in hits):
        return True
    others = [one for one in claim.words if lemmas.is_past(one)]
    return any(not lemmas.keys(one).isdisjoint(_ACCOMPLISHES) for one in others)


def _has_other_verb(claim: DoneClaim, hits: Sequence[str]) -> bool:
    """ "Done: ask Bob" does not say that Bob is paid."""
    rest = [one for one in claim.words if one not in hits and one not in GENERIC | STOP]
    return any(lemmas.is_past(one) or lemmas.is_verb(one) for one in rest)


def _is_verb(said: Sequence[str], word: str, title: str) -> bool:
    """Whether a word of a title may be its verb: the first in English, a last infinitive."""
    is_german = said[-1].endswith("n") and title.rstrip(" .!")[-len(said[-1])].islower()
    if is_german and not lemmas.is_verb(said[0]):
        return said[-1] == word
    return said[0] == word and lemmas.is_verb(word)


def _is_part(claim: DoneClaim, title: str, wanted: Sequence[str], hits: Sequence[str]) -> bool:
    """Whether all that the claim names stands in the title, and it is not only a verb."""
    named = [
        one
        for one in claim.words
        if one not in STOP and one not in GENERIC and one not in claim.subject
    ]
    keys = {key for one in wanted for key in lemmas.keys(one)}
    if not named or any(lemmas.keys(one).isdisjoint(keys) for one in named):
        return False
    if " and " in f" {fold(title)} " or " und " in f" {fold(title)} ":
        return False
    is_long = any(len(one) >= PART_LENGTH_MIN for one in named)
    if claim.is_done:
        return is_long
    found = [one for one in hits if one]
    has_noun = any(not lemmas.is_past(one) for one in found)
    return is_long and has_noun and _happened(claim, found, wanted)


def is_needless(claim: DoneClaim, title: str) -> bool:
    """Whether it says that there is no need of it any more: "we don't need a band after all"."""
    if not claim.is_denied or NEGATIVE.isdisjoint(claim.words) or _NEED.isdisjoint(claim.words):
        return False
    return shares(title, claim.text)


def shares(one: str, other: str) -> bool:
    """Whether two texts name the same thing."""
    named = [lemmas.keys(word) for word in content(one) if len(word) >= PART_LENGTH_MIN]
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


# -------------------------------------------------------------------------------------- the phrases
# The phrases by which a text tells that something is done, or that it only seems so.

HARMLESS = pattern(
    r"no (?:problems?|issues?|trouble)|without (?:problems?|any problems?|trouble)|ohne probleme|"
    r"problemlos|noch (?=schnell|heute|gestern|eben|rasch|kurz)|not bad|finally|will be fine|"
    r"for the first time|first thing|at first|kein problem|nothing left to do (?=on|for|with)|"
    r"(?:in|für|for|after|nach|only|took) (?:half an?|eine halbe)|had to .{0,20}?wait"
)
TICKED = pattern(
    r"(?:can be|kann|could be|to be) (?:ticked off|checked off|crossed off|abgehakt werden|"
    r"gestrichen werden|abgehakt)|(?:is|are|ist|sind) (?:off|von|from) (?:my|the|der|"
    r"meiner) list(?:e)?|went (?:ok|okay|well|fine)|(?:lief|ging) gut|taken care of|out of the way|"
    r"(?:is|are|'s) (?:now |finally )?(?:up|in place|behind me|in the (?:post|mail)|on its way|"
    r"out of the door|in the (?:can|bag))\b|(?:is|are|'s) (?:on|in|off|out|gone)$|went (?:off|"
    r"out)\b|(?:hab|habe|haben) (?:ich|wir)(?: schon| jetzt)?[.!]*$|(?:ist|sind) (?:jetzt |schon |"
    r"endlich |auch )?(?:raus|drin|dran|drauf|unterwegs|in der post|auf dem weg|im kasten|"
    r"unter dach und fach)\b|\b(?:hängt|hängen|steht|stehen|sitzt|läuft|laufen)(?: jetzt| endlich|"
    r" schon| wieder| auch)?[.!]*$|hinter mir|vom tisch|dazu gekommen|(?:got|gotten) (?:a)?round to"
)
LATER = pattern(
    r", (?:and |und |but |aber )?[^,]{2,30} (?:tomorrow|morgen|later|später|next|next week|"
    r"nächste woche|as well tomorrow|to go|to do|noch nicht|not yet|am wochenende|at the weekend|"
    r"on \w+day)[.!]*$"
)
TOPIC = pattern(
    r"^(?P<what>[^:;.]{2,80}): ?(?:is |ist |schon |already )?(?:done|finished|erledigt|fertig|"
    r"check|checked|abgehakt|geschafft|complete|✓|✔|✅)(?: |[.,;!]|$)"
)
MARKED = re.compile("([^✅✔✓☑❌✗✘,;:]{2,60})[✅✔✓☑]")
COUNTED = pattern(
    r"^(?:numbers?|nummer|nr\.?|items?|points?|punkte?)? ?#?(?P<places>\d{1,2}(?:,? ?(?:and|und|&|"
    r",) #?\d{1,2}){1,9}|(?<=[a-z#.] )\d{1,2}|(?<=#)\d{1,2}|\d{1,2}(?= (?:is|ist|done|"
    r"erledigt)\b)) (?:(?:are|is|sind|ist|both|now|all|jetzt) )*(?:done|finished|erledigt|"
    r"fertig)(?=[.,!;]|$)"
)
MADE = pattern(r"^(?:\w+ )?(?P<verb>\w{3,20}): (?P<what>.{2,400})")
HAD_DONE = pattern(r"\b(?:hab|habe|haben)\b[^,;]{0,60}\b\w+en lassen\b")
BUT = pattern(
    r"\b(?:as good as|so gut wie|not quite|apart from|other than|save for|abgesehen von|"
    r"with the exception)\b"
)
FIRST = pattern(r"(?:first|erste[rn]?) (?:draft|version|entwurf|fassung|coat|attempt|go|try)")
DUTY = pattern(r"\b(?:got|have|has|had|need|needs|yet|left|going|ought|about|used) to\b")
HEAD = pattern(
    r"^(?:today |heute |so far |bisher |schon |already |now |jetzt )?(?:done|finished|completed|"
    r"erledigt|fertig|abgeschlossen|geschafft|abgehakt|got done|checked off|ticked off|"
    r"gemacht)(?: with| mit| today| heute| so far| bisher| already| schon| now| jetzt| are|"
    r" sind)? ?(?::|[-–] ) ?(?P<what>.{2,400})"
)
STILL = pattern(
    r"[;.,] ?(?:and |but |aber |und )?(?:still|noch|open|offen|left|missing|remaining|not)\b.*"
)
ALL_BUT = pattern(
    r"^(?:all|everything|alles|alle(?: \w+)?)(?: \w+)? (?P<but>(?:except|but|apart from|bis auf|"
    r"außer)(?: for)? .{2,80}?) (?:is|are|ist|sind) (?:now |already |jetzt |schon )?(?:done|"
    r"finished|complete|ready|erledigt|fertig|abgehakt|geschafft|sorted)[.!]*$|^(?:all|everything|"
    r"alles) (?P<rest>(?:but|except|bis auf|außer) [^.,;]{2,60})[.!]*$"
)
ALL = pattern(
    r"^(?:(?:so|now|jetzt|endlich|finally|ok|okay|today|heute|puh|phew|yay),? )?(?:all|everything|"
    r"alles|all (?:of it|of them|items|points|tasks|steps)|alle punkte|the (?:whole|"
    r"entire) (?:list|checklist)|die (?:ganze|komplette) (?:liste|checkliste))(?: on the list|"
    r" on the checklist| here| auf der liste| hier)?(?: is| are| has been| have been| ist| sind|"
    r" wurde)?(?: now| already| finally| jetzt| nun| schon| endlich| heute| today)? (?:done|"
    r"finished|completed?|ticked off|erledigt|fertig|abgehakt|geschafft|abgearbeitet|gemacht|"
    r"durch)(?: now| today| heute| jetzt)?(?P<but>,? (?:except|but|apart from|save|bis auf|außer|"
    r"nur)(?: for| not)? .{2,100})?[.!]*$"
)
