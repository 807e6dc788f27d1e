"""One writing command on tasks: finds what is named, does the deed, tells the outcome."""

import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.lazy_groups import keyed
from adapters.cli.param_types import text, warn_of_secrets
from adapters.cli.shared import Session
from adapters.documents.tasks import task_page
from adapters.text.common import ID_SHOWN, safe
from adapters.text.remedies import WORDS
from adapters.text.task import stopped
from adapters.usecases.resolve import nth_key, pick_again, pick_note, pick_part
from adapters.usecases.tasks import UseCaseResult, on_tasks
from domain.errors import Refused, WakelogError, invalid
from domain.journal.task import ChecklistItem, Task

if TYPE_CHECKING:
    from adapters.wiring import Home


ASKED_ABOVE = 10
"""Tasks; who changes more at once is asked."""


class Editing:
    """One run of a command: what it names, the deed it does, and what is told of it.

    The home is made by the first append, not before: a mistyped command leaves no folder.
    """

    def __init__(self, session: Session, key: str) -> None:
        self.session = session
        self.has_changed = False
        self.stopped: tuple[str, ...] = ()
        self.is_retry = False
        self.next = ""  # the task that follows
        self.unblocked: tuple[str, ...] = ()
        self.made: tuple[str, ...] = ()
        self.key = key

    def task(self, wanted: str, *, is_deleted: bool = False) -> Task:
        """The task that a word names, see `pick_again`."""
        return pick_again(self.session.reading(), wanted, self.key, is_deleted=is_deleted)

    def item(self, task: Task, wanted: str) -> "ChecklistItem":
        """The item that a word names."""
        return pick_part(self.session.reading(), task, wanted, self.key)

    def note(self, task: Task, wanted: str) -> str:
        """The id of the note that a word names."""
        return pick_note(self.session.reading(), task, wanted, self.key)

    @property
    def home(self) -> "Home":
        """Where the deed is done."""
        return self.session.writing()

    def did(self, kept: "UseCaseResult") -> "UseCaseResult":
        """Remember what came of the run's deed, for telling it."""
        self.has_changed, self.is_retry = kept.has_changed, kept.is_repeated
        self.stopped, self.unblocked, self.made = kept.stopped, kept.unblocked, kept.made
        return kept

    def tell(self, done: str, task_id: str) -> None:
        """Say what was done and to which task, or print its document."""
        home = self.session.reading()
        page = task_page(home, task_id)
        if self.session.as_json:
            self.session.document(page.document())
            return
        timer = stopped(page.task, self.stopped)
        self.session.say(f"{self.outcome(done)}: {named(page.task)}{timer}")
        self.tell_made()

    def tell_made(self) -> None:
        """Say which labels and category were made with what was done."""
        for one in self.made:
            self.session.note(f"Made {one}.")

    def outcome(self, done: str) -> str:
        """What to say: done, done by an earlier run with this key, or nothing to do."""
        if self.has_changed:
            return done
        return f"Done before under the key {self.key}" if self.is_retry else "Nothing to change"


def on_task(
    words: str, *arguments: str, done: str, example: str,
    tell: Callable[[Editing, str, str], None] = Editing.tell, is_deleted: bool = False,
    **settings: Any,
) -> Callable[[Callable[..., "UseCaseResult"]], click.Command]:  # fmt: skip
    """A command on the TASK that is named first: the function does it, `done` is what was done."""

    def made(deed: Callable[..., "UseCaseResult"]) -> click.Command:
        @wraps(deed)
        def run(session: Session, /, task: str, key: str, **given: Any) -> None:
            editing = Editing(session, key)
            found = editing.task(task, is_deleted=is_deleted)
            editing.did(deed(editing, found, **given))
            tell(editing, done, found.id)

        return keyed(words, "task", *arguments, example=example, **settings)(run)

    return made


def on_each(
    session: Session, wanted: Sequence[str], key: str, done: str,
    deed: Callable[["Home", str, str], "UseCaseResult"], *, is_list: bool = False,
    is_asked: bool = False,
) -> None:  # fmt: skip
    """Do a deed to each of some tasks, all looked up before the first, and tell of each; to `undo`
    they are one. `key` is of the first; the nth has one made of it. `is_list`: the document of one
    task is a list, too; `is_asked`: before more than `ASKED_ABOVE` tasks somebody has to agree."""
    runs = [Editing(session, nth_key(key, n + 1) if n else key) for n in range(len(wanted))]
    found = {one.task(task).id: one for one, task in zip(runs, wanted, strict=True)}
    if is_asked and len(found) > ASKED_ABOVE and not session.is_agreed:
        if not session.can_ask:
            raise invalid(f"these are {len(found)} tasks", "say --yes to mean them all")
        click.confirm(f"These are {len(found)} tasks. Go on?", abort=True, err=True)
    keys = {task_id: one.key for task_id, one in found.items()}
    for task_id, kept in on_tasks(session.writing(), keys, deed):
        one = found[task_id]
        one.did(kept)
        one.next = next(iter(kept.ids[1:]), "")
    home = session.reading()
    pages = [task_page(home, task_id) for task_id in found]
    if session.as_json:
        documents = [page.document() for page in pages]
        session.document(documents if is_list or len(documents) > 1 else documents[0])
    for page in pages:
        one = found[page.task.id]
        timer = stopped(page.task, one.stopped)
        session.say(f"{one.outcome(done)}: {named(page.task)}{timer}")
        if one.next:
            told = task_page(home, one.next).task
            due = f", due {told.due}" if told.due else ""
            session.say(f"  Next: {named(told)}{due}")
        for freed in one.unblocked:
            session.say(f"  Unblocked: {named(task_page(home, freed).task)}")
        one.tell_made()


def edit_in_editor(session: Session, wanted: Sequence[str], key: str, *, is_last: bool) -> None:
    """Let a person change a task as a text, where a terminal and an editor are. Until it is
    written, the text is kept in a file."""
    is_shown = session.can_ask and any(map(os.environ.get, ("VISUAL", "EDITOR")))
    if len(wanted) > 1 or not is_shown:
        instead = "give an option, as in --status done; on a terminal, with EDITOR set, one task "
        instead += "alone is opened in it; see `wakelog edit --help`"
        raise invalid("nothing is named that shall change", instead)
    from adapters.usecases import edit_text  # only who edits so waits for it

    before = edit_text.text_of(session.reading(), Editing(session, key).task(wanted[0]).id)
    after = click.edit(before.text, extension=".md")
    if after is None or after == before.text:
        session.note("Nothing was changed.")
        return
    said = text(after)
    warn_of_secrets(said, "the text")
    from tempfile import NamedTemporaryFile  # only who has an editor waits for it

    with NamedTemporaryFile(prefix="wakelog-", suffix=".md", delete=False) as kept:
        kept.write(said.encode())

    def deed(home: "Home", _: str, key: str) -> "UseCaseResult":
        return edit_text.edit_as_text(home, before, said, key, is_last=is_last)

    try:
        on_each(session, [before.task.id], key, "Changed", deed)
    except WakelogError as error:
        instead = f"{error.instead_in(WORDS)}; your text is in {kept.name}"
        raise Refused(error.code, because=error.because, instead=instead) from error
    Path(kept.name).unlink()


def named(task: Task) -> str:
    """A task's title and short id, for one line."""
    return f'"{safe(task.title)}" ({task.id[:ID_SHOWN]})'
