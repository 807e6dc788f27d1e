"""Signing in at an OpenID Connect provider: who is let in, by which group, and what is refused."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, build_opener

import psycopg
import pytest
from starlette.testclient import TestClient

from adapters.launch import HomesPage
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.people import People
from adapters.web import sign_in
from adapters.web.auth import Guesses, guard_of
from adapters.web.homes import OpenSites, make_homes_app
from domain.errors import Refused
from tests.support.cli import FIXED, done, refused, told
from tests.support.oidc import CLIENT, SECRET, Provider, provider
from tests.support.pages import ORIGIN

pytestmark = pytest.mark.slow
TEAM = "pg:team"
HTML = {"accept": "text/html"}


class Led(HTTPRedirectHandler):
    """Does not go where it is led to, and says where that is."""

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        return headers["Location"]


class Team:
    """A database with two homes, and its page."""

    def __init__(self, homes: Homes, folder: Path, of: Provider, stack: ExitStack) -> None:
        self.env = {"WAKELOG_DATABASE": homes.database.url, "XDG_CACHE_HOME": str(folder)}
        self.of, self._homes, self._stack = of, homes, stack
        for name in ("team", "other"):
            done(["home", "create", name], "-", env=self.env)
        self.grant("group:builders=member")
        self.grant("s-hanako=viewer")

    def grant(self, who: str) -> None:
        done(["home", "access", "team", "--add", who], "-", env=self.env)

    def browser(self, **settings: str) -> TestClient:
        given = {"WAKELOG_OIDC_ISSUER": self.of.address, "WAKELOG_OIDC_CLIENT": CLIENT}
        given |= {"WAKELOG_OIDC_SECRET": SECRET, "WAKELOG_ADDRESS": ORIGIN, **settings}
        sites = OpenSites(self._homes, {**FIXED, **self.env, **given})
        people = People(self._homes.database)
        wanted = sign_in.settings_of(given)
        assert wanted is not None
        signing = sign_in.SignIn(wanted, people, is_secure=False)
        app = make_homes_app(sites, people, Guesses(lambda: 0.0), sign_in=signing)
        client = TestClient(app, base_url=ORIGIN, headers=HTML, follow_redirects=False)
        self._stack.callback(sites.close)
        return self._stack.enter_context(client)

    def signed_in(self, client: TestClient, path: str = "/h/team/tasks", **claims: Any) -> Any:
        """The last answer of a sign-in, as a browser goes through it."""
        self.of.claims = claims
        back = self.led(client, path)
        return client.get(back)

    def led(self, client: TestClient, path: str = "/h/team/tasks") -> str:
        """Where the provider leads back to."""
        begun = client.get(path)
        assert (begun.status_code, urlsplit(begun.headers["location"]).path) == (303, "/sign-in")
        away = client.get(begun.headers["location"])
        assert away.status_code == 302, away.text
        back: str = build_opener(Led).open(away.headers["location"])
        return back.removeprefix(ORIGIN)


@pytest.fixture
def team(postgres_homes: Homes, tmp_path: Path) -> Iterator[Team]:
    with provider() as of, ExitStack() as stack:
        yield Team(postgres_homes, tmp_path, of, stack)


def test_who_signs_in_sees_their_homes_and_the_log_says_who_decided(team: Team) -> None:
    client = team.browser()
    found = team.signed_in(client, sub="s-anna", groups=["builders", "x"])
    assert (found.status_code, found.headers["location"]) == (303, "/h/team/tasks")
    page = client.get("/h/team/tasks")
    assert page.status_code == 200
    assert client.get("/h/other/tasks").status_code == 404
    form = dict(re.findall(r'name="(csrf|nonce)" value="([^"]+)"', page.text))
    answer = client.post(
        "/h/team/tasks", data={"title": "Milk", **form}, headers={"origin": ORIGIN}
    )
    assert answer.status_code == 303
    sql = "SELECT who FROM causes WHERE what = 'create_task'"
    assert re.fullmatch(r"m[0-9a-f]{12}", told(["sql", sql], TEAM, env=team.env)[0]["who"])
    assert "s-anna made the task" in done(["why", "Milk", "title"], TEAM, env=team.env)
    assert told(["prove"], TEAM, env=team.env)["ok"]


def test_a_role_holds_and_leaving_a_group_ends_it_at_the_next_sign_in(team: Team) -> None:
    client = team.browser()
    team.signed_in(client, sub="s-hanako", groups=[])
    page = client.get("/h/team/tasks")
    assert page.status_code == 200
    form = dict(re.findall(r'name="(csrf|nonce)" value="([^"]+)"', page.text))
    data = {"title": "Milk", "nonce": "12345678", **form}
    assert client.post("/h/team/tasks", data=data, headers={"origin": ORIGIN}).status_code == 403
    other = team.browser()
    refusal = team.signed_in(other, sub="s-carl", groups=["painters"])
    assert other.get(refusal.headers["location"]).status_code == 403
    assert "o home here has s-carl as a member" in other.get("/").text


def test_who_signs_out_is_out_everywhere_and_the_database_keeps_no_secret(team: Team) -> None:
    client = team.browser()
    team.signed_in(client, sub="s-anna", groups=["builders"])
    secret = client.cookies["wakelog_session"]
    with psycopg.connect(team.env["WAKELOG_DATABASE"]) as line:
        kept = line.execute("SELECT sessions::text FROM wakelog.sessions").fetchall()
        assert len(kept) == 1
        assert secret not in str(kept)
    assert client.get("/sign-out").status_code == 303
    client.cookies.set("wakelog_session", secret)
    assert client.get("/h/team/tasks").headers["location"].startswith("/sign-in")
    assert client.get("/h/team/tasks", headers={"accept": "*/*"}).status_code == 401


@pytest.mark.parametrize(
    "wrong",
    [
        {"aud": "somebody else"},
        {"iss": "https://elsewhere.example"},
        {"nonce": "another"},
        {"exp": 1},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_sign_in_lets_nobody_in(
    team: Team, wrong: dict[str, Any]
) -> None:
    client = team.browser()
    team.of.spoiled = wrong
    assert team.signed_in(client, sub="s-anna", groups=["builders"]).status_code == 403
    assert client.get("/h/team/tasks").status_code == 303


def test_forged_answers_let_nobody_in(team: Team) -> None:
    """given another key, another browser, an answer that was used, or one that nobody asked for."""
    client, other = team.browser(), team.browser()
    team.of.claims = {"sub": "s-anna", "groups": ["builders"]}
    back = team.led(client)
    assert other.get(back).status_code == 403  # it began nothing
    assert client.get(back.replace("state=", "state=x")).status_code == 403
    back = team.led(client)
    assert client.get(back).status_code == 303
    assert client.get(back).status_code == 403
    assert client.get("/sign-in/back").status_code == 403
    again = team.browser()
    team.of.signing = Provider().key  # and not the one that is published
    back = team.led(again)
    assert again.get(back).status_code == 403


def test_a_sign_in_leads_nowhere_else(team: Team) -> None:
    client = team.browser()
    team.of.claims = {"sub": "s-anna", "groups": ["builders"]}
    away = client.get("/sign-in?to=//evil.example/x")
    back: str = build_opener(Led).open(away.headers["location"])
    assert client.get(back.removeprefix(ORIGIN)).headers["location"] == "/"


def test_an_email_counts_where_the_provider_vouches_for_it(team: Team) -> None:
    team.grant("anna@example.com=member")
    for is_verified, status in ((False, 403), (True, 303)):
        client = team.browser(WAKELOG_OIDC_SUBJECT="email")
        claims: Any = {"sub": "x", "email": "anna@example.com", "email_verified": is_verified}
        assert team.signed_in(client, **claims).status_code == status


def test_settings_that_are_not_whole_are_refused_in_a_line() -> None:
    whole = {"WAKELOG_OIDC_ISSUER": "https://i", "WAKELOG_OIDC_CLIENT": "c"}
    whole |= {"WAKELOG_ADDRESS": "https://a"}
    assert sign_in.settings_of({}) is None
    assert sign_in.settings_of(whole) is not None
    for more in (
        {"WAKELOG_OIDC_CLIENT": ""},
        {"WAKELOG_ADDRESS": "a"},
        {"WAKELOG_OIDC_SUBJECT": "name"},
    ):
        with pytest.raises(Refused):
            sign_in.settings_of(whole | more)


def test_the_secret_of_the_client_is_rotated_and_who_is_in_stays_in(team: Team) -> None:
    before = team.browser()
    team.signed_in(before, sub="s-hanako", groups=[])
    team.of.secret = "a-new-one"
    there = team.signed_in(team.browser(), sub="s-hanako", groups=[])
    assert there.status_code == 403  # the page has the old one still
    after = team.browser(WAKELOG_OIDC_SECRET="a-new-one")
    assert team.signed_in(after, sub="s-hanako", groups=[]).status_code == 303
    after.cookies = before.cookies  # who signed in at a page with the old one
    page = after.get("/h/team/tasks")
    assert page.status_code == 200
    with psycopg.connect(team.env["WAKELOG_DATABASE"]) as line:
        line.execute("DELETE FROM wakelog.sessions")
    assert after.get("/h/team/tasks").status_code == 303  # everybody signs in again


# --------------------------------------------------------------------------- the operator's page


def test_an_operator_sees_how_homes_are_and_no_word_of_any_and_freezes_one(team: Team) -> None:
    done(["task", "add", "Mend the fence"], TEAM, env=team.env)
    client = team.browser(WAKELOG_OPERATORS="s-root, group:ops")
    found = team.signed_in(client, "/operate", sub="s-olga", groups=["ops"])
    assert found.headers["location"] == "/operate"
    page = client.get("/operate")
    assert page.status_code == 200
    assert "Mend the fence" not in page.text
    assert {"team", "other"} <= set(re.findall(r"<li><strong>([^<]+)", page.text))
    assert client.get("/h/team/tasks").status_code == 404  # an operator is no member
    assert client.get("/", headers={"authorization": "Bearer guessed"}).status_code == 401
    form = {"csrf": guard_of(client.cookies["wakelog_session"]).csrf, "home": "team"}
    for deed, state in (("freeze", "frozen"), ("thaw", "open")):
        there = client.post(f"/operate/{deed}", data=form, headers={"origin": ORIGIN})
        assert (there.status_code, there.headers["location"]) == (303, "/operate")
        every = client.get("/operate.json").json()["every"]
        assert {one["name"]: one["state"] for one in every} == {"team": state, "other": "open"}
        assert every == told(["cluster", "--homes"], "-", env=team.env)["every"]
    assert "pg:team: due" in done(["cluster", "--homes"], "-", env=team.env)
    text = client.get("/operate").text
    assert "1 with 404, 1 with 401" in text  # what was refused


def test_nobody_else_is_shown_the_operators_page_and_no_form_of_another_site_is_taken(
    team: Team,
) -> None:
    for operators in ("", "s-root,group:builders2"):
        client = team.browser(WAKELOG_OPERATORS=operators)
        team.signed_in(client, sub="s-anna", groups=["builders", "s-root"])
        form = {"csrf": guard_of(client.cookies["wakelog_session"]).csrf, "home": "team"}
        for path in ("/operate", "/operate.json"):
            assert client.get(path).status_code == 404
        there = client.post("/operate/freeze", data=form, headers={"origin": ORIGIN})
        assert there.status_code == 404
        assert "/operate" not in client.get("/").text
    client = team.browser(WAKELOG_OPERATORS="s-root")
    team.signed_in(client, sub="s-root", groups=[])
    assert '"/operate"' in client.get("/").text
    form = {"csrf": guard_of(client.cookies["wakelog_session"]).csrf, "home": "team"}
    for given, origin in ((form, "https://elsewhere.example"), ({"home": "team"}, ORIGIN)):
        there = client.post("/operate/freeze", data=given, headers={"origin": origin})
        assert there.status_code == 403
    form["home"] = "nobody"
    there = client.post("/operate/freeze", data=form, headers={"origin": ORIGIN})
    assert there.status_code == 422
    assert "there is no home" in there.text
    assert {one["state"] for one in told(["home", "list"], "-", env=team.env)} == {"open"}
    client.get("/sign-out")
    assert client.get("/operate").status_code == 303


def test_operators_sign_in_and_the_login_of_their_page_may_freeze(team: Team) -> None:
    with pytest.raises(Refused, match="WAKELOG_OIDC_ISSUER is not"):
        sign_in.settings_of({"WAKELOG_OPERATORS": "s-root"})
    logins = [word for one in ("page=www", "operator=ops") for word in ("--login", one)]
    assert "ops is an operator's login." in done(["database", "init", *logins], "-", env=team.env)
    url = team.env["WAKELOG_DATABASE"]
    given = {"WAKELOG_OPERATORS": "s-root", "WAKELOG_OIDC_ISSUER": team.of.address}
    given |= {"WAKELOG_OIDC_CLIENT": CLIENT, "WAKELOG_ADDRESS": ORIGIN}
    as_page, as_ops = (
        {**team.env, **given, "WAKELOG_DATABASE": url.replace("owner@", f"{one}@")}
        for one in ("www", "ops")
    )
    with pytest.raises(Refused, match="this login may not operate all homes"):
        HomesPage(as_page, host="127.0.0.1", port=0)
    page = HomesPage(as_ops, host="127.0.0.1", port=0)
    page.close()
    done(["home", "freeze", "team"], "-", env=as_ops)
    assert "permission denied for function hold" in refused(
        ["home", "thaw"], TEAM, env={**as_page, "WAKELOG_OPERATORS": ""}
    )
    done(["home", "thaw"], TEAM, env=as_ops)
    assert "permission denied" in refused(["home", "create", "more"], "-", env=as_ops)
