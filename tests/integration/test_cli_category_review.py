"""`wakelog category review`: an agent that looks over a category, from a fresh home, without a key;
tasks that it proposes, agents that it asks; and every command and table at a home with agents of
all kinds and requests among them (ADR 104)."""

import html
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from adapters.analytics.database import connect
from adapters.proof.histories import prove_history, read_history
from adapters.web.prompts import section_purpose
from tests.integration.test_documents import Fitting
from tests.support import checker
from tests.support.cli import proved, refused, run
from tests.support.homes import Homes
from tests.support.house import (
    BERLIN,
    ENV,
    FENCE,
    MONDAY,
    PAINT,
    PLUMBER,
    ROOF,
    SHELF,
    TAP,
    TILES,
    agents,
    answering,
    asked_by,
    did,
    house,
    proposing,
    seen,
    seen_status,
    with_model,
)
from tests.support.pages import visiting
from tests.support.terminal import on_terminal
from tests.support.waking import reply, report, tape


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(house, tmp_path / "home")


# ------------------------------------------------------------------- a fresh home, without a key

MADE = 'Made the agent "House week": it reads House; every monday 08:00, Europe/Berlin [rules].'
WEEK = "House, 28 Dec to 3 Jan: 1 done, 1 h 30 min spent of 2 h planned"
REVIEW = f"""\
{MADE}
**{WEEK}.**

## Done in the two weeks

- 2026-12-31: Call Ann, rated 4

## Overdue, or due within 7 days

- 2027-01-02, overdue by 2 days: {FENCE} (P2)
- 2027-01-05, tomorrow: {TAP} (P2)

## Untouched for 14 days or more

- 34 days: {SHELF}
- 25 days: {ROOF}

## Planned in the two weeks, and no time spent

- 2 h: {FENCE}

## Both weeks

- 28 Dec to 3 Jan: 1 done, 1 h 30 min spent of 2 h planned, rated 4 on average
- 21 to 27 Dec: nothing was done, no time was spent, 3 new

## Only counted

- 1 without a due date and an estimate

_Written by the offline rules model: it counts what the two weeks hold, and weighs nothing._
"""


def test_a_category_is_looked_over_from_a_fresh_home_without_a_key(home: Path) -> None:
    assert did(home, "category", "review", "House") == REVIEW
    again = did(home, "category", "review", "house")
    assert "Made the agent" not in again
    (agent,) = seen(home, "agent", "list")
    house_id = next(one["id"] for one in seen(home, "category", "list") if one["name"] == "House")
    assert (agent["name"], agent["kind"]) == ("House week", "category_agent")
    assert (agent["subject"], agent["task_id"]) == (f"category:{house_id}", "")
    assert (agent["wakes"], agent["next_wake_at"]) == (2, "2027-01-11T07:00:00.000000Z")
    assert "REPORT" not in did(home, "report", "House week")
    assert proved(home)


def test_its_pages_at_the_command_line(home: Path) -> None:
    did(home, "category", "review", "House")
    shown = did(home, "agent", "show", "House week")
    assert "  Looks over: House\n" in shown
    assert "  Categories: House\n" in shown
    assert "every monday 08:00 (Europe/Berlin), next 2027-01-11 08:00" in shown
    assert "Plans:" not in shown
    page = seen(home, "agent", "show", "House week")
    assert (page["subject_title"], page["allowed_categories"]) == ("House", ["House"])
    wakes = [(one["reason"], one["outcome"]) for one in seen(home, "wakes")]
    assert wakes == [("manual", "completed"), ("creation", "superseded")]
    assert "House week\tmanual\t2027-01-04 08:10\tcompleted" in did(home, "wakes")
    told_of = did(home, "report", "House week")
    assert f"TL;DR {WEEK}. 1 overdue: {FENCE}. 2 untouched for 14 days or more: " in told_of
    assert [one["what"] for one in seen(home, "why", "House week")] == [
        "you woke it",
        "it was created",
    ]
    assert "House week: no observations yet." in did(home, "journal", "House week")
    assert did(home, "agent", "ask", "House week", "What now?").startswith(f"{WEEK}.")


def test_its_timer_writes_the_report_of_the_week_that_is_over(home: Path) -> None:
    did(home, "category", "review", "House")
    early, late = ({**BERLIN, "WAKELOG_NOW": f"2027-01-11T{at}:00Z"} for at in ("06:59", "07:01"))
    assert "Nothing is queued" in did(home, "wake", env=early)
    assert "House week: completed [rules]. House, 4 to 10 Jan" in did(home, "wake", env=late)
    assert seen(home, "wakes", env=late)[0]["reason"] == "timer"
    report = did(home, "report", "House week", "--history", env=late)
    assert "2 overdue: Paint the fence; Fix the tap. 3 untouched" in report
    assert WEEK in report.partition("Earlier reports:")[2]
    assert proved(home)


