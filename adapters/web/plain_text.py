"""What a model read or wrote, as a person reads it: no marks of Markdown, no JSON. It only tells:
the words as they were sent stand one click away."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from adapters.web.filters import by_whom, wall

_MARKS = (
    (re.compile(r"^ {0,3}#{1,6}[ \t]+", re.MULTILINE), ""),
    (re.compile(r"^([ \t]*)[-*+][ \t]+", re.MULTILINE), r"\1• "),
    (re.compile(r"\n\n(?=• )"), "\n"),
    (re.compile(r"\*\*([^*\n]+)\*\*"), r"\1"),
    (re.compile(r"(?<![\w_])_([^_\n]+)_(?![\w_])"), r"\1"),
    (re.compile(r"(?<!`)`([^`\n]+)`(?!`)"), r"\1"),
)
_JSON = re.compile(r"^[{\[]$", re.MULTILINE)
_HEADINGS = re.compile(r"^#.*$", re.MULTILINE)  # of what a page has a heading for already
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_NAMED = ("title", "name", "text", "value")
_SAID_OF_IT = ("id", "by", "at", "checked", *_NAMED)  # told in their own way, or only as sent


def bare(text: str) -> str:
    """A Markdown text without its marks.

    >>> bare("## Found\\n- **Status:** OPEN, `a`\\n_by rules_, snake_case_name")
    'Found\\n• Status: OPEN, a\\nby rules, snake_case_name'
    """
    for mark, instead in _MARKS:
        text = mark.sub(instead, text)
    return text


def compared(old: str, new: str, zone: str = "UTC") -> tuple[str, str]:
    """Two texts to be compared, as `told` has them; as they are where nothing else differs.

    >>> compared("**a**", "b"), compared("**a**", "a")
    (('a', 'b'), ('**a**', 'a'))
    """
    found = told(old, zone), told(new, zone)
    return found if found[0] != found[1] else (old, new)


def told(text: str, zone: str) -> str:
    """A text without marks, and what stands in it as JSON as lines."""
    before, value, after = _parted(text)
    if value is None:
        return bare(text)
    parts = bare(_HEADINGS.sub("", before)), "\n".join(_lines(value, zone)), bare(after)
    return "\n".join(one.strip() for one in parts if one.strip())


def has_json(text: str) -> bool:
    """Whether a part of a text is JSON."""
    return _parted(text)[1] is not None


def _parted(text: str) -> tuple[str, Any, str]:
    """What stands before a JSON value, the value (None where there is none), and what follows."""
    found = _JSON.search(text)
    if found is None:
        return text, None, ""
    try:
        value, end = json.JSONDecoder().raw_decode(text, found.start())
    except (ValueError, RecursionError):
        return text, None, ""
    return text[: found.start()], value, text[end:]


def _lines(value: Any, zone: str) -> Iterator[str]:
    """A value as lines: a field each, what is empty left out, lists below their names. A line of
    somebody's words is told from a field by its place."""
    if isinstance(value, list):
        yield from (_one(one, zone).replace("\n", "\n    ") for one in value)
        return
    for name, part in value.items():
        if name == "id" or not _one(part, zone):
            continue
        label = _HUMP.sub(" ", name).lower().capitalize()
        if isinstance(part, list):
            yield f"{label}:"
            yield from ("  " + _one(one, zone).replace("\n", "\n    ") for one in part)
        else:
            yield f"{label}: " + _one(part, zone).replace("\n", "\n    ")


def _one(value: Any, zone: str) -> str:
    """A value in one line; empty for what says nothing.

    >>> _one({"value": "P1", "by": "person", "at": "2027-01-01T08:00:00.000000Z"}, "UTC")
    'P1 (you, 2027-01-01 08:00)'
    >>> _one({"id": "x", "title": "Buy paint", "checked": True}, "UTC")
    '☑ Buy paint'
    """
    if isinstance(value, list):
        return ", ".join(_one(one, zone) for one in value)
    if not isinstance(value, dict):
        return _word(value, zone)
    named = next((_one(value[name], zone) for name in _NAMED if name in value), "")
    if "value" in value and not named:
        return ""
    tick = ("☑ " if value["checked"] else "☐ ") if "checked" in value else ""
    more = (
        (_HUMP.sub(" ", name).lower(), _one(part, zone))
        for name, part in value.items()
        if name not in _SAID_OF_IT and not name.startswith("checked") and part != "note"
    )
    rest = [f"{name}: {part}" for name, part in more if part]
    who = [by_whom(value["by"]).strip()] if value.get("by") else []
    at = [_word(value["at"], zone)] if value.get("at") else []
    if "text" in value:
        return f"{', '.join(at + who + rest)}: {named}"
    around = f" ({', '.join(who + at + rest)})" if named and (who or at or rest) else ""
    return f"{tick}{named}{around}" if named else "; ".join(rest)


def _word(value: Any, zone: str) -> str:
    """A text, number or yes; a time as the clock at home shows it."""
    if isinstance(value, str) and _TIME.fullmatch(value):
        with suppress(ValueError, OverflowError):  # somebody's words may look like one
            return wall(value, zone).replace("T", " ")
    return "" if value in (None, False, 0) else "yes" if value is True else str(value)
