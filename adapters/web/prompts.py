"""A prompt as one document: its sections, what is new in them, and what a search finds there."""

import re
from collections.abc import Sequence

from msgspec import Struct

from adapters.web.filters import plainly, revealed
from adapters.web.plain_text import has_json, told
from adapters.web.text_diff import around
from domain.ports import Section

SHOWN_MAX = 60_000  # characters of all sections together; the JSON of the page has them all
LINE_MAX = 4_000
AROUND = 1  # lines around one that a search finds
FIND_MAX = 200
SECTIONS = {
    "role": ("What an agent is", "the rules that all agents work by"),
    "directives": ("How to work and report", "what its template says"),
    "now": ("The time", "so that it can tell what is due"),
    "time": ("Time spent", "what was worked on the task"),
    "goal": ("What it is after", "the goal you gave it"),
    "available_labels": ("Labels it may use", "those of the task's category"),
    "suppressed_labels": ("Labels not wanted", "you took them off before"),
    "corrections": ("Corrections", "words that are often written wrongly"),
    "task": ("The task", "what it may know of it, with who wrote what"),
    "linked": ("Linked tasks", "those that this one has to do with"),
    "report": ("Its last report", "what it told you before"),
    "journal": ("Its own notes", "what it wrote down for itself"),
    "memory": ("What it remembers", "older notes, summed up"),
    "critical": ("What is critical", "its notes that are not settled"),
    "thread": ("What was said before", "your talk with it"),
    "proposals": ("Its proposals", "what waits for you, and what you decided lately"),
    "lessons": ("Lessons", "how such proposals fared with you"),
    "first_wake": ("Its first wake", "what it does when it is new"),
    "day": ("The day", "the day that it plans, with its blocks and the tasks that may be planned"),
    "week": ("The week", "two weeks of the category that it looks over, and its tasks"),
    "template": ("The template", "its directives, those in force first"),
    "figures": ("Figures", "how the proposals of each version fared"),
    "rehearsed": ("Rehearsed", "how wordings did on wakes of before"),
    "feedback": ("Feedback", "your reasons and edits, your stars, and what its agents noted"),
    "requests": ("Requests", "what other agents ask it about the task"),
    "changed": ("What changed", "what happened since it last woke"),
    "words": ("Your words", "what you asked it"),
    "instruction": ("What to do now", "the question itself"),
}
"""What the sections of a prompt are called on a page, and what each is for."""


def section_title(name: str) -> str:
    """What a section is called.

    >>> section_title("journal"), section_title("new_one")
    ('Its own notes', 'New one')
    """
    return SECTIONS[name][0] if name in SECTIONS else plainly(name).capitalize()


def section_purpose(name: str) -> str:
    """What a section is for; empty where it is none of ours."""
    return SECTIONS[name][1] if name in SECTIONS else ""


class ShownLine(Struct, frozen=True):
    """A line in pieces, each with whether the search found it. `is_gap`: lines are left out."""

    pieces: tuple[tuple[str, bool], ...] = ()
    is_new: bool = False
    is_gap: bool = False


class ShownSection(Struct, frozen=True):
    """A section. `new`: how many of its lines the agent's wake before did not show; None where
    there was none. `hits`: how often the search found its words; `cut`: characters left out;
    `sent`: the text as the model got it, where `lines` tell it otherwise."""

    part: str
    name: str
    size: int
    lines: tuple[ShownLine, ...]
    new: int | None = None
    hits: int = 0
    cut: int = 0
    sent: str = ""


def sections(
    now: Sequence[tuple[str, Section]],
    before: Sequence[tuple[str, Section]] | None,
    find: str = "",
    zone: str = "UTC",
) -> list[ShownSection]:
    """The sections of a prompt, each with its part, ``system`` or ``user``, as a page shows them.

    `before` are those of the agent's wake before, None where it had none. Of words to `find` only
    lines that have them are shown, and what is around. What is JSON is told with times of `zone`,
    unless the words stand only in the JSON.
    """
    known = {
        (part, one.name): frozenset((*one.text.splitlines(), *read(one.text, zone).splitlines()))
        for part, one in before or ()
    }
    wanted = re.compile(f"({re.escape(find[:FIND_MAX])})", re.IGNORECASE) if find else None
    found, left = list[ShownSection](), SHOWN_MAX
    for part, one in now:
        was = None if before is None else known.get((part, one.name), frozenset())
        made = _section(part, one, was, wanted, left, read(one.text, zone))
        if wanted and not made.hits:
            made = _section(part, one, was, wanted, left, one.text)
        left -= sum(len(text) for line in made.lines for text, _ in line.pieces)
        found.append(made)
    return found


def _section(
    part: str,
    one: Section,
    was: frozenset[str] | None,
    wanted: re.Pattern[str] | None,
    left: int,
    read: str,
) -> ShownSection:
    whole = read.splitlines()
    lines = [_line(text, was, wanted) for text in whole]
    hits = sum(is_hit for line in lines for _, is_hit in line.pieces)
    kept = _around(lines) if wanted else lines
    shown, cut = list[ShownLine](), 0
    for line in kept:
        size = sum(len(text) for text, _ in line.pieces)
        if size > left:
            cut += size
        else:
            shown.append(line)
            left -= size
    new = None if was is None else sum(text not in was for text in whole if text.strip())
    sent = "" if read == one.text else one.text
    return ShownSection(part, one.name, len(one.text), tuple(shown), new, hits, cut, sent)


def read(text: str, zone: str) -> str:
    """A section as a person reads it: what is JSON in it as lines."""
    return told(text, zone) if has_json(text) else text


def _line(text: str, was: frozenset[str] | None, wanted: re.Pattern[str] | None) -> ShownLine:
    told = revealed(text[:LINE_MAX]) + (" …" if len(text) > LINE_MAX else "")
    is_new = was is not None and bool(text.strip()) and text not in was
    if wanted is None:
        return ShownLine(((told, False),), is_new)
    pieces = [(piece, nth % 2 == 1) for nth, piece in enumerate(wanted.split(told)) if piece]
    return ShownLine(tuple(pieces), is_new)


def _around(lines: Sequence[ShownLine]) -> list[ShownLine]:
    """Lines that were found, and their neighbours; what lies between them is a gap."""
    hits = [nth for nth, line in enumerate(lines) if any(is_hit for _, is_hit in line.pieces)]
    kept = list[ShownLine]()
    for nth, skipped in around(hits, len(lines), AROUND):
        kept += [ShownLine(is_gap=True), lines[nth]] if skipped else [lines[nth]]
    return kept