def test_it_says_where_the_report_is_the_one_from_before(home: Path, tmp_path: Path) -> None:
    old = "It wrote no new report; this is the one from before."
    first = run(["category", "review", "House"], home, env=ENV)
    assert old not in first.stderr
    model = tape(tmp_path / "tape.jsonl", reply(text="Done."))
    second = run(["--model", model, "category", "review", "House"], home, env=ENV)
    assert old in second.stderr
    assert second.stdout == first.stdout.removeprefix(f"{MADE}\n")


def test_the_options_are_of_a_new_agent(home: Path) -> None:
    said = did(home, "category", "review", "Work", "--no-timer", "--model", "rules")
    assert said.startswith('Made the agent "Work week": it reads Work; when you ask [rules].\n')
    page = seen(home, "agent", "show", "Work week")
    assert (page["timers"], page["config"]["model_in_force"]) == ([], "rules")
    assert page["config"]["model_of"] == "agent"
    line = seen(home, "category", "review", "Work")
    assert (line["agent_id"], line["outcome"]) == (page["id"], "completed")
    assert agents(home)["Work week"]["next_wake_at"] is None
    no = refused(["category", "review", "House", "--model", "nonsense"], home, env=ENV)
    assert "'nonsense'" in no
    assert list(agents(home)) == ["Work week"], "nothing is made that cannot be asked"


def test_a_retry_under_its_key_asks_once(home: Path) -> None:
    first, again = (seen(home, "category", "review", "House", "--key", "k") for _ in range(2))
    assert (first["report"]["one_liner"], again) == (WEEK, first)
    assert agents(home)["House week"]["wakes"] == 1
    assert seen(home, "category", "review", "House", "--key", "l")["run_key"] != first["run_key"]


@pytest.mark.parametrize("name", ["Nope", "", "hou", "House week"])
def test_a_category_that_is_not_there_is_refused(home: Path, name: str) -> None:
    no = refused(["category", "review", name], home, env=ENV)
    assert f"there is no category '{name}'; see `wakelog category list`" in no
    assert agents(home) == {}


def test_an_empty_home_has_no_category_to_look_over(tmp_path: Path) -> None:
    no = refused(["category", "review", "House"], tmp_path / "home", env=ENV)
    assert "there is no category 'House'" in no
    assert "[unknown_category]" in no


def test_a_category_without_tasks_is_told_to_be_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    did(home, "category", "add", "Garden")
    said = did(home, "category", "review", "Garden")
    told_of = said.partition("\n")[2]
    assert told_of.startswith("**Garden, 28 Dec to 3 Jan: nothing was done, no time was spent.**\n")
    assert "##" not in told_of
    assert proved(home)


def test_a_model_elsewhere_is_sent_no_week_before_it_is_agreed_to(home: Path) -> None:
    """Nothing is sent of a week before the notice that tells of it (notice 3)."""
    no = refused(["category", "review", "House", "--model", "gemini"], home, env=ENV)
    assert "GEMINI_API_KEY is not set" in no
    assert agents(home) == {}, "nothing is made that cannot be asked"
    key = {**ENV, "GEMINI_API_KEY": "a-key"}
    result = run(["category", "review", "House", "--model", "gemini"], home, env=key)
    assert result.exit_code == 3, result.output
    assert "`wakelog policy allow 'gemini:*' --category House`" in result.stderr
    assert seen(home, "wakes", env=key)[0]["waits_for"] == "consent"


def test_one_that_is_paused_or_may_not_read_its_category_says_so(home: Path) -> None:
    did(home, "category", "review", "House")
    did(home, "agent", "pause", "House week")
    no = refused(["category", "review", "House"], home, env=ENV)
    assert "the agent 'House week' is paused; resume it first" in no
    did(home, "agent", "resume", "House week")
    did(home, "agent", "set", "House week", "--category", "Work")
    said = did(home, "category", "review", "House")
    assert said.startswith("House week: skipped (out_of_scope).")
    assert "House" not in (seen(home, "agent", "show", "House week")["allowed_categories"])
    did(home, "agent", "set", "House week", "--category", "House")
    did(home, "category", "review", "House")
    assert agents(home)["House week"]["run_status"] == "idle"


def test_after_it_was_destroyed_another_one_is_made(home: Path) -> None:
    did(home, "category", "review", "House")
    did(home, "agent", "destroy", "House week")
    did(home, "category", "rename", "House", "Haus")
    assert did(home, "category", "review", "Haus").startswith('Made the agent "Haus week"')
    old, new = (agents(home)[one] for one in ("House week", "Haus week"))
    assert (old["lifecycle"], new["lifecycle"]) == ("destroyed", "active")
    assert old["subject"] == new["subject"]
    assert proved(home)


