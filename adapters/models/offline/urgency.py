"""How urgent a text says a task is."""

from adapters.models.offline.clauses import Sentence
from adapters.models.offline.sentences import (
    CONDITIONAL,
    END,
    NEGATIVE,
    START,
    Phrase,
    pattern,
    quote,
    word_set,
    words,
)

_URGENT = (
    (
        "P0",
        pattern(
            rf"{START}(?:(?:is|are) (?:flooding|flooded|on fire)|burst pipe|gas leak|(?:ist|"
            r"steht) (?:überschwemmt|unter wasser)|production (?:is )?down|showstopper|"
            r"(?:priority|prio|priorität) ?:? ?p?0|(?:this is|it's|it is) an emergency|(?:das|"
            r"es) ist ein notfall|drop everything(?: else)?|(?:this|it|everything) is on fire|"
            r"alarmstufe rot|red alert|alles andere liegen lassen|(?:critical|kritisch)(?= (?:bug|"
            r"outage|fehler|ausfall|priority|priorität))|alles stehen und liegen lassen|(?:site|"
            r"server|shop) is down|(?:server|shop|seite|produktion) (?:ist down|steht still|"
            rf"liegt lahm)){END}"
        ),
    ),
    (
        "P1",
        pattern(
            rf"{START}(?:urgent|urgently|asap|as soon as possible|dringend|dringende?r?|dringed|"
            r"dringent|eilt|eilig|so schnell wie möglich|(?:top|highest|high) prio(?:rity)?|"
            r"(?:höchste|hohe) prio(?:rität)?|schnellstmöglich|schnellstens|sofort erledigen|"
            r"time[- ]critical|can't wait any longer|cannot wait|(?:this|it|that) can't wait|"
            r"kann nicht (?:mehr |länger )?warten|duldet keinen aufschub|pressiert|has priority|"
            r"(?:super|extremely|extrem) (?:important|wichtig)|prio eins|hat priorität|"
            r"so bald wie möglich|time is running out|super urgent|jumps? the queue|(?:to|"
            r"at) the (?:front of the queue|top of (?:the|my|our) (?:list|pile))|top of (?:the|my|"
            r"our) (?:list|pile)|before anything else|ahead of everything(?: else)?|"
            r"do this (?:one )?first|this (?:one|goes|one goes) first|(?:must|has to|should|"
            r"needs to) (?:be done|come|go|happen) first|(?:can't|cannot|can not|"
            r"mustn't) (?:be left|leave (?:this|it)|put (?:this|it) off)|(?:this|it) (?:mustn't|"
            r"must not|won't) wait|(?:no time|not a (?:minute|moment|day)) to lose|"
            r"clock is ticking|running out of time|pronto|as (?:quickly|fast) as (?:possible|"
            r"you can|we can)|high(?:est)? importance|vital|matters most|the sooner the better|"
            r"needs? (?:sorting|doing|fixing|seeing to|attention) (?:right now|right away|"
            r"straight away|immediately|asap|now|today|at once)|drängt|drängend|"
            r"duldet keine verzögerung|(?:am )?(?:allererstes|"
            r"als erste[sr]?)(?= [^.,;]{0,20}(?:gemacht|erledigt|dran|machen|erledigen|kommen|"
            r"weg|raus))|vor allem anderen|keine (?:zeit|minute) zu verlieren|nicht (?:länger|"
            r"mehr) (?:warten|aufschieben|liegen bleiben|aufgeschoben werden)|(?:kann|"
            r"darf) nicht (?:mehr |länger )?(?:liegen ?bleiben|warten|aufgeschoben werden)|"
            r"schleunigst|auf der stelle|jetzt gleich|so schnell(?: es|'s)? geht|akut|"
            r"möglichst (?:schnell|bald)|ganz oben auf (?:der|meiner|unserer) liste|"
            r"an erster stelle|chefsache|je (?:eher|früher|schneller),? desto besser|dringlich|"
            r"lieber (?:heute|gestern) als morgen|am besten gestern|yesterday if possible|"
            r"(?:can't|cannot) be put off|absolute priorität|pressing|crucial|"
            r"brennt unter den nägeln|hat vorrang|vorrang|takes precedence|first priority|"
            r"number one priority|(?:please|must|needs?|has to|bitte|"
            r"muss)[^.,;]{0,40} (?:right away|straight ?away|immediately|at once|unverzüglich|"
            r"umgehend|sofort)|bitte[^.,;]{0,30} (?:gleich|heute noch|schnell)|brandeilig|"
            r"oberste prio(?:rität)?|höchste eisenbahn|(?:please|must|have to|need to|"
            r"better) hurry|die zeit drängt|very important|(?:this|it|das) (?:comes|"
            r"kommt) (?:first|zuerst)|most important thing (?:on (?:my|our)|i have|we have|"
            r"right now|at the moment|of all|today)|höchste zeit|(?:^|(?<=das )|"
            r"(?<=es ))brennt(?=!|$)|(?:hier|bei uns) brennt'?s?|brennt's|sehr wichtig|"
            r"zeit wird (?:langsam )?knapp|wird (?:es |das )?(?:langsam |richtig |jetzt |echt |"
            r"allmählich )*(?:eng|brenzlig|ernst)|(?:priority|prio|priorität) ?:? ?(?:p1|1|high|"
            rf"hoch)){END}(?! care{END})"
        ),
    ),
    (
        "P3",
        pattern(
            rf"{START}(?:low(?:er|est)? prio(?:rity)?|(?:niedrige|geringe) prio(?:rität)?|"
            r"(?:priority|prio|priorität) ?:? ?(?:p3|3|low|niedrig)|no (?:rush|hurry)|"
            r"keine? (?:eile|hektik)|keine große eile|(?:das|es|dies|damit) hat (?:noch |"
            r"alle )?zeit(?! bis)|hat (?:noch|alle) zeit(?! bis)|(?:this|it|das|es) (?:can|"
            r"kann) (?:gerne? |noch |easily )*(?:wait|warten)|at your leisure|not pressing|"
            r"any time will do|no time pressure|kein zeitdruck|ohne zeitdruck|(?:it|this|"
            r"that)(?:'ll| will) keep|not (?:fussed|bothered) when|purely cosmetic|"
            r"when there's nothing else|wenn sonst nichts (?:an\w+|zu tun|ist)|wenn (?:du|ich|wir|"
            r"ihr|man) (?:mal |irgendwann |gerade |wieder )*(?:zeit|luft|lust) (?:hast|habe|haben|"
            r"habt|hat)|no need to (?:rush|hurry)(?! up)|soon enough|nice[- ]to[- ]have|"
            r"bottom of (?:the|my|our) (?:pile|list)|not (?:that |very |really |so |terribly |"
            r"all that )?important|isn't (?:that |very |really |so )?important|unimportant|"
            r"low on (?:the|my|our) list|some day(?=[.!]|$)|(?:no big deal|no panic)(?=[.!,;]|$)|"
            r"(?:doesn't|does not) matter when|(?:won't|not going to) run away|(?:isn't|"
            r"not) going anywhere|in (?:its|our|your|my) own time|"
            r"(?:only )?if there's (?:any )?time(?: left)?|at some point(?=[.!]|$)|"
            r"there's no (?:rush|hurry)|in no (?:rush|hurry)|don't rush|"
            r"when there's nothing better|(?:doesn't|does not) have to be (?:soon|now|today)|"
            r"(?:there's|there is) time enough|(?:is(?:t)? )?(?:aber |auch |wirklich |"
            r"eigentlich )*kein muss|läuft (?:uns |mir |ja |dir )*nicht (?:weg|davon)|"
            r"nicht (?:so |sehr |wirklich |besonders |weiter |gerade )?(?:wichtig|eilig|"
            r"tragisch)(?! genug)|irgendwann (?:mal|einmal)|nur (?:die )?kür|(?:nebenbei|"
            r"nebenher)(?= (?:machen|erledigen|mitlaufen))|wenn (?:mal |gerade )?luft ist|"
            r"(?:lassen|lass|nehmen|nimm) (?:wir |dir |uns |euch )+(?:ruhig |gerne |da )?zeit|"
            r"(?:uns|dir|euch|mir) (?:ruhig |gern |gerne )?zeit (?:lassen|nehmen)|"
            r"reicht auch (?:später|noch|nächste|nächsten|irgendwann)|egal,? wann|hinten ?an|"
            r"(?:ganz )?unten auf (?:der|meiner) liste|keinen? (?:stress|druck|panik)|"
            r"wäre (?:ganz )?(?:nett|schön)(?=,? (?:aber|mehr|ist))|nachrangig|back of the queue|"
            r"when(?:ever)? i get (?:round|around) to it|(?:plenty|lots) of time(?: for| to|$|"
            r"[.!])|take (?:your|our|my) time|zeit lassen|(?:noch )?(?:reichlich|genug|viel) zeit|"
            r"^hat zeit(?! bis)|irgendwann mal|^(?:some ?day|one of these days)|bei gelegenheit|"
            r"whenever (?:you|i|we) (?:get|find|feel|can|like)|(?:doesn't|does not|needn't|"
            r"need not)(?: have to| need to)? be (?:soon|now|today)|muss nicht (?:gleich|sofort|"
            r"jetzt|heute|bald) (?:sein|passieren)|wenn (?:mal |irgendwann )?zeit ist|"
            r"nicht vordringlich|hat keine eile|(?:eilt|pressiert|drängt|brennt) (?:überhaupt |"
            r"gar |ja |wirklich |aber )*nicht|unwichtig|whenever (?:there is|there's|you have|"
            r"i have|we have) (?:some )?time|wenn mal zeit ist|not a priority|"
            rf"keine priorität){END}"
        ),
    ),
)
_OVER = pattern(" (?:any ?more|mehr)")
_LESS = word_set("less non weniger")
_OTHERS = word_set(
    "was were war waren hatte hatten had always immer other andere anderes anderen wäre wären else "
    "theirs ihnen calls meeting call anruf"
)


