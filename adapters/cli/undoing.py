"""`wakelog undo`: the person's newest deed, taken back."""

from typing import TYPE_CHECKING

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, json_option, key_option
from adapters.text.common import local_time, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.documents.deeds import UndoableDeed


@click.command("undo", epilog="Examples: wakelog undo; wakelog undo --list; wakelog undo j12")
@click.argument("deed", type=TEXT, default="", metavar="[DEED]")
@click.option("--list", "is_list", is_flag=True, help="What can be undone, the newest first.")
@key_option
@json_option
@click.pass_obj
def undo_command(session: Session, deed: str, key: str, *, is_list: bool) -> None:
    """Take your newest deed back: an edit of tasks, a verdict, an import.

    All that one command or form did is undone at once, and what was changed since is never
    overwritten. Again, it goes one deed further back, twenty at most. DEED is a name of --list,
    or the name that an undo tells: that is done again then.
    """
    from adapters.actions import undoing
    from adapters.actions.telling_deeds import deed_document
    from adapters.documents.deeds import UndoableDeeds, UndoneDeed

    if is_list:
        home = session.reading()
        zone = home.settings.timezone
        documents = [deed_document(home, one) for one in undoing.deeds(home)]
        if session.as_json:
            session.document(UndoableDeeds(documents))
        elif not documents:
            session.say("Nothing to undo.")
        else:
            session.table(
                ["Deed", "When", "What", "About", "Undoing it"],
                [
                    (one.ref, local_time(one.at, zone), one.what, _about(one), _how(one))
                    for one in documents
                ],
            )
        return
    reading = session.reading()
    home = session.writing() if reading.exists else reading
    done = undoing.undo(home, deed, key)
    home = session.reading()
    told = deed_document(home, done.deed)
    passed = [deed_document(home, one) for one in done.passed]
    redo = " && ".join(_again(done.deed.what, told.proposals, done.redo))
    if session.as_json:
        session.document(UndoneDeed(told, redo, [*done.kept], passed, done.is_repeated))
        return
    for one in passed:
        session.say(safe(f"Not undone: {one.what} of {_about(one)}: {'; '.join(one.stays)}."))
    again = " before, under this key" if done.is_repeated else ""
    session.say(safe(f"Undone{again}: {told.what} of {_about(told)}"))
    for line in [*told.does, *told.stays]:
        session.say(safe(f"  {line}."))
    if done.kept:
        session.say(f"  {len(done.kept)} changed since, left alone.")
    session.say(f"To do it again: `{redo}`.")


def _about(one: "UndoableDeed") -> str:
    """The tasks, or the proposals, of a deed."""
    names = [f'"{title}"' for title in one.tasks[:2]] or one.proposals[:3]
    more = len(one.tasks or one.proposals) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _how(one: "UndoableDeed") -> str:
    match one.state:
        case "moved":
            return "changed since"
        case "stays":
            return "; ".join(one.stays) or "nothing takes it back"
        case _:
            return "; ".join(one.does)


def _again(what: str, refs: list[str], redo: str) -> "Iterator[str]":
    """The commands that do a deed again: its verdicts, then its edits."""
    if refs:
        verb = next((one for one in ("confirm", "defer") if what.startswith(one)), "reject")
        yield " ".join(["wakelog", verb, *refs])
    if redo:
        yield f"wakelog undo {redo}"
