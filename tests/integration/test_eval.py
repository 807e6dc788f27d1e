"""`wakelog eval`: models judged on cases, through whole wakes in homes of their own."""

import hashlib
import json
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from adapters.usecases.evaluate import read_cases
from tests.support.cli import done, refused, run, told
from tests.support.openai_server import OpenAIServer, answer, call
from tests.support.scripted_server import Answer, Sent, served

EVALS = Path(__file__).parents[2] / "evals"
OWN_MIN, KEPT_BELOW = 300, 85  # of 256
PRECISION_FLOOR, RECALL_FLOOR = 0.96, 0.92
SECRET = "the vicar's duck"
NOTE = {"at": "2027-03-02T11:00", "text": "Must be done by Friday."}
REPORT = {"content": "So far.", "tldr": "So far.", "oneLiner": "So far"}
GOOD: dict[str, Any] = {
    "id": "one",
    "class": "dates",
    "language": "en",
    "now": "2027-03-02T12:00",
    "timezone": "Europe/Berlin",
    "task": {"title": "Visa form", "items": [{"title": "Take a photo"}]},
    "notes": [NOTE],
    "wanted": [{"kind": "due", "is": ["2027-03-05"]}],
}


def corpus(pattern: str) -> list[dict[str, Any]]:
    texts = (file.read_text() for file in sorted(EVALS.glob(pattern)))
    return [json.loads(line) for text in texts for line in text.splitlines()]


def file_of(folder: Path, *cases: object, name: str = "cases.jsonl") -> str:
    path = folder / name
    path.write_text("".join(f"{json.dumps(one)}\n" for one in cases))
    return str(path)


def row(found: dict[str, Any], by: str, name: str = "", *, kept: bool = False) -> dict[str, Any]:
    return next(x for x in found["rows"] if (x["by"], x["name"], x["kept"]) == (by, name, kept))


# -------------------------------------------------------------------------------------- the corpus


def test_the_cases_are_there_once_split_for_good_and_many_want_nothing() -> None:
    landed, own = corpus("notes.jsonl"), corpus("own-*.jsonl")
    assert (len(landed), sum(one.get("kept", False) for one in landed)) == (964, 60)
    assert len(own) >= OWN_MIN
    for one in own:
        first = hashlib.sha256(one["id"].encode()).digest()[0]
        assert one.get("kept", False) == (first < KEPT_BELOW), one["id"]
    for cases in (landed, own):
        texts = Counter(str((one["notes"], one["task"], one.get("words"))) for one in cases)
        assert [text for text, times in texts.items() if times > 1] == []
        assert sum(not one["wanted"] for one in cases) / len(cases) >= 0.3
        assert sum(one["language"] == "de" for one in cases) / len(cases) >= 0.25
    hidden = [one for one in landed if not one.get("shown", True)]
    assert 0.13 < len(hidden) / len(landed) < 0.15  # three in ten of what was not seen then


def test_the_offline_model_understands_no_less_than_it_did(tmp_path: Path) -> None:
    found = told(["eval", str(EVALS / "notes.jsonl")], tmp_path)
    total = row(found, "all")
    assert total["precision"]["value"] >= PRECISION_FLOOR
    assert total["recall"]["value"] >= RECALL_FLOOR
    assert row(found, "kind", "retract")["right"] == 3
    assert (found["done"], found["failed"], found["unplaced"]) == (964, {}, 0)
    assert not (tmp_path / "journal.db").exists()


def test_without_a_file_scenes_tell_what_no_model_may_do(tmp_path: Path) -> None:
    found = told(["eval", "--show"], tmp_path)
    assert (found["cases"], found["kept"], found["quiet"], found["loud"]) == (24, 0, 22, 0)
    assert found["mistakes"] == []


@pytest.mark.slow
def test_own_cases_are_cases(tmp_path: Path) -> None:
    """All can be read; those with a report that tools must take, and some others, are woken."""
    placed = read_cases([str(one) for one in sorted(EVALS.glob("own-*.jsonl"))])
    cases = corpus("own-*.jsonl")
    assert len(placed) == len(cases)
    woken = [one for nth, one in enumerate(cases) if nth % 4 == 0 or "first" in one]
    found = told(["eval", file_of(tmp_path, *woken)], tmp_path)
    assert (found["done"], found["failed"]) == (len(woken), {})


# --------------------------------------------------------------------------------------- two runs


@pytest.mark.slow
def test_two_runs_print_the_same_and_cannot_be_told_apart(tmp_path: Path) -> None:
    file, kept = file_of(tmp_path, *corpus("notes.jsonl")[:40]), str(tmp_path / "run.json")
    one = done(["eval", file, "--show", "--out", kept], tmp_path)
    assert done(["eval", file, "--show", "--at-once", "9"], tmp_path) == one
    beside = done(["eval", file, "--against", kept, "--no-worse", "--repeat", "2"], tmp_path)
    assert "0 fixed, 0 broken of 40 (p = 1.000): they cannot be told apart" in beside
    assert "2 times each, 0 varied" in beside


