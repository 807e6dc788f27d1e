"""What the pages show and do besides the inbox; each is a JSON document, too."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from adapters.web.cards import edited
from adapters.web.remedies import WORDS
from adapters.web.site import Site
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.forms import Form, forms
from tests.support.homes import Homes
from tests.support.pages import Visitor, decided_by, decision, refs, text_of, visiting
from tests.support.waking import agent, fault, inbox, proposing, reply, report, tape


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(proposing, tmp_path)


def ids(home: Path) -> tuple[str, str, str]:
    """A task, its agent and its wake."""
    task = told(["task", "list"], home)[0]["id"]
    agent = told(["agent", "list"], home)[0]["id"]
    return task, agent, told(["wakes"], home)[0]["run_key"]


def test_each_page_is_a_json_document_with_what_the_command_prints(home: Path) -> None:
    task, agent, run = ids(home)
    with visiting(home) as visitor:
        page = visitor.json(f"/tasks/{task}")
        shown = told(["task", "show", task], home)
        assert {name: page[name] for name in shown} == shown
        assert (
            visitor.json(f"/agents/{agent}")["config"]
            == told(["agent", "show", agent], home)["config"]
        )
        assert visitor.json(f"/wakes/{run}")["steps"] == told(["show", run], home)["steps"]
        assert visitor.json("/health")["journal"]["rows"] > 0
        assert visitor.json("/inbox")["sets"][0]["task_id"] == task
        missing = visitor.get("/tasks/nothing.json")
    assert (missing.status_code, missing.json()["error"]) == (404, "unknown_task")


def test_an_id_as_the_command_line_shows_it_is_an_address(home: Path) -> None:
    with visiting(home) as visitor:
        for kind, one in zip(("tasks", "agents", "wakes"), ids(home), strict=True):
            whole = visitor.json(f"/{kind}/{one}")
            assert visitor.json(f"/{kind}/{one[:8]}") == whole
            assert visitor.get(f"/{kind}/{one[:7]}").status_code == 404


def test_a_field_that_moved_meanwhile_is_not_overwritten(home: Path) -> None:
    task, _, _ = ids(home)
    with visiting(home) as visitor:
        form = visitor.form(f"/tasks/{task}", f"/tasks/{task}/edit")
        done(["task", "set", task, "--title", "From elsewhere", "--priority", "P0"], home)
        done(["task", "set", task, "--estimate", "25"], home)
        answer = visitor.send(form, title="Mine")
        assert answer.status_code == 409
        assert "Title, as it stands now From elsewhere" in text_of(answer.text)
        again = next(one for one in forms(answer.text) if ("title", "Mine") in one.fields)
        assert ("was.title", "From elsewhere") in again.fields
        assert ("estimate", "25") in again.fields  # what was not typed is as it stands now
        assert visitor.send(form, due="2027-03-01").status_code == 200
    shown = told(["task", "show", task], home)
    assert (shown["title"], shown["priority"], shown["due_date"]) == (
        "From elsewhere", "P0", "2027-03-01",
    )  # fmt: skip


def test_what_cannot_be_undone_needs_the_box(home: Path) -> None:
    task, agent, _ = ids(home)
    with visiting(home) as visitor:
        form = visitor.form(f"/tasks/{task}", f"/tasks/{task}/delete")
        assert visitor.send(form, verb="delete").status_code == 422
        life = visitor.form(f"/agents/{agent}", f"/agents/{agent}/life", verb="destroy")
        assert visitor.send(life, verb="destroy").status_code == 422
        assert visitor.send(life, verb="destroy", sure="yes").status_code == 200
        assert visitor.send(form, verb="delete", sure="yes").status_code == 200
    assert told(["task", "list"], home) == []
    assert "destroyed" in refused(["wake", agent], home) or "no agent" in refused(
        ["wake", agent], home
    )


def test_a_task_is_erased_for_good_once_its_title_is_typed(home: Path) -> None:
    task, _, _ = ids(home)
    title = told(["task", "show", task], home)["title"]
    with visiting(home) as visitor:
        assert f'href="/tasks/{task}/erase"' in visitor.page(f"/tasks/{task}")
        plan = visitor.json(f"/tasks/{task}/erase")
        assert plan == told(["erase", "task", task, "--dry-run"], home)
        form = visitor.form(f"/tasks/{task}/erase", f"/tasks/{task}/erase")
        assert visitor.send(form, title=title[1:]).status_code == 422
        assert told(["task", "list"], home)
        answer = visitor.send(form, title=f" {title} ")
        assert (answer.status_code, answer.url.path) == (200, "/tasks")
        assert "no text was found" in text_of(answer.text)
        assert visitor.send(form, title=title).status_code == 404
        assert title not in text_of(visitor.page("/tasks"))
    assert told(["task", "list"], home) == []
    assert told(["prove"], home)["erased"]["units"][0]["unit"] == f"task:{task}"


def test_a_proof_is_shown_with_its_digest(home: Path) -> None:
    _, _, run = ids(home)
    with visiting(home) as visitor:
        digest = proof(visitor, run)["digest"]
        assert "Every byte of this wake" in text_of(visitor.page(f"/wakes/{run}"))
    assert digest == told(["prove"], home)["digest"]


def proof(visitor: Visitor, run: str) -> dict[str, Any]:
    """Press the button, and wait for the end."""
    visitor.send(visitor.form(f"/wakes/{run}", "/prove"))
    for _ in range(100):
        if visitor.json("/health")["proof"]["state"] == "done":
            break
        time.sleep(0.05)
    result: dict[str, Any] = visitor.json("/health")["proof"]["result"]
    return result


def test_filters_of_agents_and_wakes(home: Path) -> None:
    _, agent, _ = ids(home)
    with visiting(home) as visitor:
        assert len(visitor.get("/wakes.json?outcome=completed").json()["wakes"]) == 1
        failed = visitor.get("/wakes.json?outcome=failed").json()
        assert (failed["wakes"], failed["looked_through"]) == ([], 0)  # the view knows
        assert visitor.get(f"/wakes.json?agent={agent}&reason=creation").json()["wakes"]
        assert visitor.get("/agents.json?lifecycle=dormant").json()["agents"] == []
        assert visitor.get("/agents.json?kind=task_agent").json()["agents"]


def test_agents_are_found_by_words_and_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    titles = ("Fix the sink", "Paint the door", "Call Ann", "Sweep")
    for title in titles:
        done(["task", "add", title], tmp_path)
    done(["agent", "create", "--all"], tmp_path)
    done(["--model", "rules", "wake"], tmp_path)
    done(["agent", "timer", "Call Ann", "set", "every day 07:00"], tmp_path)
    done(["agent", "timer", "Fix the sink", "set", "every day 06:00"], tmp_path)
    fails = tape(tmp_path / "fails.jsonl", fault("bad_request", of_provider=False))
    run(["--model", fails, "wake", "Paint the door"], tmp_path)
    dear = tape(tmp_path / "dear.jsonl", reply(report(), tokens=900), reply(tokens=100))
    run(["--model", dear, "wake", "Fix the sink"], tmp_path)
    with visiting(tmp_path) as visitor:

        def listed(query: str) -> list[str]:
            return [one["name"] for one in visitor.get(f"/agents.json?{query}").json()["agents"]]

        assert listed("") == list(reversed(titles))
        assert listed("q=the+FIX") == ["Fix the sink"]
        assert listed("sort=next")[:2] == ["Fix the sink", "Call Ann"]
        assert listed("sort=failing&limit=1") == listed("lifecycle=failing") == ["Paint the door"]
        assert listed("sort=spend")[0] == "Fix the sink"
        assert "1,000" in text_of(visitor.page("/agents?sort=spend"))
        assert "No agent is like that" in visitor.page("/agents?q=nobody")


def test_colours_are_remembered_without_javascript(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        form = visitor.form("/inbox", "/theme")
        visitor.send(form, theme="dark")
        assert 'data-theme="dark"' in visitor.page("/inbox")
        visitor.send(form, theme="auto")
        assert "data-theme" not in visitor.page("/inbox")


def test_times_are_relative_with_the_exact_one_of_the_persons_zone(tmp_path: Path) -> None:
    done(["task", "add", "Fix"], tmp_path)
    (tmp_path / "settings.toml").write_text('timezone = "Asia/Tokyo"\n', encoding="utf-8")
    (task,) = told(["task", "list"], tmp_path)
    with visiting(tmp_path) as visitor:
        page = visitor.page(f"/tasks/{task['id']}")
    assert 'title="2027-01-01 18:00:00 JST"' in page


def test_a_home_that_is_not_there_is_made(tmp_path: Path) -> None:
    site = Site(tmp_path / "new", FIXED)
    site.close()
    assert (tmp_path / "new" / "agent.db").exists()


def test_a_wake_leads_to_the_world_before_it_and_to_what_changed_since(home: Path) -> None:
    _, agent, first = ids(home)
    done(["task", "note", "Fix the sink", "Need to buy a seal."], home)
    done(["wake", agent], home)
    second = told(["wakes"], home)[0]["run_key"]
    with visiting(home) as visitor:
        assert f"/wakes/{second}/diff" in visitor.page(f"/wakes/{second}")
        assert f"/wakes/{first}/diff" not in visitor.page(f"/wakes/{first}")
        found = visitor.json(f"/wakes/{second}/diff")
        assert found == json.loads(run(["--json", "diff", first, second], home).stdout)
        assert visitor.json(f"/wakes/{second}/at") == told(["at", second], home)
        page = visitor.page(f"/wakes/{second}/diff")
        assert f'From <a href="/wakes/{first}">' in page
        assert [line for line in re.findall(r"<ins>(.*?)</ins>", page, re.DOTALL) if "seal" in line]
        assert "subscription" not in text_of(page)
        before = text_of(visitor.page(f"/wakes/{first}/at"))
        assert "Fix the sink" in before
        assert "What waited to run" in before
        assert visitor.get(f"/wakes/{first}/diff").status_code == 404
        assert visitor.get(f"/wakes/{second}/diff?with=nothing").status_code == 404


def test_what_an_agent_said_is_shown_by_kind(home: Path) -> None:
    _, agent, _ = ids(home)
    with visiting(home) as visitor:
        every = visitor.json(f"/agents/{agent}")["threads"][0]["messages"]
        kinds = {one["kind"] for one in every}
        assert len(kinds) > 1
        for kind in kinds:
            (thread,) = visitor.get(f"/agents/{agent}.json?kind={kind}").json()["threads"]
            assert thread["messages"] == [one for one in every if one["kind"] == kind]
        assert visitor.get(f"/agents/{agent}.json?kind=none").json()["threads"] == []
        assert visitor.get(f"/agents/{agent}?kind=<b>").status_code == 200


# ----------------------------------------------------------------------- verdicts, without a script


def task(home: Path) -> dict[str, object]:
    (one,) = told(["task", "list"], home)
    found: dict[str, object] = one
    return found


def test_an_undone_confirmation_stands_in_the_inbox_again_and_is_confirmed_again(
    home: Path,
) -> None:
    with visiting(home) as visitor:
        ref = refs(home)["update_task_estimate"]
        for _ in range(2):
            form = decided_by(visitor, ref)
            answer = visitor.send(form, verdict="confirm")
            assert "Applied: Set estimate to 60 minutes" in text_of(answer.text)
            assert refs(home).get("update_task_estimate") is None
            assert task(home)["estimate_minutes"] == 60
            undo = next(one for one in forms(answer.text) if one.action == "/undo")
            assert "Set the estimate back to none" in text_of(visitor.send(undo).text)
            page = text_of(visitor.page(f"/inbox?at={ref}"))
            assert "You confirmed it before, and undid that." in page
            assert refs(home)["update_task_estimate"] == ref
        page = visitor.page(f"/inbox?at={ref}")  # of one visit, as by the key u
        visitor.send(decision(page, ref), verdict="confirm")
        visitor.send(next(one for one in forms(page) if one.action == "/undo"), of="")
        visitor.send(decided_by(visitor, ref), verdict="reject")
        assert refs(home).get("update_task_estimate") is None
    assert task(home)["estimate_minutes"] is None
    proved(home)


def test_an_undo_does_not_overwrite_what_came_after(home: Path) -> None:
    with visiting(home) as visitor:
        form = decided_by(visitor, refs(home)["update_task_estimate"])
        undo = next(
            one
            for one in forms(visitor.send(form, verdict="confirm").text)
            if one.action == "/undo" and dict(one.fields)["of"]
        )
        done(["task", "set", "Fix the sink", "--estimate", "25"], home)
        answer = visitor.send(undo)
    assert answer.status_code == 409
    assert "changed since" in text_of(answer.text)
    assert task(home)["estimate_minutes"] == 25


def test_an_optional_field_that_is_emptied_is_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home, note="I have started.")
    done(["wake"], home)
    (item,) = inbox(home)
    assert item["arguments"]["reason"]
    with visiting(home) as visitor:
        form = decided_by(visitor, item["ref"], "edit.reason")
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
        form = decided_by(visitor, refs(home)["update_task_estimate"], "edit.minutes")
        for minutes in ("0", "9999999999999", "²", "soon", "-3"):
            answer = visitor.send(form, verdict="confirm", edit__minutes=minutes)
            assert answer.status_code == 422, minutes
            assert "Not done" in answer.text or "not possible" in answer.text, minutes
    assert task(home)["estimate_minutes"] is None


def test_a_decision_taken_elsewhere_is_told_and_not_overwritten(home: Path) -> None:
    ref = refs(home)["update_task_estimate"]
    with visiting(home) as visitor:
        form = decided_by(visitor, ref)
        done(["reject", ref, "--reason", "No"], home)
        answer = visitor.send(form, verdict="confirm")
        assert answer.status_code == 409
        assert "Somebody else was faster" in text_of(answer.text)
        assert "it is rejected (No)" in text_of(answer.text)
    assert task(home)["estimate_minutes"] is None


def test_the_same_edit_sent_twice_is_the_same_though_it_is_in_force_by_then(home: Path) -> None:
    with visiting(home) as visitor:
        form = decided_by(visitor, refs(home)["update_task_estimate"], "edit.minutes")
        answers = [visitor.send(form, verdict="confirm", edit__minutes="45") for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200]
    for answer in answers:
        assert "Applied: Set estimate to 45 minutes" in text_of(answer.text)
    assert task(home)["estimate_minutes"] == 45
    assert [one["status"] for one in inbox(home, "--all")].count("confirmed") == 1
    assert proved(home)


def test_an_unknown_item_or_verdict_is_refused(home: Path) -> None:
    with visiting(home) as visitor:
        form = decided_by(visitor, refs(home)["update_task_estimate"])
        assert visitor.send(form, verdict="confirm", ref="nope.1.x").status_code == 404
        assert visitor.send(form, verdict="confirm", ref="x").status_code == 404
        assert visitor.send(form, verdict="burn").status_code == 422
        assert visitor.send(form, verdict="confirm", nonce="!").status_code == 422


def test_an_empty_inbox_says_what_to_do(tmp_path: Path) -> None:
    with visiting(tmp_path) as visitor:
        assert "there are no agents yet" in text_of(visitor.page("/"))
        assert visitor.json("/inbox") == {"sets": [], "next": None}


# ----------------------------------------------------- agents, templates and the catalog are edited


def test_all_of_an_agent_a_template_and_the_catalog_is_edited(home: Path) -> None:
    done(["template", "create", "Brief", "--general", "Be brief", "--report", "One"], home)
    done(["category", "add", "Garden"], home)
    done(["label", "add", "rain"], home)
    ((agent,), (template,)) = told(["agent", "list"], home), told(["template", "list"], home)
    done(["template", "assign", agent["id"], "Brief"], home)
    url, of = f"/agents/{agent['id']}", f"/templates/{template['id']}"
    with visiting(home) as visitor:
        assert 'href="' + of in visitor.page("/agents")  # the list says who lives on what
        form = visitor.form(url, f"{url}/set")
        slots = {"loops": "The seal", "preferences": "tone = brief\nunit=metre"}
        answer = visitor.send(form, None, name="Sink", turns="7", model="rules", **slots)
        assert answer.status_code == 200, text_of(answer.text)
        shown = told(["agent", "show", agent["id"]], home)
        assert (shown["name"], shown["config"]["turns"]) == ("Sink", 7)
        assert (shown["config"]["model"], shown["slots"]["open_loops"]["values"]) == (
            "rules",
            ["The seal"],
        )
        assert sorted(shown["slots"]["preferences"]) == ["tone", "unit"]
        again = visitor.form(url, f"{url}/set")
        wrong = visitor.send(again, turns="99", nonce="too-many-turns")
        assert (wrong.status_code, "use 1 to 20" in text_of(wrong.text)) == (422, True)
        wrong = visitor.send(again, preferences="brief", nonce="no-preference")
        assert (wrong.status_code, 'id="wrong-preferences"' in wrong.text) == (422, True)
        done(["agent", "set", agent["id"], "--name", "Basin"], home)
        clash = visitor.send(again, name="Tap", nonce="two-names")
        assert clash.status_code == 409
        assert "Basin" in clash.text
        assert 'value="Tap"' in clash.text
        (garden,) = [one for one in told(["category", "list"], home) if one["name"] == "Garden"]
        form = visitor.form(of, f"{of}/set")
        assert visitor.send(form, name="Short", category=garden["id"]).status_code == 200
        (template,) = told(["template", "list"], home)
        assert (template["name"], template["category_ids"]) == ("Short", [garden["id"]])
        late = visitor.send(form, name="Long", nonce="another-name")
        assert (late.status_code, "Short" in late.text) == (409, True)
        named = visitor.form("/catalog", f"/catalog/categories/{garden['id']}")
        assert visitor.send(named, name="Outdoors").status_code == 200
        assert visitor.send(named, name="Yard", nonce="name-it-again").status_code == 409
        correct = visitor.form("/catalog", f"/catalog/categories/{garden['id']}/correct")
        assert visitor.send(correct, before="mtg", after="meeting").status_code == 200
        (label,) = told(["label", "list"], home)
        delete = visitor.form("/catalog", f"/catalog/labels/{label['id']}/delete")
        assert visitor.send(delete).status_code == 422  # the box was not ticked
        assert visitor.send(delete, sure="yes").status_code == 200
        added = visitor.form("/catalog", "/catalog/labels")
        assert visitor.send(added, name="#sun", category=garden["id"]).status_code == 200
        (sun,) = visitor.json("/catalog")["labels"]
        assert sun["categories"] == ["Outdoors"]
        widen = visitor.form("/catalog", f"/catalog/labels/{sun['id']}/widen")
        assert visitor.send(widen).status_code == 200
        assert visitor.json("/catalog")["labels"][0]["categories"] == []
        assert "Offer in all" not in text_of(visitor.page("/catalog"))
        visitor.send(visitor.form(of, f"{of}/set"), model="gemini", nonce="another-model")
        assert "1 agent needs your consent" in text_of(visitor.page(url))  # before a wake waits
        assert visitor.form(url, "/policy/allow").has("model", "gemini:*")
        shown = text_of(visitor.page(f"{of}/preview?agent={agent['id']}"))
        assert "It would not be asked now: nobody has agreed yet" in shown
    assert [one["name"] for one in told(["label", "list"], home)] == ["sun"]
    proved(home)


def test_a_template_is_set_by_command_and_its_model_and_categories_are_emptied(home: Path) -> None:
    done(["template", "create", "Brief", "--general", "Be brief", "--report", "One"], home)
    done(["category", "add", "Garden"], home)
    change = ["template", "set", "Brief", "--name", "Calm", "--model", "rules"]
    done([*change, "--category", "Garden"], home)
    (template,) = told(["template", "list"], home)
    assert (template["name"], template["model"]) == ("Calm", "rules")
    assert len(template["category_ids"]) == 1
    done(["template", "set", "Calm", "--model", "none", "--category", "none"], home)
    (template,) = told(["template", "list"], home)
    assert (template["model"], template["category_ids"]) == (None, [])
    proved(home)


def test_what_a_form_of_templates_and_the_catalog_got_wrong_stands_at_its_field(home: Path) -> None:
    done(["template", "create", "Brief"], home)
    done(["category", "add", "Garden"], home)
    done(["category", "add", "House"], home)
    (template,) = told(["template", "list"], home)
    of, long = f"/templates/{template['id']}", "x" * 200_000
    (garden,) = [one["id"] for one in told(["category", "list"], home) if one["name"] == "Garden"]
    at = f"/catalog/categories/{garden}"
    texts = {"general": "", "report": ""}
    cases = [  # page, form, the field that is wrong, what is typed
        ("/catalog", "/catalog/categories", "name", {"name": " "}),
        ("/catalog", "/catalog/categories", "language", {"name": "Hall", "language": "klingon!"}),
        ("/catalog", at, "name", {"name": "n" * 999}),
        ("/catalog", at, "name", {"name": "House"}),
        ("/catalog", f"{at}/correct", "after", {"before": "same", "after": "same"}),
        ("/catalog", "/catalog/labels", "name", {"name": "#"}),
        ("/templates", "/templates", "name", {"name": "n" * 999}),
        ("/templates", "/templates", "report", {"name": "Long", "report": long}),
        ("/templates", "/templates", "model", {"name": "Odd", "model": "m" * 999}),
        (of, f"{of}/set", "name", {"name": "n" * 999}),
        (of, f"{of}/set", "model", {"model": "m" * 999}),
        (of, f"{of}/version", "general", {"general": long}),
        (of, f"{of}/assign", "agent", {"agent": "nobody of that name"}),
    ]
    with visiting(home) as visitor:
        for page, action, field, typed in cases:
            answer = visitor.send(visitor.form(page, action), None, **{**texts, **typed})
            where = (action, field, text_of(answer.text.partition("told is-")[2])[:200])
            assert answer.status_code in (404, 422), where
            assert answer.text.count(f'aria-describedby="wrong-{field}"') == 1, where
            assert answer.text.count("aria-invalid") == 1, where
            marked = answer.text.split('aria-invalid="true"')[0]
            assert marked.rpartition("<form ")[2].partition(f'action="{action}"')[1], where
            assert typed[field].strip() in answer.text, where  # it is given back
            folded = marked.rpartition("<details")
            if "</details>" not in folded[2]:
                assert " open>" in folded[2].partition("<summary")[0], where
    proved(home)


TYPED = {
    "title": "Other words",
    "text": "Some words",
    "words": "How is it?",
    "target": "No such task",
    "agent": "No such agent",
    "task": "No such task",
    "sure": "yes",
    "schedule": "every day 07:00",
    "version": "9",
}


def sent(visitor: Visitor, found: list[Form]) -> list[str]:
    """What the page says to each form, sent once with each of its buttons."""
    said = []
    for form in found:
        names = {name for name, _ in form.fields}
        typed = {name: text for name, text in TYPED.items() if name in names or name == "sure"}
        for button in form.buttons or [("", "")]:
            pressed = {button[0].replace(".", "__"): button[1]} if button[0] else {}
            answer = visitor.send(form, None, **typed, **pressed)
            if answer.status_code >= 400:
                said.append(text_of(answer.text))
    return said


def of_page(visitor: Visitor, path: str) -> list[Form]:
    return [
        form
        for form in forms(visitor.page(path))
        if form.method == "post" and form.action not in ("/theme", "/keys", "/prove", "/wake")
    ]


def test_no_refusal_of_the_page_names_a_command_for_what_the_page_can_do(home: Path) -> None:
    task, agent = told(["task", "list"], home)[0]["id"], told(["agent", "list"], home)[0]["id"]
    done(["template", "create", "Calm", "--general", "Be calm."], home)
    calm = next(one for one in told(["template", "list"], home) if one["name"] == "Calm")["id"]
    said: list[str] = []
    with visiting(home) as visitor:
        pages = ["/inbox", f"/tasks/{task}", f"/agents/{agent}", f"/templates/{calm}"]
        held = {page: of_page(visitor, page) for page in pages}
        done(["reject", refs(home)["update_task_estimate"]], home)
        done(["agent", "pause", agent], home)
        said += sent(visitor, held[f"/agents/{agent}"][:1])  # "Wake now"
        done(["agent", "destroy", agent], home)
        said += sent(visitor, held[f"/agents/{agent}"])
        done(["template", "delete", calm], home)
        said += sent(visitor, held[f"/templates/{calm}"])
        done(["task", "delete", task], home)
        said += sent(visitor, held[f"/tasks/{task}"])
        said += sent(visitor, held["/inbox"])
        gone = visitor.get(f"/tasks/{task}/none")
        assert gone.status_code == 404
    assert len(said) > 20
    whole = "\n".join(said)
    assert "`wakelog" not in whole
    for name in ("restore_task", "resume_agent", "create_agent", "see_tasks"):
        assert WORDS[name] in whole, name


def test_what_turns_a_text_or_is_not_seen_is_a_sign_on_page_and_terminal(tmp_path: Path) -> None:
    home, turned = tmp_path / "home", "gpj.\u202eexe"
    done(["category", "add", "Wo\u200brk"], home)
    done(["task", "add", turned, "--category", "Wo\u200brk"], home)
    done(["task", "note", turned, "see \u2066this\u2069"], home)
    file = tmp_path / f"{turned}.md"
    file.write_text("- [ ] One\n", encoding="utf-8")
    typed = done(["import", str(file), "--dry-run"], home) + done(["list"], home)
    typed += done(["show", turned], home)
    with visiting(home) as visitor:
        (found,) = visitor.json("/tasks")["tasks"]
        page = visitor.page("/tasks") + visitor.page(f"/tasks/{found['id']}")
    shown = re.sub(r'value="[^"]*"|<textarea.*?</textarea>', "", page, flags=re.DOTALL)
    for text, wanted in ((typed, ("gpj.\ufffdexe",)), (shown, ("gpj.\ufffdexe", "Wo\ufffdrk"))):
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b]", text)
        for one in wanted:
            assert one in text
    assert "gpj.\ufffdexe.md" in typed


def test_the_search_is_the_document_of_the_command_line(home: Path) -> None:
    with visiting(home) as visitor:
        found = visitor.get("/search.json?q=sink").json()
        cut = visitor.get("/search.json?q=urgent&limit=1").json()
    assert found == {"tasks": told(["search", "sink"], home), "next": None}
    assert len(cut["tasks"]) == 1
