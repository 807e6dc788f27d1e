"""Puts a home together: files, settings, clock, logs, models, views (DESIGN 3, 4)."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from adapters.home import files
from adapters.home.clock import check_clock, clock_from
from adapters.home.endpoints import Endpoint, endpoint_key, endpoint_of
from adapters.home.home_location import FolderLocation, HomeLocation
from adapters.home.log_pairing import PairingMismatch, newest_mismatch
from adapters.home.prices import costs_at
from adapters.home.read_input import read_input
from adapters.home.settings import Settings
from adapters.home.views import Views
from adapters.runtime.services import Services, Settled, alone
from adapters.store.command_history import DoneCommand, keep
from adapters.store.kept_states import STATES
from adapters.store.log import Log
from adapters.telemetry.loading import checked, spans_for
from domain.agent.endpoints import MODELS
from domain.errors import Refused
from domain.log.wire import PayloadId
from domain.ports import Model, Streaming

SETTLED = "settled 1"
"""What is remembered as when `leadership.settle` looked last, by a machine that leads."""


class Home:
    """An open home: services to work at, and views to read.

    A home that does not exist yet reads as an empty one; `open_home(..., is_writing=True)`
    makes it.
    """

    def __init__(
        self,
        place: HomeLocation,
        services: Services,
        views: Views,
        *,
        exists: bool,
        other: PairingMismatch | None = None,
    ) -> None:
        self.place = place
        self.path = place.folder
        self.services = services
        self.views = views
        self.exists = exists
        self.other = other  # why its logs do not belong together, if they do not
        self.hears_at_once = False  # its agents, of each deed: see `adapters.usecases.tasks`
        self.doer = ""  # who writes, see `adapters.home.origin`
        self.doing = ""  # the command of a person at a terminal
        self.asked = ""  # the task of which it asked what is so already
        self.has_changed = False
        self._settled: Settled | None = None  # as it is kept

    @classmethod
    def in_memory(cls, services: Services) -> "Home":
        """A home without a folder: services whose logs are in memory, and views of them."""
        logs = {"journal": services.journal, "agent": services.agents}
        return cls(FolderLocation(Path()), services, Views.in_memory(logs), exists=False)

    @property
    def settings(self) -> Settings:
        return self.services.settings

    def tell_doer(self) -> None:
        """Say who did what was done here since it was said last, where an undo looks for it."""
        done = [one for told in self.services.done.values() for one in told]
        self.services.done.clear()
        is_nothing = bool(self.doing and self.asked and not self.has_changed)
        if not self.exists or not (done or is_nothing) or not (who := self.doer):
            return
        if is_nothing:
            end = self.services.journal.tail()
            done.append(DoneCommand("j", end.n, end.n, end.at, end.at, who, self.doing, self.asked))
        self.asked, self.has_changed = "", False
        keep(self.path / files.RUNTIME, [one._replace(who=who) for one in done])

    def resume_states(self) -> None:
        """Go on from folded states that were kept: who gives verdicts or wakes does, before the
        first."""
        if self.exists and not self.services.agents.has_resumed:
            self.services.agents.resume(self.views.remembered(STATES))
            self._settled = self._settled_before()
            if self._settled and self._settled.lead == self.services.agents.replica:
                self.services.settled = self._settled  # elsewhere agents may have been local since

    def _settled_before(self) -> Settled | None:
        kept = self.views.remembered(SETTLED) if self.services.agents.is_shared else None
        with suppress(msgspec.MsgspecError):
            return msgspec.json.decode(kept or b"", type=Settled)
        return None

    def check_clock(self, environ: Mapping[str, str]) -> None:
        """Look whether it may be written by the machine's clock. Raises Refused."""
        check_clock(environ, _end(self.services.journal, self.services.agents))

    def close(self) -> None:
        self.tell_doer()
        if self.exists and (states := self.services.agents.states_to_keep()):
            self.views.remember(STATES, states)
        if self.exists and (settled := self.services.settled) and settled != self._settled:
            self.views.remember(SETTLED, msgspec.json.encode(settled))
        self.views.close()
        self.services.close()

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_home(
    where: HomeLocation | Path,
    environ: Mapping[str, str],
    *,
    model: str | Model = "",
    is_writing: bool = False,
) -> Home:
    """Open a home.

    Args:
        where: Where it is, or its folder.
        environ: Environment variables; see `adapters.home.settings`.
        model: What `--model` says; empty: the settings'; or what answers to its name.
        is_writing: Make the home if it is not there.

    Raises:
        Refused: A bad setting, one that needs what is not installed, or a home that cannot be
            used; to write: see `check_writing`, and code ``doubtful_clock``, see `check_clock`.
        Damaged: A file that is no log, is cut short, is of a newer format, or is missing beside
            the other one: an empty log in its place would be another past.
    """
    place = FolderLocation(where) if isinstance(where, Path) else where
    now = place.looked()
    settings = now.settings(environ, model if isinstance(model, str) else model.name)
    checked(settings.otel)
    exists = is_writing or now.exists()
    other: PairingMismatch | None = None
    end = ""
    if exists:
        journal, agents = now.logs(environ, is_writing=is_writing)
        other = newest_mismatch(journal, agents)
        end = _end(journal, agents)
        if is_writing:
            try:
                check_writing(now, environ, other)
                check_clock(environ, end)
            except Refused:
                journal.close()
                agents.close()
                raise
        views = Views(now.documents(), {"journal": journal, "agent": agents})
    else:
        journal, agents = Log.in_memory("journal"), Log.in_memory("agent")
        views = Views.in_memory({"journal": journal, "agent": agents})
    clock = clock_from(environ, end)
    agents.anew = partial(_dropped, journal, agents)
    costs = costs_at(settings.prices, lambda: agents.tail().at)
    spans = partial(spans_for, settings.otel, costs)
    models = Models(environ, settings, () if isinstance(model, str) else (_own(model),))
    services = Services(journal, agents, clock, settings, models, spans)
    services.leases = place.leases if exists else alone
    services.forks_at = place.folder / files.FORKS if exists else None
    return Home(place, services, views, exists=exists, other=other)


