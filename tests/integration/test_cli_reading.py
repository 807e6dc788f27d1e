"""`wakelog report`, `journal`, `messages`, `wakes`, `show`, `why` on a home that was lived in."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from adapters.cli.main import cli
from tests.support.cli import FIXED, done, proved, refused, run, told

TODO = """\
# Home

- [ ] Fix the tap #repairs
  - [x] Turn off the water
  - [ ] Find out the model

  It is urgent. I need to call the plumber. Due by 2027-03-04.

- [ ] Paint the door

  It takes about 2 hours.

- [ ] Water the plants
"""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks; two have agents that woke once. It is only read."""
    home = tmp_path_factory.mktemp("lived") / "home"
    live(home)
    return home


def live(home: Path) -> None:
    done(["import", "--source", "todo", "-"], home, input=TODO)
    for title in ("Fix the tap", "Paint the door"):
        done(["agent", "create", "--task", title], home)
    done(["wake"], home)


# ---------------------------------------------------------------------------------------- report


def test_a_report_says_who_wrote_it_when_and_of_what(lived: Path) -> None:
    shown = done(["report", "Fix the tap"], lived)
    assert shown.startswith("Fix the tap\n2027-01-01 09:00 by wake ")
    assert "no model, only fixed rules" in shown
    assert "TL;DR" in shown
    assert "**" in shown, "in a pipe Markdown stays as it is"


def test_the_document_of_a_report(lived: Path) -> None:
    report = told(["report", "Fix the tap"], lived)
    wanted = "task_id agent_id run_key at tldr one_liner content history".split()
    assert list(report)[: len(wanted)] == wanted
    (one,) = report["history"]
    assert (one["run_key"], one["tldr"]) == (report["run_key"], report["tldr"])
    assert report["model"] == "rules"
    assert report["stale"] is False
    assert "task" in report["sections"]


def test_times_are_told_by_the_persons_clock(lived: Path) -> None:
    shown = done(["report", "Fix the tap"], lived, env={"WAKELOG_TIMEZONE": "Asia/Tokyo"})
    assert "2027-01-01 18:00" in shown


def test_an_agent_without_a_report_says_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Paint"], home)
    done(["agent", "create", "--task", "Paint"], home)
    assert 'wakelog wake "Paint"' in done(["report", "Paint"], home)
    report = told(["report", "Paint"], home)
    assert (report["run_key"], report["content"], report["history"]) == (None, None, [])


def test_a_task_without_an_agent_says_what_to_do(lived: Path) -> None:
    assert "wakelog agent create" in refused(["report", "Water the plants"], lived)


def test_earlier_reports_are_kept_and_a_stale_one_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    live(home)
    done(["agent", "watch", "Fix the tap", "--what", "TASK"], home)
    done(["agent", "set", "Fix the tap", "--no-automatic"], home)
    done(["task", "set", "Fix the tap", "--estimate", "90"], home)
    done(["wake"], home)  # looks at the journal; the agent sleeps on
    assert "may be stale" in done(["report", "Fix the tap"], home)
    first = told(["report", "Fix the tap"], home)["run_key"]
    done(["wake", "Fix the tap"], home)
    report = told(["report", "Fix the tap"], home)
    assert [one["run_key"] for one in report["history"]] == [report["run_key"], first]
    assert "may be stale" not in done(["report", "Fix the tap"], home)
    assert first[:8] in done(["report", "Fix the tap", "--history"], home)
    proved(home)


# ------------------------------------------------------------------------- journal and messages


def test_the_journal_has_observations_with_priority_and_category(lived: Path) -> None:
    (one,) = told(["journal", "Fix the tap"], lived)
    assert list(one)[:5] == ["at", "run_key", "text", "priority", "category"]
    assert (one["priority"], one["category"]) == ("routine", "operational")
    lines = done(["journal", "Fix the tap"], lived).splitlines()
    assert lines[0].split("\t") == ["When", "Wake", "Priority", "Category", "Observation"]
    assert len(lines) == 2


