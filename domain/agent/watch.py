"""Up to where the journal was turned into notices: the stream ``watch:main`` (DESIGN 5)."""

from msgspec import Struct

from domain.agent.wake_queue_events import JournalTaken
from domain.world import Kind, Recorded


class Watch(Struct, frozen=True):
    """The last journal append taken, by replica."""

    id: str
    taken: dict[str, int] = {}


def evolve(watch: Watch, recorded: Recorded) -> Watch:
    """The watcher's position after one more fact."""
    match recorded.fact:
        case JournalTaken(replica=replica, last=last):
            return Watch(watch.id, {**watch.taken, replica: last})
        case _:
            return watch


WATCH: Kind[Watch] = Kind("watch", Watch, evolve, is_merged=False)
