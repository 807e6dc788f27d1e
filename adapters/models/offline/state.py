"""Whether the work waits, goes on, rests or has begun.

Who waits is the person or the task: "Tom is waiting for my answer" blocks nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from adapters.models.offline import phrasing
from adapters.models.offline.clauses import Clause, Sentence
from adapters.models.offline.sentences import (
    CONDITIONAL,
    END,
    LETTERS,
    NEGATIVE,
    START,
    Phrase,
    pattern,
    quote,
    word_set,
    words,
)
from domain.text import cut

REASON_LENGTH_MAX = 200


class StateChange(Struct, frozen=True):
    """A word about the state of the work, with its place in the sentence."""

    state: Literal["blocked", "free", "hold", "started"]
    position: int
    phrase: Phrase


def turns(sentence: Sentence) -> list[StateChange]:
    """What a sentence says of blockers and progress, in its order."""
    if sentence.is_asked:
        return []
    blocked = list(_blocked(sentence))
    rules = FREE if blocked else (*FREE, MAY_GO_ON)
    free = _free(sentence, rules)
    found = [*blocked, *free, *_held(sentence), *_started(sentence)]
    told = [one for one in found if not sentence.is_others(one.position)]
    return sorted(told, key=lambda turn: turn.position)


def _blocked(sentence: Sentence) -> Iterator[StateChange]:
    if phrasing.rule("meanwhile").search(sentence.text):
        return
    spans: list[tuple[int, int]] = []
    for nth, rule in enumerate(WAITS):
        for match in rule.finditer(sentence.text):
            is_known = any(start <= match.start() < end for start, end in spans)
            reason = "" if is_known else _reason(sentence, match, is_own=nth < 2)
            if reason and not HANGS_ON.match(sentence.text, match.start()):
                spans.append((match.start(), match.start() + len(reason)))
                yield StateChange("blocked", match.start(), Phrase(reason, _whole(sentence, match)))
    if not spans and sentence.words[:1] in (("if",), ("wenn",), ("falls",), ("when",)):
        return
    late = _late(sentence) or _not_before(sentence)
    if late is not None and not spans:
        yield StateChange("blocked", late.start(), Phrase(late[0].strip(), _whole(sentence, late)))


def _late(sentence: Sentence) -> re.Match[str] | None:
    """ "The supplier hasn't shipped it yet"; what the person has not done yet blocks nothing."""
    found = LATE.search(sentence.text)
    told = frozenset(words(found[0])) if found else frozenset()
    said = frozenset(sentence.clause(found.start()).words) if found else told
    is_own = not {"i", "we", "ich", "wir", "habe", "hab"}.isdisjoint(said) and "heard" not in said
    is_open = not {"if", "wenn", "falls", "ob", "whether", "unless"}.isdisjoint(told)
    return None if is_own or is_open else found


def _not_before(sentence: Sentence) -> re.Match[str] | None:
    """ "Until they decide I can't do anything"."""
    found = NOT_BEFORE.search(sentence.text)
    if found is None or not PAST_BE.isdisjoint(words(found[0].rsplit(",", 1)[-1])):
        return None
    is_pending = PENDING.search(found[0]) is not None
    return None if is_pending and AWAITED.isdisjoint(words(found[0])) else found


def _reason(sentence: Sentence, match: re.Match[str], *, is_own: bool) -> str:
    """Cue and object of a blocker; empty where it is denied, past or about nobody's thing."""
    clause = sentence.clause(match.start())
    before = words(sentence.text[clause.start : match.start()])
    named = sentence.text[match.end() : match.end() + REASON_LENGTH_MAX]
    first = next(iter(words(named[:40])), "")
    denied = NEGATIVE | CONDITIONAL | PAST if is_own else CONDITIONAL | word_set("was were war")
    if not denied.isdisjoint(before) or "longer" in before:
        return ""
    if match["cue"].lower() == "auf " and clause.is_negative:
        return ""
    if is_own and not _is_own(before, match, sentence):
        return ""
    if is_own and (first in NO_OBJECT or OBJECT.match(named) is None):
        return ""
    if match.start() == 0 and THEN_WE.match(sentence.text[match.end() :]) and "ing" in match[0]:
        return ""
    named = CLAUSE_END.split(named)[0].rstrip(" .!,;:…")
    return cut(f"{match[0].rstrip()} {named}".strip(), length_max=REASON_LENGTH_MAX)


def _is_own(before: list[str], match: re.Match[str], sentence: Sentence) -> bool:
    """Whether who waits is the person, or the task."""
    cue = match[0].lower()
    if cue.startswith("wartet") and not {"es", "das", "alles", "projekt"} & {*before}:
        return False
    if cue.startswith(("wait", "await", "wart")):
        tail = words(sentence.text[match.end() : match.end() + 40])[:2]
        if tail[:1] and tail[0] in ("my", "our", "me", "us", "mich", "uns", "meine", "unsere"):
            return False
        return SELF.issuperset(one for one in before if not one.isdecimal())
    return True


