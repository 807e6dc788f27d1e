"""The ASGI application: reads a request, has its page made, and renders it.

The home's lock is held while a page is put together or a form is acted on, and given back before
anything is rendered: nobody waits until somebody else's page has become text.
"""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct, to_builtins
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from adapters.home.sanitise_input import replacement_line, sanitised_by
from adapters.text.ical import calendar
from adapters.version import package_version
from adapters.web import auth as guarding
from adapters.web import remedies
from adapters.web.auth import Denied, Guard
from adapters.web.http_types import (
    VISIT,
    Answered,
    AtField,
    FormRequest,
    Notice,
    Page,
    keep_typed,
    parameters_of,
    status_of,
)
from adapters.web.jobs import JOB_NAMES
from adapters.web.middleware import STATIC, Fields, GuardMiddleware, form_of, refusal
from adapters.web.rendering import render
from adapters.web.routes import ACTIONS, PAGES
from adapters.web.site import Site, below, local_path
from domain.errors import Refused, WakelogError

RENDERS_MAX = 20  # at once: half of the threads are left for what people do
TOLD_DAYS = 365  # that a visitor's choices are kept
THEMES = ("light", "dark")
CHOICES = {"/theme": ("theme", THEMES, "auto"), "/keys": ("keys", ("off",), "on")}
"""What a visitor chooses for all pages: the cookie, its values, and what else it says."""
CALENDAR = ".ics"
SUFFIXES = (".json", CALENDAR)  # what else a page is
_HTML = "text/html; charset=utf-8"
_JSON = "application/json"
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

    rendering = asyncio.Semaphore(RENDERS_MAX)

    async def pages(request: Request) -> Response:
        return await answer(site, guard, rendering, request)

    routes = [
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        Route("/events", events),
        Route("/{path:path}", pages, methods=["GET", "HEAD", "POST"]),
    ]
    outer = [Middleware(GuardMiddleware, guard=guard)]
    return Starlette(routes=routes, lifespan=lifespan, middleware=outer)


# ------------------------------------------------------------------------------------ answering


async def answer(
    site: Site,
    guard: Guard,
    rendering: asyncio.Semaphore,
    request: Request,
    *,
    root: str = "",
    shows: Callable[[str], bool] = lambda _: True,
) -> Response:
    """A page of a home, or what came of its form.

    Args:
        site: The home.
        guard: Whose forms are taken.
        rendering: How many pages become text at once.
        request: What was asked.
        root: What stands before each address of the home.
        shows: Whether the visitor may see the page of an address.
    """
    path = request.url.path.removeprefix(root)
    asked = FormRequest(path, query=parameters_of(request.url.query))
    if request.method == "POST":
        sent = await form_of(request)
        if isinstance(sent, Denied):
            return refusal(request, sent)
        lists, replaced = _entered(site, sent.fields)
        form = {name: found[-1] for name, found in lists.items()}
        asked = asked._replace(
            form=form,
            lists=lists,
            replaced=replaced,
            is_beside="hx-request" in request.headers,
            file=sent.file,
        )
        if denied := guard.form_denied(request.headers, form):
            return refusal(request, denied, lists, guard.csrf if denied.can_go_on else "")
    cookies = guarding.cookies_of(request.headers)
    visitor = Visitor(cookies.get("theme", ""), cookies.get("keys", ""), guard, root, shows)
    found = await run_in_threadpool(_respond, site, asked, visitor, request.method)
    if isinstance(found, Response):
        return found
    async with rendering:
        return await run_in_threadpool(found.response)


class Visitor(NamedTuple):
    """Who asks: their colours, whether letters are shortcuts for them, who let them in, what
    stands before their addresses, and which pages they may see."""

    theme: str
    keys: str
    guard: Guard
    root: str
    shows: Callable[[str], bool]


class PreparedPage(Struct):
    """All that a page shows, taken from the home: what is left to do needs no lock."""

    page: Page
    values: dict[str, Any]
    suffix: str = ""
    headers: dict[str, str] = {}
    root: str = ""

    def response(self) -> Response:
        """The page as text."""
        document = self.page.document
        if self.suffix == CALENDAR:
            text, kind = calendar([document]), "text/calendar; charset=utf-8"
        elif self.suffix:
            plain = partial(to_builtins, enc_hook=list)  # what differs is found here
            told = json.dumps(document, ensure_ascii=False, indent=2, default=plain)
            text, kind = told + "\n", _JSON
        else:
            text, kind = below(self.root, render(self.page.template, self.values)), _HTML
        data = text.encode("utf-8", "replace")
        return Response(data, self.page.status, self.headers, media_type=kind)


def _entered(site: Site, fields: Fields) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """The fields of a form as they are kept, and the names of what was replaced in them. What a
    page showed before (``was.``) is compared with the log, and is not replaced."""
    lists: dict[str, list[str]] = {}
    replaced: list[str] = []
    for name, found in fields.items():
        lists[name] = list(found)
        if not name.startswith("was."):
            lists[name], names = sanitised_by(site.home.settings, lists[name], site.environ)
            replaced += names
    return lists, tuple(dict.fromkeys(replaced))


def _respond(
    site: Site, asked: FormRequest, visitor: Visitor, method: str
) -> Response | PreparedPage:
    name = JOB_NAMES.get(asked.path.removeprefix("/stop/"))
    if method == "POST" and name and "nonce" in asked.form:
        site.jobs.halt(name)  # before it waits for the lock: what goes on may be what keeps it
    with site.lock:
        try:
            site.catch_up()
            if method != "POST":
                return _shown(site, asked, visitor)
            if asked.path in CHOICES:
                return _chosen(visitor.root, asked, *CHOICES[asked.path])
            return _acted(site, asked, visitor)
        except WakelogError as error:
            return _refused(site, asked, visitor, error)


