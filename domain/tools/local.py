"""The tools that stay in the wake: report, observations, retractions, open loops (SPEC 5, 7); and
those that look something up."""

import re
from functools import partial
from typing import NamedTuple

from msgspec import Struct

from domain.log.keys import KEY_LENGTH
from domain.text import cut, squeeze
from domain.tools import arguments as a
from domain.tools.base import Tool, ToolRefusal

CONTENT_LENGTH_MAX = 20_000
TLDR_LENGTH_MAX = 2_000
ONE_LINER_LENGTH_MAX = 200


class Report(Struct, frozen=True):
    """A report as a person reads it: trimmed, no internal ids, bounded."""

    content: str
    tldr: str
    one_liner: str


class Observation(NamedTuple):
    """A private note of the agent; `target` is empty where it named none."""

    text: str
    priority: a.ObservationPriority
    category: a.ObservationCategory
    target: str


class Retraction(NamedTuple):
    """A proposal that the agent takes back."""

    fingerprint: str
    reason: str


def report(arguments: a.UpdateReport) -> Report | ToolRefusal:
    """The report of a call; the last call wins, which is the caller's to see to."""
    found = Report(
        cut(without_ids(arguments.content), length_max=CONTENT_LENGTH_MAX),
        cut(without_ids(arguments.tldr), length_max=TLDR_LENGTH_MAX),
        cut(squeeze(without_ids(arguments.one_liner)), length_max=ONE_LINER_LENGTH_MAX),
    )
    parts = {"content": found.content, "tldr": found.tldr, "oneLiner": found.one_liner}
    for name, text in parts.items():
        if not squeeze(text):
            because = f"{name}: nothing is left of it without its internal ids"
            return ToolRefusal("invalid_arguments", because)
    return found


def observations(arguments: a.RecordObservations) -> tuple[Observation, ...] | ToolRefusal:
    """The observations of a call, in their order."""
    if not (found := tuple(_observation(given) for given in arguments.observations)):
        return ToolRefusal("invalid_arguments", "observations: none of them has a text")
    return found


def retractions(arguments: a.RetractSuggestions) -> tuple[Retraction, ...] | ToolRefusal:
    """The proposals to take back, each once; whether they are open is the caller's to see."""
    found: dict[str, Retraction] = {}
    for given in arguments.proposals:
        found.setdefault(given.fingerprint, Retraction(given.fingerprint, given.reason))
    if not found:
        because = "proposals: none of them has a fingerprint and a reason of 1 to 500 characters"
        return ToolRefusal("invalid_arguments", because)
    return tuple(found.values())


def _observation(given: str | a.Observed) -> Observation:
    if isinstance(given, str):
        given = a.Observed(given)
    return Observation(
        given.text, given.priority or "routine", given.category or "operational", given.target or ""
    )


_local = partial(Tool, mode="local", scope="own_wake", tokens=())

TOOLS = (
    _local(
        name="update_report",
        brief="Write the report that the person reads; the last one of a wake counts.",
        description=(
            "Write the report that the person reads. The last call of a wake counts. No reasoning "
            "about yourself, no internal ids."
        ),
        arguments=a.UpdateReport,
        capabilities=("report.write",),
        output="domain.tools.local:Report",
        idempotency="last_call_wins",
        entities=("report",),
    ),
    _local(
        name="record_observations",
        brief="Keep private notes; `resolves` takes numbers of critical ones that are settled.",
        description="Keep up to 20 private notes for your later wakes; the report is apart.",
        arguments=a.RecordAndResolve,
        shape=lambda features: a.RecordAndResolve if features.resolves else a.RecordObservations,
        capabilities=("journal.write",),
        output="domain.tools.local:Observation",
        idempotency="wake",
        entities=("observation",),
    ),
    _local(
        name="retract_suggestions",
        brief="Take back open proposals that no longer fit, by fingerprint.",
        description=(
            "Take back open proposals of yours that no longer fit, each by its fingerprint and "
            "with a reason. Counts when the wake ends; not for what you propose again in it."
        ),
        arguments=a.RetractSuggestions,
        capabilities=("proposals.retract",),
        output="domain.tools.local:Retraction",
        scope="own_proposals",
        entities=("change_item",),
    ),
    _local(
        name="update_loops",
        brief="Keep an awaited answer in sight over wakes; close yours, in its very words.",
        since=2,
        description=(
            "Keep an open question in sight over wakes, or close one of yours, in its very words; "
            "at most 10 of yours are open. Those of the person stay."
        ),
        hint="for an answer or delivery that is awaited; close it once a text settles it.",
        arguments=a.UpdateLoops,
        capabilities=("loop.write",),
        output="domain.agent.deciders:Updated",
        idempotency="fingerprint",
        entities=("loop",),
    ),
)


