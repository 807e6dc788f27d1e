"""The phrases by which a text tells that something is done, or that it only seems so."""

from adapters.models.offline.sentences import pattern

HARMLESS = pattern(
    r"no (?:problems?|issues?|trouble)|without (?:problems?|any problems?|trouble)|ohne probleme|"
    r"problemlos|noch (?=schnell|heute|gestern|eben|rasch|kurz)|not bad|finally|will be fine|"
    r"for the first time|first thing|at first|kein problem|nothing left to do (?=on|for|with)|"
    r"(?:in|für|for|after|nach|only|took) (?:half an?|eine halbe)|had to .{0,20}?wait"
)
TICKED = pattern(
    r"(?:can be|kann|could be|to be) (?:ticked off|checked off|crossed off|abgehakt werden|"
    r"gestrichen werden|abgehakt)|(?:is|are|ist|sind) (?:off|von|from) (?:my|the|der|meiner) "
    r"list(?:e)?|went (?:ok|okay|well|fine)|(?:lief|ging) gut|taken care of|out of the way|"
    r"(?:is|are|'s) (?:now |finally )?(?:up|in place|behind me|in the (?:post|mail)|on its way|"
    r"out of the door)\b|(?:is|are|'s) (?:on|in|off|out|gone)$|"
    r"(?:ist|sind) (?:jetzt |schon |endlich |auch )?(?:raus|drin|dran|drauf|unterwegs|in der post|"
    r"auf dem weg|im kasten|unter dach und fach)\b|"
    r"\b(?:hängt|hängen|steht|stehen|sitzt|läuft|laufen)(?: jetzt| endlich| schon| wieder)?$|"
    r"hinter mir|vom tisch|dazu gekommen|(?:got|gotten) (?:a)?round to"
)
LATER = pattern(
    r", (?:and |und |but |aber )?[^,]{2,30} (?:tomorrow|morgen|later|später|next|next week|"
    r"nächste woche|as well tomorrow|to go|to do|noch nicht|not yet|am wochenende|"
    r"at the weekend|on \w+day)[.!]*$"
)
TOPIC = pattern(
    r"^(?P<what>[^:;.]{2,80}): ?(?:is |ist |schon |already )?(?:done|finished|erledigt|fertig|"
    r"check|checked|abgehakt|geschafft|complete|✓|✔|✅)(?: |[.,;!]|$)"
)
HAD_DONE = pattern(r"\b(?:hab|habe|haben)\b[^,;]{0,60}\b\w+en lassen\b")
BUT = pattern(r"\b(?:apart from|other than|save for|abgesehen von|with the exception)\b")
FIRST = pattern(r"(?:first|erste[rn]?) (?:draft|version|entwurf|fassung|coat|attempt|go|try)")
DUTY = pattern(r"\b(?:got|have|has|had|need|needs|yet|left|going|ought|about|used) to\b")
HEAD = pattern(
    r"^(?:today |heute |so far |bisher |schon |already |now |jetzt )?(?:done|finished|completed|"
    r"erledigt|fertig|abgeschlossen|geschafft|abgehakt|got done|checked off|ticked off|gemacht)"
    r"(?: with| mit| today| heute| so far| bisher| already| schon| now| jetzt| are| sind)? ?"
    r"(?::|[-–] ) ?(?P<what>.{2,400})"
)
STILL = pattern(
    r"[;.,] ?(?:and |but |aber |und )?(?:still|noch|open|offen|left|missing|remaining|not)\b.*"
)
ANSWERLESS = pattern(
    r"no answer|no reply|nobody (?:answered|picked up|there)|voicemail|niemanden? erreicht|"
    r"nicht erreicht|keiner (?:da|rangegangen)|niemand (?:da|rangegangen)|mailbox|"
    r"anrufbeantworter|didn't (?:pick up|answer)|ohne erfolg|without success|besetzt|"
    r"did not (?:answer|pick up)|(?:was|were)n.t (?:in|there|home|at home|available)|"
    r"war nicht (?:da|erreichbar|zu hause)|nicht zu erreichen|wrong (?:one|size|number|colou?r)|"
    r"geht nicht ran|ging nicht ran"
)
ALL_BUT = pattern(
    r"^(?:all|everything|alles|alle(?: \w+)?)(?: \w+)? (?P<but>(?:except|but|apart from|bis auf|"
    r"außer)(?: for)? .{2,80}?) (?:is|are|ist|sind) (?:now |already |jetzt |schon )?"
    r"(?:done|finished|complete|ready|erledigt|fertig|abgehakt|geschafft|sorted)[.!]*$"
)
ALL = pattern(
    r"^(?:(?:so|now|jetzt|endlich|finally|ok|okay|today|heute|puh|phew|yay),? )?"
    r"(?:all|everything|alles|all (?:of it|of them|items|points|tasks|steps)|alle punkte|"
    r"the (?:whole|entire) (?:list|checklist)|die (?:ganze|komplette) (?:liste|checkliste))"
    r"(?: on the list| on the checklist| here| auf der liste| hier)?"
    r"(?: is| are| has been| have been| ist| sind| wurde)?"
    r"(?: now| already| finally| jetzt| nun| schon| endlich| heute| today)? "
    r"(?:done|finished|completed?|ticked off|erledigt|fertig|abgehakt|geschafft|abgearbeitet|"
    r"gemacht|durch)(?: now| today| heute| jetzt)?"
    r"(?P<but>,? (?:except|but|apart from|save|bis auf|außer|nur)(?: for| not)? .{2,100})?[.!]*$"
)
