"""Who is told when something waits, beside `wakelog run`; how a program and a web address are told,
and what is said of those that are not."""

import hashlib
import hmac
import json
import shutil
import sys
from pathlib import Path

import pytest

from adapters.home.settings import NotifySettings
from adapters.notify.channels import CommandChannel, WebhookChannel
from adapters.notify.notices import Message, WaitingTask
from tests.support.cli import done, proved, run, told
from tests.support.homes import Homes
from tests.support.receivers import program, read, receiver, settings
from tests.support.waking import agent, fault, proposing, tape


def telling(kept: Path) -> str:
    """The setting that names a program which keeps what it is told."""
    return f"command = {json.dumps(program(kept))}"


def of_an_agent(tmp_path: Path, homes: Homes, *lines: str) -> tuple[Path, Path]:
    """A home of one agent that was not woken yet, with these receivers; and what they keep."""
    home, kept = homes.copy(agent, tmp_path / "home"), tmp_path / "kept"
    settings(home, *(lines or [telling(kept)]))
    return home, kept


def test_a_program_is_told_once_that_proposals_wait(tmp_path: Path, homes: Homes) -> None:
    home, kept = of_an_agent(tmp_path, homes)
    (agent_id,) = [one["id"] for one in told(["agent", "list"], home)]
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


def test_nobody_is_told_before_that_is_allowed_on_this_machine(
    tmp_path: Path, homes: Homes
) -> None:
    home, kept = of_an_agent(tmp_path, homes)
    assert "notify allow" in run(["run", "--until-idle"], home).stderr
    assert done(["notify", "allow"], home)
    run(["run", "--until-idle"], home)  # what waited before is not told
    assert read(kept) == []


def test_a_paused_agent_is_told_of_until_it_is_resumed(tmp_path: Path, homes: Homes) -> None:
    home, kept = of_an_agent(tmp_path, homes)
    (agent_id,) = [one["id"] for one in told(["agent", "list"], home)]
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
    settings(home, telling(kept), 'quiet = "08:00-12:00"')
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
    settings(home, telling(kept))
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


MESSAGE = Message(
    "m1", 1, [WaitingTask("t1", "a1", ["proposals"], 2, "MARKER")], "MARKER", "MARKER"
)
SLEEPS = (sys.executable, "-c", "import time; time.sleep(600)")


def command(*given: str, seconds: float = 10.0) -> CommandChannel:
    return CommandChannel(
        NotifySettings(command=given), "", {"GEMINI_API_KEY": "k" * 40, "A": "b"}, seconds
    )


def webhook(url: str, secret: str = "", seconds: float = 5.0) -> WebhookChannel:
    chosen = NotifySettings(webhook=url, secret="env:HOOK" if secret else "")
    return WebhookChannel(chosen, "", {"HOOK": secret}, seconds)


