"""The receivers of notices: a program on this machine, and a web address.

Each is given one JSON object, is cut off when it hangs, and says in one line what went wrong."""

import hashlib
import hmac
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import msgspec

from adapters.home.api_keys import SECRET_VARIABLES
from adapters.home.settings import NotifySettings
from adapters.notify.notices import Message, without_texts
from domain.log.keys import key

if TYPE_CHECKING:
    from adapters.home.home_location import HomeLocation

COMMAND_SECONDS = 10.0
WEBHOOK_SECONDS = 5.0
SIGNATURE = "X-Wakelog-Signature"


class Channel(Protocol):
    """A receiver. `name` is ``command`` or ``webhook``; `shown` names it to a person; `identity`
    is what the person allowed: this receiver, of this home in this place."""

    name: str
    shown: str
    identity: str

    def send(self, message: Message) -> str:
        """Tell it, and wait for its answer; empty, or what went wrong."""

    def cancel(self) -> None:
        """End at once what is being sent."""


def channels_of(
    notify: NotifySettings, place: "HomeLocation", environ: Mapping[str, str]
) -> list[Channel]:
    """The receivers that the settings name. Settings travel, consent does not: a receiver of a
    home that was moved or copied is another one."""
    found: list[Channel] = []
    if notify.command:
        identity = key("notify", *place.identity(), *notify.command)
        found.append(CommandChannel(notify, identity, environ))
    if notify.webhook:
        identity = key("notify", *place.identity(), notify.webhook, notify.secret)
        found.append(WebhookChannel(notify, identity, environ))
    return found


class CommandChannel:
    """A program, started without a shell, that reads the message with its texts from stdin. It
    is given the environment without the keys that wakelog knows."""

    name = "command"

    def __init__(
        self, notify: NotifySettings, identity: str, environ: Mapping[str, str],
        seconds: float = COMMAND_SECONDS,
    ) -> None:  # fmt: skip
        self.identity = identity
        self.shown = shlex.join(notify.command)  # all of it: a person allows it
        self._program = notify.command[0]
        self._command: Sequence[str] = notify.command
        self._seconds = seconds
        hidden = {*SECRET_VARIABLES, notify.secret.removeprefix("env:")}
        self._environ = {name: value for name, value in environ.items() if name not in hidden}
        self._process: subprocess.Popen[bytes] | None = None

    def send(self, message: Message) -> str:
        try:
            process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=self._environ, start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return f"{self._program} cannot be started: {reason}"
        self._process = process
        try:
            process.communicate(msgspec.json.encode(message) + b"\n", self._seconds)
        except subprocess.TimeoutExpired:
            self.cancel()
            process.wait()
            return f"{self._program} was cut off after {self._seconds:g} seconds"
        finally:
            self._process = None
        return "" if process.returncode == 0 else f"{self._program} ended with {process.returncode}"

    def cancel(self) -> None:
        """End the program and all that it started."""
        process = self._process
        if process is not None and process.poll() is None:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)


class WebhookChannel:
    """An address that is sent ids and counts, without any text of the person's. It is asked
    directly, by no proxy, and redirects are not followed."""

    name = "webhook"

    def __init__(
        self, notify: NotifySettings, identity: str, environ: Mapping[str, str],
        seconds: float = WEBHOOK_SECONDS,
    ) -> None:  # fmt: skip
        self.identity = identity
        self._url = notify.webhook
        parts = urlsplit(notify.webhook)
        self.shown = f"{parts.scheme}://{parts.netloc}"  # what follows may be a secret
        self._variable = notify.secret.removeprefix("env:")
        self._secret = environ.get(self._variable, "") if self._variable else ""
        self._seconds = seconds

    def send(self, message: Message) -> str:
        if self._variable and not self._secret:
            return f"the variable {self._variable} that signs it is not set"
        body = msgspec.json.encode(without_texts(message))
        answers: list[str] = []
        thread = threading.Thread(
            target=lambda: answers.append(self._post(body)), name="wakelog-webhook", daemon=True
        )
        thread.start()
        thread.join(self._seconds)  # of all: a name that is looked up, an answer that drips
        late = f"{self.shown} did not answer in {self._seconds:g} seconds"
        return answers[0] if answers else late

    def cancel(self) -> None:
        """What is being sent ends with the process."""

    def _post(self, body: bytes) -> str:
        import httpx2  # loading it takes long, and few need it

        headers = {"content-type": "application/json"}
        if self._secret:
            signed = hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest()
            headers[SIGNATURE] = f"sha256={signed}"
        try:
            with (
                httpx2.Client(
                    timeout=self._seconds, follow_redirects=False, trust_env=False
                ) as client,
                client.stream("POST", self._url, content=body, headers=headers) as response,
            ):
                is_taken = response.is_success
                return "" if is_taken else f"{self.shown} answered {response.status_code}"
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
            return f"{self.shown} cannot be reached: {type(error).__name__}"
