"""`wakelog category` and `wakelog label`: what tasks are sorted by."""

from typing import TYPE_CHECKING

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session
from adapters.documents.tasks import catalog_of, category_documents, label_documents
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.documents.tasks import CategoryDetails, LabelDetails

LABELS_EMPTY = (
    'No labels yet. Importing makes them from #words; or add one with `wakelog label add "name"`.'
)


@group(
    "category",
    epilog="CATEGORY is a category's name, in any case, or its id.",
    later={"category_edits": ()},
)
def category_command() -> None:
    """List, add, rename, correct and review categories."""


def all_categories(session: Session) -> "list[CategoryDetails]":
    home = session.reading()
    tasks = [one.task for one in home.views.all(VIEW)]
    with home.services.journal.reading() as world:
        return category_documents(world, tasks)


@command("category list")
def category_list(session: Session) -> None:
    """List categories, with their tasks and correction examples counted."""
    found = all_categories(session)
    if session.as_json:
        session.document(found)
        return
    rows = [(one.name, one.language, one.tasks, len(one.corrections)) for one in found]
    session.table(("Category", "Language", "Tasks", "Corrections"), rows)


@group(
    "label", epilog="LABEL is a label's name, in any case, or its id.", later={"label_edits": ()}
)
def label_command() -> None:
    """List, add, widen, delete and suppress labels."""


def all_labels(session: Session) -> "list[LabelDetails]":
    home = session.reading()
    tasks = [one for one in home.views.all(VIEW) if not one.is_deleted]
    return label_documents(
        catalog_of(home), lambda label: sum(label in one.labels for one in tasks)
    )


@command("label list")
def label_list(session: Session) -> None:
    """List labels, where they may be used, and how many tasks carry them."""
    found = all_labels(session)
    if session.as_json:
        session.document(found)
    elif found:
        rows = [(one.name, ", ".join(one.categories) or "all", one.tasks) for one in found]
        session.table(("Label", "Categories", "Tasks"), rows)
    else:
        session.say(LABELS_EMPTY)
