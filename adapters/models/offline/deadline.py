"""Deadlines: a day beside a word that makes it one ("by", "due", "bis", "fällig").

A date that is over, that somebody else promised, or that says how long something lasts is none.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from msgspec import Struct

from adapters.models.offline import lemmas, phrasing
from adapters.models.offline.clauses import Clause, Sentence
from adapters.models.offline.dates import AHEAD, DATE, DAY, MONTHS, names_time, resolve
from adapters.models.offline.sentences import END, LETTERS, START, pattern, quote, word_set, words
from domain.text import fold

CORRECTING_WORDS_MAX = 9


class DueDate(Struct, frozen=True):
    """A due date and the words it was read from."""

    day: date
    quote: str


def due(sentence: Sentence, written: date | None) -> DueDate | None:
    """The due date of a sentence, if it names one; the last where it corrects itself.

    >>> from adapters.models.offline.clauses import sentence
    >>> due(sentence("Send it by Friday."), date(2026, 11, 19)).day.isoformat()
    '2026-11-20'
    """
    if sentence.is_asked or not names_time(sentence.text):
        return None
    found = sorted([*_all(sentence, written), *_then(sentence, written)], key=lambda one: one[0])
    corrected = [one for one in found if one[2]]
    if not found:
        return None
    start, end, _, day = corrected[-1] if corrected else found[0]
    return DueDate(day, quote(sentence.text, start, end))


def corrected(sentence: Sentence, written: date | None, older: date) -> DueDate | None:
    """The day that a short sentence puts in the place of an older one: "Monday is fine", "pushed
    back by a week"."""
    said = quote(sentence.text, 0, len(sentence.text))
    shift = SHIFT.search(sentence.text)
    if shift and (later := resolve(shift.groupdict(), older)) and not sentence.is_asked:
        is_back = fold(shift["cue"]) in ("brought forward", "vorgezogen")
        return DueDate(older - (later - older) if is_back else later, said)
    named = list(DAY_SAID.finditer(sentence.text)) if names_time(sentence.text) else []
    is_short = len(named) == 1 and len(sentence.words) <= CORRECTING_WORDS_MAX
    if not is_short or sentence.is_asked or not phrasing.rule("corrects").search(sentence.text):
        return None
    day = resolve(named[0].groupdict(), written)
    return None if day is None or not DENIED.isdisjoint(sentence.words) else DueDate(day, said)


def is_void(sentence: Sentence) -> bool:
    """Whether it says that there is no deadline any more."""
    return not sentence.is_asked and phrasing.rule("no_date").search(sentence.text) is not None


def _all(sentence: Sentence, written: date | None) -> Iterator[tuple[int, int, bool, date]]:
    """Start, end, whether it corrects what was said before, and the day."""
    said = frozenset(sentence.words)
    for rule, cues in CUED:
        if cues is not None and cues.isdisjoint(said):
            continue
        for match in rule.finditer(sentence.text):
            if _is_other(sentence, match):
                continue
            day = resolve(match.groupdict(), written)
            if day is None:
                continue
            base = FROM.match(sentence.text, match.end()) if rule is WITHIN else None
            if base and (since := resolve(base.groupdict(), _ago(written))):
                day = resolve(match.groupdict(), since) or day
            is_before = rule in (MUST_EN, MUST_DE) and BEFORE.search(match[0]) is not None
            if is_before or fold(match["cue"]) in ("before", "vor"):
                day = _before(match, day)
            if written is None or day >= written or match.groupdict().get("iso"):
                yield match.start(), match.end(), rule in CORRECTING, day


def _ago(written: date | None) -> date | None:
    """Some time before: what a term runs from may be over."""
    return None if written is None else written - timedelta(days=60)


def _then(sentence: Sentence, written: date | None) -> Iterator[tuple[int, int, bool, date]]:
    """ "The concert is on 12 December, by then it must be ready"."""
    cue = BY_THEN.search(sentence.text)
    ahead = None if cue else EARLIER.search(sentence.text)
    named = list(DAY_SAID.finditer(sentence.text)) if ahead else []
    if ahead and len(named) == 1 and (then := resolve(named[0].groupdict(), written)):
        on = resolve(ahead.groupdict(), then) if ahead["count"] else None
        then -= (on - then) if on else timedelta(days=1)
        if written is None or then >= written:
            yield ahead.start(), ahead.end(), True, then
        return
    said = list(DAY_SAID.finditer(sentence.text, 0, cue.start())) if cue else []
    clause = sentence.clause(cue.start()) if cue else None
    if not said or clause is None or not OVER.isdisjoint(clause.words):
        return
    day = resolve(said[-1].groupdict(), written)
    if day is not None and (written is None or day >= written):
        yield said[-1].start(), said[-1].end(), True, day


