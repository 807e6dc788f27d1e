"""Who is told when something waits: by a program and by a web address, beside `wakelog run`."""

import json
from pathlib import Path

from tests.support.cli import done, proved, refused, run, told
from tests.support.receivers import program, read, receiver, settings
from tests.support.waking import agent


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
