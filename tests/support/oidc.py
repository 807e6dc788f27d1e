"""A small provider of OpenID Connect: it signs in whoever is next, and checks what clients send."""

import json
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "wakelog", "of-the-client"


class Provider:
    """`claims`: of who signs in next; `spoiled`: what of an ID token is wrong then;
    `secret`: the client's."""

    def __init__(self) -> None:
        self.address, self.secret = "", SECRET
        self.claims: dict[str, Any] = {}
        self.spoiled: dict[str, Any] = {}
        self.key = RSAKey.generate_key(2048, {"kid": "one"}, auto_kid=False)
        self.signing = self.key
        self._codes: dict[str, dict[str, str]] = {}

    def metadata(self) -> dict[str, Any]:
        names = ("authorize", "token", "jwks")
        authorize, token, jwks = (f"{self.address}/{one}" for one in names)
        return {
            "issuer": self.address,
            "authorization_endpoint": authorize,
            "token_endpoint": token,
            "jwks_uri": jwks,
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def jwks(self) -> dict[str, Any]:
        return {"keys": [self.key.as_dict(private=False)]}

    def authorized(self, query: dict[str, str]) -> str:
        """Where it leads back to; the person is not asked."""
        assert query["client_id"] == CLIENT
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self._codes)}"
        self._codes[code] = query
        back = {"code": code, "state": query["state"]}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        query = self._codes.pop(form["code"], None)
        given = b64decode(authorization.removeprefix("Basic ")).decode()
        if query is None or given != f"{CLIENT}:{self.secret}":
            return 400, {"error": "invalid_grant"}
        digest = sha256(form["code_verifier"].encode()).digest()
        if urlsafe_b64encode(digest).rstrip(b"=").decode() != query["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 60}
        claims |= {"nonce": query["nonce"], **self.claims, **self.spoiled}
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.signing)
        return 200, {"access_token": "at", "token_type": "Bearer", "id_token": signed}


@contextmanager
def provider() -> Iterator[Provider]:
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            query = {name: one[-1] for name, one in parse_qs(asked.query).items()}
            if asked.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", made.authorized(query))
                self.end_headers()
                return
            self._say(200, made.jwks() if asked.path == "/jwks" else made.metadata())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: one[-1] for name, one in parse_qs(body).items()}
            self._say(*made.token(form, self.headers.get("Authorization", "")))

        def _say(self, status: int, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.address = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield made
        server.shutdown()
        thread.join()
