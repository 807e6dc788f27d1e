"""Lists on terminals of 60, 80 and 120 columns, as text pictures, with long and wide titles."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from tests.support.cli import FIXED, done, run
from tests.support.terminal import on_terminal
from tests.support.waking import fault, tape

pytestmark = pytest.mark.e2e

COMMANDS = (
    "task list", "inbox", "wakes", "agent list", "status", "lessons", "memory Ask", "undo --list",
    "conflicts",
)  # fmt: skip
WIDTHS = (60, 80, 120)
LONG = "Ask Ms Nakamura which of the three offers for the boiler includes taking out the old one"
WIDE = "東京への出張のために航空券とホテルを予約して経費の承認をもらう"
EMOJI = "Plan the birthday 🎂🎉 with Anna and everybody from the choir 🎶 before Christmas"
NOTE = (
    "The deadline is 2027-02-15, as Ms Nakamura of the housing association said on the phone. "
    "It will take about 2 hours, with the way there and back. Urgent!"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tasks of long names, their proposals, a failing agent, and a receiver nobody allowed."""
    home = tmp_path_factory.mktemp("narrow") / "home"
    for name in ("House renovation 2027", "出張と経費"):
        done(["category", "add", name], home)
    for name in ("plumbing", "offers", "旅行"):
        done(["label", "add", name], home)
    labels = ["--label", "plumbing", "--label", "offers"]
    house = ["--category", "House renovation 2027", "--due", "2027-03-01", "--estimate", "45"]
    done(["task", "add", LONG, *house, *labels, "--status", "in-progress"], home)
    done(["task", "add", WIDE, "--category", "出張と経費", "--label", "旅行"], home)
    done(["task", "add", EMOJI, "--priority", "P0", "--item", "Cake", "--item", "Songs"], home)
    for title in (LONG, WIDE):
        done(["task", "note", title, NOTE], home)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    done(["confirm", "1.1"], home)
    done(["reject", "1.2", "--reason", f"{WIDE}, and that is why it is not wanted now"], home)
    file = home.parent / "TODO.md"
    for due in ("2027-02-01", "2027-02-03"):
        file.write_text(f"- [ ] {LONG}, by the neighbour due:{due}\n- [ ] {WIDE}。 due:{due}\n")
        done(["import", str(file)], home)
        for title in ("neighbour", f"{WIDE}。"):
            done(["task", "set", title, "--due", "2027-02-02"], home)
    model = tape(home.parent / "down.jsonl", fault("model_unavailable"))
    run(["--model", model, "wake", EMOJI], home)
    webhook = f"https://example.org/{'notices/' * 8}of-wakelog"
    (home / "settings.toml").write_text(f'[notify]\nwebhook = "{webhook}"\n', encoding="utf-8")
    return home


def test_each_list_fits_its_terminal(home: Path, snapshot: SnapshotAssertion) -> None:
    asked = [(command, width) for command in COMMANDS for width in WIDTHS]
    with ThreadPoolExecutor(2) as pool:
        pictures = list(pool.map(lambda one: _picture(home, *one), asked))
    for (command, width), picture in zip(asked, pictures, strict=True):
        assert max(map(cell_len, picture.splitlines())) <= width, (command, width)
    titles = (f"{command}, {width} columns" for command, width in asked)
    assert dict(zip(titles, pictures, strict=True)) == snapshot


def test_a_pipe_is_given_all_however_narrow_the_terminal_is(home: Path) -> None:
    told = done(["task", "list"], home, env={"COLUMNS": "60"})
    assert all(f"\t{title}\t" in told for title in (LONG, WIDE, EMOJI))


def _picture(home: Path, command: str, width: int) -> str:
    """What the command shows, without its colours."""
    env = {**FIXED, "COLUMNS": str(width), "NO_COLOR": "1"}
    with on_terminal(home, *command.split(), env=env) as terminal:
        status, seen = terminal.ended()
    assert status == 0, seen
    return re.sub(r"(?m)^home .*\n(?: .*\n)*", "", seen)  # its path is another one each time
