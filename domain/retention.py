"""What a log dropped of what can be made again, or is no longer wanted (ADR 109).

STORAGE FORMAT, see `domain.log.wire`. Only payloads go, no row changes: prompts and snapshots of
wakes, which today's code renders again to the same ids, and the bytes of replies, whose text, calls
and tokens stand apart."""

from collections.abc import Iterator
from typing import Literal

from domain.log.wire import PayloadId, Stored
from domain.wake.commands import BeginWake
from domain.wake.wake import WakeStarted

What = Literal["prompts", "replies"]


class Retain(Stored, frozen=True, tag="command.retain.1"):
    """Say that payloads were dropped: `what` older than `until`; `count`: how many, `digest`: of
    their ids, in the order of the log."""

    what: What
    until: str
    count: int
    digest: str


class Retained(Stored, frozen=True, tag="retention.made.1"):
    """Stands in ``log:main``. Of the fields see `Retain`."""

    what: What
    until: str


def prompt_ids(begun: BeginWake | WakeStarted) -> Iterator[PayloadId]:
    """What a wake was shown, and what its tools saw; `specs` are of the code, and stay."""
    yield begun.snapshot
    yield from (ref.payload for ref in (*begun.system, *begun.user))
