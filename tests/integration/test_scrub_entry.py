"""`policy.scrub_entry`: where it is on, no secret of a known kind comes in by any door; where it is
off, the journal keeps what a person wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

import wakelog
from tests.support.cli import FIXED, done, proved, run, told
from tests.support.homes import Homes
from tests.support.pages import text_of, visiting
from tests.support.waking import proposing

AWS = "AKIAABCDEFGHIJKLMNOP"
PASSWORD = "lovelace"
GITHUB = f"ghp_{'a1B2' * 9}"
SECRETS = (AWS, PASSWORD, GITHUB)
SAID = f"Use {AWS} with postgres://ada:{PASSWORD}@db/x"
KEPT = "Use [secret: AWS access key] with postgres://ada:[secret: password in a URL]@db/x"
TOLD = "a secret was replaced by its kind: policy.scrub_entry is on"
BOTH = pytest.mark.parametrize("is_on", [False, True])


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    (tmp_path / "home").mkdir()
    return homes.copy(proposing, tmp_path / "home")


def is_set(home: Path, *, is_on: bool) -> None:
    if is_on:
        (home / "settings.toml").write_text("[policy]\nscrub_entry = true\n")


def holds(home: Path) -> bool:
    """Whether a file of the home holds a secret; what is in it is proved, either way."""
    proved(home)
    files = [file.read_bytes() for file in home.rglob("*") if file.is_file()]
    return any(one.encode() in data for one in SECRETS for data in files)


def notes(home: Path) -> list[Any]:
    task = told(["task", "list"], home)[0]["id"]
    return [note["text"] for note in told(["task", "show", task], home)["notes"]]


@BOTH
def test_the_command_line_scrubs_where_it_is_set(home: Path, tmp_path: Path, is_on: bool) -> None:
    is_set(home, is_on=is_on)
    (file := tmp_path / "note.txt").write_text(SAID)
    task = told(["task", "list"], home)[0]["title"]
    for args in (["task", "note", task, SAID], ["task", "note", task, "--file", str(file)]):
        result = run(args, home)
        assert result.exit_code == 0, result.output
        assert (f"Note: {TOLD}" in result.stderr) == is_on
    run(["agent", "chat", task], home, input=f"{SAID}\n")
    assert notes(home).count(KEPT if is_on else SAID) == 2
    assert holds(home) != is_on


@BOTH
def test_the_page_scrubs_where_it_is_set(home: Path, is_on: bool) -> None:
    is_set(home, is_on=is_on)
    url = f"/tasks/{told(['task', 'list'], home)[0]['id']}"
    with visiting(home) as visitor:
        answer = visitor.send(visitor.form(url, f"{url}/note"), text=SAID)
        assert (TOLD in text_of(answer.text)) == is_on
    assert notes(home)[-1] == (KEPT if is_on else SAID)
    assert holds(home) != is_on


@BOTH
def test_a_program_scrubs_where_it_is_set(home: Path, is_on: bool) -> None:
    is_set(home, is_on=is_on)
    with wakelog.open_home(home, environ=FIXED) as opened:
        if is_on:
            with pytest.warns(UserWarning, match="a secret was replaced"):
                item = opened.reject("1.1", SAID)
        else:
            item = opened.reject("1.1", SAID)
    assert item.reason == (KEPT if is_on else SAID)
    assert holds(home) != is_on


FILES = {
    "TODO.md": f"- [ ] Rotate {AWS}\n\n  {SAID}\n  - [ ] {SAID}\n",
    "long.md": f"- [ ] {'x' * 190} {AWS}\n",
    "escaped.md": f"- [ ] Rotate {GITHUB.replace('_', chr(92) + '_')}\n",
    "todo.txt": f"(A) Rotate {AWS} postgres://ada:{PASSWORD}@db/x\n",
    "issues.json": json.dumps(
        [{"url": "https://db", "at": "ada@db", "number": 1, "title": f"x\n{AWS}", "body": SAID}],
        separators=(",", ":"),
    ),
    "tasks.json": json.dumps([{"uuid": "1", "description": SAID}]).replace("/", "\\/"),
}


@pytest.mark.parametrize(("name", "is_on"), [("TODO.md", False), *((one, True) for one in FILES)])
def test_importers_scrub_where_it_is_set(
    home: Path, tmp_path: Path, name: str, is_on: bool
) -> None:
    is_set(home, is_on=is_on)
    (file := tmp_path / name).write_text(FILES[name])
    (report,) = told(["import", str(file)], home)["files"]
    assert (report["created"], report["unreadable"]) == (1, [])
    assert (report["keys_replaced"].get("secret", 0) > 0) == is_on
    (report,) = told(["import", str(file)], home)["files"]
    assert (report["unchanged"], report["changed"]) == (1, 0)
    assert not is_on or not holds(home)


def test_a_file_that_changed_nothing_is_read_anew_once_it_is_set(
    home: Path, tmp_path: Path
) -> None:
    (file := tmp_path / "TODO.md").write_text(f"- [ ] Rotate\n\n  {SAID}\n")
    for unchanged in (0, 1, 1):
        (report,) = told(["import", str(file)], home)["files"]
        assert report["unchanged"] == unchanged
    is_set(home, is_on=True)
    (report,) = told(["import", str(file)], home)["files"]
    assert (report["changed"], report["keys_replaced"]) == (1, {"secret": 2})


def test_who_types_no_secret_needs_no_settings_that_can_be_read(home: Path) -> None:
    (home / "settings.toml").write_text("[policy]\nscrub_entries = true\n")
    assert "Usage" in done(["task", "note", "--help"], home)
    result = run(["task", "note", "Fix the sink", SAID], home)
    assert "did you mean policy.scrub_entry?" in result.stderr
    assert result.exit_code == 2
