"""A home whose model is named in settings.toml, from the consent to the machine without it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import places_of_key
from tests.support.cli import done, proved, refused, run, told
from tests.support.homes import Homes
from tests.support.openai_server import KEY, OpenAIServer, answer, call
from tests.support.pages import text_of, visiting
from tests.support.scripted_server import served
from tests.support.waking import agent

pytestmark = pytest.mark.slow

MODEL = "qwen3:8b"
REPORT = {"content": "All.", "tldr": "It is fine.", "oneLiner": "On track"}
ONE_WAKE = (
    answer(None, call("update_task_estimate", {"minutes": 60}, call_id="e1"), tokens=(1000, 20)),
    answer(None, call("update_report", REPORT, call_id="r1"), tokens=(1000, 20)),
    answer("Done.", tokens=(1000, 20)),
)
ENVIRON = {"MY_KEY": KEY}


def set_model(home: Path, url: str, more: str = "") -> None:
    """The settings of a home: a model that is named, and whatever else."""
    named = f'[models.local]\nbase_url = "{url}"\nmodel = "{MODEL}"\nkey = "env:MY_KEY"\n'
    (home / "settings.toml").write_text(f'model = "openai:local"\n{more}{named}', encoding="utf-8")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with served(OpenAIServer(ONE_WAKE * 4)) as one:
        yield one


@pytest.fixture
def home(tmp_path: Path, homes: Homes, server: OpenAIServer) -> Path:
    made = homes.copy(agent, tmp_path / "home")
    set_model(made, server.base_url)
    return made


def woken(home: Path, *options: str) -> Any:
    (shown,) = json.loads(run(["--json", *options, "wake"], home, env=ENVIRON).stdout)
    return shown


def test_nothing_is_sent_without_a_receipt_and_a_moved_host_needs_another(
    home: Path, server: OpenAIServer
) -> None:
    assert woken(home)["waits_for"] == "consent"
    assert server.sent == []
    given = told(["policy", "allow", "openai:local", "--yes"], home, env=ENVIRON)
    assert given["model"] == f"openai:{MODEL}@{server.base_url}"
    shown = woken(home)
    assert (shown["outcome"], shown["model"]) == ("completed", given["model"])
    assert {one.headers["authorization"] for one in server.sent} == {f"Bearer {KEY}"}
    assert len(server.sent) == len(ONE_WAKE)
    for url in (
        server.base_url.replace("127.0.0.1", "localhost"),
        server.base_url.replace("127.0.0.1", "LOCALHOST"),
        server.base_url.replace("127.0.0.1", "[::ffff:127.0.0.1]").replace("http:", "https:"),
        server.base_url.replace("http:", "https:"),
    ):
        set_model(home, url)
        (one,) = [x for x in told(["models"], home, env=ENVIRON) if x["name"] == "openai:local"]
        assert one["agreed"] == [], url
    set_model(home, server.base_url.replace("127.0.0.1", "localhost"))
    done(["task", "note", "Fix the sink", "Urgent!"], home)
    held = run(["--json", "wake", "Fix the sink"], home, env=ENVIRON)
    assert json.loads(held.stdout)["waits_for"] == "consent"
    assert len(server.sent) == len(ONE_WAKE), "nothing went to the other name of this machine"
    proved(home)


def test_doctor_finds_a_model_in_use_that_cannot_be_asked(home: Path) -> None:
    assert "models:" not in done(["doctor"], home, env=ENVIRON)
    result = run(["doctor"], home, env={"MY_KEY": ""})
    assert result.exit_code == 1
    assert "FIND  models: the model openai:qwen3:8b@" in result.stdout
    assert "MY_KEY is not set; set it where wakelog is started" in result.stdout
    assert "ok    models:" in done(["--model", "rules", "doctor"], home, env={"MY_KEY": ""})


def test_a_receipt_of_a_named_model_is_withdrawn_and_ruled_by_that_name(
    home: Path, server: OpenAIServer
) -> None:
    done(["policy", "allow", "openai:local", "--yes"], home)
    ruled = told(["policy", "models", "--every", "openai:local"], home)
    assert ruled["allowed"] == [f"openai:{MODEL}@{server.base_url}"]
    assert woken(home)["outcome"] == "completed"
    assert "Withdrawn" in done(["policy", "withdraw", "openai:local"], home)
    assert told(["policy", "show"], home)["receipts"] == []


def test_costs_and_budgets_know_the_model_by_the_name_that_the_person_gave(
    home: Path, server: OpenAIServer
) -> None:
    done(["policy", "allow", "openai:local", "--yes"], home)
    limited = "[budget]\ncost_per_day = 100\n"
    set_model(home, server.base_url, limited)
    assert "no price of the model openai:qwen3:8b@" in refused(["wake", "Fix the sink"], home,
                                                              env=ENVIRON)  # fmt: skip
    priced = f'{limited}[prices."openai:local"]\ninput = 1\noutput = 10\n'
    set_model(home, server.base_url, priced)
    shown = woken(home)
    usage = told(["show", shown["run_key"]], home, env=ENVIRON)["usage"]
    assert usage["cost"] == pytest.approx(0.0036)
    counted = told(["sql", "SELECT sum(cost) AS cost FROM wakes"], home, env=ENVIRON)
    assert counted[0]["cost"] == pytest.approx(0.0036)


def test_a_wake_is_proved_replayed_and_forked_where_nobody_knows_the_endpoint(
    home: Path, server: OpenAIServer, tmp_path: Path
) -> None:
    done(["policy", "allow", "openai:local", "--yes"], home)
    run_key = woken(home)["run_key"]
    other = tmp_path / "other"
    shutil.copytree(home, other)
    (other / "settings.toml").write_text("", encoding="utf-8")
    asked = len(server.sent)
    assert proved(other) == proved(home)
    done(["replay", run_key], other)
    done(["fork", run_key, "--note", "Fix the sink", "Now it leaks."], other)  # `rules` answers
    line = refused(["fork", run_key, "--model", "openai:local"], other)
    assert "names no address" in line
    done(["agent", "set", "Fix the sink", "--model", "openai:local"], other)
    done(["task", "note", "Fix the sink", "Urgent!"], other)
    assert "names no address" in run(["wake", "Fix the sink"], other).output
    (one,) = [x for x in told(["models"], other) if x["named_by"] == ["agent"]]
    assert "[models.NAME]" in one["problem"]
    proved(other)
    assert len(server.sent) == asked
    assert places_of_key(home, KEY) == places_of_key(other, KEY) == []


def test_page_and_command_line_choose_the_same_model_at_once(
    home: Path, server: OpenAIServer
) -> None:
    with visiting(home, env=ENVIRON) as visitor:
        page = visitor.page("/templates")
        assert '<option value="openai:local">' in page
        form = visitor.form("/templates", "/templates")
        made = visitor.send(form, name="Calm", general="Be calm.", report="", model="openai:local")
        assert made.status_code == 200, text_of(made.text)
        wrong = visitor.send(
            form, name="Odd", general="x", report="", model="openai:m@https://u:p@h"
        )
        assert "holds a name, password" in text_of(wrong.text)
        agree = visitor.form("/policy", "/policy/allow")
        told_of = visitor.send(agree, model="openai:local")
        assert f"Agreed to: openai:{MODEL}@{server.base_url}" in text_of(told_of.text)
        done(["template", "assign", "Fix the sink", "Calm"], home)
        assert woken(home)["outcome"] == "completed"
        assert server.base_url in text_of(visitor.page("/policy"))
        (wake,) = told(["wakes"], home)
        assert wake["model"] in text_of(visitor.page(f"/wakes/{wake['run_key']}"))
    assert told(["template", "list"], home)[0]["model"] == "openai:local"
    proved(home)
