"""Time zones by their names.

The standard library takes zones from the system, and from `tzdata` where the system has none.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import tzdata

from domain.errors import invalid

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


def zone_named(name: str) -> "ZoneInfo":
    """A zone by its IANA name.

    Raises:
        Refused: Code ``invalid_value``, with the nearest names. Names that mean another zone on
            another machine, ``localtime`` for example, are none.
    """
    from zoneinfo import ZoneInfo  # who only looks at the name waits for nothing

    return ZoneInfo(checked(name))


def checked(name: str) -> str:
    """The name of a zone, if it is one; raises as `zone_named` does."""
    if name in _names():
        return name
    from difflib import get_close_matches  # only who mistyped a name waits for it

    known = {one.lower(): one for one in sorted(_names())}
    known |= {one.rpartition("/")[2].lower(): one for one in known.values()}
    near = [known[one] for one in get_close_matches(name[:100].lower(), known, 1, 0.75)]
    hint = f"did you mean {near[0]}?" if near else "use an IANA name, like Europe/Berlin"
    raise invalid(f"{name[:100]!r} is no time zone", hint)


@cache
def _names() -> frozenset[str]:
    listed = Path(tzdata.__path__[0], "zones")
    return frozenset(listed.read_text(encoding="ascii").split())
