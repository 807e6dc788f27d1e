"""What a refusal says to do, in the words of the command line."""

from collections.abc import Mapping
from typing import Final

from domain.errors import RemedyName, WakelogError

WORDS: Final[Mapping[RemedyName, str]] = {
    "allow_category": "allow it with `wakelog agent set --category`, or move the task",
    "allow_sending": "see what is sent, and agree with `wakelog policy allow {}`",
    "assign_other_template": ("give them another with `wakelog template assign`, or destroy them"),
    "assign_template": "give it to an agent with `wakelog template assign TASK {}`",
    "await_wake": "decide when it has, see `wakelog inbox`",
    "await_wake_or_recover": "wait for it, or finish what a crash left with `wakelog recover`",
    "create_agent": "make a new one for its task with `wakelog agent create`",
    "destroy_agent": "destroy it first with `wakelog agent destroy`",
    "give_task_agent": "make one with `wakelog agent create TASK`",
    "pause_agent": "stop it with `wakelog agent pause TASK`",
    "recover_wake": "resume it with `wakelog recover`",
    "rename_category": "give one another name with `wakelog category rename {} NAME`",
    "restore_task": "bring it back with `wakelog task restore {}`",
    "restore_task_and_resume": "restore it with `wakelog task restore` and resume the agent",
    "resume_agent": "resume it first with `wakelog agent resume`",
    "see_agent": "see `wakelog agent show`",
    "see_agents": "see `wakelog agent list`",
    "see_agents_one_a_task": "see `wakelog agent list`; a new one needs the old one destroyed",
    "see_all_items": "see `wakelog inbox --all` for the items there are",
    "see_all_proposals": "see `wakelog inbox --all`",
    "see_categories": "see `wakelog category list`, or add it with `wakelog category add`",
    "see_labels": "see `wakelog label list`, or add it with `wakelog label add`",
    "see_open_proposals": "see `wakelog inbox` for open ones",
    "see_status": "see `wakelog status`",
    "see_task_items": "see `wakelog task show {}` for its items",
    "see_task_notes": "see `wakelog task show {}` for its notes",
    "see_task_time": "see `wakelog task show {}` for its time entries",
    "see_tasks": "see `wakelog list`",
    "see_template": "see `wakelog template show {}`",
    "see_templates": "see `wakelog template list`",
    "see_wakes": "see `wakelog wakes`",
    "start_timer": "start one with `wakelog start TASK`",
    "wait_until_free": "let it end first; see `wakelog status`",
    "wake_or_set_hybrid": "use `wakelog wake`, or `wakelog agent set --mode hybrid` first",
}


def in_words(trouble: Exception | str, words: Mapping[RemedyName, str] = WORDS) -> str:
    """A refusal in one line, in the words of a screen; other troubles as they tell themselves."""
    if not isinstance(trouble, WakelogError):
        return str(trouble)
    return f"{trouble.because}; {trouble.instead_in(words)}"
