"""The value of a key that a person pastes by accident is nowhere in the home, and it is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.types import StringParamType

from adapters.cli.main import COMMANDS, cli
from adapters.home.api_keys import SECRET_VARIABLES
from domain.log.canonical import encode
from tests.support.cli import done, proved, run, told
from tests.support.homes import Homes
from tests.support.pages import text_of, visiting
from tests.support.waking import proposing

KEY = "AIza_Sy-0123456789/abc+def="
TOKEN = "correct-horse-battery"
ENV = {"GEMINI_API_KEY": KEY, "WAKELOG_SERVE_TOKEN": TOKEN}
SAID = f"Use {KEY}, or ?key={KEY}&t={TOKEN}."
KEPT = "Use [GEMINI_API_KEY], or ?key=[GEMINI_API_KEY]&t=[WAKELOG_SERVE_TOKEN]."
NOTE = "Note: the value of GEMINI_API_KEY was replaced by [GEMINI_API_KEY]: keys are not kept"


def assert_nowhere(home: Path) -> None:
    """No file of the home holds a key."""
    for file in home.rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        for value in ENV.values():
            assert value.encode() not in data, file
            assert encode(value)[1:-1] not in data, file
    proved(home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    (tmp_path / "home").mkdir()
    return homes.copy(proposing, tmp_path / "home")


def title_of(home: Path) -> str:
    return str(told(["task", "list"], home)[0]["title"])


def test_no_command_keeps_a_key(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text(f"{SAID}\n{'long ' * 400}")
    task = title_of(home)
    commands: list[list[str]] = [
        ["task", "note", task, SAID],
        ["task", "note", task, "--file", str(file)],
        ["task", "set", task, "--description", SAID],
        ["task", "add", f"Rotate {KEY}", "--item", SAID, "--description", SAID],
        ["task", "set", task, "--status", "blocked", "--reason", SAID],
        ["category", "add", f"c {KEY}"],
        ["label", "add", KEY],
        ["agent", "set", task, "--goal", SAID, "--loop", SAID, "--prefer", f"key={KEY}"],
        ["agent", "ask", task, SAID],
        ["reject", "1.1", "--reason", SAID],
        ["defer", "1.2", "--reason", SAID],
        ["template", "create", f"t {KEY}", "--general", SAID, "--report-file", str(file)],
    ]
    for args in commands:
        result = run(args, home, env=ENV)
        assert result.exit_code in (0, 1), (args, result.output)
        assert NOTE in result.stderr, args
        assert KEY not in result.output
    run(["agent", "chat", task], home, env=ENV, input=f"{SAID}\n")
    run(["task", "note", task, "-"], home, env=ENV, input=SAID)
    notes = [note["text"] for note in told(["task", "show", task], home)["notes"]]
    assert notes.count(KEPT) == 2
    assert_nowhere(home)


def test_the_same_words_under_the_same_key_are_the_same_command(home: Path) -> None:
    note = ["task", "note", title_of(home), SAID, "--key", "k"]
    done(note, home, env=ENV)
    assert "Done before" in done(note, home, env=ENV)
    ask = ["agent", "ask", title_of(home), SAID, "--key", "q"]
    assert done(ask, home, env=ENV) == done(ask, home, env=ENV)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TODO.md", f"# {KEY}\n- [ ] Rotate {KEY} #k\n  - [ ] {TOKEN}\n  {SAID}\n"),
        ("long.md", f"- [ ] {'x' * 180}?key={KEY}\n"),
        ("escaped.md", f"- [ ] {KEY.replace('_', chr(92) + '_')}\n"),
        ("todo.txt", f"(A) Rotate {KEY} +p @{TOKEN}\n"),
        ("issues.json", '[{"number": 1, "title": "%s", "body": "%s\\n- [ ] x"}]'),
        ("tasks.json", '[{"uuid": "1", "description": "%s", "project": "%s"}]'),
    ],
)
def test_no_file_brings_a_key_in(home: Path, tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    escaped = KEY.replace("/", "\\/").replace("_", "\\u005f")
    file.write_text(text % (escaped, KEY) if "%s" in text else text)
    result = run(["--json", "import", str(file)], home, env=ENV)
    assert result.exit_code == 0, result.output
    (found,) = told(["import", str(file)], home, env=ENV)["files"]
    assert found["keys_replaced"]["GEMINI_API_KEY"] >= 1
    assert (found["unchanged"], found["changed"]) == (1, 0)
    assert NOTE.removeprefix("Note: ") in result.stderr
    assert_nowhere(home)


def test_the_page_keeps_no_key_and_says_so(home: Path) -> None:
    (task, *_) = told(["task", "list"], home)
    (agent, *_) = told(["agent", "list"], home)
    url, agent_url = f"/tasks/{task['id']}", f"/agents/{agent['id']}"
    sent: list[tuple[str, str, dict[str, Any]]] = [
        (url, f"{url}/note", {"text": SAID}),
        (url, f"{url}/describe", {"text": SAID}),
        (url, f"{url}/edit", {"title": f"Rotate {KEY}"}),
        ("/tasks", "/tasks", {"title": SAID}),
        (agent_url, f"{agent_url}/ask", {"words": SAID}),
        (agent_url, f"{agent_url}/set", {"goal": SAID}),
    ]
    with visiting(home, env=ENV) as visitor:
        for page, action, fields in sent:
            answer = visitor.send(visitor.form(page, action), **fields)
            assert answer.status_code == 200, (action, text_of(answer.text))
            assert "the value of GEMINI_API_KEY was replaced" in text_of(answer.text), action
            assert KEY not in answer.text
    assert_nowhere(home)


def test_a_title_that_held_a_key_before_can_be_edited_on_the_page(home: Path) -> None:
    done(["task", "add", f"Rotate {KEY}"], home)  # without the variable nobody knows it
    task = next(one for one in told(["task", "list"], home) if KEY in one["title"])
    url = f"/tasks/{task['id']}"
    with visiting(home, env=ENV) as visitor:
        answer = visitor.send(visitor.form(url, f"{url}/edit"), priority="P0")
        assert answer.status_code == 200, text_of(answer.text)
    assert told(["task", "show", task["id"]], home)["title"] == "Rotate [GEMINI_API_KEY]"


def test_short_values_and_parts_of_words_stay(home: Path) -> None:
    task = title_of(home)
    done(["task", "note", task, "fifteen letters"], home, env={"GEMINI_API_KEY": "fifteen letters"})
    done(["task", "note", task, f"{TOKEN}-staple x{KEY}"], home, env=ENV)
    texts = [note["text"] for note in told(["task", "show", task], home)["notes"]]
    assert {"fifteen letters", f"{TOKEN}-staple x{KEY}"} <= set(texts)


def test_a_key_that_the_settings_name_is_kept_by_no_command_page_or_import(
    home: Path, tmp_path: Path
) -> None:
    named = 'base_url = "https://h/v1"\nmodel = "m"\nkey = "env:FAST_KEY"\n'
    with (home / "settings.toml").open("a", encoding="utf-8") as file:
        file.write(f"[models.fast]\n{named}")
    env = {"FAST_KEY": KEY, "OTHER_KEY": TOKEN}
    task = title_of(home)
    result = run(["task", "note", task, f"Use {KEY} or {TOKEN}."], home, env=env)
    assert "the value of FAST_KEY was replaced by [FAST_KEY]" in result.stderr
    (tmp_path / "todo.md").write_text(f"- [ ] Rotate {KEY}\n")
    done(["import", str(tmp_path / "todo.md")], home, env=env)
    url = f"/tasks/{told(['task', 'list'], home)[0]['id']}"
    with visiting(home, env=env) as visitor:
        visitor.send(visitor.form(url, f"{url}/note"), text=f"Not {KEY}.")
    assert "Rotate [FAST_KEY]" in [one["title"] for one in told(["task", "list"], home)]
    files = [one.read_bytes() for one in home.rglob("*") if one.is_file()]
    assert not any(KEY.encode() in data for data in files)
    assert any(TOKEN.encode() in data for data in files), "only what the settings name"


# ----------------------------------------------------------------------------------- every door

NO_TEXT = """
--home --model --key --seed --host --watch files --lifecycle --since --mode --zone --sub
subscription run
""".split()
"""Arguments that are no words of a person: paths, names that are looked up, keys of commands."""


def commands_of(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for one in group.list_commands(context):
        command = group.get_command(context, one)
        assert command is not None
        yield f"{name} {one}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{name} {one}")


def test_every_text_of_the_command_line_passes_the_door() -> None:
    raw = {
        (name, param.opts[0])
        for name, command in [("wakelog", cli), *commands_of(cli, "wakelog")]
        for param in command.params
        for kind in getattr(param.type, "types", [param.type])
        if isinstance(kind, StringParamType) and not getattr(param, "is_flag", False)
    }
    assert len(COMMANDS) > 30
    assert {one for one in raw if one[1] not in NO_TEXT} == set()
    assert SECRET_VARIABLES == ("GEMINI_API_KEY", "OPENAI_API_KEY", "WAKELOG_SERVE_TOKEN")
