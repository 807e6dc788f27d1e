"""The table of use cases: each method of a `wakelog.Home`, the command of the command line that
does the same, and an example that both doors can be asked for. What a command takes, what it says
of it and what it prints is the command line's own (`COMMANDS`, `KNOWN`) and the documents'
(`DOCUMENTS`): here stands only what binds the doors."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

import wakelog
from adapters.cli.main import COMMANDS, cli
from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.results import ImportUndone
from adapters.documents.templates import SeedDetails, TemplateDetails
from domain.journal.document import TaskDetails
from wakelog.testing import called


class UseCase(NamedTuple):
    """What a program and the command line both do.

    `document`: the name in `DOCUMENTS` of what the method answers; empty: a record of its own, as
    `GIVES` says. `named`: of options that are called otherwise, by the name that click has, the
    method's parameter; ``other()``: another method does that; ``-``: no method needs it, as
    `NEEDED_BY_NONE` says. `example`: arguments, for both doors; None: there is a test of its own.
    What only one door knows only that one is given.
    `before`: words of commands that come first, ``;`` between these. `only`: why there is none."""

    name: str
    command: str
    group: str
    document: str = ""
    example: Mapping[str, Any] | None = None
    named: Mapping[str, str] = {}
    before: str = ""
    only: str = ""


SINK = {"task": "Fix the sink"}
DAY = {"date": "2027-01-04"}
FIELDS = {"file": "-"}

TASKS = (
    UseCase("tasks", "list", "tasks", "tasks", {"words": "door", "order": "title"},
            {"text": "words"}),
    UseCase("today", "today", "tasks", "tasks", {}),
    UseCase("search", "search", "tasks", "tasks-found", {"words": "minutes"}),
    UseCase("summary", "summary", "tasks", "summary", {"weeks": 2}),
    UseCase("show_task", "task show", "tasks", "task", SINK),
    UseCase("add_task", "add", "tasks", "task",
            {"title": "Call Ann", "description": "Of the roof", "priority": "P1",
             "estimate": "45m", "due": "friday", "category": "House", "labels": ["phone"],
             "items": ["Look up her number"]}, FIELDS),
    UseCase("edit_task", "edit", "tasks", "task",
            {**SINK, "title": "Fix the tap", "estimate": 45, "due": "none", "labels": ["home"],
             "remove": ["tools"], "status": "on-hold", "until": "monday"}, {"gone": "remove"}),
    UseCase("done", "done", "tasks", "tasks-done", {"tasks": ["Fix the sink", "Paint the door"]}),
    UseCase("delete_task", "delete", "tasks", "task", SINK),
    UseCase("restore_task", "task restore", "tasks", "task", SINK, before="delete|Fix the sink"),
    UseCase("conclude_task", "task conclude", "tasks", "task", {**SINK, "title": "Watch it"}),
    UseCase("log_done", "log", "tasks", "task",
            {"title": "Called the landlord", "took": "30m", "labels": ["phone"]}),
    UseCase("note", "note", "tasks", "task", {**SINK, "text": "Ann knows how."},
            {**FIELDS, "remove": "remove_note()", "note_kind": "kind"}),
    UseCase("remove_note", "note", "tasks", "task", {**SINK, "note": "1"}, {"remove": "note"}),
    UseCase("add_items", "task item add", "tasks", "task",
            {**SINK, "titles": ["Buy glue", "Ask Bob"]}, {"title": "titles"}),
    UseCase("check", "task check", "tasks", "task", {**SINK, "items": ["1", "Close"]},
            {"item": "items"}),
    UseCase("uncheck", "task uncheck", "tasks", "task", {**SINK, "items": ["1"]},
            {"item": "items"}, before="task|check|Fix the sink|1"),
    UseCase("archive_items", "task item archive", "tasks", "task", {**SINK, "items": ["2"]},
            {"item": "items"}),
    UseCase("restore_items", "task item restore", "tasks", "task", {**SINK, "items": ["2"]},
            {"item": "items"}, before="task|item|archive|Fix the sink|2"),
    UseCase("rename_item", "task item rename", "tasks", "task",
            {**SINK, "item": "1", "title": "Buy a good seal"}),
    UseCase("link", "task link", "tasks", "task",
            {**SINK, "relation": "blocks", "other": "Paint the door"}, {"relation_": "relation"}),
    UseCase("unlink", "task unlink", "tasks", "task",
            {**SINK, "relation": "blocks", "other": "Paint the door"}, {"relation_": "relation"},
            before="task|link|Fix the sink|blocks|Paint the door"),
    UseCase("start_timer", "start", "tasks", "task", SINK),
    UseCase("stop_timer", "stop", "tasks", "task", {"summary": "Looked"},
            before="start|Fix the sink"),
    UseCase("log_time", "task time", "tasks", "task",
            {**SINK, "began": "07:00", "ended": "08:30", "summary": "Looked"}),
    UseCase("retime", "task retime", "tasks", "task", {**SINK, "entry": "1", "ended": "08:00"}),
    UseCase("rate_task", "task rate", "tasks", "task", {**SINK, "score": 4, "comment": "Well"}),
)  # fmt: skip

DAYS = (
    UseCase("day", "day show", "days", "day", DAY, {"file": "-", "replace": "-"}),
    UseCase("days", "day show", "days", "days", {**DAY, "count": 3}, {"file": "-", "replace": "-"}),
    UseCase("put_block", "day put", "days", "day", {"title": "Lunch", "words": ["12-13"], **DAY},
            {"words": "range"}),
    UseCase("move_block", "day move", "days", "day",
            {"block": "9", "range_": "14:00+90m", **DAY}),
    UseCase("keep_block", "day keep", "days", "day", {"block": "9", **DAY}),
    UseCase("remove_block", "day remove", "days", "day", {"block": "9", **DAY}),
    UseCase("pin_task", "day pin", "days", "day", {**SINK, **DAY}),
    UseCase("unpin_task", "day unpin", "days", "day", {**SINK, **DAY},
            before="day|pin|Fix the sink|--on|2027-01-04"),
    UseCase("rate_day", "day rate", "days", "day", {"score": 4, "words": "Long", **DAY}),
    UseCase("plan_day", "day plan", "days", "day", {**DAY, "no_timer": True}),
)  # fmt: skip

CATALOG = (
    UseCase("categories", "category list", "catalog", "categories", {}),
    UseCase("add_category", "category add", "catalog", "category",
            {"name": "Garden", "language": "en"}),
    UseCase("rename_category", "category rename", "catalog", "category",
            {"category": "House", "name": "Home"}),
    UseCase("correct_category", "category correct", "catalog", "category",
            {"category": "House", "before": "mtg", "after": "meeting"}),
    UseCase("review_category", "category review", "catalog", "wake", {"category": "House"}),
    UseCase("labels", "label list", "catalog", "labels", {}),
    UseCase("add_label", "label add", "catalog", "label",
            {"name": "urgent", "categories": ["House"]}),
    UseCase("widen_label", "label widen", "catalog", "label", {"label": "urgent"},
            before="label|add|urgent|--category|House"),
    UseCase("delete_label", "label delete", "catalog", "deleted", {"label": "tools"}),
    UseCase("assign_labels", "label assign", "catalog", "task",
            {**SINK, "labels": ["phone", "#home"]}, {"label": "labels"}),
    UseCase("remove_labels", "label remove", "catalog", "task", {**SINK, "labels": ["tools"]},
            {"label": "labels"}),
    UseCase("suppress_labels", "label suppress", "catalog", "task", {**SINK, "labels": ["tools"]},
            {"label": "labels"}, before="label|remove|Fix the sink|tools"),
    UseCase("allow_labels", "label allow", "catalog", "task", {**SINK, "labels": ["tools"]},
            {"label": "labels"}, before="label|suppress|Fix the sink|tools"),
    UseCase("import_file", "import", "files", "", {"files": "{home}/TODO.md", "source": "list"},
            {"files": "path", "headings": "by_heading", "undo": "undo_import()"}),
    UseCase("undo_import", "import", "files", "",
            {"files": ["{home}/TODO.md"], "undo": True, "source": "TODO.md"},
            {"files": "-", "undo": "-"}, before="import|{home}/TODO.md"),
    UseCase("write_back", "write-back", "files", "written-back",
            {"files": ["{home}/TODO.md"]}, {"files": "paths"},
            before="import|{home}/TODO.md;done|Mow"),
    UseCase("conflicts", "conflicts", "files", "conflicts", {}),
    UseCase("settle", "settle", "files", "", {"task": "Mow", "field": "estimate", "side": "file"},
            before="import|{home}/TODO.md;edit|Mow|--estimate|5;import|{home}/TODO2/TODO.md"
            "|--source|TODO.md"),
)  # fmt: skip

AGENTS = (
    UseCase("agents", "agent list", "agents", "agents", {}),
    UseCase("show_agent", "agent show", "agents", "agent", {"agent": "Fix the sink"}),
    UseCase("create_agent", "agent create", "agents", "agent",
            {"task": "Paint the door", "name": "Painter", "mode": "autonomous", "turns": 3},
            {"option": "-", "is_all": "create_agents()"}),
    UseCase("create_agents", "agent create", "agents", "agents-made", {"is_all": True},
            {"task": "create_agent()", "option": "-", "name": "-", "is_all": "-"}),
    UseCase("set_agent", "agent set", "agents", "agent",
            {"agent": "Fix the sink", "goal": "Dry by Friday", "turn_max": 4,
             "is_automatic": False, "open_loops": ["The leak"], "preferences": {"tone": "brief"},
             "categories": ["House"]}, {"turn_max": "turns"}),
    UseCase("pause_agent", "agent pause", "agents", "agent", {"agent": "Fix the sink"}),
    UseCase("resume_agent", "agent resume", "agents", "agent", {"agent": "Fix the sink"},
            before="agent|pause|Fix the sink"),
    UseCase("destroy_agent", "agent destroy", "agents", "agent", {"agent": "Fix the sink"}),
    UseCase("delete_agent", "agent delete", "agents", "agent", {"agent": "Fix the sink"},
            before="agent|destroy|Fix the sink"),
    UseCase("sleep_agent", "agent sleep", "agents", "agent",
            {"agent": "Fix the sink", "until": "2027-02-01"}),
    UseCase("watch", "agent watch", "agents", "agent",
            {"agent": "Fix the sink", "kinds": ["NOTE"], "category": "House"}, {"older": "-"}),
    UseCase("unwatch", "agent unwatch", "agents", "agent",
            {"agent": "Fix the sink", "subscription": "{heard}"},
            before="agent|watch|Fix the sink|--what|NOTE"),
    UseCase("timers", "agent timer", "agents", "timers",
            {"agent": "Fix the sink", "action": "list"},
            {"action": "-", "schedule": "-", "key": "-"}),
    UseCase("set_timer", "agent timer", "agents", "agent",
            {"agent": "Fix the sink", "action": "set", "schedule": "every day 07:00",
             "is_always": True}, {"action": "-"}),
    UseCase("remove_timer", "agent timer", "agents", "agent",
            {"agent": "Fix the sink", "action": "remove", "schedule": "every day 07:00"},
            {"action": "-"}, before="agent|timer|Fix the sink|set|every day 07:00"),
    UseCase("wakes", "wakes", "wakes", "wakes", {"task": "Fix the sink", "limit": 5},
            {"is_all": "-"}),
    UseCase("wake", "wake", "wakes", "wake", {"agent": "Fix the sink"},
            {"agent": "task", "is_cancel": "cancel_wake()"}),
    UseCase("wake_all", "wake", "wakes", "wakes", {}, {"agent": "wake()", "key": "-"}),
    UseCase("cancel_wake", "wake", "wakes", "wake", {"agent": "Fix the sink", "is_cancel": True},
            {"agent": "task", "is_cancel": "-"}, before="note|Fix the sink|Thanks"),
    UseCase("ask", "agent ask", "wakes", "answer",
            {"agent": "Fix the sink", "words": "What is left to do?"},
            {"agent": "task", "name": "session", "stream": "said"}),
    UseCase("show_wake", "show", "wakes", "run", {"what": "{run}", "is_wake": True},
            {"what": "run", "is_wake": "-", "prompt": "prompt()"}),
    UseCase("prompt", "show", "wakes", "prompt", {"what": "{run}", "prompt": True},
            {"what": "run", "prompt": "-"}),
    UseCase("report", "report", "wakes", "report", SINK, {"history": "-"}),
    UseCase("journal", "journal", "wakes", "journal", SINK),
    UseCase("messages", "messages", "wakes", "messages", {"agent": "Fix the sink"},
            {"agent": "task"}),
    UseCase("memory", "memory", "wakes", "memory", {"agent": "Fix the sink"},
            {"agent": "task", "sources": "memory_sources()"}),
    UseCase("memory_sources", "memory", "wakes", "memory-sources", None, {"sources": "digest"}),
    UseCase("why", "why", "wakes", "why", {"agent": "Fix the sink"},
            {"agent": "task", "field": "why_field()"}),
    UseCase("why_field", "why", "wakes", "why-field", {"agent": "Fix the sink", "field": "title"},
            {"agent": "task"}),
    UseCase("why_change", "why", "wakes", "why-change", {"agent": "journal:2"},
            {"agent": "change"}),
    UseCase("propose", "", "policy", only="a client proposes, by `wakelog mcp serve`"),
    UseCase("preview", "policy try", "policy", "policy-preview", {"agent": "Fix the sink"},
            {"agent": "task"}),
)  # fmt: skip

VERDICTS = (
    UseCase("inbox", "inbox", "inbox", "inbox", {"is_all": True}),
    UseCase("confirm", "confirm", "inbox", "", {"refs": ["1.1"], "is_anyway": True},
            {"refs": "ref", "is_all": "decide_all()"}),
    UseCase("reject", "reject", "inbox", "", {"refs": ["1.1"], "reason": "We have one"},
            {"refs": "ref", "is_all": "decide_all()"}),
    UseCase("defer", "defer", "inbox", "", {"refs": ["1.1"], "until": "monday"},
            {"refs": "ref", "is_all": "decide_all()"}),
    UseCase("decide_all", "reject", "inbox", "",
            {"verdict": "reject", "refs": ["1"], "is_all": True, "reason": "No"},
            {"is_all": "-"}),
    UseCase("undo", "undo", "inbox", "deed-undone", {"is_agreed": True}, {"is_list": "deeds()"},
            before="edit|Fix the sink|--estimate|5"),
    UseCase("deeds", "undo", "inbox", "deeds-undoable", {"is_list": True},
            {"is_list": "-", "deed": "-", "is_agreed": "-", "key": "-"},
            before="edit|Fix the sink|--estimate|5"),
    UseCase("lessons", "lessons", "inbox", "lessons", {}, before="reject|1.1",
            named={"from_history": "learn_from_history()", "never": "rule_tool()",
                   "again": "rule_tool()", "key": "-"}),
    UseCase("learn_from_history", "lessons", "inbox", "lessons", {"from_history": True},
            {"from_history": "-", "never": "-", "again": "-", "key": "-"}, before="reject|1.1"),
    UseCase("rule_tool", "lessons", "inbox", "lessons",
            {"scope": "House", "never": "link_task"}, {"scope": "category", "never": "tool"}),
    UseCase("rate_wake", "rate", "templates", "rated-run", {"run": "{run}", "stars": 4},
            before="template|assign|Fix the sink|Calm;wake|Fix the sink"),
)  # fmt: skip

TEMPLATES = (
    UseCase("templates", "template list", "templates", "templates", {}),
    UseCase("show_template", "template show", "templates", "", {"template": "Calm"}),
    UseCase("create_template", "template create", "templates", "template",
            {"name": "Brisk", "general": "Be brisk.", "report": "One line.",
             "categories": ["House"]},
            {"general_file": "-", "report_file": "-"}),
    UseCase("set_template", "template set", "templates", "template",
            {"template": "Calm", "name": "Calmer", "model": "rules"}),
    UseCase("add_version", "template version", "templates", "template",
            {"template": "Calm", "report": "Two lines."},
            {"general_file": "-", "report_file": "-"}),
    UseCase("roll_back_template", "template rollback", "templates", "template",
            {"template": "Calm", "version": "1"},
            before="template|version|Calm|--report|Two lines."),
    UseCase("assign_template", "template assign", "templates", "template-given",
            {"agent": "Fix the sink", "template": "laura"}),
    UseCase("improve_template", "template improve", "templates", "improving-session",
            {"template": "Calm", "words": "Be brisk.", "categories": ["House"]}),
    UseCase("template_sessions", "template sessions", "templates", "improving-sessions",
            {"template": "Calm"}, before="template|improve|Calm|Be brisk.|--category|House"),
    UseCase("delete_template", "template delete", "templates", "deleted", {"template": "Calm"}),
    UseCase("metrics", "metrics", "templates", "metrics", {}, {"timeout": "seconds"}),
)  # fmt: skip

POLICY = (
    UseCase("models", "models", "policy", "models", {}, {"models": "names"}),
    UseCase("policy", "policy show", "policy", "policy", {}),
    UseCase("allow_sending", "policy allow", "policy", "policy-allowed",
            {"model": "gemini", "categories": ["House"]}),
    UseCase("withdraw_sending", "policy withdraw", "policy", "policy-allowed", {"model": "gemini"},
            before="policy|allow|gemini"),
    UseCase("rule_models", "policy models", "policy", "policy-ruled",
            {"words": ["House", "rules", "gemini:*"], "category": "House",
             "patterns": ["rules", "gemini:*"]}, {"words": "-", "every": "-", "is_any": "-"}),
)  # fmt: skip

PAST = (
    UseCase("prove", "prove", "past", "", {"since": ["last"]}),
    UseCase("at", "at", "past", "moment", {"where": "journal:3"},
            {"where": "position", "prompt": "request_at()"}),
    UseCase("request_at", "at", "past", "request", {"where": "{run}.5", "prompt": True},
            {"where": "position", "prompt": "-", "is_all": "-"}),
    UseCase("replay", "replay", "past", "", {"run": "{run}"}, {"is_stepping": "-"}),
    UseCase("diff", "diff", "past", "", {"a": "journal:3", "b": "journal:5"}),
    UseCase("bisect", "bisect", "past", "bisect", {"agent": "Fix the sink", "text": ["sink"]},
            {"agent": "task"}),
    UseCase("fork", "fork", "past", "fork", {"run": "{run}", "out": "{home}/../fork"},
            {"tokens_max": "tokens"}),
    UseCase("evaluate", "eval", "judging", "evaluation", {"template": "Calm", "show": True},
            {"general_file": "-", "report_file": "-", "no_worse": "-", "min_precision": "-",
             "scaffold": "-"}),
    UseCase("rehearse", "rehearse", "judging", "rehearsal",
            {"template": "Calm", "is_all": True, "wakes": 5, "show": True},
            {"general_file": "-", "report_file": "-", "scaffold": "-"},
            before="template|assign|Fix the sink|Calm;reject|1.1"),
    UseCase("sql", "sql", "asking", "", {"query": "SELECT title FROM tasks ORDER BY title"},
            {"file": "-", "form": "-", "timeout": "seconds"}),
    UseCase("export_tasks", "export", "asking", "exported-tasks",
            {"markdown": "{home}/../all.md", "is_open": True},
            {"markdown": "path", "json_tasks": "form", "parquet": "export_tables()",
             "inspect": "export_wakes()", "timeout": "-"}),
    UseCase("export_tables", "export", "asking", "exported-tables",
            {"parquet": "{home}/../tables"},
            {"parquet": "folder", "timeout": "seconds"}),
    UseCase("export_wakes", "export", "asking", "exported-wakes", None, {"inspect": "folder"}),
    UseCase("export_history", "export-history", "asking", "exported-history",
            {"run": "{run}", "out": "{home}/../run.jsonl"}, {"out": "path"}),
)  # fmt: skip

UPKEEP = (
    UseCase("status", "status", "upkeep", "status", {}, {"check": "health()"}),
    UseCase("health", "health", "upkeep", "health", {}),
    UseCase("recover", "recover", "upkeep", "recovered", {}),
    UseCase("rebuild", "rebuild", "upkeep", "rebuilt", {}),
    UseCase("doctor", "doctor", "upkeep", "doctor", {"fix": True}),
    UseCase("backup", "backup", "upkeep", "backup", {"folder": "{home}/../backup"}),
    UseCase("erase", "erase", "upkeep", "erased",
            {"what": "task", "name": "Paint the door", "sure": "Paint the door"},
            {"is_list": "erasures()", "dry_run": "-"}),
    UseCase("erasures", "erase", "upkeep", "erasures", {"is_list": True}, {"is_list": "-"},
            before="erase|task|Paint the door|--sure"),
    UseCase("retain", "retain", "upkeep", "retained", {"prompts": 1, "dry_run": True}),
    UseCase("sync", "sync", "machines", "synced", {"folder": "{home}/../met"},
            {"is_join": "join()", "is_agreed": "-", "is_dry": "dry_run"}),
    UseCase("join", "sync", "machines", "joined", None, {"is_dry": "dry_run"}),
    UseCase("replicas", "replicas", "machines", "replicas", {}, before="sync|{home}/../met"),
    UseCase("name_replica", "replicas name", "machines", "named-replica", {"label": "desk"},
            before="sync|{home}/../met"),
    UseCase("lead", "replicas lead", "machines", "lead-replica", {}, before="sync|{home}/../met"),
    UseCase("retire", "replicas retire", "machines", "retired-replica"),
    UseCase("rescue", "replicas rescue", "machines", "rescued", None, {"is_dry": "dry_run"}),
)  # fmt: skip

OWN = (
    UseCase("close", "", "home", only="the end of a command closes its home"),
    UseCase("connect", "", "asking", only="a connection is an object"),
    UseCase("advance", "", "home", only="a command's clock ends with it"),
)

USE_CASES = (
    *TASKS, *DAYS, *CATALOG, *AGENTS, *VERDICTS, *TEMPLATES, *POLICY, *PAST, *UPKEEP, *OWN,
)  # fmt: skip

GIVES: Mapping[str, Any] = {
    "import_file": wakelog.ImportReport,  # of one file; `import` prints those of several
    "undo_import": ImportUndone,
    "settle": TaskDetails | list[ConflictDetails],
    "confirm": wakelog.InboxItem,  # of one item: what is not applied is raised
    "reject": wakelog.InboxItem,
    "defer": wakelog.InboxItem,
    "decide_all": list[wakelog.InboxItem],
    "show_template": TemplateDetails | SeedDetails,
    "prove": wakelog.Proved,
    "replay": wakelog.Replay,
    "diff": wakelog.Difference,
    "sql": wakelog.Rows,
}
"""Methods that answer with a record of their own: those of 0.5.0, and their kin."""

NEEDED_BY_NONE = {
    "file": "a program reads and writes files itself",
    "general_file": "likewise",
    "report_file": "likewise",
    "replace": "likewise",
    "no_worse": "a program looks at the answer",
    "min_precision": "likewise",
    "scaffold": "of who makes wakelog",
    "form": "an answer is rows",
    "option": "the same as the argument",
    "older": "what `--what` was called first",
    "name": "many agents have no one name",
    "action": "each has a method",
    "schedule": "of the other two",
    "is_stepping": "a program has all steps at once",
    "is_all": "lines are shown or not; documents have all",
    "is_wake": "it is said by the method",
    "is_cancel": "it is said by the method",
    "is_list": "it is said by the method",
    "is_agreed": "as --yes",
    "is_any": "no pattern lifts a rule",
    "every": "no category is every one",
    "words": "they are parted",
    "files": "an import is known by its source",
    "undo": "it is said by the method",
    "history": "the document has it",
    "prompt": "it is said by the method",
    "from_history": "it is said by the method",
    "never": "of another method",
    "again": "of another method",
    "deed": "of another method",
    "dry_run": "an erasure that is not sure of is one",
    "timeout": "of --parquet",
    "key": "nothing is written, or as often as it is asked for",
}
"""Options that no parameter stands for, and why."""

OF_THE_MACHINE = {
    "agent chat": "a talk at a terminal: ask(session=)",
    "cluster": "the workers of a database",
    "completion": "the shell's",
    "database": "of a database, by its owner",
    "demo": "shows wakelog, in a home of its own",
    "demo-data": "makes a home of its own",
    "help": "tells of commands",
    "home": "where homes are, and what became of them",
    "init": "open_home(may_be_new=True)",
    "mcp": "goes on until its client ends it: a process of its own",
    "move": "the home is elsewhere then",
    "notify": "receivers of this machine",
    "restore": "makes a home: there is none to ask",
    "run": "goes on until a signal: a process of its own",
    "schema": "of documents, not of a home",
    "serve": "goes on until a signal: a process of its own",
    "settings": "a file of a person",
    "simulate": "makes homes of its own",
    "token": "of a database, by its owner",
    "worker": "goes on until a signal: a process of its own",
}
"""Commands, or groups of them, that are not of an open home, and why."""

ALIASES = ("server", "dev")
"""Groups whose commands stand at the top, too."""


def leaves() -> dict[str, click.Command]:
    """Each command of the command line by its words; a group that is one by itself, too."""
    context = click.Context(cli)
    found: dict[str, click.Command] = {}
    for name in COMMANDS.keys() - {*ALIASES}:
        command = cli.get_command(context, name)
        assert command is not None, name
        found |= dict(_below(name, command))
    return found


def _below(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield words, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            if inner is not None and not inner.hidden:
                yield from _below(f"{words} {name}", inner)


def is_of_machine(words: str) -> bool:
    """Whether a command is none of an open home."""
    return any(words == one or words.startswith(f"{one} ") for one in OF_THE_MACHINE)


def parameters(name: str) -> Mapping[str, inspect.Parameter]:
    """Those of a method of a `Home`, by the names that a table may call them."""
    method = getattr(wakelog.Home, name)
    found = inspect.signature(method).parameters.values()
    return {one.name.rstrip("_"): one for one in found if one.name != "self"}


def call(home: wakelog.Home, row: UseCase, values: Mapping[str, Any]) -> Any:
    """Do a row's example by a program."""
    given = dict[str, Any]()
    known = parameters(row.name)
    for name, value in values.items():
        parameter = known.get(row.named.get(name, name).rstrip("_"))
        if parameter is None:  # which method it is says that
            assert row.named.get(name) == "-" or name == "is_all", f"no door knows {name}"
            continue
        is_row = parameter.kind is parameter.VAR_POSITIONAL
        is_one = isinstance(value, list) and parameter.annotation is str and not is_row
        given[parameter.name] = value[0] if is_one else value
    return called(home, row.name, given)


def command_line(row: UseCase, values: Mapping[str, Any]) -> list[str]:
    """The same as it is typed."""
    command, options, arguments = leaves()[row.command], list[str](), dict[str, list[str]]()
    called = {to: one for one, to in row.named.items() if not to.endswith("()") and to != "-"}
    known = {one.name: one for one in command.params}
    for name, value in values.items():
        param = known.get(name) or known.get(called.get(name, f"{name}_"))
        if param is None:
            assert name in parameters(row.name), f"no door knows {name}"
            continue
        told = [f"{k}={v}" for k, v in value.items()] if isinstance(value, Mapping) else value
        many = [str(one) for one in told] if isinstance(told, (list, tuple)) else [str(told)]
        if isinstance(param, click.Argument):
            arguments[str(param.name)] = many
        elif getattr(param, "is_flag", False):
            options += [(param.opts if value else param.secondary_opts)[0]]
        else:
            options += [word for one in many for word in (param.opts[0], one)]
    order = [str(one.name) for one in command.params if isinstance(one, click.Argument)]
    typed = [word for name in order for word in arguments.get(name, [])]
    return [*row.command.split(), *typed, *options]
