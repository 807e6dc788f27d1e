"""Policy: consents given and withdrawn, models ruled."""

from collections.abc import Sequence

from domain.append.causes import Result
from domain.handlers.decided import Decision, on
from domain.handlers.journal import Handler
from domain.log.state import MAIN, LogState
from domain.policy import commands as do
from domain.policy import policy as p
from domain.policy.policy import POLICY


def _written(world: LogState, facts: Sequence[p.PolicyFact]) -> Decision:
    return Decision(on(world, "policy", MAIN, facts), Result((MAIN,)))


def give(cause: do.GiveConsent, key: str, at: str, world: LogState) -> Decision:
    policy = world.load(POLICY, MAIN)
    facts = p.give(policy, cause.model, cause.categories, cause.notice, cause.sections)
    return _written(world, facts)


def withdraw(cause: do.WithdrawConsent, key: str, at: str, world: LogState) -> Decision:
    return _written(world, p.withdraw(world.load(POLICY, MAIN), cause.model, cause.categories))


def rule(cause: do.RuleModels, key: str, at: str, world: LogState) -> Decision:
    return _written(world, p.rule(world.load(POLICY, MAIN), cause.category, cause.allowed))


HANDLERS: dict[type, Handler] = {
    do.GiveConsent: give,
    do.WithdrawConsent: withdraw,
    do.RuleModels: rule,
}
