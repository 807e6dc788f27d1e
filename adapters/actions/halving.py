"""Some tasks of a file may be refused, and the others are taken."""

from collections.abc import Callable, Sequence

from adapters.documents.tasks import ImportReport
from adapters.text.remedies import in_words
from domain.errors import Refused
from domain.journal.imported import ImportedTask, Unreadable

NOT_A_TASKS = ("key_reused", "read_only", "replaced")
"""Codes of what no single task is the reason of: a full disk, for example."""


def in_halves(
    tasks: Sequence[ImportedTask],
    do: Callable[[Sequence[ImportedTask]], None],
    report: ImportReport,
) -> None:
    """Do something with tasks; with halves of what is refused, down to the one that is the reason.

    Raises:
        Refused: What no single task is the reason of.
    """
    try:
        do(tasks)
    except Refused as refused:
        if refused.code in NOT_A_TASKS:
            raise
        if len(tasks) == 1:
            why = f"{tasks[0].title!r} was left out: {in_words(refused)}"
            report.unreadable = (*report.unreadable, Unreadable(0, why))
            return
        middle = len(tasks) // 2
        in_halves(tasks[:middle], do, report)
        in_halves(tasks[middle:], do, report)
