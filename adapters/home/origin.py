"""Who does something at a home, so that an undo asks where it was done elsewhere (ADR 79)."""

import os
from contextlib import suppress
from pathlib import Path

_PARENT, _SESSION, _BEGAN = 2, 4, 20  # of a process's fields without its name; began in ticks


def terminal_session(proc: Path = Path("/proc")) -> str:
    """The session of this terminal, or of this pipe where there is none: its leader, told from
    every other that had its number before by when it began, and since which start of the machine.

    Who was put into a container from outside has a leader that is not seen in there: the uppermost
    process above this one stands for it. Empty where none is seen."""
    own = _process_fields(proc, "self")
    leader = own[_SESSION] if own else str(os.getsid(0))
    if leader == "0":
        leader = above = own[0] if own else ""
        while above not in ("", "0"):
            fields = _process_fields(proc, above)
            leader, above = above, fields[_PARENT] if fields else ""
    if not leader:
        return ""
    fields, boot = _process_fields(proc, leader), ""
    with suppress(OSError):
        boot = (proc / "sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"terminal {leader} {fields[_BEGAN] if fields else ''} {boot}".rstrip()


def _process_fields(proc: Path, process: str) -> list[str]:
    """What the system says of a process: its number, its state, its parent...; empty if nothing."""
    with suppress(OSError):
        text = (proc / process / "stat").read_text("utf-8", "replace")
        return [text.partition(" ")[0], *text.rpartition(")")[2].split()]
    return []


ORIGIN_WORDS = {
    "terminal": "in another terminal",
    "page": "on the page",
    "program": "by a program",
    "watch": "by `run --watch`",
}


def origin_text(who: str, here: str) -> str:
    """Where something was done, in words; empty for here.

    >>> origin_text("page x", "terminal 1"), origin_text("page x", "page y")
    ('on the page', 'in another tab')
    >>> origin_text("", "terminal 1")
    'elsewhere'
    """
    if who and who == here:
        return ""
    kind = who.partition(" ")[0]
    if kind == "page" == here.partition(" ")[0]:
        return "in another tab"
    return ORIGIN_WORDS.get(kind, "elsewhere")