def _before(match: re.Match[str], day: date) -> date:
    """Feasts and weekdays are meant with their eve; "before 1 December" is the day before."""
    if ahead := AHEAD_OF.search(match.string, 0, match.start()):
        return day - ((resolve(ahead.groupdict(), day) or day) - day)
    is_feast = any(match.groupdict().get(one) for one in ("xmas", "ny1", "em", "end", "nm1"))
    is_feast = is_feast or match.string[: match.start()].lower().endswith("on or ")
    return day if is_feast or day == date.min else date.fromordinal(day.toordinal() - 1)


def _is_other(sentence: Sentence, match: re.Match[str]) -> bool:
    """Whether the phrase denies a date, tells of the past, of another, or how long it lasts."""
    clause = sentence.clause(match.start())
    before = words(sentence.text[clause.start : match.start()])
    if LAST_DAY.search(sentence.text, max(0, match.start() - 12), match.end()):
        return True
    if (match.re is not ENOUGH and _is_denied(before, match)) or not NEVER.isdisjoint(
        sentence.words
    ):
        return True
    cue = fold(match["cue"])
    rule = match.re
    if rule is not MOVED and ANOTHERS.search(clause.text):
        return True
    if rule is ENOUGH:
        return not DENIED.isdisjoint(before[-2:]) or BY_OR_DUE.isdisjoint(sentence.words)
    if rule is NOW:
        is_shifted = not SHIFTED.isdisjoint(sentence.words)
        is_ours = is_shifted and not OURS.isdisjoint(sentence.words[:1])
        return NAMES_ONE.isdisjoint(sentence.words) and not is_ours
    if rule is MOVED:
        return DEADLINE_WORDS.isdisjoint(before) and not MOVERS.issuperset(before)
    if rule is ON_DE and (DEADLINE_WORDS - {"das"}).isdisjoint(before):
        return not MOVERS.issuperset(before)
    is_passed_on = not {"hand", "handed", "send"}.isdisjoint(clause.words)
    over = OVER - ({"over"} if is_passed_on else set())
    if not over.isdisjoint(clause.words) and not _is_renewed(clause):
        return True
    if rule in (BY, LASTS):
        return _is_span(sentence, clause, match, cue) or _is_done_by_then(clause, before)
    if rule is MUST_DE:
        tail = {*words(match["tail"]), *words(match[0])}
        is_denied = not {"nicht", "kein", "keine", "nie"}.isdisjoint(tail)
        return is_denied or "wieder" in before or FINISH.isdisjoint(tail)
    return rule is MUST_EN and not _is_finish(cue)


def _is_denied(before: list[str], match: re.Match[str]) -> bool:
    text = " ".join(before[-12:])
    for forget in ("don't forget", "do not forget", "nicht vergessen", "no matter"):
        text = text.replace(forget, "")
    return not DENIED.isdisjoint(text.split())


def _is_renewed(clause: Clause) -> bool:
    """ "The deadline was moved to": not over, though it says "was"."""
    return bool({"moved", "extended", "verschoben", "verlängert"} & set(clause.words))


def _is_span(sentence: Sentence, clause: Clause, match: re.Match[str], cue: str) -> bool:
    if cue in ("before", "vor") and "best" in clause.words:
        return True
    if TOO_SOON.search(sentence.text, match.end(), clause.end):
        return True
    if "on hold" in fold(clause.text) or not RESTING.isdisjoint(clause.words):
        return True
    if cue in ("until", "till", "til", "bis"):
        if phrasing.rule("shows").search(clause.text):
            return True
        head = sentence.text[max(0, match.start() - 20) : match.start()]
        if RANGE.search(head):
            return True
        if (
            "given" not in clause.words
            and not STAYS.isdisjoint(clause.words)
            and FINISH.isdisjoint(clause.words)
        ):
            return True
        is_gone = "weg" in clause.words and not IS.isdisjoint(clause.words)
        is_away = is_gone or clause.words[-1:] == ("zu",)
        return is_away or not LASTING.isdisjoint(clause.words)
    return cue == "by" and not {"closed", "away"}.isdisjoint(clause.words)


