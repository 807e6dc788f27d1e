"""One change of a task as a change of the lines of its file: pure, and only tried.

Whoever calls it reads the result again, and takes it only if it says what was meant and nothing
else (`adapters.actions.writing_back`): so no case has to be known here.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from adapters.importers.exported import (
    BECAUSE,
    BOXES,
    because,
    heading,
    task_lines,
    ways,
    word,
)
from adapters.importers.inline import plain
from adapters.importers.marks import read_marks
from domain.journal.imported import ImportedFile, ImportedTask
from domain.text import fold, squeeze

_ENDED = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")
_BOX = re.compile(r"^(?P<lead>[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]*)\[(?P<mark>[^\[\]]*)\]")
_STATUS_WORD = re.compile(r"[ \t]status:[a-z-]+(?=\s|$)")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOSED = re.compile(rf"[ \t]*[✅❌]\ufe0f?[ \t]*{_DATE}(?=\s|$)")
_CLOSED_BY = {"DONE": "✅", "REJECTED": "❌"}
_TASKS_SIGNS = re.compile(rf"[📅⏳🛫➕✅❌]\ufe0f?[ \t]*{_DATE}|[🔁🏁🆔⛔🔺⏫🔼🔽⏬]")
_TODO_OPEN = re.compile(
    rf"(?P<lead>[ \t]*)(?:\((?P<letter>[A-Z])\)[ \t]+)?(?:(?P<created>{_DATE})[ \t]+)?"
)
_TODO_DONE = re.compile(
    rf"(?P<lead>[ \t]*)x[ \t]+(?:\((?P<letter>[A-Z])\)[ \t]+)?(?:(?P<completed>{_DATE})[ \t]+)?"
    rf"(?:(?P<created>{_DATE})[ \t]+)?(?:\((?P<last>[A-Z])\)[ \t]+)?"
)
_TODO_PRIORITY = re.compile(r"(?:^|[ \t]+)pri:(?P<letter>[A-Z])(?=\s|$)")
_END = re.compile(r"(?:[ \t]+\^[A-Za-z0-9-]+)?[ \t]*(?:\r\n|\r|\n)?$")
_SIGNED = re.compile("[ \t]*[📅⏳🛫➕✅❌🔁🏁🆔⛔🔺⏫🔼🔽⏬]")
_LETTERS = {"P0": "A", "P1": "B", "P2": "C", "P3": "D"}
_LEVELS = {"P0": "🔺", "P1": "⏫", "P2": "🔼", "P3": "🔽"}
_TOKENS = {
    "due": re.compile(
        r"[ \t]+due:[^\s,;)]+|[ \t]+(?:\U0001f4c5|\U0001f5d3)\ufe0f?[ \t]*[0-9-]{10}"
    ),
    "priority": re.compile("[ \t]+(?:![pP][0-9]|[🔺⏫🔼🔽⏬]\ufe0f?)"),
    "estimate": re.compile(r"[ \t]+~[0-9][0-9.,dhminDHMIN]*"),
}


def lines_of(text: str) -> list[str]:
    """The lines of a text, each with its own end.

    >>> lines_of("one\\r\\ntwo\\n\\nthree")
    ['one\\r\\n', 'two\\n', '\\n', 'three']
    """
    return _ENDED.findall(text)


def with_title(line: str, was: str, value: str) -> Iterator[str]:
    """The line with another title: where the old one stands as it is, and else with all that is
    not a mark at its end in its place; as few signs escaped as can be."""
    for title in ways(value):
        if line.count(was) == 1:
            yield line.replace(was, title, 1)
    box = _BOX.match(line)
    end = _END.search(line)
    if not (box and end):
        return
    words = line[box.end() : end.start()].split()
    marks = next((n for n in range(1, len(words)) if not read_marks(" ".join(words[n:])).title), 0)
    tail = f" {' '.join(words[marks:])}" if marks else ""
    for title in ways(value):
        yield f"{line[: box.end()]} {title}{tail}{line[end.start() :]}"


def with_field(form: str, line: str, field: str, value: Any) -> str:
    """The line with another value of a field; as it is where that cannot be said."""
    if form == "todotxt" and field == "priority":
        return str(_TodoLine.of(line)._replace(letter=_LETTERS[value]))
    said = ""
    if value:
        match field:
            case "due":
                said = f" due:{value}"
            case "priority":
                said = f" !{value.lower()}"
            case _:  # as people write it: whole hours as hours
                said = f" ~{value}m" if value % 60 else f" ~{value // 60}h"
    signed = _SIGNED.search(line) if form == "markdown" else None
    if signed and value:
        said = {"due": f" 📅 {value}", "priority": f" {_LEVELS.get(value)}"}.get(field, said)
    token = _TOKENS[field]
    if token.search(line):
        return token.sub(lambda _: said, line, count=1)
    end = signed or _END.search(line)  # Obsidian Tasks reads its signs at the end only
    at = end.start() if end else len(line)
    return f"{line[:at]}{said}{line[at:]}"


def with_status(form: str, line: str, status: str, day: str) -> str:
    """The line with another status, as its own clients write it; as it is where that cannot be
    said.

    Args:
        form: The file's format.
        line: With its end.
        status: What it shall say.
        day: When the task was closed, if the file says that of what is closed.

    >>> with_status("todotxt", "(A) 2026-11-01 Call Ann +Home\\n", "DONE", "2027-01-01")
    'x 2027-01-01 2026-11-01 Call Ann +Home pri:A\\n'
    >>> with_status("markdown", "- [ ] Call Ann 📅 2027-02-12", "REJECTED", "2027-01-01")
    '- [-] Call Ann 📅 2027-02-12 ❌ 2027-01-01'
    """
    if form == "todotxt":
        completed = {"OPEN": "", "DONE": day}.get(status)
        return line if completed is None else str(_TodoLine.of(line)._replace(completed=completed))
    if status not in BOXES:
        return line
    line = _CLOSED.sub("", _with_mark(line, BOXES[status]))
    end = _END.search(line) if day and status in _CLOSED_BY else None
    return f"{line[: end.start()]} {_CLOSED_BY[status]} {day}{end[0]}" if end else line


def has_signs(line: str) -> bool:
    """Whether a line of Markdown says something in the signs of Obsidian Tasks, which writes the
    day of what is closed."""
    return _TASKS_SIGNS.search(line) is not None


class _TodoLine(NamedTuple):
    """A line of todo.txt; `completed` is empty of what is open, and ``x`` of what has no day."""

    lead: str
    letter: str
    completed: str
    created: str
    words: str

    @classmethod
    def of(cls, line: str) -> "_TodoLine":
        """The parts of a line; its priority stands in front, or, where it is done, as ``pri:``."""
        done = _TODO_DONE.match(line)
        head = done or _TODO_OPEN.match(line)
        said = head.groupdict("") if head else {}
        letter = said.get("letter") or said.get("last", "")
        words = line[head.end() if head else 0 :]
        if kept := _TODO_PRIORITY.search(words):
            letter = letter or kept["letter"]
            words = f"{words[: kept.start()]}{words[kept.end() :]}"
        completed = (said["completed"] or "x") if done else ""
        return cls(said.get("lead", ""), letter, completed, said.get("created", ""), words)

    def __str__(self) -> str:
        created = f"{self.created} " if self.created else ""
        if not self.completed:
            first = f"({self.letter}) " if self.letter else ""
            return f"{self.lead}{first}{created}{self.words}"
        day = "" if self.completed == "x" else f"{self.completed} "
        end = len(self.words.rstrip())
        last = f" pri:{self.letter}" if self.letter else ""
        return f"{self.lead}x {day}{created}{self.words[:end]}{last}{self.words[end:]}"


def with_whole_status(lines: Sequence[str], at: int, status: str, reason: str) -> list[str]:
    """The lines of a file that wakelog wrote, with another status and why a task has it."""
    line = _STATUS_WORD.sub("", _with_mark(lines[at], BOXES.get(status, " ")))
    end = len(line.rstrip())
    said = "" if status in BOXES else f" status:{word(status)}"
    first = at + 1
    first += first < len(lines) and lines[first].lstrip().startswith(BECAUSE)
    ended = line[end:] or "\n"
    below = [f"{because(reason)}{ended}"] if reason else []
    return [
        *lines[:at],
        f"{line[:end]}{said}{ended if below else line[end:]}",
        *below,
        *lines[first:],
    ]


def _with_mark(line: str, mark: str) -> str:
    return _BOX.sub(lambda box: f"{box['lead']}[{mark}]", line, count=1)


def with_tick(
    lines: Sequence[str], begin: int, end: int, title: str, nth: int, mark: str
) -> list[str]:
    """The lines with a mark in the nth box of a title, between two lines."""
    changed = [*lines]
    for at in item_at(lines, begin, end, title, nth):
        changed[at] = _with_mark(lines[at], mark)
    return changed


def item_at(lines: Sequence[str], begin: int, end: int, title: str, nth: int) -> list[int]:
    """Where the nth box of a title stands, between two lines; empty: nowhere."""
    places = [at for at in range(begin, end) if _titled(lines[at]) == fold(title)]
    return places[nth : nth + 1]


def with_item(
    lines: Sequence[str], line: int, end: int, title: str, *, is_checked: bool
) -> list[str]:
    """The lines with a box more, behind the last one of a task, or right below its title."""
    boxes = [at for at in range(line + 1, end) if _BOX.match(lines[at])]
    at = boxes[-1] if boxes else line
    found = _BOX.match(lines[at])
    lead = found["lead"] if found else "- "
    if not boxes:
        lead = f"{lead[: len(lead) - len(lead.lstrip())]}{' ' * len(lead.lstrip())}- "
    ended = lines[at][len(lines[at].rstrip("\r\n")) :]
    first = next((one[len(one.rstrip("\r\n")) :] for one in lines), "") or "\n"
    box = f"{lead}[{'x' if is_checked else ' '}] {title}"
    if not ended:  # the last line of the file, which has no end
        return [*lines[:at], lines[at] + first, box, *lines[at + 1 :]]
    return [*lines[: at + 1], box + ended, *lines[at + 1 :]]


_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t#]*[\r\n]*$")


def with_task(form: str, lines: Sequence[str], read: ImportedFile, task: ImportedTask) -> list[str]:
    """The lines of a file with a task more: behind the last one of its category, else at the end,
    below a heading of its own where it needs one."""
    ended = next((one[len(one.rstrip("\r\n")) :] for one in lines), "") or "\n"
    whole = [one if one.endswith(("\n", "\r")) else one + ended for one in lines]
    if form == "todotxt":
        return [*whole, _todo_line(task) + ended]
    said = [f"{one}{ended}" for one in task_lines(task) if one]
    same = [
        line
        for line, one in zip(read.lines, read.tasks, strict=False)
        if fold(one.category) == fold(task.category)
    ]
    if same:
        at = _end_of_block(whole, same[-1])
        return [*whole[:at], *said, *whole[at:]]
    heads = [at for at, one in enumerate(whole) if _HEADING.match(one)]
    if not task.category:
        at = heads[0] if heads else len(whole)
        return [*whole[:at], *said, *([ended] if heads else []), *whole[at:]]
    blank = [ended] if whole and whole[-1].strip() else []
    return [*whole, *blank, heading(task.category) + ended, ended, *said]


def _end_of_block(lines: Sequence[str], line: int) -> int:
    """Where what stands below a task's line ends, blank lines left out."""
    own = len(lines[line]) - len(lines[line].lstrip())
    at, end = line + 1, line + 1
    while at < len(lines) and (
        not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > own
    ):
        at += 1
        end = at if lines[at - 1].strip() else end
    return end


def _todo_line(task: ImportedTask) -> str:
    head = f"({_LETTERS[task.priority]}) " if task.priority else ""
    names = [*([f"+{task.category}"] if task.category else []), *(f"@{one}" for one in task.labels)]
    due = [f"due:{task.due}"] if task.due else []
    return " ".join([f"{head}{task.title}", *names, *due])


def _titled(line: str) -> str:
    found = _BOX.match(line)
    return fold(squeeze(plain(line[found.end() :].strip()).text)) if found else ""
