"""Spans switched on in a home: what a collector is sent, and what is told where there is none."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.receivers import Receiver, receiver
from tests.support.waking import agent

ON = "[otel]\nenabled = true\n"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def collector() -> Iterator[Receiver]:
    """It keeps what it is sent over OTLP and HTTP."""
    with receiver(200) as server:
        yield server


def names_at(collector: Receiver) -> list[str]:
    """The names of all spans, each behind the service's."""
    found = []
    for one in collector.posted:
        for group in ExportTraceServiceRequest.FromString(one.body).resource_spans:
            service = {one.key: one.value.string_value for one in group.resource.attributes}
            spans = (span for scope in group.scope_spans for span in scope.spans)
            found += [f"{service['service.name']}: {span.name}" for span in spans]
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SERVICE_NAME", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    agent(tmp_path / "home")
    return tmp_path / "home"


def switch_on(home: Path) -> None:
    (home / "settings.toml").write_text(ON, encoding="utf-8")


def test_a_collector_is_sent_wakes_and_verdicts(home: Path, collector: Receiver) -> None:
    switch_on(home)
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    done(["wake"], home, env=env)
    done(["confirm", "1.1"], home, env=env)
    assert {one.path for one in collector.posted} == {"/v1/traces"}
    names = names_at(collector)
    assert "wakelog: invoke_agent" in names
    assert "wakelog: chat rules" in names
    assert names[-1] == "wakelog: wakelog.verdict confirm"
    assert not any(b"sink" in one.body for one in collector.posted)
    assert proved(home)


def test_it_is_off_unless_the_home_says_so(home: Path, collector: Receiver) -> None:
    done(["wake"], home, env={"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})
    assert collector.posted == []


def test_the_standard_variables_are_obeyed(home: Path, collector: Receiver) -> None:
    switch_on(home)
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    done(["wake"], home, env={**env, "OTEL_SDK_DISABLED": "true"})
    assert collector.posted == []
    done(["confirm", "1.1"], home, env={**env, "OTEL_SERVICE_NAME": "mine"})
    assert names_at(collector)[-1] == "mine: wakelog.verdict confirm"


def test_a_collector_that_is_not_there_changes_nothing(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    switch_on(home)
    agent(other := tmp_path / "other")
    done(["wake"], home, env={"OTEL_EXPORTER_OTLP_ENDPOINT": NOWHERE})
    done(["wake"], other)
    assert told(["prove"], home)["digest"] == told(["prove"], other)["digest"]
    ours = [one.getMessage() for one in caplog.records if one.name == "adapters.telemetry.otel"]
    assert ours == ["spans were not sent: no answer in 2 seconds"]


def test_a_mistake_in_a_variable_is_told_and_hurts_no_wake(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    switch_on(home)
    done(["wake"], home, env={"OTEL_BSP_MAX_QUEUE_SIZE": "-1"})
    assert "spans are not sent: ValueError: max_queue_size" in caplog.text
    assert told(["wakes"], home)[0]["outcome"] == "completed"


def test_without_the_packages_what_writes_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch_on(home)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    line = refused(["wake"], home)
    assert "pip install 'wakelog[otel]'" in line
    assert line.endswith("[missing_extra]")


LOADED = """
import atexit, sys
atexit.register(lambda: sys.stderr.write(f"loaded: {'opentelemetry.sdk' in sys.modules}"))
from adapters.cli.main import main
main()
"""


@pytest.mark.parametrize(
    ("is_on", "command", "is_loaded"),
    [
        (False, "wake", False),
        (True, "wake", True),
        (True, "inbox", False),
    ],
)
def test_it_is_loaded_where_effects_are_traced_and_nowhere_else(
    home: Path, is_on: bool, command: str, is_loaded: bool
) -> None:
    if is_on:
        switch_on(home)
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, "--home", str(home), command],
        env={**FIXED, "PYTHONPATH": str(root), "OTEL_EXPORTER_OTLP_ENDPOINT": NOWHERE},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert f"loaded: {is_loaded}" in ran.stderr
    assert len(ran.stderr.splitlines()) <= 5, ran.stderr  # a line for the trouble, no traceback


def test_a_runtime_tells_of_it_in_a_line_of_its_log(home: Path) -> None:
    switch_on(home)
    env = {"OTEL_BSP_MAX_QUEUE_SIZE": "-1"}
    ran = run(["--json", "run", "--until-idle"], home, env=env)
    told_of = [json.loads(line) for line in ran.stderr.splitlines()]
    (trouble,) = [one for one in told_of if one["event"] == "trouble"]
    assert (trouble["level"], "max_queue_size" in trouble["message"]) == ("warning", True)
    assert json.loads(ran.stdout)["wakes"] == 1
