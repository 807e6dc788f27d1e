"""What a line says besides its title: ``due:2027-02-12 ~2h #garden !p1`` (SPEC 1, Importers).

A mark is a word of its own; brackets around it and a comma after it do no harm. Code, links
and escaped characters are never read as marks.

Other programs write Obsidian Tasks ``📅 2027-02-12 ⏫ 🆔 a1``, Dataview ``[due:: 2027-02-12]``, and
``@due(2027-02-12)`` (ADR 54). What of that has a place here is taken and leaves the title. What has
none stays in the title as typed, and is named once for each file. ``🔁 every week`` and the day
on which a task starts are read since 0.3 (ADR 92)."""

import re
from fractions import Fraction
from typing import Any, NamedTuple

from adapters.importers.markdown_line import Plain, plain
from adapters.importers.rules import rule_found
from domain.journal.task import MINUTES_MAX
from domain.log.timestamps import is_date
from domain.text import cut, fold, squeeze

_LIKELY_DIALECT = re.compile("[\U0001f4c5\U0001f4c6\U0001f5d3⏳⌛🛫✅❌➕🔁🆔⛔🏁⏫🔼🔽🔺⏬^@]|::")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ID = r"[A-Za-z0-9_-]{1,100}"
_DIALECT_MARK = re.compile(
    rf"""(?:(?<=\s)|^)(?:
        (?P<sign>[📅📆🗓⏳⌛🛫✅❌➕])\ufe0f?\s*(?P<date>{_DATE})
      | (?P<level>[🔺⏫🔼🔽⏬])\ufe0f?
      | 🆔\ufe0f?\s*(?P<id>{_ID})
      | ⛔\ufe0f?\s*(?P<needs>{_ID}(?:\s*,\s*{_ID})*)
      | 🔁\ufe0f?(?P<gap>\s*)(?P<rule>[^\W_]+(?:,?\s+[^\W_]+)*)
      | (?P<kept>[🔁🏁])\ufe0f?(?=\s)
      | \^(?=[A-Za-z]|[0-9-]*[A-Za-z0-9-]{{4}})(?P<block>[A-Za-z0-9-]+)(?=\s*$)
      | (?P<open>[\[(])(?P<key>[A-Za-z][\w\ -]{{0,39}}?)::[ ]*(?P<value>[^\[\]()\0]{{0,200}})[\])]
      | @(?P<at>[A-Za-z][\w-]{{0,39}})\((?P<given>[^()\0]{{0,200}})\)
    )(?![^\s,;.)])""",
    re.VERBOSE,
)
_SIGNS = {
    **dict.fromkeys("📅📆🗓", "due"), **dict.fromkeys("⏳⌛", "scheduled"),
    "🛫": "start", "✅": "done", "❌": "cancelled", "➕": "created",
}  # fmt: skip
_LEVELS = {"🔺": "P0", "⏫": "P1", "🔼": "P2", "🔽": "P3", "⏬": "P3"}
_WORDS = {
    "highest": "P0", "high": "P1", "medium": "P2", "normal": "P2", "none": "", "low": "P3",
    "lowest": "P3", **{f"p{n}": f"P{n}" for n in range(4)},
}  # fmt: skip
_NAMES = {"completion": "done", "completed": "done", "started": "start", "defer": "start"}
_TOLD = {"scheduled": "scheduled for", "start": "starts", "created": "created"}
_CLOSED_ON = {"DONE": "completed on", "REJECTED": "cancelled on"}
_CLOSED = {"done": "DONE", "cancelled": "REJECTED"}
_COMMA = re.compile(r"[,;.)]+")
_TIME = re.compile(rf"({_DATE})(?:[T ]\d{{1,2}}:\d{{2}}(?::\d{{2}})?)?")


def closed_on(status: str, day: str) -> str:
    """The reason of a status of which a file says the day; empty without one."""
    return f"{_CLOSED_ON[status]} {day}" if day and status in _CLOSED_ON else ""


