"""`wakelog agent`: made once per task, steered, put to sleep, ended; nothing is said twice."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from adapters.cli.wake import AGAIN
from tests.support.cli import done, proved, refused, run, told
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import (
    PATH,
    SIGNATURE,
    STREAM_PATH,
    answer,
    call,
    limited,
    retry_info,
    serving,
    text,
)
from tests.support.scripted_server import Answer
from tests.support.waking import agent, at, inbox, proposing, reply, report, sink, tape


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


def test_an_agents_page_says_whose_a_loop_is(home: Path, tmp_path: Path) -> None:
    agent(home)
    wish = reply(("update_loops", {"add": ["Await the seal"]}), report())
    done(["agent", "set", "Fix the sink", "--open-loop", "plumber"], home)
    done(["--model", tape(tmp_path / "tape", wish, reply(text="Done.")), "wake"], home)
    assert shown(home)["slots"]["open_loops"]["own"] == ["Await the seal"]
    text = done(["agent", "show", "Fix the sink"], home)
    assert "open loop: plumber" in text
    assert "open loop of its own: Await the seal" in text


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


def test_an_agent_may_watch_how_tasks_were_rated(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    done(["task", "add", "Plan the trip"], home)
    done(["agent", "watch", "Fix the sink", "--what", "RATING"], home)
    done(["task", "note", "Plan the trip", "By train"], home)
    assert told(["wake"], home) == []
    done(["task", "rate", "Plan the trip", "5"], home)
    assert [one["reason"] for one in told(["wake"], home)] == ["subscription"]


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


# ------------------------------------------------------------------------------------------ life


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


# ---------------------------------------------------------------------------------------- questions


def test_a_question_is_answered_and_its_session_goes_on(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    result = run(["agent", "ask", "Fix the sink", "What is left?"], home)
    assert result.exit_code == 0
    assert "offline rules model" in result.stdout
    assert "--session" in result.stderr
    first = told(["agent", "ask", "Fix the sink", "And now?"], home)
    assert (first["reason"], first["turn"], first["outcome"]) == ("user", 1, "completed")
    assert first["thread"] == f"agent:session:{first['session']}"
    second = told(
        ["agent", "ask", "Fix the sink", "Really?", "--session", first["session"][:8]], home
    )
    assert (second["session"], second["turn"]) == (first["session"], 2)
    named = told(["agent", "ask", "Fix the sink", "Hm", "--session", "kitchen"], home)
    assert (named["session"], named["turn"]) == ("kitchen", 1)


def test_an_autonomous_agent_takes_no_questions(home: Path) -> None:
    agent(home, "Fix the sink", "--mode", "autonomous")
    assert "hybrid" in refused(["agent", "ask", "Fix the sink", "Hello?"], home)


@pytest.mark.parametrize("words", ["", "  ", "x" * 20_000])
def test_a_question_has_bounds(home: Path, words: str) -> None:
    agent(home)
    assert "[invalid_value]" in refused(["agent", "ask", "Fix the sink", words], home)


# --------------------------------------------------------------------- sleep, and what is cancelled


LATER = at("2027-02-02T09:00:00Z")


UNTIL = "2027-02-01T00:00:00.000000Z"


def test_an_agent_that_sleeps_keeps_its_triggers_and_wakes_when_the_date_has_come(
    home: Path,
) -> None:
    (agent_id,) = proposing(home)
    assert (
        told(["agent", "sleep", agent_id, "--until", "2027-02-01"], home)["asleep_until"] == UNTIL
    )
    done(["task", "note", "Fix the sink", "It drips again."], home)
    assert told(["wake"], home) == []
    assert "sleeps until 2027-02-01 00:00" in run(["wake"], home).output
    (queued,) = told(["status"], home)["queued"]
    assert (queued["due_at"], queued["asleep"]) == (UNTIL, True)
    assert ", asleep" in done(["status"], home)
    assert "Asleep:     until 2027-02-01 00:00" in done(["agent", "show", agent_id], home)
    ran = told(["wake"], home, env=LATER)
    assert [one["outcome"] for one in ran] == ["completed"]
    assert told(["agent", "show", agent_id], home, env=LATER)["asleep_until"] is None


def test_a_sleep_is_said_clearly(home: Path) -> None:
    (agent_id,) = proposing(home)
    assert "--until DATE" in refused(["agent", "sleep", agent_id], home)
    assert "later" in refused(["agent", "sleep", agent_id, "--until", "2026-12-31"], home)
    assert "no time" in refused(["agent", "sleep", agent_id, "--until", "soon"], home)


def test_a_queued_wake_is_cancelled_with_what_made_it(home: Path) -> None:
    agent_id = agent(home)
    cancelled = told(["wake", "--cancel", agent_id, "--key", "mine"], home)
    assert (cancelled["outcome"], cancelled["error_code"]) == ("skipped", "cancelled")
    again = told(["wake", "--cancel", agent_id, "--key", "mine"], home)
    assert again["run_key"] == cancelled["run_key"]
    assert told(["wake"], home) == []
    assert "nothing is queued" in refused(["wake", "--cancel", agent_id], home)
    assert "cancelled" in done(["wakes"], home)
    assert "name a task" in refused(["wake", "--cancel"], home)


# ------------------------------------------------------------------------------- templates (SPEC 8)


def test_the_built_in_templates_are_listed_before_they_are_used(home: Path) -> None:
    text = done(["template", "list"], home)
    assert "laura" in text
    assert "tom" in text
    assert told(["template", "list"], home) == []
    assert "How to report" in done(["template", "show", "tom"], home)
    assert not home.exists()


def test_a_version_counts_on_after_a_rollback(home: Path) -> None:
    done(["template", "create", "Calm", "--general", "one"], home)
    done(["template", "version", "Calm", "--general", "two"], home)
    done(["template", "rollback", "Calm", "1"], home)
    shown = told(["template", "version", "Calm", "--general", "three"], home)
    assert [(one["version"], one["active"]) for one in shown["versions"]] == [
        (1, False),
        (2, False),
        (3, True),
    ]
    line = refused(["template", "rollback", "Calm", "9"], home)
    assert "no version 9" in line


def test_a_built_in_template_is_what_it_is_called_whatever_name_it_has_now(home: Path) -> None:
    agent(home, TASK, "--template", "laura")
    changed = told(["template", "set", "laura", "--name", "Ada"], home)
    assert [told(["template", "show", one], home) for one in ("laura", "Ada")] == [changed] * 2
    done(["template", "assign", TASK, "built-in"], home)
    done(["template", "create", "Laura", "--general", "mine"], home)
    done(["template", "delete", changed["id"]], home)
    assert "laura" not in done(["template", "list"], home)
    assert told(["template", "show", "laura"], home)["versions"][0]["general"] == "mine"


def test_a_built_in_template_that_was_deleted_is_made_anew(home: Path) -> None:
    agent(home, TASK, "--template", "laura")
    (before,) = told(["template", "list"], home)
    done(["template", "assign", TASK, "built-in"], home)
    done(["template", "delete", "laura"], home)
    assert told(["template", "show", "laura"], home)["id"] is None
    again = [told(["template", "assign", TASK, "laura", "--key", "k"], home) for _ in range(2)]
    assert again[0] == again[1]
    (after,) = told(["template", "list"], home)
    assert after["id"] == again[0]["template_id"] != before["id"]
    assert after["versions"][0]["general"] == before["versions"][0]["general"]
    assert proved(home)


def test_new_agents_of_a_category_take_its_template(home: Path) -> None:
    done(["category", "add", "Work"], home)
    done(["template", "create", "Calm", "--report", "Two lines.", "--category", "Work"], home)
    done(["task", "add", "Write", "--category", "Work"], home)
    done(["task", "add", "Rest"], home)
    done(["agent", "create", "--all"], home)
    (template,) = told(["template", "list"], home)
    found = {one["name"]: one["template_id"] for one in told(["agent", "list"], home)}
    assert found["Write"] == template["id"]
    assert not found["Rest"]
    assert len(template["agents"]) == 1


TASK = "Fix the sink"


def test_a_wake_is_rated_and_bad_input_is_told(home: Path) -> None:
    agent(home, TASK, "--template", "laura")
    agent(home, "Mend the roof")
    done(["wake"], home)
    first = told(["rate", TASK, "4"], home)
    assert (first["stars"], first["unchanged"]) == (4, False)
    assert told(["rate", TASK, "4"], home)["unchanged"]
    assert "1 rated, 4.0 of 5" in done(["lessons", "laura"], home)
    assert "without a template" in refused(["rate", "Mend the roof", "4"], home)
    assert "is not in the range" in refused(["rate", TASK, "6"], home)
    assert "no category or template" in refused(["lessons", "Nowhere"], home)
    assert inbox(home)


# -------------------------------------- a model that streams: what is printed, and what is recorded


REPORT = {"content": "An hour.", "tldr": "On its way.", "oneLiner": "On track"}


SCRIPT = (
    answer(text("I look at it."), call("update_report", REPORT, signature=SIGNATURE)),
    answer(text("It takes an hour; größer ist es nicht.")),
)


ASK = ["--model", "gemini", "agent", "ask", "Fix the sink", "How long?"]


def ask(home: Path, *script: Answer, options: tuple[str, ...] = ()) -> tuple[Any, list[str]]:
    """The command's result, and the paths that were asked."""
    with serving(*script) as server:
        result = run([*ASK, *options], home, env=environment(server))
    return result, [sent.path for sent in server.sent]


