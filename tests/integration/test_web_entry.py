"""Who is let in, whose form is taken, what a page may do, and what a stranger sees."""

import pwd
import socket
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any, overload

import pytest
from starlette.testclient import TestClient

from adapters.web.app import make_app
from adapters.web.auth import (
    ADDRESSES_MAX,
    Guard,
    Guesses,
    is_loopback,
    new_token,
    other_people,
    printed,
    reachable,
)
from adapters.web.http_types import Notice
from adapters.web.server import PageServer
from adapters.web.site import Site
from tests.support.cli import FIXED, done, told
from tests.support.forms import forms
from tests.support.homes import Homes
from tests.support.pages import ORIGIN, text_of, visiting
from tests.support.waking import agent, proposing, reply, report, tape

TOKEN = "long-enough-a-token"
HTML = {"accept": "text/html"}


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Lines(Sequence[str]):
    """Lines of an answer; whether the home was free for others while they were printed."""

    def __init__(self, site: Site) -> None:
        self.was_free: list[bool] = []
        self._site = site

    def __len__(self) -> int:
        return 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        raise IndexError

    def __iter__(self) -> Iterator[str]:
        def take() -> None:
            self.was_free.append(self._site.lock.acquire(timeout=2))
            if self.was_free[-1]:
                self._site.lock.release()

        other = Thread(target=take)
        other.start()
        other.join()
        return iter(("printed",))


def test_nobody_waits_for_what_is_rendered(tmp_path: Path) -> None:
    site = Site(tmp_path, FIXED)
    lines = Lines(site)
    site.keep(Notice("An answer", lines=lines), "key")
    with TestClient(make_app(site, Guard("127.0.0.1", 8765)), base_url=ORIGIN) as client:
        assert "printed" in client.get("/tasks?told=key").text
    site.close()
    assert lines.was_free == [True]


# ----------------------------------------------------------------------------------------- forms


