"""`wakelog undo`: the person's newest deed, taken back."""

from functools import partial
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, json_option, key_option
from adapters.text.common import local_time, safe

if TYPE_CHECKING:
    from adapters.documents.results import UndoableDeed
    from adapters.usecases.undoing import UndoChoice
    from adapters.wiring import Home


@command("undo", example=("", "--list", "j12"))
@click.argument("deed", default="", metavar="[DEED]")
@flag("--list is_list", "What can be undone, the newest first.")
@flag("--yes is_agreed", "Take it back without asking.")
@key_option
@json_option
def undo_command(session: Session, deed: str, key: str, *, is_list: bool, is_agreed: bool) -> None:
    """Take your newest deed back: an edit of tasks, a verdict, an import.

    All that one command or form did is undone at once, and what was changed since is never
    overwritten. Again, it goes one deed further back, twenty at most. DEED is a name of --list,
    or the name that an undo tells: that is done again then.

    It asks first where the newest deed was done elsewhere (on the page, in another terminal, by a
    program), is older than an hour, changed more than ten tasks, or something came after it here
    that nothing takes back: an agent, a label.
    """
    from adapters.text.task_facts import deed_question
    from adapters.usecases.undoing import undo_asked, why_not_undone

    if is_list:
        _list(session)
        return
    reading = session.reading()
    home = session.writing() if reading.exists else reading
    done = undo_asked(home, deed, key, None if is_agreed else partial(_agree, session, home))
    session.printed(done)
    for one in done.passed:
        session.say(safe(f"Not undone: {deed_question(one)}: {why_not_undone(one)}."))
    told, before = done.undone, " before, under this key" if done.repeated else ""
    session.say(safe(f"Undone{before}: {told.what} of {_about(told)}"))
    for line in [*told.does, *told.stays]:
        session.say(safe(f"  {line}."))
    if done.kept:
        session.say(f"  {len(done.kept)} changed since, left alone.")
    session.say(f"To do it again: `{done.redo}`.")


def _agree(session: Session, home: "Home", choice: "UndoChoice") -> None:
    """Ask whether a deed is taken back that may be another than the person thinks of. Raises
    Refused: nobody can answer."""
    from adapters.usecases.undoing import passed_over, refuse_undo, undo_question

    if not session.can_ask:
        refuse_undo(home, choice)
    for line in passed_over(home, choice):
        click.echo(safe(f"{line}."), err=True)
    if not click.confirm(safe(f"Undo {undo_question(home, choice)}?"), err=True):
        raise click.Abort


def _list(session: Session) -> None:
    from adapters.documents.results import UndoableDeeds
    from adapters.usecases import undoing
    from adapters.usecases.undoing import undo_documents

    home = session.reading()
    zone, documents = home.settings.timezone, undo_documents(home, undoing.listed(home))
    if session.as_json:
        session.document(UndoableDeeds(documents))
    elif not documents:
        session.say("Nothing to undo.")
    else:
        rows = [
            (one.ref, local_time(one.at, zone), one.what, _about(one), _how(one))
            for one in documents
        ]
        session.table(["Deed", "When", "What", "About", "Undoing it"], rows)


def _about(one: "UndoableDeed") -> str:
    """The tasks, or the proposals, of a deed."""
    names = [f'"{title}"' for title in one.tasks[:2]] or one.proposals[:3]
    more = (one.task_count or len(one.proposals)) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _how(one: "UndoableDeed") -> str:
    from adapters.usecases.undoing import why_not_undone

    match one.state:
        case "undone":
            return f"again with `{one.again}`"
        case "open":
            return "; ".join(one.does)
        case _:
            return why_not_undone(one)
