"""`wakelog policy`, and what the commands say that would send before anybody agreed."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.policy.flow import ALLOWED
from domain.policy.gate import notice, sections_of
from domain.scaffold import SCAFFOLD
from tests.support.cli import done, proved, refused, run, told
from tests.support.gemini import environment
from tests.support.gemini_server import KEY, SIGNATURE, answer, call, serving, text
from tests.support.homes import Homes
from tests.support.waking import agent

HAS_KEY = {"GEMINI_API_KEY": KEY}
GEMINI = ["--model", "gemini"]
ALLOW = "wakelog policy allow 'gemini:*' --category Work"
REPORT = call(
    "update_report",
    {"content": "Fine.", "tldr": "Fine.", "oneLiner": "Fine"},
    call_id="c1",
    signature=SIGNATURE,
)
SAID = (answer(REPORT), answer(text("Done.")))


def two_categories(home: Path) -> None:
    """An agent for a task of Work, whose creation wake is queued, and another category."""
    for name in ("Work", "Health"):
        done(["category", "add", name], home)
    agent(home)
    done(["task", "set", "Fix the sink", "--category", "Work"], home)
    done(["agent", "set", "Fix the sink", "--category", "Work"], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(two_categories, tmp_path / "home")


def standing(home: Path) -> Any:
    return told(["policy", "show"], home)


def receipts(home: Path) -> list[tuple[str, str]]:
    return [(one["model"], one["category"]) for one in standing(home)["receipts"]]


def test_an_empty_policy_says_what_that_means_and_how_to_begin(tmp_path: Path) -> None:
    shown = done(["policy", "show"], tmp_path / "home")
    assert shown.startswith("Nothing leaves this machine")
    assert "`wakelog policy allow gemini`" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_show_prints_what_may_be_read_across_each_boundary(tmp_path: Path) -> None:
    home = tmp_path / "home"
    table = {one: sorted(names) for one, names in ALLOWED[SCAFFOLD].items()}
    assert {one["boundary"]: one["fields"] for one in standing(home)["boundaries"]} == table
    _, _, shown = done(["policy", "show"], home).partition("What may be read at all\n")
    for boundary, names in table.items():
        head, told = shown.split(f"  {boundary}: into ")[1].split("\n", 1)
        assert head
        assert " ".join(told.split()).startswith(", ".join(names))


def test_to_type_allow_is_to_agree_to_the_notice_that_is_printed(home: Path) -> None:
    result = run(["policy", "allow", "gemini", "--category", "work"], home)
    assert result.exit_code == 0
    text = notice("gemini:*", ["Work"], sections_of())
    assert result.stderr.split() == text.split()
    assert result.stdout == "Agreed to: gemini:* for Work\n"
    assert receipts(home) == [("gemini:*", "Work")]
    again = done(["policy", "allow", "gemini", "--category", "Work"], home)
    assert again == "Agreed to already: gemini:* for Work\n"
    assert "gemini:* for Work" in done(["policy", "show"], home)
    proved(home)


def test_a_rule_names_the_models_of_a_category_until_it_is_lifted(home: Path) -> None:
    assert done(["policy", "models", "Work"], home) == "Work: any model that you agreed to\n"
    assert done(["policy", "models", "Work", "rules"], home) == "Work: only rules\n"
    assert done(["policy", "models", "work"], home) == "Work: only rules\n"
    assert "  Work: only rules" in done(["policy", "show"], home)
    done(["policy", "models", "Work", "--any"], home)
    every = told(["policy", "models", "--every", "rules", "gemini:*"], home)
    assert (every["category"], every["allowed"]) == (None, ["rules", "gemini:*"])
    assert [one["category"] for one in standing(home)["rules"]] == [None]
    done(["policy", "models", "--every", "--any"], home)
    assert standing(home)["rules"] == []


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["allow", "rules"], "it needs no receipt: just use it [invalid_value]"),
        (["allow", "gemini", "--category", "Nowhere"], "unknown_category"),
        (["allow", "g*mini"], "invalid_value"),
        (["allow", ""], "invalid_value"),
        (["withdraw", "gemini", "--category", "Nowhere"], "unknown_category"),
        (["models"], "invalid_value"),
        (["models", "Nowhere"], "unknown_category"),
        (["models", "Work", "rules", "--any"], "invalid_value"),
        (["try", "Nothing"], "unknown_agent"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(home: Path, args: list[str], code: str) -> None:
    before = proved(home)
    assert code in refused(["policy", *args], home)
    assert proved(home) == before


def test_try_prints_what_the_model_is_sent_then_and_writes_nothing(home: Path) -> None:
    done(["policy", "allow", "gemini"], home)
    before = proved(home)
    with serving(*SAID) as server:
        env = environment(server)
        shown = run([*GEMINI, "policy", "try", "Fix the sink"], home, env=env)
        tried = told([*GEMINI, "policy", "try", "Fix the sink"], home, env=env)
        assert (shown.exit_code, server.sent, proved(home)) == (0, [], before)
        done([*GEMINI, "wake"], home, env=env)
    run_key = told(["wakes"], home)[0]["run_key"]
    asked = told(["at", run_key, "--prompt"], home)
    parts = ("model", "system", "user", "tools")
    assert [tried[one] for one in parts] == [asked[one] for one in parts]
    texts, _, tools = shown.stdout.rpartition("\n\n")
    assert texts == done(["at", run_key, "--prompt"], home)
    assert json.loads(tools) == asked["tools"]
    body = server.sent[0].body
    heard = "\n".join(part["text"] for one in body["contents"] for part in one["parts"])
    assert all(one["text"] in heard for one in tried["user"])
    assert (tried["leaves"], tried["refused"], tried["secrets_replaced"]) == (True, None, 0)
    assert "This would go to gemini:" in shown.stderr


def test_try_says_where_the_gate_is_closed_and_what_stays_here(home: Path) -> None:
    held = run([*GEMINI, "policy", "try", "Fix the sink"], home, env=HAS_KEY)
    assert "nobody has agreed yet" in held.stderr
    here = told(["policy", "try", "Fix the sink"], home)
    assert (here["model"], here["leaves"], here["refused"]) == ("rules", False, None)


@pytest.mark.parametrize(
    "args",
    [
        ["wake"],
        ["wake", "Fix the sink"],
        ["agent", "ask", "Fix the sink", "What is left?"],
        ["--json", "wake", "Fix the sink"],
        ["run", "--until-idle"],
        ["--json", "run", "--until-idle"],
    ],
)
def test_where_nobody_can_be_asked_the_wake_waits_and_the_command_is_named(
    home: Path, args: list[str]
) -> None:
    with serving() as server:
        result = run([*GEMINI, *args], home, env=environment(server))
    status = 0 if "run" in args else 3  # `run` ends as it should: nothing is left that may run
    assert (result.exit_code, server.sent) == (status, []), result.output
    assert ALLOW in result.stderr
    assert "9999" not in result.stdout
    (waiting,) = standing(home)["waiting"]
    assert (waiting["waits_for"], waiting["agent"]) == ("consent", "Fix the sink")
    proved(home)


def test_what_waits_is_told_everywhere_and_goes_on_once_it_is_allowed(home: Path) -> None:
    with serving(*SAID) as server:
        env = environment(server)
        run([*GEMINI, "wake"], home, env=env)
        again = run([*GEMINI, "wake"], home, env=env)
        assert again.stdout == "Nothing may run now: what is queued waits for you.\n"
        assert ALLOW in again.stderr
        status = done([*GEMINI, "status"], home, env=env)
        assert "waits until you agree to what its model is sent" in status
        assert ALLOW in status
        shown = done([*GEMINI, "policy", "show"], home, env=env)
        assert f"    {ALLOW.removesuffix(' --category Work')}" in shown
        given = run([*GEMINI, "policy", "allow", "gemini"], home, env=env)
        assert "1 wake may go on" in given.stderr
        assert server.sent == []
        done([*GEMINI, "wake"], home, env=env)
    assert told(["wakes"], home)[0]["outcome"] == "completed"
    assert standing(home)["waiting"] == []
    assert [one["code"] for one in standing(home)["refusals"]] == ["consent"]
    proved(home)


def test_a_service_agrees_with_allow_sending_as_by_policy_allow(home: Path) -> None:
    with serving(*SAID) as server:
        env = environment(server)
        result = run([*GEMINI, "run", "--until-idle", "--allow-sending"], home, env=env)
    assert (result.exit_code, len(server.sent)) == (0, 2), result.output
    assert "agreed to what gemini:* is sent" in result.stderr
    assert {("gemini:*", "Work"), ("gemini:*", "Health")} <= set(receipts(home))
    proved(home)


def test_allow_sending_agrees_to_nothing_where_all_models_answer_here(home: Path) -> None:
    done(["run", "--until-idle", "--allow-sending"], home)
    assert receipts(home) == []


def test_who_gives_an_agent_another_model_is_told_what_opens_the_gate(home: Path) -> None:
    sets = ["agent", "set", "Fix the sink", "--model", "gemini"]
    assert ALLOW in run(sets, home, env=HAS_KEY).stderr
    done(["agent", "set", "Fix the sink", "--model", "rules"], home)
    done(["template", "create", "Far", "--general", "Be."], home)
    assert run(["template", "assign", "Fix the sink", "Far"], home).stderr == ""
    version = ["template", "version", "Far", "--model", "gemini"]
    assert ALLOW in run(version, home, env=HAS_KEY).stderr
    done(["policy", "allow", "gemini"], home)
    assert ALLOW not in run(version, home, env=HAS_KEY).stderr
