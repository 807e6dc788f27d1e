"""Tasks as Markdown that imports to the same state (ADR 53): pure, both ways.

The first line says that a file is one: what has no mark elsewhere (``status:blocked``, a label of
two words, a reason, a description, links) is read in such files alone, and text below a title is
unescaped. So nothing is read otherwise that was read before."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import partial
from html import unescape
from typing import Any, NamedTuple

from adapters.importers.markdown_line import plain
from adapters.importers.marks import DialectMarks, Marked, read_marks
from adapters.importers.rules import rec_said
from domain.journal.imported import ImportedFile, ImportedTask
from domain.journal.repeat import told
from domain.journal.task import STATUSES
from domain.text import fold, squeeze

FIRST = "<!-- wakelog tasks 1"
HEADER = f"{FIRST}: import this file; a backslash keeps a sign from being a mark -->"

BOXES = {"OPEN": " ", "DONE": "x", "IN PROGRESS": "/", "REJECTED": "-"}
"""What stands in the box of a task; any other status has a mark of its own beside it."""
_MARK = re.compile(
    r"status:(?P<status>[a-z-]+)|label:(?P<label>\S+)|\^(?P<anchor>[0-9A-Za-z-]+)"
    r"|(?:due:|~|#|![pP])\S+"
)
BECAUSE = "because: "
_LINKED = re.compile(r"(?P<relation>[a-z_]+): (?P<anchors>\^[0-9A-Za-z-]+(?: \^[0-9A-Za-z-]+)*)")
_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
_SPANNING = re.compile(r"[\\`*_\[\]<&~]")
_ODD = re.compile(r"[^\w\s!-~]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|&#([0-9]{1,7});")
_LIST = re.compile(r"([0-9]{1,9})([.)])")
_STRUCTURE = re.compile(r"[#>\-+*=`~<_|\[]")
_KEYED = re.compile(r"(because|[a-z_]+)(?=: )")
_QUOTE = re.compile(r"[ \t]*> ?")


class Own(NamedTuple):
    """A title line: what Markdown's marks say, and what only such a file can."""

    marked: Marked
    status: str = ""
    anchor: str = ""  # by which links name the task


class Body(NamedTuple):
    """What stands below a title. `links` are relation and anchor."""

    reason: str = ""
    description: str = ""
    links: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------- reading


def read_own(line: str) -> Own:
    """Part a title line; marks stand at its end, others are read as in any Markdown.

    >>> own = read_own(r"Wait \\#1 ~2h status:blocked label:two&#32;words")
    >>> own.marked.title, own.marked.estimate, own.marked.labels, own.status
    ('Wait #1', 120, ('two words',), 'BLOCKED')
    """
    title, tail = line.split(), list[re.Match[str]]()
    while len(title) > 1 and (mark := _MARK.fullmatch(title[-1])) and _is_one(mark):
        tail.insert(0, mark)
        title.pop()
    rest = read_marks(" ".join(one[0] for one in tail if not (one["status"] or one["anchor"])))
    labels: list[str] = []
    for one in tail:
        labels += [squeeze(plain(one["label"]).text)] if one["label"] else read_marks(one[0]).labels
    marked = _with_tail(read_marks(" ".join(title)), rest, labels)
    words = (one["status"] for one in tail if one["status"])
    status = next((one for said in words for one in STATUSES if word(one) == said), "")
    anchor = next((one["anchor"] for one in tail if one["anchor"]), "")
    return Own(marked, status, anchor)


def _with_tail(head: Marked, rest: Marked, more: Sequence[str]) -> Marked:
    """A title with the marks behind it, for this reader and for older ones."""
    labels: dict[str, str] = {}
    for name in (*head.labels, *more):
        labels.setdefault(fold(name), name)
    return head._replace(
        due=head.due or rest.due,
        estimate=head.estimate or rest.estimate,
        priority=head.priority or rest.priority,
        labels=tuple(labels.values()),
        problems=head.problems + rest.problems,
        earlier=_with_tail(head.earlier, rest, more) if head.earlier else None,
    )


