"""How a wrong setting is refused: in one line, with the name that is meant, where one is near."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from domain.errors import Refused

LINE_MAX = 500  # of a message that repeats what was given
_SECRET_NAME = re.compile(r"api.?key|^key$|secret|password|credential")
_NAMES_A_PLACE = re.compile(r"notify\.secret|openai\.key|models\.[^.]+\.key")
_SECRET_VALUE = re.compile(r"AIza[0-9A-Za-z_-]{30,}|\bsk-[0-9A-Za-z_-]{20,}")


def near(name: str, known: Sequence[str]) -> str:
    """The known name that is meant, by what stands behind table or prefix; else empty."""
    by_end = {_end(one): one for one in reversed(known)}
    from difflib import get_close_matches  # only who mistyped a name waits for it

    found = get_close_matches(_end(name[:100]), by_end, 1, 0.65)
    return by_end[found[0]] if found else ""


def _end(name: str) -> str:
    return name.rpartition(".")[2].removeprefix("WAKELOG_")


def unknown(what: str, meant: str, known: str) -> Refused:
    """A key or variable that there is not; `meant`: a near one, or empty."""
    instead = f"did you mean {meant}?" if meant else f"known are {known}"
    return Refused("unknown_setting", because=f"{_line(what)} is not known", instead=instead)


def invalid(because: str, instead: str) -> Refused:
    """A value that cannot be used."""
    return Refused("invalid_value", because=_line(because), instead=instead)


def _line(text: str) -> str:
    """One line, whatever a quoted key or a path may hold."""
    return "".join(char if char.isprintable() else "?" for char in text[:LINE_MAX])


def refuse_secrets(table: Mapping[str, Any], path: str) -> None:
    """See that a table holds no key of a provider. Raises Refused."""
    for name, value in _leaves(table):
        last = name.rpartition(".")[2].lower()
        if _NAMES_A_PLACE.fullmatch(name):
            continue  # where a secret is kept, and nothing else is taken
        if _SECRET_NAME.search(last) or (
            isinstance(value, str) and _SECRET_VALUE.search(value) is not None
        ):
            raise invalid(
                f"{path}: {name} looks like an API key, and keys are not read from files",
                "remove it, and set GEMINI_API_KEY or OPENAI_API_KEY, or use the system's keyring",
            )


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
