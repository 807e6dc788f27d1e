"""`wakelog category` and `wakelog label`: what tasks are sorted by."""

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session
from adapters.documents.tasks import category_lines, label_lines

LABELS_EMPTY = (
    'No labels yet. Importing makes them from #words; or add one with `wakelog label add "name"`.'
)


@group(
    "category",
    epilog="CATEGORY is a category's name, in any case, or its id.",
    later={"catalog_edits": ()},
)
def category_command() -> None:
    """List, add, rename, correct and review categories."""


@command("category list")
def category_list(session: Session) -> None:
    """List categories, with their tasks and correction examples counted."""
    found = category_lines(session.reading())
    session.printed(found)
    rows = [(one.name, one.language, one.tasks, len(one.corrections)) for one in found]
    session.table(("Category", "Language", "Tasks", "Corrections"), rows)


@group(
    "label", epilog="LABEL is a label's name, in any case, or its id.", later={"catalog_edits": ()}
)
def label_command() -> None:
    """List, add, widen, delete and suppress labels."""


@command("label list")
def label_list(session: Session) -> None:
    """List labels, where they may be used, and how many tasks carry them."""
    found = label_lines(session.reading())
    rows = ((one.name, ", ".join(one.categories) or "all", one.tasks) for one in found)
    session.listing(found, ("Label", "Categories", "Tasks"), rows, LABELS_EMPTY)
