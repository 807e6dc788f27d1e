"""A form that was made from what is no longer there: both texts, and what was typed is kept."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from tests.support.cli import done, proved, told
from tests.support.forms import Form, forms
from tests.support.homes import Homes
from tests.support.pages import ORIGIN, Visitor, decided_by, refs, text_of, visiting
from tests.support.waking import proposing


def written(home: Path) -> None:
    proposing(home)
    done(["task", "set", "Fix the sink", "--description", "Old"], home)
    done(["task", "item", "add", "Fix the sink", "Buy a seal"], home)
    done(["template", "create", "Calm", "--general", "Be calm", "--report", "One"], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """A task with a description, a note, an item and an agent; a template."""
    return homes.copy(written, tmp_path)


def shown(home: Path) -> Any:
    return told(["task", "show", "Fix the sink"], home)


def clash(answer: Any, action: str) -> Form:
    """The form that a conflict offers: what was typed, made from what is there now."""
    assert answer.status_code == 409
    return offered(answer, action)


def offered(answer: Any, action: str) -> Form:
    """The form that a notice holds, filled in."""
    notice = answer.text[answer.text.index('class="told is-') :]
    return next(one for one in forms(notice) if one.action == action)


def sent_again(visitor: Visitor, answer: Any, action: str, **typed: str) -> None:
    """Send what a conflict offers, with what a textarea holds."""
    assert visitor.send(clash(answer, action), None, **typed).status_code == 200


def test_a_description_that_was_changed_meanwhile_is_not_overwritten(home: Path) -> None:
    url = f"/tasks/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/describe")
        done(["task", "set", "Fix the sink", "--description", "Theirs"], home)
        answer = visitor.send(form, text="Mine")
        assert shown(home)["description"] == "Theirs"
        assert "Theirs" in text_of(answer.text)
        assert ">\nMine</textarea>" in answer.text
        sent_again(visitor, answer, f"{url}/describe", text="Mine")
        assert shown(home)["description"] == "Mine"
        assert visitor.send(form, text="Mine").status_code == 200  # it is so already
        form = visitor.form(url, f"{url}/describe")
        for _ in range(2):  # sent twice, it does one thing
            assert visitor.send(form, text="Mine, too").status_code == 200
        del form.fields[[name for name, _ in form.fields].index("was.text")]
        assert visitor.send(form, text="Made from nothing").status_code == 422
    proved(home)


def test_a_note_that_was_changed_meanwhile_is_neither_overwritten_nor_removed(home: Path) -> None:
    url, note = f"/tasks/{shown(home)['id']}", shown(home)["notes"][0]["id"]
    with visiting(home) as visitor:
        edit = visitor.form(url, f"{url}/note", verb="edit")
        remove = visitor.form(url, f"{url}/note", verb="remove")
        visitor.send(edit, nonce="another-window", verb="edit", text="Theirs")
        answer = visitor.send(edit, verb="edit", text="Mine")
        assert "Theirs" in text_of(answer.text)
        assert visitor.send(remove, verb="remove", sure="yes").status_code == 409
        assert [one["text"] for one in shown(home)["notes"] if one["id"] == note] == ["Theirs"]
        sent_again(visitor, answer, f"{url}/note", text="Mine")
        assert [one["text"] for one in shown(home)["notes"] if one["id"] == note] == ["Mine"]
        answer = visitor.send(remove, nonce="and-once-more", verb="remove", sure="yes")
        sent_again(visitor, answer, f"{url}/note")
    assert all(one["id"] != note for one in shown(home)["notes"])


def test_a_long_note_is_edited_whole_or_not_at_all(home: Path) -> None:
    text = "long " * 12_000 + "end"
    done(["task", "note", "Fix the sink", text], home)
    url = f"/tasks/{shown(home)['id']}"
    with visiting(home) as visitor:
        assert "too long to be changed here" in text_of(visitor.page(url))
        whole = visitor.page(f"{url}?full=1")
    assert f">\n{text}</textarea>" in whole


def test_an_item_that_was_renamed_meanwhile_is_not_what_was_looked_at(home: Path) -> None:
    url = f"/tasks/{shown(home)['id']}"
    with visiting(home) as visitor:
        tick = visitor.form(url, f"{url}/item", verb="check")
        rename = visitor.form(url, f"{url}/item", verb="rename")
        assert visitor.send(rename, verb="rename").status_code == 200  # nothing was changed
        visitor.send(rename, nonce="another-window", verb="rename", title="Buy two seals")
        answer = visitor.send(tick, verb="check")
        assert not shown(home)["items"][0]["checked"]
        sent_again(visitor, answer, f"{url}/item")
        assert shown(home)["items"][0]["checked"]
        answer = visitor.send(rename, nonce="and-once-more", verb="rename", title="Mine")
        assert shown(home)["items"][0]["title"] == "Buy two seals"
        sent_again(visitor, answer, f"{url}/item", title="Mine")
    assert shown(home)["items"][0]["title"] == "Mine"


def test_settings_that_were_changed_meanwhile_stay(home: Path) -> None:
    (agent,) = told(["agent", "list"], home)
    url = f"/agents/{agent['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/set")
        sent = {"goal": "Ours", "mode": "hybrid", "automatic": "yes"}
        done(["agent", "set", agent["id"], "--mode", "interactive", "--goal", "Theirs"], home)
        answer = visitor.send(form, None, **sent)
        assert "Theirs" in text_of(answer.text)
        now = told(["agent", "show", agent["id"]], home)
        assert (now["mode"], now["slots"]["primary_goal"]["value"]) == ("interactive", "Theirs")
        sent_again(visitor, answer, f"{url}/set", goal="Ours")
        now = told(["agent", "show", agent["id"]], home)
        assert (now["mode"], now["slots"]["primary_goal"]["value"]) == ("interactive", "Ours")
        form = visitor.form(url, f"{url}/set")
        done(["agent", "set", agent["id"], "--mode", "autonomous"], home)
        answer = visitor.send(form, goal="Ours", mode="hybrid")  # and it is not automatic any more
        assert "autonomous" in text_of(answer.text)
        sent_again(visitor, answer, f"{url}/set")
        now = told(["agent", "show", agent["id"]], home)
    assert (now["mode"], now["config"]["automatic"]) == ("hybrid", False)
    proved(home)


def test_an_agents_template_is_not_replaced_unseen(home: Path) -> None:
    (agent,) = told(["agent", "list"], home)
    (calm,) = told(["template", "list"], home)
    with visiting(home) as visitor:
        url, page = f"/agents/{agent['id']}", f"/templates/{calm['id']}"
        form = visitor.form(url, f"{url}/template")
        done(["template", "assign", agent["id"], "Calm"], home)
        off = visitor.form(page, f"{page}/assign", verb="remove")
        assert visitor.send(form, template="tom").status_code == 409
        done(["template", "assign", agent["id"], "laura"], home)
        assert visitor.send(off, verb="remove").status_code == 409
    assert told(["agent", "show", agent["id"]], home)["template_id"] not in (None, calm["id"])


def test_a_version_of_a_template_keeps_what_was_typed(home: Path) -> None:
    (calm,) = told(["template", "list"], home)
    url = f"/templates/{calm['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/version")
        done(["template", "version", "Calm", "--general", "Be loud"], home)
        answer = visitor.send(form, general="Be kind", report="One")
        assert "Be loud" in text_of(answer.text)
        assert ">\nBe kind</textarea>" in answer.text
        sent_again(visitor, answer, f"{url}/version", general="Be kind")
    (calm,) = told(["template", "list"], home)
    assert [one["general"] for one in calm["versions"]] == ["Be calm", "Be loud", "Be kind"]


def test_a_refused_form_comes_back_filled_in_but_to_a_script_and_to_a_button(home: Path) -> None:
    url = f"/tasks/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/edit")
        answer = visitor.send(form, title="Fix <both> sinks", estimate="soon")
        assert answer.status_code == 422
        assert "Send it again" in answer.text
        script = {"hx-request": "true"}  # it keeps the form itself
        told_to_it = visitor.send(form, script, title="Fix <both> sinks", estimate="soon")
        button = visitor.send(visitor.form(url, f"{url}/delete"), verb="delete")
        for one in (told_to_it, button):  # which has nothing to give back
            assert one.status_code == 422
            assert "Send it again" not in one.text
        assert told_to_it.headers["hx-retarget"] == "#told"
        again = offered(answer, f"{url}/edit")
        assert ("title", "Fix <both> sinks") in again.fields
        assert ("estimate", "soon") in again.fields
        assert ("was.title", "Fix the sink") in again.fields
        assert visitor.send(again, estimate="45").status_code == 200
    (task,) = told(["task", "list"], home)
    assert (task["title"], task["estimate_minutes"]) == ("Fix <both> sinks", 45)
    proved(home)


def test_words_for_an_agent_that_sleeps_by_now_are_not_lost(home: Path) -> None:
    (agent,) = told(["agent", "list"], home)
    url = f"/agents/{agent['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/ask")
        done(["agent", "pause", "Fix the sink"], home)
        answer = visitor.send(form, words="Which seal is it?")
        assert answer.status_code == 409
        done(["agent", "resume", "Fix the sink"], home)
        assert ("words", "Which seal is it?") in clash(answer, f"{url}/ask").fields
        assert visitor.send(clash(answer, f"{url}/ask")).status_code == 200


AT_ONCE = 24


def test_of_many_verdicts_at_once_one_counts_and_all_others_are_told(home: Path) -> None:
    ref = refs(home)["update_task_priority"]
    start = Barrier(AT_ONCE)
    with visiting(home) as visitor:
        each = [decided_by(visitor, ref) for _ in range(AT_ONCE)]  # a window each

        def decides(nth: int) -> Any:
            data = dict(each[nth].fields) | {"verdict": ("confirm", "reject", "defer")[nth % 3]}
            start.wait()
            return visitor.client.post(
                each[nth].action, data=data, headers={"origin": ORIGIN}, follow_redirects=False
            )

        with ThreadPoolExecutor(AT_ONCE) as people:
            answers = list(people.map(decides, range(AT_ONCE)))
    assert Counter(one.status_code for one in answers) == {303: 1, 409: AT_ONCE - 1}
    late = [text_of(one.text) for one in answers if one.status_code == 409]
    assert all("Somebody else was faster with" in one for one in late)
    (item,) = [
        item
        for one in told(["inbox", "--all"], home)
        for item in one["items"]
        if item["ref"] == ref
    ]
    (first,) = [nth for nth, one in enumerate(answers) if one.status_code == 303]
    assert item["status"] == ("confirmed", "rejected", "deferred")[first % 3]
    proved(home)
