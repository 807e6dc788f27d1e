"""The local times that a model or a person gave to a tool, as instants: the core knows no zones.

Whoever records a call or an edit resolves them here, and what was recorded is never resolved
again: a home may move to another zone, and the rules of a zone change (ADR 41)."""

import re
from collections.abc import Mapping
from typing import Any

from adapters.home.zones import zone_named
from domain.log.timestamps import instant
from domain.scaffold import FEATURES, Features
from domain.tools import registry

_STORED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6}Z")


def instants_of(
    tool: str, arguments: object, zone: str, features: Features = FEATURES[1]
) -> dict[str, str]:
    """The instant of each local time in the arguments of a change, or of a call in a wake with
    these features, by its name."""
    found = registry.local_times(tool, arguments, features)
    if not found:
        return {}
    from adapters.home.schedules import first_shown

    return {name: first_shown(wall, zone) for name, wall in found.items()}


def with_edited_times(
    tool: str, before: Mapping[str, Any], after: dict[str, Any], zone: str
) -> dict[str, Any]:
    """A person's arguments of a change with the instants of their local times.

    A local time that stays as it is stays the instant that it was, wherever the home is now."""
    after = registry.with_instants(tool, after, {})  # nobody gives them but this
    walls, told = registry.local_times(tool, after), registry.local_times(tool, before)
    known = registry.instants_in(tool, before)
    same = {name: known[name] for name in known if told.get(name) == walls.get(name)}
    return registry.with_instants(tool, after, instants_of(tool, after, zone) | same)


def in_local_time(text: str, zone: str) -> str:
    """A text with the instants in it as a person in a zone reads them.

    >>> in_local_time("2027-01-01T06:00:00.000000Z to now", "Europe/Berlin")
    '2027-01-01 07:00 to now'
    """
    there = zone_named(zone)
    return _STORED.sub(lambda at: f"{instant(at[0]).astimezone(there):%Y-%m-%d %H:%M}", text)