def test_messages_stand_in_their_threads(lived: Path) -> None:
    (thread,) = told(["messages", "Fix the tap"], lived)
    assert thread["thread"] == f"agent:run:{thread['messages'][0]['run_key']}"
    kinds = {one["kind"] for one in thread["messages"]}
    assert {"system", "action", "tool_result", "summary", "observation"} <= kinds
    heading, *_ = done(["messages", "Fix the tap"], lived).splitlines()
    assert heading == f"Wake {thread['messages'][0]['run_key'][:8]}"
    assert told(["messages", "Fix the tap", "--thread", heading.split()[1]], lived) == [thread]


def test_the_newest_messages_are_kept_where_there_are_too_many(lived: Path) -> None:
    (whole,) = told(["messages", "Fix the tap"], lived)
    (thread,) = told(["messages", "Fix the tap", "--limit", "2"], lived)
    assert thread["messages"] == whole["messages"][-2:]


def test_a_thread_is_named_by_its_beginning_and_an_unknown_one_is_empty(lived: Path) -> None:
    (whole,) = told(["messages", "Fix the tap"], lived)
    name = whole["messages"][0]["run_key"][:6]
    assert told(["messages", "Fix the tap", "--thread", name], lived) == [whole]
    assert "no thread 'x'" in done(["messages", "Fix the tap", "--thread", "x"], lived)


# ----------------------------------------------------------------------------------------- wakes


def test_wakes_are_listed_the_newest_first(lived: Path) -> None:
    found = told(["wakes"], lived)
    assert [one["reason"] for one in found] == ["creation", "creation"]
    assert found[0]["queued_at"] > found[1]["queued_at"]
    (one,) = told(["wakes", "Fix the tap"], lived)
    assert one["outcome"] == "completed"
    assert told(["wakes", "--limit", "1"], lived) == found[:1]
    assert told(["wakes", "--outcome", "failed"], lived) == []
    assert told(["wakes", "--outcome", "completed"], lived) == found
    assert len(done(["wakes"], lived).splitlines()) == 3


def test_without_wakes_there_is_a_next_step(tmp_path: Path) -> None:
    assert "wakelog wake" in done(["wakes"], tmp_path / "home")
    assert not (tmp_path / "home").exists(), "reading makes nothing"


# ------------------------------------------------------------------------------------------ show


def run_key(home: Path) -> str:
    return str(told(["wakes", "Fix the tap"], home)[0]["run_key"])


def test_a_wake_is_shown_step_by_step(lived: Path) -> None:
    key = run_key(lived)
    shown = told(["show", key[:6]], lived)
    assert shown["run_key"] == key
    assert shown["causes"][0]["reason"] == "creation"
    kinds = [step["kind"] for step in shown["steps"]]
    assert kinds[0] == "wake.started.1"
    assert "wake.finished.1" in kinds
    assert kinds.count("changes.item_proposed.1") == shown["proposals"] > 0
    assert "agent.observed.1" in kinds
    order = [step["n"] for step in shown["steps"]]
    assert order == sorted(order)
    assert shown["usage"]["cost"] is None
    answered = next(step for step in shown["steps"] if step["kind"] == "wake.model_answered.1")
    assert isinstance(answered["data"]["calls"][0]["arguments"], dict)
    text = done(["show", key], lived)
    assert "update_report" in text
    assert "completed" in text


def test_what_the_model_was_shown_is_shown_byte_for_byte(lived: Path) -> None:
    key = run_key(lived)
    prompt = told(["show", key, "--prompt"], lived)
    sections = [one["text"] for one in (*prompt["system"], *prompt["user"])]
    result = run(["show", key, "--prompt"], lived)
    assert result.stdout_bytes == "\n\n".join(sections).encode()
    assert any("I need to call the plumber" in text for text in sections)


