"""wakelog for programs and notebooks: a home in hand.

>>> from tempfile import TemporaryDirectory
>>> from pathlib import Path
>>> with TemporaryDirectory() as folder:
...     file = Path(folder, "TODO.md")
...     _ = file.write_text("- [ ] Fix the tap\\n\\n  It takes about 2 hours.\\n")
...     with open_home(Path(folder, "home"), may_be_new=True, environ={}) as home:
...         _ = home.import_file(file)
...         _ = home.create_agent("Fix the tap")
...         _ = home.wake("Fix the tap")
...         [item.summary for one in home.inbox() for item in one.items]
...         home.confirm("1.1").status
['Set estimate to 120 minutes']
'confirmed'

Tasks, agents and wakes are named as on the command line: by id, the beginning of one, or title; an
item is SET.ITEM. Answers are the records that `wakelog --json` prints. Every mistake raises a
`WakelogError` with a `code`: `Refused` (bad input, or what the rules forbid), `KeyReused` (one key
for two deeds) or `Damaged`.
"""

import asyncio
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from msgspec import Struct

from adapters import wiring
from adapters.documents.agents import AgentLine, agent_lines, agent_of
from adapters.documents.inbox import (
    InboxItem,
    InboxSet,
    all_sets,
    inbox_sets,
    set_documents,
    set_of,
)
from adapters.documents.policy import Allowed
from adapters.documents.tasks import ImportReport, task_lines
from adapters.documents.timetravel import (
    ForkDetails,
    HomesDiff,
    MomentDetails,
    WakesDiff,
    WorldsDiff,
    at_document,
)
from adapters.documents.wakes import WakeLine, wake_document, wake_lines, wake_of
from adapters.home.home_location import location_of
from adapters.home.read_input import UnreadableInput
from adapters.home.sanitise_input import replacement_line, sanitised_by
from adapters.proof.prove import Proved, prove_home
from adapters.proof.prove_views import with_views
from adapters.text.remedies import in_words
from adapters.text.timetravel import step_lines, wakes_lines, worlds_lines
from adapters.timetravel.fork import TOKENS_MAX
from adapters.usecases.agents import AgentOptions, assign_agent
from adapters.usecases.catalog import scope_labels
from adapters.usecases.forks import ForkRequest, fork_wake
from adapters.usecases.import_sources import format_named, given_file, read_file, sources_of
from adapters.usecases.import_tasks import Importing
from adapters.usecases.policy import allow
from adapters.usecases.proposals import ItemVerdict, decide, named_items
from adapters.usecases.resolve import pick_agent, pick_task, retry_key
from adapters.usecases.time_travel import compare, find_moment, run_again, scope_of
from adapters.usecases.wake_agents import request_wake, run_wake
from domain.errors import Damaged, KeyReused, Refused, WakelogError
from domain.journal.document import TaskLine
from domain.log import canonical

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "open_home", "Home", "TaskLine", "AgentLine", "InboxSet", "InboxItem", "WakeLine",
    "ImportReport", "Allowed", "Proved", "MomentDetails", "Replay", "Difference", "ForkDetails",
    "Rows", "WakelogError", "Refused", "KeyReused", "Damaged", "__version__",
]  # fmt: skip
__version__ = version("wakelog")

T = TypeVar("T")
_P = ParamSpec("_P")


class Rows(Struct, frozen=True):
    """The answer to a query. As a frame: ``pandas.DataFrame(found.rows, columns=found.columns)``,
    or ``polars.DataFrame(found.rows, schema=found.columns, orient="row")``."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self.rows):,} rows of {', '.join(self.columns)}>"

    def dicts(self) -> list[dict[str, Any]]:
        """Each row by the names of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Replay(Struct, frozen=True):
    """A wake run again. `is_same`: every byte is what was recorded; `sections` of its prompt and
    `steps` are counted; `lines` tell the steps."""

    run_key: str
    is_same: bool
    sections: int
    steps: int
    lines: list[str]


class Difference(Struct, frozen=True):
    """What differs between two wakes, moments or homes: the document of `diff`, and in lines."""

    is_same: bool
    document: WakesDiff | WorldsDiff | HomesDiff
    lines: list[str]