def test_a_form_stays_good_when_another_tab_came_in_without_a_cookie(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/tasks", "/tasks")
        visitor.client.cookies.clear()  # as from another site's link
        visitor.page("/inbox")
        assert visitor.send(form, title="Typed before").status_code == 200
    assert [one["title"] for one in told(["task", "list"], tmp_path)] == ["Typed before"]


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"origin": "http://evil.example"}, "was sent from http://evil.example"),
        ({"origin": "http://["}, "was sent from http://["),
        ({"origin": "null"}, "does not tell which page"),
        ({"origin": ""}, "does not tell which page"),
        ({"origin": "http://127.0.0.1:9999"}, "was sent from http://127.0.0.1:9999"),
        ({"origin": "", "referer": "http://evil.example/127.0.0.1:8765"}, "http://evil.example"),
        ({"sec-fetch-site": "cross-site"}, "another site"),
        ({"sec-fetch-site": "same-site"}, "another site"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_shows_what_was_typed(
    tmp_path: Path, headers: dict[str, str], why: str
) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/tasks", "/tasks")
        answer = visitor.send(form, headers=HTML | headers, title="What <b>I</b> typed")
        assert answer.status_code == 403
        assert why in text_of(answer.text)
        assert "What &lt;b&gt;I&lt;/b&gt; typed" in answer.text
        assert forms(answer.text) == []  # nothing that a stranger could have somebody press
        for token in ("", "0" * 32, "é"):  # of no page of this run of the server
            assert visitor.send(form, csrf=token, title="Forged").status_code == 403
    assert told(["task", "list"], tmp_path) == []


def test_what_was_typed_before_the_server_was_started_again_can_be_sent_once(
    tmp_path: Path,
) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/tasks", "/tasks")
    with visiting(tmp_path) as visitor:
        answer = visitor.send(form, headers=HTML, title="Typed <before>")
        assert answer.status_code == 403
        assert answer.headers["hx-retarget"] == "#told"
        assert "started again" in answer.text
        assert told(["task", "list"], tmp_path) == []
        (again,) = forms(answer.text)
        assert again.action == "/tasks"
        for _ in range(2):  # pressed twice
            assert visitor.send(again, headers=HTML).status_code == 200
    assert [one["title"] for one in told(["task", "list"], tmp_path)] == ["Typed <before>"]


def test_more_fields_than_a_page_has_are_refused_and_no_failure(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        headers = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
        for body in (b"a=1&" * 2_001, b"&" * 5_000, b"a=" + b"x" * 2_100_000):
            answer = visitor.client.post("/tasks", content=body, headers=headers)
            assert answer.status_code == 413, body[:10]
            assert "too large" in answer.text
        form = visitor.form("/tasks", "/tasks")
        assert visitor.send(form, title="A task", back="//[").status_code == 200


@pytest.mark.parametrize("token", ["", TOKEN])
def test_no_path_leads_to_another_host(tmp_path: Path, token: str) -> None:
    paths = ("//evil.example/x", "/%2fevil.example", "/%5cevil.example", "//[", "/\\e")
    queries = ("", f"?token={token}", "?token=x", "?to=//evil.example")
    with visiting(tmp_path, token) as visitor:
        visitor.client.follow_redirects = False
        for path, query in product(paths, queries):
            answer = visitor.get(f"{ORIGIN}{path}{query}", headers=HTML)
            assert answer.status_code == 404, (path, query)
            assert "evil" not in answer.text
        for to in ("//evil.example", "https://evil.example", "/\\evil.example"):
            answer = visitor.get("/enter", params={"to": to})
            assert "evil" not in answer.text + answer.headers.get("location", "")


# ---------------------------------------------------------------------------------------- tokens


def test_the_address_with_the_token_works_from_a_mail_and_however_often_it_is_looked_at(
    tmp_path: Path,
) -> None:
    with visiting(tmp_path, TOKEN) as visitor:
        for _ in range(20):  # by whoever looks at links before a person does
            visitor.get(f"/tasks?token={TOKEN}")
            visitor.client.cookies.clear()
        visitor.client.follow_redirects = False
        first = visitor.get(f"/tasks?status=open&token={TOKEN}", headers=HTML)
        assert first.status_code == 303
        assert "SameSite=Strict" in first.headers["set-cookie"]
        assert TOKEN not in first.headers["location"]
        brought = dict(visitor.client.cookies)
        visitor.client.cookies.clear()  # a browser that comes from a mail does not send it yet
        landing = visitor.get(first.headers["location"], headers=HTML)
        assert landing.status_code == 200
        assert TOKEN not in landing.text
        (button,) = forms(landing.text)
        visitor.client.cookies.update(brought)
        on = visitor.get(button.action, params=dict(button.fields))
        assert on.headers["location"] == "/tasks?status=open"
        assert visitor.get(on.headers["location"]).status_code == 200
        visitor.client.cookies.clear()
        refused = visitor.get(button.action, params=dict(button.fields), headers=HTML)
        assert refused.status_code == 401
        assert "did not keep the cookie" in text_of(refused.text)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_is_asked_for_and_kept_out_of_every_page(tmp_path: Path, host: str) -> None:
    with visiting(tmp_path, TOKEN, host) as visitor:
        for path in ("/inbox", "/inbox.json", "/events", "/static/page.css", "/?token=wrong"):
            assert visitor.get(path).status_code == 401, path
        asked = visitor.get("/tasks", headers=HTML)
        assert visitor.get("/enter.css").status_code == 200
        (form,) = forms(asked.text)
        answer = visitor.get(form.action, params={"token": TOKEN})
        assert answer.status_code == 200
        assert TOKEN not in str(answer.url)
        assert TOKEN not in answer.text
        assert visitor.get("/tasks").status_code == 200
        assert TOKEN not in "".join(visitor.client.cookies.values())
        evil = {"host": "evil.example"}
        for path in ("/tasks", f"/tasks?token={TOKEN}") if host == "127.0.0.1" else ():
            assert visitor.get(path, headers=evil).status_code == 421, path
        visitor.client.cookies.clear()
        bearer = {"authorization": f"Bearer {TOKEN}"}
        assert visitor.get("/inbox.json", headers=bearer).status_code == 200


def test_what_was_typed_by_somebody_who_has_to_enter_anew_stays_in_sight(tmp_path: Path) -> None:
    with visiting(tmp_path, TOKEN) as visitor:
        visitor.get(f"/?token={TOKEN}")
        form = visitor.form("/tasks", "/tasks")
    with visiting(tmp_path, TOKEN) as visitor:
        answer = visitor.send(form, headers=HTML, title="Typed before")
        assert answer.status_code == 401
        assert "Typed before" in answer.text
        assert answer.headers["hx-retarget"] == "#told"
    assert told(["task", "list"], tmp_path) == []


def test_guesses_are_slowed_and_who_is_in_is_not(tmp_path: Path) -> None:
    clock = Hands()
    with visiting(tmp_path, guard=Guard("127.0.0.1", 8765, TOKEN, clock=clock)) as visitor:
        wrong = [visitor.get(f"/?token=wrong{nth}").status_code for nth in range(30)]
        assert wrong == [401] * 10 + [429] * 20
        slowed = visitor.get(f"/inbox?token={TOKEN}")
        assert slowed.status_code == 429
        assert slowed.headers["retry-after"] == "1"
        clock.seconds += 1
        assert visitor.get(f"/inbox?token={TOKEN}").status_code == 200
        for nth in range(20):
            visitor.get("/", headers={"authorization": f"Bearer wrong{nth}"})
        assert visitor.get("/inbox").status_code == 200
        assert visitor.get("/inbox?token=an-old-one").status_code == 200


def test_guesses_are_counted_by_address_and_in_bounded_room() -> None:
    guesses = Guesses(Hands())
    for _ in range(10):
        guesses.count("192.0.2.1")
        guesses.count("2001:db8::1")
    assert not guesses.may("192.0.2.1")
    assert guesses.may("192.0.2.2")
    assert not guesses.may("2001:db8::2")
    assert guesses.may("2001:db8:0:1::1")
    for nth in range(ADDRESSES_MAX):
        guesses.count(f"198.51.{nth // 256}.{nth % 256}")
    assert guesses.may("192.0.2.1")  # forgotten, as it was quiet for longest


def test_a_token_is_long_and_is_printed_so_that_it_can_be_followed(tmp_path: Path) -> None:
    assert len(bytes.fromhex(new_token())) == 16
    own = "an öwn token?&=#/ of mine"
    address = printed("127.0.0.1", 8765, own)
    with visiting(tmp_path, own) as visitor:
        assert visitor.get(address).status_code == 200
        visitor.client.cookies.clear()
        bearer = {b"authorization": f"Bearer {own}".encode()}
        assert visitor.client.get("/inbox", headers=bearer).status_code == 200


# ----------------------------------------------------------------------------------- the machine


def account(name: str, uid: int, shell: str) -> Any:
    return pwd.struct_passwd((name, "x", uid, uid, "", f"/home/{name}", shell))


def test_other_people_are_those_who_can_log_in() -> None:
    found = [
        account("root", 0, "/bin/bash"),
        account("daemon", 1, "/usr/sbin/nologin"),
        account("postgres", 107, "/bin/bash"),
        account("ada", 1000, "/bin/bash"),
        account("bob", 1001, "/usr/bin/zsh"),
        account("ftp", 1002, "/bin/false"),
        account("nobody", 65_534, "/bin/bash"),
    ]
    assert other_people(found, own=1000) == 1
    assert other_people(found, own=0) == 2
    assert other_people(found[:4], own=1000) == 0


@pytest.mark.parametrize(("others", "token"), [(0, ""), (2, ""), (2, TOKEN)])
def test_a_page_that_other_accounts_can_open_says_so(
    tmp_path: Path, others: int, token: str
) -> None:
    with visiting(tmp_path, guard=Guard("127.0.0.1", 8765, token, others=others)) as visitor:
        text = text_of(visitor.get(f"/inbox?token={token}").text)
    assert ("2 other accounts of this machine can open this page" in text) == (
        bool(others) and not token
    )


def test_a_server_of_all_addresses_names_those_of_this_machine() -> None:
    for host in ("0.0.0.0", "::"):
        found = reachable(host)
        assert found
        assert "0.0.0.0" not in found
        assert "::" not in found
    assert reachable("127.0.0.1") == ["127.0.0.1"]


def test_where_nobody_is_asked_no_cookie_is_needed(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        visitor.page("/inbox")
        assert dict(visitor.client.cookies) == {}


class Late(PageServer):
    """One that is told to end while it begins."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.should_exit = True
        await super().startup(sockets)


def test_a_server_that_ends_before_it_has_begun_ends_in_silence(tmp_path: Path) -> None:
    """On a slow machine its thread comes to listen when all is closed already."""
    site, listening = Site(tmp_path, FIXED), socket.socket()
    listening.close()
    Late(site, make_app(site, Guard("127.0.0.1", 8765))).begin(
        [listening]
    ).join()  # an error would fail the test
    site.close()


# ------------------------------------------------------------------------------- what a page may do


HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "</title></textarea></pre><script>alert(1)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "\u202eesrever\u202c \u2066isolate",
    "a" * 190,
)
PAGES = ("inbox", "tasks", "agents", "wakes", "templates", "lessons", "policy", "health")
PATHS = ("/", *(f"/{one}" for one in PAGES))


def test_no_answer_lets_a_page_do_more_and_no_page_holds_a_script_or_a_style(
    tmp_path: Path, homes: Homes
) -> None:
    with visiting(homes.copy(proposing, tmp_path)) as visitor:
        for path in (*PATHS, "/nothing", "/tasks/nothing", "/static/page.css", "/health.json"):
            answer = visitor.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "same-origin"
            for part in ("<script>", " style=", "<style", " onclick", "https://"):
                assert part not in answer.text, (path, part)
            assert answer.text.replace("http://www.w3.org", "").count("http://") == 0


def test_a_name_that_is_not_ours_is_no_way_in(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        for host in ("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "["):
            assert visitor.get("/inbox", headers={"host": host}).status_code == 421, host
        for host in ("127.0.0.1:8765", "localhost:8765", "[::1]:8765"):
            assert visitor.get("/inbox", headers={"host": host}).status_code == 200, host


def test_only_this_machine_needs_no_token() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "[::1]", "127.1.2.3")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.2", "example.org", "")))
    assert Guard("127.0.0.1").csrf != Guard("127.0.0.1").csrf


def test_a_form_cannot_send_the_visitor_away(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        for back in ("//evil.example", "https://evil.example/", "/\\evil.example", "x"):
            form = visitor.form("/tasks", "/tasks")
            answer = visitor.send(form, title="A task", back=back)
            assert str(answer.url).startswith(f"{ORIGIN}/inbox"), back


def test_hostile_words_stay_words_on_every_page(tmp_path: Path) -> None:
    paths = ["/inbox", "/tasks", "/wakes"]
    note = "\n\n".join(f"# {one}\n\n{one}\n\n[x]({one})" for one in HOSTILE)
    for hostile in (" ".join(HOSTILE[:-1]), HOSTILE[-1]):
        made = agent(tmp_path, hostile, note=note)
        calls = (
            report(hostile),
            ("record_observations", {"observations": [hostile]}),
            ("add_multiple_checklist_items", {"items": [{"title": hostile}]}),
            (hostile, {hostile: hostile}),
        )
        model = tape(tmp_path / "tape.jsonl", reply(*calls, text=hostile), reply(text=hostile))
        done(["--model", model, "wake", made], tmp_path)
    paths += [f"/tasks/{one['id']}" for one in told(["task", "list"], tmp_path)]
    paths += [f"/agents/{one['id']}" for one in told(["agent", "list"], tmp_path)]
    paths += [f"/wakes/{one['run_key']}" for one in told(["wakes"], tmp_path)]
    assert len(paths) == 3 + 2 + 2 + 4
    marks = ("<script>alert", "<img", "<svg onload", 'href="javascript', "</pre><script", "49{")
    with visiting(tmp_path) as visitor:
        for path in paths:
            page = visitor.page(path).replace('<img src="/static', "")
            for mark in marks:
                assert mark not in page, (path, mark)
            visitor.json(path)


def test_what_is_too_large_or_broken_is_refused_and_no_crash(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/tasks", "/tasks")
        assert visitor.send(form, title="x" * 3_000_000).status_code == 413
        assert visitor.send(form, title="").status_code == 422
        for path in ("/tasks/..%2f..", "/tasks/%00", "/agents/x", "/wakes/x", "/templates/x"):
            assert visitor.get(path).status_code == 404, path
        for query in ("before=%00", "limit=²", "limit=99999999999", "status=%ff", "q=%ed%a0%80"):
            assert visitor.get(f"/tasks?{query}").status_code == 200, query
        assert "Not found" in text_of(visitor.get("/nothing").text)
