"""A follow-up task that a text asks for: "the rest is a new task: A, B" (ADR 40).

Open items that the list names move there, others stand in its description. Without a list it is
all that is open, if the text speaks of a task. A due date only where the same sentence names one.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from adapters.models.offline import clauses, dates, deadline, phrasing
from adapters.models.offline.sentences import (
    CONDITIONAL,
    END,
    NEGATIVE,
    START,
    TextLine,
    is_hearsay,
    is_question,
    lines,
    pattern,
    quote,
    sentences,
    words,
)
from adapters.models.offline.todo import elements
from adapters.models.rules.context import PromptTask, SourceText
from adapters.models.rules.findings import CLOSED, ITEMS_PROPOSED_MAX, Finding, named, unfinished
from domain.text import cut, fold

TITLE_LENGTH_MAX = 150
DESCRIPTION_LENGTH_MAX = 2_000

_MONTH = "|".join(name for name in dates.MONTHS if len(name) > 3 or name in ("mai", "may"))
_LATER = (
    r"(?:later|another time|next (?:week|month|quarter|year|spring|summer|autumn|winter)|"
    rf"in (?:{_MONTH})|später|ein andermal|nächste (?:woche|saison)|nächsten (?:monat|sommer|"
    rf"winter)|nächstes (?:jahr|quartal)|im (?:{_MONTH}))"
)
_NEW = (
    r"(?:(?:a |an )?(?:new|separate|follow[- ]?up|further) (?:follow[- ]?up )?task|a follow[- ]?up)"
)
_NEU = (
    r"(?:(?:eine[rn]? )?(?:neue[rn]?|eigene[rn]?|weitere[rn]?|separate[rn]?) aufgabe|"
    r"(?:eine[rn]? )?folgeaufgabe)"
)
_REST = r"(?:the |all the )?(?:rest|remainder)(?: of it)?"
_TASKS = (
    pattern(
        rf"{START}{_REST} (?:is|becomes|will be|goes (?:in)?to|goes in|gets|needs|as|"
        rf"for) {_NEW}{END}"
    ),
    pattern(rf"{START}make (?:the rest )?{_NEW} (?:of|for|from) the rest{END}"),
    pattern(
        rf"{START}(?:der |den )?rest (?:ist|wird|gibt|kommt in|gehört in|braucht|als|"
        rf"in) {_NEU}{END}"
    ),
)
_LATERS = (
    pattern(
        rf"{START}{_REST} (?:i|we)(?:'ll| will)? (?:do|make|finish|tackle) (?:it )?{_LATER}{END}"
    ),
    pattern(rf"{START}(?:i|we)(?:'ll| will)? (?:do|finish|tackle) the rest {_LATER}{END}"),
    pattern(
        rf"{START}(?:der |den )?rest (?:mach|mache|machen|erledige|erledigen) (?:ich |"
        rf"wir )?(?:dann )?{_LATER}{END}"
    ),
    pattern(
        rf"{START}(?:ich |wir )?(?:mach|mache|machen|erledige|"
        rf"erledigen) den rest (?:dann )?{_LATER}{END}"
    ),
    pattern(rf"{START}(?:the |der )?rest (?:follows|folgt|kommt) (?:dann )?{_LATER}{END}"),
)
_HINT = re.compile("rest|remainder", re.IGNORECASE)  # cheap: most texts ask for no follow-up
_TAIL = re.compile(r"(?P<gap>[^:]{0,80})(?P<colon>: ?)?(?P<list>.*)$")


def follow_up(seen: PromptTask) -> tuple[Finding | None, frozenset[str]]:
    """The newest that is asked for, and all sentences that ask: they say nothing else."""
    found, said = None, set[str]()
    for source in seen.sources:
        if source.kind == "title":
            continue
        for sentence in (one for line in lines(source.text) for one in sentences(line.text)):
            if (match := _named().search(sentence)) and _is_said(sentence, match):
                said.add(sentence)
                found = _finding(seen, source, sentence, [], title=match["name"].strip(' .!"'))
        if _HINT.search(source.text):
            for sentence, names, is_task in _asked(source):
                said.add(sentence)
                found = _finding(seen, source, sentence, names, is_task=is_task) or found
    is_new = found is not None and seen.status not in CLOSED and not _is_known(seen, found)
    return found if is_new else None, frozenset(said)


@cache
def _named() -> re.Pattern[str]:
    """A new task by its name."""
    return phrasing.rule("new_task", r"{} ?:? ?[\"„“]?(?P<name>[^\"”“:]{{2,40}} [^\"”“:]{{2,100}})")


def _is_known(seen: PromptTask, found: Finding) -> bool:
    title = fold(found.value)
    return (
        any(fold(one.title) == title for one in seen.around.linked)
        or seen.around.tells("follow-up", f'"{title}"')
        or seen.around.remembers(f"{found.kind} {found.value}", found.source.at)
    )


def _asked(source: SourceText) -> Iterator[tuple[str, list[str], bool]]:
    """Sentences that ask, with the names they list or that stand in a list below them."""
    told = list(lines(source.text))
    for nth, line in enumerate(told):
        for sentence in sentences(line.text):
            rule, tail = _read(sentence)
            if tail is None:
                continue
            listed = elements(tail["list"]) if tail["colon"] else []
            is_below = tail["colon"] and not tail["list"]
            yield sentence, list(_below(told[nth + 1 :])) if is_below else listed, rule in _TASKS


def _read(sentence: str) -> tuple[re.Pattern[str] | None, re.Match[str] | None]:
    """The phrase that a sentence asks by, and what follows on it."""
    for rule in () if is_question(sentence) else (*_TASKS, *_LATERS):
        match = rule.search(sentence)
        tail = _TAIL.match(sentence, match.end()) if match else None
        if match and tail and _is_meant(sentence, match, tail):
            return rule, tail
    return None, None


def _is_said(sentence: str, match: re.Match[str]) -> bool:
    """Whether a new task that is named is the person's word, and not the rest of this one."""
    before = words(sentence[: match.start("name")])
    denied = NEGATIVE | CONDITIONAL | {"rest", "remainder"}
    is_told = denied.isdisjoint(before) and not is_question(sentence)
    return is_told and not is_hearsay(sentence, match.start())