def test_a_wake_that_has_not_begun_has_no_prompt(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Paint"], home)
    done(["agent", "create", "--task", "Paint"], home)
    (queued,) = told(["wakes"], home)
    assert told(["show", queued["run_key"]], home)["steps"] == []
    assert "queued" in done(["show", queued["run_key"]], home)
    assert "has not begun" in refused(["show", queued["run_key"], "--prompt"], home)


@pytest.mark.parametrize("wanted", ["abc", "zzzzzz", "\x00", "ä" * 300, "%"])
def test_an_unknown_run_is_refused(lived: Path, wanted: str) -> None:
    assert "[unknown_wake]" in refused(["show", wanted], lived)


# ------------------------------------------------------------------------------------------- why


def test_why_tells_what_became_of_each_trigger(tmp_path: Path) -> None:
    home = tmp_path / "home"
    live(home)
    done(["agent", "watch", "Fix the tap", "--what", "NOTE"], home)
    done(["task", "note", "Paint the door", "In green."], home)
    done(["task", "note", "Paint the door", "In blue."], home)
    done(["category", "add", "Garden"], home)
    not_noticed = {one["rule"] for one in told(["why", "Fix the tap"], home)}
    assert "not_noticed" in not_noticed
    done(["wake"], home)
    done(["agent", "pause", "Fix the tap"], home)
    done(["task", "note", "Paint the door", "In red."], home)
    run(["wake"], home)
    found = told(["why", "Fix the tap"], home)
    by_what: dict[str, set[str]] = {}
    for one in found:
        by_what.setdefault(one["outcome"], set()).add(one["what"])
    assert "it was created" in by_what["woke"]
    assert {"note added by you"} <= by_what["merged"]
    assert "note added by you" in by_what["suppressed"]
    assert "category added by you" in by_what["unmatched"]
    assert {one["rule"] for one in found if one["outcome"] == "suppressed"} == {
        "dormant",
        "own_write",
    }
    assert [one["at"] for one in found] == sorted((one["at"] for one in found), reverse=True)
    for one in found:
        assert list(one)[:6] == ["position", "at", "tokens", "outcome", "run_key", "rule"]
        assert (one["run_key"] is None) == (one["outcome"] in ("suppressed", "unmatched"))
    text = done(["why", "Fix the tap"], home)
    assert "the agent is paused" in text
    proved(home)


def test_what_is_queued_is_told_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Paint"], home)
    done(["agent", "create", "--task", "Paint"], home)
    (one,) = told(["why", "Paint"], home)
    assert (one["outcome"], one["reason"]) == ("queued", "creation")


def test_changes_before_an_agent_was_made_are_none_of_its_business(lived: Path) -> None:
    found = told(["why", "Paint the door"], lived)
    unmatched = [one["what"] for one in found if one["outcome"] == "unmatched"]
    assert all("import" not in what for what in unmatched)


def test_only_the_last_triggers_are_told(lived: Path) -> None:
    found = told(["why", "Fix the tap", "--limit", "1"], lived)
    assert sum(one["outcome"] != "unmatched" for one in found) == 1


# ---------------------------------------------------------------------------------------- always


def test_why_tells_of_a_change_which_agents_it_concerned(lived: Path) -> None:
    for one in told(["why", "Fix the tap"], lived):
        if not one["position"].startswith("journal:") or one["outcome"] == "unmatched":
            continue
        n = one["position"].rpartition(":")[2]
        for name in (one["position"], f"journal:{n}"):
            found = {of["agent"]: of for of in told(["why", name], lived)}
            assert {key: found["Fix the tap"][key] for key in one} == one
    done(["category", "add", "Garden"], lived)
    last = told(["status"], lived)["journal"]["appends"]
    assert told(["why", f"journal:{last}"], lived) == []
    assert "No agent subscribes" in done(["why", f"journal:{last}"], lived)
    done(["task", "note", "Fix the tap", "More."], lived)
    (one,) = told(["why", f"journal:{last + 1}"], lived)
    assert (one["outcome"], one["rule"]) == ("queued", "not_noticed")
    assert "note added by you" in done(["why", f"journal:{last + 1}"], lived)
    assert "has no append 9999" in refused(["why", "journal:9999"], lived)


READERS = ("report", "journal", "messages", "wakes", "why")


@pytest.mark.parametrize("command", READERS)
def test_an_unknown_name_is_refused_in_one_line(lived: Path, command: str) -> None:
    assert "unknown_agent" in refused([command, "nobody"], lived)


@pytest.mark.parametrize("command", [*READERS, "show"])
def test_help_has_an_example(command: str) -> None:
    result = CliRunner().invoke(cli, [command, "--help"], env=FIXED)
    assert result.exit_code == 0
    assert "Example" in result.stdout


def test_json_may_stand_on_either_side(lived: Path) -> None:
    after, before = run(["wakes", "--json"], lived), run(["--json", "wakes"], lived)
    assert after.stdout == before.stdout
    assert after.stdout.startswith("[")
