"""What people type, read: durations, days, times, relations, texts from a file or stdin."""

import os
import sys
from typing import TYPE_CHECKING

import click

from adapters.cli.shared import Session
from adapters.home.api_keys import SECRET_MIN
from adapters.home.read_input import STDIN, read_input
from adapters.home.sanitise_input import replacement_line, sanitised
from adapters.text.common import counted
from adapters.usecases.inputs import TEXT_BYTES_MAX
from domain.errors import invalid
from domain.log import canonical
from domain.policy.scrub import scrub, scrub_all

if TYPE_CHECKING:
    from domain.journal.imported import ImportedFile


def text(given: str) -> str:
    """What a person typed or has in a file; its bytes that are no UTF-8 become U+FFFD, and values
    of known keys their names, which is told on stderr; likewise secrets, where that is set."""
    given = canonical.clean(given)
    kept, replaced = sanitised(
        given, os.environ, is_scrubbed=_is_scrubbed(given), keys=_keys(given)
    )
    for name in dict.fromkeys(replaced):
        click.echo(f"Note: {replacement_line(name)}", err=True)
    return str(kept)


def _is_scrubbed(given: str) -> bool:
    """Whether a text holds secrets that are not to be kept. The settings are read only where it
    matters: whoever has mistyped one can still ask for help."""
    if not scrub(given).count:
        return False
    session = _session()
    return session is not None and session.settings().policy.scrub_entry


def _keys(given: str) -> tuple[str, ...]:
    """The variables of keys that settings name, asked only where a text holds what some variable
    does."""
    values = (one.strip() for one in os.environ.values())
    if len(given) < SECRET_MIN or not any(
        len(one) >= SECRET_MIN and one in given for one in values
    ):
        return ()
    session = _session()
    return session.settings().key_variables if session else ()


def _session() -> Session | None:
    context = click.get_current_context(silent=True)
    return context.find_object(Session) if context else None


def warn_of_secrets(given: "str | ImportedFile", where: str) -> None:
    """Say on a terminal that a text holds what looks like a secret. It is kept as it is."""
    if not sys.stderr.isatty():
        return
    if count := scrub_all(given)[1]:
        told = f"Note: {where} holds {counted(count, 'secret')}, kept as written; agents see none"
        click.echo(told, err=True)


TEXT = text  # the type of an option, as click takes it


def long_text(given: str | None, file: str | None, what: str) -> str:
    """A text from the argument, from stdin (``-``), or from a file. Raises Refused: none or both
    are given, or the text cannot be read."""
    if given is not None and file is not None:
        raise invalid(f"the {what} is given twice", "give a text or --file, not both")
    if given is None and file is None:
        raise invalid(f"the {what} is missing", "give a text, `-` for stdin, or --file PATH")
    if given is not None and given != "-":
        return given
    data = read_input(file or STDIN, TEXT_BYTES_MAX)
    if b"\0" in data:
        raise invalid(f"the {what} is no text", "give UTF-8 text")
    return text(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").rstrip("\n"))