class DialectMarks(NamedTuple):
    """What a line says in the words of other programs; `dates` by what they are dates of, `id` and
    `needs` what links lines of a file, `named` what stays in the title, `block` its end ``^a1``."""

    due: str = ""
    priority: str = ""
    dates: tuple[tuple[str, str], ...] = ()
    id: str = ""
    needs: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    block: str = ""
    repeat: str = ""
    wait_until: str = ""

    @property
    def anchor(self) -> str:
        """What the line is called by its file."""
        return f"id:{self.id}" if self.id else f"^{self.block}" if self.block else ""

    def reason(self, status: str) -> str:
        """The reason of a status: the day of it."""
        days = (when for what, when in self.dates if _CLOSED.get(what) == status)
        return closed_on(status, next(days, ""))

    def note(self, status: str) -> str:
        """The dates that have no other place."""
        told = {**_TOLD, "due": "due"}
        shown = (
            closed_on(_CLOSED[what], when) if what in _CLOSED else f"{told[what]} {when}"
            for what, when in self.dates
            if what not in _CLOSED or _CLOSED[what] != status
        )
        return ", ".join(shown)


def without_dialects(words: Plain, *, reads_rules: bool = True) -> tuple[Plain, DialectMarks]:
    """A line without what it says in the words of other programs, and what that is;
    `reads_rules`: how it repeats and until when it waits, too.

    >>> line = "Paint ⏫ [start:: 2027-02-01] @due(2027-02-12)"
    >>> words, said = without_dialects(Plain(line, line))
    >>> words.text, said.due, said.priority, said.wait_until
    ('Paint', '2027-02-12', 'P1', '2027-02-01')
    """
    if not _LIKELY_DIALECT.search(words.mask):
        return words, DialectMarks()
    reader = _DialectReader(reads_rules=reads_rules)
    gone = [match.span() for match in _DIALECT_MARK.finditer(words.mask) if reader.take(match)]
    return _without_spans(words, gone), reader.said()


class _DialectReader:
    """The marks of one line while they are read. The first of a sort stands."""

    def __init__(self, *, reads_rules: bool) -> None:
        self._reads_rules = reads_rules
        self._found: dict[str, str] = {}
        self._needs: list[str] = []
        self._named: dict[str, str] = {}
        self._problems: list[str] = []
        self._block = ""

    def take(self, match: re.Match[str]) -> bool:
        """Take a mark over, or report it; False: it stays in the title."""
        if sign := match["sign"]:
            return self._value(_SIGNS[sign], match["date"], match[0])
        if level := match["level"]:
            return self._keep("priority", _LEVELS[level], match[0])
        if name := match["id"]:
            return self._keep("id", name, match[0])
        if needs := match["needs"]:
            return self._link(needs)
        if rule := match["rule"]:
            return self._rule(rule, match[0], is_named=self._reads_rules or bool(match["gap"]))
        if kept := match["kept"]:
            self._named.setdefault(kept, kept)
            return False
        if key := match["key"] or match["at"]:
            is_pair = match["open"] is None or (match["open"] == "[") == match[0].endswith("]")
            value = (match["value"] or match["given"] or "").strip()
            return is_pair and self._pair(fold(key), value, match)
        self._block = match["block"] or ""
        return bool(self._block)

    def said(self) -> DialectMarks:
        found = self._found
        start = found.get("start", "") if self._reads_rules else ""
        dates = [
            (name, found[name])
            for name in (*_TOLD, *_CLOSED)
            if found.get(name) and not (name == "start" and start == start[:10] != "")
        ]
        due, _, time = found.get("due", "").replace("T", " ").partition(" ")
        if time:
            dates.append(("due", f"{due} {time}"))
        priority, own_id, repeat = (found.get(one, "") for one in ("priority", "id", "repeat"))
        needs, named, faults = self._needs, self._named.values(), self._problems
        linked = own_id, tuple(needs), tuple(named), tuple(faults), self._block
        return DialectMarks(due, priority, tuple(dates), *linked, repeat, start[:10])

    def _rule(self, words: str, shown: str, *, is_named: bool) -> bool:
        if self._reads_rules and (rule := rule_found(words)):
            return self._keep("repeat", rule, shown)
        if is_named:
            self._named.setdefault("🔁", "🔁")
        return False

    def _pair(self, key: str, value: str, match: re.Match[str]) -> bool:
        key = _NAMES.get(key, key)
        shown = f"{match['key']}::" if match["key"] else f"@{match['at']}()"
        is_code = "::" in match[0] and ":: " not in match[0]  # `(std::vector)`
        if key == "priority" and fold(value) in _WORDS:
            return self._keep(key, _WORDS[fold(value)], match[0])
        if key == "id" and re.fullmatch(_ID, value):
            return self._keep(key, value, match[0])
        if key == "dependson" and re.fullmatch(rf"{_ID}(?:\s*,\s*{_ID})*", value):
            return self._link(value)
        if (key == "due" or key in _TOLD or key in _CLOSED) and _TIME.fullmatch(value):
            return self._value(key, value, match[0])
        if key == "repeat" and self._reads_rules and (rule := rule_found(value)):
            return self._keep(key, rule, match[0])
        if not is_code:
            self._named.setdefault(fold(shown), shown)
        return False

    def _link(self, needs: str) -> bool:
        self._needs += (one.strip() for one in needs.split(","))
        return True

    def _value(self, name: str, value: str, shown: str) -> bool:
        if is_date(value[:10]):
            return self._keep(name, value, shown)
        if name == "due":
            self._problems.append(f"{cut(shown, length_max=60)} is no date; it was left out")
        return name == "due"

    def _keep(self, name: str, value: str, shown: str) -> bool:
        if name in self._found:
            told = "is the second of its sort in this line"
            self._problems.append(f"{cut(shown, length_max=60)} {told}; it was left out")
        else:
            self._found[name] = value
        return True


