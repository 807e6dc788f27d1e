"""The page of many homes: my homes at ``/``, and below ``/h/NAME`` the pages of one (ADR 69).

Whoever asks brings a token of a person and a home. `may` is the one place that says who may what;
a header that names somebody is believed by nobody.
"""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from adapters.home.roles import Deed, deeds_of
from adapters.web import guard as guarding
from adapters.web.app import RENDERS_MAX, answer
from adapters.web.asking import parameters_of, status_of
from adapters.web.entry import ENTER, STATIC, STYLE, Door, entered, page_outside, refusal
from adapters.web.guard import Denied, Guard, Guesses
from adapters.web.open_sites import OpenSites
from adapters.web.site import local_path
from domain.errors import WakelogError

if TYPE_CHECKING:
    from adapters.store.postgres.people import Entry, People

COOKIE = "wakelog_tokens"
TOKENS_MAX = 16  # that one browser keeps
COOKIE_DAYS = 90
_RULED = ("/templates", "/policy")
RENEWED_SECONDS = 2  # until a browser asks again
_RENEWED = Denied(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "this home is being renewed after an upgrade; nothing of it is lost",
    "wait a moment: this page asks again by itself",
)
_NO_PAGE = Denied(HTTPStatus.NOT_FOUND, "there is no such page", "begin at /")
_SECRET = b"wakelog forms"
_log = logging.getLogger(__name__)


