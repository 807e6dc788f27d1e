"""The inbox's list, pane, groups and deeds on several proposals, over one home."""

import re
from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, told
from tests.support.followups import with_all
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


def tab(form: Form, visit: str = "tab-0001") -> Form:
    """A form as the script of a page sends it: it says which visit it is of."""
    form.fields = [
        (name, visit + value[len(visit) :] if name == "nonce" else value)
        for name, value in form.fields
    ]
    return form


def last(page: str) -> Form:
    """The button that undoes what was done last, as a page has it."""
    every = [one for one in forms(page) if one.action == "/undo"]
    return next(one for one in every if not dict(one.fields)["of"])


def test_a_visit_takes_back_what_it_did_and_asks_for_anything_else(home: Path) -> None:
    with visiting(home) as visitor:
        form = tab(one(visitor, "1.2", "edit.minutes"))
        visitor.send(form, verdict="confirm", edit__minutes="45")
        shown = text_of(visitor.page("/inbox?show=decided&at=1.2"))
        assert (
            "Before none Proposed Set estimate to 60 minutes Edited by you Set estimate to 45"
            in shown
        )
        done(["reject", "1.1"], home)
        said = [visitor.send(tab(visitor.form("/inbox", "/undo", of=""))).text for _ in range(2)]
        assert "Set the estimate back to none" in text_of(said[0])
        assert "Nothing more to take back." in text_of(said[1])
        question = "reject item of 1.1, just now, done in another terminal"
        assert f"Undo: {question}" in text_of(said[1])
        assert statuses(home)["1.1"] == "rejected"
        other = visitor.send(tab(visitor.form("/inbox", "/undo", of=""), "tab-0002")).text
        assert f"Undo {question}?" in text_of(other)
        every = [one for one in forms(other) if one.action == "/undo"]
        visitor.send(next(one for one in every if dict(one.fields)["of"]))
        assert statuses(home)["1.1"] == "pending"
        visitor.send(tab(one(visitor, "1.3", "reason")), verdict="undated")
        other = visitor.send(tab(visitor.form("/inbox", "/undo", of=""), "tab-0002")).text
        assert "done in another tab" in text_of(other)
    assert {one["estimate_minutes"] for one in told(["task", "list"], home)} == {None}
    assert "done on the page" in refused(["undo"], home)


def test_where_this_tab_did_since_what_no_undo_is_about_it_asks(home: Path) -> None:
    with visiting(home) as visitor:
        visitor.send(tab(one(visitor, "1.3", "reason")), verdict="undated")
        visitor.send(tab(visitor.form("/catalog", "/catalog/labels")), name="urgent")
        answer = visitor.send(tab(visitor.form("/inbox", "/undo", of=""))).text
    assert "Undo defer item of 1.3, just now?" in text_of(answer)
    assert "Nothing takes back what came after it: add label." in text_of(answer)
    assert statuses(home)["1.3"] == "deferred"


def test_without_a_script_an_answer_goes_on_with_the_visit_of_its_form(home: Path) -> None:
    with visiting(home) as visitor:
        page = visitor.send(one(visitor, "1.3", "reason"), verdict="undated").text
        answer = visitor.send(last(page)).text
    assert "Taken back: Put 1.3 before you again" in text_of(answer)


def test_what_this_tab_did_over_an_hour_ago_or_was_changed_since_is_asked_for(home: Path) -> None:
    with visiting(home) as visitor:
        visitor.send(tab(one(visitor, "1.2", "edit.minutes")), verdict="confirm")
        done(["task", "set", "Fix the sink", "--estimate", "5"], home)
        answer = visitor.send(tab(visitor.form("/inbox", "/undo", of=""))).text
        assert "Undo estimate 5 of “Fix the sink”, just now, done in another" in text_of(answer)
    with visiting(home, env=at("2027-01-01T10:00:01Z")) as visitor:
        answer = visitor.send(tab(visitor.form("/inbox", "/undo", of=""))).text
        assert "Undo: estimate 5 of “Fix the sink”, 1 h ago, done in another" in text_of(answer)


def test_where_nothing_is_left_to_undo_the_page_says_so_in_its_own_words(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        answer = visitor.send(visitor.form("/inbox", "/undo", of=""))
    assert answer.status_code == 200
    assert "Nothing more to take back." in text_of(answer.text)
    assert "wakelog undo" not in answer.text


ROWS = re.compile(r'<div id="rows" data-tail="([^"]*)" data-was="([^"]*)" data-title="([^"]*)"')
TAIL = re.compile(r'data-tail="([^"]*)"')


def test_an_answer_of_rows_is_what_was_decided_what_is_chosen_and_the_badge(home: Path) -> None:
    with visiting(home) as visitor:
        tail = TAIL.findall(visitor.page("/inbox"))[0]
        sent = one(visitor, "1.2", "edit.minutes")
        answer = visitor.send(sent, verdict="confirm", part="rows", at="1.3").text
        known = ROWS.findall(answer)[0]
        assert known[1:] == (tail, "(5) Inbox · wakelog")
        assert known[0] == TAIL.findall(visitor.page("/inbox"))[0]
        for wanted in ('id="item-1-2"', 'data-item="item-1-3"', "is-kept", "Applied: Set estimate"):
            assert wanted in answer, wanted
        assert ("<html" in answer, answer.count('<li class="item')) == (False, 1)
        late = visitor.send(sent, verdict="reject", part="rows", at="", nonce="another-one")
        assert (late.status_code, "Somebody else was faster" in text_of(late.text)) == (409, True)
        done(["task", "add", "Another"], home)
        third = visitor.send(one(visitor, "1.3", "reason"), verdict="reject", part="rows")
        assert ROWS.findall(third.text)[0][1] not in ("", known[0])  # that page has news to ask for
        form = several(visitor, "2.1", "2.2")
        assert visitor.send(form, verdict="undated", part="rows").text.count("is-kept") == 2


def test_a_verdict_that_changes_what_other_rows_say_lets_the_page_ask_for_them(
    home: Path, tmp_path: Path
) -> None:
    with_all(tmp_path / "other", tmp_path)
    with visiting(tmp_path / "other") as visitor:
        form = one(visitor, "1.1", "edit.title")
        answer = visitor.send(form, verdict="confirm", part="rows", at="1.2").text
    assert ROWS.findall(answer)[0][1] == ""


def test_one_verdict_of_several_is_taken_back_alone_and_says_what_was_before(home: Path) -> None:
    done(["confirm", "1", "--all"], home)
    done(["reject", "2.2"], home)
    done(["task", "set", "Paint the door", "--estimate", "90"], home)
    with visiting(home) as visitor:
        page = text_of(visitor.page("/inbox?show=decided"))
        assert "Due none → 2027-02-12" in page
        assert "Estimate none → 60 minutes rejected" in page
        items = {
            item["ref"]: f"{item['set_id']}.{item['number']}"
            for each in visitor.get("/inbox.json?show=decided").json()["sets"]
            for item in each["items"]
        }
        undo = visitor.form("/inbox?show=decided", "/undo", of="")
        for ref in ("1.2", "2.2"):
            undo.fields = [*undo.fields, ("item", items[ref])]
            answer = visitor.send(undo, nonce=f"nonce-of-{ref.replace('.', '-')}", item=items[ref])
            assert "It waits for you again" in text_of(answer.text)
    found = statuses(home)
    assert [one for one, status in found.items() if status == "confirmed"] == ["1.1", "1.3"]
    assert [found[one] for one in ("1.2", "2.2")] == ["pending", "pending"]
    assert proved(home)
