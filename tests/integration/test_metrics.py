"""Numbers of workers and pages as Prometheus reads them, and whether they live and are ready."""

import json
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.documents.schemas import schema_of
from adapters.home.prices import WHOLE
from adapters.telemetry import metrics
from adapters.telemetry.spans import NoSpans
from domain.ports import ModelFault, Reply, Usage
from tests.support import process
from tests.support.cli import refused
from tests.support.clusters import Cluster, cluster
from tests.support.postgres import database, server
from tests.support.process import until

pytestmark = pytest.mark.slow
BOARD = Path(__file__).parents[2] / "deploy/grafana.json"
SECONDS = 30
Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(scope="module")
def made() -> Iterator[Cluster]:
    with server() as address, database(address) as url, cluster(url) as found:
        found.make("anna", 2)
        yield found


def got(address: str, path: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(address + path, timeout=SECONDS) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


def scraped(address: str) -> Numbers:
    """All numbers, by their names and labels, as the parser of Prometheus' own client has them."""
    status, text = got(address, "/metrics")
    assert status == 200
    return samples(text)


def samples(text: bytes) -> Numbers:
    families = text_string_to_metric_families(text.decode())
    found = [one for family in families for one in family.samples]
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for one in found}


def serving(env: dict[str, str], folder: Path, *more: str) -> "subprocess.Popen[bytes]":
    """A page of a database; its addresses in `told`, what it says in `log`."""
    command = process.command("serve", "--database", "--port", "0", "--health", "0", *more)
    environ = process.environ(folder, env)
    with (folder / "told").open("wb") as told, (folder / "log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, env=environ, stdout=told, stderr=log)


def told_address(log: Path) -> str:
    """Where a process says that it tells how it is."""
    found = [""]

    def is_told() -> bool:
        found[0] = log.read_text()
        return "/ready" in found[0]

    until(is_told, SECONDS)
    return str(re.findall(r"(http://[^ \"]+)/ready", found[0])[-1])


def test_a_worker_s_numbers_are_scraped(made: Cluster) -> None:
    named = made.begin("--health", "0", "--metrics-names")
    made.until_ended("anna", 2)
    made.until_quiet()
    address = told_address(made.folder / "worker-1.log")
    numbers = scraped(address)
    outcome = ("home", "anna"), ("outcome", "completed")
    assert numbers["wakelog_wakes_total", outcome] == 2
    assert numbers["wakelog_wake_seconds_count", ()] == 2
    assert numbers["wakelog_model_seconds_count", (("model", "rules"),)] >= 2
    direction = ("direction", "in"), ("home", "anna"), ("model", "rules")
    assert numbers["wakelog_tokens_total", direction] >= 0
    assert numbers["wakelog_homes", (("state", "open"),)] == 1
    assert numbers["wakelog_homes", (("state", "due"),)] == 0
    assert numbers["wakelog_workers", ()] == 1
    assert numbers["wakelog_database_up", ()] == 1
    assert got(address, "/live")[0] == got(address, "/ready")[0] == 200
    lines = [json.loads(one) for one in made.log().splitlines()]
    assert {one["run_key"] for one in lines if one["event"] == "ended"} >= {
        lines[-1].get("run_key")
    }
    assert named.poll() is None
    made.stop()


def test_a_page_s_numbers_are_scraped_and_no_home_is_named(made: Cluster, tmp_path: Path) -> None:
    page = serving(made.environ(), tmp_path, "--json")
    address = told_address(tmp_path / "log")
    until(lambda: "http" in (tmp_path / "told").read_text(), SECONDS)
    here = (tmp_path / "told").read_text().split()[0].rstrip("/")
    assert got(here, "/h/anna/tasks?token=wrong")[0] == 401
    assert got(here, "/h/anna/tasks")[0] == 401
    numbers = scraped(address)
    assert numbers["wakelog_refusals_total", (("status", "401"),)] >= 1
    assert sum(n for (name, _), n in numbers.items() if name == "wakelog_requests_total") >= 2
    assert "anna" not in str(numbers)
    status, text = got(address, "/ready")
    jsonschema.validate(json.loads(text), schema_of("page-health") or {})
    assert (status, json.loads(text)["ok"]) == (200, True)
    assert all(json.loads(one) for one in (tmp_path / "log").read_text().splitlines())
    page.terminate()
    assert page.wait(SECONDS) == 0


def test_who_cannot_reach_the_database_lives_and_is_not_ready(tmp_path: Path) -> None:
    with server() as address, database(address) as url:
        env = {"WAKELOG_DATABASE": url, "XDG_CACHE_HOME": str(tmp_path)}
        page = serving(env, tmp_path)
        health = told_address(tmp_path / "log")
        assert got(health, "/ready")[0] == 200
        with psycopg.connect(url, autocommit=True) as line:
            line.execute("UPDATE wakelog.meta SET format = format + 1")
        assert got(health, "/ready")[0] == 200, "a page goes on while the database is upgraded"
        with psycopg.connect(f"{address}postgres", autocommit=True) as line:
            name = url.rpartition("/")[2]
            line.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            line.execute(ended, (name,))
        status, text = got(health, "/ready")
        assert (status, json.loads(text)["ok"]) == (503, False)
        assert got(health, "/live")[0] == 200
        page.terminate()
        page.wait(SECONDS)
        with psycopg.connect(f"{address}postgres", autocommit=True) as line:
            line.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())


def test_the_board_asks_for_numbers_that_there_are() -> None:
    """each name in the board is one that a worker or a page tells."""
    numbers = metrics.Numbers(dict)
    metrics.WakeNumbers(numbers, has_names=False)
    metrics.PageNumbers(numbers)
    there = {f"wakelog_{one}" for one in GAUGES}
    for family in numbers.registry.collect():
        there |= {family.name, f"{family.name}_total", f"{family.name}_bucket"}
    board = json.loads(BOARD.read_text("utf-8"))
    asked = set(
        re.findall(
            r"wakelog_\w+",
            " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"]),
        )
    )
    assert asked
    assert asked <= there


def test_tokens_and_money_are_counted_by_model_and_failed_answers_too() -> None:
    numbers = metrics.Numbers(dict)
    counted = metrics.WakeNumbers(numbers, has_names=False)
    spans = counted.around(NoSpans(), "anna", "EUR", lambda *_: 2 * WHOLE)
    asked: Any = SimpleNamespace(model="gemini:x")
    fault = ModelFault("429", "later", of_provider=True, usage=Usage(7, 0))
    with spans.chat(asked, asked, asked) as tell:
        tell(Reply(b"{}", "", (), Usage(100, 20, 3)))
    with pytest.raises(ModelFault), spans.chat(asked, asked, asked):
        raise fault
    found = samples(numbers.text())
    model = ("model", "gemini:x")
    assert found["wakelog_tokens_total", (("direction", "in"), model)] == 107
    assert found["wakelog_tokens_total", (("direction", "out"), model)] == 23
    assert found["wakelog_cost_total", (("currency", "EUR"), model)] == 4
    assert found["wakelog_model_faults_total", (("code", "429"), model)] == 1
    assert "anna" not in str(found)


GAUGES = (
    "homes", "oldest_due_seconds", "workers", "worker_homes", "stalled", "queue_jobs",
    "database_up", "pool_connections", "pool_waiting",
)  # fmt: skip


def test_there_are_no_numbers_without_a_port() -> None:
    assert "add --health PORT" in refused(["worker", "--metrics-names"], "-")
    assert "add --database" in refused(["serve", "--health", "1"], "-")
