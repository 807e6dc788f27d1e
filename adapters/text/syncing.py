"""What a sync did, in words."""

from collections.abc import Iterator, Mapping

from adapters.documents.syncing import Behind, ReplicaLine, SyncReport, WaitsFor
from adapters.text.common import ID_SHOWN, local_time, safe
from adapters.text.reading import counted

REASONS: Mapping[WaitsFor, str] = {
    "gap": "waits for rows that are not here yet",
    "cut short": "waits for a file that is not whole yet",
    "newer": "was written by a newer wakelog: upgrade this one",
    "held": "is held back by the settings",
    "fork": "has two branches: two homes wrote under that name",
}


def sync_lines(did: SyncReport, zone: str) -> Iterator[str]:
    """What was done; who has no label is called by its own name."""

    def called(replica: str) -> str:
        return safe(did.labels.get(replica, replica))

    took = [f"{counted(rows, 'row')} of {called(one)}" for one, rows in did.took.items()]
    gave = counted(did.gave, "row") if did.gave else "nothing"
    yield f"Took {_joined(took) or 'nothing'}; gave {gave}."
    for one in did.new:
        yield f"{called(one)} was not known here before."
    if did.equal:
        equal = _joined([called(one) for one in did.equal])
        digest = f" (digest {did.digest[:ID_SHOWN]})" if did.digest else ""
        yield f"Equal with {equal}{digest}."
    for other in did.behind:
        yield _behind(other, called(other.replica), zone)
    for waits in did.waiting:
        yield f"{called(waits.replica)} {REASONS[waits.for_]} (behind append {waits.n})."
    if did.conflicts:
        yield f"{counted(did.conflicts, 'conflict')}: see `wakelog conflicts`."
    if did.skipped:
        yield f"{counted(did.skipped, 'file')} of the folder could not be read."


def replica_cells(one: ReplicaLine, zone: str) -> tuple[str, ...]:
    """A line of the table of `replicas`."""
    state = "here" if one.own else REASONS[one.for_] if one.for_ else one.state
    if one.retired:
        state = "gone for good"
    state += ", leads" if one.leads else ""
    seen = local_time(one.last_seen, zone)
    return safe(one.label), one.replica, str(one.last_append), seen, state


def _behind(one: Behind, name: str, zone: str) -> str:
    lacks = f"lacked {counted(one.appends, 'append')}" if one.appends else "held something else"
    seen = local_time(one.seen_at, zone)
    clock = f"; its clock is {one.clock_minutes} min ahead" if one.clock_minutes else ""
    return f"{name} {lacks} when it was seen, {seen}{clock}."


def _joined(words: list[str]) -> str:
    *most, last = words or [""]
    return f"{', '.join(most)} and {last}" if most else last
