"""What lies in a folder: who left what, as far as it is whole. Each file is opened once."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from adapters.sync.manifest import MANIFEST_FILE, Manifest, read_manifest
from adapters.sync.segments import (
    ChainId,
    IncompleteSegment,
    SegmentHeader,
    decode_segment,
    is_small,
    parse_segment_name,
)
from adapters.sync.sync_folder import SyncFolder


class CheckedFile(Struct, frozen=True):
    """A file that was found whole, as it was then. `is_small`: others may be put together with
    it, see `export`."""

    stamp: str
    header: SegmentHeader
    is_small: bool = True


class FolderScan(Struct, frozen=True):
    """`whole`: files by name; `broken`: names of those that are not; `haves`: by writer; `astray`:
    of writers that know a void branch, behind which append of whom it begins; `mute`: writers
    whose `have.json` is not as they wrote it."""

    whole: Mapping[str, CheckedFile]
    broken: Sequence[str]
    haves: Mapping[str, Manifest]
    astray: Mapping[ChainId, Mapping[str, int]] = {}
    mute: Sequence[str] = ()

    def of(self, place: ChainId) -> list[tuple[str, SegmentHeader]]:
        """The whole files of a replica in a log, by their first append."""
        every = ((name, one.header) for name, one in self.whole.items())
        found = (one for one in every if one[1].place == place)
        return sorted(found, key=lambda one: (one[1].after, one[1].last, one[0]))

    def places(self, log: str) -> list[ChainId]:
        """Whose appends of a log are offered or told of, in whole files or not."""
        told = {name for have in self.haves.values() for name in have.heads}
        found = {ChainId(*name.split(":", 1)) for name in told if ":" in name}
        found |= {one.header.place for one in self.whole.values()}
        found |= {known.place for name in self.broken if (known := parse_segment_name(name))}
        return sorted(one for one in found if one.log == log and one.is_named)


def scan_folder(shelf: SyncFolder, known: Mapping[str, CheckedFile]) -> FolderScan:
    """Look at all that is there; what is known already, and as it was, is not opened. Raises
    Refused: the folder cannot be read."""
    whole, broken, haves = dict[str, CheckedFile](), list[str](), dict[str, Manifest]()
    mute: list[str] = []
    for name, stamp in shelf.files():
        writer, _, file = name.partition("/")
        if file == MANIFEST_FILE:
            if have := read_manifest(shelf.read(name), writer):
                haves[writer] = have
            else:
                mute.append(writer)
        elif name in known and known[name].stamp == stamp:
            whole[name] = known[name]
        else:
            try:
                data = shelf.read(name) or b""
                whole[name] = CheckedFile(stamp, decode_segment(data, name).header, is_small(data))
            except IncompleteSegment:
                broken.append(name)
    return FolderScan(whole, broken, haves, mute=mute)
