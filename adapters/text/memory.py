"""What an agent remembers, for a person: the lines of `memory`."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from adapters.text.common import ID_SHOWN, local_time, safe
from adapters.text.reading import counted

if TYPE_CHECKING:
    from adapters.documents.memory import DigestDetails, DigestSources, MemoryDetails, NoteDetails

WIDTH = 78


def memory_lines(document: "MemoryDetails", zone: str) -> Iterator[str]:
    """The lines of `memory`: the digests at the top, then what none covers, then what is open."""
    if not document.noted:
        yield safe(f"{document.agent}: nothing noted yet. Agents note things when they wake.")
        return
    top = [one for one in document.digests if one.parent is None]
    yield safe(document.agent)
    yield summary(document.noted, sum(one.notes for one in top), len(top))
    for one in top:
        yield ""
        yield from _digest(one, zone)
    yield from _part("Not in a digest", document.uncovered, zone)
    yield from _part("Critical and not settled", document.critical, zone)
    if top:
        yield ""
        yield "`--sources ID` shows what a digest was made of."


def summary(noted: int, covered: int, digests: int) -> str:
    """How many notes there are, and where.

    >>> summary(60, 20, 1), summary(2, 0, 0)
    ('60 notes: 20 in 1 digest, 40 newer ones in none.', '2 notes, none of them in a digest yet.')
    """
    if not digests:
        return f"{counted(noted, 'note')}, none of them in a digest yet."
    told = f"{covered} in {counted(digests, 'digest')}, {noted - covered} newer ones in none."
    return f"{counted(noted, 'note')}: {told}"


def sources_lines(document: "DigestSources", zone: str) -> Iterator[str]:
    """The lines of `memory --sources`."""
    yield from _digest(document.digest, zone)
    yield ""
    yield "It was made of"
    for one in document.digests:
        yield from _digest(one, zone)
    yield from _notes(document.observations, zone)


def _digest(one: "DigestDetails", zone: str) -> Iterator[str]:
    since, until = (local_time(at, zone)[:10] for at in (one.since, one.until))
    of = f" of {counted(len(one.sources), 'digest')}" if one.depth > 1 else ""
    yield f"{one.id[:ID_SHOWN]}  {since} to {until}  {counted(one.notes, 'note')}{of}"
    for line in one.text.split("\n"):
        yield from _wrapped(line)


def _part(heading: str, notes: "Sequence[NoteDetails]", zone: str) -> Iterator[str]:
    if notes:
        yield ""
        yield heading
        yield from _notes(notes, zone)


def _notes(notes: "Sequence[NoteDetails]", zone: str) -> Iterator[str]:
    for one in notes:
        yield from _wrapped(f"{local_time(one.at, zone)}  {one.priority}  {one.text}")


def _wrapped(line: str) -> list[str]:
    return wrap(safe(line), WIDTH, initial_indent="  ", subsequent_indent="      ")
