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
            rf"{START}(?:production (?:is )?down|showstopper|(?:priority|prio|priorität) ?:? ?p?0|"
            r"(?:this is|it's|it is) an emergency|(?:das|es) ist ein notfall|drop everything(?: "
            r"else)?|(?:this|it|everything) is on fire|"
            r"alarmstufe rot|red alert|"
            r"alles andere liegen lassen|"
            r"(?:critical|kritisch)(?= (?:bug|outage|fehler|ausfall|priority|priorität))|"
            r"alles stehen und liegen lassen|(?:site|server|shop) is down|"
            r"(?:server|shop|seite|produktion) (?:ist down|steht still|liegt lahm)"
            rf"){END}"
        ),
    ),
    (
        "P1",
        pattern(
            rf"{START}(?:urgent|urgently|asap|as soon as possible|dringend|dringende?r?|dringed|"
            rf"dringent|eilt|eilig|"
            r"so schnell wie möglich|(?:top|highest|high) prio(?:rity)?|"
            r"(?:höchste|hohe) prio(?:rität)?|schnellstmöglich|schnellstens|sofort erledigen|"
            r"time[- ]critical|can't wait any longer|cannot wait|"
            r"(?:this|it|that) can't wait|kann nicht (?:mehr |länger )?warten|"
            r"duldet keinen aufschub|"
            r"pressiert|has priority|(?:super|extremely|extrem) (?:important|wichtig)|prio eins|"
            r"hat priorität|so bald wie möglich|time is running out|"
            r"super urgent|jumps? the queue|(?:to|at) the (?:front of the queue|top of (?:the|my|"
            r"our) "
            r"(?:list|pile))|top of (?:the|my|our) (?:list|pile)|before anything else|"
            r"ahead of everything(?: else)?|do this (?:one )?first|this (?:one|goes|one goes) "
            r"first|"
            r"(?:must|has to|should|needs to) (?:be done|come|go|happen) first|"
            r"(?:can't|cannot|can not|mustn't) (?:be left|leave (?:this|it)|put (?:this|it) "
            r"off)|(?:this|it) (?:mustn't|must not|won't) wait|(?:no time|not a (?:minute|moment|"
            r"day)) to lose|clock is ticking|"
            r"running out of time|pronto|as (?:quickly|fast) as (?:possible|you can|we can)|"
            r"high(?:est)? importance|vital|matters most|the sooner the better|"
            r"needs? (?:sorting|doing|fixing|seeing to|attention) (?:right now|right away|"
            r"straight away|immediately|asap|now|today|at once)|"
            r"drängt|drängend|duldet keine verzögerung|(?:am )?(?:allererstes|als erste[sr]?)"
            r"(?= [^.,;]{0,20}(?:gemacht|erledigt|dran|machen|erledigen|kommen|weg|raus))|"
            r"vor allem anderen|keine (?:zeit|minute) zu verlieren|nicht (?:länger|mehr) "
            r"(?:warten|aufschieben|liegen bleiben|aufgeschoben werden)|"
            r"(?:kann|darf) nicht (?:mehr |länger )?(?:liegen ?bleiben|warten|aufgeschoben werden)|"
            r"schleunigst|auf der stelle|jetzt gleich|so schnell(?: es|'s)? geht|akut|"
            r"möglichst (?:schnell|bald)|ganz oben auf (?:der|meiner|unserer) liste|"
            r"an erster stelle|chefsache|je (?:eher|früher|schneller),? desto besser|dringlich|"
            r"lieber (?:heute|gestern) als morgen|am besten gestern|yesterday if possible|"
            r"(?:can't|cannot) be put off|absolute priorität|pressing|crucial|"
            r"brennt unter den nägeln|hat vorrang|vorrang|takes precedence|first priority|"
            r"number one priority|"
            r"(?:please|must|needs?|has to|bitte|muss)[^.,;]{0,40} (?:right away|straight ?away|"
            r"immediately|"
            r"at once|"
            r"unverzüglich|umgehend|sofort)|bitte[^.,;]{0,30} (?:gleich|heute noch|schnell)|"
            r"brandeilig|oberste "
            r"prio(?:rität)?|höchste eisenbahn|"
            r"(?:please|must|have to|need to|better) hurry|die zeit drängt|very important|"
            r"(?:this|it|das) (?:comes|kommt) (?:first|zuerst)|"
            r"most important thing (?:on (?:my|our)|i have|we have|right now|at the moment|of "
            r"all|today)|höchste zeit|"
            r"(?:^|(?<=das )|(?<=es ))brennt(?=!|$)|(?:hier|bei uns) brennt'?s?|brennt's|"
            r"sehr wichtig|zeit wird (?:langsam )?knapp|"
            r"wird (?:es |das )?(?:langsam |richtig |jetzt |echt |allmählich )*(?:eng|brenzlig|"
            r"ernst)|"
            rf"(?:priority|prio|priorität) ?:? ?(?:p1|1|high|hoch)){END}(?! care{END})"
        ),
    ),
    (
        "P3",
        pattern(
            rf"{START}(?:low(?:er|est)? prio(?:rity)?|(?:niedrige|geringe) prio(?:rität)?|"
            r"(?:priority|prio|priorität) ?:? ?(?:p3|3|low|niedrig)|no (?:rush|hurry)|"
            r"keine? (?:eile|hektik)|keine große eile|(?:das|es|dies|damit) hat (?:noch |"
            r"alle )?zeit(?! bis)|hat (?:noch|alle) zeit(?! bis)|"
            r"(?:this|it|das|es) (?:can|kann) (?:gerne? |noch |easily )*(?:wait|warten)|"
            r"at your leisure|not pressing|any time will do|no time pressure|kein zeitdruck|"
            r"ohne zeitdruck|"
            r"(?:it|this|that)(?:'ll| will) keep|not (?:fussed|bothered) when|purely cosmetic|"
            r"when there's nothing else|wenn sonst nichts (?:an\w+|zu tun|ist)|"
            r"wenn (?:du|ich|wir|ihr|man) (?:mal |irgendwann |gerade |wieder )*(?:zeit|luft|lust) "
            r"(?:hast|habe|haben|habt|hat)|no need to (?:rush|hurry)(?! up)|soon enough|"
            r"nice[- ]to[- ]have|bottom of (?:the|my|our) (?:pile|list)|not (?:that |very |"
            r"really |so |"
            r"terribly |all that )?important|isn't (?:that |very |really |so )?important|"
            r"unimportant|low on (?:the|my|our) list|some day(?=[.!]|$)|"
            r"(?:no big deal|no panic)(?=[.!,;]|$)|(?:doesn't|does not) matter when|"
            r"(?:won't|not going to) run away|(?:isn't|not) going anywhere|in (?:its|our|your|my) "
            r"own time|(?:only )?if there's (?:any )?time(?: left)?|at some point(?=[.!]|$)|"
            r"there's no (?:rush|hurry)|in no (?:rush|hurry)|don't rush|when there's nothing "
            r"better|"
            r"(?:doesn't|does not) have to be (?:soon|now|today)|(?:there's|there is) time enough|"
            r"(?:is(?:t)? )?(?:aber |auch |wirklich |eigentlich )*kein muss|läuft (?:uns |mir |ja |"
            r"dir )*nicht (?:weg|davon)|nicht (?:so |sehr |wirklich |besonders |weiter |gerade )?"
            r"(?:wichtig|eilig|tragisch)(?! genug)|irgendwann (?:mal|einmal)|nur (?:die )?kür|"
            r"(?:nebenbei|nebenher)(?= (?:machen|erledigen|mitlaufen))|wenn (?:mal |gerade )?luft "
            r"ist|(?:lassen|lass|nehmen|nimm) (?:wir |dir |uns |euch )+(?:ruhig |gerne |da )?zeit|"
            r"(?:uns|dir|euch|mir) (?:ruhig |gern |gerne )?zeit (?:lassen|nehmen)|"
            r"reicht auch (?:später|noch|nächste|nächsten|irgendwann)|egal,? wann|hinten ?an|"
            r"(?:ganz )?unten auf (?:der|meiner) liste|keinen? (?:stress|druck|panik)|"
            r"wäre (?:ganz )?(?:nett|schön)(?=,? (?:aber|mehr|ist))|"
            r"nachrangig|back of the queue|when(?:ever)? i get (?:round|around) to it|"
            r"(?:plenty|lots) of time(?: for| to|$|[.!])|take (?:your|our|my) time|zeit lassen|"
            r"(?:noch )?(?:reichlich|genug|viel) zeit|^hat zeit(?! bis)|irgendwann mal|"
            r"^(?:some ?day|one of these days)|bei gelegenheit|"
            r"whenever (?:you|i|we) (?:get|find|feel|can|like)|"
            r"(?:doesn't|does not|needn't|need not)(?: have to| need to)? be (?:soon|now|today)|"
            r"muss nicht (?:gleich|sofort|jetzt|heute|bald) (?:sein|passieren)|"
            r"wenn (?:mal |irgendwann )?zeit ist|nicht vordringlich|hat keine eile|"
            r"(?:eilt|pressiert|drängt|brennt) (?:überhaupt |gar |ja |wirklich |aber )*nicht|"
            r"unwichtig|whenever (?:there is|"
            r"there's|you have|i have|we have) (?:some )?time|"
            rf"wenn mal zeit ist|not a priority|keine priorität){END}"
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
