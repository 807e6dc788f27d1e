"""What other programs write into a line: Obsidian Tasks ``📅 2027-02-12 ⏫ 🆔 a1``, Dataview
``[due:: 2027-02-12]``, and ``@due(2027-02-12)`` (SPEC 1, Importers; ADR 54).

What has a place here is taken and leaves the title. What has none stays in the title as typed, and
is named once for each file.
"""

import re
from typing import NamedTuple

from adapters.importers.inline import Plain
from domain.text import cut, fold
from domain.timestamps import is_date

_LIKELY = re.compile("[\U0001f4c5\U0001f4c6\U0001f5d3⏳⌛🛫✅❌➕🔁🆔⛔🏁⏫🔼🔽🔺⏬^@]|::")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ID = r"[A-Za-z0-9_-]{1,100}"
_MARK = re.compile(
    rf"""(?:(?<=\s)|^)(?:
        (?P<sign>[📅📆🗓⏳⌛🛫✅❌➕])\ufe0f?\s*(?P<date>{_DATE})
      | (?P<level>[🔺⏫🔼🔽⏬])\ufe0f?
      | 🆔\ufe0f?\s*(?P<id>{_ID})
      | ⛔\ufe0f?\s*(?P<needs>{_ID}(?:\s*,\s*{_ID})*)
      | (?P<kept>[🔁🏁])\ufe0f?(?=\s)
      | \^(?=[A-Za-z]|[0-9-]*[A-Za-z0-9-]{{4}})(?P<block>[A-Za-z0-9-]+)(?=\s*$)
      | (?P<open>[\[(])(?P<key>[A-Za-z][\w\ -]{{0,39}}?)::[ ]*(?P<value>[^\[\]()\0]{{0,200}})[\])]
      | @(?P<at>[A-Za-z][\w-]{{0,39}})\((?P<given>[^()\0]{{0,200}})\)
    )(?![^\s,;.)])""",
    re.VERBOSE,
)
_SIGNS = {
    **dict.fromkeys("📅📆🗓", "due"),
    **dict.fromkeys("⏳⌛", "scheduled"),
    "🛫": "start",
    "✅": "done",
    "❌": "cancelled",
    "➕": "created",
}
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


class Said(NamedTuple):
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

    @property
    def anchor(self) -> str:
        """What the line is called by its file."""
        return f"id:{self.id}" if self.id else f"^{self.block}" if self.block else ""

    def reason(self, status: str) -> str:
        """The reason of a status: the day of it."""
        return next(
            (closed_on(status, when) for what, when in self.dates if _CLOSED.get(what) == status),
            "",
        )

    def note(self, status: str) -> str:
        """The dates that have no other place."""
        told = {**_TOLD, "due": "due"}
        shown = (
            closed_on(_CLOSED[what], when) if what in _CLOSED else f"{told[what]} {when}"
            for what, when in self.dates
            if what not in _CLOSED or _CLOSED[what] != status
        )
        return ", ".join(shown)


def without_dialects(words: Plain) -> tuple[Plain, Said]:
    """A line without what it says in the words of other programs, and what that is.

    >>> line = "Paint ⏫ [start:: 2027-02-01] @due(2027-02-12)"
    >>> words, said = without_dialects(Plain(line, line))
    >>> words.text, said.due, said.priority, said.note("")
    ('Paint', '2027-02-12', 'P1', 'starts 2027-02-01')
    """
    if not _LIKELY.search(words.mask):
        return words, Said()
    reader = _Reader()
    gone = [match.span() for match in _MARK.finditer(words.mask) if reader.take(match)]
    return _without(words, gone), reader.said()


class _Reader:
    """The marks of one line while they are read. The first of a sort stands."""

    def __init__(self) -> None:
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
        if kept := match["kept"]:
            self._named.setdefault(kept, kept)
            return False
        if key := match["key"] or match["at"]:
            is_pair = match["open"] is None or (match["open"] == "[") == match[0].endswith("]")
            value = (match["value"] or match["given"] or "").strip()
            return is_pair and self._pair(fold(key), value, match)
        self._block = match["block"] or ""
        return bool(self._block)

    def said(self) -> Said:
        """What was found."""
        dates = [(name, self._found[name]) for name in (*_TOLD, *_CLOSED) if self._found.get(name)]
        due, _, time = self._found.get("due", "").replace("T", " ").partition(" ")
        if time:
            dates.append(("due", f"{due} {time}"))
        return Said(
            due,
            self._found.get("priority", ""),
            tuple(dates),
            self._found.get("id", ""),
            tuple(self._needs),
            tuple(self._named.values()),
            tuple(self._problems),
            self._block,
        )

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


def _without(words: Plain, gone: list[tuple[int, int]]) -> Plain:
    """Text and mask without some spans and the blanks before them."""
    texts: list[str] = []
    masks: list[str] = []
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
