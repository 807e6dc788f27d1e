"""Who is told that something waits: allowed once on this machine, tried, and withdrawn."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adapters.documents.notify import TestedReceiver, notify_document
from adapters.notify.channels import Channel, channels_of
from adapters.notify.delivery_progress import DeliveryProgress, DeliveryStore
from adapters.notify.notices import Message
from adapters.notify.notifier import Notifier, NotifierOptions
from adapters.runtime.engine_options import Tell
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.wiring import Home

__all__ = ["notify_document"]


def notifiers_of(home: "Home", environ: Mapping[str, str], tell: Tell) -> list[Notifier]:
    """What tells the receivers of the settings, for `run_home.run`. One that was not allowed here
    is told nothing, and that is said."""
    options = NotifierOptions(home.place.notices())
    known = DeliveryStore(options.rows)
    channels = _channels(home, environ)
    for one in channels:
        if known.allowed(one.name, one.identity) is None:
            tell("not_allowed", level="warning", by=one.shown)
    return [Notifier(home.services, one, options, tell) for one in channels]


def allow(home: "Home", environ: Mapping[str, str]) -> bool:
    """Let the receivers of the settings be told of what begins to wait from now on; whether any
    was not allowed before. Raises Refused, code ``nothing_set``: the settings name none."""
    progress, tail = DeliveryStore(home.place.notices()), home.services.agents.tail()
    has_changed = False
    for one in _needed(home, environ):
        if progress.allowed(one.name, one.identity) is None:
            progress.save(one.name, DeliveryProgress(one.identity, tail.n, tail.digest))
            has_changed = True
    return has_changed


def withdraw(home: "Home") -> bool:
    """Tell nobody any more, whatever the settings say; whether anybody was allowed."""
    progress = DeliveryStore(home.place.notices())
    return any([progress.forget("command"), progress.forget("webhook")])


def test(home: "Home", environ: Mapping[str, str]) -> list[TestedReceiver]:
    """Tell each receiver once that this is a test, allowed or not: a person is there and asks.
    Raises Refused, code ``nothing_set``: the settings name none."""
    message = Message("test", 0, [], "wakelog: a test", "This is a test: nothing waits.")
    sent = ((one, one.send(message)) for one in _needed(home, environ))
    return [TestedReceiver(one.name, one.shown, not fault, fault or None) for one, fault in sent]


def _needed(home: "Home", environ: Mapping[str, str]) -> list[Channel]:
    channels = _channels(home, environ)
    if not channels:
        because = "settings.toml names nobody who is told"
        instead = "set command or webhook below [notify]"
        raise Refused("nothing_set", because=because, instead=instead)
    return channels


def _channels(home: "Home", environ: Mapping[str, str]) -> list[Channel]:
    """The receivers; a command is given no key of a model, whichever variable holds it."""
    secret = home.settings.notify.secret.removeprefix("env:")
    hidden = {*home.settings.key_variables} - {secret}  # which `channels_of` reads, and hides
    given = {name: value for name, value in environ.items() if name not in hidden}
    return channels_of(home.settings.notify, home.place, given)
