"""Templates on the page: figures, versions, rollback, who lives on them; without JavaScript."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, told
from tests.support.homes import Homes
from tests.support.pages import Visitor, refs, text_of, visiting
from tests.support.waking import proposing

pytestmark = pytest.mark.slow


def templated(home: Path) -> None:
    done(["task", "add", "Paint the door"], home)
    done(["template", "create", "Brief", "--general", "Be **brief**", "--report", "One"], home)
    (agent,) = proposing(home)
    done(["template", "assign", agent, "Brief"], home)
    done(["task", "note", "Fix the sink", "Need to buy a seal."], home)
    done(["wake", agent], home)
    done(["confirm", refs(home)["update_task_estimate"]], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """An agent on a template of one version; its wake proposed, and one item was confirmed."""
    return homes.copy(templated, tmp_path)


def template(home: Path) -> Any:
    (one,) = told(["template", "list"], home)
    return one


def counted(visitor: Visitor, url: str) -> Any:
    """The document of a page once its figures are those of now."""
    for _ in range(100):
        found = visitor.json(url)
        if found["figures"]["is_current"]:
            return found
        time.sleep(0.1)
    raise AssertionError("the figures were not counted")


def test_the_figures_are_those_of_the_metrics_command(home: Path) -> None:
    url = f"/templates/{template(home)['id']}"
    with visiting(home) as visitor:
        found = counted(visitor, url)
        listed = counted(visitor, "/templates")
        page = text_of(visitor.page(url))
    known = {one["template_id"]: one for one in told(["metrics"], home)}
    mine, none = known[found["id"]], known[None]
    assert mine["total_wakes"] == 1
    assert {name: found["metrics"][name] for name in mine} == mine
    built_in = listed["built_in"]["metrics"]
    assert {name: built_in[name] for name in none} == none
    assert found["versions"][0]["metrics"]["success_rate"] == 1
    assert "Success 100 %" in page
    assert "1 wake , 100 % success" in page or "1 wake, 100 % success" in page
    assert [one["name"] for one in found["instances"]] == ["Fix the sink"]


def test_figures_that_cannot_be_counted_are_told(home: Path) -> None:
    (home / "analytics.duckdb").mkdir()
    with visiting(home) as visitor:
        assert counted(visitor, "/templates")["figures"]["error"] is None  # answered from memory


def test_a_version_is_added_and_rolled_back(home: Path) -> None:
    url = f"/templates/{template(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/version")
        for _ in range(2):  # sent twice, it adds one
            answer = visitor.send(form, general="Be long", report="Two <b>lines</b>")
            assert answer.status_code == 200
        assert "&lt;b&gt;lines" in visitor.page(url)
        assert [one["active"] for one in template(home)["versions"]] == [False, True]
        late = visitor.send(form, nonce="another-one", general="Be", report="One")
        assert late.status_code == 409
        assert "was made active meanwhile" in text_of(late.text)
        back = visitor.form(url, f"{url}/rollback", version="1")
        assert visitor.send(back, version="1").status_code == 422  # it asks first
        assert template(home)["active_version"] == 2
        assert visitor.send(back, version="1", sure="yes").status_code == 200
        assert template(home)["active_version"] == 1
        again = visitor.form(url, f"{url}/rollback", version="2")
        assert visitor.send(again, version="9", sure="yes").status_code in (404, 422)
        assert visitor.send(again, version="²").status_code == 422
    assert len(template(home)["versions"]) == 2
    proved(home)


def test_a_template_is_made_assigned_taken_off_and_deleted(home: Path) -> None:
    with visiting(home) as visitor:
        form = visitor.form("/templates", "/templates")
        visitor.send(form, name="Calm", general="Be calm", report="Slowly")
        calm = next(one for one in told(["template", "list"], home) if one["name"] == "Calm")
        url = f"/templates/{calm['id']}"
        answer = visitor.send(visitor.form(url, f"{url}/assign"), agent="Fix the sink")
        assert "lives on “Calm” now" in text_of(answer.text)
        assert "/delete" not in visitor.page(url)
        off = visitor.form(url, f"{url}/assign", verb="remove")
        assert "come with wakelog now" in text_of(visitor.send(off, verb="remove").text)
        assert (
            visitor.send(visitor.form(url, f"{url}/assign"), agent="No such task").status_code
            == 404
        )
        gone = visitor.form(url, f"{url}/delete")
        assert visitor.send(gone, verb="delete").status_code == 422
        assert visitor.send(gone, verb="delete", sure="yes").status_code == 200
    assert [one["name"] for one in told(["template", "list"], home)] == ["Brief"]
    assert told(["agent", "list"], home)[0]["template_id"] is None


def test_one_that_comes_with_wakelog_is_put_in_use_and_set_on_the_agents_page(home: Path) -> None:
    (agent,) = told(["agent", "list"], home)
    url = f"/agents/{agent['id']}"
    with visiting(home) as visitor:
        visitor.send(visitor.form("/templates", "/templates/use", seed="laura"), seed="laura")
        assert ("seed", "laura") not in visitor.form("/templates", "/templates/use").buttons
        visitor.send(visitor.form(url, f"{url}/template"), template="tom")
        names = {one["id"]: one["name"] for one in told(["template", "list"], home)}
        assert len(names) == 3
        assert "Tom" in names[visitor.json(url)["template_id"]]
        visitor.send(visitor.form(url, f"{url}/template"), template="built-in")
        assert visitor.json(url)["template_id"] is None
        bad = visitor.send(visitor.form(url, f"{url}/template"), template="nobody")
    assert bad.status_code == 404
    proved(home)
