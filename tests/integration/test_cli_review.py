"""`wakelog inbox, confirm, reject, defer`: what a person decides, item by item."""

from pathlib import Path
from typing import Any

import pytest

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.runtime import review
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.wiring import Models, open_home
from tests.support.cli import done, proved, refused, run, told
from tests.support.deciding import ref_of, results
from tests.support.faults import Died, FaultyRecorder, Fuse
from tests.support.homes import Homes
from tests.support.waking import agent, at, inbox, proposing, reply, report, tape


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """One agent whose first wake proposed a due date, an estimate and a priority."""
    return homes.copy(proposing, tmp_path / "home")


def task(home: Path) -> Any:
    return told(["task", "show", "Fix the sink"], home)


# ------------------------------------------------------------------------------------------ inbox


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


def test_the_inbox_is_grouped_by_task_and_shows_present_values(home: Path) -> None:
    agent(home, "Plan the trip")
    done(["wake"], home)
    text = done(["inbox"], home)
    assert text.index("Fix the sink") < text.index("1.1") < text.index("Plan the trip")
    assert "Set estimate to 60 minutes (now: none)" in text
    assert "just now" in text
    assert {item["ref"][0] for item in inbox(home, "Plan the trip")} == {"2"}
    assert proved(home)


def test_the_document_has_the_promised_keys(home: Path) -> None:
    (one,) = told(["inbox"], home)
    keys = "set id task_id task_title agent_id run_key created_at status items"
    assert set(keys.split()) <= set(one)
    item_keys = "ref tool arguments summary status stale fingerprint"
    assert set(item_keys.split()) <= set(one["items"][0])
    assert one["set"] == 1


def test_an_item_is_shown_with_the_words_that_it_rests_on(tmp_path: Path) -> None:
    agent(tmp_path, "Fix the sink", note="It takes 2 hours, I think.")
    done(["wake"], tmp_path)
    (item,) = inbox(tmp_path)
    assert item["because"] == "It takes 2 hours, I think."
    assert item["because_at"].startswith("note:2")
    day = item["because_at"].removeprefix("note:")[:10]
    lines = done(["inbox"], tmp_path).splitlines()
    assert f'         "It takes 2 hours, I think." (note of {day})' in lines
    assert proved(tmp_path)


# ----------------------------------------------------------------------------------------- confirm


def test_confirming_twice_changes_nothing_and_says_so(home: Path) -> None:
    ref = ref_of(home, "update_task_estimate")
    assert results(["confirm", ref], home)[0]["status"] == "confirmed"
    rows = proved(home)
    assert "(it was already)" in done(["confirm", ref], home)
    assert results(["confirm", ref], home)[0]["error"] is None
    assert proved(home) == rows


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


def test_a_set_without_all_is_refused_with_both_ways(home: Path) -> None:
    refusal = refused(["confirm", "1"], home)
    assert "confirm 1.1" in refusal
    assert "confirm 1 --all" in refusal


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


def test_edited_arguments_are_applied_and_told(home: Path) -> None:
    ref = ref_of(home, "update_task_estimate")
    (one,) = results(["confirm", ref, "--edit", '{"minutes": 45}'], home)
    assert (one["status"], one["summary"]) == ("confirmed", "Set estimate to 45 minutes")
    assert task(home)["estimate_minutes"] == 45
    assert proved(home)


def test_an_edit_names_only_what_differs(home: Path, tmp_path: Path) -> None:
    done(["task", "item", "add", "Fix the sink", "buy sealant"], home)
    item = task(home)["items"][0]["id"]
    change = {"items": [{"id": item, "title": "Buy sealant"}]}
    calls = reply(("update_checklist_items", change), report())
    told(["--model", tape(tmp_path / "t.jsonl", calls, reply()), "wake", "Fix the sink"], home)
    done(["confirm", "2.1", "--edit", '{"title": "Buy grey sealant"}'], home)
    assert task(home)["items"][0]["title"] == "Buy grey sealant"
    assert proved(home)


