"""`wakelog report`, `journal`, `messages`, `wakes`, `show`, `why` on a home that was lived in."""

from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, told

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


def test_the_newest_messages_are_kept_where_there_are_too_many(lived: Path) -> None:
    (whole,) = told(["messages", "Fix the tap"], lived)
    (thread,) = told(["messages", "Fix the tap", "--limit", "2"], lived)
    assert thread["messages"] == whole["messages"][-2:]


def test_a_thread_is_named_by_its_beginning_and_an_unknown_one_is_empty(lived: Path) -> None:
    (whole,) = told(["messages", "Fix the tap"], lived)
    name = whole["messages"][0]["run_key"][:6]
    assert told(["messages", "Fix the tap", "--thread", name], lived) == [whole]
    assert "no thread 'x'" in done(["messages", "Fix the tap", "--thread", "x"], lived)


def test_without_wakes_there_is_a_next_step(tmp_path: Path) -> None:
    assert "wakelog wake" in done(["wakes"], tmp_path / "home")
    assert not (tmp_path / "home").exists(), "reading makes nothing"


def test_a_wake_that_has_not_begun_has_no_prompt(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Paint"], home)
    done(["agent", "create", "--task", "Paint"], home)
    (queued,) = told(["wakes"], home)
    assert told(["show", queued["run_key"]], home)["steps"] == []
    assert "queued" in done(["show", queued["run_key"]], home)
    assert "has not begun" in refused(["show", queued["run_key"], "--prompt"], home)


def test_only_the_last_triggers_are_told(lived: Path) -> None:
    found = told(["why", "Fix the tap", "--limit", "1"], lived)
    assert sum(one["outcome"] != "unmatched" for one in found) == 1


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