def test_what_was_fixed_and_broken_since_is_told_and_ends_with_a_status(tmp_path: Path) -> None:
    file, kept = file_of(tmp_path, GOOD), tmp_path / "run.json"
    done(["eval", file, "--out", str(kept)], tmp_path)
    wrong = GOOD | {"wanted": []}
    other = file_of(tmp_path, GOOD, wrong | {"id": "two"}, name="other.jsonl")
    found = told(["eval", other, "--against", str(kept), "--no-worse"], tmp_path)
    assert (found["against"]["compared"], found["against"]["left_out"]) == (1, 1)
    document = json.loads(kept.read_text())
    document["cases"][0]["runs"][0] |= {"wrong": 1}
    kept.write_text(json.dumps(document))
    assert told(["eval", file, "--against", str(kept)], tmp_path)["against"]["fixed"] == 1
    now_wrong = told(["eval", other, "--out", str(kept)], tmp_path)
    assert (now_wrong["precision"], now_wrong["loud"]) == (0.5, 1)
    document = json.loads(kept.read_text())
    document["cases"][1]["runs"][0] |= {"wrong": 0}
    kept.write_text(json.dumps(document))
    worse = run(["eval", other, "--against", str(kept), "--no-worse"], tmp_path)
    assert worse.exit_code == 1
    assert "0 fixed, 1 broken of 2" in worse.stdout
    assert run(["eval", other, "--against", str(kept)], tmp_path).exit_code == 0
    statuses = [
        run(["eval", other, "--min-precision", share], tmp_path).exit_code
        for share in ("0.5", "0.51")
    ]
    assert statuses == [0, 1]


def test_no_word_of_a_kept_or_hidden_case_is_shown_anywhere(tmp_path: Path) -> None:
    told_of = {"notes": [{**NOTE, "text": f"{SECRET} by Friday"}], "wanted": []}
    asked = {"task": {"title": SECRET}, "wanted": [{"kind": "add", "is": [SECRET]}]}
    cases = [GOOD | told_of | asked | {"id": f"c{nth}"} for nth in range(3)]
    cases[0] |= {"kept": True}
    cases[1] |= {"shown": False}
    file, kept = file_of(tmp_path, *cases[:2]), tmp_path / "run.json"
    shown = [
        run([*how, "eval", file, "--show", "--out", str(kept)], tmp_path)
        for how in ([], ["--json"])
    ]
    for text in (kept.read_text(), *(one.output for one in shown)):
        assert "duck" not in text
    assert json.loads(shown[1].stdout)["rows"][0]["missed"] == 1
    assert "duck" in done(["eval", file_of(tmp_path, cases[2]), "--show"], tmp_path)


# --------------------------------------------------------------------------- what a case is made of


def test_what_is_later_than_the_first_report_wakes_it_again_and_a_question_is_heard(
    tmp_path: Path,
) -> None:
    call_then = {"tool": "update_task_due_date", "arguments": {"dueDate": "2027-03-03"}}
    first = {"at": "2027-03-01T09:00", **REPORT, "proposed": [call_then]}
    again = GOOD | {
        "id": "again",
        "first": first,
        "notes": [{"at": "2027-03-02T11:00", "text": "The deadline is off, take your time."}],
        "wanted": [{"kind": "retract", "is": ["due"]}],
        "allowed": [{"kind": "priority"}],
    }
    asked = GOOD | {"id": "asked", "notes": [], "words": "It takes about 2 hours."}
    asked["wanted"] = [{"kind": "estimate", "is": [120]}]
    other = GOOD | {"id": "told", "notes": [NOTE | {"by": "import"}]}
    overruled = GOOD | {"id": "set", "wanted": []}
    overruled |= {"task": {"title": "Visa form", "due": {"is": "2027-03-20", "at": GOOD["now"]}}}
    old = {"at": "2027-02-26T11:00", "text": "Must be done in 10 days."}
    dated = GOOD | {
        "id": "dated",
        "task": GOOD["task"] | {"at": "2027-02-01T09:00"},
        "notes": [old],
        "wanted": [{"kind": "due", "is": ["2027-03-08"]}],
    }
    ticked = dated | {"id": "ticked", "first": {"at": "2027-03-01T09:00", **REPORT}}
    file = file_of(tmp_path, again, asked, other, overruled, dated, ticked)
    found = told(["eval", file, "--show"], tmp_path)
    assert found["mistakes"] == []
    assert row(found, "all")["right"] == 5


