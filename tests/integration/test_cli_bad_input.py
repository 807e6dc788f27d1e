"""What nobody meant to type: bytes that are no text, endless titles, control characters, and a
`--json` that stands somewhere else."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from adapters.cli.main import COMMANDS, TOP, TOPICS, cli
from adapters.cli.shared import NO_HOME
from adapters.store.log import Log
from domain.errors import REPEATED_MAX
from tests.support.cli import done, proved, refused, run, told
from tests.support.homes import Homes

RAW = "A\udcffB"  # a byte that is no UTF-8, as Python reads a command line


CLEAN = "A\ufffdB"


ENDLESS = "x" * 10_000


ESCAPES = "a\x1b[2Jb\x07\nc"


def with_agent(home: Path) -> None:
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(with_agent, tmp_path / "home")


def every_command() -> Iterator[tuple[str, click.Command]]:
    """All commands and groups, by their names."""
    context = click.Context(cli)
    found = [(name, cli.get_command(context, name)) for name in COMMANDS]
    while found:  # bounded by the commands
        name, command = found.pop()
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            names = command.list_commands(context)
            found += [(f"{name} {one}", command.get_command(context, one)) for one in names]


# --------------------------------------------------------------------------- bytes that are no text


KEYED = [
    ["task", "add", "Oil the hinges"],
    ["task", "note", "Fix the sink", "It drips."],
    ["agent", "pause", "Fix the sink"],
    ["agent", "create", "--all"],
    ["template", "create", "mine", "--general", "a", "--report", "b"],
    ["wake", "Fix the sink"],
]


def test_a_key_that_is_no_text_is_refused(home: Path) -> None:
    before = told(["prove"], home)["digest"]
    for command in KEYED:
        line = refused([*command, "--key", RAW], home)
        assert "no UTF-8" in line, command
        assert line.endswith("[invalid_value]"), command
    assert told(["prove"], home)["digest"] == before


def test_texts_that_are_no_text_are_kept_with_a_mark_in_their_place(home: Path) -> None:
    done(["task", "add", RAW], home)
    done(["task", "note", RAW, RAW], home)
    (note,) = told(["task", "show", CLEAN], home)["notes"]
    assert note["text"] == CLEAN
    made = told(["template", "create", RAW, "--general", RAW, "--report", RAW], home)
    shown = told(["template", "show", RAW], home)
    assert (made["id"], shown["name"]) == (shown["id"], CLEAN)
    assert proved(home)


@pytest.mark.parametrize(
    "command",
    [
        ["task", "list", "--category", RAW],
        ["agent", "watch", "Fix the sink", "--key", RAW],
        ["agent", "watch", "Fix the sink", "--sub", RAW],
        ["agent", "unwatch", "Fix the sink", RAW],
        ["agent", "timer", "Fix the sink", "set", "every day 07:00", "--zone", RAW],
        ["template", "assign", "Fix the sink", RAW],
        ["template", "create", "a", "--general", "a", "--report", "a", "--model", RAW],
        ["template", "create", "a", "--general", "a", "--report", "a", "--category", RAW],
        ["simulate", "--wakes", "1", "--seed", RAW],
        ["serve", "--port", "0", "--host", RAW],
        ["serve", "--port", "0", "--host", ENDLESS],
        ["export-history", RAW],
        ["export", "--parquet", RAW],
        ["--json", "export", "--inspect", RAW],
        ["--json", "export-history", "--all", "--out", RAW],
        ["--json", "backup", RAW],
        ["--json", "prove", "--anchor", RAW, "--new-anchor"],
        ["import", RAW],
    ],
)
def test_no_argument_ends_in_a_traceback(
    home: Path, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(command, home)
    assert result.exit_code in (0, 2)
    assert len(result.stderr.splitlines()) <= 1


@pytest.mark.parametrize(
    "command", [["task", "list"], ["task", "add", "x"], ["sql", "SHOW TABLES"]]
)
def test_a_home_whose_name_is_no_text_is_refused(tmp_path: Path, command: list[str]) -> None:
    assert "no UTF-8" in refused(["--home", f"{tmp_path}/{RAW}", *command], tmp_path)


def test_every_text_that_can_be_typed_passes_the_boundary() -> None:
    bare = [
        f"{name} {parameter.name}"
        for name, command in every_command()
        for parameter in command.params
        if parameter.type is click.STRING and not getattr(parameter, "is_flag", False)
    ]
    assert bare == []


# --------------------------------------------------------------------------- what messages repeat


REPEATED = [
    ["task", "show", ENDLESS],
    ["task", "show", "x y " * 2_500],
    ["task", "show", "it's \"" * 2_500],
    ["task", "set", "Fix the sink", "--due", ENDLESS],
    ["import", ENDLESS],
    ["--home", f"/{ENDLESS}", "task", "add", "x"],
    ["--model", ENDLESS, "task", "list"],
    ["prove", "--since", ENDLESS],
    ["export-history", "--all", "--out", f"/nowhere/{ENDLESS}"],
    [ENDLESS],
    ["task", ENDLESS],
    ["wakes", "--limit", ENDLESS],
    ["task", "list", f"--{ENDLESS}"],
]


def test_what_a_refusal_repeats_is_cut(home: Path) -> None:
    for command in REPEATED:
        line = refused(command, home)
        assert len(line) < 1_500, command
        assert "x" * (REPEATED_MAX + 1) not in line, command
        assert "x" * 50 not in line or "…" in line, command


ESCAPED = [
    ["--home", f"/nowhere/{ESCAPES}/home", "task", "add", "x"],
    ["task", "note", "Fix the sink", "--file", f"/nowhere/{ESCAPES}"],
    ["prove", "--anchor", f"/nowhere/{ESCAPES}/anchors"],
    ["backup", f"/dev/null/{ESCAPES}"],
    ["export", "--parquet", f"/dev/null/{ESCAPES}"],
    ["import", f"/nowhere/{ESCAPES}"],
    ["task", "show", ESCAPES],
    ["wakes", "--limit", ESCAPES],
    [ESCAPES],
]


def test_no_control_character_of_a_message_reaches_a_terminal(home: Path) -> None:
    for command in ESCAPED:
        result = run(command, home, is_coloured=True)
        assert result.exit_code in (1, 2), command
        (line,) = result.stderr.splitlines()
        assert line.isprintable(), command


# ----------------------------------------------------------------------------------------- --json


PLACES = [
    ["--json", "task", "list"],
    ["task", "--json", "list"],
    ["task", "list", "--json"],
    ["agent", "--json", "list"],
    ["inbox", "--json", "--all"],
    ["task", "--json", "item", "add", "Fix the sink", "Buy a seal"],
    ["task", "item", "--json", "add", "Fix the sink", "Buy a seal"],
    ["task", "item", "add", "--json", "Fix the sink", "Buy a seal"],
]


def test_json_may_stand_at_any_place(home: Path) -> None:
    for command in PLACES:
        json.loads(done(command, home))


def test_every_command_and_every_group_takes_json_and_says_so(tmp_path: Path) -> None:
    for name, command in every_command():
        assert any("--json" in one.opts for one in command.params), name
    assert "--json" in done(["task", "--help"], tmp_path)
    assert "behind" in done(["--help"], tmp_path)


def test_a_text_that_looks_like_an_option_stays_a_text(home: Path) -> None:
    done(["task", "note", "Fix the sink", "--", "--json"], home)
    (note,) = told(["task", "show", "Fix the sink"], home)["notes"]
    assert note["text"] == "--json"


@pytest.mark.parametrize(
    ("args", "code", "because"),
    [
        (["task", "show", "nothing"], "unknown_task", "there is no task 'nothing'"),
        (["tasks"], "invalid_input", "No such command 'tasks'. Did you mean `task` or"),
        (["next"], "invalid_input", "No such command 'next'. Did you mean `wakelog list --ready`?"),
        (
            ["waiting"],
            "invalid_input",
            "No such command 'waiting'. Did you mean `wakelog list --waiting`?",
        ),
        (
            ["tick", "x"],
            "invalid_input",
            "No such command 'tick'. Did you mean `wakelog task check`?",
        ),
        (["conflicts", "x", "y"], "invalid_input", "Got unexpected extra argument (y)."),
        (["task", "show"], "invalid_input", "Missing argument 'TASK'."),
        (["wakes", "--nope"], "invalid_input", "No such option '--nope'."),
        (["wakes", "--home", "x"], "invalid_input", "--home stands before the command."),
        (["confirm"], "invalid_value", "it is not said what to confirm"),
    ],
)
def test_an_error_with_json_is_json_and_the_status_is_as_without(
    tmp_path: Path, args: list[str], code: str, because: str
) -> None:
    for with_json in (["--json", *args], [*args, "--json"]):
        result = run(with_json, tmp_path)
        error = json.loads(result.stderr)["error"]
        assert list(error) == ["code", "because", "instead"]
        assert (error["code"], result.exit_code, result.stdout) == (code, 2, "")
        assert error["because"].startswith(because)
        assert error["instead"].lower().startswith(("see", "name"))
    assert refused(args, tmp_path).startswith(f"Error: {because}")


def test_each_command_is_told_once_by_the_help_of_the_top_or_of_a_topic(tmp_path: Path) -> None:
    told = {"": done(["--help"], tmp_path / "home")}
    told |= {topic: done(["help", topic], tmp_path / "home") for topic in TOPICS}
    names = [(word, "") for words in TOP.values() for word in words.split()]
    names += [(word, topic) for topic, words in TOPICS.items() for word in words.split()]
    assert sorted(name for name, _ in names) == sorted(COMMANDS.keys() - {"help"})
    assert [told[where].count(f"\n  {name} ") for name, where in names] == [1] * len(names)
    assert all(f"|{topic}" in told[""].replace("help ", "|") for topic in TOPICS)
    assert len(told[""].splitlines()) <= 45


def test_an_option_without_its_value_names_the_help_of_its_command(tmp_path: Path) -> None:
    said = "Error: Option '--markdown' requires an argument. See `wakelog export --help`."
    assert refused(["export", "--markdown"], tmp_path) == said


# ------------------------------------- nothing to see: a lost log, no home, a wake that never began


@pytest.mark.parametrize("name", ["journal.db", "agent.db"])
@pytest.mark.parametrize("command", [["prove"], ["task", "list"], ["task", "add", "More"]])
def test_a_log_that_is_missing_is_told_and_not_made_anew(
    tmp_path: Path, name: str, command: list[str]
) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    (home / name).unlink()
    before = {one.name for one in home.iterdir()}
    line = refused(command, home)
    assert f"{name} is missing" in line
    assert "restore both from one backup" in line
    assert {one.name for one in home.iterdir()} == before
    assert "the file is missing" in run(["doctor"], home).stdout


def test_a_first_command_that_died_between_the_two_logs_is_no_trouble(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    Log.open("journal", home / "journal.db", "r1").close()
    done(["task", "add", "Fix the sink"], home)
    assert told(["prove"], home)["ok"]


@pytest.mark.parametrize("command", [["at", "2027-01-01"], ["diff", "2027-01-01", "2027-01-02"]])
def test_where_there_is_no_home_that_is_told(tmp_path: Path, command: list[str]) -> None:
    shown = done(command, tmp_path / "home")
    assert shown == f"{NO_HOME.format(tmp_path / 'home')}\n"
    assert json.loads(done(["--json", *command], tmp_path / "home"))


NEEDS_A_HOME = (
    """
