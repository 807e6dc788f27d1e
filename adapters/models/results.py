"""What became of the rules model's wishes, by the answers to its calls (scaffold 2 on)."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from adapters.models import acts
from adapters.models.found import Finding, Findings
from domain.ports import CallResult, Exchange
from domain.text import fold
from domain.tools.base import quoted
from domain.wake.recorded import NOT_PROPOSED


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
    if finding.kind not in acts.TOOLS:
        return of_tool[-1]
    mine = [one for one in asked if one.kind == finding.kind]
    return of_tool[max(-len(of_tool), mine.index(finding) - len(mine))]


def _is_taken(finding: Finding, answer: CallResult) -> bool:
    named = fold(f'"{finding.value}"'), fold(quoted(finding.value))
    lines = [fold(line) for line in answer.output.split("\n")]
    missed = [line for line in lines if line.startswith(fold(NOT_PROPOSED))]
    return not answer.is_error and not any(name in line for line in missed for name in named)
