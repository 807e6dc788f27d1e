"""The tools of an agent that looks over a category (ADR 104): a task that it proposes, and a
question to the agent of a task that it was shown, which other agents without a task may ask too."""

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta
from msgspec.structs import asdict

from domain.journal.task import MINUTES_MAX
from domain.tools.arguments import (
    DESCRIPTION_MAX,
    TITLE_MAX,
    AddChecklistItem,
    Arguments,
    TaskPriority,
    id_of,
    list_of,
    text_of,
)
from domain.tools.base import Tool, ToolEffect
from domain.tools.followups import new_task_summary

CREATE, ASK = "create_task", "ask_agent"

About = Literal["fits_today", "estimate", "blocked", "stale"]
ABOUT: Final[tuple[str, ...]] = get_args(About)


class CreateTask(Arguments, frozen=True):
    title: Annotated[str, text_of(TITLE_MAX, "Its title, in one line.")]
    description: Annotated[
        str, text_of(DESCRIPTION_MAX, "What it is about, where the title does not say it.", "text")
    ] = ""
    due_date: Annotated[str, text_of(10, "The day it is due, YYYY-MM-DD.", "date")] = ""
    priority: Annotated[TaskPriority | None, Meta(description="P0 is the most urgent.")] = None
    estimate_minutes: (
        Annotated[int, Meta(ge=1, le=MINUTES_MAX, description="Its duration in minutes.")] | None
    ) = None
    items: Annotated[tuple[AddChecklistItem, ...], list_of("Its checklist.", least=0)] = ()


class NewTask(CreateTask, frozen=True):
    """A task as a person decides on it."""

    category: Annotated[str, id_of("Its category's id.")] = ""


class AskAgent(Arguments, frozen=True):
    task_id: Annotated[str, id_of("A task's id, from what you were shown.")]
    about: Annotated[
        About,
        Meta(
            description="fits_today: whether it fits into today; estimate: whether that is right; "
            "blocked: by what; stale: whether it is wanted still."
        ),
    ]


TOOLS = (
    Tool(
        name=CREATE,
        since=5,
        brief="Propose a task of the category that is plainly called for and is not there.",
        description="",
        arguments=CreateTask,
        element=NewTask,
        fills=lambda snapshot, given: NewTask(**asdict(given), category=snapshot.category),
        effect=ToolEffect(
            facts=lambda _, __, ___: (),
            values=lambda _, __: [],
            touches=lambda given: (f"category:{given.category}",),
            summary=lambda _, given: new_task_summary(
                "Create task", given, [one.title for one in given.items]
            ),
            form={
                "title": "Title",
                "description": "Description",
                "dueDate": "Due on",
                "priority": "Priority",
                "estimateMinutes": "Estimate in minutes",
            },
        ),
        capabilities=("task.propose_new",),
        scope="own_category",
        entities=("task", "checklist", "item"),
        tokens=("TASK", "CHECKLIST", "CHECKLIST_ITEM"),
    ),
    Tool(
        name=ASK,
        since=5,
        brief="Ask the agent of a task; its answer comes in its own report, later.",
        description="",
        arguments=AskAgent,
        mode="local",
        capabilities=("agent.ask",),
        output="domain.wake.wake:RequestStaged",
        scope="tasks_shown",
        idempotency="wake",
        entities=("agent",),
        tokens=(),
    ),
)
