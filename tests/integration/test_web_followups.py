"""A follow-up, what goes with it, and times, on the cards of a page without JavaScript."""

from pathlib import Path

from tests.support.cli import done, told
from tests.support.followups import (
    ITEMS,
    TITLE,
    follow_up,
    with_all,
    with_items,
    woken,
)
from tests.support.pages import decided_by, decision, text_of, visiting
from tests.support.waking import inbox


def test_what_needs_a_follow_up_stands_below_it_and_waits(home: Path, tmp_path: Path) -> None:
    with_all(home, tmp_path)
    with visiting(home) as visitor:
        page = visitor.page("/inbox?at=1.2")
        assert page.count("is-below") == page.count('data-after="1.1"') == 3
        assert "Confirm after 1.1" in page
        assert "Move: &#34;Paint the wall&#34; to &#34;The rest&#34; after 1.1" in text_of(page)
        (card,) = visitor.json("/inbox")["sets"]
        assert [(one["ref"], one["after"]) for one in card["items"]] == [
            ("1.1", None),
            *[(f"1.{number}", "1.1") for number in (2, 3, 4)],
            ("1.5", None),
        ]
        form = decision(page, "1.2")
        answer = visitor.send(form, verdict="confirm")
        assert answer.status_code == 422
        wanted = "item 1.2 needs the task that item 1.1 makes; confirm 1.1 first"
        assert wanted in text_of(answer.text)
        visitor.send(decided_by(visitor, "1.1"), verdict="confirm")
        made = made_task(home)
        page = visitor.page("/inbox?at=1.2")
        assert "after 1.1" not in page
        assert f'<a href="/tasks/{made}">' in page
        assert visitor.send(decision(page, "1.2"), verdict="confirm").status_code == 200


def made_task(home: Path) -> str:
    return str(told(["task", "show", "The rest"], home)["id"])


def test_what_moves_may_move_to_a_task_that_is_there(home: Path, tmp_path: Path) -> None:
    done(["task", "add", "Taxes"], home)
    with_all(home, tmp_path)
    done(["task", "link", TITLE, "blocks", "Taxes"], home)
    taxes = told(["task", "show", "Taxes"], home)["id"]
    with visiting(home) as visitor:
        page = visitor.page("/inbox?at=1.2")
        assert f'<option value="{taxes}">Taxes</option>' in page
        assert " selected>The rest</option>" in page
        form = decision(page, "1.2", "edit.targetTaskId")
        answer = visitor.send(form, verdict="confirm", edit__targetTaskId=taxes)
    assert "Applied: Move: &#34;Paint the wall&#34; to &#34;Taxes&#34;" in text_of(answer.text)
    assert [one["title"] for one in told(["task", "show", "Taxes"], home)["items"]] == [ITEMS[1]]


def test_a_rejected_follow_up_tells_what_goes_with_it(home: Path, tmp_path: Path) -> None:
    with_all(home, tmp_path)
    with visiting(home) as visitor:
        after = decided_by(visitor, "1.2")
        answer = visitor.send(decided_by(visitor, "1.1"), verdict="reject", reason="Not now")
        said = text_of(answer.text)
        assert said.count("With it goes:") == 3
        assert "With it goes: Link: blocks &#34;The rest&#34;" in said
        late = visitor.send(after, verdict="confirm")
        assert late.status_code == 409
        assert "what it needs was rejected" in text_of(late.text)
    assert [one["status"] for one in inbox(home)] == ["pending"]


def test_a_follow_up_is_edited_with_its_lines(home: Path, tmp_path: Path) -> None:
    with_items(home)
    woken(home, tmp_path, follow_up(home, description="One\n\nTwo"))
    with visiting(home) as visitor:
        form = decided_by(visitor, "1.1", "edit.title")
        same = visitor.send(form, verdict="confirm", edit__description="One\r\n\r\nTwo")
    assert same.status_code == 200
    (item,) = inbox(home, "--all")
    assert item["arguments"]["description"] == "One\n\nTwo"
    made = told(["task", "show", "The rest"], home)
    assert made["description"] == "One\n\nTwo"


SPENT = {"startedAt": "2026-12-31T16:00", "endedAt": "2026-12-31T18:00", "summary": "Soldered"}


def test_a_quoted_time_is_a_card_with_its_day(home: Path, tmp_path: Path) -> None:
    with_items(home)
    woken(home, tmp_path, ("log_time", {**SPENT, "because": "The rest next month."}))
    with visiting(home) as visitor:
        page = visitor.page("/inbox")
        assert "Log Thu 31 Dec 2026 16:00-18:00 (2 h): Soldered" in text_of(page)
        assert 'type="datetime-local" value="2026-12-31T16:00"' in page
        form = decision(page, "1.1", "edit.startedAt")
        assert visitor.send(form, verdict="confirm", edit__startedAt="soon").status_code == 422
        form = decided_by(visitor, "1.1", "edit.startedAt")
        assert visitor.send(form, verdict="confirm", edit__startedAt="2026-12-31T17:00")
    (entry,) = told(["task", "show", TITLE], home)["time"]
    assert entry["start"] == "2026-12-31T17:00:00.000000Z"
