"""Homes of a database in words."""

from adapters.documents.homes import HomeStanding
from adapters.text.common import local_time


def standing(one: HomeStanding) -> str:
    """How a home stands.

    >>> standing(HomeStanding("anna", "open", None, True, None, None))
    'due'
    """
    if one.state != "open":
        return one.state
    if one.held_until:
        return f"in trouble, left alone until {local_time(one.held_until, 'UTC')}"
    if one.limited_until:
        return f"waits until {local_time(one.limited_until, 'UTC')}: no model may be asked before"
    return "due" if one.due else "quiet"
