"""`wakelog notify`: who is told that something waits for you."""

import os
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import NO_HOME, Session
from adapters.text.common import safe
from adapters.text.notify import notify_lines
from adapters.usecases import notify

if TYPE_CHECKING:
    from adapters.wiring import Home


@group("notify", invoke_without_command=True, epilog="Example: wakelog notify")
@click.pass_context
def notify_command(ctx: click.Context) -> None:
    """See and say who is told when something waits for you.

    `wakelog run` tells the receivers that settings.toml names below [notify], and of a home in a
    database its workers tell them, on their machines and with their environment: a command, which
    reads one JSON object with title and text, and a webhook, which is sent ids and counts. They
    are told that an agent was paused after failures, that proposals wait, or that a wake needs
    your consent or a key. Settings travel with copies of a home, so nobody is told anything before
    you say `wakelog notify allow` on this machine.
    """
    if ctx.invoked_subcommand is None:
        session: Session = ctx.obj
        _show(session, session.reading())


def _show(session: Session, home: "Home", *, changed: bool = False) -> None:
    if session.as_json:
        session.document(notify.notify_document(home, changed=changed))
    elif not home.exists:
        session.say(NO_HOME.format(home.place.name))
    else:
        document = notify.notify_document(home, changed=changed)
        session.say_each(map(safe, notify_lines(document, home.settings.timezone)))


@command("notify show")
def notify_show(session: Session) -> None:
    """Show who is told, what they are to be told of, and how it went; `notify` alone does it."""
    _show(session, session.reading())


@command("notify allow")
def notify_allow(session: Session) -> None:
    """Let the receivers of the settings be told, from now on and on this machine."""
    home = session.writing()
    _show(session, home, changed=notify.allow(home, os.environ))


@command("notify withdraw")
def notify_withdraw(session: Session) -> None:
    """Tell nobody any more, whatever the settings say."""
    home = session.writing()
    _show(session, home, changed=notify.withdraw(home))


@command("notify test")
def notify_test(session: Session) -> None:
    """Tell each receiver once, as a test. Exit status 1: one could not be told."""
    found = notify.test(session.reading(), os.environ)
    session.printed(found)
    for one in () if session.as_json else found:
        told = "was told" if one.ok else f"was not told: {one.failure}"
        session.say(safe(f"{one.receiver} {one.shown} {told}"))
    raise SystemExit(0 if all(one.ok for one in found) else 1)
