"""Lists on terminals of 60, 80 and 120 columns, as text pictures, with long and wide titles."""

import re
import sys
from collections.abc import Sequence
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
EACH = """
import sys
from adapters.cli.main import main
for line in sys.argv[1:]:
    sys.argv = ["wakelog", *line.split()]
    try:
        main()
    except SystemExit as ended:
        sys.stderr.flush()
        print("", ended.code, "", sep="\\0", end="", flush=True)
"""
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
    pictures = {}
    for width in WIDTHS:
        for command, (status, seen) in _shown(home, COMMANDS, width).items():
            assert status == 0, seen
            assert max(map(cell_len, seen.splitlines())) <= width, (command, width)
            # the home's path is another one each time
            picture = re.sub(r"(?m)^home .*\n(?: .*\n)*", "", seen)
            pictures[f"{command}, {width} columns"] = picture
    assert pictures == snapshot


def test_a_pipe_is_given_all_however_narrow_the_terminal_is(home: Path) -> None:
    told = done(["task", "list"], home, env={"COLUMNS": "60"})
    assert all(f"\t{title}\t" in told for title in (LONG, WIDE, EMOJI))


# ---------------------------------------------------------------------------------- odd titles


ODD = (
    "Ring the landlord, الاتصال بالمالك بشأن إصلاح السقف قبل الشتاء",
    "Ring the choir 👨\u200d👩\u200d👧\u200d👦 and 🏳️\u200d🌈, for the café ☕️ with its menu",
    "Ring \x1b[31mred\x1b[0m\x1b]0;title\x07 bell",
    "Ring " + "on and on " * 19 + "here",
    "表" * 90,
)
READ = (
    "list", "list --all", "today", "search ring", "search 日本語", "show landlord", "show choir",
    "show bell", "show here", "show 表", "report landlord", "help tasks", "list --help",
    "import TODO.md --dry-run", "doctor", "show ring", "done nowhere-to-be-found",
)  # fmt: skip
REFUSED = READ[-2:]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Titles of every script, each with a long item and a note without blanks; two agents."""
    home = tmp_path_factory.mktemp("odd") / "home"
    item = "Compare the offers of the three firms, and say why the cheapest one is not the best"
    for nth, title in enumerate(ODD):
        due = ["--due", "2027-01-01" if nth % 2 else "2026-12-01"]
        done(["add", title, *due, "--item", item, "--description", "説明文です。" * 30], home)
    for title in ("landlord", "bell"):
        done(["note", title, "メモを書く" * 40 + "日本語" + "メモを書く" * 40 + " \x1b[2J"], home)
        done(["agent", "create", title], home)
    done(["wake"], home)
    (home.parent / "TODO.md").write_text(f"- [ ] {ODD[3]}\n- [ ] {ODD[4]} due:someday\n")
    return home


def test_odd_titles_fit_their_terminal_and_colours_move_nothing(odd: Path) -> None:
    plain = {width: _shown(odd, READ, width) for width in WIDTHS}
    for width, shown in plain.items():
        for command, (status, seen) in shown.items():
            assert status == (2 if command in REFUSED else command.startswith("import")), seen
            assert max(map(cell_len, seen.splitlines())) <= width, (command, width)
            assert not set("\x1b\x07") & set(seen), (command, width)
    coloured = _shown(odd, READ, WIDTHS[0], NO_COLOR="")
    for command, told in coloured.items():
        assert (told[0], re.sub(r"\x1b\[[0-9;]*m", "", told[1])) == plain[WIDTHS[0]][command]
    assert "\x1b" in "".join(told for _, told in coloured.values())  # as on a terminal
    assert "日本語" in plain[60]["search 日本語"][1]


def test_columns_stand_below_each_other_and_a_pipe_has_no_codes(odd: Path) -> None:
    for width in WIDTHS:
        seen = _shown(odd, ["list"], width)["list"][1]
        rows = [line for line in seen.splitlines() if "OPEN" in line]
        assert len(rows) == len(ODD)
        assert len({cell_len(row[: row.index("OPEN")]) for row in rows}) == 1
    for command in READ:
        piped = run(command.split(), odd)
        assert "\x1b" not in piped.output + piped.stderr, command


def _shown(
    home: Path, commands: Sequence[str], width: int, **env: str
) -> dict[str, tuple[int, str]]:
    """How each ended, and all that it wrote; one after another in one process."""
    given = {**FIXED, "COLUMNS": str(width), "NO_COLOR": "1", **env}
    program = sys.executable, "-c", EACH
    with on_terminal(home, *commands, env=given, program=program) as terminal:
        found = terminal.ended()[1].split("\0")
    ends = zip(found[::2], found[1::2], strict=False)
    return {name: (int(status), seen) for name, (seen, status) in zip(commands, ends, strict=True)}