LISTS = (
    ["agent", "show", "Haus 庭と屋根 week"],
    ["why", "Haus 庭と屋根 week"],
    ["wakes"],
    ["inbox"],
)


@pytest.mark.slow
def test_all_of_it_fits_eighty_columns(home: Path, tmp_path: Path) -> None:
    did(home, "category", "rename", "House", "Haus 庭と屋根")
    assert_narrow(home, "category", "review", "Haus 庭と屋根")
    item = {"title": ROOF[::-1], "description": SHELF, "items": [{"title": SHELF}, {"title": ROOF}]}
    with_model(home, tmp_path, ("create_task", item), category="Haus 庭と屋根")
    for args in LISTS:
        assert_narrow(home, *args)


def assert_narrow(home: Path, *args: str) -> None:
    with on_terminal(home, *args, env={**ENV, "COLUMNS": "80", "NO_COLOR": "1"}) as terminal:
        status, shown = terminal.ended()
    assert status == 0, shown
    assert args[0] == "why" or "Haus 庭と屋根" in shown, args
    assert max(map(cell_len, shown.splitlines())) <= 80, args


# --------------------------------------------------------------------------- tasks that it proposes

SUMMARY = (
    'Create task "Call the plumber", due 2027-01-08, P1, with "Ask for a price", '
    '"Agree on a day": The kitchen tap drips. Ask for a price.'
)


def test_a_task_is_proposed_and_told_of_its_category(home: Path, tmp_path: Path) -> None:
    proposing(home, tmp_path)
    result = run(["category", "review", "House"], home, env=ENV)
    assert "See what it proposes" not in result.stderr, "it proposes nothing new"
    (one,) = seen(home, "inbox")
    house_id = agents(home)["House week"]["subject"].partition(":")[2]
    assert one["subject"] == {"kind": "category", "id": house_id, "title": "House"}
    assert (one["task_id"], one["task_title"], one["expires_at"]) == ("", "", None)
    first = one["items"][0]
    assert (first["ref"], first["tool"], first["summary"]) == ("1.1", "create_task", SUMMARY)
    given = {name: value for name, value in PLUMBER.items() if name != "because"}
    assert first["arguments"] == {**given, "category": house_id}
    assert (first["because"], first["now"], first["stale"]) == (TAP, None, False)
    shown = did(home, "inbox")
    assert shown.startswith(f"House\n  1.1    {SUMMARY}")
    assert '  1.3    Create task "瓦を注文する"' in shown


def test_a_task_that_is_confirmed_is_there_with_all_and_an_agent(
    home: Path, tmp_path: Path
) -> None:
    proposing(home, tmp_path)
    edited = ["--edit", "title=Call Ann the plumber", "priority=P0", "due=2027-01-11"]
    assert did(home, "confirm", "1.1", *edited).startswith(
        '1.1    confirmed: Create task "Call Ann the plumber", due 2027-01-11, P0, with '
    )
    task = seen(home, "task", "show", "Call Ann the plumber")
    assert (task["category"], task["due_date"], task["priority"]) == ("House", "2027-01-11", "P0")
    assert (task["estimate_minutes"], task["description"]) == (30, PLUMBER["description"])
    titles = [(one["title"], one["checked"]) for one in task["items"]]
    assert titles == [("Ask for a price", False), ("Agree on a day", False)]
    assert task["history"][0]["by"] == f"agent:{agents(home)['House week']['id']}"
    heir = agents(home)["Call Ann the plumber"]
    assert (heir["kind"], heir["task_id"], heir["id"]) == (
        "task_agent",
        task["id"],
        task["agent_id"],
    )
    (why,) = seen(home, "why", "Call Ann the plumber")
    assert why["what"].startswith("it was created for the task of proposal ")
    assert f'which rests on "{TAP}"' in why["what"]
    assert "it was created for the task of proposal" in did(home, "why", "Call Ann the plumber")
    assert "Call Ann the plumber: completed [rules]" in did(home, "wake")
    assert did(home, "confirm", "1.1").endswith("(it was already)\n")
    assert len([one for one in seen(home, "list") if "plumber" in one["title"]]) == 1
    assert proved(home)


