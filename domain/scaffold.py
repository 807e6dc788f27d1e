"""What a wake does, by the number of its scaffold, which it records (ADR 36).

`prove` renders every prompt and decides every cause with today's code. So whatever is given to a
wake hangs on its scaffold: texts, sections, tools (`Tool.since`), and by these features what code
does with them. Nobody else compares numbers. A number is *closed* once a dated section of
CHANGELOG names it; from then on nothing that it gives changes, and a test holds that."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from domain.errors import Refused

PROMPT_MIN_BYTES = 16_384
"""Below this not even the rules and an empty task fit."""


class Features(Struct, frozen=True, kw_only=True):
    """What wakes of a scaffold do otherwise than those of the first."""

    # what leaves, and what may be told
    is_gated: bool = False  # nothing leaves the machine before a person has agreed
    scrubs: bool = False  # prompt, quotes and answers hold no secrets
    keeps_flow: bool = False  # another agent's text: all it was ever allowed is allowed here
    names_units: bool = False  # a section names the tasks whose texts it repeats
    # what is told
    tells_origins: bool = False  # who set a value and when, edits of notes, days to the due date
    tells_time: bool = False  # the task's time entries and ratings
    tells_links: bool = False  # of a linked task direction, due date, labels, its agent's TL;DR
    tells_edits: bool = False  # what a person made of a proposal
    marks_loops: bool = False  # which open loops are the agent's own
    has_thread: bool = False  # earlier turns of the conversation
    has_lessons: bool = False  # how proposals fared; an end of a wake counts for its template
    has_memory: bool = False  # older notes are folded into digests as a wake ends
    # what the tools are
    captures_all: bool = False  # they know time entries, links, and when notes were written
    offers_by_task: bool = False  # one without anything to work on is not offered
    quotes: bool = False  # one that proposes asks for the words that it rests on
    resolves: bool = False  # critical notes have numbers, by which a later one settles them
    # how calls are answered
    heeds_verdicts: bool = False  # what was confirmed, edited away, or told to earlier agents
    replaces: bool = False  # a proposal takes the place of an older one for the same field
    does_once: bool = False  # what changes the task at once is done once in a wake
    checks_retractions: bool = False  # what is taken back has to be there
    tells_outcome: bool = False  # what was not proposed, what is replaced; a report gets the sum
    # since scaffold 3
    names_kind: bool = False  # the wake records what kind of agent it is of
    tells_days: bool = False  # times are the person's, with the weekday; what is empty is not told
    short_ids: bool = False  # as on the command line: the first letters
    is_brief: bool = False  # tools are described in a sentence each
    needs_quotes: bool = False  # nothing is proposed without the words that it rests on
    heeds_edits: bool = False  # a proposal for what the person edited rests on a newer text
    long_estimates: bool = False  # of up to 60,000 minutes
    takes_loosely: bool = False  # arguments that can mean one thing only are taken, with a remark
    needs_report: bool = False  # a first wake without a call that came through has failed
    ranks_reads: bool = False  # what is recalled need not hold every word
    heeds_rules: bool = False  # what the person ruled out in a category is refused
    # since scaffold 4
    heeds_moves: bool = False  # a timer asks only where something moved since the last wake


def _with(names: str, of: Features | None = None, *, without: str = "") -> Features:
    changed = dict.fromkeys(names.split(), True) | dict.fromkeys(without.split(), False)
    return replace(of or Features(), **changed)


_2: Final = _with(
    "is_gated scrubs keeps_flow names_units tells_origins tells_time tells_links tells_edits "
    "marks_loops has_thread has_lessons has_memory captures_all offers_by_task quotes resolves "
    "heeds_verdicts replaces does_once checks_retractions tells_outcome"
)
_3: Final = _with(
    "names_kind tells_days short_ids is_brief needs_quotes heeds_edits long_estimates "
    "takes_loosely needs_report ranks_reads heeds_rules",
    _2,
    without="offers_by_task",
)
_4: Final = _with("heeds_moves", _3)
FEATURES: Final[Mapping[int, Features]] = {1: Features(), 2: _2, 3: _3, 4: _4, 5: _4, 6: _4, 7: _4}
SCAFFOLD: Final = max(FEATURES)
"""Of a wake that begins now."""
CLOSED: Final = 7
"""The last one that a dated section of CHANGELOG names."""
IS_OPEN: Final = SCAFFOLD > CLOSED
"""Whether what wakes are given that begin now may still change."""


def features_of(number: int) -> Features:
    """What wakes of a scaffold do. Raises Refused, code ``newer_rules``: no scaffold that this code
    knows."""
    if (found := FEATURES.get(number)) is None:
        because = f"a wake was {made_by(number)}; this one knows up to {SCAFFOLD}"
        raise Refused("newer_rules", because=because, instead="use that one")
    return found


def is_newer(number: int) -> bool:
    """Whether nobody here can know yet what wakes of a scaffold do."""
    return number > SCAFFOLD


def made_by(number: int) -> str:
    """Where a wake comes from whose scaffold nobody here knows."""
    return f"made by a newer wakelog (scaffold {number})"


def is_since(first: int, number: int) -> bool:
    """Whether wakes of a scaffold have what the first one has that is named."""
    return first <= number
