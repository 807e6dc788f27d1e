"""Which line of a file is which task that was in it before (ADR 80). Pure functions.

A file is aligned as a whole with what it said last. Who might be two is none: a second task is seen
and mended, two that became one are not."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from difflib import SequenceMatcher
from itertools import product
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from adapters.importers.markdown_line import nths
from adapters.importers.marks import closed_on
from domain.journal.imported import ImportedItem, ImportedTask
from domain.journal.imports import numbered
from domain.journal.task import CLOSED, ChecklistItem, Task
from domain.log.timestamps import instant
from domain.text import fold, tokens

BY_TITLE = ("markdown", "todotxt")  # formats whose tasks have no id of their own
SIMILAR = 0.75
MOST = 0.5
PAIRS_MAX = 40_000  # beyond, a file was replaced, not edited
EARTH = (-12, 0, 14)  # hours from UTC between which all days of a moment are met
_REPEATS = re.compile("\U0001f501|(?:^|\\s)(?:rec|recur):\\S")
_DAY = re.compile(r"completed on ([0-9-]{10})")

Score = tuple[float, ...]
Gap = tuple[int, int, int, int]
"""The places of `was` of the lines that were found before and after a line (-1 and the number of
lines at the ends), and how many that were not stand between it and each of them."""

K = TypeVar("K", bound=Hashable)


class FileLine(Struct, frozen=True):
    """A task's line, as a file has it or had it.

    `anchor`: what the file itself calls it; empty: nothing. Of a line that was there: `is_closed`
    and `is_deleted` are what its task is here, and `task.task_id` is its id. `closed_on`: where it
    says no day of its status, how the days would be said on which its task was closed here.
    `earlier`: the task as older readers read it."""

    task: ImportedTask
    anchor: str = ""
    is_closed: bool = False
    is_deleted: bool = False
    closed_on: frozenset[str] = frozenset()
    earlier: tuple[ImportedTask, ...] = ()


class Aligned(Struct, frozen=True):
    """Which line was which, both by their places, those that are there now first; and the lines of
    which nobody can tell, of now and of then."""

    found: Mapping[int, int]
    tied: Sequence[int] = ()
    tied_was: Sequence[int] = ()


def align(
    was: Sequence[FileLine],
    now: Sequence[FileLine],
    sure: Mapping[int, int],
    since: str = "",
    are_alike: Callable[[Sequence[int]], bool] = lambda _: False,
    stood: Sequence[int] | None = None,
) -> Aligned:
    """Find the lines of a file again.

    Args:
        was: Those that it had, in its order.
        now: Those that it has.
        sure: What is known already: places of `now`, and of `was`.
        since: The day of the last import, ``YYYY-MM-DD``.
        are_alike: Whether the tasks of these places of `was` are the same here in all but their
            ids, so that it is all one which of them a line is.
        stood: The places of `was` that the file still had when it was seen last, in its order
            then; None: all. Of the others a line may be one that comes back, under its title.

    >>> rent = FileLine(ImportedTask("a", "Pay rent", due="2027-01-01"))
    >>> done = FileLine(ImportedTask("", "Pay rent", due="2027-01-01", status="DONE"))
    >>> new = FileLine(ImportedTask("", "Pay rent", due="2027-02-01"))
    >>> align([rent], [new, done], {}).found
    {1: 0}
    """
    places = range(len(was)) if stood is None else stood
    nth = {at: place for place, at in enumerate(places)}
    found = _Alignment(
        [was[at] for at in places],
        now,
        {at: nth[before] for at, before in sure.items() if before in nth},
        since,
        lambda some: are_alike([places[at] for at in some]),
    )
    found.tied |= {at for at, before in sure.items() if before not in nth}
    found.by_anchor()
    found.by_title()
    tied, tied_was = set(found.tied), {places[at] for at in found.tied_was}
    back: dict[int, int] = {}
    if len(places) < len(was):
        known = {**sure, **{at: places[before] for at, before in found.found.items()}}
        every = _Alignment(was, now, known, since, are_alike)
        every.tied = tied
        every.by_anchor()
        every.by_title()
        back = {at: before for at, before in every.found.items() if before not in nth}
        found.tied |= back.keys()
    found.by_rename()
    return Aligned(
        {**{at: places[before] for at, before in found.found.items()}, **back},
        sorted(tied - back.keys() - sure.keys()),
        sorted(tied_was),
    )


def anchors_twice(anchors: Iterable[str]) -> set[str]:
    """What several lines of a file are called, and so none of them is known by."""
    return {name for name, count in Counter(anchors).items() if name and count > 1}


def content(task: ImportedTask) -> ImportedTask:
    """What a line says, whichever task it is, and whichever items its items are."""
    items = tuple(replace(item, id="") if item.id else item for item in task.items)
    return replace(task, task_id="", items=items)


def undated(task: ImportedTask) -> ImportedTask:
    """The same without the day of its status, which is not kept where it is that of here."""
    return replace(content(task), status_reason="")


class _Alignment:
    """Places of `now` with those of `was`, while they are found."""

    def __init__(
        self,
        was: Sequence[FileLine],
        now: Sequence[FileLine],
        sure: Mapping[int, int],
        since: str,
        are_alike: Callable[[Sequence[int]], bool],
    ) -> None:
        self.was, self.now, self.since = was, now, since
        self.are_alike = are_alike
        self.found = dict(sure)
        self.tied: set[int] = set()
        self._taken = set(self.found.values())
        self.tied_was: set[int] = set()
        titles = {fold(one.task.title) for one in was}
        self._said = [_as_before(one, titles) for one in now]
        self._bodies: dict[tuple[bool, int], set[str]] = {}

    def by_anchor(self) -> None:
        """What the file calls by the same name; ours, which are given anew by each export, only
        where the lines have anything in common."""
        twice = anchors_twice(one.anchor for one in self.now)
        twice |= anchors_twice(one.anchor for one in self.was)
        named = {one.anchor: at for at, one in enumerate(self.was) if one.anchor}
        for at in self._free(range(len(self.now)), self.found):
            name = self.now[at].anchor
            before = named.get(name)
            if before is None or name in twice or before in self._taken:
                continue
            if not name.startswith("~") or self._shares(before, at):
                self._match(at, before)

    def by_title(self) -> None:
        """Lines of equal titles: first by their due dates, then by what they say."""
        olds = _by(lambda at: fold(self.was[at].task.title), range(len(self.was)))
        news = _by(lambda at: fold(self._said[at].title), range(len(self.now)))
        for title, now in news.items():
            was = olds.get(title, [])
            ws = self._free(was, self._taken)
            ns = [at for at in self._free(now, self.found) if at not in self.tied]
            if not (ws and ns):
                continue
            if len(was) == len(now) == 1:
                if not self._is_next(ws[0], ns[0]):
                    self._match(ns[0], ws[0])
                continue
            for due in dict.fromkeys(self._said[at].due for at in ns):
                olds_due = [at for at in ws if self.was[at].task.due == due]
                self._same_due(olds_due, [at for at in ns if self._said[at].due == due])

    def by_rename(self) -> None:
        """One that is gone, and one of another title in its place."""
        ws = self._free(range(len(self.was)), self._taken | self.tied_was)
        ws = [at for at in ws if not self.was[at].is_deleted]
        ns = self._free(range(len(self.now)), self.found.keys() | self.tied)
        self._match_sure(ws, ns, lambda was, now: rank_of(self.was[was].task, self._said[now]))
        ws, ns = self._free(ws, self._taken), self._free(ns, self.found)
        if not (ws and ns):
            return
        gaps = [[gap[:2] if gap else None for gap in one] for one in self._gaps()]
        for gap, olds, news in _both(ws, ns, *gaps):
            if gap and len(olds) * len(news) <= PAIRS_MAX:
                for now, was in unambiguous(dict(self._maybe(olds, news))).items():
                    self._match(now, was)

    # ------------------------------------------------------------------------------ of one title

    def _is_next(self, was: int, now: int) -> bool:
        """Whether a line that repeats stands for the next time, the last one being done here."""
        before, said = self.was[was], self._said[now]
        repeats = said.repeat or _REPEATS.search(said.title)
        is_open = said.status not in CLOSED
        return bool(repeats and is_open and before.is_closed and before.task.due < said.due)

    def _same_due(self, ws: list[int], ns: list[int]) -> None:
        """Lines of one title and due date, or none."""
        if not (ws and ns):
            return
        was = Counter(undated(self.was[at].task) for at in ws)
        self._match_sure([at for at in ws if self.was[at].closed_on], ns, self._is_same_day)
        if was == Counter(undated(self._said[at]) for at in ns):
            self._exact(ws, ns)
            self._exact(ws, ns, undated)
            return
        done = [at for at in ns if self._said[at].status in CLOSED]
        if done and len(done) < len(ns) and len(ns) > len(ws):
            self._one_more(ws, ns, done)
            return
        self._exact(ws, ns)
        self._assign(self._free(ws, self._taken), self._free(ns, self.found))

    def _is_same_day(self, was: int, now: int) -> bool:
        """Whether both are closed, and the day of it is not kept, since it is that of here."""
        before, said = self.was[was], self._said[now]
        return said.status_reason in before.closed_on and undated(before.task) == undated(said)

    def _one_more(self, ws: list[int], ns: list[int], done: list[int]) -> None:
        """Of open and done lines there are more than before: a done one is a task that is done
        here, or one that was ticked in the file since; an open one is one that is open here."""
        closed = [at for at in ws if self.was[at].is_closed]
        self._exact(closed, done)
        ticked = [at for at in self._free(done, self.found) if self._was_ticked(at)]
        self._assign([at for at in ws if at not in closed], ticked)
        self._assign(self._free(closed, self._taken), self._free(done, self.found))
        still = [at for at in ns if at not in done]
        left = self._free(ws, self._taken)
        self._exact(left, still)
        self._assign(self._free(left, self._taken), still)

    def _was_ticked(self, at: int) -> bool:
        day = _DAY.match(self._said[at].status_reason)
        return bool(day and self.since and day[1] >= self.since)

    def _exact(
        self,
        ws: Sequence[int],
        ns: Sequence[int],
        said: Callable[[ImportedTask], ImportedTask] = content,
    ) -> None:
        """Lines that say the same, where there are as many as before, in their order."""
        olds = _by(lambda at: said(self.was[at].task), self._free(ws, self._taken))
        news = _by(lambda at: said(self._said[at]), self._free(ns, self.found))
        for same, now in news.items():
            if len(olds.get(same, ())) == len(now):
                self._match_all(now, olds[same])

    def _assign(self, ws: Sequence[int], ns: Sequence[int]) -> None:
        """The assignment of greatest agreement; what stays equal is told apart by its place."""
        ws, ns = list(ws), self._free(ns, self.found)
        if len(ws) * len(ns) > PAIRS_MAX:
            self._by_place(ws, ns)
            return
        scores = {(was, now): self._agreement(was, now) for was in ws for now in ns}
        for wanted in sorted(set(scores.values()), reverse=True):
            pairs = [
                (was, now)
                for (was, now), score in scores.items()
                if score == wanted and was not in self._taken and now not in self.found
            ]
            olds, news = Counter(was for was, _ in pairs), Counter(now for _, now in pairs)
            for was, now in pairs:
                if olds[was] == news[now] == 1:
                    self._match(now, was)
            if pairs and len(olds) == len(news):
                self._by_place(self._free(olds, self._taken), self._free(news, self.found))
        self._by_place(self._free(ws, self._taken), self._free(ns, self.found))

    def _by_place(self, ws: Sequence[int], ns: Sequence[int]) -> None:
        """Lines that agree alike: in their order, if as many are there as before, in all or between
        the same neighbours; else nobody can tell, unless it is all one."""
        if len(ws) == len(ns):
            self._match_all(ns, ws)
            return
        places = self._gaps()
        for part in (slice(None), slice(1), slice(1, 2)):  # the very place, then a neighbour
            gaps = [[gap[part] if gap else None for gap in one] for one in places]
            left = self._free(ws, self._taken), self._free(ns, self.found)
            for gap, was, now in _both(*left, *gaps):
                if gap is not None and len(was) == len(now):
                    self._match_all(now, was)
        ws, ns = self._free(ws, self._taken), self._free(ns, self.found)
        is_all_one = len(ws) < len(ns) and len({content(self._said[at]) for at in ns}) == 1
        if len(ws) == len(ns) or is_all_one or (ws and ns and self.are_alike(ws)):
            self._match_all(ns, ws)
        elif ws and ns:
            self.tied.update(ns)
            self.tied_was.update(ws)

    def _agreement(self, was: int, now: int) -> Score:
        task, said = self.was[was].task, self._said[now]
        one, other = self._body(was, is_now=False), self._body(now, is_now=True)
        shared = 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0
        repeats = float(task.repeat == said.repeat)
        compared = ("labels", "priority", "estimate", "description", "status")
        alike = sum(getattr(task, name) == getattr(said, name) for name in compared)
        return repeats, shared, float(fold(task.category) == fold(said.category)), float(alike)

    # ---------------------------------------------------------------------------- of other titles

    def _maybe(self, ws: Sequence[int], ns: Sequence[int]) -> Iterator[tuple[tuple[int, int], int]]:
        """Lines between the same neighbours that may be one, and how sure that is. One whose title
        is a single word is so at its old place only."""
        for nth, was in enumerate(ws):
            for place, now in enumerate(ns):
                is_at_place = nth == place or len(ws) - nth == len(ns) - place
                words = min(len(tokens(one.title)) for one in (self.was[was].task, self._said[now]))
                if (is_at_place or words > 1) and self._may_be(was, now):
                    yield (was, now), 2 if is_at_place else 1

    def _may_be(self, was: int, now: int) -> bool:
        """Whether two lines between the same neighbours are one: they share an item or a note, or
        half of the words of the shorter title are in the other one below the same heading."""
        before, said = self.was[was].task, self._said[now]
        is_closed_only = before.status in CLOSED and said.status not in CLOSED
        is_other = fold(before.title) != fold(said.title) and not is_closed_only
        if not (is_other and same_numbers(before.title, said.title)):
            return False
        bodies = self._body(was, is_now=False), self._body(now, is_now=True)
        is_below = fold(before.category) == fold(said.category) and not all(bodies)
        return bool(bodies[0] & bodies[1]) or (is_below and self._shares_words(was, now))

    def _shares(self, was: int, now: int) -> bool:
        same = self._body(was, is_now=False) & self._body(now, is_now=True)
        return bool(same) or self._shares_words(was, now)

    def _shares_words(self, was: int, now: int) -> bool:
        one, other = set(tokens(self.was[was].task.title)), set(tokens(self._said[now].title))
        fewer = min(len(one), len(other))
        return fewer > 0 and 2 * len(one & other) >= fewer

    # -------------------------------------------------------------------------------------- places

    def _gaps(self) -> tuple[list[Gap | None], list[Gap | None]]:
        """Where each line stands that was not found: see `Gap`; None for the others."""
        of_was = self._between([at if at in self._taken else None for at in range(len(self.was))])
        of_now = self._between([self.found.get(at) for at in range(len(self.now))])
        return of_was, of_now

    def _between(self, known: Sequence[int | None]) -> list[Gap | None]:
        before, after = [(-1, 0)], [(len(self.was), 0)]
        for one in known:
            last, count = before[-1]
            before.append((last, count + 1) if one is None else (one, 0))
        for one in reversed(known):
            last, count = after[-1]
            after.append((last, count + 1) if one is None else (one, 0))
        found: list[Gap | None] = []
        for one, (first, nth), (then, rest) in zip(known, before, after[-2::-1], strict=False):
            found.append((first, then, nth, rest) if one is None else None)
        return found

    @staticmethod
    def _free(places: Iterable[int], taken: Iterable[int]) -> list[int]:
        return [at for at in places if at not in taken]

    def _match(self, now: int, was: int) -> None:
        self.found[now] = was
        self._taken.add(was)

    def _match_sure(
        self, ws: Sequence[int], ns: Sequence[int], rank: Callable[[int, int], int]
    ) -> None:
        for now, was in _ranked(ws, ns, rank).items():
            self._match(now, was)

    def _match_all(self, now: Sequence[int], was: Sequence[int]) -> None:
        for one, other in zip(now, was, strict=False):
            self._match(one, other)

    def _body(self, at: int, *, is_now: bool) -> set[str]:
        if (is_now, at) not in self._bodies:
            task = self._said[at] if is_now else self.was[at].task
            self._bodies[is_now, at] = set(_body(task))
        return self._bodies[is_now, at]


def _by(name: Callable[[int], K], places: Iterable[int]) -> dict[K, list[int]]:
    found: dict[K, list[int]] = {}
    for at in places:
        found.setdefault(name(at), []).append(at)
    return found


def _as_before(line: FileLine, titles: set[str]) -> ImportedTask:
    """What a line says, as an older reader read it where only so its title was there before."""
    readings = (line.task, *line.earlier)
    return next((one for one in readings if fold(one.title) in titles), line.task)


def _both(
    ws: Sequence[int], ns: Sequence[int], of_was: Sequence[object], of_now: Sequence[object]
) -> Iterator[tuple[object, list[int], list[int]]]:
    """Gaps in which places of both stand, and these."""
    olds, news = _by(of_was.__getitem__, ws), _by(of_now.__getitem__, ns)
    return ((gap, was, news[gap]) for gap, was in olds.items() if gap in news)


def _ranked(ws: Sequence[K], ns: Sequence[K], rank: Callable[[K, K], int]) -> dict[K, K]:
    """What was by what is, see `unambiguous`; nothing where they are too many."""
    pairs = product(ws, ns) if len(ws) * len(ns) <= PAIRS_MAX else ()
    return unambiguous({(was, now): sure for was, now in pairs if (sure := rank(was, now))})


def unambiguous(ranks: Mapping[tuple[K, K], int]) -> dict[K, K]:
    """Of pairs of what was and what is, by how sure it is that both are one: what was by what is.
    What is surer goes first, and who is tied with another is nobody."""
    found: dict[K, K] = {}
    olds_seen, news_seen = set[K](), set[K]()
    for wanted in sorted({*ranks.values()}, reverse=True):
        pairs = [
            (was, now)
            for (was, now), rank in ranks.items()
            if rank == wanted and was not in olds_seen and now not in news_seen
        ]
        olds, news = Counter(was for was, _ in pairs), Counter(now for _, now in pairs)
        found |= {now: was for was, now in pairs if olds[was] == news[now] == 1}
        olds_seen.update(olds)
        news_seen.update(news)
    return found


def rank_of(was: ImportedTask, now: ImportedTask) -> int:
    """How sure it is that two lines of different titles are one; 0: they are two."""
    if was.status in CLOSED and now.status not in CLOSED:
        return 0
    if fold(was.title) == fold(now.title) or not same_numbers(was.title, now.title):
        return 0
    was_body, now_body = set(_body(was)), set(_body(now))
    shared, every = len(was_body & now_body), len(was_body | now_body)
    if every > 0 and shared / every >= MOST:
        return 2
    is_near = fold(was.category) == fold(now.category) and is_similar(was.title, now.title)
    return 1 if is_near and (not every or shared or not (was_body and now_body)) else 0


def _body(task: ImportedTask) -> Iterator[str]:
    """What a task says below its title."""
    if task.description:
        yield fold(task.description)
    yield from (f"item {fold(item.title)}" for item in task.items)
    yield from (f"note {fold(note.text)}" for note in task.notes)


def is_similar(one: str, other: str) -> bool:
    """Whether two titles are hardly different."""
    return SequenceMatcher(None, fold(one), fold(other), autojunk=False).ratio() >= SIMILAR


def same_numbers(one: str, other: str) -> bool:
    """Whether both have the same numbers in them: `week 1` is not `week 2`."""

    def numbers(title: str) -> list[str]:
        return [word for word in fold(title).split() if any(map(str.isdigit, word))]

    return numbers(one) == numbers(other)


# -------------------------------------------------------------------------------------------- items
# Which item is one that was there before under another title (ADR 48). Nothing is ticked that
# nobody ticked: an item that only the person ticked is found again in its place alone, and only by
# words that both titles have.


def with_items(
    now: ImportedTask, before: ImportedTask, here: Sequence[ChecklistItem]
) -> ImportedTask:
    """A task of a file, its items by their old ids where the file only renamed them, now or ever.
    One that was renamed here since, or archived, is none of these. `before`: what the file said
    last; `here`: the items of the task as they are.

    >>> was = ImportedTask("t1", "Paint", items=(ImportedItem("Sand"), ImportedItem("Oil it")))
    >>> sand, oil = numbered(was)
    >>> first = ChecklistItem(sand, "c1", "Sand", "import:a")
    >>> here = [first, ChecklistItem(oil, "c1", "Oil it", "import:a")]
    >>> now = ImportedTask("t1", "Paint", items=(ImportedItem("Sand"), ImportedItem("Oil it all")))
    >>> list(numbered(with_items(now, was, here))) == [sand, oil]
    True
    """
    ids = dict(zip(_item_places(before), (item.id for item in before.items), strict=True))
    carried = zip(now.items, _item_places(now), strict=True)
    now = _items_with_ids(now, [item.id or ids.get(place, "") for item, place in carried])
    said, present = _by_id(before), _by_id(now)
    there = [item for item in here if item.id in said and not item.is_archived]
    held = {item.id: item for item in there if item.title == said[item.id].title}
    others = {fold(item.title) for item in here if item.id not in held}
    known = {*said, *(item.id for item in here)}
    gone = [one for one in said if one in held and one not in present]
    new = [one for one in present if one not in known and fold(present[one].title) not in others]
    in_place = _in_place(said, present)

    def rank(was: str, one: str) -> int:
        return _item_rank(held[was], present[one], in_place.get((was, one), 0))

    if not (became := _ranked(gone, new, rank)):
        return now
    now = _items_with_ids(now, [became.get(one, item.id) for one, item in present.items()])
    return with_items(now, before, here)  # others stand alone between known ones by now


def _item_rank(was: ChecklistItem, now: ImportedItem, among: int) -> int:
    """How sure it is that both are one; 0: they are two. `among`: so many are gone, and new, at one
    place, at which both are; 0: they are not at one."""
    if not same_numbers(was.title, now.title):
        return 0
    is_ticked_here = was.is_checked and not now.is_checked
    if is_similar(was.title, now.title) and (among or not is_ticked_here):
        return 3 if among else 2
    is_alone = among == 1 and not is_ticked_here
    return int(is_alone or (among > 0 and _shares(was.title, now.title)))


def _shares(one: str, other: str) -> bool:
    """Whether two titles share half of the words of the shorter one, or more."""
    mine, theirs = set(fold(one).split()), set(fold(other).split())
    return len(mine & theirs) * 2 >= min(len(mine), len(theirs))


def _in_place(said: Collection[str], present: Collection[str]) -> dict[tuple[str, str], int]:
    """What is gone with what is new, where as many of both stand between the same neighbours; and
    how many these are."""
    before, now = _items_between(said, present), _items_between(present, said)
    places = [(was, now.get(place, ())) for place, was in before.items()]
    same = [(was, new) for was, new in places if len(was) == len(new)]
    return {pair: len(was) for was, new in same for pair in zip(was, new, strict=True)}


def _items_between(ids: Iterable[str], others: Collection[str]) -> dict[tuple[str, str], list[str]]:
    """What only these have, by the neighbours that both have."""
    found: dict[tuple[str, str], list[str]] = {}
    first, own = "", list[str]()
    for one in (*ids, ""):
        if one and one not in others:
            own.append(one)
            continue
        if own:
            found[first, one] = own
        first, own = one, []
    return found


def _by_id(task: ImportedTask) -> dict[str, ImportedItem]:
    return dict(zip(numbered(task), task.items, strict=True))


def _items_with_ids(task: ImportedTask, ids: Sequence[str]) -> ImportedTask:
    pairs = zip(task.items, ids, strict=True)
    return replace(task, items=tuple(replace(item, id=one) for item, one in pairs))


def _item_places(task: ImportedTask) -> list[tuple[str, int]]:
    """The title of each item, and its place among its equals."""
    titles = [fold(item.title) for item in task.items]
    return list(zip(titles, nths([(title, False) for title in titles]), strict=True))


# -------------------------------------------------------------------------------- what is no change


def as_before(
    now: ImportedTask,
    before: ImportedTask,
    *,
    is_closed: bool = False,
    closed: Collection[str] = (),
) -> ImportedTask:
    """A task's document with category and labels spelled as the file spelled them before.

    Labels and categories are the same whatever their case; compared as they are spelled, a
    label would be removed for its new spelling. A box ``[>]`` was an open one in 0.1.0: that it is
    on hold now opens no task that `is_closed` here. A day on which it was `closed` here, too, is no
    reason of its own: so `write-back` says it.

    >>> was = ImportedTask("t1", "Paint", category="Home", labels=("Green",))
    >>> now = ImportedTask("t1", "Paint", category="HOME", labels=("new", "green"))
    >>> as_before(now, was).category, as_before(now, was).labels
    ('Home', ('new', 'Green'))
    """
    spelled = {fold(name): name for name in before.labels}
    labels = tuple(spelled.get(fold(name), name) for name in now.labels)
    is_same = fold(now.category) == fold(before.category)
    if is_closed and now.status == "ON HOLD" and not before.status:
        now = replace(now, status="", status_reason="")
    if now.status_reason != before.status_reason and now.status_reason in closed:
        now = replace(now, status_reason="")
    return replace(now, labels=labels, category=before.category if is_same else now.category)


def closings(task: Task) -> set[str]:
    """How a file might say when a task got each status that it had, wherever it was written."""
    return {
        closed_on(one.status, f"{instant(one.at) + timedelta(hours=hours):%Y-%m-%d}")
        for one in task.history
        for hours in EARTH
    }


def items_as_before(
    now: ImportedTask, before: ImportedTask, items: Sequence[ChecklistItem]
) -> ImportedTask:
    """A task's document with items under the titles that the file had before, where it says now
    what they are called here: whoever retitled an item here, and then in the file, has one.

    >>> from domain.journal.imported import ImportedItem
    >>> was = ImportedTask("t1", "Paint", items=(ImportedItem("Sand"), ImportedItem("Buy")))
    >>> (sand, buy) = numbered(was)
    >>> now = ImportedTask("t1", "Paint", items=(ImportedItem("Sand it"), ImportedItem("Buy")))
    >>> first = ChecklistItem(sand, "c1", "Sand it", "person")
    >>> here = [first, ChecklistItem(buy, "c1", "Buy", "import:a")]
    >>> items_as_before(now, was, here) == was
    True
    """
    present, known, said = numbered(now), {item.id for item in items}, _by_id(before)
    gone = [item for item in items if item.id in said and item.id not in present]
    retitled = {fold(item.title): said[item.id] for item in gone}
    named: list[ImportedItem] = []
    for one, item in zip(present, now.items, strict=True):
        was = item if one in known else retitled.pop(fold(item.title), item)
        named.append(replace(was, is_checked=item.is_checked))
    return replace(now, items=tuple(named))
