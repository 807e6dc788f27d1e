"""What a text asks for beyond the fields of its task: a follow-up, time spent, a blocker.

Since scaffold 2, by the tools that a request offers; one call each.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from adapters.models import blocking, findings, following, spent
from adapters.models.found import Finding, Findings
from adapters.models.reading import PromptTask
from domain.ports import CallResult
from domain.tools.evidence import BECAUSE

TOOLS: Final[Mapping[str, str]] = {
    "follow_up": "create_follow_up_task",
    "time": "log_time",
    "link": "link_task",
}
"""Which one takes a kind of finding."""


def find(seen: PromptTask, reached: Collection[str], answers: Sequence[CallResult]) -> Findings:
    """All that the texts ask for, as far as tools reach.

    Args:
        seen: The task.
        reached: Tools that are offered, or were called before in this wake.
        answers: To the calls of this wake.
    """
    more: list[Finding] = []
    aside: frozenset[str] = frozenset()
    if TOOLS["follow_up"] in reached:
        follow_up, aside = following.follow_up(seen)
        more += [follow_up] if follow_up else []
    if TOOLS["time"] in reached:
        more += spent.times(seen)
    found = findings.find(seen, aside)
    found = replace(found, proposals=(*found.proposals, *more))
    sought = blocking.blocker(seen) if TOOLS["link"] in reached else None
    if sought is None:
        return found
    looked = answers if blocking.LOOKUP in reached else None
    return blocking.resolved(seen, found, sought, looked)


def calls(found: Findings) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is asked for as calls, each with the words that it was read from."""
    for kind, tool in TOOLS.items():
        for one in found.proposals:
            if one.kind == kind:
                yield tool, {**_arguments(one), BECAUSE: one.quote}
    if found.sought:
        yield blocking.LOOKUP, {"words": found.sought.value}


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
            return {"relation": blocking.RELATION, "targetTaskId": finding.target}
