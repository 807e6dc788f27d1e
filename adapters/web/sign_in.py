"""Signing in elsewhere: OpenID Connect by Authlib, with sessions on the server's side (ADR 119).

The browser has a secret in a cookie, and the database its digest with what it belongs to: what a
sign-in under way needs to know, then who signed in, with their groups. A new secret is drawn when
somebody is in, so that nobody is let into a session that another one began."""

import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.store.postgres.people import HomeEntry, People
from adapters.web import auth as guarding
from adapters.web.auth import Denied
from adapters.web.http_types import parameters_of
from adapters.web.middleware import refusal
from adapters.web.site import local_path
from domain.errors import Refused, invalid

COOKIE = "wakelog_session"
BEGIN, BACK, END = "/sign-in", "/sign-in/back", "/sign-out"
SECRET_BYTES = 32
BEGUN_SECONDS = 600  # that a sign-in may take
SESSION_SECONDS = 12 * 3_600
GROUPS_MAX = 200
NAME_MAX = 200  # characters
OPERATORS = "WAKELOG_OPERATORS"
VARIABLES = {
    "issuer": "WAKELOG_OIDC_ISSUER",
    "client": "WAKELOG_OIDC_CLIENT",
    "secret": "WAKELOG_OIDC_SECRET",
    "address": "WAKELOG_ADDRESS",
    "subject": "WAKELOG_OIDC_SUBJECT",
    "groups": "WAKELOG_OIDC_GROUPS",
    "operators": OPERATORS,
}


class SignInSettings(Struct, frozen=True):
    """Of which provider the page is a client, see `VARIABLES`. `address`: the page's, as browsers
    see it; `subject`: the claim by which homes know people: ``sub``, or a verified ``email``;
    `groups`: the claim that lists somebody's groups; `operators`: who sees how all homes are, and
    may freeze them: subjects and ``group:NAME``, with commas between."""

    issuer: str
    client: str
    address: str
    secret: str = ""
    subject: str = "sub"
    groups: str = "groups"
    operators: str = ""


class Session(Struct):
    """What is kept of a browser: of a sign-in that is under way, or who is in."""

    begun: dict[str, Any] = {}
    to: str = "/"
    subject: str = ""
    groups: list[str] = []


def settings_of(environ: Mapping[str, str]) -> SignInSettings | None:
    """What the environment says; None where it names no provider. Raises Refused, code
    ``invalid_value``: something is missing or is no address; ``missing_extra``."""
    given = {key: environ[name] for key, name in VARIABLES.items() if environ.get(name)}
    if "issuer" not in given and "operators" in given:
        because = f"{OPERATORS} is set, and {VARIABLES['issuer']} is not"
        raise invalid(because, "operators sign in: set both, or none")
    if "issuer" not in given:
        return None
    for key in ("client", "address"):
        if key not in given:
            because = f"{VARIABLES['issuer']} is set, and {VARIABLES[key]} is not"
            raise invalid(because, "set both, or none")
    for key in ("issuer", "address"):
        if urlsplit(given[key]).scheme not in ("http", "https") or not urlsplit(given[key]).netloc:
            raise invalid(f"{VARIABLES[key]} is no address", "write https://HOST")
    if given.get("subject", "sub") not in ("sub", "email"):
        because = f"{VARIABLES['subject']} is neither sub nor email"
        raise invalid(because, "a name that people may change by themselves names nobody")
    return SignInSettings(**{key: value.rstrip("/") for key, value in given.items()})


