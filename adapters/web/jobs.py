"""What takes longer than a page may, in threads with a home of their own."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from pathlib import Path
from threading import Event, Lock, Semaphore, Thread
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from adapters.home.home_location import HomeLocation
from adapters.usecases import wake_agents
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
STOPPED = "It was stopped."


class JobEnded(Exception):
    """Work that ends here, as the server does."""


JobName = Literal["proof", "forking", "bringing", "making", "waking"]
JOB_NAMES: Mapping[str, JobName] = {one: one for one in get_args(JobName)}
"""What tells how far it is, and may be stopped: a proof, a fork, a file that comes in, agents that
are made, and all wakes that were queued."""


class Job(Struct, frozen=True):
    """The last of its name since the server began. `document` is that of `prove`, `said` what came
    of a file, `key` of the form that asked for it; `done` and `of` tell how far it is, in which
    `log` if it reads one; `began` is by this machine's stopwatch, `run_key` of the forked wake."""

    state: Literal["none", "running", "done", "failed"] = "none"
    at: str = ""
    document: "ProofDetails | None" = None
    said: str = ""
    error: str = ""
    log: str = ""
    done: int = 0
    of: int = 0
    key: str = ""
    run_key: str = ""
    began: float = 0.0

    @property
    def pace(self) -> str:
        """How fast it goes; empty where that cannot be said yet."""
        seconds = time.monotonic() - self.began
        if not self.done or seconds < 1:
            return ""
        rate = self.done / seconds
        return f"{rate:,.0f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"


HowFar = Callable[[str, int, int], None]
"""``come_to(log, done, of)``, at each step; it raises `JobEnded` where that is to be the last."""
Work = Callable[[Home, HowFar], Job]


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
        self.proof = self.forking = self.bringing = self.making = self.waking = Job()
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

    def wake_all(self, agent_ids: Sequence[str], key: str) -> bool:
        """Run every queued wake, as `wakelog wake` does; False: that is going on."""

        def work(home: Home, come_to: HowFar) -> Job:
            def told(nth: int, of: int, _: str) -> None:
                come_to("", nth - 1, of)

            for ran in wake_agents.wake_all(home, agent_ids, told).ran:
                if ran.error:
                    self._trouble(ran.agent_id, in_words(ran.error))
            return Job("done")

        return self.begin("waking", work, key, slots=self._slots)

    def prove(self, key: str = "") -> None:
        """Prove both logs, unless that is going on."""

        def work(home: Home, come_to: HowFar) -> Job:
            from adapters.proof.incremental import prove_remembering

            document = prove_remembering(home, self._environ, come_to).document()
            return Job("done", document=document)

        self.begin("proof", work, key)

    def fork(self, key: str, run_key: str, wish: "ForkRequest") -> None:
        """Fork a wake, or Refused: another one is being made; a form that comes twice asks once."""

        def work(home: Home, come_to: HowFar) -> Job:
            from adapters.usecases.forks import fork_wake

            fork_wake(home, run_key, wish, come_to)
            return Job("done")

        if not self.begin("forking", work, key, run_key=run_key) and self.forking.key != key:
            because = "another fork is being made just now"
            raise Refused("stale", because=because, instead="wait until it is done")

    def begin(
        self,
        name: JobName,
        work: Work,
        key: str,
        *,
        run_key: str = "",
        doer: str = "",
        of: int = 0,
        slots: Semaphore | None = None,
    ) -> bool:
        """Begin what tells how far it is, unless one of its name is going on or the form came
        before; whether it was begun. Its deeds are those of `doer`."""
        with self._lock:
            known: Job = getattr(self, name)
            if known.state == "running" or (key and known.key == key):
                return False
            stopped = self._stops[name] = Event()
            begun = Job("running", of=of, key=key, run_key=run_key, began=time.monotonic())
            setattr(self, name, begun)

        def ended(told: Job) -> None:
            with self._lock:
                if self._stops[name] is stopped:  # else another one has begun by now
                    setattr(self, name, replace(told, key=key, run_key=run_key))

        def come_to(log: str, done: int, of: int) -> None:
            self._go_on()
            with self._lock:
                if stopped.is_set():
                    raise JobEnded
                known: Job = getattr(self, name)
                setattr(self, name, replace(known, log=log, done=done, of=of))
            if log != known.log or done * 10 // max(1, of) != known.done * 10 // max(1, of):
                self._pulse()  # of each tenth, not of each step

        def run(home: Home) -> None:
            home.doer = doer
            home.views.catch_up()
            ended(replace(work(home, come_to), at=home.services.clock.now()))

        self._start(run, "", slots or Semaphore(), lambda text: ended(Job("failed", error=text)))
        return True

    def start(self, work: Callable[[Home], None]) -> None:
        """Do a piece of work that a page does not wait for."""
        self._start(work, "", Semaphore())

    def halt(self, name: JobName) -> bool:
        """End work at its next step; whether it ends, or ended, by that."""
        with self._lock:
            known: Job = getattr(self, name)
            if known.state != "running":
                return known.error == STOPPED
            self._stops[name].set()
            setattr(self, name, replace(known, state="failed", error=STOPPED))
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

        whose = copy_context()  # of the request that begins it
        thread = Thread(target=whose.run, args=(run,), daemon=True, name=THREAD)
        self._threads.add(thread)
        thread.start()
        self._pulse()

    def _trouble(self, about: str, text: str) -> None:
        self.troubles = [*self.troubles, (about, text[:MESSAGE_MAX])][-TROUBLES_KEPT:]
