"""What a wake is given, by the number that it records (ADR 36).

`prove` renders every prompt and decides every cause with today's code. So whatever is given to a
wake hangs on its scaffold: texts, sections and their order, tools (`Tool.since`), what is kept of
the task, what the end of a wake writes besides. A number is *closed* once a dated section of
CHANGELOG names it; from then on nothing that it gives changes, and a test holds that.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from domain.errors import Refused
from domain.wake import prompt_sections as parts
from domain.wake.prompt_sections import Part


class Scaffold(Struct, frozen=True):
    """The sections of a prompt: those of the system part, and the user part's around the task."""

    system: tuple[Part, ...]
    before_task: tuple[Part, ...]
    after_task: tuple[Part, ...]


_1 = Scaffold(
    system=(parts.role, parts.goal, parts.guiding),
    before_task=(parts.suppressed_labels, parts.available_labels, parts.corrections),
    after_task=(
        parts.linked,
        parts.report,
        parts.critical,
        parts.journal,
        parts.proposals,
        parts.changed,
        parts.words,
        parts.first_wake,
        parts.instruction,
    ),
)
_2 = Scaffold(
    system=_1.system,
    before_task=(parts.now, *_1.before_task, parts.lessons),
    after_task=(
        parts.time,
        parts.linked,
        parts.report,
        parts.memory,
        parts.critical,
        parts.journal,
        parts.proposals,
        parts.changed,
        parts.thread,
        parts.words,
        parts.first_wake,
        parts.instruction,
    ),
)

SCAFFOLDS: Final[Mapping[int, Scaffold]] = {1: _1, 2: _2}
SCAFFOLD: Final = max(SCAFFOLDS)
"""Of a wake that begins now."""
CLOSED: Final = 2
"""The last one that a dated section of CHANGELOG names."""


def scaffold_of(number: int) -> Scaffold:
    """What a wake of this scaffold is given.

    Raises:
        Refused: Code ``newer_rules``: no scaffold that this code knows.
    """
    if number not in SCAFFOLDS:
        because = f"a wake was given scaffold {number}; this wakelog knows up to {SCAFFOLD}"
        instead = "use the newer wakelog that wrote it"
        raise Refused("newer_rules", because=because, instead=instead)
    return SCAFFOLDS[number]
