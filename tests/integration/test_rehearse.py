"""`wakelog rehearse`: a model or a wording on one's own past, which is only read."""

import json
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adapters.demo.generator import make_demo_home
from adapters.store.log import Log
from adapters.timetravel.branch import BranchLog
from adapters.timetravel.fork import copy_log
from adapters.timetravel.logs_at import LogHistory
from domain.journal.commands import AddCategory
from domain.log.keys import key
from tests.support.cli import done, refused, run, told
from tests.support.openai_server import OpenAIServer, answer, call
from tests.support.process import begun
from tests.support.scripted_server import Answer, Sent, served

LOGS = ("journal.db", "agent.db", "journal.db-wal", "agent.db-wal")
REPORT = {"content": "So far.", "tldr": "So far.", "oneLiner": "So far"}
FATES = ("kept", "lost", "avoided", "repeated", "new")
DEMO = {"WAKELOG_REPLICA": "demo"}  # who wrote it
SINKS = range(1, 9)
TOKENS = (3_000, 27)


def stored(home: Path) -> dict[str, bytes]:
    found = {name: (home / name).read_bytes() for name in LOGS if (home / name).exists()}
    return {name: data for name, data in found.items() if data}


def rehearsed(home: Path, *args: str, status: int = 0, **more: Any) -> Any:
    """The document; the logs of the home stay as they are."""
    before = stored(home)
    result = run(["--json", "rehearse", *args], home, **more)
    assert result.exit_code == status, result.output
    assert stored(home) == before
    return json.loads(result.stdout)


def rehearsed_version(home: Path, *args: str, **more: Any) -> Any:
    """The document; one fact is kept of it, and the journal stays as it is."""
    before, kept = stored(home), kept_of(home, **more)
    found = told(["rehearse", *args], home, **more)
    after = stored(home)
    assert [after.get(name) for name in LOGS[::2]] == [before.get(name) for name in LOGS[::2]]
    assert kept_of(home, **more) == kept + 1
    return found


def kept_of(home: Path, **more: Any) -> int:
    """How many rehearsals are kept."""
    (row,) = told(["sql", "SELECT count(*) AS n FROM rehearsals"], home, **more)
    return int(row["n"])


def counts(arm: Mapping[str, Any]) -> list[int]:
    return [arm[name] for name in FATES]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight tasks of one model: of each, a due date is confirmed, an estimate edited, an item
    declined, but for the last one; wakes that proposed nothing, and two that were told lessons,
    on one of which nothing was decided."""
    home = tmp_path_factory.mktemp("sinks") / "home"
    done(["init", "--zone", "Europe/Berlin", "--no-import", "--no-agents"], home)
    done(["template", "create", "Calm", "--general", "Be as calm as a pond."], home)
    for nth in SINKS:
        done(["add", f"Sink {nth}", "--category", "Home"], home)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    for nth in SINKS:
        text = f"It has to be done by 2027-03-{nth + 10}. It takes about {nth} hours. Todo: paint."
        done(["task", "note", f"Sink {nth}", text], home)
    done(["wake"], home, env={"WAKELOG_NOW": "2027-01-02T09:00:00Z"})
    *most, last = told(["inbox"], home)
    for one in most:
        done(["confirm", f"{one['set']}.1"], home)
        done(["confirm", f"{one['set']}.2", "--edit", "minutes=45"], home)
        done(["reject", f"{one['set']}.3"], home)
    done(["reject", f"{last['set']}.1"], home)
    minutes = last["items"][1]["arguments"]["minutes"]
    done(["edit", last["task_title"], "--estimate", f"{minutes}m"], home)
    for nth in (1, 2):
        done(["task", "note", f"Sink {nth}", "It has to be done by 2027-04-01."], home)
    done(["wake"], home, env={"WAKELOG_NOW": "2027-01-03T09:00:00Z"})
    (one,) = (one["set"] for one in told(["inbox"], home) if one["task_title"] == "Sink 1")
    done(["confirm", f"{one}.1"], home)
    return home


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A month of ten agents, their templates' versions and models."""
    folder = tmp_path_factory.mktemp("lived")
    make_demo_home(folder, seed="wakelog", agents_count=10, months=1)
    return folder


# -------------------------------------------------------------------------------------- the figures


def test_recorded_words_and_model_keep_and_repeat_everything_and_ask_nobody(home: Path) -> None:
    found = rehearsed(home, "--all")
    (arm,) = found["arms"]
    assert counts(arm) == [8, 0, 0, 15, 2]
    assert (arm["foreseen"], found["decided"], found["answers"]) == (1, 23, 0)
    assert (found["wakes"], found["quiet"], found["left_out"]) == (9, 4, {})
    text = done(["rehearse", "--all"], home)
    assert "9 wakes of 8 agents, 4 more quiet ones" in text
    assert "in force\t8\t0\t0\t15\t2 (1)\t.35 (.19-.55)" in text


