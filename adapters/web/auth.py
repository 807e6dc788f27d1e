"""Who may ask, and what a page may do: host, origin, token, CSRF, and the strictest headers.

The page has no accounts. On loopback the person at the machine may do everything, and the guard
keeps web pages of strangers out: a request must name this host (no DNS rebinding), a form must
come from our own origin and carry the token of this run of the server. Where a token is asked
for, always on any other address, a visitor must bring that first (ADR 25).
"""

import hmac
import secrets
import socket
import struct
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

from msgspec import Struct

ENTRY = "wakelog_entry"  # cookies are shared by all ports of a host: the port is part of the name
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECRET_BYTES = 32
TOKEN_BYTES = 16  # 128 bits: nobody guesses it
GUESSES = 10  # wrong tokens of one address that are looked at in a row
GUESS_SECONDS = 1.0  # after which one more is
ADDRESSES_MAX = 1_000  # whose guesses are counted; the one that was quiet for longest is forgotten
TOLD_MAX = 100  # characters of an origin that a refusal repeats
_HIDDEN = 32  # hexadecimal digits of a form's token

HEADERS: tuple[tuple[str, str], ...] = (
    (
        "content-security-policy",
        (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)


class Denied(Struct, frozen=True):
    """Why a request is not answered. `can_go_on`: sent again with a new token, a form may pass."""

    status: int
    because: str
    instead: str
    can_go_on: bool = False


class Guard:
    """One server's secrets, and its questions to each request.

    Args:
        host: The address it is bound to.
        port: Its port; 0: any.
        token: What a visitor must bring; empty: nothing, on loopback only.
        others: How many other people have an account on this machine.
        secret: What forms are known by, where several servers know them; empty: it is drawn.
        clock: Seconds that go on; guesses are slowed by it.
    """

    def __init__(
        self,
        host: str,
        port: int = 0,
        token: str = "",
        *,
        others: int = 0,
        secret: bytes = b"",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.token = token
        self.others = 0 if token else others  # who can read along, and is not asked for anything
        self._secret = secret or secrets.token_bytes(SECRET_BYTES)
        self._port = port
        self._hosts = () if token and not is_loopback(host) else tuple({*LOOPBACK, host})
        self._guesses = Guesses(clock)

    @property
    def entry(self) -> str:
        """The name of the cookie that says that the token was brought."""
        return f"{ENTRY}_{self._port}"

    @property
    def csrf(self) -> str:
        """The token that the forms of this run of the server carry, whoever asked for them."""
        return self._derived("form")[:_HIDDEN]

    @property
    def admission(self) -> str:
        """What the entry cookie holds: it proves the token and does not tell it."""
        return self._derived(f"entry {self.token}")

    def host_denied(self, headers: Mapping[str, str]) -> Denied | None:
        """Whether the request was meant for another host."""
        if not self._hosts:
            return None  # a visitor without our cookie is asked for the token
        name = _host_name(headers.get("host", ""))
        if name in self._hosts:
            return None
        because = f"this page answers only to {', '.join(sorted(self._hosts))}"
        return Denied(421, because, "open it under its own address")

    def is_in(self, cookies: Mapping[str, str]) -> bool:
        """Whether no token is asked for, or the visitor's browser has shown it before."""
        return not self.token or _same(cookies.get(self.entry, ""), self.admission)

    def entry_denied(self, given: str, address: str) -> Denied | None:
        """Whether a visitor who is not in brings no token, or a wrong one.

        Args:
            given: What the visitor says that the token is; empty: nothing.
            address: Where the visitor is: wrong ones of one address are slowed.
        """
        if given and not self._guesses.may(address):
            because = "too many wrong tokens came from your address"
            return Denied(429, because, "wait some seconds, and try again")
        if given and _same(given, self.token):
            return None
        if given:
            self._guesses.count(address)
        because = "this token is not the right one" if given else "this page needs a token"
        instead = "bring the one that wakelog printed when this server was started"
        return Denied(401, because, instead)

    def form_denied(self, headers: Mapping[str, str], form: Mapping[str, str]) -> Denied | None:
        """Whether a form was sent from elsewhere, or is of an earlier run of the server."""
        source = headers.get("origin") or headers.get("referer") or ""
        host = headers.get("host", "")
        open_here = "open the page here, and send it from there"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            because = "your browser says that this form was sent from another site"
            return Denied(403, because, open_here)
        if source in ("", "null"):
            because = "your browser does not tell which page this form was sent from"
            return Denied(403, because, "allow it to send the header Origin to this page")
        if not host or _netloc(source) != host:
            because = f"this form was sent from {source[:TOLD_MAX]}, and this server is {host}"
            return Denied(403, because, open_here)
        if not form.get("csrf"):
            because = "this form has no token: no page of this server sent it"
            return Denied(403, because, open_here)
        if not _same(form["csrf"], self.csrf):
            because = "this form is of an earlier run of the server, which was started again since"
            instead = "nothing was done, and what you typed is kept: send it again"
            return Denied(403, because, instead, can_go_on=True)
        return None

    def _derived(self, what: str) -> str:
        return hmac.new(self._secret, what.encode(), "sha256").hexdigest()


_FORMS = b"wakelog forms"


def guard_of(token: str) -> Guard:
    """Takes the forms of whoever holds a token, on whichever machine they were made."""
    return Guard("", secret=hmac.digest(_FORMS, token.encode("utf-8", "replace"), "sha256"))


class Guesses:
    """Wrong tokens by address: some are looked at at once, then one each second.

    So nobody tries many, and who shares an address with somebody that does waits for seconds only.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()  # how many, and when

    def may(self, address: str) -> bool:
        """Whether a token of this address is looked at now."""
        return self._now(address) + 1 <= GUESSES

    def count(self, address: str) -> None:
        """A token was wrong."""
        used = self._now(address) + 1
        self._used.pop(_network(address), None)
        self._used[_network(address)] = used, self._clock()
        if len(self._used) > ADDRESSES_MAX:
            self._used.popitem(last=False)

    def _now(self, address: str) -> float:
        used, at = self._used.get(_network(address), (0.0, 0.0))
        return max(0.0, used - (self._clock() - at) / GUESS_SECONDS)


def new_token() -> str:
    """A token that is drawn; it can be read out and typed."""
    return secrets.token_hex(TOKEN_BYTES)


def bearer_of(headers: Mapping[str, str]) -> str:
    """The token of the header Authorization; a header's bytes are read as Latin 1, we mean UTF-8.

    >>> bearer_of({"authorization": "Bearer a b"})
    'a b'
    """
    kind, _, given = headers.get("authorization", "").partition(" ")
    return given.encode("latin-1").decode("utf-8", "replace") if kind.lower() == "bearer" else ""


def cookies_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The cookies of a request; none if they cannot be read."""
    try:
        return {name: one.value for name, one in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def cookie(name: str, value: str, *, is_hidden: bool = True, days: int = 0) -> tuple[str, str]:
    """A cookie of this host that no other site's request brings along."""
    parts = [f"{name}={value}", "Path=/", "SameSite=Strict"]
    parts += ["HttpOnly"] if is_hidden else []
    parts += [f"Max-Age={days * 86_400}"] if days else []
    return ("set-cookie", "; ".join(parts))


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine alone.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    import ipaddress

    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def printed(host: str, port: int, token: str = "") -> str:
    """The address to open.

    >>> printed("::1", 80, "a b&c")
    'http://[::1]:80/?token=a%20b%26c'
    """
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"http://{shown}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def _network(address: str) -> str:
    """Whose guesses are one: an address, or the 64 bits of IPv6 that one subscriber has.

    >>> _network("192.0.2.1"), _network("2001:db8::1")
    ('192.0.2.1', '2001:db8::')
    """
    import ipaddress

    try:
        version = ipaddress.ip_address(address).version
    except ValueError:
        return address
    if version == 4:
        return address
    return str(ipaddress.ip_network(f"{address.partition('%')[0]}/64", strict=False)[0])


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(source: str) -> str:
    try:
        return urlsplit(source).netloc
    except ValueError:
        return ""


def _same(given: str, wanted: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing of them, nor their length."""
    key = secrets.token_bytes(SECRET_BYTES)
    digests = (
        hmac.digest(key, one.encode("utf-8", "replace"), "sha256") for one in (given, wanted)
    )
    return hmac.compare_digest(*digests)


# ------------------------------------------------ the machine: its addresses, and who else is on it
# What the page needs to know of the machine: where it can be reached, and who else is on it.

ANY = ("0.0.0.0", "::")
UID_FIRST = 1_000  # of people; below are services
UID_LAST = 59_999
ELSEWHERE = "192.0.2.1"  # an address of nobody (RFC 5737): nothing is sent there
_NO_LOGIN = ("", "nologin", "false", "sync", "halt", "shutdown")
_GET_ADDRESS = 0x8915  # SIOCGIFADDR, Linux
_ADDRESS_AT = 20  # of an answer to it


class Account(Protocol):
    """An entry of the list of accounts, as the module `pwd` has it."""

    @property
    def pw_uid(self) -> int: ...
    @property
    def pw_shell(self) -> str: ...


def other_people(accounts: Iterable[Account], own: int) -> int:
    """How many other people can log in on this machine, by user id and login shell."""
    return len(
        {
            one.pw_uid
            for one in accounts
            if UID_FIRST <= one.pw_uid <= UID_LAST
            and one.pw_uid != own
            and Path(one.pw_shell).name not in _NO_LOGIN
        }
    )


def others_here() -> int:
    """How many other people can log in on this machine; 0 where nobody can tell."""
    with suppress(ImportError):  # there are no such accounts
        import os
        import pwd

        return other_people(pwd.getpwall(), os.getuid())
    return 0


def reachable(host: str) -> list[str]:
    """Under which addresses a server that is bound to a host can be reached, best first.

    >>> reachable("192.0.2.7")
    ['192.0.2.7']
    """
    if host.strip("[]") not in ANY:
        return [host]
    found = [one for one in _of_interfaces() if not one.startswith("127.")] or _outgoing()
    return found or ["127.0.0.1"]


def _of_interfaces() -> list[str]:
    """The IPv4 address of each interface; none where this system does not tell."""
    found = []
    with suppress(ImportError, OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        from fcntl import ioctl

        for _, name in socket.if_nameindex():
            with suppress(OSError):  # it has none
                answer = ioctl(asking.fileno(), _GET_ADDRESS, struct.pack("256s", name.encode()))
                found.append(socket.inet_ntoa(answer[_ADDRESS_AT : _ADDRESS_AT + 4]))
    return found


def _outgoing() -> list[str]:
    """The address that this machine would send from."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect((ELSEWHERE, 9))
        return [str(asking.getsockname()[0])]
    return []