def open_home(
    path: str | os.PathLike[str] | None = None,
    *,
    model: str = "",
    may_be_new: bool = False,
    environ: Mapping[str, str] | None = None,
) -> "Home":
    """Open a home.

    Args:
        path: Its folder, or ``pg:NAME``; None: `WAKELOG_HOME`, else ``~/.wakelog``.
        model: Who answers; empty: as the home's settings say.
        may_be_new: A home that is not there reads as an empty one, and is made by the first deed
            that writes.
        environ: Environment variables; None: those of this process.

    Raises:
        Refused: There is no home, it cannot be used, or a setting is bad.
        Damaged: A log that cannot be read.
    """
    environ = os.environ if environ is None else environ
    place = location_of(None if path is None else os.fspath(path), environ)
    if not place.exists() and not may_be_new:
        instead = "name another folder, or begin one with may_be_new=True"
        raise Refused("not_a_log", because=f"there is no home at {place.name}", instead=instead)
    opened = wiring.open_home(place, environ, model=model)
    if (other := opened.other) is not None:
        warnings.warn(f"{other.because}; {other.instead}", stacklevel=2)
    return Home(opened, model, environ)


def _keyed(deed: Callable[_P, T]) -> Callable[_P, T]:
    """A deed that names a key that was used before as its caller did."""

    @wraps(deed)
    def done(*args: _P.args, **kwargs: _P.kwargs) -> T:
        try:
            return deed(*args, **kwargs)
        except KeyReused:
            raise KeyReused(str(kwargs.get("key", ""))) from None

    return done


