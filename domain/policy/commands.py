"""What a person can say of policy.

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`."""

from domain.log.wire import Stored


class GiveConsent(Stored, frozen=True, tag="command.give_receipt.1"):
    """Agree to what a notice showed; see `ConsentGiven`."""

    model: str
    categories: tuple[str, ...]
    notice: int
    sections: tuple[str, ...]


class WithdrawConsent(Stored, frozen=True, tag="command.withdraw_receipt.1"):
    """End the consents that cover these models; no category: for all of them."""

    model: str
    categories: tuple[str, ...] = ()


class RuleModels(Stored, frozen=True, tag="command.rule_models.1"):
    """Which models agents of a category may ask; see `ModelsRuled`."""

    category: str = ""
    allowed: tuple[str, ...] = ()


PolicyCommand = GiveConsent | WithdrawConsent | RuleModels