def _shown(
    site: Site, asked: FormRequest, visitor: Visitor, told: Notice | None = None
) -> PreparedPage:
    suffix = next((one for one in SUFFIXES if asked.path.endswith(one)), "")
    path = site.whole_address(asked.path.removesuffix(suffix))
    found = _find(PAGES, path)
    is_none = suffix == CALENDAR and not path.startswith("/day")
    if found is None or is_none or not visitor.shows(path):
        because = f"there is no page {path[:60]!r}"
        raise Refused("no_page", because=because, instead="begin at /")
    show, names = found
    page = show(site, asked._replace(path=path, names=names))
    if suffix:
        return PreparedPage(page, {}, suffix)
    return _prepared_page(
        site, asked, visitor, page, told or site.told(asked.query.get("told", ""))
    )


def _acted(site: Site, asked: FormRequest, visitor: Visitor) -> Response | PreparedPage:
    found = _find(ACTIONS, asked.path)
    if found is None:
        because = f"nothing can be sent to {asked.path[:60]!r}"
        raise Refused("no_page", because=because, instead="send a form of a page")
    act, names = found
    back = local_path(asked.form.get("back", ""), "/inbox")
    before, is_in_rows = site.seen, asked.form.get("part") == "rows"
    site.home.doer = f"page {asked.visit}"
    try:
        told = act(site, asked._replace(names=names))
    except Answered as answered:
        told = answered.told
    except WakelogError as error:
        status = status_of(error.code)
        kind = "conflict" if status == HTTPStatus.CONFLICT else "problem"
        field = error.field if isinstance(error, AtField) else ""
        text = f"{remedies.in_words(error)} [{error.code}]"
        told = Notice(text, kind, status=status, field=field, at=asked.path)
    site.home.tell_doer()
    is_refused = told.kind == "problem" or told.status != HTTPStatus.OK
    if is_refused and not asked.is_beside:
        keep_typed(told, asked)
    site.catch_up()
    told.lines = [*told.lines, *map(replacement_line, asked.replaced)]
    if told.kind == "done" and not is_in_rows:
        back = told.to or back
        separator = "&" if "?" in back else "?"
        place = "#kept" if told.kept else ""  # where a browser without JavaScript goes on
        name = site.keep(told, asked.key)
        to = f"{visitor.root}{back}{separator}told={name}{place}"
        return RedirectResponse(to, HTTPStatus.SEE_OTHER)
    parts = urlsplit(back)
    query = parameters_of(parts.query)
    query.pop("told", None)
    if told.kept:
        query["told"] = site.keep(told, asked.key)
    if is_in_rows:
        query |= {"part": "rows", "was": before, "at": asked.form.get("at", "")}
    told.status = told.status if told.status != HTTPStatus.OK else _END[told.kind]
    sheet = _shown(site, FormRequest(parts.path, query=query), visitor, told)
    sheet.page.status = told.status
    is_alone = told.kind == "problem" or not (told.kept or told.clashes)
    if is_alone and not is_in_rows:  # what was typed stays there
        sheet.headers |= {"hx-retarget": "#told", "hx-reselect": "#told"}
    return sheet


def _refused(site: Site, asked: FormRequest, visitor: Visitor, error: WakelogError) -> PreparedPage:
    status = status_of(error.code)
    instead = error.instead_in(remedies.WORDS)
    document = {"error": error.code, "because": error.because, "instead": instead}
    title = "Not found" if status == HTTPStatus.NOT_FOUND else "Not possible"
    page = Page("refused.html", title, document, {"error": document}, status)
    if asked.path.endswith(".json"):
        return PreparedPage(page, {}, ".json")
    return _prepared_page(site, asked, visitor, page, None)


def _chosen(
    root: str, asked: FormRequest, name: str, known: tuple[str, ...], default: str
) -> Response:
    """Remember what the person prefers, in a cookie."""
    chosen = asked.form.get(name, "")
    back = local_path(asked.form.get("back", ""), "/")
    response = RedirectResponse(f"{root}{back}", HTTPStatus.SEE_OTHER)
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


def _prepared_page(
    site: Site, asked: FormRequest, visitor: Visitor, page: Page, told: Notice | None
) -> PreparedPage:
    key = asked.query.get("told", "")
    known = key.removeprefix("web-")[:VISIT]  # the visit that an answer to a form goes on with
    fresh = known if len(known) == VISIT else secrets.token_urlsafe(VISIT)[:VISIT]
    values = {
        **page.values,
        "document": page.document,
        "title": page.title,
        "told": told,
        "told_key": key,
        "asked": asked,
        "here": asked.with_query(),
        "csrf": visitor.guard.csrf,
        "others": visitor.guard.others,
        "visit": asked.visit or fresh,
        "root": visitor.root,
        "theme": visitor.theme if visitor.theme in THEMES else "",
        "has_keys": visitor.keys != "off",
        "glance": site.glance(),
        "waking": site.jobs.waking,
        "tail": site.seen,
        "now": site.now,
        "zone": site.zone,
        "version": package_version(),
    }
    return PreparedPage(page, values, headers={"vary": "Cookie"}, root=visitor.root)