def _is_one(mark: re.Match[str]) -> bool:
    if mark["status"]:
        return mark["status"] in map(word, STATUSES)
    return bool(mark["label"] or mark["anchor"]) or not read_marks(mark[0]).title


def read_body(blocks: Iterable[str]) -> Body:
    """What the runs of lines below a title say; first come reason and links, then the description.

    >>> body = read_body(["because: Ann is away\\nblocks: ^2\\n> So green", r"\\# One"])
    >>> body.reason, body.links, body.description, body.notes
    ('Ann is away', (('blocks', '2'),), 'So green', ('# One',))
    """
    first, *others = [*blocks, ""]
    lines = first.split("\n")
    reason, links, described = "", list[tuple[str, str]](), list[str]()
    if lines[0].startswith(BECAUSE):
        reason = _unescaped(lines.pop(0)[len(BECAUSE) :])
    while lines and (linked := _LINKED.fullmatch(lines[0])):
        anchors = linked["anchors"].replace("^", "").split()
        links += [(linked["relation"], one) for one in anchors]
        lines.pop(0)
    while lines and _QUOTE.match(lines[0]):
        described.append(_QUOTE.sub("", lines.pop(0), count=1))
    texts = ["\n".join(lines), *others]
    notes = tuple(_text(one) for one in texts if one)
    return Body(squeeze(reason), _text("\n".join(described)), tuple(links), notes)


def _text(block: str) -> str:
    return "\n".join("" if one == "\\" else _unescaped(one) for one in block.split("\n"))


def _unescaped(line: str) -> str:
    return _ESCAPED.sub(lambda one: one[1] or chr(min(int(one[2]), 0x10FFFF)), line)


# ------------------------------------------------------------------------------------- writing


def escaped(text: str, is_read: Callable[[str], bool]) -> str:
    """A line with as few signs escaped as make it be read as it is, by what `is_read` says.

    >>> escaped("Call Ann, #1 [x]", lambda line: read_marks(line) == Marked("Call Ann, #1 [x]"))
    'Call Ann, #1 [x]'
    >>> escaped("Call #Ann (soon)", lambda line: read_marks(line) == Marked("Call #Ann (soon)"))
    'Call \\\\#Ann (soon)'
    """
    *tried, last = ways(text)
    return next((one for one in tried if is_read(one)), last)


def ways(text: str) -> tuple[str, str, str]:
    """A line as it is, with what is likely read as a mark escaped, and with every sign."""

    def few(word: str) -> str:
        return _signs(word) if _SPANNING.search(word) or read_marks(word) != Marked(word) else word

    return text, " ".join(map(few, text.split(" "))), every(text)


def every(text: str) -> str:
    """A line with every sign escaped, so that none is read as a mark; signs that no backslash
    escapes as their numbers."""
    return _ODD.sub(lambda one: _numbered(one[0]), _signs(text))


def _numbered(sign: str) -> str:
    number = f"&#{ord(sign)};"
    return number if unescape(number) == sign else sign  # some controls have none


def _signs(text: str) -> str:
    return _SIGN.sub(r"\\\g<0>", text)


def markdown(tasks: Sequence[ImportedTask], links: Iterable[tuple[str, str, str]] = ()) -> str:
    """Tasks as a file, those of one category together below its heading; `links`: id, relation and
    id of the task that it leads to."""
    there = {one.task_id for one in tasks}
    links = [one for one in links if there.issuperset((one[0], one[2]))]
    named: dict[str, str] = {}
    for _, _, target in links:
        named.setdefault(target, str(len(named) + 1))
    parts: dict[str, list[ImportedTask]] = {}
    for one in tasks:
        parts.setdefault(one.category, []).append(one)
    lines = [HEADER]
    for category, those in parts.items():
        lines += [*([""] if lines[-1] else []), heading(category), ""]
        for one in those:
            of_task = [(relation, named[to]) for at, relation, to in links if at == one.task_id]
            lines += task_lines(one, named.get(one.task_id, ""), of_task)
    return "\n".join(lines).rstrip("\n") + "\n"