def _is_done_by_then(clause: Clause, before: list[str]) -> bool:
    """What was done by then, or what another promised."""
    is_wanted = "haben" in clause.words and "will" in clause.words
    is_wanted = is_wanted or not WANTED.isdisjoint(before)
    if not is_wanted and not PROMISES.isdisjoint(clause.words) and OWN.isdisjoint(before):
        return True
    is_past = any(lemmas.is_past(one) and one not in ("done", "finished") for one in before)
    is_past = is_past or before[:1] in (["done"], ["finished"])
    if not HOPED.isdisjoint(before) and not {"i", "we", "ich", "wir"}.isdisjoint(before):
        return True
    return is_past and WISHES.isdisjoint(before)


def _is_finish(cue: str) -> bool:
    """Whether what must be on a day is that the work is done."""
    return not word_set(
        "done ready finished submitted handed in out delivered paid sent complete online live "
        "shipped gone posted returned there filed printed"
    ).isdisjoint(words(cue))


# -------------------------------------------------------------------------------------- the phrases
# The phrases that make a day a deadline, and the words that say it is none.

AROUND = (
    "is|ist|are|sind|now|jetzt|nun|on|by|am|bis|zum|den|dem|the|der|die|das|spätestens|latest|at|"
    "moved|back|to|auf|extended|verschoben|verlängert|worden|new|neu|until|in|noon|midnight|wird|"
    "of|day|mittags?|früh|abends?|um|\\d{1,2}(?::\\d\\d)? ?(?:uhr|am|pm)|set|for|has|been|wurde|"
    "then|only|just|nur|schon|already|again|unverändert|always|next|"
    r"pushed|jetzt|gesetzt|vorgezogen|brought|forward|erst|einschließlich|inkl\.?|including|"
    "(?:close|closing|end)(?: of)?(?: business| day)?(?: on)?"
)
DUE = (
    "due(?: date| back)?|deadline|last date|cut-?off(?: date)?|no later than|not later than|"
    "at the latest|"
    "latest|closing date|submission(?: date)?|(?:submission|registration|application|entry|"
    "entries|sign-?up)s? closes?|last day|spätestens|fällig|fälligkeit|frist|abgabe|abgabetermin|"
    "abgabefrist|abgabeschluss|einsendeschluss|anmeldeschluss|stichtag|nicht später als|deadlines?|"
    "meldefrist|anmeldefrist|einreichungsfrist|zahlungsziel|zahlbar|letzter tag|target date|eod|"
    "cob|"
    "in time for|rechtzeitig (?:zu|zum|vor|für)|last chance|final (?:word|date|day|deadline)|"
    "hand-?in|handover|delivery date|letzter termin|"
    f"end of business|close of business|[{LETTERS}]{{3,18}}s(?:schluss|frist)"
)
NAMED = pattern(
    rf"{START}(?P<cue>{DUE})(?:'s)?(?: (?:for|of|für|vom|der|des) [{LETTERS}' ]{{2,30}}?|"
    rf" [{LETTERS}' ]{{2,30}}(?=:))?(?:,|:)? ?(?:(?:{AROUND})[,:]? ){{0,6}}{DATE}"
)
BY = pattern(
    rf"{START}(?P<cue>by|until|till|til|before|bis|vor)(?: (?:zum|the|dem|den|spätestens|around|"
    r"noon|midnight|mittags?|late|early|at the latest|latest|on|eod|cob|einschließlich|inkl\.?|"
    r"(?:close|end)(?: of)?(?: business| day)?(?: on)?|\d{1,2}(?::\d\d)? ?(?:uhr|am|pm|h|"
    rf"o'clock)?|am|um|morning|evening)){{0,4}},? {DATE}"
)
AFTER = pattern(
    rf"{START}{DATE}(?:'s)?,? (?:is |ist |wird |at |um |\d{{1,2}}(?::\d\d)? ?(?:uhr|am|"
    r"pm) )*(?:the |die |der |our |unsere |unser )?(?:final |last |letzte )?(?P<cue>due|deadline|"
    r"fällig|abgabe|abgabetermin|abgabefrist|abgabeschluss|stichtag|and no later|no later|"
    r"not a day later|and not (?:a day )?later|keinen tag später|allerspätestens|letzter tag|"
    r"last day|cut-?off|closing date|at the latest|latest|spätestens|frist|einsendeschluss|"
    rf"anmeldeschluss){END}"
)
WITHIN = pattern(
    rf"{START}(?P<cue>(?:due(?: back)?|ready|fertig) in|within|innerhalb(?: von)?|fällig in|binnen|"
    r"deadline(?: is)? in|due within|frist(?: endet| läuft)?(?: noch)? in|abgabe(?: ist)? in|"
    r"(?:must|has to|have to|needs to|need to|should)(?: be)? (?:done|ready|finished|out|"
    r"submitted|handed in|sent|paid|complete|there|in) in|muss in|müssen in|soll in) (?:the next |"
    rf"den nächsten |about |ca\.? |etwa |only )?{AHEAD}"
)
MUST_EN = pattern(
    rf"{START}(?P<cue>(?:must|has to|have to|needs to|need to|needed|has got to|should|"
    rf"gotta)(?: be)?(?: [\w'-]{{1,20}}){{0,6}}?) (?:(?:on|for) )?{DATE}"
)
MUST_DE = pattern(
    rf"{START}(?P<cue>muss|müssen|soll|sollen|sollte)(?: [{LETTERS}0-9.'-]{{1,24}}){{0,5}}? "
    rf"(?:(?:am|bis(?: zum)?|vor|zum) )?{DATE}(?P<tail>[^,;:!?]{{0,60}})"
)
LASTS = pattern(
    rf"{START}(?P<cue>(?:endet|läuft|ends|runs out|expires|expire|verfällt|verfallen|enden|"
    rf"läuft ab|closes|schließt))(?: (?:am|on|at|um|\d{{1,2}}(?:uhr|am|pm)))* {DATE}"
)
MOVED = pattern(
    rf"{START}(?P<cue>moved|postponed|pushed|extended|shifted|rescheduled|delayed|brought forward|"
    r"put back|verschoben|verlängert|vorgezogen|verlegt|verschoben worden|gestreckt)(?: (?:back|"
    r"it|out|again|worden|um [\w]+ tage))? (?:to|until|till|auf|bis|zum|from .{3,24} to|"
    rf"vom .{{3,24}} auf|von .{{3,24}} auf)(?: den| dem| zum| the)? {DATE}"
)
NOW = pattern(
    rf"{START}(?P<cue>now|jetzt|nun|so|sondern|but|instead|neu|new|stattdessen|"
    r"rather)[:,]?(?: (?:it's|it is|is|ist|on|am|by|bis|zum|the|den|only|erst|for|until|its|"
    rf"auf))* {DATE}"
)
ORDER = pattern(
    rf"{START}(?P<cue>deliver|submit|hand (?:it |them )?in|return|pay|file|ship|post|(?:i|we|he|"
    r"she|they|client|boss) needs? (?:it|this|that|them|the \w+)|wants? (?:it|this|that|them|"
    rf"these|the \w+)(?: back)?|needed)(?: \w+){{0,4}}? (?:(?:on|for) )?{DATE}"
)
ORDER_DE = pattern(
    rf"{START}(?:am |bis |zum )?{DATE} (?:\w+ ){{0,3}}(?P<cue>abliefern|abgeben|einreichen|"
    rf"abschicken|verschicken|fertig sein|raus){END}"
)
NEEDED_DE = pattern(
    rf"{START}(?P<cue>gebraucht (?:wird|werden)|brauche ich|brauchen wir|(?:fertig sein|abgeben|"
    r"abliefern|einreichen|da sein|raus) (?:muss|müssen|soll|sollen))(?: \w+){0,3}? (?:am|bis|"
    rf"zum) {DATE}"
)
ON_DE = pattern(
    rf"{START}auf (?:den |dem )?{DATE} (?:\w+ )?(?P<cue>verschoben|verlegt|vorgezogen|verlängert|"
    rf"gesetzt|gelegt|geschoben){END}"
)
ENOUGH = pattern(
    rf"{START}{DATE},? (?:ist |is |wäre |would be |will )?(?:auch |also |völlig |noch |"
    r"still )?(?P<cue>reicht|genügt|langt|fine|enough|ok|okay|do|early enough|früh genug|"
    rf"in ordnung){END}"
)
IN = pattern(
    rf"{START}in (?:about |ca\.? |etwa )?{AHEAD},? (?P<cue>at the latest|latest|spätestens|fällig|"
    r"due|muss|müssen|(?:it |this |we )?must|(?:it |this )?(?:has|needs) to be|(?:is|ist) (?:the |"
    rf"die |der )?(?:deadline|abgabe|abgabetermin|einsendeschluss|frist)){END}"
)
FROM_NOW = pattern(
    rf"{START}(?P<cue>due|fällig|deadline is)(?: in)? {AHEAD} (?:from (?:today|now)|ab heute)"
)
GIVEN = pattern(
    rf"{START}(?P<cue>(?:gave|gives?|has given|have given|given|allowed|allows|granted) (?:me|"
    r"us) (?:another |just |only )?|(?:i|we)(?:'ve| have)? (?:only |just |still |now )?(?:got |"
    r"have )(?:only |just |another |about )?|(?:uns|mir) bleiben (?:noch |nur |jetzt )*|(?:gibt|"
    r"gab|geben|gaben) (?:uns|mir) (?:noch |nur )*|(?:habe|haben) (?:ich |wir )?(?:noch |nur |"
    rf"jetzt )*(?=[^.,;]{{3,20}} zeit)){AHEAD}(?= (?:left|to|for|zeit|more|dafür|,)|[,.;!]|$)"
)
WANTS_DE = pattern(
    rf"{START}(?P<cue>(?:will|möchten?|wollen|hätten?|braucht|brauchen|erwartet|bekommt|bekommen|"
    r"kriegt|kriegen))(?: [\w.-]{1,24}){0,5}? (?:zum|am|bis|spätestens)(?: am|"
    rf" zum)? {DATE} (?:[\w]+ ){{0,2}}(?:haben|von mir|von uns|sehen|auf dem tisch|gern)"
)
DAY_MUST = pattern(
    rf"{START}(?:on |am |first thing |by |early |bis )?{DATE},? (?P<cue>(?:this|it|everything|"
    r"the whole thing|all of it|i) (?:has to|must|needs to|should|"
    r"have to)(?: be)? (?:all )?(?:done|ready|finished|in|out|sent|submitted|there|on|with|gone|"
    r"handed|delivered|paid|online|live|complete|up)|(?:muss|müssen|soll|sollen) (?:das|es|alles|"
    rf"sie|die \w+|der \w+)(?: [{LETTERS}]+){{0,4}} (?:fertig|stehen|raus|weg|vorliegen|sitzen|"
    r"laufen|da sein|abgegeben|eingereicht|bezahlt|erledigt|draußen|drin|ankommen)|(?:ist|"
    r"wäre) (?:dann )?(?:schluss|abgabe|deadline|stichtag|abgabetermin|einsendeschluss|"
    rf"anmeldeschluss|letzter tag|ende)){END}"
)
PROMISED = pattern(
    rf"{START}(?P<cue>(?:i|we)(?:'ve| have)? promised|(?:agreed|told [\w ]{{2,20}}|said|"
    r"promised [\w ]{2,20}) (?:that )?(?:i|we)(?:'d|'ll| would)|(?:habe?|haben) (?:(?:ich|"
    rf"wir) )?(?:[{LETTERS}]{{2,20}} )?versprochen)[^.;!?]{{1,40}}? (?:(?:by|for|on|bis|am|"
    rf"zum) )?{DATE}"
)
BEFORE = pattern(r" (?:before|vor) ")
LAST_DAY = pattern(rf"{START}(?:last|letzte[nrms]?|vergangene[nrms]?|previous) (?:{DAY})")
DAY_SAID = pattern(rf"{START}(?:on |am |auf den |to )?{DATE}")
SHIFT = pattern(
    rf"{START}(?P<cue>pushed back|put back|moved back|postponed|delayed|extended|brought forward|"
    rf"verschoben|verlängert|vorgezogen|verschiebt sich) (?:by|um) {AHEAD}"
)
FROM = pattern(rf" (?:of|from|after|ab|nach|seit|vom)(?: the| dem)? {DATE}")
AHEAD_OF = pattern(rf"{START}{AHEAD} $")
EARLIER = pattern(
    rf"{START}(?:must|has|have|needs?|wants?|due|latest|muss|müssen|soll|"
    rf"spätestens)(?: [\w']{{1,20}}){{0,6}}? (?:(?:the day|am tag|einen tag)|{AHEAD}) (?:before|"
    rf"earlier|davor|vorher|zuvor)(?! {DATE})"
)
BY_THEN = pattern(r"(?P<cue>(?:by|until|till|before) then|bis dahin|bis dann)\b")
RULES = (
    NAMED,
    BY,
    AFTER,
    WITHIN,
    MUST_EN,
    MUST_DE,
    LASTS,
    MOVED,
    NOW,
    ORDER,
    ORDER_DE,
    NEEDED_DE,
    ON_DE,
    ENOUGH,
    IN,
    FROM_NOW,
    PROMISED,
    GIVEN,
    WANTS_DE,
    DAY_MUST,
)

