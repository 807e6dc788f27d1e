"""Words that mean the same: "called" and "call", "angerufen" and "anzurufen", "Pads" and "pad".

A table for irregular verbs and for synonyms, and a few endings for all others. A word has several
keys, as nobody tells which language it is of; two words mean the same if they share one.
"""

import re
from functools import lru_cache

from adapters.models.offline.sentences import word_set
from domain.text import fold

CACHE_MAX = 4_096

_IRREGULAR_EN = """
buy bought|bring brought|build built|choose chose chosen|cut cut|do did done|drive drove driven|
draw drew drawn|eat ate eaten|find found|fly flew flown|get got gotten|give gave given|
go went gone|hang hung|hold held|keep kept|lay laid|leave left|lend lent|make made|meet met|
pay paid|put put|read read|ring rang rung|say said|see saw seen|sell sold|send sent|set set|
sew sewed sewn|shut shut|sing sang sung|speak spoke spoken|spend spent|stick stuck|
sweep swept|take took taken|teach taught|tell told|think thought|throw threw thrown|
wash washed|win won|write wrote written|rewrite rewrote rewritten|redo redid redone|
feed fed|hear heard|lose lost|bake baked|saw sawn|mow mowed mown|dig dug|fit fit|let let|
hide hid hidden|learn learnt|burn burnt|clean cleaned|light lit|oversee oversaw|shoot shot|
sign signed|wind wound|undo undid undone|blow blew blown|catch caught|break broke broken|
ride rode ridden|run ran|
tear tore torn|freeze froze frozen|bend bent|grow grew grown|wear wore worn|begin began begun|
understand understood
"""
_IRREGULAR_DE = """
rufen rief gerufen|bringen brachte gebracht|sprechen sprach gesprochen|nehmen nahm genommen|
finden fand gefunden|treffen traf getroffen|geben gab gegeben|lesen las gelesen|tun tat getan|
gehen ging gegangen|schreiben schrieb geschrieben|streichen strich gestrichen|
gießen goss gegossen|waschen wusch gewaschen|schneiden schnitt geschnitten|
binden band gebunden|ziehen zog gezogen|schließen schloss geschlossen|heben hob gehoben|
schieben schob geschoben|gleichen glich geglichen|scheiden schied geschieden|
messen maß gemessen|wiegen wog gewogen|leihen lieh geliehen|weisen wies gewiesen|
werfen warf geworfen|denken dachte gedacht|laden lud geladen|fahren fuhr gefahren|
hängen hängte gehängt gehangen|graben grub gegraben|backen backte gebacken|
bieten bot geboten|bitten bat gebeten|stellen stellte gestellt|schleifen schliff geschliffen|
senden sandte gesandt gesendet|bauen baute gebaut|reißen riss gerissen|
sehen sah gesehen|steigen stieg gestiegen|lassen ließ gelassen|kommen kam gekommen|
werben warb geworben|schlagen schlug geschlagen|braten briet gebraten|fangen fing gefangen|
halten hielt gehalten|laufen lief gelaufen|blasen blies geblasen|brechen brach gebrochen|
biegen bog gebogen|reiben rieb gerieben|helfen half geholfen|frieren fror gefroren|
essen aß gegessen|melden meldete gemeldet
"""
_SYNONYMS = """
call phone telephone ring anrufen telefonieren rufen|
buy get purchase pick fetch kaufen einkaufen besorgen holen abholen mitnehmen|
send mail email post submit ship schicken senden abschicken absenden verschicken losschicken
einreichen abgeben wegschicken zuschicken zusenden einsenden raus|
write draft schreiben verfassen|pay transfer settle bezahlen zahlen überweisen begleichen|
book reserve buchen reservieren|order bestellen|fix repair mend reparieren flicken|
replace swap change exchange wechseln austauschen tauschen ersetzen auswechseln|
cancel kündigen stornieren absagen|sign unterschreiben unterzeichnen|
clean tidy wash wipe putzen reinigen säubern saubermachen waschen aufräumen|
ask fragen anfragen nachfragen|talk speak sprechen besprechen reden|
read lesen durchlesen|check review verify prüfen überprüfen kontrollieren checken durchsehen|
print ausdrucken drucken|install einbauen montieren installieren anbringen|
invite einladen|paint streichen anstreichen lackieren|water gießen|
scan einscannen scannen|arrange schedule vereinbaren ausmachen|pack packen einpacken|
measure messen ausmessen vermessen|mow mähen|sort sortieren|return zurückgeben zurückschicken|
find finden|register anmelden|bring vorbeibringen hinbringen|translate übersetzen|
update aktualisieren|test testen|plan planen|prepare vorbereiten|upload hochladen|
copy kopieren|mount aufhängen|decide entscheiden|compare vergleichen
"""
_DEEDS = word_set(
    "schneiden backen kochen bohren ölen entlüften fegen saugen leeren ausräumen einräumen tanken "
    "zurückbringen wegbringen wegwerfen ausleihen beantragen ausfüllen einrichten klären beziehen "
    "organisieren informieren umgraben pflanzen aufbauen abbauen entsorgen verlegen umtopfen "
    "nachfüllen bügeln nähen kleben korrigieren löschen sichern freischalten veröffentlichen "
    "liefern machen erledigen mieten leihen fahren bringen nehmen geben legen stellen ändern"
)
UNCHANGED = word_set(
    "empty clean leer sauber cut put read proofread set shut fit let hit spread cast"
)
"""English verbs whose past is as their present."""
PREFIXES = word_set(
    "an ab auf aus bei durch ein fest fort frei her hin hoch los mit nach nieder statt um vor weg "
    "weiter wieder zu zurück zusammen rein raus rüber runter rauf hinein heraus herunter hinaus "
    "vorbei fertig heim bereit über unter voll"
)
"""Of German verbs that come apart: "rufe ... an"."""
_PREFIX = "|".join(sorted(PREFIXES, key=len, reverse=True))
_PARTICIPLE = re.compile(rf"({_PREFIX})?ge([a-zäöü]{{3,}}?)(?:e?t|en)$")
_FUSED = re.compile(r"(?:be|ver|er|ent|zer|über|unter|miss|wider)[a-zäöü]{3,}t$")
_TO = re.compile(rf"({_PREFIX})zu([a-zäöü]{{3,}}en|tun)$")
_UMLAUTS = str.maketrans("äöü", "aou")

