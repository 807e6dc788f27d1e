"""The ASGI application: reads a request, lets the guard look at it, has its page made."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.keys import replaced_line, without_keys_in
from adapters.runtime import watcher
from adapters.web import guard as guarding
from adapters.web.asking import Asked, Page, Told, status_of
from adapters.web.guard import Denied, Guard
from adapters.web.rendering import render
from adapters.web.routes import ACTIONS, PAGES
from adapters.web.site import Site, local_path
from domain import canonical
from domain.errors import Refused, WakelogError

BODY_MAX = 2_000_000  # bytes of a form
FIELDS_MAX = 2_000
TOLD_DAYS = 365  # that a visitor's choices are kept
STATIC = Path(__file__).parent / "static"
THEMES = ("light", "dark")
CHOICES = {"/theme": ("theme", THEMES, "auto"), "/keys": ("keys", ("off",), "on")}
"""What a visitor chooses for all pages: the cookie, its values, and what else it says."""
_END = {"done": 200, "problem": 422, "conflict": 409}


def make_app(site: Site, guard: Guard) -> Starlette:
    """The application of one home."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(site.live.watch())
        yield
        site.live.close()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    async def events(_: Request) -> Response:
        return StreamingResponse(site.live.messages(), media_type="text/event-stream")

    async def pages(request: Request) -> Response:
        return await _answer(site, guard, request)

    routes = [
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        Route("/events", events),
        Route("/{path:path}", pages, methods=["GET", "HEAD", "POST"]),
    ]
    outer = [Middleware(_Outer, guard=guard)]
    return Starlette(routes=routes, lifespan=lifespan, middleware=outer)