# --------------------------------------------------------------------------------- internal ids

_ID = rf"`?(?<![0-9A-Za-z_])[a-z2-7]{{{KEY_LENGTH}}}(?![0-9A-Za-z_])`?"
_IDS = rf"{_ID}(?:(?:[ \t]*[,;&][ \t]*|[ \t]+and[ \t]+){_ID})*"
_THING = r"(?:(?i:agent|checklist|entry|item|label|note|proposal|task)[ \t]+)?"
_LABEL = rf"(?<![0-9A-Za-z_]){_THING}(?i:ids?)[ \t]*[:=#]?[ \t]*"
_INTERNAL = re.compile(
    "|".join(
        (
            rf"(?P<kept>https?://[^\s()<>]+|/tasks/{_ID})",
            rf"(?P<name>\[(?:{_LABEL}|{_THING}){_IDS}\](?=\())",
            rf"\((?:{_LABEL}|{_THING}){_IDS}\)",
            rf"\[(?:{_LABEL}|{_THING}){_IDS}\]",
            rf"{_LABEL}{_IDS}",
            _IDS,
        )
    ),
    re.ASCII,
)
_GAP = "\0"
_GAP_BEFORE_STOP = re.compile(r"(?<![ \t])[ \t]*\0[ \t\0]*(?=[,.;:!?)\]]|$)", re.MULTILINE)
_GAP_AT_START = re.compile(r"(^[ \t]*|[(\[])\0[ \t\0]*", re.MULTILINE)
_GAP_BETWEEN = re.compile(r"(?<![ \t])[ \t]*\0[ \t\0]*")


def without_ids(text: str) -> str:
    """A text for a person, without ids of ours; addresses and ``/tasks/<id>`` links stay.

    >>> without_ids("Ask Ann (id: muu66rqunl7umhg7gxzt3xxv5cbd6dt5), then plant.")
    'Ask Ann, then plant.'
    """
    text = _INTERNAL.sub(_instead, text.replace(_GAP, ""))
    text = _GAP_BEFORE_STOP.sub("", text)
    text = _GAP_AT_START.sub(r"\1", text)
    return _GAP_BETWEEN.sub(" ", text).strip()


def _instead(found: re.Match[str]) -> str:
    if found["name"]:  # of a link
        return "[task]"
    return found["kept"] or _GAP


# ------------------------------------------------------------------------------------------ lookups
# The tools that look something up and change nothing (ADR 42). What they answer with follows
# from both logs: `domain.wake.lookups`.

READS_MAX = 6  # of one wake

_read = partial(
    Tool, hint=f"look further; {READS_MAX} in one wake", mode="read", since=2,
    idempotency="changes_nothing", entities=(), tokens=(),
)  # fmt: skip
_of_tasks = partial(
    _read, capabilities=("category.read",), output="domain.wake.lookups:TasksFound",
    scope="allowed_categories",
)  # fmt: skip

LOOKUP_TOOLS = (
    _of_tasks(
        name="find_tasks",
        brief="Look for other tasks by words of their titles.",
        description=(
            "Look for other tasks by words of their titles, the best match first. Answers with "
            "their ids, titles and statuses."
        ),
        arguments=a.FindTasks,
    ),
    _of_tasks(
        name="read_task",
        brief="Read another task that you were shown.",
        description="Read another task: its fields, its checklist, what its agent reports of it.",
        arguments=a.ReadTask,
    ),
    _read(
        name="recall",
        brief=(
            "Look into your own past and the task's log by words: what holds all of them comes "
            "first, then what holds a rare one."
        ),
        description=(
            "Look into your own past and the log of your task, further back than you are shown: "
            "observations, reports, verdicts, notes, changes of status and items. Every word has "
            "to be there; the newest come first, with their dates."
        ),
        arguments=a.Recall,
        capabilities=("journal.read",),
        output="domain.wake.lookups:Recalled",
        scope="own_past",
    ),
)