def _is_meant(sentence: str, match: re.Match[str], tail: re.Match[str]) -> bool:
    around = words(sentence[: match.end()] + tail["gap"])
    denied = NEGATIVE | CONDITIONAL
    return denied.isdisjoint(around) and not is_hearsay(sentence, match.start())


def _below(rest: Sequence[TextLine]) -> Iterator[str]:
    for line in rest:
        if not line.is_bullet:
            return
        if line.box != "x" and line.text.strip(" .,;:"):
            yield line.text.strip(" .,;:")


def _finding(
    seen: PromptTask,
    source: SourceText,
    sentence: str,
    names: list[str],
    *,
    is_task: bool = False,
    title: str = "",
) -> Finding | None:
    """The follow-up of a sentence; nothing where it would hold nothing."""
    todo = unfinished(seen)
    carried: dict[str, None] = {}
    others: list[str] = []
    for name in names:
        items = named(todo, fold(name))
        carried |= dict.fromkeys(one.id for one in items)
        others += [] if items else [name]
    if not names and is_task:
        carried = dict.fromkeys(one.id for one in todo)
    if not carried and not others and not title:
        return None
    rest = "Rest" if seen.language.startswith("de") else "the rest"
    due = deadline.due(clauses.sentence(sentence), source.day)
    return Finding(
        "follow_up",
        cut(title or f"{seen.title}: {rest}", length_max=TITLE_LENGTH_MAX),
        quote(sentence, 0, len(sentence)),
        source,
        target=due.day.isoformat() if due else "",
        extra=cut("\n".join(f"- {one}" for one in others), length_max=DESCRIPTION_LENGTH_MAX),
        items=tuple(carried)[:ITEMS_PROPOSED_MAX],
    )
