"""Up to where the journal was turned into notices: the stream ``watch:main`` (DESIGN 5)."""

from msgspec import Struct

from domain.agent.wake_queue_events import JournalTaken
from domain.world import MAIN, Kind, Recorded, World


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


def taken_of(world: World, replica: str) -> int:
    """Up to which append a replica's journal was taken; of a long stream its last row tells."""
    newest = world.newest(WATCH.name, MAIN)
    match newest.fact if newest else None:
        case JournalTaken(replica=of, last=last) if of == replica:
            return last
        case _:
            return world.load(WATCH, MAIN).taken.get(replica, 0)
