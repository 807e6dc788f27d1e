"""Copies a log from one store to another, append by append, as it stands (ADR 66)."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from adapters.store.log import Log
from adapters.store.recorder import LogRecorder, by_append, numbered
from domain.append.envelope import Row
from domain.errors import Refused
from domain.log.wire import Payload, PayloadId

APPENDS_A_PAGE = 500
NAMED = re.compile(rb"[a-z2-7]{32}")
"""What may be the id of a payload in the bytes of a row."""

ReadPayloads = Callable[[Sequence[PayloadId]], Sequence[tuple[PayloadId, bytes]]]

CopyProgress = Callable[[str, int, int], None]
"""``told(log, n, of)``: so far has the copy come."""


def copy_log(source: Log, target: Log, told: CopyProgress) -> None:
    """Copy what the target does not have yet; a copy that was cut off goes on. Raises Refused, code
    ``other_past``: what stands in the target is no beginning of the source; ``not_shared``: several
    machines share the source."""
    if source.is_shared:
        because = "this home is shared, and a copy under its name would fork it"
        raise Refused("not_shared", because=because, instead="sync a new home with its folder")
    check_beginning(source, target)
    end, known = source.tail(), target.tail()
    appends = by_append(source.rows(known.n))
    copy_appends(appends, source, target.recorder, lambda n: told(source.name, n, end.n))


def check_beginning(source: Log, target: Log) -> None:
    """Look whether a log begins with all that another one holds. Raises Refused, code
    ``other_past``."""
    known = target.tail()
    if known.n and source.digest_at(known.n) != known.digest:
        because = f"the {source.name} log there is no beginning of the one here"
        raise Refused("other_past", because=because, instead="name a new home to copy to")


def copy_appends(
    appends: Iterator[Sequence[Row]],
    source: Log,
    target: LogRecorder,
    told: Callable[[int], None] = lambda _: None,
) -> None:
    """Copy these appends with the payloads that they name, page by page; `told` hears the number of
    the last one of each."""
    while page := list(islice(appends, APPENDS_A_PAGE)):  # bounded by the source
        with target.deciding():
            for rows, payloads in with_payloads(source.payloads, page):
                target.insert(rows, payloads)
        told(numbered(page[-1][0].state).n)


def differs(source: Log, target: Log) -> str:
    """What of two logs is not the same, in words; empty where all is."""
    end, there = source.tail(), target.tail()
    if end != there:
        return f"the {source.name} log ends at append {end.n}, its copy at {there.n}"
    if list(source.append_at(end.n)) != list(target.append_at(end.n)):  # a head tells no rows
        return f"append {end.n} of the {source.name} log is another one in its copy"
    rows, copied = source.count(), target.count()
    return "" if rows == copied else f"{rows} rows of the {source.name} log came to {copied}"


def with_payloads(
    read: ReadPayloads, page: Iterable[Sequence[Row]]
) -> Iterator[tuple[Sequence[Row], list[Payload]]]:
    """Each append with the payloads that it names first in the page."""
    given: set[PayloadId] = set()
    for rows in page:
        found = {PayloadId(one.decode()) for row in rows for one in NAMED.findall(row.state)}
        wanted = sorted(found - given)
        given |= found
        yield rows, [Payload(*one) for one in read(wanted)] if wanted else []
