"""What lies in a folder: who left what, as far as it is whole. Each file is opened once."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from adapters.sync.have import HAVE, Have, read_have
from adapters.sync.segments import Header, NotWhole, Place, decoded, hint, is_small
from adapters.sync.shelf import Shelf


class Checked(Struct, frozen=True):
    """A file that was found whole, as it was then. `is_small`: others may be put together with
    it, see `compacting`."""

    stamp: str
    header: Header
    is_small: bool = True


class Survey(Struct, frozen=True):
    """`whole`: files by name; `broken`: names of those that are not; `haves`: by writer; `astray`:
    of writers that know a void branch, behind which append of whom it begins."""

    whole: Mapping[str, Checked]
    broken: Sequence[str]
    haves: Mapping[str, Have]
    astray: Mapping[Place, Mapping[str, int]] = {}

    def of(self, place: Place) -> list[tuple[str, Header]]:
        """The whole files of a replica in a log, by their first append."""
        found = [
            (name, one.header) for name, one in self.whole.items() if one.header.place == place
        ]
        return sorted(found, key=lambda one: (one[1].after, one[1].last, one[0]))

    def places(self, log: str) -> list[Place]:
        """Whose appends of a log are offered or told of, in whole files or not."""
        told = {name for have in self.haves.values() for name in have.heads}
        found = {Place(*name.split(":", 1)) for name in told if ":" in name}
        found |= {one.header.place for one in self.whole.values()}
        found |= {known.place for name in self.broken if (known := hint(name))}
        return sorted(one for one in found if one.log == log and one.is_named)


def survey(shelf: Shelf, known: Mapping[str, Checked]) -> Survey:
    """Look at all that is there; what is known already, and as it was, is not opened.

    Raises:
        Refused: The folder cannot be read.
    """
    whole, broken, haves = dict[str, Checked](), list[str](), dict[str, Have]()
    for name, stamp in shelf.files():
        writer, _, file = name.partition("/")
        if file == HAVE:
            if have := read_have(shelf.read(name), writer):
                haves[writer] = have
        elif name in known and known[name].stamp == stamp:
            whole[name] = known[name]
        else:
            try:
                data = shelf.read(name) or b""
                whole[name] = Checked(stamp, decoded(data, name).header, is_small(data))
            except NotWhole:
                broken.append(name)
    return Survey(whole, broken, haves)
