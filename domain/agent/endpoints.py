"""Names of models behind an address: ``openai:MODEL@URL``, or ``openai:MODEL`` at the home's own.

`openai` is a protocol here, not a company: who is asked is said by the address alone."""

import re
from typing import NamedTuple

from domain.errors import Refused, invalid

MODELS = "rules, gemini, gemini:MODEL, openai:MODEL, openai:MODEL@URL or tape:FILE"
"""All that a model may be called, as it is told where a name is none."""
GEMINI_MODEL = "gemini-3.1-pro-preview"  # that plain `gemini` asks
PROTOCOL = "openai"
PREFIX = f"{PROTOCOL}:"
LENGTH_MAX = 190  # characters, so that the pattern of a receipt has room for it
PORTS = {"http": "80", "https": "443"}

_MODEL = r"[0-9A-Za-z@][0-9A-Za-z._/:+-]{0,119}"
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[0-9a-z][0-9a-z.-]*|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[0-9A-Za-z._~%+:-]*)*)",
    re.IGNORECASE,
)
_NAME = re.compile(rf"{PREFIX}(?P<model>{_MODEL})(?:@(?P<url>(?i:https?)://.*))?")
_ANY = re.compile(rf"{PREFIX}\*@(?P<url>(?i:https?)://.*)")
_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|\[?::1\]?", re.IGNORECASE)


class EndpointAddress(NamedTuple):
    """Where an endpoint is, in one way of writing."""

    scheme: str
    host: str
    port: str
    path: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: who is asked."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole; a port that its scheme says is left out."""
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether what is sent there stays on this machine's own wires."""
        return is_loopback(self.host)


class EndpointModel(NamedTuple):
    """A name's model, and its address if it has one."""

    model: str
    address: EndpointAddress | None

    @property
    def name(self) -> str:
        """As it is kept."""
        return f"{PREFIX}{self.model}" + (f"@{self.address.url}" if self.address else "")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, whatever its network.

    >>> [is_loopback(one) for one in ("localhost", "127.0.0.1", "::1", "localhost.example.org")]
    [True, True, True, False]
    """
    return _LOOPBACK.fullmatch(host) is not None


def address(url: str) -> EndpointAddress:
    """The address that a URL names.

    >>> address("HTTPS://API.example.org:443/v1/").url
    'https://api.example.org/v1'

    Raises:
        Refused: Code ``invalid_value``; what may be a secret in it is not repeated.
    """
    host = url.partition("://")[2].partition("/")[0]
    if "@" in host or not {"?", "#"}.isdisjoint(url):
        because = "the address of a model holds a name, password, query or fragment"
        raise invalid(because, "give the endpoint alone, like https://host/v1")
    found = _URL.fullmatch(url)
    if found is None or (found["port"] and not 0 < int(found["port"]) <= 65_535):
        because = f"{url[:100]!r} is no web address"
        raise invalid(because, "write one like http://localhost:11434/v1")
    scheme = found["scheme"].lower()
    port = found["port"].lstrip("0") if found["port"] else PORTS[scheme]
    return EndpointAddress(scheme, found["host"].lower(), port, found["path"].rstrip("/"))


def named(name: str) -> EndpointModel | None:
    """The model and address of a name; None where it is none of this protocol. Raises Refused, code
    ``invalid_value``: its address cannot be one."""
    found = _NAME.fullmatch(name)
    if found is None or len(name) > LENGTH_MAX:
        return None
    return EndpointModel(found["model"], address(found["url"]) if found["url"] else None)


def origin(name: str) -> str:
    """Whom a name or a pattern asks; empty where it names no address.

    >>> origin("openai:qwen3@http://localhost:11434/v1"), origin("openai:*@https://example.org")
    ('http://localhost:11434', 'https://example.org:443')
    >>> origin("openai:qwen3"), origin("gemini:pro"), origin("openai:*@https://example.org*")
    ('', '', '')
    """
    found = _NAME.fullmatch(name) or _ANY.fullmatch(name)
    try:
        return address(found["url"]).origin if found and found["url"] else ""
    except Refused:
        return ""


def every(name: str) -> str:
    """The pattern of all models at the address of a name or pattern; empty where it has none.

    >>> every("openai:qwen3@http://localhost:11434/v1")
    'openai:*@http://localhost:11434'
    """
    whom = origin(name)
    return f"{PREFIX}*@{whom}" if whom else ""


def is_every(pattern: str) -> bool:
    """Whether a pattern is of all models at an address."""
    return _ANY.fullmatch(pattern) is not None and bool(origin(pattern))