def urgency(sentence: Sentence) -> Phrase | None:
    """The priority a sentence asks for; an empty value where it denies urgency."""
    for priority, rule in (_URGENT[-1], *_URGENT[:-1]):
        match = None if sentence.is_asked else rule.search(sentence.text)
        if match is None or sentence.is_others(match.start()):
            continue
        clause = sentence.clause(match.start())
        before = frozenset(words(sentence.text[clause.start : match.start()]))
        around = frozenset(clause.words) - {*words(match[0])}
        around -= {"else"} if "nothing" in around else set()
        if not _OTHERS.isdisjoint(around) or not _OTHERS.isdisjoint(before):
            return None
        start = max(clause.start, sentence.text.rfind(",", 0, match.start()))
        close = frozenset(words(sentence.text[start : match.start()]))
        is_urgent = CONDITIONAL.isdisjoint(before) and (_LESS | NEGATIVE).isdisjoint(close)
        is_urgent = is_urgent and not _OVER.match(sentence.text, match.end())
        is_urgent = is_urgent and not _denied_after(sentence.text[match.end() : clause.end])
        return Phrase(
            priority if is_urgent else "", quote(sentence.text, match.start(), match.end())
        )
    return None


def _denied_after(rest: str) -> bool:
    """ "Eilt nicht", "eilig ist es nicht"."""
    return not word_set("nicht not nie").isdisjoint(words(rest)[:4])
