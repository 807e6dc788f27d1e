"""Who does something at a home, so that an undo asks where it was done elsewhere (ADR 79)."""

import os
from contextlib import suppress
from pathlib import Path

_STARTED = 19  # of the fields behind a process's name: when it began, in ticks since the start


def terminal() -> str:
    """The session of this terminal, or of this pipe where there is none: its leader, told from
    every other that had its number before by when it began, and since which start of the machine.

    Empty where the leader cannot be seen from here, as in a container.
    """
    session = os.getsid(0)
    began = boot = ""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{session}/stat").read_text("utf-8", "replace").rpartition(")")[2]
        began = fields.split()[_STARTED]
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"terminal {session} {began} {boot}".rstrip() if session else ""


WORDS = {
    "terminal": "in another terminal",
    "page": "on the page",
    "program": "by a program",
    "watch": "by `run --watch`",
}


def where(who: str, here: str) -> str:
    """Where something was done, in words; empty for here.

    >>> where("page x", "terminal 1"), where("page x", "page y"), where("", "terminal 1")
    ('on the page', 'in another tab', 'elsewhere')
    """
    if who and who == here:
        return ""
    kind = who.partition(" ")[0]
    if kind == "page" == here.partition(" ")[0]:
        return "in another tab"
    return WORDS.get(kind, "elsewhere")
