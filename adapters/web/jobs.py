"""What takes longer than a page may: wakes and proofs, in threads with a home of their own."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Event, Lock, Semaphore, Thread
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from adapters.home.home_location import HomeLocation
from adapters.usecases import wake_agents
from adapters.usecases.agents import AgentOptions, assign_all, tasks_alone
from adapters.web.remedies import in_words
from adapters.wiring import Home, open_home
from domain.errors import Refused, WakelogError

if TYPE_CHECKING:
    from adapters.documents.proof import ProofDetails
    from adapters.usecases.forks import ForkRequest

TROUBLES_KEPT = 20
JOBS_MAX = 100  # that run or wait
MESSAGE_MAX = 300
THREAD = "wakelog-job"


class JobEnded(Exception):
    """Work that ends here, as the server does."""


JobName = Literal["proof", "forking", "making"]
"""What may be stopped: a proof, a fork, and agents that are made."""


class Job(Struct, frozen=True):
    """The last of its name since the server began. `document` is that of `prove`, `key` of the form
    that asked for agents, or for a fork of `run_key`; `done` and `of` tell how far it is, in which
    `log` if it reads one."""

    state: Literal["none", "running", "done", "failed"] = "none"
    at: str = ""
    document: "ProofDetails | None" = None
    error: str = ""
    log: str = ""
    done: int = 0
    of: int = 0
    key: str = ""
    run_key: str = ""


class Jobs:
    """Threads of one server.

    Args:
        where: The home.
        environ: Environment variables, as for `open_home`.
        model: What `--model` says.
        parallel: How many wakes run at once.
        pulse: Is called when something may have changed that is in no log.
        has_engine: Wakes that are asked for are begun by an engine beside, as all that are due.
    """

    def __init__(
        self,
        where: HomeLocation | Path,
        environ: Mapping[str, str],
        model: str,
        parallel: int,
        pulse: Callable[[], None],
        *,
        has_engine: bool = False,
    ) -> None:
        self._open = partial(open_home, where, environ, model=model, is_writing=True)
        self._environ = environ
        self._slots = Semaphore(parallel)
        self._pulse = pulse
        self._has_engine = has_engine
        self._is_over = Event()
        self._lock = Lock()
        self._threads: set[Thread] = set()
        self.troubles: list[tuple[str, str]] = []
        self.proof, self.forking, self.making = Job(), Job(), Job()
        self._stops: dict[str, Event] = {}

    @property
    def is_busy(self) -> bool:
        return bool(self._threads)

    @property
    def is_full(self) -> bool:
        return len(self._threads) >= JOBS_MAX

    def wake(self, agent_id: str, run_key: str) -> None:
        """Run a wake that was asked for, and what goes before it.

        Two that run it at once are told apart by the log; the engine need not find that out.
        """
        if self._has_engine:
            return

        def work(home: Home) -> None:
            ran = wake_agents.run_wake(home, agent_id, run_key, lambda _: None)
            if ran.error:
                self._trouble(agent_id, in_words(ran.error))

        self._start(work, agent_id, self._slots)

    def wake_all(self, agent_ids: Sequence[str]) -> None:
        """Run every queued wake, as `wakelog wake` does."""

        def work(home: Home) -> None:
            for ran in wake_agents.wake_all(home, agent_ids, lambda *_: None).ran:
                if ran.error:
                    self._trouble(ran.agent_id, in_words(ran.error))

        self._start(work, "", self._slots)

    def prove(self) -> None:
        """Prove both logs, unless that is going on."""
        with self._lock:
            if self.proof.state == "running":
                return
            self.proof = Job("running")
            come_to = self._begin("proof")

        def work(home: Home) -> None:
            from adapters.proof.incremental import prove_remembering

            try:
                document = prove_remembering(home, self._environ, come_to).document()
                self.proof = Job("done", home.services.clock.now(), document)
            except WakelogError as error:
                self.proof = Job("failed", home.services.clock.now(), error=in_words(error))

        self.start(work)

    def fork(self, key: str, run_key: str, wish: "ForkRequest") -> None:
        """Fork a wake; a form that comes twice asks once.

        Raises:
            Refused: Code ``stale``: another fork is being made.
        """
        with self._lock:
            if self.forking.key == key:
                return
            if self.forking.state == "running":
                because = "another fork is being made just now"
                raise Refused("stale", because=because, instead="wait until it is done")
            asked = self.forking = Job("running", key=key, run_key=run_key)
            come_to = self._begin("forking")

        def work(home: Home) -> None:
            from adapters.usecases.forks import fork_wake

            fork_wake(home, run_key, wish, come_to)

        self._start_named("forking", asked, work)

    def make_agents(self, key: str, wish: AgentOptions) -> None:
        """Make an agent for each open task that has none; a form that comes twice, or another one
        meanwhile, asks nothing."""
        with self._lock:
            if self.making.key == key or self.making.state == "running":
                return
            asked = self.making = Job("running", key=key)
            come_to = self._begin("making")

        def work(home: Home) -> None:
            alone = tasks_alone(home)
            assign_all(home, wish, key, told=lambda made: come_to("", made, alone))

        self._start_named("making", asked, work)

    def _start_named(self, name: JobName, asked: Job, work: Callable[[Home], None]) -> None:
        """Do what a form asked for, and keep how it ended."""

        def done(home: Home) -> None:
            home.views.catch_up()
            work(home)
            setattr(self, name, replace(asked, state="done"))

        def failed(text: str) -> None:
            setattr(self, name, replace(asked, state="failed", error=text))

        self._start(done, "", Semaphore(), failed)

    def start(self, work: Callable[[Home], None]) -> None:
        """Do a piece of work that a page does not wait for."""
        self._start(work, "", Semaphore())

    def halt(self, name: JobName) -> bool:
        """End work at its next step; whether it was going on."""
        with self._lock:
            known: Job = getattr(self, name)
            if known.state != "running":
                return False
            self._stops[name].set()
            setattr(self, name, replace(known, state="failed", error="It was stopped."))
        self._pulse()
        return True

    def stop(self) -> None:
        """Begin nothing more. A proof ends at its next row; a wake is left as a crash leaves it,
        for the next process to take over."""
        self._is_over.set()

    def wait(self, seconds: float) -> None:
        """Give what runs so much time to end."""
        ends = time.monotonic() + seconds
        for thread in tuple(self._threads):
            thread.join(max(0.0, ends - time.monotonic()))

    def _go_on(self) -> None:
        if self._is_over.is_set():
            raise JobEnded

    def _begin(self, name: JobName) -> Callable[[str, int, int], None]:
        """What a piece of work tells how far it is; the pages hear of each tenth."""
        stopped = self._stops[name] = Event()

        def come_to(log: str, done: int, of: int) -> None:
            self._go_on()
            with self._lock:
                if stopped.is_set():
                    raise JobEnded
                known: Job = getattr(self, name)
                setattr(self, name, replace(known, log=log, done=done, of=of))
            if log != known.log or done * 10 // max(1, of) != known.done * 10 // max(1, of):
                self._pulse()

        return come_to

    def _start(
        self,
        work: Callable[[Home], None],
        about: str,
        slots: Semaphore,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        trouble = failed or partial(self._trouble, about)

        def run() -> None:
            try:
                with slots, self._open() as home:
                    self._go_on()
                    work(home)
            except JobEnded:
                pass
            except (WakelogError, OSError) as error:
                trouble(in_words(error))
            finally:
                self._threads.discard(thread)
                self._pulse()

        thread = Thread(target=run, daemon=True, name=THREAD)
        self._threads.add(thread)
        thread.start()
        self._pulse()

    def _trouble(self, about: str, text: str) -> None:
        self.troubles = [*self.troubles, (about, text[:MESSAGE_MAX])][-TROUBLES_KEPT:]