def _free(sentence: Sentence, rules: Sequence[re.Pattern[str]]) -> Iterator[StateChange]:
    for rule in rules:
        for match in rule.finditer(sentence.text):
            clause = sentence.clause(match.start())
            before = words(sentence.text[clause.start : match.start()])
            inner = {*words(match[0])}
            denied = {*before} & (
                NEGATIVE
                | CONDITIONAL
                | word_set("until bis before erst hopefully hope hoffentlich")
            )
            is_free = {"longer", "mehr", "anymore", "nothing"}
            is_hindered = bool(denied) and not inner & is_free
            rest = words(sentence.text[match.end() : clause.end])[:4]
            is_later = not word_set("until bis once sobald wenn if when nicht erst").isdisjoint(
                rest
            )
            is_later = is_later or not LEADS_IF.isdisjoint(sentence.words[:1])
            if not is_hindered and not is_later:
                yield StateChange("free", match.start(), Phrase("", _whole(sentence, match)))
    for match in CAME.finditer(sentence.text):
        clause = sentence.clause(match.start())
        around = {*clause.words}
        if NOT_YET.isdisjoint(around):
            yield StateChange("free", match.start(), Phrase("came", _whole(sentence, match)))


def _held(sentence: Sentence) -> Iterator[StateChange]:
    for match in HOLD.finditer(sentence.text):
        clause = sentence.clause(match.start())
        start = max(clause.start, sentence.text.rfind(",", 0, match.start()))
        before = frozenset(words(sentence.text[start : match.start()]))
        said = frozenset(clause.words)
        denied = NEGATIVE | CONDITIONAL | word_set("off was war were hatte had longer before")
        is_other = PAUSES.search(match[0]) and not NO_HOLD.isdisjoint(said)
        if denied.isdisjoint(before - {"sollte", "sollten", "should"}) and not is_other:
            reason = CLAUSE_END.split(sentence.text[clause.start :])[0].strip(" .!,;:…")
            reason = cut(reason, length_max=REASON_LENGTH_MAX)
            yield StateChange("hold", match.start(), Phrase(reason, _whole(sentence, match)))


def _started(sentence: Sentence) -> Iterator[StateChange]:
    for rule in STARTED:
        match = rule.search(sentence.text)
        if match is None:
            continue
        clause = _up_to(sentence, match)
        if NOT_YET.isdisjoint(words(clause)):
            yield StateChange("started", match.start(), Phrase("", _whole(sentence, match)))
            return


def _up_to(sentence: Sentence, match: re.Match[str]) -> str:
    clause: Clause = sentence.clause(match.start())
    return sentence.text[min(clause.start, match.start()) : match.end()][-120:]


def _whole(sentence: Sentence, match: re.Match[str]) -> str:
    return quote(sentence.text, match.start(), match.end())


# -------------------------------------------------------------------------------------- the phrases
# The phrases by which work waits, goes on, rests or begins.

