"""`wakelog serve`: the local page."""

import os
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from adapters import launch
from adapters.cli.event_lines import EventLines, warned
from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option
from adapters.launch import HOST, PORT, LocalPage
from domain.errors import invalid


@command("serve", example=("--open", "--token --port 9000"))
@option("--port=N", f"Else {PORT}.", click.IntRange(0, 65_535))
@option("--host=H", "Else this machine alone.", default=HOST)
@flag("--token is_asked", "Ask for a token on this machine, too.")
@flag("--open is_opened", "Open it in the browser, without a token.")
@flag("--database is_many", "All homes of WAKELOG_DATABASE.")
@flag("--secure is_secure", "Behind a proxy that encrypts.")
@option("--health=PORT", "With --database: tell over HTTP how it is.", click.IntRange(0, 65_535))
def serve_command(
    session: Session, port: int | None, host: str, *, is_asked: bool, is_opened: bool,
    is_many: bool, **of_many: Any,
) -> None:  # fmt: skip
    """Open a local page: see what agents do, decide what they propose.

    It answers to this machine only, to all of its accounts. With --token it asks who opens it for
    the token that it prints (or that WAKELOG_SERVE_TOKEN holds). With --host it answers other
    machines, too, and always asks; nothing is encrypted then, so use it in a network that you
    trust. Ctrl-C ends it.

    With --database it shows all homes of a database below /h/NAME, to who brings a token of it
    (`wakelog token create NAME`); with --secure browsers keep it for encrypted addresses alone.
    With --health it answers on a port of its own: /live, /ready (it reaches the database), and
    /metrics for Prometheus: requests, refusals, seconds. With --json its log is one JSON object a
    line on stderr.
    """
    if is_many:
        _serve_homes(session, host=host, port=port, **of_many)
        return
    if of_many["health"] is not None:
        raise invalid("--health tells of a page of many homes", "add --database")
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


def _serve_homes(session: Session, **given: Any) -> None:
    page = launch.HomesPage(os.environ, **given)
    with ExitStack() as stack:
        stack.callback(page.close)
        lines = EventLines(session, "UTC")
        if session.as_json:
            stack.enter_context(warned(lines))
        session.note(f"Serving the homes of {page.database}; Ctrl-C ends it.")
        if page.health:
            lines.tell("healthy", address=page.health)
        for address in page.addresses:
            click.echo(address)
        sys.stdout.flush()
        page.run()


def _tell(session: Session, page: LocalPage, token: str) -> None:
    session.note(f"Serving {page.home}; Ctrl-C ends it.")
    if page.is_for_others:
        session.note("Other machines reach it, unencrypted, with this address and its token.")
    elif token:
        session.note("It asks for the token of this address; keep that to yourself.")
    for address in page.addresses:
        click.echo(address)
    sys.stdout.flush()
