"""What a person agrees to, withdraws and rules, and what is told of what waits for it."""

import json
from itertools import product
from pathlib import Path

import pytest

from adapters.upkeep.doctor import examine
from adapters.usecases import policy
from adapters.wiring import Home, open_home
from domain.errors import Refused
from domain.policy.gate import NOTICE_VERSION
from tests.support.cli import FIXED, done, proved, run, told, waits
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import SIGNATURE, answer, call, serving, text
from tests.support.waking import agent

REPORT = {"content": "All.", "tldr": "It is fine.", "oneLiner": "On track"}
COMMAND = "wakelog policy allow 'gemini:*' --category Inbox"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    agent(tmp_path / "home")
    return tmp_path / "home"


def opened(home: Path, **more: str) -> Home:
    return open_home(home, {**FIXED, **more}, model="gemini", is_writing=True)


def test_a_home_made_before_waits_for_one_agreement_and_then_wakes(home: Path) -> None:
    script = answer(call("update_report", REPORT, signature=SIGNATURE)), answer(text("Done."))
    with serving(*script) as server:
        env = environment(server)
        (page,) = waits(["--model", "gemini", "wake"], home, env=env)
        assert (page["state"], page["waits_for"], page["waits_until"]) == (
            "waiting",
            "consent",
            None,
        )
        assert server.sent == []
        with opened(home, **env) as one:
            came = policy.allow(one, "gemini", ["inbox"])
            assert (came.model, came.categories, came.changed) == ("gemini:*", ["Inbox"], True)
            assert came.resumed == 1
            assert policy.allow(one, "gemini:*").changed is False
        (page,) = told(["--model", "gemini", "wake"], home, env=env)
    assert (page["outcome"], len(server.sent)) == ("completed", 2)
    assert proved(home)


def test_status_why_doctor_and_wake_say_what_opens_the_gate(home: Path) -> None:
    gemini = ["--model", "gemini"]
    env = {"GEMINI_API_KEY": "k" * 40}
    assert "waits until you agree" in run([*gemini, "wake"], home, env=env).stdout
    assert COMMAND in done([*gemini, "status"], home, env=env)
    (held,) = told([*gemini, "status"], home, env=env)["held"]
    assert (held["command"], held["waits_for"]) == (COMMAND, "consent")
    assert COMMAND in run([*gemini, "why", "Fix the sink"], home, env=env).stderr
    assert told(["why", "Fix the sink"], home)[0]["rule"] == "consent"
    found = [one for one in examine(home, {**FIXED, **env}, "gemini") if one.check == "policy"]
    assert [(one.is_ok, COMMAND in one.do) for one in found] == [(False, True)]
    again = run([*gemini, "wake"], home, env=env)
    assert "waits until you agree" in again.stderr, "and it is not tried again"
    (run_key,) = (one["run_key"] for one in told(["wakes"], home))
    assert "waits until you agree" in done(["show", run_key], home)


def test_what_is_needed_is_said_once_for_each_provider(home: Path) -> None:
    agent(home, "Paint the door")
    with opened(home) as one:
        ids = [held["id"] for held in json.loads(run(["--json", "agent", "list"], home).stdout)]
        (needed,) = policy.needed(one, ids)
        assert (needed.model, needed.categories, needed.command) == ("gemini:*", ["Inbox"], COMMAND)
        assert needed.agent_ids == policy.sending(one) == ids
        assert "every model of gemini" in needed.text
        assert needed.text == policy.notice_text(one, "gemini", ["Inbox"])
        policy.allow(one, "gemini")
        assert policy.needed(one, ids) == []
    with open_home(home, FIXED, is_writing=True) as offline:
        assert (policy.needed(offline, ids), policy.sending(offline)) == ([], [])


def test_an_agent_sends_whose_template_asks_elsewhere(home: Path) -> None:
    other = agent(home, "Paint the door")
    far = ["--general", "a", "--report", "b", "--model", "gemini"]
    done(["template", "create", "Far", *far], home)
    done(["template", "assign", "Paint the door", "Far"], home)
    with open_home(home, FIXED, is_writing=True) as one:
        assert policy.sending(one) == [other]