task list|task show x|task set x --priority P1|agent list|agent create --all|wake|run|inbox
confirm 1.1|reject 1.1|report x|wakes|show x|why x|sql 'FROM wakes'|metrics|status|health|prove
replay x|at 2027-01-01|diff a b|recover|rebuild|doctor|home show|policy show|template list
export --parquet x|export-history --all|backup b
""".strip()
    .replace("\n", "|")
    .split("|")
)


@pytest.mark.parametrize("command", NEEDS_A_HOME)
def test_a_home_whose_name_is_mistyped_is_refused_and_not_made(
    tmp_path: Path, command: str
) -> None:
    home = tmp_path / "mistyped"
    line = refused(["--home", str(home), *shlex.split(command)], tmp_path / "other")
    assert f"there is no home at {home}" in line
    assert not home.exists()


@pytest.mark.parametrize("command", [["task", "add", "Begin"], ["category", "add", "Begin"]])
def test_a_home_that_is_named_may_begin_with_what_makes_one(
    tmp_path: Path, command: list[str]
) -> None:
    done(["--home", str(tmp_path / "home"), *command], tmp_path / "other")
    assert told(["--home", str(tmp_path / "home"), "prove"], tmp_path / "other")["ok"]


@pytest.mark.parametrize("folder", ["second", "the second"])
def test_what_is_to_be_typed_next_names_the_home_that_was_named(
    tmp_path: Path, folder: str
) -> None:
    """In the home that a variable names the same would be done to others' tasks."""
    named, other = ["--home", str(tmp_path / folder)], tmp_path / "other"
    typed = f"wakelog {shlex.join(named)}"
    hints = {
        "add Tap": "",
        "agent create tap": f"`{typed} wake`",
        "wake": "",
        "report nobody": f"`{typed} agent list`",
        "confirm 9.9": f"`{typed} inbox --all`",
        "inbox --colour": " inbox --help`.",
    }
    for line, hint in hints.items():
        said = run([*named, *shlex.split(line)], other).stderr
        assert hint in said, line
        assert hint or "`wakelog" not in said, line
    done(["add", "Roof"], tmp_path / folder)
    assert "`wakelog wake`" in run(["agent", "create", "--all"], tmp_path / folder).stderr