def test_another_scaffold_is_an_arm_of_its_own(home: Path) -> None:
    found = rehearsed(home, "--all", "--scaffold", "2")
    assert [one["name"] for one in found["arms"]] == ["in force", "scaffold 2"]
    assert [counts(one)[:4] for one in found["arms"]] == [[8, 0, 0, 15]] * 2


def test_what_a_person_edited_is_kept_as_it_was_accepted(home: Path, tmp_path: Path) -> None:
    calls = [{"tool": "update_task_estimate", "arguments": {"minutes": 45, "because": "You did."}}]
    tape = tmp_path / "tape"
    lines = [{"calls": [*calls, {"tool": "update_report", "arguments": REPORT}]}, {"text": "Done."}]
    tape.write_text("".join(f"{json.dumps(one)}\n" for one in lines * 20))
    found = rehearsed(home, "--all", "--model", f"tape:{tape}", "--show")
    assert [one["name"] for one in found["arms"]] == ["in force", f"tape:{tape}"]
    assert counts(found["arms"][1]) == [7, 8, 8, 0, 4 + 1]
    assert (found["better"], found["worse"], found["too_few"]) == (7, 0, False)
    assert found["kinds"] == {
        "add": {"avoided": 7},
        "due": {"avoided": 1, "lost": 8},
        "estimate": {"kept": 7},
    }
    fates = Counter((one["verdict"], *one["fates"]) for one in found["items"] if one["verdict"])
    assert fates["edited", "repeated", "kept"] == 7
    text = done(["rehearse", "--all", "--model", f"tape:{tape}", "--show"], home)
    assert "better for 7 agents, worse for 0, p = .016: they are told apart. add: 7 avoided" in text
    assert "kept -> lost  confirmed: Set due date to 2027-03-1" in text


def recounted(home: Path, runs: set[str], *how: str) -> list[int]:
    """The figures of an arm, made by forks: what stands open in each is compared by hand."""
    found = Counter[str]()
    for of_wake in told(["inbox", "--all"], home, env=DEMO):
        if of_wake["run_key"] not in runs:
            continue
        items = [one for one in of_wake["items"] if one["status"] in ("confirmed", "rejected")]
        rows = told(["show", of_wake["run_key"]], home, env=DEMO)["steps"]
        proposed = [x["data"] for x in rows if x["kind"] == "changes.item_proposed.1"]
        fork = told(["fork", of_wake["run_key"], *how], home, env=DEMO)
        sets = told(["inbox", "--all"], Path(fork["home"]), env=DEMO)
        of_fork = [x for one in sets if one["run_key"] == of_wake["run_key"] for x in one["items"]]
        left = [same(one) for one in of_fork if one["status"] == "pending"]
        for one in items:
            first = proposed[int(one["ref"].partition(".")[2]) - 1]
            met = next((x for x in (same(one), same(first)) if x in left), "")
            if met:
                left.remove(met)
            if one["status"] == "rejected":
                found["repeated" if met else "avoided"] += 1
            else:
                found["kept" if met == same(one) else "repeated" if met else "lost"] += 1
    return [found[name] for name in FATES[:4]]


def same(item: Mapping[str, Any]) -> str:
    return f"{item['tool']} {json.dumps(item['arguments'], sort_keys=True).casefold()}"


def test_a_recount_by_forks_agrees(lived: Path) -> None:
    options = ["Tom.1", "--all", "--wakes", "12", "--show"]
    found = rehearsed_version(lived, *options, env=DEMO)
    assert rehearsed_version(lived, *options, "--at-once", "9", env=DEMO) == found
    assert (found["wakes"], found["quiet"], found["answers"] > 0) == (12, 6, True)
    runs = {one["run_key"] for one in found["items"] if one["verdict"]}
    for arm, template in zip(found["arms"], ("Tom.2", "Tom.1"), strict=True):
        by_forks = recounted(lived, runs, "--template", template, "--model", "demo:quick")
        assert counts(arm)[:4] == by_forks
    assert counts(found["arms"][0]) != counts(found["arms"][1])


