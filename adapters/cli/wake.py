"""Wake, ask and chat: `wakelog wake`, `wakelog agent ask` and `wakelog agent chat`."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click
import msgspec

from adapters.cli.consent import ask_consent, tell_held
from adapters.cli.lazy_groups import command, keyed
from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session, flag, option
from adapters.documents.wakes import WakeAnswer, WakeLine, own_wake_of, wake_document
from adapters.text.agent_output import WITHOUT_REPORT, rule_text
from adapters.text.common import ID_SHOWN, counted, safe
from adapters.text.policy import not_sent, waits
from adapters.text.remedies import in_words
from adapters.usecases.policy import held_agents
from adapters.usecases.resolve import pick_agent
from domain.agent.wake_queue import HELD, QUIET
from domain.errors import Refused, Remedy, WakelogError, invalid

if TYPE_CHECKING:
    from adapters.usecases.kinds import KindAgent
    from adapters.usecases.wake_agents import Requested, WaitingWake
    from adapters.wiring import Home

F = TypeVar("F", bound=Callable[..., object])
WAITS = 3  # exit status: a wake did not run, or not to its end, and waits
AGAIN = "(That came to nothing; the model is asked again.)"


stream_option = option(
    "--stream/--no-stream stream",
    "Print the answer as it comes, where the model streams: so it is on a terminal, "
    "and never with --json.",
    default=None,
)
"""Whether words are printed as they come; None: where a person reads them."""


class Speaker(msgspec.Struct):
    """Prints words as they come (a `domain.ports.Listener`), each turn's in lines of their own.
    What counts is the recorded answer, see `finish`."""

    _session: Session
    _turn: str = ""  # what was said in this one
    _last: str = ""  # and in the last one that had words and is over

    def said(self, text: str) -> None:
        self._turn += text
        click.echo(safe(text), nl=False)

    def again(self) -> None:
        if self._turn:
            self._break()
            click.echo(AGAIN, err=True)
        self._turn = ""

    def ended(self) -> None:
        self._break()
        self._last = self._turn or self._last
        self._turn = ""

    def finish(self, shown: str) -> None:
        """Print the answer, unless it is what was printed last."""
        self._break()
        if self._turn or safe(self._last.strip()) != shown:
            self._session.say(shown)

    def _break(self) -> None:
        if self._turn and not self._turn.endswith("\n"):
            click.echo()


def speaker(session: Session, stream: bool | None) -> Speaker | None:
    """Who prints the words of a model; None: the answer is printed at its end."""
    is_wanted = sys.stdout.isatty() if stream is None else stream
    return Speaker(session) if is_wanted and not session.as_json else None


# ---------------------------------------------------------- wake now, wait, and say what came of it

NO_AGENTS = (
    "There are no agents to wake. Make one for every open task with `wakelog agent create --all`."
)
KEPT = "The question is kept: the agent goes on with it at its next wake, in session {session}."
HELD_BACK = "Nothing may run now: what is queued waits for you."
IDLE = (
    "Nothing is queued: agents wake when their tasks change. "
    "Wake one anyway with `wakelog wake TASK`."
)
LED_ELSEWHERE = (
    "{lead} leads: agents wake by themselves there. Wake one here with `wakelog wake TASK`, or let "
    "this machine lead with `wakelog replicas lead`."
)


@keyed("wake", "[agent]=[TASK or AGENT]", example=("", '"Fix the sink"', '--cancel "Fix the sink"'))
@flag("--cancel is_cancel", "Drop the wake that is queued for it.")
def wake_command(session: Session, agent: str | None, key: str, *, is_cancel: bool) -> None:
    """Wake an agent now and wait for it; without a name every queued one, in queue order.

    Looks at what changed in the tasks first. A wake of a name takes over the changes that
    waited for the agent. Exit status 1: a wake failed or could not run; 3: none did, and one
    waits for your consent, a key, its provider or a budget.

    With --cancel the wake that is queued for the agent is dropped instead, with all that made it;
    one that has begun is stopped by `wakelog agent pause`.
    """
    home = session.reading()
    if is_cancel:
        _cancel(session, agent, key)
        return
    if agent is not None:
        from adapters.usecases.wake_agents import request_wake

        agent_id, home = pick_agent(home, agent), session.writing()
        waking = woken(session, home, agent_id, lambda: request_wake(home, agent_id, key))
        raise SystemExit(tell_woken(session, home, *waking))
    if not home.exists:
        session.tell([], NO_AGENTS)
        return
    raise SystemExit(_wake_all(session))


def _warn(troubles: Sequence[str]) -> None:
    for trouble in troubles:
        click.echo(safe(f"warning: {trouble}"), err=True)


# ----------------------------------------------------------------------------------- all of them


def _wake_all(session: Session) -> int:
    from adapters.usecases.wake_agents import prepare_wakes, wake_all

    home = session.writing()
    prepared = prepare_wakes(home)
    _warn(prepared.troubles)
    ask_consent(session, home, [*prepared.ready, *held_agents(home)])
    names = {one: home.services.agent(one).name for one in prepared.agents}
    rounds_run, left = wake_all(home, prepared.agents, telling(session, names))
    found = [own_wake_of(home, ran.run_key) for ran in rounds_run]
    documents = [wake_document(home, one) for one in found if one is not None]
    failed = {one.run_key for one in documents if one.outcome == "failed"}
    failures = len(failed | {one.run_key for one in rounds_run if one.error})
    if session.as_json:
        session.document(documents)
        for ran in filter(attrgetter("error"), rounds_run):
            told = f"{names[ran.agent_id]}: could not run. {in_words(ran.error)}"
            click.echo(safe(told), err=True)
    elif not rounds_run:
        idle = HELD_BACK if held_agents(home) else _idle(home)
        session.say(idle if prepared.agents else NO_AGENTS)
        _tell_waiting(session, left, names, home.settings.timezone)
    else:
        for ran, document in zip(rounds_run, documents, strict=True):
            session.say(safe(_line(document, names[ran.agent_id], in_words(ran.error))))
        _tell_sum(session, documents, failures)
        _tell_waiting(session, left, names, home.settings.timezone)
    held = held_agents(home)
    tell_held(session, home, held)
    is_left = any(one.reason in ("provider", "budget") for one in left)
    return _status(failures, is_waiting=bool(held) or is_left or any(map(_waits, documents)))


def _idle(home: "Home") -> str:
    """Why nothing is queued."""
    from adapters.documents.status import lead_elsewhere

    lead = lead_elsewhere(home)
    return LED_ELSEWHERE.format(lead=safe(lead)) if lead else IDLE


def telling(session: Session, names: Mapping[str, str]) -> Callable[[int, int, str], None]:
    """Says which agent is woken now, by its name."""

    def progress(nth: int, of: int, agent_id: str) -> None:
        session.note(safe(f"waking {nth} of {of}: {names[agent_id]}"))

    return progress


def _line(document: "WakeLine", name: str, error: str) -> str:
    """One wake in one line: what came of it, what the agent says, how much it proposes."""
    outcome = document.outcome or _unfinished(document)
    if error:
        return f"{name}: could not run. {error}"
    if document.waits_for in HELD:
        return f"{name}: {_unfinished(document)}."
    if document.outcome in ("failed", "skipped"):
        code = document.error_code or ""
        told = document.error if document.error != code else not_sent(code)
        told = rule_text(code) if code in QUIET else told
        return f"{name}: {outcome} ({code}). {told}".rstrip(" .") + "."
    no_report = WITHOUT_REPORT if document.report_missing else ". no new report"
    said = f". {document.report.one_liner}" if document.report else no_report
    count = document.proposals
    proposed = f" {count} proposal{'' if count == 1 else 's'}." if count else ""
    return f"{name}: {outcome} [{document.model}]{said.rstrip('.')}.{proposed}"


def _unfinished(document: "WakeLine") -> str:
    if document.waits_for:
        return waits(document.waits_for, document.waits_until or "")
    return str(document.state)


def _tell_sum(session: Session, documents: "Sequence[WakeLine]", failures: int) -> None:
    done = sum(one.outcome == "completed" for one in documents)
    proposals = sum(one.proposals for one in documents)
    told = f"{done} of {len(documents)} completed"
    told += f", {failures} failed" if failures else ""
    session.note(f"{told}; {proposals} proposal{'' if proposals == 1 else 's'}.")
    if proposals:
        session.note("See what they propose with `wakelog inbox`.")
    if failures:
        session.note("See why with `wakelog wakes` and `wakelog show RUN`.")


def _tell_waiting(
    session: Session, left: "Sequence[WaitingWake]", names: Mapping[str, str], zone: str
) -> None:
    for one in left:
        if one.reason == "running":
            where = f"in process {one.pid}" if one.pid else "elsewhere"
            told = f"is running {where}; if that is gone, use `wakelog recover`"
        else:
            told = waits(one.reason, one.until, zone)
        session.note(safe(f"{names[one.agent_id]}: {told}."))


# ------------------------------------------------------------------------------------ one of them


def woken(
    session: Session, home: "Home", agent_id: str, queue: "Callable[[], Requested]"
) -> "tuple[WakeLine, str]":
    """Queue a wake of an agent, run it and wait; its document, and why it could not run, if so."""
    ask_consent(session, home, [agent_id])
    queued = queue()
    _warn(queued.troubles)
    return _run(session, home, agent_id, queued.run_key)


def tell_made(session: Session, home: "Home", made: "KindAgent") -> None:
    """Say of an agent without a task, if it is new, what it reads and when it wakes."""
    if session.as_json or not made.is_new:
        return
    agent = home.services.agent(made.agent)
    wakes = f"{made.schedule}, {home.settings.timezone}" if made.schedule else "when you ask"
    reads, asks = ", ".join(made.categories), agent.model or home.settings.model
    session.say(safe(f'Made the agent "{agent.name}": it reads {reads}; {wakes} [{asks}].'))


def tell_woken(session: Session, home: "Home", document: "WakeLine", error: str) -> int:
    """Say what came of a wake, and the exit status."""
    if session.as_json:
        session.document(document)
        if error:
            click.echo(safe(error), err=True)
    else:
        name = home.services.agent(document.agent_id).name
        session.say(safe(_line(document, name, error)))
        if document.proposals:
            session.note("See what it proposes with `wakelog inbox`.")
    _tell_closed(session, home, document)
    return _status_of(document, error)


def _status(failures: int, *, is_waiting: bool) -> int:
    """The exit status of a command that wakes."""
    if failures:
        return 1
    return WAITS if is_waiting else 0


def _status_of(document: "WakeLine", error: str) -> int:
    return _status(bool(error) or document.outcome == "failed", is_waiting=_waits(document))


def _waits(document: "WakeLine") -> bool:
    return document.outcome is None and bool(document.waits_for)


def _tell_closed(session: Session, home: "Home", document: "WakeLine") -> None:
    """Say what lets a wake go on that waits for a person."""
    if document.waits_for in HELD:
        tell_held(session, home, [document.agent_id])


def _run(session: Session, home: "Home", agent_id: str, run_key: str) -> "tuple[WakeLine, str]":
    """Run a wake that was asked for; its document, and why it could not run, if so."""
    from adapters.usecases.wake_agents import run_wake

    name = home.services.agent(agent_id).name
    session.note(safe(f"waking: {name}"))
    ran = run_wake(home, agent_id, run_key, session.note)
    found = own_wake_of(home, run_key)
    if found is None:
        because = f"the wake {run_key} is not in the log"
        raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
    return wake_document(home, found), in_words(ran.error)


def _cancel(session: Session, agent: str | None, key: str) -> None:
    """Drop the wake that is queued for an agent, and tell."""
    from adapters.usecases.wake_agents import cancel_wake

    if agent is None:
        raise invalid("it is not clear whose wake is cancelled", "name a task or an agent")
    agent_id = pick_agent(session.reading(), agent)
    home = session.writing()
    came = cancel_wake(home, agent_id, key)
    found = own_wake_of(home, came.run_key)
    session.printed(wake_document(home, found) if found else None)
    name, triggers = home.services.agent(agent_id).name, len(found.causes) if found else 0
    told = f"Cancelled the wake that was queued for {name!r}"
    because = f"which {counted(triggers, 'trigger')} had made"
    session.say(
        safe(f"Cancelled before under the key {key}." if came.is_known else f"{told}, {because}.")
    )


@keyed("agent ask", "agent", "words", example='"Fix the sink" "What is left to do?"')
@option("--session name=S", "Go on with a talk.", default="")
@stream_option
def ask_command(
    session: Session, agent: str, words: str, name: str, key: str, stream: bool | None
) -> None:
    """Ask an agent something, wait, and print its answer.

    Each question is a wake. Its session is printed with the answer; give it with --session to
    ask again in the same thread. Exit status 1: the wake failed or could not run; 3: it waits for
    your consent, a key, its provider or a budget.
    """
    question = AgentQuestion(words, name, key)
    loud = speaker(session, stream)
    got = asked(session, pick_agent(session.reading(), agent), question, loud)
    if not session.printed(got.document):
        tell(session, got, loud)
        session.note(f"session {got.session}; go on with --session {got.session[:ID_SHOWN]}")
    raise SystemExit(got.status)


class AgentQuestion(NamedTuple):
    """What is asked, the session's name, empty for a new one, and the caller's key, if any."""

    words: str
    session: str = ""
    key: str = ""


class AnsweredQuestion(NamedTuple):
    """A question's answer: as a document, and as a person is shown it."""

    document: WakeAnswer
    shown: str
    session: str
    status: int  # the exit status that it means