def _without_spans(words: Plain, gone: list[tuple[int, int]]) -> Plain:
    """Text and mask without some spans and the blanks before them."""
    texts, masks = list[str](), list[str]()
    position, is_first = 0, True  # nothing of the title so far
    for start, end in [*gone, (len(words.mask), len(words.mask))]:
        mask = words.mask[position:start]
        kept = len(mask.rstrip()) if start < end else len(mask)
        texts.append(words.text[position : position + kept])
        masks.append(mask[:kept])
        position = end
        is_first = is_first and not texts[-1].strip()
        if is_first and (comma := _COMMA.match(words.mask, end)):
            position = comma.end()
    return Plain("".join(texts), "".join(masks), words.links)


# ---------------------------------------------------------------------------------------- our marks

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
    said: DialectMarks = DialectMarks()
    earlier: "Marked | None" = None

    @property
    def before(self) -> "tuple[Marked, ...]":
        """How older readers read it, the newest first."""
        return (self.earlier, *self.earlier.before) if self.earlier else ()

    @property
    def name(self) -> str:
        """The title as it was read first, which never changes for a line."""
        return (self, *self.before)[-1].title


def read_marks(line: str) -> Marked:
    """Part a line into its title and its marks.

    >>> read_marks("Call Ann ~1h30m #phone, !P1")[:5]
    ('Call Ann', '', 90, 'P1', ('phone',))
    """
    words = plain(line)
    read = _marked(words)
    for reads_rules in (False, True):
        rest, said = without_dialects(words, reads_rules=reads_rules)
        if said == read.said and rest == words:
            continue
        found = _marked(rest, said)
        if not found.title:
            continue
        found = found._replace(problems=said.problems + found.problems, said=said)
        is_other = found[:5] != read[:5] or (reads_rules and said != read.said)
        read = found._replace(earlier=read if is_other else read.earlier)
    return read


def _marked(words: Plain, said: DialectMarks | None = None) -> Marked:
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
        self._date: tuple[str, int, int] | None = None  # a bare date, and where it stands
        self._found: dict[str, Any] = {"due": due, "estimate": 0, "priority": priority}
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
        if self._date and not self._found["due"]:
            self._found["due"], start, end = self._date
            self._removed.append((start, end))
        labels, problems = tuple(self._labels.values()), tuple(self._problems)
        links = self._words.links
        return Marked(self._title(), **self._found, labels=labels, links=links, problems=problems)

    def _take(self, match: re.Match[str]) -> bool:
        """Take a mark over, or report it; False: it is a word like any other."""
        name, value, fault = "label", match["label"], ""
        if date := match["due"]:
            name, value = "due", date
            fault = "" if is_date(date) else "is no date"
        elif amount := match["estimate"]:
            name, value = "estimate", minutes(amount)
            fault = "" if 1 <= value <= MINUTES_MAX else f"is not 1 to {MINUTES_MAX} minutes"
        elif level := match["priority"]:
            name, value = "priority", f"P{level}"
            fault = "" if level in ("0", "1", "2", "3") else "is no priority of !p0 to !p3"
        elif not value[0].isalpha():
            return False
        elif len(value) > LABEL_LENGTH_MAX:
            fault = f"is over {LABEL_LENGTH_MAX} long"
        if not fault and self._found.get(name):
            fault = "is the second of its sort in this line"
        if fault:
            self._problems.append(f"{match['core']} {fault}; it was left out")
        elif name == "label":
            self._labels.setdefault(fold(value), value)
        else:
            self._found[name] = value
        return True

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
