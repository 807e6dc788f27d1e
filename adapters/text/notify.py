"""The answer of `wakelog notify`, in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from adapters.text.common import counted, local_time

if TYPE_CHECKING:
    from adapters.documents.notify import NotifyDetails, ReceiverDetails

EMPTY: Final = """\
Nobody is told when something waits: settings.toml names nobody below [notify].
Set command or webhook there, then say `wakelog notify allow`."""


def notify_lines(document: "NotifyDetails", zone: str) -> Iterator[str]:
    """Each receiver, and when it is told."""
    if not document.receivers:
        yield EMPTY
        return
    for one in document.receivers:
        is_signed = document.signed and one.receiver == "webhook"
        yield f"{one.receiver:8}  {one.shown}{', signed' * is_signed}"
        yield from (f"{'':8}  {line}" for line in _receiver(one, zone))
    hours = f", not in {document.quiet}" if document.quiet else ""
    for task in document.waiting:
        yield f"{'waits':8}  {task.title}, for {task.receiver}: {', '.join(task.what)}"
    yield f"{'told':8}  at most every {counted(document.every_minutes, 'minute')}{hours}"


def why_not_told(one: "ReceiverDetails") -> str:
    """Why a receiver is not told of anything; empty where it is."""
    if not one.allowed:
        return f"{one.receiver} is told nothing on this machine"
    return f"{one.receiver} was not told: {one.failure}" if one.failure else ""


def _receiver(one: "ReceiverDetails", zone: str) -> Iterator[str]:
    if not one.allowed:
        yield "not allowed on this machine: say `wakelog notify allow`"
        return
    yield f"told last {local_time(one.delivered_at, zone)}" if one.delivered_at else "never told"
    if one.failure and one.failed_at:
        yield f"could not be told {local_time(one.failed_at, zone)}: {one.failure}"
