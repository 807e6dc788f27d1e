"""What `wakelog prove` says for a person of where a log and today's code part."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from adapters.documents.proof import ErasedProof
from adapters.proof.prove import Proved, by_class, diff
from adapters.text.common import DiffLine, counted, diff_line, indented, safe
from domain.scaffold import made_by
from replay.divergence import DAMAGE, FORMAT, MISSING, Divergence

DIFF_SHOWN = 12  # lines of a difference
IN_FULL_MAX = 2  # divergences of one append; the others are counted
AGAIN_MAX = 5  # places of a difference that is told once
FOLLOWING_MAX = 10  # that are named below what they come of
FAILURE_MAX = 10  # divergences that a test's failure tells in full
WIDTH_MAX = 160
LEGEND = "Lines with - are what today's code writes, lines with + what stands in the log."
MEANING = {
    "anchor": "its digest is not the one that was anchored",
    "cause": "today's code cannot take what caused this",
    "digest": "the digest of all is not the one that was kept",
    "fold": "today's code cannot read this row's fact into its state",
    "n": "its number is not the next one: something is gone, doubled or in another place",
    "order": "its rows stand in another order",
    "outcome": "the journal's receipt says that something else came of it",
    "position": "it rests on a part of the other log that is not there",
    "prev": "it carries another digest of the append before it, so that one was altered",
    "receipt": "it says what came of an operation that the journal does not hold there",
    "rows": "rows of it are gone, or there are too many",
    "tail": "the log ends before what was anchored",
}


def newer_text(newer: Mapping[int, int]) -> str:
    """What wakes were not proved, as a newer wakelog made them.

    >>> newer_text({3: 2})
    'not proved: 2 wakes, made by a newer wakelog (scaffold 3)'
    """
    told = [f"{counted(count, 'wake')}, {made_by(number)}" for number, count in newer.items()]
    return f"not proved: {'; '.join(told)}"


def erased_text(erased: ErasedProof) -> str:
    """What was erased, and what the proof of the rest says of it.

    >>> erased_text(ErasedProof(96, 38, 21, 7, 5, []))
    '96 rows were erased; 21 causes went with them, 7 rest on the digests alone'
    """
    rows = f"{counted(erased.rows, 'row')} {'was' if erased.rows == 1 else 'were'} erased"
    gone = f"{counted(erased.gone, 'cause')} went with them"
    return f"{rows}; {gone}, {erased.resting} rest on the digests alone"


def failure_text(proved: Proved) -> str:
    """What a test fails with that wants a proof."""
    count = len(proved.divergences) + proved.left
    told = [f"{count} divergence(s) in {proved.rows} rows"]
    told += [newer_text(proved.newer)] if proved.newer else []
    lines = divergence_lines(proved.divergences, proved.left, shown_max=FAILURE_MAX)
    return "\n".join([*told, *(line.text for line in lines)])


def divergence_lines(
    found: Sequence[Divergence], left: int = 0, *, shown_max: int = 20
) -> Iterator[DiffLine]:
    """All that differs, each difference once, and how many there are of what. What comes of a row
    that is lost, altered or cannot be read takes a line below. `found`: in order, what led
    somewhere before what came of it; `left`: how many more there are that nobody has kept."""
    yield DiffLine(LEGEND)
    damaged = {one.position for one in found if one.kind_of in (*DAMAGE, FORMAT)}
    alike = _alike(one for one in found if not _follows(one, damaged))
    first = [group[0] for group in alike.values()]
    for position, group in groupby(first[:shown_max], key=lambda one: one.position):
        told = list(group)
        for one in told[:IN_FULL_MAX]:
            yield DiffLine("")
            yield from report(one)
            yield from indented(_again(alike[_sides(one)][1:]), 4)
        if len(told) > IN_FULL_MAX:
            yield DiffLine(f"    and {len(told) - IN_FULL_MAX} more differences in {position}")
    yield DiffLine("")
    if following := [one for one in found if _follows(one, damaged)]:
        yield DiffLine(f"What comes of it ({len(following)}):")
        yield from indented(_following(following), 4)
    untold = sum(map(len, list(alike.values())[shown_max:])) + left
    if untold:
        yield DiffLine(f"and {untold} more; --json has {len(found)}")
    yield DiffLine(", ".join(f"{kind_of}: {count}" for kind_of, count in by_class(found).items()))


def _sides(one: Divergence) -> tuple[str, ...]:
    return one.kind_of, one.path, one.expected, one.actual


def _alike(found: Iterable[Divergence]) -> dict[tuple[str, ...], list[Divergence]]:
    """Those that differ in the same bytes: a prompt's text is the same in many wakes."""
    alike: dict[tuple[str, ...], list[Divergence]] = {}
    for one in found:
        alike.setdefault(_sides(one), []).append(one)
    return alike