class _Outer:
    """Headers on every answer, and nobody comes in who should not."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in guarding.HEADERS]
                if not scope["path"].startswith("/static/"):
                    added.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *added]
            await send(message)

        request = Request(scope)
        denied = self._guard.host_denied(request.headers) or self._entry(request)
        app: ASGIApp = self._app
        if isinstance(denied, Response):
            app = denied
        elif denied is not None:
            app = _plain(denied)
        await app(scope, receive, with_headers)

    def _entry(self, request: Request) -> Denied | Response | None:
        given = request.query_params.get("token", "")
        if given and self._guard.is_token(given):
            entered = RedirectResponse(request.url.path, HTTPStatus.SEE_OTHER)
            entered.headers.append(*guarding.cookie(self._guard.entry, self._guard.pass_of()))
            return entered
        return self._guard.entry_denied(guarding.cookies_of(request.headers), request.headers)


def _plain(denied: Denied) -> Response:
    text = f"{denied.because}; {denied.instead}\n"
    return Response(text, denied.status, media_type="text/plain; charset=utf-8")


# ------------------------------------------------------------------------------------ answering


async def _answer(site: Site, guard: Guard, request: Request) -> Response:
    cookies = guarding.cookies_of(request.headers)
    visit = cookies.get(guard.visit, "")
    asked = Asked(request.url.path, query=_pairs(request.url.query))
    if request.method == "POST":
        body = await _body(request)
        if body is None:
            return _plain(Denied(413, "the form is too large", "part it into several"))
        lists, replaced = _form(body, site.environ)
        form = {one: found[-1] for one, found in lists.items()}
        asked = asked._replace(form=form, lists=lists, replaced=replaced)
        if denied := guard.form_denied(request.headers, visit, asked.form):
            return _plain(denied)
    theme, keys = cookies.get("theme", ""), cookies.get("keys", "")
    visitor = Visitor(visit or guarding.new_visit(), theme, keys, guard)
    response = await run_in_threadpool(_respond, site, asked, visitor, request.method)
    if not visit:
        response.headers.append(*guarding.cookie(guard.visit, visitor.visit))
    return response


class Visitor(NamedTuple):
    """Who asks: their visit, their colours, and whether letters are shortcuts for them."""

    visit: str
    theme: str
    keys: str
    guard: Guard


async def _body(request: Request) -> bytes | None:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > BODY_MAX:
            return None
        parts.append(part)
    return b"".join(parts)


def _form(body: bytes, environ: Mapping[str, str]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """The fields of a form without the values of keys, and whose stood there. What a page showed
    before (``was.``) is compared with the log, and is not replaced."""
    text = body.decode("utf-8", "replace")
    lists: dict[str, list[str]] = {}
    replaced: list[str] = []
    for name, found in parse_qs(text, keep_blank_values=True, max_num_fields=FIELDS_MAX).items():
        kept = [canonical.clean(one) for one in found]
        if not name.startswith("was."):
            kept, names = without_keys_in(kept, environ)
            replaced += names
        lists[canonical.clean(name)] = kept
    return lists, tuple(dict.fromkeys(replaced))


def _pairs(query: str) -> dict[str, str]:
    found = parse_qsl(query, max_num_fields=100) if query.count("&") < 100 else []
    return {canonical.clean(name): canonical.clean(value) for name, value in found}


def _respond(site: Site, asked: Asked, visitor: Visitor, method: str) -> Response:
    with site.lock:
        try:
            site.catch_up()
            if method != "POST":
                return _shown(site, asked, visitor)
            if asked.path in CHOICES:
                return _chosen(asked, *CHOICES[asked.path])
            return _acted(site, asked, visitor)
        except WakelogError as error:
            return _refused(site, asked, visitor, error)


def _shown(site: Site, asked: Asked, visitor: Visitor, told: Told | None = None) -> Response:
    is_json = asked.path.endswith(".json")
    path = asked.path.removesuffix(".json") if is_json else asked.path
    found = _find(PAGES, path)
    if found is None:
        because = f"there is no page {path[:60]!r}"
        raise Refused("no_page", because=because, instead="begin at /")
    show, names = found
    page = show(site, asked._replace(path=path, names=names))
    if is_json:
        return _json(page.document, page.status)
    return _html(site, asked, visitor, page, told or site.told(asked.query.get("told", "")))


def _acted(site: Site, asked: Asked, visitor: Visitor) -> Response:
    found = _find(ACTIONS, asked.path)
    if found is None:
        because = f"nothing can be sent to {asked.path[:60]!r}"
        raise Refused("no_page", because=because, instead="send a form of a page")
    act, names = found
    back = local_path(asked.form.get("back", ""), "/inbox")
    try:
        watcher.catch_up(site.home.desk)  # what came before is judged by how agents were until now
        told = act(site, asked._replace(names=names))
        watcher.catch_up(site.home.desk)  # so that the page says what is queued now
    except WakelogError as error:
        status = status_of(error.code)
        kind = "conflict" if status == HTTPStatus.CONFLICT else "problem"
        told = Told(f"{error.because}; {error.instead} [{error.code}]", kind, status=status)
    site.catch_up()
    told.lines = [*told.lines, *map(replaced_line, asked.replaced)]
    if told.kind == "done":
        separator = "&" if "?" in back else "?"
        place = "#kept" if told.kept else ""  # where a browser without JavaScript goes on
        name = site.keep(told, asked.key)
        return RedirectResponse(f"{back}{separator}told={name}{place}", HTTPStatus.SEE_OTHER)
    parts = urlsplit(back)
    query = _pairs(parts.query)
    query.pop("told", None)
    if told.kept:
        query["told"] = site.keep(told, asked.key)
    told.status = told.status if told.status != HTTPStatus.OK else _END[told.kind]
    response = _shown(site, Asked(parts.path, query=query), visitor, told)
    response.status_code = told.status
    if told.kind == "problem" or not (told.kept or told.clashes):  # what was typed stays there
        response.headers["hx-retarget"] = response.headers["hx-reselect"] = "#told"
    return response


def _refused(site: Site, asked: Asked, visitor: Visitor, error: WakelogError) -> Response:
    status = status_of(error.code)
    document = {"error": error.code, "because": error.because, "instead": error.instead}
    if asked.path.endswith(".json"):
        return _json(document, status)
    title = "Not found" if status == HTTPStatus.NOT_FOUND else "Not possible"
    page = Page("refused.html", title, document, {"error": document}, status)
    return _html(site, asked, visitor, page, None)


def _chosen(asked: Asked, name: str, known: tuple[str, ...], default: str) -> Response:
    """Remember what the person prefers, in a cookie."""
    chosen = asked.form.get(name, "")
    back = local_path(asked.form.get("back", ""), "/")
    response = RedirectResponse(back, HTTPStatus.SEE_OTHER)
    kept = chosen if chosen in known else default
    response.headers.append(*guarding.cookie(name, kept, days=TOLD_DAYS))
    return response


def _find(
    routes: tuple[tuple[str, Callable[..., Any]], ...], path: str
) -> tuple[Any, dict[str, str]] | None:
    for pattern, answer in routes:
        if found := re.fullmatch(pattern, path):
            return answer, found.groupdict()
    return None


# -------------------------------------------------------------------------------------- replies


def _html(site: Site, asked: Asked, visitor: Visitor, page: Page, told: Told | None) -> Response:
    theme = visitor.theme if visitor.theme in THEMES else ""
    text = render(
        page.template,
        {
            **page.values,
            "document": page.document,
            "title": page.title,
            "told": told,
            "told_key": asked.query.get("told", ""),
            "asked": asked,
            "here": asked.with_query(),
            "csrf": visitor.guard.csrf_of(visitor.visit),
            "theme": theme,
            "has_keys": visitor.keys != "off",
            "glance": site.glance(),
            "tail": site.seen,
            "now": site.now,
            "zone": site.zone,
            "version": _version(),
        },
    )
    headers = {"vary": "Cookie"}
    data = text.encode("utf-8", "replace")
    return Response(data, page.status, headers, media_type="text/html; charset=utf-8")


def _json(document: Any, status: int) -> Response:
    data = json.dumps(document, ensure_ascii=False, indent=2).encode("utf-8", "replace")
    return Response(data + b"\n", status, media_type="application/json")


def _version() -> str:
    try:
        return version("wakelog")
    except PackageNotFoundError:
        return ""
