"""What a person does to the catalog, what tasks are sorted by: its categories and its labels.

Each deed is a command of the journal, appended under its key; the first id is the category's, or
the label's.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapters.actions.tasks import Kept, keep
from domain.errors import invalid
from domain.journal import commands as do
from domain.text import squeeze
from domain.wire import SHARED, payload

if TYPE_CHECKING:
    from adapters.wiring import Home


def add_category(home: "Home", name: str, language: str = "", key: str = "") -> Kept:
    """Add a category; one of that name changes nothing."""
    return keep(home, do.AddCategory(name, language), key)


def rename_category(home: "Home", category: str, name: str, key: str = "") -> Kept:
    """Give a category, by name or id, another name; its tasks stay in it."""
    return keep(home, do.RenameCategory(category, name), key)


def correct_category(home: "Home", category: str, before: str, after: str, key: str = "") -> Kept:
    """Note in a category what was written, and what it should have been."""
    check_correction(before, after)
    texts = [payload(SHARED, text.encode()) for text in (before, after)]
    command = do.AddCorrection(category, texts[0].id, texts[1].id)
    return keep(home, command, key, payloads=texts)


def check_correction(before: str, after: str) -> None:
    """Look whether two texts show a correction.

    Raises:
        Refused: Code ``invalid_value``.
    """
    if not squeeze(before) or not squeeze(after) or before == after:
        instead = "give two different texts, the wrong one first"
        raise invalid("the example shows no correction", instead)


def add_label(home: "Home", name: str, categories: Sequence[str] = (), key: str = "") -> Kept:
    """Add a label that agents may propose; of some categories, by name or id, or of all."""
    return keep(home, do.AddLabel(name, tuple(categories)), key)


def delete_label(home: "Home", label: str, key: str = "") -> Kept:
    """Take a label, by name or id, out of use; tasks that carry it keep it."""
    return keep(home, do.DeleteLabel(label), key)
