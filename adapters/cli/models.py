"""`wakelog models`: which models there are to ask, and whether they work."""

from collections.abc import Sequence

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option
from adapters.documents.models import models_document
from adapters.text.common import one_line
from adapters.text.models import NAMES_MORE, SENT, model_lines

ASK_SECONDS = 60  # a server on a slow machine loads its model first


@command("models", example=("", "--ask", "openai:fast --ask"))
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@flag("--ask", "Try each: its list of models, and one call of a tool.")
@option(
    "--seconds", "How long an answer to --ask may take.", click.IntRange(1, 600), shown=ASK_SECONDS
)
def models_command(session: Session, models: Sequence[str], *, ask: bool, seconds: int) -> None:
    """List the models that this home could ask, and what each still needs.

    Those that come with wakelog, those that settings.toml names, and those of agents and
    templates: whether a key is there, which is never shown, and what you agreed to. With --ask
    each that answers elsewhere is sent a fixed question with one tool: no text of yours, so no
    receipt is needed. A key is sent along only where you agreed to something, or named the model.
    That costs a few tokens, which no budget counts. Exit status 1: one that was tried did not call
    the tool.
    """
    home = session.reading()
    if ask:
        from adapters.usecases.probe_models import probed_models

        found = probed_models(home, models, seconds)
        session.note(SENT)
    else:
        found = models_document(home, models)
    session.printed(found)
    session.say_each(map(one_line, model_lines(found)))
    if not home.settings.models:
        session.note(NAMES_MORE)
    raise SystemExit(1 if any(one.trial and not one.trial.called for one in found) else 0)