CUES = {
    ON_DE: word_set("auf"),
    GIVEN: word_set(
        "gave give gives given allowed allows granted have i've we've got bleiben gibt gab geben "
        "gaben habe haben"
    ),
    WANTS_DE: word_set("haben von sehen tisch gern"),
    DAY_MUST: word_set("has must needs should have muss müssen soll sollen ist wäre"),
    WITHIN: word_set("in within innerhalb binnen"),
    IN: word_set("in"),
    FROM_NOW: word_set("from ab"),
    PROMISED: word_set("promised versprochen agreed told said"),
    MOVED: word_set(
        "moved postponed pushed extended shifted rescheduled delayed brought put verschoben "
        "verlängert verlaengert vorgezogen verlegt gestreckt"
    ),
    NEEDED_DE: word_set("gebraucht brauche brauchen muss müssen muessen soll sollen"),
    BY: word_set("by until till til before bis vor"),
    AFTER: word_set(
        "due deadline fällig faellig abgabe abgabetermin abgabefrist abgabeschluss stichtag at day "
        "später spaeter letzter later cut off cutoff allerspätestens allerspaetestens date latest "
        "spätestens spaetestens frist einsendeschluss anmeldeschluss"
    ),
    MUST_EN: word_set("must has have needs need needed should gotta"),
    MUST_DE: word_set("muss müssen muessen soll sollen sollte"),
    LASTS: word_set(
        "endet läuft laeuft ends runs expires expire verfällt verfaellt verfallen enden closes "
        "schließt schliesst"
    ),
    NOW: word_set("now jetzt nun so sondern but instead neu new stattdessen rather"),
    ORDER_DE: word_set("abliefern abgeben einreichen abschicken verschicken sein raus"),
    ENOUGH: word_set("reicht genügt genuegt langt fine enough ok okay do early früh frueh ordnung"),
}
CUED = tuple((rule, CUES.get(rule)) for rule in RULES)  # looking up a pattern is not quick
CORRECTING = (NOW, MOVED, ON_DE, ENOUGH)
FINISH = word_set(
    "due done ready finished fällig deadline zu mine time zeit frist it this raus weg fertig "
    "abgegeben abgeben abliefern eingereicht vorliegen stehen bezahlt überwiesen geschickt "
    "verschickt ankommen eingehen online draußen drin erledigt durch hin vorbereitet da gesendet "
    "beim liegen eintreffen ankommt unterschrieben los gepackt bezahlen überweisen einreichen "
    "abschicken stehen sitzen laufen eingegangen"
)
DEADLINE_WORDS = word_set(
    "deadline due date frist abgabe abgabetermin abgabefrist stichtag fällig submission fälligkeit "
    "handover launch release launchtermin delivery hand-in exam it this that es das everything "
    "alles abgabeschluss anmeldeschluss liefertermin"
)
NAMES_ONE = word_set(
    "extension verlängerung fristverlängerung aufschub deadline due frist abgabe abgabetermin "
    "abgabefrist stichtag fällig submission fälligkeit abgabeschluss anmeldeschluss"
)
SHIFTED = word_set("pushed moved postponed shifted extended verschoben verlegt verlängert")
MOVERS = word_set(
    "they they've we've i've we i has have been was it's is it that this kindly just now wurde "
    "wurden wird ist sind haben habe hab hat wir ich es das jetzt nun also auch noch schon wieder "
    "der die den alles sie er um eine woche chef kunde auf ende leider doch aber"
)
OURS = SHIFTED | word_set("i we i've we've it ich wir habe hab haben es wurde")
RANGE = pattern(rf"(?:{DAY}|{'|'.join(MONTHS)}|\d\.?|today|heute) $")
DENIED = word_set(
    "not no never without nothing none hardly don't doesn't didn't isn't wasn't aren't haven't "
    "hasn't won't can't cannot shouldn't nicht kein keine keinen nie niemals nichts ohne from von "
    "vom between zwischen if falls whether ob maybe perhaps vielleicht might could könnte unless "
    "wenn nice schön"
)
LASTING = word_set(
    "lassen drauf dry trocken vorverkauf sale offer angebot aktion rabatt promotion vacation "
    "holiday holidays away closed open opened opens valid unavailable sick wait waiting busy out "
    "off urlaub ferien abwesend geschlossen geöffnet gültig krank warte warten wartet closes "
    "sperre gesperrt verreist lasts dauert gilt abroad travelling traveling ausgebucht runs bleibt "
    "bleiben staying visiting besuch hält fresh haltbar guarantee garantie nothing seit since "
    "krankgeschrieben ooo leave shut dicht"
)
IS = word_set("bin ist sind")
STAYS = word_set("bin ist sind i'm am we're is are he's she's bleibt bleiben stays stay")
RESTING = word_set("ice eis pause paused pausiert ruht zurückgestellt shelved parked liegt")
OVER = word_set(
    "was were missed passed expired over had wasn't weren't war waren verpasst verstrichen vorbei "
    "abgelaufen hätte hätten hatte hatten versäumt nothing"
)
PROMISES = word_set(
    "arrives arrive delivers deliver delivered returns return comes back promised promises "
    "delivery brings bringt holt he'll she'll they'll liefert liefern geliefert kommt kommen "
    "zurück versprach versprochen verspricht meldet antwortet replies answers schickt sends hopes "
    "hofft expects erwartet will"
)
NEVER = word_set("wäre wären gewesen theirs anderen others ihren")
BY_OR_DUE = word_set("by bis due deadline frist fällig until")
HOPED = word_set("hoped wanted planned meant wollte wollten hoffte hatte had")
WANTED = word_set("want wants wanted needs expects asked möchte braucht erwartet muss")
OWN = word_set("i we i'm we're i'll we'll it must need needs has have ich wir muss müssen this")
WISHES = word_set(
    "given gave gives lets gegeben gibt to want wants wanted asked said says need needs needed "
    "must has have extension time zeit aufschub fristverlängerung dass that moved extended "
    "deadline frist got gave würde möchte will should soll brauche braucht erwartet expects bittet "
    "bat verlängert verschoben extended muss müssen agreed promised"
)


