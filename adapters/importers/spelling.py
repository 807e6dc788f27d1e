"""Names that a file merely spells otherwise than before are no change of the file (SPEC 1)."""

from msgspec.structs import replace

from domain.journal.imported import ImportedTask
from domain.text import fold


def as_before(now: ImportedTask, before: ImportedTask) -> ImportedTask:
    """A task's document with category and labels spelled as the file spelled them before.

    Labels and categories are the same whatever their case; compared as they are spelled, a
    label would be removed for its new spelling.

    >>> was = ImportedTask("t1", "Paint", category="Home", labels=("Green",))
    >>> now = ImportedTask("t1", "Paint", category="HOME", labels=("new", "green"))
    >>> as_before(now, was).category, as_before(now, was).labels
    ('Home', ('new', 'Green'))
    """
    spelled = {fold(name): name for name in before.labels}
    labels = tuple(spelled.get(fold(name), name) for name in now.labels)
    is_same = fold(now.category) == fold(before.category)
    return replace(now, labels=labels, category=before.category if is_same else now.category)