def heading(category: str) -> str:
    """The line above the tasks of a category."""
    return f"# {escaped(category, partial(_is_heading, category))}"


def _is_heading(wanted: str, line: str) -> bool:
    return "#" not in line.replace(r"\#", "") and plain(line).text == wanted


def is_item(wanted: str, line: str) -> bool:
    """Whether an item's title is read as is wanted, and as nothing else."""
    read = plain(line)
    return squeeze(read.text) == wanted and not read.links


def task_lines(
    task: ImportedTask, anchor: str = "", links: Sequence[tuple[str, str]] = ()
) -> list[str]:
    marks = "".join(f" {one}" for one in _marks(task, anchor))
    said = DialectMarks(repeat=task.repeat, wait_until=task.wait_until)
    wanted = Own(Marked(task.title, *_said(task), said=said), _status(task), anchor)

    def is_read(line: str) -> bool:
        own = read_own(line + marks)
        return own._replace(marked=own.marked._replace(earlier=None)) == wanted

    title = escaped(task.title, is_read)
    lines = [f"- [{BOXES.get(task.status, ' ')}] {title}{marks}"]
    lines += [because(task.status_reason)] if task.status_reason else []
    for relation in dict.fromkeys(relation for relation, _ in links):
        anchors = " ".join(f"^{to}" for one, to in links if one == relation)
        lines.append(f"  {relation}: {anchors}")
    if task.description:
        lines += [f"  > {_line(one)}".rstrip() for one in task.description.split("\n")]
    for note in task.notes:
        lines += ["", *(f"  {_line(one) or chr(92)}" for one in note.text.split("\n"))]
    lines += [""] if task.notes and task.items else []
    for item in task.items:
        words = escaped(item.title, partial(is_item, item.title))
        lines.append(f"  - [{'x' if item.is_checked else ' '}] {words}")
    return [*lines, ""] if len(lines) > 1 else lines


def because(reason: str) -> str:
    """The line below a title that says why it has its status."""
    return f"  {BECAUSE}{_line(reason)}"


def word(status: str) -> str:
    """A status as its mark says it: ``on-hold``."""
    return status.lower().replace(" ", "-")


def _said(task: ImportedTask) -> tuple[str, int, str, tuple[str, ...]]:
    return task.due, task.estimate, task.priority, task.labels


def _status(task: ImportedTask) -> str:
    return "" if task.status in BOXES else task.status


def _marks(task: ImportedTask, anchor: str) -> list[str]:
    due, estimate, priority, labels = _said(task)
    status = word(_status(task))
    hours, minutes = divmod(estimate, 60)
    length = f"{f'{hours}h' if hours else ''}{f'{minutes}m' if minutes else ''}"
    return [
        *([f"🔁 {told(task.repeat)}"] if task.repeat else []),
        *([f"🛫 {task.wait_until}"] if task.wait_until else []),
        *([f"~{length}"] if estimate else []),
        *([f"!{priority.lower()}"] if priority else []),
        *([f"due:{due}"] if due else []),
        *map(_label, labels),
        *([f"status:{status}"] if status else []),
        *([f"^{anchor}"] if anchor else []),
    ]


def _label(name: str) -> str:
    if read_marks(f"x #{name}") == Marked("x", labels=(name,)):
        return f"#{name}"
    return f"label:{every(name).replace(' ', '&#32;')}"


