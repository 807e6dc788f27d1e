"""The gate before a model that takes texts off this machine.

Pure over the agent log. Asked before anything is rendered, when a wake begins, and before each
further question of it. It closes in this order: scope, provider, privacy, secret; whatever is
withdrawn, it never opens further.
"""

from typing import Final, Literal, NamedTuple

from domain import endpoints
from domain.agent.agent import Agent
from domain.policy.notices import NOTICE_VERSION
from domain.policy.policy import Policy

OFFLINE: Final = frozenset({"rules", "demo", "tape"})
"""What comes with wakelog and answers on this machine; any other name leaves it."""

WaitsFor = Literal["", "consent", "secret"]
GATE_CODES: Final = (
    "out_of_scope",
    "disallowed_provider_model",
    "privacy_confirmation_required",
    "secret_unavailable",
    "overshared_payload_blocked",
)
"""In the order of the gates; the last is raised where a prompt is made."""


class Refusal(NamedTuple):
    """Why a wake may not ask its model. `categories`: those that it is about; `waits_for`: what
    opens the gate, where the wake waits for it instead of being skipped."""

    code: str
    because: str
    categories: tuple[str, ...] = ()
    waits_for: WaitsFor = ""


def is_leaving(model: str) -> bool:
    """Whether what a model is asked leaves this machine.

    >>> [is_leaving(one) for one in ("rules", "tape:a.jsonl", "demo:quick", "gemini:pro", "mine")]
    [False, False, False, True, True]
    """
    return model.partition(":")[0] not in OFFLINE


def pattern_of(model: str) -> str:
    """The pattern that covers all models of a model's provider; of one behind an address, all that
    are there.

    >>> pattern_of("gemini:pro"), pattern_of("gemini"), pattern_of("gemini:*")
    ('gemini:*', 'gemini:*', 'gemini:*')
    >>> pattern_of("openai:qwen3@https://example.org/v1")
    'openai:*@https://example.org:443'
    """
    return endpoints.every(model) or f"{model.partition(':')[0]}:*"


def unconsented(
    policy: Policy, agent: Agent, model: str, notice: int = NOTICE_VERSION
) -> tuple[str, ...]:
    """The agent's categories that no receipt covers for a model; none for one that stays here."""
    if not is_leaving(model):
        return ()
    return tuple(one for one in agent.categories if not policy.consented(model, one, notice))


def refusal(
    policy: Policy,
    agent: Agent,
    model: str,
    has_secret: bool,
    notice: int = NOTICE_VERSION,
) -> Refusal | None:
    """The first gate that is closed for an agent and a model; None where all are open.

    Args:
        policy: As it stands.
        agent: Whose wake it is.
        model: The model's full name.
        has_secret: Whether the adapter has the key that the model needs.
        notice: That a receipt must be of, at least; see `notice_of`.
    """
    if not agent.categories:
        return Refusal("out_of_scope", "the agent is allowed no category")
    if ruled := tuple(one for one in agent.categories if not policy.allows(model, one)):
        because = f"the model {model} is not allowed for a category of the agent"
        return Refusal("disallowed_provider_model", because, ruled)
    if missing := unconsented(policy, agent, model, notice):
        because = f"nobody has agreed yet to what the model {model} is sent"
        return Refusal("privacy_confirmation_required", because, missing, "consent")
    if is_leaving(model) and not has_secret:
        because = f"the key that the model {model} needs is not set"
        return Refusal("secret_unavailable", because, (), "secret")
    return None
