"""Which proposals stand open, and which of them a text takes back or says no more."""

import re
from collections.abc import Iterator, Sequence

from adapters.models.found import Finding, Retraction, Values
from adapters.models.offline.sentences import contains
from adapters.models.reading import PromptTask
from domain.text import fold

_QUOTED = re.compile('"[^"]{0,500}"')
_OPEN = re.compile(
    r"- fp=(?P<fingerprint>\S{1,80}) (?P<what>Set (?:due date|status|priority|estimate) to "
    r'|Add: |Check: )"?(?P<value>[A-Z0-9-]+(?: [A-Z]{3,8})?(?=:| minutes| \[|$)|[^"]{1,300})'
)


def is_open(seen: PromptTask, finding: Finding) -> bool:
    """Whether the same thing is already proposed and undecided."""
    return any(_proposes(fold(proposal), finding) for proposal in seen.proposals)


def _proposes(line: str, finding: Finding) -> bool:
    """Whether a line about a proposal, folded, is about a finding."""
    value = fold(finding.value)
    match finding.kind:
        case "item" | "check":
            return f'"{value}"' in line or line.endswith(f": {value}")
        case "label":
            return "label" in line and (value in line or finding.target in line)
        case "due":
            return value in line and "due" in line
        case _:
            return contains(_QUOTED.sub("", line), value)


def retracted(seen: PromptTask, values: Values, read: Sequence[Finding]) -> Iterator[Retraction]:
    """Open proposals that a later text takes back, or that no text says any more.

    The second only where the journal says that it was found by rule: others may read more.
    """
    kinds = {one.kind for one in read}
    for proposal in () if seen.is_cut else seen.proposals:
        line = fold(proposal)
        told = _OPEN.match(proposal)
        if told is None or any(_proposes(line, one) for one in read):
            continue
        kind, back = _taken_back(values, told["what"])
        if kind in kinds and kind not in ("item", "check"):
            continue  # the new one replaces it
        if back is not None:
            yield Retraction(told["fingerprint"], f'A text says otherwise: "{back.quote}"')
        elif _is_own(seen, kind, told["value"]):
            yield Retraction(told["fingerprint"], "The text that it was read from changed.")


def _taken_back(values: Values, what: str) -> tuple[str, Finding | None]:
    """The kind of an open proposal, and what a text says against it."""
    match what:
        case "Set due date to ":
            return "due", values.void if values.due is None else None
        case "Set status to ":
            return "status", values.freed if values.blocked is None else None
        case "Set priority to ":
            denied = values.priority is not None and not values.priority.value
            return "priority", values.priority if denied else None
        case "Set estimate to ":
            return "estimate", None
        case "Add: ":
            return "item", None
        case _:
            return "check", None


def _is_own(seen: PromptTask, kind: str, value: str) -> bool:
    """Whether the journal tells that these rules found it."""
    name = f"{kind} {fold(value)}"
    found = [line for line in fold(seen.journal).split("- [") if "found by rule: " in line]
    return any(contains(line, name) for line in found)
