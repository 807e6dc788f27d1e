"""Names of clients, which propose without being asked: ``mcp:NAME``, as a model is named that
leaves this machine. Who sets a client up gives it the name, not the client."""

import re
from typing import Final

from domain.errors import invalid

PREFIX: Final = "mcp:"
_NAME = re.compile(r"[a-z0-9-]{1,40}")


def client_model(name: str) -> str:
    """What a client is called where models are. Raises Refused, code ``invalid_value``.

    >>> client_model("claude")
    'mcp:claude'
    """
    if _NAME.fullmatch(name) is None:
        because = f"{name!r} is no name of a client"
        raise invalid(because, "use a-z, 0-9 and -, at most 40, as claude")
    return f"{PREFIX}{name}"


def client_named(model: str) -> str:
    """The client that a name of a model is, as a person is told it; empty: it is none.

    >>> client_named("mcp:claude"), client_named("gemini:pro")
    ('claude (mcp)', '')
    """
    return f"{model.removeprefix(PREFIX)} (mcp)" if model.startswith(PREFIX) else ""
