"""What a person sets of notices: who is told that something waits, and when (ADR 44)."""

import re
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

_HOURS = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]")
_VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,99}")
LOOPBACK = re.compile(r"localhost|127(\.[0-9]{1,3}){3}|::1")


class Notify(Struct, frozen=True):
    """Who is told. `command`: a program and its arguments; `webhook`: an address; `secret`:
    ``env:NAME``, what signs the webhook's body; `quiet`: ``22:00-07:00``, in the home's zone."""

    command: tuple[str, ...] = ()
    webhook: str = ""
    secret: str = ""
    quiet: str = ""
    every_minutes: Annotated[int, Meta(ge=0, le=1_440)] = 15


class Wrong(NamedTuple):
    """What is wrong with a setting, after its table's name, and what to do."""

    because: str
    instead: str


def wrong_with(notify: Notify) -> Wrong | None:
    """The first setting that cannot be used; None where all can."""
    if notify.command and not notify.command[0].strip():
        return Wrong("command: it names no program", 'write it as in ["my-notifier", "--now"]')
    if any("\0" in one for one in notify.command):
        return Wrong("command: it holds a NUL character", "remove it")
    if notify.quiet and not _are_hours(notify.quiet):
        told = f"quiet: {notify.quiet!r} is no span of hours"
        return Wrong(told, 'write two different times of day, as in "22:00-07:00"')
    if notify.secret and _VARIABLE.fullmatch(notify.secret) is None:
        told = "secret: it names no variable of the environment"  # not repeated: it may be one
        return Wrong(told, 'write "env:NAME", and set NAME where `wakelog run` is started')
    return _wrong_address(notify.webhook) if notify.webhook else None


def _are_hours(quiet: str) -> bool:
    start, _, end = quiet.partition("-")
    return _HOURS.fullmatch(quiet) is not None and start != end


def _wrong_address(webhook: str) -> Wrong | None:
    """An address is not repeated: its path may be a secret."""
    from urllib.parse import urlsplit

    no_address = Wrong("webhook: it is no web address", "write one like https://host/path")
    try:
        parts = urlsplit(webhook)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return no_address
    is_good = parts.scheme in ("http", "https") and host and webhook.isascii()
    if not is_good or not webhook.isprintable() or " " in webhook:
        return no_address
    if "@" in parts.netloc or parts.fragment:
        told = "webhook: it holds a name, a password or a fragment"
        return Wrong(told, "give the address alone; `secret` signs what is sent")
    if parts.scheme == "http" and LOOPBACK.fullmatch(host or "") is None:
        told = "webhook: http is for this machine alone"
        return Wrong(told, "use https, or an address like http://127.0.0.1:8000/")
    return None
