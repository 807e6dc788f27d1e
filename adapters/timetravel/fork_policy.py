"""What a fork may do: its home's settings as they hold in it, and what it may send.

It sends only what a person agreed to in the home that it comes from, by today.
"""

from msgspec.structs import replace

from adapters.home.settings import Budget, Settings
from adapters.runtime.services import Services
from adapters.timetravel.logs_at import Past
from domain.agent.agent import AGENT
from domain.errors import Refused, Remedy
from domain.policy.commands import GiveReceipt
from domain.policy.gate import pattern_of, unconsented
from domain.policy.policy import POLICY, covers
from domain.wake.reading import Given
from domain.world import MAIN


def agree(past: Past, services: Services, agent_id: str, model: str) -> None:
    """Give the fork the receipts that stand for a model today: at its own time there may have
    been none.

    Raises:
        Refused: Code ``privacy_confirmation_required``: there is none today.
    """
    with services.agents.reading() as world:
        agent = world.load(AGENT, agent_id)
    with past.agents.log.reading() as world:
        policy = world.load(POLICY, MAIN)
    if missing := unconsented(policy, agent, model):
        because = f"nobody has agreed yet to what {model} is sent, for {len(missing)} categories"
        instead = Remedy("allow_sending", pattern_of(model))
        raise Refused("privacy_confirmation_required", because=because, instead=instead)
    for one in policy.consents:
        if covers(one.model, model) and one.category in agent.categories:
            receipt = GiveReceipt(one.model, (one.category,), one.notice, one.sections)
            services.append_agent(receipt)


def settings_of(settings: Settings, given: Given | None) -> Settings:
    """Those of a home, for a fork: agents are switched on and budgets off, and the zone is the one
    that the wake was told."""
    zone = given.local.zone if given and given.local else settings.timezone
    agents = replace(settings.agents, enabled=True)
    return replace(settings, agents=agents, budget=Budget(), timezone=zone)
