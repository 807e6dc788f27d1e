"""`wakelog serve`: the local page."""

import importlib
import os
import secrets
import socket
import sys
import threading
import webbrowser
from typing import Any

import click

from adapters.cli.shared import Session
from domain.errors import Refused

PORT = 8765
BACKLOG = 128
PORTS_TRIED = 20  # from the default on, where no port is asked for
TOKEN_VARIABLE = "WAKELOG_SERVE_TOKEN"
TOKEN_MIN = 16
GRACE_SECONDS = 2
JOBS_SECONDS = 10.0  # that running wakes are given to end


@click.command("serve", epilog="Examples: wakelog serve --open; wakelog serve --port 9000")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help=f"Else {PORT}.")
@click.option("--host", default="127.0.0.1", metavar="H", help="Else this machine alone.")
@click.option("--open", "is_opened", is_flag=True, help="Open it in the browser.")
@click.pass_obj
def serve_command(session: Session, port: int | None, host: str, *, is_opened: bool) -> None:
    """Open a local page: see what agents do, decide what they propose.

    It answers to this machine only. With --host it answers others, too, and asks them for the
    token that it prints (or that WAKELOG_SERVE_TOKEN holds); nothing is encrypted then, so use
    it in a network that you trust. Ctrl-C ends it.
    """
    import uvicorn

    # not as an import statement: the page stands on this package's documents
    app, guard, site = (
        importlib.import_module(f"adapters.web.{name}") for name in ("app", "guard", "site")
    )
    token = "" if guard.is_loopback(host) else _token()
    listening = _bound(host, port)
    number = listening.getsockname()[1]
    served: Any = site.Site(session.path, os.environ, session.model)
    address = guard.printed(host, number, token)
    _tell(session, served, address, token)
    if is_opened:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        app.make_app(served, guard.Guard(host, number, token)),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        served.jobs.wait(JOBS_SECONDS)
        served.close()
        listening.close()


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
    error: OSError | None = None
    for number in tried:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host.strip("[]"), number))
            listening.listen(BACKLOG)  # who opens the address at once waits, and is answered
        except OSError as failed:
            listening.close()
            error = failed
            continue
        return listening
    raise Refused(
        "invalid_value",
        because=f"{host}:{tried[0]} cannot be listened on: {error.strerror if error else ''}",
        instead="choose another one with --port or --host",
    )


def _tell(session: Session, site: Any, address: str, token: str) -> None:
    session.note(f"Serving {site.home.path}; Ctrl-C ends it.")
    if token:
        session.note("Other machines reach it, unencrypted, with this address and its token.")
    click.echo(address)
    sys.stdout.flush()
