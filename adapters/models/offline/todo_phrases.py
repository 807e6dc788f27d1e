"""The phrases by which a text asks for something to do, in English and German."""

import re

from adapters.models.offline.sentences import END, LETTERS, START, pattern, word_set

_SELF = "i|we|you|someone|somebody|one|ich|wir|man|jemand"
NEED = pattern(
    rf"{START}(?:(?P<who>{_SELF})(?P<short>'ve|'ll)? )?"
    r"(?:(?:still|also|just|really|will|now|first|then|urgently|definitely|only|both|all|next|"
    r"must|now|probably|do|then|therefore|soon|again|desperately) ){0,3}"
    r"(?:(?:needs?|have|has|got|gotta|remains?|yet)(?: (?:got|yet|still|also|first|just))?(?: to)?"
    r"(?<= to)|must|gotta|ought to) (?:(?:still|also|first|just|really|not forget to|remember to) )"
    r"{0,2}(?=[^ ])"
)
MUST = pattern(
    rf"{START}(?:(?P<who>{_SELF}) )?(?:muss|müssen|müsste|müssten|sollte|sollten|soll)"
    r"(?: (?P<whom>ich|wir|man|jemand))?(?: (?:also|aber|dann|auch|unbedingt|dringend|heute|"
    r"morgen|jetzt|ja|nur|erst|danach|vorher)){0,3}"
    r"(?P<noch> noch)? (?=[^ ])"
)
REMEMBER = pattern(
    rf"{START}(?:(?:don't|do not|mustn't|must not|not to|never) forget(?: to |: ?|,? )|"
    r"(?:it(?:'d| would) be|might be|would be|probably) (?:a )?(?:good idea|best|wise|sensible) "
    r"to |"
    r"(?<![^.])before [^.,;]{3,40}?,? (?:i|we) should |"
    r"(?<![^.])bevor [^.,;]{3,40}, (?:sollten|sollte|muss|müssen) (?:wir|ich) (?:noch )?|"
    r"don't let (?:me|us) forget to |remember to |remind (?:me|us) (?:to |about )|(?:(?:i|we) "
    r")?must remember to |(?:i'd|we'd|i "
    r"had|"
    r"we had|you'd) better (?!not |be |have )|(?:i|we) (?:really |probably )*(?:ought to|should) "
    r"(?:also|still|really) |note to self: ?|bitte (?:noch )?daran denken,? |"
    r"(?:erinner|erinnere) mich (?:bitte )?(?:daran|dran),? |"
    r"denk(?:t|en wir)? (?:bitte |noch )*(?:daran|dran),? |make sure (?:to |we |i )|be sure to |"
    r"vergiss nicht,? |"
    r"nicht vergessen(?:: ?|, (?!und ))|nicht vergessen,? (?=[^.!]* zu )|"
    r"denke? (?:bitte )?(?:daran|dran),? |"
    r"darf (?:ich )?nicht vergessen,? |daran denken,? |dran denken,? |nicht vergessen - )(?=[^ ])"
)
NOT_FORGET = pattern(
    r"^(?:bitte |und |auch |noch )*(?P<what>.{3,200}) (?:nicht vergessen|"
    r"dürfen wir nicht vergessen|darf ich nicht vergessen)(?:,? und (?P<more>[^,;]{3,160}))?[.!]*$"
)
TODO = re.compile(
    rf"^[^{LETTERS}0-9]{{0,8}}TODO(?:\([^)]{{0,40}}\))?[:,]? ?"
    r"(?P<rest>(?!lists?|items?|app|comments?)[^:, ].*)$"
)
HEADER = pattern(
    r"^(?:#{1,6} )?(?:(?:oh|so|and|but|und|also|aber|jetzt|now|for|the|my|our|die|meine|unsere|was|"
    r"what's|what is|es|things|und jetzt|tasks|points|steps|als|still|immer|dann|today|heute|"
    r"tomorrow|morgen|this week|diese woche|then|danach|also) ){0,3}"
    r"(?:(?:things|stuff|jobs|bits|what) (?:(?:i|we) (?:still )?)?(?:have |need |left )?to \w+"
    r"(?: out)?(?= ?:)|(?:to |still to |left to |yet to )(?:bring|take|sort(?: out)?|collect|"
    r"pick up|"
    r"ring|email|print|clean|wash|paint|prepare|find|organi[sz]e|chase|write|pay|make|fetch|"
    r"replace|ship|send|post)(?= ?:)|(?:bring|take|pick up|ring|email|print|collect|ask|fetch|"
    r"sort out|sort|clean|wash|post|send|need to buy|need to get|packing list|"
    r"we're missing|we are missing|i'm missing|we lack|wanted|to-buy)(?= ?:)|"
    r"(?:bevor ich'?s? (?:es )?vergesse|(?:jot this down )?before i forget|auch "
    r"noch)(?= ?:)|"
    r"(?:mitbringen|mitnehmen|einpacken|packen|anrufen|kaufen|bestellen|klären|nachfragen|"
    r"abholen|holen|ausdrucken|drucken|schreiben|putzen|organisieren|vorbereiten|reparieren|"
    r"packliste|nicht vergessen|noch (?:zu )?\w+en|zu (?!beachten|wissen|sagen|sehen|lesen)\w+en|"
    r"auf der liste|"
    r"auf dem zettel|was (?:noch )?fehlt|wir brauchen|ich brauche|benötigt werden|benötigt)"
    r"(?= ?:)|next steps?|next(?: up)?(?=:)|(?:also|außerdem|reminder|note to self|erinnerung|"
    r"merkzettel|notiz an mich|buy|call|shopping|get|order|fix|pack|bring)(?= ?:)|"
    r"to-?dos?(?: list)?|to do(?: list| next| today| still| tomorrow)?|"
    r"action items?|open (?:points|items|tasks|issues|questions)|steps left|"
    r"still (?:to do|open|missing|needed|outstanding|left|to come|to buy|to get)|"
    r"left(?: to do| over)?|(?:is |are )?(?:still )?missing|remaining(?: tasks| items| steps|"
    r" work)?|"
    r"outstanding|to (?:buy|get|call|order|pack|bring|ask|check|fix|book)|still needed|"
    r"(?:nächste|weitere|letzte|offene) (?:schritte|punkte|aufgaben)|als nächstes|nächster schritt|"
    r"(?:ich |wir |i |we )?(?:still |noch )?(?:brauche|brauchen|need|needed)(?: noch)?(?= ?:)|"
    r"noch zu (?:erledigen|tun|machen|kaufen|besorgen)|(?:noch|immer noch) offen|offen(?= ?:)|"
    r"zu erledigen|zu tun|zu kaufen|fehlt noch|fehlen noch|(?:noch )?fehlt|(?:noch )?fehlen|"
    r"es fehlt noch|es fehlen noch|bleibt noch|bleibt|bleiben noch|übrig|ausstehend|aufgaben|"
    r"noch(?= ?:)|einkaufen(?= ?:)|einkaufsliste|shopping list|besorgen(?= ?:)|rest(?= ?:))"
    r"(?: (?:is|are|ist|sind|wäre|wären|now|jetzt|today|heute))?(?P<colon> ?:)? ?(?P<rest>.*)$"
)
IS_LEFT = pattern(
    r"^(?:(?:but|and|so|only|now|just|aber|und|nur|jetzt|also|es|then) )*(?P<what>[^:]{2,160}?) "
    r"(?:(?:is|are) (?:still |yet |also |all |now |the only things? )*(?:to do|left to do|"
    r"to be done|undone|not (?:yet )?done|not done yet|unfinished)|"
    r"(?:is|are) (?:(?:still|yet|also|all|now|the only things?) )+(?:left|open)|"
    r"(?:still|also) (?:to do|left|open|to be done)|"
    r"remains?(?: to be done| open| to do)?|"
    r"(?:ist|sind) (?:noch |auch |immer |nach wie vor )*(?:zu tun|zu machen|zu erledigen|offen|"
    r"nicht (?:erledigt|fertig|gemacht))|bleibt noch(?: zu tun)?|noch offen|"
    r"noch zu (?:tun|machen|erledigen))(?: for (?:next week|tomorrow|later)| yet| today)?[.!]*$"
)
MISSING = pattern(
    r"(?:^|[,;:] |\b(?:but|and|aber|und|now|jetzt) )(?:(?:now|jetzt|only|nur|es|there's|there is|"
    r"what's|what is|was|das einzige|that) )*(?:(?:fehlt|fehlen)(?: mir| uns| jetzt| nur)*(?: noch)"
    r"(?: mir| uns| nur)*|(?:(?:bleibt|bleiben)(?: jetzt| nur| also)* noch)|"
    r"(?:still )?(?:left|missing|to do|remaining|outstanding|remains) (?:is|are|still)?(?<=is|re)|"
    r"still missing|all that(?:'s| is) left is(?: to)?|the only things? left (?:is|are)(?: to)?)"
    r":? (?P<what>[^:;]{2,200})$"
)
NEEDS = pattern(
    r"^(?:(?:and|but|so|also|then|now|und|aber|außerdem|jetzt|dann) )*(?:(?:i|we) (?:(?:still|also|"
    r"now|do|will) ){1,2}need|(?:i|we) need(?= [^.!?]*\b(?:as well|too|still)\b)|"
    r"still need|need(?= [^:;]{2,80}(?:,| and ))|(?:brauche|brauchen|benötige|benötigen) (?:ich |"
    r"wir |jetzt |dann )*(?:auch )?noch|"
    r"(?:brauche|brauchen|benötige)(?= [^:;]{2,80}(?:,| und ))|"
    r"(?:ich|wir) (?:brauche|brauchen|benötigen) (?:jetzt |dann |auch )*noch) "
    r"(?!to |your |more time|time |help|an? hour)(?P<what>[^:;]{2,200})$"
)
BARE = pattern(
    r"^(?:(?:und|aber|dann|danach|morgen|heute|jetzt|außerdem|anschließend|als nächstes|später|"
    r"nachher|bitte|also|auch|next|am (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|"
    r"sonntag)) )*(?:noch|am besten(?: noch| erst ?mal| gleich| zuerst| vorher)) (?:schnell |"
    r"kurz |unbedingt |dringend |auch )*(?P<what>[^:;]{3,160})$"
)
THEN = pattern(
    r"^(?:(?:und|and|außerdem|zusätzlich|danach|dann|anschließend|als nächstes|nachher|also|"
    r"afterwards|next|then|after that|tomorrow|morgen|jetzt|now)[,:]? )+(?P<what>[^:;]{3,160})$"
)
STAYS = pattern(
    r"(?:^|[,;:] )(?P<what>[^,:;]{2,80}?) (?:still )?(?:needs?|wants) (?P<verb>[a-z]{3,14}ing)"
    r"(?: (?:again|soon|first|too|as well))?[.!]*$"
)
PASSIVE = pattern(
    r"be (?:[a-z]{2,20}ed|done|sent|paid|made|bought|written|built|found|set|put|taken|given|"
    rf"chosen|kept|told|brought|sold|redone|rewritten){END}"
)
TAIL_END = pattern(
    r"[;(]|\.{3}|…|,? (?=(?:about|around|ca\.?|etwa|approx\w*|roughly|ungefähr|~) ?\d)|"
    r", (?=(?:it|he|she|they|we|i|es|er|sie|wir|ich) )| und (?=(?:ich|wir|habe|hab|haben|bin|ist|"
    r"sind|er|sie|es) )| (?:because|but|so that|weil|aber|"
    r"sonst|damit|otherwise|since|as soon as) "
    r"|, (?:but|because|which|so|weil|aber|sonst|damit|denn|otherwise) | [-–] "
    r"| (?:and|und) ?$"
)
PARTS = pattern(r", ?(?:and |und )?|; ")
LAST_PART = pattern(r"^(.{2,160}) (?:and|und) (.{2,160})$")
LETTER = re.compile(f"[{LETTERS}]")
SMALL_WORD = re.compile("[a-zà-öø-þ][^A-ZÀ-ÖØ-Þ]")  # "iPhone" keeps its own way
OF_WHAT = word_set(
    "what whatever all everything anything something where how why who which things the a an "
    "any our their no was alles etwas weil dass"
)
NO_VERBS = word_set(
    "go leave run wait think hurry sleep eat stop look laugh see say admit agree know confess "
    "wonder laugh remember think believe sagen zugeben gestehen "
    "wissen lachen"
)
VAGUE = word_set(
    "before that it this that them so now again also soon das es dies jetzt later home go"
)
AND = pattern(r",? (?:and|und|&|then|dann|and then|und dann) |, ?|; ")
LATER_HEADER = pattern(
    r"[;,–-] (?:and |und |but |aber )?(?:still (?:to do|open|missing|left)|left(?: to do)?|"
    r"to do|remaining|noch offen|offen|fehlt noch|noch zu (?:tun|erledigen|machen)|"
    r"es fehlt noch|noch)(?P<colon>:) (?P<rest>.*)$"
)
LEAD = pattern(r"^(?:but|and|so|also|aber|und|außerdem|dann|then|now|jetzt) ")
LEADS = word_set(
    "and also but so then now first today tomorrow still just next anyway however plus oh ok okay "
    "und auch aber also dann jetzt heute morgen erst danach außerdem leider ich wir i we all "
    "that only what's what's left is left remaining"
)
NOT_MINE = word_set(
    "answer answers reply replies antwort antworten rückmeldung zusage bestätigung confirmation "
    "genehmigung freigabe approval response shop laden geschäft nothing nichts lust motivation "
    "question frage time zeit minutes minuten hours stunden euro euros days tage money geld "
    "progress permit signature delivery parts lieferung unterschrift weeks wochen entscheidung "
    "decision news he she they er sie luft schritt"
)
HABITS = word_set("every always usually often each jeden jede jedes immer täglich oft meistens")
IF = pattern(r"^(?:and |but |und |aber )?(?:if|falls|wenn|in case|unless|provided) ")
BY_OTHERS = pattern(
    r"(?:das|dies) (?:macht|machen|übernimmt|erledigt) (?!ich|wir)|(?:he|she|they)(?: will|'ll) do "
    r"(?:it|that)|(?:does|will do|takes care of|is doing) (?:that|it|this)"
)
LOOSE_END = pattern(r", (?:die|der|das|they|it|he|she|we|i|ich|wir|which|and|und)$")
SHALL = pattern(r"^(?:soll|sollen|sollte|sollten|muss|müssen) (?:ich|wir) [^.!]*[^.!]$")
BEFORE = word_set("before after until bevor nachdem")
THINGS = word_set("it this that they everything es das alles dies er sie he she")
AT = pattern(r"^(?:vor|nach|bis|bei|beim|im|in|am|an|für|mit|zum|zur|auf|um|ab) ")
FILLERS = word_set("noch auch still as well too soon again bald dann unbedingt dringend erst")
ARTICLE_DE = pattern(r"^(?:der|die|das|den|dem|ein|eine|einen) ")
NO_ORDER = word_set(
    "kann's geht's losgehen weitergehen können kann müssen muss wollen wir ich er sie es ist "
    "sind hat haben werden wird soll i we "
    "is are was it must has have this dahin gehen geht gibt i'll we'll nicht lassen uns"
)
NO_INFINITIVES = word_set(
    "den einen meinen keinen ihren seinen unseren diesen jenen allen vielen wegen gegen morgen "
    "gestern dessen deren hinten vorne oben unten draußen außen innen eben neben zwischen "
    "waren hatten wollten sollten konnten mussten haben sind wurden jeden welchen großen "
    "then often been children women seven ten garden even when kitchen oven taken given token "
    "kleinen neuen alten ersten letzten nächsten guten bisschen offen trocken können müssen"
)
DUTIES = (NEED, MUST, REMEMBER)
IS_TO = pattern(
    r"^(?:(?:und|aber|auch) )?(?P<what>[^:;,]{2,80}?) (?:ist|sind|bleibt|bleiben) (?:auch )?noch "
    rf"(?P<verb>zu [{LETTERS}]{{3,20}}en|[{LETTERS}]{{2,8}}zu[{LETTERS}]{{3,20}}en)[.!]*$"
)
LEFT = (IS_TO, STAYS, IS_LEFT, MISSING, NEEDS, BARE, THEN)
