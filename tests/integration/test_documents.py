"""What commands print with --json fits the JSON Schema that `wakelog schema` gives of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import msgspec
import pytest

from adapters.cli.main import cli
from adapters.documents.agents import agent_lines
from adapters.documents.inbox import inbox_sets
from adapters.documents.schemas import DOCUMENTS, schema_of
from adapters.documents.tasks import task_lines
from adapters.documents.wakes import wake_lines
from adapters.wiring import open_home
from tests.support.cli import done, refused, run, told
from tests.support.homes import Homes
from tests.support.process import ROOT
from tests.support.receivers import program, settings
from tests.support.waking import proposing

SILENT = {"mcp serve", "completion", "help"}  # they print no document
ELSEWHERE = """
adopted adopted-database checked-database cluster copied-home created-home created-token
deleted-home frozen-home home-members import-task
demo-data demo-data-there exported-wakes homes joined lead-replica memory-sources named-replica
prepared-database renamed-home replicas rescued retired-replica revoked-token scrubbed-database
settings synced
tokens thawed-home worked-homes worker-health page-health
""".split()
"""Of other homes, an extra, a database."""


def strict(schema: Any) -> Any:
    """A schema that allows no key which it does not name."""
    match schema:
        case dict():
            named = {name: strict(value) for name, value in schema.items()}
            is_closed = schema.get("type") == "object" and "properties" in schema
            return {**named, "additionalProperties": False} if is_closed else named
        case list():
            return [strict(one) for one in schema]
        case _:
            return schema


class Fitting:
    """Runs commands on a home, and holds what they print against the schema of a document."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env: dict[str, str] = {}
        self.met: set[str] = set()

    def __call__(self, name: str, *args: str) -> Any:
        result = run(["--json", *args], self.home, env=self.env)
        assert result.exit_code in (0, 1), result.output
        document = msgspec.json.decode(result.stdout)
        validator = jsonschema.Draft202012Validator(strict(schema_of(name)))
        assert not [one.json_path for one in validator.iter_errors(document)], name
        self.met.add(name)
        return document


@pytest.fixture
def fits(tmp_path: Path) -> Fitting:
    return Fitting(tmp_path / "home")


def edit(fits: Fitting, task: str, agent: str) -> None:
    """The commands that edit tasks, the catalog and agents."""
    fits("task", "task", "note", task, "Call Ms Miller")
    fits("task", "task", "time", task, "--start", "2027-01-01 07:00", "--end", "2027-01-01 08:00")
    fits("categories", "category", "list")
    fits("category", "category", "add", "Zed")
    fits("category", "category", "correct", "Zed", "mtg", "meeting")
    fits("label", "label", "add", "urgent")
    fits("labels", "label", "list")
    fits("task", "label", "assign", task, "urgent")
    fits("deleted", "label", "delete", "urgent")
    fits("agent", "agent", "timer", agent, "set", "every day 07:00")
    fits("agent", "agent", "set", agent, "--goal", "Done", "--prefer", "tone=brief")
    fits("agent", "agent", "watch", agent, "--category", "Zed", "--task", task)
    fits("timers", "agent", "timer", agent, "list")
    fits("seed", "template", "show", "laura")
    fits("template", "template", "create", "Calm", "--general", "Slowly.", "--report", "Briefly.")
    fits("templates", "template", "list")
    fits("template-given", "template", "assign", agent, "Calm")
    fits("improving-session", "template", "improve", "Calm", "Be brisk.")
    fits("improving-sessions", "template", "sessions", "Calm")


def read(fits: Fitting, agent: str, runs: list[str]) -> None:
    """The commands that look at what there is, and was."""
    fits("run", "show", runs[0])
    fits("prompt", "show", runs[0], "--prompt")
    fits("report", "report", agent)
    fits("journal", "journal", agent)
    fits("memory", "memory", agent)
    fits("messages", "messages", agent)
    fits("why", "why", agent)
    fits("why-change", "why", "journal:5")
    fits("why-field", "why", told(["task", "list"], fits.home)[0]["id"], "title")
    fits("replay", "replay", runs[0])
    fits("moment", "at", runs[0])
    fits("request", "at", runs[0], "--prompt")
    fits("diff", "diff", runs[0], runs[1])
    fits("diff", "diff", "journal:r1:5", "journal:r1:12")
    fits("bisect", "bisect", agent, "--python", "len(wakes) >= 0")
    fits("policy-preview", "policy", "try", agent)
    fits("policy-allowed", "policy", "allow", "gemini")
    fits("policy-ruled", "policy", "models", "--every", "rules")
    assert fits("models", "models")
    fits("policy", "policy", "show")
    settings(fits.home, f"command = {json.dumps(program(fits.home.parent / 'told'))}")
    fits("notify", "notify", "allow")
    fits("notify-tests", "notify", "test")
    fits("rows", "sql", "SELECT 1 AS a, 'x' AS b")
    fits("metrics", "metrics")
    fits("summary", "summary")
    fits("day", "day", "put", "--title", "Lunch", "12-13")
    fits("days", "day", "--days", "2")


