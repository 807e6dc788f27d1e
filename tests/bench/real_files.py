"""What import reads of files that people wrote, beside a count of their boxes that shares no code.

    .venv/bin/python tests/bench/real_files.py [FILE...]

Without files those of tests/data are read. Boxes in must equal what is read, kept in a note, and
named: the script ends with 1 where they do not.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.home.read_input import as_utf8
from adapters.importers import formats
from domain.journal.imported import ImportedFile
from tests.support.counting_boxes import boxes

DATA = Path(__file__).parents[1] / "data"
FOLDERS = ("markdown", "todotxt", "taskwarrior", "github")
ZONE = ZoneInfo("Europe/Berlin")
_STRUCK = re.compile(r"(?m)^[ \t>]*(?:[-*+]|[0-9]+[.)])[ \t]*\[-\][ \t]")
_EMPTY = "the line does not say what is to be done"


class Counted(NamedTuple):
    """A file, read: boxes in, and where they went."""

    file: ImportedFile
    boxes: int
    tasks: int
    items: int
    in_notes: int  # struck out items, and what HTML or a quote keeps as text
    done: int
    left_out: int

    @property
    def is_whole(self) -> bool:
        """Whether every box is accounted for."""
        return self.boxes == self.tasks + self.items + self.in_notes + self.left_out


def counted(path: Path) -> Counted:
    """Read a file and count it.

    Raises:
        ValueError: Its format is not known.
    """
    data, _ = as_utf8(path.read_bytes())
    form = formats.guess(data, path.name) or "todotxt"  # a person would say `--format todotxt`
    file = formats.read(data, path.name, form, path.name, zone=ZONE)
    if file is None:
        raise ValueError(f"the format of {path.name} is not known")
    empty = len([told for told in file.unreadable if told.reason.startswith(_EMPTY)])
    by_nature = sum(int(one.partition(" ")[0]) for one in file.left_out)
    lost = file.boxes_left_out + empty + by_nature
    notes = [note.text for task in file.tasks for note in task.notes]
    items = [item for task in file.tasks for item in task.items]
    is_boxed = form == "markdown"
    return Counted(
        file,
        boxes(path.read_bytes(), form),
        len(file.tasks),
        len(items) if is_boxed else 0,
        sum(len(_STRUCK.findall(note)) for note in notes) if is_boxed else 0,
        len([task for task in file.tasks if task.status == "DONE"])
        + len([item for item in items if item.is_checked]),
        lost,
    )


def main(paths: list[Path]) -> int:
    """Print a line for each file, and what is named below it."""
    columns = ("in", "tasks", "items", "notes", "done", "out", "open", "keys")
    print(f"{'file':26} {' '.join(f'{one:>5}' for one in columns)}")
    faults = 0
    for path in paths:
        one = counted(path)
        file, faults = one.file, faults + (not one.is_whole)
        numbers = (*one[1:], len(file.remarks), len(file.named))
        shown = " ".join(f"{number:>5}" for number in numbers)
        print(f"{path.name:26} {shown}  {'' if one.is_whole else 'BOXES ARE MISSING'}")
        for told in (*file.unreadable, *file.remarks, *file.named):
            print(f"    line {told.line}: {told.reason}")
        for left in file.left_out:
            print(f"    {left}")
    return min(faults, 1)


def found() -> list[Path]:
    """The files of tests/data that import reads."""
    files = [path for folder in FOLDERS for path in sorted((DATA / folder).iterdir())]
    return [path for path in files if "read_by" not in path.name]


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]] or found()))
