"""A first run on the page: a file is looked at, brought in, and gets agents; without JavaScript."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from adapters.documents.agents import count_agents
from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.charts import days
from adapters.web.http_types import (
    FormRequest,
    MultipartForm,
    Upload,
    boundary_of,
    multipart_form,
)
from adapters.web.jobs import STOPPED, HowFar, Job, Jobs
from adapters.web.middleware import BODY_MAX
from adapters.web.site import Site, a_moment
from adapters.web.tasks import show_search
from adapters.wiring import Home
from projections import tasks, wakes
from tests.support.cli import FIXED, done, proved, told
from tests.support.forms import Form
from tests.support.pages import ORIGIN, Visitor, text_of, visiting

SECONDS = 30
LONG = 550  # tasks: four appends, and more than a search reads at once
TODO = b"# Home\n- [ ] Paint the door ~2h\n- [ ] Fix the sink\n- [x] Call Ann\n"


def _chosen(visitor: Visitor, form: Form, name: str, data: bytes, nonce: str = "") -> Any:
    """Send the form of a file as a browser does."""
    fields = dict(form.fields)
    fields.pop("file", None)
    fields |= {"nonce": nonce} if nonce else {}
    sent = {"file": (name, data, "text/markdown")}
    headers = {"origin": ORIGIN}
    return visitor.client.post(form.action, data=fields, files=sent, headers=headers)


def test_a_file_is_looked_at_then_brought_in_then_gets_agents(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        for path in ("/inbox", "/tasks", "/agents"):  # an empty home leads there
            assert 'href="/first"' in visitor.page(path)
        form = visitor.form("/first", "/first/look")
        shown = _chosen(visitor, form, "TODO.md", TODO)
        assert (shown.status_code, shown.url.path) == (200, "/first")
        assert "3 new tasks" in text_of(shown.text)
        assert "Paint the door" in shown.text
        assert told(["task", "list"], tmp_path) == []  # nothing was written
        here = f"/first?{shown.url.query.decode()}"
        bring = visitor.form(here, "/first/bring")
        done(["task", "add", "Sweep"], tmp_path)  # changes nothing of the plan
        brought = visitor.send(bring)
        assert "3 created" in text_of(brought.text)
        titles = {one["title"] for one in told(["task", "list"], tmp_path)}
        assert {"Paint the door", "Fix the sink", "Sweep"} <= titles
        assert "brought in already" in text_of(visitor.send(bring).text)  # sent twice: one deed
        (tmp_path / "TODO.md").write_bytes(TODO)  # its name is its source, as on the command line
        (again,) = told(["import", str(tmp_path / "TODO.md")], tmp_path)["files"]
        assert (again["created"], again["unchanged"]) == (0, 3)
        assign = visitor.form("/first", "/first/agents")
        assert visitor.send(assign, model="no model", nonce="no-such-model").status_code == 422
        visitor.send(assign, model="gemini")
        assert len(told(["agent", "list"], tmp_path)) == 3
        assert "Nothing is sent before you agree" not in visitor.page("/first")  # all have one
        assert visitor.form("/first", "/policy/allow").has("model", "gemini:*")


def test_a_file_that_cannot_be_taken_is_refused_in_one_line(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/first", "/first/look")
        cases = (
            ("a.bin", b"\0\1", "it is no text"),
            ("a.txt", b"Hello", "its format is not known"),
            ("", b"", "no file was chosen"),
        )
        for nth, (name, data, why) in enumerate(cases):
            answer = _chosen(visitor, form, name, data, f"nonce-{nth}-of-it")
            assert (answer.status_code, why in text_of(answer.text)) == (422, True), name
            assert 'id="wrong-file"' in answer.text  # it stands at its field
        large = _chosen(visitor, form, "TODO.md", b"- [ ] a\n" * (BODY_MAX // 8 + 1))
        assert (large.status_code, "wakelog import" in large.text) == (413, True)
        first = _chosen(visitor, form, "TODO.md", TODO)
        bring = visitor.form(f"/first?{first.url.query.decode()}", "/first/bring")
        (tmp_path / "TODO.md").write_bytes(TODO)
        done(["import", str(tmp_path / "TODO.md")], tmp_path)
        late = visitor.send(bring)
        assert (late.status_code, "look once more" in text_of(late.text)) == (409, True)
        for nth in range(4):
            _chosen(visitor, form, f"{nth}.md", TODO, f"one-more-{nth}")
        gone = visitor.send(bring)  # only the newest are kept
        assert (gone.status_code, "choose it once more" in text_of(gone.text)) == (422, True)


def test_a_form_with_a_file_is_read_byte_for_byte() -> None:
    head = 'Content-Disposition: form-data; name="{}"'
    body = (
        f"--b\r\n{head.format('csrf')}\r\n\r\nto\r\nken\r\n"
        f'--b\r\n{head.format("file")}; filename="C:\\x\\Tö%22.md"\r\n'
        "Content-Type: text/plain\r\n\r\n- [ ] a\r\n\r\n--b2\r\n\r\n--b--\r\n"
    ).encode()
    assert boundary_of('multipart/form-data; boundary="b"') == "b"
    read = multipart_form(body, "b")
    assert read is not None
    assert read.fields == {"csrf": ["to\r\nken"]}
    assert read.file is not None
    assert read.file.name == 'Tö".md'
    cut_off = multipart_form(body[:60], "b")
    assert cut_off == MultipartForm({}, None)
    assert multipart_form(b"--b\r\n\r\n\r\n" * 200, "b") is None
    assert multipart_form(b"", "b") == MultipartForm({}, None)
    part = b'Content-Disposition: form-data; name="f"; filename="a"\r\n\r\n\0\r\n\xff'
    assert multipart_form(b"--c\r\n" + part + b"\r\n--c--", "c") == MultipartForm(
        {}, Upload("a", b"\0\r\n\xff")
    )


def test_a_day_of_a_chart_leads_to_its_wakes() -> None:
    counts = {date(2027, 1, 1): Counter(completed=2, failed=1), date(2027, 1, 3): Counter(failed=1)}
    chart = days(counts, ["completed", "failed"], "Wakes", "/wakes?template=a")
    leads = re.findall(r'<a href="([^"]*)" aria-label="([^"]*)"', chart)
    assert leads == [
        (
            "/wakes?template=a&amp;from=2027-01-01&amp;to=2027-01-01",
            "2027-01-01: 2 completed, 1 failed",
        ),
        ("/wakes?template=a&amp;from=2027-01-03&amp;to=2027-01-03", "2027-01-03: 1 failed"),
    ]
    words = re.findall("<text[^>]*>([^<]*)</text>", chart)
    assert words == ["wakes a day", "0", "1", "2", "3", "4", "1 Jan", "2 Jan", "3 Jan"]
    assert 'aria-label="Wakes: 4 from 2027-01-01 to 2027-01-03, at most 3 a day"' in chart


def test_fewer_than_three_days_are_one_strip() -> None:
    counts = {date(2027, 1, 1): Counter(completed=3), date(2027, 1, 2): Counter(failed=1)}
    strip = days(counts, ["completed", "failed"], "Wakes", "/wakes")
    assert re.findall('class="is-([a-z]+)" x="([0-9.]+)%".*?width="([0-9.]+)%"', strip) == [
        ("completed", "0.00", "75.00"),
        ("failed", "75.00", "25.00"),
    ]
    assert 'aria-label="Wakes: 4 from 2027-01-01 to 2027-01-02, at most 3 a day"' in strip
    assert "<text" not in strip


class Asked(Site):
    """A site at which somebody asks for a page whenever others may: how often."""

    count = 0

    def give_way(self, wait: Callable[[], None] = a_moment) -> None:
        def ask() -> None:
            with self.lock:
                self.catch_up()
                self.count += 1

        def meanwhile() -> None:
            with ThreadPoolExecutor(1) as other:
                other.submit(ask).result()
            wait()

        super().give_way(meanwhile)


def test_other_pages_go_on_while_all_is_read_for_the_first_search(tmp_path: Path) -> None:
    (tmp_path / "TODO.md").write_text(doors(LONG))
    done(["import", str(tmp_path / "TODO.md")], tmp_path)
    with closing(Asked(tmp_path, FIXED)) as site, site.lock:
        site.catch_up()
        found = show_search(site, FormRequest("/search", query={"q": "paint"}))
        assert found.document["next"]
        assert site.count


def came(is_so: Callable[[], bool]) -> bool:
    """Whether it is so within the time that a test has."""
    ends = time.monotonic() + SECONDS
    while not is_so() and time.monotonic() < ends:
        time.sleep(0.01)
    return is_so()


def test_stop_waits_for_no_page_that_is_being_made(tmp_path: Path) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def work(_: Home, come_to: HowFar) -> Job:
        begun.set()
        stopped.wait(SECONDS)
        come_to("", 1, 2)
        return Job("done")

    site = Site(tmp_path, FIXED)
    with closing(site), TestClient(make_app(site, Guard("127.0.0.1", 8765)), ORIGIN) as client:
        visitor = Visitor(client)
        site.jobs.begin("bringing", work, "key", of=2)
        stop = visitor.form("/first", "/stop/bringing")
        with ThreadPoolExecutor(1) as other:
            with site.lock:
                answer = other.submit(visitor.send, stop)
                is_stopped = came(lambda: site.jobs.bringing.error == STOPPED)
            stopped.set()
            assert is_stopped
            assert "Stopped." in text_of(answer.result().text)
        assert "Stopped." in text_of(visitor.send(stop).text)  # pressed twice, it is one


def doors(many: int) -> str:
    return "".join(f"- [ ] Paint door {nth}\n" for nth in range(many))


def bring(visitor: Visitor, many: int) -> Any:
    look = visitor.form("/first", "/first/look")
    shown = _chosen(visitor, look, "TODO.md", doors(many).encode())
    return visitor.send(visitor.form(f"/first?{shown.url.query.decode()}", "/first/bring"))


LONG_WORK: dict[str, tuple[int, str, Callable[[Visitor, int], Any], Callable[[Site], int]]] = {
    "bringing": (
        LONG,
        "Bringing tasks in",
        bring,
        lambda site: site.home.views.count(tasks.VIEW),
    ),
    "making": (
        120,
        "Making agents",
        lambda visitor, _: visitor.send(visitor.form("/first", "/first/agents"), model="rules"),
        lambda site: count_agents(site.home),
    ),
    "waking": (
        30,
        "Running what was queued",
        lambda visitor, _: visitor.send(visitor.form("/agents", "/wake")),
        lambda site: sum(bool(one.ended_at) for one in site.home.views.page(wakes.VIEW)),
    ),
}
"""Of each: how many, what the page says, the form that begins it, and how many are done."""


@pytest.mark.parametrize("name", LONG_WORK)
def test_long_work_goes_on_beside_the_pages_and_is_stopped_between_two_steps(
    tmp_path: Path, name: str
) -> None:
    many, says, begin, count = LONG_WORK[name]
    halfway, may_go_on = threading.Event(), threading.Event()

    def beat() -> None:
        known = getattr(jobs, name)
        if known.done and known.state == "running":  # who stops it beats, too, and does not wait
            halfway.set()
            may_go_on.wait(SECONDS)

    if name != "bringing":
        (tmp_path / "TODO.md").write_text(doors(many))
        done(["import", str(tmp_path / "TODO.md")], tmp_path)
    if name == "waking":
        done(["agent", "create", "--all", "--model", "rules"], tmp_path)
    site = Site(tmp_path, FIXED)
    jobs = site.jobs = Jobs(tmp_path, FIXED, "", 1, beat)
    with closing(site), TestClient(make_app(site, Guard("127.0.0.1", 8765)), ORIGIN) as client:
        visitor = Visitor(client)
        assert begin(visitor, many).status_code == 200
        assert halfway.wait(SECONDS)
        assert re.search(rf"{says} … \d+ of {many}\.", text_of(visitor.page("/first")))
        assert "Stopped." in visitor.send(visitor.form("/first", f"/stop/{name}")).text
        may_go_on.set()
        jobs.wait(SECONDS)
        assert getattr(jobs, name).error == "It was stopped."
        assert says not in text_of(visitor.page("/first"))
        assert 0 < count(site) < many
        begin(visitor, many)
        jobs.wait(SECONDS)
        visitor.page("/first")
        assert (getattr(jobs, name).state, count(site)) == ("done", many)
    proved(tmp_path)
