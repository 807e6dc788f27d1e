"""What is no change of a file (SPEC 1): names that it merely spells otherwise than before, and what
is merely read otherwise than before."""

from msgspec.structs import replace

from domain.journal.imported import ImportedTask
from domain.text import fold


def as_before(now: ImportedTask, before: ImportedTask, *, is_closed: bool = False) -> ImportedTask:
    """A task's document with category and labels spelled as the file spelled them before.

    Labels and categories are the same whatever their case; compared as they are spelled, a
    label would be removed for its new spelling. A box ``[>]`` was an open one in 0.1.0: that it is
    on hold now opens no task that `is_closed` here.

    >>> was = ImportedTask("t1", "Paint", category="Home", labels=("Green",))
    >>> now = ImportedTask("t1", "Paint", category="HOME", labels=("new", "green"))
    >>> as_before(now, was).category, as_before(now, was).labels
    ('Home', ('new', 'Green'))
    """
    spelled = {fold(name): name for name in before.labels}
    labels = tuple(spelled.get(fold(name), name) for name in now.labels)
    is_same = fold(now.category) == fold(before.category)
    if is_closed and now.status == "ON HOLD" and not before.status:
        now = replace(now, status="", status_reason="")
    return replace(now, labels=labels, category=before.category if is_same else now.category)