def _again(others: Sequence[Divergence]) -> Iterator[DiffLine]:
    if others:
        places = ", ".join(one.position for one in others[:AGAIN_MAX])
        more = ", ..." if len(others) > AGAIN_MAX else ""
        yield DiffLine(f"the same in {len(others)} more: {places}{more}")


def _follows(one: Divergence, damaged: set[str]) -> bool:
    """Whether what led to a divergence is a lost, altered or unread row that is told of anyway."""
    is_damage = one.kind_of in (*DAMAGE, FORMAT)
    return not is_damage and one.upstream != one.position and one.upstream in damaged


def _following(found: Sequence[Divergence]) -> Iterator[DiffLine]:
    groups = [list(group) for _, group in groupby(found, key=lambda one: one.position)]
    for group in groups[:FOLLOWING_MAX]:
        one = group[0]
        wake = f", wake {one.wake[:8]}" if one.wake else ""
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        told = f"{one.position}  {one.kind_of}: {one.path}{more}{wake}, led there by {one.upstream}"
        yield DiffLine(safe(told))
    if len(groups) > FOLLOWING_MAX:
        yield DiffLine(f"and in {len(groups) - FOLLOWING_MAX} more appends; --json has them")


def report(one: Divergence) -> Iterator[DiffLine]:
    """A divergence as a person reads it: where, of which class, what led there, what differs."""
    row = f" of {one.stream}, version {one.version}" if one.version else f" of {one.stream}"
    where = one.position.strip(":") or "at the end"
    yield DiffLine(safe(f"{where}  {one.kind_of}: {one.path}{row if one.stream else ''}"))
    about = [f"wake {one.wake[:8]}" + f" row {one.step}" * bool(one.step)] if one.wake else []
    about += [f"caused by {one.cause}"] if one.cause else []
    about += [f"led there by {one.upstream}"] if one.upstream not in ("", one.position) else []
    if about:
        yield DiffLine(f"    {', '.join(about)}")
    if meaning := _meaning(one):
        yield DiffLine(f"    {meaning}")
    yield from indented(_differing(one), 4)


def _meaning(one: Divergence) -> str:
    if one.path != "payload":
        return MEANING.get(one.path, "")
    if one.kind_of == MISSING:
        return "the text of this id is gone"
    return "the text of this id was altered: its bytes make another id"


def _differing(one: Divergence) -> Iterator[DiffLine]:
    changed = diff(one)
    yield from (diff_line(safe(line)) for line in _narrow(changed[:DIFF_SHOWN]))
    if len(changed) > DIFF_SHOWN:
        yield DiffLine(f"... {len(changed) - DIFF_SHOWN} more lines; --json has them all")
    if not changed:
        expected, actual = differing(one.expected, one.actual)
        yield DiffLine(safe(f"expected  {expected or 'nothing'}"))
        yield DiffLine(safe(f"actual    {actual or 'nothing'}"))


def _narrow(lines: list[str]) -> list[str]:
    """Long lines cut to where a removed one and its successor differ."""
    narrow = [_cut(line, WIDTH_MAX) for line in lines]
    for nth, (one, other) in enumerate(pairwise(lines)):
        if one[:1] == "-" and other[:1] == "+" and max(len(one), len(other)) > WIDTH_MAX:
            left, right = differing(one[1:], other[1:], width=WIDTH_MAX - 1)
            narrow[nth : nth + 2] = [f"-{left}", f"+{right}"]
    return narrow


def differing(expected: str, actual: str, *, around: int = 40, width: int = 160) -> tuple[str, str]:
    """The parts in which two texts differ, with a little of what stands around them.

    >>> differing("a" * 90 + "1" + "b" * 90, "a" * 90 + "2" + "b" * 90, around=3)
    ('…aaa1bbb…', '…aaa2bbb…')
    """
    if not expected or not actual:
        return _cut(expected, width), _cut(actual, width)
    shorter = min(len(expected), len(actual))
    begin = next((at for at in range(shorter) if expected[at] != actual[at]), shorter)
    end = 0
    while end < shorter - begin and expected[-1 - end] == actual[-1 - end]:  # bounded by them
        end += 1
    first, last = max(0, begin - around), max(0, end - around)
    parts = (text[first : len(text) - last] for text in (expected, actual))
    head, tail = ("…" if first else ""), ("…" if last else "")
    one, other = (f"{head}{_cut(part, width)}{tail}" for part in parts)
    return one, other


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
