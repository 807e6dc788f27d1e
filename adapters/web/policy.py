"""What may leave the machine: receipts, rules, what waits for a person, and what was not sent."""

from msgspec.structs import asdict

from adapters.documents.models import model_names
from adapters.documents.policy import NeededReceipt
from adapters.documents.tasks import catalog_of
from adapters.text.common import counted
from adapters.text.policy import BOUNDARY_WORDS, HELD, REFUSED_WORDS
from adapters.usecases import policy
from adapters.web import replica_conflicts
from adapters.web.http_types import FormRequest, Notice, Page, missent
from adapters.web.site import Site
from domain.agent.wake_queue import next_wake
from domain.policy.gate import NOTICE_VERSION, TOLD, is_leaving
from projections.agents import AgentDocument

FIELD_WORDS = {
    "at": "when it was",
    "change": "what happened",
    "comment": "your words to its rating",
    "created_at": "when it was made",
    "direction": "which of the two leads",
    "due": "due date",
    "hop": "by how many agents it came",
    "is_deleted": "whether it is deleted",
    "items": "checklist",
    "items_left_out": "how many items are not told",
    "language_by": "who set the language",
    "log": "notes",
    "log_unread": "how many notes are not told",
    "minutes_spent": "time spent",
    "n": "its number",
    "of": "which machine's change it was",
    "of_n": "its number there",
    "one_liner": "the report in one line",
    "origin": "who did it",
    "origins": "who wrote what",
    "propagated": "what it reached through links",
    "relation": "how they are linked",
    "replica": "the machine",
    "status_reason": "why the status is so",
    "time": "times you logged",
    "time_unread": "how many times are not told",
    "tldr": "the report in short",
    "tokens": "what it is about",
    "touched": "which tasks it was in",
    "what": "what kind it is",
}
"""Fields of the boundaries, as a person says them; the name stands in a tooltip."""


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/policy`."""
    home = site.home
    return Page(
        "policy.html",
        "Policy",
        {
            **asdict(policy.standing(home)),
            "needed": policy.needed(home, policy.held_agents(home)),
        },
        {
            "categories": [(one.id, one.name) for one in catalog_of(home).categories.values()],
            "models": [one for one in model_names(home) if is_leaving(one)],
            "told_of": list(TOLD[NOTICE_VERSION].values()),
            "boundary_words": BOUNDARY_WORDS,
            "field_words": FIELD_WORDS,
            "held_words": HELD,
            "refused_words": REFUSED_WORDS,
            "conflicts": replica_conflicts.of_none(site, "/policy"),
        },
    )


def consents_of(site: Site, agent: AgentDocument | None) -> list[NeededReceipt]:
    """What a person must agree to before an agent's model is asked, whether a wake waits for it
    already or not."""
    return policy.needed(site.home, [agent.id]) if agent and agent.is_living else []


def is_held(agent: AgentDocument | None) -> bool:
    """Whether a wake of an agent waits for a person to agree."""
    wake = next_wake(agent.wake_queue) if agent else None
    return wake is not None and wake.waits_for == "consent"


def allow(site: Site, asked: FormRequest) -> Notice:
    """Agree to what the page told of."""
    model = asked.needed("model").strip()
    if asked.needed("notice") != str(NOTICE_VERSION):
        raise missent("more is sent now than the page told of", "read it once more, and agree then")
    given = policy.allow(site.home, model, _categories(asked), asked.key)
    told = f"Agreed to: {given.model} for {', '.join(given.categories)}."
    waited = f" {counted(given.resumed, 'wake')} that waited may go on." if given.resumed else ""
    return Notice(told + waited)


def withdraw(site: Site, asked: FormRequest) -> Notice:
    """Take back what was agreed to."""
    given = policy.withdraw(site.home, asked.needed("model"), _categories(asked), asked.key)
    return Notice(f"Withdrawn: nothing more is sent to {given.model} for these categories.")


def _categories(asked: FormRequest) -> list[str]:
    """Those that a form names; none: all there are."""
    return [one for one in asked.lists.get("category", []) if one]


def rule(site: Site, asked: FormRequest) -> Notice:
    """Say which models agents of a category may ask; none: any that was agreed to."""
    category, words = asked.needed("category"), asked.needed("allowed").split()
    given = {"allowed": " ".join(sorted(set(words)))}
    now = {"allowed": " ".join(policy.ruling(site.home, category).allowed)}
    site.changes(asked, given, now, {"allowed": "which models may be asked"})
    ruled = policy.rule(site.home, category, words, asked.key)
    may = f"only {', '.join(ruled.allowed)}" if ruled.allowed else "any model that you agreed to"
    return Notice(f"Agents of {ruled.category or 'every category'} may ask {may}.")
