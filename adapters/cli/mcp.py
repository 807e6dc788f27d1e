"""`wakelog mcp`: coding agents as clients."""

import asyncio
import os

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session, option
from domain.errors import Refused, invalid


@group("mcp", epilog="What a client may read is said by `wakelog policy allow mcp:NAME`.")
def mcp_command() -> None:
    """Let a coding agent read what you allow, and propose into your inbox."""


@command("mcp serve", example="--as claude")
@option("--as by=NAME", "Who it is: a-z, 0-9 and -.", required=True)
def mcp_serve(session: Session, by: str) -> None:
    """Answer one client over stdin and stdout, by the Model Context Protocol, until it ends.

    It reads tasks of categories that you allowed it, and what it proposes waits in your inbox under
    its name. Whoever sets the client up gives it the name, with `wakelog mcp serve --as NAME` as
    the command that starts this server.
    """
    if not session.place.exists():
        instead = "make one first, with `wakelog init`"
        raise invalid(f"there is no home at {session.place.name}", instead)
    try:
        from adapters.mcp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "anyio"):
            raise
        because, instead = "the package mcp is not installed", "use `pip install 'wakelog[mcp]'`"
        raise Refused("missing_extra", because=because, instead=instead) from None
    asyncio.run(serve(session.place, os.environ, by))