def test_it_is_rejected_put_off_undone_and_confirmed_again(home: Path, tmp_path: Path) -> None:
    proposing(home, tmp_path)
    did(home, "confirm", "1.1", "--edit", "title=Call Ann")
    did(home, "reject", "1.2", "--reason", "We have paint")
    did(home, "defer", "1.3", "--until", "wednesday")
    assert "Nothing to review. 1 put off" in did(home, "inbox")
    every = did(home, "inbox", "--all")
    for part in ("[confirmed]", "- We have paint [rejected]", "[deferred until 2027-01-06 00:00]"):
        assert part in every
    wednesday = {**BERLIN, "WAKELOG_NOW": "2027-01-06T08:00:00Z"}
    assert [one["ref"] for one in seen(home, "inbox", env=wednesday)[0]["items"]] == ["1.3"]
    made = seen(home, "task", "show", "Call Ann", env=ENV)
    for _ in range(3):
        undone = did(home, "undo")
    assert 'Undone: confirm item of "Call Ann"' in undone
    assert "Call Ann" not in [one["title"] for one in seen(home, "list") if one["status"] == "OPEN"]
    assert [one["status"] for one in seen(home, "inbox")[0]["items"]] == ["pending"] * 3
    assert "[undone]" in did(home, "inbox").splitlines()[1]
    did(home, "confirm", "1.1")
    again = seen(home, "task", "show", "Call the plumber")
    assert (again["id"], again["agent_id"]) == (made["id"], made["agent_id"])
    open_items = [one["title"] for one in again["items"] if not one["archived"]]
    assert open_items == ["Ask for a price", "Agree on a day"]
    assert (again["due_date"], again["description"]) == ("2027-01-08", PLUMBER["description"])
    assert len(agents(home)) == 2
    assert [*checker.findings(home)] == []
    assert proved(home)


def test_a_whole_set_is_named_by_its_category_and_decided(home: Path, tmp_path: Path) -> None:
    proposing(home, tmp_path)
    assert "the set 1 has 3 items" in refused(["confirm", "House"], home, env=ENV)
    assert did(home, "confirm", "House", "--all").count("confirmed: Create task") == 3
    assert {"Call the plumber", "Buy paint", "瓦を注文する"} < {
        one["title"] for one in seen(home, "list")
    }
    assert len(agents(home)) == 4
    assert proved(home)


@pytest.mark.parametrize(
    ("edit", "told_of"),
    [
        ("priority=P9", 'priority: expected one of P0, P1, P2, P3, got "P9"'),
        ("estimateMinutes=0", "estimateMinutes: expected a whole number from 1"),
        ("dueDate=someday", "'someday' is no date"),
        ("title=", "title"),
        ("color=red", "color"),
        ('{"title": "A", "items": [{"name": "b"}]}', "items"),
    ],
)
def test_an_edit_that_is_none_is_refused_and_makes_nothing(
    home: Path, tmp_path: Path, edit: str, told_of: str
) -> None:
    proposing(home, tmp_path)
    rows = proved(home)
    assert told_of in refused(["confirm", "1.1", "--edit", edit], home, env=ENV)
    assert proved(home) == rows


def test_into_another_category_it_is_not_made(home: Path, tmp_path: Path) -> None:
    proposing(home, tmp_path)
    other = next(one["id"] for one in seen(home, "category", "list") if one["name"] == "Work")
    result = run(["confirm", "1.2", "--edit", f"category={other}"], home, env=ENV)
    assert result.exit_code == 1
    assert "[out_of_scope]" in result.stdout
    assert "Buy paint" not in [one["title"] for one in seen(home, "list")]
    assert proved(home)


def test_a_category_that_is_gone_is_not_looked_over_and_takes_no_task(tmp_path: Path) -> None:
    home = tmp_path / "home"
    did(home, "add", "Dig", "--category", "Garden")
    with_model(home, tmp_path, ("create_task", {"title": "Plant a tree"}), category="Garden")
    undone = did(home, "undo", "--yes")
    assert "Undone: create task" in undone, "the category goes with what made it"
    no = refused(["category", "review", "Garden"], home, env=ENV)
    assert "there is no category 'Garden'" in no
    for more in ([], ["--anyway"]):
        result = run(["confirm", "1.1", *more], home, env=ENV)
        assert result.exit_code == 1
        assert "the task has no category, or one that is gone [missing_category]" in result.stdout
    assert seen(home, "list") == []
    did(home, "add", "Dig again", "--category", "Garden")
    did(home, "confirm", "1.1")
    assert [one["title"] for one in seen(home, "list")] == ["Dig again", "Plant a tree"]
    assert proved(home)


# ------------------------------------------------------------------------------ agents that it asks


