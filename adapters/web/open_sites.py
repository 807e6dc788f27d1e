"""The homes of a database that are open on this machine: so many at once, and one look at all."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from adapters.home.place import DatabasePlace
from adapters.home.views import BATCH_APPENDS
from adapters.store.documents import Position
from adapters.web.live import LOOK_SECONDS
from adapters.web.site import Site
from domain.errors import Refused
from projections.every import VIEWS

if TYPE_CHECKING:
    from adapters.store.postgres.homes import Homes

SITES_MAX = 64


class OpenSites:
    """Opens a home when somebody enters it; the one that was left for longest makes room."""

    def __init__(
        self,
        homes: "Homes",
        environ: Mapping[str, str],
        most: int = SITES_MAX,
        near: int = BATCH_APPENDS,
    ) -> None:
        """Args:
        homes: Of which database.
        environ: Environment variables.
        most: How many are open at once.
        near: So many appends are brought into views while a visitor waits.
        """
        self._near = near
        self._made: set[int] = set()  # homes whose views are those of this version
        self.homes = homes
        self._environ = environ
        self._most = most
        self._lock = Lock()
        self._sites: OrderedDict[tuple[int, str], Site] = OrderedDict()
        self._is_over = False
        self.lost: Refused | None = None  # a database is not replaced

    def site(self, number: int, name: str) -> Site:
        """The home of a number, which has this name now. Raises Refused, Damaged."""
        with self._lock:
            if (number, name) not in self._sites:
                place = DatabasePlace(self.homes, name, self._environ)
                self._sites[number, name] = Site(place, self._environ, has_engine=True)
            self._sites.move_to_end((number, name))
            if len(self._sites) > self._most:
                idle = [key for key, one in self._sites.items() if not one.jobs.is_busy]
                self._sites.pop((idle or list(self._sites))[0]).close()
            return self._sites[number, name]

    def is_making(self, number: int, site: Site) -> bool:
        """Whether its views are made anew just now, after an upgrade: beside those of the older
        version, by a worker or in a thread here. Raises Refused."""
        if number in self._made:
            return False
        home = site.home
        store, logs = home.place.documents(), (home.services.journal, home.services.agents)
        assert not isinstance(store, Path), "a home in a database has a shared store"
        with site.lock:
            ends = {log.name: log.tail().n for log in logs}
        reached = store.positions(VIEWS)
        behind = max(ends[one.log] - reached.get(one.name, Position()).n for one in VIEWS)
        if behind <= self._near or not store.has_others(VIEWS):
            self._made.add(number)
            return False
        if not site.jobs.is_busy:
            site.jobs.start(lambda own: own.views.catch_up())
        return True

    async def watch(self) -> None:
        """Tell the pages of each home when it changed: one query for all, until it is over."""
        while not self._is_over:  # until the server ends
            with suppress(Refused):  # a server that is away says nothing new
                await asyncio.to_thread(self._look)
            await asyncio.sleep(LOOK_SECONDS)

    def _look(self) -> None:
        with self._lock:
            looked = [(number, site) for (number, _), site in self._sites.items()]
        ends = self.homes.ends_of([number for number, _ in looked]) if looked else {}
        for number, site in looked:
            site.live.see(ends.get(number))

    def hush(self) -> None:
        """End all streams to pages."""
        self._is_over = True
        for site in self._all():
            site.live.close()

    def stop(self) -> None:
        """End what goes on beside the pages."""
        self.hush()
        for site in self._all():
            site.stop()

    def close(self, seconds: float = 0) -> None:
        """Close all, after so much time for what runs."""
        self.stop()
        for site in self._all():
            site.jobs.wait(seconds)
            site.close()

    def _all(self) -> list[Site]:
        with self._lock:
            return list(self._sites.values())
