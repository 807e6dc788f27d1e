"""The page of many homes: my homes at ``/``, and below ``/h/NAME`` the pages of one (ADR 69).

Whoever asks brings a token of a person and a home. `may` is the one place that says who may what; a
header that names somebody is believed by nobody. So many homes are open at once, and one look sees
to all.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from time import monotonic
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

from adapters.home.home_location import DatabaseLocation
from adapters.home.roles import Permission, permissions_of
from adapters.home.views import BATCH_APPENDS
from adapters.store.document_store import ViewPosition
from adapters.store.log import WHO
from adapters.web import auth as guarding
from adapters.web import operate
from adapters.web.app import RENDERS_MAX, answer
from adapters.web.auth import Denied, Guesses, guard_of
from adapters.web.http_types import parameters_of, status_of
from adapters.web.middleware import (
    ENTER,
    STATIC,
    STYLE,
    GuardMiddleware,
    entered,
    page_outside,
    refusal,
)
from adapters.web.site import Site, local_path
from adapters.web.sse import LOOK_SECONDS
from domain.errors import Refused, WakelogError
from projections.all_views import VIEWS

if TYPE_CHECKING:
    from adapters.store.postgres.homes import Homes
    from adapters.store.postgres.people import HomeEntry, People
    from adapters.web.sign_in import SignIn

SITES_MAX = 64


class OpenSites:
    """Opens a home when somebody enters it; the one that was left for longest makes room."""

    def __init__(
        self,
        homes: "Homes",
        environ: Mapping[str, str],
        most: int = SITES_MAX,
        near: int = BATCH_APPENDS,
    ) -> None:
        """Args:
        homes: Of which database.
        environ: Environment variables.
        most: How many are open at once.
        near: So many appends are brought into views while a visitor waits.
        """
        self._near = near
        self._made: set[int] = set()  # homes whose views are those of this version
        self.homes = homes
        self.environ = environ
        self._most = most
        self._lock = Lock()
        self._sites: OrderedDict[tuple[int, str], Site] = OrderedDict()
        self._is_over = False
        self.lost: Refused | None = None  # a database is not replaced
        self.refused: Counter[str] = Counter()  # by status, since it was started
        self.looked_at = monotonic()  # when the loop of its pages went round last

    def site(self, number: int, name: str) -> Site:
        """The home of a number, which has this name now. Raises Refused, Damaged."""
        with self._lock:
            if (number, name) not in self._sites:
                place = DatabaseLocation(self.homes, name, self.environ)
                self._sites[number, name] = Site(place, self.environ, has_engine=True)
            self._sites.move_to_end((number, name))
            if len(self._sites) > self._most:
                idle = [key for key, one in self._sites.items() if not one.jobs.is_busy]
                self._sites.pop((idle or list(self._sites))[0]).close()
            return self._sites[number, name]

    def is_making(self, number: int, site: Site) -> bool:
        """Whether its views are made anew just now, after an upgrade: beside those of the older
        version, by a worker or in a thread here. Raises Refused."""
        if number in self._made:
            return False
        home = site.home
        store, logs = home.place.documents(), (home.services.journal, home.services.agents)
        assert not isinstance(store, Path), "a home in a database has a shared store"
        with site.lock:
            ends = {log.name: log.tail().n for log in logs}
        reached = store.positions(VIEWS)
        behind = max(ends[one.log] - reached.get(one.name, ViewPosition()).n for one in VIEWS)
        if behind <= self._near or not store.has_others(VIEWS):
            self._made.add(number)
            return False
        if not site.jobs.is_busy:
            site.jobs.start(lambda own: own.views.catch_up())
        return True

    async def watch(self) -> None:
        """Tell the pages of each home when it changed: one query for all, until it is over."""
        while not self._is_over:  # until the server ends
            self.looked_at = monotonic()
            with suppress(Refused):  # a server that is away says nothing new
                await asyncio.to_thread(self._look)
            await asyncio.sleep(LOOK_SECONDS)

    def _look(self) -> None:
        with self._lock:
            looked = [(number, site) for (number, _), site in self._sites.items()]
        ends = self.homes.ends_of([number for number, _ in looked]) if looked else {}
        for number, site in looked:
            site.live.see(ends.get(number))

    def hush(self) -> None:
        """End all streams to pages."""
        self._is_over = True
        for site in self._all():
            site.live.close()

    def stop(self) -> None:
        """End what goes on beside the pages."""
        self.hush()
        for site in self._all():
            site.stop()

    def close(self, seconds: float = 0) -> None:
        """Close all, after so much time for what runs."""
        self.stop()
        for site in self._all():
            site.jobs.wait(seconds)
            site.close()

    def _all(self) -> list[Site]:
        with self._lock:
            return list(self._sites.values())


# -------------------------------------------------------------------------- the pages of many homes

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
_log = logging.getLogger(__name__)


def make_homes_app(
    sites: OpenSites,
    people: "People",
    guesses: Guesses,
    *,
    is_secure: bool = False,
    sign_in: "SignIn | None" = None,
) -> Starlette:
    """The application of all homes of a database.

    Args:
        sites: The homes that are open here.
        people: Who may enter which.
        guesses: Slows wrong tokens down.
        is_secure: Cookies are for encrypted connections alone.
        sign_in: Lets people in who signed in elsewhere.
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
    operated = operate.Operated(sites.homes.database, sites.environ, sites.refused)
    operates = partial(operate.answer, operated)
    routes = [
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        Route("/h/{home}/{path:path}", partial(_home, sites, rendering), methods=["GET", "POST"]),
        Route("/h/{home}", _into),
        Route("/", _mine),
        Route("/homes", _mine),
        Route("/homes.json", _mine),
        *(Route(one, operates) for one in operate.PAGES),
        Route(operate.DEED, operates, methods=["POST"]),
        Route("/{path:path}", _nowhere, methods=["GET", "POST"]),
    ]
    outer = [
        Middleware(
            TokenMiddleware,
            people=people,
            guesses=guesses,
            is_secure=is_secure,
            sign_in=sign_in,
            refused=sites.refused,
        )
    ]
    return Starlette(routes=routes, lifespan=lifespan, middleware=outer)