def keep(fits: Fitting, folder: Path, run_key: str) -> None:
    """The commands that look after a home, or write beside it."""
    fits("fork", "fork", run_key, "--model", "rules", "--out", str(folder / "fork"))
    fits("diff", "diff", str(fits.home), str(folder / "fork"))
    fits("backup", "backup", str(folder / "backup"))
    fits("exported-tables", "export", "--parquet", str(folder / "tables"))
    fits("exported-tasks", "export", "--markdown", str(folder / "tasks.md"))
    fits("exported-tasks", "export", "--json-tasks", str(folder / "tasks.jsonl"))
    fits("exported-history", "export-history", run_key, "--out", str(folder / "a.jsonl"))
    fits("simulation", "simulate", "--wakes", "2")
    for name, command in (
        ("status", "status"),
        ("health", "health"),
        ("doctor", "doctor"),
        ("proof", "prove"),
        ("recovered", "recover"),
        ("rebuilt", "rebuild"),
        ("schemas", "schema"),
    ):
        fits(name, command)
    fits("home", "home", "show")


@pytest.mark.slow
def test_what_each_command_prints_fits_its_schema(fits: Fitting, tmp_path: Path) -> None:
    fits("demo", "demo")
    file = tmp_path / "todo.md"
    file.write_text("# Home\n- [ ] Paint the door #red\n  - [x] Buy paint\n- [?] Odd\n")
    fits("import", "import", str(file))
    file.write_text("# Home\n- [?] Odd\n")
    fits("import", "import", str(file))
    fits("begun", "init", "--import", str(file), "--agents")
    fits("written-back", "write-back", str(file))
    fits("conflicts", "conflicts")
    fits("agents-made", "agent", "create", "--all")
    tasks, agents = fits("tasks", "task", "list"), fits("agents", "agent", "list")
    assert fits("inbox", "inbox")
    fits("verdicts", "confirm", "1.1")
    fits("verdicts", "reject", "2", "--all", "--reason", "No")
    agent = agents[0]["id"]
    edit(fits, tasks[0]["id"], agent)
    assert fits("task", "task", "show", tasks[0]["id"])["notes"]
    assert fits("agent", "agent", "show", agent)["last_wakes"]
    fits("answer", "agent", "ask", agent, "What is left?")
    woken = fits("wake", "wake", agent)
    fits("rated-run", "rate", woken["run_key"], "4")
    assert fits("lessons", "lessons")
    assert fits("lessons", "lessons", "Zed", "--never", "link_task")
    fits("run-counts", "run", "--until-idle")
    fits("tasks-done", "done", tasks[0]["id"])
    assert fits("tasks-found", "search", "paint")
    cases = tmp_path / "cases.jsonl"
    with (ROOT / "evals/notes.jsonl").open(encoding="utf-8") as kept:
        cases.write_text(kept.readline(), encoding="utf-8")
    fits("evaluation", "eval", str(cases))
    fits("rehearsal", "rehearse", "--all", "--show")
    assert fits("deeds-undoable", "undo", "--list")["deeds"]
    fits("deed-undone", "undo")
    runs = [one["run_key"] for one in fits("wakes", "wakes")]
    read(fits, agent, runs)
    keep(fits, tmp_path, runs[0])
    fits("imports-undone", "import", str(file), "--undo")
    fits("retained", "retain", "--prompts", "1", "--dry-run")
    fits.env = {"WAKELOG_REPLICA": "r2"}
    fits("restored", "restore", str(tmp_path / "backup"))
    fits("erased", "erase", "task", tasks[0]["id"], "--sure")
    fits("erasures", "erase", "--list")
    assert fits.met == DOCUMENTS.keys() - {*ELSEWHERE}


def leaves(group: click.Group, path: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield path + name
            yield from leaves(command, f"{path}{name} ")
        else:
            yield path + name


def test_every_command_that_prints_a_document_is_named_by_one() -> None:
    twice = ("server ", "dev ")  # what stands at the top, too
    known = {one for one in leaves(cli) if not one.startswith(twice)} - SILENT
    named = [one for document in DOCUMENTS.values() for one in document.commands]
    assert {one for one in known if not any(f"{n} ".startswith(f"{one} ") for n in named)} == set()
    assert {n for n in named if not any(f"{n} ".startswith(f"{one} ") for one in known)} == set()


def test_a_program_gets_what_the_list_commands_print(tmp_path: Path, homes: Homes) -> None:
    home = homes.copy(proposing, tmp_path)
    with open_home(home, {"WAKELOG_NOW": "2027-01-01T09:00:00Z"}) as opened:
        opened.views.catch_up()
        lists = {
            ("task", "list"): task_lines(opened),
            ("agent", "list"): agent_lines(opened),
            ("inbox",): inbox_sets(opened),
            ("wakes", "--limit", "1000"): wake_lines(opened),
        }
    for command, found in lists.items():
        assert msgspec.to_builtins(found) == told([*command], home), command


def test_a_schema_is_found_by_the_name_of_its_document_or_by_a_command(tmp_path: Path) -> None:
    by_name = told(["schema", "tasks"], tmp_path)
    assert by_name == told(["schema", "task list"], tmp_path)
    assert by_name["items"] == {"$ref": "#/$defs/TaskLine"}
    assert "tasks\tlist, today, task list" in done(["schema"], tmp_path).splitlines()
    assert "wakelog schema" in refused(["schema", "nothing"], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_each_schema_is_one() -> None:
    for schema in map(schema_of, DOCUMENTS):
        assert schema is not None
        jsonschema.Draft202012Validator.check_schema(schema)