def test_half_of_the_wakes_are_kept_for_it_and_the_newest_come_first(lived: Path) -> None:
    runs = {}
    for options in ([], ["--all"], ["--all", "--wakes", "5"], ["--all", "--since", "2026-01-20"]):
        found = rehearsed(lived, "--wakes", "200", "--show", *options, env=DEMO)
        runs[tuple(options)] = {one["run_key"] for one in found["items"] if one["verdict"]}
    every = runs["--all",]
    assert runs[()] == {one for one in every if key("rehearsal", one)[0] in "abcdefghijklmnop"}
    assert 0.3 < len(runs[()]) / len(every) < 0.7
    ends = {
        one["run_key"]: one["ended_at"]
        for one in told(["wakes", "--limit", "1000"], lived, env=DEMO)
    }
    assert runs["--all", "--wakes", "5"] == {*[one for one in ends if one in every][:5]}
    since = {one for one in every if ends[one] >= "2026-01-19T23:00"}
    assert runs["--all", "--since", "2026-01-20"] == since


def test_a_wording_of_files_stands_on_the_template_and_lessons_can_be_hidden(
    home: Path, tmp_path: Path
) -> None:
    words = tmp_path / "calmer.md"
    words.write_text("Be calmer than a pond.")
    with served(Proposer([])) as server:
        done(["policy", "allow", server.model, "--category", "Home"], home)
        options = ["--model", server.model, "--all", "--without", "lessons"]
        found = rehearsed(home, "Calm", "--general-file", str(words), *options)
        count = len(server.sent)
        rehearsed(home, *options[:3])
        done(["policy", "withdraw", server.model], home)
    name = f"Calm.1, calmer.md, {server.model}, without lessons"
    assert [one["name"] for one in found["arms"]] == ["in force", name]
    assert counts(found["arms"][1]) == [0, 15, 8, 0, 12]
    assert (found["answers"], found["tokens"], found["cost"]) == (26, 26 * sum(TOKENS), None)
    bodies = [json.dumps(one.body) for one in server.sent]
    assert all("calmer than a pond" in one and "as calm as" not in one for one in bodies[:count])
    assert ["# Lessons" in "".join(one) for one in (bodies[:count], bodies[count:])] == [
        False,
        True,
    ]
    spent = [json.loads(one) for one in (home / "forks/spent.jsonl").read_text().splitlines()]
    assert sum(one["tokens"] for one in spent[:26]) == found["tokens"]


def test_a_model_far_away_that_is_in_force_is_asked_anew(tmp_path: Path) -> None:
    with served(Proposer([])) as server:
        home, env = tmp_path / "home", {"WAKELOG_MODEL": server.model}
        done(["add", "Sink", "--category", "Home"], home, env=env)
        done(["agent", "create", "--all"], home, env=env)
        done(["policy", "allow", server.model], home, env=env)
        done(["wake"], home, env=env)
        done(["reject", "1.1"], home, env=env)
        found = rehearsed(home, "--all", "--model", "rules", env=env)
        assert [counts(one) for one in found["arms"]] == [[0, 0, 0, 1, 0], [0, 0, 1, 0, 0]]
        assert len(server.sent) == 4
        assert (found["models"], found["tokens"]) == ([server.model], 2 * sum(TOKENS))
        assert "Too few to tell anything apart: 1 decision." in done(["rehearse", "--all"], home)


# ----------------------------------------------------------------------------------- what may leave


class Proposer(OpenAIServer):
    """Proposes an estimate that nobody wants."""

    key = ""

    def take(self, sent: Sent) -> Answer:
        self.sent.append(sent)
        if sent.body["messages"][-1]["role"] == "tool":
            return answer("Done.", tokens=TOKENS)
        report = call("update_report", REPORT, call_id="c2")
        wish = call("update_task_estimate", {"minutes": 7}, call_id="c1")
        return answer(None, wish, report, tokens=TOKENS)


class Silent(Proposer):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__([])
        self.was_asked, self.may_end = threading.Event(), threading.Event()

    def take(self, sent: Sent) -> Answer:
        self.was_asked.set()
        self.may_end.wait(60)
        return super().take(sent)


@pytest.fixture
def proposer(home: Path) -> Iterator[Proposer]:
    with served(Proposer([])) as server:
        yield server
        done(["policy", "withdraw", server.model], home)


def test_nothing_leaves_without_consent_or_against_a_rule(home: Path, proposer: Proposer) -> None:
    found = rehearsed(home, "--model", proposer.model, "--all")
    assert (found["wakes"], found["left_out"]) == (0, {"privacy_confirmation_required": 18})
    assert "`wakelog policy show` tells" in done(["rehearse", "--model", proposer.model], home)
    done(["policy", "allow", proposer.model], home)
    done(["policy", "models", "Home", "rules"], home)
    found = rehearsed(home, "--model", proposer.model, "--all")
    assert found["left_out"] == {"disallowed_provider_model": 18}
    done(["policy", "models", "Home", "--any"], home)
    assert proposer.sent == []