def deed_of(method: str, path: str) -> Permission:
    """What a request to a page of a home is.

    >>> deed_of("GET", "/health.json"), deed_of("GET", "/policy"), deed_of("POST", "/policy/allow")
    ('watch', 'read', 'rule')
    >>> deed_of("POST", "/stop/proof"), deed_of("POST", "/stop/forking")
    ('prove', 'decide')
    >>> deed_of("POST", "/tasks/irsj2omx/erase")
    'rule'
    """
    if method != "POST":
        return "watch" if path.removesuffix(".json") in ("/health", "/events") else "read"
    if path in ("/theme", "/keys"):
        return "watch"
    if path in ("/prove", "/stop/proof"):
        return "prove"
    return "rule" if path.startswith(_RULED) or path.endswith("/erase") else "decide"


def may(entries: Sequence["HomeEntry"], home: str, deed: Permission) -> int:
    """Whether whoever brought tokens may do a deed in a home: 200; 401, nobody at all; 404, no
    member of it; 403, a member without the role."""
    if not entries:
        return HTTPStatus.UNAUTHORIZED
    mine = [one for one in entries if one.home == home]
    if not mine:
        return HTTPStatus.NOT_FOUND
    allowed = any(deed in permissions_of(one.role, one.own_role) for one in mine)
    return HTTPStatus.OK if allowed else HTTPStatus.FORBIDDEN