def test_streamed_or_not_the_same_is_recorded(home: Path) -> None:
    home.mkdir()
    digests = []
    for name, option, path in (("a", "--stream", STREAM_PATH), ("b", "--no-stream", PATH)):
        agent(home / name)
        agreed(home / name)
        result, paths = ask(home / name, *SCRIPT, options=(option,))
        assert result.exit_code == 0, result.output
        assert paths == [path, path]
        digests.append(told(["prove"], home / name)["digest"])
        told_words = "It takes an hour; größer ist es nicht.\n"
        seen = "I look at it.\n" + told_words if option == "--stream" else told_words
        assert result.stdout == seen
    assert digests[0] == digests[1]


@pytest.mark.parametrize("options", [(), ("--json", "--stream")])
def test_in_a_pipe_and_with_json_nothing_is_streamed(home: Path, options: tuple[str, ...]) -> None:
    agent(home)
    agreed(home)
    result, paths = ask(home, *SCRIPT, options=options)
    assert paths == [PATH, PATH]
    assert "I look at it." not in result.stdout


def test_what_came_to_nothing_is_said_before_it_is_printed_again(home: Path) -> None:
    agent(home)
    agreed(home)
    broken = answer(text("I call it"), finish="MALFORMED_FUNCTION_CALL")
    result, _ = ask(home, broken, *SCRIPT, options=("--stream",))
    assert result.stdout.startswith("I call it\nI look at it.\nIt takes")
    assert AGAIN in result.stderr
    assert result.output.index(AGAIN) < result.output.index("I look at it.")
    assert proved(home)


