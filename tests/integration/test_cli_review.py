"""`wakelog inbox, confirm, reject, defer`: what a person decides, item by item."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.deciding import ref_of, results
from tests.support.homes import Homes
from tests.support.terminal import on_terminal
from tests.support.waking import agent, at, inbox, proposing, reply, report, tape


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """One agent whose first wake proposed a due date, an estimate and a priority."""
    return homes.copy(proposing, tmp_path / "home")


def task(home: Path) -> Any:
    return told(["task", "show", "Fix the sink"], home)


def test_an_empty_inbox_says_why(tmp_path: Path) -> None:
    assert "agent create --all" in done(["inbox"], tmp_path / "none")
    assert told(["inbox"], tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_the_inbox_shows_as_many_sets_as_it_is_asked_for_and_tells_of_the_others(
    home: Path,
) -> None:
    agent(home, "Plan the trip")
    done(["wake"], home)
    for asked in (["inbox"], ["inbox", "--all"]):
        every = told(asked, home)
        assert told([*asked, "--limit", "1"], home) == every[:1]
        text = run([*asked, "--limit", "1"], home)
        assert every[0]["items"][0]["ref"] in text.stdout
        assert every[1]["items"][0]["ref"] not in text.stdout
        assert f"{len(every) - 1} more sets; raise --limit to see them." in text.stderr
        assert "more sets" not in run(asked, home).stderr


UNCLEAR = {
    "1": "needs_all",
    "": "invalid_value",
    "9": "unknown_set",
    "1.9": "unknown_item",
    "1.0": "invalid_value",
    "1.x": "invalid_value",
    "1.1 --edit {": "invalid_value",
    "1.1 --edit []": "invalid_value",
    '1.1 --edit {"colour":1}': "invalid_value",
    "--all --edit {}": "invalid_value",
}


def test_what_is_not_clear_is_refused_and_nothing_is_done(home: Path) -> None:
    rows = proved(home)
    for typed, code in UNCLEAR.items():
        assert f"[{code}]" in refused(["confirm", *typed.split()], home), typed
    assert proved(home) == rows


def test_several_items_and_sets_are_decided_in_order(home: Path) -> None:
    agent(home, "Plan the trip")
    done(["wake"], home)
    found = results(["confirm", "2", "1.2", "--all"], home)
    assert [one["ref"] for one in found] == ["2.1", "2.2", "2.3", "1.2"]
    set_id = told(["inbox"], home)[0]["id"]
    assert results(["confirm", f"{set_id[:8]}.1"], home)[0]["status"] == "confirmed"
    assert [one["ref"] for one in results(["confirm", "--all"], home)] == ["1.3"]
    assert results(["confirm", "--all"], home) == []
    assert proved(home)


def test_a_stale_item_is_shown_so_and_needs_anyway(home: Path) -> None:
    ref = ref_of(home, "update_task_estimate")
    done(["task", "set", "Fix the sink", "--estimate", "45m"], home)
    assert [item["ref"] for item in inbox(home) if item["stale"]] == [ref]
    assert "(now: 45 minutes) [stale]" in done(["inbox"], home)
    (one,) = results(["confirm", ref], home, status=1)
    assert one["status"] == "pending"
    assert f"confirm {ref} --anyway" in one["error"]
    assert task(home)["estimate_minutes"] == 45
    (one,) = results(["confirm", ref, "--anyway"], home)
    assert (one["status"], task(home)["estimate_minutes"]) == ("confirmed", 60)
    assert proved(home)


def test_one_that_fails_does_not_stop_the_rest(home: Path) -> None:
    stale = ref_of(home, "update_task_estimate")
    done(["task", "set", "Fix the sink", "--estimate", "45m"], home)
    found = results(["confirm", "1", "--all"], home, status=1)
    assert {one["ref"]: one["status"] for one in found} == {
        f"1.{nth}": "pending" if f"1.{nth}" == stale else "confirmed" for nth in (1, 2, 3)
    }
    assert proved(home)


def test_what_only_the_person_can_mend_names_the_way(home: Path, tmp_path: Path) -> None:
    done(["label", "add", "kitchen"], home)
    label = told(["label", "list"], home)[0]["id"]
    done(["task", "item", "add", "Fix the sink", "Buy seal"], home)
    item = task(home)["items"][0]["id"]
    proposes = reply(
        ("assign_task_labels", {"labels": [{"id": label, "confidence": "high"}]}),
        ("update_checklist_items", {"items": [{"id": item, "isChecked": True}]}),
        report(),
    )
    done(["--model", tape(tmp_path / "t", proposes, reply()), "wake", "Fix the sink"], home)
    done(["label", "suppress", "Fix the sink", "kitchen"], home)
    done(["task", "check", "Fix the sink", "1"], home)
    done(["task", "uncheck", "Fix the sink", "1"], home)
    unwanted, unticked = results(["confirm", "2", "--all"], home, status=1)
    assert "`wakelog label allow` takes that back; else reject 2.1" in unwanted["error"]
    assert "`wakelog confirm 2.2 --edit" in unticked["error"]
    done(["label", "allow", "Fix the sink", "kitchen"], home)
    reason = ["--edit", '{"reason": "The plumber wrote that it is done"}']
    assert results(["confirm", "2.1"], home)[0]["status"] == "confirmed"
    assert results(["confirm", "2.2", *reason], home)[0]["status"] == "confirmed"
    done(["category", "add", "Garden"], home)
    done(["task", "set", "Fix the sink", "--category", "Garden"], home)
    (one,) = results(["confirm", "1.1"], home, status=1)
    assert "`wakelog agent set AGENT --category C` [out_of_scope]" in one["error"]


def test_a_decided_item_cannot_be_decided_otherwise(home: Path) -> None:
    done(["reject", "1.1", "--reason", "No"], home)
    (one,) = results(["confirm", "1.1"], home, status=1)
    assert one["status"] == "rejected"
    assert "item 1.1 is rejected" in one["error"]
    assert proved(home)


def test_a_reason_of_several_lines_stays_on_the_items_line(home: Path) -> None:
    done(["defer", "1.1", "--reason", "After\nthe holidays"], home)
    assert "- After the holidays [deferred]" in done(["inbox", "--all"], home)


def test_deciding_the_same_twice_changes_nothing(home: Path) -> None:
    for verb, ref in (("reject", "1.1"), ("defer", "1.2"), ("confirm", "1.3")):
        assert "(it was already)" not in done([verb, ref], home)
        rows = proved(home)
        assert "(it was already)" in done([verb, ref], home)
        assert proved(home) == rows


@pytest.mark.parametrize(
    "deeds",
    [
        ["confirm 1.1", "reject 1.2 --reason No", "defer 1 --all", "confirm 1 --all"],
        ["confirm --all"],
    ],
)
def test_a_retry_with_its_key_writes_nothing(home: Path, deeds: list[str]) -> None:
    for deed in deeds:
        keyed = [*deed.split(), "--key", f"key of {deed}"]
        first = results(keyed, home)
        rows = proved(home)
        again = results(keyed, home)
        assert [(one["ref"], one["status"]) for one in first] != []
        assert [(one["ref"], one["status"]) for one in first] == [
            (one["ref"], one["status"]) for one in again
        ]
        assert proved(home) == rows


def test_a_key_that_stands_for_something_else_is_refused(home: Path) -> None:
    done(["confirm", "1.1", "--key", "k"], home)
    told = "the key 'k' already stands for another command"  # as typed, not an append's `k:1`
    for again in (["confirm", "1.2"], ["reject", "1.1"]):
        line = refused([*again, "--key", "k"], home)
        assert told in line
        assert "[key_reused]" in line
    assert f'"{told}"' in refused(["--json", "reject", "1.1", "--key", "k"], home)


def test_a_set_and_a_wake_are_named_by_the_words_of_their_task(home: Path) -> None:
    (one,) = told(["inbox"], home)
    assert results(["reject", "the SINK.1"], home)[0]["ref"] == "1.1"
    assert told(["show", "the sink", "--wake"], home)["run_key"] == one["run_key"]
    done(["wake", "Fix the sink"], home)
    assert "the newest first" in refused(["show", "the sink", "--wake"], home)
    line = refused(["reject", "the sonk.1"], home)
    assert 'the nearest: 1 "Fix the sink"' in line
    assert "[unknown_set]" in line


@pytest.mark.parametrize("name", ["estimate", "estimate_minutes", "minutes"])
def test_an_edit_may_name_the_field_as_lists_do(home: Path, name: str) -> None:
    ref = ref_of(home, "update_task_estimate")
    (one,) = results(["confirm", ref, "--edit", f"{name}=1h30"], home)
    assert (one["status"], one["summary"]) == ("confirmed", "Set estimate to 90 minutes")
    due = ["confirm", ref_of(home, "update_task_due_date"), "--edit"]
    assert "[invalid_value]" in refused([*due, f"{name}=90"], home)
    assert results([*due, "due_date=12.2.2027"], home)[0]["status"] == "confirmed"


def test_several_edits_stand_behind_one_another_and_a_text_may_have_spaces(tmp_path: Path) -> None:
    home = tmp_path / "home"
    model = tape(
        tmp_path / "tape.jsonl",
        reply(("set_task_status", {"status": "BLOCKED", "reason": "No key"}), report()),
        reply(),
    )
    agent(home, "Fix the sink", "--model", model)
    done(["wake", "Fix the sink"], home)
    edit = ["confirm", "1.1", "--edit", "status=ON HOLD", "reason=Rain until spring"]
    assert results(edit, home)[0]["status"] == "confirmed"
    assert task(home)["status"] == "ON HOLD"
    assert "Rain until spring" in done(["task", "show", "Fix the sink"], home)
    assert "[invalid_value]" in refused(["confirm", "1.1", "--edit", "colour"], home)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "status"), [("y", "rejected"), ("n", "pending")])
def test_all_that_is_meant_is_listed_and_asked_on_a_terminal(
    home: Path, answer: str, status: str
) -> None:
    count = len(inbox(home))
    with on_terminal(home, "reject", "--all") as terminal:
        listed = terminal.until(f"Reject {count} proposals? [y/N]: ")
        terminal.press(f"{answer}\n")
        assert terminal.ended()[0] == 0
    assert [line.split()[0] for line in listed.splitlines()] == [
        one["ref"] for one in inbox(home, "--all")
    ]
    assert {one["status"] for one in inbox(home, "--all")} == {status}


@pytest.mark.slow
def test_who_says_yes_or_has_no_terminal_is_not_asked(home: Path) -> None:
    with on_terminal(home, "reject", "--all", "--yes") as terminal:
        status, seen = terminal.ended()
    assert (status, "[y/N]" in seen) == (0, False)
    assert {one["status"] for one in inbox(home, "--all")} == {"rejected"}


def test_a_second_reason_is_not_dropped_in_silence(home: Path) -> None:
    done(["reject", "1.1"], home)
    told_so = run(["reject", "1.1", "--reason", "We have one"], home)
    assert "1.1 was rejected before without one; that stays." in told_so.stderr


def test_what_is_put_off_until_a_day_waits_again_from_then_on(home: Path) -> None:
    (one,) = told(["inbox"], home)
    refs = [item["ref"] for item in one["items"]]
    done(["defer", *refs, "--until", "monday"], home)
    assert told(["inbox"], home) == []
    assert "put off" in done(["inbox"], home)
    assert {item["until"] for item in inbox(home, "--all")} == {"2027-01-04T00:00:00.000000Z"}
    then = at("2027-01-04T00:00:00Z")
    (back,) = told(["inbox"], home, env=then)
    assert [item["ref"] for item in back["items"]] == refs
    assert "[deferred until 2027-01-04" in done(["inbox"], home, env=then)
    later = results(["defer", refs[0], "--until", "+7d"], home)  # put off again, further
    assert later[0]["unchanged"] is False
    assert results(["defer", refs[0]], home)[0]["unchanged"] is True
    (back,) = told(["inbox"], home, env=then)
    assert [item["ref"] for item in back["items"]] == refs[1:]
    done(["reject", "--all"], home, env=then)
    assert [item["status"] for item in inbox(home, "--all")].count("rejected") == len(refs) - 1
    assert proved(home)


def test_a_day_that_is_over_puts_nothing_off(home: Path) -> None:
    assert "give a day or a time to come" in refused(["defer", "1.1", "--until", "yesterday"], home)
    assert told(["inbox"], home)[0]["items"][0]["status"] == "pending"