def test_what_a_wake_took_back_itself_does_not_stand_in_the_inbox(tmp_path: Path) -> None:
    days = [
        {"tool": "update_task_due_date", "arguments": {"dueDate": day, "because": "By then."}}
        for day in ("2027-03-04", "2027-03-05")
    ]
    tape = file_of(
        tmp_path,
        {"calls": [*days, {"tool": "update_report", "arguments": REPORT}]},
        {"text": "Done."},
        name="tape",
    )
    found = told(["eval", file_of(tmp_path, GOOD), "--model", f"tape:{tape}"], tmp_path)
    total = row(found, "all")
    assert (total["right"], total["wrong"], found["model"]) == (1, 0, f"tape:{tape}")


def test_other_tasks_and_labels_are_there_and_time_is_the_persons(tmp_path: Path) -> None:
    others = {"others": [{"title": "Buy paint"}], "labels": ["errands"]}
    labelled = GOOD | others | {"id": "l", "notes": [NOTE | {"text": "Label it errands."}]}
    labelled["wanted"] = [{"kind": "label", "is": ["errands"]}]
    late = GOOD | {"id": "t", "timezone": "America/Los_Angeles", "now": "2027-03-02T12:10"}
    late["notes"] = [
        NOTE | {"text": "Worked on it today from 9:00 to 10:30.", "at": "2027-03-02T12:00"}
    ]
    late["wanted"] = [{"kind": "time", "is": ["2027-03-02T09:00 2027-03-02T10:30"]}]
    late["allowed"] = [{"kind": "status", "is": ["IN PROGRESS"]}]
    found = told(["eval", file_of(tmp_path, labelled, late), "--show"], tmp_path)
    assert found["mistakes"] == []