def test_who_is_asked_answers_in_its_own_report(home: Path, tmp_path: Path) -> None:
    answering(home)
    asking = asked_by(home, tmp_path, (TAP, "blocked"), (FENCE, "stale"), (ROOF, "estimate"))
    shown = did(home, "show", asking)
    assert shown.count("wake.request_staged") == 2
    assert "ask_agent: denied (not_found). That task has no agent to ask." in shown
    fates = {
        one["what"]: one["outcome"]
        for one in seen(home, "why", "House week")
        if one["reason"] == "request"
    }
    assert fates == {
        f"it asked the agent of “{FENCE}” whether it is still wanted": "queued",
        f"it asked the agent of “{TAP}” what blocks it": "queued",
    }
    (mine, *_) = seen(home, "why", TAP)
    assert (mine["what"], mine["outcome"]) == (
        "the agent “House week” asked what blocks it",
        "queued",
    )
    assert agents(home)[TAP]["run_status"] == "queued"
    assert "2 of 2 completed" in run(["wake"], home, env=ENV).stderr
    (mine, *_) = seen(home, "why", TAP)
    (theirs, *_) = (one for one in seen(home, "why", "House week") if TAP in one["what"])
    assert mine["outcome"] == theirs["outcome"] == "woke"
    assert mine["run_key"] == theirs["run_key"]
    wake = seen(home, "show", mine["run_key"])
    assert wake["reason"] == "request"
    (cause,) = wake["causes"]
    assert (cause["reason"], cause["reason_id"]) == ("request", asking)
    assert (cause["about"], cause["hop"]) == ("blocked", 1)
    prompt = did(home, "show", mine["run_key"], "--prompt")
    assert "- blocked: Is this task blocked, by what, and who can end that? (asked by " in prompt
    answer = did(home, "report", TAP).partition("## Asked by other agents\n\n")[2]
    assert answer.startswith("- Blocked: neither its status nor a linked task says that it waits.")
    assert "- Still wanted: " in did(home, "report", FENCE)
    assert f"{TAP}\trequest\t" in did(home, "wakes")
    assert proved(home)


def test_its_one_liner_is_read_the_next_time(home: Path, tmp_path: Path) -> None:
    answering(home)
    asked_by(home, tmp_path, (TAP, "estimate"))
    did(home, "wake")
    one_liner = seen(home, "report", TAP)["one_liner"]
    did(home, "category", "review", "House")
    run_key = seen(home, "wakes")[0]["run_key"]
    assert f'"oneLiner":"{one_liner}"' in did(home, "show", run_key, "--prompt")


def test_a_question_to_one_that_is_paused_or_whose_task_is_gone_is_told_to_both(
    home: Path, tmp_path: Path
) -> None:
    answering(home)
    did(home, "agent", "pause", TAP)
    asked_by(home, tmp_path, (TAP, "stale"), (FENCE, "stale"))
    did(home, "delete", FENCE)
    did(home, "wake")
    fates = {one["what"][19:]: one for one in seen(home, "why", "House week")}
    tap, fence = (
        next(one for what, one in fates.items() if title in what) for title in (TAP, FENCE)
    )
    assert (tap["outcome"], fence["outcome"]) == ("suppressed", "suppressed")
    assert tap["rule"] == "dormant"
    shown = did(home, "why", TAP)
    assert "the agent “House week” asked whether it is still wanted\tsuppressed" in shown
    assert proved(home)


def test_what_is_asked_in_vain_waits_for_nobody_and_is_told_until_it_is_agreed_to(
    home: Path, tmp_path: Path
) -> None:
    key = {**ENV, "GEMINI_API_KEY": "a-key"}
    allow = "`wakelog policy allow 'gemini:*' --category House`"
    answering(home)
    did(home, "agent", "set", TAP, "--model", "gemini", env=key)
    asked_by(home, tmp_path, (TAP, "stale"))
    assert f"{TAP}: skipped (no_receipt)." in did(home, "wake", env=key)
    for one in (TAP, "House week"):
        (fate, *_) = seen(home, "why", one)
        assert (fate["outcome"], fate["rule"]) == ("suppressed", "no_receipt"), one
    why = "as you have not agreed to what that sends"
    shown = run(["inbox"], home, env=key).stderr
    assert f"1 agent was asked by another agent in vain, {why}: {allow}" in shown
    assert "held" not in did(home, "status", env=key)
    with visiting(home, env=key) as visitor:
        assert "1 agent was asked by another agent in vain" in visitor.page("/inbox")
    did(home, "policy", "allow", "gemini:*", "--category", "House", env=key)
    assert "in vain" not in run(["inbox"], home, env=key).stderr
    assert proved(home)


def test_the_agent_that_plans_the_day_asks_too(home: Path, tmp_path: Path) -> None:
    answering(home)
    tap = seen(home, "task", "show", TAP)["id"]
    asked = ("ask_agent", {"taskId": tap, "about": "fits_today"})
    model = tape(tmp_path / "tape.jsonl", reply(asked, report()), reply(text="Done."))
    did(home, "--model", model, "day", "plan")
    assert "the agent “Day” asked whether it fits into the day" in did(home, "why", TAP)
    did(home, "wake")
    run_key = seen(home, "wakes")[0]["run_key"]
    assert "(asked by the agent that plans the days)" in did(home, "show", run_key, "--prompt")
    assert "- Does it fit today: " in did(home, "report", TAP)
    assert proved(home)


