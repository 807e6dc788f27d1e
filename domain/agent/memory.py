"""What an agent remembers of its older notes: the stream ``memory:<agent>`` (ADR 51).

STORAGE FORMAT, see `domain.log.wire`. A digest holds the beginnings of the notes that it covers and
nothing else, so nothing in it is invented. It is decided in the append that ends a wake, from
the notes themselves, or from four older digests of a depth. The notes stay where they are: what
is covered is what the digests name."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import AgentObservation, Priority
from domain.log.keys import key
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Stored, Words
from domain.text import fold, squeeze, tokens

CONTRACT = 1
"""Of the texts: another way to make them is another number."""
CONTRACT_WITH_WORDS = 2  # they end with words of what they leave out
UNCOVERED_MAX = 40
UNCOVERED_LEAST = 20  # that a digest leaves, unless a single append brought more
FOLDED_AT_ONCE = 20  # notes of one digest, or what the appends that they came in make of it
DIGESTS_MAX = 6  # of a depth
MERGED = 4  # of a depth become one of the next
DEPTH_MAX = 3  # of which there is one, that takes in each newer one
BYTES_MAX = {1: 800, 2: 1_000, 3: 1_200}
"""Of a digest as it is shown, its heading included: in all at most 12 KB."""
HEADING_BYTES = 48
TAIL_BYTES = 80
NOTE_BYTES = 160
RARE_MAX = 15  # words of what is left out, by which `recall` finds it
RARE_BYTES = 240
RARE_LENGTH_MAX = 30  # what is longer is no word: an address, a key
LEFT_OUT = "Left out, among others: "

_LINE = re.compile(r"- \[[^\]]*\] \((critical|notable|routine)\) (.*)")
_SECRET = re.compile(r"\[secret: [^\]]*\]?")
_MORE = re.compile(r"([0-9]+) more (critical|notable|routine)")
_RANK: dict[str, int] = {"critical": 0, "notable": 1, "routine": 2}


class MemoryFolded(Stored, frozen=True, tag="memory.folded.1"):
    """One more digest. `sources`: of depth 1 the positions of the notes, else digests; `first`,
    `last`, `since`, `until`: of the notes, oldest first. `categories`: all that the wakes were
    allowed whose words it holds."""

    id: str
    depth: int
    first: str
    last: str
    count: int
    sources: tuple[str, ...]
    words: Words
    contract: int
    since: str
    until: str
    categories: tuple[str, ...] = ()


class Memory(Struct, frozen=True):
    """`top`: the digests that no other one took in, oldest first. `covered`: up to where each
    replica's notes are covered, as ``(n, replica, row)``; `count`: how many are."""

    id: str
    top: tuple[MemoryFolded, ...] = ()
    covered: tuple[tuple[int, str, int], ...] = ()
    count: int = 0


class Digest(NamedTuple):
    """What a digest says: lines with their priorities; of what it leaves out count and words."""

    lines: tuple[tuple[str, str], ...]
    more: Counter[str]
    rare: str = ""


def place(position: str) -> tuple[int, str, int]:
    """Where a note stands, in the canonical order.

    >>> place("812-3@r1")
    (812, 'r1', 3)
    """
    number, _, replica = position.partition("@")
    n, _, row = number.partition("-")
    return int(n), replica, int(row)


def is_covered(memory: Memory, position: str) -> bool:
    here = place(position)
    return any(here <= end for end in memory.covered if end[1] == here[1])


def overlap(one: MemoryFolded, other: MemoryFolded) -> bool:
    """Whether two digests hold the same note, or may: of digests of digests the spans tell."""
    if one.depth == other.depth == 1:
        return not set(one.sources).isdisjoint(other.sources)
    return place(one.first) <= place(other.last) and place(other.first) <= place(one.last)


def evolve(memory: Memory, recorded: RecordedEvent) -> Memory:
    """The memory after one more digest. A note belongs to the first digest that names it, a
    digest to the first that took it in; one that adds nothing was made by another replica, too."""
    fact = recorded.fact
    if not isinstance(fact, MemoryFolded):
        return memory
    if fact.depth > 1:
        left = tuple(one for one in memory.top if one.id not in fact.sources)
        return memory if len(left) == len(memory.top) else replace(memory, top=_ordered(left, fact))
    if not (news := [one for one in fact.sources if not is_covered(memory, one)]):
        return memory
    ends = {end[1]: end for end in (*memory.covered, *sorted(map(place, news)))}
    count = memory.count + len(news)
    top = _ordered(memory.top, fact)
    return replace(memory, top=top, covered=tuple(ends[one] for one in sorted(ends)), count=count)


