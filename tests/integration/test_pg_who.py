"""A home of several people: its log says who decided, and proves as one of one person does."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from starlette.testclient import TestClient

from adapters.store.postgres.homes import Homes
from adapters.store.postgres.people import People
from adapters.web.auth import Guesses, guard_of
from adapters.web.homes import OpenSites, make_homes_app
from tests.support.cli import FIXED, done, told
from tests.support.pages import ORIGIN

pytestmark = pytest.mark.slow
TEAM = "pg:team"


class Page:
    """The page of a home of two people."""

    def __init__(self, homes: Homes, folder: Path, stack: ExitStack) -> None:
        self.posts = 0
        self.env = {"WAKELOG_DATABASE": homes.database.url, "XDG_CACHE_HOME": str(folder)}
        done(["home", "create", "team"], "-", env=self.env)
        self.tokens = {one: self._token(one) for one in ("anna", "花子")}
        sites = OpenSites(homes, {**FIXED, **self.env})
        app = make_homes_app(sites, People(homes.database), Guesses(lambda: 0.0))
        self.client = stack.enter_context(TestClient(app, base_url=ORIGIN))
        stack.callback(sites.close)

    def _token(self, who: str) -> str:
        args = ["token", "create", "team", "--role", "member", "--for", who]
        return str(told(args, "-", env=self.env)["token"])

    def add(self, who: str, title: str) -> None:
        self.post(who, "/tasks", {"title": title})

    def post(self, who: str, path: str, given: dict[str, str]) -> None:
        token, self.posts = self.tokens[who], self.posts + 1
        data = {**given, "nonce": f"1234567{self.posts}", "csrf": guard_of(token).csrf}
        headers = {"authorization": f"Bearer {token}", "origin": ORIGIN}
        answer = self.client.post(f"/h/team{path}", data=data, headers=headers)
        assert answer.status_code == 200, answer.text

    def shown(self, who: str, path: str) -> str:
        headers = {"authorization": f"Bearer {self.tokens[who]}"}
        return self.client.get(f"/h/team{path}", headers=headers).text


@pytest.fixture
def page(postgres_homes: Homes, tmp_path: Path) -> Iterator[Page]:
    with ExitStack() as stack:
        yield Page(postgres_homes, tmp_path, stack)


def test_the_log_says_who_of_several_people_did_it(page: Page) -> None:
    page.add("anna", "Milk")
    page.add("花子", "Bread")
    done(["task", "add", "Salt"], TEAM, env=page.env)  # the operator's command line names nobody
    sql = "SELECT who FROM causes WHERE what = 'create_task' ORDER BY n"
    names = [one["who"] for one in told(["sql", sql], TEAM, env=page.env)]
    assert names[2] is None
    assert len({*names}) == 3
    assert all(one and "anna" not in one and "花子" not in one for one in names[:2])
    why = done(["why", "Milk", "title"], TEAM, env=page.env)
    assert "anna " in why
    task = told(["task", "show", "Bread"], TEAM, env=page.env)["id"]
    assert "花子" in page.shown("anna", f"/tasks/{task}/history")
    proved = told(["prove"], TEAM, env=page.env)
    assert (proved["ok"], proved["divergences"]) == (True, [])


def test_wakes_and_verdicts_say_who_of_several_people_they_are_of(page: Page) -> None:
    page.add("anna", "Milk")
    done(["task", "note", "Milk", "It takes 3 hours."], TEAM, env=page.env)
    done(["agent", "create", "Milk"], TEAM, env=page.env)
    agent = told(["agent", "show", "Milk"], TEAM, env=page.env)["id"]
    page.post("花子", f"/agents/{agent}/wake", {})
    done(["wake"], TEAM, env=page.env)
    (newest, *_) = told(["wakes"], TEAM, env=page.env)
    assert (newest["reason"], newest["who"]) == ("manual", "花子")
    assert "manual by 花子" in done(["wakes"], TEAM, env=page.env)
    assert "manual by 花子" in done(["show", newest["run_key"]], TEAM, env=page.env)
    assert "by 花子" in page.shown("anna", "/wakes")
    assert "By 花子." in page.shown("anna", f"/wakes/{newest['run_key']}")
    (one,) = told(["inbox"], TEAM, env=page.env)
    assert [item["who"] for item in one["items"]] == [None]
    (ref,) = set(re.findall(r'name="ref" value="([^"]+)"', page.shown("anna", "/inbox")))
    page.post("anna", "/inbox/decide", {"ref": ref, "verdict": "reject", "reason": "no"})
    assert "[rejected by anna]" in done(["inbox", "--all"], TEAM, env=page.env)
    assert "by anna" in page.shown("花子", "/inbox?show=decided")
    done(["home", "access", "team", "--remove", "anna"], "-", env=page.env)
    assert "[rejected by Somebody who is no" in done(["inbox", "--all"], TEAM, env=page.env)
    assert told(["prove"], TEAM, env=page.env)["ok"]


def test_a_name_is_forgotten_and_the_log_stays_as_it_is(page: Page) -> None:
    page.add("anna", "Milk")
    done(["home", "access", "team", "--remove", "anna"], "-", env=page.env)
    why = done(["why", "Milk", "title"], TEAM, env=page.env)
    assert "Somebody who is no member any more" in why
    with psycopg.connect(page.env["WAKELOG_DATABASE"]) as line:
        sql = "SELECT count(*) FROM journal.events WHERE position('anna'::bytea in state) > 0"
        assert line.execute(sql).fetchall() == [(0,)]
    assert told(["prove"], TEAM, env=page.env)["ok"]


def test_who_decided_moves_with_the_home_and_proves_there(page: Page, tmp_path: Path) -> None:
    page.add("anna", "Milk")
    folder = tmp_path / "out"
    done(["move", TEAM, str(folder), "--sure"], "-", env=page.env)
    assert told(["prove"], folder, env=page.env)["ok"]
    sql = "SELECT who FROM causes WHERE what = 'create_task'"
    assert told(["sql", sql], folder, env=page.env)[0]["who"]
    assert "Somebody who is no member" in done(["why", "Milk", "title"], folder, env=page.env)