def make_homes_app(
    sites: OpenSites, people: "People", guesses: Guesses, *, is_secure: bool = False
) -> Starlette:
    """The application of all homes of a database.

    Args:
        sites: The homes that are open here.
        people: Who may enter which.
        guesses: Slows wrong tokens down.
        is_secure: Cookies are for encrypted connections alone.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(sites.watch())
        yield
        sites.hush()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    rendering = asyncio.Semaphore(RENDERS_MAX)
    routes = [
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        Route("/h/{home}/{path:path}", partial(_home, sites, rendering), methods=["GET", "POST"]),
        Route("/h/{home}", _into),
        Route("/", _mine),
        Route("/homes", _mine),
        Route("/homes.json", _mine),
        Route("/{path:path}", _nowhere, methods=["GET", "POST"]),
    ]
    outer = [Middleware(TokenDoor, people=people, guesses=guesses, is_secure=is_secure)]
    return Starlette(routes=routes, lifespan=lifespan, middleware=outer)


def deed_of(method: str, path: str) -> Deed:
    """What a request to a page of a home is.

    >>> deed_of("GET", "/health.json"), deed_of("GET", "/policy"), deed_of("POST", "/policy/allow")
    ('watch', 'read', 'rule')
    """
    if method != "POST":
        return "watch" if path.removesuffix(".json") in ("/health", "/events") else "read"
    if path in ("/theme", "/keys"):
        return "watch"
    if path == "/prove":
        return "prove"
    return "rule" if path.startswith(_RULED) else "decide"


def may(entries: Sequence["Entry"], home: str, deed: Deed) -> int:
    """Whether whoever brought tokens may do a deed in a home: 200; 401, nobody at all; 404, no
    member of it; 403, a member without the role."""
    if not entries:
        return HTTPStatus.UNAUTHORIZED
    mine = [one for one in entries if one.home == home]
    if not mine:
        return HTTPStatus.NOT_FOUND
    allowed = any(deed in deeds_of(one.role, one.own_role) for one in mine)
    return HTTPStatus.OK if allowed else HTTPStatus.FORBIDDEN


def guard_of(token: str) -> Guard:
    """Takes the forms of whoever holds a token, on whichever machine they were made."""
    return Guard("", secret=hmac.digest(_SECRET, token.encode("utf-8", "replace"), "sha256"))


class TokenDoor(Door):
    """Stands before the application of many homes: who comes in brought a token that is good."""

    def __init__(
        self, app: ASGIApp, people: "People", guesses: Guesses, *, is_secure: bool
    ) -> None:
        self._app = app
        self._people = people
        self._guesses = guesses
        self._is_secure = is_secure

    async def _outside(self, request: Request) -> Response | None:
        path: str = request.scope["path"]
        if path.startswith("//") or "\\" in path:
            return refusal(request, _NO_PAGE)
        if path == STYLE:
            return FileResponse(STATIC / "page.css")
        query = parameters_of(request.url.query)
        given = query.pop("token", "") if request.method != "POST" else ""
        bearer = guarding.bearer_of(request.headers)
        kept = _kept(guarding.cookies_of(request.headers))
        shown = given or bearer
        try:
            brought = [shown] if shown else kept
            entries = await run_in_threadpool(self._people.entries, brought) if brought else []
        except WakelogError as error:
            return _refused(request, error)
        if path == ENTER:
            return entered(request, query, is_in=bool(entries))
        if not entries:
            return refusal(request, self._unknown(request, is_shown=bool(shown)))
        if given:
            return self._keep(entries[0], kept, f"{path}?{urlencode(query)}" if query else path)
        request.scope["wakelog.entries"] = entries
        return None

    def _unknown(self, request: Request, *, is_shown: bool) -> Denied:
        """Nobody is told more slowly that a token is good: people may share one address."""
        address = request.client.host if request.client else ""
        if is_shown and not self._guesses.may(address):
            because = "too many wrong tokens came from your address"
            return Denied(429, because, "wait some seconds, and try again")
        if is_shown:
            self._guesses.count(address)
        because = "this token opens nothing" if is_shown else "this page needs a token"
        instead = "ask whoever runs it for one: `wakelog token create HOME`"
        return Denied(HTTPStatus.UNAUTHORIZED, because, instead)

    def _keep(self, entry: "Entry", kept: Sequence[str], here: str) -> Response:
        """Keep a token in a cookie, so that no address shows it any longer."""
        to = f"/h/{entry.home}/" if here == "/" else local_path(here, "/")
        tokens = list(dict.fromkeys([entry.token, *kept]))[:TOKENS_MAX]
        response = RedirectResponse(f"{ENTER}?{urlencode({'to': to})}", HTTPStatus.SEE_OTHER)
        name, value = guarding.cookie(COOKIE, ".".join(tokens), days=COOKIE_DAYS)
        response.headers.append(name, value + "; Secure" * self._is_secure)
        return response


# ------------------------------------------------------------------------------------ answering


async def _home(sites: OpenSites, rendering: asyncio.Semaphore, request: Request) -> Response:
    entries: list[Entry] = request.scope["wakelog.entries"]
    name = request.path_params["home"]
    root = f"/h/{name}"
    path = request.scope["path"].removeprefix(root)
    allowed = partial(may, entries, name)
    status = allowed(deed_of(request.method, path))
    if status != HTTPStatus.OK:
        who = entries[0].subject
        _log.warning("refused: %s %s by %s: %d", request.method, root, who, status)
        return refusal(request, _denied(status))
    entry = next(one for one in entries if one.home == name)
    try:
        site = await run_in_threadpool(sites.site, entry.number, name)
        is_making = await run_in_threadpool(sites.is_making, entry.number, site)
    except WakelogError as error:
        return _refused(request, error)
    if is_making:
        found = refusal(request, _RENEWED)
        found.headers["retry-after"] = str(RENEWED_SECONDS)
        if request.method != "POST":
            found.headers["refresh"] = str(RENEWED_SECONDS)
        return found
    if path == "/events":
        return StreamingResponse(site.live.messages(), media_type="text/event-stream")
    guard = guard_of(entry.token)

    def shows(page: str) -> bool:
        return allowed(deed_of("GET", page)) == HTTPStatus.OK

    return await answer(site, guard, rendering, request, root=root, shows=shows)


async def _into(request: Request) -> Response:
    return RedirectResponse(f"/h/{request.path_params['home']}/", HTTPStatus.SEE_OTHER)


async def _mine(request: Request) -> Response:
    """The homes that the tokens of this browser open."""
    found: dict[str, Entry] = {one.home: one for one in request.scope["wakelog.entries"]}
    homes = [_listed(one) for _, one in sorted(found.items())]
    if request.scope["path"].endswith(".json"):
        return JSONResponse({"homes": homes, "next": None})
    return page_outside(request, HTTPStatus.OK, "My homes", homes=homes)


def _listed(entry: "Entry") -> Mapping[str, str]:
    can_read = "read" in deeds_of(entry.role, entry.own_role)
    path = f"/h/{entry.home}/" + ("" if can_read else "health")
    return {"home": entry.home, "subject": entry.subject, "role": entry.role, "path": path}


async def _nowhere(request: Request) -> Response:
    return refusal(request, _NO_PAGE)


def _kept(cookies: Mapping[str, str]) -> list[str]:
    return [one for one in cookies.get(COOKIE, "").split(".") if one][:TOKENS_MAX]


def _denied(status: int) -> Denied:
    if status == HTTPStatus.NOT_FOUND:
        return _NO_PAGE
    return Denied(status, "your role in this home does not allow that", "ask its owner")


def _refused(request: Request, error: WakelogError) -> Response:
    return refusal(request, Denied(status_of(error.code), error.because, error.instead))
