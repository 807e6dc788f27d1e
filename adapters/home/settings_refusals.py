"""How a wrong setting is refused: in one line, with the name that is meant, where one is near."""

from collections.abc import Sequence

from domain.errors import Refused

LINE_MAX = 500  # of a message that repeats what was given


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
