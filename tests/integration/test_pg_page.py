"""The page of many homes: who enters which, what each role may, and what opens none of them."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from adapters.store.postgres.homes import Homes
from adapters.store.postgres.people import People
from adapters.web.auth import Guesses, guard_of
from adapters.web.homes import OpenSites, make_homes_app
from adapters.web.routes import ACTIONS, PAGES
from tests.support.cli import FIXED, done, refused, told
from tests.support.pages import ORIGIN, Visitor
from tests.support.process import until

pytestmark = pytest.mark.slow
ROLES = ("viewer", "member", "owner", "operator")
NOT_ALLOWED = "your role in this home does not allow that"


class Served:
    """Two homes, a token of each role for one of them, and pages of several machines."""

    def __init__(self, homes: Homes, folder: Path, stack: ExitStack) -> None:
        self.homes = homes
        self.env = {"WAKELOG_DATABASE": homes.database.url, "XDG_CACHE_HOME": str(folder)}
        self.stack = stack
        for name, todo in (("anna", "Call the plumber"), ("ben", "A secret of Ben")):
            done(["home", "create", name], "-", env=self.env)
            done(["task", "add", todo], f"pg:{name}", env=self.env)
        self.tokens = {one: self.token("anna", one, one) for one in ROLES}
        self.bens = self.token("ben", "owner", "ben")

    def token(self, home: str, role: str, subject: str) -> str:
        args = ["token", "create", home, "--role", role, "--for", subject]
        made = told(args, "-", env=self.env)
        assert {"token", "home", "role", "expires_at"} <= set(made)
        return str(made["token"])

    def app(self, most: int = 64, seconds: float = 1_000, near: int = 1_000) -> TestClient:
        """The page of one machine more."""
        sites = OpenSites(self.homes, {**FIXED, **self.env}, most, near)
        clock = count(0, seconds).__next__  # 0: it stands still
        people = People(self.homes.database)
        app = make_homes_app(sites, people, Guesses(clock))
        client = self.stack.enter_context(TestClient(app, base_url=ORIGIN, follow_redirects=False))
        self.stack.callback(sites.close)
        return client


@pytest.fixture
def served(postgres_homes: Homes, tmp_path: Path) -> Iterator[Served]:
    with ExitStack() as stack:
        yield Served(postgres_homes, tmp_path, stack)


def as_(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def plain(pattern: str) -> str:
    """An address of a route, of things that are not there."""
    return re.sub(r"\(\?P<\w+>(?:[^()]|\([^()]*\))*\)", "x", pattern).split("|")[0]


def posted(client: TestClient, path: str, token: str) -> Any:
    data = {"csrf": guard_of(token).csrf, "nonce": "12345678", "back": "/tasks"}
    return client.post(path, data=data, headers={**as_(token), "origin": ORIGIN})


def test_every_route_and_every_role(served: Served) -> None:
    client = served.app()
    for pattern, _ in PAGES:
        path = f"/h/anna{plain(pattern)}"
        assert client.get(path).status_code == 401, path
        assert client.get(path, headers=as_(served.bens)).status_code == 404, path
        for role in ROLES:
            answer = client.get(path, headers=as_(served.tokens[role]))
            may = role != "operator" or pattern == "/health"
            assert (NOT_ALLOWED not in answer.text) == may, (path, role)
            assert (answer.status_code == 403) != may, (path, role)
            assert answer.status_code == 200 or not may or "/x" in path, (path, role)
        as_json = client.get(f"{path}.json", headers=as_(served.tokens["operator"]))
        assert (as_json.status_code == 403) == (pattern != "/health"), path
    for pattern, _ in (*ACTIONS, ("/theme", None), ("/keys", None)):
        path = f"/h/anna{plain(pattern)}"
        assert client.post(path).status_code == 401, path
        assert posted(client, path, served.bens).status_code == 404, path
        rules = pattern.startswith(("/templates", "/policy")) or pattern.endswith("/erase")
        for role in ROLES:
            may = (
                pattern in ("/theme", "/keys")
                or role == "owner"
                or (role == "member" and not rules)
                or (role == "operator" and pattern in ("/prove", "/stop/proof"))
            )
            answer = posted(client, path, served.tokens[role])
            assert (answer.status_code == 403) != may, (path, role, answer.text)
            assert (NOT_ALLOWED in answer.text) != may, (path, role)
    # what an operator sends leads to no content, neither by its answer nor by what is wrong in it
    wrong = client.post(
        "/h/anna/theme",
        data={"csrf": guard_of(served.tokens["operator"]).csrf, "back": "/tasks"},
        headers={**as_(served.tokens["operator"]), "origin": ORIGIN},
    )
    assert wrong.headers["location"] == "/h/anna/tasks"
    assert "plumber" not in wrong.text


def test_no_other_token_and_no_header_opens_a_home(served: Served) -> None:
    client = served.app()
    good = served.tokens["owner"]
    forged = [good[:-1] + ("0" if good[-1] != "0" else "1"), good.upper(), good + "0", "x", "é"]
    headers: list[Any] = [{}, *[{"authorization": f"Bearer {one}".encode()} for one in forged]]
    headers += [
        {"x-forwarded-user": "owner"},
        {"x-forwarded-user": "owner", "remote-user": "owner"},
    ]
    headers += [{"cookie": f"wakelog_tokens={forged[0]}"}, {"authorization": f"Basic {good}"}]
    for one in headers:
        for path in (
            "/",
            "/homes.json",
            "/h/anna/",
            "/h/none/",
            "/h/anna/events",
            "/static/page.css",
        ):
            assert client.get(path, headers=one).status_code == 401, (path, one)
    assert client.get(f"/?token={forged[0]}").status_code == 401
    assert client.get("/h/ben/", headers=as_(good)).status_code == 404
    assert client.get("/h/none/", headers=as_(good)).status_code == 404
    assert client.get("/h/anna/", headers=as_(good)).status_code == 200
    # revoked, expired, and no member any more: each from the next request on
    listed = told(["token", "list", "anna"], "-", env=served.env)
    ids = {one["subject"]: one["id"] for one in listed}
    done(["token", "revoke", ids["owner"]], "-", env=served.env)
    assert client.get("/h/anna/", headers=as_(good)).status_code == 401
    with psycopg.connect(served.homes.database.url, autocommit=True) as connection:
        aged = b"UPDATE wakelog.tokens SET expires_at = now() WHERE id = %s"
        connection.execute(aged, (ids["member"],))
        kept = connection.execute(b"SELECT * FROM wakelog.tokens").fetchall()
    assert good not in str(kept)
    assert good.encode().hex() not in str(kept)
    assert client.get("/h/anna/", headers=as_(served.tokens["member"])).status_code == 401
    done(["home", "access", "anna", "--remove", "viewer"], "-", env=served.env)
    assert client.get("/h/anna/", headers=as_(served.tokens["viewer"])).status_code == 401
    states = {
        one["subject"]: one["state"] for one in told(["token", "list", "anna"], "-", env=served.env)
    }
    assert states == {"owner": "revoked", "member": "expired", "operator": "good"}
    again = ["token", "create", "anna", "--for", "member", "--role", "owner"]
    assert "member is member of anna" in refused(again, "-", env=served.env)
    guessing = served.app(seconds=0)
    tried = [guessing.get("/", headers=as_(f"guess {nth}")).status_code for nth in range(12)]
    assert tried == [401] * 10 + [429] * 2
    assert guessing.get("/", headers=as_(served.bens)).status_code == 200


def test_a_browser_keeps_tokens_and_sees_its_homes_below_their_names(served: Served) -> None:
    client = served.app(most=1)
    for token in (served.tokens["owner"], served.bens):
        answer = client.get(f"/?token={token}")
        assert answer.status_code == 303
        assert token not in answer.headers["location"]
        assert "HttpOnly" in answer.headers["set-cookie"]
    assert client.get("/enter?to=/h/anna/").headers["location"] == "/h/anna/"
    page = client.get("/")
    assert "/h/anna/" in page.text
    assert "/h/ben/" in page.text
    found = client.get("/homes.json").json()["homes"]
    assert [one["home"] for one in found] == ["anna", "ben"]
    client.follow_redirects = True
    for name, todo in (("anna", "Call the plumber"), ("ben", "A secret of Ben"), ("anna", "Call")):
        text = client.get(f"/h/{name}/tasks").text  # one site at a time is open
        assert todo in text
        addresses = re.findall(r'\s(?:href|action|src)="(/[^"]*)"', text)
        ours = (f"/h/{name}/", "/static/", "/homes")
        assert addresses
        assert [one for one in addresses if not one.startswith(ours)] == []
    visitor = Visitor(client)
    form = visitor.form("/h/anna/tasks", "/h/anna/tasks")
    made = visitor.send(form, title="Sweep the yard")
    assert made.status_code == 200
    assert str(made.url).startswith(f"{ORIGIN}/h/anna/")
    assert "Sweep the yard" in visitor.page("/h/anna/tasks")
    assert "Sweep" not in visitor.page("/h/ben/tasks")
    done(["home", "rename", "anna", "anna-s"], "-", env=served.env)
    assert "Sweep the yard" in visitor.page("/h/anna-s/tasks")
    assert client.get("/h/anna/tasks").status_code == 404
    done(["home", "freeze", "ben"], "-", env=served.env)
    assert "the home pg:ben is frozen" in refused(["task", "add", "x"], "pg:ben", env=served.env)
    done(["home", "thaw"], "pg:ben", env=served.env)
    done(["task", "add", "x"], "pg:ben", env=served.env)


def test_two_pages_write_at_once_and_each_sees_what_the_other_did(served: Served) -> None:
    token = served.tokens["owner"]
    pages = [served.app(), served.app()]

    def write(nth: int) -> int:
        data = {"title": f"Task {nth}", "nonce": f"1234567{nth}", "back": "/tasks"}
        data["csrf"] = guard_of(token).csrf  # made by whichever page
        headers = {**as_(token), "origin": ORIGIN}
        answer = pages[nth % 2].post("/h/anna/tasks", data=data, headers=headers)
        return int(answer.status_code)

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(write, range(8))) == {303}
    for page in pages:
        text = page.get("/h/anna/tasks", headers=as_(token)).text
        assert [nth for nth in range(8) if f"Task {nth}" not in text] == []
    assert told(["prove"], "pg:anna", env=served.env)["ok"]


def test_a_fork_is_kept_by_the_machine_that_made_it_and_another_one_says_so(
    served: Served, tmp_path: Path
) -> None:
    there = "pg:anna"
    done(["agent", "create", "--task", "plumber"], there, env=served.env)
    done(["wake"], there, env=served.env)
    run_key = told(["wakes"], there, env=served.env)[0]["run_key"]
    note = ["--note", "plumber", "It takes 3 hours."]
    name = Path(told(["fork", run_key, *note], there, env=served.env)["home"]).name
    here = served.app()
    served.env["XDG_CACHE_HOME"] = str(tmp_path / "another machine")
    elsewhere, token = served.app(), as_(served.tokens["owner"])
    assert here.get(f"/h/anna/forks/{name}", headers=token).status_code == 200
    missing = elsewhere.get(f"/h/anna/forks/{name}", headers=token)
    assert missing.status_code == 404
    assert "each machine that serves the page keeps its own forks" in missing.text
    for path, words in (
        ("forks", "those of other machines are not seen here"),
        (f"wakes/{run_key}/forked", "There is no fork of this wake yet on this machine"),
        (f"wakes/{run_key}/what-if", "is kept on this machine alone"),
    ):
        assert words in elsewhere.get(f"/h/anna/{path}", headers=token).text


def test_a_page_says_that_a_home_is_renewed_after_an_upgrade_and_shows_it_then(
    served: Served,
) -> None:
    older = "UPDATE views.{} SET view = view || '0' WHERE home = %s"
    number = served.homes.named("anna").number
    with served.homes.database.connection() as connection:
        for table in ("documents", "positions"):
            connection.execute(older.format(table).encode(), (number,))
    page, token = served.app(near=0), as_(served.tokens["owner"])
    found = page.get("/h/anna/tasks", headers=token)
    assert (found.status_code, found.headers["refresh"]) == (503, "2")
    assert "this home is being renewed after an upgrade; nothing of it is lost" in found.text
    shown = until(lambda: (one := page.get("/h/anna/tasks", headers=token)).is_success and one)
    assert "Call the plumber" in shown.text
    assert page.get("/h/ben/tasks", headers=as_(served.bens)).status_code == 200
