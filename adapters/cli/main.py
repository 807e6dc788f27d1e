"""The command line: `wakelog COMMAND`. Heavy imports stand inside commands.

Each group of commands lives in a module of its own and is imported when it is asked for, so
that `wakelog --help` is quick. Exit status: 0 done, 1 a finding, 2 bad input or refusal, 3 a
wake that did not run and waits.
"""

import gc
import os
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import click

from adapters.cli.lazy_groups import KNOWN, load, prepared
from adapters.cli.shared import TYPED_KEY, Session, UserError, complain, flag, option
from adapters.text.remedies import in_words
from domain.errors import KeyReused, WakelogError

# command: (module below adapters.cli, short help)
COMMANDS: dict[str, tuple[str, str]] = {
    "add": ("task_edits", "Add a task."),
    "list": ("tasks", "List tasks."),
    "show": ("show", "Show all about a task, or a wake step by step."),
    "edit": ("task_edits", "Change fields of tasks."),
    "note": ("task_edits", "Add a note to a task."),
    "done": ("task_edits", "Set tasks done."),
    "undo": ("undo", "Take back what you did last: an edit, a verdict, an import."),
    "delete": ("task_edits", "Delete tasks."),
    "search": ("tasks", "Find words in titles, notes, items and reports."),
    "start": ("task_edits", "Start the timer on a task."),
    "stop": ("task_edits", "Stop the timer."),
    "today": ("tasks", "What is due today, or was before."),
    "day": ("day", "See and plan a day, beside the time that was spent."),
    "import": ("importing", "Bring tasks in from files."),
    "inbox": ("inbox", "See what agents propose."),
    "confirm": ("verdicts", "Apply proposed changes."),
    "reject": ("verdicts", "Decline proposed changes."),
    "defer": ("verdicts", "Put proposed changes off."),
    "report": ("reading", "Read what an agent says about a task."),
    "wake": ("wake", "Wake an agent now, or all that are queued."),
    "run": ("run", "Keep agents awake: watch, wait, wake."),
    "serve": ("serve", "Open the local page: tasks, reports, proposals."),
    "demo": ("demo", "See it all at once, on sample tasks."),
    "help": ("help", "Tell of a command, or of more of them."),
    "init": ("importing", "Make a home: your time zone, tasks from a file, agents."),
    "summary": ("tasks", "Count what is open, made and done, by week and category."),
    "log": ("task_edits", "Write down what was done already, and how long it took."),
    "task": ("tasks", "More on tasks: checklists, links, time, ratings."),
    "category": ("catalog", "List, add, rename, correct and review categories."),
    "label": ("catalog", "List, add, widen, delete and suppress labels."),
    "write-back": ("write_back", "Put what was done here into the files it came from."),
    "conflicts": ("conflicts", "See what a file or a machine and you changed both."),
    "settle": ("conflicts", "Settle such a conflict: say which value stands."),
    "agent": ("agents", "Make, see and steer agents."),
    "template": ("templates", "List, make, assign and improve templates of agents."),
    "lessons": ("templates", "See how proposals fare, and what agents are told of it."),
    "rate": ("templates", "Rate a wake of a template."),
    "eval": ("evaluate", "Judge a model, or a wording, on cases."),
    "rehearse": ("rehearse", "Try a model, or a wording, on your own past."),
    "models": ("models", "List the models there are to ask; try whether they work."),
    "policy": ("policy", "See and say what may leave this machine, and to whom."),
    "mcp": ("mcp", "Let a coding agent read what you allow, and propose."),
    "notify": ("notify", "See and say who is told when something waits for you."),
    "wakes": ("reading", "List wakes, the newest first."),
    "why": ("reading", "Why an agent woke, or did not."),
    "journal": ("reading", "Read an agent's private observations."),
    "memory": ("memory", "See what an agent remembers of its older notes."),
    "messages": ("reading", "Read an agent's messages, by thread."),
    "replay": ("time_travel", "Run a wake again, step by step, on its recorded replies."),
    "at": ("time_travel", "Stand in any moment: the whole world then."),
    "diff": ("time_travel", "Compare two wakes, two moments or two homes."),
    "bisect": ("time_travel", "Find the wake since which something holds."),
    "fork": ("fork", "What if? Run a wake again with something else in its world."),
    "prove": ("proof", "Re-execute both logs and compare every byte."),
    "sql": ("analytics", "Ask both logs as tables, in SQL."),
    "metrics": ("analytics", "How each template does."),
    "export": ("analytics", "Write tasks as Markdown, or the log for other tools."),
    "status": ("status", "What is queued, running, due or in doubt."),
    "doctor": ("upkeep", "Look for trouble in a home, and mend it."),
    "backup": ("upkeep", "Copy the home, while it is worked in."),
    "restore": ("upkeep", "Make a home of a backup again."),
    "erase": ("upkeep", "Take a task's or an agent's words out of the home for good."),
    "move": ("home", "Move a home into a database, out of one, or into a folder."),
    "sync": ("sync", "Meet the other machines of this home in a folder."),
    "replicas": ("sync", "See the machines of this home."),
    "home": ("home", "Show the home, make and list those of a database, settle what became of it."),
    "settings": ("home", "See and change the settings of a home."),
    "retain": ("upkeep", "Drop old prompts that render again, and old replies."),
    "completion": ("upkeep", "Print the shell's completion script."),
    "server": ("server", "Homes of a database: logins, tokens, workers."),
    "dev": ("server", "Simulate, make sample data, print schemas, export histories."),
    "database": ("database", "Prepare a PostgreSQL database for homes, and look at it."),
    "token": ("database", "Give people tokens for homes of a database, list and end them."),
    "worker": ("cluster", "Tend the homes of a database, with others on other machines."),
    "cluster": ("cluster", "See the workers of a database, and what waits for them."),
    "simulate": ("simulate", "Try the whole of it on a made-up home, by a seed."),
    "demo-data": ("demo", "Make a home of many agents and months, to ask and plot."),
    "schema": ("schemas", "Print the JSON Schema of what --json prints."),
    "export-history": ("proof", "Write a wake's history for a determinism suite."),
    "recover": ("upkeep", "Finish what a crash left undone."),
    "rebuild": ("upkeep", "Make the views anew from the logs."),
    "health": ("upkeep", "Say whether agents are awake, for machines."),
}

