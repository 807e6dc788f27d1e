"""After an upgrade, the views of all homes are made anew beside those that are there (ADR 69).

Pages of the older version go on with theirs meanwhile, and pages of the new one find the work done.
What nobody of an older version reads any more is taken away."""

import random
from collections.abc import Callable, Collection
from threading import Event

from adapters.runtime.engine_options import Tell
from adapters.store.postgres.homes import HomeRow, Homes
from adapters.wiring import Home
from domain.errors import WakelogError
from projections.all_views import VIEWS

KEPT_SECONDS = 3_600  # that older pages have to end


class ViewRebuilder:
    """Looks at the homes of a database, again and again; `look` runs in a thread of its own."""

    def __init__(
        self,
        homes: Homes,
        opens: Callable[[str], Home],
        tell: Tell,
        only: Collection[str] = (),
        kept_seconds: float = KEPT_SECONDS,
    ) -> None:
        """`opens`: gives a home by its name, open to write; `tell`: is told how many homes were
        renewed, and what went wrong; `only`: the homes to look at, by name, else all;
        `kept_seconds`: how long what an older version made is kept."""
        self._homes, self._opens, self._tell = homes, opens, tell
        self._only, self._kept_seconds = only, kept_seconds
        self._settled: set[int] = set()  # homes in which nothing is of another version
        self._is_over = Event()

    def look(self) -> None:
        """See to each home that is not settled. Raises Refused: the database is away."""
        every = [one for one in self._homes.all() if not self._only or one.name in self._only]
        left = [one for one in every if one.state == "open" and one.number not in self._settled]
        random.shuffle(left)  # so that several workers share them
        renewed = 0
        for home in left:
            if self._is_over.is_set():
                return
            try:
                renewed += self._renew(home)
            except _StoppedError:
                return
            except Exception as error:  # noqa: BLE001  one home may not hold up the others
                is_ours = isinstance(error, WakelogError)
                told = error if is_ours else f"{type(error).__name__}: {error}"
                self._tell("trouble", level="error", home=home.name, message=told)
        if renewed:
            self._tell("renewed", homes=renewed)

    def stop(self) -> None:
        """End after the batch that is being made; another worker goes on from there."""
        self._is_over.set()

    def _renew(self, home: HomeRow) -> bool:
        """Whether anything of it was made."""
        store, batches = self._homes.documents(home), list[int]()

        def go_on(_: str, n: int, __: int) -> None:
            batches.append(n)
            if self._is_over.is_set():
                raise _StoppedError

        if store.has_others(VIEWS):
            with self._opens(home.name) as opened:
                opened.views.catch_up(go_on)
            if not store.outlived(VIEWS, self._kept_seconds):
                return bool(batches)
        self._settled.add(home.number)
        return bool(batches)


class _StoppedError(Exception):
    """The worker ends."""
