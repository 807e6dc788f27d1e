"""What a line says besides its title: ``due:2027-02-12 ~2h #garden !p1`` (SPEC 1, Importers).

A mark is a word of its own; brackets around it and a comma after it do no harm. Code, links
and escaped characters are never read as marks.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from adapters.importers.dialects import Said, without_dialects
from adapters.importers.inline import Plain, plain
from domain.journal.fields import MINUTES_MAX
from domain.text import fold, squeeze
from domain.timestamps import is_date

LABEL_LENGTH_MAX = 100
_WORD_LENGTH_MAX = 200  # a longer word is no mark
_MINUTES = {"d": 480, "h": 60, "m": 1}

_LIKELY = re.compile(r"(?i)[#!~]|due:|[0-9]-[0-9]")
_AMOUNT = r"[0-9]+(?:[.,][0-9]+)?"
_MARK = re.compile(
    rf"""(?P<open>\(?)(?P<core>
        (?i:due:)(?P<due>[^\s\0]+?)
      | (?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})
      | ~(?=[0-9])(?P<estimate>(?i:(?:{_AMOUNT}d)?(?:{_AMOUNT}h)?(?:{_AMOUNT}m(?:in)?)?))
      | \#(?P<label>[^\W\d_][\w/\-\u0080-\U0010ffff]*)
      | !(?i:p)(?P<priority>[0-9]+)
    )(?P<tail>[),;.:!?]*)""",
    re.VERBOSE,
)
_LEFTOVER = re.compile(r"(?:^|(?<=\s))\([\s,;]*\)|(?<![,;])[,;]++(?=\)|\s*$)")
_PART = re.compile(rf"(?i)({_AMOUNT})([dhm])")
_DUE_SIGNS = frozenset({"due:", "📅", "🗓"})
_OTHER_DATES = frozenset("✅\N{HEAVY PLUS SIGN}⏳⌛🛫❌")  # done, made, scheduled, started, ...


class Marked(NamedTuple):
    """A title and what was read from its line; `problems` are marks left out, with why. `said` is
    what it says in the words of other programs, `earlier` how it was read before those were known:
    ids are made of the `name` that it had then."""

    title: str
    due: str = ""
    estimate: int = 0
    priority: str = ""
    labels: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    said: Said = Said()
    earlier: "Marked | None" = None

    @property
    def name(self) -> str:
        """The title as it was read first, which never changes for a line."""
        return self.earlier.title if self.earlier else self.title


def read_marks(line: str) -> Marked:
    """Part a line into its title and its marks.

    >>> read_marks("Call Ann ~1h30m #phone, !P1")[:5]
    ('Call Ann', '', 90, 'P1', ('phone',))
    """
    words = plain(line)
    rest, said = without_dialects(words)
    if said == Said() and rest == words:
        return _marked(words)
    earlier, found = _marked(words), _marked(rest, said)
    found = found._replace(problems=said.problems + found.problems, said=said)
    if found[:5] == earlier[:5] and found.title:
        return found
    return found._replace(earlier=earlier) if found.title else earlier


def _marked(words: Plain, said: Said | None = None) -> Marked:
    """A line parted; what it `said` in other words stands before its marks."""
    due, priority = (said.due, said.priority) if said else ("", "")
    if not _LIKELY.search(words.mask):
        return Marked(squeeze(words.text), due, 0, priority, links=words.links)
    return _Marks(words, due, priority).read()


def minutes(amount: str) -> int:
    """Minutes of ``2h``, ``1h30m``, ``1.5h`` or ``3d`` of 8 hours, halves rounded up.

    >>> minutes("1h30m"), minutes("1.5h"), minutes("3d")
    (90, 90, 1440)
    """
    parts = _PART.findall(amount)
    total = sum(Fraction(n.replace(",", ".")) * _MINUTES[unit.lower()] for n, unit in parts)
    return int(total + Fraction(1, 2))


class _Marks:
    """The marks of one line while it is read. The first of a sort stands."""

    def __init__(self, words: Plain, due: str, priority: str) -> None:
        self._words = words
        self._removed: list[tuple[int, int]] = []
        self._due = due
        self._date: tuple[str, int, int] | None = None  # a bare date, and where it stands
        self._estimate = 0
        self._priority = priority
        self._labels: dict[str, str] = {}
        self._problems: list[str] = []

    def read(self) -> Marked:
        """Read every word once."""
        before, before_at, leading = "", 0, True
        for word in re.finditer(r"\S+", self._words.mask):
            match = _MARK.fullmatch(word[0]) if len(word[0]) <= _WORD_LENGTH_MAX else None
            if match and match["date"] and not self._date and before not in _OTHER_DATES:
                start, end = _span(match, word.start(), leading)
                start = before_at if before in _DUE_SIGNS else start
                self._date = (match["date"], start, end) if is_date(match["date"]) else None
            if match and not match["date"] and self._take(match):
                self._removed.append(_span(match, word.start(), leading))
            else:
                leading = False
            before, before_at = word[0].rstrip("\ufe0f").lower(), word.start()
        if self._date and not self._due:
            self._due, start, end = self._date
            self._removed.append((start, end))
        labels = tuple(self._labels.values())
        found = self._due, self._estimate, self._priority, labels
        return Marked(self._title(), *found, self._words.links, tuple(self._problems))

    def _take(self, match: re.Match[str]) -> bool:
        """Take a mark over, or report it; False: it is a word like any other."""
        if date := match["due"]:
            if self._accept(match, self._due, "" if is_date(date) else "is no date"):
                self._due = date
        elif amount := match["estimate"]:
            value = minutes(amount)
            fault = "" if 1 <= value <= MINUTES_MAX else f"is not 1 to {MINUTES_MAX} minutes"
            if self._accept(match, self._estimate, fault):
                self._estimate = value
        elif level := match["priority"]:
            fault = "" if level in ("0", "1", "2", "3") else "is no priority of !p0 to !p3"
            if self._accept(match, self._priority, fault):
                self._priority = f"P{level}"
        elif label := match["label"]:
            if not label[0].isalpha():
                return False
            fault = "" if len(label) <= LABEL_LENGTH_MAX else f"is over {LABEL_LENGTH_MAX} long"
            if self._accept(match, "", fault):
                self._labels.setdefault(fold(label), label)
        return True

    def _accept(self, match: re.Match[str], known: str | int, fault: str) -> bool:
        """Whether a mark stands; one that does not is reported."""
        if not fault and known:
            fault = "is the second of its sort in this line"
        if fault:
            self._problems.append(f"{match['core']} {fault}; it was left out")
        return not fault

    def _title(self) -> str:
        text, kept, position = self._words.text, [], 0
        for start, end in sorted(self._removed):
            kept.append(text[position:start].rstrip())
            position = max(position, end)
        title = "".join([*kept, text[position:]])
        return squeeze(_LEFTOVER.sub("", title) if kept else title)


def _span(match: re.Match[str], at: int, leading: bool) -> tuple[int, int]:
    """What of a word goes: brackets with their mark, but a comma stays with the word before."""
    start, end = at + match.start("core"), at + match.end("core")
    if match["open"]:
        closed = match["tail"].startswith(")")
        return (at, end + 1) if closed else (start, at + match.end() + 1)
    return start, at + match.end() if leading else end
