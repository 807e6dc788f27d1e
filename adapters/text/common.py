"""What every text has: times as a person reads them, and nothing that a terminal would obey."""

ID_SHOWN = 8  # characters; enough to tell the ids of a home apart at a glance
_KEPT = "\n\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def safe(text: str) -> str:
    """A text of several lines without control characters that a terminal would obey. Joiners stay:
    Persian, Hindi and emoji are made with them.

    >>> safe("a\\x1b[2J\\u200db")
    'a [2J\\u200db'
    """
    return "".join(char if char.isprintable() or char in _KEPT else " " for char in text)


def one_line(text: str) -> str:
    """A text as one line, without control characters that a terminal would obey."""
    return safe(text).replace("\n", " ")


def local_time(at: str, zone: str) -> str:
    """A stored time as a person in a zone reads it; empty stays empty.

    >>> local_time("2027-01-01T06:00:00.000000Z", "Europe/Berlin")
    '2027-01-01 07:00'
    """
    from zoneinfo import ZoneInfo

    from domain.timestamps import instant

    return instant(at).astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M") if at else ""


def run_shown(run_key: str, length: int = ID_SHOWN) -> str:
    """The beginning of a run key, and whose wake it is where that belongs to its name.

    >>> run_shown("nb5evlz4abcd"), run_shown("nb5evlz4abcd@r2")
    ('nb5evlz4', 'nb5evlz4@r2')
    """
    key, at, replica = run_key.partition("@")
    return f"{key[:length]}{at}{replica}"


def typed(word: str) -> str:
    """A word as a person types it: in quotes where it has a blank or a sign.

    >>> typed("desk/1.1"), typed("my desk/1.1")
    ('desk/1.1', "'my desk/1.1'")
    """
    from shlex import quote

    return quote(word)