TOP = {
    "Tasks": "add list show edit note done undo delete search start stop today",
    "Agents": "import inbox confirm reject defer report day wake run serve demo",
}
"""What the help of the top tells, by heading."""

TOPICS = {
    "tasks": "init log summary task category label write-back conflicts settle",
    "agents": "agent template lessons rate models policy mcp notify",
    "looking-back": "wakes why journal memory messages replay at diff bisect fork prove",
    "asking": "sql metrics export eval rehearse",
    "upkeep": "status doctor recover rebuild health backup restore erase retain move sync replicas "
    "home settings completion",
    "server": "server database token worker cluster",
    "dev": "dev simulate demo-data schema export-history",
}
"""What `wakelog help TOPIC` tells: each command stands once, here or at the top."""

BRIEF = frozenset(
    "add list show edit note done undo delete search start stop today inbox confirm reject defer"
    " report day wake log summary task category label agent template lessons rate policy wakes why"
    " journal memory messages status health".split()
)
"""What is over soon, and opens a home of a database in one round trip."""
OLD = {"copy": "move"}
"""What commands of the top were called before; it goes on working, and no help tells it."""

ELSEWHERE = {
    "new": "add",
    "ls": "list",
    "rm": "delete",
    "modify": "edit",
    "check": "task check",
    "tick": "task check",
    "ask": "agent ask",
    "annotate": "note",
    "info": "show",
    "next": "list --ready",
    "active": "list --running",
    "completed": "list --status done",
    "projects": "category list",
    "tags": "label list",
    **{word: f"list --{word}" for word in ("ready", "waiting", "blocked", "overdue")},
}
"""What people type first who come from other tools."""

GARBAGE = 100_000, 20, 20
"""When to look for it: what a start brings is kept, and looking through it takes a tenth."""
PAGE_THREADS = ("wakelog-page", "wakelog-job")


def tell_commands(formatter: click.HelpFormatter, heading: str, names: str) -> None:
    """Write commands with their short helps, below a heading."""
    with formatter.section(heading):
        formatter.write_dl([(name, COMMANDS[name][1]) for name in names.split()])