class TokenMiddleware(GuardMiddleware):
    """Stands before the application of many homes: who comes in brought a token that is good."""

    def __init__(
        self,
        app: ASGIApp,
        people: "People",
        guesses: Guesses,
        *,
        is_secure: bool,
        sign_in: "SignIn | None",
        refused: Counter[str],
    ) -> None:
        self._app, self._refused = app, refused
        self._people = people
        self._guesses = guesses
        self._is_secure = is_secure
        self._sign_in = sign_in

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
            if self._sign_in and (answer := await self._sign_in.answer(request)):
                return answer
            brought = [shown] if shown else kept
            entries = await run_in_threadpool(self._people.entries, brought) if brought else []
            if self._sign_in and not shown:
                entries = [*await self._sign_in.entries(request), *entries]
        except WakelogError as error:
            return _refused(request, error)
        if path == ENTER:
            return entered(request, query, is_in=bool(entries))
        is_operator = bool(request.scope.get("wakelog.operator"))
        if not entries and self._sign_in and not shown and not is_operator:
            return self._sign_in.asked(request)
        if not entries and not is_operator:
            denied = self._unknown(request, is_shown=bool(shown))
            self._refused[str(int(denied.status))] += 1
            return refusal(request, denied)
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

    def _keep(self, entry: "HomeEntry", kept: Sequence[str], here: str) -> Response:
        """Keep a token in a cookie, so that no address shows it any longer."""
        to = f"/h/{entry.home}/" if here == "/" else local_path(here, "/")
        tokens = list(dict.fromkeys([entry.token, *kept]))[:TOKENS_MAX]
        response = RedirectResponse(f"{ENTER}?{urlencode({'to': to})}", HTTPStatus.SEE_OTHER)
        name, value = guarding.cookie(COOKIE, ".".join(tokens), days=COOKIE_DAYS)
        response.headers.append(name, value + "; Secure" * self._is_secure)
        return response


# ------------------------------------------------------------------------------------ answering


async def _home(sites: OpenSites, rendering: asyncio.Semaphore, request: Request) -> Response:
    entries: list[HomeEntry] = request.scope["wakelog.entries"]
    name = request.path_params["home"]
    root = f"/h/{name}"
    path = request.scope["path"].removeprefix(root)
    allowed = partial(may, entries, name)
    status = allowed(deed_of(request.method, path))
    if status != HTTPStatus.OK:
        who = entries[0].subject if entries else request.scope["wakelog.subject"]
        _log.warning("refused: %s %s by %s: %d", request.method, root, who, status)
        denied = _denied(status)
        sites.refused[str(int(denied.status))] += 1
        return refusal(request, denied)
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
    WHO.set(entry.who)  # for what this request writes

    def shows(page: str) -> bool:
        return allowed(deed_of("GET", page)) == HTTPStatus.OK

    return await answer(site, guard, rendering, request, root=root, shows=shows)


async def _into(request: Request) -> Response:
    return RedirectResponse(f"/h/{request.path_params['home']}/", HTTPStatus.SEE_OTHER)


async def _mine(request: Request) -> Response:
    """The homes that the tokens of this browser open."""
    found: dict[str, HomeEntry] = {one.home: one for one in request.scope["wakelog.entries"]}
    homes = [_listed(one) for _, one in sorted(found.items())]
    if request.scope["path"].endswith(".json"):
        return JSONResponse({"homes": homes, "next": None})
    operates = bool(request.scope.get("wakelog.operator"))
    return page_outside(request, HTTPStatus.OK, "My homes", homes=homes, operates=operates)


def _listed(entry: "HomeEntry") -> Mapping[str, str]:
    can_read = "read" in permissions_of(entry.role, entry.own_role)
    path = f"/h/{entry.home}/" + ("" if can_read else "health")
    return {"home": entry.home, "subject": entry.subject, "role": entry.role, "path": path}


async def _nowhere(request: Request) -> Response:
    return refusal(request, _NO_PAGE)


def _kept(cookies: Mapping[str, str]) -> list[str]:
    return [one for one in cookies.get(COOKIE, "").split(".") if one][:TOKENS_MAX]


def _denied(status: int) -> Denied:
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED):  # an operator is no member
        return _NO_PAGE
    return Denied(status, "your role in this home does not allow that", "ask its owner")


def _refused(request: Request, error: WakelogError) -> Response:
    return refusal(request, Denied(status_of(error.code), error.because, error.instead))
