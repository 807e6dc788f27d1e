"""The task that a text says blocks this one: "blocked by the tax task" (ADR 40).

It is looked for among the linked tasks, then by `find_tasks`. Where its name fits none or several,
nothing is proposed and the report says so.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from adapters.models.offline import clauses, state
from adapters.models.offline.phrasing import grammar, rule, vocabulary
from adapters.models.offline.sentences import is_hearsay, sentences_of, words
from adapters.models.rules import context
from adapters.models.rules.context import NamedTask, PromptTask, SourceText
from adapters.models.rules.findings import CLOSED, Finding, Findings
from domain.ports import CallResult
from domain.text import fold

LOOKUP = "find_tasks"
RELATION = "is_blocked_by"


def blocker(seen: PromptTask) -> Finding | None:
    """The newest that a text names, by its name; nothing where a newer text frees the task."""
    found: Finding | None = None
    for source in seen.sources:
        if source.kind == "title" or not (found or rule("block_hint").search(source.text)):
            continue
        for sentence in sentences_of(source.text):
            found = _after(found, source, sentence)
    is_known = found is None or seen.around.remembers(f"link {found.value}", found.source.at)
    return None if is_known or seen.status in CLOSED else found


def _after(found: Finding | None, source: SourceText, sentence: str) -> Finding | None:
    """What a sentence makes of what older ones name."""
    for turn in state.turns(clauses.sentence(sentence)):
        name = _name(turn.phrase.value) if turn.state == "blocked" else ""
        if turn.state == "free":
            found = None
        elif name and not is_hearsay(sentence, turn.position):
            found = Finding("link", name, turn.phrase.quote, source)
    return found


def resolved(
    seen: PromptTask, findings: Findings, sought: Finding, answers: Iterable[CallResult] | None
) -> Findings:
    """The findings with the link; or with what to look for, or what could not be told.

    Args:
        answers: Of what was looked up; None where nothing can be.
    """
    linked = _fitting(sought.value, seen.around.linked)
    if any(one.relation == RELATION for one in linked):
        return findings
    given = [] if answers is None else [one for one in answers if one.tool == LOOKUP]
    found = [one for answer in given if not answer.is_error for one in context.named(answer.output)]
    fitting = linked or _fitting(sought.value, found)
    if len(fitting) == 1:
        other = fitting[0]
        if seen.around.tells("link: is blocked by", other.id[:8]):
            return findings
        link = replace(sought, value=other.title, target=other.id)
        return replace(findings, proposals=(*findings.proposals, link))
    is_told = fold(f'"{sought.quote}"') in fold(seen.report)  # looked up before, and unclear
    if fitting or given or answers is None or is_told:
        return replace(findings, unclear=sought)
    return replace(findings, sought=sought)


def _name(reason: str) -> str:
    match = grammar("blocker_names").match(reason)
    name = match["name"].strip() if match else ""
    return "" if vocabulary("vague_task").issuperset(words(name)) else name


def _fitting(name: str, tasks: Sequence[NamedTask]) -> list[NamedTask]:
    """The one of just this title, else those whose titles hold every word."""
    by_id = {one.id: one for one in tasks}
    exact = [one for one in by_id.values() if fold(one.title) == fold(name)]
    wanted = words(name)
    near = [
        other
        for other in by_id.values()  # German compounds too: "Steuer" is in "Steuererklärung"
        if all(any(one.startswith(word) for one in words(other.title)) for word in wanted)
    ]
    return exact if len(exact) == 1 else near