def tell(session: Session, got: AnsweredQuestion, loud: Speaker | None) -> None:
    """Print an answer, unless it was printed as it came."""
    if loud is None:
        session.say(got.shown)
    else:
        loud.finish(got.shown)


def asked(
    session: Session, agent_id: str, question: AgentQuestion, loud: Speaker | None
) -> AnsweredQuestion:
    """Ask an agent and wait for its answer; `loud` prints the words as they come."""
    from adapters.usecases.wake_agents import answer_of, ask_agent

    home = session.writing()
    ask_consent(session, home, [agent_id])
    queued = ask_agent(home, agent_id, question.words, question.session, question.key)
    _warn(queued.troubles)
    if loud is not None:
        home.services.listeners[queued.run_key] = loud
    try:
        document, error = _run(session, home, agent_id, queued.run_key)
    except KeyboardInterrupt:
        click.echo(err=True)
        session.note(KEPT.format(session=queued.session[:ID_SHOWN]))
        raise click.Abort from None
    _tell_closed(session, home, document)
    told = answer_of(home, queued, document)
    fallback = _line(document, home.services.agent(agent_id).name, error)
    return AnsweredQuestion(
        told,
        safe(told.answer if told.answer and not error else fallback),
        queued.session,
        _status_of(document, error),
    )


