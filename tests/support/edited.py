"""Files of tasks as clients edit them, each line with its identity: who made the edit knows it.

It shares no code with the importers: a block of lines is a task, and what an edit does to it is
said by that edit. `Edited.lines` is the whole model; nothing here finds one line in another.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

BODY = re.compile(r"\n(?=\S)")  # where the next block begins
DUE = re.compile(r" (?:📅 |due:)(\d{4}-\d\d-\d\d)")
ENDED = re.compile(r" ✅ \d{4}-\d\d-\d\d")
TICK = re.compile(r"x \d{4}-\d\d-\d\d ")
WORD = re.compile(r"[a-z0-9]+")
REPEATS = (" 🔁 every month", " rec:1m")
SECTIONS = ("Home", "Work")


@dataclass
class Line:
    """A task's line with all that stands below it, ended. `who` is 0 of a heading."""

    who: int
    text: str

    @property
    def first(self) -> str:
        """The line itself."""
        return self.text.partition("\n")[0]

    @property
    def is_ticked(self) -> bool:
        return self.text.startswith(("- [x] ", "x "))

    @property
    def repeats(self) -> bool:
        return any(one in self.first for one in REPEATS)

    @property
    def due(self) -> str:
        found = DUE.search(self.first)
        return found[1] if found else ""

    @property
    def title(self) -> str:
        """What is to be done: the line without its marks."""
        bare = TICK.sub("", DUE.sub("", ENDED.sub("", self.first)), count=1)
        for one in (*REPEATS, *(f" +{name}" for name in SECTIONS), "- [ ] ", "- [x] ", "x "):
            bare = bare.removeprefix(one) if one.endswith(" ") else bare.replace(one, "")
        return bare

    @property
    def words(self) -> set[str]:
        return set(WORD.findall(self.title.lower()))

    def change(self, was: str, now: str) -> None:
        """Change the line, and nothing below it."""
        first, end, rest = self.text.partition("\n")
        self.text = first.replace(was, now, 1) + end + rest


@dataclass
class Edited:
    """A file, as its client has it open. `archive`: lines that it has put into another file."""

    path: Path
    lines: list[Line] = field(default_factory=list)
    archive: list[Line] = field(default_factory=list)

    @property
    def is_markdown(self) -> bool:
        return self.path.suffix == ".md"

    @property
    def archive_path(self) -> Path:
        return self.path.with_name("done.txt")

    @property
    def tasks(self) -> list[Line]:
        return [one for one in self.lines if one.who]

    @property
    def text(self) -> str:
        return "".join(one.text for one in self.lines)

    @property
    def at(self) -> dict[int, int]:
        """Which line of the file, from 0, each task has."""
        found, number = {}, 0
        for one in self.lines:
            found[one.who] = number
            number += one.text.count("\n")
        found.pop(0, None)
        return found

    def save(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(self.text, encoding="utf-8")
        if self.archive:
            archived = "".join(one.text for one in self.archive)
            self.archive_path.write_text(archived, encoding="utf-8")

    def blocks(self) -> list[str]:
        """The blocks that stand in the file now, whoever wrote it last."""
        text = self.path.read_text(encoding="utf-8").removesuffix("\n")
        return [f"{one}\n" for one in BODY.split(text) if one]

    def twins(self, line: Line) -> list[Line]:
        """Other lines of its title; in the archive, too."""
        all_lines = [*self.tasks, *self.archive]
        return [one for one in all_lines if one is not line and one.title == line.title]

    def alike(self, line: Line) -> list[Line]:
        """Other lines that say the very same."""
        return [one for one in self.tasks if one is not line and one.text == line.text]

    def place(self, line: Line) -> int:
        return next(nth for nth, one in enumerate(self.lines) if one is line)

    def is_beside_its_like(self, line: Line) -> bool:
        """Whether a neighbour says the very same, so that nobody can tell which is which."""
        at = self.place(line)
        beside = [*self.lines[max(at - 1, 0) : at], *self.lines[at + 1 : at + 2]]
        return any(one.text == line.text for one in beside)

    # ---------------------------------------------------------------------------- what clients do

    def line(self, who: int, title: str, due: str = "", *, repeats: bool = False) -> Line:
        """A line of this file's format, open; without a day of its due date."""
        box, mark = ("- [ ] ", " 📅 ") if self.is_markdown else ("", " due:")
        again = REPEATS[not self.is_markdown] if repeats else ""
        return Line(who, f"{box}{title}{again}{f'{mark}{due}' if due else ''}\n")

    def tick(self, line: Line, day: str, *, is_dated: bool = True) -> None:
        """As Obsidian Tasks and todo.sh do it; by hand, without its day."""
        if not self.is_markdown:
            line.text = f"x {day} {line.text}" if is_dated else f"x {line.text}"
            return
        line.change("- [ ] ", "- [x] ")
        if is_dated:
            line.change(line.first, f"{line.first} ✅ {day}")

    def untick(self, line: Line) -> None:
        first, end, rest = line.text.partition("\n")
        first = ENDED.sub("", first).replace("- [x] ", "- [ ] ", 1)
        first = first if self.is_markdown else TICK.sub("", first, count=1).removeprefix("x ")
        line.text = first + end + rest

    def with_next(self, line: Line, who: int, due: str) -> Line:
        """The next one of what repeats: above in Obsidian, at the end in todo.txt."""
        after = Line(who, f"{line.first}\n")
        if line.due:
            after.change(line.due, due)
        at = self.place(line) if self.is_markdown else len(self.lines)
        self.lines.insert(at, after)
        return after

    def set_due(self, line: Line, due: str) -> None:
        if line.due:
            line.change(line.due, due)
        else:  # where Obsidian writes it, before the day of a tick
            ended = ENDED.search(line.first)
            mark = f" 📅 {due}" if self.is_markdown else f" due:{due}"
            at = ended.start() if ended else len(line.first)
            line.change(line.first, line.first[:at] + mark + line.first[at:])

    def section(self, line: Line) -> tuple[int, int]:
        """Between which places the lines of its heading stand."""
        at = self.place(line)
        heads = [nth for nth, one in enumerate(self.lines) if not one.who]
        first = max((nth for nth in heads if nth < at), default=-1) + 1
        return first, min((nth for nth in heads if nth > at), default=len(self.lines))

    def move(self, line: Line) -> None:
        """Below the other heading; in todo.txt, to the other project."""
        if self.is_markdown:
            first, _ = self.section(line)
            self.lines.remove(line)
            heads = [one for one in self.lines if not one.who]
            here = self.lines[first - 1]
            other = next(one for one in heads if one is not here)
            self.lines.insert(self.lines.index(other) + 1, line)
            return
        for was, now in (SECTIONS, SECTIONS[::-1]):
            if f" +{was}" in line.first:
                line.change(f" +{was}", f" +{now}")
                return
        line.change(line.first, f"{line.first} +{SECTIONS[0]}")

    def sort(self) -> None:
        """By their text, below each heading."""
        heads = [-1, *(nth for nth, one in enumerate(self.lines) if not one.who)]
        for at, end in zip(heads, [*heads[1:], len(self.lines)], strict=True):
            self.lines[at + 1 : end] = sorted(self.lines[at + 1 : end], key=lambda one: one.text)

    def put_away(self) -> list[Line]:
        """As `todo.sh archive` does: done lines go into done.txt."""
        ended = [one for one in self.lines if one.is_ticked]
        self.archive += ended
        self.lines = [one for one in self.lines if not one.is_ticked]
        return ended
