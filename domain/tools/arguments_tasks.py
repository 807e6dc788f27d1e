"""The arguments of the tools about other tasks: follow-ups, links, and looking things up.

STORAGE FORMAT for the singular ones, see `domain.tools.arguments`.
"""

from typing import Annotated, Literal

from msgspec import Meta

from domain.tools.arguments import BATCH_MAX, TITLE_MAX, Arguments, id_of, text_of

DESCRIPTION_MAX = 4_000
WORDS_MAX = 200
FOUND_MAX = 10
RECALLED_MAX = 8

FollowUpRelation = Literal["follows_up_on", "relates_to", "blocks"]
LinkPhrase = Literal[
    "relates_to",
    "blocks",
    "is_blocked_by",
    "follows_up_on",
    "has_follow_up",
    "duplicates",
    "is_duplicated_by",
    "fixes",
    "is_fixed_by",
    "supersedes",
    "is_superseded_by",
]
TargetId = Annotated[
    str,
    id_of("The other task's id: a linked one, one that you found, or your new follow-up task."),
]


class CarriedItem(Arguments, frozen=True):
    """An item to carry over."""

    id: Annotated[str, id_of("The item's id.")]


class CreateFollowUpTask(Arguments, frozen=True):
    title: Annotated[str, text_of(TITLE_MAX, "The new task's title, in one line.")]
    description: Annotated[
        str, text_of(DESCRIPTION_MAX, "What it is about, where the title does not say it.", "text")
    ] = ""
    due_date: Annotated[str, text_of(10, "The day it is due, YYYY-MM-DD.", "date")] = ""
    priority: Annotated[
        Literal["P0", "P1", "P2", "P3"] | None, Meta(description="P0 is the most urgent.")
    ] = None
    relation: Annotated[
        FollowUpRelation | None,
        Meta(description="How the new task is related to this one; follows_up_on if left out."),
    ] = None
    carry_over: Annotated[
        tuple[CarriedItem, ...],
        Meta(
            min_length=0,
            max_length=BATCH_MAX,
            description="Open items that move from this task to the new one.",
        ),
    ] = ()


class MigrateChecklistItem(Arguments, frozen=True):
    """The singular form: one item moves."""

    id: Annotated[str, id_of("The item's id.")]
    target_task_id: TargetId


class MigrateChecklistItems(Arguments, frozen=True):
    items: Annotated[
        tuple[CarriedItem, ...],
        Meta(min_length=1, max_length=BATCH_MAX, description="The items that move."),
    ]
    target_task_id: TargetId


class ProposeLink(Arguments, frozen=True):
    relation: Annotated[LinkPhrase, Meta(description="How this task is related to the other one.")]
    target_task_id: TargetId


_Words = Annotated[str, text_of(WORDS_MAX, "Words to look for, whatever their case.")]


class FindTasks(Arguments, frozen=True):
    words: _Words
    status: Annotated[
        Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED"] | None,
        Meta(description="Only tasks of this status."),
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=FOUND_MAX)] | None,
        Meta(description=f"At most; {FOUND_MAX} if left out."),
    ] = None


class ReadTask(Arguments, frozen=True):
    task_id: Annotated[str, id_of("The task's id, as find_tasks gave it.")]


class Recall(Arguments, frozen=True):
    words: _Words
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=RECALLED_MAX)] | None,
        Meta(description=f"At most; {RECALLED_MAX} if left out."),
    ] = None