def _dropped(journal: Log, agents: Log, name: PayloadId) -> bytes | None:
    """What `wakelog retain` dropped of a log; most homes never ask."""
    from adapters.store.rendered_anew import RenderedAnew

    render = agents.anew = RenderedAnew(journal, agents)
    return render(name)


def _end(journal: Log, agents: Log) -> str:
    """When a home was written last."""
    return max(journal.tail().at, agents.tail().at)


def check_writing(
    place: HomeLocation, environ: Mapping[str, str], other: PairingMismatch | None
) -> None:
    """Look whether a home may be written.

    Raises:
        Refused: Code ``moved_home``, or ``other_past``: its logs do not belong together.
    """
    place.check_writing(environ)
    if other is not None:
        raise other.refused()


class Models:
    """Gives the model of a name, one object per name."""

    def __init__(
        self, environ: Mapping[str, str], settings: Settings, given: Iterable[Model] = ()
    ) -> None:
        self._environ = environ
        self._settings = settings
        self._known = {one.name: one for one in given}

    def __call__(self, name: str) -> Model:
        """The model.

        Raises:
            Refused: Code ``missing_key``, ``invalid_value`` (a key that is none),
                ``model_unavailable`` or ``unreadable_file``.
        """
        if name not in self._known:
            self._known[name] = self._make(name)
        return self._known[name]

    def _make(self, name: str) -> Model:
        kind, _, rest = name.partition(":")
        match kind:
            case "rules":
                from adapters.models.rules.model import RulesModel

                return RulesModel()
            case "demo":
                from adapters.models.demo import DemoModel

                return DemoModel(name)
            case "tape":
                return _tape(name, Path(rest))
            case "gemini":
                return _gemini(name, self._environ, self._settings)
            case "openai":
                endpoint = endpoint_of(name, self._settings)
                return _openai(endpoint, self._environ, self._settings)
            case _ if rest and self._settings is not None:
                from adapters.models.extensions import model_of

                return model_of(name, self._environ, self._settings.extensions)
            case _:
                raise Refused(
                    "model_unavailable",
                    because=f"the model {name!r} is not available in this version",
                    instead=f"use {MODELS}",
                )


def _own(model: Model) -> Model:
    """A model of a program; one that streams gives its bytes itself."""
    from adapters.models.tape import OwnModel

    return model if isinstance(model, Streaming) else OwnModel(model)


def _gemini(name: str, environ: Mapping[str, str], settings: Settings) -> Model:
    from adapters.home.api_keys import gemini_key
    from adapters.models.gemini.model import GeminiModel
    from adapters.models.retry_loop import PATIENCE_SHARE

    patience = settings.agents.deadline_seconds * PATIENCE_SHARE
    key, url = gemini_key(environ), settings.gemini.base_url
    return GeminiModel(name, key, url, patience_seconds=patience)


def _openai(endpoint: Endpoint, environ: Mapping[str, str], settings: Settings) -> Model:
    from adapters.models.openai.model import OpenAIModel
    from adapters.models.retry_loop import PATIENCE_SHARE

    patience = settings.agents.deadline_seconds * PATIENCE_SHARE
    key = endpoint_key(endpoint, environ)
    return OpenAIModel(
        endpoint.name, endpoint.model, endpoint.base_url, key, patience_seconds=patience
    )


def _tape(name: str, path: Path) -> Model:
    from adapters.models.tape import TAPE_BYTES_MAX, TapeModel

    return TapeModel.load(read_input(str(path), TAPE_BYTES_MAX), name=name)
