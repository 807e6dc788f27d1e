"""Agents are woken: one that a person asks for, or asks something, or all that are queued.

What is asked for is queued first, and run then: the command line waits for it, the page has a
thread run it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import asdict

from adapters.documents.agents import all_agents
from adapters.documents.inbox import expiring_sets
from adapters.documents.wakes import WakeAnswer, WakeLine, own_wake_of, wake_of
from adapters.runtime import gate, on_demand, watcher
from adapters.runtime.on_demand import RanWake, WaitingWake, WakeProgress
from adapters.usecases.inputs import WORDS_MAX_BYTES
from adapters.usecases.policy import held_agents
from adapters.usecases.resolve import nth_key
from domain.agent.wake_queue_rules import CANCELLED
from domain.errors import Refused, Remedy, invalid
from domain.log.wire import payload
from domain.wake.commands import SkipWake
from domain.wake.wake import ModelAnswered
from projections import agents, wakes

if TYPE_CHECKING:
    from adapters.wiring import Home

__all__ = ["RanWake", "WaitingWake"]


class Prepared(NamedTuple):
    """The living agents, those of them with a wake that may run now, and what went wrong with
    timers."""

    agents: Sequence[str]
    ready: Sequence[str]
    troubles: Sequence[str]


class Requested(NamedTuple):
    """A wake that is queued: its run key, the session of a question, whether it was asked for
    before under the same key, and what went wrong with timers."""

    run_key: str
    session: str
    is_known: bool
    troubles: Sequence[str]


class Cancelled(NamedTuple):
    """The wake that was dropped, and whether that was before, under the same key."""

    run_key: str
    is_known: bool


class Woken(NamedTuple):
    """What came of a round, in queue order, and the wakes that it left alone."""

    ran: Sequence[RanWake]
    waiting: Sequence[WaitingWake]


def prepare_wakes(home: "Home") -> Prepared:
    """Catch up over the journal, fire the timers that are due, expire what nobody decided."""
    troubles = _prepare(home)
    living = [one.id for one in all_agents(home) if one.is_living]
    ready = [one.schedule.agent for one in on_demand.ready(home.services, living)]
    return Prepared(living, ready, troubles)


def wake_all(home: "Home", agents: Sequence[str], progress: WakeProgress) -> Woken:
    """Run every queued wake of these agents, which `prepare_wakes` gave, and wait for them."""
    ran = on_demand.run_ready(home.services, agents, progress)
    watcher.catch_up(home.services)
    home.views.catch_up()
    return Woken(ran, on_demand.waiting(home.services, agents))


def request_wake(home: "Home", agent_id: str, key: str = "") -> Requested:
    """Queue a wake of an agent, for `run_wake`. Raises Refused: its model cannot be had, or it
    cannot be woken; nothing is queued. Raises KeyReused: the key stands for something else."""
    troubles = _prepare(home)
    first, command = nth_key(key, 1), home.services.request(agent_id)
    if known := home.services.agents.answered(first, command):
        return Requested(known.ids[1], "", is_known=True, troubles=troubles)
    _check_model(home, agent_id)
    result = home.services.append_agent(command, key=first).result
    return Requested(result.ids[1], "", is_known=False, troubles=troubles)


def check_words(words: str) -> None:
    """Refuse a question that is empty or too long."""
    if not words.strip():
        raise invalid("the question is empty", "say what you want to know")
    if len(words.encode()) > WORDS_MAX_BYTES:
        because = f"the question is longer than {WORDS_MAX_BYTES:,} bytes"
        raise invalid(because, "put it into a note of the task")


def ask_agent(
    home: "Home", agent_id: str, words: str, session: str = "", key: str = ""
) -> Requested:
    """Queue a question to an agent, for `run_wake`. `session`: the one that it goes on with, or the
    beginning of its name; empty: a new one. Raises Refused: the question is empty or too long, the
    model cannot be had, the session is ambiguous, or the agent cannot be woken; nothing is queued;
    KeyReused."""
    check_words(words)
    troubles = _prepare(home)
    kept = payload(home.services.agent(agent_id).unit, words.encode())
    first, said = nth_key(key, 1), home.services.request(agent_id, "user", words=kept.id)
    if known := home.services.agents.answered(first, said):
        return Requested(known.ids[1], known.ids[2], is_known=True, troubles=troubles)
    _check_model(home, agent_id)
    chosen, turn = _session(home, agent_id, session)
    command = home.services.request(agent_id, "user", chosen, turn, kept.id)
    result = home.services.append_agent(command, key=first, payloads=[kept]).result
    return Requested(result.ids[1], result.ids[2], is_known=False, troubles=troubles)


def run_wake(home: "Home", agent_id: str, run_key: str, told: Callable[[str], None]) -> RanWake:
    """Run a wake that was asked for, after what goes before it, and wait for it. `told`: is told
    once if another process has to be waited for."""
    ran = on_demand.run_requested(home.services, agent_id, run_key, told)
    watcher.catch_up(home.services)
    home.views.catch_up()
    return ran


def answer_of(home: "Home", asked: Requested, document: WakeLine) -> WakeAnswer:
    """The document of `agent ask`, of the wake of a question that has run."""
    wake = own_wake_of(home, asked.run_key)
    return WakeAnswer(
        **asdict(document),
        answer=_said_last(home, document) or None,
        session=asked.session,
        turn=wake.causes[0].trigger.turn if wake and wake.causes else 0,
    )


def _said_last(home: "Home", document: WakeLine) -> str:
    """What the model said last, else what its report says; empty if it said nothing."""
    agents = home.services.agents
    found = wake_of(home, document.run_key)
    assert found is not None, document.run_key
    rows = agents.facts(f"wake:{found.key}@{found.replica}")
    with agents.reading() as world:
        answers = [row.fact for row in rows if isinstance(row.fact, ModelAnswered)]
        texts = [world.text(one.text).strip() for one in answers if one.text is not None]
    said = texts[-1] if texts else ""
    return said or (document.report.tldr if document.report else "")


def cancel_wake(home: "Home", agent_id: str, key: str = "") -> Cancelled:
    """Drop what is queued for an agent, by the person's word; the triggers stay in the log. Raises
    Refused, code ``agent_running``: it has begun; ``unknown_wake``: nothing is queued; KeyReused.
    """
    first, said = nth_key(key, 1), SkipWake(agent_id, "", CANCELLED)
    if known := home.services.agents.answered(first, said, ("agent", "code")):
        return Cancelled(known.ids[0], is_known=True)
    watcher.catch_up(home.services)  # what is in the journal already is cancelled, too
    home.views.catch_up()
    found = home.views.get(agents.VIEW, agent_id)
    wake = (found.wake_queue.queued or found.wake_queue.begun) if found else None
    if wake is None:
        because = "nothing is queued for the agent"
        raise Refused("unknown_wake", because=because, instead=Remedy("see_status"))
    home.services.append_agent(SkipWake(agent_id, wake.run_key, CANCELLED), key=first)
    home.views.catch_up()
    return Cancelled(wake.run_key, is_known=False)


def _prepare(home: "Home") -> Sequence[str]:
    """Do for all agents what is due, whoever is woken; what went wrong with timers. Only what is
    due is read: the views know, as of the logs' ends."""
    home.resume_states()
    home.views.catch_up()

    def timed(now: str) -> list[str]:
        return [one.id for one in home.views.due(agents.VIEW, now)]

    return on_demand.prepare(home.services, timed, expiring_sets(home), held_agents(home))


def _check_model(home: "Home", agent_id: str) -> None:
    """Refuse before anything is queued if the agent's model cannot be had."""
    name = home.services.model_name(home.services.agent(agent_id))
    gate.checked_model(home.services, name)


def _session(home: "Home", agent_id: str, name: str) -> tuple[str, int]:
    """The session that a name or the beginning of one means, and the turn that comes next."""
    if not name:
        return "", 0
    asked = home.views.page(wakes.VIEW, shelf=agent_id)
    turns: dict[str, int] = {}  # the last one of each session
    for trigger in (cause.trigger for wake in asked for cause in wake.causes):
        if trigger.reason == "user":
            turns[trigger.reason_id] = max(turns.get(trigger.reason_id, 0), trigger.turn)
    begun = [one for one in turns if one.startswith(name)]
    chosen = name if name in turns or len(begun) != 1 else begun[0]
    if chosen not in turns and len(begun) > 1:
        because = f"{name!r} begins {len(begun)} sessions"
        raise Refused("ambiguous", because=because, instead="use more of the session's name")
    return chosen, turns.get(chosen, 0) + 1
