"""The tools that look something up and change nothing (ADR 42). What they answer with follows
from both logs: `domain.wake.reads`."""

from functools import partial

from domain.tools.arguments_tasks import FindTasks, ReadTask, Recall
from domain.tools.definitions import Tool

READS_MAX = 6  # of one wake

_read = partial(
    Tool,
    hint=f"look further; {READS_MAX} in one wake",
    mode="read",
    since=2,
    idempotency="changes_nothing",
    entities=(),
    tokens=(),
)
_of_tasks = partial(
    _read,
    capabilities=("category.read",),
    output="domain.wake.reads:TasksFound",
    scope="allowed_categories",
)

TOOLS = (
    _of_tasks(
        name="find_tasks",
        description=(
            "Look for other tasks by words of their titles, the best match first. Answers with "
            "their ids, titles and statuses."
        ),
        arguments=FindTasks,
    ),
    _of_tasks(
        name="read_task",
        description="Read another task: its fields, its checklist, what its agent reports of it.",
        arguments=ReadTask,
    ),
    _read(
        name="recall",
        description=(
            "Look into your own past and the log of your task, further back than you are shown: "
            "observations, reports, verdicts, notes, changes of status and items. Every word has "
            "to be there; the newest come first, with their dates."
        ),
        arguments=Recall,
        capabilities=("journal.read",),
        output="domain.wake.reads:Recalled",
        scope="own_past",
    ),
)
