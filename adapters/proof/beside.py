"""Which row of an append that was recorded anew is which one of the append that it was."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

from domain.world import Recorded


def beside(
    was: Sequence[Recorded], made: Sequence[Recorded], ids: Mapping[str, str]
) -> list[Recorded]:
    """The rows made, each at the place of the one it was.

    Where an append tells of several agents, they come in the order of their ids, which are others
    now. So a row goes first to where its stream was, then by its kind to a place that is left.

    Args:
        was: The rows of the recorded append.
        made: As many of each kind.
        ids: What is known already of which id became which.
    """
    streams: dict[object, deque[Recorded]] = defaultdict(deque)
    for row in made:
        streams[row.of_kind, row.entity, type(row.fact)].append(row)
    wanted = [streams[one.of_kind, ids.get(one.entity, ""), type(one.fact)] for one in was]
    found = [stream.popleft() if stream else None for stream in wanted]
    left: dict[str, deque[Recorded]] = defaultdict(deque)
    gone = {id(one) for one in found}
    for row in made:
        if id(row) not in gone:
            left[row.of_kind].append(row)
    return [one or left[was[nth].of_kind].popleft() for nth, one in enumerate(found)]
