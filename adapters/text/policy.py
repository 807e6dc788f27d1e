"""What both doors say of a wake that the gate holds, and the lines of `policy show`."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from adapters.text.common import ID_SHOWN, local_time, safe
from domain.agent.wake_queue import NO_RECEIPT

if TYPE_CHECKING:
    from adapters.documents import policy as p

HELD = {
    "consent": "waits until you agree to what its model is sent",
    "secret": "waits until the key of its model is set",
}
SEE = "see `wakelog policy show`"
EMPTY: Final = """\
Nothing leaves this machine: you have agreed to no model that answers elsewhere.
Models that answer here (rules, demo, tape) need no consent. To use another one,
read what it is sent and agree: `wakelog policy allow gemini`."""
BOUNDARY_WORDS: Final = {
    "own_task": "a prompt, of the agent's own task",
    "linked_task": "a prompt, of a linked task",
    "category_task": "what an agent looks up, of another task",
    "own_past": "what an agent recalls",
    "day_task": "a prompt, of the tasks of a day",
    "week_task": "a prompt, of the tasks of a category",
    "feedback": "a prompt, of how a template does",
    "notice": "the agents' log, of the journal",
}
REFUSED_WORDS: Final = {
    "out_of_scope": "the agent is allowed no category",
    "disallowed_provider_model": "the model is ruled out",
    "overshared_payload_blocked": "the prompt would have held what may not leave",
    "consent": "you had not agreed to it",
    "secret": "the key of its model was not set",
    NO_RECEIPT: "another agent asked it, and your consent to that or the key was missing",
}


def not_sent(code: str) -> str:
    """Why a skipped wake sent nothing; empty where no gate was closed.

    >>> not_sent("disallowed_provider_model"), not_sent("dormant")
    ('the model is ruled out; see `wakelog policy show`', '')
    """
    return f"{REFUSED_WORDS[code]}; {SEE}" if code in REFUSED_WORDS else ""


def waits(waits_for: str, until: str, zone: str = "") -> str:
    """What a wake waits for, and until when; `zone`: whose time that is told in.

    >>> waits("provider", "2027-01-01T06:00:00.000000Z", "Europe/Berlin")
    'waits for its provider until 2027-01-01 07:00'
    """
    if waits_for in HELD:
        return f"{HELD[waits_for]}; {SEE}"
    if waits_for == "sleep":
        return f"sleeps until {local_time(until, zone) if zone else until}"
    return f"waits for its {waits_for} until {local_time(until, zone) if zone else until}"


def in_vain(one: "p.NeededReceipt") -> str:
    """That agents asked others in vain, with the command that helps."""
    count = len(one.agent_ids)
    who = "1 agent was" if count == 1 else f"{count} agents were"
    why = "you have not agreed to what that sends"
    return f"{who} asked by another agent in vain, as {why}: `{one.command}`"


def held(one: "p.HeldWake") -> str:
    """A wake that the gate holds, in one line, with the command that lets it go on."""
    how = f": `{one.command}`" if one.command else f" ({one.model})"
    return f"{one.agent}: {HELD[one.waits_for]}{how}"


def policy_lines(document: "p.PolicyDocument", zone: str) -> Iterator[str]:
    """The lines of `policy show`."""
    yield from ["Agreed to"] if document.receipts else EMPTY.splitlines()
    by_receipt = groupby(document.receipts, lambda one: (one.model, one.notice, one.given_at))
    for _, ones in by_receipt:
        yield from _receipt(list(ones), zone)
    ruled = (safe(f"  {rule_line(one.category, one.allowed)}") for one in document.rules)
    yield from _part("Ruled", ruled)
    waiting = (line for one in document.waiting for line in _held_lines(one, zone))
    yield from _part("Waiting", waiting)
    yield from _part("Lately not sent", (_refusal(one, zone) for one in document.refusals))
    boundaries = (line for one in document.boundaries for line in _read(one))
    yield from _part("What may be read at all", boundaries)


def _part(heading: str, lines: Iterable[str]) -> Iterator[str]:
    if told := [*lines]:
        yield from ("", heading, *told)


def _receipt(ones: "list[p.ReceiptDetails]", zone: str) -> Iterator[str]:
    first = ones[0]
    names = ", ".join(one.category for one in ones)
    yield safe(f"  {first.model} for {names}")
    older = f"; {NOT_FOR.format(kinds_told(first.not_for))}" if first.not_for else ""
    yield f"    since {local_time(first.given_at, zone)}, notice {first.notice}{older}"


NOT_FOR = "more is sent now by {}: agree again for that"
KIND_WORDS: Final = {
    "task_agent": "agents of tasks",
    "day_agent": "an agent that plans your days",
    "category_agent": "an agent that looks over a category",
    "template_improver": "an agent that improves a template",
}


def kinds_told(kinds: Iterable[str]) -> str:
    """Kinds of agents in words."""
    return " and ".join(KIND_WORDS.get(one, one) for one in kinds)


def rule_line(category: str | None, allowed: list[str]) -> str:
    """Which models agents of a category may ask.

    >>> rule_line(None, ["rules"]), rule_line("Work", [])
    ('every category: only rules', 'Work: any model that you agreed to')
    """
    may = f"only {', '.join(allowed)}" if allowed else "any model that you agreed to"
    return f"{category or 'every category'}: {may}"


def _held_lines(one: "p.HeldWake", zone: str) -> Iterator[str]:
    yield safe(f"  {one.agent}, model {one.model}")
    yield f"    {HELD[one.waits_for]}, since {local_time(one.since, zone)}"
    lacking = "set the key" if one.waits_for == "secret" else "this model needs none"
    yield safe(f"    {one.command or f'{lacking}: type wakelog wake'}")


def _read(one: "p.BoundaryDetails") -> Iterator[str]:
    yield f"  {one.boundary}: into {BOUNDARY_WORDS[one.boundary]}"
    yield from wrap(", ".join(one.fields), 76, initial_indent="    ", subsequent_indent="    ")


def _refusal(one: "p.RefusalDetails", zone: str) -> str:
    why = REFUSED_WORDS.get(one.code, one.code.replace("_", " "))
    return f"  {local_time(one.at, zone)}  wake {one.run_key[:ID_SHOWN]}: {why}"
