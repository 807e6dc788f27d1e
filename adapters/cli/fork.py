"""What if? `wakelog fork`."""

import shlex
from typing import Any

import click

from adapters.cli.lazy_groups import command
from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session, option
from adapters.documents.timetravel import ForkDetails
from adapters.text.common import ID_SHOWN
from adapters.text.timetravel import sides_lines, wakes_lines
from adapters.timetravel.fork import TOKENS_MAX
from adapters.usecases.forks import ForkRequest, fork_wake


@command(
    "fork",
    "run=RUN[.STEP]",
    example=(
        "nb5evlz4 --model gemini",
        "nb5evlz4.64 --model rules",
        'nb5evlz4 --note "Fix the sink.1" "Due by 2027-03-01."',
        "nb5evlz4 --verdict 3.1=reject",
        "nb5evlz4 --template Calm.2 --model gemini",
    ),
)
@option("--model=M", "Who answers what is new.", default="")
@option(
    "--template=T[.N]",
    "It lives on template T, at version N or the active one; `built-in`: on none.", default="",
)  # fmt: skip
@option(
    "--note notes=TASK[.N] TEXT", "Note N of a task says TEXT; without N it has one more.",
    (TEXT, TEXT), multiple=True,
)  # fmt: skip
@option("--verdict verdicts=SET.ITEM=confirm|reject", "An item was decided so.", multiple=True)
@option(
    "--tokens tokens_max=N", "A model that is paid may take so many.", click.IntRange(min=1),
    shown=TOKENS_MAX,
)  # fmt: skip
@option("--out=DIR", "A new folder for the fork.", default="")
def fork_command(session: Session, /, run: str, **options: Any) -> None:
    """Run a wake again with something else in its world, in a home of its own.

    Your journal and agent log are only read. Recorded answers are used for as long as the request
    is byte for byte the recorded one; then the model given is asked, with --note the home's, or the
    fork stops. A fork of a home in a database is kept in this machine's cache, and no other machine
    finds it. With RUN.STEP the wake goes on from that step, with another model. What happened
    between another verdict and the wake happens again in that world, where models answer what they
    answered. Exit status 1: the fork stopped before its end.

    A model that is paid takes of your budgets: what it took today counts into the day, and one such
    fork is made at a time. It is sent only what you agreed to.

    Every answer is marked: recorded; live, of a language model; stub, of `rules` or a tape.
    """
    wish = ForkRequest(**options)  # click gives them by these names
    wish = wish._replace(model=wish.model or session.model)
    home = session.reading()
    with session.home_bar(home, "Forking") as progress:
        document = fork_wake(home, run, wish, progress)
    if not session.printed(document):
        _tell(session, document)
    raise SystemExit(1 if document.stopped else 0)


def _tell(session: Session, document: ForkDetails) -> None:
    run = document.run_key[:ID_SHOWN]
    session.say(f"forked wake {run} as of {document.agent} into {document.home}")
    for one in document.answers:
        session.say(f"turn {one.turn}  {one.how} answer of {one.model}")
    if document.left_out:
        left = document.left_out
        session.say(f"{left} recorded causes were left out: the fork's world refuses them")
    if document.stopped:
        session.say(f"stopped: {document.stopped}; go on with --model M", style="yellow")
    session.say()
    session.lines(sides_lines("as it was recorded", "in the fork"))
    session.lines(wakes_lines(document.diff))
    home, there = shlex.quote(document.home), document.forked_run_key[:ID_SHOWN]
    session.note(f"\nIt is a home: `wakelog --home {home} show {there}`; delete it at will.")
