"""`wakelog fork`: something else in a wake's world, in a home of its own, and none of it here."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from adapters.runtime import review
from adapters.runtime.effect_executor import run_wake
from adapters.timetravel.fork import Branch, ForkChanges
from adapters.timetravel.logs_at import Past
from domain.agent.commands import RequestWake
from domain.changes.change_set import set_id
from replay.fork import ChangedVerdict
from tests.support import services
from tests.support.cli import done, proved, refused, run, told
from tests.support.disks import small_disk
from tests.support.pasts import FIRST, SECOND, begun
from tests.support.waking import agent, fault, reply, report, tape
from wakelog.testing import REPORT, calls

LOGS = ("journal.db", "agent.db", "journal.db-wal", "agent.db-wal")


@pytest.fixture(scope="module")
def home(past: Path) -> Path:
    return past


def stored(home: Path) -> dict[str, bytes]:
    """The bytes of both logs."""
    return {name: (home / name).read_bytes() for name in LOGS if (home / name).exists()}


def forked(home: Path, run_key: str, *options: str) -> Any:
    """The document of a fork that came to its end; its home was proved, ours was left alone."""
    before = stored(home)
    document = told(["fork", run_key, *options], home)
    assert stored(home) == before, "a fork is fenced"
    assert proved(Path(document["home"])) > 0
    return document


def hows(document: Any) -> list[str]:
    return [one["how"] for one in document["answers"]]


def report_of(document: Any) -> Any:
    return told(["show", document["forked_run_key"]], Path(document["home"]))["report"]


def test_a_fork_without_a_difference_has_none(home: Path, keys: list[str]) -> None:
    for key in keys:
        document = forked(home, key)
        assert hows(document) == ["recorded", "recorded"]
        assert document["diff"]["same"]
        assert (document["stopped"], document["left_out"]) == (None, 0)
        assert Path(document["home"]).parent == home / "forks"


def test_a_fork_is_a_home_in_which_every_command_works(home: Path, keys: list[str]) -> None:
    document = forked(home, keys[0], "--out", str(home.parent / "out"))
    branch = Path(document["home"])
    assert branch == home.parent / "out"
    assert told(["replay", keys[0]], branch)["same"]
    assert [one["ref"] for one in told(["inbox"], branch)[0]["items"]] == ["1.1", "1.2"]
    done(["confirm", "1.1"], branch)
    assert told(["prove"], branch)["ok"]
    kept = (branch / "fork.json").read_text(encoding="utf-8")
    assert f'"run_key": "{keys[0]}"' in kept


def test_a_fork_goes_on_from_a_step(home: Path, keys: list[str]) -> None:
    steps = [one["n"] for one in told(["show", keys[0]], home)["steps"]]
    document = forked(home, f"{keys[0]}.{steps[0]}")
    assert hows(document) == ["recorded", "recorded"]
    assert document["diff"]["same"]
    later = forked(home, f"{keys[0]}.{sorted(set(steps))[2]}")
    assert hows(later) == ["recorded"]
    assert later["diff"]["same"]


def test_another_model_is_asked_from_the_beginning(
    home: Path, keys: list[str], tmp_path: Path
) -> None:
    document = forked(home, keys[0], "--model", "rules")
    assert set(hows(document)) == {"stub"}
    assert document["diff"]["model"]["b"] == "rules"
    assert document["diff"]["proposals"]["only_a"] == ['Add: "Buy a seal"']
    assert report_of(document)["one_liner"] != "Under way"
    other = tape(tmp_path / "other.jsonl", reply(report("Other words")), reply(text="Bye."))
    document = forked(home, keys[0], "--model", other)
    assert report_of(document)["one_liner"] == "Other words"
    assert document["diff"]["report"]["a"]["one_liner"] == "Under way"


def test_another_model_goes_on_from_a_step(home: Path, keys: list[str], tmp_path: Path) -> None:
    steps = sorted({one["n"] for one in told(["show", keys[0]], home)["steps"]})
    other = tape(tmp_path / "other.jsonl", reply(("update_report", {"content": "x", "tldr": "y",
        "oneLiner": "The last word"})), reply(text="Bye."))  # fmt: skip
    document = forked(home, f"{keys[0]}.{steps[2]}", "--model", other)
    assert hows(document) == ["stub", "stub"]
    assert document["diff"]["proposals"]["same"], "the first turn stays as it was"
    assert report_of(document)["one_liner"] == "The last word"


def test_a_model_that_does_not_answer_is_no_traceback(
    home: Path, keys: list[str], tmp_path: Path
) -> None:
    silent = tape(tmp_path / "silent.jsonl", fault("internal", of_provider=False))
    document = forked(home, keys[0], "--model", silent)
    assert document["diff"]["outcome"]["b"] == "failed (internal)"
    waiting = tape(tmp_path / "waiting.jsonl", fault())
    assert forked(home, keys[0], "--model", waiting)["diff"]["outcome"]["b"] == "no end"


def test_with_another_note_the_homes_model_answers_what_the_record_does_not(
    home: Path, keys: list[str]
) -> None:
    document = forked(home, keys[1], "--note", f"{FIRST}.1", "Due by 2027-05-01.")
    assert document["stopped"] is None
    assert document["model"] == "rules"
    assert {(one["how"], one["model"]) for one in document["answers"]} == {("stub", "rules")}
    told_of = done(["fork", keys[1], "--note", f"{FIRST}.1", "Due by 2027-05-01."], home)
    assert "prompt section task" in told_of
    assert "Due by 2027-05-01." in told_of


def test_another_note_keeps_the_recorded_answers_where_the_prompts_are_equal(
    home: Path, keys: list[str]
) -> None:
    document = forked(home, keys[0], "--note", SECOND, "It is red.")
    recorded = told(["show", keys[0]], home)["model"]
    assert recorded != "rules"
    assert {(one["how"], one["model"]) for one in document["answers"]} == {("recorded", recorded)}


def test_with_another_note_and_no_key_for_the_homes_model_the_fork_stops(
    home: Path, keys: list[str]
) -> None:
    before = stored(home)
    args = ["fork", keys[1], "--note", f"{FIRST}.1", "Due by 2027-05-01."]
    env = {"WAKELOG_MODEL": "gemini", "GEMINI_API_KEY": "", "GOOGLE_API_KEY": ""}
    result = run(args, home, env=env)
    assert result.exit_code == 1, result.output
    assert "stopped: the request differs from the recorded one, and no model was given" in (
        result.stdout
    )
    assert stored(home) == before


def directives(document: Any) -> str:
    prompt = told(["show", document["forked_run_key"], "--prompt"], Path(document["home"]))
    return "".join(one["text"] for one in prompt["system"] if one["name"] == "directives")


def test_another_template_is_tried(home: Path, keys: list[str]) -> None:
    document = forked(home, keys[0], "--template", "laura", "--model", "rules")
    assert "careful assistant" in directives(document)
    assert [one["section"] for one in document["diff"]["prompt"] if not one["same"]] == [
        "directives"
    ]
    (laura,) = told(["template", "list"], Path(document["home"]))
    assert document["template"] == {"id": laura["id"], "name": "Laura", "version": 1}
    assert told(["template", "list"], home) == [], "here it is still not in use"
    assert hows(forked(home, keys[0], "--template", "built-in")) == ["recorded", "recorded"]
    assert told(["prove"], Path(document["home"]))["ok"]


def test_versions_that_were_there_are_chosen_or_added(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    done(["template", "create", "Calm", "--general", "Be calm."], home)
    done(["template", "version", "Calm", "--general", "Be quick."], home)
    done(["template", "assign", "Fix the sink", "Calm"], home)
    done(["wake"], home)
    done(["template", "version", "Calm", "--general", "Be slow."], home)
    (key,) = begun(home)
    for number, says in ((1, "Be calm."), (3, "Be slow.")):
        document = forked(home, key, "--template", f"Calm.{number}", "--model", "rules")
        assert says in directives(document)
        (known,) = told(["template", "list"], Path(document["home"]))
        assert known["active_version"] == number
    assert hows(forked(home, key, "--template", "Calm.2")) != []
    assert forked(home, key, "--template", "Calm.2")["diff"]["same"]


def test_another_verdict_is_seen_by_the_next_wake(home: Path, keys: list[str]) -> None:
    document = forked(home, keys[1], "--verdict", "1.1=confirm", "--model", "rules")
    branch = Path(document["home"])
    task = told(["task", "show", FIRST], branch)
    assert task["estimate_minutes"] == 60
    assert [item["title"] for item in task["items"]] == ["Buy a seal"], "the other one stays"
    assert told(["task", "show", FIRST], home)["estimate_minutes"] is None
    (section,) = [one for one in document["diff"]["prompt"] if one["section"] == "task"]
    assert '"minutes": 60' in section["b"] or "60" in section["b"]
    assert document["left_out"] == 0


def test_a_confirmed_item_can_be_rejected_in_a_fork(home: Path, keys: list[str]) -> None:
    document = forked(home, keys[1], "--verdict", "1.2=reject", "--model", "rules")
    assert told(["task", "show", FIRST], Path(document["home"]))["items"] == []
    both = ("--verdict", "1.2=reject", "--verdict", "1.1=confirm")
    document = forked(home, keys[2], *both, "--model", "rules")
    task = told(["task", "show", FIRST], Path(document["home"]))
    assert (task["estimate_minutes"], task["items"]) == (60, [])
    items = told(["inbox", "--all"], Path(document["home"]))[0]["items"]
    assert [one["status"] for one in items] == ["confirmed", "rejected"]


def test_wakes_between_another_verdict_and_the_fork_see_the_other_world(
    home: Path, keys: list[str]
) -> None:
    document = forked(home, keys[2], "--verdict", "1.1=confirm", "--model", "rules")
    branch = Path(document["home"])
    assert document["left_out"] == 0
    for key in (begun(branch)[1], document["forked_run_key"]):
        assert "60" in done(["at", key, "--prompt"], branch)


def test_the_same_verdict_again_changes_nothing(home: Path, keys: list[str]) -> None:
    document = forked(home, keys[1], "--verdict", "1.2=confirm")
    assert document["diff"]["same"]


def test_a_fork_tells_how_far_it_has_come(tmp_path: Path) -> None:
    estimate = calls(("update_task_estimate", '{"minutes":60}'), REPORT)
    at = services.services([estimate, *(calls(text="Fine.") for _ in range(60))])
    _, agent_id = services.task_with_agent(at)
    first = run_key = services.queued_key(at, agent_id)
    for nth in range(36):
        asyncio.run(run_wake(at, agent_id, run_key))
        if not nth:
            review.confirm(at, set_id(first), 1)
        again = at.append_agent(RequestWake(agent_id, "manual", is_enabled=True))
        run_key, last = again.result.ids[1], run_key
    past, told = Past(at.journal, at.agents), list[tuple[str, int, int]]()
    spot = past.run(last, at.agents.replica, 0)
    verdict = ChangedVerdict(set_id(first), 1, "reject")
    branch = Branch(past, last, at.agents.replica, at.settings)
    forked = asyncio.run(
        branch.make(
            tmp_path / "fork",
            spot,
            ForkChanges(verdicts=(verdict,)),
            None,
            lambda *one: told.append(one),
        )
    )
    forked.close()
    heard = [(n, of) for log, n, of in told if log == "agent"]
    assert heard == sorted(heard)
    assert heard[-1] == (100, spot.where.agent)


@pytest.mark.parametrize(
    ("options", "told_so"),
    [
        (["--verdict", "1.1"], "is no verdict"),
        (["--verdict", "9.1=confirm"], "there is no set '9'"),
        (["--verdict", "1.7=confirm"], "there is no item"),
        (["--template", "t1"], "there is no template 't1'"),
        (["--template", "laura.7"], "'Laura' has no version 7"),
        (["--note", "No such task", "x"], "there is no task"),
        (["--note", f"{FIRST}.9", "x"], "had 1 notes then"),
        (["--model", "nobody"], "is not available"),
    ],
)
def test_what_cannot_be_forked_is_told(
    home: Path, keys: list[str], tmp_path: Path, options: list[str], told_so: str
) -> None:
    before = stored(home)
    folder = str(tmp_path / "out")
    line = refused(["fork", keys[1], "--out", folder, *options], home)
    assert told_so in line
    assert stored(home) == before
    assert not Path(folder).exists(), "half a fork is none"


def test_a_fork_needs_a_wake_that_began_and_an_empty_folder(
    home: Path, keys: list[str], tmp_path: Path
) -> None:
    (queued,) = told(["wakes", SECOND], home)
    assert "has not begun" in refused(["fork", queued["run_key"]], home)
    assert "is a moment" in refused(["fork", "2027-01-01"], home)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x", encoding="utf-8")
    assert "is not empty" in refused(["fork", keys[0], "--out", str(tmp_path / "full")], home)
    last = told(["show", keys[1]], home)["steps"][-1]["n"]
    assert "waits for nothing" in refused(["fork", f"{keys[1]}.{last}"], home)
    first = told(["show", keys[1]], home)["steps"][0]["n"]
    note = ("--note", FIRST, "x")
    assert "fixed once it has begun" in refused(["fork", f"{keys[1]}.{first}", *note], home)


def test_a_fork_that_finds_no_room_leaves_nothing_behind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    for nth in range(40):
        note = " ".join(f"word{nth}x{one}" for one in range(2_000))
        done(["task", "note", "Fix the sink", note], home)
    done(["wake"], home)
    run_key = told(["wakes"], home)[0]["run_key"]
    with small_disk(tmp_path / "disk", 1) as disk:
        refused(["fork", run_key, "--model", "rules", "--out", str(disk / "fork")], home)
        assert list(disk.iterdir()) == []
