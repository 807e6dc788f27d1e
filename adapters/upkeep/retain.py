"""Drops what a home keeps of wakes of long ago and need not (`wakelog retain`, ADR 109): prompts
and snapshots that today's code renders again to the same ids, and the bytes of old replies.

A payload goes only if nothing else names it: no fact but these, and no wake that is newer or has
not ended."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from threading import Event, Thread
from typing import NamedTuple

from adapters.documents.results import RetainDetails
from adapters.home import files
from adapters.home.settings import RetainSettings
from adapters.runtime.engine_options import Tell
from adapters.store.log import Log
from adapters.store.rendered_anew import Began, begun_by, rendered_anew
from adapters.timetravel.logs_at import past_of
from adapters.wiring import Home, open_home
from domain.append.texts import payloads_named
from domain.errors import WakelogError
from domain.log.state import RecordedEvent
from domain.log.timestamps import later
from domain.log.wire import PayloadId
from domain.retention import What, prompt_ids
from domain.wake.commands import ProposeChanges
from domain.wake.wake import ModelAnswered, WakeFinished, WakeStarted, unwrapped
from domain.wake.wake_inputs import DAY_SECONDS

LOOSE = 1 / 3  # of a file, from which on it is written anew

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
        if one and isinstance(one.cause, ProposeChanges):
            shown.add(one.cause.reply.reply)
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


def _prompts(home: Home, named: Named, until: str, told: RetainProgress) -> Iterator[PayloadId]:
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


def _replies(home: Home, named: Named, until: str) -> list[PayloadId]:
    """The bytes of replies of before."""
    old = [name for name, at in named.replies.items() if at < until]
    shown = chain.from_iterable(prompt_ids(one.begun) for one in named.begun)
    return _kept(home.services.agents, old, named.others.union(shown))


def retain(
    home: Home, prompts_days: int, replies_days: int, *, is_dry: bool = False,
    is_compact: bool = False, progress: RetainProgress = lambda *_: None,
) -> RetainDetails:  # fmt: skip
    """Drop prompts and replies that are older; 0 days: keep them. A file of which a third is free
    then is written anew, with `is_compact` any. Raises as `HomeLocation.check_erasing` does."""
    if not is_dry:
        home.place.check_erasing()
    agents, now = home.services.agents, home.services.clock.now()
    before, named = _size(home), named_in(agents)

    def drop(what: What, days: int, old: Callable[[str], Iterable[PayloadId]]) -> tuple[int, int]:
        until = later(now, seconds=-days * DAY_SECONDS)
        gone = [*old(until)] if days else []
        size = sum(len(data) for _, data in agents.payloads(gone))
        if gone and not is_dry:
            gone = [*agents.retain(what, until, partial(_still, agents, named.n, gone), now)]
        return len(gone), size

    prompts = drop("prompts", prompts_days, lambda until: _prompts(home, named, until, progress))
    replies = drop("replies", replies_days, lambda until: _replies(home, named, until))
    if not is_dry and (is_compact or prompts[0] or replies[0]):
        agents.recorder.compact(0.0 if is_compact else LOOSE)
    return RetainDetails(not is_dry, *prompts, *replies, before, _size(home))


def _size(home: Home) -> int:
    """Bytes of the agents' file; 0 in a database."""
    return (home.path / files.AGENT).stat().st_size if home.place.is_folder else 0


def _still(log: Log, n: int, gone: list[PayloadId]) -> list[PayloadId]:
    """What nothing names that came since it was looked for: asked under the lock."""
    rows: Iterator[RecordedEvent] = chain.from_iterable(log.appends(n))
    newer = {name for row in rows for name in payloads_named(row.fact)}
    return [one for one in gone if one not in newer]


# ------------------------------------------------------------------------------------- once a day

_LOOKED = "retained"  # when that was looked at last, among what views keep
HOUR = 3600.0


class _StoppedError(Exception):
    """Whoever runs it ends."""


def retain_due(home: Home, tell: Tell, is_over: Event | None = None) -> None:
    """Drop what the settings name, if that was not looked at today. `tell` is told what was
    dropped, or why nothing could be; `is_over` ends it between two wakes; what was found is left
    for the next time."""
    given, now = home.settings.retain, home.services.clock.now()
    looked = (home.views.remembered(_LOOKED) or b"").decode()
    if given == RetainSettings() or (looked and later(looked, seconds=DAY_SECONDS) > now):
        return

    def go_on(_nth: int, _of: int) -> None:
        if is_over and is_over.is_set():
            raise _StoppedError

    try:
        did = retain(home, given.prompts_days, given.replies_days, progress=go_on)
    except _StoppedError:
        return
    except WakelogError as error:
        _tell_trouble(tell, error)
    else:
        if did.prompts or did.replies:
            tell("retained", prompts=did.prompts, replies=did.replies)
    home.views.remember(_LOOKED, now.encode())


def _tell_trouble(tell: Tell, error: WakelogError) -> None:
    tell("trouble", level="warning", code=error.code, message=error)


@contextmanager
def retaining(home: Home, environ: Mapping[str, str], tell: Tell, *, once: bool) -> Iterator[None]:
    """Do so beside what runs meanwhile, each day, with a home of its own; `once`: after it."""
    if once or home.settings.retain == RetainSettings():
        yield
        retain_due(home, tell)
        return
    is_over = Event()

    def work() -> None:
        while not is_over.is_set():
            try:
                with open_home(home.place, environ) as own:
                    retain_due(own, tell, is_over)
            except WakelogError as error:
                _tell_trouble(tell, error)
            is_over.wait(HOUR)

    thread = Thread(target=work, name="wakelog-retain")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
