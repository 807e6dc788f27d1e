"""One home behind the pages: a page at a time, each on views that are caught up."""

import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from adapters.documents.agents import count_agents
from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.inbox import is_under, sets_now
from adapters.documents.replica_conflicts import replica_conflicts
from adapters.documents.status import lead_away, wakes_by_itself
from adapters.documents.tasks import catalog_of
from adapters.documents.wakes import wake_of
from adapters.home.home_location import HomeLocation
from adapters.text.common import ID_SHOWN
from adapters.text.sync import away_text
from adapters.usecases import forks
from adapters.usecases.catalog import scope_labels
from adapters.usecases.import_sources import FileInput
from adapters.usecases.policy import held_agents
from adapters.usecases.resolve import nth_key
from adapters.usecases.templates import AFTER_NAMING
from adapters.web.http_types import (
    Answered,
    Clash,
    Form,
    FormChanges,
    FormRequest,
    Notice,
    clash_of,
    form_changes,
    missent,
    missing,
)
from adapters.web.jobs import Jobs
from adapters.web.metrics import Metrics, ends_of
from adapters.web.sse import EventBroadcast
from adapters.web.timeline import Timeline
from adapters.wiring import Home, open_home
from domain.errors import Refused
from projections import agents, tasks, wakes
from projections.agents import AgentDocument
from projections.view import D, View
from projections.wakes import WakeDocument

POLICY_FIELDS = ("models", "consent", "receipt")  # the beginnings of its fields
CONFLICT_PAGES = {
    "/catalog": "categories and labels",
    "/policy": "models and receipts",
    "/templates": "templates and ratings",
}
"""Which page shows what belongs to no task, and what that is called."""


def page_of_conflict(one: ConflictDetails) -> str:
    """The page that shows a conflict of no task."""
    if not one.about:
        return "/catalog"
    return "/policy" if one.field.partition(":")[0] in POLICY_FIELDS else "/templates"


# -------------------------------------------------------------------------- a home behind the pages

SHOWN_SHORT: dict[str, tuple[View[Any], str]] = {
    "tasks": (tasks.VIEW, "id"),
    "agents": (agents.VIEW, "id"),
    "wakes": (wakes.VIEW, "key"),
}
"""The view and the id's name of what has a page of its own."""
TOLD_KEPT = 200  # answers to forms, for the page that follows
GLANCE_WAKES = 100  # of which those that run are counted
GLANCE_MAX = 500  # sets of a tab that are counted for the head of each page
CHUNK = 250  # documents that are read at once
MOMENT_SECONDS = 0.01
MINUTE = 16  # characters of a time, to the minute
PAGE_SECONDS = 0.1  # that a page may take, when all is to end
_ADDRESS = re.compile(r'(\s(?:href|action|formaction|src)=")/(?!/|static/|homes")')
SCAN_MAX = 5_000  # documents that one page looks through for those that match


class Glance(Struct, frozen=True):
    """What the head of every page counts; `more` is ``+`` where more items may be waiting, `held`
    are the wakes that wait for a consent or a key, `differing` the titles of the tasks on which
    machines differ, by id; of what belongs to no task, by the page that shows it; `away`: that the
    machine that leads is silent, in words; `starts`: the command that wakes agents by
    itself, where there are some and it does not run."""

    waiting: int = 0
    deferred: int = 0
    more: str = ""
    running: int = 0
    held: int = 0
    differing: Mapping[str, str] = MappingProxyType({})
    away: str = ""
    starts: str = ""


def a_moment() -> None:
    """In which whoever waits for the home's lock takes it."""
    time.sleep(MOMENT_SECONDS)


