"""The card of a task on which two machines said different things: shown, settled, told as stale."""

import shutil
from pathlib import Path

import pytest

from adapters.web.site import CONFLICT_PAGES
from tests.support.cli import done, proved, told
from tests.support.forms import Form
from tests.support.gallery import differing_homes
from tests.support.machines import Machine
from tests.support.pages import Visitor, text_of, visiting

pytestmark = pytest.mark.slow
LAKE = "湖"
NAMES = "desk", "laptop"
HEADED = {
    "/catalog": "the category",
    "/policy": "the models for agents of all categories",
    "/templates": "the name of the template",
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A desk that said "Hills" of a title of which a laptop said something else."""
    folder, desk = tmp_path / "folder", tmp_path / "desk"
    folder.mkdir()
    homes: dict[Path, dict[str, str]] = {
        desk: {},
        tmp_path / "laptop": {"WAKELOG_REPLICA": "laptop"},
    }
    done(["task", "add", "Trip"], desk)
    for home, env in homes.items():
        done(["sync", str(folder)], home, env=env)
        done(["replicas", "name", home.name], home, env=env)
    for title, (home, env) in zip(("Hills", LAKE), homes.items(), strict=True):
        done(["task", "set", "Trip", "--title", title], home, env=env)
    for home in (*homes, desk):
        done(["sync"], home, env=homes[home])
    return desk


def url_of(home: Path) -> str:
    (task,) = told(["task", "list"], home)
    return f"/tasks/{task['id']}"


def form_of(visitor: Visitor, url: str) -> Form:
    return visitor.form(url, f"{url}/settle", field="title")


def test_both_texts_stand_on_the_card_and_one_press_keeps_one_or_both(
    desk: Path, tmp_path: Path
) -> None:
    url, there = url_of(desk), shutil.copytree(desk, tmp_path / "there")
    with visiting(desk) as visitor:
        page = visitor.page(url)
        assert "Two machines differ on the title" in page
        for said in "Hills", LAKE, "Keep what desk says", "Keep what laptop says", "Keep both":
            assert said in page
        stands = visitor.json(url)["title"]
        form = form_of(visitor, url)
        (conflict,) = told(["conflicts"], desk)
        assert visitor.send(form, keep=f"both:{conflict['stands']}").status_code == 200
        assert f"{url}/settle" not in visitor.page(url)
        again = visitor.send(form, keep=f"both:{conflict['stands']}")
        assert again.status_code == 200  # the same press once more
    (task,) = told(["task", "list"], desk)
    (note,) = told(["task", "show", task["id"]], desk)["notes"]
    assert {task["title"], note["text"].rpartition(": ")[2]} == {"Hills", LAKE}
    assert task["title"] == stands
    proved(desk)
    with visiting(there) as visitor:
        form = form_of(visitor, url)
        done(["settle", url.rpartition("/")[2], "title", "--keep", "laptop"], there)
        late = visitor.send(form, keep=conflict["values"][0]["replica"])
        assert late.status_code in (409, 422)
        assert "changed or settled since" in late.text
    assert told(["task", "list"], there)[0]["title"] == LAKE


def test_the_card_of_timers_and_of_a_circle_says_what_its_buttons_do(tmp_path: Path) -> None:
    home, task = differing_homes(tmp_path, "2027-01-01T09:00:00.000000Z")
    url = f"/tasks/{task}"
    done(["task", "note", task, "x" * 10_000], home)
    assert told(["status"], home)["conflicts"] == len(told(["conflicts"], home)) == 4
    assert "4 between machines" in done(["status"], home)
    kinds = ["values", "values", "timers", "cycle"]
    assert [one["kind"] for one in told(["conflicts", task], home)] == kinds
    with visiting(home) as visitor:
        for page in "/tasks", "/inbox":
            assert "Your machines differ on" in visitor.page(page)
        for said in (
            "Two machines differ on the due date",
            "Keep the timer of laptop",
            "Take the link of laptop away",
        ):
            assert said in visitor.page(url)
        for field in "timer", "blocks":
            form = visitor.form(url, f"{url}/settle", field=field)
            for _ in range(2):  # a slow double click
                assert visitor.send(form, keep="laptop").status_code == 200
    assert [one["kind"] for one in told(["conflicts"], home)] == ["values", "values"]


@pytest.fixture
def both(tmp_path: Path) -> list[Machine]:
    """Two machines that named and ruled the same things apart from each other."""
    (tmp_path / "folder").mkdir()
    desk, laptop = both = [Machine(tmp_path / one, tmp_path / "folder") for one in NAMES]
    for name in "Work", "Leaves":
        desk.said("category", "add", name)
    desk.said("template", "create", "Calm", "--general", "Be short.")
    for one in both:
        one.sync()
    for one in both:
        one.said("replicas", "name", one.home.name)
        one.said("category", "rename", "Work", f"{LAKE} {one.home.name}")
        one.said("template", "set", "Calm", "--name", f"Calm {one.home.name}")
    desk.said("policy", "models", "--every", "rules")
    laptop.said("policy", "models", "--every", "rules", "tape")
    desk.said("category", "add", "Plants")
    laptop.said("category", "rename", "Leaves", "plants")
    for one in (*both, desk):
        one.sync()
    return both


def test_what_belongs_to_no_task_is_settled_on_the_page_that_shows_it(both: list[Machine]) -> None:
    desk = both[0]
    with visiting(desk.home, env=desk.more) as visitor:
        for place, about in HEADED.items():
            assert f'<a href="{place}">{CONFLICT_PAGES[place]}</a>' in visitor.page("/tasks")
            assert f"Two machines differ on {about}" in text_of(visitor.page(place))
            form = visitor.form(place, "/settle")
            for _ in range(2):  # a slow double click
                assert visitor.send(form, keep="laptop").status_code == 200
            assert "/settle" not in visitor.page(place)
        assert "2 categories are called" in visitor.page("/catalog")
    desk.said("category", "rename", "Plants", "Garden")
    for one in (*both, desk):
        one.sync()
    for one in both:
        assert one.told("conflicts") == []
        assert f"{LAKE} laptop" in one.said("category", "list")
        assert "Calm laptop" in one.said("template", "list")
        assert "tape" in one.said("policy", "models", "--every")
