"""What all rooms of a home share: how it is opened, read and written, and how deeds are called."""

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from adapters import wiring
from adapters.documents.tasks import task_page
from adapters.documents.wakes import WakeLine, own_wake_of, wake_document
from adapters.home.home_location import MemoryLocation
from adapters.home.sanitise_input import replacement_line, sanitised_by
from adapters.text.remedies import in_words
from adapters.usecases.catalog import scope_labels
from adapters.usecases.resolve import nth_key, pick_again, retry_key
from adapters.usecases.tasks import UseCaseResult, on_tasks
from adapters.usecases.wake_agents import Requested, run_wake
from domain.errors import KeyReused, Refused
from domain.journal.document import TaskDetails
from domain.log import canonical
from domain.ports import Model

T = TypeVar("T")
PATHS = {"path", "folder", "out", "archive", "anchor", "key"}
"""Arguments that are taken as they are."""


def _as_deed(method: Callable[..., Any]) -> Callable[..., Any]:
    """A public method of a room: it is given texts as the command line takes them, and names a key
    that was used before as its caller did."""
    names = method.__code__.co_varnames[1 : method.__code__.co_argcount]

    @wraps(method)
    def done(self: "Room", /, *args: Any, **kwargs: Any) -> Any:
        key = retry_key(str(kwargs.get("key", "")))
        rest = [*names[: len(args)], *[""] * (len(args) - len(names))]
        given = [self._clean(name, one) for name, one in zip(rest, args, strict=True)]
        named = {name: self._clean(name, one) for name, one in kwargs.items()}
        try:
            return method(self, *given, **named)
        except KeyReused:
            raise KeyReused(key) from None

    return done


class Room:
    """A home as its rooms see it. Each public method of one is a deed, see `_as_deed`."""

    def __init_subclass__(cls) -> None:
        for name, method in vars(cls).copy().items():
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _as_deed(method))

    def __init__(self, opened: wiring.Home, model: str | Model, environ: Mapping[str, str]) -> None:
        self.path, self._name = opened.path, opened.place.name
        self._opened: wiring.Home | None = opened
        opened.doer = "program"
        self._is_in_memory = isinstance(opened.place, MemoryLocation)
        self._is_writing = self._is_in_memory
        self._is_clock_moved = False
        self._model = model
        self._environ = environ

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
            if read.exists or self._is_clock_moved:
                self._opened.services.clock = read.services.clock
            scope_labels(self._opened)
            self._is_writing = True
            read.close()
        return self._reading()

    def _anew(self, work: Callable[[wiring.Home], T]) -> T:
        """Do what needs the home closed, and open it again; `work` is given it as it was."""
        was = self._open()
        was.close()
        try:
            return work(was)
        finally:
            self._opened = wiring.open_home(was.place, self._environ, model=self._model)
            self._opened.doer, self._is_writing = "program", False

    def _text(self, given: str) -> str:
        """A text as the command line takes it: no bytes that are no UTF-8, no values of keys."""
        given = canonical.clean(given)
        kept, replaced = sanitised_by(self._open().settings, given, self._environ)
        for name in dict.fromkeys(replaced):
            warnings.warn(replacement_line(name), stacklevel=5)
        return str(kept)

    def _clean(self, name: str, given: Any) -> Any:
        """An argument of a deed, with texts as `_text` leaves them."""
        if name in PATHS:
            return given
        if isinstance(given, str):
            return self._text(given)
        if isinstance(given, Mapping):
            return {key: self._clean("", one) for key, one in given.items()}
        if isinstance(given, list | tuple):
            return [self._clean("", one) for one in given]
        return given

    # ----------------------------------------------------------------------- what deeds are made of

    def _details(self, task_id: str) -> TaskDetails:
        return task_page(self._reading(), task_id).document()

    def _on_task(
        self, task: str, key: str, work: Callable[[wiring.Home, str, str], UseCaseResult]
    ) -> TaskDetails:
        """Do something to a task that is named, as it is then."""
        return self._on_tasks([task], key, work)[0]

    def _on_tasks(
        self,
        tasks: Sequence[str],
        key: str,
        work: Callable[[wiring.Home, str, str], UseCaseResult],
    ) -> list[TaskDetails]:
        """The same of several, all looked up before the first; to an undo they are one."""
        home = self._reading()
        keys = [nth_key(key, nth) if nth > 1 else key for nth in range(1, len(tasks) + 1)]
        found = {pick_again(home, t, k).id: k for t, k in zip(tasks, keys, strict=True)}
        for _ in on_tasks(self._writing(), found, work):
            pass
        return [self._details(one) for one in found]

    def _wake(self, agent_id: str, queued: Requested) -> WakeLine:
        """Run a wake that is queued, and wait. Raises Refused: it cannot run now."""
        home = self._open()
        for trouble in queued.troubles:
            warnings.warn(trouble, stacklevel=4)
        ran = apart(lambda: run_wake(home, agent_id, queued.run_key, lambda _: None))
        if ran.error:
            instead = f"the wake is {queued.run_key}: see what became of it in wakes()"
            raise Refused(ran.code or "agent_running", because=in_words(ran.error), instead=instead)
        found = own_wake_of(home, queued.run_key)
        assert found is not None, queued.run_key
        return wake_document(home, found)


def told(given: "str | float | date | None") -> str | None:
    """A value as a person writes it: minutes, a day or a time."""
    return None if given is None else given.isoformat() if isinstance(given, date) else str(given)


def apart(work: Callable[[], T]) -> T:
    """Do what runs an event loop, also where one is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()
