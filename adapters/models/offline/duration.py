"""How long a task takes: "takes about 2 hours", "30 Min. sollten reichen"."""

import re

from adapters.models.offline import lemmas
from adapters.models.offline.clauses import Sentence
from adapters.models.offline.dates import COUNTS
from adapters.models.offline.sentences import (
    END,
    NEGATIVE,
    START,
    Phrase,
    pattern,
    quote,
    word_set,
    words,
)
from domain.text import fold

MINUTES_MAX = 1440
HOURS_PER_DAY = 8

_COUNTS = {
    name.replace("_", " "): count
    for count, names in (
        (0.25, "quarter_of_an a_quarter_of_an eine_viertel"),
        (
            0.5,
            (
                "half_a half_an half a_half ein_halber einen_halben eine_halbe halbe halber halben "
                "einer_halben einem_halben ne_halbe nen_halben"
            ),
        ),
        (0.75, "three_quarters_of_an eine_dreiviertel ne_dreiviertel dreiviertel"),
        (
            1,
            (
                "the_whole the_entire a_whole den_ganzen der_ganze ein_ganzer einen_ganzen ganzen "
                "all a an one ein eine einen einer eines ne nen"
            ),
        ),
        (1.5, "anderthalb eineinhalb one_and_a_half an_hour_and_a_half einundhalb"),
        (2, "two zwei a_couple_of a_couple couple_of"),
        (2.5, "two_and_a_half zweieinhalb"),
        (3, "three drei"),
        (3.5, "three_and_a_half dreieinhalb"),
        (4, "four vier"),
        (5, "five fünf"),
        (6, "six sechs"),
        (7, "seven sieben"),
        (8, "eight acht"),
        (9, "nine neun"),
        (10, "ten zehn"),
        (12, "twelve zwölf"),
        (15, "fifteen fünfzehn"),
        (20, "twenty zwanzig"),
        (30, "thirty dreissig"),
        (40, "forty vierzig"),
        (45, "forty-five fünfundvierzig"),
        (90, "ninety neunzig"),
    )
    for name in names.split()
}
_COUNT = "|".join(sorted(_COUNTS, key=len, reverse=True)).replace("dreissig", "dreißig")
_UNIT = (
    r"h|hrs?|hours?|minutes?|minuten?|mins?|std|stündchen|stunden?|dreiviertelstunden?|"
    r"viertelstunden?|halbstunde|days?|tage?n?|work(?:ing)? days?|arbeitstage?n?|personentage?|"
    r"afternoons?|evenings?|mornings?|vormittage?|nachmittage?|abende?"
)
_DAYS = "afternoon evening morning vormittag nachmittag abend".split()
LENGTH = (
    r"(?:\d{1,3} ?(?:h|min|std|hours?|minutes?)?\.? ?(?:-|–|to|bis|or|oder) ?|(?:one|two|three|"
    r"four|ein|eine|zwei|drei|vier) (?:to|or|bis|oder) "
    rf")?(?:(?P<digits>\d{{1,4}}(?:[.,]\d{{1,2}})?)[ -]?|(?P<count>{_COUNT})[ -](?:knappe |knapp |"
    r"gute |guten |gut |solid |good |full |ganze |ganzer |ganzen |whole |"
    rf"entire )?)(?P<unit>{_UNIT})\.?(?: ?(?:and |und )?(?P<more>\d{{1,2}}) ?(?:m|"
    rf"min)?)?(?: (?P<half>and a half|einhalb))?{END}"
)
_ABOUT = (
    r"(?:(?:about|around|roughly|approximately|approx\.?|ca\.?|circa|etwa|ungefähr|rund|maybe|"
    r"probably|wohl|up to|at least|mindestens|another|noch|only|just|nur|max\.?|me|us|mich|uns|ich|"
    r"wir|bestimmt|wahrscheinlich|so|a good|good|gut|gute|at|most|maximal|höchstens|more|longer|"
    r"than|less|länger|mehr|als|not|nicht|keine|es|it|still|mal|with|mit|auf|the|das|die|"
    r"vermutlich|schätzungsweise|about|for|für|insgesamt|in|total|all|einen|locker|easily|now|"
    r"vielleicht|möglicherweise|man|you|one|we|i|jetzt|of|um|die|extra|need|this|dafür|for it|"
    r"for this|mal|lieber|besser|ruhig|halt|gleich|auch|is|sind|ist|doch|eher|say) |~ ?|≈ ?){0,6}"
)
_EFFORT = (
    r"takes?|taking|estimated?|estimate is|estimated at|estimates?|estimation|effort|aufwand|"
    r"dauert|dauern|dauer|geschätzt|geschätzt auf|schätzung|schätze|brauche|brauchen|brauch|"
    r"braucht|benötigt|needs?|reckon|guess|count on|plan|budget|allow|planned|rechne(?:n)?|"
    r"plane(?:n)?|veranschlage|kalkuliere|zeitbedarf|arbeitsaufwand|duration|kostet mich|insgesamt|"
    r"in total|estimated (?:time|effort|duration)|time (?:needed|required)|geschätzte (?:zeit|"
    r"dauer)|keep (?:me|us) busy(?: for)?|call it|give it|make it|figure|figure on|assume|assuming|"
    r"all in all|altogether|sagen wir|alles in allem|vermute|tippe auf|sitzt man|zusammen|"
    r"geschätzter aufwand|plan on|quick(?: one| job| thing)?|geht schnell|schnell gemacht|"
    r"sache von|matter of|job of|zeitaufwand|reichen|genügen|reicht|costs? (?:me|us)|will cost me|"
    r"expect|think|denke|i'd say|i would say|sitze ich|budgeting|allowing|planning|"
    r"reckoning(?: on)?|counting on|looking at|talking about|eats? up|swallows?|fills?|kosten|"
    r"beanspruch(?:t|en)|shouldn't be|won't be|nicht mehr als|braucht man|brauchst du|braucht's|"
    r"benötige(?:n)?|veranschlagt(?: sind)?|set(?:ting)? (?:myself )?|reserve|reserviere|dauert's|"
    r"hält (?:mich|uns)|(?:put|set|lay) aside|block(?:ing)? out|plant|(?:geht|ist) (?:fix|flott|"
    r"ruckzuck)(?: gemacht)?|fix gemacht|dauert nicht lange?|(?:won't|doesn't|shouldn't) take long|"
    r"(?:small|short|little|tiny) (?:job|one|thing)|(?:kleine|kurze|schnelle) (?:sache|nummer)|ewa|"
    r"more like|eher|should be|sollten es|set aside|block|blocke"
)
_VAGUE = pattern(
    rf"{START}{_ABOUT}{LENGTH},? (?P<cue>vielleicht|maybe|perhaps|or thereabouts|oder so|ungefähr|"
    r"circa|roughly|wohl|at a guess|if that|wenn's hochkommt|give or take|mehr oder weniger|"
    r"more or less|at least|mindestens|at a push|grob geschätzt|or less|oder weniger|or more|"
    r"oder mehr|grob|alles in allem|all in|unterm strich|beschäftigt|zugange|busy|am werk|"
    r"geschätzt|mehr nicht|not more|no more|länger nicht|und gut ist)(?=[.!,;]|$)"
)
_ESTIMATES = (
    pattern(rf"{START}(?P<cue>{_EFFORT})(?: ?[:,=])? {_ABOUT}{LENGTH}"),
    pattern(rf"(?P<cue>~|≈) ?{LENGTH}"),
    pattern(
        rf"{START}{_ABOUT}{LENGTH}(?:'s?)?(?: worth)? (?P<cue>of work|work|altogether|in total|"
        r"all told|in all|insgesamt|zusammen|arbeit|aufwand|effort|is plenty|are plenty|plenty|"
        r"should do it|will do it|or so|dran|arbeiten|job|tops|at most|max\.?|maximal|höchstens|"
        r"should (?:do|be enough|suffice|cover)|will (?:do|be enough)|is enough|are enough|"
        r"ought to|(?:sollten?|müssten?|dürften?|werden)(?: \w+)? (?:reichen|genügen|"
        r"dafür reichen|langen)|reichen|reicht|genügen|einplanen|einrechnen|veranschlagt|"
        r"eingeplant|i guess|i think|i'd say|i reckon|schätze ich|würde ich sagen|denke ich|"
        r"zu tun|(?:to do|to finish|to get) (?:it|this|that|all of it|everything|the job|"
        rf"the whole thing)(?: done)?){END}"
    ),
    pattern(
        rf"{START}{_ABOUT}{LENGTH} (?P<cue>(?:sollte|sollten|wird|dürfte|should|"
        rf"will)(?: \w+){{1,3}}? (?:dauern|brauchen|take|need)){END}"
    ),
    pattern(
        rf"{START}(?P<cue>dürfte|kann|wird|werde|werden|muss|müssen|"
        rf"sollte) {_ABOUT}{LENGTH} (?:brauchen|dauern|kosten|in anspruch nehmen|benötigen|"
        rf"daran sitzen){END}"
    ),
    pattern(
        r"^(?P<cue>(?:(?:das|es) )?(?:sind|wird|werden|wären|dürften)(?: (?:das|"
        rf"es))?) {_ABOUT}{LENGTH}[.!]?$"
    ),
    pattern(
        rf"{START}(?:mehr|länger) als {LENGTH} (?P<cue>(?:brauche?n?t?|"
        rf"dauert) [^.,;]{{0,30}}?nicht){END}"
    ),
    pattern(rf"{START}(?:mehr|länger) als {LENGTH} (?P<cue>dauern|brauchen|kosten){END}"),
    pattern(rf"{START}{_ABOUT}{LENGTH} (?P<cue>muss man rechnen|musst du rechnen){END}"),
    pattern(rf"{START}(?:an? )?{LENGTH}(?P<cue> job| task| thing| affair| angelegenheit)"),
    pattern(
        rf"{START}{_ABOUT}{LENGTH} (?P<cue>(?:werde?n?|wird|dürfte?n?|muss|müssen|brauche?n?t?|"
        r"sitze?n?|kostet|nimmt)(?: (?:ich|wir|man|es|das|mich|uns|da|dafür|wohl|sicher|bestimmt|"
        r"schon|mindestens|dran|daran|damit|in|anspruch|drauf)){0,6}(?: (?:brauchen|dauern|"
        r"benötigen|kosten|sitzen|rechnen|einplanen|investieren))?)(?=[.,!;]|$)"
    ),
    pattern(
        rf"{START}(?:geht|gehen|fällt|werden) (?:\w+ ){{0,4}}?{LENGTH} (?P<cue>drauf|weg|"
        rf"draufgehen|ins land|flöten){END}"
    ),
    _VAGUE,
    pattern(
        rf"{START}in {_ABOUT}{LENGTH} (?P<cue>(?:bin ich|sind wir|ist das|ist es|sollte das|"
        rf"kann das) (?:damit |wohl )?(?:durch|fertig|erledigt|gehen|zu schaffen)){END}"
    ),
    pattern(
        rf"{START}(?P<cue>can be done|doable|done|finished|machbar|zu schaffen|erledigt|"
        r"(?:schaffe?n?|kriegen?|erledigen?) (?:ich|wir|man|wir's|ich's)(?: das| es| sie)?(?: hin|"
        r" fertig)?|(?:manage|do|finish|crack|get) (?:it|this|that|them|all of it)(?: done)?|"
        rf"fertig|schaffbar|schaffe ich|geht|to be done) in {_ABOUT}{LENGTH}"
    ),
    pattern(
        rf"{START}in {_ABOUT}{LENGTH} (?P<cue>machbar|zu schaffen|erledigt|doable|fertig|done|"
        r"gemacht|gegessen|getan|geschafft|abgehakt|über die bühne|vom tisch|finished|sorted)"
    ),
    pattern(
        rf"^(?P<cue>){_ABOUT}{LENGTH}(?:,? (?:mehr nicht|not more|no more|at most|tops|max\.?|"
        r"höchstens|maximal|i guess|i think|schätze ich))?[.!]?$"
    ),
)
_NUMBER = (
    rf"(?P<{{0}}>[0-9]{{{{1,3}}}}(?:[.,][0-9])?|{'|'.join(COUNTS)}) ?(?P<{{0}}u>h|hrs?|hours?|m|"
    r"min|mins|minutes?|minuten?|std|stunden?)"
)
_EACH = pattern(
    rf"{START}(?P<n>\d{{1,3}}|{'|'.join(COUNTS)}) [\w]{{3,20}}(?:,|,? at| zu| à| mit)(?: je| about|"
    rf" around| ca\.?| etwa)? {_NUMBER.format('b')}(?: (?:each|apiece|jeweils)| (?:a|an|per|"
    r"pro) \w+)?(?=[.,;!)]|$)"
)
_SUM = pattern(rf"{START}{_NUMBER.format('a')} ?(?:\+|plus) ?{_NUMBER.format('b')}{END}")
_HINT = pattern(rf"[0-9](?:{_UNIT})|{START}(?:{_UNIT}){END}")  # cheap: most name no unit of time
_DENIED = word_set("if wenn falls whether ob never nie")
_NOT_IT = word_set(
    "took spent waited worked talked slept ago later late delayed dauerte gebraucht gewartet "
    "gearbeitet verspätet vor seit every each alle jede jeden jeder older left past per pro since "
    "journey drive flight train bus ride trip way there fahrt flug zug anreise weg hinfahrt walk "
    "commute meeting meetings film movie concert konzert besprechung sitzung course kurs lesson "
    "appointment termin unterricht termine opens öffnet closes dry dries drying trocknen trocknet "
    "trocknungszeit bake bakes oven ofen backen wait wartezeit waiting warten break pause delivery "
    "lieferzeit lieferung shipping versand old alt alte sleep schlaf lasts hold warteschleife "
    "queue stau traffic download upload battery akku lunch dinner party mittagessen video song "
    "album recording aufnahme call warranty garantie soak cure ruhen ziehen hatte hatten war waren "
    "was were umfahrung autofahrt zugfahrt bahnfahrt ferry fähre lang match spiel game talk "
    "vortrag saß sass she he they er hat earlier früher before gedauert pendeln"
)
_MARK = pattern(r"[,;:]| (?:and|but|und|aber|once|sobald) ")
_PEOPLE = word_set("he she they er hat")
_TRAVEL = pattern(
    rf"{START}(?:to get (?:there|here|to)|hin und zurück|there and back|each way|one way|by (?:car|"
    r"train|bus|bike)|mit (?:dem |der )?(?:auto|zug|bahn|rad|bus)|von hier|from here|entfernt|"
    rf"away|hin){END}"
)


