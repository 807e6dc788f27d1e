"""Digests kept outside of the log: what nothing in it can prove is that its end is still there.

A file of JSON Lines, one for each digest: ``{"digest": "...", "heads": {"journal:r1": {"n": 17,
"digest": "..."}}}``. Keep it where who may write the home may not."""

from pathlib import Path

import msgspec
from msgspec import Struct

from adapters.home.files import check_no_database, close_to_others
from domain.errors import Refused, invalid
from domain.log.keys import log_digest

LINES_MAX = 100_000


class AnchoredHead(Struct, frozen=True):
    """The newest append of one log and replica then."""

    n: int
    digest: str


class Anchor(Struct, frozen=True):
    """The digest of a whole home, and what it is made of."""

    digest: str
    heads: dict[str, AnchoredHead]


def read_anchors(path: Path, *, is_new: bool = False) -> list[Anchor]:
    """The anchors of a file, the oldest first. Unless `is_new`, it must hold one: a name that was
    mistyped would hide what the right file knows of. Raises Refused, code ``unreadable_file``: it
    is not there, cannot be read, or holds something else; ``invalid_value``: it is to be begun, and
    is there; ``read_only``: its folder is not there."""
    found = _read_all(path)
    if not found and not is_new:
        because = f"{path} holds no anchor" if path.exists() else f"{path} is not there"
        instead = "name the file that prove wrote, or begin this one with --new-anchor"
        raise Refused("unreadable_file", because=because, instead=instead)
    if found and is_new:
        raise invalid(f"{path} is there, with {len(found)} anchors", "leave --new-anchor out")
    return found


def _read_all(path: Path) -> list[Anchor]:
    if not path.absolute().parent.is_dir():  # before a long proof, of which nothing could be kept
        because = f"{path} cannot be written: its folder is not there"
        raise Refused("read_only", because=because, instead="make the folder, or name another file")
    check_no_database(path)
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    found: list[Anchor] = []
    for nth, line in enumerate(lines, start=1):
        try:
            found.append(msgspec.json.decode(line, type=Anchor))
        except msgspec.DecodeError as error:
            raise _unreadable(path, f"line {nth} is no anchor ({error})") from None
        if log_digest({name: head.digest for name, head in found[-1].heads.items()}) != (
            found[-1].digest
        ):
            raise _unreadable(path, f"the digest of line {nth} is not that of its heads")
    return found


def known_digests(anchors: list[Anchor]) -> dict[str, dict[int, str]]:
    """By ``log:replica`` and n: the digests that an append must have."""
    found: dict[str, dict[int, str]] = {}
    for anchor in anchors:
        for name, head in anchor.heads.items():
            found.setdefault(name, {}).setdefault(head.n, head.digest)
    return found


def add_anchor(path: Path, digest: str, heads: dict[str, tuple[int, str]]) -> bool:
    """Write one more anchor, if it is new; whether it was. Raises Refused, code ``unreadable_file``
    (it holds something else) or ``read_only``."""
    anchors = _read_all(path)
    if len(anchors) >= LINES_MAX or any(one.digest == digest for one in anchors):
        return False
    anchor = Anchor(digest, {name: AnchoredHead(*head) for name, head in heads.items()})
    try:
        with path.open("ab") as file:
            file.write(msgspec.json.encode(anchor) + b"\n")
        close_to_others([path])
    except OSError as error:
        because = f"{path} cannot be written: {error.strerror or error}"
        raise Refused("read_only", because=because, instead="name another file") from None
    return True


def _unreadable(path: Path, why: str) -> Refused:
    because = f"the anchor file {path} cannot be read: {why}"
    return Refused("unreadable_file", because=because, instead="name the file that prove wrote")