@pytest.mark.slow
def test_what_is_asked_stands_in_the_analytics(home: Path, tmp_path: Path) -> None:
    answering(home)
    asking = asked_by(home, tmp_path, (TAP, "blocked"), (FENCE, "stale"))
    did(home, "wake")
    known = agents(home)
    rows = seen(home, "sql", "SELECT * FROM requests ORDER BY row_n")
    assert [(one["asked_agent_id"], one["about"]) for one in rows] == [
        (known[TAP]["id"], "blocked"),
        (known[FENCE]["id"], "stale"),
    ]
    assert {(one["run_key"], one["agent_id"]) for one in rows} == {
        (asking, known["House week"]["id"])
    }
    triggers = "FROM triggers WHERE reason = 'request'"
    found = seen(home, "sql", f"SELECT reason_id, about, hop, fate, run_key {triggers}")
    woken = found[0]["run_key"]
    assert [tuple(one.values())[:4] for one in found] == [
        (asking, "blocked", 1, "first"),
        (asking, "stale", 1, "first"),
    ]
    began = f"SELECT n, row_n FROM events WHERE tag = 'wake.started.1' AND entity = '{woken}'"
    led = f"SELECT tag FROM ({began}) t, causality('agent', t.n, of_row_n := t.row_n)"
    tags = [one["tag"] for one in seen(home, "sql", led)]
    assert {"alert.wake_queued.1", "wake.request_staged.1", "wake.model_answered.1"} <= {*tags}
    subject = "SELECT subject FROM agents WHERE name = 'House week'"
    assert seen(home, "sql", subject) == [{"subject": known["House week"]["subject"]}]


def test_the_category_of_a_proposed_task_counts_where_proposals_are_counted(
    home: Path, tmp_path: Path
) -> None:
    proposing(home, tmp_path)
    did(home, "confirm", "1.1")
    did(home, "reject", "1.2")
    asked = "SELECT confirmed, decided FROM acceptance WHERE dimension = 'category'"
    assert seen(home, "sql", f"{asked} AND value = 'House'") == [{"confirmed": 1, "decided": 2}]


# ------------------------------------------------------------- all there is, of all kinds of agents


