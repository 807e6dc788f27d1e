"""A model's words on the terminal as they come, for who asked and waits."""

import sys
from collections.abc import Callable
from typing import TypeVar

import click

from adapters.cli.shared import Session
from adapters.text.common import safe

F = TypeVar("F", bound=Callable[..., object])
AGAIN = "(That came to nothing; the model is asked again.)"


def stream_option(command: F) -> F:
    """``--stream``: whether words are printed as they come; None: where a person reads them."""
    option = click.option(
        "--stream/--no-stream",
        "stream",
        default=None,
        help="Print the answer as it comes, where the model streams: so it is on a terminal, "
        "and never with --json.",
    )
    return option(command)


class Speaker:
    """Prints words as they come (a `domain.ports.Listener`), each turn's in lines of their own.
    What counts is the recorded answer, see `finish`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._turn = ""  # what was said in this one
        self._last = ""  # and in the last one that had words and is over

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
