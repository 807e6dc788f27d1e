"""Whether the work waits, goes on, rests or has begun.

Who waits is the person or the task: "Tom is waiting for my answer" blocks nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from adapters.models.offline import lemmas, phrasing
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
    frees = (phrasing.rule("frees"), *FREE)
    rules = frees if blocked else (*frees, MAY_GO_ON)
    free = _free(sentence, rules)
    found = [*blocked, *free, *_held(sentence), *_started(sentence)]
    told = [one for one in found if not sentence.is_others(one.position)]
    return sorted(told, key=lambda turn: turn.position)


def has_moved(sentence: Sentence) -> bool:
    """Whether somebody else has done something, by a verb of the past."""
    is_told = not sentence.is_asked and NEGATIVE.isdisjoint(sentence.words)
    is_own = sentence.words[:1] in (("i",), ("we",), ("ich",), ("wir",))
    return is_told and not is_own and any(map(lemmas.is_past, sentence.words[1:]))


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
    for match in phrasing.rule("came").finditer(sentence.text):
        clause = sentence.clause(match.start())
        around = {*clause.words}
        if NOT_YET.isdisjoint(around):
            yield StateChange("free", match.start(), Phrase("came", _whole(sentence, match)))


def _held(sentence: Sentence) -> Iterator[StateChange]:
    for match in phrasing.rule("holds").finditer(sentence.text):
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
        r"an? answer|signature)|waiting (?:for|on|to (?:hear|get|receive|see))|(?:have|has|need|"
        r"needs|got) to wait (?:for|on|until)|must wait (?:for|until)|waiting until|wait until|"
        r"awaiting|(?:we|i|still|and|now) wait (?:for|on)|we'll wait for|(?:we|i) will wait for|"
        r"held up (?:by|until|at|in)|stalled (?:until|because|by)|hakt (?:noch )?(?:an|am)|"
        r"stockt wegen|on standby until|nothing (?:can|will) happen until|blocked (?:by|on|"
        r"because of|until|because)|blocked ?:|stuck (?:on|until|because|with|without|waiting)|"
        r"depends on|hinges on|hold on until) ?"
    ),
    pattern(
        rf"{START}(?P<cue>(?:warten?|wartet) (?:(?:noch|immer|derzeit|gerade|weiter|jetzt|ich|wir|"
        r"nur|also|seit [\w.]+(?: \w+)?|weiterhin|aktuell|momentan|alle|hier) ){0,4}auf|"
        r"auf (?=[^,;.]{2,80} (?:warten|gewartet werden)$|[^,;.]{2,80} warten[.!,;]|"
        r"[^,;.]{2,80} (?:warte|warten) (?:ich|wir))|hängt (?:alles |noch |"
        r"jetzt )*davon ab,? (?:ob|wann|was|wie)|hängt (?:noch |derzeit |gerade |alles |jetzt |"
        r"aktuell )*(?:an|am|von)|blockiert (?:durch|von|wegen|bis|weil|solange)|blockiert ?:|"
        r"abhängig von|scheitert (?:noch |derzeit )?an|muss (?:noch )?warten,? bis|"
        r"müssen (?:noch )?warten,? bis|müssen (?:erst |noch )?(?:auf) (?=[^,;.]{2,60} warten)) "
        r"?"
    ),
    pattern(
        rf"{START}(?P<cue>(?:can't|cannot|can not|unable to|won't be able to) (?:continue|proceed|"
        r"go on|start|begin|move on|finish|do anything|carry on|work on (?:it|this)|"
        r"order anything|go any further|progress|get (?:on|any further)|do more|(?!wait|sleep|eat|"
        r"see)[a-z]{3,10}(?: (?:it|this|them|anything|(?:the|my|our|"
        r"any) [a-z]+))?)[^,;.]{0,30}? (?:until|before|without|unless|as long as|till|because)) "
    ),
    pattern(
        rf"{START}(?P<cue>(?:(?:geht|gehts|geht's|komme|kommen|kann|können|"
        r"läuft) [^,;.]{0,40}?(?:nicht|erst)(?: \w+)? (?:weiter\w*|los\w*|voran\w*|anfangen|"
        r"starten|beginnen|tun|\w+en)|nicht weiter|erst weiter|stecken? fest),? (?:bis|bevor|ohne|"
        r"solange|ehe|weil|wenn|sobald|da)) "
    ),
    pattern(
        rf"{START}(?P<cue>(?:still no|no(?=[^,;.]{{3,40}} (?:yet|so far|from))|haven't (?:had|got|"
        r"received|heard)(?: back| a| any)?|has not|hasn't|have not|"
        r"haven't)(?: (?!been)\w+){0,2} (?:answer|reply|response|word|news|feedback|decision|"
        r"confirmation|replied|answered|responded|heard back|got back|signed|delivered|confirmed|"
        r"approved|sent)(?= (?:from|by|to|yet|back|on|it|the|us|me|so|anything|our)|[,.;!]|$)) ?"
    ),
    pattern(
        rf"{START}(?P<cue>(?:noch|immer noch|bisher|bis jetzt|leider)(?: immer| noch)* (?:keine?n?|"
        r"nichts)(?: \w+)? (?:antwort|rückmeldung|nachricht|zusage|freigabe|genehmigung|"
        r"bestätigung|entscheidung|rückruf|reaktion|termin|gehört|feedback)) ?"
    ),
)
NOT_BEFORE = pattern(
    rf"{START}(?P<cue>(?:until|till|without|before|as long as|bis|bevor|solange|ohne|"
    r"ehe) [^;.]{3,70}?,? (?:(?:i|we|it|nothing|geht|läuft|kann|können|komme|kommen|"
    r"passiert) )+(?:\w+ ){0,4}?(?:can't|cannot|won't|can do nothing|can happen|nichts|nicht|"
    r"stuck|happens)\b|(?:vorher|davor|bis dahin) (?:geht|passiert|läuft|kann|können|komme|"
    r"kommen) [^.,;]{0,20}?nichts?|until then (?:nothing|(?:i|we) can't)[^.,;]{0,30}|"
    r"fehlt noch (?:die|der|das|eine?) (?:unterschrift|genehmigung|freigabe|zusage|antwort|"
    r"bestätigung|rückmeldung|lieferung)[^.,;]{0,30}|nothing (?:happens|moves|can happen|"
    r"goes on) (?:until|before|without) [^;.]{3,60}|(?:steht|"
    r"liegt) (?:alles )?still,? bis [^;.]{3,60}|needs? [^;.]{3,60} before (?:i|we) can |"
    r"(?:komme|kommen) (?:ich |wir )?ohne [^;.]{3,50} nicht weiter|"
    r"nothing from [^;,.]{2,40} (?:yet|so far)|nichts (?:von|vom) [^;,.]{2,40} gehört|"
    r"[^;,.]{2,60} (?:is|are) still (?:missing|outstanding|pending)|[^;,.]{2,60} (?:steht|"
    r"stehen) (?:immer )?noch aus|[^;,.]{2,60} (?:fehlt|fehlen) (?:immer )?noch(?=[.!,;]|$)|"
    r"(?:i'm|i am|we're|we are|bin|sind|stehe|stecke?n?) (?:\w+ ){0,2}?(?:stuck|"
    r"dead in the water|twiddling (?:my|our) thumbs)(?=[.!,;]|$)|(?:can't|cannot|can not|couldn't|"
    r"unable to) (?:get (?:any )?(?:further|on)|go on|continue|proceed|go any further|"
    r"do (?:anything|much)(?: more| else)?|carry on|make (?:any )?progress|move)(?: (?:with|"
    r"on) (?:this|it))?(?: right now| at the moment| any more)?(?=[.!,;]|$)|(?:no|"
    r"without) progress (?:is )?possible|(?:this|it|everything|work|project)(?:'s| is|"
    r" has) (?:been )?(?:stalled|at a standstill|in limbo|grounded)|(?:my|our) hands are tied|"
    r"(?:all|the only thing) (?:i|we) can do (?:now )?is (?:to )?wait|nothing (?:(?:i|we) can do|"
    r"to be done|more (?:i|we) can do)[^.;]{0,20}? (?:until|till|before)|nothing (?:i|"
    r"we) can do (?:about it |here )?(?:for now|right now|at the moment)|(?:i|we)(?:'ll|'ve got|"
    r" will| now| just)? (?:have )?to wait(?=[.!,;]|$)|(?:uns|mir) sind (?:da |hier |leider |"
    r"noch )*die hände gebunden|sind (?:uns|mir) die hände gebunden|(?:heißt es|hilft nur|"
    r"bleibt nur|müssen wir|muss ich|kann ich nur|können wir nur) (?:jetzt |noch |leider |also |"
    r"erst ?mal )*(?:ab)?warten(?=[.!,;]|$)|(?:also |so |und )(?:stehen|hängen) wir(?: fest| da|"
    r" still)?(?=[.!,;]|$)|(?:komme?n?|geht(?:'s| es)?|ging's) (?:(?:ich|wir|so|da|hier|damit|"
    r"leider|gerade|momentan|derzeit|im moment|einfach|es|jetzt) )*(?:nicht|nichts|"
    r"kein stück) (?:weiter|voran|vorwärts)(?=[.!,;]|$)|(?:stehe?n?|hänge?n?|stecke?n?) (?:(?:ich|"
    r"wir|da|hier|gerade|derzeit|damit|jetzt) )*fest(?=[.!,;]|$)|erst (?:muss|müssen) (?!ich|wir|"
    r"man)[^.,;]{3,50} (?:zustimmen|entscheiden|unterschreiben|liefern|genehmigen|freigeben|"
    r"antworten|kommen|bestätigen|zahlen|prüfen)|(?:has|have) to (?:sign|agree|approve|decide|"
    r"give|confirm|reply|answer|check)[^.,;]{0,40} (?:first|before (?:i|we))|(?:it's|it is|"
    r"everything's|that's|everything is|(?:paperwork|forms?|contract|draft|documents|application|"
    r"file|plans|proofs|manuscript|claim|invoice|quote|case) (?:is|are)) (?:all |still |now |"
    r"sitting |currently )?(?:in (?:the hands of|their hands)|with (?:the|our|my) (?:lawyers?|"
    r"solicitors?|accountants?|council|printers?|client|customer|bank|insurers?|insurance|"
    r"landlord|boss|editor|authorities|notary|garage|reviewers?|legal team))|(?:once|as soon as|"
    r"sobald|erst wenn) [^,;.]{3,60}(?:arrives?|is here|are here|is in|replies|comes|decides?|"
    r"approves?|signs?|gets? back|da ist|da sind|zustimmt|unterschreibt|antwortet|sich meldet|"
    r"kommt|kommen|vorliegt|entschieden hat),? (?:(?:i|we) can|(?:then )?(?:i'll|"
    r"we'll) (?:continue|carry on|go on|get going|start|finish|proceed|move on)|kann|können|"
    r"geht(?:'s| es)?|mache?n?)|(?:liegt|liegen|(?:ist|sind) zur \w+|\w+ (?:ist|sind) (?:jetzt|"
    r"noch|nun|gerade)) (?:jetzt |noch |nun |gerade |immer |alles |das |es |zur \w+ )*(?:beim|"
    r"bei der|bei den) (?:\w*(?:amt|bank|abteilung|versicherung|verwaltung)|behörde|anwalt|"
    r"anwältin|chef|chefin|gericht|vermieter|kunden?|steuerberater\w*|notar\w*|architekt\w*|"
    r"druckerei|werkstatt|verlag|lektor\w*|stadt|gemeinde|support|hersteller|lieferanten|händler|"
    r"makler|gutachter|vorstand|it)|(?:the )?ball is in (?:their|his|her) court|"
    r"at a standstill(?= [^.]{3,60})|liegt (?:jetzt |noch |nun )?(?:beim|bei der) (?:amt|"
    r"behörde|bank|anwalt|chef|versicherung|gericht|vermieter|kunden)|they're waiting (?:for|"
    r"on) [^;,.]{2,60}, (?:so am i|so are we|and so am i|and so are we))"
)
LATE = pattern(
    rf"{START}(?P<cue>(?:haven't|have not|not|never) (?:yet )?heard (?:back|anything|a (?:thing|"
    rf"word|peep)|from)|no (?:sign|news|trace) (?:of|from|yet)(?! (?:that|this|it){END})|"
    r"radio silence|funkstille|(?:keine|kein) (?:reaktion|antwort|rückmeldung|"
    r"lebenszeichen)(?= (?:von|vom)|[.!,;]|$)|(?!(?:i|we|ich|"
    r"wir) )[^,;.]{2,60} (?:still )?(?:hasn't|haven't|has not|have not|has yet to|have yet to|"
    r"is yet to|are yet to)(?: (?!been)\w+){0,2}? (?:deliver|ship(?:ped)?|sen[dt]|come through|"
    r"arrive|turn(?:ed)? up|show(?:n|ed)? up|sign|decide|give|given|call(?:ed)?|rung|written|"
    r"get back|got back|repl(?:y|ied)|answer|approve|release|confirm|respond|pa(?:y|id)|provide|"
    r"agree|let (?:us|me) know|made up|make up)(?:e?d)?(?= (?:\w+ )*(?:yet|so far|back|us|me|"
    r"any)\b|[,.;!]|$)|(?!(?:i|we|ich|wir) )[^,;.]{2,60} still (?:hasn't|haven't|has not|"
    r"have not|not)(?: (?!been)\w+){0,2}? (?:delivered|shipped|sent|come|arrived|here|signed|"
    r"decided|given|called|replied|answered|approved|released|confirmed|responded|paid|available|"
    r"in stock|back|turned up|provided|agreed)|(?:still )?(?:on|is on|are on) back ?-?order|(?:is|"
    r"are) (?:still )?out of stock|[^,;.]{2,50} (?:ist|sind) (?:leider |bisher )?(?:noch|"
    r"immer noch|noch immer) nicht (?:da|angekommen|gekommen|eingetroffen|eingegangen|zurück|"
    r"geliefert|genehmigt|freigegeben|bewilligt|lieferbar|verfügbar|durch)|nicht lieferbar|"
    r"lieferverzögerung|[^,;.]{2,50} (?:meldet|rührt|antwortet|reagiert|"
    r"liefert) (?:sich )?(?:einfach |immer )*(?:noch )?nicht(?: zurück)?(?=[,.;!]| und |$)|(?:hat|"
    r"haben) [^,;.]{2,50}? (?:noch nicht|immer noch nicht) (?:geantwortet|reagiert|"
    r"zurückgerufen|sich gemeldet|gemeldet|geliefert|unterschrieben|zugesagt|geschickt|"
    r"entschieden|bezahlt|freigegeben|bestätigt|geschrieben|genehmigt|zugestimmt|reagiert|"
    r"bescheid gegeben|zurückgemeldet)|[^,;.]{2,50} (?:hat|"
    r"haben) (?:sich )?(?:\w+ )?(?:noch nicht|immer noch nicht) (?:\w+ )?(?:geantwortet|reagiert|"
    rf"zurückgerufen|gemeldet|geliefert|unterschrieben|zugesagt)){END}"
)
OBJECT = re.compile(rf"[{LETTERS}0-9\"'„“#@]")
NO_OBJECT = word_set("me us you it mich uns dich mir mehr her him so")
HANGS_ON = pattern(
    r"hängt an (?:der|einer|dem|einem|meiner) (?:wand|decke|tür|haken|baum|leine|nagel)\b|"
    r"hängt von (?:der|einer|meinem) (?:decke|wetter)"
)
PAST = word_set(
    "was were while stop stopped without keep war waren wurde während wegen been worth tired used "
    "spent hate kept no bored had after nachdem hatte hatten gestern yesterday statt instead"
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
    "again today all everything task project the been have has i've we've completely sent matter "
    "case question of down to stuck at at moment else a bit basically here status update note also "
    "need must currently unfortunately sadly ps fyi info work job thing whole first only already "
    "probably mostly back ich wir es das alles dies aber und jetzt nun noch immer derzeit aktuell "
    "momentan leider also so hier weiter weiterhin steht liegt ist sind bin habe hab haben nur "
    "gerade heute hängt der die muss müssen wieder dann danach erst zurzeit seit vorhin projekt "
    "aufgabe sache ganze for von part other tests nothing more this's too we'll will now's hängen "
    "da hat order ordered mail mailed emailed asked wrote called angerufen geschrieben bestellt "
    "gefragt status stand geht's geht gehts"
)
CLAUSE_END = pattern(
    r";| but | so that | aber | sonst | otherwise |, (?:so|then|dann|which|and|und|aber|but|sonst|"
    r"we|i|ich|wir) | [-–—] | \("
)
THEN_WE = pattern(r"^[^,]{3,60}, (?:i|we|he|she|they) (?!can't|cannot|won't|can |will )")
FREE = (
    pattern(rf"{START}not (?:blocked|waiting)(?: [{LETTERS}' ]{{1,40}})? any ?more{END}"),
    pattern(rf"{START}(?:warte|warten) (?:\w+ )?nicht (?:mehr|länger){END}"),
    pattern(rf"{START}(?:don't (?:have to|need to)|no need to) wait (?:any ?more|any longer){END}"),
)
MAY_GO_ON = pattern(
    rf"{START}(?:can (?:\w+ ){{1,4}}now|now (?:\w+ ){{1,3}}can|so (?:the )?\w+ can (?=\w)|(?:jetzt|"
    r"nun|endlich) (?:kann|können) (?:\w+ ){1,5}\w+|(?:kann|können) (?:\w+ ){0,2}(?:also|"
    r"jetzt|nun|endlich) \w+|(?!leit|geb|sag|reich|komm)\w{3,} (?:ich|"
    r"wir) (?:\w+ ){0,3}weiter(?=[.!,;]|$))(?![^.,;]* (?:not|nicht|nichts|kein\w*|erst|only|"
    rf"until)\b){END}"
)
"""It frees what waits, unless the sentence says for what."""
LEADS_IF = CONDITIONAL | word_set("hopefully hoffentlich until bis")
NOT_YET = (
    NEGATIVE
    | CONDITIONAL
    | word_set(
        "until soon will be bis wird werden muss müssen to bald yet noch before bevor should "
        "supposed hope hopefully hoffentlich sollte soll expected as tomorrow morgen"
    )
)
PAUSES = pattern(
    "paus|seite|hold|park|warte|liegt|ruh|rückgestellt|off$|aside|ice|eis|shelved|vertag"
)
NO_HOLD = word_set(
    "hour hours paket filiale post abholung geld euro money buch bücher kept me uhr stunde heizung "
    "clock watch call phone music hotline line telefon minutes warteschleife schleife video "
    "podcast recording milk beer wine champagne drinks knee ankle books sitzung besprechung "
    "konzert sonntags timer film movie player dvd game car auto bike meeting he she they bob anna "
    "tom ball"
)
STARTED = (
    pattern(
        r"(?:^|[,;:] )(?:(?:i|we|i've|we've|i have|we have|work has|work|just|now|already|today|"
        r"yesterday|finally|have|has|and|so|this morning|ok|okay) ){0,5}"
        r"(?:started|begun|began)(?! (?:at \d|waiting|to rain|raining|to snow))" + END
    ),
    pattern(
        rf"{START}(?:in progress|made a start|in arbeit|gerade dabei(?!,)|mittendrin|"
        r"bin (?:gerade |schon |jetzt )?dran|wir sind dran|under way|underway|working on (?:it|"
        r"this|that)(?: now| at the moment| today| right now)?|am working on|are working on|"
        rf"halfway (?:through|done)|in the middle of){END}"
    ),
    pattern(r"(?:^|[,;:] )(?:angefangen|begonnen|losgelegt)" + END),
    pattern(
        rf"{START}(?:habe|haben|hab|wurde|gestern|heute|ist|schon|"
        rf"bereits) [^.;!]{{0,80}}?(?:angefangen|begonnen|losgelegt|gestartet){END}"
    ),
    pattern(
        rf"{START}(?:arbeite|arbeiten) (?:ich |wir |gerade |jetzt |derzeit |schon )*(?:dran|daran|"
        rf"an){END}"
    ),
    pattern(
        rf"{START}(?:fange|lege|(?:fangen|legen) wir) (?:ich |gerade |jetzt |heute |"
        r"nun )*(?:\w+ ){0,4}(?:an|los)(?=[.!,;]|$)"
    ),
)
