"""Who may ask, and what a page may do: host, origin, token, CSRF, and the strictest headers.

The page has no accounts. On loopback the person at the machine may do everything, and the guard
keeps web pages of strangers out: a request must name this host (no DNS rebinding), a form must
come from our own origin and carry the token of the visitor's cookie. On any other address a
visitor needs the token that the server prints.
"""

import hmac
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from msgspec import Struct

VISIT = "wakelog_visit"  # cookies are shared by all ports of a host: the port is part of a name
ENTRY = "wakelog_entry"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_BYTES = 24
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
    """Why a request is not answered."""

    status: int
    because: str
    instead: str


class Guard:
    """One server's secrets, and its questions to each request.

    Args:
        host: The address it is bound to.
        port: Its port; 0: any.
        token: What a visitor must bring; empty on loopback.
    """

    def __init__(self, host: str, port: int = 0, token: str = "") -> None:
        self.token = token
        self._secret = secrets.token_bytes(TOKEN_BYTES)
        self._port = port
        self._hosts = () if token else tuple({*LOOPBACK, host})

    @property
    def visit(self) -> str:
        """The name of the cookie that forms are bound to."""
        return f"{VISIT}_{self._port}"

    @property
    def entry(self) -> str:
        """The name of the cookie that says that the token was brought."""
        return f"{ENTRY}_{self._port}"

    def host_denied(self, headers: Mapping[str, str]) -> Denied | None:
        """Whether the request was meant for another host."""
        if not self._hosts:
            return None  # a visitor without our cookie is asked for the token
        name = _host_name(headers.get("host", ""))
        if name in self._hosts:
            return None
        because = f"this page answers only to {', '.join(sorted(self._hosts))}"
        return Denied(421, because, "open it under its own address")

    def entry_denied(self, cookies: Mapping[str, str], headers: Mapping[str, str]) -> Denied | None:
        """Whether the visitor has not shown the token."""
        if not self.token:
            return None
        brought = headers.get("authorization", "").removeprefix("Bearer ")
        if self.is_token(brought) or _same(cookies.get(self.entry, ""), self.pass_of()):
            return None
        because = "this page needs the token that `wakelog serve` printed"
        return Denied(401, because, "open the address that it printed, token and all")

    def is_token(self, given: str) -> bool:
        """Whether it is the server's token."""
        return bool(self.token) and _same(given, self.token)

    def pass_of(self) -> str:
        """What the entry cookie holds: it proves the token and does not tell it."""
        return hmac.new(self._secret, f"entry {self.token}".encode(), "sha256").hexdigest()

    def csrf_of(self, visit: str) -> str:
        """The token that the forms of a visit carry."""
        return hmac.new(self._secret, f"form {visit}".encode(), "sha256").hexdigest()[:_HIDDEN]

    def form_denied(
        self, headers: Mapping[str, str], visit: str, form: Mapping[str, str]
    ) -> Denied | None:
        """Whether a form was sent from elsewhere, or is of an earlier run of the server."""
        source = headers.get("origin") or headers.get("referer") or ""
        host = headers.get("host", "")
        if not host or urlsplit(source).netloc != host:
            because = "this form was not sent from a page of this server"
            return Denied(403, because, "open the page here, and send it from there")
        if not visit or not _same(form.get("csrf", ""), self.csrf_of(visit)):
            because = "this form is of an earlier run of the server, or of no page of it"
            return Denied(403, because, "reload the page, and send it again")
        return None


def new_visit() -> str:
    """The value of a new visitor's cookie."""
    return secrets.token_urlsafe(TOKEN_BYTES)


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
    """The address to open."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())
