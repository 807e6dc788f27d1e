"""How many tasks and items a file holds, counted a second time: by `re` alone, line by line, with
nothing of the readers; and where import says that they went."""

import re
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from adapters.home.read_input import as_utf8
from adapters.importers import formats

DATA = Path(__file__).parents[1] / "data"
FOLDERS = ("markdown", "todotxt", "taskwarrior", "github")
ZONE = ZoneInfo("Europe/Berlin")
_STRUCK = re.compile(r"(?m)^[ \t>]*(?:[-*+]|[0-9]+[.)])[ \t]*\[-\][ \t]")
_EMPTY = "the line does not say what is to be done"
_FENCE = re.compile(r"[ >]*(?:[-*+] +)?(```+|~~~+)")
_BULLETS = r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]*)"
_BOX = re.compile(
    rf"{_BULLETS}+\[[^\[\]]{{0,16}}\](?=\s|$)|{_BULLETS}*\[[ xX]\](?=\s+\S)|{_BULLETS}+\[ \](?=\w)"
)
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_ISSUE = re.compile(r'"(?:html_)?url": ?"https://[^"]+?([^/"]+/[^/"]+)/(?:issues|pulls?)/([0-9]+)"')
_STATUS = re.compile(r'"status": ?"')


def boxes(data: bytes, form: str) -> int:
    """Boxes of Markdown outside of code fences, lines of todo.txt, tasks or issues of JSON."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = re.sub(r"\r\n?", "\n", data.decode(encoding, "replace"))
    match form:
        case "todotxt":
            return sum(bool(line.strip()) for line in text.split("\n"))
        case "taskwarrior":
            return len(_STATUS.findall(text))
        case "github":
            return len(set(_ISSUE.findall(text)))
    count, fence = 0, ""
    for line in _FRONT.sub("", text, count=1).split("\n"):
        found = _FENCE.match(line)
        if found and (not fence or found[1].startswith(fence)):
            fence = "" if fence else found[1]
        elif not fence and _BOX.match(line) and not re.search(r"\*\[.*\*$", line):
            count += 1
    return count


class Counted(NamedTuple):
    """A file, read: boxes in, and where they went."""

    boxes: int
    tasks: int
    items: int
    in_notes: int  # struck out items, and what HTML or a quote keeps as text
    left_out: int


def counted(path: Path) -> Counted:
    """Read a file of a known format and count it."""
    data, _ = as_utf8(path.read_bytes())
    form = formats.guess(data, path.name) or "todotxt"  # a person would say `--format todotxt`
    file = formats.read(data, path.name, form, path.name, zone=ZONE)
    assert file is not None, path
    empty = len([told for told in file.unreadable if told.reason.startswith(_EMPTY)])
    by_nature = sum(int(one.partition(" ")[0]) for one in file.left_out)
    lost = file.boxes_left_out + empty + by_nature
    notes = [note.text for task in file.tasks for note in task.notes]
    items = [item for task in file.tasks for item in task.items]
    is_boxed = form == "markdown"
    return Counted(
        boxes(path.read_bytes(), form),
        len(file.tasks),
        len(items) if is_boxed else 0,
        sum(len(_STRUCK.findall(note)) for note in notes) if is_boxed else 0,
        lost,
    )


def found() -> list[Path]:
    """The files of tests/data that import reads."""
    files = [path for folder in FOLDERS for path in sorted((DATA / folder).iterdir())]
    return [path for path in files if "read_by" not in path.name]