class Site:
    """A home that is served. `lock` is held while a page is made: a log has one reader here.

    Args:
        where: The home; it is made if it is not there.
        environ: Environment variables.
        model: What `--model` says.
        has_engine: An engine of the same home runs beside: the wakes that are asked for are its.
    """

    def __init__(
        self,
        where: HomeLocation | Path,
        environ: Mapping[str, str],
        model: str = "",
        *,
        has_engine: bool = False,
    ) -> None:
        self.lock = RLock()
        self.environ = environ
        self.home: Home = open_home(where, environ, model=model, is_writing=True)
        self.home.hears_at_once = True  # its pages say what is queued
        scope_labels(self.home)
        forks.remove_unfinished(self.home.path)
        self.live = EventBroadcast(self.home.place.probes, self.tail)
        parallel = self.home.settings.agents.parallel
        self.jobs = Jobs(
            self.home.place, environ, model, parallel, self.live.pulse, has_engine=has_engine
        )
        self.figures = Metrics(self.jobs)
        self._told: OrderedDict[str, Notice] = OrderedDict()
        self._glance: tuple[str, Glance] = ("", Glance())
        self._run = secrets.token_hex(4)  # forms are of one run: the next one's pages are others
        self.brought: OrderedDict[str, FileInput] = OrderedDict()  # files that wait: `first_run`
        self.life: Timeline | None = None  # the one that somebody looked at last
        self.seen = ""
        self.lost: Refused | None = None  # why it can show nothing more: its logs were replaced

    @property
    def now(self) -> str:
        return self.home.services.clock.now()

    @property
    def zone(self) -> str:
        return self.home.settings.timezone

    def hush(self) -> None:
        """End all streams to pages."""
        self.live.close()

    def stop(self) -> None:
        """End what goes on beside the pages, or leave it as a crash would."""
        self.live.close()
        self.figures.stop()
        self.jobs.stop()

    def close(self) -> None:
        """Close the home; a page that is being made keeps it."""
        self.stop()
        if self.lock.acquire(timeout=PAGE_SECONDS):
            self.home.close()
            self.lock.release()

    def give_way(self, wait: Callable[[], None] = a_moment) -> None:
        """Let other pages be made while this one, which holds the lock once, waits a moment."""
        self.home.tell_doer()
        doer, seen = self.home.doer, self.seen
        self.lock.release()
        try:
            wait()
        finally:
            self.lock.acquire()
            self.home.doer, self.seen = doer, seen

    def keep(self, told: Notice, key: str) -> str:
        """Keep what came of a form; the name under which the next page finds it."""
        self._told[key] = told
        if len(self._told) > TOLD_KEPT:
            self._told.popitem(last=False)
        return key

    def told(self, key: str) -> Notice | None:
        """What came of the form that led to a page."""
        return self._told.get(key)

    def glance(self) -> Glance:
        """What the head of every page says; made anew as the logs grow, or a minute later."""
        seen = f"{self.seen} {self.now[:MINUTE]}"  # what was put off comes back with time alone
        if self._glance[0] != seen:
            waiting, more = self._counted("waiting")
            deferred, _ = self._counted("deferred")
            newest = self.home.views.page(wakes.VIEW, newest_first=True, limit=GLANCE_WAKES)
            running = sum(each.state == "running" for one in newest for each in one.every)
            held = len(held_agents(self.home))
            conflicts = [
                (one.task or page_of_conflict(one), one.title)
                for one in replica_conflicts(self.home)
            ]
            differing = {one: CONFLICT_PAGES.get(one, title) for one, title in conflicts}
            lead = lead_away(self.home)
            away = away_text(lead) if lead else ""
            can_wake = self.home.services.is_enabled and count_agents(self.home, "active") > 0
            starts = self.starts if can_wake and not wakes_by_itself(self.home, self.now) else ""
            found = Glance(waiting, deferred, more, running, held, differing, away, starts)
            self._glance = seen, found
        return self._glance[1]

    @property
    def starts(self) -> str:
        """The command that wakes agents by itself."""
        return "wakelog run --serve" if self.home.place.is_folder else "wakelog worker"

    def _counted(self, tab: str) -> tuple[int, str]:
        """The items under a tab of the inbox, and ``+`` where there may be more of them."""
        sets, now = sets_now(self.home, tab, limit=GLANCE_MAX), self.now
        number = sum(is_under(item, tab, now) for one in sets for item in one.items)
        return number, "+" if len(sets) == GLANCE_MAX else ""

    def tail(self) -> str:
        """What there is to see now: the server's run, where both logs end, and its jobs' news."""
        with self.lock:
            return f"{self._run}-{self.ends()}-{self.live.beats}"

    def ends(self) -> str:
        """Where both logs end now."""
        with self.lock:
            return ends_of(self.home)

    def catch_up(self) -> None:
        """Bring the views up to date; `seen` tells what they hold at the least.

        It is read first: a page that names a later end than it was made from would never learn
        what was appended in between.
        """
        try:
            self.home.services.check_standing()
        except Refused as error:
            self.lost = error
            raise
        self.seen = self.tail()
        self.home.views.catch_up()

    def newest_first(
        self, view: View[D], marks: Sequence[str] = ("",), shelf: str = "", before: str = ""
    ) -> Iterator[D]:
        """The documents of a view with one of some marks, read in chunks by who takes them."""
        while True:  # bounded by who takes them
            chunk = self.home.views.marked(
                view, marks, shelf=shelf or None, before=before, newest_first=True, limit=CHUNK
            )
            yield from chunk
            if len(chunk) < CHUNK:
                return
            before = view.place(chunk[-1])

    def knows(self, asked: FormRequest) -> bool:
        """Whether a form was acted on before."""
        logs = self.home.services.journal, self.home.services.agents
        keys = [nth_key(asked.key, nth) for nth in (1, AFTER_NAMING)]
        return any(log.receipts(key) for log in logs for key in keys)

    def changes(
        self,
        asked: FormRequest,
        given: Mapping[str, str],
        now: Mapping[str, str],
        labels: Mapping[str, str] = MappingProxyType({}),
        forms: Mapping[str, Form] = MappingProxyType({}),
    ) -> FormChanges:
        """What a form changes, see `form_changes`. Raises Answered: that is nothing, or something
        of it was changed elsewhere. `labels` and `forms`: what fields are called and how they are
        edited, where that is not by their name, and in a line."""
        found = form_changes(asked, given, now)
        if not found.changed:
            raise Answered(Notice("Nothing was changed."))
        if found.moved and not self.knows(asked):
            clashes = [
                Clash(labels.get(one, one), now[one], given[one], one, forms.get(one, "line"))
                for one in found.moved
            ]
            left = {name: now[name] for name in given if name not in found.changed}
            was = {f"was.{name}": now[name] for name in given}
            raise Answered(clash_of(asked, clashes, {**left, **was}))
        return found

    def has_agents(self) -> bool:
        """Whether any agent was ever made here."""
        return bool(self.home.views.page(agents.VIEW, limit=1))

    def labels(self) -> list[tuple[str, str]]:
        """The living labels, id and name."""
        known = catalog_of(self.home).labels.values()
        return [(one.id, one.name) for one in known if not one.is_deleted]

    def wake(self, run_key: str) -> WakeDocument:
        """A wake by its run key, or Refused."""
        if (found := wake_of(self.home, run_key)) is None:
            raise missing("unknown_wake", "wake", run_key)
        return found

    def whole_address(self, path: str) -> str:
        """The address of a page, with the whole id where it has as much of one as the command line
        shows."""
        _, kind, given, *_ = *path.split("/"), "", ""
        if len(given) != ID_SHOWN or kind not in SHOWN_SHORT:
            return path
        view, name = SHOWN_SHORT[kind]
        begun = self.home.views.page(view, prefix=given, limit=2)
        return path.replace(given, getattr(begun[0], name), 1) if len(begun) == 1 else path

    def agent_name(self, agent_id: str) -> str:
        """What an agent is called; empty where there is none."""
        found = self.home.views.get(agents.VIEW, agent_id) if agent_id else None
        return found.name if found else ""

    def living_agent(self, task_id: str) -> AgentDocument | None:
        """The agent of a task."""
        found = self.home.views.page(agents.VIEW, shelf=task_id)
        return next((one for one in found if one.is_living), None)