def _line(text: str) -> str:
    """A line of prose that is read as prose, whatever stands in it."""
    if not text:
        return ""
    line = text.replace("\\", "\\\\").replace("&#", "\\&#").replace("\r", "&#13;")
    line = line.replace("\0", "&#0;")
    if line[-1].isspace():
        line = f"{line[:-1]}&#{ord(line[-1])};"
    if line[0].isspace():
        return f"&#{ord(line[0])};{line[1:]}"
    line = _LIST.sub(r"\1\\\2", line, count=1) if _LIST.match(line) else line
    line = _KEYED.sub(r"\1\\", line, count=1) if _KEYED.match(line) else line
    return f"\\{line}" if _STRUCTURE.match(line) else line


# ------------------------------------------------------ one change of a task, in lines of its file
# Only tried: whoever calls it reads the result again, and takes it only if it says what was meant
# and nothing else (`adapters.usecases.write_back`): so no case has to be known here.

_ENDED = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")
_BOX = re.compile(r"^(?P<lead>[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]*)\[(?P<mark>[^\[\]]*)\]")
_STATUS_WORD = re.compile(r"[ \t]status:[a-z-]+(?=\s|$)")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOSED = re.compile(rf"[ \t]*[✅❌]\ufe0f?[ \t]*{_DATE}(?=\s|$)")
_CLOSED_BY = {"DONE": "✅", "REJECTED": "❌"}
_PAIRS = {
    field: re.compile(rf"([\[(]{key}::[ ]*)[^\[\]()]*([\])])")
    for field, key in {"due": "due", "repeat": "repeat", "wait_until": "start"}.items()
}
_PAIRED = re.compile(r"(?<=[ \t])[\[(](?:due|repeat|start|scheduled|created|completion|id):: ")
_CLOSED_PAIR = re.compile(r"[ \t]*[\[(](?:completion|cancelled)::[^\[\]()]*[\])]")
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
    "due": re.compile(r"[ \t]+(?:due:[^\s,;)]+|[\U0001f4c5\U0001f5d3]\ufe0f?[ \t]*[0-9-]{10})"),
    "priority": re.compile("[ \t]+(?:![pP][0-9]|[🔺⏫🔼🔽⏬]\ufe0f?)"),
    "estimate": re.compile(r"[ \t]+~[0-9][0-9.,dhminDHMIN]*"),
    "repeat": re.compile(
        r"[ \t]+rec:\S+|[ \t]*\U0001f501\ufe0f?[ \t]*[^\W_]+(?:,?[ \t]+[^\W_]+)*(?=[ \t]|$)"
    ),
    "wait_until": re.compile(rf"[ \t]+t:{_DATE}|[ \t]*\U0001f6eb\ufe0f?[ \t]*{_DATE}"),
}
_TAIL = re.compile(r"(?:[ \t]+(?:[~#^]|![pP]|due:|status:|label:)\S+)*[ \t]*(?:\r\n|\r|\n)?$")


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
            case "repeat" if form == "todotxt":
                said = f" rec:{rec_said(value)}"
            case "wait_until" if form == "todotxt":
                said = f" t:{value}"
            case "repeat":
                said = f" 🔁 {told(value)}"
            case "wait_until":
                said = f" 🛫 {value}"
            case "due":
                said = f" due:{value}"
            case "priority":
                said = f" !{value.lower()}"
            case _:  # as people write it: whole hours as hours
                said = f" ~{value}m" if value % 60 else f" ~{value // 60}h"
    if form == "markdown" and value and field in _PAIRS and _PAIRS[field].search(line):
        said = told(value) if field == "repeat" else value
        return _PAIRS[field].sub(lambda one: f"{one[1]}{said}{one[2]}", line, count=1)
    signed = _SIGNED.search(line) if form == "markdown" else None
    if signed and value:
        said = {"due": f" 📅 {value}", "priority": f" {_LEVELS.get(value)}"}.get(field, said)
    token = _TOKENS[field]
    if token.search(line):
        return token.sub(lambda _: said, line, count=1)
    end = signed or _END.search(line)  # Obsidian Tasks reads its signs at the end only
    if field in ("repeat", "wait_until") and form == "markdown":
        end = signed or _TAIL.search(line)
    at = end.start() if end else len(line)
    return f"{line[:at]}{said}{line[at:]}"


