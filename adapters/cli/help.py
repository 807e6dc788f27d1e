"""`wakelog help`: of a command, or of the commands that the help of the top does not tell."""

from collections.abc import Sequence

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session
from domain.errors import invalid


@command("help", "[words...]=[TOPIC|COMMAND...]", example=("", "upkeep", "task link"))
def help_command(_: Session, words: Sequence[str]) -> None:
    """Tell of a command, or of a topic's commands: tasks, agents, looking-back, asking, upkeep,
    server or dev."""
    from adapters.cli.main import TOPICS, tell_commands

    here = click.get_current_context()
    ctx = here.find_root()
    if len(words) == 1 and words[0] in TOPICS:
        formatter = here.make_formatter()
        tell_commands(formatter, f"More on {words[0].replace('-', ' ')}", TOPICS[words[0]])
        click.echo(formatter.getvalue().rstrip("\n"))
        return
    for word in words:
        group = ctx.command
        found = group.get_command(ctx, word) if isinstance(group, click.Group) else None
        if found is None:
            instead = f"see `wakelog help`, or `wakelog help {'|'.join(TOPICS)}`"
            raise invalid(f"there is no command {' '.join(words)!r}", instead)
        ctx = click.Context(found, info_name=word, parent=ctx)
    click.echo(ctx.get_help())
