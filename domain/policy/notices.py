"""What a person is shown before texts leave this machine: plain data and one text.

A receipt names the notice that was shown. A notice is never edited: whatever adds a section or a
field to what leaves is a new version beside the old one, and wakes of its scaffold need a receipt
of that version. So an old wake goes on being decided by the notice of its own time.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from domain import endpoints

GATED_SINCE: Final = 2
"""The first scaffold whose wakes are held by the gate; older ones were begun without."""

NOTICE_VERSION: Final = 1
"""The notice that is shown today."""

NOTICE_OF: Final[dict[int, int]] = {GATED_SINCE: 1}
"""By scaffold, from it on: the notice that a receipt must be of, or newer."""

_TOLD_1: Final[dict[str, str]] = {
    "now": "the day and the time where you are",
    "role": "the fixed rules that every agent works by",
    "goal": "the agent's goal, its open points and your preferences",
    "directives": "the directives of its template",
    "suppressed_labels": "the labels that you declined for the task",
    "available_labels": "the labels of your home that the task may get",
    "corrections": "your correction examples of the category",
    "lessons": "how proposals for other tasks of the category fared, with your reasons and edits",
    "task": "the task: title, status, dates, checklist, labels, time, and notes, newest first",
    "time": "the time that was logged on the task, and your ratings",
    "linked": "linked tasks of allowed categories: title, status, and one line of their agents",
    "report": "the agent's last report",
    "memory": "the beginnings of the agent's older notes",
    "critical": "what the agent noted as important",
    "journal": "the agent's own notes",
    "proposals": "its open proposals, and what you decided on others, with your reasons",
    "changed": "what changed since it last woke",
    "thread": "earlier questions and answers of the same conversation",
    "words": "what you said to it",
    "first_wake": "that it has no report yet",
    "instruction": "a sentence on what to do now",
    "tools": (
        "the tools that it may call, and what they answered in this wake: other tasks of allowed "
        "categories that it looks up, too"
    ),
}
TOLD: Final[dict[int, dict[str, str]]] = {1: _TOLD_1}
"""By notice: each section that leaves, and what is said of it."""


def sections_of(version: int = NOTICE_VERSION) -> tuple[str, ...]:
    """The names of the sections that a notice tells of."""
    return tuple(TOLD[version])


def notice_of(scaffold: int) -> int:
    """The notice that a receipt must be of, at least, for a wake of a scaffold."""
    return max(notice for since, notice in NOTICE_OF.items() if since <= scaffold)


def notice(model: str, categories: Sequence[str], sections: Iterable[str]) -> str:
    """The text that a person agrees to.

    Args:
        model: A model or a pattern of models.
        categories: Their names.
        sections: See `sections_of`.
    """
    told = TOLD[NOTICE_VERSION]
    lines = [f"- {told.get(one, one.replace('_', ' '))}" for one in sections]
    for_whom = f"When an agent for {_listed(categories)} wakes"
    return "\n".join(
        [
            f"{for_whom}, this leaves your machine and goes to {_named(model)}:",
            *lines,
            "Nothing of other categories is sent. What the model answers stays on this machine.",
            "You can withdraw this at any time; from then on nothing more is sent.",
        ]
    )


def _named(model: str) -> str:
    """
    >>> _named("gemini:*"), _named("gemini:pro")
    ('every model of gemini', 'the model gemini:pro')
    >>> _named("openai:*@https://example.org:443")
    'every model at https://example.org:443'
    """
    if endpoints.is_every(model):
        return f"every model at {endpoints.origin(model)}"
    provider = model.removesuffix(":*")
    if provider != model:
        return f"every model of {provider}"
    return f"every model that begins with {model[:-1]}" if "*" in model else f"the model {model}"


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["Home", "Work", "Health"])
    'Home, Work or Health'
    """
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
