"""Policy: receipts given and withdrawn, models ruled."""

from collections.abc import Sequence

from domain.causes import Result
from domain.handlers.decided import Decided, on
from domain.handlers.journal import Handler
from domain.policy import commands as do
from domain.policy import policy as p
from domain.policy.policy import POLICY
from domain.world import MAIN, World


def _written(world: World, facts: Sequence[p.PolicyFact]) -> Decided:
    return Decided(on(world, "policy", MAIN, facts), Result((MAIN,)))


def give(cause: do.GiveReceipt, key: str, at: str, world: World) -> Decided:
    policy = world.load(POLICY, MAIN)
    facts = p.give(policy, cause.model, cause.categories, cause.notice, cause.sections)
    return _written(world, facts)


def withdraw(cause: do.WithdrawReceipt, key: str, at: str, world: World) -> Decided:
    return _written(world, p.withdraw(world.load(POLICY, MAIN), cause.model, cause.categories))


def rule(cause: do.RuleModels, key: str, at: str, world: World) -> Decided:
    return _written(world, p.rule(world.load(POLICY, MAIN), cause.category, cause.allowed))


HANDLERS: dict[type, Handler] = {
    do.GiveReceipt: give,
    do.WithdrawReceipt: withdraw,
    do.RuleModels: rule,
}