def test_a_program_is_given_one_object_and_no_key_of_ours(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert command(*program(kept)).send(MESSAGE) == ""
    assert [one["title"] for one in read(kept)] == ["MARKER"]
    script = f"import json, os; open({str(kept)!r}, 'w').write(json.dumps(dict(os.environ)))"
    assert command(sys.executable, "-c", script).send(MESSAGE) == ""
    (environ,) = read(kept)
    assert environ["A"] == "b"
    assert "GEMINI_API_KEY" not in environ


def test_a_program_that_hangs_is_cut_off_with_what_it_started(tmp_path: Path) -> None:
    assert "cut off after 0.2 seconds" in command(*SLEEPS, seconds=0.2).send(MESSAGE)


def test_a_program_that_fails_or_is_not_there_is_named(tmp_path: Path) -> None:
    assert command(sys.executable, "-c", "raise SystemExit(3)").send(MESSAGE).endswith("with 3")
    assert "cannot be started" in command(str(tmp_path / "missing")).send(MESSAGE)
    assert "cannot be started" in command(str(tmp_path)).send(MESSAGE)


def test_no_text_of_the_persons_is_sent_to_an_address() -> None:
    with receiver() as web:
        assert webhook(f"{web.url}/hook?token=1").send(MESSAGE) == ""
    (posted,) = web.posted
    assert posted.path == "/hook?token=1"
    assert b"MARKER" not in posted.body
    assert json.loads(posted.body) == {
        "id": "m1",
        "count": 1,
        "waits": [{"task_id": "t1", "agent_id": "a1", "what": ["proposals"], "proposals": 2}],
    }
    assert "x-wakelog-signature" not in posted.headers


def test_what_is_sent_is_signed_where_a_secret_is_named() -> None:
    with receiver() as web:
        assert webhook(web.url, "my own secret").send(MESSAGE) == ""
    (posted,) = web.posted
    signed = hmac.new(b"my own secret", posted.body, hashlib.sha256).hexdigest()
    assert posted.headers["x-wakelog-signature"] == f"sha256={signed}"
    unset = WebhookChannel(NotifySettings(webhook=web.url, secret="env:HOOK"), "", {})
    assert "HOOK" in unset.send(MESSAGE)


def test_a_redirect_is_not_followed_and_a_refusal_is_told() -> None:
    for status in (307, 500):
        with receiver(status) as web:
            assert webhook(web.url).send(MESSAGE).endswith(f"answered {status}")
        assert len(web.posted) == 1


def test_an_address_that_hangs_is_cut_off_and_one_that_is_gone_is_named() -> None:
    with receiver(0) as web:
        assert "did not answer in 0.3 seconds" in webhook(web.url, seconds=0.3).send(MESSAGE)
    assert "cannot be reached" in webhook(web.url).send(MESSAGE)


def test_a_path_of_an_address_is_not_shown(tmp_path: Path, homes: Homes) -> None:
    home, _ = of_an_agent(tmp_path, homes, 'webhook = "https://example.org/services/MARKER"')
    assert "MARKER" not in done(["notify", "allow"], home)
    assert "https://example.org" in done(["notify"], home)


@pytest.mark.slow
def test_a_delivery_is_tried_three_times_then_told_of_and_kept(
    tmp_path: Path, homes: Homes
) -> None:
    with receiver(503) as web:
        home, _ = of_an_agent(tmp_path, homes, f'webhook = "{web.url}"', "every_minutes = 0")
        done(["notify", "allow"], home)
        assert "answered 503" in run(["run", "--until-idle"], home).stderr
        assert len(web.posted) == 3
        for shown in (["status"], ["notify"], ["doctor"]):
            assert "answered 503" in run(shown, home).stdout
        web.statuses = [204]
        later = {"WAKELOG_NOW": "2027-01-01T10:00:00Z"}
        run(["run", "--until-idle"], home, env=later)
    assert len({json.loads(one.body)["id"] for one in web.posted}) == 1
    assert len(web.posted) == 4
    assert told(["notify"], home)["receivers"][0]["failure"] is None


def test_a_receiver_is_tried_with_a_test(tmp_path: Path, homes: Homes) -> None:
    home, kept = of_an_agent(tmp_path, homes)
    assert str(kept) in done(["notify", "allow"], home)  # all of what is allowed
    assert "was told" in done(["notify", "test"], home)
    assert [one["id"] for one in read(kept)] == ["test"]
    settings(home, 'command = ["/missing"]')
    failed = run(["notify", "test"], home)
    assert failed.exit_code == 1
    assert "was not told" in failed.stdout


def test_another_program_or_another_folder_is_to_be_allowed_anew(
    tmp_path: Path, homes: Homes
) -> None:
    home, kept = of_an_agent(tmp_path, homes)
    assert told(["notify", "allow"], home)["changed"]
    assert not told(["notify", "allow"], home)["changed"]
    home.rename(tmp_path / "moved")
    moved = told(["notify"], tmp_path / "moved")
    assert [one["allowed"] for one in moved["receivers"]] == [True]
    shutil.copytree(tmp_path / "moved", home)
    assert [one["allowed"] for one in told(["notify"], home)["receivers"]] == [False]
    settings(tmp_path / "moved", f"command = {json.dumps([*program(kept), 'more'])}")
    assert [one["allowed"] for one in told(["notify"], tmp_path / "moved")["receivers"]] == [False]
    assert told(["notify", "withdraw"], tmp_path / "moved")["changed"]


def test_a_program_is_given_no_key_that_the_settings_name(tmp_path: Path) -> None:
    kept, home = tmp_path / "kept", tmp_path / "home"
    script = f"import json, os; open({str(kept)!r}, 'w').write(json.dumps(dict(os.environ)))"
    done(["task", "add", "Fix the sink"], home)
    with (home / "settings.toml").open("a", encoding="utf-8") as file:
        file.write(f"[notify]\ncommand = {json.dumps([sys.executable, '-c', script])}\n")
        file.write('[models.fast]\nbase_url = "https://h/v1"\nmodel = "m"\nkey = "env:FAST_KEY"\n')
    done(["notify", "test"], home, env={"FAST_KEY": "k" * 40, "OTHER": "b"})
    environ = json.loads(kept.read_text())
    assert environ["OTHER"] == "b"
    assert "FAST_KEY" not in environ
