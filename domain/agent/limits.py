"""What a setting, slot, subscription or timer of an agent may be, and how many there may be.

Each check gives the value as it is kept, or raises `Refused`, code ``invalid_value``.
"""

import re
from typing import get_args

from domain import endpoints
from domain.agent.agent import TURN_MAX_LIMIT
from domain.agent.events import Mode
from domain.agent.matching import SEMANTIC_KEYS
from domain.errors import Refused, Remedy, invalid
from domain.text import squeeze
from domain.timestamps import is_moment
from domain.wire import INLINE_MAX_BYTES

NAME_MAX = 200  # characters
LOOP_MAX = 200
LOOPS_MAX = 50
PREFERENCE_NAME_MAX = 60
PREFERENCE_MAX = 200
PREFERENCES_MAX = 50
CATEGORIES_MAX = 50
SUBSCRIPTIONS_MAX = 50
TOKENS_MAX = 20  # of one subscription
TIMERS_MAX = 20
SCHEDULE_MAX = 200
TICKS_MAX = 100  # that one wake names

_MODEL = re.compile(
    r"rules|gemini|gemini:[0-9A-Za-z][0-9A-Za-z._/-]{0,99}|tape:[^\x00-\x1f]{1,200}"
)
_ZONE = re.compile(r"[A-Za-z][0-9A-Za-z_+/-]{0,63}")

TOKEN_FORMS = f"key:{'|'.join(SEMANTIC_KEYS)}, sub:note:transcript or id:ID of a task"


def at_most(limit: int, count: int, what: str) -> None:
    if count > limit:
        raise invalid(f"that makes {count} {what}", f"keep to {limit} at most")


def once(what: str, values: list[str]) -> list[str]:
    if len(set(values)) < len(values):
        raise invalid(f"a {what} is named twice", "name each one once")
    return values


def text(what: str, given: str, length_max: int) -> str:
    kept = squeeze(given)
    if not 1 <= len(kept) <= length_max:
        raise invalid(f"{what} has {len(kept)} characters", f"use 1 to {length_max}")
    return kept


def name(given: str) -> str:
    return text("an agent's name", given, NAME_MAX)


def goal(given: str) -> str:
    kept = given.strip(" \t\r\n")
    if (size := len(kept.encode())) > INLINE_MAX_BYTES:
        raise invalid(f"the goal has {size} bytes", f"keep to {INLINE_MAX_BYTES} at most")
    return kept


def mode(given: str) -> Mode:
    modes: tuple[Mode, ...] = get_args(Mode)
    for known in modes:
        if given == known:
            return known
    raise invalid(f"{given!r} is no mode", f"use one of {', '.join(modes)}")


def model(given: str) -> str:
    if found := endpoints.named(given):
        return found.name
    if given and _MODEL.fullmatch(given) is None:
        shown = given.partition("@")[0]  # what comes behind it may be a password
        raise invalid(f"{shown!r} is no model", f"use {endpoints.MODELS}")
    return given


def turn_max(given: int) -> int:
    if not 1 <= given <= TURN_MAX_LIMIT:
        raise invalid(f"{given} turns in a wake", f"use 1 to {TURN_MAX_LIMIT}")
    return given


def categories(given: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(sorted(set(given)))
    if not kept or "" in kept:
        raise invalid("an agent without a category may touch nothing", "name a category")
    at_most(CATEGORIES_MAX, len(kept), "categories")
    return kept


def zone(given: str) -> str:
    if _ZONE.fullmatch(given) is None:
        raise invalid(f"{given!r} is no time zone", "use an IANA name, like Europe/Berlin")
    return given


def stored_time(given: str) -> str:
    if not is_moment(given):
        raise invalid(f"{given!r} is no time", "use UTC, 2027-01-01T00:00:00.000000Z")
    return given


def named(wanted: str, known: list[str], what: str) -> str:
    """The one of the known ids that is meant: the id itself, or an unambiguous beginning."""
    found = [one for one in known if one == wanted] or [
        one for one in known if wanted and one.startswith(wanted)
    ]
    if len(found) == 1:
        return found[0]
    instead = Remedy("see_agent")
    if found:
        because = f"{wanted!r} begins {len(found)} {what}s"
        raise Refused("ambiguous", because=because, instead=instead)
    raise invalid(f"the agent has no {what} {wanted!r}", instead)