@pytest.mark.slow
def test_every_document_and_table_is_there_of_a_home_with_all_kinds(
    home: Path, tmp_path: Path
) -> None:
    """All that tells of agents, wakes, proposals and moments, with requests among them."""
    answering(home)
    fits = Fitting(home)
    fits.env = ENV
    tap = seen(home, "task", "show", TAP)["id"]
    asked = ("ask_agent", {"taskId": tap, "about": "fits_today"})
    day = tape(tmp_path / "day.jsonl", reply(asked, report()), reply(text="Done."))
    did(home, "--model", day, "day", "plan")
    calls = [("create_task", one) for one in (PLUMBER, PAINT, TILES)]
    week = tape(
        tmp_path / "week.jsonl",
        reply(*calls, ("ask_agent", {"taskId": tap, "about": "stale"}), report()),
        reply(text="Done."),
    )
    line = fits("wake", "--model", week, "category", "review", "House")
    assert (line["proposals"], line["task_id"]) == (3, "")
    fits("wake", "category", "review", "Work", "--no-timer")
    fits("day", "day", "plan")
    (of_week,) = [one for one in fits("inbox", "inbox") if one["subject"]["kind"] == "category"]
    first, second, third = (one["ref"] for one in of_week["items"])
    fits("verdicts", "confirm", first)
    fits("verdicts", "reject", second, "--reason", "No")
    fits("verdicts", "defer", third)
    fits("deed-undone", "undo")
    fits("verdicts", "defer", third)
    fits("answer", "agent", "ask", "House week", "What is this week for?")
    fits("wakes", "wake")
    assert agents(home)["Call the plumber"]["wakes"] == 1
    every = [one for one in fits("wakes", "wakes") if one["outcome"] == "completed"]
    of_request = next(one["run_key"] for one in every if one["reason"] == "request")
    mine = agents(home)["House week"]["id"]
    runs = [one["run_key"] for one in every if one["agent_id"] == mine]
    assert len(runs) == 2
    for name, *args in (
        ("agent", "agent", "show", "House week"),
        ("agents", "agent", "list"),
        ("run", "show", runs[0]),
        ("run", "show", runs[1]),
        ("run", "show", of_request),
        ("prompt", "show", runs[0], "--prompt"),
        ("prompt", "show", of_request, "--prompt"),
        ("report", "report", "House week"),
        ("journal", "journal", "House week"),
        ("memory", "memory", "House week"),
        ("messages", "messages", "House week"),
        ("why", "why", "House week"),
        ("why", "why", TAP),
        ("why", "why", "Call the plumber"),
        ("why-field", "why", "Call the plumber", "title"),
        ("why-field", "why", "Call the plumber", "due"),
        ("replay", "replay", runs[1]),
        ("replay", "replay", of_request),
        ("moment", "at", runs[1]),
        ("moment", "at", of_request),
        ("moment", "at", MONDAY),
        ("request", "at", runs[1], "--prompt"),
        ("request", "at", of_request, "--prompt"),
        ("diff", "diff", runs[0], runs[1]),
        ("bisect", "bisect", "House week", "--python", "len(wakes) >= 0"),
        ("policy-preview", "policy", "try", "House week"),
        ("policy", "policy", "show"),
        ("inbox", "inbox", "--all"),
        ("lessons", "lessons"),
        ("status", "status"),
        ("health", "health"),
        ("doctor", "doctor"),
        ("metrics", "metrics"),
        ("summary", "summary"),
        ("deeds-undoable", "undo", "--list"),
        ("rehearsal", "rehearse", "--all", "--show"),
        ("fork", "fork", runs[1], "--model", "rules", "--out", str(tmp_path / "fork")),
        ("fork", "fork", of_request, "--model", "rules", "--out", str(tmp_path / "asked")),
        ("backup", "backup", str(tmp_path / "backup")),
        ("exported-history", "export-history", runs[0], "--out", str(tmp_path / "a.jsonl")),
        ("exported-tables", "export", "--parquet", str(tmp_path / "tables")),
        ("exported-tasks", "export", "--markdown", str(tmp_path / "tasks.md")),
        ("proof", "prove"),
        ("rebuilt", "rebuild"),
    ):
        assert fits(name, *args) is not None, args
    redacted = ["export-history", "--all", "--redact", "--out", str(tmp_path / "b.jsonl")]
    fits("exported-history", *redacted)
    assert prove_history(read_history(tmp_path / "b.jsonl")).ok
    secret = (tmp_path / "b.jsonl").read_text(encoding="utf-8")
    assert not [one for one in ("plumber", "House", TAP, "屋根") if one in secret]
    assert [*checker.findings(home)] == []
    fits("synced", "sync", str(tmp_path / "shared"))
    fits("proof", "prove")
    assert run(["doctor"], home, env=ENV).exit_code == 0, "no orphan is told of"
    subjects = {(one["kind"], bool(one["task_id"])) for one in seen(home, "agent", "list")}
    assert subjects == {("day_agent", False), ("category_agent", False), ("task_agent", True)}
    for name in ("agents", "requests", "triggers", "change_items", "proposals", "acceptance"):
        fits("rows", "sql", f"SELECT * FROM {name} LIMIT 5")
    with connect(home, ENV) as connection:
        names = [one for (one, *_) in connection.execute("SHOW TABLES").fetchall()]
        assert {"agents", "wakes", "requests", "blocks"} <= {*names}
        for name in names:
            connection.execute(f"SELECT * FROM {name}").fetchall()
    assert len(seen(home, "sql", "SELECT * FROM requests")) == 2
    assert proved(home)


def test_a_backup_and_a_fork_have_the_agent_and_what_it_proposed(
    home: Path, tmp_path: Path
) -> None:
    proposing(home, tmp_path)
    before = seen(home, "inbox")
    did(home, "backup", str(tmp_path / "backup"))
    assert seen(tmp_path / "backup", "inbox") == before
    run_key = before[0]["run_key"]
    fork = str(tmp_path / "fork")
    did(home, "fork", run_key, "--model", "rules", "--out", fork)
    assert [*agents(Path(fork))] == ["House week"]
    assert proved(Path(fork))


# ----------------------------------------------------------------------- what a person would expect


def test_a_second_look_shows_the_report_that_stands(home: Path) -> None:
    """Whoever asks for a look wants to read it, also where nothing has changed since."""
    first = did(home, "category", "review", "House")
    again = did(home, "category", "review", "House")
    assert again == first.removeprefix(f"{MADE}\n")


def test_what_came_up_since_stands_in_the_next_report(home: Path) -> None:
    """A task that is due tomorrow, added after the first look of the week."""
    did(home, "category", "review", "House")
    did(home, "add", "Feed the cat", "--category", "House", "--due", "tomorrow")
    did(home, "category", "review", "House")
    assert "- 2027-01-05, tomorrow: Feed the cat" in did(home, "report", "House week")


@pytest.mark.slow
def test_on_a_terminal_the_report_is_set_as_report_sets_it(home: Path) -> None:
    with on_terminal(home, "category", "review", "House", env={**ENV, "COLUMNS": "80"}) as terminal:
        _, shown = terminal.ended()
    assert "Both weeks" in shown
    assert "## Both weeks" not in shown


