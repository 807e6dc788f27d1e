"""Starts the page of a home, alone or beside an engine: here the command line and the page, which
are strangers to each other, meet. What the page stands on is loaded when one is started."""

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from adapters.home.api_keys import TOKEN_VARIABLE
from adapters.home.home_location import HomeLocation
from domain.errors import Refused

HOST = "127.0.0.1"
PORT = 8765
BACKLOG = 128
PORTS_TRIED = 20  # from the default on, where no port is asked for
TOKEN_MIN = 16
JOBS_SECONDS = 0.3  # that what runs is given to end


def token_for(host: str, environ: Mapping[str, str], *, is_asked: bool) -> str:
    """What visitors need: the person's own token, or one that is drawn; empty if nobody is asked.

    Raises:
        Refused: Code ``invalid_value``: `WAKELOG_SERVE_TOKEN` is too short or no plain text.
    """
    from adapters.web import auth

    if auth.is_loopback(host) and not is_asked:
        return ""
    own = environ.get(TOKEN_VARIABLE, "")
    if own and (len(own) < TOKEN_MIN or not own.isprintable()):
        because = f"{TOKEN_VARIABLE} is shorter than {TOKEN_MIN} characters, or no plain text"
        raise Refused("invalid_value", because=because, instead="choose another one, or unset it")
    return own or auth.new_token()


class LocalPage:
    """A page that listens, and is to be run or put beside an engine.

    Args:
        where: The home.
        environ: Environment variables.
        model: What `--model` says.
        host: Whom it answers; see `token_for`.
        port: Where; None: the first free one from the default on.
        token: What it asks visitors for; empty: nothing.
        has_engine: The wakes that are asked for are those of an engine beside.

    Raises:
        Refused: Nothing can listen there, or the home cannot be used.
    """

    def __init__(
        self,
        where: HomeLocation | Path,
        environ: Mapping[str, str],
        model: str,
        *,
        host: str = HOST,
        port: int | None = None,
        token: str = "",
        has_engine: bool = False,
    ) -> None:
        from adapters.web import auth
        from adapters.web.site import Site

        self._listening = bound(host, port)
        try:
            self._site = Site(where, environ, model, has_engine=has_engine)
        except BaseException:  # nobody listens any more
            self._listening.close()
            raise
        number = self._listening.getsockname()[1]
        places = auth.reachable(host)
        self._guard = auth.Guard(host, number, token, others=auth.others_here())
        self.home = self._site.home.path
        self.is_for_others = not auth.is_loopback(host)
        self.address = auth.printed(places[0], number)
        """Without its token: who calls a browser shows how to other accounts."""
        self.addresses = [auth.printed(one, number, token) for one in places]

    def run(self) -> None:
        """Answer until a signal ends it."""
        from adapters.web.app import make_app
        from adapters.web.server import PageServer

        PageServer(self._site, make_app(self._site, self._guard)).run([self._listening])

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Answer in a thread of its own."""
        from adapters.web.server import beside

        with beside(self._site, self._guard, self._listening):
            yield

    def close(self) -> None:
        """Let what runs end, for a moment, and go."""
        from adapters.web.server import closed

        closed(self._site, self._listening, JOBS_SECONDS)


class HomesPage:
    """The page of all homes of the database that `WAKELOG_DATABASE` names.

    Args:
        environ: Environment variables.
        host: Whom it answers: whoever brings a token of a home.
        port: Where; None: the first free one from the default on.
        is_secure: It stands behind a proxy that encrypts: its cookies are for that alone.
        health: On which port of the host it tells how it is, if it does.

    Raises:
        Refused: Nothing can listen there, or the database cannot be used.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        host: str,
        port: int | None,
        is_secure: bool = False,
        health: int | None = None,
    ) -> None:
        from adapters.home.home_location import homes_of
        from adapters.store.postgres.people import People
        from adapters.web import auth, sign_in
        from adapters.web.homes import OpenSites, make_homes_app

        homes = homes_of(environ)
        wanted = sign_in.settings_of(environ)
        if wanted and wanted.operators and not homes.database.may_operate():
            because = f"{sign_in.OPERATORS} is set, and this login may not operate all homes"
            instead = "use one that `wakelog database init --login operator=NAME` made"
            raise Refused("read_only", because=because, instead=instead)
        self._listening = bound(host, port)
        self._sites = OpenSites(homes, environ)
        guesses = auth.Guesses(time.monotonic)
        people = People(homes.database)
        signing = sign_in.SignIn(wanted, people, is_secure=is_secure) if wanted else None
        self._app = make_homes_app(
            self._sites, people, guesses, is_secure=is_secure, sign_in=signing
        )
        self.database = homes.database.name
        number = self._listening.getsockname()[1]
        self.addresses = [auth.printed(one, number) for one in auth.reachable(host)]
        self._database = homes.database
        self._told = None if health is None else bound(host, health, "--health")
        self.health = ""  # where it tells how it is
        if self._told is not None:
            self.health = f"http://{host}:{self._told.getsockname()[1]}/ready"

    def run(self) -> None:
        """Answer until a signal ends it."""
        from adapters.cluster.health import beside, pool_gauges
        from adapters.telemetry.metrics import Numbers, PageNumbers
        from adapters.web.server import PageServer

        if self._told is None:
            PageServer(self._sites, self._app).run([self._listening])
            return
        numbers = Numbers(partial(pool_gauges, self._database))
        app = PageNumbers(numbers).around(self._app)
        with beside(self._database, lambda: self._sites.looked_at, numbers, self._told):
            PageServer(self._sites, app).run([self._listening])

    def close(self) -> None:
        """Let what runs end, for a moment, and go."""
        self._sites.close(JOBS_SECONDS)
        for one in filter(None, (self._listening, self._told)):
            one.close()


def bound(host: str, port: int | None, option: str = "--port") -> socket.socket:
    """A socket on the port that is asked for; else on the first free one from the default on.

    Raises:
        Refused: Nothing can listen there; `option` is what says where.
    """
    tried = [port] if port is not None else range(PORT, PORT + PORTS_TRIED)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    error: Exception | None = None
    for number in tried:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host.strip("[]"), number))
            listening.listen(BACKLOG)  # who opens the address at once waits, and is answered
        except (OSError, TypeError, UnicodeError) as failed:  # no address, or no name at all
            listening.close()
            error = failed
            continue
        return listening
    raise Refused(
        "invalid_value",
        because=f"{host}:{tried[0]} cannot be listened on: {getattr(error, 'strerror', error)}",
        instead=f"choose another one with {option} or --host",
    )