_NO_PAST_EN = word_set(
    "need bed red feed seed shed speed hundred weed indeed sled ted wed embed exceed proceed "
    "succeed bleed breed agreed naked wicked fred ned allowed supposed required interested tired "
    "worried excited confused bored used delayed blocked stuck limited detailed united"
)
_NO_PAST_DE = word_set(
    "gesamt gebiet gerät gerüst gewicht geht gehört gestern gegen gerade geduld gericht gesicht "
    "gefällt gelt gemüt gewalt gewinnt gewünscht gesperrt geplant gedacht verdammt bestimmt "
    "vielleicht bereit bekannt überrascht unterwegs überhaupt erst ernst verspricht besteht "
    "versteht erhält bekommt entsteht verlangt benötigt gebraucht gewartet beschäftigt berechtigt "
    "verwirrt überlegt vermutet befürchtet erwartet versucht vermisst gefehlt gedauert gesagt "
    "gemeint gehofft gewohnt geärgert geeignet begeistert verspätet verschiebt verzögert "
    "vermutlich bleibt"
)


def _table(text: str) -> list[list[str]]:
    return [fold(line).split() for line in text.replace("\n", " ").split("|")]


_BASES: dict[str, str] = {}
_PAST: set[str] = set()
for _base, *_forms in (*_table(_IRREGULAR_EN), *_table(_IRREGULAR_DE)):
    _BASES.update(dict.fromkeys((_base, *_forms), _base))
    _PAST.update(form for form in _forms if form != _base)


def _stem(word: str) -> str:
    """Its beginning, without the endings of nouns and verbs of either language."""
    word = word.removesuffix("'s").translate(_UMLAUTS)
    for spelled, letter in (("ae", "a"), ("oe", "o"), ("ue", "u")):
        word = word.replace(spelled, letter)
    for _ in range(3):
        word = _shorter(word)
    return word


