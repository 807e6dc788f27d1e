"""Time zones by their names.

The standard library takes zones from the system, and from `tzdata` where the system has none."""

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import tzdata

from adapters.home import files
from domain.errors import invalid

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


LOCALTIME, ETC_TIMEZONE = Path("/etc/localtime"), Path("/etc/timezone")
PINNED = ("WAKELOG_NOW", files.REPLICA_VARIABLE, "WAKELOG_TIMEZONE")
"""Where one of these is set, a run shall be the same on every machine, or the zone is said."""
_ZONE_LINE = re.compile(r"^(?:# *)?timezone *= *(?:\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)


def zone_named(name: str) -> "ZoneInfo":
    """A zone by its IANA name. Raises Refused, code ``invalid_value``, with the nearest names.
    Names that mean another zone on another machine, ``localtime`` for example, are none."""
    from zoneinfo import ZoneInfo  # who only looks at the name waits for nothing

    return ZoneInfo(checked_zone(name))


def checked_zone(name: str) -> str:
    """The name of a zone, if it is one; raises as `zone_named` does."""
    if name in _zone_names():
        return name
    from difflib import get_close_matches  # only who mistyped a name waits for it

    known = {one.lower(): one for one in sorted(_zone_names())}
    known |= {one.rpartition("/")[2].lower(): one for one in known.values()}
    near = [known[one] for one in get_close_matches(name[:100].lower(), known, 1, 0.75)]
    hint = f"did you mean {near[0]}?" if near else "use an IANA name, like Europe/Berlin"
    raise invalid(f"{name[:100]!r} is no time zone", hint)


@cache
def _zone_names() -> frozenset[str]:
    listed = Path(tzdata.__path__[0], "zones")
    return frozenset(listed.read_text(encoding="ascii").split())


def other_zone(zone: str, environ: Mapping[str, str]) -> str:
    """The machine's time zone, where it is another than a home's; empty where it is not, where it
    is not known, and where the environment says what the zone is or pins the run."""
    found = machine_zone(environ)
    return "" if found == zone or any(environ.get(name) for name in PINNED) else found


def machine_zone(environ: Mapping[str, str]) -> str:
    """The machine's time zone by its IANA name; empty where that is not known.

    >>> machine_zone({"TZ": ":/usr/share/zoneinfo/Europe/Berlin"}), machine_zone({"TZ": "CET-1"})
    ('Europe/Berlin', '')
    """
    told = environ.get("TZ", "").lstrip(":") or os.path.realpath(LOCALTIME)
    if told == str(LOCALTIME):  # a copy of the zone's file, which has no name
        told = ETC_TIMEZONE.read_text("utf-8", "replace").strip() if ETC_TIMEZONE.exists() else ""
    name = told.rpartition("zoneinfo/")[2].removeprefix("posix/").removeprefix("Etc/")
    return name if name in _zone_names() else ""


def with_zone(settings: str, zone: str) -> str:
    """A settings' text with a time zone in it; all else stays. Raises as `checked_zone`."""
    line = f'timezone = "{checked_zone(zone)}"'
    told, count = _ZONE_LINE.subn(line, settings, count=1)
    return told if count else f"{line}\n{settings}"
