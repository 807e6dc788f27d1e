"""The page in a process of its own, or beside the engine: it says where it is, answers, and ends
on Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import pytest

from tests.support.cli import refused
from tests.support.consents import agreed
from tests.support.forms import forms
from tests.support.gemini import environment
from tests.support.gemini_server import SIGNATURE, answer, call, serving, text
from tests.support.process import NOTHING, begun, did, lines, ran, read, until

pytestmark = pytest.mark.e2e


def started(
    home: Path, *options: str, more: Mapping[str, str] = NOTHING
) -> tuple[subprocess.Popen[str], str]:
    """A server on a free port, and the address that it printed."""
    command = [sys.executable, "-m", "adapters.cli.main", "--home", str(home), "serve"]
    process = subprocess.Popen(
        [*command, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **more},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> str:
    """End it as a person does; what it said on stderr."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return str(said)


def asked(address: str, **headers: str) -> str:
    """The inbox of an address, which may be one with a token."""
    request = urllib.request.Request(address, headers=headers)
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with visitor.open(request, timeout=30) as answer:
        return str(answer.read().decode())


def is_refused(address: str) -> bool:
    with pytest.raises(urllib.error.HTTPError, match="401") as error:
        urllib.request.urlopen(address, timeout=30)
    error.value.close()
    return True


def test_it_serves_this_machine_and_ends_when_told_though_a_page_is_open(tmp_path: Path) -> None:
    process, address = started(tmp_path)
    assert address.startswith("http://127.0.0.1:")
    assert "Nothing to review" in asked(f"{address}inbox")
    port = address.rstrip("/").rpartition(":")[2]
    for command in (["serve"], ["run", "--serve", "--until-idle"]):
        assert "cannot be listened on" in refused([*command, "--port", port], tmp_path)
    with urllib.request.urlopen(f"{address}events", timeout=30) as stream:
        assert b"retry" in stream.readline()
        said = ended(process)
    assert "Ctrl-C ends it" in said
    assert "Traceback" not in said
    assert "exceeded" not in said
    assert process.returncode == 0


def test_what_cannot_be_served_is_one_line(tmp_path: Path) -> None:
    short = {"WAKELOG_SERVE_TOKEN": "short"}
    assert "shorter than" in refused(["serve", "--host", "0.0.0.0"], tmp_path, env=short)
    assert "add --serve" in refused(["run", "--port", "9000"], tmp_path)
    assert "add --serve" in refused(["run", "--token"], tmp_path)


def test_another_address_prints_a_token_and_asks_for_it(tmp_path: Path) -> None:
    process, address = started(tmp_path, "--host", "0.0.0.0")
    assert "0.0.0.0" not in address  # nobody reaches that
    bare, _, token = address.partition("?token=")
    assert len(token) >= 32
    assert is_refused(f"{bare}inbox")
    assert token not in asked(f"{bare}inbox", Authorization=f"Bearer {token}")
    assert token not in ended(process)


def test_the_accounts_of_this_machine_are_asked_where_that_is_wanted(tmp_path: Path) -> None:
    process, address = started(tmp_path, "--token")
    bare, _, token = address.partition("?token=")
    assert bare.startswith("http://127.0.0.1:")
    assert len(bytes.fromhex(token)) >= 16
    assert is_refused(f"{bare}inbox")
    assert "Nothing to review" in asked(address)
    assert "token of this address" in ended(process)


def test_the_token_may_be_your_own_and_troubles_no_other_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "an own token of some length"
    monkeypatch.setenv("WAKELOG_SERVE_TOKEN", own)
    ran(tmp_path, "task", "add", "Fix the sink")
    process, address = started(tmp_path, "--host", "0.0.0.0")
    bare, _, token = address.partition("?token=")
    assert token == "an%20own%20token%20of%20some%20length"
    assert asked(f"{bare}inbox", Authorization=f"Bearer {own}")
    ended(process)


def send(address: str, page: str, action: str) -> int:
    """Send the form of a page as a browser without JavaScript does; the status of the answer."""
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with visitor.open(f"{address}{page}", timeout=30) as answer:
        form = next(one for one in forms(answer.read().decode()) if one.action == action)
    body = urlencode(form.fields).encode()
    asked = urllib.request.Request(f"{address}{action[1:]}", body, {"Origin": address.rstrip("/")})
    with visitor.open(asked, timeout=30) as answer:
        return int(answer.status)