def _shorter(word: str) -> str:
    for ending, least in (("ies", 5), ("ied", 5)):
        if word.endswith(ending) and len(word) >= least:
            return word[:-3] + "y"
    for ending in ("ungen", "ing", "ern", "ten", "est", "ed", "en", "es", "em", "er", "te", "et"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    else:
        least = 3 if word[-1:] == "e" else 4
        if len(word) > least and word[-1] in "senty" and not word.endswith(("ss", "nt", "ht")):
            word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word


def _split(word: str) -> tuple[str, str]:
    """The separable prefix of an infinitive or participle, and the rest as an infinitive."""
    for prefix in (word[:length] for length in range(8, 1, -1)):
        rest = word[len(prefix) :]
        if prefix in PREFIXES and rest in _BASES:
            return prefix, _BASES[rest]
    return "", word


def _umlauted(word: str) -> str:
    """ "Ueberwiesen" as "überwiesen", where that begins like a verb."""
    return "ü" + word[2:] if word.startswith(("ueber", "ueben")) else word


def _infinitive_of(word: str) -> str:
    if word in _BASES:
        return _BASES[word]
    prefix, rest = _split(word)
    if prefix:
        return prefix + rest
    if to := _TO.match(word):
        return to[1] + _BASES.get(to[2], to[2])
    return _unfused(word)


def _unfused(word: str) -> str:
    """ "Besprochen" is "besprechen", "überwiesen" is "überweisen"."""
    for fused in ("be", "ver", "er", "ent", "zer", "über", "unter"):
        tail = word[len(fused) :] if word.startswith(fused) else ""
        for form in (tail, "ge" + tail) if tail else ():
            if form in _BASES:
                return fused + _BASES[form]
    return word


_GROUPS: dict[str, str] = {}


@lru_cache(maxsize=CACHE_MAX)
def keys(word: str) -> frozenset[str]:
    """What a folded word may stand for.

    >>> bool(keys("called") & keys("anrufen"))
    True
    """
    base = _infinitive_of(_umlauted(word))
    found = {_stem(word), _stem(base)}
    if participle := _PARTICIPLE.match(word):
        stem = (participle[1] or "") + participle[2]
        found |= {_stem(stem), _stem(stem + "en")}
    return frozenset(found | {_GROUPS[one] for one in found if one in _GROUPS})


def _grouped() -> None:
    for names in _table(_SYNONYMS):
        for name in names:
            _GROUPS.setdefault(_stem(_infinitive_of(name)), f"={names[0]}")


_grouped()


@lru_cache(maxsize=CACHE_MAX)
def is_past(word: str) -> bool:
    """Whether a word, folded, has the form of a past tense or of a past participle."""
    word = _umlauted(word)
    if word in _NO_PAST_EN or word in _NO_PAST_DE:
        return False
    if word in _PAST or _split_past(word):
        return True
    if word.endswith("ed") and len(word) > 4:
        return True
    is_participle = bool(_PARTICIPLE.match(word)) and word.endswith("t")
    return is_participle or bool(_FUSED.match(word)) or (word.endswith("iert") and len(word) > 6)


def _split_past(word: str) -> bool:
    """Of a compound: "angerufen", "überwiesen"."""
    if any(word[length:] in _PAST for length in range(2, 9) if word[:length] in PREFIXES):
        return True
    for fused in ("be", "ver", "er", "ent", "zer", "über", "unter"):
        if word.startswith(fused) and "ge" + word[len(fused) :] in _PAST:
            return True
    return False


def is_participle(word: str) -> bool:
    """Whether it is a German participle: "gefragt", "angerufen"."""
    return _PARTICIPLE.match(word) is not None


_VERBS = (
    frozenset(
        word_set(
            "add adjust answer apply assemble attach backup borrow carry change charge claim "
            "collect confirm connect contact create deliver design discuss empty explain extend "
            "fill finalise finalize finish follow glue grease grind handle harvest iron label link "
            "look lubricate mark meet mount move note notify oil open organise organize patch peel "
            "photograph plant polish pot prime propose prune publish push rake recycle release "
            "remind remove rent replant reply report request research reset respond restart review "
            "rinse run sand save search seal select set shop show sketch sow stain start stop "
            "store submit tape thank trim tune turn unpack unscrew vacuum varnish wait walk weed "
            "weigh weld wire wrap file hand drop pull hire invoice drill hang try use visit work "
            "close clear count help renew repaint replan rehearse sweep iron dust empty refill "
            "recharge rename restock shorten tighten loosen lock unlock knock park wire hem knit "
            "stitch crop trace track list pick choose gather shred laminate frame hoover wax "
            "defrost descale bleed bath groom feed vaccinate draft outline brief consult negotiate "
            "settle claim declare file migrate rotate revoke upgrade downgrade configure email "
            "text redirect delete transfer settle enter export import install merge deploy tag "
            "document refactor"
        )
    )
    .union(
        name for line in _table(_SYNONYMS) for name in line if name.isascii() and name[-2:] != "en"
    )
    .union(line[0] for line in _table(_IRREGULAR_EN))
)


def is_verb(word: str) -> bool:
    """Whether an order in English may begin with it."""
    return word in _VERBS


def is_deed(word: str) -> bool:
    """Whether it is a German infinitive of what somebody does: "anrufen", not "kommen"."""
    is_known = any(one.startswith("=") for one in keys(word)) or word in _DEEDS
    return word.endswith("n") and len(word) > 4 and is_known


def infinitive(word: str) -> str:
    """Of a participle, folded: "cleaned" is "clean", "bestellt" is "bestellen"; empty if unsure."""
    base = _infinitive_of(word)
    if base != word:
        return base
    for form in (word[:-2], word[:-1], word[:-3]):
        if word.endswith("ed") and form in _VERBS:
            return form
    if participle := _PARTICIPLE.match(word):
        stem = participle[2]
        ending = "n" if stem.endswith(("er", "el")) else "en"
        return (participle[1] or "") + stem + ending
    if word.endswith("t") and _FUSED.match(word):
        return word[:-1] + ("n" if word[:-1].endswith(("er", "el")) else "en")
    return word[:-1] + "en" if word.endswith("iert") else ""


def from_to(word: str) -> str:
    """Of an infinitive with "zu": "einzupacken" is "einpacken"; empty of another word."""
    found = _TO.match(word)
    return (found[1] or "") + found[2] if found else ""


def from_gerund(word: str) -> str:
    """Of "painting" it is "paint"; empty if unsure."""
    stem = word.removesuffix("ing")
    forms = (stem, stem + "e", stem[:-1])
    return next((one for one in forms if stem != word and one in _VERBS), "")
