"""What a text asks for beyond the fields of its task: a follow-up, time spent, a blocker.

Since scaffold 2, by the tools that a request offers; one call each.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from adapters.models.rules import blockers, findings, follow_up_task, time_spent
from adapters.models.rules.context import PromptTask
from adapters.models.rules.findings import Finding, Findings
from domain.ports import CallResult, Exchange
from domain.text import fold
from domain.tools.base import quoted
from domain.tools.decoding import BECAUSE
from domain.wake.tool_call import NOT_PROPOSED

TOOLS: Final[Mapping[str, str]] = {
    "follow_up": "create_follow_up_task",
    "time": "log_time",
    "link": "link_task",
}
"""Which one takes a kind of finding."""


def find(seen: PromptTask, reached: Collection[str], answers: Sequence[CallResult]) -> Findings:
    """All that the texts ask for, as far as tools reach.

    Args:
        reached: Tools that are offered, or were called before in this wake.
        answers: To the calls of this wake.
    """
    more: list[Finding] = []
    aside: frozenset[str] = frozenset()
    if TOOLS["follow_up"] in reached:
        follow_up, aside = follow_up_task.follow_up(seen)
        more += [follow_up] if follow_up else []
    if TOOLS["time"] in reached:
        more += time_spent.times(seen)
    found = findings.find(seen, aside)
    begun = time_spent.begun(seen)
    if begun and not any(one.kind == "status" for one in found.proposals):
        more.append(begun)
    found = replace(found, proposals=(*found.proposals, *more))
    sought = blockers.blocker(seen) if TOOLS["link"] in reached else None
    if sought is None:
        return found
    looked = answers if blockers.LOOKUP in reached else None
    return blockers.resolved(seen, found, sought, looked)


def calls(found: Findings) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is asked for as calls, each with the words that it was read from."""
    for kind, tool in TOOLS.items():
        for one in found.proposals:
            if one.kind == kind:
                yield tool, {**_arguments(one), BECAUSE: one.quote}
    if found.sought:
        yield blockers.LOOKUP, {"words": found.sought.value}


def _arguments(finding: Finding) -> dict[str, Any]:
    match finding.kind:
        case "follow_up":
            carried = [{"id": one} for one in finding.items]
            told = {"description": finding.extra, "dueDate": finding.target, "carryOver": carried}
            return {"title": finding.value} | {name: told[name] for name in told if told[name]}
        case "time":
            summary = finding.quote.rstrip(" .!")
            return {"startedAt": finding.target, "endedAt": finding.extra, "summary": summary}
        case _:
            return {"relation": blockers.RELATION, "targetTaskId": finding.target}


# ------------------------------------------------ what became of the calls, by their answers


def proposed(found: Findings, exchanges: Sequence[Exchange], tools: Mapping[str, str]) -> Findings:
    """The findings that were taken up; what was asked for and was not is counted.

    `tools`: which one takes a kind of finding.
    """
    answers: dict[str, list[CallResult]] = {}
    for result in (result for one in exchanges for result in one.results):
        answers.setdefault(result.tool, []).append(result)
    asked = [one for one in found.proposals if tools[one.kind] in answers]
    kept = tuple(one for one in asked if _is_taken(one, _answer(one, asked, answers, tools)))
    return replace(found, proposals=kept, held_back=len(asked) - len(kept))


def _answer(
    finding: Finding,
    asked: Sequence[Finding],
    answers: Mapping[str, list[CallResult]],
    tools: Mapping[str, str],
) -> CallResult:
    """The answer to the call that a finding was asked for with: the last one of its tool, or of
    those with a call for each finding the last ones, in their order."""
    of_tool = answers[tools[finding.kind]]
    if finding.kind not in TOOLS:
        return of_tool[-1]
    mine = [one for one in asked if one.kind == finding.kind]
    return of_tool[max(-len(of_tool), mine.index(finding) - len(mine))]


def _is_taken(finding: Finding, answer: CallResult) -> bool:
    named = fold(f'"{finding.value}"'), fold(quoted(finding.value))
    lines = [fold(line) for line in answer.output.split("\n")]
    missed = [line for line in lines if line.startswith(fold(NOT_PROPOSED))]
    return not answer.is_error and not any(name in line for line in missed for name in named)