_PEOPLE = (
    "sister|brother|mum|mom|dad|father|mother|wife|husband|son|daughter|neighbou?rs?|aunt|uncle|"
    "kids|cousin|flatmate|friend|niece|nephew|partner|colleagues?|schwester|bruder|mutter|vater|"
    "mama|papa|frau|mann|sohn|tochter|nachbarn?|nachbarin|tante|onkel|kinder|freund|freundin|"
    "kollegin|kollege|kollegen|nichte|neffe|schwager|cousine|oma|opa|eltern"
)
ANOTHERS = pattern(
    rf"{START}(?:(?:my|his|her|our|your|their|the|mein|meine|unsere?|seine?|ihre?|die|"
    rf"der) (?:[{LETTERS}]+ )?(?:{_PEOPLE})|he|she|they|er)(?: (?:also|still|noch|"
    r"auch))? (?:has to|have to|must|needs? to|muss|müssen|soll|sollen|will|wollen)(?! (?:know|"
    r"have|get|receive|hear|see|be able|das|es|die (?:unterlagen|zahlen)|[^.;]{0,40} (?:haben|"
    r"wissen|bekommen|sehen|kriegen)(?=[.,!;]|$)|it|this)\b)|^(?:and |but |und |aber )?(?!(?:i|we|"
    rf"you|ich|wir|it|this|das|es|muss)\b)(?:[{LETTERS}']+ ){{1,3}}(?:must|has to|have to|(?:has|"
    r"have) got to|needs? to|muss|müssen)(?! be)(?: (?!(?:auf|on|to|in|an|at|zu|bei|for|"
    r"für)\b)[^\s.,;]+){0,5}? (?:his|her|hers|their|theirs|seine[mnrs]?|seins|ihre[mnrs]?|"
    r"ihrs)(?= |$|[.,;])"
)
TOO_SOON = pattern(
    rf"wird (?:das |es |da |hier )*nichts?{END}|(?:schaffe?n?|kriegen?) [^.;]{{0,30}}nicht|"
    r"(?:won't|will not|not going to|never) (?:happen|work|make it|manage)|nichts mehr"
)
