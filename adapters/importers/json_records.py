"""The objects of a JSON file, one by one, so that a broken one does not take the others along.

A file is a list of objects, several lists one after another, or objects on lines of their own;
clients write all three. After a broken object reading goes on at the next line that begins with
an object as far to the right. Linear in the length of the file."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from adapters.importers.common import lines_ended, time_of
from domain.journal.imported import Unreadable
from domain.log import canonical
from domain.text import cut, squeeze

FAILURES_MAX = 200  # after so many broken objects the rest is not read
EFFORT_MAX = 8  # and if broken objects made it necessary to read the file so many times over

INT_DIGITS_MAX = 18

_BETWEEN = re.compile(r"[\s,\[\]]*")
_LEAD = re.compile(r"[ \t]*")
_LEAD_MAX = 100  # columns of indentation that are compared
_SHOWN_MAX = 60

T = TypeVar("T", str, dict[str, object], list[object])


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file and where it begins (1-based). A value of the wrong type is
    reported and read as if it were not there."""

    line: int
    values: Mapping[str, object]
    problems: list[Unreadable]

    def report(self, reason: str) -> None:
        self.problems.append(Unreadable(self.line, reason))

    def has(self, name: str) -> bool:
        """Whether there is something other than null under this name."""
        return self.values.get(name) is not None

    def text(self, name: str) -> str:
        """A text, its lines ended with line feeds; empty if there is none."""
        return _clean(self._typed(name, str, "text"))

    def title(self, name: str) -> str:
        """A text in one line."""
        return squeeze(self.text(name))

    def number(self, name: str) -> int:
        """A whole number from 1; 0 if there is none."""
        match self.values.get(name):
            case None:
                return 0
            case int(number) if number > 0 and not isinstance(number, bool):
                return number
            case other:
                self._misfit(name, "number from 1", other)
                return 0

    def identity(self, name: str) -> str:
        """A text or number that names something; empty if there is none."""
        value = self.values.get(name)
        return str(self.number(name)) if isinstance(value, int) else self.title(name)

    def time(self, name: str) -> datetime | None:
        """A UTC instant, or None."""
        text = self.title(name)
        found = time_of(text)
        if text and found is None:
            self._misfit(name, "time", text)
        return found

    def inner(self, name: str) -> "Record":
        """An object; an empty one if there is none."""
        return Record(self.line, self._typed(name, dict, "object"), self.problems)

    def inners(self, name: str) -> list["Record"]:
        values = self._typed(name, list, "list")
        found = [value for value in values if isinstance(value, dict)]
        self._strangers(name, "object", len(values) - len(found))
        return [Record(self.line, value, self.problems) for value in found]

    def titles(self, name: str, within: str = "") -> list[str]:
        """The texts of a list, each in one line; with `within`, those its objects hold, too."""
        found: list[str] = []
        strangers = 0
        for value in self._typed(name, list, "list"):
            match value.get(within) if isinstance(value, dict) and within else value:
                case str(text):
                    found.append(squeeze(_clean(text)))
                case _:
                    strangers += 1
        self._strangers(name, "text", strangers)
        return found

    def quiet(self) -> "Record":
        """The same, its reports heard by nobody."""
        return Record(self.line, self.values, [])

    def _typed(self, name: str, kind: type[T], wanted: str) -> T:
        """A value of a type; an empty one if there is none."""
        value = self.values.get(name)
        if isinstance(value, kind):
            return value
        if value is not None:
            self._misfit(name, wanted, value)
        return kind()

    def _misfit(self, name: str, wanted: str, value: object) -> None:
        self.report(f"`{name}` is no {wanted}: {_shown(value)}; it was left out")

    def _strangers(self, name: str, wanted: str, count: int) -> None:
        if count:
            self.report(f"`{name}` has {count} of no {wanted}; left out")


def records(text: str, problems: list[Unreadable]) -> Iterator[Record]:
    """The objects of a text; what is none, or cannot be read, is reported.

    >>> problems: list[Unreadable] = []
    >>> [record.values for record in records('[{"a": 1},\\n{"a": },\\n{"a": 3}]', problems)]
    [{'a': 1}, {'a': 3}]
    >>> [(one.line, one.reason) for one in problems]
    [(2, 'this is not JSON (Expecting value); it was left out')]
    """
    return _Scan(text, problems).records()