class Commands(click.Group):
    """Imports a command's module when the command is used, and tells errors in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = OLD.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        load(COMMANDS[name][0])
        return prepared(KNOWN[""][cmd_name])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Whoever mistyped a command is told the nearest; none is imported for that."""
        is_asked = not (ctx.resilient_parsing or args[0].startswith("-"))
        if is_asked and args[0] not in COMMANDS.keys() | OLD:
            from difflib import get_close_matches  # only who mistyped a name waits for it

            meant = ELSEWHERE.get(args[0])
            found = [f"wakelog {meant}"] if meant else get_close_matches(args[0], COMMANDS)
            near = " or ".join(f"`{one}`" for one in found)
            hint = f" Did you mean {near}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands of every day, without importing them."""
        for heading, names in TOP.items():
            tell_commands(formatter, heading, names)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except WakelogError as error:
            if isinstance(error, KeyReused):  # of an append it has a number more
                error = KeyReused(ctx.meta.get(TYPED_KEY, ""))
            said, session = in_words(error), ctx.find_object(Session)
            said = session.hint(said) if session else said
            raise UserError(f"{said} [{error.code}]") from error

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run, and end with the exit status; every error is one line on stderr."""
        kwargs["standalone_mode"] = False
        if "_WAKELOG_COMPLETE" in os.environ:
            from adapters.cli.completion import give_values

            for one in self.params:
                give_values(one)
        typed = kwargs.get("args") or sys.argv[1:]
        # errors are to be JSON: that is asked before anybody has read the options
        wants_json = "--json" in typed[: typed.index("--") if "--" in typed else None]
        told = partial(complain, as_json=wants_json)
        try:
            came = super().main(*args, **kwargs)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(0)
        except click.UsageError as error:
            named = next((one for one in typed if one in COMMANDS), "")
            command = error.ctx.command_path if error.ctx else f"wakelog {named}".rstrip()
            because = error.format_message()
            ours = {opt for one in self.params for opt in one.opts}
            if isinstance(error, click.NoSuchOption) and error.option_name in ours:
                because = f"{error.option_name} stands before the command."
            because += "" if because.endswith((".", "?", "?)")) else "."
            told(because, instead=f"See `{command} --help`.", cause=error)
            sys.exit(2)
        except click.ClickException as error:
            told(error.format_message(), cause=error.__cause__)
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            click.echo("Stopped.", err=True)
            sys.exit(130)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            told(f"the output cannot be written: {error.strerror}", cause=error)
            sys.exit(2)
        sys.exit(came if isinstance(came, int) else 0)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"More: `wakelog help {'|'.join(TOPICS)}`, `wakelog COMMAND --help`. "
    "Begin with `wakelog demo`, or with `wakelog import TODO.md`.",
)
@option("--home=DIR", "A folder or pg:NAME; else WAKELOG_HOME, else ~/.wakelog.", click.Path())
@option("--model=M", "What to ask, see `wakelog models --help`.", default="")
@flag("--json as_json", "Print one JSON document; also behind a command.")
@flag("--quiet", "Print no progress.")
@flag("--clock-is-right", "This machine's clock, years after the log's end.")
@click.version_option(package_name="wakelog", message="wakelog %(version)s")
@click.pass_context
def cli(
    ctx: click.Context, home: str | None, model: str, *, as_json: bool, quiet: bool,
    clock_is_right: bool,
) -> None:  # fmt: skip
    """Task agents whose whole life is a log.

    Nothing an agent proposes is applied unless you confirm; all can be proved.
    """
    from adapters.home.home_location import location_of

    is_brief = ctx.invoked_subcommand in BRIEF
    where = location_of(home, os.environ, is_brief=is_brief)
    ctx.call_on_close(where.end_command)
    ctx.obj = Session(where, model=model, as_json=as_json, is_quiet=quiet, named=home or "")
    ctx.call_on_close(ctx.obj.close)
    ctx.color = False if os.environ.get("NO_COLOR") else None
    if clock_is_right:
        ctx.obj.trust_clock()


def main() -> None:
    """The console script: what it writes is its person's alone (ADR 0023)."""
    os.umask(0o077)
    gc.set_threshold(*GARBAGE)
    try:
        cli(prog_name="wakelog")
    except SystemExit as end:
        if "duckdb" not in sys.modules:  # which tells of what is not collected
            gc.freeze()  # else Python looks through all that was loaded once more, to end
        _leave(end.code if isinstance(end.code, int) else 0)
        raise


def _leave(status: int) -> None:
    """End at once where a thread of the page goes on: Python would wait for it, or die of it. What
    it does is left as a crash leaves it."""
    if any(thread.name in PAGE_THREADS for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
