"""What nobody meant to type: bytes that are no text, endless titles, control characters, and a
`--json` that stands somewhere else."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from adapters.cli.main import COMMANDS, TOP, TOPICS, cli
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


# --------------------------------------------------------------------------------- errors as JSON


@pytest.mark.parametrize(
    ("args", "code", "because"),
    [
        (["task", "show", "nothing"], "unknown_task", "there is no task 'nothing'"),
        (["tasks"], "invalid_input", "No such command 'tasks'. Did you mean `task` or"),
        (
            ["tick", "x"],
            "invalid_input",
            "No such command 'tick'. Did you mean `wakelog task check`?",
        ),
        (["conflicts", "x", "y"], "invalid_input", "Got unexpected extra argument (y)."),
        (["task", "show"], "invalid_input", "Missing argument 'TASK'."),
        (["wakes", "--nope"], "invalid_input", "No such option '--nope'."),
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


# --------------------------------------------------------------------------------- help in groups


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
