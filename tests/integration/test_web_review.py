"""The inbox in a browser without JavaScript: verdicts, edits, undo, and who was faster."""

from pathlib import Path

import pytest

from adapters.web.cards import edited
from tests.support.cli import done, proved, told
from tests.support.forms import forms
from tests.support.homes import Homes
from tests.support.pages import decision, refs, text_of, visiting
from tests.support.waking import agent, inbox, proposing, sink


def task(home: Path) -> dict[str, object]:
    (one,) = told(["task", "list"], home)
    found: dict[str, object] = one
    return found


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(proposing, tmp_path)


def test_a_card_quotes_what_it_rests_on_and_leads_to_the_note(tmp_path: Path) -> None:
    task_id = sink(tmp_path)
    done(["agent", "create", task_id], tmp_path)
    done(["task", "note", task_id, "It takes <b>2 hours</b>."], tmp_path)
    done(["wake"], tmp_path)
    item = next(one for one in inbox(tmp_path) if (one["because_at"] or "").startswith("note:"))
    with visiting(tmp_path) as visitor:
        page, whole = visitor.page("/inbox"), visitor.page(f"/tasks/{task_id}")
    assert f'<a href="/tasks/{task_id}#{item["because_at"]}">note</a>' in page
    assert f'<article class="note" id="{item["because_at"]}">' in whole
    assert item["because"] in text_of(page)
    assert "<b>2" not in page


def test_an_undone_confirmation_stands_in_the_inbox_again_and_is_confirmed_again(
    home: Path,
) -> None:
    with visiting(home) as visitor:
        ref = refs(home)["update_task_estimate"]
        for _ in range(2):
            form = decision(visitor.page("/inbox"), ref)
            answer = visitor.send(form, verdict="confirm")
            assert "Applied: Set estimate to 60 minutes" in text_of(answer.text)
            assert refs(home).get("update_task_estimate") is None
            assert task(home)["estimate_minutes"] == 60
            undo = next(one for one in forms(answer.text) if one.action == "/undo")
            assert "Set the estimate back to none" in text_of(visitor.send(undo).text)
            page = text_of(visitor.page("/inbox"))
            assert "You confirmed it before, and undid that." in page
            assert refs(home)["update_task_estimate"] == ref
        page = visitor.page("/inbox")  # of one visit, as by the key u
        visitor.send(decision(page, ref), verdict="confirm")
        visitor.send(next(one for one in forms(page) if one.action == "/undo"), of="")
        visitor.send(decision(visitor.page("/inbox"), ref), verdict="reject")
        assert refs(home).get("update_task_estimate") is None
    assert task(home)["estimate_minutes"] is None
    proved(home)


def test_an_undo_does_not_overwrite_what_came_after(home: Path) -> None:
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), refs(home)["update_task_estimate"])
        undo = next(
            one
            for one in forms(visitor.send(form, verdict="confirm").text)
            if one.action == "/undo"
        )
        done(["task", "set", "Fix the sink", "--estimate", "25"], home)
        answer = visitor.send(undo)
    assert answer.status_code == 409
    assert "changed since" in text_of(answer.text)
    assert task(home)["estimate_minutes"] == 25


def test_to_undo_a_label_takes_that_one_off_and_no_other(tmp_path: Path) -> None:
    home = tmp_path / "home"
    task_id = sink(home)
    for label in ("urgent", "later", "home"):
        done(["label", "add", label], home)
    done(["label", "assign", task_id, "later"], home)
    done(["agent", "create", task_id], home)
    done(["wake"], home)
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), refs(home)["assign_task_label"])
        answer = visitor.send(form, verdict="confirm")
        assert sorted(names(home)) == ["later", "urgent"]
        undo = next(one for one in forms(answer.text) if one.action == "/undo")
        answer = visitor.send(undo)
        assert "Take the label off again" in text_of(answer.text)
        assert names(home) == ["later"]
        done(["label", "assign", task_id, "home"], home)
        assert visitor.send(undo, nonce="another-one").status_code == 409
    assert sorted(names(home)) == ["home", "later"]
    assert proved(home)


def names(home: Path) -> list[str]:
    """The labels of the only task."""
    found: list[str] = told(["task", "show", "Fix the sink"], home)["labels"]
    return found


def test_an_optional_field_that_is_emptied_is_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home, note="I have started.")
    done(["wake"], home)
    (item,) = inbox(home)
    assert item["arguments"]["reason"]
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), item["ref"], "edit.reason")
        answer = visitor.send(form, verdict="confirm", edit__reason="  ")
    assert (answer.status_code, "Applied" in answer.text) == (200, True)
    last = told(["task", "show", "Fix the sink"], home)["history"][-1]
    assert (last["status"], last["reason"]) == ("IN PROGRESS", "")
    assert proved(home)


def test_an_optional_field_that_stays_empty_is_no_edit() -> None:
    proposed = {"status": "IN PROGRESS"}
    form = {"edit.status": "IN PROGRESS", "edit.reason": ""}
    assert edited("set_task_status", proposed, form) is None
    assert edited("set_task_status", {**proposed, "reason": "Begun"}, form) == proposed


