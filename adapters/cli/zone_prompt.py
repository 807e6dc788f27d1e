"""What a person is offered where a home is made."""

import os
from typing import TYPE_CHECKING

import click

from adapters.home import zones
from adapters.home.home_location import keep_zone

if TYPE_CHECKING:
    from adapters.home.home_location import HomeLocation

ZONE = "This machine's time zone is {}. Shall the home use it?"


def offer_zone(place: "HomeLocation", zone: str) -> None:
    """Ask whether a home takes the machine's time zone, where its own is another one."""
    found = zones.other_zone(zone, os.environ)
    if found and click.confirm(ZONE.format(found), default=True, err=True):
        keep_zone(place, found, os.environ)
