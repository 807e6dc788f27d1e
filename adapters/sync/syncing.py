"""The one deed: take what others left in a folder, then leave what they do not have (ADR 72)."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from adapters.documents.syncing import Behind, ReplicaLine, SyncReport, Waiting
from adapters.store.log import Log
from adapters.sync import have as haves
from adapters.sync.branches import dead_files, given_up, held_of, without
from adapters.sync.giving import files_of, not_offered, rows_in
from adapters.sync.have import HAVE, Have, have_of
from adapters.sync.memory import Kept
from adapters.sync.shelf import Shelf
from adapters.sync.survey import Survey, survey
from adapters.sync.taking import Taking, Told
from domain.errors import Refused
from domain.timestamps import instant

RESCUE = "run `wakelog replicas rescue` here; nothing was changed"
TEXT = b"""Here the machines of one wakelog home meet. Each writes in a folder of its own, and no
file ever changes but have.json. Let any tool carry this folder; delete nothing. `wakelog sync` in
a home takes what is new here and leaves what others lack.
"""


class Synced(NamedTuple):
    """What was done, and what to keep for the next time."""

    report: SyncReport
    kept: Kept


def sync(
    logs: Sequence[Log],
    shelf: Shelf,
    now: str,
    kept: Kept,
    *,
    hold: Collection[str] = (),
    told: Told = lambda _: None,
    is_dry: bool = False,
) -> Synced:
    """Take, then give.

    Args:
        logs: Those that travel, the journal first.
        shelf: The folder.
        now: The present.
        kept: What the last sync kept.
        hold: Replicas of which nothing more is taken.
        told: Is told how many rows came.
        is_dry: Only look.

    Raises:
        Refused: Code ``another_home``, ``forked_replica``; ``read_only``: the folder cannot be
            written, and what was taken stays; ``unreadable_file``.
    """
    there = survey(shelf, kept.checked if kept.folder == shelf.name else {})
    void = given_up(there, kept.void)
    if dead := [one for log in logs for one in held_of(log, void)]:
        because = f"a branch of {dead[0].replica} that is here was given up where it was written"
        raise Refused("forked_replica", because=because, instead=RESCUE)
    found = without(there, void)
    takings = takings_of(logs, shelf, found, hold)
    if not all(one.is_related() for one in takings):
        because = f"{shelf.name} is the folder of another home, with other tasks"
        raise Refused("another_home", because=because, instead="name the folder of this one")
    for one in takings:
        if not is_dry and not one.log.is_shared:
            one.log.share(now)
        one.take(now, told, is_dry=is_dry)
    replica = logs[0].replica
    known = found.haves.get(replica)
    label = kept.label or (known.label if known else "")
    try:
        if not is_dry:
            shelf.begin(TEXT)
        # agents first: what they name of the journal is there by then
        each = (_given(one, found, shelf, replica, is_dry=is_dry) for one in takings[::-1])
        gave = sum(each)
        mine = have_of(logs, replica, label, now, void)
        if not is_dry and haves.is_news(mine, known):
            shelf.write(f"{replica}/{HAVE}", haves.written(mine))
        for name in dead_files(there, found, (replica, *kept.was)) if not is_dry else ():
            shelf.remove(name)
    except OSError as error:
        took = sum(sum(one.took.values()) for one in takings)
        because = (
            f"{shelf.name} cannot be written: {error.strerror or error}; {took} rows were taken"
        )
        instead = "free space, or give yourself permission, and repeat it"
        raise Refused("read_only", because=because, instead=instead) from None
    report = _report(takings, mine, gave, found)
    labels = {**kept.labels, **report.labels}
    return Synced(report, Kept(label, shelf.name, there.whole, labels, void, kept.was))


def takings_of(
    logs: Sequence[Log], shelf: Shelf, found: Survey, hold: Collection[str] = ()
) -> list[Taking]:
    """What takes in each log: the journal, and the agent log, if it travels."""
    journal, *others = logs
    first = Taking(journal, shelf, found, hold)
    return [first, *(Taking(log, shelf, found, hold, first) for log in others)]


def replicas(logs: Sequence[Log], shelf: Shelf, now: str, kept: Kept) -> list[ReplicaLine]:
    """All writers that are known here or in the folder, this home first."""
    there = survey(shelf, kept.checked if kept.folder == shelf.name else {})
    found = without(there, given_up(there, kept.void))
    takings = takings_of(logs, shelf, found)
    for one in takings:
        one.take(now, lambda _: None, is_dry=True)
    mine = have_of(logs, logs[0].replica, kept.label, now)
    waiting = {one.replica: one for taking in takings for one in taking.waiting()}
    last = {name: tail.n for name, tail in logs[0].heads().items()}
    names = sorted({*last, *found.haves, *waiting} - {mine.replica})
    return [
        _line(name, mine, found.haves.get(name), waiting.get(name), last.get(name, 0))
        for name in (mine.replica, *names)
    ]


def _line(
    name: str, mine: Have, other: Have | None, waits: Waiting | None, last: int
) -> ReplicaLine:
    is_own = name == mine.replica
    if is_own:
        return ReplicaLine(name, mine.label, True, last, mine.at, "equal")
    if waits:
        seen = (other.label, other.at) if other else ("", "")
        return ReplicaLine(name, seen[0], False, last, seen[1], "waits", waits.for_)
    if other is None:
        return ReplicaLine(name, "", False, last, "", "behind")
    is_equal = other.digest == mine.digest
    return ReplicaLine(name, other.label, False, last, other.at, "equal" if is_equal else "behind")


def _given(taking: Taking, found: Survey, shelf: Shelf, replica: str, *, is_dry: bool) -> int:
    """Offer what nobody offers; how many rows. Raises OSError."""
    runs = not_offered(taking.log, found, taking.forked)
    rows = sum(rows_in(taking.log, one) for one in runs)
    for run in runs if not is_dry else ():
        for header, data in files_of(taking.log, run):
            shelf.write(f"{replica}/{header.name}", data)
    return rows


def _report(takings: Sequence[Taking], mine: Have, gave: int, found: Survey) -> SyncReport:
    others = [have for name, have in sorted(found.haves.items()) if name != mine.replica]
    took: dict[str, int] = {}
    for taking in takings:
        for name, rows in taking.took.items():
            took[name] = took.get(name, 0) + rows
    behind = [_behind(one, mine, takings) for one in others if one.digest != mine.digest]
    return SyncReport(
        mine.replica,
        dict(sorted(took.items())),
        gave,
        mine.digest,
        [one.replica for one in others if one.digest == mine.digest],
        behind,
        [waits for taking in takings for waits in taking.waiting()],
        sorted({name for one in takings for name in one.took.keys() - one.known}),
        {one.replica: one.label for one in (mine, *others) if one.label},
        len(found.broken),
    )


def _behind(other: Have, mine: Have, takings: Iterable[Taking]) -> Behind:
    lacks = sum(
        1
        for taking in takings
        for name in taking.log.telling_heads()
        for rows in taking.log.appends_of(name, _known(other, taking.log, name))
        if not rows[0].stream.startswith("log:")
    )
    ahead = (instant(other.at) - instant(mine.at)).total_seconds()
    return Behind(other.replica, other.label, lacks, other.at, max(int(ahead // 60), 0))


def _known(other: Have, log: Log, replica: str) -> int:
    """Up to which append another holds a chain."""
    head = other.heads.get(f"{log.name}:{replica}")
    return head.n if head else 0