def test_an_edit_that_makes_no_sense_is_told_and_changes_nothing(home: Path) -> None:
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), refs(home)["update_task_estimate"], "edit.minutes")
        for minutes in ("0", "9999999999999", "²", "soon", "-3"):
            answer = visitor.send(form, verdict="confirm", edit__minutes=minutes)
            assert answer.status_code == 422, minutes
            assert "Not done" in answer.text or "not possible" in answer.text, minutes
    assert task(home)["estimate_minutes"] is None


def test_a_rejected_one_leaves_the_inbox_with_its_reason(home: Path) -> None:
    with visiting(home) as visitor:
        ref = refs(home)["update_task_estimate"]
        answer = visitor.send(
            decision(visitor.page("/inbox"), ref), verdict="reject", reason="We have one"
        )
        assert "Rejected: Set estimate" in text_of(answer.text)
        assert "We have one" in text_of(visitor.page("/inbox?show=decided"))
    assert ref not in refs(home).values()


def test_one_that_is_put_off_until_a_day_comes_back_on_it(home: Path) -> None:
    ref = refs(home)["update_task_estimate"]
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), ref)
        answer = visitor.send(form, verdict="defer", until="2026-01-01")
        assert "is over" in text_of(answer.text)
        visitor.send(form, verdict="defer", until="2099-01-01")
        assert "Set estimate" not in text_of(visitor.page("/inbox"))
        off = text_of(visitor.page("/inbox?show=deferred"))
        assert "put off comes back Thu 1 Jan 2099 00:00 (in 72 y)" in off
        other = refs(home)["update_task_priority"]  # put off, it can still be decided
        visitor.send(decision(visitor.page("/inbox"), other), verdict="defer", reason="later")
        visitor.send(decision(visitor.page("/inbox?show=deferred"), other), verdict="confirm")
        became = {one["ref"]: one["status"] for one in inbox(home, "--all")}
        assert (became[ref], became[other]) == ("deferred", "confirmed")
    with visiting(home, env={"WAKELOG_NOW": "2099-01-02T12:00:00Z"}) as visitor:
        assert "Set estimate" in text_of(visitor.page("/inbox"))
        assert "Set estimate" not in text_of(visitor.page("/inbox?show=deferred"))


def test_all_that_a_page_showed_is_confirmed_together(home: Path) -> None:
    with visiting(home) as visitor:
        form = visitor.form("/inbox", "/inbox/decide-all")
        answer = visitor.send(form)
    assert "applied" in text_of(answer.text)
    assert refs(home) == {}
    proved(home)


def test_a_decision_taken_elsewhere_is_told_and_not_overwritten(home: Path) -> None:
    ref = refs(home)["update_task_estimate"]
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), ref)
        done(["reject", ref, "--reason", "No"], home)
        answer = visitor.send(form, verdict="confirm")
        assert answer.status_code == 409
        assert "Somebody else was faster" in text_of(answer.text)
        assert "it is rejected (No)" in text_of(answer.text)
    assert task(home)["estimate_minutes"] is None


def test_the_same_edit_sent_twice_is_the_same_though_it_is_in_force_by_then(home: Path) -> None:
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), refs(home)["update_task_estimate"], "edit.minutes")
        answers = [visitor.send(form, verdict="confirm", edit__minutes="45") for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200]
    for answer in answers:
        assert "Applied: Set estimate to 45 minutes" in text_of(answer.text)
    assert task(home)["estimate_minutes"] == 45
    assert [one["status"] for one in inbox(home, "--all")].count("confirmed") == 1
    assert proved(home)


def test_a_stale_one_says_so_and_is_applied_only_anyway(home: Path) -> None:
    ref = refs(home)["update_task_estimate"]
    done(["task", "set", "Fix the sink", "--estimate", "25"], home)
    with visiting(home) as visitor:
        page = visitor.page("/inbox")
        assert "The task has changed since this was proposed" in text_of(page)
        form = decision(page, ref)
        assert form.has("verdict", "anyway")
        answer = visitor.send(form, verdict="confirm")
        assert answer.status_code == 409
        assert task(home)["estimate_minutes"] == 25
        visitor.send(decision(visitor.page("/inbox"), ref), verdict="anyway")
    assert task(home)["estimate_minutes"] == 60
    proved(home)


def test_an_unknown_item_or_verdict_is_refused(home: Path) -> None:
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), refs(home)["update_task_estimate"])
        assert visitor.send(form, verdict="confirm", ref="nope.1.x").status_code == 404
        assert visitor.send(form, verdict="confirm", ref="x").status_code == 404
        assert visitor.send(form, verdict="burn").status_code == 422
        assert visitor.send(form, verdict="confirm", nonce="!").status_code == 422


def test_an_empty_inbox_says_what_to_do(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        assert "there are no agents yet" in text_of(visitor.page("/"))
        assert visitor.json("/inbox") == {"sets": [], "next": None}
