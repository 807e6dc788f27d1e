"""Branches of a chain: where two part, which one was given up, and what rests on it (ADR 74)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from msgspec.structs import replace

from adapters.store.log import Log
from adapters.store.recorder import numbered
from adapters.sync.manifest import MANIFEST_FILE, AbandonedBranch, ChainHead, Manifest
from adapters.sync.scan import FolderScan
from adapters.sync.segments import ChainId, IncompleteSegment, SegmentHeader, decode_segment
from adapters.sync.sync_folder import SyncFolder
from domain.append import envelope
from domain.append.causes import ReplicasImported
from domain.errors import Refused
from domain.log.state import MAIN


def abandoned_branches(
    found: FolderScan, kept: Iterable[AbandonedBranch] = ()
) -> tuple[AbandonedBranch, ...]:
    """All branches that are told to be void, here or in the folder."""
    told = [one for have in found.haves.values() for one in have.void]
    return tuple(sorted({*kept, *told}, key=lambda one: (*one.place, one.after, one.head, one.by)))


def without_branches(found: FolderScan, void: Collection[AbandonedBranch]) -> FolderScan:
    """What lies in a folder but for void branches: their files, and what is told of them. The last
    append of such a file is one of the branch."""
    if not void:
        return found
    dead: dict[ChainId, set[str]] = {}
    for one in void:
        dead.setdefault(one.place, set()).update(one.digests, (one.head,))
    files = ((name, one, dead.get(one.header.place, ())) for name, one in found.whole.items())
    whole = {name: one for name, one, gone in files if one.header.head not in gone}
    haves = {writer: _living_manifest(have, dead) for writer, have in found.haves.items()}
    astray: dict[ChainId, dict[str, int]] = {}
    for writer, have in found.haves.items():
        for one in void:
            head = have.heads.get(":".join(one.place))
            if head and head.digest in dead[one.place]:
                astray.setdefault(ChainId(one.log, writer), {})[one.replica] = one.after
    return replace(found, whole=whole, haves=haves, astray=astray)


def dead_files(there: FolderScan, living: FolderScan, own: Collection[str]) -> list[str]:
    """What lies in a folder and is dead, in places of writers of these names: segments of void
    branches, and what was told by who wrote such a one. `living`: what lies `there`, without what
    is void."""
    files = there.whole.keys() - living.whole.keys()
    told = [
        f"{writer}/{MANIFEST_FILE}"
        for writer, have in there.haves.items()
        if any(one.endswith(f":{writer}") for one in have.heads.keys() - living.haves[writer].heads)
    ]
    return sorted(name for name in (*files, *told) if name.partition("/")[0] in own)


def held_branches(log: Log, void: Collection[AbandonedBranch]) -> list[AbandonedBranch]:
    """The void branches of which a log holds the beginning, at least."""
    heads = log.heads() if void else {}
    return [
        one
        for one in void
        if one.log == log.name
        and one.replica in heads
        and heads[one.replica].n > one.after
        and envelope.digest(next(log.appends_of(one.replica, one.after))) in one.digests
    ]


def fork_point(log: Log, shelf: SyncFolder, found: FolderScan) -> int | None:
    """Up to which append a log's own chain is the one that others know; None: they know no other.
    Raises Refused, code ``forked_replica``: what another home wrote is not here yet."""
    place = ChainId(log.name, log.replica)
    files = [(name, one) for name, one in found.of(place) if not _holds(log, one.last, one.head)]
    told = [one for have in found.haves.values() if (one := have.heads.get(":".join(place)))]
    if not files and all(_holds(log, one.n, one.digest) for one in told):
        return None
    agreed = [n for name, one in files if (n := _last_agreed(log, shelf, name, one)) is not None]
    if not agreed:
        because = f"what another home wrote under the name {log.replica} is not here yet"
        instead = "let all files of the folder arrive, then repeat it; nothing was changed"
        raise Refused("forked_replica", because=because, instead=instead)
    return max(agreed)


def known_elsewhere(log: Log, logs: Sequence[Log], found: FolderScan, began: str) -> int:
    """Up to which append of this log, in which no other branch is known yet, another home has the
    chain that it forked in another one of the `logs`. `began`: when the branch did.

    What it tells itself it told after the split, so all before that is in it. Where it tells
    nothing, what was written here after the first append of the branch is of the branch, too, but
    for what others hold: in a log of which nobody knows another branch they may keep it."""
    have = found.haves.get(log.replica)
    if have and any(_knows_other_branch(one, have) for one in logs):
        return have.head(log.name, log.replica).n
    others = (one.head(log.name, log.replica) for one in found.haves.values())
    held = (one.n for one in others if _holds(log, one.n, one.digest))
    chain = (numbered(rows[0].state) for rows in log.appends_of(log.replica, 0))
    return max([0, *held, *(one.n for one in chain if one.at < began)])


def _knows_other_branch(log: Log, have: Manifest) -> bool:
    """Whether somebody knows another branch of a log's own chain."""
    head = have.heads.get(f"{log.name}:{log.replica}")
    return head is not None and not _holds(log, head.n, head.digest)


def dependent_chains(log: Log, dead: Mapping[str, int]) -> dict[str, int]:
    """Where chains end that have no dead part, by replica, of those that are not whole. `dead`: up
    to which append chains are good whose rest is dead; whoever names such a rest in a marker knew
    it, so what it wrote from there on rests on it."""
    good = dict(dead)
    markers = [
        (row.replica, row.n, row.fact.replicas)
        for replica in log.heads()
        for row in log.facts(f"log:{MAIN}@{replica}")
        if isinstance(row.fact, ReplicasImported)
    ]
    grows = True
    while grows:  # bounded by the markers
        grows = False
        for replica, n, named in markers:
            knew = any(one.n > good.get(one.replica, one.n) for one in named)
            if knew and good.get(replica, n) >= n:
                good[replica] = n - 1
                grows = True
    return good


def _living_manifest(have: Manifest, dead: Mapping[ChainId, Collection[str]]) -> Manifest:
    def living(heads: Mapping[str, ChainHead]) -> dict[str, ChainHead]:
        named = {ChainId(*name.split(":", 1)): name for name in heads if ":" in name}
        return {
            name: heads[name]
            for place, name in named.items()
            if heads[name].digest not in dead.get(place, ())
        }

    return replace(have, heads=living(have.heads), told=living(have.told))


def _last_agreed(log: Log, shelf: SyncFolder, name: str, header: SegmentHeader) -> int | None:
    """The last append of a file that stands in a log, too; None where it begins behind that."""
    if header.after and not _holds(log, header.after, header.prev):
        return None
    try:
        appends = decode_segment(shelf.read(name) or b"", name).appends
    except IncompleteSegment:
        return None
    ends = ((numbered(rows[0].state).n, envelope.digest(rows)) for rows, _ in appends)
    return max([header.after, *(n for n, _ in takewhile(lambda one: _holds(log, *one), ends))])


def _holds(log: Log, n: int, digest: str) -> bool:
    return log.digest_at(n) == digest
