"""`wakelog agent chat`: several questions in one session, a line each."""

import sys
from collections.abc import Iterator

import click
import msgspec

from adapters.actions.naming import pick_agent
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session
from adapters.cli.speaking import speaker, stream_option
from adapters.cli.waking import Question, asked, tell
from adapters.text.remedies import in_words
from domain.errors import WakelogError

PROMPT = "> "


@click.command(
    "chat",
    epilog='Example: wakelog agent chat "Fix the sink"',
)
@click.argument("agent", type=TEXT)
@click.option("--session", "name", type=TEXT, default="", metavar="S", help="Go on with a talk.")
@stream_option
@click.pass_obj
def chat_command(session: Session, agent: str, name: str, stream: bool | None) -> None:
    """Talk with an agent: each line is a question, an empty one or Ctrl-D ends it.

    Each question is a wake of the same thread, as those of `agent ask` are. With --json each
    answer is one JSON object on a line of its own. Exit status 1: a question had no answer.
    """
    agent_id = pick_agent(session.reading(), agent)
    talk = _Talk(session, agent_id, name, stream=stream)
    try:
        for line in _lines():
            talk.ask(line)
    finally:
        if talk.name:
            told = f"wakelog agent chat {agent_id[:8]} --session {talk.name[:8]}"
            session.note(f"Go on with `{told}`.")
    raise SystemExit(1 if talk.failures else 0)


class _Talk:
    """Questions and answers of one session."""

    def __init__(self, session: Session, agent_id: str, name: str, *, stream: bool | None) -> None:
        self._session = session
        self._agent_id = agent_id
        self._stream = stream
        self.name = name  # empty until the first question is answered
        self.failures = 0

    def ask(self, line: str) -> None:
        loud = speaker(self._session, self._stream)
        try:
            got = asked(self._session, self._agent_id, Question(line, self.name), loud)
        except WakelogError as error:
            self.failures += 1
            click.echo(f"Error: {in_words(error)} [{error.code}]", err=True)
            return
        self.name = got.session
        self.failures += got.has_failed
        if self._session.as_json:
            click.echo(msgspec.json.encode(got.document).decode())
        else:
            tell(self._session, got, loud)


def _lines() -> Iterator[str]:
    """What is typed, up to an empty line or the end."""
    is_person = sys.stdin.isatty()
    while True:  # bounded by the input
        line = TEXT(_typed() if is_person else sys.stdin.readline())
        if not line.strip():
            return
        yield line.rstrip("\n")


def _typed() -> str:
    """A line that a person types; a key that ends it leaves the cursor in a line of its own."""
    click.echo(PROMPT, nl=False, err=True)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        click.echo(err=True)
        raise click.Abort from None
    if not line:
        click.echo(err=True)
    return line


COMMANDS: tuple[click.Command, ...] = (chat_command,)  # below `agent`