def with_status(form: str, line: str, status: str, day: str) -> str:
    """The line with another status, as its own clients write it; as it is where that cannot be
    said. `day`: when the task was closed, if the file says that of what is closed.

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
    line = _CLOSED_PAIR.sub("", _CLOSED.sub("", _with_mark(line, BOXES[status])))
    end = _END.search(line) if day and status in _CLOSED_BY else None
    said = f"{_CLOSED_BY.get(status)} {day}"
    if _PAIRED.search(line):
        said = f"[{'completion' if status == 'DONE' else 'cancelled'}:: {day}]"
    return f"{line[: end.start()]} {said}{end[0]}" if end else line


def has_signs(line: str) -> bool:
    """Whether a line of Markdown says something in the signs of Obsidian Tasks, or as Dataview
    does, which write the day of what is closed."""
    return bool(_TASKS_SIGNS.search(line) or _PAIRED.search(line))


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
    line = f"{line[:end]}{said}{ended if below else line[end:]}"
    return [*lines[:at], line, *below, *lines[first:]]


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


_OF_ONE = re.compile(
    rf"[ \t]*(?:🆔\ufe0f?[ \t]*\S+|⛔\ufe0f?[ \t]*[\w-]+(?:,[ \t]*[\w-]+)*|➕\ufe0f?[ \t]*{_DATE})"
)
_SCHEDULED = re.compile(rf"([⏳⌛]\ufe0f?[ \t]*|scheduled::[ ]*)({_DATE})")
_TODO_ID = re.compile(r"[ \t]+(?:id|uuid):\S+")


def with_next(
    form: str, lines: Sequence[str], at: int, was: ImportedTask, task: ImportedTask
) -> list[str]:
    """The lines of a file with the next time of one that repeats, as its own clients write it: in
    Markdown above the one that is done, in todo.txt at the end. `at`: where the one that is done
    stands; `was`: what that says; `task`: what the new one shall say."""
    line = with_status(form, lines[at], "OPEN", "")
    for field in ("due", "wait_until"):
        if getattr(was, field) != getattr(task, field):
            line = with_field(form, line, field, getattr(task, field))
    if form == "todotxt":
        done, new = _TodoLine.of(lines[at]), _TodoLine.of(line)
        created = done.completed if new.created and done.completed != "x" else new.created
        line = str(new._replace(created=created, words=_TODO_ID.sub("", new.words)))
        whole = [one if one.endswith(("\n", "\r")) else f"{one}\n" for one in lines]
        return [*whole, line if line.endswith(("\n", "\r")) else f"{line}\n"]
    line = _OF_ONE.sub("", re.sub(r"[ \t]+\^[A-Za-z0-9-]+([ \t]*[\r\n]*)$", r"\1", line))
    if was.due and task.due:
        line = _SCHEDULED.sub(lambda one: one[1] + _later(one[2], was.due, task.due), line)
    return [*lines[:at], line, *lines[at:]]


def _later(day: str, was: str, now: str) -> str:
    """A day, as many days later as one is than another."""
    first, last, moved = (date.fromisoformat(one) for one in (was, now, day))
    return (moved + (last - first)).isoformat()


_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t#]*[\r\n]*$")


def with_task(form: str, lines: Sequence[str], read: ImportedFile, task: ImportedTask) -> list[str]:
    """The lines of a file with a task more: behind the last one of its category, else at the end,
    below a heading of its own where it needs one."""
    ended = next((one[len(one.rstrip("\r\n")) :] for one in lines), "") or "\n"
    whole = [one if one.endswith(("\n", "\r")) else one + ended for one in lines]
    if form == "todotxt":
        return [*whole, _todo_line(task) + ended]
    said = [f"{one}{ended}" for one in task_lines(task) if one]
    there = zip(read.lines, read.tasks, strict=False)
    same = [line for line, one in there if fold(one.category) == fold(task.category)]
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
