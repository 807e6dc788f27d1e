"""The door: strict headers on every answer, nobody comes in who should not, and what a visitor
sees who has to wait outside."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web import auth as guarding
from adapters.web.auth import Denied, Guard
from adapters.web.http_types import (
    MultipartForm,
    boundary_of,
    fields_of,
    multipart_form,
    parameters_of,
)
from adapters.web.rendering import environment
from adapters.web.site import local_path

BODY_MAX = 2_000_000  # bytes of a form, its file with it
BODY_READ_MAX = 50_000_000  # of one that is too large: who stops reading cuts the answer off, too
ENTER = "/enter"
STYLE = "/enter.css"  # the only file that is shown outside
STATIC = Path(__file__).parent / "static"
Fields = Mapping[str, list[str]]
_TITLES = {
    401: "A token is needed",
    404: "Not found",
    413: "Too large",
    429: "Too many tries",
    503: "One moment",
}
_OWN = ("csrf", "nonce", "back", "was", "verb", "ref")  # fields that nobody typed


class GuardMiddleware:
    """Stands before the application."""

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

        try:
            app = await self._outside(Request(scope, receive)) or self._app
            await app(scope, receive, with_headers)
        except ClientDisconnect:  # in the middle of its form: there is nobody to answer
            logging.getLogger("uvicorn.error").warning("Somebody left before all of a form came.")

    async def _outside(self, request: Request) -> Response | None:
        """The answer to who is not let in, or not yet; None: come in."""
        path: str = request.scope["path"]
        if denied := self._guard.host_denied(request.headers):
            return refusal(request, denied)
        if path.startswith("//") or "\\" in path:  # in a link a browser reads another host in it
            return refusal(request, Denied(404, "there is no such page", "begin at /"))
        if path == STYLE:
            return FileResponse(STATIC / "page.css")
        is_in = self._guard.is_in(guarding.cookies_of(request.headers))
        query = parameters_of(request.url.query)
        if path == ENTER:
            return entered(request, query, is_in=is_in)
        given = query.pop("token", "") if self._guard.token and request.method != "POST" else ""
        here = local_path(f"{path}?{urlencode(query)}" if query else path, "/inbox")
        if is_in:
            return _to(here) if given else None
        if denied := self._guard.entry_denied(
            given or guarding.bearer_of(request.headers), _address(request)
        ):
            sent = await form_of(request) if request.method == "POST" else None
            return refusal(
                request, denied, sent.fields if isinstance(sent, MultipartForm) else None
            )
        if not given:
            return None
        response = _to(f"{ENTER}?{urlencode({'to': here})}")
        response.headers.append(*guarding.cookie(self._guard.entry, self._guard.admission))
        return response


def entered(request: Request, query: Mapping[str, str], *, is_in: bool) -> Response:
    """Where the address with the token leads to: on, or to a button that leads on.

    No browser sends a strict cookie along with what a link of another site begins, a mail's
    for example; it does with what a button of ours begins.
    """
    to = local_path(query.get("to", ""), "/inbox")
    if is_in:
        return _to(to)
    if "again" in query:
        because = "your browser did not keep the cookie of this page"
        return refusal(request, Denied(401, because, "allow cookies here, and open the address"))
    return page_outside(request, HTTPStatus.OK, "One more step", to=to)


# ---------------------------------------------------------------------------------------- forms


async def form_of(request: Request) -> MultipartForm | Denied:
    """What a form holds, or why it is not taken."""
    boundary = boundary_of(request.headers.get("content-type", ""))
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > BODY_READ_MAX:
            break
        if size <= BODY_MAX:
            parts.append(part)
    if size > BODY_MAX and boundary:
        because = f"the file is larger than the {BODY_MAX:,} bytes that this page takes"
        return Denied(413, because, "part it into several, or use `wakelog import`")
    body = b"".join(parts)
    sent = multipart_form(body, boundary) if boundary else None
    if not boundary and size <= BODY_MAX and (fields := fields_of(body)) is not None:
        sent = MultipartForm(fields)
    return sent or Denied(413, "the form is too large", "part it into several")


def page_outside(
    request: Request,
    status: int,
    title: str,
    headers: Mapping[str, str] | None = None,
    template: str = "entry.html",
    **values: object,
) -> Response:
    """A page that belongs to no home."""
    nothing = {"denied": None, "is_sent": False, "to": "", "homes": None, "operates": False}
    theme = guarding.cookies_of(request.headers).get("theme", "")
    given = {**nothing, **values, "title": title, "theme": theme, "path": request.scope["path"]}
    text = environment().get_template(template).render(given)
    data = text.encode("utf-8", "replace")
    return Response(data, status, headers, media_type="text/html; charset=utf-8")


def refusal(
    request: Request, denied: Denied, fields: Fields | None = None, csrf: str = ""
) -> Response:
    """What a visitor sees who is not let in, or whose form is not taken.

    Args:
        request: What was asked.
        denied: Why not.
        fields: The form, where there is one: what was typed stays in sight.
        csrf: A token of this run of the server, for sending the same form again.
    """
    headers = {"retry-after": "1"} if denied.status == HTTPStatus.TOO_MANY_REQUESTS else {}
    if "text/html" not in request.headers.get("accept", ""):
        text = f"{denied.because}; {denied.instead}\n"
        kind = "text/plain; charset=utf-8"
        return Response(text, denied.status, headers, media_type=kind)
    if request.method == "POST":  # a page that sent it by itself stays, and tells why
        headers["hx-retarget"] = headers["hx-reselect"] = "#told"
    return page_outside(
        request,
        denied.status,
        _TITLES.get(denied.status, "Not possible"),
        headers,
        denied=denied,
        typed=[
            (name, value)
            for name, values in (fields or {}).items()
            for value in values
            if value.strip() and name.partition(".")[0] not in _OWN
        ],
        sent=[(name, one) for name, ones in (fields or {}).items() for one in ones],
        csrf=csrf,
        is_sent=request.method == "POST",
        is_beside="hx-request" in request.headers,  # the form stays where it is
    )


def _to(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