# ----------------------------------------------------------------- several questions in one session

PROMPT = "> "


@command("agent chat", "agent", example='"Fix the sink"')
@option("--session name=S", "Go on with a talk.", default="")
@stream_option
def chat_command(session: Session, agent: str, name: str, stream: bool | None) -> None:
    """Talk with an agent: each line is a question, an empty one or Ctrl-D ends it.

    Each question is a wake of the same thread, as those of `agent ask` are. With --json each
    answer is one JSON object on a line of its own. Exit status 1: a question had no answer.
    """
    agent_id = pick_agent(session.reading(), agent)
    talk = _Talk(session, agent_id, name, stream)
    try:
        for line in _lines():
            talk.ask(line)
    finally:
        if talk.name:
            told = f"wakelog agent chat {agent_id[:8]} --session {talk.name[:8]}"
            session.note(f"Go on with `{told}`.")
    raise SystemExit(1 if talk.failures else 0)


class _Talk(msgspec.Struct):
    """Questions and answers of one session."""

    session: Session
    agent_id: str
    name: str  # empty until the first question is answered
    stream: bool | None
    failures: int = 0

    def ask(self, line: str) -> None:
        loud = speaker(self.session, self.stream)
        try:
            got = asked(self.session, self.agent_id, AgentQuestion(line, self.name), loud)
        except WakelogError as error:
            self.failures += 1
            click.echo(f"Error: {in_words(error)} [{error.code}]", err=True)
            return
        self.name = got.session
        self.failures += got.status != 0
        if self.session.as_json:
            click.echo(msgspec.json.encode(got.document).decode())
        else:
            tell(self.session, got, loud)


def _lines() -> Iterator[str]:
    """What is typed, up to an empty line or the end."""
    is_person = sys.stdin.isatty()
    while True:  # bounded by the input
        line = TEXT(_typed() if is_person else sys.stdin.readline())
        if not line.strip():
            return
        yield line.rstrip("\n")


def _typed() -> str:
    """A line that a person types; a key that ends it leaves the cursor in a line of its own."""
    click.echo(PROMPT, nl=False, err=True)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        click.echo(err=True)
        raise click.Abort from None
    if not line:
        click.echo(err=True)
    return line
