"""`wakelog serve`: the local page."""

import importlib
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from adapters.cli.shared import Session
from adapters.keys import TOKEN_VARIABLE
from domain.errors import Refused

HOST = "127.0.0.1"
PORT = 8765
BACKLOG = 128
PORTS_TRIED = 20  # from the default on, where no port is asked for
TOKEN_MIN = 16
JOBS_SECONDS = 0.3  # that what runs is given to end


@click.command("serve", epilog="Examples: wakelog serve --open; wakelog serve --port 9000")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help=f"Else {PORT}.")
@click.option("--host", default=HOST, metavar="H", help="Else this machine alone.")
@click.option("--open", "is_opened", is_flag=True, help="Open it in the browser.")
@click.pass_obj
def serve_command(session: Session, port: int | None, host: str, *, is_opened: bool) -> None:
    """Open a local page: see what agents do, decide what they propose.

    It answers to this machine only. With --host it answers others, too, and asks them for the
    token that it prints (or that WAKELOG_SERVE_TOKEN holds); nothing is encrypted then, so use
    it in a network that you trust. Ctrl-C ends it.
    """
    guard = _part("guard")
    token = "" if guard.is_loopback(host) else _token()
    listening = _bound(host, port)
    number = listening.getsockname()[1]
    site = _part("site").Site(session.path, os.environ, session.model)
    address = guard.printed(host, number, token)
    _tell(session, site, address, token)
    if is_opened:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    server = _part("server")
    try:
        server.PageServer(site, guard.Guard(host, number, token)).run([listening])
    finally:
        server.closed(site, listening, JOBS_SECONDS)


@contextmanager
def beside(session: Session, port: int | None) -> Iterator[str]:
    """The page of this machine in a thread beside an engine of the same home; its address.

    A wake that somebody asks for there is the engine's.
    """
    guard, server = _part("guard"), _part("server")
    listening = _bound(HOST, port)
    number = listening.getsockname()[1]
    site = _part("site").Site(session.path, os.environ, session.model, has_engine=True)
    try:
        with server.beside(site, guard.Guard(HOST, number), listening):
            yield guard.printed(HOST, number, "")
    finally:
        server.closed(site, listening, JOBS_SECONDS)


def _part(name: str) -> Any:
    """A module of the page; not as an import statement: it stands on this package's documents."""
    return importlib.import_module(f"adapters.web.{name}")


def _token() -> str:
    """What visitors of another machine need: the person's own, or one that is drawn."""
    own = os.environ.get(TOKEN_VARIABLE, "")
    if own and len(own) < TOKEN_MIN:
        because = f"{TOKEN_VARIABLE} is shorter than {TOKEN_MIN} characters"
        raise Refused("invalid_value", because=because, instead="make it longer, or unset it")
    return own or secrets.token_urlsafe(24)


def _bound(host: str, port: int | None) -> socket.socket:
    """A socket on the port that is asked for; else on the first free one from the default on."""
    tried = [port] if port is not None else range(PORT, PORT + PORTS_TRIED)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    error: Exception | None = None
    for number in tried:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host.strip("[]"), number))
            listening.listen(BACKLOG)  # who opens the address at once waits, and is answered
        except (OSError, TypeError, UnicodeError) as failed:  # no address, or no name at all
            listening.close()
            error = failed
            continue
        return listening
    raise Refused(
        "invalid_value",
        because=f"{host}:{tried[0]} cannot be listened on: {getattr(error, 'strerror', error)}",
        instead="choose another one with --port or --host",
    )


def _tell(session: Session, site: Any, address: str, token: str) -> None:
    session.note(f"Serving {site.home.path}; Ctrl-C ends it.")
    if token:
        session.note("Other machines reach it, unencrypted, with this address and its token.")
    click.echo(address)
    sys.stdout.flush()