def test_an_empty_home_is_no_history(tmp_path: Path) -> None:
    assert "there is nothing in" in refused(["export-history", "--all"], tmp_path / "home")


@pytest.mark.parametrize("wanted", ["", "."])
def test_an_empty_word_names_no_wake(tmp_path: Path, wanted: str) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    assert "there is no wake ''" in refused(["at", wanted], home)


def test_a_wake_that_was_superseded_is_named_with_the_one_that_was_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    done(["wake", "Fix the sink"], home)
    ran, superseded = told(["wakes"], home)
    assert (ran["outcome"], superseded["outcome"]) == ("completed", "superseded")
    gone, key = superseded["run_key"][:8], ran["run_key"]
    for deed, command in (
        ("replay", ["replay", gone]),
        ("fork", ["fork", gone]),
        ("compare", ["diff", gone, key]),
    ):
        line = refused(command, home)
        assert f"the wake {gone} was superseded before it began: nothing to {deed}" in line
        assert f"name {key[:8]}, which took its triggers over" in line
    assert not (home / "forks").exists()


def test_a_folder_that_is_not_there_is_told_before_a_proof(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    line = refused(["prove", "--anchor", str(tmp_path / "no" / "anchors.jsonl")], home)
    assert "its folder is not there" in line


def test_a_position_may_leave_its_replica_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    short, whole = (told(["at", where], home) for where in ("journal:2", "journal:r1:2"))
    assert short["tasks"] == whole["tasks"] != []
    assert short["journal"] == whole["journal"] == "journal:r1:2"
    assert "the agent log has no append 9; its last is 0" in refused(["at", "agent:9"], home)
    line = refused(["at", "journal:r2:2"], home)
    assert "append 2 of the journal is not r2's; write journal:r1:2" in line