class SignIn:
    """Lets people in who signed in at a provider."""

    def __init__(self, settings: SignInSettings, people: People, *, is_secure: bool) -> None:
        """Raises Refused, code ``missing_extra``."""
        try:
            from authlib.integrations.starlette_client import OAuth
        except ImportError:
            instead = "install it with `pip install 'wakelog[sso]'`"
            because = "signing in elsewhere needs what is not installed here"
            raise Refused("missing_extra", because=because, instead=instead) from None
        self._settings, self._people, self._is_secure = settings, people, is_secure
        issuer = settings.issuer
        self._client: Any = OAuth().register(
            "provider",
            client_id=settings.client,
            client_secret=settings.secret or None,
            server_metadata_url=f"{issuer}/.well-known/openid-configuration",
            client_kwargs={
                "scope": "openid email profile",
                "code_challenge_method": "S256",
                "token_endpoint_auth_method": "client_secret_basic" if settings.secret else "none",
            },
        )

    async def entries(self, request: Request) -> list[HomeEntry]:
        """The homes of whoever is in. Raises Refused."""
        secret = _secret_of(request)
        session = await self._session(secret)
        request.scope["wakelog.subject"] = session.subject
        named = {one.strip() for one in self._settings.operators.split(",")} - {""}
        own = {session.subject, *(f"group:{one}" for one in session.groups)} - {""}
        request.scope["wakelog.operator"] = secret if named & own else ""
        if not session.subject:
            return []
        ask = self._people.admitted
        return await run_in_threadpool(ask, secret, session.subject, session.groups)

    async def answer(self, request: Request) -> Response | None:
        """What its own addresses answer; None: it is none of them. Raises Refused."""
        match request.scope["path"]:
            case "/sign-in":
                return await self._begin(request)
            case "/sign-in/back":
                return await self._back(request)
            case "/sign-out":
                return await self._end(request)
        return None

    def asked(self, request: Request) -> Response:
        """Lead a browser to the provider, which leads back to where it wanted to go; who is in and
        has no home here, and whatever is no page of a browser, is refused."""
        if subject := request.scope["wakelog.subject"]:
            because = f"no home here has {subject} as a member"
            instead = "ask who runs it: `wakelog home access HOME --add NAME=ROLE`"
            return refusal(request, Denied(HTTPStatus.FORBIDDEN, because, instead))
        if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
            because, instead = "nobody is signed in here", f"sign in at {BEGIN}, or bring a token"
            return refusal(request, Denied(HTTPStatus.UNAUTHORIZED, because, instead))
        query = request.url.query
        to = request.scope["path"] + (f"?{query}" if query else "")
        return RedirectResponse(f"{BEGIN}?{urlencode({'to': to})}", HTTPStatus.SEE_OTHER)

    async def _begin(self, request: Request) -> Response:
        session = Session(to=local_path(parameters_of(request.url.query).get("to", "/"), "/"))
        request.scope["session"] = session.begun
        try:
            found: Response = await self._client.authorize_redirect(
                request, f"{self._settings.address}{BACK}"
            )
        except Exception as error:  # noqa: BLE001  whatever it and its client raise
            return self._failed(request, error)
        return await self._kept(found, "", session, BEGUN_SECONDS)

    async def _back(self, request: Request) -> Response:
        """Who comes back from the provider: its answer is checked by Authlib: state, nonce, code,
        signature, issuer, audience and times of the ID token."""
        old = _secret_of(request)
        session = await self._session(old)
        request.scope["session"] = session.begun
        try:
            await self._check_issuer()
            token = await self._client.authorize_access_token(request)
            claims: Mapping[str, Any] = token["userinfo"]
        except Exception as error:  # noqa: BLE001  whatever it and its client raise
            return self._failed(request, error)
        subject = str(claims.get(self._settings.subject) or "")
        is_sure = self._settings.subject != "email" or claims.get("email_verified") is True
        if not (subject and is_sure and subject.isprintable() and len(subject) <= NAME_MAX):
            because = f"your provider gives no {self._settings.subject} that it vouches for"
            return refusal(request, Denied(HTTPStatus.FORBIDDEN, because, "ask who runs this page"))
        given = claims.get(self._settings.groups)
        groups = [str(one) for one in given[:GROUPS_MAX]] if isinstance(given, list) else []
        to = RedirectResponse(session.to, HTTPStatus.SEE_OTHER)
        return await self._kept(to, old, Session(subject=subject, groups=groups), SESSION_SECONDS)

    async def _check_issuer(self) -> None:
        """Look whether the provider is who was named: Authlib compares the token with what it says
        of itself."""
        metadata = await self._client.load_server_metadata()
        if (found := str(metadata.get("issuer"))).rstrip("/") != self._settings.issuer:
            raise ValueError(f"it calls itself {found}")

    async def _end(self, request: Request) -> Response:
        to = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return to  # of another site
        await self._end_session(_secret_of(request))
        to.headers.append(*guarding.cookie(COOKIE, "", days=0))
        return to

    async def _end_session(self, secret: str) -> None:
        if secret:
            await run_in_threadpool(self._people.keep_session, secret, b"", 0)

    async def _session(self, secret: str) -> Session:
        kept = await run_in_threadpool(self._people.session, secret) if secret else None
        return msgspec.json.decode(kept, type=Session) if kept else Session()

    async def _kept(self, found: Response, old: str, session: Session, seconds: int) -> Response:
        """An answer that leaves a browser a new secret. No strict cookie: the provider leads back
        from another site; forms are known by a key of their own."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        await self._end_session(old)
        data = msgspec.json.encode(session)
        await run_in_threadpool(self._people.keep_session, secret, data, seconds)
        parts = f"{COOKIE}={secret}; Path=/; SameSite=Lax; HttpOnly; Max-Age={seconds}"
        found.headers.append("set-cookie", parts + "; Secure" * self._is_secure)
        return found

    def _failed(self, request: Request, error: Exception) -> Response:
        """What went wrong is told to who runs the page; a visitor may try again."""
        import logging

        told = f"{type(error).__name__}: {error}"
        logging.getLogger(__name__).warning("signing in failed: %s", told[:NAME_MAX])
        because = "signing in did not work"
        return refusal(request, Denied(HTTPStatus.FORBIDDEN, because, f"try again at {BEGIN}"))


def _secret_of(request: Request) -> str:
    return guarding.cookies_of(request.headers).get(COOKIE, "")