def _ordered(top: Iterable[MemoryFolded], fact: MemoryFolded) -> tuple[MemoryFolded, ...]:
    return tuple(sorted((*top, fact), key=lambda one: place(one.first)))


MEMORY: StreamType[Memory] = StreamType("memory", Memory, evolve)


# ------------------------------------------------------------------------------ what is folded


def oldest(notes: Sequence[AgentObservation]) -> Sequence[AgentObservation]:
    """The notes that the next digest covers: whole appends, at least one, until they are enough;
    fewer where too few would stay uncovered."""
    count = 0
    for _, append in groupby(notes, key=lambda one: place(one.position)[:2]):
        more = len(list(append))
        is_enough = count >= FOLDED_AT_ONCE or len(notes) - count - more < UNCOVERED_LEAST
        if count and is_enough:
            break
        count += more
    return notes[:count]


def too_many(memory: Memory) -> Sequence[MemoryFolded]:
    """The digests that become one of the next depth; none where there are few enough."""
    for depth in range(1, DEPTH_MAX):
        these = [one for one in memory.top if one.depth == depth]
        if len(these) > DIGESTS_MAX:
            rolled = [one for one in memory.top if one.depth == DEPTH_MAX == depth + 1]
            return [*rolled, *these[:MERGED]]
    return ()


def of_notes(
    agent: str,
    notes: Sequence[AgentObservation],
    shown: Iterable[tuple[AgentObservation, str]],
    is_open: Iterable[str],
    categories: Iterable[str],
    contract: int,
) -> tuple[MemoryFolded, str]:
    """A digest of the lowest depth without its words, and those.

    Args:
        notes: What it covers, oldest first.
        shown: Those of them that may be read, with their texts.
        is_open: The positions of critical notes that nothing has resolved.
        categories: Of the wakes that wrote what is shown.
        contract: Of its words.
    """
    unresolved, seen = set(is_open), list(shown)
    ranked: list[tuple[int, str, str]] = []
    for one, text in reversed(seen):
        rank = _RANK[one.priority]
        rank += one.priority == "critical" and one.position not in unresolved
        ranked.append((rank, one.priority, line_of(one.at, one.priority, text)))
    counts = Counter(one.priority for one in notes)
    texts = [text for _, text in seen] * (contract == CONTRACT_WITH_WORDS)
    said = _worded(ranked, Counter[str](counts), BYTES_MAX[1], texts)
    sources = tuple(one.position for one in notes)
    ends = (notes[0].position, notes[-1].position, notes[0].at, notes[-1].at)
    return _made(agent, 1, ends, len(notes), sources, categories, contract), said


def of_digests(
    agent: str,
    digests: Sequence[MemoryFolded],
    shown: Iterable[str],
    is_open: Iterable[str],
    categories: Iterable[str],
    contract: int,
) -> tuple[MemoryFolded, str]:
    """A digest of digests without its words, and those.

    Args:
        digests: What it takes in, oldest first.
        shown: The words of those that may be read, in their order.
        is_open: The lines of critical notes that nothing has resolved.
        categories: Of what is shown.
        contract: Of its words.
    """
    depth = min(digests[-1].depth + 1, DEPTH_MAX)
    unresolved = set(is_open)
    read_all = [read(text) for text in shown]
    lines = [one for known in reversed(read_all) for one in known.lines]
    ranked = [
        (_RANK[priority] + (priority == "critical" and said not in unresolved), priority, said)
        for priority, said in lines
    ]
    counts = Counter(priority for priority, _ in lines)
    for known in read_all:
        counts += known.more
    counts["routine"] += sum(one.count for one in digests) - counts.total()  # of hidden ones
    texts = [*(_said(line) for _, line in lines), *(known.rare for known in read_all)]
    said = _worded(ranked, counts, BYTES_MAX[depth], texts * (contract == CONTRACT_WITH_WORDS))
    ordered = sorted(digests, key=lambda one: place(one.first))
    newest = max(digests, key=lambda one: place(one.last))
    ends = (ordered[0].first, newest.last, ordered[0].since, newest.until)
    count = sum(one.count for one in digests)
    sources = tuple(one.id for one in digests)
    return _made(agent, depth, ends, count, sources, categories, contract), said


