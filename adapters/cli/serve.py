"""`wakelog serve`: the local page."""

import os
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

import click

from adapters import launch
from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session
from adapters.launch import HOST, PORT, LocalPage


@command("serve", example=("--open", "--token --port 9000"))
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help=f"Else {PORT}.")
@click.option("--host", default=HOST, metavar="H", help="Else this machine alone.")
@click.option("--token", "is_asked", is_flag=True, help="Ask for a token on this machine, too.")
@click.option("--open", "is_opened", is_flag=True, help="Open it in the browser, without a token.")
@click.option("--database", "is_many", is_flag=True, help="All homes of WAKELOG_DATABASE.")
@click.option("--secure", "is_secure", is_flag=True, help="Behind a proxy that encrypts.")
def serve_command(
    session: Session,
    port: int | None,
    host: str,
    *,
    is_asked: bool,
    is_opened: bool,
    is_many: bool,
    is_secure: bool,
) -> None:
    """Open a local page: see what agents do, decide what they propose.

    It answers to this machine only, to all of its accounts. With --token it asks who opens it for
    the token that it prints (or that WAKELOG_SERVE_TOKEN holds). With --host it answers other
    machines, too, and always asks; nothing is encrypted then, so use it in a network that you
    trust. Ctrl-C ends it.

    With --database it shows all homes of a database below /h/NAME, to who brings a token of it
    (`wakelog token create NAME`); with --secure browsers keep it for encrypted addresses alone.
    """
    if is_many:
        _serve_homes(session, host, port, is_secure=is_secure)
        return
    token = launch.token_for(host, os.environ, is_asked=is_asked)
    session.settle()
    page = LocalPage(session.place, os.environ, session.model, host=host, port=port, token=token)
    try:
        _tell(session, page, token)
        if is_opened:
            threading.Timer(0.5, webbrowser.open, [page.address]).start()
        page.run()
    finally:
        page.close()


@contextmanager
def beside(session: Session, port: int | None, *, is_asked: bool) -> Iterator[str]:
    """The page of this machine in a thread beside an engine of the same home; its address."""
    token = launch.token_for(HOST, os.environ, is_asked=is_asked)
    page = LocalPage(
        session.place, os.environ, session.model, port=port, token=token, has_engine=True
    )
    try:
        with page.beside():
            yield page.addresses[0]
    finally:
        page.close()


def _serve_homes(session: Session, host: str, port: int | None, *, is_secure: bool) -> None:
    page = launch.HomesPage(os.environ, host=host, port=port, is_secure=is_secure)
    try:
        session.note(f"Serving the homes of {page.database}; Ctrl-C ends it.")
        for address in page.addresses:
            click.echo(address)
        sys.stdout.flush()
        page.run()
    finally:
        page.close()


def _tell(session: Session, page: LocalPage, token: str) -> None:
    session.note(f"Serving {page.home}; Ctrl-C ends it.")
    if page.is_for_others:
        session.note("Other machines reach it, unencrypted, with this address and its token.")
    elif token:
        session.note("It asks for the token of this address; keep that to yourself.")
    for address in page.addresses:
        click.echo(address)
    sys.stdout.flush()
