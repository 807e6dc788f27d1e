"""`wakelog agent`: made once per task, steered, put to sleep, ended; nothing is said twice."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.waking import agent, at, reply, report, sink, tape


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def shown(home: Path, name: str = "Fix the sink") -> Any:
    return told(["agent", "show", name], home)


# ---------------------------------------------------------------------------------- empty and new


def test_an_empty_home_says_what_to_do_next_and_is_not_made(home: Path) -> None:
    assert "agent create --all" in done(["agent", "list"], home)
    assert told(["agent", "list"], home) == []
    assert "[unknown_agent]" in refused(["agent", "show", "Sink"], home)
    assert "[unknown_task]" in refused(["agent", "create", "Sink"], home)
    assert not home.exists()


def test_an_agent_is_made_once_for_a_task_and_its_first_wake_is_queued(home: Path) -> None:
    task = sink(home)
    assert "[no_agent]" in refused(["agent", "show", "Fix the sink"], home)
    result = run(["agent", "create", "Fix the sink"], home)
    assert (result.exit_code, "Made the agent" in result.stdout) == (0, True)
    assert "wakelog wake" in result.stderr
    (line,) = told(["agent", "list"], home)
    assert (line["task_id"], line["name"], line["kind"]) == (task, "Fix the sink", "task_agent")
    assert (line["mode"], line["lifecycle"], line["run_status"]) == ("hybrid", "active", "queued")
    assert (line["template_id"], line["last_wake_at"], line["wakes"]) == (None, None, 0)
    assert "[agent_exists]" in refused(["agent", "create", "Fix the sink"], home)
    assert proved(home)


def test_all_makes_one_for_each_open_task_that_has_none(home: Path) -> None:
    agent(home)
    for title in ("Plan the trip", "Sell the car", "Call Ann"):
        done(["task", "add", title], home)
    done(["task", "set", "Sell the car", "--status", "done"], home)
    done(["task", "delete", "Call Ann"], home)
    first = told(["agent", "create", "--all"], home)
    assert (first["created"], first["existing"]) == (1, 1)
    assert [one["name"] for one in first["agents"]] == ["Plan the trip"]
    assert "0 agents; 2 had one already" in done(["agent", "create", "--all"], home)
    assert proved(home)


def test_all_without_a_task_says_so(home: Path) -> None:
    assert "no open tasks" in done(["agent", "create", "--all"], home)
    assert not home.exists()


BAD_WISHES = (
    "",
    "sink --all",
    "--all --name x",
    "sink --mode lazy",
    "sink --turns 21",
    "sink --model gpt",
)


def test_a_bad_wish_is_refused_and_writes_nothing(home: Path) -> None:
    sink(home)
    rows = proved(home)
    for wish in BAD_WISHES:
        assert "[invalid_value]" in refused(["agent", "create", *wish.split()], home), wish
    assert proved(home) == rows


def test_options_of_create_are_kept(home: Path) -> None:
    options = ("--name", "Sinky", "--mode", "interactive", "--model", "rules", "--turns", "3")
    agent(home, "Fix the sink", *options)
    page = shown(home, "Sinky")
    assert (page["name"], page["mode"], page["run_status"]) == ("Sinky", "interactive", "idle")
    assert page["config"] == {
        "model": "rules",
        "model_in_force": "rules",
        "model_of": "agent",
        "turns": 3,
        "automatic": True,
    }


# ------------------------------------------------------------------------------- retries by a key


@pytest.mark.parametrize(
    "arguments",
    [
        ["agent", "create", "Plan the trip"],
        ["agent", "create", "--all"],
        ["agent", "set", "Fix the sink", "--goal", "Dry by Friday"],
        ["agent", "timer", "Fix the sink", "set", "every day 07:00"],
        ["agent", "pause", "Fix the sink"],
        ["agent", "destroy", "Fix the sink"],
        ["wake", "Fix the sink"],
        ["agent", "ask", "Fix the sink", "What is left?"],
    ],
)
def test_a_retry_with_its_key_writes_nothing(home: Path, arguments: list[str]) -> None:
    agent(home)
    sink(home, "Plan the trip")
    done([*arguments, "--key", "k1"], home)
    done(["task", "note", "Fix the sink", "The journal has moved on"], home)
    watched = arguments[0] == "wake" or arguments[1] == "ask"
    if watched:
        run(["wake"], home)
    rows = proved(home)
    again = run([*arguments, "--key", "k1"], home, env=at("2027-01-03T09:00:00Z"))
    assert again.exit_code == 0, again.output
    assert proved(home) == rows


@pytest.mark.parametrize(
    ("arguments", "since", "settings"),
    [
        (["agent", "create", "Plan the trip"], [["task", "delete", "Plan the trip"]], ""),
        (
            ["agent", "create", "Plan the trip", "--template", "Mine"],
            [["agent", "destroy", "Plan the trip"], ["template", "delete", "Mine"]],
            "",
        ),
        (["agent", "timer", "Fix the sink", "set", "once 2027-01-01 10:00"], [], ""),
        (["agent", "timer", "Fix the sink", "remove", "once 2028-01-01 07:00"], [], ""),
        (["wake", "Fix the sink"], [], 'model = "tape:gone"\n'),
        (["agent", "ask", "Fix the sink", "What is left?"], [], 'model = "tape:gone"\n'),
    ],
    ids=["task gone", "template gone", "time passed", "timer gone", "model gone", "none to ask"],
)
def test_a_retry_is_answered_though_it_could_not_be_done_any_more(
    home: Path, arguments: list[str], since: list[list[str]], settings: str
) -> None:
    agent(home)
    sink(home, "Plan the trip")
    done(["template", "create", "Mine"], home)
    done(["agent", "timer", "Fix the sink", "set", "once 2028-01-01 07:00"], home)
    done([*arguments, "--key", "k1"], home)
    for one in since:
        done(one, home)
    done(["wake"], home, env=at("2027-01-02T09:00:00Z"))
    (home / "settings.toml").write_text(settings, encoding="utf-8")
    rows, later = proved(home), at("2027-01-03T09:00:00Z")
    assert refused([*arguments, "--key", "k2"], home, env=later)
    done([*arguments, "--key", "k1"], home, env=later)
    assert proved(home) == rows


def test_a_key_that_stands_for_something_else_is_refused(home: Path) -> None:
    agent(home)
    sink(home, "Plan the trip")
    done(["agent", "create", "Plan the trip", "--key", "k1"], home)
    assert "[key_reused]" in refused(["agent", "create", "Fix the sink", "--key", "k1"], home)


# ------------------------------------------------------------------------------ who is meant


def test_an_agent_is_named_by_id_prefix_name_or_task(home: Path) -> None:
    agent_id = agent(home, "Fix the sink", "--name", "Sinky")
    task = shown(home, "Sinky")["task_id"]
    for name in (agent_id, agent_id[:6], "Sinky", "Fix the sink", task, task[:6]):
        assert shown(home, name)["id"] == agent_id


def test_two_of_a_name_are_ambiguous(home: Path) -> None:
    agent(home, "Fix the sink", "--name", "A")
    agent(home, "Plan the trip", "--name", "A")
    assert "[ambiguous]" in refused(["agent", "pause", "A"], home)


def test_a_new_agent_is_meant_before_the_destroyed_one(home: Path) -> None:
    first = agent(home)
    done(["agent", "destroy", "Fix the sink"], home)
    second = told(["agent", "create", "Fix the sink"], home)["id"]
    assert first != second == shown(home)["id"]
    assert shown(home, first)["lifecycle"] == "destroyed"
    assert proved(home)


# ------------------------------------------------------------------------------------- steering


def test_set_changes_settings_and_slots_once(home: Path) -> None:
    agent(home)
    options = (
        "--mode autonomous --turns 7 --no-automatic --goal Dry --open-loop plumber "
        "--prefer tone=brief --prefer pace=slow"
    )
    command = ["agent", "set", "Fix the sink", *options.split()]
    done(command, home)
    page = shown(home)
    assert (page["mode"], page["config"]["turns"]) == ("autonomous", 7)
    assert page["config"]["automatic"] is False
    assert page["slots"]["primary_goal"] == {"version": 1, "value": "Dry"}
    assert page["slots"]["open_loops"] == {"version": 1, "values": ["plumber"], "own": []}
    assert page["slots"]["preferences"]["tone"] == {"version": 1, "value": "brief"}
    assert "Nothing to change" in done(command, home)
    done(["agent", "set", "Fix the sink", "--close-loop", "plumber", "--prefer", "tone="], home)
    slots = shown(home)["slots"]
    assert (slots["open_loops"]["values"], list(slots["preferences"])) == ([], ["pace"])
    assert proved(home)


def test_an_agents_page_says_whose_a_loop_is(home: Path, tmp_path: Path) -> None:
    agent(home)
    wish = reply(("update_loops", {"add": ["Await the seal"]}), report())
    done(["agent", "set", "Fix the sink", "--open-loop", "plumber"], home)
    done(["--model", tape(tmp_path / "tape", wish, reply(text="Done.")), "wake"], home)
    assert shown(home)["slots"]["open_loops"]["own"] == ["Await the seal"]
    text = done(["agent", "show", "Fix the sink"], home)
    assert "open loop: plumber" in text
    assert "open loop of its own: Await the seal" in text
    assert proved(home)


BAD = {
    "set": ("", "--prefer brief", "--mode x", "--close-loop unknown"),
    "watch": ("", "--what CAR", "--sub note", "--status x"),
    "timer": ("set", "set 'now and then'", "set 'once 2020-01-01 07:00'", "remove"),
}


@pytest.mark.parametrize("verb", BAD)
def test_a_bad_setting_subscription_or_timer_is_refused(home: Path, verb: str) -> None:
    agent(home)
    for options in BAD[verb]:
        typed = ["agent", verb, "sink", *shlex.split(options)]
        assert "[invalid_value]" in refused(typed, home), options


def test_categories_are_named(home: Path) -> None:
    agent(home)
    done(["category", "add", "Home"], home)
    done(["agent", "set", "Fix the sink", "--category", "Home", "--category", "Inbox"], home)
    assert sorted(shown(home)["allowed_categories"]) == ["Home", "Inbox"]
    assert "[unknown_category]" in refused(
        ["agent", "set", "Fix the sink", "--category", "Moon"], home
    )


def test_watch_and_unwatch(home: Path) -> None:
    agent(home)
    command = ["agent", "watch", "Fix the sink", "--what", "NOTE", "--status", "blocked"]
    done(command, home)
    assert "Nothing to change" in done(command, home)
    built_in, made = shown(home)["subscriptions"]
    assert (built_in["built_in"], made["built_in"]) == (True, False)
    assert (made["tokens"], made["status"]) == (["key:NOTE"], "BLOCKED")
    assert "key:NOTE, that is BLOCKED" in done(["agent", "show", "Fix the sink"], home)
    done(["agent", "unwatch", "Fix the sink", made["id"][:6]], home)
    assert len(shown(home)["subscriptions"]) == 1
    refusal = refused(["agent", "unwatch", "Fix the sink", built_in["id"]], home)
    assert "built in" in refusal
    assert proved(home)


def test_an_agent_may_watch_how_tasks_were_rated(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    done(["task", "add", "Plan the trip"], home)
    done(["agent", "watch", "Fix the sink", "--what", "RATING"], home)
    done(["task", "note", "Plan the trip", "By train"], home)
    assert told(["wake"], home) == []
    done(["task", "rate", "Plan the trip", "5"], home)
    assert [one["reason"] for one in told(["wake"], home)] == ["subscription"]
    assert proved(home)


def test_a_watch_is_safe_to_retry_by_a_key_of_its_own_name(home: Path) -> None:
    agent(home)
    command = ["agent", "watch", "Fix the sink", "--what", "NOTE", "--idempotency-key", "k"]
    assert "Watching" in done(command, home)
    made = shown(home)["subscriptions"][1]["id"]
    done(["agent", "unwatch", "Fix the sink", made, "--key", "u"], home)
    rows = proved(home)
    assert "Done before under the key k" in done(command, home)
    assert "Done before under the key u" in done(
        ["agent", "unwatch", "Fix the sink", made, "--key", "u"], home
    )
    assert proved(home) == rows
    assert "[key_reused]" in refused([*command, "--what", "TASK"], home)


def test_key_still_says_what_an_agent_shall_hear_of(home: Path) -> None:
    agent(home)
    done(["agent", "watch", "Fix the sink", "--key", "note", "--what", "LABEL"], home)
    assert shown(home)["subscriptions"][1]["tokens"] == ["key:LABEL", "key:NOTE"]
    options = [
        line.split()[0]
        for line in done(["agent", "watch", "--help"], home).splitlines()
        if line.strip().startswith("-")
    ]
    assert {"--what", "--idempotency-key"} < set(options)
    assert "--key" not in options


def test_timers_are_set_listed_and_removed(home: Path) -> None:
    agent(home)
    name = ["agent", "timer", "Fix the sink"]
    assert "set one with" in done(name, home)
    said = done([*name, "set", "every day 7:00 Europe/Berlin"], home)
    assert "first on 2027-01-02 07:00" in said
    assert "Nothing to change" in done([*name, "set", "every day 07:00 Europe/Berlin"], home)
    (timer,) = told(name, home)
    assert (timer["schedule"], timer["zone"]) == ("every day 07:00", "Europe/Berlin")
    assert timer["next_at"] == "2027-01-02T06:00:00.000000Z"
    done([*name, "remove", "every day 07:00"], home)
    assert told(name, home) == []
    assert proved(home)


def test_a_wake_that_is_due_at_this_instant_is_listed_as_due_now(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    done(["agent", "timer", "Fix the sink", "set", "every day 07:00"], home)
    for time, shown in (("06:59:59.999999Z", "2027-01-02 07:00"), ("07:00:00Z", "now")):
        listed = done(["agent", "list"], home, env=at(f"2027-01-02T{time}"))
        assert f"\t{shown}\t" in listed


# ------------------------------------------------------------------------------------------ life


def test_pause_drops_what_waits_and_resume_queues_one_recovery(home: Path) -> None:
    agent(home)
    done(["agent", "pause", "Fix the sink"], home)
    assert (shown(home)["lifecycle"], shown(home)["run_status"]) == ("dormant", "idle")
    assert shown(home)["last_wakes"][0]["outcome"] == "skipped"
    assert "Nothing to change" in done(["agent", "pause", "Fix the sink"], home)
    assert "resume" in refused(["wake", "Fix the sink"], home)
    assert "resume" in refused(["agent", "ask", "Fix the sink", "Hello?"], home)
    done(["agent", "resume", "Fix the sink"], home)
    (wake,) = told(["wake"], home)
    assert (wake["reason"], wake["outcome"]) == ("recovery", "completed")
    assert proved(home)


def test_a_change_is_judged_by_how_the_agent_was_when_it_was_made(home: Path) -> None:
    agent(home)
    told(["wake"], home)
    steps = [
        ["pause", "Fix the sink"],
        ["resume", "Fix the sink"],
        ["set", "Fix the sink", "--mode", "interactive"],
        ["set", "Fix the sink", "--mode", "hybrid", "--no-automatic"],
        ["set", "Fix the sink", "--automatic"],
    ]
    for step in steps:
        done(["task", "note", "Fix the sink", f"Before {' '.join(step)}"], home)
        done(["agent", *step], home)
    told(["wake"], home)
    heard = [one for one in told(["why", "Fix the sink"], home) if "journal" in one["position"]]
    assert [(one["outcome"], one["rule"]) for one in reversed(heard)][-5:] == [
        ("suppressed", "dormant"),  # it waited when the agent was paused
        ("suppressed", "dormant"),
        ("merged", None),
        ("suppressed", "mode"),
        ("suppressed", "automation_off"),
    ]
    assert proved(home)


def test_a_list_of_agents_may_be_short(home: Path) -> None:
    agent(home)
    done(["task", "add", "Paint the wall"], home)
    done(["agent", "create", "--all"], home)
    first, _ = told(["agent", "list"], home)
    assert told(["agent", "list", "--limit", "1"], home) == [first]
    assert (
        "1 more; raise --limit to see them." in run(["agent", "list", "--limit", "1"], home).output
    )
    assert "raise --limit" not in run(["agent", "list", "--limit", "2"], home).output


def test_destroy_is_final_and_delete_needs_it(home: Path) -> None:
    agent_id = agent(home)
    assert "[not_destroyed]" in refused(["agent", "delete", "Fix the sink"], home)
    done(["agent", "destroy", "Fix the sink"], home)
    assert "[unknown_agent]" in refused(["agent", "resume", "Fix the sink"], home)
    assert [one["lifecycle"] for one in told(["agent", "list"], home)] == ["destroyed"]
    done(["agent", "delete", "Fix the sink"], home)
    assert told(["agent", "list"], home) == []
    assert "[unknown_agent]" in refused(["agent", "show", agent_id], home)
    assert proved(home)