def local_path(given: str, default: str) -> str:
    """An address of ours that a form names; anything else is the default.

    >>> local_path("/tasks/a?b=c", "/"), local_path("//evil.example", "/")
    ('/tasks/a?b=c', '/')
    """
    is_ours = given.startswith("/") and not given.startswith("//")
    is_plain = given.isprintable() and given.isascii() and "\\" not in given
    return given if is_ours and is_plain else default


def below(root: str, text: str) -> str:
    """A page whose addresses begin with a prefix: the one place in which they get it.

    What somebody wrote holds no quotation mark any more, so no text is taken for an address.

    >>> below("/h/anna", '<a href="/tasks">x</a> <img src="/static/i.svg"> <a href="/homes">')
    '<a href="/h/anna/tasks">x</a> <img src="/static/i.svg"> <a href="/homes">'
    """
    return _ADDRESS.sub(rf"\1{root}/", text) if root else text


def check_sure(asked: FormRequest, what: str) -> None:
    """Refuse what cannot be undone unless the box was ticked."""
    if asked.form.get("sure") != "yes":
        raise missent(f"{what} was not confirmed", "tick the box, and send it again")


def page_size(asked: FormRequest, default: int = 50, most: int = 200) -> int:
    """How many rows a page shows: what the address asks for, within bounds."""
    return min(most, asked.number("limit") or default)