def estimate(sentence: Sentence) -> Phrase | None:
    """The effort a sentence names, in minutes.

    >>> from adapters.models.offline.clauses import sentence
    >>> estimate(sentence("Dauert ca. 45 Minuten.")).value
    '45'
    """
    if sentence.is_asked or _HINT.search(sentence.text) is None:
        return None
    for rule in (_EACH, _SUM):
        if (made := rule.search(sentence.text)) and not sentence.is_others(made.start()):
            sums = [_plain(made, "a"), _plain(made, "b")]
            total = (
                round((COUNTS.get(fold(made["n"])) or int(made["n"])) * sums[1])
                if rule is _EACH
                else round(sum(sums))
            )
            return Phrase(str(total), quote(sentence.text, made.start(), made.end()))
    best: Phrase | None = None
    for rule in _ESTIMATES:
        for match in rule.finditer(sentence.text):
            found = 0 if best or _is_other(sentence, match) else minutes(match)
            if 1 <= found <= MINUTES_MAX:
                best = Phrase(str(found), quote(sentence.text, match.start(), match.end()))
    return best


def _plain(match: re.Match[str], side: str) -> float:
    told = match.groupdict()
    named = fold(told.get(side) or "0")
    count = COUNTS.get(named) or float(named.replace(",", "."))
    return count * (60 if fold(told.get(f"{side}u") or "").startswith(("h", "st")) else 1)


