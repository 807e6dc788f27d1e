"""Tasks as a Markdown file that imports to the same state (ADR 53)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.listing import Wanted, fits
from adapters.documents.tasks import catalog_of
from adapters.home.files import check_no_database, make_file, replace_file
from domain.errors import Refused
from domain.journal.document import category_name, label_name
from domain.journal.fold import TASK
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from projections.tasks import MARKS, VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.journal.catalog import Catalog
    from domain.journal.task import Task
    from domain.world import World


class Exported(NamedTuple):
    """The file as a text, and how many tasks stand in it."""

    text: str
    tasks: int


def exported(home: "Home", scope: str, wanted: Wanted) -> Exported:
    """The tasks of a scope (see `MARKS`) that are wanted, in the order they came in."""
    from adapters.importers.exported import markdown

    catalog = catalog_of(home)
    found = [one.id for one in home.views.marked(VIEW, MARKS[scope]) if fits(one, wanted, "")]
    with home.services.journal.reading() as world:
        tasks = [world.load(TASK, one) for one in found]
        documents = [document_of(one, world, catalog) for one in tasks]
    links = [(one.id, link.relation, link.target) for one in tasks for link in one.links]
    return Exported(markdown(documents, links), len(tasks))


def document_of(task: "Task", world: "World", catalog: "Catalog") -> ImportedTask:
    """A task as a file says it, what is so by default left out."""
    items: Sequence[ImportedItem] = [
        ImportedItem(item.title, item.is_checked) for item in task.items if not item.is_archived
    ]
    return ImportedTask(
        task.id,
        task.title,
        category=category_name(catalog, task.category),
        status="" if task.status == "OPEN" else task.status,
        status_reason=task.status_reason,
        priority="" if task.priority == "P2" else task.priority,
        estimate=task.estimate,
        due=task.due,
        labels=tuple(label_name(catalog, label) for label in task.labels),
        description=world.text(task.description),
        items=tuple(items),
        notes=tuple(ImportedNote(world.text(note.words)) for note in task.notes),
    )


def keep_text(file: Path, text: str, *, is_replacing: bool) -> None:
    """Write a file whole or not at all; one that is there only if it shall be replaced.

    Raises:
        Refused: It is there, or cannot be written.
    """
    target = file.resolve()
    check_no_database(target)
    if target.exists() and not target.is_file():
        raise Refused("invalid_value", because=f"{file} is no file", instead="name another one")
    try:
        if is_replacing:
            replace_file(target, text)
        elif not make_file(target, text):
            instead = "name another one, or say --replace"
            raise Refused("invalid_value", because=f"{file} is there already", instead=instead)
    except OSError as error:
        because = f"{file} cannot be written: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another file") from None