def _made(
    agent: str,
    depth: int,
    ends: tuple[str, str, str, str],
    count: int,
    sources: tuple[str, ...],
    categories: Iterable[str],
    contract: int,
) -> MemoryFolded:
    first, last, since, until = ends
    named = key("memory", agent, str(depth), first, last, str(contract))
    told = (sources, Words(), contract, since, until, tuple(sorted(set(categories))))
    return MemoryFolded(named, depth, first, last, count, *told)


# ------------------------------------------------------------------------------------- texts


def line_of(at: str, priority: Priority, text: str) -> str:
    """A note in a digest: its beginning. No secret is in the text any more to be cut in two."""
    data = squeeze(text).encode()[:NOTE_BYTES]
    return f"- [{at[:10]}] ({priority}) {data.decode('utf-8', 'ignore').rstrip()}"


def read(words: str) -> Digest:
    """What a digest's words say.

    >>> read("- [2027-01-01] (notable) A wish.\\nand 9 more routine notes").more
    Counter({'routine': 9})
    """
    lines: list[tuple[str, str]] = []
    more: Counter[str] = Counter()
    rare = ""
    for one in words.split("\n"):
        if found := _LINE.fullmatch(one):
            lines.append((found[1], one))
        elif one.startswith(LEFT_OUT):
            rare = one.removeprefix(LEFT_OUT)
        else:
            more.update({name: int(count) for count, name in _MORE.findall(one)})
    return Digest(tuple(lines), more, rare)


def _said(line: str) -> str:
    """What a line of a digest repeats of its note."""
    found = _LINE.fullmatch(line)
    return found[2] if found else ""


def _worded(
    ranked: Iterable[tuple[int, str, str]], counts: Counter[str], bytes_max: int, texts: list[str]
) -> str:
    """The lines that there is room for, those that matter most first and of these the newest,
    and how many notes are left out; routine ones that say the same once. `texts`: whose rarest
    words are told, where no line has them."""
    room = bytes_max - HEADING_BYTES - TAIL_BYTES - (RARE_BYTES if texts else 0)
    shown: list[str] = []
    left, told = counts.copy(), set[str]()
    for _, priority, said in sorted(ranked, key=lambda one: one[0]):
        same = fold(_said(said)) if priority == "routine" else ""
        if same and same in told:
            continue
        room -= len(said.encode()) + 1
        if room < 0:
            break
        told.add(same)
        shown.append(said)
        left[priority] -= 1
    more = ", ".join(f"{left[name]} more {name}" for name in _RANK if left[name] > 0)
    shown += [f"and {more} notes"] if more else []
    shown += [f"{LEFT_OUT}{rare}"] if (rare := _rarest(texts, shown)) else []
    return "\n".join(shown)


def _rarest(texts: Iterable[str], shown: Iterable[str]) -> str:
    """The words that are in the fewest texts and in no line that is shown, of equals the longest,
    which say the most; as many as there is room for."""
    counts = Counter(word for text in texts for word in tokens(_SECRET.sub(" ", text)))
    known = {word for line in shown for word in tokens(_said(line))}
    left = [one for one in counts.keys() - known if len(one) <= RARE_LENGTH_MAX]
    rare = sorted(left, key=lambda one: (counts[one], -len(one), one))[:RARE_MAX]
    while len(", ".join(rare).encode()) > RARE_BYTES - len(LEFT_OUT):
        rare.pop()
    return ", ".join(rare)


# ------------------------------------------------------------------------------------- numbers


def numbers(critical: Sequence[AgentObservation]) -> dict[str, str]:
    """What the model calls open critical notes, by their positions: a short number, but where two
    replicas gave the same."""
    short = {one.position: one.position.partition("@")[0] for one in critical}
    times = Counter(short.values())
    return {one: number if times[number] == 1 else one for one, number in short.items()}