def test_the_engine_serves_the_page_and_runs_once_what_is_asked_for_there(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "run.log"
    did(home, "task", "add", "Fix the sink")
    did(home, "agent", "create", "--all")
    did(home, "wake")
    (agent,) = read(home, "agent", "list")
    url = f"/agents/{agent['id']}"
    runtime = begun(home, "--json", "run", "--serve", "--port", "0", log=log)
    try:
        until(lambda: log.exists() and "started" in log.read_text())
        (address,) = [one["address"] for one in lines(log) if one["event"] == "serving"]
        assert send(address, url[1:], f"{url}/wake") == 200
        until(lambda: [one for one in read(home, "wakes") if one["reason"] == "manual"])
        until(lambda: read(home, "wakes")[0]["outcome"] == "completed")
        stream = urllib.request.urlopen(f"{address}events", timeout=30)
    finally:
        runtime.send_signal(signal.SIGINT)
        status = runtime.wait(30)
    stream.close()
    assert status == 0
    told = [one["event"] for one in lines(log)]  # each of them JSON: nothing else was said
    assert (told.count("waking"), told.count("ended"), told[-1]) == (1, 1, "stopped")
    assert len(read(home, "wakes")) == 2
    assert did(home, "prove").startswith("Proved")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=2)


# ------------------------------------------------------------------------------- how it ends

SLOW = """CREATE OR REPLACE VIEW template_performance AS
SELECT count(*) AS template_id FROM range(1_000_000_000_000) one(x), range(1_000) two(y)
WHERE x * y % 7 = 3"""
END_SECONDS = 8  # it is one; a machine that is busy gets more


def slowed(home: Path) -> Path:
    """A home whose figures take for ever to be counted: its analytics ask too much."""
    did(home, "task", "add", "Fix the sink")
    did(home, "agent", "create", "--all")
    did(home, "wake")
    did(home, "metrics")
    with duckdb.connect(home / "analytics.duckdb") as analytics:
        analytics.execute(SLOW)
    return home


def is_counting(address: str) -> bool:
    with urllib.request.urlopen(f"{address}templates.json", timeout=20) as answer:
        return bool(json.load(answer)["figures"]["is_counting"])


def test_a_query_that_takes_for_ever_does_not_hold_the_end_up(tmp_path: Path) -> None:
    """By the signal that ends a service; the one of Ctrl-C is sent beside the engine."""
    process, address = started(slowed(tmp_path / "home"))
    assert is_counting(address)
    begun_at = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - begun_at < END_SECONDS
    assert (process.returncode, "Traceback" in said) == (0, False), said
    assert list((tmp_path / "home").glob(".analytics*")) == []


def test_a_query_of_the_page_beside_the_engine_does_not_hold_the_end_up(tmp_path: Path) -> None:
    home, log = slowed(tmp_path / "home"), tmp_path / "run.log"
    runtime = begun(home, "--json", "run", "--serve", "--port", "0", log=log)
    until(lambda: log.exists() and "started" in log.read_text())
    (address,) = [one["address"] for one in lines(log) if one["event"] == "serving"]
    assert is_counting(address)
    begun_at = time.monotonic()
    runtime.send_signal(signal.SIGINT)
    assert runtime.wait(60) == 0
    assert time.monotonic() - begun_at < END_SECONDS
    assert [one["event"] for one in lines(log)][-1] == "stopped"


def test_a_wake_that_waits_for_its_model_is_left_for_the_next_process(tmp_path: Path) -> None:
    home = tmp_path / "home"
    did(home, "task", "add", "Fix the sink")
    did(home, "agent", "create", "--all")
    did(home, "wake")
    agreed(home, environ={})
    (agent,) = read(home, "agent", "list")
    url = f"/agents/{agent['id']}"
    report = {"content": "All.", "tldr": "It is fine.", "oneLiner": "On track"}
    said = answer(call("update_report", report, signature=SIGNATURE))
    with serving(said._replace(seconds=60.0), said, answer(text("Done."))) as model:
        more = {**environment(model), "NO_PROXY": "127.0.0.1", "WAKELOG_MODEL": "gemini"}
        more["PYTHON_KEYRING_BACKEND"] = "x"
        process, address = started(home, more=more)
        assert send(address, url[1:], f"{url}/wake") == 200
        until(lambda: model.sent)
        begun_at = time.monotonic()
        told = ended(process)
        assert time.monotonic() - begun_at < END_SECONDS
        assert (process.returncode, "Traceback" in told) == (0, False), told
        ran(home, "run", "--until-idle", more=more)
    assert [one["outcome"] for one in read(home, "wakes")] == ["completed"] * 2
    assert did(home, "prove").startswith("Proved")
