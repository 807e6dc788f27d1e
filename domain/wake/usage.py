"""What a fact of a wake says of the tokens that were used, as every reader counts them."""

from msgspec.structs import replace

from domain.ports import NOT_TOLD, Usage
from domain.wake.events import ModelAnswered, ModelFailed, unwrapped
from domain.wire import Stored


def used(fact: Stored) -> Usage | None:
    """The tokens of an answer, in time or late, or of answers that came and could not be used.

    Where input and output were told, thoughts and cached tokens that were not are none: providers
    leave out what is zero, and older rows keep that as unknown.

    Args:
        fact: Of a wake.

    Returns:
        None where no answer came, or nothing was told of one that failed.
    """
    match unwrapped(fact):
        case ModelAnswered() as one:
            found = Usage(one.tokens_in, one.tokens_out, one.tokens_thought, one.tokens_cached)
        case ModelFailed() as one:
            found = Usage(
                one.tokens_prompt, one.tokens_reply, one.tokens_thought, one.tokens_cached
            )
            if found == NOT_TOLD:
                return None
        case _:
            return None
    if found.tokens_in is None or found.tokens_out is None:
        return found
    return replace(
        found,
        tokens_thought=found.tokens_thought or 0,
        tokens_cached=found.tokens_cached or 0,
    )
