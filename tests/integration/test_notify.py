"""Who is told when something waits: by a program and by a web address, beside `wakelog run`."""

import json
from pathlib import Path

from tests.support.cli import done, proved, refused, run, told
from tests.support.receivers import program, read, receiver, settings
from tests.support.waking import agent, fault, proposing, tape


def command(kept: Path) -> str:
    return f"command = {json.dumps(program(kept))}"


def test_a_program_is_told_once_that_proposals_wait(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    settings(home, command(kept))
    agent_id = agent(home)
    assert told(["notify", "allow"], home)["changed"]
    ran = run(["--json", "run", "--until-idle"], home)
    assert '"event":"told"' in ran.stderr, ran.output
    (message,) = read(kept)
    (line,) = message["waits"]
    assert (line["agent_id"], line["what"]) == (agent_id, ["proposals"])
    assert message["title"] == "wakelog: 1 task waits for you"
    assert message["text"] == f"Fix the sink: {line['proposals']} proposals"
    run(["run", "--until-idle"], home)
    assert len(read(kept)) == 1
    shown = told(["notify"], home)
    assert shown["receivers"][0]["delivered_at"] is not None
    assert shown["waiting"] == []
    assert proved(home) > 0


def test_nobody_is_told_before_that_is_allowed_on_this_machine(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    settings(home, command(kept))
    agent(home)
    assert "notify allow" in run(["run", "--until-idle"], home).stderr
    assert done(["notify", "allow"], home)
    run(["run", "--until-idle"], home)  # what waited before is not told
    assert read(kept) == []


def test_a_home_without_receivers_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    assert "Nobody is told" in done(["notify"], home)
    assert told(["notify"], home)["receivers"] == []
    assert "[notify]" in refused(["notify", "allow"], home)
    assert "[notify]" in refused(["notify", "test"], home)


def test_an_address_is_sent_ids_and_counts_and_no_title(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with receiver() as web:
        settings(home, f'webhook = "{web.url}/hook?token=1"', 'secret = "env:HOOK"')
        agent(home, "Fix the MARKER sink")
        done(["notify", "allow"], home)
        run(["run", "--until-idle"], home, env={"HOOK": "a secret of mine"})
    (posted,) = web.posted
    assert posted.path == "/hook?token=1"
    assert b"MARKER" not in posted.body
    assert set(json.loads(posted.body)) == {"id", "count", "waits"}


def test_a_paused_agent_is_told_of_until_it_is_resumed(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    settings(home, command(kept))
    agent_id = agent(home)
    done(["notify", "allow"], home)
    model = tape(tmp_path / "tape.jsonl", *[fault("blocked", of_provider=False)] * 5)
    for _ in range(5):
        run(["--model", model, "wake", agent_id], home)
    assert told(["agent", "show", agent_id], home)["pause_reason"] == "failures"
    (waits,) = told(["notify"], home)["waiting"]
    assert (waits["title"], waits["what"]) == ("Fix the sink", ["paused"])
    assert read(kept) == []  # nobody is told by a wake that a person waits for
    run(["run", "--until-idle"], home)
    (message,) = read(kept)
    assert message["text"] == "Fix the sink: the agent is paused after failures"


def test_after_quiet_hours_all_is_told_together_but_what_is_done_with(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    settings(home, command(kept), 'quiet = "08:00-12:00"')
    done(["notify", "allow"], home)
    titles = ["Fix the sink", "Paint the door", "Mend the roof"]
    for title in titles:
        agent(home, title)
        run(["run", "--until-idle"], home)
    assert read(kept) == []  # it is nine o'clock
    assert [one["title"] for one in told(["notify"], home)["waiting"]] == titles
    done(["reject", "2", "--all", "--reason", "No"], home)
    run(["run", "--until-idle"], home, env={"WAKELOG_NOW": "2027-01-01T12:00:00Z"})
    (message,) = read(kept)
    assert [line.partition(":")[0] for line in message["text"].splitlines()] == titles[::2]


def test_a_fork_a_backup_and_a_simulation_tell_nobody(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    settings(home, command(kept))
    proposing(home)
    done(["notify", "allow"], home)
    (run_key,) = [one["run_key"] for one in told(["wakes"], home)]
    done(["fork", run_key, "--model", "rules", "--out", str(tmp_path / "fork")], home)
    done(["backup", str(tmp_path / "backup")], home)
    done(["simulate", "--wakes", "2"], home)
    for copy in ("fork", "backup"):
        run(["run", "--until-idle"], tmp_path / copy)
        allowed = [one["allowed"] for one in told(["notify"], tmp_path / copy)["receivers"]]
        assert True not in allowed
    assert read(kept) == []
