"""What both doors say of a wake that the gate holds."""

from typing import TYPE_CHECKING

from adapters.text.common import local_time

if TYPE_CHECKING:
    from adapters.documents.policy import HeldWake

HELD = {
    "consent": "waits until you agree to what its model is sent",
    "secret": "waits until the key of its model is set",
}
SEE = "see `wakelog policy show`"


def waits(waits_for: str, until: str, zone: str = "") -> str:
    """What a wake waits for, and until when; `zone`: whose time that is told in.

    >>> waits("provider", "2027-01-01T06:00:00.000000Z", "Europe/Berlin")
    'waits for its provider until 2027-01-01 07:00'
    """
    if waits_for in HELD:
        return f"{HELD[waits_for]}; {SEE}"
    return f"waits for its {waits_for} until {local_time(until, zone) if zone else until}"


def held(one: "HeldWake") -> str:
    """A wake that the gate holds, in one line, with the command that lets it go on."""
    how = f": `{one.command}`" if one.command else f" ({one.model})"
    return f"{one.agent}: {HELD[one.waits_for]}{how}"
