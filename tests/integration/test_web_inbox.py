"""The inbox's list, pane, groups and deeds on several proposals, over one home."""

from pathlib import Path

import pytest

from tests.support.cli import done, proved, told
from tests.support.forms import Form, forms
from tests.support.homes import Homes
from tests.support.pages import Visitor, text_of, visiting
from tests.support.waking import at, proposing

MONDAY = "2027-01-04T00:00:00Z"


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(proposing_two, tmp_path)


def proposing_two(home: Path) -> None:
    proposing(home, "Fix the sink", "Paint the door")


def statuses(home: Path) -> dict[str, str]:
    sets = told(["inbox", "--all"], home)
    return {item["ref"]: item["status"] for one in sets for item in one["items"]}


def several(visitor: Visitor, *refs: str) -> Form:
    """The form for several proposals, these ones chosen as their boxes send them."""
    form = visitor.form("/inbox", "/inbox/decide-several")
    items = [item for one in visitor.json("/inbox")["sets"] for item in one["items"]]
    chosen = {one["ref"]: f"{one['set_id']}.{one['number']}.{one['version']}" for one in items}
    form.fields = [*form.fields, *(("ref", chosen[ref]) for ref in refs)]
    return form


def one(visitor: Visitor, ref: str, field: str = "ref") -> Form:
    """The form of the pane that has such a field."""
    pane = visitor.page(f"/inbox?at={ref}&part=pane")
    return next(each for each in forms(pane) if field in dict(each.fields))


def test_each_proposal_has_an_address_with_its_task_and_its_evidence(home: Path) -> None:
    with visiting(home) as visitor:
        page = visitor.page("/inbox?at=1.2")
        pane = page.partition('id="pane"')[2]
        for wanted in ("Set estimate to 60 minutes", "The task now", "Takes about 60", "Report"):
            assert wanted in text_of(pane)
        assert "Estimate none → 60 minutes" in text_of(page)
        alone = visitor.page("/inbox?at=1.2&part=pane")
        assert 'data-item="item-1-2"' in alone
        assert "<html" not in alone
        document = visitor.get("/inbox.json?at=1.2").json()
        assert document["proposal"]["item"]["ref"] == "1.2"
        assert visitor.get("/inbox.json?part=count").json() == {"waiting": 6}
        for wrong in ("9.1", "1.9", "1", "sink.1", "1.2.3", "x" * 90):
            assert visitor.get(f"/inbox?at={wrong}").status_code == 404, wrong


def test_proposals_are_put_together_and_found_by_words(home: Path) -> None:
    with visiting(home) as visitor:
        every = visitor.json("/inbox")["sets"]
        for by in ("task", "agent", "tool", "category", "nonsense"):
            page = visitor.page(f"/inbox?by={by}")
            assert page.count('<li class="item') == 6, by
        assert "Due date" in text_of(visitor.page("/inbox?by=tool"))
        found = visitor.get("/inbox.json?q=priority+SINK").json()["sets"]
        assert [[item["ref"] for item in one["items"]] for one in found] == [["1.3"]]
        assert "says “nothing of it”" in text_of(visitor.page("/inbox?q=nothing+of+it"))
        seen, path = [], "/inbox.json?by=tool&limit=1"
        while path:
            answer = visitor.get(path.replace("/inbox?", "/inbox.json?")).json()
            seen += [item["ref"] for one in answer["sets"] for item in one["items"]]
            path = answer["next"]
    assert sorted(seen) == sorted(item["ref"] for one in every for item in one["items"])


def test_several_are_decided_as_one_deed_and_what_cannot_be_is_named(home: Path) -> None:
    with visiting(home) as visitor:
        form, only = several(visitor, "1.1", "1.2", "1.3", "2.1"), several(visitor, "2.2")
        none = several(visitor)
        done(["reject", "1.1", "--reason", "no"], home)
        done(["task", "set", "Fix the sink", "--estimate", "25"], home)  # 1.2 is of an older one
        answer = visitor.send(form, verdict="confirm")
        said = text_of(answer.text)
        assert "2 of 4 applied." in said
        assert "Somebody else was faster with “Set due date" in said
        assert "Not done: Set estimate to 60 minutes" in said
        found = statuses(home)
        assert [found[one] for one in ("1.1", "1.2", "1.3", "2.1")] == [
            "rejected",
            "pending",
            "confirmed",
            "confirmed",
        ]
        assert visitor.send(form, verdict="confirm").status_code == 200  # sent twice, done once
        every = [one for one in forms(answer.text) if one.action == "/undo"]
        undo = next(one for one in every if dict(one.fields)["of"])
        assert "Take back these 2" in text_of(visitor.send(undo).text)
        assert {one["priority"] for one in told(["task", "list"], home)} == {"P2"}
        for wrong, verdict in ((only, "burn"), (only, "anyway"), (none, "confirm")):
            assert visitor.send(wrong, verdict=verdict).status_code == 422, verdict
    assert proved(home)


def test_what_is_put_off_until_a_day_is_back_on_it_in_list_badge_and_tab(home: Path) -> None:
    with visiting(home) as visitor:
        form = several(visitor, "1.1", "1.2")
        assert "2 of 2 put off" in text_of(visitor.send(form, verdict="monday").text)
        nowhere = one(visitor, "1.3", "reason")
        assert visitor.send(nowhere, verdict="day", until=" ").status_code == 422
        visitor.send(nowhere, verdict="undated", until="2027-02-01")
        assert visitor.get("/inbox.json?part=count").json() == {"waiting": 3}
        off = visitor.get("/inbox.json?show=deferred").json()["sets"]
        assert [item["until"] for one in off for item in one["items"]] == [
            *["2027-01-04T00:00:00.000000Z"] * 2,
            None,
        ]
    with visiting(home, env=at(MONDAY)) as visitor:
        assert visitor.get("/inbox.json?part=count").json() == {"waiting": 5}
        off = visitor.get("/inbox.json?show=deferred").json()["sets"]
        assert [item["ref"] for one in off for item in one["items"]] == ["1.3"]
        assert "(5) Inbox" in visitor.page("/inbox")


def test_the_last_deeds_are_undone_one_after_the_other_whoever_did_them(home: Path) -> None:
    with visiting(home) as visitor:
        form = one(visitor, "1.2", "edit.minutes")
        visitor.send(form, verdict="confirm", edit__minutes="45")
        shown = text_of(visitor.page("/inbox?show=decided&at=1.2"))
        assert (
            "Before none Proposed Set estimate to 60 minutes Edited by you Set estimate to 45"
            in shown
        )
        done(["reject", "1.1"], home)
        said = []
        for _ in range(3):
            form = visitor.form("/inbox", "/undo", of="")
            said.append(text_of(visitor.send(form).text))
        assert "Taken back: Put 1.1 before you again" in said[0]
        assert "Set the estimate back to none" in said[1]
        assert statuses(home)["1.1"] == "pending"
    assert {one["estimate_minutes"] for one in told(["task", "list"], home)} == {None}


def test_where_nothing_is_left_to_undo_the_page_says_so_in_its_own_words(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        answer = visitor.send(visitor.form("/inbox", "/undo", of=""))
    assert answer.status_code == 422
    assert "there is nothing to undo" in text_of(answer.text)
    assert "wakelog undo" not in answer.text
