"""A life as a line, from the page: every moment is as `at` tells it, any two as `diff` does."""

import json
from pathlib import Path

import pytest

from tests.support.cli import run, told
from tests.support.pages import text_of, visiting
from tests.support.pasts import FIRST


def test_each_moment_is_as_at_tells_it_and_two_differ_as_diff_does(past: Path) -> None:
    agent = next(one for one in told(["agent", "list"], past) if one["name"] == FIRST)
    url = f"/agents/{agent['id']}/life"
    with visiting(past) as visitor:
        last = visitor.json(url)
        assert last["nth"] == last["moments"] > 10
        seen = {}
        for nth in (1, last["moments"] // 2, last["moments"]):
            moment = visitor.get(f"{url}.json?nth={nth}").json()["moment"]
            shown = told(["at", moment["agent"]], past)
            scope = {one["id"] for one in moment["tasks"]}
            for name in ("tasks", "agents"):
                wanted = [one for one in shown[name] if {one["id"], one.get("task_id")} & scope]
                assert moment[name] == wanted
            assert moment["journal"] == shown["journal"]
            seen[nth] = moment["agent"]
        first, middle = (seen[one].rpartition(":")[2] for one in sorted(seen)[:2])
        differs = visitor.get(f"{url}.json?from={middle}&to={first}").json()
        asked = ["--json", "diff", f"agent:{first}", f"agent:{middle}", "--task", FIRST]
        assert differs["changes"] == json.loads(run(asked, past).stdout)["changes"] != []
        page = visitor.page(f"{url}?at={middle}")
        assert "Each mark is one event." in page
        assert 'rel="prev"' in page
        assert 'rel="next"' in page
        day = visitor.get(f"{url}.json?on=2027-01-02").json()
        assert day["moment"]["at"].startswith("2027-01-02")
        assert "What differs between" in text_of(visitor.page(f"{url}?at={middle}&from={first}"))


@pytest.mark.parametrize("asked", ["?nth=99999", "?at=x", "?on=2020-01-01"])
def test_a_moment_that_is_not_there_is_the_nearest_one(past: Path, asked: str) -> None:
    agent = told(["agent", "list"], past)[0]["id"]
    with visiting(past) as visitor:
        assert visitor.get(f"/agents/{agent}/life{asked}").status_code == 200
        assert "has no append 999" in visitor.get(f"/agents/{agent}/life?at=999").text
        assert visitor.get(f"/agents/{agent}/life?to=5").status_code == 422
        assert visitor.get(f"/agents/{agent}/life?on=never").status_code == 422
        assert visitor.get("/agents/nobody/life").status_code == 404