class _Scan:
    """One pass over a text. `_odd` and `_twice` belong to the object that is being read."""

    def __init__(self, text: str, problems: list[Unreadable]) -> None:
        self._text, self._problems = text, problems
        self._line, self._counted = 1, 0  # the line of a place, and that place
        self._failures = self._effort = 0
        self._odd, self._twice = list[str](), list[str]()
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._int,
            parse_float=self._float,
            parse_constant=self._constant,
            strict=False,  # some clients write tabs as they are
        )

    def records(self) -> Iterator[Record]:
        place = opened = 0
        while True:
            between = _BETWEEN.match(self._text, place)
            start = between.end() if between else place
            opened += self._text.count("[", place, start) - self._text.count("]", place, start)
            if start == len(self._text):
                break
            self._odd.clear()
            self._twice.clear()
            try:
                value, place = self._decoder.raw_decode(self._text, start)
            except (ValueError, RecursionError) as error:
                place = self._after_failure(start, error)
                if place < 0:
                    return
                continue
            if record := self._record(start, value):
                yield record
            elif self._failures > FAILURES_MAX:
                self._report(start, "too much of the file is unreadable; the rest was not read")
                return
        if opened > 0:
            self._report(len(self._text.rstrip()), "the file ends too soon; export it again")

    def _record(self, start: int, value: object) -> Record | None:
        if self._twice:
            name = _shown(self._twice[0])
            self._fail(start, f"the object has the key {name} twice; it was left out")
            return None
        if not isinstance(value, dict):
            self._fail(start, f"this is no object: {_shown(value)}; it was left out")
            return None
        record = Record(self._line_at(start), value, self._problems)
        if self._odd:
            record.report(f"the number {self._odd[0]} is out of range; it was left out")
        return record

    def _after_failure(self, start: int, error: Exception) -> int:
        """Where reading goes on behind a broken object; -1: nowhere."""
        if isinstance(error, json.JSONDecodeError):
            reason = f"this is not JSON ({error.msg})"
            self._effort += max(error.pos - start, 1)
        else:
            reason = "this is nested too deeply to read"
            self._effort += len(self._text) // 10
        line_start = self._text.rfind("\n", 0, start) + 1
        lead = _LEAD.match(self._text, line_start, line_start + _LEAD_MAX)
        same = re.compile(rf"\n{lead[0] if lead else ''}(?:,[ \t]*)?(?=\{{)")
        behind = same.search(self._text, start)
        tired = self._effort > EFFORT_MAX * len(self._text) or self._failures >= FAILURES_MAX
        if behind is None or tired:
            self._fail(start, f"{reason}; the file was not read from here on")
            return -1
        self._fail(start, f"{reason}; it was left out")
        return behind.end()

    def _fail(self, place: int, reason: str) -> None:
        self._failures += 1
        self._report(place, reason)

    def _report(self, place: int, reason: str) -> None:
        self._problems.append(Unreadable(self._line_at(place), reason))

    def _line_at(self, place: int) -> int:
        self._line += self._text.count("\n", self._counted, place)
        self._counted = max(place, self._counted)
        return self._line

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self._twice += (name for name, count in counts.items() if count > 1)
        return found

    def _int(self, digits: str) -> int | None:
        if len(digits) <= INT_DIGITS_MAX:
            return int(digits)
        self._constant(digits)
        return None

    def _float(self, digits: str) -> float | None:
        if math.isfinite(found := float(digits)):
            return found
        self._constant(digits)
        return None

    def _constant(self, digits: str) -> None:
        if not self._odd:
            self._odd.append(cut(digits, length_max=_SHOWN_MAX))


def _clean(text: str) -> str:
    return lines_ended(canonical.clean(text)).replace("\0", "\ufffd")


def _shown(value: object) -> str:
    """A value from outside as a report shows it."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return repr(cut(canonical.clean(value[:_SHOWN_MAX]), length_max=_SHOWN_MAX - 1))
        case _:
            return json.dumps(value)
