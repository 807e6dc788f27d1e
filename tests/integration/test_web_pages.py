"""What the pages show and do besides the inbox; each is a JSON document, too."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from adapters.web.site import Site
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.forms import forms
from tests.support.homes import Homes
from tests.support.pages import Visitor, text_of, visiting
from tests.support.waking import proposing


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


def test_a_person_edits_a_task(home: Path) -> None:
    task, _, _ = ids(home)
    with visiting(home) as visitor:
        url = f"/tasks/{task}"
        visitor.send(visitor.form(url, f"{url}/edit"), title="Mend the sink", estimate="1h30m")
        visitor.send(visitor.form(url, f"{url}/add-item"), title="Buy a seal")
        item = told(["task", "show", task], home)["items"][0]["id"]
        visitor.send(visitor.form(url, f"{url}/item", item=item), verb="check")
        visitor.send(visitor.form(url, f"{url}/note"), text="It *drips*")
        visitor.send(visitor.form(url, f"{url}/describe"), text="<b>Both</b> taps")
        visitor.send(visitor.form(url, f"{url}/timer"), verb="start")
        page = visitor.page(url)
        visitor.send(visitor.form(url, f"{url}/timer"), verb="stop", summary="looked")
    shown = told(["task", "show", task], home)
    assert (shown["title"], shown["estimate_minutes"]) == ("Mend the sink", 90)
    assert shown["items"][0]["checked"] is True
    assert shown["notes"][-1]["text"] == "It *drips*"
    assert shown["time"][0]["summary"] == "looked"
    assert "<em>drips</em>" in page
    assert "&lt;b&gt;Both" in page
    proved(home)


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


def test_an_agent_is_assigned_woken_asked_paused_and_resumed(tmp_path: Path) -> None:
    done(["task", "add", "Paint the door"], tmp_path)
    (task,) = told(["task", "list"], tmp_path)
    url = f"/tasks/{task['id']}"
    with visiting(tmp_path) as visitor:
        form = visitor.form(url, f"{url}/assign")
        visitor.send(form)
        visitor.send(form)
        (agent,) = told(["agent", "list"], tmp_path)
        life = f"/agents/{agent['id']}"
        visitor.send(visitor.form(life, f"{life}/wake"))
        visitor.send(visitor.form(life, f"{life}/ask"), words="What is left?")
        page = text_of(visitor.page(life))
        visitor.send(visitor.form(life, f"{life}/life", verb="pause"), verb="pause")
        assert "paused" in text_of(visitor.page(life))
        visitor.send(visitor.form(life, f"{life}/life", verb="resume"), verb="resume")
    assert "What is left?" in page
    assert {one["outcome"] for one in told(["wakes"], tmp_path)} >= {"completed"}
    proved(tmp_path)


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


def test_lists_are_pages_that_lead_to_each_other(tmp_path: Path) -> None:
    for nth in range(7):
        done(["task", "add", f"Task {nth}", "--priority", f"P{nth % 2}"], tmp_path)
    with visiting(tmp_path) as visitor:
        found, path = list[str](), "/tasks.json?limit=3"
        while path:
            page = visitor.get(path).json()
            found += [one["title"] for one in page["tasks"]]
            path = (page["next"] or "").replace("/tasks?", "/tasks.json?")
        words = visitor.get("/tasks.json?q=TASK%203").json()["tasks"]
        none = visitor.get("/tasks.json?agent=yes").json()["tasks"]
    assert found == [f"Task {nth}" for nth in reversed(range(7))]
    assert [one["title"] for one in words] == ["Task 3"]
    assert none == []


def test_filters_of_agents_and_wakes(home: Path) -> None:
    _, agent, _ = ids(home)
    with visiting(home) as visitor:
        assert len(visitor.get("/wakes.json?outcome=completed").json()["wakes"]) == 1
        assert visitor.get("/wakes.json?outcome=failed").json()["wakes"] == []
        assert visitor.get(f"/wakes.json?agent={agent}&reason=creation").json()["wakes"]
        assert visitor.get("/agents.json?lifecycle=dormant").json()["agents"] == []
        assert visitor.get("/agents.json?kind=task_agent").json()["agents"]


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
