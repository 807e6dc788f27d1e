"""What a person is shown before texts leave this machine: plain data and one text.

A consent names the notice that was shown. A notice is never edited: whatever adds a section or a
field to what leaves is a new version beside the old one, and wakes of its scaffold need a consent
of that version. So an old wake goes on being decided by the notice of its own time."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from domain.agent import clients, endpoints
from domain.agent.agent import Agent
from domain.policy.policy import Policy

NOTICE_VERSION: Final = 4
"""The notice that is shown today."""

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
_TOLD_2: Final[dict[str, str]] = {
    **_TOLD_1,
    "day": (
        "of an agent that plans your days: the tasks of allowed categories, with a line of their "
        "agents, your blocks of the day, and what was planned and spent the day before"
    ),
}
_TOLD_3: Final[dict[str, str]] = {
    **_TOLD_2,
    "week": (
        "of an agent that looks over a category: its tasks, open and done of late, with a line of "
        "their agents, your ratings, and what was planned and spent in two weeks"
    ),
    "requests": "what another of your agents asks of the task, in a fixed sentence",
}
_TOLD_4: Final[dict[str, str]] = {
    **_TOLD_3,
    "template": "of an agent that improves a template: its directives, and those of before",
    "figures": "how many proposals of each version you accepted, by kind, and your ratings",
    "rehearsed": "how versions fared on wakes of before",
    "feedback": (
        "of tasks of allowed categories: your reasons for declining, what you made of proposals, "
        "your ratings, and what their agents noted about the template"
    ),
}
TOLD: Final[dict[int, dict[str, str]]] = {1: _TOLD_1, 2: _TOLD_2, 3: _TOLD_3, 4: _TOLD_4}
"""By notice: each section that leaves, and what is said of it."""


_OF_CLIENTS: Final = (
    "suppressed_labels available_labels corrections lessons task time linked report memory "
    "critical journal proposals"
)
TOLD_CLIENTS: Final[dict[str, str]] = {
    "tasks": "a list of the tasks, with title, status, dates, estimate and labels",
    **{name: _TOLD_3[name] for name in _OF_CLIENTS.split()},
    "tools": "the tools that propose, and what became of what it proposed",
}
"""The same of who reads and proposes without being asked."""


def sections_of(version: int = NOTICE_VERSION, model: str = "") -> tuple[str, ...]:
    """The names of the sections that a notice for a model tells of."""
    return tuple(TOLD_CLIENTS if model.startswith(clients.PREFIX) else TOLD[version])


NOTICE_OF: Final[dict[str, int]] = {
    "task_agent": 1,
    "day_agent": 2,
    "category_agent": 3,
    "template_improver": 4,
}
"""By kind of agent: the notice that a consent must be of, or newer, for what its wakes hold."""


def notice_of(kind: str) -> int:
    """The notice that a consent must be of, at least, for an agent of a kind; of one that nobody
    here knows the newest.

    >>> notice_of(""), notice_of("day_agent")
    (1, 2)
    """
    return NOTICE_OF.get(kind or "task_agent", NOTICE_VERSION)


def notice(model: str, categories: Sequence[str], sections: Iterable[str]) -> str:
    """The text that a person agrees to, for a model or a pattern, and categories by their names."""
    told = TOLD[NOTICE_VERSION]
    if model.startswith(clients.PREFIX):
        return _notice_of_client(model.removeprefix(clients.PREFIX), categories, sections)
    for_whom = f"When an agent for {_listed(categories)} wakes"
    return "\n".join(
        [
            f"{for_whom}, this leaves your machine and goes to {_named(model)}:",
            *(f"- {told.get(one, one.replace('_', ' '))}" for one in sections),
            "Nothing of other categories is sent. What the model answers stays on this machine.",
            "You can withdraw this at any time; from then on nothing more is sent.",
        ]
    )


def _notice_of_client(name: str, categories: Sequence[str], sections: Iterable[str]) -> str:
    who = "any client" if "*" in name else name
    return "\n".join(
        [
            f"When {who} asks for tasks of {_listed(categories)}, this goes to it and to whatever",
            "model it uses:",
            *(f"- {TOLD_CLIENTS[one]}" for one in sections),
            "Nothing of other categories is given. What it proposes waits in your inbox.",
            "You can withdraw this at any time; from then on nothing more is given.",
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


# ----------------------------------------------------------------------------------------- the gate
# Pure over the agent log. Asked before anything is rendered, when a wake begins, and before each
# further question of it. It closes in this order: scope, provider, privacy, secret; whatever is
# withdrawn, it never opens further.

OFFLINE: Final = frozenset({"rules", "demo", "tape"})
"""What comes with wakelog and answers on this machine; any other name leaves it."""

WaitsFor = Literal["", "consent", "secret"]
GATE_CODES: Final = (
    "out_of_scope", "disallowed_provider_model", "privacy_confirmation_required",
    "secret_unavailable", "overshared_payload_blocked",
)  # fmt: skip
"""In the order of the gates; the last is raised where a prompt is made."""


class GateRefusal(NamedTuple):
    """Why a wake may not ask its model. `categories`: those that it is about; `waits_for`: what
    opens the gate, where the wake waits for it instead of being skipped; `is_of_requests`: all but
    what other agents ask could be sent."""

    code: str
    because: str
    categories: tuple[str, ...] = ()
    waits_for: WaitsFor = ""
    is_of_requests: bool = False


def is_leaving(model: str) -> bool:
    """Whether what a model is asked leaves this machine.

    >>> [is_leaving(one) for one in ("rules", "tape:a.jsonl", "demo:quick", "gemini:pro", "mine")]
    [False, False, False, True, True]
    """
    return model.partition(":")[0] not in OFFLINE


def is_far(model: str) -> bool:
    """Whether it is another machine that it leaves for.

    >>> [is_far(one) for one in ("rules", "gemini", "openai:q@http://localhost:80")]
    [False, True, False]
    """
    known = endpoints.named(model)
    is_here = known is not None and known.address is not None and known.address.is_loopback
    return is_leaving(model) and not is_here


def pattern_of(model: str) -> str:
    """The pattern that covers all models of a model's provider; of one behind an address, all that
    are there.

    >>> pattern_of("gemini:pro"), pattern_of("gemini"), pattern_of("gemini:*")
    ('gemini:*', 'gemini:*', 'gemini:*')
    >>> pattern_of("openai:qwen3@https://example.org/v1")
    'openai:*@https://example.org:443'
    """
    return endpoints.every(model) or f"{model.partition(':')[0]}:*"


REQUESTS_NOTICE: Final = 3
"""The notice that tells of section ``requests``."""


def unconsented(policy: Policy, agent: Agent, model: str, notice: int = 0) -> tuple[str, ...]:
    """The agent's categories that no consent covers for a model; none for one that stays here.
    `notice`: of which the consent has to be, or of a newer one; 0: what the agent's kind needs."""
    if not is_leaving(model):
        return ()
    notice = notice or notice_of(agent.agent_kind)
    return tuple(one for one in agent.categories if not policy.consented(model, one, notice))


def refusal(policy: Policy, agent: Agent, model: str, has_secret: bool) -> GateRefusal | None:
    """The first gate that is closed for an agent and a model; None where all are open.
    `has_secret`: the adapter has the key that the model needs."""
    if not agent.categories:
        return GateRefusal("out_of_scope", "the agent is allowed no category")
    if ruled := tuple(one for one in agent.categories if not policy.allows(model, one)):
        because = f"the model {model} is not allowed for a category of the agent"
        return GateRefusal("disallowed_provider_model", because, ruled)
    if missing := unconsented(policy, agent, model):
        because = f"nobody has agreed yet to what the model {model} is sent"
        return GateRefusal("privacy_confirmation_required", because, missing, "consent")
    if is_leaving(model) and not has_secret:
        because = f"the key that the model {model} needs is not set"
        return GateRefusal("secret_unavailable", because, (), "secret")
    return None
