"""What a refusal says to do, in the words of the page: its buttons, or a command where the page
has no such deed."""

from collections.abc import Mapping
from typing import Final

from adapters.text import remedies
from domain.errors import RemedyName

WORDS: Final[Mapping[RemedyName, str]] = {
    "allow_category": "move the task, or allow it with `wakelog agent set --category`",
    "allow_sending": "“Agree to another model …” on the page “Policy” tells what is sent",
    "assign_other_template": "“Take off” each of them first",
    "assign_template": "“Assign” on its page gives it to an agent",
    "await_wake": "decide when it has",
    "await_wake_or_recover": "wait for it; what a crash left is finished by `wakelog recover`",
    "create_agent": "“Assign an agent” on the page of its task makes a new one",
    "destroy_agent": "press “End the agent” first, on its page",
    "give_task_agent": "“Assign an agent” on its page makes one",
    "pause_agent": "stop it with “Pause” on its agent's page",
    "recover_wake": "what a crash left is finished by `wakelog recover`",
    "rename_category": "give one of them another name under “Categories and labels”",
    "restore_task": "“Restore the task” on its page brings it back",
    "restore_task_and_resume": "“Restore the task” on its page, then “Resume” the agent",
    "resume_agent": "“Resume” it first, on its page",
    "see_agent": "load its page again and choose one of those it has",
    "see_agents": "see “Agents”",
    "see_agents_one_a_task": "see “Agents”; a new one needs the old one destroyed",
    "see_all_items": "see “Inbox” for the items there are",
    "see_all_proposals": "see “Inbox”",
    "see_categories": "choose one there is, or add it with `wakelog category add`",
    "see_labels": "choose one there is, or add it with `wakelog label add`",
    "see_open_proposals": "see “Inbox” for open ones",
    "see_status": "see “Health”",
    "see_task_items": "load its page again for the items it has",
    "see_task_notes": "load its page again for the notes it has",
    "see_task_time": "load its page again for the time entries it has",
    "see_tasks": "see “Tasks”",
    "see_template": "load its page again for the versions it has",
    "see_templates": "see “Templates”",
    "see_wakes": "see “Wakes”",
    "start_timer": "“Start the timer” on a task's page starts one",
    "wait_until_free": "let it end first; see “Health”",
    "wake_or_set_hybrid": "“Wake now”, or “Set” its mode to hybrid first, on its page",
}


def in_words(trouble: Exception | str) -> str:
    """A refusal in one line, as a page tells it; other troubles as they tell themselves."""
    return remedies.in_words(trouble, WORDS)