def test_what_stands_is_told_and_what_is_withdrawn_does_not(home: Path) -> None:
    with opened(home) as one:
        policy.allow(one, "gemini:pro", key="once")
        assert policy.allow(one, "gemini:pro", key="once").changed is False
        assert policy.rule(one, "Inbox", ["gemini", "rules"]).allowed == ["gemini:*", "rules"]
        assert policy.rule(one, "", ["gemini:pro"]).category is None
        known = policy.standing(one)
        assert [(r.model, r.category, r.current) for r in known.receipts] == [
            ("gemini:pro", "Inbox", True)
        ]
        assert [(r.category, r.allowed) for r in known.rules] == [
            (None, ["gemini:pro"]),
            ("Inbox", ["gemini:*", "rules"]),
        ]
        assert policy.withdraw(one, "gemini").changed is True
        assert policy.withdraw(one, "gemini").changed is False
        assert policy.standing(one).receipts == []


def test_a_model_that_is_ruled_out_is_told_among_the_refusals(home: Path) -> None:
    env = {"GEMINI_API_KEY": "k" * 40}
    with opened(home, **env) as one:
        policy.allow(one, "gemini")
        policy.rule(one, "Inbox", ["rules"])
    done(["--model", "gemini", "wake"], home, env=env)
    with opened(home) as one:
        assert policy.waiting(one) == []
        assert [r.code for r in policy.standing(one).refusals] == ["disallowed_provider_model"]
    assert told(["why", "Fix the sink"], home)[0]["rule"] == "disallowed_provider_model"
    assert proved(home)


def test_what_cannot_be_agreed_to_is_said(home: Path) -> None:
    bad = [(one, (), "invalid_value") for one in ("rules", "tape:a", "a*b", "")]
    asked = (("gemini", ("Nowhere",), "unknown_category"), *bad)
    with opened(home) as one:
        for (model, categories, code), deed in product(asked, (policy.allow, policy.withdraw)):
            with pytest.raises(Refused) as refused:
                deed(one, model, [*categories])
            assert refused.value.code == code, model


def test_a_missing_key_is_waited_for_and_found_by_the_next_process(home: Path) -> None:
    with opened(home) as one:
        policy.allow(one, "gemini")
    off = {"GEMINI_API_KEY": "", "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    assert "waits until the key" in run(["--model", "gemini", "wake"], home, env=off).stdout
    assert "waits until the key" in done(["--model", "gemini", "status"], home, env=off)
    script = answer(call("update_report", REPORT, signature=SIGNATURE)), answer(text("Done."))
    with serving(*script) as server:
        (page,) = told(["--model", "gemini", "wake"], home, env=environment(server))
    assert (page["outcome"], len(server.sent)) == ("completed", 2)
    assert proved(home)


def test_sql_tells_when_what_was_agreed_to(home: Path) -> None:
    with opened(home) as one:
        policy.allow(one, "gemini")
        policy.withdraw(one, "gemini:pro")
        assert policy.standing(one).receipts == []
    rows = told(["sql", "SELECT what, model, categories, notice FROM receipts ORDER BY n"], home)
    assert [(row["what"], row["model"], row["notice"]) for row in rows] == [
        ("given", "gemini:*", NOTICE_VERSION),
        ("withdrawn", "gemini:pro", None),
    ]
    assert [len(row["categories"]) for row in rows] == [1, 0]


def test_a_fork_sends_only_what_is_agreed_to_today(home: Path, tmp_path: Path) -> None:
    done(["wake"], home)
    (run_key,) = (one["run_key"] for one in told(["wakes"], home))
    script = answer(call("update_report", REPORT, signature=SIGNATURE)), answer(text("Done."))
    with serving(*script) as server:
        env = environment(server)
        fork = ["fork", run_key, "--model", "gemini", "--out", str(tmp_path / "fork")]
        result = run(fork, home, env=env)
        assert (result.exit_code, server.sent) == (2, []), result.output
        assert "wakelog policy allow gemini:*" in result.stderr
        agreed(home)
        done(fork, home, env=env)
        assert len(server.sent) == 2
    assert proved(tmp_path / "fork")
