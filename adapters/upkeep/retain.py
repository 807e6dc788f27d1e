"""Drops what a home keeps of wakes of long ago and need not (`wakelog retain`, ADR 109): prompts
and snapshots that today's code renders again to the same ids, and the bytes of old replies.

A payload goes only if nothing else names it: no fact but these, and no wake that is newer or has
not ended.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from adapters.documents.results import RetainDetails
from adapters.home import files
from adapters.store.log import Log
from adapters.store.rendered_anew import Began, begun_by, rendered_anew
from adapters.timetravel.logs_at import past_of
from domain.append.texts import payloads_named
from domain.errors import Refused
from domain.log.state import RecordedEvent
from domain.log.timestamps import later
from domain.log.wire import PayloadId
from domain.retention import What, prompt_ids
from domain.wake.wake import ModelAnswered, WakeFinished, WakeStarted, unwrapped
from domain.wake.wake_inputs import DAY_SECONDS

if TYPE_CHECKING:
    from adapters.wiring import Home

RetainProgress = Callable[[int, int], None]
"""``progress(nth, of)``: so many wakes were rendered."""


class Named(NamedTuple):
    """What an agents' log names up to append `n`: `begun` wakes, which of all have `ended`, times
    of `replies`, and the payloads that `others` name."""

    n: int
    begun: tuple[Began, ...]
    ended: frozenset[str]
    replies: dict[PayloadId, str]
    others: frozenset[PayloadId]

    def old(self, until: str) -> list[Began]:
        """The wakes that began before, and have ended."""
        return [one for one in self.begun if one.at < until and one.begun.run_key in self.ended]


def named_in(log: Log) -> Named:
    """What a log names; reads all of it."""
    n, begun, ended = 0, list[Began](), set[str]()
    replies, others = dict[PayloadId, str](), set[PayloadId]()
    for append in log.appends():
        n = append[0].n
        one = begun_by(append)
        begun += [one] if one else []
        shown = {*prompt_ids(one.begun)} if one else set[PayloadId]()
        for row in append:
            said = unwrapped(row.fact)
            own = {said.reply} if isinstance(said, ModelAnswered) else shown
            is_begun = one is not None and (row is append[0] or isinstance(said, WakeStarted))
            if isinstance(said, ModelAnswered):
                replies[said.reply] = max(row.at, replies.get(said.reply, ""))
            elif not is_begun:
                own = set()
            others.update(name for name in payloads_named(row.fact) if name not in own)
            if isinstance(said, WakeFinished):
                ended.add(row.entity)
    return Named(n, tuple(begun), frozenset(ended), replies, frozenset(others))


def _kept(log: Log, names: Iterable[PayloadId], but: Container[PayloadId]) -> list[PayloadId]:
    """Those of these payloads that are there, each once, in order."""
    wanted = [one for one in dict.fromkeys(names) if one not in but]
    there = {name for name, _ in log.payloads(wanted)}
    return [one for one in wanted if one in there]


def _prompts(home: "Home", named: Named, until: str, told: RetainProgress) -> Iterator[PayloadId]:
    """The prompts and snapshots of old wakes that render again."""
    old, past = named.old(until), past_of(home)
    kept = {*map(id, old)}
    living = (prompt_ids(one.begun) for one in named.begun if id(one) not in kept)
    but = named.others.union(*living, named.replies)
    gone = set[PayloadId]()
    for nth, one in enumerate(old, start=1):
        told(nth, len(old))
        names = _kept(home.services.agents, prompt_ids(one.begun), but | gone)
        made = rendered_anew(past.journal.world, past.agents.world, one) if names else {}
        gone.update(name for name in names if name in made)
        yield from (name for name in names if name in made)


def _replies(home: "Home", named: Named, until: str) -> list[PayloadId]:
    """The bytes of replies of before."""
    old = [name for name, at in named.replies.items() if at < until]
    shown = chain.from_iterable(prompt_ids(one.begun) for one in named.begun)
    return _kept(home.services.agents, old, named.others.union(shown))


def retain(
    home: "Home",
    prompts_days: int,
    replies_days: int,
    *,
    is_dry: bool = False,
    is_compact: bool = False,
    progress: RetainProgress = lambda *_: None,
) -> RetainDetails:
    """Drop prompts and replies that are older; 0 days: keep them.

    Raises:
        Refused: Code ``not_a_file``: the home is in a database; ``shared``: machines share it.
    """
    agents = home.services.agents
    _check_alone(home)
    now = home.services.clock.now()
    path = home.path / files.AGENT
    before = path.stat().st_size
    named = named_in(agents)
    until = {"prompts": prompts_days, "replies": replies_days}
    counts, sizes = {"prompts": 0, "replies": 0}, {"prompts": 0, "replies": 0}
    for what, days in until.items():
        if not days:
            continue
        moment = later(now, seconds=-days * DAY_SECONDS)
        if what == "prompts":
            gone = [*_prompts(home, named, moment, progress)]
        else:
            gone = _replies(home, named, moment)
        sizes[what] = sum(len(data) for _, data in agents.payloads(gone))
        counts[what] = len(gone)
        if gone and not is_dry:
            found = partial(_still, agents, named.n, gone)
            counts[what] = len(agents.retain(_WHAT[what], moment, found, now))
    if is_compact and not is_dry:
        agents.recorder.compact()
    after = path.stat().st_size
    return RetainDetails(
        not is_dry,
        counts["prompts"],
        sizes["prompts"],
        counts["replies"],
        sizes["replies"],
        before,
        after,
    )


_WHAT: dict[str, What] = {"prompts": "prompts", "replies": "replies"}


def _still(log: Log, n: int, gone: list[PayloadId]) -> list[PayloadId]:
    """What nothing names that came since it was looked for: asked under the lock."""
    rows: Iterator[RecordedEvent] = chain.from_iterable(log.appends(n))
    newer = {name for row in rows for name in payloads_named(row.fact)}
    return [one for one in gone if one not in newer]


def _check_alone(home: "Home") -> None:
    if not home.place.is_folder:
        because = f"{home.place.name} is in a database, of which nothing can be dropped yet"
        instead = f"move it to a folder with `wakelog copy {home.place.name} FOLDER`"
        raise Refused("not_a_file", because=because, instead=instead)
    if home.services.agents.is_shared:
        because = "machines share this home, and each of them holds whole logs"
        raise Refused("shared", because=because, instead="nothing was dropped")
