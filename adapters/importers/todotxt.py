"""Tasks from a todo.txt file (SPEC 1, Importers): a pure function of its bytes.

Each line is a task: ``(A) 2027-01-01 Call Mom +Family @phone due:2027-02-12``. The reader is our
own: pytodotxt has no line numbers and no reports, and what it saves is one regular expression.

Projects and contexts at either end of the text are taken off it; within it they are words of
the sentence and lose only their sign. ``t:`` is the day until which it waits, ``rec:`` how it
repeats (since 0.3, ADR 92). Other ``key:value`` words, like ``h:``, stand in the title as typed and
are named once for the file."""

import re
from collections import Counter
from typing import Any, NamedTuple

from msgspec.structs import replace

from adapters.importers import common
from adapters.importers.marks import closed_on
from adapters.importers.rules import rec_found
from domain.errors import Refused
from domain.journal.imported import ImportedFile, ImportedTask, Unreadable
from domain.journal.task import FIELDS, TaskField, checked
from domain.log import canonical
from domain.log.keys import key
from domain.log.timestamps import is_date
from domain.text import cut, fold, squeeze

_PRIORITIES = {"A": "P0", "B": "P1", "C": "P2"}  # any later letter is P3
_IDS = ("id", "uuid")
_PAIRS = {field.pair: field for field in FIELDS if field.pair}
_LATER = ("rec", "t")  # were words of the title for older readers
_WORD_LENGTH_MAX = 200  # a longer word is no mark

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_LETTER = r"\((?P<{}>[A-Z])\)"
_HEAD = re.compile(rf"(?:{_LETTER.format('priority')}(?:\s+|$))?(?:(?P<created>{_DATE})(?:\s+|$))?")
_DONE_HEAD = re.compile(
    rf"x\s+(?:{_LETTER.format('priority')}(?:\s+|$))?(?:(?P<completed>{_DATE})(?:\s+|$))?"
    rf"(?:(?P<created>{_DATE})(?:\s+|$))?(?:{_LETTER.format('last')}(?:\s+|$))?"
)
_MARK = re.compile(r"(?P<sign>[+@])(?P<name>\S*[^\W\d_]\S*?)[,;.:!?)]*")
_PAIR = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*):(?P<value>(?!//)[^\s:]+)")


def read(data: bytes, *, source: str) -> ImportedFile:
    """Read a file whole, see `formats.read`.

    >>> file = read(b"(B) Call @Ann today +Home @phone due:2027-02-12", source="todo.txt")
    >>> task = file.tasks[0]
    >>> task.title, task.category, task.labels, task.priority, task.due
    ('Call Ann today', 'Home', ('Ann', 'phone'), 'P1', '2027-02-12')
    """
    problems = common.Problems()
    text = common.decoded(data, problems)
    source = canonical.clean(source)
    seen: Counter[str] = Counter()
    found: list[tuple[ImportedTask, int, str, tuple[str, ...]]] = []
    earlier: list[ImportedTask] = []
    named: dict[str, Unreadable] = {}
    for number, line in enumerate(map(squeeze, text.split("\n")), start=1):
        words = _Line(line, number, problems) if line else None
        if words is None or not (task := words.task(source, seen)):
            continue
        formula = "task", source, "todotxt", words.identity
        found.append((task, number - 1, words.anchor, formula))
        earlier += [words.as_before(task)] if words.is_later else []
        for name in words.unknown:
            told = common.STAYS.format(f"`{cut(name, length_max=40)}:`")
            named.setdefault(name, Unreadable(number, told))
    return ImportedFile(
        "todotxt",
        source,
        tuple(task for task, *_ in found),
        common.bounded(problems),
        lines=tuple(one[1] for one in found),
        anchors=tuple(one[2] for one in found),
        formulas=tuple(one[3] for one in found),
        named=common.bounded([*named.values()], "have no place here"),
        earlier=tuple(earlier),
    )


class _Word(NamedTuple):
    """A word of the text; `sign` is ``+`` or ``@`` for a mark, ``:`` for a pair; `is_later`: one
    that was a word of the title for older readers."""

    shown: str
    sign: str = ""
    name: str = ""
    is_later: bool = False


class _Line:
    """One line, not blank, its white space squeezed, while it is read."""

    def __init__(self, line: str, number: int, problems: list[Unreadable]) -> None:
        self._number, self._problems = number, problems
        done = _DONE_HEAD.match(line)
        head = done or _HEAD.match(line)
        named = head.groupdict() if head else {}
        self._is_done = done is not None
        self._priority = named.get("priority") or named.get("last") or ""
        self._completed = self._checked(_PAIRS["due"], named.get("completed") or "", "completed")
        self._fields: dict[str, Any] = {}
        self._words: list[_Word] = []
        self.unknown: list[str] = []  # names of pairs that mean nothing here
        self.anchor = ""
        self.identity = ""
        for word in line[head.end() if head else 0 :].split(" "):
            self._read(word)

    def task(self, source: str, seen: Counter[str]) -> ImportedTask | None:
        """The task of the line; None if it does not say what is to be done."""
        words = _without_ends([word for word in self._words if not word.is_later])
        title = squeeze(" ".join(word.shown for word in words or _without_ends(self._words)))
        if not title:
            self._report("the line does not say what is to be done; write it, or delete the line")
            return None
        identity = self.identity = fold(" ".join(word.shown for word in words if word.sign != ":"))
        nth = seen[identity]
        seen[identity] += 1
        projects = [word.name for word in self._words if word.sign == "+"]
        contexts = [word.name for word in self._words if word.sign == "@"]
        return ImportedTask(
            key("task", source, "todotxt", identity, str(nth)),
            cut(title, length_max=common.TITLE_LENGTH_MAX),
            category=cut(projects[0], length_max=common.CATEGORY_LENGTH_MAX) if projects else "",
            status="DONE" if self._is_done else "",
            status_reason=closed_on("DONE", self._completed),
            priority=_PRIORITIES.get(self._priority, "P3") if self._priority else "",
            labels=common.labels_of([*projects[1:], *contexts], self._report),
            notes=common.whole_title(title),
            **self._fields,
        )

    @property
    def is_later(self) -> bool:
        """Whether an older reader had another title."""
        return any(word.is_later for word in self._words)

    def as_before(self, task: ImportedTask) -> ImportedTask:
        title = squeeze(" ".join(word.shown for word in _without_ends(self._words)))
        notes = common.whole_title(title)
        title = cut(title, length_max=common.TITLE_LENGTH_MAX)
        return replace(task, title=title, notes=notes, repeat="", wait_until="")

    def _read(self, word: str) -> None:
        if len(word) > _WORD_LENGTH_MAX:
            self._words.append(_Word(word))
        elif mark := _MARK.fullmatch(word):
            self._words.append(_Word(word[1:], mark["sign"], mark["name"]))
        elif (pair := _PAIR.fullmatch(word)) and not self._take(pair["name"], pair["value"]):
            self._words.append(_Word(word, ":"))
            self.unknown.append(name := pair["name"].lower())
            self.anchor = self.anchor or (f"{name}:{pair['value']}" if name in _IDS else "")
        elif pair and pair["name"].lower() in _LATER:
            self._words.append(_Word(word, ":", is_later=True))
        elif not pair:
            self._words.append(_Word(word))

    def _take(self, name: str, value: str) -> bool:
        """Take a pair over that means something here; False: it is a word like any other."""
        name = name.lower()
        if name == "pri" and len(value) == 1 and "A" <= value <= "Z":
            self._priority = self._priority or value
        elif field := _PAIRS.get(name):
            value = rec_found(value) if name == "rec" else value
            if name in _LATER and not (value and (name == "rec" or is_date(value))):
                return False
            what = field.key.replace("_", " ")
            taken = value if name == "rec" else self._checked(field, value, what)
            if taken and field.name in self._fields:
                self._report(f"{name}:{value} is the second of its sort; it was left out")
            elif taken:
                self._fields[field.name] = taken
        else:
            return False
        return True

    def _checked(self, field: TaskField, text: str, what: str) -> str:
        """The value as it is stored; empty, and reported, where it is none."""
        try:
            return str(checked(field, cut(text, length_max=40)))
        except Refused as refused:
            self._report(f"the {what} {refused.because}; it was left out")
            return ""

    def _report(self, reason: str) -> None:
        self._problems.append(Unreadable(self._number, reason))


def _without_ends(words: list[_Word]) -> list[_Word]:
    """The words without the marks before the first and after the last one of the sentence."""
    start, end = 0, len(words)
    while end and words[end - 1].sign:
        end -= 1
    while start < end and words[start].sign in ("+", "@"):
        start += 1
    pairs = [word for word in words[end:] if word.sign == ":"]
    return [*words[start:end], *pairs]