def test_words_of_a_task_that_stands_in_the_week_are_found_there(
    home: Path, tmp_path: Path
) -> None:
    proposing(home, tmp_path)
    tap = next(one["id"] for one in seen(home, "list") if one["title"] == TAP)
    first = seen(home, "inbox")[0]["items"][0]
    assert first["because_at"] == f"task:{tap}"
    assert "(not in what it was shown)" not in did(home, "inbox")


def test_a_mean_of_no_ratings_is_not_told(home: Path) -> None:
    did(home, "category", "review", "Work")
    run_key = seen(home, "wakes")[0]["run_key"]
    week = did(home, "show", run_key, "--prompt").partition('"weeks": [')[2].partition("]")[0]
    assert '"since":"2026-12-28"' in week
    assert "rating" not in week, "what is left out is none, as its role says"


def test_a_set_of_a_category_that_is_gone_is_not_called_by_an_id(tmp_path: Path) -> None:
    home = tmp_path / "home"
    did(home, "add", "Dig", "--category", "Garden")
    with_model(home, tmp_path, ("create_task", {"title": "Plant a tree"}), category="Garden")
    did(home, "undo", "--yes")
    (one,) = seen(home, "inbox")
    assert one["subject"]["title"] != one["subject"]["id"]


def test_an_agent_whose_category_is_gone_asks_no_model(tmp_path: Path) -> None:
    """There is nothing to look over, and nothing to pay for every Monday."""
    home = tmp_path / "home"
    did(home, "add", "Dig", "--category", "Garden")
    did(home, "category", "review", "Garden")
    did(home, "undo", "--yes")
    assert "Garden week: skipped (out_of_scope)." in did(home, "wake", "Garden week")
    assert seen(home, "wakes")[0]["turns"] == 0


def test_a_retry_with_a_long_edit_under_its_key_is_safe(home: Path, tmp_path: Path) -> None:
    proposing(home, tmp_path)
    line = ["confirm", "1.2", "--edit", f"description={'word ' * 300}", "--key", "k"]
    first = did(home, *line)
    result = run(line, home, env=ENV)
    assert result.exit_code == 0, result.output
    assert first.splitlines()[0] in result.stdout


def test_what_is_no_task_s_proposal_concludes_none(home: Path, tmp_path: Path) -> None:
    """`--conclude` sets the task done that a proposal is about: where there is none, nothing is."""
    proposing(home, tmp_path)
    no = refused(["confirm", "1.2", "--conclude"], home, env=ENV)
    assert "there is no task ''" not in no
    assert seen_status(home) == "pending"
    assert "Buy paint" not in [one["title"] for one in seen(home, "list")]


def test_why_a_field_of_a_made_task_is_so_names_the_proposal_that_was_confirmed(
    home: Path, tmp_path: Path
) -> None:
    """Nobody let the agent make tasks without asking."""
    proposing(home, tmp_path)
    did(home, "confirm", "1.1")
    for field in ("title", "due", "description"):
        why = did(home, "why", "Call the plumber", field)
        assert "without asking" not in why, field
        assert "You confirmed it" in why, field
        assert "The agent proposed it (1.1)" in why, field


@pytest.mark.slow
def test_every_link_of_its_pages_leads_somewhere(home: Path, tmp_path: Path) -> None:
    answering(home)
    asking = asked_by(home, tmp_path, (TAP, "stale"))
    proposing(home, tmp_path)
    (first, second, _) = (
        item["ref"]
        for one in seen(home, "inbox")
        if one["subject"]["kind"] == "category"
        for item in one["items"]
    )
    did(home, "confirm", first)
    did(home, "wake")
    asked = next(one["run_key"] for one in seen(home, "wakes") if one["reason"] == "request")
    agent = agents(home)["House week"]["id"]
    pages = [
        "/catalog",
        "/agents",
        "/inbox",
        f"/inbox?at={second}",
        "/inbox?show=decided",
        "/wakes",
    ]
    pages += [f"/agents/{agent}{one}" for one in ("", "/life", "/reports")]
    pages += [f"/wakes/{run}{one}" for run in (asking, asked) for one in ("", "/at", "/what-if")]
    with visiting(home, env=ENV) as visitor:
        links = {
            (link, path)
            for path in pages
            for link in re.findall(r'href="(/[^"#]*)', visitor.page(path))
        }
        dead = [
            f"{link} on {path}"
            for link, path in sorted(links)
            if visitor.get(html.unescape(link)).status_code != 200
        ]
    assert dead == []


def test_the_sections_of_its_prompt_are_named_on_the_page_as_others_are() -> None:
    """With what they are for, as `day` should be."""
    assert [one for one in ("week", "requests", "day") if not section_purpose(one)] == []
