"""What `wakelog notify` says: who is told that something waits, and how that went.

What is not there is null; times are RFC 3339 in UTC.
"""

from contextlib import suppress

from msgspec import Struct

from adapters.notify.channels import Channel, channels_of
from adapters.notify.delivery_progress import DeliveryProgress, DeliveryStore
from adapters.notify.notices import What, found_in, message_of
from adapters.wiring import Home
from domain.errors import WakelogError


class ReceiverDetails(Struct, frozen=True):
    """A receiver of notices, ``command`` or ``webhook``. `shown`: the whole command, or the address
    without its path; `allowed`: on this machine, in this folder."""

    receiver: str
    shown: str
    allowed: bool
    delivered_at: str | None
    failed_at: str | None
    failure: str | None


class WaitingTask(Struct, frozen=True):
    """A task for which something waits: ``proposals``, ``paused``, ``consent`` or ``secret``."""

    receiver: str
    task_id: str
    title: str
    what: list[What]
    proposals: int


class NotifyDetails(Struct, frozen=True):
    """What `notify` prints: the settings, and each receiver that they name; `waiting` are the
    tasks that one or the other is still to be told of."""

    quiet: str | None
    every_minutes: int
    signed: bool
    receivers: list[ReceiverDetails]
    waiting: list[WaitingTask]
    changed: bool = False


class TestedReceiver(Struct, frozen=True):
    """A receiver that was told of a test, and what went wrong, if anything."""

    receiver: str
    shown: str
    ok: bool
    failure: str | None


def notify_document(home: Home, *, changed: bool = False) -> NotifyDetails:
    """The document of `notify`; `changed`: what was allowed is another now."""
    notify = home.settings.notify
    return NotifyDetails(
        quiet=notify.quiet or None,
        every_minutes=notify.every_minutes,
        signed=bool(notify.webhook and notify.secret),
        receivers=receivers_of(home),
        waiting=[
            task for one, known in _standing(home) if known for task in _left(home, one, known)
        ],
        changed=changed,
    )


def receivers_of(home: Home) -> list[ReceiverDetails]:
    """The receivers that the settings name, and how each is."""
    return [
        ReceiverDetails(
            receiver=one.name,
            shown=one.shown,
            allowed=known is not None,
            delivered_at=(known.delivered_at or None) if known else None,
            failed_at=(known.failed_at or None) if known else None,
            failure=(known.failure or None) if known else None,
        )
        for one, known in _standing(home)
    ]


def _standing(home: Home) -> list[tuple[Channel, DeliveryProgress | None]]:
    """Each receiver with how far it was told; None where it is not allowed here."""
    if not home.exists:
        return []
    progress = DeliveryStore(home.place.notices())
    found: list[tuple[Channel, DeliveryProgress | None]] = []
    for one in channels_of(home.settings.notify, home.place, {}):
        known: DeliveryProgress | None = None
        with suppress(WakelogError):  # a file that cannot be used allows nobody
            known = progress.allowed(one.name, one.identity)
        found.append((one, known))
    return found


def _left(home: Home, channel: Channel, known: DeliveryProgress) -> list[WaitingTask]:
    """What began to wait since it was told last, and still does."""
    agents = home.services.agents
    if known.n >= agents.tail().n or known.digest != agents.digest_at(known.n):
        return []
    found = [one for rows in agents.came(known.n) for one in found_in(rows)]
    message = message_of(home.services, found, "")
    return [
        WaitingTask(channel.name, one.task_id, one.title or "", one.what, one.proposals)
        for one in (message.waits if message else ())
    ]
