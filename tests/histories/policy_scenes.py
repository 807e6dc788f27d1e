"""A scene of policy: what is agreed to, withdrawn and ruled, and the wakes that it holds."""

from adapters.models.tape import TapeModel
from adapters.runtime import gate
from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.wake_queue import GIVEN, HELD_UNTIL
from domain.policy.commands import GiveConsent, RuleModels, WithdrawConsent
from domain.policy.gate import NOTICE_VERSION, sections_of
from domain.ports import ModelFault, Reply
from domain.wake.commands import DeferWake, RetakeWake
from tests.histories.acting import (
    NOBODY,
    REPORT,
    Scene,
    begun,
    refused,
    told,
    twice,
    woken,
)
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply

FAR = "far:pro"
WHOLE = "far:*"


def _elsewhere(at: Services, *replies: Reply | ModelFault) -> None:
    """The agents' model answers this, from somewhere else."""
    model = TapeModel(FAR, list(replies))
    at.model_for = lambda _: model


def _agree(at: Services, agent: str, model: str = WHOLE) -> GiveConsent:
    with at.agents.reading() as world:
        categories = world.load(AGENT, agent).categories
    return GiveConsent(model, categories, NOTICE_VERSION, sections_of())


def held_wakes() -> Services:
    """No wake leaves without a receipt: it waits, goes on, is held in the middle, or skipped."""
    at = services()
    _, agent = task_with_agent(at)
    receipt = _agree(at, agent)
    (category,) = receipt.categories
    for wrong in ("", "*", "a*b", "x" * 202):
        refused(at, "invalid_value", _agree(at, agent, wrong), WithdrawConsent(wrong))
        refused(at, "invalid_value", RuleModels(category, (wrong,)))
    refused(at, "invalid_value", GiveConsent(WHOLE, (), 1, ()))
    refused(at, "invalid_value", RuleModels("", tuple(f"m{nth}" for nth in range(51))))

    _elsewhere(at)
    run_key = woken(at, agent)  # it waits for consent
    told(at, DeferWake(agent, run_key, at.clock.now(), GIVEN))
    woken(at, agent)  # and once more
    twice(at, GiveConsent(WHOLE, (NOBODY,), 1, ("task",)), receipt)
    told(at, GiveConsent(WHOLE, (category, NOBODY), NOTICE_VERSION, ("task",)))
    gate.let_go(at, [agent])
    begun(at, agent, run_key)
    for until, reason in ((HELD_UNTIL, "consent"), (at.clock.now(), GIVEN)):
        told(at, DeferWake(agent, run_key, until, reason), key=f"late {reason}")
    twice(at, WithdrawConsent(FAR, (category,)), WithdrawConsent("other:*"))
    told(at, RetakeWake(run_key, 1, 1))  # nothing is asked
    told(at, RetakeWake(run_key, 1, 1), key="and once more")
    told(at, receipt)
    gate.let_go(at, [agent])
    fault = ModelFault("overloaded", "503", of_provider=True, retry_seconds=1)
    _elsewhere(at, fault, reply(REPORT))
    woken(at, agent)
    woken(at, agent)
    told(at, RuleModels("", ("rules",)))
    twice(at, RuleModels(category, ("rules", WHOLE)), RuleModels(category), RuleModels())
    return _barred(at, agent)


def _barred(at: Services, agent: str) -> Services:
    """A model is ruled out before a wake begins, while it is asked, and while it is in doubt."""
    told(at, at.request(agent))
    run_key = queued_key(at, agent)
    rule = RuleModels("", ("rules",))
    begun(at, agent, run_key)
    told(at, rule)
    told(at, RetakeWake(run_key, 1, 1))
    told(at, at.request(agent))
    begun(at, agent, queued_key(at, agent))
    told(at, WithdrawConsent(WHOLE))
    told(at, RuleModels())
    told(at, at.request(agent))
    begun(at, agent, queued_key(at, agent))
    return at


SCENES: tuple[Scene, ...] = (held_wakes,)
