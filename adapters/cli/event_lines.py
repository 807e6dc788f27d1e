"""What `wakelog run` and `wakelog worker` say of what happens, a line each."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import click
import msgspec

from adapters.cli.shared import Session
from adapters.documents.sync import LeadAway
from adapters.home.clock import SystemClock
from adapters.text.common import ID_SHOWN, counted, local_time, safe
from adapters.text.remedies import in_words
from adapters.text.sync import away_text
from domain.errors import WakelogError

_WORDS = {
    "started": "running; stop it with Ctrl-C",
    "serving": "the page is at {address}",
    "led": "{lead} leads: agents wake by themselves there, and here if you ask",
    "away": "{message}",
    "leads": "this machine leads: agents wake by themselves here",
    "looked": "looked at {appends} journal appends",
    "written": "{file}: {changes} written back, {left} cannot be said there",
    "imported": "{file}: {created} created, {changed} changed",
    "gone": "{file}: rejected or deleted, for it is there no more: {title}",
    "kept": "{file}: {tasks} are there no more, and left open; see `wakelog import --gone`",
    "assigned": "{file}: {agents} given an agent",
    "alone": "{file}: new tasks have no agents; add --agents, or `wakelog agent create --all`",
    "unreadable": "{file}: {message}",
    "replaced": "{file}: {message}",
    "ticked": "timers fired for {agents} agents",
    "expired": "nobody decided of set {set_id}: it expired",
    "recovered": "finished what a crash left of item {item} of set {set_id}",
    "waking": "{agent}: wakes ({reason})",
    "agreed": "agreed to what {model} is sent; see `wakelog policy show`",
    "closed": "nothing goes to {model} before you agree to it: `{command}`",
    "resumed": "{agent}: goes on",
    "taken_over": "{agent}: taken over from a process that is gone",
    "waits": "{agent}: waits until {until}",
    "limited": "at the limit of what models may be asked: no wake begins until {until}",
    "held": "{agent}: waits for your {waits_for}, see `wakelog status`",
    "ended": "{agent}: {outcome}{turns}",
    "cancelled": "{agent}: stopped, the agent is {reason}",
    "handed_back": "handed the wake {run_key} back",
    "told": "{by} was told what waits for you: {tasks}",
    "untold": "not told that something waits: {message}",
    "not_allowed": "{by} is told nothing before you say `wakelog notify allow`",
    "well_again": "it works again: going on",
    "clock_back": "the log is {told} ahead of this machine's clock: going on from the log",
    "slept": "the machine slept for {seconds} seconds",
    "retained": "dropped as the settings say: {prompts} prompt texts, {replies} replies",
    "synced": "{message}",
    "stopping": "stopping; {running} may end first, Ctrl-C again leaves them",
    "interrupted": "stopped at once; left in doubt: {running}",
    "stopped": "stopped after {wakes}",
    "draining": "stopping; {homes} may end first, Ctrl-C again leaves them",
    "freed": "{homes} of workers that are gone may be tended by others",
    "lost": "could not say for {seconds} seconds that it lives: lets go of {homes}",
    "working": "worker {worker} tends homes; stop it with Ctrl-C",
    "renewed": "the views of {homes} are those of this version now",
    "healthy": "tells how it is at {address}",
    "trouble": "{message}",
}
_COLOURS = {"error": "red", "warning": "yellow"}


class EventLines:
    """The log of an engine, or of a worker, on stderr: for a person, or one JSON object a line."""

    def __init__(self, session: Session, zone: str) -> None:
        self._session = session
        self._clock = SystemClock()
        self._zone = zone

    def tell(self, event: str, level: str = "info", **fields: object) -> None:
        if self._session.is_quiet and level == "info":
            return
        at = self._clock.now()
        if isinstance(error := fields.get("message"), WakelogError):
            fields["message"] = in_words(error)
        if self._session.as_json:
            line = {"at": at, "level": level, "event": event, **fields}
            click.echo(msgspec.json.encode(line).decode(), err=True)
            return
        shown = {name: self._shown(name, value) for name, value in fields.items()}
        where = f"{shown['home']}: " if "home" in shown else ""
        words = f"{where}{_WORDS[event].format_map(shown)}"
        text = safe(f"{local_time(at, self._zone)}  {words}")
        colour = _COLOURS.get(level)
        click.echo(click.style(text, fg=colour) if colour else text, err=True)

    def away(self, lead: LeadAway) -> None:
        """Tell that the machine that leads is silent."""
        self.tell("away", level="warning", message=away_text(lead))

    def _shown(self, name: str, value: object) -> str:
        match name:
            case "until":
                return local_time(str(value), self._zone)
            case "turns":
                return f" after {value} turns" if value else ", nobody was asked"
            case "wakes" | "running" | "homes" | "tasks":
                return counted(int(str(value)), {"running": "wake"}.get(name, name[:-1]))
            case "set_id" | "run_key":
                return str(value)[:ID_SHOWN]
            case _:
                return str(value)


class _Warnings(logging.Handler):
    """What adapters warn of in threads of their own, as lines like the others."""

    def __init__(self, lines: EventLines) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.tell("trouble", level="warning", message=record.getMessage())


@contextmanager
def warned(lines: EventLines) -> Iterator[None]:
    logger, handler = logging.getLogger("adapters"), _Warnings(lines)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