HOSTILE: Mapping[str, tuple[object, str]] = {
    "no JSON": ("{'id': 1}", "this is not JSON"),
    "no object": ("[1]", "Expected `object`, got `array`"),
    "cut": ('{"id": "x", "now"', "this is not JSON"),
    "not UTF-8": (b'{"id": "\xff"}', "it is not UTF-8"),
    "a key twice": ('{"id": "a", "id": "b"}', "the key 'id' twice"),
    "nested": ("[" * 9_000, "nested deeper"),
    "a huge number": ('{"id": ' + "9" * 5_000 + "}", "this is not JSON"),
    "not a number": ('{"id": NaN}', "NaN"),
    "an unknown key": ({"colour": "red"}, "unknown field `colour`"),
    "an id to break lines": ({"id": "a\nb\x1b[2J"}, "$.id"),
    "no zone": ({"timezone": "Mars/Olympus"}, "is no time zone"),
    "a path for a zone": ({"timezone": "../../etc/passwd"}, "is no time zone"),
    "no day": ({"now": "2027-02-30T10:00"}, "'2027-02-30T10:00' is no time"),
    "no time": ({"now": "tomorrow"}, "$.now"),
    "a note of tomorrow": ({"notes": [NOTE | {"at": "2027-03-03T09:00"}]}, "is after its now"),
    "notes not in order": ({"notes": [NOTE, NOTE | {"at": "2027-03-01T09:00"}]}, "order"),
    "an empty note": ({"notes": [NOTE | {"text": " \n"}]}, "is empty"),
    "a note of nobody": ({"notes": [NOTE | {"by": "agent"}]}, "$.notes[0].by"),
    "an unknown kind": ({"wanted": [{"kind": "colour", "is": ["red"]}]}, "'colour' is no kind"),
    "no value": ({"wanted": [{"kind": "due"}]}, "has no value"),
    "no day wanted": ({"wanted": [{"kind": "due", "is": ["friday"]}]}, "due cannot be 'friday'"),
    "no item": ({"wanted": [{"kind": "tick", "is": ["Fly"]}]}, "tick cannot be 'Fly'"),
    "an item twice": ({"wanted": [{"kind": "add", "is": ["a photo: take!"]}]}, "add cannot be"),
    "no such status": ({"task": {"title": "T", "status": "EATEN"}}, "EATEN"),
    "no estimate": ({"task": {"title": "T", "estimate": True}}, "$.task.estimate"),
    "a due date that is none": ({"task": {"title": "T", "due": "soon"}}, "soon"),
    "an empty title": ({"task": {"title": " "}}, "title"),
    "a large note": ({"notes": [NOTE | {"text": "x" * 1_100_000}]}, "length <= 200000"),
    "a long question": ({"words": "x" * 300_000}, "length <= 200000"),
    "a report that no tool takes": ({"first": {"at": "2027-03-01T09:00", **REPORT, "proposed": [
        {"tool": "delete_home", "arguments": {}}]}}, "its first report is refused (unknown_tool)"),
    "an id twice": (GOOD, "the id one stands at"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_line_that_is_no_case_is_told_by_its_place(what: str, tmp_path: Path) -> None:
    given, because = HOSTILE[what]
    if isinstance(given, dict):
        given = json.dumps(GOOD | {"id": "two"} | given)
    line = given if isinstance(given, bytes) else str(given).encode()
    path = tmp_path / "bad.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n\n" + line + b"\n")
    said = refused(["eval", str(path)], tmp_path)
    assert said.startswith(f"Error: {path}:3: this is no case: ")
    assert because in said
    assert len(said) < 1_200


def test_a_file_without_cases_and_a_run_that_is_none_are_refused(tmp_path: Path) -> None:
    empty, good = file_of(tmp_path, name="empty.jsonl"), file_of(tmp_path, GOOD)
    assert "hold no case" in refused(["eval", empty], tmp_path)
    assert "there is no such file" in refused(["eval", str(tmp_path / "gone")], tmp_path)
    assert "is no run that was kept" in refused(["eval", good, "--against", good], tmp_path)
    assert "--against" in refused(["eval", good, "--no-worse"], tmp_path)
    other, kept = file_of(tmp_path, GOOD | {"id": "b"}, name="b.jsonl"), str(tmp_path / "run")
    done(["eval", other, "--out", kept], tmp_path)
    assert "as it was then" in run(["eval", good, "--against", kept], tmp_path).stderr


# ------------------------------------------------------------------------------------ other models


class Proposer(OpenAIServer):
    """Proposes the due date that cases want, quotes what nobody wrote, and now and then fails."""

    key = ""

    def take(self, sent: Sent) -> Answer:
        self.sent.append(sent)
        if sent.body["messages"][-1]["role"] == "tool":
            return answer("Done.")
        if "Fail here" in json.dumps(sent.body):
            return answer("update_report({})", finish="length")
        due = {"dueDate": "2027-03-05", "because": "as the moon said"}
        report = call("update_report", REPORT, call_id="c2")
        return answer(None, call("update_task_due_date", due, call_id="c1"), report)


@pytest.fixture
def proposer() -> Iterator[Proposer]:
    with served(Proposer([])) as server:
        yield server


def test_a_model_of_this_machine_is_judged_on_the_words_of_files(
    proposer: Proposer, tmp_path: Path
) -> None:
    words, broken = tmp_path / "calm.md", GOOD | {"id": "b", "task": {"title": "Fail here"}}
    words.write_text("Be as calm as a pond.")
    args = ["eval", file_of(tmp_path, GOOD, broken), "--model", proposer.model]
    found = told([*args, "--general-file", str(words), "--repeat", "2"], tmp_path)
    assert (found["words"], found["repeat"], found["varied"]) == ("calm.md", 2, 0)
    assert list(found["failed"].values()) == [2]
    assert (row(found, "all")["right"], found["unplaced"]) == (2, 2)
    assert found["tokens"] >= 500
    assert all("calm as a pond" in json.dumps(one.body) for one in proposer.sent)
    stopped = run([*args, "--tokens", "1", "--at-once", "1"], tmp_path)
    assert stopped.exit_code == 1
    assert "Only 1 of them were judged: its tokens were used." in stopped.stdout


class Interrupting(Proposer):
    """Somebody presses Ctrl-C while it is asked."""

    def take(self, sent: Sent) -> Answer:
        signal.raise_signal(signal.SIGINT)
        return super().take(sent)


def test_who_interrupts_it_is_told_how_much_was_judged(tmp_path: Path) -> None:
    with served(Interrupting([])) as server:
        args = ["eval", file_of(tmp_path, GOOD), "--model", server.model, "--at-once", "1"]
        stopped = run(args, tmp_path)
    assert stopped.exit_code == 1
    assert "Only 0 of them were judged: it was interrupted." in stopped.stdout


def test_nothing_leaves_before_it_is_agreed_to(tmp_path: Path) -> None:
    env = {"GEMINI_API_KEY": "k" * 39}
    said = refused(["eval", file_of(tmp_path, GOOD), "--model", "gemini"], tmp_path, env=env)
    assert "1 case, and of your home" in said
    assert "--yes" in said
    assert "[privacy_confirmation_required]" in said


def test_a_template_of_the_home_is_judged_and_a_home_is_not_written(tmp_path: Path) -> None:
    home, file = tmp_path / "home", file_of(tmp_path, GOOD)
    done(["template", "create", "Calm", "--general", "Be calm."], home)
    before = {one.name: one.read_bytes() for one in home.glob("*.db") if one.name != "views.db"}
    assert told(["eval", file, "--template", "Calm.1"], home)["words"] == "Calm.1"
    assert "no version 7" in refused(["eval", file, "--template", "Calm.7"], home)
    assert {name: (home / name).read_bytes() for name in before} == before
