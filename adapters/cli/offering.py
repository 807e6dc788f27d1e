"""What a person is offered where a home is made."""

import os
from pathlib import Path

import click

from adapters.home import zones

ZONE = "This machine's time zone is {}. Shall the home use it?"


def offer_zone(home: Path, zone: str) -> None:
    """Ask whether a home takes the machine's time zone, where its own is another one."""
    found = zones.other_zone(zone, os.environ)
    if found and click.confirm(ZONE.format(found), default=True, err=True):
        zones.keep_zone(home, found, os.environ)
