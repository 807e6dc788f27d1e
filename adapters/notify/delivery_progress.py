"""Up to where each receiver of notices was told, beside leases or in the database (ADR 44).

A row is there once a person has allowed the receiver, and goes with the file: then nobody is told
of anything before it is allowed again, from that moment on."""

from os import getpid

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.store.leases import is_running, place
from adapters.store.notice_rows import NoticeRows, NoticeTransaction
from domain.log.timestamps import later

CLAIM_SECONDS = 60  # more than all tries of one delivery take


class DeliveryProgress(Struct, frozen=True, omit_defaults=True):
    """Where a receiver stands. `allowed`: what was allowed, see `channels.identity`; `n`, `digest`:
    the append of the agent log that was told last; `until`: where the delivery under way ends,
    under its `id`; `pid`, `place`, `expires`: who is at it."""

    allowed: str
    n: int
    digest: str
    until: int = 0
    until_digest: str = ""
    id: str = ""
    pid: int = 0
    place: str = ""
    expires: str = ""
    delivered_at: str = ""
    delivered_id: str = ""
    failed_at: str = ""
    failure: str = ""

    def is_claimed(self, now: str) -> bool:
        """Whether another process that lives is delivering."""
        if not self.pid or self.expires <= now:
            return False
        return self.place != place() or (self.pid != getpid() and is_running(self.pid))


class DeliveryStore:
    """The progress of all receivers of a home."""

    def __init__(self, rows: NoticeRows) -> None:
        self._rows = rows

    def load(self, name: str) -> DeliveryProgress | None:
        """How far a receiver was told; None where it was never allowed here."""
        if not self._rows.exists():
            return None
        with self._rows.transaction(is_writing=False) as rows:
            return _read(rows, name)

    def allowed(self, name: str, identity: str) -> DeliveryProgress | None:
        """How far a receiver was told that is allowed as it is now; else None."""
        known = self.load(name)
        return known if known is not None and known.allowed == identity else None

    def save(self, name: str, progress: DeliveryProgress) -> None:
        """Begin anew, as a receiver is allowed, or the log is another one."""
        with self._rows.transaction() as rows:
            _write(rows, name, progress)

    def forget(self, name: str) -> bool:
        """Take back that a receiver is allowed; whether it was."""
        if not self._rows.exists():
            return False
        with self._rows.transaction() as rows:
            return rows.drop(name)

    def move(self, name: str, seen: DeliveryProgress, n: int, digest: str) -> None:
        """Nothing up to append n is to be told; not where another process has gone on."""
        with self._rows.transaction() as rows:
            if _read(rows, name) == seen:
                _write(rows, name, replace(seen, n=n, digest=digest))

    def claim(
        self, name: str, seen: DeliveryProgress, wanted: DeliveryProgress, now: str
    ) -> DeliveryProgress | None:
        """Take what comes next for delivery; None where another process was faster. A delivery that
        was begun and never ended, as its process is gone, is begun again: the same appends, under
        the same id."""
        with self._rows.transaction() as rows:
            known = _read(rows, name)
            if known is None or known != seen or known.is_claimed(now):
                return None
            span, ends = known if known.until else wanted, later(now, seconds=CLAIM_SECONDS)
            made = replace(span, pid=getpid(), place=place(), expires=ends)
            _write(rows, name, made)
            return made

    def delivered(self, name: str, claimed: DeliveryProgress, now: str) -> None:
        """The receiver answered, or nothing of it waited any more (`now` is empty)."""
        done = replace(_freed(claimed), n=claimed.until, digest=claimed.until_digest, until=0)
        done = replace(done, id="", until_digest="", failed_at="", failure="")
        if now:
            done = replace(done, delivered_at=now, delivered_id=claimed.id)
        self._end(name, claimed, done)

    def failed(self, name: str, claimed: DeliveryProgress, now: str, failure: str) -> None:
        """No try was answered; it is kept, for the next round."""
        self._end(name, claimed, replace(_freed(claimed), failed_at=now, failure=failure))

    def _end(self, name: str, claimed: DeliveryProgress, done: DeliveryProgress) -> None:
        with self._rows.transaction() as rows:
            if _read(rows, name) == claimed:  # not withdrawn, nor taken over, meanwhile
                _write(rows, name, done)


def _freed(claimed: DeliveryProgress) -> DeliveryProgress:
    return replace(claimed, pid=0, place="", expires="")


def _read(rows: NoticeTransaction, name: str) -> DeliveryProgress | None:
    found = rows.get(name)
    return None if found is None else msgspec.json.decode(found, type=DeliveryProgress)


def _write(rows: NoticeTransaction, name: str, progress: DeliveryProgress) -> None:
    rows.put(name, msgspec.json.encode(progress))
