"""Recognises a command that was given before under the same key, when the world has moved on.

A command carries what it was decided on (a position, a resolved time), so a retry of what a
person typed need not be the same command to the byte. What they said is compared here.
"""

from adapters.store.log import Log
from domain.causes import Receipt, Result
from domain.errors import KeyReused
from domain.wire import Stored


def before(log: Log, key: str, command: type[Stored], **said: object) -> Result | None:
    """The result of a command that a key stands for already; None where it is free.

    Args:
        log: Where its receipt would be.
        key: The caller's key; empty: None.
        command: The command's type.
        said: The fields that the person gave, by name.

    Raises:
        KeyReused: If the key stands for something else.
    """
    found = log.receipts(key)
    if not found:
        return None
    receipt = found[0].fact
    is_same = (
        isinstance(receipt, Receipt)
        and isinstance(receipt.command, command)
        and all(getattr(receipt.command, name) == value for name, value in said.items())
    )
    if not is_same or not isinstance(receipt, Receipt):
        raise KeyReused(key)
    return receipt.result