def minutes(match: re.Match[str]) -> int:
    """How long a match of `LENGTH` says that something takes."""
    if digits := match["digits"]:
        count = float(digits.replace(",", "."))
    else:
        count = _COUNTS[fold(match["count"])]
    if match["half"]:
        count += 0.5
    unit = fold(match["unit"])
    if unit.startswith("dreiv"):
        return round(count * 45)
    if unit.startswith("viertel"):
        return round(count * 15)
    if unit.startswith("halbst"):
        return round(count * 30)
    if unit.rstrip("se") in _DAYS:
        return round(count * HOURS_PER_DAY * 30)
    if unit.startswith("m"):
        return round(count)
    if unit.startswith(("d", "t", "w", "a", "p")):
        return round(count * HOURS_PER_DAY * 60)
    return round(count * 60) + int(match["more"] or 0)


def _is_other(sentence: Sentence, match: re.Match[str]) -> bool:
    """Whether it is how long something else takes, or took."""
    if sentence.is_others(match.start()):
        return True
    clause = sentence.clause(match.start())
    rest = _MARK.split(sentence.text[match.end() :], maxsplit=1)[0]
    if words(rest)[:1] in (["nicht"], ["not"]):
        return True
    start = max(clause.start, *(sentence.text.rfind(one, 0, match.start()) for one in ",;:"))
    said = {*words(sentence.text[max(0, start) : match.end()]), *(set(words(rest)) - _PEOPLE)}
    if (
        not _NOT_IT.isdisjoint(said - {*words(match["cue"])})
        or _TRAVEL.search(sentence.text, match.end()) is not None
    ):
        return True
    before = words(sentence.text[max(0, start) : match.start()])
    if not _DENIED.isdisjoint(before):
        return True
    if match.re is _VAGUE and any(map(lemmas.is_past, before)):
        return True
    return _is_negative(before, match)


def _is_negative(before: list[str], match: re.Match[str]) -> bool:
    """ "not more than 20 min" is a bound; "does not take 2 hours" says nothing."""
    inner = words(match[0])
    is_bound = bool(
        {"more", "longer", "länger", "mehr", "long", "lang", "lange"} & {*before, *inner}
    )
    is_denied = not NEGATIVE.isdisjoint([*before, *inner])
    return is_denied and not is_bound
