"""The tools that look something up and change nothing (ADR 42). What they answer with follows
from both logs: `domain.wake.reads`."""

from domain.tools.arguments import FindTasks, ReadTask, Recall
from domain.tools.definitions import Tool

READS_MAX = 6  # of one wake
HINT = f"look further; {READS_MAX} in one wake"

TOOLS = (
    Tool(
        name="find_tasks",
        description=(
            "Look for other tasks by words of their titles, the best match first. Answers with "
            "their ids, titles and statuses."
        ),
        hint=HINT,
        mode="read",
        since=2,
        arguments=FindTasks,
        capabilities=("category.read",),
        output="domain.wake.reads:TasksFound",
        idempotency="changes_nothing",
        scope="allowed_categories",
        entities=(),
        tokens=(),
    ),
    Tool(
        name="read_task",
        description="Read another task: its fields, its checklist, what its agent reports of it.",
        hint=HINT,
        mode="read",
        since=2,
        arguments=ReadTask,
        capabilities=("category.read",),
        output="domain.wake.reads:TasksFound",
        idempotency="changes_nothing",
        scope="allowed_categories",
        entities=(),
        tokens=(),
    ),
    Tool(
        name="recall",
        description=(
            "Look into your own past and the log of your task, further back than you are shown: "
            "observations, reports, verdicts, notes, changes of status and items. Every word has "
            "to be there; the newest come first, with their dates."
        ),
        hint=HINT,
        mode="read",
        since=2,
        arguments=Recall,
        capabilities=("journal.read",),
        output="domain.wake.reads:Recalled",
        idempotency="changes_nothing",
        scope="own_past",
        entities=(),
        tokens=(),
    ),
)
