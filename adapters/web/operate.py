"""The operator's page: how all homes of a database are, without a word of any; freeze and thaw.

For whom `WAKELOG_OPERATORS` names when the server is started, and nobody else: no home's member
makes an operator, and an operator is no member."""

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.cluster.status import details_of
from adapters.documents.homes import FrozenHome, ThawedHome
from adapters.text.homes import standing
from adapters.upkeep.home_copy import thaw_home
from adapters.usecases.database_homes import freeze_home
from adapters.web.auth import Denied, guard_of
from adapters.web.http_types import MultipartForm, status_of
from adapters.web.middleware import form_of, page_outside, refusal
from domain.errors import WakelogError

if TYPE_CHECKING:
    from adapters.store.postgres.database import Database

PAGE, JSON = PAGES = "/operate", "/operate.json"
DEED = "/operate/{deed}"
DEEDS: Mapping[str, Callable[[str, Mapping[str, str]], FrozenHome | ThawedHome]] = {
    "freeze": freeze_home,
    "thaw": thaw_home,
}
_NO_PAGE = Denied(HTTPStatus.NOT_FOUND, "there is no such page", "begin at /")
_log = logging.getLogger(__name__)


class Operated(NamedTuple):
    """What is operated: the database, whose variables say so, and what this server refused of it
    since it was started, by status."""

    database: "Database"
    environ: Mapping[str, str]
    refused: Mapping[str, int]


async def answer(of: Operated, request: Request) -> Response:
    """The page, its JSON, or a deed of it; nothing of it is there for others."""
    secret: str = request.scope.get("wakelog.operator") or ""
    if not secret:
        return refusal(request, _NO_PAGE)
    try:
        if request.method == "POST":
            return await _done(of, request, secret)
        found = await run_in_threadpool(details_of, of.database, is_every=True)
    except WakelogError as error:
        return refusal(request, Denied(status_of(error.code), error.because, error.instead))
    if request.scope["path"] == JSON:
        return Response(msgspec.json.encode(found), media_type="application/json")
    return page_outside(
        request,
        HTTPStatus.OK,
        "All homes",
        template="operate.html",
        found=found,
        refused=of.refused,
        standing=standing,
        csrf=guard_of(secret).csrf,
    )


async def _done(of: Operated, request: Request, secret: str) -> Response:
    form = await form_of(request)
    if not isinstance(form, MultipartForm):
        return refusal(request, form)
    fields = {name: ones[0] for name, ones in form.fields.items()}
    if denied := guard_of(secret).form_denied(request.headers, fields):
        return refusal(request, denied)
    name = request.path_params["deed"]
    if name not in DEEDS:
        return refusal(request, _NO_PAGE)
    done = await run_in_threadpool(DEEDS[name], fields.get("home", ""), of.environ)
    _log.warning("%s: %s by %s", name, done.home, request.scope["wakelog.subject"])
    return RedirectResponse(PAGE, HTTPStatus.SEE_OTHER)