def test_an_edited_rename_is_told_by_what_the_item_was_called(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    done(["task", "item", "add", "Fix the sink", "Buy seal"], home)
    item = task(home)["items"][0]["id"]
    rename = ("update_checklist_items", {"items": [{"id": item, "title": "Buy a seal"}]})
    done(
        ["--model", tape(tmp_path / "t", reply(rename, report()), reply()), "wake", "Fix the sink"],
        home,
    )
    edit = ["confirm", "1.1", "--edit", '{"title": "Buy two seals"}']
    told_as = 'Rename: "Buy seal" to "Buy two seals"'
    assert results(edit, home)[0]["summary"] == told_as
    done(["task", "item", "rename", "Fix the sink", "1", "Buy three seals"], home)
    assert inbox(home, "--all")[0]["summary"] == told_as


def test_a_stale_edit_is_told_to_be_given_again(home: Path) -> None:
    ref = ref_of(home, "update_task_estimate")
    done(["task", "set", "Fix the sink", "--estimate", "45m"], home)
    edit = ["--edit", '{"minutes": 50}']
    (one,) = results(["confirm", ref, *edit], home, status=1)
    assert f"confirm {ref} --anyway` and the same --edit" in one["error"]
    assert results(["confirm", ref, "--anyway", *edit], home)[0]["status"] == "confirmed"
    assert task(home)["estimate_minutes"] == 50


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


# ---------------------------------------------------------------------------- reject and defer


def test_a_rejected_label_is_suppressed_on_the_task(home: Path, tmp_path: Path) -> None:
    done(["label", "add", "plumbing"], home)
    (label,) = told(["label", "list"], home)
    change = {"labels": [{"id": label["id"], "confidence": "high"}]}
    calls = reply(("assign_task_labels", change), report())
    model = tape(tmp_path / "t.jsonl", calls, reply())
    told(["--model", model, "wake", "Fix the sink"], home)
    (one,) = results(["reject", "2.1", "--reason", "Wrong one"], home)
    assert (one["status"], one["error"]) == ("rejected", None)
    again = told(["--model", model, "wake", "Fix the sink"], home)
    assert again["proposals"] == 0
    assert proved(home)


def test_what_was_rejected_is_not_proposed_again_until_it_is_touched(home: Path) -> None:
    def noted(day: int) -> Any:
        """A note that is newer than any value, and the wake that reads it."""
        later = at(f"2027-01-0{day}T09:00:00Z")
        done(["task", "note", "Fix the sink", "Takes about 60 minutes."], home, env=later)
        return told(["wake", "Fix the sink"], home, env=later)

    results(["reject", "1", "--all", "--reason", "Not now"], home)
    assert noted(2)["proposals"] == 0
    done(["task", "set", "Fix the sink", "--estimate", "10m"], home)
    done(["task", "set", "Fix the sink", "--estimate", "none"], home)
    wake = noted(3)
    assert [item["tool"] for item in inbox(home)] == ["update_task_estimate"]
    assert wake["proposals"] == 1
    assert proved(home)


def test_a_deferred_item_leaves_the_inbox_and_can_still_be_decided(home: Path) -> None:
    done(["defer", "1.1", "--reason", "After the holidays"], home)
    assert "1.1" not in [item["ref"] for item in inbox(home)]
    text = done(["inbox", "--all"], home)
    assert "After the holidays [deferred]" in text
    assert [one["ref"] for one in results(["confirm", "--all"], home)] == ["1.2", "1.3"]
    assert "put off" in done(["inbox"], home)
    assert [one["status"] for one in results(["confirm", "1", "--all"], home)] == ["confirmed"]
    assert proved(home)


def test_a_reason_of_several_lines_stays_on_the_items_line(home: Path) -> None:
    done(["defer", "1.1", "--reason", "After\nthe holidays"], home)
    assert "- After the holidays [deferred]" in done(["inbox", "--all"], home)


def test_deciding_the_same_twice_changes_nothing(home: Path) -> None:
    for verb, ref in (("reject", "1.1"), ("defer", "1.2")):
        assert "(it was already)" not in done([verb, ref], home)
        rows = proved(home)
        assert "(it was already)" in done([verb, ref], home)
        assert proved(home) == rows


# -------------------------------------------------------------------------------- keys and crashes


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


def confirm_and_die(home: Path, ref: str, *, after_effect: bool) -> None:
    """Confirm an item in a process that dies when the intent is in the agent log: before the
    effect is in the journal, or just after it."""
    fuse = Fuse(4 if after_effect else 3)  # boundaries 1 and 2 are the intent's
    journal, agents = (
        Log(name, FaultyRecorder(SQLiteLogRecorder(home / f"{name}.db"), fuse), "r1")
        for name in ("journal", "agent")
    )
    clock, settings = ManualClock("2027-01-01T09:00:00.000000Z"), Settings()
    services = Services(journal, agents, clock, settings, Models({}, settings))
    with pytest.raises(Died):
        review.confirm(services, told(["inbox"], home)[0]["id"], int(ref.partition(".")[2]))
    services.close()


@pytest.mark.parametrize("after_effect", [False, True])
def test_a_crash_between_intent_and_outcome_is_recovered(home: Path, *, after_effect: bool) -> None:
    ref = ref_of(home, "update_task_estimate")
    confirm_and_die(home, ref, after_effect=after_effect)
    (one,) = [item for item in inbox(home) if item["ref"] == ref]
    assert one["status"] == "confirming"
    assert task(home)["estimate_minutes"] == (60 if after_effect else None)
    environ = {"WAKELOG_REPLICA": "r1", "WAKELOG_NOW": "2027-01-01T12:00:00Z"}
    with open_home(home, environ) as opened:
        set_id = told(["inbox"], home)[0]["id"]
        assert review.recover(opened.services, set_id) == [int(ref.partition(".")[2])]
    assert task(home)["estimate_minutes"] == 60
    assert ref not in [item["ref"] for item in inbox(home)]
    assert proved(home)


def test_confirming_again_finishes_what_a_crash_left(home: Path) -> None:
    ref = ref_of(home, "update_task_estimate")
    confirm_and_die(home, ref, after_effect=False)
    assert results(["confirm", ref], home)[0]["status"] == "confirmed"
    assert task(home)["estimate_minutes"] == 60
    assert proved(home)
