"""`wakelog agent chat`: several questions in one session, a line each."""

import sys
from collections.abc import Iterator

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, json_option, pick_agent
from adapters.cli.speaking import speaker, stream_option
from domain.errors import WakelogError

PROMPT = "> "


@click.command(
    "chat",
    epilog='Example: wakelog agent chat "Fix the sink"',
)
@click.argument("agent", type=TEXT)
@click.option("--session", "name", type=TEXT, default="", metavar="S", help="Go on with a talk.")
@stream_option
@json_option
@click.pass_obj
def chat_command(session: Session, agent: str, name: str, stream: bool | None) -> None:
    """Talk with an agent: each line is a question, an empty one or Ctrl-D ends it.

    Each question is a wake of the same thread, as those of `agent ask` are. With --json each
    answer is one JSON object on a line of its own. Exit status 1: a question had no answer.
    """
    import msgspec

    from adapters.cli.waking import Question, asked, checked, tell

    agent_id = pick_agent(session.reading(), agent)
    failures = 0
    for line in _lines():
        loud = speaker(session, stream)
        try:
            got = asked(session, agent_id, Question(checked(line), name), loud)
        except WakelogError as error:
            failures += 1
            click.echo(f"Error: {error} [{error.code}]", err=True)
            continue
        name = got.session
        failures += got.has_failed
        if session.as_json:
            click.echo(msgspec.json.encode(got.document).decode())
        else:
            tell(session, got, loud)
    if name:
        session.note(f"Go on with `wakelog agent chat {agent_id[:8]} --session {name[:8]}`.")
    raise SystemExit(1 if failures else 0)


def _lines() -> Iterator[str]:
    """What is typed, up to an empty line or the end."""
    is_person = sys.stdin.isatty()
    while True:  # bounded by the input
        if is_person:
            click.echo(PROMPT, nl=False, err=True)
        line = TEXT(sys.stdin.readline())
        if not line.strip():
            return
        yield line.rstrip("\n")