class Home:
    """An open home, from `open_home`. Close it, or use it in a ``with`` block. A deed that writes
    takes a `key`: the same deed under the same key is done once, however often it is asked for."""

    def __init__(self, opened: wiring.Home, model: str, environ: Mapping[str, str]) -> None:
        self.path, self._name = opened.path, opened.place.name
        self._opened: wiring.Home | None = opened
        opened.doer = "program"
        self._is_writing = False
        self._model = model
        self._environ = environ

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<wakelog home {self._name}{'' if self._opened else ', closed'}>"

    def close(self) -> None:
        """Close its files; twice is harmless."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def tasks(self) -> list[TaskLine]:
        """All tasks that are not deleted, as `wakelog task list`."""
        return task_lines(self._reading())

    def agents(self) -> list[AgentLine]:
        """All agents that were not deleted, the oldest first, as `wakelog agent list`."""
        return agent_lines(self._reading())

    def inbox(self, *, is_all: bool = False) -> list[InboxSet]:
        """What agents propose, the oldest first, as `wakelog inbox`; `is_all`: deferred and decided
        proposals, too."""
        home = self._reading()
        return set_documents(home, all_sets(home), is_all=True) if is_all else inbox_sets(home)

    def wakes(self) -> list[WakeLine]:
        """All wakes, the newest first, as `wakelog wakes`."""
        return wake_lines(self._reading())

    @_keyed
    def import_file(
        self,
        path: str | os.PathLike[str],
        *,
        source: str = "",
        form: str = "",
        by_heading: bool = False,
        key: str = "",
    ) -> ImportReport:
        """Take tasks over from a file, as `wakelog import`; again, it takes over what changed.
        `unreadable` of the report is what could not be read in it.

        Args:
            path: The file.
            source: The name by which it is known; empty: the file's.
            form: Its format; empty: by its name and content.
            by_heading: In Markdown, a heading is a task and its boxes are its checklist.
            key: Makes a retry safe.
        """
        file, form, key = os.fspath(path), format_named(form), retry_key(key)
        home = self._reading()
        try:
            (place,) = sources_of(home, [file], self._text(source), self._environ)
            given = given_file(file, place, form=form, by_heading=by_heading)
            found = read_file(home, given, self._environ)
        except UnreadableInput as error:
            because = f"{file} cannot be read: {error.because}"
            raise Refused("unreadable_file", because=because, instead=error.instead) from None
        home = self._writing() if found.file.tasks else home
        return Importing(key).take(home, file, found, place=place)

    @_keyed
    def create_agent(
        self, task: str, *, model: str = "", template: str = "", key: str = ""
    ) -> AgentLine:
        """Make an agent for a task, as `wakelog agent create`, for a model (empty: the home's) and
        on a template (empty: its category's); its first wake is queued."""
        task_id = pick_task(self._reading(), self._text(task))
        home, wish = (
            self._writing(),
            AgentOptions(model=self._text(model), template=self._text(template)),
        )
        made = assign_agent(home, task_id, wish, retry_key(key))
        return agent_lines(home, [agent_of(home, made.agent)])[0]

    @_keyed
    def allow_sending(
        self, model: str, categories: Sequence[str] = (), *, key: str = ""
    ) -> Allowed:
        """Agree to what a model is sent, as `wakelog policy allow`, for agents of these categories
        (none: all there are). What waited for that goes on with the next `wake`."""
        self._reading()
        wanted, names = self._text(model), [self._text(one) for one in categories]
        return allow(self._writing(), wanted, names, retry_key(key))

    @_keyed
    def wake(self, task: str, *, key: str = "") -> WakeLine:
        """Wake a task's agent and wait for it, as `wakelog wake TASK`; `outcome` says how it went.
        Where the wake cannot run now, that is refused, and it stays queued. Where its model is
        elsewhere and nobody agreed to that, `waits_for` is ``consent``: see `allow_sending`."""
        agent_id = pick_agent(self._reading(), self._text(task))
        home = self._writing()
        queued = request_wake(home, agent_id, retry_key(key))
        for trouble in queued.troubles:
            warnings.warn(trouble, stacklevel=2)
        ran = _apart(lambda: run_wake(home, agent_id, queued.run_key, lambda _: None))
        if ran.error:
            instead = f"the wake is {queued.run_key}: see what became of it in wakes()"
            raise Refused(ran.code or "agent_running", because=in_words(ran.error), instead=instead)
        found = wake_of(home, queued.run_key)
        assert found is not None, queued.run_key
        return wake_document(home, found)

    @_keyed
    def confirm(self, ref: str, *, is_anyway: bool = False, key: str = "") -> InboxItem:
        """Apply a proposed change, as `wakelog confirm 3.1`; `is_anyway`: though the task has
        changed since in what it would change. What cannot be applied is refused."""
        return self._decide(ref, ItemVerdict("confirm", is_anyway=is_anyway), key)

    @_keyed
    def reject(self, ref: str, reason: str = "", *, key: str = "") -> InboxItem:
        """Decline a proposed change, as `wakelog reject 3.1`; the agent is told the reason."""
        return self._decide(ref, ItemVerdict("reject", self._text(reason)), key)

    def prove(self) -> Proved:
        """Run both logs again with today's code and compare every byte, as `wakelog prove`."""
        home = self._open()
        proved = prove_home(home)
        return with_views(home, proved) if proved.ok else proved

    def at(self, position: str, *, task: str = "", is_all: bool = False) -> MomentDetails:
        """The world as it was, as `wakelog --json at`: before a RUN, after RUN.STEP, at
        ``journal:r1:42``, or at a time. `task`: only it and what it links to; `is_all`: every task,
        not only those of the wake."""
        place = find_moment(self._reading(), self._text(position))
        return at_document(place, scope_of(place, self._text(task), is_all=is_all))

    def replay(self, run: str) -> Replay:
        """Run a wake again on its recorded replies, as `wakelog replay RUN`; nothing is written."""
        home = self._reading()
        wake, sections, again = run_again(home, self._text(run))
        steps = list(again)
        is_same = all(one.is_same for one in sections) and all(one.is_same for one in steps)
        lines = [line for one in steps for line in step_lines(one, home.settings.timezone)]
        return Replay(wake.run_key, is_same, len(sections), len(steps), lines)

    def diff(self, a: str, b: str, *, task: str = "") -> Difference:
        """Compare two wakes, moments or homes, as `wakelog diff A B`."""
        words = (self._text(one) for one in (a, b, task))
        document = compare(self._reading(), *words).document
        told = wakes_lines(document) if isinstance(document, WakesDiff) else worlds_lines(document)
        return Difference(document.same, document, [one.text for one in told])

    def fork(
        self,
        run: str,
        *,
        model: str = "",
        template: str = "",
        notes: Sequence[tuple[str, str]] = (),
        verdicts: Sequence[str] = (),
        out: str | os.PathLike[str] = "",
        tokens: int = TOKENS_MAX,
    ) -> ForkDetails:
        """Run a wake with something else in its world; ``open_home(forked.home)`` opens the fork.

        Args:
            run: RUN, or RUN.STEP to go on from that step.
            model: Who answers what is new; empty: the model that the home was opened with, else
                after other notes the home's, else nobody, and the fork may stop.
            template: T or T.N, or ``built-in``.
            notes: Pairs of TASK, or TASK.N, and what that note says.
            verdicts: Each SET.ITEM=confirm or SET.ITEM=reject.
            out: A new folder; empty: one in the home.
            tokens: A model that is paid may take so many.
        """
        home, text = self._reading(), self._text
        said = [(text(one), text(note)) for one, note in notes]
        decided, there = [text(one) for one in verdicts], text(os.fspath(out))
        wish = ForkRequest(text(model) or self._model, text(template), said, decided, there, tokens)
        return _apart(lambda: fork_wake(home, text(run), wish))

    def sql(self, query: str, *, seconds: float = 60) -> Rows:
        """Ask both logs as tables, in DuckDB's SQL, as `wakelog sql`; ``SHOW TABLES`` lists them.
        Times are UTC. A query that takes longer than so many seconds is refused. Each starts a
        process; who asks often takes `connect`."""
        from adapters.analytics.query_process import query_apart

        found = query_apart(self._open(), self._environ, self._text(query), seconds)
        return Rows(list(found.columns), list(found.rows))

    def connect(self, *, may_reach_files: bool = False) -> "duckdb.DuckDBPyConnection":
        """A read-only connection to those tables as they are now, for frames and plots. Later
        changes are seen by connecting again. It is locked as `sql` is: `may_reach_files` lets its
        queries read and write other files, and name frames of the program."""
        from adapters.analytics.database import connect

        return connect(self._name, self._environ, may_reach_files=may_reach_files)

    def _open(self) -> wiring.Home:
        """The home as it is, its views left alone."""
        if self._opened is None:
            instead = "open it again with wakelog.open_home"
            raise Refused("invalid_value", because=f"{self._name} is closed", instead=instead)
        return self._opened

    def _reading(self) -> wiring.Home:
        home = self._open()
        home.views.catch_up()
        return home

    def _writing(self) -> wiring.Home:
        """The home, made if it is not there and may be."""
        read = self._open()
        if not self._is_writing:
            place, environ = read.place, self._environ
            self._opened = wiring.open_home(place, environ, model=self._model, is_writing=True)
            self._opened.doer = "program"
            scope_labels(self._opened)
            self._is_writing = True
            read.close()
        return self._reading()

    def _text(self, given: str) -> str:
        """A text as the command line takes it: no bytes that are no UTF-8, no values of keys."""
        given = canonical.clean(given)
        kept, replaced = sanitised_by(self._open().settings, given, self._environ)
        for name in dict.fromkeys(replaced):
            warnings.warn(replacement_line(name), stacklevel=3)
        return str(kept)

    def _decide(self, ref: str, verdict: ItemVerdict, key: str) -> InboxItem:
        (named,) = named_items(self._reading(), verdict.kind, [self._text(ref)], is_all=False)
        home = self._writing()
        decided = decide(home, named.set_id, named.number, verdict, retry_key(key))
        if decided.refused:
            raise decided.refused
        if decided.error:
            because = f"{named.ref} is {decided.item.status}: {decided.error.rstrip('.')}"
            instead = "look at its task; confirm what is stale with is_anyway=True"
            raise Refused(decided.code or "decided", because=because, instead=instead)
        home.views.catch_up()
        items = set_documents(home, [set_of(home, named.set_id)], is_all=True)[0].items
        return next(one for one in items if one.ref == named.ref)


def _apart(work: Callable[[], T]) -> T:
    """Do what runs an event loop, also where one is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


if __name__ == "__main__":
    from importlib.metadata import entry_points

    next(iter(entry_points(group="console_scripts", name="wakelog"))).load()()
