"""Calls as models make them: names, arguments and ids that are nearly right, and calls that are
written as words, which nobody carries out.

Words are taken for a call only where none came through in the wake: whose server reads calls, and
who has called already, may speak of them."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from adapters.models import faults
from adapters.models.json_objects import dicts
from adapters.models.wording import NUDGES
from domain.ports import Call, Reply, Request

PREFIXES = ("functions.", "default_api.", "default_api:")

_FIRST = json.JSONDecoder()
_LABEL = re.compile(r"\w*+\s*+")
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input")
_MARK = re.compile(
    r"^[ \t]*+(?:<tool_call>|<\|tool_calls?+(?:_(?:section_)?(?:start|begin))?+\|?>|\[TOOL_CALLS\]"
    r"|<\|python_tag\|>|<\uff5ctool\u2581calls\u2581begin\uff5c>|<function=[^>\n]*+>?+"
    r"|<start_function_call>|<function_calls?>|<invoke name=[\"'][^\n>]*+>?+"
    r"|```tool_(?:call|code)s?\b)"
    r"(?=[ \t\r]*+(?:$|[{\[<]|[\w.]++[{(])|[\w.]++[\r\n\[<:])"  # no sentence begins with it
    r"|^[ \t]*+<[|\uff5c]DSML[|\uff5c]"
    r"|\bto=functions\.\w++(?:\s|<\|\w++\|>|commentary|json|code)*+\{",  # harmony
    re.MULTILINE,
)
_CODE = (
    r"^[ \t]*+(?:print\()?(?:functions\.|default_api\.)?(?:%s)\("
    r"(?:[^()\"'\n]|\"(?:[^\"\\\n]|\\.)*+(?:\"|$)|'(?:[^'\\\n]|\\.)*+(?:'|$)|\([^()\n]*+\))*+"
    r"\)*+[ \t;]*+$"
)
"""A line that is such a call, or begins one, and nothing else."""


def made(wishes: Iterable[tuple[Any, str | None, Any]], *, is_older: bool) -> tuple[Call, ...]:
    """The calls of an answer, each of its id, name and arguments. `is_older`: as `openai.1` and
    `gemini.3` read them: name and arguments to the letter, ids whether or not they are told apart.
    """
    known = list(wishes)
    if is_older:
        return tuple(
            Call(name or f"c{place}", tool or "", _text(given))
            for place, (name, tool, given) in enumerate(known, start=1)
        )
    names = ids(name for name, _, _ in known)
    return tuple(
        Call(name, called(tool or ""), ended(_text(given)))
        for name, (_, tool, given) in zip(names, known, strict=True)
    )


def ids(given: Iterable[Any]) -> list[str]:
    """An id for each call: its own, or one by its place where it has none or an earlier one's.

    >>> ids(["a", None, "a", 5])
    ['a', 'c2', 'c3', 'c4']
    """
    found: dict[str, None] = {}
    for place, one in enumerate(given, start=1):
        name = one if isinstance(one, str) and one and one not in found else f"c{place}"
        while name in found:
            name += "_"
        found[name] = None
    return list(found)


def called(name: str) -> str:
    """The name of a tool without what models put before it.

    >>> called(" default_api:update_report")
    'update_report'
    """
    for prefix in PREFIXES:
        name = name.strip().removeprefix(prefix)
    return name.strip()


def ended(arguments: str) -> str:
    """JSON that ends where its object ends; as it is where another object may follow.

    >>> ended('{"a": 1}}<|im_end|>'), ended('{"a": 1}{"a": 2}')
    ('{"a": 1}', '{"a": 1}{"a": 2}')
    """
    text = arguments.lstrip()
    try:
        _, end = _FIRST.raw_decode(text)
    except (ValueError, RecursionError):
        return arguments
    return text[:end] if text.startswith("{") and "{" not in text[end:] else arguments


def _text(given: Any) -> str:
    if isinstance(given, str):
        return given if given.strip() else "{}"  # some servers send none where there are none
    return "{}" if given is None else json.dumps(given, ensure_ascii=False)


# ----------------------------------------------------------------------------- calls that are words


def awaited(request: Request, nudges: int) -> tuple[str, ...]:
    """The tools of which a call may stand among the words of an answer: none where one came through
    already; nor after the last hint, where a person asked in words, as then they are the answer."""
    is_asked = any(section.name == "words" for section in request.user)
    if any(one.results for one in request.exchanges) or (is_asked and nudges == len(NUDGES)):
        return ()
    return tuple(tool.name for tool in request.tools)


def judged(
    table: Mapping[str, faults.Verdict], said: Reply, tools: tuple[str, ...], more: str = ""
) -> Literal["ok", "empty"]:
    """Whether an answer says anything, see `faults.check_finish`. Raises `Trouble`: it is none, or
    its words are a call of these tools."""
    faults.check_finish(table, said, more)
    if tools and not said.calls and is_call(said.text, tools):
        told = "the model wrote a call as words, which its server did not read as one; start the "
        told += "server with the tool parser of this model, or take another model"
        raise faults.malformed(told, "call_as_text")
    return "ok" if said.calls or said.text else "empty"


def is_call(text: str, tools: tuple[str, ...]) -> bool:
    """Whether words are a call that a server should have read.

    >>> is_call('<tool_call>{"name": "x"}', ("x",)), is_call("I call x(1).", ("x",))
    (True, False)
    >>> is_call('So: ```json\\n{"name": "x", "arguments": {}}\\n```', ("x",))
    True
    """
    code = _CODE % "|".join(map(re.escape, tools))
    if _MARK.search(text) or re.search(code, text, re.MULTILINE):
        return True
    return any(_is_wish(one, tools) for one in (text, *text.split("```")[1::2]))


def _is_wish(text: str, tools: tuple[str, ...]) -> bool:
    """Whether a text begins with JSON that names a tool and its arguments."""
    label = _LABEL.match(text)
    try:
        document, _ = _FIRST.raw_decode(text, label.end() if label else 0)
    except (ValueError, RecursionError):
        return False
    if isinstance(document, dict):
        document = document.get("tool_calls", [document])
    for one in dicts(document):
        wish = inner if isinstance(inner := one.get("function"), dict) else one
        names = (called(name) for key in _NAMES if isinstance(name := wish.get(key), str))
        if any(name in tools for name in names) and not wish.keys().isdisjoint(_ARGUMENTS):
            return True
    return False