def test_words_that_break_off_for_good_are_followed_by_what_became_of_the_wake(home: Path) -> None:
    agent(home)
    agreed(home)
    limit = json.dumps(json.loads(limited(retry_info("90s")).body)).encode()
    broken = SCRIPT[1]._replace(breaks_after=2, then=limit)
    result, _ = ask(home, broken, options=("--stream",))
    assert result.stdout.startswith("It takes an ho\nFix the sink: waits for its provider until")
    assert result.exit_code == 3
    assert proved(home)


def test_a_chat_streams_each_answer(home: Path) -> None:
    agent(home)
    agreed(home)
    script = (*SCRIPT, answer(text("Now it is done.")))
    with serving(*script) as server:
        result = run(
            ["--model", "gemini", "agent", "chat", "Fix the sink", "--stream"],
            home,
            env=environment(server),
            input="How long?\nAnd now?\n",
        )
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("ist es nicht.\nNow it is done.\n")
    assert {sent.path for sent in server.sent} == {STREAM_PATH}


def test_a_terminal_obeys_nothing_that_a_model_says(home: Path) -> None:
    agent(home)
    agreed(home)
    script = (SCRIPT[0], answer(text("\x1b[2JGone.\x07")))
    result, _ = ask(home, *script, options=("--stream",))
    assert "\x1b" not in result.stdout
    assert "[2JGone." in result.stdout
