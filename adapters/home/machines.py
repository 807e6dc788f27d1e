"""What the machines of a synced home are called, as the last sync kept it."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

SYNC_FILE = "sync.json"  # of a home, see `adapters.sync.memory`


class _Named(Struct, frozen=True):
    """The part of the file that names machines."""

    label: str = ""
    labels: Mapping[str, str] = {}


def machine_names(home: Path, own: str) -> Mapping[str, str]:
    """Labels by replica, of those that have one; the `own` one is ``here`` without."""
    named = _Named()
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        named = msgspec.json.decode((home / SYNC_FILE).read_bytes(), type=_Named)
    return {**named.labels, own: named.label or "here"}