WAITS = (
    pattern(
        rf"{START}(?P<cue>pending (?=approval|confirmation|a decision|payment|delivery|feedback|"
        rf"an? answer|signature)|waiting (?:for|on|to (?:hear|get|receive|see))|(?:have|has|"
        rf"need|needs|"
        rf"got) to wait (?:for|on|until)|"
        r"must wait (?:for|until)|waiting until|wait until|awaiting|"
        r"(?:we|i|still|and|now) wait (?:for|on)|we'll wait for|(?:we|i) will wait for|"
        r"held up (?:by|until|at|in)|stalled (?:until|because|by)|hakt (?:noch )?(?:an|am)|"
        r"stockt wegen|on standby until|nothing (?:can|will) happen until|"
        r"blocked (?:by|on|because of|until|because)|blocked ?:|stuck (?:on|until|because|with|"
        r"without|waiting)|depends on|hinges on|hold on until) ?"
    ),
    pattern(
        rf"{START}(?P<cue>(?:warten?|wartet) (?:(?:noch|immer|derzeit|gerade|weiter|jetzt|ich|wir|"
        r"nur|also|seit [\w.]+(?: \w+)?|weiterhin|aktuell|momentan|alle|hier) ){0,4}auf|"
        r"auf (?=[^,;.]{2,80} (?:warten|gewartet werden)$|[^,;.]{2,80} warten[.!,;]|"
        r"[^,;.]{2,80} (?:warte|warten) (?:ich|wir))|"
        r"hängt (?:alles |noch |jetzt )*davon ab,? (?:ob|wann|was|wie)|hängt (?:noch |derzeit |"
        r"gerade |alles |jetzt |aktuell )*(?:an|am|von)|"
        r"blockiert (?:durch|von|wegen|bis|weil|solange)|blockiert ?:|abhängig von|"
        r"scheitert (?:noch |derzeit )?an|muss (?:noch )?warten,? bis|"
        r"müssen (?:noch )?warten,? bis|"
        r"müssen (?:erst |noch )?(?:auf) (?=[^,;.]{2,60} warten)) ?"
    ),
    pattern(
        rf"{START}(?P<cue>(?:can't|cannot|can not|unable to|won't be able to) (?:continue|"
        rf"proceed|go on|"
        r"start|begin|move on|finish|do anything|carry on|work on (?:it|this)|order anything|"
        r"go any further|progress|get (?:on|any further)|do more|[a-z]{3,10} (?:it|this|them|"
        r"anything|(?:the|my|our|any) [a-z]+))"
        r"[^,;.]{0,30}? (?:until|before|without|unless|as long as|till|because)) "
    ),
    pattern(
        rf"{START}(?P<cue>(?:(?:geht|gehts|geht's|komme|kommen|kann|können|läuft) [^,;.]{{0,40}}?"
        r"(?:nicht|erst)(?: \w+)? (?:weiter\w*|los\w*|voran\w*|anfangen|starten|beginnen|tun|"
        r"\w+en)|nicht weiter|erst weiter|stecken? fest),? "
        r"(?:bis|bevor|ohne|solange|ehe|weil|wenn|sobald|da)) "
    ),
    pattern(
        rf"{START}(?P<cue>(?:still no|no(?=[^,;.]{{3,40}} (?:yet|so far|from))|haven't (?:had|"
        rf"got|received|heard)(?: back| a| any)?|"
        r"has not|hasn't|have not|haven't)"
        r"(?: (?!been)\w+){0,2} (?:answer|reply|response|word|news|feedback|decision|"
        r"confirmation|replied|"
        r"answered|responded|heard back|got back|signed|delivered|confirmed|approved|sent)"
        r"(?= (?:from|by|to|yet|back|on|it|the|us|me|so|anything|our)|[,.;!]|$)) ?"
    ),
    pattern(
        rf"{START}(?P<cue>(?:noch|immer noch|bisher|bis jetzt|leider)(?: immer| noch)* "
        r"(?:keine?n?|nichts)(?: \w+)? "
        r"(?:antwort|rückmeldung|nachricht|zusage|freigabe|genehmigung|bestätigung|entscheidung|"
        r"rückruf|reaktion|termin|gehört|feedback)) ?"
    ),
)
NOT_BEFORE = pattern(
    rf"{START}(?P<cue>(?:until|till|without|before|as long as|bis|bevor|solange|ohne|ehe) "
    r"[^;.]{3,70}?,? (?:(?:i|we|it|nothing|geht|läuft|kann|können|komme|kommen|passiert) )+"
    r"(?:\w+ ){0,4}?(?:can't|cannot|won't|can do nothing|can happen|nichts|nicht|stuck|happens)\b"
    r"|(?:vorher|davor|bis dahin) (?:geht|passiert|läuft|kann|können|komme|kommen) "
    r"[^.,;]{0,20}?nichts?"
    r"|until then (?:nothing|(?:i|we) can't)[^.,;]{0,30}"
    r"|fehlt noch (?:die|der|das|eine?) (?:unterschrift|genehmigung|freigabe|zusage|antwort|"
    r"bestätigung|rückmeldung|lieferung)[^.,;]{0,30}"
    r"|nothing (?:happens|moves|can happen|goes on) (?:until|before|without) [^;.]{3,60}"
    r"|(?:steht|liegt) (?:alles )?still,? bis [^;.]{3,60}"
    r"|needs? [^;.]{3,60} before (?:i|we) can |(?:komme|kommen) (?:ich |"
    r"wir )?ohne [^;.]{3,50} nicht weiter"
    r"|nothing from [^;,.]{2,40} (?:yet|so far)|nichts (?:von|vom) [^;,.]{2,40} gehört"
    r"|[^;,.]{2,60} (?:is|are) still (?:missing|outstanding|pending)|[^;,.]{2,60} (?:steht|"
    r"stehen) (?:immer )?noch aus"
    r"|[^;,.]{2,60} (?:fehlt|fehlen) (?:immer )?noch(?=[.!,;]|$)"
    r"|(?:i'm|i am|we're|we are|bin|sind|stehe|stecke?n?) (?:\w+ ){0,2}?(?:stuck|"
    r"dead in the water|twiddling (?:my|our) thumbs)(?=[.!,;]|$)"
    r"|(?:can't|cannot|can not|couldn't|unable to) (?:get (?:any )?(?:further|on)|go on|continue|"
    r"proceed|go any further|do (?:anything|much)(?: more| else)?|carry on|make (?:any )?progress|"
    r"move)(?: (?:with|on) (?:this|it))?(?: right now| at the moment| any more)?(?=[.!,;]|$)"
    r"|(?:no|without) progress (?:is )?possible|(?:this|it|everything|work|project)(?:'s| is| has) "
    r"(?:been )?(?:stalled|at a standstill|in limbo|grounded)"
    r"|(?:my|our) hands are tied|(?:all|the only thing) (?:i|we) can do (?:now )?is (?:to )?wait"
    r"|nothing (?:(?:i|we) can do|to be done|more (?:i|we) can do)[^.;]{0,20}? (?:until|till|"
    r"before)"
    r"|nothing (?:i|we) can do (?:about it |here )?(?:for now|right now|at the moment)"
    r"|(?:i|we)(?:'ll|'ve got| will| now| just)? (?:have )?to wait(?=[.!,;]|$)|(?:uns|mir) sind "
    r"(?:da |hier |leider |noch )*die hände "
    r"gebunden|sind (?:uns|mir) die hände gebunden|(?:heißt es|hilft nur|bleibt nur|müssen wir|"
    r"muss ich|kann ich nur|können wir nur) (?:jetzt |noch |leider |also |erst ?mal )*"
    r"(?:ab)?warten(?=[.!,;]|$)|(?:also |so |und )(?:stehen|hängen) wir(?: fest| da| still)?"
    r"(?=[.!,;]|$)|(?:komme?n?|geht(?:'s| es)?|ging's) (?:(?:ich|wir|so|da|hier|damit|leider|"
    r"gerade|momentan|derzeit|im moment|einfach|es|jetzt) )*(?:nicht|nichts|kein stück) "
    r"(?:weiter|voran|vorwärts)(?=[.!,;]|$)|(?:stehe?n?|hänge?n?|stecke?n?) (?:(?:ich|wir|da|hier|"
    r"gerade|derzeit|damit|jetzt) )*fest(?=[.!,;]|$)"
    r"|erst (?:muss|müssen) (?!ich|wir|man)[^.,;]{3,50} (?:zustimmen|entscheiden|unterschreiben|"
    r"liefern|genehmigen|freigeben|antworten|kommen|bestätigen|zahlen|prüfen)"
    r"|(?:has|have) to (?:sign|agree|approve|decide|give|confirm|reply|answer|check)[^.,;]{0,40} "
    r"(?:first|before (?:i|we))"
    r"|(?:it's|it is|everything's|that's|everything is|"
    r"(?:paperwork|forms?|contract|draft|documents|application|file|plans|proofs|manuscript|claim|"
    r"invoice|quote|case) (?:is|are)) (?:all |still |now |sitting |currently "
    r")?(?:in (?:the hands of|"
    r"their hands)|with (?:the|our|my) (?:lawyers?|solicitors?|accountants?|council|printers?|"
    r"client|customer|bank|insurers?|insurance|landlord|boss|editor|authorities|notary|garage|"
    r"reviewers?|legal team))"
    r"|(?:once|as soon as|sobald|erst wenn) [^,;.]{3,60}(?:arrives?|is here|are here|is in|"
    r"replies|comes|decides?|approves?|signs?|gets? back|da ist|da sind|zustimmt|unterschreibt|"
    r"antwortet|sich meldet|kommt|kommen|vorliegt|entschieden hat),? (?:(?:i|we) can|(?:then )?"
    r"(?:i'll|we'll) (?:continue|carry on|go on|get going|start|finish|proceed|move on)|kann|"
    r"können|geht(?:'s| es)?|mache?n?)"
    r"|(?:liegt|liegen|(?:ist|sind) zur \w+|\w+ (?:ist|sind) (?:jetzt|noch|nun|gerade)) (?:jetzt "
    r"|noch "
    r"|nun |gerade |immer |alles |das |es |zur \w+ )*(?:beim|bei der|bei den) (?:\w*(?:amt|bank|"
    r"abteilung|versicherung|verwaltung)|behörde|anwalt|anwältin|chef|chefin|gericht|vermieter|"
    r"kunden?|steuerberater\w*|notar\w*|architekt\w*|druckerei|werkstatt|verlag|lektor\w*|"
    r"stadt|gemeinde|support|hersteller|lieferanten|händler|makler|gutachter|vorstand|it)"
    r"|(?:the )?ball is in (?:their|his|her) court|at a standstill(?= [^.]{3,60})|"
    r"liegt (?:jetzt |noch |nun )?(?:beim|bei der) (?:amt|behörde|bank|anwalt|chef|versicherung|"
    r"gericht|vermieter|kunden)|they're waiting (?:for|on) [^;,.]{2,60}, (?:so am i|so are we|"
    r"and so am i|and so are we))"
)
LATE = pattern(
    rf"{START}(?P<cue>(?:haven't|have not|not|never) (?:yet )?heard (?:back|anything|a (?:thing|"
    rf"word|"
    rf"peep)|from)|no (?:sign|news|trace) (?:of|from|yet)(?! (?:that|this|it){END})|"
    rf"radio silence|funkstille|"
    rf"(?:keine|kein) (?:reaktion|antwort|rückmeldung|lebenszeichen)(?= (?:von|vom)|[.!,;]|$)|"
    rf"(?!(?:i|we|ich|wir) )[^,;.]{{2,60}} (?:still )?(?:hasn't|haven't|has not|"
    rf"have not|has yet to|have yet to|is yet to|are yet to)"
    rf"(?: (?!been)\w+){{0,2}}? (?:deliver|ship(?:ped)?|sen[dt]|come through|arrive|turn(?:ed)? "
    rf"up|show(?:n|ed)? "
    rf"up|sign|"
    rf"decide|give|given|call(?:ed)?|rung|written|get back|got back|repl(?:y|ied)|answer|approve|"
    rf"release|confirm|respond|pa(?:y|id)|provide|agree|let (?:us|me) know|made up|make up)"
    rf"(?:e?d)?(?= (?:\w+ )*(?:yet|so far|back|us|me|any)\b|[,.;!]|$)|"
    rf"(?!(?:i|we|ich|wir) )[^,;.]{{2,60}} still (?:hasn't|haven't|has not|have not|not)"
    rf"(?: (?!been)\w+){{0,2}}? (?:delivered|shipped|sent|come|arrived|here|signed|decided|given|"
    rf"called|"
    rf"replied|answered|approved|released|confirmed|responded|paid|available|in stock|back|"
    rf"turned up|provided|agreed)|"
    rf"(?:still )?(?:on|is on|are on) back ?-?order|(?:is|are) (?:still )?out of stock|"
    rf"[^,;.]{{2,50}} (?:ist|sind) (?:leider |bisher )?(?:noch|immer noch|noch immer) nicht "
    rf"(?:da|angekommen|gekommen|eingetroffen|eingegangen|zurück|geliefert|genehmigt|freigegeben|"
    rf"bewilligt|lieferbar|verfügbar|durch)|nicht lieferbar|lieferverzögerung|"
    rf"[^,;.]{{2,50}} (?:meldet|rührt|antwortet|reagiert|liefert) (?:sich )?(?:einfach |immer )*"
    rf"(?:noch )?nicht(?: zurück)?(?=[,.;!]| und |$)|(?:hat|haben) [^,;.]{{2,50}}? (?:noch nicht|"
    rf"immer noch nicht) (?:geantwortet|"
    rf"reagiert|zurückgerufen|sich gemeldet|gemeldet|geliefert|unterschrieben|zugesagt|geschickt|"
    rf"entschieden|bezahlt|freigegeben|"
    rf"bestätigt|geschrieben|genehmigt|zugestimmt|reagiert|bescheid gegeben|zurückgemeldet)|"
    rf"[^,;.]{{2,50}} (?:hat|haben) (?:sich )?(?:\w+ )?(?:noch nicht|immer noch nicht) "
    rf"(?:\w+ )?(?:geantwortet|reagiert|zurückgerufen|gemeldet|geliefert|unterschrieben|zugesagt))"
    rf"{END}"
)
OBJECT = re.compile(rf"[{LETTERS}0-9\"'„“#@]")
NO_OBJECT = word_set("me us you it mich uns dich mir mehr her him so")
HANGS_ON = pattern(
    r"hängt an (?:der|einer|dem|einem|meiner) (?:wand|decke|tür|haken|baum|leine|nagel)\b"
    r"|hängt von (?:der|einer|meinem) (?:decke|wetter)"
)
PAST = word_set(
    "was were while stop stopped without keep war waren wurde während wegen been worth tired "
    "used spent hate kept no bored had after nachdem hatte hatten gestern yesterday statt instead"
)
PENDING = pattern(r"still (?:missing|outstanding|pending)|noch aus|(?:fehlt|fehlen) ")
AWAITED = word_set(
    "answer answers reply permit approval confirmation decision delivery signature parts response "
    "antwort antworten rückmeldung genehmigung zusage freigabe bestätigung entscheidung lieferung "
    "unterschrift bescheid ersatzteil ersatzteile quote angebot baugenehmigung rückruf"
)
PAST_BE = word_set("was were war waren konnte konnten could couldn't ging")
SELF = word_set(
    "i i'm im we we're were am are is it it's its this that still now currently just and so but "
    "again today all everything task project the been have has i've we've completely sent "
    "matter case question of down to stuck at at moment else a bit basically here status update "
    "note also "
    "need must currently "
    "unfortunately sadly ps fyi info work job thing whole first only already probably mostly back "
    "ich wir es das alles dies aber und jetzt nun noch immer derzeit aktuell momentan leider also "
    "so hier weiter weiterhin steht liegt ist sind bin habe hab haben nur gerade heute hängt der "
    "die muss müssen wieder dann danach erst zurzeit seit vorhin projekt aufgabe sache ganze "
    "for von part other tests nothing more this's too we'll will now's hängen da hat order ordered "
    "mail mailed emailed asked wrote called angerufen geschrieben bestellt gefragt status stand "
    "geht's geht gehts"
)
CLAUSE_END = pattern(
    r";| but | so that | aber | sonst | otherwise |, (?:so|then|dann|which|and|und|aber|but|sonst|"
    r"we|i|ich|wir) | [-–—] | \("
)
THEN_WE = pattern(r"^[^,]{3,60}, (?:i|we|he|she|they) (?!can't|cannot|won't|can |will )")
FREE = (
    pattern(
        rf"{START}(?P<cue>no longer (?:blocked|waiting|stuck|on hold|held up)|back on (?:it|"
        rf"this)|work continues|"
        r"get going again|got the (?:go-ahead|all-clear)|nichts (?:mehr )?im weg|unblocked|"
        r"nicht mehr (?:blockiert|gesperrt|auf eis|zurückgestellt|pausiert)|"
        r"(?:can|could) (?:now |finally |all )?(?:go on|continue|proceed|carry on|resume|move on|"
        r"start(?: now)?|begin|get (?:started|going)|pick (?:it|this) up again|"
        r"go ahead)(?! (?:until|before|without))|"
        r"(?:back|good) to (?:go|work|it)|(?:all )?clear to go|go ahead with it|green light|"
        r"grünes licht|resumed|let's (?:go|carry) on|carrying on|on we go|back on track|"
        r"back at it|resuming|all set|nothing stops us|freie bahn|läuft wieder|"
        r"geht wieder weiter|wieder aufgenommen|weiter im text|off hold|"
        r"(?:picking|pick|picked) (?:this|it) up again|geht wieder los|"
        r"(?:is|are|we're|i'm) good to go|(?:take|taking|taken|back) (?:it |this )?off (?:hold|"
        r"ice)|(?:is|are) off hold|nothing (?:is )?block(?:s|ing)|"
        r"nothing (?:is )?in the way|kann (?:es |jetzt |nun |also |wieder |endlich |damit |ich |"
        r"wir )*"
        r"(?:weitergehen|weitermachen|losgehen|losgelegt werden|loslegen|anfangen|weiterarbeiten|"
        r"weiter gehen|weiter machen)|"
        r"können (?:wir |jetzt |nun |also |wieder |endlich |damit |ja )*(?:weitermachen|loslegen|"
        r"weiter machen|anfangen|weiterarbeiten|fortfahren|weiter)|geht(?:'s| es)? "
        r"(?:jetzt |nun |also |endlich |wieder )*(?:weiter|los)|machen wir weiter|"
        r"(?:nothing|nobody|no one)(?:'s| is)? (?:is )?(?:stopping|holding|stops|holds|blocks) "
        r"(?:me|us|"
        r"this|it)(?: up| back)?|off we go|we're off again|back in business|up and running again|"
        r"(?:we're|i'm|things are|it's) (?:moving|rolling|running|moving on) again|"
        r"(?:the )?(?:way|coast|path|road) is (?:now )?(?:clear|free)|full steam ahead|ready to "
        r"roll|"
        r"(?:can|could|able to|free to|let's|let me|ready to|time to|we'll|i'll|shall) (?:now |"
        r"finally |"
        r"all |at last |then |just )*(?:get (?:on|cracking|stuck in|back to (?:it|work)|moving|"
        r"this moving)|crack on|press on|push on|plough on|keep going|move forward|"
        r"(?:start|finish|work on|do|build|fit|order|send|paint|install|pay|submit|book|file) "
        r"(?:it|"
        r"this|them|the \w+)(?: \w+)?(?= (?:now|again|at last)|[.!,;]|$))(?! (?:until|before|"
        r"without|"
        r"once|when))|"
        r"(?:cracking|getting|pressing|moving|ploughing) on(?: with (?:it|this))?|"
        r"(?:picking|pick) up where|continuing(?: with| now|$)|starting again|back to work|"
        r"mache?n? (?:(?:ich|wir|jetzt|nun|also|heute|gleich|wieder|damit|hier|dann|endlich|doch|"
        r"schon) )*"
        r"weiter|kann'?s (?:(?:jetzt|nun|also|wieder|endlich|damit|ja) )*(?:weiter|los)\w*|"
        r"kann (?:(?:es|jetzt|nun|also|wieder|endlich|damit|ich|man|wir|die \w+|der \w+|das \w+) )*"
        r"(?:weiter|los|starten|beginnen|durchstarten)(?:gehen|machen)?|"
        r"(?:können|kann) (?:(?:wir|ich|jetzt|nun|also|wieder|endlich|damit|ja) )+(?:den |die |"
        r"das )?"
        r"(?:\w+ )?(?:bestellen|bauen|einbauen|starten|loslegen|abschließen|fertigmachen|"
        r"fertigstellen|abschicken|durchstarten|beginnen|fortsetzen)|"
        r"(?:steht|stehen|ist|hält) (?:uns |mir |da |dem |mich )?(?:jetzt |nun )?nichts mehr "
        r"(?:im weg\w*|entgegen|auf)|(?:bahn|weg) (?:ist )?frei|wieder dran|entsperrt|"
        r"geht(?:'s| es)? (?:(?:jetzt|nun|also|endlich|wieder|hier|damit) )*(?:weiter|los|voran)|"
        r"lege?n? (?:(?:ich|wir|jetzt|gleich|wieder|also) )*los|(?:bin|sind) (?:ich |wir "
        r")?wieder im "
        r"(?:rennen|geschäft|plan)|weiter geht(?:'s| es)|hindernis (?:ist )?weg|blockade (?:ist "
        r")?(?:weg|gelöst))"
        rf"{END}"
    ),
    pattern(rf"{START}not (?:blocked|waiting)(?: [{LETTERS}' ]{{1,40}})? any ?more{END}"),
    pattern(rf"{START}(?:warte|warten) (?:\w+ )?nicht (?:mehr|länger){END}"),
    pattern(rf"{START}(?:don't (?:have to|need to)|no need to) wait (?:any ?more|any longer){END}"),
)
MAY_GO_ON = pattern(
    rf"{START}(?:can (?:\w+ ){{1,4}}now|now (?:\w+ ){{1,3}}can|so (?:the )?\w+ can (?=\w)|"
    rf"(?:jetzt|nun|endlich) (?:kann|können) (?:\w+ ){{1,5}}\w+|"
    rf"(?:kann|können) (?:\w+ ){{0,2}}(?:also|jetzt|nun|endlich) \w+|"
    rf"(?!leit|geb|sag|reich|komm)\w{{3,}} (?:ich|wir) (?:\w+ ){{0,3}}weiter(?=[.!,;]|$))"
    rf"(?![^.,;]* (?:not|nicht|nichts|kein\w*|erst|only|until)\b){END}"
)
"""It frees what waits, unless the sentence says for what."""
LEADS_IF = CONDITIONAL | word_set("hopefully hoffentlich until bis")
CAME = pattern(
    rf"{START}(?P<cue>received|arrived|delivered|reopen(?:ed|ing)|(?:is|are) open again|"
    r"hat wieder (?:auf|offen|geöffnet)|ist wieder offen|"
    r"came (?:in|back|today|through)|came|has come|"
    r"have come|is here|are here|is in(?! (?:their|his|her|the))|got (?:the|my|our|an?|his|her|"
    r"their)|turned up|showed up|"
    r"(?:has |have )?(?:finally |just )?(?:replied|answered|approved|signed|confirmed|agreed|"
    r"got back)|said yes|gave (?:the|us the|me the|their) (?:ok|okay|go|approval)|"
    r"approval is|angekommen|eingetroffen|erhalten|eingegangen|geliefert|zugesagt|genehmigt|"
    r"freigegeben|gekommen|unterschrieben|geantwortet|bestätigt|zurückgerufen|bekommen|"
    r"(?:ist|sind) (?:jetzt |nun |endlich |wieder |heute |gestern )?da(?=$|[.!,;:]| und )|"
    r"kam (?:heute|gestern|endlich|an|jetzt|eben|gerade)|hat sich gemeldet|haben sich gemeldet|"
    r"liegt (?:jetzt |nun |endlich )?vor|(?:has |have )?(?:finally |just |at last )?(?:sent|"
    r"given|paid|"
    r"decided|released|shipped|called back|rang back|come back)|gave|zugestimmt|geschickt|"
    r"abgesegnet|bewilligt|entschieden|freigeschaltet|nachgeliefert|abgenickt|eingewilligt)"
    rf"{END}"
)
NOT_YET = (
    NEGATIVE
    | CONDITIONAL
    | word_set(
        "until soon will be bis wird werden muss müssen to bald yet noch before bevor should "
        "supposed hope hopefully hoffentlich sollte soll expected as tomorrow morgen"
    )
)
HOLD = pattern(
    rf"{START}(?P<cue>(?:put |putting |is |are |was |goes |go |it's |place |placed |parked )?"
    r"(?:back )?(?:on hold|on ice|on the back ?burner|on pause)|paused|pausing|(?:it|this|"
    r"project|idea|is|that|are) parked|parked for|tak(?:e|ing) a break from (?:this|it)|"
    r"parked (?:it|this|for now|until|till)|"
    r"pause (?:the whole thing|everything|the project|work|all of it)|"
    r"(?:vorerst|erst ?mal|for now|bis auf weiteres|until further notice|"
    r"temporarily) (?:gestoppt|stopped|angehalten|halted|eingestellt|stillgelegt|on hold)|"
    r"(?:stopped|halted|gestoppt) (?:for now|until further notice|vorerst|bis auf weiteres)|"
    r"park (?:this|it)|shelved|shelving|(?:let's |we |i |we'll |i'll )?leave (?:this|"
    r"it) (?:until|till|for now|alone)|"
    r"postponed (?:indefinitely|until further notice|(?:un)?till? (?:next|the new|spring|summer|"
    r"autumn|winter))|(?:auf unbestimmte zeit|bis auf weiteres) verschoben|"
    r"verschoben auf unbestimmte zeit|(?:vorerst|erst ?mal) nicht weiter\w*|"
    r"(?:lassen|lasse|lass) (?:wir |ich |uns )?[^.,;]{0,40}?(?:liegen|ruhen)|"
    r"auf (?:nächstes jahr|später|(?:das|den|die) (?:frühjahr|frühling|sommer|herbst|winter)) "
    r"verschoben|erst (?:nach|in|ab) [^.,;]{2,30} weiter|"
    r"(?:let's |we'll |i'll )?(?:shelve|pause) (?:this|it)|"
    r"suspended|deferred|postponed indefinitely|"
    r"(?:putting|put) (?:this|it|that|everything) (?:off|aside|on hold|on ice)|set aside|"
    r"(?:liegt |legen |leg |lege |gelegt |kommt |wird |vorerst |erst ?mal )?auf eis(?: gelegt)?|"
    r"zurückgestellt|pausiert|pausieren|pausiere|ruht|auf halde|auf die lange bank|ausgesetzt|"
    r"stellen (?:wir |ich )?(?:das |es )?(?:\w+ ){0,3}zurück|stelle (?:ich )?(?:das |es )?"
    r"(?:\w+ ){0,4}zurück|machen (?:wir )?(?:\w+ )?pause|liegt (?:vorerst|erst ?mal|erstmal|bis)|"
    r"vertagt|on hiatus|parken wir|vertagen|zurückstellen|(?:in )?ruhen lassen|on the shelf|"
    r"(?:revisit|resume|come back to) (?:this|it) (?:in|after|next)|not before (?:spring|summer|"
    r"autumn|"
    r"winter|next year)|erst im (?:neuen jahr|frühjahr|sommer|herbst|winter) (?:wieder|weiter)|"
    r"(?:verschieben|schieben) (?:wir |ich )?(?:das |es )?auf (?:nächstes jahr|später|"
    r"das frühjahr)|"
    r"(?:parking|shelving|pausing|freezing|mothballing|deferring|postponing|suspending) (?:this|it|"
    r"that|the \w+|everything)(?! (?:to|until|till) (?:\w+ )?\d)|"
    r"(?:leaving|leave) (?:this|it|that) (?:one )?(?:for now|until|till|alone|for another)|"
    r"(?:pick|take) (?:this|it) (?:back )?up again (?:in|after|next|once|when)|"
    r"(?:come|get|coming|getting) back to (?:this|it) (?:in|after|next|once|when)|"
    r"(?:look at|return to|revisit) (?:this|it) (?:again )?(?:in (?:the )?(?!a )|after|next "
    r"(?:year|"
    r"spring|summer|autumn|winter|month))|"
    r"not (?:going|taking (?:this|it)) any further[^.,;]{0,20} (?:until|till|before)|"
    r"let(?:ting)? (?:this|it) (?:lie|sit|rest|be)(?! (?:known|said)| for \d|[^.;]*(?:minute|"
    r"hour|night|dough|oven))|"
    r"(?:lass uns|lassen wir|wir) (?:damit |da |noch )*warten,? bis|"
    r"(?:put|putting|set) (?:this|it|that) (?:to|on) one side|"
    r"mothballed|frozen until|on the back ?burner|(?:kicked|pushed|put) into (?:the )?(?:long "
    r"grass|"
    r"next year)|not (?:doing (?:this|it)|this year|any more this year|happening (?:this year|"
    r"before))"
    r"(?=[.,!;]| this| before|$)|(?:won't|not going to) (?:be )?(?:do|doing|touch|happen)(?:ing)? "
    r"(?:this|it|anything)? ?(?:this year|before (?:spring|summer|next year|christmas))|"
    r"(?:give|giving) (?:this|it) a (?:rest|break)|"
    r"(?:verschieben|schieben|schiebe|verschiebe|vertagen|vertage|verlegen) (?:wir |ich |das |es |"
    r"alles |jetzt |lieber |mal |erst ?mal )*(?:ins|auf|in den|auf den|auf das|aufs|bis) (?:\w+ )?"
    r"(?:nächste|nächsten|neue|frühjahr|frühling|sommer|herbst|winter|später|irgendwann|"
    r"unbestimmte)(?: jahr\w*| zeit| frühling| frühjahr| sommer| herbst| winter)?|"
    r"(?:auf|ins) (?:das )?(?:nächste|neue|kommende) jahr (?:verschoben|vertagt|geschoben)|"
    r"(?:zur|auf die) seite|beiseite (?:gelegt|legen)|(?:lege?n?|stelle?n?) (?:ich |wir |das |es )*"
    r"(?:\w+ )?(?:beiseite|hinten ?an|zurück|weg)|(?:kommt|wandert) (?:erst ?mal |vorerst )?in die "
    r"schublade|in der schublade|stillgelegt|hintangestellt|hinten ?angestellt|"
    r"(?:dieses|dies) jahr (?:wird das |wird es |passiert (?:da|hier) |machen wir )?(?:nicht mehr|"
    r"nichts mehr)|(?:nehmen|nehme|machen|mache) (?:wir |ich |das |es |uns )*(?:erst )?(?:im|nach|"
    r"nächstes|in) [^.,;]{2,30} (?:wieder auf|wieder vor|weiter)|erst (?:im|nach|nächstes|"
    r"kommendes) (?:\w+ )?(?:jahr|frühjahr|frühling|sommer|herbst|winter|ferien)(?= wieder| "
    r"weiter)|"
    r"(?:macht|machen|mache) (?:erst ?mal |vorerst )?pause|unterbrochen bis|"
    r"in der warteschleife|pause bis|pause until)"
    rf"{END}"
)
PAUSES = pattern(
    "paus|seite|hold|park|warte|liegt|ruh|rückgestellt|off$|aside|ice|eis|shelved|vertag"
)
NO_HOLD = word_set(
    "geld euro money buch bücher kept me uhr stunde heizung clock watch call phone music hotline "
    "line telefon minutes "
    "warteschleife "
    "schleife video podcast recording "
    "milk beer wine champagne drinks knee ankle books sitzung besprechung konzert sonntags "
    "timer film movie player dvd game car auto bike meeting he she they bob anna tom ball"
)
STARTED = (
    pattern(
        r"(?:^|[,;:] )(?:(?:i|we|i've|we've|i have|we have|work has|work|just|now|already|today|"
        r"yesterday|finally|have|has|and|so|this morning|ok|okay) ){0,5}"
        r"(?:started|begun|began)(?! (?:at \d|waiting|to rain|raining|to snow))" + END
    ),
    pattern(
        rf"{START}(?:in progress|made a start|in arbeit|gerade dabei(?!,)|mittendrin|"
        rf"bin (?:gerade |schon |jetzt )?dran|wir sind dran|"
        rf"under way|underway|"
        r"working on (?:it|this|that)(?: now| at the moment| today| right now)?|"
        rf"am working on|are working on|halfway (?:through|done)|in the middle of){END}"
    ),
    pattern(r"(?:^|[,;:] )(?:angefangen|begonnen|losgelegt)" + END),
    pattern(
        rf"{START}(?:habe|haben|hab|wurde|gestern|heute|ist|schon|bereits) [^.;!]{{0,80}}?"
        rf"(?:angefangen|begonnen|losgelegt|gestartet){END}"
    ),
    pattern(
        rf"{START}(?:arbeite|arbeiten) (?:ich |wir |gerade |jetzt |derzeit |schon )*(?:dran|"
        rf"daran|an){END}"
    ),
    pattern(
        rf"{START}(?:fange|lege|(?:fangen|legen) wir) (?:ich |gerade |jetzt |heute |"
        rf"nun )*(?:\w+ ){{0,4}}(?:an|los)(?=[.!,;]|$)"
    ),
)
