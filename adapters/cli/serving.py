"""`wakelog serve`: the local page."""

import importlib
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
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


@click.command("serve", epilog="Examples: wakelog serve --open; wakelog serve --token --port 9000")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help=f"Else {PORT}.")
@click.option("--host", default=HOST, metavar="H", help="Else this machine alone.")
@click.option("--token", "is_asked", is_flag=True, help="Ask for a token on this machine, too.")
@click.option("--open", "is_opened", is_flag=True, help="Open it in the browser, without a token.")
@click.pass_obj
def serve_command(
    session: Session, port: int | None, host: str, *, is_asked: bool, is_opened: bool
) -> None:
    """Open a local page: see what agents do, decide what they propose.

    It answers to this machine only, to all of its accounts. With --token it asks who opens it for
    the token that it prints (or that WAKELOG_SERVE_TOKEN holds). With --host it answers other
    machines, too, and always asks; nothing is encrypted then, so use it in a network that you
    trust. Ctrl-C ends it.
    """
    server, machine = _part("server"), _part("machine")
    token = _token(host, is_asked=is_asked)
    session.settle()
    listening = _bound(host, port)
    number = listening.getsockname()[1]
    site = _site(session, listening)
    printed = _part("guard").printed
    places = machine.reachable(host)
    _tell(session, site, host, [printed(one, number, token) for one in places], token)
    if is_opened:  # without the token: other accounts see how a browser is called
        threading.Timer(0.5, webbrowser.open, [printed(places[0], number)]).start()
    try:
        server.PageServer(site, _guard(host, number, token)).run([listening])
    finally:
        server.closed(site, listening, JOBS_SECONDS)


@contextmanager
def beside(session: Session, port: int | None, *, is_asked: bool) -> Iterator[str]:
    """The page of this machine in a thread beside an engine of the same home; its address.

    A wake that somebody asks for there is the engine's.
    """
    server = _part("server")
    token = _token(HOST, is_asked=is_asked)
    listening = _bound(HOST, port)
    number = listening.getsockname()[1]
    site = _site(session, listening, has_engine=True)
    try:
        with server.beside(site, _guard(HOST, number, token), listening):
            yield _part("guard").printed(HOST, number, token)
    finally:
        server.closed(site, listening, JOBS_SECONDS)


def _guard(host: str, port: int, token: str) -> Any:
    return _part("guard").Guard(host, port, token, others=_part("machine").others_here())


def _site(session: Session, listening: socket.socket, *, has_engine: bool = False) -> Any:
    """The home behind the pages; where it cannot be opened, nobody listens any more."""
    try:
        return _part("site").Site(session.path, os.environ, session.model, has_engine=has_engine)
    except BaseException:
        listening.close()
        raise


def _part(name: str) -> Any:
    """A module of the page; not as an import statement: it stands on this package's documents."""
    return importlib.import_module(f"adapters.web.{name}")


def _token(host: str, *, is_asked: bool) -> str:
    """What visitors need: the person's own, or one that is drawn; empty if nobody is asked."""
    guard = _part("guard")
    if guard.is_loopback(host) and not is_asked:
        return ""
    own = os.environ.get(TOKEN_VARIABLE, "")
    if own and (len(own) < TOKEN_MIN or not own.isprintable()):
        because = f"{TOKEN_VARIABLE} is shorter than {TOKEN_MIN} characters, or no plain text"
        raise Refused("invalid_value", because=because, instead="choose another one, or unset it")
    return own or str(guard.new_token())


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


def _tell(session: Session, site: Any, host: str, addresses: Sequence[str], token: str) -> None:
    session.note(f"Serving {site.home.path}; Ctrl-C ends it.")
    if token and _part("guard").is_loopback(host):
        session.note("It asks for the token of this address; keep that to yourself.")
    elif token:
        session.note("Other machines reach it, unencrypted, with this address and its token.")
    for address in addresses:
        click.echo(address)
    sys.stdout.flush()
