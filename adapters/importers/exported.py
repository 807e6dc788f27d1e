"""Tasks as Markdown that imports to the same state (ADR 53): pure, both ways.

The first line says that a file is one: what has no mark elsewhere (``status:blocked``, a label of
two words, a reason, a description, links) is read in such files alone, and text below a title is
unescaped. So nothing is read otherwise that was read before.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import unescape
from typing import NamedTuple

from adapters.importers.inline import plain
from adapters.importers.marks import Marked, read_marks
from domain.journal.imported import ImportedTask
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
    head = read_marks(" ".join(title))
    rest = read_marks(" ".join(one[0] for one in tail if not (one["status"] or one["anchor"])))
    labels: dict[str, str] = {fold(one): one for one in head.labels}
    for one in tail:
        named = [squeeze(plain(one["label"]).text)] if one["label"] else read_marks(one[0]).labels
        for name in named:
            labels.setdefault(fold(name), name)
    marked = head._replace(
        due=head.due or rest.due,
        estimate=head.estimate or rest.estimate,
        priority=head.priority or rest.priority,
        labels=tuple(labels.values()),
        problems=head.problems + rest.problems,
    )
    words = (one["status"] for one in tail if one["status"])
    status = next((one for said in words for one in STATUSES if word(one) == said), "")
    anchor = next((one["anchor"] for one in tail if one["anchor"]), "")
    return Own(marked, status, anchor)


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
    """A text with as few signs escaped as make it be read as it is.

    Args:
        text: One line.
        is_read: Whether a line that is tried is read so.

    >>> escaped("Call Ann, #1 [x]", lambda line: read_marks(line) == Marked("Call Ann, #1 [x]"))
    'Call Ann, #1 [x]'
    >>> escaped("Call #Ann (soon)", lambda line: read_marks(line) == Marked("Call #Ann (soon)"))
    'Call \\\\#Ann (soon)'
    """
    *tried, last = ways(text)
    return next((one for one in tried if is_read(one)), last)


def ways(text: str) -> tuple[str, str, str]:
    """A line as it is, with what is likely read as a mark escaped, and with every sign."""
    few = " ".join(
        _signs(word) if _SPANNING.search(word) or read_marks(word) != Marked(word) else word
        for word in text.split(" ")
    )
    return text, few, every(text)


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
    """Tasks as a file, below the headings of their categories.

    Args:
        tasks: In their order; those of one category are written together.
        links: Id, relation and id of the task that it leads to.
    """
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
    """A task's lines."""
    marks = "".join(f" {one}" for one in _marks(task, anchor))
    said = _said(task)
    wanted = Own(Marked(task.title, *said), _status(task), anchor)
    title = escaped(task.title, lambda line: read_own(line + marks) == wanted)
    lines = [f"- [{BOXES.get(task.status, ' ')}] {title}{marks}"]
    if task.status_reason:
        lines.append(because(task.status_reason))
    relations = dict.fromkeys(relation for relation, _ in links)
    for relation in relations:
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
