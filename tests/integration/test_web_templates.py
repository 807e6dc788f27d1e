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
