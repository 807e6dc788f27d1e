"""Who may ask, and what a page may do: strangers, forged forms, hostile texts, strict headers."""

from pathlib import Path

import pytest

from adapters.web import markdown
from adapters.web.auth import Guard, is_loopback
from tests.support.cli import done, told
from tests.support.pages import ORIGIN, text_of, visiting
from tests.support.waking import agent, proposing, reply, report, tape

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


def test_every_answer_carries_the_strict_headers(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        for path in (*PATHS, "/nothing", "/tasks/nothing", "/static/page.css", "/health.json"):
            headers = visitor.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"


def test_no_page_holds_a_script_a_style_or_an_address_of_somebody_else(tmp_path: Path) -> None:
    proposing(tmp_path)
    with visiting(tmp_path) as visitor:
        for path in PATHS:
            page = visitor.page(path)
            assert "<script>" not in page
            assert " style=" not in page
            assert "<style" not in page
            assert " onclick" not in page
            assert "https://" not in page
            assert page.replace("http://www.w3.org", "").count("http://") == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "", "referer": "http://evil.example/127.0.0.1:8765"},
    ],
)
def test_a_form_from_elsewhere_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/tasks", "/tasks")
        answer = visitor.send(form, headers=headers, title="Forged")
    assert answer.status_code == 403
    assert told(["task", "list"], tmp_path) == []


@pytest.mark.parametrize("token", ["", "0" * 32, "é"])
def test_a_form_without_a_token_of_this_run_of_the_server_is_refused(
    tmp_path: Path, token: str
) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/tasks", "/tasks")
        assert visitor.send(form, csrf=token, title="Forged").status_code == 403
    assert told(["task", "list"], tmp_path) == []


def test_a_name_that_is_not_ours_is_no_way_in(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        for host in ("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "["):
            assert visitor.get("/inbox", headers={"host": host}).status_code == 421, host
        for host in ("127.0.0.1:8765", "localhost:8765", "[::1]:8765"):
            assert visitor.get("/inbox", headers={"host": host}).status_code == 200, host


def test_another_address_asks_for_the_token_and_keeps_it_out_of_every_page(tmp_path: Path) -> None:
    token = "long-enough-a-token"
    with visiting(tmp_path, token, "0.0.0.0") as visitor:
        for path in ("/inbox", "/inbox.json", "/events", "/static/page.css", "/?token=wrong"):
            assert visitor.get(path).status_code == 401, path
        answer = visitor.get(f"/inbox?token={token}")
        assert answer.status_code == 200
        assert token not in str(answer.url)
        assert token not in answer.text
        assert visitor.get("/tasks").status_code == 200
        assert token not in "".join(visitor.client.cookies.values())
        visitor.client.cookies.clear()
        bearer = {"authorization": f"Bearer {token}"}
        assert visitor.get("/inbox.json", headers=bearer).status_code == 200


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


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_stay_words_on_every_page(tmp_path: Path, hostile: str) -> None:
    made = agent(tmp_path, hostile, note=f"# {hostile}\n\n{hostile}\n\n[x]({hostile})")
    calls = (
        report(hostile),
        ("record_observations", {"observations": [hostile]}),
        ("add_multiple_checklist_items", {"items": [{"title": hostile}]}),
        (hostile, {hostile: hostile}),
    )
    model = tape(tmp_path / "tape.jsonl", reply(*calls, text=hostile), reply(text=hostile))
    done(["--model", model, "wake", made], tmp_path)
    task, run = told(["task", "list"], tmp_path)[0]["id"], told(["wakes"], tmp_path)[0]["run_key"]
    paths = ("/inbox", "/tasks", f"/tasks/{task}", f"/agents/{made}", f"/wakes/{run}", "/wakes")
    with visiting(tmp_path) as visitor:
        for path in paths:
            page = visitor.page(path)
            for mark in (
                "<script>alert",
                "<img",
                "<svg onload",
                'href="javascript',
                "</pre><script",
            ):
                assert mark not in page.replace('<img src="/static', ""), (path, mark)
            assert "49{" not in page
            visitor.json(path)


def test_markdown_is_shown_and_cannot_do_anything() -> None:
    text = "# T\n\n**b** <b>x</b> ![p](http://evil.example/p.png) [s](JavaScript:x) [d](data:a,b)"
    made = str(markdown.html(f"{text} [ok](https://example.org) \x00\x1b"))
    assert "<h3>T</h3>" in made
    assert "<strong>b</strong>" in made
    assert "&lt;b&gt;" in made
    assert "<img" not in made
    assert 'href="JavaScript' not in made
    assert 'href="data' not in made
    assert 'rel="noopener noreferrer nofollow"' in made
    assert "\x00" not in made
    assert "\x1b" not in made


def test_headings_follow_those_of_the_page_and_leave_no_level_out() -> None:
    for text, levels in (("## a\n#### b\n### c\n# d\n## e", "34434"), ("a\n=\n\nb\n-", "34")):
        made = str(markdown.html(text))
        assert "".join(one[0] for one in made.split("<h")[1:]) == levels
        assert made.count("</h") == len(levels)
        assert all(made.count(f"<h{one}>") == made.count(f"</h{one}>") for one in "3456")


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