def test_what_a_model_far_away_takes_is_told_before_anything_is_sent(home: Path) -> None:
    done(["policy", "allow", "gemini"], home)
    env = {"GEMINI_API_KEY": "k" * 39}
    said = refused(["rehearse", "--model", "gemini", "--all"], home, env=env)
    assert "What 13 wakes of your home were shown would go to gemini" in said
    assert "tokens; agree with --yes" in said
    assert "[privacy_confirmation_required]" in said
    done(["policy", "withdraw", "gemini"], home)


def test_it_stops_where_tokens_or_a_budget_end_and_tells_what_is_done(
    home: Path, proposer: Proposer
) -> None:
    done(["policy", "allow", proposer.model], home)
    options = ["--model", proposer.model, "--all", "--at-once", "1"]
    found = rehearsed(home, *options, "--tokens", "20000", status=1)
    assert (found["stopped"], 0 < found["wakes"] < 8) == ("tokens", True)
    assert found["tokens"] <= 20_000
    assert "its tokens were used" in run(["rehearse", *options, "--tokens", "1"], home).stdout
    done(["settings", "set", "budget.tokens_per_day", "1000"], home)
    assert rehearsed(home, *options, status=1)["left_out"] == {"not_answered": 1}
    done(["settings", "set", "budget.tokens_per_day", "0"], home)


def test_a_process_that_is_killed_leaves_the_logs_as_they_were(home: Path, tmp_path: Path) -> None:
    with served(Silent()) as server:
        done(["policy", "allow", server.model], home)
        before = stored(home)
        process = begun(
            home, "rehearse", "--model", server.model, "--at-once", "1", log=tmp_path / "log"
        )
        assert server.was_asked.wait(30)
        process.send_signal(signal.SIGKILL)
        process.wait()
        server.may_end.set()
        assert stored(home) == before
        assert told(["prove"], home)["ok"]
        done(["policy", "withdraw", server.model], home)


# ---------------------------------------------------------------------------------- what is refused


def test_a_wake_whose_texts_are_erased_is_left_out_and_counted(home: Path, tmp_path: Path) -> None:
    copied = tmp_path / "home"
    done(["backup", str(copied)], home)
    with closing(sqlite3.connect(copied / "agent.db")) as log, log:
        log.execute("DELETE FROM payloads")
    found = told(["rehearse", "--all"], copied)
    assert (found["decided"], found["left_out"]) == (0, {"unknown_payload": 13})


def test_what_is_not_there_is_told_in_a_line(home: Path, tmp_path: Path) -> None:
    done(["init", "--zone", "Europe/Berlin", "--no-import", "--no-agents"], tmp_path / "new")
    empty = done(["rehearse"], tmp_path / "new")
    assert "Nothing was decided in these wakes yet" in empty
    assert "no version 7" in refused(["rehearse", "Calm.7"], home)
    assert "no template" in refused(["rehearse", "Storm"], home)
    assert "'yesterday' is no day" in refused(["rehearse", "--since", "yesterday"], home)
    assert "is not available" in refused(["rehearse", "--model", "oracle"], home)


# ------------------------------------------------------------------------------- branches in memory


def test_a_branch_reads_and_decides_as_a_copy_does(lived: Path) -> None:
    for name in ("journal", "agent"):
        log = Log.read_only(name, lived / f"{name}.db", "demo")
        history, last = LogHistory(log), log.tail()
        for n in (1, last.n // 2, last.n - 1, last.n):
            branch, copied = BranchLog(history, n, log.replica), copy_log(log, n, None, log.replica)
            command = AddCategory("Elsewhere", "en")
            for _ in range(2):
                ids = sorted(one for one, _ in copied.kept_payloads())[:5]
                assert seen(branch, ids) == seen(copied, ids)
                made = [one.append(command, last.at, key="k") for one in (branch, copied)]
                assert made[0] == made[1]
        assert log.tail() == last
        log.close()


def seen(log: Log, ids: list[str]) -> list[object]:
    """What a log reads as, by every way there is."""
    reads, rows = log.recorder, [*log.rows()]
    streams = sorted({one.stream for one in rows})
    n = log.tail().n
    return [
        rows, log.tail(), [[*log.append_at(one)] for one in (n - 1, n, n + 1)], streams,
        [reads.stream(one, 1) for one in streams[:200]], [*map(reads.last_version, streams)],
        reads.present([*streams, "task:none@demo"]), reads.newest(5), [*reads.lines(n - 5, 3)],
        reads.payload("x"), sorted(reads.payloads(ids)), [*map(reads.payload, ids)],
        [log.facts(one) for one in streams[:50]],
        [*log.rows(n - 3)], [*reads.onward()(ids[0])][:1] if ids else (), [*log.appends(n - 3)],
    ]  # fmt: skip
