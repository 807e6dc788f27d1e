"""A version of one number that two machines made apart from each other, named on both (ADR 73)."""

from pathlib import Path

import pytest

from tests.support import cli
from tests.support.machines import NAMES, Machine
from tests.support.pages import text_of, visiting

pytestmark = pytest.mark.slow


def machines(tmp_path: Path) -> list[Machine]:
    """Each has made a second version of one template, and knows that of the other."""
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("template", "create", "Calm", "--general", "as it was")
    desk.said("task", "add", "Fix the tap")
    desk.said("agent", "create", "--task", "Fix the tap")
    for one in desk, laptop:
        one.sync()
    for one in desk, laptop:
        one.said("template", "version", "Calm", "--general", f"of {one.home.name}")
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def versions(machine: Machine) -> list[tuple[int, str | None, bool, str]]:
    found = machine.told("template", "show", "Calm")["versions"]
    return [(one["version"], one["of"], one["active"], one["general"]) for one in found]


def test_both_versions_are_kept_and_each_is_named_with_its_machine(tmp_path: Path) -> None:
    both = machines(tmp_path)
    for one in both:
        assert versions(one) == [
            (1, None, False, "as it was"),
            (2, "desk", False, "of desk"),
            (2, "laptop", True, "of laptop"),
        ]
    desk = both[0]
    line = desk.refused("template", "rollback", "Calm", "2")
    assert "2@desk, 2@laptop" in line
    assert "no version" in desk.refused("template", "rollback", "Calm", "two")
    desk.said("template", "rollback", "Calm", "2@here")
    assert "* version 2@here" in desk.said("template", "show", "Calm")
    desk.said("template", "assign", "Fix the tap", "Calm")
    for one in desk, both[1]:
        one.sync()
    assert [one[2] for one in versions(both[1])] == [False, True, False]
    assert all(one.told("prove")["ok"] for one in both)


def test_the_page_and_a_fork_name_versions_so_too(tmp_path: Path) -> None:
    desk, _ = machines(tmp_path)
    url = f"/templates/{desk.told('template', 'show', 'Calm')['id']}"
    with visiting(desk.home, env={"WAKELOG_REPLICA": "desk"}) as visitor:
        page = text_of(visitor.page(url))
        assert "Version 2@laptop" in page
        assert "Go back to version 2@desk" in page
        back = visitor.form(url, f"{url}/rollback", version="2@desk")
        assert visitor.send(back, version="2@desk", sure="yes").status_code == 200
        late = visitor.send(back, nonce="another-one", version="1", sure="yes")
        assert "version 2@desk was made active meanwhile" in text_of(late.text)
        compared = text_of(visitor.page(f"{url}/diff?of=2@desk&with=2@laptop"))
        assert "Version 2@laptop and version 2@desk" in compared
    assert [one[2] for one in versions(desk)] == [False, True, False]
    run = desk.told("wake", "Fix the tap")["run_key"]
    for name, version in ("Calm.2@laptop", 2), ("Calm.2", 2), ("Calm.1", 1):
        given = ("--template", name, "--model", "rules")
        forked = desk.told("fork", run, *given)
        assert (forked["template"]["name"], forked["template"]["version"]) == ("Calm", version)
        (made,) = cli.told(["template", "list"], Path(forked["home"]))
        active = next(one for one in made["versions"] if one["active"])
        wanted = {"Calm.2@laptop": "of laptop", "Calm.2": "of desk", "Calm.1": "as it was"}
        assert active["general"] == wanted[name]
    assert "no version 2" in desk.refused("fork", run, "--template", "Calm.2@phone")
