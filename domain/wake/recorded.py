"""What a model is told of its own proposals, from scaffold 2 on.

The answer to a call names in a line each what was not proposed, and what will be replaced; the
answer to a report sums up the wake so far, so that the report can be true.
"""

from collections.abc import Callable, Iterable, Sequence

from domain.changes.change_set import ChangeSet
from domain.text import squeeze
from domain.tools import registry
from domain.tools.base import Plan, Proposal, quoted
from domain.wake.state import Wake
from domain.wire import Words

NOT_PROPOSED = "Not proposed: "
REPLACES = "Replaces, when this wake ends: "
REPORTED = "The report is kept; the last one of this wake counts."
LINES_MAX = 20
"""Of each kind, in the sum."""
WISHES = ("redundant", "limit", "not_found", "sovereignty", "missing_category", "out_of_scope")
"""Codes of refused calls that were in order, but for what they wished for."""

Text = Callable[[Words], str]


def queued(
    count: int, missed: Iterable[str], replaced: Iterable[str], made: Iterable[str] = ()
) -> str:
    """What a call that proposes came to; `made`: ids of the tasks that confirming makes."""
    lines = [f"Queued for the person's review: {count} item(s)."] if count else []
    lines += [f"The new task will have the id {one}." for one in made]
    lines += [_line(REPLACES, one) for one in replaced]
    lines += [_line(NOT_PROPOSED, one) for one in missed]
    return "\n".join(lines) or "Nothing to propose."


def code_of_none(plan: Plan) -> str:
    """Why a batch comes to nothing: what was refused before what is so already."""
    return next((code for code in plan.codes if code != "redundant"), "redundant")


def replaced(
    accepted: Sequence[Proposal], sets: Iterable[ChangeSet], wake: Wake, text: Text
) -> list[str]:
    """The undecided items of the wake's agent whose place the accepted ones take."""
    fields = {field for one in accepted for field in registry.replaced_by(one.tool, one.arguments)}
    mine = [one for one in sets if one.agent in ("", wake.begun.agent)]  # its own has none yet
    return [
        item.summary
        for one in mine
        for item in one.items
        if item.status in ("pending", "deferred")
        and not fields.isdisjoint(registry.replaced_by(item.tool, text(item.arguments)))
    ]


def nothing_called(fingerprints: Iterable[str]) -> str:
    """Why a retraction comes to nothing."""
    named = ", ".join(map(quoted, fingerprints))
    return f"No pending proposal of yours has the fingerprint {named}."


def reported(wake: Wake, count: int, text: Text) -> str:
    """What a report is answered with: how many of the wake's wishes were proposed, and which not.

    Args:
        wake: So far.
        count: The items of its own set.
        text: Reads what its calls were answered with.
    """
    lines: list[str] = []
    for ref in (result for one in wake.exchanges for result in one.results):
        if registry.proposes(ref.tool):
            told = text(ref.message).split("\n")
            lines += [one for one in told if one.startswith((NOT_PROPOSED, REPLACES))]
            is_wish = ref.code in WISHES and not told[0].startswith(NOT_PROPOSED)
            lines += [_line(NOT_PROPOSED, told[0])] if is_wish else []
    missed = [one for one in lines if one.startswith(NOT_PROPOSED)]
    if not count and not missed:
        return REPORTED
    kept = f"{REPORTED} Recorded: {count} of {count + len(missed)} proposed."
    older = [one for one in lines if one.startswith(REPLACES)]
    shown = [kept, *_bounded(missed), *_bounded(older)]
    return "\n".join([*shown, "If the report says otherwise, write it again."])


def _bounded(lines: list[str]) -> list[str]:
    more = len(lines) - LINES_MAX
    return [*lines[:LINES_MAX], *([f"and {more} more"] if more > 0 else [])]


def _line(kind: str, text: str) -> str:
    return f"{kind}{squeeze(text).removesuffix('.')}."
