"""A follow-up task that a text asks for: "the rest is a new task: A, B" (ADR 40).

Open items that the list names move there, others stand in its description. Without a list it is
all that is open, if the text speaks of a task. A due date only where the same sentence names one.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from adapters.models.offline import clauses, dates, deadline
from adapters.models.offline.phrasing import Rule, rows, rule, says, vocabulary
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    TextLine,
    is_hearsay,
    is_question,
    lines,
    quote,
    sentences,
    sentences_of,
    words,
)
from adapters.models.offline.todo import elements
from adapters.models.offline.wording import texts_in
from adapters.models.rules.context import PromptTask, SourceText
from adapters.models.rules.findings import CLOSED, ITEMS_PROPOSED_MAX, Finding, named, unfinished
from domain.text import cut, fold

TITLE_LENGTH_MAX = 150
DESCRIPTION_LENGTH_MAX = 2_000

_TAIL = re.compile(r"(?P<gap>[^:]{0,80})(?P<colon>: ?)?(?P<list>.*)$")


def follow_up(seen: PromptTask) -> tuple[Finding | None, frozenset[str]]:
    """The newest that is asked for, and all sentences that ask: they say nothing else."""
    found, said = None, set[str]()
    for source in seen.sources:
        if source.kind == "title":
            continue
        for sentence in sentences_of(source.text):
            if (match := _named().search(sentence)) and _is_said(sentence, match):
                said.add(sentence)
                found = _finding(seen, source, sentence, [], title=match["name"].strip(' .!"'))
        if says(words(source.text), "rest_hint"):
            for sentence, names, is_task in _asked(source):
                said.add(sentence)
                found = _finding(seen, source, sentence, names, is_task=is_task) or found
    is_new = found is not None and seen.status not in CLOSED and not _is_known(seen, found)
    return found if is_new else None, frozenset(said)


def _named() -> Rule:
    """A new task by its name."""
    return rule("new_task", r"{} ?:? ?[\"„“]?(?P<name>[^\"”“:]{2,40} [^\"”“:]{2,100})")


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
            is_task, tail = _read(sentence)
            if tail is None:
                continue
            listed = elements(tail["list"]) if tail["colon"] else []
            is_below = tail["colon"] and not tail["list"]
            yield sentence, list(_below(told[nth + 1 :])) if is_below else listed, is_task


def _read(sentence: str) -> tuple[bool, re.Match[str] | None]:
    """Whether a sentence asks for a task, or for something later, and what follows on it."""
    for name in () if is_question(sentence) else ("follow_up_tasks", "follow_up_laters"):
        for row in rows(name):
            match = _compiled(row).search(sentence)
            tail = _TAIL.match(sentence, match.end()) if match else None
            if match and tail and _is_meant(sentence, match, tail):
                return name == "follow_up_tasks", tail
    return False, None


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return dates.compiled(f"{{start}}{source}{{end}}")


def _is_said(sentence: str, match: re.Match[str]) -> bool:
    """Whether a new task that is named is the person's word, and not the rest of this one."""
    before = words(sentence[: match.start("name")])
    denied = NEGATIVE | CONDITIONAL | vocabulary("rest_hint")
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
    rest = texts_in(seen.language)["the rest"]
    due = deadline.due(clauses.sentence(sentence), source.day)
    return Finding(
        "follow_up",
        cut(title or f"{seen.title}: {rest}", length_max=TITLE_LENGTH_MAX),
        quote(sentence),
        source,
        target=due.day.isoformat() if due else "",
        extra=cut("\n".join(f"- {one}" for one in others), length_max=DESCRIPTION_LENGTH_MAX),
        items=tuple(carried)[:ITEMS_PROPOSED_MAX],
    )
